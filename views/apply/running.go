package apply

import (
	"sync/atomic"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/dialog"
	"github.com/recoverctl/recoverctl/tui/theme"
)

// Run is an apply that goes on. *actions.Run is one.
type Run interface {
	Snapshot() actions.Snapshot
	Changed() <-chan struct{}
	Done() <-chan struct{}
	Wait() (actions.ApplyResult, error)
	Proceed(step string, write bool) error
	RunRest()
	Stop()
	Interrupt() actions.Interruption
}

var _ Run = (*actions.Run)(nil)

// Running is a run with what belongs to it. All methods may be called by several
// goroutines.
type Running struct {
	run  Run
	name string
	step bool

	ended chan struct{}
	seen  atomic.Bool // somebody was shown the outcome

	// Written before ended is closed, read after.
	result actions.ApplyResult
	err    error
	after  error
}

// follow tells that the run has moved until it has ended. Finish is called once,
// when it has and before anybody is told so.
func (r *Running) follow(finish func() error, moved func()) {
	for {
		select {
		case <-r.run.Changed():
			moved()
		case <-r.run.Done():
			r.result, r.err = r.run.Wait()
			r.after = finish()
			close(r.ended)
			moved()
			return
		}
	}
}

// Name is what is applied.
func (r *Running) Name() string { return r.name }

// Stop asks the run to stop at the next safe place.
func (r *Running) Stop() { r.run.Stop() }

// Wait waits for the end. The error is that of the run.
func (r *Running) Wait() (actions.ApplyResult, error) {
	<-r.ended
	return r.result, r.err
}

// Ended reports whether it is over, and everything that it held is given back.
func (r *Running) Ended() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// Seen reports whether somebody was shown what it came to.
func (r *Running) Seen() bool { return r.seen.Load() }

// Interrupt is what ctrl-c and SIGINT mean; the sentence says what follows.
func (r *Running) Interrupt() string {
	switch r.run.Interrupt() {
	case actions.TooSoon:
		return r.name + " is stopping at the next safe place; only another ctrl-c, two seconds or more after the first, ends it now"
	case actions.StopsNow:
		return r.name + " is ended now: what was being written is unknown until it is read again"
	default:
		return r.name + " stops at the next safe place: what is being written is waited for. A second ctrl-c, two seconds or more after this one, ends it now"
	}
}

// opens is how the screen of a run is opened from anywhere.
const opens = ":apply opens it"

// job is the run in the line above the footer; false where there is nothing to
// say of it any more.
func (r *Running) job() (tui.Job, bool) {
	if r.Ended() {
		if r.Seen() {
			return tui.Job{}, false
		}
		return tui.Job{Name: r.name + " has ended: " + string(r.result.Verdict), Ended: true, Hint: opens}, true
	}
	s := r.run.Snapshot()
	j := tui.Job{
		Name: r.name + ", " + where(s), Unit: "steps", Total: int64(len(s.Steps)), Hint: opens,
		Holds:     r.name + " is being applied: a run that stands still would hold the lock, and a boundary half done",
		Interrupt: r.Interrupt, Leaving: func() tui.Cmd { return r.leaving(false) },
	}
	for _, step := range s.Steps {
		if step.State == actions.StepDone || step.State == actions.StepSkipped {
			j.Done++
		}
	}
	return j, true
}

// where says in a few words where a run is.
func where(s actions.Snapshot) string {
	switch {
	case s.Stopping:
		return "stopping"
	case s.Current < 0 || s.Current >= len(s.Steps):
		return between(s)
	case s.Waiting:
		return "step " + s.Steps[s.Current].Step.Number + " waits for you"
	case s.Steps[s.Current].State == actions.StepFailed:
		return "step " + s.Steps[s.Current].Step.Number + " failed"
	default:
		return "step " + s.Steps[s.Current].Step.Number
	}
}

// leaving asks what an operator wants who leaves while it runs. From its own
// screen the screen may be left alone.
func (r *Running) leaving(own bool) tui.Cmd {
	keep := dialog.Choice{Label: "keep watching"}
	leave := dialog.Choice{Label: "look at other screens", Help: "It goes on; " + opens + "."}
	stop := dialog.Choice{Label: "stop at the next safe place", Help: "What is being written is waited for. The same plan goes on from there."}
	choices := []dialog.Choice{keep, stop}
	if own {
		choices = []dialog.Choice{keep, leave, stop}
	} else {
		choices[0] = dialog.Choice{Label: "stay", Help: "The console can't be left while a plan is applied; " + opens + "."}
	}
	return dialog.Ask{
		Title: r.name + " is being applied", Choices: choices,
		Lines: []string{"Nothing that is done here leaves it half-way."},
	}.Open(func(choice int) tui.Cmd {
		switch {
		case choice == 0:
			return nil
		case own && choice == 1:
			return tui.Pop()
		default:
			r.Stop()
			return tui.Say(theme.Warning, r.name+" stops at the next safe place: what is being written is waited for")
		}
	})
}
