package actions

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"sync"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/journal"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Doer carries out one step. Its methods are called one after another, in the
// run's own goroutine.
type Doer interface {
	Step() Step

	// Skip says, from what earlier steps found, why there is nothing to do; empty
	// where there is.
	Skip() string

	// Do does the step and returns one sentence of evidence. It returns soon after
	// ctx ends. A refusal is made with Refuse.
	Do(ctx context.Context, p *StepProgress) (detail string, err error)
}

// Writer is a Doer whose step writes.
//
// An error of Do of the kinds Unknown, Unreachable, Cancelled and Bug leaves open
// whether the write was made, and Settle is asked. Every other kind says that the
// other side refused.
type Writer interface {
	Doer

	// Intent is what is about to be written, for the journal: offsets by partition,
	// nil where the write has none. It is called directly before Do.
	Intent() inspect.Offsets

	// Settle finds out by reading what became of the write.
	Settle(ctx context.Context) (Settlement, string, error)
}

// Settlement is what reading says about a write whose answer was lost.
type Settlement uint8

// The settlements. The zero Settlement is that nothing is settled.
const (
	Unsettled Settlement = iota
	Happened
	NotHappened
)

// Describer is a Writer whose write is more than offsets.
type Describer interface {
	Writer

	// Intended is what is about to be written, in one line, for the journal. It is
	// called directly before Do.
	Intended() string
}

// RunPlan is a run before it begins: what is applied, who approved it, and how.
type RunPlan struct {
	Plan     Plan
	Report   Account
	Approval Approval
	Who      Operator
	Steps    []Doer

	// Verify rereads everything from fresh connections and judges.
	Verify func(ctx context.Context) OperationVerdict

	Journal Journal
	Clock   clock.Clock
	Step    bool // pause before each step

	// Timeout bounds Settle, and Verify. 30 seconds where it is zero.
	Timeout time.Duration
}

// Journal is where a run writes its lines. A line is on the disk when Append has
// returned without an error.
type Journal interface {
	Append(e journal.Entry) (journal.Entry, error)
}

// Run is an apply that is going on. It belongs to no screen: it ends when its
// steps have ended, or at Stop. All methods may be called by several goroutines.
type Run struct {
	plan  RunPlan
	about inspect.PlanSubject
	id    string

	base context.Context // ends at once, at the second interrupt only
	now  context.CancelFunc

	mu       sync.Mutex
	state    Snapshot
	stopRead context.CancelFunc // of the reading step that runs; nil otherwise
	stopped  chan struct{}      // closed by Stop
	goAhead  chan struct{}      // a go for the step that waits
	rest     bool               // step mode: pause before the point of no return only
	first    time.Time          // of the interrupts
	last     time.Time
	lines    []journal.Entry

	changed chan struct{}
	done    chan struct{}

	// Written before done is closed, read after.
	result ApplyResult
	err    error
}

const defaultTimeout = 30 * time.Second

// Start journals the beginning and starts the steps in a goroutine of their own.
// The error is a fault: Denied where the approval does not cover the plan and
// the report, the journal's own where it can't be written, Bug for a step that
// writes and can't be settled. After an error nothing was begun.
//
// The end of ctx is a Stop: it never abandons a write.
func Start(ctx context.Context, p RunPlan) (*Run, error) {
	if err := p.Approval.Covers(p.Plan, p.Report); err != nil {
		return nil, err
	}
	if p.Timeout <= 0 {
		p.Timeout = defaultTimeout
	}
	r := &Run{
		plan: p, about: p.Plan.Subject(), stopped: make(chan struct{}), goAhead: make(chan struct{}, 1),
		changed: make(chan struct{}, 1), done: make(chan struct{}),
	}
	r.state = Snapshot{Current: -1, PlanID: r.about.PlanID, Began: p.Clock.Now()}
	for _, d := range p.Steps {
		step := d.Step()
		if _, writes := d.(Writer); step.Writes != "" && !writes {
			return nil, fault.New(fault.Bug, "apply", "step %s writes and nothing can settle it", step.Name)
		}
		r.state.Steps = append(r.state.Steps, StepState{Step: step, State: StepPending})
	}
	var err error
	if r.id, err = runID(); err != nil {
		return nil, err
	}
	begin := r.entry(journal.Begin, "")
	begin.Reason, begin.Accept, begin.Report = p.Approval.Reason(), p.Approval.Accepted(), p.Approval.ReportHash()
	begin.Offsets, begin.Message = r.about.Offsets, r.about.Does
	if err := r.append(begin); err != nil {
		return nil, err
	}
	r.base, r.now = context.WithCancel(context.WithoutCancel(ctx))
	unwatch := context.AfterFunc(ctx, r.Stop)
	go func() {
		defer close(r.done)
		defer r.notify()
		defer r.now()
		defer unwatch()
		r.run()
	}()
	return r, nil
}

func runID() (string, error) {
	const size = 8
	var id [size]byte
	if _, err := rand.Read(id[:]); err != nil {
		return "", fault.Wrap(fault.Bug, "apply", err, "the machine gives no random numbers")
	}
	return hex.EncodeToString(id[:]), nil
}

// ID is the run's id in the journal.
func (r *Run) ID() string { return r.id }

// Done is closed when the run has ended.
func (r *Run) Done() <-chan struct{} { return r.done }

// Wait waits for the end. The error is nil only for the verdict applied; its
// kind gives the exit code.
func (r *Run) Wait() (ApplyResult, error) {
	<-r.done
	return r.result, r.err
}

// run does all steps, verifies, and writes the end.
func (r *Run) run() {
	failure := r.steps()
	verdict := r.verify(failure)
	receipt := NewReceipt(r.plan.Who, r.plan.Plan, r.plan.Report, r.plan.Approval, verdict, r.state.Began, r.plan.Clock.Now())
	end := r.entry(journal.End, "")
	end.Result, end.Message = string(verdict.Verdict), verdict.Message
	journalErr := r.append(end)

	r.mu.Lock()
	defer r.mu.Unlock()
	r.state.Verdict, r.state.Ended, r.state.Current, r.state.Waiting = &verdict, true, -1, false
	r.result = ApplyResult{
		PlanID: r.about.PlanID, Verdict: verdict.Verdict, Message: verdict.Message,
		Steps: []StepResult{}, Partitions: verdict.Partitions, Facts: verdict.Facts, Receipt: &receipt,
	}
	for _, s := range r.state.Steps {
		r.result.Steps = append(r.result.Steps, StepResult{Name: s.Step.Name, State: s.State, Detail: s.Detail})
	}
	r.err = outcomeError(failure, verdict, journalErr)
	switch {
	case r.err == nil:
	case failure.stage != "":
		r.result.Stage = failure.stage
	default:
		r.result.Stage = StageVerify
	}
}

// failure is what ended the steps before their end.
type failure struct {
	err       error
	stage     Stage
	unsettled bool // a write was made or not, and nobody knows
	cut       bool // it was the second interrupt: nothing more is read
}

// outcomeError is the error of the whole run. What was re-read decides over what
// a step said: a write whose answer was lost is what reading says it is, and a
// run that failed half-way is partial, whatever failed.
func outcomeError(f failure, v OperationVerdict, journalErr error) error {
	kind, bad := v.Verdict.Exit()
	switch {
	case !bad && (f.err == nil || f.unsettled):
		return journalErr
	case f.err == nil:
		return fault.New(kind, "apply", "%s", v.Message)
	case f.unsettled, v.Verdict == Partial && fault.KindOf(f.err) != fault.Cancelled:
		return rekind(f.err, kind)
	default:
		return f.err
	}
}

// rekind gives an error another kind and keeps its words.
func rekind(err error, kind fault.Kind) error {
	of := fault.Of(err)
	return &fault.Fault{Kind: kind, Op: of.Op, Hint: of.Hint, Refs: of.Refs, Err: err}
}

// verify judges what has become of the plan. Nothing is read after the second
// interrupt.
func (r *Run) verify(f failure) OperationVerdict {
	none := OperationVerdict{PlanID: r.about.PlanID, Verdict: Undecided, Partitions: []PartitionVerdict{}}
	if f.cut {
		none.Message = "it was ended at once, and nothing was read again: ask with recoverctl verify"
		return none
	}
	ctx, cancel := context.WithTimeout(r.base, r.plan.Timeout)
	defer cancel()
	verdict := none
	if err := guard("verify", func() error {
		verdict = r.plan.Verify(ctx)
		return nil
	}); err != nil {
		none.Message = safetext.Error(err).String()
		return none
	}
	if f.unsettled && verdict.Verdict == NotStarted {
		// The record is not there, and may still arrive.
		verdict.Verdict = Undecided
		verdict.Message = fmt.Sprintf("the answer to a write was lost; now: %s; ask again with recoverctl verify", verdict.Message)
	}
	return verdict
}

// entry is a line of this run.
func (r *Run) entry(event journal.Event, step string) journal.Entry {
	e := journal.Entry{
		Run: r.id, Event: event, Step: step, PID: pid(),
		User: r.plan.Who.User, Host: r.plan.Who.Host, Profile: r.plan.Who.Profile, Job: r.plan.Who.Job,
		PlanID: r.about.PlanID, Kind: r.about.Kind,
	}
	if on := r.about.Target; on.Object == objectTopic {
		e.Topic, e.TopicID = on.Name, on.ID
	} else {
		e.Object, e.ObjectID, e.System = on.Object+" "+on.Name, on.ID, on.Cluster
	}
	return e
}

// append writes a line and keeps it for those who watch.
func (r *Run) append(e journal.Entry) error {
	written, err := r.plan.Journal.Append(e)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.lines = append(r.lines, written)
	r.mu.Unlock()
	r.notify()
	return nil
}
