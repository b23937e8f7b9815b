package arkflow_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/arkflow"
	inspected "github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/testkit/arkhubtest"
)

// A savepoint is begun once and followed until it is completed and whole; the
// same plan again begins no other.
func TestASavepoint(t *testing.T) {
	s := newScene(t, arkhub.GenerationJobs)
	s.set(1)
	s.mustMake(actions.KindArkFlowSavepoint)
	before := len(s.hub.Effects())
	for range 2 {
		result, refused, err := s.apply()
		if err != nil || refused != nil || result.Verdict != actions.Applied {
			t.Fatalf("%s, %v, %v: %s", result.Verdict, refused, err, steps(result))
		}
	}
	if got := s.effects(before); got != "savepoint orders" {
		t.Errorf("the hub did %s", got)
	}
}

// A round of a job whose rounds don't end any more is planned, and the plan says so.
func TestARoundOfADegradedJob(t *testing.T) {
	s := newScene(t, arkhub.GenerationJobs)
	s.set(1)
	e := s.evidence()
	d, p := actions.ArkFlowRoundFrom(actions.KindArkFlowSavepoint, e, "")
	if p != nil {
		t.Fatal(p.Message)
	}
	for _, state := range []inspected.HealthState{inspected.HealthDegraded, inspected.HealthGood} {
		e.Job.Job.Health.State, e.Job.Job.Health.Sentence = state, "checkpoint-9 has been pending for 20m"
		notes := strings.Join(actions.ArkFlowReport(d, e).Notes, "\n")
		if strings.Contains(notes, "may end as the others did: checkpoint-9 has been pending for 20m.") != (state == inspected.HealthDegraded) {
			t.Errorf("%s: %q", state, notes)
		}
	}
}

func TestACheckpoint(t *testing.T) {
	s := newScene(t, arkhub.GenerationJobs)
	s.set(1)
	s.mustMake(actions.KindArkFlowCheckpoint)
	result, refused, err := s.apply()
	if err != nil || refused != nil || result.Verdict != actions.Applied {
		t.Fatalf("%s, %v, %v: %s", result.Verdict, refused, err, steps(result))
	}
	if v := arkflow.Verify(t.Context(), s.sources(), s.plan); v.Verdict != actions.Applied || !strings.Contains(v.Message, "every rule accepts it") {
		t.Errorf("%+v", v)
	}
}

// A job goes back to the version before: stopped, rolled back, started, and proved
// by a checkpoint that reads on from the point.
func TestARollback(t *testing.T) {
	t.Parallel()
	for _, g := range []arkhub.Generation{arkhub.GenerationJobs, arkhub.GenerationUpgrades} {
		s := rolledForward(t, g)
		s.mustMake(actions.KindArkFlowRollback)
		does := strings.Join(actions.ArkFlowReport(s.plan, s.asPlanned()).Does, "\n")
		for _, says := range []string{"Its sources go on at orders/0 from ", ", orders/1 from ", "What the job's state held since then is lost"} {
			if !strings.Contains(does, says) {
				t.Errorf("the report does not say %q:\n%s", says, does)
			}
		}
		before := len(s.hub.Effects())
		result, refused, err := s.apply()
		if err != nil || refused != nil || result.Verdict != actions.Applied {
			t.Fatalf("%s: %s, %v, %v: %s", g, result.Verdict, refused, err, steps(result))
		}
		const want = "plan done, job done, stop done, job-stopped done, rollback done, start done, job-runs done, proof done"
		if steps(result) != want || s.effects(before) != "stop orders, version 1 orders, start orders" {
			t.Errorf("%s; the hub did %s", steps(result), s.effects(before))
		}
		point := actions.ArkFlowPlanOf(s.plan).Point
		if got := s.hub.Restored("orders"); got != point {
			t.Errorf("restored from %s, the plan says %s", got, point)
		}
		if !strings.Contains(result.Message, "none of its 2 source positions lies before the point's") || !strings.Contains(result.Message, "the hub calls it converged, its checkpoint health is ") {
			t.Errorf("the proof: %s", result.Message)
		}
	}
}

// rolledForward is a job of version 2, with a savepoint of version 1.
func rolledForward(t *testing.T, g arkhub.Generation) *scene {
	t.Helper()
	s := newScene(t, g)
	s.set(1)
	s.mustMake(actions.KindArkFlowSavepoint)
	if result, refused, err := s.apply(); err != nil || refused != nil || result.Verdict != actions.Applied {
		t.Fatalf("%s, %v, %v", result.Verdict, refused, err)
	}
	s.set(2)
	return s
}

// A standby names its leader: it is read, and written to, there.
func TestTheLeaderIsWrittenTo(t *testing.T) {
	s := newScene(t, arkhub.GenerationJobs)
	s.set(1)
	standby := arkhubtest.New(arkhubtest.Options{})
	standby.Break(arkhubtest.Standby(s.url))
	s.url = standby.Start(t)
	s.mustMake(actions.KindArkFlowSavepoint)
	before := len(s.hub.Effects())
	s.applied()
	if got := s.effects(before); got != "savepoint orders" {
		t.Errorf("the leader did %s", got)
	}
	for _, r := range standby.Requests() {
		if r.Method != http.MethodGet {
			t.Errorf("the standby got %s %s", r.Method, r.Path)
		}
	}
}

// What the route would accept and nobody should ask for makes no plan.
func TestNoPlanIsMade(t *testing.T) {
	for name, tt := range map[string]struct {
		generation arkhub.Generation
		kind       string
		prepare    func(*scene)
		code       string
	}{
		"nothing of version 1 can be restored": {arkhub.GenerationJobs, actions.KindArkFlowRollback, func(s *scene) { s.set(1); s.set(2) }, "nothing-restorable"},
		"there is no lower version":            {arkhub.GenerationJobs, actions.KindArkFlowRollback, func(s *scene) { s.set(1) }, "no-previous-job-version"},
		"an upgrade holds the job": {arkhub.GenerationUpgrades, actions.KindArkFlowSavepoint, func(s *scene) {
			s.set(1)
			s.hub.SetUpgrade("orders", "u1", "verifying", 1, 2)
		}, "orchestration-in-progress"},
		"a round of a job that does not run": {arkhub.GenerationJobs, actions.KindArkFlowCheckpoint, func(s *scene) {
			if err := s.hub.SetJob(`{"id":"orders","version":1,"operators":[{"id":"a"}],"sources":[{"operator_id":"a"}]}`, "stopped"); err != nil {
				s.Fatal(err)
			}
		}, "job-state"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, tt.generation)
			tt.prepare(s)
			before := len(s.hub.Effects())
			if p := s.make(tt.kind); p == nil || p.Code != tt.code {
				t.Errorf("%+v, want %s", p, tt.code)
			}
			if got := s.effects(before); got != "" {
				t.Errorf("the hub did %s", got)
			}
		})
	}
}

// What a hub would accept for a stream and nobody should ask for makes no plan, nor
// does an upgrade that is not as it would have to be.
func TestNoPlanOfAnUpgradeOrAStreamIsMade(t *testing.T) {
	upgrade := func(phase string) func(*scene) {
		return func(s *scene) { s.set(1); s.hub.SetUpgrade("orders", "u1", phase, 1, 2) }
	}
	for name, tt := range map[string]struct {
		options arkhubtest.Options
		kind    string
		prepare func(*scene)
		code    string
	}{
		"no upgrade":              {arkhubtest.Options{Generation: arkhub.GenerationUpgrades}, actions.KindArkFlowPause, func(s *scene) { s.set(1) }, "no-upgrade"},
		"one that has ended":      {arkhubtest.Options{Generation: arkhub.GenerationUpgrades}, actions.KindArkFlowCancel, upgrade("cancelled"), "no-upgrade"},
		"one that is not paused":  {arkhubtest.Options{Generation: arkhub.GenerationUpgrades}, actions.KindArkFlowResume, upgrade("verifying"), "upgrade-phase"},
		"a hub that keeps none":   {arkhubtest.Options{Generation: arkhub.GenerationJobs}, actions.KindArkFlowPause, func(s *scene) { s.set(1) }, "upgrades-not-kept"},
		"a node that is gone":     {arkhubtest.Options{}, actions.KindArkFlowRestart, func(s *scene) { s.hub.Kill("node-a"); time.Sleep(200 * time.Millisecond) }, "node-unavailable"},
		"a hub without a storage": {arkhubtest.Options{NoStorage: true}, actions.KindArkFlowRestart, func(*scene) {}, "hub-without-storage"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSceneOf(t, tt.options)
			tt.prepare(s)
			before := len(s.hub.Effects())
			if p := s.make(tt.kind); p == nil || p.Code != tt.code {
				t.Errorf("%+v, want %s", p, tt.code)
			}
			if got := s.effects(before); got != "" {
				t.Errorf("the hub did %s", got)
			}
		})
	}
}

// An upgrade is paused, goes on, and is cancelled; each is warned of where the job may
// stand still, or go on with nobody to watch it.
func TestAnUpgrade(t *testing.T) {
	t.Parallel()
	s := newScene(t, arkhub.GenerationUpgrades)
	s.set(1)
	for _, tt := range []struct{ phase, kind, warning, now string }{
		{"saving_savepoint", actions.KindArkFlowPause, "", "paused"},
		{"", actions.KindArkFlowResume, "", "saving_savepoint"},
		{"verifying", actions.KindArkFlowPause, actions.JobMayStand, "paused"},
		{"", actions.KindArkFlowCancel, actions.UpgradeUnwatched, "cancelled"},
		{"saving_savepoint", actions.KindArkFlowCancel, "", "cancelled"},
	} {
		if tt.phase != "" {
			s.hub.SetUpgrade("orders", "u1", tt.phase, 1, 2)
		}
		s.mustMake(tt.kind)
		warnings := ""
		for _, w := range actions.ArkFlowReport(s.plan, s.asPlanned()).Warnings {
			warnings += w.Name
		}
		if warnings != tt.warning {
			t.Errorf("%s in %s: warns of %q, want %q", tt.kind, tt.phase, warnings, tt.warning)
		}
		if v := s.verdict(); v.Verdict != actions.NotStarted {
			t.Errorf("before: %s: %s", v.Verdict, v.Message)
		}
		s.applied()
		if v := s.verdict(); v.Verdict != actions.Applied || !strings.Contains(v.Message, "is "+tt.now) || v.Facts[0].State != actions.FactPlanned {
			t.Errorf("%s: %s, %+v", v.Verdict, v.Message, v.Facts)
		}
	}
	// The hub has carried it on since: what the plan warns of is not what it would do.
	s.hub.SetUpgrade("orders", "u2", "saving_savepoint", 1, 2)
	s.mustMake(actions.KindArkFlowPause)
	s.hub.SetUpgrade("orders", "u2", "committing_version", 1, 2)
	before := len(s.hub.Effects())
	if _, refused, err := s.apply(); refused == nil || refused.Problem.Code != "upgrade-changed" || s.effects(before) != "" {
		t.Errorf("%+v, %v; the hub did %s", refused, err, s.effects(before))
	}
	s.hub.SetUpgrade("orders", "u2", "succeeded", 1, 2)
	if v := s.verdict(); v.Verdict != actions.Contradicted || !strings.Contains(v.Message, "it ended before it could be paused") {
		t.Errorf("%s: %s", v.Verdict, v.Message)
	}
}

// What could not be read is never told as gone.
func TestWhatIsNotReadIsNotGone(t *testing.T) {
	t.Parallel()
	s := newScene(t, arkhub.GenerationUpgrades)
	s.set(1)
	s.hub.SetUpgrade("orders", "u1", "verifying", 1, 2)
	s.mustMake(actions.KindArkFlowCancel)
	s.applied()
	s.hub.Break(arkhubtest.On("GET", "/upgrades/u1", arkhubtest.Refuse(503, "storage_unavailable", "no database")))
	if v := s.verdict(); v.Verdict != actions.Undecided || !strings.Contains(v.Message, `upgrade "u1" could not be read`) {
		t.Errorf("%s: %s", v.Verdict, v.Message)
	}
	s.hub.Break()
	if v := s.verdict(); v.Verdict != actions.Applied {
		t.Errorf("%s: %s", v.Verdict, v.Message)
	}
	s = rolledForward(t, arkhub.GenerationJobs)
	s.mustMake(actions.KindArkFlowRollback)
	s.applied()
	e := s.asPlanned()
	e.Job.Points.Points = nil
	for unread, says := range map[string]string{"": " is gone", "the savepoints: no answer": " is not among what could be read (not read: the savepoints: no answer)"} {
		e.Job.Unchecked, e.Job.Points.Unchecked = nil, nil
		if unread != "" {
			e.Job.Unchecked = []string{unread}
		}
		if v := actions.JudgeArkFlow(s.plan, e); v.Verdict != actions.Undecided || !strings.Contains(v.Message, says) {
			t.Errorf("%s: %s", v.Verdict, v.Message)
		}
	}
}

// A stream is restarted once, and is applied when it runs since a later time.
func TestARestart(t *testing.T) {
	s := newScene(t, arkhub.GenerationStreams)
	s.mustMake(actions.KindArkFlowRestart)
	report := actions.ArkFlowReport(s.plan, s.asPlanned())
	if len(report.Warnings) != 1 || report.Warnings[0].Name != actions.StreamNotCovered || report.Verdict != actions.NotStarted {
		t.Errorf("%s, %+v", report.Verdict, report.Warnings)
	}
	before := len(s.hub.Effects())
	for range 2 {
		s.applied()
	}
	if got := s.effects(before); got != "running node-a/heartbeat" {
		t.Errorf("the hub did %s", got)
	}
	// Another plan, with a key of its own, of which somebody asked first.
	s.mustMake(actions.KindArkFlowRestart)
	if p := actions.ArkFlowPlanOf(s.plan); p.Generation != 1 {
		t.Errorf("%+v", p)
	}
}

// A write that a hub accepts after its own restart stays queued: the apply says so,
// and never calls it done.
func TestARestartThatStaysQueued(t *testing.T) {
	t.Parallel()
	s := newScene(t, arkhub.GenerationStreams)
	s.patience = time.Second
	s.hub.Restart()
	s.mustMake(actions.KindArkFlowRestart)
	result, refused, err := s.apply()
	if refused != nil || err == nil || result.Verdict != actions.Partial || !strings.Contains(result.Message, "is queued; stream node-a/heartbeat still runs since ") {
		t.Errorf("%s, %v, %v: %s", result.Verdict, refused, err, result.Message)
	}
	warned := false
	for _, w := range actions.ArkFlowReport(s.plan, s.asPlanned()).Warnings {
		warned = warned || w.Name == actions.WriteMayStick
	}
	if warned {
		t.Error("what was asked for already is not warned of")
	}
}

// Somebody else has changed the job since: nothing is sent.
func TestDrift(t *testing.T) {
	s := rolledForward(t, arkhub.GenerationJobs)
	s.mustMake(actions.KindArkFlowRollback)
	s.set(3)
	before := len(s.hub.Effects())
	if _, refused, err := s.apply(); refused == nil || refused.Problem.Code != "job-changed" {
		t.Errorf("%+v, error %v", refused, err)
	}
	if got := s.effects(before); got != "" {
		t.Errorf("the hub did %s", got)
	}
}

// A round that fails stays pending: the plan waits, says so, and never calls it
// applied.
func TestARoundThatFails(t *testing.T) {
	t.Parallel()
	s := newScene(t, arkhub.GenerationJobs)
	s.patience = time.Second
	s.set(1)
	s.hub.BreakStore("orders", true)
	s.mustMake(actions.KindArkFlowSavepoint)
	result, _, err := s.apply()
	if err == nil || result.Verdict == actions.Applied || !strings.Contains(err.Error(), "is pending") {
		t.Errorf("%s, error %v", result.Verdict, err)
	}
	if v := arkflow.Verify(t.Context(), s.sources(), s.plan); v.Verdict != actions.Partial {
		t.Errorf("%+v", v)
	}
}

// A run that did not begin from the plan's point is never called restored.
func TestAColdStartIsNotCalledRestored(t *testing.T) {
	s := rolledForward(t, arkhub.GenerationJobs)
	s.mustMake(actions.KindArkFlowRollback)
	s.set(1) // somebody makes the job anew: version 1, with another policy
	before := len(s.hub.Effects())
	if v := arkflow.Verify(t.Context(), s.sources(), s.plan); v.Verdict != actions.Undecided || !strings.Contains(v.Message, "somebody else started or changed it since") {
		t.Errorf("%+v", v)
	}
	if _, refused, err := s.apply(); err != nil || refused == nil || refused.Problem.Code != "job-changed" || s.effects(before) != "" {
		t.Errorf("%+v, error %v; the hub did %s", refused, err, s.effects(before))
	}
}

// A plan is what its file says, and nothing else.
func TestThePlanFile(t *testing.T) {
	s := rolledForward(t, arkhub.GenerationJobs)
	s.mustMake(actions.KindArkFlowRollback)
	read, problem := actions.ParseDocument(s.plan.Encode())
	if problem != nil || read.PlanID != s.plan.PlanID || actions.ArkFlowPlanOf(read) != actions.ArkFlowPlanOf(s.plan) {
		t.Fatalf("%+v", problem)
	}
	up := string(s.plan.Encode())
	for from, to := range map[string]string{`"after":"1","before":"2","name":"version"`: `"after":"9","before":"2","name":"version"`, `"backend":"arkflow"`: `"backend":"flink"`} {
		if _, p := actions.ParseDocument([]byte(strings.Replace(up, from, to, 1))); p == nil || !strings.Contains(up, from) {
			t.Errorf("%s is taken", to)
		}
	}
	for kind, changes := range map[string]map[string]string{
		actions.KindArkFlowPause:   {`"after":"paused"`: `"after":"cancelled"`, `"upgrade":"u1"`: `"upgrade":""`},
		actions.KindArkFlowRestart: {`"key":"5f3c92d07be1458a96c0d1e2f3a4b5c6"`: `"key":"k"`, `"node":"node-a"`: `"node":"node-b"`, `"object":"stream"`: `"object":"job"`},
	} {
		s := newScene(t, arkhub.GenerationUpgrades)
		s.set(1)
		s.hub.SetUpgrade("orders", "u1", "verifying", 1, 2)
		whole := string(s.mustMake(kind).plan.Encode())
		if read, p := actions.ParseDocument([]byte(whole)); p != nil || read.Subject().Does == "" || len(actions.ArkFlowSteps(read)) != 4 {
			t.Errorf("%s: %+v", kind, p)
		}
		for from, to := range changes {
			if _, p := actions.ParseDocument([]byte(strings.Replace(whole, from, to, 1))); p == nil || p.Code == "plan-id-mismatch" || !strings.Contains(whole, from) {
				t.Errorf("%s with %s: %+v", kind, to, p)
			}
		}
	}
	if got := s.plan.Subject(); !strings.HasPrefix(got.Does, "goes back from version 2 to 1, restored from savepoint-") {
		t.Errorf("%+v", got)
	}
	for _, one := range actions.ArkFlowSteps(s.plan) {
		if one.Title == "" || one.Reads == "" || one.OnFailure == "" {
			t.Errorf("%+v", one)
		}
	}
}
