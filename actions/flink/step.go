package flink

import (
	"context"
	"fmt"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

type (
	doing    func(ctx context.Context, p *actions.StepProgress) (string, error)
	settling func(ctx context.Context) (actions.Settlement, string, error)
)

// step is a step that reads.
type step struct {
	about actions.Step
	skip  func() string
	do    doing
}

func (s *step) Step() actions.Step { return s.about }

func (s *step) Skip() string {
	if s.skip == nil {
		return ""
	}
	return s.skip()
}

func (s *step) Do(ctx context.Context, p *actions.StepProgress) (string, error) { return s.do(ctx, p) }

// writing is a step that writes. Its intent has no offsets: the step's own words
// hold the trigger and the ids.
type writing struct {
	step
	settle settling
}

var _ actions.Writer = (*writing)(nil)

func (w *writing) Intent() inspect.Offsets { return nil }

func (w *writing) Settle(ctx context.Context) (actions.Settlement, string, error) {
	return w.settle(ctx)
}

// problem is a refusal at a stage.
func problem(stage actions.Stage, code, format string, args ...any) error {
	return actions.Refuse(stage, &inspect.Problem{Code: code, Message: fmt.Sprintf(format, args...), Named: inspect.Named{}})
}

// refused is the fault of a refusal; nil where there is none.
func refused(r *actions.Refusal) error {
	if r == nil {
		return nil
	}
	return actions.Refuse(r.Stage, &r.Problem)
}

// pause waits until it is time to look again.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return fault.Wrap(fault.Cancelled, "apply", ctx.Err(), "stopped while it waited")
	case <-timer.C:
		return nil
	}
}

func quote(name string) string { return `"` + safetext.Of(name).String() + `"` }
