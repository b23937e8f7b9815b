package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/testkit/flinkcases"
	"github.com/recoverctl/recoverctl/internal/testkit/flinktest"
	"github.com/recoverctl/recoverctl/internal/testkit/port"
)

// recordedFlink answers as real clusters of 1.20 and 2.3 did.
func recordedFlink(version string) flinktest.Recorded {
	return flinktest.Recorded{Dir: filepath.Join("..", "..", "internal", "flinkrest", "testdata"), Version: version}
}

type liveJSON struct {
	State, JobID, Name, FlinkVersion string
	Restarts                         *int64
	RestoredFrom, LastException      *string
	RootCause                        *struct{ Type, Message, Outer, Task string }
	NextRestore                      struct {
		Source, Field, Why string
		ID                 *int64
		Unknown            []string
	}
}

func TestFlinkJobs(t *testing.T) {
	for _, version := range []string{"1.20.5", "2.3.0"} {
		a, got := ask[struct {
			FlinkVersion string
			Jobs         []struct{ JobID, Name, State string }
			Cut          int
		}](t, "FlinkJobs", "inspect", "flink", "jobs", "--flink-rest", recordedFlink(version).Start(t))
		if got.code != 0 || len(a.Faults) > 0 || a.Data.FlinkVersion != version || len(a.Data.Jobs) != 8 || a.Data.Jobs[7].Name != "order-agent-c" || a.Data.Jobs[7].State != "FAILED" {
			t.Errorf("exit %d, %+v", got.code, a)
		}
	}
	text := command(t, "inspect", "flink", "jobs", "--flink-rest", recordedFlink("2.3.0").Start(t))
	if text.code != 0 || !strings.Contains(text.out, "d32bec6e100505ecde9a59197add2f55  RESTARTING ") || strings.Count(text.out, "\n") != 11 {
		t.Errorf("exit %d\n%s%s", text.code, text.out, text.errOut)
	}
}

// A real cluster ran a job with this name: an escape sequence, a bidirectional
// control and a zero-width space.
func TestAHostileJobNameIsShownAndNotObeyed(t *testing.T) {
	r := recordedFlink("2.3.0")
	hostile := r.Answer(t, "jobs-overview-hostile.json")
	r.Replace = map[string]http.HandlerFunc{"/jobs/overview": func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(hostile) // the client may have left
	}}
	got := command(t, "inspect", "flink", "jobs", "--flink-rest", r.Start(t))
	if got.code != 0 || !strings.Contains(got.out, `evil \x1b[2J\u202e\u200bjob`) || strings.ContainsAny(got.out, "\x1b\u202e\u200b") {
		t.Errorf("exit %d, %q", got.code, got.out)
	}
}

func TestFlinkJob(t *testing.T) {
	for _, version := range []string{"1.20.5", "2.3.0"} {
		r := recordedFlink(version)
		url := r.Start(t, "running", "restarting", "failed")
		a, got := ask[liveJSON](t, "FlinkJob", "inspect", "flink", "job", "order-agent-c", "--flink-rest", url)
		if d := a.Data; got.code != 1 || d.State != "FAILED" || d.JobID != r.JobID(t, "failed") || d.RootCause.Type != "java.io.IOException" || d.RootCause.Message != "the call of pay() was answered 503" ||
			d.NextRestore.Source != "none" || *d.Restarts != 2 || !strings.HasSuffix(*d.RestoredFrom, "/chk-6") {
			t.Errorf("exit %d, %+v", got.code, d)
		}
		// The configured job, without an argument.
		a, got = ask[liveJSON](t, "FlinkJob", "inspect", "flink", "job", "--flink-rest", url, "--flink-job", "order-agent-b")
		if got.code != 1 || a.Data.State != "RESTARTING" || *a.Data.NextRestore.ID != 3 || len(a.Data.NextRestore.Unknown) != 1 {
			t.Errorf("exit %d, %+v", got.code, a.Data)
		}
		running := command(t, "inspect", "flink", "job", r.JobID(t, "running"), "--flink-rest", url)
		for _, want := range []string{
			"job order-agent is RUNNING\n",
			"chk-18: checkpoint 18 is the newest completed one (latest.completed)\n",
			"root cause        no failure is on record\n",
			"can't be known    after a loss of the JobManager: what its high-availability store holds\n",
			"taken             every 700 ms, given up after 400 ms, exactly_once\n",
			"kept              the last 5; when the job ends: RETAIN_ON_CANCELLATION\n",
		} {
			if running.code != 0 || !strings.Contains(running.out, want) {
				t.Errorf("exit %d, no %q in\n%s%s", running.code, want, running.out, running.errOut)
			}
		}
	}
}

func TestFlinkExceptions(t *testing.T) {
	type failures struct {
		State    string
		Failures []struct {
			Type, Message, Outer, Task, Trace string
			Concurrent                        int
		}
		More bool
	}
	for _, version := range []string{"1.20.5", "2.3.0"} {
		r := recordedFlink(version)
		url := r.Start(t, "running", "failed")
		a, got := ask[failures](t, "FlinkExceptions", "inspect", "flink", "exceptions", "order-agent-c", "--flink-rest", url)
		if got.code != 0 || a.Data.State != "FAILED" || len(a.Data.Failures) != 3 || a.Data.More {
			t.Fatalf("exit %d, %+v", got.code, a.Data)
		}
		for _, f := range a.Data.Failures {
			if f.Type != "java.io.IOException" || f.Message != "the call of pay() was answered 503" || !strings.Contains(f.Trace, "Caused by: "+f.Type+": "+f.Message) {
				t.Errorf("%+v", f)
			}
		}
		text := command(t, "inspect", "flink", "exceptions", "order-agent-c", "--limit", "1", "--flink-rest", url)
		if text.code != 0 || strings.Count(text.out, "java.io.IOException: the call of pay() was answered 503\n") != 1 || !strings.HasSuffix(text.out, "\nFlink has older ones than these\n") ||
			!strings.Contains(text.out, "beside it  1 more failed in the same moment\n") {
			t.Errorf("exit %d\n%s%s", text.code, text.out, text.errOut)
		}
		none := command(t, "inspect", "flink", "exceptions", r.JobID(t, "running"), "--flink-rest", url)
		if none.code != 0 || !strings.Contains(none.out, "no failure is on record\n") {
			t.Errorf("exit %d\n%s%s", none.code, none.out, none.errOut)
		}
	}
}

func TestFlinkCheckpoints(t *testing.T) {
	type checkpoints struct {
		JobID, State string
		Checkpoints  struct {
			Completed, Failed int64
			History           []struct {
				ID                 int64
				Kind, Status, Path string
				Discarded          bool
			}
		}
		Settings    struct{ Retained int }
		NextRestore struct{ ID int64 }
	}
	for _, version := range []string{"1.20.5", "2.3.0"} {
		r := recordedFlink(version)
		url, id := r.Start(t, "running"), r.JobID(t, "running")
		a, got := ask[checkpoints](t, "FlinkCheckpoints", "inspect", "flink", "checkpoints", id, "--flink-rest", url)
		d := a.Data
		if got.code != 0 || d.JobID != id || d.Checkpoints.Completed != 12 || d.Checkpoints.Failed != 7 || len(d.Checkpoints.History) != 10 || d.Settings.Retained != 5 || d.NextRestore.ID != 18 {
			t.Errorf("exit %d, %+v", got.code, d)
		}
		text := command(t, "inspect", "flink", "checkpoints", id, "--flink-rest", url)
		for _, c := range d.Checkpoints.History {
			end := c.Path
			if c.Discarded {
				end += " (discarded)"
			}
			if !strings.Contains(text.out, end+"\n") {
				t.Errorf("no line ends with %s in\n%s", end, text.out)
			}
		}
	}
	r := recordedFlink("2.3.0")
	url := r.Start(t, "expired", "no-checkpoints")
	expired := command(t, "inspect", "flink", "checkpoints", "expired", "--flink-rest", url)
	if expired.code != 0 || strings.Count(expired.out, "failed: Checkpoint expired before completing.\n") == 0 || !strings.Contains(expired.out, "Flink would by itself restore nothing and begin without state") {
		t.Errorf("exit %d\n%s", expired.code, expired.out)
	}
	empty := command(t, "inspect", "flink", "checkpoints", r.JobID(t, "no-checkpoints"), "--flink-rest", url)
	if empty.code != 0 || !strings.Contains(empty.out, "taken             none are taken by time\n") || !strings.Contains(empty.out, "the history is empty\n") {
		t.Errorf("exit %d\n%s", empty.code, empty.out)
	}
}

// The recorded checkpoint waited for both subtasks of the agents' operator.
func TestFlinkCheckpoint(t *testing.T) {
	r := recordedFlink("2.3.0")
	url, id := r.Start(t, "in-progress"), r.JobID(t, "in-progress")
	a, got := ask[struct {
		ID     int64
		Status string
		Path   *string
		Tasks  []struct {
			Name                   string
			Acknowledged, Subtasks int
		}
	}](t, "FlinkCheckpoint", "inspect", "flink", "checkpoint", "1", id, "--flink-rest", url)
	if d := a.Data; got.code != 0 || d.ID != 1 || d.Status != "IN_PROGRESS" || d.Path != nil || len(d.Tasks) != 2 || d.Tasks[0].Acknowledged != 2 || d.Tasks[1].Acknowledged != 0 || d.Tasks[1].Subtasks != 2 {
		t.Errorf("exit %d, %+v", got.code, d)
	}
	text := command(t, "inspect", "flink", "checkpoint", "1", "--flink-job", id, "--flink-rest", url)
	for _, want := range []string{"checkpoint 1 is IN_PROGRESS: 2 of 4 subtasks have done their part\n", "         0/2    0 B  IN_PROGRESS  action-execute-operator -> Sink: Writer\n"} {
		if text.code != 0 || !strings.Contains(text.out, want) {
			t.Errorf("exit %d, no %q in\n%s%s", text.code, want, text.out, text.errOut)
		}
	}
}

func TestFlinkCommandsSayWhatIsWrong(t *testing.T) {
	url := recordedFlink("2.3.0").Start(t, "running", "failed")
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"status":"UP"}`) }))
	t.Cleanup(page.Close)
	nobody := "http://" + port.Closed(t)
	closed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	t.Cleanup(closed.Close)
	tests := map[string]struct {
		args []string
		code int
		says string
	}{
		"no JobManager":         {[]string{"jobs"}, 3, "no JobManager is configured"},
		"nobody there":          {[]string{"jobs", "--flink-rest", nobody}, 4, "can't be reached"},
		"nobody there, one job": {[]string{"exceptions", "x", "--flink-rest", nobody}, 4, "can't be reached"},
		"refused":               {[]string{"job", "x", "--flink-rest", closed.URL}, 5, "403"},
		"no such job":           {[]string{"job", "nobody", "--flink-rest", url}, 6, "there is no job named nobody at " + url},
		"no such id":            {[]string{"checkpoints", strings.Repeat("0", 32), "--flink-rest", url}, 6, "there is no job 00000000000000000000000000000000"},
		"not Flink":             {[]string{"jobs", "--flink-rest", page.URL}, 10, "not as Flink does"},
		"two of one name":       {[]string{"exceptions", "order-agent", "--flink-rest", url}, 2, "2 jobs at " + url + " are named order-agent"},
		"none named, several":   {[]string{"job", "--flink-rest", url}, 2, "there are 5 jobs at " + url + ", and none was named"},
		"two jobs named":        {[]string{"job", "a", "b", "--flink-rest", url}, 2, "takes at most one job, and 2 were given"},
		"an empty name":         {[]string{"job", "", "--flink-rest", url}, 2, "the job's id or name is empty"},
		"a limit below":         {[]string{"exceptions", "x", "--limit", "0", "--flink-rest", url}, 2, "--limit 0: a number from 1 to 100"},
		"a limit above":         {[]string{"exceptions", "x", "--limit", "101", "--flink-rest", url}, 2, "--limit 101"},
		"not an address":        {[]string{"jobs", "--flink-rest", "jobmanager:8081"}, 2, "is not an address"},
		"a checkpoint's name":   {[]string{"checkpoint", "chk-1", "--flink-rest", url}, 2, `"chk-1" is not the number of a checkpoint`},
		"a negative checkpoint": {[]string{"checkpoint", "--flink-rest", url, "--", "-1"}, 2, `"-1" is not the number of a checkpoint`},
		"no checkpoint":         {[]string{"checkpoint", "--flink-rest", url}, 2, "takes a checkpoint's number and at most one job"},
		"no command of these":   {[]string{"savepoints"}, 2, `has no command "savepoints"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := command(t, append([]string{"inspect", "flink"}, tt.args...)...)
			if got.code != tt.code || got.out != "" || !strings.Contains(got.errOut, tt.says) {
				t.Errorf("exit %d (want %d)\n%s%s", got.code, tt.code, got.out, got.errOut)
			}
		})
	}
}

// configured writes a configuration file and returns the flag that names it.
func configured(t *testing.T, yaml string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	return "--config=" + path
}

// The jobs of a profile may run in clusters of their own; each is looked for at
// its own JobManager, by its name or id there.
func TestEachJobHasItsOwnJobManager(t *testing.T) {
	old, new := recordedFlink("1.20.5"), recordedFlink("2.3.0")
	file := configured(t, fmt.Sprintf(`
profiles:
  - name: orders
    jobs:
      - {name: order-agent-b, flink: {rest: %q}}
      - {name: refunds, flink: {rest: %q, job: order-agent-c}}
      - {name: by-id, flink: {rest: %q, job: %s}}
      - {name: silent, action-state: {topic: t}}
`, old.Start(t, "restarting"), new.Start(t, "failed", "running"), new.Start(t, "running"), new.JobID(t, "running")))
	for job, want := range map[string]string{"order-agent-b": "RESTARTING 1.20.5", "refunds": "FAILED 2.3.0", "by-id": "RUNNING 2.3.0"} {
		a, _ := ask[liveJSON](t, "FlinkJob", "inspect", "flink", "job", "-j", job, file)
		if got := a.Data.State + " " + a.Data.FlinkVersion; got != want {
			t.Errorf("%s is %s, want %s", job, got, want)
		}
		o, _ := ask[struct {
			LiveSource string
			Live       *liveJSON
		}](t, "JobOverview", "inspect", "job", "-j", job, file)
		if o.Data.LiveSource != "read" || o.Data.Live.State+" "+o.Data.Live.FlinkVersion != want {
			t.Errorf("%s is %+v, want %s", job, o.Data, want)
		}
	}
	if got := command(t, "inspect", "flink", "job", "-j", "silent", file); got.code != 3 {
		t.Errorf("a job without a JobManager: exit %d\n%s", got.code, got.errOut)
	}
	if got := command(t, "inspect", "flink", "jobs", file); got.code != 3 || !strings.Contains(got.errOut, "name one with --job") {
		t.Errorf("several JobManagers and no job: exit %d\n%s", got.code, got.errOut)
	}
}

// Where all jobs of a profile have one JobManager no job has to be chosen to ask
// it.
func TestOneJobManagerOfSeveralJobs(t *testing.T) {
	url := recordedFlink("2.3.0").Start(t, "failed")
	file := configured(t, fmt.Sprintf("profiles: [{name: orders, jobs: [{name: a, flink: {rest: %q}}, {name: b, flink: {rest: %q}}]}]", url, url))
	if got := command(t, "inspect", "flink", "jobs", file); got.code != 0 || !strings.Contains(got.out, "order-agent-c") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	if got := command(t, "inspect", "flink", "exceptions", "order-agent-c", file); got.code != 0 {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
}

// What inspect job says of the running job, and of one that it can't know.
func TestTheRunningJobInTheOverview(t *testing.T) {
	place := t.TempDir()
	url := recordedFlink("2.3.0").Start(t, "restarting")
	gone := "http://" + port.Closed(t)
	failing := command(t, "inspect", "job", "--points", place, "--flink-rest", url, "--flink-job", "order-agent-b")
	for _, want := range []string{
		"✖ job order-agent-b is RESTARTING since 18:14Z: java.io.IOException: the call of pay() was answered 503\n",
		"live state                RESTARTING since 2026-11-29T18:14:52Z, ",
		"restarts                  at least 1\n",
		"restored from             nothing: it was started without state\n",
		"root cause                java.io.IOException: the call of pay() was answered 503\n",
		"told as                   java.lang.IllegalStateException: action pay failed\n",
		"/chk-3: checkpoint 3 is the newest completed one (latest.completed)\n",
		"can't be known            after a loss of the JobManager: what its high-availability store holds\n",
		"in Flink's history alone  file:/tmp/",
	} {
		if failing.code != 1 || !strings.Contains(failing.out, want) {
			t.Errorf("exit %d, no %q in\n%s", failing.code, want, failing.out)
		}
	}
	// Nothing but Flink's refusal to answer: that is all that could be said.
	points := []string{"--points", flinkcases.Copy(t, "versioned-p2")}
	if got := command(t, append([]string{"inspect", "job", "--flink-rest", gone}, points...)...); !strings.Contains(got.out, "live state      could not be read\n") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	if got := command(t, append([]string{"inspect", "job", "--topic", "t"}, points...)...); !strings.Contains(got.out, "live state      not connected\n") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
}

// config check tries the JobManager of each job that has one.
func TestConfigCheckAsksTheJobManager(t *testing.T) {
	gone := "http://" + port.Closed(t)
	file := configured(t, fmt.Sprintf("profiles: [{name: orders, jobs: [{name: order-agent-c, flink: {rest: %q}}, {name: lost, flink: {rest: %q}}, {name: none}]}]",
		recordedFlink("2.3.0").Start(t, "failed"), gone))
	a, got := ask[struct {
		Probes []struct{ What, Result, Detail string }
	}](t, "ConfigCheck", "config", "check", file)
	var results []string
	for _, p := range a.Data.Probes {
		if strings.Contains(p.What, "running job at http://127.0.0.1:") {
			job, _, _ := strings.Cut(p.What, ":")
			results = append(results, job+" "+p.Result)
		}
	}
	if got.code != 1 || strings.Join(results, ", ") != "order-agent-c ok, lost failed" || !strings.Contains(got.out, "order-agent-c is FAILED, Flink 2.3.0") {
		t.Errorf("exit %d, %q\n%s", got.code, results, got.out)
	}
}

// The console asks the job's own JobManager for a checkpoint's tasks.
func TestTheConsoleAsksForTasks(t *testing.T) {
	m := newJobManagers(flinkLogins{}, time.Second, clock.System{})
	t.Cleanup(m.close)
	in := inspect.New(nil, nil, clock.System{}).WithLive(m)
	job := inspect.Job{Name: "order-agent-c", Flink: inspect.RefOf(recordedFlink("2.3.0").Start(t, "failed"), "order-agent-c")}
	running, err := in.Running(t.Context(), job)
	if err != nil || running.Live == nil || len(running.Live.Checkpoints.History) == 0 {
		t.Fatalf("%+v, %v", running, err)
	}
	details, err := in.Checkpoint(t.Context(), job, 9)
	if err != nil || details.ID != 9 || len(details.Tasks) == 0 || details.Tasks[0].Acknowledged != details.Tasks[0].Subtasks {
		t.Errorf("%+v, %v", details, err)
	}
	job.Flink.REST = ""
	if _, err := in.Checkpoint(t.Context(), job, 9); fault.KindOf(err) != fault.Config {
		t.Errorf("a job without a JobManager: %v", err)
	}
}

func TestTheHeaderSaysWhetherFlinkAnswers(t *testing.T) {
	m := newJobManagers(flinkLogins{}, time.Second, clock.System{})
	t.Cleanup(m.close)
	said := func() string { return m.connection().State }
	if got := said(); got != "not asked" {
		t.Errorf("at first %q", got)
	}
	url := recordedFlink("2.3.0").Start(t, "failed")
	if _, err := m.Live(t.Context(), inspect.RefOf(url, "nobody")); fault.KindOf(err) != fault.NotFound || said() != "ok" {
		t.Errorf("an answer about no job: %q, %v", said(), err)
	}
	if _, err := m.Live(t.Context(), inspect.RefOf(url, "order-agent-c")); err != nil || said() != "ok" {
		t.Errorf("%q, %v", said(), err)
	}
	gone := "http://" + port.Closed(t)
	if _, err := m.Live(t.Context(), inspect.RefOf(gone, "x")); fault.KindOf(err) != fault.Unreachable || said() != "FAILED" {
		t.Errorf("nobody there: %q, %v", said(), err)
	}
}
