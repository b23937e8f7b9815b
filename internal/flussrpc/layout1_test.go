package flussrpc

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// Batches of layout 1 as release 0.9.1 keeps and serves them, between others, are
// read as its own client reads them.
func TestRealBatchesOfLayout1(t *testing.T) {
	records, err := os.ReadFile("testdata/layout1/records.bin")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/layout1/rows.json")
	if err != nil {
		t.Fatal(err)
	}
	var want []struct {
		Offset, Timestamp int64
		Change            string
		Row               struct {
			N   int64
			Txt string
		}
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if part, next := whole(records, 0); len(part) != len(records) || next != int64(len(want)) {
		t.Errorf("%d of %d bytes are whole, up to offset %d", len(part), len(records), next)
	}
	schema := Schema{ID: 1, Columns: []Column{{Name: "n", Type: Type{Name: "BIGINT"}}, {Name: "txt", Type: Type{Name: "STRING"}}}}
	d, err := NewDecoder(schema, FormatArrow)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	picker, err := NewPicker(schema, FormatArrow, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer picker.Close()
	var layouts []int8
	n, picked := 0, 0
	for b, err := range Batches(records) {
		if err != nil || !b.Intact {
			t.Fatal(b, err)
		}
		layouts = append(layouts, b.Magic)
		if err := d.Rows(b, func(r Row) error {
			w := want[n]
			n++
			if r.Offset != w.Offset || r.Timestamp != w.Timestamp || r.Change.String() != w.Change || r.Value(0) != w.Row.N || r.Value(1) != w.Row.Txt {
				t.Errorf("%+v, want %+v", r, w)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if err := picker.Rows(b, func(p Picked) error {
			w := want[picked]
			picked++
			if p.Offset != w.Offset || string(p.Cells[0]) != w.Row.Txt {
				t.Errorf("%+v, want %+v", p, w)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if n != len(want) || picked != n || !slices.Equal(layouts, []int8{1, 0, 1}) {
		t.Errorf("%d and %d rows in batches of the layouts %v, want %d", n, picked, layouts, len(want))
	}
}
