package calls

import (
	"fmt"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// Status implements tui.Screen: how far the scan is, and whether it was all.
func (s *Screen) Status() tui.Status {
	switch {
	case s.state.Running:
		return tui.Status{Note: s.progress()}
	case !s.shown.Known():
		return tui.Status{Note: phrase.NotScanned}
	case s.shown.Partial():
		return tui.Status{Note: figures.Count(s.shown.Calls.Scanned.Records, "record", "records") + ", NOT ALL READ"}
	default:
		took := s.shown.Ended.Sub(s.shown.Started)
		return tui.Status{Note: fmt.Sprintf("%s, all read %.1fs", figures.Count(s.shown.Calls.Scanned.Records, "record", "records"), took.Seconds())}
	}
}

// progress is what the scan has read.
func (s *Screen) progress() string {
	p := s.state.Progress
	text := figures.Count(p.Records, "record", "records") + ", " + figures.Bytes(p.Bytes)
	if s.state.Rate > 0 {
		text += ", " + figures.Group(int64(s.state.Rate)) + "/s"
	}
	return text
}

// head is what is known of all calls together, and of what was not read, in at
// most most lines.
func (s *Screen) head(width, most int) []string {
	p := &sheet.Page{Theme: s.options.Theme, Width: width}
	s.whole(p)
	return cutTo(p, most)
}

// whole is the head as long as it is.
func (s *Screen) whole(p *sheet.Page) {
	switch {
	case s.scan == nil:
		p.Say("reading " + phrase.Safe(s.options.Job.Topic))
	case s.ordered && !s.state.Known():
		s.older(p)
		s.summary(p)
	case s.state.Running:
		p.Hang(sheet.Indent, theme.Muted, fmt.Sprintf("scanning: %s so far; what a restore would do is known when all is read", figures.Count(s.state.Progress.Open, "open action", "open actions")))
	case !s.state.Known():
		s.nothing(p)
	default:
		s.unfinished(p)
		s.summary(p)
		s.doubts(p)
	}
}

// older says that what is shown is of an earlier scan, and why.
func (s *Screen) older(p *sheet.Page) {
	at := phrase.Clock(s.shown.Ended, s.options.Now())
	switch {
	case s.state.Running:
		p.Hang(sheet.Indent, theme.Muted, "scanning again; what is shown was found at "+at)
	case s.state.Cancelled:
		p.Sign(theme.Warning, "the new scan was cancelled before anything was read; what is shown was found at "+at)
	default:
		p.Sign(theme.Error, "scanning again failed; what is shown was found at "+at)
		p.Faults(theme.Error, "", s.state.Err)
	}
}

// nothing says why there is no result.
func (s *Screen) nothing(p *sheet.Page) {
	if s.state.Cancelled {
		p.Sign(theme.Warning, "calls not scanned: the scan was cancelled before anything was read; r scans again")
		return
	}
	p.Sign(theme.Error, "calls not scanned: nothing could be read; r scans again")
	p.Faults(theme.Error, "", s.state.Err)
}

// summary counts the calls by state, and those that run again.
func (s *Screen) summary(p *sheet.Page) {
	calls := s.shown.Calls
	tone := theme.Plain
	text := "at risk: " + phrase.AtRisk(calls.Counts)
	switch {
	case calls.Counts.Pending+calls.Counts.Overwritten+calls.Counts.Unmatched > 0:
		tone = theme.Warning
	case s.shown.Partial():
		text = "no call at risk was found in what was read"
	default:
		text = "no call at risk: every call on record has its result"
	}
	if age := s.options.Now().Sub(s.shown.Ended); age >= time.Minute {
		text += ", scanned " + phrase.Clock(s.shown.Ended, s.options.Now()) + " (" + clock.Age(age) + " ago)"
	}
	p.Hang(sheet.Lead(p.Theme, tone), tone, text)
	var again []string
	worst := theme.Plain
	for _, uri := range s.points {
		counts := s.shown.Points(uri)
		if counts == nil {
			continue
		}
		words := "not known"
		if n := counts.Known(); n != nil {
			words = figures.Group(*n)
		}
		if counts.Calls.RunsAgain > 0 {
			worst = theme.Error
		}
		if counts.Completed > 0 {
			words += " (" + figures.Group(counts.Completed) + " of completed actions)"
		}
		if counts.Hidden > 0 {
			words += " (" + figures.Count(counts.Hidden, "completed action hides its calls", "completed actions hide their calls") + ")"
		}
		if counts.Calls.Unknown > 0 {
			words += " (" + figures.Group(counts.Calls.Unknown) + " unknown)"
			if worst == theme.Plain {
				worst = theme.Warning
			}
		}
		again = append(again, words+" from "+s.names[uri])
	}
	if len(again) > 0 {
		p.Hang(sheet.Lead(p.Theme, worst), worst, "run again: "+strings.Join(again, ", "))
	}
}

// unfinished says that the result is a part.
func (s *Screen) unfinished(p *sheet.Page) {
	switch {
	case s.shown.Cancelled:
		p.Sign(theme.Warning, "cancelled, NOT ALL WAS READ"+s.share()+": what is not listed may still be at risk; r scans again")
	case s.shown.Partial():
		p.Sign(theme.Warning, "NOT ALL WAS READ"+s.share()+": what is not listed may still be at risk; r scans again")
		if faults := phrase.Faults(s.shown.Err); len(faults) > 0 {
			why := phrase.Safe(faults[0].Error())
			if rest := len(faults) - 1; rest > 0 {
				why += " (and " + phrase.Count(rest, "more fault", "more faults") + ")"
			}
			p.Clipped(theme.Error, why)
		}
	}
}

// doubts are why not all was read, and what could hide a call.
func (s *Screen) doubts(p *sheet.Page) {
	calls := s.shown.Calls
	if faults := phrase.Faults(s.shown.Err); len(faults) > 1 || !s.shown.Partial() {
		p.Faults(theme.Error, "", s.shown.Err)
	} else if len(faults) == 1 && faults[0].Hint != "" {
		p.Hang(sheet.Indent+sheet.Indent, theme.Plain, phrase.Safe(faults[0].Hint))
	}
	if n := calls.Unattributable; n > 0 {
		p.Sign(theme.Warning, figures.Count(n, "record", "records")+" with a key of no known layout: calls in them are not listed")
	}
	if n := calls.Unreadable; n > 0 {
		p.Sign(theme.Warning, figures.Count(n, "record", "records")+" with a value that is no action state: calls in them are not listed")
	}
	for _, f := range calls.Findings {
		if f.Severity != inspect.SeverityInfo {
			p.Sign(phrase.Tone(f.Severity), phrase.Safe(f.Cause))
		}
	}
}

// share is how much of the topic was read.
func (s *Screen) share() string {
	p := s.shown.Progress
	if p.Total <= 0 {
		return ""
	}
	return fmt.Sprintf(" (a span of %s of %s offsets)", figures.Group(p.Span), figures.Group(p.Total))
}

// cutTo is a page in at most most lines; the last one says how many more there
// are.
func cutTo(p *sheet.Page, most int) []string {
	if len(p.Lines) <= most {
		return p.Lines
	}
	rest := len(p.Lines) - most + 1
	return append(p.Lines[:most-1:most-1], p.Theme.Paint(theme.Muted, " "+p.Theme.Signs.More+" "+phrase.Count(rest, "more line", "more lines")+": s shows all"))
}
