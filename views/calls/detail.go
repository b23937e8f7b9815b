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
	"github.com/recoverctl/recoverctl/views/scan"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// noRecord is what no record can tell.
const noRecord = "Calls made without a reconciler leave no record until they end: they cannot appear here."

// since is when the last record of an action was written.
func since(a *inspect.ActionCalls, at time.Time) string {
	return "since " + phrase.Clock(a.Timestamp, at) + " (" + clock.Age(at.Sub(a.Timestamp)) + ")"
}

// pane is about the selected call, under the table.
func (s *Screen) pane(p *sheet.Page, row scan.Row) {
	a, at := row.Action, s.shown.Started
	if c := row.Call(); c != nil {
		p.Hang(sheet.Indent, theme.Title, phrase.Safe(c.FunctionID)+" of "+s.about(a)+s.digest(c.ArgsDigest)+", "+since(a, at))
		s.sentences(p, row)
	} else {
		p.Hang(sheet.Indent, theme.Title, s.about(a)+", "+since(a, at))
		s.sentences(p, row)
	}
}

// about names the action of a call.
func (s *Screen) about(a *inspect.ActionCalls) string {
	text := "action " + shortUUID(a.ActionUUID)
	if a.EventType != "" {
		text += " on " + phrase.Safe(a.EventType)
	}
	return text
}

func shortUUID(id string) string {
	short, _, _ := strings.Cut(phrase.Safe(id), "-")
	return short
}

// digest is the beginning of the arguments' digest: enough to compare by eye. Of
// Java calls it is empty.
func (s *Screen) digest(d string) string {
	const shown = 12
	runes := []rune(phrase.Safe(d))
	switch {
	case len(runes) == 0:
		return ""
	case len(runes) > shown:
		runes = append(runes[:shown:shown], []rune(s.options.Theme.Signs.More)...)
	}
	return ", arguments " + string(runes)
}

// sentences say where the call was seen, what becomes of it, and what is not
// known.
func (s *Screen) sentences(p *sheet.Page, row scan.Row) {
	a := row.Action
	s.outcomes(p, row)
	p.Say(phrase.Capital(s.place(inspect.RecordPosition{Partition: a.Partition, Offset: a.Offset})) + ". " + s.whatIsKnown(row))
	if a.Elsewhere != nil {
		p.Sign(theme.Warning, fmt.Sprintf("its key computes to %s %d", s.options.Job.Store.Part(), *a.Elsewhere))
	}
}

// outcomes say what a restore does to a call, and why.
func (s *Screen) outcomes(p *sheet.Page, row scan.Row) {
	for _, group := range s.groups(row) {
		word, tone := phrase.Outcome(group.outcome)
		p.Hang(sheet.Lead(p.Theme, tone), tone, strings.Join(group.points, ", ")+" "+word+": "+phrase.Safe(group.why))
	}
}

// group are recovery points from which the same happens for the same reason.
type group struct {
	outcome inspect.CallOutcome
	why     string
	points  []string
}

func (s *Screen) groups(row scan.Row) []group {
	var groups []group
	for i := range s.points {
		uri := s.points[(s.first+i)%len(s.points)]
		o, ok := row.Outcome(uri)
		if !ok {
			continue
		}
		found := false
		for g := range groups {
			if groups[g].outcome == o.Outcome && groups[g].why == o.Why {
				groups[g].points, found = append(groups[g].points, s.names[uri]), true
			}
		}
		if !found {
			groups = append(groups, group{o.Outcome, o.Why, []string{s.names[uri]}})
		}
	}
	return groups
}

// whatIsKnown is what the log tells of a call, and what it does not.
func (s *Screen) whatIsKnown(row scan.Row) string {
	c, a := row.Call(), row.Action
	switch {
	case a.Completed && a.Tombstone != nil:
		return "The action completed, and the tombstone at " + s.place(*a.Tombstone) + " removed its record."
	case a.Completed:
		return "The action completed."
	case c == nil:
		return "No call of the action is on record; one may have begun."
	}
	switch c.State {
	case inspect.CallPending:
		return "It began, and no result is on record: it may or may not have happened."
	case inspect.CallOverwritten:
		text := fmt.Sprintf("It was PENDING at %s", s.place(c.Seen))
		if c.Lost != nil {
			text += fmt.Sprintf(", and the record at %s no longer has it", s.place(*c.Lost))
		}
		return text + ": it may still be out, or have happened."
	case inspect.CallSaved:
		return "Its " + saved(*c) + " on record, and the action has not ended."
	case inspect.CallUnmatched:
		text := "The action's id is of a JVM that has ended: no restore matches it."
		if a.Newer != nil {
			text += fmt.Sprintf(" The id in its place first appears at %s.", s.place(*a.Newer))
		}
		return text
	default:
		return "Its state is not known."
	}
}

func saved(c inspect.Call) string {
	switch {
	case c.ExceptionBytes != nil:
		return fmt.Sprintf("failure (%s) is", figures.Bytes(*c.ExceptionBytes))
	case c.ResultBytes != nil:
		return fmt.Sprintf("result (%s) is", figures.Bytes(*c.ResultBytes))
	default:
		return "end is"
	}
}

// place is a partition or a bucket with an offset.
func (s *Screen) place(at inspect.RecordPosition) string {
	return fmt.Sprintf("%s %d, offset %s", s.options.Job.Store.Part(), at.Partition, figures.Group(at.Offset))
}

// all is everything that the scan knows of an action, for the detail screen and
// for a ticket.
func (s *Screen) all(p *sheet.Page, row scan.Row) {
	s.action(p, row)
	p.Blank()
	p.Say(noRecord)
}

// action is one action with all its calls.
func (s *Screen) action(p *sheet.Page, row scan.Row) {
	a, at := row.Action, s.shown.Started
	fact := func(name, value string) { p.Hang(fmt.Sprintf("   %-12s ", name), theme.Plain, value) }
	fact("key", s.keyText(a.Key))
	if a.Key.Digest != "" && a.Key.Text != nil {
		fact("digest", "sha256 "+phrase.Safe(a.Key.Digest))
	}
	group := ", which has no key group"
	if a.KeyGroup != nil {
		group = ", key group " + figures.Group(int64(*a.KeyGroup))
	}
	fact("generation", fmt.Sprintf("%d", a.Generation)+group)
	fact("sequence", figures.Group(a.Sequence))
	fact("event", phrase.Safe(strings.TrimSpace(a.EventType+" "+a.EventUUID)))
	fact("action", phrase.Safe(a.ActionUUID)+", "+actionState(a))
	fact("record", s.place(inspect.RecordPosition{Partition: a.Partition, Offset: a.Offset})+", written "+phrase.Clock(a.Timestamp, at)+" ("+clock.Age(at.Sub(a.Timestamp))+" before the scan)")
	fact("history", fmt.Sprintf("%s seen, the first at offset %s", figures.Count(a.Records, "record", "records"), figures.Group(a.First)))
	if a.Tombstone != nil {
		fact("tombstone", s.place(*a.Tombstone))
	}
	if a.Repeated > 1 {
		p.Sign(theme.Warning, figures.Group(a.Repeated)+" equal records of it follow each other")
	}
	if a.Unreadable != nil {
		p.Sign(theme.Warning, "the value at "+s.place(*a.Unreadable)+" can't be read")
	}
	if a.Elsewhere != nil {
		p.Sign(theme.Warning, fmt.Sprintf("the key computes to %s %d", s.options.Job.Store.Part(), *a.Elsewhere))
	}
	for i := range max(len(a.Calls), 1) {
		r := row
		if len(a.Calls) > 0 {
			r = row.Of(i)
		}
		s.call(p, r)
	}
}

// call is one call of an action with all its outcomes.
func (s *Screen) call(p *sheet.Page, row scan.Row) {
	c := row.Call()
	if c == nil {
		p.Title("  " + noCall)
	} else {
		state, _ := phrase.CallState(c.State)
		p.Title("  " + callName(*c) + "  " + state)
		status := "none, as in release 0.2"
		if c.Status != nil {
			status = phrase.Safe(*c.Status)
		}
		text := "status on record: " + status + ", last seen at " + s.place(c.Seen)
		if c.ArgsDigest != "" {
			text = "arguments " + phrase.Safe(c.ArgsDigest) + ", " + text
		}
		p.Say(text)
	}
	p.Say(s.whatIsKnown(row))
	s.outcomes(p, row)
}

// asText is a call for a ticket.
func (s *Screen) asText(row scan.Row) string {
	p := &sheet.Page{Width: 1 << 16}
	s.all(p, row)
	return textOf(p)
}

// one is the screen of one action.
type one struct {
	list  *Screen
	row   scan.Row
	sheet *sheet.Sheet
}

func newOne(list *Screen, row scan.Row) *one {
	return &one{list: list, row: row, sheet: sheet.New(list.options.Theme)}
}

func (o *one) Init() tui.Cmd             { return nil }
func (o *one) Update(tui.Msg) tui.Cmd    { return nil }
func (o *one) View(size tui.Size) string { return o.sheet.View(size) }
func (o *one) Status() tui.Status        { return o.list.Status() }
func (o *one) Commands() []tui.Command   { return o.list.options.Commands }

func (o *one) Crumb() string {
	const most = 24
	runes := []rune(o.list.keyText(o.row.Action.Key))
	if len(runes) > most {
		runes = append(runes[:most-1], []rune(o.list.options.Theme.Signs.More)...)
	}
	return string(runes)
}

func (o *one) Keys() []tui.Key {
	keys := []tui.Key{o.list.recordsKey(func() (scan.Row, bool) { return o.row, true })}
	if keys[0].Run == nil {
		keys = nil
	}
	keys = append(keys, tui.CopyKey(func() (what, text string) { return "the action", o.list.asText(o.row) }))
	return append(keys, o.sheet.Keys()...)
}

func (o *one) Resize(size tui.Size) {
	p := &sheet.Page{Theme: o.list.options.Theme, Width: size.Width}
	o.list.all(p, o.row)
	o.sheet.Set(p.Lines)
	o.sheet.Resize(size.Height)
}
