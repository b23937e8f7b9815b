package main

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flinkrest"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
)

// flinkRef is a job as its JobManager knows it. The name adhoc is nobody's: then
// the only job that has not ended is meant.
func flinkRef(j config.Job) inspect.JobRef {
	name := j.Flink.Job
	if name == "" && j.Name != config.AdHoc {
		name = j.Name
	}
	return inspect.RefOf(j.Flink.REST, name)
}

// jobManagers is a LiveStore that asks each job's own JobManager. A client is
// made when it is first needed.
type jobManagers struct {
	timeout time.Duration // of one request
	clock   clock.Clock

	mu      sync.Mutex // never held while anything is asked
	clients map[string]*flinkrest.Client
	states  map[string]connState // by address, for a header that must not wait
}

var _ inspect.LiveStore = (*jobManagers)(nil)

func newJobManagers(timeout time.Duration, c clock.Clock) *jobManagers {
	return &jobManagers{timeout: timeout, clock: c, clients: map[string]*flinkrest.Client{}, states: map[string]connState{}}
}

// Live implements inspect.LiveStore.
func (m *jobManagers) Live(ctx context.Context, ref inspect.JobRef) (inspect.LiveState, error) {
	live, err := m.at(ref.REST)
	if err != nil {
		return inspect.LiveState{}, err
	}
	state, err := live.Live(ctx, ref)
	m.answered(ref.REST, state.JobID != "", err)
	return state, err
}

// at is the JobManager at an address.
func (m *jobManagers) at(rest string) (*flink.Live, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	client, known := m.clients[rest]
	if !known {
		var err error
		if client, err = flinkrest.New(flinkrest.Options{Address: rest, Timeout: m.timeout}); err != nil {
			return nil, err
		}
		m.clients[rest] = client
	}
	if m.states[rest] == connIdle {
		m.states[rest] = connTrying
	}
	return flink.NewLive(client, m.clock), nil
}

// answered keeps whether an address answered as a JobManager does, whatever it
// said about the job.
func (m *jobManagers) answered(rest string, read bool, err error) {
	state := connUp
	if err != nil && !read {
		switch fault.KindOf(err) {
		case fault.Cancelled: // nobody knows
			return
		case fault.NotFound, fault.Usage:
		default:
			state = connFailed
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.states[rest] = state
}

// connection is the JobManagers' state as the console's header shows it: the
// worst of them.
func (m *jobManagers) connection() tui.Connection {
	m.mu.Lock()
	states := slices.Collect(maps.Values(m.states))
	m.mu.Unlock()
	switch {
	case slices.Contains(states, connFailed):
		return tui.Connection{Name: "flink", State: "FAILED", Tone: theme.Error}
	case slices.Contains(states, connTrying):
		return tui.Connection{Name: "flink", State: "connecting"}
	case slices.Contains(states, connUp):
		return tui.Connection{Name: "flink", State: "ok", Tone: theme.OK}
	default:
		return tui.Connection{Name: "flink", State: "not asked"}
	}
}

func (m *jobManagers) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, client := range m.clients {
		client.Close()
	}
	clear(m.clients)
}
