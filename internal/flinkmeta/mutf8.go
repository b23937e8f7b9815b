package flinkmeta

import (
	"fmt"
	"math"
	"unicode/utf8"
)

// fromModifiedUTF8 turns Java's modified UTF-8 into UTF-8: C0 80 is U+0000, and
// two surrogates of three bytes each are one rune. A surrogate without its
// partner, which a Java string may hold, keeps its three bytes (ED A0..BF xx):
// not valid UTF-8, but nothing is lost and it is written back the same.
//
// The second result is false for bytes that Java's readUTF refuses. b is
// returned itself where nothing has to change.
func fromModifiedUTF8(b []byte) ([]byte, bool) {
	i := 0
	for i < len(b) && b[i] < 0x80 {
		i++
	}
	if i == len(b) {
		return b, true
	}
	out := append(make([]byte, 0, len(b)), b[:i]...)
	for i < len(b) {
		unit, n := javaUnit(b[i:])
		if n == 0 {
			return nil, false
		}
		i += n
		if isHigh(unit) {
			if low, m := javaUnit(b[i:]); m != 0 && isLow(low) {
				i += m
				out = utf8.AppendRune(out, 0x10000+(unit-0xD800)<<10+(low-0xDC00))
				continue
			}
		}
		out = appendUnit(out, unit)
	}
	return out, true
}

// javaUnit reads one UTF-16 code unit as Java's readUTF does, which accepts
// forms that are longer than needed. The length is 0 where it refuses.
func javaUnit(b []byte) (rune, int) {
	continued := func(i int) bool { return len(b) > i && b[i]&0xC0 == 0x80 }
	switch {
	case len(b) == 0:
		return 0, 0
	case b[0] < 0x80:
		return rune(b[0]), 1
	case b[0]&0xE0 == 0xC0 && continued(1):
		return rune(b[0]&0x1F)<<6 | rune(b[1]&0x3F), 2
	case b[0]&0xF0 == 0xE0 && continued(1) && continued(2):
		return rune(b[0]&0x0F)<<12 | rune(b[1]&0x3F)<<6 | rune(b[2]&0x3F), 3
	default:
		return 0, 0
	}
}

func isHigh(unit rune) bool { return unit >= 0xD800 && unit < 0xDC00 }
func isLow(unit rune) bool  { return unit >= 0xDC00 && unit < 0xE000 }

// appendUnit appends a code unit as UTF-8, half surrogates included, which
// utf8.AppendRune would replace.
func appendUnit(out []byte, unit rune) []byte {
	switch {
	case unit < 0x80:
		return append(out, byte(unit))
	case unit < 0x800:
		return append(out, 0xC0|byte(unit>>6), 0x80|byte(unit&0x3F))
	default:
		return append(out, 0xE0|byte(unit>>12), 0x80|byte(unit>>6&0x3F), 0x80|byte(unit&0x3F))
	}
}

// appendModifiedUTF8 is the reverse of fromModifiedUTF8, with the 16-bit byte
// count in front.
func appendModifiedUTF8(out []byte, s string) ([]byte, error) {
	start := len(out)
	out = append(out, 0, 0)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			unit, m := javaUnit([]byte(s[i:min(i+3, len(s))]))
			if m != 3 || unit < 0xD800 || unit > 0xDFFF {
				return nil, fmt.Errorf("string %s is not UTF-8", quote(s))
			}
			r, n = unit, m
		}
		i += n
		switch {
		case r == 0:
			out = append(out, 0xC0, 0x80)
		case r >= 0x10000:
			out = appendUnit(out, 0xD800+(r-0x10000)>>10)
			out = appendUnit(out, 0xDC00+(r-0x10000)&0x3FF)
		default:
			out = appendUnit(out, r)
		}
	}
	n := len(out) - start - 2
	if n > math.MaxUint16 {
		return nil, fmt.Errorf("string %s takes %d bytes, at most %d can be written", quote(s), n, math.MaxUint16)
	}
	out[start], out[start+1] = byte(n>>8), byte(n)
	return out, nil
}
