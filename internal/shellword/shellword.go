// Package shellword writes texts as words of a POSIX shell, so that a command
// that is shown can be pasted as it stands.
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
