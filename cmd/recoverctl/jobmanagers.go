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
	logins  flinkLogins

	mu      sync.Mutex // never held while anything is asked
	clients map[string]*flinkrest.Client
	links   map[string]*link // by address
}

var (
	_ inspect.LiveStore       = (*jobManagers)(nil)
	_ inspect.CheckpointStore = (*jobManagers)(nil)
)

func newJobManagers(logins flinkLogins, timeout time.Duration, c clock.Clock) *jobManagers {
	return &jobManagers{logins: logins, timeout: timeout, clock: c, clients: map[string]*flinkrest.Client{}, links: map[string]*link{}}
}

// Live implements inspect.LiveStore.
func (m *jobManagers) Live(ctx context.Context, ref inspect.JobRef) (inspect.LiveState, error) {
	live, err := m.at(ctx, ref.REST)
	if err != nil {
		return inspect.LiveState{}, err
	}
	state, err := live.Live(ctx, ref)
	m.answered(ref.REST, state.JobID != "", err)
	return state, err
}

// Checkpoint implements inspect.CheckpointStore.
func (m *jobManagers) Checkpoint(ctx context.Context, ref inspect.JobRef, id int64) (inspect.LiveCheckpointDetails, error) {
	live, err := m.at(ctx, ref.REST)
	if err != nil {
		return inspect.LiveCheckpointDetails{}, err
	}
	details, err := live.Checkpoint(ctx, ref, id)
	m.answered(ref.REST, false, err)
	return details, err
}

// at is the JobManager at an address.
func (m *jobManagers) at(ctx context.Context, rest string) (*flink.Live, error) {
	client, err := m.client(ctx, rest)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.links[rest] == nil {
		m.links[rest] = &link{clock: m.clock}
		m.links[rest].trying()
	}
	return flink.NewLive(client, m.clock), nil
}

// client is the connection to an address. A program may be asked for a secret
// before it is made, so that is not done under the lock.
func (m *jobManagers) client(ctx context.Context, rest string) (*flinkrest.Client, error) {
	m.mu.Lock()
	client, known := m.clients[rest]
	m.mu.Unlock()
	if known {
		return client, nil
	}
	options, err := m.logins.options(ctx, rest)
	if err != nil {
		return nil, err
	}
	options.Timeout = m.timeout
	made, err := flinkrest.New(options)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if client, known := m.clients[rest]; known { // another was quicker
		made.Close()
		return client, nil
	}
	m.clients[rest] = made
	return made, nil
}

// answered keeps whether an address answered as a JobManager does, whatever it
// said about the job.
func (m *jobManagers) answered(rest string, read bool, err error) {
	to := m.link(rest)
	if err == nil || read {
		to.up()
		return
	}
	switch fault.KindOf(err) {
	case fault.Cancelled:
		to.back(linkFacts{}) // what it was before the first question: nobody knows
	case fault.NotFound, fault.Usage:
		to.up()
	default:
		to.failed(err)
	}
}

// link is what is known of an address that was asked.
func (m *jobManagers) link(rest string) *link {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.links[rest] == nil {
		m.links[rest] = &link{clock: m.clock}
	}
	return m.links[rest]
}

// connection is the JobManagers' state as the console's header shows it: the
// worst of them.
func (m *jobManagers) connection() tui.Connection {
	m.mu.Lock()
	all := slices.Collect(maps.Values(m.links))
	m.mu.Unlock()
	worst := connIdle
	for _, l := range all {
		if state := l.now().state; worst == connIdle || state == connFailed || worst == connUp {
			worst = state
		}
	}
	return worst.header("flink")
}

func (m *jobManagers) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, client := range m.clients {
		client.Close()
	}
	clear(m.clients)
}
