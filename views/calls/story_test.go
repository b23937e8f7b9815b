package calls_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/calls"
	"github.com/recoverctl/recoverctl/views/scan"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

func drive(t *testing.T, root tui.Screen, width, height int) *tuitest.Driver {
	t.Helper()
	return tuitest.New(t, viewtest.Options(viewtest.Plain()), root, width, height)
}

// keysOf are the first words of the table's rows.
func keysOf(frame string) string {
	var out []string
	_, below, _ := strings.Cut(frame, "   KEY")
	for _, line := range strings.Split(below, "\n")[1:] {
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, " /") {
			break
		}
		out = append(out, strings.Fields(strings.TrimLeft(line, " ▸…"))[0])
	}
	return strings.Join(out, " ")
}

// Calls are found by each thing that is known of them, and by what they are not.
func TestFilters(t *testing.T) {
	tests := map[string]struct{ query, want string }{
		"a key":                         {"ali", "alice"},
		"a digest":                      {"key:gbY32PzS3", "sha256"},
		"a function":                    {"function:mail", "sha256"},
		"its other name":                {"call:reserve", "erin"},
		"a state":                       {"state:overwritten", "frank"},
		"an action without a call":      {"state:open", "dave"},
		"an outcome":                    {"outcome:reconciler", "alice erin"},
		"as the table writes it":        {"AGAIN", ""},
		"as it is typed":                {"outcome:runs-again state:pending", "alice"},
		"two words":                     {"payments pending", "alice erin"},
		"older than":                    {"age>10m", "carol sha256"},
		"younger than":                  {"age<1m", "dave"},
		"days":                          {"age<2d key:alice", "alice"},
		"a partition":                   {"partition:20", "frank"},
		"a sequence":                    {"seq:17", "alice"},
		"an event":                      {"event:OrderEvent", "carol sha256 alice frank erin erin dave"},
		"the inverse":                   {"!payments", "sha256 erin dave"},
		"the inverse of two words":      {"!function:payments state:pending", "carol sha256 frank erin dave"},
		"a word that is no field":       {"x:y", ""},
		"a partition that is no number": {"partition:x key:alice", "alice"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := drive(t, screen(t, viewtest.Found()), 120, 40)
			d.Press("/")
			d.Type(tt.query)
			d.Press("enter")
			if got := keysOf(d.Frame()); got != tt.want {
				t.Errorf("/%s shows %q, want %q:\n%s", tt.query, got, tt.want, d.Frame())
			}
		})
	}
}

// A scan goes on while the operator moves: no key is lost, and the selected call
// stays selected wherever new ones come.
func TestKeysWorkWhileAScanRuns(t *testing.T) {
	update, end := make(chan inspect.CallUpdate), make(chan struct{})
	source := &led{update: update, end: end, result: viewtest.Found().Result}
	scans := viewtest.Scans(t, source)
	s := scans.Start(viewtest.Job(), viewtest.TopicID)
	d := tuitest.NewBusy(t, viewtest.Options(viewtest.Plain()), calls.New(options(t, scans)), 80, 24)
	send := func(n int, actions ...inspect.ActionCalls) {
		t.Helper()
		update <- inspect.CallUpdate{Progress: inspect.CallProgress{Pass: 1, Records: int64(n) * 100, Span: int64(n) * 100, Total: 1000}, Changed: actions}
		for !strings.Contains(d.Frame(), fmt.Sprintf("%d records", n*100)) {
			d.Next()
		}
	}
	key := func(names ...string) {
		for _, name := range names {
			d.Send(tuitest.Key(t, name))
		}
	}
	ask := func(want string) {
		t.Helper()
		if !strings.Contains(d.Frame(), want) {
			t.Fatalf("%q is not on the screen:\n%s", want, d.Frame())
		}
	}
	if frame := d.Frame(); !strings.Contains(frame, "no open action was found so far") || strings.Contains(frame, "at risk: none") {
		t.Errorf("before anything came:\n%s", frame)
	}
	send(1, open("b", 20), open("d", 40))
	key("j")
	ask("▸ d")
	send(2, open("c", 30), open("a", 10), open("e", 50))
	ask("▸ d")
	key("k")
	ask("▸ c")
	send(3, open("x", 5), open("y", 35))
	ask("▸ c")
	key("j")
	ask("▸ y")
	key("g")
	ask("▸ x")
	close(end)
	d.Settle()
	ask("244,912 records, all read")
	if s.State().Running {
		t.Error("it still runs")
	}
	ask("▸ carol") // x is not in the result: the row in its place
}

// Until the operator has chosen a row, the worst is selected once it is known.
func TestTheWorstIsSelectedWhenTheScanEnds(t *testing.T) {
	update, end := make(chan inspect.CallUpdate), make(chan struct{})
	source := &led{update: update, end: end, result: viewtest.Found().Result}
	d := tuitest.NewBusy(t, viewtest.Options(viewtest.Plain()), calls.New(options(t, viewtest.Scans(t, source))), 80, 24)
	update <- inspect.CallUpdate{Changed: viewtest.Calls().Actions[2:3]}
	for !strings.Contains(d.Frame(), "▸ erin") {
		d.Next()
	}
	close(end)
	d.Settle()
	if !strings.Contains(d.Frame(), "▸ carol") {
		t.Errorf("it shows\n%s", d.Frame())
	}
}

// A key that was found gives its name to what only its digest was known of.
func TestAKeyThatWasFoundIsNamed(t *testing.T) {
	o := options(t, viewtest.Scans(t, viewtest.Found()))
	bob := "bob"
	o.Find = func(context.Context, inspect.Job, string) (inspect.KeyState, error) {
		return inspect.KeyState{Type: "string", Value: bob, Text: bob, Digest: viewtest.Calls().Actions[1].Key.Digest}, nil
	}
	d := drive(t, calls.New(o), 80, 24)
	d.Press("K", "x", "enter", "esc", "/")
	d.Type("key:bob")
	d.Press("enter")
	if !strings.Contains(d.Frame(), "▸ bob") {
		t.Errorf("it shows\n%s", d.Frame())
	}
}

// led is a scan that a test leads.
type led struct {
	update chan inspect.CallUpdate
	end    chan struct{}
	result scan.Result
}

func (l *led) Calls(ctx context.Context, _ inspect.Job, watch func(inspect.CallUpdate)) (scan.Result, error) {
	for {
		select {
		case u := <-l.update:
			watch(u)
		case <-l.end:
			return l.result, nil
		case <-ctx.Done():
			return scan.Result{}, ctx.Err()
		}
	}
}

// open is a pending call; the rank makes the order of the rows.
func open(key string, rank int64) inspect.ActionCalls {
	return inspect.ActionCalls{
		Key: inspect.CallKey{Text: &key}, Generation: 2, First: rank, Offset: rank, Timestamp: viewtest.Now.Add(-time.Hour + time.Duration(rank)*time.Second),
		Calls: []inspect.Call{{FunctionID: "payments.charge", State: inspect.CallPending}},
	}
}

// counting counts how often a topic is scanned.
type counting struct {
	scan.Source
	n int
}

func (c *counting) Calls(ctx context.Context, job inspect.Job, watch func(inspect.CallUpdate)) (scan.Result, error) {
	c.n++
	return c.Source.Calls(ctx, job, watch)
}

// Opened again, the screen shows what was found; r scans anew, and says so of a
// topic that was made anew.
func TestWhatWasFoundIsNotScannedTwice(t *testing.T) {
	source := &counting{Source: viewtest.Found()}
	scans := viewtest.Scans(t, source)
	o := options(t, scans)
	drive(t, calls.New(o), 80, 24)
	d := drive(t, calls.New(o), 80, 24)
	if source.n != 1 || !strings.Contains(d.Frame(), "▸ carol") {
		t.Errorf("scanned %d times:\n%s", source.n, d.Frame())
	}
	d.Press("j", "j", "r")
	if source.n != 2 || !strings.Contains(d.Frame(), "▸ alice") {
		t.Errorf("scanned %d times after r:\n%s", source.n, d.Frame())
	}
	o.Reading.Overview.TopicID = "AAAAAAAAAAAAAAAAAAAAAA"
	drive(t, calls.New(o), 80, 24)
	if source.n != 3 {
		t.Error("what another topic held is shown for a new one")
	}
}

// What was never read is not a number, and a part is not the whole.
func TestNothingLooksLikeZero(t *testing.T) {
	tests := map[string]struct {
		screen func() tui.Screen
		want   []string
		never  []string
	}{
		"unreachable": {func() tui.Screen { return screen(t, &viewtest.CallScan{Err: viewtest.Gone()}) }, []string{"not scanned", "no broker answers"}, []string{" 0 ", "none"}},
		"cancelled":   {func() tui.Screen { return stopped(t) }, []string{"cancelled, NOT ALL WAS READ", "NOT ALL READ", "▸ alice"}, []string{"all read 0"}},
		"partial":     {func() tui.Screen { return screen(t, partial()) }, []string{"NOT ALL WAS READ", "NOT ALL READ"}, []string{"all read 0"}},
	}
	for name, tt := range tests {
		frame := drive(t, tt.screen(), 80, 24).Frame()
		for _, want := range tt.want {
			if !strings.Contains(frame, want) {
				t.Errorf("%s: %q is not on the screen:\n%s", name, want, frame)
			}
		}
		for _, never := range tt.never {
			if strings.Contains(frame, never) {
				t.Errorf("%s: %q is on the screen:\n%s", name, never, frame)
			}
		}
	}
}

// What is copied is one call with all that is known of it, for a ticket.
func TestCopy(t *testing.T) {
	d := drive(t, screen(t, viewtest.Found()), 80, 24)
	d.Press("j", "j", "y")
	sequence := strings.TrimSuffix(strings.TrimPrefix(d.Clipboard(), "\x1b]52;c;"), "\a")
	text, err := base64.StdEncoding.DecodeString(sequence)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"alice", "payments.charge#0  pending", "partition 3, offset 3,911", "chk-44 RUNS AGAIN: partition 3 is read from 3950", "reconciler"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is not in what was copied:\n%s", want, text)
		}
	}
}

// hostile are keys and names that would take a terminal over, some of them long.
func hostile(long int) *viewtest.CallScan {
	texts := []string{
		viewtest.Hostile, strings.Repeat("k", long), strings.Repeat(viewtest.Hostile, long/len(viewtest.Hostile)), "注文エージェント" + strings.Repeat("注文", 100),
		"\u202egnp.exe\u2066x", "cafe\u0301\u200d🚀", "", " ", "line\nline\ttab", "a_b_c__", "\xff\xfe\x00",
	}
	source := viewtest.Found()
	group := int32(5)
	for i, text := range texts {
		a := viewtest.Calls().Actions[0]
		a.Key, a.First, a.KeyGroup, a.EventType, a.EventUUID, a.ActionUUID = inspect.CallKey{Text: &text}, int64(100+i), &group, text, viewtest.Hostile, viewtest.Hostile
		a.Calls = append([]inspect.Call(nil), a.Calls...)
		a.Calls[0].FunctionID, a.Calls[0].ArgsDigest, a.Calls[0].Status, a.Calls[0].State = text, viewtest.Hostile, &text, inspect.CallState(viewtest.Hostile)
		a.Calls[0].Outcomes = append([]inspect.PointOutcome(nil), a.Calls[0].Outcomes...)
		for o := range a.Calls[0].Outcomes {
			a.Calls[0].Outcomes[o].Why = viewtest.Hostile
		}
		source.Result.Calls.Actions = append(source.Result.Calls.Actions, a)
	}
	source.Result.Calls.Findings = []inspect.Finding{{Severity: inspect.SeverityError, Cause: viewtest.Hostile, Next: viewtest.Hostile}}
	return source
}

func TestHostileKeysAreHarmless(t *testing.T) {
	d := drive(t, screen(t, hostile(1<<20)), 120, 40)
	viewtest.Harmless(t, d)
	d.Press("g")
	for range len(viewtest.Calls().Actions) + 12 {
		d.Press("enter")
		viewtest.Harmless(t, d)
		d.Press("y", "esc", "j")
		viewtest.Harmless(t, d)
	}
	d.Press("s")
	viewtest.Harmless(t, d)
	d.Press("esc", "/")
	d.Type("key:kkkk")
	d.Press("enter")
	if !strings.Contains(d.Frame(), "1 of ") {
		t.Errorf("a key of 1 MiB is not found:\n%s", d.Frame())
	}
}

// busy is a scan that gives actions as fast as it can, and ends.
type busy struct{ seed uint64 }

func (b busy) Calls(ctx context.Context, _ inspect.Job, watch func(inspect.CallUpdate)) (scan.Result, error) {
	r := rand.New(rand.NewPCG(b.seed, 1))
	states := []inspect.CallState{inspect.CallPending, inspect.CallOverwritten, inspect.CallSaved, inspect.CallUnmatched}
	for n := range 12 {
		var u inspect.CallUpdate
		for range r.IntN(40) {
			a := open(fmt.Sprintf("key-%d", r.IntN(50)), int64(r.IntN(80)))
			a.Calls[0].State = states[r.IntN(len(states))]
			u.Changed = append(u.Changed, a)
		}
		for range r.IntN(10) {
			u.Closed = append(u.Closed, inspect.RecordPosition{Offset: int64(r.IntN(80))})
		}
		u.Progress = inspect.CallProgress{Pass: 1 + n/10, Records: int64(n) * 1000, Span: int64(n) * 1000, Total: 12000, Open: int64(len(u.Changed))}
		watch(u)
		select {
		case <-ctx.Done():
			return scan.Result{Calls: inspect.DurableCalls{Scanned: inspect.ScanExtent{Records: 1}}}, ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
	return viewtest.Found().Result, nil
}

func TestStormWhileScansRun(t *testing.T) {
	seed := uint64(0)
	tuitest.StormWith(t, viewtest.Options(viewtest.Plain()), func() tui.Screen {
		seed++
		return screen(t, busy{seed})
	})
}

func TestStormOfHostileKeys(t *testing.T) {
	tuitest.StormWith(t, viewtest.Options(viewtest.Plain()), func() tui.Screen { return screen(t, hostile(1<<14)) })
}

func TestASCII(t *testing.T) {
	for _, walk := range [][]string{nil, {"enter"}, {"s"}, {"tab"}} {
		o := options(t, viewtest.Scans(t, viewtest.Found()))
		o.Theme = viewtest.ASCIITheme()
		d := tuitest.New(t, viewtest.Options(o.Theme), calls.New(o), 80, 24)
		d.Press(walk...)
		viewtest.ASCII(t, d)
	}
}
