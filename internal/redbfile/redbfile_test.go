package redbfile

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// entry is one that the redb library read.
type entry struct {
	Sequence uint64 `json:"seq"`
	Length   int    `json:"payload_len"`
	Hash     string `json:"payload_sha256"`
}

// library is what the redb library of one version said of a file.
type library struct {
	OK    bool   `json:"ok"`
	Error string `json:"error"`
	Value struct {
		Entries []entry           `json:"entries"`
		Meta    map[string]uint64 `json:"meta"`
		Tables  []string          `json:"tables"`
	} `json:"value"`
}

type expected struct {
	Report struct {
		Redb2 *library `json:"redb2"`
		Redb4 *library `json:"redb4"`
	} `json:"engine_and_library_report"`
}

func unpack(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// content is what was read of the two tables of a write-ahead log.
type content struct {
	entries []entry
	meta    map[string]uint64
}

func (c *content) begin() { *c = content{meta: map[string]uint64{}} }

func (c *content) visit(t *Table, key, value []byte) error {
	switch t.Name {
	case "entries":
		if len(key) != 8 {
			return errors.New("no entry")
		}
		sum := sha256.Sum256(value)
		c.entries = append(c.entries, entry{binary.LittleEndian.Uint64(key), len(value), hex.EncodeToString(sum[:])})
	case "meta":
		c.meta[string(key)] = binary.LittleEndian.Uint64(value)
	}
	return nil
}

// damagedClean are files that the library opens and returns damaged data of,
// because it checks nothing after a clean close.
var damagedClean = map[string]bool{"bad-entry-clean": true, "bad-slot-primary-clean": true}

// shorter are files over whose length the library panics, and whose entries are
// there all the same.
var shorter = map[string]int64{"torn-length": 1000, "truncated-clean": 5 * pageSize, "truncated-unclean": 5 * pageSize}

// What the redb library reads of a real engine's files is read here, and what it
// refuses is refused.
func TestFilesAreReadAsByTheLibrary(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*/wal.redb.gz")
	if err != nil || len(files) < 40 {
		t.Fatal(len(files), err)
	}
	for _, path := range files {
		name := filepath.Base(filepath.Dir(path))
		t.Run(name, func(t *testing.T) {
			var want expected
			text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "expected.json"))
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			says := want.Report.Redb2
			if four := want.Report.Redb4; four != nil && four.OK && (says == nil || !says.OK) {
				says = four
			}
			data := unpack(t, path)
			var got content
			var view View
			f, err := Open(bytes.NewReader(data), int64(len(data)))
			if err == nil {
				view, err = f.Read(context.Background(), got.begin, got.visit)
			}
			if missing, ok := shorter[name]; ok {
				if err != nil || view.Short != missing || len(got.entries) == 0 {
					t.Fatalf("%d bytes short, %d entries, %v", view.Short, len(got.entries), err)
				}
				return
			}
			if says == nil || !says.OK {
				if err == nil {
					t.Fatalf("read %d entries; the library says %+v", len(got.entries), says)
				}
				var refused *Error
				if !errors.As(err, &refused) || refused.Code == "" || refused.Message == "" {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if damagedClean[name] != (view.Blind && view.Damaged > 0) {
				t.Errorf("damage %+v", view.Damage)
			}
			if len(view.Tables) != len(says.Value.Tables) {
				t.Errorf("tables %v, want %v", view.Tables, says.Value.Tables)
			}
			for i, table := range view.Tables {
				if table.Name != says.Value.Tables[i] {
					t.Errorf("table %s, want %s", table.Name, says.Value.Tables[i])
				}
				if table.Name == "entries" && (table.Entries != uint64(len(got.entries)) || table.KeyType != "u64" || table.ValueType != "&[u8]") {
					t.Errorf("%+v with %d entries", table, len(got.entries))
				}
			}
			for key, value := range says.Value.Meta {
				if got.meta[key] != value {
					t.Errorf("%s is %d, want %d", key, got.meta[key], value)
				}
			}
			if len(got.entries) != len(says.Value.Entries) {
				t.Fatalf("%d entries, want %d", len(got.entries), len(says.Value.Entries))
			}
			for i, e := range got.entries {
				if want := says.Value.Entries[i]; e != want {
					t.Errorf("%+v, want %+v", e, want)
				}
			}
		})
	}
}

// A file whose newer commit is damaged is read as the older one, and says so.
func TestRollingBack(t *testing.T) {
	for name, want := range map[string]struct {
		rolledBack bool
		cursor     uint64
	}{
		"unclean-pending":          {false, 13},
		"god-byte-flipped":         {false, 13},
		"bad-slot-primary-unclean": {true, 12},
		"bad-table-tree-unclean":   {true, 12},
	} {
		t.Run(name, func(t *testing.T) {
			data := unpack(t, "testdata/wal-local/"+name+"/wal.redb.gz")
			f, err := Open(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				t.Fatal(err)
			}
			var got content
			v, err := f.Read(context.Background(), got.begin, got.visit)
			if err != nil || v.RolledBack != want.rolledBack || got.meta["cursor"] != want.cursor || v.Blind || !f.Recovery {
				t.Errorf("%+v, cursor %d, %v", v, got.meta["cursor"], err)
			}
		})
	}
}

// libraryOf is what the library said of a file of testdata.
func libraryOf(t *testing.T, name string) library {
	t.Helper()
	text, err := os.ReadFile("testdata/wal-local/" + name + "/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var want expected
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if says := want.Report.Redb2; says != nil && says.OK {
		return *says
	}
	return *want.Report.Redb4
}

// A writer that opened a file after a clean close, and was killed before it
// committed anything, leaves the recovery bit. redb 2.6.3 and 4.6.0 were given such
// files: they load the allocator's state, look at no page's checksum, and return
// what they return of the file as it was closed; of the slot the checksum counts.
func TestNothingWasCommittedSinceACleanClose(t *testing.T) {
	for name, damaged := range map[string]bool{"bad-entry-clean": true, "clean-acked": false, "lib-v3-clean": false} {
		t.Run(name, func(t *testing.T) {
			data := unpack(t, "testdata/wal-local/"+name+"/wal.redb.gz")
			data[9] |= recoveryBit
			f, err := Open(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				t.Fatal(err)
			}
			var got content
			v, err := f.Read(t.Context(), got.begin, got.visit)
			if err != nil || !v.Blind || damaged != (v.Damaged > 0) || v.RolledBack {
				t.Fatalf("%+v, %v", v, err)
			}
			says := libraryOf(t, name)
			if !slices.Equal(got.entries, says.Value.Entries) || got.meta["cursor"] != says.Value.Meta["cursor"] {
				t.Errorf("%d entries, cursor %d; the library has %d, %d", len(got.entries), got.meta["cursor"], len(says.Value.Entries), says.Value.Meta["cursor"])
			}
			c, err := f.Latest(t.Context())
			if err != nil || !c.Blind {
				t.Errorf("%+v, %v", c, err)
			}
		})
	}
	data := unpack(t, "testdata/wal-local/bad-slot-primary-clean/wal.redb.gz")
	data[9] |= recoveryBit
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var refused *Error
	if _, err := f.Read(t.Context(), func() {}, func(*Table, []byte, []byte) error { return nil }); !errors.As(err, &refused) || refused.Code != NoSlot {
		t.Errorf("a damaged slot: %v", err)
	}
}

// The lengths that redb opens were found by giving it files of them: 2.6.3 those of
// format 2, 4.6.0 those of format 3.
func TestLongerFiles(t *testing.T) {
	for _, c := range []struct {
		name string
		more int
		cut  int // bytes of more that are to go; -1: it is opened
	}{
		{"clean-pending", 1, 1},
		{"clean-pending", pageSize, pageSize},
		{"clean-pending", 10 * pageSize, 10 * pageSize},
		{"unclean-pending", 1, 1},
		{"unclean-pending", 512, 512},
		{"unclean-pending", pageSize, -1},
		{"unclean-pending", 256 * pageSize, -1},
		{"lib-v3-by-redb2-unclean", 512, 512},
		{"lib-v3-by-redb2-unclean", 2 * pageSize, -1},
		{"lib-v3-clean", 1, 1},
		{"lib-v3-clean", 2 * pageSize, -1},
		{"lib-v3-reclaimed", 512, 512},
		{"lib-v3-reclaimed", pageSize, -1},
	} {
		data := unpack(t, "testdata/wal-local/"+c.name+"/wal.redb.gz")
		want := int64(0)
		if c.cut >= 0 {
			want = int64(len(data) + c.more - c.cut)
		}
		data = append(data, make([]byte, c.more)...)
		f, err := Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		var got content
		v, err := f.Read(t.Context(), got.begin, got.visit)
		if err != nil || v.Cut != want || v.Long != int64(c.more) || v.Damaged > 0 || len(got.entries) != len(libraryOf(t, c.name).Value.Entries) {
			t.Errorf("%s and %d bytes: cut to %d, want %d; %d entries, %+v, %v", c.name, c.more, v.Cut, want, len(got.entries), v.Damage, err)
		}
	}
}

func TestAFileThatChanges(t *testing.T) {
	data := unpack(t, "testdata/wal-local/unclean-pending/wal.redb.gz")
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if changed, err := f.Changed(); changed || err != nil {
		t.Error(changed, err)
	}
	data[9] ^= primaryBit
	if changed, err := f.Changed(); !changed || err != nil {
		t.Error(changed, err)
	}
}

func TestTheReadingCanBeEnded(t *testing.T) {
	data := unpack(t, "testdata/wal-local/deep/wal.redb.gz")
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := f.Read(ctx, func() {}, func(*Table, []byte, []byte) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	enough := errors.New("enough")
	if _, err := f.Read(context.Background(), func() {}, func(*Table, []byte, []byte) error { return enough }); !errors.Is(err, enough) {
		t.Error(err)
	}
}

// failing is a disk that fails after so many bytes.
type failing struct {
	io.ReaderAt
	after int64
}

var errDisk = errors.New("input/output error")

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if off >= f.after {
		return 0, errDisk
	}
	return f.ReaderAt.ReadAt(p, off)
}

func TestADiskThatFailsIsNoDamage(t *testing.T) {
	data := unpack(t, "testdata/wal-local/clean-pending/wal.redb.gz")
	for _, after := range []int64{0, headerSize} {
		f, err := Open(failing{bytes.NewReader(data), after}, int64(len(data)))
		if err == nil {
			_, err = f.Read(context.Background(), func() {}, func(*Table, []byte, []byte) error { return nil })
		}
		var refused *Error
		if !errors.As(err, &refused) || refused.Code != Unreadable || !errors.Is(err, errDisk) {
			t.Errorf("%d: %v", after, err)
		}
	}
}

// reached notes which pages are read.
type reached struct {
	io.ReaderAt
	pages map[int]bool
}

func (r reached) ReadAt(p []byte, off int64) (int, error) {
	for n := off / pageSize; n*pageSize < off+int64(len(p)); n++ {
		r.pages[int(n)] = true
	}
	return r.ReaderAt.ReadAt(p, off)
}

// sparse writes a file as its length in pages and what of each page that is
// reached is not zero, so that it is small enough to be changed at random.
func sparse(t testing.TB, data []byte) []byte {
	r := reached{bytes.NewReader(data), map[int]bool{}}
	f, err := Open(r, int64(len(data)))
	if err == nil {
		_, err = f.Read(context.Background(), func() {}, func(*Table, []byte, []byte) error { return nil })
	}
	if err != nil {
		t.Fatal(err)
	}
	out := binary.LittleEndian.AppendUint16(nil, uint16(len(data)/pageSize))
	for n := 0; (n+1)*pageSize <= len(data); n++ {
		page := bytes.TrimRight(data[n*pageSize:(n+1)*pageSize], "\x00")
		if r.pages[n] && len(page) > 0 {
			out = binary.LittleEndian.AppendUint16(out, uint16(n))
			out = append(binary.LittleEndian.AppendUint16(out, uint16(len(page))), page...)
		}
	}
	return out
}

// dense is the file that sparse wrote.
func dense(in []byte) []byte {
	if len(in) < 2 {
		return nil
	}
	out := make([]byte, int(binary.LittleEndian.Uint16(in)%1024)*pageSize)
	for in = in[2:]; len(in) >= 4; {
		n, length := int(binary.LittleEndian.Uint16(in)), int(binary.LittleEndian.Uint16(in[2:]))
		in = in[4:]
		length = min(length, len(in), pageSize)
		if (n+1)*pageSize <= len(out) {
			copy(out[n*pageSize:], in[:length])
		}
		in = in[length:]
	}
	return out
}

// FuzzRead changes bytes of real files: nothing may be read outside them, and
// nothing twice. Files that were closed cleanly are read on past damage.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"wal-local/empty-clean", "wal-local/lib-v3-clean", "wal-local/lib-v3-reclaimed", "wal-local/empty-unclean", "redb/example-v2"} {
		f.Add(sparse(f, unpack(f, "testdata/"+name+"/wal.redb.gz")))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		data := dense(in)
		var refused *Error
		file, err := Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			if !errors.As(err, &refused) {
				t.Fatal(err)
			}
			return
		}
		visited := 0
		v, err := file.Read(context.Background(), func() { visited = 0 }, func(_ *Table, key, value []byte) error {
			visited += len(key) + len(value)
			return nil
		})
		if err != nil && !errors.As(err, &refused) {
			t.Fatal(err)
		}
		if visited > len(data) {
			t.Errorf("%d bytes were visited of a file of %d", visited, len(data))
		}
		if v.Damaged < len(v.Damage) || len(v.Damage) > maxDamage {
			t.Errorf("%d damaged, %d listed", v.Damaged, len(v.Damage))
		}
		inParts(t, file, len(data))
	})
}

// inParts reads a file in every way but the whole: each either reads within the
// file or says why not.
func inParts(t *testing.T, f *File, size int) {
	ctx, visited := context.Background(), 0
	count := func(_ uint64, value []byte) bool {
		visited += len(value)
		return true
	}
	allowed := func(err error) {
		if err != nil && !errors.As(err, new(*Error)) {
			t.Fatal(err)
		}
		if visited > size {
			t.Errorf("%d bytes were visited of a file of %d", visited, size)
		}
		visited = 0
	}
	_, err := f.Salvage(ctx, func(_ *Table, key, value []byte) error {
		visited += len(key) + len(value)
		return nil
	})
	allowed(err)
	c, err := f.Latest(ctx)
	allowed(err)
	if err != nil {
		return
	}
	const some = 3 // as many as a real file has; each is a walk of its own
	for _, table := range c.Tables[:min(len(c.Tables), some)] {
		allowed(c.Ascend(ctx, table, 2, count))
		allowed(c.Heads(ctx, table, func(h Head) error {
			for i := range h.Len() {
				if h.Size(i) < 0 {
					t.Errorf("the value of %d has %d bytes", h.Key(i), h.Size(i))
				}
				visited += h.Size(i)
			}
			return nil
		}))
		_, err := c.Branches(ctx, table)
		allowed(err)
		_, _, err = c.Last(ctx, table)
		allowed(err)
	}
}
