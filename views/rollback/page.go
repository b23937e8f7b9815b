package rollback

import (
	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/document"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// page is the text of a plan: whether it can be applied, what it does, the
// warnings, the steps with the way back of each, how to go on, and then what stays
// and what is not known.
func (s *Screen) page(p *sheet.Page) {
	made, _ := s.Made()
	r := made.Report
	s.Head(p, "rolls job "+phrase.Safe(r.Target.Name)+" back to "+phrase.Safe(s.ask.Point))
	p.Hang(sheet.Indent, theme.Muted, "job id "+phrase.Safe(r.Target.ID)+", JobManager "+phrase.Safe(r.Target.Cluster))
	s.Notes(p)
	s.Does(p)
	s.Next(p, "e gives the program's arguments, i names the jar, z is for a rollback without a safety savepoint, or with one: each makes another plan.")
	steps(p, made.Steps)
	s.Stays(p)
	facts(p, r.Facts)
	s.NotKnown(p)
	handoff(p, made.Handoff)
	s.Unread(p)
}

// steps are what an apply does, each with what its failure would mean.
func steps(p *sheet.Page, all []actions.Step) {
	p.Title("Steps of an apply, and the way back of each")
	rows := make([][]sheet.Cell, 0, len(all))
	for _, step := range all {
		rows = append(rows, []sheet.Cell{{Text: step.Number}, {Text: step.Title}, document.Writes(step), {Text: phrase.Safe(step.OnFailure)}})
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
