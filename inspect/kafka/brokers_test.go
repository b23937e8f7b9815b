package kafka_test

import (
	"context"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
)

func TestPartitionsAreLedByDifferentBrokers(t *testing.T) {
	t.Parallel()
	c := newFake(t, kfake.NumBrokers(3))
	topic, _ := c.create(t, 12, safe)
	leaders := map[int32]bool{}
	for p := range int32(12) {
		fill(t, c, topic, p, int(p))
	}
	store := c.store(t)
	got, err := store.DataTopic(context.Background(), topic)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range got.Partitions {
		leaders[p.Leader] = true
		if p.Err != nil || p.Leader != c.fake.LeaderFor(topic, p.ID) || p.Log != (inspect.LogRange{Start: 0, End: int64(p.ID)}) {
			t.Errorf("partition %d led by %d: %v, %v; want leader %d and end %d", p.ID, p.Leader, p.Log, p.Err, c.fake.LeaderFor(topic, p.ID), p.ID)
		}
	}
	if len(got.Partitions) != 12 || len(leaders) < 2 {
		t.Errorf("%d partitions on %d brokers", len(got.Partitions), len(leaders))
	}
	if cluster, err := store.Cluster(context.Background()); err != nil || cluster.Brokers != 3 {
		t.Errorf("%+v, %v; want 3 brokers", cluster, err)
	}
}

func TestTheLeaderMovesWhileAControlTopicIsRead(t *testing.T) {
	c := newFake(t, kfake.NumBrokers(3))
	k := c.control(t, map[string]string{"cleanup.policy": "compact"})
	k.put("a", "of a")
	k.put("b", "of b")
	store := c.store(t)
	fetches := 0
	c.on(kmsg.Fetch, func(kmsg.Request) (kmsg.Response, error, bool) {
		if fetches++; fetches == 1 {
			from := c.fake.CurrentNode()
			if err := c.fake.MoveTopicPartition(k.topic, 0, (from+1)%3); err != nil {
				t.Error(err)
			}
		}
		return nil, nil, false
	})
	got, err := store.ControlTopic(context.Background(), k.topic)
	if err != nil {
		t.Fatal(err)
	}
	wantRecords(t, got.Records, []inspect.ControlRecord{at(0, "a", "of a"), at(1, "b", "of b")})
	if fetches < 2 {
		t.Errorf("%d fetches: the leader did not move", fetches)
	}
}

func TestOlderBrokers(t *testing.T) {
	t.Run("3.0 fetches by name", func(t *testing.T) {
		c := newFake(t, kfake.MaxVersions(kversion.V3_0_0()))
		k := c.control(t, map[string]string{"cleanup.policy": "compact"})
		k.put("a", "of a")
		got, err := c.store(t).ControlTopic(context.Background(), k.topic)
		if err != nil {
			t.Fatal(err)
		}
		wantRecords(t, got.Records, []inspect.ControlRecord{at(0, "a", "of a")})
	})
	t.Run("2.7 has no topic ids", func(t *testing.T) {
		c := newFake(t, kfake.MaxVersions(kversion.V2_7_0()))
		topic, _ := c.create(t, 1, safe)
		for name, read := range reads(c.store(t)) {
			if err := read(context.Background(), topic); fault.KindOf(err) != fault.Unsupported || !strings.Contains(err.Error(), "no id") {
				t.Errorf("%s: %v, want an unsupported fault about topic ids", name, err)
			}
		}
	})
}
