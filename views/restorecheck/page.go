package restorecheck

import (
	"errors"
	"fmt"
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

const indent = sheet.Indent

// page is everything the screen says, in the order in which it is asked: the
// verdict, the rules that refuse, whether the records still exist, the other
// rules, what was assumed, what the job's release does; and, apart, what to do
// next.
func (s *Screen) page(width int, all bool) (lines []string, next *page) {
	next = s.newPage(width)
	p := s.newPage(width)
	reading := s.reader.Reading
	point, elsewhere, found := s.find()
	switch {
	case s.reader.Busy() && !reading.Known():
		p.Hang(" ", theme.Plain, "reading "+s.name(s.uri)+": its verdict is not known yet")
		return p.Lines, next
	case !reading.Known():
		p.Sign(theme.Error, "the restore check could not be made")
		p.faults()
		return p.Lines, next
	case !found && s.far.asking:
		p.Hang(" ", theme.Plain, "reading "+s.name(s.uri)+", which lies in none of the places searched: its verdict is not known yet")
		return p.Lines, next
	case !found:
		p.Sign(theme.Warning, s.name(s.uri)+" is not among the recovery points that were found ("+reading.Searched()+"), and could not be judged by itself")
		p.Hang(indent, theme.Plain, phrase.Safe(s.uri))
		p.Faults(theme.Warning, "", s.far.err)
		p.Hang(indent, theme.Plain, "It was deleted, or it could not be read. n goes to the next recovery point, r reads again.")
		p.faults()
		return p.Lines, next
	}
	v := point.Validation
	if reading.Failed {
		p.faults()
	}
	p.verdict(point)
	if elsewhere {
		p.Hang(indent, theme.Muted, "It lies in none of the job's places ("+reading.Searched()+").")
	}
	if v.Calls != nil {
		p.calls(v.Calls) // what is paid twice is part of the headline
	}
	p.otherwise(v)
	if p.refusing(v.Rules) && len(v.Notes) > 0 {
		p.Blank()
	}
	for _, note := range v.Notes {
		p.Hang(indent, theme.Plain, phrase.Safe(note))
	}
	p.others(v.Rules, all)
	p.Blank()
	if len(v.Assumed) > 0 {
		p.Hang(indent+"Assumed from the profile: ", theme.Muted, phrase.Safe(strings.Join(v.Assumed, ", ")))
	}
	if unstated := v.Unstated(); len(unstated) > 0 {
		p.Hang(indent+"Not asked, for the job's side is not known: ", theme.Muted, phrase.Safe(strings.Join(unstated, ", "))+". recoverctl validate restore takes it as flags.")
	}
	p.releases(v)
	if v.Calls == nil {
		p.calls(nil)
	}
	unread := reading.Err
	if reading.Failed {
		unread = nil // told at the top
	}
	if elsewhere {
		unread = errors.Join(unread, s.far.err)
	}
	if unread != nil {
		p.Blank()
		p.Hang(" ", theme.Plain, "Not everything could be read:")
		p.Faults(theme.Warning, "", unread)
	}
	p.ways(point)
	next.nearest(v)
	next.next(point)
	return p.Lines, next
}

// page is the text of the screen, or a part of it, as it grows.
type page struct {
	*Screen
	*sheet.Page
	command string // that restores; "" where none is offered
}

func (s *Screen) newPage(width int) *page {
	return &page{Screen: s, Page: &sheet.Page{Theme: s.theme, Width: width}}
}

// verdict is the headline: one word, the rule's sentence with both numbers, and
// the whole address of the point.
func (p *page) verdict(point inspect.PointSummary) {
	v := point.Validation
	reading := p.reader.Reading
	switch v.Verdict {
	case inspect.Accepted:
		p.Sign(theme.OK, "accepted: "+replays(p.job.Store, point)+".")
	case inspect.Rejected:
		sentence := "a rule refuses it"
		if len(v.Reasons) > 0 {
			sentence = phrase.Safe(v.Reasons[0].Message)
		}
		p.Sign(theme.Error, "REJECTED: "+strings.TrimSuffix(sentence, ".")+".")
	default:
		p.Sign(theme.Warning, "unknown: no rule refuses this restore, and not every rule could be asked.")
	}
	switch n := len(v.Unchecked); {
	case n == 0 || v.Verdict == inspect.Rejected:
	case n <= 3:
		p.Hang(indent, theme.Plain, "Not checked: "+phrase.Safe(strings.Join(v.Unchecked, ", "))+".")
	default:
		p.Hang(indent, theme.Plain, fmt.Sprintf("Not checked: %d rules, below.", n))
	}
	facts := phrase.Age(point.Taken, reading.At) + " old"
	if point.Taken.Time == nil {
		facts = "age not known"
	}
	if point.Pinned {
		facts += ", pinned in the profile"
	}
	if live := reading.Overview.Live; live != nil && live.NextRestore.Path != nil {
		if _, itself := inspect.PointAt([]inspect.PointSummary{point}, *live.NextRestore.Path); itself {
			facts += ", what Flink restores by itself"
		}
	}
	p.Hang(indent, theme.Muted, phrase.Safe(point.URI)+"  ("+facts+")")
}

func replays(store inspect.Store, point inspect.PointSummary) string {
	windows := point.Validation.Window
	if len(windows) == 0 {
		return "a restore replays nothing"
	}
	return fmt.Sprintf("a restore replays a span of %s offsets in %s", figures.Group(point.Span), phrase.Parts(store, len(windows)))
}

// faults are what could not be read when the point was judged.
func (p *page) faults() {
	reading := p.reader.Reading
	lead := ""
	if reading.Failed {
		lead = "reading again failed, what is shown is older: "
	}
	p.Faults(theme.Warning, lead, reading.Err)
}

var ruleColumns = []sheet.Column{{Title: "RULE"}, {Title: "RESULT"}, {Title: "EVIDENCE"}}

// refusing are the rules that refuse the restore, the one that speaks first and
// those that the real code would not reach: they are what is looked for. It
// reports whether there are any.
func (p *page) refusing(rules []inspect.Rule) bool {
	var rows [][]sheet.Cell
	for _, want := range []inspect.RuleResult{inspect.Failed, inspect.WouldFail} {
		for _, rule := range rules {
			if rule.Result == want {
				rows = append(rows, ruleRow(rule))
			}
		}
	}
	if len(rows) == 0 {
		return false
	}
	p.Blank()
	p.Table(ruleColumns, rows)
	return true
}

func ruleRow(rule inspect.Rule) []sheet.Cell {
	word, tone := phrase.Result(rule.Result)
	return []sheet.Cell{{Text: phrase.Safe(rule.Title)}, {Text: word, Tone: tone}, {Text: phrase.Safe(rule.Message)}}
}

// others are the rules that could not be asked, then those that pass; where not
// all are shown, these are counted.
func (p *page) others(rules []inspect.Rule, all bool) {
	var open, passed [][]sheet.Cell
	counts := map[inspect.RuleResult]int{}
	asked := map[string]string{} // the rule that gave a reason for not being checked first
	last := ""                   // the reason of the rule before
	for _, rule := range rules {
		switch rule.Result {
		case inspect.Failed, inspect.WouldFail:
		case inspect.Passed, inspect.WouldPass:
			counts[rule.Result]++
			passed = append(passed, ruleRow(rule))
		default:
			row := ruleRow(rule)
			switch first, again := asked[rule.Message]; {
			case !again:
				asked[rule.Message] = rule.Title
			case last == rule.Message:
				row[2] = sheet.Cell{Text: "as above", Tone: theme.Muted}
			default:
				row[2] = sheet.Cell{Text: "as for: " + phrase.Safe(first), Tone: theme.Muted}
			}
			last = rule.Message
			open = append(open, row)
		}
	}
	if !all {
		passed = nil
		for _, r := range []inspect.RuleResult{inspect.Passed, inspect.WouldPass} {
			if n := counts[r]; n > 0 {
				word, tone := phrase.Result(r)
				passed = append(passed, []sheet.Cell{{Text: phrase.Count(n, "rule", "rules")}, {Text: word, Tone: tone}, {Text: "a shows each", Tone: theme.Muted}})
			}
		}
	}
	rows := append(open, passed...)
	if len(rows) == 0 {
		return
	}
	p.Blank()
	p.Table(ruleColumns, rows)
}

func (p *page) calls(counts *inspect.CallCounts) {
	if counts == nil {
		p.Hang(indent+"Durable calls: ", theme.Muted, phrase.NotScanned)
		return
	}
	p.Hang(indent+"Durable calls: ", theme.Plain, fmt.Sprintf("%s run again, %s go to the reconciler, %s unknown, %s reused",
		figures.Group(counts.RunsAgain), figures.Group(counts.Reconciler), figures.Group(counts.Unknown), figures.Group(counts.Reused)))
}
