package live

import (
	"fmt"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

const indent = sheet.Indent

func (s *Screen) page(width int) *sheet.Page {
	return &sheet.Page{Theme: s.options.Theme, Width: width}
}

// top is what must be seen beside the history: each sentence whole, or in one
// line.
func (s *Screen) top(width int, whole bool) []string {
	p := s.page(width)
	if !s.known() {
		return nil
	}
	live := *s.running.Live
	say := p.Clipped
	if whole {
		say = p.Sign
	}
	if s.older {
		say(theme.Warning, "reading again failed, what is shown is older: "+phrase.Safe(phrase.Faults(s.err)[0].Error()))
	}
	_, tone := phrase.Live(s.running.Source, s.running.Live)
	p.Sign(tone, s.state())
	if cause := phrase.Cause(live, s.readAt); cause != "" {
		say(theme.Plain, "last failure "+cause)
	}
	next, nextTone := phrase.NextRestore(live.NextRestore, s.options.Reading.Overview.Points)
	if at, ok := s.nextPoint(); ok && at.Message != "" {
		next += ": " + phrase.Safe(at.Message)
	}
	say(nextTone, next)
	say(theme.Plain, s.how())
	say(theme.Plain, s.counts())
	if len(live.Unread) > 0 {
		say(theme.Warning, "not read: "+phrase.Safe(strings.Join(live.Unread, ", "))+"; tab says why")
	}
	return p.Lines
}

// state is the job's state with what led to it.
func (s *Screen) state() string {
	live := *s.running.Live
	return strings.Join([]string{phrase.LiveFor(live, s.readAt), phrase.Restarts(live), phrase.RestoredFrom(live)}, ", ")
}

// nextPoint is what Flink restores by itself among the points that were found.
func (s *Screen) nextPoint() (inspect.PointSummary, bool) {
	points := s.options.Reading.Overview.Points
	path := s.running.Live.NextRestore.Path
	if path == nil {
		return inspect.PointSummary{}, false
	}
	at, ok := inspect.PointAt(points, *path)
	if !ok {
		return inspect.PointSummary{}, false
	}
	return points[at], true
}

// how says in a line how checkpoints are taken and kept.
func (s *Screen) how() string {
	set := s.running.Live.Settings
	if set == nil {
		return "checkpoint settings could not be read"
	}
	words := []string{every(set), kept(set)}
	return "checkpoints " + strings.Join(words, ", ")
}

func every(set *inspect.CheckpointSettings) string {
	if set.IntervalMs == nil {
		return "are taken by nothing but a request"
	}
	return "every " + spell(*set.IntervalMs)
}

func kept(set *inspect.CheckpointSettings) string {
	newest := "how many are kept is not known"
	if set.Retained != nil {
		newest = "newest " + figures.Group(int64(*set.Retained)) + " kept"
	}
	return newest + ", " + phrase.Safe(string(set.Retention))
}

// spell writes milliseconds in the largest unit that shows them whole.
func spell(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	switch {
	case d >= time.Hour && d%time.Hour == 0:
		return figures.Group(int64(d/time.Hour)) + " h"
	case d >= time.Minute && d%time.Minute == 0:
		return figures.Group(int64(d/time.Minute)) + " min"
	case d >= time.Second && d%time.Second == 0:
		return figures.Group(int64(d/time.Second)) + " s"
	default:
		return figures.Group(ms) + " ms"
	}
}

func (s *Screen) counts() string {
	c := s.history()
	if c == nil {
		return "how many checkpoints there were is not known"
	}
	return fmt.Sprintf("%s completed, %s failed, %s in progress; %s", figures.Group(c.Completed), figures.Group(c.Failed),
		figures.Group(c.InProgress), phrase.Count(int(c.Restores), "restore", "restores"))
}

// whole is everything the screen knows, in full.
func (s *Screen) whole(width int) []string {
	p := s.page(width)
	switch {
	case !s.known() && !s.answered:
		p.Hang(" ", theme.Plain, "reading what "+phrase.Job(s.options.Job)+" does now")
		if rest := s.options.Job.Flink.REST; rest != "" {
			p.Hang(indent, theme.Muted, "from "+phrase.Safe(rest))
		}
		return p.Lines
	case s.running.Source == inspect.NotConnected:
		p.Hang(" ", theme.Plain, "live state: not connected")
		p.Say("No JobManager is configured for this job: what it does now, what failed last and what Flink would restore by itself is not known here.")
		p.Say("Give --flink-rest ADDRESS, or set flink.rest of the job in the profile.")
		return p.Lines
	case !s.known():
		p.Sign(theme.Warning, "live state: could not be read")
		p.Faults(theme.Warning, "", s.err)
		p.Say("This says nothing about whether the job runs. r reads again.")
		return p.Lines
	}
	if s.older {
		p.Faults(theme.Warning, "reading again failed, what is shown is older: ", s.err)
	}
	_, tone := phrase.Live(s.running.Source, s.running.Live)
	p.Sign(tone, s.state())
	p.Hang(indent, theme.Muted, s.identity())
	if !s.older && s.err != nil {
		p.Faults(theme.Warning, "a part could not be read: ", s.err)
	}
	s.cause(p)
	s.next(p)
	s.settings(p)
	s.latest(p)
	return p.Lines
}

// identity is which job this is, and how old Flink's answer may be.
func (s *Screen) identity() string {
	live := *s.running.Live
	words := []string{"job " + phrase.Safe(live.JobID), phrase.Safe(live.Name)}
	if live.FlinkVersion != "" {
		words = append(words, "Flink "+phrase.Safe(live.FlinkVersion))
	}
	if live.Started != nil {
		words = append(words, "started "+phrase.Clock(*live.Started, s.readAt))
	}
	if live.CacheMs > 0 {
		words = append(words, "as of up to "+spell(live.CacheMs)+" before it was read")
	}
	return strings.Join(words, ", ")
}

func (s *Screen) cause(p *sheet.Page) {
	live := *s.running.Live
	p.Title("Root cause of the newest failure")
	c := live.RootCause
	switch {
	case c != nil:
		where := "the job itself"
		if c.Task != "" {
			where = "task " + phrase.Safe(c.Task)
		}
		if c.Time != nil {
			where = phrase.Clock(*c.Time, s.readAt) + ", " + where
		}
		p.Hang(indent, theme.Muted, where)
		if c.Type != "" {
			p.Say(phrase.Safe(c.Type))
		}
		if c.Message != "" {
			p.Hang(indent+"  ", theme.Plain, phrase.Safe(c.Message))
		}
		if c.Outer != "" {
			p.Hang(indent, theme.Muted, "inside: "+phrase.Safe(c.Outer))
		}
	case live.LastException != nil:
		p.Say(phrase.Safe(*live.LastException))
	case unread(live, "exceptions"):
		p.Hang(indent, theme.Warning, "could not be read")
	default:
		p.Say("no failure is on record")
	}
}

func unread(live inspect.LiveState, part string) bool {
	for _, u := range live.Unread {
		if u == part {
			return true
		}
	}
	return false
}

// next is what Flink does without anybody, and what can't be known of that.
func (s *Screen) next(p *sheet.Page) {
	next := s.running.Live.NextRestore
	p.Title("What Flink restores by itself, should the job fail now")
	words, tone := phrase.NextRestore(next, s.options.Reading.Overview.Points)
	p.Sign(tone, words)
	if next.Path != nil {
		p.Hang(indent, theme.Muted, phrase.Safe(*next.Path))
	}
	if point, ok := s.nextPoint(); ok && point.Message != "" {
		p.Hang(indent, tone, phrase.Safe(point.Message))
	}
	if next.Why != "" {
		p.Say("Because " + phrase.Safe(next.Why) + ".")
	}
	for _, what := range next.Unknown {
		p.Hang(indent+"Not known: ", theme.Muted, phrase.Safe(what))
	}
}

func (s *Screen) settings(p *sheet.Page) {
	p.Title("How checkpoints are taken")
	set := s.running.Live.Settings
	if set == nil {
		p.Hang(indent, theme.Warning, "could not be read")
		return
	}
	aligned := "aligned"
	if set.Unaligned {
		aligned = "unaligned"
	}
	p.Say(every(set) + ", timeout " + spell(set.TimeoutMs) + ", " + phrase.Safe(set.Mode) + ", " + aligned)
	p.Say(kept(set))
	if set.Storage != "" {
		p.Say("storage " + phrase.Safe(set.Storage))
	}
	if set.RestartStrategy != "" {
		p.Say("restart strategy: " + phrase.Safe(set.RestartStrategy))
	}
}

// latest are the counts, and what is so old that the history has it no more.
func (s *Screen) latest(p *sheet.Page) {
	p.Title("Checkpoints")
	p.Say(s.counts())
	c := s.history()
	if c == nil {
		return
	}
	if c.Cut > 0 {
		p.Say(phrase.Count(c.Cut, "older entry is", "older entries are") + " left out of the history here")
	}
	for _, l := range []struct {
		what  string
		entry *inspect.LiveCheckpoint
	}{{"newest completed checkpoint", c.LatestCompleted}, {"newest savepoint", c.LatestSavepoint}, {"newest failed", c.LatestFailed}} {
		if l.entry == nil {
			continue
		}
		p.Say(l.what + ": " + figures.Group(l.entry.ID) + s.when(l.entry.Triggered))
		if l.entry.Path != nil {
			p.Hang(indent+"  ", theme.Muted, phrase.Safe(*l.entry.Path))
		}
		if l.entry.Reason != nil {
			p.Hang(indent+"  ", theme.Plain, phrase.Safe(*l.entry.Reason))
		}
	}
}

func (s *Screen) when(at *time.Time) string {
	if at == nil {
		return ""
	}
	return ", triggered " + phrase.Clock(*at, s.readAt)
}
