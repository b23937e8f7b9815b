package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/apply"
	screens "github.com/recoverctl/recoverctl/views/fluss"
)

// console opens the screen of the scene's producer as the console does.
func (s producerScene) console() (*tuitest.Driver, *apply.Current) {
	s.t.Helper()
	t := s.t.(*testing.T)
	t.Chdir(t.TempDir())
	a := &app{streams: streams{in: strings.NewReader(""), out: io.Discard, err: io.Discard, environ: s.environ()}, clock: clock.System{}}
	if err := newRoot(a).PersistentFlags().Parse(append([]string{"--access", "operate"}, s.flags...)); err != nil {
		t.Fatal(err)
	}
	if err := a.load(); err != nil {
		t.Fatal(err)
	}
	job, err := a.selection.RequireJob()
	if err != nil {
		t.Fatal(err)
	}
	profile := a.selection.Profile
	profile.Jobs = []config.Job{job}
	applies := apply.NewCurrent()
	look := theme.New(theme.Options{Palette: theme.NoStyle})
	clusters := a.consoleFluss(profile, newObjectStores(profile, remembered{}, a.loaded.Timeout, a.clock), remembered{}, look, applies)
	d := tuitest.New(t, tui.Options{Theme: look, Header: func() tui.Header { return tui.Header{Profile: "adhoc", Access: "operate 29m"} }, Jobs: applies.Jobs},
		screens.NewProducer(clusters[0].Options, s.producer), 120, 40)
	d.WaitIdle()
	return d, applies
}

// approves makes the plan from the producer's screen and goes through everything that
// is asked up to the button, which key, A or S, began.
func (s producerScene) approves(d *tuitest.Driver, key, id string) {
	s.t.Helper()
	d.Press("p")
	d.WaitIdle()
	if crumb := d.Top().Crumb(); crumb != "producer-delete plan "+id[:8] {
		s.t.Fatalf("%s, want that of %s\n%s", crumb, id, d.Frame())
	}
	d.Press(key)
	d.WaitIdle()
	d.Press("tab", "space", "tab", "space", "tab", "enter") // both warnings
	for range 60 {
		d.Press("down")
	}
	d.Press("tab")
	d.Type("wedged sink")
	d.Press("tab")
	d.Type("adhoc/" + s.producer + " " + id[:8])
	d.Press("tab")
}

// In step mode the console waits before each step. Enter passes those that read, and
// the one that deletes wants an A.
func TestTheConsoleDeletesAnEntryInSteps(t *testing.T) {
	s, _ := startProducers(t, nil)
	s.stored(8, 4)
	_, id := s.deletes()
	d, applies := s.console()
	s.approves(d, "S", id)
	d.Press("space")
	d.WaitIdle()
	running := applies.Running()
	if running == nil {
		t.Fatalf("nothing was started:\n%s", d.Frame())
	}
	waits := func(number string) {
		t.Helper()
		shown := func() bool { // on the page, and not in the line of what runs alone
			frame := d.Frame()
			return strings.Contains(frame, "step "+number+" waits for you:") || strings.Contains(frame, "step "+number+" waits for you, and it writes:")
		}
		for until := time.Now().Add(time.Minute); !shown(); {
			if time.Now().After(until) {
				t.Fatalf("step %s is not waited at:\n%s", number, d.Frame())
			}
			time.Sleep(5 * time.Millisecond)
			d.Send(tui.Pulse{}) // the screen looks at the run again
			d.Settle()
		}
		time.Sleep(reading) // as a person does
	}
	for _, number := range []string{"1", "2", "3"} {
		waits(number)
		d.Press("enter")
	}
	waits("4")
	d.Press("enter")
	if frame := d.Frame(); !strings.Contains(frame, "step 4 waits for you") {
		t.Errorf("enter let the deletion go:\n%s", frame)
	}
	s.keeps(8, 4)
	d.Press("A")
	waits("5")
	s.keeps()
	d.Press("enter")
	result, err := running.Wait()
	if err != nil || result.Verdict != actions.Applied || result.Receipt.Reason != "wedged sink" {
		t.Fatalf("%s, %v: %s", result.Verdict, err, result.Message)
	}
	s.keeps()
}

// By command too: at a terminal, each step with its own go, and nothing is written
// before the one that writes has its.
func TestAProducerPlanIsAppliedInSteps(t *testing.T) {
	t.Parallel()
	path := asProcess(t)
	for _, register := range []bool{false, true} {
		s, _ := startProducers(t, nil)
		file, id, before, after := "", "", []int64(nil), s.ends
		steps := []string{"step 1: plan intact", "step 2: the plan's coordinator", "step 3: no valid entry", "step 4: offsets inside the logs"}
		writes, last := "step 5: register the offsets", "step 6: exactly these offsets stored"
		if register {
			file, id = s.registersLatest()
		} else {
			s.stored(8, 4)
			file, id = s.deletes()
			before, after = []int64{8, 4}, nil
			steps = []string{"step 1: plan intact", "step 2: the plan's coordinator", "step 3: entry as the plan found it"}
			writes, last = "step 4: delete the entry", "step 5: nothing stored"
		}
		screen := onTerminal(t, path, append(append(s.applyArgs(file, id), "--step"), s.flags...)...)
		for _, step := range steps {
			screen.types(t, step, "")
		}
		screen.types(t, writes, "")
		screen.until(t, "this step writes: A and enter")
		s.keeps(before...)
		time.Sleep(reading)
		screen.keys(t, "A\r")
		screen.types(t, last, "")
		if code := screen.leave(t); code != 0 || !strings.Contains(screen.seen.String(), "✔ applied") {
			t.Errorf("exit %d\n%s", code, screen.seen.String())
		}
		s.keeps(after...)
	}
}
