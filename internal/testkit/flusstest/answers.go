package flusstest

import (
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/flussrpc/flusspb"
)

func pathOf(p *flusspb.TablePath) flussrpc.TablePath {
	return flussrpc.TablePath{Database: p.GetDatabaseName(), Table: p.GetTableName()}
}

func noTable(path flussrpc.TablePath) *flussrpc.Error {
	return &flussrpc.Error{Code: flussrpc.TableNotExist, Message: "Table '" + path.String() + "' does not exist."}
}

func (c *Cluster) node(s *server) *flusspb.ServerNode {
	host, port := hostPort(s.address())
	return &flusspb.ServerNode{NodeId: proto.Int32(s.id), Host: &host, Port: &port}
}

// metadata answers as every server does: from what the coordinator last said.
func (c *Cluster) metadata(r *flusspb.GetMetadataRequest) (proto.Message, *flussrpc.Error) {
	out := &flusspb.GetMetadataResponse{CoordinatorServer: c.node(c.coordinator)}
	for _, id := range c.alive {
		out.TabletServers = append(out.TabletServers, c.node(c.tablets[id]))
	}
	for _, p := range r.GetTablePath() {
		path := pathOf(p)
		t := c.named(path)
		if t == nil {
			return nil, &flussrpc.Error{Code: flussrpc.UnknownServerError, Message: fmt.Sprintf(`org.apache.fluss.exception.FlussRuntimeException: Failed to get tables '[%s]'
	at org.apache.fluss.server.utils.ServerRpcMessageUtils.lambda$0(ServerRpcMessageUtils.java:1)
Caused by: org.apache.fluss.exception.TableNotExistException: Table '%s' does not exist.
	at org.apache.fluss.server.coordinator.MetadataManager.getTable(MetadataManager.java:1)`, path, path)}
		}
		m := &flusspb.TableMetadata{
			TablePath: p, TableId: &t.id, SchemaId: proto.Int32(int32(len(t.schemas))), TableJson: t.document,
			CreatedTime: proto.Int64(t.created.UnixMilli()), ModifiedTime: proto.Int64(t.created.UnixMilli()),
		}
		if t.spec.Partition == "" {
			m.BucketMetadata = places(t.parts[0])
		}
		out.TableMetadata = append(out.TableMetadata, m)
	}
	for _, id := range r.GetPartitionsId() {
		p, t := c.partition(id)
		if p == nil {
			return nil, &flussrpc.Error{Code: flussrpc.PartitionNotExists, Message: fmt.Sprintf("The partition id '%d' does not exist or you don't have permission to access it.", id)}
		}
		out.PartitionMetadata = append(out.PartitionMetadata, &flusspb.PartitionMetadata{TableId: &t.id, PartitionName: &p.value, PartitionId: &p.id, BucketMetadata: places(p)})
	}
	return out, nil
}

func (c *Cluster) partition(id int64) (*part, *table) {
	for _, t := range c.sortedTables() {
		for _, p := range t.parts {
			if p.id == id && id >= 0 {
				return p, t
			}
		}
	}
	return nil, nil
}

func places(p *part) []*flusspb.BucketMetadata {
	out := make([]*flusspb.BucketMetadata, 0, len(p.buckets))
	for i, b := range p.buckets {
		out = append(out, &flusspb.BucketMetadata{BucketId: proto.Int32(int32(i)), LeaderId: proto.Int32(b.leader), ReplicaId: slices.Clone(b.replicas), LeaderEpoch: proto.Int32(b.epoch)})
	}
	return out
}

func (c *Cluster) databases() []string {
	seen := map[string]bool{"fluss": true}
	for _, t := range c.tables {
		seen[t.spec.Path.Database] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

func (c *Cluster) listDatabases() proto.Message {
	return &flusspb.ListDatabasesResponse{DatabaseName: c.databases()}
}

func (c *Cluster) listTables(r *flusspb.ListTablesRequest) (proto.Message, *flussrpc.Error) {
	if !slices.Contains(c.databases(), r.GetDatabaseName()) {
		return nil, &flussrpc.Error{Code: flussrpc.DatabaseNotExist, Message: "Database " + r.GetDatabaseName() + " does not exist."}
	}
	out := &flusspb.ListTablesResponse{}
	for _, t := range c.sortedTables() {
		if t.spec.Path.Database == r.GetDatabaseName() {
			out.TableName = append(out.TableName, t.spec.Path.Table)
		}
	}
	return out, nil
}

func (c *Cluster) tableInfo(r *flusspb.GetTableInfoRequest) (proto.Message, *flussrpc.Error) {
	t := c.named(pathOf(r.GetTablePath()))
	if t == nil {
		return nil, noTable(pathOf(r.GetTablePath()))
	}
	at := proto.Int64(t.created.UnixMilli())
	return &flusspb.GetTableInfoResponse{TableId: &t.id, SchemaId: proto.Int32(int32(len(t.schemas))), TableJson: t.document, CreatedTime: at, ModifiedTime: at}, nil
}

func (c *Cluster) tableSchema(r *flusspb.GetTableSchemaRequest) (proto.Message, *flussrpc.Error) {
	t := c.named(pathOf(r.GetTablePath()))
	if t == nil {
		return nil, noTable(pathOf(r.GetTablePath()))
	}
	id := int32(len(t.schemas))
	if r.SchemaId != nil {
		id = r.GetSchemaId()
	}
	if id < 1 || int(id) > len(t.schemas) {
		return nil, &flussrpc.Error{Code: flussrpc.SchemaNotExist, Message: fmt.Sprintf("Schema %d of table %s does not exist.", id, t.spec.Path)}
	}
	return &flusspb.GetTableSchemaResponse{SchemaId: &id, SchemaJson: t.schemas[id-1].document}, nil
}

func (c *Cluster) listPartitions(r *flusspb.ListPartitionInfosRequest) (proto.Message, *flussrpc.Error) {
	t := c.named(pathOf(r.GetTablePath()))
	switch {
	case t == nil:
		return nil, noTable(pathOf(r.GetTablePath()))
	case t.spec.Partition == "":
		return nil, &flussrpc.Error{Code: flussrpc.TableNotPartitioned, Message: "Table '" + t.spec.Path.String() + "' is not a partitioned table."}
	}
	out := &flusspb.ListPartitionInfosResponse{}
	for _, p := range t.parts {
		out.PartitionsInfo = append(out.PartitionsInfo, &flusspb.PartitionInfo{
			PartitionId: &p.id, PartitionSpec: &flusspb.PartitionSpec{PartitionKeyValues: []*flusspb.KeyValue{{Key: &t.spec.Partition, Value: &p.value}}},
		})
	}
	return out, nil
}

func (c *Cluster) describeConfigs() proto.Message {
	settings := map[string]string{
		"zookeeper.address": "127.0.0.1:2181", "remote.data.dir": "file:///data/remote", "default.bucket.number": "1", "default.replication.factor": "1",
	}
	for user, password := range c.options.Users {
		settings["security.sasl.plain.jaas.config"] = "org.apache.fluss.security.auth.sasl.plain.PlainLoginModule required user_" + user + `="` + password + `";`
	}
	maps.Copy(settings, c.options.Settings)
	out := &flusspb.DescribeClusterConfigsResponse{}
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		out.Configs = append(out.Configs, &flusspb.ClusterConfig{ConfigKey: proto.String(key), ConfigValue: proto.String(settings[key]), ConfigSource: proto.String("INITIAL_SERVER_CONFIG")})
	}
	return out
}

// logOf is what a request means by a table's and a partition's id.
func logOf(table int64, partition *int64) flussrpc.Log {
	if partition == nil {
		return flussrpc.Log{Table: table, Partition: flussrpc.NoPartition}
	}
	return flussrpc.Log{Table: table, Partition: *partition}
}

// hosted is a bucket as a server sees it: a refusal where it does not keep it.
func (c *Cluster) hosted(id int32, log flussrpc.Log, bucket int32) (*bucket, *flussrpc.Error) {
	b := c.find(log, bucket)
	name := fmt.Sprintf("TableBucket{tableId=%d, bucket=%d}", log.Table, bucket)
	switch {
	case b == nil:
		return nil, &flussrpc.Error{Code: flussrpc.UnknownTableOrBucket, Message: "Unknown table or bucket: " + name}
	case !slices.Contains(b.replicas, id):
		return nil, &flussrpc.Error{Code: flussrpc.NotLeaderOrFollower, Message: fmt.Sprintf("server %d is not leader or follower for %s", id, name)}
	}
	return b, nil
}

// The kinds of offsets.
const (
	earliest = 0
	latest   = 1
	byTime   = 2
)

func (c *Cluster) listOffsets(id int32, r *flusspb.ListOffsetsRequest) proto.Message {
	out := &flusspb.ListOffsetsResponse{}
	for _, bucket := range r.GetBucketId() {
		a := &flusspb.BucketOffsetAnswer{BucketId: proto.Int32(bucket)}
		out.BucketsResp = append(out.BucketsResp, a)
		b, e := c.hosted(id, logOf(r.GetTableId(), r.PartitionId), bucket)
		offset := int64(0)
		if e == nil {
			offset, e = c.offset(b, r)
		}
		if e != nil {
			a.ErrorCode, a.ErrorMessage = proto.Int32(int32(e.Code)), &e.Message
			continue
		}
		a.Offset = &offset
	}
	return out
}

func (c *Cluster) offset(b *bucket, r *flusspb.ListOffsetsRequest) (int64, *flussrpc.Error) {
	switch r.GetOffsetType() {
	case earliest:
		if r.GetFollowerServerId() >= 0 {
			return b.local, nil
		}
		return b.start, nil
	case latest:
		return b.end, nil
	case byTime:
		if r.StartTimestamp == nil {
			return 0, &flussrpc.Error{Code: flussrpc.UnknownServerError, Message: "java.lang.IllegalArgumentException: startTimestamp is required"}
		}
		if r.GetStartTimestamp() > c.options.Now().UnixMilli() {
			return 0, &flussrpc.Error{Code: flussrpc.InvalidTimestamp, Message: "Get offset error for table bucket, the fetch timestamp is larger than the current timestamp."}
		}
		for i, at := range b.times {
			if at >= r.GetStartTimestamp() && b.firsts[i] >= b.start {
				return b.firsts[i], nil
			}
		}
		return b.end, nil
	default:
		return 0, &flussrpc.Error{Code: flussrpc.UnknownServerError, Message: "java.lang.IllegalArgumentException: unknown offset type"}
	}
}

// fromStart is the offset by which a client asks for the start of the log.
const fromStart = -2

func (c *Cluster) fetchLog(id int32, r *flusspb.FetchLogRequest) proto.Message {
	out := &flusspb.FetchLogResponse{}
	left := room{bytes: int(r.GetMaxBytes()), whole: true}
	for _, t := range r.GetTablesReq() {
		answer := &flusspb.FetchLogTableAnswer{TableId: proto.Int64(t.GetTableId())}
		out.TablesResp = append(out.TablesResp, answer)
		for _, q := range slices.Backward(t.GetBucketsReq()) { // in the order of no request
			a := &flusspb.FetchLogBucketAnswer{PartitionId: q.PartitionId, BucketId: q.BucketId}
			answer.BucketsResp = append(answer.BucketsResp, a)
			if e := c.fetchBucket(id, logOf(t.GetTableId(), q.PartitionId), q, a, &left); e != nil {
				a.ErrorCode, a.ErrorMessage = proto.Int32(int32(e.Code)), &e.Message
			}
		}
	}
	return out
}

// room is what an answer has left.
type room struct {
	bytes int
	whole bool // no bucket has rows yet: the first that has gets a whole batch, however large
}

func (c *Cluster) fetchBucket(id int32, log flussrpc.Log, q *flusspb.FetchLogBucket, a *flusspb.FetchLogBucketAnswer, left *room) *flussrpc.Error {
	b, e := c.hosted(id, log, q.GetBucketId())
	if e != nil {
		return e
	}
	name := fmt.Sprintf("TableBucket{tableId=%d, bucket=%d}", log.Table, q.GetBucketId())
	if b.leader != id {
		return &flussrpc.Error{Code: flussrpc.NotLeaderOrFollower, Message: fmt.Sprintf("Leader not local for bucket %s on tabletServer %d", name, id)}
	}
	from := q.GetFetchOffset()
	if from == fromStart {
		from = b.start
	}
	if from >= b.start && from < min(b.local, b.lake) {
		a.HighWatermark, a.LogStartOffset, a.Records = proto.Int64(b.end), proto.Int64(0), []byte{}
		return nil
	}
	if from >= b.start && from < b.local {
		a.HighWatermark, a.LogStartOffset = proto.Int64(b.end), proto.Int64(0)
		a.RemoteLogFetchInfo = b.remote(from)
		return nil
	}
	if from < b.start || from > b.end {
		return &flussrpc.Error{Code: flussrpc.LogOffsetOutOfRange, Message: fmt.Sprintf("Received request for offset %d for table bucket %s, but we only have log segments from offset %d up to %d.", from, name, b.local, b.end)}
	}
	a.HighWatermark, a.LogStartOffset = proto.Int64(b.end), proto.Int64(0)
	records := []byte{}
	for i := b.at(from); i < len(b.batches) && from < b.end; i++ {
		room := min(int(q.GetMaxFetchBytes())-len(records), left.bytes)
		batch := b.batches[i]
		if room < len(batch) && !left.whole {
			batch = batch[:max(room, 0)] // the last one is cut
		}
		records = append(records, batch...)
		left.bytes -= len(batch)
		left.whole = false
		if len(batch) < len(b.batches[i]) {
			break
		}
	}
	a.Records = records
	return nil
}

// remote tells all segments from an offset on.
func (b *bucket) remote(from int64) *flusspb.RemoteLogFetchInfo {
	out := &flusspb.RemoteLogFetchInfo{RemoteLogTabletDir: proto.String("file:" + b.dir)}
	for _, s := range b.segments {
		if s.end <= from {
			continue
		}
		if len(out.GetRemoteLogSegments()) == 0 {
			pos := 0
			for i, first := range b.firsts {
				if first >= s.start && first+int64(1) <= from && i+1 < len(b.firsts) && b.firsts[i+1] <= from {
					pos += len(b.batches[i])
				}
			}
			out.FirstStartPos = proto.Int32(int32(pos))
		}
		out.RemoteLogSegments = append(out.RemoteLogSegments, &flusspb.RemoteLogSegment{
			RemoteLogSegmentId: proto.String(s.id), RemoteLogStartOffset: proto.Int64(s.start), RemoteLogEndOffset: proto.Int64(s.end), SegmentSizeInBytes: proto.Int32(s.size), MaxTimestamp: proto.Int64(s.time),
		})
	}
	return out
}
