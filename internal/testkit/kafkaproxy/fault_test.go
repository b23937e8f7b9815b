package kafkaproxy_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/internal/testkit/kafkaproxy"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// Each row is one trim from 0 to 3 of five records: what the client is told,
// what the broker did, and how far the request came.
func TestFaults(t *testing.T) {
	lost := func(err error) bool { return errors.Is(err, io.EOF) }
	silent := func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }
	fine := func(err error) bool { return err == nil }
	refused := func(err error) bool { return code(err, kerr.NotLeaderForPartition) }
	for _, tt := range []struct {
		name              string
		when              kafkaproxy.When
		do                kafkaproxy.Action
		told              func(error) bool
		start             int64
		forward, answered bool
		silence           bool
	}{
		{"the connection is cut before the broker has the request", kafkaproxy.BeforeForward, kafkaproxy.Cut(), lost, 0, false, false, false},
		{"the connection is cut before the client has the answer", kafkaproxy.AfterForward, kafkaproxy.Cut(), lost, 3, true, false, false},
		{"the connection is cut after the answer", kafkaproxy.AfterAnswer, kafkaproxy.Cut(), fine, 3, true, true, false},
		{"the request is swallowed", kafkaproxy.BeforeForward, kafkaproxy.Drop(), silent, 0, false, false, true},
		{"the answer is swallowed", kafkaproxy.AfterForward, kafkaproxy.Drop(), silent, 3, true, false, true},
		{"an error without the request", kafkaproxy.BeforeForward, kafkaproxy.Error(kerr.NotLeaderForPartition), refused, 0, false, true, false},
		{"an error though it was done", kafkaproxy.AfterForward, kafkaproxy.Error(kerr.NotLeaderForPartition), refused, 3, true, true, false},
		{"the answer is changed", kafkaproxy.AfterForward, kafkaproxy.Edit(func(_ kafkaproxy.Request, resp kmsg.Response) {
			resp.(*kmsg.DeleteRecordsResponse).Topics[0].Partitions[0].ErrorCode = kerr.NotLeaderForPartition.Code
		}), refused, 3, true, true, false},
		{"nothing but a moment of rest", kafkaproxy.BeforeForward, kafkaproxy.Delay(30 * time.Millisecond), fine, 3, true, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t)
			topic := s.topicWithFive()
			f := s.inject(kafkaproxy.Rule{Key: kmsg.DeleteRecords, When: tt.when, Do: tt.do})
			limit := time.Minute
			if tt.silence {
				limit = 500 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			began := time.Now()
			err := s.trim(ctx, topic, 3)
			if !tt.told(err) {
				t.Errorf("the client was told: %v", err)
			}
			if tt.name == "nothing but a moment of rest" && time.Since(began) < 30*time.Millisecond {
				t.Error("it did not rest")
			}
			s.wait(f)
			s.wantLog(topic, tt.start, 5)
			r := s.only(kmsg.DeleteRecords)
			if (r.Forwarded > 0) != tt.forward || (r.Served > 0) != tt.forward || (r.Answered > 0) != tt.answered {
				t.Errorf("forwarded at %d, served at %d, answered at %d", r.Forwarded, r.Served, r.Answered)
			}
			if tt.forward && (r.Parts[0].Answer == nil || r.Parts[0].Answer.Err != nil || r.Parts[0].Answer.Offset != 3) {
				t.Errorf("the broker's own answer is kept as %+v", r.Parts[0].Answer)
			}
			if f.Hits() != 1 {
				t.Errorf("it struck %d times", f.Hits())
			}
			// The rule is used up: the next one passes, on another connection if need be.
			if err := retry(func() error { return s.trim(t.Context(), topic, 4) }); err != nil {
				t.Errorf("the next trim: %v", err)
			}
			s.wantLog(topic, 4, 5)
		})
	}
}

// retry tries again for a while: a client may not have seen yet that its
// connection was closed.
func retry(try func() error) (err error) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if err = try(); err == nil {
			return nil
		}
	}
	return err
}

func TestARequestThatIsHeldReachesTheBrokerLate(t *testing.T) {
	s := newStage(t)
	topic := s.topicWithFive()
	f := s.inject(kafkaproxy.Rule{Key: kmsg.DeleteRecords, Do: kafkaproxy.Hold()})
	ctx, cancel := context.WithCancel(t.Context())
	told := make(chan error, 1)
	go func() { told <- s.trim(ctx, topic, 3) }()
	if r := s.wait(f); r.Forwarded != 0 || !r.About(topic) || r.Parts[0].Offset != 3 {
		t.Errorf("held: %+v", r)
	}
	cancel()
	if err := <-told; !errors.Is(err, context.Canceled) {
		t.Errorf("the client was told: %v", err)
	}
	s.client.Close()
	s.wantLog(topic, 0, 5)
	f.Release()
	s.await(func(r kafkaproxy.Request) bool { return r.Key == kmsg.DeleteRecords && r.Served > 0 })
	s.wantLog(topic, 3, 5)
}

func TestAnAnswerThatIsHeldLetsOthersPass(t *testing.T) {
	s := newStage(t)
	topic := s.topicWithFive()
	f := s.inject(kafkaproxy.Rule{Key: kmsg.DeleteRecords, When: kafkaproxy.AfterForward, Do: kafkaproxy.Hold()})
	told := make(chan error, 1)
	go func() { told <- s.trim(t.Context(), topic, 3) }()
	s.wait(f)
	s.wantLog(topic, 3, 5)
	if err := connect(t, s.proxy).Ping(t.Context()); err != nil {
		t.Errorf("another client meanwhile: %v", err)
	}
	select {
	case err := <-told:
		t.Fatalf("the client was told: %v", err)
	default:
	}
	f.Release()
	if err := <-told; err != nil {
		t.Error(err)
	}
}

// What a colleague does between two requests of ours.
func TestAHookRunsWhileTheRequestWaits(t *testing.T) {
	s := newStage(t)
	topic := s.topicWithFive()
	before, err := s.cluster.TopicID(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	s.inject(kafkaproxy.Rule{Key: kmsg.DeleteRecords, Do: kafkaproxy.Call(func(ctx context.Context, r kafkaproxy.Request) error {
		return s.cluster.RecreateTopic(ctx, r.Parts[0].Topic, 1, nil)
	})})
	if err := s.trim(t.Context(), topic, 3); !code(err, kerr.OffsetOutOfRange) {
		t.Errorf("a trim to 3 of an empty topic: %v, want OFFSET_OUT_OF_RANGE", err)
	}
	after, err := s.cluster.TopicID(t.Context(), topic)
	if err != nil || after == before {
		t.Errorf("made anew: %v, id %s was %s", err, after, before)
	}
}

func TestAHookThatFailsIsReported(t *testing.T) {
	cluster := kafkatest.StartFake(t)
	proxy, err := kafkaproxy.New(cluster.Brokers()...)
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	broken := errors.New("the broker could not be stopped")
	proxy.Inject(t, kafkaproxy.Rule{Key: kmsg.Metadata, Times: kafkaproxy.Always, Do: kafkaproxy.Call(func(context.Context, kafkaproxy.Request) error { return broken })})
	if _, err := kadmOf(connect(t, proxy)).BrokerMetadata(t.Context()); err == nil {
		t.Error("the request went on")
	}
	if err := proxy.Err(); !errors.Is(err, broken) {
		t.Errorf("reported: %v", err)
	}
}

func TestAHookMayEndTheClientBeforeTheBrokerHasTheRequest(t *testing.T) {
	for name, tt := range map[string]struct {
		do    func(kafkaproxy.Action) kafkaproxy.Action
		start int64
	}{
		"the request was on its way": {func(kill kafkaproxy.Action) kafkaproxy.Action { return kill }, 3},
		"the request was not sent":   {func(kill kafkaproxy.Action) kafkaproxy.Action { return kafkaproxy.Then(kill, kafkaproxy.Cut()) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			topic := s.topicWithFive()
			kill := kafkaproxy.Call(func(context.Context, kafkaproxy.Request) error { s.client.Close(); return nil })
			s.inject(kafkaproxy.Rule{Key: kmsg.DeleteRecords, Do: tt.do(kill)})
			if err := s.trim(t.Context(), topic, 3); err == nil {
				t.Error("a client that was closed was told that all is well")
			}
			if tt.start > 0 {
				s.await(func(r kafkaproxy.Request) bool { return r.Key == kmsg.DeleteRecords && r.Served > 0 })
			}
			s.wantLog(topic, tt.start, 5)
		})
	}
}

// The write whose answer is lost: the client does not know, and it is done
// once, whatever the client does next.
func TestALostAnswerOfAProduceWasWrittenOnce(t *testing.T) {
	t.Run("a producer that does not repeat fails, and the record is there", func(t *testing.T) {
		s := newStage(t)
		topic := s.cluster.Topic(t, 1, nil)
		s.inject(kafkaproxy.Rule{Key: kmsg.Produce, When: kafkaproxy.AfterForward, Do: kafkaproxy.Cut()})
		err := s.produce(topic, kgo.StringRecord("COMMITTED"), kgo.DisableIdempotentWrite(), kgo.RecordRetries(0))
		if err == nil {
			t.Error("the producer was told that all is well")
		}
		s.wantLog(topic, 0, 1)
		r := s.only(kmsg.Produce)
		if a := r.Parts[0].Answer; a == nil || a.Err != nil || a.Offset != 0 || r.Answered != 0 {
			t.Errorf("the broker answered %+v, the client was told at %d", a, r.Answered)
		}
	})
	t.Run("an idempotent producer repeats, and the record is there once", func(t *testing.T) {
		s := newStage(t)
		topic := s.cluster.Topic(t, 1, nil)
		f := s.inject(kafkaproxy.Rule{Key: kmsg.Produce, Times: 2, When: kafkaproxy.AfterForward, Do: kafkaproxy.Cut()})
		if err := s.produce(topic, kgo.StringRecord("COMMITTED"), kgo.RequestRetries(5), kgo.RetryBackoffFn(soon)); err != nil {
			t.Fatal(err)
		}
		s.wantLog(topic, 0, 1)
		requests := s.proxy.Requests(kmsg.Produce)
		if len(requests) != 3 || f.Hits() != 2 {
			t.Fatalf("%d requests, %d lost answers; want 3 and 2", len(requests), f.Hits())
		}
		for _, r := range requests {
			records, err := r.Parts[0].Records()
			if a := r.Parts[0].Answer; err != nil || a == nil || a.Err != nil || a.Offset != 0 {
				t.Errorf("%s: answered %+v, error %v; want offset 0 each time", r, a, err)
			}
			if len(records) != 1 || string(records[0].Value) != "COMMITTED" || r.Parts[0].Topic != topic {
				t.Errorf("%s writes %v to %s", r, records, r.Parts[0].Topic)
			}
		}
	})
	t.Run("a request that was never sent is not written", func(t *testing.T) {
		s := newStage(t)
		topic := s.cluster.Topic(t, 1, nil)
		s.inject(kafkaproxy.Rule{Key: kmsg.Produce, Do: kafkaproxy.Cut()})
		if err := s.produce(topic, kgo.StringRecord("COMMITTED"), kgo.DisableIdempotentWrite(), kgo.RecordRetries(0)); err == nil {
			t.Error("the producer was told that all is well")
		}
		s.wantLog(topic, 0, 0)
	})
	t.Run("without acknowledgement there is no answer to lose", func(t *testing.T) {
		s := newStage(t)
		topic := s.cluster.Topic(t, 1, nil)
		f := s.inject(kafkaproxy.Rule{Key: kmsg.Produce, When: kafkaproxy.AfterForward, Do: kafkaproxy.Delay(time.Millisecond)})
		if err := s.produce(topic, kgo.StringRecord("x"), kgo.DisableIdempotentWrite(), kgo.RequiredAcks(kgo.NoAck())); err != nil {
			t.Fatal(err)
		}
		s.wait(f)
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			if ends, err := s.cluster.Admin().ListEndOffsets(t.Context(), topic); err == nil {
				if o, _ := ends.Lookup(topic, 0); o.Offset == 1 {
					break
				}
			}
		}
		s.wantLog(topic, 0, 1)
		if r := s.only(kmsg.Produce); r.Forwarded == 0 || r.Answered != 0 {
			t.Errorf("forwarded at %d, answered at %d", r.Forwarded, r.Answered)
		}
	})
}

func soon(int) time.Duration { return 10 * time.Millisecond }

func TestRulesCount(t *testing.T) {
	s := newStage(t)
	topic, other := s.topicWithFive(), s.topicWithFive()
	about := func(topic string) func(kafkaproxy.Request) bool {
		return func(r kafkaproxy.Request) bool { return r.About(topic) }
	}
	second := s.inject(kafkaproxy.Rule{Key: kmsg.DeleteRecords, Match: about(topic), Nth: 2, Times: 2, Do: kafkaproxy.Error(kerr.NotController)})
	always := s.inject(kafkaproxy.Rule{Key: kmsg.DeleteRecords, Match: about(other), Times: kafkaproxy.Always, Do: kafkaproxy.Error(kerr.PolicyViolation)})
	for i, want := range []error{nil, kerr.NotController, kerr.NotController, nil} {
		if err := s.trim(t.Context(), other, 1); !code(err, kerr.PolicyViolation) {
			t.Errorf("trim %d of the other topic: %v", i+1, err)
		}
		if err := s.trim(t.Context(), topic, 1); !errors.Is(err, want) {
			t.Errorf("trim %d: %v, want %v", i+1, err, want)
		}
	}
	always.Remove()
	if err := s.trim(t.Context(), other, 1); err != nil {
		t.Errorf("after the rule was removed: %v", err)
	}
	if second.Hits() != 2 || always.Hits() != 4 {
		t.Errorf("%d and %d hits, want 2 and 4", second.Hits(), always.Hits())
	}
}

// Many clients at once: a rule for the tenth request strikes one, and the
// trace holds every request once.
func TestManyClientsAtOnce(t *testing.T) {
	const clients, each = 8, 20
	s := newStage(t)
	topic := s.topicWithFive()
	tenth := s.inject(kafkaproxy.Rule{Key: kmsg.DeleteRecords, Nth: 10, Do: kafkaproxy.Error(kerr.PolicyViolation)})
	var refused sync.Map
	var wg sync.WaitGroup
	for i := range clients {
		client := connect(t, s.proxy)
		wg.Go(func() {
			mine := &stage{T: t, admin: kadmOf(client)}
			for j := range each {
				if err := mine.trim(t.Context(), topic, 1); err != nil {
					refused.Store(fmt.Sprint(i, j), err)
				}
			}
		})
	}
	wg.Wait()
	count := 0
	refused.Range(func(_, err any) bool {
		count++
		if !code(err.(error), kerr.PolicyViolation) {
			t.Errorf("refused with %v", err)
		}
		return true
	})
	if count != 1 || tenth.Hits() != 1 {
		t.Errorf("%d of the clients' requests were refused, %d hits; want 1", count, tenth.Hits())
	}
	requests := s.proxy.Requests(kmsg.DeleteRecords)
	if len(requests) != clients*each {
		t.Errorf("%d requests in the trace, want %d", len(requests), clients*each)
	}
	last := 0
	for i, r := range requests {
		if r.Received <= last || (r.Served != 0) != (i != 9) || r.Answered == 0 {
			t.Errorf("%s: received at %d after %d, served at %d, answered at %d", r, r.Received, last, r.Served, r.Answered)
		}
		last = r.Received
	}
}

func TestClosingLetsGoWhatIsHeld(t *testing.T) {
	cluster := kafkatest.StartFake(t)
	proxy, err := kafkaproxy.New(cluster.Brokers()...)
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{T: t, cluster: cluster, proxy: proxy, client: connect(t, proxy)}
	s.admin = kadmOf(s.client)
	topic := s.topicWithFive()
	f := s.inject(kafkaproxy.Rule{Key: kmsg.DeleteRecords, Do: kafkaproxy.Hold()})
	told := make(chan error, 1)
	go func() { told <- s.trim(t.Context(), topic, 3) }()
	s.wait(f)
	proxy.Close()
	if err := <-told; err == nil {
		t.Error("a trim that was held is said to have been done")
	}
	s.wantLog(topic, 0, 5)
	if _, err := f.Wait(t.Context()); err == nil {
		t.Error("a fault of a closed proxy is waited for")
	}
	if _, err := proxy.Await(t.Context(), func(kafkaproxy.Request) bool { return false }); err == nil {
		t.Error("a request to a closed proxy is waited for")
	}
	if err := proxy.Err(); err != nil {
		t.Error(err)
	}
}

func TestRulesThatCanNotBeFollowed(t *testing.T) {
	s := newStage(t)
	for name, rule := range map[string]kafkaproxy.Rule{
		"no action":                         {},
		"no such moment":                    {When: 3, Do: kafkaproxy.Cut()},
		"a negative number":                 {Nth: -1, Do: kafkaproxy.Cut()},
		"an error after the answer":         {When: kafkaproxy.AfterAnswer, Do: kafkaproxy.Error(kerr.NotController)},
		"an error for everything":           {Key: kafkaproxy.AnyKey, Do: kafkaproxy.Error(kerr.NotController)},
		"an error that can't be made up":    {Key: kmsg.Fetch, Do: kafkaproxy.Error(kerr.NotController)},
		"no error":                          {Do: kafkaproxy.Error(nil)},
		"an edit of what is not there":      {Do: kafkaproxy.Edit(func(kafkaproxy.Request, kmsg.Response) {})},
		"one of several that can't be done": {Do: kafkaproxy.Then(kafkaproxy.Cut(), kafkaproxy.Error(nil))},
		"a hole among several":              {Do: kafkaproxy.Then(nil)},
	} {
		if _, err := s.proxy.Add(rule); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := kafkaproxy.New(); err == nil {
		t.Error("a proxy before nothing")
	}
}
