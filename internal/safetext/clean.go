package safetext

import (
	"unicode"
	"unicode/utf8"
)

// noteMax is at least the length of the longest note: the punctuation around
// the nineteen digits of the largest int.
const noteMax = 40

// maxMarks is how many combining marks one character may carry. Written
// languages stay below it.
const maxMarks = 6

// clean replaces what is not safe in s, which is the beginning of an input of
// total bytes, and cuts the result to limit bytes.
//
// The limit holds for the result and not for the input. That bounds the work,
// because nothing gets shorter by cleaning, and it lets a cut text pass through
// a second time unchanged.
func clean(s string, total, limit int, newlines bool) Text {
	if len(s) == total && len(s) <= limit && isPlain(s) {
		return Text{s}
	}
	out := make([]byte, 0, min(len(s)+32, limit+utf8.UTFMax))
	whole := 0 // bytes of out that leave room for the note
	marks := maxMarks
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size <= 1:
			out = appendHex(out, 'x', uint32(s[0]), 2)
			marks = 0
		case r == '\n' && newlines:
			out = append(out, '\n')
			marks = maxMarks // a mark that begins a line stands on nothing
		case !Printable(r):
			out = appendEscape(out, r)
			marks = 0
		case unicode.In(r, unicode.Mn, unicode.Me):
			if marks >= maxMarks {
				out = appendEscape(out, r)
				marks = 0
			} else {
				out = append(out, s[:size]...)
				marks++
			}
		default:
			out = append(out, s[:size]...)
			marks = 0
		}
		if len(out) > limit {
			return Text{string(out[:whole]) + note(total)}
		}
		if len(out) <= limit-noteMax {
			whole = len(out)
		}
		s = s[size:]
	}
	return Text{string(out)}
}

// Printable reports whether r shows as itself: a letter, mark, number,
// punctuation, symbol or the ASCII space, and none of those that show as
// nothing. Input fields use it for what is typed or pasted.
func Printable(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= ' ' && r < 0x7f
	}
	return unicode.IsPrint(r) && !invisible(r)
}

// invisible reports code points that Unicode counts as letters, marks or
// symbols and that nevertheless show as nothing.
func invisible(r rune) bool {
	switch r {
	case 0x2800, // blank Braille pattern
		0x16fe4, // Khitan small script filler
		0x1d159: // musical symbol null notehead
		return true
	}
	return unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// isPlain reports whether s is printable ASCII only, as nearly everything is.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// appendEscape appends r as Go would write it in a string literal.
func appendEscape(out []byte, r rune) []byte {
	switch {
	case r == '\t':
		return append(out, `\t`...)
	case r == '\n':
		return append(out, `\n`...)
	case r == '\r':
		return append(out, `\r`...)
	case r < utf8.RuneSelf:
		return appendHex(out, 'x', uint32(r), 2)
	case r < 0x10000:
		return appendHex(out, 'u', uint32(r), 4)
	default:
		return appendHex(out, 'U', uint32(r), 8)
	}
}

func appendHex(out []byte, letter byte, v uint32, digits int) []byte {
	out = append(out, '\\', letter)
	for shift := 4 * (digits - 1); shift >= 0; shift -= 4 {
		out = append(out, "0123456789abcdef"[v>>shift&0xf])
	}
	return out
}
