package restorecheck_test

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/overview"
	"github.com/recoverctl/recoverctl/views/restorecheck"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	chk44     = viewtest.Checkpoints + "/chk-44"
	chk12     = viewtest.Checkpoints + "/chk-12"
	savepoint = viewtest.Savepoints + "/savepoint-4f3c-a1"
	denied    = viewtest.Savepoints + "/savepoint-9c41-77"
)

// unread is the screen as it is opened without an overview.
func unread(source restorecheck.Source, j inspect.Job, point string) *restorecheck.Screen {
	return restorecheck.New(restorecheck.Options{Theme: viewtest.Plain(), Now: viewtest.Clock, Job: j, Source: source, Point: point})
}

// opened is the screen as it is opened from a job that was read.
func opened(t *testing.T, source restorecheck.Source, j inspect.Job, point string) *restorecheck.Screen {
	t.Helper()
	o, err := source.OverviewSoon(context.Background(), j, 0, nil)
	return restorecheck.New(restorecheck.Options{
		Theme: viewtest.Plain(), Now: viewtest.Clock, Job: j, Source: source, Point: point,
		Reading: overview.Reading{Overview: o, Err: err, At: viewtest.Now},
	})
}

func with(store viewtest.Shelf, log viewtest.Broker) *viewtest.Source {
	s := &viewtest.Source{}
	s.Add(viewtest.Job().Name, store, log)
	return s
}

func dark() *viewtest.Source {
	gone := viewtest.Gone()
	return with(viewtest.Shelf{Fails: map[string]error{viewtest.Checkpoints: gone, viewtest.Savepoints: gone}},
		viewtest.Broker{DataErr: gone, ControlErr: gone})
}

// halfDark is the situation with a control topic that can't be read.
func halfDark() *viewtest.Source {
	log := viewtest.Log()
	log.ControlErr = fault.New(fault.Denied, "read control topic", "this user may not read topic action-state-control").
		WithHint("it needs Describe and Read on the topic")
	return with(viewtest.Store(), log)
}

// lost is the situation without any accepted point.
func lost() *viewtest.Source {
	store := viewtest.Store()
	store.Places[viewtest.Checkpoints] = store.Places[viewtest.Checkpoints][3:]
	return with(store, viewtest.Log())
}

// far is the situation with a checkpoint in a place that is none of the job's.
func far() *viewtest.Source {
	store := viewtest.Store()
	p := viewtest.Point("chk-9", 9, time.Hour, viewtest.Earlier())
	p.URI = "s3://far/chk-9"
	store.Places["s3://far"] = []inspect.RecoveryPoint{p}
	return with(store, viewtest.Log())
}

func TestFrames(t *testing.T) {
	incident, job := viewtest.Incident(), viewtest.Job()
	of := func(source restorecheck.Source, j inspect.Job, point string) func() tui.Screen {
		return func() tui.Screen { return opened(t, source, j, point) }
	}
	old := job
	old.Runtime, old.ControlTopic = inspect.Release02, nil
	nameless := job
	nameless.Runtime = inspect.ReleaseUnknown
	viewtest.Goldens(t, map[string]viewtest.Case{
		"loading":         {Screen: func() tui.Screen { return unread(incident, job, savepoint) }, Busy: true},
		"empty":           {Screen: of(incident, job, viewtest.Checkpoints+"/chk-41")},
		"elsewhere":       {Screen: of(far(), job, "s3://far/chk-9")},
		"partial":         {Screen: of(halfDark(), job, chk44)},
		"failed":          {Screen: func() tui.Screen { return unread(dark(), job, savepoint) }},
		"full":            {Screen: of(incident, job, savepoint)},
		"full-end":        {Screen: of(incident, job, savepoint), Keys: []string{"G"}},
		"all-rules":       {Screen: of(incident, job, chk12), Keys: []string{"a"}},
		"accepted":        {Screen: of(incident, job, chk44)},
		"scanned":         {Screen: of(viewtest.Seen{Source: viewtest.Live(viewtest.Failing())}, viewtest.LiveJob(), savepoint)},
		"unknown":         {Screen: of(incident, job, denied)},
		"none-accepted":   {Screen: of(lost(), job, savepoint)},
		"skips-silently":  {Screen: of(incident, old, chk44)},
		"release-unnamed": {Screen: of(incident, nameless, savepoint)},
	})
}

// A command is offered for an accepted point only, and begins with what must be
// stopped.
func TestNextCommand(t *testing.T) {
	tests := map[string]struct {
		source *viewtest.Source
		point  string
		want   string // "" for none
	}{
		"an accepted point restores itself":           {viewtest.Incident(), chk44, "/chk-44"},
		"a rejected one names the nearest accepted":   {viewtest.Incident(), savepoint, "/chk-42"},
		"an unknown one too":                          {viewtest.Incident(), denied, "/chk-42"},
		"without an accepted point there is nothing":  {lost(), savepoint, ""},
		"nothing is accepted while rules are unasked": {halfDark(), chk44, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := tuitest.New(t, viewtest.Options(viewtest.Plain()), opened(t, tt.source, viewtest.Job(), tt.point), 80, 24)
			frame := d.Frame()
			if tt.want == "" {
				if strings.Contains(frame, "flink run") || !strings.Contains(frame, "No accepted point is known") {
					t.Errorf("there is no accepted point, and the screen says\n%s", frame)
				}
				return
			}
			command := "flink run -s " + viewtest.Checkpoints + tt.want + " JAR"
			stop, run := strings.Index(frame, "stop order-agent"), strings.Index(frame, command)
			if stop < 0 || run < stop {
				t.Errorf("%q does not follow what must be stopped:\n%s", command, frame)
			}
		})
	}
}

// A shell gets the URI as one word, and no command at all where what is shown is
// not what the URI is.
func TestCommandQuotesItsURI(t *testing.T) {
	tests := map[string]struct{ place, want string }{
		"plain":             {"s3://b/chk", "flink run -s s3://b/chk/chk-44 JAR"},
		"with a semicolon":  {"s3://b/a;reboot", "flink run -s 's3://b/a;reboot/chk-44' JAR"},
		"with a quote":      {"s3://b/o'k $(id)", `flink run -s 's3://b/o'\''k $(id)/chk-44' JAR`},
		"with a control":    {"s3://b/\x1b[2J", "no command is offered"},
		"with a bidi trick": {"s3://b/\u202egnp", "no command is offered"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			job := viewtest.Job()
			job.RecoveryPoints = []string{tt.place}
			point := viewtest.Point("chk-44", 44, time.Minute, viewtest.Boundary())
			point.URI = tt.place + "/chk-44"
			source := with(viewtest.Shelf{Places: map[string][]inspect.RecoveryPoint{tt.place: {point}}}, viewtest.Log())
			d := tuitest.New(t, viewtest.Options(viewtest.Plain()), opened(t, source, job, point.URI), 120, 40)
			viewtest.Harmless(t, d)
			if !strings.Contains(d.Frame(), tt.want) {
				t.Errorf("%q is not on the screen:\n%s", tt.want, d.Frame())
			}
		})
	}
}

// An address that is longer than the screen is whole: over several lines, with
// nothing left out.
func TestLongURIsAreWhole(t *testing.T) {
	place := "s3://flink-state/" + strings.Repeat("team-orders/region-eu-west-1/", 6) + "checkpoints/4f3c"
	job := viewtest.Job()
	job.RecoveryPoints = []string{place}
	point := viewtest.Point("chk-44", 44, time.Minute, viewtest.Boundary())
	point.URI = place + "/chk-44"
	source := with(viewtest.Shelf{Places: map[string][]inspect.RecoveryPoint{place: {point}}}, viewtest.Log())
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), opened(t, source, job, point.URI), 80, 40)
	joined := strings.Join(strings.Fields(d.Frame()), "")
	if got := strings.Count(joined, point.URI); got < 2 { // headline and command
		t.Errorf("the whole URI is %d times on the screen, want it twice:\n%s", got, d.Frame())
	}
}

// n goes through all points of the job and comes back.
func TestNextPoint(t *testing.T) {
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), opened(t, viewtest.Incident(), viewtest.Job(), chk44), 80, 24)
	first := d.Frame()
	seen := map[string]bool{}
	for range 6 {
		seen[strings.Split(d.Frame(), "\n")[1]] = true
		d.Press("n")
	}
	if len(seen) != 6 || d.Frame() != first {
		t.Errorf("six times n show %d points and end at\n%s", len(seen), d.Frame())
	}
}

// Every rule is on the screen when all are asked for, each with its evidence.
func TestAllRulesAreShown(t *testing.T) {
	source, job := viewtest.Incident(), viewtest.Job()
	o, _ := source.OverviewSoon(context.Background(), job, 0, nil) // the place that can't be read is part of the situation
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), opened(t, source, job, savepoint), 200, 90)
	for _, p := range o.Points {
		if p.URI != savepoint {
			continue
		}
		if len(p.Validation.Rules) < 20 {
			t.Fatalf("only %d rules were asked", len(p.Validation.Rules))
		}
		for _, rule := range p.Validation.Rules {
			if !strings.Contains(d.Frame(), rule.Title) || !strings.Contains(d.Frame(), rule.Message) {
				t.Errorf("rule %q with %q is not on the screen:\n%s", rule.Title, rule.Message, d.Frame())
			}
		}
	}
}

// Judging again shows the new verdict.
func TestReloadJudgesAgain(t *testing.T) {
	source, job := viewtest.Incident(), viewtest.Job()
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), opened(t, source, job, chk44), 80, 24)
	log := viewtest.Log()
	for i := range log.Data.Partitions {
		log.Data.Partitions[i].Log.Start = log.Data.Partitions[i].Log.End
	}
	source.Add(job.Name, viewtest.Store(), log)
	d.Press("r")
	if want := "REJECTED: partition 0 must be read from 3,910, but its log starts at 4,120"; !strings.Contains(d.Frame(), want) {
		t.Errorf("%q is not on the screen:\n%s", want, d.Frame())
	}
}

// What y copies is the command that is shown, and nothing where none is.
func TestCopy(t *testing.T) {
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), opened(t, viewtest.Incident(), viewtest.Job(), savepoint), 80, 24)
	d.Press("y")
	want := base64.StdEncoding.EncodeToString([]byte("flink run -s " + viewtest.Checkpoints + "/chk-42 JAR"))
	if !strings.Contains(d.Clipboard(), want) {
		t.Errorf("the clipboard got %q", d.Clipboard())
	}
	d = tuitest.New(t, viewtest.Options(viewtest.Plain()), opened(t, lost(), viewtest.Job(), savepoint), 80, 24)
	d.Press("y")
	if d.Clipboard() != "" {
		t.Errorf("there is no command, and the clipboard got %q", d.Clipboard())
	}
}

// At 80 by 24 every rule that refuses is seen without scrolling, with its first
// numbers, before anything else that is said about rules.
func TestRefusingRulesAreSeenAtOnce(t *testing.T) {
	for _, uri := range []string{savepoint, chk12} {
		source, job := viewtest.Live(viewtest.Failing()), viewtest.LiveJob()
		o, _ := source.OverviewSoon(context.Background(), job, 0, nil) // the place that can't be read is part of the situation
		d := tuitest.New(t, viewtest.Options(viewtest.Plain()), opened(t, source, job, uri), 80, 24)
		refusing := 0
		for _, p := range o.Points {
			for _, rule := range p.Validation.Rules {
				if p.URI != uri || rule.Result != inspect.Failed && rule.Result != inspect.WouldFail {
					continue
				}
				refusing++
				if !strings.Contains(d.Frame(), rule.Title) {
					t.Errorf("%q is not on the first screen of %s:\n%s", rule.Title, uri, d.Frame())
				}
			}
		}
		if refusing == 0 {
			t.Errorf("no rule refuses %s", uri)
		}
		if failed, rest := strings.Index(d.Frame(), "FAILED"), strings.Index(d.Frame(), "passed"); rest >= 0 && rest < failed {
			t.Errorf("rules that passed come first:\n%s", d.Frame())
		}
	}
}

// A point that Flink would take by itself says so: a restart does not ask.
func TestSaysWhatFlinkTakesByItself(t *testing.T) {
	const itself = "what Flink restores by itself"
	source, job := viewtest.Live(viewtest.Failing()), viewtest.LiveJob()
	for uri, want := range map[string]bool{savepoint: true, chk44: false} {
		d := tuitest.New(t, viewtest.Options(viewtest.Plain()), opened(t, source, job, uri), 80, 24)
		if strings.Contains(d.Frame(), itself) != want {
			t.Errorf("%s: %q is %v on the screen, want %v:\n%s", uri, itself, !want, want, d.Frame())
		}
	}
}

// A point that lies in none of the job's places is judged by itself, with the
// nearest accepted points of the job; n goes to those.
func TestAPointElsewhereIsJudged(t *testing.T) {
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), opened(t, far(), viewtest.Job(), "s3://far/chk-9"), 120, 40)
	for _, want := range []string{
		"REJECTED: partition 0 must be read from 90, cleanup", "none of the job's places (2 places searched)", "marker at or past the boundary  FAILED", "Accepted and newer  chk-42",
	} {
		if !strings.Contains(d.Frame(), want) {
			t.Errorf("%q is not on the screen:\n%s", want, d.Frame())
		}
	}
	d.Press("r")
	if !strings.Contains(d.Frame(), "REJECTED: partition 0 must be read from 90") {
		t.Errorf("judged again:\n%s", d.Frame())
	}
	d.Press("n")
	if !strings.Contains(d.Frame(), "accepted: a restore replays") || strings.Contains(d.Frame(), "none of the job's places") {
		t.Errorf("the next point:\n%s", d.Frame())
	}
}
