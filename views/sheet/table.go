package sheet

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
)

// Column is a column of a table on a sheet.
type Column struct {
	Title string
	Right bool // for numbers
}

// Cell is one value.
type Cell struct {
	Text string
	Tone theme.Tone
}

const (
	indent = 3 // before a table
	gap    = 2 // between two columns
	narrow = 20
)

// Table lays rows out under their titles for a width. All columns but the last
// are as wide as their values. The last one wraps: under itself, or under the
// whole row where that takes fewer lines. Nothing is cut.
func Table(th theme.Theme, width int, columns []Column, rows [][]Cell) []string {
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = ansi.StringWidth(c.Title)
	}
	last := len(columns) - 1
	at := indent
	for i := range columns[:last] {
		for _, row := range rows {
			widths[i] = max(widths[i], ansi.StringWidth(row[i].Text))
		}
		at += widths[i] + gap
	}
	below := width-at < narrow && !columns[last].Right
	if below {
		at = indent + gap
	}
	room := max(width-at, 1)
	if columns[last].Right {
		for _, row := range rows {
			widths[last] = max(widths[last], ansi.StringWidth(row[last].Text))
		}
		room = widths[last]
	}

	var lines []string
	title := strings.Repeat(" ", indent)
	for i, c := range columns {
		if i == last && below {
			break
		}
		title += place(c.Title, widths[i], c.Right)
		if i < last {
			title += strings.Repeat(" ", gap)
		}
	}
	lines = append(lines, th.Paint(theme.Title, strings.TrimRight(title, " ")))
	for _, row := range rows {
		lead := strings.Repeat(" ", indent)
		for i := range columns[:last] {
			lead += paintPlaced(th, row[i], widths[i], columns[i].Right) + strings.Repeat(" ", gap)
		}
		end := row[last]
		if columns[last].Right {
			lines = append(lines, lead+paintPlaced(th, end, room, true))
			continue
		}
		from, texts := at, phrase.Wrap(end.Text, room)
		under := phrase.Wrap(end.Text, max(width-indent-gap, 1))
		if below || len(texts) > len(under)+1 {
			from, texts = indent+gap, under
			lines = append(lines, strings.TrimRight(lead, " "))
			if end.Text == "" {
				continue
			}
			lead = strings.Repeat(" ", from)
		}
		for _, text := range texts {
			lines = append(lines, lead+th.Paint(end.Tone, text))
			lead = strings.Repeat(" ", from)
		}
	}
	return lines
}

func place(text string, width int, right bool) string {
	pad := strings.Repeat(" ", max(width-ansi.StringWidth(text), 0))
	if right {
		return pad + text
	}
	return text + pad
}

func paintPlaced(th theme.Theme, c Cell, width int, right bool) string {
	pad := strings.Repeat(" ", max(width-ansi.StringWidth(c.Text), 0))
	if right {
		return pad + th.Paint(c.Tone, c.Text)
	}
	return th.Paint(c.Tone, c.Text) + pad
}
