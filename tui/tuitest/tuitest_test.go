package tuitest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/dialog"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/tui/vtable"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// keyed is a screen that shows which keys were pressed.
type keyed struct {
	pressed []string
	reads   int
	broken  func(size tui.Size) string
}

func (k *keyed) Init() tui.Cmd      { return nil }
func (k *keyed) Crumb() string      { return "keys" }
func (k *keyed) Status() tui.Status { return tui.Status{Timeless: true} }
func (k *keyed) View(size tui.Size) string {
	if k.broken != nil {
		return k.broken(size)
	}
	return " pressed " + strings.Join(k.pressed, " ")
}

func (k *keyed) Update(msg tui.Msg) tui.Cmd {
	if loaded, ok := msg.(tui.Loaded[int]); ok {
		k.reads += loaded.Value
		if k.reads < 5 {
			return k.load()
		}
	}
	return nil
}

func (k *keyed) load() tui.Cmd {
	return tui.Load("one", func(context.Context) (int, error) { return 1, nil })
}

func (k *keyed) Keys() []tui.Key {
	var keys []tui.Key
	for _, name := range []string{"enter", "space", "a", "b", "up", "pgdown", "ctrl+u", "shift+tab", "é", "f5"} {
		keys = append(keys, tui.Key{Keys: []string{name}, Help: "note " + name, Run: func() tui.Cmd {
			k.pressed = append(k.pressed, name)
			return nil
		}})
	}
	return append(keys,
		tui.Key{Keys: []string{"l"}, Help: "load", Run: k.load},
		tui.Key{Keys: []string{"A"}, Help: "change", Dangerous: true, Run: func() tui.Cmd {
			k.pressed = append(k.pressed, "A")
			return nil
		}})
}

func TestKeysArriveUnderTheirNames(t *testing.T) {
	k := &keyed{}
	d := tuitest.New(t, tuitest.Plain(), k, 80, 24)
	want := []string{"enter", "space", "a", "b", "up", "pgdown", "ctrl+u", "shift+tab", "é", "f5"}
	d.Press(want...)
	if !slices.Equal(k.pressed, want) {
		t.Errorf("pressed %q", k.pressed)
	}
	k.pressed = nil
	d.Type("ab b")
	if got := strings.Join(k.pressed, ","); got != "a,b,space,b" {
		t.Errorf("typed %q", got)
	}
	k.pressed = nil
	d.Burst("abA")
	if got := strings.Join(k.pressed, ","); got != "a,b" {
		t.Errorf("a burst pressed %q", got)
	}
	k.pressed = nil
	d.Together("a", "A")
	d.Hold("A", 60)
	if got := strings.Join(k.pressed, ","); got != "a,A" {
		t.Errorf("together and held: %q", got)
	}
}

// Idle means that nothing is left to do, however long the chain of reads.
func TestItWaitsUntilIdle(t *testing.T) {
	k := &keyed{}
	d := tuitest.New(t, tuitest.Plain(), k, 80, 24)
	d.Send(tuitest.Key(t, "l"))
	if d.Idle() || k.reads != 0 {
		t.Errorf("idle %v after %d reads", d.Idle(), k.reads)
	}
	d.Step()
	if d.Idle() || k.reads != 1 {
		t.Errorf("idle %v after %d reads", d.Idle(), k.reads)
	}
	d.WaitIdle()
	if !d.Idle() || k.reads != 5 {
		t.Errorf("idle %v after %d reads", d.Idle(), k.reads)
	}
}

func TestTimeThatIsShownAndTimeBetweenKeysAreTwo(t *testing.T) {
	d := tuitest.New(t, tuitest.Plain(), &keyed{}, 80, 24)
	d.Press("a", "b", "a")
	d.Wait(time.Hour)
	if !d.Now().Equal(tuitest.Start) {
		t.Errorf("typing moved the clock to %s", d.Now())
	}
	d.Advance(25 * time.Second)
	if got := d.Now().Sub(tuitest.Start); got != 25*time.Second {
		t.Errorf("the clock moved by %s", got)
	}
}

// recorder is a test that may fail without failing this one.
type recorder struct {
	testing.TB
	failures []string
}

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, a ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, a...))
}

func TestItSeesWhatABrokenScreenDoes(t *testing.T) {
	n := 0
	for want, view := range map[string]func(tui.Size) string{
		"View draws two frames of one state": func(tui.Size) string { n++; return fmt.Sprint(n) },
		"a screen can't be drawn":            func(tui.Size) string { panic("no such row") },
	} {
		r := &recorder{TB: t}
		tuitest.New(r, tuitest.Plain(), &keyed{broken: view}, 80, 24).Frame()
		if len(r.failures) == 0 || !strings.Contains(r.failures[0], want) {
			t.Errorf("%q is not seen: %q", want, r.failures)
		}
	}
	r := &recorder{TB: t}
	tuitest.New(r, tuitest.Plain(), clashing{&keyed{}}, 80, 24)
	if len(r.failures) == 0 || !strings.Contains(r.failures[0], `esc is both "back" and "cancel"`) {
		t.Errorf("a clash is not seen: %q", r.failures)
	}
}

type clashing struct{ *keyed }

func (clashing) Keys() []tui.Key { return []tui.Key{{Keys: []string{"esc"}, Help: "cancel"}} }

// busy is a screen with everything that a storm can meet: a table, a filter,
// panes, dialogs, reads that report, other screens, commands.
type busy struct {
	theme theme.Theme
	table *vtable.Table
	panes *tui.Panes
	depth int
	seen  int
	met   *met
}

// met is what a storm met.
type met struct{ screens, reads, dialogs, chosen, yes int }

func newBusy(depth int, met *met) *busy {
	th := tuitest.Plain().Theme
	met.screens++
	b := &busy{theme: th, depth: depth, met: met, table: vtable.New(th, []vtable.Column{{Title: "KEY", Flex: 1}, {Title: "OFFSET", Right: true}}, numbers(depth*1000))}
	b.panes = tui.NewPanes(b.table.Focus, func(bool) {})
	return b
}

type numbers int

func (n numbers) Len() int        { return int(n) }
func (n numbers) ID(i int) string { return fmt.Sprint(i) }
func (n numbers) Row(i int) []vtable.Cell {
	return []vtable.Cell{{Text: fmt.Sprintf("注文-%d", i)}, {Text: tui.Number(int64(i))}}
}
func (n numbers) Detail(i int) []string { return []string{"detail", "of row"}[:i%3%2+1] }

func (b *busy) Init() tui.Cmd      { return b.Reload() }
func (b *busy) Crumb() string      { return fmt.Sprintf("level %d", b.depth) }
func (b *busy) Status() tui.Status { return tui.Status{ReadAt: tuitest.Start} }
func (b *busy) Resize(s tui.Size)  { b.table.Resize(s) }
func (b *busy) View(s tui.Size) string {
	return b.table.View(s)
}

func (b *busy) Reload() tui.Cmd {
	return tui.Follow("rows", func(ctx context.Context, report func(int)) (int, error) {
		report(b.depth)
		return b.depth, ctx.Err()
	})
}

func (b *busy) Update(msg tui.Msg) tui.Cmd {
	if loaded, ok := msg.(tui.Loaded[int]); ok {
		b.seen++
		b.met.reads++
		b.table.SetSource(numbers(b.depth*1000 + b.seen%7 - 3))
		return tui.Say(theme.OK, fmt.Sprintf("read %d: %v", loaded.Value, loaded.Err))
	}
	return nil
}

func (b *busy) Commands() []tui.Command {
	return []tui.Command{{Name: "rollback", Help: "restore", Dangerous: true, Run: func(string) tui.Cmd { return b.confirm() }}}
}

func (b *busy) confirm() tui.Cmd {
	b.met.dialogs++
	return dialog.Confirm{
		Title: "Finish cleanup", Subject: "orders / action-state", Environment: "production", Production: true,
		Lines: []string{strings.Repeat("what it means ", 30)}, Reason: true, Phrase: "orders/action-state 3f9c21aa", Action: "Apply",
	}.Open(func(dialog.Consent) tui.Cmd {
		b.met.yes++
		return nil
	})
}

func (b *busy) Keys() []tui.Key {
	return slices.Concat([]tui.Key{
		{Keys: []string{"enter"}, Help: "open", Run: func() tui.Cmd { return tui.Push(newBusy(b.depth%4+1, b.met)) }},
		{Keys: []string{"A"}, Help: "apply…", Dangerous: true, Run: b.confirm},
		{Keys: []string{"S"}, Help: "ask…", Run: func() tui.Cmd {
			return dialog.Ask{Title: "Stop?", Choices: []dialog.Choice{{Label: "keep"}, {Label: "stop", Help: strings.Repeat("why ", 40)}}}.
				Open(func(int) tui.Cmd {
					b.met.chosen++
					return tui.Pop()
				})
		}},
		{Keys: []string{"K"}, Help: "find…", Run: func() tui.Cmd {
			return dialog.Text{Title: "Find", Label: "Key"}.Open(func(key string) tui.Cmd {
				b.table.Select(key)
				return nil
			})
		}},
		tui.CopyKey(func() (string, string) { return "a row", "row" }),
	}, b.panes.Keys(), b.table.Keys())
}

func TestStorm(t *testing.T) {
	var m met
	tuitest.Storm(t, func() tui.Screen { return newBusy(3, &m) })
	t.Logf("met %+v", m)
	if m.yes > 0 {
		t.Error("a storm said yes")
	}
	if m.screens < 50 || m.reads < 50 || m.dialogs < 20 || m.chosen < 1 {
		t.Errorf("the storm hardly reaches anything: %+v", m)
	}
}
