package wal

import (
	"context"
	"fmt"
	"strings"

	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/payload"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// entry is the screen of one entry: what it is, and its payload.
type entry struct {
	list     *Screen
	sequence uint64

	opened   arkflow.Opened
	known    bool
	answered bool
	err      error
	mode     mode

	sheet *sheet.Sheet
	size  tui.Size
}

// mode is how a payload is shown.
type mode int

const (
	asRows mode = iota
	asJSON
	asHex
)

var modeNames = [...]string{asRows: "rows", asJSON: "JSON", asHex: "hex"}

func newEntry(list *Screen, sequence uint64) *entry {
	return &entry{list: list, sequence: sequence, sheet: sheet.New(list.options.Theme)}
}

func (e *entry) Init() tui.Cmd {
	source, log, n := e.list.options.Source, e.list.log, e.sequence
	return tui.Load("entry", func(ctx context.Context) (arkflow.Opened, error) { return source.Open(ctx, log, n) })
}

func (e *entry) Update(msg tui.Msg) tui.Cmd {
	if loaded, ok := msg.(tui.Loaded[arkflow.Opened]); ok {
		e.answered, e.err = true, loaded.Err
		if loaded.Err == nil {
			e.opened, e.known = loaded.Value, true
			if e.opened.Problem != "" {
				e.mode = asHex
			}
		}
		e.lay()
	}
	return nil
}

func (e *entry) View(size tui.Size) string { return e.sheet.View(size) }
func (e *entry) Crumb() string             { return arkflow.Number(e.sequence) }
func (e *entry) Status() tui.Status        { return e.list.Status() }
func (e *entry) Reload() tui.Cmd           { return e.Init() }

// Resize implements tui.Resizer.
func (e *entry) Resize(size tui.Size) {
	e.size = size
	e.lay()
}

func (e *entry) lay() {
	p := &sheet.Page{Theme: e.list.options.Theme, Width: e.size.Width}
	n, row := 0, func(int) string { return "" }
	switch {
	case !e.answered:
		p.Say("reading the entry")
	case !e.known:
		p.Faults(theme.Error, "", e.err)
	default:
		e.facts(p)
		switch data := e.opened.Payload; e.mode {
		case asRows:
			e.rows(p)
		case asJSON:
			e.json(p)
		case asHex:
			n, row = payload.HexRows(data), func(i int) string { return payload.HexRow(data, i) }
		}
	}
	head := p.Lines
	e.sheet.SetRows(len(head)+n, func(i int) string {
		if i < len(head) {
			return head[i]
		}
		return sheet.Indent + row(i-len(head))
	})
	e.sheet.Resize(e.size.Height)
}

func (e *entry) facts(p *sheet.Page) {
	o := e.opened
	fact := func(name, value string) { p.Hang(fmt.Sprintf("   %-10s ", name), theme.Plain, value) }
	state := "pending: a start replays it"
	switch {
	case e.list.log.Cursor == nil:
		state = "the cursor is not known"
	case o.Acked:
		state = "acknowledged: at or below the cursor"
	}
	fact("state", state)
	if o.Suspect {
		p.Sign(theme.Error, "it lies in a page whose checksum is wrong: what is shown may not be what was written")
	}
	if o.Problem != "" {
		p.Sign(theme.Error, "no batch: "+phrase.Safe(o.Problem))
	} else {
		input := o.Input
		if input == "" {
			input = "no name"
		}
		fact("input", phrase.Safe(input))
	}
	if o.Segment != "" {
		fact("segment", phrase.Safe(o.Segment))
	}
	fact("sha-256", o.PayloadSHA256)
	p.Title(fmt.Sprintf("  PAYLOAD  %s bytes, %s, as %s", figures.Group(o.Bytes), phrase.Count(int(o.Rows), "row", "rows"), modeNames[e.mode]))
}

// Bounds of what is laid out as text; hexadecimal shows everything.
const (
	maxCell = 4 << 10  // bytes of one cell
	maxLaid = 1 << 10  // rows
	maxJSON = 64 << 10 // bytes of the JSON
)

// rows shows one column a line, row by row.
func (e *entry) rows(p *sheet.Page) {
	b := e.opened.Batch
	wide := 0
	for _, c := range b.Columns {
		wide = max(wide, len(phrase.Safe(c.Name)))
	}
	wide = min(wide, max(e.size.Width/3, 8))
	for i, row := range b.Rows {
		if i == maxLaid {
			break
		}
		if b.Count > 1 {
			p.Say(fmt.Sprintf("   row %s", figures.Group(int64(i+1))))
		}
		for c, column := range b.Columns {
			text := arkflow.CellText(row[c])
			if len(text) > maxCell {
				text = text[:maxCell] + fmt.Sprintf(" (cut: %s bytes)", figures.Group(int64(len(text))))
			}
			tone := theme.Plain
			if row[c] == nil {
				tone = theme.Muted
			}
			p.Hang(fmt.Sprintf("   %-*s ", wide, phrase.Safe(column.Name)), tone, phrase.Safe(text))
		}
	}
	if left := b.Count - int64(min(len(b.Rows), maxLaid)); left > 0 {
		p.Say(fmt.Sprintf("   and %s more rows: recoverctl inspect arkflow entries shows them", figures.Group(left)))
	}
}

func (e *entry) json(p *sheet.Page) {
	text := e.opened.JSON
	cut := len(text) > maxJSON
	if cut {
		text = text[:maxJSON]
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		indent := len(line) - len(strings.TrimLeft(line, " "))
		p.Hang(sheet.Indent+strings.Repeat(" ", indent), theme.Plain, phrase.Safe(line[indent:]))
	}
	if cut {
		p.Say(fmt.Sprintf("   cut: the JSON has %s bytes; recoverctl inspect arkflow entries -o json shows all", figures.Group(int64(len(e.opened.JSON)))))
	}
}

// Keys implements tui.Screen.
func (e *entry) Keys() []tui.Key {
	unknown := func() string {
		switch {
		case !e.known:
			return "the entry is not known"
		case e.opened.Problem != "":
			return "the payload is no batch"
		}
		return ""
	}
	next := (e.mode + 1) % mode(len(modeNames))
	keys := []tui.Key{
		{Keys: []string{"x"}, Help: modeNames[next], Disabled: unknown, Run: func() tui.Cmd {
			e.mode = next
			e.lay()
			e.sheet.Top()
			return nil
		}},
		tui.CopyKey(func() (what, text string) { return "the rows as JSON", copied(e.opened.JSON) }),
	}
	return append(keys, e.sheet.Keys()...)
}

// copied is a text of several lines, and nothing where one of them holds what a
// terminal may not be shown.
func copied(text []byte) string {
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSuffix(line, "\n"); phrase.Copied(line) != line {
			return ""
		}
	}
	return string(text)
}
