// Package shellword writes texts as words of a POSIX shell, so that a command
// that is shown can be pasted as it stands, and takes a line of such words apart.
package shellword

import "strings"

// Quote is s as one word: as it is where no character of it means anything to a
// shell, else in single quotes.
func Quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:,=@+", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Split takes a line apart as a shell does: at white space, with single quotes,
// double quotes and backslashes. Nothing is expanded: a dollar sign is one. It is
// false where a quote is not closed, or a backslash stands at the end.
func Split(line string) (words []string, ok bool) {
	var word strings.Builder
	inWord := false
	quote := rune(0)
	escaped := false
	for _, r := range line {
		switch {
		case escaped:
			if quote == '"' && !strings.ContainsRune("\"\\$`", r) {
				word.WriteByte('\\') // in double quotes it is one before most characters
			}
			word.WriteRune(r)
			escaped = false
		case quote != '\'' && r == '\\':
			escaped, inWord = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == ' ' || r == '\t':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, quote == 0 && !escaped
}
