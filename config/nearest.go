package config

import (
	"strings"
	"unicode/utf8"
)

// maxComparedLength bounds the work of one comparison: no known word is
// longer, and a hostile key must not cost a square of its length.
const maxComparedLength = 48

// nearest is the known word that somebody who wrote word probably meant, or
// empty when none is close.
func nearest(word string, known []string) string {
	if utf8.RuneCountInString(word) > maxComparedLength {
		return ""
	}
	best, bestDistance := "", 0
	lower := strings.ToLower(strings.ReplaceAll(word, "_", "-"))
	for _, candidate := range known {
		if utf8.RuneCountInString(candidate) > maxComparedLength {
			continue
		}
		distance := editDistance(lower, strings.ToLower(candidate))
		allowed := 1 + utf8.RuneCountInString(candidate)/4
		if distance <= allowed && (best == "" || distance < bestDistance) {
			best, bestDistance = candidate, distance
		}
	}
	return best
}

// editDistance counts insertions, deletions, substitutions and swaps of
// neighbours between a and b.
func editDistance(a, b string) int {
	from, to := []rune(a), []rune(b)
	before, last, row := make([]int, len(to)+1), make([]int, len(to)+1), make([]int, len(to)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(from); i++ {
		row[0] = i
		for j := 1; j <= len(to); j++ {
			cost := 1
			if from[i-1] == to[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && from[i-1] == to[j-2] && from[i-2] == to[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(to)]
}
