package flussrpc

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flussrpc/flusspb"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// ProducerOffsets is what the coordinator keeps for one producer: how far the log
// of each bucket had come when the producer began.
type ProducerOffsets struct {
	Producer string
	// Expires is when the entry is no longer valid, by the coordinator's clock. It
	// is told until the next cleanup after that.
	Expires time.Time
	Offsets []ProducerOffset
}

// ProducerOffset is the offset of one bucket. It may be anything: a server keeps
// what it is given, negative numbers and tables that do not exist too.
type ProducerOffset struct {
	Log    Log
	Bucket int32
	Offset int64
	Absent bool // the entry names the bucket without an offset
}

// CheckProducerID judges a producer id by the server's rule: not empty, not "."
// or "..", at most 200 characters, ASCII letters, digits, _ and - only. The error
// is a fault of kind Usage.
func CheckProducerID(id string) error {
	const most = 200
	bad := func(why string) error {
		return fault.New(fault.Usage, "read producer id", "%q is no producer id: %s", safetext.Of(id).String(), why).
			WithHint("ASCII letters, digits, _ and -, at most %d; a Flink job's is its option sink.producer-id, or else its job id", most)
	}
	switch {
	case id == "":
		return bad("it is empty")
	case len(id) > most:
		return bad("it has more than 200 characters")
	}
	for _, r := range id {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-') {
			return bad("it has other characters than ASCII letters, digits, _ and -")
		}
	}
	return nil
}

// ProducerOffsets asks the coordinator for what it keeps for a producer; found is
// false where there is nothing. Tables that this user may not read, and dropped
// ones, are left out of the answer without a word. Where the file with the
// offsets is gone, that is a fault of kind Corrupt.
func (c *Client) ProducerOffsets(ctx context.Context, id string) (entry ProducerOffsets, found bool, err error) {
	if err := CheckProducerID(id); err != nil {
		return ProducerOffsets{}, false, err
	}
	var answer flusspb.GetProducerOffsetsResponse
	if err := c.askCoordinator(ctx, APIGetProducerOffsets, &flusspb.GetProducerOffsetsRequest{ProducerId: proto.String(id)}, &answer); err != nil {
		return ProducerOffsets{}, false, about(err, "producer "+id)
	}
	if answer.ProducerId == nil && answer.ExpirationTime == nil {
		return ProducerOffsets{}, false, nil
	}
	entry = ProducerOffsets{Producer: id, Expires: time.UnixMilli(answer.GetExpirationTime())}
	for _, t := range answer.GetTableOffsets() {
		for _, b := range t.GetBucketOffsets() {
			o := ProducerOffset{Log: Log{t.GetTableId(), NoPartition}, Bucket: b.GetBucketId(), Offset: b.GetLogEndOffset(), Absent: b.LogEndOffset == nil}
			if b.PartitionId != nil {
				o.Log.Partition = b.GetPartitionId()
			}
			entry.Offsets = append(entry.Offsets, o)
		}
	}
	slices.SortFunc(entry.Offsets, func(a, b ProducerOffset) int {
		return cmp.Or(cmp.Compare(a.Log.Table, b.Log.Table), cmp.Compare(a.Log.Partition, b.Log.Partition), cmp.Compare(a.Bucket, b.Bucket))
	})
	return entry, true, nil
}

// KeepsProducers reports whether the cluster keeps offsets of producers at all.
func (c *Client) KeepsProducers(ctx context.Context) (bool, error) {
	conn, err := c.coordinator(ctx)
	if err != nil {
		return false, err
	}
	return conn.Serves(APIGetProducerOffsets), nil
}

// askCoordinator puts a reading question to the coordinator, and once more to the
// next where that is no longer the one.
func (c *Client) askCoordinator(ctx context.Context, api API, request, answer proto.Message) error {
	for try := 0; ; try++ {
		conn, err := c.coordinator(ctx)
		if err != nil {
			return err
		}
		err = conn.Call(ctx, api, request, answer)
		refused, ok := errors.AsType[*Error](err)
		if err == nil || ctx.Err() != nil || try > 0 || !(conn.Broken() || ok && refused.elsewhere()) {
			return err
		}
		if err := sleep(ctx, pause(1)); err != nil {
			return err
		}
		if _, _, err := c.metadata(ctx, &flusspb.GetMetadataRequest{}); err != nil {
			return err
		}
	}
}

// CoordinatorConn is a connection of its own to the coordinator, for calls that
// must not be made twice. Close it.
func (c *Client) CoordinatorConn(ctx context.Context) (*Conn, error) {
	known, err := c.coordinator(ctx)
	if err != nil {
		return nil, err
	}
	login, err := c.user(ctx)
	if err != nil {
		return nil, err
	}
	return Dial(ctx, known.Address(), Options{Timeout: c.config.Timeout, Login: login, Dial: c.config.Dial})
}

// Logs are the tables and partitions that an entry names, in their order.
func (p ProducerOffsets) Logs() []Log {
	seen := map[Log]bool{}
	for _, o := range p.Offsets {
		seen[o.Log] = true
	}
	return slices.SortedFunc(maps.Keys(seen), func(a, b Log) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Partition, b.Partition))
	})
}
