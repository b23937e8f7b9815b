package flussrpc

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flussrpc/flusspb"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// TablePath is the name of a table.
type TablePath struct{ Database, Table string }

// ParseTablePath reads database.table. The error is a fault of kind Usage.
func ParseTablePath(text string) (TablePath, error) {
	database, table, ok := strings.Cut(text, ".")
	if !ok || database == "" || table == "" || strings.Contains(table, ".") {
		return TablePath{}, fault.New(fault.Usage, "read table name", "%q is no table: it is written database.table", safetext.Of(text).String())
	}
	return TablePath{database, table}, nil
}

// String is database.table, as it came.
func (p TablePath) String() string { return p.Database + "." + p.Table }

func (p TablePath) show() string { return safetext.Of(p.String()).String() }
func (p TablePath) ref() string  { return "table " + p.show() }
func (p TablePath) pb() *flusspb.TablePath {
	return &flusspb.TablePath{DatabaseName: &p.Database, TableName: &p.Table}
}

// Table is a table as it is now. A table that is dropped and made again has
// another id.
type Table struct {
	Path TablePath
	ID   int64 // from 0
	Descriptor
	Created, Modified time.Time
	RemoteDir         string // of its own, in releases that have such
}

// NoPartition is the partition of what a table without partitions has.
const NoPartition int64 = -1

// Log is what has buckets: a table, or one partition of it.
type Log struct {
	Table     int64
	Partition int64 // NoPartition: the table has none
}

func (l Log) partition() *int64 {
	if l.Partition < 0 {
		return nil
	}
	return &l.Partition
}

// Partition is one partition of a table.
type Partition struct {
	ID     int64 // from 0
	Name   string
	Values []string // in the order of the partition key
}

// Databases are the names of those that this user may see, in their order.
func (c *Client) Databases(ctx context.Context) ([]string, error) {
	var answer flusspb.ListDatabasesResponse
	_, err := c.ask(ctx, anyServer, APIListDatabases, &flusspb.ListDatabasesRequest{}, &answer)
	return slices.Sorted(slices.Values(answer.GetDatabaseName())), err
}

// Tables are the names of the tables of a database that this user may see, in
// their order.
func (c *Client) Tables(ctx context.Context, database string) ([]string, error) {
	var answer flusspb.ListTablesResponse
	_, err := c.ask(ctx, anyServer, APIListTables, &flusspb.ListTablesRequest{DatabaseName: &database}, &answer)
	return slices.Sorted(slices.Values(answer.GetTableName())), about(err, "database "+safetext.Of(database).String())
}

// about adds what a fault is about.
func about(err error, ref string) error {
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return f.WithRef(ref)
	}
	return err
}

// Table describes a table. A name that is of none, or of one that this user may
// not see, is a fault of kind NotFound.
func (c *Client) Table(ctx context.Context, path TablePath) (Table, error) {
	var answer flusspb.GetTableInfoResponse
	if _, err := c.ask(ctx, anyServer, APIGetTableInfo, &flusspb.GetTableInfoRequest{TablePath: path.pb()}, &answer); err != nil {
		return Table{}, about(err, path.ref())
	}
	d, err := ParseDescriptor(answer.GetSchemaId(), answer.GetTableJson())
	if err != nil {
		return Table{}, fault.Wrap(fault.Corrupt, "describe table", err, "table %s can't be described", path.show()).WithRef(path.ref())
	}
	return Table{
		Path: path, ID: answer.GetTableId(), Descriptor: d, RemoteDir: answer.GetRemoteDataDir(),
		Created: time.UnixMilli(answer.GetCreatedTime()), Modified: time.UnixMilli(answer.GetModifiedTime()),
	}, nil
}

// Schema is a table's columns as of a schema id.
func (c *Client) Schema(ctx context.Context, path TablePath, id int32) (Schema, error) {
	var answer flusspb.GetTableSchemaResponse
	if _, err := c.ask(ctx, anyServer, APIGetTableSchema, &flusspb.GetTableSchemaRequest{TablePath: path.pb(), SchemaId: &id}, &answer); err != nil {
		return Schema{}, about(err, path.ref())
	}
	s, err := ParseSchema(answer.GetSchemaId(), answer.GetSchemaJson())
	if err != nil {
		return Schema{}, fault.Wrap(fault.Corrupt, "read schema", err, "schema %d of table %s can't be read", id, path.show()).WithRef(path.ref())
	}
	return s, nil
}

// Partitions are those of a partitioned table, by id.
func (c *Client) Partitions(ctx context.Context, path TablePath) ([]Partition, error) {
	var answer flusspb.ListPartitionInfosResponse
	if _, err := c.ask(ctx, anyServer, APIListPartitionInfos, &flusspb.ListPartitionInfosRequest{TablePath: path.pb()}, &answer); err != nil {
		return nil, about(err, path.ref())
	}
	out := make([]Partition, 0, len(answer.GetPartitionsInfo()))
	for _, info := range answer.GetPartitionsInfo() {
		p := Partition{ID: info.GetPartitionId()}
		for _, kv := range info.GetPartitionSpec().GetPartitionKeyValues() {
			p.Values = append(p.Values, kv.GetValue())
		}
		p.Name = strings.Join(p.Values, "$")
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b Partition) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// KvSnapshot is the newest snapshot of one bucket of a primary-key table.
type KvSnapshot struct {
	Bucket   int32
	ID       int64 // NoSnapshot: there is none yet
	LogStart int64 // offset that the log continues it from
}

// NoSnapshot is the id of a snapshot that was not made yet.
const NoSnapshot int64 = -1

// KvSnapshots are the newest snapshots of a primary-key table without partitions.
func (c *Client) KvSnapshots(ctx context.Context, path TablePath) ([]KvSnapshot, error) {
	var answer flusspb.GetLatestKvSnapshotsResponse
	if _, err := c.ask(ctx, anyServer, APIGetLatestSnapshots, &flusspb.GetLatestKvSnapshotsRequest{TablePath: path.pb()}, &answer); err != nil {
		return nil, about(err, path.ref())
	}
	out := make([]KvSnapshot, 0, len(answer.GetLatestSnapshots()))
	for _, s := range answer.GetLatestSnapshots() {
		k := KvSnapshot{Bucket: s.GetBucketId(), ID: NoSnapshot, LogStart: s.GetLogOffset()}
		if s.SnapshotId != nil {
			k.ID = s.GetSnapshotId()
		}
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b KvSnapshot) int { return cmp.Compare(a.Bucket, b.Bucket) })
	return out, nil
}
