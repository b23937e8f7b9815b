package theme

import (
	"slices"
	"strings"

	"github.com/muesli/termenv"
)

// terminals whose fonts or code pages have no box drawing or geometric signs.
var asciiTerminals = []string{"linux", "dumb", "vt52", "vt100", "vt102", "vt220", "ansi", "cons25", "sun"}

// monochrome terminals know bold and reverse, and no colour.
var monochrome = []string{"vt52", "vt100", "vt102", "vt220"}

// FromEnv chooses the options from environment variables: NO_COLOR (any
// non-empty value takes the colours away), TERM and COLORTERM (how many
// colours, and whether the signs can be shown), COLORFGBG (a light
// background), and the locale, where it names an encoding other than UTF-8.
func FromEnv(getenv func(string) string) Options {
	term := getenv("TERM")
	o := Options{
		Palette: Dark,
		ASCII:   slices.Contains(asciiTerminals, term) || !speaksUTF8(getenv),
		Colors:  colors(term, getenv("COLORTERM")),
	}
	switch {
	case term == "" || term == "dumb":
		o.Palette = NoStyle
	case getenv("NO_COLOR") != "", slices.Contains(monochrome, term):
		o.Palette = Mono
	case lightBackground(getenv("COLORFGBG")):
		o.Palette = Light
	}
	return o
}

func colors(term, colorterm string) termenv.Profile {
	switch {
	case term == "" || term == "dumb":
		return termenv.Ascii
	case colorterm != "" || strings.Contains(term, "256color"):
		return termenv.ANSI256
	default:
		return termenv.ANSI
	}
}

// speaksUTF8 follows the order in which POSIX looks for the character type. No
// variable at all is common in containers, whose terminals do speak UTF-8.
func speaksUTF8(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(getenv(name)); locale != "" {
			return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
		}
	}
	return true
}

// lightBackground reads "foreground;background" or "foreground;x;background",
// numbers of the sixteen colours of which 7 and 15 are white.
func lightBackground(colorfgbg string) bool {
	background := colorfgbg[strings.LastIndexByte(colorfgbg, ';')+1:]
	return background == "7" || background == "15"
}
