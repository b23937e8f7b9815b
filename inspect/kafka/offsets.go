package kafka

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
)

// edge is one of the offsets that a leader can be asked for.
type edge struct {
	name      string
	timestamp int64 // Kafka's word for the offset: -2 the first, -1 the next one; or a time in ms
	committed bool
	optional  bool // a partition may have none: its leader then answers -1
}

var (
	logStart   = edge{name: "log start", timestamp: -2}
	logEnd     = edge{name: "log end", timestamp: -1} // the high watermark
	lastStable = edge{name: "last stable offset", timestamp: -1, committed: true}
)

// listed is one answer: an offset, or why there is none.
type listed struct {
	offset int64
	err    error
}

// listAttempts is how often a partition is asked while its leader says that it
// can't answer yet, as one does right after its election.
const listAttempts = 4

// list asks the leaders of all partitions for an offset. The result has an entry
// for every partition of the topic.
func (s *Store) list(ctx context.Context, t topic, e edge) map[int32]listed {
	ctx, cancel := s.step(ctx)
	defer cancel()
	out := make(map[int32]listed, len(t.partitions))
	var ask []int32
	for _, p := range t.partitions {
		if p.Leader < 0 {
			// Asking would only wait: the cluster has just said that nobody can answer.
			out[p.Partition] = listed{err: fault.New(fault.Unreachable, kafkaconn.ListOffsets.String(), "partition %d of topic %s has no leader, so its %s is not known",
				p.Partition, show(t.name), e.name).WithHint("bring a broker that holds a replica of it back").WithRef(string(kafkaconn.Partition(t.name, p.Partition)))}
			continue
		}
		ask = append(ask, p.Partition)
	}
	for attempt := 1; len(ask) > 0; attempt++ {
		answers := s.listOnce(ctx, t, e, ask)
		var again []int32
		for _, p := range ask {
			a, ok := answers[p]
			switch {
			case !ok:
				a.err = fault.New(fault.Corrupt, kafkaconn.ListOffsets.String(), "the broker left partition %d of topic %s out of its answer about the %s",
					p, show(t.name), e.name).WithRef(string(kafkaconn.Partition(t.name, p)))
			case a.err == nil && a.offset < 0 && !e.optional:
				a.err = fault.New(fault.Corrupt, kafkaconn.ListOffsets.String(), "the broker answered %d as the %s of partition %d of topic %s",
					a.offset, e.name, p, show(t.name)).WithRef(string(kafkaconn.Partition(t.name, p)))
			case a.err != nil && kerr.IsRetriable(a.err) && attempt < listAttempts:
				again = append(again, p)
				continue
			case a.err != nil:
				a.err = s.conn.Explain(a.err, kafkaconn.ListOffsets, kafkaconn.Partition(t.name, p))
			}
			out[p] = a
		}
		if ask = again; len(ask) > 0 {
			// When ctx ends here, the next round says so for each partition.
			_ = pause(ctx)
		}
	}
	return out
}

// listOnce asks once. Errors are as Kafka or the client gave them.
func (s *Store) listOnce(ctx context.Context, t topic, e edge, partitions []int32) map[int32]listed {
	req := kmsg.NewPtrListOffsetsRequest()
	if e.committed {
		req.IsolationLevel = readCommitted
	}
	asked := kmsg.NewListOffsetsRequestTopic()
	asked.Topic = t.name
	for _, p := range partitions {
		part := kmsg.NewListOffsetsRequestTopicPartition()
		part.Partition, part.Timestamp = p, e.timestamp
		asked.Partitions = append(asked.Partitions, part)
	}
	req.Topics = []kmsg.ListOffsetsRequestTopic{asked}

	out := make(map[int32]listed, len(partitions))
	for _, shard := range s.conn.Client().RequestSharded(ctx, req) {
		if shard.Err != nil {
			for _, st := range shard.Req.(*kmsg.ListOffsetsRequest).Topics {
				for _, p := range st.Partitions {
					out[p.Partition] = listed{err: shard.Err}
				}
			}
			continue
		}
		for _, st := range shard.Resp.(*kmsg.ListOffsetsResponse).Topics {
			for _, p := range st.Partitions {
				out[p.Partition] = listed{offset: p.Offset, err: kerr.ErrorForCode(p.ErrorCode)}
			}
		}
	}
	return out
}

// partitions are the topic's partitions with their log ranges as of now. The
// starts are listed first: neither edge moves back, so that a start never lies
// past its end.
func (s *Store) partitions(ctx context.Context, t topic) []inspect.Partition {
	starts := s.list(ctx, t, logStart)
	ends := s.list(ctx, t, logEnd)
	out := make([]inspect.Partition, 0, len(t.partitions))
	for _, p := range t.partitions {
		start, end := starts[p.Partition], ends[p.Partition]
		part := inspect.Partition{ID: p.Partition, Leader: p.Leader}
		switch {
		case start.err != nil:
			part.Err = start.err
		case end.err != nil:
			part.Err = end.err
		case start.offset > end.offset:
			part.Err = fault.New(fault.Drift, kafkaconn.ListOffsets.String(), "partition %d of topic %s begins at %d and then ended at %d: its log was truncated while being read",
				p.Partition, show(t.name), start.offset, end.offset).WithRef(string(kafkaconn.Partition(t.name, p.Partition)))
		default:
			part.Log = inspect.LogRange{Start: start.offset, End: end.offset}
		}
		out = append(out, part)
	}
	return out
}
