package bar

import (
	"math/bits"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/recoverctl/recoverctl/tui/theme"
)

// stretch is the axis between two neighbouring stops.
type stretch struct {
	length uint64 // in offsets, at least 1
	cells  int    // numbers included
	broken bool
	gone   bool // no restore may read it

	right string // the number of the stop before it, printed at its beginning
	left  string // the number of the stop after it, printed at its end
}

// axis draws a log from its start to its end in width cells. False: the signs
// don't fit.
func (b Bar) axis(stops []stop, width int, th theme.Theme) (pieces, bool) {
	free := width
	for _, s := range stops {
		free -= s.width()
	}
	mark := ansi.StringWidth(th.Signs.Broken)
	// A broken stretch has no scale to keep: it makes room for the number before
	// it, and for a dot if it is dotted, as long as there is room.
	rooms := []func(i int, s stretch) int{
		func(i int, s stretch) int { return mark + dot(s) + len(stops[i].number) },
		func(_ int, s stretch) int { return mark + dot(s) },
		func(int, stretch) int { return mark },
	}
	for _, room := range rooms {
		stretches := b.stretches(stops)
		if !layOut(stretches, free, room) {
			continue
		}
		placeNumbers(stretches, stops, mark)
		return draw(stretches, stops, th), true
	}
	return pieces{}, false
}

func dot(s stretch) int {
	if s.gone {
		return 1
	}
	return 0
}

func (b Bar) stretches(stops []stop) []stretch {
	stretches := make([]stretch, len(stops)-1)
	for i := range stretches {
		from, to := stops[i].offset, stops[i+1].offset
		stretches[i].length = uint64(to) - uint64(from) // exact for any two int64, to > from
		stretches[i].gone = b.Boundary != nil && to <= *b.Boundary
	}
	return stretches
}

// layOut gives every stretch its cells, free in all: those that would get less
// than one are broken and get their room, the others share the rest to one
// scale. False: there is not enough.
func layOut(stretches []stretch, free int, room func(int, stretch) int) bool {
	for {
		rest, count, total := free, 0, uint64(0)
		for i, s := range stretches {
			if s.broken {
				rest -= room(i, s)
				continue
			}
			count++
			total += s.length
		}
		if rest < count {
			return false
		}
		broke := false
		for i := range stretches {
			s := &stretches[i]
			if !s.broken && scale(s.length, rest, total) < 1 {
				s.broken, broke = true, true
			}
		}
		if broke {
			continue
		}
		// Rounding the ends of the stretches and not their lengths keeps every
		// one within a cell of its true length and the sum exact.
		passed, used := uint64(0), 0
		for i := range stretches {
			s := &stretches[i]
			if s.broken {
				s.cells = room(i, *s)
				continue
			}
			passed += s.length
			end := scale(passed, rest, total)
			s.cells = end - used
			used = end
		}
		return true
	}
}

// scale is length·cells/total, rounded down, without overflow; length ≤ total.
func scale(length uint64, cells int, total uint64) int {
	hi, lo := bits.Mul64(length, uint64(cells))
	quotient, _ := bits.Div64(hi, lo, total)
	return int(quotient)
}

// placeNumbers prints each stop's number after its sign, or before it, where
// that leaves a cell of the axis and the mark of a broken one.
func placeNumbers(stretches []stretch, stops []stop, mark int) {
	free := make([]int, len(stretches))
	for i, s := range stretches {
		free[i] = s.cells - 1
		if s.broken {
			free[i] = s.cells - mark
		}
	}
	for i, s := range stops {
		n := len(s.number)
		switch {
		case n == 0:
		case i < len(stretches) && free[i] >= n:
			stretches[i].right = s.number
			free[i] -= n
		case i > 0 && free[i-1] >= n:
			stretches[i-1].left = s.number
			free[i-1] -= n
		}
	}
}

func draw(stretches []stretch, stops []stop, th theme.Theme) pieces {
	var line pieces
	for i, s := range stretches {
		line.add(stops[i].tone, stops[i].signs+s.right)
		fill := th.Signs.Axis
		if s.gone {
			fill = th.Signs.Gone
		}
		n := s.cells - len(s.right) - len(s.left)
		if s.broken {
			n -= ansi.StringWidth(th.Signs.Broken)
		}
		line.add(theme.Muted, strings.Repeat(fill, n))
		if s.broken {
			line.add(theme.Muted, th.Signs.Broken)
		}
		line.add(stops[i+1].tone, s.left)
	}
	last := stops[len(stops)-1]
	line.add(last.tone, last.signs)
	return line
}
