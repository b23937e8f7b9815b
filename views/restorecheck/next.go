package restorecheck

import (
	"fmt"
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
)

// nearest are the accepted points on both sides, with what a restore from them
// would cost.
func (p *page) nearest(v inspect.RestoreValidation) {
	p.nearby("Accepted and newer  ", v.Newer)
	p.nearby("Accepted and older  ", v.Older)
}

func (p *page) nearby(lead string, n *inspect.Nearby) {
	reading := p.reader.Reading
	if n == nil {
		p.Hang(indent+lead, theme.Plain, fmt.Sprintf("none known (%s, %s)", reading.Searched(), phrase.Clock(reading.At, reading.At)))
		return
	}
	calls := "calls " + phrase.NotScanned
	if at, ok := reading.Find(n.URI); ok && reading.Overview.Points[at].RunsAgain != nil {
		calls = figures.Group(*reading.Overview.Points[at].RunsAgain) + " calls run again"
	}
	p.Hang(indent+lead, theme.Plain, fmt.Sprintf("%s  %s  span %s  %s", p.name(n.URI), phrase.Age(n.Taken, reading.At), figures.Group(n.Span), calls))
}

// next is the command that restores, from this point if it is accepted, else
// from the nearest accepted one. Nothing is offered where none is known.
func (p *page) next(point inspect.PointSummary) {
	uri := point.URI
	if point.Verdict != inspect.Accepted {
		switch v := point.Validation; {
		case v.Newer != nil:
			uri = v.Newer.URI
		case v.Older != nil:
			uri = v.Older.URI
		default:
			p.Sign(theme.Warning, "No accepted point is known. "+p.elsewhere()+"; do not start the job without state before you know which calls run again.")
			return
		}
	}
	running := phrase.Job(p.job)
	if live := p.reader.Reading.Overview.Live; live != nil && live.JobID != "" {
		running += fmt.Sprintf(" (job %s, %s)", phrase.Safe(live.JobID), phrase.Safe(live.State))
	}
	p.Hang(indent, theme.Title, fmt.Sprintf("To restore from %s: stop %s, then", p.name(uri), running))
	if at, ok := p.reader.Reading.Find(uri); ok && uri != point.URI {
		if v := p.reader.Reading.Overview.Points[at].Validation; len(v.Runtime) == 1 {
			p.otherwise(v)
		}
	}
	argument, ok := shellWord(uri)
	if !ok {
		p.Sign(theme.Warning, "Its URI holds characters that can't be shown as they are, so no command is offered: recoverctl inspect points -o json prints it exactly.")
		return
	}
	p.command = "flink run -s " + argument
	p.Hang(indent+"  ", theme.Plain, p.command+" [options] JAR")
}

// elsewhere is where an accepted point may come from.
func (p *page) elsewhere() string {
	if _, _, unknown := p.reader.Reading.Verdicts(); unknown > 0 {
		return "Some are unknown: make readable what could not be read, then r"
	}
	return "Look for recovery points in other places"
}

// shellWord is uri as one word of a shell. False: it holds what a terminal may
// not be shown, and what is shown would be another URI.
func shellWord(uri string) (string, bool) {
	if phrase.Copied(uri) == "" {
		return "", false
	}
	plain := strings.IndexFunc(uri, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-", r)
	}) < 0
	if plain {
		return uri, true
	}
	return "'" + strings.ReplaceAll(uri, "'", `'\''`) + "'", true
}
