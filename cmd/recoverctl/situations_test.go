package main

import (
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/testkit/cases"
	"github.com/recoverctl/recoverctl/internal/testkit/incident"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/job"
	"github.com/recoverctl/recoverctl/views/overview"
	"github.com/recoverctl/recoverctl/views/scan"
)

func TestThreeSituations(t *testing.T) { threeSituations(t, kafkatest.StartFake(t).Cluster) }

// A result that was saved before the marker, a PENDING inside the window under a
// key of generation 3, and the same under one of generation 1: run again,
// reconciler, run again. Every command says so, and the console's screens.
func threeSituations(t *testing.T, cluster *kafkatest.Cluster) {
	keys := map[string]cases.TypedKeyCase{}
	for _, c := range cases.TypedKeys(t) {
		keys[c.KeyText] = c
	}
	state := func(completed, calls string) string {
		return `{"taskEvent":{"@class":"org.apache.flink.agents.api.InputEvent","attributes":{},"type":"_input_event"},"sensoryMemoryUpdates":[],"shortTermMemoryUpdates":[],"outputEvents":[],"callResults":[` +
			calls + `],"completed":` + completed + `}`
	}
	saved := state("false", `{"functionId":"pay","argsDigest":"","resultPayload":"MQ==","exceptionPayload":null,"status":"SUCCEEDED"}`)
	pending := state("false", `{"functionId":"pay","argsDigest":"","resultPayload":null,"exceptionPayload":null,"status":"PENDING"}`)
	topic := cluster.Topic(t, 1, map[string]string{"cleanup.policy": "compact,delete", "retention.ms": "-1", "retention.bytes": "-1"})
	cluster.Put(t, topic, 0,
		kafkatest.KV(keys["alice"].RecordKey, saved), kafkatest.KV(keys["42"].RecordKey, state("true", "")), // 0, 1
		kafkatest.KV(keys["bob"].RecordKey, pending), kafkatest.KV(keys["customer-000123"].RecordKeyReleased, pending)) // 2, 3
	id, err := cluster.TopicID(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "4f3c92d07be1458a96c0d1e2f3a4b5c6")
	uri := func(name string) string { return "file:" + filepath.Join(folder, name) }
	for n, marker := range []int64{0, 2, 2} {
		dir := filepath.Join(folder, fmt.Sprint("chk-", n+1))
		c := incident.Checkpoint{ID: int64(n + 1), Topic: topic, TopicID: base64.RawURLEncoding.EncodeToString(id[:]), Offsets: inspect.Offsets{0: marker}, Taken: time.Now().Add(time.Duration(n-5) * time.Minute)}
		if _, err := c.Write(dir); err != nil {
			t.Fatal(err)
		}
	}
	where := []string{"--brokers", strings.Join(cluster.Brokers(), ","), "--topic", topic, "--points", "file:" + folder, "--runtime", "next"}
	with := func(args ...string) []string { return append(args, where...) }

	t.Run("inspect calls", func(t *testing.T) {
		a, got := ask[inspectCalls](t, "DurableCalls", with("inspect", "calls")...)
		if got.code != 0 {
			t.Fatalf("exit %d: %s", got.code, got.errOut)
		}
		outcomes := map[string]inspect.CallOutcome{}
		for _, action := range a.Data.Actions {
			name := action.Key.Digest
			if action.Key.Text != nil {
				name = *action.Key.Text
			}
			for _, o := range action.Calls[0].Outcomes {
				if o.Point == uri("chk-2") {
					outcomes[name] = o.Outcome
				}
			}
		}
		if len(outcomes) != 3 || outcomes[keys["alice"].Digest] != "runs-again" || outcomes[keys["bob"].Digest] != "reconciler" || outcomes["customer-000123"] != "runs-again" {
			t.Errorf("outcomes from chk-2: %v", outcomes)
		}
	})
	want := inspect.CallCounts{RunsAgain: 2, Reconciler: 1}
	t.Run("inspect job", func(t *testing.T) {
		a, got := ask[struct {
			Points []struct {
				URI       string
				RunsAgain *int64
				Calls     *inspect.CallCounts
			}
			Findings []struct{ Rule, Cause string }
		}](t, "JobOverview", with("inspect", "job", "--calls", "--fail-on", "never")...)
		if got.code != 0 || len(a.Data.Points) != 3 || a.Data.Points[1].Calls == nil || *a.Data.Points[1].Calls != want || *a.Data.Points[1].RunsAgain != 2 {
			t.Fatalf("exit %d: %s\n%s", got.code, got.errOut, got.out)
		}
		if older := a.Data.Points[2]; *older.Calls != (inspect.CallCounts{RunsAgain: 1, Reconciler: 1, Reused: 1}) {
			t.Errorf("from chk-1 %+v", *older.Calls)
		}
		if !slices.ContainsFunc(a.Data.Findings, func(f struct{ Rule, Cause string }) bool {
			return f.Rule == "calls-run-again" && strings.Contains(f.Cause, `2 calls would run again from "chk-3", 2 from "chk-2", 1 from "chk-1"`)
		}) {
			t.Errorf("findings %+v", a.Data.Findings)
		}
	})
	t.Run("validate restore", func(t *testing.T) {
		a, got := ask[struct{ Calls *inspect.CallCounts }](t, "RestoreValidation", with("validate", "restore", uri("chk-2"), "--calls")...)
		if got.code != 0 || a.Data.Calls == nil || *a.Data.Calls != want {
			t.Errorf("exit %d: %+v\n%s", got.code, a.Data.Calls, got.errOut)
		}
	})
	t.Run("the console", func(t *testing.T) {
		a := &app{streams: streams{in: strings.NewReader(""), out: io.Discard, err: io.Discard, environ: []string{"HOME=" + t.TempDir()}}, clock: clock.System{}}
		if err := newRoot(a).PersistentFlags().Parse(where); err != nil {
			t.Fatal(err)
		}
		if err := a.load(); err != nil {
			t.Fatal(err)
		}
		in, systems, err := a.inspector(a.selection.Profile, remembered{})
		if err != nil {
			t.Fatal(err)
		}
		defer systems.close()
		asked, err := a.job()
		if err != nil {
			t.Fatal(err)
		}
		scans := scan.New(t.Context(), consoleCalls{in}, time.Now)
		defer scans.Close()
		d := tuitest.New(t, tuitest.Plain(), job.New(job.Options{Theme: tuitest.Plain().Theme, Job: asked, Source: in, Reading: overview.Reading{Scans: scans}}), 120, 40)
		d.Press("c")
		d.Settle()
		rows := func(is ...string) {
			t.Helper()
			frame := strings.Join(strings.Fields(d.Frame()), " ")
			for _, row := range is {
				if !strings.Contains(frame, row) {
					t.Errorf("%q is not on the screen:\n%s", row, d.Frame())
				}
			}
		}
		rows("chk-3 chk-2 chk-1", "run again: 2 from chk-3, 2 from chk-2, 1 from chk-1")
		for digest, outcomes := range map[string]string{keys["alice"].Digest: "RUNS AGAIN RUNS AGAIN reused", keys["bob"].Digest: "reconciler reconciler reconciler", "customer-000123": "RUNS AGAIN RUNS AGAIN RUNS AGAIN"} {
			found := false
			for line := range strings.Lines(d.Frame()) {
				found = found || strings.Contains(line, digest[:8]) && strings.HasSuffix(strings.Join(strings.Fields(line), " "), outcomes)
			}
			if !found {
				t.Errorf("%s is not said to be %s:\n%s", digest, outcomes, d.Frame())
			}
		}
		d.Press("esc")
		rows(`2 calls would run again from "chk-3", 2 from "chk-2", 1 from "chk-1"`)
	})
	t.Run("plan", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "plan.json")
		more := []string{"--control-topic", kafkatest.UniqueName("control")}
		type review struct {
			Report struct {
				Warnings []struct{ Name, Message string }
				Calls    *struct {
					Pending, Overwritten, Saved, Completed, Records int64
					Points                                          []inspect.PointCalls
				}
			}
		}
		judge := func(a answer[review], got outcome) {
			t.Helper()
			calls := a.Data.Report.Calls
			if calls == nil || calls.Saved != 1 || calls.Pending+calls.Overwritten+calls.Completed != 0 || calls.Records != 4 {
				t.Fatalf("exit %d: calls %+v\n%s", got.code, calls, got.errOut)
			}
			for _, p := range calls.Points {
				if p.Point == uri("chk-1") || p.Later == nil || *p.Later != want {
					t.Errorf("%s: %+v", p.Point, p)
				}
			}
			if len(calls.Points) != 2 {
				t.Errorf("points %+v", calls.Points)
			}
			if !slices.ContainsFunc(a.Data.Report.Warnings, func(w struct{ Name, Message string }) bool {
				return w.Name == "pending-before-target" && w.Message == "1 saved result of open actions is deleted, and any restore would make them again"
			}) {
				t.Errorf("warnings %+v", a.Data.Report.Warnings)
			}
		}
		judge(ask[review](t, "CleanupPlan", with(append([]string{"plan", "cleanup", "--point", uri("chk-2"), "--out", file}, more...)...)...))
		judge(ask[review](t, "PlanReview", with(append([]string{"plan", "show", file}, more...)...)...))
		a, got := ask[review](t, "PlanReview", with(append([]string{"plan", "show", file, "--skip-calls"}, more...)...)...)
		if a.Data.Report.Calls != nil || !strings.Contains(got.out, "Calls were not scanned") {
			t.Errorf("without a scan %+v", a.Data.Report.Calls)
		}
		if text := command(t, with(append([]string{"plan", "show", file}, more...)...)...); !strings.Contains(text.out, "! pending-before-target: ") || !strings.Contains(text.out, "CALLS THAT RUN AGAIN FROM") {
			t.Errorf("as text\n%s", text.out)
		}
		refused := command(t, with(append([]string{"apply", file, "--reason", "x", "--access", "operate", "--approve", planIDOf(t, file), "--accept", "points-lost",
			"--accept", "job-state-unknown", "--create-control-topic", "1"}, more...)...)...)
		if refused.code != 5 || !strings.Contains(refused.errOut, "not accepted: pending-before-target") {
			t.Errorf("apply exits %d: %s", refused.code, refused.errOut)
		}
	})
}

func planIDOf(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	plan, problem := inspect.ParsePlan(data)
	if problem != nil {
		t.Fatal(problem.Message)
	}
	return plan.PlanID
}
