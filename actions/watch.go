package actions

import (
	"context"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Pause waits before something is read again. Where ctx ends first, it returns a
// fault of kind Cancelled.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return fault.Wrap(fault.Cancelled, "apply", ctx.Err(), "stopped while it waited")
	case <-timer.C:
		return nil
	}
}

// Watch is how an apply looks again and again at what another system does by
// itself.
type Watch struct {
	Look     func(ctx context.Context, stage Stage) error // reads everything anew
	Poll     time.Duration                                // between two looks
	Patience time.Duration                                // until what was begun is done
	Settle   time.Duration                                // until a request that nothing is seen of was not made
	Silent   string                                       // what is noted meanwhile, as in "Flink does not answer"
}

// Until looks until done says that it is as it should be, or why it never will. A
// system that does not answer meanwhile is asked again, as long as there is
// patience.
func (w Watch) Until(ctx context.Context, stage Stage, p *StepProgress, done func() (detail, now string, err error)) (string, error) {
	began := time.Now()
	now := "nothing was seen of it"
	for {
		lost := w.Look(ctx, stage)
		switch {
		case ctx.Err() != nil:
			return "", fault.Wrap(fault.Cancelled, "apply", ctx.Err(), "stopped while it waited")
		case lost != nil && (fault.KindOf(lost) != fault.Unreachable || time.Since(began) > w.Patience):
			return "", lost
		case lost != nil:
			p.Note(safetext.Sprintf("%s: %s", w.Silent, lost))
		default:
			detail, state, err := done()
			if detail != "" || err != nil {
				return detail, err
			}
			now = state
			p.Note(safetext.Of(state))
		}
		if waited := time.Since(began); waited > w.Patience {
			return "", Refusef(stage, "takes-too-long", "after %s it is not done: %s", waited.Round(time.Second), now)
		}
		if err := Pause(ctx, w.Poll); err != nil {
			return "", err
		}
	}
}

// Trace looks for the trace of a request whose answer was lost, until it is there
// or its time to settle is over. Empty without an error says that the system was
// asked to the end, and shows nothing of it.
func (w Watch) Trace(ctx context.Context, trace func() string) (found string, err error) {
	limited, cancel := context.WithTimeout(ctx, w.Settle)
	defer cancel()
	for {
		lost := w.Look(ctx, StageVerify)
		if lost == nil {
			if found := trace(); found != "" {
				return found, nil
			}
		}
		if Pause(limited, w.Poll) == nil {
			continue
		}
		if ctx.Err() != nil {
			return "", fault.Wrap(fault.Cancelled, "apply", ctx.Err(), "stopped while it was asked")
		}
		return "", lost
	}
}
