package guide

import (
	"fmt"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// page is the text of the screen: how far it is, each step, what the procedure is
// for, and what could not be read. Of a step that is done only the evidence is
// told.
func (s *Screen) page(width int) []string {
	p := &sheet.Page{Theme: s.options.Theme, Width: width}
	r := s.report
	p.Hang(" ", theme.Title, r.Title)
	s.progress(p)
	for _, step := range r.Steps {
		p.Blank()
		s.step(p, step)
	}
	p.Title("When this is for")
	p.Say(r.When)
	if s.err != nil {
		p.Title("Not everything could be read")
		p.Faults(theme.Warning, "", s.err)
	}
	return p.Lines
}

// progress says how many steps are done, and which one is next.
func (s *Screen) progress(p *sheet.Page) {
	if !s.known {
		if s.busy {
			p.Hang(sheet.Indent, theme.Plain, "asking the systems: nothing is known of any step yet")
		}
		return
	}
	count := map[actions.GuideState]int{}
	for _, step := range s.report.Steps {
		count[step.State]++
	}
	text := fmt.Sprintf("%d of %d steps are done, %d open, %d unknown", count[actions.GuideDone], len(s.report.Steps), count[actions.GuideOpen], count[actions.GuideUnknown])
	next, found := s.next()
	if !found {
		p.Sign(theme.OK, text+": every step that can be seen from here is done")
		return
	}
	p.Hang(sheet.Indent, theme.Plain, fmt.Sprintf("%s; next is step %d, %s", text, next.Number, phrase.Safe(next.Title)))
}

func (s *Screen) step(p *sheet.Page, step actions.GuideStep) {
	title := fmt.Sprintf("%d. %s", step.Number, phrase.Safe(step.Title))
	if s.known && step.Name == s.report.Next {
		title += " (next)"
	}
	if !s.known {
		p.Hang(sheet.Indent, theme.Plain, title)
	} else {
		p.Sign(tones[step.State], fmt.Sprintf("%s: %s", title, step.State))
		p.Hang(sheet.Indent+sheet.Indent, theme.Plain, phrase.Safe(step.Evidence))
	}
	if step.State == actions.GuideDone {
		return
	}
	p.Hang(sheet.Indent+sheet.Indent, theme.Muted, phrase.Safe(step.Do))
	for _, command := range step.Commands {
		p.Hang(sheet.Indent+sheet.Indent+"$ ", theme.Plain, phrase.Safe(command))
	}
}

// tones mark steps. An open one is no fault.
var tones = map[actions.GuideState]theme.Tone{actions.GuideDone: theme.OK, actions.GuideOpen: theme.Plain, actions.GuideUnknown: theme.Warning}
