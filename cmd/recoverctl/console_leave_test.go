package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/views/apply"
)

// endless is a run that goes on until it is told to stop.
type endless struct {
	apply.Run
	done chan struct{}
}

func (e endless) Snapshot() actions.Snapshot { return actions.Snapshot{} }
func (e endless) Changed() <-chan struct{}   { return nil }
func (e endless) Done() <-chan struct{}      { return e.done }
func (e endless) Stop()                      { close(e.done) }

func (e endless) Wait() (actions.ApplyResult, error) {
	<-e.done
	return actions.ApplyResult{Verdict: actions.NotStarted}, fault.New(fault.Cancelled, "apply", "stopped")
}

// A console that is left while an approved apply is just being started waits for that,
// stops it where it is safe and says what has become of it. Nothing is started after.
func TestAConsoleThatIsLeftWhileAnApplyIsStarted(t *testing.T) {
	current := apply.NewCurrent()
	if err := current.Reserve("cleanup 3f9c21aa"); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	left := make(chan error, 1)
	go func() { left <- (&app{streams: streams{err: &said}}).waitForApply(current) }()
	select {
	case err := <-left:
		t.Fatalf("it is left: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	released := false
	current.Follow(endless{done: make(chan struct{})}, "cleanup 3f9c21aa", false, func() error { released = true; return nil })
	if err := <-left; fault.KindOf(err) != fault.Cancelled || !released {
		t.Errorf("%v; its lock was given back: %t", err, released)
	}
	for _, word := range []string{"cleanup 3f9c21aa is stopping at the next safe place", "cleanup 3f9c21aa has ended: not-started"} {
		if !strings.Contains(said.String(), word) {
			t.Errorf("it does not say %q: %s", word, said.String())
		}
	}
	if err := current.Reserve("cleanup 00000000"); fault.KindOf(err) != fault.Busy || current.Busy() == "" {
		t.Errorf("another one can be started: %v", err)
	}
}

// Where it came to nothing, nothing is waited for.
func TestAConsoleThatIsLeftWhileAnApplyIsRefused(t *testing.T) {
	current := apply.NewCurrent()
	if err := current.Reserve("cleanup 3f9c21aa"); err != nil {
		t.Fatal(err)
	}
	left := make(chan error, 1)
	go func() { left <- (&app{}).waitForApply(current) }()
	current.Forget()
	if err := <-left; err != nil {
		t.Error(err)
	}
}
