package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// page is the text of the screen as it grows: whether it can be applied, what
// goes, what is lost before what stays, the warnings, how to go on, and then
// everything that this was judged by.
type page struct {
	*sheet.Page
	made     Made
	names    map[string]string
	settings bool // the palette has SettingsCommand here
}

func (s *Screen) page(width int) []string {
	p := &page{Page: &sheet.Page{Theme: s.options.Theme, Width: width}, made: s.made,
		settings: slices.ContainsFunc(s.options.Commands, func(c tui.Command) bool { return c.Name == SettingsCommand })}
	switch {
	case !s.known && s.err == nil:
		p.Hang(" ", theme.Plain, "making the plan: reading everything that it is judged by")
		return p.Lines
	case !s.known:
		p.Sign(theme.Error, "there is no plan")
		p.Faults(theme.Error, "", s.err)
		return p.Lines
	}
	p.name()
	p.head()
	p.deletes()
	p.fates()
	p.calls()
	p.searched()
	p.warnings()
	p.next(s.written, s.cannotApply())
	p.drift()
	p.steps()
	if len(p.made.Report.Warnings) == 0 { // each of them is a warning otherwise
		p.reasons("Nothing is known of", p.made.Report.Unknown)
	}
	p.reasons("Not restorable before either", p.made.Report.Already)
	p.notKnown()
	if err := s.unread(); err != nil {
		p.Title("Not everything could be read")
		p.Faults(theme.Warning, "", err)
	}
	p.partitions()
	return p.Lines
}

// name gives every point a name of its own.
func (p *page) name() { p.names = namesOf(p.made.Report) }

func namesOf(r actions.Report) map[string]string {
	var points []inspect.PointSummary
	for _, fates := range [][]actions.PointFate{r.Survives, r.Lost, r.Unknown, r.Already} {
		for _, f := range fates {
			points = append(points, inspect.PointSummary{URI: f.URI})
		}
	}
	return phrase.Names(points)
}

func (p *page) head() {
	r := p.made.Report
	switch n := len(r.Warnings); {
	case r.Refused != nil:
		p.Sign(theme.Error, fmt.Sprintf("apply would refuse this plan now, at %s: %s", phrase.Safe(string(r.Refused.Stage)), phrase.Safe(r.Refused.Problem.Message)))
		if p.settings && r.Refused.Problem.Code == "data-topic-config-unsafe" {
			p.Hang(sheet.Indent, theme.Title, ":"+SettingsCommand+" makes the plan that sets exactly what is needed; the same cleanup plan can be applied after it")
		}
	case r.Recorded == inspect.StatusApplied:
		p.Sign(theme.OK, "there is nothing left to apply")
	case p.made.Unjudged != nil:
		p.Sign(theme.Warning, "whether apply would refuse this plan is not known: not everything could be read")
	case n > 0:
		p.Sign(theme.Warning, "nothing that was read refuses this plan; "+phrase.Count(n, "warning has", "warnings have")+" to be accepted by name")
	default:
		p.Sign(theme.OK, "nothing that was read refuses this plan")
	}
	p.Hang(sheet.Indent, theme.Plain, "makes "+phrase.Last(r.SourceRecoveryPoint)+" the oldest restorable point of "+phrase.Safe(r.Topic))
	p.Hang(sheet.Indent, theme.Muted, phrase.Safe(r.SourceRecoveryPoint))
	p.Hang(sheet.Indent, theme.Muted, "plan "+phrase.Safe(r.PlanID))
	for _, note := range r.Notes {
		p.Sign(theme.Plain, phrase.Safe(note))
	}
	p.Blank()
}

// label is a word with the room that all of them have.
func label(word string) string { return sheet.Indent + fmt.Sprintf("%-22s", word) }

// resumed reports whether the plan's boundary is in force, and its log not yet
// recorded as trimmed.
func (p *page) resumed() bool { return p.made.Report.Recorded == inspect.StatusCommitted }

// left are the records that are still there and that finishing destroys.
func (p *page) left() {
	const most = 8
	var parts []int32
	for _, part := range p.made.Report.Deletes.Partitions {
		if part.Span != nil && *part.Span > 0 {
			parts = append(parts, part.Partition)
		}
	}
	if len(parts) == 0 {
		p.Hang(label("STILL IN THE LOG"), theme.Plain, "nothing: the log begins at or past every target that was read; finishing writes APPLIED")
		return
	}
	on := phrase.Count(len(parts), "partition", "partitions") + ": " + figures.Ranges(parts, most)
	p.Hang(label("STILL IN THE LOG"), theme.Warning, "offset span "+figures.Group(p.made.Report.Deletes.Span)+" on "+on+" (records not counted). No restore may read it any more; finishing destroys it.")
}

func (p *page) deletes() {
	d := p.made.Report.Deletes
	if p.resumed() {
		defer p.left()
	}
	if len(d.Unread) == len(d.Partitions) {
		p.Hang(label("DELETES"), theme.Warning, "not known: the log of no partition could be read")
		return
	}
	text := "offset span "
	if len(d.Unread) > 0 {
		text += "at least "
	}
	text += figures.Group(d.Span) + " on " + spread(d) + " (records not counted)"
	if d.Bytes != nil {
		text += ", about " + figures.Bytes(*d.Bytes)
	}
	if d.Oldest != nil {
		text += ", the oldest " + clock.Age(p.made.Report.At.Sub(*d.Oldest))
	}
	p.Hang(label("DELETES"), theme.Plain, text)
}

// spread is how many partitions something is deleted on, of how many.
func spread(d actions.Deletes) string {
	all, n := len(d.Partitions), 0
	for _, part := range d.Partitions {
		if part.Span == nil || *part.Span > 0 {
			n++
		}
	}
	if n == all || n == 0 {
		return phrase.Count(all, "partition", "partitions")
	}
	return figures.Group(int64(n)) + " of " + phrase.Count(all, "partition", "partitions")
}

func (p *page) fates() {
	r := p.made.Report
	switch {
	case p.resumed():
		p.each("REJECTED ALREADY", theme.Error, r.Lost, "none of the points that were found")
	case r.Recorded == inspect.StatusApplied:
		p.each("UNRESTORABLE BY IT", theme.Muted, r.Lost, "none of the points that were found")
	default:
		p.each("BECOMES UNRESTORABLE", theme.Error, r.Lost, "none of the points that were found")
	}
	p.each("NOT KNOWN", theme.Warning, r.Unknown, "")
	kept := "the rule of what must stay is not enforced: see the warnings"
	if r.Keep.Enforced {
		kept = fmt.Sprintf("beside its own, %d stay whole; the profile keeps %d", r.Keep.Others, r.Keep.Required)
	}
	p.Hang(label("STAYS RESTORABLE"), theme.Plain, p.list(r.Survives)+" ("+kept+")")
	if len(r.Already) > 0 {
		p.Hang(label("LOST BEFORE ALREADY"), theme.Muted, p.list(r.Already)+" (why is below)")
	}
}

// each names every point on a line of its own; none: where there is no point, ""
// leaves the line out.
func (p *page) each(word string, tone theme.Tone, fates []actions.PointFate, none string) {
	if len(fates) == 0 && none != "" {
		p.Hang(label(word), theme.Plain, none)
	}
	for i, f := range fates {
		if i > 0 {
			word = ""
		}
		text := p.called(f)
		switch {
		case f.Fate == actions.FateLost && p.resumed():
			text += ": for good, since COMMITTED"
		case f.Fate == actions.FateLost:
			text += ": for good"
		default:
			text += ": counts as lost (why is below)"
		}
		p.Hang(label(word), tone, text)
	}
}

// list names points in one line.
func (p *page) list(fates []actions.PointFate) string {
	if len(fates) == 0 {
		return "none that is known"
	}
	names := make([]string, 0, len(fates))
	for _, f := range fates {
		names = append(names, p.called(f))
	}
	return strings.Join(names, ", ")
}

// reasons says of each point why it is where it is.
func (p *page) reasons(title string, fates []actions.PointFate) {
	if len(fates) == 0 {
		return
	}
	p.Title(title)
	for _, f := range fates {
		p.Hang(sheet.Indent+p.names[f.URI]+": ", theme.Plain, phrase.Safe(f.Message))
	}
}

func (p *page) called(f actions.PointFate) string {
	text := p.names[f.URI] + " " + phrase.Age(f.Taken, p.made.Report.At)
	if f.Taken.Time == nil {
		text = p.names[f.URI]
	}
	if f.Pinned {
		text += " PINNED"
	}
	return text
}

func (p *page) searched() {
	r := p.made.Report
	if len(r.Searched) == 0 {
		p.Hang(label("SEARCHED"), theme.Warning, "no place: which points become unrestorable is not known")
	}
	for i, s := range r.Searched {
		word, tone := "SEARCHED", theme.Plain
		if i > 0 {
			word = ""
		}
		text := fmt.Sprintf("%s, found %d, %s", phrase.Safe(s.Place), s.Found, phrase.Clock(s.At, r.At))
		if s.Problem != "" {
			text, tone = text+": "+phrase.Safe(s.Problem), theme.Warning
		}
		p.Hang(label(word), tone, text)
	}
	p.Hang(label(""), theme.Muted, "Points elsewhere are not known.")
}

func (p *page) warnings() {
	if len(p.made.Report.Warnings) == 0 {
		return
	}
	p.Title("Warnings: each is accepted by its name, or the plan is not applied")
	for _, w := range p.made.Report.Warnings {
		p.Sign(theme.Warning, phrase.Safe(w.Name)+": "+phrase.Safe(w.Message))
	}
}

// next is how to apply the plan, where that would do anything.
func (p *page) next(written bool, why string) {
	if why != "" {
		return
	}
	verb := "apply"
	if p.made.Report.Recorded == inspect.StatusCommitted {
		verb = "finish"
	}
	p.Title("To " + verb + " it")
	p.Say("A does it from here, S step by step. Both judge the plan once more, ask for each warning by its name, a reason and a phrase, and only then write.")
	file := phrase.Safe(p.made.File)
	if written {
		p.Sign(theme.OK, "the plan is in "+file)
	} else {
		p.Say("Or from a shell: W writes the plan to " + file + "; an existing file is never overwritten. Then:")
	}
	if p.made.Apply == "" {
		p.Sign(theme.Warning, "A name in the command holds characters that can't be shown as they are, so no command is offered: see recoverctl apply --help.")
		return
	}
	p.Hang(sheet.Indent+"  ", theme.Plain, p.made.Apply)
	p.Say("y copies the command.")
}

func (p *page) drift() {
	if len(p.made.Drift) == 0 {
		return
	}
	p.Title("Drift since the plan")
	for _, d := range p.made.Drift {
		tone, allowed := theme.Error, ""
		if d.Allowed {
			tone, allowed = theme.Plain, " (allowed)"
		}
		p.Sign(tone, phrase.Safe(d.Field)+": "+phrase.Safe(d.Message)+allowed)
	}
}

func (p *page) notKnown() {
	p.Title("What nobody knows from here")
	for _, sentence := range p.made.Report.NotKnown {
		p.Hang(sheet.Indent+"? ", theme.Plain, phrase.Safe(sentence))
	}
}

func (p *page) partitions() {
	p.Title("Partitions")
	none := p.Theme.Signs.None
	number := func(n *int64) sheet.Cell {
		if n == nil {
			return sheet.Cell{Text: none}
		}
		return sheet.Cell{Text: figures.Group(*n)}
	}
	d := p.made.Report.Deletes
	rows := make([][]sheet.Cell, 0, len(d.Partitions))
	for _, part := range d.Partitions {
		rows = append(rows, []sheet.Cell{{Text: fmt.Sprint(part.Partition)}, number(part.LogStart), {Text: figures.Group(part.Target)}, number(part.LogEnd), number(part.Span)})
	}
	p.Table([]sheet.Column{
		{Title: "PARTITION", Right: true}, {Title: "LOG START", Right: true}, {Title: "DELETE UP TO", Right: true}, {Title: "LOG END", Right: true}, {Title: "SPAN", Right: true},
	}, rows)
}
