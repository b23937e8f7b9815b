package flussincident

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/flussrpc/write"
	"github.com/recoverctl/recoverctl/internal/testkit/flusstest"
	"github.com/recoverctl/recoverctl/internal/testkit/orders"
)

// The ids of the producers: the sinks' option sink.producer-id, and once the id of a
// Flink job.
const (
	Ready      = "revenue"         // nothing is to be undone
	Unfinished = "order-totals"    // rows are
	Expired    = "refunds"         // and was not cleaned yet
	FileGone   = "stock-levels"    // nobody can read its offsets
	TableGone  = "loyalty-points"  // it was dropped
	DayGone    = "daily-sales"     // a partition of its table was
	RowsGone   = "clicks-per-hour" // those behind its baseline expired
	NoEntry    = jobBefore         // only its file is left
	entryTTL   = 24 * time.Hour    // of all entries
	expiredAgo = 25 * time.Minute  // the next cleanup is due within the hour
	startedAgo = 2*time.Hour + 28*time.Minute
	tablesMade = 30 * 24 * time.Hour // ago
)

// Producers are the ids of all producers that something is kept of.
func Producers() []string {
	return []string{NoEntry, RowsGone, DayGone, TableGone, Unfinished, Expired, Ready, FileGone}
}

// sink is a table of a Fluss sink, with the entry of its producer.
type sink struct {
	producer, table string
	age             time.Duration // of the entry
	rows            []int         // of each bucket
	unfinished      []int         // of those, rows since the baseline; nil: none
	after           func(*Incident, flussrpc.Log) error
}

// database is where the tables of the sinks are.
const database = "shop"

var sinks = []sink{
	{producer: Ready, table: "revenue", age: startedAgo, rows: []int{310, 287, 344, 295}},
	{producer: Unfinished, table: "order_totals", age: startedAgo, rows: []int{980, 1034, 902, 1120}, unfinished: []int{118, 96, 0, 131}},
	{producer: Expired, table: "refunds", age: entryTTL + expiredAgo, rows: []int{58, 41}, unfinished: []int{4, 2}},
	{producer: FileGone, table: "stock", age: startedAgo, rows: []int{212, 240}, unfinished: []int{15, 9}, after: func(in *Incident, _ flussrpc.Log) error {
		in.cluster.LoseOffsetFiles(FileGone)
		return nil
	}},
	{producer: TableGone, table: "loyalty", age: startedAgo, rows: []int{77, 81}, unfinished: []int{6, 3}, after: func(in *Incident, log flussrpc.Log) error {
		in.cluster.DropTable(log.Table)
		return nil
	}},
	{producer: RowsGone, table: "clicks", age: startedAgo, rows: []int{640, 702}, unfinished: []int{410, 388}, after: func(in *Incident, log flussrpc.Log) error {
		in.cluster.Trim(log, 0, 300)
		return nil
	}},
}

// producers makes the sinks' tables and what the coordinator keeps for their
// producers, with the folders that it has in remote storage.
func (in *Incident) producers(ctx context.Context, now time.Time) error {
	client, err := flussrpc.NewClient(flussrpc.Config{Servers: in.Servers()})
	if err != nil {
		return err
	}
	defer client.Close()
	r := rand.New(rand.NewPCG(seed, 3))
	for _, s := range sinks {
		if err := in.sink(ctx, client, r, s, now); err != nil {
			return err
		}
	}
	if err := in.daily(ctx, client, r, now); err != nil {
		return err
	}
	return in.offsetsFile(r, NoEntry, 1, []int64{214, 190, 233, 201}, nil)
}

// columns are those of every sink's table.
var columns = []flusstest.Column{{Name: "id", Type: "STRING"}, {Name: "orders", Type: "BIGINT"}, {Name: "cents", Type: "BIGINT"}}

func (in *Incident) sink(ctx context.Context, client *flussrpc.Client, r *rand.Rand, s sink, now time.Time) error {
	log := flussrpc.Log{Partition: flussrpc.NoPartition}
	err := in.clock.ago(tablesMade, func() (err error) {
		log.Table, err = in.cluster.CreateTable(flusstest.Spec{
			Path: flussrpc.TablePath{Database: database, Table: s.table}, Columns: columns, Primary: []string{"id"}, BucketKey: []string{"id"},
			Buckets: len(s.rows), Replicas: tablets, Properties: map[string]string{"table.merge-engine": "aggregation", "table.log.ttl": "7d"},
		})
		return err
	})
	if err != nil {
		return err
	}
	offsets := make([]int64, len(s.rows))
	var entry []flussrpc.ProducerOffset
	for b, rows := range s.rows {
		if err := in.totals(r, log, int32(b), int32(len(s.rows)), rows, now); err != nil {
			return err
		}
		offsets[b] = int64(rows)
		if s.unfinished != nil {
			offsets[b] -= int64(s.unfinished[b])
		}
		entry = append(entry, flussrpc.ProducerOffset{Log: log, Bucket: int32(b), Offset: offsets[b]})
	}
	if err := in.register(ctx, client, s.producer, entry, s.age); err != nil {
		return err
	}
	if s.producer == FileGone {
		offsets = nil
	}
	if err := in.offsetsFile(r, s.producer, log.Table, offsets, nil); err != nil {
		return err
	}
	if s.after == nil {
		return nil
	}
	return s.after(in, log)
}

// totals writes the changelog of one bucket: a customer's totals begin with a row, and
// each order changes them from what they were to what they are.
func (in *Incident) totals(r *rand.Rand, log flussrpc.Log, bucket, buckets int32, rows int, now time.Time) error {
	const batch = 100
	var changes []flussrpc.Change
	var values [][]any
	var customers []string
	totals := map[string][2]int64{}
	next := newCustomers(bucket, buckets)
	for n := 0; n < rows; n++ {
		cents := int64(990 + r.IntN(250)*100)
		if n+1 == rows || len(customers) == 0 || r.IntN(3) == 0 {
			id := next()
			customers, totals[id] = append(customers, id), [2]int64{1, cents}
			changes, values = append(changes, flussrpc.Insert), append(values, []any{id, int64(1), cents})
		} else {
			id := customers[r.IntN(len(customers))]
			was := totals[id]
			is := [2]int64{was[0] + 1, was[1] + cents}
			totals[id] = is
			changes = append(changes, flussrpc.UpdateBefore, flussrpc.UpdateAfter)
			values = append(values, []any{id, was[0], was[1]}, []any{id, is[0], is[1]})
			n++
		}
		if len(values) < batch && n+1 < rows {
			continue
		}
		const each = 40 * time.Second
		if _, err := in.cluster.AppendChanges(log, bucket, now.Add(-time.Duration(rows-n)*each).UnixMilli(), changes, values...); err != nil {
			return err
		}
		changes, values = changes[:0], values[:0]
	}
	return nil
}

// newCustomers gives one id of a bucket after the other.
func newCustomers(bucket, buckets int32) (next func() string) {
	n := 0
	return func() string {
		for {
			id := fmt.Sprintf("customer-%05d", 10007+n*31)
			n++
			if flussrpc.BucketOfString(id, buckets) == bucket {
				return id
			}
		}
	}
}

// register gives a producer its entry, some time ago.
func (in *Incident) register(ctx context.Context, client *flussrpc.Client, id string, entry []flussrpc.ProducerOffset, age time.Duration) error {
	return in.clock.ago(age, func() error {
		result, err := write.RegisterProducer(ctx, client, id, entry, entryTTL)
		if err == nil && result != write.Created {
			err = fmt.Errorf("flussincident: an entry of producer %s is there already", id)
		}
		return err
	})
}

// daily is a table with a partition a day, of which one expired since the entry was
// registered.
func (in *Incident) daily(ctx context.Context, client *flussrpc.Client, r *rand.Rand, now time.Time) error {
	var table, gone, kept int64
	day := func(ago int) string { return now.UTC().AddDate(0, 0, -ago).Format(time.DateOnly) }
	err := in.clock.ago(tablesMade, func() (err error) {
		table, err = in.cluster.CreateTable(flusstest.Spec{
			Path:    flussrpc.TablePath{Database: database, Table: "daily_sales"},
			Columns: append([]flusstest.Column{{Name: "day", Type: "STRING"}}, columns...), Primary: []string{"day", "id"}, BucketKey: []string{"id"}, Partition: "day",
			Replicas: tablets, Properties: map[string]string{"table.merge-engine": "aggregation", "table.auto-partition.num-retention": "2"},
		})
		return err
	})
	if err != nil {
		return err
	}
	const retention = 2
	gone, kept = in.cluster.CreatePartition(table, day(retention)), in.cluster.CreatePartition(table, day(1))
	in.cluster.CreatePartition(table, day(0))
	entry := []flussrpc.ProducerOffset{}
	for _, p := range []int64{gone, kept} {
		log := flussrpc.Log{Table: table, Partition: p}
		if _, err := in.cluster.AppendChanges(log, 0, now.Add(-startedAgo).UnixMilli(), []flussrpc.Change{flussrpc.Insert}, []any{day(1), "customer-10007", int64(1), int64(4990)}); err != nil {
			return err
		}
		entry = append(entry, flussrpc.ProducerOffset{Log: log, Offset: 1})
	}
	if err := in.register(ctx, client, DayGone, entry, startedAgo); err != nil {
		return err
	}
	in.cluster.DropPartition(table, gone)
	return in.offsetsFile(r, DayGone, table, nil, map[int64][]int64{gone: {1}, kept: {1}})
}

// offsetsFile writes the file in remote storage that a coordinator keeps an entry's
// offsets of one table in. Without any offsets it is the folder alone, as somebody
// leaves it who deletes old files.
func (in *Incident) offsetsFile(r *rand.Rand, id string, table int64, offsets []int64, partitions map[int64][]int64) error {
	dir := filepath.Join(in.dir, "remote", "producers", id, strconv.FormatInt(table, 10))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("flussincident: %w", err)
	}
	type partition struct {
		ID      int64   `json:"partition_id"`
		Offsets []int64 `json:"bucket_offsets"`
	}
	file := struct {
		Version    int         `json:"version"`
		Table      int64       `json:"table_id"`
		Offsets    []int64     `json:"bucket_offsets,omitempty"`
		Partitions []partition `json:"partition_offsets,omitempty"`
	}{Version: 1, Table: table, Offsets: offsets}
	for _, id := range slices.Sorted(maps.Keys(partitions)) {
		file.Partitions = append(file.Partitions, partition{id, partitions[id]})
	}
	name := filepath.Join(dir, orders.RandomUUID(r)+".offsets")
	if len(file.Offsets)+len(file.Partitions) == 0 {
		return nil
	}
	text, err := json.Marshal(file)
	if err != nil {
		return fmt.Errorf("flussincident: %w", err)
	}
	if err := os.WriteFile(name, text, 0o600); err != nil {
		return fmt.Errorf("flussincident: %w", err)
	}
	return nil
}
