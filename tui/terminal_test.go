package tui_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/vtable"
)

// rows are a table of any length.
type rows int

func (r rows) Len() int        { return int(r) }
func (r rows) ID(i int) string { return strconv.Itoa(i) }
func (r rows) Row(i int) []vtable.Cell {
	return []vtable.Cell{{Text: fmt.Sprintf("order-%07d", i)}, {Text: tui.Number(int64(i) * 3)}, {Text: "payments.charge#0"}, {Text: "RUNS AGAIN", Tone: theme.Error}}
}
func (r rows) Detail(i int) []string {
	return []string{fmt.Sprintf("partition %d, offset %s: the record is before its marker", i%64, tui.Number(int64(i)*3))}
}

// list is a screen with a table.
type list struct {
	*page
	table *vtable.Table
}

func newList(n int, th theme.Theme) list {
	return list{&page{name: "calls", status: tui.Status{ReadAt: time.Now()}}, vtable.New(th, []vtable.Column{
		{Title: "KEY", Min: 16, Flex: 1}, {Title: "OFFSET", Right: true}, {Title: "CALL"}, {Title: "OUTCOME"},
	}, rows(n))}
}

func (l list) View(size tui.Size) string { return l.table.View(size) }
func (l list) Resize(size tui.Size)      { l.table.Resize(size) }
func (l list) Keys() []tui.Key           { return l.table.Keys() }

// childFault and a fault's kind are how a child ends that ran into one.
const childFault = 100

// child is the console of a process of its own, for what a process does to
// itself. It ends with 0 when the operator leaves. A session's leader is told by
// SIGHUP that its terminal is gone; that is its caller's, and is not heard here.
func child() int {
	signal.Ignore(syscall.SIGHUP)
	th := theme.New(theme.FromEnv(os.Getenv))
	opts := tui.Options{Theme: th, Header: orders().Header}
	if err := tui.Run(context.Background(), opts, newList(1_000_000, th)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return childFault + int(fault.KindOf(err))
	}
	return 0
}

// startChild starts this test's program as a console on a terminal of its own.
func startChild(t *testing.T) (*exec.Cmd, *terminal) {
	t.Helper()
	c := newTerminal(t)
	cmd := startOn(t, c.side)
	c.waitFor("order-0000003")
	return cmd, c
}

func startOn(t *testing.T, side *os.File) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childVariable+"=1", "TERM=xterm-256color", "LANG=C.UTF-8", "CI=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = side, side, side
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended, unless the test failed
	return cmd
}

// forget empties what was written to the terminal so far.
func (c *terminal) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written.Reset()
}

func (c *terminal) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.written.Len()
}

// quiet waits until nothing is written any more.
func (c *terminal) quiet() {
	for before := -1; before != c.count(); time.Sleep(40 * time.Millisecond) {
		before = c.count()
	}
}

func TestTheFrameIsDrawnAnewAfterASuspension(t *testing.T) {
	cmd, c := startChild(t)
	c.quiet()
	c.forget()
	c.press("\x1a")
	c.waitFor(leavesAltScreen)
	c.waitFor(showsCursor)
	c.forget()
	for !c.has(entersAltScreen) { // a signal that comes before it is waited for is lost
		if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	c.waitFor("order-0000000")
	c.waitFor("order-0000012") // and every other line
	c.press("q")
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v: %s", err, c.written.String())
	}
}

func TestTheConsoleEndsWhenItsTerminalIsGone(t *testing.T) {
	t.Run("hung up", func(t *testing.T) {
		master, side, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		if err := pty.Setsize(master, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
			t.Fatal(err)
		}
		cmd := startOn(t, side)
		var written []byte
		for buf := make([]byte, 4096); !strings.Contains(string(written), "order-0000003"); {
			n, err := master.Read(buf)
			if err != nil {
				t.Fatal(err)
			}
			written = append(written, buf[:n]...)
		}
		if err := errors.Join(side.Close(), master.Close()); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Fatal("it goes on without a terminal")
		}
		if got, want := cmd.ProcessState.ExitCode(), childFault+int(fault.Unreachable); got != want {
			t.Errorf("it ended with %d, want %d", got, want)
		}
	})
	t.Run("the keyboard's side closed", func(t *testing.T) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		opts := orders()
		opts.Input, opts.Output = r, io.Discard
		ended := make(chan error, 1)
		g := newGate()
		go func() { ended <- tui.Run(context.Background(), opts, &page{name: "Jobs", read: g.read}) }()
		<-g.begun
		if _, err := w.WriteString("j"); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		select {
		case err = <-ended:
		case <-time.After(time.Minute):
			t.Fatal("it goes on without a keyboard")
		}
		if fault.KindOf(err) != fault.Unreachable || !strings.Contains(err.Error(), "the terminal is gone") {
			t.Errorf("got %v", err)
		}
		<-g.ended // what it read was cancelled
	})
	t.Run("the screen's side broken", func(t *testing.T) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		defer r.Close()
		opts := orders()
		broken := errors.New("input/output error")
		opts.Input, opts.Output = r, failing{broken}
		ended := make(chan error, 1)
		go func() { ended <- tui.Run(context.Background(), opts, &page{name: "Jobs"}) }()
		select {
		case err = <-ended:
		case <-time.After(time.Minute):
			t.Fatal("it goes on unseen")
		}
		if fault.KindOf(err) != fault.Unreachable || !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
	})
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestAProcessWithoutATerminalIsToldSo(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childVariable+"=1", "TERM=xterm-256color", "CI=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Run(); err == nil {
		t.Fatal("it ran")
	}
	if got, want := cmd.ProcessState.ExitCode(), childFault+int(fault.Unreachable); got != want || !strings.Contains(said.String(), "the process has no terminal") {
		t.Errorf("it ended with %d, want %d, and said %q", got, want, said.String())
	}
}

func TestAnswersOfTheTerminalPressNoKeys(t *testing.T) {
	c := newTerminal(t)
	var pressed []string
	p := &page{name: "Jobs"}
	for _, name := range strings.Split("rgbefqj[]?;c0123456789/\\", "") {
		if slices.Contains([]string{"r", "q", "?"}, name) {
			continue
		}
		p.keys = append(p.keys, key(name, "note", func() tui.Cmd {
			pressed = append(pressed, name)
			return tui.Say(theme.OK, "pressed "+strings.Join(pressed, ""))
		}))
	}
	ended := c.run(context.Background(), p)
	c.waitFor("Jobs shows []")
	c.press("\x1b]11;rgb:fefe/fefe/efef\x1b\\")
	c.press("\x1b[?1;2c\x1b[I\x1b[O\x1b[24;80R\x1b[97;5u")
	c.press("\x1bP>|xterm(395)\x1b\\")
	time.Sleep(300 * time.Millisecond)
	c.press("j")
	c.waitFor("pressed j")
	c.press("q")
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := strings.Join(pressed, ""); got != "j" {
		t.Errorf("pressed %q", got)
	}
}

// The terminal is asked nothing and its mouse is left alone.
func TestTheTerminalIsAskedNothing(t *testing.T) {
	c := newTerminal(t)
	ended := c.run(context.Background(), &page{name: "Jobs"})
	c.waitFor("Jobs shows []")
	c.press("q")
	if err := <-ended; err != nil {
		t.Error(err)
	}
	c.quiet()
	for _, sequence := range []string{"\x1b]", "\x1b[6n", "\x1b[c", "\x1bP", "\x1b[?1000h", "\x1b[?1002h", "\x1b[?1003h", "\x1b[?1004h"} {
		if strings.Contains(c.written.String(), sequence) {
			t.Errorf("it wrote %q", sequence)
		}
	}
}

func TestAStormOfResizes(t *testing.T) {
	c := newTerminal(t)
	ended := c.run(context.Background(), newList(1_000_000, orders().Theme))
	c.waitFor("order-0000003")
	c.quiet()
	c.forget()
	begin := time.Now()
	for i := range 1000 {
		if err := pty.Setsize(c.master, &pty.Winsize{Rows: 24, Cols: uint16(100 + i%60)}); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(os.Getpid(), syscall.SIGWINCH); err != nil {
			t.Fatal(err)
		}
	}
	if err := pty.Setsize(c.master, &pty.Winsize{Rows: 30, Cols: 90}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGWINCH); err != nil {
		t.Fatal(err)
	}
	c.press("G")
	c.waitFor("order-0999976") // the first of the last 24
	took := time.Since(begin)
	c.quiet()
	frame := 160 * 24
	if got, limit := c.count(), frame*(int(took/(40*time.Millisecond))+5); got > limit {
		t.Errorf("%d bytes in %s, more than %d", got, took, limit)
	}
	c.press("q")
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// What a key costs a slow line: the bytes of the real renderer at 80×24.
func TestAKeyWritesLittle(t *testing.T) {
	c := newTerminal(t)
	ended := c.run(context.Background(), newList(1_000_000, theme.New(theme.Options{Palette: theme.Dark, Colors: colors256})))
	c.waitFor("order-0000003")
	c.quiet()
	var sizes []int
	for _, keys := range []string{"j", "j", "j", "k", "j", "\x1b[6~", "j", "k", "\x1b[5~", "G", "k", "g", "j", "j", "j", "k", "k", "j", "\x1b[6~", "\x1b[6~", "j"} {
		c.forget()
		c.press(keys)
		c.waitFor("\x1b") // it is drawn
		c.quiet()
		sizes = append(sizes, c.count())
	}
	c.press("q")
	if err := <-ended; err != nil {
		t.Error(err)
	}
	slices.Sort(sizes)
	median, most := sizes[len(sizes)/2], sizes[len(sizes)-1]
	t.Logf("bytes written for a key: median %d, at most %d", median, most)
	if median == 0 || median >= 4096 {
		t.Errorf("the median is %d bytes", median)
	}
	if most >= 16<<10 {
		t.Errorf("one key wrote %d bytes", most)
	}
}
