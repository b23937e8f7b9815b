package actions

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/journal"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

func pid() int { return os.Getpid() }

// steps does one step after another, until one fails or somebody says stop.
func (r *Run) steps() failure {
	for i, d := range r.plan.Steps {
		if r.isStopped() {
			return r.stopAt(i)
		}
		why := ""
		if err := guard(d.Step().Name, func() error { why = d.Skip(); return nil }); err != nil {
			r.end(i, StepFailed, safetext.Error(err).String())
			return failure{err: err, stage: d.Step().Stage}
		}
		if why != "" {
			r.end(i, StepSkipped, safetext.Of(why).String())
			continue
		}
		if !r.waitForGo(i) {
			return r.stopAt(i)
		}
		r.begin(i)
		var f failure
		if w, writes := d.(Writer); writes && d.Step().Writes != "" {
			f = r.write(i, w)
		} else {
			f = r.read(i, d)
		}
		if f.err != nil {
			if f.stage == "" {
				f.stage = d.Step().Stage
			}
			return f
		}
	}
	return failure{}
}

// stopAt ends the run before a step.
func (r *Run) stopAt(i int) failure {
	step := r.plan.Steps[i].Step()
	r.end(i, StepStopped, "not begun")
	err := fault.New(fault.Cancelled, "apply", "stopped before step %s, %s", step.Number, step.Title).
		WithHint("the same plan goes on from here; recoverctl verify says how far it is")
	return failure{err: err, stage: step.Stage, cut: r.base.Err() != nil}
}

// read does a step that only reads. Stop may end it in the middle.
func (r *Run) read(i int, d Doer) failure {
	ctx, cancel := context.WithCancel(r.base)
	defer cancel()
	r.setStopRead(cancel)
	detail := ""
	err := guard(d.Step().Name, func() (err error) {
		detail, err = d.Do(ctx, &StepProgress{run: r, step: i})
		return err
	})
	r.setStopRead(nil)
	switch {
	case err == nil:
		r.end(i, StepDone, safetext.Of(detail).String())
		return failure{}
	case ctx.Err() != nil && isLost(err):
		f := r.stopAt(i)
		r.end(i, StepStopped, "stopped while it read")
		return f
	default:
		r.end(i, StepFailed, safetext.Error(err).String())
		return failure{err: err, stage: StageOf(err)}
	}
}

// write does a step that writes: the intent is on the disk before, the outcome
// after. Only the second interrupt ends it in the middle.
func (r *Run) write(i int, w Writer) failure {
	step := w.Step()
	var intent journal.Entry
	if err := guard(step.Name, func() error {
		intent = r.entry(journal.Intent, step.Name)
		intent.Offsets, intent.Message = w.Intent(), step.Writes
		if d, more := w.(Describer); more {
			intent.Message = d.Intended()
		}
		return nil
	}); err != nil {
		r.end(i, StepFailed, safetext.Error(err).String())
		return failure{err: err}
	}
	if err := r.append(intent); err != nil {
		r.end(i, StepFailed, "not begun: "+safetext.Error(err).String())
		return failure{err: fault.Wrap(fault.KindOf(err), "apply", err, "step %s was not begun, because the journal can't be written", step.Number)}
	}
	detail := ""
	err := guard(step.Name, func() (err error) {
		detail, err = w.Do(r.base, &StepProgress{run: r, step: i})
		return err
	})
	state, f := StepDone, failure{}
	switch {
	case err != nil && isLost(err):
		state, detail, f = r.settle(w, err)
	case err != nil:
		state, detail, f = StepFailed, safetext.Error(err).String(), failure{err: err, stage: StageOf(err)}
	}
	detail = safetext.Of(detail).String()
	r.end(i, state, detail)
	outcome := r.entry(journal.Outcome, step.Name)
	outcome.Offsets, outcome.Message = intent.Offsets, detail
	outcome.Result = map[StepWord]string{StepDone: journal.Done, StepFailed: journal.Failed, StepUnknown: journal.Unknown}[state]
	if err := r.append(outcome); err != nil && f.err == nil {
		// Nothing more is written without a journal.
		f.err = fault.Wrap(fault.Partial, "apply", err, "step %s is done, but its line is missing in the journal", step.Number).
			WithHint("make room for the journal, then apply the same plan again: it goes on from here")
	}
	return f
}

// isLost reports whether an error leaves open whether a write was made.
func isLost(err error) bool {
	switch fault.KindOf(err) {
	case fault.Unknown, fault.Unreachable, fault.Cancelled, fault.Bug:
		return true
	}
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// settle finds out by reading what became of a write whose answer was lost.
func (r *Run) settle(w Writer, lost error) (StepWord, string, failure) {
	step := w.Step()
	unknown := func(why string) (StepWord, string, failure) {
		err := fault.Wrap(fault.Unknown, "apply", lost, "the answer to step %s was lost, and %s", step.Number, why).
			WithHint("ask what became of it with recoverctl verify; the same plan goes on from there")
		return StepUnknown, safetext.Error(err).String(), failure{err: err, stage: stageOr(lost, step), unsettled: true, cut: r.base.Err() != nil}
	}
	if r.base.Err() != nil {
		return unknown("it was ended at once")
	}
	ctx, cancel := context.WithTimeout(r.base, r.plan.Timeout)
	defer cancel()
	settled, seen := Unsettled, ""
	err := guard(step.Name, func() (err error) {
		settled, seen, err = w.Settle(ctx)
		return err
	})
	switch {
	case err != nil:
		return unknown("what became of it could not be read: " + safetext.Error(err).String())
	case settled == Happened && fault.KindOf(lost) != fault.Bug:
		return StepDone, fmt.Sprintf("the answer was lost, and reading says that it was done: %s", seen), failure{}
	case settled == Happened:
		return StepDone, "a defect of this program stopped it, and reading says that it was done: " + seen, failure{err: lost, stage: step.Stage}
	case settled == NotHappened:
		kind := fault.KindOf(lost)
		if kind == fault.Unknown {
			kind = fault.Unreachable
		}
		err := fault.Wrap(kind, "apply", lost, "step %s was not done (%s)", step.Number, safetext.Of(seen)).
			WithHint("apply the same plan again once the cause is gone")
		return StepFailed, safetext.Error(err).String(), failure{err: err, stage: stageOr(lost, step)}
	default:
		return unknown("reading does not say what became of it")
	}
}

func stageOr(err error, step Step) Stage {
	if stage := StageOf(err); stage != "" {
		return stage
	}
	return step.Stage
}

// guard runs code of a backend and turns a panic into a fault of kind Bug.
func guard(what string, do func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fault.Wrap(fault.Bug, "apply", fault.Panicked(value), "step %s was stopped by a defect in this program", what).
				WithHint("what was done by then stays done; report this sentence")
		}
	}()
	return do()
}
