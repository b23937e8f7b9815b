package vtable

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
)

const (
	gutter = 3 // a space or the sign for more rows, the sign of the selection, a space
	gap    = 2 // between two columns
	indent = 2 // of details, from the gutter
)

// View draws the table: a header, the rows of the window, and the details of
// the selected row. It may be called with another size than Resize was.
func (t *Table) View(size tui.Size) string {
	if size.Width <= 0 || size.Height <= 0 {
		return ""
	}
	w := t.window(size.Height)
	rows := make([][]Cell, w.rows)
	for i := range rows {
		rows[i] = t.source.Row(t.at(w.top + i))
	}
	widths, all := layOut(t.columns, rows, size.Width-gutter)
	more := t.theme.Signs.More

	var b strings.Builder
	b.Grow((size.Width + 1) * size.Height * 2)
	header := t.header(widths)
	if !all {
		header = ansi.Truncate(header, size.Width-2, "") + " " + more
	}
	b.WriteString(t.theme.Paint(theme.Title, header))
	for i, cells := range rows {
		b.WriteByte('\n')
		row := w.top + i
		edge := " "
		if (i == 0 && row > 0) || (i == w.rows-1 && row < t.len()-1) {
			edge = more
		}
		if row != t.cursor || t.idle {
			b.WriteString(edge + "  ")
			t.line(&b, widths, cells)
			continue
		}
		var selected strings.Builder
		selected.WriteString(edge + t.theme.Signs.Selected + " ")
		t.line(&selected, widths, cells)
		b.WriteString(t.theme.Paint(theme.Selected, selected.String()))
		for _, detail := range w.detail {
			b.WriteByte('\n')
			b.WriteString(strings.Repeat(" ", gutter+indent))
			b.WriteString(cut(detail, size.Width-gutter-indent, more))
		}
	}
	if t.filter != nil && size.Height > 1 {
		b.WriteByte('\n')
		b.WriteString(t.theme.Paint(theme.Warning, cut(" /"+t.filter.query+"  "+t.filter.status()+t.behind(), size.Width, more)))
	}
	return b.String()
}

func (t *Table) header(widths []int) string {
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", gutter))
	for i, w := range widths {
		c := t.columns[i]
		writeCell(&b, c.Title, w, c.Right)
		if i < len(widths)-1 {
			b.WriteString(strings.Repeat(" ", gap))
		}
	}
	return b.String()
}

func (t *Table) line(b *strings.Builder, widths []int, cells []Cell) {
	for i, w := range widths {
		var cell Cell
		if i < len(cells) {
			cell = cells[i]
		}
		if cell.Draw != nil {
			b.WriteString(cell.Draw(w))
		} else {
			text := cell.Text
			if !t.columns[i].Right {
				text = cut(text, w, t.theme.Signs.More)
			}
			writeCell(b, t.theme.Paint(cell.Tone, text), w, t.columns[i].Right)
		}
		if i < len(widths)-1 {
			b.WriteString("  ")
		}
	}
}

func writeCell(b *strings.Builder, text string, w int, right bool) {
	pad := max(w-width(text), 0)
	if right {
		writeSpaces(b, pad)
	}
	b.WriteString(text)
	if !right {
		writeSpaces(b, pad)
	}
}

func writeSpaces(b *strings.Builder, n int) {
	for range n {
		b.WriteByte(' ')
	}
}

// layOut gives the columns their widths in free cells. Columns at the end that
// have no room are left out; all is false then.
func layOut(columns []Column, rows [][]Cell, free int) (widths []int, all bool) {
	least := make([]int, len(columns)) // what a column can't go below
	widths = make([]int, len(columns)) // what it would like
	for i, c := range columns {
		least[i] = max(c.Min, width(c.Title))
		widths[i] = least[i]
		if c.Flex > 0 {
			continue
		}
		for _, row := range rows {
			if i < len(row) {
				widths[i] = max(widths[i], width(row[i].Text))
			}
		}
		if c.Right {
			least[i] = widths[i]
		} else if c.Max > 0 {
			widths[i] = max(min(widths[i], c.Max), least[i])
		}
	}
	shown := len(columns)
	for shown > 1 && sum(least[:shown]) > free {
		shown--
	}
	all = shown == len(columns)
	widths, least, columns = widths[:shown], least[:shown], columns[:shown]
	shrink(widths, least, sum(widths)-free)
	grow(columns, widths, free-sum(widths))
	return widths, all
}

// sum is the width of the columns with the gaps between them.
func sum(widths []int) int {
	total := gap * max(len(widths)-1, 0)
	for _, w := range widths {
		total += w
	}
	return total
}

// shrink takes cells from the widest columns that can give some.
func shrink(widths, least []int, over int) {
	for ; over > 0; over-- {
		widest := -1
		for i, w := range widths {
			if w > least[i] && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

// grow shares what is left among the flexible columns.
func grow(columns []Column, widths []int, left int) {
	for left > 0 {
		shares := 0
		for i, c := range columns {
			if c.Flex > 0 && (c.Max == 0 || widths[i] < c.Max) {
				shares += c.Flex
			}
		}
		if shares == 0 {
			return
		}
		given := 0
		for i, c := range columns {
			if c.Flex == 0 || (c.Max > 0 && widths[i] >= c.Max) {
				continue
			}
			more := max(left*c.Flex/shares, 1)
			if c.Max > 0 {
				more = min(more, c.Max-widths[i])
			}
			more = min(more, left-given)
			widths[i] += more
			given += more
		}
		left -= given
	}
}

// width is the number of cells of a text, painted or not.
func width(s string) int {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}

// cut makes a text at most w cells wide.
func cut(s string, w int, more string) string {
	if width(s) <= w {
		return s
	}
	return ansi.Truncate(s, w, more)
}
