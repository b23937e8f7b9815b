package strictjson

import (
	"unicode/utf8"
)

const replacement = "\uFFFD"

// Replace decodes bytes as UTF-8 the way Java's String constructor does: each
// maximal piece that is not UTF-8 becomes one U+FFFD. Java takes the three
// bytes of a surrogate as one piece, and so does this function. Valid input is
// returned as it is.
func Replace(data []byte) []byte {
	if utf8.Valid(data) {
		return data
	}
	out := make([]byte, 0, len(data)+2*len(replacement))
	for len(data) > 0 {
		if data[0] < utf8.RuneSelf {
			out = append(out, data[0])
			data = data[1:]
			continue
		}
		if r, size := utf8.DecodeRune(data); r != utf8.RuneError || size > 1 {
			out = append(out, data[:size]...)
			data = data[size:]
			continue
		}
		out = append(out, replacement...)
		data = data[malformed(data):]
	}
	return out
}

// malformed is how many bytes at the start of data make one replacement. data
// begins with a byte that starts no valid sequence.
func malformed(data []byte) int {
	var need int                        // bytes of the whole sequence
	low, high := byte(0x80), byte(0xbf) // bounds of the second byte
	switch b := data[0]; {
	case b >= 0xe0 && b <= 0xef:
		need = 3
		if b == 0xe0 {
			low = 0xa0
		}
	case b >= 0xf0 && b <= 0xf4:
		need = 4
		switch b {
		case 0xf0:
			low = 0x90
		case 0xf4:
			high = 0x8f
		}
	default:
		return 1
	}
	if len(data) < 2 || data[1] < low || data[1] > high {
		return 1
	}
	n := 2
	for n < need && n < len(data) && data[n]&0xc0 == 0x80 {
		n++
	}
	return n
}

// firstInvalid is the position of the first byte that is not UTF-8, or -1.
func firstInvalid(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}
