package compare

import (
	"maps"
	"slices"

	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
)

// Chosen are the recovery points of a list that somebody chose, by the name under
// which the list knows them. The zero value has none and can't take any.
type Chosen map[string]bool

// Toggle takes a point, or leaves it out again, and says when two are chosen.
func (c Chosen) Toggle(name string) tui.Cmd {
	if c[name] {
		delete(c, name)
	} else {
		c[name] = true
	}
	if len(c) == 2 {
		return tui.Say(theme.Plain, "two recovery points are chosen: = compares them")
	}
	return nil
}

// Help is the word for the key that toggles a point.
func (c Chosen) Help(name string) string {
	if c[name] {
		return "unchoose"
	}
	return "choose"
}

// Keep forgets the points that the list does not have any more.
func (c Chosen) Keep(listed []string) {
	maps.DeleteFunc(c, func(name string, _ bool) bool { return !slices.Contains(listed, name) })
}

// Of are the chosen points in the order of the list.
func (c Chosen) Of(listed []string) []string {
	var out []string
	for _, name := range listed {
		if c[name] {
			out = append(out, name)
		}
	}
	return out
}

// Pair are the points to compare, in the order of the list: those chosen, or the one
// chosen and the selected one. Where they are not two, why says what to do.
func (c Chosen) Pair(listed []string, selected string) (names []string, why string) {
	for _, name := range listed {
		if c[name] || len(c) == 1 && name == selected {
			names = append(names, name)
		}
	}
	switch n := len(names); {
	case n < 2:
		return nil, "choose two recovery points with space"
	case n > 2:
		return nil, phrase.Count(n, "point is", "points are") + " chosen: unchoose all but two with space"
	}
	return names, ""
}
