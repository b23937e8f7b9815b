package arkflow

import (
	"github.com/charmbracelet/x/ansi"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/vtable"
	"github.com/recoverctl/recoverctl/views/phrase"
)

// pointColumns keep the whole id of each point, as far as that is possible: ids differ
// at their ends, and other columns are left out before.
func pointColumns(points []arkflow.Point) []vtable.Column {
	id := 0
	for _, p := range points {
		id = max(id, ansi.StringWidth(phrase.Safe(p.ID)))
	}
	return []vtable.Column{
		{Title: "RECOVERY POINT", Min: min(id, 44), Max: 48},
		{Title: "AGE", Right: true},
		{Title: "VERDICT", Min: len("accepted")},
		{Title: "A START", Min: len("RESTORES IT")},
		{Title: "TASKS", Right: true},
		{Title: "VERSION", Right: true},
		{Title: "ON RECORD", Min: len("completed"), Flex: 1},
	}
}

// pointRows are the recovery points, the newest first.
type pointRows struct{ *Job }

func (r pointRows) Len() int        { return len(r.reader.value.Points.Points) }
func (r pointRows) ID(i int) string { return r.reader.value.Points.Points[i].ID }

func (r pointRows) Row(i int) []vtable.Cell {
	list := r.reader.value.Points
	p := list.Points[i]
	verdict, tone := phrase.Verdict(p.Verdict)
	start, startTone := starts(p)
	status := p.Status
	if status == "" {
		status = "no"
	}
	name := phrase.Safe(p.ID)
	if r.chosen[p.ID] {
		name = r.options.Theme.Signs.Marker + " " + name
	}
	return []vtable.Cell{
		{Text: name}, {Text: age(p.Created, r.reader.at)}, {Text: verdict, Tone: tone}, {Text: start, Tone: startTone},
		{Text: tasksOf(p, list.Target)}, {Text: number(p.JobVersion)}, {Text: phrase.Safe(status), Tone: theme.Muted},
	}
}

// Words implements vtable.Worder: a point is found by its kind and by the rule that
// decides.
func (r pointRows) Words(i int) []string {
	p := r.reader.value.Points.Points[i]
	words := []string{phrase.Safe(string(p.Kind)), phrase.Safe(p.Reason), phrase.Safe(p.Message)}
	if r.chosen[p.ID] {
		words = append(words, "chosen")
	}
	return words
}

// fewLines are what stands under a row where there is little room.
const fewLines = 3

// Detail says under the selected row why its verdict is what it is, and what the
// engine makes of it where that is another thing.
func (r pointRows) Detail(i int) []string {
	p, th := r.reader.value.Points.Points[i], r.options.Theme
	width := max(r.size.Width-6, 1)
	var lines []string
	say := func(tone theme.Tone, text string) {
		lead := ""
		if sign := th.Sign(tone); sign != "" && tone != theme.OK {
			lead = sign + " "
		}
		for _, line := range phrase.Hang(lead, text, width) {
			lines = append(lines, th.Paint(tone, line))
		}
	}
	switch p.Verdict {
	case inspect.Accepted:
		say(theme.Plain, goOn(p))
	default:
		text := phrase.Safe(p.Reason) + ": " + phrase.Safe(p.Message)
		if r.size.Height < roomy {
			text = phrase.Clip(text, 2*width-fewLines, th.Signs.More)
		}
		say(theme.Plain, text)
	}
	switch {
	case p.Verdict == inspect.Rejected && p.Engine.Verdict == inspect.Accepted:
		say(theme.Warning, "the engine takes it all the same, without an error: it asks less")
	case p.Verdict == inspect.Accepted && p.Engine.Verdict == inspect.Rejected:
		say(theme.Warning, "the engine passes over it: "+phrase.Safe(p.Engine.Why))
	}
	if r.size.Height < roomy && len(lines) > fewLines {
		lines = append(lines[:fewLines-1], th.Paint(theme.Muted, th.Signs.More+" v shows all of it"))
	}
	return lines
}
