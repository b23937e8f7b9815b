package job_test

import (
	"context"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/guide"
	"github.com/recoverctl/recoverctl/views/job"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

// asked keeps what the steps of a procedure were checked for.
type asked struct{ name, point string }

func (a *asked) Guide(_ context.Context, _ inspect.Job, name, point, _ string) (actions.GuideReport, error) {
	a.name, a.point = name, point
	report, _ := actions.GuideWords(name)
	return report, nil
}

// A procedure is opened in the palette, for the point that is selected.
func TestAProcedureIsOpenedForTheSelectedPoint(t *testing.T) {
	source := &asked{}
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()),
		job.New(job.Options{Theme: viewtest.Plain(), Now: viewtest.Clock, Job: viewtest.Job(), Source: viewtest.Incident(), Guides: source}), 120, 40)
	d.Press("j", ":")
	d.Type("guide first-cleanup")
	d.Press("enter")
	d.WaitIdle()
	if _, opened := d.Top().(*guide.Screen); !opened || source.name != actions.GuideFirstCleanup || source.point != viewtest.Checkpoints+"/chk-43" {
		t.Errorf("%T, asked for %+v", d.Top(), *source)
	}
	d.Press("esc", ":")
	d.Type("guide second-cleanup")
	d.Press("enter")
	if frame := d.Frame(); !strings.Contains(frame, "first-cleanup, leave-tombstones, new-control-topic") {
		t.Errorf("of a procedure that there is not:\n%s", frame)
	}
}
