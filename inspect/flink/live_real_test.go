//go:build real

package flink_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flinkrest"
	"github.com/recoverctl/recoverctl/internal/testkit/flinktest"
)

// session is the real cluster with what is tested here.
type session struct {
	*flinktest.Session
	live *flink.Live
}

func realSession(t *testing.T) *session {
	t.Helper()
	s := &session{Session: flinktest.Real(t)}
	client, err := flinkrest.New(flinkrest.Options{Address: s.Address})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	s.live = flink.NewLive(client, clock.System{})
	return s
}

// wait reads a job's live state until it is as is says.
func (s *session) wait(t *testing.T, idOrName, what string, is func(inspect.LiveState) bool) inspect.LiveState {
	t.Helper()
	var state inspect.LiveState
	var err error
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(250 * time.Millisecond) {
		if state, err = s.live.Job(t.Context(), idOrName); err == nil && is(state) {
			return state
		}
	}
	text, _ := json.MarshalIndent(state, "", " ") // of what can't fail
	t.Fatalf("%s: not seen; the last answer is %s, error %v", what, text, err)
	return state
}

// settled reads the points of a job that has ended. Flink discards those that are
// not retained in the background, and calls the job ended before that; one that
// it completes while the job is being cancelled may stay beside the others for good.
func (s *session) settled(t *testing.T, id string, retained int) []inspect.RecoveryPoint {
	t.Helper()
	var points []inspect.RecoveryPoint
	var err error
	for deadline := time.Now().Add(15 * time.Second); time.Now().Before(deadline); time.Sleep(250 * time.Millisecond) {
		points, err = newStore(t, flink.Options{}).Points(t.Context(), "file:"+s.Checkpoints+"/"+id)
		if err == nil && len(points) > 0 && len(points) <= retained {
			return points
		}
	}
	if err != nil || len(points) == 0 || len(points) > retained+1 {
		t.Fatalf("%d points, error %v; want 1 to %d, or one more", len(points), err, retained)
	}
	return points
}

func TestRealRunningJobAndItsMarkers(t *testing.T) {
	t.Parallel()
	s := realSession(t)
	begun := time.Now().Add(-time.Second)
	id := s.Run(t, "--name", "real-running", "--interval", "500", "--topic", "orders", "--topic-id", "AAAAAAAAAAAAAAAAAAAAAQ", "--offsets", "0:100,1:150,2:9223372036854775807;0:90,1:160,2:7")
	got := s.wait(t, "real-running", "three checkpoints", func(l inspect.LiveState) bool {
		return l.Checkpoints.Completed >= 3 && l.Restarts != nil
	})
	if got.JobID != id || got.State != "RUNNING" || got.FlinkVersion != s.Version || got.MaxParallelism == nil || *got.MaxParallelism != 128 || *got.Restarts != 0 || got.RestoredFrom != nil || got.RootCause != nil || len(got.Unread) != 0 {
		t.Errorf("%+v", got)
	}
	for _, c := range got.Checkpoints.History {
		if c.Status != inspect.CheckpointCompleted {
			continue
		}
		want := fmt.Sprintf("file:%s/%s/chk-%d", s.Checkpoints, id, c.ID)
		if *c.Path != want || c.Triggered.Before(begun) || c.Ended.Before(*c.Triggered) || c.Ended.After(time.Now()) || c.Bytes <= 0 {
			t.Errorf("%+v, want the path %s", c, want)
		}
	}
	if set := got.Settings; *set.IntervalMs != 500 || set.Retention != inspect.RetainOnCancellation || *set.Retained != 5 || set.Mode != "exactly_once" {
		t.Errorf("settings %+v", set)
	}
	if n := got.NextRestore; n.Source != inspect.SourcePoint || *n.ID != got.Checkpoints.LatestCompleted.ID || n.Field != "latest.completed" {
		t.Errorf("next %+v", n)
	}

	// Once it has ended, its last checkpoints stay as they are.
	s.Cancel(t, id)
	ended := s.wait(t, id, "the end", func(l inspect.LiveState) bool { return l.State == "CANCELED" })
	if n := ended.NextRestore; n.Source != inspect.SourceNone || !strings.Contains(n.Why, "is kept") {
		t.Errorf("next %+v", n)
	}
	points := s.settled(t, id, 5)
	want := []map[int32]int64{{0: 100, 1: 150, 2: 1<<63 - 1}, {0: 90, 1: 160, 2: 7}}
	timed := 0
	for _, p := range points {
		if p.Merged.Kind != inspect.MergedVersioned || !maps.Equal(p.Merged.Offsets, inspect.Offsets{0: 90, 1: 150, 2: 7}) || p.WorstCheck() == inspect.SeverityError || len(p.Markers) != 2 {
			t.Fatalf("%s: merged %+v, checks %+v, %d markers", p.URI, p.Merged, p.Checks, len(p.Markers))
		}
		for _, m := range p.Markers {
			if *m.SchemaVersion != 1 || *m.Topic != "orders" || *m.TopicID != "AAAAAAAAAAAAAAAAAAAAAQ" || !maps.Equal(m.Offsets, want[m.Subtask]) {
				t.Errorf("%s: subtask %d has %+v", p.URI, m.Subtask, m)
			}
		}
		if taken, ok := ended.Taken(p.URI); ok {
			timed++
			if taken.Time.Before(begun) || taken.Time.After(time.Now()) {
				t.Errorf("%s: taken %s", p.URI, taken.Time)
			}
		}
	}
	if timed == 0 {
		t.Errorf("no point on disk is in Flink's history %+v", ended.Checkpoints)
	}
}

func TestRealRestartingJob(t *testing.T) {
	t.Parallel()
	s := realSession(t)
	id := s.Run(t, "--name", "real-restarting", "--fail-after", "1", "--attempts", "3", "--delay", "3600000", "--message", "the payment was answered 503: try later")
	got := s.wait(t, id, "a restart", func(l inspect.LiveState) bool {
		return l.State == "RESTARTING" && l.RootCause != nil && l.Restarts != nil && *l.Restarts == 1 && l.Checkpoints.LatestCompleted != nil
	})
	c := got.RootCause
	if c.Type != "java.io.IOException" || c.Message != "the payment was answered 503: try later" || c.Outer != "java.lang.IllegalStateException: action pay failed" ||
		!strings.HasPrefix(c.Task, "action-execute-operator -> Sink: Writer (") || c.Time.Before(*got.Started) || *got.LastException != c.Type+": "+c.Message {
		t.Errorf("%+v, last exception %s", c, *got.LastException)
	}
	if n := got.NextRestore; n.Source != inspect.SourcePoint || *n.ID != got.Checkpoints.LatestCompleted.ID || len(n.Unknown) != 1 {
		t.Errorf("next %+v", n)
	}
	s.Cancel(t, id)
}

func TestRealFailedJob(t *testing.T) {
	t.Parallel()
	s := realSession(t)
	id := s.Run(t, "--name", "real-failed", "--fail-after", "1", "--attempts", "1", "--delay", "300")
	got := s.wait(t, "real-failed", "the end", func(l inspect.LiveState) bool {
		return l.State == "FAILED" && l.Checkpoints.Restored != nil
	})
	if got.JobID != id || *got.Restarts != 1 || *got.RestoredFrom != fmt.Sprintf("file:%s/%s/chk-%d", s.Checkpoints, id, got.Checkpoints.Restored.ID) ||
		got.Checkpoints.Restored.Kind != inspect.KindCheckpoint || got.Checkpoints.Restores != 1 {
		t.Errorf("%+v", got)
	}
	c := got.RootCause
	if c.Type != "java.io.IOException" || c.Message != "the call of pay() was answered 503" || !strings.Contains(c.Outer, "Recovery is suppressed by") ||
		!strings.HasPrefix(c.Task, "action-execute-operator -> ") {
		t.Errorf("%+v", c)
	}
	if n := got.NextRestore; n.Source != inspect.SourceNone || n.Path != nil {
		t.Errorf("next %+v", n)
	}
}

func TestRealSavepointIsNotRestoredByItself(t *testing.T) {
	t.Parallel()
	s := realSession(t)
	id := s.Run(t, "--name", "real-savepoint", "--interval", "86400000", "--fail-after", "6", "--fail-times", "1", "--attempts", "3", "--delay", "300")
	s.wait(t, id, "running", func(l inspect.LiveState) bool { return l.State == "RUNNING" })
	for deadline := time.Now().Add(time.Minute); !s.Snapshot(t, id, "checkpoints", map[string]any{"checkpointType": "FULL"}); {
		if time.Now().After(deadline) { // not every task runs yet
			t.Fatal("no checkpoint was taken")
		}
	}
	if !s.Snapshot(t, id, "savepoints", map[string]any{"cancel-job": false}) {
		t.Fatal("no savepoint was taken")
	}
	got := s.wait(t, id, "a restore", func(l inspect.LiveState) bool {
		return l.Checkpoints.Restored != nil && l.Checkpoints.LatestSavepoint != nil && l.State == "RUNNING"
	})
	c := got.Checkpoints
	if c.LatestSavepoint.ID <= c.LatestCompleted.ID || c.Restored.ID != c.LatestCompleted.ID || c.Restored.Time.Before(*c.LatestSavepoint.Ended) {
		t.Errorf("restored %+v, checkpoint %+v, savepoint %+v", c.Restored, c.LatestCompleted, c.LatestSavepoint)
	}
	if n := got.NextRestore; *n.ID != c.LatestCompleted.ID || !strings.Contains(n.Why, "is newer, and Flink does not use it by itself") {
		t.Errorf("next %+v", n)
	}
	s.Cancel(t, id)
}

func TestRealJobsThatAreNotMeant(t *testing.T) {
	t.Parallel()
	s := realSession(t)
	one, two := s.Run(t, "--name", "real-twins"), s.Run(t, "--name", "real-twins")
	// The list of jobs is not cached.
	_, err := s.live.Job(t.Context(), "real-twins")
	if fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), one) || !strings.Contains(err.Error(), two) {
		t.Errorf("two jobs of one name: %v", err)
	}
	s.Cancel(t, two)
	if got := s.wait(t, "real-twins", "one of them", func(inspect.LiveState) bool { return true }); got.JobID != one {
		t.Errorf("job %s, want %s", got.JobID, one)
	}
	s.Cancel(t, one)
	if _, err := s.live.Job(t.Context(), strings.Repeat("0", 32)); fault.KindOf(err) != fault.NotFound || !strings.Contains(err.Error(), "real-twins (") {
		t.Errorf("a job that is gone: %v", err)
	}
}
