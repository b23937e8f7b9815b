package vtable

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/recoverctl/recoverctl/tui"
)

// filter is a search for the rows with a text, and what it found so far. It
// goes from an origin to both sides, so that the rows around the selection are
// there at once, however many rows there are.
type filter struct {
	query   string // as typed
	text    Text
	inverse bool
	own     func(row int) bool // of a Querier; nil: the text decides
	note    string             // what it says about the query
	source  Source

	base   []int32 // the rows to look at, in order; nil: all
	n      int     // of base or of the source
	lo, hi int     // those of base from lo up to hi have been looked at
	origin int     // where it began

	before []int32 // rows found before the origin, the last one first
	after  []int32 // rows found from the origin on
}

// Step takes so long, unless a single row takes longer.
const stepTime = 4 * time.Millisecond

// checkEvery is how many rows are looked at between two looks at the time.
const checkEvery = 8

// SetFilter shows only rows with a text in a cell or among its words, or with
// "!" before it, only rows without it. Letters in lower case stand for those in
// upper case too. The empty query shows all rows. The selected row stays selected
// where it is shown; otherwise the next one that is shown is selected. What the
// command registers lets the table go on looking, and esc clear the filter.
func (t *Table) SetFilter(query string) tui.Cmd {
	t.setFilter(query)
	return tui.Work(t)
}

// Filter is the query as it was set; "" if all rows are shown.
func (t *Table) Filter() string {
	if t.filter == nil {
		return ""
	}
	return t.filter.query
}

// Shown is how many rows pass the filter, as far as they have been looked at;
// complete says whether all have been.
func (t *Table) Shown() (rows int, complete bool) {
	return t.len(), t.filter == nil || t.filter.done()
}

// Busy reports whether the table is still looking for rows that pass.
func (t *Table) Busy() bool { return t.filter != nil && !t.filter.done() || t.following() }

// Step looks for a few milliseconds.
func (t *Table) Step() {
	switch {
	case t.filter != nil && !t.filter.done():
		t.work()
	case t.following():
		t.follow()
	}
}

// Escape clears the filter, if the keys act on this table and it has one.
func (t *Table) Escape() bool {
	if t.filter == nil || t.idle {
		return false
	}
	t.setFilter("")
	return true
}

// filterKey edits the filter. It is in the footer where there are more rows
// than are shown.
func (t *Table) filterKey() tui.Key {
	return tui.Key{Keys: []string{"/"}, Help: "filter", Quiet: t.filter == nil && t.source.Len() < t.height, Run: func() tui.Cmd {
		before, selected := t.Filter(), t.id
		t.anchor = t.place()
		return tui.Batch(tui.Work(t), tui.Edit(tui.Line{
			Sign: "/", Value: before,
			Changed: func(query string) tui.Cmd { return t.SetFilter(query) },
			Accepted: func(string) tui.Cmd {
				t.anchor = -1
				return nil
			},
			Cancelled: func() tui.Cmd {
				t.setFilter(before)
				t.anchor = -1
				t.Select(selected)
				return nil
			},
		}))
	}}
}

// place is the row that the operator looks at.
func (t *Table) place() int {
	switch {
	case t.anchor >= 0:
		return min(t.anchor, max(t.source.Len()-1, 0))
	case t.len() > 0:
		return t.at(t.cursor)
	case t.filter != nil:
		return t.filter.originRow()
	default:
		return 0
	}
}

func (t *Table) setFilter(query string) {
	if query == t.Filter() {
		return
	}
	t.overtake()
	place, line := t.place(), t.cursor-t.top
	if query == "" {
		t.filter = nil
		t.cursor = place
		t.top = max(place-line, 0)
		t.moveTo(place)
		return
	}
	var among []int32
	if t.filter != nil && t.filter.narrows(query) {
		among = t.filter.all()
	}
	t.look(query, among, place, line)
}

// look begins to look for a query around a row, which was on a line of the
// window, among some rows or, where that is nil, all of them.
func (t *Table) look(query string, among []int32, around, line int) {
	t.filter = newFilter(query, t.source, among, around)
	t.stood = line
	t.cursor, t.top, t.id = 0, 0, ""
	t.work()
}

// work lets the filter go on, and keeps the selected row on its line.
func (t *Table) work() {
	had := len(t.filter.before)
	none := t.len() == 0
	t.filter.step(max(2*t.height, 100), time.Now().Add(stepTime))
	added := len(t.filter.before) - had
	switch {
	case t.len() == 0:
		return
	case none && len(t.filter.after) > 0:
		t.cursor = len(t.filter.before)
	case none:
		t.cursor = len(t.filter.before) - 1
	default:
		t.cursor += added
		t.top += added
	}
	if t.stood >= 0 {
		t.top = max(t.cursor-t.stood, 0)
	}
	t.moveTo(t.cursor)
}

// len is how many rows are shown.
func (t *Table) len() int {
	if t.filter == nil {
		return t.source.Len()
	}
	return len(t.filter.before) + len(t.filter.after)
}

// at is the index in the source of row i of those shown.
func (t *Table) at(i int) int {
	if t.filter == nil {
		return i
	}
	return t.filter.row(i)
}

// position is where a row of the source is among those shown.
func (t *Table) position(row int) (int, bool) {
	if t.filter == nil {
		return row, row < t.source.Len()
	}
	n := t.len()
	i := sort.Search(n, func(i int) bool { return t.filter.row(i) >= row })
	return i, i < n && t.filter.row(i) == row
}

func newFilter(query string, source Source, among []int32, around int) *filter {
	f := &filter{query: query, source: source, base: among, n: source.Len()}
	f.text, f.inverse = parseQuery(query)
	f.ask()
	f.origin = around
	if among != nil {
		f.n = len(among)
		f.origin, _ = slices.BinarySearch(among, int32(around))
	}
	f.origin = max(min(f.origin, f.n), 0)
	f.lo, f.hi = f.origin, f.origin
	return f
}

func (f *filter) done() bool { return f.lo == 0 && f.hi == f.n }

// originRow is the row around which it looks.
func (f *filter) originRow() int {
	if f.n == 0 {
		return 0
	}
	return f.candidate(min(f.origin, f.n-1))
}

func (f *filter) candidate(i int) int {
	if f.base == nil {
		return i
	}
	return int(f.base[i])
}

func (f *filter) row(i int) int {
	if i < len(f.before) {
		return int(f.before[len(f.before)-1-i])
	}
	return int(f.after[i-len(f.before)])
}

// all are the rows found, in order.
func (f *filter) all() []int32 {
	rows := make([]int32, 0, len(f.before)+len(f.after))
	rows = append(rows, f.before...)
	slices.Reverse(rows)
	return append(rows, f.after...)
}

// step looks until a time: first for enough rows after the origin, then for
// enough before it, then for the rest.
func (f *filter) step(enough int, until time.Time) {
	for count := 0; !f.done(); count++ {
		if count%checkEvery == 0 && count > 0 && time.Now().After(until) {
			return
		}
		forward := f.hi < f.n
		if len(f.after) >= enough && len(f.before) < enough && f.lo > 0 {
			forward = false
		}
		if forward {
			if row := f.candidate(f.hi); f.passes(row) {
				f.after = append(f.after, int32(row))
			}
			f.hi++
			continue
		}
		f.lo--
		if row := f.candidate(f.lo); f.passes(row) {
			f.before = append(f.before, int32(row))
		}
	}
	f.base = nil
	f.n, f.hi = f.source.Len(), f.source.Len()
}

// ask lets a source with a language of its own read the query.
func (f *filter) ask() {
	if q, ok := f.source.(Querier); ok {
		f.own, f.note = q.Query(f.text.text)
	}
}

func (f *filter) passes(row int) bool {
	if f.own != nil {
		return f.own(row) != f.inverse
	}
	return matches(f.source, row, f.text) != f.inverse
}

// narrows reports whether every row that passes another query passes this one.
func (f *filter) narrows(query string) bool {
	text, inverse := parseQuery(query)
	return f.done() && f.own == nil && !f.inverse && !inverse && text.within(f.text)
}

// extend takes a source that is the earlier one with more rows at its end; false
// if it is not, or can't be taken so.
func (f *filter) extend(earlier, source Source) bool {
	e, ok := source.(Extender)
	if !ok || f.base != nil || !e.Extends(earlier) || source.Len() < f.n {
		return false
	}
	f.source, f.n = source, source.Len()
	f.ask()
	return true
}

// status says how many rows pass.
func (f *filter) status() string {
	found := int64(len(f.before) + len(f.after))
	note := ""
	if f.note != "" {
		note = "; " + f.note
	}
	if f.done() {
		return fmt.Sprintf("%s of %s rows, esc shows all%s", tui.Number(found), tui.Number(int64(f.source.Len())), note)
	}
	looked := int64(f.hi - f.lo)
	return fmt.Sprintf("%s rows so far, looked at %d %%%s", tui.Number(found), 100*looked/int64(f.n), note)
}
