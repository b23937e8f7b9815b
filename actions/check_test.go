package actions_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/testkit/cases"
)

// Every apply of the Java tool against a real broker into which nothing broke
// in half-way: what was foreseen from reading alone is what happened.
func TestAnApplyIsForeseen(t *testing.T) {
	foreseen, passed := 0, 0
	for _, c := range cases.Applies(t) {
		t.Run(c.Name, func(t *testing.T) {
			w := newWorld(t, c)
			for _, s := range w.c.Steps {
				if s.Apply == "" {
					w.happen(s.Happening)
					continue
				}
				if len(s.Inject) == 0 {
					refusal, err := actions.Foresee(w.plan(s.Apply), w.evidence(s.Options))
					if err != nil {
						t.Fatal(err)
					}
					switch want := s.Expect; {
					case strings.HasPrefix(c.Name, "control-open-transaction"):
						// Java writes behind the open transaction; we don't.
						if refusal == nil || refusal.Problem.Code != "control-records-hidden" {
							t.Errorf("foreseen %+v, want that hidden records are refused", refusal)
						}
					case want.Success, want.Stage == "delete", strings.HasPrefix(want.Reason, "broker-invalid"):
						// Only the broker can refuse these, while something is written.
						passed++
						if refusal != nil {
							t.Errorf("foreseen %s at %s, but it goes through", refusal.Problem.Code, refusal.Stage)
						}
					case refusal == nil:
						t.Errorf("nothing foreseen, want %s at %s", want.Reason, want.Stage)
					default:
						foreseen++
						if string(refusal.Stage) != want.Stage {
							t.Errorf("stage %s (%s), want %s", refusal.Stage, refusal.Problem.Message, want.Stage)
						}
						wantRefusal(t, &refusal.Problem, want.Reason, want.Named)
					}
				}
				w.after(s)
			}
		})
	}
	if foreseen != 47 || passed != 43 {
		t.Errorf("%d refusals foreseen and %d applies pass", foreseen, passed)
	}
}

func TestRefusalsExit(t *testing.T) {
	tests := map[string]struct {
		stage actions.Stage
		code  string
		want  fault.Kind
	}{
		"configuration":                {actions.StageConfiguration, "tombstones-on", fault.Usage},
		"a control topic's shape":      {actions.StageControlTopic, "control-topic-policy", fault.Corrupt},
		"no consent to make it":        {actions.StageControlTopic, "control-topic-missing", fault.Denied},
		"the control history":          {actions.StageOperations, "incomparable-boundaries", fault.Corrupt},
		"the control history, later":   {actions.StageOperationsAfterCommit, "control-status-regression", fault.Corrupt},
		"the topic's identity":         {actions.StageIdentity, "plan-topic-id-mismatch", fault.Drift},
		"settings":                     {actions.StageSettingsBeforeDelete, "data-topic-config-unsafe", fault.Drift},
		"the boundary":                 {actions.StageBoundary, "below-committed-boundary", fault.Drift},
		"availability":                 {actions.StageAvailability, "offset-unavailable", fault.Drift},
		"too few recovery points left": {actions.StageSurvivors, "too-few-survivors", fault.Denied},
		"a survivor lost":              {actions.StageSurvivors, "survivor-lost", fault.Drift},
		"an approval":                  {actions.StageApproval, "approval", fault.Denied},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := actions.Refuse(tt.stage, &inspect.Problem{Code: tt.code, Message: "a sentence", Named: inspect.Named{}})
			if fault.KindOf(err) != tt.want || err.Error() != "a sentence" || actions.StageOf(err) != tt.stage {
				t.Errorf("%s: %v at %s, want %s", fault.KindOf(err), err, actions.StageOf(err), tt.want)
			}
			var r *actions.Refusal
			if !errors.As(err, &r) || r.Problem.Code != tt.code {
				t.Errorf("the reason word is lost: %+v", r)
			}
		})
	}
	if actions.StageOf(errors.New("x")) != "" {
		t.Error("an error that is no refusal has a stage")
	}
}

func TestWhatCouldNotBeReadIsNoPass(t *testing.T) {
	var w *world
	for _, c := range cases.Applies(t) {
		if c.Name == "fresh-control-empty" {
			w = newWorld(t, c)
		}
	}
	plan, broken := w.plan("P1"), errors.New("not authorized")
	for name, spoil := range map[string]func(*actions.Evidence){
		"the control topic": func(e *actions.Evidence) { e.ControlErr = broken },
		"the data topic":    func(e *actions.Evidence) { e.DataErr = broken },
		"one partition":     func(e *actions.Evidence) { e.Data.Partitions[1].Err = broken },
	} {
		t.Run(name, func(t *testing.T) {
			e := w.evidence(cases.ApplyOptions{})
			spoil(&e)
			if refusal, err := actions.Foresee(plan, e); refusal != nil || !errors.Is(err, broken) {
				t.Errorf("foreseen %+v, error %v", refusal, err)
			}
		})
	}
	e := w.evidence(cases.ApplyOptions{})
	e.Control, e.Replication = inspect.ControlTopic{Name: names.Control}, nil
	if refusal, err := actions.Foresee(plan, e); err != nil || refusal == nil || refusal.Problem.Code != "control-topic-missing" {
		t.Errorf("a missing control topic that nobody consented to make: %+v, error %v", refusal, err)
	}
	other := "t"
	e = w.evidence(cases.ApplyOptions{DataTopic: &other})
	if refusal, err := actions.Foresee(plan, e); err != nil || refusal == nil || refusal.Stage != actions.StageIdentity || refusal.Problem.Code != "plan-topic-mismatch" {
		t.Errorf("a plan for another topic: %+v, error %v", refusal, err)
	}
}
