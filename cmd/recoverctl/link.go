package main

import (
	"sync"
	"time"

	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
)

// connState is how a connection is.
type connState uint8

const (
	connIdle connState = iota
	connTrying
	connUp
	connPartly // it answered, and not all of it could be read
	connFailed
)

// words are the state as people read it, and its tone.
func (s connState) words() (string, theme.Tone) {
	switch s {
	case connTrying:
		return "connecting", theme.Plain
	case connUp:
		return "ok", theme.OK
	case connPartly:
		return "partly read", theme.Warning
	case connFailed:
		return "FAILED", theme.Error
	default:
		return "not asked", theme.Plain
	}
}

// header is a connection's state in the console's header.
func (s connState) header(name string) tui.Connection {
	word, tone := s.words()
	return tui.Connection{Name: name, State: word, Tone: tone}
}

// link is what is known of one connection, for screens that must not wait: its
// lock is never held while anything is asked.
type link struct {
	clock clock.Clock

	mu    sync.Mutex
	facts linkFacts
}

type linkFacts struct {
	state connState
	found int64     // recovery points of the list that is being read, or was read last
	asked time.Time // zero: never
	err   error     // the last failure, also where it works again
	errAt time.Time
}

// trying says that an attempt begins.
func (l *link) trying() { l.set(func(f *linkFacts) { f.state, f.found = connTrying, 0 }) }

// found says how many recovery points the list has that is being read.
func (l *link) found(n int64) { l.set(func(f *linkFacts) { f.found = n }) }

// up says that the other side answered.
func (l *link) up() { l.set(func(f *linkFacts) { f.state = connUp }) }

// failed says that it did not.
func (l *link) failed(err error) { l.fault(connFailed, err) }

// partly says that it did, and what was missing.
func (l *link) partly(err error) { l.fault(connPartly, err) }

func (l *link) fault(state connState, err error) {
	now := l.clock.Now()
	l.set(func(f *linkFacts) { f.state, f.err, f.errAt = state, err, now })
}

// back says that an attempt was given up, and that nothing is known but what was
// known before it, and what another one has learned meanwhile.
func (l *link) back(to linkFacts) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.facts.state == connTrying {
		l.facts = to
	}
}

func (l *link) set(change func(*linkFacts)) {
	now := l.clock.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.facts.asked = now
	change(&l.facts)
}

func (l *link) now() linkFacts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.facts
}
