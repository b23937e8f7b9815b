package job

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Group runs jobs, at most so many at once, and knows which have not ended. All
// methods may be called by several goroutines.
type Group struct {
	ctx    context.Context
	cancel context.CancelFunc
	slots  chan struct{}

	mu     sync.Mutex
	closed bool
	live   []*Job // not ended, oldest first
	wg     sync.WaitGroup
}

// NewGroup makes a group whose jobs are cancelled when ctx ends. At most limit
// of them, and at least one, run at once.
func NewGroup(ctx context.Context, limit int) *Group {
	ctx, cancel := context.WithCancel(ctx)
	return &Group{ctx: ctx, cancel: cancel, slots: make(chan struct{}, max(1, limit))}
}

// Start queues work and returns at once. A job that is cancelled before its
// turn ends without having begun. After Shutdown every new job ends at once
// with a fault of kind Cancelled.
func (g *Group) Start(name safetext.Text, work Work) *Job {
	ctx, j := prepare(g.ctx, name)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		j.cancel()
		j.end(fault.New(fault.Cancelled, name.String(), "%s was not begun: the program is ending", name))
		return j
	}
	g.live = append(g.live, j)
	g.wg.Go(func() {
		defer j.cancel()
		defer g.forget(j)
		select {
		case <-ctx.Done():
		case g.slots <- struct{}{}:
			defer func() { <-g.slots }()
		}
		if err := ctx.Err(); err != nil {
			j.end(fault.Wrap(fault.Cancelled, name.String(), err, "%s was not begun", name))
			return
		}
		j.run(ctx, work)
	})
	return j
}

func (g *Group) forget(j *Job) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.live = slices.DeleteFunc(g.live, func(other *Job) bool { return other == j })
}

// Live lists the jobs that are queued or running, the oldest first.
func (g *Group) Live() []*Job {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.live)
}

// Wait waits until every job that was started has ended. It cancels none.
func (g *Group) Wait() { g.wg.Wait() }

// Shutdown takes no more jobs, cancels those there are and waits for them. Where
// some have not ended after patience, it returns a fault of kind Busy that names
// them; they go on to be waited for by the next Shutdown or Wait.
func (g *Group) Shutdown(patience time.Duration) error {
	g.mu.Lock()
	g.closed = true
	live := slices.Clone(g.live)
	g.mu.Unlock()
	g.cancel()

	timer := time.NewTimer(patience)
	defer timer.Stop()
	for i, j := range live {
		select {
		case <-j.Done():
			continue
		case <-timer.C:
		}
		var names []string
		for _, late := range live[i:] {
			if !late.ended() {
				names = append(names, late.name.String())
			}
		}
		if len(names) == 0 {
			break
		}
		return fault.New(fault.Busy, "end all work", "still running after %s: %s", patience, strings.Join(names, ", ")).
			WithHint("wait, or end the program and look at the journal")
	}
	g.wg.Wait()
	return nil
}
