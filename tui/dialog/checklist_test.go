package dialog_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/recoverctl/recoverctl/internal/access"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/dialog"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/tuitest"
)

// warnings are those of a plan, each of which is accepted by itself.
func warnings() dialog.Checklist {
	return dialog.Checklist{
		Title: "Accept 3 warnings", Lead: "Each is accepted by itself: tab, then space.", Action: "Continue",
		Items: []dialog.Item{
			{Name: "points-lost", Text: "2 recovery points can never be restored again: savepoint-4f3c-a1, chk-12"},
			{Name: "point-unknown:s3://flink-state/savepoints/savepoint-9c41-77", Text: "it counts as lost: its metadata may not be read by this user, and nothing is known of it"},
			{Name: "job-state-unknown", Text: "no Flink said what the job does now"},
		},
	}
}

func (p *plan) lists(c dialog.Checklist) *plan {
	c.Declined = func() tui.Cmd {
		p.no++
		return nil
	}
	p.ask = func() tui.Cmd {
		return c.Open(func(names []string) tui.Cmd {
			p.answers = append(p.answers, names...)
			return tui.Say(theme.OK, "accepted")
		})
	}
	return p
}

// Every item needs a key of its own, and only then it goes on.
func TestEachItemIsTickedByItself(t *testing.T) {
	p := new(plan).lists(warnings())
	d := tuitest.New(t, tuitest.Plain(), p, 60, 15)
	d.Press("A")
	d.Golden("checklist-60x15")
	d.Press("right", "enter")
	says(t, d, "3 items are not ticked")
	d.Press("left", "tab", "space", "tab", "space", "right", "enter")
	says(t, d, "one item is not ticked")
	if len(p.answers) != 0 {
		t.Fatalf("it went on with %q", p.answers)
	}
	d.Press("shift+tab", "space")
	d.Golden("checklist-ticked-60x15")
	d.Press("tab", "enter")
	says(t, d, "accepted")
	want := []string{"points-lost", "point-unknown:s3://flink-state/savepoints/savepoint-9c41-77", "job-state-unknown"}
	if !slices.Equal(p.answers, want) || p.no != 0 {
		t.Errorf("accepted %q, declined %d times", p.answers, p.no)
	}
}

// What ticks nothing, and what declines.
func TestNothingIsTickedByAccident(t *testing.T) {
	const all = 3
	tick := []string{"tab", "space", "tab", "space", "tab", "space", "tab"}
	for name, tt := range map[string]struct {
		do   func(*tuitest.Driver)
		says string
		no   int
	}{
		"a paste":                      {func(d *tuitest.Driver) { d.Press("tab"); d.Paste("   ") }, "nothing was accepted", 0},
		"spaces that arrive together":  {func(d *tuitest.Driver) { d.Press("tab"); d.Together("space", "space") }, "press it alone", 0},
		"the key that opened it":       {func(d *tuitest.Driver) { d.Press(tick...); d.Press("A") }, "nothing was accepted", 0},
		"enter at once":                {func(d *tuitest.Driver) { d.Press("enter") }, "", 1},
		"esc":                          {func(d *tuitest.Driver) { d.Press(tick...); d.Press("esc") }, "", 1},
		"space twice is a tick undone": {func(d *tuitest.Driver) { d.Press(tick...); d.Press("shift+tab", "space", "tab", "enter") }, "one item is not ticked", 0},
		"a terminal that is too small": {func(d *tuitest.Driver) {
			d.Press(tick...)
			d.Resize(10, 5)
			d.Press("enter", "space")
			d.Resize(60, 15)
		}, "", 0},
		"space held down ticks one": {func(d *tuitest.Driver) { d.Press("tab"); d.Hold("space", 9); d.Press("right", "enter") }, "items are not ticked", 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := new(plan).lists(warnings())
			d := tuitest.New(t, tuitest.Plain(), p, 60, 15)
			d.Press("A")
			tt.do(d)
			if len(p.answers) != 0 || p.no != tt.no {
				t.Errorf("accepted %q of %d, declined %d times, want %d:\n%s", p.answers, all, p.no, tt.no, d.Frame())
			}
			if tt.says != "" {
				says(t, d, tt.says)
			}
		})
	}
}

// An item can't be ticked before its last line was on the screen.
func TestAnItemIsReadBeforeItIsTicked(t *testing.T) {
	long := warnings()
	long.Items[0].Text = strings.Repeat("one more recovery point that can never be restored again, ", 20)
	p := new(plan).lists(long)
	d := tuitest.New(t, tuitest.Plain(), p, 60, 15)
	d.Press("A", "tab", "space")
	says(t, d, "not all of points-lost has been on the screen")
	d.Press("pgdown", "pgdown", "pgdown", "pgdown", "space", "tab", "space", "tab", "space", "tab", "enter")
	if len(p.answers) != 3 {
		t.Errorf("accepted %q:\n%s", p.answers, d.Frame())
	}
}

// A console that is not armed any more accepts nothing.
func TestAListIsNotAcceptedWhenLocked(t *testing.T) {
	arming := new(access.Arming)
	o := tuitest.Plain()
	o.Arming, o.Level = arming, access.Operate
	if err := arming.Arm(access.Operate, tuitest.Start); err != nil {
		t.Fatal(err)
	}
	p := new(plan).lists(warnings())
	d := tuitest.New(t, o, p, 80, 24)
	d.Press("A", "tab", "space", "tab", "space", "tab", "space", "tab")
	arming.Disarm()
	d.Press("enter")
	says(t, d, "nothing was done")
	if len(p.answers) != 0 {
		t.Errorf("accepted %q", p.answers)
	}
}

// No keys but a tick of each item and the button lead on.
func TestRandomKeysTickNothingUnseen(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := new(plan).lists(warnings())
		d := tuitest.New(t, tuitest.Plain(), p, 60, 15)
		d.Press("A")
		ticked := 0
		for range rapid.IntRange(1, 12).Draw(rt, "keys") {
			key := rapid.SampledFrom([]string{"tab", "shift+tab", "left", "right", "up", "down", "enter", "space", "x", "A"}).Draw(rt, "key")
			if key == "space" || key == "enter" {
				ticked++
			}
			d.Press(key)
			if !isOpen(d) {
				break
			}
		}
		if len(p.answers) != 0 && ticked < 4 {
			rt.Fatalf("%d presses accepted %q", ticked, p.answers)
		}
	})
}
