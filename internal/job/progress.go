package job

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Progress is what a worker counts. Its methods may be called by several
// goroutines of the worker, at any rate.
type Progress struct {
	done, total atomic.Int64
	label       atomic.Pointer[safetext.Text]
}

// Add counts n more units of work: records, files, partitions.
func (p *Progress) Add(n int64) { p.done.Add(n) }

// SetDone sets how many units are done.
func (p *Progress) SetDone(n int64) { p.done.Store(n) }

// SetTotal sets how many units there are; zero means not known.
func (p *Progress) SetTotal(n int64) { p.total.Store(n) }

// SetLabel says what is being done now.
func (p *Progress) SetLabel(label safetext.Text) { p.label.Store(&label) }

// State is where a job stands.
type State uint8

// The states, in their order.
const (
	Queued  State = iota // waits for its turn in a group
	Running              // the worker runs
	Ended                // Err has the outcome
)

// String is the state's word.
func (s State) String() string {
	switch s {
	case Queued:
		return "queued"
	case Running:
		return "running"
	default:
		return "ended"
	}
}

// Snapshot is a job's progress at one moment.
type Snapshot struct {
	State State
	Done  int64 // units of work
	Total int64 // zero: not known
	// Rate is in units per second: over the last second or more while the job
	// runs, over the whole run once it has ended. Zero until there is a time to
	// divide by.
	Rate    float64
	Label   safetext.Text
	Elapsed time.Duration // since the worker began; stands still once it has ended
}

// Fraction is how much is done, from 0 to 1, and whether that is known.
func (s Snapshot) Fraction() (float64, bool) {
	if s.Total <= 0 {
		return 0, false
	}
	return min(1, max(0, float64(s.Done)/float64(s.Total))), true
}

// window is the shortest time over which a rate is measured: shorter ones jump.
const window = time.Second

// meter turns counts into a rate. Only readers use it, so that its lock is
// never in the worker's way. Readers share it: each sees the same rate, whoever
// reads more often.
type meter struct {
	mu    sync.Mutex
	since time.Time
	done  int64
	rate  float64
	whole bool // a full window was measured
}

// read returns the rate of a job that began at began and has done units now.
func (m *meter) read(began, now time.Time, done int64) float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.since.IsZero() {
		m.since = began
	}
	passed := now.Sub(m.since)
	if passed >= window {
		m.rate, m.whole = perSecond(done-m.done, passed), true
		m.since, m.done = now, done
	}
	if !m.whole {
		return perSecond(done, passed)
	}
	return m.rate
}

func perSecond(n int64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}
