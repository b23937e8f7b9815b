package inspect

import (
	"context"
	"path"
	"regexp"
	"strings"
	"time"
)

// JobRef says which running job is meant. The id goes first: a name may be that
// of several jobs. With neither, the only job that has not ended is meant.
type JobRef struct {
	REST string // address of the JobManager; empty: none is connected
	ID   string // 32 lower-case hex digits; may be empty
	Name string
}

// RefOf is the reference to a job that an operator calls by its id or its name.
func RefOf(rest, idOrName string) JobRef {
	if isJobID(idOrName) {
		return JobRef{REST: rest, ID: idOrName}
	}
	return JobRef{REST: rest, Name: idOrName}
}

// LiveStore reads what a job does now. inspect/flink implements it.
type LiveStore interface {
	// Live reads a job's state. Where only parts could not be read, the state is
	// returned with their names in Unread, beside errors.Join of their faults;
	// where nothing is known, JobID is empty. A job that is not there is NotFound.
	Live(ctx context.Context, ref JobRef) (LiveState, error)
}

// LiveState is the running job as Flink reports it. Flink answers from a cache:
// the state is as of AsOf or up to CacheMs earlier. Names and messages are as
// they came, cut where they are very long.
type LiveState struct {
	State         string  `json:"state"`         // Flink's word, as in RUNNING
	Restarts      *int64  `json:"restarts"`      // at least so many; nil: not known
	RestoredFrom  *string `json:"restoredFrom"`  // path of the recovery point; nil: see Checkpoints.Restored
	LastException *string `json:"lastException"` // the root cause of the newest failure, "type: message"

	JobID        string     `json:"jobId"`
	Name         string     `json:"name"`
	FlinkVersion string     `json:"flinkVersion"`
	Started      *time.Time `json:"started"`
	Since        *time.Time `json:"since"` // when State began
	AsOf         time.Time  `json:"asOf"`
	CacheMs      int64      `json:"cacheMs"`

	// MaxParallelism is that of the agent operator in force: the job's code set it,
	// or the recovery point had it, or Flink chose it. nil: not known.
	MaxParallelism *int `json:"maxParallelism"`

	RootCause   *RootCause          `json:"rootCause"`   // nil: no failure is on record
	Checkpoints *LiveCheckpoints    `json:"checkpoints"` // nil: not known
	Settings    *CheckpointSettings `json:"settings"`    // nil: not known
	NextRestore NextRestore         `json:"nextRestore"`
	Unread      []string            `json:"unread"` // parts that could not be read: exceptions, checkpoints, settings, restarts
}

// RootCause is where a chain of exceptions begins.
type RootCause struct {
	Type    string     `json:"type"`    // Java class name; empty where the text names none
	Message string     `json:"message"` //
	Outer   string     `json:"outer"`   // the first line of the whole exception; empty where it is the root
	Task    string     `json:"task"`    // the task that failed; empty: the job's own failure
	Time    *time.Time `json:"time"`
}

// LiveCheckpoints is a job's checkpoint history. Flink keeps the details of the
// latest ones only (option web.checkpoints.history, ten by default).
type LiveCheckpoints struct {
	Completed  int64            `json:"completed"`
	Failed     int64            `json:"failed"` // also those that failed before they had an id
	InProgress int64            `json:"inProgress"`
	Restores   int64            `json:"restores"` // how often the job was restored
	History    []LiveCheckpoint `json:"history"`  // newest first
	Cut        int              `json:"cut"`      // entries of the history that were left out here

	LatestCompleted *LiveCheckpoint `json:"latestCompleted"` // a checkpoint, no savepoint
	LatestSavepoint *LiveCheckpoint `json:"latestSavepoint"`
	LatestFailed    *LiveCheckpoint `json:"latestFailed"`
	Restored        *LiveRestore    `json:"restored"` // nil: started without state
}

// The states of a checkpoint, Flink's words.
const (
	CheckpointInProgress = "IN_PROGRESS"
	CheckpointCompleted  = "COMPLETED"
	CheckpointFailed     = "FAILED"
)

// LiveCheckpoint is one checkpoint or savepoint of a job's history.
type LiveCheckpoint struct {
	ID           int64      `json:"id"`
	Kind         PointKind  `json:"kind"`
	Status       string     `json:"status"`
	Path         *string    `json:"path"` // nil: not completed, or kept where no path leads
	Triggered    *time.Time `json:"triggered"`
	Ended        *time.Time `json:"ended"` // last acknowledgement, or when it failed; nil: in progress
	Bytes        int64      `json:"bytes"` // of the state
	Acknowledged int        `json:"acknowledged"`
	Subtasks     int        `json:"subtasks"`
	Discarded    bool       `json:"discarded"` // its files were deleted by Flink
	Reason       *string    `json:"reason"`    // why it failed, Flink's words
}

// LiveCheckpointDetails is a checkpoint with its tasks, in the job's order.
type LiveCheckpointDetails struct {
	LiveCheckpoint
	Tasks []LiveCheckpointTask `json:"tasks"`
}

// LiveCheckpointTask is one task's part in a checkpoint.
type LiveCheckpointTask struct {
	Name         string `json:"name"`
	Status       string `json:"status"`
	Acknowledged int    `json:"acknowledged"` // subtasks that have done their part
	Subtasks     int    `json:"subtasks"`
	Bytes        int64  `json:"bytes"`
}

// LiveRestore is what a job was restored from last.
type LiveRestore struct {
	ID   int64      `json:"id"`
	Kind PointKind  `json:"kind"`
	Path *string    `json:"path"`
	Time *time.Time `json:"time"` // of the restore, not of the recovery point
}

// Retention is what becomes of a job's last checkpoints when it ends.
type Retention string

// The retentions, words of Flink's option
// execution.checkpointing.externalized-checkpoint-retention. With
// DeleteOnCancellation they stay when the job fails.
const (
	RetainOnCancellation Retention = "RETAIN_ON_CANCELLATION"
	DeleteOnCancellation Retention = "DELETE_ON_CANCELLATION"
	NoRetention          Retention = "NO_EXTERNALIZED_CHECKPOINTS"
)

// CheckpointSettings is how a job takes checkpoints.
type CheckpointSettings struct {
	IntervalMs      *int64    `json:"intervalMs"` // nil: none are taken by time
	TimeoutMs       int64     `json:"timeoutMs"`
	Mode            string    `json:"mode"` // exactly_once or at_least_once
	Retention       Retention `json:"retention"`
	Retained        *int      `json:"retained"` // completed ones that are kept, the cluster's option; nil: not known
	Storage         string    `json:"storage"`
	Unaligned       bool      `json:"unaligned"`
	RestartStrategy string    `json:"restartStrategy"` // Flink's sentence; empty: not known
}

// RestoreSource says what a restart begins with.
type RestoreSource string

// The sources.
const (
	SourceUnknown RestoreSource = "unknown"
	SourcePoint   RestoreSource = "point" // the checkpoint or savepoint with ID
	SourceNoState RestoreSource = "empty" // a restart would begin without any state
	SourceNone    RestoreSource = "none"  // the job has ended: Flink doesn't restart it by itself
)

// NextRestore is what Flink would restore a job from by itself, should it fail
// now. Field is where that was read: latest.completed or latest.restored of the
// checkpoint statistics.
type NextRestore struct {
	Source  RestoreSource `json:"source"`
	ID      *int64        `json:"id"`
	Path    *string       `json:"path"`
	Field   string        `json:"field"`
	Why     string        `json:"why"`     // a sentence
	Unknown []string      `json:"unknown"` // what can't be known from outside
}

// Ended reports whether a job in this state is over for good.
func Ended(state string) bool {
	switch state {
	case "FAILED", "CANCELED", "FINISHED":
		return true
	}
	return false
}

// Failing reports whether a job in this state has failed and is not running
// again.
func Failing(state string) bool {
	switch state {
	case "FAILING", "FAILED", "RESTARTING":
		return true
	}
	return false
}

// Checkpointed reports whether the job has completed a checkpoint since it was
// started, or takes none by time.
func (l LiveState) Checkpointed() bool {
	if l.Settings != nil && l.Settings.IntervalMs == nil {
		return true
	}
	return l.Checkpoints != nil && l.Checkpoints.Completed > 0
}

// Taken is when Flink began to take the recovery point at uri, where the job's
// history holds it.
func (l LiveState) Taken(uri string) (Taken, bool) {
	if l.Checkpoints == nil {
		return Taken{}, false
	}
	check := func(c *LiveCheckpoint) bool {
		return c != nil && c.Path != nil && c.Triggered != nil && samePoint(*c.Path, uri)
	}
	for i := range l.Checkpoints.History {
		if c := &l.Checkpoints.History[i]; check(c) {
			return Taken{Time: c.Triggered, Source: TimeFromFlink}, true
		}
	}
	for _, c := range []*LiveCheckpoint{l.Checkpoints.LatestCompleted, l.Checkpoints.LatestSavepoint} {
		if check(c) {
			return Taken{Time: c.Triggered, Source: TimeFromFlink}, true
		}
	}
	return Taken{}, false
}

// samePoint reports whether two addresses are of one recovery point. A copy or a
// mount has another folder in front; the names that Flink gives below it (the job
// id with chk-N, or a savepoint's own) are unique.
func samePoint(a, b string) bool { return pointName(a) == pointName(b) }

func pointName(uri string) string {
	place := samePlace(uri)
	base, folder := path.Base(place), path.Base(path.Dir(place))
	switch {
	case isCheckpointPath(place) && isJobID(folder):
		return folder + "/" + base
	case savepointName.MatchString(base):
		return base
	default:
		return place
	}
}

// savepointName is the name that Flink gives a savepoint's folder.
var savepointName = regexp.MustCompile(`^savepoint-[0-9a-f]{6}-[0-9a-f]{12}$`)

func isJobID(name string) bool {
	return len(name) == 32 && strings.Trim(name, "0123456789abcdef") == ""
}

// samePlace gives two spellings of one recovery point's address one form:
// file:/x, file:///x and /x, s3:, s3a: and s3p:, which Flink's file systems take
// for the same object, with or without a slash or _metadata at the end.
func samePlace(uri string) string {
	scheme, rest, found := strings.Cut(uri, ":")
	if !found || strings.Contains(scheme, "/") {
		scheme, rest = "file", uri
	}
	rest = strings.TrimSuffix(strings.TrimRight(rest, "/"), "/_metadata")
	switch scheme = strings.ToLower(scheme); scheme {
	case "file":
		rest = path.Clean(strings.TrimPrefix(rest, "//"))
	case "s3a", "s3p":
		scheme = "s3"
	}
	return scheme + ":" + strings.TrimRight(rest, "/")
}

// isCheckpointPath reports whether a path ends in chk-N, as the folders of
// checkpoints do and those of savepoints don't.
func isCheckpointPath(p string) bool {
	digits, found := strings.CutPrefix(path.Base(samePlace(p)), "chk-")
	return found && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// RestoredKind is the kind of a recovery point that a job was restored from.
// Flink calls every point that was given by its path a savepoint, so the path
// is asked first.
func RestoredKind(path string, savepoint bool) PointKind {
	if savepoint && !isCheckpointPath(path) {
		return KindSavepoint
	}
	return KindCheckpoint
}
