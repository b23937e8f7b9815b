package viewtest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/journal"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/views/plan"
)

// Runs carries out cleanups with the real runner and steps that write to nothing.
// What they would have written is kept, and judged at the end.
type Runs struct {
	mu    sync.Mutex
	gates map[string]chan struct{}
	fails map[string]error
	skips map[string]string
	wrote []string
	lines []journal.Entry
	log   Broker
	began int
}

// NewRuns makes runs in which every step goes through at once.
func NewRuns() *Runs {
	return &Runs{gates: map[string]chan struct{}{}, fails: map[string]error{}, skips: map[string]string{}}
}

// Verdict is held as a step is: the reading again at the end of a run.
const Verdict = "verdict"

// Hold makes a step wait in its middle until it is released.
func (r *Runs) Hold(step string) (release func()) {
	gate := make(chan struct{})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gates[step] = gate
	return sync.OnceFunc(func() { close(gate) })
}

// Fail makes a step fail.
func (r *Runs) Fail(step string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fails[step] = err
}

// Skip makes a step have nothing to do.
func (r *Runs) Skip(step, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.skips[step] = why
}

// Wrote are the steps that have written, in order.
func (r *Runs) Wrote() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.wrote)
}

// Began is how many runs were started.
func (r *Runs) Began() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.began
}

// Append implements actions.Journal.
func (r *Runs) Append(e journal.Entry) (journal.Entry, error) {
	e.Time = Now
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, e)
	return e, nil
}

// Start starts a run of a plan.
func (r *Runs) Start(made plan.Made, approval actions.Approval, log Broker, step bool) (*actions.Run, error) {
	r.mu.Lock()
	r.log = log
	r.began++
	r.mu.Unlock()
	var steps []actions.Doer
	for _, about := range made.Steps {
		steps = append(steps, doer{runs: r, plan: made.Plan, about: about})
	}
	return actions.Start(context.Background(), actions.RunPlan{
		Plan: made.Plan, Report: made.Report, Approval: approval, Step: step, Steps: steps, Journal: r, Clock: clock.NewFake(Now),
		Who: actions.Operator{User: "ops", Host: "bastion", Profile: "orders", Job: "order-agent"},
		Verify: func(ctx context.Context) actions.OperationVerdict {
			r.mu.Lock()
			gate := r.gates[Verdict]
			r.mu.Unlock()
			if gate != nil {
				select {
				case <-gate:
				case <-ctx.Done():
				}
			}
			return r.judge(made.Plan)
		},
	})
}

// judge is the verdict on what was written.
func (r *Runs) judge(of inspect.CleanupPlan) actions.OperationVerdict {
	r.mu.Lock()
	defer r.mu.Unlock()
	data, control := r.log.Data, r.log.Control
	data.Partitions = slices.Clone(data.Partitions)
	var records []inspect.ControlRecord
	record := func(status inspect.OperationStatus) {
		records = append(records, inspect.ControlRecord{Offset: int64(len(records)), Time: Now, Key: []byte(of.PlanID), Value: actions.EncodeRecord(of, status)})
	}
	for _, step := range r.wrote {
		switch step {
		case actions.StepCommit:
			record(inspect.StatusCommitted)
		case actions.StepDelete:
			for i, p := range data.Partitions {
				data.Partitions[i].Log.Start = max(p.Log.Start, of.Offsets[p.ID])
			}
		case actions.StepApplied:
			record(inspect.StatusApplied)
		}
	}
	return actions.Judge(of, Control(append(control.Records[:len(control.Records):len(control.Records)], records...)...), nil, data, nil)
}

// doer is one step of a cleanup that writes to nothing.
type doer struct {
	runs  *Runs
	plan  inspect.CleanupPlan
	about actions.Step
}

var _ actions.Writer = doer{}

func (d doer) Step() actions.Step      { return d.about }
func (d doer) Intent() inspect.Offsets { return d.plan.Offsets }

func (d doer) Skip() string {
	d.runs.mu.Lock()
	defer d.runs.mu.Unlock()
	return d.runs.skips[d.about.Name]
}

func (d doer) Settle(context.Context) (actions.Settlement, string, error) {
	return actions.NotHappened, "nothing was sent", nil
}

func (d doer) Do(ctx context.Context, p *actions.StepProgress) (string, error) {
	d.runs.mu.Lock()
	gate, err := d.runs.gates[d.about.Name], d.runs.fails[d.about.Name]
	d.runs.mu.Unlock()
	if gate != nil {
		if d.about.Name == actions.StepDelete {
			p.Count(1, 2)
			p.Partition(0, actions.PartitionProgress{From: 100, Target: d.plan.Offsets[0], Done: true})
			p.Partition(1, actions.PartitionProgress{From: 120, Target: d.plan.Offsets[1], Note: safetext.Of("waits for a leader (2nd try)")})
		}
		select {
		case <-gate:
		case <-ctx.Done():
			return "", fault.Wrap(fault.Cancelled, "apply", ctx.Err(), "stopped while it waited")
		}
	}
	if err != nil {
		return "", err
	}
	if d.about.Writes != "" {
		d.runs.mu.Lock()
		defer d.runs.mu.Unlock()
		d.runs.wrote = append(d.runs.wrote, d.about.Name)
	}
	return "as the plan has it", nil
}

// Until waits until a run is as it should be; it fails after a minute.
func Until(t interface {
	Helper()
	Fatalf(string, ...any)
}, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("before %s a minute passed", what)
		}
	}
}
