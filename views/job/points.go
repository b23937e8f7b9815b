package job

import (
	"fmt"
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/vtable"
	"github.com/recoverctl/recoverctl/views/phrase"
)

var pointColumns = []vtable.Column{
	{Title: "RECOVERY POINT", Max: 44},
	{Title: "AGE", Right: true},
	{Title: "VERDICT", Min: len("accepted")},
	{Title: "RUN AGAIN", Right: true},
	{Title: "NOT CHECKED", Min: len("NOT CHECKED"), Flex: 1}, // short of room it gives way to a name
}

// pointRows are the recovery points, newest first.
type pointRows struct{ *Screen }

func (r pointRows) Len() int        { return len(r.reader.Reading.Overview.Points) }
func (r pointRows) ID(i int) string { return r.reader.Reading.Overview.Points[i].URI }

func (r pointRows) Row(i int) []vtable.Cell {
	p := r.reader.Reading.Overview.Points[i]
	th := r.options.Theme
	name := r.names[p.URI]
	if r.chosen[p.URI] {
		name = th.Signs.Marker + " " + name
	}
	if p.Pinned {
		name += " (pinned)"
	}
	verdict, tone := phrase.Verdict(p.Verdict)
	calls := r.runsAgain(p)
	return []vtable.Cell{
		{Text: name},
		{Text: phrase.Age(p.Taken, r.reader.Reading.At)},
		{Text: verdict, Tone: tone},
		calls,
		{Text: unchecked(th, p), Tone: theme.Muted},
	}
}

// runsAgain is how many calls run again from a point, or why that is not known.
func (r pointRows) runsAgain(p inspect.PointSummary) vtable.Cell {
	scan := r.reader.Reading.Overview.Scan
	switch {
	case p.Calls != nil && p.RunsAgain != nil && p.Calls.Unknown > 0:
		return vtable.Cell{Text: p.Calls.Again(), Tone: theme.Warning}
	case p.RunsAgain != nil && *p.RunsAgain > 0:
		return vtable.Cell{Text: phrase.Calls(p.RunsAgain), Tone: theme.Warning}
	case p.RunsAgain != nil:
		return vtable.Cell{Text: phrase.Calls(p.RunsAgain)}
	case p.Calls != nil:
		return vtable.Cell{Text: "unknown", Tone: theme.Warning}
	case scan == nil:
		return vtable.Cell{Text: phrase.NotScanned, Tone: theme.Muted}
	case p.Verdict == inspect.Rejected:
		return vtable.Cell{Text: r.options.Theme.Signs.None, Tone: theme.Muted} // it is not restored from
	case scan.Partial:
		return vtable.Cell{Text: "not known", Tone: theme.Warning}
	case r.reader.Reading.Overview.PendingCalls == nil:
		return vtable.Cell{Text: "scanning", Tone: theme.Muted}
	default:
		return vtable.Cell{Text: phrase.NotScanned, Tone: theme.Muted}
	}
}

// Words implements vtable.Worder: a point is found by its whole URI, its kind and
// what was done with it here.
func (r pointRows) Words(i int) []string {
	p := r.reader.Reading.Overview.Points[i]
	words := []string{phrase.Safe(p.URI), phrase.Safe(string(p.Kind)), phrase.Safe(p.Message)}
	if r.chosen[p.URI] {
		words = append(words, "chosen")
	}
	return words
}

// unchecked is what no rule looked at, in a word or two: the selected row names
// all of it.
func unchecked(th theme.Theme, p inspect.PointSummary) string {
	switch len(p.Unchecked) {
	case 0:
		return th.Signs.None
	case 1:
		return phrase.Safe(p.Unchecked[0])
	default:
		return phrase.Count(len(p.Unchecked), "rule", "rules")
	}
}

// Detail says under the selected row why its verdict is what it is, whole.
func (r pointRows) Detail(i int) []string {
	p := r.reader.Reading.Overview.Points[i]
	width := max(r.size.Width-6, 1)
	var lines []string
	switch p.Verdict {
	case inspect.Accepted:
		lines = phrase.Wrap(spanOf(r.options.Job.Store, p), width)
		if len(p.Unchecked) > 1 {
			lines = append(lines, phrase.Hang("not checked: ", phrase.Safe(strings.Join(p.Unchecked, ", ")), width)...)
		}
	case inspect.Rejected:
		lines = phrase.Wrap(phrase.Safe(p.Message), width)
	default:
		lines = phrase.Wrap(doubt(p), width)
	}
	if warning, ok := otherwise(p); ok {
		th := r.options.Theme
		for _, line := range phrase.Hang(th.Signs.Warning+" ", warning, width) {
			lines = append(lines, th.Paint(theme.Warning, line))
		}
	}
	return lines
}

func spanOf(store inspect.Store, p inspect.PointSummary) string {
	if len(p.Validation.Window) == 0 {
		return "replays nothing"
	}
	return fmt.Sprintf("replays a span of %s offsets in %s", figures.Group(p.Span), phrase.Parts(store, len(p.Validation.Window)))
}

// doubt is why the first rule that could not be asked could not.
func doubt(p inspect.PointSummary) string {
	for _, rule := range p.Validation.Rules {
		if rule.Result == inspect.NotChecked {
			return "no rule refuses it; not checked: " + phrase.Safe(rule.Message)
		}
	}
	return "no rule refuses it, and not every rule could be asked"
}

// otherwise warns where the job's own release would not do what the verdict
// says.
func otherwise(p inspect.PointSummary) (string, bool) {
	if len(p.Validation.Runtime) != 1 {
		return "", false
	}
	r := p.Validation.Runtime[0]
	return "your release (" + phrase.Safe(string(r.Release)) + ") " + phrase.Does(r) + ": v says why", !phrase.Agrees(p.Verdict, r)
}
