package live

import (
	"fmt"
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/vtable"
	"github.com/recoverctl/recoverctl/views/phrase"
)

var columns = []vtable.Column{
	{Title: "ID", Right: true},
	{Title: "KIND", Min: len("checkpoint")},
	{Title: "STATUS", Min: len(inspect.CheckpointInProgress)},
	{Title: "AGE", Right: true},
	{Title: "TOOK", Right: true},
	{Title: "SIZE", Right: true},
	{Title: "FOUND", Flex: 1, Min: len("not found in 2 places")},
}

// rows are Flink's history, newest first.
type rows struct{ *Screen }

func (r rows) Len() int {
	if h := r.history(); h != nil {
		return len(h.History)
	}
	return 0
}

func (r rows) entry(i int) inspect.LiveCheckpoint { return r.history().History[i] }

func (r rows) ID(i int) string {
	e := r.entry(i)
	return fmt.Sprintf("%s %d", e.Kind, e.ID)
}

func (r rows) Row(i int) []vtable.Cell {
	e, th := r.entry(i), r.options.Theme
	none := vtable.Cell{Text: th.Signs.None, Tone: theme.Muted}
	age, took, size := none, none, none
	if e.Triggered != nil {
		age = vtable.Cell{Text: clock.Age(r.readAt.Sub(*e.Triggered))}
		if e.Ended != nil {
			took = vtable.Cell{Text: spell(e.Ended.Sub(*e.Triggered).Milliseconds())}
		}
	}
	if e.Status == inspect.CheckpointCompleted {
		size = vtable.Cell{Text: figures.Bytes(e.Bytes)}
	}
	status := vtable.Cell{Text: phrase.Safe(e.Status)}
	switch e.Status {
	case inspect.CheckpointFailed:
		status.Text, status.Tone = "FAILED", theme.Error
	case inspect.CheckpointInProgress:
		status.Tone = theme.Warning
	}
	found, tone := r.found(e)
	return []vtable.Cell{
		{Text: figures.Group(e.ID)}, {Text: phrase.Safe(string(e.Kind))}, status, age, took, size, {Text: found, Tone: tone},
	}
}

// found says whether an entry is one of the recovery points that were found, and
// that point's verdict.
func (r rows) found(e inspect.LiveCheckpoint) (string, theme.Tone) {
	o := r.options.Reading.Overview
	switch {
	case e.Status != inspect.CheckpointCompleted:
		return r.options.Theme.Signs.None, theme.Muted
	case e.Discarded:
		return "discarded by Flink", theme.Muted
	case e.Path == nil:
		return "no path is reported", theme.Warning
	case !r.options.Reading.Known():
		return "not searched", theme.Muted
	}
	if at, ok := inspect.PointAt(o.Points, *e.Path); ok {
		word, tone := phrase.Verdict(o.Points[at].Verdict)
		return "found, " + word, tone
	}
	if len(o.Searched) == 0 {
		return "not found: no place is configured", theme.Warning
	}
	return "not found in " + phrase.Count(len(o.Searched), "place", "places"), theme.Warning
}

// Words implements vtable.Worder: an entry is found by its path and its reason.
func (r rows) Words(i int) []string {
	e := r.entry(i)
	var words []string
	if e.Path != nil {
		words = append(words, phrase.Safe(*e.Path))
	}
	if e.Reason != nil {
		words = append(words, phrase.Safe(*e.Reason))
	}
	return words
}

// Detail is the whole address of the selected entry, and why it failed.
func (r rows) Detail(i int) []string {
	e, th := r.entry(i), r.options.Theme
	width := max(r.size.Width-6, 1)
	var lines []string
	if e.Path != nil {
		lines = append(lines, phrase.Wrap(phrase.Safe(*e.Path), width)...)
	}
	if e.Reason != nil {
		for _, line := range phrase.Wrap(phrase.Safe(*e.Reason), width) {
			lines = append(lines, th.Paint(theme.Error, line))
		}
	}
	if e.Status != inspect.CheckpointCompleted {
		lines = append(lines, fmt.Sprintf("acknowledged by %d of %s", e.Acknowledged, phrase.Count(e.Subtasks, "subtask", "subtasks")))
	}
	if e.Status == inspect.CheckpointFailed && e.Reason == nil {
		lines = append(lines, "Flink gives no reason")
	}
	if e.Triggered != nil {
		lines = append(lines, th.Paint(theme.Muted, strings.TrimPrefix(r.when(e.Triggered), ", ")))
	}
	return lines
}
