package kafka_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
)

func TestLongHistories(t *testing.T) {
	onEach(t, func(t *testing.T, c cluster) {
		tests := []struct {
			name  string
			count int
			value int // bytes
			opts  []kgo.Opt
		}{
			{"300 records", 300, 200, nil},
			{"six megabytes, more than one answer holds", 60, 100_000, nil},
			{"gzip", 50, 3000, []kgo.Opt{kgo.ProducerBatchCompression(kgo.GzipCompression())}},
			{"snappy", 50, 3000, []kgo.Opt{kgo.ProducerBatchCompression(kgo.SnappyCompression())}},
			{"lz4", 50, 3000, []kgo.Opt{kgo.ProducerBatchCompression(kgo.Lz4Compression())}},
			{"zstd", 50, 3000, []kgo.Opt{kgo.ProducerBatchCompression(kgo.ZstdCompression())}},
		}
		store := c.store(t)
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				k := c.control(t, map[string]string{"cleanup.policy": "compact"})
				var records []*kgo.Record
				var want []inspect.ControlRecord
				for n := range tt.count {
					key := fmt.Sprintf("plan %04d", n)
					value := strings.Repeat(string(rune('a'+n%26)), tt.value)
					records = append(records, k.record([]byte(key), []byte(value)))
					want = append(want, at(int64(n), key, value))
				}
				if err := c.client(t, tt.opts...).ProduceSync(context.Background(), records...).FirstErr(); err != nil {
					t.Fatal(err)
				}
				got, err := store.ControlTopic(context.Background(), k.topic)
				if err != nil {
					t.Fatal(err)
				}
				wantRecords(t, got.Records, want)
			})
		}
	})
}

func TestTopicsThatAreNoControlTopicByFarAreRefused(t *testing.T) {
	t.Parallel()
	c := newFake(t)
	store := c.store(t)
	produce := func(k *control, from, count, size int) {
		t.Helper()
		value := bytes.Repeat([]byte("v"), size)
		records := make([]*kgo.Record, count)
		for n := range records {
			records[n] = k.record(fmt.Appendf(nil, "k%d", from+n), value)
		}
		if err := c.client(t, kgo.ProducerBatchCompression(kgo.ZstdCompression())).ProduceSync(context.Background(), records...).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	accepted := func(k *control, count int) {
		t.Helper()
		got, err := store.ControlTopic(context.Background(), k.topic)
		if err != nil || len(got.Records) != count {
			t.Errorf("%d records, %v; want %d", len(got.Records), err, count)
		}
	}
	refused := func(k *control) {
		t.Helper()
		got, err := store.ControlTopic(context.Background(), k.topic)
		if err == nil || fault.KindOf(err) != fault.Config || !strings.Contains(err.Error(), "is no control topic") {
			t.Errorf("error %v, want a configuration fault that says that it is no control topic", err)
		}
		if got.Records != nil {
			t.Error("records are returned beside the refusal")
		}
	}
	many := c.control(t, map[string]string{"cleanup.policy": "compact"})
	produce(many, 0, 100_000, 1)
	accepted(many, 100_000)
	produce(many, 100_000, 1, 1)
	refused(many)

	large := c.control(t, map[string]string{"cleanup.policy": "compact"})
	produce(large, 0, 67, 999_000)
	accepted(large, 67) // 66,933,000 bytes of values and fewer than 67,108,864 with keys
	produce(large, 67, 1, 999_000)
	refused(large)
}

func TestCompactionLeavesGaps(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, c cluster) {
		k := c.control(t, map[string]string{
			"cleanup.policy": "compact", "segment.ms": "1", "min.cleanable.dirty.ratio": "0.001",
			"delete.retention.ms": "0", "min.compaction.lag.ms": "0",
		})
		batch := func(records ...*kgo.Record) {
			t.Helper()
			if err := k.plain.ProduceSync(context.Background(), records...).FirstErr(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Millisecond) // the next batch begins a segment
		}
		kv := func(key, value string) *kgo.Record {
			r := k.record([]byte(key), []byte(value))
			r.Timestamp = time.Time{}
			return r
		}
		batch(kv("a", "old"))                        // 0: a whole batch goes
		batch(kv("b", "kept"), kv("a", "old too"))   // 1, 2: the end of a batch goes
		batch(kv("c", "old"), kv("d", "kept"))       // 3, 4: the beginning of one goes
		k.end(k.transaction("e", "f"), kgo.TryAbort) // 5, 6, 7: an aborted transaction goes
		time.Sleep(20 * time.Millisecond)
		batch(kv("a", "new"))                      // 8
		batch(kv("c", "new"))                      // 9
		batch(kv("last", "of the active segment")) // 10
		want := []inspect.ControlRecord{
			at(1, "b", "kept"), at(4, "d", "kept"), at(8, "a", "new"), at(9, "c", "new"), at(10, "last", "of the active segment"),
		}
		store := c.store(t)
		deadline := time.Now().Add(60 * time.Second)
		for {
			if c.fake != nil {
				c.fake.Compact()
			}
			got, err := store.ControlTopic(context.Background(), k.topic)
			if err != nil {
				t.Fatal(err)
			}
			if got.LastStable != 11 || got.LogEnd != 11 {
				t.Fatalf("last stable %d, log end %d; want 11", got.LastStable, got.LogEnd)
			}
			if len(got.Records) <= len(want) || time.Now().After(deadline) {
				wantRecords(t, got.Records, want)
				return
			}
			time.Sleep(200 * time.Millisecond)
		}
	})
}
