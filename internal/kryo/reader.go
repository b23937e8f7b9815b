package kryo

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// Error says what is wrong with an element and where.
type Error struct {
	Pos  int // bytes from the start of the element
	What string
}

func (e *Error) Error() string { return fmt.Sprintf("byte %d: %s", e.Pos, e.What) }

// reader walks an element and keeps the first error; after it every read
// returns zero.
type reader struct {
	data []byte
	pos  int
	err  error
}

func (r *reader) left() int { return len(r.data) - r.pos }

func (r *reader) fail(pos int, format string, args ...any) {
	if r.err == nil {
		r.err = &Error{Pos: pos, What: fmt.Sprintf(format, args...)}
	}
}

func (r *reader) byte(what string) byte {
	if r.err != nil {
		return 0
	}
	if r.left() < 1 {
		r.fail(r.pos, "the element ends where %s should be", what)
		return 0
	}
	b := r.data[r.pos]
	r.pos++
	return b
}

// fixed reads n bytes, at most 8, in the byte order of the generation.
func (r *reader) fixed(gen Generation, n int, what string) uint64 {
	if r.err != nil {
		return 0
	}
	if r.left() < n {
		r.fail(r.pos, "the element ends inside %s", what)
		return 0
	}
	var v uint64
	for i := range n {
		at := r.pos + i
		if gen == Gen5 {
			at = r.pos + n - 1 - i
		}
		v = v<<8 | uint64(r.data[at])
	}
	r.pos += n
	return v
}

// uvarint32 reads at most five bytes, low group first.
func (r *reader) uvarint32(what string) uint32 {
	start := r.pos
	var v uint64
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte(what)
		v |= uint64(b&0x7f) << shift
		if b&0x80 == 0 {
			if v > 0xffffffff {
				break
			}
			return uint32(v)
		}
	}
	r.fail(start, "%s does not fit 32 bits", what)
	return 0
}

// uvarint64 reads at most nine bytes: the ninth carries eight bits and no
// continuation flag, unlike the varints of encoding/binary.
func (r *reader) uvarint64(what string) uint64 {
	var v uint64
	for shift := 0; shift < 56; shift += 7 {
		b := r.byte(what)
		v |= uint64(b&0x7f) << shift
		if b&0x80 == 0 {
			return v
		}
	}
	return v | uint64(r.byte(what))<<56
}

func (r *reader) int32(what string) int32 {
	u := r.uvarint32(what)
	return int32(u>>1) ^ -int32(u&1)
}

func (r *reader) int64(what string) int64 {
	u := r.uvarint64(what)
	return int64(u>>1) ^ -int64(u&1)
}

// flagged reads a number whose first byte has a flag in bit 7.
func (r *reader) flagged(what string) (flag bool, n uint64) {
	b := r.byte(what)
	flag, n = b&0x80 != 0, uint64(b&0x3f)
	if b&0x40 == 0 {
		return flag, n
	}
	for shift := 6; shift <= 27; shift += 7 {
		b = r.byte(what)
		n |= uint64(b&0x7f) << shift
		if b&0x80 == 0 {
			return flag, n
		}
	}
	r.fail(r.pos, "%s has too many bytes", what)
	return flag, 0
}

// string reads a string; ok is false for null.
func (r *reader) string(what string) (s string, ok bool) {
	if r.err != nil {
		return "", false
	}
	start := r.pos
	if r.left() < 1 {
		r.fail(r.pos, "the element ends where %s should be", what)
		return "", false
	}
	if r.data[r.pos]&0x80 == 0 {
		return r.ascii(start, what), true
	}
	_, n := r.flagged("the length of " + what)
	switch {
	case r.err != nil, n == 0:
		return "", false
	case n-1 > uint64(r.left()):
		r.fail(start, "%s has %d characters and only %d bytes are left", what, n-1, r.left())
		return "", false
	}
	return r.units(int(n-1), what), true
}

// ascii reads up to and including the first byte with bit 7 set.
func (r *reader) ascii(start int, what string) string {
	for i := start; i < len(r.data); i++ {
		if r.data[i]&0x80 != 0 {
			text := append([]byte(nil), r.data[start:i+1]...)
			text[len(text)-1] &= 0x7f
			r.pos = i + 1
			return string(text)
		}
	}
	r.fail(start, "%s has no end", what)
	return ""
}

// units reads n UTF-16 code units of one to three bytes each, and joins
// surrogate pairs.
func (r *reader) units(n int, what string) string {
	text := make([]byte, 0, n)
	var high rune // a high surrogate that waits for its partner
	for range n {
		u := r.unit(what)
		if r.err != nil {
			return ""
		}
		if high != 0 {
			if u >= 0xdc00 && u <= 0xdfff {
				text = utf8.AppendRune(text, utf16.DecodeRune(high, u))
				high = 0
				continue
			}
			text = appendUnit(text, high)
			high = 0
		}
		if u >= 0xd800 && u <= 0xdbff {
			high = u
			continue
		}
		text = appendUnit(text, u)
	}
	if high != 0 {
		text = appendUnit(text, high)
	}
	return string(text)
}

func (r *reader) unit(what string) rune {
	start := r.pos
	b := r.byte(what)
	more, u := 0, rune(b)
	switch {
	case b < 0x80:
	case b>>5 == 0b110:
		more, u = 1, rune(b&0x1f)
	case b>>4 == 0b1110:
		more, u = 2, rune(b&0x0f)
	default:
		r.fail(start, "%s has the byte %#02x where a character should begin", what, b)
		return 0
	}
	for range more {
		b = r.byte(what)
		if r.err == nil && b>>6 != 0b10 {
			r.fail(r.pos-1, "%s has the byte %#02x inside a character", what, b)
		}
		u = u<<6 | rune(b&0x3f)
	}
	return u
}

// appendUnit appends one UTF-16 code unit as UTF-8, a surrogate as three bytes.
func appendUnit(dst []byte, u rune) []byte {
	if u >= 0xd800 && u <= 0xdfff {
		return append(dst, 0xe0|byte(u>>12), 0x80|byte(u>>6)&0x3f, 0x80|byte(u)&0x3f)
	}
	return utf8.AppendRune(dst, u)
}
