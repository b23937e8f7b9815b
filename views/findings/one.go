package findings

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// write adds a finding in full: the cause, what to do, numbers, addresses, and
// the rule's name.
func write(p *sheet.Page, f inspect.Finding) {
	p.Hang("", phrase.Tone(f.Severity), phrase.Safe(f.Cause))
	if f.Next != "" {
		p.Hang("next: ", theme.Plain, phrase.Safe(f.Next))
	}
	for _, number := range numbers(f.Numbers) {
		p.Hang("", theme.Muted, number)
	}
	for _, ref := range f.Refs {
		p.Hang("", theme.Muted, phrase.Safe(ref))
	}
	p.Hang("rule ", theme.Muted, phrase.Safe(f.Rule))
}

// numbers are the values that a finding names, in words, in the order of their
// names.
func numbers(named inspect.Named) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(named)) {
		var value string
		switch v := named[name].(type) {
		case int32:
			value = figures.Group(int64(v))
		case int64:
			value = figures.Group(v)
		case string:
			value = phrase.Safe(v)
		case []int32:
			value = figures.Ranges(v, 20)
		case inspect.Offsets:
			var parts []string
			for _, part := range v.Partitions() {
				parts = append(parts, fmt.Sprintf("%d:%s", part, figures.Group(v[part])))
			}
			value = strings.Join(parts, "  ")
		default:
			value = phrase.Safe(fmt.Sprint(v))
		}
		out = append(out, phrase.Safe(name)+" "+value)
	}
	return out
}

// asText is a finding for a ticket.
func asText(f inspect.Finding) string {
	p := &sheet.Page{Width: 1 << 16}
	p.Hang(phrase.Safe(string(f.Severity))+": ", theme.Plain, phrase.Safe(f.Cause))
	rest := &sheet.Page{Width: 1 << 16}
	write(rest, f)
	return strings.Join(append(p.Lines, rest.Lines[1:]...), "\n") + "\n"
}

// one is the screen of a single finding.
type one struct {
	options Options
	finding inspect.Finding
	readAt  time.Time
	sheet   *sheet.Sheet
}

func newOne(o Options, f inspect.Finding, readAt time.Time) *one {
	return &one{options: o, finding: f, readAt: readAt, sheet: sheet.New(o.Theme)}
}

func (o *one) Init() tui.Cmd             { return nil }
func (o *one) Update(tui.Msg) tui.Cmd    { return nil }
func (o *one) Crumb() string             { return phrase.Safe(o.finding.Rule) }
func (o *one) Status() tui.Status        { return tui.Status{ReadAt: o.readAt} }
func (o *one) View(size tui.Size) string { return o.sheet.View(size) }
func (o *one) Commands() []tui.Command   { return o.options.Commands }

func (o *one) Keys() []tui.Key {
	copied := tui.CopyKey(func() (what, text string) { return "the finding", asText(o.finding) })
	return append([]tui.Key{copied}, o.sheet.Keys()...)
}

func (o *one) Resize(size tui.Size) {
	p := &sheet.Page{Theme: o.options.Theme, Width: size.Width - len(sheet.Indent)}
	write(p, o.finding)
	tone := phrase.Tone(o.finding.Severity)
	lead := o.options.Theme.Paint(tone, sheet.Lead(o.options.Theme, tone))
	for i, line := range p.Lines {
		p.Lines[i] = lead + line
		lead = sheet.Indent
	}
	o.sheet.Set(p.Lines)
	o.sheet.Resize(size.Height)
}
