package kafka_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
)

const (
	scanEvent  = "99914b93-2bd3-3a50-b983-c5e7c90ae93b"
	scanAction = "aa8af3eb-e148-31a7-8d1b-6d1383a03755"
)

// pendingAction is the key and the value of an action with one call out. The
// value is as long as asked for, so that few fit in one answer.
func pendingAction(topic string, partition int32, name string, size int) *kgo.Record {
	value := fmt.Sprintf(`{"taskEvent":{"type":"t","attributes":{"x":"%s"}},"callResults":[{"functionId":"charge","argsDigest":"","resultPayload":null,"exceptionPayload":null,"status":"PENDING"}],"completed":false}`,
		strings.Repeat("x", size))
	return &kgo.Record{Topic: topic, Partition: partition, Key: fmt.Appendf(nil, "%s_0_%s_%s", name, scanEvent, scanAction), Value: []byte(value)}
}

// busy makes a topic of two partitions with some actions on each, which take
// several answers to read, and describes it.
func (c cluster) busy(t *testing.T, store interface {
	DataTopic(context.Context, string) (inspect.DataTopic, error)
}) inspect.DataTopic {
	t.Helper()
	topic, _ := c.create(t, 2, map[string]string{"cleanup.policy": "compact,delete", "retention.ms": "-1", "retention.bytes": "-1"})
	client := c.client(t, kgo.ProducerBatchCompression(kgo.NoCompression()))
	for partition := range int32(2) {
		for n := range 12 {
			write(t, client, pendingAction(topic, partition, fmt.Sprintf("k%d-%02d", partition, n), 900_000))
		}
	}
	data, err := store.DataTopic(context.Background(), topic)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// instead answers fetches of a partition in the fake cluster's place as long as
// answer gives an error; nil is the cluster's own answer. Fetches are counted
// from 1.
func (c cluster) instead(partition int32, answer func(count int64, offset int64) *kerr.Error) {
	var count atomic.Int64
	c.on(kmsg.Fetch, func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		req := kreq.(*kmsg.FetchRequest)
		asked := req.Topics[0].Partitions[0]
		if asked.Partition != partition {
			return nil, nil, false
		}
		refused := answer(count.Add(1), asked.FetchOffset)
		if refused == nil {
			return nil, nil, false
		}
		resp := req.ResponseKind().(*kmsg.FetchResponse)
		topic := kmsg.NewFetchResponseTopic()
		topic.Topic, topic.TopicID = req.Topics[0].Topic, req.Topics[0].TopicID
		part := kmsg.NewFetchResponseTopicPartition()
		part.Partition, part.ErrorCode = partition, refused.Code
		topic.Partitions = append(topic.Partitions, part)
		resp.Topics = append(resp.Topics, topic)
		return resp, nil, true
	})
}

func texts(got inspect.DurableCalls) []string {
	var out []string
	for _, a := range got.Actions {
		out = append(out, *a.Key.Text)
	}
	slices.Sort(out)
	return out
}

func count(got inspect.DurableCalls, prefix string) (n int) {
	for _, text := range texts(got) {
		if strings.HasPrefix(text, prefix) {
			n++
		}
	}
	return n
}

// Polls that fail, and a leader that moves, cost time and nothing else.
func TestAScanOutlivesFailingPolls(t *testing.T) {
	c := newFake(t)
	store := c.store(t)
	data := c.busy(t, store)
	c.instead(1, func(count, _ int64) *kerr.Error {
		switch count {
		case 2:
			return kerr.NotLeaderForPartition
		case 4:
			return kerr.UnknownServerError
		default:
			return nil
		}
	})
	got, err := store.ReadCalls(context.Background(), data, inspect.CallQuestion{}, nil)
	if err != nil || got.Scanned.Partial || len(got.Actions) != 24 || got.Scanned.Records != 24 {
		t.Errorf("%v, %+v", err, got.Scanned)
	}
}

// Where one poll of ten fails, each for another reason, the scan finds what it
// finds without that.
func TestAScanOutlivesOneFailingPollOfTen(t *testing.T) {
	c := newFake(t)
	store := c.store(t)
	const partitions, each = 4, 60
	topic, _ := c.create(t, partitions, map[string]string{"cleanup.policy": "compact,delete", "retention.ms": "-1", "retention.bytes": "-1"})
	client := c.client(t, kgo.ProducerBatchCompression(kgo.NoCompression()))
	for partition := range int32(partitions) {
		for n := range each {
			write(t, client, pendingAction(topic, partition, fmt.Sprintf("k%d-%02d", partition, n), 250_000))
		}
	}
	data, err := store.DataTopic(context.Background(), topic)
	if err != nil {
		t.Fatal(err)
	}
	var polls, failed atomic.Int64
	for partition := range int32(partitions) {
		c.instead(partition, func(int64, int64) *kerr.Error {
			if n := polls.Add(1); n%10 != 7 {
				return nil
			}
			reasons := []*kerr.Error{kerr.NotLeaderForPartition, kerr.UnknownServerError, kerr.FencedLeaderEpoch, kerr.KafkaStorageError, kerr.LeaderNotAvailable}
			return reasons[failed.Add(1)%int64(len(reasons))]
		})
	}
	got, err := store.ReadCalls(context.Background(), data, inspect.CallQuestion{}, nil)
	if err != nil || got.Scanned.Partial || len(got.Actions) != partitions*each || got.Scanned.Records != partitions*each {
		t.Errorf("%v, %+v", err, got.Scanned)
	}
	if failed.Load() == 0 {
		t.Errorf("none of %d polls failed", polls.Load())
	}
	t.Logf("%d of %d polls failed", failed.Load(), polls.Load())
}

// A partition that may not be read leaves the others, and is named.
func TestOnePartitionThatMayNotBeReadHidesNoCallOfOthers(t *testing.T) {
	c := newFake(t)
	store := c.store(t)
	data := c.busy(t, store)
	c.instead(1, func(count, _ int64) *kerr.Error {
		if count < 2 {
			return nil
		}
		return kerr.TopicAuthorizationFailed
	})
	got, err := store.ReadCalls(context.Background(), data, inspect.CallQuestion{}, nil)
	read := got.Scanned.Read[1]
	if fault.KindOf(err) != fault.Denied || !got.Scanned.Partial || count(got, "k0") != 12 || int64(count(got, "k1")) != read || read == 0 || read == 12 || got.Scanned.Read[0] != 12 {
		t.Errorf("%v, %+v, %q", err, got.Scanned, texts(got))
	}
	if want := fmt.Sprintf("partition 1 was read from offset 0 to %d, and not to its end 12: ", read); !strings.HasPrefix(fmt.Sprint(err), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// A log that is cut in front of the reader is read on from its new start, and
// what is missing is said.
func TestALogThatIsCutDuringTheScan(t *testing.T) {
	onEach(t, func(t *testing.T, c cluster) {
		store := c.store(t)
		data := c.busy(t, store)
		c.trim(t, data.Name, 1, 5)
		got, err := store.ReadCalls(context.Background(), data, inspect.CallQuestion{}, nil)
		if fault.KindOf(err) != fault.Drift || !got.Scanned.Partial || count(got, "k0") != 12 || count(got, "k1") != 7 || got.Scanned.Read[1] != 12 || got.Scanned.Gaps != 0 {
			t.Errorf("%v, %+v, %q", err, got.Scanned, texts(got))
		}
		if want := "partition 1 was read from offset 0 to 0, and what followed was deleted meanwhile: it was read on from 5"; !strings.HasPrefix(fmt.Sprint(err), want) {
			t.Errorf("%v, want %s", err, want)
		}
	})
}

// A topic that is deleted, or made anew, during the scan ends it: what was read
// until then is said.
func TestATopicThatGoesAwayDuringTheScan(t *testing.T) {
	for _, c := range []struct {
		name string
		away func(cluster, context.Context, string) error
		says string
	}{
		{"deleted", func(c cluster, ctx context.Context, topic string) error { return c.DeleteTopic(ctx, topic) }, "was deleted while being read"},
		{"made anew", func(c cluster, ctx context.Context, topic string) error { return c.RecreateTopic(ctx, topic, 2, nil) }, "was recreated while being read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fake := newFake(t)
			store := fake.store(t)
			data := fake.busy(t, store)
			gone := make(chan error, 1)
			fake.instead(1, func(count, _ int64) *kerr.Error {
				switch {
				case count == 1:
					return nil
				case count == 2:
					go func() { gone <- c.away(fake, context.Background(), data.Name) }()
				}
				return kerr.UnknownTopicOrPartition
			})
			got, err := store.ReadCalls(context.Background(), data, inspect.CallQuestion{}, nil)
			if err := <-gone; err != nil {
				t.Fatal(err)
			}
			if fault.KindOf(err) != fault.Drift || !got.Scanned.Partial || count(got, "k1") == 0 || count(got, "k1") == 12 {
				t.Errorf("%v, %+v, %q", err, got.Scanned, texts(got))
			}
			if text := fmt.Sprint(err); !strings.Contains(text, c.says) || !strings.Contains(text, " of 24 offsets") {
				t.Errorf("%v, want %s", err, c.says)
			}
		})
	}
}

// A log end that went back is said to be lost, not waited for without end.
func TestALogThatWasTruncatedDuringTheScan(t *testing.T) {
	t.Parallel()
	c := newFake(t)
	store := c.store(t, func(config *kafkaconn.Config) { config.RequestTimeout = 8 * time.Second })
	data := c.busy(t, store)
	data.Partitions[1].Log.End = 20 // as it was before another leader was elected
	got, err := store.ReadCalls(context.Background(), data, inspect.CallQuestion{}, nil)
	if fault.KindOf(err) != fault.Drift || !got.Scanned.Partial || count(got, "k1") != 12 || got.Scanned.Read[1] != 12 ||
		!strings.Contains(fmt.Sprint(err), "went back from 20 to 12") {
		t.Errorf("%v, %+v", err, got.Scanned)
	}
}

// Whoever cancels keeps what was found, and was told of it before.
func TestACancelledScanKeepsWhatItFound(t *testing.T) {
	c := newFake(t)
	store := c.store(t)
	data := c.busy(t, store)
	c.instead(1, func(count, _ int64) *kerr.Error {
		if count < 2 {
			return nil
		}
		return kerr.NotLeaderForPartition // for good
	})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var told []string
	var last inspect.CallProgress
	got, err := store.ReadCalls(ctx, data, inspect.CallQuestion{}, func(u inspect.CallUpdate) {
		for _, a := range u.Changed {
			told = append(told, *a.Key.Text)
		}
		last = u.Progress
		if len(told) > 12 {
			cancel()
		}
	})
	slices.Sort(told)
	if fault.KindOf(err) != fault.Cancelled || !got.Scanned.Partial || len(told) < 13 || !slices.Equal(told, texts(got)) {
		t.Errorf("%v, %+v, told %q, found %q", err, got.Scanned, told, texts(got))
	}
	if want := int64(len(told)); last.Records != want || last.Span != want || last.Total != 24 || last.Open != want || last.Pass != 1 {
		t.Errorf("%+v", last)
	}
	if len(fault.All(err)) != 1 {
		t.Errorf("said more than once: %v", err)
	}
}

// Records of aborted and open transactions count, as for the restore, and what
// the other offsets hold is explained.
func TestAScanExplainsTransactions(t *testing.T) {
	onEach(t, func(t *testing.T, c cluster) {
		topic, _ := c.create(t, 1, map[string]string{"cleanup.policy": "compact"})
		transaction := func(name string, records ...*kgo.Record) *kgo.Client {
			cl := c.client(t, kgo.TransactionalID(topic+name))
			if err := cl.BeginTransaction(); err != nil {
				t.Fatal(err)
			}
			write(t, cl, records...)
			return cl
		}
		end := func(cl *kgo.Client, how kgo.TransactionEndTry) {
			if err := cl.EndTransaction(context.Background(), how); err != nil {
				t.Fatal(err)
			}
		}
		end(transaction("aborted", pendingAction(topic, 0, "a", 1), pendingAction(topic, 0, "b", 1)), kgo.TryAbort) // 0, 1; 2 ends it
		end(transaction("committed", pendingAction(topic, 0, "c", 1)), kgo.TryCommit)                               // 3; 4
		open := transaction("open", pendingAction(topic, 0, "d", 1))                                                // 5
		write(t, c.client(t), pendingAction(topic, 0, "e", 1))                                                      // 6
		store := c.store(t)
		data := described(t, store, topic)
		for data.Partitions[0].Log.End < 7 { // Kafka writes a marker after it has answered
			data = described(t, store, topic)
		}
		got, err := store.ReadCalls(context.Background(), data, inspect.CallQuestion{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if s := got.Scanned; s.Records != 5 || s.Control != 2 || s.Aborted != 2 || s.Open != 1 || s.Gaps != 0 {
			t.Errorf("%+v", s)
		}
		if want := []string{"a", "b", "c", "d", "e"}; !slices.Equal(texts(got), want) {
			t.Errorf("%q, want %q", texts(got), want)
		}
		end(open, kgo.TryAbort)
	})
}

// What compaction took is no fault, and is counted.
func TestAScanOfACompactedLog(t *testing.T) {
	c := newFake(t)
	topic, _ := c.create(t, 1, nil)
	fill(t, c, topic, 0, 10)
	store := c.store(t)
	data := described(t, store, topic)
	var raw bytes.Buffer
	raw.Write(batch(0, 6, 0, nil)) // nothing is left of it
	c.on(kmsg.Fetch, func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		req := kreq.(*kmsg.FetchRequest)
		resp := req.ResponseKind().(*kmsg.FetchResponse)
		out := kmsg.NewFetchResponseTopic()
		out.Topic, out.TopicID = req.Topics[0].Topic, req.Topics[0].TopicID
		part := kmsg.NewFetchResponseTopicPartition()
		part.HighWatermark, part.RecordBatches = 10, raw.Bytes()
		if req.Topics[0].Partitions[0].FetchOffset == 7 {
			part.RecordBatches = []byte{} // and of the rest there is not even a batch
		}
		out.Partitions = append(out.Partitions, part)
		resp.Topics = append(resp.Topics, out)
		return resp, nil, true
	})
	got, err := store.ReadCalls(context.Background(), data, inspect.CallQuestion{}, nil)
	if err != nil || got.Scanned.Partial || got.Scanned.Records != 0 || got.Scanned.Gaps != 10 || got.Scanned.Read[0] != 10 {
		t.Errorf("%v, %+v", err, got.Scanned)
	}
}

// A topic that is no longer the one that was described is not read at all.
func TestAnotherTopicIsNotScanned(t *testing.T) {
	c := newFake(t)
	store := c.store(t)
	data := c.busy(t, store)
	data.TopicID = "Q0ZbI2aaTq2bEJtS3RzGgA"
	got, err := store.ReadCalls(context.Background(), data, inspect.CallQuestion{}, nil)
	if fault.KindOf(err) != fault.Drift || !got.Scanned.Partial || got.Scanned.Records != 0 || got.Actions == nil || got.Findings == nil {
		t.Errorf("%v, %+v", err, got)
	}
}
