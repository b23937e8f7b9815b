package tui

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui/theme"
)

// Options are what a console needs. All but Theme may be left out.
type Options struct {
	Theme theme.Theme
	// Header is asked whenever something happened, from the console's goroutine:
	// it must answer at once.
	Header func() Header
	// Now is the clock; time.Now if nil.
	Now func() time.Time
	// Input and Output are the terminal; the process's own if nil.
	Input  io.Reader
	Output io.Writer
}

func (o Options) now() time.Time {
	if o.Now == nil {
		return time.Now()
	}
	return o.Now()
}

func (o Options) header() Header {
	if o.Header == nil {
		return Header{}
	}
	return o.Header()
}

// Run shows root on a terminal until the operator leaves (nil) or ctx ends (a
// fault of kind Cancelled). The terminal is as before when Run returns, also
// after a panic, which is a fault of kind Bug. Reads that still run were
// cancelled, but may take a moment to end. Signals are the caller's: those that
// should end the console cancel ctx. The caller has made sure that there is a
// terminal.
func Run(ctx context.Context, opts Options, root Screen) error {
	shell := NewShell(ctx, opts, root)
	defer shell.Close()

	options := []tea.ProgramOption{tea.WithAltScreen(), tea.WithoutSignalHandler()}
	if opts.Input != nil {
		options = append(options, tea.WithInput(opts.Input))
	}
	if opts.Output != nil {
		options = append(options, tea.WithOutput(opts.Output))
	}
	program := tea.NewProgram(shell, options...)

	ended := make(chan struct{})
	var beside sync.WaitGroup
	beside.Go(func() { tick(ended, func() { program.Send(Tick{}) }) })
	// Bubbletea's own handling of a context abandons its reader of the keyboard,
	// which then swallows the next key; quitting waits for it.
	beside.Go(func() {
		select {
		case <-ctx.Done():
			program.Quit()
		case <-ended:
		}
	})
	_, err := program.Run()
	close(ended)
	beside.Wait()

	switch {
	case shell.err != nil:
		return shell.err
	case errors.Is(err, tea.ErrProgramPanic):
		return fault.Wrap(fault.Bug, "show the console", err, defectSentence)
	case err != nil:
		return fault.Wrap(fault.Unreachable, "show the console", err, "the terminal can't be used")
	case ctx.Err() != nil && !shell.gone:
		return fault.Wrap(fault.Cancelled, "show the console", context.Cause(ctx), "the console was ended")
	default:
		return nil
	}
}

// tick calls send on every full tickEvery of the clock until ended is closed.
func tick(ended <-chan struct{}, send func()) {
	for {
		t := time.Now()
		timer := time.NewTimer(t.Truncate(tickEvery).Add(tickEvery).Sub(t))
		select {
		case <-ended:
			timer.Stop()
			return
		case <-timer.C:
			send()
		}
	}
}
