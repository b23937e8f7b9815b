package actions_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/journal"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeStep is a step that does what a test says. A test that looks at what was
// done reads the stage's log.
type fakeStep struct {
	stage   *stage
	step    actions.Step
	skip    string
	do      func(ctx context.Context, p *actions.StepProgress) (string, error)
	settles func(ctx context.Context) (actions.Settlement, string, error)
}

func (f *fakeStep) Step() actions.Step { return f.step }
func (f *fakeStep) Skip() string       { return f.skip }

func (f *fakeStep) Do(ctx context.Context, p *actions.StepProgress) (string, error) {
	f.stage.log("do " + f.step.Name)
	if f.do == nil {
		return "well done", nil
	}
	return f.do(ctx, p)
}

func (f *fakeStep) Intent() inspect.Offsets { return inspect.Offsets{0: 100, 1: 150} }

func (f *fakeStep) Settle(ctx context.Context) (actions.Settlement, string, error) {
	f.stage.log("settle " + f.step.Name)
	return f.settles(ctx)
}

// stage is a run of the cleanup's own steps with fakes behind them.
type stage struct {
	t       *testing.T
	clock   *clock.Fake
	steps   []*fakeStep
	plan    actions.RunPlan
	verdict actions.OperationVerdict

	mu     sync.Mutex
	lines  []string // what was done and journalled, in order
	broken string   // the journal refuses lines that begin so
}

func newStage(t *testing.T) *stage {
	t.Helper()
	q := question(t)
	s := &stage{t: t, clock: clock.NewFake(at)}
	s.verdict = actions.OperationVerdict{PlanID: q.Plan.Subject().PlanID, Verdict: actions.Applied, Message: "all of it", Partitions: []actions.PartitionVerdict{}}
	s.plan = actions.RunPlan{
		Plan: q.Plan, Report: q.Report, Approval: approve(t, q),
		Who:     actions.Operator{User: "ops", Host: "bastion", Profile: "orders", Job: "order-agent"},
		Journal: s, Clock: s.clock, Timeout: 5 * time.Second,
		Verify: func(context.Context) actions.OperationVerdict { s.log("verify"); return s.verdict },
	}
	for _, step := range actions.CleanupSteps(false) {
		f := &fakeStep{stage: s, step: step}
		s.steps = append(s.steps, f)
		s.plan.Steps = append(s.plan.Steps, f)
	}
	return s
}

func (s *stage) log(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, line)
}

// Append is the journal: it keeps an entry as one line.
func (s *stage) Append(e journal.Entry) (journal.Entry, error) {
	line := strings.TrimRight(fmt.Sprintf("journal %s %s %s", e.Event, e.Step, e.Result), " ")
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != "" && strings.HasPrefix(line, s.broken) {
		return e, fault.New(fault.Partial, "append line", "no space left")
	}
	s.lines = append(s.lines, line)
	return e, nil
}

func (s *stage) done() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "\n")
}

func (s *stage) named(name string) *fakeStep {
	s.t.Helper()
	i := slices.IndexFunc(s.steps, func(f *fakeStep) bool { return f.step.Name == name })
	if i < 0 {
		s.t.Fatalf("no step %s", name)
	}
	return s.steps[i]
}

func (s *stage) start(ctx context.Context) *actions.Run {
	s.t.Helper()
	r, err := actions.Start(ctx, s.plan)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// states are the steps' states, as in "plan done, commit failed".
func states(result actions.ApplyResult) string {
	var out []string
	for _, s := range result.Steps {
		if s.State != actions.StepPending {
			out = append(out, s.Name+" "+string(s.State))
		}
	}
	return strings.Join(out, ", ")
}

// ended waits for the end, and not for ever.
func ended(t *testing.T, r *actions.Run) (actions.ApplyResult, error) {
	t.Helper()
	select {
	case <-r.Done():
	case <-time.After(time.Minute):
		t.Fatalf("the run does not end: %+v", r.Snapshot())
	}
	return r.Wait()
}

// until waits for something that a snapshot shows.
func until(t *testing.T, r *actions.Run, seen func(actions.Snapshot) bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	for !seen(r.Snapshot()) {
		select {
		case <-r.Changed():
		case <-deadline:
			t.Fatalf("never seen: %+v", r.Snapshot())
		}
	}
}

func waitsFor(t *testing.T, r *actions.Run, step string) {
	t.Helper()
	until(t, r, func(s actions.Snapshot) bool { return s.Waiting && s.Steps[s.Current].Step.Name == step })
}

func TestEveryWriteLiesBetweenItsIntentAndItsOutcome(t *testing.T) {
	s := newStage(t)
	result, err := ended(t, s.start(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	want := `journal begin
do plan
do control-topic
do identity
do operations
do recorded
do targets
do survivors
journal intent commit
do commit
journal outcome commit done
journal intent delete
do delete
journal outcome delete done
do log-starts
journal intent applied
do applied
journal outcome applied done
verify
journal end  applied`
	if got := s.done(); got != want {
		t.Errorf("done\n%s\nwant\n%s", got, want)
	}
	if result.Verdict != actions.Applied || result.Stage != "" || result.Receipt == nil || result.Receipt.Reason != "disk pressure INC-2231" ||
		result.Receipt.User != "ops" || result.Receipt.Verdict != actions.Applied {
		t.Errorf("result %+v", result)
	}
}

func TestWhatAFailureLeavesBehind(t *testing.T) {
	refused := func(stage actions.Stage, code string) func(context.Context, *actions.StepProgress) (string, error) {
		return func(context.Context, *actions.StepProgress) (string, error) {
			return "", actions.Refuse(stage, &inspect.Problem{Code: code, Message: "no", Named: inspect.Named{}})
		}
	}
	lost := func(context.Context, *actions.StepProgress) (string, error) {
		return "", fault.New(fault.Unknown, "produce", "the connection broke")
	}
	settles := func(settled actions.Settlement, err error) func(context.Context) (actions.Settlement, string, error) {
		return func(context.Context) (actions.Settlement, string, error) { return settled, "the record is read", err }
	}
	tests := map[string]struct {
		step    string
		do      func(context.Context, *actions.StepProgress) (string, error)
		settles func(context.Context) (actions.Settlement, string, error)
		verdict actions.Outcome // as re-read
		says    actions.Outcome // of the result, where it is another one
		kind    fault.Kind      // zero with exit 70 means: no error at all
		noError bool
		stage   actions.Stage
		last    string // the last steps' states
		journal string // what the journal says of that step
	}{
		"a refusal while reading": {
			step: "identity", do: refused(actions.StageSettings, "data-topic-config-unsafe"), verdict: actions.NotStarted,
			kind: fault.Drift, stage: actions.StageSettings, last: "identity failed"},
		"a refused write": {
			step: "commit", do: refused(actions.StageOperationsAfterCommit, "incomparable-boundaries"), verdict: actions.Contradicted,
			kind: fault.Corrupt, stage: actions.StageOperationsAfterCommit, last: "commit failed", journal: "journal outcome commit failed"},
		"a deletion that did some of it": {
			step: "delete", do: refused(actions.StageDelete, "broker-offset-out-of-range"), verdict: actions.Partial,
			kind: fault.Partial, stage: actions.StageDelete, last: "delete failed", journal: "journal outcome delete failed"},
		"a lost answer that reading finds done": {
			step: "commit", do: lost, settles: settles(actions.Happened, nil), verdict: actions.Applied, noError: true,
			last: "applied done", journal: "journal outcome commit done"},
		"a lost answer that reading finds not done": {
			step: "commit", do: lost, settles: settles(actions.NotHappened, nil), verdict: actions.NotStarted,
			kind: fault.Unreachable, stage: actions.StageCommit, last: "commit failed", journal: "journal outcome commit failed"},
		"a lost answer that nothing settles": {
			step: "commit", do: lost, settles: settles(actions.Unsettled, nil), verdict: actions.NotStarted, says: actions.Undecided,
			kind: fault.Unknown, stage: actions.StageCommit, last: "commit unknown", journal: "journal outcome commit unknown"},
		"a lost answer, and nothing can be read": {
			step: "delete", do: lost, settles: settles(actions.Unsettled, errors.New("down")), verdict: actions.Undecided,
			kind: fault.Unknown, stage: actions.StageDelete, last: "delete unknown", journal: "journal outcome delete unknown"},
		"a lost answer that only verifying finds out": {
			step: "delete", do: lost, settles: settles(actions.Unsettled, nil), verdict: actions.Partial,
			kind: fault.Partial, stage: actions.StageDelete, last: "delete unknown", journal: "journal outcome delete unknown"},
		"the last answer lost, and verifying finds all of it": {
			step: "applied", do: lost, settles: settles(actions.Unsettled, nil), verdict: actions.Applied, noError: true,
			last: "applied unknown", journal: "journal outcome applied unknown"},
		"a time limit is a lost answer too": {
			step: "delete", do: func(context.Context, *actions.StepProgress) (string, error) { return "", context.DeadlineExceeded },
			settles: settles(actions.Happened, nil), verdict: actions.Applied, noError: true, last: "applied done", journal: "journal outcome delete done"},
		"a panic while reading": {
			step: "operations", do: func(context.Context, *actions.StepProgress) (string, error) { panic("nil map") }, verdict: actions.NotStarted,
			kind: fault.Bug, stage: actions.StageOperations, last: "operations failed"},
		"a panic in a write that was made": {
			step: "commit", do: func(context.Context, *actions.StepProgress) (string, error) { panic("nil map") },
			settles: settles(actions.Happened, nil), verdict: actions.Committed,
			kind: fault.Bug, stage: actions.StageCommit, last: "commit done", journal: "journal outcome commit done"},
		"a panic in a write, and one while settling it": {
			step: "commit", do: func(context.Context, *actions.StepProgress) (string, error) { panic("nil map") },
			settles: func(context.Context) (actions.Settlement, string, error) { panic("again") }, verdict: actions.Committed,
			kind: fault.Problem, stage: actions.StageCommit, last: "commit unknown", journal: "journal outcome commit unknown"},
		"all steps done, and the log says something else": {
			step: "applied", do: func(context.Context, *actions.StepProgress) (string, error) { return "", nil }, verdict: actions.Contradicted,
			kind: fault.Drift, stage: actions.StageVerify, last: "applied done", journal: "journal outcome applied done"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.verdict.Verdict = tt.verdict
			f := s.named(tt.step)
			f.do, f.settles = tt.do, tt.settles
			result, err := ended(t, s.start(t.Context()))
			if tt.noError != (err == nil) || err != nil && fault.KindOf(err) != tt.kind {
				t.Errorf("error %v (%s), want %s", err, fault.KindOf(err), tt.kind)
			}
			want := tt.verdict
			if tt.says != "" {
				want = tt.says
			}
			if result.Verdict != want || result.Stage != tt.stage || !strings.HasSuffix(states(result), tt.last) {
				t.Errorf("verdict %s at %q, steps: %s; want %s at %q, … %s", result.Verdict, result.Stage, states(result), want, tt.stage, tt.last)
			}
			if tt.journal != "" && !strings.Contains(s.done(), tt.journal) {
				t.Errorf("the journal does not say %q:\n%s", tt.journal, s.done())
			}
			if strings.Count(s.done(), "journal intent") != strings.Count(s.done(), "journal outcome") {
				t.Errorf("an intent has no outcome:\n%s", s.done())
			}
			if result.Receipt == nil || result.Receipt.Verdict != want {
				t.Errorf("receipt %+v", result.Receipt)
			}
		})
	}
}

// A crash between the intent and the outcome: the process is gone, and what is
// left are the journal's lines.
func TestACrashLeavesAnIntentWithoutOutcome(t *testing.T) {
	s := newStage(t)
	var entries []journal.Entry
	s.plan.Journal = appendFunc(func(e journal.Entry) (journal.Entry, error) {
		entries = append(entries, e)
		return e, nil
	})
	var crashed []journal.Entry
	s.named("delete").do = func(context.Context, *actions.StepProgress) (string, error) {
		crashed = slices.Clone(entries) // what would be on the disk, were this the end
		return "", nil
	}
	if _, err := ended(t, s.start(t.Context())); err != nil {
		t.Fatal(err)
	}
	open := journal.OpenIntents(crashed)
	if len(open) != 1 || open[0].Step != "delete" || open[0].Offsets[1] != 150 || open[0].PlanID != s.plan.Plan.Subject().PlanID || open[0].User != "ops" {
		t.Errorf("open intents %+v", open)
	}
	if open = journal.OpenIntents(entries); len(open) != 0 {
		t.Errorf("at the end: %+v", open)
	}
}

type appendFunc func(journal.Entry) (journal.Entry, error)

func (f appendFunc) Append(e journal.Entry) (journal.Entry, error) { return f(e) }

func TestWithoutAJournalNothingIsWritten(t *testing.T) {
	tests := map[string]struct {
		broken, last string
		kind         fault.Kind
		starts       bool
	}{
		"from the beginning":    {"journal begin", "", fault.Partial, false},
		"before the commit":     {"journal intent commit", "commit failed", fault.Partial, true},
		"after the commit":      {"journal outcome commit", "commit done", fault.Partial, true},
		"at the very end of it": {"journal end", "applied done", fault.Partial, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.broken = tt.broken
			r, err := actions.Start(t.Context(), s.plan)
			if !tt.starts {
				if fault.KindOf(err) != tt.kind || s.done() != "" {
					t.Errorf("error %v, done %q", err, s.done())
				}
				return
			}
			result, err := ended(t, r)
			if fault.KindOf(err) != tt.kind || !strings.HasSuffix(states(result), tt.last) {
				t.Errorf("error %v (%s), steps: %s", err, fault.KindOf(err), states(result))
			}
			if tt.broken == "journal intent commit" && strings.Contains(s.done(), "do commit") {
				t.Error("it was written without an intent")
			}
			if tt.broken == "journal outcome commit" && strings.Contains(s.done(), "do delete") {
				t.Error("it went on without a journal")
			}
		})
	}
}

func TestNothingBeginsWithoutAnApproval(t *testing.T) {
	s := newStage(t)
	s.plan.Approval = actions.Approval{}
	if _, err := actions.Start(t.Context(), s.plan); fault.KindOf(err) != fault.Denied {
		t.Errorf("error %v", err)
	}
	s = newStage(t)
	plan, e := incident()
	other := actions.NewReport(plan, e)
	other.Lost = nil
	s.plan.Report = other
	if _, err := actions.Start(t.Context(), s.plan); fault.KindOf(err) != fault.Denied {
		t.Errorf("another report than the approved one: %v", err)
	}
	s = newStage(t)
	s.plan.Steps[8] = readOnly{s.named("delete")}
	if _, err := actions.Start(t.Context(), s.plan); fault.KindOf(err) != fault.Bug || s.done() != "" {
		t.Errorf("a write that nothing can settle: %v", err)
	}
}

// readOnly hides that a step can settle its write.
type readOnly struct{ actions.Doer }

func TestStepsThatHaveNothingToDoAreSkipped(t *testing.T) {
	s := newStage(t)
	s.named("targets").skip = "not asked again on resume"
	s.named("commit").skip = "COMMITTED 13:41"
	result, err := ended(t, s.start(t.Context()))
	if err != nil || strings.Contains(s.done(), "commit") || result.Steps[5].Detail != "not asked again on resume" {
		t.Errorf("error %v, steps %+v\n%s", err, result.Steps, s.done())
	}
}

// Stop at each step: before a step that writes nothing of it happens, in a
// reading step it ends at once, in a writing step it waits for the end.
func TestStopAtEveryStep(t *testing.T) {
	for i, step := range actions.CleanupSteps(false) {
		t.Run(step.Name, func(t *testing.T) {
			s := newStage(t)
			s.verdict.Verdict = actions.NotStarted
			inside, stopped := make(chan struct{}), make(chan struct{})
			s.steps[i].do = func(ctx context.Context, _ *actions.StepProgress) (string, error) {
				close(inside)
				if step.Writes == "" {
					<-ctx.Done() // a read ends with its context
					return "", ctx.Err()
				}
				<-stopped
				select {
				case <-ctx.Done():
					return "", ctx.Err()
				case <-time.After(20 * time.Millisecond):
					return "written", nil
				}
			}
			r := s.start(t.Context())
			<-inside
			r.Stop()
			r.Stop() // a second word changes nothing
			close(stopped)
			result, err := ended(t, r)
			if !r.Snapshot().Stopping || !r.Snapshot().Ended {
				t.Errorf("snapshot %+v", r.Snapshot())
			}
			switch last := i == len(s.steps)-1; {
			case last:
				if fault.KindOf(err) != fault.Problem { // all steps were done; the fake verdict decides
					t.Errorf("error %v", err)
				}
			case fault.KindOf(err) != fault.Cancelled || fault.KindOf(err).Exit() != 130:
				t.Errorf("error %v (%s)", err, fault.KindOf(err))
			}
			want := actions.StepStopped
			if step.Writes != "" {
				want = actions.StepDone
			}
			if result.Steps[i].State != want {
				t.Errorf("the step is %s, want %s", result.Steps[i].State, want)
			}
			if !strings.HasSuffix(s.done(), "verify\njournal end  not-started") {
				t.Errorf("nobody looked at what was left:\n%s", s.done())
			}
			if strings.Count(s.done(), "journal intent") != strings.Count(s.done(), "journal outcome") {
				t.Errorf("an intent has no outcome:\n%s", s.done())
			}
			for _, after := range s.steps[i+1:] {
				if strings.Contains(s.done(), "do "+after.step.Name) {
					t.Errorf("%s was done after it", after.step.Name)
				}
			}
		})
	}
}

func TestTheEndOfTheContextIsAStopAndNoAbandonedWrite(t *testing.T) {
	s := newStage(t)
	ctx, cancel := context.WithCancel(t.Context())
	inside, stopping := make(chan struct{}), make(chan struct{})
	s.named("delete").do = func(ctx context.Context, _ *actions.StepProgress) (string, error) {
		close(inside)
		<-stopping
		select {
		case <-ctx.Done():
			t.Error("the write was abandoned")
		case <-time.After(30 * time.Millisecond):
		}
		return "trimmed", nil
	}
	s.verdict.Verdict = actions.Committed
	r := s.start(ctx)
	<-inside
	cancel()
	until(t, r, func(s actions.Snapshot) bool { return s.Stopping })
	close(stopping)
	result, err := ended(t, r)
	if fault.KindOf(err) != fault.Cancelled || result.Verdict != actions.Committed || !strings.Contains(s.done(), "journal outcome delete done") {
		t.Errorf("error %v, verdict %s\n%s", err, result.Verdict, s.done())
	}
}

func TestOnlyALateSecondInterruptCutsAWriteOff(t *testing.T) {
	s := newStage(t)
	inside := make(chan struct{})
	s.named("delete").do = func(ctx context.Context, _ *actions.StepProgress) (string, error) {
		close(inside)
		<-ctx.Done()
		return "", ctx.Err()
	}
	r := s.start(t.Context())
	<-inside
	for _, press := range []struct {
		after time.Duration
		want  actions.Interruption
	}{
		{0, actions.StopsAtBoundary},
		{1500 * time.Millisecond, actions.TooSoon},
		{399 * time.Millisecond, actions.TooSoon},
		{399 * time.Millisecond, actions.TooSoon}, // 2.3 s after the first, but the key is held down
		{time.Second, actions.StopsNow},
	} {
		s.clock.Advance(press.after)
		if got := r.Interrupt(); got != press.want {
			t.Fatalf("a press %s later means %d, want %d", press.after, got, press.want)
		}
	}
	result, err := ended(t, r)
	if fault.KindOf(err) != fault.Unknown || result.Verdict != actions.Undecided || result.Stage != actions.StageDelete {
		t.Errorf("error %v (%s), verdict %s at %s", err, fault.KindOf(err), result.Verdict, result.Stage)
	}
	if done := s.done(); strings.Contains(done, "settle") || strings.Contains(done, "verify") ||
		!strings.HasSuffix(done, "journal outcome delete unknown\njournal end  unknown") {
		t.Errorf("done\n%s", done)
	}
}

func TestStepMode(t *testing.T) {
	s := newStage(t)
	s.plan.Step = true
	r := s.start(t.Context())
	for _, step := range actions.CleanupSteps(false) {
		waitsFor(t, r, step.Name)
		if err := r.Proceed("survivors-of-another-step", true); fault.KindOf(err) != fault.Denied {
			t.Fatalf("a go for another step was taken: %v", err)
		}
		if step.Writes != "" {
			if err := r.Proceed(step.Name, false); fault.KindOf(err) != fault.Denied || !strings.Contains(err.Error(), "needs its own go") {
				t.Fatalf("step %s writes and passed without its own go: %v", step.Name, err)
			}
		}
		if err := r.Proceed(step.Name, step.Writes != ""); err != nil {
			t.Fatal(err)
		}
		if err := r.Proceed(step.Name, true); fault.KindOf(err) != fault.Denied {
			t.Fatalf("one press passed two steps: %v", err)
		}
	}
	if result, err := ended(t, r); err != nil || result.Verdict != actions.Applied {
		t.Errorf("verdict %s, error %v", result.Verdict, err)
	}
	if err := r.Proceed("applied", true); fault.KindOf(err) != fault.Denied {
		t.Errorf("a go after the end: %v", err)
	}
}

func TestTheRestStillPausesBeforeThePointOfNoReturn(t *testing.T) {
	s := newStage(t)
	s.plan.Step = true
	r := s.start(t.Context())
	waitsFor(t, r, "plan")
	r.RunRest()
	waitsFor(t, r, "commit")
	r.RunRest()
	if !r.Snapshot().Waiting {
		t.Fatal("running the rest passed the point of no return")
	}
	if err := r.Proceed("commit", true); err != nil {
		t.Fatal(err)
	}
	if _, err := ended(t, r); err != nil {
		t.Error(err)
	}
}

func TestStopWhileAStepWaits(t *testing.T) {
	s := newStage(t)
	s.plan.Step = true
	s.verdict.Verdict = actions.NotStarted
	r := s.start(t.Context())
	waitsFor(t, r, "plan")
	r.Stop()
	result, err := ended(t, r)
	if fault.KindOf(err) != fault.Cancelled || states(result) != "plan stopped" || r.Snapshot().Waiting {
		t.Errorf("error %v, steps %s", err, states(result))
	}
}

func TestProgressIsSeenAndNeverInTheWay(t *testing.T) {
	s := newStage(t)
	s.named("delete").do = func(_ context.Context, p *actions.StepProgress) (string, error) {
		for i := range 10_000 { // nobody reads meanwhile
			p.Count(i, 10_000)
		}
		p.Note(safetext.Of("partition 1 waits for a leader"))
		p.Partition(0, actions.PartitionProgress{From: 10, Target: 100, Done: true})
		return "62 of 64", nil
	}
	r := s.start(t.Context())
	if _, err := ended(t, r); err != nil {
		t.Fatal(err)
	}
	snap := r.Snapshot()
	deleted := snap.Steps[8]
	if deleted.Step.Name != "delete" || deleted.Done != 9999 || deleted.Total != 10_000 || deleted.Note.String() != "partition 1 waits for a leader" ||
		deleted.Partitions[0].Target != 100 || deleted.Detail != "62 of 64" {
		t.Errorf("step %+v", deleted)
	}
	if len(snap.Journal) != 8 || snap.Verdict == nil || snap.Verdict.Verdict != actions.Applied || !snap.Ended {
		t.Errorf("snapshot %+v", snap)
	}
	select {
	case <-r.Changed():
	default:
		t.Error("no change was announced")
	}
	select {
	case <-r.Changed():
		t.Error("many changes are more than one announcement")
	default:
	}
}

func TestAVerdictThatPanicsIsUnknown(t *testing.T) {
	s := newStage(t)
	s.plan.Verify = func(context.Context) actions.OperationVerdict { panic("nil map") }
	result, err := ended(t, s.start(t.Context()))
	if result.Verdict != actions.Undecided || fault.KindOf(err) != fault.Unknown {
		t.Errorf("verdict %s, error %v", result.Verdict, err)
	}
}

// The list itself: every step that writes says what a failure there means, and
// only one of them is the point of no return.
func TestTheStepsOfACleanup(t *testing.T) {
	for _, create := range []bool{false, true} {
		var numbers, writes, noReturn []string
		for _, s := range actions.CleanupSteps(create) {
			numbers = append(numbers, s.Number)
			if s.Writes != "" {
				writes = append(writes, s.Name)
			}
			if s.NoReturn {
				noReturn = append(noReturn, s.Name)
			}
			if s.OnFailure == "" || s.Title == "" || s.Reads+s.Writes == "" || s.Stage == "" {
				t.Errorf("step %s says too little: %+v", s.Number, s)
			}
		}
		wantNumbers, wantWrites := "1 2 3 4 5 6 6b 7 8 9 10", "commit delete applied"
		if create {
			wantNumbers, wantWrites = "1 2 3 4 5 6 6b 6c 7 8 9 10", "create-control-topic "+wantWrites
		}
		if strings.Join(numbers, " ") != wantNumbers || strings.Join(writes, " ") != wantWrites || strings.Join(noReturn, " ") != "commit" {
			t.Errorf("numbers %v, writes %v, no return %v", numbers, writes, noReturn)
		}
	}
}
