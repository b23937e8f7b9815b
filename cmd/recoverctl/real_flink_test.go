//go:build real

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/testkit/cases"
	"github.com/recoverctl/recoverctl/internal/testkit/flinktest"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// realOverview is what this test reads of a JobOverview.
type realOverview struct {
	Points []struct {
		URI, Kind, Verdict string
		CheckpointID       int64
		Taken              struct {
			Time   *time.Time
			Source string
		}
		Offsets map[string]int64
	}
	LiveSource    string
	OnlyInHistory []string
	Findings      []struct{ Severity, Rule, Cause string }
	Live          *struct {
		liveJSON
		Checkpoints struct {
			Completed int64
			Restored  *struct {
				ID   int64
				Path string
			}
			History []struct {
				ID        int64
				Status    string
				Path      *string
				Triggered *time.Time
			}
		}
	}
}

func (o realOverview) finding(rule string) string {
	for _, f := range o.Findings {
		if f.Rule == rule {
			return f.Severity + ": " + f.Cause
		}
	}
	return ""
}

// allDated reports whether Flink has told the time of every point. Its history
// comes from a cache, so the newest point on disk can be missing in it at first.
func (o realOverview) allDated() bool {
	for _, p := range o.Points {
		if p.Taken.Source != "flink" {
			return false
		}
	}
	return true
}

// until asks again until the answer is as is says.
func until[T any](t *testing.T, what, kind string, args []string, is func(T) bool) (T, outcome) {
	t.Helper()
	var a answer[T]
	var got outcome
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(250 * time.Millisecond) {
		got = command(t, append(args, "-o", "json")...)
		a = answer[T]{}
		if err := json.Unmarshal([]byte(got.out), &a); err == nil && a.Kind == kind && len(a.Faults) == 0 && is(a.Data) {
			return a.Data, got
		}
	}
	t.Fatalf("%s: not seen; the last answer of %q is\n%s%s", what, args, got.out, got.errOut)
	return a.Data, got
}

// A job of a real Flink writes recovery markers of a real topic, fails with a
// cause inside an exception, is restored from a checkpoint and fails for good.
// One call of inspect job tells the whole of it.
func TestRealJobThatFailed(t *testing.T) {
	session, cluster := flinktest.Real(t), kafkatest.Real(t)
	topic := cluster.Topic(t, 2, nil)
	for p := range int32(2) {
		for i := range 8 {
			r := cases.Filler(int(p), i)
			cluster.Put(t, topic, p, kafkatest.Record{Key: r.KeyBytes(), Value: r.ValueBytes()})
		}
	}
	begun := time.Now().Add(-time.Second)
	name := kafkatest.UniqueName("orders")
	id := session.Run(t, "--name", name, "--topic", topic, "--topic-id", topicID(t, cluster, topic), "--offsets", "0:3,1:4;0:5,1:2",
		"--interval", "300", "--fail-after", "2", "--attempts", "1", "--delay", "300", "--message", "the payment was answered 503: try later")
	asFlink := []string{"--flink-rest", session.Address, "--flink-job", name}
	args := append([]string{"inspect", "job", "--brokers", strings.Join(cluster.Brokers(), ","), "--topic", topic, "--points", "file:" + filepath.Join(session.Checkpoints, id)}, asFlink...)

	o, got := until(t, "the job's end", "JobOverview", args, func(o realOverview) bool {
		return o.Live != nil && o.Live.State == "FAILED" && o.Live.RootCause != nil && o.Live.Checkpoints.Restored != nil && len(o.Points) > 0 && o.allDated()
	})
	live := o.Live
	if got.code != 1 || o.LiveSource != "read" || live.JobID != id || live.FlinkVersion != session.Version || *live.Restarts != 1 {
		t.Errorf("exit %d, %+v", got.code, live)
	}
	if c := live.RootCause; c.Type != "java.io.IOException" || c.Message != "the payment was answered 503: try later" ||
		!strings.HasPrefix(c.Task, "action-execute-operator -> ") || !strings.Contains(c.Outer, "Recovery is suppressed by") {
		t.Errorf("root cause %+v", c)
	}
	restored := live.Checkpoints.Restored
	if want := fmt.Sprintf("file:%s/%s/chk-%d", session.Checkpoints, id, restored.ID); restored.Path != want || *live.RestoredFrom != want {
		t.Errorf("restored from %s and %s, want %s", restored.Path, *live.RestoredFrom, want)
	}
	if f := o.finding("job-failing"); !strings.HasPrefix(f, "error: job "+name+" is FAILED since ") || !strings.Contains(f, "java.io.IOException: the payment was answered 503: try later") {
		t.Errorf("finding %q of %+v", f, o.Findings)
	}

	// The points on disk have the times at which Flink began them.
	triggered := map[int64]time.Time{}
	for _, c := range live.Checkpoints.History {
		if c.Status == "COMPLETED" {
			triggered[c.ID] = *c.Triggered
		}
	}
	if len(o.OnlyInHistory) != 0 || len(o.Points) > 5 {
		t.Errorf("%d points, only in the history %q", len(o.Points), o.OnlyInHistory)
	}
	for _, p := range o.Points {
		file, err := os.Stat(filepath.Join(strings.TrimPrefix(p.URI, "file:"), "_metadata"))
		if err != nil {
			t.Fatal(err)
		}
		if at := p.Taken.Time; p.Taken.Source != "flink" || at == nil || !at.Equal(triggered[p.CheckpointID]) || at.Before(begun) || at.After(file.ModTime()) {
			t.Errorf("%s was taken %v (%s), Flink began it %s and wrote its file %s", p.URI, at, p.Taken.Source, triggered[p.CheckpointID], file.ModTime())
		}
		if p.Verdict != "accepted" || p.Offsets["0"] != 3 || p.Offsets["1"] != 2 {
			t.Errorf("%s is %s, offsets %v", p.URI, p.Verdict, p.Offsets)
		}
	}

	// The same as text, and from the commands that ask Flink alone.
	text := command(t, args...)
	for _, want := range []string{"root cause           java.io.IOException: the payment was answered 503: try later\n", "restored from        checkpoint ", "Flink would restore  nothing: Flink does not restart a job that is FAILED"} {
		if text.code != 1 || !strings.Contains(text.out, want) {
			t.Errorf("exit %d, no %q in\n%s", text.code, want, text.out)
		}
	}
	flinkCommandsAgree(t, session, id, name, asFlink)

	// The newest point lies in the log until that is trimmed, and is not read by an
	// older Flink.
	compare := append([]string{"inspect", "point", o.Points[0].URI, "--compare", "--brokers", strings.Join(cluster.Brokers(), ","), "--topic", topic}, asFlink...)
	if text := command(t, compare...); text.code != 0 || strings.Contains(text.out, "U12") || strings.Contains(text.out, "V7") {
		t.Errorf("exit %d\n%s%s", text.code, text.out, text.errOut)
	}
	if err := cluster.Trim(t.Context(), topic, map[int32]int64{0: 4}); err != nil {
		t.Fatal(err)
	}
	if text := command(t, compare...); text.code != 1 || !strings.Contains(text.out, "U12") || !strings.Contains(text.out, "partition 0 must be read from 3, but its log starts at 4") {
		t.Errorf("exit %d\n%s%s", text.code, text.out, text.errOut)
	}
	if text := command(t, "inspect", "point", o.Points[0].URI, "--flink-version", "1.20"); text.code != 1 || !strings.Contains(text.out, "V7") || strings.Contains(text.out, "U12") {
		t.Errorf("exit %d\n%s%s", text.code, text.out, text.errOut)
	}
}

func flinkCommandsAgree(t *testing.T, session *flinktest.Session, id, name string, asFlink []string) {
	t.Helper()
	jobs, _ := ask[struct {
		Jobs []struct {
			JobID, Name, State string
			Ended              *time.Time
		}
	}](t, "FlinkJobs", append([]string{"inspect", "flink", "jobs"}, asFlink...)...)
	found := false
	for _, j := range jobs.Data.Jobs {
		found = found || j.JobID == id && j.Name == name && j.State == "FAILED" && j.Ended != nil
	}
	if !found {
		t.Errorf("job %s is not among %+v", id, jobs.Data.Jobs)
	}
	job, got := ask[liveJSON](t, "FlinkJob", append([]string{"inspect", "flink", "job"}, asFlink...)...)
	if got.code != 1 || job.Data.JobID != id || job.Data.NextRestore.Source != "none" {
		t.Errorf("exit %d, %+v", got.code, job.Data)
	}
	failures, got := ask[struct {
		Failures []struct{ Type, Message, Trace string }
	}](t, "FlinkExceptions", "inspect", "flink", "exceptions", id, "--flink-rest", session.Address)
	if got.code != 0 || len(failures.Data.Failures) != 2 {
		t.Fatalf("exit %d, %+v", got.code, failures.Data)
	}
	for _, f := range failures.Data.Failures {
		if f.Type != "java.io.IOException" || f.Message != "the payment was answered 503: try later" || !strings.Contains(f.Trace, "java.lang.IllegalStateException: action pay failed") {
			t.Errorf("%+v", f)
		}
	}
	checkpoints := command(t, append([]string{"inspect", "flink", "checkpoints"}, asFlink...)...)
	if checkpoints.code != 0 || !strings.Contains(checkpoints.out, "  checkpoint  COMPLETED  ") || !strings.Contains(checkpoints.out, "every 300 ms") {
		t.Errorf("exit %d\n%s", checkpoints.code, checkpoints.out)
	}
}

// A job that waits for its restart: what Flink will take then is known before.
func TestRealJobThatIsRestarting(t *testing.T) {
	session := flinktest.Real(t)
	name := kafkatest.UniqueName("refunds")
	id := session.Run(t, "--name", name, "--interval", "300", "--fail-after", "2", "--attempts", "3", "--delay", "3600000")
	t.Cleanup(func() { session.Cancel(t, id) })
	place := t.TempDir()
	args := []string{"inspect", "job", "--points", place, "--topic", "t", "--flink-rest", session.Address, "--flink-job", id}
	var seen realOverview
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(250 * time.Millisecond) {
		a, _ := ask[realOverview](t, "JobOverview", args...) // its faults say that there are no brokers
		if seen = a.Data; seen.Live != nil && seen.Live.State == "RESTARTING" && seen.Live.RootCause != nil && seen.Live.NextRestore.ID != nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("no restart was seen; the last answer is %+v", a)
		}
	}
	next := seen.Live.NextRestore
	if next.Source != "point" || next.Field != "latest.completed" || seen.Live.RootCause.Type != "java.io.IOException" {
		t.Errorf("%+v", seen.Live)
	}
	// Nothing of it lies in the only place that was searched.
	if len(seen.Points) != 0 || len(seen.OnlyInHistory) == 0 || !strings.HasSuffix(seen.OnlyInHistory[0], fmt.Sprintf("/%s/chk-%d", id, *next.ID)) {
		t.Errorf("%d points, only in the history %q, next %d", len(seen.Points), seen.OnlyInHistory, *next.ID)
	}
	if f := seen.finding("points-only-in-history"); !strings.HasPrefix(f, "warning: ") {
		t.Errorf("finding %q", f)
	}
	if got := command(t, "inspect", "flink", "job", id, "--flink-rest", session.Address); got.code != 1 || !strings.Contains(got.out, "✖ job "+name+" is RESTARTING: java.io.IOException: ") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
}
