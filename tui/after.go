package tui

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// Elapsed is what Update gets when the pause of an After is over.
type Elapsed struct{ Slot string }

// After brings an Elapsed to Update once, after a pause. It is no read: the path
// line does not say so. It ends as a Load in its slot does, with the screen, at a
// reload and when another one begins in the slot.
//
// A screen that reads again by itself begins each read with IfShown, and waits
// again after that: what nobody looks at is not read.
func After(slot string, pause time.Duration) Cmd {
	return Cmd{{slot: slot, pause: true, begin: func() job {
		return job{read: func(ctx context.Context) Msg {
			timer := time.NewTimer(pause)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-ctx.Done():
			}
			return Elapsed{Slot: slot}
		}}
	}}}
}

// IfShown does what run says, if the screen that asks is the one that is shown;
// otherwise run is not called.
func IfShown(run func() Cmd) Cmd {
	return Cmd{{request: func(s *Shell, from *page) tea.Cmd {
		if s.top() != from || s.small() {
			return nil
		}
		return s.do(from, run())
	}}}
}
