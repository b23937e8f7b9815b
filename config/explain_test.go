package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/config"
)

func TestExplainSaysWhereEachValueCameFrom(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "orders.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	g := given{
		file: string(text),
		env:  []string{"RECOVERCTL_RUNTIME=next", "RECOVERCTL_POINTS=s3://b/three", "NO_COLOR=1"},
		args: []string{"--brokers", "k3:9092", "--map", "file:/x=/y", "--timeout", "5s"},
	}
	l, err := g.load(t)
	if err != nil {
		t.Fatal(err)
	}
	sel, err := l.Select("", "")
	if err != nil {
		t.Fatal(err)
	}
	lines := func() []string {
		var got []string
		for _, s := range l.Explain(sel) {
			got = append(got, fmt.Sprintf("%s | %s | %s", s.Key, s.Value, strings.ReplaceAll(s.Origin.String(), l.Path, "FILE")))
		}
		return got
	}
	got := lines()
	want := []string{
		"config | " + l.Path + " | default",
		"output | text | default",
		"timeout | 5s | --timeout",
		"no-color | true | NO_COLOR",
		"job | order-agent | default",
		"profile | orders | FILE:1",
		"environment | production | FILE:4",
		"access | read-only | FILE:5",
		"kafka.brokers | k3:9092 | --brokers",
		"kafka.tls | on | FILE:8",
		"kafka.tls.ca-file | " + filepath.Join(filepath.Dir(l.Path), "ca.pem") + " | FILE:8",
		"kafka.tls.cert-file | " + filepath.Join(filepath.Dir(l.Path), "c.pem") + " | FILE:8",
		"kafka.tls.key-file | " + filepath.Join(filepath.Dir(l.Path), "k.pem") + " | FILE:8",
		"kafka.tls.server-name | kafka | FILE:8",
		"kafka.sasl.mechanism | scram-sha-512 | FILE:9",
		"kafka.sasl.username | ops | FILE:9",
		"kafka.sasl.password | *** from variable KAFKA_PASSWORD | FILE:9",
		"kafka.timeouts.dial | 5s | --timeout",
		"kafka.timeouts.request | 5s | --timeout",
		"object-stores[0].match | s3://flink-state/ | FILE:12",
		"object-stores[0].endpoint | https://s3.example | FILE:12",
		"object-stores[0].region | eu-west-1 | FILE:12",
		"object-stores[0].path-style | true | FILE:12",
		"object-stores[0].credentials | default | FILE:12",
		"path-mappings[0] | file:/x = /y | --map",
		"path-mappings[1] | file:/data/checkpoints = /mnt/checkpoints | FILE:14",
		"jobs[order-agent].engine | flink-agents | FILE:17",
		"jobs[order-agent].runtime | next | RECOVERCTL_RUNTIME",
		"jobs[order-agent].action-state.store | kafka | FILE:19",
		"jobs[order-agent].action-state.topic | action-state | FILE:19",
		"jobs[order-agent].action-state.control-topic | action-state-control | FILE:19",
		"jobs[order-agent].action-state.job-tombstones | false | FILE:19",
		"jobs[order-agent].max-parallelism | 128 | FILE:20",
		"jobs[order-agent].partitions | 64 | default",
		"jobs[order-agent].recovery-points[0] | s3://flink-state/checkpoints/4f3c | FILE:21",
		"jobs[order-agent].recovery-points[1] | s3://flink-state/savepoints | FILE:21",
		"jobs[order-agent].recovery-points[2] | s3://b/three | RECOVERCTL_POINTS",
		"jobs[order-agent].pinned[0] | s3://flink-state/savepoints/savepoint-4f3c-a1 | FILE:22",
		"jobs[order-agent].keep-recovery-points | 2 | FILE:23",
		"jobs[order-agent].flink.rest | http://jobmanager:8081 | FILE:24",
		"jobs[order-agent].flink.job |  | not set",
		"jobs[order-agent].flink.operator-uid |  | not set",
		"jobs[order-agent].flink.token |  | not set",
		"jobs[order-agent].flink.username |  | not set",
		"jobs[order-agent].flink.password |  | not set",
		"jobs[order-agent].flink.jar |  | not set",
		"jobs[order-agent].flink.entry-class |  | not set",
		"jobs[order-agent].fluss.servers |  | not set",
		"jobs[order-agent].fluss.table |  | not set",
		"jobs[order-agent].fluss.username |  | not set",
		"jobs[order-agent].fluss.password |  | not set",
		"jobs[order-agent].fluss.zookeeper.servers |  | not set",
		"jobs[order-agent].fluss.zookeeper.path |  | not set",
		"jobs[order-agent].arkflow.hub |  | not set",
		"jobs[order-agent].arkflow.wal |  | not set",
		"jobs[order-agent].arkflow.token |  | not set",
	}
	if !slices.Equal(got, want) {
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				t.Fatalf("line %d of %d (want %d)\n got %q\nwant %q", i, len(got), len(want), got[min(i, len(got)-1)], want[min(i, len(want)-1)])
			}
		}
	}
	if again := lines(); !slices.Equal(got, again) {
		t.Error("the order changes")
	}
}

func TestExplainShowsEveryJobWhereNoneIsChosen(t *testing.T) {
	l, err := given{file: twoProfiles}.load(t)
	if err != nil {
		t.Fatal(err)
	}
	sel, err := l.Select("A.b", "")
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"jobs[first].action-state.topic": "My.Topic", "jobs[Second.Job].action-state.topic": "second"} {
		at := slices.IndexFunc(l.Explain(sel), func(s config.Setting) bool { return s.Key == key })
		if at < 0 || l.Explain(sel)[at].Value != want {
			t.Errorf("%s is not explained as %q", key, want)
		}
	}
}
