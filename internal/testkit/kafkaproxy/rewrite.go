package kafkaproxy

import (
	"fmt"
	"net"
	"strconv"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// serve takes a broker's answer: it is noted in the trace, and returned with
// the proxy's listeners in place of the brokers.
func (p *Proxy) serve(x *exchange, frame []byte) ([]byte, error) {
	if got, want := correlationOf(frame), x.trace.Correlation; got != want {
		return nil, fmt.Errorf("%w: %s was answered with correlation %d, not %d", errFrame, x.trace, got, want)
	}
	if x.req == nil || !looksInto(x.req, frame) {
		p.served(x, nil)
		return frame, nil
	}
	resp, head, err := parseAnswer(x.req, frame)
	if err != nil {
		return nil, err
	}
	p.served(x, resp)
	changed, err := p.rewrite(resp)
	if err != nil || !changed {
		return frame, err
	}
	return resp.AppendTo(head[:len(head):len(head)]), nil
}

// looksInto reports whether the proxy has to read an answer.
func looksInto(req kmsg.Request, frame []byte) bool {
	switch kmsg.Key(req.Key()) {
	case kmsg.Metadata, kmsg.FindCoordinator, kmsg.DescribeCluster, kmsg.Produce, kmsg.DeleteRecords, kmsg.CreateTopics:
		return true
	case kmsg.Fetch:
		return req.GetVersion() >= 16 // since when it may name a new leader
	case kmsg.ApiVersions:
		// A broker that does not know this version of it answers in the oldest one.
		return len(frame) >= 6 && frame[4] == 0 && frame[5] == 0
	}
	return false
}

// rewrite puts the proxy's listeners in place of brokers, and reports whether
// anything changed.
func (p *Proxy) rewrite(resp kmsg.Response) (changed bool, err error) {
	to := func(node int32, host *string, port *int32) {
		// No broker: an error stands beside it.
		if err != nil || *host == "" || *port < 0 {
			return
		}
		var b *broker
		if b, err = p.brokerAt(net.JoinHostPort(*host, strconv.Itoa(int(*port))), node); err != nil {
			return
		}
		*host, *port = b.host, b.port
		changed = true
	}
	switch resp := resp.(type) {
	case *kmsg.MetadataResponse:
		for i := range resp.Brokers {
			to(resp.Brokers[i].NodeID, &resp.Brokers[i].Host, &resp.Brokers[i].Port)
		}
	case *kmsg.DescribeClusterResponse:
		for i := range resp.Brokers {
			to(resp.Brokers[i].NodeID, &resp.Brokers[i].Host, &resp.Brokers[i].Port)
		}
	case *kmsg.FindCoordinatorResponse:
		to(resp.NodeID, &resp.Host, &resp.Port)
		for i := range resp.Coordinators {
			to(resp.Coordinators[i].NodeID, &resp.Coordinators[i].Host, &resp.Coordinators[i].Port)
		}
	case *kmsg.ProduceResponse:
		for i := range resp.Brokers {
			to(resp.Brokers[i].NodeID, &resp.Brokers[i].Host, &resp.Brokers[i].Port)
		}
	case *kmsg.FetchResponse:
		for i := range resp.Brokers {
			to(resp.Brokers[i].NodeID, &resp.Brokers[i].Host, &resp.Brokers[i].Port)
		}
	case *kmsg.ApiVersionsResponse:
		changed = capVersions(resp)
	}
	return changed, err
}

// capVersions takes away the versions that the proxy could not read.
func capVersions(resp *kmsg.ApiVersionsResponse) (changed bool) {
	for i := range resp.ApiKeys {
		k := &resp.ApiKeys[i]
		if req := kmsg.RequestForKey(k.ApiKey); req != nil && k.MaxVersion > req.MaxVersion() && k.MinVersion <= req.MaxVersion() {
			k.MaxVersion = req.MaxVersion()
			changed = true
		}
	}
	return changed
}

// served notes an answer in the trace; nil: one that is not looked into.
func (p *Proxy) served(x *exchange, resp kmsg.Response) {
	p.mu.Lock()
	defer p.mu.Unlock()
	x.trace.Served = p.tick()
	switch resp := resp.(type) {
	case *kmsg.MetadataResponse:
		for _, t := range resp.Topics {
			if t.Topic != nil && t.TopicID != [16]byte{} {
				p.names[t.TopicID] = *t.Topic
			}
		}
	case *kmsg.CreateTopicsResponse:
		for _, t := range resp.Topics {
			if t.TopicID != [16]byte{} {
				p.names[t.TopicID] = t.Topic
			}
			x.trace.answered(t.Topic, kadm.TopicID{}, -1, t.ErrorCode, 0)
		}
	case *kmsg.ProduceResponse:
		for _, t := range resp.Topics {
			for _, tp := range t.Partitions {
				x.trace.answered(t.Topic, t.TopicID, tp.Partition, tp.ErrorCode, tp.BaseOffset)
			}
		}
	case *kmsg.DeleteRecordsResponse:
		for _, t := range resp.Topics {
			for _, tp := range t.Partitions {
				x.trace.answered(t.Topic, kadm.TopicID{}, tp.Partition, tp.ErrorCode, tp.LowWatermark)
			}
		}
	}
}

// answered notes what the broker did with one part. The lock is held.
func (r *Request) answered(topic string, id kadm.TopicID, partition int32, code int16, offset int64) {
	for i := range r.Parts {
		part := &r.Parts[i]
		same := part.ID == id
		if id == (kadm.TopicID{}) {
			same = part.Topic == topic
		}
		if same && part.Partition == partition {
			part.Answer = &Answer{Err: kerr.ErrorForCode(code), Offset: offset}
		}
	}
}
