package arkflow_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/arkflow"
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
	for _, g := range []arkhub.Generation{arkhub.GenerationJobs, arkhub.GenerationUpgrades} {
		s := rolledForward(t, g)
		s.mustMake(actions.KindArkFlowRollback)
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
		if !strings.Contains(result.Message, "none of its 2 source positions lies before the point's") {
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
	s := newScene(t, arkhub.GenerationJobs)
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

// Whatever breaks at each request that writes, the plan applied again ends as one
// that went through, and each thing was done once.
func TestLostAnswers(t *testing.T) {
	faults := map[string]arkhubtest.Fault{"answer lost": arkhubtest.LoseAnswer, "request lost": arkhubtest.LoseRequest, "proxy": arkhubtest.Say(502, "text/html", "<html>")}
	for name, f := range faults {
		for _, end := range []string{"/actions/stop", "/rollback", "/actions/start"} {
			t.Run(fmt.Sprintf("%s at %s", name, end), func(t *testing.T) {
				t.Parallel()
				s := rolledForward(t, arkhub.GenerationJobs)
				s.mustMake(actions.KindArkFlowRollback)
				before := len(s.hub.Effects())
				s.hub.Break(arkhubtest.On("POST", end, arkhubtest.Times(1, f)))
				first, refused, firstErr := s.apply()
				if refused != nil {
					t.Fatal(refused)
				}
				s.hub.Break()
				result, refused, err := s.apply()
				if err != nil || refused != nil || result.Verdict != actions.Applied {
					t.Fatalf("first %s, %v; then %s, %v, %v: %s", first.Verdict, firstErr, result.Verdict, refused, err, steps(result))
				}
				if got := s.effects(before); got != "stop orders, version 1 orders, start orders" {
					t.Errorf("the hub did %s", got)
				}
			})
		}
		t.Run(name+" at a savepoint", func(t *testing.T) {
			t.Parallel()
			s := newScene(t, arkhub.GenerationJobs)
			s.set(1)
			s.mustMake(actions.KindArkFlowSavepoint)
			before := len(s.hub.Effects())
			s.hub.Break(arkhubtest.On("POST", "/savepoints", arkhubtest.Times(1, f)))
			if _, refused, _ := s.apply(); refused != nil {
				t.Fatal(refused)
			}
			result, refused, err := s.apply()
			if err != nil || refused != nil || result.Verdict != actions.Applied || s.effects(before) != "savepoint orders" {
				t.Errorf("%s, %v, %v; the hub did %s", result.Verdict, refused, err, s.effects(before))
			}
		})
	}
}

// The process ends at each line of its journal: the plan applied again ends as one
// that went through, and each thing was done once.
func TestEndsAtEachJournalLine(t *testing.T) {
	whole := rolledForward(t, arkhub.GenerationJobs)
	whole.mustMake(actions.KindArkFlowRollback)
	whole.lines.all = nil
	if _, _, err := whole.apply(); err != nil {
		t.Fatal(err)
	}
	for cut := 1; cut <= len(whole.lines.all); cut++ {
		t.Run(fmt.Sprint(cut), func(t *testing.T) {
			t.Parallel()
			s := rolledForward(t, arkhub.GenerationJobs)
			s.mustMake(actions.KindArkFlowRollback)
			before := len(s.hub.Effects())
			s.lines = &lines{cut: cut}
			_, _, _ = s.apply() // it ends somewhere
			s.lines = &lines{}
			result, refused, err := s.apply()
			if err != nil || refused != nil || result.Verdict != actions.Applied {
				t.Fatalf("%s, %v, %v: %s", result.Verdict, refused, err, steps(result))
			}
			if got := s.effects(before); got != "stop orders, version 1 orders, start orders" {
				t.Errorf("the hub did %s", got)
			}
		})
	}
}

// Where a rollback's request was lost and a late one would go down one version
// more, it is not known, and not sent again.
func TestARollbackThatMayComeLate(t *testing.T) {
	s := rolledForward(t, arkhub.GenerationJobs)
	s.mustMake(actions.KindArkFlowSavepoint)
	if result, refused, err := s.apply(); err != nil || refused != nil || result.Verdict != actions.Applied {
		t.Fatalf("%s, %v, %v", result.Verdict, refused, err)
	}
	s.set(3)
	s.mustMake(actions.KindArkFlowRollback)
	if p := actions.ArkFlowPlanOf(s.plan); p.From != 3 || p.Version != 2 {
		t.Fatalf("%+v", p)
	}
	s.hub.Break(arkhubtest.On("POST", "/rollback", arkhubtest.LoseRequest))
	result, _, err := s.apply()
	if err == nil || result.Verdict == actions.Applied || !strings.Contains(steps(result), "rollback unknown, start pending") || !strings.Contains(err.Error(), "also a late one") {
		t.Errorf("%s, error %v: %s", result.Verdict, err, steps(result))
	}
	sent := 0
	for _, r := range s.hub.Requests() {
		if strings.HasSuffix(r.Path, "/rollback") {
			sent++
		}
	}
	if sent != 1 {
		t.Errorf("sent %d times", sent)
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
	if got := s.plan.Subject(); !strings.HasPrefix(got.Does, "goes back from version 2 to 1, restored from savepoint-") {
		t.Errorf("%+v", got)
	}
	for _, one := range actions.ArkFlowSteps(s.plan) {
		if one.Title == "" || one.Reads == "" || one.OnFailure == "" {
			t.Errorf("%+v", one)
		}
	}
}
