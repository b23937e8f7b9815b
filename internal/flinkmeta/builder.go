package flinkmeta

import "fmt"

// OperatorStreamBuilder writes an operator state stream. The zero value is not
// useful: see NewOperatorStreamBuilder.
type OperatorStreamBuilder struct {
	version    int32
	compressed bool
	list       []builtState
	broadcast  []builtState
}

type builtState struct {
	info     StateInfo
	mode     Mode
	elements [][]byte
}

// NewOperatorStreamBuilder makes a builder for stream version 5 or 6. Version 5
// cannot be compressed.
func NewOperatorStreamBuilder(version int32, compressed bool) *OperatorStreamBuilder {
	return &OperatorStreamBuilder{version: version, compressed: compressed}
}

// ListState describes a list state of one serializer; mode is Union or
// SplitDistribute.
func ListState(name string, mode Mode, serializer Serializer) StateInfo {
	return StateInfo{
		Name: name, Type: TypeOperator,
		Options:     []Option{{OptionDistributionMode, mode.String()}},
		Serializers: []SerializerInfo{{SerializerValue, serializer}},
	}
}

// StringSerializer is the snapshot of Flink's serializer of strings.
func StringSerializer() Serializer { return Serializer{Class: classStringSnapshot, Version: 3} }

// LongSerializer is the snapshot of Flink's serializer of longs.
func LongSerializer() Serializer { return Serializer{Class: classLongSnapshot, Version: 3} }

// KryoSerializer is the snapshot of a Kryo serializer of java.lang.Object with
// nothing registered but what Flink registers when flink-avro is absent: what
// Flink Agents uses for recovery markers.
func KryoSerializer() Serializer {
	const (
		object    = "java.lang.Object"
		avroArray = "org.apache.avro.generic.GenericData$Array"
		avroDummy = runtimePackage + "kryo.Serializers$DummyAvroRegisteredClass"
		avroKryo  = runtimePackage + "kryo.Serializers$DummyAvroKryoSerializerClass"
	)
	var e encoder
	e.utf(object)
	e.i64(optionalMapMagic)
	e.i32(2)
	e.registration(object, func(v *encoder) { v.utf(object); v.i32(0) })
	e.registration(avroArray, func(v *encoder) { v.utf(avroDummy); v.i32(1); v.utf(avroKryo) })
	for range 2 { // default serializers, default serializer classes: none
		e.i64(optionalMapMagic)
		e.i32(0)
	}
	return Serializer{
		Class: classKryoSnapshot, Version: 2, Body: e.out,
		Kryo: &KryoSnapshot{TypeClass: object, Registered: []string{object, avroDummy}},
	}
}

// registration writes an entry of the optional map of Kryo registrations.
func (e *encoder) registration(name string, value func(*encoder)) {
	var key, val encoder
	key.utf(name)
	value(&val)
	e.utf(name)
	e.bool(true)
	e.bytes32(key.out)
	e.bool(true)
	e.bytes32(val.out)
}

// Add appends a state with its elements, each as the state's serializer writes
// it. The mode is the one that info's options name; a BROADCAST state has one
// element, its whole map.
func (b *OperatorStreamBuilder) Add(info StateInfo, elements ...[]byte) *OperatorStreamBuilder {
	mode := modeOf(&info)
	s := builtState{info: info, mode: mode, elements: elements}
	if mode == Broadcast {
		b.broadcast = append(b.broadcast, s)
	} else {
		b.list = append(b.list, s)
	}
	return b
}

// noMode stands for a state whose options name no mode.
const noMode Mode = 255

func modeOf(info *StateInfo) Mode {
	name, _ := info.Option(OptionDistributionMode)
	for _, m := range []Mode{SplitDistribute, Union, Broadcast} {
		if m.String() == name {
			return m
		}
	}
	return noMode
}

// Build returns the stream and what a handle says about its states, in stream
// order.
func (b *OperatorStreamBuilder) Build() ([]byte, []StateOffsets, error) {
	var e encoder
	e.i32(b.version)
	switch b.version {
	case streamWithoutFlag:
		e.check(!b.compressed, "stream version %d cannot be compressed", b.version)
	case streamWithFlag:
		e.bool(b.compressed)
	default:
		e.check(false, "stream version %d cannot be written", b.version)
	}
	e.stateInfos(b.list)
	e.stateInfos(b.broadcast)
	if b.compressed {
		e.raw([]byte(streamIdentifier))
	}
	states := make([]StateOffsets, 0, len(b.list)+len(b.broadcast))
	for _, group := range [][]builtState{b.list, b.broadcast} {
		for _, s := range group {
			states = append(states, e.elements(&s, b.compressed))
		}
	}
	if e.err != nil {
		return nil, nil, fmt.Errorf("build operator state stream: %w", e.err)
	}
	return e.out, states, nil
}

func (e *encoder) elements(s *builtState, compressed bool) StateOffsets {
	e.check(s.mode != noMode, "state %s names no distribution mode", quote(s.info.Name))
	e.check(s.mode != Broadcast || len(s.elements) == 1, "broadcast state %s has %d elements, it needs one", quote(s.info.Name), len(s.elements))
	o := StateOffsets{Name: s.info.Name, Mode: s.mode}
	for _, element := range s.elements {
		e.check(len(element) > 0, "an element of state %s is empty and could not be told from the next", quote(s.info.Name))
		o.Offsets = append(o.Offsets, int64(len(e.out)))
		if compressed {
			e.out = appendFramed(e.out, element)
		} else {
			e.raw(element)
		}
	}
	return o
}

func (e *encoder) stateInfos(states []builtState) {
	e.check(len(states) < 1<<15, "%d states are too many", len(states))
	e.i16(int16(len(states)))
	for i := range states {
		s := &states[i].info
		e.utf(s.Name)
		e.i32(int32(s.Type))
		e.count(len(s.Options))
		for _, o := range s.Options {
			e.utf(o.Key)
			e.utf(o.Value)
		}
		e.count(len(s.Serializers))
		for _, x := range s.Serializers {
			e.utf(x.Key)
			e.i32(serializerFormat)
			e.utf(x.Class)
			e.i32(x.Version)
			e.raw(x.Body)
		}
	}
}
