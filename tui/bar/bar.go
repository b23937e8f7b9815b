package bar

import (
	"cmp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
)

// Bar is what is known of one partition. All numbers are offsets; any value is
// allowed, also those that a correct log never has.
type Bar struct {
	Start    int64  // the first available offset
	End      int64  // the next offset to be written
	Boundary *int64 // nil: none
	Marks    []Mark // of the chosen recovery points, in any order
}

// Mark is where a recovery point starts to read, or, with the sign of an error, where
// something is missing. Marks at one offset are drawn as one, as the first.
type Mark struct {
	Offset int64
	Tone   theme.Tone
	Sign   string // in place of the marker's; empty: the marker's
}

// Render draws the bar in exactly width cells.
func (b Bar) Render(width int, th theme.Theme) string {
	if width <= 0 {
		return ""
	}
	stops := b.stops(th)
	if b.Start >= b.End {
		return b.withoutAxis(stops, width, th)
	}
	first := slices.IndexFunc(stops, func(s stop) bool { return s.offset == b.Start })
	last := slices.IndexFunc(stops, func(s stop) bool { return s.offset == b.End })
	before, inside, after := stops[:first], stops[first:last+1], stops[last+1:]
	for _, numbers := range []bool{true, false} {
		var left, right pieces
		for _, s := range before {
			left.add(s.tone, s.text(numbers))
			left.add(theme.Plain, " ")
		}
		for _, s := range after {
			right.add(theme.Plain, " ")
			right.add(s.tone, s.text(numbers))
		}
		axis, ok := b.axis(inside, width-left.width-right.width, th)
		if !ok {
			continue
		}
		return left.paint(th) + axis.paint(th) + right.paint(th)
	}
	return nothing(width, th)
}

// withoutAxis draws a log that is empty or ends before it starts.
func (b Bar) withoutAxis(stops []stop, width int, th theme.Theme) string {
	for _, numbers := range []bool{true, false} {
		var line pieces
		for i, s := range stops {
			if i > 0 {
				line.add(theme.Plain, " ")
			}
			line.add(s.tone, s.text(numbers))
		}
		if line.width <= width {
			return line.paint(th) + strings.Repeat(" ", width-line.width)
		}
	}
	return nothing(width, th)
}

func nothing(width int, th theme.Theme) string {
	return th.Paint(theme.Muted, th.Signs.More) + strings.Repeat(" ", width-1)
}

// stop is an offset with a sign.
type stop struct {
	offset int64
	signs  string
	number string // printed beside the signs; "" for the log's own ends
	tone   theme.Tone
}

func (s stop) width() int { return ansi.StringWidth(s.signs) }

func (s stop) text(number bool) string {
	if number {
		return s.signs + s.number
	}
	return s.signs
}

// stops are all offsets with a sign, in their order, each once.
func (b Bar) stops(th theme.Theme) []stop {
	offsets := []int64{b.Start, b.End}
	if b.Boundary != nil {
		offsets = append(offsets, *b.Boundary)
	}
	for _, m := range b.Marks {
		offsets = append(offsets, m.Offset)
	}
	slices.Sort(offsets)
	offsets = slices.Compact(offsets)
	stops := make([]stop, len(offsets))
	for i, offset := range offsets {
		stops[i] = b.stop(offset, th)
	}
	return stops
}

func (b Bar) stop(offset int64, th theme.Theme) stop {
	s := stop{offset: offset}
	if b.Boundary != nil && *b.Boundary == offset {
		s.signs, s.tone = th.Signs.Boundary, theme.Title
	}
	if i := slices.IndexFunc(b.Marks, func(m Mark) bool { return m.Offset == offset }); i >= 0 {
		s.signs += cmp.Or(b.Marks[i].Sign, th.Signs.Marker)
		s.tone = b.Marks[i].Tone
	}
	isStart, isEnd := offset == b.Start, offset == b.End
	if isStart || isEnd {
		switch {
		case isStart && isEnd: // an empty log keeps its ends around what stands in it
			s.signs = th.Signs.LogStart + s.signs + th.Signs.LogEnd
		case s.signs == "" && isStart:
			s.signs = th.Signs.LogStart
		case s.signs == "":
			s.signs = th.Signs.LogEnd
		case b.Start > b.End && isStart:
			s.signs += th.Signs.LogStart
		case b.Start > b.End:
			s.signs += th.Signs.LogEnd
		}
		return s
	}
	if offset >= 0 || !th.ASCII { // an ASCII minus would pass for a piece of the axis
		s.number = tui.Number(offset)
	}
	return s
}

// pieces is a line in the making.
type pieces struct {
	parts []piece
	width int
}

type piece struct {
	tone theme.Tone
	text string
}

func (p *pieces) add(tone theme.Tone, text string) {
	if text == "" {
		return
	}
	p.width += ansi.StringWidth(text)
	if last := len(p.parts) - 1; last >= 0 && p.parts[last].tone == tone {
		p.parts[last].text += text
		return
	}
	p.parts = append(p.parts, piece{tone, text})
}

func (p *pieces) paint(th theme.Theme) string {
	var b strings.Builder
	for _, part := range p.parts {
		b.WriteString(th.Paint(part.tone, part.text))
	}
	return b.String()
}
