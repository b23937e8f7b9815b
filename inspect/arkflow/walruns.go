package arkflow

import "slices"

// maxRuns bounds how many runs are kept. A healthy log is one run.
const maxRuns = 1 << 16

// runs is a set of sequences, kept as the runs that they form.
type runs struct {
	spans []Span // in order, none touching the next
	count uint64
	first uint64
	last  uint64
	// cut: there were more runs than are kept.
	cut bool
}

// add adds a sequence and reports whether it was not there yet.
func (r *runs) add(n uint64) bool { return r.addSpan(Span{n, n}) }

// addSpan adds sequences, and reports whether none of them was there yet.
func (r *runs) addSpan(s Span) bool {
	if r.cut {
		r.last = max(r.last, s.To)
		return true
	}
	end := len(r.spans) - 1
	if end >= 0 && r.last < s.From { // as nearly always
		if r.last+1 == s.From {
			r.spans[end].To = s.To
		} else if !r.room() {
			r.last = s.To
			return true
		} else {
			r.spans = append(r.spans, s)
		}
		r.count += s.Len()
		r.last = s.To
		return true
	}
	at, _ := slices.BinarySearchFunc(r.spans, s.From, func(span Span, n uint64) int {
		if span.To < n {
			return -1
		}
		return 1
	})
	if at < len(r.spans) && r.spans[at].From <= s.To {
		return false // also where they only overlap: what is new of them is not told apart
	}
	if !r.room() {
		return true
	}
	if len(r.spans) == 0 {
		r.first, r.last = s.From, s.To
	}
	r.first, r.last = min(r.first, s.From), max(r.last, s.To)
	r.count += s.Len()
	r.spans = slices.Insert(r.spans, at, s)
	r.join(at)
	return true
}

func (r *runs) room() bool {
	if len(r.spans) >= maxRuns {
		r.cut = true
	}
	return !r.cut
}

// join makes one run of those that touch the run at an index.
func (r *runs) join(at int) {
	if at+1 < len(r.spans) && r.spans[at].To+1 == r.spans[at+1].From {
		r.spans[at].To = r.spans[at+1].To
		r.spans = slices.Delete(r.spans, at+1, at+2)
	}
	if at > 0 && r.spans[at-1].To+1 == r.spans[at].From {
		r.spans[at-1].To = r.spans[at].To
		r.spans = slices.Delete(r.spans, at, at+1)
	}
}

func (r *runs) has(n uint64) bool {
	_, ok := slices.BinarySearchFunc(r.spans, n, func(span Span, n uint64) int {
		switch {
		case span.To < n:
			return -1
		case span.From > n:
			return 1
		}
		return 0
	})
	return ok
}

// missing are the gaps in (after, last], and how many sequences of the set are
// in it.
func (r *runs) missing(after uint64) (gaps []Span, there uint64) {
	next := after + 1
	for _, s := range r.spans {
		if s.To <= after {
			continue
		}
		from := max(s.From, next)
		if from > next {
			gaps = append(gaps, Span{next, from - 1})
		}
		there += s.To - from + 1
		next = s.To + 1
	}
	return gaps, there
}

// before are the gaps between the first sequence and a limit, which is included.
func (r *runs) before(limit uint64) []Span {
	var gaps []Span
	for i := 1; i < len(r.spans); i++ {
		gap := Span{r.spans[i-1].To + 1, r.spans[i].From - 1}
		if gap.From > limit {
			break
		}
		gap.To = min(gap.To, limit)
		gaps = append(gaps, gap)
	}
	return gaps
}
