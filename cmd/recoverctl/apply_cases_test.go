package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/internal/testkit/cases"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// These are the situations in which the Java tool was run against a real broker,
// applied by command as an operator without a terminal would. What happens in
// the middle of an apply is injected where the steps are tested.

func TestApplyCases(t *testing.T) { applyCases(t, kafkatest.StartFake(t).Cluster) }

// otherwise are the applies whose outcome is not the Java tool's, by case and
// number: the reason word here, or the verdict of a success that is none.
var otherwise = map[string]string{
	"control-open-transaction-after-applied/0":   "control-records-hidden",
	"control-open-transaction-after-committed/0": "control-records-hidden",
	"control-open-transaction-after-committed/1": "control-records-hidden",
	"control-open-transaction-first/0":           "control-records-hidden",
	"applied-already-log-start-not-moved/0":      "contradicted",
	"applied-already-no-op/0":                    "contradicted",
	"reapply-older-applied/0":                    "contradicted",
}

// exitOf is the exit code of a refusal: by its stage, or by its reason word where
// it is the broker that refuses.
var exitOf = map[string]int{
	"configuration": 2, "control-topic": 9, "operations": 9, "identity": 7, "settings": 7, "boundary": 7, "availability": 7,
	"broker-invalid-topic-name": 3, "broker-invalid-replication-factor": 3,
	"broker-offset-out-of-range": 8, // one partition was deleted by then
}

func applyCases(t *testing.T, cluster *kafkatest.Cluster) {
	applied := 0
	for _, c := range cases.Applies(t) {
		if slices.ContainsFunc(c.Steps, func(s cases.ApplyStep) bool { return len(s.Inject) > 0 }) {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			w := stageApply(t, cluster, c)
			for n, i := 0, 0; i < len(c.Steps); i++ {
				filled, err := c.With(w.names)
				if err != nil {
					t.Fatal(err)
				}
				if s := filled.Steps[i]; s.Apply == "" {
					w.happen(s.Happening)
				} else {
					w.judge(c.Name+"/"+strconv.Itoa(n), s, w.apply(filled.Plans[s.Apply], s.Options))
					n++
					applied++
				}
			}
		})
	}
	if applied < 60 {
		t.Errorf("only %d applies", applied)
	}
}

// applyWorld is a cluster with the two topics of a case.
type applyWorld struct {
	*testing.T
	cluster *kafkatest.Cluster
	names   cases.Names
}

func stageApply(t *testing.T, cluster *kafkatest.Cluster, c cases.ApplyCase) *applyWorld {
	t.Helper()
	const otherID = "Q2fIxHVRQmmpQwJzMkLm3A"
	w := &applyWorld{T: t, cluster: cluster, names: cases.Names{
		Data: kafkatest.UniqueName("data"), Control: kafkatest.UniqueName("control"), DataID: otherID, OtherID: otherID, DataID2: otherID}}
	t.Cleanup(func() {
		for _, topic := range []string{w.names.Data, w.names.Control} {
			if _, err := cluster.Admin().DeleteTopics(cleanupContext(t), topic); err != nil {
				t.Errorf("delete topic %s: %v", topic, err)
			}
		}
	})
	if c.Data.Exists {
		w.make(c.Data)
		w.names.DataID = topicID(t, cluster, w.names.Data)
	}
	filled, err := c.With(w.names)
	w.must(err)
	if filled.Control.Exists {
		w.must(cluster.CreateTopic(t.Context(), w.names.Control, int32(filled.Control.Partitions), filled.Control.Config))
		writeRecords(t, cluster, w.names.Control, filled.Control.Extra)
	}
	return w
}

func (w *applyWorld) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *applyWorld) make(topic cases.Topic) {
	w.Helper()
	w.must(w.cluster.CreateTopic(w.Context(), w.names.Data, int32(topic.Partitions), topic.Config))
	w.fill(topic.Records)
	trim(w.T, w.cluster, w.names.Data, topic.DeletedTo)
}

func (w *applyWorld) fill(counts []int) {
	w.Helper()
	for p, n := range counts {
		records := make([]kafkatest.Record, 0, n)
		for i := range n {
			filler := cases.Filler(p, i)
			records = append(records, kafkatest.Record{Key: filler.KeyBytes(), Value: filler.ValueBytes()})
		}
		if n > 0 {
			w.cluster.Put(w.T, w.names.Data, int32(p), records...)
		}
	}
}

func (w *applyWorld) happen(h cases.Happening) {
	w.Helper()
	ctx := w.Context()
	switch {
	case h.Recreate != nil:
		w.must(w.cluster.DeleteTopic(ctx, w.names.Data))
		w.make(*h.Recreate)
		w.names.DataID2 = topicID(w.T, w.cluster, w.names.Data)
	case h.AddPartitions > 0:
		w.must(w.cluster.AddPartitions(ctx, w.names.Data, h.AddPartitions))
	case h.SetConfig != nil:
		for key, value := range h.SetConfig {
			w.must(w.cluster.Set(ctx, w.names.Data, key, value))
		}
	case h.DeleteTo != nil:
		trim(w.T, w.cluster, w.names.Data, h.DeleteTo)
	case h.Produce != nil:
		w.fill(h.Produce)
	case h.ControlAppend != nil:
		writeRecords(w.T, w.cluster, w.names.Control, h.ControlAppend)
	case h.DeleteDataTopic:
		w.must(w.cluster.DeleteTopic(ctx, w.names.Data))
	case h.DeleteControlTopic:
		w.must(w.cluster.DeleteTopic(ctx, w.names.Control))
	default:
		w.Fatal("the case holds something that is not known")
	}
}

// apply writes the plan file and applies it, with every warning accepted that a
// plan without a readable point and without a Flink has.
func (w *applyWorld) apply(p cases.Plan, o cases.ApplyOptions) outcome {
	w.Helper()
	file := filepath.Join(w.TempDir(), "plan.json")
	_, record := p.ControlRecord("COMMITTED")
	_, plan, _ := strings.Cut(string(record), `"plan":`)
	w.must(os.WriteFile(file, []byte(strings.TrimSuffix(plan, "}")), 0o600))
	data, control, replication := w.names.Data, w.names.Control, 1
	if o.DataTopic != nil {
		data = *o.DataTopic
	}
	if o.ControlTopic != nil {
		control = *o.ControlTopic
	}
	if o.ReplicationFactor != nil {
		replication = *o.ReplicationFactor
	}
	home := w.TempDir()
	return commandIn(w.T, []string{"HOME=" + home}, "", "apply", file, "--reason", "case", "--approve", p.ID(), "--access", "operate",
		"--accept", "points-unknown", "--accept", "job-state-unknown", "--create-control-topic", strconv.Itoa(replication),
		"--brokers", strings.Join(w.cluster.Brokers(), ","), "--topic", data, "--control-topic="+control,
		"--tombstones="+strconv.FormatBool(o.Tombstones), "-o", "json")
}

func (w *applyWorld) judge(name string, s cases.ApplyStep, got outcome) {
	w.Helper()
	result := decodeAnswer[appliedJSON](w.T, "ApplyResult", got).Data
	want, e := otherwise[name], s.Expect
	switch {
	case want == "contradicted":
		if got.code != 7 || result.Verdict != want {
			w.Errorf("exit %d, %s; want 7, contradicted", got.code, result.Verdict)
		}
	case want != "":
		if got.code != 9 || result.Problem.code() != want {
			w.Errorf("exit %d, problem %v; want 9, %s", got.code, result.Problem, want)
		}
		return // the log is as it was, which the next step of the case tells
	case e.Success:
		if got.code != 0 || result.Verdict != "applied" || result.Problem != nil || got.errOut != "" {
			w.Errorf("exit %d, %+v, want applied\n%s", got.code, result, got.errOut)
		}
	default:
		exit, known := exitOf[e.Reason]
		if !known {
			exit, known = exitOf[e.Stage]
		}
		if !known || got.code != exit || result.Stage != e.Stage || result.Verdict == "applied" {
			w.Errorf("exit %d, %+v; want %d at %s\n%s", got.code, result, exit, e.Stage, got.errOut)
		}
		wantProblem(w.T, result.Problem, e.Reason, e.Named)
	}
	if e.LogStart == nil {
		return
	}
	starts, err := w.cluster.Admin().ListStartOffsets(w.Context(), w.names.Data)
	w.must(err)
	for p, at := range e.LogStart {
		n, err := strconv.ParseInt(p, 10, 32)
		w.must(err)
		if start, ok := starts.Lookup(w.names.Data, int32(n)); !ok || start.Offset != at {
			w.Errorf("partition %s begins at %d, want %d", p, start.Offset, at)
		}
	}
}
