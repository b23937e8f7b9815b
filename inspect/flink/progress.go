package flink

import (
	"sync"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
)

// progressEvery is how often progress is told at most.
const progressEvery = 100 * time.Millisecond

// progress tells how far a reading or a search has come. A nil one tells nobody.
type progress[T any] struct {
	mu    sync.Mutex
	now   func() time.Time
	tell  func(T)
	state T
	last  time.Time
}

// telling is a progress for watch, nil where that is.
func telling[T any](now func() time.Time, watch func(T)) *progress[T] {
	if watch == nil {
		return nil
	}
	return &progress[T]{now: now, tell: watch}
}

// update changes the numbers and tells them, unless that was just done.
func (p *progress[T]) update(change func(*T)) {
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

// end tells the numbers as they are at the end.
func (p *progress[T]) end() {
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
