package explain

import (
	"strings"
	"sync"
)

// anchors finds all rules' anchors in one pass over a text. It steps by the
// largest distance after which some anchor may end (Wu and Manber), so that a log
// costs a fraction of a look at each of its bytes, however many rules there are.
type anchors struct {
	rules    []rule
	shortest int
	shift    [1 << 16]uint8      // by the two bytes that end a window of the shortest length
	ending   map[uint16][]uint16 // rules whose anchor's first window ends with these two bytes
}

// allAnchors are those of all rules, made when the first text comes.
var allAnchors = sync.OnceValue(func() *anchors { return newAnchors(rules()) })

func newAnchors(rules []rule) *anchors {
	a := &anchors{rules: rules, shortest: len(rules[0].anchor), ending: map[uint16][]uint16{}}
	for i := range rules {
		a.shortest = min(a.shortest, len(rules[i].anchor))
	}
	most := uint8(min(a.shortest-1, 255))
	for i := range a.shift {
		a.shift[i] = most
	}
	for i := range rules {
		anchor := rules[i].anchor[:a.shortest]
		for end := 2; end <= a.shortest; end++ {
			block := blockOf(anchor, end)
			a.shift[block] = min(a.shift[block], uint8(min(a.shortest-end, 255)))
		}
		block := blockOf(anchor, a.shortest)
		a.ending[block] = append(a.ending[block], uint16(i))
	}
	return a
}

// blockOf is the two bytes that end at a place.
func blockOf(s string, end int) uint16 { return uint16(s[end-2])<<8 | uint16(s[end-1]) }

// in returns where each rule's anchor stands in a text, in its order.
func (a *anchors) in(text string) [][]int {
	found := make([][]int, len(a.rules))
	for end := a.shortest; end <= len(text); {
		block := blockOf(text, end)
		if s := a.shift[block]; s > 0 {
			end += int(s)
			continue
		}
		at := end - a.shortest
		for _, i := range a.ending[block] {
			if strings.HasPrefix(text[at:], a.rules[i].anchor) {
				found[i] = append(found[i], at)
			}
		}
		end++
	}
	return found
}
