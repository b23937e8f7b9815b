package wal

import (
	"math"
	"sort"
	"strconv"
	"strings"

	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/vtable"
	"github.com/recoverctl/recoverctl/views/phrase"
)

// place is what stands in a row of the table: an entry, or a gap.
type place struct {
	sequence uint64 // of the entry, or the first that is missing
	gap      uint64 // how many are missing; 0: it is an entry
}

// places are the rows of the table: a row for each entry, and one for each gap,
// however long. They take memory for the runs only.
type places struct {
	parts []part
	total int
}

type part struct {
	first int // row
	place     // of the first row
	rows  int
}

// placesOf lays a log out as rows. A gap between the cursor and the first entry is
// one too.
func placesOf(l arkflow.WriteAheadLog) places {
	var p places
	add := func(at place, rows uint64) {
		n := int(min(rows, uint64(math.MaxInt-p.total)))
		p.parts = append(p.parts, part{p.total, at, n})
		p.total += n
	}
	if len(l.Runs) > 0 && len(l.Gaps) > 0 && l.Gaps[0].From < l.Runs[0].From {
		add(place{l.Gaps[0].From, l.Gaps[0].Len()}, 1)
	}
	for i, run := range l.Runs {
		if i > 0 {
			from := l.Runs[i-1].To + 1
			add(place{from, run.From - from}, 1)
		}
		add(place{run.From, 0}, run.Len())
	}
	return p
}

func (p places) len() int { return p.total }

func (p places) at(i int) place {
	k := sort.Search(len(p.parts), func(k int) bool { return p.parts[k].first > i }) - 1
	at := p.parts[k]
	if at.gap > 0 {
		return at.place
	}
	return place{sequence: at.sequence + uint64(i-at.first)}
}

// find is the row in which a sequence stands, or is missing.
func (p places) find(n uint64) (int, bool) {
	k := sort.Search(len(p.parts), func(k int) bool { return p.parts[k].sequence > n }) - 1
	if k < 0 {
		return 0, false
	}
	at, past := p.parts[k], n-p.parts[k].sequence
	switch {
	case at.gap > 0:
		return at.first, past < at.gap
	case past < uint64(at.rows):
		return at.first + int(past), true
	}
	return 0, false
}

var columns = []vtable.Column{
	{Title: "SEQUENCE", Right: true},
	{Title: "STATE", Min: len("acknowledged")},
	{Title: "INPUT", Min: 12, Flex: 1},
	{Title: "ROWS", Right: true},
	{Title: "BYTES", Right: true},
	{Title: "SEGMENT"},
}

// rows are the entries of the log.
type rows struct{ *Screen }

// Len implements vtable.Source.
func (r rows) Len() int { return r.places.len() }

// ID implements vtable.Source.
func (r rows) ID(i int) string { return strconv.FormatUint(r.places.at(i).sequence, 10) }

// Find implements vtable.Finder.
func (r rows) Find(id string) (int, bool) {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return 0, false
	}
	return r.places.find(n)
}

// state is an entry's word.
func (r rows) state(n uint64) (string, theme.Tone) {
	switch {
	case r.log.Suspect(n):
		return "DAMAGED PAGE", theme.Error
	case r.log.Cursor == nil:
		return "?", theme.Plain
	case n <= *r.log.Cursor:
		return "acknowledged", theme.Muted
	}
	return "pending", theme.Plain
}

// Row implements vtable.Source.
func (r rows) Row(i int) []vtable.Cell {
	p := r.places.at(i)
	number := vtable.Cell{Text: arkflow.Number(p.sequence)}
	if p.gap > 0 {
		what, tone := "missing", theme.Error
		if r.log.Cursor != nil && p.sequence+p.gap-1 <= *r.log.Cursor {
			tone = theme.Muted // not replayed either way
		}
		text := "not in the log"
		if p.gap > 1 {
			text = arkflow.Number(p.gap) + " sequences not in the log"
		}
		return []vtable.Cell{number, {Text: what, Tone: tone}, {Text: text, Tone: tone}}
	}
	state, tone := r.state(p.sequence)
	cells := []vtable.Cell{number, {Text: state, Tone: tone}}
	l, known := r.lines[p.sequence]
	switch {
	case !known:
		return append(cells, vtable.Cell{Text: r.options.Theme.Signs.More, Tone: theme.Muted})
	case l.Problem != "":
		return append(cells, vtable.Cell{Text: phrase.Safe(l.Problem), Tone: theme.Error}, vtable.Cell{}, vtable.Cell{Text: figures.Group(l.Bytes)}, vtable.Cell{Text: phrase.Safe(l.Segment)})
	}
	input := l.Input
	if input == "" {
		input = "no name"
	}
	return append(cells, vtable.Cell{Text: phrase.Safe(input)}, vtable.Cell{Text: figures.Group(l.Rows)}, vtable.Cell{Text: figures.Group(l.Bytes)}, vtable.Cell{Text: phrase.Safe(l.Segment)})
}

// Query implements vtable.Querier: entries are found by what is known of all of
// them, since most are not read.
func (r rows) Query(query string) (passes func(i int) bool, note string) {
	query = strings.ToLower(strings.ReplaceAll(query, ",", ""))
	digits := query != "" && strings.Trim(query, "0123456789") == ""
	if !digits && !strings.Contains("acknowledged pending missing damaged page", query) {
		note = "by sequence, acknowledged, pending, missing or damaged"
	}
	return func(i int) bool {
		p := r.places.at(i)
		if digits {
			return strings.Contains(strconv.FormatUint(p.sequence, 10), query)
		}
		state := "missing"
		if p.gap == 0 {
			state, _ = r.state(p.sequence)
		}
		return strings.Contains(strings.ToLower(state), query)
	}, note
}
