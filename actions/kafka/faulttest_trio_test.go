//go:build real

package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkaproxy"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// trioFault is something that happens to the broker that is asked to write.
type trioFault struct {
	name string
	when kafkaproxy.When
	lost bool // the request, or its answer, is lost with it
	do   func(context.Context, *kafkatest.Trio, *ground, kafkaproxy.Request) error
	fits func(place) bool // nil: every request
}

func trioFaults() []trioFault {
	stop := func(_ context.Context, t *kafkatest.Trio, _ *ground, r kafkaproxy.Request) error {
		return t.Stop(r.Node)
	}
	kill := func(_ context.Context, t *kafkatest.Trio, _ *ground, r kafkaproxy.Request) error {
		return t.Kill(r.Node)
	}
	pause := func(_ context.Context, t *kafkatest.Trio, _ *ground, r kafkaproxy.Request) error {
		return t.Pause(r.Node)
	}
	restart := func(ctx context.Context, t *kafkatest.Trio, _ *ground, r kafkaproxy.Request) error {
		return errors.Join(t.Stop(r.Node), t.Restart(ctx, r.Node))
	}
	const before, after = kafkaproxy.BeforeForward, kafkaproxy.AfterForward
	return []trioFault{
		{name: "another leads when the request arrives", when: before, do: moveLeaders, fits: func(p place) bool { return p.key != kmsg.CreateTopics }},
		{name: "another leads when it was done", when: after, do: moveLeaders, fits: func(p place) bool { return p.key != kmsg.CreateTopics }},
		{name: "the broker is stopped before", when: before, lost: true, do: stop},
		{name: "the broker is stopped and started again", when: before, lost: true, do: restart},
		{name: "the broker is killed before", when: before, lost: true, do: kill},
		{name: "the broker is killed when it was done, and nobody is told", when: after, lost: true, do: kill},
		{name: "the broker stands still before", when: before, do: pause},
	}
}

// moveLeaders gives every partition that the request is about to another of its
// replicas, and waits until that one leads.
func moveLeaders(ctx context.Context, trio *kafkatest.Trio, _ *ground, r kafkaproxy.Request) error {
	for _, part := range r.Parts {
		topics, err := trio.Admin().ListTopics(ctx, part.Topic)
		if err != nil {
			return err
		}
		p := topics[part.Topic].Partitions[part.Partition]
		order := slices.Clone(p.Replicas)
		slices.SortStableFunc(order, func(a, b int32) int { // the leader goes last
			return map[bool]int{true: 1}[a == p.Leader] - map[bool]int{true: 1}[b == p.Leader]
		})
		var assign kadm.AlterPartitionAssignmentsReq
		assign.Assign(part.Topic, part.Partition, order)
		assigned, err := trio.Admin().AlterPartitionAssignments(ctx, assign)
		if err := errors.Join(err, assigned.Error()); err != nil {
			return fmt.Errorf("assign %v: %w", order, err)
		}
		set := kadm.TopicsSet{}
		set.Add(part.Topic, part.Partition)
		if _, err := trio.Admin().ElectLeaders(ctx, kadm.ElectPreferredReplica, set); err != nil {
			return fmt.Errorf("elect: %w", err)
		}
		if _, err := trio.WaitLeader(ctx, part.Topic, part.Partition, p.Leader); err != nil {
			return err
		}
	}
	return nil
}

// Each write of an apply meets each thing that may happen to the broker that is
// asked, on three real brokers. They are whole again before the next apply, and
// the same plan finishes.
func TestWhateverHappensToOneOfThreeBrokersKeepsTheInvariants(t *testing.T) {
	trio := kafkatest.RealTrio(t)
	w := faultWorld{real: trio.Cluster, replication: 3}
	places := []place{
		{kmsg.CreateTopics, "control", 1}, {kmsg.Produce, "control", 1}, {kmsg.DeleteRecords, "data", 1}, {kmsg.Produce, "control", 2},
	}
	var results table
	for _, fault := range trioFaults() {
		for i, p := range places {
			if fault.fits != nil && !fault.fits(p) {
				continue
			}
			name := [...]string{"making the control topic", "COMMITTED", "the deletion", "APPLIED"}[i] + ", " + fault.name
			t.Run(name, func(t *testing.T) {
				results.add(fault.play(t, trio, w, p))
			})
		}
	}
	fmt.Print(results.String())
}

func (f trioFault) play(t *testing.T, trio *kafkatest.Trio, w faultWorld, p place) result {
	if err := trio.Heal(t.Context()); err != nil {
		t.Fatal(err)
	}
	g := newGround(t, w, func(*ground) {})
	r := result{group: f.name}
	judge := func(e end) {
		t.Helper()
		for _, v := range g.judge(e.verdict).violations {
			r.violations++
			t.Errorf("apply %d ended as %s: %s", r.applies, e, v)
		}
	}
	do := kafkaproxy.Call(func(ctx context.Context, r kafkaproxy.Request) error {
		defer close(g.happened)
		return f.do(ctx, trio, g, r)
	})
	if f.lost {
		do = kafkaproxy.Then(do, kafkaproxy.Cut())
	}
	struck := g.proxy.Inject(t, g.rule(p, f.when, 1, do))
	began := time.Now()
	e := g.apply(patientLimit)
	struck.Remove()
	r.applies, r.struck = 1, struck.Hits() > 0
	t.Logf("after %s: %s", time.Since(began).Round(time.Millisecond), e)
	if !r.struck {
		t.Fatalf("it never came to %s", p)
	}
	<-g.happened // a broker takes longer to stop than an apply to go on without it
	g.must(trio.Heal(t.Context()))
	judge(e)
	const tries = 4
	for e.verdict != actions.Applied && r.applies < tries {
		e = g.apply(patientLimit)
		r.applies++
		judge(e)
	}
	switch {
	case e.verdict == actions.Applied && r.applies == 1:
		r.end = appliedAtOnce
	case e.verdict == actions.Applied:
		r.end = appliedAgain
	default:
		r.end = stuck
		t.Errorf("not applied after %d applies: %s", r.applies, e)
	}
	return r
}
