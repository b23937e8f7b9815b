package inspect

import "encoding/json"

// MarkerKind is what an element of the recoveryMarker union list turned out to
// be.
type MarkerKind string

// The kinds of elements. LegacyTyped is a map whose keys are not all Integer or
// whose values are not all Long; Other is any other object.
const (
	MarkerVersioned   MarkerKind = "versioned"
	MarkerLegacy      MarkerKind = "legacy"
	MarkerLegacyTyped MarkerKind = "legacyTyped"
	MarkerNull        MarkerKind = "null"
	MarkerOther       MarkerKind = "other"
)

// Marker is one element of the union list, as it was read and not yet judged.
// Topic and TopicID are nil for other kinds than versioned, and for a versioned
// marker whose field is null. Offsets is nil for a versioned marker whose field
// is null, and for the kinds that have none.
type Marker struct {
	OperatorID    string // 32 hex digits; empty when the marker came from a file of markers
	Subtask       int
	Kind          MarkerKind
	SchemaVersion *int32 // versioned only
	Class         string // Java class name of the element; empty for null
	Topic         *string
	TopicID       *string
	Offsets       Offsets
	Entries       []TypedEntry // legacyTyped only
	Problem       *Problem     // why the element could not be read; its kind is then other
}

// TypedEntry is one entry of a map that is not of Integer to Long. Each side has
// one value: a string, an int, a long, or none of them (null or another type,
// then named by Type).
type TypedEntry struct {
	Key   TypedValue `json:"key"`
	Value TypedValue `json:"value"`
}

// TypedValue is a boxed Java value.
type TypedValue struct {
	String *string `json:"string,omitempty"`
	Int    *int32  `json:"int,omitempty"`
	Long   *int64  `json:"long,omitempty"`
	Type   string  `json:"type,omitempty"` // Java class where none of the above fits; "null" for null
}

// MarshalJSON writes all pinned fields. Offsets are null only where the marker's
// own field is null.
func (m Marker) MarshalJSON() ([]byte, error) {
	var offsets any = m.Offsets
	if m.Offsets == nil {
		offsets = Offsets{}
		if m.Kind == MarkerVersioned {
			offsets = nil
		}
	}
	return json.Marshal(struct {
		OperatorID    string       `json:"operatorId"`
		Subtask       int          `json:"subtask"`
		Kind          MarkerKind   `json:"kind"`
		SchemaVersion *int32       `json:"schemaVersion"`
		Class         string       `json:"class"`
		Topic         *string      `json:"topic"`
		TopicID       *string      `json:"topicId"`
		Offsets       any          `json:"offsets"`
		Entries       []TypedEntry `json:"entries,omitempty"`
		Problem       *Problem     `json:"problem"`
	}{m.OperatorID, m.Subtask, m.Kind, m.SchemaVersion, m.Class, m.Topic, m.TopicID, offsets, m.Entries, m.Problem})
}

// MergedKind is what all markers of one recovery point amount to.
type MergedKind string

// The kinds of merged markers. Invalid has a problem and no offsets.
const (
	MergedVersioned MergedKind = "versioned"
	MergedLegacy    MergedKind = "legacy"
	MergedNone      MergedKind = "none"
	MergedInvalid   MergedKind = "invalid"
)

// Merged is the minimum per partition over all markers of a recovery point:
// where a restore begins to read.
type Merged struct {
	Kind    MergedKind `json:"kind"`
	Topic   *string    `json:"topic"`
	TopicID *string    `json:"topicId"`
	Offsets Offsets    `json:"offsets"`
	Problem *Problem   `json:"problem"`
}
