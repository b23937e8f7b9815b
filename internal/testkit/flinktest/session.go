package flinktest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Session is the real cluster that test/real/run.sh has started, with the job of
// test/real/flink in it.
type Session struct {
	Address     string // of the REST API
	Checkpoints string // folder of this machine where jobs leave them
	Version     string // of Flink
	jar         string // id of the uploaded jar
}

func env(tb testing.TB, name string) string {
	tb.Helper()
	value := os.Getenv(name)
	if value == "" {
		tb.Fatalf("%s is not set: run this test with test/real/run.sh", name)
	}
	return value
}

// Real is the real cluster. A test that needs it fails where there is none.
func Real(tb testing.TB) *Session {
	tb.Helper()
	s := &Session{Address: env(tb, "RECOVERCTL_TEST_FLINK"), Checkpoints: env(tb, "RECOVERCTL_TEST_FLINK_CHECKPOINTS"), Version: env(tb, "RECOVERCTL_TEST_FLINK_VERSION")}
	jar, err := os.ReadFile(env(tb, "RECOVERCTL_TEST_FLINK_JAR"))
	if err != nil {
		tb.Fatal(err)
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("jarfile", "job.jar")
	if err != nil {
		tb.Fatal(err)
	}
	_, err = part.Write(jar)
	if err = errors.Join(err, form.Close()); err != nil {
		tb.Fatal(err)
	}
	var uploaded struct {
		Filename string `json:"filename"`
	}
	s.send(tb, http.MethodPost, "/jars/upload", form.FormDataContentType(), &body, &uploaded)
	s.jar = filepath.Base(uploaded.Filename)
	return s
}

// send makes one request of the REST API and decodes what it answers.
func (s *Session) send(tb testing.TB, method, path, contentType string, body io.Reader, answer any) {
	tb.Helper()
	// Jobs are also ended when the test is over, and its context with it.
	req, err := http.NewRequestWithContext(context.WithoutCancel(tb.Context()), method, s.Address+path, body)
	if err != nil {
		tb.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 2 * time.Minute}
	res, err := client.Do(req)
	if err != nil {
		tb.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 {
		tb.Fatalf("%s %s: %s %s, error %v", method, path, res.Status, text, err)
	}
	if err := json.Unmarshal(text, answer); err != nil {
		tb.Fatalf("%s %s: %v", method, path, err)
	}
}

func (s *Session) post(tb testing.TB, path string, body, answer any) {
	tb.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		tb.Fatal(err)
	}
	s.send(tb, http.MethodPost, path, "application/json", bytes.NewReader(data), answer)
}

// Java is one of the programs of test/real/flink/readback, ready to be run: it
// reads a snapshot by Flink's own classes, and prints what it read.
func Java(tb testing.TB, program string, args ...string) *exec.Cmd {
	tb.Helper()
	options := []string{"-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"} // what starts soonest
	for _, name := range []string{"util", "lang", "net", "io", "nio", "time"} {
		options = append(options, "--add-opens=java.base/java."+name+"=ALL-UNNAMED")
	}
	options = append(options, "-cp", env(tb, "RECOVERCTL_TEST_FLINK_READBACK"), "recoverctl."+program)
	return exec.CommandContext(tb.Context(), "java", append(options, args...)...)
}

// ReadBack runs a program of Java and returns what it printed.
func ReadBack(tb testing.TB, program string, args ...string) []byte {
	tb.Helper()
	cmd := Java(tb, program, args...)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		tb.Fatalf("%s: %v\n%s", program, err, problems.Bytes())
	}
	return out
}

// JarID is the id under which the cluster keeps the job's jar.
func (s *Session) JarID() string { return s.jar }

// Args are the arguments of the job: these, with where its checkpoints go.
func (s *Session) Args(args ...string) []string {
	return append(slices.Clone(args), "--checkpoints", "file:"+s.Checkpoints)
}

// Run starts the job and returns its id.
func (s *Session) Run(tb testing.TB, args ...string) string {
	tb.Helper()
	return s.run(tb, map[string]any{"parallelism": 2, "programArgsList": s.Args(args...)})
}

// RunFrom starts the job from a checkpoint or savepoint, a URI, and returns the
// new job's id.
func (s *Session) RunFrom(tb testing.TB, point string, args ...string) string {
	tb.Helper()
	return s.run(tb, map[string]any{"parallelism": 2, "programArgsList": s.Args(args...), "savepointPath": point, "allowNonRestoredState": false})
}

func (s *Session) run(tb testing.TB, how map[string]any) string {
	tb.Helper()
	var started struct {
		JobID string `json:"jobid"`
	}
	s.post(tb, "/jars/"+s.jar+"/run", how, &started)
	return started.JobID
}

// Cancel asks for a job's end and does not wait for it.
func (s *Session) Cancel(tb testing.TB, id string) {
	tb.Helper()
	s.send(tb, http.MethodPatch, "/jobs/"+id+"?mode=cancel", "application/json", http.NoBody, &struct{}{})
}

// Snapshot triggers a checkpoint or savepoint (kind is checkpoints or savepoints)
// and waits for it; false when it failed.
func (s *Session) Snapshot(tb testing.TB, id, kind string, body any) bool {
	tb.Helper()
	var trigger struct {
		ID string `json:"request-id"`
	}
	s.post(tb, "/jobs/"+id+"/"+kind, body, &trigger)
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		var now struct {
			Status struct {
				ID string `json:"id"`
			} `json:"status"`
			Operation struct {
				Checkpoint any `json:"failureCause"`
				Savepoint  any `json:"failure-cause"`
			} `json:"operation"`
		}
		s.send(tb, http.MethodGet, "/jobs/"+id+"/"+kind+"/"+trigger.ID, "application/json", http.NoBody, &now)
		if now.Status.ID == "COMPLETED" {
			return now.Operation.Checkpoint == nil && now.Operation.Savepoint == nil
		}
	}
	tb.Fatalf("%s of job %s did not come to an end", kind, id)
	return false
}
