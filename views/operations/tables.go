package operations

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/vtable"
	"github.com/recoverctl/recoverctl/views/phrase"
)

// roomy is the width from which on the table has room for the calls of each
// cleanup; below it those of the selected one stand under it.
const roomy = 100

func (s *Screen) operationColumns() []vtable.Column {
	columns := []vtable.Column{
		{Title: "CLEANUP", Min: 8},
		{Title: "STATUS", Min: len(inspect.StatusCommitted)},
		{Title: "AGE", Right: true},
		{Title: "CONTROL OFFSET", Right: true},
		{Title: "TRIMMED", Min: len("not known")},
	}
	if s.size.Width >= roomy {
		columns = append(columns, vtable.Column{Title: "CALLS BELOW", Right: true})
	}
	return append(columns, vtable.Column{Title: "FROM", Flex: 1, Min: 12})
}

// operationRows are the cleanups, the newest record first.
type operationRows struct{ *Screen }

func (r operationRows) Len() int        { return len(r.ops) }
func (r operationRows) ID(i int) string { return r.ops[i].PlanID }

func (r operationRows) Row(i int) []vtable.Cell {
	op := r.ops[i]
	status := vtable.Cell{Text: phrase.Safe(string(op.Status))}
	if op.Status == inspect.StatusCommitted {
		status.Tone = theme.Warning
	}
	trimmed, tone := r.trimmed(op.Offsets)
	cells := []vtable.Cell{
		{Text: phrase.Short(op.PlanID)}, status, {Text: clock.Age(r.readAt.Sub(op.Time))},
		{Text: figures.Group(op.ControlOffset)}, {Text: trimmed, Tone: tone},
	}
	if r.size.Width >= roomy {
		cells = append(cells, vtable.Cell{Text: callsBelow(op)})
	}
	return append(cells, vtable.Cell{Text: phrase.Last(op.SourceRecoveryPoint)})
}

// Words implements vtable.Worder: a cleanup is found by its whole id and source.
func (r operationRows) Words(i int) []string {
	return []string{phrase.Safe(r.ops[i].PlanID), phrase.Safe(r.ops[i].SourceRecoveryPoint)}
}

// Detail says under the selected cleanup what it does to the recovery points.
func (r operationRows) Detail(i int) []string {
	op, th := r.ops[i], r.options.Theme
	width := max(r.size.Width-6, 1)
	lines := append(phrase.Wrap(r.effect(op), width), phrase.Wrap(callsText(op), width)...)
	if parts, known := r.untrimmed(op.Offsets); known && len(parts) > 0 {
		force := "in force, "
		if r.boundary.Problem != nil {
			force = ""
		}
		text := fmt.Sprintf("%slog not trimmed yet on %s: %s", force, phrase.Count(len(parts), "partition", "partitions"), figures.Ranges(parts, 6))
		for _, line := range phrase.Hang(th.Signs.Warning+" ", text, width) {
			lines = append(lines, th.Paint(theme.Warning, line))
		}
	}
	return lines
}

// effect counts the known recovery points by what the cleanup alone means for
// them.
func (s *Screen) effect(op inspect.Operation) string {
	points := s.options.Reading.Overview.Points
	if len(points) == 0 {
		return "no recovery point is known beside it"
	}
	counts := map[inspect.Verdict]int{}
	for _, p := range points {
		counts[op.Under(p).Verdict]++
	}
	words := []string{fmt.Sprintf("keeps %d of %s", counts[inspect.Accepted], phrase.Count(len(points), "known recovery point", "known recovery points"))}
	if n := counts[inspect.Rejected]; n > 0 {
		words = append(words, fmt.Sprintf("refuses %d", n))
	}
	if n := counts[inspect.Unknown]; n > 0 {
		words = append(words, fmt.Sprintf("%d can't be compared", n))
	}
	return strings.Join(words, ", ") + ": enter names them"
}

var boundaryColumns = []vtable.Column{
	{Title: "P", Right: true},
	{Title: "BOUNDARY", Right: true},
	{Title: "LOG START", Right: true},
	{Title: "LOG END", Right: true},
	{Title: "LOG", Min: len("not trimmed yet")},
	{Title: "SET BY", Flex: 1, Min: 8},
}

// boundaryRows are the partitions with the boundary in force.
type boundaryRows struct{ *Screen }

func (r boundaryRows) Len() int        { return len(r.parts) }
func (r boundaryRows) ID(i int) string { return strconv.Itoa(int(r.parts[i])) }

func (r boundaryRows) Row(i int) []vtable.Cell {
	part, none := r.parts[i], r.options.Theme.Signs.None
	boundary := r.boundary.Offsets[part]
	start, end, state, tone := none, none, "not known", theme.Muted
	if p, ok := r.partition[part]; ok && p.LogStart != nil && p.LogEnd != nil {
		start, end = figures.Group(*p.LogStart), figures.Group(*p.LogEnd)
		state, tone = "trimmed", theme.Plain
		switch {
		case boundary > *p.LogEnd:
			state, tone = "ENDS BEFORE IT", theme.Error
		case boundary > *p.LogStart:
			state, tone = "not trimmed yet", theme.Warning
		}
	}
	var by []string
	for _, op := range r.setBy[part] {
		by = append(by, phrase.Short(op.PlanID))
	}
	return []vtable.Cell{
		{Text: strconv.Itoa(int(part))}, {Text: figures.Group(boundary)}, {Text: start}, {Text: end},
		{Text: state, Tone: tone}, {Text: strings.Join(by, ", ")},
	}
}
