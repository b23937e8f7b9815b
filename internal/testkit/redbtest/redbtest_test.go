package redbtest

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/recoverctl/recoverctl/internal/redbfile"
)

// What is written is read back, pages of every size and trees of every height
// included, and no checksum is wrong.
func TestFilesAreReadBack(t *testing.T) {
	for name, l := range map[string]Log{
		"empty": {Cursor: 0},
		"one":   {Entries: 1, Cursor: 1, Payload: func(uint64) []byte { return []byte("x") }},
		"large": {Entries: 20, Clean: true, Payload: func(n uint64) []byte { return bytes.Repeat([]byte{byte(n)}, int(n)*3000) }},
		"tall":  {Entries: 60_000, Cursor: 59_000, Payload: func(n uint64) []byte { return binary.LittleEndian.AppendUint64(make([]byte, 1500), n) }, Sequence: func(i uint64) uint64 { return 2 * i }},
	} {
		t.Run(name, func(t *testing.T) {
			file, err := os.Create(filepath.Join(t.TempDir(), "wal.redb"))
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			size, err := Write(file, l)
			if err != nil {
				t.Fatal(err)
			}
			f, err := redbfile.Open(io.NewSectionReader(file, 0, size), size)
			if err != nil {
				t.Fatal(err)
			}
			var n, cursor uint64
			v, err := f.Read(context.Background(), func() { n = 0 }, func(table *redbfile.Table, key, value []byte) error {
				if table.Name == "meta" {
					cursor = binary.LittleEndian.Uint64(value)
					return nil
				}
				want := n + 1
				if l.Sequence != nil {
					want = l.Sequence(n)
				}
				if got := binary.LittleEndian.Uint64(key); got != want || !bytes.Equal(value, l.Payload(want)) {
					t.Fatalf("entry %d of %d bytes, want %d", got, len(value), want)
				}
				n++
				return nil
			})
			if err != nil || n != l.Entries || cursor != l.Cursor || v.Damaged > 0 || v.Short > 0 || v.Blind != l.Clean {
				t.Errorf("%d entries, cursor %d, %+v, %v", n, cursor, v, err)
			}
		})
	}
}
