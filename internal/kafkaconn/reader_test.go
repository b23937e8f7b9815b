package kafkaconn_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
	"github.com/recoverctl/recoverctl/internal/testkit/port"
)

func TestAReaderReadsEveryRecordOnceFromTheFake(t *testing.T) {
	readsEveryRecordOnce(t, kafkatest.StartFake(t).Cluster)
}

// readsEveryRecordOnce writes to three partitions, trims one, and reads each
// from its start to the end that was captured before.
func readsEveryRecordOnce(t *testing.T, cluster *kafkatest.Cluster) {
	const n = 5000
	topic := cluster.Topic(t, 3, nil)
	for p := range int32(3) {
		records := make([]kafkatest.Record, n)
		for i := range records {
			records[i] = kafkatest.KV(fmt.Sprintf("%d-%d", p, i), "some value that is not very short")
		}
		cluster.Put(t, topic, p, records...)
	}
	if err := cluster.Trim(t.Context(), topic, map[int32]int64{1: 1234}); err != nil {
		t.Fatal(err)
	}
	conn := open(t, cluster.Config())
	reader, err := conn.NewReader(map[string]map[int32]int64{topic: {0: 0, 1: 1234, 2: n - 1}}, kafkaconn.ReadCommitted, kgo.FetchMaxPartitionBytes(10_000))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	next := map[int32]int64{0: 0, 1: 1234, 2: n - 1}
	for next[0] < n || next[1] < n || next[2] < n {
		fetches, err := reader.Poll(t.Context(), 700)
		if err != nil {
			t.Fatal(err)
		}
		if got := fetches.NumRecords(); got > 700 {
			t.Errorf("%d records with a limit of 700", got)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if want := fmt.Sprintf("%d-%d", r.Partition, r.Offset); r.Offset != next[r.Partition] || string(r.Key) != want {
				t.Fatalf("partition %d: offset %d key %s after offset %d", r.Partition, r.Offset, r.Key, next[r.Partition]-1)
			}
			next[r.Partition]++
		})
	}
	// Nothing is left: the brokers answer, and have none.
	began := time.Now()
	fetches, err := reader.Poll(t.Context(), 0)
	if err != nil || !fetches.Empty() {
		t.Errorf("after the end: %d records, %v", fetches.NumRecords(), err)
	}
	if took := time.Since(began); took > kafkaconn.DefaultRequestTimeout/2 {
		t.Errorf("an empty poll took %s", took)
	}
}

func TestAReaderSaysWhatIsWrong(t *testing.T) {
	fake := kafkatest.StartFake(t)
	topic := fake.Topic(t, 1, nil)
	fake.Put(t, topic, 0, kafkatest.KV("k", "v"))
	absent := kafkatest.UniqueName("absent")
	tests := map[string]struct {
		topic   string
		from    int64
		kind    fault.Kind
		message string
	}{
		"an offset past the end": {topic, 7, fault.Drift, "topic " + topic + " partition 0: an offset is outside the log"},
		"a topic that is absent": {absent, 0, fault.NotFound, "topic " + absent + ": it does not exist"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			reader, err := open(t, fake.Config()).NewReader(map[string]map[int32]int64{tt.topic: {0: tt.from}}, kafkaconn.ReadUncommitted)
			if err != nil {
				t.Fatal(err)
			}
			defer reader.Close()
			_, err = reader.Poll(t.Context(), 0)
			wantFault(t, err, tt.kind, tt.message, "")
		})
	}
	if _, err := open(t, fake.Config()).NewReader(map[string]map[int32]int64{topic: {0: -1}}, kafkaconn.ReadUncommitted); err == nil {
		t.Error("offset -1 was taken")
	}
}

// A broker that goes away, or that leads no longer and nobody follows, ends a
// read within the request timeout: a Reader never waits for ever.
func TestAReaderThatNobodyAnswersGivesUp(t *testing.T) {
	const limit = 3 * time.Second
	tests := map[string]struct {
		breakIt func(*testing.T, *kafkatest.Fake)
		message string
	}{
		"the brokers are gone": {
			func(t *testing.T, f *kafkatest.Fake) {
				f.Kfake().Close()
				port.Keep(t, f.Brokers()...)
			}, "no connection to broker 127.0.0.1:",
		},
		"the partition has no leader": {
			func(_ *testing.T, f *kafkatest.Fake) {
				f.Kfake().Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Err: kerr.NotLeaderForPartition, Count: -1})
			}, "no broker leads the partition",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := kafkatest.StartFake(t)
			topic := kafkatest.UniqueName("test")
			if err := fake.CreateTopic(t.Context(), topic, 1, nil); err != nil {
				t.Fatal(err)
			}
			fake.Put(t, topic, 0, kafkatest.KV("k", "v"))
			config := fake.Config()
			config.RequestTimeout = limit
			reader, err := open(t, config).NewReader(map[string]map[int32]int64{topic: {0: 0}}, kafkaconn.ReadUncommitted)
			if err != nil {
				t.Fatal(err)
			}
			defer reader.Close()
			if fetches, err := reader.Poll(t.Context(), 0); err != nil || fetches.NumRecords() != 1 {
				t.Fatalf("%d records, %v", fetches.NumRecords(), err)
			}
			tt.breakIt(t, fake)
			began := time.Now()
			for err = nil; err == nil && time.Since(began) < 20*limit; {
				_, err = reader.Poll(t.Context(), 0)
			}
			wantFault(t, err, fault.Unreachable, tt.message, "")
			if took := time.Since(began); took > 10*limit {
				t.Errorf("it took %s with a request timeout of %s", took, limit)
			}
		})
	}
}

func TestAPollEndsWithItsContext(t *testing.T) {
	fake := kafkatest.StartFake(t)
	topic := fake.Topic(t, 1, nil)
	reader, err := open(t, fake.Config()).NewReader(map[string]map[int32]int64{topic: {0: 0}}, kafkaconn.ReadUncommitted)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := reader.Poll(ctx, 0); fault.KindOf(err) != fault.Cancelled {
		t.Errorf("got %v, want cancelled", err)
	}
}

// A request whose broker is down says where no connection could be made, and
// whether that address is the profile's or one that the cluster advertised.
func TestAnAdvertisedAddressThatCannotBeReachedIsNamed(t *testing.T) {
	fake := kafkatest.StartFake(t, kfake.NumBrokers(2))
	brokers := fake.Brokers()
	topic := fake.Topic(t, 1, nil)
	if err := fake.Kfake().MoveTopicPartition(topic, 0, 1); err != nil {
		t.Fatal(err)
	}
	conn, err := kafkaconn.Open(t.Context(), kafkaconn.Config{Brokers: brokers[:1], RequestTimeout: 5 * time.Second},
		kafkaconn.WithDial(func(ctx context.Context, network, addr string) (net.Conn, error) {
			if addr != brokers[0] {
				return refuse(ctx, network, addr)
			}
			return (&net.Dialer{}).DialContext(ctx, network, addr)
		}))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	began := time.Now()
	offsets, err := conn.Admin().ListEndOffsets(t.Context(), topic)
	if o, ok := offsets.Lookup(topic, 0); ok {
		err = errors.Join(err, o.Err)
	}
	f := conn.Explain(err, kafkaconn.ListOffsets, kafkaconn.Partition(topic, 0))
	wantFault(t, f, fault.Unreachable, "broker "+brokers[1]+", an address that the cluster advertises", "")
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %s with a request timeout of 5s", took)
	}
}

// A topic that is deleted and made anew is seen as another one at once: the
// check of a topic's identity must not be answered from a client's memory.
func TestATopicsIdentityIsNeverRemembered(t *testing.T) {
	fake := kafkatest.StartFake(t)
	topic := fake.Topic(t, 1, nil)
	conn := open(t, fake.Config())
	for range 3 {
		want, err := fake.TopicID(t.Context(), topic)
		if err != nil {
			t.Fatal(err)
		}
		topics, err := conn.Admin().ListTopics(t.Context(), topic)
		if err != nil {
			t.Fatal(err)
		}
		if got := topics[topic].ID; got != want {
			t.Errorf("id %s, want %s", got, want)
		}
		if err := fake.RecreateTopic(t.Context(), topic, 1, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(15 * time.Millisecond) // the age that is allowed
	}
}

// Opening and pinging a cluster that is there.
func TestOpenAndPing(t *testing.T) {
	fake := kafkatest.StartFake(t)
	conn := open(t, fake.Config())
	if err := conn.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Admin().ListTopics(t.Context()); err != nil {
		t.Error(err)
	}
	fake.Kfake().Close()
	port.Keep(t, fake.Brokers()...)
	wantFault(t, conn.Ping(t.Context()), fault.Unreachable, "", "")
}

func open(t *testing.T, config kafkaconn.Config) *kafkaconn.Conn {
	t.Helper()
	conn, err := kafkaconn.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}
