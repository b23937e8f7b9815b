//go:build real

package flink_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flinkrest"
)

// session is the real cluster that test/real/run.sh has started. Only this test
// starts and ends jobs; what it tests can't.
type session struct {
	address, checkpoints, version string
	jar                           string // id of the uploaded jar
	live                          *flink.Live
}

func env(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("%s is not set: run this test with test/real/run.sh", name)
	}
	return value
}

func realSession(t *testing.T) *session {
	t.Helper()
	s := &session{address: env(t, "RECOVERCTL_TEST_FLINK"), checkpoints: env(t, "RECOVERCTL_TEST_FLINK_CHECKPOINTS"), version: env(t, "RECOVERCTL_TEST_FLINK_VERSION")}
	client, err := flinkrest.New(flinkrest.Options{Address: s.address})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	s.live = flink.NewLive(client, clock.System{})

	jar, err := os.ReadFile(env(t, "RECOVERCTL_TEST_FLINK_JAR"))
	if err != nil {
		t.Fatal(err)
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("jarfile", "job.jar")
	if err != nil {
		t.Fatal(err)
	}
	_, err = part.Write(jar)
	if err = errors.Join(err, form.Close()); err != nil {
		t.Fatal(err)
	}
	var uploaded struct {
		Filename string `json:"filename"`
	}
	s.send(t, http.MethodPost, "/jars/upload", form.FormDataContentType(), &body, &uploaded)
	s.jar = filepath.Base(uploaded.Filename)
	return s
}

// send makes one request of the REST API and decodes what it answers.
func (s *session) send(t *testing.T, method, path, contentType string, body io.Reader, answer any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.address+path, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 {
		t.Fatalf("%s %s: %s %s, error %v", method, path, res.Status, text, err)
	}
	if err := json.Unmarshal(text, answer); err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
}

func (s *session) post(t *testing.T, path string, body, answer any) {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	s.send(t, http.MethodPost, path, "application/json", bytes.NewReader(data), answer)
}

// run starts the job and returns its id.
func (s *session) run(t *testing.T, args ...string) string {
	t.Helper()
	var started struct {
		JobID string `json:"jobid"`
	}
	s.post(t, "/jars/"+s.jar+"/run", map[string]any{"parallelism": 2, "programArgsList": append(args, "--checkpoints", "file:"+s.checkpoints)}, &started)
	return started.JobID
}

func (s *session) cancel(t *testing.T, id string) {
	t.Helper()
	s.send(t, http.MethodPatch, "/jobs/"+id+"?mode=cancel", "application/json", http.NoBody, &struct{}{})
}

// snapshot triggers a checkpoint or savepoint and waits for it; false when it
// failed.
func (s *session) snapshot(t *testing.T, id, kind string, body any) bool {
	t.Helper()
	var trigger struct {
		ID string `json:"request-id"`
	}
	s.post(t, "/jobs/"+id+"/"+kind, body, &trigger)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		var now struct {
			Status struct {
				ID string `json:"id"`
			} `json:"status"`
			Operation struct {
				Checkpoint any `json:"failureCause"`
				Savepoint  any `json:"failure-cause"`
			} `json:"operation"`
		}
		s.send(t, http.MethodGet, "/jobs/"+id+"/"+kind+"/"+trigger.ID, "application/json", http.NoBody, &now)
		if now.Status.ID == "COMPLETED" {
			return now.Operation.Checkpoint == nil && now.Operation.Savepoint == nil
		}
	}
	t.Fatalf("%s of job %s did not come to an end", kind, id)
	return false
}

// wait reads a job's live state until it is as is says.
func (s *session) wait(t *testing.T, idOrName, what string, is func(inspect.LiveState) bool) inspect.LiveState {
	t.Helper()
	var state inspect.LiveState
	var err error
	for deadline := time.Now().Add(90 * time.Second); time.Now().Before(deadline); time.Sleep(250 * time.Millisecond) {
		if state, err = s.live.Job(t.Context(), idOrName); err == nil && is(state) {
			return state
		}
	}
	text, _ := json.MarshalIndent(state, "", " ") // of what can't fail
	t.Fatalf("%s: not seen; the last answer is %s, error %v", what, text, err)
	return state
}

func TestRealRunningJobAndItsMarkers(t *testing.T) {
	t.Parallel()
	s := realSession(t)
	begun := time.Now().Add(-time.Second)
	id := s.run(t, "--name", "real-running", "--interval", "500", "--topic", "orders", "--topic-id", "AAAAAAAAAAAAAAAAAAAAAQ", "--offsets", "0:100,1:150,2:9223372036854775807;0:90,1:160,2:7")
	got := s.wait(t, "real-running", "three checkpoints", func(l inspect.LiveState) bool {
		return l.Checkpoints.Completed >= 3 && l.Restarts != nil
	})
	if got.JobID != id || got.State != "RUNNING" || got.FlinkVersion != s.version || *got.Restarts != 0 || got.RestoredFrom != nil || got.RootCause != nil || len(got.Unread) != 0 {
		t.Errorf("%+v", got)
	}
	for _, c := range got.Checkpoints.History {
		if c.Status != inspect.CheckpointCompleted {
			continue
		}
		want := fmt.Sprintf("file:%s/%s/chk-%d", s.checkpoints, id, c.ID)
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
	s.cancel(t, id)
	ended := s.wait(t, id, "the end", func(l inspect.LiveState) bool { return l.State == "CANCELED" })
	if n := ended.NextRestore; n.Source != inspect.SourceNone || !strings.Contains(n.Why, "is kept") {
		t.Errorf("next %+v", n)
	}
	points, err := newStore(t, flink.Options{}).Points(t.Context(), "file:"+s.checkpoints+"/"+id)
	if err != nil || len(points) == 0 || len(points) > 5 {
		t.Fatalf("%d points, error %v", len(points), err)
	}
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
	id := s.run(t, "--name", "real-restarting", "--fail-after", "1", "--attempts", "3", "--delay", "3600000", "--message", "the payment was answered 503: try later")
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
	s.cancel(t, id)
}

func TestRealFailedJob(t *testing.T) {
	t.Parallel()
	s := realSession(t)
	id := s.run(t, "--name", "real-failed", "--fail-after", "1", "--attempts", "1", "--delay", "300")
	got := s.wait(t, "real-failed", "the end", func(l inspect.LiveState) bool {
		return l.State == "FAILED" && l.Checkpoints.Restored != nil
	})
	if got.JobID != id || *got.Restarts != 1 || *got.RestoredFrom != fmt.Sprintf("file:%s/%s/chk-%d", s.checkpoints, id, got.Checkpoints.Restored.ID) ||
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
	id := s.run(t, "--name", "real-savepoint", "--interval", "86400000", "--fail-after", "6", "--fail-times", "1", "--attempts", "3", "--delay", "300")
	s.wait(t, id, "running", func(l inspect.LiveState) bool { return l.State == "RUNNING" })
	for deadline := time.Now().Add(time.Minute); !s.snapshot(t, id, "checkpoints", map[string]any{"checkpointType": "FULL"}); {
		if time.Now().After(deadline) { // not every task runs yet
			t.Fatal("no checkpoint was taken")
		}
	}
	if !s.snapshot(t, id, "savepoints", map[string]any{"cancel-job": false}) {
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
	s.cancel(t, id)
}

func TestRealJobsThatAreNotMeant(t *testing.T) {
	t.Parallel()
	s := realSession(t)
	one, two := s.run(t, "--name", "real-twins"), s.run(t, "--name", "real-twins")
	// The list of jobs is not cached.
	_, err := s.live.Job(t.Context(), "real-twins")
	if fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), one) || !strings.Contains(err.Error(), two) {
		t.Errorf("two jobs of one name: %v", err)
	}
	s.cancel(t, two)
	if got := s.wait(t, "real-twins", "one of them", func(inspect.LiveState) bool { return true }); got.JobID != one {
		t.Errorf("job %s, want %s", got.JobID, one)
	}
	s.cancel(t, one)
	if _, err := s.live.Job(t.Context(), strings.Repeat("0", 32)); fault.KindOf(err) != fault.NotFound || !strings.Contains(err.Error(), "real-twins (") {
		t.Errorf("a job that is gone: %v", err)
	}
}
