package flink

import (
	"sync"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
)

// progressEvery is how often progress is told at most.
const progressEvery = 100 * time.Millisecond

// progress tells how far a reading has come. A nil one tells nobody.
type progress struct {
	mu    sync.Mutex
	now   func() time.Time
	tell  func(inspect.PointProgress)
	state inspect.PointProgress
	last  time.Time
}

// update changes the numbers and tells them, unless that was just done.
func (p *progress) update(change func(*inspect.PointProgress)) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.state)
	if now := p.now(); now.Sub(p.last) >= progressEvery {
		p.last = now
		p.tell(p.state)
	}
}

// end tells the numbers as they are when the reading ends.
func (p *progress) end() {
	if p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.tell(p.state)
	}
}

// walked notes that bytes of keyed state were passed.
func (b *builder) walked(bytes int64) {
	b.progress.update(func(s *inspect.PointProgress) { s.Bytes += max(bytes, 0) })
}
