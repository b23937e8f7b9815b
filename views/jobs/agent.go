package jobs

import (
	"fmt"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/vtable"
	"github.com/recoverctl/recoverctl/views/job"
	"github.com/recoverctl/recoverctl/views/overview"
	"github.com/recoverctl/recoverctl/views/phrase"
)

// agent is a job of Flink Agents.
type agent struct {
	*Screen
	job    inspect.Job
	reader *overview.Reader
}

func (a *agent) read() tui.Cmd           { return a.reader.Read() }
func (a *agent) take(msg tui.Msg) bool   { return a.reader.Take(msg) }
func (a *agent) renew() bool             { return a.reader.Renew() }
func (a *agent) at() time.Time           { return a.reader.Reading.At }
func (a *agent) open() tui.Screen        { return job.New(a.about()) }
func (a *agent) commands() []tui.Command { return job.Commands(a.about()) }

// about is what the screens of the job need, with what is known of it.
func (a *agent) about() job.Options {
	o := a.options
	return job.Options{
		Theme: o.Theme, Now: o.Now, Job: a.job, Source: o.Source, Reading: a.reader.Reading, LiveEvery: o.LiveEvery,
		Plans: o.Plans, Settings: o.Settings, Rollbacks: o.Rollbacks, Guides: o.Guides, FindKey: o.FindKey, Records: o.Records,
	}
}

func (a *agent) cells() []vtable.Cell {
	th, reading := a.options.Theme, a.reader.Reading
	name := vtable.Cell{Text: phrase.Job(a.job)}
	if !reading.Known() {
		return a.unread(name, a.reader.Busy())
	}
	live, liveTone := reading.Live()
	if live == phrase.NotRead {
		live = "not read"
	}
	boundary, boundaryTone := reading.Boundary()
	risk, riskTone := reading.AtRisk()
	cells := map[kind]vtable.Cell{
		ofName: name, ofFindings: findings(th, reading.Problems()), ofLive: {Text: live, Tone: liveTone},
		ofBoundary: {Text: boundary, Tone: boundaryTone}, ofRisk: {Text: risk, Tone: riskTone},
		ofCleanup: {Text: phrase.Operation(reading.Overview.LastOperation, reading.At)}, ofRead: {Text: phrase.Clock(reading.At, reading.At), Tone: theme.Muted},
	}
	if reading.Listed() {
		accepted, rejected, unknown := reading.Verdicts()
		cells[ofAccepted], cells[ofRejected], cells[ofUnknown] = count(accepted, theme.Plain), count(rejected, theme.Error), count(unknown, theme.Warning)
	}
	return a.in(cells)
}

// words are how the job is found: by its topic, by the verdicts among its recovery
// points, and by "failing" where Flink restarts it.
func (a *agent) words() []string {
	reading := a.reader.Reading
	accepted, rejected, unknown := reading.Verdicts()
	words := append([]string{phrase.Safe(a.job.Topic)}, verdictWords(accepted, rejected, unknown)...)
	if _, tone := reading.Live(); tone == theme.Error {
		words = append(words, "failing")
	}
	return words
}

func verdictWords(accepted, rejected, unknown int) []string {
	var words []string
	for _, v := range []struct {
		n    int
		word string
	}{{accepted, "accepted"}, {rejected, "rejected"}, {unknown, "unknown"}} {
		if v.n > 0 {
			words = append(words, v.word)
		}
	}
	return words
}

func (a *agent) detail(width int) []string {
	th, j, reading := a.options.Theme, a.job, a.reader.Reading
	if !reading.Known() && a.reader.Busy() {
		return []string{th.Paint(theme.Muted, phrase.Clip(j.Store.Log()+" "+phrase.Safe(j.Topic)+", recovery points in "+
			phrase.Count(len(j.RecoveryPoints), "place", "places"), width, th.Signs.More))}
	}
	problems := reading.Problems()
	lines := worst(th, problems, width)
	if !reading.Known() {
		if len(problems) > 0 && problems[0].Next != "" {
			lines = append(lines, phrase.Hang("  ", phrase.Safe(problems[0].Next), width)...)
		}
		return lines
	}
	accepted, rejected, unknown := reading.Verdicts()
	live, _ := reading.Live()
	risk, _ := reading.AtRisk()
	facts := []string{
		strings.Join(append([]string{"live state: " + live}, reading.LiveFacts()...), ", "),
	}
	if failure := reading.LastFailure(); failure != "" {
		facts = append(facts, phrase.Clip("last failure "+failure, width-2, th.Signs.More))
	}
	points := fmt.Sprintf("%s: %d accepted, %d rejected, %d unknown (%s)", phrase.Count(len(reading.Overview.Points), "recovery point", "recovery points"),
		accepted, rejected, unknown, reading.Searched())
	if !reading.Listed() {
		points = "recovery points: not known (" + reading.Searched() + ")"
	}
	facts = append(facts,
		"calls at risk: "+risk,
		points,
	)
	read := "read " + phrase.Clock(reading.At, reading.At)
	if j.Store != inspect.StoreFluss { // which has no cleanups
		facts = append(facts, reading.BoundarySentence())
		read = "last cleanup " + phrase.Operation(reading.Overview.LastOperation, reading.At) + ", " + read
	}
	facts = append(facts, read)
	return append(lines, a.muted(facts, width)...)
}

// muted are facts, each wrapped under itself.
func (s *Screen) muted(facts []string, width int) []string {
	var lines []string
	for _, fact := range facts {
		for _, line := range phrase.Hang("  ", fact, width) {
			lines = append(lines, s.options.Theme.Paint(theme.Muted, line))
		}
	}
	return lines
}
