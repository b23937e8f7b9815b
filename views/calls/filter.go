package calls

import (
	"strconv"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui/vtable"
	"github.com/recoverctl/recoverctl/views/scan"
)

// test says whether a row passes one word of a filter.
type test func(row scan.Row) bool

// Query implements vtable.Querier. A filter is words, all of which a row must
// have: a text in its key, function, state or outcomes; or one of
//
//	key:TEXT  function:TEXT  state:WORD  outcome:WORD  event:TEXT
//	partition:N  seq:N  age>1h  age<5m
func (r rows) Query(query string) (func(i int) bool, string) {
	var tests []test
	var notes []string
	for _, word := range strings.Fields(query) {
		t, note := r.screen.word(word)
		if note != "" {
			notes = append(notes, note)
			continue
		}
		tests = append(tests, t)
	}
	at := r.list.Walk()
	return func(i int) bool {
		row := at(i)
		for _, t := range tests {
			if !t(row) {
				return false
			}
		}
		return true
	}, strings.Join(notes, "; ")
}

// word reads one word of a filter. The note says why it can't be taken.
func (s *Screen) word(word string) (test, string) {
	if age, ok := strings.CutPrefix(word, "age>"); ok {
		return s.age(age, func(age, limit time.Duration) bool { return age > limit })
	}
	if age, ok := strings.CutPrefix(word, "age<"); ok {
		return s.age(age, func(age, limit time.Duration) bool { return age < limit })
	}
	field, value, ok := strings.Cut(word, ":")
	find := vtable.TextOf(value)
	points := s.points
	switch {
	case !ok:
	case field == "key":
		return func(r scan.Row) bool { return s.inKey(r.Action.Key, find) }, ""
	case field == "function" || field == "call":
		return func(r scan.Row) bool { c := r.Call(); return c != nil && find.In(c.FunctionID) }, ""
	case field == "state":
		return func(r scan.Row) bool { return find.In(stateOf(r)) }, ""
	case field == "outcome":
		return func(r scan.Row) bool { return outcomeWords(r, points, find.In) }, ""
	case field == "event":
		return func(r scan.Row) bool { return find.In(r.Action.EventType) }, ""
	case field == "partition" || field == s.options.Job.Store.Part():
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil {
			return nil, field + ": takes a number"
		}
		return func(r scan.Row) bool { return int64(r.Action.Partition) == n }, ""
	case field == "seq":
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return nil, "seq: takes a number"
		}
		return func(r scan.Row) bool { return r.Action.Sequence == n }, ""
	}
	text := vtable.TextOf(word)
	return func(r scan.Row) bool {
		if c := r.Call(); c != nil && text.In(c.FunctionID) {
			return true
		}
		return text.In(stateOf(r)) || s.inKey(r.Action.Key, text) || outcomeWords(r, points, text.In)
	}, ""
}

// stateOf is the word that the table shows.
func stateOf(r scan.Row) string {
	if c := r.Call(); c != nil {
		return string(c.State)
	}
	return actionState(r.Action)
}

func (s *Screen) inKey(k inspect.CallKey, find vtable.Text) bool {
	if k.Text != nil && find.In(*k.Text) || find.In(k.Digest) {
		return true
	}
	text, known := s.texts[k.Digest]
	return known && find.In(text)
}

// age is a test of how old an action's last record was when the scan began.
func (s *Screen) age(text string, passes func(age, limit time.Duration) bool) (test, string) {
	limit, err := duration(text)
	if err != nil {
		return nil, "age takes a duration, as in age>90s, age<4h, age>2d"
	}
	at := s.shown.Started
	return func(r scan.Row) bool { return passes(at.Sub(r.Action.Timestamp), limit) }, ""
}

// duration reads 90s, 5m, 4h30m or 2d.
func duration(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		return time.Duration(n) * 24 * time.Hour, err
	}
	return time.ParseDuration(text)
}
