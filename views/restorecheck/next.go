package restorecheck

import (
	"fmt"

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
	if n.RunsAgain != nil {
		calls = figures.Group(*n.RunsAgain) + " calls run again"
	}
	p.Hang(indent+lead, theme.Plain, fmt.Sprintf("%s  %s  span %s  %s", p.name(n.URI), phrase.Age(n.Taken, reading.At), figures.Group(n.Span), calls))
}

// steps are what to do after this answer, as the command line tells it.
func (s *Screen) steps(point inspect.PointSummary) []inspect.NextStep {
	return inspect.NextSteps(s.job, point.Kind, point.Validation, s.reader.Reading.Overview.Live)
}

// next are the steps that every operator can take, from this point if it is
// accepted, else from the nearest accepted one: they stay in sight. What is known
// of the point's neighbour beside its verdict is said with them.
func (p *page) next(point inspect.PointSummary) {
	p.neighbour(point)
	for _, step := range inspect.StepsBy(p.steps(point), inspect.ByHand, inspect.ByCLI) {
		p.step(step)
		if step.By == inspect.ByCLI {
			p.command = step.Command // the last one restores
		}
	}
}

// ways are what to look at first, and the steps for those who don't use Flink's
// own program.
func (p *page) ways(point inspect.PointSummary) {
	steps := inspect.StepsBy(p.steps(point), inspect.ByLooking, inspect.ByREST, inspect.ByKubernetes)
	if len(steps) == 0 {
		return
	}
	p.Blank()
	for _, step := range steps {
		p.step(step)
	}
}

func (p *page) step(step inspect.NextStep) {
	tone := theme.Title
	if step.By != inspect.ByCLI {
		tone = theme.Plain
	}
	p.Hang(indent, tone, phrase.Safe(step.What)+".")
	if step.Command != "" {
		p.Hang(indent+"  ", theme.Plain, phrase.Safe(step.Command))
	}
}

// neighbour warns where the job's release does otherwise with the point that the
// steps lead to.
func (p *page) neighbour(point inspect.PointSummary) {
	v := point.Validation
	to := v.Newer
	if to == nil {
		to = v.Older
	}
	if point.Verdict == inspect.Accepted || to == nil {
		return
	}
	if at, ok := p.reader.Reading.Find(to.URI); ok {
		if v := p.reader.Reading.Overview.Points[at].Validation; len(v.Runtime) == 1 {
			p.otherwise(v)
		}
	}
}
