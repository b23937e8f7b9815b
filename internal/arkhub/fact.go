package arkhub

import (
	"bytes"
	"encoding/json"
	"time"
)

// Fact is a value that a hub may not expose. The zero Fact is unset: null, absent,
// or of another type than was expected.
type Fact[T any] struct {
	value T
	known bool
}

// Known is a Fact that is set.
func Known[T any](value T) Fact[T] { return Fact[T]{value: value, known: true} }

// Get returns the value and whether it is known.
func (f Fact[T]) Get() (T, bool) { return f.value, f.known }

// IsKnown reports whether the hub exposed it.
func (f Fact[T]) IsKnown() bool { return f.known }

// Or is the value, or another where it is not known.
func (f Fact[T]) Or(other T) T {
	if !f.known {
		return other
	}
	return f.value
}

// Pointer is the value, nil where it is not known.
func (f Fact[T]) Pointer() *T {
	if !f.known {
		return nil
	}
	value := f.value
	return &value
}

// UnmarshalJSON never fails: what is not a T is not known.
func (f *Fact[T]) UnmarshalJSON(data []byte) error {
	*f = Fact[T]{}
	if bytes.Equal(data, []byte("null")) {
		return nil
	}
	var value T
	if json.Unmarshal(data, &value) == nil {
		*f = Known(value)
	}
	return nil
}

// MarshalJSON writes the value, null where it is not known.
func (f Fact[T]) MarshalJSON() ([]byte, error) {
	if !f.known {
		return []byte("null"), nil
	}
	return json.Marshal(f.value)
}

// The Facts that answers are made of.
type (
	Text  = Fact[string]
	Count = Fact[uint64]
	Flag  = Fact[bool]
)

// Millis is a time in milliseconds since 1970.
type Millis int64

// Time is the moment in UTC.
func (m Millis) Time() time.Time { return time.UnixMilli(int64(m)).UTC() }

// Moment is a time that a hub may not expose.
type Moment = Fact[Millis]
