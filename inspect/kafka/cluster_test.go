package kafka_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/inspect/kafka"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// now is what the store's clock shows in every test.
var now = time.Date(2026, 3, 1, 14, 3, 0, 0, time.UTC)

// cluster is what the stories below are told on: a fake one, and with the build
// tag "real" also a real broker.
type cluster struct {
	*kafkatest.Cluster
	fake  *kfake.Cluster // nil: a real broker
	login []kgo.Opt      // of clients that may do everything

	answering *atomic.Int32 // requests that on has got
}

// onEach runs a test on every kind of cluster.
func onEach(t *testing.T, test func(t *testing.T, c cluster)) {
	t.Run("fake", func(t *testing.T) { test(t, newFake(t)) })
	for name, real := range realClusters(t) {
		t.Run(name, func(t *testing.T) { test(t, real) })
	}
}

// newFake starts a kfake cluster without kafkatest's corrections, none of which
// these stories need: they put themselves in front of requests.
func newFake(t *testing.T, opts ...kfake.Opt) cluster {
	t.Helper()
	fake, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fake.Close)
	verbs, err := kafkatest.NewCluster(fake.ListenAddrs()...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(verbs.Close)
	c := cluster{Cluster: verbs, fake: fake, answering: new(atomic.Int32)}
	t.Cleanup(c.settle)
	return c
}

// settle waits until the fake cluster is done with the requests that on has got:
// one that is closed before goes on waiting for them for ever. A request that is
// answered after that says so; a cluster that is closed already answers none.
func (c cluster) settle() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for c.answering.Load() > 0 && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	_ = c.Client().Ping(ctx)
}

// store opens a store, with a change to its configuration where one is given.
func (c cluster) store(t *testing.T, change ...func(*kafkaconn.Config)) *kafka.Store {
	t.Helper()
	config := c.Config()
	config.RequestTimeout = time.Minute
	for _, f := range change {
		f(&config)
	}
	conn, err := kafkaconn.Open(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return kafka.New(conn, clock.NewFake(now))
}

// client is a client that may write, which the store's own never is.
func (c cluster) client(t *testing.T, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(slices.Concat([]kgo.Opt{
		kgo.SeedBrokers(c.Brokers()...), kgo.RecordPartitioner(kgo.ManualPartitioner()),
	}, c.login, opts)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

func (c cluster) admin(t *testing.T) *kadm.Client {
	t.Helper()
	return kadm.NewClient(c.client(t))
}

// names makes transactional ids unique.
var names atomic.Int64

// create makes a topic with a name of its own and returns the name and the id
// that the cluster gave it.
func (c cluster) create(t *testing.T, partitions int32, settings map[string]string) (string, kadm.TopicID) {
	t.Helper()
	if c.fake != nil {
		name := kafkatest.UniqueName("test")
		if err := c.fake.CreateTopic(name, partitions, settings); err != nil {
			t.Fatal(err)
		}
		return name, c.fake.TopicInfo(name).TopicID
	}
	name := c.Topic(t, partitions, settings)
	id, err := c.TopicID(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return name, id
}

func (c cluster) set(t *testing.T, topic, name, value string) {
	t.Helper()
	if err := c.Set(t.Context(), topic, name, value); err != nil {
		t.Fatal(err)
	}
}

// write appends records to their partitions in order and fails unless all are
// acknowledged.
func write(t *testing.T, cl *kgo.Client, records ...*kgo.Record) {
	t.Helper()
	for _, r := range records {
		if err := cl.ProduceSync(context.Background(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}

// trim moves the log start of a partition.
func (c cluster) trim(t *testing.T, topic string, partition int32, offset int64) {
	t.Helper()
	if err := c.Trim(t.Context(), topic, map[int32]int64{partition: offset}); err != nil {
		t.Fatal(err)
	}
}

// on answers requests of one kind in the fake cluster's place for as long as
// answer returns true.
func (c cluster) on(key kmsg.Key, answer func(kmsg.Request) (kmsg.Response, error, bool)) {
	c.fake.ControlKey(int16(key), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.answering.Add(1)
		defer c.answering.Add(-1)
		c.fake.KeepControl()
		return answer(req)
	})
}
