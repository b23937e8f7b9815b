package arkflow_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/journal"
	"github.com/recoverctl/recoverctl/internal/testkit/arkhubtest"
)

// asked is one request that a plan makes, with all that the hub does for the plan.
type asked struct {
	kind, end, effects string
}

// requests are all that plans ask a hub for.
var requests = []asked{
	{actions.KindArkFlowSavepoint, "/savepoints", "savepoint orders"},
	{actions.KindArkFlowCheckpoint, "/checkpoints", ""}, // counted by itself: the hub takes some, too
	{actions.KindArkFlowRollback, "/actions/stop", "stop orders, version 1 orders, start orders"},
	{actions.KindArkFlowRollback, "/rollback", "stop orders, version 1 orders, start orders"},
	{actions.KindArkFlowRollback, "/actions/start", "stop orders, version 1 orders, start orders"},
	{actions.KindArkFlowPause, "/u1/actions", "upgrade pause orders"},
	{actions.KindArkFlowResume, "/u1/actions", "upgrade resume orders"},
	{actions.KindArkFlowCancel, "/u1/actions", "upgrade cancel orders"},
	{actions.KindArkFlowRestart, "/actions/restart", "running node-a/heartbeat"},
}

func (a asked) String() string { return a.kind + " at " + strings.ReplaceAll(a.end, "/", ".") }

// begun is the hub before the plan, and the plan.
func (a asked) begun(t *testing.T) *scene {
	t.Helper()
	var s *scene
	switch a.kind {
	case actions.KindArkFlowRollback:
		s = rolledForward(t, arkhub.GenerationJobs)
	case actions.KindArkFlowPause, actions.KindArkFlowResume, actions.KindArkFlowCancel:
		s = newScene(t, arkhub.GenerationUpgrades)
		s.set(1)
		s.hub.SetUpgrade("orders", "u1", "verifying", 1, 2)
		if a.kind == actions.KindArkFlowResume {
			s.mustMake(actions.KindArkFlowPause)
			s.applied()
		}
	default:
		s = newScene(t, arkhub.GenerationJobs)
		s.set(1)
	}
	return s.mustMake(a.kind)
}

// once wants the plan applied, and each thing done once.
func (a asked) once(s *scene, before, byHand int) {
	s.Helper()
	if v := s.verdict(); v.Verdict != actions.Applied {
		s.Errorf("verify says %s: %s", v.Verdict, v.Message)
	}
	if got := s.effects(before); got != a.effects {
		s.Errorf("the hub did %s, want %s", got, a.effects)
	}
	if a.kind == actions.KindArkFlowCheckpoint {
		if n := s.byHand() - byHand; n != 1 {
			s.Errorf("%d checkpoints were begun", n)
		}
	}
}

// An answer is lost, and the hub has done what was asked: that is found by reading,
// the same apply goes on, and nothing is sent twice.
func TestAnAnswerIsLost(t *testing.T) {
	faults := map[string]arkhubtest.Fault{
		"answer lost": arkhubtest.LoseAnswer, "answer late": arkhubtest.Hold(time.Minute), "half an answer": arkhubtest.Cut(20),
		"502 after the effect": arkhubtest.FailAfter(502), "503 after the effect": arkhubtest.FailAfter(503), "page after the effect": arkhubtest.FailAfter(200),
	}
	for name, f := range faults {
		for _, a := range requests {
			if name == "answer late" && strings.HasPrefix(a.end, "/actions/st") { // once for each plan: it takes its time
				continue
			}
			if name != "answer lost" && name != "answer late" && name != "502 after the effect" && a.end != "/rollback" && a.end != "/actions/restart" {
				continue // they are told apart below, where a request is made
			}
			t.Run(fmt.Sprintf("%s, %s", name, a), func(t *testing.T) {
				t.Parallel()
				s := a.begun(t)
				before, byHand := len(s.hub.Effects()), s.byHand()
				if name == "answer late" {
					s.timeout = 4 * time.Second
				}
				s.hub.Break(arkhubtest.On("POST", a.end, arkhubtest.Times(1, f)))
				s.applied()
				a.once(s, before, byHand)
				s.applied() // again: it is as planned
				a.once(s, before, byHand)
				if sent := s.sent(a.end); sent != 1+a.earlier() {
					t.Errorf("sent %d times", sent)
				}
			})
		}
	}
}

// earlier is how often the request was made before the plan: a resume follows a
// pause.
func (a asked) earlier() int {
	if a.kind == actions.KindArkFlowResume {
		return 1
	}
	return 0
}

// sent is how many requests came whose path ends so.
func (s *scene) sent(end string) (n int) {
	for _, r := range s.hub.Requests() {
		if r.Method == http.MethodPost && strings.HasSuffix(r.Path, end) {
			n++
		}
	}
	return n
}

// A request is lost, and nothing is seen of it: what became of it is unknown, and
// the same plan sends nothing more before somebody says that it is lost. Only the
// restart of a stream is asked for again, with its key.
func TestARequestIsLost(t *testing.T) {
	faults := map[string]arkhubtest.Fault{"request lost": arkhubtest.LoseRequest, "proxy": arkhubtest.Say(502, "text/html", "<html>"), "its database": arkhubtest.Refuse(503, "storage_unavailable", "no database")}
	for name, f := range faults {
		for _, a := range requests {
			if name == "its database" && a.end != "/rollback" && a.end != "/actions/restart" {
				continue // as a proxy, for the plan
			}
			t.Run(fmt.Sprintf("%s, %s", name, a), func(t *testing.T) {
				t.Parallel()
				s := a.begun(t)
				before, byHand := len(s.hub.Effects()), s.byHand()
				s.hub.Break(arkhubtest.On("POST", a.end, arkhubtest.Times(1, f)))
				first, refused, err := s.apply()
				if refused != nil || fault.KindOf(err) != fault.Unknown && fault.KindOf(err) != fault.Partial || first.Verdict == actions.Applied || !strings.Contains(steps(first), " unknown") {
					t.Fatalf("%s, %v, %v: %s", first.Verdict, refused, err, steps(first))
				}
				if a.kind == actions.KindArkFlowRestart {
					s.applied()
					a.once(s, before, byHand)
					return
				}
				if v := s.verdict(); v.Verdict != actions.Undecided && v.Verdict != actions.Partial || !strings.Contains(v.Message, "is not known, and the hub shows nothing of it") {
					t.Errorf("verify says %s: %s", v.Verdict, v.Message)
				}
				requests, effects := s.sent(""), len(s.hub.Effects())
				for range 2 {
					if _, refused, err := s.apply(); refused != nil || fault.KindOf(err) != fault.Denied || !strings.Contains(err.Error(), actions.RequestUnsettled) {
						t.Fatalf("%v, %v", refused, err)
					}
				}
				if s.sent("") != requests || s.effects(effects) != "" {
					t.Errorf("something was sent: %s", s.effects(effects))
				}
				s.applied(actions.RequestUnsettled)
				a.once(s, before, byHand)
			})
		}
	}
}

// A request that was given up arrives late: the same plan finds it and goes on.
func TestARequestComesLate(t *testing.T) {
	for _, a := range requests {
		t.Run(a.String(), func(t *testing.T) {
			t.Parallel()
			s := a.begun(t)
			before, byHand := len(s.hub.Effects()), s.byHand()
			const by = 2 * time.Minute // of the hub's clock: 1.2 s, twelve times as long as is looked for it
			s.hub.Break(arkhubtest.On("POST", a.end, arkhubtest.Times(1, s.hub.Late(by))))
			first, refused, err := s.apply()
			if refused != nil || (err == nil) != (first.Verdict == actions.Applied) { // on a machine that stands still it may come in time
				t.Fatalf("%s, %v, %v: %s", first.Verdict, refused, err, steps(first))
			}
			s.until("it came", func() bool {
				return len(actions.ArkFlowReport(s.plan, s.asPlanned()).Warnings) == 0 || s.effects(before) == a.effects && a.effects != ""
			})
			s.applied()
			a.once(s, before, byHand)
			if sent := s.sent(a.end); sent != 1+a.earlier() && a.kind != actions.KindArkFlowRestart {
				t.Errorf("sent %d times", sent)
			}
		})
	}
}

// until waits for something that comes by itself.
func (s *scene) until(what string, is func() bool) {
	s.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			s.Fatalf("not in time: %s", what)
		}
	}
}

// The process ends at each line of its journal: the plan applied again ends as one
// that went through, and each thing was done once.
func TestEndsAtEachJournalLine(t *testing.T) {
	for _, a := range requests {
		const most = 7 // begin, then intent and outcome of three requests; the end is nobody's loss
		for cut := 1; cut <= most; cut++ {
			if a.kind == actions.KindArkFlowRollback && a.end != "/rollback" || a.kind != actions.KindArkFlowRollback && cut > 3 {
				continue // of each plan once
			}
			t.Run(fmt.Sprintf("%s, line %d", a.kind, cut), func(t *testing.T) {
				t.Parallel()
				s := a.begun(t)
				before, byHand := len(s.hub.Effects()), s.byHand()
				earlier := s.lines.all
				s.lines.cut = len(earlier) + cut
				if _, _, err := s.apply(); err == nil {
					t.Fatal("it did not end")
				}
				s.lines.cut = 0
				s.applied()
				a.once(s, before, byHand)
			})
		}
	}
}

// written is how many lines the journal has.
func (s *scene) written() int {
	s.lines.mu.Lock()
	defer s.lines.mu.Unlock()
	return len(s.lines.all)
}

// Another plan about the same job does not get round a request that is not settled.
func TestAnotherPlanAsksToo(t *testing.T) {
	s := rolledForward(t, arkhub.GenerationJobs)
	s.mustMake(actions.KindArkFlowRollback)
	s.hub.Break(arkhubtest.On("POST", "/rollback", arkhubtest.LoseRequest))
	if _, refused, err := s.apply(); refused != nil || err == nil {
		t.Fatal(refused, err)
	}
	s.hub.Break()
	s.mustMake(actions.KindArkFlowRollback) // of the job that is stopped by now: another plan
	before := len(s.hub.Effects())
	report := actions.ArkFlowReport(s.plan, s.asPlanned())
	if len(report.Warnings) != 1 || report.Warnings[0].Name != actions.RequestUnsettled || !strings.Contains(report.Warnings[0].Message, "takes the job to a lower version") {
		t.Fatalf("%+v", report.Warnings)
	}
	if _, _, err := s.apply(); fault.KindOf(err) != fault.Denied || s.effects(before) != "" {
		t.Errorf("%v; the hub did %s", err, s.effects(before))
	}
	s.applied(actions.RequestUnsettled)
	if got := s.effects(before); got != "version 1 orders, start orders" {
		t.Errorf("the hub did %s", got)
	}
	if left := actions.OpenRequestsOf(s.lines.all, s.plan.Target, ops.Profile, []string{"payments", ops.Job}); len(left) != 0 {
		t.Errorf("not settled by the acceptance: %+v", left)
	}
}

// A plan that was begun on another machine is gone on with here only after somebody has
// looked there: what was lost there is not known here.
func TestAPlanIsContinuedOnAnotherMachine(t *testing.T) {
	s := rolledForward(t, arkhub.GenerationJobs)
	s.mustMake(actions.KindArkFlowRollback)
	before := len(s.hub.Effects())
	s.hub.Break(arkhubtest.On("POST", "/rollback", arkhubtest.LoseRequest))
	if _, refused, err := s.apply(); refused != nil || err == nil {
		t.Fatal(refused, err)
	}
	s.hub.Break()
	there := s.lines
	s.lines = &lines{} // another machine's
	if v := s.verdict(); v.Verdict != actions.Partial || !strings.Contains(v.Message, "the journal of this machine has no run of the plan") {
		t.Errorf("verify says %s: %s", v.Verdict, v.Message)
	}
	report := actions.ArkFlowReport(s.plan, s.asPlanned())
	if len(report.Warnings) != 1 || report.Warnings[0].Name != actions.BegunElsewhere || !strings.Contains(report.Warnings[0].Message, "recoverctl journal show "+s.plan.PlanID[:8]) {
		t.Fatalf("%+v", report.Warnings)
	}
	if _, _, err := s.apply(); fault.KindOf(err) != fault.Denied || s.effects(before) != "stop orders" {
		t.Errorf("%v; the hub did %s", err, s.effects(before))
	}
	s.applied(actions.BegunElsewhere)
	if got := s.effects(before); got != "stop orders, version 1 orders, start orders" {
		t.Errorf("the hub did %s", got)
	}
	// Where it was begun, what the hub shows by now settles it.
	s.lines = there
	if v := s.verdict(); v.Verdict != actions.Applied || strings.Contains(v.Message, "journal") {
		t.Errorf("verify there says %s: %s", v.Verdict, v.Message)
	}
}

// A round that was begun on another machine is followed from here, and a plan of which
// nothing was done asks nobody about another machine, but says where to look.
func TestARoundOfAnotherMachineIsFollowed(t *testing.T) {
	s := newScene(t, arkhub.GenerationJobs)
	s.set(1)
	s.mustMake(actions.KindArkFlowSavepoint)
	if v := s.verdict(); v.Verdict != actions.NotStarted || !strings.Contains(v.Message, "has no run of the plan: if it was applied on another") {
		t.Errorf("verify says %s: %s", v.Verdict, v.Message)
	}
	before := len(s.hub.Effects())
	s.lines.cut = 3 // it ends once it has sent
	if _, _, err := s.apply(); err == nil {
		t.Fatal("it did not end")
	}
	s.lines = &lines{}
	s.applied()
	if got := s.effects(before); got != "savepoint orders" {
		t.Errorf("the hub did %s", got)
	}
}

// What the journal leaves open is of one target, and of what no later line settles.
func TestWhatAJournalLeavesOpen(t *testing.T) {
	s := rolledForward(t, arkhub.GenerationJobs)
	s.mustMake(actions.KindArkFlowRollback)
	on := s.plan.Target
	at := time.Date(2026, 11, 30, 3, 11, 0, 0, time.UTC)
	line := func(run string, event journal.Event, step, result string) journal.Entry {
		return journal.Entry{Time: at, Run: run, Event: event, PlanID: s.plan.PlanID, Kind: s.plan.Kind, Object: "job orders", ObjectID: "orders", System: on.Cluster, Step: step, Result: result, Message: "that it shall stop"}
	}
	intent, unknown := line("r1", journal.Intent, "stop", ""), line("r1", journal.Outcome, "stop", journal.Unknown)
	other := intent
	other.System, other.Profile, other.Job = "http://elsewhere:8080", "staging", "orders"
	leader := other
	leader.Profile = "prod"
	beside, apart := leader, leader
	beside.Job, apart.Job = "payments", "returns"
	adhoc, adhocAccepted := other, line("r3", journal.Begin, "", "")
	adhoc.Profile = "adhoc" // no profile was chosen: the address may be another of the same hub
	adhocAccepted.Accept, adhocAccepted.Profile, adhocAccepted.System = []string{actions.RequestUnsettled}, "adhoc", other.System
	before := intent
	before.System = "" // a line of a release that wrote none
	accepted := line("r2", journal.Begin, "", "")
	accepted.Accept = []string{actions.RequestUnsettled}
	for name, tt := range map[string]struct {
		lines []journal.Entry
		open  int
	}{
		"an intent alone":            {[]journal.Entry{intent}, 1},
		"an outcome that is unknown": {[]journal.Entry{intent, unknown}, 1},
		"done":                       {[]journal.Entry{intent, line("r1", journal.Outcome, "stop", journal.Done)}, 0},
		"refused":                    {[]journal.Entry{intent, line("r1", journal.Outcome, "stop", journal.Failed)}, 0},
		"done by a later run":        {[]journal.Entry{intent, unknown, line("r2", journal.Intent, "stop", ""), line("r2", journal.Outcome, "stop", journal.Done)}, 0},
		"refused in a later run":     {[]journal.Entry{intent, unknown, line("r2", journal.Intent, "stop", ""), line("r2", journal.Outcome, "stop", journal.Failed)}, 1},
		"another step of it":         {[]journal.Entry{intent, unknown, line("r2", journal.Outcome, "start", journal.Done)}, 1},
		"the plan was applied":       {[]journal.Entry{intent, unknown, line("r2", journal.End, "", "applied")}, 0},
		"the plan is partial":        {[]journal.Entry{intent, unknown, line("r2", journal.End, "", "partial")}, 1},
		"somebody accepted it":       {[]journal.Entry{intent, unknown, accepted}, 0},
		"one after that":             {[]journal.Entry{intent, unknown, accepted, line("r2", journal.Intent, "stop", "")}, 1},
		"of another hub":             {[]journal.Entry{other}, 0},
		"of the hub's former leader": {[]journal.Entry{leader}, 1},
		"under another job's name":   {[]journal.Entry{beside}, 1},
		"of a job with another hub":  {[]journal.Entry{apart}, 0},
		"of no named hub":            {[]journal.Entry{before}, 1},
		"without a profile":          {[]journal.Entry{adhoc}, 1},
		"accepted without a profile": {[]journal.Entry{adhoc, intent, adhocAccepted}, 1},
	} {
		if open := actions.OpenRequestsOf(tt.lines, on, ops.Profile, []string{"payments", ops.Job}); len(open) != tt.open {
			t.Errorf("%s: %+v", name, open)
		}
	}
}

// Whatever a plan reads, and whatever breaks once while it does: the same plan ends as
// one that went through, and each thing was done once.
func TestAReadingFails(t *testing.T) {
	faults := map[string]arkhubtest.Fault{"lost": arkhubtest.LoseRequest, "503": arkhubtest.Refuse(503, "storage_unavailable", "no database"), "page": arkhubtest.Say(200, "text/html", "<html>login")}
	for _, a := range []struct {
		asked
		reads int // at least so many routes
	}{
		{asked{actions.KindArkFlowRollback, "/rollback", "stop orders, version 1 orders, start orders"}, 8},
		{asked{actions.KindArkFlowPause, "/u1/actions", "upgrade pause orders"}, 6},
		{asked{actions.KindArkFlowResume, "/u1/actions", "upgrade resume orders"}, 6},
		{asked{actions.KindArkFlowCancel, "/u1/actions", "upgrade cancel orders"}, 6},
		{asked{actions.KindArkFlowRestart, "/actions/restart", "running node-a/heartbeat"}, 3},
	} {
		routes := a.routes(t)
		if len(routes) < a.reads {
			t.Errorf("%s reads %v", a.kind, routes)
		}
		for route := range routes {
			for name, f := range faults {
				if name != "lost" && !strings.HasSuffix(route, "/orders") && !strings.HasSuffix(route, "/detail") && !strings.HasSuffix(route, "/heartbeat") {
					continue // of most routes one fault is enough
				}
				t.Run(a.kind+strings.ReplaceAll(route, "/", ".")+" "+name, func(t *testing.T) {
					t.Parallel()
					s := a.begun(t)
					before, byHand := len(s.hub.Effects()), s.byHand()
					const tries = 2 // that the client makes of a request that reads
					breaks, earlier := arkhubtest.Times(3*tries, f), s.written()
					s.hub.Break(arkhubtest.On("GET", route, func(w http.ResponseWriter, r *http.Request, hub http.Handler) bool {
						return s.written() > earlier && breaks(w, r, hub) // once the run has begun
					}))
					if _, refused, _ := s.apply(); refused != nil {
						t.Fatal(refused)
					}
					s.hub.Break()
					s.applied()
					a.once(s, before, byHand)
				})
			}
		}
	}
}

// routes are all that an apply of the plan reads.
func (a asked) routes(t *testing.T) map[string]bool {
	t.Helper()
	clean := a.begun(t)
	before := len(clean.hub.Requests())
	clean.applied()
	routes := map[string]bool{}
	for _, r := range clean.hub.Requests()[before:] {
		if r.Method == http.MethodGet {
			routes[r.Path] = true
		}
	}
	return routes
}
