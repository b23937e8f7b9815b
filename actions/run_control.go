package actions

import (
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Interruption is what an interrupt meant.
type Interruption uint8

// The interruptions.
const (
	StopsAtBoundary Interruption = iota // the first: it stops at the next safe place
	TooSoon                             // within two seconds of the first, or the same press: nothing changes
	StopsNow                            // it is cut off where it is
)

const (
	secondAfter = 2 * time.Second
	// Repeats of a key that is held down come closer than this. They are one press.
	onePress = 400 * time.Millisecond
)

// Stop asks the run to stop at the next safe place: between two steps, or in a
// step that only reads. It is what SIGTERM and SIGHUP mean, and the end of the
// context.
func (r *Run) Stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state.Stopping {
		return
	}
	r.state.Stopping = true
	close(r.stopped)
	if r.stopRead != nil {
		r.stopRead()
	}
	r.notifyLocked()
}

// Interrupt is what SIGINT means: the first is a Stop, and a later one, at least
// two seconds after the first, ends a write in its middle, without a word from
// the other side. Its outcome is then unknown.
func (r *Run) Interrupt() Interruption {
	now := r.plan.Clock.Now()
	r.mu.Lock()
	first, held := r.first.IsZero(), now.Sub(r.last) < onePress
	if first {
		r.first = now
	}
	r.last = now
	late := now.Sub(r.first) >= secondAfter
	r.mu.Unlock()
	switch {
	case first:
		r.Stop()
		return StopsAtBoundary
	case held || !late:
		return TooSoon
	default:
		r.now()
		return StopsNow
	}
}

// Proceed lets the step that waits begin, in step mode. The step is named, so
// that a key that was meant for the step before does nothing; a step that writes
// needs write to be true, which no key that passes reading steps says. The error
// is a fault of kind Denied.
func (r *Run) Proceed(step string, write bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	no := func(format string, args ...any) error { return fault.New(fault.Denied, "apply", format, args...) }
	if !r.state.Waiting {
		return no("no step waits")
	}
	waits := r.state.Steps[r.state.Current].Step
	switch {
	case waits.Name != step:
		return no("step %s waits, and not %s", waits.Number, safetext.Of(step))
	case waits.Writes != "" && !write:
		return no("step %s writes: it needs its own go", waits.Number)
	}
	r.state.Waiting = false // a second go is refused until the next step waits
	r.goAhead <- struct{}{}
	return nil
}

// RunRest ends step mode, except for the pause before the point of no return.
// A reading step that waits is passed; one that writes still needs its go.
func (r *Run) RunRest() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rest = true
	if r.state.Waiting && r.state.Steps[r.state.Current].Step.Writes == "" {
		r.state.Waiting = false
		r.goAhead <- struct{}{}
	}
}

// waitForGo pauses before a step where that is wanted. It is false where
// somebody said stop meanwhile.
func (r *Run) waitForGo(i int) bool {
	r.mu.Lock()
	step := r.state.Steps[i].Step
	if !r.plan.Step || r.rest && !step.NoReturn {
		r.mu.Unlock()
		return true
	}
	r.state.Current, r.state.Waiting, r.state.Steps[i].State = i, true, StepWaiting
	r.notifyLocked()
	r.mu.Unlock()
	select {
	case <-r.goAhead:
		return !r.isStopped()
	case <-r.stopped:
		r.mu.Lock()
		r.state.Waiting = false
		r.mu.Unlock()
		return false
	}
}

func (r *Run) isStopped() bool {
	select {
	case <-r.stopped:
		return true
	default:
		return false
	}
}

// setStopRead says how Stop ends the step that reads; nil: it can't.
func (r *Run) setStopRead(cancel func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopRead = cancel
	if cancel != nil && r.state.Stopping {
		cancel()
	}
}
