package flussrpc

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flussrpc/flusspb"
)

// Bucket is where one bucket of a log is kept.
type Bucket struct {
	ID       int32
	Leader   int32 // NoLeader: nobody
	Epoch    int32 // of its leadership; it grows with each election
	Replicas []int32
}

// NoLeader is the leader of a bucket that nobody leads. Ids of servers begin at
// 0.
const NoLeader int32 = -1

// route is where the buckets of a log are kept, as it was told last.
type route struct {
	buckets map[int32]Bucket
	at      time.Time
}

// Buckets asks where the buckets of a table, or of one partition of it, are kept.
// Where the name is now of another table, that is a fault of kind Drift.
func (c *Client) Buckets(ctx context.Context, table Table, partition int64) ([]Bucket, error) {
	r, err := c.reroute(ctx, table, partition)
	if err != nil {
		return nil, err
	}
	out := make([]Bucket, 0, len(r.buckets))
	for _, b := range r.buckets {
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b Bucket) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// reroute asks where the buckets of a log are now.
func (c *Client) reroute(ctx context.Context, table Table, partition int64) (route, error) {
	began := time.Now()
	request := &flusspb.GetMetadataRequest{TablePath: []*flusspb.TablePath{table.Path.pb()}}
	if partition >= 0 {
		request = &flusspb.GetMetadataRequest{PartitionsId: []int64{partition}}
	}
	answer, _, err := c.metadata(ctx, request)
	if refused, ok := errors.AsType[*Error](err); ok && (refused.missingTable() || refused.Code == PartitionNotExists) {
		return route{}, fault.Wrap(fault.NotFound, "find buckets", refused, "%s is not there any more, or not for this user", what(table, partition)).
			WithHint("was it dropped, or did it expire? recoverctl inspect fluss table %s", table.Path.show()).WithRef(table.Path.ref())
	}
	if err != nil {
		return route{}, about(err, table.Path.ref())
	}
	var list []*flusspb.BucketMetadata
	found := false
	if partition >= 0 {
		for _, p := range answer.GetPartitionMetadata() {
			if p.GetPartitionId() == partition {
				found, list = true, p.GetBucketMetadata()
				if err := sameTable(table, p.GetTableId()); err != nil {
					return route{}, err
				}
			}
		}
	} else {
		for _, t := range answer.GetTableMetadata() {
			if t.GetTablePath().GetDatabaseName() == table.Path.Database && t.GetTablePath().GetTableName() == table.Path.Table {
				found, list = true, t.GetBucketMetadata()
				if err := sameTable(table, t.GetTableId()); err != nil {
					return route{}, err
				}
			}
		}
	}
	if !found {
		return route{}, fault.New(fault.Denied, "find buckets", "the cluster does not tell this user where %s is kept", what(table, partition)).
			WithHint("give the user DESCRIBE on the table: without it a table is left out without a word").WithRef(table.Path.ref())
	}
	r := route{buckets: make(map[int32]Bucket, len(list)), at: began}
	for _, b := range list {
		place := Bucket{ID: b.GetBucketId(), Leader: NoLeader, Epoch: b.GetLeaderEpoch(), Replicas: b.GetReplicaId()}
		if b.LeaderId != nil && b.GetLeaderId() >= 0 {
			place.Leader = b.GetLeaderId()
		}
		r.buckets[place.ID] = place
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.routes[Log{table.ID, partition}] = r
	return r, nil
}

// what names a table or a partition of it.
func what(table Table, partition int64) string {
	if partition >= 0 {
		return "partition " + figure(partition) + " of table " + table.Path.show()
	}
	return "table " + table.Path.show()
}

func sameTable(table Table, id int64) error {
	if id == table.ID {
		return nil
	}
	return fault.New(fault.Drift, "find buckets", "table %s was dropped and made again: its id was %d and is %d", table.Path.show(), table.ID, id).
		WithHint("offsets of the table before mean nothing in this one: look at the job's recovery points again").WithRef(table.Path.ref())
}

// routed is where the buckets of a log were when that was asked last, asked anew
// where that was before a time.
func (c *Client) routed(ctx context.Context, table Table, partition int64, since time.Time) (route, error) {
	c.mu.Lock()
	r, ok := c.routes[Log{table.ID, partition}]
	c.mu.Unlock()
	if ok && !r.at.Before(since) {
		return r, nil
	}
	return c.reroute(ctx, table, partition)
}

// leader is the server that leads a bucket. The error says why nobody does.
func (c *Client) leader(table Table, partition int64, r route, bucket int32) (Server, error) {
	b, ok := r.buckets[bucket]
	if !ok {
		return Server{}, fault.New(fault.NotFound, "find leader", "%s has no bucket %d", what(table, partition), bucket).WithRef(table.Path.ref())
	}
	if b.Leader == NoLeader {
		return Server{}, fault.New(fault.Unreachable, "find leader", "bucket %d of %s has no leader", bucket, what(table, partition)).
			WithHint("start the servers that keep it (%s): recoverctl inspect fluss cluster", ids(b.Replicas)).WithRef(table.Path.ref())
	}
	s, ok := c.tablet(b.Leader)
	if !ok {
		return Server{}, fault.New(fault.Unreachable, "find leader", "bucket %d of %s is led by tablet server %d, which is not among the live ones", bucket, what(table, partition), b.Leader).
			WithHint("a leader is elected when its ZooKeeper session ends (60 s by default)").WithRef(table.Path.ref())
	}
	return s, nil
}
