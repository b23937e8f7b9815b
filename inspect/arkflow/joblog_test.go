package arkflow_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/testkit/arkincident"
)

// sample is the demo's hub, asked at the moment at which it stands.
func sample(t *testing.T) (*arkincident.Incident, *arkflow.Hub) {
	t.Helper()
	in, err := arkincident.StartAt(t.Context(), t.TempDir(), night)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(in.Close)
	hub, closeHub, err := in.Ask(clock.NewFake(night))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(closeHub)
	return in, hub
}

func outcomes(rows []arkflow.Decision) map[string]arkflow.Outcome {
	out := map[string]arkflow.Outcome{}
	for _, d := range rows {
		if d.Scope == arkflow.OfLog {
			out[d.Row] = d.Outcome
		}
	}
	return out
}

// With a log beside it a job has the rows about the log, too, as the log by itself
// has; without one it has none of them.
func TestTheRowsOfALogBesideAJob(t *testing.T) {
	in, hub := sample(t)
	without, err := hub.Job(t.Context(), arkincident.JobInOrder, "")
	if err != nil {
		t.Fatal(err)
	}
	if rows := outcomes(without.Decisions); len(rows) > 0 || without.Log != nil {
		t.Errorf("no log was named: %v", rows)
	}
	place := in.Log(arkincident.StreamGap)
	with, err := hub.WithLog(logReader(), place, nil).Job(t.Context(), arkincident.JobInOrder, "")
	if err != nil {
		t.Fatal(err)
	}
	rows := outcomes(with.Decisions)
	if rows["7"] != arkflow.Holds || rows["1"] != arkflow.Clear || rows["3"] != arkflow.NotChecked || with.Log == nil || *with.Log.Cursor != 4 {
		t.Errorf("%v", rows)
	}
	l, err := logReader().Read(t.Context(), place, arkflow.Question{})
	if err != nil {
		t.Fatal(err)
	}
	alone := outcomes(arkflow.DecideLog(place, &l, nil, night))
	for row, want := range rows {
		if alone[row] != want {
			t.Errorf("row %s: %s by itself, %s beside the job", row, alone[row], want)
		}
	}
}

// A log that no engine can open is row 18 of the table, beside a job and by itself.
func TestALogThatCantBeOpened(t *testing.T) {
	in, hub := sample(t)
	place := in.Log(arkincident.StreamReady)
	if err := os.Truncate(filepath.Join(place, arkflow.FileName), 100); err != nil {
		t.Fatal(err)
	}
	d, err := hub.WithLog(logReader(), place, nil).Job(t.Context(), arkincident.JobInOrder, "")
	if err != nil {
		t.Fatal(err)
	}
	if rows := outcomes(d.Decisions); rows["18"] != arkflow.Holds || d.Log != nil {
		t.Errorf("%v", rows)
	}
	_, fault := logReader().Read(t.Context(), place, arkflow.Question{})
	if rows := outcomes(arkflow.DecideLog(place, nil, fault, night)); rows["18"] != arkflow.Holds || rows["1"] != arkflow.NotChecked {
		t.Errorf("%v", rows)
	}
}

// A checkpoint on record as completed is in force only where its store has it whole.
func TestHealthIsWhatTheStoreHolds(t *testing.T) {
	in, hub := sample(t)
	ask := func() arkflow.JobDetail {
		t.Helper()
		d, err := hub.Job(t.Context(), arkincident.JobInOrder, "")
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	whole := ask()
	if h := whole.Job.Health; h.State != arkflow.HealthGood || h.Source != "derived" {
		t.Errorf("%+v", h)
	}
	lose := func(id string) {
		t.Helper()
		states, err := filepath.Glob(filepath.Join(in.Store, arkincident.JobInOrder, "checkpoints", id, "state-*.json"))
		if err != nil || len(states) == 0 {
			t.Fatal(id, states, err)
		}
		if err := os.Remove(states[0]); err != nil {
			t.Fatal(err)
		}
	}
	newest, next := whole.Points.Points[0], whole.Points.Points[1]
	lose(newest.ID)
	d := ask()
	if h := d.Job.Health; h.State != arkflow.HealthDegraded || h.Completed != next.ID || *h.AgeMs != night.Sub(*next.Created).Milliseconds() || !strings.Contains(h.Sentence, newest.ID) {
		t.Errorf("%+v", h)
	}
	if !strings.Contains(d.Job.Protected.Sentence, "the newest whole one 7m old") {
		t.Error(d.Job.Protected.Sentence)
	}
	for _, p := range whole.Points.Points[1:] {
		if p.Kind == newest.Kind {
			lose(p.ID)
		}
	}
	if h := ask().Job.Health; h.State != arkflow.HealthNone || h.Completed != "" || h.AgeMs != nil {
		t.Errorf("%+v", h)
	}
}

// The answer about one point is in the job's.
func TestTheValidationOfAPointThatWasRead(t *testing.T) {
	_, hub := sample(t)
	d, err := hub.Job(t.Context(), arkincident.JobRejected, "")
	if err != nil {
		t.Fatal(err)
	}
	id := d.Points.Points[1].ID
	asked, err := hub.Validate(t.Context(), id, "")
	if err != nil {
		t.Fatal(err)
	}
	v, ok := d.Validation(id)
	if !ok || v.Verdict != asked.Verdict || v.Point != asked.Point || len(v.Rules) != len(asked.Rules) || v.Older == nil || v.Older.URI != asked.Older.URI {
		t.Errorf("%+v, asked for it %+v", v, asked)
	}
	if _, ok := d.Validation("checkpoint-1-1"); ok {
		t.Error("a point that is not there is validated")
	}
	if took := night.Sub(*d.Points.Points[1].Created); took != 17*time.Minute {
		t.Errorf("%s old", took)
	}
}
