//go:build real

package flink_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/internal/testkit/flinktest"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// readBack is what Flink's State Processor API reads from one snapshot.
type readBack struct {
	Path    string
	Markers []struct {
		SchemaVersion  int32
		Topic, TopicID string
		Offsets        inspect.Offsets
	}
	Processing []string
	Keys       []struct {
		Key       string
		Started   int64
		Completed *int64
		Tasks     int64
	}
}

// snapshots takes savepoints of a running job in both formats, and returns their
// folders beside the newest checkpoint's, by kind. between is called between the
// savepoints.
func (s *session) snapshots(t *testing.T, id string, between func()) map[string]string {
	t.Helper()
	found := map[string]string{}
	s.wait(t, id, "two checkpoints", func(l inspect.LiveState) bool { return l.Checkpoints.Completed >= 2 })
	for _, format := range []string{"CANONICAL", "NATIVE"} {
		target := filepath.Join(s.Checkpoints, "savepoints-of-"+id, strings.ToLower(format))
		if !s.Snapshot(t, id, "savepoints", map[string]any{"target-directory": "file:" + target, "formatType": format, "cancel-job": false}) {
			t.Fatalf("no %s savepoint was taken", format)
		}
		folders, err := filepath.Glob(filepath.Join(target, "savepoint-*"))
		if err != nil || len(folders) != 1 {
			t.Fatalf("savepoints %v, error %v", folders, err)
		}
		found[strings.ToLower(format)] = folders[0]
		between()
	}
	s.Cancel(t, id) // its checkpoints are kept, and no newer one replaces them
	s.wait(t, id, "its end", func(l inspect.LiveState) bool { return l.State == "CANCELED" })
	folders, err := filepath.Glob(filepath.Join(s.Checkpoints, id, "chk-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		if _, err := os.Stat(filepath.Join(folder, "_metadata")); err == nil {
			found["checkpoint"] = folder
		}
	}
	if found["checkpoint"] == "" {
		t.Fatalf("no checkpoint is left of %v", folders)
	}
	return found
}

// Snapshots that a real Flink takes now, by each backend, in each format, are
// read back by Flink's State Processor API and here: the markers of all subtasks,
// the keys in flight, and each key's sequence numbers and tasks are equal. The
// markers say what a real Kafka said when the snapshot was taken. Of RocksDB's
// files the keys are not decoded, and that is said.
func TestRealSnapshotsAsTheStateProcessorAPIReadsThem(t *testing.T) {
	for _, tt := range []struct{ backend, keys, inline string }{
		{"hashmap", "string", "1mb"},
		{"hashmap", "long", "0b"},
		{"rocksdb", "long", "0b"},
	} {
		t.Run(tt.backend+" "+tt.keys, func(t *testing.T) {
			t.Parallel()
			s, kafka := realSession(t), kafkatest.Real(t)
			topic := kafka.Topic(t, 3, nil)
			topicID, err := kafka.TopicID(t.Context(), topic)
			if err != nil {
				t.Fatal(err)
			}
			kafka.Put(t, topic, 0, kafkatest.KV("a", "1"), kafkatest.KV("b", "2"))
			kafka.Put(t, topic, 1, kafkatest.KV("c", "3"))
			id := s.Run(t, "--name", "read-back-"+topic, "--backend", tt.backend, "--keys", tt.keys, "--inline", tt.inline, "--interval", "700",
				"--bootstrap", strings.Join(kafka.Brokers(), ","), "--topic", topic)
			more := func() { kafka.Put(t, topic, 2, kafkatest.KV("d", "4")) }
			folders := s.snapshots(t, id, more)

			kinds := slices.Sorted(maps.Keys(folders))
			args := []string{tt.backend, tt.keys, "all"}
			for _, kind := range kinds {
				args = append(args, "file:"+folders[kind])
			}
			lines := bytes.Split(bytes.TrimSpace(flinktest.ReadBack(t, "ReadBack", args...)), []byte("\n"))
			if len(lines) != len(kinds) {
				t.Fatalf("%d snapshots were read back, want %d:\n%s", len(lines), len(kinds), lines)
			}
			for i, kind := range kinds {
				var want readBack
				if err := json.Unmarshal(lines[i], &want); err != nil {
					t.Fatalf("%v in %s", err, lines[i])
				}
				asKafkaSaid(t, kind, want, topic, base64.RawURLEncoding.EncodeToString(topicID[:]))
				compareReadBack(t, kind, folders[kind], want, tt.keys, tt.backend == "rocksdb" && kind != "canonical")
			}
		})
	}
}

// asKafkaSaid compares the markers that Flink read with the topic: one record
// was written to partition 2 behind each savepoint.
func asKafkaSaid(t *testing.T, kind string, want readBack, topic, topicID string) {
	t.Helper()
	for _, m := range want.Markers {
		ends := []inspect.Offsets{{0: 2, 1: 1, 2: 0}, {0: 2, 1: 1, 2: 1}, {0: 2, 1: 1, 2: 2}} // the last checkpoint is of any time
		switch kind {
		case "canonical":
			ends = ends[:1]
		case "native":
			ends = ends[1:2]
		}
		if m.Topic != topic || m.TopicID != topicID || !slices.ContainsFunc(ends, func(o inspect.Offsets) bool { return maps.Equal(o, m.Offsets) }) {
			t.Errorf("%s: marker %+v, want topic %s (%s) and offsets of %v", kind, m, topic, topicID, ends)
		}
	}
}

// compareReadBack compares what is read here with what Flink read. onlyFiles
// says that the keys lie in files of RocksDB.
func compareReadBack(t *testing.T, kind, folder string, want readBack, keyType string, onlyFiles bool) {
	t.Helper()
	p, err := newStore(t, flink.Options{}).Point(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range p.Checks {
		if c.Severity == inspect.SeverityError {
			t.Errorf("%s: %+v", kind, c)
		}
	}
	var markers, wantMarkers []string
	for _, m := range p.Markers {
		markers = append(markers, fmt.Sprint(*m.SchemaVersion, *m.Topic, *m.TopicID, m.Offsets))
	}
	for _, m := range want.Markers {
		wantMarkers = append(wantMarkers, fmt.Sprint(m.SchemaVersion, m.Topic, m.TopicID, m.Offsets))
	}
	if len(want.Markers) != 2 || !sameInAnyOrder(markers, wantMarkers) {
		t.Errorf("%s: markers %v, Flink reads %v", kind, markers, wantMarkers)
	}
	agent := p.Operators[slices.IndexFunc(p.Operators, func(o inspect.Operator) bool { return o.Name == "action-execute-operator" })]
	var processing []string
	for _, k := range agent.Processing {
		processing = append(processing, *k.Text)
	}
	if !sameInAnyOrder(processing, want.Processing) {
		t.Errorf("%s: processing %v, Flink reads %v", kind, processing, want.Processing)
	}
	if len(want.Keys) != 7 || agent.Keyed.KeyType != keyType {
		t.Fatalf("%s: Flink reads %d keys, the job has 7 of type %s; here %+v", kind, len(want.Keys), keyType, agent.Keyed)
	}
	if onlyFiles {
		if agent.Keyed.Decoded != inspect.DecodedHeader || agent.Keyed.Keys != nil {
			t.Errorf("%s: %+v", kind, agent.Keyed)
		}
		return
	}
	if agent.Keyed.Decoded != inspect.DecodedAll || *agent.Keyed.Keys != 7 || len(agent.Keyed.Sequences) != 7 {
		t.Errorf("%s: %+v", kind, agent.Keyed)
	}
	sequences := map[string]inspect.KeySequence{}
	for _, k := range agent.Keyed.Sequences {
		sequences[*k.Key.Text] = k
	}
	for _, k := range want.Keys {
		got, ok := sequences[k.Key]
		if !ok || *got.MessageSequenceNumber != k.Started || !reflect.DeepEqual(got.LastCompletedSequenceNumber, k.Completed) || !sameTasks(got.ActionTasks, k.Tasks) {
			text, _ := json.Marshal(got) // of what can't fail
			t.Errorf("%s: key %s is %s, Flink reads %+v", kind, k.Key, text, k)
		}
	}
}

// sameTasks compares the tasks of a key. How many elements a list of a canonical
// savepoint has that Kryo wrote is not known, only how many bytes.
func sameTasks(got *inspect.KeyedList, want int64) bool {
	switch {
	case got == nil:
		return want == 0
	case got.Elements == nil:
		return want > 0 && got.Bytes != nil && *got.Bytes >= want
	default:
		return *got.Elements == want
	}
}

func sameInAnyOrder(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
