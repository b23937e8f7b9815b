package job_test

import (
	"context"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/document"
	"github.com/recoverctl/recoverctl/views/job"
	"github.com/recoverctl/recoverctl/views/rollback"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

// noRollback makes no plan: to which point it was asked for is what counts.
type noRollback struct {
	rollback.Source
	asked *[]string
}

func (n noRollback) Make(_ context.Context, _ inspect.Job, ask rollback.Ask) (document.Made, error) {
	*n.asked = append(*n.asked, ask.Point)
	return document.Made{}, fault.New(fault.NotFound, "make a plan", "no jar is uploaded")
}

func (noRollback) Busy() string { return "" }

// A rollback is one key away from each recovery point, also by the palette, and
// only where there is a JobManager to ask.
func TestARecoveryPointLeadsToARollback(t *testing.T) {
	open := func(rest string) (*tuitest.Driver, *[]string) {
		asked := &[]string{}
		about := viewtest.Job()
		about.Flink.REST = rest
		d := tuitest.New(t, viewtest.Options(viewtest.Plain()), job.New(job.Options{Theme: viewtest.Plain(), Now: viewtest.Clock, Job: about,
			Source: with(viewtest.Store(), viewtest.Log()), Rollbacks: noRollback{asked: asked}}), 120, 40)
		return d, asked
	}
	const chk44 = viewtest.Checkpoints + "/chk-44"
	for name, tt := range map[string]struct {
		act  func(*tuitest.Driver)
		want string
	}{
		"by its key":                  {func(d *tuitest.Driver) { d.Press("enter", "u") }, chk44},
		"by the palette, on a point":  {func(d *tuitest.Driver) { d.Press("enter", ":"); d.Type("rollback"); d.Press("enter") }, chk44},
		"by the palette, on the list": {func(d *tuitest.Driver) { d.Press(":"); d.Type("rollback"); d.Press("enter") }, chk44},
		"by the palette, to another":  {func(d *tuitest.Driver) { d.Press(":"); d.Type("rollback s3://other/chk-1"); d.Press("enter") }, "s3://other/chk-1"},
	} {
		t.Run(name, func(t *testing.T) {
			d, asked := open("http://jobmanager:8081")
			tt.act(d)
			d.WaitIdle()
			if _, opened := d.Top().(*rollback.Screen); !opened || len(*asked) != 1 || (*asked)[0] != tt.want {
				t.Errorf("%T is open, asked for %q, want %s\n%s", d.Top(), *asked, tt.want, d.Frame())
			}
		})
		t.Run(name+", without a JobManager", func(t *testing.T) {
			d, asked := open("")
			tt.act(d)
			d.WaitIdle()
			if frame := strings.Join(strings.Fields(d.Frame()), " "); len(*asked) > 0 || !strings.Contains(frame, "no JobManager is configured for this job") {
				t.Errorf("asked for %q\n%s", *asked, d.Frame())
			}
		})
	}
}
