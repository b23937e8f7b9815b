package replies

import (
	"context"
	"sync"
)

// Calls are those of one connection. They may be used by several goroutines.
type Calls[A any] struct {
	mu      sync.Mutex
	first   int32
	next    int32
	waiting map[int32]chan A
	reason  error         // why the connection can't be used any more
	gone    chan struct{} // closed then
}

// New makes the calls of a connection; first is the id of its first one.
func New[A any](first int32) *Calls[A] {
	return &Calls[A]{first: first, next: first, waiting: map[int32]chan A{}, gone: make(chan struct{})}
}

// Begin makes a call with an id of its own. The answer is received once, unless the
// connection ends before. Forget must be called when nobody waits any more. After
// End it fails with the reason.
func (c *Calls[A]) Begin() (id int32, answer <-chan A, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reason != nil {
		return 0, nil, c.reason
	}
	reply := make(chan A, 1)
	id = c.next
	c.next++
	c.waiting[id] = reply
	return id, reply, nil
}

// Forget ends a call. An answer that comes later is dropped.
func (c *Calls[A]) Forget(id int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
}

// Deliver gives an answer to its call, if that still waits. It reports whether a
// call of that id was ever made.
func (c *Calls[A]) Deliver(id int32, answer A) (made bool) {
	c.mu.Lock()
	reply, waits := c.waiting[id]
	delete(c.waiting, id)
	made = id >= c.first && id < c.next
	c.mu.Unlock()
	if waits {
		reply <- answer
	}
	return made
}

// Wait waits for an answer of Begin. Where ok is false and there is no error, the
// context ended first; the error is the reason of End.
func (c *Calls[A]) Wait(ctx context.Context, answer <-chan A) (got A, ok bool, err error) {
	select {
	case got = <-answer:
		return got, true, nil
	case <-c.gone:
		select {
		case got = <-answer: // it came before the connection went
			return got, true, nil
		default:
			return got, false, c.Err()
		}
	case <-ctx.Done():
		return got, false, nil
	}
}

// End ends every call with a reason; the first one stays. It reports whether this
// was the first.
func (c *Calls[A]) End(reason error) (first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reason != nil {
		return false
	}
	c.reason = reason
	close(c.gone)
	return true
}

// Err is the reason of End; nil before it.
func (c *Calls[A]) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reason
}
