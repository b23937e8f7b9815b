package theme

import (
	"io"
	"strings"
	"sync/atomic"

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

// Options choose a theme.
type Options struct {
	Palette Palette
	ASCII   bool            // signs and borders in ASCII
	Colors  termenv.Profile // how many colours the terminal has; Ascii gives NoStyle
}

// Theme paints text and knows the signs. It may be copied and shared freely;
// all copies of one theme have one palette, which Switch changes for all.
type Theme struct {
	Signs Signs
	ASCII bool

	look *look // nil: no escape sequences
}

// look is what the copies of a theme share. It is read by any goroutine that
// paints.
type look struct {
	colors  termenv.Profile
	current atomic.Pointer[painted]
}

type painted struct {
	palette Palette
	styles  [tones]style
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
	th.look = &look{colors: o.Colors}
	th.look.current.Store(paint(o.Palette, o.Colors))
	return th
}

// Switch changes the palette of this theme and of all its copies; false, and no
// change, where the terminal takes no escape sequences or NoStyle is asked for.
// Text that was painted before keeps its look.
func (t Theme) Switch(p Palette) bool {
	if t.look == nil || p == NoStyle {
		return false
	}
	t.look.current.Store(paint(p, t.look.colors))
	return true
}

// Palette is what the theme paints with now.
func (t Theme) Palette() Palette {
	if t.look == nil {
		return NoStyle
	}
	return t.look.current.Load().palette
}

func paint(p Palette, colors termenv.Profile) *painted {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(colors)
	r.SetHasDarkBackground(p != Light)
	out := &painted{palette: p}
	for tone, s := range paletteStyles(r, p, colors == termenv.ANSI) {
		out.styles[tone] = newStyle(s)
	}
	return out
}

// Paint gives s, one line, the look of a tone. Parts of s that are painted
// already keep their own look.
func (t Theme) Paint(tone Tone, s string) string {
	if tone >= tones || s == "" || t.look == nil {
		return s
	}
	return t.look.current.Load().styles[tone].paint(s)
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
