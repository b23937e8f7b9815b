//go:build real

package kafka

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
	"github.com/recoverctl/recoverctl/internal/testkit/topics"
)

// What the speed benchmarks take from the environment.
const (
	recordsEnv = "RECOVERCTL_BENCH_RECORDS" // of each topic; 1,000,000 where it is not set
	roundsEnv  = "RECOVERCTL_BENCH_ROUNDS"  // 7
	memoryEnv  = "RECOVERCTL_BENCH_MEMORY"  // numbers of records, with commas; 100000,1000000
	topicEnv   = "RECOVERCTL_BENCH_TOPIC"   // set for the process whose memory is measured
)

const benchPartitions = 8

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

// busyTopic writes a topic of made-up traffic.
func busyTopic(b *testing.B, cluster *kafkatest.Cluster, traffic topics.Traffic, codec kgo.CompressionCodec) string {
	b.Helper()
	name := cluster.Topic(b, benchPartitions, map[string]string{"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "1", "min.compaction.lag.ms": "86400000"})
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.Brokers()...), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(codec), kgo.ProducerBatchMaxBytes(128<<10), kgo.ProducerLinger(20*time.Millisecond), kgo.MaxBufferedRecords(100_000))
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	var mu sync.Mutex
	var failed error
	for partition, r := range traffic.All() {
		client.Produce(context.Background(), &kgo.Record{Topic: name, Partition: partition, Key: r.Key, Value: r.Value, Timestamp: time.UnixMilli(r.Timestamp)}, func(_ *kgo.Record, err error) {
			mu.Lock()
			defer mu.Unlock()
			failed = cmp.Or(failed, err)
		})
	}
	if err := client.Flush(context.Background()); err != nil || failed != nil {
		b.Fatal(err, failed)
	}
	return name
}

func openStore(b *testing.B, cluster *kafkatest.Cluster) *Store {
	b.Helper()
	conn, err := kafkaconn.Open(context.Background(), cluster.Config())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(conn.Close)
	return New(conn, clock.System{})
}

// measure is what one reading of a topic took.
type measure struct{ wall, processor time.Duration }

// contestant reads a topic to its end. With a hash it shows each record to it;
// such a reading is not timed.
type contestant struct {
	name string
	read func(b *testing.B, topic string, data inspect.DataTopic, hash func(partition int32, offset int64, key, value []byte)) (records int64, spent time.Duration)
}

// sum is a hash of a set of records that does not depend on their order.
type sum struct {
	mu    sync.Mutex
	seed  maphash.Seed
	total uint64
}

func (s *sum) add(partition int32, offset int64, key, value []byte) {
	var h maphash.Hash
	h.SetSeed(s.seed)
	fmt.Fprintf(&h, "%d %d %d ", partition, offset, len(key))
	h.Write(key)
	h.Write(value)
	s.mu.Lock()
	s.total += h.Sum64()
	s.mu.Unlock()
}

func processor(b *testing.B, who int) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// bareLoop is franz-go's own poll loop: its records are counted and nothing else.
func bareLoop(cluster *kafkatest.Cluster) contestant {
	return contestant{"franz-go poll loop", func(b *testing.B, topic string, data inspect.DataTopic, hash func(int32, int64, []byte, []byte)) (int64, time.Duration) {
		offsets := map[int32]kgo.Offset{}
		left := 0
		ends := map[int32]int64{}
		for _, p := range data.Partitions {
			offsets[p.ID] = kgo.NewOffset().At(p.Log.Start)
			if ends[p.ID] = p.Log.End; p.Log.End > p.Log.Start {
				left++
			}
		}
		client, err := kgo.NewClient(kgo.SeedBrokers(cluster.Brokers()...), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: offsets}),
			kgo.FetchMaxBytes(64<<20), kgo.FetchMaxPartitionBytes(4<<20))
		if err != nil {
			b.Fatal(err)
		}
		defer client.Close()
		var records int64
		for left > 0 {
			fetches := client.PollRecords(context.Background(), 10_000)
			if err := fetches.Err(); err != nil {
				b.Fatal(err)
			}
			fetches.EachPartition(func(p kgo.FetchTopicPartition) {
				for _, r := range p.Records {
					records++
					if hash != nil {
						hash(r.Partition, r.Offset, r.Key, r.Value)
					}
				}
				if n := len(p.Records); n > 0 && p.Records[n-1].Offset+1 == ends[p.Partition] {
					left--
				}
			})
		}
		return records, 0
	}}
}

// scanOf is the scan for durable calls. A hash is made on its way of reading.
func scanOf(store *Store) contestant {
	return contestant{"recoverctl scan", func(b *testing.B, topic string, data inspect.DataTopic, hash func(int32, int64, []byte, []byte)) (int64, time.Duration) {
		if hash == nil {
			point := inspect.PointMarker{Point: "middle", Offsets: inspect.Offsets{}}
			for _, p := range data.Partitions {
				point.Offsets[p.ID] = (p.Log.Start + p.Log.End) / 2
			}
			got, err := store.ReadCalls(context.Background(), data, inspect.CallQuestion{Job: inspect.Job{Topic: topic}, Points: []inspect.PointMarker{point}}, func(inspect.CallUpdate) {})
			if err != nil {
				b.Fatal(err)
			}
			return got.Scanned.Records, 0
		}
		var records int64
		t, err := store.described(context.Background(), data)
		if err != nil {
			b.Fatal(err)
		}
		for _, p := range data.Partitions {
			r := newReader(store, t, p.Log.End)
			r.partition, r.uncommitted, r.raw, r.limit, r.most = p.ID, true, true, scanBytesFirst, scanBytes
			walk := batchWalk{decompress: r.decompress, visit: func(offset, _ int64, key, value []byte) {
				records++
				hash(p.ID, offset, key, value)
			}}
			at := p.Log.Start
			for page, err := range r.pages(context.Background(), at) {
				if err != nil {
					b.Fatal(err)
				}
				if err := walk.walk(page.batches, at, r.end); err != nil {
					b.Fatal(err)
				}
				at = page.next
			}
		}
		return records, 0
	}}
}

// kcatOf is librdkafka's own tool, tuned. Timed, it prints an offset for each
// record; for the hash, everything.
func kcatOf(cluster *kafkatest.Cluster) contestant {
	return contestant{"kcat", func(b *testing.B, topic string, _ inspect.DataTopic, hash func(int32, int64, []byte, []byte)) (int64, time.Duration) {
		format := `%o\n`
		if hash != nil {
			format = `%p %o %K %S\n%k%s`
		}
		cmd := exec.Command("kcat", "-C", "-q", "-e", "-b", cluster.Brokers()[0], "-t", topic, "-o", "beginning", "-X", "queued.min.messages=10000000", "-f", format)
		out, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		records := int64(0)
		in := bufio.NewReaderSize(out, 1<<20)
		if hash == nil {
			buffer := make([]byte, 1<<20)
			for err == nil {
				var n int
				n, err = in.Read(buffer)
				records += int64(bytes.Count(buffer[:n], []byte("\n")))
			}
		}
		for hash != nil {
			var partition int32
			var offset int64
			var key, value int
			line, err := in.ReadString('\n')
			if errors.Is(err, io.EOF) {
				break
			}
			if _, err := fmt.Sscanf(line, "%d %d %d %d", &partition, &offset, &key, &value); err != nil {
				b.Fatal(err)
			}
			data := make([]byte, key+value)
			if _, err := io.ReadFull(in, data); err != nil {
				b.Fatal(err)
			}
			records++
			hash(partition, offset, data[:key], data[key:])
		}
		if err := cmd.Wait(); err != nil {
			b.Fatal(err)
		}
		return records, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}}
}

// BenchmarkScanAgainstOthers prints the table of docs/performance.md: how fast
// the scan reads beside a bare poll loop and kcat, over the same broker, topic
// and offsets, warm and in turns, each as the median.
func BenchmarkScanAgainstOthers(b *testing.B) {
	cluster := kafkatest.Real(b)
	count, rounds := number(b, recordsEnv, 1_000_000), number(b, roundsEnv, 7)
	contestants := []contestant{bareLoop(cluster), scanOf(openStore(b, cluster))}
	if _, err := exec.LookPath("kcat"); err == nil {
		contestants = append(contestants, kcatOf(cluster))
	} else {
		fmt.Println("kcat is not installed: it is left out")
	}
	fmt.Printf("\n%d records, %d partitions, median of %d, GOMAXPROCS %d\n\n", count, benchPartitions, rounds, runtime.GOMAXPROCS(0))
	fmt.Println("| value | codec | who | records/s | of the bare loop | processor, ns a record | records' hash |")
	fmt.Println("| --- | --- | --- | --- | --- | --- | --- |")
	for _, size := range []int{400, 1024} {
		for _, codec := range []struct {
			name  string
			codec kgo.CompressionCodec
		}{{"none", kgo.NoCompression()}, {"lz4", kgo.Lz4Compression()}, {"zstd", kgo.ZstdCompression()}} {
			b.Run(fmt.Sprintf("%dB/%s", size, codec.name), func(b *testing.B) {
				for b.Loop() {
					topic := busyTopic(b, cluster, topics.Traffic{Records: count, Keys: 20_000, Size: size, Partitions: benchPartitions}, codec.codec)
					compare(b, openStore(b, cluster), topic, int64(count), rounds, contestants, fmt.Sprintf("%d B | %s", size, codec.name))
					if err := cluster.DeleteTopic(context.Background(), topic); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func compare(b *testing.B, store *Store, topic string, count int64, rounds int, contestants []contestant, row string) {
	b.Helper()
	data, err := store.DataTopic(context.Background(), topic)
	if err != nil {
		b.Fatal(err)
	}
	seed := maphash.MakeSeed()
	hashes := make([]uint64, len(contestants))
	for i, c := range contestants { // which also warms the page cache
		s := sum{seed: seed}
		if n, _ := c.read(b, topic, data, s.add); n != count {
			b.Fatalf("%s has read %d records, there are %d", c.name, n, count)
		}
		if hashes[i] = s.total; hashes[i] != hashes[0] {
			b.Fatalf("%s has read other records than %s", c.name, contestants[0].name)
		}
	}
	measures := make([][]measure, len(contestants))
	for range rounds {
		for i, c := range contestants {
			runtime.GC()
			used, began := processor(b, syscall.RUSAGE_SELF), time.Now()
			n, spent := c.read(b, topic, data, nil)
			m := measure{time.Since(began), cmp.Or(spent, processor(b, syscall.RUSAGE_SELF)-used)}
			if n != count {
				b.Fatalf("%s has read %d records, there are %d", c.name, n, count)
			}
			measures[i] = append(measures[i], m)
		}
	}
	bare := median(measures[0]).wall
	for i, c := range contestants {
		m := median(measures[i])
		fmt.Printf("| %s | %s | %.0f | %.2f | %.0f | %016x |\n", row, c.name, float64(count)/m.wall.Seconds(), bare.Seconds()/m.wall.Seconds(),
			float64(m.processor.Nanoseconds())/float64(count), hashes[i])
	}
}

// median is of both figures by themselves.
func median(all []measure) measure {
	walls, processors := make([]time.Duration, 0, len(all)), make([]time.Duration, 0, len(all))
	for _, m := range all {
		walls, processors = append(walls, m.wall), append(processors, m.processor)
	}
	slices.Sort(walls)
	slices.Sort(processors)
	return measure{walls[len(walls)/2], processors[len(processors)/2]}
}

// BenchmarkScanMemory prints how much memory a process needs for the scan of
// topics of more and more records of 20,000 live keys.
func BenchmarkScanMemory(b *testing.B) {
	cluster := kafkatest.Real(b)
	fmt.Print("\n| records | peak memory of the process |\n| --- | --- |\n")
	for b.Loop() {
		for _, text := range strings.Split(cmp.Or(os.Getenv(memoryEnv), "100000,1000000"), ",") {
			count, err := strconv.Atoi(text)
			if err != nil {
				b.Fatal(err)
			}
			topic := busyTopic(b, cluster, topics.Traffic{Records: count, Keys: 20_000, Size: 400, Partitions: benchPartitions}, kgo.Lz4Compression())
			child := exec.Command(os.Args[0], "-test.run=^$", "-test.bench=^BenchmarkScanOfOneProcess$", "-test.benchtime=1x")
			child.Env = append(os.Environ(), topicEnv+"="+topic)
			child.Stderr = os.Stderr
			out, err := child.Output()
			if err != nil {
				b.Fatalf("%v: %s", err, out)
			}
			for line := range strings.Lines(string(out)) {
				if strings.HasPrefix(line, "peak ") {
					fmt.Printf("| %d | %s |\n", count, strings.TrimSpace(strings.TrimPrefix(line, "peak ")))
				}
			}
			if err := cluster.DeleteTopic(context.Background(), topic); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkScanOfOneProcess is what BenchmarkScanMemory runs in a process of its
// own.
func BenchmarkScanOfOneProcess(b *testing.B) {
	topic := os.Getenv(topicEnv)
	if topic == "" {
		b.Skip("it is a part of BenchmarkScanMemory")
	}
	store := openStore(b, kafkatest.Real(b))
	data, err := store.DataTopic(context.Background(), topic)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := store.ReadCalls(context.Background(), data, inspect.CallQuestion{}, func(inspect.CallUpdate) {}); err != nil {
			b.Fatal(err)
		}
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			fmt.Printf("peak %s\n", strings.TrimSpace(rest))
		}
	}
}
