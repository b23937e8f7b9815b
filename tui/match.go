package tui

import (
	"slices"
	"strings"
)

// ranked are the entries that match what was typed, the best first; entries
// that match alike stay in their order.
func ranked(all []entry, typed string) []entry {
	typed = strings.ToLower(strings.TrimSpace(typed))
	if typed == "" {
		return all
	}
	first, _, _ := strings.Cut(typed, " ")
	type scored struct {
		entry
		score int
	}
	var found []scored
	for _, e := range all {
		query := typed
		if e.command {
			query = first // the rest are arguments
		}
		if s := score(query, strings.ToLower(e.name), strings.ToLower(e.help)); s > 0 {
			found = append(found, scored{e, s})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return b.score - a.score })
	out := make([]entry, len(found))
	for i, f := range found {
		out[i] = f.entry
	}
	return out
}

// score says how well a query matches: 5 the name, 4 its beginning, 3 the
// beginning of a word in it, 2 the beginning of a word of its help, 1 its
// letters in their order, 0 not.
func score(query, name, help string) int {
	switch {
	case name == query:
		return 5
	case strings.HasPrefix(name, query):
		return 4
	case strings.Contains(name, " "+query):
		return 3
	case strings.HasPrefix(help, query) || strings.Contains(help, " "+query):
		return 2
	case inOrder(query, name):
		return 1
	default:
		return 0
	}
}

// inOrder reports whether the letters of query come in name in their order, of
// which the first is name's first: "rb" is in "rollback".
func inOrder(query, name string) bool {
	if name == "" || query[0] != name[0] {
		return false
	}
	for _, r := range query {
		i := strings.IndexRune(name, r)
		if i < 0 {
			return false
		}
		name = name[i+len(string(r)):]
	}
	return true
}
