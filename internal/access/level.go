package access

import (
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Level says whether anything may be changed. The zero Level is ReadOnly.
type Level uint8

// The levels, the strictest first.
const (
	ReadOnly Level = iota
	Operate        // changes are possible; each still needs its own approval
)

var levelWords = []string{ReadOnly: "read-only", Operate: "operate"}

// ParseLevel reads "read-only" or "operate". The error is a fault of kind
// Config.
func ParseLevel(s string) (Level, error) {
	i, err := parse("access", s, levelWords)
	return Level(i), err
}

// String is the level's word.
func (l Level) String() string { return word(levelWords, int(l)) }

// MarshalText is the level's word.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText is ParseLevel.
func (l *Level) UnmarshalText(text []byte) (err error) {
	*l, err = ParseLevel(string(text))
	return err
}

// Stricter is the strictest of the levels given; of none, ReadOnly.
func Stricter(levels ...Level) Level {
	return strictest(levels)
}

// strictest is the smallest value, and the zero value of nothing: in both types
// of this package that is the strictest.
func strictest[T ~uint8](values []T) T {
	if len(values) == 0 {
		return 0
	}
	least := values[0]
	for _, v := range values[1:] {
		least = min(least, v)
	}
	return least
}

func parse(what, s string, words []string) (int, error) {
	for i, w := range words {
		if s == w {
			return i, nil
		}
	}
	f := fault.New(fault.Config, "read "+what, "%s %q is not known", what, safetext.Of(s))
	if s == "" {
		f = fault.New(fault.Config, "read "+what, "%s is empty", what)
	}
	return 0, f.WithHint("it is one of: %s", list(words))
}

func word(words []string, i int) string {
	if i < len(words) {
		return words[i]
	}
	return words[0] // an impossible value is treated as the strictest
}

func list(words []string) string {
	s := words[0]
	for _, w := range words[1:] {
		s += ", " + w
	}
	return s
}
