package arkflow

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A set of sequences kept as runs says what a plain set says.
func TestRunsAreASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r runs
		set := map[uint64]bool{}
		for range rapid.IntRange(0, 40).Draw(t, "spans") {
			from := rapid.Uint64Range(0, 60).Draw(t, "from")
			s := Span{from, from + rapid.Uint64Range(0, 4).Draw(t, "length")}
			meets := false
			for n := s.From; n <= s.To; n++ {
				meets = meets || set[n]
			}
			if fresh := r.addSpan(s); fresh == meets {
				t.Fatalf("%v was told to be new: %t, in %v", s, fresh, r.spans)
			}
			if meets {
				continue
			}
			for n := s.From; n <= s.To; n++ {
				set[n] = true
			}
		}
		var there []uint64
		for n := range set {
			there = append(there, n)
		}
		slices.Sort(there)
		if len(there) == 0 {
			return
		}
		after := rapid.Uint64Range(0, 70).Draw(t, "after")
		gaps, inside := r.missing(after)
		below := r.before(after)
		in := func(spans []Span, n uint64) bool {
			return slices.ContainsFunc(spans, func(s Span) bool { return s.From <= n && n <= s.To })
		}
		want := uint64(0)
		for n := uint64(0); n <= 70; n++ {
			if n > after && set[n] {
				want++
			}
			if miss := n > after && n <= there[len(there)-1] && !set[n]; in(gaps, n) != miss {
				t.Fatalf("%d behind %d is missing: %t, gaps %v of %v", n, after, miss, gaps, r.spans)
			}
			if miss := n <= after && n > there[0] && n < there[len(there)-1] && !set[n]; in(below, n) != miss {
				t.Fatalf("%d at or below %d is missing: %t, gaps %v of %v", n, after, miss, below, r.spans)
			}
			if r.has(n) != set[n] {
				t.Fatalf("%d is there: %t", n, set[n])
			}
		}
		if inside != want || r.count != uint64(len(there)) || r.first != there[0] || r.last != there[len(there)-1] {
			t.Fatalf("%+v, %d inside, want %d of %v", r, inside, want, there)
		}
	})
}

// A log in more pieces than are kept still has its tail, and says that there is more.
func TestMoreRunsThanAreKept(t *testing.T) {
	var r runs
	for n := range uint64(maxRuns + 10) {
		r.add(3 * n)
	}
	r.add(3*(maxRuns+9) + 1)
	if last := uint64(3*(maxRuns+9) + 1); !r.cut || r.last != last || len(r.spans) != maxRuns {
		t.Errorf("last %d, want %d, %d runs, cut %t", r.last, last, len(r.spans), r.cut)
	}
	l := newLog("x", ObjectStore)
	l.Stable = true
	cursor := r.last - 5
	l.place(&r, &cursor, true, nil)
	if !l.Partial || *l.Tail != r.last || l.ReplaysNothing() || l.Count != nil {
		t.Errorf("partial %t, tail %d: %s", l.Partial, *l.Tail, l.Headline())
	}
}
