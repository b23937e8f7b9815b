package arkflow_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/inspect/arkflow"
)

// rustTypes are the engine's names of Arrow's types by those that are shown here.
var rustTypes = map[string]string{
	"binary": "Binary", "utf8": "Utf8", "uint32": "UInt32", "uint64": "UInt64", "timestamp[ns]": "Timestamp(ns)",
}

// Every payload that the engine's own decoder reads has the same input, columns
// and values here.
func TestPayloadsAreDecodedAsByTheEngine(t *testing.T) {
	fixtures, err := filepath.Glob(localFixtures + "*/*")
	if err != nil {
		t.Fatal(err)
	}
	decoded := 0
	for _, fixture := range fixtures {
		if filepath.Base(fixture) == "FuzzRead" {
			continue
		}
		want := expectedOf[localExpected](t, filepath.Join(fixture, "expected.json"))
		entries := want.Report.Redb2.Value.Entries
		if want.Report.Redb4.OK {
			entries = want.Report.Redb4.Value.Entries
		}
		if damaged := filepath.Base(fixture) == "bad-slot-primary-clean"; len(entries) == 0 || damaged {
			continue
		}
		log, err := logReader().Read(context.Background(), fixture, arkflow.Question{})
		if err != nil {
			t.Fatal(err)
		}
		list, err := logReader().Entries(context.Background(), log, 0, len(entries)+1)
		if err != nil || len(list.Entries) != len(entries) || list.More {
			if filepath.Base(fixture) == "bad-entry-clean" {
				continue // told as damage
			}
			t.Fatalf("%s: %d entries, want %d, %v", fixture, len(list.Entries), len(entries), err)
		}
		for i, e := range list.Entries {
			decoded += comparePayload(t, filepath.Base(fixture), e, entries[i])
		}
	}
	if decoded < 250 {
		t.Errorf("%d payloads were decoded", decoded)
	}
}

func comparePayload(t *testing.T, fixture string, e arkflow.EntryPayload, want wantedEntry) int {
	t.Helper()
	p, err := arkflow.ParsePayload(e.Payload)
	var batch arkflow.Batch
	if err == nil {
		batch, err = p.Decode(100)
	}
	if want.Broken != "" {
		if err == nil {
			t.Errorf("%s, %d: %+v; the engine says %s", fixture, e.Sequence, batch, want.Broken)
		}
		return 0
	}
	if want.Rows == nil || want.Columns == nil {
		return 0 // what the fixture does not tell
	}
	if err != nil || batch.Count != *want.Rows || len(batch.Columns) != len(want.Columns) || want.Input != nil && batch.Input != *want.Input {
		t.Errorf("%s, %d: %+v, %v", fixture, e.Sequence, batch, err)
		return 0
	}
	for c, column := range want.Columns {
		if got := batch.Columns[c]; got.Name != column.Name || !strings.HasPrefix(column.Type, "Map(") && rustTypes[got.Type] != column.Type {
			t.Errorf("%s, %d: column %+v, want %s %s", fixture, e.Sequence, got, column.Name, column.Type)
		}
		for r, v := range column.Values {
			if got := arkflow.CellText(batch.Rows[r][c]); v != nil && got != *v || v == nil && got != "null" {
				t.Errorf("%s, %d: %s is %q, want %v", fixture, e.Sequence, column.Name, got, v)
			}
		}
	}
	return 1
}

// Payloads that are none are refused with a sentence, and without their bytes.
func TestPayloadsThatAreNone(t *testing.T) {
	log, err := logReader().Read(context.Background(), localFixtures+"wal-local/kafka-meta", arkflow.Question{})
	if err != nil {
		t.Fatal(err)
	}
	one, err := logReader().Payload(context.Background(), log, 5)
	if err != nil {
		t.Fatal(err)
	}
	name := int(binary.BigEndian.Uint32(one))
	message := 4 + name
	change := func(at int, b ...byte) []byte {
		out := bytes.Clone(one)
		copy(out[at:], b)
		return out
	}
	for what, payload := range map[string][]byte{
		"empty":                 {},
		"short":                 {0, 0, 0},
		"a name past the end":   {0xff, 0xff, 0xff, 0xff, 1},
		"a name that is none":   {0, 0, 0, 1, 0xff},
		"no stream":             one[:message],
		"a stream cut off":      one[:len(one)/2],
		"no continuation":       change(message, 1, 2, 3, 4),
		"huge metadata":         change(message+4, 0xff, 0xff, 0xff, 0x7f),
		"negative metadata":     change(message+4, 0, 0, 0, 0x80),
		"metadata of nothing":   change(message+8, bytes.Repeat([]byte{0xff}, 64)...),
		"an end before a batch": append(bytes.Clone(one[:message]), 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0),
	} {
		p, err := arkflow.ParsePayload(payload)
		if err == nil {
			_, err = p.Decode(10)
		}
		if err == nil || len(err.Error()) > 400 {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// FuzzPayload changes bytes of real payloads: none may be read outside of itself.
func FuzzPayload(f *testing.F) {
	for _, name := range []string{"kafka-meta", "clean-pending", "multi-input", "lib-v3-clean"} {
		log, err := logReader().Read(context.Background(), localFixtures+"wal-local/"+name, arkflow.Question{})
		if err != nil {
			f.Fatal(err)
		}
		payload, err := logReader().Payload(context.Background(), log, *log.First)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(payload)
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		p, err := arkflow.ParsePayload(payload)
		if err != nil {
			return
		}
		batch, err := p.Decode(20)
		if err == nil && (len(batch.Rows) > 20 || int64(len(batch.Rows)) > batch.Count) {
			t.Errorf("%d rows of %d", len(batch.Rows), batch.Count)
		}
		for _, row := range batch.Rows {
			for _, cell := range row {
				arkflow.CellText(cell)
			}
		}
		p.Oldest()
	})
}
