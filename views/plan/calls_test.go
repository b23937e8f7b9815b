package plan_test

import (
	"context"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/views/plan"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

// scanned makes plans whose report says what a scan for calls found.
type scanned struct {
	plan.Source
	calls *actions.CallsBefore
}

func (s scanned) Make(ctx context.Context, j inspect.Job, uri string) (plan.Made, error) {
	made, err := s.Source.Make(ctx, j, uri)
	made.Report.Calls = s.calls
	return made, err
}

// Calls that lie in what is deleted stand beside what becomes unrestorable, and
// that nobody looked is not told as none.
func TestCallsThatDependOnWhatIsDeleted(t *testing.T) {
	counts := func(runs, unknown int64) inspect.CallCounts {
		return inspect.CallCounts{RunsAgain: runs, Unknown: unknown}
	}
	later := counts(3, 0)
	tests := map[string]struct {
		calls *actions.CallsBefore
		want  string
		never string
	}{
		"nobody looked": {nil, "CALLS not scanned", "0"},
		"none":          {&actions.CallsBefore{Records: 13057}, "CALLS none that was found depends on what is deleted (13,057 records scanned)", "RUN AGAIN FROM"},
		"some": {&actions.CallsBefore{Pending: 2, Saved: 1, Records: 13057, Points: []inspect.PointCalls{
			{Point: chk44, Calls: counts(2, 0), Later: &later}, {Point: chk43, Calls: counts(1, 0)}, {Point: chk42, Calls: counts(0, 4)},
		}}, "CALLS in what is deleted: 2 pending, 1 with a saved result. Any restore makes them again (13,057 records scanned) RUN AGAIN FROM chk-44 2, after the plan 3; chk-43 1 SEARCHED", "overwritten"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := open(t, scanned{viewtest.NewPlans(viewtest.Store(), before()), tt.calls}, job(1), chk43, 160, 60)
			_, rest, _ := strings.Cut(d.Frame(), "STAYS RESTORABLE")
			frame := strings.Join(strings.Fields(rest), " ")
			if !strings.Contains(frame, tt.want) {
				t.Errorf("%q is not on the screen:\n%s", tt.want, d.Frame())
			}
			if line, _, _ := strings.Cut(frame[strings.Index(frame, "CALLS"):], "SEARCHED"); strings.Contains(line, tt.never) {
				t.Errorf("%q is on the screen:\n%s", tt.never, d.Frame())
			}
		})
	}
}
