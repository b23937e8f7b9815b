package arkflow_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/arkhub"
)

// logOf reads a log that an engine left.
func logOf(t *testing.T, name string) arkflow.Facts {
	t.Helper()
	path := filepath.Join("testdata", "wal-s3", name, "bucket", "wal", "node-a", "orders-eu")
	if !strings.HasPrefix(name, "s3-") {
		path = unpackedLog(t, localFixtures+"wal-local/"+name)
	}
	return logAt(t, path)
}

// logChanged is the log of a file that something happened to since.
func logChanged(t *testing.T, name string, change func([]byte) []byte) arkflow.Facts {
	t.Helper()
	data, err := os.ReadFile(unpackedLog(t, localFixtures+"wal-local/"+name))
	if err != nil {
		t.Fatal(err)
	}
	return logAt(t, put(t, filepath.Join(t.TempDir(), arkflow.FileName), change(data)))
}

// reopened is a file that an engine opened again, and was killed before it
// committed anything.
func reopened(data []byte) []byte {
	const god, recovery = 9, 2
	data[god] |= recovery
	return data
}

func longer(data []byte) []byte { return append(data, make([]byte, 4096)...) }

func logAt(t *testing.T, path string) arkflow.Facts {
	t.Helper()
	l, err := logReader().Read(t.Context(), path, arkflow.Question{})
	if err != nil {
		return arkflow.Facts{LogFault: err}
	}
	return arkflow.Facts{Log: &l}
}

func decoded[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func configOf(t *testing.T, text string) arkflow.Facts {
	t.Helper()
	c := decoded[arkhub.StreamConfig](t, text)
	return arkflow.Facts{Config: &c, Configs: true, Generation: arkhub.GenerationJobs}
}

func storeOf(t *testing.T, store string) arkflow.Facts {
	t.Helper()
	rounds, target := answerOf[[]arkhub.Checkpoint](t, "hub/checkpoints-final"), ordersCount(t)
	if strings.HasPrefix(store, "two-nodes") {
		d := answerOf[arkhub.Detail](t, "hub/"+store+"/detail-node-stale")
		rounds, target = d.Checkpoints, arkflow.TargetOf(d.Job, d.Plan, arkhub.GenerationJobs)
	}
	l, err := localPoints(t).List(t.Context(), storeFolder(t, storesByName(t)[store]), rounds, target)
	if err != nil {
		t.Fatal(err)
	}
	return arkflow.Facts{Points: &l, Generation: arkhub.GenerationJobs}
}

func jobOf(t *testing.T, name string, change func(*arkflow.Facts)) arkflow.Facts {
	t.Helper()
	j := answerOf[arkhub.Job](t, name)
	f := arkflow.Facts{Job: &j, Generation: arkhub.GenerationJobs, Now: j.Updated.Or(0).Time().Add(10 * time.Second)}
	if change != nil {
		change(&f)
	}
	return f
}

func healthOf(t *testing.T, rounds string, after time.Duration) arkflow.Facts {
	t.Helper()
	return jobOf(t, "hub/job-failed-round", func(f *arkflow.Facts) {
		f.Job.Spec.Checkpoint.IntervalMs = arkhub.Known[uint64](30_000)
		f.Rounds = answerOf[[]arkhub.Checkpoint](t, rounds)
		f.Operations = itemsOf[arkhub.Operation](t, "hub/operations-failed-round")
		h := arkflow.HealthOf(f.Rounds, *f.Job, arkhub.Text{}, f.Rounds[0].Created.Or(0).Time().Add(after))
		f.Health = &h
	})
}

func streamOf(t *testing.T, name string, change func(*arkflow.Facts)) arkflow.Facts {
	t.Helper()
	s := answerOf[arkhub.Stream](t, name)
	f := arkflow.Facts{Stream: &s, Generation: arkhub.GenerationJobs, Now: time.UnixMilli(1795969390000)}
	if change != nil {
		change(&f)
	}
	return f
}

// moved are readings of one log of a running stream.
func moved(t *testing.T, cursorTail ...[2]uint64) arkflow.Facts {
	t.Helper()
	f := streamOf(t, "hub/stream", nil)
	for i, ct := range cursorTail {
		l := *logOf(t, "unclean-pending").Log
		l.Cursor, l.Tail = &ct[0], &ct[1]
		if i == len(cursorTail)-1 {
			f.Log = &l
		} else {
			f.Earlier = append(f.Earlier, l)
		}
	}
	return f
}

func merged(a, b arkflow.Facts) arkflow.Facts {
	a.Log, a.LogFault = b.Log, b.LogFault
	return a
}

type rowCase struct {
	row   string
	what  string
	facts arkflow.Facts
	want  arkflow.Outcome
}

// Each row of the decision table holds of facts of which it is so, is clear of
// facts of which it is not, and says when it was not asked. The facts are what real
// engines and hubs left, where they did.
func TestDecisionTable(t *testing.T) {
	const holds, isClear, unasked = arkflow.Holds, arkflow.Clear, arkflow.NotChecked
	absorb := func(f arkflow.Facts, n uint64) arkflow.Facts { f.Absorb = &n; return f }
	placeholder := filepath.Join(t.TempDir(), "wal", "${NODE_ID}", "orders-eu")
	if err := os.CopyFS(placeholder, os.DirFS("testdata/wal-s3/s3-pending/bucket/wal/node-a/orders-eu")); err != nil {
		t.Fatal(err)
	}
	unstable := arkflow.Facts{Log: &arkflow.WriteAheadLog{Backend: arkflow.LocalFile}}
	back := moved(t, [2]uint64{13, 20}, [2]uint64{9, 20})
	stalled := func(in, out uint64) arkflow.Facts {
		return streamOf(t, "hub/stream", func(f *arkflow.Facts) {
			f.Config = configOf(t, `{"id":"orders-eu","pipeline":{"processors":[{"type":"batch"}]}}`).Config
			before := *f.Stream
			f.Before = []arkhub.Stream{before}
			f.Stream.Metrics.InputMessages = arkhub.Known(before.Metrics.InputMessages.Or(0) + in)
			f.Stream.Metrics.OutputMessages = arkhub.Known(before.Metrics.OutputMessages.Or(0) + out)
		})
	}
	rounds := answerOf[[]arkhub.Checkpoint](t, "hub/checkpoints-final")
	target := func(version, format uint64, g arkhub.Generation) *arkflow.Target {
		tt := with(ordersCount(t), func(t *arkflow.Target) {
			t.Version, t.FormatVersion, t.Explicit, t.Generation = &version, &format, savepoint2, g
		})
		return &tt
	}
	rollback := func(r []arkhub.Checkpoint, version, format uint64, g arkhub.Generation) arkflow.Facts {
		return arkflow.Facts{Rounds: r, Rollback: target(version, format, g), Generation: g}
	}
	upgrade := func(text string, g arkhub.Generation) arkflow.Facts {
		d := decoded[arkhub.Detail](t, text)
		return arkflow.Facts{Detail: &d, Generation: g}
	}
	nodes := func(name string, durable ...string) arkflow.Facts {
		n := itemsOf[arkhub.Node](t, name)
		return arkflow.Facts{Nodes: n, Durable: durable, Now: n[0].LastSeen.Or(0).Time().Add(time.Minute)}
	}
	operations := func(name string, change func([]arkhub.Operation)) arkflow.Facts {
		f := arkflow.Facts{Operations: itemsOf[arkhub.Operation](t, name), Now: time.UnixMilli(1795969390000)}
		if change != nil {
			change(f.Operations)
		}
		return f
	}
	ran := func(job, ops string, r []arkhub.Checkpoint) arkflow.Facts {
		return jobOf(t, job, func(f *arkflow.Facts) {
			f.Rounds, f.Operations = r, itemsOf[arkhub.Operation](t, ops)
		})
	}
	status := func(name string) arkflow.Facts {
		s := answerOf[arkhub.OperationsStatus](t, name)
		return arkflow.Facts{Status: &s}
	}
	detail := func(name string) arkflow.Facts {
		d := answerOf[arkhub.Detail](t, name)
		return arkflow.Facts{Detail: &d, Job: &d.Job, Operations: d.Operations, Generation: arkhub.GenerationJobs}
	}
	durableGroup := `{"id":"a","durability":{"enabled":true,"path":"w"}}`
	objectStore := `{"id":"a","durability":{"enabled":true,"sync":"per_entry","backend":{"type":"object_store","s3":{"bucket":"b"}}}}`
	perEntry := `{"id":"a","durability":{"enabled":true,"path":"w","sync":"per_entry"}}`
	periodic := `{"id":"a","durability":{"path":"w","sync":{"periodic":{"secs":1,"nanos":0}}}}`
	newer := func(f arkflow.Facts) arkflow.Facts { f.Generation = arkhub.GenerationUpgrades; return f }

	cases := []rowCase{
		{"1", "all acknowledged", logOf(t, "clean-acked"), holds},
		{"1", "some pending", logOf(t, "clean-pending"), isClear},
		{"1", "all acknowledged in an object store", logOf(t, "s3-clean"), holds},
		{"1", "the manifest can't be read", logOf(t, "s3-bad-manifest"), unasked},
		{"1", "no log", arkflow.Facts{}, unasked},
		{"2", "seven pending", logOf(t, "unclean-pending"), holds},
		{"2", "pending, and a gap", logOf(t, "s3-gap"), isClear},
		{"2", "pending, and damaged", logOf(t, "bad-entry-clean"), isClear},
		{"2", "none pending", logOf(t, "clean-acked"), isClear},
		{"3", "more than the sink takes", absorb(logOf(t, "unclean-pending"), 6), holds},
		{"3", "as many as the sink takes", absorb(logOf(t, "unclean-pending"), 7), isClear},
		{"3", "nobody says", logOf(t, "unclean-pending"), unasked},
		{"4", "the cursor rises", moved(t, [2]uint64{13, 20}, [2]uint64{18, 22}), holds},
		{"4", "it stands", moved(t, [2]uint64{13, 20}, [2]uint64{13, 22}), isClear},
		{"4", "read once", moved(t, [2]uint64{13, 20}), unasked},
		{"5", "three readings, the tail alone rises", moved(t, [2]uint64{13, 20}, [2]uint64{13, 22}, [2]uint64{13, 24}), holds},
		{"5", "the cursor moves at last", moved(t, [2]uint64{13, 20}, [2]uint64{13, 22}, [2]uint64{14, 24}), isClear},
		{"5", "two readings", moved(t, [2]uint64{13, 20}, [2]uint64{13, 22}), unasked},
		{"6", "in, and nothing out", stalled(10, 0), holds},
		{"6", "in and out", stalled(10, 4), isClear},
		{"6", "a later engine", newer(stalled(10, 0)), isClear},
		{"6", "looked at once", streamOf(t, "hub/stream", func(f *arkflow.Facts) { f.Config = configOf(t, perEntry).Config }), unasked},
		{"7", "sequences never written", logOf(t, "s3-gap"), holds},
		{"7", "whole", logOf(t, "s3-pending"), isClear},
		{"8", "an object below the cursor is gone", logOf(t, "s3-missing-segment"), holds},
		{"8", "whole", logOf(t, "s3-pending"), isClear},
		{"9", "the newest segment is torn", logOf(t, "s3-torn-newest"), holds},
		{"9", "whole", logOf(t, "s3-pending"), isClear},
		{"9", "a file", logOf(t, "clean-pending"), isClear},
		{"10", "the newest segment is torn", logOf(t, "s3-torn-newest"), holds},
		{"10", "whole", logOf(t, "s3-pending"), isClear},
		{"11", "a byte in the middle", logOf(t, "s3-bad-middle"), holds},
		{"11", "torn at the end alone", logOf(t, "s3-torn-newest"), isClear},
		{"12", "not in the manifest", logOf(t, "s3-unreferenced"), holds},
		{"12", "in the manifest", logOf(t, "s3-pending"), isClear},
		{"13", "deleted", logOf(t, "s3-no-manifest"), holds},
		{"13", "there", logOf(t, "s3-pending"), isClear},
		{"14", "cut", logOf(t, "s3-bad-manifest"), holds},
		{"14", "whole", logOf(t, "s3-pending"), isClear},
		{"15", "a sequence that is out of order", logOf(t, "s3-bad-sequence"), holds},
		{"15", "a cursor that moved back", back, holds},
		{"15", "a cursor that moved back, of an engine that rewinds", newer(back), isClear},
		{"15", "whole", logOf(t, "s3-pending"), isClear},
		{"16", "a name that was not filled in", logAt(t, placeholder), holds},
		{"16", "names", logOf(t, "s3-pending"), isClear},
		{"17", "killed", logOf(t, "unclean-pending"), holds},
		{"17", "closed", logOf(t, "clean-pending"), isClear},
		{"17", "killed, and longer by a byte", logChanged(t, "unclean-pending", func(b []byte) []byte { return append(b, 0) }), isClear},
		{"17", "killed, and damaged", logOf(t, "bad-slot-primary-unclean"), isClear},
		{"17a", "closed, and a payload is damaged", logOf(t, "bad-entry-clean"), holds},
		{"17a", "closed, and a commit is damaged", logOf(t, "bad-slot-primary-clean"), holds},
		{"17a", "closed and whole", logOf(t, "clean-pending"), isClear},
		{"17a", "killed, where the engine checks", logOf(t, "bad-slot-primary-unclean"), isClear},
		{"17a", "closed, opened again and killed, and a payload is damaged", logChanged(t, "bad-entry-clean", reopened), holds},
		{"17a", "closed, opened again and killed, and whole", logChanged(t, "clean-pending", reopened), isClear},
		{"17b", "the primary commit", logOf(t, "bad-slot-primary-unclean"), holds},
		{"17b", "its tree", logOf(t, "bad-table-tree-unclean"), holds},
		{"17b", "whole", logOf(t, "unclean-pending"), isClear},
		{"17c", "cut by five pages", logOf(t, "truncated-unclean"), holds},
		{"17c", "closed, and longer by a page", logChanged(t, "clean-pending", longer), holds},
		{"17c", "killed, and longer by a page", logChanged(t, "unclean-pending", longer), isClear},
		{"17c", "whole", logOf(t, "unclean-pending"), isClear},
		{"18", "both commits", logOf(t, "bad-slots-both"), holds},
		{"18", "a payload of a killed writer's file", logOf(t, "bad-entry-unclean"), holds},
		{"18", "whole", logOf(t, "unclean-pending"), isClear},
		{"19", "changes under every try", unstable, holds},
		{"19", "read in one piece", logOf(t, "hot-copy-idle"), isClear},
		{"20", "a node gone, and its log refused", merged(nodes("hub/nodes-stale", "node-a/orders-eu"), logOf(t, "bad-slots-both")), holds},
		{"20", "a node gone, and its log too short", merged(nodes("hub/nodes-stale", "node-a/orders-eu"), logOf(t, "truncated-unclean")), holds},
		{"20", "a node gone, and its log too long", merged(nodes("hub/nodes-stale", "node-a/orders-eu"), logChanged(t, "clean-pending", longer)), holds},
		{"20", "a node gone, its log whole", merged(nodes("hub/nodes-stale", "node-a/orders-eu"), logOf(t, "unclean-pending")), isClear},
		{"20", "every node there", merged(nodes("hub/nodes"), logOf(t, "bad-slots-both")), isClear},
		{"20", "a node gone, no log read", nodes("hub/nodes-stale", "node-a/orders-eu"), unasked},
		{"21", "failed 54 ms after its start", streamOf(t, "hub/stream-failed-build", nil), holds},
		{"21", "running", streamOf(t, "hub/stream", nil), isClear},
		{"21", "failed an hour later", streamOf(t, "hub/stream-failed-build", func(f *arkflow.Facts) {
			f.Stream.Started = arkhub.Known(f.Stream.Started.Or(0) - 3_600_000)
		}), isClear},
		{"22", "no section", configOf(t, `{"id":"a","durability":null}`), holds},
		{"22", "switched off", configOf(t, `{"id":"a","durability":{"enabled":false}}`), holds},
		{"22", "on", configOf(t, durableGroup), isClear},
		{"22", "not exposed", arkflow.Facts{}, unasked},
		{"23", "the default", configOf(t, durableGroup), holds},
		{"23", "periodic", configOf(t, periodic), holds},
		{"23", "the outer word beside a backend counts for nothing", configOf(t, objectStore), holds},
		{"23", "per entry", configOf(t, perEntry), isClear},
		{"23", "a later engine", newer(configOf(t, durableGroup)), isClear},
		{"24", "a round that is pending for ever", healthOf(t, "hub/checkpoints-failed-round", 3*time.Minute), holds},
		{"24", "a round just completed", healthOf(t, "hub/checkpoints-completed", 10*time.Second), isClear},
		{"24", "a round just begun", healthOf(t, "hub/checkpoints-failed-round", time.Second), unasked},
		{"25", "none completed", jobOf(t, "hub/job-running", func(f *arkflow.Facts) {
			f.Rounds = answerOf[[]arkhub.Checkpoint](t, "hub/checkpoints-not-running")
		}), holds},
		{"25", "one completed", jobOf(t, "hub/job-running", func(f *arkflow.Facts) {
			f.Rounds = answerOf[[]arkhub.Checkpoint](t, "hub/checkpoints-completed")
		}), isClear},
		{"25", "no state", jobOf(t, "hub/jobs-extra/job-running", func(f *arkflow.Facts) { f.Rounds = []arkhub.Checkpoint{} }), isClear},
		{"26", "an offset changed", storeOf(t, "bad-manifest-offset"), holds},
		{"26", "a value changed", storeOf(t, "bad-snapshot-value"), holds},
		{"26", "a state object gone", storeOf(t, "missing-snapshot"), holds},
		{"26", "whole", storeOf(t, "final"), isClear},
		{"26", "not looked at", arkflow.Facts{}, unasked},
		{"26a", "a task is missing", storeOf(t, "missing-task"), holds},
		{"26a", "half of the tasks", storeOf(t, "two-nodes-half-failed"), holds},
		{"26a", "whole", storeOf(t, "final"), isClear},
		{"26b", "after a node was lost", storeOf(t, "two-nodes"), holds},
		{"26b", "every point has them", storeOf(t, "after-savepoint"), isClear},
		{"27", "format 2 reads no format 1", rollback(rounds, 1, 2, arkhub.GenerationJobs), holds},
		{"27", "the same format", rollback(rounds, 1, 1, arkhub.GenerationJobs), isClear},
		{"27", "none thought of", arkflow.Facts{}, unasked},
		{"28", "version 2, and all artefacts are of version 1", rollback(rounds[1:], 2, 1, arkhub.GenerationJobs), holds},
		{"28", "the same where older ones may be restored", rollback(rounds[1:], 2, 1, arkhub.GenerationUpgrades), isClear},
		{"28", "version 1 has artefacts", rollback(rounds, 1, 1, arkhub.GenerationJobs), isClear},
		{"28", "a generation that is not known", rollback(rounds, 1, 1, arkhub.GenerationUnknown), unasked},
		{"29", "one version", jobOf(t, "hub/job-running", func(f *arkflow.Facts) { f.Versions = answerOf[[]arkhub.Version](t, "hub/versions-1") }), holds},
		{"29", "two versions", jobOf(t, "hub/job-running-v2", func(f *arkflow.Facts) { f.Versions = answerOf[[]arkhub.Version](t, "hub/versions-2") }), isClear},
		{"30", "verifying", upgrade(`{"active_upgrade":{"upgrade_id":"u1","phase":"verifying","from_version":1,"to_version":2}}`, arkhub.GenerationUpgrades), holds},
		{"30", "ended", upgrade(`{"active_upgrade":{"upgrade_id":"u1","phase":"succeeded"}}`, arkhub.GenerationUpgrades), isClear},
		{"30", "none", upgrade(`{"active_upgrade":null}`, arkhub.GenerationUpgrades), isClear},
		{"30", "a hub that keeps none", upgrade(`{}`, arkhub.GenerationJobs), isClear},
		{"31", "running", jobOf(t, "hub/job-running", nil), holds},
		{"31", "told to stop, and not yet stopped", jobOf(t, "hub/job-stop", nil), holds},
		{"31", "stopped", jobOf(t, "hub/job-stopped", nil), isClear},
		{"32", "ten minutes after a rollback", jobOf(t, "hub/job-rolled-back", func(f *arkflow.Facts) { f.Now = f.Now.Add(10 * time.Minute) }), holds},
		{"32", "directly after it", jobOf(t, "hub/job-rolled-back", nil), isClear},
		{"32", "running", jobOf(t, "hub/job-running", nil), isClear},
		{"33", "a stale node", nodes("hub/nodes-stale"), holds},
		{"33", "not ready", arkflow.Facts{Ready: new(bool)}, holds},
		{"33", "online", nodes("hub/nodes"), isClear},
		{"34", "an outcome that was lost", operations("hub/operations", func(o []arkhub.Operation) { o[0].FailureClass = arkhub.Known("ambiguous") }), holds},
		{"34", "every outcome is known", operations("hub/operations", nil), isClear},
		{"T1", "record 9 failed, and the cursor jumped over it", merged(streamOf(t, "hub/stream", nil), logOf(t, "skipped-record")), holds},
		{"T1", "the output never failed", merged(streamOf(t, "hub/stream-after-start", nil), logOf(t, "clean-acked")), isClear},
		{"T1", "a contiguous cursor", merged(streamOf(t, "hub/stream", nil), logOf(t, "lib-v3-reclaimed")), isClear},
		{"T1", "no hub was asked", logOf(t, "skipped-record"), unasked},
		{"T2", "an object store", configOf(t, objectStore), holds},
		{"T2", "a file", configOf(t, perEntry), isClear},
		{"T2", "a later engine", newer(configOf(t, objectStore)), isClear},
		{"T3", "told to run, stopped, in sync", streamOf(t, "hub/restart-collision/stream-after", func(f *arkflow.Facts) { f.Operations = []arkhub.Operation{} }), holds},
		{"T3", "failed for good, in sync", streamOf(t, "hub/stream-converged", func(f *arkflow.Facts) {
			f.Operations = itemsOf[arkhub.Operation](t, "hub/operations")
		}), holds},
		{"T3", "nothing was asked", streamOf(t, "hub/stream", func(f *arkflow.Facts) { f.Operations = []arkhub.Operation{} }), isClear},
		{"T4", "after a restart of the hub", operations("hub/restart-collision/operations-after", nil), holds},
		{"T4", "before it", operations("hub/restart-collision/operations-before", nil), isClear},
		{"T5", "version 2 from a savepoint of version 1", ran("hub/job-running-v2", "hub/operations-v2", rounds[1:]), holds},
		{"T5", "after the rollback", ran("hub/job-running-after-rollback", "hub/operations-after-rollback", rounds), isClear},
		{"T5", "the first start", ran("hub/job-running", "hub/operations-failed-round", rounds), isClear},
		{"T6", "the second node never started", detail("hub/two-nodes-half-failed/detail-running"), holds},
		{"T6", "both started", detail("hub/two-nodes/detail-running"), isClear},
		{"T7", "a round that never ended", jobOf(t, "hub/job-failed-round", func(f *arkflow.Facts) {
			f.Rounds = answerOf[[]arkhub.Checkpoint](t, "hub/checkpoints-failed-round")
		}), holds},
		{"T7", "a completed one", jobOf(t, "hub/job-upgraded", func(f *arkflow.Facts) { f.Rounds = rounds }), isClear},
		{"T8", "all 0", detail("hub/detail-failed-round"), holds},
		{"T8", "one that is not 0", upgrade(`{"metrics":{"watermark_lag_ms":12,"checkpoint_failures":0}}`, arkhub.GenerationJobs), isClear},
		{"T8", "none", upgrade(`{"metrics":{}}`, arkhub.GenerationUpgrades), isClear},
		{"T9", "half a cut is the newest", storeOf(t, "missing-task"), holds},
		{"T9", "the newest is whole", storeOf(t, "final"), isClear},
		{"T10", "a failure, then a success", status("hub/restart-collision/status-after"), holds},
		{"T10", "healthy", status("hub/operations-status"), isClear},
		{"T10", "no storage", arkflow.Facts{}, unasked},
	}
	seen := map[string]map[arkflow.Outcome]int{}
	for _, c := range cases {
		c.facts.Subject = "the subject"
		all := arkflow.Decide(c.facts, arkflow.OfLog, arkflow.OfStream, arkflow.OfJob, arkflow.OfHub)
		at := slices.IndexFunc(all, func(d arkflow.Decision) bool { return d.Row == c.row })
		if at < 0 {
			t.Errorf("there is no row %s", c.row)
			continue
		}
		d := all[at]
		if d.Outcome != c.want {
			t.Errorf("row %s, %s: %s (%s), want %s", c.row, c.what, d.Outcome, d.Sentence, c.want)
		}
		if d.Sentence == "" || d.Action == "" || d.Condition == "" || d.Rule == "" || d.Severity == "" || d.Scope == "" {
			t.Errorf("row %s says too little: %+v", c.row, d)
		}
		if seen[c.row] == nil {
			seen[c.row] = map[arkflow.Outcome]int{}
		}
		seen[c.row][d.Outcome]++
	}
	for _, r := range arkflow.Rows() {
		if seen[r][arkflow.Holds] == 0 || seen[r][arkflow.Clear] == 0 {
			t.Errorf("row %s: %v; it needs facts of which it holds and facts of which it is clear", r, seen[r])
		}
	}
}

// The table is whole: the 34 rows of the reference with their parts, and the traps
// of the hub's own words, each once.
func TestEveryRowIsThere(t *testing.T) {
	want := strings.Fields("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 17a 17b 17c 18 19 20 21 22 23 24 25 26 26a 26b 27 28 29 30 31 32 33 34 T1 T2 T3 T4 T5 T6 T7 T8 T9 T10")
	got := arkflow.Rows()
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("rows %v, want %v", got, want)
	}
	rules := map[string]string{}
	for _, d := range arkflow.Decide(arkflow.Facts{}, arkflow.OfLog, arkflow.OfStream, arkflow.OfJob, arkflow.OfHub) {
		if other, twice := rules[d.Rule]; twice {
			t.Errorf("rows %s and %s have one rule", other, d.Row)
		}
		rules[d.Rule] = d.Row
		if d.Outcome == arkflow.Holds {
			t.Errorf("row %s holds of nothing: %s", d.Row, d.Sentence)
		}
	}
}

// What holds becomes findings, the worst first.
func TestFindingsOfDecisions(t *testing.T) {
	f := logOf(t, "bad-entry-clean")
	f.Subject = "log x"
	findings := arkflow.Findings(arkflow.Decide(f, arkflow.OfLog))
	if len(findings) == 0 || findings[0].Rule != "wal-damage-unnoticed" || findings[0].Severity != inspect.SeverityError || findings[0].Refs[0] != "log x" {
		t.Errorf("%+v", findings)
	}
}
