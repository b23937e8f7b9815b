// Package figures writes numbers the way operators compare them: whole, grouped
// and never rounded into another offset. It holds no state and does no I/O.
package figures

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Group writes an offset or a count with commas between groups of three digits.
func Group(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	b.WriteString(sign)
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// Count writes a number with its word, "1 partition" or "1,024 partitions".
func Count[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Group(int64(n)) + " " + many
}

// Bytes writes a size with a binary unit and one decimal, "18.2 MiB"; below one
// KiB it is exact. Sizes are the only numbers that are rounded: no decision
// hangs on their last digits.
func Bytes(n int64) string {
	const unit = 1024
	if n < unit {
		return Group(n) + " B"
	}
	value, exp := float64(n)/unit, 0
	for value >= unit && exp < len("KMGTPE")-1 {
		value /= unit
		exp++
	}
	return fmt.Sprintf("%.1f %ciB", value, "KMGTPE"[exp])
}

// Ranges writes partitions as ranges in ascending order, "0-3, 7", at most most
// of them, and counts the rest. No partition at all is "none".
func Ranges(parts []int32, most int) string {
	if len(parts) == 0 {
		return "none"
	}
	sorted := slices.Compact(slices.Sorted(slices.Values(parts)))
	var ranges []string
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
	return First(ranges, most)
}

// First joins the first of several texts, at most most of them, and counts the rest.
func First(texts []string, most int) string {
	rest := len(texts) - most
	if rest <= 0 {
		return strings.Join(texts, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(texts[:most], ", "), rest)
}
