package arkhubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/clock"
)

// The hub's own times.
const (
	lease = 15 * time.Second
	poll  = time.Second // between a command and the node that takes it
)

// Options say what kind of hub it is. The zero Options are one with jobs, without
// a token, on the machine's clock.
type Options struct {
	Generation arkhub.Generation // zero: GenerationJobs
	Token      string            // of an admin; empty: everybody is one
	Viewer     string            // token of a viewer; empty: none
	Clock      clock.Clock       // nil: the machine's
	NoStorage  bool              // jobs in memory, no audit, no status
}

// Hub is a hub. It may be used by several goroutines.
type Hub struct {
	options Options
	clock   clock.Clock

	mu       sync.Mutex
	requests []Request
	faults   []Fault
	asked    int // requests, by which they are numbered
	serial   int // of commands, operations, intents and attempts
	due      []due
	moment   time.Time // of what happens now; zero: the clock's

	nodes      []*node
	streams    []*stream
	configs    map[string]json.RawMessage // by node
	jobs       []*job
	operations []*operation // newest last
	events     []event
	audit      []auditRecord
	keys       map[string]keyed // idempotency keys, by node, stream and key
	restarted  bool             // the process is a second one on its database
	degraded   bool             // a reconciliation failed since
	failedAt   time.Time
	effects    []string
}

// due is something that happens once its time has come.
type due struct {
	at time.Time
	do func()
}

// Request is one that was answered or broken.
type Request struct{ Method, Path, Key string }

// New makes a hub with nothing in it.
func New(o Options) *Hub {
	if o.Generation == arkhub.GenerationUnknown {
		o.Generation = arkhub.GenerationJobs
	}
	if o.Clock == nil {
		o.Clock = clock.System{}
	}
	return &Hub{options: o, clock: o.Clock, keys: map[string]keyed{}, configs: map[string]json.RawMessage{}}
}

// Start serves the hub on a port of this machine until the test ends.
func (h *Hub) Start(tb interface{ Cleanup(func()) }) (address string) {
	server := httptest.NewServer(h)
	tb.Cleanup(server.Close)
	return server.URL
}

// Requests are those that came so far.
func (h *Hub) Requests() []Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.requests)
}

// Effects are the writes that changed something, in their order, as in
// "checkpoint orders-count".
func (h *Hub) Effects() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.effects)
}

func (h *Hub) effect(what string) { h.effects = append(h.effects, what) }

// ServeHTTP answers one request, through the faults in front.
func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	h.asked++
	h.requests = append(h.requests, Request{r.Method, r.URL.Path, r.Header.Get("Idempotency-Key")})
	faults := slices.Clone(h.faults)
	number := h.asked
	h.mu.Unlock()
	w.Header().Set("X-Correlation-ID", fmt.Sprintf("req-%d", number))
	if id := r.Header.Get("X-Correlation-ID"); id != "" {
		w.Header().Set("X-Correlation-ID", id)
	}
	whole := http.HandlerFunc(h.answer)
	for _, f := range faults {
		if f(w, r, whole) {
			return
		}
	}
	whole(w, r)
}

// answer is the hub without faults. What is due by now happens first.
func (h *Hub) answer(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.advance()
	h.route(w, r)
}

// route answers one request at the moment that is now.
func (h *Hub) route(w http.ResponseWriter, r *http.Request) {
	path, under := strings.CutPrefix(r.URL.Path, arkhub.Prefix)
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if !under {
		h.probes(w, r, parts)
		return
	}
	if !h.authorised(w, r) {
		return
	}
	handled := h.general(w, r, parts) || h.streamRoutes(w, r, parts)
	if !handled && h.options.Generation.HasJobs() {
		handled = h.jobRoutes(w, r, parts)
	}
	if !handled {
		w.WriteHeader(http.StatusNotFound) // with nothing, as real ones do
	}
}

// advance lets happen what is due, in its order; what happens may make other
// things due.
func (h *Hub) advance() {
	now := h.time()
	for {
		at := -1
		for i, d := range h.due {
			if !d.at.After(now) && (at < 0 || d.at.Before(h.due[at].at)) {
				at = i
			}
		}
		if at < 0 {
			break
		}
		d := h.due[at]
		h.due = slices.Delete(h.due, at, at+1)
		h.moment = d.at
		d.do()
		h.moment = time.Time{}
	}
	for _, j := range h.jobs {
		h.periodic(j, now)
	}
}

// time is the moment at which something happens: its own where it was due before.
func (h *Hub) time() time.Time {
	if !h.moment.IsZero() {
		return h.moment
	}
	return h.clock.Now()
}

func (h *Hub) after(d time.Duration, do func()) {
	h.due = append(h.due, due{h.time().Add(d), do})
}

func (h *Hub) now() int64 { return h.time().UnixMilli() }

func (h *Hub) next() int { h.serial++; return h.serial }

// authorised checks the token and, for writes, the role.
func (h *Hub) authorised(w http.ResponseWriter, r *http.Request) bool {
	if h.options.Token == "" {
		return true
	}
	token, is := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case is && token == h.options.Token:
		return true
	case is && token == h.options.Viewer && token != "":
		if r.Method == http.MethodGet {
			return true
		}
		h.refuse(w, http.StatusForbidden, "forbidden", "Operator is not authorized for Operate")
		return false
	}
	h.refuse(w, http.StatusUnauthorized, "unauthorized", "A valid operator token is required")
	return false
}

// refuse writes an error as hubs do.
func (h *Hub) refuse(w http.ResponseWriter, status int, code, message string, details ...any) {
	body := map[string]any{"code": code, "message": message, "correlation_id": w.Header().Get("X-Correlation-ID")}
	if len(details) > 0 {
		body["details"] = details[0]
	}
	write(w, status, body)
}

func write(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // the client may have left
}

// page writes a part of a list as the query asks.
func page[T any](h *Hub, w http.ResponseWriter, r *http.Request, items []T) {
	number, size := 1, 50
	for name, to := range map[string]*int{"page": &number, "page_size": &size} {
		if text := r.URL.Query().Get(name); text != "" {
			if _, err := fmt.Sscanf(text, "%d", to); err != nil || *to < 1 {
				h.refuse(w, http.StatusBadRequest, "invalid_query", "Failed to deserialize query string")
				return
			}
		}
	}
	size = min(size, 100)
	from := min((number-1)*size, len(items))
	part := append([]T{}, items[from:min(from+size, len(items))]...)
	write(w, http.StatusOK, map[string]any{"items": part, "page": number, "page_size": size, "total": len(items)})
}

// probes answers the routes that need no token.
func (h *Hub) probes(w http.ResponseWriter, r *http.Request, parts []string) {
	if r.Method != http.MethodGet || len(parts) != 1 {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	ready := !h.options.NoStorage
	status := http.StatusOK
	if !ready {
		status = http.StatusServiceUnavailable
	}
	switch parts[0] {
	case "health":
		word := "healthy"
		if h.unwell() || !ready {
			word = "degraded"
		}
		write(w, status, map[string]any{"status": word, "nodes": len(h.nodes), "ready": ready})
	case "readiness":
		if ready {
			write(w, status, map[string]any{"status": "ready", "ready": true})
			return
		}
		write(w, status, map[string]any{"status": "not_ready", "ready": false, "reason": "storage_unavailable"})
	case "liveness":
		write(w, http.StatusOK, map[string]any{"status": "alive", "alive": true})
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// unwell is what makes a hub call itself degraded.
func (h *Hub) unwell() bool {
	return h.degraded || slices.ContainsFunc(h.nodes, func(n *node) bool { return h.state(n) != "online" })
}

// general answers what is neither about a stream nor a job.
func (h *Hub) general(w http.ResponseWriter, r *http.Request, parts []string) bool {
	if r.Method != http.MethodGet {
		return false
	}
	q := r.URL.Query()
	switch strings.Join(parts, "/") {
	case "system":
		id, capabilities := arkhub.HubID, []string{"node_registry", "command_dispatch", "fleet_aggregation"}
		if h.options.Generation == arkhub.GenerationNodeLocal {
			id, capabilities = arkhub.NodeLocalID, []string{"single_node", "stream_lifecycle"}
		}
		online := 0
		for _, n := range h.nodes {
			if h.state(n) == "online" {
				online++
			}
		}
		write(w, http.StatusOK, map[string]any{"id": id, "version": "0.5.0", "state": "running", "node_count": len(h.nodes), "online_nodes": online, "capabilities": capabilities})
	case "nodes":
		page(h, w, r, h.nodeRecords())
	case "events":
		var some []event
		for _, e := range slices.Backward(h.events) {
			if matches(q.Get("node_id"), e.NodeID) && matches(q.Get("event_type"), e.Type) && (q.Get("stream_id") == "" || e.StreamID != nil && *e.StreamID == q.Get("stream_id")) {
				some = append(some, e)
			}
		}
		page(h, w, r, some)
	case "events/stream":
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
	case "audit":
		if h.options.NoStorage {
			h.refuse(w, http.StatusBadRequest, "agent_request_rejected", "durable storage is unavailable")
			return true
		}
		var some []auditRecord
		for _, a := range slices.Backward(h.audit) {
			if matches(q.Get("resource_id"), a.ResourceID) {
				some = append(some, a)
			}
		}
		page(h, w, r, some)
	case "operations":
		var some []operation
		for _, o := range slices.Backward(h.operations) {
			if matches(q.Get("node_id"), o.NodeID) && matches(q.Get("resource_id"), o.ResourceID) && matches(q.Get("operation"), o.Operation) {
				some = append(some, *o)
			}
		}
		page(h, w, r, some)
	case "operations/status":
		h.status(w)
	default:
		if len(parts) == 2 && parts[0] == "operations" {
			for _, o := range h.operations {
				if o.ID == parts[1] {
					write(w, http.StatusOK, *o)
					return true
				}
			}
			h.refuse(w, http.StatusNotFound, "operation_not_found", "Unknown operation "+parts[1])
			return true
		}
		return false
	}
	return true
}

func matches(filter, value string) bool { return filter == "" || filter == value }

// status is the hub's word on its reconciliation.
func (h *Hub) status(w http.ResponseWriter) {
	if h.options.NoStorage {
		h.refuse(w, http.StatusBadRequest, "agent_request_rejected", "durable storage is unavailable")
		return
	}
	count := func(of func(*operation) *string) map[string]int {
		counts := map[string]int{}
		for _, o := range h.operations {
			if word := of(o); o.IntentID != nil && word != nil {
				counts[*word]++
			}
		}
		return counts
	}
	stale, claimed := 0, 0
	nodes := map[string]int{}
	for _, n := range h.nodes {
		nodes[h.state(n)]++
		if h.state(n) == "stale" {
			stale++
		}
	}
	word := "healthy"
	if h.unwell() {
		word = "degraded"
	}
	loop := map[string]any{"state": "healthy", "runs_total": h.asked, "failures_total": 0, "last_success_at_ms": h.now(), "last_error_at_ms": nil, "last_duration_ms": 0, "last_failure_class": nil}
	if h.degraded {
		claimed = 2
		loop["state"], loop["failures_total"], loop["last_error_at_ms"] = "degraded", 1, h.failedAt.UnixMilli()
	}
	write(w, http.StatusOK, map[string]any{
		"status": word, "ready": true, "recovered": true, "storage_ready": true, "reconciliation": loop, "node_states": nodes,
		"intent_states":      count(func(o *operation) *string { return o.IntentState }),
		"convergence_states": count(func(o *operation) *string { return o.ConvergenceState }),
		"attempt_states":     count(func(o *operation) *string { return &o.State }),
		"outbox_pending":     claimed, "outbox_claimed": claimed, "stale_nodes": stale, "active_attempts": 0, "non_terminal_intents": 0, "oldest_pending_age_seconds": nil,
	})
}
