package explain

import (
	"regexp"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/internal/shellword"
)

// links knows what a text is about beside its messages: which recovery point was
// restored, and which job of the profile a topic belongs to.
type links struct {
	s     *script
	jobs  []Job
	point string // the last one that the text says was restored; empty: none
}

// restored is how Flink says, when a job starts, what it is restored from.
var restored = regexp.MustCompile(`(?:Restoring job [0-9a-f]{32} from [^.]{1,120} located at|Starting job [0-9a-f]{32} from savepoint) '?([a-z0-9]+:[^ '",]+|/[^ '",]+)`)

func newLinks(s *script, jobs []Job) *links {
	l := &links{s: s, jobs: jobs}
	for _, anchor := range []string{" located at ", " from savepoint "} {
		last := strings.LastIndex(s.flat, anchor)
		for ; last >= 0; last = strings.LastIndex(s.flat[:last], anchor) {
			const earlier = 300
			window := s.flat[max(0, last-earlier):min(len(s.flat), last+looseAround)]
			if m := restored.FindStringSubmatch(window); m != nil {
				l.point = strings.TrimSuffix(m[1], ".")
				return l
			}
		}
	}
	return l
}

// match makes the answer of a hit.
func (l *links) match(h hit) Match {
	values := map[string]string{}
	for i, name := range h.pattern().SubexpNames()[1:] {
		values[name] = shown(h.values[i])
	}
	m := Match{
		Rule: h.id, Source: h.source, Line: l.s.line(h.begin), Count: 1, Numbers: h.numbers(),
		Text: safetext.Of(l.s.flat[h.begin:h.end]).Truncate(600).String(), Next: make([]string, 0, len(h.next)),
	}
	m.Cause = fill(h.cause, values)
	if values["point"] == "" {
		values["point"] = "URI"
		if l.point != "" {
			values["point"] = shellword.Quote(shown(l.point))
		}
	} else {
		values["point"] = shellword.Quote(values["point"])
	}
	values["job"] = l.flags(values["topic"])
	for _, next := range h.next {
		m.Next = append(m.Next, fill(next, values))
	}
	return m
}

// flags are how a command names the job that a topic belongs to.
func (l *links) flags(topic string) string {
	for _, j := range l.jobs {
		if topic != "" && slices.Contains(j.Topics, topic) {
			return j.Flags
		}
	}
	if l.point != "" {
		for _, j := range l.jobs {
			if slices.ContainsFunc(j.Points, func(place string) bool {
				return l.point == place || strings.HasPrefix(l.point, strings.TrimSuffix(place, "/")+"/")
			}) {
				return j.Flags
			}
		}
	}
	switch {
	case topic == "" && len(l.jobs) == 1:
		return l.jobs[0].Flags
	case topic != "":
		return "--brokers HOST:PORT --topic " + shellword.Quote(topic)
	default:
		return "--profile PROFILE --job JOB"
	}
}
