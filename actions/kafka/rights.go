package kafka

import (
	"context"
	"math"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
)

// Allows asks a broker what the user may do with the topic, and the topic's
// leaders whether they know the request at all. Of what is not said, nothing is
// concluded: the request itself will tell.
func (s *session) Allows(ctx context.Context, topic string, what kafkaconn.Request) error {
	about := kafkaconn.Topic(topic)
	found, err := s.permissions(ctx, topic)
	if err != nil {
		return s.conn.Explain(err, kafkaconn.DescribeTopic, about)
	}
	told := found.ErrorCode == 0 && found.AuthorizedOperations != math.MinInt32
	if told && !slices.Contains(kadm.DecodeACLOperations(found.AuthorizedOperations), operationOf(what)) {
		return s.conn.Explain(kerr.TopicAuthorizationFailed, what, about)
	}
	if what == kafkaconn.DeleteRecords && s.lacks(ctx, found, kmsg.DeleteRecords) {
		return s.conn.Explain(kerr.UnsupportedVersion, what, about)
	}
	return nil
}

// permissions asks what a topic is, and what this user may do with it.
func (s *session) permissions(ctx context.Context, topic string) (kmsg.MetadataResponseTopic, error) {
	ctx, cancel := s.step(ctx)
	defer cancel()
	req := kmsg.NewPtrMetadataRequest()
	asked := kmsg.NewMetadataRequestTopic()
	asked.Topic = kmsg.StringPtr(topic)
	req.Topics, req.IncludeTopicAuthorizedOperations = []kmsg.MetadataRequestTopic{asked}, true
	resp, err := req.RequestWith(ctx, s.conn.Client())
	if err != nil || len(resp.Topics) == 0 {
		return kmsg.MetadataResponseTopic{AuthorizedOperations: math.MinInt32}, err
	}
	return resp.Topics[0], nil
}

// lacks reports whether a leader of the topic says that it does not know a
// request. One that does not answer says nothing.
func (s *session) lacks(ctx context.Context, topic kmsg.MetadataResponseTopic, key kmsg.Key) bool {
	ctx, cancel := s.step(ctx)
	defer cancel()
	req := kmsg.NewPtrApiVersionsRequest()
	req.ClientSoftwareName, req.ClientSoftwareVersion = "recoverctl", "1" // a broker wants both
	asked := map[int32]bool{-1: true}                                     // no leader
	for _, p := range topic.Partitions {
		if asked[p.Leader] {
			continue
		}
		asked[p.Leader] = true
		resp, err := req.RequestWith(ctx, s.conn.Client().Broker(int(p.Leader)))
		if err != nil || resp.ErrorCode != 0 {
			continue
		}
		if !slices.ContainsFunc(resp.ApiKeys, func(k kmsg.ApiVersionsResponseApiKey) bool { return k.ApiKey == int16(key) }) {
			return true
		}
	}
	return false
}

// operationOf is the right that a request of this package needs on a topic.
func operationOf(what kafkaconn.Request) kadm.ACLOperation {
	switch what {
	case kafkaconn.DeleteRecords:
		return kadm.OpDelete
	case kafkaconn.ReadRecords:
		return kadm.OpRead
	default:
		return kadm.OpWrite
	}
}

// mayWrite asks for the rights that an apply needs in the end, while nothing is
// written yet: a boundary that is in force and can't be followed by a deletion
// helps nobody. A control topic that is not there yet can't be asked about.
func (c *Cleanup) mayWrite(ctx context.Context) error {
	cluster, err := c.open(ctx)
	if err != nil {
		return at(actions.StageOperations, err)
	}
	if c.found {
		if err := c.mayRecord(ctx, cluster); err != nil {
			return err
		}
	}
	return at(actions.StageDelete, cluster.Allows(ctx, c.Plan.Topic, kafkaconn.DeleteRecords))
}

// mayRecord asks for the rights on the control topic. That of reading it shows by
// itself only when there is a record to be read, which COMMITTED would be.
func (c *Cleanup) mayRecord(ctx context.Context, cluster Cluster) error {
	for _, what := range []kafkaconn.Request{kafkaconn.ReadRecords, kafkaconn.WriteRecords} {
		if err := cluster.Allows(ctx, c.control(), what); err != nil {
			return at(actions.StageCommit, err)
		}
	}
	return nil
}

// recorded says what the plan's own record says already, and where something is
// still to be written, that the user may do so.
func (c *Cleanup) recorded(ctx context.Context, _ *actions.StepProgress) (string, error) {
	if c.history.Status() == inspect.StatusApplied {
		return "the plan is recorded as APPLIED: nothing is left to be done", nil
	}
	if err := c.mayWrite(ctx); err != nil {
		return "", err
	}
	if c.history.Status() == inspect.StatusCommitted {
		return "the plan is recorded as COMMITTED: its boundary is in force, and the cleanup goes on with step 8", nil
	}
	return "the plan is not recorded: it is a new one", nil
}
