package arkhub

import (
	"bytes"
	"encoding/json"
)

// Spec is a job's own description. Hubs send it as text with JSON inside; an
// object is taken as well. Raw may hold secrets of sources and sinks: it is never
// shown.
type Spec struct {
	JobSpec
	Raw json.RawMessage // the object; nil: not exposed, or not readable
}

// JobSpec is the part of a job's description that recovery depends on.
type JobSpec struct {
	ID             Text              `json:"id"`
	Version        Count             `json:"version"`
	Parallelism    Count             `json:"parallelism"`
	MaxParallelism Count             `json:"max_parallelism"`
	Operators      []OperatorSpec    `json:"operators"`
	Sources        []SourceSpec      `json:"sources"`
	State          StateSpec         `json:"state"`
	Checkpoint     CheckpointSpec    `json:"checkpoint"`
	Recovery       Text              `json:"recovery"` // latest_checkpoint, latest_savepoint, fail
	Rescale        Fact[RescaleSpec] `json:"rescale"`
}

// RescaleSpec only says that it is there: later hubs then don't ask for an equal
// set of tasks.
type RescaleSpec struct{}

// OperatorSpec is one operator of a job.
type OperatorSpec struct {
	ID       Text `json:"id"`
	Kind     Text `json:"kind"`
	Stateful Flag `json:"stateful"`
}

// SourceSpec is one source of a job.
type SourceSpec struct {
	OperatorID Text `json:"operator_id"`
	InputType  Text `json:"input_type"`
}

// StateSpec is how a job keeps its state.
type StateSpec struct {
	Backend       Text  `json:"backend"`
	FormatVersion Count `json:"format_version"`
}

// CheckpointSpec is how a job takes checkpoints.
type CheckpointSpec struct {
	IntervalMs     Count `json:"interval_ms"`
	Retention      Count `json:"retention"`
	ObjectStoreURI Text  `json:"object_store_uri"`
}

// Defaults of a job's description, as the engine has them.
const (
	DefaultIntervalMs    = 30_000
	DefaultFormatVersion = 1
)

// Readable reports whether the hub exposed a description that could be read.
func (s Spec) Readable() bool { return s.Raw != nil }

// Stateful reports whether any operator keeps state.
func (s JobSpec) Stateful() bool {
	for _, o := range s.Operators {
		if o.Stateful.Or(false) {
			return true
		}
	}
	return false
}

// UnmarshalJSON never fails: what can't be read is not exposed.
func (s *Spec) UnmarshalJSON(data []byte) error {
	*s = Spec{}
	object := unquote(data)
	var spec JobSpec
	if !isObject(object) || json.Unmarshal(object, &spec) != nil {
		return nil //nolint:nilerr // a fact that is not exposed
	}
	*s = Spec{JobSpec: spec, Raw: bytes.Clone(object)}
	return nil
}

// MarshalJSON writes the whole description, null where there is none.
func (s Spec) MarshalJSON() ([]byte, error) {
	if s.Raw == nil {
		return []byte("null"), nil
	}
	return s.Raw, nil
}

// Plan is what a hub makes of a description: the tasks that must be there.
type Plan struct {
	Tasks []PlannedTask
	Raw   json.RawMessage // nil: not exposed, or not readable
}

// PlannedTask is one task of a plan.
type PlannedTask struct {
	ID         string `json:"id"`
	OperatorID Text   `json:"operator_id"`
	Subtask    Count  `json:"subtask"`
}

// TaskIDs are the planned tasks; known is false where the hub exposes none.
func (p Plan) TaskIDs() (ids []string, known bool) {
	for _, t := range p.Tasks {
		if t.ID != "" {
			ids = append(ids, t.ID)
		}
	}
	return ids, len(ids) > 0
}

// UnmarshalJSON never fails: what can't be read is not exposed.
func (p *Plan) UnmarshalJSON(data []byte) error {
	*p = Plan{}
	object := unquote(data)
	var plan struct {
		Tasks []PlannedTask `json:"tasks"`
	}
	if !isObject(object) || json.Unmarshal(object, &plan) != nil {
		return nil //nolint:nilerr // a fact that is not exposed
	}
	*p = Plan{Tasks: plan.Tasks, Raw: bytes.Clone(object)}
	return nil
}

// MarshalJSON writes the whole plan, null where there is none.
func (p Plan) MarshalJSON() ([]byte, error) {
	if p.Raw == nil {
		return []byte("null"), nil
	}
	return p.Raw, nil
}

// unquote is the JSON inside a JSON string, or the value itself.
func unquote(data []byte) []byte {
	var inner string
	if json.Unmarshal(data, &inner) == nil {
		return []byte(inner)
	}
	return data
}

func isObject(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{"))
}
