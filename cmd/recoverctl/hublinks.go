package main

import (
	"slices"
	"sync"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui"
	views "github.com/recoverctl/recoverctl/views/connections"
)

// hubLinks are what is known of the ArkFlow hubs of a profile, for screens that must
// not wait.
type hubLinks struct {
	clock clock.Clock

	mu    sync.Mutex
	links map[string]*link // by address
}

func newHubLinks(c clock.Clock) *hubLinks { return &hubLinks{clock: c, links: map[string]*link{}} }

// link is what is known of a hub.
func (h *hubLinks) link(address string) *link {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.links[address] == nil {
		h.links[address] = &link{clock: h.clock}
	}
	return h.links[address]
}

// answered keeps whether a hub answered as one does. Heard: it did, and the error is
// about something beside it.
func (h *hubLinks) answered(address string, heard bool, err error) {
	to := h.link(address)
	switch {
	case heard || err == nil:
		to.up()
	case fault.KindOf(err) == fault.Cancelled: // nobody knows
	case fault.KindOf(err) == fault.NotFound:
		to.up()
	default:
		to.failed(err)
	}
}

// connections are the hubs' state as the console's header shows it, the worst of
// them; nothing where the profile has none.
func (h *hubLinks) connections(jobs []config.Job) []tui.Connection {
	worst, has := connIdle, false
	for _, j := range jobs {
		if j.ArkFlow.Hub == "" {
			continue
		}
		has = true
		if state := h.link(j.ArkFlow.Hub).now().state; worst == connIdle || state == connFailed {
			worst = state
		}
	}
	if !has {
		return nil
	}
	return []tui.Connection{worst.header("hub")}
}

// list are the hubs and the logs of a profile's jobs, each hub once.
func (h *hubLinks) list(jobs []config.Job, known func(kind, address, about string, f linkFacts) views.Connection) []views.Connection {
	var all []views.Connection
	told := map[string]bool{}
	for _, j := range jobs {
		if hub := j.ArkFlow.Hub; hub != "" && !told[hub] {
			told[hub] = true
			all = append(all, known("arkflow", hub, "", h.link(hub).now()))
		}
		if j.ArkFlow.WAL != "" {
			all = append(all, views.Connection{Kind: "write-ahead log", Address: j.ArkFlow.WAL, For: "job " + j.Name, State: "configured"})
		}
	}
	return all
}

// onArkFlowAlone reports whether a profile has nothing but jobs of ArkFlow: then it has
// no brokers to miss.
func onArkFlowAlone(p config.Profile) bool {
	return len(p.Jobs) > 0 && len(p.Kafka.Brokers) == 0 && !slices.ContainsFunc(p.Jobs, func(j config.Job) bool { return !isArkFlow(j) })
}

// sources are where action state is read from, and the hubs, as the console's header
// shows them.
func (c connections) sources(p config.Profile) []tui.Connection {
	if onArkFlowAlone(p) {
		return c.hubs.connections(p.Jobs)
	}
	return append(c.logConnections(), c.hubs.connections(p.Jobs)...)
}
