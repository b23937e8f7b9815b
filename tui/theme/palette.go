package theme

import (
	"strings"

	"github.com/charmbracelet/lipgloss"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Palette is a set of colours for all tones.
type Palette uint8

// The palettes. HighContrast uses only the brightest colours on the terminal's
// own background, and reverse. Mono uses bold, faint and reverse, which NO_COLOR
// allows. NoStyle writes no escape sequence at all: for terminals that know
// none, and for tests.
const (
	Dark Palette = iota
	Light
	HighContrast
	Mono
	NoStyle
)

var paletteWords = []string{Dark: "dark", Light: "light", HighContrast: "high-contrast", Mono: "mono", NoStyle: "none"}

// Palettes are the words of the palettes that an operator can choose.
func Palettes() []string { return paletteWords[:NoStyle:NoStyle] }

// String is the palette's word.
func (p Palette) String() string {
	if int(p) < len(paletteWords) {
		return paletteWords[p]
	}
	return paletteWords[NoStyle]
}

// ParsePalette reads one of Palettes. The error is a fault of kind Config.
func ParsePalette(word string) (Palette, error) {
	for i, w := range Palettes() {
		if word == w {
			return Palette(i), nil
		}
	}
	return NoStyle, fault.New(fault.Config, "choose a theme", "theme %q is not known", safetext.Of(word)).
		WithHint("it is one of: %s", strings.Join(Palettes(), ", "))
}

// paletteStyles are the styles of a palette's tones; a tone that is missing has
// no look of its own. With sixteen colours only those whose meaning terminals
// agree on are used: the nearest colour of another palette may be the
// background itself.
func paletteStyles(r *lipgloss.Renderer, p Palette, sixteen bool) map[Tone]lipgloss.Style {
	plain := r.NewStyle()
	color := func(code string) lipgloss.Style { return plain.Foreground(lipgloss.Color(code)) }
	bold, reverse := plain.Bold(true), plain.Reverse(true)
	switch {
	case p == Mono:
		return map[Tone]lipgloss.Style{
			Title: bold, Muted: plain.Faint(true), Warning: bold, Error: bold, Selected: reverse,
			Production: plain.Bold(true).Reverse(true), KeyName: bold,
		}
	case p == HighContrast:
		return map[Tone]lipgloss.Style{
			Title: bold, OK: color("10").Bold(true), Warning: color("11").Bold(true), Error: color("9").Bold(true),
			Selected: plain.Bold(true).Reverse(true), Production: color("15").Background(lipgloss.Color("1")).Bold(true),
			KeyName: color("14").Bold(true),
		}
	case sixteen:
		s := map[Tone]lipgloss.Style{
			Title: bold, Muted: plain.Faint(true), OK: color("2"), Warning: color("3"), Error: color("1").Bold(true),
			Selected: reverse, Production: color("15").Background(lipgloss.Color("1")).Bold(true), KeyName: color("6").Bold(true),
		}
		if p == Light {
			s[Warning], s[KeyName] = color("5"), color("4").Bold(true) // yellow and cyan can't be read on white
		}
		return s
	case p == Light:
		return map[Tone]lipgloss.Style{
			Title: bold, Muted: color("241"), OK: color("28"), Warning: color("130"),
			Error: color("160").Bold(true), Selected: plain.Bold(true).Background(lipgloss.Color("254")),
			Production: color("231").Background(lipgloss.Color("160")).Bold(true), KeyName: color("25").Bold(true),
		}
	default:
		return map[Tone]lipgloss.Style{
			Title: bold, Muted: color("245"), OK: color("78"), Warning: color("221"),
			Error: color("203").Bold(true), Selected: plain.Bold(true).Background(lipgloss.Color("237")),
			Production: color("231").Background(lipgloss.Color("160")).Bold(true), KeyName: color("75").Bold(true),
		}
	}
}
