package inspect

import (
	"encoding/binary"
	"math/bits"
)

// fast reads the values that known versions write, in the form in which they
// write them: without white space, with each field once. What it can't prove to
// be such a value it leaves to full, so that ok false says nothing about the
// value. Where it is true, full says the same.
func (r *stateReader) fast(data []byte) (view stateView, ok bool) {
	if len(data) < 2 || data[0] != '{' {
		return stateView{}, false
	}
	i := 1
	if data[i] == '}' {
		return stateView{}, true
	}
	var event, calls, completed bool // were read: each may stand once
	for {
		name, at := fastName(data, i)
		if at < 0 {
			return stateView{}, false
		}
		i = at
		switch string(name) {
		case "taskEvent":
			if event || i >= len(data) {
				return stateView{}, false
			}
			event = true
			if data[i] == '{' {
				view.eventType, i = fastEvent(data, i)
			} else {
				i = fastValue(data, i)
			}
		case "callResults":
			if calls {
				return stateView{}, false
			}
			calls = true
			if i+1 < len(data) && data[i] == '[' && data[i+1] == ']' {
				i += 2
				break
			}
			s := scanner{data: data, pos: i, depth: 1}
			if view.calls = r.list(&s); s.failure != "" {
				return stateView{}, false
			}
			i = s.pos
		case "completed":
			if completed {
				return stateView{}, false
			}
			completed = true
			switch {
			case hasWord(data, i, "true"):
				view.completed = true
				i += 4
			case hasWord(data, i, "false"):
				i += 5
			default:
				return stateView{}, false
			}
		default:
			i = fastValue(data, i)
		}
		if i < 0 || i >= len(data) {
			return stateView{}, false
		}
		switch data[i] {
		case ',':
			i++
		case '}':
			return view, true
		default:
			return stateView{}, false
		}
	}
}

// fastEvent reads the event at i and returns its type and the position behind
// it, -1 where it is not proven.
func fastEvent(data []byte, i int) (kind []byte, next int) {
	i++
	if i < len(data) && data[i] == '}' {
		return nil, i + 1
	}
	for {
		name, at := fastName(data, i)
		if at < 0 || at >= len(data) {
			return nil, -1
		}
		if i = fastValue(data, at); i < 0 || i >= len(data) {
			return nil, -1
		}
		if string(name) == "type" {
			if kind = nil; data[at] == '"' {
				if kind = data[at+1 : i-1]; hasEscape(kind) {
					return nil, -1
				}
			}
		}
		switch data[i] {
		case ',':
			i++
		case '}':
			return kind, i + 1
		default:
			return nil, -1
		}
	}
}

// fastName reads a name and its colon and returns the position of the value, -1
// where it is not proven.
func fastName(data []byte, i int) (name []byte, next int) {
	if i >= len(data) || data[i] != '"' {
		return nil, -1
	}
	end := fastString(data, i+1)
	if end < 0 || end >= len(data) || data[end] != ':' || end-i > maxJSONName {
		return nil, -1
	}
	name = data[i+1 : end-1]
	if hasEscape(name) {
		return nil, -1
	}
	return name, end + 1
}

func hasEscape(text []byte) bool {
	for _, c := range text {
		if c == '\\' {
			return true
		}
	}
	return false
}

// hasWord reports whether a literal stands at i, with the end of a value behind
// it.
func hasWord(data []byte, i int, word string) bool {
	end := i + len(word)
	return end < len(data) && string(data[i:end]) == word && endsValue(data[end])
}

func endsValue(c byte) bool { return c == ',' || c == '}' || c == ']' }

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
			if i = fastString(data, i+1); i < 0 {
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

// fastString returns the position behind the quote that ends the string whose
// first character is at i, -1 where it is not proven to be well formed.
func fastString(data []byte, i int) int {
	for {
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
			return -1
		}
		switch c := data[i]; {
		case c == '"':
			return i + 1
		case c == '\\':
			if i+1 >= len(data) {
				return -1
			}
			switch data[i+1] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
				i += 2
			default:
				return -1
			}
		case c < 0x20:
			return -1
		default:
			size := 2
			switch {
			case c&0xe0 == 0xc0:
			case c&0xf0 == 0xe0:
				size = 3
			case c&0xf8 == 0xf0:
				size = 4
			default:
				return -1
			}
			if i+size > len(data) {
				return -1
			}
			for k := 1; k < size; k++ {
				if data[i+k]&0xc0 != 0x80 {
					return -1
				}
			}
			i += size
		}
	}
}
