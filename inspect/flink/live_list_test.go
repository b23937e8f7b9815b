package flink_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/testkit/port"
)

func TestTheJobsOfACluster(t *testing.T) {
	// As recorded: jobs that had not ended, the one that began last first, then the others.
	want := map[string]string{
		"1.20.5": "expired:RUNNING order-agent:RUNNING restored:RUNNING order-agent-b:RESTARTING order-agent:RUNNING in-progress:CANCELED ignored-savepoint:CANCELED order-agent-c:FAILED",
		"2.3.0":  "expired:RUNNING order-agent:RUNNING restored:RUNNING order-agent-b:RESTARTING order-agent:RUNNING in-progress:CANCELED ignored-savepoint:CANCELED order-agent-c:FAILED",
	}
	for version, want := range want {
		list, err := jobManager{version: version}.start(t).Jobs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, j := range list.Jobs {
			got = append(got, j.Name+":"+j.State)
			if (j.Ended != nil) != inspect.Ended(j.State) || j.Started == nil {
				t.Errorf("%s: %+v", version, j)
			}
		}
		if strings.Join(got, " ") != want || list.FlinkVersion != version || list.Cut != 0 || !list.AsOf.Equal(liveNow) || !strings.HasPrefix(list.Address, "http://127.0.0.1:") {
			t.Errorf("%s: %v, %+v", version, got, list)
		}
	}
}

func TestAVeryLongListOfJobsIsCut(t *testing.T) {
	var jobs []string
	for i := range 777 {
		jobs = append(jobs, fmt.Sprintf(`{"jid":"%032x","name":"n","state":"RUNNING","start-time":%d}`, i, i+1))
	}
	l := jobManager{version: "2.3.0", replace: map[string]http.HandlerFunc{"/jobs/overview": func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"jobs":[`+strings.Join(jobs, ",")+`]}`)
	}}}.start(t)
	list, err := l.Jobs(t.Context())
	if err != nil || len(list.Jobs) != 500 || list.Cut != 277 || list.Jobs[0].JobID != fmt.Sprintf("%032x", 776) {
		t.Errorf("%d jobs, %d cut, error %v", len(list.Jobs), list.Cut, err)
	}
}

func TestTheFailuresOfAJob(t *testing.T) {
	for _, version := range []string{"1.20.5", "2.3.0"} {
		id := idOf(t, version, "failed")
		l := jobManager{version: version}.start(t, "failed")
		list, err := l.Failures(t.Context(), inspect.RefOf("", "order-agent-c"), 20)
		if err != nil {
			t.Fatal(err)
		}
		if list.JobID != id || list.Name != "order-agent-c" || list.State != "FAILED" || list.CacheMs != 3000 || len(list.Failures) != 3 || list.More {
			t.Fatalf("%s: %+v", version, list)
		}
		for i, f := range list.Failures {
			if f.Type != "java.io.IOException" || f.Message != "the call of pay() was answered 503" || !strings.HasPrefix(f.Task, "action-execute-operator -> ") ||
				!strings.HasPrefix(f.Trace, f.Outer+"\n\tat ") || i > 0 && f.Time.After(*list.Failures[i-1].Time) {
				t.Errorf("%s: failure %d: %+v", version, i, f)
			}
		}
		// The job's own failure is the last task failure that its strategy gave up on.
		if first := list.Failures[0]; first.Concurrent != 1 || !strings.HasPrefix(first.Outer, "org.apache.flink.runtime.JobException: ") {
			t.Errorf("%s: %+v", version, first)
		}
		newest, err := l.Failures(t.Context(), inspect.RefOf("", id), 1)
		if err != nil || len(newest.Failures) != 1 || !newest.More || newest.Failures[0].Trace != list.Failures[0].Trace {
			t.Errorf("%s: the newest alone: %+v, error %v", version, newest, err)
		}
	}
}

func TestAJobWithoutFailures(t *testing.T) {
	list, err := jobManager{version: "2.3.0"}.start(t, "running").Failures(t.Context(), inspect.RefOf("", idOf(t, "2.3.0", "running")), 20)
	if err != nil || list.Failures == nil || len(list.Failures) != 0 || list.More {
		t.Errorf("%+v, error %v", list, err)
	}
}

func TestFailuresThatAreTooLargeTogetherAreAskedForOneByOne(t *testing.T) {
	id := idOf(t, "2.3.0", "failed")
	large := func(w http.ResponseWriter, r *http.Request) {
		entry := fmt.Sprintf(`{"stacktrace":"a.B: %s","timestamp":7}`, strings.Repeat("y", 9<<20))
		if r.URL.Query().Get("maxExceptions") != "1" {
			entry += "," + entry
		}
		_, _ = io.WriteString(w, `{"exceptionHistory":{"entries":[`+entry+`],"truncated":false}}`) // the client may have left
	}
	l := jobManager{version: "2.3.0", replace: map[string]http.HandlerFunc{"/jobs/" + id + "/exceptions": large}}.start(t, "failed")
	list, err := l.Failures(t.Context(), inspect.RefOf("", id), 20)
	if err != nil || len(list.Failures) != 1 || !list.More {
		t.Fatalf("%d failures, more %t, error %v", len(list.Failures), list.More, err)
	}
	if f := list.Failures[0]; f.Type != "a.B" || len(f.Message) > 5000 || len(f.Trace) > 33<<10 || !strings.HasSuffix(f.Trace, "bytes)") {
		t.Errorf("type %s, message of %d bytes, trace of %d", f.Type, len(f.Message), len(f.Trace))
	}
}

// Without a name the only job that has not ended is meant.
func TestTheOnlyJob(t *testing.T) {
	running, failed := idOf(t, "2.3.0", "running"), idOf(t, "2.3.0", "failed")
	answer := func(jobs string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"jobs":[`+jobs+`]}`) }
	}
	one := fmt.Sprintf(`{"jid":"%s","name":"order-agent","state":"RUNNING"}`, running)
	ended := fmt.Sprintf(`{"jid":"%s","name":"order-agent-c","state":"FAILED"}`, failed)
	live := func(jobs string) (inspect.LiveState, error) {
		l := jobManager{version: "2.3.0", replace: map[string]http.HandlerFunc{"/jobs/overview": answer(jobs)}}.start(t, "running", "failed")
		return l.Live(t.Context(), inspect.JobRef{})
	}
	if got, err := live(ended + "," + one); err != nil || got.JobID != running {
		t.Errorf("one of two has ended: job %s, error %v", got.JobID, err)
	}
	if _, err := live(one + "," + strings.Replace(one, running, strings.Repeat("1", 32), 1)); fault.KindOf(err) != fault.Usage ||
		!strings.Contains(err.Error(), "there are 2 jobs at http://") || !strings.Contains(err.Error(), running) {
		t.Errorf("two: %v", err)
	}
	if _, err := live(ended); fault.KindOf(err) != fault.NotFound || !strings.Contains(err.Error(), "there is no job that has not ended at http://") ||
		!strings.HasSuffix(err.Error(), "it has order-agent-c (FAILED)") {
		t.Errorf("none: %v", err)
	}
}

func TestAListFromWhoDoesNotAnswer(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"status":"UP"}`) }))
	t.Cleanup(other.Close)
	if _, err := liveAt(t, other.URL).Jobs(t.Context()); fault.KindOf(err) != fault.Unsupported {
		t.Errorf("another service: %v", err)
	}
	if _, err := liveAt(t, "http://"+port.Closed(t)).Failures(t.Context(), inspect.JobRef{}, 20); fault.KindOf(err) != fault.Unreachable {
		t.Errorf("nobody: %v", err)
	}
}

func TestACheckpointThatFlinkHasForgotten(t *testing.T) {
	id := idOf(t, "2.3.0", "running")
	l := jobManager{version: "2.3.0", replace: map[string]http.HandlerFunc{"/jobs/" + id + "/checkpoints/details/99999": func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write(recordings(t, "2.3.0", "details-not-found.json")) // the client may have left
	}}}.start(t, "running")
	_, err := l.Checkpoint(t.Context(), inspect.RefOf("", id), 99999)
	if fault.KindOf(err) != fault.NotFound || err.Error() != "checkpoint 99999 is not in Flink's history of job order-agent ("+id+")" || !strings.Contains(fault.Of(err).Hint, "the latest ones only") {
		t.Errorf("%v, hint %q", err, fault.Of(err).Hint)
	}
}
