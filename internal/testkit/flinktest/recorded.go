package flinktest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Recorded is a JobManager that answers as real ones did.
type Recorded struct {
	Dir     string // of the recordings, those of package flinkrest
	Version string // of Flink, a folder of Dir without "flink-"

	// Replace answers a path in place of a recording; may be nil.
	Replace map[string]http.HandlerFunc
}

// Answer is one recorded answer.
func (r Recorded) Answer(tb testing.TB, file string) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(r.Dir, "flink-"+r.Version, file))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// JobID is the id of the job in a recorded scenario.
func (r Recorded) JobID(tb testing.TB, scenario string) string {
	tb.Helper()
	var job struct {
		ID string `json:"jid"`
	}
	if err := json.Unmarshal(r.Answer(tb, scenario+"/job.json"), &job); err != nil {
		tb.Fatal(err)
	}
	return job.ID
}

// Start serves the cluster's answers, and those about the scenarios' jobs, until
// the test ends. It returns the address.
func (r Recorded) Start(tb testing.TB, scenarios ...string) string {
	tb.Helper()
	files := map[string]string{"/config": "config.json", "/jobs/overview": "jobs-overview.json", "/jobmanager/config": "jobmanager-config.json"}
	for _, s := range scenarios {
		at := "/jobs/" + r.JobID(tb, s)
		for path, file := range map[string]string{"": "job", "/exceptions": "exceptions", "/checkpoints": "checkpoints", "/checkpoints/config": "checkpoints-config",
			"/config": "config", "/metrics": "metrics", "/vertices": "vertex", "/checkpoints/details": "details"} {
			files[at+path] = s + "/" + file + ".json"
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		if answer := r.Replace[req.URL.Path]; answer != nil {
			answer(w, req)
			return
		}
		file, ok := files[req.URL.Path]
		for _, last := range []string{"/vertices/", "/checkpoints/details/"} { // of any id
			if at, _, found := strings.Cut(req.URL.Path, last); found {
				file, ok = files[at+strings.TrimSuffix(last, "/")]
			}
		}
		status := http.StatusOK
		if !ok {
			file, status = "job-not-found.json", http.StatusNotFound
		}
		data, err := os.ReadFile(filepath.Join(r.Dir, "flink-"+r.Version, file))
		if err != nil {
			tb.Errorf("%s: %v", req.URL.Path, err)
			status = http.StatusInternalServerError
		}
		w.WriteHeader(status)
		_, _ = w.Write(data) // the client may have left
	}))
	tb.Cleanup(server.Close)
	return server.URL
}
