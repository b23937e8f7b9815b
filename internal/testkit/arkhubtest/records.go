package arkhubtest

import "encoding/json"

// The records as they are on the wire: null where there is nothing.

type nodeRecord struct {
	ID              string   `json:"id"`
	ProtocolVersion string   `json:"protocol_version"`
	Version         string   `json:"version"`
	State           string   `json:"state"`
	Capabilities    []string `json:"capabilities"`
	LastSeen        int64    `json:"last_seen_at_ms"`
	LeaseExpires    int64    `json:"lease_expires_at_ms"`
	StreamsTotal    int      `json:"streams_total"`
	StreamsRunning  int      `json:"streams_running"`
	StreamsFailed   int      `json:"streams_failed"`
	Maintenance     string   `json:"maintenance_state"`
}

type jobRecord struct {
	ID            string   `json:"job_id"`
	Version       uint64   `json:"version"`
	SpecJSON      string   `json:"spec_json"`
	DesiredState  string   `json:"desired_state"`
	ObservedState string   `json:"observed_state"`
	Convergence   string   `json:"convergence"`
	Generation    uint64   `json:"generation"`
	NodeIDs       []string `json:"node_ids"`
	CheckpointID  *string  `json:"checkpoint_id"`
	LastError     *string  `json:"last_error"`
	Updated       int64    `json:"updated_at_ms"`
}

type checkpointRecord struct {
	JobID         string  `json:"job_id"`
	JobVersion    uint64  `json:"job_version"`
	ID            string  `json:"checkpoint_id"`
	Kind          string  `json:"kind"`
	Status        string  `json:"status"`
	ManifestURI   *string `json:"manifest_uri"`
	FormatVersion uint64  `json:"format_version"`
	Created       int64   `json:"created_at_ms"`
	Updated       int64   `json:"updated_at_ms"`
}

type versionRecord struct {
	JobID    string `json:"job_id"`
	Version  uint64 `json:"version"`
	SpecJSON string `json:"spec_json"`
	PlanJSON string `json:"plan_json"`
	Created  int64  `json:"created_at_ms"`
}

type upgradeRecord struct {
	ID          string  `json:"upgrade_id"`
	JobID       string  `json:"job_id"`
	From        uint64  `json:"from_version"`
	To          uint64  `json:"to_version"`
	Phase       string  `json:"phase"`
	SavepointID *string `json:"savepoint_id"`
	PausedFrom  *string `json:"paused_from"`
	LastError   *string `json:"last_error"`
	Created     int64   `json:"created_at_ms"`
	Updated     int64   `json:"updated_at_ms"`
}

type operation struct {
	ID                   string  `json:"id"`
	IntentID             *string `json:"intent_id"`
	CommandID            string  `json:"command_id"`
	NodeID               string  `json:"node_id"`
	Operation            string  `json:"operation"`
	ResourceID           string  `json:"resource_id"`
	CheckpointID         *string `json:"checkpoint_id"`
	Generation           uint64  `json:"generation"`
	AttemptID            *string `json:"attempt_id"`
	ConfigVersionID      *string `json:"config_version_id"`
	State                string  `json:"state"`
	Progress             int     `json:"progress"`
	Created              int64   `json:"created_at_ms"`
	Dispatched           *int64  `json:"dispatched_at_ms"`
	Acknowledged         *int64  `json:"acknowledged_at_ms"`
	Finished             *int64  `json:"finished_at_ms"`
	CorrelationID        *string `json:"correlation_id"`
	Error                *string `json:"error"`
	FailureClass         *string `json:"failure_class"`
	IntentState          *string `json:"intent_state"`
	ConvergenceState     *string `json:"convergence_state"`
	RetryCount           int     `json:"retry_count"`
	NextRetry            *int64  `json:"next_retry_at_ms"`
	SupersededByIntent   *string `json:"superseded_by_intent_id"`
	SupersededGeneration *uint64 `json:"superseded_generation"`
	ObservedGeneration   *uint64 `json:"observed_generation"`
	ObservedState        *string `json:"observed_state"`
}

type event struct {
	ID       int     `json:"event_id"`
	NodeID   string  `json:"node_id"`
	Occurred int64   `json:"occurred_at_ms"`
	Type     string  `json:"event_type"`
	StreamID *string `json:"stream_id"`
	Outcome  string  `json:"outcome"`
	Message  *string `json:"message"`
}

type auditRecord struct {
	ID            int     `json:"event_id"`
	Actor         string  `json:"actor"`
	Action        string  `json:"action"`
	ResourceType  string  `json:"resource_type"`
	ResourceID    string  `json:"resource_id"`
	NodeID        *string `json:"node_id"`
	StreamID      *string `json:"stream_id"`
	CorrelationID string  `json:"correlation_id"`
	Outcome       string  `json:"outcome"`
	FailureCode   *string `json:"failure_code"`
	Message       *string `json:"message"`
	Occurred      int64   `json:"occurred_at_ms"`
}

type plannedTask struct {
	ID         string          `json:"id"`
	OperatorID string          `json:"operator_id"`
	Subtask    uint64          `json:"subtask"`
	Partitions []taskPartition `json:"partitions"`
}

type taskPartition struct {
	ID       uint64            `json:"id"`
	KeyGroup map[string]uint64 `json:"key_group"`
}

type plan struct {
	Spec  json.RawMessage `json:"spec"`
	Tasks []plannedTask   `json:"tasks"`
}

func ptr[T any](v T) *T { return &v }
