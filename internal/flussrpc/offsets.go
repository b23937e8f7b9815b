package flussrpc

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flussrpc/flusspb"
)

// Position says which offset of a bucket is asked for: Earliest, Latest, or a time
// in milliseconds since 1970.
type Position int64

// Earliest is the start of the log, remote storage included; Latest the end that
// a reader sees, exclusive.
const (
	Earliest Position = -2
	Latest   Position = -1
)

// At asks for the first row at or after a time. The answer is a lower bound: rows
// before the time may lie behind it.
func At(t time.Time) Position { return Position(max(t.UnixMilli(), 0)) }

// wire is the kind and the time by which a position is asked for.
func (p Position) wire() (kind int32, at *int64) {
	switch p {
	case Earliest:
		return 0, nil
	case Latest:
		return 1, nil
	default:
		return 2, proto.Int64(int64(p))
	}
}

// Offset is where one bucket begins, ends or passes a time.
type Offset struct {
	Bucket int32
	Offset int64
	Err    error // a fault; nil: Offset is known
}

// asClient is the server id of those that are no servers.
const asClient int32 = -1

// Offsets asks the leaders of some buckets for offsets, in the order of the
// buckets. What one leader does not tell is in its bucket's Err, and its bucket's
// alone.
func (c *Client) Offsets(ctx context.Context, table Table, partition int64, buckets []int32, p Position) []Offset {
	out := make([]Offset, len(buckets))
	open := make([]int, len(buckets)) // places in out that are not answered
	for i, b := range buckets {
		out[i].Bucket, open[i] = b, i
	}
	var since time.Time
	for try := range tries {
		if try > 0 && sleep(ctx, pause(try)) != nil {
			break
		}
		r, err := c.routed(ctx, table, partition, since)
		if err != nil {
			for _, i := range open {
				out[i].Err = cmp.Or(out[i].Err, err)
			}
			if ctx.Err() != nil || fault.KindOf(err) != fault.Unreachable {
				break
			}
			continue
		}
		since = time.Now()
		open = c.offsetsOnce(ctx, table, partition, r, p, out, open)
		if len(open) == 0 || ctx.Err() != nil {
			break
		}
	}
	return out
}

// tries is how often a question about a bucket is put before it is given up.
const tries = 4

// pause is how long is waited before a try.
func pause(try int) time.Duration {
	const first, most = 100 * time.Millisecond, 2 * time.Second
	return min(first<<min(try-1, 10), most)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// offsetsOnce asks each leader once, side by side, and returns what to ask again.
func (c *Client) offsetsOnce(ctx context.Context, table Table, partition int64, r route, p Position, out []Offset, open []int) []int {
	byLeader := map[string][]int{}
	var again []int
	for _, i := range open {
		leader, err := c.leader(table, partition, r, out[i].Bucket)
		if err != nil {
			out[i].Err = err
			if fault.KindOf(err) == fault.Unreachable {
				again = append(again, i)
			}
			continue
		}
		byLeader[leader.Address] = append(byLeader[leader.Address], i)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	for address, places := range byLeader {
		wg.Go(func() {
			left := c.offsetsOf(ctx, address, asClient, table, partition, p, out, places)
			mu.Lock()
			defer mu.Unlock()
			again = append(again, left...)
		})
	}
	wg.Wait()
	slices.Sort(again)
	return again
}

// offsetsOf asks one server for the offsets of some places of out.
func (c *Client) offsetsOf(ctx context.Context, address string, as int32, table Table, partition int64, p Position, out []Offset, places []int) (again []int) {
	request := &flusspb.ListOffsetsRequest{FollowerServerId: proto.Int32(as), TableId: &table.ID, PartitionId: Log{table.ID, partition}.partition()}
	kind, at := p.wire()
	request.OffsetType, request.StartTimestamp = &kind, at
	for _, i := range places {
		request.BucketId = append(request.BucketId, out[i].Bucket)
	}
	var answer flusspb.ListOffsetsResponse
	conn, err := c.connect(ctx, address)
	if err == nil {
		err = conn.Call(ctx, APIListOffsets, request, &answer)
	}
	if err != nil {
		for _, i := range places {
			out[i].Err = err
		}
		if fault.KindOf(err) == fault.Unreachable {
			return places
		}
		return nil
	}
	told := make(map[int32]*flusspb.BucketOffsetAnswer, len(answer.GetBucketsResp()))
	for _, b := range answer.GetBucketsResp() {
		told[b.GetBucketId()] = b
	}
	for _, i := range places {
		b := told[out[i].Bucket]
		switch {
		case b == nil:
			out[i].Err = fault.New(fault.Corrupt, "list offsets", "%s says nothing of bucket %d of %s", conn.name(), out[i].Bucket, what(table, partition)).WithRef(table.Path.ref())
		case b.GetErrorCode() != int32(None):
			refused := &Error{Code: Code(b.GetErrorCode()), Message: b.GetErrorMessage()}
			out[i].Err = refusal("list offsets", refused, "%s does not tell the offset of bucket %d of %s", conn.name(), out[i].Bucket, what(table, partition)).WithRef(table.Path.ref())
			if refused.elsewhere() {
				again = append(again, i)
			}
		case b.Offset == nil || b.GetOffset() < 0:
			out[i].Err = fault.New(fault.Corrupt, "list offsets", "%s gives no offset of bucket %d of %s", conn.name(), out[i].Bucket, what(table, partition)).WithRef(table.Path.ref())
		default:
			out[i].Offset, out[i].Err = b.GetOffset(), nil
		}
	}
	return again
}

// ReplicaOffsets asks one server, leader or not, where its own copy of some
// buckets begins or ends: Earliest is then the start of what lies on its disk, and
// Latest the end of what it has, seen by readers or not.
func (c *Client) ReplicaOffsets(ctx context.Context, server Server, table Table, partition int64, buckets []int32, p Position) []Offset {
	out := make([]Offset, len(buckets))
	places := make([]int, len(buckets))
	for i, b := range buckets {
		out[i].Bucket, places[i] = b, i
	}
	c.offsetsOf(ctx, server.Address, server.ID, table, partition, p, out, places)
	return out
}

func figure(n int64) string { return strconv.FormatInt(n, 10) }

// ids writes numbers of servers.
func ids(numbers []int32) string {
	texts := make([]string, 0, len(numbers))
	for _, n := range numbers {
		texts = append(texts, strconv.Itoa(int(n)))
	}
	return strings.Join(texts, ", ")
}
