package tuitest

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
)

// Start is what the clock of a Driver shows at first.
var Start = time.Date(2024, time.May, 14, 14, 3, 0, 0, time.UTC)

// settleLimit is when a command counts as one that never ends.
const settleLimit = time.Minute

// Driver holds a shell and what it is still doing. It is used from one
// goroutine.
type Driver struct {
	t       testing.TB
	shell   *tui.Shell
	size    tui.Size
	now     time.Time
	elapsed time.Duration  // what the shell tells typing from arriving by
	copied  clipboard      // what went to the terminal beside frames
	pending []chan tea.Msg // in the order in which they were issued
	exited  bool

	checked      []string // the lines of the frame that was checked last
	checkedWidth int      // of the terminal then
	suspended    int
}

// New starts root at a size and runs it until it is idle. Options without a
// clock get the driver's.
func New(t testing.TB, opts tui.Options, root tui.Screen, width, height int) *Driver {
	t.Helper()
	d := NewBusy(t, opts, root, width, height)
	d.Settle()
	return d
}

// NewBusy is New without waiting for the reads of root: Settle does that.
func NewBusy(t testing.TB, opts tui.Options, root tui.Screen, width, height int) *Driver {
	t.Helper()
	d := &Driver{t: t, now: Start}
	if opts.Now == nil {
		opts.Now = func() time.Time { return d.now }
	}
	if opts.Elapsed == nil {
		opts.Elapsed = func() time.Duration { return d.elapsed }
	}
	ctx, cancel := context.WithCancel(context.Background())
	d.shell = tui.NewShell(ctx, opts, root)
	d.shell.SetTerminal(&d.copied)
	t.Cleanup(func() {
		cancel()
		d.shell.Close()
		for _, p := range d.pending {
			d.wait(p)
		}
	})
	d.run(d.shell.Init())
	d.size = tui.Size{Width: width, Height: height}
	d.Send(tea.WindowSizeMsg{Width: width, Height: height})
	return d
}

// Plain are options that write no escape sequences.
func Plain() tui.Options {
	return tui.Options{Theme: theme.New(theme.Options{Palette: theme.NoStyle})}
}

// typist is the pause before each key of Press and Type: longer than any that
// the console would take for a key that is held down.
const typist = time.Second

// Press presses keys one after another ("j", "enter", "ctrl+c", "space"), as a
// person does who waits for each, and lets the console settle after each.
func (d *Driver) Press(keys ...string) {
	d.t.Helper()
	for _, key := range keys {
		d.Wait(typist)
		d.Send(Key(d.t, key))
		d.Settle()
	}
}

// Type types text letter by letter.
func (d *Driver) Type(text string) {
	d.t.Helper()
	for _, r := range text {
		if r == ' ' {
			d.Press("space")
			continue
		}
		d.Press(string(r))
	}
}

// Together presses keys between which no time passes, each its own message: as
// control keys arrive that were pasted, or held up by a slow line.
func (d *Driver) Together(keys ...string) {
	d.t.Helper()
	d.Wait(typist)
	for _, key := range keys {
		d.Send(Key(d.t, key))
		d.Settle()
	}
}

// Hold holds a key down: pressed once, and after half a second repeated 30 times
// a second.
func (d *Driver) Hold(key string, repeats int) {
	d.t.Helper()
	d.Press(key)
	d.Wait(500 * time.Millisecond)
	for range repeats {
		d.Send(Key(d.t, key))
		d.Settle()
		d.Wait(33 * time.Millisecond)
	}
}

// Wait lets time pass between keys. The clock that is shown stays: Advance moves
// that.
func (d *Driver) Wait(pause time.Duration) { d.elapsed += pause }

// Burst presses letters that arrive in one read.
func (d *Driver) Burst(letters string) {
	d.t.Helper()
	d.Wait(typist)
	d.Send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(letters)})
	d.Settle()
}

// Paste pastes text as a terminal with bracketed paste does.
func (d *Driver) Paste(text string) {
	d.t.Helper()
	d.Wait(typist)
	d.Send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text), Paste: true})
	d.Settle()
}

// PasteCut sends the beginning of a paste that was too long, as the console's input
// marks it.
func (d *Driver) PasteCut(text string) {
	d.t.Helper()
	d.Paste(text + "\uFDD0")
}

// Resize changes the size of the terminal.
func (d *Driver) Resize(width, height int) {
	d.t.Helper()
	d.size = tui.Size{Width: width, Height: height}
	d.Send(tea.WindowSizeMsg{Width: width, Height: height})
	d.Settle()
}

// Advance moves the driver's clock in steps of a tick, as an idle console sees
// time pass.
func (d *Driver) Advance(by time.Duration) {
	d.t.Helper()
	for end := d.now.Add(by); d.now.Before(end); {
		d.now = d.now.Add(min(10*time.Second, end.Sub(d.now)))
		d.Send(tui.Tick{})
	}
	d.Settle()
}

// Now is the driver's clock.
func (d *Driver) Now() time.Time { return d.now }

// Send gives the console one message and starts what follows from it, without
// waiting for it.
func (d *Driver) Send(msg tea.Msg) {
	d.t.Helper()
	if d.exited {
		return
	}
	_, cmd := d.shell.Update(msg)
	if err := d.shell.Err(); err != nil {
		d.t.Fatal(err)
	}
	d.run(cmd)
}

// WaitIdle is Settle: a test waits until nothing is left to do, never for a text
// to appear or for time to pass.
func (d *Driver) WaitIdle() {
	d.t.Helper()
	d.Settle()
}

// Idle reports whether nothing is left to do.
func (d *Driver) Idle() bool { return len(d.pending) == 0 }

// Settle runs the console until nothing is left to do. Answers are delivered in
// the order in which they were asked for, so that a test runs the same each
// time.
func (d *Driver) Settle() {
	d.t.Helper()
	for len(d.pending) > 0 {
		d.Step()
	}
	if clashes := tui.Clashes(d.shell.Top().Keys()); len(clashes) > 0 {
		d.t.Errorf("screen %q: %s", d.shell.Top().Crumb(), strings.Join(clashes, "; "))
	}
}

// Step waits for the oldest command and delivers its answer: for tests of what
// is shown while something still runs.
func (d *Driver) Step() {
	d.t.Helper()
	if len(d.pending) == 0 {
		d.t.Fatal("nothing is running")
	}
	next := d.pending[0]
	d.pending = d.pending[1:]
	d.deliver(d.wait(next))
}

// Next waits for whichever command answers first and delivers its answer: for
// tests of what is shown while a read runs that reports on its way.
func (d *Driver) Next() {
	d.t.Helper()
	if len(d.pending) == 0 {
		d.t.Fatal("nothing is running")
	}
	timer := time.NewTimer(settleLimit)
	defer timer.Stop()
	cases := []reflect.SelectCase{{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(timer.C)}}
	for _, p := range d.pending {
		cases = append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(p)})
	}
	chosen, answer, _ := reflect.Select(cases)
	if chosen == 0 {
		d.t.Fatalf("no command ended within %s", settleLimit)
	}
	d.pending = slices.Delete(d.pending, chosen-1, chosen)
	msg, _ := answer.Interface().(tea.Msg) // nil where a command brings nothing
	d.deliver(msg)
}

// deliver gives the console the answer of a command.
func (d *Driver) deliver(answer tea.Msg) {
	d.t.Helper()
	switch msg := answer.(type) {
	case nil:
	case tea.BatchMsg:
		for _, cmd := range msg {
			d.run(cmd)
		}
	case tea.QuitMsg:
		d.exited = true
	case tea.SuspendMsg:
		d.suspended++
		d.Send(tea.ResumeMsg{})
	default:
		d.Send(msg)
	}
}

// Clipboard is what went to the terminal beside frames: clipboard sequences.
func (d *Driver) Clipboard() string { return d.copied.String() }

// Exited reports whether the console was left.
func (d *Driver) Exited() bool { return d.exited }

// Suspended is how often the console was suspended.
func (d *Driver) Suspended() int { return d.suspended }

// Top is the screen that is shown.
func (d *Driver) Top() tui.Screen { return d.shell.Top() }

// Frame is what the terminal shows, without colours and without spaces at the
// ends of lines.
func (d *Driver) Frame() string {
	d.t.Helper()
	lines := strings.Split(ansi.Strip(d.Styled()), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

// Styled is the frame with its escape sequences.
func (d *Driver) Styled() string {
	d.t.Helper()
	return d.check(true)
}

// check is the frame, after what must hold of every frame has been looked at;
// twice draws it a second time, which must be the same.
func (d *Driver) check(twice bool) string {
	d.t.Helper()
	frame := d.shell.View()
	if twice {
		if again := d.shell.View(); again != frame {
			d.t.Errorf("View draws two frames of one state:\n%s\n%s", frame, again)
		}
	}
	if strings.Contains(frame, "a defect in this program") {
		d.t.Errorf("a screen can't be drawn:\n%s", frame)
	}
	lines := strings.Split(frame, "\n")
	if len(lines) > max(d.size.Height, 1) {
		d.t.Errorf("%d lines on a terminal of %d", len(lines), d.size.Height)
	}
	before, width := d.checked, d.checkedWidth
	d.checked, d.checkedWidth = lines, d.size.Width
	for i, line := range lines {
		if width == d.size.Width && i < len(before) && before[i] == line {
			continue
		}
		if w := ansi.StringWidth(line); w > d.size.Width {
			d.t.Errorf("%d cells on a terminal of %d: %q", w, d.size.Width, line)
		}
	}
	return frame
}

// Golden compares the frame with testdata/<name>.golden.
func (d *Driver) Golden(name string) {
	d.t.Helper()
	Golden(d.t, name, d.Frame())
}

func (d *Driver) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	answer := make(chan tea.Msg, 1)
	d.pending = append(d.pending, answer)
	go func() { answer <- cmd() }()
}

func (d *Driver) wait(answer <-chan tea.Msg) tea.Msg {
	d.t.Helper()
	timer := time.NewTimer(settleLimit)
	defer timer.Stop()
	select {
	case msg := <-answer:
		return msg
	case <-timer.C:
		d.t.Fatalf("a command did not end within %s", settleLimit)
		return nil
	}
}

// Key is bubbletea's message for a key with this name, for Send.
func Key(t testing.TB, name string) tea.KeyMsg {
	t.Helper()
	if name == "space" {
		return tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}
	}
	if letters := []rune(name); len(letters) == 1 {
		return tea.KeyMsg{Type: tea.KeyRunes, Runes: letters}
	}
	// Bubbletea numbers the named keys from a negative number to DEL.
	for kind := tea.KeyType(-100); kind <= tea.KeyBackspace; kind++ {
		if kind != tea.KeyRunes && kind.String() == name {
			return tea.KeyMsg{Type: kind}
		}
	}
	t.Fatalf("no key is named %q", name)
	return tea.KeyMsg{}
}
