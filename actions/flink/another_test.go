package flink_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/testkit/flinktest"
)

const earlier = "s3://state/savepoints/savepoint-0ddba1-cafe00000001"

// Where a job's savepoints can't be read no plan is made that takes one: the last that
// there is would pass for the plan's, and the job would end without a new one.
func TestALastSavepointThatIsNotRead(t *testing.T) {
	s := newScene(t)
	s.cluster.Change(oldID, func(j *flinktest.Job) { j.Savepoint = earlier })
	s.cluster.Fails(func(_ int, r *http.Request) flinktest.Fault {
		if strings.HasSuffix(r.URL.Path, "/checkpoints") {
			return flinktest.Unavailable
		}
		return flinktest.NoFault
	})
	e, _ := s.sources().Look(t.Context(), saved)
	if e.Err != nil || e.Old == nil || e.Old.Checkpoints != nil {
		t.Fatalf("%v, %+v", e.Err, e.Old)
	}
	for kind, plan := range map[string]func() (actions.Document, string){
		actions.KindSavepoint: func() (actions.Document, string) { d, p := actions.SavepointFrom(e, ask); return d, codeOf(p) },
		actions.KindStop:      func() (actions.Document, string) { d, p := actions.StopFrom(e, ask); return d, codeOf(p) },
		actions.KindRollback:  func() (actions.Document, string) { d, p := actions.RollbackFrom(e, to(saved)); return d, codeOf(p) },
	} {
		if d, code := plan(); code != "savepoints-unread" {
			t.Errorf("%s: %q, and the plan is %+v", kind, code, d)
		}
	}
}

func codeOf(p *inspect.Problem) string {
	if p == nil {
		return ""
	}
	return p.Code
}

// The safety savepoint of a rollback is its own: one that somebody took since the plan
// was made does not stand for it, neither before it is asked for nor while it is made.
func TestAnotherSavepointIsNoSafetySavepoint(t *testing.T) {
	s := newScene(t).mustMake(actions.KindRollback, to(own))
	s.cluster.Change(oldID, func(j *flinktest.Job) { j.Savepoint = earlier })
	result, refused, err := s.apply()
	if err != nil || refused != nil || result.Verdict != actions.Applied {
		t.Fatalf("%s, %v, %v: %s", result.Verdict, refused, err, steps(result))
	}
	s.wrote("savepoint "+oldID, "cancel "+oldID, "run "+newID)
	for _, one := range result.Steps {
		if one.Name == actions.StepSavepointReady && !strings.Contains(one.Detail, "savepoint-0ddba1-000000000001") {
			t.Errorf("the safety savepoint: %s", one.Detail)
		}
	}
}

// A savepoint by which a plan would be done, and which may be another's, is told so.
func TestAnotherSavepointIsToldAsOne(t *testing.T) {
	s := newScene(t).mustMake(actions.KindSavepoint, ask)
	s.cluster.Change(oldID, func(j *flinktest.Job) { j.Savepoint = earlier })
	s.verdict(actions.Applied, "and may be another's")
}
