package vtable

import (
	"fmt"
	"time"
)

// showsOn reports whether the table goes on showing its source while the filter
// looks through another one: rows that come ten times a second must not make a
// filtered table start anew each time.
func (t *Table) showsOn(source Source) bool {
	if t.filter == nil {
		return false
	}
	if _, ok := t.source.(Constant); !ok {
		return false
	}
	if e, ok := source.(Extender); ok && t.filter.base == nil && e.Extends(t.source) {
		return false
	}
	_, ok := source.(Constant)
	return ok
}

// following reports whether a newer source is being looked through or waits for
// that.
func (t *Table) following() bool { return t.next != nil || t.latest != nil }

// followTime is how long a step through a newer source takes: nobody waits for
// that one, and the next key may come at any time.
const followTime = stepTime / 2

// follow looks through the newer source for a moment, and shows it when all of it
// has been looked at.
func (t *Table) follow() {
	if t.next == nil {
		t.next = newFilter(t.filter.query, t.latest, nil, 0)
		t.latest = nil
	}
	t.next.step(t.next.n, time.Now().Add(followTime))
	if t.next.done() {
		next := t.next
		t.next = nil
		t.replace(next.source, next)
	}
}

// behind says how far a newer source has been looked through; "" where none
// follows.
func (t *Table) behind() string {
	switch {
	case !t.following():
		return ""
	case t.next == nil || t.next.n == 0:
		return "; newer rows wait"
	default:
		return fmt.Sprintf("; newer rows looked at %d %%", 100*int64(t.next.hi-t.next.lo)/int64(t.next.n))
	}
}

// overtake shows the newest source at once, before another filter begins.
func (t *Table) overtake() {
	source := t.latest
	if source == nil && t.next != nil {
		source = t.next.source
	}
	if source == nil {
		return
	}
	t.next, t.latest = nil, nil
	had, line := t.id, t.cursor-t.top
	place := t.place()
	t.filter, t.source = nil, source
	i, ok := t.find(had)
	if !ok {
		i = min(place, max(source.Len()-1, 0))
	}
	t.cursor = i
	t.top = max(i-line, 0)
	t.moveTo(i)
}
