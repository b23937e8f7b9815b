package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/testkit/arkhubtest"
	"github.com/recoverctl/recoverctl/internal/testkit/arkincident"
	"github.com/recoverctl/recoverctl/views/apply"
)

// planOf opens a plan by its command and returns its short id.
func (s arkScreen) planOf(t *testing.T, command, crumb string) (id string) {
	t.Helper()
	s.command(command)
	id, found := strings.CutPrefix(s.Top().Crumb(), crumb+" ")
	if !found {
		t.Fatalf(":%s makes no plan:\n%s", command, s.Frame())
	}
	return id
}

// ended waits for what was started, and wants it to be as planned.
func ended(t *testing.T, d arkScreen, applies *apply.Current, reason string) {
	t.Helper()
	running := applies.Running()
	if running == nil {
		t.Fatalf("nothing was started:\n%s", d.Frame())
	}
	result, err := running.Wait()
	if err != nil || result.Verdict != actions.Applied || result.Receipt == nil || result.Receipt.Reason != reason {
		t.Fatalf("%s: %v: %s", result.Verdict, err, result.Message)
	}
	d.press("r")
	if frame := d.Frame(); !strings.Contains(frame, "Receipt") || !strings.Contains(frame, reason) {
		t.Errorf("no receipt is shown:\n%s", frame)
	}
}

func count(effects []string, one string) (n int) {
	for _, e := range effects {
		if e == one {
			n++
		}
	}
	return n
}

// A checkpoint and a savepoint of a job, and the restart of a stream, go the whole way
// from a command of the palette to the receipt, and the hub has done each once.
func TestTheConsolePlansRoundsAndRestarts(t *testing.T) {
	in, driver, applies := arkflowConsole(t)
	d := arkScreen{driver}
	for _, tt := range []struct{ job, command, crumb, effect, subject, says string }{
		{arkincident.JobInOrder, "checkpoint", "checkpoint plan", "checkpoint orders-count", arkincident.JobInOrder, "takes a checkpoint of job orders-count"},
		{arkincident.JobInOrder, "savepoint", "savepoint plan", "savepoint orders-count", arkincident.JobInOrder, "takes a savepoint of job orders-count"},
		{arkincident.StreamReady, "restart", "restart plan", "running node-a/payments-eu", "node-a/" + arkincident.StreamReady, "stops and starts stream node-a/payments-eu"},
	} {
		d.command("job " + tt.job)
		before := count(in.Hub().Effects(), tt.effect)
		id := d.planOf(t, tt.command, tt.crumb)
		frame := d.Frame()
		for _, want := range []string{tt.says, "nothing that was read refuses this plan", "What applying it does", "as found"} {
			if !strings.Contains(frame, want) {
				t.Errorf("no %q in\n%s", want, frame)
			}
		}
		if strings.Contains(frame, "not-checked") {
			t.Errorf("something was not checked:\n%s", frame)
		}
		d.approve("demo/"+tt.subject, id, "before the deploy, INC-9", func() {
			if n := count(in.Hub().Effects(), tt.effect) - before; n != 0 {
				t.Fatalf("%s was done %d times before it was confirmed", tt.effect, n)
			}
		})
		ended(t, d, applies, "before the deploy, INC-9")
		if n := count(in.Hub().Effects(), tt.effect) - before; n != 1 {
			t.Errorf("%s was done %d times", tt.effect, n)
		}
		d.press("esc", "esc", "esc")
	}
}

// A restart in the console says what its stream's log sends again, as the command does.
func TestTheConsolesRestartLooksAtTheLog(t *testing.T) {
	_, driver, _ := arkflowConsole(t)
	d := arkScreen{driver}
	d.command("job " + arkincident.StreamReady)
	d.planOf(t, "restart", "restart plan")
	for range 3 {
		if strings.Contains(d.Frame(), "By its write-ahead log 7 entries are sent again, from sequence 14 on.") {
			return
		}
		d.press("pgdown")
	}
	t.Errorf("nothing says what is sent again:\n%s", d.Frame())
}

// An upgrade is held, goes on and is ended from the console, and only what applies to
// it is offered.
func TestTheConsolePlansUpgrades(t *testing.T) {
	t.Chdir(t.TempDir())
	s := startHubScene(t, arkhubtest.Options{Generation: arkhub.GenerationUpgrades})
	s.set(1)
	file := filepath.Join(s.home, "config.yaml")
	yaml := fmt.Appendf(nil, "default-profile: demo\nprofiles:\n  - name: demo\n    environment: production\n    access: operate\n    jobs:\n      - {name: orders, engine: arkflow, arkflow: {hub: %q}}\n", s.url)
	if err := os.WriteFile(file, yaml, 0o600); err != nil {
		t.Fatal(err)
	}
	driver, applies := arkflowConsoleOn(t, yaml)
	d := arkScreen{driver}
	d.command("job orders")
	d.command("pause")
	if crumb := d.Top().Crumb(); crumb != "orders" {
		t.Errorf("a job without an upgrade has a plan to pause one: %s", crumb)
	}
	d.press("esc")
	s.hub.SetUpgrade("orders", "job-upgrade-12", "verifying", 1, 2)
	d.press("r")
	for _, tt := range []struct{ command, crumb, effect, other string }{
		{"pause", "Pause plan", "upgrade pause orders", "resume"},
		{"resume", "Resume plan", "upgrade resume orders", "pause"},
		{"cancel-upgrade", "Cancel plan", "upgrade cancel orders", "resume"},
	} {
		d.Press(":")
		d.Type(tt.other)
		if frame := d.Frame(); strings.Contains(frame, "plan to ") {
			t.Errorf(":%s is offered where :%s is what applies:\n%s", tt.other, tt.command, frame)
		}
		d.press("esc")
		id := d.planOf(t, tt.command, tt.crumb)
		d.approve("demo/orders", id, "INC-9", func() {})
		ended(t, d, applies, "INC-9")
		if n := count(s.hub.Effects(), tt.effect); n != 1 {
			t.Errorf("%s was done %d times", tt.effect, n)
		}
		d.press("esc", "esc", "r")
	}
}
