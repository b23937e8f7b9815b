package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
)

const (
	readCommitted = 1 // isolation level, as requests write it

	fetchBytes  = 1 << 20 // of one answer; a larger first batch comes whole
	fetchWait   = 200     // ms that a leader may wait before it says that there is nothing
	emptyProofs = 3       // answers without a batch, in a row, that prove that nothing is stored
)

// reader reads one partition of a topic through the fetch requests themselves. A
// polling consumer would not do: it does not tell how far it has come when the
// last offsets before the end hold nothing to return, be it because their
// transaction was aborted, because they are a transaction's own markers or
// because compaction took them. The batches say that: each states its last
// offset, also when its records are gone.
type reader struct {
	store       *Store
	topic       topic
	partition   int32
	end         int64
	uncommitted bool // records of open and aborted transactions are read too
	control     bool // so are the records that end transactions
	decompress  kgo.Decompressor

	// For whoever walks the batches itself: they are given as they came.
	raw    bool
	client *kgo.Client // nil: the store's
	limit  int32       // bytes of the next answer; 0: fetchBytes
	most   int32       // the limit doubles with each page, up to this; 0: it stays
}

// newReader returns a reader of the committed records of partition 0.
func newReader(s *Store, t topic, end int64) *reader {
	decompress, ok := s.conn.Client().OptValue(kgo.WithDecompressor).(kgo.Decompressor)
	if !ok {
		decompress = kgo.DefaultDecompressor()
	}
	return &reader{store: s, topic: t, end: end, decompress: decompress}
}

// answer is what a leader says to one fetch.
type answer struct {
	records []*kgo.Record
	batches []byte // instead of records, where they are read raw
	next    int64  // the offset after the last batch
	bytes   int    // of batches
	stable  int64  // what the leader lets be read: its last stable offset, or its high watermark
}

// errNoAnswer is an answer that leaves the partition out, as a broker gives it
// to a client that is over its quota.
var errNoAnswer = errors.New("the broker put the request off: this client is over its quota")

// advance reads on from position, which must be less than the end. It returns
// the records of at least one batch and the offset to go on from, which is
// greater than position, within the time limit of one step.
func (r *reader) advance(ctx context.Context, position int64) ([]*kgo.Record, int64, error) {
	a, err := r.answer(ctx, position)
	return a.records, a.next, err
}

// answer is advance with all that was answered.
func (r *reader) answer(ctx context.Context, position int64) (answer, error) {
	ctx, cancel := r.store.step(ctx)
	defer cancel()
	empty := 0
	var behind, before error // what kept the reader waiting last: a leader that has less, or an answer of no use
	for {
		a, err := r.fetch(ctx, position)
		switch {
		case err != nil && behind != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
			return answer{}, behind
		case err != nil && before != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
			return answer{}, r.unanswered(before)
		case err != nil && !r.retriable(err):
			return answer{}, r.refused(err, position)
		case err != nil:
			empty = 0
			before = r.refused(err, position)
			if err := r.again(ctx, err, position); err != nil {
				return answer{}, err
			}
		case a.next > position:
			return a, nil
		case a.bytes > 0:
			return answer{}, r.undecodable(errors.New("the batch does not hold the records that it announces"), position)
		case a.stable < r.end:
			// A new leader may not have caught up with what the old one promised.
			// If it never does, records that were acknowledged are lost.
			empty = 0
			edge := lastStable
			if r.uncommitted {
				edge = logEnd
			}
			lost := fault.New(fault.Drift, kafkaconn.ReadRecords.String(), "the %s of %s went back from %d to %d while it was read", edge.name, r.what(), r.end, a.stable).
				WithHint("a leader may have been elected without all records; compare its replicas before anything is cleaned up").
				WithRef(r.ref())
			behind = lost
			if err := r.again(ctx, lost, position); err != nil {
				return answer{}, err
			}
		default:
			// The leader looked from position on and had until the end of its wait to
			// find a batch. Compaction can leave such a tail; being asked more than
			// once keeps one odd answer from being an end.
			before = nil
			if empty++; empty == emptyProofs {
				return answer{next: r.end, stable: a.stable}, nil
			}
		}
	}
}

// fetch asks the leader once for batches from position on. Outside a fetch
// session, and without a group: nothing on the cluster remembers the question.
func (r *reader) fetch(ctx context.Context, position int64) (answer, error) {
	req := kmsg.NewPtrFetchRequest()
	if !r.uncommitted {
		req.IsolationLevel = readCommitted
	}
	limit := cmp.Or(r.limit, fetchBytes)
	req.MaxBytes, req.MinBytes, req.MaxWaitMillis = limit, 1, fetchWait
	asked := kmsg.NewFetchRequestTopic()
	asked.Topic, asked.TopicID = r.topic.name, r.topic.id // which one is sent depends on the version
	part := kmsg.NewFetchRequestTopicPartition()
	part.Partition, part.FetchOffset, part.PartitionMaxBytes = r.partition, position, limit
	asked.Partitions = []kmsg.FetchRequestTopicPartition{part}
	req.Topics = []kmsg.FetchRequestTopic{asked}

	leader := r.topic.leader(r.partition)
	if leader < 0 {
		return answer{}, kerr.LeaderNotAvailable
	}
	client := r.client
	if client == nil {
		client = r.store.conn.Client()
	}
	kresp, err := client.Broker(int(leader)).RetriableRequest(ctx, req)
	if err != nil {
		return answer{}, err
	}
	resp := kresp.(*kmsg.FetchResponse)
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return answer{}, err
	}
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 || resp.Topics[0].Partitions[0].Partition != r.partition {
		return answer{}, errNoAnswer
	}
	rp := &resp.Topics[0].Partitions[0]
	if err := kerr.ErrorForCode(rp.ErrorCode); err != nil {
		return answer{}, err
	}
	return r.decode(rp, position)
}

// decode takes the records out of the batches of an answer. A batch is taken
// whole or not at all: one that can't be decoded is an error, also after others
// that could, and is never stepped over.
func (r *reader) decode(rp *kmsg.FetchResponseTopicPartition, position int64) (answer, error) {
	if r.raw {
		return answer{batches: rp.RecordBatches, next: nextOffset(rp.RecordBatches, position), bytes: len(rp.RecordBatches), stable: rp.HighWatermark}, nil
	}
	isolation := kgo.ReadCommitted()
	if r.uncommitted {
		isolation = kgo.ReadUncommitted()
	}
	got, next := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{
		Offset: position, IsolationLevel: isolation, Topic: r.topic.name, Partition: r.partition, KeepControlRecords: r.control,
	}, rp, r.decompress, nil)
	if got.Err != nil {
		return answer{}, r.undecodable(got.Err, position)
	}
	stable := rp.LastStableOffset
	if r.uncommitted {
		stable = rp.HighWatermark
	}
	return answer{records: got.Records, next: next, bytes: len(rp.RecordBatches), stable: stable}, nil
}

// again prepares the next attempt: it waits, and asks who leads the partition
// now. It fails when the topic is no longer the same one, and with the reason
// for the attempt when time is up.
func (r *reader) again(ctx context.Context, reason error, position int64) error {
	if pause(ctx) != nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			reason = ctx.Err()
		}
		return r.refused(reason, position)
	}
	now, err := r.store.topic(ctx, r.topic.name)
	switch {
	case err != nil && ctx.Err() == nil:
		return err
	case err != nil:
		return r.refused(reason, position)
	case !now.exists || now.id != r.topic.id || !slices.Equal(now.ids(), r.topic.ids()):
		return r.store.unchanged(ctx, r.topic)
	}
	r.topic = now
	return nil
}

// retriable reports whether a leader may answer when it is asked again. A
// damaged batch stays damaged, whatever Kafka's own table says. A scan, which asks
// thousands of times, also asks again where a broker could not finish a request
// and does not say why.
func (r *reader) retriable(err error) bool {
	if r.raw && errors.Is(err, kerr.UnknownServerError) {
		return true
	}
	return errors.Is(err, errNoAnswer) || kerr.IsRetriable(err) && !errors.Is(err, kerr.CorruptMessage)
}

// refused is the fault for a fetch that failed for good.
func (r *reader) refused(err error, position int64) error {
	var f *fault.Fault
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, kerr.OffsetOutOfRange):
		hint := "read it again; records of a control topic must never be deleted"
		if r.uncommitted {
			hint = "read it again: retention or a deletion moved the log start"
		}
		return fault.Wrap(fault.Drift, kafkaconn.ReadRecords.String(), err, "offset %d of %s is gone: its log was cut while it was read", position, r.what()).
			WithHint("%s", hint).WithRef(r.ref())
	case errors.Is(err, kerr.CorruptMessage):
		return r.undecodable(err, position)
	case errors.Is(err, errNoAnswer):
		return fault.Wrap(fault.Unreachable, kafkaconn.ReadRecords.String(), err, "%s could not be read from offset %d on", r.what(), position).
			WithHint("raise the quota of this client, or --timeout").WithRef(r.ref())
	default:
		return r.store.conn.Explain(err, kafkaconn.ReadRecords, kafkaconn.Partition(r.topic.name, r.partition))
	}
}

// unanswered is the fault for a fetch that was under way when time was up, after
// others that were answered to no use: both are said.
func (r *reader) unanswered(before error) error {
	last := fault.Of(before)
	return fault.Wrap(last.Kind, kafkaconn.ReadRecords.String(), before, "the last request to read records had no answer in time, and the one before it had this").
		WithHint("%s", last.Hint).WithRef(r.ref())
}

// undecodable is the fault for a batch that can't be decoded.
func (r *reader) undecodable(err error, position int64) error {
	if _, ok := errors.AsType[*kgo.ErrDecompressTooLarge](err); ok {
		// The client's own words are advice to a program.
		err = errors.New("it says that it is larger than any batch may be")
	}
	return fault.Wrap(fault.Corrupt, kafkaconn.ReadRecords.String(), err, "a batch of %s at or after offset %d can't be decoded", r.what(), position).
		WithHint("dump the partition on its brokers (kafka-dump-log) and compare the replicas").WithRef(r.ref())
}

// what names the partition in a sentence, and the topic alone where it has one.
func (r *reader) what() string {
	if len(r.topic.partitions) == 1 {
		return "topic " + show(r.topic.name)
	}
	return fmt.Sprintf("partition %d of topic %s", r.partition, show(r.topic.name))
}

func (r *reader) ref() string { return string(kafkaconn.Partition(r.topic.name, r.partition)) }
