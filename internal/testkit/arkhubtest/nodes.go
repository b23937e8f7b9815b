package arkhubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// node is an engine: a name with a lease.
type node struct {
	id          string
	dead        bool
	seen        time.Time // when it died
	maintenance string
}

// stream is one stream of a node.
type stream struct {
	node, id  string
	state     string
	failure   string // why it failed
	started   int64
	desired   *arkhubDesired
	input     uint64
	outputBad uint64
}

type arkhubDesired struct {
	State         string  `json:"state"`
	Generation    uint64  `json:"generation"`
	ConfigVersion *string `json:"config_version"`
	ActionID      *string `json:"action_id"`
}

// keyed is what an idempotency key was used for.
type keyed struct {
	request string
	answer  map[string]any
}

// AddNode adds a node that is online.
func (h *Hub) AddNode(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.nodes = append(h.nodes, &node{id: id, maintenance: "active"})
}

// Kill ends a node's process: its lease runs out, and nobody says so before.
func (h *Hub) Kill(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.advance()
	for _, n := range h.nodes {
		if n.id == id {
			n.dead, n.seen = true, h.time()
		}
	}
}

// AddStream adds a stream in a state, with why it failed where it did.
func (h *Hub) AddStream(node, id, state, failure string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.streams = append(h.streams, &stream{node: node, id: id, state: state, failure: failure, started: h.now()})
}

// Configure sets what a node's configuration route answers.
func (h *Hub) Configure(node, config string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.configs[node] = json.RawMessage(config)
}

// Restart ends the hub's process and starts another on the same database: its
// counters begin anew, and writes to streams collide with old rows.
func (h *Hub) Restart() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.restarted = true
}

func (h *Hub) state(n *node) string {
	if n.dead && h.time().Sub(n.seen) > lease {
		return "stale"
	}
	return "online"
}

// believed reports whether the hub sends commands to a node: a lease that has not
// run out is all that it knows.
func (h *Hub) believed(id string) bool {
	return slices.ContainsFunc(h.nodes, func(n *node) bool {
		return n.id == id && h.state(n) == "online" && n.maintenance == "active"
	})
}

// takes reports whether a node does what it is told.
func (h *Hub) takes(id string) bool {
	return h.believed(id) && !slices.ContainsFunc(h.nodes, func(n *node) bool { return n.id == id && n.dead })
}

func (h *Hub) nodeRecords() []nodeRecord {
	var all []nodeRecord
	for _, n := range h.nodes {
		seen := h.time()
		if n.dead {
			seen = n.seen
		}
		r := nodeRecord{
			ID: n.id, ProtocolVersion: "v1", Version: "0.5.0", State: h.state(n), Maintenance: n.maintenance,
			Capabilities: []string{"stream_lifecycle", "configuration", "metrics", "job_runtime", "state_backend", "checkpoint_recovery"},
			LastSeen:     seen.UnixMilli(), LeaseExpires: seen.Add(lease).UnixMilli(),
		}
		for _, s := range h.streams {
			if s.node == n.id {
				r.StreamsTotal++
				switch s.state {
				case "running":
					r.StreamsRunning++
				case "failed":
					r.StreamsFailed++
				}
			}
		}
		all = append(all, r)
	}
	return all
}

// record is a stream's status: what it says of its intent is never true.
func (h *Hub) record(s *stream, single bool) map[string]any {
	r := map[string]any{
		"id": s.id, "node_id": s.node, "state": s.state, "desired_state": "stopped", "desired_generation": 0, "desired_config_version": nil,
		"observed_generation": nil, "observed_config_version": nil, "convergence": "in_sync", "intent_id": nil, "attempt_id": nil,
		"last_completed_action_id": nil, "retry_count": 0, "next_retry_at_ms": nil, "transition_started_at_ms": s.started,
		"active_operation_id": nil, "started_at_ms": s.started, "last_error": nil,
		"metrics": map[string]any{
			"input_batches": s.input, "input_messages": s.input, "processing_errors": 0, "output_batches": s.input, "output_messages": s.input,
			"input_errors": 0, "input_reconnects": 0, "output_errors": s.outputBad, "restarts": 0,
		},
	}
	if s.failure != "" {
		r["last_error"] = map[string]any{"occurred_at_ms": s.started, "stage": "runtime", "message": s.failure}
	}
	if single && s.desired != nil {
		r["desired"], r["generation"] = s.desired, s.desired.Generation
	}
	return r
}

// streamRoutes answers what is about nodes and streams.
func (h *Hub) streamRoutes(w http.ResponseWriter, r *http.Request, parts []string) bool {
	switch {
	case r.Method == http.MethodGet && len(parts) == 1 && parts[0] == "streams":
		var some []map[string]any
		for _, s := range h.streams {
			if matches(r.URL.Query().Get("node_id"), s.node) {
				some = append(some, h.record(s, false))
			}
		}
		page(h, w, r, some)
	case len(parts) == 3 && parts[0] == "nodes" && parts[2] == "configuration" && r.Method == http.MethodGet:
		config, is := h.configs[parts[1]]
		if !is {
			h.refuse(w, http.StatusNotFound, "node_configuration_unavailable", "Node configuration is unavailable")
			return true
		}
		write(w, http.StatusOK, config)
	case len(parts) == 4 && parts[0] == "nodes" && parts[2] == "streams" && r.Method == http.MethodGet:
		if s := h.stream(parts[1], parts[3]); s != nil {
			write(w, http.StatusOK, h.record(s, true))
			return true
		}
		h.refuse(w, http.StatusNotFound, "stream_not_found", "Unknown stream "+parts[1]+"/"+parts[3])
	case len(parts) >= 5 && parts[0] == "nodes" && parts[2] == "streams" && (r.Method == http.MethodPost || r.Method == http.MethodPut):
		h.mutate(w, r, parts[1], parts[3], parts[4:])
	default:
		return false
	}
	return true
}

func (h *Hub) stream(node, id string) *stream {
	for _, s := range h.streams {
		if s.node == node && s.id == id {
			return s
		}
	}
	return nil
}

// mutate takes an intent for a stream.
func (h *Hub) mutate(w http.ResponseWriter, r *http.Request, nodeID, id string, rest []string) {
	var body struct {
		State    string `json:"state"`
		ActionID string `json:"action_id"`
	}
	if r.ContentLength > 0 && json.NewDecoder(r.Body).Decode(&body) != nil {
		h.refuse(w, http.StatusBadRequest, "invalid_query", "Failed to parse the request body as JSON")
		return
	}
	verb := strings.Join(rest, "/")
	want := ""
	switch {
	case verb == "desired-state" && (body.State == "running" || body.State == "stopped"):
		want = body.State
	case verb == "desired-state":
		h.refuse(w, http.StatusUnprocessableEntity, "validation_failed", "state must be running or stopped")
		return
	case verb == "stop":
		want = "stopped"
	case verb == "start", verb == "restart", verb == "actions/restart":
		want = "running"
	default:
		h.refuse(w, http.StatusBadRequest, "invalid_operation", "Unsupported node operation")
		return
	}
	s := h.stream(nodeID, id)
	if h.options.NoStorage && (s == nil || !h.takes(nodeID)) {
		h.refuse(w, http.StatusConflict, "node_unavailable", "Target node is stale or offline")
		return
	}
	if s == nil {
		s = &stream{node: nodeID, id: id, state: "unknown", started: h.now()}
		h.streams = append(h.streams, s)
	}
	request := r.Method + " " + verb + " " + want + " " + body.ActionID
	key := nodeID + "/" + id + "/" + r.Header.Get("Idempotency-Key")
	if used, is := h.keys[key]; is && r.Header.Get("Idempotency-Key") != "" {
		if used.request != request {
			h.refuse(w, http.StatusConflict, "idempotency_key_reused", "Idempotency-Key was already used for a different mutation")
			return
		}
		h.accept(w, used.answer)
		return
	}
	current := uint64(0)
	if s.desired != nil {
		current = s.desired.Generation
	}
	if match, is := strings.CutPrefix(r.Header.Get("If-Match"), `"generation-`); is {
		if expected, err := strconv.ParseUint(strings.TrimSuffix(match, `"`), 10, 64); err == nil && expected != current {
			h.refuse(w, http.StatusPreconditionFailed, "generation_conflict", fmt.Sprintf("Expected generation %d, current generation %d", expected, current))
			return
		}
	}
	s.desired = &arkhubDesired{State: want, Generation: current + 1}
	var action any
	if body.ActionID != "" {
		s.desired.ActionID, action = &body.ActionID, body.ActionID
	}
	intent := fmt.Sprintf("intent-%d-%d", current+1, h.next())
	for _, o := range h.operations {
		if o.IntentID != nil && o.NodeID == nodeID && o.ResourceID == id && o.Finished == nil {
			o.State, o.IntentState, o.SupersededByIntent, o.SupersededGeneration = "superseded", ptr("superseded"), &intent, ptr(current+1)
		}
	}
	o := &operation{
		ID: intent, IntentID: &intent, CommandID: "intent:" + intent, NodeID: nodeID, Operation: "reconcile", ResourceID: id, Generation: current + 1,
		State: "queued", Created: h.now(), IntentState: ptr("accepted"), ConvergenceState: ptr("pending"), ObservedState: ptr(s.state),
	}
	h.operations = append(h.operations, o)
	answer := map[string]any{
		"operation_id": intent, "intent_id": intent, "node_id": nodeID, "stream_id": id, "generation": current + 1, "desired_state": want,
		"config_version": nil, "action_id": action, "intent_state": "accepted", "convergence": "pending",
	}
	if r.Header.Get("Idempotency-Key") != "" {
		h.keys[key] = keyed{request, answer}
	}
	h.effect(want + " " + nodeID + "/" + id)
	audited := "set_state"
	if verb == "actions/restart" {
		audited = "restart"
	}
	h.auditStream(w, audited, nodeID, id)
	if h.restarted {
		h.degraded, h.failedAt = true, h.time()
	} else {
		restart := verb == "restart" || verb == "actions/restart"
		h.after(poll, func() { h.attempt(o, s, want, restart) })
	}
	h.accept(w, answer)
}

func (h *Hub) accept(w http.ResponseWriter, answer map[string]any) {
	w.Header().Set("Location", fmt.Sprintf("/api/v1/operations/%v", answer["operation_id"]))
	w.Header().Set("ETag", fmt.Sprintf(`"generation-%v"`, answer["generation"]))
	write(w, http.StatusAccepted, answer)
}

// attempt is what a node makes of an intent. None ever converges.
func (h *Hub) attempt(o *operation, s *stream, want string, restart bool) {
	if o.State != "queued" || !h.takes(o.NodeID) {
		return
	}
	o.Operation, o.AttemptID = map[string]string{"running": "start", "stopped": "stop"}[want], ptr(fmt.Sprintf("attempt-%d", h.next()))
	o.CommandID = fmt.Sprintf("cmd-%d", h.next())
	o.Dispatched, o.Acknowledged, o.Finished, o.Progress = ptr(h.now()), ptr(h.now()), ptr(h.now()), 100
	if want == "running" && s.state == "running" && !restart {
		o.State, o.FailureClass = "failed", ptr("permanent_execution")
		o.Error = ptr("Configuration error: Stream runtime '" + s.id + "' is already transitioning or running")
		return
	}
	o.State = "succeeded"
	s.state = want
	if want == "running" {
		s.started, s.failure = h.now(), ""
	}
	o.ObservedState = ptr(s.state)
	h.event(s.node, "observed_report", s.id, s.state)
}

func (h *Hub) event(node, kind, stream, outcome string) {
	h.events = append(h.events, event{ID: len(h.events) + 1, NodeID: node, Occurred: h.now(), Type: kind, StreamID: ptr(stream), Outcome: outcome})
}

func (h *Hub) auditStream(w http.ResponseWriter, action, node, stream string) {
	h.audit = append(h.audit, auditRecord{
		ID: len(h.audit) + 1, Actor: "operator", Action: action, ResourceType: "stream", ResourceID: node + ":" + stream, NodeID: &node, StreamID: &stream,
		CorrelationID: w.Header().Get("X-Correlation-ID"), Outcome: "accepted", Occurred: h.now(),
	})
}
