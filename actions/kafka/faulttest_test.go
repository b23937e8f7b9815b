package kafka_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkaproxy"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// The fault tests take every request that a clean apply sends, let each kind of
// fault happen at it, apply the same plan again until it is done or refused, and
// ask the invariants after each apply. docs/reliability.md says what they are.

// beginnings are the states from which an apply starts.
var beginnings = []struct {
	name    string
	prepare func(*ground)
}{
	{"nothing was ever cleaned up", func(*ground) {}},
	{"an older cleanup is unfinished", func(g *ground) {
		g.makeControl(asRecorded(g.older(), inspect.StatusCommitted))
	}},
	{"this cleanup was committed and half deleted", func(g *ground) {
		g.makeControl(asRecorded(g.plan, inspect.StatusCommitted))
		g.must(g.cluster.Trim(g.Context(), g.plan.Topic, map[int32]int64{0: 10}))
		g.at[0] = 10
	}},
}

// place is one request of an apply: the nth of its kind about one of the topics.
type place struct {
	key   kmsg.Key
	topic string // data, control, both, or none
	nth   int
}

func (p place) String() string {
	return fmt.Sprintf("%s of %s #%d", kmsg.NameForKey(int16(p.key)), p.topic, p.nth)
}

// writes reports whether the request changes something.
func (p place) writes() bool {
	return p.key == kmsg.Produce || p.key == kmsg.DeleteRecords || p.key == kmsg.CreateTopics
}

func (g *ground) topicOf(r kafkaproxy.Request) string {
	data, control := r.About(g.plan.Topic), r.About(g.control)
	switch {
	case data && control:
		return "both"
	case data:
		return "data"
	case control:
		return "control"
	default:
		return "none"
	}
}

// rule is a rule for the request of a place, among those that applies send.
func (g *ground) rule(p place, when kafkaproxy.When, times int, do kafkaproxy.Action) kafkaproxy.Rule {
	return kafkaproxy.Rule{Key: p.key, Nth: p.nth, Times: times, When: when, Do: do, Match: func(r kafkaproxy.Request) bool {
		return r.ClientID != "kafkatest" && g.topicOf(r) == p.topic
	}}
}

// places are the requests of a trace.
func (g *ground) places() (out []place) {
	count := map[place]int{}
	for _, r := range g.ours() {
		p := place{r.Key, g.topicOf(r), 0}
		count[p]++
		p.nth = count[p]
		out = append(out, p)
	}
	return out
}

// situation is one fault at one place from one beginning.
type situation struct {
	beginning int
	place     place
	kind      faultKind
	line      int // the process is killed when its journal has so many lines; 0: at the place
	full      int // the journal takes no line from this one on; 0: all of them
}

func (s situation) String() string {
	switch {
	case s.line > 0:
		return fmt.Sprintf("%s, killed when line %d was in the journal", beginnings[s.beginning].name, s.line)
	case s.full > 0:
		return fmt.Sprintf("%s, no room for line %d of the journal", beginnings[s.beginning].name, s.full)
	}
	return fmt.Sprintf("%s, %s, at %s", beginnings[s.beginning].name, s.kind.name, s.place)
}

// rank puts first what strikes a request that writes, or the journal, and what
// may come between any two requests.
func (s situation) rank() int {
	switch {
	case s.line > 0, s.full > 0, s.kind.first, s.place.writes():
		return 0
	default:
		return 1
	}
}

// journalLines is how many lines an apply has in the journal at most.
const journalLines = 10

// situations are all there are, from the traces of clean applies.
func situations(t *testing.T, w faultWorld) (out []situation) {
	t.Helper()
	for i, b := range beginnings {
		g := newGround(t, w, b.prepare)
		if e := g.apply(patientLimit); e.verdict != actions.Applied {
			t.Fatalf("a clean apply: %s", e)
		}
		inside := g.places()
		g = newGround(t, w, b.prepare)
		if e := g.begin().wait(); e.verdict != actions.Applied {
			t.Fatalf("a clean apply by the program: %s", e)
		}
		byProgram := g.places()
		for _, kind := range faultKinds() {
			places := inside
			if kind.process {
				places = byProgram
			}
			for _, p := range places {
				if kind.fits == nil || kind.fits(p) {
					out = append(out, situation{beginning: i, place: p, kind: kind})
				}
			}
		}
		for line := 1; line <= journalLines; line++ {
			out = append(out, situation{beginning: i, line: line, kind: faultKind{group: "process killed at a journal line", process: true}},
				situation{beginning: i, full: line, kind: faultKind{group: "journal can't be written"}})
		}
	}
	return out
}

// play lets a situation happen, and applies the same plan until it is applied or
// no further apply can change anything.
func (s situation) play(t *testing.T, w faultWorld) result {
	g := newGround(t, w, beginnings[s.beginning].prepare)
	r := result{group: s.kind.group}
	judge := func(e end) {
		t.Helper()
		j := g.judge(e.verdict)
		r.namedRace = r.namedRace || j.namedRace
		for _, v := range j.violations {
			r.violations++
			t.Errorf("%s, apply %d ended as %s: %s", s, r.applies, e, v)
		}
	}
	e, struck := s.first(g)
	r.applies, r.struck = 1, struck
	judge(e)
	if s.kind.over != nil {
		s.kind.over(g)
	}
	const tries = 4 // a record that arrives late stops the first of them
	for e.verdict != actions.Applied && r.applies < tries {
		if s.kind.process {
			e = g.begin().wait()
		} else {
			e = g.apply(patientLimit)
		}
		r.applies++
		judge(e)
	}
	if s.kind.held && struck {
		e = g.arrive()
		judge(e)
	}
	if s.kind.late > 0 {
		time.Sleep(s.kind.late)
		judge(e)
	}
	switch {
	case e.verdict == actions.Applied && r.applies == 1:
		r.end = appliedAtOnce
	case e.verdict == actions.Applied:
		r.end = appliedAgain
	case s.kind.another && struck:
		r.end = refused
	default:
		r.end = stuck
		t.Errorf("%s: not applied after %d applies: %s", s, r.applies, e)
	}
	return r
}

// first is the apply that is struck.
func (s situation) first(g *ground) (e end, struck bool) {
	g.Helper()
	switch {
	case s.line > 0:
		p := g.begin()
		for !g.journalHas(s.line) {
			select {
			case <-p.ended:
				return p.wait(), false
			case <-time.After(200 * time.Microsecond):
			}
		}
		p.kill()
		return p.wait(), true
	case s.full > 0:
		g.lines.full(s.full)
		e = g.apply(patientLimit)
		return e, g.lines.full(0)
	case s.kind.process:
		p := g.newProcess()
		f := g.proxy.Inject(g.T, g.rule(s.place, s.kind.when, 1, s.kind.kill(p)))
		p.start(g)
		e = p.wait()
		f.Remove()
		return e, f.Hits() > 0
	default:
		f := g.proxy.Inject(g.T, s.kind.rule(g, s.place))
		e = g.apply(stepLimit)
		f.Remove()
		g.struck = f
		if s.kind.awaited && f.Hits() > 0 {
			<-g.happened
		}
		return e, f.Hits() > 0
	}
}

// arrive lets the request that is held go on to the broker, waits until it is
// done, and applies the plan once more.
func (g *ground) arrive() end {
	g.Helper()
	ctx, cancel := context.WithTimeout(g.Context(), patientLimit)
	defer cancel()
	held, err := g.struck.Wait(ctx)
	g.must(err)
	g.struck.Release()
	_, err = g.proxy.Await(ctx, func(r kafkaproxy.Request) bool { return r.Received == held.Received && r.Served > 0 })
	g.must(err)
	return g.apply(patientLimit)
}

// journalHas reports whether the journal of the program has so many lines.
func (g *ground) journalHas(lines int) bool {
	files, err := filepath.Glob(filepath.Join(g.state, "recoverctl", "journal", "*.jsonl"))
	g.must(err)
	count := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		g.must(err)
		count += strings.Count(string(text), "\n")
	}
	return count >= lines
}

// How a situation ended.
const (
	appliedAtOnce = iota
	appliedAgain
	refused
	stuck
)

type result struct {
	group      string
	end        int
	applies    int
	struck     bool
	namedRace  bool
	violations int
}

// table is what the whole came to.
type table struct {
	mu   sync.Mutex
	rows []result
}

func (t *table) add(r result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows = append(t.rows, r)
}

func (t *table) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var groups []string
	for _, r := range t.rows {
		if !slices.Contains(groups, r.group) {
			groups = append(groups, r.group)
		}
	}
	slices.Sort(groups)
	var out strings.Builder
	const columns = "| %-32s | %10v | %6v | %7v | %15v | %14v | %14v | %10v | %10v |\n"
	fmt.Fprintf(&out, columns, "situation", "situations", "struck", "applies", "applied at once", "applied again", "refused", "named race", "violations")
	fmt.Fprintf(&out, columns, "---", "---:", "---:", "---:", "---:", "---:", "---:", "---:", "---:")
	for _, group := range append(groups, "all") {
		var n, struck, applies, race, violations int
		ends := make([]int, stuck+1)
		for _, r := range t.rows {
			if r.group != group && group != "all" {
				continue
			}
			n, applies, violations = n+1, applies+r.applies, violations+r.violations
			ends[r.end]++
			if r.struck {
				struck++
			}
			if r.namedRace {
				race++
			}
		}
		fmt.Fprintf(&out, columns, group, n, struck, applies, ends[appliedAtOnce], ends[appliedAgain], ends[refused], race, violations+ends[stuck])
	}
	return out.String()
}

// everyFault lets situations happen, several at once: most of the time they wait.
func everyFault(t *testing.T, cluster *kafkatest.Cluster, most int, writesFirst bool) {
	w := newFaultWorld(t, cluster)
	all := situations(t, w)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] }) // the same order each time
	if writesFirst {
		slices.SortStableFunc(all, func(a, b situation) int { return a.rank() - b.rank() })
	}
	of, must := len(all), 0
	for _, s := range all {
		if s.rank() == 0 {
			must++
		}
	}
	all = all[:min(most, of)]
	var results table
	t.Run("at", func(t *testing.T) {
		for _, s := range all {
			t.Run(s.String(), func(t *testing.T) {
				t.Parallel()
				results.add(s.play(t, w))
			})
		}
	})
	fmt.Printf("%d of %d situations, of which %d strike a write, the journal, or come between any two requests:\n\n%s", len(all), of, must, results.String())
}

func TestWhateverBreaksAnApplyKeepsTheInvariants(t *testing.T) {
	everyFault(t, nil, faultShare, faultWritesFirst)
}

func TestAnApplyWithALimitBelowASecond(t *testing.T) {
	g := newGround(t, faultWorld{}, func(*ground) {})
	// A machine that stands still for as long ends an apply: where that is all, one of
	// the next goes through.
	var e end
	for range 10 {
		if e = g.apply(stepLimit); e.verdict == actions.Applied {
			return
		}
	}
	t.Error(e)
}

// everyLateRequest lets each request that writes arrive when all is over, as a
// packet may that a broken network gives back. A late COMMITTED behind APPLIED
// would be refused by every reader of the control topic, for ever.
func everyLateRequest(t *testing.T, cluster *kafkatest.Cluster) {
	w := newFaultWorld(t, cluster)
	for _, s := range situations(t, w) {
		if s.kind.held {
			t.Run(s.String(), func(t *testing.T) {
				t.Parallel()
				if r := s.play(t, w); !r.struck {
					t.Error("no such request was sent")
				}
			})
		}
	}
}

func TestARequestThatArrivesWhenAllIsOverChangesNothing(t *testing.T) {
	everyLateRequest(t, nil)
}
