package flussrpc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"
)

// laidOut is a real batch of layout 0 as another layout has it: with the leader's
// epoch before its checksum, with statistics behind its header.
func laidOut(whole []byte, magic byte, epoch, statistics []byte) []byte {
	out := append(bytes.Clone(whole[:21]), epoch...)
	sum := len(out)
	out = append(append(out, 0, 0, 0, 0), whole[25:48]...)
	if statistics != nil {
		out = append(binary.LittleEndian.AppendUint32(out, uint32(len(statistics))), statistics...)
	}
	out = append(out, whole[48:]...)
	out[12] = magic
	binary.LittleEndian.PutUint32(out[8:], uint32(len(out)-12))
	binary.LittleEndian.PutUint32(out[sum:], crc32.Checksum(out[sum+4:], crc32.MakeTable(crc32.Castagnoli)))
	return out
}

// Rows are the same in every layout that Fluss is known to write, told from each
// other by their checksums where two have the same number.
func TestEveryLayoutOfABatch(t *testing.T) {
	real := recordsOf(t, "fetch-zstd-bucket1")
	table := tables(t)["recovery_demo.demo_orders_zstd"]
	read := func(t *testing.T, data []byte) (rows []string, first Batch) {
		t.Helper()
		d, err := NewDecoder(table.Schema, table.Format())
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		for b, err := range Batches(data) {
			if err != nil || !b.Intact {
				t.Fatal(b, err)
			}
			if len(rows) == 0 {
				first = b
			}
			if err := d.Rows(b, func(r Row) error {
				text := fmt.Sprint(r.Offset, r.Timestamp, r.Change)
				for i := range table.Schema.Columns {
					text += fmt.Sprintf(" %v", r.Value(i))
				}
				rows = append(rows, text)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		return rows, first
	}
	want, plain := read(t, real)
	if len(want) == 0 {
		t.Fatal("the recorded answer has no rows")
	}
	batch := real[:plain.Size]
	want, _ = read(t, batch)
	epoch := []byte{7, 0, 0, 0}
	for name, data := range map[string][]byte{
		"1, with statistics":              laidOut(batch, 1, nil, []byte("statistics of some columns")),
		"1, with empty statistics":        laidOut(batch, 1, nil, []byte{}),
		"1, with the epoch, as 0.9.1":     laidOut(batch, 1, epoch, nil),
		"2, with the epoch and both":      laidOut(batch, 2, epoch, []byte("more")),
		"2, with the epoch, without them": laidOut(batch, 2, epoch, []byte{}),
	} {
		t.Run(name, func(t *testing.T) {
			rows, first := read(t, data)
			if strings.Join(rows, "\n") != strings.Join(want, "\n") {
				t.Errorf("%q, want %q", rows, want)
			}
			if first.BaseOffset != plain.BaseOffset || first.Next() != plain.Next() || first.CommitTimestamp != plain.CommitTimestamp || first.SchemaID != plain.SchemaID ||
				first.AppendOnly != plain.AppendOnly || first.WriterID != plain.WriterID || first.Sequence != plain.Sequence || first.Count != plain.Count || first.Size != len(data) {
				t.Errorf("%+v, want %+v", first, plain)
			}
			two := append(bytes.Clone(data), batch...)
			if part, next := whole(two, 0); len(part) != len(two) || next != plain.Next() {
				t.Errorf("%d of %d bytes are whole, up to offset %d", len(part), len(two), next)
			}
			// Of a damaged one nothing is read: its layout may be the other's.
			damaged := bytes.Clone(data)
			damaged[len(damaged)-1] ^= 1
			for b, err := range Batches(damaged) {
				if data[12] == 1 && (err == nil || !strings.Contains(err.Error(), "fits none of its checksums")) || data[12] == 2 && (err != nil || b.Intact) {
					t.Errorf("%+v, %v", b, err)
				}
			}
		})
	}
	huge := laidOut(batch, 2, epoch, []byte("more"))
	binary.LittleEndian.PutUint32(huge[52:], 1<<30)
	binary.LittleEndian.PutUint32(huge[25:], crc32.Checksum(huge[29:], crc32.MakeTable(crc32.Castagnoli)))
	for _, err := range Batches(huge) {
		if err == nil || !strings.Contains(err.Error(), "bytes of statistics") {
			t.Error(err)
		}
	}
}
