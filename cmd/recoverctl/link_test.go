package main

import (
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/clock"
)

// One of two reads that began at the same time was given up: what the other has learned
// stays.
func TestAReadThatIsGivenUpBesideAnother(t *testing.T) {
	l := link{clock: clock.NewFake(time.Unix(0, 0))}
	l.trying()
	second := l.now()
	l.trying()
	l.up()
	l.back(second)
	if state := l.now().state; state != connUp {
		t.Errorf("state %d, want %d", state, connUp)
	}
	before := l.now()
	l.trying()
	l.back(before)
	if state := l.now().state; state != connUp {
		t.Errorf("state %d after one that was given up, want %d", state, connUp)
	}
}
