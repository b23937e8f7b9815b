package records

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/views/phrase"
)

// target is where a jump goes: an offset, or the first record from a time on.
type target struct {
	partition int32
	offset    int64
	time      time.Time // zero: the offset counts
}

// jumpHelp names what target takes.
func (s *Screen) jumpHelp() string {
	boundary := "boundary, "
	if s.options.Job.Store == inspect.StoreFluss {
		boundary = "" // there are none
	}
	return "an offset, 3/4100 (a " + s.part() + " and an offset), start, end, " + boundary + "a time (14:03, 2026-03-01T14:03:00Z, or 2h ago as 2h), or a recovery point (chk-44)"
}

// part and logWord are the store's own words for a part of the log, and for all of it.
func (s *Screen) part() string    { return s.options.Job.Store.Part() }
func (s *Screen) logWord() string { return s.options.Job.Store.Log() }

// target reads where the operator wants to go. The sentence says why it is not
// understood.
func (s *Screen) target(text string) (target, string) {
	part, now := s.partition, s.options.Now().UTC()
	if p, offset, ok := strings.Cut(text, "/"); ok && !strings.Contains(text, ":") {
		n, err := strconv.ParseInt(p, 10, 32)
		if err == nil {
			if _, known := s.log(int32(n)); !known {
				return target{}, fmt.Sprintf("the %s has no %s %d", s.logWord(), s.part(), n)
			}
			part, text = int32(n), offset
		}
	}
	log, _ := s.log(part)
	if offset, err := strconv.ParseInt(strings.ReplaceAll(text, ",", ""), 10, 64); err == nil {
		return target{partition: part, offset: offset}, ""
	}
	switch text {
	case "start":
		return target{partition: part, offset: log.Start}, ""
	case "end":
		return target{partition: part, offset: log.End}, ""
	case "boundary":
		at, ok := s.boundary(part)
		if !ok {
			return target{}, "no boundary is known for this " + s.part()
		}
		return target{partition: part, offset: at}, ""
	}
	for _, p := range s.options.Reading.Overview.Points {
		if name := s.names[p.URI]; name == text || phrase.Last(p.URI) == text {
			at, ok := p.Offsets[part]
			if !ok {
				return target{}, "the marker of " + name + " is not known for this " + s.part()
			}
			return target{partition: part, offset: at}, ""
		}
	}
	if age, err := time.ParseDuration(text); err == nil && age >= 0 {
		return target{partition: part, time: now.Add(-age)}, ""
	}
	if days, err := strconv.Atoi(strings.TrimSuffix(text, "d")); err == nil && days >= 0 && strings.HasSuffix(text, "d") {
		return target{partition: part, time: now.AddDate(0, 0, -days)}, ""
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return target{partition: part, time: at}, ""
		}
	}
	for _, layout := range []string{"15:04", "15:04:05", "15:04Z"} {
		if at, err := time.Parse(layout, text); err == nil {
			today := time.Date(now.Year(), now.Month(), now.Day(), at.Hour(), at.Minute(), at.Second(), 0, time.UTC)
			if today.After(now) {
				today = today.AddDate(0, 0, -1)
			}
			return target{partition: part, time: today}, ""
		}
	}
	return target{}, strconv.Quote(phrase.Safe(text)) + " is none of these"
}

// beyond says that a target lies outside the log, where the nearest record that there
// is gets selected; empty: it lies inside.
func (s *Screen) beyond(t target) string {
	log, known := s.log(t.partition)
	switch {
	case !known || !t.time.IsZero():
		return ""
	case t.offset < log.Start:
		return "offset " + figures.Group(t.offset) + " lies before the log start, " + figures.Group(log.Start) + ": what it held is gone"
	case t.offset > log.End:
		return "offset " + figures.Group(t.offset) + " lies past the log end, " + figures.Group(log.End) + ": it is not written yet"
	}
	return ""
}

// boundary is the boundary in force on a partition.
func (s *Screen) boundary(part int32) (int64, bool) {
	for _, p := range s.options.Reading.Overview.Partitions {
		if p.Partition == part && p.Boundary != nil {
			return *p.Boundary, true
		}
	}
	return 0, false
}

// mark is a place on the partition that has a name.
type mark struct {
	offset int64
	name   string
}

// marks are the boundary and the recovery points' markers on the partition, in
// order.
func (s *Screen) marks() []mark {
	var marks []mark
	signs := s.options.Theme.Signs
	if at, ok := s.boundary(s.partition); ok {
		marks = append(marks, mark{at, signs.Boundary + " boundary"})
	}
	for _, p := range s.options.Reading.Overview.Points {
		if at, ok := p.Offsets[s.partition]; ok && p.Verdict != inspect.Rejected {
			marks = append(marks, mark{at, signs.Marker + " " + s.names[p.URI]})
		}
	}
	slices.SortStableFunc(marks, func(a, b mark) int { return int(min(1, max(-1, a.offset-b.offset))) })
	return marks
}

// named are the marks that stand before a line and after the one above it.
func named(marks []mark, after, at int64) string {
	var names []string
	for _, m := range marks {
		if m.offset > after && m.offset <= at {
			names = append(names, m.name)
		}
	}
	return strings.Join(names, " ")
}

func span(log inspect.LogRange) string {
	return figures.Group(log.Start) + " to " + figures.Group(log.End)
}
