package inspect

import (
	"encoding/binary"
	"math/bits"
)

// fastValue returns the position behind the value at i, -1 where it is not
// proven to be one.
func fastValue(data []byte, i int) int {
	const most = 60 // levels: one bit each
	var objects uint64
	depth := 0
	for {
		if i >= len(data) {
			return -1
		}
		switch c := data[i]; {
		case c == '"':
			if i, _ = fastString(data, i+1); i < 0 {
				return -1
			}
		case c == '{':
			if depth == most || i+1 >= len(data) {
				return -1
			}
			if i++; data[i] == '}' {
				i++
				break
			}
			objects |= 1 << depth
			depth++
			if _, i = fastName(data, i); i < 0 {
				return -1
			}
			continue
		case c == '[':
			if depth == most || i+1 >= len(data) {
				return -1
			}
			if i++; data[i] == ']' {
				i++
				break
			}
			objects &^= 1 << depth
			depth++
			continue
		case c == 't' && hasWord(data, i, "true"), c == 'n' && hasWord(data, i, "null"):
			i += 4
		case c == 'f' && hasWord(data, i, "false"):
			i += 5
		default:
			if i = fastNumber(data, i); i < 0 {
				return -1
			}
		}
		for { // behind a value
			if depth == 0 {
				return i
			}
			if i >= len(data) {
				return -1
			}
			object := objects>>(depth-1)&1 != 0
			c := data[i]
			i++
			if c == ',' {
				if object {
					if _, i = fastName(data, i); i < 0 {
						return -1
					}
				}
				break
			}
			if c == '}' && object || c == ']' && !object {
				depth--
				continue
			}
			return -1
		}
	}
}

// fastNumber returns the position behind a number, -1 where it is not proven.
func fastNumber(data []byte, i int) int {
	const most = 100 // bytes
	start := i
	if i < len(data) && data[i] == '-' {
		i++
	}
	digits := func() bool {
		from := i
		for i < len(data) && isDigit(data[i]) {
			i++
		}
		return i > from && i-start < most
	}
	zero := i < len(data) && data[i] == '0'
	from := i
	if !digits() || zero && i > from+1 {
		return -1
	}
	if i < len(data) && data[i] == '.' {
		if i++; !digits() {
			return -1
		}
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		if !digits() {
			return -1
		}
	}
	return i
}

// Eight bytes at a time: a bit for each byte.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// skipPlain returns a position from i on before which all is plain: ASCII that
// needs no escape, and no quote. It goes in strides, so that what follows may be
// plain too.
func skipPlain(data []byte, i int) int {
	const stride = 32
	for i+stride <= len(data) {
		part := data[i : i+stride : i+stride]
		a, b := binary.LittleEndian.Uint64(part), binary.LittleEndian.Uint64(part[8:])
		c, d := binary.LittleEndian.Uint64(part[16:]), binary.LittleEndian.Uint64(part[24:])
		// While no byte is 0x80 or more, which is a mark itself, a difference has
		// its high bit where it went below zero: the first of a word is exact, and
		// takes something from its neighbour only where there is a mark anyway.
		marks := a | ((a ^ ones*'"') - ones) | ((a ^ ones*'\\') - ones) | (a - ones*0x20) |
			b | ((b ^ ones*'"') - ones) | ((b ^ ones*'\\') - ones) | (b - ones*0x20) |
			c | ((c ^ ones*'"') - ones) | ((c ^ ones*'\\') - ones) | (c - ones*0x20) |
			d | ((d ^ ones*'"') - ones) | ((d ^ ones*'\\') - ones) | (d - ones*0x20)
		if marks&highs != 0 {
			return i
		}
		i += stride
	}
	return i
}

// fastString returns the position behind the quote that ends the string whose
// first character is at i, -1 where it is not proven to be well formed, and
// whether it holds an escape.
func fastString(data []byte, i int) (end int, escaped bool) {
	for {
		i = skipPlain(data, i)
		for i+8 <= len(data) {
			w := binary.LittleEndian.Uint64(data[i:])
			quote := w ^ ones*'"'
			slash := w ^ ones*'\\'
			// The lowest mark is exact, those above it may come from a borrow.
			marks := w&highs | (quote-ones)&^quote&highs | (slash-ones)&^slash&highs | (w-ones*0x20)&^w&highs
			if marks != 0 {
				i += bits.TrailingZeros64(marks) >> 3
				break
			}
			i += 8
		}
		for i < len(data) && plain[data[i]] {
			i++
		}
		if i >= len(data) {
			return -1, false
		}
		switch c := data[i]; {
		case c == '"':
			return i + 1, escaped
		case c == '\\':
			if i+1 >= len(data) {
				return -1, false
			}
			switch data[i+1] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
				i += 2
				escaped = true
			default:
				return -1, false
			}
		case c < 0x20:
			return -1, false
		default:
			size := 2
			switch {
			case c&0xe0 == 0xc0:
			case c&0xf0 == 0xe0:
				size = 3
			case c&0xf8 == 0xf0:
				size = 4
			default:
				return -1, false
			}
			if i+size > len(data) {
				return -1, false
			}
			for k := 1; k < size; k++ {
				if data[i+k]&0xc0 != 0x80 {
					return -1, false
				}
			}
			i += size
		}
	}
}
