package compare

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
)

// facts are what can be said of both points, the verdict first.
func (s *Screen) facts() []Fact {
	of := func(name string, value func(*side) (string, theme.Tone)) Fact {
		f := Fact{Name: name}
		for i, side := range s.sides {
			f.Values[i], f.Tones[i] = value(side)
		}
		return f
	}
	summary := func(value func(inspect.PointSummary) (string, theme.Tone)) func(*side) (string, theme.Tone) {
		return func(side *side) (string, theme.Tone) {
			if side.summary == nil {
				return "", theme.Plain
			}
			return value(*side.summary)
		}
	}
	read := func(value func(inspect.RecoveryPoint) string) func(*side) (string, theme.Tone) {
		return func(side *side) (string, theme.Tone) {
			if !side.read {
				return "", theme.Plain
			}
			return value(side.point), theme.Plain
		}
	}
	none := s.options.Theme.Signs.None
	facts := []Fact{
		of("verdict", summary(func(p inspect.PointSummary) (string, theme.Tone) { return phrase.Verdict(p.Verdict) })),
		of("why", summary(func(p inspect.PointSummary) (string, theme.Tone) {
			return cmp.Or(phrase.Safe(p.Message), none), theme.Plain
		})),
		of("not checked", summary(func(p inspect.PointSummary) (string, theme.Tone) {
			return cmp.Or(phrase.Safe(strings.Join(p.Unchecked, ", ")), none), theme.Plain
		})),
		of("age", summary(func(p inspect.PointSummary) (string, theme.Tone) {
			return phrase.Age(p.Taken, s.options.Reading.At) + " (" + phrase.Safe(string(p.Taken.Source)) + ")", theme.Plain
		})),
		of("replays", summary(func(p inspect.PointSummary) (string, theme.Tone) { return replays(s.options.Reading.Overview.Store, p) })),
		of("calls that run again", summary(func(p inspect.PointSummary) (string, theme.Tone) {
			if p.Calls != nil {
				return p.Calls.Again(), theme.Plain
			}
			return phrase.Calls(p.RunsAgain), theme.Plain
		})),
		of("pinned", summary(func(p inspect.PointSummary) (string, theme.Tone) { return yes(p.Pinned), theme.Plain })),
		of("kind", read(kind)),
		of("checkpoint id", read(func(p inspect.RecoveryPoint) string {
			if p.CheckpointID < 0 {
				return ""
			}
			return figures.Group(p.CheckpointID)
		})),
		of("metadata version", read(func(p inspect.RecoveryPoint) string {
			if p.MetadataVersion == 0 {
				return ""
			}
			return fmt.Sprint(p.MetadataVersion)
		})),
		of("marker", read(marker)),
		of("state", read(func(p inspect.RecoveryPoint) string { return figures.Bytes(p.Files.Bytes) })),
		of("files", read(files)),
		of("errors and warnings", read(checks)),
	}
	return append(facts, s.operators(of)...)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func replays(store inspect.Store, p inspect.PointSummary) (string, theme.Tone) {
	if p.Verdict != inspect.Accepted {
		return "nothing: it is " + string(p.Verdict), theme.Plain
	}
	return fmt.Sprintf("a span of %s in %s", figures.Group(p.Span), phrase.Parts(store, len(p.Validation.Window))), theme.Plain
}

func kind(p inspect.RecoveryPoint) string {
	words := phrase.Safe(string(p.Kind))
	if p.Format != "" {
		words += ", " + phrase.Safe(string(p.Format))
	}
	return words
}

// marker is what the merged marker is, and of which topic.
func marker(p inspect.RecoveryPoint) string {
	words := phrase.Safe(string(p.Merged.Kind))
	if p.Merged.Problem != nil {
		words += ": " + phrase.Safe(p.Merged.Problem.Message)
	}
	if p.Merged.Topic != nil {
		words += ", topic " + phrase.Safe(*p.Merged.Topic)
	}
	if p.Merged.TopicID != nil {
		words += ", id " + phrase.Safe(*p.Merged.TopicID)
	}
	return fmt.Sprintf("%s, %s by subtask", words, phrase.Count(len(p.Markers), "marker", "markers"))
}

func files(p inspect.RecoveryPoint) string {
	words := phrase.Count(p.Files.Referenced, "file", "files")
	if n := len(p.Files.Missing); n > 0 {
		words += fmt.Sprintf(", %d MISSING", n)
	}
	if n := len(p.Files.Unchecked); n > 0 {
		words += fmt.Sprintf(", %d not reachable from here", n)
	}
	return words
}

// checks are those that something is wrong with.
func checks(p inspect.RecoveryPoint) string {
	var ids []string
	for _, c := range p.Checks {
		if !c.Severity.AtLeast(inspect.SeverityWarning) {
			continue
		}
		ids = append(ids, phrase.Safe(c.ID)+" "+phrase.Safe(c.Message))
	}
	if len(ids) == 0 {
		return "none"
	}
	return strings.Join(ids, "; ")
}

// operators are those of both points by their ids, in the order in which they
// are met.
func (s *Screen) operators(of func(string, func(*side) (string, theme.Tone)) Fact) []Fact {
	var out []Fact
	seen := map[string]bool{}
	for _, side := range s.sides {
		for _, op := range side.point.Operators {
			if seen[op.ID] {
				continue
			}
			seen[op.ID] = true
			name := cmp.Or(op.Name, op.UID, op.ID[:min(len(op.ID), 8)])
			out = append(out, of("operator "+phrase.Safe(name), operator(op.ID)))
		}
	}
	return out
}

func operator(id string) func(*side) (string, theme.Tone) {
	return func(side *side) (string, theme.Tone) {
		if !side.read {
			return "", theme.Plain
		}
		for _, op := range side.point.Operators {
			if op.ID != id {
				continue
			}
			words := []string{fmt.Sprintf("%s, max %s", phrase.Count(op.Parallelism, "subtask", "subtasks"), figures.Group(int64(op.MaxParallelism)))}
			for _, st := range op.States {
				words = append(words, fmt.Sprintf("%s (%s %s, %s)", phrase.Safe(st.Name), phrase.Safe(st.Mode), phrase.Safe(st.Kind), phrase.Count(st.Elements, "element", "elements")))
			}
			return strings.Join(words, "; "), theme.Plain
		}
		return "not in it", theme.Warning
	}
}
