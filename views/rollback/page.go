package rollback

import (
	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui/theme"
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
	s.WayBack(p)
	s.Stays(p)
	s.Changes(p)
	s.NotKnown(p)
	handoff(p, made.Handoff)
	s.Unread(p)
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
