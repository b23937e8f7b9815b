package records

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/payload"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// one is the screen of one record: what it is, and its value whole.
type one struct {
	list   *Screen
	offset int64

	read
	known    bool
	err      error
	answered bool
	mode     mode
	rows     *breaker // of the value's text; nil: none were asked for
	atEnd    bool     // the operator went to the end, wherever that will be

	sheet *sheet.Sheet
	size  tui.Size
}

// mode is how a value is shown.
type mode int

const (
	asDecoded mode = iota // JSON with indentation, other text as it is
	asRaw                 // as the bytes are
	asHex
)

var modeNames = [...]string{asDecoded: "decoded", asRaw: "raw", asHex: "hex"}

func newOne(list *Screen, offset int64) *one {
	return &one{list: list, offset: offset, sheet: sheet.New(list.options.Theme)}
}

// read is a record with all that takes long to find out about it.
type read struct {
	record  inspect.LogRecord
	decoded inspect.DecodedRecord
	kind    payload.Kind
	pretty  []byte
}

func (o *one) Init() tui.Cmd {
	b, part, offset, c, word := o.list.browser, o.list.partition, o.offset, o.list.context, o.list.part()
	return tui.Batch(tui.Work(o), tui.Load("record", func(ctx context.Context) (read, error) {
		page, err := b.From(ctx, part, offset, 1)
		if err != nil {
			return read{}, err
		}
		if len(page.Records) == 0 || page.Records[0].Offset != offset {
			return read{}, fault.New(fault.NotFound, "read records", "%s %d has no record at offset %s any more", word, part, figures.Group(offset)).
				WithHint("r in the list reads the log range again")
		}
		r := page.Records[0]
		return read{r, inspect.DecodeRecord(r, c), payload.KindOf(r.Value), payload.Pretty(r.Value)}, nil
	}))
}

func (o *one) Update(msg tui.Msg) tui.Cmd {
	if loaded, ok := msg.(tui.Loaded[read]); ok {
		o.answered, o.err = true, loaded.Err
		if loaded.Err == nil {
			o.read, o.known, o.rows = loaded.Value, true, nil
		}
		o.lay()
	}
	return nil
}

// text is what the mode shows.
func (o *one) text() []byte {
	if o.mode == asDecoded {
		return o.pretty
	}
	return o.record.Value
}

// wanted is how wide the rows of a text are, in cells.
func (o *one) wanted() int { return max(o.size.Width-len(sheet.Indent)-1, leastWidth) }

// Busy implements tui.Worker: a long value is broken into rows in small steps, so
// that it is on the screen at once.
func (o *one) Busy() bool {
	return o.known && o.mode != asHex && o.size.Width > 0 && (o.rows == nil || o.rows.width != o.wanted() || !o.rows.done())
}

// Step implements tui.Worker.
func (o *one) Step() {
	if !o.Busy() {
		return
	}
	if o.rows == nil || o.rows.width != o.wanted() {
		o.rows = newBreaker(o.text(), o.wanted())
	}
	o.rows.step(time.Now().Add(stepTime))
	o.lay()
	if o.atEnd {
		o.sheet.End()
	}
}

// stepTime is how long a Step takes.
const stepTime = 4 * time.Millisecond

func (o *one) View(size tui.Size) string { return o.sheet.View(size) }

func (o *one) Crumb() string {
	return fmt.Sprintf("%d/%s", o.list.partition, figures.Group(o.offset))
}

func (o *one) Status() tui.Status      { return o.list.Status() }
func (o *one) Commands() []tui.Command { return o.list.options.Commands }
func (o *one) Reload() tui.Cmd         { return o.Init() }

func (o *one) Resize(size tui.Size) {
	o.size = size
	o.lay()
}

// lay puts what is known of the record above its value.
func (o *one) lay() {
	p := &sheet.Page{Theme: o.list.options.Theme, Width: o.size.Width}
	n, row := 0, func(int) string { return "" }
	switch {
	case !o.answered:
		p.Say("reading the record")
	case !o.known:
		p.Faults(theme.Error, "", o.err)
	case o.mode == asHex:
		o.facts(p)
		value := o.record.Value
		n, row = payload.HexRows(value), func(i int) string { return payload.HexRow(value, i) }
	default:
		o.facts(p)
		if rows := o.rows; rows != nil {
			n, row = rows.len(), rows.row
		}
	}
	head := p.Lines
	o.sheet.SetRows(len(head)+n, func(i int) string {
		if i < len(head) {
			return head[i]
		}
		return sheet.Indent + row(i-len(head))
	})
	o.sheet.Resize(o.size.Height)
}

// facts are what the bytes tell.
func (o *one) facts(p *sheet.Page) {
	r, d := o.record, o.decoded
	fact := func(name, value string) { p.Hang(fmt.Sprintf("   %-12s ", name), theme.Plain, value) }
	fact("record", fmt.Sprintf("%s %d, offset %s", o.list.part(), r.Partition, figures.Group(r.Offset)))
	by := "as its writer says"
	switch {
	case r.Appended && o.list.options.Job.Store == inspect.StoreFluss:
		by = "as the server appended it"
	case r.Appended:
		by = "as the broker says"
	}
	fact("time", r.Timestamp.UTC().Format(time.RFC3339Nano)+", "+by)
	if d.Producer != nil {
		fact("transaction", "of producer "+figures.Group(*d.Producer))
	}
	text, tone := what(d)
	p.Hang(fmt.Sprintf("   %-12s ", "is"), tone, text)
	o.keyFacts(fact)
	for _, h := range r.Headers {
		value := "null"
		if h.Value != nil {
			value = phrase.Safe(string(h.Value))
		}
		name := "header"
		if o.list.options.Job.Store == inspect.StoreFluss {
			name = "column"
		}
		fact(name, phrase.Safe(h.Key)+" = "+value)
	}
	if d.Elsewhere != nil {
		p.Sign(theme.Warning, fmt.Sprintf("the key computes to %s %d", o.list.part(), *d.Elsewhere))
	}
	if d.Refused != nil {
		who := "a restore of the next version"
		if o.list.options.Job.Store == inspect.StoreFluss {
			who = "a restore"
		}
		p.Sign(theme.Error, who+" stops here: "+phrase.Safe(d.Refused.Message))
	}
	o.calls(p)
	p.Title("  VALUE  " + string(o.kind) + ", " + figures.Group(int64(len(r.Value))) + " bytes, " + modeNames[o.mode])
}

func (o *one) keyFacts(fact func(name, value string)) {
	d := o.decoded
	if d.BusinessKey == nil {
		key := "null"
		if o.record.Key != nil {
			key = phrase.Safe(string(o.record.Key))
		}
		fact("key", key)
		return
	}
	fact("key", phrase.Key(*d.BusinessKey))
	group := ""
	if d.KeyGroup != nil {
		group = ", key group " + figures.Group(int64(*d.KeyGroup))
	}
	fact("generation", fmt.Sprintf("%d", d.Generation)+group+", sequence "+figures.Group(*d.Sequence))
	event := d.EventUUID
	if d.State != nil && d.State.EventType != "" {
		event += ", type " + phrase.Safe(d.State.EventType)
	}
	fact("event", event)
	fact("action", d.ActionUUID)
}

func (o *one) calls(p *sheet.Page) {
	if o.decoded.State == nil || len(o.decoded.State.Calls) == 0 {
		return
	}
	rows := [][]sheet.Cell{}
	none := o.list.options.Theme.Signs.None
	size := func(n *int64) string {
		if n == nil {
			return none
		}
		return figures.Group(*n)
	}
	for _, c := range o.decoded.State.Calls {
		status, tone := none, theme.Plain
		if c.Status != nil {
			status = phrase.Safe(*c.Status)
			if status == "PENDING" {
				tone = theme.Warning
			}
		}
		rows = append(rows, []sheet.Cell{
			{Text: fmt.Sprintf("%s#%d", phrase.Safe(c.FunctionID), c.Index)}, {Text: status, Tone: tone},
			{Text: size(c.ResultBytes)}, {Text: size(c.ExceptionBytes)}, {Text: phrase.Safe(c.ArgsDigest)},
		})
	}
	p.Blank()
	p.Table([]sheet.Column{{Title: "CALL"}, {Title: "STATUS"}, {Title: "RESULT", Right: true}, {Title: "FAILURE", Right: true}, {Title: "ARGUMENTS"}}, rows)
}

// Keys implements tui.Screen.
func (o *one) Keys() []tui.Key {
	unknown := func() string {
		if !o.known {
			return "the record is not known"
		}
		return ""
	}
	next := (o.mode + 1) % mode(len(modeNames))
	keys := []tui.Key{
		{Keys: []string{"x"}, Help: modeNames[next], Disabled: unknown, Run: func() tui.Cmd {
			o.mode, o.rows = next, nil
			o.lay()
			return nil
		}},
		tui.CopyKey(func() (what, text string) { return copied("value", o.record.Value) }),
		{Keys: []string{"Y"}, Help: "copy key", Disabled: unknown, Run: func() tui.Cmd {
			what, text := copied("key", o.record.Key)
			return tui.Copy(what, text)
		}},
	}
	for _, k := range o.sheet.Keys() {
		run, end := k.Run, slices.Contains(k.Keys, "G")
		k.Run = func() tui.Cmd {
			o.atEnd = end
			return run()
		}
		keys = append(keys, k)
	}
	return keys
}

// copied is a key or a value as a terminal can take it: as it is, or as base64
// where it holds what a terminal would obey.
func copied(name string, data []byte) (what, text string) {
	text = string(data)
	if len(text) > tui.MaxCopy { // it is not copied, and its size is said
		return "the " + name, text
	}
	plain := strings.NewReplacer("\n", "", "\t", "").Replace(text)
	if utf8.ValidString(text) && strings.IndexFunc(plain, func(r rune) bool { return !safetext.Printable(r) }) < 0 {
		return "the " + name, text
	}
	return "the " + name + " as base64", base64.StdEncoding.EncodeToString(data)
}
