package kafka_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

const plenty = 1 << 30 // bytes

func offsetsOf(p inspect.RecordPage) []int64 {
	out := []int64{}
	for _, r := range p.Records {
		out = append(out, r.Offset)
	}
	return out
}

// A partition holds what a restore reads and the control records between: a page
// shows both, and says which is which.
func TestAPageShowsRecordsAndTheEndsOfTransactions(t *testing.T) {
	onEach(t, func(t *testing.T, c cluster) {
		topic, _ := c.create(t, 2, safe)
		plain := c.client(t)
		at := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
		write(t, plain,
			&kgo.Record{Topic: topic, Partition: 1, Key: []byte("k"), Value: []byte("v"), Timestamp: at,
				Headers: []kgo.RecordHeader{{Key: "trace", Value: []byte("1")}, {Key: "none"}}},
			&kgo.Record{Topic: topic, Partition: 1, Key: []byte("gone"), Timestamp: at.Add(time.Second)})
		for _, end := range []func(*kafkatest.Transaction, context.Context) error{(*kafkatest.Transaction).Abort, (*kafkatest.Transaction).Commit} {
			open, err := c.Begin(t.Context(), topic, 1, kafkatest.Record{Key: []byte("in a transaction"), Value: []byte{}})
			if err != nil {
				t.Fatal(err)
			}
			if err := end(open, t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		store := c.store(t)
		data := described(t, store, topic)
		for data.Partitions[1].Log.End < 6 { // Kafka writes a marker after it has answered
			data = described(t, store, topic)
		}
		page, err := store.ReadRecords(context.Background(), data, inspect.RecordQuestion{Partition: 1, Count: 100, Bytes: plenty})
		if err != nil {
			t.Fatal(err)
		}
		if page.From != 0 || page.Next != 6 || !slices.Equal(offsetsOf(page), []int64{0, 1, 2, 3, 4, 5}) {
			t.Fatalf("[%d, %d) holds %v", page.From, page.Next, offsetsOf(page))
		}
		first, gone, aborted, abort, committed, commit := page.Records[0], page.Records[1], page.Records[2], page.Records[3], page.Records[4], page.Records[5]
		if string(first.Key) != "k" || string(first.Value) != "v" || !first.Timestamp.Equal(at) || first.Appended || first.Producer != -1 || first.Control != inspect.NotControl {
			t.Errorf("the first is %+v", first)
		}
		if len(first.Headers) != 2 || first.Headers[0].Key != "trace" || string(first.Headers[0].Value) != "1" || first.Headers[1].Value != nil {
			t.Errorf("its headers are %+v", first.Headers)
		}
		if gone.Value != nil || aborted.Value == nil || len(aborted.Value) != 0 {
			t.Errorf("a null value is %v, an empty one %v", gone.Value, aborted.Value)
		}
		if aborted.Producer < 0 || aborted.Control != inspect.NotControl || abort.Control != inspect.TransactionAborted || abort.Producer != aborted.Producer {
			t.Errorf("aborted: %+v, ended by %+v", aborted, abort)
		}
		if committed.Producer < 0 || commit.Control != inspect.TransactionCommitted || commit.Producer != committed.Producer {
			t.Errorf("committed: %+v, ended by %+v", committed, commit)
		}

		found, err := store.OffsetsAt(context.Background(), data, at.Add(time.Millisecond))
		if err != nil || found[1] != 1 || found[0] != 0 {
			t.Errorf("found %v, %v; want the second record, and the end of the empty partition", found, err)
		}
		if found, err = store.OffsetsAt(context.Background(), data, now.AddDate(100, 0, 0)); err != nil || found[1] != 6 {
			t.Errorf("found %v, %v; want the log end", found, err)
		}
	})
}

// Pages go both ways from any offset, over what is left of a compacted or trimmed
// log, and no farther than the description of the topic.
func TestPagesGoBothWays(t *testing.T) {
	onEach(t, func(t *testing.T, c cluster) {
		topic, _ := c.create(t, 1, safe)
		cl := c.client(t)
		for n := range 60 {
			write(t, cl, &kgo.Record{Topic: topic, Key: fmt.Appendf(nil, "k%d", n), Value: []byte("v")})
		}
		c.trim(t, topic, 0, 10)
		store := c.store(t)
		data := described(t, store, topic)
		write(t, cl, &kgo.Record{Topic: topic, Key: []byte("later"), Value: []byte("v")})
		for _, ask := range []struct {
			name        string
			q           inspect.RecordQuestion
			from, next  int64
			first, last int64
		}{
			{"from the log start, though asked for less", inspect.RecordQuestion{Offset: 0, Count: 5, Bytes: plenty}, 10, 15, 10, 14},
			{"from the middle", inspect.RecordQuestion{Offset: 33, Count: 4, Bytes: plenty}, 33, 37, 33, 36},
			{"to the described end", inspect.RecordQuestion{Offset: 50, Count: 100, Bytes: plenty}, 50, 60, 50, 59},
			{"back from the end", inspect.RecordQuestion{Offset: 1000, Back: true, Count: 3, Bytes: plenty}, 57, 60, 57, 59},
			{"back to the log start", inspect.RecordQuestion{Offset: 12, Back: true, Count: 30, Bytes: plenty}, 10, 12, 10, 11},
			{"one record is given however large", inspect.RecordQuestion{Offset: 20, Count: 30, Bytes: 1}, 20, 21, 20, 20},
			{"also backwards", inspect.RecordQuestion{Offset: 20, Back: true, Count: 30, Bytes: 1}, 19, 20, 19, 19},
		} {
			page, err := store.ReadRecords(context.Background(), data, ask.q)
			if err != nil {
				t.Errorf("%s: %v", ask.name, err)
				continue
			}
			got := offsetsOf(page)
			if page.From != ask.from || page.Next != ask.next || len(got) == 0 || got[0] != ask.first || got[len(got)-1] != ask.last {
				t.Errorf("%s: [%d, %d) %v; want [%d, %d)", ask.name, page.From, page.Next, got, ask.from, ask.next)
			}
		}
		for _, q := range []inspect.RecordQuestion{{Offset: 60, Count: 3, Bytes: plenty}, {Offset: 10, Back: true, Count: 3, Bytes: plenty}} {
			if page, err := store.ReadRecords(context.Background(), data, q); err != nil || len(page.Records) != 0 || page.From != q.Offset || page.Next != q.Offset {
				t.Errorf("%+v: %+v, %v; want nothing", q, page, err)
			}
		}
	})
}

// A value of 10 MiB is one record of a page like any other.
func TestALargeValueIsReadWhole(t *testing.T) {
	onEach(t, func(t *testing.T, c cluster) {
		const size = 10 << 20
		topic, _ := c.create(t, 1, map[string]string{"cleanup.policy": "compact,delete", "retention.ms": "-1", "max.message.bytes": fmt.Sprint(size + 1024)})
		cl := c.client(t, kgo.ProducerBatchMaxBytes(size+1024), kgo.ProducerBatchCompression(kgo.NoCompression()))
		value := bytes.Repeat([]byte("0123456789abcdef"), size/16)
		write(t, cl, &kgo.Record{Topic: topic, Key: []byte("small"), Value: []byte("v")})
		write(t, cl, &kgo.Record{Topic: topic, Key: []byte("large"), Value: value})
		store := c.store(t)
		for _, q := range []inspect.RecordQuestion{{Offset: 1, Count: 1, Bytes: 1}, {Offset: 2, Back: true, Count: 1, Bytes: 1}} {
			page, err := store.ReadRecords(context.Background(), described(t, store, topic), q)
			if err != nil || len(page.Records) != 1 || !bytes.Equal(page.Records[0].Value, value) {
				t.Fatalf("%d records, %v", len(page.Records), err)
			}
		}
	})
}

// A topic that was recreated is not shown under the old one's offsets.
func TestARecreatedTopicIsNotShown(t *testing.T) {
	onEach(t, func(t *testing.T, c cluster) {
		topic, _ := c.create(t, 1, safe)
		store := c.store(t)
		data := described(t, store, topic)
		data.TopicID = "AAAAAAAAAAAAAAAAAAAAAQ"
		if _, err := store.ReadRecords(context.Background(), data, inspect.RecordQuestion{Count: 1, Bytes: 1}); fault.KindOf(err) != fault.Drift {
			t.Errorf("reading says %v, want a drift", err)
		}
		if _, err := store.OffsetsAt(context.Background(), data, now); fault.KindOf(err) != fault.Drift {
			t.Errorf("looking for a time says %v, want a drift", err)
		}
		if _, err := store.ReadRecords(context.Background(), data, inspect.RecordQuestion{Partition: 7, Count: 1, Bytes: 1}); fault.KindOf(err) != fault.NotFound {
			t.Errorf("a partition that is not there: %v", err)
		}
	})
}
