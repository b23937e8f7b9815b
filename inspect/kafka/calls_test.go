package kafka_test

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
	"github.com/recoverctl/recoverctl/internal/testkit/topics"
)

// load writes a topic of a real job as it was, offsets included, and returns its
// name here.
func (c cluster) load(t *testing.T, from topics.Topic) string {
	t.Helper()
	name, _ := c.create(t, int32(from.Expected.Partitions), map[string]string{"cleanup.policy": "compact,delete", "retention.ms": "-1", "retention.bytes": "-1"})
	for _, r := range from.Expected.Offsets {
		var records []kafkatest.Record
		for range r.Start { // what was deleted
			records = append(records, kafkatest.KV("gone", "{}"))
		}
		for _, record := range from.Records {
			if record.Partition == r.Partition {
				records = append(records, kafkatest.Record{Key: record.Key, Value: record.Value, Time: time.UnixMilli(record.Timestamp)})
			}
		}
		if len(records) > 0 {
			if _, err := c.Write(t.Context(), name, r.Partition, records...); err != nil {
				t.Fatal(err)
			}
		}
		if r.Start > 0 {
			c.trim(t, name, r.Partition, r.Start)
		}
	}
	return name
}

// shown shows a topic to a scan without any broker.
func shown(topic topics.Topic, q inspect.CallQuestion) inspect.DurableCalls {
	extent := inspect.ScanExtent{From: inspect.Offsets{}, To: inspect.Offsets{}, Read: inspect.Offsets{}}
	var ids []int32
	for _, r := range topic.Expected.Offsets {
		ids = append(ids, r.Partition)
		extent.From[r.Partition], extent.To[r.Partition], extent.Read[r.Partition] = r.Start, r.End, r.End
	}
	scan := inspect.NewCallScan(q, ids)
	for range 2 {
		for _, r := range topic.Records {
			scan.Visit(r.Partition, r.Offset, r.Timestamp, r.Key, r.Value)
		}
		if len(scan.Second(extent)) == 0 {
			break
		}
	}
	return scan.Finish(extent)
}

// Topics of real jobs give the same answer through a broker as record by record;
// what that answer must be is tested beside the rules.
func TestCallsOfRealTopics(t *testing.T) {
	onEach(t, func(t *testing.T, c cluster) {
		for _, topic := range topics.All(t) {
			t.Run(topic.Name, func(t *testing.T) {
				name := c.load(t, topic)
				store := c.store(t)
				q := inspect.CallQuestion{Job: inspect.Job{Topic: name}, All: true, Final: true}
				want := shown(topic, q)
				var told, final []inspect.ActionCalls
				got, err := store.ReadCalls(context.Background(), described(t, store, name), q, func(u inspect.CallUpdate) {
					told = append(told, u.Changed...)
					final = append(final, u.Final.Actions...)
				})
				if err != nil {
					t.Fatal(err)
				}
				if a, b := asJSON(t, got), asJSON(t, want); a != b {
					t.Errorf("through the broker\n%.2000s\nrecord by record\n%.2000s", a, b)
				}
				atRisk := slices.DeleteFunc(slices.Clone(got.Actions), func(a inspect.ActionCalls) bool { return a.Completed || len(a.Calls) == 0 })
				third := slices.DeleteFunc(slices.Clone(got.Actions), func(a inspect.ActionCalls) bool { return a.Generation != inspect.KeyGeneration3 })
				slices.SortFunc(final, func(a, b inspect.ActionCalls) int {
					return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Offset, b.Offset))
				})
				if a, b := asJSON(t, append([]inspect.ActionCalls{}, final...)), asJSON(t, append([]inspect.ActionCalls{}, third...)); a != b {
					t.Errorf("final on the way\n%.2000s\nof generation 3 in the end\n%.2000s", a, b)
				}
				if len(told) != len(atRisk) {
					t.Errorf("a watcher was told of %d actions, %d are at risk", len(told), len(atRisk))
				}
			})
		}
	})
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
