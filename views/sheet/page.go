package sheet

import (
	"fmt"
	"strings"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
)

// Indent stands before what belongs to a sentence with a sign.
const Indent = "   "

// Page collects the lines of a sheet for a width. Text that it is given has
// passed package phrase where it came from outside.
type Page struct {
	Theme theme.Theme
	Width int
	Lines []string
}

// Blank adds an empty line.
func (p *Page) Blank() { p.Lines = append(p.Lines, "") }

// Title begins a part with an empty line and its title.
func (p *Page) Title(text string) {
	if len(p.Lines) > 0 {
		p.Blank()
	}
	p.Hang(" ", theme.Title, text)
}

// Hang adds text behind a lead, wrapped under itself.
func (p *Page) Hang(lead string, tone theme.Tone, text string) {
	for _, line := range phrase.Hang(lead, text, p.Width-1) {
		p.Lines = append(p.Lines, p.Theme.Paint(tone, line))
	}
}

// Words adds a block of lines, each of which is a word, or a name of at most twelve
// letters, and what it says, as a receipt has them.
func (p *Page) Words(block string) {
	for line := range strings.SplitSeq(block, "\n") {
		const name = 12
		word, says, _ := strings.Cut(line, " ")
		if len(line) > name && line[name] == ' ' { // the name may be of several words
			word, says = strings.TrimRight(line[:name], " "), line[name:]
		}
		p.Hang(Indent+fmt.Sprintf("%-12s ", word), theme.Plain, strings.TrimSpace(says))
	}
}

// Say adds text of a sentence's own.
func (p *Page) Say(text string) { p.Hang(Indent, theme.Plain, text) }

// Sign adds a sentence that begins with the sign of its tone.
func (p *Page) Sign(tone theme.Tone, text string) { p.Hang(Lead(p.Theme, tone), tone, text) }

// Clipped is Sign in one line, cut between two words where it is longer.
func (p *Page) Clipped(tone theme.Tone, text string) {
	lead := Lead(p.Theme, tone)
	p.Lines = append(p.Lines, p.Theme.Paint(tone, lead+phrase.Clip(text, p.Width-1-len(Indent), p.Theme.Signs.More)))
}

// Lead is the sign of a tone, as wide as Indent.
func Lead(th theme.Theme, tone theme.Tone) string {
	sign := th.Sign(tone)
	if sign == "" {
		sign = " "
	}
	return " " + sign + " "
}

// Table adds rows under their titles.
func (p *Page) Table(columns []Column, rows [][]Cell) {
	p.Lines = append(p.Lines, Table(p.Theme, p.Width-1, columns, rows)...)
}

// Faults adds every fault that an error is made of, with what to do about it.
// Lead goes before each, as in "reading again failed: ".
func (p *Page) Faults(tone theme.Tone, lead string, err error) {
	for _, f := range phrase.Faults(err) {
		p.Fault(tone, lead, f)
	}
}

// Fault adds one fault with what to do about it.
func (p *Page) Fault(tone theme.Tone, lead string, f *fault.Fault) {
	p.Sign(tone, lead+phrase.Safe(f.Error()))
	if f.Hint != "" {
		p.Hang(Indent+Indent, theme.Plain, phrase.Safe(f.Hint))
	}
}
