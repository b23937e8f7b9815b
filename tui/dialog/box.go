package dialog

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
)

// widest is the width of a box on a large terminal, in cells.
const widest = 78

// inner is the width of what stands in a box on a terminal of this size.
func inner(size tui.Size) int { return min(size.Width-1, widest) - 4 }

// box is a frame in the making, from its title down.
type box struct {
	th    theme.Theme
	width int // of what stands in it
	lines []string
}

func newBox(title string, size tui.Size, th theme.Theme) *box {
	b := &box{th: th, width: inner(size)}
	corner := [2]string{"┌", "┐"}
	if th.ASCII {
		corner = [2]string{"+", "+"}
	}
	title = ansi.Truncate(title, b.width-2, th.Signs.More)
	rest := b.width - ansi.StringWidth(title)
	b.lines = []string{corner[0] + " " + th.Paint(theme.Title, title) + " " + strings.Repeat(b.dash(), rest) + corner[1]}
	return b
}

func (b *box) dash() string {
	if b.th.ASCII {
		return "-"
	}
	return "─"
}

// add puts a line into the box; marked says that the next key acts on it.
func (b *box) add(text string, marked bool) {
	side, mark := "│", " "
	if b.th.ASCII {
		side = "|"
	}
	if marked {
		mark = b.th.Signs.Selected
	}
	text = ansi.Truncate(text, b.width, b.th.Signs.More)
	pad := strings.Repeat(" ", b.width-ansi.StringWidth(text))
	b.lines = append(b.lines, side+mark+text+pad+" "+side)
}

// spread puts a line with two ends into the box; the left end gives way.
func (b *box) spread(left, right string) {
	left = ansi.Truncate(left, max(b.width-ansi.StringWidth(right)-1, 0), b.th.Signs.More)
	gap := max(b.width-ansi.StringWidth(left)-ansi.StringWidth(right), 0)
	b.add(left+strings.Repeat(" ", gap)+right, false)
}

func (b *box) String() string {
	corner := [2]string{"└", "┘"}
	if b.th.ASCII {
		corner = [2]string{"+", "+"}
	}
	return strings.Join(b.lines, "\n") + "\n" + corner[0] + strings.Repeat(b.dash(), b.width+2) + corner[1]
}

// button is drawn with brackets where the next key presses it, and in
// parentheses where it would only say why it is off.
func button(label string, focused, off bool, th theme.Theme) string {
	if off {
		label = "(" + label + ")"
	}
	if !focused {
		return "  " + label + "  "
	}
	return th.Paint(theme.Selected, th.Signs.Selected+"[ "+label+" ]")
}

// rest says that the text goes on below.
func rest(p *prose, th theme.Theme) string {
	n := p.below()
	switch {
	case n == 1:
		return th.Signs.More + " 1 more line: down"
	case n > 0:
		return th.Signs.More + " " + strconv.Itoa(n) + " more lines: down"
	default:
		return ""
	}
}
