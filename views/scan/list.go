package scan

import (
	"fmt"
	"slices"
	"sort"

	"github.com/recoverctl/recoverctl/inspect"
)

// List is an ordered list of rows that never changes. The zero List is empty.
type List struct {
	chunks [][]Row
	starts []int // index of the first row of each chunk
	n      int
}

// Len is the number of rows.
func (l List) Len() int { return l.n }

// At is row i, 0 ≤ i < Len.
func (l List) At(i int) Row {
	c := sort.SearchInts(l.starts, i+1) - 1
	return l.chunks[c][i-l.starts[c]]
}

// Find is the index of the row with this identity. Near is where it was before,
// as a row of an earlier list: in most cases that finds it without a search.
func (l List) Find(id string, near Row) (int, bool) {
	if near.Action != nil && near.ID() == id {
		if i, ok := l.index(near); ok {
			return i, true
		}
	}
	var part, call int32
	var first int64
	if _, err := fmt.Sscanf(id, "%d/%d/%d", &part, &first, &call); err != nil {
		return 0, false
	}
	for c, rows := range l.chunks {
		for i := range rows {
			if r := &rows[i]; r.first == first && r.part == part && r.call == call {
				return l.starts[c] + i, true
			}
		}
	}
	return 0, false
}

// index is where a row stands by its order.
func (l List) index(r Row) (int, bool) {
	c := sort.Search(len(l.chunks), func(c int) bool {
		rows := l.chunks[c]
		return compare(rows[len(rows)-1], r) >= 0
	})
	if c == len(l.chunks) {
		return 0, false
	}
	i, ok := slices.BinarySearchFunc(l.chunks[c], r, compare)
	return l.starts[c] + i, ok
}

// chunkSize is how many rows a full chunk is split at, in halves.
const chunkSize = 512

// chunkOf is a piece of the list that is being built. Once shared it belongs to a
// List, and is copied before it changes.
type chunkOf struct {
	rows   []Row
	shared bool
}

// builder makes Lists one after another: a row costs the same at ten rows and at
// a million, and a List as much as there are chunks.
type builder struct {
	chunks  []*chunkOf // none is empty
	actions map[inspect.RecordPosition]*inspect.ActionCalls
}

// take takes what became known since the last update.
func (b *builder) take(u inspect.CallUpdate) {
	if b.actions == nil {
		b.actions = map[inspect.RecordPosition]*inspect.ActionCalls{}
	}
	for i := range u.Changed {
		a := &u.Changed[i]
		at := inspect.RecordPosition{Partition: a.Partition, Offset: a.First}
		b.forget(at)
		b.actions[at] = a
		for _, row := range rowsOf(a, nil) {
			b.insert(row)
		}
	}
	for _, at := range u.Closed {
		b.forget(at)
	}
}

// forget removes an action that has ended or changed.
func (b *builder) forget(at inspect.RecordPosition) {
	a, ok := b.actions[at]
	if !ok {
		return
	}
	delete(b.actions, at)
	for _, row := range rowsOf(a, nil) {
		b.remove(row)
	}
}

// chunk is the first one that does not end before a row.
func (b *builder) chunk(r Row) int {
	return sort.Search(len(b.chunks), func(c int) bool {
		rows := b.chunks[c].rows
		return compare(rows[len(rows)-1], r) >= 0
	})
}

func (b *builder) insert(r Row) {
	if len(b.chunks) == 0 {
		b.chunks = []*chunkOf{{rows: []Row{r}}}
		return
	}
	c := min(b.chunk(r), len(b.chunks)-1)
	chunk := b.own(c)
	i, _ := slices.BinarySearchFunc(chunk.rows, r, compare)
	chunk.rows = slices.Insert(chunk.rows, i, r)
	if len(chunk.rows) > chunkSize {
		half := len(chunk.rows) / 2
		b.chunks = slices.Insert(b.chunks, c+1, &chunkOf{rows: slices.Clone(chunk.rows[half:])})
		chunk.rows = chunk.rows[:half]
	}
}

func (b *builder) remove(r Row) {
	c := b.chunk(r)
	if c == len(b.chunks) {
		return
	}
	chunk := b.own(c)
	i, ok := slices.BinarySearchFunc(chunk.rows, r, compare)
	if !ok {
		return
	}
	chunk.rows = slices.Delete(chunk.rows, i, i+1)
	if len(chunk.rows) == 0 {
		b.chunks = slices.Delete(b.chunks, c, c+1)
	}
}

// own makes a chunk one that may change.
func (b *builder) own(c int) *chunkOf {
	if b.chunks[c].shared {
		rows := make([]Row, len(b.chunks[c].rows), chunkSize+1)
		copy(rows, b.chunks[c].rows)
		b.chunks[c] = &chunkOf{rows: rows}
	}
	return b.chunks[c]
}

// list is what there is by now.
func (b *builder) list() List {
	l := List{chunks: make([][]Row, len(b.chunks)), starts: make([]int, len(b.chunks))}
	for i, chunk := range b.chunks {
		chunk.shared = true
		l.chunks[i], l.starts[i] = chunk.rows, l.n
		l.n += len(chunk.rows)
	}
	return l
}
