package fluss

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

func (s *step) Step() actions.Step { return s.about }

func (s *step) Skip() string {
	if s.skip == nil {
		return ""
	}
	return s.skip()
}

func (s *step) Do(ctx context.Context, p *actions.StepProgress) (string, error) { return s.do(ctx, p) }

// writing is a step that writes. Its intent has no offsets of partitions: the
// step's own words hold those of the buckets.
type writing struct {
	step
	settle settling
}

var _ actions.Writer = (*writing)(nil)

func (w *writing) Intent() inspect.Offsets { return nil }

func (w *writing) Settle(ctx context.Context) (actions.Settlement, string, error) {
	return w.settle(ctx)
}
