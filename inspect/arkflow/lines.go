package arkflow

import (
	"bytes"
	"context"
	"encoding/json"
)

// Line is what a list shows of an entry.
type Line struct {
	Sequence uint64
	Bytes    int64 // of the payload
	Input    string
	Rows     int64
	Segment  string // empty: the file
	Problem  string // why the payload is no batch; empty: it is one
}

// Lines describes entries of a log that was read before, as [Logs.Entries] gives
// them. What lies in damaged pages of a log that is known to have some is described
// too.
func (r *Logs) Lines(ctx context.Context, l WriteAheadLog, from uint64, limit int) (lines []Line, more bool, err error) {
	list, err := r.stretch(ctx, l, from, limit, len(l.Corrupt) > 0)
	if err != nil {
		return nil, false, err
	}
	for _, e := range list.Entries {
		line, _ := describe(e, 0)
		lines = append(lines, line)
	}
	return lines, list.More, nil
}

// Opened is one entry with what its payload holds.
type Opened struct {
	Line
	Entry
	Payload []byte
	Batch   Batch  // empty where the payload is none
	JSON    []byte // the rows, laid out; nil where the payload is no batch
}

// openedRows bounds the rows of an entry that is opened.
const openedRows = 1000

// Open reads one entry.
func (r *Logs) Open(ctx context.Context, l WriteAheadLog, sequence uint64) (Opened, error) {
	list, err := r.stretch(ctx, l, sequence, 1, true)
	if err != nil {
		return Opened{}, err
	}
	if len(list.Entries) == 0 || list.Entries[0].Sequence != sequence {
		return Opened{}, noEntry(l, sequence)
	}
	e := list.Entries[0]
	o := Opened{Payload: e.Payload, Entry: EntryOf(sequence, e.Payload)}
	o.Acked, o.Suspect = l.Cursor != nil && sequence <= *l.Cursor, l.Suspect(sequence)
	o.Line, o.Batch = describe(e, openedRows)
	if o.Problem == "" {
		rows := make([]map[string]any, 0, len(o.Batch.Rows))
		for _, row := range o.Batch.Rows {
			named := make(map[string]any, len(row))
			for i, c := range o.Batch.Columns {
				named[c.Name] = row[i]
			}
			rows = append(rows, named)
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(rows); err != nil {
			return Opened{}, err
		}
		o.JSON = b.Bytes()
	}
	return o, nil
}

func describe(e EntryPayload, rows int) (Line, Batch) {
	line := Line{Sequence: e.Sequence, Bytes: int64(len(e.Payload)), Segment: e.Source}
	p, err := ParsePayload(e.Payload)
	var batch Batch
	if err == nil {
		batch, err = p.Decode(rows)
	}
	if err != nil {
		line.Problem = err.Error()
		return line, Batch{}
	}
	line.Input, line.Rows = batch.Input, batch.Count
	return line, batch
}
