package arkhub

// The words of the API that rules depend on. Every list is open: a hub may say
// others.
const (
	StateRunning    = "running"
	StateStopped    = "stopped"
	StateFailed     = "failed"
	StateRecovering = "recovering"

	NodeOnline  = "online"
	NodeStale   = "stale"
	NodeOffline = "offline"

	KindCheckpoint = "checkpoint"
	KindSavepoint  = "savepoint"

	RoundPending   = "pending"
	RoundCompleted = "completed"
	RoundFailed    = "failed"

	ConvergencePendingRecovery = "pending_recovery"
)

// System says who answers.
type System struct {
	ID           Text           `json:"id"` // HubID or NodeLocalID
	Version      Text           `json:"version"`
	State        Text           `json:"state"`
	NodeCount    Count          `json:"node_count"`
	OnlineNodes  Count          `json:"online_nodes"`
	Capabilities Fact[[]string] `json:"capabilities"`
}

// What a hub and a single engine call themselves.
const (
	HubID       = "arkflow-control-hub"
	NodeLocalID = "arkflow-control-plane"
)

// Health is the answer of the unprotected probes.
type Health struct {
	Status Text  `json:"status"`
	Ready  Flag  `json:"ready"`
	Nodes  Count `json:"nodes"`
	Reason Text  `json:"reason"`
	Alive  Flag  `json:"alive"`
}

// Node is one engine as the hub knows it.
type Node struct {
	ID              string         `json:"id"`
	ProtocolVersion Text           `json:"protocol_version"`
	Version         Text           `json:"version"`
	State           Text           `json:"state"` // online, stale, offline, draining
	Capabilities    Fact[[]string] `json:"capabilities"`
	LastSeen        Moment         `json:"last_seen_at_ms"`
	LeaseExpires    Moment         `json:"lease_expires_at_ms"`
	StreamsTotal    Count          `json:"streams_total"`
	StreamsRunning  Count          `json:"streams_running"`
	StreamsFailed   Count          `json:"streams_failed"`
	Maintenance     Text           `json:"maintenance_state"` // active, draining, maintenance
	DataAddress     Text           `json:"data_address"`
	Role            Text           `json:"role"`
	UptimeSeconds   Count          `json:"uptime_seconds"`
}

func (n Node) key() string { return n.ID }

// Stream is one stream's observed status. Of what it says about its intent
// (DesiredState, DesiredGeneration, Convergence) the hubs that were run always
// said the same; only Desired, which the answer about one stream has, was real.
type Stream struct {
	ID                    string              `json:"id"`
	NodeID                Text                `json:"node_id"`
	State                 Text                `json:"state"`
	DesiredState          Text                `json:"desired_state"`
	DesiredGeneration     Count               `json:"desired_generation"`
	DesiredConfigVersion  Text                `json:"desired_config_version"`
	ObservedGeneration    Count               `json:"observed_generation"`
	ObservedConfigVersion Text                `json:"observed_config_version"`
	Convergence           Text                `json:"convergence"`
	IntentID              Text                `json:"intent_id"`
	AttemptID             Text                `json:"attempt_id"`
	LastCompletedAction   Text                `json:"last_completed_action_id"`
	RetryCount            Count               `json:"retry_count"`
	NextRetry             Moment              `json:"next_retry_at_ms"`
	TransitionStarted     Moment              `json:"transition_started_at_ms"`
	ActiveOperation       Text                `json:"active_operation_id"`
	Started               Moment              `json:"started_at_ms"`
	LastError             Fact[StreamFailure] `json:"last_error"`
	Metrics               StreamMetrics       `json:"metrics"`
	Desired               Fact[Desired]       `json:"desired"`
	Generation            Count               `json:"generation"`
}

func (s Stream) key() string {
	if s.ID == "" {
		return ""
	}
	return s.NodeID.Or("") + "/" + s.ID
}

// StreamFailure is why a stream failed. Stage is build or runtime.
type StreamFailure struct {
	Occurred Moment `json:"occurred_at_ms"`
	Stage    Text   `json:"stage"`
	Message  Text   `json:"message"`
}

// StreamMetrics are counters since the stream's start. OutputMessages counts
// attempts, not deliveries: it rises where the output fails, too.
type StreamMetrics struct {
	InputBatches     Count `json:"input_batches"`
	InputMessages    Count `json:"input_messages"`
	ProcessingErrors Count `json:"processing_errors"`
	OutputBatches    Count `json:"output_batches"`
	OutputMessages   Count `json:"output_messages"`
	InputErrors      Count `json:"input_errors"`
	InputReconnects  Count `json:"input_reconnects"`
	OutputErrors     Count `json:"output_errors"`
	Restarts         Count `json:"restarts"`
}

// Desired is what was asked of a stream last.
type Desired struct {
	State         Text  `json:"state"`
	Generation    Count `json:"generation"`
	ConfigVersion Text  `json:"config_version"`
	ActionID      Text  `json:"action_id"`
}

// Job is one distributed job. CheckpointID is that of the newest round that was
// begun, which may never have been completed.
type Job struct {
	ID            string         `json:"job_id"`
	Version       Count          `json:"version"`
	Spec          Spec           `json:"spec_json"`
	DesiredState  Text           `json:"desired_state"`
	ObservedState Text           `json:"observed_state"`
	Convergence   Text           `json:"convergence"`
	Generation    Count          `json:"generation"`
	NodeIDs       Fact[[]string] `json:"node_ids"`
	CheckpointID  Text           `json:"checkpoint_id"`
	LastError     Text           `json:"last_error"`
	Updated       Moment         `json:"updated_at_ms"`
}

func (j Job) key() string { return j.ID }

// Checkpoint is the record of one round, a checkpoint's or a savepoint's. A
// status that is not known is text that no rule takes for completed.
type Checkpoint struct {
	ID            string `json:"checkpoint_id"`
	JobID         Text   `json:"job_id"`
	JobVersion    Count  `json:"job_version"`
	Kind          Text   `json:"kind"`
	Status        string `json:"status"` // pending, completed, failed
	ManifestURI   Text   `json:"manifest_uri"`
	FormatVersion Count  `json:"format_version"`
	Created       Moment `json:"created_at_ms"`
	Updated       Moment `json:"updated_at_ms"`
}

func (c Checkpoint) key() string {
	if c.Status == "" {
		return ""
	}
	return c.ID
}

// Version is one version of a job that the hub keeps.
type Version struct {
	JobID   Text   `json:"job_id"`
	Version Count  `json:"version"`
	Spec    Spec   `json:"spec_json"`
	Plan    Plan   `json:"plan_json"`
	Created Moment `json:"created_at_ms"`
}

func (v Version) key() string { return numberKey(v.Version) }

// Upgrade is a job's way from one version to another.
type Upgrade struct {
	ID               string `json:"upgrade_id"`
	JobID            Text   `json:"job_id"`
	From             Count  `json:"from_version"`
	To               Count  `json:"to_version"`
	Phase            Text   `json:"phase"`
	SavepointID      Text   `json:"savepoint_id"`
	PhaseDeadline    Moment `json:"phase_deadline_at_ms"`
	SavepointRetries Count  `json:"savepoint_retries"`
	VerifyTimeoutMs  Count  `json:"verify_timeout_ms"`
	Actor            Text   `json:"actor"`
	CorrelationID    Text   `json:"correlation_id"`
	LastError        Text   `json:"last_error"`
	PausedFrom       Text   `json:"paused_from"`
	Created          Moment `json:"created_at_ms"`
	Updated          Moment `json:"updated_at_ms"`
}

// Active reports whether the upgrade still holds the job.
func (u Upgrade) Active() bool {
	switch u.Phase.Or("") {
	case "succeeded", "rolled_back", "aborted", "failed", "cancelled":
		return false
	}
	return u.ID != ""
}

// UpgradePaused is the phase of an upgrade that somebody paused; PausedFrom is
// where it goes on.
const UpgradePaused = "paused"

// Task is one planned task with the node that it is placed on.
type Task struct {
	ID           Text  `json:"id"`
	JobID        Text  `json:"job_id"`
	JobVersion   Count `json:"job_version"`
	TaskID       Text  `json:"task_id"`
	Generation   Count `json:"generation"`
	NodeID       Text  `json:"node_id"`
	AttemptID    Text  `json:"attempt_id"`
	State        Text  `json:"state"`
	Observed     Flag  `json:"observed"`
	ObservedNode Text  `json:"observed_node_id"`
}

// JobMetrics are what a live node reports of a job; the hubs that were run said 0
// for all of them, always.
type JobMetrics struct {
	WatermarkLagMs       Fact[float64] `json:"watermark_lag_ms"`
	CheckpointDurationMs Fact[float64] `json:"checkpoint_duration_ms"`
	CheckpointFailures   Fact[float64] `json:"checkpoint_failures"`
	RecoveryProgress     Fact[float64] `json:"recovery_progress"`
	PartitionHealth      Fact[float64] `json:"partition_health"`
	StateBytes           Fact[float64] `json:"state_bytes"`
	TaskPressure         Fact[float64] `json:"task_pressure"`
}

// AllZero reports whether every metric that is there is 0, as hubs say that
// don't collect any.
func (m JobMetrics) AllZero() bool {
	for _, f := range []Fact[float64]{m.WatermarkLagMs, m.CheckpointDurationMs, m.CheckpointFailures, m.RecoveryProgress, m.PartitionHealth, m.StateBytes, m.TaskPressure} {
		if f.Or(0) != 0 {
			return false
		}
	}
	return true
}

// Detail is everything that a hub says about one job in one answer. The lists
// are null where the hub has no such field.
type Detail struct {
	Job         Job          `json:"job"`
	Plan        Plan         `json:"plan"`
	Tasks       []Task       `json:"tasks"`
	Nodes       []Node       `json:"nodes"`
	Operations  []Operation  `json:"operations"`
	Checkpoints []Checkpoint `json:"checkpoints"`
	// CheckpointsPartial: there are rows of it that lack what makes them one, or more
	// than are read.
	CheckpointsPartial bool              `json:"-"`
	ActiveUpgrade      Fact[Upgrade]     `json:"active_upgrade"`
	Metrics            JobMetrics        `json:"metrics"`
	CheckpointHealth   Text              `json:"checkpoint_health"`
	SourcePositions    Fact[[]Position]  `json:"source_positions"`
	Restored           Fact[[]Position]  `json:"restored_positions"`
	Recovery           Fact[RecoveryWay] `json:"recovery"`
}

// RecoveryWay is how far a recovery has come.
type RecoveryWay struct {
	Progress Fact[float64] `json:"progress"` // 0 to 1
}

// Position is where a source goes on: the next offset to read.
type Position struct {
	Topic     Text  `json:"topic"`
	Partition Count `json:"partition"`
	Offset    Count `json:"offset"`
}

// Operation is one command to a node, or one stream's intent.
type Operation struct {
	ID                   string `json:"id"`
	IntentID             Text   `json:"intent_id"`
	CommandID            Text   `json:"command_id"`
	NodeID               Text   `json:"node_id"`
	Operation            Text   `json:"operation"`
	ResourceType         Text   `json:"resource_type"`
	ResourceID           Text   `json:"resource_id"`
	CheckpointID         Text   `json:"checkpoint_id"`
	Generation           Count  `json:"generation"`
	AttemptID            Text   `json:"attempt_id"`
	ConfigVersionID      Text   `json:"config_version_id"`
	State                Text   `json:"state"`
	Progress             Count  `json:"progress"` // 0 to 100
	Created              Moment `json:"created_at_ms"`
	Started              Moment `json:"started_at_ms"`
	Dispatched           Moment `json:"dispatched_at_ms"`
	Acknowledged         Moment `json:"acknowledged_at_ms"`
	Finished             Moment `json:"finished_at_ms"`
	Expires              Moment `json:"expires_at_ms"`
	CorrelationID        Text   `json:"correlation_id"`
	Error                Text   `json:"error"`
	FailureClass         Text   `json:"failure_class"`
	IntentState          Text   `json:"intent_state"`
	ConvergenceState     Text   `json:"convergence_state"`
	RetryCount           Count  `json:"retry_count"`
	NextRetry            Moment `json:"next_retry_at_ms"`
	SupersededByIntent   Text   `json:"superseded_by_intent_id"`
	SupersededGeneration Count  `json:"superseded_generation"`
	ObservedGeneration   Count  `json:"observed_generation"`
	ObservedState        Text   `json:"observed_state"`
}

func (o Operation) key() string { return o.ID }

// OperationsStatus is the hub's own word on its reconciliation.
type OperationsStatus struct {
	Status            Text                    `json:"status"` // healthy, degraded
	Ready             Flag                    `json:"ready"`
	Recovered         Flag                    `json:"recovered"`
	StorageReady      Flag                    `json:"storage_ready"`
	Reconciliation    Reconciliation          `json:"reconciliation"`
	NodeStates        Fact[map[string]uint64] `json:"node_states"`
	MaintenanceStates Fact[map[string]uint64] `json:"maintenance_states"`
	IntentStates      Fact[map[string]uint64] `json:"intent_states"`
	ConvergenceStates Fact[map[string]uint64] `json:"convergence_states"`
	AttemptStates     Fact[map[string]uint64] `json:"attempt_states"`
	FailureClasses    Fact[map[string]uint64] `json:"failure_classes"`
	OutboxPending     Count                   `json:"outbox_pending"`
	OutboxClaimed     Count                   `json:"outbox_claimed"`
	StaleNodes        Count                   `json:"stale_nodes"`
	ActiveAttempts    Count                   `json:"active_attempts"`
	OpenIntents       Count                   `json:"non_terminal_intents"`
	OldestPendingSecs Count                   `json:"oldest_pending_age_seconds"`
}

// Reconciliation is the loop that brings nodes to what was asked for. Its state
// stays degraded after one failure, for as long as the process lives: the two
// times tell what is so now.
type Reconciliation struct {
	State          Text   `json:"state"`
	Runs           Count  `json:"runs_total"`
	Failures       Count  `json:"failures_total"`
	LastSuccess    Moment `json:"last_success_at_ms"`
	LastError      Moment `json:"last_error_at_ms"`
	LastDurationMs Count  `json:"last_duration_ms"`
	LastFailure    Text   `json:"last_failure_class"`
}

// Event is one line of the hub's history.
type Event struct {
	ID            Count  `json:"event_id"`
	NodeID        Text   `json:"node_id"`
	Occurred      Moment `json:"occurred_at_ms"`
	Type          string `json:"event_type"`
	StreamID      Text   `json:"stream_id"`
	Outcome       Text   `json:"outcome"`
	Message       Text   `json:"message"`
	OperationID   Text   `json:"operation_id"`
	CorrelationID Text   `json:"correlation_id"`
	Actor         Text   `json:"actor"`
}

// key is what is the same in two reports of one event: nodes resend the whole of
// their history with each report, and hubs append all of it.
func (e Event) key() string {
	if e.Type == "" {
		return ""
	}
	return join(e.NodeID.Or(""), momentKey(e.Occurred), e.Type, e.StreamID.Or(""), e.Outcome.Or(""), e.OperationID.Or(""))
}

// AuditRecord is one write that the hub was asked for.
type AuditRecord struct {
	ID            Count  `json:"event_id"`
	Actor         Text   `json:"actor"`
	Action        string `json:"action"`
	ResourceType  Text   `json:"resource_type"`
	ResourceID    Text   `json:"resource_id"`
	NodeID        Text   `json:"node_id"`
	StreamID      Text   `json:"stream_id"`
	CorrelationID Text   `json:"correlation_id"`
	Outcome       Text   `json:"outcome"`
	FailureCode   Text   `json:"failure_code"`
	Message       Text   `json:"message"`
	Occurred      Moment `json:"occurred_at_ms"`
}

func (a AuditRecord) key() string {
	if a.Action == "" {
		return ""
	}
	return join(numberKey(a.ID), momentKey(a.Occurred), a.Action, a.ResourceID.Or(""))
}

// Rollout is one change of configuration over several nodes.
type Rollout struct {
	ID            string `json:"rollout_id"`
	ConfigVersion Text   `json:"config_version_id"`
	State         Text   `json:"state"`
	BatchSize     Count  `json:"batch_size"`
	CurrentBatch  Count  `json:"current_batch"`
	TotalTargets  Count  `json:"total_targets"`
	Actor         Text   `json:"actor"`
	CorrelationID Text   `json:"correlation_id"`
	Created       Moment `json:"created_at_ms"`
	Updated       Moment `json:"updated_at_ms"`
}

func (r Rollout) key() string { return r.ID }
