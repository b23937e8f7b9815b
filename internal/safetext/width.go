package safetext

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

const ellipsis = "…"

// Width is the number of terminal cells of the text; of several lines, of the
// widest.
func (t Text) Width() int {
	if isPlain(t.s) {
		return len(t.s)
	}
	w := 0
	for line := range strings.Lines(t.s) {
		w = max(w, ansi.StringWidth(line))
	}
	return w
}

// Truncate cuts the end of each line that is wider than w cells and marks the
// cut with "…". It is at most w cells wide; for w below 1 it is empty.
func (t Text) Truncate(w int) Text {
	return t.cut(w, func(line string) string {
		return ansi.Truncate(line, w, ellipsis)
	})
}

// TruncateMiddle cuts the middle of each line that is wider than w cells: for
// paths and URIs, whose end tells them apart. The end gets the larger half.
func (t Text) TruncateMiddle(w int) Text {
	return t.cut(w, func(line string) string {
		total := ansi.StringWidth(line)
		if total <= w {
			return line
		}
		head := (w - 1) / 2
		tail := w - 1 - head
		drop := total - tail
		right := ansi.TruncateLeft(line, drop, "")
		// A wide character that lies across the cut is kept whole: drop it too.
		for ansi.StringWidth(right) > tail {
			drop++
			right = ansi.TruncateLeft(line, drop, "")
		}
		return ansi.Truncate(line, head, "") + ellipsis + right
	})
}

func (t Text) cut(w int, line func(string) string) Text {
	if w < 1 {
		return Text{}
	}
	if len(t.s) <= w && isPlain(t.s) {
		return t
	}
	if !strings.Contains(t.s, "\n") {
		return Text{line(t.s)}
	}
	lines := strings.Split(t.s, "\n")
	for i := range lines {
		lines[i] = line(lines[i])
	}
	return Text{strings.Join(lines, "\n")}
}
