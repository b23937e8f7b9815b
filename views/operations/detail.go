package operations

import (
	"fmt"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// detail is one cleanup, whole.
type detail struct {
	options Options
	op      inspect.Operation
	readAt  time.Time
	names   map[string]string
	sheet   *sheet.Sheet
	width   int
	look    theme.Palette // that the page was painted with
}

func newDetail(o Options, op inspect.Operation, readAt time.Time) *detail {
	return &detail{options: o, op: op, readAt: readAt, names: phrase.Names(o.Reading.Overview.Points), sheet: sheet.New(o.Theme)}
}

func (d *detail) Init() tui.Cmd             { return nil }
func (d *detail) Update(tui.Msg) tui.Cmd    { return nil }
func (d *detail) Crumb() string             { return "cleanup " + phrase.Short(d.op.PlanID) }
func (d *detail) Status() tui.Status        { return tui.Status{ReadAt: d.readAt} }
func (d *detail) View(size tui.Size) string { return d.sheet.View(size) }
func (d *detail) Commands() []tui.Command   { return d.options.Commands }

func (d *detail) Keys() []tui.Key {
	id := tui.CopyKey(func() (what, text string) { return "the plan's id", phrase.Copied(d.op.PlanID) })
	return append([]tui.Key{id}, d.sheet.Keys()...)
}

func (d *detail) Resize(size tui.Size) {
	if look := d.options.Theme.Palette(); size.Width != d.width || look != d.look {
		d.width, d.look = size.Width, look
		d.sheet.Set(d.page(size.Width))
	}
	d.sheet.Resize(size.Height)
}

func (d *detail) page(width int) []string {
	p := &sheet.Page{Theme: d.options.Theme, Width: width}
	op := d.op
	age := clock.Age(d.readAt.Sub(op.Time))
	switch op.Status {
	case inspect.StatusApplied:
		p.Sign(theme.OK, "APPLIED "+age+" ago: the deletion is recorded as done")
	case inspect.StatusCommitted:
		p.Sign(theme.Warning, "COMMITTED "+age+" ago, not recorded as APPLIED: its boundary is in force, whether or not the log is trimmed yet")
	default:
		p.Sign(theme.Warning, phrase.Safe(string(op.Status))+" "+age+" ago")
	}
	p.Table([]sheet.Column{{Title: "FIELD"}, {Title: "VALUE"}}, [][]sheet.Cell{
		{{Text: "plan id"}, {Text: phrase.Safe(op.PlanID)}},
		{{Text: "made from"}, {Text: phrase.Safe(op.SourceRecoveryPoint)}},
		{{Text: "topic"}, {Text: phrase.Safe(op.Topic)}},
		{{Text: "topic id"}, {Text: phrase.Safe(op.TopicID)}},
		{{Text: "control offset"}, {Text: figures.Group(op.ControlOffset)}},
		{{Text: "record written"}, {Text: op.Time.UTC().Format("2006-01-02 15:04:05Z")}},
	})
	p.Hang(indent, theme.Plain, callsText(op))
	d.points(p)
	d.offsets(p)
	return p.Lines
}

// points names every known recovery point with what this cleanup alone means
// for it, and its verdict now where that is another.
func (d *detail) points(p *sheet.Page) {
	p.Title("Recovery points under this cleanup alone")
	reading := d.options.Reading
	if len(reading.Overview.Points) == 0 {
		p.Say("none is known: " + reading.Searched())
		return
	}
	rows := make([][]sheet.Cell, 0, len(reading.Overview.Points))
	for _, point := range reading.Overview.Points {
		under := d.op.Under(point)
		word, tone := "kept", theme.OK
		switch under.Verdict {
		case inspect.Rejected:
			word, tone = "REFUSED", theme.Error
		case inspect.Unknown:
			word, tone = "not known", theme.Warning
		}
		now, nowTone := phrase.Verdict(point.Verdict)
		rows = append(rows, []sheet.Cell{
			{Text: d.names[point.URI]}, {Text: word, Tone: tone}, {Text: now, Tone: nowTone}, {Text: phrase.Safe(under.Why)},
		})
	}
	p.Table([]sheet.Column{{Title: "RECOVERY POINT"}, {Title: "BY IT"}, {Title: "NOW"}, {Title: "BECAUSE"}}, rows)
	p.Hang(indent, theme.Muted, "points as of "+phrase.Clock(reading.At, d.readAt)+"; those elsewhere are not known ("+reading.Searched()+")")
}

// offsets are all of the plan's, with where the log starts beside them.
func (d *detail) offsets(p *sheet.Page) {
	p.Title(fmt.Sprintf("Deletes up to, on %s", phrase.Count(len(d.op.Offsets), "partition", "partitions")))
	starts := map[int32]*int64{}
	for _, part := range d.options.Reading.Overview.Partitions {
		starts[part.Partition] = part.LogStart
	}
	none := d.options.Theme.Signs.None
	rows := make([][]sheet.Cell, 0, len(d.op.Offsets))
	for _, part := range d.op.Offsets.Partitions() {
		at := d.op.Offsets[part]
		start, state := sheet.Cell{Text: none}, sheet.Cell{Text: "log start not known", Tone: theme.Muted}
		if s := starts[part]; s != nil {
			start.Text = figures.Group(*s)
			state = sheet.Cell{Text: "trimmed"}
			if *s < at {
				state = sheet.Cell{Text: "not trimmed yet: a span of " + figures.Group(at-*s), Tone: theme.Warning}
			}
		}
		rows = append(rows, []sheet.Cell{{Text: fmt.Sprint(part)}, {Text: figures.Group(at)}, start, state})
	}
	p.Table([]sheet.Column{{Title: "PARTITION", Right: true}, {Title: "UP TO", Right: true}, {Title: "LOG START", Right: true}, {Title: "LOG"}}, rows)
}
