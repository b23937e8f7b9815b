package compare

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// Fact is one thing about both of two recovery points. An empty value is not known.
type Fact struct {
	Name   string
	Values [2]string
	Tones  [2]theme.Tone
}

func (f Fact) unknown() bool { return f.Values[0] == "" && f.Values[1] == "" }
func (f Fact) same() bool    { return !f.unknown() && f.Values[0] == f.Values[1] }
func (f Fact) differs() bool { return f.Values[0] != f.Values[1] }

// Differing writes the facts that are not the same in both, or known of one alone, side
// by side below the names of the two.
func Differing(p *sheet.Page, names [2]string, facts []Fact) {
	label := len("WHAT DIFFERS")
	for _, f := range facts {
		if f.differs() {
			label = max(label, ansi.StringWidth(f.Name))
		}
	}
	label = min(label, p.Width/3)
	room := max((p.Width-1-len(sheet.Indent)-label-4)/2, 8)
	if len(p.Lines) > 0 {
		p.Blank()
	}
	row(p, label, room, Fact{Name: "WHAT DIFFERS", Values: names, Tones: [2]theme.Tone{theme.Title, theme.Title}}, theme.Title)
	for _, f := range facts {
		if !f.differs() {
			continue
		}
		for i, v := range f.Values {
			if v == "" {
				f.Values[i], f.Tones[i] = "not known", theme.Muted
			}
		}
		row(p, label, room, f, theme.Plain)
	}
}

// row draws a name and two values, each wrapped under itself.
func row(p *sheet.Page, label, room int, f Fact, tone theme.Tone) {
	columns := [3][]string{phrase.Wrap(f.Name, label), phrase.Wrap(f.Values[0], room), phrase.Wrap(f.Values[1], room)}
	tones := [3]theme.Tone{tone, f.Tones[0], f.Tones[1]}
	widths := [3]int{label, room, 0}
	for i := range max(len(columns[0]), len(columns[1]), len(columns[2])) {
		line := sheet.Indent
		for c, texts := range columns {
			text := ""
			if i < len(texts) {
				text = texts[i]
			}
			pad := strings.Repeat(" ", max(widths[c]-ansi.StringWidth(text), 0))
			line += p.Theme.Paint(tones[c], text)
			if c < 2 {
				line += pad + "  "
			}
		}
		p.Lines = append(p.Lines, strings.TrimRight(line, " "))
	}
}

// Same writes what both have in common, with the values, then the names of what is
// known of neither. What neither has is left out.
func Same(p *sheet.Page, facts []Fact) {
	var words, unknown []string
	for _, f := range facts {
		switch {
		case f.unknown():
			unknown = append(unknown, f.Name)
		case f.same() && f.Values[0] != p.Theme.Signs.None:
			words = append(words, f.Name+" "+f.Values[0])
		}
	}
	p.Title("The same in both")
	for _, w := range words {
		p.Hang(sheet.Indent, theme.Plain, w)
	}
	if len(words) == 0 {
		p.Say("nothing that is known")
	}
	if len(unknown) > 0 {
		p.Title("Not known of either")
		p.Say(strings.Join(unknown, ", "))
	}
}
