package restorecheck

import (
	"fmt"
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

const indent = "   "

// page is everything the screen says, in the order in which it is asked: the
// verdict, whether the records still exist, the rules, what was assumed, what
// the job's release does; and, apart, what to do next.
func (s *Screen) page(width int, all bool) (lines []string, next *page) {
	next = &page{Screen: s, width: width}
	p := &page{Screen: s, width: width}
	reading := s.reader.Reading
	at, found := reading.Find(s.uri)
	switch {
	case s.reader.Busy() && !reading.Known():
		p.say("reading " + s.name(s.uri) + ": its verdict is not known yet")
		return p.lines, next
	case !reading.Known():
		p.sign(theme.Error, "the restore check could not be made")
		p.faults()
		return p.lines, next
	case !found:
		p.sign(theme.Warning, s.name(s.uri)+" is not among the recovery points that were found ("+reading.Searched()+")")
		p.hang(indent, theme.Plain, phrase.Safe(s.uri))
		p.hang(indent, theme.Plain, "It was deleted, or its place could not be listed. n goes to the next recovery point, r reads again.")
		p.faults()
		return p.lines, next
	}
	point := reading.Overview.Points[at]
	v := point.Validation
	if reading.Failed {
		p.faults()
	}
	p.verdict(point)
	p.otherwise(v)
	for _, note := range v.Notes {
		p.hang(indent, theme.Plain, phrase.Safe(note))
	}
	p.blank()
	p.rules(v.Rules, all)
	p.blank()
	if len(v.Assumed) > 0 {
		p.hang(indent+"Assumed from the profile: ", theme.Muted, phrase.Safe(strings.Join(v.Assumed, ", ")))
	}
	p.releases(v)
	p.calls(v.Calls)
	if !reading.Failed && reading.Err != nil {
		p.blank()
		p.say("Not everything could be read:")
		p.faults()
	}
	next.nearest(v)
	next.next(point)
	return p.lines, next
}

// page collects lines for a width.
type page struct {
	*Screen
	width   int
	lines   []string
	command string // that restores; "" where none is offered
}

func (p *page) blank() { p.lines = append(p.lines, "") }

func (p *page) say(text string) { p.hang(" ", theme.Plain, text) }

// hang adds text behind a lead, wrapped under itself.
func (p *page) hang(lead string, tone theme.Tone, text string) {
	for _, line := range phrase.Hang(lead, text, p.width-1) {
		p.lines = append(p.lines, p.theme.Paint(tone, line))
	}
}

// sign adds a sentence that begins with the sign of its tone.
func (p *page) sign(tone theme.Tone, text string) {
	p.hang(" "+p.theme.Sign(tone)+" ", tone, text)
}

// verdict is the headline: one word, the rule's sentence with both numbers, and
// the whole address of the point.
func (p *page) verdict(point inspect.PointSummary) {
	v := point.Validation
	reading := p.reader.Reading
	switch v.Verdict {
	case inspect.Accepted:
		p.sign(theme.OK, "accepted: "+replays(point)+".")
	case inspect.Rejected:
		sentence := "a rule refuses it"
		if len(v.Reasons) > 0 {
			sentence = phrase.Safe(v.Reasons[0].Message)
		}
		p.sign(theme.Error, "REJECTED: "+strings.TrimSuffix(sentence, ".")+".")
	default:
		p.sign(theme.Warning, "unknown: no rule refuses this restore, and not every rule could be asked.")
	}
	switch n := len(v.Unchecked); {
	case n == 0 || v.Verdict == inspect.Rejected:
	case n <= 3:
		p.hang(indent, theme.Plain, "Not checked: "+phrase.Safe(strings.Join(v.Unchecked, ", "))+".")
	default:
		p.hang(indent, theme.Plain, fmt.Sprintf("Not checked: %d rules, below.", n))
	}
	facts := phrase.Age(point.Taken, reading.At) + " old"
	if point.Taken.Time == nil {
		facts = "age not known"
	}
	if point.Pinned {
		facts += ", pinned in the profile"
	}
	p.hang(indent, theme.Muted, phrase.Safe(point.URI)+"  ("+facts+")")
}

func replays(point inspect.PointSummary) string {
	windows := point.Validation.Window
	if len(windows) == 0 {
		return "a restore replays nothing"
	}
	return fmt.Sprintf("a restore replays a span of %s offsets in %s", figures.Group(point.Span), phrase.Count(len(windows), "partition", "partitions"))
}

// faults are what could not be read when the point was judged.
func (p *page) faults() {
	reading := p.reader.Reading
	lead := ""
	if reading.Failed {
		lead = "reading again failed, what is shown is older: "
	}
	for _, f := range phrase.Faults(reading.Err) {
		p.sign(theme.Warning, lead+phrase.Safe(f.Error()))
		if f.Hint != "" {
			p.hang(indent+indent, theme.Plain, phrase.Safe(f.Hint))
		}
	}
}

// rules are all of them, or those that did not pass with the others counted.
func (p *page) rules(rules []inspect.Rule, all bool) {
	var rows [][]sheet.Cell
	asked := map[string]int{} // the rule that gave a reason for not being checked first
	passed := 0
	flush := func(next int) {
		if passed == 0 {
			return
		}
		title := phrase.Count(passed, "rule", "rules")
		if next < len(rules) {
			title += " before the next"
		}
		word, tone := result(rules[next-1].Result)
		rows = append(rows, []sheet.Cell{{Text: title}, {Text: word, Tone: tone}, {Text: "a shows each", Tone: theme.Muted}})
		passed = 0
	}
	for i, rule := range rules {
		word, tone := result(rule.Result)
		if !all && tone == theme.OK {
			if passed > 0 && rules[i-1].Result != rule.Result {
				flush(i)
			}
			passed++
			continue
		}
		flush(i)
		evidence := sheet.Cell{Text: phrase.Safe(rule.Message)}
		if rule.Result == inspect.NotChecked {
			if first, ok := asked[rule.Message]; !ok {
				asked[rule.Message] = i
			} else if rules[i-1].Result == inspect.NotChecked && rules[i-1].Message == rule.Message {
				evidence = sheet.Cell{Text: "as above", Tone: theme.Muted}
			} else {
				evidence = sheet.Cell{Text: "as for: " + phrase.Safe(rules[first].Title), Tone: theme.Muted}
			}
		}
		rows = append(rows, []sheet.Cell{{Text: phrase.Safe(rule.Title)}, {Text: word, Tone: tone}, evidence})
	}
	flush(len(rules))
	columns := []sheet.Column{{Title: "RULE"}, {Title: "RESULT"}, {Title: "EVIDENCE"}}
	p.lines = append(p.lines, sheet.Table(p.theme, p.width-1, columns, rows)...)
}

func result(r inspect.RuleResult) (string, theme.Tone) {
	switch r {
	case inspect.Passed:
		return "passed", theme.OK
	case inspect.WouldPass:
		return "would pass", theme.OK
	case inspect.Failed:
		return "FAILED", theme.Error
	case inspect.WouldFail:
		return "would fail", theme.Warning
	default:
		return "not checked", theme.Warning
	}
}

func (p *page) calls(counts *inspect.CallCounts) {
	if counts == nil {
		p.hang(indent+"Durable calls: ", theme.Muted, phrase.NotScanned)
		return
	}
	p.hang(indent+"Durable calls: ", theme.Plain, fmt.Sprintf("%s run again, %s go to the reconciler, %s unknown, %s reused",
		figures.Group(counts.RunsAgain), figures.Group(counts.Reconciler), figures.Group(counts.Unknown), figures.Group(counts.Reused)))
}
