package arkhubtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/arkhub/artefact"
)

// job is one job with what its nodes really do.
type job struct {
	jobRecord
	spec        arkhub.Spec
	versions    []versionRecord // newest first
	checkpoints []checkpointRecord
	upgrade     *upgradeRecord
	placed      map[string]string         // by task: the node, of the run that goes on
	restored    string                    // what the run was restored from; empty: nothing
	base        uint64                    // records read before the run, by what it was restored from
	reads       map[string]uint64         // by round: records read by then
	stands      []artefact.SourcePosition // where its sources stand still; nil: they read on
	runningFrom time.Time
	lastRound   time.Time
	storeBroken bool
	startFails  string // why the next start fails on every node
}

// SetJob makes a job, or replaces the one of that id as POST /jobs does.
func (h *Hub) SetJob(spec, desired string, nodes ...string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.advance()
	_, err := h.setJob([]byte(spec), desired, nodes)
	return err
}

func (h *Hub) setJob(spec []byte, desired string, nodes []string) (*job, error) {
	var s arkhub.Spec
	if err := json.Unmarshal(spec, &s); err != nil {
		return nil, err
	}
	version, known := s.Version.Get()
	switch {
	case s.ID.Or("") == "":
		return nil, fmt.Errorf("missing field `id`")
	case !known:
		return nil, fmt.Errorf("missing field `version`")
	case len(s.Sources) == 0:
		return nil, noSource
	}
	j := h.job(s.ID.Or(""))
	if j == nil {
		j = &job{jobRecord: jobRecord{ID: s.ID.Or("")}, placed: map[string]string{}, reads: map[string]uint64{}}
		h.jobs = append(h.jobs, j)
	}
	if nodes == nil {
		nodes = []string{}
	}
	j.spec, j.Version, j.SpecJSON, j.NodeIDs = s, version, string(s.Raw), nodes
	j.DesiredState, j.ObservedState, j.Convergence, j.Generation = desired, "validated", "pending", j.Generation+1
	j.CheckpointID, j.LastError, j.Updated = nil, nil, h.now()
	h.keepVersion(j)
	h.effect("job " + j.ID)
	if desired == "running" {
		h.after(poll, func() { h.settle(j) })
	}
	return j, nil
}

// noSource is the hub's own sentence.
const noSource hubSentence = "Configuration error: Job requires at least one executable source"

func (h *Hub) keepVersion(j *job) {
	compiled, err := json.Marshal(h.plan(j))
	if err != nil {
		compiled = nil // a raw description that was read before can be written
	}
	v := versionRecord{JobID: j.ID, Version: j.Version, SpecJSON: j.SpecJSON, PlanJSON: string(compiled), Created: h.now()}
	j.versions = slices.DeleteFunc(j.versions, func(o versionRecord) bool { return o.Version == j.Version })
	j.versions = append(j.versions, v)
	slices.SortFunc(j.versions, func(a, b versionRecord) int { return int(b.Version) - int(a.Version) })
}

func (h *Hub) job(id string) *job {
	for _, j := range h.jobs {
		if j.ID == id {
			return j
		}
	}
	return nil
}

// BreakStore makes a job's rounds fail on their nodes, or lets them succeed again.
func (h *Hub) BreakStore(id string, broken bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.advance()
	h.job(id).storeBroken = broken
}

// FailStarts makes the starts of a job fail; empty: they succeed again.
func (h *Hub) FailStarts(id, why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.job(id).startFails = why
}

// Restored is what a job's current run was restored from; empty: it began cold.
func (h *Hub) Restored(id string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.advance()
	return h.job(id).restored
}

// SetUpgrade puts an active upgrade on a job, as the newest hubs keep them.
func (h *Hub) SetUpgrade(id, upgrade, phase string, from, to uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.job(id).upgrade = &upgradeRecord{ID: upgrade, JobID: id, From: from, To: to, Phase: phase, Created: h.now(), Updated: h.now()}
}

// plan is a job's tasks: each operator as often as the job is parallel.
func (h *Hub) plan(j *job) plan {
	p := plan{Spec: j.spec.Raw}
	parallel, groups := j.spec.Parallelism.Or(1), j.spec.MaxParallelism.Or(128)
	for _, o := range j.spec.Operators {
		for sub := range parallel {
			p.Tasks = append(p.Tasks, plannedTask{
				ID: fmt.Sprintf("%s-%d", o.ID.Or(""), sub), OperatorID: o.ID.Or(""), Subtask: sub,
				Partitions: []taskPartition{{ID: sub, KeyGroup: map[string]uint64{"start": sub * groups / parallel, "end": (sub+1)*groups/parallel - 1}}},
			})
		}
	}
	return p
}

// targets are the nodes that a job may run on.
func (h *Hub) targets(j *job) []string {
	var ids []string
	for _, n := range h.nodes {
		if (len(j.NodeIDs) == 0 || slices.Contains(j.NodeIDs, n.id)) && h.believed(n.id) {
			ids = append(ids, n.id)
		}
	}
	return ids
}

// settle brings a job to what was asked for, by commands to its nodes.
func (h *Hub) settle(j *job) {
	generation := j.Generation
	verb := map[string]string{"running": "job_start", "stopped": "job_stop"}[j.DesiredState]
	targets := h.targets(j)
	if len(targets) == 0 {
		h.after(poll, func() {
			if j.Generation == generation {
				h.settle(j)
			}
		})
		return
	}
	for _, id := range targets {
		o := h.command(j, id, verb, nil)
		h.after(poll, func() {
			if o.State == "superseded" {
				return
			}
			o.Dispatched, o.Finished, o.Progress, o.State = ptr(h.now()), ptr(h.now()), 100, "succeeded"
			if verb == "job_start" && j.startFails != "" {
				o.State, o.Error, o.FailureClass = "failed", &j.startFails, ptr("permanent_execution")
			}
		})
	}
	h.after(poll+poll/2, func() {
		if j.Generation != generation {
			return
		}
		j.Updated = h.now()
		switch {
		case verb == "job_stop":
			j.placed, j.ObservedState, j.Convergence = map[string]string{}, "stopped", "converged"
		case j.startFails != "":
			j.ObservedState, j.LastError = "failed", &j.startFails
		default:
			h.begin(j, targets)
		}
	})
}

// begin is the start of a run: restored from the artefact that the hub selects,
// or cold. Both say converged.
func (h *Hub) begin(j *job, targets []string) {
	j.placed = map[string]string{}
	for i, t := range h.plan(j).Tasks {
		j.placed[t.ID] = targets[i%len(targets)]
	}
	j.restored, j.base = "", 0
	if c := h.selected(j); c != nil {
		j.restored, j.base = c.ID, j.reads[c.ID]
	}
	j.ObservedState, j.Convergence, j.LastError, j.runningFrom, j.lastRound = "running", "converged", nil, h.time(), h.time()
}

// selected is the artefact that a start restores, by the hub's own rule.
func (h *Hub) selected(j *job) *checkpointRecord {
	kind := map[string]string{"latest_savepoint": "savepoint", "fail": ""}[j.spec.Recovery.Or("latest_checkpoint")]
	if j.spec.Recovery.Or("latest_checkpoint") == "latest_checkpoint" {
		kind = "checkpoint"
	}
	var best *checkpointRecord
	for i := range j.checkpoints {
		c := &j.checkpoints[i]
		fits := c.JobVersion == j.Version
		if h.options.Generation == arkhub.GenerationUpgrades {
			fits = c.JobVersion <= j.Version
		}
		if c.Status == "completed" && c.Kind == kind && fits && c.FormatVersion == j.spec.State.FormatVersion.Or(1) && (best == nil || c.Created > best.Created) {
			best = c
		}
	}
	return best
}

// command is one operation of a job on a node.
func (h *Hub) command(j *job, node, verb string, checkpoint *string) *operation {
	o := &operation{
		ID: fmt.Sprintf("hop-%d", h.next()), CommandID: fmt.Sprintf("cmd-%d", h.next()), NodeID: node, Operation: verb, ResourceID: j.ID,
		CheckpointID: checkpoint, Generation: j.Generation, State: "queued", Created: h.now(),
	}
	h.operations = append(h.operations, o)
	return o
}

// jobRoutes answers what is about jobs.
func (h *Hub) jobRoutes(w http.ResponseWriter, r *http.Request, parts []string) bool {
	if parts[0] != "jobs" {
		return false
	}
	if len(parts) == 1 {
		switch r.Method {
		case http.MethodGet:
			records := []jobRecord{}
			for _, j := range slices.Backward(h.jobs) {
				records = append(records, j.jobRecord)
			}
			write(w, http.StatusOK, records)
		case http.MethodPost:
			h.create(w, r)
		default:
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
		return true
	}
	j := h.job(parts[1])
	rest := strings.Join(parts[2:], "/")
	if j == nil && (rest != "checkpoints" && rest != "savepoints" || r.Method != http.MethodGet) {
		if len(parts) == 4 && parts[2] == "upgrades" && r.Method == http.MethodGet {
			return h.upgradeRoute(w, nil, parts[3])
		}
		h.refuse(w, http.StatusNotFound, "job_not_found", "Unknown Job "+parts[1])
		return true
	}
	if r.Method == http.MethodGet {
		return h.readJob(w, j, parts, rest)
	}
	return h.writeJob(w, r, j, parts, rest)
}

func (h *Hub) readJob(w http.ResponseWriter, j *job, parts []string, rest string) bool {
	switch {
	case rest == "", rest == "status":
		write(w, http.StatusOK, j.jobRecord)
	case rest == "detail":
		write(w, http.StatusOK, h.detail(j))
	case rest == "versions":
		write(w, http.StatusOK, j.versions)
	case rest == "plan":
		write(w, http.StatusOK, map[string]any{"job_id": j.ID, "version": j.Version, "plan": h.plan(j)})
	case rest == "checkpoints", rest == "savepoints":
		records := []checkpointRecord{}
		if j != nil {
			records = append(records, j.checkpoints...)
		}
		write(w, http.StatusOK, records)
	case len(parts) == 4 && parts[2] == "upgrades":
		return h.upgradeRoute(w, j, parts[3])
	default:
		return false
	}
	return true
}

func (h *Hub) upgradeRoute(w http.ResponseWriter, j *job, id string) bool {
	switch {
	case h.options.Generation != arkhub.GenerationUpgrades:
		return false
	case j != nil && j.upgrade != nil && j.upgrade.ID == id:
		write(w, http.StatusOK, j.upgrade)
	default:
		h.refuse(w, http.StatusNotFound, "job_upgrade_not_found", "Unknown upgrade "+id)
	}
	return true
}

func (h *Hub) detail(j *job) map[string]any {
	tasks, operations := []map[string]any{}, []operation{}
	targets := h.targets(j)
	p := h.plan(j)
	for i, t := range p.Tasks {
		if len(targets) > 0 {
			id := targets[i%len(targets)]
			tasks = append(tasks, map[string]any{"id": t.ID + ":" + id, "job_id": j.ID, "job_version": j.Version, "task_id": t.ID, "generation": j.Generation, "node_id": id, "state": "queued"})
		}
	}
	for _, o := range slices.Backward(h.operations) {
		if o.ResourceID == j.ID && strings.HasPrefix(o.Operation, "job_") {
			operations = append(operations, *o)
		}
	}
	d := map[string]any{
		"job": j.jobRecord, "plan": p, "tasks": tasks, "nodes": h.nodeRecords(), "operations": operations, "checkpoints": append([]checkpointRecord{}, j.checkpoints...),
		"metrics": map[string]float64{"watermark_lag_ms": 0, "checkpoint_duration_ms": 0, "checkpoint_failures": 0, "recovery_progress": 0, "partition_health": 0, "state_bytes": 0, "task_pressure": 0},
	}
	if h.options.Generation == arkhub.GenerationUpgrades {
		d["active_upgrade"] = nil
		if j.active() {
			d["active_upgrade"] = j.upgrade
		}
		d["metrics"] = map[string]float64{}
	}
	return d
}

func (h *Hub) create(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Spec    json.RawMessage `json:"spec"`
		Desired string          `json:"desired_state"`
		Nodes   []string        `json:"node_ids"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		h.refuse(w, http.StatusBadRequest, "invalid_query", "Failed to parse the request body as JSON")
		return
	}
	j, err := h.setJob(body.Spec, body.Desired, body.Nodes)
	switch {
	case err != nil:
		h.refuse(w, http.StatusBadRequest, "invalid_job_spec", err.Error())
	default:
		write(w, http.StatusAccepted, j.jobRecord)
	}
}

func (h *Hub) writeJob(w http.ResponseWriter, r *http.Request, j *job, parts []string, rest string) bool {
	upgrades := len(parts) >= 5 && parts[2] == "upgrades"
	switch {
	case r.Method == http.MethodPut && rest == "desired-state":
		var body struct {
			State string `json:"state"`
		}
		if json.NewDecoder(r.Body).Decode(&body) != nil || body.State != "running" && body.State != "stopped" {
			h.refuse(w, http.StatusBadRequest, "invalid_job_state", "state must be stopped or running")
			return true
		}
		h.desire(w, j, body.State)
	case r.Method != http.MethodPost:
		return false
	case rest == "actions/start", rest == "actions/restart":
		h.desire(w, j, "running")
	case rest == "actions/stop":
		h.desire(w, j, "stopped")
	case len(parts) == 4 && parts[2] == "actions":
		h.refuse(w, http.StatusBadRequest, "invalid_job_action", "action must be start, stop, or restart")
	case rest == "checkpoints":
		h.trigger(j, "checkpoint", "")
		write(w, http.StatusAccepted, j.jobRecord)
	case rest == "savepoints":
		h.trigger(j, "savepoint", "")
		write(w, http.StatusAccepted, j.jobRecord)
	case rest == "upgrades":
		h.startUpgrade(w, r, j)
	case upgrades && parts[4] == "rollback":
		h.rollback(w, j, parts[3])
	case upgrades && parts[4] == "actions" && h.options.Generation == arkhub.GenerationUpgrades:
		h.upgradeAction(w, r, j, parts[3])
	default:
		return false
	}
	return true
}

// active reports whether an upgrade holds the job.
func (j *job) active() bool {
	return j.upgrade != nil && !slices.Contains([]string{"succeeded", "rolled_back", "aborted", "failed", "cancelled"}, j.upgrade.Phase)
}

func (h *Hub) held(w http.ResponseWriter, j *job) bool {
	if !j.active() {
		return false
	}
	h.refuse(w, http.StatusConflict, "orchestration_in_progress", "An upgrade of this Job is in progress")
	return true
}

func (h *Hub) desire(w http.ResponseWriter, j *job, state string) {
	if h.held(w, j) {
		return
	}
	if j.ObservedState == "validated" {
		j.ObservedState = "stopped"
	}
	j.DesiredState, j.Convergence, j.Generation, j.Updated = state, "reconciling", j.Generation+1, h.now()
	h.effect(map[string]string{"running": "start ", "stopped": "stop "}[state] + j.ID)
	h.after(poll, func() { h.settle(j) })
	write(w, http.StatusOK, j.jobRecord)
}

// startUpgrade is the upgrade of a stopped job to a later version.
func (h *Hub) startUpgrade(w http.ResponseWriter, r *http.Request, j *job) {
	var body struct {
		Spec       json.RawMessage `json:"spec"`
		Generation *uint64         `json:"expected_generation"`
		Savepoint  *string         `json:"savepoint_id"`
	}
	data, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(data, &body)
	}
	for _, f := range []struct { // the first that is missing is told of
		name  string
		there bool
	}{{"expected_generation", body.Generation != nil}, {"savepoint_id", body.Savepoint != nil}} {
		if err != nil || !f.there {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.WriteHeader(http.StatusUnprocessableEntity)
			fmt.Fprintf(w, "Failed to deserialize the JSON body into the target type: missing field `%s` at line 1 column %d", f.name, len(data))
			return
		}
	}
	var s arkhub.Spec
	_ = s.UnmarshalJSON(body.Spec) // never fails
	var savepoint *checkpointRecord
	for i := range j.checkpoints {
		if c := &j.checkpoints[i]; c.ID == *body.Savepoint && c.Kind == "savepoint" && c.Status == "completed" {
			savepoint = c
		}
	}
	switch {
	case h.held(w, j):
	case *body.Generation != j.Generation:
		h.refuse(w, http.StatusConflict, "generation_conflict", "Job changed while the upgrade was being prepared", map[string]uint64{"current": j.Generation, "expected": *body.Generation})
	case s.ID.Or("") != j.ID:
		h.refuse(w, http.StatusBadRequest, "invalid_job_spec", "upgrade spec id must match the Job id")
	case s.Version.Or(0) <= j.Version:
		h.refuse(w, http.StatusBadRequest, "invalid_job_version", "upgrade version must be greater than the current version")
	case j.DesiredState != "stopped" || j.ObservedState != "stopped":
		h.refuse(w, http.StatusConflict, "job_must_be_stopped", "Stop and converge the current Job before upgrading")
	case savepoint == nil:
		h.refuse(w, http.StatusConflict, "savepoint_not_ready", "The selected savepoint is not completed")
	case savepoint.FormatVersion != s.State.FormatVersion.Or(1):
		h.refuse(w, http.StatusConflict, "state_format_incompatible", "The savepoint state format is incompatible with the new Job version")
	default:
		h.change(j, s, body.Savepoint)
		write(w, http.StatusAccepted, map[string]any{"upgrade_id": "upgrade-" + strconv.FormatInt(h.now(), 10), "state": "pending_recovery", "savepoint_id": *body.Savepoint, "job": j.jobRecord})
	}
}

// change replaces a job's version; the job waits for a start.
func (h *Hub) change(j *job, s arkhub.Spec, checkpoint *string) {
	var whole map[string]any
	if json.Unmarshal(s.Raw, &whole) == nil {
		whole["recovery"] = "latest_savepoint" // as both routes do
		if data, err := json.Marshal(whole); err == nil {
			_ = s.UnmarshalJSON(data) // never fails
		}
	}
	j.spec, j.SpecJSON, j.Version, j.CheckpointID = s, string(s.Raw), s.Version.Or(0), checkpoint
	j.DesiredState, j.ObservedState, j.Convergence, j.LastError = "stopped", "stopped", "pending_recovery", nil
	j.Generation, j.Updated = j.Generation+1, h.now()
	h.keepVersion(j)
	h.effect(fmt.Sprintf("version %d %s", j.Version, j.ID))
	generation := j.Generation
	h.after(4*time.Second, func() { // the next report of a node that runs nothing of it
		if j.Generation == generation {
			j.placed, j.Convergence, j.Updated = map[string]string{}, "converged", h.now()
		}
	})
}

// rollback goes to a lower version. The running job is no obstacle to older hubs,
// nor is a format that can't be restored.
func (h *Hub) rollback(w http.ResponseWriter, j *job, id string) {
	newest := h.options.Generation == arkhub.GenerationUpgrades
	if newest && h.held(w, j) {
		return
	}
	named := uint64(0)
	if newest {
		named, _ = strconv.ParseUint(strings.TrimPrefix(strings.TrimPrefix(id, "restore-"), "v"), 10, 64) // any other text names none
	}
	at := slices.IndexFunc(j.versions, func(v versionRecord) bool {
		return v.Version < j.Version && (named == 0 || v.Version == named)
	})
	if at < 0 {
		h.refuse(w, http.StatusConflict, "no_previous_job_version", "No previous Job version is available for recovery")
		return
	}
	var s arkhub.Spec
	_ = s.UnmarshalJSON([]byte(j.versions[at].SpecJSON)) // never fails
	if newest {
		for _, c := range j.checkpoints {
			if j.CheckpointID != nil && c.ID == *j.CheckpointID && c.FormatVersion != s.State.FormatVersion.Or(1) {
				h.refuse(w, http.StatusConflict, "state_format_incompatible", "The artefact's state format is incompatible with the target version")
				return
			}
		}
	}
	keep := j.versions
	h.change(j, s, j.CheckpointID)
	j.versions = keep
	write(w, http.StatusAccepted, j.jobRecord)
}

// upgradeAction is what the newest hubs do with an active upgrade.
func (h *Hub) upgradeAction(w http.ResponseWriter, r *http.Request, j *job, id string) {
	var body struct {
		Action string `json:"action"`
	}
	if json.NewDecoder(r.Body).Decode(&body) != nil || !slices.Contains([]string{"pause", "resume", "cancel", "rollback"}, body.Action) {
		h.refuse(w, http.StatusBadRequest, "invalid_job_upgrade_action", "action must be pause, resume, cancel, or rollback")
		return
	}
	u := j.upgrade
	switch {
	case u == nil || u.ID != id:
		h.refuse(w, http.StatusNotFound, "job_upgrade_not_found", "Unknown upgrade "+id)
		return
	case body.Action == "pause" && j.active() && u.Phase != "paused":
		u.PausedFrom, u.Phase = ptr(u.Phase), "paused"
	case body.Action == "resume" && u.Phase == "paused":
		u.Phase, u.PausedFrom = *u.PausedFrom, nil
	case body.Action == "cancel" && j.active():
		u.Phase, u.LastError = "cancelled", ptr("cancelled by operator")
	case body.Action == "rollback" && (u.Phase == "verifying" || u.PausedFrom != nil && *u.PausedFrom == "verifying"):
		u.Phase, u.PausedFrom = "rolling_back", nil
	default:
		h.refuse(w, http.StatusConflict, "job_upgrade_action_rejected", "The upgrade does not accept "+body.Action+" in phase "+u.Phase)
		return
	}
	u.Updated = h.now()
	h.effect("upgrade " + body.Action + " " + j.ID)
	write(w, http.StatusOK, u)
}

// hubSentence is an error in the hub's words.
type hubSentence string

func (s hubSentence) Error() string { return string(s) }
