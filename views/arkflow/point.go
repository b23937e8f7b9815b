package arkflow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// point is the recovery point of an id as it was last read.
func (s *Job) point(id string) (arkflow.Point, bool) {
	points := s.reader.value.Points.Points
	at := slices.IndexFunc(points, func(p arkflow.Point) bool { return p.ID == id })
	if at < 0 {
		return arkflow.Point{}, false
	}
	return points[at], true
}

// gone is what a page about a point says when it is not there any more.
func (s *Job) gone(p *sheet.Page, id string) {
	p.Sign(theme.Warning, phrase.Safe(id)+" is neither on record nor in the store any more")
	p.Say("It was dropped since it was listed: esc goes back to the job.")
}

// newPoint makes the screen of one recovery point: what is in it.
func newPoint(s *Job, id string) tui.Screen {
	keys := func() []tui.Key {
		keys := []tui.Key{{Keys: []string{"v"}, Help: "restore check", Run: func() tui.Cmd { return tui.Push(newCheck(s, id, id)) }}}
		return append(append(keys, s.rollbackKey(id)...), copyID(id))
	}
	return newPart(s, phrase.Safe(id), func(p *sheet.Page) {
		one, ok := s.point(id)
		if !ok {
			s.gone(p, id)
			return
		}
		s.headline(p, one)
		s.contents(p, one)
	}, keys)
}

func copyID(id string) tui.Key {
	return tui.CopyKey(func() (what, text string) { return "the recovery point's id", phrase.Copied(id) })
}

// rollbackKey plans a rollback to the version of a point.
func (s *Job) rollbackKey(id string) []tui.Key {
	if s.options.Rollbacks == nil {
		return nil
	}
	return []tui.Key{{
		Keys: []string{"u"}, Help: "roll back" + s.options.Theme.Signs.More,
		Disabled: func() string {
			one, ok := s.point(id)
			if !ok {
				return "the recovery point is gone"
			}
			return s.cannotRollBack(&one)
		},
		Run: func() tui.Cmd {
			one, _ := s.point(id)
			return tui.Push(s.rollback(*one.JobVersion, id))
		},
	}}
}

// headline is the verdict, and what a start does with the point.
func (s *Job) headline(p *sheet.Page, one arkflow.Point) {
	switch one.Verdict {
	case inspect.Accepted:
		p.Sign(theme.OK, "accepted: every rule passes")
	case inspect.Rejected:
		p.Sign(theme.Error, "REJECTED: "+phrase.Safe(one.Message))
	default:
		p.Sign(theme.Warning, "unknown: no rule refuses it, and not every rule could be asked: "+phrase.Safe(one.Message))
	}
	selection := s.reader.value.Points.Selection
	switch {
	case one.Selected && one.Verdict == inspect.Accepted:
		p.Say("A start of the job restores it: " + phrase.Safe(selection.Why) + ".")
	case one.Selected:
		p.Sign(theme.Error, "A start of the job restores it all the same: "+phrase.Safe(selection.Why)+".")
	case !selection.Known:
		p.Sign(theme.Warning, "What a start of the job restores is not known: "+phrase.Safe(selection.Why)+".")
	case selection.ID == "":
		p.Sign(theme.Warning, "A start of the job restores nothing: "+phrase.Safe(selection.Why)+".")
	default:
		p.Say("A start of the job restores " + phrase.Safe(selection.ID) + " and not this one: " + phrase.Safe(selection.Why) + ". Nobody can choose one by hand.")
	}
	switch {
	case one.Engine.Verdict == inspect.Rejected:
		p.Say("The engine passes over it without an error: " + phrase.Safe(one.Engine.Why) + ".")
	case one.Engine.Verdict == inspect.Accepted && one.Verdict == inspect.Rejected:
		p.Sign(theme.Warning, "The engine itself would take it: it asks less.")
	}
}

// contents are what the hub has on record of a point, and what its objects hold.
func (s *Job) contents(p *sheet.Page, one arkflow.Point) {
	p.Blank()
	f := &facts{theme: p.Theme, width: p.Width}
	f.add("kind", theme.Plain, phrase.Safe(string(one.Kind)))
	f.add("on record", theme.Plain, cmp.Or(phrase.Safe(one.Status), "no: the hub does not know it"))
	f.add("age", theme.Plain, age(one.Created, s.reader.at)+createdBy(one))
	f.add("job version", theme.Plain, number(one.JobVersion)+", state format "+number(one.FormatVersion)+", generation "+number(one.Generation))
	f.add("manifest", theme.Plain, cmp.Or(phrase.Safe(one.URI), "nowhere is known"))
	f.add("tasks", theme.Plain, tasksOf(one, s.reader.value.Points.Target)+" of the job's plan")
	if len(one.Missing) > 0 {
		f.add("missing", theme.Error, phrase.Safe(strings.Join(one.Missing, ", ")))
	}
	p.Lines = append(p.Lines, f.lines...)
	positions(p, one)
	states(p, one)
	var rows [][]sheet.Cell
	for _, t := range one.Tasks {
		mark := p.Theme.Signs.None
		if ms, has := one.Watermark[t.Task]; has {
			mark = time.UnixMilli(ms).UTC().Format(time.RFC3339)
		}
		rows = append(rows, []sheet.Cell{{Text: phrase.Safe(t.Task)}, {Text: phrase.Safe(t.Node)}, {Text: mark}})
	}
	if len(rows) > 0 {
		p.Title("Tasks that took part")
		p.Table([]sheet.Column{{Title: "TASK"}, {Title: "NODE"}, {Title: "WATERMARK"}}, rows)
	}
}

func createdBy(one arkflow.Point) string {
	switch {
	case one.Created == nil:
		return ", no time is known"
	case one.CreatedBy == arkflow.TimeFromID:
		return ", by the time in its id"
	case one.CreatedBy == arkflow.TimeFromFile:
		return ", by the time of its file"
	default:
		return ", begun " + one.Created.UTC().Format(time.RFC3339)
	}
}

func positions(p *sheet.Page, one arkflow.Point) {
	p.Title("What a restore reads again")
	if len(one.Positions) == 0 {
		tone := theme.Plain
		if one.WithoutPositions() {
			tone = theme.Warning
		}
		p.Sign(tone, goOn(one))
		return
	}
	var rows [][]sheet.Cell
	for _, at := range one.Positions {
		topic := "not recorded"
		if at.Topic != nil {
			topic = phrase.Safe(*at.Topic)
		}
		rows = append(rows, []sheet.Cell{{Text: topic}, {Text: fmt.Sprint(at.Partition)}, {Text: arkflow.Number(at.Offset)}})
	}
	p.Table([]sheet.Column{{Title: "TOPIC"}, {Title: "PARTITION", Right: true}, {Title: "FROM OFFSET", Right: true}}, rows)
}

func states(p *sheet.Page, one arkflow.Point) {
	if len(one.States) == 0 {
		return
	}
	p.Title("State objects, each checksum recomputed")
	var rows [][]sheet.Cell
	for _, o := range one.States {
		word, tone := "whole", theme.OK
		switch o.State {
		case arkflow.ObjectWhole:
		case arkflow.ObjectUnread:
			word, tone = "not read", theme.Warning
		default:
			word, tone = strings.ToUpper(phrase.Safe(string(o.State))), theme.Error
		}
		entries := p.Theme.Signs.None
		if o.Entries != nil {
			entries = figures.Group(int64(*o.Entries))
		}
		what := phrase.Safe(o.Key)
		if o.Message != "" {
			what += ": " + phrase.Safe(o.Message)
		}
		rows = append(rows, []sheet.Cell{{Text: word, Tone: tone}, {Text: figures.Group(int64(o.Bytes))}, {Text: entries}, {Text: phrase.Safe(strings.Join(o.Tasks, ", "))}, {Text: what}})
	}
	p.Table([]sheet.Column{{Title: "IS"}, {Title: "BYTES", Right: true}, {Title: "ENTRIES", Right: true}, {Title: "OF TASKS"}, {Title: "OBJECT"}}, rows)
}

// newCheck makes the screen of a point's restore check: every rule, and what the
// engine really does. under is the point whose page it is opened from; empty: none.
func newCheck(s *Job, id, under string) tui.Screen {
	c := &check{id: id, under: under}
	c.partOf = newPart(s, "restore check", c.write, c.keys)
	return c
}

type check struct {
	*partOf
	id, under string
	all       bool // show the rules that pass, too
}

// Crumb implements tui.Screen: it names the point where the page below is not its own.
func (c *check) Crumb() string {
	if c.id == c.under {
		return c.crumb
	}
	return phrase.Safe(c.id) + " " + c.theme.Signs.Path + " " + c.crumb
}

func (c *check) keys() []tui.Key {
	help := "all rules"
	if c.all {
		help = "fewer rules"
	}
	keys := []tui.Key{
		{Keys: []string{"a"}, Help: help, Run: func() tui.Cmd {
			c.all = !c.all
			c.Lay()
			return nil
		}},
		{Keys: []string{"n"}, Help: "next point", Disabled: c.alone, Run: c.next},
	}
	return append(append(keys, c.job.rollbackKey(c.id)...), copyID(c.id))
}

func (c *check) alone() string {
	if len(c.job.reader.value.Points.Points) < 2 {
		return "there is no other recovery point"
	}
	return ""
}

// next goes to the point that is next older, and from the oldest to the newest.
func (c *check) next() tui.Cmd {
	points := c.job.reader.value.Points.Points
	at := slices.IndexFunc(points, func(p arkflow.Point) bool { return p.ID == c.id })
	c.id = points[(at+1)%len(points)].ID
	c.Top()
	c.Lay()
	return nil
}

func (c *check) write(p *sheet.Page) {
	s := c.job
	one, ok := s.point(c.id)
	if !ok {
		s.gone(p, c.id)
		return
	}
	s.headline(p, one)
	p.Hang(sheet.Indent, theme.Muted, phrase.Safe(c.id)+"  ("+age(one.Created, s.reader.at)+" old)")
	var refusing, open, passed [][]sheet.Cell
	for _, r := range one.Rules {
		word, tone := phrase.Result(r.Result)
		row := []sheet.Cell{{Text: phrase.Safe(r.Title)}, {Text: word, Tone: tone}, {Text: phrase.Safe(r.Message)}}
		switch r.Result {
		case inspect.Failed, inspect.WouldFail:
			refusing = append(refusing, row)
		case inspect.Passed, inspect.WouldPass:
			passed = append(passed, row)
		default:
			open = append(open, row)
		}
	}
	if n := len(passed); n > 0 && !c.all {
		passed = [][]sheet.Cell{{{Text: phrase.Count(n, "rule", "rules")}, {Text: "passed", Tone: theme.OK}, {Text: "a shows each", Tone: theme.Muted}}}
	}
	p.Blank()
	p.Table([]sheet.Column{{Title: "RULE"}, {Title: "RESULT"}, {Title: "EVIDENCE"}}, slices.Concat(refusing, open, passed))
	p.Blank()
	p.Say("A restore: " + goOn(one) + ".")
	v, _ := s.reader.value.Validation(c.id)
	for _, near := range []struct {
		name string
		at   *inspect.Nearby
	}{{"Accepted and newer: ", v.Newer}, {"Accepted and older: ", v.Older}} {
		text := "none"
		if near.at != nil {
			text = phrase.Safe(near.at.URI) + ", " + age(near.at.Taken.Time, s.reader.at) + " old"
		}
		p.Say(near.name + text)
	}
}
