package flusstest

import (
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/flussrpc/flusspb"
)

// producer is an entry of the producer offsets.
type producer struct {
	expires time.Time
	tables  []*flusspb.ProducerTableOffsets
	gone    bool // its files are
}

// producerTTL is how long an entry is valid where nobody says otherwise.
const producerTTL = 24 * time.Hour

// The results of a register.
const (
	created       = 0
	alreadyExists = 1
)

func badProducer(id string) *flussrpc.Error {
	if flussrpc.CheckProducerID(id) == nil {
		return nil
	}
	return &flussrpc.Error{Code: flussrpc.InvalidProducerID, Message: "Invalid producer ID '" + id + "': '" + id + "' contains one or more characters other than ASCII alphanumerics, '_' and '-'"}
}

func filesGone(what, id string) *flussrpc.Error {
	return &flussrpc.Error{Code: flussrpc.UnknownServerError, Message: "org.apache.fluss.exception.UnknownServerException: Failed to " + what + " producer offsets for producer " + id + `
	at org.apache.fluss.server.coordinator.CoordinatorService.lambda$0(CoordinatorService.java:1)
Caused by: java.io.IOException: Offsets file not found: /data/remote/producers/` + id + "/0/0.offsets"}
}

func (c *Cluster) register(r *flusspb.RegisterProducerOffsetsRequest) (proto.Message, *flussrpc.Error) {
	if e := badProducer(r.GetProducerId()); e != nil {
		return nil, e
	}
	now := c.options.Now()
	if p := c.producers[r.GetProducerId()]; p != nil && !now.After(p.expires) {
		return &flusspb.RegisterProducerOffsetsResponse{Result: proto.Int32(alreadyExists)}, nil
	}
	ttl := producerTTL
	if r.TtlMs != nil {
		ttl = time.Duration(r.GetTtlMs()) * time.Millisecond
	}
	c.producers[r.GetProducerId()] = &producer{expires: now.Add(ttl), tables: r.GetTableOffsets()}
	return &flusspb.RegisterProducerOffsetsResponse{Result: proto.Int32(created)}, nil
}

func (c *Cluster) getProducer(r *flusspb.GetProducerOffsetsRequest) (proto.Message, *flussrpc.Error) {
	if e := badProducer(r.GetProducerId()); e != nil {
		return nil, e
	}
	p := c.producers[r.GetProducerId()]
	if p == nil {
		return &flusspb.GetProducerOffsetsResponse{}, nil
	}
	if p.gone {
		return nil, filesGone("get", r.GetProducerId())
	}
	return &flusspb.GetProducerOffsetsResponse{ProducerId: r.ProducerId, ExpirationTime: proto.Int64(p.expires.UnixMilli()), TableOffsets: p.tables}, nil
}

func (c *Cluster) deleteProducer(r *flusspb.DeleteProducerOffsetsRequest) (proto.Message, *flussrpc.Error) {
	if e := badProducer(r.GetProducerId()); e != nil {
		return nil, e
	}
	delete(c.producers, r.GetProducerId())
	return &flusspb.DeleteProducerOffsetsResponse{}, nil
}

// LoseOffsetFiles makes the files of a producer's offsets go, as the cleanup of
// orphans does where remote.data.dir has no scheme.
func (c *Cluster) LoseOffsetFiles(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.producers[id].gone = true
}

// Cleanup removes the entries that have expired.
func (c *Cluster) Cleanup() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.options.Now()
	for id, p := range c.producers {
		if now.After(p.expires) {
			delete(c.producers, id)
		}
	}
}
