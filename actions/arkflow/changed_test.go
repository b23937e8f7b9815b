package arkflow_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	inspected "github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/testkit/arkhubtest"
)

// failed makes the job of a version, which fails on its nodes.
func (s *scene) failed(version int) {
	s.Helper()
	s.hub.FailStarts("orders", "state can't be read")
	err := s.hub.SetJob(fmt.Sprintf(`{"id":"orders","version":%d,"parallelism":2,"max_parallelism":8,"operators":[{"id":"src","kind":"source"},{"id":"count","kind":"aggregate","stateful":true}],
		"sources":[{"operator_id":"src","input_type":"kafka"}],"state":{"format_version":1},"checkpoint":{"interval_ms":8000,"retention":0,"object_store_uri":"file://%s"}}`, version, s.dir), "running")
	if err != nil {
		s.Fatal(err)
	}
	s.wait("it failed", func(d inspected.JobDetail) bool { return d.Job.Observed != nil && *d.Job.Observed == "failed" })
	s.hub.FailStarts("orders", "")
}

// A version that does not come up is what is rolled back most: such a job is wanted
// running, and so it is stopped first, which the report says, and proved in the end.
func TestARollbackOfAJobThatFailed(t *testing.T) {
	t.Parallel()
	s := newScene(t, arkhub.GenerationJobs)
	s.set(1)
	s.mustMake(actions.KindArkFlowSavepoint)
	s.applied()
	s.failed(2)
	s.mustMake(actions.KindArkFlowRollback)
	if f := s.plan.Facts[0]; *f.Before != "failed" || f.Source != "wanted running" {
		t.Errorf("%s, %s", *f.Before, f.Source)
	}
	if does := strings.Join(actions.ArkFlowReport(s.plan, s.asPlanned()).Does, "\n"); !strings.Contains(does, "Job orders is stopped.") {
		t.Errorf("that it is stopped is not said: %s", does)
	}
	before := len(s.hub.Effects())
	s.applied()
	if got := s.effects(before); got != "stop orders, version 1 orders, start orders" {
		t.Errorf("the hub did %s", got)
	}
	if v := s.verdict(); v.Verdict != actions.Applied {
		t.Errorf("verify says %s: %s", v.Verdict, v.Message)
	}
	bad := strings.Replace(string(s.plan.Encode()), `"source":"wanted running"`, `"source":"wanted gone"`, 1)
	if _, p := actions.ParseDocument([]byte(bad)); p == nil || p.Code != "fact-not-allowed" {
		t.Errorf("a plan that was changed by hand: %+v", p)
	}
}

// A plan of a job that was stopped does not stop one that somebody has started since.
func TestAJobThatWasStartedSinceIsNotStopped(t *testing.T) {
	t.Parallel()
	s := rolledForward(t, arkhub.GenerationJobs)
	s.post("/jobs/orders/actions/stop")
	s.wait("it stopped", func(d inspected.JobDetail) bool { return *d.Job.Observed == "stopped" })
	s.mustMake(actions.KindArkFlowRollback)
	s.post("/jobs/orders/actions/start")
	before := len(s.hub.Effects())
	if _, refused, err := s.apply(); refused == nil || refused.Problem.Code != "job-changed" || s.effects(before) != "" {
		t.Errorf("%+v, %v; the hub did %s", refused, err, s.effects(before))
	}
	if v := s.verdict(); v.Verdict != actions.Undecided || !strings.Contains(v.Message, "its generation was") {
		t.Errorf("verify says %s: %s", v.Verdict, v.Message)
	}
}

// A stop that was sent, after which somebody started the job by hand, is never told as
// not started.
func TestAStopThatWasUndoneIsNotCalledNotStarted(t *testing.T) {
	t.Parallel()
	s := rolledForward(t, arkhub.GenerationJobs)
	s.mustMake(actions.KindArkFlowRollback)
	s.lines.cut = len(s.lines.all) + 4 // it ends when it has stopped the job, and written that
	if _, _, err := s.apply(); err == nil {
		t.Fatal("it did not end")
	}
	s.lines.cut = 0
	s.post("/jobs/orders/actions/start")
	if v := s.verdict(); v.Verdict != actions.Undecided || !strings.Contains(v.Message, "by this plan or by somebody else") {
		t.Errorf("verify says %s: %s", v.Verdict, v.Message)
	}
}

// Where the hub's records can't be read, what stands there passes neither for absent
// nor for the plan's: no plan is made, nothing is sent, and the answer is unknown.
func TestRecordsThatAreNotReadAreNotAbsent(t *testing.T) {
	t.Parallel()
	broken := arkhubtest.Refuse(503, "storage_unavailable", "no database")
	detail := arkhubtest.On("GET", "/detail", broken)
	rounds, versions := arkhubtest.On("GET", "/checkpoints", broken), arkhubtest.On("GET", "/versions", broken)
	s := newScene(t, arkhub.GenerationJobs)
	s.set(1)
	s.mustMake(actions.KindArkFlowSavepoint)
	s.applied()
	s.hub.Break(detail, rounds)
	if v := s.verdict(); v.Verdict != actions.Undecided || v.Facts[0].State != actions.FactUnread {
		t.Errorf("a savepoint that was made: %s: %s, %+v", v.Verdict, v.Message, v.Facts)
	}
	before := len(s.hub.Effects())
	if _, refused, err := s.apply(); refused == nil || refused.Problem.Code != "rounds-unread" || s.effects(before) != "" {
		t.Errorf("%+v, %v; the hub did %s", refused, err, s.effects(before))
	}
	if p := s.make(actions.KindArkFlowSavepoint); p == nil || p.Code != "rounds-unread" {
		t.Errorf("a plan that finds no savepoint, where there is one: %+v", p)
	}
	s.hub.Break()
	s.set(2)
	for code, faults := range map[string][]arkhubtest.Fault{"rounds-unread": {detail, rounds}, "versions-unread": {versions}} {
		s.hub.Break(faults...)
		if p := s.make(actions.KindArkFlowRollback); p == nil || p.Code != code {
			t.Errorf("%+v, want %s", p, code)
		}
		s.hub.Break()
		s.mustMake(actions.KindArkFlowRollback)
		s.hub.Break(faults...)
		if _, refused, err := s.apply(); refused == nil || refused.Problem.Code != code {
			t.Errorf("%+v, %v, want %s", refused, err, code)
		}
		s.hub.Break()
	}
}

// An upgrade that went on and is paused again, in another phase, is neither resumed
// there nor ended there by a plan that says something else, whenever it happened.
func TestAnUpgradeThatIsPausedElsewhere(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{actions.KindArkFlowResume, actions.KindArkFlowCancel} {
		for when, after := range map[string]bool{"before the report": false, "after the approval": true} {
			s := newScene(t, arkhub.GenerationUpgrades)
			s.set(1)
			paused := func(phase string) {
				s.hub.SetUpgrade("orders", "u1", phase, 1, 2)
				s.posted("/jobs/orders/upgrades/u1/actions", `{"action":"pause"}`)
			}
			paused("saving_savepoint")
			s.mustMake(kind)
			before := 0
			again := func() { paused("committing_version"); before = len(s.hub.Effects()) }
			if after {
				s.approved = again
			} else {
				again()
			}
			_, refused, err := s.apply()
			if refused == nil {
				errors.As(err, &refused)
			}
			if refused == nil || refused.Problem.Code != "upgrade-changed" || s.effects(before) != "" {
				t.Errorf("%s, %s: %+v, %v; the hub did %s", kind, when, refused, err, s.effects(before))
			}
		}
	}
}

// What was approved as done already, and is not when it comes to it, is not asked for.
func TestWhatWasApprovedAsDoneIsNotAskedFor(t *testing.T) {
	t.Parallel()
	s := newScene(t, arkhub.GenerationUpgrades)
	s.set(1)
	s.hub.SetUpgrade("orders", "u1", "verifying", 1, 2)
	s.mustMake(actions.KindArkFlowPause)
	s.applied()
	before := 0
	s.approved = func() {
		s.posted("/jobs/orders/upgrades/u1/actions", `{"action":"resume"}`)
		before = len(s.hub.Effects())
	}
	_, refused, err := s.apply()
	if errors.As(err, &refused); refused == nil || refused.Problem.Code != "approved-as-done" || s.effects(before) != "" {
		t.Errorf("%+v, %v; the hub did %s", refused, err, s.effects(before))
	}
}

// Two operators apply one plan at the same time from two machines. The one that finds
// the job stopped, and has not asked for it, goes no further: two rollbacks go down two
// versions.
func TestSomebodyElseTakesTheJobBackAtTheSameTime(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]func(*scene){
		"the job was stopped": func(s *scene) { s.post("/jobs/orders/actions/stop") },
		"it was taken back": func(s *scene) {
			s.post("/jobs/orders/actions/stop")
			s.wait("it stopped", func(d inspected.JobDetail) bool { return *d.Job.Observed == "stopped" })
			s.post("/jobs/orders/upgrades/v1/rollback")
		},
	} {
		s := rolledForward(t, arkhub.GenerationJobs)
		s.mustMake(actions.KindArkFlowRollback)
		before := 0
		s.approved = func() { other(s); before = len(s.hub.Effects()) }
		result, refused, err := s.apply()
		if errors.As(err, &refused); refused == nil || refused.Problem.Code != actions.BegunElsewhere || s.effects(before) != "" || result.Verdict != actions.Partial {
			t.Errorf("%s: %+v, %v, %s; the hub did %s", name, refused, err, result.Verdict, s.effects(before))
		}
		if hint := fault.Of(err).Hint; !strings.Contains(hint, "find out who") {
			t.Errorf("hint %q", hint)
		}
	}
}

// What a plan warns of by now, and did not when it was approved, is accepted by nobody.
func TestAWarningThatNobodyAccepted(t *testing.T) {
	s := newScene(t, arkhub.GenerationStreams)
	s.mustMake(actions.KindArkFlowRestart)
	e := s.asPlanned()
	report := actions.ArkFlowReport(s.plan, e)
	if p := actions.CheckArkFlowSince(s.plan, report, e); p != nil {
		t.Errorf("%+v", p)
	}
	report.Warnings = nil
	if p := actions.CheckArkFlowSince(s.plan, report, e); p == nil || !strings.Contains(p.Message, actions.StreamNotCovered) {
		t.Errorf("%+v", p)
	}
}

// A plan is for the hub that it was made with. Another one, which has a job of the same
// name, is asked nothing unless somebody has accepted that both are one, and what it
// shows is neither the plan's effect nor that it has none.
func TestAPlanOfAnotherHub(t *testing.T) {
	t.Parallel()
	staging := newScene(t, arkhub.GenerationJobs)
	staging.set(1)
	s := newScene(t, arkhub.GenerationJobs)
	s.set(1)
	s.plan = staging.mustMake(actions.KindArkFlowSavepoint).plan
	if v := s.verdict(); v.Verdict != actions.Undecided || !strings.Contains(v.Message, "the plan was made with "+staging.url) {
		t.Errorf("nothing was done: %s: %s", v.Verdict, v.Message)
	}
	s.posted("/jobs/orders/savepoints", "")
	s.wait("it is whole", func(d inspected.JobDetail) bool { return d.Points.Points[0].Status == "completed" })
	if v := s.verdict(); v.Verdict != actions.Undecided || v.Facts[0].State != actions.FactUnread {
		t.Errorf("somebody's savepoint at the other hub: %s: %s, %+v", v.Verdict, v.Message, v.Facts)
	}
	s.plan = staging.mustMake(actions.KindArkFlowCheckpoint).plan
	before := len(s.hub.Effects())
	if _, refused, err := s.apply(); refused != nil || fault.KindOf(err) != fault.Denied || !strings.Contains(err.Error(), actions.OtherHub) {
		t.Errorf("%+v, %v", refused, err)
	}
	if got := s.effects(before); got != "" {
		t.Errorf("the hub did %s", got)
	}
	byHand := s.byHand()
	s.applied(actions.OtherHub)
	if n := s.byHand() - byHand; n != 1 {
		t.Errorf("%d checkpoints were begun", n)
	}
}

// A standby names its leader, and then another one: the plan's hub stays the one that is
// configured.
func TestAPlanAfterAnotherLeader(t *testing.T) {
	t.Parallel()
	s := newScene(t, arkhub.GenerationJobs)
	s.set(1)
	leader := s.url
	standby := arkhubtest.New(arkhubtest.Options{})
	standby.Break(arkhubtest.Standby(leader))
	s.url = standby.Start(t)
	s.mustMake(actions.KindArkFlowSavepoint)
	if s.plan.Target.Cluster != s.url {
		t.Errorf("the plan is for %s, and %s is configured", s.plan.Target.Cluster, s.url)
	}
	s.applied()
	s.url = leader // somebody gives the leader's own address
	if v := s.verdict(); !strings.Contains(v.Message, "hubs have no id") {
		t.Errorf("%s: %s", v.Verdict, v.Message)
	}
}

// A point of which a part has gone missing since is not started from, though the hub
// would still choose it.
func TestAPointThatIsNotWholeAnyMoreIsNotStartedFrom(t *testing.T) {
	t.Parallel()
	s := rolledForward(t, arkhub.GenerationJobs)
	s.mustMake(actions.KindArkFlowRollback)
	s.lines.cut = len(s.lines.all) + 6 // it ends when the job is of the lower version
	if _, _, err := s.apply(); err == nil {
		t.Fatal("it did not end")
	}
	s.lines.cut = 0
	e := s.asPlanned()
	if refused := actions.CheckArkFlow(s.plan, e); refused != nil {
		t.Fatal(refused.Problem.Message)
	}
	e.Job.Points.Selection.Better = "savepoint-0-1"
	if refused := actions.CheckArkFlow(s.plan, e); refused == nil || refused.Problem.Code != "point-not-whole" {
		t.Errorf("%+v", refused)
	}
}

// What a hub refuses in its own words is told as refused, and not as never sent.
func TestWhatAHubRefusesWasSent(t *testing.T) {
	t.Parallel()
	s := newScene(t, arkhub.GenerationJobs)
	s.set(1)
	s.mustMake(actions.KindArkFlowSavepoint)
	s.hub.Break(arkhubtest.On("POST", "/savepoints", arkhubtest.Say(429, "", "")))
	result, refused, err := s.apply()
	if refused != nil || err == nil || result.Verdict != actions.NotStarted || strings.Contains(err.Error(), "nothing was sent") || !strings.Contains(err.Error(), "the hub did not take it") {
		t.Errorf("%s, %v, %v", result.Verdict, refused, err)
	}
	s.hub.Break()
	s.applied()
}

// A savepoint that somebody else took since the plan was made passes for its effect, and
// is told as what may be another's.
func TestAnotherSavepointIsToldAsOne(t *testing.T) {
	t.Parallel()
	s := newScene(t, arkhub.GenerationJobs)
	s.set(1)
	s.mustMake(actions.KindArkFlowSavepoint)
	s.post("/jobs/orders/savepoints")
	s.wait("it is whole", func(d inspected.JobDetail) bool { return d.Points.Points[0].Status == "completed" })
	if v := s.verdict(); v.Verdict != actions.Applied || !strings.Contains(v.Message, "it may be another's") {
		t.Errorf("%s: %s", v.Verdict, v.Message)
	}
	if notes := strings.Join(actions.ArkFlowReport(s.plan, s.asPlanned()).Notes, " "); !strings.Contains(notes, "may be another's: for one of now, make a new plan") {
		t.Errorf("%s", notes)
	}
	s.mustMake(actions.KindArkFlowSavepoint)
	s.applied()
	if v := s.verdict(); strings.Contains(v.Message, "another's") {
		t.Errorf("its own: %s", v.Message)
	}
}

// A hub that accepts a request and shows nothing of it has not left it undone.
func TestWhatIsAcceptedAndNotShownIsNotCalledNotStarted(t *testing.T) {
	t.Parallel()
	s := newScene(t, arkhub.GenerationJobs)
	s.patience = time.Second
	s.set(1)
	s.mustMake(actions.KindArkFlowSavepoint)
	s.hub.Break(arkhubtest.On("POST", "/savepoints", arkhubtest.Say(202, "application/json", `{"job_id":"orders"}`)))
	result, refused, err := s.apply()
	if refused != nil || err == nil || result.Verdict != actions.Undecided || !strings.Contains(result.Message, "has accepted a request of this apply, and shows nothing of it") {
		t.Errorf("%s, %v, %v: %s", result.Verdict, refused, err, result.Message)
	}
}
