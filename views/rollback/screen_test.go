package rollback_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/flink"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/apply"
	"github.com/recoverctl/recoverctl/views/document"
	"github.com/recoverctl/recoverctl/views/rollback"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	oldID   = "4f3c92d07be1458a96c0d1e2f3a4b5c6"
	newID   = "feedface000000000000000000000001"
	point   = "s3://flink-state/checkpoints/" + oldID + "/chk-43"
	jarID   = "35efb6bf-0330-42c5-b7c7-f471a8be55fb_orders.jar"
	subject = "orders/order-agent "
)

// source makes and judges plans as the program does, of a job in memory, and
// carries them out with the real runner.
type source struct {
	viewtest.Documents
	mu    sync.Mutex
	e     actions.FlinkEvidence
	err   error
	held  error
	asks  []rollback.Ask
	wrote []string // steps
}

func running() *source {
	interval, retained := int64(60_000), 3
	job := viewtest.Job()
	job.Flink = inspect.RefOf("http://jobmanager:8081", "order-agent")
	return &source{Documents: viewtest.NewDocuments(), e: actions.FlinkEvidence{
		Job: job, At: viewtest.Now, Address: "http://jobmanager:8081", Parallelism: 4, PointKind: inspect.KindCheckpoint,
		Jobs: []actions.FlinkJob{{ID: oldID, Name: "order-agent", State: "RUNNING"}},
		Old: &inspect.LiveState{JobID: oldID, Name: "order-agent", State: "RUNNING", Checkpoints: &inspect.LiveCheckpoints{Completed: 44},
			Settings: &inspect.CheckpointSettings{IntervalMs: &interval, Retained: &retained, Retention: inspect.RetainOnCancellation}},
		Jars:    []actions.FlinkJar{{ID: jarID, Name: "orders.jar"}},
		Restore: &inspect.RestoreValidation{Point: point, Verdict: inspect.Accepted},
	}}
}

func (s *source) now() (actions.FlinkEvidence, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.e, s.err
}

func (s *source) becomes(how func(*actions.FlinkEvidence)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	how(&s.e)
}

func (s *source) Make(_ context.Context, job inspect.Job, ask rollback.Ask) (document.Made, error) {
	s.mu.Lock()
	s.asks = append(s.asks, ask)
	s.mu.Unlock()
	e, err := s.now()
	if err != nil {
		return document.Made{}, err
	}
	d, p := actions.RollbackFrom(e, actions.FlinkAsk{Point: ask.Point, Jar: ask.Jar, Arguments: ask.Arguments, NoSavepoint: ask.NoSavepoint,
		Trigger: "c0ffee00000000000000000000000001", NewJobID: newID})
	if p != nil {
		return document.Made{}, fault.New(fault.Problem, "make a plan", "no plan can be made: %s", p.Message).WithHint("look at the job")
	}
	return s.Review(context.Background(), job, d)
}

func (s *source) Review(_ context.Context, _ inspect.Job, d actions.Document) (document.Made, error) {
	e, err := s.now()
	e.Err = err
	return document.Made{At: viewtest.Now, Plan: d, Report: actions.FlinkReport(d, e), Steps: actions.FlinkSteps(d), Handoff: flink.HandoffOf(d, e), Unread: err, Held: s.held,
		File: "/home/ops/rollback.json", Apply: `recoverctl apply /home/ops/rollback.json --reason "…" --accept point-may-go --access operate`}, err
}

func (s *source) Start(_ context.Context, _ inspect.Job, made document.Made, answer apply.Answer) (*apply.Running, error) {
	return s.Run(made, answer, "rollback", s.carry, func() actions.OperationVerdict {
		e, _ := s.now()
		return actions.JudgeFlink(made.Plan, e)
	})
}

// carry does a step to the job in memory.
func (s *source) carry(step actions.Step) string {
	s.becomes(func(e *actions.FlinkEvidence) {
		s.wrote = append(s.wrote, step.Name)
		switch step.Name {
		case actions.StepSavepoint:
			e.Savepoint = actions.SavepointState{Known: true, Ready: true, Location: "s3://flink-state/savepoints/savepoint-4f3c92-1"}
		case actions.StepCancel:
			old := *e.Old
			old.State = "CANCELED"
			e.Old = &old
		case actions.StepSubmit:
			started := *e.Old
			from := point
			started.JobID, started.State, started.RestoredFrom, started.Checkpoints = newID, "RUNNING", &from, &inspect.LiveCheckpoints{Completed: 1}
			e.New, e.NewParallelism = &started, 4
		}
	})
	return "Flink has begun"
}

func screen(s rollback.Source) *rollback.Screen {
	return rollback.New(rollback.Options{Theme: viewtest.Plain(), Job: viewtest.Job(), Source: s, Point: point})
}

func TestGoldens(t *testing.T) {
	of := func(change func(*source)) func() tui.Screen {
		return func() tui.Screen {
			s := running()
			change(s)
			return screen(s)
		}
	}
	gone := running()
	viewtest.Goldens(t, map[string]viewtest.Case{
		"making": {Screen: of(func(*source) {}), Busy: true},
		"plan":   {Screen: of(func(*source) {})},
		"end":    {Screen: of(func(*source) {}), Keys: []string{"G"}},
		"failed": {Screen: of(func(s *source) { s.e.Old.State, s.e.Old.LastException = "FAILED", nil })},
		"no-plan": {Screen: of(func(s *source) {
			s.e.Restore = &inspect.RestoreValidation{Point: point, Verdict: inspect.Rejected,
				Reasons: []inspect.Reason{{Problem: inspect.Problem{Code: "below-committed-boundary", Message: "partition 0 must be read from 100, cleanup 3f9c21aa committed 150"}}}}
		})},
		"no-answer": {Screen: of(func(s *source) { s.err = viewtest.Gone() })},
		"written":   {Screen: of(func(*source) {}), Keys: []string{"W"}},
		"changed": {Screen: func() tui.Screen { gone.e = running().e; return screen(gone) },
			Before: func() { gone.becomes(func(e *actions.FlinkEvidence) { e.Jars = nil }) }, Keys: []string{"r"}},
	})
}

// armed is a console that may write, with what runs in it.
func armed(t *testing.T, s *source, width, height int) *tuitest.Driver {
	t.Helper()
	return tuitest.New(t, viewtest.Armed(s.Current), screen(s), width, height)
}

func shows(t *testing.T, d *tuitest.Driver, want string) {
	t.Helper()
	if got := strings.Join(strings.Fields(d.Frame()), " "); !strings.Contains(got, want) {
		t.Errorf("%q is not on the screen:\n%s", want, d.Frame())
	}
}

// accept accepts each warning by its name, as the dialog asks for it.
func accept(d *tuitest.Driver, warnings int) {
	for range 40 {
		d.Press("down")
	}
	for range warnings {
		d.Press("tab", "space")
	}
	d.Press("tab", "enter")
}

// The whole way: arguments, the warning, the lines, the reason, the phrase, the
// button, the receipt.
func TestARollbackFromTheScreen(t *testing.T) {
	for _, size := range viewtest.Sizes {
		t.Run(fmt.Sprintf("%dx%d", size.Width, size.Height), func(t *testing.T) {
			s := running()
			d := armed(t, s, size.Width, size.Height)
			d.Press("e")
			d.Type("--name 'order agent'")
			d.Press("enter")
			if last := s.asks[len(s.asks)-1]; !slices.Equal(last.Arguments, []string{"--name", "order agent"}) {
				t.Fatalf("asked for %+v:\n%s", last, d.Frame())
			}
			id := strings.TrimPrefix(d.Top().Crumb(), "rollback plan ")
			d.Press("A")
			d.Golden(fmt.Sprintf("warning-%dx%d", size.Width, size.Height))
			accept(d, 1)
			d.Golden(fmt.Sprintf("confirm-%dx%d", size.Width, size.Height))
			for range 60 {
				d.Press("down")
			}
			d.Press("tab")
			d.Type("bad deploy, INC-9")
			d.Press("tab")
			d.Type(subject + id)
			d.Press("tab")
			if len(s.wrote) != 0 {
				t.Fatal("something was done before it was confirmed")
			}
			d.Press("space")
			run := s.Current.Running()
			if run == nil {
				t.Fatalf("nothing was started:\n%s", d.Frame())
			}
			result, err := run.Wait()
			if want := []string{"savepoint", "cancel", "submit"}; err != nil || result.Verdict != actions.Applied || !slices.Equal(s.wrote, want) || result.Receipt.SourceRecoveryPoint != point {
				t.Fatalf("%s, %v, wrote %v", result.Verdict, err, s.wrote)
			}
			d.Press("r")
			d.Golden(fmt.Sprintf("applied-%dx%d", size.Width, size.Height))
			shows(t, d, "is RUNNING, restored from "+point[:20])
		})
	}
}

// What changed since it was shown is looked at before anything is asked.
func TestAChangeSinceIsLookedAtFirst(t *testing.T) {
	for name, tt := range map[string]struct {
		before func(*source)
		says   string
	}{
		"the jar is gone": {func(s *source) { s.becomes(func(e *actions.FlinkEvidence) { e.Jars = nil }) }, "not asked: apply would refuse this plan now"},
		"it was rolled back meanwhile": {func(s *source) {
			for _, name := range []string{actions.StepSavepoint, actions.StepCancel, actions.StepSubmit} {
				s.carry(actions.Step{Name: name})
			}
		}, "not asked: the job is rolled back as planned already"},
		"somebody else applies": {func(s *source) { s.held = fault.New(fault.Busy, "apply", "ops2@bastion applies savepoint 3f9c21aa") }, "not asked: ops2@bastion applies savepoint 3f9c21aa"},
		"nobody answers":        {func(s *source) { s.err = viewtest.Gone() }, "not asked: the plan could not be judged"},
	} {
		t.Run(name, func(t *testing.T) {
			s := running()
			d := armed(t, s, 160, 60)
			tt.before(s)
			d.Press("A")
			d.WaitIdle()
			shows(t, d, tt.says)
			if s.Current.Running() != nil {
				t.Error("it was begun")
			}
		})
	}
}

// In read-only the keys that change something say why they are off.
func TestReadOnlyAppliesNothing(t *testing.T) {
	s := running()
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(s), 120, 40)
	d.Press("A", "S")
	if s.Current.Running() != nil || len(s.wrote) != 0 {
		t.Error("it was begun")
	}
	shows(t, d, "read-only")
}

// A rollback without a safety savepoint is another plan, with its own warning.
func TestWithoutASavepoint(t *testing.T) {
	s := running()
	d := armed(t, s, 160, 60)
	d.Press("z")
	d.WaitIdle()
	shows(t, d, "no-safety-savepoint")
	d.Press("i")
	d.Type("none.jar")
	d.Press("enter")
	d.WaitIdle()
	shows(t, d, "there is no plan")
	if last := s.asks[len(s.asks)-1]; !last.NoSavepoint || last.Jar != "none.jar" || last.Point != point {
		t.Errorf("asked for %+v", last)
	}
}

func TestNoTextTakesOverTheTerminal(t *testing.T) {
	s := running()
	s.e.Old.Name, s.e.Jobs[0].Name, s.e.Jars[0].ID = viewtest.Hostile, viewtest.Hostile, "x"
	s.e.Old.State = "FAILED"
	hostile := viewtest.Hostile
	s.e.Old.LastException = &hostile
	viewtest.Harmless(t, armed(t, s, 120, 40))
}
