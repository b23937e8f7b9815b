package explain

import (
	"cmp"
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
var restored = lazily(`(?:Restoring job [0-9a-f]{32} from [^.]{1,120} located at|Starting job [0-9a-f]{32} from savepoint) '?([a-z0-9]+:[^ '",]+|/[^ '",]+)`)

func newLinks(s *script, jobs []Job) *links {
	l := &links{s: s, jobs: jobs}
	for _, anchor := range []string{" located at ", " from savepoint "} {
		last := strings.LastIndex(s.flat, anchor)
		for ; last >= 0; last = strings.LastIndex(s.flat[:last], anchor) {
			const earlier = 300
			window := s.flat[max(0, last-earlier):min(len(s.flat), last+looseAround)]
			if m := restored().FindStringSubmatch(window); m != nil {
				l.point = strings.TrimSuffix(m[1], ".")
				return l
			}
		}
	}
	return l
}

// match makes the answer of a hit.
func (l *links) match(h hit) Match {
	values, words := map[string]string{}, map[string]string{}
	for i, name := range h.pattern().SubexpNames()[1:] {
		values[name] = shown(h.values[i])
		words[name] = shellword.Quote(values[name])
	}
	m := Match{
		Rule: h.id, Source: h.source, Line: l.s.line(h.begin), Count: 1, Numbers: h.numbers(),
		Text: safetext.Of(l.s.flat[h.begin:h.end]).Truncate(600).String(), Next: make([]string, 0, len(h.next)),
	}
	m.Cause = fill(h.cause, values)
	own := values["point"]
	if own == "" {
		words["point"] = "URI"
		if l.point != "" {
			words["point"] = shellword.Quote(shown(l.point))
		}
	}
	job := l.job(cmp.Or(values["topic"], values["table"]), cmp.Or(own, l.point, values["file"]))
	words["job"] = l.flags(job, h.control, values["topic"])
	words["fluss"], words["hub"] = "--fluss HOST:PORT", "--hub http://HOST:PORT"
	words["profile"] = ""
	if job != nil {
		words["fluss"], words["hub"], words["profile"] = job.Flags, job.Flags, job.Flags
	}
	for _, next := range h.next {
		// In a command a value is a word of the shell, in a sentence it is a text.
		of := words
		if !isCommand(next) {
			of = values
			for _, name := range []string{"job", "point", "fluss", "hub", "profile"} {
				of[name] = words[name]
			}
		}
		next = strings.TrimRight(fill(next, of), " ")
		if job == nil && !h.control && strings.HasPrefix(next, control[:len(control)-len("{job}")]) && strings.Contains(next, "--topic") {
			next += " --control-topic CONTROL-TOPIC"
		}
		m.Next = append(m.Next, next)
	}
	return m
}

// isCommand reports whether what to do is a command, as it is given to a shell.
func isCommand(next string) bool {
	return strings.HasPrefix(next, "recoverctl ") || strings.HasPrefix(next, "kafka-")
}

// job is the job that a text is about: that of the topic, of the recovery point
// of the message or that was restored, or the only one. It is nil where none is
// known.
func (l *links) job(topic, point string) *Job {
	for i := range l.jobs {
		if topic != "" && slices.Contains(l.jobs[i].Topics, topic) {
			return &l.jobs[i]
		}
	}
	if point = spelled(point); point != "" {
		for i := range l.jobs {
			if slices.ContainsFunc(l.jobs[i].Points, func(place string) bool {
				place = strings.TrimSuffix(spelled(place), "/")
				return point == place || strings.HasPrefix(point, place+"/")
			}) {
				return &l.jobs[i]
			}
		}
	}
	if topic == "" && len(l.jobs) == 1 {
		return &l.jobs[0]
	}
	return nil
}

// flags are how a command names the job.
func (l *links) flags(job *Job, control bool, topic string) string {
	switch {
	case job != nil:
		return job.Flags
	case topic != "" && control:
		return "--brokers HOST:PORT --topic TOPIC --control-topic " + shellword.Quote(topic)
	case topic != "":
		return "--brokers HOST:PORT --topic " + shellword.Quote(topic)
	default:
		return "--profile PROFILE --job JOB"
	}
}

// spelled is an address in one spelling: Flink writes file:/x for what others
// write as file:///x or /x, and has three names for S3.
func spelled(address string) string {
	scheme, rest, ok := strings.Cut(address, ":")
	switch {
	case !ok && strings.HasPrefix(address, "/"):
		return "file:" + address
	case scheme == "file":
		return "file:/" + strings.TrimLeft(strings.TrimPrefix(rest, "//localhost"), "/")
	case scheme == "s3a", scheme == "s3p":
		return "s3:" + rest
	default:
		return address
	}
}
