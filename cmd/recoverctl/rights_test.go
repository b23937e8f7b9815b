package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/recoverctl/recoverctl/internal/testkit/cases"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// guarded is a cluster that may not let everything be done, with two topics and
// a plan.
type guarded struct {
	*testing.T
	cluster       *kafkatest.Cluster // may do everything
	kafka         map[string]any     // how the user connects
	user          string
	data, control string
	plan          cases.Plan
	file          string
}

func guard(t *testing.T, cluster *kafkatest.Cluster, user string, kafka map[string]any) *guarded {
	t.Helper()
	g := &guarded{T: t, cluster: cluster, user: user, kafka: kafka, control: kafkatest.UniqueName("control"), file: filepath.Join(t.TempDir(), "plan.json")}
	g.data = cluster.Topic(t, 2, map[string]string{"cleanup.policy": "compact,delete", "retention.ms": "-1", "retention.bytes": "-1"})
	for p := range int32(2) {
		for i := range 20 {
			cluster.Put(t, g.data, p, kafkatest.KV(fmt.Sprint("key-", i), "value"))
		}
	}
	t.Cleanup(func() {
		if _, err := cluster.Admin().DeleteTopics(cleanupContext(t), g.control); err != nil {
			t.Errorf("delete topic %s: %v", g.control, err)
		}
	})
	id := topicID(t, cluster, g.data)
	if strings.Trim(id, "A") == "" { // brokers that give none
		id = "Q2fIxHVRQmmpQwJzMkLm3A"
	}
	g.plan = cases.Plan{Source: "file:/elsewhere/chk-1", Topic: g.data, TopicID: id, Offsets: map[string]int64{"0": 10, "1": 15}}
	_, record := g.plan.ControlRecord("COMMITTED")
	_, text, _ := strings.Cut(string(record), `"plan":`)
	if err := os.WriteFile(g.file, []byte(strings.TrimSuffix(text, "}")), 0o600); err != nil {
		t.Fatal(err)
	}
	return g
}

func (g *guarded) withControl() *guarded {
	g.Helper()
	if err := g.cluster.CreateTopic(g.Context(), g.control, 1, map[string]string{"cleanup.policy": "compact"}); err != nil {
		g.Fatal(err)
	}
	return g
}

// apply is a whole apply by the user.
func (g *guarded) apply(more ...string) outcome {
	g.Helper()
	config, err := json.Marshal(map[string]any{"default-profile": "p", "profiles": []any{map[string]any{
		"name": "p", "environment": "production", "access": "operate", "kafka": g.kafka,
		"jobs": []any{map[string]any{"name": "agent", "engine": "flink-agents",
			"action-state": map[string]any{"store": "kafka", "topic": g.data, "control-topic": g.control}}},
	}}})
	if err != nil {
		g.Fatal(err)
	}
	path := filepath.Join(g.TempDir(), "config.yaml")
	if err := os.WriteFile(path, config, 0o600); err != nil {
		g.Fatal(err)
	}
	return commandIn(g.T, []string{"HOME=" + g.TempDir()}, "", append([]string{
		"apply", g.file, "--reason", "rights", "--approve", g.plan.ID(), "--access", "operate", "--config", path, "-o", "json",
		"--accept", "points-unknown", "--accept", "job-state-unknown", "--skip-calls"}, more...)...) // the scan needs a right more
}

// untouched is whether nothing was written: no log start has moved, and the
// control topic is empty or was never made.
func (g *guarded) untouched() error {
	starts, err := g.cluster.Admin().ListStartOffsets(g.Context(), g.data)
	if err != nil {
		return err
	}
	for p, o := range starts[g.data] {
		if o.Err != nil || o.Offset != 0 {
			return fmt.Errorf("partition %d begins at %d (%v)", p, o.Offset, o.Err)
		}
	}
	ends, err := g.cluster.Admin().ListEndOffsets(g.Context(), g.control)
	if err != nil {
		return err
	}
	if o, ok := ends.Lookup(g.control, 0); ok && o.Err == nil && o.Offset > 0 {
		return fmt.Errorf("the control topic has %d records", o.Offset)
	}
	return nil
}

// Brokers without a request that an apply needs say so before anything is
// written.
func TestBrokersThatAreTooOld(t *testing.T) {
	for name, tt := range map[string]struct {
		lacks func(*kversion.Versions)
		code  int
		says  string
	}{
		"no DeleteRecords":  {func(v *kversion.Versions) { v.SetMaxKeyVersion(21, -1) }, 10, "does not support the request to delete records"},
		"topics without id": {func(v *kversion.Versions) { v.SetMaxKeyVersion(3, 9) }, 10, "id"},
	} {
		t.Run(name, func(t *testing.T) {
			versions := kversion.Stable()
			tt.lacks(versions)
			old := kafkatest.StartFake(t, kfake.MaxVersions(versions))
			g := guard(t, old.Cluster, "", map[string]any{"brokers": old.Brokers()}).withControl()
			got := g.apply()
			e := got.failure(t).Error
			if got.code != tt.code || !strings.Contains(e.Message, tt.says) || strings.Contains(e.Message, "\n") || e.Hint == "" {
				t.Errorf("exit %d: %q, hint %q; want %d and %q", got.code, e.Message, e.Hint, tt.code, tt.says)
			}
			if err := g.untouched(); err != nil {
				t.Error(err)
			}
		})
	}
}
