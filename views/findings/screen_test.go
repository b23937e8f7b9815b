package findings_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/findings"
	"github.com/recoverctl/recoverctl/views/overview"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func screen(th theme.Theme, source overview.Source, job inspect.Job, reading overview.Reading) *findings.Screen {
	return findings.New(findings.Options{Theme: th, Now: viewtest.Clock, Job: job, Source: source, Reading: reading})
}

// mixed is the situation with findings of each severity.
func mixed() *viewtest.Source {
	log := viewtest.Log()
	log.Data.Settings = []inspect.Setting{
		{Name: "cleanup.policy", Value: "compact,delete", Source: "topic"}, {Name: "retention.ms", Value: "604800000", Source: "topic"},
	}
	s := viewtest.Live(viewtest.Failing())
	s.Add(viewtest.Job().Name, viewtest.Store(), log)
	return s
}

func quiet() *viewtest.Source {
	store := viewtest.Store()
	store.Fails, store.Places[viewtest.Savepoints] = nil, nil
	log := viewtest.Log()
	log.Control = viewtest.Control(viewtest.Committed(0, inspect.StatusApplied))
	for p := range log.Data.Partitions {
		log.Data.Partitions[p].Log.Start = viewtest.Boundary()[int32(p)]
	}
	s := &viewtest.Source{}
	s.Add(viewtest.Job().Name, store, log)
	return s
}

func dark() *viewtest.Source {
	gone := viewtest.Gone()
	s := &viewtest.Source{}
	s.Add(viewtest.Job().Name, viewtest.Shelf{Fails: map[string]error{viewtest.Checkpoints: gone, viewtest.Savepoints: gone}}, viewtest.Broker{DataErr: gone, ControlErr: gone})
	return s
}

func TestFrames(t *testing.T) {
	of := func(source overview.Source) func() tui.Screen {
		return func() tui.Screen { return screen(viewtest.Plain(), source, viewtest.LiveJob(), overview.Reading{}) }
	}
	viewtest.Goldens(t, map[string]viewtest.Case{
		"loading":  {Screen: of(mixed()), Busy: true},
		"empty":    {Screen: of(quiet())},
		"failed":   {Screen: of(dark())},
		"full":     {Screen: of(mixed())},
		"warnings": {Screen: of(mixed()), Keys: []string{"/", "w", "a", "r", "n", "enter"}},
		"others":   {Screen: of(mixed()), Keys: []string{"/", "!", "e", "r", "r", "o", "r", "enter"}},
		"one":      {Screen: of(mixed()), Keys: []string{"j", "j", "enter"}},
	})
}

// Every finding is reached with its cause, its next step, its numbers and all
// its addresses.
func TestEveryFindingIsShownWhole(t *testing.T) {
	source, job := mixed(), viewtest.LiveJob()
	o, _ := source.Overview(context.Background(), job) // the place that can't be read is part of the situation
	if len(o.Findings) < 5 {
		t.Fatalf("only %d findings", len(o.Findings))
	}
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(viewtest.Plain(), source, job, overview.Reading{}), 80, 24)
	for _, f := range o.Findings {
		d.Press("enter")
		frame := strings.Join(strings.Fields(d.Frame()), "")
		wants := append([]string{f.Cause, f.Next, f.Rule}, f.Refs...)
		for name, value := range f.Numbers {
			switch value.(type) {
			case int64, int32, string:
				wants = append(wants, name)
			}
		}
		for _, want := range wants {
			if !strings.Contains(frame, strings.Join(strings.Fields(want), "")) {
				t.Errorf("%s: %q is not on the screen:\n%s", f.Rule, want, d.Frame())
			}
		}
		d.Press("esc", "j")
	}
}

// A finding with more addresses than the screen has lines says that there are
// more, and shows them alone.
func TestALongFindingIsReached(t *testing.T) {
	source, job := viewtest.Incident(), viewtest.Job()
	o, _ := source.Overview(context.Background(), job)
	many := inspect.Finding{Severity: inspect.SeverityWarning, Rule: "points-only-in-history", Cause: "in Flink's history only", Numbers: inspect.Named{}}
	for i := range 60 {
		many.Refs = append(many.Refs, fmt.Sprintf("s3://elsewhere/chk-%d", i))
	}
	o.Findings = []inspect.Finding{many}
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(viewtest.Plain(), source, job, overview.Reading{Overview: o, At: viewtest.Now}), 80, 24)
	if !strings.Contains(d.Frame(), "enter shows all of it") {
		t.Errorf("what is missing is not said:\n%s", d.Frame())
	}
	d.Press("enter", "G")
	if !strings.Contains(d.Frame(), "s3://elsewhere/chk-59") {
		t.Errorf("the last address is not reached:\n%s", d.Frame())
	}
}

// The severity is a filter, and what is copied is the finding in words.
func TestFilterAndCopy(t *testing.T) {
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(viewtest.Plain(), mixed(), viewtest.LiveJob(), overview.Reading{}), 120, 40)
	d.Press("/")
	d.Type("warning")
	d.Press("enter")
	if frame := d.Frame(); strings.Contains(frame, "✖ error") || !strings.Contains(frame, "! warning") {
		t.Errorf("/warning shows\n%s", frame)
	}
	d.Press("y")
	_, sequence, _ := strings.Cut(d.Clipboard(), "\x1b]52;c;")
	text, err := base64.StdEncoding.DecodeString(strings.TrimRight(strings.TrimSuffix(sequence, "\x07"), "\x1b\\"))
	if err != nil || !strings.HasPrefix(string(text), "warning: retention.ms of topic") || !strings.Contains(string(text), "\nnext: set retention.ms=-1") {
		t.Errorf("the clipboard got %q (%v)", text, err)
	}
}

func TestHostileBytesAndASCII(t *testing.T) {
	for _, keys := range [][]string{{}, {"enter"}, {"/", "x"}, {"G", "enter"}} {
		source, job := viewtest.HostileIncident()
		d := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(viewtest.Plain(), source, job, overview.Reading{}), 80, 24)
		d.Press(keys...)
		viewtest.Harmless(t, d)
		ascii := viewtest.ASCIITheme()
		d = tuitest.New(t, viewtest.Options(ascii), screen(ascii, mixed(), viewtest.LiveJob(), overview.Reading{}), 80, 24)
		d.Press(keys...)
		viewtest.ASCII(t, d)
	}
}
