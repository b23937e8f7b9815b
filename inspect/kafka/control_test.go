package kafka_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/recoverctl/recoverctl/inspect"
)

// when is the time that every record of these tests carries.
var when = time.Date(2026, 2, 3, 4, 5, 6, 789_000_000, time.UTC)

// control is a control topic that a story writes to.
type control struct {
	t       *testing.T
	cluster cluster
	topic   string
	plain   *kgo.Client
}

func (c cluster) control(t *testing.T, settings map[string]string) *control {
	t.Helper()
	topic, _ := c.create(t, 1, settings)
	return &control{t: t, cluster: c, topic: topic, plain: c.client(t)}
}

func (k *control) record(key, value []byte) *kgo.Record {
	return &kgo.Record{Topic: k.topic, Key: key, Value: value, Timestamp: when}
}

func (k *control) put(key, value string) { k.putBytes([]byte(key), []byte(value)) }

func (k *control) putBytes(key, value []byte) { write(k.t, k.plain, k.record(key, value)) }

// transaction writes key=value pairs and leaves the transaction open.
func (k *control) transaction(keys ...string) *kgo.Client {
	k.t.Helper()
	cl := k.cluster.client(k.t, kgo.TransactionalID(fmt.Sprintf("%s.%d", k.topic, names.Add(1))), kgo.TransactionTimeout(time.Minute))
	if err := cl.BeginTransaction(); err != nil {
		k.t.Fatal(err)
	}
	k.more(cl, keys...)
	return cl
}

func (k *control) more(cl *kgo.Client, keys ...string) {
	k.t.Helper()
	for _, key := range keys {
		write(k.t, cl, k.record([]byte(key), []byte("of "+key)))
	}
}

// end ends a transaction, which writes one marker, and waits until the partition
// shows it: a coordinator acknowledges before the marker is written.
func (k *control) end(cl *kgo.Client, how kgo.TransactionEndTry) {
	k.t.Helper()
	before := k.listed()
	if err := cl.EndTransaction(context.Background(), how); err != nil {
		k.t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); k.listed() <= before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			k.t.Fatal("the transaction's marker does not appear")
		}
	}
}

// listed is the log end as the admin client lists it.
func (k *control) listed() int64 {
	k.t.Helper()
	ends, err := k.cluster.admin(k.t).ListEndOffsets(context.Background(), k.topic)
	if err != nil {
		k.t.Fatal(err)
	}
	end, _ := ends.Lookup(k.topic, 0)
	return end.Offset
}

func at(offset int64, key, value string) inspect.ControlRecord {
	return inspect.ControlRecord{Offset: offset, Key: []byte(key), Value: []byte(value)}
}

func TestControlRecordsAsAReadCommittedReaderSeesThem(t *testing.T) {
	tests := []struct {
		name        string
		story       func(k *control)
		records     []inspect.ControlRecord
		stable, end int64
	}{
		{
			name:  "nothing was ever committed",
			story: func(*control) {},
		},
		{
			name: "a plan was committed and applied",
			story: func(k *control) {
				k.put("a1", "COMMITTED")
				k.put("a1", "APPLIED")
			},
			records: []inspect.ControlRecord{at(0, "a1", "COMMITTED"), at(1, "a1", "APPLIED")},
			stable:  2, end: 2,
		},
		{
			name: "a tombstone is not an empty value, and an empty key not a null one",
			story: func(k *control) {
				k.putBytes([]byte("a1"), nil)
				k.putBytes([]byte("a1"), []byte{})
				k.putBytes([]byte{}, []byte("x"))
			},
			records: []inspect.ControlRecord{
				{Offset: 0, Key: []byte("a1")}, at(1, "a1", ""), at(2, "", "x"),
			},
			stable: 3, end: 3,
		},
		{
			name: "a transaction was committed: its marker takes an offset and is no record",
			story: func(k *control) {
				k.end(k.transaction("a", "b"), kgo.TryCommit)
				k.put("c", "of c")
			},
			records: []inspect.ControlRecord{at(0, "a", "of a"), at(1, "b", "of b"), at(3, "c", "of c")},
			stable:  4, end: 4,
		},
		{
			name: "the last thing on the log is a commit marker",
			story: func(k *control) {
				k.end(k.transaction("a"), kgo.TryCommit)
			},
			records: []inspect.ControlRecord{at(0, "a", "of a")},
			stable:  2, end: 2,
		},
		{
			name: "everything on the log was aborted",
			story: func(k *control) {
				k.end(k.transaction("a", "b", "c"), kgo.TryAbort)
			},
			stable: 4, end: 4,
		},
		{
			name: "aborted transactions stand at the end",
			story: func(k *control) {
				k.put("a", "of a")
				k.end(k.transaction("b", "c"), kgo.TryAbort)
				k.end(k.transaction("d"), kgo.TryAbort)
			},
			records: []inspect.ControlRecord{at(0, "a", "of a")},
			stable:  6, end: 6,
		},
		{
			name: "an aborted transaction began before a committed one and ended after it",
			story: func(k *control) {
				aborted := k.transaction("a") // 0
				committed := k.transaction("b")
				k.more(aborted, "c")            // 2
				k.put("d", "of d")              // 3
				k.end(committed, kgo.TryCommit) // 4
				k.more(aborted, "e")            // 5
				k.end(aborted, kgo.TryAbort)    // 6
				k.put("f", "of f")              // 7
			},
			records: []inspect.ControlRecord{at(1, "b", "of b"), at(3, "d", "of d"), at(7, "f", "of f")},
			stable:  8, end: 8,
		},
		{
			name: "one producer aborted and then committed",
			story: func(k *control) {
				cl := k.transaction("a") // 0
				k.end(cl, kgo.TryAbort)  // 1
				if err := cl.BeginTransaction(); err != nil {
					k.t.Fatal(err)
				}
				k.more(cl, "b")          // 2
				k.end(cl, kgo.TryCommit) // 3
			},
			records: []inspect.ControlRecord{at(2, "b", "of b")},
			stable:  4, end: 4,
		},
		{
			name: "an open transaction is the last thing on the log",
			story: func(k *control) {
				k.put("a", "of a")
				k.transaction("b")
			},
			records: []inspect.ControlRecord{at(0, "a", "of a")},
			stable:  1, end: 2,
		},
		{
			name: "an open transaction hides the committed records after it",
			story: func(k *control) {
				k.put("a", "of a")
				k.transaction("b")
				k.put("c", "of c")
				k.end(k.transaction("d"), kgo.TryCommit)
			},
			records: []inspect.ControlRecord{at(0, "a", "of a")},
			stable:  1, end: 5,
		},
		{
			name: "an open transaction hides everything",
			story: func(k *control) {
				k.transaction("a")
				k.put("b", "of b")
			},
			stable: 0, end: 2,
		},
	}
	onEach(t, func(t *testing.T, c cluster) {
		store := c.store(t)
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				k := c.control(t, map[string]string{"cleanup.policy": "compact"})
				tt.story(k)
				got, err := store.ControlTopic(context.Background(), k.topic)
				if err != nil {
					t.Fatal(err)
				}
				wantShape(t, got, k.topic, "compact", 0)
				wantRecords(t, got.Records, tt.records)
				if got.LastStable != tt.stable || got.LogEnd != tt.end {
					t.Errorf("last stable %d, log end %d; want %d and %d", got.LastStable, got.LogEnd, tt.stable, tt.end)
				}
				for _, r := range got.Records {
					if !r.Time.Equal(when) {
						t.Errorf("the record at %d is of %s, want %s", r.Offset, r.Time, when)
					}
				}
			})
		}
	})
}

func wantShape(t *testing.T, got inspect.ControlTopic, name, policy string, partitions ...int32) {
	t.Helper()
	if got.Name != name || !got.Exists || got.CleanupPolicy != policy || !slices.Equal(got.Partitions, partitions) || !got.At.Equal(now) {
		t.Errorf("shape %q exists %t policy %q partitions %v at %s; want %q, true, %q, %v, %s",
			got.Name, got.Exists, got.CleanupPolicy, got.Partitions, got.At, name, policy, partitions, now)
	}
}

func wantRecords(t *testing.T, got, want []inspect.ControlRecord) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d records %s; want %d %s", len(got), list(got), len(want), list(want))
	}
	for i, g := range got {
		w := want[i]
		if g.Offset != w.Offset || !same(g.Key, w.Key) || !same(g.Value, w.Value) {
			t.Errorf("record %s; want %s", list(got[i:i+1]), list(want[i:i+1]))
		}
	}
}

// same tells a null from an empty one.
func same(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) }

func list(records []inspect.ControlRecord) string {
	var words []string
	for _, r := range records {
		words = append(words, fmt.Sprintf("%d:%#v=%#v", r.Offset, r.Key, r.Value))
	}
	return strings.Join(words, " ")
}

func TestNullKeysOfAnEarlierPolicyAreKept(t *testing.T) {
	onEach(t, func(t *testing.T, c cluster) {
		k := c.control(t, map[string]string{"cleanup.policy": "delete"})
		k.putBytes(nil, []byte("keyless"))
		k.putBytes(nil, nil)
		c.set(t, k.topic, "cleanup.policy", "compact")
		k.put("a", "of a")
		got, err := c.store(t).ControlTopic(context.Background(), k.topic)
		if err != nil {
			t.Fatal(err)
		}
		wantRecords(t, got.Records, []inspect.ControlRecord{
			{Offset: 0, Value: []byte("keyless")}, {Offset: 1}, at(2, "a", "of a"),
		})
	})
}

func TestReadingBeginsAtTheLogStart(t *testing.T) {
	onEach(t, func(t *testing.T, c cluster) {
		for name, start := range map[string]int64{"some records were deleted": 3, "all records were deleted": 5} {
			t.Run(name, func(t *testing.T) {
				k := c.control(t, map[string]string{"cleanup.policy": "delete"})
				var want []inspect.ControlRecord
				for n := range int64(5) {
					key := fmt.Sprint("k", n)
					k.put(key, "v")
					if n >= start {
						want = append(want, at(n, key, "v"))
					}
				}
				c.trim(t, k.topic, 0, start)
				c.set(t, k.topic, "cleanup.policy", "compact")
				got, err := c.store(t).ControlTopic(context.Background(), k.topic)
				if err != nil {
					t.Fatal(err)
				}
				wantRecords(t, got.Records, want)
				if got.LogEnd != 5 || got.LastStable != 5 {
					t.Errorf("log end %d, last stable %d; want 5", got.LogEnd, got.LastStable)
				}
			})
		}
	})
}

func TestOnlyTheShapeIsReadOfTopicsThatCanNotBeControlTopics(t *testing.T) {
	onEach(t, func(t *testing.T, c cluster) {
		tests := []struct {
			name       string
			partitions int32
			settings   map[string]string
			policy     string
		}{
			{"two partitions", 2, map[string]string{"cleanup.policy": "compact"}, "compact"},
			{"compact and delete", 1, map[string]string{"cleanup.policy": "compact,delete"}, "compact,delete"},
			{"the broker's policy", 1, nil, "delete"},
		}
		store := c.store(t)
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				topic, _ := c.create(t, tt.partitions, tt.settings)
				write(t, c.client(t), &kgo.Record{Topic: topic, Key: []byte("a"), Value: []byte("never read")})
				got, err := store.ControlTopic(context.Background(), topic)
				if err != nil {
					t.Fatal(err)
				}
				partitions := []int32{0, 1}[:tt.partitions]
				wantShape(t, got, topic, tt.policy, partitions...)
				if got.Records != nil || got.LogEnd != 0 || got.LastStable != 0 {
					t.Errorf("records were read: %s", list(got.Records))
				}
			})
		}
	})
}

func TestAMissingControlTopicIsAnAnswer(t *testing.T) {
	onEach(t, func(t *testing.T, c cluster) {
		store := c.store(t)
		for range 2 { // asking for it must not create it
			got, err := store.ControlTopic(context.Background(), "never-made")
			if err != nil {
				t.Fatal(err)
			}
			if got.Exists || got.Name != "never-made" || len(got.Partitions) != 0 || got.Records != nil {
				t.Errorf("got %+v", got)
			}
		}
	})
}
