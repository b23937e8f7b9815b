package apply

import (
	"sync"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
)

// Current is the apply of this process: the one that goes on, or the last one.
// There is one at a time. It belongs to no screen; its methods may be called by
// several goroutines.
type Current struct {
	mu       sync.Mutex
	running  *Running      // nil: none was started
	starting string        // what is about to be started; "" for nothing
	started  chan struct{} // closed when that is known to go on, or not; nil for nothing
	last     bool          // no other is started any more
	moved    chan struct{}
}

// NewCurrent is no apply yet.
func NewCurrent() *Current { return &Current{moved: make(chan struct{}, 1)} }

// Reserve keeps a second apply from being started while this one is. The error
// is a fault of kind Busy. Follow or Forget follows.
func (c *Current) Reserve(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if why := c.busy(); why != "" {
		return fault.New(fault.Busy, "apply", "%s", why).WithHint("one plan is applied at a time: %s", opens)
	}
	c.starting, c.started = name, make(chan struct{})
	return nil
}

// Forget gives back what was reserved: nothing was started.
func (c *Current) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reserved()
}

// reserved ends a reservation, if there is one.
func (c *Current) reserved() {
	if c.started != nil {
		close(c.started)
	}
	c.starting, c.started = "", nil
}

// Last is Running for a console that ends: no other apply can be started any more,
// and one that is just being started is waited for.
func (c *Current) Last() *Running {
	c.mu.Lock()
	c.last = true
	started := c.started
	c.mu.Unlock()
	if started != nil {
		<-started
	}
	return c.Running()
}

// Follow takes a run that was started, in place of what was reserved. Name says
// what is applied, as in "cleanup 3f9c21aa"; step, whether it pauses before each
// step. Finish is called once, when the run has ended and before anybody is told
// so: it gives back what the run held.
func (c *Current) Follow(run Run, name string, step bool, finish func() error) *Running {
	r := &Running{run: run, name: phrase.Safe(name), step: step, ended: make(chan struct{})}
	c.mu.Lock()
	c.running = r
	c.reserved()
	c.mu.Unlock()
	go r.follow(finish, c.notify)
	return r
}

func (c *Current) notify() {
	select {
	case c.moved <- struct{}{}:
	default: // one is waiting to be taken
	}
}

// Moved has a value when the apply has moved on since the last one was taken.
func (c *Current) Moved() <-chan struct{} { return c.moved }

// Running is the apply that goes on or was the last one; nil: none was started.
func (c *Current) Running() *Running {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running
}

// Busy says why no other apply can be started now; "" where one can.
func (c *Current) Busy() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.busy()
}

func (c *Current) busy() string {
	switch {
	case c.starting != "":
		return c.starting + " is being started from this console"
	case c.running != nil && !c.running.Ended():
		return c.running.Name() + " is being applied from this console"
	case c.last:
		return "this console is being left"
	default:
		return ""
	}
}

// Jobs is the apply for the line above the footer.
func (c *Current) Jobs() []tui.Job {
	r := c.Running()
	if r == nil {
		return nil
	}
	if j, shown := r.job(); shown {
		return []tui.Job{j}
	}
	return nil
}

// Commands are what the palette has for it on every screen.
func (c *Current) Commands(th theme.Theme) []tui.Command {
	return []tui.Command{{
		Name: "apply", Help: "the apply that goes on, or the last one",
		Run: func(string) tui.Cmd {
			r := c.Running()
			if r == nil {
				return tui.Say(theme.Plain, "no plan was applied from this console yet: p on a recovery point makes one")
			}
			return Show(th, r)
		},
	}}
}

// Show goes to the screen of a run.
func Show(th theme.Theme, r *Running) tui.Cmd {
	is := func(s tui.Screen) bool {
		shown, ok := s.(*Screen)
		return ok && shown.running == r
	}
	return tui.Goto(is, func() tui.Screen { return New(Options{Theme: th, Running: r}) })
}
