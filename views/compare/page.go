package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

func (s *Screen) page(width int) []string {
	p := &sheet.Page{Theme: s.options.Theme, Width: width}
	for _, side := range s.sides {
		switch {
		case !side.answered:
			p.Hang(" ", theme.Plain, "reading "+side.name+": of its files nothing is known yet")
		case side.err != nil && side.read:
			p.Faults(theme.Warning, side.name+", of which not everything is known: ", side.err)
		case side.err != nil:
			p.Faults(theme.Error, side.name+" could not be read: ", side.err)
		}
	}
	facts := s.facts()
	Differing(p, [2]string{s.sides[0].name, s.sides[1].name}, facts)
	s.markers(p)
	Same(p, facts)
	for _, side := range s.sides {
		p.Hang(sheet.Indent+side.name+" is ", theme.Muted, phrase.Safe(side.uri))
	}
	return p.Lines
}

// markers are where each reads from, of the partitions or buckets where that differs.
func (s *Screen) markers(p *sheet.Page) {
	p.Title("Reads from (merged marker)")
	var offsets [2]inspect.Offsets
	for i, side := range s.sides {
		switch {
		case side.read:
			offsets[i] = side.point.Merged.Offsets
		case side.summary != nil:
			offsets[i] = side.summary.Offsets
		}
		if len(offsets[i]) == 0 {
			p.Hang(sheet.Indent, theme.Warning, side.name+": not known, or it has no marker")
		}
	}
	if len(offsets[0]) == 0 || len(offsets[1]) == 0 {
		return
	}
	store := s.options.Reading.Overview.Store
	parts := offsets[0].Partitions()
	for _, part := range offsets[1].Partitions() {
		if _, ok := offsets[0][part]; !ok {
			parts = append(parts, part)
		}
	}
	slices.Sort(parts)
	var rows [][]sheet.Cell
	var same []int32
	for _, part := range parts {
		left, inLeft := offsets[0][part]
		right, inRight := offsets[1][part]
		if inLeft && inRight && left == right {
			same = append(same, part)
			continue
		}
		rows = append(rows, []sheet.Cell{
			{Text: fmt.Sprint(part)}, offset(p.Theme, left, inLeft), offset(p.Theme, right, inRight), difference(p.Theme, left, right, inLeft && inRight),
		})
	}
	if len(same) > 0 {
		p.Say(fmt.Sprintf("the same on %s: %s", phrase.Parts(store, len(same)), figures.Ranges(same, 6)))
	}
	if len(rows) > 0 {
		p.Table([]sheet.Column{
			{Title: strings.ToUpper(store.Part()), Right: true}, {Title: s.sides[0].name, Right: true}, {Title: s.sides[1].name, Right: true}, {Title: "DIFFERENCE", Right: true},
		}, rows)
	}
}

func offset(th theme.Theme, at int64, ok bool) sheet.Cell {
	if !ok {
		return sheet.Cell{Text: th.Signs.None, Tone: theme.Warning}
	}
	return sheet.Cell{Text: figures.Group(at)}
}

// difference is from left to right, with its sign.
func difference(th theme.Theme, left, right int64, ok bool) sheet.Cell {
	switch {
	case !ok:
		return sheet.Cell{Text: th.Signs.None, Tone: theme.Warning}
	case right > left:
		return sheet.Cell{Text: "+" + figures.Group(right-left)}
	default:
		return sheet.Cell{Text: figures.Group(right - left)}
	}
}
