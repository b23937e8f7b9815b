package flussrpc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// textColumns are the columns of a schema that can be picked.
func textColumns(s Schema) (out []int) {
	for i, c := range s.Columns {
		switch c.Type.Name {
		case "STRING", "CHAR", "BYTES":
			out = append(out, i)
		}
	}
	return out
}

// pickedRow is what one record is, whoever reads it.
type pickedRow struct {
	offset, timestamp int64
	change            Change
	cells             string // nil and empty ones told apart
}

func cellsText(cells [][]byte) string {
	var b strings.Builder
	for _, c := range cells {
		if c == nil {
			b.WriteString("|null")
			continue
		}
		fmt.Fprintf(&b, "|%x", c)
	}
	return b.String()
}

// bothWays reads batches by the Arrow library and by a picker, and asks for the
// same. The library may read what the picker refuses, where that is told.
func bothWays(t *testing.T, table Descriptor, columns []int, batches []Batch, mayRefuse bool) int {
	t.Helper()
	d, err := NewDecoder(table.Schema, table.Format())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	p, err := NewPicker(table.Schema, table.Format(), columns...)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	read := 0
	for _, b := range batches {
		var want, got []pickedRow
		wantErr := d.Rows(b, func(r Row) error {
			cells := make([][]byte, len(columns))
			for i, c := range columns {
				cells[i], _ = r.Bytes(c)
				if cells[i] == nil && !r.Null(c) {
					cells[i] = []byte{}
				}
			}
			want = append(want, pickedRow{r.Offset, r.Timestamp, r.Change, cellsText(cells)})
			return nil
		})
		gotErr := p.Rows(b, func(r Picked) error {
			got = append(got, pickedRow{r.Offset, r.Timestamp, r.Change, cellsText(r.Cells)})
			return nil
		})
		if gotErr != nil && (wantErr != nil || mayRefuse) || wantErr != nil && mayRefuse {
			continue
		}
		if (gotErr == nil) != (wantErr == nil) || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("offset %d: %v, %v, want %v, %v", b.BaseOffset, got, gotErr, want, wantErr)
		}
		read += len(got)
	}
	return read
}

// Every recorded batch gives the same through a picker as through the Arrow
// library, whose rows are those of Fluss's own client.
func TestAPickerReadsWhatTheArrowLibraryReads(t *testing.T) {
	known := tables(t)
	files, err := filepath.Glob("testdata/fluss/fetch-*.resp.bin")
	if err != nil || len(files) < 30 {
		t.Fatal(len(files), err)
	}
	names := map[string]string{
		"uncompressed": "recovery_demo.demo_orders", "zstd": "recovery_demo.demo_orders_zstd", "lz4": "recovery_demo.demo_orders_lz4", "partition": "recovery_demo.demo_by_day",
		"pk-changelog": "recovery_demo.demo_balances", "action-state": "flink_agents.demo_action_state", "tiered-local": "recovery_demo.demo_tiered", "local-tail": "recovery_demo.demo_tiered",
		"indexed": "recovery_demo.demo_idx", "compacted": "recovery_demo.demo_cmp", "cut-tail": "recovery_demo.demo_orders",
	}
	read := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".resp.bin")
		for kind, table := range names {
			if !strings.HasPrefix(name, "fetch-"+kind) {
				continue
			}
			var batches []Batch
			for b, err := range Batches(recordsOf(t, name)) {
				if err != nil {
					t.Fatal(err)
				}
				batches = append(batches, b)
			}
			columns := textColumns(known[table].Schema)
			for _, some := range [][]int{columns, columns[:1], columns[len(columns)-1:]} {
				read += bothWays(t, known[table], some, batches, false)
			}
		}
	}
	if read < 3*350 {
		t.Errorf("only %d rows were compared", read)
	}
}

func TestWhatAPickerRefuses(t *testing.T) {
	table := tables(t)["recovery_demo.demo_orders"]
	for says, columns := range map[string][]int{"no column 10": {10}, "no column -1": {-1}, "column order_id is of type BIGINT": {0}} {
		if _, err := NewPicker(table.Schema, table.Format(), columns...); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v, want %s", columns, err, says)
		}
	}
	if _, err := NewPicker(table.Schema, "AVRO", 1); err == nil || !strings.Contains(err.Error(), "AVRO") {
		t.Error(err)
	}
}

// A damaged buffer is refused with its column, and the next batch is read.
func TestAPickerGoesOnAfterADamagedBatch(t *testing.T) {
	table := tables(t)["recovery_demo.demo_orders_zstd"]
	whole := recordsOf(t, "fetch-zstd-bucket1")
	p, err := NewPicker(table.Schema, table.Format(), textColumns(table.Schema)...)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	// A packed buffer begins with its unpacked length, in front of the ZSTD magic.
	for name, length := range map[string]uint64{"more than may be": 1 << 40, "less than zero": 1<<64 - 2, "another": 3} {
		data := bytes.Clone(whole)
		for at := 0; at+12 <= len(data); at++ {
			if bytes.Equal(data[at+8:at+12], []byte{0x28, 0xb5, 0x2f, 0xfd}) {
				binary.LittleEndian.PutUint64(data[at:], length)
			}
		}
		failed := 0
		for b := range Batches(data) {
			if err := p.Rows(b, func(Picked) error { return nil }); err != nil {
				failed++
				if !strings.Contains(err.Error(), "column ") || !strings.Contains(err.Error(), "bytes") {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		if failed == 0 {
			t.Errorf("%s was believed", name)
		}
	}
	for b := range Batches(whole) {
		if err := p.Rows(b, func(Picked) error { return nil }); err != nil {
			t.Error(err)
		}
	}
}

// Whatever the picker reads, the Arrow library reads the same.
func FuzzPicker(f *testing.F) {
	known := tables(f)
	all := []Descriptor{known["recovery_demo.demo_orders"], known["recovery_demo.demo_orders_zstd"], known["recovery_demo.demo_orders_lz4"], known["flink_agents.demo_action_state"]}
	for i, name := range []string{"fetch-uncompressed-bucket3", "fetch-zstd-bucket3", "fetch-lz4-bucket3", "fetch-action-state-bucket1"} {
		f.Add(byte(i), recordsOf(f, name))
	}
	f.Fuzz(func(t *testing.T, which byte, data []byte) {
		table := all[int(which)%len(all)]
		var batches []Batch
		for b, err := range Batches(data) {
			if err != nil || len(batches) == 8 {
				break
			}
			batches = append(batches, b)
		}
		bothWays(t, table, textColumns(table.Schema), batches, true)
	})
}

func BenchmarkPickerOneABatch(b *testing.B) {
	table := tables(b)["flink_agents.demo_action_state"]
	p, err := NewPicker(table.Schema, table.Format(), 0, 1, 2)
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	records := recordsOf(b, "fetch-action-state-bucket0")
	rows := 0
	b.SetBytes(int64(len(records)))
	b.ReportAllocs()
	for b.Loop() {
		for batch, err := range Batches(records) {
			if err != nil {
				b.Fatal(err)
			}
			if err := p.Rows(batch, func(Picked) error { rows++; return nil }); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}
