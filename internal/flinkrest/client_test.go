package flinkrest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flinkrest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// versions are the Flink versions whose answers were recorded in testdata.
var versions = []string{"1.20.5", "2.3.0"}

// recorded answers as a JobManager did: paths are as in "/jobs/ID/checkpoints",
// values are files of testdata.
func recorded(t *testing.T, version string, answers map[string]string) *flinkrest.Client {
	t.Helper()
	return client(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.ContentLength > 0 {
			t.Errorf("%s with %d bytes", r.Method, r.ContentLength)
		}
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		file, ok := answers[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			file = "job-not-found.json"
		}
		_, _ = w.Write(read(t, version, file)) // the client may have left
	}, flinkrest.Options{})
}

func read(t *testing.T, version, file string) []byte {
	t.Helper()
	data, err := readFile(version, file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func readFile(version, file string) ([]byte, error) {
	return os.ReadFile(filepath.Join("testdata", "flink-"+version, file))
}

func client(t *testing.T, handler http.HandlerFunc, o flinkrest.Options) *flinkrest.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	o.Address = server.URL
	c, err := flinkrest.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// idOf is the id in a recorded answer about a job.
func idOf(t *testing.T, version, scenario string) string {
	t.Helper()
	var job struct {
		ID string `json:"jid"`
	}
	if err := json.Unmarshal(read(t, version, scenario+"/job.json"), &job); err != nil || job.ID == "" {
		t.Fatalf("%s/%s: id %q, error %v", version, scenario, job.ID, err)
	}
	return job.ID
}

func TestWhoAnswers(t *testing.T) {
	for _, version := range versions {
		c := recorded(t, version, map[string]string{"/config": "config.json"})
		config, err := c.Config(t.Context())
		if err != nil || config.Version != version || config.RefreshInterval != 3000 || config.Features.History {
			t.Errorf("%s: %+v, error %v", version, config, err)
		}
	}
}

func TestJobsOfOneName(t *testing.T) {
	for _, version := range versions {
		c := recorded(t, version, map[string]string{"/jobs/overview": "jobs-overview.json"})
		jobs, err := c.Jobs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]bool{}
		for _, j := range jobs {
			if j.Name == "order-agent" && j.State == "RUNNING" && j.StartTime > 1.7e12 && j.EndTime == -1 {
				found[j.ID] = true
			}
		}
		if len(found) != 2 || !found[idOf(t, version, "running")] {
			t.Errorf("%s: running jobs named order-agent: %v", version, found)
		}
	}
	c := recorded(t, "2.3.0", map[string]string{"/jobs/overview": "jobs-overview-empty.json"})
	if jobs, err := c.Jobs(t.Context()); err != nil || len(jobs) != 0 {
		t.Errorf("no jobs: %v, error %v", jobs, err)
	}
}

func TestAJobThatRestarts(t *testing.T) {
	for _, version := range versions {
		id := idOf(t, version, "restarting")
		c := recorded(t, version, map[string]string{
			"/jobs/" + id:                            "restarting/job.json",
			"/jobs/" + id + "/exceptions":            "restarting/exceptions.json",
			"/jobs/" + id + "/metrics":               "restarting/metrics.json",
			"/jobs/" + id + "/config":                "restarting/config.json",
			"/jobs/" + id + "/checkpoints/config":    "restarting/checkpoints-config.json",
			"/jobs/" + id + "/checkpoints/details/3": "restarting/details.json",
			"/jobmanager/config":                     "jobmanager-config.json",
			"/jobs/" + id + "/vertices/some vertex":  "restarting/vertex.json",
		})
		job, err := c.Job(t.Context(), id)
		if err != nil || job.State != "RESTARTING" || job.Name != "order-agent-b" || job.Timestamps["RESTARTING"] <= job.StartTime || len(job.Vertices) != 2 ||
			job.Vertices[1].Name != "action-execute-operator -> Sink: Writer" || job.Vertices[1].Parallelism != 2 {
			t.Errorf("%s: %+v, error %v", version, job, err)
		}
		exceptions, err := c.Exceptions(t.Context(), id, 5)
		if err != nil || len(exceptions.History.Entries.Items) != 1 {
			t.Fatalf("%s: %+v, error %v", version, exceptions, err)
		}
		f := exceptions.History.Entries.Items[0]
		if f.ExceptionName != "java.lang.IllegalStateException" || !strings.HasPrefix(f.TaskName, "action-execute-operator -> Sink: Writer (") ||
			!strings.Contains(f.StackTrace, "\nCaused by: java.io.IOException: the call of pay() was answered 503\n") || f.Timestamp < job.StartTime {
			t.Errorf("%s: %+v", version, f)
		}
		if n, known, err := c.Restarts(t.Context(), id); err != nil || !known || n != 1 {
			t.Errorf("%s: restarts %d, known %t, error %v", version, n, known, err)
		}
		config, err := c.CheckpointConfig(t.Context(), id)
		if err != nil || config.Mode != "exactly_once" || config.Interval != 500 || !config.Externalization.Enabled || config.Externalization.DeleteOnCancellation ||
			config.Storage != "FileSystemCheckpointStorage" || config.TolerableFailures != 1000 {
			t.Errorf("%s: %+v, error %v", version, config, err)
		}
		want := map[string]string{"1.20.5": "Cluster level default restart strategy", "2.3.0": "Restart with fixed delay (PT1H). #3 restart attempts."}
		if e, err := c.ExecutionConfig(t.Context(), id); err != nil || e.Execution.RestartStrategy != want[version] {
			t.Errorf("%s: %+v, error %v", version, e, err)
		}
		details, err := c.Checkpoint(t.Context(), id, 3)
		if err != nil || details.ID != 3 || details.Status != "COMPLETED" || len(details.Tasks) != 2 || details.Tasks[job.Vertices[1].ID].Acknowledged != 2 {
			t.Errorf("%s: %+v, error %v", version, details, err)
		}
		value, set, err := c.ClusterOption(t.Context(), "state.checkpoints.num-retained", "execution.checkpointing.num-retained")
		if err != nil || !set || value != "5" {
			t.Errorf("%s: %q, set %t, error %v", version, value, set, err)
		}
		if attempt, err := c.Attempt(t.Context(), id, "some vertex"); err != nil || attempt != 0 {
			t.Errorf("%s: attempt %d, error %v", version, attempt, err)
		}
	}
}

func TestCheckpointsOfEveryKind(t *testing.T) {
	read := func(version, scenario string) flinkrest.Checkpoints {
		id := idOf(t, version, scenario)
		c := recorded(t, version, map[string]string{"/jobs/" + id + "/checkpoints": scenario + "/checkpoints.json"})
		got, err := c.Checkpoints(t.Context(), id)
		if err != nil {
			t.Fatalf("%s %s: %v", version, scenario, err)
		}
		return got
	}
	for _, version := range versions {
		got := read(version, "running")
		if got.Counts.Completed != 12 || got.Counts.Failed != 7 || got.History.Total != 10 || got.History.Cut() != 0 {
			t.Errorf("%s: %+v", version, got)
		}
		completed := got.Latest.Completed
		if completed == nil || completed.ID != 18 || completed.IsSavepoint || completed.Subtasks != 4 || completed.StateSize <= 0 || completed.LatestAck < completed.TriggerTimestamp ||
			!strings.HasSuffix(completed.ExternalPath, "/"+idOf(t, version, "running")+"/chk-18") {
			t.Errorf("%s: completed %+v", version, completed)
		}
		if s := got.Latest.Savepoint; s == nil || !s.IsSavepoint || !strings.Contains(s.ExternalPath, "/savepoints/savepoint-") {
			t.Errorf("%s: savepoint %+v", version, s)
		}
		if f := got.Latest.Failed; f == nil || f.Status != "FAILED" || f.FailureMessage != "Checkpoint expired before completing." || f.FailureTimestamp <= f.TriggerTimestamp {
			t.Errorf("%s: failed %+v", version, f)
		}
		if r := read(version, "failed").Latest.Restored; r == nil || r.ID != 6 || r.IsSavepoint || r.RestoreTimestamp <= 0 || !strings.HasSuffix(r.ExternalPath, "/chk-6") {
			t.Errorf("%s: restored %+v", version, r)
		}
	}
	got := read("2.3.0", "in-progress")
	if got.Counts.InProgress != 1 || len(got.History.Items) != 1 || got.History.Items[0].Status != "IN_PROGRESS" || got.History.Items[0].Acknowledged != 2 || got.History.Items[0].ExternalPath != "" {
		t.Errorf("in progress: %+v", got)
	}
	if off := read("2.3.0", "no-checkpoints"); off.Counts.Total != 0 || off.Latest.Completed != nil || off.Latest.Restored != nil || off.History.Total != 0 {
		t.Errorf("no checkpoints: %+v", off)
	}
}

func TestNumbersAreExact(t *testing.T) {
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/jobs/x/checkpoints/config":
			_, _ = w.Write(read(t, "2.3.0", "no-checkpoints/checkpoints-config.json"))
		default:
			fmt.Fprint(w, `{"counts":null,"latest":{"completed":{"id":9007199254740993,"external_path":null,"discarded":null},"restored":null},"history":null,"x":1e400}`)
		}
	}, flinkrest.Options{})
	if config, err := c.CheckpointConfig(t.Context(), "x"); err != nil || config.Interval != math.MaxInt64 {
		t.Errorf("%+v, error %v", config, err)
	}
	got, err := c.Checkpoints(t.Context(), "x")
	if err != nil || got.Latest.Completed.ID != 1<<53+1 || got.Latest.Completed.ExternalPath != "" || got.History.Total != 0 {
		t.Errorf("%+v, error %v", got, err)
	}
}

func TestALongHistoryIsCut(t *testing.T) {
	c := client(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"history":[`)
		for id := 5000; id > 0; id-- {
			fmt.Fprintf(w, `{"id":%d,"status":"COMPLETED","tasks":{"a":[{}]},"external_path":"file:/c/chk-%d"}`, id, id)
			if id > 1 {
				_, _ = io.WriteString(w, ",")
			}
		}
		_, _ = io.WriteString(w, `]}`)
	}, flinkrest.Options{})
	got, err := c.Checkpoints(t.Context(), "x")
	if err != nil || got.History.Total != 5000 || len(got.History.Items) != flinkrest.MaxItems || got.History.Cut() != 4500 {
		t.Fatalf("%d of %d, error %v", len(got.History.Items), got.History.Total, err)
	}
	if first, last := got.History.Items[0].ID, got.History.Items[flinkrest.MaxItems-1].ID; first != 5000 || last != 4501 {
		t.Errorf("kept %d to %d", first, last)
	}
}

func TestTenMegabytesOfExceptions(t *testing.T) {
	huge := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("maxExceptions") != "3" {
			t.Errorf("query %q", r.URL.RawQuery)
		}
		fmt.Fprintf(w, `{"exceptionHistory":{"entries":[{"stacktrace":"%s\nCaused by: x.Y: z","timestamp":7}]}}`, strings.Repeat("y", 10<<20))
	}
	got, err := client(t, huge, flinkrest.Options{}).Exceptions(t.Context(), "x", 3)
	if err != nil || len(got.History.Entries.Items) != 1 || !strings.HasSuffix(got.History.Entries.Items[0].StackTrace, "Caused by: x.Y: z") {
		t.Errorf("%d entries, error %v", got.History.Entries.Total, err)
	}
	got, err = client(t, huge, flinkrest.Options{MaxBytes: 1 << 20}).Exceptions(t.Context(), "x", 3)
	if fault.KindOf(err) != fault.Unsupported || !strings.HasSuffix(err.Error(), "is larger than 1048576 bytes") || got.History.Entries.Total != 0 {
		t.Errorf("error %v", err)
	}
}

func TestWhatIsNotFlink(t *testing.T) {
	say := func(status int, contentType, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body) // the client may have left
		}
	}
	half := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, `{"flink-version":"2.`)
	}
	silent := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	const asJSON = "application/json"
	const noAnswer = "no answer from"
	tests := map[string]struct {
		handler http.HandlerFunc
		kind    fault.Kind
		message string // part of it
	}{
		"a login page":              {say(200, "text/html", "<html>login"), fault.Unsupported, "answers with an HTML page"},
		"401":                       {say(401, asJSON, `{}`), fault.Denied, "401 Unauthorized"},
		"404":                       {say(404, asJSON, `{"error":"no such path"}`), fault.Unsupported, "not as Flink does: it has no /config"},
		"500":                       {say(500, asJSON, `{"errors":["\u001b[2Joops"]}`), fault.Unreachable, `500 Internal Server Error: {"errors":["\u001b[2Joops"]}`},
		"half a body":               {half, fault.Unreachable, "ends after 20 of 1000 bytes"},
		"nothing for long":          {silent, fault.Unreachable, noAnswer},
		"JSON of another service":   {say(200, asJSON, `{"version":{"number":"8.15.0"},"tagline":"You Know, for Search"}`), fault.Unsupported, "names no flink-version"},
		"a version of another type": {say(200, asJSON, `{"flink-version":2}`), fault.Unsupported, "flink-version is a JSON number where string was expected"},
		"a list":                    {say(200, asJSON, `[]`), fault.Unsupported, "JSON array"},
		"a null":                    {say(200, asJSON, `null`), fault.Unsupported, "names no flink-version"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			limit := time.Minute
			if tt.message == noAnswer {
				limit = 150 * time.Millisecond
			}
			config, err := client(t, tt.handler, flinkrest.Options{Timeout: limit}).Config(t.Context())
			if err == nil || fault.KindOf(err) != tt.kind || !strings.Contains(err.Error(), tt.message) || config != (flinkrest.Config{}) {
				t.Fatalf("%+v, kind %s, error %v", config, fault.KindOf(err), err)
			}
			if fault.Of(err).Hint == "" || strings.ContainsRune(err.Error(), 0x1b) {
				t.Errorf("hint %q, error %q", fault.Of(err).Hint, err)
			}
		})
	}
	c := client(t, say(200, asJSON, `{"status":"up"}`), flinkrest.Options{})
	if _, err := c.Jobs(t.Context()); fault.KindOf(err) != fault.Unsupported {
		t.Errorf("jobs of another service: %v", err)
	}
	if _, err := c.Job(t.Context(), "x"); fault.KindOf(err) != fault.Unsupported {
		t.Errorf("a job of another service: %v", err)
	}
	if _, err := client(t, say(200, asJSON, `{"history":{}}`), flinkrest.Options{}).Checkpoints(t.Context(), "x"); fault.KindOf(err) != fault.Unsupported {
		t.Errorf("a history that is no list: %v", err)
	}
}

func TestWhatFlinkDoesNotKnow(t *testing.T) {
	for _, version := range versions {
		c := recorded(t, version, nil)
		_, err := c.Job(t.Context(), strings.Repeat("0", 32))
		if fault.KindOf(err) != fault.NotFound || !strings.Contains(err.Error(), "NotFoundException: Job 00000000000000000000000000000000 not found") {
			t.Errorf("%s: %v", version, err)
		}
	}
	if _, known, err := client(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `[]`) }, flinkrest.Options{}).Restarts(t.Context(), "x"); known || err != nil {
		t.Errorf("restarts before they were collected: known %t, error %v", known, err)
	}
}

func TestAddresses(t *testing.T) {
	for _, address := range []string{"", "jobmanager:8081", "ftp://x", "http://", "http://ops:hush@ho st"} {
		if _, err := flinkrest.New(flinkrest.Options{Address: address}); fault.KindOf(err) != fault.Config || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: %v", address, err)
		}
	}
	paths := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		paths <- r.URL.EscapedPath()
		fmt.Fprint(w, `{}`)
	}))
	t.Cleanup(server.Close)
	c, err := flinkrest.New(flinkrest.Options{Address: strings.Replace(server.URL, "http://", "http://ops:hush@", 1) + "/proxy/flink/?token=hush#x"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if _, err := c.Exceptions(t.Context(), "a/../b", 1); err != nil {
		t.Error(err)
	}
	if path := <-paths; path != "/proxy/flink/jobs/a%2F..%2Fb/exceptions" {
		t.Errorf("path %s", path)
	}
	if shown := c.Address().String(); shown != server.URL+"/proxy/flink" {
		t.Errorf("shown as %s", shown)
	}
}
