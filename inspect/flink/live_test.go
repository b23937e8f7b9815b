package flink_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flinkrest"
	"github.com/recoverctl/recoverctl/internal/testkit/flinktest"
	"github.com/recoverctl/recoverctl/internal/testkit/port"
)

var liveNow = time.Date(2026, 11, 29, 18, 0, 0, 0, time.UTC)

// jobManager answers as real ones did. replace answers a path in place of a
// recording.
type jobManager struct {
	version string
	replace map[string]http.HandlerFunc
}

func recorded(version string) flinktest.Recorded {
	return flinktest.Recorded{Dir: filepath.Join("..", "..", "internal", "flinkrest", "testdata"), Version: version}
}

func recordings(t *testing.T, version, file string) []byte {
	t.Helper()
	return recorded(version).Answer(t, file)
}

// idOf is the id of the job in a recorded scenario.
func idOf(t *testing.T, version, scenario string) string {
	t.Helper()
	return recorded(version).JobID(t, scenario)
}

// start serves the cluster's answers, and those about the scenarios' jobs.
func (m jobManager) start(t *testing.T, scenarios ...string) *flink.Live {
	t.Helper()
	r := recorded(m.version)
	r.Replace = m.replace
	return liveAt(t, r.Start(t, scenarios...))
}

func liveAt(t *testing.T, address string) *flink.Live {
	t.Helper()
	client, err := flinkrest.New(flinkrest.Options{Address: address, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return flink.NewLive(client, clock.NewFake(liveNow))
}

func job(t *testing.T, l *flink.Live, idOrName string) inspect.LiveState {
	t.Helper()
	state, err := l.Job(t.Context(), idOrName)
	if err != nil {
		t.Fatal(err)
	}
	if len(state.Unread) != 0 || !state.AsOf.Equal(liveNow) || state.CacheMs != 3000 {
		t.Errorf("unread %v, as of %s, cached %d ms", state.Unread, state.AsOf, state.CacheMs)
	}
	return state
}

func TestARunningJob(t *testing.T) {
	for _, version := range []string{"1.20.5", "2.3.0"} {
		id := idOf(t, version, "running")
		got := job(t, jobManager{version: version}.start(t, "running"), id)
		if got.State != "RUNNING" || got.JobID != id || got.Name != "order-agent" || got.FlinkVersion != version || *got.MaxParallelism != 128 || *got.Restarts != 0 ||
			got.RestoredFrom != nil || got.LastException != nil || got.RootCause != nil || got.Since.Before(*got.Started) || liveNow.Sub(*got.Started) > time.Hour {
			t.Errorf("%s: %+v", version, got)
		}
		c := got.Checkpoints
		if c.Completed != 12 || c.Failed != 7 || c.Restores != 0 || len(c.History) != 10 || c.Cut != 0 || c.Restored != nil {
			t.Errorf("%s: %+v", version, c)
		}
		last := c.LatestCompleted
		if last.ID != 18 || last.Kind != inspect.KindCheckpoint || last.Status != inspect.CheckpointCompleted || last.Reason != nil || last.Ended.Before(*last.Triggered) ||
			!strings.HasSuffix(*last.Path, "/"+id+"/chk-18") {
			t.Errorf("%s: completed %+v", version, last)
		}
		if f := c.LatestFailed; f.ID != 6 || f.Path != nil || *f.Reason != "Checkpoint expired before completing." || f.Ended.Sub(*f.Triggered) < 400*time.Millisecond {
			t.Errorf("%s: failed %+v", version, f)
		}
		if s := c.LatestSavepoint; s.Kind != inspect.KindSavepoint || !strings.Contains(*s.Path, "/savepoint-") {
			t.Errorf("%s: savepoint %+v", version, s)
		}
		if s := got.Settings; *s.IntervalMs != 700 || s.TimeoutMs != 400 || s.Mode != "exactly_once" || s.Retention != inspect.RetainOnCancellation || *s.Retained != 5 || s.Unaligned {
			t.Errorf("%s: settings %+v", version, s)
		}
		if n := got.NextRestore; n.Source != inspect.SourcePoint || *n.ID != 18 || n.Path != last.Path || n.Field != "latest.completed" {
			t.Errorf("%s: next %+v", version, n)
		}
		if taken, ok := got.Taken(*last.Path + "/"); !ok || !taken.Time.Equal(*last.Triggered) {
			t.Errorf("%s: taken %+v", version, taken)
		}
	}
}

func TestAJobThatIsRestarting(t *testing.T) {
	for _, version := range []string{"1.20.5", "2.3.0"} {
		got := job(t, jobManager{version: version}.start(t, "restarting"), "order-agent-b")
		if got.State != "RESTARTING" || *got.Restarts != 1 || *got.LastException != "java.io.IOException: the call of pay() was answered 503" {
			t.Errorf("%s: %+v", version, got)
		}
		c := got.RootCause
		if c.Type != "java.io.IOException" || c.Message != "the call of pay() was answered 503" || c.Outer != "java.lang.IllegalStateException: action pay failed" ||
			!strings.HasPrefix(c.Task, "action-execute-operator -> Sink: Writer (") || c.Time.Before(*got.Started) || c.Time.After(got.Since.Add(time.Second)) {
			t.Errorf("%s: %+v", version, c)
		}
		if n := got.NextRestore; n.Source != inspect.SourcePoint || *n.ID != 3 || !strings.HasSuffix(*n.Path, "/chk-3") || len(n.Unknown) != 1 {
			t.Errorf("%s: next %+v", version, n)
		}
	}
}

func TestAJobThatFailedForGood(t *testing.T) {
	for _, version := range []string{"1.20.5", "2.3.0"} {
		got := job(t, jobManager{version: version}.start(t, "failed"), "order-agent-c")
		// The counter of 1.20.5 was left at 1; the tasks were in their third attempt.
		if got.State != "FAILED" || *got.Restarts != 2 || !strings.HasSuffix(*got.RestoredFrom, "/chk-6") || got.Checkpoints.Restored.ID != 6 || got.Checkpoints.Restores != 2 {
			t.Errorf("%s: %+v", version, got)
		}
		c := got.RootCause
		if c.Type != "java.io.IOException" || c.Message != "the call of pay() was answered 503" || !strings.HasPrefix(c.Task, "action-execute-operator -> ") ||
			!strings.HasPrefix(c.Outer, "org.apache.flink.runtime.JobException: Recovery is suppressed by FixedDelayRestartBackoffTimeStrategy(") {
			t.Errorf("%s: %+v", version, c)
		}
		if n := got.NextRestore; n.Source != inspect.SourceNone || n.ID != nil || !strings.Contains(n.Why, "checkpoint 9 is kept") {
			t.Errorf("%s: next %+v", version, n)
		}
	}
}

func TestARestoredJob(t *testing.T) {
	for _, version := range []string{"1.20.5", "2.3.0"} {
		got := job(t, jobManager{version: version}.start(t, "restored"), "restored")
		c := got.Checkpoints
		if got.State != "RUNNING" || *got.Restarts != 1 || c.Restores != 2 || *got.RestoredFrom != *c.Restored.Path || c.Restored.Kind != inspect.KindCheckpoint ||
			*got.NextRestore.ID != c.LatestCompleted.ID || c.LatestCompleted.ID <= c.Restored.ID {
			t.Errorf("%s: %+v", version, got)
		}
	}
}

// The recorded job had a savepoint newer than its only checkpoint when it
// failed, and Flink restored the checkpoint.
func TestANewerSavepointIsNotRestored(t *testing.T) {
	got := job(t, jobManager{version: "2.3.0"}.start(t, "ignored-savepoint"), idOf(t, "2.3.0", "ignored-savepoint"))
	c := got.Checkpoints
	if c.LatestSavepoint.ID != 2 || c.LatestCompleted.ID != 1 || c.Restored.ID != 1 || c.Restored.Time.Before(*c.LatestSavepoint.Ended) {
		t.Fatalf("the recording shows something else: %+v", c)
	}
	if n := got.NextRestore; *n.ID != 1 || !strings.Contains(n.Why, "savepoint 2 is newer") {
		t.Errorf("next %+v", n)
	}
}

func TestCheckpointsInProgressAndFailed(t *testing.T) {
	l := jobManager{version: "2.3.0"}.start(t, "in-progress", "expired", "no-checkpoints")
	id := idOf(t, "2.3.0", "in-progress")
	got := job(t, l, id)
	if h := got.Checkpoints.History; got.Checkpoints.InProgress != 1 || len(h) != 1 || h[0].Status != inspect.CheckpointInProgress || h[0].Ended != nil || h[0].Path != nil ||
		got.NextRestore.Source != inspect.SourceNoState {
		t.Errorf("in progress: %+v", got)
	}
	details, err := l.Checkpoint(t.Context(), inspect.RefOf("", id), 1)
	want := []inspect.LiveCheckpointTask{
		{Name: "Source: numbers", Status: "IN_PROGRESS", Acknowledged: 2, Subtasks: 2, Bytes: 530},
		{Name: "action-execute-operator -> Sink: Writer", Status: "IN_PROGRESS", Acknowledged: 0, Subtasks: 2},
	}
	if err != nil || details.ID != 1 || !slices.Equal(details.Tasks, want) {
		t.Errorf("details %+v, error %v", details, err)
	}
	got = job(t, l, idOf(t, "2.3.0", "expired"))
	if c := got.Checkpoints; c.Completed != 0 || c.Failed != 7 || len(c.History) != 6 || *c.History[5].Reason != "Checkpoint expired before completing." ||
		got.Settings.Retention != inspect.DeleteOnCancellation || got.NextRestore.Source != inspect.SourceNoState {
		t.Errorf("expired: %+v", got)
	}
	got = job(t, l, idOf(t, "2.3.0", "no-checkpoints"))
	if got.Settings.IntervalMs != nil || got.Settings.Retention != inspect.NoRetention || len(got.Checkpoints.History) != 0 || !strings.Contains(got.NextRestore.Why, "none are taken by time") {
		t.Errorf("no checkpoints: %+v", got)
	}
}

func TestFindingAJob(t *testing.T) {
	running, other := idOf(t, "2.3.0", "running"), idOf(t, "2.3.0", "no-checkpoints")
	l := jobManager{version: "2.3.0"}.start(t, "running", "failed")
	tests := map[string]struct {
		idOrName string
		kind     fault.Kind
		parts    []string
		hint     string
	}{
		"two jobs of one name": {"order-agent", fault.Usage, []string{"2 jobs at http://", "are named order-agent: ", running + " (RUNNING)", other + " (RUNNING)"}, "give the job's id"},
		"a name nobody has": {"order\x1b[2J", fault.NotFound, []string{`there is no job named order\x1b[2J at http://`, "it has expired (RUNNING), order-agent (RUNNING), ", " more"},
			"check the job's name"},
		"an id that is gone": {strings.Repeat("0", 32), fault.NotFound, []string{"there is no job 00000000000000000000000000000000 at http://", "order-agent (RUNNING)"}, "has a new id"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			state, err := l.Job(t.Context(), tt.idOrName)
			if err == nil || fault.KindOf(err) != tt.kind || !strings.Contains(fault.Of(err).Hint, tt.hint) || state.JobID != "" {
				t.Fatalf("%+v, kind %s, error %v, hint %q", state, fault.KindOf(err), err, fault.Of(err).Hint)
			}
			for _, part := range tt.parts {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("message %q, want %q in it", err, part)
				}
			}
		})
	}
	if _, err := (jobManager{version: "2.3.0", replace: map[string]http.HandlerFunc{"/jobs/overview": func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(recordings(t, "2.3.0", "jobs-overview-empty.json"))
	}}}).start(t).Job(t.Context(), "x"); fault.KindOf(err) != fault.NotFound || !strings.HasSuffix(err.Error(), "it has no jobs") {
		t.Errorf("no jobs: %v", err)
	}
}

func TestOfEndedJobsTheLastOneIsMeant(t *testing.T) {
	failed := idOf(t, "2.3.0", "failed")
	overview := fmt.Sprintf(`{"jobs":[{"jid":"%s","name":"a","state":"CANCELED","start-time":5},{"jid":"%s","name":"a","state":"FAILED","start-time":9},{"jid":"%s","name":"a","state":"FINISHED","start-time":7}]}`,
		strings.Repeat("1", 32), failed, strings.Repeat("2", 32))
	l := jobManager{version: "2.3.0", replace: map[string]http.HandlerFunc{"/jobs/overview": func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, overview)
	}}}.start(t, "failed")
	if got := job(t, l, "a"); got.JobID != failed {
		t.Errorf("job %s", got.JobID)
	}
}

// A real cluster ran a job with this name: an escape sequence, a bidirectional
// control and a zero-width space.
func TestAHostileName(t *testing.T) {
	const name = "evil \x1b[2J\u202e\u200bjob"
	l := jobManager{version: "2.3.0", replace: map[string]http.HandlerFunc{"/jobs/overview": func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(recordings(t, "2.3.0", "jobs-overview-hostile.json"))
	}}}.start(t)
	_, err := l.Job(t.Context(), "nobody")
	if !strings.Contains(err.Error(), `evil \x1b[2J\u202e\u200bjob (`) || strings.ContainsAny(err.Error(), "\x1b\u202e\u200b") {
		t.Errorf("error %q", err)
	}
	// It is found by exactly that name, and then is not among the recorded jobs.
	if _, err := l.Job(t.Context(), name); fault.KindOf(err) != fault.NotFound || strings.Contains(err.Error(), "named") {
		t.Errorf("error %q", err)
	}
}

func TestWhatCouldNotBeReadIsNamed(t *testing.T) {
	id := idOf(t, "2.3.0", "failed")
	fail := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, `{"errors":["no"]}`)
		}
	}
	huge := func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"exceptionHistory":{"entries":[{"stacktrace":"%s"}]}}`, strings.Repeat("y", 17<<20))
	}
	tests := map[string]struct {
		path   string
		answer http.HandlerFunc
		unread string
		kind   fault.Kind
	}{
		"exceptions":           {"/exceptions", fail(500), "exceptions", fault.Unreachable},
		"too large exceptions": {"/exceptions", huge, "exceptions", fault.Unsupported},
		"checkpoints":          {"/checkpoints", fail(403), "checkpoints", fault.Denied},
		"settings":             {"/checkpoints/config", fail(500), "settings", fault.Unreachable},
		"restarts":             {"/metrics", fail(500), "restarts", fault.Unreachable},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l := jobManager{version: "2.3.0", replace: map[string]http.HandlerFunc{"/jobs/" + id + tt.path: tt.answer}}.start(t, "failed")
			got, err := l.Job(t.Context(), id)
			if fault.KindOf(err) != tt.kind || !slices.Equal(got.Unread, []string{tt.unread}) || got.State != "FAILED" || got.JobID != id {
				t.Fatalf("%+v, error %v", got, err)
			}
			known := map[string]bool{"exceptions": got.LastException != nil, "checkpoints": got.Checkpoints != nil, "settings": got.Settings != nil, "restarts": got.Restarts != nil}
			for part, is := range known {
				if is == (part == tt.unread) {
					t.Errorf("%s known: %t", part, is)
				}
			}
		})
	}
	hidden := jobManager{version: "2.3.0", replace: map[string]http.HandlerFunc{"/jobmanager/config": fail(403)}}.start(t, "failed")
	if got := job(t, hidden, id); got.Settings.Retained != nil || got.Settings.Retention != inspect.RetainOnCancellation {
		t.Errorf("a hidden configuration: %+v", got.Settings)
	}
	unset := jobManager{version: "2.3.0", replace: map[string]http.HandlerFunc{"/jobmanager/config": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `[]`) }}}.start(t, "failed")
	if got := job(t, unset, id); *got.Settings.Retained != 1 {
		t.Errorf("Flink's default: %+v", got.Settings)
	}
}

func TestALongMessageIsCut(t *testing.T) {
	id := idOf(t, "2.3.0", "failed")
	l := jobManager{version: "2.3.0", replace: map[string]http.HandlerFunc{"/jobs/" + id + "/exceptions": func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"exceptionHistory":{"entries":[{"stacktrace":"a.B: o\nCaused by: a.C: %s\n\tat x","timestamp":7,"taskName":null}]}}`, strings.Repeat("é", 5<<20))
	}}}.start(t, "failed")
	c := job(t, l, id).RootCause
	if c.Type != "a.C" || !strings.HasSuffix(c.Message, "é… (cut after 4096 of 10485760 bytes)") || len(c.Message) > 5000 || c.Task != "" || c.Outer != "a.B: o" {
		t.Errorf("type %s, outer %s, %d bytes", c.Type, c.Outer, len(c.Message))
	}
}

func TestWhoDoesNotAnswer(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"status":"UP"}`) }))
	t.Cleanup(other.Close)
	if _, err := liveAt(t, other.URL).Job(t.Context(), "order-agent"); fault.KindOf(err) != fault.Unsupported || !strings.Contains(err.Error(), "not as Flink does") {
		t.Errorf("another service: %v", err)
	}
	if _, err := liveAt(t, "http://"+port.Closed(t)).Job(t.Context(), "order-agent"); fault.KindOf(err) != fault.Unreachable {
		t.Errorf("nobody: %v", err)
	}
}
