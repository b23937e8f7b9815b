package inspect

import (
	"fmt"
	"strings"

	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Sentences in this package are read by tired people: names are quoted and made
// safe, numbers grouped and never shortened.

func quote(name string) string { return `"` + safetext.Of(name).String() + `"` }

func group(n int64) string { return figures.Group(n) }

// short is a plan id as people say it: its first 8 hex digits.
func short(planID string) string {
	if len(planID) > 8 {
		return planID[:8]
	}
	return planID
}

// countOf says "2 of 64 partitions".
func countOf(n, total int, one, many string) string {
	word := many
	if n == 1 && total == 1 {
		word = one
	}
	return fmt.Sprintf("%d of %d %s", n, total, word)
}

// partitionList writes partitions as ranges, as many as fit in a sentence.
func partitionList(parts []int32) string { return figures.Ranges(parts, 8) }

// onPartitions says "partition 3" or "partitions 0-2, 7".
func onPartitions(parts []int32) string {
	if len(parts) == 1 {
		return "partition " + partitionList(parts)
	}
	return "partitions " + partitionList(parts)
}

// lastPart is the last component of a URI: what people call the point.
func lastPart(uri string) string {
	trimmed := strings.TrimRight(uri, "/")
	return trimmed[strings.LastIndexByte(trimmed, '/')+1:]
}

func firstPartitions(n int) []int32 {
	parts := make([]int32, 0, n)
	for p := range n {
		parts = append(parts, int32(p))
	}
	return parts
}
