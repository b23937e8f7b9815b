package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/testkit/arkincident"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/apply"
	views "github.com/recoverctl/recoverctl/views/connections"
	"github.com/recoverctl/recoverctl/views/console"
)

// arkflowConsole is the console on the demo of ArkFlow, for a test.
func arkflowConsole(t *testing.T) (in *arkincident.Incident, d *tuitest.Driver, applies *apply.Current) {
	t.Helper()
	t.Chdir(t.TempDir())
	in, err := arkincident.Start(t.Context(), t.TempDir(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(in.Close)
	d, applies = arkflowConsoleOn(t, in.ConfigYAML())
	return in, d, applies
}

// arkflowConsoleOn is the console on the jobs of ArkFlow of a configuration.
func arkflowConsoleOn(t *testing.T, configuration []byte) (d *tuitest.Driver, applies *apply.Current) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, configuration, 0o600); err != nil {
		t.Fatal(err)
	}
	a := &app{streams: streams{in: strings.NewReader(""), out: io.Discard, err: io.Discard, environ: []string{"HOME=" + t.TempDir()}}, clock: clock.System{}}
	if err := newRoot(a).PersistentFlags().Parse([]string{"--config", file}); err != nil {
		t.Fatal(err)
	}
	if err := a.load(); err != nil {
		t.Fatal(err)
	}
	profile := a.selection.Profile
	inspector, systems, err := a.inspector(profile, remembered{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(systems.close)
	var list []inspect.Job
	for _, j := range profile.Jobs {
		list = append(list, jobOf(profile.Name, j))
	}
	applies, look := apply.NewCurrent(), theme.New(theme.Options{Palette: theme.NoStyle})
	root, commands := console.New(console.Options{
		Theme: look, Now: a.clock.Now, Jobs: list, Source: inspector, WALs: a.consoleWALs(profile, systems.stores),
		Others: a.consoleArkFlow(profile, systems, remembered{}, look, applies), Connections: func() []views.Connection { return connectionList(profile, systems) },
	})
	header := func() tui.Header {
		h := a.header(systems)
		h.Access = "operate 29m"
		return h
	}
	d = tuitest.New(t, tui.Options{Theme: look, Header: header, Commands: commands, Jobs: applies.Jobs}, root, 120, 40)
	d.WaitIdle()
	return d, applies
}

func (s arkScreen) press(keys ...string) {
	for _, key := range keys {
		s.Press(key)
		s.WaitIdle()
	}
}

// arkScreen is a driver that waits for the hub after each key.
type arkScreen struct{ *tuitest.Driver }

// command types a command of the palette and waits for what it reads.
func (s arkScreen) command(text string) {
	s.Press(":")
	s.Type(text)
	s.press("enter")
}

// approve puts the plan that is shown to the operator: each warning accepted, a reason
// and the phrase typed. Directly before it is confirmed, sees looks.
func (s arkScreen) approve(subject, id, reason string, sees func()) {
	s.press("A")
	if accepted := regexp.MustCompile(`Accept (\d+) warning`).FindStringSubmatch(s.Frame()); accepted != nil {
		for range 40 {
			s.Press("down")
		}
		n, _ := strconv.Atoi(accepted[1]) // they are digits
		for range n {
			s.Press("tab", "space")
		}
		s.press("tab", "enter")
	}
	for range 60 {
		s.Press("down")
	}
	s.Press("tab")
	s.Type(reason)
	s.Press("tab")
	s.Type(subject + " " + id)
	s.Press("tab")
	sees()
	s.press("space")
}

// The console shows every job of the profile as the hub and the stores have it, and
// the header the hub alone: there are no brokers to miss.
func TestTheConsoleOnArkFlow(t *testing.T) {
	_, driver, _ := arkflowConsole(t)
	d := arkScreen{driver}
	frame := d.Frame()
	for _, want := range []string{"hub ok", arkincident.JobDegraded, "DEGRADED", "log alone"} {
		if !strings.Contains(frame, want) {
			t.Errorf("no %q in\n%s", want, frame)
		}
	}
	if strings.Contains(frame, "kafka") {
		t.Errorf("brokers are missed:\n%s", frame)
	}
	d.Press(":")
	d.Type("job " + arkincident.JobRejected)
	d.press("enter")
	if frame := d.Frame(); !strings.Contains(frame, "RESTORES IT") || !strings.Contains(frame, "2/4") {
		t.Errorf("the point that a start restores is not marked:\n%s", frame)
	}
	d.Press("esc", ":")
	d.Type("connections")
	d.press("enter")
	if frame := d.Frame(); !strings.Contains(frame, "arkflow") || !strings.Contains(frame, "write-ahead log") || strings.Contains(frame, "kafka") {
		t.Errorf("the hub and the logs are what is connected to:\n%s", frame)
	}
	d.Press("esc", ":")
	d.Type("wal " + arkincident.StreamGap)
	d.press("enter")
	if frame := d.Frame(); !strings.Contains(frame, "entries in between are missing") {
		t.Error(frame)
	}
}

// The log that a job of the profile has is shown beside that job, and beside no other
// of the hub.
func TestTheConsoleShowsALogBesideItsJob(t *testing.T) {
	_, driver, _ := arkflowConsole(t)
	d := arkScreen{driver}
	d.command("job " + arkincident.JobDegraded)
	if frame := d.Frame(); !strings.Contains(frame, "8 entries raw, 4 entries beyond the source positions of ") {
		t.Errorf("what a start sends again is not shown:\n%s", frame)
	}
	d.command("hub")
	for range 8 {
		if d.press("enter"); d.Top().Crumb() == arkincident.JobInOrder {
			if frame := d.Frame(); strings.Contains(frame, "sends again") || strings.Contains(frame, "the profile's write-ahead log") {
				t.Errorf("the log of another job is shown:\n%s", frame)
			}
			return
		}
		d.press("esc", "j")
	}
	t.Errorf("the hub does not open %s:\n%s", arkincident.JobInOrder, d.Frame())
}

// A rollback goes the whole way, from a recovery point of the lower version to the
// receipt, and the hub has restored what the plan named.
func TestTheConsoleRollsAnArkFlowJobBack(t *testing.T) {
	in, driver, applies := arkflowConsole(t)
	d := arkScreen{driver}
	d.Press(":")
	d.Type("job " + arkincident.JobUpgraded)
	d.press("enter", "j", "u")
	id, found := strings.CutPrefix(d.Top().Crumb(), "rollback plan ")
	if !found {
		t.Fatalf("there is no plan:\n%s", d.Frame())
	}
	frame := d.Frame()
	for _, want := range []string{"from version 2 to 1, restored from savepoint-", "as found"} {
		if !strings.Contains(frame, want) {
			t.Errorf("no %q in\n%s", want, frame)
		}
	}
	before := in.Hub().Effects()
	d.approve("demo/"+arkincident.JobUpgraded, id, "bad deploy, INC-9", func() {
		if !slices.Equal(in.Hub().Effects(), before) {
			t.Fatalf("before it was confirmed: %v", in.Hub().Effects())
		}
	})
	running := applies.Running()
	if running == nil {
		t.Fatalf("nothing was started:\n%s", d.Frame())
	}
	result, err := running.Wait()
	if err != nil {
		t.Fatalf("%s: %v: %s", result.Verdict, err, result.Message)
	}
	if result.Receipt.Reason != "bad deploy, INC-9" {
		t.Errorf("%+v", result.Receipt)
	}
	if point := in.Hub().Restored(arkincident.JobUpgraded); !strings.HasPrefix(point, "savepoint-") {
		t.Errorf("restored from %q, verdict %s: %s", point, result.Verdict, result.Message)
	}
	if result.Verdict != actions.Applied && result.Verdict != actions.Undecided {
		t.Errorf("%s: %s", result.Verdict, result.Message)
	}
}

// A job is ArkFlow's by its engine, or because flags name a hub or a log and nothing
// else.
func TestWhichJobsAreArkFlows(t *testing.T) {
	hub, topic := config.ArkFlow{Hub: "http://hub:8080"}, config.ActionState{Topic: "action-state"}
	for name, tt := range map[string]struct {
		job  config.Job
		want bool
	}{
		"of the engine, with a hub":  {config.Job{Engine: "arkflow", ArkFlow: hub}, true},
		"of the engine, with a log":  {config.Job{Engine: "arkflow", ArkFlow: config.ArkFlow{WAL: "wal.redb"}}, true},
		"of the engine alone":        {config.Job{Engine: "arkflow"}, false},
		"made by flags":              {config.Job{Name: config.AdHoc, ArkFlow: hub}, true},
		"made by flags, with topic":  {config.Job{Name: config.AdHoc, ArkFlow: hub, ActionState: topic}, false},
		"of Flink Agents with a hub": {config.Job{Engine: "flink-agents", ArkFlow: hub, ActionState: topic}, false},
	} {
		if got := isArkFlow(tt.job); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
