package scan

import (
	"context"
	"sync"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/views/phrase"
)

// Source reads the durable calls of a job's topic.
type Source interface {
	// Calls reads the topic to the end that it has now, and says what restores from
	// the recovery points in the job's places would do. The result is what was read,
	// also beside an error, which says what could not be, and is then marked partial
	// if not all of the topic was read. Watch is told what became known, at most ten
	// times a second.
	Calls(ctx context.Context, job inspect.Job, watch func(inspect.CallUpdate)) (Result, error)
}

// Result is what a scan found, and of which topic.
type Result struct {
	TopicID string // empty: not known
	Calls   inspect.DurableCalls
}

// Scans holds the newest scan of each job. Its methods may be called from any
// goroutine. The nil Scans has none.
type Scans struct {
	source Source
	now    func() time.Time
	ctx    context.Context
	cancel context.CancelFunc
	runs   sync.WaitGroup

	mu    sync.Mutex
	scans map[string]*Scan // by job
	begun int64
	order []*Scan // those that may still run, the oldest first
}

// New makes a holder without scans. Its scans end with ctx or with Close.
func New(ctx context.Context, source Source, now func() time.Time) *Scans {
	ctx, cancel := context.WithCancel(ctx)
	return &Scans{source: source, now: now, ctx: ctx, cancel: cancel, scans: map[string]*Scan{}}
}

// Close stops all scans and waits for them.
func (s *Scans) Close() {
	s.cancel()
	s.runs.Wait()
}

// Of is the newest scan of a job's topic; nil where there was none since the
// topic has this id. An empty id stands for any: the topic could not be asked.
func (s *Scans) Of(job inspect.Job, topicID string) *Scan {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of(job, topicID)
}

func (s *Scans) of(job inspect.Job, topicID string) *Scan {
	found := s.scans[address(job)]
	if found == nil {
		return nil
	}
	if id := found.State().TopicID; topicID != "" && id != "" && id != topicID {
		return nil
	}
	return found
}

// Start scans a job's topic, of which the id is known or empty. Where a scan of it
// runs, that one is returned.
func (s *Scans) Start(job inspect.Job, topicID string) *Scan {
	s.mu.Lock()
	defer s.mu.Unlock()
	earlier := s.of(job, topicID)
	if earlier != nil && earlier.State().Running {
		return earlier
	}
	ctx, cancel := context.WithCancel(s.ctx)
	scan := &Scan{
		name: "scan " + phrase.Safe(job.Topic), cancel: cancel, now: s.now,
		changed: make(chan struct{}), more: make(chan struct{}, 1),
		state: State{Running: true, Started: s.now(), TopicID: topicID},
	}
	if earlier != nil {
		if state := earlier.State(); state.Known() {
			scan.state.Before = &state
		} else {
			scan.state.Before = state.Before
		}
	}
	if last := s.scans[address(job)]; last != nil {
		last.cancel() // of a topic that is no more
	}
	s.begun++
	scan.state.serial = s.begun
	s.scans[address(job)] = scan
	s.order = append(s.order, scan)
	s.runs.Go(func() {
		defer cancel()
		scan.run(ctx, s.source, job)
	})
	return scan
}

// Jobs are the scans that run, for the console's line of running jobs.
func (s *Scans) Jobs() []tui.Job {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var jobs []tui.Job
	running := s.order[:0]
	for _, scan := range s.order {
		state := scan.State()
		if !state.Running {
			continue
		}
		running = append(running, scan)
		name := scan.name
		if state.Progress.Pass > 1 {
			name += ", open actions again"
		}
		jobs = append(jobs, tui.Job{
			Name: name, Done: state.Progress.Span, Total: state.Progress.Total, Unit: "offsets", Cancel: scan.Cancel,
		})
	}
	clear(s.order[len(running):])
	s.order = running
	return jobs
}

// address tells jobs apart: two of one topic may differ in what a restore does.
func address(job inspect.Job) string { return job.Profile + "\x00" + job.Name + "\x00" + job.Topic }
