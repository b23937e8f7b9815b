package kafkaproxy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	maxTrace   = 200_000  // requests that are kept; more is an error, since a rule must not be checked on a part
	maxBatch   = 1 << 20  // bytes of one kept record batch
	maxBatches = 64 << 20 // bytes of all kept record batches
)

// Request is one request as it passed. Received, Forwarded, Served and
// Answered are places in the one order of everything that the proxy saw,
// counted from 1; 0 says that it did not happen.
type Request struct {
	Received  int // read from the client
	Forwarded int // given to the broker
	Served    int // the broker's answer is there: whatever it says was done is done
	Answered  int // the answer was given to the client

	At          time.Time // when it was received
	Broker      string    // the broker's own address, host:port
	Node        int32     // its id; −1 as long as no answer told it
	Key         kmsg.Key
	Version     int16
	Correlation int32
	ClientID    string
	Parts       []Part // what it is about; see Part
}

// Part is what a request asks for one partition, or for one topic.
//
//	Produce                           topic, partition, the records
//	Fetch, DeleteRecords              topic, partition, offset
//	ListOffsets                       topic, partition, offset: the time asked for, or −1 (end), −2 (start), …
//	Metadata, CreateTopics, DeleteTopics, CreatePartitions, DescribeConfigs of topics
//	                                  topic
type Part struct {
	Topic     string       // empty where only an id was given that no answer named yet
	ID        kadm.TopicID // zero where a name was given
	Partition int32        // −1 where the part is a whole topic
	Offset    int64

	// Answer is what the broker answered for it; nil without an answer. It is
	// kept for Produce, DeleteRecords and CreateTopics, and stays the broker's
	// own where the client was told something else.
	Answer *Answer

	batch   []byte
	omitted int // bytes of a batch that was too long to keep
}

// Answer is what the broker did with one Part.
type Answer struct {
	Err    error // a *kerr.Error, or nil
	Offset int64 // Produce: of the first record. DeleteRecords: the log start afterwards.
}

// About reports whether a part of the request is about a topic.
func (r Request) About(topic string) bool {
	return slices.ContainsFunc(r.Parts, func(p Part) bool { return p.Topic == topic })
}

// String is as in "DeleteRecords #17 to 127.0.0.1:9092".
func (r Request) String() string {
	return fmt.Sprintf("%s #%d to %s", kmsg.NameForKey(int16(r.Key)), r.Received, r.Broker)
}

// Records is what a Produce request writes. It fails where the batch is not
// readable, or was too long to be kept.
func (p Part) Records() ([]kmsg.Record, error) {
	if p.omitted > 0 {
		return nil, fmt.Errorf("kafkaproxy: the batch of %d bytes for topic %s partition %d was not kept", p.omitted, p.Topic, p.Partition)
	}
	if len(p.batch) == 0 {
		return nil, nil
	}
	var batch kmsg.RecordBatch
	if err := batch.ReadFrom(p.batch); err != nil {
		return nil, fmt.Errorf("kafkaproxy: the batch for topic %s partition %d: %w", p.Topic, p.Partition, err)
	}
	records, err := kfake.BatchRecords(batch)
	if err != nil {
		return nil, fmt.Errorf("kafkaproxy: the records for topic %s partition %d: %w", p.Topic, p.Partition, err)
	}
	return records, nil
}

// Requests is every request seen so far, in the order in which they came; with
// keys, those of these kinds.
func (p *Proxy) Requests(keys ...kmsg.Key) []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []Request
	for _, r := range p.trace {
		if len(keys) == 0 || slices.Contains(keys, r.Key) {
			out = append(out, r.clone())
		}
	}
	return out
}

// Await returns the first request that is as wanted, when it is.
func (p *Proxy) Await(ctx context.Context, wanted func(Request) bool) (Request, error) {
	for {
		p.mu.Lock()
		changed := p.changed
		p.mu.Unlock()
		for _, r := range p.Requests() {
			if wanted(r) {
				return r, nil
			}
		}
		select {
		case <-changed:
		case <-p.ctx.Done():
			return Request{}, errors.New("kafkaproxy: closed while waiting for a request")
		case <-ctx.Done():
			return Request{}, fmt.Errorf("kafkaproxy: waiting for a request: %w", ctx.Err())
		}
	}
}

func (r *Request) clone() Request {
	out := *r
	out.Parts = slices.Clone(r.Parts)
	return out
}

// tick is the next place in the order of everything. The lock is held.
func (p *Proxy) tick() int {
	p.clock++
	close(p.changed)
	p.changed = make(chan struct{})
	return p.clock
}

// arrive puts a request into the trace and, unless it is lost already, finds
// the faults that strike it.
func (p *Proxy) arrive(b *broker, h header, req kmsg.Request, carried bool) *exchange {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := &Request{
		Received: p.tick(), At: time.Now(), Broker: b.address, Node: b.node,
		Key: h.key, Version: h.version, Correlation: h.correlation, ClientID: h.clientID,
		Parts: p.parts(req),
	}
	if len(p.trace) < maxTrace {
		p.trace = append(p.trace, r)
	} else {
		p.problem(fmt.Errorf("more than %d requests: the trace is not whole", maxTrace))
	}
	x := &exchange{req: req, trace: r}
	if produce, ok := req.(*kmsg.ProduceRequest); ok && produce.Acks == 0 {
		x.oneWay = true
	}
	snapshot := r.clone()
	for _, f := range p.faults {
		if carried && f.claims(snapshot) {
			x.faults = append(x.faults, f)
		}
	}
	return x
}

// parts is what a request is about. The lock is held.
func (p *Proxy) parts(req kmsg.Request) (parts []Part) {
	add := func(topic string, id kadm.TopicID, partition int32, offset int64) *Part {
		if topic == "" {
			topic = p.names[id]
		}
		parts = append(parts, Part{Topic: topic, ID: id, Partition: partition, Offset: offset})
		return &parts[len(parts)-1]
	}
	whole := func(topic string, id kadm.TopicID) { add(topic, id, -1, 0) }
	switch req := req.(type) {
	case *kmsg.ProduceRequest:
		for _, t := range req.Topics {
			for _, tp := range t.Partitions {
				p.keep(add(t.Topic, t.TopicID, tp.Partition, 0), tp.Records)
			}
		}
	case *kmsg.FetchRequest:
		for _, t := range req.Topics {
			for _, tp := range t.Partitions {
				add(t.Topic, t.TopicID, tp.Partition, tp.FetchOffset)
			}
		}
	case *kmsg.ListOffsetsRequest:
		for _, t := range req.Topics {
			for _, tp := range t.Partitions {
				add(t.Topic, kadm.TopicID{}, tp.Partition, tp.Timestamp)
			}
		}
	case *kmsg.DeleteRecordsRequest:
		for _, t := range req.Topics {
			for _, tp := range t.Partitions {
				add(t.Topic, kadm.TopicID{}, tp.Partition, tp.Offset)
			}
		}
	case *kmsg.MetadataRequest:
		for _, t := range req.Topics {
			whole(deref(t.Topic), t.TopicID)
		}
	case *kmsg.CreateTopicsRequest:
		for _, t := range req.Topics {
			whole(t.Topic, kadm.TopicID{})
		}
	case *kmsg.CreatePartitionsRequest:
		for _, t := range req.Topics {
			whole(t.Topic, kadm.TopicID{})
		}
	case *kmsg.DeleteTopicsRequest:
		for _, name := range req.TopicNames {
			whole(name, kadm.TopicID{})
		}
		for _, t := range req.Topics {
			whole(deref(t.Topic), t.TopicID)
		}
	case *kmsg.DescribeConfigsRequest:
		for _, r := range req.Resources {
			if r.ResourceType == kmsg.ConfigResourceTypeTopic {
				whole(r.ResourceName, kadm.TopicID{})
			}
		}
	}
	return parts
}

// keep keeps a batch while there is room. The lock is held.
func (p *Proxy) keep(part *Part, batch []byte) {
	if len(batch) > maxBatch || p.kept+len(batch) > maxBatches {
		part.omitted = len(batch)
		return
	}
	p.kept += len(batch)
	part.batch = batch
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
