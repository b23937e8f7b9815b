package flinkrest

// Times in answers are milliseconds since 1970; 0 and below say that there is
// none.

// Config says who answers.
type Config struct {
	Version         string `json:"flink-version"`
	RefreshInterval int64  `json:"refresh-interval"` // ms that an answer may have been in the cache
	Features        struct {
		History bool `json:"web-history"` // a history server, which knows ended jobs only
	} `json:"features"`
}

// JobSummary is one job of the list.
type JobSummary struct {
	ID        string `json:"jid"`
	Name      string `json:"name"`
	State     string `json:"state"`
	StartTime int64  `json:"start-time"`
	EndTime   int64  `json:"end-time"`
}

// Job is one job.
type Job struct {
	ID         string           `json:"jid"`
	Name       string           `json:"name"`
	State      string           `json:"state"`
	StartTime  int64            `json:"start-time"`
	EndTime    int64            `json:"end-time"`
	Timestamps map[string]int64 `json:"timestamps"` // by state: when it was last entered
	Vertices   []Vertex         `json:"vertices"`
}

// Vertex is a task of a job, its operators chained.
type Vertex struct {
	ID             string `json:"id"`
	Name           string `json:"name"`
	Parallelism    int    `json:"parallelism"`
	MaxParallelism int    `json:"maxParallelism"` // in force, whoever chose it; at most 32,768
}

// Exceptions are a job's failures. Flink 1.20 also has fields root-exception and
// all-exceptions, deprecated and gone in 2.x; the history is in both.
type Exceptions struct {
	History struct {
		Entries   Bounded[Failure] `json:"entries"`   // newest first
		Truncated bool             `json:"truncated"` // Flink has more than were asked for
	} `json:"exceptionHistory"`
}

// Failure is one exception that made Flink act. TaskName is empty where it is
// the job's own: then Concurrent may hold the task's.
type Failure struct {
	ExceptionName string           `json:"exceptionName"`
	StackTrace    string           `json:"stacktrace"`
	Timestamp     int64            `json:"timestamp"`
	TaskName      string           `json:"taskName"`
	Concurrent    Bounded[Failure] `json:"concurrentExceptions"`
}

// Checkpoints is a job's checkpoint history.
type Checkpoints struct {
	Counts struct {
		Restored   int64 `json:"restored"`
		Total      int64 `json:"total"`
		InProgress int64 `json:"in_progress"`
		Completed  int64 `json:"completed"`
		Failed     int64 `json:"failed"` // also those that failed before they had an id
	} `json:"counts"`
	Latest struct {
		Completed *Checkpoint `json:"completed"` // no savepoint
		Savepoint *Checkpoint `json:"savepoint"`
		Failed    *Checkpoint `json:"failed"`
		Restored  *Restored   `json:"restored"`
	} `json:"latest"`
	History Bounded[Checkpoint] `json:"history"` // newest first
}

// Checkpoint is a checkpoint or savepoint of the history.
type Checkpoint struct {
	ID               int64  `json:"id"`
	Status           string `json:"status"` // IN_PROGRESS, COMPLETED or FAILED
	IsSavepoint      bool   `json:"is_savepoint"`
	TriggerTimestamp int64  `json:"trigger_timestamp"`
	LatestAck        int64  `json:"latest_ack_timestamp"`
	StateSize        int64  `json:"state_size"` // bytes
	Subtasks         int    `json:"num_subtasks"`
	Acknowledged     int    `json:"num_acknowledged_subtasks"`
	ExternalPath     string `json:"external_path"`     // completed ones
	Discarded        bool   `json:"discarded"`         // completed ones: its files are gone
	FailureTimestamp int64  `json:"failure_timestamp"` // failed ones
	FailureMessage   string `json:"failure_message"`   // failed ones
}

// CheckpointDetails is a checkpoint with its tasks, by vertex id.
type CheckpointDetails struct {
	Checkpoint
	Tasks map[string]Checkpoint `json:"tasks"`
}

// Restored is what a job was restored from last. IsSavepoint is also set for a
// checkpoint that was given by its path when the job was started.
type Restored struct {
	ID               int64  `json:"id"`
	RestoreTimestamp int64  `json:"restore_timestamp"`
	IsSavepoint      bool   `json:"is_savepoint"`
	ExternalPath     string `json:"external_path"`
}

// CheckpointConfig is how a job takes checkpoints. Interval is the largest int64
// where checkpoints are not taken by time.
type CheckpointConfig struct {
	Mode            string `json:"mode"`     // exactly_once or at_least_once
	Interval        int64  `json:"interval"` // ms
	Timeout         int64  `json:"timeout"`  // ms
	Externalization struct {
		Enabled              bool `json:"enabled"`
		DeleteOnCancellation bool `json:"delete_on_cancellation"`
	} `json:"externalization"`
	Storage           string `json:"checkpoint_storage"`
	Unaligned         bool   `json:"unaligned_checkpoints"`
	TolerableFailures int64  `json:"tolerable_failed_checkpoints"`
}

// ExecutionConfig is how a job runs.
type ExecutionConfig struct {
	Execution struct {
		RestartStrategy string `json:"restart-strategy"` // a sentence of Flink's
		Parallelism     int    `json:"job-parallelism"`  // of the job; of one that never began, the cluster's default
	} `json:"execution-config"`
}
