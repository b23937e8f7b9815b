package main

import (
	"context"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
	"github.com/recoverctl/recoverctl/internal/testkit/topics"
)

// BenchmarkFirstCall is what an operator waits for who opens the Calls screen of a
// job for the first time: from the key to the first call on the terminal. The
// program runs by itself, and reads 200,000 records of 400 bytes from a broker in
// the benchmark's own process. It must stay below 500 ms.
func BenchmarkFirstCall(b *testing.B) {
	path := binary(b)
	fake := kafkatest.StartFake(b)
	topic := fake.Topic(b, 8, map[string]string{"cleanup.policy": "compact,delete"})
	fill(b, fake.Cluster, topic, topics.Traffic{Records: 200_000, Keys: 20_000, Size: 400, Partitions: 8}.All())
	var waits []time.Duration
	for b.Loop() {
		s := onTerminal(b, path, "--brokers", strings.Join(fake.Brokers(), ","), "--topic", topic, "--runtime", "next")
		s.until(b, "no boundary")
		s.keys(b, "\r") // the job's own screen
		s.until(b, "› adhoc")
		begin := time.Now()
		s.keys(b, "c")
		s.until(b, "charge#1")
		waits = append(waits, time.Since(begin))
		s.end()
	}
	slices.Sort(waits)
	b.ReportMetric(float64(waits[len(waits)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(waits[len(waits)-1].Microseconds())/1000, "max-ms")
	b.ReportMetric(0, "ns/op")
}

// fill writes records to the partitions of a topic.
func fill(tb testing.TB, cluster *kafkatest.Cluster, topic string, records iter.Seq2[int32, topics.Record]) {
	tb.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.Brokers()...), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(kgo.Lz4Compression()), kgo.ProducerLinger(20*time.Millisecond), kgo.MaxBufferedRecords(100_000))
	if err != nil {
		tb.Fatal(err)
	}
	defer client.Close()
	failed := make(chan error, 1)
	for partition, r := range records {
		record := &kgo.Record{Topic: topic, Partition: partition, Key: r.Key, Value: r.Value, Timestamp: time.UnixMilli(r.Timestamp)}
		client.Produce(context.Background(), record, func(_ *kgo.Record, err error) {
			if err != nil {
				select {
				case failed <- err:
				default: // the first one is enough
				}
			}
		})
	}
	if err := client.Flush(context.Background()); err != nil {
		tb.Fatal(err)
	}
	select {
	case err := <-failed:
		tb.Fatal(err)
	default:
	}
}
