//go:build real

package kafkaproxy_test

import (
	"context"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/internal/testkit/kafkaproxy"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// A real broker keeps a record once whose producer heard nothing twice, and
// trims though nobody was told.
func TestLostAnswersOfARealBroker(t *testing.T) {
	cluster := kafkatest.Real(t)
	proxy := kafkaproxy.Start(t, cluster.Brokers()...)
	client := connect(t, proxy, kgo.RequestRetries(5), kgo.RetryBackoffFn(soon))
	topic := cluster.Topic(t, 1, nil)
	cluster.Put(t, topic, 0, kafkatest.KV("k", "0"), kafkatest.KV("k", "1"))

	lost := proxy.Inject(t, kafkaproxy.Rule{Key: kmsg.Produce, Times: 2, When: kafkaproxy.AfterForward, Do: kafkaproxy.Cut()})
	if err := client.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Value: []byte("COMMITTED")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	if lost.Hits() != 2 {
		t.Errorf("%d answers were lost", lost.Hits())
	}
	for _, r := range proxy.Requests(kmsg.Produce) {
		if a := r.Parts[0].Answer; r.Parts[0].Topic != topic || a == nil || a.Err != nil || a.Offset != 2 {
			t.Errorf("%s to topic %q was answered %+v, want offset 2 each time", r, r.Parts[0].Topic, a)
		}
	}
	wantRange(t, cluster, topic, 0, 3)

	proxy.Inject(t, kafkaproxy.Rule{Key: kmsg.DeleteRecords, When: kafkaproxy.AfterForward, Do: kafkaproxy.Cut()})
	resps, err := kadmOf(connect(t, proxy)).DeleteRecords(t.Context(), offsets(topic, 2, 0))
	if err == nil && resps.Error() == nil {
		t.Error("the client was told that the trim is done")
	}
	if trims := kafkaproxy.Trims(proxy.Requests()); len(trims) != 1 || trims[0].Offset != 2 || trims[0].Request.Answered != 0 ||
		trims[0].Answer == nil || trims[0].Answer.Err != nil || trims[0].Answer.Offset != 2 {
		t.Errorf("trims: %+v", trims)
	}
	wantRange(t, cluster, topic, 2, 3)
	if err := kafkaproxy.CheckTrims(proxy.Requests(), func(_ string, r kmsg.Record) bool { return string(r.Value) == "COMMITTED" }); err != nil {
		t.Error(err)
	}
}

// The leader dies after it wrote the record and before it said so. The next
// leader has the record, and takes the repeated one for what it is.
func TestTheLeaderDiesBeforeItsAnswerArrives(t *testing.T) {
	trio := kafkatest.RealTrio(t)
	proxy := kafkaproxy.Start(t, trio.Brokers()...)
	client := connect(t, proxy, kgo.RequestRetries(100), kgo.RetryBackoffFn(soon))
	topic := trio.Topic(t, 1, nil)
	if err := trio.WaitISR(t.Context()); err != nil {
		t.Fatal(err)
	}
	proxy.Inject(t, kafkaproxy.Rule{Key: kmsg.Produce, When: kafkaproxy.AfterForward, Do: kafkaproxy.Then(
		kafkaproxy.Call(func(_ context.Context, r kafkaproxy.Request) error { return trio.Kill(r.Node) }), kafkaproxy.Cut())})
	if err := client.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Value: []byte("COMMITTED")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	wantRange(t, trio.Cluster, topic, 0, 1)
	requests := proxy.Requests(kmsg.Produce)
	first, last := requests[0], requests[len(requests)-1]
	if first.Answered != 0 || last.Answered == 0 || first.Node == last.Node {
		t.Errorf("first to broker %d, answered at %d; last to broker %d, answered at %d", first.Node, first.Answered, last.Node, last.Answered)
	}
	if a := last.Parts[0].Answer; a == nil || a.Err != nil || a.Offset != 0 {
		t.Errorf("the last was answered %+v, want offset 0", a)
	}
}

func wantRange(t *testing.T, cluster *kafkatest.Cluster, topic string, start, end int64) {
	t.Helper()
	first, err := cluster.Admin().ListStartOffsets(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	last, err := cluster.Admin().ListEndOffsets(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	f, _ := first.Lookup(topic, 0)
	l, _ := last.Lookup(topic, 0)
	if f.Err != nil || l.Err != nil || f.Offset != start || l.Offset != end {
		t.Errorf("the log is [%d, %d), errors %v %v; want [%d, %d)", f.Offset, l.Offset, f.Err, l.Err, start, end)
	}
}
