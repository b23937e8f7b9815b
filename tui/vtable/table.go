package vtable

import (
	"slices"

	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
)

// Table is a window on a Source. It belongs to one screen.
type Table struct {
	theme   theme.Theme
	columns []Column
	source  Source

	filter *filter // nil: all rows are shown
	anchor int     // the row that a filter is looked for around; -1: the selected one
	stood  int     // where the selected row was when the filter began; -1: it moved since
	next   *filter // looks through the source that follows; nil: none follows
	latest Source  // the newest of those that came since; nil: none

	cursor int    // the selected row of those shown; meaningless while there are none
	id     string // its identity
	top    int    // the first row of the window, before View makes room for the cursor
	height int    // lines of the table as last told by Resize
	idle   bool   // keys act elsewhere
}

// New makes a table that selects the first row.
func New(th theme.Theme, columns []Column, source Source) *Table {
	t := &Table{theme: th, columns: columns, source: source, anchor: -1, stood: -1}
	t.moveTo(0)
	return t
}

// SetSource shows other rows, or the same after they have changed. The
// selection stays on the row that it was on, and that row stays on its line. If
// it is gone, or no longer passes the filter, SetSource returns false and the
// row that is now nearest to its place is selected.
func (t *Table) SetSource(source Source) (kept bool) {
	if t.showsOn(source) {
		t.latest = source
		if t.filter.done() && t.next == nil {
			t.follow()
		}
		return true
	}
	return t.replace(source, nil)
}

// replace shows another source; filtered is a filter that has looked through it
// already, or nil.
func (t *Table) replace(source Source, filtered *filter) (kept bool) {
	had, line := t.id, t.cursor-t.top
	place := 0
	if t.len() > 0 {
		place = t.at(t.cursor)
	}
	earlier := t.source
	t.source = source
	i, found := t.find(had)
	if !found {
		i = min(place, max(source.Len()-1, 0))
	}
	switch {
	case t.filter == nil:
		t.cursor = i
	case filtered != nil:
		t.filter = filtered
		t.cursor, _ = t.position(i)
	case t.filter.extend(earlier, source):
		t.work()
	default:
		t.look(t.filter.query, nil, i, line)
	}
	if found {
		if pos, shown := t.position(i); shown {
			t.top = max(pos-line, 0)
			t.moveTo(pos)
			return true
		}
	}
	t.moveTo(t.cursor)
	return had == ""
}

// Source is what is shown: with a filter, it may be an earlier one than SetSource
// was given last; see Constant.
func (t *Table) Source() Source { return t.source }

// Selected is the identity of the selected row; false if no row is shown.
func (t *Table) Selected() (id string, ok bool) {
	return t.id, t.len() > 0
}

// Cursor is the index of the selected row in the source; false if no row is
// shown.
func (t *Table) Cursor() (i int, ok bool) {
	if t.len() == 0 {
		return 0, false
	}
	return t.at(t.cursor), true
}

// Select selects the row of this identity; false, and no change, if there is
// none or the filter hides it.
func (t *Table) Select(id string) bool {
	i, ok := t.find(id)
	if !ok {
		return false
	}
	pos, ok := t.position(i)
	if ok {
		t.stood = -1
		t.moveTo(pos)
	}
	return ok
}

// Focus says whether the keys of the screen act on this table, as they do at
// first. Without it no row is marked as selected and none has details, so that
// only one row on a screen is where the next key acts.
func (t *Table) Focus(on bool) { t.idle = !on }

// Resize tells how large the table will be drawn. The screen passes it on from
// its own Resize; pages and the scroll position depend on it.
func (t *Table) Resize(size tui.Size) {
	t.height = size.Height
	t.top = t.window(t.height).top
}

// Lines is how many lines it takes to show all rows, with their header and what
// belongs to a filter.
func (t *Table) Lines() int {
	lines := 1 + t.len()
	if t.filter != nil {
		lines++
	}
	return lines
}

// SetColumns shows other columns; the source's rows have a cell for each.
func (t *Table) SetColumns(columns []Column) { t.columns = columns }

// Keys are the table's lines for the screen's key table.
func (t *Table) Keys() []tui.Key {
	move := func(to func() int) func() tui.Cmd {
		return func() tui.Cmd {
			t.stood = -1
			t.moveTo(to())
			return nil
		}
	}
	page := func() int { return max(t.window(t.height).rows-1, 1) }
	return []tui.Key{
		{Keys: []string{"down", "j"}, Help: "down", Quiet: true, Run: move(func() int { return t.cursor + 1 })},
		{Keys: []string{"up", "k"}, Help: "up", Quiet: true, Run: move(func() int { return t.cursor - 1 })},
		{Keys: []string{"pgdown"}, Help: "next page", Quiet: true, Run: move(func() int { return t.cursor + page() })},
		{Keys: []string{"pgup"}, Help: "previous page", Quiet: true, Run: move(func() int { return t.cursor - page() })},
		{Keys: []string{"g", "home"}, Help: "first row", Quiet: true, Run: move(func() int { return 0 })},
		{Keys: []string{"G", "end"}, Help: "last row", Quiet: true, Run: move(func() int { return t.len() - 1 })},
		t.filterKey(),
	}
}

// moveTo selects the row nearest to i of those shown and scrolls as far as
// needed.
func (t *Table) moveTo(i int) {
	n := t.len()
	if n == 0 {
		t.cursor, t.id, t.top = 0, "", 0
		return
	}
	t.cursor = max(min(i, n-1), 0)
	t.id = t.source.ID(t.at(t.cursor))
	t.top = t.window(t.height).top
}

// find is the index of a row in the source.
func (t *Table) find(id string) (int, bool) {
	if id == "" {
		return 0, false
	}
	if f, ok := t.source.(Finder); ok {
		return f.Find(id)
	}
	n := t.source.Len()
	if t.filter == nil && t.cursor < n && t.source.ID(t.cursor) == id {
		return t.cursor, true
	}
	for i := range n {
		if t.source.ID(i) == id {
			return i, true
		}
	}
	return 0, false
}

// window is the part of the rows that is drawn.
type window struct {
	top, rows int
	detail    []string // under the selected row
}

// fit is as many lines of a detail as there is room for. Where that is not all of
// them the last one says so.
func (t *Table) fit(detail []string, room int) []string {
	if len(detail) <= room {
		return detail
	}
	detail = slices.Clone(detail[:room])
	if room > 0 {
		detail[room-1] += " " + t.theme.Signs.More
	}
	return detail
}

// window makes the scroll position fit a table of height lines: the selected
// row and its details are inside, and no line is wasted.
func (t *Table) window(height int) window {
	n := t.len()
	lines := height - 1 // the header
	if t.filter != nil {
		lines-- // what is filtered
	}
	if n == 0 || lines < 1 {
		return window{top: t.top}
	}
	var w window
	if d, ok := t.source.(Detailer); ok && !t.idle {
		w.detail = t.fit(d.Detail(t.at(t.cursor)), lines-1)
	}
	w.rows = min(lines-len(w.detail), n)
	w.top = min(t.top, t.cursor)          // not below the cursor
	w.top = max(w.top, t.cursor-w.rows+1) // not so far above that it is outside
	w.top = max(min(w.top, n-w.rows), 0)  // no empty lines while rows are left
	w.rows = min(w.rows, max(n-w.top, 0)) // the last page
	return w
}
