package kafkaproxy

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// When is a moment in the life of a request.
type When int

const (
	BeforeForward When = iota // the client sent it, the broker has not got it
	AfterForward              // the broker has answered, the client does not know: what is lost now is done all the same
	AfterAnswer               // the client has been told
)

// AnyKey makes a Rule one for requests of every kind.
const AnyKey kmsg.Key = -1

// Always as a Rule's Times makes it strike again and again.
const Always = -1

// Rule says which requests are struck, when and by what.
type Rule struct {
	Key   kmsg.Key           // the kind of request. The zero value is Produce.
	Match func(Request) bool // which of them; nil: all. It must not call the proxy.
	Nth   int                // the first that is struck, among those that match since the rule was added, from 1; 0 is 1
	Times int                // how many are struck from there on; 0 is 1, Always is all
	When  When
	Do    Action
}

// check reports a rule that can't be followed.
func (r Rule) check() error {
	switch {
	case r.Do == nil:
		return errors.New("kafkaproxy: a rule without an action")
	case r.When < BeforeForward || r.When > AfterAnswer:
		return fmt.Errorf("kafkaproxy: no moment %d", r.When)
	case r.Nth < 0 || r.Times < Always:
		return fmt.Errorf("kafkaproxy: a rule for %d requests from number %d on", r.Times, r.Nth)
	}
	return r.Do.check(r)
}

// Fault is a rule at work. It is safe for concurrent use.
type Fault struct {
	proxy    *Proxy
	rule     Rule
	released chan struct{}

	// Guarded by the proxy's lock.
	seen, claimed int
	removed, open bool
	struck        []Request
	waited        int
}

// Add makes a rule work from now on. Of several rules for one request each
// does its part, in the order in which they were added, until one ends the
// connection.
func (p *Proxy) Add(rule Rule) (*Fault, error) {
	if err := rule.check(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f := &Fault{proxy: p, rule: rule, released: make(chan struct{})}
	p.faults = append(p.faults, f)
	return f, nil
}

// Inject is Add for a test, which fails where the rule can't be followed.
func (p *Proxy) Inject(t kafkatest.TB, rule Rule) *Fault {
	t.Helper()
	f, err := p.Add(rule)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return f
}

// Wait returns the next request that the rule strikes, at the moment when its
// action begins: with Hold, everything stands still then. Each strike is
// returned once.
func (f *Fault) Wait(ctx context.Context) (Request, error) {
	for {
		f.proxy.mu.Lock()
		changed := f.proxy.changed
		if f.waited < len(f.struck) {
			f.waited++
			r := f.struck[f.waited-1]
			f.proxy.mu.Unlock()
			return r, nil
		}
		f.proxy.mu.Unlock()
		select {
		case <-changed:
		case <-f.proxy.ctx.Done():
			return Request{}, errors.New("kafkaproxy: closed while waiting for a fault")
		case <-ctx.Done():
			return Request{}, fmt.Errorf("kafkaproxy: waiting for a fault: %w", ctx.Err())
		}
	}
}

// Hits is how often the rule has struck.
func (f *Fault) Hits() int {
	f.proxy.mu.Lock()
	defer f.proxy.mu.Unlock()
	return len(f.struck)
}

// Release lets go what Hold holds, now and in future.
func (f *Fault) Release() {
	f.proxy.mu.Lock()
	defer f.proxy.mu.Unlock()
	if !f.open {
		f.open = true
		close(f.released)
	}
}

// Remove ends the rule for requests to come. Those that it holds stay held.
func (f *Fault) Remove() {
	f.proxy.mu.Lock()
	defer f.proxy.mu.Unlock()
	f.removed = true
}

// claims reports whether the rule strikes a request that just came. The lock
// is held, so that requests are counted in the order of the trace.
func (f *Fault) claims(r Request) bool {
	if f.removed || (f.rule.Key != AnyKey && f.rule.Key != r.Key) || (f.rule.Match != nil && !f.rule.Match(r)) {
		return false
	}
	f.seen++
	if f.seen < max(1, f.rule.Nth) {
		return false
	}
	if f.rule.Times != Always && f.claimed >= max(1, f.rule.Times) {
		return false
	}
	f.claimed++
	return true
}

// strikes notes that the action begins.
func (f *Fault) strikes(x *exchange) {
	f.proxy.mu.Lock()
	defer f.proxy.mu.Unlock()
	f.struck = append(f.struck, x.trace.clone())
	f.proxy.tick()
}
