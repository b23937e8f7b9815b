package kafka_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/kafka"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/journal"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkaproxy"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

func reasonOf(err error) string {
	var r *actions.Refusal
	if !errors.As(err, &r) {
		return ""
	}
	return r.Problem.Code
}

func TestAnApplyLeavesALineBeforeAndAfterEachWrite(t *testing.T) {
	s := newScene(t)
	state := t.TempDir()
	lines, err := journal.Open(state, clock.System{})
	if err != nil {
		t.Fatal(err)
	}
	a := s.apply(nil)
	a.journal = lines
	result, err := a.run(t)
	if err != nil || result.Verdict != actions.Applied || result.Stage != "" {
		t.Fatalf("%+v, error %v", result, err)
	}
	s.wantControl("P COMMITTED", "P APPLIED")
	s.wantStarts(10, 15)
	if s.trims() != 1 {
		t.Errorf("%d requests delete records, want 1 for the one leader", s.trims())
	}
	entries, damage, err := lines.Read(journal.Filter{Plan: s.plan.PlanID})
	if err != nil || len(damage) > 0 {
		t.Fatalf("%v %v", damage, err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, strings.Join(strings.Fields(string(e.Event)+" "+e.Step+" "+e.Result), " "))
		if e.Event == journal.Intent && e.Step == actions.StepDelete && (e.Offsets[0] != 10 || e.Offsets[1] != 15) {
			t.Errorf("the intent to delete names %v", e.Offsets)
		}
	}
	want := []string{
		"begin", "intent create-control-topic", "outcome create-control-topic done", "intent commit", "outcome commit done",
		"intent delete", "outcome delete done", "intent applied", "outcome applied done", "end applied",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if open := journal.OpenIntents(entries); len(open) != 0 {
		t.Errorf("open intents %+v", open)
	}
}

func TestAnAnswerToCommittedIsLost(t *testing.T) {
	t.Parallel()
	t.Run("once: the same record is sent again, and written once", func(t *testing.T) {
		t.Parallel()
		s := newScene(t).withControl()
		s.proxy.Inject(t, kafkaproxy.Rule{Key: kmsg.Produce, Match: s.isRecord("COMMITTED"), When: kafkaproxy.AfterForward, Do: kafkaproxy.Cut()})
		s.wantApplied()
	})
	t.Run("for good: reading finds it, and the cleanup goes on", func(t *testing.T) {
		t.Parallel()
		s := newScene(t).withControl()
		s.proxy.Inject(t, kafkaproxy.Rule{Key: kmsg.Produce, Match: s.isRecord("COMMITTED"), When: kafkaproxy.AfterForward, Times: kafkaproxy.Always, Do: kafkaproxy.Drop()})
		result := s.wantAppliedWithin(impatience)
		i := slices.IndexFunc(result.Steps, func(r actions.StepResult) bool { return r.Name == actions.StepCommit })
		if step := result.Steps[i]; step.State != actions.StepDone || !strings.Contains(step.Detail, "reading says that it was done") {
			t.Errorf("%+v", step)
		}
	})
	t.Run("it never arrived: reading does not find it up to the end, and nothing is deleted", func(t *testing.T) {
		t.Parallel()
		s := newScene(t).withControl()
		lost := s.proxy.Inject(t, kafkaproxy.Rule{Key: kmsg.Produce, Match: s.isRecord("COMMITTED"), Times: kafkaproxy.Always, Do: kafkaproxy.Cut()})
		result, err := s.apply(nil).run(t)
		s.wantEnd(result, err, actions.NotStarted, fault.Unreachable, actions.StageCommit, "unknown-outcome")
		if s.trims() != 0 || lost.Hits() == 0 {
			t.Errorf("%d deletions, %d lost requests", s.trims(), lost.Hits())
		}
		s.wantControl()
		lost.Remove()
		s.wantApplied()
	})
	t.Run("an open transaction hides it: nobody knows, and nothing is deleted", func(t *testing.T) {
		t.Parallel()
		s := newScene(t).withControl()
		open := func() func() {
			txn := s.begin()
			return func() { s.abort(txn) }
		}
		var end func()
		lost := s.proxy.Inject(t, kafkaproxy.Rule{Key: kmsg.Produce, Match: s.isRecord("COMMITTED"), Do: during(func() { end = open() })})
		drop := s.proxy.Inject(t, kafkaproxy.Rule{Key: kmsg.Produce, Match: s.isRecord("COMMITTED"), When: kafkaproxy.AfterForward, Times: kafkaproxy.Always, Do: kafkaproxy.Drop()})
		result, err := s.apply(nil).run(t)
		s.wantEnd(result, err, actions.Undecided, fault.Unknown, actions.StageCommit, "unknown-outcome")
		if s.trims() != 0 || lost.Hits() != 1 {
			t.Errorf("%d deletions, %d transactions", s.trims(), lost.Hits())
		}
		drop.Remove()
		end()
		s.wantApplied()
	})
}

func TestADeletionIsSentAgainOnlyWhenTheLogWasReadAgain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		when kafkaproxy.When
		do   kafkaproxy.Action
		want int // requests that delete
	}{
		"the leader has moved":                    {kafkaproxy.BeforeForward, kafkaproxy.Error(kerr.NotLeaderForPartition), 2},
		"the new leader does not know the end":    {kafkaproxy.BeforeForward, kafkaproxy.Error(kerr.OffsetOutOfRange), 2},
		"the request was lost":                    {kafkaproxy.BeforeForward, kafkaproxy.Cut(), 2},
		"the answer was lost, and it was done":    {kafkaproxy.AfterForward, kafkaproxy.Cut(), 1},
		"no answer came in time, and it was done": {kafkaproxy.AfterForward, kafkaproxy.Drop(), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.proxy.Inject(t, kafkaproxy.Rule{Key: kmsg.DeleteRecords, When: tt.when, Do: tt.do})
			s.wantAppliedWithin(impatience)
			requests := s.proxy.Requests(kmsg.DeleteRecords)
			if len(requests) != tt.want {
				t.Fatalf("%d requests delete, want %d", len(requests), tt.want)
			}
			for i, again := range requests[1:] {
				reads := slices.ContainsFunc(s.proxy.Requests(kmsg.ListOffsets), func(r kafkaproxy.Request) bool {
					return r.About(s.plan.Topic) && r.Received > requests[i].Received && r.Answered > 0 && r.Answered < again.Received
				})
				if !reads {
					t.Errorf("%s is sent without a look at the log since %s", again, requests[i])
				}
			}
		})
	}
}

func TestALeaderStaysAway(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	away := s.proxy.Inject(t, kafkaproxy.Rule{Key: kmsg.DeleteRecords, Times: kafkaproxy.Always, Do: kafkaproxy.Error(kerr.NotLeaderForPartition)})
	result, err := s.apply(nil).run(t)
	s.wantEnd(result, err, actions.Committed, fault.Unreachable, actions.StageDelete, "broker-not-leader-for-partition")
	s.wantControl("P COMMITTED")
	s.wantStarts(0, 0)
	away.Remove()
	s.wantApplied()
}

func TestOnePartitionIsDoneAndTheOtherNot(t *testing.T) {
	cluster := kafkatest.StartFake(t, kfake.NumBrokers(2))
	s := newSceneOn(t, cluster.Cluster)
	for p := range int32(2) {
		if err := cluster.Kfake().MoveTopicPartition(s.plan.Topic, p, p); err != nil {
			t.Fatal(err)
		}
	}
	denied := s.proxy.Inject(t, kafkaproxy.Rule{
		Key: kmsg.DeleteRecords, Times: kafkaproxy.Always, Do: kafkaproxy.Error(kerr.TopicAuthorizationFailed),
		Match: func(r kafkaproxy.Request) bool {
			return slices.ContainsFunc(r.Parts, func(p kafkaproxy.Part) bool { return p.Partition == 1 })
		},
	})
	result, err := s.apply(nil).run(t)
	s.wantEnd(result, err, actions.Partial, fault.Partial, actions.StageDelete, "broker-topic-authorization-failed")
	if text := err.Error(); !strings.Contains(text, "partition 1 was not deleted up to the target, 1 of 2 are done") {
		t.Errorf("%s", text)
	}
	s.wantStarts(10, 0)
	starts := map[int32]int64{}
	for _, p := range result.Partitions {
		starts[p.Partition] = *p.LogStart
	}
	if starts[0] != 10 || starts[1] != 0 {
		t.Errorf("the result's log starts are %v", starts)
	}
	s.wantControl("P COMMITTED")
	denied.Remove()
	s.wantApplied()
}

// A crash, or a step that failed, at any point of an apply: the same plan
// finishes it, and what is on record is the same as without it.
func TestTheSamePlanGoesOnFromEveryPlace(t *testing.T) {
	for _, tt := range []struct {
		point   string
		verdict actions.Outcome
		kind    fault.Kind
		starts  []int64
	}{
		{"step/control-topic", actions.NotStarted, fault.Problem, []int64{0, 0}},
		{"step/survivors", actions.NotStarted, fault.Problem, []int64{0, 0}},
		{"step/create-control-topic", actions.NotStarted, fault.Problem, []int64{0, 0}},
		{"step/commit", actions.NotStarted, fault.Problem, []int64{0, 0}},
		{"append/COMMITTED/1", actions.NotStarted, fault.Problem, []int64{0, 0}},
		{"step/delete", actions.Committed, fault.Problem, []int64{0, 0}},
		{"data/delete/1", actions.Committed, fault.Problem, []int64{0, 0}},
		{"data/delete/2", actions.Committed, fault.Problem, []int64{0, 0}},
		{"trim/1", actions.Committed, fault.Problem, []int64{0, 0}},
		{"data/delete/3", actions.Committed, fault.Problem, []int64{10, 15}},
		{"step/log-starts", actions.Committed, fault.Problem, []int64{10, 15}},
		{"data/log-starts/1", actions.Committed, fault.Problem, []int64{10, 15}},
		{"append/APPLIED/1", actions.Committed, fault.Problem, []int64{10, 15}},
	} {
		t.Run(tt.point, func(t *testing.T) {
			s := newScene(t)
			result, err := s.apply(tap{tt.point: func() error { return errInjected }}).run(t)
			if !errors.Is(err, errInjected) || fault.KindOf(err) != tt.kind || result.Verdict != tt.verdict {
				t.Errorf("%s, error %v (%s), want %s", result.Verdict, err, fault.KindOf(err), tt.verdict)
			}
			s.wantStarts(tt.starts...)
			s.wantApplied()
		})
	}
}

func TestTheControlTopicIsMade(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]kafkaproxy.Rule{
		"the answer is lost":         {Key: kmsg.CreateTopics, When: kafkaproxy.AfterForward, Do: kafkaproxy.Cut()},
		"no answer ever comes":       {Key: kmsg.CreateTopics, When: kafkaproxy.AfterForward, Times: kafkaproxy.Always, Do: kafkaproxy.Drop()},
		"the controller moves first": {Key: kmsg.CreateTopics, Do: kafkaproxy.Error(kerr.NotController)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.proxy.Inject(t, rule)
			s.wantAppliedWithin(impatience)
		})
	}
	t.Run("it can't be described for a moment", func(t *testing.T) {
		s := newScene(t)
		var made atomic.Bool
		s.proxy.Inject(t, kafkaproxy.Rule{Key: kmsg.CreateTopics, When: kafkaproxy.AfterForward, Do: during(func() { made.Store(true) })})
		hides := s.proxy.Inject(t, kafkaproxy.Rule{
			Key: kmsg.Metadata, When: kafkaproxy.AfterForward, Times: 3,
			Match: func(r kafkaproxy.Request) bool { return r.About(s.control) && made.Load() },
			Do: kafkaproxy.Edit(func(_ kafkaproxy.Request, resp kmsg.Response) {
				topics := resp.(*kmsg.MetadataResponse).Topics
				for i := range topics {
					topics[i].ErrorCode, topics[i].Partitions = kerr.UnknownTopicOrPartition.Code, nil
				}
			}),
		})
		s.wantApplied()
		if hides.Hits() != 3 {
			t.Errorf("it was hidden %d times", hides.Hits())
		}
	})
	t.Run("it was not made, and nothing else was done", func(t *testing.T) {
		t.Parallel()
		s := newScene(t)
		lost := s.proxy.Inject(t, kafkaproxy.Rule{Key: kmsg.CreateTopics, Times: kafkaproxy.Always, Do: kafkaproxy.Cut()})
		result, err := s.apply(nil).run(t)
		s.wantEnd(result, err, actions.NotStarted, fault.Unreachable, actions.StageControlTopic, "unknown-outcome")
		if got := s.seen(); got != nil {
			t.Errorf("%q", got)
		}
		lost.Remove()
		s.wantApplied()
	})
	t.Run("nobody consented", func(t *testing.T) {
		s := newScene(t)
		a := s.apply(nil)
		a.replication = nil
		result, err := a.run(t)
		s.wantEnd(result, err, actions.NotStarted, fault.Denied, actions.StageControlTopic, "control-topic-missing")
		if got := s.seen(); got != nil {
			t.Errorf("%q", got)
		}
	})
}

func TestTwoApplyAtOnce(t *testing.T) {
	t.Run("on one machine: the second finds the lock held", func(t *testing.T) {
		s := newScene(t)
		state := t.TempDir()
		owner := journal.Owner{User: "ops", Host: "bastion", Doing: "cleanup " + s.plan.PlanID[:8]}
		held, err := journal.Acquire(state, s.plan.Topic, owner)
		if err != nil {
			t.Fatal(err)
		}
		second := func() error {
			if _, err := journal.Acquire(state, s.plan.Topic, owner); fault.KindOf(err) != fault.Busy {
				t.Errorf("the lock is not held: %v", err)
			}
			return nil
		}
		if result, err := s.apply(tap{"step/delete": second}).run(t); err != nil {
			t.Errorf("%+v, error %v", result, err)
		}
		if err := held.Release(); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("the same plan from two machines: it is on the topic once, and who is overtaken says so", func(t *testing.T) {
		s := newScene(t).withControl()
		var other actions.ApplyResult
		var otherErr error
		// The second begins when the first has read everything, and waits with its
		// COMMITTED until the first has written its own and read it back.
		firstWrote := make(chan struct{})
		secondReady := make(chan struct{})
		done := make(chan struct{})
		result, err := s.apply(tap{
			"append/COMMITTED/1": func() error {
				go func() {
					defer close(done)
					other, otherErr = s.apply(tap{"append/COMMITTED/1": func() error {
						close(secondReady)
						<-firstWrote
						return nil
					}}).run(t)
				}()
				<-secondReady
				return nil
			},
			"step/delete": func() error {
				close(firstWrote)
				<-done
				return nil
			},
		}).run(t)
		<-done
		if otherErr != nil || other.Verdict != actions.Applied {
			t.Errorf("the second: %+v, error %v", other, otherErr)
		}
		if reasonOf(err) != "concurrent-apply" || result.Verdict != actions.Applied {
			t.Errorf("the first: %+v, error %v", result, err)
		}
		s.wantControl("P COMMITTED", "P APPLIED")
		s.wantStarts(10, 15)
	})
	for name, point := range map[string]string{"before ours is written": "step/commit", "while records are deleted": "step/applied"} {
		t.Run("a record of somebody else appears "+name, func(t *testing.T) {
			s := newScene(t).withControl()
			other := s.planOf(s.plan.Topic, s.plan.TopicID, "file:/ck/job/chk-43", 12, 15)
			result, err := s.apply(tap{point: func() error {
				_, err := s.cluster.Write(t.Context(), s.control, 0, recordOf(other, inspect.StatusCommitted))
				return err
			}}).run(t)
			if reasonOf(err) != "concurrent-apply" || fault.KindOf(err) != fault.Drift || result.Verdict == actions.Applied {
				t.Errorf("%+v, error %v", result, err)
			}
		})
	}
}

func TestTheSecondInterruptEndsAWriteAndNobodyKnows(t *testing.T) {
	t.Parallel()
	s := newScene(t).withControl()
	held := s.proxy.Inject(t, kafkaproxy.Rule{Key: kmsg.Produce, Match: s.isRecord("COMMITTED"), When: kafkaproxy.AfterForward, Do: kafkaproxy.Hold()})
	a := s.apply(nil)
	a.config.RequestTimeout = 2 * time.Minute
	run, end := a.start(t)
	defer end()
	if _, err := held.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := run.Interrupt(); got != actions.StopsAtBoundary {
		t.Errorf("the first: %v", got)
	}
	time.Sleep(2100 * time.Millisecond)
	again := time.Now()
	run.Interrupt()
	result, err := run.Wait()
	if took := time.Since(again); took > a.config.RequestTimeout/2 {
		t.Errorf("it ended after %s", took)
	}
	held.Release()
	s.wantEnd(result, err, actions.Undecided, fault.Unknown, actions.StageCommit, "unknown-outcome")
	if s.trims() != 0 {
		t.Errorf("%d deletions", s.trims())
	}
	s.wantApplied()
}

func TestVerifyFromFreshConnections(t *testing.T) {
	s := newScene(t)
	job := s.apply(nil).job
	connect := kafka.Dial(s.config(), clock.System{})
	want := func(when string, verdict actions.Outcome) {
		t.Helper()
		if v := kafka.Verify(t.Context(), connect, job, s.plan); v.Verdict != verdict {
			t.Errorf("%s: %s (%s), want %s", when, v.Verdict, v.Message, verdict)
		}
		for _, id := range []string{s.plan.PlanID, s.plan.PlanID[:8]} {
			v, of, err := kafka.VerifyID(t.Context(), connect, job, id)
			if err != nil || v.Verdict != verdict {
				t.Errorf("%s, by the id %s: %s (%s), error %v, want %s", when, id, v.Verdict, v.Message, err, verdict)
			}
			if recorded := verdict != actions.NotStarted; recorded != (of.SourceRecoveryPoint == s.plan.SourceRecoveryPoint) {
				t.Errorf("%s, by the id %s: the plan is %+v", when, id, of)
			}
		}
	}
	want("no control topic", actions.NotStarted)
	s.withControl()
	want("an empty one", actions.NotStarted)
	if _, err := s.apply(tap{"trim/1": func() error { return errInjected }}).run(t); err == nil {
		t.Fatal("not stopped")
	}
	want("committed", actions.Committed)
	if err := s.cluster.Trim(t.Context(), s.plan.Topic, map[int32]int64{1: 15}); err != nil {
		t.Fatal(err)
	}
	want("one partition trimmed", actions.Partial)
	s.wantApplied()
	want("applied", actions.Applied)
	s.proxy.Inject(t, kafkaproxy.Rule{Key: kmsg.ListOffsets, Times: kafkaproxy.Always, Do: kafkaproxy.Error(kerr.TopicAuthorizationFailed)})
	if v := kafka.Verify(t.Context(), connect, job, s.plan); v.Verdict != actions.Undecided {
		t.Errorf("unread: %s (%s)", v.Verdict, v.Message)
	}
	for _, id := range []string{"", "3f9c", strings.Repeat("A", 8), strings.Repeat("0", 65)} {
		if _, _, err := kafka.VerifyID(t.Context(), connect, job, id); fault.KindOf(err) != fault.Usage || err == nil {
			t.Errorf("id %q: %v", id, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if v := kafka.Verify(ctx, connect, job, s.plan); v.Verdict != actions.Undecided {
		t.Errorf("no connection: %s", v.Verdict)
	}
}

func TestATargetIsNeverBelowZero(t *testing.T) {
	for _, at := range []int64{-1, -2, -1 << 63} {
		if target, err := kafka.NewTarget(0, 0, at); err == nil {
			t.Errorf("%d became %s", at, target)
		}
	}
	if _, err := kafka.NewTarget(-1, 0, 5); err == nil {
		t.Error("partition -1 was taken")
	}
	target, err := kafka.NewTarget(3, 1, 1<<63-1)
	if err != nil || target.Offset() != 1<<63-1 || target.Partition() != 3 {
		t.Errorf("%s, error %v", target, err)
	}
	if (kafka.Target{}).Offset() != 0 {
		t.Error("an empty target deletes something")
	}
}
