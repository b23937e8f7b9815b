package guide_test

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/evidence"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/guide"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const chk44 = viewtest.Checkpoints + "/chk-44"

// source checks the steps as the program does, from stores in memory.
type source struct {
	log  viewtest.Broker
	live *viewtest.Flink
}

func (s source) Guide(ctx context.Context, job inspect.Job, name, point, to string) (actions.GuideReport, error) {
	from := evidence.Sources{Points: viewtest.Store(), Log: named{s.log}, Clock: clock.NewFake(viewtest.Now), Job: job}
	if s.live != nil {
		from.Live = s.live
	}
	e, faults := from.Guide(ctx, point, to)
	report, _ := actions.Guide(name, e)
	return report, errors.Join(faults...)
}

// ControlTopic is that of the job; no other one exists.
func (l named) ControlTopic(ctx context.Context, name string) (inspect.ControlTopic, error) {
	if name != *viewtest.Job().ControlTopic {
		return inspect.ControlTopic{Name: name}, nil
	}
	return l.Broker.ControlTopic(ctx, name)
}

type named struct{ viewtest.Broker }

// fresh is the job of the situation before anything was cleaned, on a topic as
// the released job makes it.
func fresh() viewtest.Broker {
	log := viewtest.Log()
	log.Control = inspect.ControlTopic{Name: "action-state-control"}
	log.Data.Settings = []inspect.Setting{
		{Name: "cleanup.policy", Value: "compact", Source: "topic"},
		{Name: "retention.bytes", Value: "-1", Source: "default"},
		{Name: "retention.ms", Value: "604800000", Source: "default"},
	}
	return log
}

// damaged is the situation with a tombstone on the control topic.
func damaged() viewtest.Broker {
	log := viewtest.Log()
	log.Control.Records = append(log.Control.Records, inspect.ControlRecord{Offset: log.Control.LogEnd, Key: []byte("x")})
	log.Control.LogEnd++
	log.Control.LastStable++
	return log
}

func screen(s guide.Source, name, point string) *guide.Screen {
	return guide.New(guide.Options{Theme: viewtest.Plain(), Now: viewtest.Clock, Job: viewtest.LiveJob(), Source: s, Name: name, Point: point})
}

func TestGoldens(t *testing.T) {
	running := &viewtest.Flink{State: viewtest.Steady()}
	of := func(s source, name, point string) func() tui.Screen {
		return func() tui.Screen { return screen(s, name, point) }
	}
	dark := fresh()
	dark.Data, dark.DataErr, dark.ControlErr = inspect.DataTopic{}, viewtest.Gone(), viewtest.Gone()
	viewtest.Goldens(t, map[string]viewtest.Case{
		"asking":            {Screen: of(source{log: fresh()}, actions.GuideFirstCleanup, ""), Busy: true},
		"first-cleanup":     {Screen: of(source{fresh(), running}, actions.GuideFirstCleanup, chk44)},
		"first-cleanup-end": {Screen: of(source{fresh(), running}, actions.GuideFirstCleanup, chk44), Keys: []string{"G"}},
		"unread":            {Screen: of(source{log: dark}, actions.GuideFirstCleanup, chk44)},
		"leave-tombstones":  {Screen: of(source{fresh(), running}, actions.GuideLeaveTombstones, chk44)},
		"new-control-topic": {Screen: of(source{damaged(), running}, actions.GuideNewControlTopic, chk44)},
	})
}

func open(t *testing.T, s guide.Source, name, point string, width, height int) *tuitest.Driver {
	t.Helper()
	return tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(s, name, point), width, height)
}

// The sheet holds every step with its state, why, and for one that is not done
// what to do and every command.
func TestNothingOfAStepIsLeftOut(t *testing.T) {
	for _, name := range actions.GuideNames() {
		s := source{log: damaged(), live: &viewtest.Flink{State: viewtest.Steady()}}
		report, err := s.Guide(t.Context(), viewtest.LiveJob(), name, chk44, "")
		if err == nil {
			t.Fatal("the situation has a place that can't be read")
		}
		frame := open(t, s, name, chk44, 600, 200).Frame()
		for _, step := range report.Steps {
			wanted := []string{step.Title, string(step.State), step.Evidence}
			if step.State != actions.GuideDone {
				wanted = append(append(wanted, step.Do), step.Commands...)
			}
			for _, want := range wanted {
				if !strings.Contains(frame, want) {
					t.Errorf("%s: %q is not on the sheet:\n%s", name, want, frame)
				}
			}
		}
		if !strings.Contains(frame, report.When) {
			t.Errorf("%s: when it is for is not on the sheet", name)
		}
	}
}

// Before the systems have answered, no step is said to be in any state.
func TestAskingIsNoState(t *testing.T) {
	d := tuitest.NewBusy(t, viewtest.Options(viewtest.Plain()), screen(source{log: fresh()}, actions.GuideFirstCleanup, ""), 120, 60)
	defer d.Settle()
	frame := d.Frame()
	if strings.Contains(frame, ": unknown") || strings.Contains(frame, ": open") || !strings.Contains(frame, "nothing is known of any step yet") {
		t.Errorf("frame\n%s", frame)
	}
}

// said is a source with one answer.
type said struct{ report actions.GuideReport }

func (s said) Guide(context.Context, inspect.Job, string, string, string) (actions.GuideReport, error) {
	return s.report, errors.New(viewtest.Hostile)
}

func TestNoTextTakesOverTheTerminal(t *testing.T) {
	step := actions.GuideStep{Number: 1, Name: "x", Title: viewtest.Hostile, Do: viewtest.Hostile, Commands: []string{viewtest.Hostile}, State: actions.GuideOpen, Evidence: viewtest.Hostile}
	answer := said{actions.GuideReport{Guide: actions.GuideFirstCleanup, Title: "title", When: "when", Next: "x", Steps: []actions.GuideStep{step}}}
	viewtest.Harmless(t, open(t, answer, actions.GuideFirstCleanup, viewtest.Hostile, 120, 40))
}

// The point and the new name are given in the palette, and every step is checked
// again for them.
func TestThePaletteChoosesThePoint(t *testing.T) {
	d := open(t, source{log: damaged()}, actions.GuideNewControlTopic, "", 200, 120)
	if frame := d.Frame(); !strings.Contains(frame, "no recovery point is chosen") || !strings.Contains(frame, "no new control topic is named") {
		t.Fatalf("frame\n%s", frame)
	}
	d.Press(":")
	d.Type("choose " + chk44)
	d.Press("enter")
	d.Press(":")
	d.Type("to second")
	d.Press("enter")
	d.WaitIdle()
	frame := d.Frame()
	for _, want := range []string{`checkpoint "chk-44" has`, `"second" does not exist yet: apply makes it`, "recoverctl plan cleanup --point " + chk44 + " --control-topic second"} {
		if !strings.Contains(frame, want) {
			t.Errorf("%q is not there:\n%s", want, frame)
		}
	}
	d.Press("y")
	if want := base64.StdEncoding.EncodeToString([]byte("flink stop --savepointPath DIRECTORY JOB")); !strings.Contains(d.Clipboard(), want) {
		t.Errorf("copied %q, want the command of the next step", d.Clipboard())
	}
}
