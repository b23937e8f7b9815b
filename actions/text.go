package actions

import (
	"fmt"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Sentences here are read by a person who is about to delete something: names
// are quoted and made safe, numbers grouped and never shortened.

func refuse(code string, named inspect.Named, format string, args ...any) *inspect.Problem {
	if named == nil {
		named = inspect.Named{}
	}
	return &inspect.Problem{Code: code, Message: fmt.Sprintf(format, args...), Named: named}
}

func quote(name string) string { return `"` + safetext.Of(name).String() + `"` }

func quoted(text *string) string {
	if text == nil {
		return "null"
	}
	return quote(*text)
}

func group(n int64) string { return figures.Group(n) }

// partitions writes partitions as ranges, as many as fit in a sentence.
func partitions(parts []int32) string {
	const most = 8
	if len(parts) == 0 {
		return "none"
	}
	return figures.Ranges(parts, most)
}

// on says "partition 3" or "partitions 0-2, 7".
func on(parts []int32) string {
	if len(parts) == 1 {
		return "partition " + partitions(parts)
	}
	return "partitions " + partitions(parts)
}

// short is an id as people say it: its first eight digits.
func short(id string) string {
	const digits = 8
	return id[:min(digits, len(id))]
}
