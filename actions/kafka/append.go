package kafka

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
)

const (
	allInSync   = -1 // acks: all in-sync replicas have it
	appendAgain = 100 * time.Millisecond

	// The batch format of Kafka's protocol, version 2: its checksum covers what
	// comes after it, and its length what comes after that field.
	batchMagic      = 2
	batchLengthEnd  = 12
	batchChecksumAt = 17
	batchCRCFrom    = 21
)

// Append sends the record until a broker says that it has it, or the step's time
// is over. Repeating is safe: see producerID.
func (s *session) Append(ctx context.Context, topic string, plan inspect.CleanupPlan, status inspect.OperationStatus) (int64, error) {
	ctx, cancel := s.step(ctx)
	defer cancel()
	batch := recordBatch(producerID(plan.PlanID, status), []byte(plan.PlanID), actions.EncodeRecord(plan, status), time.Now())
	ref := kafkaconn.Partition(topic, 0)
	var doubt error // of a request that may have been done
	for {
		offset, err := s.produce(ctx, topic, batch)
		if err == nil {
			return offset, nil
		}
		code, answered := errors.AsType[*kerr.Error](err)
		f := s.conn.Explain(err, kafkaconn.WriteRecords, ref)
		if doubt == nil && f.Kind == fault.Unknown {
			doubt = f
		}
		again := !answered || code.Retriable
		if !again || actions.Pause(ctx, appendAgain) != nil {
			if doubt != nil {
				return 0, doubt
			}
			return 0, f
		}
	}
}

// produce asks the leader of the moment once.
func (s *session) produce(ctx context.Context, topic string, batch []byte) (int64, error) {
	leader, id, err := s.leaderOf(ctx, topic)
	if err != nil {
		return 0, s.conn.Explain(err, kafkaconn.DescribeTopic, kafkaconn.Topic(topic))
	}
	req := kmsg.NewPtrProduceRequest()
	req.Acks = allInSync
	req.TimeoutMillis = int32(s.conn.RequestTimeout().Milliseconds())
	part := kmsg.NewProduceRequestTopicPartition()
	part.Records = batch
	asked := kmsg.NewProduceRequestTopic()
	asked.Topic, asked.TopicID, asked.Partitions = topic, id, []kmsg.ProduceRequestTopicPartition{part}
	req.Topics = []kmsg.ProduceRequestTopic{asked}
	resp, err := s.conn.Client().Broker(int(leader)).Request(ctx, req)
	if err != nil {
		return 0, err
	}
	topics := resp.(*kmsg.ProduceResponse).Topics
	if len(topics) != 1 || len(topics[0].Partitions) != 1 {
		return 0, fault.New(fault.Unknown, kafkaconn.WriteRecords.String(), "the broker's answer is about %d topics and not about one partition, so it is unknown whether it was done", len(topics)).
			WithHint("read the state again before anything else is done")
	}
	answer := topics[0].Partitions[0]
	return answer.BaseOffset, kerr.ErrorForCode(answer.ErrorCode)
}

// leaderOf is the broker that leads partition 0, and the topic's id.
func (s *session) leaderOf(ctx context.Context, topic string) (leader int32, id [16]byte, err error) {
	metadata, err := s.conn.Admin().Metadata(ctx, topic)
	if err != nil {
		return 0, id, err
	}
	answer := metadata.Topics[topic]
	if answer.Err != nil {
		return 0, id, answer.Err
	}
	first, ok := answer.Partitions[0]
	if !ok || first.Leader < 0 {
		return 0, id, kerr.LeaderNotAvailable
	}
	return first.Leader, answer.ID, nil
}

// producerID is the id of the idempotent producer that writes the record of a
// plan and a status, as its first and only record. A broker that has a producer's
// record answers a repetition of it with the offset of the first. So a request
// that was given up and arrives after the plan was applied by another try, or by
// somebody else, can't put COMMITTED behind APPLIED, which every reader of the
// topic would refuse from then on.
//
// Brokers number the producers that ask for an id from 0 on, and take any id
// outside transactions. The ids here begin at 2^62.
func producerID(planID string, status inspect.OperationStatus) int64 {
	const first = 1 << 62
	sum := sha256.Sum256([]byte(planID + "\x00" + string(status)))
	return first | int64(binary.BigEndian.Uint64(sum[:])>>2)
}

// recordBatch is a batch of one record, as the first of its producer.
func recordBatch(producer int64, key, value []byte, at time.Time) []byte {
	record := kmsg.Record{Key: key, Value: value}
	body := record.AppendTo(nil)[1:] // behind the length, of one byte while it is 0
	record.Length = int32(len(body))
	millis := at.UnixMilli()
	batch := kmsg.RecordBatch{
		PartitionLeaderEpoch: -1, Magic: batchMagic,
		FirstTimestamp: millis, MaxTimestamp: millis,
		ProducerID: producer, ProducerEpoch: 0, FirstSequence: 0,
		NumRecords: 1, Records: record.AppendTo(nil),
	}
	out := batch.AppendTo(nil)
	binary.BigEndian.PutUint32(out[batchLengthEnd-4:], uint32(len(out)-batchLengthEnd))
	binary.BigEndian.PutUint32(out[batchChecksumAt:], crc32.Checksum(out[batchCRCFrom:], crc32.MakeTable(crc32.Castagnoli)))
	return out
}
