package scan

import (
	"slices"
	"sort"
)

// sorted is an ordered list of rows in pieces, which never changes.
type sorted struct {
	chunks [][]Row // none is empty
	starts []int   // index of the first row of each chunk
	n      int
}

// chunkOf is the chunk that row i is in.
func (l sorted) chunkOf(i int) int { return sort.SearchInts(l.starts, i+1) - 1 }

// index is where a row stands.
func (l sorted) index(r Row, order func(a, b Row) int) (int, bool) {
	c := sort.Search(len(l.chunks), func(c int) bool { return order(last(l.chunks[c]), r) >= 0 })
	if c == len(l.chunks) {
		return 0, false
	}
	i, ok := slices.BinarySearchFunc(l.chunks[c], r, order)
	return l.starts[c] + i, ok
}

func last(rows []Row) Row { return rows[len(rows)-1] }

// chunkSize is how many rows a full chunk is split at, in halves. What changes
// between two lists is copied by whole chunks.
const chunkSize = 128

// cut makes rows that are in order one list.
func cut(rows []Row) sorted {
	l := sorted{n: len(rows)}
	at := 0
	for chunk := range slices.Chunk(rows, chunkSize) {
		l.chunks, l.starts = append(l.chunks, chunk), append(l.starts, at)
		at += len(chunk)
	}
	return l
}

// chunks are an ordered list of rows that is being built, in pieces none of which
// is empty.
type chunks []*chunk

// chunk is a piece of such a list. Once shared it belongs to a list that was given
// out, and is copied before it changes.
type chunk struct {
	rows   []Row
	shared bool
}

// find is the first chunk that does not end before a row.
func (s chunks) find(r Row, order func(a, b Row) int) int {
	return sort.Search(len(s), func(c int) bool { return order(last(s[c].rows), r) >= 0 })
}

// from is the first row that does not come before r.
func (s chunks) from(r Row, order func(a, b Row) int) (Row, bool) {
	c := s.find(r, order)
	if c == len(s) {
		return Row{}, false
	}
	i, _ := slices.BinarySearchFunc(s[c].rows, r, order)
	return s[c].rows[i], true
}

func (s *chunks) insert(r Row, order func(a, b Row) int) {
	if len(*s) == 0 {
		*s = chunks{{rows: []Row{r}}}
		return
	}
	c := min(s.find(r, order), len(*s)-1)
	into := s.own(c)
	i, _ := slices.BinarySearchFunc(into.rows, r, order)
	into.rows = slices.Insert(into.rows, i, r)
	if len(into.rows) > chunkSize {
		half := len(into.rows) / 2
		*s = slices.Insert(*s, c+1, &chunk{rows: slices.Clone(into.rows[half:])})
		into.rows = into.rows[:half]
	}
}

func (s *chunks) remove(r Row, order func(a, b Row) int) {
	c := s.find(r, order)
	if c == len(*s) {
		return
	}
	i, ok := slices.BinarySearchFunc((*s)[c].rows, r, order)
	if !ok {
		return
	}
	from := s.own(c)
	from.rows = slices.Delete(from.rows, i, i+1)
	if len(from.rows) == 0 {
		*s = slices.Delete(*s, c, c+1)
	}
}

// own makes a chunk one that may change.
func (s chunks) own(c int) *chunk {
	if s[c].shared {
		rows := make([]Row, len(s[c].rows), chunkSize+1)
		copy(rows, s[c].rows)
		s[c] = &chunk{rows: rows}
	}
	return s[c]
}

// share gives out what there is by now.
func (s chunks) share() sorted {
	l := sorted{chunks: make([][]Row, len(s)), starts: make([]int, len(s))}
	for i, piece := range s {
		piece.shared = true
		l.chunks[i], l.starts[i] = piece.rows, l.n
		l.n += len(piece.rows)
	}
	return l
}
