package kafka

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
)

// topic is what a cluster says of one topic at one moment. The partitions are in
// ascending order; a topic that does not exist has neither id nor partitions.
type topic struct {
	name       string
	clusterID  string
	exists     bool
	id         [16]byte
	partitions []kmsg.MetadataResponseTopicPartition
}

// idText is the topic id as Kafka writes it: URL-safe base64 without padding, 22
// characters.
func (t topic) idText() string { return base64.RawURLEncoding.EncodeToString(t.id[:]) }

// ids are the partition numbers, ascending.
func (t topic) ids() []int32 {
	ids := make([]int32, 0, len(t.partitions))
	for _, p := range t.partitions {
		ids = append(ids, p.Partition)
	}
	return ids
}

// leader is the broker that leads a partition, -1 when none does.
func (t topic) leader(partition int32) int32 {
	for _, p := range t.partitions {
		if p.Partition == partition {
			return p.Leader
		}
	}
	return -1
}

// topic asks the cluster, and no cache, what a topic is now. The request never
// creates the topic.
func (s *Store) topic(ctx context.Context, name string) (topic, error) {
	t := topic{name: name}
	if name == "" {
		return t, fault.New(fault.Config, kafkaconn.DescribeTopic.String(), "the name of the topic is empty")
	}
	ctx, cancel := s.step(ctx)
	defer cancel()
	req := kmsg.NewPtrMetadataRequest()
	asked := kmsg.NewMetadataRequestTopic()
	asked.Topic = kmsg.StringPtr(name)
	req.Topics = []kmsg.MetadataRequestTopic{asked}
	resp, err := req.RequestWith(ctx, s.conn.Client())
	if err != nil {
		return t, s.conn.Explain(err, kafkaconn.DescribeTopic, kafkaconn.Topic(name))
	}
	t.clusterID = text(resp.ClusterID)
	if len(resp.Topics) != 1 || text(resp.Topics[0].Topic) != name {
		return t, fault.New(fault.Corrupt, kafkaconn.DescribeTopic.String(), "the broker was asked about topic %s and answered about %d others", show(name), len(resp.Topics)).
			WithRef(string(kafkaconn.Topic(name)))
	}
	answer := resp.Topics[0]
	switch err := kerr.ErrorForCode(answer.ErrorCode); {
	case err == nil:
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		return t, nil
	case errors.Is(err, kerr.TopicAuthorizationFailed):
		return t, s.conn.Explain(err, kafkaconn.DescribeTopic, kafkaconn.Topic(name)).
			WithHint("ask for an ACL that allows Describe on the topic; without it a cluster does not even say whether the topic exists")
	case errors.Is(err, kerr.InvalidTopicException):
		return t, fault.Wrap(fault.Config, kafkaconn.DescribeTopic.String(), err, "%s can't be the name of a topic", show(name)).WithRef(string(kafkaconn.Topic(name)))
	default:
		return t, s.conn.Explain(err, kafkaconn.DescribeTopic, kafkaconn.Topic(name))
	}
	if answer.TopicID == [16]byte{} {
		return t, fault.New(fault.Unsupported, kafkaconn.DescribeTopic.String(), "the broker gives no id for topic %s: it is older than Kafka 2.8", show(name)).
			WithHint("without topic ids a recreated topic can't be told from the old one; upgrade the brokers").
			WithRef(string(kafkaconn.Topic(name)))
	}
	t.exists, t.id, t.partitions = true, answer.TopicID, answer.Partitions
	slices.SortFunc(t.partitions, func(a, b kmsg.MetadataResponseTopicPartition) int { return cmp.Compare(a.Partition, b.Partition) })
	return t, nil
}

// unchanged asks again what the topic is and refuses when it is no longer what
// it was: everything that was asked by its name in between may be about either.
func (s *Store) unchanged(ctx context.Context, before topic) error {
	after, err := s.topic(ctx, before.name)
	if err != nil {
		return err
	}
	drift := func(format string, args ...any) error {
		return fault.New(fault.Drift, kafkaconn.DescribeTopic.String(), format, args...).
			WithHint("read it again; if it happens again, find out who changes the topic").
			WithRef(string(kafkaconn.Topic(before.name)))
	}
	name := show(before.name)
	switch {
	case !after.exists:
		return drift("topic %s was deleted while being read; its id was %s", name, before.idText())
	case after.id != before.id:
		return drift("topic %s was recreated while being read: its id was %s and is now %s", name, before.idText(), after.idText())
	case !slices.Equal(after.ids(), before.ids()):
		return drift("topic %s had %d partitions and now has %d: they were added while it was read", name, len(before.partitions), len(after.partitions))
	default:
		return nil
	}
}
