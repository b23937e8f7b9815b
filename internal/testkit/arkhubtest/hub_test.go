package arkhubtest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/arkhub/artefact"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/testkit/arkhubtest"
	"github.com/recoverctl/recoverctl/internal/testkit/arkhubtest/recorded"
)

const token = "t0ken"

type player struct {
	t     *testing.T
	hub   *arkhubtest.Hub
	clock *clock.Fake
	url   string
	ids   map[string]string // of a round: recorded to the fake's
	dir   string
}

func newPlayer(t *testing.T, g arkhub.Generation) *player {
	p := &player{t: t, clock: clock.NewFake(time.UnixMilli(1795968900000)), ids: map[string]string{}, dir: t.TempDir()}
	p.hub = arkhubtest.New(arkhubtest.Options{Generation: g, Token: token, Viewer: "look", Clock: p.clock})
	p.hub.AddNode("node-a")
	p.url = p.hub.Start(t)
	return p
}

func (p *player) send(method, path string, headers map[string]string, body []byte) (int, []byte) {
	p.t.Helper()
	for from, to := range p.ids {
		body, path = bytes.ReplaceAll(body, []byte(from), []byte(to)), strings.ReplaceAll(path, from, to)
	}
	body = bytes.ReplaceAll(body, []byte("/srv/arkflow/hubmain-19330/ckpt"), []byte(p.dir))
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.url+path, bytes.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	for k, v := range headers {
		req.Header.Set(k, strings.ReplaceAll(v, "<redacted>", token))
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return res.StatusCode, data
}

// essence is what of an answer must be the same: times, ids and texts of
// descriptions are not.
func essence(data []byte) string {
	var v any
	if json.Unmarshal(data, &v) != nil {
		return strings.Split(string(data), " at line")[0]
	}
	kind := func(id any) string {
		s, _ := id.(string)
		return strings.SplitN(s, "-", 2)[0]
	}
	switch v := v.(type) {
	case []any:
		var out []string
		for _, e := range v {
			m := e.(map[string]any)
			if m["checkpoint_id"] != nil && m["status"] != nil {
				out = append(out, fmt.Sprint(kind(m["checkpoint_id"]), m["kind"], m["status"], m["job_version"], m["format_version"], m["manifest_uri"] != nil))
			} else {
				out = append(out, fmt.Sprint(m["job_id"], m["version"], m["observed_state"]))
			}
		}
		return strings.Join(out, "; ")
	case map[string]any:
		switch {
		case v["code"] != nil:
			return fmt.Sprint(v["code"], ": ", v["message"])
		case v["job"] != nil && v["plan"] != nil: // a detail
			job, _ := json.Marshal(v["job"])
			rounds, _ := json.Marshal(v["checkpoints"])
			var planned []string
			for _, task := range v["plan"].(map[string]any)["tasks"].([]any) {
				planned = append(planned, task.(map[string]any)["id"].(string))
			}
			var placed []string
			for _, task := range v["tasks"].([]any) {
				m := task.(map[string]any)
				placed = append(placed, fmt.Sprint(m["task_id"], m["node_id"], m["state"]))
			}
			slices.Sort(placed)
			return fmt.Sprint(essence(job), essence(rounds), planned, placed, v["metrics"])
		case v["job"] != nil:
			job, _ := json.Marshal(v["job"])
			return fmt.Sprint(v["state"], kind(v["savepoint_id"]), essence(job))
		case v["convergence"] != nil && v["job_id"] != nil:
			return fmt.Sprint(v["job_id"], v["version"], v["desired_state"], v["observed_state"], v["convergence"], v["generation"], kind(v["checkpoint_id"]), v["last_error"], v["node_ids"])
		case v["stream_id"] != nil:
			return fmt.Sprint(v["node_id"], v["stream_id"], v["generation"], v["desired_state"], v["action_id"], v["intent_state"], v["convergence"])
		case v["metrics"] != nil && v["state"] != nil:
			return fmt.Sprint(v["id"], v["node_id"], v["state"], v["convergence"], v["desired"], v["desired_state"], v["observed_generation"])
		case v["plan"] != nil:
			return fmt.Sprint(len(v["plan"].(map[string]any)["tasks"].([]any)))
		}
	}
	return string(data)
}

// play sends what was sent to a real hub, in its order, and compares the answers.
// Between requests that were far apart, time passes.
func (p *player) play(folder string, want func(recorded.Exchange) bool, before map[string]func()) int {
	p.t.Helper()
	all, err := recorded.All()
	if err != nil {
		p.t.Fatal(err)
	}
	var some []recorded.Exchange
	for _, x := range all {
		if x.Folder() == folder && want(x) {
			some = append(some, x)
		}
	}
	number := func(x recorded.Exchange) int {
		n, _ := strconv.Atoi(strings.TrimPrefix(x.ResponseHeaders["x-correlation-id"], "req-"))
		return n
	}
	slices.SortStableFunc(some, func(a, b recorded.Exchange) int { return number(a) - number(b) })
	last := 0
	for _, x := range some {
		if number(x)-last > 5 {
			p.clock.Advance(5 * time.Second)
		}
		last = number(x)
		if do := before[strings.TrimPrefix(x.Name, folder+"/")]; do != nil {
			do()
		}
		status, data := p.send(x.Method, x.Path, x.Headers, x.Body)
		if got, want := essence(data), essence(x.Answer()); status != x.Status || got != want {
			p.t.Errorf("%s %s: %d\n %s\nwant %d\n %s", x.Name, x.Path, status, got, x.Status, want)
		}
		p.learn(x.Answer(), data)
		p.clock.Advance(5 * time.Millisecond)
	}
	return len(some)
}

// learn notes which round of the fake stands for which recorded one.
func (p *player) learn(want, got []byte) {
	var a, b struct {
		ID string `json:"checkpoint_id"`
	}
	if json.Unmarshal(want, &a) == nil && json.Unmarshal(got, &b) == nil && a.ID != "" && b.ID != "" && a.ID != b.ID {
		p.ids[a.ID] = b.ID
	}
}

func (p *player) trigger(kind string) {
	p.send("POST", "/api/v1/jobs/orders-count/"+kind, map[string]string{"Authorization": "Bearer " + token}, nil)
	p.clock.Advance(3 * time.Second)
}

// One job's life at a real hub, played to the fake: created, started, checkpoints,
// a savepoint, a round that fails, upgrade, rollback, with every refusal between.
func TestAJobsLife(t *testing.T) {
	p := newPlayer(t, arkhub.GenerationJobs)
	jobs := func(x recorded.Exchange) bool {
		return strings.HasPrefix(x.Path, "/api/v1/jobs") && !strings.HasSuffix(x.Path, "/validate") && x.Name != "hub/restart-jobs" && x.Name != "hub/job-create-bad-state" && x.Name != "hub/job-create-bad-spec"
	}
	played := p.play("hub", jobs, map[string]func(){
		"checkpoints-retention":           func() { p.trigger("checkpoints"); p.trigger("checkpoints"); p.trigger("checkpoints") },
		"checkpoint-trigger-broken-store": func() { p.hub.BreakStore("orders-count", true) },
		"upgrade-while-running":           func() { p.hub.BreakStore("orders-count", false) },
		"upgrade-stale-generation":        func() {},
	})
	if played < 55 {
		t.Errorf("%d exchanges were played", played)
	}
	if got := p.hub.Restored("orders-count"); got != p.ids["savepoint-2-1795968918076"] || got == "" {
		t.Errorf("restored from %q: after a rollback it is the newest savepoint of that very version", got)
	}
}

// A job that is replaced, and rolled back while it runs.
func TestRollbackWhileRunning(t *testing.T) {
	p := newPlayer(t, arkhub.GenerationJobs)
	played := p.play("hub/jobs-extra", func(x recorded.Exchange) bool {
		return strings.Contains(x.Path, "/jobs") && !strings.Contains(string(x.Body)+x.Path, "broken") && !strings.HasSuffix(x.Path, "/jobs") || strings.Contains(string(x.Body), "ticker")
	}, map[string]func(){
		"job-running": func() { // its first periodic round came with the first report
			p.trigger2("ticker")
		},
	})
	if played < 10 {
		t.Errorf("%d exchanges were played", played)
	}
	if got := p.hub.Restored("ticker"); got != "" {
		t.Errorf("restored from %q: there is nothing of that version and kind", got)
	}
}

func (p *player) trigger2(job string) {
	p.send("POST", "/api/v1/jobs/"+job+"/checkpoints", map[string]string{"Authorization": "Bearer " + token}, nil)
	p.clock.Advance(3 * time.Second)
}

// A stream's intents: accepted, keyed, guarded by generation, never converged.
func TestStreams(t *testing.T) {
	for _, folder := range []string{"hub", "hub-main-2f423ef"} {
		p := newPlayer(t, arkhub.GenerationStreams)
		p.hub.AddStream("node-a", "orders-eu", "running", "")
		p.hub.AddStream("node-a", "heartbeat", "running", "")
		p.hub.AddStream("node-a", "returns-eu", "failed", "Process errors: Failed to start Arrow IPC reader")
		played := p.play(folder, func(x recorded.Exchange) bool {
			return strings.Contains(x.Path, "/streams/") && x.Status != 415 && x.Name != folder+"/desired-wrong-shape" && x.Name != folder+"/desired-malformed" && x.Name != folder+"/stream-stop-offline" && x.Name != folder+"/restart-stream-start"
		}, nil)
		if played < 12 {
			t.Errorf("%s: %d exchanges were played", folder, played)
		}
	}
}

// The manifests are what an engine writes, and a round of a job that lost a node
// on the way to it has only the tasks that ran.
func TestRoundsAreWritten(t *testing.T) {
	p := newPlayer(t, arkhub.GenerationJobs)
	p.hub.AddNode("node-b")
	spec := fmt.Sprintf(`{"id":"two","version":1,"parallelism":2,"operators":[{"id":"src","kind":"source"},{"id":"count","kind":"aggregate","stateful":true}],
		"sources":[{"operator_id":"src","input_type":"kafka"}],"checkpoint":{"interval_ms":4000,"retention":2,"object_store_uri":"file://%s"}}`, p.dir)
	if err := p.hub.SetJob(spec, "running"); err != nil {
		t.Fatal(err)
	}
	c, err := arkhub.New(arkhub.Options{Address: p.url, Token: secretOf(token)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	rounds := func() string {
		t.Helper()
		l, err := c.Checkpoints(t.Context(), "two")
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, r := range l.Items {
			out = append(out, r.Status)
		}
		return strings.Join(out, " ")
	}
	step := func(n int) {
		for range n {
			p.clock.Advance(time.Second)
			rounds()
		}
	}
	step(9)
	if got := rounds(); got != "completed" {
		t.Fatalf("rounds %s", got)
	}
	p.hub.Kill("node-b")
	step(7)
	if got := rounds(); got != "pending pending completed" {
		t.Errorf("with a node that died: %s", got)
	}
	manifest := func(at int) artefact.Manifest {
		t.Helper()
		l, err := c.Checkpoints(t.Context(), "two")
		if err != nil {
			t.Fatal(err)
		}
		data, err := readURI(l.Items[at].ManifestURI.Or(""))
		if err != nil {
			t.Fatal(err)
		}
		m, err := artefact.ParseManifest(data)
		if err != nil || !m.Sealed() {
			t.Fatalf("%+v, error %v", m, err)
		}
		return m
	}
	m := manifest(2)
	if len(m.TaskAttempts) != 4 || len(m.SourcePositions) != 2 {
		t.Errorf("%+v", m)
	}
	for _, s := range m.StateSnapshots {
		data, err := readURI("file://" + p.dir + "/" + s.URI)
		if err != nil {
			t.Fatal(err)
		}
		if snapshot, err := artefact.ParseSnapshot(data); err != nil || !snapshot.Sealed() || snapshot.Checksum != s.Checksum || uint64(len(data)) != s.Bytes {
			t.Errorf("%+v, error %v", snapshot, err)
		}
	}
	step(15)
	if got := rounds(); !strings.HasPrefix(got, "completed") && !strings.HasPrefix(got, "pending completed") {
		t.Fatalf("once its lease has run out: %s", got)
	}
	at := strings.Count(strings.SplitN(rounds(), "completed", 2)[0], "pending")
	if half := manifest(at); len(half.TaskAttempts) != 2 {
		t.Errorf("completed with %d tasks of 4", len(half.TaskAttempts))
	}
}

// After a restart of the hub a write is accepted and stays queued, and the hub
// says that it is degraded.
func TestRestartedHub(t *testing.T) {
	p := newPlayer(t, arkhub.GenerationJobs)
	p.hub.AddStream("node-a", "tick", "stopped", "")
	p.hub.Restart()
	if status, data := p.send("POST", "/api/v1/nodes/node-a/streams/tick/start", map[string]string{"Authorization": "Bearer " + token}, nil); status != 202 {
		t.Fatalf("%d %s", status, data)
	}
	p.clock.Advance(time.Minute)
	c, err := arkhub.New(arkhub.Options{Address: p.url, Token: secretOf(token)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	l, err := c.Operations(t.Context(), arkhub.OperationFilter{})
	if err != nil || len(l.Items) != 1 || l.Items[0].State.Or("") != "queued" {
		t.Errorf("%+v, error %v", l, err)
	}
	s, err := c.OperationsStatus(t.Context())
	if err != nil || s.Status.Or("") != "degraded" || s.Reconciliation.Failures.Or(0) != 1 || s.Reconciliation.LastFailure.IsKnown() || s.OutboxClaimed.Or(0) != 2 {
		t.Errorf("%+v, error %v", s, err)
	}
}

// The generations answer so that a client tells them apart, and who may not write
// is refused.
func TestGenerationsAndRoles(t *testing.T) {
	for _, g := range []arkhub.Generation{arkhub.GenerationNodeLocal, arkhub.GenerationStreams, arkhub.GenerationJobs, arkhub.GenerationUpgrades} {
		p := newPlayer(t, g)
		c, err := arkhub.New(arkhub.Options{Address: p.url, Token: secretOf("look")})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.Generation(t.Context()); err != nil || got != g {
			t.Errorf("%s, error %v, want %s", got, err, g)
		}
		c.Close()
		if status, data := p.send("POST", "/api/v1/nodes/node-a/streams/x/start", map[string]string{"Authorization": "Bearer look"}, nil); status != 403 || len(p.hub.Effects()) > 0 {
			t.Errorf("%d %s", status, data)
		}
		if status, _ := p.send("GET", "/api/v1/nodes", nil, nil); status != 401 {
			t.Errorf("without a token: %d", status)
		}
	}
}

// An answer that is lost is not an effect that is lost.
func TestFaults(t *testing.T) {
	p := newPlayer(t, arkhub.GenerationJobs)
	if err := p.hub.SetJob(`{"id":"j","version":1,"operators":[{"id":"s"}],"sources":[{"operator_id":"s"}]}`, "stopped"); err != nil {
		t.Fatal(err)
	}
	post := func() (int, error) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url+"/api/v1/jobs/j/checkpoints", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			return 0, err
		}
		defer res.Body.Close()
		return res.StatusCode, nil
	}
	for _, tt := range []struct {
		fault  arkhubtest.Fault
		status int // 0: no answer
		effect bool
	}{
		{arkhubtest.LoseAnswer, 0, true},
		{arkhubtest.LoseRequest, 0, false},
		{arkhubtest.Refuse(503, "storage_unavailable", "no database"), 503, false},
		{arkhubtest.Standby("http://other"), 503, false},
		{arkhubtest.Say(200, "text/html", "<html>"), 200, false},
		{arkhubtest.On("GET", "", arkhubtest.Refuse(500, "x", "y")), 202, true},
		{arkhubtest.Times(0, arkhubtest.LoseRequest), 202, true},
	} {
		before := len(p.hub.Effects())
		p.hub.Break(tt.fault)
		status, err := post()
		if status != tt.status || (err != nil) != (tt.status == 0) || (len(p.hub.Effects()) > before) != tt.effect {
			t.Errorf("status %d, error %v, effects %v", status, err, p.hub.Effects()[before:])
		}
	}
}
