package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// fact is one thing about both points. An empty value is not known.
type fact struct {
	name   string
	values [2]string
	tones  [2]theme.Tone
}

func (f fact) known() bool { return f.values[0] != "" && f.values[1] != "" }
func (f fact) same() bool  { return f.known() && f.values[0] == f.values[1] }

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
	s.differing(p, facts)
	s.markers(p)
	s.same(p, facts)
	for _, side := range s.sides {
		p.Hang(sheet.Indent+side.name+" is ", theme.Muted, phrase.Safe(side.uri))
	}
	return p.Lines
}

// differing are the facts that are not the same in both, or not known of one,
// side by side.
func (s *Screen) differing(p *sheet.Page, facts []fact) {
	label := len("WHAT DIFFERS")
	for _, f := range facts {
		if !f.same() {
			label = max(label, ansi.StringWidth(f.name))
		}
	}
	label = min(label, p.Width/3)
	room := max((p.Width-1-len(sheet.Indent)-label-4)/2, 8)
	if len(p.Lines) > 0 {
		p.Blank()
	}
	s.row(p, label, room, fact{name: "WHAT DIFFERS", values: [2]string{s.sides[0].name, s.sides[1].name}, tones: [2]theme.Tone{theme.Title, theme.Title}}, theme.Title)
	for _, f := range facts {
		if f.same() {
			continue
		}
		for i, v := range f.values {
			if v == "" {
				f.values[i], f.tones[i] = "not known", theme.Muted
			}
		}
		s.row(p, label, room, f, theme.Plain)
	}
}

// row draws a name and two values, each wrapped under itself.
func (s *Screen) row(p *sheet.Page, label, room int, f fact, tone theme.Tone) {
	columns := [3][]string{phrase.Wrap(f.name, label), phrase.Wrap(f.values[0], room), phrase.Wrap(f.values[1], room)}
	tones := [3]theme.Tone{tone, f.tones[0], f.tones[1]}
	widths := [3]int{label, room, 0}
	for i := range max(len(columns[0]), len(columns[1]), len(columns[2])) {
		line := sheet.Indent
		for c, texts := range columns {
			text := ""
			if i < len(texts) {
				text = texts[i]
			}
			pad := strings.Repeat(" ", max(widths[c]-ansi.StringWidth(text), 0))
			line += p.Theme.Paint(tones[c], text)
			if c < 2 {
				line += pad + "  "
			}
		}
		p.Lines = append(p.Lines, strings.TrimRight(line, " "))
	}
}

// same counts what both have in common, with the values.
func (s *Screen) same(p *sheet.Page, facts []fact) {
	var words []string
	for _, f := range facts {
		if f.same() {
			words = append(words, f.name+" "+f.values[0])
		}
	}
	p.Title("The same in both")
	if len(words) == 0 {
		p.Say("nothing that is known")
		return
	}
	for _, w := range words {
		p.Hang(sheet.Indent, theme.Plain, w)
	}
}

// markers are where each reads from, of the partitions where that differs.
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
		p.Say(fmt.Sprintf("the same on %s: %s", phrase.Count(len(same), "partition", "partitions"), figures.Ranges(same, 6)))
	}
	if len(rows) > 0 {
		p.Table([]sheet.Column{
			{Title: "PARTITION", Right: true}, {Title: s.sides[0].name, Right: true}, {Title: s.sides[1].name, Right: true}, {Title: "DIFFERENCE", Right: true},
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
