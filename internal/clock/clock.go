package clock

import (
	"sync"
	"time"
)

// Clock tells the time.
type Clock interface {
	Now() time.Time
}

// System is the machine's clock.
type System struct{}

// Now is the current time.
func (System) Now() time.Time { return time.Now() }

// Fake is a clock that stands still until it is moved. It may be used by
// several goroutines.
type Fake struct {
	mu  sync.Mutex
	now time.Time
}

// NewFake is a clock that shows now.
func NewFake(now time.Time) *Fake { return &Fake{now: now} }

// Now is the time that the clock shows.
func (f *Fake) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// Advance moves the clock by d.
func (f *Fake) Advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(d)
}

// Set moves the clock to now.
func (f *Fake) Set(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = now
}
