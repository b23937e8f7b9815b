package main

import (
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/payload"
)

// groupU is figures.Group for numbers that no int64 holds.
func groupU(n uint64) string { return arkflow.Number(n) }

func numberOr(n *uint64) string {
	if n == nil {
		return "not known"
	}
	return groupU(*n)
}

// renderWAL shows a log: what is wrong first.
func renderWAL(t *table, l walJSON, now time.Time) {
	t.line(l.Headline())
	for _, p := range l.Problems {
		t.line(fmt.Sprintf("%s %s", sign(p.Severity), p.Message))
		t.line("  " + p.Next)
	}
	if !l.Stable {
		renderLogRows(t, l.Decisions)
		return
	}
	t.line("")
	t.row(text("cursor"), text(numberOr(l.Cursor)+", "+cursorRuleText(l.CursorRule)))
	t.row(text("tail"), text(numberOr(l.Tail)))
	t.row(text("entries"), text(entriesText(l.WriteAheadLog)))
	t.row(text("replay window"), text(windowText(l.WriteAheadLog)))
	t.row(text("oldest in it"), text(oldestText(l.WriteAheadLog)))
	if len(l.Gaps) > 0 {
		t.row(text("gaps"), text(gapsText(l.WriteAheadLog)))
	}
	t.row(text("size"), text(sizeText(l.WriteAheadLog)))
	renderStored(t, l.WriteAheadLog, now)
	t.row(text("read"), text(readText(l.WriteAheadLog)))
	t.line("")
	t.line(l.CursorRule.Why)
	for _, what := range l.Unchecked {
		t.line("not checked: " + what)
	}
	renderLogRows(t, l.Decisions)
	renderSegments(t, l.Segments)
	if l.Entries != nil {
		renderListed(t, *l.Entries)
	}
}

// renderLogRows lists rows of the decision table about a log.
func renderLogRows(t *table, rows []arkflow.Decision) {
	if len(rows) == 0 {
		return
	}
	t.line("")
	t.row(text("ROW"), text("OUTCOME"), text("CONDITION"), text("WHAT IS SO"))
	for _, d := range rows {
		outcome := strings.ReplaceAll(string(d.Outcome), "-", " ")
		if d.Outcome == arkflow.Holds {
			outcome = sign(d.Severity) + " " + outcome
		}
		t.row(text(d.Row), text(outcome), text(d.Condition), text(d.Sentence))
	}
}

func cursorRuleText(r arkflow.CursorRule) string {
	switch r.Rule {
	case arkflow.HighWater:
		return "a high-water mark, not contiguous"
	case arkflow.Contiguous:
		return "contiguous: everything up to it was acknowledged"
	default:
		return "to be taken for a high-water mark"
	}
}

func entriesText(l arkflow.WriteAheadLog) string {
	if l.Count == nil {
		return "not all were counted"
	}
	if l.First == nil {
		return groupU(*l.Count)
	}
	return fmt.Sprintf("%s, from sequence %s on", groupU(*l.Count), groupU(*l.First))
}

func windowText(l arkflow.WriteAheadLog) string {
	switch w := l.Window; {
	case w == nil && l.Partial:
		return "not known: a part of the log could not be read"
	case w != nil && l.Partial:
		return fmt.Sprintf("%s to %s or more: %s entries that could be read", groupU(w.From), groupU(w.To), groupU(w.Entries))
	case w != nil && w.Bytes != nil:
		return fmt.Sprintf("%s to %s: %s entries, %s", groupU(w.From), groupU(w.To), groupU(w.Entries), figures.Bytes(*w.Bytes))
	case w != nil:
		return fmt.Sprintf("%s to %s: %s entries", groupU(w.From), groupU(w.To), groupU(w.Entries))
	case l.Cursor == nil:
		return "not known"
	default:
		return "empty: a start replays nothing"
	}
}

func oldestText(l arkflow.WriteAheadLog) string {
	switch o := l.Oldest; {
	case o != nil && o.Source == "object":
		return fmt.Sprintf("sequence %s, older than %s (its segment was stored then)", groupU(o.Sequence), clock.Age(time.Duration(o.AgeMs)*time.Millisecond))
	case o != nil:
		return fmt.Sprintf("sequence %s, %s old (%s)", groupU(o.Sequence), clock.Age(time.Duration(o.AgeMs)*time.Millisecond), o.Source)
	case l.Window == nil:
		return nothing
	default:
		return "no time is known: the input stamps none"
	}
}

func gapsText(l arkflow.WriteAheadLog) string {
	const some = 8
	var parts []string
	for i, g := range l.Gaps {
		if i == some {
			parts = append(parts, fmt.Sprintf("and %d more", len(l.Gaps)-some))
			break
		}
		if g.From == g.To {
			parts = append(parts, groupU(g.From))
			continue
		}
		parts = append(parts, groupU(g.From)+" to "+groupU(g.To))
	}
	return strings.Join(parts, "; ")
}

func sizeText(l arkflow.WriteAheadLog) string {
	if l.Bytes.Payloads == nil {
		return figures.Bytes(l.Bytes.Stored)
	}
	return fmt.Sprintf("%s, of which payloads are %s", figures.Bytes(l.Bytes.Stored), figures.Bytes(*l.Bytes.Payloads))
}

func readText(l arkflow.WriteAheadLog) string {
	if l.Read == arkflow.ReadAll {
		return "everything, with every checksum"
	}
	return "what the replay window needs"
}

// renderStored shows where a log lies.
func renderStored(t *table, l arkflow.WriteAheadLog, now time.Time) {
	switch f, m := l.File, l.Manifest; {
	case f != nil:
		t.row(text("file"), text(fileText(*f)))
		if f.Modified != nil {
			t.row(text("last written"), text(moment(f.Modified, now)))
		}
	case m != nil:
		t.row(text("manifest"), text(fmt.Sprintf("knows sequences up to %s, written %s", groupU(m.MaxSealed), moment(&m.Modified, now))))
	}
}

func fileText(f arkflow.FileFacts) string {
	state := "closed cleanly"
	switch {
	case f.Format == 0:
		return "empty"
	case !f.CleanClose:
		state = "in use, or left by a writer that was killed"
	}
	return fmt.Sprintf("redb format %d, transaction %s, %s", f.Format, groupU(f.Transaction), state)
}

// renderSegments shows the segments that are not as they should be, and counts the
// others.
func renderSegments(t *table, segments []arkflow.Segment) {
	if len(segments) == 0 {
		return
	}
	t.line("")
	whole, rows := 0, 0
	const most = 50
	for _, s := range segments {
		if s.State == arkflow.SegmentWhole && s.InManifest {
			whole++
			continue
		}
		if rows++; rows > most {
			continue
		}
		if rows == 1 {
			t.row(text("SEGMENT"), text("STATE"), num("FIRST"), num("LAST"), num("BYTES"), text("IN MANIFEST"))
		}
		first, last := nothing, nothing
		if s.First != nil {
			first, last = groupU(*s.First), groupU(*s.Last)
		}
		known := "yes"
		if !s.InManifest {
			known = "no"
		}
		t.row(text(s.Name), text(string(s.State)), num(first), num(last), num(figures.Group(s.Bytes)), text(known))
	}
	if rows > most {
		t.line(fmt.Sprintf("and %d more like these", rows-most))
	}
	t.line(fmt.Sprintf("%s of %s segments are whole and in the manifest", figures.Group(int64(whole)), figures.Group(int64(len(segments)))))
}

func renderListed(t *table, entries []arkflow.Entry) {
	t.line("")
	if len(entries) == 0 {
		t.line("the log has no entry")
		return
	}
	t.row(num("SEQUENCE"), text("STATE"), num("BYTES"), text("SHA-256"))
	for i, e := range entries {
		t.row(num(groupU(e.Sequence)), text(entryState(e.Acked, e.Suspect)), num(figures.Group(e.PayloadBytes)), text(e.PayloadSHA256))
		if i%1000 == 999 {
			t.block() // a log may be of any length
		}
	}
}

func entryState(acked, suspect bool) string {
	state := "pending"
	if acked {
		state = "acknowledged"
	}
	if suspect {
		state += ", in a damaged page"
	}
	return state
}

// entryLine is the JSON form of an entry with its payload.
type entryLine struct {
	arkflow.Entry
	Segment       string           `json:"segment,omitempty"`
	Input         *string          `json:"input"` // null: the payload is no batch
	Columns       []arkflow.Column `json:"columns,omitempty"`
	Rows          [][]any          `json:"rows,omitempty"`
	RowCount      *int64           `json:"rowCount"`
	PayloadBase64 string           `json:"payloadBase64,omitempty"`
	Problem       string           `json:"problem,omitempty"`
}

// maxRowsShown bounds the rows of one entry.
const maxRowsShown = 10_000

// entriesOutput writes entries.
type entriesOutput struct {
	*app
	ask    entriesAsk
	log    arkflow.WriteAheadLog
	json   bool
	shown  int
	broken int // payloads that are no batch
}

func (o *entriesOutput) line(e arkflow.EntryPayload) entryLine {
	acked := o.log.Cursor != nil && e.Sequence <= *o.log.Cursor
	line := entryLine{Entry: arkflow.EntryOf(e.Sequence, e.Payload), Segment: e.Source}
	line.Acked, line.Suspect = acked, o.log.Suspect(e.Sequence)
	p, err := arkflow.ParsePayload(e.Payload)
	if err == nil {
		most := maxRowsShown
		if o.ask.as != "rows" && !o.json {
			most = 0
		}
		var batch arkflow.Batch
		if batch, err = p.Decode(most); err == nil {
			line.Input, line.Columns, line.Rows, line.RowCount = &batch.Input, batch.Columns, batch.Rows, &batch.Count
		}
	}
	if err != nil {
		o.broken++
		line.Problem, line.PayloadBase64 = err.Error(), base64.StdEncoding.EncodeToString(e.Payload)
	}
	return line
}

// page writes some entries.
func (o *entriesOutput) page(entries []arkflow.EntryPayload) error {
	t := newTable(o.out, o.width)
	for _, e := range entries {
		line := o.line(e)
		o.shown++
		switch {
		case o.json:
			if err := writeLine(o.out, line); err != nil {
				return err
			}
		case o.ask.as == "":
			if o.shown == 1 {
				t.row(num("SEQUENCE"), text("STATE"), text("INPUT"), num("ROWS"), num("BYTES"), text("SEGMENT"))
			}
			rows := nothing
			if line.RowCount != nil {
				rows = figures.Group(*line.RowCount)
			}
			t.row(num(groupU(e.Sequence)), text(entryState(line.Acked, line.Suspect)), text(inputText(line)), num(rows), num(figures.Group(line.PayloadBytes)), text(e.Source))
		default:
			o.whole(t, e, line)
		}
	}
	return t.flush()
}

func inputText(line entryLine) string {
	switch {
	case line.Input == nil:
		return "no batch: " + line.Problem
	case *line.Input == "":
		return "no name"
	default:
		return *line.Input
	}
}

// whole shows an entry with its payload.
func (o *entriesOutput) whole(t *table, e arkflow.EntryPayload, line entryLine) {
	t.line(fmt.Sprintf("sequence %s: %s, %s bytes, SHA-256 %s", groupU(e.Sequence), entryState(line.Acked, line.Suspect), figures.Group(line.PayloadBytes), line.PayloadSHA256))
	if o.ask.as == "hex" || line.Input == nil {
		if line.Problem != "" {
			t.line("  " + line.Problem)
		}
		for row := range payload.HexRows(e.Payload) {
			t.line("    " + payload.HexRow(e.Payload, row))
		}
		return
	}
	t.line(fmt.Sprintf("  input %s, %s rows", inputText(line), figures.Group(*line.RowCount)))
	for i, row := range line.Rows {
		if *line.RowCount > 1 {
			t.line(fmt.Sprintf("  row %d", i+1))
		}
		for c, column := range line.Columns {
			t.row(text("    "+column.Name), text(column.Type), text(arkflow.CellText(row[c])))
		}
		t.block()
	}
	if left := *line.RowCount - int64(len(line.Rows)); left > 0 {
		t.line(fmt.Sprintf("  and %s more rows", figures.Group(left)))
	}
}

// end says what is left, and what the log's problems make of the answer.
func (o *entriesOutput) end(next uint64) error {
	if !o.json {
		t := newTable(o.out, o.width)
		switch {
		case o.shown == 0:
			t.line("no entry lies there")
		case next > 0:
			t.line(fmt.Sprintf("and more: go on with --from %d, or give --limit", next))
		}
		if err := t.flush(); err != nil {
			return notWritten(err)
		}
	}
	return o.status()
}

func (o *entriesOutput) status() error {
	if o.broken > 0 || o.log.Worst().AtLeast(inspect.SeverityWarning) {
		return exitStatus(fault.Problem.Exit())
	}
	return nil
}

// raw writes a payload as it is.
func (o *entriesOutput) raw(data []byte) error {
	if o.width > 0 {
		return fault.New(fault.Usage, "write the payload", "a payload's bytes may steer a terminal").WithHint("send them to a file: … --as raw > entry-%d.bin", o.ask.sequence)
	}
	if _, err := o.out.Write(data); err != nil {
		return notWritten(err)
	}
	return nil
}
