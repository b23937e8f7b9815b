package plan

import (
	"strings"

	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
)

// calls are the durable calls that depend on what is deleted, and those that run
// again from each point, now and afterwards.
func (p *page) calls() {
	c := p.made.Report.Calls
	if c == nil {
		p.Hang(label("CALLS"), theme.Muted, phrase.NotScanned)
		return
	}
	var below []string
	for _, n := range []struct {
		n    int64
		word string
	}{{c.Pending, "pending"}, {c.Overwritten, "overwritten"}, {c.Saved, "with a saved result"}, {c.Completed, "of completed actions"}} {
		if n.n > 0 {
			below = append(below, figures.Group(n.n)+" "+n.word)
		}
	}
	text, tone := "none that was found depends on what is deleted", theme.Plain
	if len(below) > 0 {
		text, tone = "in what is deleted: "+strings.Join(below, ", ")+". Any restore makes them again", theme.Warning
	}
	p.Hang(label("CALLS"), tone, text+" ("+figures.Group(c.Records)+" records scanned)")
	var again []string
	for _, point := range c.Points {
		now := point.Known()
		if now == nil {
			continue
		}
		text := p.pointName(point.Point) + " " + figures.Group(*now)
		if point.Later != nil && point.Later.Known() != nil && *point.Later.Known() != *now {
			text += ", after the plan " + figures.Group(*point.Later.Known())
		}
		again = append(again, text)
	}
	if len(again) > 0 {
		p.Hang(label("RUN AGAIN FROM"), theme.Plain, strings.Join(again, "; "))
	}
}

// pointName is what a point is called on the page.
func (p *page) pointName(uri string) string {
	if name, ok := p.names[uri]; ok {
		return name
	}
	return phrase.Last(uri)
}
