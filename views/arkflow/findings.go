package arkflow

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/vtable"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// Findings is the screen of the decision table: the rows that hold and, on request,
// those that were asked and do not, and those that could not be asked.
type Findings struct {
	options   Options
	crumb     string
	at        time.Time
	decisions []arkflow.Decision
	unchecked []string

	all   bool
	shown []arkflow.Decision
	table *vtable.Table
	size  tui.Size
}

// findingColumns name the subject where there are several.
func findingColumns(decisions []arkflow.Decision) []vtable.Column {
	columns := []vtable.Column{
		{Title: "ROW", Min: len("17a")},
		{Title: "OUTCOME", Min: len("! warning")},
	}
	if several(decisions) {
		columns = append(columns, vtable.Column{Title: "OF", Max: 32})
	}
	return append(columns, vtable.Column{Title: "WHAT IS SO", Min: 20, Flex: 1})
}

func several(decisions []arkflow.Decision) bool {
	return slices.ContainsFunc(decisions, func(d arkflow.Decision) bool { return d.Subject != decisions[0].Subject })
}

func newFindings(o Options, crumb string, at time.Time, decisions []arkflow.Decision, unchecked []string) *Findings {
	s := &Findings{options: o, crumb: crumb, at: at, decisions: decisions, unchecked: unchecked}
	s.table = vtable.New(o.Theme, findingColumns(decisions), findingRows{s})
	s.take()
	return s
}

// take orders the rows: the worst that hold first, then those that were not asked,
// then those that do not hold.
func (s *Findings) take() {
	s.shown = nil
	for _, severity := range []inspect.Severity{inspect.SeverityError, inspect.SeverityWarning, inspect.SeverityInfo} {
		for _, d := range s.decisions {
			if d.Outcome == arkflow.Holds && d.Severity == severity {
				s.shown = append(s.shown, d)
			}
		}
	}
	if s.all {
		s.shown = slices.Concat(s.shown, arkflow.That(s.decisions, arkflow.NotChecked), arkflow.That(s.decisions, arkflow.Clear))
	}
	s.table.SetSource(findingRows{s})
}

// Init implements tui.Screen: all was read before.
func (s *Findings) Init() tui.Cmd { return nil }

// Update implements tui.Screen.
func (s *Findings) Update(tui.Msg) tui.Cmd { return nil }

// Crumb implements tui.Screen.
func (s *Findings) Crumb() string { return s.crumb }

// Status implements tui.Screen.
func (s *Findings) Status() tui.Status { return tui.Status{ReadAt: s.at} }

// Commands implements tui.Commander.
func (s *Findings) Commands() []tui.Command { return s.options.commands() }

// Resize implements tui.Resizer.
func (s *Findings) Resize(size tui.Size) {
	s.size = size
	s.table.Resize(tui.Size{Width: size.Width, Height: max(size.Height-len(s.head(size.Width))-1, 0)})
}

// head counts the rows.
func (s *Findings) head(width int) []string {
	p := &sheet.Page{Theme: s.options.Theme, Width: width}
	holding := arkflow.Findings(s.decisions)
	switch text := phrase.BySeverity(holding); {
	case len(s.decisions) == 0:
		p.Sign(theme.Warning, "no row of the decision table was asked")
	case text == "":
		p.Sign(theme.OK, "no row of the decision table holds")
	default:
		p.Hang(" ", theme.Title, text)
	}
	rest := fmt.Sprintf("%s asked and not so, %s not asked", phrase.Count(len(arkflow.That(s.decisions, arkflow.Clear)), "row", "rows"), phrase.Count(len(arkflow.That(s.decisions, arkflow.NotChecked)), "row", "rows"))
	if !s.all {
		rest += ": a shows them"
	}
	p.Hang(" ", theme.Muted, rest)
	if n := len(s.unchecked); n > 0 {
		p.Clipped(theme.Warning, "not read: "+phrase.Safe(strings.Join(s.unchecked, "; ")))
	}
	return p.Lines
}

// View implements tui.Screen.
func (s *Findings) View(size tui.Size) string {
	lines := append(s.head(size.Width), "")
	if len(s.shown) > 0 {
		lines = append(lines, s.table.View(tui.Size{Width: size.Width, Height: max(size.Height-len(lines), 0)}))
	}
	return strings.Join(lines, "\n")
}

// Keys implements tui.Screen.
func (s *Findings) Keys() []tui.Key {
	help := "all rules"
	if s.all {
		help = "fewer rules"
	}
	keys := []tui.Key{
		{Keys: []string{"enter"}, Help: "open", Disabled: s.none, Run: func() tui.Cmd {
			d, _ := s.selected()
			return tui.Push(newDecision(s.options, s.at, d))
		}},
		{Keys: []string{"a"}, Help: help, Run: func() tui.Cmd {
			s.all = !s.all
			s.take()
			return nil
		}},
		tui.CopyKey(func() (what, text string) {
			d, ok := s.selected()
			if !ok {
				return "the finding", ""
			}
			return "the finding", ticket(d)
		}),
	}
	return append(keys, s.table.Keys()...)
}

func (s *Findings) none() string {
	if _, ok := s.selected(); !ok {
		return "no row is selected"
	}
	return ""
}

func (s *Findings) selected() (arkflow.Decision, bool) {
	at, ok := s.table.Cursor()
	if !ok || at >= len(s.shown) {
		return arkflow.Decision{}, false
	}
	return s.shown[at], true
}

// ticket is a row for a ticket.
func ticket(d arkflow.Decision) string {
	lines := []string{outcomeWord(d) + " " + d.Rule + " (" + d.Subject + "): " + d.Sentence}
	for _, e := range d.Evidence {
		lines = append(lines, "  evidence: "+e)
	}
	if d.Outcome == arkflow.Holds {
		lines = append(lines, "  next: "+d.Action)
	}
	for i, line := range lines {
		lines[i] = phrase.Safe(line)
	}
	return strings.Join(lines, "\n") + "\n"
}

func outcomeWord(d arkflow.Decision) string {
	switch d.Outcome {
	case arkflow.Holds:
		return string(d.Severity)
	case arkflow.Clear:
		return "not so"
	default:
		return "not asked"
	}
}

func outcomeTone(d arkflow.Decision) theme.Tone {
	switch d.Outcome {
	case arkflow.Holds:
		return phrase.Tone(d.Severity)
	case arkflow.Clear:
		return theme.Muted
	default:
		return theme.Warning
	}
}

// findingRows are the rows that are shown.
type findingRows struct{ *Findings }

func (r findingRows) Len() int        { return len(r.shown) }
func (r findingRows) ID(i int) string { return r.shown[i].Row + " " + r.shown[i].Subject }

func (r findingRows) Row(i int) []vtable.Cell {
	d := r.shown[i]
	tone := outcomeTone(d)
	word := outcomeWord(d)
	if d.Outcome == arkflow.Holds {
		word = strings.TrimLeft(r.options.Theme.Sign(tone)+" "+word, " ")
	}
	cells := []vtable.Cell{{Text: d.Row}, {Text: word, Tone: tone}}
	if several(r.decisions) {
		cells = append(cells, vtable.Cell{Text: phrase.Safe(d.Subject)})
	}
	return append(cells, vtable.Cell{Text: phrase.Safe(d.Sentence)})
}

// Words implements vtable.Worder.
func (r findingRows) Words(i int) []string {
	d := r.shown[i]
	return []string{phrase.Safe(d.Rule), phrase.Safe(d.Condition), phrase.Safe(d.Action)}
}

// Detail is the whole row; enter shows it alone where it is longer than the screen.
func (r findingRows) Detail(i int) []string {
	p := &sheet.Page{Theme: r.options.Theme, Width: max(r.size.Width-4, 1)}
	writeDecision(p, r.shown[i])
	if room := r.size.Height - len(r.head(r.size.Width)) - 4; len(p.Lines) > room && room > 0 {
		p.Lines = append(p.Lines[:room-1], p.Theme.Paint(theme.Muted, p.Theme.Signs.More+" enter shows all of it"))
	}
	return p.Lines
}

// writeDecision is what a row asked, what it came to and what to do.
func writeDecision(p *sheet.Page, d arkflow.Decision) {
	tone := outcomeTone(d)
	p.Hang(" ", tone, phrase.Safe(d.Sentence))
	for _, e := range d.Evidence {
		p.Hang(sheet.Indent, theme.Plain, phrase.Safe(e))
	}
	if d.Outcome == arkflow.Holds {
		p.Hang(" ", theme.Plain, phrase.Safe(d.Action))
	}
	p.Hang(" ", theme.Muted, "row "+d.Row+", "+d.Rule+": "+phrase.Safe(d.Condition))
}

// newDecision makes the screen of one row.
func newDecision(o Options, at time.Time, d arkflow.Decision) tui.Screen {
	return newPage(o.Theme, d.Rule, func() time.Time { return at }, func(p *sheet.Page) {
		p.Hang(" ", theme.Title, phrase.Safe(d.Subject))
		p.Blank()
		writeDecision(p, d)
	}, func() []tui.Key {
		return []tui.Key{tui.CopyKey(func() (what, text string) { return "the finding", ticket(d) })}
	})
}
