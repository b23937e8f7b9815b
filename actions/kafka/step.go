package kafka

import (
	"context"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
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

// unless is the step with the reason why it has nothing to do.
func (s step) unless(skip func() string) step {
	s.skip = skip
	return s
}

func (s step) reads(do doing) actions.Doer {
	s.do = do
	return &s
}

func (s step) writes(intent func() inspect.Offsets, do doing, settle settling) actions.Doer {
	s.do = do
	return &writing{step: s, intent: intent, settle: settle}
}

func (s *step) Step() actions.Step { return s.about }

func (s *step) Skip() string {
	if s.skip == nil {
		return ""
	}
	return s.skip()
}

func (s *step) Do(ctx context.Context, p *actions.StepProgress) (string, error) { return s.do(ctx, p) }

// writing is a step that writes.
type writing struct {
	step
	intent func() inspect.Offsets
	settle settling
}

var _ actions.Writer = (*writing)(nil)

func (w *writing) Intent() inspect.Offsets { return w.intent() }

func (w *writing) Settle(ctx context.Context) (actions.Settlement, string, error) {
	return w.settle(ctx)
}
