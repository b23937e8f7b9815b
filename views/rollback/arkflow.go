package rollback

import (
	"fmt"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/document"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// NewArkFlow makes the screen of a plan that takes a job of ArkFlow to a lower
// version. Its point is what was looked at: nobody can choose one, and the page says
// so where the hub restores another.
func NewArkFlow(o Options) *Screen {
	s := &Screen{source: o.Source, ask: Ask{Point: o.Point, Version: o.Version}}
	s.Screen = document.New(document.Options{
		Theme: o.Theme, Job: o.Job, Source: asking{o.Source, s.ask}, Commands: o.Commands, Page: s.arkflowPage,
		Words: document.Words{
			Plan: "rollback plan", Action: "Roll back", Button: "Roll back",
			Making:  fmt.Sprintf("reading the job, its versions and the objects of its recovery points, for a rollback to version %d", o.Version),
			None:    "Nothing was sent. r asks again; the job's screen shows its versions and what a start of each would restore.",
			Done:    "the job is rolled back as planned already",
			Applied: "the job is rolled back as planned",
		},
	})
	return s
}

// arkflowPage is the text of a plan: whether it can be applied, what changes, what
// it does, the warnings, how to go on, the steps with the way back of each, what
// stays and what nobody knows.
func (s *Screen) arkflowPage(p *sheet.Page) {
	made, _ := s.Made()
	r := made.Report
	point := after(r.Facts, actions.FactRestoredFrom)
	s.Head(p, "takes job "+phrase.Safe(r.Target.Name)+" from version "+before(r.Facts, actions.FactVersion)+" to "+after(r.Facts, actions.FactVersion)+", restored from "+point)
	p.Hang(sheet.Indent, theme.Muted, "hub "+phrase.Safe(r.Target.Cluster))
	if asked := phrase.Safe(s.ask.Point); asked != "" && asked != point {
		p.Sign(theme.Warning, "You looked at "+asked+", and the hub restores "+point+": nobody can choose the point.")
	}
	s.Body(p)
}

// before and after are the sides of a fact of the plan.
func before(all []actions.FactVerdict, name string) string {
	return sideOf(all, name, func(f actions.FactVerdict) *string { return f.Before })
}

func after(all []actions.FactVerdict, name string) string {
	return sideOf(all, name, func(f actions.FactVerdict) *string { return f.After })
}

func sideOf(all []actions.FactVerdict, name string, of func(actions.FactVerdict) *string) string {
	for _, f := range all {
		if side := of(f); f.Name == name && side != nil {
			return phrase.Safe(*side)
		}
	}
	return "?"
}
