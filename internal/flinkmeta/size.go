package flinkmeta

import "math"

// Size is a sum of state sizes in bytes. Flink adds −1 for a file whose size it
// does not know; here such files are counted apart.
type Size struct {
	Bytes   int64 // of all handles with a known size; stays at the largest int64 rather than overflow
	Unknown int   // handles whose size the metadata does not say
}

func (s *Size) add(n int64) {
	switch {
	case n < 0:
		s.Unknown++
	case s.Bytes > math.MaxInt64-n:
		s.Bytes = math.MaxInt64
	default:
		s.Bytes += n
	}
}

func (s *Size) merge(o Size) {
	s.add(o.Bytes)
	s.Unknown += o.Unknown
}

// StateSize is the number of bytes that the handle stands for, or UnknownSize.
// It is 0 for a null handle.
func (s *Stream) StateSize() int64 {
	s = s.Leaf()
	switch {
	case s == nil || s.Kind == EmptySegmentStream:
		return 0
	case s.Kind == InlineStream && !s.Left():
		return int64(len(s.Data))
	default:
		return s.Size
	}
}

// StateSize is the size of the handle as Flink counts it: all files, also those
// that earlier checkpoints wrote.
func (k *KeyedState) StateSize() Size {
	var sum Size
	switch {
	case k == nil:
	case k.KeyGroups != nil:
		sum.add(k.KeyGroups.Stream.StateSize())
	case k.Incremental != nil:
		sum.add(k.Incremental.Meta.StateSize())
		for _, files := range [][]NamedStream{k.Incremental.Shared, k.Incremental.Private} {
			for _, f := range files {
				sum.add(f.Stream.StateSize())
			}
		}
	case k.Changelog != nil:
		for _, parts := range [][]*KeyedState{k.Changelog.Materialized, k.Changelog.Changes} {
			for _, p := range parts {
				sum.merge(p.StateSize())
			}
		}
	case k.InMemory != nil:
		for _, c := range k.InMemory.Changes {
			sum.add(int64(len(c.Data)))
		}
	case k.File != nil:
		sum.add(k.File.Size)
	}
	return sum
}

// StateSize is the size of all state of the subtask, in-flight data included.
func (s *Subtask) StateSize() Size {
	var sum Size
	for _, o := range []*OperatorState{s.ManagedOperator, s.RawOperator} {
		if o != nil {
			sum.add(o.Stream.StateSize())
		}
	}
	sum.merge(s.ManagedKeyed.StateSize())
	sum.merge(s.RawKeyed.StateSize())
	for _, channels := range [][]ChannelState{s.InputChannels, s.ResultSubpartitions} {
		for _, c := range channels {
			sum.add(c.Size)
		}
	}
	return sum
}

// StateSize is the size of the coordinator's and of all subtasks' state.
func (o *Operator) StateSize() Size {
	var sum Size
	sum.add(o.Coordinator.StateSize())
	for i := range o.Subtasks {
		sum.merge(o.Subtasks[i].StateSize())
	}
	return sum
}

// StateSize is the size of all operators' state, as Flink shows it for a
// checkpoint.
func (m *Metadata) StateSize() Size {
	var sum Size
	for i := range m.Operators {
		sum.merge(m.Operators[i].StateSize())
	}
	return sum
}
