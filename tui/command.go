package tui

import (
	"context"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// Cmd is what a screen wants done: reads, and requests to the shell. The nil
// Cmd is nothing. Requests are carried out at once, in order; reads run beside
// the console and come back as messages to the screen that started them.
type Cmd []task

// task is one read or one request.
type task struct {
	request func(*Shell, *page) tea.Cmd

	slot  string
	begin func() job // called each time the task is started
	pause bool       // it waits and reads nothing
}

// job is a read that runs once.
type job struct {
	read   func(context.Context) Msg
	report func(context.Context) (Msg, bool) // waits for progress; false at the end; may be nil
}

// Batch puts commands together.
func Batch(cmds ...Cmd) Cmd {
	var all Cmd
	for _, c := range cmds {
		all = append(all, c...)
	}
	return all
}

// Loaded is the result of a Load or Follow, as the screen's Update gets it.
type Loaded[T any] struct {
	Slot  string
	Value T // may hold what could be read even where Err is set
	Err   error
}

// Progress is what a Follow reports on the way.
type Progress[P any] struct {
	Slot  string
	Value P
}

// Load reads beside the console; Update gets a Loaded[T]. Read must honour its
// context, which ends when the screen leaves, when it reloads, and when the
// same screen starts another read in the same slot. The result of a read that
// ended so is dropped: what Update gets is never stale. Slots are named by the
// screen, one for each thing that it shows. A read that panics ends with a fault
// of kind Bug; the console goes on.
func Load[T any](slot string, read func(context.Context) (T, error)) Cmd {
	return Cmd{{slot: slot, begin: func() job {
		return job{read: func(ctx context.Context) Msg {
			value, err := guarded(func() (T, error) { return read(ctx) })
			return Loaded[T]{Slot: slot, Value: value, Err: err}
		}}
	}}}
}

// Follow is Load for a long read that reports progress: each report comes to
// Update as a Progress[P]. Reports never make the read wait; those that the
// console can't show in time are replaced by newer ones, so a report says how
// much there is by now, not what was added. None comes after the Loaded.
func Follow[T, P any](slot string, read func(ctx context.Context, report func(P)) (T, error)) Cmd {
	return Cmd{{slot: slot, begin: func() job {
		latest := newMailbox[P]()
		return job{
			read: func(ctx context.Context) Msg {
				defer latest.close()
				value, err := guarded(func() (T, error) { return read(ctx, latest.put) })
				return Loaded[T]{Slot: slot, Value: value, Err: err}
			},
			report: func(ctx context.Context) (Msg, bool) {
				value, ok := latest.take(ctx)
				return Progress[P]{Slot: slot, Value: value}, ok
			},
		}
	}}}
}

// guarded runs a read and turns a panic into a fault that says where it was.
func guarded[T any](read func() (T, error)) (value T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = defect("read", p)
		}
	}()
	return read()
}

// Push shows a screen on top of the one that asks. A request of a screen that
// is not on top, or is below a dialog, does nothing: the screen never changes
// under the operator's fingers because of a late answer elsewhere.
func Push(next Screen) Cmd {
	return Cmd{{request: func(s *Shell, from *page) tea.Cmd {
		if s.covered(from) {
			return nil
		}
		s.left = nil
		return s.show(next)
	}}}
}

// Pop leaves the screen that asks, if it is on top and not the first. It does
// not ask Leaver.
func Pop() Cmd {
	return Cmd{{request: func(s *Shell, from *page) tea.Cmd {
		if s.covered(from) || len(s.pages) == 1 {
			return nil
		}
		s.pop()
		return nil
	}}}
}

// Replace shows a screen in place of the one that asks, if that is on top.
func Replace(next Screen) Cmd {
	return Cmd{{request: func(s *Shell, from *page) tea.Cmd {
		if s.covered(from) {
			return nil
		}
		from.close()
		s.left = nil
		s.pages = s.pages[:len(s.pages)-1]
		return s.show(next)
	}}}
}

// Goto leaves the screens above the one that is wanted, or shows a new one on top
// where none on the stack is. A screen above that does not agree to be left stays.
func Goto(wanted func(Screen) bool, create func() Screen) Cmd {
	return Cmd{{request: func(s *Shell, from *page) tea.Cmd {
		if s.covered(from) {
			return nil
		}
		if !slices.ContainsFunc(s.pages, func(p *page) bool { return wanted(p.screen) }) {
			s.left = nil
			return s.show(create())
		}
		for !wanted(s.top().screen) {
			if cmd, ok := s.mayLeave(s.top()); !ok {
				return cmd
			}
			s.pop()
		}
		return nil
	}}}
}

// ReloadOthers makes all other screens on the stack read again: what they show
// was changed.
func ReloadOthers() Cmd {
	return Cmd{{request: func(s *Shell, from *page) tea.Cmd {
		var cmds []tea.Cmd
		for _, p := range s.pages {
			if r, ok := p.screen.(Reloader); ok && p != from {
				p.stopReading()
				cmds = append(cmds, s.do(p, r.Reload()))
			}
		}
		return tea.Batch(cmds...)
	}}}
}

// Quit leaves the console without asking any screen.
func Quit() Cmd {
	return Cmd{{request: func(s *Shell, _ *page) tea.Cmd { return s.end() }}}
}

// reportEvery bounds how often a Follow changes the frame.
const reportEvery = 100 * time.Millisecond

// mailbox holds the newest of the values that were put into it, for one reader.
type mailbox[P any] struct {
	newest chan P
	done   chan struct{}
	next   time.Time // the reader's: when it may take again
}

func newMailbox[P any]() *mailbox[P] {
	return &mailbox[P]{newest: make(chan P, 1), done: make(chan struct{})}
}

// put never waits.
func (m *mailbox[P]) put(value P) {
	for {
		select {
		case m.newest <- value:
			return
		default:
		}
		select {
		case <-m.newest:
		default:
		}
	}
}

func (m *mailbox[P]) close() { close(m.done) }

// take waits for the next value; false when the mailbox was closed or the
// context ended.
func (m *mailbox[P]) take(ctx context.Context) (P, bool) {
	var none P
	if pause := time.Until(m.next); pause > 0 {
		timer := time.NewTimer(pause)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return none, false
		case <-m.done:
			return none, false
		case <-timer.C:
		}
	}
	select {
	case <-ctx.Done():
		return none, false
	case <-m.done:
		return none, false
	case value := <-m.newest:
		m.next = time.Now().Add(reportEvery)
		return value, true
	}
}
