package arkflow

import (
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/arkhub"
)

// Point is one checkpoint or savepoint of a job: what the hub has on record of
// it, what its store holds, and whether it can be restored. What is not known is
// nil.
type Point struct {
	ID   string            `json:"id"`
	Kind inspect.PointKind `json:"kind"`
	URI  string            `json:"uri"` // of its manifest, as it can be read here; empty: nowhere is known

	Status        string     `json:"status"` // the hub's word: pending, completed, failed; empty: the hub was not asked, or does not know it
	JobID         string     `json:"jobId"`
	JobVersion    *uint64    `json:"jobVersion"`
	FormatVersion *uint64    `json:"formatVersion"`
	Generation    *uint64    `json:"generation"`
	Created       *time.Time `json:"created"`
	CreatedBy     TimeSource `json:"createdBy"`

	Tasks     []TaskPlace      `json:"tasks"`     // that took part, by the manifest
	Missing   []string         `json:"missing"`   // planned tasks that did not
	Positions []SourcePosition `json:"positions"` // where its sources go on
	Watermark map[string]int64 `json:"watermarksMs"`
	States    []StateObject    `json:"states"`

	Verdict inspect.Verdict `json:"verdict"`
	Reason  string          `json:"reason"` // the rule that decides; empty: accepted
	Message string          `json:"message"`
	Rules   []inspect.Rule  `json:"rules"`
	// Engine is what the engine's own check would say, which may ask less.
	Engine EngineVerdict `json:"engine"`
	// Selected: a start of the job would restore this one.
	Selected bool `json:"selected"`
}

// TimeSource says who tells when a point was made.
type TimeSource string

// The sources. A file's time is that of a copy after a copy.
const (
	TimeFromHub  TimeSource = "hub"
	TimeFromID   TimeSource = "id" // the name holds the milliseconds of the trigger
	TimeFromFile TimeSource = "file"
	TimeUnknown  TimeSource = ""
)

// TaskPlace is a task with the node that it ran on.
type TaskPlace struct {
	Task string `json:"task"`
	Node string `json:"node"`
}

// SourcePosition is the next offset that a source reads.
type SourcePosition struct {
	Topic     *string `json:"topic"`
	Partition uint64  `json:"partition"`
	Offset    uint64  `json:"offset"`
}

// StateObject is one object with the state of a node's tasks.
type StateObject struct {
	Key      string      `json:"key"` // below the store's root
	Tasks    []string    `json:"tasks"`
	Bytes    uint64      `json:"bytes"` // as the manifest says
	Entries  *int        `json:"entries"`
	State    ObjectState `json:"state"`
	Message  string      `json:"message"`
	Checksum uint64      `json:"checksum"` // as the manifest says
}

// ObjectState is how an object of a store was found.
type ObjectState string

// The states.
const (
	ObjectWhole   ObjectState = "whole"
	ObjectMissing ObjectState = "missing"
	ObjectDamaged ObjectState = "damaged"
	ObjectUnread  ObjectState = "not-read" // nothing can be said
)

// EngineVerdict is what the engine's own check makes of a point.
type EngineVerdict struct {
	Verdict inspect.Verdict `json:"verdict"`
	Why     string          `json:"why"`
}

// Target is what would be restored. What is not known is nil, and rules that
// need it are not checked.
type Target struct {
	JobID         string            `json:"jobId"`
	Version       *uint64           `json:"version"`
	FormatVersion *uint64           `json:"formatVersion"`
	Tasks         []string          `json:"tasks"`    // planned; nil: not known
	Stateful      *bool             `json:"stateful"` // whether any operator keeps state
	Recovery      string            `json:"recovery"` // latest_checkpoint, latest_savepoint, fail; empty: not known
	Explicit      string            `json:"explicit"` // the job's own checkpoint_id; empty: none
	KafkaSources  *bool             `json:"kafkaSources"`
	Rescales      bool              `json:"rescales"` // the task set may differ
	Generation    arkhub.Generation `json:"generation"`
	StoreURI      string            `json:"storeUri"`

	// Partial: the hub has rounds of the job on record that could not be read.
	Partial bool `json:"-"`
}

// TargetOf is the target that a job is now: its version with its plan.
func TargetOf(j arkhub.Job, p arkhub.Plan, g arkhub.Generation) Target {
	t := Target{JobID: j.ID, Version: j.Version.Pointer(), Explicit: j.CheckpointID.Or(""), Generation: g}
	t.Tasks, _ = p.TaskIDs()
	t.fill(j.Spec)
	return t
}

// TargetOfVersion is the target that a job would be at another version.
func TargetOfVersion(v arkhub.Version, j arkhub.Job, g arkhub.Generation) Target {
	t := Target{JobID: j.ID, Version: v.Version.Pointer(), Explicit: j.CheckpointID.Or(""), Generation: g}
	t.Tasks, _ = v.Plan.TaskIDs()
	t.fill(v.Spec)
	return t
}

func (t *Target) fill(s arkhub.Spec) {
	if !s.Readable() {
		return
	}
	format := s.State.FormatVersion.Or(arkhub.DefaultFormatVersion)
	stateful, kafka := s.Stateful(), false
	for _, source := range s.Sources {
		kafka = kafka || source.InputType.Or("") == "kafka"
	}
	t.FormatVersion, t.Stateful, t.KafkaSources = &format, &stateful, &kafka
	t.Recovery, t.StoreURI = s.Recovery.Or("latest_checkpoint"), s.Checkpoint.ObjectStoreURI.Or("")
	t.Rescales = s.Rescale.IsKnown()
}

// Selection is which point a start would restore, by the hub's own rule.
type Selection struct {
	Known bool   `json:"known"` // false: the rule of this hub, or what it depends on, is not known
	ID    string `json:"id"`    // empty: none, the job would begin cold or not at all
	Why   string `json:"why"`
	// Better is an accepted point that the hub would pass over; empty: there is none.
	Better string `json:"better"`
}

// PointList is every point of a job, the newest first.
type PointList struct {
	Target    Target    `json:"target"`
	Place     string    `json:"place"` // where the store was read; empty: it was not
	Points    []Point   `json:"points"`
	Selection Selection `json:"selection"`
	Health    Health    `json:"health"`
	// Replay is what a start sends again, with the selected point and the log that was
	// named; nil: no job was asked for.
	Replay    *ReplayCost `json:"replay"`
	Unchecked []string    `json:"unchecked"`
}
