package inspect

import "time"

// Severity of a check or finding.
type Severity string

// The severities, worst first.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
	SeverityInfo    Severity = "info"
)

// PointKind tells checkpoints from savepoints.
type PointKind string

// The kinds of recovery points.
const (
	KindCheckpoint PointKind = "checkpoint"
	KindSavepoint  PointKind = "savepoint"
)

// Format is a savepoint's format; empty for checkpoints and where the file does
// not say.
type Format string

// The savepoint formats.
const (
	FormatCanonical Format = "canonical"
	FormatNative    Format = "native"
)

// TimeSource says where a recovery point's time was read from.
type TimeSource string

// The sources of time. A file's or object's date can be that of a later copy.
const (
	TimeFromFlink  TimeSource = "flink"
	TimeFromFile   TimeSource = "file"
	TimeFromObject TimeSource = "object"
)

// Taken is when a recovery point was made. Time is nil when nothing says.
type Taken struct {
	Time   *time.Time `json:"time"`
	Source TimeSource `json:"source"`
}

// RecoveryPoint is one checkpoint or savepoint, read offline.
type RecoveryPoint struct {
	URI             string     `json:"uri"`
	Kind            PointKind  `json:"kind"`
	Format          Format     `json:"format"`
	CheckpointID    int64      `json:"checkpointId"` // -1 when the metadata could not be read
	MetadataVersion int        `json:"metadataVersion"`
	Taken           Taken      `json:"taken"`
	Operators       []Operator `json:"operators"`
	Markers         []Marker   `json:"markers"`
	Merged          Merged     `json:"merged"`
	Files           Files      `json:"files"`
	Checks          []Check    `json:"checks"`

	// Err is what kept the point from being read, in a list: it is there, and
	// access was denied, its store did not answer, or its version is not known.
	Err error `json:"-"`
}

// Operator is one operator of the snapshot. Name and UID are empty where the
// metadata does not hold them (versions below 5, or no uid set).
type Operator struct {
	ID             string          `json:"id"` // 32 lower-case hex digits
	Name           string          `json:"name"`
	UID            string          `json:"uid"`
	Parallelism    int             `json:"parallelism"`
	MaxParallelism int             `json:"maxParallelism"`
	States         []OperatorState `json:"states"`

	Keyed *KeyedState `json:"keyed"` // nil: none
	// Processing are keys with an unfinished run, of agent operators. It may have
	// fewer than the state currentProcessingKeys has elements.
	Processing []ProcessingKey `json:"processing"`
}

// OperatorState is one named operator state over all subtasks.
type OperatorState struct {
	Name     string `json:"name"`
	Mode     string `json:"mode"`     // SPLIT_DISTRIBUTE, UNION or BROADCAST
	Kind     string `json:"kind"`     // list or broadcast
	Elements int    `json:"elements"` // over all subtasks
}

// Files sums up what a recovery point refers to outside its metadata.
type Files struct {
	Referenced int      `json:"referenced"` // distinct files
	Bytes      int64    `json:"bytes"`      // as the metadata states them; unknown sizes add nothing
	Missing    []string `json:"missing"`    // recorded URIs that were looked for and are absent or of another size
	Unchecked  []string `json:"unchecked"`  // recorded URIs that can't be reached from here

	Unreferenced *Unreferenced `json:"unreferenced"` // nil: it was not looked for
}

// Check is one finding of the offline checks. ID is stable, as in "F1".
type Check struct {
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
	Hint     string   `json:"hint,omitempty"`
}

// WorstCheck returns the severity of the worst check, or "" when there is none.
func (p RecoveryPoint) WorstCheck() Severity {
	worst := Severity("")
	for _, c := range p.Checks {
		switch {
		case c.Severity == SeverityError:
			return SeverityError
		case c.Severity == SeverityWarning, worst == "":
			worst = c.Severity
		}
	}
	return worst
}
