package inspect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Sentences in this package are read by tired people: names are quoted and made
// safe, numbers grouped and never shortened.

func quote(name string) string { return `"` + safetext.Of(name).String() + `"` }

// group writes an offset with commas between groups of three digits.
func group(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return sign + digits
}

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

// partitionList writes partitions as ranges, "0-3, 7", and counts what would not
// fit in a sentence.
func partitionList(parts []int32) string {
	const most = 8
	var ranges []string
	sorted := slices.Sorted(slices.Values(parts))
	for i := 0; i < len(sorted); {
		j := i
		for j+1 < len(sorted) && sorted[j+1] == sorted[j]+1 {
			j++
		}
		if i == j {
			ranges = append(ranges, strconv.Itoa(int(sorted[i])))
		} else {
			ranges = append(ranges, fmt.Sprintf("%d-%d", sorted[i], sorted[j]))
		}
		i = j + 1
	}
	if len(ranges) > most {
		return strings.Join(ranges[:most], ", ") + fmt.Sprintf(" and %d more", len(ranges)-most)
	}
	return strings.Join(ranges, ", ")
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
