package secret

import (
	"fmt"
	"io"
	"log/slog"
)

const mask = "***"

// Value is a secret. The zero Value is an empty one.
type Value struct {
	// A pointer, because fmt prints the fields of a struct that holds a Value
	// in an unexported field without asking for its methods: it then prints an
	// address.
	text *string
}

// New makes a Value of a text.
func New(text string) Value {
	if text == "" {
		return Value{}
	}
	return Value{&text}
}

// Reveal is the secret itself, for the one call that needs it.
func (v Value) Reveal() string {
	if v.text == nil {
		return ""
	}
	return *v.text
}

// IsEmpty reports whether there is no secret.
func (v Value) IsEmpty() bool { return v.text == nil }

// String is "***", for an empty Value too.
func (v Value) String() string { return mask }

// GoString is "***".
func (v Value) GoString() string { return mask }

// Format writes "***" for every verb and flag.
func (v Value) Format(s fmt.State, _ rune) {
	// A fmt.State writes to memory; fmt itself gives no way to report an error.
	_, _ = io.WriteString(s, mask)
}

// MarshalJSON is "***" in quotes.
func (v Value) MarshalJSON() ([]byte, error) { return []byte(`"` + mask + `"`), nil }

// MarshalText is "***".
func (v Value) MarshalText() ([]byte, error) { return []byte(mask), nil }

// MarshalYAML is "***".
func (v Value) MarshalYAML() (any, error) { return mask, nil }

// LogValue is "***".
func (v Value) LogValue() slog.Value { return slog.StringValue(mask) }
