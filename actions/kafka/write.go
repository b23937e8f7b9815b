package kafka

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

const metadataAge = 100 * time.Millisecond

func (s *session) CreateControlTopic(ctx context.Context, name string, replication int16) error {
	ctx, cancel := s.step(ctx)
	defer cancel()
	policy := "compact"
	resp, err := s.conn.Admin().CreateTopic(ctx, 1, replication, map[string]*string{"cleanup.policy": &policy}, name)
	if err == nil {
		err = resp.Err
	}
	if err == nil {
		return nil
	}
	f := s.conn.Explain(err, kafkaconn.CreateTopic, kafkaconn.Topic(name))
	if resp.ErrMessage != "" && !errors.Is(err, kerr.TopicAlreadyExists) {
		clone := *f
		clone.Message += " (" + safetext.Of(resp.ErrMessage).String() + ")"
		return &clone
	}
	return f
}

// leastDelivery is the shortest time that the client takes for a record.
const leastDelivery = time.Second

func (s *session) Append(ctx context.Context, topic string, key, value []byte) (int64, error) {
	ctx, cancel := s.step(ctx)
	defer cancel()
	timeout := s.conn.RequestTimeout()
	producer, err := s.conn.NewClient(
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerLinger(0),
		kgo.ProducerBatchCompression(kgo.NoCompression()),
		kgo.ProduceRequestTimeout(timeout),
		// After a lost connection the record is sent again when the leader was looked
		// up again, for which franz-go would let 5 s pass.
		kgo.MetadataMinAge(metadataAge),
		kgo.RecordDeliveryTimeout(max(timeout, leastDelivery)), // ctx ends it earlier
		// A broker that has forgotten the producer could not tell a repetition.
		kgo.StopProducerOnDataLossDetected(),
		// Without it the client waits for an answer for ever. With it a record that
		// is given up may still be written, which is what reading settles. This
		// producer writes nothing else, so nothing can be written twice.
		kgo.AllowIdempotentProduceCancellation(),
	)
	if err != nil {
		return 0, err
	}
	defer producer.Close()
	record := &kgo.Record{Topic: topic, Partition: 0, Key: key, Value: value}
	if err := producer.ProduceSync(ctx, record).FirstErr(); err != nil {
		return 0, s.conn.Explain(err, kafkaconn.WriteRecords, kafkaconn.Partition(topic, 0))
	}
	return record.Offset, nil
}

// Trim asks each leader itself, and not through the client's own routing: that
// would send a request again, to another leader, without anybody having looked
// at the log in between.
func (s *session) Trim(ctx context.Context, topic string, targets []Target) []Trimmed {
	ctx, cancel := s.step(ctx)
	defer cancel()
	out := make([]Trimmed, len(targets))
	byLeader := make(map[int32][]int) // places in out
	for i, t := range targets {
		out[i].Target = t
		byLeader[t.leader] = append(byLeader[t.leader], i)
	}
	var wg sync.WaitGroup
	for leader, places := range byLeader {
		wg.Go(func() {
			mine := make([]*Trimmed, len(places))
			for i, place := range places {
				mine[i] = &out[place]
			}
			s.trimAt(ctx, topic, leader, mine)
		})
	}
	wg.Wait()
	return out
}

// trimAt asks one leader once.
func (s *session) trimAt(ctx context.Context, topic string, leader int32, trims []*Trimmed) {
	if leader < 0 {
		for _, t := range trims {
			t.Err = s.conn.Explain(kerr.LeaderNotAvailable, kafkaconn.DeleteRecords, kafkaconn.Partition(topic, t.partition))
		}
		return
	}
	req := kmsg.NewPtrDeleteRecordsRequest()
	req.TimeoutMillis = int32(s.conn.RequestTimeout().Milliseconds())
	asked := kmsg.NewDeleteRecordsRequestTopic()
	asked.Topic = topic
	for _, t := range trims {
		part := kmsg.NewDeleteRecordsRequestTopicPartition()
		part.Partition, part.Offset = t.partition, t.Offset()
		asked.Partitions = append(asked.Partitions, part)
	}
	req.Topics = []kmsg.DeleteRecordsRequestTopic{asked}

	answers := make(map[int32]kmsg.DeleteRecordsResponseTopicPartition, len(trims))
	resp, err := s.conn.Client().Broker(int(leader)).Request(ctx, req)
	if err == nil {
		for _, rt := range resp.(*kmsg.DeleteRecordsResponse).Topics {
			if rt.Topic != topic {
				continue
			}
			for _, rp := range rt.Partitions {
				answers[rp.Partition] = rp
			}
		}
	}
	for _, t := range trims {
		ref := kafkaconn.Partition(topic, t.partition)
		answer, ok := answers[t.partition]
		switch {
		case err != nil:
			t.Err = s.conn.Explain(err, kafkaconn.DeleteRecords, ref)
		case !ok:
			t.Err = fault.New(fault.Unknown, kafkaconn.DeleteRecords.String(), "%s: the broker left it out of its answer, so it is unknown whether it was done", ref).WithRef(string(ref))
		case answer.ErrorCode != 0:
			t.Err = s.conn.Explain(kerr.ErrorForCode(answer.ErrorCode), kafkaconn.DeleteRecords, ref)
		default:
			t.LogStart = answer.LowWatermark
		}
	}
}
