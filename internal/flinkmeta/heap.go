package flinkmeta

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/recoverctl/recoverctl/internal/fault"
)

const (
	// maxHeapGroup is the largest key group of the heap layout that is read: it
	// has to be in memory, because its entries have no lengths.
	maxHeapGroup = 64 << 20
	// blockHead is what stands in front of a state's entries: its id and their
	// number.
	blockHead = 6
	// maxSearched is how many states a key group may have to be searched.
	maxSearched = 32
	// searchWork bounds a search, in places that are tried.
	searchWork = 1 << 20
)

// heapState is what a walk needs to know of a state.
type heapState struct {
	namespace, key, value passer
	list, queue           bool
	passable              bool // entries can be passed over
	keyed                 bool // at least the first key can be read
}

// heapWalk walks the key groups of a heap stream. Each has a block of entries
// for every state, in one order that holds for the whole stream and is not
// written down. A block that can't be passed over ends where the next ones begin
// to make sense: if that is at one place only, they are read.
type heapWalk struct {
	*KeyedStream
	wanted  []bool
	deliver func(KeyedEntry) error
	states  []heapState
	order   []int // of the blocks, once a key group has told it

	// of the key group that is walked
	data    []byte
	base    int64 // of data in the stream
	number  int32
	content *KeyGroupContent

	// of a search
	tried map[searchPlace]bool
	work  int
}

// searchPlace is a place of a search: which states are behind it, and where.
type searchPlace struct {
	seen uint32
	at   int
}

func newHeapWalk(s *KeyedStream, wanted []bool, deliver func(KeyedEntry) error) *heapWalk {
	w := &heapWalk{KeyedStream: s, wanted: wanted, deliver: deliver, states: make([]heapState, len(s.Header.States))}
	key, keyOK := passerOf(&s.Header.Key)
	for i := range w.states {
		info := &s.Header.States[i]
		kind, _ := info.Option(OptionKeyedStateType)
		st := heapState{key: key, list: kind == "LIST", queue: info.Type == TypePriorityQueue}
		value, ok := info.Serializer(SerializerValue)
		valueOK, namespaceOK := false, false
		if ok {
			st.value, valueOK = passerOf(&value)
		}
		if ns, ok := info.Serializer(SerializerNamespace); ok {
			st.namespace, namespaceOK = passerOf(&ns)
		}
		st.keyed = !st.queue && keyOK && namespaceOK
		st.passable = valueOK && (st.queue || st.keyed)
		w.states[i] = st
	}
	return w
}

func (w *heapWalk) group(place keyGroupPlace, content *KeyGroupContent) error {
	w.number, w.content = place.group, content
	if n := place.end - place.start; n > maxHeapGroup {
		err := streamError(CheckKeyGroup, place.start, "key group", "key group %d has %d bytes, more than the %d that are read of one", place.group, n, maxHeapGroup)
		err.Kind = fault.Unsupported
		return err
	}
	data, err := w.read(place.start, place.end-place.start)
	if err != nil {
		return err
	}
	if len(data) < 4 {
		return streamError(CheckKeyGroup, place.start, "key group", "key group %d has %d bytes", place.group, len(data))
	}
	if found := int32(binary.BigEndian.Uint32(data)); found != place.group {
		return streamError(CheckKeyGroup, place.start, "key group", "key group %d: found %d at its offset", place.group, found)
	}
	w.data, w.base = data[4:], place.start+4
	if w.Header.Compressed {
		return w.compressed()
	}
	return w.plain()
}

// block is the part of a key group that belongs to one state.
type block struct {
	id, at int
	n      int64
	end    int // -1: not known
}

// head reads what stands in front of a block. ok is false where no block of a
// state that is not among seen can stand.
func (w *heapWalk) head(at int, seen func(id int) bool) (b block, ok bool) {
	if len(w.data)-at < blockHead {
		return block{}, false
	}
	b = block{id: int(binary.BigEndian.Uint16(w.data[at:])), at: at, n: int64(int32(binary.BigEndian.Uint32(w.data[at+2:]))), end: -1}
	if b.id >= len(w.states) || seen(b.id) || b.n < 0 || b.n > int64(len(w.data)-at-blockHead) {
		return block{}, false
	}
	return b, true
}

// pass finds the end of a block whose entries can be passed over.
func (w *heapWalk) pass(b *block) error {
	st := &w.states[b.id]
	r := NewReader(keyedSubject, w.data[b.at+blockHead:], w.base+int64(b.at+blockHead))
	for i := int64(0); i < b.n && r.OK(); i++ {
		if !st.queue {
			st.namespace.pass(r)
			st.key.pass(r)
		}
		st.value.pass(r)
	}
	b.end = len(w.data) - r.Len()
	return r.Err()
}

// plain walks a key group that is not compressed.
func (w *heapWalk) plain() error {
	blocks, err := w.easy()
	if err != nil {
		return err
	}
	if blocks == nil && len(w.states) <= maxSearched {
		blocks = w.search()
	}
	if blocks == nil {
		w.content.Ambiguous = true
		for i := range w.states {
			w.content.Entries[i], w.content.Sizes[i] = -1, -1
		}
		return nil
	}
	return w.deliverAll(blocks)
}

// easy reads the blocks one behind the other. It returns none where one of them
// can't be passed over.
func (w *heapWalk) easy() ([]block, error) {
	var blocks []block
	at := 0
	for len(blocks) < len(w.states) {
		b, ok := w.head(at, func(id int) bool { return slices.ContainsFunc(blocks, func(b block) bool { return b.id == id }) })
		if !ok {
			return nil, w.undecoded(at)
		}
		if b.n > 0 && !w.states[b.id].passable {
			if len(blocks) == len(w.states)-1 {
				b.end = len(w.data) // the last one
				at = b.end
				blocks = append(blocks, b)
				continue
			}
			return nil, nil
		}
		if err := w.pass(&b); err != nil {
			var damage *Error
			errors.As(err, &damage)
			damage.Check, damage.Message = CheckKeyGroupEnd, w.undecoded(at).Message+": "+damage.Message
			return nil, damage
		}
		at = b.end
		blocks = append(blocks, b)
	}
	if at != len(w.data) {
		return nil, w.undecoded(at)
	}
	if w.order == nil {
		for _, b := range blocks {
			w.order = append(w.order, b.id)
		}
	}
	return blocks, nil
}

func (w *heapWalk) undecoded(at int) *Error {
	return streamError(CheckKeyGroupEnd, w.base+int64(at), "key group", "key group %d has %d undecoded bytes", w.number, len(w.data)-at)
}

// search finds the blocks of a key group of which some can't be passed over. A
// block whose place is not certain is left out; none at all where that holds for
// each of several ones.
func (w *heapWalk) search() []block {
	w.tried, w.work = map[searchPlace]bool{}, searchWork
	if !w.fits(searchPlace{}) || w.work <= 0 {
		return nil
	}
	places := map[int][]int{} // of each state's block
	visited := map[searchPlace]bool{}
	for queue := []searchPlace{{}}; len(queue) > 0; {
		p := queue[0]
		queue = queue[1:]
		if visited[p] || p.seen == w.all() {
			continue
		}
		visited[p] = true
		b, _ := w.head(p.at, func(int) bool { return false })
		places[b.id] = append(places[b.id], p.at)
		for next := range w.after(p, b) {
			if w.fits(next) {
				queue = append(queue, next)
			}
		}
	}
	if w.work <= 0 {
		return nil
	}
	var blocks []block
	for _, at := range places {
		if len(at) == 1 {
			b, _ := w.head(at[0], func(int) bool { return false })
			blocks = append(blocks, b)
		}
	}
	slices.SortFunc(blocks, func(x, y block) int { return x.at - y.at })
	for i := range blocks {
		b := &blocks[i]
		switch {
		case b.n == 0 || w.states[b.id].passable:
			if w.pass(b) != nil {
				return nil // it was passed before
			}
		case len(blocks) != len(w.states): // what follows it may be one that was left out
		case i+1 < len(blocks):
			b.end = blocks[i+1].at
		default:
			b.end = len(w.data)
		}
	}
	return blocks
}

func (w *heapWalk) all() uint32 { return uint32(uint64(1)<<len(w.states) - 1) }

// fits says that the rest of the key group can be made of the blocks that are
// not behind the place, each once.
func (w *heapWalk) fits(p searchPlace) bool {
	if p.seen == w.all() {
		return p.at == len(w.data)
	}
	if known, ok := w.tried[p]; ok {
		return known
	}
	if w.work--; w.work <= 0 {
		return false
	}
	w.tried[p] = false
	b, ok := w.next(p)
	if !ok {
		return false
	}
	for next := range w.after(p, b) {
		if w.fits(next) {
			w.tried[p] = true
			return true
		}
	}
	return false
}

// next is the block that begins at a place, if one can.
func (w *heapWalk) next(p searchPlace) (block, bool) {
	b, ok := w.head(p.at, func(id int) bool { return p.seen>>id&1 != 0 })
	if ok && w.order != nil {
		behind := 0
		for seen := p.seen; seen != 0; seen &= seen - 1 {
			behind++
		}
		ok = w.order[behind] == b.id
	}
	return b, ok
}

// after are the places that may follow a block.
func (w *heapWalk) after(p searchPlace, b block) func(func(searchPlace) bool) {
	return func(yield func(searchPlace) bool) {
		seen := p.seen | 1<<b.id
		if b.n == 0 || w.states[b.id].passable {
			passed := w.pass(&b) == nil
			w.work -= (b.end - b.at) / 64
			if passed {
				yield(searchPlace{seen, b.end})
			}
			return
		}
		first := p.at + blockHead + int(b.n) // an entry has at least one byte
		if seen == w.all() {
			if first <= len(w.data) {
				yield(searchPlace{seen, len(w.data)})
			}
			return
		}
		for at := first; at+blockHead <= len(w.data); at++ {
			to := bytes.IndexByte(w.data[at:], 0) // the upper byte of an id
			if to < 0 {
				return
			}
			at += to
			if _, ok := w.next(searchPlace{seen, at}); ok && !yield(searchPlace{seen, at}) {
				return
			}
			if w.work--; w.work <= 0 {
				return
			}
		}
	}
}

// deliverAll delivers the entries of blocks, and tells what is not known.
func (w *heapWalk) deliverAll(blocks []block) error {
	for i := range w.states {
		w.content.Entries[i], w.content.Sizes[i], w.content.Closed[i] = -1, -1, true
	}
	for _, b := range blocks {
		w.content.Entries[b.id] = b.n
		if b.end >= 0 {
			w.content.Sizes[b.id] = int64(b.end - b.at - blockHead)
		}
		w.content.Closed[b.id] = b.n > 0 && !w.states[b.id].passable
		if err := w.entries(b); err != nil {
			return err
		}
	}
	return nil
}

// entries delivers the entries of one block, of one that can't be passed over
// the first.
func (w *heapWalk) entries(b block) error {
	st := &w.states[b.id]
	if st.queue || !st.keyed {
		return nil
	}
	r := NewReader(keyedSubject, w.data[b.at+blockHead:], 0)
	for i := int64(0); i < b.n; i++ {
		st.namespace.pass(r)
		start := r.pos
		st.key.pass(r)
		e := KeyedEntry{KeyGroup: w.number, State: b.id, Key: r.buf[start:r.pos], Size: -1, Elements: -1}
		if !r.OK() {
			w.content.Closed[b.id] = true
			return nil // of a block that was not passed, and so may be another one
		}
		if st.list && r.Len() >= 4 {
			e.Elements = int64(int32(binary.BigEndian.Uint32(r.buf[r.pos:])))
		}
		if !st.passable {
			if b.n == 1 && b.end >= 0 {
				e.Size = int64(b.end-b.at-blockHead) - int64(r.pos)
			}
			if e.Elements < 0 || e.Elements > int64(r.Len()) {
				e.Elements = -1
			}
			return w.deliver(e)
		}
		start = r.pos
		st.value.pass(r)
		e.Size = int64(r.pos - start)
		if w.wanted[b.id] && e.Size <= maxKeyedPart {
			e.Value = r.buf[start:r.pos]
		}
		if err := w.deliver(e); err != nil {
			return err
		}
	}
	return nil
}

// compressed walks a key group in which each state's block is a framed stream of
// its own: where one ends is seen without understanding it.
func (w *heapWalk) compressed() error {
	data, base := w.data, w.base
	seen := make([]bool, len(w.states))
	for i := range w.states {
		w.content.Entries[i], w.content.Sizes[i], w.content.Closed[i] = -1, -1, true
	}
	for at := 0; at < len(data); {
		end := nextIdentifier(data, at)
		out, err := unframe(data[at:end], base+int64(at))
		if err != nil {
			return err
		}
		w.data, w.base = out, base+int64(at) // positions are those of the framed stream's start
		b, ok := w.head(0, func(id int) bool { return seen[id] })
		if !ok {
			w.data, w.base = data, base
			return w.undecoded(at)
		}
		seen[b.id], b.end = true, len(out)
		if b.n == 0 || w.states[b.id].passable {
			if err := w.pass(&b); err != nil || b.end != len(out) {
				w.data, w.base = data, base
				return w.undecoded(at)
			}
		}
		w.content.Entries[b.id], w.content.Sizes[b.id] = b.n, int64(len(out)-blockHead)
		w.content.Closed[b.id] = b.n > 0 && !w.states[b.id].passable
		if err := w.entries(b); err != nil {
			return err
		}
		at = end
	}
	if slices.Contains(seen, false) {
		w.data, w.base = data, base
		return w.undecoded(len(data))
	}
	return nil
}

// nextIdentifier finds where the framed stream after the one at at begins, by
// the lengths of its chunks.
func nextIdentifier(data []byte, at int) int {
	for first := true; at+4 <= len(data); first = false {
		if data[at] == chunkIdentifier && !first {
			return at
		}
		n := 4 + (int(data[at+1]) | int(data[at+2])<<8 | int(data[at+3])<<16)
		if n > len(data)-at {
			return len(data)
		}
		at += n
	}
	return len(data)
}
