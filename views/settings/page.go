package settings

import (
	"fmt"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// page is the text of the screen: whether it can be applied, each setting, what
// that does, the warnings, how to go on, and then what stays and what is not
// known.
func (s *Screen) page(width int) []string {
	p := &sheet.Page{Theme: s.options.Theme, Width: width}
	switch {
	case !s.known && s.err == nil:
		p.Hang(" ", theme.Plain, "making the plan: "+s.options.words().Making)
		return p.Lines
	case !s.known:
		p.Sign(theme.Error, "there is no plan")
		p.Faults(theme.Error, "", s.err)
		return p.Lines
	case s.made.Needless != "":
		p.Sign(theme.OK, phrase.Safe(s.made.Needless))
		return p.Lines
	}
	r := s.made.Report
	s.head(p)
	facts(p, r.Facts, s.options.words().Column)
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
	s.next(p)
	p.Title("What stays")
	for _, sentence := range r.Stays {
		p.Say(phrase.Safe(sentence))
	}
	steps(p, s.made.Steps)
	p.Title("What nobody knows from here")
	for _, sentence := range r.NotKnown {
		p.Hang(sheet.Indent+"? ", theme.Plain, phrase.Safe(sentence))
	}
	if s.err != nil {
		p.Title("Not everything could be read")
		p.Faults(theme.Warning, "", s.err)
	}
	return p.Lines
}

func (s *Screen) head(p *sheet.Page) {
	r := s.made.Report
	switch n := len(r.Warnings); {
	case r.Refused != nil:
		p.Sign(theme.Error, fmt.Sprintf("apply would refuse this plan now, at %s: %s", phrase.Safe(string(r.Refused.Stage)), phrase.Safe(r.Refused.Problem.Message)))
	case s.made.Unread != nil:
		p.Sign(theme.Warning, "whether apply would refuse this plan is not known: not everything could be read")
	case r.Verdict == actions.Applied:
		p.Sign(theme.OK, "there is nothing left to apply")
	case n > 0:
		p.Sign(theme.Warning, "nothing that was read refuses this plan; "+phrase.Count(n, "warning has", "warnings have")+" to be accepted by name")
	default:
		p.Sign(theme.OK, "nothing that was read refuses this plan")
	}
	if about := s.options.words().About; about != "" {
		p.Hang(sheet.Indent, theme.Plain, about)
	} else {
		p.Hang(sheet.Indent, theme.Plain, "gives topic "+phrase.Safe(r.Target.Name)+" the settings that a cleanup needs")
	}
	p.Hang(sheet.Indent, theme.Muted, phrase.Safe(r.Target.Object)+" id "+phrase.Safe(r.Target.ID)+", cluster "+phrase.Safe(r.Target.Cluster))
	p.Hang(sheet.Indent, theme.Muted, "plan "+phrase.Safe(r.PlanID))
	for _, note := range r.Notes {
		p.Sign(theme.Plain, phrase.Safe(note))
	}
}

// facts are the settings, one row each.
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

// next is how to apply the plan, where that would do anything.
func (s *Screen) next(p *sheet.Page) {
	if s.cannotApply() != "" {
		return
	}
	p.Title("To apply it")
	p.Say("A does it from here, S step by step. Both judge the plan once more, ask for each warning by its name, a reason and a phrase, and only then write.")
	file := phrase.Safe(s.made.File)
	if s.written {
		p.Sign(theme.OK, "the plan is in "+file)
	} else {
		p.Say("Or from a shell: W writes the plan to " + file + "; an existing file is never overwritten. Then:")
	}
	p.Hang(sheet.Indent+"  ", theme.Plain, phrase.Safe(s.made.Apply))
	p.Say("y copies the command.")
}

// steps are what an apply does.
func steps(p *sheet.Page, all []actions.Step) {
	p.Title("Steps of an apply")
	rows := make([][]sheet.Cell, 0, len(all))
	for _, step := range all {
		does := sheet.Cell{Text: "reads"}
		what := step.Reads
		switch {
		case step.Writes != "" && step.NoReturn:
			does, what = sheet.Cell{Text: "writes, NO WAY BACK", Tone: theme.Warning}, step.Writes
		case step.Writes != "":
			does, what = sheet.Cell{Text: "writes", Tone: theme.Warning}, step.Writes
		}
		rows = append(rows, []sheet.Cell{{Text: step.Number}, {Text: step.Title}, does, {Text: phrase.Safe(what)}})
	}
	p.Table([]sheet.Column{{Title: ""}, {Title: "STEP"}, {Title: ""}, {Title: "WHAT"}}, rows)
}
