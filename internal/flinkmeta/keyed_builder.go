package flinkmeta

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// KeyedStreamBuilder writes a keyed state stream of states of type VALUE and
// LIST whose namespace is VoidNamespace. The zero value is not useful: see
// NewKeyedStreamBuilder.
type KeyedStreamBuilder struct {
	layout     KeyedLayout
	compressed bool
	groups     KeyGroupRange
	prefix     int
	key        Serializer
	states     []builtState
	entries    map[int32][]builtEntry // by key group
}

type builtEntry struct {
	state      int
	key, value []byte
}

// NewKeyedStreamBuilder makes a builder for the key groups of one subtask.
func NewKeyedStreamBuilder(layout KeyedLayout, compressed bool, groups KeyGroupRange, maxParallelism int32, key Serializer) *KeyedStreamBuilder {
	b := &KeyedStreamBuilder{layout: layout, compressed: compressed, groups: groups, prefix: 1, key: key, entries: map[int32][]builtEntry{}}
	if maxParallelism > 128 {
		b.prefix = 2
	}
	return b
}

// KeyedValueState describes a keyed state of one value a key.
func KeyedValueState(name string, value Serializer) StateInfo {
	return keyedState(name, "VALUE", value)
}

// KeyedListState describes a keyed state of one list a key.
func KeyedListState(name string, element Serializer) StateInfo {
	return keyedState(name, "LIST", composite(classListSnapshot, element))
}

func keyedState(name, kind string, value Serializer) StateInfo {
	return StateInfo{
		Name: name, Type: TypeKeyValue, Options: []Option{{OptionKeyedStateType, kind}},
		Serializers: []SerializerInfo{{SerializerNamespace, Serializer{Class: classVoidNamespace, Version: 3}}, {SerializerValue, value}},
	}
}

// composite is the snapshot of a serializer that is made of others and has
// nothing of its own.
func composite(class string, nested ...Serializer) Serializer {
	var e encoder
	e.i32(compositeMagic)
	e.i32(1)
	e.i32(nestedMagic)
	e.i32(1)
	e.count(len(nested))
	for _, n := range nested {
		e.utf(n.Class)
		e.i32(n.Version)
		e.raw(n.Body)
	}
	return Serializer{Class: class, Version: 3, Body: e.out, Nested: nested}
}

// IntSerializer is the snapshot of Flink's serializer of ints.
func IntSerializer() Serializer { return Serializer{Class: classIntSnapshot, Version: 3} }

// State adds a state and returns its id.
func (b *KeyedStreamBuilder) State(info StateInfo) int {
	b.states = append(b.states, builtState{info: info})
	return len(b.states) - 1
}

// Put adds the entry of a key, each as its serializer writes it. What a list
// writes differs between the layouts.
func (b *KeyedStreamBuilder) Put(keyGroup int32, state int, key, value []byte) *KeyedStreamBuilder {
	b.entries[keyGroup] = append(b.entries[keyGroup], builtEntry{state, key, value})
	return b
}

// Build returns the stream and the offset of each key group in it.
func (b *KeyedStreamBuilder) Build() ([]byte, []int64, error) {
	var e encoder
	e.i32(keyedVersion)
	e.bool(b.compressed)
	e.i32(serializerFormat)
	e.utf(b.key.Class)
	e.i32(b.key.Version)
	e.raw(b.key.Body)
	e.stateInfos(b.states)
	for _, group := range slices.Sorted(maps.Keys(b.entries)) {
		e.check(group >= b.groups.Start && group <= b.groups.End(), "key group %d is not among %d to %d", group, b.groups.Start, b.groups.End())
		for _, entry := range b.entries[group] {
			e.check(entry.state >= 0 && entry.state < len(b.states), "there is no state %d", entry.state)
			e.check(len(entry.key) > 0, "a key has no bytes")
		}
	}
	if e.err != nil {
		return nil, nil, fmt.Errorf("build keyed state stream: %w", e.err)
	}
	offsets := make([]int64, 0, b.groups.Count)
	for i := range b.groups.Count {
		group := b.groups.Start + i
		entries := slices.Clone(b.entries[group])
		slices.SortStableFunc(entries, func(x, y builtEntry) int { return cmp.Compare(x.state, y.state) })
		switch {
		case b.layout == HeapLayout:
			offsets = append(offsets, int64(len(e.out)))
			e.i32(group)
			b.heapBlocks(&e, entries)
		case len(entries) == 0:
			offsets = append(offsets, 0)
		default:
			offsets = append(offsets, int64(len(e.out)))
			b.framed(&e, func(e *encoder) { b.canonicalGroup(e, group, entries) })
		}
	}
	return e.out, offsets, e.err
}

// framed writes a part as a framed stream of its own where the stream is
// compressed.
func (b *KeyedStreamBuilder) framed(e *encoder, write func(*encoder)) {
	if !b.compressed {
		write(e)
		return
	}
	var part encoder
	write(&part)
	e.raw([]byte(streamIdentifier))
	e.out = appendFramed(e.out, part.out)
}

func (b *KeyedStreamBuilder) heapBlocks(e *encoder, entries []builtEntry) {
	for id := range b.states {
		b.framed(e, func(e *encoder) {
			own := slices.DeleteFunc(slices.Clone(entries), func(x builtEntry) bool { return x.state != id })
			e.i16(int16(id))
			e.count(len(own))
			for _, entry := range own {
				e.u8(0)
				e.raw(entry.key)
				e.raw(entry.value)
			}
		})
	}
}

func (b *KeyedStreamBuilder) canonicalGroup(e *encoder, group int32, entries []builtEntry) {
	for i, entry := range entries {
		if i == 0 || entries[i-1].state != entry.state {
			e.i16(int16(entry.state))
		}
		e.count(b.prefix + len(entry.key) + 1)
		start := len(e.out)
		if b.prefix == 2 {
			e.u8(byte(group >> 8))
		}
		e.u8(byte(group))
		if i+1 == len(entries) || entries[i+1].state != entry.state {
			e.out[start] |= metaDataFollows
		}
		e.raw(entry.key)
		e.u8(0)
		e.bytes32(entry.value)
	}
	e.i16(-1)
}
