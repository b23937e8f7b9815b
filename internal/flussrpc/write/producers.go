package write

import (
	"context"
	"errors"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/flussrpc/flusspb"
)

// Registered is what came of registering.
type Registered int32

// The results. AlreadyExists: an entry that is valid is there, and stays as it
// is.
const (
	Created       Registered = 0
	AlreadyExists Registered = 1
)

// RegisterProducer stores offsets for a producer unless a valid entry is there. A
// ttl of 0 is the server's own. The server keeps what it is given, offsets of
// tables that do not exist too: who calls has looked before.
func RegisterProducer(ctx context.Context, c *flussrpc.Client, id string, offsets []flussrpc.ProducerOffset, ttl time.Duration) (Registered, error) {
	if err := flussrpc.CheckProducerID(id); err != nil {
		return 0, err
	}
	if ttl < 0 {
		return 0, fault.New(fault.Usage, "register producer offsets", "a time to live of %s is none", ttl)
	}
	request := &flusspb.RegisterProducerOffsetsRequest{ProducerId: proto.String(id)}
	if ttl > 0 {
		request.TtlMs = proto.Int64(max(ttl.Milliseconds(), 1))
	}
	byTable := map[int64]*flusspb.ProducerTableOffsets{}
	for _, o := range offsets {
		t := byTable[o.Log.Table]
		if t == nil {
			t = &flusspb.ProducerTableOffsets{TableId: proto.Int64(o.Log.Table)}
			byTable[o.Log.Table] = t
			request.TableOffsets = append(request.TableOffsets, t)
		}
		b := &flusspb.BucketOffset{BucketId: proto.Int32(o.Bucket), LogEndOffset: proto.Int64(o.Offset)}
		if o.Log.Partition >= 0 {
			b.PartitionId = proto.Int64(o.Log.Partition)
		}
		t.BucketOffsets = append(t.BucketOffsets, b)
	}
	var answer flusspb.RegisterProducerOffsetsResponse
	if err := once(ctx, c, flussrpc.APIRegisterProducer, "register producer offsets", id, request, &answer); err != nil {
		return 0, err
	}
	switch r := Registered(answer.GetResult()); {
	case answer.Result == nil || r != Created && r != AlreadyExists:
		return 0, fault.New(fault.Unknown, "register producer offsets", "the coordinator answered %d, which has no meaning that is known here", answer.GetResult()).
			WithHint("read the entry: recoverctl inspect fluss producer %s", id).WithRef("producer " + id)
	default:
		return r, nil
	}
}

// DeleteProducer removes the offsets of a producer. That there were none is no
// error: the server does not tell.
func DeleteProducer(ctx context.Context, c *flussrpc.Client, id string) error {
	if err := flussrpc.CheckProducerID(id); err != nil {
		return err
	}
	return once(ctx, c, flussrpc.APIDeleteProducer, "delete producer offsets", id, &flusspb.DeleteProducerOffsetsRequest{ProducerId: proto.String(id)}, &flusspb.DeleteProducerOffsetsResponse{})
}

// once makes a call over a connection of its own, so that what was sent is known.
func once(ctx context.Context, c *flussrpc.Client, api flussrpc.API, op, id string, request, answer proto.Message) error {
	conn, err := c.CoordinatorConn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	err = conn.Call(ctx, api, request, answer)
	if err == nil {
		return nil
	}
	ref := "producer " + id
	if refused, ok := errors.AsType[*flussrpc.Error](err); ok && refused.Code != flussrpc.UnknownServerError && refused.Code != flussrpc.RequestTimeOut && refused.Code != flussrpc.Network {
		return fault.Of(err).WithRef(ref)
	}
	if f := fault.Of(err); f.Kind == fault.Bug || f.Kind == fault.Unsupported && !conn.Serves(api) {
		return err // it was not sent
	}
	// It may have been done all the same: a code of no meaning, silence, a lost
	// connection and bytes that are none of Fluss say nothing about that.
	return fault.Wrap(fault.Unknown, op, err, "whether it was done is not known").
		WithHint("read the entry: recoverctl inspect fluss producer %s", id).WithRef(ref)
}
