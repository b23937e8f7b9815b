package kafka_test

import (
	"context"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/kafka"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkaproxy"
)

// deletes is what no apply does: it deletes without a step before it.
func (g *ground) deletes(to map[int32]int64) {
	g.Helper()
	g.began = append(g.began, g.now())
	config := kafkaconn.Config{Brokers: g.proxy.Brokers(), DialTimeout: patientLimit, RequestTimeout: patientLimit}
	cluster, err := kafka.Dial(config, clock.System{})(g.Context())
	g.must(err)
	defer cluster.Close()
	data, err := cluster.DataTopic(g.Context(), g.plan.Topic)
	g.must(err)
	var targets []kafka.Target
	for _, part := range data.Partitions {
		if at, asked := to[part.ID]; asked {
			target, err := kafka.NewTarget(part.ID, part.Leader, at)
			g.must(err)
			targets = append(targets, target)
		}
	}
	for _, done := range cluster.Trim(g.Context(), g.plan.Topic, targets) {
		g.must(done.Err)
	}
}

// A table with no violations says something only if the invariants see one.
func TestTheInvariantsSeeWhatBreaksThem(t *testing.T) {
	for name, tt := range map[string]struct {
		breaks func(*ground) actions.Outcome
		want   []string
	}{
		"a record past the target is deleted": {func(g *ground) actions.Outcome {
			e := g.apply(patientLimit)
			g.must(g.cluster.Trim(g.Context(), g.plan.Topic, map[int32]int64{0: 11}))
			return e.verdict
		}, []string{"invariant 1: the log of partition 0 starts at 11, and nothing allowed more than 10"}},
		"records are deleted and nothing is committed": {func(g *ground) actions.Outcome {
			g.deletes(map[int32]int64{0: 10})
			return actions.NotStarted
		}, []string{"invariant 1: the log of partition 0 starts at 10", "no committed record was ever acknowledged", "COMMITTED was not read back before"}},
		"COMMITTED is there and was not read back": {func(g *ground) actions.Outcome {
			g.makeControl(asRecorded(g.plan, inspect.StatusCommitted))
			g.deletes(map[int32]int64{0: 10, 1: 15})
			return actions.Committed
		}, []string{"invariant 2: ", "COMMITTED was not read back before"}},
		"another topic stands under the name": {func(g *ground) actions.Outcome {
			e := g.apply(patientLimit)
			g.must(g.remake(g.Context()))
			g.deletes(map[int32]int64{1: 15})
			return e.verdict
		}, []string{"invariant 1: the log of partition 1 starts at 15, and nothing allowed more than 0", "invariant 4: "}},
		"the topic was made anew before applied is said": {func(g *ground) actions.Outcome {
			g.makeControl(asRecorded(g.plan, inspect.StatusCommitted), asRecorded(g.plan, inspect.StatusApplied))
			g.must(g.remake(g.Context()))
			g.deletes(nil)
			return actions.Applied
		}, []string{"invariant 4: applied is said of a topic that was made anew before it was read again"}},
		"APPLIED is recorded and the log begins below": {func(g *ground) actions.Outcome {
			g.makeControl(asRecorded(g.plan, inspect.StatusCommitted), asRecorded(g.plan, inspect.StatusApplied))
			return actions.Committed
		}, []string{"invariant 4: committed is said and APPLIED recorded, and the log of partition 0 starts at 0, below 10"}},
		"another offset is deleted to": {func(g *ground) actions.Outcome {
			g.makeControl(asRecorded(g.plan, inspect.StatusCommitted))
			g.deletes(map[int32]int64{0: 9})
			return actions.Committed
		}, []string{"invariant 5: ", "up to 9; the plan says 10"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGround(t, faultWorld{}, func(*ground) {})
			found := strings.Join(g.judge(tt.breaks(g)).violations, "\n")
			for _, want := range tt.want {
				if !strings.Contains(found, want) {
					t.Errorf("%q is not among what was found:\n%s", want, found)
				}
			}
		})
	}
}

// The race that has a name is told from the same deletion after a look.
func TestTheNamedRaceIsToldFromADeletionAfterALook(t *testing.T) {
	g := newGround(t, faultWorld{}, func(*ground) {})
	deletion := place{key: kmsg.DeleteRecords, topic: "data", nth: 1}
	g.proxy.Inject(t, g.rule(deletion, kafkaproxy.BeforeForward, 1, kafkaproxy.Call(func(ctx context.Context, _ kafkaproxy.Request) error {
		return g.remake(ctx)
	})))
	e := g.apply(patientLimit)
	if j := g.judge(e.verdict); !j.namedRace || len(j.violations) > 0 || e.verdict == actions.Applied || e.err == nil {
		t.Errorf("%s, %+v", e, j)
	}
	if text := e.err.Error(); !strings.Contains(text, "what was deleted since may be records of the new topic") {
		t.Error(text)
	}
}
