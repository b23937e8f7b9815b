package inspect_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/testkit/topics"
)

// lent shows a record in memory that is written over at once, as those who read logs
// do: a scan that kept any of it would answer with rubbish.
func lent(key, value []byte, show func(key, value []byte)) {
	key, value = bytes.Clone(key), bytes.Clone(value)
	show(key, value)
	for _, lent := range [][]byte{key, value} {
		for i := range lent {
			lent[i] = '#'
		}
	}
}

// scannedTopic shows a whole topic to a scan, in the order of its partitions, and
// what it asks for a second time.
func scannedTopic(topic topics.Topic, q inspect.CallQuestion) inspect.DurableCalls {
	extent := inspect.ScanExtent{From: inspect.Offsets{}, To: inspect.Offsets{}, Read: inspect.Offsets{}}
	var ids []int32
	for _, r := range topic.Expected.Offsets {
		ids = append(ids, r.Partition)
		extent.From[r.Partition], extent.To[r.Partition], extent.Read[r.Partition] = r.Start, r.End, r.End
	}
	scan := inspect.NewCallScan(q, ids)
	show := func(r topics.Record) {
		lent(r.Key, r.Value, func(key, value []byte) { scan.Visit(r.Partition, r.Offset, r.Timestamp, key, value) })
	}
	for _, r := range topic.Records {
		show(r)
	}
	for _, w := range scan.Second(extent) {
		for _, r := range topic.Records {
			if r.Partition == w.Partition && w.From <= r.Offset && r.Offset < w.To {
				show(r)
			}
		}
	}
	return scan.Finish(extent)
}

// recordKey is the key of the action's records in generation 1.
func recordKey(a inspect.ActionCalls) string {
	return fmt.Sprintf("%s_%d_%s_%s", *a.Key.Text, a.Sequence, a.EventUUID, a.ActionUUID)
}

// checkTopic compares an answer with what the job's own code read.
func checkTopic(t *testing.T, topic topics.Topic, got inspect.DurableCalls) {
	t.Helper()
	want := topic.Expected
	if got.Scanned.Records != want.Records || got.Tombstones != want.Tombstones {
		t.Errorf("%d records with %d tombstones, want %d with %d", got.Scanned.Records, got.Tombstones, want.Records, want.Tombstones)
	}
	open, completed := map[string]inspect.ActionCalls{}, map[string]inspect.ActionCalls{}
	for _, a := range got.Actions {
		switch {
		case a.Tombstone != nil:
		case a.Completed:
			completed[recordKey(a)] = a
		default:
			open[recordKey(a)] = a
		}
	}
	for _, s := range want.Latest {
		if s.EventUUID == "" || s.Error != "" {
			continue // its key is of no known layout, or its value is refused there
		}
		a, ok := open[s.Key]
		if s.Completed {
			a, ok = completed[s.Key]
		}
		delete(open, s.Key)
		delete(completed, s.Key)
		if !ok {
			t.Errorf("%s is missing, completed %t", s.Key, s.Completed)
			continue
		}
		if *a.Key.Text != s.KeyText || a.Sequence != s.Sequence || a.Partition != s.Partition || a.Offset != s.Offset || a.EventType != s.EventType {
			t.Errorf("%+v, want %+v", a, s)
		}
		if s.Completed {
			continue
		}
		var calls []inspect.Call // of the last record
		for _, c := range a.Calls {
			if c.Seen.Offset == a.Offset {
				calls = append(calls, c)
			}
		}
		if len(calls) != len(s.CallResults) {
			t.Errorf("%s: %d calls, want %d", s.Key, len(calls), len(s.CallResults))
			continue
		}
		for i, c := range calls {
			w := s.CallResults[i]
			if c.FunctionID != w.FunctionID || c.ArgsDigest != w.ArgsDigest || (c.State == inspect.CallSaved) != (w.Status != "PENDING") {
				t.Errorf("%s: call %+v, want %+v", s.Key, c, w)
			}
			for _, size := range []struct {
				got  *int64
				want *string
			}{{c.ResultBytes, w.ResultPayload}, {c.ExceptionBytes, w.ExceptionPayload}} {
				if (size.got == nil) != (size.want == nil) || size.got != nil && *size.got != int64(len(*size.want)) {
					t.Errorf("%s: sizes of %+v, want %+v", s.Key, c, w)
				}
			}
		}
	}
	for _, s := range want.Latest { // what is refused there may be shown here
		if s.Error != "" {
			delete(open, s.Key)
			delete(completed, s.Key)
		}
	}
	if len(open)+len(completed) > 0 {
		t.Errorf("there are also %v and %v", slices.Sorted(maps.Keys(open)), slices.Sorted(maps.Keys(completed)))
	}
	if n := got.Counts.Pending + got.Counts.Unmatched; n != int64(len(want.PendingCalls)) {
		t.Errorf("%+v, want %d PENDING calls", got.Counts, len(want.PendingCalls))
	}
	for _, w := range want.PendingCalls {
		if !slices.ContainsFunc(got.Actions, func(a inspect.ActionCalls) bool {
			return !a.Completed && recordKey(a) == w.Key && slices.ContainsFunc(a.Calls, func(c inspect.Call) bool {
				return c.FunctionID == w.FunctionID && (c.State == inspect.CallPending || c.State == inspect.CallUnmatched)
			})
		}) {
			t.Errorf("no PENDING %s of %s", w.FunctionID, w.Key)
		}
	}
}

// A call that is not simply pending or saved.
type odd struct {
	key        string
	state      inspect.CallState
	function   string
	seen, lost int64 // lost: -1, none
}

// The topics on which the newest record alone lies, and the offsets that prove
// it. In agent-text and agent-long, and the copies of the first, a burst of empty
// records follows a PENDING one: 52 of partition 0, and 109 of partition 1.
var oddCalls = map[string][]odd{
	"agent-text-hashmap": {{"alice", inspect.CallOverwritten, "charge", 52, 53}},
	"agent-trimmed":      {{"alice", inspect.CallOverwritten, "charge", 52, 53}},
	"agent-tombstones":   {{"alice", inspect.CallOverwritten, "charge", 52, 53}},
	"agent-long-rocksdb": {{"42", inspect.CallOverwritten, "charge", 109, 112}},

	"agent-overwritten": {
		{"alice", inspect.CallOverwritten, "charge", 37, 38},
		{"bob", inspect.CallOverwritten, "notify", 63, 75},
	},
	"agent-sync-restarted": {
		{"alice", inspect.CallUnmatched, "notify", 41, -1},
		{"größe", inspect.CallUnmatched, "charge", 26, -1},
	},
}

func checkOddCalls(t *testing.T, topic topics.Topic, got inspect.DurableCalls) {
	t.Helper()
	var found []odd
	for _, a := range got.Actions {
		for _, c := range a.Calls {
			if a.Completed || c.State == inspect.CallPending || c.State == inspect.CallSaved {
				continue
			}
			o := odd{*a.Key.Text, c.State, c.FunctionID, c.Seen.Offset, -1}
			if c.Lost != nil {
				o.lost = c.Lost.Offset
			}
			found = append(found, o)
		}
	}
	if want := oddCalls[topic.Name]; !slices.Equal(found, want) {
		t.Errorf("%+v, want %+v", found, want)
	}
}

// Topics of real jobs: open and completed actions, their calls, keys and offsets
// are as the release's own code reads them.
func TestTopicsOfRealJobs(t *testing.T) {
	for _, topic := range topics.All(t) {
		t.Run(topic.Name, func(t *testing.T) {
			got := scannedTopic(topic, inspect.CallQuestion{All: true})
			checkTopic(t, topic, got)
			checkOddCalls(t, topic, got)
			for _, a := range got.Actions {
				foreign := topic.Name == "agent-foreign" && *a.Key.Text == "zed" // put where no job would
				if a.Elsewhere != nil && !foreign {
					t.Errorf("%s of partition %d computes to %d", recordKey(a), a.Partition, *a.Elsewhere)
				}
			}
		})
	}
}
