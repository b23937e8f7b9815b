//go:build real

package fluss_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/fluss"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/flussrpc/flusspb"
	"github.com/recoverctl/recoverctl/internal/testkit/flusstest"
)

// number is a figure that the benchmark takes from the environment.
func number(b *testing.B, env string, otherwise int) int {
	b.Helper()
	text := os.Getenv(env)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		b.Fatal(err)
	}
	return n
}

func median(list []time.Duration) time.Duration {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

// bareLoop fetches and decodes everything, one bucket after another, and only counts
// it: one goroutine that waits for an answer, decodes it, and asks again.
func bareLoop(b *testing.B, real *flusstest.RealCluster, cl *flussrpc.Client, table flussrpc.Table) (rows, size int64) {
	b.Helper()
	ctx := context.Background()
	cluster, err := cl.Cluster(ctx)
	if err != nil {
		b.Fatal(err)
	}
	places, err := cl.Buckets(ctx, table, flussrpc.NoPartition)
	if err != nil {
		b.Fatal(err)
	}
	picker, err := flussrpc.NewPicker(table.Schema, table.Format(), 0, 1, 2)
	if err != nil {
		b.Fatal(err)
	}
	defer picker.Close()
	conns := map[int32]*flussrpc.Conn{}
	for _, s := range cluster.Tablets {
		conn, err := flussrpc.Dial(ctx, s.Address, flussrpc.Options{Login: &real.Admin})
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close()
		conns[s.ID] = conn
	}
	const most = 8 << 20
	for _, place := range places {
		for at := int64(0); ; {
			request := &flusspb.FetchLogRequest{FollowerServerId: proto.Int32(-1), MaxBytes: proto.Int32(most), TablesReq: []*flusspb.FetchLogTable{{
				TableId: &table.ID, ProjectionPushdownEnabled: proto.Bool(false),
				BucketsReq: []*flusspb.FetchLogBucket{{BucketId: proto.Int32(place.ID), FetchOffset: proto.Int64(at), MaxFetchBytes: proto.Int32(most)}},
			}}}
			var answer flusspb.FetchLogResponse
			if err := conns[place.Leader].Call(ctx, flussrpc.APIFetchLog, request, &answer); err != nil {
				b.Fatal(err)
			}
			bucket := answer.GetTablesResp()[0].GetBucketsResp()[0]
			if bucket.GetErrorCode() != 0 || bucket.RemoteLogFetchInfo != nil {
				b.Fatal(bucket.GetErrorMessage(), bucket.GetRemoteLogFetchInfo())
			}
			before := at
			for batch, err := range flussrpc.Batches(bucket.GetRecords()) {
				if err != nil {
					b.Fatal(err)
				}
				if err := picker.Rows(batch, func(row flussrpc.Picked) error {
					rows++
					for _, cell := range row.Cells {
						size += int64(len(cell))
					}
					return nil
				}); err != nil {
					b.Fatal(err)
				}
				at = batch.Next()
			}
			if at >= bucket.GetHighWatermark() {
				break
			}
			if at == before {
				b.Fatalf("bucket %d gives nothing from offset %d on, and ends at %d", place.ID, at, bucket.GetHighWatermark())
			}
		}
	}
	return rows, size
}

// The figures of one contestant, a round each.
type contestant struct {
	name  string
	run   func() time.Duration // and the processor time that it used, without the servers'
	walls []time.Duration
	used  []time.Duration
}

func (c *contestant) round() {
	began := time.Now()
	used := c.run()
	c.walls, c.used = append(c.walls, time.Since(began)), append(c.used, used)
}

// processor is what this process has used so far.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// traffic is a table of a busy job's rows on a real cluster.
type traffic struct {
	real  *flusstest.RealCluster
	java  *flusstest.Java
	cl    *flussrpc.Client
	path  flussrpc.TablePath
	table flussrpc.Table
	rows  int64
}

const benchBuckets = 4

// newTraffic writes one, flushed each so many rows; 0: in the batches that Fluss's
// client makes by itself.
func newTraffic(b *testing.B, real *flusstest.RealCluster, java *flusstest.Java, database, codec string, rows, each int) *traffic {
	b.Helper()
	const agents = 5000
	t := &traffic{real: real, java: java, cl: real.Client(b), path: flussrpc.TablePath{Database: database, Table: fmt.Sprintf("traffic_%s_%d_%d", codec, rows, each)}, rows: int64(rows)}
	java.Do(b, nil, "create", database, t.path.Table, "states", strconv.Itoa(benchBuckets), "1", "table.log.arrow.compression.type="+codec)
	fmt.Fprintf(os.Stderr, "%s: writing %d rows\n", t.path.Table, rows)
	java.Do(b, nil, "traffic", database, t.path.Table, strconv.Itoa(rows), strconv.Itoa(agents), strconv.Itoa(each))
	var err error
	if t.table, err = t.cl.Table(b.Context(), t.path); err != nil {
		b.Fatal(err)
	}
	return t
}

// scan is the whole answer, with a marker of a recovery point.
func scan(b *testing.B, cl *flussrpc.Client, path string) (rows int64) {
	b.Helper()
	store := fluss.New(cl, clock.System{}, nil)
	data, err := store.DataTopic(b.Context(), path)
	if err != nil {
		b.Fatal(err)
	}
	marker := inspect.Offsets{}
	for bucket := range int32(benchBuckets) {
		marker[bucket] = 0
	}
	q := inspect.CallQuestion{
		Job:    inspect.Job{Store: inspect.StoreFluss, Topic: path, BucketOf: flussrpc.BucketOfString},
		Points: []inspect.PointMarker{{Point: "file:/p", Offsets: marker}},
	}
	got, err := store.ReadCalls(b.Context(), data, q, nil)
	if err != nil || got.Scanned.Partial {
		b.Fatal(err, got.Scanned)
	}
	return got.Scanned.Records
}

// timed is what Fluss's client says of a reading.
type timed []struct{ Millis, Rows, Bytes int64 }

// contestants read the same table to the same end, and each says how many rows it
// had; the bare loop and Fluss's client have the same bytes, too.
func (t *traffic) contestants(b *testing.B) []*contestant {
	b.Helper()
	var size int64
	same := func(who string, rows int64) {
		if rows != t.rows {
			b.Fatalf("%s had %d rows of %d", who, rows, t.rows)
		}
	}
	javas := func(got timed) {
		same("Fluss's client", got[0].Rows)
		if got[0].Bytes != size {
			b.Fatalf("Fluss's client had %d bytes, and the bare loop %d", got[0].Bytes, size)
		}
	}
	return []*contestant{
		{name: "bare loop", run: func() time.Duration {
			began := processor(b)
			rows, n := bareLoop(b, t.real, t.cl, t.table)
			same("the bare loop", rows)
			size = n
			return processor(b) - began
		}},
		{name: "scan", run: func() time.Duration {
			began := processor(b)
			same("the scan", scan(b, t.cl, t.path.String()))
			return processor(b) - began
		}},
		{name: "Fluss's client", run: func() time.Duration {
			began := t.java.Processor(b)
			var got timed
			t.java.Do(b, &got, "time", t.path.Database, t.path.Table, "1")
			javas(got)
			return t.java.Processor(b) - began
		}},
		{name: "scan, in a new process", run: func() time.Duration {
			rows, used, _ := t.alone(b)
			same("the scan of a new process", rows)
			return used
		}},
		{name: "Fluss's client, in a new process", run: func() time.Duration {
			began := children(b)
			var got timed
			t.real.JavaOnce(b, &got, "time", t.path.Database, t.path.Table, "1")
			javas(got)
			return children(b) - began
		}},
	}
}

// children is what ended children of this process had used.
func children(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

const aloneEnv = "RECOVERCTL_BENCH_TABLE"

// alone runs a scan in a process of its own, and says how large that was at its
// largest.
func (t *traffic) alone(b *testing.B) (rows int64, used time.Duration, peak string) {
	b.Helper()
	child := exec.CommandContext(b.Context(), os.Args[0], "-test.run=^$", "-test.bench=^BenchmarkScanOfOneProcess$", "-test.benchtime=1x")
	child.Env = append(os.Environ(), aloneEnv+"="+t.path.String())
	child.Stderr = os.Stderr
	out, err := child.Output()
	if err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if _, err := fmt.Sscanf(line, "scanned %d", &rows); err == nil {
			_, peak, _ = strings.Cut(strings.TrimSpace(line), "peak ")
		}
	}
	return rows, child.ProcessState.UserTime() + child.ProcessState.SystemTime(), peak
}

// BenchmarkScanOfOneProcess is what the others here run in a process of its own.
func BenchmarkScanOfOneProcess(b *testing.B) {
	path := os.Getenv(aloneEnv)
	if path == "" {
		b.Skip("it is a part of the other benchmarks")
	}
	cl := flusstest.Shared(b).Client(b)
	for b.Loop() {
		rows := scan(b, cl, path)
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			b.Fatal(err)
		}
		for line := range strings.Lines(string(status)) {
			if peak, ok := strings.CutPrefix(line, "VmHWM:"); ok {
				fmt.Printf("scanned %d rows, peak %s\n", rows, strings.TrimSpace(peak))
			}
		}
	}
}

// batches is how many a table has.
func (t *traffic) batches(b *testing.B) (n int) {
	b.Helper()
	q := flussrpc.Scan{Table: t.table, Partition: flussrpc.NoPartition}
	for bucket := range int32(benchBuckets) {
		end := t.cl.Offsets(b.Context(), t.table, flussrpc.NoPartition, []int32{bucket}, flussrpc.Latest)[0]
		if end.Err != nil {
			b.Fatal(end.Err)
		}
		q.Spans = append(q.Spans, flussrpc.Span{Bucket: bucket, To: end.Offset})
	}
	var mu sync.Mutex
	q.Visit = func(flussrpc.Piece) error {
		mu.Lock()
		defer mu.Unlock()
		n++
		return nil
	}
	for _, r := range t.cl.Scan(b.Context(), q) {
		if r.Err != nil {
			b.Fatal(r.Err)
		}
	}
	return n
}

// The scan for durable calls beside a bare loop and Fluss's own client, on the same
// table and cluster, in turns: each within a process that did the same before, and
// each as a process of its own from its start to its end. The batches are those that
// Fluss's client makes by itself, and smaller ones.
func BenchmarkScanAgainstOthers(b *testing.B) {
	real := flusstest.Real(b)
	java := real.Java(b)
	n, rounds := number(b, "RECOVERCTL_BENCH_RECORDS", 1_000_000), number(b, "RECOVERCTL_BENCH_ROUNDS", 7)
	db := fmt.Sprintf("b%d", time.Now().UnixNano())
	const small = 4000 // rows between two flushes, of all buckets together
	for _, each := range []int{0, small} {
		for _, codec := range []string{"NONE", "ZSTD"} {
			b.Run(fmt.Sprintf("%s/%d", codec, each), func(b *testing.B) {
				t := newTraffic(b, real, java, db, codec, n, each)
				all := t.contestants(b)
				for b.Loop() {
					for range rounds {
						for _, c := range all {
							c.round()
						}
					}
				}
				bare, ours, theirs, alone, theirsAlone := all[0], all[1], all[2], all[3], all[4]
				fmt.Printf("\n%s, %d rows in %d batches, median of %d:\n\n| who | wall, s | best, s | processor, s |\n| --- | --- | --- | --- |\n", codec, n, t.batches(b), rounds)
				for _, c := range all {
					fmt.Printf("| %s | %.3f | %.3f | %.3f |\n", c.name, median(c.walls).Seconds(), slices.Min(c.walls).Seconds(), median(c.used).Seconds())
				}
				b.ReportMetric(ratio(bare, ours), "of-bare")
				b.ReportMetric(ratio(theirs, ours), "times-java")
				b.ReportMetric(ratio(theirsAlone, alone), "times-java-process")
			})
		}
	}
}

// ratio is how much longer one took than another, by their medians.
func ratio(long, short *contestant) float64 {
	return median(long.walls).Seconds() / median(short.walls).Seconds()
}

// How much memory a process needs for the scan of more and more rows.
func BenchmarkScanMemory(b *testing.B) {
	real := flusstest.Real(b)
	java := real.Java(b)
	db := fmt.Sprintf("m%d", time.Now().UnixNano())
	fmt.Print("\n| codec | rows | peak memory of the process |\n| --- | --- | --- |\n")
	for b.Loop() {
		for _, codec := range []string{"NONE", "ZSTD"} {
			for _, rows := range []int{100_000, 300_000, number(b, "RECOVERCTL_BENCH_RECORDS", 1_000_000)} {
				_, _, peak := newTraffic(b, real, java, db, codec, rows, 0).alone(b)
				fmt.Printf("| %s | %d | %s |\n", codec, rows, peak)
			}
		}
	}
}

// What inspect fluss cluster waits for: a client of its own, everybody who is named,
// the settings and every table. The cluster has so many tables beside others.
func BenchmarkClusterAnswer(b *testing.B) {
	real := flusstest.Real(b)
	java := real.Java(b)
	db := fmt.Sprintf("b%d", time.Now().UnixNano())
	const tables = 20
	for n := range tables {
		java.Do(b, nil, "create", db, fmt.Sprintf("t%d", n), "states", "4", "1", "")
	}
	var took []time.Duration
	for b.Loop() {
		for range number(b, "RECOVERCTL_BENCH_ROUNDS", 7) {
			began := time.Now()
			cl, err := flussrpc.NewClient(flussrpc.Config{Servers: real.SASL, Timeout: 10 * time.Second, Login: func(context.Context) (flussrpc.Login, error) { return real.Admin, nil }})
			if err != nil {
				b.Fatal(err)
			}
			got, faults, err := fluss.New(cl, clock.System{}, nil).Cluster(b.Context())
			cl.Close()
			took = append(took, time.Since(began))
			if err != nil || len(faults) > 0 || got.Tables < tables {
				b.Fatal(faults, err, got.Tables)
			}
		}
	}
	b.ReportMetric(float64(median(took).Milliseconds()), "ms-median")
}
