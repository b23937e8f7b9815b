package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// signals is how the process is asked to end. The first signal ends the context
// of the command that runs, unless that command has taken the signals: an apply
// stops where it is safe, and nowhere else.
type signals struct {
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	taken func(os.Signal) // nil: nobody has
}

// watchSignals listens for SIGINT, SIGTERM and SIGHUP until stop is called.
func watchSignals(parent context.Context) (ctx context.Context, s *signals, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	s = &signals{cancel: cancel}
	arrived := listen(s.deliver, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	return ctx, s, func() {
		arrived()
		cancel(nil)
	}
}

func (s *signals) deliver(sig os.Signal) {
	s.mu.Lock()
	taken := s.taken
	s.mu.Unlock()
	if taken != nil {
		taken(sig)
		return
	}
	s.cancel(fmt.Errorf("%s signal received", sig))
}

// take gives every signal to handle until giveBack is called, also that of
// ctrl-z, which would leave an apply standing in the middle. Handle returns
// quickly. Meanwhile an output that nobody reads any more ends nothing.
func (s *signals) take(handle func(os.Signal)) (giveBack func()) {
	if s == nil {
		return func() {}
	}
	s.mu.Lock()
	s.taken = handle
	s.mu.Unlock()
	stop := listen(func(sig os.Signal) {
		if sig != syscall.SIGPIPE {
			handle(sig)
		}
	}, syscall.SIGPIPE, syscall.SIGTSTP)
	return func() {
		stop()
		s.mu.Lock()
		s.taken = nil
		s.mu.Unlock()
	}
}

// listen gives signals to handle, one after another, until stop is called.
func listen(handle func(os.Signal), sigs ...os.Signal) (stop func()) {
	const waiting = 16 // what comes faster than it is handled may be lost, as signals are
	arrived, done := make(chan os.Signal, waiting), make(chan struct{})
	signal.Notify(arrived, sigs...)
	go func() {
		for {
			select {
			case sig := <-arrived:
				handle(sig)
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(arrived)
		close(done)
	}
}
