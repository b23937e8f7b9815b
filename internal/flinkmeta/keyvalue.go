package flinkmeta

import (
	"strconv"
	"unicode/utf8"
)

// KeyType is the type of a key as far as its bytes can be told here.
type KeyType string

// The types of keys. Any other is KeyOther: its entries can be counted in some
// formats, and its text is not known.
const (
	KeyString KeyType = "string"
	KeyLong   KeyType = "long"
	KeyInt    KeyType = "int"
	KeyOther  KeyType = ""
)

// KeyTypeOf is the type of the keys that a serializer snapshot stands for.
func KeyTypeOf(s Serializer) KeyType {
	switch s.Class {
	case classStringSnapshot:
		return KeyString
	case classLongSnapshot:
		return KeyLong
	case classIntSnapshot:
		return KeyInt
	default:
		return KeyOther
	}
}

// Key is a decoded key.
type Key struct {
	Type KeyType
	Text string // as Java prints it
	Hash int32  // Java's hashCode, which decides the key group
}

// DecodeKey reads a key that its type's serializer wrote. The bytes must be
// consumed exactly. The error is an *Error with positions from 0.
func DecodeKey(t KeyType, data []byte) (Key, error) {
	r := NewReader("key", data, 0)
	k := Key{Type: t}
	switch t {
	case KeyString:
		k.Text, k.Hash = r.flinkString("key")
	case KeyLong:
		n := r.I64("key")
		k.Text, k.Hash = strconv.FormatInt(n, 10), int32(n^int64(uint64(n)>>32))
	case KeyInt:
		k.Hash = r.I32("key")
		k.Text = strconv.FormatInt(int64(k.Hash), 10)
	default:
		r.corrupt(0, "key", "its type is not known")
	}
	if r.OK() && r.Len() > 0 {
		r.corrupt(r.Pos(), "key", strconv.Itoa(r.Len())+" bytes are left behind it")
	}
	return k, r.Err()
}

// FlinkString reads what Flink's serializer of strings wrote: the number of
// UTF-16 code units plus one, then each unit, in groups of seven bits. A half
// surrogate keeps its three bytes, as in names. A null string is an error.
func (r *Reader) FlinkString(what string) string {
	s, _ := r.flinkString(what)
	return s
}

// flinkString is FlinkString with Java's hash of the string.
func (r *Reader) flinkString(what string) (string, int32) {
	pos := r.Pos()
	n := r.sevenBits(what)
	switch {
	case !r.OK():
		return "", 0
	case n == 0:
		r.corrupt(pos, what, "the string is null")
		return "", 0
	case int64(n)-1 > int64(r.Len()):
		r.impossible(pos, what, int64(n)-1)
		return "", 0
	}
	out := make([]byte, 0, n-1)
	hash, high := int32(0), rune(-1)
	for range n - 1 {
		unit := rune(uint16(r.sevenBits(what)))
		hash = 31*hash + unit
		if high >= 0 && isLow(unit) {
			out = utf8.AppendRune(out, 0x10000+(high-0xD800)<<10+(unit-0xDC00))
			high = -1
			continue
		}
		if high >= 0 {
			out = appendUnit(out, high)
			high = -1
		}
		if isHigh(unit) {
			high = unit
			continue
		}
		out = appendUnit(out, unit)
	}
	if high >= 0 {
		out = appendUnit(out, high)
	}
	if !r.OK() {
		return "", 0
	}
	return string(out), hash
}

// passString passes over a string without making one; null is fine.
func (r *Reader) passString(what string) {
	pos := r.Pos()
	n := r.sevenBits(what)
	if n > 0 && int64(n)-1 > int64(r.Len()) {
		r.impossible(pos, what, int64(n)-1)
	}
	for ; n > 1 && r.OK(); n-- {
		r.sevenBits(what)
	}
}

// sevenBits reads a number in groups of seven bits, the lowest first.
func (r *Reader) sevenBits(what string) uint32 {
	pos := r.Pos()
	var v uint32
	for shift := 0; shift < 35; shift += 7 {
		c := r.U8(what)
		v |= uint32(c&0x7f) << shift
		if c&0x80 == 0 {
			return v
		}
	}
	r.corrupt(pos, what, "a number has more than 32 bits")
	return 0
}
