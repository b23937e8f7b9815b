package flinkmeta

import "iter"

// Role says what a stream holds.
type Role string

// The roles of streams.
const (
	RoleCoordinator        Role = "coordinator state"
	RoleManagedOperator    Role = "managed operator state"
	RoleRawOperator        Role = "raw operator state"
	RoleManagedKeyed       Role = "managed keyed state"
	RoleRawKeyed           Role = "raw keyed state"
	RoleIncrementalMeta    Role = "incremental file list"
	RoleIncrementalShared  Role = "shared state file"
	RoleIncrementalPrivate Role = "private state file"
	RoleChangelog          Role = "changelog file"
	RoleInputChannel       Role = "input channel state"
	RoleResultSubpartition Role = "result subpartition state"
)

// StreamRef is a stream handle with what it is for.
type StreamRef struct {
	Operator *Operator
	Subtask  int32 // index, or NoSubtask for the coordinator
	Role     Role
	Name     string  // local file name of a state backend file; else empty
	Stream   *Stream // never nil, never a KeyGroupsStream
}

// Streams goes through every stream handle of the metadata, in the file's
// order. Null handles are left out; empty segments are not. Several references
// may name the same file: incremental files and in-flight data are shared.
func (m *Metadata) Streams() iter.Seq[StreamRef] {
	return func(yield func(StreamRef) bool) {
		w := walker{yield: yield}
		for i := range m.Operators {
			if !w.operator(&m.Operators[i]) {
				return
			}
		}
	}
}

// walker carries where it is; each method returns false to stop.
type walker struct {
	yield func(StreamRef) bool
	at    StreamRef
}

func (w *walker) stream(s *Stream, role Role, name string) bool {
	s = s.Leaf()
	if s == nil {
		return true
	}
	ref := w.at
	ref.Role, ref.Name, ref.Stream = role, name, s
	return w.yield(ref)
}

func (w *walker) operator(o *Operator) bool {
	w.at = StreamRef{Operator: o, Subtask: NoSubtask}
	if !w.stream(o.Coordinator, RoleCoordinator, "") {
		return false
	}
	for i := range o.Subtasks {
		if !w.subtask(&o.Subtasks[i]) {
			return false
		}
	}
	return true
}

func (w *walker) subtask(s *Subtask) bool {
	w.at.Subtask = s.Index
	return w.operatorState(s.ManagedOperator, RoleManagedOperator) &&
		w.operatorState(s.RawOperator, RoleRawOperator) &&
		w.keyed(s.ManagedKeyed, RoleManagedKeyed) &&
		w.keyed(s.RawKeyed, RoleRawKeyed) &&
		w.channels(s.InputChannels, RoleInputChannel) &&
		w.channels(s.ResultSubpartitions, RoleResultSubpartition)
}

func (w *walker) operatorState(o *OperatorState, role Role) bool {
	return o == nil || w.stream(o.Stream, role, "")
}

func (w *walker) keyed(k *KeyedState, role Role) bool {
	switch {
	case k == nil:
		return true
	case k.KeyGroups != nil:
		return w.stream(k.KeyGroups.Stream, role, "")
	case k.Incremental != nil:
		return w.stream(k.Incremental.Meta, RoleIncrementalMeta, "") &&
			w.files(k.Incremental.Shared, RoleIncrementalShared) &&
			w.files(k.Incremental.Private, RoleIncrementalPrivate)
	case k.Changelog != nil:
		for _, parts := range [][]*KeyedState{k.Changelog.Materialized, k.Changelog.Changes} {
			for _, p := range parts {
				if !w.keyed(p, role) {
					return false
				}
			}
		}
	case k.File != nil:
		for _, p := range k.File.Parts {
			if !w.stream(p.Stream, RoleChangelog, "") {
				return false
			}
		}
	}
	return true
}

func (w *walker) files(files []NamedStream, role Role) bool {
	for _, f := range files {
		if !w.stream(f.Stream, role, f.Name) {
			return false
		}
	}
	return true
}

func (w *walker) channels(channels []ChannelState, role Role) bool {
	for i := range channels {
		if !w.stream(channels[i].Stream, role, "") {
			return false
		}
	}
	return true
}
