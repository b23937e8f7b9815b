package flink

import (
	"context"
	"errors"
	"io/fs"
	"sync"
)

// maxUnanswered is how many files of one store are asked for, and not answered,
// before the others are given up with the same error.
const maxUnanswered = 16

// outages notices stores that answer nothing at all, so that not each of a
// hundred thousand files waits for the same timeout or missing login.
type outages struct {
	mu    sync.Mutex
	known map[string]*outage // by scheme and authority
}

type outage struct {
	failures int
	answered bool // at least once: what fails is about single files
	last     error
}

func storeOf(l location) string { return l.scheme + "://" + l.authority }

// of is the error of a store that does not answer; nil while it may.
func (o *outages) of(l location) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s := o.known[storeOf(l)]; s != nil && !s.answered && s.failures >= maxUnanswered {
		return s.last
	}
	return nil
}

// note keeps how a file was answered for. That it is absent, or may not be read,
// is an answer.
func (o *outages) note(l location, err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.known == nil {
		o.known = map[string]*outage{}
	}
	s := o.known[storeOf(l)]
	if s == nil {
		s = &outage{}
		o.known[storeOf(l)] = s
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		s.answered = true
		return
	}
	s.failures, s.last = s.failures+1, err
}
