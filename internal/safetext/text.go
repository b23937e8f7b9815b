package safetext

import (
	"fmt"
	"log/slog"
	"strconv"
)

// Limits of a Text in bytes, the note about what was left out included.
const (
	MaxLine  = 4 << 10  // of Of, Bytes, Error and Sprintf
	MaxLines = 64 << 10 // of Lines
)

// Text is a string that is safe for a terminal. The zero Text is empty. Two
// Texts are equal where they look the same, which does not mean that what they
// were made from was the same.
type Text struct {
	s string
}

// Of makes a Text of one line.
func Of(s string) Text {
	return clean(s, len(s), MaxLine, false)
}

// Bytes makes a Text of one line without copying more of b than is shown.
func Bytes(b []byte) Text {
	return clean(string(b[:min(len(b), MaxLine+1)]), len(b), MaxLine, false)
}

// Lines makes a Text that keeps its newlines, for stack traces and previews.
func Lines(s string) Text {
	return clean(s, len(s), MaxLines, true)
}

// Error makes a Text of one line from an error's message; of nil, an empty one.
func Error(err error) Text {
	if err == nil {
		return Text{}
	}
	return Of(err.Error())
}

// Sprintf formats like the fmt function and makes a Text of one line from the
// result, so that untrusted arguments can be given as they are.
func Sprintf(format string, args ...any) Text {
	return Of(fmt.Sprintf(format, args...))
}

// String is the text.
func (t Text) String() string { return t.s }

// IsEmpty reports whether there is no text.
func (t Text) IsEmpty() bool { return t.s == "" }

// LogValue is the text as a string, for slog.
func (t Text) LogValue() slog.Value { return slog.StringValue(t.s) }

// MarshalText is the text, so that JSON shows it as a string.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.s), nil }

// note says how much there was when not all of it is shown.
func note(total int) string {
	return "… (" + strconv.Itoa(total) + " bytes)"
}
