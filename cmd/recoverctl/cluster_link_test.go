package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkaproxy"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// The header's word about the brokers is that of the last question, and not of the
// connection that was made hours ago.
func TestASilentClusterIsNotCalledOk(t *testing.T) {
	now := clock.NewFake(time.Date(2026, 3, 1, 14, 3, 0, 0, time.UTC))
	proxy := kafkaproxy.Start(t, kafkatest.StartFake(t).Brokers()...)
	profile := config.Profile{Kafka: config.Kafka{Brokers: proxy.Brokers()}}
	profile.Kafka.Timeouts.Dial, profile.Kafka.Timeouts.Request = time.Minute, 4*time.Second // but for one question all are answered
	c := newCluster(profile, nil, now)
	defer c.close()

	ask := func() { _, _ = c.DataTopic(t.Context(), "action-state") } // what it says is not the matter here
	want := func(state string, asked time.Time) {
		t.Helper()
		if got := c.connection().State; got != state {
			t.Errorf("kafka %s, want %s", got, state)
		}
		if got := c.link.now().asked; !got.Equal(asked) {
			t.Errorf("asked at %s, want %s", got, asked)
		}
	}

	ask() // there is no such topic, and the broker says so
	want("ok", now.Now())
	now.Advance(time.Hour)
	ask()
	want("ok", now.Now())

	silent := proxy.Inject(t, kafkaproxy.Rule{Key: kafkaproxy.AnyKey, Times: kafkaproxy.Always, When: kafkaproxy.BeforeForward, Do: kafkaproxy.Drop()})
	now.Advance(time.Hour)
	ask()
	want("FAILED", now.Now())

	silent.Remove()
	now.Advance(time.Hour)
	ask()
	want("ok", now.Now())
}

// heldConnecting is a cluster that somebody asks, whose brokers hold their answers
// back until held is released. Stop makes who asks give up, and waits for that.
func heldConnecting(t *testing.T) (c *cluster, held *kafkaproxy.Fault, stop func()) {
	t.Helper()
	proxy := kafkaproxy.Start(t, kafkatest.StartFake(t).Brokers()...)
	held = proxy.Inject(t, kafkaproxy.Rule{Key: kafkaproxy.AnyKey, Times: kafkaproxy.Always, When: kafkaproxy.BeforeForward, Do: kafkaproxy.Hold()})
	c = newCluster(config.Profile{Kafka: config.Kafka{Brokers: proxy.Brokers()}}, nil, clock.System{})
	t.Cleanup(c.close)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = c.DataTopic(ctx, "action-state") // what it says is not the matter here
	}()
	if _, err := held.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c, held, func() {
		cancel()
		<-done
	}
}

// Somebody who stops waiting while the brokers are connected to has learned nothing of
// them.
func TestAConnectionThatIsGivenUpIsNotCalledFailed(t *testing.T) {
	c, held, stop := heldConnecting(t)
	if got := c.connection().State; got != "connecting" {
		t.Errorf("kafka %s while it is connected to", got)
	}
	stop()
	if got := c.connection().State; got != "not asked" {
		t.Errorf("kafka %s, and nobody knows", got)
	}
	held.Release()
}

// Somebody who waits for a connection that another one makes can stop waiting.
func TestWaitingForAConnectionCanBeGivenUp(t *testing.T) {
	c, held, stop := heldConnecting(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.open(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if got := c.connection().State; got != "connecting" {
		t.Errorf("kafka %s: the first one did not wait", got)
	}
	stop()
	held.Release()
}
