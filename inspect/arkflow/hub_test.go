package arkflow_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/testkit/arkhubtest"
)

// world is a hub with a node, two streams and a job whose store is a folder.
type world struct {
	t     *testing.T
	hub   *arkhubtest.Hub
	clock *clock.Fake
	read  *arkflow.Hub
	http  *arkhub.Client
	dir   string
}

func newWorld(t *testing.T, g arkhub.Generation) *world {
	t.Helper()
	w := &world{t: t, clock: clock.NewFake(time.UnixMilli(1795968900000)), dir: t.TempDir()}
	w.hub = arkhubtest.New(arkhubtest.Options{Generation: g, Clock: w.clock})
	w.hub.AddNode("node-a")
	w.hub.AddStream("node-a", "orders-eu", "running", "")
	w.hub.AddStream("node-a", "heartbeat", "running", "")
	w.hub.Configure("node-a", `{"streams":[{"id":"orders-eu","durability":{"enabled":true,"path":"/var/wal","sync":"per_entry"}},{"id":"heartbeat","durability":null}]}`)
	client, err := arkhub.New(arkhub.Options{Address: w.hub.Start(t), Pause: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	w.http = client
	w.read = arkflow.NewHub(client, localPoints(t), w.clock)
	return w
}

func (w *world) spec(version, format uint64) string {
	return fmt.Sprintf(`{"id":"orders","version":%d,"parallelism":2,"max_parallelism":8,"operators":[{"id":"src","kind":"source"},{"id":"count","kind":"aggregate","stateful":true}],
		"sources":[{"operator_id":"src","input_type":"kafka"}],"state":{"format_version":%d},"checkpoint":{"interval_ms":30000,"retention":3,"object_store_uri":"file://%s"}}`, version, format, w.dir)
}

// run starts the job and lets time pass, so that rounds are taken.
func (w *world) run(spec string, seconds int) {
	w.t.Helper()
	if err := w.hub.SetJob(spec, "running"); err != nil {
		w.t.Fatal(err)
	}
	w.pass(seconds)
}

func (w *world) pass(seconds int) {
	w.t.Helper()
	for range seconds {
		w.clock.Advance(time.Second)
		if _, err := w.http.Health(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) job() arkflow.JobDetail {
	w.t.Helper()
	d, err := w.read.Job(w.t.Context(), "orders", "")
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

func rulesThatHold(findings []inspect.Finding) string {
	var rules []string
	for _, f := range findings {
		rules = append(rules, f.Rule)
	}
	return strings.Join(rules, " ")
}

// A job whose rounds succeed: what protects it, which point a start takes, and
// nothing that is wrong.
func TestAHealthyJob(t *testing.T) {
	w := newWorld(t, arkhub.GenerationJobs)
	w.run(w.spec(1, 1), 75)
	d := w.job()
	if d.Job.Health.State != arkflow.HealthGood || d.Job.Protected.Checkpoints != arkflow.CoverYes || d.Job.Protected.Log != arkflow.CoverNo {
		t.Errorf("%+v", d.Job)
	}
	if !strings.HasPrefix(d.Job.Protected.Sentence, "checkpoints every 30s, the newest completed one ") || !strings.HasSuffix(d.Job.Protected.Sentence, "no write-ahead log of its own") {
		t.Errorf("%s", d.Job.Protected.Sentence)
	}
	if len(d.Points.Points) != 2 || d.Points.Points[0].Verdict != inspect.Accepted || !d.Points.Points[0].Selected || d.Points.Selection.ID != d.Points.Points[0].ID {
		t.Errorf("%+v", d.Points)
	}
	if len(d.Tasks) != 4 || len(d.Versions) != 1 || d.Versions[0].Restorable != d.Points.Points[0].ID {
		t.Errorf("tasks %+v, versions %+v", d.Tasks, d.Versions)
	}
	for _, f := range d.Findings {
		if f.Severity != inspect.SeverityInfo {
			t.Errorf("%+v", f)
		}
	}
	if len(arkflow.That(d.Decisions, arkflow.Clear)) < 10 {
		t.Errorf("%d rows were checked and don't hold", len(arkflow.That(d.Decisions, arkflow.Clear)))
	}
}

// The store breaks: the hub shows nothing of it, and the round stays pending.
func TestAStoreThatBreaks(t *testing.T) {
	w := newWorld(t, arkhub.GenerationJobs)
	w.run(w.spec(1, 1), 40)
	w.hub.BreakStore("orders", true)
	w.pass(40)
	l, err := w.read.Jobs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Jobs) != 1 || *l.Jobs[0].Observed != "running" || *l.Jobs[0].Convergence != "converged" || l.Jobs[0].LastError != nil {
		t.Fatalf("the hub says %+v", l.Jobs)
	}
	if got := l.Jobs[0].Health.State; got != arkflow.HealthUnknown {
		t.Errorf("a round that was just begun: %s", got)
	}
	w.pass(120)
	d := w.job()
	if d.Job.Health.State != arkflow.HealthDegraded || !strings.Contains(rulesThatHold(d.Findings), "checkpoint-health-degraded") {
		t.Errorf("%+v, findings %s", d.Job.Health, rulesThatHold(d.Findings))
	}
	if got := d.Points.Selection; got.ID == "" || got.ID != d.Job.Health.Completed {
		t.Errorf("%+v: the older one stays in force", got)
	}
	w.hub.BreakStore("orders", false)
	w.pass(35)
	if got := w.job().Job.Health; got.State != arkflow.HealthGood {
		t.Errorf("once the store is whole: %+v", got)
	}
}

// An upgrade from a savepoint: the hub says running and converged, and the job has
// begun cold. The rollback is accepted; what it would restore is told before.
func TestAColdStartThatSaysConverged(t *testing.T) {
	w := newWorld(t, arkhub.GenerationJobs)
	w.run(w.spec(1, 1), 40)
	if err := w.hub.SetJob(w.spec(2, 1), "running"); err != nil {
		t.Fatal(err)
	}
	w.pass(10)
	d := w.job()
	if *d.Job.Convergence != "converged" || !strings.Contains(rulesThatHold(d.Findings), "started-cold") {
		t.Errorf("%s; convergence %s", rulesThatHold(d.Findings), *d.Job.Convergence)
	}
	if got := w.hub.Restored("orders"); got != "" {
		t.Errorf("restored from %s", got)
	}
	if len(d.Versions) != 2 || d.Versions[1].Version != 1 || d.Versions[1].Restorable != "" || !d.Versions[1].Selection.Known {
		t.Errorf("a rollback to version 1 restores its newest savepoint, and there is none: %+v", d.Versions)
	}
}

// Another state format: no point of version 1 fits version 2, and none is accepted.
func TestAnotherStateFormat(t *testing.T) {
	w := newWorld(t, arkhub.GenerationUpgrades)
	w.run(w.spec(1, 1), 40)
	if err := w.hub.SetJob(w.spec(2, 2), "stopped"); err != nil {
		t.Fatal(err)
	}
	w.pass(2)
	d := w.job()
	if p := d.Points.Points[0]; p.Verdict != inspect.Rejected || p.Reason != arkflow.RuleFormat || p.Engine.Verdict != inspect.Rejected {
		t.Errorf("%s %s, engine %+v", p.Verdict, p.Reason, p.Engine)
	}
	if !d.Points.Selection.Known || d.Points.Selection.ID != "" {
		t.Errorf("%+v", d.Points.Selection)
	}
}

// Streams: what protects each, and what the hub's own words hide.
func TestStreamsOfAHub(t *testing.T) {
	for _, g := range []arkhub.Generation{arkhub.GenerationStreams, arkhub.GenerationJobs} {
		w := newWorld(t, g)
		l, err := w.read.Jobs(t.Context())
		if err != nil || len(l.Streams) != 2 || len(l.Jobs) != 0 {
			t.Fatalf("%+v, error %v", l, err)
		}
		if p := l.Streams[0].Protected; p.Log != arkflow.CoverYes || p.Sync != arkhub.SyncPerEntry || p.Place != "/var/wal" || p.Sentence != "write-ahead log (per_entry) at /var/wal: each record is on disk before it is processed" {
			t.Errorf("%+v", p)
		}
		if p := l.Streams[1].Protected; p.Log != arkflow.CoverNo || !strings.HasPrefix(p.Sentence, "nothing: data between read and output is lost on a crash") {
			t.Errorf("%+v", p)
		}
		if got := rulesThatHold(l.Findings); got != "stream-not-durable" {
			t.Errorf("%s", got)
		}
		if unchecked := strings.Join(l.Unchecked, "; "); (g == arkhub.GenerationStreams) != strings.Contains(unchecked, "this hub has no jobs") {
			t.Errorf("%s: %s", g, unchecked)
		}
	}
}

// A node dies: what the hub says is as old as its last report, and that is said.
func TestAStaleNode(t *testing.T) {
	w := newWorld(t, arkhub.GenerationJobs)
	w.hub.Kill("node-a")
	w.pass(20)
	l, err := w.read.Jobs(t.Context())
	if err != nil || !strings.Contains(rulesThatHold(l.Findings), "hub-view-old") {
		t.Errorf("%s, error %v", rulesThatHold(l.Findings), err)
	}
}

// A hub without jobs can't be asked for one, and says what it has instead. A job
// that is not there is not found; a part that can't be read leaves the rest.
func TestWhatAHubDoesNotHave(t *testing.T) {
	w := newWorld(t, arkhub.GenerationStreams)
	if _, err := w.read.Job(t.Context(), "orders", ""); fault.KindOf(err) != fault.Unsupported || !strings.Contains(fault.Of(err).Hint, "inspect arkflow streams") {
		t.Errorf("%v", err)
	}
	w = newWorld(t, arkhub.GenerationJobs)
	if _, err := w.read.Job(t.Context(), "none", ""); fault.KindOf(err) != fault.NotFound {
		t.Errorf("%v", err)
	}
	w.run(w.spec(1, 1), 40)
	w.hub.Break(arkhubtest.On("GET", "/operations", arkhubtest.Refuse(400, "agent_request_rejected", "durable storage is unavailable")))
	d, err := w.read.Job(t.Context(), "orders", "")
	if err == nil || len(d.Points.Points) != 1 || len(d.Unchecked) == 0 || !strings.Contains(d.Unchecked[0], "durable storage is unavailable") {
		t.Errorf("%+v, error %v", d.Unchecked, err)
	}
	w.hub.Break(arkhubtest.Refuse(401, "unauthorized", "A valid operator token is required"))
	if _, err := w.read.Jobs(t.Context()); fault.KindOf(err) != fault.Denied {
		t.Errorf("%v", err)
	}
}

// What protects a stream, by every way in which it can be configured.
func TestProtection(t *testing.T) {
	for _, tt := range []struct {
		config     string
		generation arkhub.Generation
		log        arkflow.Cover
		says       string
	}{
		{`{"durability":{"path":"w"}}`, arkhub.GenerationJobs, arkflow.CoverYes, "write-ahead log (group_commit) at w: records that were not flushed yet are lost on a crash, without a trace"},
		{`{"durability":{"path":"w"}}`, arkhub.GenerationUpgrades, arkflow.CoverYes, "write-ahead log (group_commit) at w: records are on disk, by groups, before they are processed"},
		{`{"durability":{}}`, arkhub.GenerationJobs, arkflow.CoverYes, "write-ahead log (group_commit) at the working folder of its engine: records that were not flushed yet are lost on a crash, without a trace"},
		{`{"durability":{"backend":{"type":"local","path":"x","sync":"per_entry"},"path":"w"}}`, arkhub.GenerationJobs, arkflow.CoverYes, "write-ahead log (per_entry) at x: each record is on disk before it is processed"},
		{`{"durability":{"backend":{"type":"object_store","node_id":"n","stream_id":"s","s3":{"bucket":"b"}}}}`, arkhub.GenerationJobs, arkflow.CoverNo, "nothing: an object-store log at s3://b/arkflow/wal/n/s is configured, and engines of this generation panic on it at start"},
		{`{"durability":{"backend":{"type":"object_store","prefix":"wal","node_id":"n","stream_id":"s","s3":{"bucket":"b"}}}}`, arkhub.GenerationUpgrades, arkflow.CoverYes, "write-ahead log in an object store (group_commit) at s3://b/wal/n/s: what was not sealed yet is lost on a crash"},
		{`{"durability":{"enabled":false,"path":"w"}}`, arkhub.GenerationJobs, arkflow.CoverNo, "nothing: data between read and output is lost on a crash, unless the source sends it again"},
	} {
		c := decoded[arkhub.StreamConfig](t, tt.config)
		if p := arkflow.ProtectionOfStream(&c, tt.generation); p.Log != tt.log || p.Sentence != tt.says {
			t.Errorf("%s: %s %q, want %s %q", tt.config, p.Log, p.Sentence, tt.log, tt.says)
		}
	}
	if p := arkflow.ProtectionOfStream(nil, arkhub.GenerationJobs); p.Log != arkflow.CoverUnknown || !strings.HasPrefix(p.Sentence, "not exposed by this hub") {
		t.Errorf("%+v", p)
	}
}
