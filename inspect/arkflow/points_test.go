package arkflow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/objstore"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/internal/testkit/arkhubtest/recorded"
	"github.com/recoverctl/recoverctl/internal/testkit/s3test"
)

// answerOf decodes a recorded answer.
func answerOf[T any](t *testing.T, name string) T {
	t.Helper()
	x, err := recorded.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	var v T
	if err := json.Unmarshal(x.JSON, &v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

// itemsOf decodes a recorded page.
func itemsOf[T any](t *testing.T, name string) []T {
	t.Helper()
	return answerOf[struct {
		Items []T `json:"items"`
	}](t, name).Items
}

func planOf(t *testing.T, name string) arkhub.Plan {
	t.Helper()
	return answerOf[struct {
		Plan arkhub.Plan `json:"plan"`
	}](t, name).Plan
}

// storeFolder writes a recorded store to a folder of its own.
func storeFolder(t *testing.T, s recorded.Store) string {
	t.Helper()
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
	return dir
}

func localPoints(t *testing.T) *arkflow.Points {
	t.Helper()
	places, err := flink.New(flink.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return arkflow.NewPoints(places)
}

func storesByName(t *testing.T) map[string]recorded.Store {
	t.Helper()
	all, err := recorded.Stores()
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]recorded.Store{}
	for _, s := range all {
		by[s.Name] = s
	}
	return by
}

// ordersCount is the job that most stores are of, as its hub describes it.
func ordersCount(t *testing.T) arkflow.Target {
	t.Helper()
	return arkflow.TargetOf(answerOf[arkhub.Job](t, "hub/job-running"), planOf(t, "hub/plan"), arkhub.GenerationJobs)
}

func pointOf(t *testing.T, l arkflow.PointList, id string) arkflow.Point {
	t.Helper()
	at := slices.IndexFunc(l.Points, func(p arkflow.Point) bool { return p.ID == id })
	if at < 0 {
		t.Fatalf("no point %s among %d", id, len(l.Points))
	}
	return l.Points[at]
}

const (
	newestRound = "checkpoint-2-1795968933610"
	olderRound  = "checkpoint-2-1795968921385"
	savepoint1  = "savepoint-2-1795968918076"
	savepoint2  = "savepoint-5-1795968962997"
)

// Each store, whole or damaged in one way, is judged as its README says: the rule
// that refuses the point that was damaged, what the engine's own check makes of
// it, and which one a start would take.
func TestStores(t *testing.T) {
	tests := map[string]struct {
		id       string
		verdict  inspect.Verdict
		reason   string
		engine   inspect.Verdict
		selected string
	}{
		"final":                      {newestRound, inspect.Accepted, "", inspect.Accepted, newestRound},
		"bad-manifest-offset":        {newestRound, inspect.Rejected, arkflow.RuleManifestSealed, inspect.Rejected, olderRound},
		"bad-snapshot-json":          {newestRound, inspect.Rejected, arkflow.RuleStateSealed, inspect.Rejected, olderRound},
		"bad-snapshot-value":         {newestRound, inspect.Rejected, arkflow.RuleStateSealed, inspect.Rejected, olderRound},
		"missing-manifest":           {newestRound, inspect.Rejected, arkflow.RuleManifestThere, inspect.Rejected, olderRound},
		"missing-savepoint-snapshot": {savepoint1, inspect.Rejected, arkflow.RuleStateThere, inspect.Rejected, newestRound},
		"missing-snapshot":           {newestRound, inspect.Rejected, arkflow.RuleStateThere, inspect.Rejected, olderRound},
		"missing-task":               {newestRound, inspect.Rejected, arkflow.RuleTaskSet, inspect.Accepted, newestRound},
		"newer-version":              {newestRound, inspect.Rejected, arkflow.RuleVersion, inspect.Rejected, olderRound},
		"other-format":               {newestRound, inspect.Rejected, arkflow.RuleFormat, inspect.Rejected, olderRound},
		"truncated-manifest":         {newestRound, inspect.Rejected, arkflow.RuleManifestReads, inspect.Rejected, olderRound},
	}
	rounds := answerOf[[]arkhub.Checkpoint](t, "hub/checkpoints-final")
	stores := storesByName(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l, err := localPoints(t).List(t.Context(), storeFolder(t, stores[name]), rounds, ordersCount(t))
			if err != nil {
				t.Fatal(err)
			}
			p := pointOf(t, l, tt.id)
			if p.Verdict != tt.verdict || p.Reason != tt.reason || p.Engine.Verdict != tt.engine {
				t.Errorf("%s %s (%s), engine %s (%s); want %s %s, engine %s", p.Verdict, p.Reason, p.Message, p.Engine.Verdict, p.Engine.Why, tt.verdict, tt.reason, tt.engine)
			}
			if !l.Selection.Known || l.Selection.ID != tt.selected || pointOf(t, l, tt.selected).Selected != true {
				t.Errorf("selected %+v, want %s", l.Selection, tt.selected)
			}
			if name == "missing-task" && (l.Selection.Better != olderRound || !slices.Equal(p.Missing, []string{"sink-1"})) {
				t.Errorf("better %q, missing %v: half a cut is passed over only by people", l.Selection.Better, p.Missing)
			}
			if got := pointOf(t, l, savepoint2); got.Verdict != inspect.Rejected || got.Reason != arkflow.RuleVersion {
				t.Errorf("the savepoint of version 2: %s %s", got.Verdict, got.Reason)
			}
			if got := pointOf(t, l, "checkpoint-1-1795968905958"); got.Reason != arkflow.RuleCompleted {
				t.Errorf("the round that never ended: %s", got.Reason)
			}
		})
	}
}

// Of every manifest and state object in every store our word is the engine's: a
// checksum that its code finds wrong is never accepted, one that it finds right is
// never called wrong, and each snapshot that it could read or not.
func TestStoresAgainstTheEngine(t *testing.T) {
	manifests, objects := 0, 0
	for _, s := range storesByName(t) {
		l, err := localPoints(t).List(t.Context(), storeFolder(t, s), nil, arkflow.Target{})
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		for _, want := range s.Report {
			if want.Kind != "manifest" {
				continue
			}
			manifests++
			p := pointOf(t, l, strings.Split(want.Key, "/")[1])
			result := func(code string) inspect.RuleResult {
				for _, r := range p.Rules {
					if r.Code == code {
						return r.Result
					}
				}
				return ""
			}
			if want.Error != "" {
				if p.Verdict != inspect.Rejected || result(arkflow.RuleManifestReads) != inspect.Failed {
					t.Errorf("%s %s: %s %s, the engine says %s", s.Name, want.Key, p.Verdict, p.Reason, want.Error)
				}
				continue
			}
			if sealed := result(arkflow.RuleManifestSealed) == inspect.Passed; sealed != *want.Verify {
				t.Errorf("%s %s: sealed %v, the engine says %v", s.Name, want.Key, sealed, *want.Verify)
			}
			if p.Verdict == inspect.Accepted {
				t.Errorf("%s %s is accepted though no target is known", s.Name, want.Key)
			}
			for _, snapshot := range want.Snapshots {
				objects++
				at := slices.IndexFunc(p.States, func(o arkflow.StateObject) bool {
					return o.Key == snapshot.URI && slices.Contains(o.Tasks, snapshot.TaskID)
				})
				if at < 0 || (p.States[at].State == arkflow.ObjectWhole) != (snapshot.Read == "ok") {
					t.Errorf("%s %s of %s: %+v, the engine says %s", s.Name, snapshot.URI, snapshot.TaskID, p.States, snapshot.Read)
				}
			}
		}
	}
	if manifests < 40 || objects < 150 {
		t.Errorf("%d manifests with %d objects", manifests, objects)
	}
}

// Two nodes, one lost or never started: the hub completes rounds with half of the
// tasks, and rounds without a source position. The engine takes them.
func TestHalfOfTheTasks(t *testing.T) {
	for _, store := range []string{"two-nodes", "two-nodes-half-failed"} {
		detail := answerOf[arkhub.Detail](t, "hub/"+store+"/detail-node-stale")
		target := arkflow.TargetOf(detail.Job, detail.Plan, arkhub.GenerationJobs)
		l, err := localPoints(t).List(t.Context(), storeFolder(t, storesByName(t)[store]), detail.Checkpoints, target)
		if err != nil {
			t.Fatal(err)
		}
		half, without := 0, 0
		for _, p := range l.Points {
			if p.Status == arkhub.RoundCompleted && p.Reason == arkflow.RuleTaskSet {
				half++
				if p.Engine.Verdict != inspect.Accepted || len(p.Missing)*2 != len(target.Tasks) {
					t.Errorf("%s %s: engine %+v, missing %v of %v", store, p.ID, p.Engine, p.Missing, target.Tasks)
				}
			}
			if p.Status == arkhub.RoundCompleted && p.WithoutPositions() {
				without++
			}
		}
		if better := map[string]string{"two-nodes": "savepoint-1-1795969302429"}[store]; l.Selection.Better != better {
			t.Errorf("%s: %+v, better is %q", store, l.Selection, better)
		}
		if store == "two-nodes-half-failed" && half == 0 || store == "two-nodes" && without == 0 {
			t.Errorf("%s: %d with half of the tasks, %d without positions", store, half, without)
		}
	}
}

// The policy decides the kind, and no start of another version restores: what the
// running of a real engine showed after an upgrade and after a rollback.
func TestSelection(t *testing.T) {
	dir := storeFolder(t, storesByName(t)["final"])
	rounds := answerOf[[]arkhub.Checkpoint](t, "hub/checkpoints-final")
	job := func(name string) arkflow.Target {
		return arkflow.TargetOf(answerOf[arkhub.Job](t, name), planOf(t, "hub/plan"), arkhub.GenerationJobs)
	}
	for _, tt := range []struct {
		target arkflow.Target
		rounds []arkhub.Checkpoint
		id     string
		known  bool
	}{
		{job("hub/job-running"), rounds, newestRound, true},
		{job("hub/job-rolled-back"), rounds, savepoint1, true}, // its policy became latest_savepoint
		{job("hub/job-upgraded"), rounds[1:], "", true},        // version 2 with a savepoint of version 1: cold
		{job("hub/job-running-v2"), rounds, savepoint2, true},  // once version 2 has one of its own
		{with(job("hub/job-running"), func(t *arkflow.Target) { t.Recovery = "fail" }), rounds, "", true},
		{with(job("hub/job-running"), func(t *arkflow.Target) { t.Version = nil }), rounds, "", false},
		{with(job("hub/job-running"), func(t *arkflow.Target) { t.Generation = arkhub.GenerationStreams }), rounds, "", false},
		{with(job("hub/job-upgraded"), func(t *arkflow.Target) { t.Generation = arkhub.GenerationUpgrades }), rounds[1:], savepoint1, true}, // later hubs restore an older version
	} {
		l, err := localPoints(t).List(t.Context(), dir, tt.rounds, tt.target)
		if err != nil || l.Selection.ID != tt.id || l.Selection.Known != tt.known {
			t.Errorf("version %v, policy %s: %+v, error %v, want %q", tt.target.Version, tt.target.Recovery, l.Selection, err, tt.id)
		}
	}
}

func with(target arkflow.Target, change func(*arkflow.Target)) arkflow.Target {
	change(&target)
	return target
}

// What can't be read is unknown, never rejected and never accepted.
func TestUnreadableStores(t *testing.T) {
	rounds := answerOf[[]arkhub.Checkpoint](t, "hub/checkpoints-final")
	l, err := localPoints(t).List(t.Context(), filepath.Join(t.TempDir(), "nothing"), rounds, ordersCount(t))
	if fault.KindOf(err) != fault.NotFound || len(l.Points) != len(rounds) {
		t.Errorf("%d points, error %v", len(l.Points), err)
	}
	l, err = localPoints(t).List(t.Context(), "", rounds, with(ordersCount(t), func(t *arkflow.Target) { t.StoreURI = "" }))
	if p := pointOf(t, l, newestRound); err != nil || p.Verdict != inspect.Unknown || p.Reason != arkflow.RuleManifestThere || len(l.Unchecked) != 1 {
		t.Errorf("%s %s, unchecked %v, error %v", p.Verdict, p.Reason, l.Unchecked, err)
	}
	if l.Selection.Known {
		t.Errorf("selected %+v though nothing was looked at", l.Selection)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := localPoints(t).List(ctx, storeFolder(t, storesByName(t)["final"]), rounds, ordersCount(t)); fault.KindOf(err) != fault.Cancelled {
		t.Errorf("cancelled: %v", err)
	}
}

// A manifest that names files outside its store is not followed.
func TestNamesOutsideTheStore(t *testing.T) {
	dir := storeFolder(t, storesByName(t)["final"])
	name := filepath.Join(dir, "checkpoints", newestRound, "manifest.json")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data = []byte(strings.ReplaceAll(string(data), "checkpoints/"+newestRound+"/state", "../../../../etc/passwd/state"))
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := localPoints(t).List(t.Context(), dir, answerOf[[]arkhub.Checkpoint](t, "hub/checkpoints-final"), ordersCount(t))
	if p := pointOf(t, l, newestRound); err != nil || p.Verdict != inspect.Rejected || p.States[0].State != arkflow.ObjectUnread {
		t.Errorf("%s %+v, error %v", p.Verdict, p.States, err)
	}
}

// The same store in an object store is judged the same, and each object is read
// once however many tasks share it.
func TestStoreInAnObjectStore(t *testing.T) {
	server := s3test.Start(t, "ckpt")
	for key, data := range storesByName(t)["final"].Objects {
		server.Put("ckpt", "jobs/orders/"+key, data)
	}
	client := objstore.New(objstore.Config{Endpoint: server.URL, Region: "us-east-1", PathStyle: true, Keys: func(context.Context) (objstore.Keys, error) {
		return objstore.Keys{ID: "k", Secret: secret.New("s")}, nil
	}})
	defer client.Close()
	places, err := flink.New(flink.Options{Systems: map[string]flink.FileSystem{"s3": flink.NewObjects(flink.ObjectStore{Client: client})}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := arkflow.NewPoints(places).List(t.Context(), "s3://ckpt/jobs/orders", answerOf[[]arkhub.Checkpoint](t, "hub/checkpoints-final"), ordersCount(t))
	if err != nil || l.Selection.ID != newestRound || pointOf(t, l, newestRound).Verdict != inspect.Accepted {
		t.Fatalf("%+v, error %v", l.Selection, err)
	}
	read := map[string]int{}
	for _, r := range server.Requests() {
		if r.Method == http.MethodGet && strings.Contains(r.Path, "/state-") {
			read[r.Path]++
		}
	}
	for path, n := range read {
		if n != 1 {
			t.Errorf("%s was read %d times", path, n)
		}
	}
	if len(read) != 4 {
		t.Errorf("%d state objects were read", len(read))
	}
}

// Checkpoint health as it is derived, from recorded lists at chosen moments.
func TestHealth(t *testing.T) {
	job := answerOf[arkhub.Job](t, "hub/job-running")
	fast := job
	fast.Spec.Checkpoint.IntervalMs = arkhub.Known[uint64](30_000)
	stopped := answerOf[arkhub.Job](t, "hub/job-stopped")
	at := func(ms int64, after time.Duration) time.Time { return time.UnixMilli(ms).Add(after) }
	failed := answerOf[[]arkhub.Checkpoint](t, "hub/checkpoints-failed-round")
	good := answerOf[[]arkhub.Checkpoint](t, "hub/checkpoints-completed")
	for _, tt := range []struct {
		name     string
		rounds   []arkhub.Checkpoint
		job      arkhub.Job
		explicit arkhub.Text
		now      time.Time
		want     arkflow.HealthState
	}{
		{"young and completed", good, job, arkhub.Text{}, at(1795968915000, time.Minute), arkflow.HealthGood},
		{"completed, and no round since", good, fast, arkhub.Text{}, at(1795968915000, time.Hour), arkflow.HealthOverdue},
		{"a round just begun", failed, fast, arkhub.Text{}, at(1795968946842, 5*time.Second), arkflow.HealthUnknown},
		{"a round that is pending for ever", failed, fast, arkhub.Text{}, at(1795968946842, 3*time.Minute), arkflow.HealthDegraded},
		{"the same with an interval of an hour", failed, job, arkhub.Text{}, at(1795968946842, 3*time.Minute), arkflow.HealthUnknown},
		{"a round that a later hub calls failed", []arkhub.Checkpoint{func() arkhub.Checkpoint { c := failed[0]; c.Status = "failed"; return c }(), failed[1]}, job, arkhub.Text{}, at(1795968946842, time.Second), arkflow.HealthDegraded},
		{"never completed", answerOf[[]arkhub.Checkpoint](t, "hub/checkpoints-not-running"), job, arkhub.Text{}, at(1795968946842, 0), arkflow.HealthNone},
		{"never begun", []arkhub.Checkpoint{}, job, arkhub.Text{}, at(1795968946842, 0), arkflow.HealthNone},
		{"stopped", good, stopped, arkhub.Text{}, at(1795968915000, 24*time.Hour), arkflow.HealthIdle},
		{"not exposed", nil, job, arkhub.Text{}, at(1795968946842, 0), arkflow.HealthUnknown},
		{"the hub's own word", good, job, arkhub.Known("degraded"), at(1795968946842, 0), arkflow.HealthDegraded},
	} {
		h := arkflow.HealthOf(tt.rounds, tt.job, tt.explicit, tt.now)
		if h.State != tt.want || h.Sentence == "" {
			t.Errorf("%s: %+v, want %s", tt.name, h, tt.want)
		}
	}
	if h := arkflow.HealthOf(failed, fast, arkhub.Text{}, at(1795968946842, 10*time.Minute)); h.Completed != newestRound || h.Newest != "checkpoint-2-1795968946842" || fmt.Sprint(*h.AgeMs) != "613231" {
		t.Errorf("%+v", h)
	}
}
