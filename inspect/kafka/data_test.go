package kafka_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
	"github.com/recoverctl/recoverctl/internal/testkit/port"
)

// safe are the settings that a cleanup asks of a data topic.
var safe = map[string]string{"cleanup.policy": "compact,delete", "retention.ms": "-1", "retention.bytes": "-1"}

func fill(t *testing.T, c cluster, topic string, partition int32, count int) {
	t.Helper()
	cl := c.client(t)
	for n := range count {
		write(t, cl, &kgo.Record{Topic: topic, Partition: partition, Key: fmt.Appendf(nil, "k%d", n), Value: []byte("v")})
	}
}

func TestDataTopic(t *testing.T) {
	onEach(t, func(t *testing.T, c cluster) {
		topic, id := c.create(t, 4, safe)
		fill(t, c, topic, 0, 9)
		c.trim(t, topic, 0, 4) // the beginning is gone
		fill(t, c, topic, 2, 3)
		c.trim(t, topic, 2, 3) // everything is gone
		open := c.client(t, kgo.TransactionalID(topic))
		fill(t, c, topic, 3, 1)
		if err := open.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		write(t, open, &kgo.Record{Topic: topic, Partition: 3, Key: []byte("open"), Value: []byte("v")})

		got, err := c.store(t).DataTopic(context.Background(), topic)
		if err != nil {
			t.Fatal(err)
		}
		if !got.Exists || got.Name != topic || !got.At.Equal(now) {
			t.Errorf("exists %t, name %q, at %s", got.Exists, got.Name, got.At)
		}
		if want := base64.RawURLEncoding.EncodeToString(id[:]); got.TopicID != want || len(want) != 22 {
			t.Errorf("topic id %q, want %q", got.TopicID, want)
		}
		seen, err := c.admin(t).BrokerMetadata(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if got.ClusterID != seen.Cluster || seen.Cluster == "" {
			t.Errorf("cluster id %q, want %q", got.ClusterID, seen.Cluster)
		}
		want := []inspect.LogRange{{Start: 4, End: 9}, {Start: 0, End: 0}, {Start: 3, End: 3}, {Start: 0, End: 2}}
		if len(got.Partitions) != len(want) {
			t.Fatalf("%d partitions, want %d", len(got.Partitions), len(want))
		}
		for n, p := range got.Partitions {
			if p.ID != int32(n) || p.Err != nil || p.Log != want[n] || p.Leader != seen.Brokers[0].NodeID {
				t.Errorf("partition %d led by %d: %v, %v; want %d led by %d: %v", p.ID, p.Leader, p.Log, p.Err, n, seen.Brokers[0].NodeID, want[n])
			}
		}
		wantSettings(t, got.Settings, "cleanup.policy=compact,delete (topic)", "retention.bytes=-1 (topic)", "retention.ms=-1 (topic)")
	})
}

func wantSettings(t *testing.T, got []inspect.Setting, want ...string) {
	t.Helper()
	words := []string{}
	for _, s := range got {
		words = append(words, fmt.Sprintf("%s=%s (%s)", s.Name, s.Value, s.Source))
	}
	if !slices.Equal(words, want) {
		t.Errorf("settings %q, want %q", words, want)
	}
}

func TestSettingsSayWhereTheyComeFrom(t *testing.T) {
	onEach(t, func(t *testing.T, c cluster) {
		topic, _ := c.create(t, 1, map[string]string{"cleanup.policy": "compact"})
		store := c.store(t)
		got, err := store.DataTopic(context.Background(), topic)
		if err != nil {
			t.Fatal(err)
		}
		wantSettings(t, got.Settings, "cleanup.policy=compact (topic)", "retention.bytes=-1 (default)", "retention.ms=604800000 (default)")
		if c.fake != nil {
			return // the fake cluster's topics don't take over what is set on its brokers; a real one's do
		}

		set := func(op kadm.IncrementalOp) {
			t.Helper()
			value := "123456789"
			out, err := c.admin(t).AlterBrokerConfigs(context.Background(), []kadm.AlterConfig{{Op: op, Name: "log.retention.ms", Value: &value}})
			if err == nil {
				err = out[0].Err
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		set(kadm.SetConfig)
		t.Cleanup(func() { set(kadm.DeleteConfig) })
		deadline := time.Now().Add(5 * time.Second)
		// A broker learns of it a moment later, and for a moment gives the old value the new source.
		for got.Settings[2].Value != "123456789" && time.Now().Before(deadline) {
			if got, err = store.DataTopic(context.Background(), topic); err != nil {
				t.Fatal(err)
			}
		}
		wantSettings(t, got.Settings, "cleanup.policy=compact (topic)", "retention.bytes=-1 (default)", "retention.ms=123456789 (broker)")
	})
}

func TestAMissingDataTopicIsAnAnswer(t *testing.T) {
	onEach(t, func(t *testing.T, c cluster) {
		store := c.store(t)
		for range 2 { // asking for it must not create it
			got, err := store.DataTopic(context.Background(), "never-made")
			if err != nil {
				t.Fatal(err)
			}
			if got.Exists || got.TopicID != "" || len(got.Partitions) != 0 || got.ClusterID == "" {
				t.Errorf("got %+v", got)
			}
		}
	})
}

func TestReadingNeverCreatesATopic(t *testing.T) {
	c := newFake(t, kfake.AllowAutoTopicCreation())
	store := c.store(t)
	for range 2 {
		data, err := store.DataTopic(context.Background(), "never-made")
		if err != nil || data.Exists {
			t.Fatalf("exists %t, %v", data.Exists, err)
		}
		control, err := store.ControlTopic(context.Background(), "never-made")
		if err != nil || control.Exists {
			t.Fatalf("exists %t, %v", control.Exists, err)
		}
	}
	if c.fake.TopicInfo("never-made") != nil {
		t.Error("the topic was created")
	}
}

// A name from outside reaches messages only as text that is safe to print.
func TestNamesThatNoTopicCanHave(t *testing.T) {
	onEach(t, func(t *testing.T, c cluster) {
		store := c.store(t)
		for name, topic := range map[string]string{"no name": "", "an escape sequence": "a\x1b[31mb"} {
			t.Run(name, func(t *testing.T) {
				data, err := store.DataTopic(context.Background(), topic)
				if err == nil && data.Exists || err != nil && fault.KindOf(err) != fault.Config {
					t.Errorf("exists %t, %v", data.Exists, err)
				}
				if err != nil && strings.ContainsRune(err.Error(), 0x1b) {
					t.Errorf("the message controls the terminal: %q", err)
				}
				if topic == "" && err == nil {
					t.Error("an empty name is no question")
				}
			})
		}
	})
}

// A topic that changes in the middle of being read is described as neither what
// it was nor what it became.
func TestTopicsThatChangeWhileBeingRead(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(c cluster, topic string) error
		says   string
	}{
		"recreated": {func(c cluster, topic string) error {
			return errors.Join(c.fake.DeleteTopic(topic), c.fake.CreateTopic(topic, 2, safe))
		}, "was recreated while being read"},
		"deleted": {func(c cluster, topic string) error {
			return c.fake.DeleteTopic(topic)
		}, "was deleted while being read"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := newFake(t)
			topic, _ := c.create(t, 2, safe)
			store := c.store(t)
			var changed error
			done := false
			c.on(kmsg.ListOffsets, func(kmsg.Request) (kmsg.Response, error, bool) {
				if !done {
					done = true
					c.fake.SleepControl(func() { changed = tt.change(c, topic) })
				}
				return nil, nil, false
			})
			got, err := store.DataTopic(context.Background(), topic)
			if changed != nil {
				t.Fatal(changed)
			}
			if fault.KindOf(err) != fault.Drift || !strings.Contains(fmt.Sprint(err), tt.says) {
				t.Errorf("error %v, want drift that says %q", err, tt.says)
			}
			if got.Exists || got.Partitions != nil || got.TopicID != "" {
				t.Errorf("something is said of the topic: %+v", got)
			}
		})
	}

	t.Run("given partitions", func(t *testing.T) {
		c := newFake(t)
		topic, _ := c.create(t, 2, safe)
		store, admin := c.store(t), c.admin(t)
		done := false
		var changed error
		c.on(kmsg.ListOffsets, func(kmsg.Request) (kmsg.Response, error, bool) {
			if !done {
				done = true
				c.fake.SleepControl(func() {
					out, err := admin.CreatePartitions(context.Background(), 1, topic)
					changed = errors.Join(err, out.Error())
				})
			}
			return nil, nil, false
		})
		_, err := store.DataTopic(context.Background(), topic)
		if changed != nil {
			t.Fatal(changed)
		}
		if fault.KindOf(err) != fault.Drift || !strings.Contains(fmt.Sprint(err), "had 2 partitions and now has 3") {
			t.Errorf("error %v, want drift with both numbers", err)
		}
	})
}

func TestOnePartitionThatCanNotBeReadHidesNoOther(t *testing.T) {
	t.Parallel()
	c := newFake(t)
	topic, _ := c.create(t, 3, safe)
	fill(t, c, topic, 0, 2)
	fill(t, c, topic, 2, 5)
	store := c.store(t)
	asked := 0
	c.on(kmsg.ListOffsets, func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		req := kreq.(*kmsg.ListOffsetsRequest)
		asked++
		resp := req.ResponseKind().(*kmsg.ListOffsetsResponse)
		st := kmsg.NewListOffsetsResponseTopic()
		st.Topic = topic
		for _, p := range req.Topics[0].Partitions {
			sp := kmsg.NewListOffsetsResponseTopicPartition()
			sp.Partition = p.Partition
			if p.Timestamp == -1 {
				sp.Offset = map[int32]int64{0: 2, 2: 5}[p.Partition]
			} else {
				sp.Offset = 0
			}
			if p.Partition == 1 {
				sp.Offset, sp.ErrorCode = -1, kerr.OffsetNotAvailable.Code
			}
			st.Partitions = append(st.Partitions, sp)
		}
		resp.Topics = append(resp.Topics, st)
		return resp, nil, true
	})
	got, err := store.DataTopic(context.Background(), topic)
	if err != nil || len(got.Partitions) != 3 {
		t.Fatalf("%d partitions, %v", len(got.Partitions), err)
	}
	if p := got.Partitions[1]; fault.KindOf(p.Err) != fault.Unreachable || !strings.Contains(p.Err.Error(), "partition 1") {
		t.Errorf("partition 1: %v, want an unreachable fault that names it", p.Err)
	}
	for _, want := range []inspect.Partition{{ID: 0, Log: inspect.LogRange{End: 2}}, {ID: 2, Log: inspect.LogRange{End: 5}}} {
		if p := got.Partitions[want.ID]; p.Err != nil || p.Log != want.Log {
			t.Errorf("partition %d: %v, %v; want %v", p.ID, p.Log, p.Err, want.Log)
		}
	}
	if asked < 4 {
		t.Errorf("asked %d times: a leader that can't answer yet must be asked again", asked)
	}
	if ranges := got.Ranges(); len(ranges) != 2 {
		t.Errorf("%d ranges, want those of the two partitions that could be read", len(ranges))
	}
}

func TestAPartitionWithoutALeaderIsNotWaitedFor(t *testing.T) {
	c := newFake(t)
	topic, id := c.create(t, 2, safe)
	fill(t, c, topic, 0, 2)
	store := c.store(t)
	node := c.fake.LeaderFor(topic, 0)
	c.on(kmsg.Metadata, func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		req := kreq.(*kmsg.MetadataRequest)
		if len(req.Topics) != 1 {
			return nil, nil, false
		}
		resp := req.ResponseKind().(*kmsg.MetadataResponse)
		host := c.Brokers()[0]
		b := kmsg.NewMetadataResponseBroker()
		b.NodeID, b.Host = node, host[:strings.LastIndexByte(host, ':')]
		if _, err := fmt.Sscan(host[strings.LastIndexByte(host, ':')+1:], &b.Port); err != nil {
			return nil, err, true
		}
		resp.Brokers = append(resp.Brokers, b)
		st := kmsg.NewMetadataResponseTopic()
		st.Topic, st.TopicID = kmsg.StringPtr(topic), id
		for p, leader := range []int32{node, -1} {
			sp := kmsg.NewMetadataResponseTopicPartition()
			sp.Partition, sp.Leader = int32(p), leader
			if leader < 0 {
				sp.ErrorCode = kerr.LeaderNotAvailable.Code
			}
			st.Partitions = append(st.Partitions, sp)
		}
		resp.Topics = append(resp.Topics, st)
		return resp, nil, true
	})
	began := time.Now()
	got, err := store.DataTopic(context.Background(), topic) // in which a request may take a minute
	if err != nil || len(got.Partitions) != 2 {
		t.Fatalf("%d partitions, %v", len(got.Partitions), err)
	}
	if p := got.Partitions[0]; p.Err != nil || p.Log.End != 2 {
		t.Errorf("partition 0: %v, %v", p.Log, p.Err)
	}
	if p := got.Partitions[1]; p.Leader != -1 || fault.KindOf(p.Err) != fault.Unreachable || !strings.Contains(p.Err.Error(), "no leader") {
		t.Errorf("partition 1 led by %d: %v", p.Leader, p.Err)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestSettingsThatCanNotBeReadLeaveTheRest(t *testing.T) {
	c := newFake(t)
	topic, _ := c.create(t, 2, safe)
	fill(t, c, topic, 1, 3)
	store := c.store(t)
	c.on(kmsg.DescribeConfigs, func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		resp := kreq.ResponseKind().(*kmsg.DescribeConfigsResponse)
		r := kmsg.NewDescribeConfigsResponseResource()
		r.ResourceName, r.ResourceType, r.ErrorCode = topic, kmsg.ConfigResourceTypeTopic, kerr.TopicAuthorizationFailed.Code
		resp.Resources = append(resp.Resources, r)
		return resp, nil, true
	})
	got, err := store.DataTopic(context.Background(), topic)
	if fault.KindOf(err) != fault.Denied || !strings.Contains(fmt.Sprint(err), "DescribeConfigs") {
		t.Errorf("error %v, want a denied fault that names DescribeConfigs", err)
	}
	if !got.Exists || len(got.Settings) != 0 || len(got.Partitions) != 2 || got.Partitions[1].Log.End != 3 {
		t.Errorf("the topic is not described beside the error: %+v", got)
	}
	control, err := store.ControlTopic(context.Background(), topic)
	if fault.KindOf(err) != fault.Denied || control.Records != nil || !control.Exists {
		t.Errorf("control topic: %+v, %v; want a denied fault and no records", control, err)
	}
}

func TestClustersThatCanNotBeReached(t *testing.T) {
	t.Parallel()
	t.Run("no broker listens any more", func(t *testing.T) {
		t.Parallel()
		c := newFake(t)
		topic, _ := c.create(t, 1, safe)
		store := c.store(t, func(k *kafkaconn.Config) { k.RequestTimeout = 3 * time.Second })
		c.fake.Close()
		port.Keep(t, c.Brokers()...)
		began := time.Now()
		for name, read := range reads(store) {
			if err := read(context.Background(), topic); fault.KindOf(err) != fault.Unreachable {
				t.Errorf("%s: %v, want unreachable", name, err)
			}
		}
		if took := time.Since(began); took > 40*time.Second {
			t.Errorf("it took %s", took)
		}
	})
	t.Run("the broker does not answer", func(t *testing.T) {
		t.Parallel()
		c := newFake(t)
		topic, _ := c.create(t, 1, safe)
		store := c.store(t, func(k *kafkaconn.Config) { k.RequestTimeout = 3 * time.Second })
		c.on(kmsg.Metadata, func(kmsg.Request) (kmsg.Response, error, bool) { return nil, nil, true })
		for name, read := range reads(store) {
			if err := read(context.Background(), topic); fault.KindOf(err) != fault.Unreachable {
				t.Errorf("%s: %v, want unreachable", name, err)
			}
		}
	})
	t.Run("the operator says stop", func(t *testing.T) {
		c := newFake(t)
		topic, _ := c.create(t, 1, safe)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		for name, read := range reads(c.store(t)) {
			if err := read(ctx, topic); fault.KindOf(err) != fault.Cancelled {
				t.Errorf("%s: %v, want cancelled", name, err)
			}
		}
	})
}

func reads(store inspect.LogStore) map[string]func(context.Context, string) error {
	return map[string]func(context.Context, string) error{
		"data": func(ctx context.Context, topic string) error {
			got, err := store.DataTopic(ctx, topic)
			if got.Exists {
				return errors.New("something is said of the topic")
			}
			return err
		},
		"control": func(ctx context.Context, topic string) error {
			got, err := store.ControlTopic(ctx, topic)
			if got.Records != nil {
				return errors.New("records are returned")
			}
			return err
		},
	}
}

func TestCluster(t *testing.T) {
	onEach(t, func(t *testing.T, c cluster) {
		got, err := c.store(t).Cluster(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		want, err := c.admin(t).BrokerMetadata(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if got.ID == "" || got.ID != want.Cluster || got.Brokers != 1 {
			t.Errorf("got %+v, want %s and 1 broker", got, want.Cluster)
		}
	})
}
