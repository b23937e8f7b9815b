package kafka_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/testkit/cases"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// otherID is the id of no topic.
const otherID = "Q2fIxHVRQmmpQwJzMkLm3A"

// Every situation in which the Java tool was run against a real broker, step by
// step. What this tool does otherwise is in the table of differences, and
// nothing else is.
func TestEveryCaseOfAnApply(t *testing.T) {
	all := cases.Applies(t)
	if len(all) < 80 {
		t.Fatalf("%d cases", len(all))
	}
	met := map[string]bool{}
	for _, c := range all {
		t.Run("fake/"+c.Name, func(t *testing.T) {
			newWorld(t, kafkatest.StartFake(t).Cluster, c).play(met)
		})
	}
	for name := range differences {
		if !met[name] {
			t.Errorf("the difference %s is not met in any case", name)
		}
	}
	if cluster := realCluster(t); cluster != nil {
		for _, c := range all {
			t.Run("real/"+c.Name, func(t *testing.T) { newWorld(t, cluster, c).play(met) })
		}
	}
}

// outcome is what an apply came to, in the words of the cases.
type outcome struct {
	success       bool
	stage, reason string
	control       []string // nil: no such topic
	starts, ends  map[int32]int64
}

// difference is an outcome of this tool that is not that of the Java tool.
type difference struct {
	why     string
	stage   string
	reason  string
	control []string
	starts  map[int32]int64 // nil: as expected of the Java tool
	verdict actions.Outcome // where the steps went well and the verdict is another
}

// differences, by case and number of the apply. They are told to users in
// docs/compatibility.md. One more holds everywhere: an apply that is refused
// before COMMITTED does not leave a new control topic behind.
var differences = map[string]difference{
	"concurrent-newer-committed/0": {
		why:   "a record of somebody else appeared during the apply",
		stage: "operations-after-commit", reason: "concurrent-apply",
		control: []string{"P2 COMMITTED", "P1 COMMITTED"}, starts: map[int32]int64{0: 0, 1: 0},
	},
	"concurrent-older-committed/0": {
		why:   "a record of somebody else appeared during the apply",
		stage: "operations-after-commit", reason: "concurrent-apply",
		control: []string{"P0 COMMITTED", "P1 COMMITTED"}, starts: map[int32]int64{0: 0, 1: 0},
	},
	"concurrent-same-plan-committed/0": {
		why:   "a record of somebody else appeared during the apply",
		stage: "operations-after-commit", reason: "concurrent-apply",
		control: []string{"P1 COMMITTED", "P1 COMMITTED"}, starts: map[int32]int64{0: 0, 1: 0},
	},
	"control-open-transaction-after-applied/0": {
		why:   "an open transaction would hide COMMITTED: Java reports a success that is none",
		stage: "operations", reason: "control-records-hidden",
		control: []string{"P0 COMMITTED", "P0 APPLIED"}, starts: map[int32]int64{0: 0, 1: 0},
	},
	"control-open-transaction-after-committed/0": {
		why:   "an open transaction would hide APPLIED: Java reports a success that is none",
		stage: "operations", reason: "control-records-hidden",
		control: []string{"P0 COMMITTED"}, starts: map[int32]int64{0: 0, 1: 0},
	},
	"control-open-transaction-after-committed/1": {
		why:   "an open transaction would hide COMMITTED: Java reports a success that is none",
		stage: "operations", reason: "control-records-hidden",
		control: []string{"P0 COMMITTED"}, starts: map[int32]int64{0: 0, 1: 0},
	},
	"control-open-transaction-first/0": {
		why:   "an open transaction would hide COMMITTED: Java writes it all the same and fails later",
		stage: "operations", reason: "control-records-hidden",
		control: []string{},
	},
	"applied-already-log-start-not-moved/0": {why: "APPLIED is on record and the log is not trimmed", verdict: actions.Contradicted},
	"applied-already-no-op/0":               {why: "APPLIED is on record and the log is not trimmed", verdict: actions.Contradicted},
	"reapply-older-applied/0":               {why: "APPLIED is on record and the log is not trimmed", verdict: actions.Contradicted},
}

// world is a cluster with the two topics of a case.
type world struct {
	*testing.T
	*kafkatest.Cluster
	raw   cases.ApplyCase
	names cases.Names
	open  map[string]*kafkatest.Transaction
}

func newWorld(t *testing.T, cluster *kafkatest.Cluster, c cases.ApplyCase) *world {
	t.Helper()
	w := &world{T: t, Cluster: cluster, raw: c, open: map[string]*kafkatest.Transaction{}, names: cases.Names{
		Data: kafkatest.UniqueName("data"), Control: kafkatest.UniqueName("control"), OtherID: otherID, DataID2: otherID,
	}}
	t.Cleanup(w.clear)
	if c.Data.Exists {
		w.must(w.make(c.Data))
		w.names.DataID = w.id()
	}
	if c.Control.Exists {
		w.must(w.CreateTopic(t.Context(), w.names.Control, int32(c.Control.Partitions), c.Control.Config))
		w.must(w.append(w.filled().Control.Extra))
	}
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// clear ends what the case left open.
func (w *world) clear() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for label, txn := range w.open {
		if err := txn.Abort(ctx); err != nil {
			w.Errorf("transaction %s: %v", label, err)
		}
	}
	if _, err := w.Admin().DeleteTopics(ctx, w.names.Data, w.names.Control); err != nil {
		w.Errorf("delete topics: %v", err)
	}
}

// filled is the case with what is known by now of the topics' ids.
func (w *world) filled() cases.ApplyCase {
	w.Helper()
	c, err := w.raw.With(w.names)
	w.must(err)
	return c
}

func (w *world) id() string {
	w.Helper()
	id, err := w.TopicID(w.Context(), w.names.Data)
	w.must(err)
	return base64.RawURLEncoding.EncodeToString(id[:])
}

func (w *world) make(topic cases.Topic) error {
	if err := w.CreateTopic(w.Context(), w.names.Data, int32(topic.Partitions), topic.Config); err != nil {
		return err
	}
	if err := w.produce(topic.Records); err != nil {
		return err
	}
	return w.trim(topic.DeletedTo)
}

func (w *world) produce(counts []int) error {
	for p, n := range counts {
		var records []kafkatest.Record
		for i := range n {
			r := cases.Filler(p, i)
			records = append(records, kafkatest.Record{Key: r.KeyBytes(), Value: r.ValueBytes()})
		}
		if _, err := w.Write(w.Context(), w.names.Data, int32(p), records...); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) trim(to map[string]int64) error {
	offsets := map[int32]int64{}
	for p, at := range to {
		n, err := strconv.ParseInt(p, 10, 32)
		if err != nil {
			return err
		}
		offsets[int32(n)] = at
	}
	if len(offsets) == 0 {
		return nil
	}
	return w.Trim(w.Context(), w.names.Data, offsets)
}

// append writes records to the control topic, each transaction as one.
func (w *world) append(records []cases.Record) error {
	for i, r := range records {
		record := kafkatest.Record{Key: r.KeyBytes(), Value: r.ValueBytes()}
		if r.Txn == "" {
			if _, err := w.Write(w.Context(), w.names.Control, 0, record); err != nil {
				return err
			}
			continue
		}
		txn := w.open[r.Txn]
		if txn == nil {
			begun, err := w.Begin(w.Context(), w.names.Control, 0, record)
			if err != nil {
				return err
			}
			txn, w.open[r.Txn] = begun, begun
		} else if _, err := txn.Write(w.Context(), w.names.Control, 0, record); err != nil {
			return err
		}
		if last := i+1 == len(records) || records[i+1].Txn != r.Txn; !last || strings.HasPrefix(r.Txn, "open") {
			continue
		}
		delete(w.open, r.Txn)
		end := txn.Commit
		if strings.HasPrefix(r.Txn, "aborted") {
			end = txn.Abort
		}
		if err := end(w.Context()); err != nil {
			return err
		}
	}
	return nil
}

// happen is one thing that others do to the topics.
func (w *world) happen(h cases.Happening) error {
	ctx := w.Context()
	switch {
	case h.Fail:
		return errInjected
	case h.Recreate != nil:
		if err := w.DeleteTopic(ctx, w.names.Data); err != nil {
			return err
		}
		if err := w.make(*h.Recreate); err != nil {
			return err
		}
		w.names.DataID2 = w.id()
		return nil
	case h.AddPartitions > 0:
		return w.AddPartitions(ctx, w.names.Data, h.AddPartitions)
	case h.SetConfig != nil:
		for key, value := range h.SetConfig {
			if err := w.Set(ctx, w.names.Data, key, value); err != nil {
				return err
			}
		}
		return nil
	case h.DeleteTo != nil:
		return w.trim(h.DeleteTo)
	case h.Produce != nil:
		return w.produce(h.Produce)
	case h.ControlAppend != nil:
		return w.append(h.ControlAppend)
	case h.DeleteDataTopic:
		return w.DeleteTopic(ctx, w.names.Data)
	case h.DeleteControlTopic:
		return w.DeleteTopic(ctx, w.names.Control)
	default:
		return errors.New("the case holds something that is not known")
	}
}

// points are where in a run the cases' stages begin and end. An unknown one
// fails the test.
var points = map[string]string{
	"after availability":           "step/survivors",
	"before commit":                "append/COMMITTED/1",
	"after commit":                 "step/delete",
	"after settings-before-delete": "data/delete/2",
	"before delete":                "data/delete/2",
	"after delete":                 "step/log-starts",
	"before applied-second":        "append/APPLIED/2",
}

// play does the steps of the case, one after another.
func (w *world) play(met map[string]bool) {
	w.Helper()
	applies := 0
	for i := range w.raw.Steps {
		s := w.filled().Steps[i]
		if s.Apply == "" {
			w.must(w.happen(s.Happening))
			continue
		}
		name := w.raw.Name + "/" + strconv.Itoa(applies)
		applies++
		w.apply(name, s, met)
	}
}

func (w *world) plans() map[string]inspect.CleanupPlan {
	w.Helper()
	out := map[string]inspect.CleanupPlan{}
	for name, p := range w.filled().Plans {
		offsets := inspect.Offsets{}
		for key, at := range p.Offsets {
			n, err := strconv.ParseInt(key, 10, 32)
			w.must(err)
			offsets[int32(n)] = at
		}
		out[name] = inspect.CleanupPlan{PlanID: p.ID(), SourceRecoveryPoint: p.Source, Topic: p.Topic, TopicID: p.TopicID, Offsets: offsets}
	}
	return out
}

func (w *world) apply(name string, s cases.ApplyStep, met map[string]bool) {
	w.Helper()
	replication, control, topic := 1, w.names.Control, w.names.Data
	if s.Options.ReplicationFactor != nil {
		replication = *s.Options.ReplicationFactor
	}
	if s.Options.ControlTopic != nil {
		control = *s.Options.ControlTopic
	}
	if s.Options.DataTopic != nil {
		topic = *s.Options.DataTopic
	}
	taps := tap{}
	for _, injection := range s.Inject {
		point, ok := points[injection.When+" "+injection.Stage]
		if !ok {
			w.Fatalf("no point for %s %s", injection.When, injection.Stage)
		}
		taps[point] = func() error {
			for _, h := range injection.Do {
				if err := w.happen(h); err != nil {
					return err
				}
			}
			return nil
		}
	}
	config := w.Config()
	config.RequestTimeout = 10 * time.Second
	result, err := apply{
		config: config, plan: w.plans()[s.Apply], replication: &replication, tap: taps,
		job: inspect.Job{Topic: topic, ControlTopic: &control, Tombstones: s.Options.Tombstones, KeepRecoveryPoints: 1},
	}.run(w.T)
	w.judge(name, s.Expect, result, err, met)
}

// judge compares with the Java tool, or with the table of differences.
func (w *world) judge(name string, e cases.ApplyExpect, result actions.ApplyResult, err error, met map[string]bool) {
	w.Helper()
	got := w.now(result, err)
	want := outcome{success: e.Success, stage: e.Stage, reason: e.Reason, starts: offsets(e.LogStart), ends: offsets(e.LogEnd)}
	if e.Reason == "injected-failure" {
		want.stage = ""
	}
	if e.Control != nil {
		want.control = []string{}
	}
	for _, r := range e.Control {
		text := r.Plan + " " + r.Status
		if r.Unreadable {
			text = "unreadable"
		}
		want.control = append(want.control, text)
	}
	verdict := actions.Applied
	d, differs := differences[name]
	switch {
	case differs && d.verdict != "":
		verdict = d.verdict
	case differs:
		want.success, want.stage, want.reason, want.control = false, d.stage, d.reason, d.control
		if d.starts != nil {
			want.starts = d.starts
		}
	case !e.Success && !w.raw.Control.Exists && e.Control != nil && len(e.Control) == 0:
		want.control = nil // it was refused before anything was made
	}
	if differs {
		met[name] = true
	}
	if got.starts == nil || want.starts == nil { // not given: the topic is gone, or the broker deletes by itself
		got.starts, want.starts, got.ends, want.ends = nil, nil, nil, nil
	}
	if !reflect.DeepEqual(got, want) {
		w.Errorf("%s:\n got %+v\nwant %+v\n%v\n%+v", name, got, want, err, result.Steps)
	}
	if want.success && result.Verdict != verdict {
		w.Errorf("%s: verdict %s (%s), want %s", name, result.Verdict, result.Message, verdict)
	}
	if !want.success && result.Verdict == actions.Applied {
		w.Errorf("%s: failed, and the verdict is %s", name, result.Verdict)
	}
	if !differs && e.Named != nil && !e.Success {
		w.named(name, e.Named, err)
	}
}

// now is what the apply came to and what is on the cluster.
func (w *world) now(result actions.ApplyResult, err error) outcome {
	w.Helper()
	out := outcome{success: true}
	for _, s := range result.Steps {
		out.success = out.success && (s.State == actions.StepDone || s.State == actions.StepSkipped)
	}
	var r *actions.Refusal
	switch {
	case errors.Is(err, errInjected):
		out.reason = "injected-failure" // where it was is what the case itself says
	case errors.As(err, &r):
		out.reason, out.stage = r.Problem.Code, string(r.Stage)
		if string(result.Stage) != out.stage {
			w.Errorf("stage %s in the result, %s in the error", result.Stage, out.stage)
		}
	}
	config := w.Config()
	config.RequestTimeout = 10 * time.Second
	out.control = seen(w.T, config, w.names.Control, w.plans())
	out.starts, out.ends = logs(w.T, w.Cluster, w.names.Data)
	return out
}

// named compares the numbers of a refusal.
func (w *world) named(name string, want map[string]json.RawMessage, err error) {
	w.Helper()
	var r *actions.Refusal
	if !errors.As(err, &r) {
		w.Errorf("%s: no refusal: %v", name, err)
		return
	}
	for key, raw := range want {
		text, err := json.Marshal(r.Problem.Named[key])
		w.must(err)
		var a, b any
		w.must(json.Unmarshal(raw, &a))
		w.must(json.Unmarshal(text, &b))
		if !reflect.DeepEqual(a, b) {
			w.Errorf("%s: %s is %s, want %s", name, key, text, raw)
		}
	}
}

func offsets(in map[string]int64) map[int32]int64 {
	if in == nil {
		return nil
	}
	out := map[int32]int64{}
	for key, at := range in {
		n, err := strconv.ParseInt(key, 10, 32)
		if err != nil {
			panic(err)
		}
		out[int32(n)] = at
	}
	return out
}
