package strictjson

import (
	"strconv"
	"strings"
)

// Kind is the type of a JSON value.
type Kind uint8

// The kinds. Missing is an input that holds nothing but white space: it is not
// an error here, because Jackson reads it as a document without content.
const (
	Missing Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

// String is the kind as a person would name it, as in "a number".
func (k Kind) String() string {
	switch k {
	case Null:
		return "null"
	case Bool:
		return "a boolean"
	case Number:
		return "a number"
	case String:
		return "a string"
	case Array:
		return "an array"
	case Object:
		return "an object"
	default:
		return "nothing"
	}
}

// Value is a JSON value and where it begins. The zero Value is Missing.
type Value struct {
	kind Kind
	pos  int
	text string // of a number its literal, of a string its content, of a boolean true or false
	kids *children
}

type children struct {
	items   []Value
	members []Member
}

// Member is one name and value of an object. Pos is where the name begins.
type Member struct {
	Name  string
	Pos   int
	Value Value
}

// Kind is the type of the value.
func (v Value) Kind() Kind { return v.kind }

// Pos is the byte at which the value begins, counted from 0. After text was
// decoded with replacement it is a position in the decoded text.
func (v Value) Pos() int { return v.pos }

// Text is the content of a string, the literal of a number, "true" or "false",
// and empty for the other kinds. A lone surrogate is in it as its three bytes
// (WTF-8): the result of an escape, never of the input's own bytes.
func (v Value) Text() string { return v.text }

// IsInteger reports whether the value is a number without fraction and
// exponent, whatever its size. 1.0 and 1e3 are not integers.
func (v Value) IsInteger() bool {
	return v.kind == Number && !strings.ContainsAny(v.text, ".eE")
}

// Int64 is the value of an integer, and false for anything else and for an
// integer beyond 64 bits. -0 is 0.
func (v Value) Int64() (int64, bool) { return v.integer(64) }

// Int32 is the value of an integer, and false for anything else and for an
// integer beyond 32 bits.
func (v Value) Int32() (int32, bool) {
	n, ok := v.integer(32)
	return int32(n), ok
}

func (v Value) integer(bits int) (int64, bool) {
	if !v.IsInteger() {
		return 0, false
	}
	n, err := strconv.ParseInt(v.text, 10, bits)
	return n, err == nil
}

// Items are the elements of an array, nil for other kinds.
func (v Value) Items() []Value {
	if v.kids == nil {
		return nil
	}
	return v.kids.items
}

// Members are those of an object in file order, nil for other kinds. Their
// names are distinct.
func (v Value) Members() []Member {
	if v.kids == nil {
		return nil
	}
	return v.kids.members
}

// Get is the member of an object with that name, and false where there is none.
func (v Value) Get(name string) (Value, bool) {
	for _, m := range v.Members() {
		if m.Name == name {
			return m.Value, true
		}
	}
	return Value{}, false
}

// HasExactly reports whether the value is an object whose names are exactly
// these, in any order.
func (v Value) HasExactly(names ...string) bool {
	if v.kind != Object || len(v.Members()) != len(names) {
		return false
	}
	for _, name := range names {
		if _, ok := v.Get(name); !ok {
			return false
		}
	}
	return true
}
