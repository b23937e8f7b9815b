package fluss_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/fluss"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flussrpc/write"
	"github.com/recoverctl/recoverctl/internal/journal"
	"github.com/recoverctl/recoverctl/internal/testkit/flusstest"
)

// Something between here and the coordinator answers a call that writes in its place,
// with bytes that are none of Fluss: the call may have been carried out, or still be.
func TestAnAnswerThatIsNotOfFlussLeavesTheCallOpen(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{actions.KindProducerDelete, actions.KindProducerRegister} {
		for _, done := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, done %v", kind, done), func(t *testing.T) {
				s := newScene(t)
				if kind == actions.KindProducerDelete {
					s.stored(sink, 0, 8, 4)
					s.deletes()
				} else {
					s.registersLatest()
				}
				stop := s.breaks(flusstest.Reaction{Raw: []byte("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"), After: done}, 0, true)
				result, refused, err := s.apply()
				stop()
				if refused != nil {
					t.Fatal(refused)
				}
				if done && (err != nil || result.Verdict != actions.Applied) {
					t.Errorf("it was done: %s, %v: %s", result.Verdict, err, steps(result))
				}
				if !done && (fault.KindOf(err) != fault.Unknown || result.Verdict != actions.Undecided) {
					t.Errorf("nobody knows: %s, %v: %s", result.Verdict, err, steps(result))
				}
				if want := map[bool]string{true: journal.Done, false: journal.Unknown}[done]; s.outcome() != want {
					t.Errorf("the journal says %s, want %s", s.outcome(), want)
				}
			})
		}
	}
}

// outcome is the result of the last write, as the journal has it.
func (s *scene) outcome() string {
	s.Helper()
	out := ""
	for _, e := range s.lines.all {
		if e.Event == journal.Outcome {
			out = e.Result
		}
	}
	return out
}

// An entry that was as planned already, so that nothing is sent, and is not any more at
// the end: that is said, and nobody is told that something was acknowledged.
func TestAnEntryThatChangesAfterNothingWasSent(t *testing.T) {
	s := newScene(t)
	s.stored(sink, 0, 8, 4)
	s.deletes()
	s.applied()
	change := fluss.New(fluss.Config{Sources: s.sources(), Plan: s.plan, Approved: s.report(), Settle: 50 * time.Millisecond})
	var last error
	for _, d := range change.Doers() {
		if d.Skip() != "" {
			s.stored(sink, 0, 9, 9) // the sink starts
			continue
		}
		if _, last = d.Do(t.Context(), nil); last != nil {
			break
		}
	}
	if last == nil || !strings.Contains(last.Error(), "nothing was sent") || strings.Contains(last.Error(), "acknowledged") {
		t.Errorf("%v", last)
	}
}

// withJournal is the evidence for the plan, with what the journal leaves open.
func (s *scene) withJournal() actions.FlussEvidence {
	s.Helper()
	e := s.sources().Gather(s.Context(), s.plan)
	s.lines.mu.Lock()
	defer s.lines.mu.Unlock()
	e.Unsettled = actions.OpenRequestsOf(s.lines.all, s.plan.Target, "prod", nil)
	return e
}

// A delete of which nobody knows whether it still comes would delete what is registered
// since: its own plan is not called not started, and every other plan for the producer
// asks, until that is accepted or the plan ends as applied.
func TestAnotherPlanAsksForACallThatMayStillCome(t *testing.T) {
	s := newScene(t)
	s.stored(sink, 0, 8, 4)
	s.deletes()
	first := s.plan
	patient := s.timeout
	s.timeout = 2 * time.Second
	stop := s.breaks(flusstest.Reaction{Silent: true}, 0, true)
	if _, _, err := s.apply(); fault.KindOf(err) != fault.Unknown {
		t.Fatal(err)
	}
	stop()
	s.timeout = patient
	e := s.withJournal()
	if v := actions.JudgeProducer(first, e); v.Verdict != actions.Undecided || !strings.Contains(v.Message, "the coordinator shows nothing of it: if it still comes, it deletes whatever is stored") {
		t.Errorf("its own plan: %s: %s", v.Verdict, v.Message)
	}
	if got := warnings(actions.ProducerReport(first, e)); strings.Contains(got, actions.RequestUnsettled) {
		t.Errorf("its own plan asks for the same again, and warns of %s", got)
	}
	s.removed(sink)
	s.stored(sink, 0, 9, 4) // the sink began anew
	s.deletes()
	report := actions.ProducerReport(s.plan, s.withJournal())
	if got := warnings(report); !strings.HasPrefix(got, actions.RequestUnsettled) || len(report.Open) != 1 {
		t.Errorf("another plan warns of %s", got)
	}
	if v := actions.JudgeProducer(s.plan, s.withJournal()); v.Verdict != actions.NotStarted {
		t.Errorf("another plan: %s: %s", v.Verdict, v.Message)
	}
	e = s.withJournal()
	e.Unsettled, e.JournalErr = nil, fault.New(fault.Corrupt, "read the journal", "line 3 is damaged")
	if got := warnings(actions.ProducerReport(s.plan, e)); !strings.HasPrefix(got, actions.NotChecked) {
		t.Errorf("a damaged journal: %s", got)
	}
	s.plan = first
	s.removed(sink)
	s.applied()
	if open := s.withJournal().Unsettled; len(open) != 0 {
		t.Errorf("not settled by its own plan: %+v", open)
	}
}

func (s *scene) removed(id string) {
	s.Helper()
	client := s.client()
	defer client.Close()
	if err := write.DeleteProducer(s.Context(), client, id); err != nil {
		s.Fatal(err)
	}
}
