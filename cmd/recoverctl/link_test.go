package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
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

// The first question to a JobManager may be given up: then nothing is under way.
func TestAJobManagerThatIsGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	m := newJobManagers(flinkLogins{}, time.Minute, clock.System{})
	t.Cleanup(m.close)
	if _, err := m.Live(ctx, inspect.JobRef{REST: server.URL, Name: "orders"}); fault.KindOf(err) != fault.Cancelled {
		t.Error(err)
	}
	if got := m.connection().State; got != "not asked" {
		t.Errorf("flink %s, and nobody knows", got)
	}
}
