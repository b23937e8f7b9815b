package scan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/recoverctl/recoverctl/inspect"
)

// List is an ordered list of rows that never changes. The zero List is empty.
type List struct {
	rows   sorted
	places sorted // the same rows by their identity
}

// Len is the number of rows.
func (l List) Len() int { return l.rows.n }

// At is row i, 0 ≤ i < Len.
func (l List) At(i int) Row {
	c := l.rows.chunkOf(i)
	return l.rows.chunks[c][i-l.rows.starts[c]]
}

// Walk returns At for somebody who asks for one row after another: it looks for a
// row near the last one first. It may not be called by two goroutines at once.
func (l List) Walk() func(i int) Row {
	var chunk []Row
	from := 0
	return func(i int) Row {
		if i < from || i >= from+len(chunk) {
			c := l.rows.chunkOf(i)
			chunk, from = l.rows.chunks[c], l.rows.starts[c]
		}
		return chunk[i-from]
	}
}

// Find is the index of the row with this identity, found without a look at the
// others.
func (l List) Find(id string) (int, bool) {
	var r Row
	if _, err := fmt.Sscanf(id, "%d/%d/%d", &r.part, &r.first, &r.call); err != nil {
		return 0, false
	}
	i, ok := l.places.index(r, byPlace)
	if !ok {
		return 0, false
	}
	c := l.places.chunkOf(i)
	return l.rows.index(l.places.chunks[c][i-l.places.starts[c]], compare)
}

// byPlace orders rows by their identity.
func byPlace(a, b Row) int {
	return cmp.Or(cmp.Compare(a.part, b.part), cmp.Compare(a.first, b.first), cmp.Compare(a.call, b.call))
}

// builder makes Lists one after another: a row costs the same at ten rows and at
// a million, and a List as much as there are chunks.
type builder struct {
	rows   chunks
	places chunks
}

// take takes what became known since the last update.
func (b *builder) take(u inspect.CallUpdate) {
	for i := range u.Changed {
		a := &u.Changed[i]
		b.forget(inspect.RecordPosition{Partition: a.Partition, Offset: a.First})
		for _, row := range rowsOf(a, nil) {
			b.rows.insert(row, compare)
			b.places.insert(row, byPlace)
		}
	}
	for _, at := range u.Closed {
		b.forget(at)
	}
}

// forget removes an action that has ended or changed.
func (b *builder) forget(at inspect.RecordPosition) {
	known, ok := b.places.from(Row{part: at.Partition, first: at.Offset, call: NoCall}, byPlace)
	if !ok || known.part != at.Partition || known.first != at.Offset {
		return
	}
	for _, row := range rowsOf(known.Action, nil) {
		b.rows.remove(row, compare)
		b.places.remove(row, byPlace)
	}
}

// list is what there is by now.
func (b *builder) list() List { return List{rows: b.rows.share(), places: b.places.share()} }

// Sort makes the list of all calls of actions, ordered by what restores from the
// recovery points do to them. The actions must not change afterwards.
func Sort(actions []inspect.ActionCalls, points []string) List {
	var rows []Row
	for i := range actions {
		rows = append(rows, rowsOf(&actions[i], points)...)
	}
	places := slices.Clone(rows)
	slices.SortFunc(rows, compare)
	slices.SortFunc(places, byPlace)
	return List{rows: cut(rows), places: cut(places)}
}
