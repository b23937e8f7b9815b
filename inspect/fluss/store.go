package fluss

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Store reads tables of one cluster. It may be used by several goroutines.
type Store struct {
	client *flussrpc.Client
	clock  clock.Clock
	files  Files
	nodes  Nodes  // nil: ZooKeeper is not read
	root   string // of the cluster's nodes, without a slash at its end
}

// Files reads the cluster's remote storage; see [flussrpc.Files].
type Files interface {
	flussrpc.Files

	// Folders are the names of the folders in one, or fs.ErrNotExist where that is
	// absent.
	Folders(ctx context.Context, uri string) ([]string, error)
}

var _ inspect.LogStore = (*Store)(nil)

// New returns a store that reads through client, which stays the caller's. files
// may be nil: what lies in remote storage is then not read, and said so.
func New(client *flussrpc.Client, c clock.Clock, files Files) *Store {
	return &Store{client: client, clock: c, files: files}
}

// The columns of an action-state table.
const (
	stateKey     = "state_key"
	statePayload = "state_payload"
	agentKey     = inspect.AgentKey
)

// tableOf describes the action-state table of a job. A table that is not there is
// reported by found.
func (s *Store) tableOf(ctx context.Context, name string) (table flussrpc.Table, found bool, err error) {
	path, err := flussrpc.ParseTablePath(name)
	if err != nil {
		return table, false, err
	}
	table, err = s.client.Table(ctx, path)
	switch {
	case fault.KindOf(err) == fault.NotFound && err != nil:
		return table, false, nil
	case err != nil:
		return table, false, err
	}
	return table, true, checkActionState(table)
}

// checkActionState asks whether a table is one that Flink Agents would use.
func checkActionState(t flussrpc.Table) error {
	refuse := func(why string, args ...any) error {
		return fault.New(fault.Unsupported, "describe table", "table %s is no action-state table: "+why, append([]any{show(t.Path)}, args...)...).
			WithHint("is it the right table? recoverctl inspect fluss table %s shows what it is", show(t.Path)).WithRef("table " + show(t.Path))
	}
	if len(t.PartitionKey) > 0 {
		return refuse("it has partitions")
	}
	if len(t.Schema.PrimaryKey) > 0 {
		return refuse("it has a primary key, so its log tells changes")
	}
	for name, types := range map[string]string{stateKey: "STRING", statePayload: "BYTES", agentKey: "STRING"} {
		at := t.Schema.Find(name)
		if at < 0 {
			return refuse("it has no column %s", name)
		}
		if got := t.Schema.Columns[at].Type.Name; got != types {
			return refuse("its column %s is of type %s and not %s", name, safetext.Of(got), types)
		}
	}
	return nil
}

// DataTopic describes a table now: its id, its buckets with their leaders and the
// range of their logs, and the settings that decide what is kept. A bucket whose
// offsets can't be read carries its own error.
func (s *Store) DataTopic(ctx context.Context, name string) (inspect.DataTopic, error) {
	out := inspect.DataTopic{Name: name, At: s.clock.Now()}
	table, found, err := s.tableOf(ctx, name)
	if err != nil || !found {
		return out, err
	}
	places, err := s.buckets(ctx, table, flussrpc.NoPartition)
	if err != nil {
		return out, err
	}
	out.Partitions = s.ranges(ctx, table, places)
	if err := s.unchanged(ctx, table); err != nil {
		return out, err
	}
	out.Exists, out.TopicID, out.Settings, out.Created = true, strconv.FormatInt(table.ID, 10), settingsOf(table), table.Created.UTC()
	return out, nil
}

// buckets says where the buckets of a table, or of one partition of it, are kept.
func (s *Store) buckets(ctx context.Context, t flussrpc.Table, partition int64) ([]flussrpc.Bucket, error) {
	places, err := s.client.Buckets(ctx, t, partition)
	if err != nil || partition >= 0 {
		return places, err // whether there is such a partition, its buckets say
	}
	return everyBucket(places, t.Buckets), nil
}

// everyBucket are the buckets that a table has by its description, which is what the
// job's store goes by. One that the servers do not place, as while a coordinator is
// stuck, is led by nobody, and is not absent.
func everyBucket(places []flussrpc.Bucket, buckets int) []flussrpc.Bucket {
	out := make([]flussrpc.Bucket, buckets)
	for i := range out {
		out[i] = flussrpc.Bucket{ID: int32(i), Leader: flussrpc.NoLeader}
	}
	for _, p := range places {
		if p.ID >= 0 && int(p.ID) < buckets {
			out[p.ID] = p
		}
	}
	return out
}

// ranges asks for the start and the end of each bucket.
func (s *Store) ranges(ctx context.Context, table flussrpc.Table, places []flussrpc.Bucket) []inspect.Partition {
	ids := make([]int32, len(places))
	for i, b := range places {
		ids[i] = b.ID
	}
	var starts, ends []flussrpc.Offset
	var wg sync.WaitGroup
	wg.Go(func() { starts = s.client.Offsets(ctx, table, flussrpc.NoPartition, ids, flussrpc.Earliest) })
	wg.Go(func() { ends = s.client.Offsets(ctx, table, flussrpc.NoPartition, ids, flussrpc.Latest) })
	wg.Wait()
	out := make([]inspect.Partition, len(places))
	for i, b := range places {
		out[i] = inspect.Partition{ID: b.ID, Leader: b.Leader, Log: inspect.LogRange{Start: starts[i].Offset, End: ends[i].Offset}, Err: cmp.Or(starts[i].Err, ends[i].Err)}
	}
	return out
}

// unchanged asks whether a name still is of the table that was read.
func (s *Store) unchanged(ctx context.Context, table flussrpc.Table) error {
	now, err := s.client.Table(ctx, table.Path)
	ref := "table " + show(table.Path)
	switch {
	case err != nil && fault.KindOf(err) == fault.NotFound:
		return fault.Wrap(fault.Drift, "describe table", err, "table %s was dropped while being read", show(table.Path)).WithHint("ask again").WithRef(ref)
	case err != nil:
		return err
	case now.ID != table.ID:
		return fault.New(fault.Drift, "describe table", "table %s was made again while being read: its id was %d and is %d", show(table.Path), table.ID, now.ID).WithHint("ask again").WithRef(ref)
	}
	return nil
}

// lakeFormat says of what format the lake is that a table's rows may be moved to.
const lakeFormat = "table.datalake.format"

// settingsOf are the settings of a table that decide what is kept, with Fluss's
// defaults: those are not listed by a server.
func settingsOf(t flussrpc.Table) []inspect.Setting {
	defaults := map[string]string{
		"table.log.ttl": "7d", "table.log.tiered.local-segments": "2", "table.replication.factor": "", "table.datalake.enabled": "false", "table.log.format": string(flussrpc.FormatArrow),
		"table.log.arrow.compression.type": "ZSTD", lakeFormat: "",
	}
	out := []inspect.Setting{}
	for name, value := range defaults {
		if set, ok := t.Properties[name]; ok {
			out = append(out, inspect.Setting{Name: name, Value: set, Source: "table"})
		} else if value != "" {
			out = append(out, inspect.Setting{Name: name, Value: value, Source: "default"})
		}
	}
	slices.SortFunc(out, func(a, b inspect.Setting) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// ControlTopic implements inspect.LogStore. Fluss has none.
func (s *Store) ControlTopic(_ context.Context, name string) (inspect.ControlTopic, error) {
	return inspect.ControlTopic{Name: name}, fault.New(fault.Unsupported, "read control topic", "action state in Fluss has no control topic").
		WithHint("leave control-topic out of the job in the profile")
}

func show(p flussrpc.TablePath) string { return safetext.Of(p.String()).String() }
