package calls

import (
	"strings"

	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// layout is how the lines of the screen are shared out.
type layout struct {
	head  []string
	table int // lines
	pane  []string
	foot  []string
}

const (
	leastRows = 4  // of the table, with its header
	roomy     = 14 // from how many lines on there is room for the sentence at the end
)

// Resize implements tui.Resizer.
func (s *Screen) Resize(size tui.Size) {
	if size != s.size || s.options.Theme.Palette() != s.look {
		s.size, s.look = size, s.options.Theme.Palette()
		s.fit(size.Width)
		s.table.SetColumns(s.tableColumns())
	}
	s.lay()
}

// lay shares the lines out: the table gets what is left.
func (s *Screen) lay() {
	s.fit(s.size.Width)
	s.table.SetColumns(s.tableColumns())
	width, height := s.size.Width, s.size.Height
	var l layout
	l.head = s.head(width, max(height/4, 2))
	if height >= roomy {
		foot := &sheet.Page{Theme: s.options.Theme, Width: width}
		foot.Hang(sheet.Indent, theme.Muted, noRecord)
		l.foot = append([]string{""}, foot.Lines...)
	}
	free := height - len(l.head) - 1 - len(l.foot)
	if row, ok := s.selected(); ok {
		p := &sheet.Page{Theme: s.options.Theme, Width: width}
		s.pane(p, row)
		want := min(s.table.Lines(), max(free/3, leastRows))
		if most := free - want - 1; most > 0 {
			l.pane = append([]string{""}, s.cutPane(p.Lines, most)...)
		}
	}
	l.table = max(free-len(l.pane), 0)
	s.layout = l
	s.table.Resize(tui.Size{Width: width, Height: l.table})
}

// cutPane is the pane in at most most lines.
func (s *Screen) cutPane(lines []string, most int) []string {
	if len(lines) <= most {
		return lines
	}
	rest := len(lines) - most + 1
	return append(lines[:most-1:most-1], s.options.Theme.Paint(theme.Muted, " "+s.options.Theme.Signs.More+" "+phrase.Count(rest, "more line", "more lines")+": enter shows all"))
}

// View implements tui.Screen.
func (s *Screen) View(size tui.Size) string {
	lines := append(s.layout.head[:len(s.layout.head):len(s.layout.head)], "")
	if s.empty() {
		lines = append(lines, s.why()...)
	} else {
		lines = append(lines, s.table.View(tui.Size{Width: size.Width, Height: s.layout.table}))
	}
	lines = append(append(lines, s.layout.pane...), s.layout.foot...)
	return strings.Join(lines, "\n")
}

// empty reports whether there is no row, filtered or not.
func (s *Screen) empty() bool { return s.table.Source().Len() == 0 }

// why there is no row.
func (s *Screen) why() []string {
	text := ""
	switch {
	case s.ordered && s.shown.Partial():
		text = "no open action was found in what was read"
	case s.ordered:
		text = "no open action is on record"
	case s.scan == nil, s.state.Running:
		text = "no open action was found so far"
	case !s.state.Known():
		return nil
	default:
		text = "ordering what was found"
	}
	return phrase.Hang(sheet.Indent, text, s.size.Width-1)
}
