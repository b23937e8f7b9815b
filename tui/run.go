package tui

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/recoverctl/recoverctl/internal/access"
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
	// Elapsed is the time since some moment, for telling keys that are typed from
	// keys that arrive together; the machine's own if nil.
	Elapsed func() time.Duration
	// Jobs are asked for whenever something happened, like Header; the oldest
	// first. Only those that run.
	Jobs func() []Job
	// Moved, if not nil, has a value when a job has moved on: it is shown at once,
	// at most ten times a second, and not only at the next Pulse.
	Moved <-chan struct{}
	// Commands are in the palette on every screen.
	Commands []Command
	// Arming, if not nil, makes the console start read-only and adds the palette
	// command operate, which arms it where Level allows.
	Arming Arming
	Level  access.Level
	// Passthrough is what the clipboard sequence must pass.
	Passthrough Passthrough
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

func (o Options) jobs() []Job {
	if o.Jobs == nil {
		return nil
	}
	return o.Jobs()
}

func (o Options) header() Header {
	if o.Header == nil {
		return Header{}
	}
	return o.Header()
}

// Run shows root on a terminal until the operator leaves (nil), ctx ends (a
// fault of kind Cancelled) or the terminal is gone (a fault of kind
// Unreachable). The terminal is as before when Run returns, also after a panic,
// which is a fault of kind Bug. Reads that still run were cancelled, but may
// take a moment to end. Signals are the caller's: those that should end the
// console cancel ctx. The caller has made sure that there is a terminal. The
// mouse is the terminal's own, and the terminal is asked nothing.
func Run(ctx context.Context, opts Options, root Screen) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	gone := func(err error) {
		if errors.Is(err, io.EOF) {
			err = errNoKeyboard
		}
		end(&terminalGone{err})
	}
	in, closeInput, err := openInput(opts.Input, gone)
	if err != nil {
		return fault.Wrap(fault.Unreachable, "show the console", err, "the process has no terminal").
			WithHint("the same answers are available as commands, with --output json for scripts")
	}
	out, writer := openOutput(opts.Output, gone)

	shell := NewShell(ctx, opts, root)
	defer shell.Close()
	shell.SetTerminal(out)
	sizes := &resizes{now: time.Now}
	defer sizes.stop()
	painter := newPainter(out)
	program := tea.NewProgram(display{shell, painter}, tea.WithAltScreen(), tea.WithoutSignalHandler(),
		tea.WithInput(in), tea.WithOutput(writer), tea.WithFilter(sizes.filter), tea.WithFPS(1)) // the painter has the frames
	sizes.send = program.Send

	ended := make(chan struct{})
	var beside sync.WaitGroup
	beside.Go(func() { tick(ended, func() { program.Send(Tick{}) }) })
	beside.Go(func() { painter.run(ended) })
	beside.Go(func() { pulse(ended, shell.running, pulseEvery, func() { program.Send(Pulse{}) }) })
	beside.Go(func() { pulse(ended, opts.Moved, reportEvery, func() { program.Send(Pulse{}) }) })
	// Bubbletea's own handling of a context abandons its reader of the keyboard,
	// which then swallows the next key; quitting waits for it.
	beside.Go(func() {
		select {
		case <-ctx.Done():
			program.Quit()
		case <-ended:
		}
	})
	_, err = program.Run()
	close(ended)
	beside.Wait()
	if err := outcome(ctx, shell, err); err != nil {
		return err
	}
	if err := closeInput(); err != nil {
		return fault.Wrap(fault.Unreachable, "leave the console", err, "the terminal can't be closed")
	}
	return nil
}

// terminalGone is why the console ends when its terminal does.
type terminalGone struct{ cause error }

func (g *terminalGone) Error() string { return g.cause.Error() }
func (g *terminalGone) Unwrap() error { return g.cause }

// outcome says how the console ended.
func outcome(ctx context.Context, shell *Shell, err error) error {
	var gone *terminalGone
	switch {
	case shell.err != nil:
		return shell.err
	case errors.Is(err, tea.ErrProgramPanic):
		return fault.Wrap(fault.Bug, "show the console", err, defectSentence)
	case shell.gone && err == nil:
		return nil
	case errors.As(context.Cause(ctx), &gone):
		return fault.Wrap(fault.Unreachable, "show the console", gone.cause, "the terminal is gone")
	case err != nil:
		return fault.Wrap(fault.Unreachable, "show the console", err, "the terminal can't be used")
	case ctx.Err() != nil:
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

// pulseEvery is how often the line of a running job changes.
const pulseEvery = 500 * time.Millisecond

// pulse calls send a while after each value of why, and sleeps between them; for
// ever where why is nil.
func pulse(ended, why <-chan struct{}, after time.Duration, send func()) {
	for {
		select {
		case <-ended:
			return
		case <-why:
		}
		timer := time.NewTimer(after)
		select {
		case <-ended:
			timer.Stop()
			return
		case <-timer.C:
			send()
		}
	}
}
