package flinkmeta

import (
	"encoding/binary"

	"github.com/recoverctl/recoverctl/internal/fault"
)

const (
	endOfKeyGroup   = 0xFFFF
	metaDataFollows = 0x80 // flag in the first byte of an entry's key
)

// canonicalState is what a walk needs to know of a state.
type canonicalState struct {
	list, mapped bool
	queue        bool    // entries are elements of a queue: they have no value and no key of their own
	element      *passer // of a list; nil: not known
	namespace    int     // bytes behind the key; -1: they can't be told apart
}

// canonicalWalk walks the key groups of a canonical stream.
type canonicalWalk struct {
	*KeyedStream
	wanted  []bool
	deliver func(KeyedEntry) error
	states  []canonicalState
	keys    passer // without a pass where the key's serializer is not known
	full    []byte // of the entry that is read

	// of the key group that is walked
	in      cursor
	number  int32
	content *KeyGroupContent
}

func newCanonicalWalk(s *KeyedStream, wanted []bool, deliver func(KeyedEntry) error) *canonicalWalk {
	w := &canonicalWalk{KeyedStream: s, wanted: wanted, deliver: deliver, states: make([]canonicalState, len(s.Header.States))}
	for i := range w.states {
		w.states[i] = canonicalStateOf(&s.Header.States[i])
	}
	if keys, ok := passerOf(&s.Header.Key); ok {
		w.keys = keys
	}
	return w
}

func (w *canonicalWalk) group(place keyGroupPlace, content *KeyGroupContent) error {
	raw := newPlain(w.src, place.start, place.end)
	w.in, w.number, w.content = raw, place.group, content
	unused := raw.left
	if w.Header.Compressed {
		f := &framed{in: raw, chunk: place.start}
		w.in, unused = f, func() int64 { return int64(len(f.block)) + raw.left() }
	}
	id, err := w.stateID()
	for err == nil && id != endOfKeyGroup {
		var last bool
		if last, err = w.entry(id); err == nil && last {
			id, err = w.stateID()
		}
	}
	if err != nil {
		return err
	}
	if left := unused(); left > 0 {
		return w.wrong(w.in.pos(), "key group", "%d bytes are left behind its end mark", left)
	}
	return nil
}

func (w *canonicalWalk) wrong(pos int64, what, format string, args ...any) *Error {
	return streamError(CheckKeyedEntry, pos, what, "key group %d: "+format, append([]any{w.number}, args...)...)
}

// stateID reads which state the next entries are of, or that none follow.
func (w *canonicalWalk) stateID() (int, error) {
	pos := w.in.pos()
	b, err := w.in.next(2, "state id")
	if err != nil {
		return 0, err
	}
	id := int(binary.BigEndian.Uint16(b))
	if id != endOfKeyGroup && id >= len(w.states) {
		return 0, w.wrong(pos, "state id", "unknown state id %d, there are %d states", id, len(w.states))
	}
	return id, nil
}

func canonicalStateOf(info *StateInfo) canonicalState {
	kind, _ := info.Option(OptionKeyedStateType)
	out := canonicalState{list: kind == "LIST", mapped: kind == "MAP", queue: info.Type == TypePriorityQueue, namespace: -1}
	if ns, ok := info.Serializer(SerializerNamespace); ok {
		switch ns.Class {
		case classVoidNamespace:
			out.namespace = 1
		case classTimeWindow:
			out.namespace = 16
		}
	}
	if value, ok := info.Serializer(SerializerValue); out.list && ok && len(value.Nested) == 1 {
		if p, ok := passerOf(&value.Nested[0]); ok {
			out.element = &p
		}
	}
	return out
}

// entry reads one entry of a state. last says that the entries of another
// state, or the end, follow.
func (w *canonicalWalk) entry(id int) (last bool, err error) {
	state, pos := &w.states[id], w.in.pos()
	n, err := w.length("length of a key")
	switch {
	case err != nil:
		return false, err
	case n < int64(w.prefix):
		return false, w.wrong(pos, "key", "an entry's key has %d bytes", n)
	case n > maxKeyedPart:
		err := w.wrong(pos, "key", "a key has %d bytes, more than the %d that are read", n, maxKeyedPart)
		err.Kind = fault.Unsupported
		return false, err
	}
	b, err := w.in.next(int(n), "key")
	if err != nil {
		return false, err
	}
	w.full = append(w.full[:0], b...)
	last = w.full[0]&metaDataFollows != 0
	w.full[0] &^= metaDataFollows
	number := int32(w.full[0])
	if w.prefix == 2 {
		number = int32(binary.BigEndian.Uint16(w.full))
	}
	if number != w.number {
		return false, w.wrong(pos, "key", "entry of key group %d", number)
	}
	e := KeyedEntry{KeyGroup: number, State: id, Key: w.keyPart(w.full[w.prefix:], state), Elements: -1}
	if e.Size, err = w.length("length of a value"); err != nil {
		return false, err
	}
	if (w.wanted[id] || state.list) && e.Size <= maxKeyedPart {
		value, err := w.in.next(int(e.Size), "value")
		if err != nil {
			return false, err
		}
		if state.list {
			e.Elements = listElements(value, state.element)
		}
		if w.wanted[id] {
			e.Value = value
		}
	} else if err = w.in.skip(e.Size, "value"); err != nil {
		return false, err
	}
	w.content.Entries[id]++
	w.content.Sizes[id] += n + e.Size
	return last, w.deliver(e)
}

// length reads a 32-bit length that the bytes left allow.
func (w *canonicalWalk) length(what string) (int64, error) {
	pos := w.in.pos()
	b, err := w.in.next(4, what)
	if err != nil {
		return 0, err
	}
	n := int64(int32(binary.BigEndian.Uint32(b)))
	if n < 0 || n > w.in.left() {
		return 0, truncated(pos, what, n, w.in.left())
	}
	return n, nil
}

// keyPart cuts the key out of a composite one: what stands behind the key
// group's number and before the namespace.
func (w *canonicalWalk) keyPart(rest []byte, state *canonicalState) []byte {
	switch {
	case state.queue || state.namespace < 0:
		return nil
	case !state.mapped:
		if len(rest) < state.namespace {
			return nil
		}
		return rest[:len(rest)-state.namespace]
	case w.keys.pass == nil:
		return nil
	default:
		r := NewReader(keyedSubject, rest, 0)
		w.keys.pass(r)
		if !r.OK() {
			return nil
		}
		return rest[:r.Pos()]
	}
}
