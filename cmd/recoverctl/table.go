package main

import (
	"bufio"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/recoverctl/recoverctl/internal/safetext"
)

// table is the one writer of text results: lines, and rows of aligned cells. On
// a terminal nothing but a command is wider than it: lines are wrapped and the
// last column is cut with a mark. Elsewhere values stay whole, for scripts and tickets.
type table struct {
	w     *bufio.Writer
	width int // 0: not a terminal
	rows  [][]cell
	err   error
}

type cell struct {
	text  string
	right bool
}

func newTable(w io.Writer, width int) *table { return &table{w: bufio.NewWriter(w), width: width} }

// text is a left-aligned cell, made safe to print.
func text(s string) cell { return cell{text: safetext.Of(s).String()} }

// num is a right-aligned cell.
func num(s string) cell { return cell{text: s, right: true} }

// row adds a row to the block of rows that the next line or flush ends.
func (t *table) row(cells ...cell) { t.rows = append(t.rows, cells) }

// line ends a block of rows and writes one line of text, wrapped on a terminal.
func (t *table) line(s string) {
	t.block()
	indent := len(s) - len(strings.TrimLeft(s, " "))
	s = safetext.Of(s).String()
	if t.width > 0 && ansi.StringWidth(s) > t.width {
		wrapped := ansi.Wrap(s[indent:], max(20, t.width-indent-2), " /-")
		for i, part := range strings.Split(wrapped, "\n") {
			hang := indent
			if i > 0 {
				hang += 2
			}
			t.write(strings.Repeat(" ", hang) + part + "\n")
		}
		return
	}
	t.write(s + "\n")
}

// command ends a block of rows and writes a command that is pasted as it stands: a
// line break of ours would cut it in two.
func (t *table) command(s string) {
	t.block()
	t.write("    " + safetext.Of(s).String() + "\n")
}

// block writes the rows collected so far with aligned columns.
func (t *table) block() {
	if len(t.rows) == 0 {
		return
	}
	var widths []int
	for _, row := range t.rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], ansi.StringWidth(c.text))
		}
	}
	for _, row := range t.rows {
		var b strings.Builder
		for i, c := range row {
			pad := widths[i] - ansi.StringWidth(c.text)
			if i > 0 {
				b.WriteString("  ")
			}
			switch {
			case c.right:
				b.WriteString(strings.Repeat(" ", pad) + c.text)
			case i == len(row)-1:
				b.WriteString(c.text)
			default:
				b.WriteString(c.text + strings.Repeat(" ", pad))
			}
		}
		s := strings.TrimRight(b.String(), " ")
		if t.width > 0 {
			s = ansi.Truncate(s, t.width, "…")
		}
		t.write(s + "\n")
	}
	t.rows = t.rows[:0]
}

func (t *table) write(s string) {
	if t.err == nil {
		_, t.err = t.w.WriteString(s)
	}
}

func (t *table) flush() error {
	t.block()
	if t.err != nil {
		return t.err
	}
	return t.w.Flush()
}
