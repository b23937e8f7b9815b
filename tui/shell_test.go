package tui_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/tuitest"
)

// gate is a read that a test lets through when it wants to.
type gate struct {
	begun   chan struct{} // closed when the read has begun: one that never did is not cancelled either
	through chan string
	ended   chan error // the context's error when the read was cancelled
}

func newGate() *gate {
	return &gate{begun: make(chan struct{}), through: make(chan string, 1), ended: make(chan error, 1)}
}

func (g *gate) read(ctx context.Context) (string, error) {
	close(g.begun)
	select {
	case text := <-g.through:
		return text, nil
	case <-ctx.Done():
		g.ended <- ctx.Err()
		return "too late", ctx.Err()
	}
}

func TestFirstFrameDoesNotWaitForAnAnswer(t *testing.T) {
	g := newGate()
	d := tuitest.NewBusy(t, orders(), &page{name: "Jobs", read: g.read}, 80, 24)
	d.Golden("first-frame-80x24")
	g.through <- "answer"
	d.Settle()
	if frame := d.Frame(); !strings.Contains(frame, `Jobs shows ["text=answer"]`) {
		t.Errorf("the answer is not shown:\n%s", frame)
	}
}

func TestReadsAreCancelledWhenTheirScreenLeaves(t *testing.T) {
	g := newGate()
	job := &page{name: "order-agent", read: g.read}
	d := tuitest.NewBusy(t, orders(), &page{name: "Jobs", keys: opens(job)}, 80, 24)
	d.Settle()
	d.Send(keyN)
	<-g.begun
	d.Send(keyEsc)
	d.Settle()
	if err := <-g.ended; err == nil {
		t.Error("the read went on")
	}
	if len(job.got) != 0 {
		t.Errorf("a screen that left got %q", job.got)
	}
}

func TestStaleAnswersAreDropped(t *testing.T) {
	t.Run("after a reload", func(t *testing.T) {
		first, second := newGate(), newGate()
		p := reloading{&page{name: "Jobs", read: first.read}}
		d := tuitest.NewBusy(t, orders(), p, 80, 24)
		<-first.begun
		p.read = second.read
		d.Send(keyR)
		<-first.ended
		second.through <- "new"
		d.Settle()
		if want := []string{"text=new"}; !slices.Equal(p.got, want) {
			t.Errorf("got %q, want %q", p.got, want)
		}
	})
	t.Run("after another read in the same slot", func(t *testing.T) {
		first, second := newGate(), newGate()
		p := &page{name: "Jobs", read: first.read}
		p.keys = []tui.Key{key("d", "details", func() tui.Cmd { return tui.Load("text", second.read) })}
		d := tuitest.NewBusy(t, orders(), p, 80, 24)
		// The first answer is on its way already: cancelling comes too late.
		first.through <- "old"
		second.through <- "new"
		d.Send(letter('d'))
		d.Settle()
		if want := []string{"text=new"}; !slices.Equal(p.got, want) {
			t.Errorf("got %q, want %q", p.got, want)
		}
	})
	t.Run("but slots don't disturb each other", func(t *testing.T) {
		first, second := newGate(), newGate()
		p := &page{name: "Jobs", read: first.read}
		p.keys = []tui.Key{key("d", "details", func() tui.Cmd { return tui.Load("other", second.read) })}
		d := tuitest.NewBusy(t, orders(), p, 80, 24)
		d.Send(letter('d'))
		first.through <- "a"
		second.through <- "b"
		d.Settle()
		if want := []string{"text=a", "other=b"}; !slices.Equal(p.got, want) {
			t.Errorf("got %q, want %q", p.got, want)
		}
	})
}

func TestCoveredScreenGetsItsAnswerButMovesNothing(t *testing.T) {
	g := newGate()
	answered := &page{name: "late"}
	home := &page{name: "Jobs"}
	home.keys = []tui.Key{key("n", "next", func() tui.Cmd {
		return tui.Batch(
			tui.Load("late", func(ctx context.Context) (tui.Screen, error) {
				_, err := g.read(ctx)
				return answered, err
			}),
			tui.Load("text", func(context.Context) (string, error) { return "kept", nil }),
			tui.Push(&page{name: "order-agent"}),
		)
	})}
	d := tuitest.New(t, orders(), home, 80, 24)
	d.Send(keyN)
	g.through <- "now"
	d.Settle()
	if got := d.Top().Crumb(); got != "order-agent" {
		t.Errorf("the screen changed to %q under the operator's fingers", got)
	}
	if answered.inits != 0 {
		t.Error("the late screen was started")
	}
	if want := []string{"text=kept"}; !slices.Equal(home.got, want) {
		t.Errorf("the covered screen got %q, want %q", home.got, want)
	}
}

func TestFollowReportsOnTheWay(t *testing.T) {
	reported := make(chan struct{})
	p := &page{name: "Calls"}
	p.keys = []tui.Key{key("s", "scan", func() tui.Cmd {
		return tui.Follow("scan", func(ctx context.Context, report func(int)) (string, error) {
			for i := 1; i <= 1000; i++ { // nobody listens: it must not wait
				report(i)
			}
			close(reported)
			<-ctx.Done()
			return "", ctx.Err()
		})
	})}
	d := tuitest.New(t, orders(), p, 80, 24)
	d.Send(letter('s'))
	d.Step() // the two halves of a Follow come as one batch
	<-reported
	for len(p.got) == 0 {
		d.Step()
	}
	if !strings.HasPrefix(p.got[0], "scan at ") {
		t.Errorf("got %q", p.got[0])
	}
	if frame := d.Frame(); !strings.Contains(frame, "reading") {
		t.Errorf("the frame does not say that it reads:\n%s", frame)
	}
}

func TestAPanicInAReadIsAFaultAndTheConsoleGoesOn(t *testing.T) {
	reads := map[string]tui.Cmd{
		"load": tui.Load("x", func(context.Context) (string, error) { panic("no such row") }),
		"follow": tui.Follow("x", func(_ context.Context, report func(int)) (string, error) {
			var offsets []int
			return "", fmt.Errorf("offset %d", offsets[1])
		}),
	}
	says := map[string]string{"load": "no such row", "follow": "index out of range"}
	for name, cmd := range reads {
		t.Run(name, func(t *testing.T) {
			p := &page{name: "Jobs"}
			p.keys = []tui.Key{key("s", "scan", func() tui.Cmd { return cmd })}
			d := tuitest.New(t, tuitest.Plain(), p, 80, 24)
			d.Press("s", "s") // a command may be run again
			if len(p.got) != 2 {
				t.Errorf("got %d answers", len(p.got))
			}
			if fault.KindOf(p.err) != fault.Bug || !strings.Contains(p.err.Error(), says[name]) ||
				!strings.Contains(p.err.Error(), "(shell_test.go:") {
				t.Errorf("got %v", p.err)
			}
			if frame := d.Frame(); strings.Contains(frame, "reading") {
				t.Errorf("it still reads:\n%s", frame)
			}
		})
	}
}

func TestMovingBetweenScreens(t *testing.T) {
	point := &page{name: "chk-44"}
	job := &page{name: "order-agent", keys: opens(point)}
	d := tuitest.New(t, orders(), &page{name: "Jobs", keys: opens(job)}, 80, 24)
	path := func(want string) {
		t.Helper()
		if line := strings.Split(d.Frame(), "\n")[1]; !strings.HasPrefix(line+" ", " "+want+" ") {
			t.Errorf("path %q, want %q", line, want)
		}
	}
	d.Press("n", "n")
	path("Jobs › order-agent › chk-44")
	d.Press("-")
	path("Jobs › order-agent")
	d.Press("-")
	path("Jobs › order-agent › chk-44")
	d.Press("esc", "esc")
	path("Jobs")
	d.Press("-")
	path("Jobs › order-agent")
	d.Press("?")
	path("Jobs › order-agent › help")
	d.Press("?", "-")
	path("Jobs")
	d.Press("-", "q")
	if d.Exited() {
		t.Error("q quits below the first screen")
	}
	if frame := d.Frame(); !strings.Contains(frame, "q quits on the first screen only: esc goes back") {
		t.Errorf("q says nothing:\n%s", frame)
	}
	d.Press("esc", "esc")
	if frame := d.Frame(); d.Exited() || !strings.Contains(frame, "this is the first screen: q quits") {
		t.Errorf("esc on the first screen:\n%s", frame)
	}
	d.Press("ctrl+z")
	if d.Suspended() != 1 {
		t.Error("ctrl-z does not suspend")
	}
	d.Press("q")
	if !d.Exited() {
		t.Error("q does not quit")
	}
}

func TestReplaceAndPop(t *testing.T) {
	second := &page{name: "plan"}
	second.keys = []tui.Key{key("x", "close", tui.Pop)}
	first := &page{name: "draft"}
	first.keys = []tui.Key{key("n", "next", func() tui.Cmd { return tui.Replace(second) })}
	home := &page{name: "Jobs"}
	home.keys = append(opens(first), key("x", "close", tui.Pop))
	d := tuitest.New(t, orders(), home, 80, 24)
	d.Press("n", "n")
	if line := strings.Split(d.Frame(), "\n")[1]; !strings.HasPrefix(line, " Jobs › plan ") {
		t.Errorf("path %q", line)
	}
	d.Press("x", "x")
	if d.Top() != tui.Screen(home) {
		t.Errorf("on %q", d.Top().Crumb())
	}
}

func TestCtrlCLeavesFromAnywhere(t *testing.T) {
	g := newGate()
	d := tuitest.NewBusy(t, orders(), &page{name: "Jobs", read: g.read}, 10, 3)
	<-g.begun
	d.Send(keyCtrlC)
	<-g.ended
	d.Settle()
	if !d.Exited() {
		t.Error("still here")
	}
}

func TestLettersOfOneReadAreKeys(t *testing.T) {
	var pressed []string
	note := func(name string) func() tui.Cmd {
		return func() tui.Cmd {
			pressed = append(pressed, name)
			return nil
		}
	}
	danger := key("A", "apply…", note("A"))
	danger.Dangerous = true
	tests := map[string]struct {
		burst string
		want  string
		says  string
	}{
		"three moves":                   {"jjk", "jjk", ""},
		"a change among moves":          {"jAj", "j", "A came together with other letters and was not taken: press it alone"},
		"quit among moves":              {"jq", "j", "q came together with other letters and was not taken: press it alone"},
		"text that was meant elsewhere": {"jxjjj", "j", "x does nothing here: ? lists the keys"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			pressed = nil
			d := tuitest.New(t, tuitest.Plain(), &page{name: "Jobs", keys: []tui.Key{
				key("j", "down", note("j")), key("k", "up", note("k")), danger,
			}}, 80, 24)
			d.Burst(tt.burst)
			if got := strings.Join(pressed, ""); got != tt.want {
				t.Errorf("pressed %q, want %q", got, tt.want)
			}
			if frame := d.Frame(); !strings.Contains(frame, tt.says) {
				t.Errorf("it does not say %q:\n%s", tt.says, frame)
			}
			if d.Exited() {
				t.Error("it quit")
			}
		})
	}
	t.Run("a change pressed alone", func(t *testing.T) {
		pressed = nil
		d := tuitest.New(t, tuitest.Plain(), &page{name: "Jobs", keys: []tui.Key{danger}}, 80, 24)
		d.Press("A")
		if got := strings.Join(pressed, ""); got != "A" {
			t.Errorf("pressed %q", got)
		}
	})
}

func TestPasteIsRefusedWithASentence(t *testing.T) {
	d := tuitest.New(t, orders(), &page{name: "Jobs", keys: opens(&page{name: "other"})}, 80, 24)
	d.Paste("nnq")
	if d.Top().Crumb() != "Jobs" || d.Exited() {
		t.Error("a paste pressed keys")
	}
	if frame := d.Frame(); !strings.Contains(frame, "! a paste is not taken here: press keys one at a time") {
		t.Errorf("nothing is said:\n%s", frame)
	}
}

// taker is a screen that takes pastes.
type taker struct {
	page
	pasted []string
}

func (p *taker) Paste(text string, _ bool) tui.Cmd {
	p.pasted = append(p.pasted, text)
	return nil
}

func TestAScreenThatTakesPastesGetsThemWhole(t *testing.T) {
	p := &taker{page: page{name: "explain"}}
	d := tuitest.New(t, orders(), p, 80, 24)
	d.Paste("a q\nb")
	if d.Exited() || !slices.Equal(p.pasted, []string{"a q\nb"}) || strings.Contains(d.Frame(), "not taken") {
		t.Errorf("%q\n%s", p.pasted, d.Frame())
	}
}

func TestKeysThatAreOffSayWhy(t *testing.T) {
	run := func() tui.Cmd {
		t.Error("it ran")
		return nil
	}
	p := &page{name: "plan", keys: []tui.Key{
		{Keys: []string{"A"}, Help: "apply…", Dangerous: true, Run: run},
		{Keys: []string{"c"}, Help: "calls", Run: run, Disabled: func() string { return "the topic was not scanned" }},
	}}
	d := tuitest.New(t, orders(), p, 80, 24)
	for name, want := range map[string]string{
		"A": "! A apply… is off: access is read-only",
		"c": "! c calls is off: the topic was not scanned",
	} {
		d.Press(name)
		if frame := d.Frame(); !strings.Contains(frame, want) {
			t.Errorf("%s does not say %q:\n%s", name, want, frame)
		}
	}
	d.Press("?")
	d.Golden("help-80x24")
}

func TestClashes(t *testing.T) {
	got := tui.Clashes([]tui.Key{
		{Keys: []string{"enter", "o"}, Help: "open"},
		{Keys: []string{"o"}, Help: "operations"},
		{Keys: []string{"r"}, Help: "rollback"},
	})
	want := []string{`o is both "open" and "operations"`, `r is both "reload" and "rollback"`}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestMessages(t *testing.T) {
	p := &page{name: "Jobs"}
	p.keys = []tui.Key{
		key("h", "hint", func() tui.Cmd { return tui.Say(theme.Plain, "a hint") }),
		key("w", "warn", func() tui.Cmd { return tui.Say(theme.Warning, "a warning") }),
		key("j", "down", func() tui.Cmd { return nil }),
	}
	p.keys = append(p.keys, opens(&page{name: "other"})...)
	d := tuitest.New(t, tuitest.Plain(), p, 80, 24)
	message := func() string { return strings.Split(d.Frame(), "\n")[22] }
	d.Press("h")
	if got := message(); got != " a hint" {
		t.Errorf("message %q", got)
	}
	d.Press("j")
	if got := message(); got != "" {
		t.Errorf("the hint stays: %q", got)
	}
	d.Press("w", "j")
	if got := message(); got != " ! a warning" {
		t.Errorf("the warning is gone: %q", got)
	}
	d.Press("n")
	if got := message(); got != "" {
		t.Errorf("the warning follows to another screen: %q", got)
	}
}
