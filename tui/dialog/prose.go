package dialog

import (
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// glance is how long a line must have stood on the screen to count as seen.
// Frames are drawn at most sixty times a second: a window that was scrolled past
// faster may never have reached the terminal.
const glance = 100 * time.Millisecond

// prose is the text of a dialog, which may be longer than its window, and what
// of it has been on the screen.
type prose struct {
	paragraphs []string

	width, height int
	rows          []row
	top           int
	read          []bool        // paragraphs of which every row has been seen
	since         time.Duration // from when on the window shows what it shows
	moved         bool          // it was resized since then: since is not known
}

type row struct {
	text      string
	paragraph int
	seen      bool
}

func newProse(paragraphs []string) *prose {
	return &prose{paragraphs: paragraphs, read: make([]bool, len(paragraphs))}
}

// wrap breaks the text for a width. A paragraph that was seen whole stays so;
// one of which only a part was seen begins anew.
func (p *prose) wrap(width int) {
	if width == p.width {
		return
	}
	p.width, p.moved = width, true
	p.rows = nil
	for i, paragraph := range p.paragraphs {
		for _, text := range wrapped(paragraph, max(width, 1)) {
			p.rows = append(p.rows, row{text, i, p.read[i]})
		}
	}
	p.scroll(0)
}

// resize sets the height of the window.
func (p *prose) resize(height int) {
	if height == p.height {
		return
	}
	p.height, p.moved = height, true
	p.scroll(0)
}

func (p *prose) scroll(by int) {
	p.top = max(min(p.top+by, len(p.rows)-p.height), 0)
}

// shown says that the window shows what it shows from a time on.
func (p *prose) shown(at time.Duration) { p.since, p.moved = at, false }

// look notes what has been on the screen up to a time.
func (p *prose) look(at time.Duration) {
	if p.moved {
		p.shown(at)
		return
	}
	if at-p.since < glance {
		return
	}
	for i := p.top; i < min(p.top+p.height, len(p.rows)); i++ {
		p.rows[i].seen = true
	}
	for i := range p.read {
		p.read[i] = true
	}
	for _, r := range p.rows {
		p.read[r.paragraph] = p.read[r.paragraph] && r.seen
	}
}

// unseen is how many rows have not been on the screen.
func (p *prose) unseen() int {
	n := 0
	for _, r := range p.rows {
		if !r.seen {
			n++
		}
	}
	return n
}

// bring scrolls to a paragraph, as far as it is not in the window already.
func (p *prose) bring(paragraph int, at time.Duration) {
	first, last := -1, -1
	for i, r := range p.rows {
		if r.paragraph == paragraph {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	before := p.top
	if last >= p.top+p.height {
		p.scroll(last - p.top - p.height + 1)
	}
	if first < p.top {
		p.scroll(first - p.top)
	}
	if p.top != before {
		p.shown(at)
	}
}

// below is how many rows are below the window.
func (p *prose) below() int { return max(len(p.rows)-p.top-p.height, 0) }

// key scrolls; false if the key has no meaning here.
func (p *prose) key(name string, at time.Duration) bool {
	page := max(p.height-1, 1)
	by, known := map[string]int{"up": -1, "down": 1, "pgup": -page, "pgdown": page}[name]
	if before := p.top; known {
		if p.scroll(by); p.top != before {
			p.shown(at)
		}
	}
	return known
}

// window are the rows that are shown.
func (p *prose) window() []string {
	var lines []string
	for i := p.top; i < min(p.top+p.height, len(p.rows)); i++ {
		lines = append(lines, p.rows[i].text)
	}
	return lines
}

// wrapped breaks a text between its words. Only a word that is wider than a line is
// broken itself: a date, or the name of a file, not at its hyphens.
func wrapped(text string, width int) []string {
	const stand = "\ue000" // for a hyphen, while lines are broken
	words := strings.Split(text, " ")
	for i, word := range words {
		if ansi.StringWidth(word) <= width {
			words[i] = strings.ReplaceAll(word, "-", stand)
		}
	}
	lines := strings.Split(ansi.Wrap(strings.Join(words, " "), width, ""), "\n")
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], stand, "-")
	}
	return lines
}
