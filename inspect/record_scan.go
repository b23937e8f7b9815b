package inspect

import (
	"fmt"
	"unicode/utf8"

	"github.com/recoverctl/recoverctl/internal/safetext"
)

// scanner walks JSON as Jackson's byte parser does. It differs from a strict
// reader: UTF-8 is looked at only as far as its bytes follow each other, so that
// overlong forms and surrogates pass, and nothing behind the document is read.
// The first failure stays, and every method does nothing of use after it.
type scanner struct {
	data    []byte
	pos     int
	depth   int
	failure string
}

// Jackson's limits.
const (
	maxJSONDepth  = 1000
	maxJSONDigits = 1000
	maxJSONName   = 50_000 // bytes
)

// fail records the first failure. It is always false.
func (s *scanner) fail(format string, args ...any) bool {
	if s.failure == "" {
		s.failure = fmt.Sprintf(format, args...)
	}
	return false
}

func (s *scanner) malformed(what string) bool {
	if s.pos >= len(s.data) {
		return s.fail("it is not JSON: it ends after %d bytes", len(s.data))
	}
	return s.fail("it is not JSON: %s at byte %d", what, s.pos)
}

// peek is the byte at the position, 0 at the end.
func (s *scanner) peek() byte {
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// enter steps into the object or array at the position.
func (s *scanner) enter() bool {
	if s.depth++; s.depth > maxJSONDepth {
		return s.fail("it is nested deeper than %d levels", maxJSONDepth)
	}
	s.pos++
	return s.failure == ""
}

// member reads the next name of an object and stops at its value, or steps out
// behind the end. The name shares the data unless it holds an escape.
func (s *scanner) member(first bool) (name []byte, more bool) {
	if s.failure != "" || !s.another(first, '}') {
		return nil, false
	}
	if s.peek() != '"' {
		return nil, s.malformed("expected a name in double quotes")
	}
	name = s.text()
	if s.failure != "" {
		return nil, false
	}
	if len(name) > maxJSONName {
		return nil, s.fail("a name in it is longer than %d bytes", maxJSONName)
	}
	s.space()
	if s.peek() != ':' {
		return nil, s.malformed("expected a colon after a name")
	}
	s.pos++
	s.space()
	return name, true
}

// element stops at the next element of an array, or steps out behind the end.
func (s *scanner) element(first bool) bool {
	return s.failure == "" && s.another(first, ']')
}

// another stops at what follows in a container, behind the comma.
func (s *scanner) another(first bool, end byte) bool {
	s.space()
	switch c := s.peek(); {
	case c == end:
		s.pos++
		s.depth--
		return false
	case first:
		return true
	case c != ',':
		return s.malformed("expected a comma or the end of a list or object")
	}
	s.pos++
	s.space()
	return true
}

// skip reads a value of any kind.
func (s *scanner) skip() bool {
	if s.failure != "" {
		return false
	}
	switch c := s.peek(); {
	case c == '{':
		s.enter()
		for first := true; ; first = false {
			if _, more := s.member(first); !more {
				break
			}
			s.skip()
		}
	case c == '[':
		s.enter()
		for first := true; s.element(first); first = false {
			s.skip()
		}
	case c == '"':
		s.quoted()
	case c == '-' || isDigit(c):
		s.number()
	case c == 't':
		s.literal("true")
	case c == 'f':
		s.literal("false")
	case c == 'n':
		s.literal("null")
	default:
		s.malformed("expected a value")
	}
	return s.failure == ""
}

// literal reads true, false or null, which no letter or digit may follow.
func (s *scanner) literal(word string) bool {
	end := s.pos + len(word)
	if s.failure != "" || end > len(s.data) || string(s.data[s.pos:end]) != word || end < len(s.data) && continuesWord(s.data[end]) {
		return s.malformed("expected a value")
	}
	s.pos = end
	return true
}

// continuesWord reports whether Jackson takes a byte for a part of the word
// before it.
func continuesWord(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x7f
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// number reads a number and reports whether it is an integer literal.
func (s *scanner) number() (text []byte, integer bool) {
	start := s.pos
	if s.peek() == '-' {
		s.pos++
	}
	zero := s.peek() == '0'
	count := s.digits()
	if count == 0 {
		return nil, s.malformed("expected a digit")
	}
	if zero && count > 1 {
		return nil, s.malformed("a number begins with a superfluous zero")
	}
	integer = true
	if s.peek() == '.' {
		s.pos++
		n := s.digits()
		if n == 0 {
			return nil, s.malformed("expected a digit after the decimal point")
		}
		count, integer = count+n, false
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		n := s.digits()
		if n == 0 {
			return nil, s.malformed("expected a digit in the exponent")
		}
		count, integer = count+n, false
	}
	if count > maxJSONDigits {
		return nil, s.fail("a number in it has more than %d digits", maxJSONDigits)
	}
	return s.data[start:s.pos], integer
}

func (s *scanner) digits() int {
	start := s.pos
	for s.pos < len(s.data) && isDigit(s.data[s.pos]) {
		s.pos++
	}
	return s.pos - start
}

// plain are the bytes that stand for themselves in a string.
var plain = func() (ok [256]bool) {
	for c := 0x20; c < utf8.RuneSelf; c++ {
		ok[c] = c != '"' && c != '\\'
	}
	return ok
}()

// quoted reads a string and returns what is between the quotes, as it is
// written.
func (s *scanner) quoted() (raw []byte, escaped bool) {
	s.pos++
	start := s.pos
	for {
		for s.pos < len(s.data) && plain[s.data[s.pos]] {
			s.pos++
		}
		if s.pos == len(s.data) {
			s.malformed("")
			return nil, false
		}
		switch c := s.data[s.pos]; {
		case c == '"':
			s.pos++
			return s.data[start : s.pos-1], escaped
		case c == '\\':
			escaped = true
			if _, ok := s.escape(); !ok {
				return nil, false
			}
		case c < 0x20:
			s.malformed("a control character stands unescaped in a string")
			return nil, false
		case !s.multibyte(c):
			return nil, false
		}
	}
}

// multibyte steps over a character of several bytes. Only the shape is looked
// at, as Jackson does.
func (s *scanner) multibyte(c byte) bool {
	size := 0
	switch {
	case c&0xe0 == 0xc0:
		size = 2
	case c&0xf0 == 0xe0:
		size = 3
	case c&0xf8 == 0xf0:
		size = 4
	default:
		return s.malformed("a byte is not UTF-8")
	}
	for range size - 1 {
		if s.pos++; s.peek()&0xc0 != 0x80 {
			return s.malformed("a byte is not UTF-8")
		}
	}
	s.pos++
	return true
}

// escape reads one escape and returns its UTF-16 unit.
func (s *scanner) escape() (unit rune, ok bool) {
	s.pos++
	c := s.peek()
	s.pos++
	switch c {
	case '"', '\\', '/':
		return rune(c), true
	case 'b':
		return '\b', true
	case 'f':
		return '\f', true
	case 'n':
		return '\n', true
	case 'r':
		return '\r', true
	case 't':
		return '\t', true
	case 'u':
		for range 4 {
			digit := hexValue[s.peek()|0x20]
			if digit > 0xf || s.peek() < '0' {
				return 0, s.malformed("expected four hexadecimal digits in an escape")
			}
			unit = unit<<4 | rune(digit)
			s.pos++
		}
		return unit, true
	default:
		s.pos--
		return 0, s.malformed("an unknown escape")
	}
}

// text reads a string and returns what it says. It shares the data unless it
// holds an escape. A surrogate that an escape makes stays alone, in three bytes.
func (s *scanner) text() []byte {
	raw, escaped := s.quoted()
	if !escaped || s.failure != "" {
		return raw
	}
	inner := scanner{data: raw}
	out := make([]byte, 0, len(raw))
	for inner.pos < len(raw) {
		if raw[inner.pos] != '\\' {
			out = append(out, raw[inner.pos])
			inner.pos++
			continue
		}
		unit, _ := inner.escape()
		if unit >= 0xd800 && unit < 0xe000 {
			out = append(out, 0xed, 0x80|byte(unit>>6&0x3f), 0x80|byte(unit&0x3f))
			continue
		}
		out = utf8.AppendRune(out, unit)
	}
	return out
}

// trimJava strips what Java's String.trim does.
func trimJava(text []byte) []byte {
	for len(text) > 0 && text[0] <= ' ' {
		text = text[1:]
	}
	for len(text) > 0 && text[len(text)-1] <= ' ' {
		text = text[:len(text)-1]
	}
	return text
}

// isJacksonBase64 reports whether Jackson decodes a text to bytes: groups of
// four characters, each with its padding, and white space only between groups.
func isJacksonBase64(text []byte) bool {
	for {
		for len(text) > 0 && text[0] <= ' ' {
			text = text[1:]
		}
		if len(text) == 0 {
			return true
		}
		if len(text) < 4 || base64Value[text[0]] == 0xff || base64Value[text[1]] == 0xff {
			return false
		}
		switch c, d := text[2], text[3]; {
		case c == '=':
			if d != '=' {
				return false
			}
		case base64Value[c] == 0xff, d != '=' && base64Value[d] == 0xff:
			return false
		}
		text = text[4:]
	}
}

// isJavaBase64 reports whether Java's own decoder takes a text: padding may be
// left out, and nothing else.
func isJavaBase64(text []byte) bool {
	n := 0
	for n < len(text) && base64Value[text[n]] != 0xff {
		n++
	}
	switch string(text[n:]) {
	case "":
		return n%4 != 1
	case "=":
		return n%4 == 3
	case "==":
		return n%4 == 2
	default:
		return false
	}
}

// quoteBytes quotes a name from a record for a sentence.
func quoteBytes(text []byte) string {
	const most = 80
	if len(text) > most {
		return `"` + safetext.Bytes(text[:most]).String() + `…"`
	}
	return `"` + safetext.Bytes(text).String() + `"`
}
