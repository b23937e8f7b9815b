//go:build real

package fluss_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
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

func last(list []time.Duration) time.Duration { return list[len(list)-1].Round(time.Millisecond) }

// bareLoop fetches and decodes everything, one bucket after another, and does
// nothing with it: what a scan can't be faster than on one core.
func bareLoop(b *testing.B, real *flusstest.RealCluster, cl *flussrpc.Client, table flussrpc.Table) (rows int64) {
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
				if err := picker.Rows(batch, func(flussrpc.Picked) error { rows++; return nil }); err != nil {
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
	return rows
}

// The scan for durable calls beside a bare loop and Fluss's own client, on the same
// table and cluster, in turns. The whole answer of the scan is made, with a marker
// of a recovery point.
func BenchmarkScanAgainstOthers(b *testing.B) {
	real := flusstest.Real(b)
	java, cl := real.Java(b), real.Client(b)
	n, rounds := number(b, "RECOVERCTL_BENCH_RECORDS", 1_000_000), number(b, "RECOVERCTL_BENCH_ROUNDS", 7)
	const buckets, agents = 4, 5000
	db := fmt.Sprintf("b%d", time.Now().UnixNano())
	store := fluss.New(cl, clock.System{}, nil)
	for _, codec := range []string{"NONE", "ZSTD"} {
		b.Run(codec, func(b *testing.B) {
			name := "traffic_" + codec
			java.Do(b, nil, "create", db, name, "states", strconv.Itoa(buckets), "1", "table.log.arrow.compression.type="+codec)
			fmt.Fprintf(os.Stderr, "%s: writing %d rows\n", codec, n)
			java.Do(b, nil, "traffic", db, name, strconv.Itoa(n), strconv.Itoa(agents))
			path := flussrpc.TablePath{Database: db, Table: name}
			table, err := cl.Table(b.Context(), path)
			if err != nil {
				b.Fatal(err)
			}
			data, err := store.DataTopic(b.Context(), path.String())
			if err != nil {
				b.Fatal(err)
			}
			q := inspect.CallQuestion{Job: inspect.Job{Store: inspect.StoreFluss, Topic: path.String(), BucketOf: flussrpc.BucketOfString}, Points: []inspect.PointMarker{{Point: "file:/p", Offsets: inspect.Offsets{0: 0, 1: 0, 2: 0, 3: 0}}}}
			var ours, bare, theirs []time.Duration
			for b.Loop() {
				for round := range rounds {
					began := time.Now()
					got, err := store.ReadCalls(b.Context(), data, q, nil)
					ours = append(ours, time.Since(began))
					if err != nil || got.Scanned.Records != int64(n) {
						b.Fatal(err, got.Scanned)
					}
					began = time.Now()
					if rows := bareLoop(b, real, cl, table); rows != int64(n) {
						b.Fatal(rows)
					}
					bare = append(bare, time.Since(began))
					var times []struct{ Millis, Rows int64 }
					java.Do(b, &times, "time", db, name, "1")
					if times[0].Rows != int64(n) {
						b.Fatal(times)
					}
					theirs = append(theirs, time.Duration(times[0].Millis)*time.Millisecond)
					fmt.Fprintf(os.Stderr, "%s, round %d of %d: scan %s, bare loop %s, Fluss's client %s\n", codec, round+1, rounds, last(ours), last(bare), last(theirs))
				}
			}
			b.ReportMetric(median(ours).Seconds(), "s-scan")
			b.ReportMetric(median(bare).Seconds(), "s-bare")
			b.ReportMetric(median(theirs).Seconds(), "s-java")
			b.ReportMetric(median(bare).Seconds()/median(ours).Seconds(), "of-bare")
			b.ReportMetric(median(theirs).Seconds()/median(ours).Seconds(), "times-java")
		})
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
