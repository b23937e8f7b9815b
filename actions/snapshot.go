package actions

import (
	"maps"
	"slices"
	"time"

	"github.com/recoverctl/recoverctl/internal/journal"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Snapshot is a run at one moment.
type Snapshot struct {
	PlanID   string
	Began    time.Time
	Steps    []StepState
	Current  int  // index of the step that runs or waits; -1: none
	Waiting  bool // step mode: Current waits for a go
	Stopping bool
	Ended    bool
	Verdict  *OperationVerdict // nil until the end
	Journal  []journal.Entry   // of this run, as they were written
}

// StepState is one step and how far it is.
type StepState struct {
	Step         Step
	State        StepWord
	Detail       string // evidence, or why it failed or was skipped
	Began, Ended time.Time
	Done, Total  int // partitions, places; Total 0: not known
	Note         safetext.Text
	Partitions   map[int32]PartitionProgress
}

// PartitionProgress is one partition in a step that touches each.
type PartitionProgress struct {
	From, Target int64
	Done         bool
	Note         safetext.Text // as in "waits for a leader, 2nd try"
}

// Snapshot is the run now. It never makes the run wait for long.
func (r *Run) Snapshot() Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.state
	out.Steps = slices.Clone(r.state.Steps)
	for i := range out.Steps {
		out.Steps[i].Partitions = maps.Clone(out.Steps[i].Partitions)
	}
	out.Journal = slices.Clone(r.lines)
	return out
}

// Changed has a value when something changed since the last one was taken. Many
// changes make one value, so that whoever watches is never behind.
func (r *Run) Changed() <-chan struct{} { return r.changed }

func (r *Run) notify() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notifyLocked()
}

func (r *Run) notifyLocked() {
	select {
	case r.changed <- struct{}{}:
	default: // one is waiting to be taken
	}
}

// begin marks a step as running.
func (r *Run) begin(i int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state.Current, r.state.Waiting = i, false
	r.state.Steps[i].State, r.state.Steps[i].Began = StepRunning, r.plan.Clock.Now()
	r.notifyLocked()
}

// end marks a step with its outcome.
func (r *Run) end(i int, state StepWord, detail string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &r.state.Steps[i]
	s.State, s.Detail, s.Ended = state, detail, r.plan.Clock.Now()
	r.notifyLocked()
}

// StepProgress is what a step reports while it works. Its methods may be called
// by several goroutines, at any rate.
type StepProgress struct {
	run  *Run
	step int
}

func (p *StepProgress) change(f func(*StepState)) {
	p.run.mu.Lock()
	defer p.run.mu.Unlock()
	f(&p.run.state.Steps[p.step])
	p.run.notifyLocked()
}

// Count sets how many of how many are done; total 0 means not known.
func (p *StepProgress) Count(done, total int) {
	p.change(func(s *StepState) { s.Done, s.Total = done, total })
}

// Note says what is being done now.
func (p *StepProgress) Note(note safetext.Text) {
	p.change(func(s *StepState) { s.Note = note })
}

// Partition says how far one partition is.
func (p *StepProgress) Partition(id int32, progress PartitionProgress) {
	p.change(func(s *StepState) {
		if s.Partitions == nil {
			s.Partitions = make(map[int32]PartitionProgress)
		}
		s.Partitions[id] = progress
	})
}
