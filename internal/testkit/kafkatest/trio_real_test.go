//go:build real

package kafkatest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/internal/testkit/kafkaproxy"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// A broker is killed: another leads, writes and trims go on, and the one that
// comes back gets what it missed, the new log start too.
func TestTheTrioOutlivesABroker(t *testing.T) {
	trio := kafkatest.RealTrio(t)
	ctx := t.Context()
	topic := trio.Topic(t, 1, nil)
	trio.Put(t, topic, 0, numbered(5)...)
	if err := trio.WaitISR(ctx); err != nil {
		t.Fatal(err)
	}
	old, err := trio.WaitLeader(ctx, topic, 0)
	if err != nil {
		t.Fatal(err)
	}

	began := time.Now()
	if err := trio.Kill(old); err != nil {
		t.Fatal(err)
	}
	leader, err := trio.WaitLeader(ctx, topic, 0, old)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("broker %d was killed, broker %d leads after %s", old, leader, time.Since(began).Round(time.Millisecond))
	if first := trio.Put(t, topic, 0, numbered(2)...); first != 5 {
		t.Errorf("the first record after the change of leader is at %d, want 5", first)
	}
	if resp := trim(t, trio.Cluster, topic, 0, 3); resp.Err != nil {
		t.Errorf("a trim with two brokers: %v", resp.Err)
	}
	wantLog(t, trio.Cluster, topic, 0, 3, 7)

	began = time.Now()
	if err := trio.Restart(ctx, old); err != nil {
		t.Fatal(err)
	}
	t.Logf("broker %d answers again after %s", old, time.Since(began).Round(time.Millisecond))
	if err := trio.WaitISR(ctx); err != nil {
		t.Fatal(err)
	}
	t.Logf("every replica is in sync after %s", time.Since(began).Round(time.Millisecond))

	// The one that came back has it all: it alone is asked, as the leader.
	if err := trio.Stop(leader); err != nil {
		t.Fatal(err)
	}
	if _, err := trio.WaitLeader(ctx, topic, 0, leader); err != nil {
		t.Fatal(err)
	}
	wantLog(t, trio.Cluster, topic, 0, 3, 7)
}

// With one broker of three left nothing is written, and nothing is believed
// to be: what a follower has not got is not acknowledged.
func TestTheTrioRefusesWritesThatTwoDoNotHave(t *testing.T) {
	trio := kafkatest.RealTrio(t)
	topic := trio.Topic(t, 1, nil)
	trio.Put(t, topic, 0, numbered(3)...)
	leader, err := trio.WaitLeader(t.Context(), topic, 0)
	if err != nil {
		t.Fatal(err)
	}
	proxy := kafkaproxy.Start(t, trio.Brokers()[leader-1])
	// A producer that asks once: one that repeats would wait until they are back.
	once, err := kgo.NewClient(kgo.SeedBrokers(proxy.Brokers()...), kgo.DisableClientMetrics(), kgo.DisableIdempotentWrite(),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.RecordRetries(0), kgo.ProduceRequestTimeout(2*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	defer once.Close()
	record := &kgo.Record{Topic: topic, Value: []byte("v")}
	if err := once.ProduceSync(t.Context(), record).FirstErr(); err != nil {
		t.Fatal(err)
	}
	for _, node := range trio.Nodes() {
		if node != leader {
			if err := trio.Pause(node); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := once.ProduceSync(t.Context(), record).FirstErr(); err == nil {
		t.Error("a write that one broker has was acknowledged")
	}
	requests := proxy.Requests(kmsg.Produce)
	if last := requests[len(requests)-1].Parts[0].Answer; len(requests) != 2 || last == nil ||
		!errors.Is(last.Err, kerr.RequestTimedOut) && !errors.Is(last.Err, kerr.NotEnoughReplicas) && !errors.Is(last.Err, kerr.NotEnoughReplicasAfterAppend) {
		t.Errorf("of %d writes the last was answered %+v", len(requests), last)
	}
	if err := trio.Heal(t.Context()); err != nil {
		t.Fatal(err)
	}
	resps, err := trio.Admin().DeleteRecords(t.Context(), kadm.Offsets{topic: {0: {Topic: topic, At: 2}}})
	if err := errors.Join(err, resps.Error()); err != nil && !errors.Is(err, kerr.NotLeaderForPartition) {
		t.Errorf("a trim after they are back: %v", err)
	}
	if err := trio.Restart(t.Context(), leader); err == nil {
		t.Error("a broker that runs was started again")
	}
}
