package kafka_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/kafka"
	"github.com/recoverctl/recoverctl/internal/fault"
)

// visited is a record as it was visited; null marks a null key or value.
type visited struct {
	partition  int32
	offset     int64
	key, value string
}

const null = "<null>"

func textOf(b []byte) string {
	if b == nil {
		return null
	}
	return string(b)
}

func readWindow(ctx context.Context, store *kafka.Store, data inspect.DataTopic, windows ...inspect.Window) ([]visited, error) {
	var got []visited
	err := store.ReadWindow(ctx, data, windows, func(partition int32, offset int64, key, value []byte) {
		got = append(got, visited{partition, offset, textOf(key), textOf(value)})
	}, nil)
	return got, err
}

func described(t *testing.T, store *kafka.Store, topic string) inspect.DataTopic {
	t.Helper()
	data, err := store.DataTopic(context.Background(), topic)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Records of aborted and open transactions count, control records don't, and
// nothing outside the windows is visited.
func TestAWindowIsReadAsAnUncommittedReaderSeesIt(t *testing.T) {
	onEach(t, func(t *testing.T, c cluster) {
		topic, _ := c.create(t, 3, safe)
		plain := c.client(t)
		record := func(p int32, key, value []byte) *kgo.Record {
			return &kgo.Record{Topic: topic, Partition: p, Key: key, Value: value}
		}
		kv := func(p int32, key, value string) *kgo.Record { return record(p, []byte(key), []byte(value)) }
		transaction := func(name string, records ...*kgo.Record) *kgo.Client {
			cl := c.client(t, kgo.TransactionalID(topic+name))
			if err := cl.BeginTransaction(); err != nil {
				t.Fatal(err)
			}
			write(t, cl, records...)
			return cl
		}
		end := func(cl *kgo.Client, how kgo.TransactionEndTry) {
			if err := cl.EndTransaction(context.Background(), how); err != nil {
				t.Fatal(err)
			}
		}
		store := c.store(t)
		upTo := func(logEnd int64) (data inspect.DataTopic) { // Kafka writes a marker after it has answered
			for data = described(t, store, topic); data.Partitions[0].Log.End < logEnd; {
				data = described(t, store, topic)
			}
			return data
		}
		write(t, plain, kv(0, "before", "x"), kv(0, "first", "a"), record(0, []byte("gone"), nil), record(0, []byte("empty"), []byte{}))
		end(transaction("aborted", kv(0, "aborted", "b")), kgo.TryAbort) // 4, and 5 is the marker
		upTo(6)
		end(transaction("committed", kv(0, "committed", "c")), kgo.TryCommit)  // 6, 7
		write(t, plain, kv(2, "skipped", "x"), kv(2, "two", "d"))              // 0, 1
		open := transaction("open", kv(2, "open", "e"))                        // 2
		write(t, plain, kv(2, "behind the open one", "f"), kv(2, "last", "g")) // 3, 4
		data := upTo(8)
		write(t, plain, kv(2, "behind the end", "x")) // 5

		got, err := readWindow(context.Background(), store, data,
			inspect.Window{Partition: 2, From: 1, To: 5}, inspect.Window{Partition: 0, From: 1, To: 8}, inspect.Window{Partition: 1, From: 0, To: 0})
		if err != nil {
			t.Fatal(err)
		}
		want := []visited{
			{0, 1, "first", "a"}, {0, 2, "gone", null}, {0, 3, "empty", ""}, {0, 4, "aborted", "b"}, {0, 6, "committed", "c"},
			{2, 1, "two", "d"}, {2, 2, "open", "e"}, {2, 3, "behind the open one", "f"}, {2, 4, "last", "g"},
		}
		if !slices.Equal(got, want) {
			t.Errorf("visited\n%v\nwant\n%v", got, want)
		}
		end(open, kgo.TryAbort)
	})
}

// A window of several answers is read whole, and its progress ends at its end.
func TestALongWindow(t *testing.T) {
	onEach(t, func(t *testing.T, c cluster) {
		topic, _ := c.create(t, 1, safe)
		const count, size = 120, 100_000
		var records []*kgo.Record
		for n := range count {
			records = append(records, &kgo.Record{Topic: topic, Key: fmt.Appendf(nil, "k%03d", n), Value: bytes.Repeat([]byte{byte('a' + n%26)}, size)})
		}
		if err := c.client(t, kgo.ProducerBatchCompression(kgo.NoCompression())).ProduceSync(context.Background(), records...).FirstErr(); err != nil {
			t.Fatal(err)
		}
		store := c.store(t)
		next := int64(5)
		var last inspect.WindowProgress
		calls := 0
		err := store.ReadWindow(context.Background(), described(t, store, topic), []inspect.Window{{From: 5, To: count}},
			func(_ int32, offset int64, key, value []byte) {
				if offset != next || string(key) != fmt.Sprintf("k%03d", offset) || len(value) != size || value[size-1] != byte('a'+offset%26) {
					t.Errorf("offset %d: key %s, %d bytes; want offset %d", offset, key, len(value), next)
				}
				next++
			},
			func(p inspect.WindowProgress) {
				if p.Span <= last.Span || p.Records < last.Records || p.Total != count-5 {
					t.Errorf("progress %+v after %+v", p, last)
				}
				last = p
				calls++
			})
		if err != nil || next != count {
			t.Fatalf("read to %d: %v", next, err)
		}
		if want := (inspect.WindowProgress{Records: count - 5, Bytes: (count - 5) * (size + 4), Span: count - 5, Total: count - 5}); last != want || calls < 2 {
			t.Errorf("%d calls, the last %+v, want %+v", calls, last, want)
		}
	})
}

func TestAWindowOfAnotherTopicIsNotRead(t *testing.T) {
	onEach(t, func(t *testing.T, c cluster) {
		topic, _ := c.create(t, 1, safe)
		fill(t, c, topic, 0, 3)
		store := c.store(t)
		data := described(t, store, topic)
		data.TopicID = "Q0ZbI2aaTq2bEJtS3RzGgA"
		got, err := readWindow(context.Background(), store, data, inspect.Window{To: 3})
		if err == nil || fault.KindOf(err) != fault.Drift || len(got) > 0 {
			t.Errorf("%v, %v", got, err)
		}
	})
}

func TestAWindowThatWasCutIsNoShorterWindow(t *testing.T) {
	onEach(t, func(t *testing.T, c cluster) {
		topic, _ := c.create(t, 2, safe)
		fill(t, c, topic, 1, 6)
		store := c.store(t)
		data := described(t, store, topic)
		c.trim(t, topic, 1, 4)
		got, err := readWindow(context.Background(), store, data, inspect.Window{Partition: 1, From: 2, To: 6})
		if err == nil || fault.KindOf(err) != fault.Drift || len(got) > 0 {
			t.Errorf("%v, %v", got, err)
		}
		var f *fault.Fault
		if errors.As(err, &f) && (len(f.Refs) != 1 || f.Refs[0] != "topic "+topic+" partition 1") {
			t.Errorf("refs %q", f.Refs)
		}
	})
}

func TestReadingAWindowCanBeStopped(t *testing.T) {
	onEach(t, func(t *testing.T, c cluster) {
		topic, _ := c.create(t, 1, safe)
		fill(t, c, topic, 0, 5)
		store := c.store(t)
		data := described(t, store, topic)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		count := 0
		err := store.ReadWindow(ctx, data, []inspect.Window{{To: 5}, {To: 5}, {To: 5}}, func(int32, int64, []byte, []byte) {
			if count++; count == 5 {
				cancel() // before the second window
			}
		}, nil)
		if err == nil || fault.KindOf(err) != fault.Cancelled || count >= 15 {
			t.Errorf("%d records, %v", count, err)
		}
	})
}
