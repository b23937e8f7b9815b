package scan

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/tui"
)

// State is a scan at a moment. It never changes.
type State struct {
	Running   bool
	Cancelled bool // by the operator: what was found is kept
	Started   time.Time
	Ended     time.Time // zero while it runs
	TopicID   string    // of the topic that is read; empty: not known
	Progress  inspect.CallProgress
	Rate      float64 // records a second, while it runs

	// Open are the calls of open actions as they stand so far. When the scan has
	// ended, Calls has all that it found.
	Open  List
	Calls *inspect.DurableCalls // nil while it runs, and where nothing was read
	// Err is why it is not all, and what else could not be read.
	Err error
	// Before is the scan of the same topic before this one, if it brought a result;
	// nil where this one has its own.
	Before *State

	serial  int64 // of the scan among those of a holder, from 1
	version int
}

// Same reports whether two states are the same moment of the same scan.
func (s State) Same(other State) bool { return s.serial == other.serial && s.version == other.version }

// Known reports whether there is a result to show: all of the topic, or a part.
func (s State) Known() bool { return s.Calls != nil }

// Partial reports whether the result is known not to be all.
func (s State) Partial() bool {
	return s.Calls != nil && (s.Calls.Scanned.Partial || s.Cancelled)
}

// Points are the counts for a recovery point; nil where they are not known.
func (s State) Points(uri string) *inspect.PointCalls {
	if s.Calls == nil {
		return nil
	}
	for i := range s.Calls.Points {
		if s.Calls.Points[i].Point == uri {
			return &s.Calls.Points[i]
		}
	}
	return nil
}

// Scan is one scan of one job's topic. Its methods may be called from any
// goroutine.
type Scan struct {
	name   string
	cancel context.CancelFunc
	now    func() time.Time

	mu      sync.Mutex
	state   State
	changed chan struct{} // closed when there is a newer state
	queue   []inspect.CallUpdate
	ended   bool
	more    chan struct{} // has a value when there is something in queue, or it has ended
	asked   bool          // to stop, by the operator
	rate    pace
}

// State is how the scan stands.
func (s *Scan) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Cancel asks the scan to stop. What it has found is kept.
func (s *Scan) Cancel() {
	s.mu.Lock()
	s.asked = true
	s.mu.Unlock()
	s.cancel()
}

// Follow brings the scan's states to a screen, as Progress[State] while it runs
// and as Loaded[State] at its end. The screen that leaves does not stop it.
func (s *Scan) Follow(slot string) tui.Cmd {
	return tui.Follow(slot, func(ctx context.Context, report func(State)) (State, error) {
		version := -1
		for {
			s.mu.Lock()
			state, changed := s.state, s.changed
			s.mu.Unlock()
			if !state.Running {
				return state, nil
			}
			if state.version > version {
				version = state.version
				report(state)
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return state, ctx.Err()
			}
		}
	})
}

// run reads, and lets another goroutine make the lists, so that they never hold
// up the read.
func (s *Scan) run(ctx context.Context, source Source, job inspect.Job) {
	listed := make(chan struct{})
	go func() {
		defer close(listed)
		s.list()
	}()
	result, err := guarded(func() (Result, error) { return source.Calls(ctx, job, s.watch) })
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.wake()
	<-listed
	s.end(result, err)
}

// guarded turns a panic of a read into a fault: the console goes on.
func guarded(read func() (Result, error)) (result Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.New(fault.Bug, "scan the topic", "a defect in this program: %s", safetext.Sprintf("%v", p)).
				WithHint("report this sentence; recoverctl inspect calls gives the same answer")
		}
	}()
	return read()
}

// watch takes what the source found. It never waits for a list.
func (s *Scan) watch(u inspect.CallUpdate) {
	s.mu.Lock()
	if !s.ended {
		s.queue = append(s.queue, u)
	}
	s.mu.Unlock()
	s.wake()
}

func (s *Scan) wake() {
	select {
	case s.more <- struct{}{}:
	default:
	}
}

// list makes a list of each update that comes, until the read has ended.
func (s *Scan) list() {
	var b builder
	for range s.more {
		s.mu.Lock()
		queue, ended := s.queue, s.ended
		s.queue = nil
		s.mu.Unlock()
		for _, u := range queue {
			b.take(u)
		}
		if len(queue) > 0 {
			list := b.list()
			s.set(func(state *State) {
				state.Open = list
				state.Progress = queue[len(queue)-1].Progress
				state.Rate = s.rate.now(s.now(), state.Progress)
			})
		}
		if ended {
			return
		}
	}
}

// end keeps the result. A read that brought nothing has no result.
func (s *Scan) end(result Result, err error) {
	now := s.now()
	s.set(func(state *State) {
		state.Running, state.Ended, state.Rate = false, now, 0
		state.Cancelled = s.asked && err != nil && (result.Calls.Scanned.Partial || onlyCancelled(err))
		state.Err = err
		if state.Cancelled && onlyCancelled(err) {
			state.Err = nil
		}
		if result.TopicID != "" {
			state.TopicID = result.TopicID
		}
		if err == nil || result.Calls.Scanned.Records > 0 || len(result.Calls.Actions) > 0 {
			calls := result.Calls
			state.Calls, state.Before = &calls, nil
		}
	})
}

// onlyCancelled reports whether an error says nothing but that the read was
// stopped.
func onlyCancelled(err error) bool {
	for _, e := range fault.All(err) {
		if fault.KindOf(e) != fault.Cancelled && !errors.Is(e, context.Canceled) {
			return false
		}
	}
	return true
}

func (s *Scan) set(change func(*State)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.state)
	s.state.version++
	close(s.changed)
	s.changed = make(chan struct{})
}

// pace is the speed of a scan over the last moments.
type pace struct {
	marks []mark
}

type mark struct {
	at      time.Time
	pass    int
	records int64
}

// window is how far back the speed is looked at.
const window = 2 * time.Second

func (p *pace) now(at time.Time, progress inspect.CallProgress) float64 {
	if len(p.marks) > 0 && p.marks[0].pass != progress.Pass {
		p.marks = nil
	}
	p.marks = append(p.marks, mark{at, progress.Pass, progress.Records})
	for len(p.marks) > 2 && at.Sub(p.marks[1].at) >= window {
		p.marks = p.marks[1:]
	}
	first := p.marks[0]
	took := at.Sub(first.at).Seconds()
	if took <= 0 {
		return 0
	}
	return max(0, float64(progress.Records-first.records)/took)
}
