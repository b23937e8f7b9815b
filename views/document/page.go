package document

import (
	"cmp"
	"fmt"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// page is the text of the screen: that of the plan, or why there is none.
func (s *Screen) page(width int) []string {
	p := &sheet.Page{Theme: s.options.Theme, Width: width}
	switch {
	case !s.known && s.err == nil:
		p.Hang(" ", theme.Plain, "making the plan: "+s.options.Words.Making)
	case !s.known:
		p.Sign(theme.Error, "there is no plan")
		p.Faults(theme.Error, "", s.err)
		if none := s.options.Words.None; none != "" {
			p.Say(none)
		}
	case s.made.Needless != "":
		p.Sign(theme.OK, phrase.Safe(s.made.Needless))
	case s.options.Page != nil:
		s.options.Page(p)
	default:
		s.plain(p)
	}
	return p.Lines
}

// plain is the page of a plan: whether it can be applied, each thing that it
// changes, what that does, the warnings, how to go on, and then what stays and what
// is not known.
func (s *Screen) plain(p *sheet.Page) {
	r := s.made.Report
	s.Head(p, s.options.Words.About)
	p.Hang(sheet.Indent, theme.Muted, cmp.Or(s.options.Words.ID, phrase.Safe(r.Target.Object)+" id")+" "+phrase.Safe(r.Target.ID)+", cluster "+phrase.Safe(r.Target.Cluster))
	s.Notes(p)
	facts(p, r.Facts, s.options.Words.Column)
	s.Does(p)
	s.Next(p, "")
	s.Stays(p)
	steps(p, s.made.Steps)
	s.NotKnown(p)
	s.Unread(p)
}

// Body is what follows the head of a plan whose facts have a state and no source: what
// changes, what that does, the warnings, how to go on, the steps with the way back of
// each, and then what stays and what is not known.
func (s *Screen) Body(p *sheet.Page) {
	s.Notes(p)
	s.Changes(p)
	s.Does(p)
	s.Next(p, "")
	s.WayBack(p)
	s.Stays(p)
	s.NotKnown(p)
	s.Unread(p)
}

// Head is whether the plan can be applied, and what it does in a sentence.
func (s *Screen) Head(p *sheet.Page, about string) {
	r := s.made.Report
	switch n := len(r.Warnings); {
	case r.Refused != nil:
		p.Sign(theme.Error, fmt.Sprintf("apply would refuse this plan now, at %s: %s", phrase.Safe(string(r.Refused.Stage)), phrase.Safe(r.Refused.Problem.Message)))
	case s.made.Unread != nil:
		p.Sign(theme.Warning, "whether apply would refuse this plan is not known: not everything could be read")
	case r.Verdict == actions.Applied:
		p.Sign(theme.OK, cmp.Or(s.options.Words.Applied, "there is nothing left to apply"))
	case n > 0:
		p.Sign(theme.Warning, "nothing that was read refuses this plan; "+phrase.Count(n, "warning has", "warnings have")+" to be accepted by name")
	default:
		p.Sign(theme.OK, "nothing that was read refuses this plan")
	}
	p.Hang(sheet.Indent, theme.Plain, about)
}

// Notes are the plan's id and what else is to be known of it.
func (s *Screen) Notes(p *sheet.Page) {
	p.Hang(sheet.Indent, theme.Muted, "plan "+phrase.Safe(s.made.Report.PlanID))
	for _, note := range s.made.Report.Notes {
		p.Sign(theme.Plain, phrase.Safe(note))
	}
}

// Does is what applying the plan does, and its warnings.
func (s *Screen) Does(p *sheet.Page) {
	r := s.made.Report
	p.Title("What applying it does")
	for _, sentence := range r.Does {
		p.Say(phrase.Safe(sentence))
	}
	if r.NextStart != "" {
		p.Title("What the next start does then")
		p.Say(phrase.Safe(r.NextStart))
	}
	if len(r.Warnings) > 0 {
		p.Title("Warnings: each is accepted by its name, or the plan is not applied")
		for _, w := range r.Warnings {
			p.Sign(theme.Warning, phrase.Safe(w.Name)+": "+phrase.Safe(w.Message))
		}
	}
}

// Stays is what an apply leaves as it is.
func (s *Screen) Stays(p *sheet.Page) {
	p.Title("What stays")
	for _, sentence := range s.made.Report.Stays {
		p.Say(phrase.Safe(sentence))
	}
}

// NotKnown is what nobody knows from here.
func (s *Screen) NotKnown(p *sheet.Page) {
	p.Title("What nobody knows from here")
	for _, sentence := range s.made.Report.NotKnown {
		p.Hang(sheet.Indent+"? ", theme.Plain, phrase.Safe(sentence))
	}
}

// Unread is what could not be read; nothing where all was.
func (s *Screen) Unread(p *sheet.Page) {
	if s.err != nil {
		p.Title("Not everything could be read")
		p.Faults(theme.Warning, "", s.err)
	}
}

// facts are what the plan changes, one row each.
func facts(p *sheet.Page, all []actions.FactVerdict, column string) {
	p.Blank()
	none := p.Theme.Signs.None
	side := func(value *string, source string) string {
		switch {
		case value == nil:
			return none
		case source == "":
			return phrase.Safe(*value)
		default:
			return phrase.Safe(actions.ValueFrom(*value, source))
		}
	}
	rows := make([][]sheet.Cell, 0, len(all))
	for _, f := range all {
		state, tone := "to be set", theme.Plain
		if f.After == nil {
			state = "to be removed"
		}
		switch f.State {
		case actions.FactPlanned:
			state, tone = "as planned", theme.OK
		case actions.FactOther:
			state, tone = "CHANGED SINCE", theme.Error
		case actions.FactUnread:
			state, tone = "not read", theme.Warning
		}
		rows = append(rows, []sheet.Cell{{Text: phrase.Safe(f.Name)}, {Text: state, Tone: tone}, {Text: side(f.After, "")}, {Text: side(f.Now, f.NowSource)}})
	}
	p.Table([]sheet.Column{{Title: column}, {Title: "STATE"}, {Title: "BECOMES"}, {Title: "NOW"}}, rows)
}

// Next is how to apply the plan, where that would do anything. More is another
// sentence about the keys; empty: none.
func (s *Screen) Next(p *sheet.Page, more string) {
	if s.cannotApply() != "" {
		return
	}
	p.Title("To apply it")
	p.Say("A does it from here, S step by step. Both judge the plan once more, ask for each warning by its name, a reason and a phrase, and only then write.")
	if more != "" {
		p.Say(more)
	}
	file := phrase.Safe(s.made.File)
	if s.written {
		p.Sign(theme.OK, "the plan is in "+file)
	} else {
		p.Say("Or from a shell: W writes the plan to " + file + "; an existing file is never overwritten. Then:")
	}
	if s.made.Apply == "" {
		p.Sign(theme.Warning, "A name in the command holds characters that can't be shown as they are, so no command is offered: see recoverctl apply --help.")
		return
	}
	p.Hang(sheet.Indent+"  ", theme.Plain, phrase.Safe(s.made.Apply))
	p.Say("y copies the command.")
}

// steps are what an apply does.
func steps(p *sheet.Page, all []actions.Step) {
	p.Title("Steps of an apply")
	rows := make([][]sheet.Cell, 0, len(all))
	for _, step := range all {
		rows = append(rows, []sheet.Cell{{Text: step.Number}, {Text: step.Title}, Writes(step), {Text: phrase.Safe(cmp.Or(step.Writes, step.Reads))}})
	}
	p.Table([]sheet.Column{{Title: ""}, {Title: "STEP"}, {Title: ""}, {Title: "WHAT"}}, rows)
}

// WayBack is what an apply does, each step with what its failure would mean: for kinds
// of plan whose steps each leave something behind.
func (s *Screen) WayBack(p *sheet.Page) {
	p.Title("Steps of an apply, and the way back of each")
	rows := make([][]sheet.Cell, 0, len(s.made.Steps))
	for _, step := range s.made.Steps {
		rows = append(rows, []sheet.Cell{{Text: step.Number}, {Text: step.Title}, Writes(step), {Text: phrase.Safe(step.OnFailure)}})
	}
	p.Table([]sheet.Column{{Title: ""}, {Title: "STEP"}, {Title: ""}, {Title: "IF IT FAILS"}}, rows)
}

// Changes are what the plan changes, one row each, of things that have a state and no
// source.
func (s *Screen) Changes(p *sheet.Page) {
	none := p.Theme.Signs.None
	side := func(value *string) string {
		if value == nil {
			return none
		}
		return phrase.Safe(*value)
	}
	facts := s.made.Report.Facts
	rows := make([][]sheet.Cell, 0, len(facts))
	for _, f := range facts {
		state, tone := "as found", theme.Plain
		switch f.State {
		case actions.FactPlanned:
			state, tone = "as planned", theme.OK
		case actions.FactOther:
			state, tone = "CHANGED SINCE", theme.Error
		case actions.FactUnread:
			state, tone = "not known", theme.Warning
		}
		rows = append(rows, []sheet.Cell{{Text: phrase.Safe(f.Name)}, {Text: state, Tone: tone}, {Text: side(f.Now)}, {Text: side(f.After)}})
	}
	p.Title("What it changes")
	p.Table([]sheet.Column{{Title: "FACT"}, {Title: "STATE"}, {Title: "NOW"}, {Title: "BECOMES"}}, rows)
}

// Writes is whether a step writes, as a cell.
func Writes(step actions.Step) sheet.Cell {
	switch {
	case step.Writes != "" && step.NoReturn:
		return sheet.Cell{Text: "writes, NO WAY BACK", Tone: theme.Warning}
	case step.Writes != "":
		return sheet.Cell{Text: "writes", Tone: theme.Warning}
	default:
		return sheet.Cell{Text: "reads"}
	}
}
