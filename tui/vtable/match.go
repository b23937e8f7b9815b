package vtable

import (
	"strings"
	"unicode"
)

// Text is what a filter looks for.
type Text struct {
	text  string
	exact bool // it has letters in upper case
}

// parseQuery reads a query; a "!" before it is for the rows without it, and
// alone, as long as nothing follows, for all.
func parseQuery(query string) (_ Text, inverse bool) {
	text, inverse := strings.CutPrefix(query, "!")
	inverse = inverse && text != ""
	return TextOf(text), inverse
}

// TextOf is a text to look for, as a filter takes it: letters in lower case stand
// for those in upper case too.
func TextOf(text string) Text {
	return Text{text: text, exact: strings.ContainsFunc(text, unicode.IsUpper)}
}

// In reports whether s has the text.
func (t Text) In(s string) bool {
	if t.exact {
		return strings.Contains(s, t.text)
	}
	return containsFold(s, t.text)
}

// within reports whether whatever has this text has the other one too.
func (t Text) within(other Text) bool {
	if other.exact && !t.exact {
		return false
	}
	return other.In(t.text)
}

func matches(source Source, i int, text Text) bool {
	if m, ok := source.(Matcher); ok {
		return m.Matches(i, text)
	}
	for _, cell := range source.Row(i) {
		if text.In(cell.Text) {
			return true
		}
	}
	if w, ok := source.(Worder); ok {
		for _, word := range w.Words(i) {
			if text.In(word) {
				return true
			}
		}
	}
	return false
}

// containsFold reports whether s has lower, which has no letters in upper case,
// in any case.
func containsFold(s, lower string) bool {
	if strings.Contains(s, lower) {
		return true
	}
	if !ascii(s) || !ascii(lower) {
		return strings.Contains(strings.ToLower(s), lower)
	}
	for i := 0; i+len(lower) <= len(s); i++ {
		j := 0
		for j < len(lower) && lowerASCII(s[i+j]) == lower[j] {
			j++
		}
		if j == len(lower) {
			return true
		}
	}
	return false
}

func lowerASCII(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
