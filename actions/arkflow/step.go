package arkflow

import (
	"context"
	"fmt"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
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
// say what is sent.
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
