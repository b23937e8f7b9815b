package strictjson

import "fmt"

// Code is the stable word for why a document is refused.
type Code string

// The codes.
const (
	NotUTF8         Code = "not-utf8"
	Malformed       Code = "malformed-json"
	DuplicateName   Code = "duplicate-name"
	TrailingContent Code = "trailing-content"
	Limit           Code = "json-limit"
)

// The reader's own bounds. They are Jackson's defaults and no part of any
// format: a document beyond them is refused with Limit.
const (
	MaxDepth  = 1000       // arrays and objects inside each other
	MaxNumber = 1000       // digits of a number, and of its exponent
	MaxName   = 50_000     // UTF-16 units of a name
	MaxString = 20_000_000 // UTF-16 units of a string
)

// Error says why a document is refused and where. Name is the repeated name
// (DuplicateName), or the bound that was passed (Limit). Its text may hold
// anything that the document holds: make it safe before printing.
type Error struct {
	Code   Code
	Pos    int // byte, counted from 0; see Value.Pos
	Name   string
	Detail string
}

// Error is a sentence without the document's own text.
func (e *Error) Error() string { return fmt.Sprintf("%s at byte %d", e.Detail, e.Pos) }
