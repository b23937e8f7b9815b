package inspect_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/testkit/cases"
	"github.com/recoverctl/recoverctl/internal/testkit/growth"
)

func TestControlHistoriesAreJudgedAsByJava(t *testing.T) {
	all := cases.Controls(t)
	if len(all) != 91 {
		t.Errorf("%d histories, want 91", len(all))
	}
	for _, c := range all {
		t.Run(c.Name, func(t *testing.T) {
			topic := controlTopic("control", c.TopicConfig, c.Records)
			history := inspect.History{Topic: c.Job.Topic, TopicID: c.Job.TopicID, Partitions: c.Job.Partitions}
			got := inspect.JudgeControl(topic, history)

			if c.Verdict == "accept" {
				if got.Problem != nil {
					t.Fatalf("refused: %+v", got.Problem)
				}
				wantOffsets(t, "boundary", got.Offsets, c.Boundary)
			} else {
				wantProblem(t, got.Problem, c.Reason, c.Named)
			}
			wantApply := inspect.Rejected
			if c.ApplyReader.Verdict == "accept" {
				wantApply = inspect.Accepted
				wantOffsets(t, "boundary of the apply reader", got.ApplyReader.Offsets, c.ApplyReader.Boundary)
			} else {
				wantProblem(t, got.ApplyReader.Problem, c.ApplyReader.Reason, nil)
			}
			if got.ApplyReader.Verdict != wantApply {
				t.Errorf("apply reader %s, want %s", got.ApplyReader.Verdict, wantApply)
			}
			if c.Operations == nil {
				return
			}
			if len(got.Operations) != len(c.Operations) {
				t.Fatalf("%d operations, want %d", len(got.Operations), len(c.Operations))
			}
			for i, want := range c.Operations {
				if op := got.Operations[i]; op.PlanID != want.PlanID || string(op.Status) != want.Status {
					t.Errorf("operation %d: %s %s, want %s %s", i, op.PlanID, op.Status, want.PlanID, want.Status)
				}
			}
		})
	}
}

func TestRefusalsOfAHistoryNameTheRecord(t *testing.T) {
	for _, c := range cases.Controls(t) {
		switch c.Name {
		case "status-regression":
			got := inspect.JudgeControl(controlTopic("control", c.TopicConfig, c.Records), inspect.History{Topic: c.Job.Topic, TopicID: c.Job.TopicID, Partitions: c.Job.Partitions})
			wantWords(t, got.Problem.Message, "offset 2", "d6a4fa7f", "offset 1", "APPLIED", "COMMITTED")
			wantWords(t, strings.Join(got.Notes, " "), "Keep a copy", "compaction")
			if got.Problem.Named["controlOffset"] != int64(2) {
				t.Errorf("named %v", got.Problem.Named)
			}
		case "tombstone-of-committed":
			got := inspect.JudgeControl(controlTopic("control", c.TopicConfig, c.Records), inspect.History{})
			wantWords(t, got.Problem.Message, "offset 1", "d6a4fa7f", "tombstone")
			wantWords(t, strings.Join(got.Notes, " "), "Keep a copy")
		case "incomparable-two":
			got := inspect.JudgeControl(controlTopic("control", c.TopicConfig, c.Records), inspect.History{Topic: c.Job.Topic, TopicID: c.Job.TopicID, Partitions: c.Job.Partitions})
			wantWords(t, got.Problem.Message, "f234af10", "64f39d2f", "control offset 0", "control offset 1", "partition 0", "partition 1")
		case "transaction-open-last":
			got := inspect.JudgeControl(controlTopic("control", c.TopicConfig, c.Records), inspect.History{Topic: c.Job.Topic, TopicID: c.Job.TopicID, Partitions: c.Job.Partitions})
			wantWords(t, strings.Join(got.Notes, " "), "open transaction", "offset 1", "log end 2")
		}
	}
}

func TestOperationsCarryTheirLastRecord(t *testing.T) {
	plan := cases.Plan{Source: "file:/chk-1", Topic: "a", TopicID: "b", Offsets: map[string]int64{"0": 1}}
	first, last := time.Unix(100, 0), time.Unix(200, 0)
	var records []inspect.ControlRecord
	for i, status := range []string{"COMMITTED", "APPLIED"} {
		key, value := plan.ControlRecord(status)
		records = append(records, inspect.ControlRecord{Offset: int64(3 + i), Time: []time.Time{first, last}[i], Key: key, Value: value})
	}
	ops, problem := inspect.ReadControl(records)
	if problem != nil {
		t.Fatal(problem)
	}
	if op := ops[0]; op.ControlOffset != 4 || !op.Time.Equal(last) || op.SourceRecoveryPoint != plan.Source || op.Topic != "a" || op.TopicID != "b" {
		t.Errorf("operation %+v", op)
	}
}

// The id of a plan can't tell lone surrogates apart; the content can.
func TestAPlanThatChangesUnderItsIDIsRefused(t *testing.T) {
	value := func(escape string) []byte {
		id := cases.Plan{Source: "a?", Topic: "t", TopicID: "i", Offsets: map[string]int64{"0": 1}}.ID()
		return fmt.Appendf(nil, `{"schemaVersion":1,"status":"COMMITTED","plan":{"schemaVersion":1,"planId":"%s","sourceRecoveryPoint":"a%s","topic":"t","topicId":"i","offsets":{"0":1}}}`, id, escape)
	}
	key := []byte(cases.Plan{Source: "a?", Topic: "t", TopicID: "i", Offsets: map[string]int64{"0": 1}}.ID())
	_, problem := inspect.ReadControl([]inspect.ControlRecord{
		{Offset: 0, Key: key, Value: value(`\ud800`)},
		{Offset: 1, Key: key, Value: value(`\ud801`)},
	})
	wantProblem(t, problem, "control-plan-changed", nil)
}

// A history of ten thousand cleanups is judged at once.
func TestLongHistoriesAreJudgedQuickly(t *testing.T) {
	parts := []int32{}
	for p := range 64 {
		parts = append(parts, int32(p))
	}
	const most = 2000
	topic := inspect.ControlTopic{Exists: true, Partitions: []int32{0}, CleanupPolicy: "compact"}
	for i := range most {
		offsets := map[string]int64{}
		for _, p := range parts {
			offsets[fmt.Sprint(p)] = int64(most - i)
		}
		key, value := cases.Plan{Source: fmt.Sprint("file:/chk-", i), Topic: "t", TopicID: "i", Offsets: offsets}.ControlRecord("APPLIED")
		topic.Records = append(topic.Records, inspect.ControlRecord{Offset: int64(i), Key: key, Value: value})
	}
	growth.InProportion(t, most, func(n int) {
		topic := topic
		topic.Records = topic.Records[:n]
		got := inspect.JudgeControl(topic, inspect.History{Topic: "t", TopicID: "i", Partitions: parts})
		if got.Problem != nil || got.Offsets[63] != most {
			t.Fatalf("%+v, boundary of partition 63: %d", got.Problem, got.Offsets[63])
		}
	})
}

func FuzzReadControl(f *testing.F) {
	for _, c := range cases.Controls(f) {
		if len(c.Records) > 0 && len(c.Records) < 4 {
			f.Add(c.Records[0].KeyBytes(), c.Records[0].ValueBytes())
		}
	}
	f.Fuzz(func(t *testing.T, key, value []byte) {
		records := []inspect.ControlRecord{{Offset: 7, Key: key, Value: value}}
		ops, problem := inspect.ReadControl(records)
		if problem != nil {
			if problem.Code == "" || !strings.Contains(problem.Message, "offset 7") || ops != nil {
				t.Fatalf("a refusal that does not say where: %+v, %d operations", problem, len(ops))
			}
			return
		}
		op := ops[0]
		if id := inspect.PlanID(op.SourceRecoveryPoint, op.Topic, op.TopicID, op.Offsets); id != op.PlanID {
			t.Fatalf("accepted with the id %s of other content than %s", op.PlanID, id)
		}
	})
}

// controlTopic is the control topic of a case as a read_committed reader sees it.
func controlTopic(name string, topic cases.Topic, records []cases.Record) inspect.ControlTopic {
	out := inspect.ControlTopic{Name: name, Exists: topic.Exists, CleanupPolicy: topic.Policy()}
	for p := range topic.Partitions {
		out.Partitions = append(out.Partitions, int32(p))
	}
	seen, stable, end := cases.ReadCommitted(records)
	for _, r := range seen {
		out.Records = append(out.Records, inspect.ControlRecord{Offset: r.Offset, Key: r.Key, Value: r.Value})
	}
	out.LastStable, out.LogEnd = stable, end
	return out
}

func wantWords(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%q does not say %q", text, w)
		}
	}
}
