package kafkaproxy_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/internal/testkit/kafkaproxy"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

func kadmOf(client *kgo.Client) *kadm.Client { return kadm.NewClient(client) }

// Of three brokers the proxy was told one. What the cluster says passes
// unchanged, except for where the brokers are.
func TestAClientNeverFindsAWayAround(t *testing.T) {
	s := newStage(t, kfake.NumBrokers(3))
	topic := s.cluster.Topic(t, 6, nil)
	direct, err := s.cluster.Admin().Metadata(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	through, err := s.admin.Metadata(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(direct.Brokers.NodeIDs(), through.Brokers.NodeIDs()) || len(through.Brokers) != 3 {
		t.Errorf("brokers %v through the proxy, %v directly", through.Brokers.NodeIDs(), direct.Brokers.NodeIDs())
	}
	own := wantNoneOf(t, s.cluster.Brokers(), through.Brokers)
	if !slices.Contains(own, s.proxy.Brokers()[0]) {
		t.Errorf("the named broker is at %s and not among %q", s.proxy.Brokers()[0], own)
	}
	d, th := direct.Topics[topic], through.Topics[topic]
	if d.ID != th.ID || th.ID == (kadm.TopicID{}) || direct.Cluster != through.Cluster || direct.Controller != through.Controller {
		t.Errorf("topic %s, cluster %q, controller %d through the proxy; %s, %q, %d directly",
			th.ID, through.Cluster, through.Controller, d.ID, direct.Cluster, direct.Controller)
	}
	for partition, want := range d.Partitions {
		if got := th.Partitions[partition]; got.Leader != want.Leader || !slices.Equal(got.ISR, want.ISR) {
			t.Errorf("partition %d: leader %d, in sync %v; directly %d, %v", partition, got.Leader, got.ISR, want.Leader, want.ISR)
		}
	}

	described, err := s.client.Request(t.Context(), kmsg.NewPtrDescribeClusterRequest())
	if err != nil {
		t.Fatal(err)
	}
	var listed kadm.BrokerDetails
	for _, b := range described.(*kmsg.DescribeClusterResponse).Brokers {
		listed = append(listed, kadm.BrokerDetail{NodeID: b.NodeID, Host: b.Host, Port: b.Port})
	}
	wantNoneOf(t, s.cluster.Brokers(), listed)

	coordinator := kmsg.NewPtrFindCoordinatorRequest()
	coordinator.CoordinatorKeys, coordinator.CoordinatorType = []string{"a", "b", "c"}, 1
	found, err := s.client.Request(t.Context(), coordinator)
	if err != nil {
		t.Fatal(err)
	}
	listed = nil
	for _, c := range found.(*kmsg.FindCoordinatorResponse).Coordinators {
		listed = append(listed, kadm.BrokerDetail{NodeID: c.NodeID, Host: c.Host, Port: c.Port})
	}
	wantNoneOf(t, s.cluster.Brokers(), listed)
}

// wantNoneOf checks that none of the listed brokers is one of the cluster's own
// addresses, and returns theirs.
func wantNoneOf(t *testing.T, cluster []string, listed kadm.BrokerDetails) (addresses []string) {
	t.Helper()
	if len(listed) == 0 {
		t.Error("no brokers are listed")
	}
	for _, b := range listed {
		address := net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port)))
		if slices.Contains(cluster, address) {
			t.Errorf("broker %d is named at its own address %s", b.NodeID, address)
		}
		addresses = append(addresses, address)
	}
	return addresses
}

func TestEveryBrokerIsReachedAndNamedInTheTrace(t *testing.T) {
	s := newStage(t, kfake.NumBrokers(3))
	topic := s.cluster.Topic(t, 6, nil)
	for partition := range int32(6) {
		if err := s.cluster.Kfake().MoveTopicPartition(topic, partition, partition%3); err != nil {
			t.Fatal(err)
		}
	}
	for partition := range int32(6) {
		if err := s.client.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Partition: partition, Value: []byte("v")}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.admin.DeleteRecords(t.Context(), offsets(topic, 1, 0, 1, 2, 3, 4, 5)); err != nil {
		t.Fatal(err)
	}
	nodes := map[int32]bool{}
	for _, r := range s.proxy.Requests(kmsg.Produce, kmsg.DeleteRecords) {
		for _, part := range r.Parts {
			if leader := s.cluster.Kfake().LeaderFor(topic, part.Partition); part.Topic != topic || leader != r.Node {
				t.Errorf("%s of topic %q partition %d went to broker %d, the leader is %d", r, part.Topic, part.Partition, r.Node, leader)
			}
		}
		if r.ClientID != "under-test" || !slices.Contains(s.cluster.Brokers(), r.Broker) {
			t.Errorf("%s by client %q", r, r.ClientID)
		}
		nodes[r.Node] = true
	}
	if len(nodes) != 3 {
		t.Errorf("brokers %v were asked, want all three", nodes)
	}
}

func offsets(topic string, at int64, partitions ...int32) kadm.Offsets {
	out := kadm.Offsets{}
	for _, p := range partitions {
		out.Add(kadm.Offset{Topic: topic, Partition: p, At: at})
	}
	return out
}

// A broker that no longer leads says where the new leader is, also in the
// answers to Produce and Fetch.
func TestANewLeaderIsNamedAtTheProxy(t *testing.T) {
	s := newStage(t, kfake.NumBrokers(3))
	topic := s.cluster.Topic(t, 1, nil)
	old := s.cluster.Kfake().LeaderFor(topic, 0)
	if err := s.client.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Value: []byte("first")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var hints kadm.BrokerDetails
	s.inject(kafkaproxy.Rule{Key: kmsg.Produce, Times: kafkaproxy.Always, When: kafkaproxy.AfterForward,
		Do: kafkaproxy.Edit(func(_ kafkaproxy.Request, resp kmsg.Response) {
			mu.Lock()
			defer mu.Unlock()
			for _, b := range resp.(*kmsg.ProduceResponse).Brokers {
				hints = append(hints, kadm.BrokerDetail{NodeID: b.NodeID, Host: b.Host, Port: b.Port})
			}
		})})
	if err := s.cluster.Kfake().MoveTopicPartition(topic, 0, (old+1)%3); err != nil {
		t.Fatal(err)
	}
	if err := s.client.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Value: []byte("second")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	s.wantLog(topic, 0, 2)
	mu.Lock()
	wantNoneOf(t, s.cluster.Brokers(), hints)
	mu.Unlock()
	requests := s.proxy.Requests(kmsg.Produce)
	if last := requests[len(requests)-1]; len(requests) < 3 || last.Node == old {
		t.Errorf("%d requests, the last to broker %d; want the second refused by %d and repeated elsewhere", len(requests), last.Node, old)
	}
}

// A broker that is down refuses connections through the proxy as well, and is
// back at the same address.
func TestABrokerThatIsDownIsDownThroughTheProxy(t *testing.T) {
	s := newStage(t, kfake.NumBrokers(3))
	meta, err := s.admin.Metadata(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	down := meta.Brokers[2]
	address := net.JoinHostPort(down.Host, strconv.Itoa(int(down.Port)))
	direct, err := s.cluster.Admin().Metadata(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	port := int(direct.Brokers[2].Port)
	if err := ping(t, s.client, down.NodeID); err != nil {
		t.Fatal(err)
	}

	if err := s.cluster.Kfake().RemoveNode(down.NodeID); err != nil {
		t.Fatal(err)
	}
	until(t, "a refused connection", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return errors.Is(err, syscall.ECONNREFUSED)
	})
	if err := connect(t, s.proxy).Ping(t.Context()); err != nil {
		t.Errorf("the other brokers: %v", err)
	}

	if _, _, err := s.cluster.Kfake().AddNode(down.NodeID, port); err != nil {
		t.Fatal(err)
	}
	until(t, "an answer", func() bool { return ping(t, connect(t, s.proxy), down.NodeID) == nil })
	again, err := s.admin.Metadata(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if b := again.Brokers[2]; b.Port != down.Port {
		t.Errorf("broker %d is at port %d, and was at %d", b.NodeID, b.Port, down.Port)
	}
}

func ping(t *testing.T, client *kgo.Client, node int32) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := kadmOf(client).BrokerMetadata(ctx); err != nil {
		return err
	}
	_, err := client.Broker(int(node)).Request(ctx, kmsg.NewPtrApiVersionsRequest())
	return err
}

func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if done() {
			return
		}
	}
	t.Fatalf("%s was waited for in vain", what)
}

// Three trims in one request, of which one is refused; and the two rules that
// every cleanup must keep.
func TestTrimsAreSeenWithTheirOffsets(t *testing.T) {
	s := newStage(t)
	topic := s.cluster.Topic(t, 3, nil)
	for p := range int32(3) {
		s.cluster.Put(t, topic, p, kafkatest.KV("a", "1"), kafkatest.KV("b", "2"), kafkatest.KV("c", "3"))
	}
	wanted := kadm.Offsets{}
	for p, at := range []int64{2, 9, 1} {
		wanted.Add(kadm.Offset{Topic: topic, Partition: int32(p), At: at})
	}
	if _, err := s.admin.DeleteRecords(t.Context(), wanted); err != nil {
		t.Fatal(err)
	}
	trims := kafkaproxy.Trims(s.proxy.Requests())
	if len(trims) != 3 {
		t.Fatalf("%d trims, want 3", len(trims))
	}
	slices.SortFunc(trims, func(a, b kafkaproxy.Trim) int { return int(a.Partition - b.Partition) })
	for i, want := range []struct {
		offset int64
		err    error
	}{{2, nil}, {9, kerr.OffsetOutOfRange}, {1, nil}} {
		got := trims[i]
		if got.Topic != topic || got.Offset != want.offset || got.Answer == nil || !errors.Is(got.Answer.Err, want.err) {
			t.Errorf("partition %d: %+v answered %+v, want %+v", i, got.Part, got.Answer, want)
			continue
		}
		if want.err == nil && got.Answer.Offset != want.offset {
			t.Errorf("partition %d starts at %d after a trim to %d", i, got.Answer.Offset, want.offset)
		}
	}
}

func TestTheTwoRulesOfATrimAreChecked(t *testing.T) {
	isCommitted := func(_ string, r kmsg.Record) bool { return string(r.Value) == "COMMITTED" }
	for _, tt := range []struct {
		name string
		run  func(s *stage, control, topic string) error
		want []string // of each violation, a part
	}{
		{"written, then trimmed", func(s *stage, control, topic string) error {
			return errors.Join(s.produce(control, kgo.StringRecord("COMMITTED")), s.trim(s.Context(), topic, 2))
		}, nil},
		{"written, the answer lost, then trimmed", func(s *stage, control, topic string) error {
			s.inject(kafkaproxy.Rule{Key: kmsg.Produce, When: kafkaproxy.AfterForward, Do: kafkaproxy.Cut()})
			if s.produce(control, kgo.StringRecord("COMMITTED"), kgo.DisableIdempotentWrite(), kgo.RecordRetries(0)) == nil {
				return errors.New("the answer was not lost")
			}
			return s.trim(s.Context(), topic, 2)
		}, nil},
		{"trimmed, then written", func(s *stage, control, topic string) error {
			return errors.Join(s.trim(s.Context(), topic, 2), s.produce(control, kgo.StringRecord("COMMITTED")))
		}, []string{"trimmed before the committed record was acknowledged"}},
		{"trimmed though only something else was written", func(s *stage, control, topic string) error {
			return errors.Join(s.produce(control, kgo.StringRecord("PREPARED")), s.trim(s.Context(), topic, 2))
		}, []string{"no committed record was ever acknowledged"}},
		{"trimmed though the write was refused", func(s *stage, control, topic string) error {
			s.inject(kafkaproxy.Rule{Key: kmsg.Produce, Do: kafkaproxy.Error(kerr.InvalidRecord)})
			if s.produce(control, kgo.StringRecord("COMMITTED")) == nil {
				return errors.New("the write was not refused")
			}
			return s.trim(s.Context(), topic, 2)
		}, []string{"no committed record was ever acknowledged"}},
		{"everything is trimmed", func(s *stage, control, topic string) error {
			return errors.Join(s.produce(control, kgo.StringRecord("COMMITTED")), s.trim(s.Context(), topic, -1))
		}, []string{"is trimmed to -1"}},
		{"nothing is trimmed", func(*stage, string, string) error { return nil }, nil},
		{"what was written can't be looked into", func(s *stage, control, topic string) error {
			return s.produce(control, kgo.StringRecord(strings.Repeat("x", 2<<20)), kgo.ProducerBatchCompression(kgo.NoCompression()),
				kgo.ProducerBatchMaxBytes(4<<20))
		}, []string{"was not kept"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t)
			control := s.cluster.Topic(t, 1, map[string]string{"max.message.bytes": "8000000"})
			if err := tt.run(s, control, s.topicWithFive()); err != nil {
				t.Fatal(err)
			}
			var got []string
			if err := kafkaproxy.CheckTrims(s.proxy.Requests(), isCommitted); err != nil {
				got = strings.Split(err.Error(), "\n")
			}
			if len(got) != len(tt.want) {
				t.Fatalf("violations %q, want %q", got, tt.want)
			}
			for i, want := range tt.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("violation %q, want %q", got[i], want)
				}
			}
		})
	}
}

// Bytes that are not Kafka's end the connection, and the test.
func TestWhatIsNotKafkaIsReported(t *testing.T) {
	for name, bytes := range map[string]string{
		"another protocol":      "GET / HTTP/1.1\r\n\r\n",
		"an endless frame":      "\x7f\xff\xff\xff\x00\x00",
		"a negative length":     "\xff\xff\xff\xff",
		"a body that is broken": "\x00\x00\x00\x0c\x00\x00\x00\x03\x00\x00\x00\x01\xff\xff\x00\x05",
		"a version to come":     "\x00\x00\x00\x0a\x00\x15\x7f\x00\x00\x00\x00\x01\xff\xff",
	} {
		t.Run(name, func(t *testing.T) {
			cluster := kafkatest.StartFake(t)
			proxy, err := kafkaproxy.New(cluster.Brokers()...)
			if err != nil {
				t.Fatal(err)
			}
			defer proxy.Close()
			conn, err := net.Dial("tcp", proxy.Brokers()[0])
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := conn.Write([]byte(bytes)); err != nil {
				t.Fatal(err)
			}
			if err := conn.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
				t.Fatal(err)
			}
			if n, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, syscall.ETIMEDOUT) || n != 0 {
				t.Errorf("%d bytes came back, error %v; want a closed connection", n, err)
			}
			until(t, "a report", func() bool { return proxy.Err() != nil })
		})
	}
}
