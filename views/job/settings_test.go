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
	"github.com/recoverctl/recoverctl/views/viewtest"
)

// noSettings makes no plan: that it was asked is what counts.
type noSettings struct{ document.Source }

func (noSettings) Make(context.Context, inspect.Job) (document.Made, error) {
	return document.Made{}, fault.New(fault.NotFound, "make a plan", "topic action-state does not exist")
}

func (noSettings) Busy() string { return "" }

// unfit is a topic whose settings refuse a cleanup.
func unfit() viewtest.Broker {
	log := viewtest.Log()
	log.Control = viewtest.Control()
	log.Data.Settings = []inspect.Setting{
		{Name: "cleanup.policy", Value: "compact", Source: "topic"},
		{Name: "retention.bytes", Value: "-1", Source: "default"},
		{Name: "retention.ms", Value: "604800000", Source: "default"},
	}
	return log
}

// Where a topic's settings refuse a cleanup, the plan's screen names the command
// that makes the plan for them, and the palette has it there.
func TestARefusedCleanupLeadsToThePlanOfSettings(t *testing.T) {
	open := func(s document.Source) *tuitest.Driver {
		log := unfit()
		d := tuitest.New(t, viewtest.Options(viewtest.Plain()), job.New(job.Options{Theme: viewtest.Plain(), Now: viewtest.Clock, Job: viewtest.Job(),
			Source: with(viewtest.Store(), log), Plans: viewtest.NewPlans(viewtest.Store(), log), Settings: s}), 120, 40)
		d.Press("p")
		d.WaitIdle()
		return d
	}
	d := open(noSettings{})
	if frame := strings.Join(strings.Fields(d.Frame()), " "); !strings.Contains(frame, "apply would refuse this plan now, at settings") || !strings.Contains(frame, ":settings makes the plan that sets exactly what is needed") {
		t.Fatalf("frame\n%s", d.Frame())
	}
	d.Press(":")
	d.Type("settings")
	d.Press("enter")
	d.WaitIdle()
	if _, opened := d.Top().(*document.Screen); !opened {
		t.Errorf("%T is open\n%s", d.Top(), d.Frame())
	}
	if frame := open(nil).Frame(); strings.Contains(frame, ":settings") {
		t.Errorf("a command that is not there is named:\n%s", frame)
	}
}
