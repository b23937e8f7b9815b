package flussrpc

import (
	"context"
	"errors"

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
