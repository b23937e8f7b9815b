package kafka_test

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/kafka"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
	"github.com/recoverctl/recoverctl/internal/testkit/topics"
)

// BenchmarkReadCalls is the whole scan of a topic of 200,000 records, with a watcher
// and a recovery point, over the network of this machine from a broker in this
// process, whose own work is in the figures. The first news is when a watcher heard
// of the first call.
func BenchmarkReadCalls(b *testing.B) {
	fake := kafkatest.StartFake(b)
	traffic := topics.Traffic{Records: 200_000, Keys: 20_000, Size: 400, Partitions: 8}
	topic := fake.Topic(b, 8, map[string]string{"cleanup.policy": "compact,delete"})
	client, err := kgo.NewClient(kgo.SeedBrokers(fake.Brokers()...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.MaxBufferedRecords(100_000))
	if err != nil {
		b.Fatal(err)
	}
	point := inspect.PointMarker{Point: "chk-1", Offsets: inspect.Offsets{}}
	for partition, r := range traffic.All() {
		point.Offsets[partition]++
		client.Produce(context.Background(), &kgo.Record{Topic: topic, Partition: partition, Key: r.Key, Value: r.Value, Timestamp: time.UnixMilli(r.Timestamp)}, nil)
	}
	if err := client.Flush(context.Background()); err != nil {
		b.Fatal(err)
	}
	client.Close()
	for partition := range point.Offsets {
		point.Offsets[partition] /= 2
	}
	conn, err := kafkaconn.Open(context.Background(), fake.Config())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	store := kafka.New(conn, clock.System{})
	data, err := store.DataTopic(context.Background(), topic)
	if err != nil {
		b.Fatal(err)
	}
	var first time.Duration
	for b.Loop() {
		begin := time.Now()
		heard := time.Duration(0)
		got, err := store.ReadCalls(context.Background(), data, inspect.CallQuestion{Job: inspect.Job{Topic: topic, Runtime: inspect.ReleaseNext}, Points: []inspect.PointMarker{point}},
			func(u inspect.CallUpdate) {
				if heard == 0 && len(u.Changed) > 0 {
					heard = time.Since(begin)
				}
			})
		if err != nil || got.Scanned.Records != int64(traffic.Records) {
			b.Fatalf("%d records, %v", got.Scanned.Records, err)
		}
		first += heard
	}
	b.ReportMetric(float64(traffic.Records)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
	b.ReportMetric(float64(first.Microseconds())/1000/float64(b.N), "first-news-ms")
}
