package flussrpc_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/flussrpc/write"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/internal/testkit/flusstest"
)

var path = flussrpc.TablePath{Database: "flink_agents", Table: "action_state"}

func started(t *testing.T, o flusstest.Options) *flusstest.Cluster {
	t.Helper()
	c, err := flusstest.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func client(t *testing.T, servers []string, change ...func(*flussrpc.Config)) *flussrpc.Client {
	t.Helper()
	config := flussrpc.Config{Servers: servers, Timeout: time.Minute, Patience: time.Minute} // of answers that come
	for _, f := range change {
		f(&config)
	}
	c, err := flussrpc.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// rows of a bucket: so many batches of so many rows.
func fill(t *testing.T, c *flusstest.Cluster, log flussrpc.Log, bucket int32, batches, each int) {
	t.Helper()
	n := 0
	for i := range batches {
		var rows [][]any
		for range each {
			rows = append(rows, []any{fmt.Sprintf("k%d-%d", bucket, n), []byte(fmt.Sprint(n)), fmt.Sprintf("k%d", bucket)})
			n++
		}
		if _, err := c.Append(log, bucket, int64(1_000_000+i), rows...); err != nil {
			t.Fatal(err)
		}
	}
}

// made makes the action-state table and describes it.
func made(t *testing.T, c *flusstest.Cluster, buckets, replicas int) (flussrpc.Log, func(*flussrpc.Client) flussrpc.Table) {
	t.Helper()
	spec := flusstest.ActionState(path, buckets)
	spec.Replicas = replicas
	id, err := c.CreateTable(spec)
	if err != nil {
		t.Fatal(err)
	}
	return flussrpc.Log{Table: id, Partition: flussrpc.NoPartition}, func(client *flussrpc.Client) flussrpc.Table {
		table, err := client.Table(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
}

// seen is what a scan showed, by bucket: the keys in their order.
type seen struct {
	mu   sync.Mutex
	keys map[int32][]string
}

// scan reads buckets from their beginning to an end, and calls each where it is
// shown.
func scan(ctx context.Context, c *flussrpc.Client, table flussrpc.Table, files flussrpc.Files, ends []int64, each func(bucket int32, offset int64)) (map[int32][]string, []flussrpc.SpanResult) {
	q, keys := question(ctx, c, table, files, ends, each)
	return keys, c.Scan(ctx, q)
}

// question is what scan asks, and the keys that it will have shown.
func question(ctx context.Context, c *flussrpc.Client, table flussrpc.Table, files flussrpc.Files, ends []int64, each func(bucket int32, offset int64)) (flussrpc.Scan, map[int32][]string) {
	q := flussrpc.Scan{Table: table, Partition: flussrpc.NoPartition, Files: files}
	for b, end := range ends {
		q.Spans = append(q.Spans, flussrpc.Span{Bucket: int32(b), To: end})
	}
	s := seen{keys: map[int32][]string{}}
	schemas := c.NewSchemas(table)
	q.Visit = func(p flussrpc.Piece) error {
		r := schemas.Columns("state_key", "state_payload", "agent_key")
		defer r.Close()
		return r.Rows(ctx, p.Batch, func(row flussrpc.Picked) error {
			if row.Offset < p.From || row.Offset >= p.To {
				return nil
			}
			s.mu.Lock()
			s.keys[p.Bucket] = append(s.keys[p.Bucket], string(row.Cells[0]))
			s.mu.Unlock()
			if each != nil {
				each(p.Bucket, row.Offset)
			}
			return nil
		})
	}
	return q, s.keys
}

// wantKeys are the keys that fill wrote, from one on to another.
func wantKeys(bucket int32, from, to int) (out []string) {
	for n := from; n < to; n++ {
		out = append(out, fmt.Sprintf("k%d-%d", bucket, n))
	}
	return out
}

func TestAnyServerTellsOfTheCluster(t *testing.T) {
	c := started(t, flusstest.Options{Tablets: 3})
	for _, server := range c.Servers() {
		got, err := client(t, []string{server}).Cluster(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got.Coordinator == nil || got.Coordinator.Address != c.Coordinator() || len(got.Tablets) != 3 || got.Tablets[2].Address != c.Tablet(2) || got.Told.Address != server {
			t.Errorf("%+v", got)
		}
	}
}

func TestTablesAndWhatTheyAre(t *testing.T) {
	c := started(t, flusstest.Options{Tablets: 2})
	made(t, c, 4, 1)
	daily, err := c.CreateTable(flusstest.Spec{Path: flussrpc.TablePath{Database: "shop", Table: "by_day"}, Buckets: 2, Partition: "dt", Columns: []flusstest.Column{{Name: "dt", Type: "STRING"}, {Name: "n", Type: "BIGINT"}}})
	if err != nil {
		t.Fatal(err)
	}
	day := c.CreatePartition(daily, "2026-11-01")
	cl := client(t, c.Servers())
	ctx := t.Context()

	if got, err := cl.Databases(ctx); err != nil || !slices.Equal(got, []string{"flink_agents", "fluss", "shop"}) {
		t.Error(got, err)
	}
	if got, err := cl.Tables(ctx, "shop"); err != nil || !slices.Equal(got, []string{"by_day"}) {
		t.Error(got, err)
	}
	if _, err := cl.Tables(ctx, "nobody"); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
	table, err := cl.Table(ctx, path)
	if err != nil || table.Buckets != 4 || !slices.Equal(table.BucketKey, []string{"agent_key"}) || table.ID != 0 || table.Format() != flussrpc.FormatArrow {
		t.Errorf("%+v, %v", table, err)
	}
	if _, err := cl.Table(ctx, flussrpc.TablePath{Database: "shop", Table: "gone"}); fault.KindOf(err) != fault.NotFound || !strings.Contains(fault.Of(err).Hint, "may not see") {
		t.Error(err)
	}
	parts, err := cl.Partitions(ctx, flussrpc.TablePath{Database: "shop", Table: "by_day"})
	if err != nil || len(parts) != 1 || parts[0].Name != "2026-11-01" || parts[0].ID != day {
		t.Error(parts, err)
	}
	if _, err := cl.Partitions(ctx, path); fault.KindOf(err) != fault.Usage {
		t.Error(err)
	}
	byDay, err := cl.Table(ctx, flussrpc.TablePath{Database: "shop", Table: "by_day"})
	if err != nil {
		t.Fatal(err)
	}
	if buckets, err := cl.Buckets(ctx, byDay, day); err != nil || len(buckets) != 2 || buckets[1].Leader != 1 {
		t.Error(buckets, err)
	}
	c.DropPartition(daily, day)
	if _, err := cl.Buckets(ctx, byDay, day); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
}

// A table that was dropped and made again is another one, and is never taken for
// the one before.
func TestATableThatWasMadeAgain(t *testing.T) {
	c := started(t, flusstest.Options{})
	log, describe := made(t, c, 1, 1)
	cl := client(t, c.Servers())
	table := describe(cl)
	c.DropTable(log.Table)
	if _, err := cl.Buckets(t.Context(), table, flussrpc.NoPartition); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
	made(t, c, 1, 1)
	if _, err := cl.Buckets(t.Context(), table, flussrpc.NoPartition); fault.KindOf(err) != fault.Drift || !strings.Contains(err.Error(), "its id was 0 and is 1") {
		t.Error(err)
	}
}

func TestOffsetsComeFromWhoeverLeads(t *testing.T) {
	c := started(t, flusstest.Options{Tablets: 3})
	log, describe := made(t, c, 3, 3)
	for b := range int32(3) {
		fill(t, c, log, b, 4, 5)
	}
	c.Trim(log, 1, 5)
	cl := client(t, c.Servers())
	table := describe(cl)
	ask := func(p flussrpc.Position) (out []int64) {
		t.Helper()
		for _, o := range cl.Offsets(t.Context(), table, flussrpc.NoPartition, []int32{0, 1, 2}, p) {
			if o.Err != nil {
				t.Error(o.Err)
			}
			out = append(out, o.Offset)
		}
		return out
	}
	if got := ask(flussrpc.Earliest); !slices.Equal(got, []int64{0, 5, 0}) {
		t.Error(got)
	}
	if got := ask(flussrpc.At(time.UnixMilli(1_000_002))); !slices.Equal(got, []int64{10, 10, 10}) {
		t.Error(got)
	}
	c.MoveLeader(log, 0, 2)
	c.KillTablet(1)
	if got := ask(flussrpc.Latest); !slices.Equal(got, []int64{20, 20, 20}) {
		t.Error(got)
	}
	for _, o := range cl.Offsets(t.Context(), table, flussrpc.NoPartition, []int32{7, 0}, flussrpc.Latest) {
		if (o.Bucket == 7) != (fault.KindOf(o.Err) == fault.NotFound) || o.Bucket == 0 && o.Err != nil {
			t.Errorf("%+v", o)
		}
	}
}

// A bucket that nobody leads hides none of the others.
func TestABucketWithoutALeader(t *testing.T) {
	c := started(t, flusstest.Options{Tablets: 2})
	log, describe := made(t, c, 2, 1)
	fill(t, c, log, 0, 1, 3)
	cl := client(t, c.Servers())
	table := describe(cl)
	c.KillTablet(1)
	got := cl.Offsets(t.Context(), table, flussrpc.NoPartition, []int32{0, 1}, flussrpc.Latest)
	if got[0].Err != nil || got[0].Offset != 3 || fault.KindOf(got[1].Err) != fault.Unreachable || !strings.Contains(got[1].Err.Error(), "bucket 1 of table flink_agents.action_state has no leader") {
		t.Errorf("%+v", got)
	}
}

func TestAScanReadsEveryRowOnce(t *testing.T) {
	c := started(t, flusstest.Options{Tablets: 3})
	log, describe := made(t, c, 7, 1)
	ends := make([]int64, 7)
	for b := range int32(6) { // the last one is empty
		fill(t, c, log, b, 30, int(b)+1)
		ends[b] = int64(30 * (b + 1))
	}
	c.AppendEmpty(log, 2, 5, 4) // offsets without rows
	ends[2] += 4
	cl := client(t, c.Servers())
	got, results := scan(t.Context(), cl, describe(cl), nil, ends, nil)
	for b, r := range results {
		if r.Err != nil || len(r.Gaps) > 0 || r.Read != ends[b] {
			t.Errorf("%+v", r)
		}
		if want := wantKeys(int32(b), 0, 30*(b+1)); b < 6 && !slices.Equal(got[int32(b)], want) {
			t.Errorf("bucket %d: %d rows, want %d", b, len(got[int32(b)]), len(want))
		}
	}
	fetches := 0
	for _, call := range c.Calls() {
		if call.API == flussrpc.APIFetchLog {
			fetches++
		}
	}
	if fetches > 9 {
		t.Errorf("%d requests for rows that fit in three", fetches)
	}
}

// Batches that are larger than what is asked of a bucket, where many are asked for at
// once, are cut by a server: they are asked for again, whole. And what is shown is
// not written over by the answers that come meanwhile.
func TestBatchesThatAreLargerThanWhatIsAskedFor(t *testing.T) {
	const buckets, batches = 12, 3
	sizes := [buckets]int{0: 5 << 20, 3: 9 << 20} // one larger than a bucket's share of an answer, one than an answer
	c := started(t, flusstest.Options{})
	log, describe := made(t, c, buckets, 1)
	payload := func(bucket int32, n int) []byte {
		noise := make([]byte, cmp.Or(sizes[bucket], 900<<10))               // which can't be packed
		_, _ = rand.NewChaCha8([32]byte{byte(bucket), byte(n)}).Read(noise) // it never fails
		return noise
	}
	ends := make([]int64, buckets)
	for b := range int32(buckets) {
		for n := range batches {
			if _, err := c.Append(log, b, 1_000_000, []any{fmt.Sprintf("k%d-%d", b, n), payload(b, n), "k"}); err != nil {
				t.Fatal(err)
			}
		}
		ends[b] = batches
	}
	cl := client(t, c.Servers())
	table := describe(cl)
	q := flussrpc.Scan{Table: table, Partition: flussrpc.NoPartition}
	for b, end := range ends {
		q.Spans = append(q.Spans, flussrpc.Span{Bucket: int32(b), To: end})
	}
	schemas := cl.NewSchemas(table)
	q.Visit = func(p flussrpc.Piece) error {
		r := schemas.Columns("state_key", "state_payload")
		defer r.Close()
		return r.Rows(t.Context(), p.Batch, func(row flussrpc.Picked) error {
			want := payload(p.Bucket, int(row.Offset))
			for range 3 {
				if string(row.Cells[0]) != fmt.Sprintf("k%d-%d", p.Bucket, row.Offset) || !bytes.Equal(row.Cells[1], want) {
					return fmt.Errorf("the row at offset %d is not the one that was written", row.Offset)
				}
				runtime.Gosched()
			}
			return nil
		})
	}
	for _, r := range cl.Scan(t.Context(), q) {
		if r.Err != nil || len(r.Gaps) > 0 || r.Read != batches {
			t.Errorf("bucket %d was read to %d: %v %v", r.Bucket, r.Read, r.Err, r.Gaps)
		}
	}
}

// Windows begin and end inside batches.
func TestAScanShowsNoRowsOutsideItsSpan(t *testing.T) {
	c := started(t, flusstest.Options{})
	log, describe := made(t, c, 1, 1)
	fill(t, c, log, 0, 4, 10)
	cl := client(t, c.Servers())
	table := describe(cl)
	r := cl.NewSchemas(table).Rows()
	defer r.Close()
	var got []int64
	results := cl.Scan(t.Context(), flussrpc.Scan{Table: table, Partition: flussrpc.NoPartition, Spans: []flussrpc.Span{{Bucket: 0, From: 13, To: 27}}, Visit: func(p flussrpc.Piece) error {
		return r.Rows(t.Context(), p.Batch, func(_ flussrpc.Schema, row flussrpc.Row) error {
			if row.Offset >= p.From && row.Offset < p.To {
				got = append(got, row.Offset)
			}
			return nil
		})
	}})
	if len(got) != 14 || got[0] != 13 || got[13] != 26 || results[0].Err != nil || results[0].Read != 27 {
		t.Errorf("%v, %+v", got, results)
	}
}

// Whatever happens to leaders, each row is shown once, and in order.
func TestAScanFollowsLeaders(t *testing.T) {
	for name, happens := range map[string]func(*flusstest.Cluster, flussrpc.Log){
		"one moves":                    func(c *flusstest.Cluster, log flussrpc.Log) { c.MoveLeader(log, 0, 1) },
		"one is killed":                func(c *flusstest.Cluster, _ flussrpc.Log) { c.KillTablet(0) },
		"the coordinator goes as well": func(c *flusstest.Cluster, log flussrpc.Log) { c.MoveLeader(log, 0, 2); c.KillCoordinator() },
	} {
		t.Run(name, func(t *testing.T) {
			c := started(t, flusstest.Options{Tablets: 3})
			log, describe := made(t, c, 2, 3)
			for b := range int32(2) {
				fill(t, c, log, b, 20, 5)
			}
			cl := client(t, c.Servers())
			table := describe(cl)
			var once sync.Once
			gone := false
			var mu sync.Mutex
			c.On(func(call flusstest.Call) flusstest.Reaction {
				mu.Lock()
				defer mu.Unlock()
				if call.API == flussrpc.APIFetchLog && call.ID == 0 && !gone {
					gone = true
					return flusstest.Reaction{Refuse: &flussrpc.Error{Code: flussrpc.RequestTimeOut, Message: "later"}}
				}
				return flusstest.Reaction{}
			})
			got, results := scan(t.Context(), cl, table, nil, []int64{100, 100}, func(bucket int32, offset int64) {
				if bucket == 1 && offset == 3 {
					once.Do(func() { happens(c, log) })
				}
			})
			for b, r := range results {
				if r.Err != nil || r.Read != 100 || !slices.Equal(got[int32(b)], wantKeys(int32(b), 0, 100)) {
					t.Errorf("%+v: %d rows", r, len(got[int32(b)]))
				}
			}
		})
	}
}

func TestAScanThatCannotEnd(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(*testing.T, *flusstest.Cluster, flussrpc.Log)
		kind    fault.Kind
		says    string
		read    int64 // of bucket 0
		waits   bool  // for something that never comes
	}{
		"its server is gone":    {func(_ *testing.T, c *flusstest.Cluster, _ flussrpc.Log) { c.KillTablet(0) }, fault.Unreachable, "has no leader", 0, true},
		"its table was dropped": {func(_ *testing.T, c *flusstest.Cluster, log flussrpc.Log) { c.DropTable(log.Table) }, fault.NotFound, "is not there any more", 0, false},
		"its table was made again": {func(t *testing.T, c *flusstest.Cluster, log flussrpc.Log) {
			c.DropTable(log.Table)
			made(t, c, 2, 1)
		}, fault.Drift, "was dropped and made again", 0, false},
		"its end went back":  {func(_ *testing.T, c *flusstest.Cluster, log flussrpc.Log) { c.Truncate(log, 0, 10) }, fault.Drift, "its end was 20 and is 10", 10, true},
		"a batch is damaged": {func(_ *testing.T, c *flusstest.Cluster, log flussrpc.Log) { c.Damage(log, 0, 12) }, fault.Corrupt, "the checksum of the batch at offset 10 is wrong", 10, false},
		"it may not be read": {func(_ *testing.T, c *flusstest.Cluster, _ flussrpc.Log) {
			c.On(func(call flusstest.Call) flusstest.Reaction {
				if call.API == flussrpc.APIFetchLog && call.ID == 0 {
					return flusstest.Reaction{Refuse: &flussrpc.Error{Code: flussrpc.Authorization, Message: "no READ"}}
				}
				return flusstest.Reaction{}
			})
		}, fault.Denied, "no READ", 0, false},
		"its server is silent": {func(_ *testing.T, c *flusstest.Cluster, _ flussrpc.Log) {
			c.On(func(call flusstest.Call) flusstest.Reaction {
				return flusstest.Reaction{Silent: call.API == flussrpc.APIFetchLog && call.ID == 0}
			})
		}, fault.Unreachable, "did not answer FetchLog", 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := started(t, flusstest.Options{Tablets: 2})
			log, describe := made(t, cluster, 2, 1)
			for b := range int32(2) {
				fill(t, cluster, log, b, 4, 5)
			}
			cl := client(t, cluster.Servers(), func(config *flussrpc.Config) {
				if c.waits {
					config.Timeout, config.Patience = 2*time.Second, 2*time.Second
				}
			})
			table := describe(cl)
			cl.Offsets(t.Context(), table, flussrpc.NoPartition, []int32{0, 1}, flussrpc.Latest) // the leaders are known
			c.happens(t, cluster, log)
			got, results := scan(t.Context(), cl, table, nil, []int64{20, 20}, nil)
			r := results[0]
			if fault.KindOf(r.Err) != c.kind || !strings.Contains(fmt.Sprint(r.Err), c.says) || r.Read != c.read || fault.Of(r.Err).Hint == "" {
				t.Errorf("%v (%v), read to %d; hint %q", r.Err, fault.KindOf(r.Err), r.Read, fault.Of(r.Err).Hint)
			}
			if !slices.Equal(got[0], wantKeys(0, 0, int(c.read))) {
				t.Errorf("%q", got[0])
			}
			if c.kind != fault.NotFound && c.kind != fault.Drift && (results[1].Err != nil || len(got[1]) != 20) {
				t.Errorf("the other bucket: %+v", results[1])
			}
		})
	}
}

// What expired in front of the reader is a gap, and the rest is read.
func TestALogThatIsCutDuringAScan(t *testing.T) {
	c := started(t, flusstest.Options{})
	log, describe := made(t, c, 1, 1)
	fill(t, c, log, 0, 4, 5)
	c.Trim(log, 0, 10)
	cl := client(t, c.Servers())
	got, results := scan(t.Context(), cl, describe(cl), nil, []int64{20}, nil)
	r := results[0]
	if r.Err != nil || len(r.Gaps) != 1 || r.Gaps[0].From != 0 || r.Gaps[0].To != 10 || fault.KindOf(r.Gaps[0].Err) != fault.Drift || !slices.Equal(got[0], wantKeys(0, 10, 20)) || r.Read != 20 {
		t.Errorf("%+v, %q", r, got[0])
	}
}

func TestACancelledScanKeepsWhatItRead(t *testing.T) {
	c := started(t, flusstest.Options{})
	log, describe := made(t, c, 1, 1)
	fill(t, c, log, 0, 4, 5)
	c.On(func(call flusstest.Call) flusstest.Reaction {
		return flusstest.Reaction{Silent: call.API == flussrpc.APIFetchLog && len(call.Body) > 0 && strings.Contains(string(call.Body), "\x18\x14")} // from offset 20 on
	})
	cl := client(t, c.Servers())
	table := describe(cl)
	ctx, cancel := context.WithCancel(t.Context())
	q, got := question(ctx, cl, table, nil, []int64{25}, nil)
	q.Passed = func(_ int32, next int64) {
		if next == 20 {
			cancel()
		}
	}
	results := cl.Scan(ctx, q)
	cancel()
	if !errors.Is(results[0].Err, context.Canceled) || results[0].Read != 20 || len(got[0]) != 20 {
		t.Errorf("%+v, %d rows", results[0], len(got[0]))
	}
}

// localFiles reads files of this machine.
type localFiles struct{}

func (localFiles) Read(_ context.Context, uri string, offset, size int64) ([]byte, error) {
	f, err := os.Open(strings.TrimPrefix(uri, "file:"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, size)
	if _, err := f.ReadAt(data, offset); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return data, nil
}

// Rows that were moved to remote storage are read from there, and the rest from
// the leader.
func TestRemoteSegments(t *testing.T) {
	for name, c := range map[string]struct {
		files   flussrpc.Files
		happens func(t *testing.T, file string) // to the second segment
		kind    fault.Kind                      // of the gap
		says    string
		gap     [2]int64
	}{
		"are read":               {files: localFiles{}},
		"are not read here":      {nil, nil, fault.Unsupported, "lie in remote storage", [2]int64{0, 20}},
		"are missing":            {localFiles{}, func(t *testing.T, file string) { os.Remove(file) }, fault.NotFound, "can't be read", [2]int64{10, 20}},
		"are shorter than told":  {localFiles{}, func(t *testing.T, file string) { os.Truncate(file, 200) }, fault.Corrupt, "can't be read", [2]int64{10, 20}},
		"are of something else":  {localFiles{}, func(t *testing.T, file string) { overwrite(t, file) }, fault.Corrupt, "no batches", [2]int64{10, 20}},
		"are not to be seen":     {refusing{fs.ErrPermission}, nil, fault.Denied, "can't be read", [2]int64{0, 20}},
		"are where nobody looks": {refusing{errors.New("no route to host")}, nil, fault.Unreachable, "no route to host", [2]int64{0, 20}},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := started(t, flusstest.Options{})
			log, describe := made(t, cluster, 1, 1)
			fill(t, cluster, log, 0, 8, 5)
			folder := t.TempDir()
			var file string
			for _, to := range []int64{10, 20} {
				var err error
				if file, err = cluster.Tier(log, 0, to, folder); err != nil {
					t.Fatal(err)
				}
			}
			if c.happens != nil {
				c.happens(t, file)
			}
			cl := client(t, cluster.Servers())
			table := describe(cl)
			if start := cl.Offsets(t.Context(), table, flussrpc.NoPartition, []int32{0}, flussrpc.Earliest)[0]; start.Offset != 0 || start.Err != nil {
				t.Errorf("%+v", start)
			}
			if local := cl.ReplicaOffsets(t.Context(), flussrpc.Server{ID: 0, Address: cluster.Tablet(0)}, table, flussrpc.NoPartition, []int32{0}, flussrpc.Earliest)[0]; local.Offset != 20 || local.Err != nil {
				t.Errorf("%+v", local)
			}
			got, results := scan(t.Context(), cl, table, c.files, []int64{40}, nil)
			r := results[0]
			want := append(wantKeys(0, 0, int(c.gap[0])), wantKeys(0, int(c.gap[1]), 40)...)
			if r.Err != nil || r.Read != 40 || !slices.Equal(got[0], want) {
				t.Errorf("%+v, %q", r, got[0])
			}
			if c.says == "" {
				if len(r.Gaps) > 0 {
					t.Errorf("%+v", r.Gaps)
				}
				return
			}
			if len(r.Gaps) != 1 || r.Gaps[0].From != c.gap[0] || r.Gaps[0].To != c.gap[1] || fault.KindOf(r.Gaps[0].Err) != c.kind || !strings.Contains(r.Gaps[0].Err.Error(), c.says) || fault.Of(r.Gaps[0].Err).Hint == "" {
				t.Errorf("%+v", r.Gaps)
			}
		})
	}
}

// counted counts what is read of files.
type counted struct {
	flussrpc.Files
	reads *atomic.Int32
}

func (c counted) Read(ctx context.Context, uri string, offset, size int64) ([]byte, error) {
	c.reads.Add(1)
	return c.Files.Read(ctx, uri, offset, size)
}

// Of remote storage no more is read than somebody wants to see: who has seen enough
// does not wait for the rest of a log.
func TestRemoteSegmentsThatNobodyWants(t *testing.T) {
	const segments, each = 40, 5
	cluster := started(t, flusstest.Options{})
	log, describe := made(t, cluster, 1, 1)
	fill(t, cluster, log, 0, segments+1, each)
	folder := t.TempDir()
	for n := range segments {
		if _, err := cluster.Tier(log, 0, int64(n+1)*each, folder); err != nil {
			t.Fatal(err)
		}
	}
	cl := client(t, cluster.Servers())
	enough := errors.New("enough")
	files := counted{localFiles{}, &atomic.Int32{}}
	r := cl.Scan(t.Context(), flussrpc.Scan{
		Table: describe(cl), Partition: flussrpc.NoPartition, Files: files, Spans: []flussrpc.Span{{To: (segments + 1) * each}},
		Visit: func(flussrpc.Piece) error { return enough },
	})[0]
	if !errors.Is(r.Err, enough) || r.Read != 0 || len(r.Gaps) > 0 {
		t.Errorf("%+v", r)
	}
	const ahead = 8 // those that were on their way by then
	if n := files.reads.Load(); n > ahead {
		t.Errorf("%d of %d segments were read", n, segments)
	}
}

// The offset of a batch is not under its checksum: rows are told as shown only where
// each batch begins where the one before it ended.
func TestABatchThatIsNotWhereTheOneBeforeItEnded(t *testing.T) {
	for name, c := range map[string]struct {
		batch  int   // of the segment
		offset int64 // that it says it begins at
		read   int64
		says   string
	}{
		"as it was written":                {1, 5, 20, ""},
		"behind rows that are not there":   {1, 7, 5, "from offset 5 to 7 are not there"},
		"behind the end of the segment":    {2, 40, 10, "from offset 10 to 40 are not there"},
		"the first, behind what was asked": {0, 1, 0, "from offset 0 to 1 are not there"},
		"among rows that were shown":       {2, 8, 10, "begins at offset 8, among rows that were shown up to 10"},
		"before what was asked for":        {1, 0, 5, "begins at offset 0, among rows that were shown up to 5"},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := started(t, flusstest.Options{})
			log, describe := made(t, cluster, 1, 1)
			fill(t, cluster, log, 0, 8, 5)
			file, err := cluster.Tier(log, 0, 20, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			place(t, file, c.batch, c.offset)
			cl := client(t, cluster.Servers())
			got, results := scan(t.Context(), cl, describe(cl), localFiles{}, []int64{20}, nil)
			r := results[0]
			if c.says == "" {
				if r.Err != nil || len(r.Gaps) > 0 || r.Read != 20 || len(got[0]) != 20 {
					t.Errorf("%+v, %q", r, got[0])
				}
				return
			}
			if fault.KindOf(r.Err) != fault.Corrupt || !strings.Contains(r.Err.Error(), c.says) || fault.Of(r.Err).Hint == "" || r.Read != c.read || !slices.Equal(got[0], wantKeys(0, 0, int(c.read))) {
				t.Errorf("%v, %+v, %q", r.Err, r, got[0])
			}
		})
	}
}

// place makes a batch of a file say that it begins at an offset.
func place(t *testing.T, file string, batch int, offset int64) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for range batch {
		at += 12 + int(binary.LittleEndian.Uint32(data[at+8:]))
	}
	binary.LittleEndian.PutUint64(data[at:], uint64(offset))
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func overwrite(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, slices.Repeat([]byte{7}, len(data)), 0o600); err != nil {
		t.Fatal(err)
	}
}

type refusing struct{ err error }

func (r refusing) Read(context.Context, string, int64, int64) ([]byte, error) { return nil, r.err }

// A table that is altered during a scan has batches of two schemas.
func TestRowsOfSeveralSchemas(t *testing.T) {
	c := started(t, flusstest.Options{})
	log, describe := made(t, c, 1, 1)
	fill(t, c, log, 0, 1, 2)
	cl := client(t, c.Servers())
	table := describe(cl)
	if err := c.AddColumn(log.Table, flusstest.Column{Name: "more", Type: "BIGINT"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Append(log, 0, 9, []any{"k0-2", nil, "k0", int64(7)}); err != nil {
		t.Fatal(err)
	}
	got, results := scan(t.Context(), cl, table, nil, []int64{3}, nil)
	if results[0].Err != nil || !slices.Equal(got[0], wantKeys(0, 0, 3)) {
		t.Errorf("%+v, %q", results, got)
	}
}

func TestATableWithoutTheColumnsThatAreWanted(t *testing.T) {
	c := started(t, flusstest.Options{})
	id, err := c.CreateTable(flusstest.Spec{Path: path, Columns: []flusstest.Column{{Name: "n", Type: "BIGINT"}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Append(flussrpc.Log{Table: id, Partition: flussrpc.NoPartition}, 0, 9, []any{int64(7)}); err != nil {
		t.Fatal(err)
	}
	cl := client(t, c.Servers())
	table, err := cl.Table(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	_, results := scan(t.Context(), cl, table, nil, []int64{1}, nil)
	if fault.KindOf(results[0].Err) != fault.Unsupported || !strings.Contains(results[0].Err.Error(), "no column state_key") {
		t.Error(results[0].Err)
	}
}

func login(user, password string) func(*flussrpc.Config) {
	return func(c *flussrpc.Config) {
		c.Login = func(context.Context) (flussrpc.Login, error) {
			return flussrpc.Login{Username: user, Password: secret.New(password)}, nil
		}
	}
}

func TestLogins(t *testing.T) {
	c := started(t, flusstest.Options{Tablets: 2, Users: map[string]string{"ops": "hunter2"}})
	if _, err := client(t, c.Servers(), login("ops", "hunter2")).Databases(t.Context()); err != nil {
		t.Error(err)
	}
	for name, change := range map[string][]func(*flussrpc.Config){"wrong": {login("ops", "letmein")}, "none": nil} {
		began := time.Now()
		cl := client(t, c.Servers(), change...) // whose answers may take a minute
		_, err := cl.Databases(t.Context())
		if f := fault.Of(err); f == nil || f.Kind != fault.Denied || f.Hint == "" || strings.Contains(err.Error()+f.Hint, "letmein") || time.Since(began) > 30*time.Second {
			t.Errorf("%s: %v", name, err)
		}
	}
	asked := errors.New("nobody is at the terminal")
	_, err := client(t, c.Servers(), func(c *flussrpc.Config) {
		c.Login = func(context.Context) (flussrpc.Login, error) {
			return flussrpc.Login{}, fault.Wrap(fault.Config, "read secret", asked, "no password")
		}
	}).Databases(t.Context())
	if !errors.Is(err, asked) {
		t.Error(err)
	}
}

// The first connections to several servers are made side by side, and whoever types
// the password is asked once.
func TestALoginIsAskedForOnce(t *testing.T) {
	c := started(t, flusstest.Options{Tablets: 2, Users: map[string]string{"ops": "hunter2"}})
	var asked atomic.Int32
	cl := client(t, c.Servers(), func(config *flussrpc.Config) {
		config.Login = func(context.Context) (flussrpc.Login, error) {
			asked.Add(1)
			time.Sleep(50 * time.Millisecond) // it takes a while to be typed
			return flussrpc.Login{Username: "ops", Password: secret.New("hunter2")}, nil
		}
	})
	var wg sync.WaitGroup
	for _, address := range c.Servers() {
		wg.Go(func() {
			if _, err := cl.Reach(t.Context(), flussrpc.Server{Address: address}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// Whoever gives up gets an error, also where a tablet server answers at the address
// that is named as the coordinator's.
func TestACoordinatorThatIsATabletServer(t *testing.T) {
	c := started(t, flusstest.Options{Tablets: 1})
	coordinator, tablet := c.Coordinator(), c.Tablet(0)
	c.KillCoordinator()
	cl := client(t, []string{tablet}, func(config *flussrpc.Config) {
		config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			if address == coordinator {
				address = tablet
			}
			return new(net.Dialer).DialContext(ctx, network, address)
		}
	})
	if _, err := cl.Cluster(t.Context()); err != nil { // it names the coordinator
		t.Fatal(err)
	}
	if kind, err := cl.Reach(t.Context(), flussrpc.Server{Address: coordinator}); err != nil || kind != flussrpc.TabletServer {
		t.Fatal(kind, err)
	}
	if _, err := cl.KeepsProducers(t.Context()); fault.KindOf(err) != fault.Unreachable {
		t.Error(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for range 50 { // an open connection is found, or not, whatever the context says
		if _, err := cl.KeepsProducers(over); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
}

// speak runs a server that is none of Fluss.
func speak(t *testing.T, says string) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer conn.Close()
				var b [64]byte
				_, _ = conn.Read(b[:])
				if says == hangUp {
					return
				}
				if says != "" {
					_, _ = io.WriteString(conn, says)
					return
				}
				_, _ = io.Copy(io.Discard, conn) // silent until the other side hangs up
			})
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() })
	return l.Addr().String()
}

// hangUp is what speak is told to close the connection with.
const hangUp = "\x00"

func TestServersThatAreNotFluss(t *testing.T) {
	for name, c := range map[string]struct {
		says string
		kind fault.Kind
		text string
	}{
		"a web server":                     {"HTTP/1.1 400 Bad Request\r\n\r\n", fault.Unsupported, "is no Fluss server"},
		"a Kafka broker":                   {"\x00\x00\x00\x0a\x03\xe8\x00\x00\x00\x23\x00\x00\x00\x00", fault.Unsupported, "is no Fluss server"},
		"one that says no":                 {"\x00\x00\x00\x00", fault.Unsupported, "is no Fluss server"},
		"one that is silent":               {"", fault.Unreachable, "did not answer ApiVersions"},
		"one that is cut off":              {"\x00\x00\x00\x40\x00\x00\x00\x00\x00abc", fault.Unreachable, "ended"},
		"one that says what is no message": {"\x00\x00\x00\x07\x00\x00\x00\x00\x00\xff\xff", fault.Unsupported, "is no Fluss server: its first answer can't be decoded: proto: cannot"},
	} {
		t.Run(name, func(t *testing.T) {
			address := speak(t, c.says)
			_, err := client(t, []string{address}, func(config *flussrpc.Config) {
				if c.says == "" {
					config.Timeout = 300 * time.Millisecond
				}
			}).Cluster(t.Context())
			if f := fault.Of(err); f == nil || f.Kind != c.kind || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), address) || f.Hint == "" {
				t.Errorf("%v (%v)", err, fault.KindOf(err))
			}
		})
	}
	// A Kafka broker hangs up at a call that it does not know.
	address := speak(t, hangUp)
	if _, err := client(t, []string{address}).Cluster(t.Context()); fault.KindOf(err) != fault.Unreachable || !strings.Contains(err.Error(), address+" closed the connection without an answer") || !strings.Contains(fault.Of(err).Hint, "such as a Kafka broker") {
		t.Errorf("%v", err)
	}
	// Without a port it is the usual one.
	dialled := ""
	nowhere := func(c *flussrpc.Config) {
		c.Dial = func(_ context.Context, _, address string) (net.Conn, error) {
			dialled = address
			return nil, io.ErrClosedPipe
		}
	}
	if _, err := client(t, []string{"fluss-0"}, nowhere).Cluster(t.Context()); err == nil || dialled != "fluss-0:9123" {
		t.Errorf("%q was dialled: %v", dialled, err)
	}
	// Among others it costs time and nothing else.
	c := started(t, flusstest.Options{})
	if _, err := client(t, append([]string{speak(t, "HTTP/1.1 400 Bad Request\r\n\r\n")}, c.Servers()...)).Cluster(t.Context()); err != nil {
		t.Error(err)
	}
}

// Without ZooKeeper all servers take a request and say nothing.
func TestAClusterThatIsSilent(t *testing.T) {
	c := started(t, flusstest.Options{Tablets: 5})
	c.On(func(call flusstest.Call) flusstest.Reaction {
		return flusstest.Reaction{Silent: call.API != flussrpc.APIVersions}
	})
	_, err := client(t, c.Servers(), func(c *flussrpc.Config) { c.Timeout = time.Second }).Databases(t.Context())
	if fault.KindOf(err) != fault.Unreachable || !strings.Contains(fault.Of(err).Hint, "ZooKeeper") {
		t.Error(err)
	}
	asked := 0
	for _, call := range c.Calls() {
		if call.API == flussrpc.APIListDatabases {
			asked++
		}
	}
	if asked > 2 { // of six, of which the second shows that it is all of them
		t.Errorf("%d servers were waited for", asked)
	}
}

func TestAClusterWhoseServersAreDead(t *testing.T) {
	c := started(t, flusstest.Options{Tablets: 2})
	cl := client(t, c.Servers())
	if _, err := cl.Cluster(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.KillCoordinator()
	got, err := cl.Cluster(t.Context())
	if err != nil || got.Told.Kind != flussrpc.TabletServer || got.Coordinator == nil {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := cl.Reach(t.Context(), *got.Coordinator); fault.KindOf(err) != fault.Unreachable {
		t.Error("a dead coordinator is reached")
	}
	if _, _, err := cl.ProducerOffsets(t.Context(), "job-1"); fault.KindOf(err) != fault.Unreachable || !strings.Contains(err.Error(), "the coordinator "+c.Coordinator()+" can't be reached") {
		t.Error(err)
	}
	c.KillTablet(0)
	c.KillTablet(1)
	if _, err := cl.Databases(t.Context()); fault.KindOf(err) != fault.Unreachable || !strings.Contains(err.Error(), "no server of the Fluss cluster answered") {
		t.Error(err)
	}
	if err := c.StartTablet(1); err != nil {
		t.Fatal(err)
	}
	time.Sleep(1100 * time.Millisecond) // a dead server is not tried for a second
	if _, err := cl.Databases(t.Context()); err != nil {
		t.Error(err)
	}
}

// A coordinator that is starting says so by a code of no meaning; others answer.
func TestACoordinatorThatIsStarting(t *testing.T) {
	c := started(t, flusstest.Options{Tablets: 1})
	c.On(func(call flusstest.Call) flusstest.Reaction {
		if call.API == flussrpc.APIGetMetadata && call.Server == flussrpc.Coordinator {
			return flusstest.Reaction{Refuse: &flussrpc.Error{Code: flussrpc.UnknownServerError, Message: "java.lang.IllegalStateException: CoordinatorEventProcessor is not initialized yet.\n\tat x"}}
		}
		return flusstest.Reaction{}
	})
	if got, err := client(t, c.Servers()).Cluster(t.Context()); err != nil || got.Told.Kind != flussrpc.TabletServer {
		t.Errorf("%+v, %v", got, err)
	}
	_, err := client(t, []string{c.Coordinator()}).Cluster(t.Context())
	if f := fault.Of(err); f == nil || f.Kind != fault.Unreachable || !strings.Contains(f.Hint, "the coordinator is starting") {
		t.Error(err)
	}
	if _, found, err := client(t, []string{c.Coordinator()}).ProducerOffsets(t.Context(), "job-1"); err != nil || found {
		t.Errorf("it serves producer offsets already: %v", err)
	}
}

func TestSecretsOfTheClusterAreNotSeen(t *testing.T) {
	c := started(t, flusstest.Options{Users: map[string]string{"admin": "admin-pw"}, Settings: map[string]string{
		"s3.access-key": "AKIA123", "s3.secret-key": "abc", "remote.data.dir": "s3://user:pw@bucket/x", "data.note": "the Password is x", "log.segment.file-size": "1gb", "empty.password": "",
	}})
	got, err := client(t, c.Servers(), login("admin", "admin-pw")).Settings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{}
	for _, s := range got {
		shown[s.Key] = s.Value
		if s.Hidden != (s.Value == "***") {
			t.Errorf("%+v", s)
		}
	}
	for _, key := range []string{"security.sasl.plain.jaas.config", "s3.access-key", "s3.secret-key", "remote.data.dir", "data.note"} {
		if shown[key] != "***" {
			t.Errorf("%s is %q", key, shown[key])
		}
	}
	if shown["log.segment.file-size"] != "1gb" || shown["empty.password"] != "" || shown["zookeeper.address"] == "***" {
		t.Errorf("%v", shown)
	}
}

func TestOffsetsOfProducers(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	c := started(t, flusstest.Options{Now: func() time.Time { return now }})
	log, _ := made(t, c, 2, 1)
	cl := client(t, c.Servers())
	ctx := t.Context()
	offsets := []flussrpc.ProducerOffset{{Log: log, Bucket: 1, Offset: 7}, {Log: flussrpc.Log{Table: 9, Partition: 0}, Bucket: 0, Offset: -3}}
	if got, err := write.RegisterProducer(ctx, cl, "job-1", offsets, 4*time.Second); err != nil || got != write.Created {
		t.Fatal(got, err)
	}
	if got, err := write.RegisterProducer(ctx, cl, "job-1", nil, 0); err != nil || got != write.AlreadyExists {
		t.Error(got, err)
	}
	entry, found, err := cl.ProducerOffsets(ctx, "job-1")
	if err != nil || !found || !entry.Expires.Equal(now.Add(4*time.Second)) || !slices.Equal(entry.Offsets, offsets) || !slices.Equal(entry.Logs(), []flussrpc.Log{log, {Table: 9, Partition: 0}}) {
		t.Errorf("%+v, %v, %v", entry, found, err)
	}
	now = now.Add(5 * time.Second)
	if _, found, err := cl.ProducerOffsets(ctx, "job-1"); err != nil || !found {
		t.Error("an expired entry is told until it is cleaned", found, err)
	}
	c.Cleanup()
	if _, found, err := cl.ProducerOffsets(ctx, "job-1"); err != nil || found {
		t.Error(found, err)
	}
	if got, err := write.RegisterProducer(ctx, cl, "job-1", offsets, 0); err != nil || got != write.Created {
		t.Error(got, err)
	}
	c.LoseOffsetFiles("job-1")
	if _, _, err := cl.ProducerOffsets(ctx, "job-1"); fault.KindOf(err) != fault.Corrupt || !strings.Contains(fault.Of(err).Hint, "remote.data.dir") || !strings.Contains(err.Error(), "Offsets file not found") {
		t.Error(err)
	}
	if err := write.DeleteProducer(ctx, cl, "job-1"); err != nil {
		t.Error(err)
	}
	for _, id := range []string{"", ".", "a b", strings.Repeat("x", 201), "é"} {
		if _, _, err := cl.ProducerOffsets(ctx, id); fault.KindOf(err) != fault.Usage {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// A write whose answer is lost is not made again, and not called failed.
func TestAWriteWhoseAnswerIsLost(t *testing.T) {
	for name, r := range map[string]flusstest.Reaction{
		"silence": {Silent: true}, "a hang-up": {HangUp: true}, "a failing server": {Failure: &flussrpc.Error{Code: flussrpc.Network, Message: "going"}},
		"an error of no meaning": {Refuse: &flussrpc.Error{Code: flussrpc.UnknownServerError, Message: "KeeperException"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := started(t, flusstest.Options{})
			c.On(func(call flusstest.Call) flusstest.Reaction {
				if call.API == flussrpc.APIDeleteProducer {
					return r
				}
				return flusstest.Reaction{}
			})
			err := write.DeleteProducer(t.Context(), client(t, c.Servers(), func(c *flussrpc.Config) {
				if r.Silent {
					c.Timeout = time.Second
				}
			}), "job-1")
			if fault.KindOf(err) != fault.Unknown || !strings.Contains(fault.Of(err).Hint, "inspect fluss producer job-1") {
				t.Error(err)
			}
			n := 0
			for _, call := range c.Calls() {
				if call.API == flussrpc.APIDeleteProducer {
					n++
				}
			}
			if n != 1 {
				t.Errorf("it was sent %d times", n)
			}
		})
	}
}
