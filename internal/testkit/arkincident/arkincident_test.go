package arkincident_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/testkit/arkincident"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func started(t *testing.T, start func(context.Context, string, time.Time) (*arkincident.Incident, error), now time.Time) (*arkincident.Incident, *arkflow.Hub) {
	t.Helper()
	in, err := start(t.Context(), t.TempDir(), now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(in.Close)
	hub, closeHub, err := in.Ask(clock.NewFake(now))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(closeHub)
	return in, hub
}

func rules(findings []inspect.Finding) []string {
	out := []string{}
	for _, f := range findings {
		if f.Severity != inspect.SeverityInfo {
			out = append(out, f.Rule)
		}
	}
	return out
}

func job(t *testing.T, hub *arkflow.Hub, id string) arkflow.JobDetail {
	t.Helper()
	d, err := hub.Job(t.Context(), id, "")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Each job stands as the sample tells of it, by our own reading of the hub and of
// the stores.
func TestEachJobStandsAsItIsTold(t *testing.T) {
	now := time.Date(2026, time.November, 30, 3, 0, 0, 0, time.UTC)
	in, hub := started(t, arkincident.StartAt, now)

	d := job(t, hub, arkincident.JobInOrder)
	if got := rules(d.Findings); len(got) > 0 {
		t.Errorf("%s: %v", arkincident.JobInOrder, got)
	}
	if d.Job.Health.State != arkflow.HealthGood || d.Points.Points[0].Verdict != inspect.Accepted || !d.Points.Points[0].Selected {
		t.Errorf("%s: %+v, %+v", arkincident.JobInOrder, d.Job.Health, d.Points.Points[0])
	}

	d = job(t, hub, arkincident.JobDegraded)
	if d.Job.Health.State != arkflow.HealthDegraded || *d.Job.Observed != "running" || *d.Job.Convergence != "converged" || !slices.Contains(rules(d.Findings), "checkpoint-health-degraded") {
		t.Errorf("%s: %+v, %v", arkincident.JobDegraded, d.Job, rules(d.Findings))
	}

	logs := arkflow.NewLogs(arkflow.Options{Clock: clock.NewFake(now)})
	beside := job(t, hub.WithLog(logs, in.Log(arkincident.JobDegraded), nil), arkincident.JobDegraded)
	if r := beside.Points.Replay; r == nil || r.Raw == nil || r.Raw.Entries != 8 || r.Covered == nil || *r.Covered != 4 || r.Reconciled == nil || r.Reconciled.From != 15 || r.Point != beside.Job.Health.Completed {
		t.Errorf("%s: %+v", arkincident.JobDegraded, r)
	}

	d = job(t, hub, arkincident.JobRejected)
	points := d.Points.Points
	if len(points) != 4 {
		t.Fatalf("%s: %d points", arkincident.JobRejected, len(points))
	}
	for i, want := range []struct {
		verdict, engine inspect.Verdict
		reason          string
		selected        bool
	}{
		{inspect.Rejected, inspect.Rejected, arkflow.RuleStateSealed, false},
		{inspect.Rejected, inspect.Accepted, arkflow.RuleTaskSet, true},
		{inspect.Accepted, inspect.Accepted, "", false},
		{inspect.Accepted, inspect.Accepted, "", false},
	} {
		if p := points[i]; p.Verdict != want.verdict || p.Engine.Verdict != want.engine || p.Reason != want.reason || p.Selected != want.selected {
			t.Errorf("point %d: %s for %q, the engine %s, selected %v: %s", i, p.Verdict, p.Reason, p.Engine.Verdict, p.Selected, p.Message)
		}
	}
	if d.Points.Selection.Better != points[2].ID {
		t.Errorf("%+v", d.Points.Selection)
	}
	// The hub's record says that the newest is completed: its store says which one is
	// in force.
	if h := d.Job.Health; h.State != arkflow.HealthDegraded || h.Completed != points[2].ID || h.Source != "store" || d.Points.Health != h {
		t.Errorf("%+v", h)
	}

	d = job(t, hub, arkincident.JobUpgraded)
	if got := rules(d.Findings); !slices.Contains(got, "started-cold") || !slices.Contains(got, "selection-passes-over") {
		t.Errorf("%s: %v", arkincident.JobUpgraded, got)
	}
	if *d.Job.Version != 2 || len(d.Versions) != 2 || d.Versions[1].Version != 1 || !strings.HasPrefix(d.Versions[1].Restorable, "savepoint-") {
		t.Errorf("%s: %+v", arkincident.JobUpgraded, d.Versions)
	}
}

// So does each stream, with its log.
func TestEachStreamStandsAsItIsTold(t *testing.T) {
	now := time.Date(2026, time.November, 30, 3, 0, 0, 0, time.UTC)
	in, hub := started(t, arkincident.StartAt, now)
	logs := arkflow.NewLogs(arkflow.Options{Clock: clock.NewFake(now)})
	for stream, want := range map[string][]string{
		arkincident.StreamReady: {"stream-convergence-contradicted"},
		arkincident.StreamBare:  {"stream-not-durable"},
		arkincident.StreamBad:   {"stream-replay-refused", "stream-sync-loses"},
	} {
		l, err := hub.WithLog(logs, in.Log(arkincident.StreamReady), nil).Jobs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var of []inspect.Finding
		for _, f := range l.Findings {
			if strings.HasSuffix(f.Refs[0], "/"+stream) && strings.HasPrefix(f.Refs[0], "stream ") {
				of = append(of, f)
			}
		}
		if got := rules(of); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", stream, got, want)
		}
	}
	for stream, want := range map[string]struct {
		cursor, tail uint64
		problems     []string
	}{
		arkincident.StreamReady: {13, 20, nil},
		arkincident.StreamGap:   {4, 12, []string{arkflow.ProblemGap}},
		arkincident.StreamBad:   {13, 20, []string{arkflow.ProblemPage}},
	} {
		l, err := logs.Read(t.Context(), in.Log(stream), arkflow.Question{})
		if err != nil {
			t.Fatal(err)
		}
		var problems []string
		for _, p := range l.Problems {
			problems = append(problems, p.Code)
		}
		if *l.Cursor != want.cursor || *l.Tail != want.tail || !slices.Equal(problems, want.problems) {
			t.Errorf("%s: cursor %d, tail %d, %v", stream, *l.Cursor, *l.Tail, problems)
		}
	}
}

// The hub goes on by the machine's clock: what is asked of it is done.
func TestTheHubGoesOn(t *testing.T) {
	in, hub := started(t, arkincident.Start, time.Now())
	before := len(job(t, hub, arkincident.JobInOrder).Points.Points)
	if err := in.Hub().SetJob(`{"id":"new","version":1,"operators":[{"id":"read","kind":"source"}],"sources":[{"operator_id":"read","input_type":"kafka"}]}`, "running", "node-a"); err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(time.Minute)
	for {
		d := job(t, hub, "new")
		if *d.Job.Observed == "running" {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%+v", d.Job)
		}
		time.Sleep(100 * time.Millisecond)
	}
	if after := len(job(t, hub, arkincident.JobInOrder).Points.Points); after != before {
		t.Errorf("%d points, %d before", after, before)
	}
}

// The configuration is one that the program reads, and everything lies in the folder.
func TestItsConfiguration(t *testing.T) {
	dir := t.TempDir()
	in, err := arkincident.Start(t.Context(), dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	path := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(path, in.ConfigYAML(), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, err := config.Load(config.Options{File: path})
	if err != nil {
		t.Fatal(err)
	}
	s, err := loaded.Select(arkincident.Profile, "")
	if err != nil {
		t.Fatal(err)
	}
	hubs, logs := 0, 0
	for _, j := range s.Profile.Jobs {
		if j.ArkFlow.Hub == in.Address {
			hubs++
		}
		if strings.HasPrefix(j.ArkFlow.WAL, dir) {
			logs++
		}
	}
	if len(s.Profile.Jobs) != 7 || hubs != 6 || logs != 4 {
		t.Errorf("%d jobs, %d with the hub, %d with a log", len(s.Profile.Jobs), hubs, logs)
	}
}
