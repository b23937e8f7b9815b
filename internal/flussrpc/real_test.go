//go:build real

package flussrpc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/flussrpc/write"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/internal/testkit/flusstest"
)

// javaRow is a row as Fluss's own client returned it.
type javaRow struct {
	Offset    int64                      `json:"offset"`
	Timestamp int64                      `json:"timestamp"`
	Change    string                     `json:"change"`
	Row       map[string]json.RawMessage `json:"row"`
}

type javaBucket struct {
	Partition int64     `json:"partition"`
	Bucket    int32     `json:"bucket"`
	End       int64     `json:"end"`
	Rows      []javaRow `json:"rows"`
}

type javaOffsets struct {
	Partition        int64 `json:"partition"`
	Earliest, Latest map[int32]int64
}

// database is a name that no other run uses.
func database(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("t%d", time.Now().UnixNano())
}

// sameRows reads what Fluss's own client read, and asks for the same rows. It
// returns how many those are.
func sameRows(t *testing.T, cl *flussrpc.Client, table flussrpc.Table, files flussrpc.Files, want []javaBucket) int {
	t.Helper()
	byPartition := map[int64][]javaBucket{}
	for _, b := range want {
		byPartition[b.Partition] = append(byPartition[b.Partition], b)
	}
	rows := 0
	for partition, buckets := range byPartition {
		q := flussrpc.Scan{Table: table, Partition: partition, Files: files}
		left := map[int32][]javaRow{}
		for _, b := range buckets {
			q.Spans = append(q.Spans, flussrpc.Span{Bucket: b.Bucket, To: b.End})
			left[b.Bucket] = b.Rows
		}
		var mu sync.Mutex
		schemas := cl.NewSchemas(table)
		q.Visit = func(p flussrpc.Piece) error {
			r := schemas.Rows()
			defer r.Close()
			mu.Lock()
			defer mu.Unlock()
			return r.Rows(t.Context(), p.Batch, func(schema flussrpc.Schema, row flussrpc.Row) error {
				if len(left[p.Bucket]) == 0 {
					return fmt.Errorf("offset %d of bucket %d is one more row", row.Offset, p.Bucket)
				}
				w := left[p.Bucket][0]
				left[p.Bucket] = left[p.Bucket][1:]
				rows++
				if row.Offset != w.Offset || row.Timestamp != w.Timestamp || row.Change.String() != w.Change || len(w.Row) != len(schema.Columns) {
					t.Errorf("bucket %d: %+v, want %+v", p.Bucket, row, w)
				}
				for i, c := range schema.Columns {
					if v := row.Value(i); !flussrpc.AsSeen(v, w.Row[c.Name]) {
						t.Errorf("%s, bucket %d, offset %d, %s: %v (%T), want %s", table.Path, p.Bucket, row.Offset, c.Name, v, v, w.Row[c.Name])
					}
				}
				return nil
			})
		}
		for _, r := range cl.Scan(t.Context(), q) {
			if r.Err != nil || len(r.Gaps) > 0 || len(left[r.Bucket]) > 0 {
				t.Errorf("%s: %+v; %d rows are missing", table.Path, r, len(left[r.Bucket]))
			}
		}
	}
	return rows
}

// One cluster and one of Fluss's own clients serve all of these.
func TestARealCluster(t *testing.T) {
	real := flusstest.Real(t)
	java := real.Java(t)
	for name, test := range map[string]func(*testing.T, *flusstest.RealCluster, *flusstest.Java){
		"is read as its own client reads it": readAsItsOwnClientReads, "keeps its rights": keepsItsRights,
		"keeps batches of layout 1": keepsLayout1, "alters a table that is read": altersTable, "drops a table during a scan": dropsTable,
		"keeps offsets of producers": keepsProducers, "loses servers during a scan": losesServers,
	} {
		t.Run(name, func(t *testing.T) { test(t, real, java) })
	}
}

// Every kind of table gives the rows, offsets, times and changes that Fluss's own
// client reads, from its servers and from remote storage.
func readAsItsOwnClientReads(t *testing.T, real *flusstest.RealCluster, java *flusstest.Java) {
	cl, db := real.Client(t), database(t)
	for _, c := range [][]string{
		{"plain", "orders", "2", "1", "table.log.arrow.compression.type=NONE"}, {"zstd", "orders", "2", "1", ""}, {"lz4", "orders", "1", "1", "table.log.arrow.compression.type=LZ4_FRAME"},
		{"daily", "days", "1", "1", ""}, {"balances", "balances", "1", "1", ""}, {"indexed", "mixed-indexed", "1", "1", ""}, {"compacted", "mixed-compacted", "1", "1", ""},
		{"tiered", "rows", "1", "1", "table.log.arrow.compression.type=NONE,table.log.tiered.local-segments=1"},
	} {
		java.Do(t, nil, append([]string{"create", db}, c...)...)
	}
	java.Do(t, nil, "rows", db, "tiered", "3000", "50")
	for _, name := range []string{"plain", "zstd", "lz4"} {
		java.Do(t, nil, "orders", db, name, "60")
	}
	java.Do(t, nil, "balances", db, "balances")
	java.Do(t, nil, "mixed", db, "indexed")
	java.Do(t, nil, "mixed", db, "compacted")
	for _, day := range []string{"2026-11-01", "2026-11-02"} { // long after their table: see Fluss's own troubles
		java.Do(t, nil, "partition", db, "daily", day)
		java.Do(t, nil, "days", db, "daily", day, "7")
	}

	names, err := cl.Tables(t.Context(), db)
	if err != nil || len(names) != 8 {
		t.Fatal(names, err)
	}
	rows := 0
	for _, name := range names {
		table, err := cl.Table(t.Context(), flussrpc.TablePath{Database: db, Table: name})
		if err != nil {
			t.Fatal(err)
		}
		var info struct {
			ID, Created int64
			Buckets     int
		}
		java.Do(t, &info, "info", db, name)
		if table.ID != info.ID || table.Buckets != info.Buckets || table.Created.UnixMilli() != info.Created {
			t.Errorf("%+v, want %+v", table, info)
		}
		if name == "tiered" { // until most of it lies in remote storage
			waitFor(t, func() bool {
				place, err := cl.Buckets(t.Context(), table, flussrpc.NoPartition)
				if err != nil {
					return false
				}
				whole, err := cl.Cluster(t.Context())
				if err != nil {
					return false
				}
				local := cl.ReplicaOffsets(t.Context(), whole.Tablets[place[0].Leader], table, flussrpc.NoPartition, []int32{0}, flussrpc.Earliest)[0]
				return local.Err == nil && local.Offset > 1000
			})
		}
		var offsets []javaOffsets
		java.Do(t, &offsets, "offsets", db, name)
		for _, w := range offsets {
			ids := make([]int32, table.Buckets)
			for i := range ids {
				ids[i] = int32(i)
			}
			for p, want := range map[flussrpc.Position]map[int32]int64{flussrpc.Earliest: w.Earliest, flussrpc.Latest: w.Latest} {
				for _, o := range cl.Offsets(t.Context(), table, w.Partition, ids, p) {
					if o.Err != nil || o.Offset != want[o.Bucket] {
						t.Errorf("%s, position %d: %+v, want %d", name, p, o, want[o.Bucket])
					}
				}
			}
		}
		var want []javaBucket
		java.Do(t, &want, "scan", db, name)
		rows += sameRows(t, cl, table, localFiles{}, want)
	}
	if want := 3*60 + 3000 + 16 + 2*9 + 2*7; rows < want {
		t.Errorf("%d rows were compared, want %d", rows, want)
	}
}

// Of a table that was altered since it was described each batch is read with the
// schema that it was written with.
func altersTable(t *testing.T, real *flusstest.RealCluster, java *flusstest.Java) {
	cl, db := real.Client(t), database(t)
	java.Do(t, nil, "create", db, "grown", "rows", "1", "1", "")
	java.Do(t, nil, "rows", db, "grown", "5", "5")
	table, err := cl.Table(t.Context(), flussrpc.TablePath{Database: db, Table: "grown"})
	if err != nil {
		t.Fatal(err)
	}
	java.Do(t, nil, "add-column", db, "grown", "extra")
	java.Do(t, nil, "wide-rows", db, "grown", "4")
	var want []javaBucket
	java.Do(t, &want, "scan", db, "grown") // by the new schema, with nothing in its last column before
	if len(want) != 1 || len(want[0].Rows) != 9 {
		t.Fatal(want)
	}
	schemas := cl.NewSchemas(table)
	r := schemas.Rows()
	defer r.Close()
	n := 0
	q := flussrpc.Scan{Table: table, Partition: flussrpc.NoPartition, Spans: []flussrpc.Span{{To: 9}}, Visit: func(p flussrpc.Piece) error {
		return r.Rows(t.Context(), p.Batch, func(schema flussrpc.Schema, row flussrpc.Row) error {
			w := want[0].Rows[n]
			columns := 2
			if n >= 5 {
				columns = 3
			}
			if n++; len(schema.Columns) != columns || row.Offset != w.Offset {
				t.Errorf("offset %d has %d columns, want %d", row.Offset, len(schema.Columns), columns)
			}
			for i, c := range schema.Columns {
				if v := row.Value(i); !flussrpc.AsSeen(v, w.Row[c.Name]) {
					t.Errorf("offset %d, %s: %v, want %s", row.Offset, c.Name, v, w.Row[c.Name])
				}
			}
			return nil
		})
	}}
	if got := cl.Scan(t.Context(), q)[0]; got.Err != nil || n != 9 {
		t.Errorf("%d rows: %+v", n, got)
	}
}

// A table that is dropped while it is read ends the scan soon, with what was read and
// why there is no more.
func dropsTable(t *testing.T, real *flusstest.RealCluster, java *flusstest.Java) {
	cl, db := real.Client(t), database(t)
	java.Do(t, nil, "create", db, "short", "rows", "1", "1", "table.log.arrow.compression.type=NONE,table.log.tiered.local-segments=100")
	const rows = 6000 // many more than are asked for while the first ones are shown
	java.Do(t, nil, "rows", db, "short", fmt.Sprint(rows), "100")
	table, err := cl.Table(t.Context(), flussrpc.TablePath{Database: db, Table: "short"})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	first, gone := make(chan struct{}), make(chan struct{})
	letGo := sync.OnceFunc(func() { close(gone) })
	defer letGo()
	var once sync.Once
	shown := int64(0)
	q := flussrpc.Scan{Table: table, Partition: flussrpc.NoPartition, Spans: []flussrpc.Span{{To: rows}}, Visit: func(p flussrpc.Piece) error {
		once.Do(func() {
			close(first)
			<-gone
		})
		shown = p.Batch.Next()
		return nil
	}}
	scanned := make(chan flussrpc.SpanResult, 1)
	go func() { scanned <- cl.Scan(t.Context(), q)[0] }()
	<-first
	java.Do(t, nil, "drop", db, "short")
	waitFor(t, func() bool { // the server is told a moment later
		_, err := cl.Gives(t.Context(), table, flussrpc.NoPartition, 0, 0)
		return err != nil
	})
	letGo()
	got := <-scanned
	if kind := fault.KindOf(got.Err); kind != fault.NotFound || got.Read != shown || got.Read == 0 || got.Read >= rows || fault.Of(got.Err).Hint == "" {
		t.Errorf("shown up to %d: %+v (%s)", shown, got, kind)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %s", took)
	}
}

// This release keeps and serves batches of layout 1, which have the leader's epoch in
// their header, beside those that its own writers make.
func keepsLayout1(t *testing.T, real *flusstest.RealCluster, java *flusstest.Java) {
	cl, db := real.Client(t), database(t)
	java.Do(t, nil, "create", db, "mixed", "rows", "1", "1", "")
	java.Do(t, nil, "layout1", db, "mixed", "40")
	java.Do(t, nil, "rows", db, "mixed", "5", "5")
	java.Do(t, nil, "layout1", db, "mixed", "3")
	table, err := cl.Table(t.Context(), flussrpc.TablePath{Database: db, Table: "mixed"})
	if err != nil {
		t.Fatal(err)
	}
	var layouts []int8
	q := flussrpc.Scan{Table: table, Partition: flussrpc.NoPartition, Spans: []flussrpc.Span{{To: 48}}, Visit: func(p flussrpc.Piece) error {
		layouts = append(layouts, p.Batch.Magic)
		return nil
	}}
	if got := cl.Scan(t.Context(), q)[0]; got.Err != nil || !slices.Equal(layouts, []int8{1, 0, 1}) {
		t.Errorf("batches of the layouts %v: %+v", layouts, got)
	}
	var want []javaBucket
	java.Do(t, &want, "scan", db, "mixed")
	if rows := sameRows(t, cl, table, localFiles{}, want); rows != 48 {
		t.Errorf("%d rows were compared, want 48", rows)
	}
}

func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	const most = 60 * time.Second
	for until := time.Now().Add(most); time.Now().Before(until); time.Sleep(200 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("it did not come about in %s", most)
}

func keepsItsRights(t *testing.T, real *flusstest.RealCluster, java *flusstest.Java) {
	db := database(t)
	java.Do(t, nil, "create", db, "orders", "rows", "1", "1", "")
	ctx := t.Context()
	as := func(l flussrpc.Login) func(*flussrpc.Config) {
		return func(c *flussrpc.Config) {
			c.Login, c.Timeout = func(context.Context) (flussrpc.Login, error) { return l, nil }, 10*time.Second
		}
	}
	patient := func(c *flussrpc.Config) { c.Timeout = 10 * time.Second }
	path := flussrpc.TablePath{Database: db, Table: "orders"}
	admin := client(t, real.SASL, as(real.Admin))
	table, err := admin.Table(ctx, path)
	if err != nil {
		t.Fatal(err)
	}

	// Who may see nothing is told nothing.
	viewer := client(t, real.SASL, as(real.User))
	if got, err := viewer.Databases(ctx); err != nil || slices.Contains(got, db) {
		t.Error(got, err)
	}
	if _, err := viewer.Table(ctx, path); fault.KindOf(err) != fault.Denied {
		t.Error(err)
	}
	if _, err := viewer.Settings(ctx); fault.KindOf(err) != fault.Denied || !strings.Contains(err.Error(), "DESCRIBE") {
		t.Error(err)
	}
	if _, err := viewer.Buckets(ctx, table, flussrpc.NoPartition); fault.KindOf(err) != fault.Denied || !strings.Contains(fault.Of(err).Hint, "DESCRIBE") {
		t.Error(err)
	}

	// The cluster tells its passwords; this program does not.
	settings, err := admin.Settings(ctx)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprint(settings)
	if strings.Contains(text, real.Admin.Password.Reveal()) || strings.Contains(text, real.User.Password.Reveal()) || !strings.Contains(text, "security.sasl.plain.jaas.config ***") || !strings.Contains(text, "remote.data.dir file:///") {
		t.Error(text)
	}

	if _, err := client(t, real.SASL, patient).Databases(ctx); fault.KindOf(err) != fault.Denied || !strings.Contains(fault.Of(err).Hint, "fluss.username") {
		t.Errorf("without a login: %v", err)
	}
	if _, err := client(t, real.SASL, as(flussrpc.Login{Username: real.Admin.Username, Password: secret.New("wrong")})).Databases(ctx); fault.KindOf(err) != fault.Denied || !strings.Contains(err.Error(), "refused the login of user admin") {
		t.Errorf("with a wrong password: %v", err)
	}
	if _, err := client(t, real.Servers, as(real.Admin)).Databases(ctx); fault.KindOf(err) != fault.Denied || !strings.Contains(fault.Of(err).Hint, "asks for no login") {
		t.Errorf("a login where none is asked for: %v", err)
	}
}

func keepsProducers(t *testing.T, real *flusstest.RealCluster, java *flusstest.Java) {
	cl, db := real.Client(t), database(t)
	ctx := t.Context()
	java.Do(t, nil, "create", db, "orders", "rows", "2", "1", "")
	java.Do(t, nil, "rows", db, "orders", "10", "10")
	table, err := cl.Table(ctx, flussrpc.TablePath{Database: db, Table: "orders"})
	if err != nil {
		t.Fatal(err)
	}
	log := flussrpc.Log{Table: table.ID, Partition: flussrpc.NoPartition}
	type entry struct {
		Found   bool
		Expires int64
		Offsets []struct {
			Table, Partition, Offset int64
			Bucket                   int32
		}
	}
	seen := func(id string) (out entry) {
		t.Helper()
		java.Do(t, &out, "producer", id)
		return out
	}

	// What Fluss's own client registers is read, and the other way round.
	id := db + "-java"
	var result struct{ Result string }
	java.Do(t, &result, "register", id, db, "orders")
	got, found, err := cl.ProducerOffsets(ctx, id)
	want := seen(id)
	if err != nil || !found || result.Result != "CREATED" || got.Expires.UnixMilli() != want.Expires || len(got.Offsets) != len(want.Offsets) || len(got.Offsets) != 2 {
		t.Fatalf("%+v, %v, want %+v", got, err, want)
	}
	total := int64(0)
	for _, o := range got.Offsets {
		total += o.Offset
		if o.Log != log {
			t.Errorf("%+v", o)
		}
	}
	if total != 10 {
		t.Errorf("%+v", got.Offsets)
	}
	if r, err := write.RegisterProducer(ctx, cl, id, nil, 0); err != nil || r != write.AlreadyExists {
		t.Error(r, err)
	}
	if err := write.DeleteProducer(ctx, cl, id); err != nil || seen(id).Found {
		t.Error("it is there after a delete", err)
	}
	if _, found, err := cl.ProducerOffsets(ctx, id); err != nil || found {
		t.Error(found, err)
	}

	id = db + "-ours"
	ours := []flussrpc.ProducerOffset{{Log: log, Bucket: 1, Offset: 4}}
	if r, err := write.RegisterProducer(ctx, cl, id, ours, time.Hour); err != nil || r != write.Created {
		t.Fatal(r, err)
	}
	if e := seen(id); !e.Found || len(e.Offsets) != 1 || e.Offsets[0].Bucket != 1 || e.Offsets[0].Offset != 4 || e.Offsets[0].Table != table.ID {
		t.Errorf("%+v", e)
	}
	if err := write.DeleteProducer(ctx, cl, id); err != nil {
		t.Error(err)
	}
	if r, err := write.RegisterProducer(ctx, cl, id, ours, time.Millisecond); err != nil || r != write.Created {
		t.Fatal(r, err)
	}
	waitFor(t, func() bool { // expired and cleaned; in between its files may be gone and its node not
		_, found, err := cl.ProducerOffsets(ctx, id)
		if err != nil && fault.KindOf(err) != fault.Corrupt {
			t.Fatal(err)
		}
		return err == nil && !found
	})
	// A tablet server is silent about them, so it is not asked.
	if keeps, err := cl.KeepsProducers(ctx); err != nil || !keeps {
		t.Error(keeps, err)
	}
	fromTablet := client(t, real.Servers[1:2], func(c *flussrpc.Config) { c.Timeout = 10 * time.Second })
	if _, found, err := fromTablet.ProducerOffsets(ctx, id); err != nil || found {
		t.Error(found, err)
	}
}

// A tablet server dies in the middle of a scan: its buckets are read from the
// replica that leads then, every row once. Later the coordinator dies: what it does
// not serve itself goes on.
func losesServers(t *testing.T, real *flusstest.RealCluster, java *flusstest.Java) {
	cl, db := real.Client(t), database(t)
	ctx := t.Context()
	java.Do(t, nil, "create", db, "rows", "rows", "4", "2", "table.log.tiered.local-segments=100")
	java.Do(t, nil, "rows", db, "rows", "4000", "500")
	table, err := cl.Table(ctx, flussrpc.TablePath{Database: db, Table: "rows"})
	if err != nil {
		t.Fatal(err)
	}
	q := flussrpc.Scan{Table: table, Partition: flussrpc.NoPartition, Files: localFiles{}}
	total := int64(0)
	for _, o := range cl.Offsets(ctx, table, flussrpc.NoPartition, []int32{0, 1, 2, 3}, flussrpc.Latest) {
		if o.Err != nil {
			t.Fatal(o.Err)
		}
		q.Spans = append(q.Spans, flussrpc.Span{Bucket: o.Bucket, To: o.Offset + 1}) // one more than there are: it waits at the end
		total += o.Offset
	}
	if total != 4000 {
		t.Fatal(total)
	}
	var once sync.Once
	var mu sync.Mutex
	next := map[int32]int64{}
	schemas := cl.NewSchemas(table)
	q.Visit = func(p flussrpc.Piece) error {
		once.Do(func() { real.Kill(t, "tablet0") })
		r := schemas.Rows()
		defer r.Close()
		return r.Rows(ctx, p.Batch, func(_ flussrpc.Schema, row flussrpc.Row) error {
			mu.Lock()
			defer mu.Unlock()
			if row.Offset != next[p.Bucket] {
				return fmt.Errorf("bucket %d: offset %d after %d", p.Bucket, row.Offset, next[p.Bucket])
			}
			next[p.Bucket]++
			return nil
		})
	}
	began := time.Now()
	for i, r := range cl.Scan(ctx, q) {
		if fault.KindOf(r.Err) != fault.Drift || r.Read != q.Spans[i].To-1 || next[r.Bucket] != r.Read {
			t.Errorf("%+v: %d rows", r, next[r.Bucket])
		}
	}
	t.Logf("a scan whose tablet server was killed took %s", time.Since(began).Round(time.Millisecond))

	// From here on nobody elects leaders.
	real.Kill(t, "coordinator")
	lonely := client(t, real.Servers, func(c *flussrpc.Config) { c.Timeout = 10 * time.Second })
	if got, err := lonely.Cluster(ctx); err != nil || got.Told.Kind != flussrpc.TabletServer {
		t.Errorf("%+v, %v", got, err)
	}
	for _, o := range lonely.Offsets(ctx, table, flussrpc.NoPartition, []int32{0, 1, 2, 3}, flussrpc.Latest) {
		if o.Err != nil {
			t.Error(o.Err)
		}
	}
	if _, _, err := lonely.ProducerOffsets(ctx, "anybody"); fault.KindOf(err) != fault.Unreachable || !strings.Contains(err.Error(), "the coordinator ") {
		t.Error(err)
	}
	real.Start(t, "coordinator", "tablet0")
}
