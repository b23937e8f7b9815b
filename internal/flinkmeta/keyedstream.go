package flinkmeta

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/recoverctl/recoverctl/internal/fault"
)

const (
	keyedVersion = 6 // of keyed state streams since Flink 1.8
	// maxKeyedHeader is the largest header of a keyed state stream that is read.
	maxKeyedHeader = 16 << 20
	// keyedSubject names a keyed state stream in messages.
	keyedSubject = "keyed state stream"
)

// KeyedHeader is the description of all keyed states at the start of a keyed
// state stream. A RocksDB or ForSt checkpoint has it as a file of its own.
type KeyedHeader struct {
	Compressed bool
	Key        Serializer
	States     []StateInfo // a state's id is its index
	Len        int64       // bytes, if Unknown is empty

	// Unknown is the class of a serializer snapshot whose length is not known:
	// the walk ended there, and States is not complete.
	Unknown string
}

// State is the id of a state, or -1.
func (h *KeyedHeader) State(name string) int {
	return slices.IndexFunc(h.States, func(s StateInfo) bool { return s.Name == name })
}

// DecodeKeyedHeader reads a header. The error is an *Error: fault.Unsupported
// (K1) for another version, else fault.Corrupt.
func DecodeKeyedHeader(data []byte) (KeyedHeader, error) {
	r := NewReader(keyedSubject, data, 0)
	version := r.I32("version")
	if r.OK() && version != keyedVersion {
		r.Fail(CheckKeyedVersion, 0, "version", "keyed state version %d is not supported (known: %d)", version, keyedVersion)
		r.err.Kind = fault.Unsupported
	}
	h := KeyedHeader{Compressed: r.Bool("compressed flag")}
	w := headerWalker{Reader: r}
	pos := r.Pos()
	if v := r.I32("version of the key serializer snapshot"); r.OK() && v != serializerFormat {
		r.corrupt(pos, "key serializer snapshot", "its format is not 2")
	}
	if r.OK() {
		h.Key = w.serializer()
		h.States = w.states("keyed states")
	}
	h.Unknown, h.Len = w.unknown, r.Pos()
	return h, r.Err()
}

// KeyedLayout is how the entries of a keyed state stream lie in it.
type KeyedLayout uint8

// The layouts. Canonical entries have lengths, so that any can be passed over;
// heap entries have none.
const (
	CanonicalLayout KeyedLayout = iota
	HeapLayout
)

// KeyedStream is the stream that a handle of key groups points to.
type KeyedStream struct {
	Header KeyedHeader
	Layout KeyedLayout

	src    io.ReaderAt
	size   int64
	prefix int // bytes of the key group's number in a canonical entry's key
	places []keyGroupPlace
}

// keyGroupPlace is where a key group that is not empty lies in the stream.
type keyGroupPlace struct {
	group      int32
	start, end int64
}

// OpenKeyedStream reads the start of a keyed state stream of size bytes, the
// whole of what handle.KeyGroups.Stream means. Only what is needed is read from
// src, in ranges. maxParallelism is the operator's.
//
// An *Error is about the bytes: K1 and fault.Unsupported for another version,
// F9 for key groups outside the stream. Any other error is src's.
func OpenKeyedStream(src io.ReaderAt, size int64, handle *KeyedState, maxParallelism int32) (*KeyedStream, error) {
	if handle == nil || handle.KeyGroups == nil {
		return nil, fault.New(fault.Bug, "read keyed state", "the handle has no key groups")
	}
	s := &KeyedStream{src: src, size: size, prefix: 1}
	if maxParallelism > 128 {
		s.prefix = 2
	}
	if err := s.place(handle); err != nil {
		return nil, err
	}
	end := size
	for _, p := range s.places {
		end = min(end, p.start)
	}
	if end > maxKeyedHeader {
		err := streamError(CheckKeyedVersion, 0, "header", "the header of the keyed state stream has %d bytes, more than the %d that are read", end, maxKeyedHeader)
		err.Kind = fault.Unsupported
		return nil, err
	}
	data, err := s.read(0, end)
	if err != nil {
		return nil, err
	}
	if s.Header, err = DecodeKeyedHeader(data); err != nil {
		return nil, err
	}
	if s.Header.Unknown == "" && s.Header.Len != end {
		return nil, streamError(CheckKeyedEntry, s.Header.Len, "header", "the first key group starts at %d, the header of the keyed state stream ends at %d", end, s.Header.Len)
	}
	s.Layout, err = s.layout(handle)
	return s, err
}

// place finds the key groups' places from the handle's offsets.
func (s *KeyedStream) place(handle *KeyedState) error {
	for i, offset := range handle.KeyGroups.Offsets {
		group := handle.Range.Start + int32(i)
		if offset == 0 {
			continue // an empty key group of a canonical stream
		}
		if offset < 0 || offset > s.size {
			return streamError(CheckOffset, offset, "key group", "offset %d of key group %d is outside its stream of %d bytes", offset, group, s.size)
		}
		if n := len(s.places); n > 0 {
			last := &s.places[n-1]
			if offset <= last.start {
				return streamError(CheckOffset, offset, "key group", "offset %d of key group %d does not follow offset %d of key group %d", offset, group, last.start, last.group)
			}
			last.end = offset
		}
		s.places = append(s.places, keyGroupPlace{group: group, start: offset, end: s.size})
	}
	return nil
}

// layout tells the layouts apart where the handle's kind does not: a heap
// stream has its own number in front of each key group.
func (s *KeyedStream) layout(handle *KeyedState) (KeyedLayout, error) {
	switch {
	case handle.Kind == KeyGroupsSavepoint:
		return CanonicalLayout, nil
	case slices.Contains(handle.KeyGroups.Offsets, 0):
		return CanonicalLayout, nil
	}
	for _, p := range s.places {
		if p.group == 0 && len(s.places) > 1 {
			continue // a state id may look like it
		}
		if p.end-p.start < 4 {
			return HeapLayout, nil // and its walk says what is wrong
		}
		b, err := s.read(p.start, 4)
		if err != nil {
			return HeapLayout, err
		}
		if int32(binary.BigEndian.Uint32(b)) == p.group {
			return HeapLayout, nil
		}
		if binary.BigEndian.Uint16(b) < uint16(len(s.Header.States)) || s.Header.Compressed && string(b) == streamIdentifier[:4] {
			return CanonicalLayout, nil
		}
		return HeapLayout, nil
	}
	return HeapLayout, nil
}

// read returns n bytes from offset on.
func (s *KeyedStream) read(offset, n int64) ([]byte, error) {
	b := make([]byte, n)
	return b, readFull(s.src, b, offset)
}

// readFull fills b. A source that ends early is damage; other errors are its
// own.
func readFull(src io.ReaderAt, b []byte, offset int64) error {
	n, err := src.ReadAt(b, offset)
	switch {
	case n == len(b):
		return nil
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return streamError(CheckParse, offset+int64(n), keyedSubject, "the keyed state stream ends at byte %d, and %d bytes from %d on are needed", offset+int64(n), len(b), offset)
	default:
		return err
	}
}

// KeyedEntry is one entry of a keyed state. Key and Value are valid until the
// callback returns.
type KeyedEntry struct {
	KeyGroup int32
	State    int // its id
	// Key is what the key's serializer wrote. It is nil where it can't be told
	// apart from what stands beside it.
	Key []byte
	// Value is nil unless it was asked for and is no longer than 1 MiB.
	Value []byte
	Size  int64 // of the value in bytes; -1 where that is not known
	// Elements is how many elements a list has; -1 for other states, and where
	// it is not known. Where elements have no length it is how many begin with a
	// class name.
	Elements int64
}

// KeyGroupContent is what was found in a key group. Its lists have one place
// for each state.
type KeyGroupContent struct {
	KeyGroup int32
	Bytes    int64   // of the stream, as stored
	Entries  []int64 // pairs of key and namespace; of a canonical map, its entries. -1: not known
	Sizes    []int64 // bytes of keys and values, not compressed. -1: not known

	// Closed says that the entries of a state could not be told apart, in the
	// heap layout: of each only its first key may have been delivered.
	Closed []bool
	// Ambiguous says that the states could not be told apart at all. It is a
	// limit of the format and no damage.
	Ambiguous bool
}

// KeyedVisitor says what a walk is to deliver.
type KeyedVisitor struct {
	Values func(state *StateInfo) bool // whose values are delivered; nil: none
	Entry  func(KeyedEntry) error      // nil: none
}

// Groups walks the key groups in order. An *Error is about the bytes of one key
// group, and the walk goes on with the next one; any other error ends it. The
// contents are valid until the next step.
func (s *KeyedStream) Groups(v KeyedVisitor) iter.Seq2[KeyGroupContent, error] {
	return func(yield func(KeyGroupContent, error) bool) {
		if s.Header.Unknown != "" {
			return
		}
		n := len(s.Header.States)
		content := KeyGroupContent{Entries: make([]int64, n), Sizes: make([]int64, n), Closed: make([]bool, n)}
		wanted := make([]bool, n)
		for i := range s.Header.States {
			wanted[i] = v.Values != nil && v.Values(&s.Header.States[i])
		}
		if v.Entry == nil {
			v.Entry = func(KeyedEntry) error { return nil }
		}
		walk := newHeapWalk(s, wanted, v.Entry).group
		if s.Layout == CanonicalLayout {
			walk = newCanonicalWalk(s, wanted, v.Entry).group
		}
		for _, p := range s.places {
			clear(content.Entries)
			clear(content.Sizes)
			clear(content.Closed)
			content.KeyGroup, content.Bytes, content.Ambiguous = p.group, p.end-p.start, false
			err := walk(p, &content)
			if !yield(content, err) {
				return
			}
			var damage *Error
			if err != nil && !errors.As(err, &damage) {
				return
			}
		}
	}
}

// listElements counts the elements of a canonical list, which are separated by
// one byte.
func listElements(value []byte, element *passer) int64 {
	if element != nil {
		r := NewReader(keyedSubject, value, 0)
		n := int64(0)
		for ; r.Len() > 0 && r.OK(); n++ {
			if element.pass(r); r.Len() > 0 {
				r.U8("separator")
			}
		}
		if !r.OK() {
			return -1
		}
		return n
	}
	if !beginsWithClass(value) {
		return -1
	}
	n := int64(1)
	for rest := value[1:]; ; n++ {
		at := -1
		for from := 0; ; {
			next := bytes.IndexByte(rest[from:], listSeparator)
			if next < 0 {
				return n
			}
			if from += next + 1; beginsWithClass(rest[from:]) {
				at = from
				break
			}
		}
		rest = rest[at:]
	}
}

const listSeparator = ','

// beginsWithClass says that Kryo's name of a first class stands at the start: a
// class by name, the name's number 0, and a name in ASCII.
func beginsWithClass(b []byte) bool {
	if len(b) < 4 || b[0] != 1 || b[1] != 0 {
		return false
	}
	b = b[2:]
	long := b[0]&0x80 != 0
	if long { // a length in front: the name is in plain ASCII behind it
		n := int(b[0] & 0x3f)
		at := 1
		if b[0]&0x40 != 0 {
			n |= int(b[1]&0x7f) << 6
			at = 2
		}
		if n < 2 || len(b) < at+n-1 {
			return false
		}
		b = b[at : at+n-1]
	}
	for i, c := range b {
		last := !long && c&0x80 != 0
		if !long {
			c &= 0x7f
		}
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '.') {
			return false
		}
		if last {
			return i > 0
		}
	}
	return long
}
