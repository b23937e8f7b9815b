package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/internal/testkit/cases"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// These tests put the situations that the Java code judged into a broker, and
// ask the commands. The same functions run against the in-process broker and,
// with the tag real, against Kafka.

func TestControlCases(t *testing.T) { controlCases(t, kafkatest.StartFake(t).Cluster) }

func TestRestoreCases(t *testing.T) { restoreCases(t, kafkatest.StartFake(t).Cluster) }

func TestRestoreCasesWithTheirWindow(t *testing.T) { windowCases(t, kafkatest.StartFake(t).Cluster) }

// problemJSON is a problem or reason: code, message and what it names.
type problemJSON map[string]any

func (p problemJSON) code() string {
	code, _ := p["code"].(string)
	return code
}

type boundaryJSON struct {
	Offsets     map[string]int64
	Operations  []struct{ PlanID, Status string }
	Problem     problemJSON
	ApplyReader struct {
		Verdict string
		Offsets map[string]int64
		Problem problemJSON
	}
}

func controlCases(t *testing.T, cluster *kafkatest.Cluster) {
	for _, c := range cases.Controls(t) {
		t.Run(c.Name, func(t *testing.T) {
			topic := kafkatest.UniqueName("control")
			if c.TopicConfig.Exists {
				topic = controlTopic(t, cluster, c.TopicConfig, c.Records)
			}
			a, got := ask[boundaryJSON](t, "CleanupBoundary", "inspect", "control",
				"--brokers", strings.Join(cluster.Brokers(), ","), "--topic", c.Job.Topic, "--control-topic", topic,
				"--expect-topic-id", c.Job.TopicID, "--expect-partitions", strconv.Itoa(len(c.Job.Partitions)))
			if c.Verdict == "accept" {
				if got.code != 0 || a.Data.Problem != nil || !maps.Equal(a.Data.Offsets, c.Boundary) {
					t.Errorf("exit %d, problem %v, boundary %v; want accepted with %v", got.code, a.Data.Problem, a.Data.Offsets, c.Boundary)
				}
			} else {
				if got.code != 1 {
					t.Errorf("exit %d, want 1", got.code)
				}
				wantProblem(t, a.Data.Problem, c.Reason, c.Named)
			}
			apply := a.Data.ApplyReader
			if c.ApplyReader.Verdict == "accept" {
				if apply.Verdict != "accepted" || !maps.Equal(apply.Offsets, c.ApplyReader.Boundary) {
					t.Errorf("apply's reader: %v; want accepted with %v", apply, c.ApplyReader.Boundary)
				}
			} else if apply.Verdict != "rejected" || apply.Problem.code() != c.ApplyReader.Reason {
				t.Errorf("apply's reader: %v; want rejected for %s", apply, c.ApplyReader.Reason)
			}
			if c.Operations != nil {
				var ops []cases.Operation
				for _, op := range a.Data.Operations {
					ops = append(ops, cases.Operation{PlanID: op.PlanID, Status: op.Status})
				}
				if !slices.Equal(ops, c.Operations) {
					t.Errorf("operations %v, want %v", ops, c.Operations)
				}
			}
		})
	}
}

// wantProblem compares a refusal with that of the Java code: its word, and every
// value that it names.
func wantProblem(t *testing.T, got problemJSON, reason string, named map[string]json.RawMessage) {
	t.Helper()
	if got.code() != reason {
		t.Errorf("refused for %q (%v), want %q", got.code(), got["message"], reason)
		return
	}
	for name, raw := range named {
		value, err := json.Marshal(got[name])
		if err != nil {
			t.Fatal(err)
		}
		if string(value) != compact(t, raw) {
			t.Errorf("%s is %s, want %s", name, value, compact(t, raw))
		}
		if text := fmt.Sprint(got[name]); len(named) > 1 && !strings.ContainsAny(text, "[{") && !strings.Contains(ungroup(got["message"]), text) {
			t.Errorf("the sentence %q does not name %s %s", got["message"], name, text)
		}
	}
}

func ungroup(message any) string { return strings.ReplaceAll(fmt.Sprint(message), ",", "") }

func compact(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var v any
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// controlTopic makes a control topic and writes its records. A topic with
// compact in its policy refuses a null key: as on a real cluster, such a record
// dates from an earlier policy.
func controlTopic(t *testing.T, cluster *kafkatest.Cluster, c cases.Topic, records []cases.Record) string {
	t.Helper()
	policy, given := c.Config["cleanup.policy"]
	settings := maps.Clone(c.Config)
	keyless := slices.ContainsFunc(records, func(r cases.Record) bool { return r.KeyBytes() == nil })
	if keyless {
		settings["cleanup.policy"] = "delete"
	}
	topic := cluster.Topic(t, int32(c.Partitions), settings)
	writeRecords(t, cluster, topic, records)
	if keyless && given {
		if err := cluster.Set(t.Context(), topic, "cleanup.policy", policy); err != nil {
			t.Fatal(err)
		}
	}
	return topic
}

// writeRecords writes records in order; those that share a transaction label are
// one transaction, which ends as the label's first word says.
func writeRecords(t *testing.T, cluster *kafkatest.Cluster, topic string, records []cases.Record) {
	t.Helper()
	for i := 0; i < len(records); {
		j := i + 1
		for j < len(records) && records[j].Txn == records[i].Txn && records[j].Partition == records[i].Partition {
			j++
		}
		run := make([]kafkatest.Record, 0, j-i)
		for _, r := range records[i:j] {
			run = append(run, kafkatest.Record{Key: r.KeyBytes(), Value: r.ValueBytes()})
		}
		if label := records[i].Txn; label == "" {
			cluster.Put(t, topic, records[i].Partition, run...)
		} else {
			txn, err := cluster.Begin(t.Context(), topic, records[i].Partition, run...)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case strings.HasPrefix(label, "committed"):
				err = txn.Commit(t.Context())
			case strings.HasPrefix(label, "aborted"):
				err = txn.Abort(t.Context())
			default: // left open while it is read
				t.Cleanup(func() {
					if err := txn.Abort(cleanupContext(t)); err != nil {
						t.Errorf("end the open transaction: %v", err)
					}
				})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		i = j
	}
}

type validationJSON struct {
	Verdict   string
	Reasons   []problemJSON
	Rules     []struct{ Code, Result string }
	Window    []struct{ Partition, From, To int64 }
	Unchecked []string
	Replayed  *struct{ Records, Bytes, States *int64 }
}

// byWindow are decided by a record of the replay window, which validate restore
// reads with --read-window only: without it all other rules pass, and it says
// what it did not check.
var byWindow = []string{"on-released-key-in-window"}

func restoreCases(t *testing.T, cluster *kafkatest.Cluster) {
	for _, c := range cases.Restores(t, "off-", "on-") {
		t.Run(c.Name, func(t *testing.T) {
			a, got := ask[validationJSON](t, "RestoreValidation", restoreArgs(t, cluster, &c)...)
			if len(a.Faults) > 0 {
				t.Errorf("faults %v", a.Faults)
			}
			switch {
			case c.Expect.Verdict == "accept", slices.Contains(byWindow, c.Name):
				if got.code != 0 || a.Data.Verdict != "accepted" || len(a.Data.Reasons) != 0 {
					t.Errorf("exit %d, %s for %v; want accepted", got.code, a.Data.Verdict, a.Data.Reasons)
				}
				if len(a.Data.Window) > 0 && !slices.Contains(a.Data.Unchecked, "records of the replay window") {
					t.Errorf("unchecked %q does not name the window's records", a.Data.Unchecked)
				}
			case got.code != 1 || a.Data.Verdict != "rejected":
				t.Errorf("exit %d, %s; want rejected for %s", got.code, a.Data.Verdict, c.Expect.Reason)
			default:
				wantProblem(t, a.Data.Reasons[0], c.Expect.Reason, c.Expect.Named)
			}
		})
	}
}

// windowCases ask with the records of the window read: nothing that Java said is
// left open.
func windowCases(t *testing.T, cluster *kafkatest.Cluster) {
	for _, c := range cases.Restores(t, "off-", "on-", "window-") {
		t.Run(c.Name, func(t *testing.T) {
			a, got := ask[validationJSON](t, "RestoreValidation", append(restoreArgs(t, cluster, &c), "--read-window")...)
			if len(a.Faults) > 0 {
				t.Errorf("faults %v", a.Faults)
			}
			if c.Expect.Verdict != "accept" {
				if got.code != 1 || a.Data.Verdict != "rejected" {
					t.Fatalf("exit %d, %s; want rejected for %s", got.code, a.Data.Verdict, c.Expect.Reason)
				}
				wantProblem(t, a.Data.Reasons[0], c.Expect.Reason, c.Expect.Named)
				return
			}
			if got.code != 0 || a.Data.Verdict != "accepted" || len(a.Data.Reasons) != 0 {
				t.Fatalf("exit %d, %s for %v; want accepted", got.code, a.Data.Verdict, a.Data.Reasons)
			}
			// What is left are the two rules about a recovery point, which the markers
			// did not come from.
			if len(a.Data.Unchecked) != 2 {
				t.Errorf("unchecked %q", a.Data.Unchecked)
			}
			r := a.Data.Replayed
			if r == nil || r.Records == nil || r.States == nil {
				t.Fatalf("replayed %+v", r)
			}
			if *r.Records != int64(c.Expect.Replayed) || *r.States != int64(c.Expect.States) {
				t.Errorf("%d records and %d states, Java replayed %d and held %d", *r.Records, *r.States, c.Expect.Replayed, c.Expect.States)
			}
		})
	}
}

// restoreArgs stages a case and returns the command that asks about it. c gets
// its placeholders filled in.
func restoreArgs(t *testing.T, cluster *kafkatest.Cluster, c *cases.RestoreCase) []string {
	t.Helper()
	staged, data := stage(t, cluster, *c)
	*c = staged
	markers := filepath.Join(t.TempDir(), "markers.json")
	if err := os.WriteFile(markers, []byte(`{"markers":`+string(c.Markers)+`}`), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"validate", "restore", "--markers", markers, "--brokers", strings.Join(cluster.Brokers(), ","), "--topic", data,
		"--max-parallelism", strconv.Itoa(c.Configured.MaxParallelism), "--tombstones=" + strconv.FormatBool(c.Configured.Tombstones)}
	if c.Configured.ControlTopic != nil {
		args = append(args, "--control-topic="+*c.Configured.ControlTopic)
	}
	if c.Configured.NumPartitions != 0 {
		args = append(args, "--partitions", strconv.Itoa(c.Configured.NumPartitions))
	}
	return args
}

// stage makes the situation of a case in a cluster. It returns the case with its
// placeholders filled in, and the data topic's name.
func stage(t *testing.T, cluster *kafkatest.Cluster, c cases.RestoreCase) (cases.RestoreCase, string) {
	t.Helper()
	ctx := t.Context()
	names := cases.Names{Data: kafkatest.UniqueName("data"), OtherID: "Q0ZbI2aaTq2bEJtS3RzGgA", Control: kafkatest.UniqueName("control")}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, topic := range []string{names.Data, names.Control} {
			if _, err := cluster.Admin().DeleteTopics(cleanupContext(t), topic); err != nil {
				t.Errorf("delete topic %s: %v", topic, err)
			}
		}
	})
	fill := func(counts []int) {
		for p, n := range counts {
			fillers := make([]kafkatest.Record, 0, n)
			for i := range n {
				filler := cases.Filler(p, i)
				fillers = append(fillers, kafkatest.Record{Key: filler.KeyBytes(), Value: filler.ValueBytes()})
			}
			if n > 0 {
				cluster.Put(t, names.Data, int32(p), fillers...)
			}
		}
	}
	if c.Data.Exists {
		must(cluster.CreateTopic(ctx, names.Data, int32(c.Data.Partitions), c.Data.Config))
		names.DataID = topicID(t, cluster, names.Data)
		fill(c.Data.Records)
		writeRecords(t, cluster, names.Data, c.Data.Extra)
		trim(t, cluster, names.Data, c.Data.DeletedTo)
	} else {
		names.DataID = names.OtherID
	}
	// A plan may name the id that the topic gets when it is made again, so that
	// comes before the control records are known.
	for _, s := range c.Steps {
		if s.Recreate != nil {
			must(cluster.RecreateTopic(ctx, names.Data, int32(s.Recreate.Partitions), s.Recreate.Config))
			names.DataID2 = topicID(t, cluster, names.Data)
			fill(s.Recreate.Records)
		}
	}
	c, err := c.With(names)
	must(err)
	if c.Control.Exists {
		must(cluster.CreateTopic(ctx, names.Control, int32(c.Control.Partitions), c.Control.Config))
		writeRecords(t, cluster, names.Control, c.ControlRecords())
	}
	for _, s := range c.Steps {
		switch {
		case s.AddPartitions > 0:
			must(cluster.AddPartitions(ctx, names.Data, s.AddPartitions))
		case s.DeleteTo != nil:
			trim(t, cluster, names.Data, s.DeleteTo)
		case s.ControlAppend != nil:
			writeRecords(t, cluster, names.Control, s.ControlAppend)
		}
	}
	return c, names.Data
}

func topicID(t *testing.T, cluster *kafkatest.Cluster, topic string) string {
	t.Helper()
	id, err := cluster.TopicID(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(id[:])
}

func trim(t *testing.T, cluster *kafkatest.Cluster, topic string, to map[string]int64) {
	t.Helper()
	if len(to) == 0 {
		return
	}
	offsets := map[int32]int64{}
	for p, offset := range to {
		n, err := strconv.ParseInt(p, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		offsets[int32(n)] = offset
	}
	if err := cluster.Trim(t.Context(), topic, offsets); err != nil {
		t.Fatal(err)
	}
}
