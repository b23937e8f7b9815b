package calls

import (
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// summary is the screen of what a scan found in sum, and of all that it could not
// read.
type summary struct {
	list  *Screen
	sheet *sheet.Sheet
}

func newSummary(list *Screen) *summary { return &summary{list, sheet.New(list.options.Theme)} }

func (x *summary) Init() tui.Cmd             { return nil }
func (x *summary) Update(tui.Msg) tui.Cmd    { return nil }
func (x *summary) View(size tui.Size) string { return x.sheet.View(size) }
func (x *summary) Crumb() string             { return "summary" }
func (x *summary) Status() tui.Status        { return x.list.Status() }
func (x *summary) Commands() []tui.Command   { return x.list.options.Commands }

func (x *summary) Keys() []tui.Key {
	copied := tui.CopyKey(func() (what, text string) {
		p := &sheet.Page{Width: 1 << 16}
		x.list.sum(p)
		return "the summary", textOf(p)
	})
	return append([]tui.Key{copied}, x.sheet.Keys()...)
}

func (x *summary) Resize(size tui.Size) {
	p := &sheet.Page{Theme: x.list.options.Theme, Width: size.Width}
	x.list.sum(p)
	x.sheet.Set(p.Lines)
	x.sheet.Resize(size.Height)
}

// sum writes all that the head says, and what has no room there.
func (s *Screen) sum(p *sheet.Page) {
	s.whole(p)
	if !s.shown.Known() {
		return
	}
	calls := s.shown.Calls
	p.Title("READ")
	p.Say(figures.Count(calls.Scanned.Records, "record", "records") + ", " + figures.Bytes(calls.Scanned.Bytes) + " of keys and values, in a span of " +
		figures.Group(inspect.Span(calls.Scanned.From, calls.Scanned.To)) + " offsets of " + phrase.Parts(s.options.Job.Store, len(calls.Scanned.To)))
	p.Say(figures.Count(calls.Tombstones, "tombstone", "tombstones") + ", " + figures.Count(calls.Unattributable, "key", "keys") + " of no known layout, " +
		figures.Count(calls.Unreadable, "value", "values") + " that is no action state")
	for _, k := range calls.UnknownKeys {
		text := "a null key"
		if k.Key != nil {
			text = phrase.Safe(*k.Key)
		}
		p.Hang(sheet.Indent+"  ", theme.Muted, s.place(k.RecordPosition)+": "+text)
	}
	if len(s.shown.Calls.Points) > 0 {
		p.Title("FROM EACH RECOVERY POINT")
		columns := []sheet.Column{{Title: "RECOVERY POINT"}, {Title: "RUN AGAIN", Right: true}, {Title: "OF COMPLETED", Right: true}, {Title: "RECONCILER", Right: true}, {Title: "REUSED", Right: true}, {Title: "UNKNOWN", Right: true}}
		var rows [][]sheet.Cell
		for _, point := range s.shown.Calls.Points {
			tone := theme.Plain
			if point.Calls.RunsAgain > 0 {
				tone = theme.Error
			}
			rows = append(rows, []sheet.Cell{
				{Text: s.names[point.Point]}, {Text: figures.Group(point.Calls.RunsAgain), Tone: tone}, {Text: figures.Group(point.Completed)},
				{Text: figures.Group(point.Calls.Reconciler)}, {Text: figures.Group(point.Calls.Reused)}, {Text: figures.Group(point.Calls.Unknown)},
			})
		}
		p.Table(columns, rows)
	}
	if len(calls.Findings) > 0 {
		p.Title("FINDINGS")
	}
	for _, f := range calls.Findings {
		tone := phrase.Tone(f.Severity)
		p.Sign(tone, phrase.Safe(f.Cause))
		if f.Next != "" {
			p.Hang(sheet.Indent+"next: ", theme.Plain, phrase.Safe(f.Next))
		}
	}
	p.Blank()
	p.Say(noRecord)
}
