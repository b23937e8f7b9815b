package tui_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui"
)

// terminal is a pseudo terminal of 80×24 and all that was written to it.
type terminal struct {
	t            *testing.T
	master, side *os.File
	before       *term.State
	mu           sync.Mutex
	written      bytes.Buffer
	wrote        chan struct{}
}

func newTerminal(t *testing.T) *terminal {
	t.Helper()
	master, side, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	term, err := term.GetState(int(side.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	c := &terminal{t: t, master: master, side: side, before: term, wrote: make(chan struct{}, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			if err != nil {
				return
			}
			c.mu.Lock()
			c.written.Write(buf[:n])
			c.mu.Unlock()
			select {
			case c.wrote <- struct{}{}:
			default:
			}
		}
	}()
	t.Cleanup(func() {
		_ = side.Close() // the reader ends when both sides are closed
		_ = master.Close()
		<-done
	})
	return c
}

// has reports whether a text was written since what was written was forgotten.
func (c *terminal) has(text string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Contains(c.written.Bytes(), []byte(text))
}

func (c *terminal) waitFor(text string) {
	c.t.Helper()
	limit := time.After(time.Minute)
	for {
		if c.has(text) {
			return
		}
		select {
		case <-c.wrote:
		case <-limit:
			c.t.Fatalf("%q does not appear in %q", text, c.written.String())
		}
	}
}

// press sends keys, as a person does: not at the moment in which the answer to
// the last ones appeared.
func (c *terminal) press(keys string) {
	c.t.Helper()
	time.Sleep(30 * time.Millisecond)
	if _, err := c.master.WriteString(keys); err != nil {
		c.t.Fatal(err)
	}
}

const (
	entersAltScreen = "\x1b[?1049h"
	leavesAltScreen = "\x1b[?1049l"
	showsCursor     = "\x1b[?25h"
)

func (c *terminal) isRestored() {
	c.t.Helper()
	c.waitFor(leavesAltScreen)
	c.waitFor(showsCursor)
	after, err := term.GetState(int(c.side.Fd()))
	if err != nil {
		c.t.Fatal(err)
	}
	if *after != *c.before {
		c.t.Error("the terminal's modes are not as before")
	}
}

func (c *terminal) run(ctx context.Context, root tui.Screen) <-chan error {
	opts := orders()
	opts.Input, opts.Output = c.side, c.side
	ended := make(chan error, 1)
	go func() { ended <- tui.Run(ctx, opts, root) }()
	return ended
}

func TestRunShowsAFrameBeforeAnyAnswerAndRestoresTheTerminal(t *testing.T) {
	c, g := newTerminal(t), newGate()
	ended := c.run(context.Background(), &page{name: "Jobs", read: g.read})
	c.waitFor(entersAltScreen)
	c.waitFor("Jobs shows []")
	g.through <- "answer"
	c.waitFor("text=answer")
	c.press("q")
	if err := <-ended; err != nil {
		t.Errorf("leaving: %v", err)
	}
	c.isRestored()
}

func TestCtrlCEndsAReadThatHangs(t *testing.T) {
	c, g := newTerminal(t), newGate()
	ended := c.run(context.Background(), &page{name: "Jobs", read: g.read})
	c.waitFor("Jobs shows []")
	<-g.begun
	c.press("\x03")
	if err := <-ended; err != nil {
		t.Errorf("leaving: %v", err)
	}
	if err := <-g.ended; err == nil {
		t.Error("the read went on")
	}
	c.isRestored()
}

func TestRunEndsWithItsContext(t *testing.T) {
	c, g := newTerminal(t), newGate()
	ctx, cancel := context.WithCancelCause(context.Background())
	ended := c.run(ctx, &page{name: "Jobs", read: g.read})
	c.waitFor("Jobs shows []")
	<-g.begun
	hangup := errors.New("the terminal hung up")
	cancel(hangup)
	err := <-ended
	if fault.KindOf(err) != fault.Cancelled || !errors.Is(err, hangup) {
		t.Errorf("got %v", err)
	}
	<-g.ended
	c.isRestored()
}

func TestAPanicRestoresTheTerminal(t *testing.T) {
	c := newTerminal(t)
	ended := c.run(context.Background(), &page{name: "Jobs", keys: []tui.Key{
		key("n", "next", func() tui.Cmd { panic("a bug in a screen") }),
	}})
	c.waitFor("Jobs shows []")
	c.press("n")
	err := <-ended
	if fault.KindOf(err) != fault.Bug || !strings.Contains(err.Error(), "a bug in a screen (run_test.go:") {
		t.Errorf("got %v", err)
	}
	c.isRestored()
}
