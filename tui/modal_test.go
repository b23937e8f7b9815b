package tui_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/tuitest"
)

// note is a modal that keeps what it was given.
type note struct {
	openings []tui.Opening
	presses  []tui.Press
	sizes    []tui.Size
	then     tui.Cmd
}

func (n *note) Opened(o tui.Opening) { n.openings = append(n.openings, o) }
func (n *note) Resize(s tui.Size)    { n.sizes = append(n.sizes, s) }
func (n *note) View(tui.Size, theme.Theme) string {
	return "┌────┐\n│note│\n└────┘"
}
func (n *note) Keys() []tui.Key { return []tui.Key{{Keys: []string{"enter"}, Help: "close"}} }
func (n *note) Press(p tui.Press) (tui.Cmd, bool) {
	n.presses = append(n.presses, p)
	return n.then, p.Name == "enter"
}

func TestAModalStandsOverTheScreenAndGetsAllKeys(t *testing.T) {
	n := &note{then: tui.Say(theme.OK, "closed")}
	p := &page{name: "Jobs", body: strings.TrimSuffix(strings.Repeat(strings.Repeat("ab", 40)+"\n", 20), "\n")}
	p.keys = []tui.Key{key("o", "open", func() tui.Cmd { return tui.Open(n) })}
	d := tuitest.New(t, orders(), p, 80, 24)
	d.Press("o")
	d.Golden("modal-80x24")
	if len(n.openings) != 1 || n.openings[0].By != "o" {
		t.Errorf("opened %+v", n.openings)
	}
	d.Press("q", "?", ":", "-", "esc", "ctrl+c", "f5")
	d.Burst("qq")
	d.Paste("A\n")
	if d.Exited() || d.Top() != tui.Screen(p) {
		t.Error("a key went past the modal")
	}
	if got := len(n.presses); got != 9 {
		t.Errorf("it got %d keys", got)
	}
	for i, want := range []tui.Press{{Name: "q", Letters: "q"}, {Name: "esc"}, {Letters: "qq", Together: true}, {Letters: "A\n", Together: true, Paste: true}} {
		got := n.presses[[]int{0, 4, 7, 8}[i]]
		got.At, got.Locked = 0, ""
		if got != want {
			t.Errorf("it got %+v, want %+v", got, want)
		}
	}
	if got := n.presses[0].Locked; got != "access is read-only" {
		t.Errorf("locked %q", got)
	}
	d.Press("ctrl+z")
	if d.Suspended() != 1 || len(n.openings) != 2 {
		t.Errorf("suspended %d times, opened %d times", d.Suspended(), len(n.openings))
	}
	d.Resize(59, 24)
	d.Press("enter")
	d.Resize(80, 24)
	if len(n.presses) != 9 || len(n.openings) != 3 {
		t.Errorf("unseen it got %d keys, and was shown %d times", len(n.presses)-9, len(n.openings))
	}
	d.Press("enter")
	if frame := d.Frame(); strings.Contains(frame, "note") || !strings.Contains(frame, "✔ closed") {
		t.Errorf("it is not closed:\n%s", frame)
	}
}

// What led to a modal and what it refused says nothing about the screen below it;
// what was said beside it stays.
func TestAMessageOfAModalGoesWithIt(t *testing.T) {
	n := &note{then: tui.Say(theme.Warning, "that is no offset")}
	p := &page{name: "Jobs", keys: []tui.Key{key("o", "open", func() tui.Cmd {
		return tui.Batch(tui.Say(theme.Plain, "asking once more"), tui.Open(n))
	})}}
	d := tuitest.New(t, orders(), p, 80, 24)
	d.Press("o")
	if frame := d.Frame(); strings.Contains(frame, "asking once more") {
		t.Errorf("what led to it is still said:\n%s", frame)
	}
	d.Press("x")
	if frame := d.Frame(); !strings.Contains(frame, "! that is no offset") {
		t.Errorf("it does not say why:\n%s", frame)
	}
	n.then = nil
	d.Press("enter")
	if frame := d.Frame(); strings.Contains(frame, "that is no offset") {
		t.Errorf("closed, and it still says why:\n%s", frame)
	}

	p.keys = append(p.keys, key("w", "warned", func() tui.Cmd {
		return tui.Batch(tui.Say(theme.Warning, "the connection is lost"), tui.Open(n))
	}))
	d.Press("w", "enter")
	if frame := d.Frame(); !strings.Contains(frame, "! the connection is lost") {
		t.Errorf("what was said beside it is gone:\n%s", frame)
	}
}

func TestKeysThatCameTogetherAndKeysHeldDown(t *testing.T) {
	n := &note{}
	d := tuitest.New(t, tuitest.Plain(), &page{name: "Jobs", keys: []tui.Key{key("o", "open", func() tui.Cmd { return tui.Open(n) })}}, 80, 24)
	d.Press("o")
	for _, step := range []struct {
		key              string
		after            time.Duration
		together, repeat bool
	}{
		{"a", 10 * time.Millisecond, false, false},
		{"b", 9 * time.Millisecond, true, false},
		{"b", 30 * time.Millisecond, false, true},
		{"b", 699 * time.Millisecond, false, true},
		{"b", 700 * time.Millisecond, false, false},
		{"tab", 0, true, false},
	} {
		d.Wait(step.after)
		d.Send(tuitest.Key(t, step.key))
		got := n.presses[len(n.presses)-1]
		if got.Together != step.together || got.Repeat != step.repeat {
			t.Errorf("%s after %s: %+v", step.key, step.after, got)
		}
	}
}

// A late answer neither opens a dialog elsewhere nor moves what is under one.
func TestNothingMovesUnderADialog(t *testing.T) {
	g := newGate()
	n := &note{}
	p := &page{name: "Jobs"}
	late := &page{name: "late"}
	p.keys = []tui.Key{key("o", "open", func() tui.Cmd {
		return tui.Batch(
			tui.Load("late", func(ctx context.Context) (tui.Screen, error) {
				_, err := g.read(ctx)
				return late, err
			}), tui.Open(n), tui.Open(&note{}))
	})}
	d := tuitest.New(t, tuitest.Plain(), p, 80, 24)
	d.Send(letter('o'))
	g.through <- "now"
	d.Settle()
	if d.Top() != tui.Screen(p) || late.inits != 0 {
		t.Error("the screen changed under a dialog")
	}
	d.Press("enter")
	if frame := d.Frame(); strings.Contains(frame, "note") {
		t.Errorf("a second dialog was behind the first:\n%s", frame)
	}
}

func TestPanesAndWrap(t *testing.T) {
	var focus [2]bool
	panes := tui.NewPanes(func(on bool) { focus[0] = on }, func(on bool) { focus[1] = on })
	var wrap tui.Wrap
	p := &page{name: "Job"}
	p.keys = append(panes.Keys(), wrap.Key())
	d := tuitest.New(t, tuitest.Plain(), p, 80, 24)
	for i, step := range []struct {
		key  string
		want [2]bool
	}{{"", [2]bool{true, false}}, {"tab", [2]bool{false, true}}, {"tab", [2]bool{true, false}}, {"shift+tab", [2]bool{false, true}}} {
		if step.key != "" {
			d.Press(step.key)
		}
		if focus != step.want {
			t.Errorf("after step %d the focus is %v", i, focus)
		}
	}
	line := "  partition 3, offset 3,911. \x1b[1mchk-44 reads partition 3 from 3,950\x1b[0m"
	if got := wrap.Lines([]string{line}, 30); len(got) != 1 || got[0] != line {
		t.Errorf("without wrapping %q", got)
	}
	d.Press("w")
	want := []string{"  partition 3, offset", "    3,911. \x1b[1mchk-44 reads\x1b[0m", "    \x1b[1mpartition 3 from 3,950\x1b[0m"}
	got := wrap.Lines([]string{line, "short"}, 30)
	for i := range want {
		if i >= len(got) || strings.TrimRight(got[i], " ") != want[i] {
			t.Errorf("line %d is %q, want %q", i, got[min(i, len(got)-1)], want[i])
		}
	}
	if last := got[len(got)-1]; last != "short" {
		t.Errorf("the last line is %q", last)
	}
}
