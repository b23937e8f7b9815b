package kafka

import (
	"context"
	"errors"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

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
