package kafkaconn

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/internal/fault"
)

// Isolation says whether records of transactions that are open or aborted are
// read.
type Isolation uint8

// The isolation levels, by Kafka's names.
const (
	ReadUncommitted Isolation = iota
	ReadCommitted
)

// pollSlice is how long a Reader waits before it looks whether brokers answer
// at all. It is also the broker's wait for new records.
const pollSlice = 500 * time.Millisecond

// maxDecompressed bounds what one batch may become: a damaged or hostile batch
// must not take all memory. Kafka's largest batch is 1 MiB by default.
const maxDecompressed = 256 << 20

// Reader reads given partitions from given offsets on. It joins no group and
// keeps control records, so that every gap between offsets is either
// compaction or explained. An offset that is gone is an error, never a jump.
type Reader struct {
	conn    *Conn
	client  *kgo.Client
	heard   *heard
	failing map[Ref]failure // by partition; only Poll uses it
}

// failure is how long a partition has failed in a way that usually passes.
type failure struct{ since, last time.Time }

// NewReader starts to read: topic, partition, first offset. The extra options
// are applied last and tune sizes. The caller closes the Reader.
func (c *Conn) NewReader(starts map[string]map[int32]int64, isolation Isolation, extra ...kgo.Opt) (*Reader, error) {
	offsets := make(map[string]map[int32]kgo.Offset, len(starts))
	for topic, partitions := range starts {
		offsets[topic] = make(map[int32]kgo.Offset, len(partitions))
		for partition, offset := range partitions {
			if offset < 0 {
				return nil, fault.New(fault.Bug, ReadRecords.String(), "%s: offset %d is not an offset", Partition(topic, partition), offset)
			}
			offsets[topic][partition] = kgo.NewOffset().At(offset)
		}
	}
	level := kgo.ReadUncommitted()
	if isolation == ReadCommitted {
		level = kgo.ReadCommitted()
	}
	r := &Reader{conn: c, heard: &heard{}, failing: map[Ref]failure{}}
	opts := append([]kgo.Opt{
		kgo.ConsumePartitions(offsets),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.FetchIsolationLevel(level),
		kgo.KeepControlRecords(),
		kgo.KeepRetryableFetchErrors(),
		kgo.FetchMaxWait(pollSlice),
		kgo.MaxDecompressBatchBytes(maxDecompressed),
		kgo.WithHooks(r.heard),
	}, extra...)
	client, err := c.NewClient(opts...)
	if err != nil {
		return nil, err
	}
	r.client = client
	return r, nil
}

// Poll waits for records and returns up to limit of them; limit 0 or less
// means all that are buffered. It returns no records and no error when the
// brokers answered and had none: that alone is not the end of a partition. It
// must not be called from two goroutines at once.
//
// An error is a fault: of one partition (and the records of the others are
// returned beside it), or Unreachable after the request timeout without any
// answer, or Cancelled.
func (r *Reader) Poll(ctx context.Context, limit int) (kgo.Fetches, error) {
	began := time.Now()
	answers := r.heard.fetches.Load()
	for {
		slice, cancel := context.WithTimeout(ctx, pollSlice)
		fetches := r.client.PollRecords(slice, limit)
		cancel()
		err := r.fetchError(fetches)
		switch {
		case ctx.Err() != nil && fetches.Empty():
			return nil, cancelled(ctx, ReadRecords.String())
		case err != nil || !fetches.Empty():
			return fetches, err
		case r.heard.fetches.Load() > answers+1:
			return nil, nil
		case time.Since(began) > r.conn.config.RequestTimeout:
			silence := fmt.Errorf("no broker answered for %s: %w", r.conn.config.RequestTimeout, context.DeadlineExceeded)
			return nil, r.conn.Explain(silence, ReadRecords)
		}
	}
}

// Client is the Reader's client, for AddConsumePartitions and the like.
func (r *Reader) Client() *kgo.Client { return r.client }

// Close ends reading.
func (r *Reader) Close() { r.client.Close() }

// fetchError is the first error of a partition that is not the end of a wait.
// One that franz-go may still repair, such as a change of leader, counts once
// it has lasted for the request timeout.
func (r *Reader) fetchError(fetches kgo.Fetches) error {
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		if len(r.failing) > 0 && len(p.Records) > 0 {
			delete(r.failing, Partition(p.Topic, p.Partition))
		}
	})
	for _, e := range fetches.Errors() {
		if errors.Is(e.Err, context.DeadlineExceeded) || errors.Is(e.Err, context.Canceled) {
			continue
		}
		ref := Partition(e.Topic, e.Partition)
		if e.Partition < 0 { // an error of the topic as a whole
			ref = Topic(e.Topic)
		}
		f := r.conn.Explain(e.Err, ReadRecords, ref)
		if f.Kind != fault.Unreachable || r.lasts(ref, time.Now()) {
			return f
		}
	}
	return nil
}

// lasts notes a failure of ref and reports whether it has lasted too long.
func (r *Reader) lasts(ref Ref, now time.Time) bool {
	limit := r.conn.config.RequestTimeout
	f, ok := r.failing[ref]
	if !ok || now.Sub(f.last) > limit {
		f.since = now
	}
	f.last = now
	r.failing[ref] = f
	return now.Sub(f.since) > limit
}

// heard counts the fetch requests that brokers answered.
type heard struct{ fetches atomic.Int64 }

// OnBrokerE2E implements kgo.HookBrokerE2E.
func (h *heard) OnBrokerE2E(_ kgo.BrokerMetadata, key int16, e2e kgo.BrokerE2E) {
	if key == int16(kmsg.Fetch) && e2e.Err() == nil {
		h.fetches.Add(1)
	}
}
