package kafkaproxy_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/internal/testkit/kafkaproxy"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// stage is a cluster, the proxy before it, and a client that knows the proxy
// alone.
type stage struct {
	*testing.T
	cluster *kafkatest.Fake
	proxy   *kafkaproxy.Proxy
	client  *kgo.Client
	admin   *kadm.Client
}

func newStage(t *testing.T, opts ...kfake.Opt) *stage {
	cluster := kafkatest.StartFake(t, opts...)
	proxy := kafkaproxy.Start(t, cluster.Brokers()[0])
	client := connect(t, proxy)
	return &stage{T: t, cluster: cluster, proxy: proxy, client: client, admin: kadm.NewClient(client)}
}

// connect makes a client that repeats nothing by itself.
func connect(t *testing.T, proxy *kafkaproxy.Proxy, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(proxy.Brokers()...), kgo.ClientID("under-test"), kgo.DisableClientMetrics(),
		kgo.RequestRetries(0), kgo.MetadataMinAge(10 * time.Millisecond), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerLinger(0),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func (s *stage) inject(rule kafkaproxy.Rule) *kafkaproxy.Fault {
	s.Helper()
	return s.proxy.Inject(s, rule)
}

// topicWithFive is a topic of one partition with five records.
func (s *stage) topicWithFive() string {
	s.Helper()
	topic := s.cluster.Topic(s, 1, nil)
	for range 5 {
		s.cluster.Put(s, topic, 0, kafkatest.KV("k", "v"))
	}
	return topic
}

// trim asks for one trim through the proxy, of partition 0, once.
func (s *stage) trim(ctx context.Context, topic string, to int64) error {
	resps, err := s.admin.DeleteRecords(ctx, kadm.Offsets{topic: {0: {Topic: topic, At: to}}})
	if err != nil {
		return err
	}
	return resps.Error()
}

// wantLog asks the cluster itself.
func (s *stage) wantLog(topic string, start, end int64) {
	s.Helper()
	starts, err := s.cluster.Admin().ListStartOffsets(context.Background(), topic)
	if err != nil {
		s.Fatal(err)
	}
	ends, err := s.cluster.Admin().ListEndOffsets(context.Background(), topic)
	if err != nil {
		s.Fatal(err)
	}
	first, _ := starts.Lookup(topic, 0)
	last, _ := ends.Lookup(topic, 0)
	if err := errors.Join(first.Err, last.Err); err != nil || first.Offset != start || last.Offset != end {
		s.Errorf("the log is [%d, %d), error %v; want [%d, %d)", first.Offset, last.Offset, err, start, end)
	}
}

// only is the one request of a kind that passed.
func (s *stage) only(key kmsg.Key) kafkaproxy.Request {
	s.Helper()
	requests := s.proxy.Requests(key)
	if len(requests) != 1 {
		s.Fatalf("%d requests of the kind %s, want 1: %v", len(requests), key.Name(), requests)
	}
	return requests[0]
}

func (s *stage) wait(f *kafkaproxy.Fault) kafkaproxy.Request {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
	defer cancel()
	r, err := f.Wait(ctx)
	if err != nil {
		s.Fatal(err)
	}
	return r
}

func (s *stage) await(wanted func(kafkaproxy.Request) bool) kafkaproxy.Request {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
	defer cancel()
	r, err := s.proxy.Await(ctx, wanted)
	if err != nil {
		s.Fatal(err)
	}
	return r
}

// produce sends one batch as it is, without a producer's own repeating.
func (s *stage) produce(topic string, record *kgo.Record, opts ...kgo.Opt) error {
	s.Helper()
	record.Topic = topic
	client := connect(s.T, s.proxy, opts...)
	return client.ProduceSync(s.Context(), record).FirstErr()
}

func code(err error, want *kerr.Error) bool { return errors.Is(err, want) }
