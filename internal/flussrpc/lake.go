package flussrpc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/recoverctl/recoverctl/internal/flussrpc/flusspb"
)

// LakeSnapshot is how far a table's log was tiered to a lake.
type LakeSnapshot struct {
	Table int64
	ID    int64
	Ends  map[Log]map[int32]int64 // by bucket: rows before it lie in the lake
}

// LakeSnapshot asks for a table's newest snapshot in the lake; found is false where
// there is none, and where the cluster has no lake.
func (c *Client) LakeSnapshot(ctx context.Context, path TablePath) (out LakeSnapshot, found bool, err error) {
	var answer flusspb.GetLakeSnapshotResponse
	if _, err := c.ask(ctx, anyServer, APIGetLakeSnapshot, &flusspb.GetLakeSnapshotRequest{TablePath: path.pb()}, &answer); err != nil {
		if refused, ok := errors.AsType[*Error](err); ok && (refused.Code == LakeSnapshotNotExist || refused.Code == LakeStorageNotConfigured) {
			return out, false, nil
		}
		return out, false, about(err, path.ref())
	}
	out = LakeSnapshot{Table: answer.GetTableId(), ID: answer.GetSnapshotId(), Ends: map[Log]map[int32]int64{}}
	for _, b := range answer.GetBucketSnapshots() {
		if b.LogOffset == nil {
			continue // nothing of it is in the lake
		}
		log := Log{out.Table, NoPartition}
		if b.PartitionId != nil {
			log.Partition = b.GetPartitionId()
		}
		if out.Ends[log] == nil {
			out.Ends[log] = map[int32]int64{}
		}
		out.Ends[log][b.GetBucketId()] = b.GetLogOffset()
	}
	return out, true, nil
}

// Gives reports whether a bucket's leader gives anything from an offset on that the
// log has: rows, or where in remote storage they lie. It asks as a reader does, for no
// more than it must.
func (c *Client) Gives(ctx context.Context, table Table, partition int64, bucket int32, offset int64) (bool, error) {
	r, err := c.routed(ctx, table, partition, time.Time{})
	if err != nil {
		return false, err
	}
	leader, err := c.leader(table, partition, r, bucket)
	if err != nil {
		return false, err
	}
	conn, err := c.connect(ctx, leader.Address)
	if err != nil {
		return false, err
	}
	answer, held, err := conn.fetch(ctx, Log{table.ID, partition}, []want{{bucket: bucket, from: offset, limit: 1}})
	if err != nil {
		return false, about(err, table.Path.ref())
	}
	defer held.release()
	for _, b := range answer {
		if b.bucket != bucket {
			continue
		}
		if b.err != nil {
			return false, refusal("read rows", b.err, "%s does not give the rows of bucket %d of %s from offset %d on", conn.name(), bucket, what(table, partition), offset).WithRef(table.Path.ref())
		}
		return len(b.records) > 0 || b.remote != nil, nil
	}
	return false, conn.undecodable(APIFetchLog, fmt.Errorf("it says nothing of bucket %d", bucket))
}
