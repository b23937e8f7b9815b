package actions

import (
	"context"

	"github.com/recoverctl/recoverctl/inspect"
)

// Doing is the work of a step, as Doer has it.
type Doing func(ctx context.Context, p *StepProgress) (detail string, err error)

// Settling finds out what became of a write, as Writer has it.
type Settling func(ctx context.Context) (Settlement, string, error)

// Reading makes the Doer of a step that reads. Skip may be nil: then there is always
// something to do.
func Reading(about Step, skip func() string, do Doing) Doer {
	return &reading{about: about, skip: skip, do: do}
}

// Writing makes the Writer of a step that writes. Skip may be nil as for Reading, and
// intent where the write has no offsets of partitions: the step's own words say
// what is written.
func Writing(about Step, skip func() string, intent func() inspect.Offsets, do Doing, settle Settling) Writer {
	return &writing{reading: reading{about: about, skip: skip, do: do}, intent: intent, settle: settle}
}

type reading struct {
	about Step
	skip  func() string
	do    Doing
}

func (r *reading) Step() Step { return r.about }

func (r *reading) Skip() string {
	if r.skip == nil {
		return ""
	}
	return r.skip()
}

func (r *reading) Do(ctx context.Context, p *StepProgress) (string, error) { return r.do(ctx, p) }

type writing struct {
	reading
	intent func() inspect.Offsets
	settle Settling
}

func (w *writing) Intent() inspect.Offsets {
	if w.intent == nil {
		return nil
	}
	return w.intent()
}

func (w *writing) Settle(ctx context.Context) (Settlement, string, error) { return w.settle(ctx) }
