package kafka_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkaproxy"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// Whatever kind of request is cut off for good in the middle of an apply: nothing is deleted before the
// boundary was committed and read back (every scene asks that at its end), what
// is said is what is there, and the same plan comes to the proper end.
func TestNoFaultMakesAnApplyUnsafeOrUntrue(t *testing.T) {
	t.Parallel()
	keys := []kmsg.Key{kmsg.Metadata, kmsg.DescribeConfigs, kmsg.ListOffsets, kmsg.Fetch, kmsg.CreateTopics, kmsg.InitProducerID, kmsg.Produce, kmsg.DeleteRecords}
	rules := make(chan kafkaproxy.Rule)
	var wg sync.WaitGroup
	for range 8 { // most of the time they wait
		wg.Go(func() {
			for rule := range rules {
				name := fmt.Sprintf("%s at %d from %d on", kmsg.NameForKey(int16(rule.Key)), rule.When, rule.Nth)
				t.Run(name, func(t *testing.T) { breakAt(t, rule) })
			}
		})
	}
	for _, key := range keys {
		for _, when := range []kafkaproxy.When{kafkaproxy.BeforeForward, kafkaproxy.AfterForward} {
			for _, nth := range []int{1, 3} {
				rules <- kafkaproxy.Rule{Key: key, Nth: nth, Times: kafkaproxy.Always, When: when, Do: kafkaproxy.Cut()}
			}
		}
	}
	close(rules)
	wg.Wait()
}

func breakAt(t *testing.T, rule kafkaproxy.Rule) {
	t.Helper()
	s := newSceneOn(t, kafkatest.StartFake(t).Cluster)
	broken := s.proxy.Inject(t, rule)
	a := s.apply(nil)
	a.evidence = s.cluster.Config() // what is broken is the apply, and not the report before it
	result, err := a.run(t)
	broken.Remove()

	starts, _ := logs(t, s.cluster, s.plan.Topic)
	control := s.seen()
	moved := starts[0] > 0 || starts[1] > 0
	done := starts[0] >= 10 && starts[1] >= 15
	committed, applied := slices.Contains(control, "P COMMITTED"), slices.Contains(control, "P APPLIED")
	switch {
	case moved && !committed:
		t.Errorf("the log starts at %v, and on record is %q", starts, control)
	case applied && !done:
		t.Errorf("APPLIED is recorded, and the log starts at %v", starts)
	case (err == nil) != (result.Verdict == actions.Applied):
		t.Errorf("verdict %s, error %v", result.Verdict, err)
	}
	switch result.Verdict {
	case actions.Applied:
		if !applied || !done {
			t.Errorf("applied is said, on record is %q, the log starts at %v", control, starts)
		}
	case actions.Committed, actions.Partial:
		if !committed || applied {
			t.Errorf("%s is said, and on record is %q", result.Verdict, control)
		}
	case actions.NotStarted:
		if committed || moved {
			t.Errorf("not-started is said, on record is %q, the log starts at %v", control, starts)
		}
	case actions.Undecided:
	default:
		t.Errorf("the verdict is %s: %s", result.Verdict, result.Message)
	}
	s.wantApplied()
}
