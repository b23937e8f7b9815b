package flinkmeta

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Encode writes m as a _metadata file of m.Version. Positions and decoded
// properties are ignored: Properties.Raw is written as it is. Where Raw is nil
// the properties are written from their fields, or as null if Kind is unknown.
//
// A field that the version has no place for is an error, so that nothing is
// dropped silently. Encode(Decode(b)) is b for every file that Flink writes. It
// may differ for bytes that Flink reads but never writes: a "true" other than
// 1, a negative subtask count other than −1, an overlong string form.
func Encode(m *Metadata) ([]byte, error) {
	if m.Version < MinVersion || m.Version > MaxVersion {
		return nil, fmt.Errorf("metadata version %d cannot be written (known: %d to %d)", m.Version, MinVersion, MaxVersion)
	}
	e := encoder{version: m.Version}
	e.i32(magic)
	e.i32(m.Version)
	e.i64(m.CheckpointID)
	e.check(m.CheckpointID >= 0, "checkpoint id %d is negative", m.CheckpointID)
	e.count(len(m.MasterStates))
	for i := range m.MasterStates {
		e.masterState(&m.MasterStates[i])
	}
	e.count(len(m.Operators))
	for i := range m.Operators {
		e.operator(&m.Operators[i])
	}
	e.properties(&m.Properties)
	if e.err != nil {
		return nil, fmt.Errorf("encode metadata: %w", e.err)
	}
	return e.out, nil
}

// encoder appends Java DataOutput values and keeps the first error.
type encoder struct {
	out     []byte
	version int32
	err     error
}

func (e *encoder) check(ok bool, format string, args ...any) {
	if !ok && e.err == nil {
		e.err = fmt.Errorf(format, args...)
	}
}

func (e *encoder) u8(v uint8)   { e.out = append(e.out, v) }
func (e *encoder) i16(v int16)  { e.out = binary.BigEndian.AppendUint16(e.out, uint16(v)) }
func (e *encoder) i32(v int32)  { e.out = binary.BigEndian.AppendUint32(e.out, uint32(v)) }
func (e *encoder) i64(v int64)  { e.out = binary.BigEndian.AppendUint64(e.out, uint64(v)) }
func (e *encoder) raw(b []byte) { e.out = append(e.out, b...) }

func (e *encoder) bool(v bool) {
	if v {
		e.u8(1)
	} else {
		e.u8(0)
	}
}

func (e *encoder) count(n int) {
	e.check(n <= math.MaxInt32, "a list or byte string of %d is too long", n)
	e.i32(int32(n))
}

func (e *encoder) bytes32(b []byte) {
	e.count(len(b))
	e.raw(b)
}

func (e *encoder) i64s(v []int64) {
	for _, n := range v {
		e.i64(n)
	}
}

func (e *encoder) utf(s string) {
	out, err := appendModifiedUTF8(e.out, s)
	if err != nil {
		e.check(false, "%w", err)
		return
	}
	e.out = out
}

func (e *encoder) masterState(s *MasterState) {
	e.i32(masterStateMagic)
	start := len(e.out)
	e.i32(0)
	e.i32(s.Version)
	e.utf(s.Name)
	e.bytes32(s.Payload)
	binary.BigEndian.PutUint32(e.out[start:], uint32(len(e.out)-start-4))
}

func (e *encoder) operator(o *Operator) {
	if e.version >= 5 {
		e.utf(o.Name)
		e.utf(o.UID)
	} else {
		e.check(o.Name == "" && o.UID == "", "operator %s has a name or uid, which version %d cannot hold", o.ID, e.version)
	}
	e.raw(o.ID[:])
	e.i32(o.Parallelism)
	e.i32(o.MaxParallelism)
	if e.version == 2 {
		e.i32(o.ChainLength)
		e.check(o.Coordinator == nil, "operator %s has coordinator state, which version 2 cannot hold", o.ID)
	} else {
		e.check(o.Coordinator == nil || o.Coordinator.Kind == InlineStream, "coordinator state of operator %s is not inline", o.ID)
		e.stream(o.Coordinator)
	}
	if o.FullyFinished {
		e.check(len(o.Subtasks) == 0, "operator %s is fully finished and has subtasks", o.ID)
		e.i32(-1)
		return
	}
	e.count(len(o.Subtasks))
	for i := range o.Subtasks {
		e.subtask(&o.Subtasks[i])
	}
}

func (e *encoder) subtask(s *Subtask) {
	if s.Finished {
		e.check(e.version >= 3, "subtask %d is finished, which version 2 cannot hold", s.Index)
		e.i32(-s.Index - 1)
		return
	}
	e.i32(s.Index)
	if e.version == 2 {
		e.i64(s.Duration)
		e.i32(0) // legacy states
	}
	for _, o := range []*OperatorState{s.ManagedOperator, s.RawOperator} {
		if o == nil {
			e.i32(0)
			continue
		}
		e.i32(1)
		e.operatorState(o)
	}
	e.keyed(s.ManagedKeyed)
	e.keyed(s.RawKeyed)
	if e.version < 3 {
		e.check(len(s.InputChannels)+len(s.ResultSubpartitions) == 0, "subtask %d has channel state, which version 2 cannot hold", s.Index)
		return
	}
	e.count(len(s.InputChannels))
	for i := range s.InputChannels {
		e.channel(&s.InputChannels[i], InputChannel, MergedInputChannels)
	}
	e.count(len(s.ResultSubpartitions))
	for i := range s.ResultSubpartitions {
		e.channel(&s.ResultSubpartitions[i], ResultSubpartition, MergedResultSubpartitions)
	}
}

func (e *encoder) properties(p *Properties) {
	switch {
	case e.version < 4:
		e.check(p.Raw == nil && p.Kind == KindUnknown, "version %d cannot hold checkpoint properties", e.version)
	case p.Raw != nil:
		e.raw(p.Raw)
	default:
		raw, err := p.javaStream()
		e.check(err == nil, "%w", err)
		e.raw(raw)
	}
}

// errIncomplete says that a handle lacks the part that its kind needs.
var errIncomplete = errors.New("the handle lacks the fields of its kind")
