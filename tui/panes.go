package tui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Panes says which of a screen's parts the keys act on. Its key tab goes to the
// next one.
type Panes struct {
	focus []func(on bool)
	at    int
}

// NewPanes makes panes of which the first has the focus. Each is told when it
// gets the focus and when it loses it, as vtable.Table.Focus is.
func NewPanes(focus ...func(on bool)) *Panes {
	p := &Panes{focus: focus}
	for i, f := range focus {
		f(i == 0)
	}
	return p
}

// Focused is the number of the pane that keys act on, from 0.
func (p *Panes) Focused() int { return p.at }

// Focus gives a pane the focus; a number that is none changes nothing.
func (p *Panes) Focus(pane int) {
	if pane < 0 || pane >= len(p.focus) || pane == p.at {
		return
	}
	p.focus[p.at](false)
	p.at = pane
	p.focus[pane](true)
}

// Keys are the panes' lines for the screen's key table.
func (p *Panes) Keys() []Key {
	turn := func(by int) func() Cmd {
		return func() Cmd {
			p.Focus((p.at + by + len(p.focus)) % max(len(p.focus), 1))
			return nil
		}
	}
	return []Key{
		{Keys: []string{"tab"}, Help: "next pane", Run: turn(1)},
		{Keys: []string{"shift+tab"}, Help: "previous pane", Quiet: true, Run: turn(-1)},
	}
}

// Wrap says whether long lines are broken or cut. The zero Wrap cuts; its key w
// changes it.
type Wrap struct{ on bool }

// On reports whether lines are broken.
func (w *Wrap) On() bool { return w.on }

// Key is the line for the screen's key table.
func (w *Wrap) Key() Key {
	help := "wrap"
	if w.on {
		help = "cut lines"
	}
	return Key{Keys: []string{"w"}, Help: help, Run: func() Cmd {
		w.on = !w.on
		return nil
	}}
}

// Lines are lines as they are drawn in width cells: as they are, or broken at
// words, with what follows set in as far as the line's own beginning.
func (w *Wrap) Lines(lines []string, width int) []string {
	if !w.on || width <= 0 {
		return lines
	}
	var out []string
	for _, line := range lines {
		if ansi.StringWidth(line) <= width {
			out = append(out, line)
			continue
		}
		plain := ansi.Strip(line)
		indent := min(len(plain)-len(strings.TrimLeft(plain, " "))+2, width/2)
		look := "" // of the text where a piece begins
		for i, piece := range strings.Split(ansi.Wrap(line, max(width-indent, 1), ""), "\n") {
			began := look
			look = lookAfter(look, piece)
			if i > 0 {
				piece = strings.Repeat(" ", indent) + began + strings.TrimLeft(piece, " ")
			}
			if look != "" {
				piece += paintReset
			}
			out = append(out, piece)
		}
	}
	return out
}

const paintReset = "\x1b[0m"

// lookAfter is the painting sequences that are in force after a piece of text,
// so that each line of a frame can be drawn alone.
func lookAfter(look, piece string) string {
	for i := 0; i < len(piece); i++ {
		n := paintLen(piece[i:])
		switch {
		case n == 0:
			continue
		case piece[i:i+n] == paintReset || piece[i:i+n] == "\x1b[m":
			look = ""
		default:
			look += piece[i : i+n]
		}
		i += n - 1
	}
	return look
}

// count is a number with its noun, as in "1 line", "2 lines".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%s %ss", Number(int64(n)), noun)
}
