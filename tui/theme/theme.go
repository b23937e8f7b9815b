package theme

import (
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// Tone is what a piece of text means. The zero Tone is Plain.
type Tone uint8

// The tones.
const (
	Plain      Tone = iota // ordinary text
	Title                  // a heading, a column's title, the profile's name
	Muted                  // context that may be skipped
	OK                     // checked, and good
	Warning                // needs attention
	Error                  // wrong
	Selected               // the row that the next key acts on
	Production             // the badge of the production environment
	KeyName                // a key in the footer and in help
	tones
)

// Palette is a set of colours for all tones.
type Palette uint8

// The palettes. Mono uses bold, faint and reverse, which NO_COLOR allows.
// NoStyle writes no escape sequence at all: for terminals that know none, and
// for tests.
const (
	Dark Palette = iota
	Light
	Mono
	NoStyle
)

// Options choose a theme.
type Options struct {
	Palette Palette
	ASCII   bool            // signs and borders in ASCII
	Colors  termenv.Profile // how many colours the terminal has; Ascii gives NoStyle
}

// Theme paints text and knows the signs. It is made once and never changes, so
// it may be copied and shared freely.
type Theme struct {
	Signs Signs
	ASCII bool

	styles [tones]style
}

// New makes a theme.
func New(o Options) Theme {
	th := Theme{Signs: unicodeSigns, ASCII: o.ASCII}
	if o.ASCII {
		th.Signs = asciiSigns
	}
	if o.Palette == NoStyle || o.Colors == termenv.Ascii {
		return th
	}
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(o.Colors)
	r.SetHasDarkBackground(o.Palette != Light)
	for tone, s := range paletteStyles(r, o.Palette) {
		th.styles[tone] = newStyle(s)
	}
	return th
}

// Paint gives s, one line, the look of a tone. Parts of s that are painted
// already keep their own look.
func (t Theme) Paint(tone Tone, s string) string {
	if tone >= tones || s == "" {
		return s
	}
	return t.styles[tone].paint(s)
}

// Sign is the sign of a tone: ✖, ! and ✔ for Error, Warning and OK, and nothing
// for the others.
func (t Theme) Sign(tone Tone) string {
	switch tone {
	case Error:
		return t.Signs.Error
	case Warning:
		return t.Signs.Warning
	case OK:
		return t.Signs.OK
	default:
		return ""
	}
}

// Signed is s in a tone with the tone's sign before it, so that the meaning
// does not depend on the colour.
func (t Theme) Signed(tone Tone, s string) string {
	if sign := t.Sign(tone); sign != "" {
		s = sign + " " + s
	}
	return t.Paint(tone, s)
}

func paletteStyles(r *lipgloss.Renderer, p Palette) map[Tone]lipgloss.Style {
	plain := r.NewStyle()
	color := func(code string) lipgloss.Style { return plain.Foreground(lipgloss.Color(code)) }
	badge := color("231").Background(lipgloss.Color("160")).Bold(true)
	switch p {
	case Light:
		return map[Tone]lipgloss.Style{
			Title: plain.Bold(true), Muted: color("241"), OK: color("28"), Warning: color("130"),
			Error: color("160").Bold(true), Selected: plain.Bold(true).Background(lipgloss.Color("254")),
			Production: badge, KeyName: color("25").Bold(true),
		}
	case Mono:
		return map[Tone]lipgloss.Style{
			Title: plain.Bold(true), Muted: plain.Faint(true), Warning: plain.Bold(true),
			Error: plain.Bold(true), Selected: plain.Reverse(true),
			Production: plain.Bold(true).Reverse(true), KeyName: plain.Bold(true),
		}
	default:
		return map[Tone]lipgloss.Style{
			Title: plain.Bold(true), Muted: color("245"), OK: color("78"), Warning: color("221"),
			Error: color("203").Bold(true), Selected: plain.Bold(true).Background(lipgloss.Color("237")),
			Production: badge, KeyName: color("75").Bold(true),
		}
	}
}

// style is a lipgloss style reduced to what it writes before and after a line.
// Lipgloss takes microseconds for every string; a table paints hundreds of
// cells for one key.
type style struct{ before, after string }

func newStyle(s lipgloss.Style) style {
	before, after, _ := strings.Cut(s.Render("x"), "x")
	return style{before, after}
}

const reset = "\x1b[0m"

func (s style) paint(text string) string {
	if s.before == "" {
		return text
	}
	if strings.Contains(text, reset) {
		text = strings.ReplaceAll(text, reset, reset+s.before)
	}
	return s.before + text + s.after
}
