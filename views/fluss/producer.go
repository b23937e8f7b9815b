package fluss

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/fluss"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// page is a screen of text about one thing that is read.
type page[T any] struct {
	options Options
	slot    string
	crumb   string
	ask     func(context.Context) (T, []error, error)
	write   func(p *sheet.Page, value T, at time.Time)
	keys    func(*page[T]) []tui.Key

	value  T
	known  bool
	readAt time.Time
	err    error
	faults []error

	*sheet.Written
}

func newPage[T any](s *page[T]) *page[T] {
	s.Written = sheet.NewWritten(s.options.Theme, s.lines)
	return s
}

func (s *page[T]) Init() tui.Cmd      { return reading(s.options, s.slot, s.ask) }
func (s *page[T]) Reload() tui.Cmd    { return s.Init() }
func (s *page[T]) Crumb() string      { return s.crumb }
func (s *page[T]) Status() tui.Status { return tui.Status{ReadAt: s.readAt} }
func (s *page[T]) Keys() []tui.Key    { return append(s.keys(s), s.Written.Keys()...) }

// Update implements tui.Screen. A read that failed leaves what was known.
func (s *page[T]) Update(msg tui.Msg) tui.Cmd {
	if msg, ok := msg.(tui.Loaded[read[T]]); ok {
		if s.err = msg.Err; msg.Err == nil {
			s.value, s.faults, s.readAt, s.known = msg.Value.value, msg.Value.faults, msg.Value.at, true
		}
		s.Lay()
	}
	return nil
}

func (s *page[T]) lines(size tui.Size) []string {
	p := &sheet.Page{Theme: s.options.Theme, Width: size.Width}
	p.Faults(theme.Error, "", s.err)
	switch {
	case s.known:
		s.write(p, s.value, s.readAt)
		if err := errors.Join(s.faults...); err != nil {
			p.Title("Not everything could be read")
			p.Faults(theme.Warning, "", err)
		}
	case s.err == nil:
		p.Say("   reading " + s.crumb)
	}
	return p.Lines
}

// NewProducer makes the screen of one producer's entry.
func NewProducer(o Options, id string) tui.Screen {
	return newPage(&page[fluss.Producer]{
		options: o, slot: slotProducer, crumb: "producer " + phrase.Safe(id),
		ask:   func(ctx context.Context) (fluss.Producer, []error, error) { return o.Source.Producer(ctx, id) },
		write: func(p *sheet.Page, x fluss.Producer, at time.Time) { producer(p, x, at) },
		keys: func(s *page[fluss.Producer]) []tui.Key {
			return []tui.Key{
				{Keys: []string{"p"}, Help: "plan" + o.Theme.Signs.More, Disabled: func() string { return noPlan(s) }, Run: func() tui.Cmd {
					return tui.Push(o.Plan(id, !s.value.Found || s.value.Expired))
				}},
				{Keys: []string{"B"}, Help: "buckets", Disabled: o.noTable, Run: func() tui.Cmd { return tui.Push(NewBuckets(o)) }},
				tui.CopyKey(func() (what, text string) {
					if !s.known {
						return "what the next start does", ""
					}
					return "what the next start does", phrase.Safe(actions.NextStart(s.value))
				}),
			}
		},
	})
}

// noPlan is why no plan is made about a producer.
func noPlan(s *page[fluss.Producer]) string {
	switch {
	case s.options.Plan == nil:
		return "no plans are made here"
	case !s.known:
		return "the entry is not known"
	case (!s.value.Found || s.value.Expired) && s.options.Sink == "" && !namesTable(s.value):
		return "nothing valid is stored, and which table the sink writes to is not known: recoverctl plan producer-register"
	}
	return ""
}

// namesTable reports whether an entry is of a table that is there.
func namesTable(x fluss.Producer) bool {
	return slices.ContainsFunc(x.Tables, func(t fluss.ProducerTable) bool { return t.Table != "" })
}

// producer is the page of an entry: the verdict, what the next start does, the
// reasons, and each bucket.
func producer(p *sheet.Page, x fluss.Producer, at time.Time) {
	word, tone := safety(x.Verdict)
	p.Sign(tone, "a restart with this entry is "+word)
	p.Hang(sheet.Indent, theme.Plain, phrase.Safe(actions.NextStart(x)))
	findings(p, x.Findings)
	p.Blank()
	none := p.Theme.Signs.None
	fact := func(name, value string) { p.Hang(fmt.Sprintf("   %-14s ", name), theme.Plain, value) }
	expires := expiry(x, at)
	if x.Expires != nil {
		expires = x.Expires.UTC().Format(time.RFC3339) + ", " + expires
	}
	fact("expires", expires)
	fact("rows to undo", number(x.Undo, "not known"))
	fact("new entries", "stay "+orUnknown(x.TTL)+", cleaned every "+orUnknown(x.Cleanup))
	nodeFacts(fact, x, at)
	for _, t := range x.Tables {
		name := "TABLE " + phrase.Safe(t.Table)
		if t.Table == "" {
			name = "TABLE that is not there, or not visible"
		}
		if t.Partition != nil {
			name += fmt.Sprintf(" partition %s (%d)", phrase.Safe(t.Name), *t.Partition)
		}
		p.Title(fmt.Sprintf("%s, id %d", name, t.ID))
		var rows [][]sheet.Cell
		for _, b := range t.Buckets {
			tone := theme.Plain
			if b.State != "undo" && b.State != "nothing" {
				tone = theme.Error
			}
			rows = append(rows, []sheet.Cell{
				{Text: figures.Group(int64(b.Bucket))}, {Text: number(b.Baseline, none)}, {Text: number(b.Earliest, none)}, {Text: number(b.Latest, none)},
				{Text: number(b.Undo, none)}, {Text: bucketWords[b.State], Tone: tone},
			})
		}
		p.Table([]sheet.Column{{Title: "BUCKET", Right: true}, {Title: "BASELINE", Right: true}, {Title: "LOG BEGINS", Right: true}, {Title: "LOG ENDS", Right: true},
			{Title: "TO UNDO", Right: true}, {Title: "A START"}}, rows)
	}
}

// bucketWords say what a start does to a bucket, by its state.
var bucketWords = map[string]string{
	"undo": "undoes these rows", "nothing": "undoes nothing", "expired": "FAILS: rows expired", "beyond": "FAILS: baseline behind the log",
	"negative": "FAILS: no offset", "unknown": "not known",
}

func orUnknown(text string) string {
	if text == "" {
		return "for a time that is not known"
	}
	return phrase.Safe(text)
}

// findings are reasons, the worst first, each with what to do.
func findings(p *sheet.Page, all []inspect.Finding) {
	for _, f := range all {
		p.Sign(phrase.Tone(f.Severity), phrase.Safe(f.Cause))
		if f.Severity != inspect.SeverityInfo {
			p.Hang(sheet.Indent, theme.Muted, phrase.Safe(f.Next))
		}
	}
}
