package operations

import (
	"fmt"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

const indent = sheet.Indent

// page is what stands above the tables: both readers' verdicts, what is wrong
// and what to do, and the notes; each in one line unless whole.
func (s *Screen) page(width int, whole bool) []string {
	p := &sheet.Page{Theme: s.options.Theme, Width: width}
	say := p.Clipped
	if whole {
		say = p.Sign
	}
	switch {
	case s.options.Job.ControlTopic == nil:
		p.Hang(" ", theme.Plain, "no control topic is configured for this job")
		p.Say("Its restores look at no boundary, and no cleanup of it can be planned with one.")
		p.Say("Where the job has one, give --control-topic NAME, or set action-state.control-topic of the job in the profile.")
		return p.Lines
	case !s.answered:
		p.Hang(" ", theme.Plain, "reading "+s.topic())
		return p.Lines
	case s.readAt.IsZero():
		p.Sign(theme.Error, s.topic()+" could not be read: what is in force is not known")
		p.Faults(theme.Error, "", s.err)
		return p.Lines
	case s.err != nil:
		for _, f := range phrase.Faults(s.err) {
			say(theme.Warning, "reading again failed, what is shown is older: "+phrase.Safe(f.Error()))
		}
	}
	b := s.boundary
	if b.Problem != nil {
		say(theme.Error, "a restore REFUSES this history: "+phrase.Safe(b.Problem.Message))
		say(theme.Plain, phrase.Safe(b.Problem.Next()))
	} else {
		say(theme.OK, fmt.Sprintf("a restore accepts this history: boundary in force on %s, from %s",
			phrase.Count(len(b.Offsets), "partition", "partitions"), phrase.Count(len(b.Operations), "cleanup", "cleanups")))
	}
	s.applies(p, say)
	for _, note := range b.Notes {
		say(theme.Warning, phrase.Safe(note))
	}
	if whole && len(s.ops) == 0 {
		p.Blank()
		if unreadable(b.Problem) {
			p.Say("No cleanup is listed: a history that is refused is not read any further.")
		}
		p.Hang(indent, theme.Muted, "control topic "+phrase.Safe(b.ControlTopic)+", data topic "+phrase.Safe(b.Topic))
	}
	return p.Lines
}

// unreadable reports whether there may be cleanups that are not listed.
func unreadable(p *inspect.Problem) bool {
	return p != nil && p.Code != "no-committed-boundary" && p.Code != "control-topic-missing"
}

// applies is what the other reader says, the one of a cleanup.
func (s *Screen) applies(p *sheet.Page, say func(theme.Tone, string)) {
	b := s.boundary
	r := b.ApplyReader
	switch {
	case r.Verdict == inspect.Accepted && b.Problem == nil:
		say(theme.Plain, "so does the reader of a next cleanup")
	case r.Verdict == inspect.Accepted:
		say(theme.Plain, "the reader of a next cleanup accepts it, as one "+accepted(r.Offsets))
	case r.Problem != nil && b.Problem != nil && r.Problem.Message == b.Problem.Message:
		say(theme.Plain, "so does the reader of a next cleanup: none can be applied")
	case r.Problem != nil:
		say(theme.Error, "the reader of a next cleanup REFUSES it: "+phrase.Safe(r.Problem.Message))
	default:
		say(theme.Warning, "what the reader of a next cleanup says is not known")
	}
}

func accepted(offsets inspect.Offsets) string {
	if len(offsets) == 0 {
		return "without any boundary"
	}
	return "with a boundary on " + phrase.Count(len(offsets), "partition", "partitions")
}

func (s *Screen) topic() string {
	if s.options.Job.ControlTopic == nil {
		return "the control topic"
	}
	return "control topic " + phrase.Safe(*s.options.Job.ControlTopic)
}

// untrimmed are the partitions whose log still holds records before an
// operation's offsets; known says whether the log was read at all.
func (s *Screen) untrimmed(offsets inspect.Offsets) (parts []int32, known bool) {
	for _, part := range offsets.Partitions() {
		p, ok := s.partition[part]
		if !ok || p.LogStart == nil {
			continue
		}
		known = true
		if *p.LogStart < offsets[part] {
			parts = append(parts, part)
		}
	}
	return parts, known
}

// trimmed says how far the log is cut to an operation's offsets.
func (s *Screen) trimmed(offsets inspect.Offsets) (string, theme.Tone) {
	parts, known := s.untrimmed(offsets)
	switch {
	case !known:
		return "not known", theme.Muted
	case len(parts) == 0:
		return "all", theme.Plain
	default:
		return figures.Group(int64(len(offsets)-len(parts))) + " of " + figures.Group(int64(len(offsets))), theme.Warning
	}
}
