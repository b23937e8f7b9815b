package bar_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"
	"pgregory.net/rapid"

	"github.com/recoverctl/recoverctl/tui/bar"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/tuitest"
)

func at(offset int64) *int64 { return &offset }

func marks(offsets ...int64) []bar.Mark {
	all := make([]bar.Mark, len(offsets))
	for i, o := range offsets {
		all[i] = bar.Mark{Offset: o}
	}
	return all
}

func look(ascii bool) theme.Theme {
	return theme.New(theme.Options{Palette: theme.NoStyle, ASCII: ascii})
}

// The partitions of the job screen, and every situation that a reader must be
// able to tell from another.
func TestBars(t *testing.T) {
	rows := []struct {
		name string
		bar  bar.Bar
	}{
		{"partition 0, log not trimmed yet", bar.Bar{Start: 100, End: 4120, Boundary: at(150), Marks: marks(3910)}},
		{"partition 1, log not trimmed yet", bar.Bar{Start: 120, End: 3998, Boundary: at(150), Marks: marks(3801)}},
		{"partition 3, boundary = log start", bar.Bar{Start: 200, End: 3990, Boundary: at(200), Marks: marks(3950)}},
		{"marker before the boundary", bar.Bar{Start: 0, End: 1000, Boundary: at(600), Marks: marks(300)}},
		{"marker at the boundary", bar.Bar{Start: 0, End: 1000, Boundary: at(600), Marks: marks(600)}},
		{"marker one past the boundary", bar.Bar{Start: 0, End: 1000, Boundary: at(600), Marks: marks(601)}},
		{"marker before the log start", bar.Bar{Start: 150, End: 4120, Boundary: at(150), Marks: marks(100)}},
		{"marker past the log end", bar.Bar{Start: 0, End: 1000, Marks: marks(1200)}},
		{"boundary before the log start", bar.Bar{Start: 200, End: 4120, Boundary: at(150), Marks: marks(3000)}},
		{"boundary past the log end", bar.Bar{Start: 0, End: 1000, Boundary: at(5000), Marks: marks(400)}},
		{"marker at the log end", bar.Bar{Start: 0, End: 1000, Marks: marks(1000)}},
		{"three markers, two close", bar.Bar{Start: 0, End: 1000000, Marks: marks(500000, 500001, 800000)}},
		{"nothing but a log", bar.Bar{Start: 5, End: 9}},
		{"an empty log", bar.Bar{Start: 700, End: 700}},
		{"an empty log with its marker", bar.Bar{Start: 700, End: 700, Boundary: at(700), Marks: marks(700)}},
		{"an empty log, marker behind it", bar.Bar{Start: 700, End: 700, Marks: marks(650)}},
		{"a start past the end", bar.Bar{Start: 900, End: 100, Boundary: at(500), Marks: marks(950)}},
		{"one offset", bar.Bar{Start: 7, End: 8}},
		{"the whole range", bar.Bar{Start: math.MinInt64, End: math.MaxInt64, Boundary: at(0), Marks: marks(1)}},
	}
	var b strings.Builder
	for _, width := range []int{46, 24, 12} {
		for _, ascii := range []bool{false, true} {
			fmt.Fprintf(&b, "%d cells\n", width)
			for _, row := range rows {
				fmt.Fprintf(&b, "%-36s|%s|\n", row.name, row.bar.Render(width, look(ascii)))
			}
			b.WriteString("\n")
		}
	}
	tuitest.Golden(t, "bars", b.String())
}

// offsets favours the values that break arithmetic.
func offsets() *rapid.Generator[int64] {
	return rapid.OneOf(
		rapid.Int64Range(-3, 30),
		rapid.Int64Range(0, 100000),
		rapid.Int64(),
		rapid.SampledFrom([]int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, math.MaxInt64 - 1, math.MaxInt64}),
	)
}

func anyBar(t *rapid.T) bar.Bar {
	b := bar.Bar{
		Start: offsets().Draw(t, "start"),
		End:   offsets().Draw(t, "end"),
		Marks: marks(rapid.SliceOfN(offsets(), 0, 6).Draw(t, "marks")...),
	}
	if rapid.Bool().Draw(t, "has boundary") {
		b.Boundary = at(offsets().Draw(t, "boundary"))
	}
	return b
}

func TestAnyBarHasItsWidth(t *testing.T) {
	styled := theme.New(theme.Options{Palette: theme.Dark, Colors: termenv.ANSI256})
	rapid.Check(t, func(t *rapid.T) {
		b := anyBar(t)
		width := rapid.IntRange(-2, 120).Draw(t, "width")
		ascii := rapid.Bool().Draw(t, "ascii")
		line := b.Render(width, look(ascii))
		if got := ansi.StringWidth(line); got != max(width, 0) {
			t.Fatalf("%d cells, want %d: %q", got, width, line)
		}
		if ascii && strings.ContainsFunc(line, func(r rune) bool { return r > 0x7e || r < ' ' }) {
			t.Fatalf("not ASCII: %q", line)
		}
		if painted := ansi.Strip(b.Render(width, styled)); !ascii && painted != line {
			t.Fatalf("colour changes the bar: %q, %q", painted, line)
		}
	})
}

// wantSigns are the signs of a bar in the order of their offsets, written
// without any knowledge of cells.
func wantSigns(b bar.Bar) string {
	var all []int64
	at := map[int64]map[rune]bool{}
	put := func(offset int64, sign rune) {
		if at[offset] == nil {
			at[offset] = map[rune]bool{}
			all = append(all, offset)
		}
		at[offset][sign] = true
	}
	put(b.Start, '├')
	put(b.End, '┤')
	if b.Boundary != nil {
		put(*b.Boundary, '▲')
	}
	for _, m := range b.Marks {
		put(m.Offset, '◆')
	}
	slices.Sort(all)
	var want strings.Builder
	for _, offset := range all {
		here := at[offset]
		marked := here['▲'] || here['◆']
		if b.Start < b.End && marked {
			delete(here, '├')
			delete(here, '┤')
		}
		order := "▲◆├┤"
		if b.Start == b.End {
			order = "├▲◆┤"
		}
		for _, sign := range order {
			if here[sign] {
				want.WriteRune(sign)
			}
		}
	}
	return want.String()
}

func signsOf(line string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("├┤▲◆", r) {
			return r
		}
		return -1
	}, line)
}

func TestSignsStandInTheOrderOfTheirOffsets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := anyBar(t)
		width := rapid.IntRange(30, 120).Draw(t, "width") // 30: nine signs and the cells between them fit
		line := b.Render(width, look(false))
		if got, want := signsOf(line), wantSigns(b); got != want {
			t.Fatalf("%q has the signs %q, want %q", line, got, want)
		}
	})
}

// Every printed number stands beside a sign and is one of the bar's offsets in
// full.
func TestNumbersAreNeverAbbreviated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := anyBar(t)
		known := map[string]bool{}
		for _, m := range b.Marks {
			known[grouped(m.Offset)] = true
		}
		if b.Boundary != nil {
			known[grouped(*b.Boundary)] = true
		}
		line := b.Render(rapid.IntRange(1, 120).Draw(t, "width"), look(false))
		for _, number := range strings.FieldsFunc(line, func(r rune) bool { return !strings.ContainsRune("-,0123456789", r) }) {
			if !known[number] {
				t.Fatalf("%q prints %q", line, number)
			}
		}
	})
}

func grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// All stretches but the broken ones share one scale, to within a cell.
func TestStretchesAreToScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := rapid.Int64Range(0, 1000).Draw(t, "start")
		end := start + rapid.Int64Range(1, 1000000).Draw(t, "length")
		inside := rapid.SliceOfNDistinct(rapid.Int64Range(start, end), 0, 5, rapid.ID).Draw(t, "marks")
		b := bar.Bar{Start: start, End: end, Marks: marks(inside...)}
		line := b.Render(rapid.IntRange(20, 150).Draw(t, "width"), look(false))
		stops := append(inside, start, end)
		slices.Sort(stops)
		stops = slices.Compact(stops)
		parts := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune("├┤◆", r) })
		if len(parts) != len(stops)-1 {
			t.Fatalf("%q has %d stretches, want %d", line, len(parts), len(stops)-1)
		}
		cells, length := 0, int64(0)
		for i, part := range parts {
			if !strings.Contains(part, "≠") {
				cells += ansi.StringWidth(part)
				length += stops[i+1] - stops[i]
			}
		}
		for i, part := range parts {
			if strings.Contains(part, "≠") {
				continue
			}
			exact := float64(stops[i+1]-stops[i]) * float64(cells) / float64(length)
			if got := ansi.StringWidth(part); math.Abs(float64(got)-exact) > 1 {
				t.Fatalf("%q: stretch %d has %d cells, to scale %.2f", line, i, got, exact)
			}
		}
	})
}

func BenchmarkBar(b *testing.B) {
	th := theme.New(theme.Options{Palette: theme.Dark, Colors: termenv.ANSI256})
	one := bar.Bar{Start: 100, End: 4120, Boundary: at(150), Marks: marks(3910, 3950, 4000)}
	for b.Loop() {
		one.Render(120, th)
	}
}
