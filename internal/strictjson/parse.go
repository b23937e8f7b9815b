package strictjson

import (
	"unicode/utf16"
	"unicode/utf8"
)

// Parse reads a document that must be UTF-8. The error is an *Error.
func Parse(data []byte) (Value, error) {
	if at := firstInvalid(data); at >= 0 {
		return Value{}, &Error{Code: NotUTF8, Pos: at, Detail: "not UTF-8"}
	}
	p := parser{data: data}
	v, err := p.document()
	if err != nil {
		return Value{}, err
	}
	return v, nil
}

// ParseReplaced reads a document after Replace. Positions are those in the
// decoded text.
func ParseReplaced(data []byte) (Value, error) { return Parse(Replace(data)) }

// parser walks valid UTF-8.
type parser struct {
	data  []byte
	pos   int
	depth int
}

func (p *parser) document() (Value, *Error) {
	p.space()
	if p.pos == len(p.data) {
		return Value{}, nil
	}
	v, err := p.value()
	if err != nil {
		return Value{}, err
	}
	if v.kind == Number && p.pos < len(p.data) && !isSpace(p.data[p.pos]) {
		return Value{}, p.malformed("a number ends in a character that is not white space")
	}
	p.space()
	if p.pos < len(p.data) {
		return Value{}, &Error{Code: TrailingContent, Pos: p.pos, Detail: "content after the end of the document"}
	}
	return v, nil
}

func (p *parser) value() (Value, *Error) {
	start := p.pos
	switch c := p.peek(); {
	case c == '{':
		return p.object()
	case c == '[':
		return p.array()
	case c == '"':
		text, err := p.text(MaxString, "String value length")
		return Value{kind: String, pos: start, text: text}, err
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	case c == 't':
		return p.literal("true", Bool)
	case c == 'f':
		return p.literal("false", Bool)
	case c == 'n':
		return p.literal("null", Null)
	default:
		return Value{}, p.malformed("expected a value")
	}
}

func (p *parser) object() (Value, *Error) {
	v := Value{kind: Object, pos: p.pos, kids: &children{}}
	if err := p.enter(); err != nil {
		return v, err
	}
	p.space()
	if p.peek() == '}' {
		p.leave()
		return v, nil
	}
	var seen names
	for {
		p.space()
		if p.peek() != '"' {
			return v, p.malformed("expected a name in double quotes")
		}
		at := p.pos
		name, err := p.text(MaxName, "Name length")
		if err != nil {
			return v, err
		}
		if seen.add(name, v.kids.members) {
			return v, &Error{Code: DuplicateName, Pos: at, Name: name, Detail: "a name occurs twice in one object"}
		}
		p.space()
		if p.peek() != ':' {
			return v, p.malformed("expected a colon after the name")
		}
		p.pos++
		p.space()
		member, err := p.value()
		if err != nil {
			return v, err
		}
		v.kids.members = append(v.kids.members, Member{name, at, member})
		done, err := p.next('}', "expected a comma or the end of the object")
		if err != nil || done {
			return v, err
		}
	}
}

func (p *parser) array() (Value, *Error) {
	v := Value{kind: Array, pos: p.pos, kids: &children{}}
	if err := p.enter(); err != nil {
		return v, err
	}
	p.space()
	if p.peek() == ']' {
		p.leave()
		return v, nil
	}
	for {
		p.space()
		item, err := p.value()
		if err != nil {
			return v, err
		}
		v.kids.items = append(v.kids.items, item)
		done, err := p.next(']', "expected a comma or the end of the array")
		if err != nil || done {
			return v, err
		}
	}
}

// next reads what follows an element: a comma, or the end of the container.
func (p *parser) next(end byte, want string) (done bool, err *Error) {
	p.space()
	switch p.peek() {
	case ',':
		p.pos++
		return false, nil
	case end:
		p.leave()
		return true, nil
	default:
		return false, p.malformed(want)
	}
}

func (p *parser) enter() *Error {
	p.depth++
	if p.depth > MaxDepth {
		return &Error{Code: Limit, Pos: p.pos, Name: "nesting depth", Detail: "nested deeper than 1000 levels"}
	}
	p.pos++
	return nil
}

func (p *parser) leave() {
	p.depth--
	p.pos++
}

// literal reads true, false or null. A longer word, as in "nullx", is refused at
// its beginning.
func (p *parser) literal(word string, kind Kind) (Value, *Error) {
	end := p.pos + len(word)
	if end > len(p.data) || string(p.data[p.pos:end]) != word || end < len(p.data) && isWord(p.data[end:]) {
		return Value{}, p.malformed("expected a value")
	}
	v := Value{kind: kind, pos: p.pos}
	if kind == Bool {
		v.text = word
	}
	p.pos = end
	return v, nil
}

func (p *parser) number() (Value, *Error) {
	start := p.pos
	if p.peek() == '-' {
		p.pos++
	}
	zero := p.peek() == '0'
	integer := p.digits()
	if integer == 0 {
		return Value{}, p.malformed("expected a digit")
	}
	if zero && integer > 1 {
		p.pos = start
		return Value{}, p.malformed("a number begins with a superfluous zero")
	}
	length := integer
	if p.peek() == '.' {
		p.pos++
		fraction := p.digits()
		if fraction == 0 {
			return Value{}, p.malformed("expected a digit after the decimal point")
		}
		length += fraction
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		p.pos++
		if c := p.peek(); c == '+' || c == '-' {
			p.pos++
		}
		exponent := p.digits()
		if exponent == 0 {
			return Value{}, p.malformed("expected a digit in the exponent")
		}
		length += exponent
	}
	if length > MaxNumber {
		return Value{}, &Error{Code: Limit, Pos: start, Name: "Number value length", Detail: "a number has more than 1000 digits"}
	}
	return Value{kind: Number, pos: start, text: string(p.data[start:p.pos])}, nil
}

func (p *parser) digits() int {
	start := p.pos
	for p.pos < len(p.data) && p.data[p.pos] >= '0' && p.data[p.pos] <= '9' {
		p.pos++
	}
	return p.pos - start
}

// text reads a string or name of at most limit UTF-16 units. It is called at
// the opening quote.
func (p *parser) text(limit int, what string) (string, *Error) {
	open := p.pos
	p.pos++
	from, units := p.pos, 0
	var out []byte // used from the first escape on
	for {
		if p.pos == len(p.data) {
			return "", p.malformed("a string has no end")
		}
		switch c := p.data[p.pos]; {
		case c == '"':
			if units > limit {
				return "", &Error{Code: Limit, Pos: open, Name: what, Detail: "a string or name is too long"}
			}
			raw := p.data[from:p.pos]
			p.pos++
			if out == nil {
				return string(raw), nil
			}
			return string(append(out, raw...)), nil
		case c < 0x20:
			return "", p.malformed("a control character stands unescaped in a string")
		case c == '\\':
			out = append(out, p.data[from:p.pos]...)
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			out = appendUnit(out, r)
			from = p.pos
			units++
		case c < utf8.RuneSelf:
			p.pos++
			units++
		default:
			r, size := utf8.DecodeRune(p.data[p.pos:])
			p.pos += size
			units += utf16.RuneLen(r)
		}
	}
}

// escape reads one escape and returns its UTF-16 unit.
func (p *parser) escape() (rune, *Error) {
	at := p.pos
	p.pos++
	if p.pos == len(p.data) {
		return 0, p.malformed("a string has no end")
	}
	c := p.data[p.pos]
	p.pos++
	switch c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
		var r rune
		for range 4 {
			if p.pos == len(p.data) {
				return 0, p.malformed("a string has no end")
			}
			c, size := utf8.DecodeRune(p.data[p.pos:])
			digit := hexDigit(c)
			if digit < 0 {
				return 0, p.malformed("expected four hexadecimal digits in an escape")
			}
			r = r<<4 | digit
			p.pos += size
		}
		return r, nil
	default:
		p.pos = at
		return 0, p.malformed("an unknown escape")
	}
}

// appendUnit appends one UTF-16 unit that an escape made. A low surrogate right
// after an escaped high one completes it; any other surrogate stays alone, in
// the three bytes that UTF-8 would have for it.
func appendUnit(out []byte, r rune) []byte {
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(out, r)
	}
	if high, ok := trailingHigh(out); ok && r >= 0xdc00 {
		return utf8.AppendRune(out[:len(out)-3], utf16.DecodeRune(high, r))
	}
	return append(out, 0xed, 0x80|byte(r>>6&0x3f), 0x80|byte(r&0x3f))
}

// trailingHigh is the lone high surrogate at the end of out. Only an escape can
// have put one there: the input is UTF-8.
func trailingHigh(out []byte) (rune, bool) {
	n := len(out)
	if n < 3 || out[n-3] != 0xed || out[n-2]&0xf0 != 0xa0 {
		return 0, false
	}
	return 0xd000 | rune(out[n-2]&0x3f)<<6 | rune(out[n-1]&0x3f), true
}

func (p *parser) malformed(detail string) *Error {
	return &Error{Code: Malformed, Pos: p.pos, Detail: detail}
}

// peek is the byte at the position, 0 at the end. No value and no structure
// begins with a zero byte.
func (p *parser) peek() byte {
	if p.pos < len(p.data) {
		return p.data[p.pos]
	}
	return 0
}

func (p *parser) space() {
	for p.pos < len(p.data) && isSpace(p.data[p.pos]) {
		p.pos++
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// hexDigit is the value of a hexadecimal digit, or -1. Jackson looks only at the
// low eight bits of a UTF-16 unit, so U+0663 counts as "c". A document that the
// other tools accept must not be refused here, however odd it is.
func hexDigit(r rune) rune {
	if r > 0xffff {
		return -1
	}
	switch c := r & 0xff; {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10
	default:
		return -1
	}
}
