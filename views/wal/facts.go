package wal

import (
	"fmt"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// facts is the screen of all that is known of the log: each problem with what to
// do about it, and where the log lies.
type facts struct {
	list  *Screen
	sheet *sheet.Sheet
	size  tui.Size
}

func newFacts(list *Screen) *facts {
	return &facts{list: list, sheet: sheet.New(list.options.Theme)}
}

func (f *facts) Init() tui.Cmd             { return nil }
func (f *facts) Update(tui.Msg) tui.Cmd    { return nil }
func (f *facts) View(size tui.Size) string { return f.sheet.View(size) }
func (f *facts) Crumb() string             { return "problems and facts" }
func (f *facts) Status() tui.Status        { return f.list.Status() }

func (f *facts) Keys() []tui.Key {
	return append([]tui.Key{tui.CopyKey(func() (what, text string) { return "the log's summary", f.list.summary() })}, f.sheet.Keys()...)
}

// Resize implements tui.Resizer.
func (f *facts) Resize(size tui.Size) {
	f.size = size
	f.sheet.Set(f.lines())
	f.sheet.Resize(size.Height)
}

func (f *facts) lines() []string {
	l := f.list.log
	p := &sheet.Page{Theme: f.list.options.Theme, Width: f.size.Width}
	for _, problem := range l.Problems {
		p.Sign(phrase.Tone(problem.Severity), phrase.Safe(problem.Message))
		p.Hang(sheet.Indent, theme.Muted, problem.Next)
	}
	if len(l.Problems) == 0 {
		p.Sign(theme.OK, "nothing is wrong with what was read")
	}
	for _, what := range l.Unchecked {
		p.Sign(theme.Warning, "not checked: "+what)
	}
	p.Title("  THE LOG")
	fact := func(name, value string) { p.Hang(fmt.Sprintf("   %-14s ", name), theme.Plain, value) }
	fact("place", phrase.Safe(l.Place))
	fact("cursor means", ruleWords(l.CursorRule.Rule)+": "+l.CursorRule.Why)
	if l.Count != nil {
		fact("entries", arkflow.Number(*l.Count))
	}
	if w := l.Window; w != nil {
		fact("replay window", fmt.Sprintf("sequences %s to %s, %s entries", arkflow.Number(w.From), arkflow.Number(w.To), arkflow.Number(w.Entries)))
	}
	if o := l.Oldest; o != nil {
		fact("oldest in it", fmt.Sprintf("sequence %s, %s old at %s, by %s", arkflow.Number(o.Sequence), clock.Age(time.Duration(o.AgeMs)*time.Millisecond), f.list.readAt.UTC().Format("15:04Z"), o.Source))
	} else if l.Window != nil {
		fact("oldest in it", "no time is known: the input stamps none")
	}
	fact("stored", figures.Bytes(l.Bytes.Stored))
	f.stored(fact)
	f.segments(p)
	return p.Lines
}

func (f *facts) stored(fact func(name, value string)) {
	l := f.list.log
	switch {
	case l.File != nil:
		state := "closed cleanly"
		if !l.File.CleanClose {
			state = "in use, or left by a writer that was killed"
		}
		fact("file", fmt.Sprintf("redb format %d, transaction %s, %s", l.File.Format, arkflow.Number(l.File.Transaction), state))
	case l.Manifest != nil:
		fact("manifest", fmt.Sprintf("knows sequences up to %s, written %s", arkflow.Number(l.Manifest.MaxSealed), l.Manifest.Modified.UTC().Format(time.RFC3339)))
	}
	if l.Node != "" || l.Stream != "" {
		fact("written by", phrase.Safe(strings.Join([]string{l.Node, l.Stream}, ", stream ")))
	}
}

// segments lists those that are not whole and known.
func (f *facts) segments(p *sheet.Page) {
	all := f.list.log.Segments
	if len(all) == 0 {
		return
	}
	none := f.list.options.Theme.Signs.None
	var rows [][]sheet.Cell
	whole := 0
	const most = 200
	for _, s := range all {
		if s.State == arkflow.SegmentWhole && s.InManifest {
			whole++
			continue
		}
		if len(rows) == most {
			continue
		}
		first, last, known := none, none, "yes"
		if s.First != nil {
			first, last = arkflow.Number(*s.First), arkflow.Number(*s.Last)
		}
		if !s.InManifest {
			known = "no"
		}
		rows = append(rows, []sheet.Cell{{Text: phrase.Safe(s.Name)}, {Text: string(s.State)}, {Text: first}, {Text: last}, {Text: figures.Group(s.Bytes)}, {Text: known}})
	}
	p.Title("  SEGMENTS")
	p.Say(fmt.Sprintf("   %s of %s are whole and in the manifest", figures.Group(int64(whole)), figures.Group(int64(len(all)))))
	if len(rows) > 0 {
		p.Table([]sheet.Column{{Title: "SEGMENT"}, {Title: "STATE"}, {Title: "FIRST", Right: true}, {Title: "LAST", Right: true}, {Title: "BYTES", Right: true}, {Title: "IN MANIFEST"}}, rows)
	}
}
