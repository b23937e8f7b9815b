package tui

import (
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
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

// output is the screen's side of the terminal: everything is written whole, one
// after another. An error ends the console: nobody sees it any more.
//
// Bubbletea switches the terminal between the console's screen and the
// operator's own, at the beginning and the end and around a suspension. Frames
// are let through only on the console's, and bubbletea's own frames never.
type output struct {
	mu    sync.Mutex
	to    io.Writer
	ended func(error)

	ours    bool // the terminal shows the console's screen
	unknown bool // what is on it was not written by paint
}

// bubbleteaFrame begins what bubbletea writes for a frame. A longer text than
// this is one: its other sequences are written one by one.
const bubbleteaFrame = ansi.CursorHomePosition

// Write writes what bubbletea does to the terminal, and clipboard sequences.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch text := string(p); {
	case len(text) > len(bubbleteaFrame) && strings.HasPrefix(text, bubbleteaFrame):
		return len(p), nil
	case strings.Contains(text, ansi.SetModeAltScreenSaveCursor):
		o.ours, o.unknown = true, true
	case strings.Contains(text, ansi.ResetModeAltScreenSaveCursor):
		o.ours = false
	}
	return o.write(p)
}

// paint writes what draw returns, where a frame may be written. Draw is told
// whether the terminal may show anything.
func (o *output) paint(draw func(unknown bool) string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.ours {
		return
	}
	text := draw(o.unknown)
	o.unknown = false
	if text != "" {
		_, _ = o.write([]byte(text)) // an error has ended the console
	}
}

func (o *output) write(p []byte) (int, error) {
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

// openOutput wraps what was given, else standard output. Bubbletea gets the
// writer.
func openOutput(given io.Writer, ended func(error)) (*output, io.Writer) {
	if given == nil {
		given = os.Stdout
	}
	out := &output{to: given, ended: ended}
	if file, ok := given.(*os.File); ok {
		return out, fileOutput{file, out}
	}
	return out, out
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
