package payload

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// Kind is what bytes look like.
type Kind string

// The kinds. Null is a nil slice, which is not the same as an empty one.
const (
	Null   Kind = "null"
	Empty  Kind = "empty"
	JSON   Kind = "json" // one whole document
	Text   Kind = "text" // UTF-8
	Binary Kind = "binary"
)

// KindOf tells what bytes look like.
func KindOf(data []byte) Kind {
	switch {
	case data == nil:
		return Null
	case len(data) == 0:
		return Empty
	case json.Valid(data):
		return JSON
	case utf8.Valid(data):
		return Text
	default:
		return Binary
	}
}

// maxDepth bounds the indentation: a document that is nested deeper would grow
// with the square of its length.
const maxDepth = 100

// Pretty is a JSON document with two spaces of indentation, every name and value
// as it is written. Other bytes, and what is nested deeper than 100 levels, are
// returned as they are.
func Pretty(data []byte) []byte {
	if KindOf(data) != JSON || depth(data) > maxDepth {
		return data
	}
	var out bytes.Buffer
	if err := json.Indent(&out, data, "", "  "); err != nil {
		return data
	}
	return out.Bytes()
}

// depth is how deep a valid document is nested.
func depth(doc []byte) (deepest int) {
	level, quoted := 0, false
	for i := 0; i < len(doc); i++ {
		switch c := doc[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			level++
			deepest = max(deepest, level)
		case c == '}' || c == ']':
			level--
		}
	}
	return deepest
}

// RowBytes is how many bytes a row of hexadecimal shows.
const RowBytes = 16

// HexRows is how many rows of hexadecimal bytes have.
func HexRows(data []byte) int { return (len(data) + RowBytes - 1) / RowBytes }

// HexRow is one row, from 0: the position, 16 bytes, and those that are printable
// ASCII as text.
func HexRow(data []byte, row int) string {
	const digits = "0123456789abcdef"
	at := row * RowBytes
	part := data[at:min(len(data), at+RowBytes)]
	out := make([]byte, 0, 80)
	for shift := 28; shift >= 0; shift -= 4 {
		out = append(out, digits[at>>shift&0xf])
	}
	out = append(out, ' ')
	for i := range RowBytes {
		if i%8 == 0 {
			out = append(out, ' ')
		}
		if i < len(part) {
			out = append(out, digits[part[i]>>4], digits[part[i]&0xf], ' ')
		} else {
			out = append(out, "   "...)
		}
	}
	out = append(out, ' ')
	for _, c := range part {
		if c < ' ' || c > '~' {
			c = '.'
		}
		out = append(out, c)
	}
	return string(out)
}
