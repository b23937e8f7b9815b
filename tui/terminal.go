package tui

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"golang.org/x/term"
)

// input is the keyboard's side of the terminal. Bubbletea gets what keys sent,
// and the console learns when nothing will come any more, of which bubbletea
// says nothing.
type input struct {
	from  io.Reader
	ended func(error)
	start time.Time

	replies replies
}

func (in *input) Read(p []byte) (int, error) {
	room := in.replies.room()
	if len(p) <= room {
		return 0, io.ErrShortBuffer
	}
	buf := make([]byte, len(p)-room)
	n, err := in.from.Read(buf)
	out := in.replies.filter(buf[:n], time.Since(in.start))
	if err != nil {
		in.ended(err)
	}
	return copy(p, out), err
}

// fileInput is an input that bubbletea can set to raw mode and stop waiting for.
type fileInput struct {
	*os.File
	input *input
}

func (f fileInput) Read(p []byte) (int, error) { return f.input.Read(p) }

// openInput wraps the operator's keyboard: what was given, else standard input
// where that is a terminal, else the terminal of the process.
func openInput(given io.Reader, ended func(error)) (io.Reader, func() error, error) {
	closed := func() error { return nil }
	if given == nil {
		given = os.Stdin
		if !term.IsTerminal(int(os.Stdin.Fd())) {
			tty, err := os.Open("/dev/tty")
			if err != nil {
				return nil, nil, err
			}
			given, closed = tty, tty.Close
		}
	}
	in := &input{from: given, ended: ended, start: time.Now()}
	if file, ok := given.(*os.File); ok {
		return fileInput{file, in}, closed, nil
	}
	return in, closed, nil
}

// output is the screen's side of the terminal: frames and clipboard sequences
// are written whole, one after another. An error ends the console: nobody sees
// it any more.
type output struct {
	mu    sync.Mutex
	to    io.Writer
	ended func(error)
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.to.Write(p)
	if err != nil {
		o.ended(err)
	}
	return n, err
}

// fileOutput is an output whose size bubbletea can ask for.
type fileOutput struct {
	*os.File
	output *output
}

func (f fileOutput) Write(p []byte) (int, error)       { return f.output.Write(p) }
func (f fileOutput) WriteString(s string) (int, error) { return f.output.Write([]byte(s)) }

func openOutput(given io.Writer, ended func(error)) io.Writer {
	if given == nil {
		given = os.Stdout
	}
	out := &output{to: given, ended: ended}
	if file, ok := given.(*os.File); ok {
		return fileOutput{file, out}
	}
	return out
}

// errNoKeyboard is what the console ends with at the end of its input.
var errNoKeyboard = errors.New("the keyboard's side of the terminal was closed")

// resizes lets only the last of many sizes through that come in a short time: a
// window that is dragged sends hundreds, and each is a whole frame.
type resizes struct {
	send func(tea.Msg)
	now  func() time.Time

	mu      sync.Mutex
	passed  time.Time // when a size was let through last
	held    *tea.WindowSizeMsg
	release *tea.WindowSizeMsg // a held size that is on its way through
	timer   *time.Timer
}

// resizePause is how long sizes are held together.
const resizePause = 40 * time.Millisecond

// filter is asked for every message, in the console's goroutine.
func (r *resizes) filter(_ tea.Model, msg tea.Msg) tea.Msg {
	size, ok := msg.(tea.WindowSizeMsg)
	if !ok {
		return msg
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.release != nil && *r.release == size {
		r.release = nil
		r.passed = r.now()
		return msg
	}
	if r.timer == nil && r.now().Sub(r.passed) >= resizePause {
		r.passed = r.now()
		return msg
	}
	r.held = &size
	if r.timer == nil {
		r.timer = time.AfterFunc(resizePause, r.let)
	}
	return nil
}

// let sends the last size that was held.
func (r *resizes) let() {
	r.mu.Lock()
	size := r.held
	r.held, r.release, r.timer = nil, size, nil
	r.mu.Unlock()
	if size != nil {
		r.send(*size)
	}
}

// stop waits for no size any more.
func (r *resizes) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timer != nil {
		r.timer.Stop()
	}
}
