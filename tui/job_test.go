package tui_test

import (
	"context"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/tuitest"
)

// keeping is a console with an apply that keeps it.
func keeping(t *testing.T, root tui.Screen) (d *tuitest.Driver, jobs *[]tui.Job, interrupts *int) {
	t.Helper()
	jobs, interrupts = new([]tui.Job), new(int)
	opts := tuitest.Plain()
	opts.Jobs = func() []tui.Job { return *jobs }
	*jobs = []tui.Job{{
		Name: "cleanup 3f9c21aa", Done: 7, Total: 12, Unit: "steps", Hint: ":apply opens it",
		Interrupt: func() string { *interrupts++; return "stopping at the next safe place" },
		Leaving:   func() tui.Cmd { return tui.Say(theme.Warning, "an apply is running") },
	}}
	return tuitest.New(t, opts, root, 80, 24), jobs, interrupts
}

// While an apply runs ctrl-c belongs to it on every screen and at every size,
// and nothing else leaves the console.
func TestAJobKeepsTheConsole(t *testing.T) {
	d, jobs, interrupts := keeping(t, &page{name: "Jobs", keys: opens(&page{name: "order-agent"})})
	if line := strings.Split(d.Frame(), "\n")[21]; line != " cleanup 3f9c21aa  7 of 12 steps  58 %                           :apply opens it" {
		t.Errorf("the strip is %q", line)
	}
	d.Press("q")
	says(t, d, "an apply is running")
	command(d, "quit")
	says(t, d, "an apply is running")
	d.Press("ctrl+c")
	says(t, d, "stopping at the next safe place")
	d.Press("n", "ctrl+c")
	d.Resize(10, 5)
	d.Press("ctrl+c", "q")
	d.Resize(80, 24)
	if d.Exited() || *interrupts != 3 {
		t.Fatalf("exited %v, interrupted %d times, want 3", d.Exited(), *interrupts)
	}

	(*jobs)[0].Ended, (*jobs)[0].Name = true, "cleanup 3f9c21aa: applied"
	d.Send(tui.Pulse{})
	if line := strings.Split(d.Frame(), "\n")[21]; line != " cleanup 3f9c21aa: applied                                       :apply opens it" {
		t.Errorf("after the end the strip is %q", line)
	}
	d.Press("ctrl+x")
	says(t, d, "no job is running")
	d.Press("ctrl+c")
	if !d.Exited() || *interrupts != 3 {
		t.Errorf("after the end: exited %v, interrupted %d times", d.Exited(), *interrupts)
	}
}

// q asks a screen that wants to be asked, also where it would not quit.
func TestQAsksAScreenThatWantsToBeAsked(t *testing.T) {
	apply := &running{page: &page{name: "apply"}}
	d := tuitest.New(t, tuitest.Plain(), &page{name: "Jobs", keys: opens(apply)}, 80, 24)
	d.Press("n", "q")
	says(t, d, "an apply is running")
	apply.may = true
	d.Press("q")
	says(t, d, "q quits on the first screen only")
	if apply.asked != 2 || d.Exited() {
		t.Errorf("asked %d times, exited %v", apply.asked, d.Exited())
	}
}

// pulsing counts the pulses that its screen gets.
type pulsing struct {
	*page
	pulses *int
}

func (p pulsing) Pulse() tui.Cmd {
	*p.pulses++
	return nil
}

func TestScreensHearThatAJobHasMoved(t *testing.T) {
	pulses := 0
	d, _, _ := keeping(t, pulsing{&page{name: "apply", keys: opens(&page{name: "job"})}, &pulses})
	d.Send(tui.Pulse{})
	d.Press("n")
	d.Send(tui.Pulse{})
	if pulses != 2 {
		t.Errorf("%d pulses came, want 2: one shown, one covered", pulses)
	}
}

// Going to a screen leaves those above it, and makes it where there is none.
func TestGoto(t *testing.T) {
	made := 0
	is := func(s tui.Screen) bool { return s.Crumb() == "apply" }
	gotoApply := key("a", "apply", func() tui.Cmd {
		return tui.Goto(is, func() tui.Screen {
			made++
			return &page{name: "apply", keys: opens(&page{name: "calls", keys: []tui.Key{key("a", "apply", func() tui.Cmd {
				return tui.Goto(is, func() tui.Screen { made++; return &page{name: "apply"} })
			})}})}
		})
	})
	d := tuitest.New(t, tuitest.Plain(), &page{name: "Jobs", keys: []tui.Key{gotoApply}}, 80, 24)
	d.Press("a", "n", "a")
	if d.Top().Crumb() != "apply" || made != 1 {
		t.Fatalf("on %q, %d were made", d.Top().Crumb(), made)
	}
	d.Press("esc")
	if d.Top().Crumb() != "Jobs" {
		t.Errorf("below it is %q", d.Top().Crumb())
	}
}

// What an apply changed is read again by the screens below it.
func TestOtherScreensReadAgain(t *testing.T) {
	reads := 0
	read := func(context.Context) (string, error) { reads++; return "", nil }
	apply := &page{name: "apply", keys: []tui.Key{key("x", "ended", tui.ReloadOthers)}}
	root := reloading{&page{name: "Jobs", read: read, keys: opens(apply)}}
	d := tuitest.New(t, tuitest.Plain(), root, 80, 24)
	d.Press("n", "x")
	if reads != 2 {
		t.Errorf("it was read %d times, want once more", reads)
	}
}
