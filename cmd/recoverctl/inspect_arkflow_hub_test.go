package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/testkit/arkhubtest"
	"github.com/recoverctl/recoverctl/internal/testkit/arkhubtest/recorded"
)

// arkHub is a hub with a node, two streams and a job that takes checkpoints into
// a folder, once it was begun.
type arkHub struct {
	t     *testing.T
	hub   *arkhubtest.Hub
	clock *clock.Fake
	url   string
	dir   string
}

func newArkHub(t *testing.T, o arkhubtest.Options) *arkHub {
	t.Helper()
	// The commands judge by the machine's clock: the hub's begins a little before.
	c := clock.NewFake(time.Now().Add(-2 * time.Minute))
	o.Clock = c
	h := &arkHub{t: t, hub: arkhubtest.New(o), clock: c, dir: t.TempDir()}
	h.hub.AddNode("node-a")
	h.hub.AddStream("node-a", "orders-eu", "running", "")
	h.hub.AddStream("node-a", "heartbeat", "running", "")
	h.hub.Configure("node-a", `{"streams":[{"id":"orders-eu","durability":{"enabled":true,"path":"/var/wal","sync":"per_entry"}},{"id":"heartbeat","durability":null}]}`)
	h.url = h.hub.Start(t)
	return h
}

func (h *arkHub) job(version int, seconds int) {
	h.t.Helper()
	err := h.hub.SetJob(fmt.Sprintf(`{"id":"orders","version":%d,"parallelism":2,"max_parallelism":8,"operators":[{"id":"src","kind":"source"},{"id":"count","kind":"aggregate","stateful":true}],
		"sources":[{"operator_id":"src","input_type":"kafka"}],"state":{"format_version":1},"checkpoint":{"interval_ms":30000,"retention":3,"object_store_uri":"file://%s"}}`, version, h.dir), "running")
	if err != nil {
		h.t.Fatal(err)
	}
	for range seconds {
		h.clock.Advance(time.Second)
		res, err := http.Get(h.url + "/health")
		if err != nil {
			h.t.Fatal(err)
		}
		_ = res.Body.Close()
	}
}

type arkFinding struct{ Severity, Rule, Cause, Next string }

type arkJobJSON struct {
	Hub struct {
		Generation string
		Ready      *bool
	}
	Job struct {
		ID, Observed, Convergence string
		ProtectedBy               struct{ Log, Checkpoints, Sentence string }
		Health                    struct{ State, Sentence string }
	}
	Jobs []struct {
		ID     string
		Health struct{ State string }
	}
	Streams []struct {
		ID, Node    string
		ProtectedBy struct{ Log, Sync, Sentence string }
	}
	Versions []struct {
		Version    int
		Restorable string
	}
	Points struct {
		Points    []arkPoint
		Selection struct {
			Known  bool
			ID     string
			Better string
		}
	}
	Findings  []arkFinding
	Decisions []struct{ Row, Outcome string }
}

type arkPoint struct {
	ID, Kind, Status, Verdict, Reason string
	Selected                          bool
	Engine                            struct{ Verdict string }
	Missing                           []string
	States                            []struct{ State string }
}

// What a hub has is listed, with what protects it; a job with every point of its
// store, read and recomputed.
func TestArkFlowJobs(t *testing.T) {
	h := newArkHub(t, arkhubtest.Options{})
	h.job(1, 75)
	jobs, got := ask[arkJobJSON](t, "ArkFlowJobs", "inspect", "arkflow", "jobs", "--hub", h.url)
	if d := jobs.Data; got.code != 0 || d.Hub.Generation != "jobs (v1)" || !*d.Hub.Ready || len(d.Jobs) != 1 || d.Jobs[0].ID != "orders" || len(d.Streams) != 0 {
		t.Errorf("exit %d, %+v\n%s", got.code, d, got.errOut)
	}
	job, got := ask[arkJobJSON](t, "ArkFlowJob", "inspect", "arkflow", "job", "orders", "--hub", h.url)
	d := job.Data
	if got.code != 0 || d.Job.Convergence != "converged" || d.Job.ProtectedBy.Checkpoints != "yes" || d.Job.ProtectedBy.Log != "no" || len(d.Points.Points) != 2 {
		t.Errorf("exit %d, %+v\n%s", got.code, d, got.errOut)
	}
	if newest := d.Points.Points[0]; newest.Verdict != "accepted" || !newest.Selected || newest.Engine.Verdict != "accepted" || d.Versions[0].Restorable != newest.ID {
		t.Errorf("%+v", d.Points)
	}
	all, _ := ask[arkJobJSON](t, "ArkFlowJob", "inspect", "arkflow", "job", "orders", "--hub", h.url, "--all")
	outcomes := map[string]int{}
	for _, one := range all.Data.Decisions {
		outcomes[one.Outcome]++
	}
	if outcomes["clear"] < 10 || outcomes["not-checked"] < 1 || outcomes["holds"] != len(job.Data.Decisions) {
		t.Errorf("%v", outcomes)
	}
	text := command(t, "inspect", "arkflow", "job", "orders", "--hub", h.url, "--all")
	for _, want := range []string{"protected by       checkpoints every 30s, the newest completed one ", "a start restores   checkpoint-orders-1-", "▸ checkpoint-orders-1-", "ROW  OUTCOME", "takes it"} {
		if !strings.Contains(text.out, want) {
			t.Errorf("%q is missing in\n%s", want, text.out)
		}
	}
}

// A job that began cold is converged by the hub's word. It is not told so here.
func TestArkFlowColdStart(t *testing.T) {
	h := newArkHub(t, arkhubtest.Options{})
	h.job(1, 60)
	h.job(2, 10)
	job, got := ask[arkJobJSON](t, "ArkFlowJob", "inspect", "arkflow", "job", "orders", "--hub", h.url)
	var rules []string
	for _, f := range job.Data.Findings {
		rules = append(rules, f.Rule)
	}
	if got.code != 1 || job.Data.Job.Convergence != "converged" || !strings.Contains(strings.Join(rules, " "), "started-cold") {
		t.Errorf("exit %d, %v", got.code, rules)
	}
	if never := command(t, "inspect", "arkflow", "job", "orders", "--hub", h.url, "--fail-on", "never"); never.code != 0 {
		t.Errorf("exit %d", never.code)
	}
	points, got := ask[struct {
		Points    []arkPoint
		Selection struct {
			Known bool
			ID    string
		}
	}](t, "ArkFlowPoints", "inspect", "arkflow", "points", "orders", "--hub", h.url)
	if got.code != 1 || points.Data.Selection.ID != "" || !points.Data.Selection.Known || points.Data.Points[0].Reason != "job-version" {
		t.Errorf("exit %d, %+v", got.code, points.Data)
	}
	v, got := ask[struct {
		Verdict string
		Reasons []struct{ Code string }
		Runtime []struct{ Outcome string }
		Rules   []struct{ Code, Result string }
	}](t, "RestoreValidation", "validate", "restore", points.Data.Points[0].ID, "--hub", h.url)
	if got.code != 1 || v.Data.Verdict != "rejected" || v.Data.Reasons[0].Code != "job-version" || v.Data.Runtime[0].Outcome != "skips-silently" || len(v.Data.Rules) < 12 {
		t.Errorf("exit %d, %+v\n%s", got.code, v.Data, got.errOut)
	}
}

// A point that is accepted, by its id and by its manifest.
func TestArkFlowValidate(t *testing.T) {
	h := newArkHub(t, arkhubtest.Options{})
	h.job(1, 75)
	points, _ := ask[struct{ Points []arkPoint }](t, "ArkFlowPoints", "inspect", "arkflow", "points", "orders", "--hub", h.url)
	id := points.Data.Points[0].ID
	for _, name := range []string{id, h.dir + "/checkpoints/" + id, "file://" + h.dir + "/checkpoints/" + id + "/manifest.json"} {
		got := command(t, "validate", "restore", name, "--hub", h.url)
		if got.code != 0 || !strings.HasPrefix(got.out, "✔ accepted\n  A start of the job would restore this point") || !strings.Contains(got.out, "Its sources go on at orders/0 from ") {
			t.Errorf("%s: exit %d\n%s%s", name, got.code, got.out, got.errOut)
		}
	}
	if got := command(t, "validate", "restore", "checkpoint-9", "--hub", h.url); got.code != 6 {
		t.Errorf("exit %d\n%s", got.code, got.errOut)
	}
}

// Streams of a hub without jobs, which says what it has instead.
func TestArkFlowStreams(t *testing.T) {
	h := newArkHub(t, arkhubtest.Options{Generation: arkhub.GenerationStreams})
	streams, got := ask[arkJobJSON](t, "ArkFlowStreams", "inspect", "arkflow", "streams", "--hub", h.url)
	if d := streams.Data; got.code != 0 || len(d.Streams) != 2 || d.Streams[0].ProtectedBy.Log != "yes" || d.Streams[0].ProtectedBy.Sync != "per_entry" || d.Streams[1].ProtectedBy.Log != "no" {
		t.Errorf("exit %d, %+v", got.code, d)
	}
	if got := command(t, "inspect", "arkflow", "streams", "--hub", h.url, "--fail-on", "warning"); got.code != 1 || !strings.Contains(got.out, "! stream node-a/heartbeat: nothing protects it") {
		t.Errorf("exit %d\n%s", got.code, got.out)
	}
	got = command(t, "inspect", "arkflow", "job", "orders", "--hub", h.url)
	if got.code != 10 || !strings.Contains(got.errOut, "has no jobs (streams only)") {
		t.Errorf("exit %d\n%s", got.code, got.errOut)
	}
	if got := command(t, "inspect", "arkflow", "events", "--hub", h.url); got.code != 0 || got.out != "the hub has no such events\n" {
		t.Errorf("exit %d\n%s", got.code, got.out)
	}
}

// The log of a stream is read beside the hub, and watched: rows about what moves
// are answered.
func TestArkFlowStreamsWithALog(t *testing.T) {
	h := newArkHub(t, arkhubtest.Options{})
	log := filepath.Join("..", "..", "inspect", "arkflow", "testdata", "wal-s3", "s3-pending", "bucket", "wal", "node-a", "orders-eu")
	copied := filepath.Join(t.TempDir(), "orders-eu") // in a folder of another name than the node's
	if err := os.CopyFS(copied, os.DirFS(log)); err != nil {
		t.Fatal(err)
	}
	for _, log := range []string{log, copied} {
		streams, got := ask[arkJobJSON](t, "ArkFlowStreams", "inspect", "arkflow", "streams", "--hub", h.url, "--wal", log, "--all", "--watch", "3", "--every", "100ms", "--absorb", "6")
		outcomes := map[string]string{}
		for _, d := range streams.Data.Decisions {
			if d.Outcome == "holds" || outcomes[d.Row] == "" || outcomes[d.Row] == "not-checked" {
				outcomes[d.Row] = d.Outcome // of two streams, the one that could be asked
			}
		}
		for row, want := range map[string]string{"1": "clear", "2": "holds", "3": "holds", "4": "clear", "5": "clear", "7": "clear", "18": "clear", "20": "clear", "22": "holds"} {
			if outcomes[row] != want {
				t.Errorf("%s: row %s: %s, want %s", log, row, outcomes[row], want)
			}
		}
		if got.code != 0 {
			t.Errorf("exit %d\n%s", got.code, got.errOut)
		}
	}
	if got := command(t, "inspect", "arkflow", "streams", "--hub", h.url, "--watch", "0"); got.code != 2 {
		t.Errorf("exit %d\n%s", got.code, got.errOut)
	}
}

// A store is read without a hub: what is damaged is rejected, what is whole is
// unknown, for nothing says what would be restored.
func TestArkFlowStore(t *testing.T) {
	stores, err := recorded.Stores()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range stores {
		if s.Name != "final" && s.Name != "bad-snapshot-value" {
			continue
		}
		dir := t.TempDir()
		for key, data := range s.Objects {
			name := filepath.Join(dir, filepath.FromSlash(key))
			if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		points, got := ask[struct{ Points []arkPoint }](t, "ArkFlowPoints", "inspect", "arkflow", "points", dir)
		verdicts := map[string]string{}
		for _, p := range points.Data.Points {
			verdicts[p.ID] = p.Verdict + " " + p.Reason
		}
		want := map[string]struct {
			code    int
			verdict string
		}{"final": {0, "unknown round-completed"}, "bad-snapshot-value": {1, "rejected state-checksum"}}[s.Name]
		if got.code != want.code || verdicts["checkpoint-2-1795968933610"] != want.verdict || len(verdicts) != 4 {
			t.Errorf("%s: exit %d, %v", s.Name, got.code, verdicts)
		}
	}
}

// What fails is one sentence with an exit code of its own, and no token.
func TestArkFlowHubFails(t *testing.T) {
	h := newArkHub(t, arkhubtest.Options{Token: "t0p-s3cret"})
	dead := newArkHub(t, arkhubtest.Options{})
	dead.hub.Break(arkhubtest.LoseRequest)
	page := newArkHub(t, arkhubtest.Options{})
	page.hub.Break(arkhubtest.Say(200, "text/html", "<html>"))
	standby := newArkHub(t, arkhubtest.Options{})
	standby.hub.Break(arkhubtest.Standby(""))
	for _, tt := range []struct {
		url  string
		code int
		says string
	}{
		{"", 3, "no hub is configured"},
		{h.url, 5, "401 Unauthorized unauthorized: A valid operator token is required"},
		{dead.url, 4, "can't be reached"},
		{page.url, 10, "HTML page"},
		{standby.url, 4, "hub_standby"},
	} {
		args := []string{"inspect", "arkflow", "jobs"}
		if tt.url != "" {
			args = append(args, "--hub", tt.url)
		}
		got := command(t, args...)
		if got.code != tt.code || !strings.Contains(got.errOut, tt.says) || strings.Contains(got.errOut, "t0p-s3cret") {
			t.Errorf("exit %d, want %d\n%s", got.code, tt.code, got.errOut)
		}
	}
	config := filepath.Join(t.TempDir(), "config.yaml")
	file := fmt.Sprintf("profiles:\n  - name: ark\n    jobs:\n      - name: orders\n        arkflow: {hub: %q, token: {env: ARK_TOKEN}}\n", h.url)
	if err := os.WriteFile(config, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	for value, code := range map[string]int{"t0p-s3cret": 0, "wr0ng-s3cret": 5} {
		t.Setenv("ARK_TOKEN", value)
		got := command(t, "inspect", "arkflow", "jobs", "--config", config)
		if got.code != code || strings.Contains(got.out+got.errOut, value) {
			t.Errorf("exit %d, want %d\n%s%s", got.code, code, got.out, got.errOut)
		}
	}
}

// Where no job is chosen, the one that is asked about has its own log, and nobody the
// log of another.
func TestTheJobThatIsAskedAbout(t *testing.T) {
	t.Parallel()
	job := func(name, hub, wal string) config.Job {
		return config.Job{Name: name, Engine: "arkflow", ArkFlow: config.ArkFlow{Hub: hub, WAL: wal}}
	}
	shared := []config.Job{job("orders", "http://hub:8080", ""), job("payments", "http://hub:8080", "/wal/payments"), job("payments-eu", "http://hub:8080", "/wal/payments-eu"), {Name: "flink"}}
	two := append(slices.Clone(shared), job("returns", "http://other:8080", ""))
	for name, tt := range map[string]struct {
		jobs       []config.Job
		chosen     int // -1: none
		about      string
		want, log  string
		unknowable bool
	}{
		"of the name":                    {shared, -1, "payments", "payments", "/wal/payments", false},
		"a stream of the name":           {shared, -1, "node-a/payments-eu", "payments-eu", "/wal/payments-eu", false},
		"of no name, at the one hub":     {shared, -1, "refunds", "orders", "", false},
		"nothing, at the one hub":        {shared, -1, "", "orders", "", false},
		"the only one of a hub":          {shared[1:2], -1, "refunds", "payments", "/wal/payments", false},
		"of no name, with two hubs":      {two, -1, "refunds", "", "", true},
		"of a name, with two hubs":       {two, -1, "returns", "returns", "", false},
		"the chosen one, whatever asked": {shared, 1, "orders", "payments", "/wal/payments", false},
	} {
		a := &app{}
		a.selection.Profile.Jobs = tt.jobs
		if tt.chosen >= 0 {
			a.selection.Job = &tt.jobs[tt.chosen]
		}
		got, err := a.arkflowJob(tt.about)
		if got.Name != tt.want || got.ArkFlow.WAL != tt.log || (err != nil) != tt.unknowable {
			t.Errorf("%s: %q with %q, %v", name, got.Name, got.ArkFlow.WAL, err)
		}
	}
}

// config check tries each hub once, what each name stands for there, and each log; what
// can't be reached makes it fail.
func TestConfigCheckTriesArkFlow(t *testing.T) {
	t.Parallel()
	s := startHubScene(t, arkhubtest.Options{})
	s.set(1)
	if got := s.apply(s.plan("savepoint", "orders")); got.code != 0 {
		t.Fatalf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	check := func(hub string) outcome {
		file := s.file("config.yaml")
		yaml := fmt.Sprintf(`default-profile: demo
profiles:
  - name: demo
    environment: staging
    jobs:
      - {name: orders, engine: arkflow, arkflow: {hub: %[1]q}}
      - {name: heartbeat, engine: arkflow, arkflow: {hub: %[1]q, wal: %q}}
      - {name: other, engine: arkflow, arkflow: {hub: %[1]q}}
`, hub, filepath.Join(s.home, "none"))
		if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
			t.Fatal(err)
		}
		return commandIn(t, s.environ(), "", "config", "check", "--config", file)
	}
	got := check(s.url)
	for _, want := range []string{
		"✔  orders: hub " + s.url, "jobs (v1); 1 job, 1 stream", "✔  orders: job and its store", " in file://" + s.store, "✔  heartbeat: stream", "on node-a", "✖  heartbeat: write-ahead log ", "there is nothing at ",
		"–  other", "the hub has no job and no stream of this name",
	} {
		if !strings.Contains(got.out, want) {
			t.Errorf("no %q in\n%s", want, got.out)
		}
	}
	if got.code != 1 || strings.Count(got.out, ": hub ") != 1 {
		t.Errorf("exit %d\n%s", got.code, got.out)
	}
	if got := check("http://127.0.0.1:1"); got.code != 1 || strings.Count(got.out, "✖") != 4 || !strings.Contains(got.out, "can't be reached") {
		t.Errorf("exit %d\n%s", got.code, got.out)
	}
}

// What a hub was asked to change is listed with who asked: of streams, and of no job.
func TestTheAuditOfAHub(t *testing.T) {
	t.Parallel()
	s := startHubScene(t, arkhubtest.Options{})
	s.set(1)
	if got := s.run("inspect", "arkflow", "events", "--audit"); got.code != 0 || !strings.Contains(got.out, "of jobs those that were run keep none") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	for verb, of := range map[string]string{"savepoint": "orders", "restart": "node-a/heartbeat"} {
		if got := s.apply(s.plan(verb, of), "stream-not-covered"); got.code != 0 {
			t.Fatalf("%s: exit %d\n%s%s", verb, got.code, got.out, got.errOut)
		}
	}
	got := s.run("inspect", "arkflow", "events", "--audit")
	if got.code != 0 || !regexp.MustCompile(`operator +restart +stream node-a/heartbeat +accepted`).MatchString(got.out) || strings.Contains(got.out, "orders") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	type audit struct {
		Records []struct{ Action, Of, Outcome string }
	}
	if a := decodeAnswer[audit](t, "ArkFlowAudit", s.run("inspect", "arkflow", "events", "--audit", "-o", "json")); len(a.Data.Records) != 1 || a.Data.Records[0].Of != "node-a/heartbeat" {
		t.Errorf("%+v", a.Data)
	}
	if got := s.run("inspect", "arkflow", "events", "--audit", "--node", "node-a"); got.code != 2 || !strings.Contains(got.errOut, "not of the audit") {
		t.Errorf("exit %d\n%s", got.code, got.errOut)
	}
}

// Commands about action state name what shows a job of ArkFlow, instead of asking for
// brokers that it has not.
func TestCommandsOnActionStateOfAnArkFlowJob(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "config.yaml")
	yaml := `default-profile: demo
profiles:
  - name: demo
    environment: staging
    jobs:
      - {name: orders, engine: arkflow, arkflow: {hub: "http://127.0.0.1:1"}}
      - {name: orders-eu, engine: arkflow, arkflow: {wal: /wal/orders-eu}}
`
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"inspect", "job"}, {"inspect", "points"}, {"inspect", "calls"}, {"inspect", "control"}, {"inspect", "records"}, {"plan", "cleanup", "--point", "/ckpt/chk-1", "--out", "plan"}} {
		for job, hint := range map[string]string{"orders": "recoverctl inspect arkflow job orders shows it", "orders-eu": "recoverctl inspect arkflow wal --job orders-eu"} {
			got := command(t, append(args, "--config", file, "--job", job)...)
			if got.code != 2 || !strings.Contains(got.errOut, job+" is a job of ArkFlow") || !strings.Contains(got.errOut, hint) {
				t.Errorf("%v of %s: exit %d\n%s%s", args, job, got.code, got.out, got.errOut)
			}
		}
	}
}
