package rollback

import (
	"fmt"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// page is the text of the screen: whether it can be applied, what it does, the
// warnings, the steps with the way back of each, how to go on, and then what stays
// and what is not known.
func (s *Screen) page(width int) []string {
	p := &sheet.Page{Theme: s.options.Theme, Width: width}
	switch {
	case !s.known && s.err == nil:
		p.Hang(" ", theme.Plain, "making the plan: judging "+phrase.Safe(s.ask.Point)+", and asking Flink for the job and its jars")
		return p.Lines
	case !s.known:
		p.Sign(theme.Error, "there is no plan")
		p.Faults(theme.Error, "", s.err)
		p.Say("e gives the program's arguments, i names the jar, r asks again.")
		return p.Lines
	}
	r := s.made.Report
	s.head(p)
	p.Title("What applying it does")
	for _, sentence := range r.Does {
		p.Say(phrase.Safe(sentence))
	}
	if len(r.Warnings) > 0 {
		p.Title("Warnings: each is accepted by its name, or the plan is not applied")
		for _, w := range r.Warnings {
			p.Sign(theme.Warning, phrase.Safe(w.Name)+": "+phrase.Safe(w.Message))
		}
	}
	s.next(p)
	steps(p, s.made.Steps)
	p.Title("What stays")
	for _, sentence := range r.Stays {
		p.Say(phrase.Safe(sentence))
	}
	facts(p, r.Facts)
	p.Title("What nobody knows from here")
	for _, sentence := range r.NotKnown {
		p.Hang(sheet.Indent+"? ", theme.Plain, phrase.Safe(sentence))
	}
	handoff(p, s.made.Handoff)
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
		p.Sign(theme.OK, "the job is rolled back as planned; :live shows its new history")
	case n > 0:
		p.Sign(theme.Warning, "nothing that was read refuses this plan; "+phrase.Count(n, "warning has", "warnings have")+" to be accepted by name")
	default:
		p.Sign(theme.OK, "nothing that was read refuses this plan")
	}
	p.Hang(sheet.Indent, theme.Plain, "rolls job "+phrase.Safe(r.Target.Name)+" back to "+phrase.Safe(s.ask.Point))
	p.Hang(sheet.Indent, theme.Muted, "job id "+phrase.Safe(r.Target.ID)+", JobManager "+phrase.Safe(r.Target.Cluster))
	p.Hang(sheet.Indent, theme.Muted, "plan "+phrase.Safe(r.PlanID))
	for _, note := range r.Notes {
		p.Sign(theme.Plain, phrase.Safe(note))
	}
}

// next is how to apply the plan, where that would do anything.
func (s *Screen) next(p *sheet.Page) {
	if s.cannotApply() != "" {
		return
	}
	p.Title("To apply it")
	p.Say("A does it from here, S step by step. Both judge the plan once more, ask for each warning by its name, a reason and a phrase, and only then write.")
	p.Say("e gives the program's arguments, i names the jar, z is for a rollback without a safety savepoint, or with one: each makes another plan.")
	file := phrase.Safe(s.made.File)
	if s.written {
		p.Sign(theme.OK, "the plan is in "+file)
	} else {
		p.Say("Or from a shell: W writes the plan to " + file + "; an existing file is never overwritten. Then:")
	}
	p.Hang(sheet.Indent+"  ", theme.Plain, phrase.Safe(s.made.Apply))
	p.Say("y copies the command.")
}

// steps are what an apply does, each with what its failure would mean.
func steps(p *sheet.Page, all []actions.Step) {
	p.Title("Steps of an apply, and the way back of each")
	rows := make([][]sheet.Cell, 0, len(all))
	for _, step := range all {
		does := sheet.Cell{Text: "reads"}
		switch {
		case step.Writes != "" && step.NoReturn:
			does = sheet.Cell{Text: "writes, NO WAY BACK", Tone: theme.Warning}
		case step.Writes != "":
			does = sheet.Cell{Text: "writes", Tone: theme.Warning}
		}
		rows = append(rows, []sheet.Cell{{Text: step.Number}, {Text: step.Title}, does, {Text: phrase.Safe(step.OnFailure)}})
	}
	p.Table([]sheet.Column{{Title: ""}, {Title: "STEP"}, {Title: ""}, {Title: "IF IT FAILS"}}, rows)
}

// facts are what the plan changes, one row each.
func facts(p *sheet.Page, all []actions.FactVerdict) {
	none := p.Theme.Signs.None
	side := func(value *string) string {
		if value == nil {
			return none
		}
		return phrase.Safe(*value)
	}
	rows := make([][]sheet.Cell, 0, len(all))
	for _, f := range all {
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

// handoff are the commands for somebody who carries it out without this program.
func handoff(p *sheet.Page, h actions.Handoff) {
	if len(h.Steps) == 0 {
		return
	}
	p.Title("The same without this program: one of these ways")
	for _, way := range []struct {
		by    inspect.StepBy
		title string
	}{{inspect.ByCLI, "Flink's own program"}, {inspect.ByREST, "by REST"}, {inspect.ByKubernetes, "the Flink Kubernetes operator"}} {
		p.Say(way.title + ":")
		for _, step := range inspect.StepsBy(h.Steps, way.by) {
			p.Hang(sheet.Indent+"  # ", theme.Muted, phrase.Safe(step.What))
			p.Hang(sheet.Indent+"  ", theme.Plain, phrase.Safe(step.Command))
		}
	}
}
