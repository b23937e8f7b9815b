package flusstest

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/flussrpc/flusspb"
)

// CopyToLake says that the rows of a bucket before an offset lie in a lake as well.
// They are given as before: so it is with a real cluster, whose servers are told only
// where the lake's rows end.
func (c *Cluster) CopyToLake(log flussrpc.Log, bucket int32, end int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bucket(log, bucket).copied = end
}

// TierToLake says that the rows of a bucket before an offset lie in a lake, and that
// the leader was told where those begin. It then gives nothing of the rows that it
// does not have on its own disk, and no error, whether remote storage has them or not.
func (c *Cluster) TierToLake(log flussrpc.Log, bucket int32, end int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bucket(log, bucket).lake = end
}

// lakeSnapshot is the newest snapshot of a table in the lake.
func (c *Cluster) lakeSnapshot(r *flusspb.GetLakeSnapshotRequest) (proto.Message, *flussrpc.Error) {
	path := pathOf(r.GetTablePath())
	t := c.named(path)
	if t == nil {
		return nil, noTable(path)
	}
	out := &flusspb.GetLakeSnapshotResponse{TableId: proto.Int64(t.id), SnapshotId: proto.Int64(1)}
	log := flussrpc.Log{Table: t.id, Partition: flussrpc.NoPartition}
	for n := range int32(t.spec.Buckets) {
		if b := c.find(log, n); b != nil && max(b.lake, b.copied) > 0 {
			out.BucketSnapshots = append(out.BucketSnapshots, &flusspb.LakeBucketSnapshot{BucketId: proto.Int32(n), LogOffset: proto.Int64(max(b.lake, b.copied))})
		}
	}
	if len(out.GetBucketSnapshots()) == 0 {
		return nil, &flussrpc.Error{Code: flussrpc.LakeSnapshotNotExist, Message: fmt.Sprintf("Lake table snapshot doesn't exist for table: %s, table id: %d", path, t.id)}
	}
	return out, nil
}
