package textfield

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Field is a line of text with a place where the next letter goes. The zero
// Field is empty and takes up to DefaultMax characters.
type Field struct {
	Max int // in characters; 0: DefaultMax

	text []rune
	at   int // where the next letter goes: 0 ≤ at ≤ len(text)
}

// DefaultMax is how many characters a Field takes that names no Max.
const DefaultMax = 500

// Refusal says why text was not taken.
type Refusal string

// The refusals; the empty Refusal means that the text was taken.
const (
	Unprintable Refusal = "control characters and invisible ones are not taken"
	TooLong     Refusal = "the field is full"
)

// Value is the text.
func (f *Field) Value() string { return string(f.text) }

// Set replaces the text, as far as it can be taken, and goes to its end.
func (f *Field) Set(text string) Refusal {
	f.Clear()
	return f.Insert(text)
}

// Clear empties the field.
func (f *Field) Clear() { f.text, f.at = nil, 0 }

// Insert types text, all of it or nothing.
func (f *Field) Insert(text string) Refusal {
	letters := []rune(text)
	for _, r := range letters {
		if !safetext.Printable(r) {
			return Unprintable
		}
	}
	limit := f.Max
	if limit <= 0 {
		limit = DefaultMax
	}
	if len(f.text)+len(letters) > limit {
		return TooLong
	}
	f.text = slices.Insert(f.text, f.at, letters...)
	f.at += len(letters)
	return ""
}

// Key edits with a key that types nothing; false if the key has no meaning in a
// field.
func (f *Field) Key(name string) bool {
	switch name {
	case "backspace", "ctrl+h":
		f.cut(max(f.at-1, 0), f.at)
	case "delete":
		f.cut(f.at, min(f.at+1, len(f.text)))
	case "left", "ctrl+b":
		f.at = max(f.at-1, 0)
	case "right", "ctrl+f":
		f.at = min(f.at+1, len(f.text))
	case "home", "ctrl+a":
		f.at = 0
	case "end", "ctrl+e":
		f.at = len(f.text)
	case "ctrl+u":
		f.cut(0, f.at)
	case "ctrl+k":
		f.cut(f.at, len(f.text))
	case "ctrl+w":
		f.cut(f.word(), f.at)
	default:
		return false
	}
	return true
}

// View draws the field in at most width cells, with cursor where the next
// letter goes, and more where something is cut off. The cursor is never cut off.
func (f *Field) View(width int, cursor, more string) string {
	if width <= 0 {
		return ""
	}
	before, after := f.text[:f.at], string(f.text[f.at:])
	free := width - ansi.StringWidth(cursor)
	cut := ""
	for ansi.StringWidth(cut+string(before)) > free && len(before) > 0 {
		cut = more
		before = before[max(1, len(before)-2*free):] // letters are at most two cells wide
	}
	after = ansi.Truncate(after, max(free-ansi.StringWidth(cut+string(before)), 0), more)
	return cut + string(before) + cursor + after
}

func (f *Field) cut(from, to int) {
	f.text = slices.Delete(f.text, from, to)
	f.at = from
}

// word is where the word before the cursor begins.
func (f *Field) word() int {
	before := strings.TrimRight(string(f.text[:f.at]), " ")
	return len([]rune(before[:strings.LastIndexByte(before, ' ')+1]))
}
