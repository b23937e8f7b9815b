package fluss

import (
	"context"
	"time"

	"github.com/recoverctl/recoverctl/internal/flussrpc"
)

// TableSummary is one table in a list.
type TableSummary struct {
	Table       string    `json:"table"`
	ID          int64     `json:"id"`
	Buckets     int       `json:"buckets"`
	Partitioned bool      `json:"partitioned"`
	PrimaryKey  bool      `json:"primaryKey"`
	ActionState bool      `json:"actionState"` // it is one that Flink Agents would use
	Format      string    `json:"format"`
	TTL         string    `json:"ttl"`
	Replicas    string    `json:"replicas"`
	Created     time.Time `json:"created"`
	Leaderless  []int32   `json:"leaderless"`
}

// Tables are the tables that this user may see. Others look as if they were not
// there.
type Tables struct {
	Tables []TableSummary `json:"tables"`
}

// ColumnInfo is one column.
type ColumnInfo struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Nullable bool   `json:"nullable"`
}

// TableInfo is one table with its columns, settings and partitions.
type TableInfo struct {
	TableSummary
	SchemaID   int32             `json:"schemaId"`
	Columns    []ColumnInfo      `json:"columns"`
	Key        []string          `json:"key"` // of the primary key
	BucketKey  []string          `json:"bucketKey"`
	Partition  []string          `json:"partitionKey"`
	Partitions []PartitionInfo   `json:"partitions"`
	Comment    string            `json:"comment"`
	Properties map[string]string `json:"properties"` // those that were set
	Modified   time.Time         `json:"modified"`
}

// PartitionInfo is one partition.
type PartitionInfo struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// List describes the tables of a database, or of all where the name is empty.
func (s *Store) List(ctx context.Context, database string) (Tables, []error, error) {
	_, all, err := s.allTables(ctx)
	out := Tables{Tables: []TableSummary{}}
	if err != nil {
		return out, nil, err
	}
	var faults []error
	for _, t := range all {
		switch {
		case database != "" && t.table.Path.Database != database:
		case t.err != nil:
			faults = append(faults, t.err)
		default:
			out.Tables = append(out.Tables, summaryOf(t.table, t.leaderless))
		}
	}
	return out, faults, nil
}

func summaryOf(t flussrpc.Table, leaderless []int32) TableSummary {
	settings := map[string]string{}
	for _, x := range settingsOf(t) {
		settings[x.Name] = x.Value
	}
	return TableSummary{
		Table: t.Path.String(), ID: t.ID, Buckets: t.Buckets, Partitioned: len(t.PartitionKey) > 0, PrimaryKey: len(t.Schema.PrimaryKey) > 0,
		ActionState: checkActionState(t) == nil, Format: string(t.Format()), TTL: settings["table.log.ttl"], Replicas: settings["table.replication.factor"],
		Created: t.Created.UTC(), Leaderless: append([]int32{}, leaderless...),
	}
}

// Table describes one table.
func (s *Store) Table(ctx context.Context, path flussrpc.TablePath) (TableInfo, []error, error) {
	t, err := s.client.Table(ctx, path)
	if err != nil {
		return TableInfo{}, nil, err
	}
	out := TableInfo{
		TableSummary: summaryOf(t, nil), SchemaID: t.Schema.ID, Columns: []ColumnInfo{}, Key: append([]string{}, t.Schema.PrimaryKey...), BucketKey: append([]string{}, t.BucketKey...),
		Partition: append([]string{}, t.PartitionKey...), Partitions: []PartitionInfo{}, Comment: t.Comment, Properties: t.Properties, Modified: t.Modified.UTC(),
	}
	if out.Properties == nil {
		out.Properties = map[string]string{}
	}
	for _, c := range t.Schema.Columns {
		out.Columns = append(out.Columns, ColumnInfo{c.Name, c.Type.Name, c.Type.Nullable})
	}
	var faults []error
	if out.Partitioned {
		partitions, err := s.client.Partitions(ctx, path)
		if err != nil {
			faults = append(faults, err)
		}
		for _, p := range partitions {
			out.Partitions = append(out.Partitions, PartitionInfo{p.ID, p.Name})
		}
		return out, faults, nil
	}
	buckets, err := s.buckets(ctx, t, flussrpc.NoPartition)
	if err != nil {
		faults = append(faults, err)
	}
	for _, b := range buckets {
		if b.Leader == flussrpc.NoLeader {
			out.Leaderless = append(out.Leaderless, b.ID)
		}
	}
	return out, faults, nil
}
