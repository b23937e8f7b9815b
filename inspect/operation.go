package inspect

import "time"

// CleanupPlan is the content of a plan file, and the plan inside a control
// record. Text may hold lone surrogates in their three-byte form, as an escape
// in JSON can make them.
type CleanupPlan struct {
	PlanID              string // 64 lower-case hex digits
	SourceRecoveryPoint string
	Topic               string
	TopicID             string
	Offsets             Offsets
}

// OperationStatus is the last status of an operation on the control topic.
type OperationStatus string

// The statuses of a control record.
const (
	StatusCommitted OperationStatus = "COMMITTED"
	StatusApplied   OperationStatus = "APPLIED"
)

// Operation is one cleanup as the control topic records it, in the order in
// which plans were first seen. ControlOffset and Time are those of the record
// that gave the last status.
type Operation struct {
	PlanID              string          `json:"planId"`
	Status              OperationStatus `json:"status"`
	Offsets             Offsets         `json:"offsets"`
	ControlOffset       int64           `json:"controlOffset"`
	Time                time.Time       `json:"time"`
	SourceRecoveryPoint string          `json:"sourceRecoveryPoint"`
	Topic               string          `json:"topic"`
	TopicID             string          `json:"topicId"`

	Calls *OperationCalls `json:"calls"` // nil: the topic was not scanned, or not whole
}

// ReaderVerdict is what one of the two readers of a control topic says.
type ReaderVerdict struct {
	Verdict Verdict  `json:"verdict"` // accepted or rejected
	Offsets Offsets  `json:"offsets"`
	Problem *Problem `json:"problem"`
}

// CleanupBoundary is the control topic's history and the boundary in force. The
// outer verdict is that of a restore's reader, which needs a committed boundary;
// ApplyReader takes an empty history as an empty boundary and a missing topic as
// one to be created.
type CleanupBoundary struct {
	Topic        string        `json:"topic"`
	ControlTopic string        `json:"controlTopic"`
	Offsets      Offsets       `json:"offsets"`
	Operations   []Operation   `json:"operations"`
	Problem      *Problem      `json:"problem"`
	ApplyReader  ReaderVerdict `json:"applyReader"`
	Notes        []string      `json:"notes"` // facts beside the verdict: an open transaction hides records, …
}

// History is the topic identity that a control history is judged against: what
// the job knows of its data topic.
type History struct {
	Topic      string
	TopicID    string
	Partitions []int32
}
