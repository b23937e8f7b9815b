package tui

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// fit cuts a line to w cells and lets no control character through but the
// sequences that paint. Text from outside was made safe where it came in; this
// is the last door before the terminal, which obeys whatever a frame holds.
func fit(line string, w int, more string) string {
	if plain(line) {
		if len(line) <= w {
			return line
		}
		return ansi.Truncate(line, w, more)
	}
	line = harmless(line)
	if ansi.StringWidth(line) > w {
		return ansi.Truncate(line, w, more)
	}
	return line
}

func plain(line string) bool {
	for i := range len(line) {
		if line[i] < ' ' || line[i] >= 0x7f {
			return false
		}
	}
	return true
}

// harmless replaces every control character, C0 and C1, and every byte that is
// not UTF-8 by U+FFFD, but leaves sequences that only paint.
func harmless(line string) string {
	var b strings.Builder
	b.Grow(len(line))
	for i := 0; i < len(line); {
		if n := paintLen(line[i:]); n > 0 {
			b.WriteString(line[i : i+n])
			i += n
			continue
		}
		r, size := utf8.DecodeRuneInString(line[i:])
		if r < ' ' || (r >= 0x7f && r < 0xa0) || (r == utf8.RuneError && size == 1) {
			r = utf8.RuneError
		}
		b.WriteRune(r)
		i += size
	}
	return b.String()
}

// paintLen is the length of the "select graphic rendition" sequence that s
// begins with, 0 if there is none.
func paintLen(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case c == 'm':
			return i + 1
		case (c < '0' || c > '9') && c != ';' && c != ':':
			return 0
		}
	}
	return 0
}
