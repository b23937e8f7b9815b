package sheet

import (
	"fmt"
	"strings"

	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
)

// Sheet is a window on lines. It belongs to one screen.
type Sheet struct {
	theme  theme.Theme
	n      int // lines
	line   func(i int) string
	first  int // the line at the top
	height int // as last told by Resize
}

// New makes an empty sheet.
func New(th theme.Theme) *Sheet { return &Sheet{theme: th} }

// Set shows other lines. The scroll position stays where it is possible.
func (s *Sheet) Set(lines []string) {
	s.SetRows(len(lines), func(i int) string { return lines[i] })
}

// SetRows is Set with lines that are made when they are drawn, as those of a
// value of many megabytes.
func (s *Sheet) SetRows(n int, line func(i int) string) {
	s.n, s.line = n, line
	s.scroll(0)
}

// Top scrolls to the first line.
func (s *Sheet) Top() { s.first = 0 }

// End scrolls to the last line.
func (s *Sheet) End() { s.scroll(s.n) }

// Resize tells how many lines the sheet has on the screen.
func (s *Sheet) Resize(height int) {
	s.height = height
	s.scroll(0)
}

// rows is how many lines of the text are shown on a screen of height lines: one
// is kept for saying how many are not.
func (s *Sheet) rows(height int) int {
	if s.n <= height {
		return s.n
	}
	return max(height-1, 0)
}

// View draws the window.
func (s *Sheet) View(size tui.Size) string {
	rows := s.rows(size.Height)
	first := min(s.first, s.n-rows)
	shown := make([]string, rows, rows+1)
	for i := range shown {
		shown[i] = s.line(first + i)
	}
	if rows == s.n || size.Height < 1 {
		return strings.Join(shown, "\n")
	}
	var rest string
	switch below := s.n - first - rows; {
	case below == 0:
		rest = fmt.Sprintf("the end, %s above", phrase.Count(first, "line", "lines"))
	case first == 0:
		rest = fmt.Sprintf("%s below", phrase.Count(below, "more line", "more lines"))
	default:
		rest = fmt.Sprintf("%s below, %s above", phrase.Count(below, "more line", "more lines"), phrase.Count(first, "line", "lines"))
	}
	return strings.Join(append(shown, s.theme.Paint(theme.Muted, " "+s.theme.Signs.More+" "+rest)), "\n")
}

// Keys are the sheet's lines for the screen's key table.
func (s *Sheet) Keys() []tui.Key {
	move := func(by func() int) func() tui.Cmd {
		return func() tui.Cmd {
			s.scroll(by())
			return nil
		}
	}
	line := func(n int) func() int { return func() int { return n } }
	page := func() int { return max(s.rows(s.height)-1, 1) }
	return []tui.Key{
		{Keys: []string{"down", "j"}, Help: "down", Quiet: s.n <= s.height, Run: move(line(1))},
		{Keys: []string{"up", "k"}, Help: "up", Quiet: true, Run: move(line(-1))},
		{Keys: []string{"pgdown"}, Help: "next page", Quiet: true, Run: move(page)},
		{Keys: []string{"pgup"}, Help: "previous page", Quiet: true, Run: move(func() int { return -page() })},
		{Keys: []string{"g", "home"}, Help: "first line", Quiet: true, Run: move(func() int { return -s.n })},
		{Keys: []string{"G", "end"}, Help: "last line", Quiet: true, Run: move(func() int { return s.n })},
	}
}

func (s *Sheet) scroll(by int) {
	s.first = max(min(s.first+by, s.n-s.rows(s.height)), 0)
}
