package redbfile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"testing"
)

// libraryEntries is what the redb library reads of a file's log.
func libraryEntries(t *testing.T, name string) []entry {
	t.Helper()
	var want expected
	text, err := os.ReadFile("testdata/wal-local/" + name + "/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if want.Report.Redb2.OK {
		return want.Report.Redb2.Value.Entries
	}
	return want.Report.Redb4.Value.Entries
}

func latest(t *testing.T, data []byte) (*File, *Commit, Table) {
	t.Helper()
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	c, err := f.Latest(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	table, ok := c.Table("entries")
	if !ok {
		t.Fatal("no entries")
	}
	return f, c, table
}

// A table can be read in parts: its edges, its heads, and from any key on.
func TestACommitInParts(t *testing.T) {
	for _, name := range []string{"deep", "after-hot-kill", "clean-pending", "lib-v3-reclaimed", "lib-v3-all-committed"} {
		t.Run(name, func(t *testing.T) {
			ctx, want := context.Background(), libraryEntries(t, name)
			_, c, table := latest(t, unpack(t, "testdata/wal-local/"+name+"/wal.redb.gz"))
			last, ok, err := c.Last(ctx, table)
			if !ok || err != nil || last != want[len(want)-1].Sequence {
				t.Errorf("the last is %d, %v, %v", last, ok, err)
			}
			leaves, pairs := uint64(0), 0
			if err := c.Heads(ctx, table, func(h Head) error {
				leaves++
				for i := range h.Len() {
					if e := want[pairs]; h.Key(i) != e.Sequence || h.Size(i) != e.Length {
						t.Errorf("entry %d of %d bytes, want %+v", h.Key(i), h.Size(i), e)
					}
					pairs++
				}
				return nil
			}); err != nil || pairs != len(want) {
				t.Errorf("%d pairs in heads, want %d, %v", pairs, len(want), err)
			}
			if n, err := c.Branches(ctx, table); err != nil || n != leaves {
				t.Errorf("%d leaves, %d by the branches, %v", leaves, n, err)
			}
			for i := 0; i < len(want); i += 1 + len(want)/9 {
				at := i
				if err := c.Ascend(ctx, table, want[i].Sequence, func(key uint64, value []byte) bool {
					if e := want[at]; key != e.Sequence || len(value) != e.Length {
						t.Errorf("entry %d of %d bytes, want %+v", key, len(value), e)
					}
					at++
					return at < i+5 && at < len(want)
				}); err != nil || at == i {
					t.Errorf("from %d: %v", want[i].Sequence, err)
				}
			}
			if err := c.Ascend(ctx, table, last+1, func(uint64, []byte) bool { t.Error("there is more"); return false }); err != nil {
				t.Error(err)
			}
		})
	}
}

// What is read in parts of a tall tree is little of it.
func TestBranchesReadNoLeaves(t *testing.T) {
	data := unpack(t, "testdata/wal-local/deep/wal.redb.gz")
	r := reached{bytes.NewReader(data), map[int]bool{}}
	f, err := Open(r, int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	c, err := f.Latest(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	table, _ := c.Table("entries")
	leaves, err := c.Branches(context.Background(), table)
	if err != nil {
		t.Fatal(err)
	}
	if uint64(len(r.pages)) > leaves/5 {
		t.Errorf("%d pages were read of a tree with %d leaves", len(r.pages), leaves)
	}
}

// A damaged leaf is met by those who read it, and tells its keys where the
// reading goes on.
func TestADamagedLeaf(t *testing.T) {
	_, c, table := latest(t, unpack(t, "testdata/wal-local/bad-entry-clean/wal.redb.gz"))
	err := c.Ascend(context.Background(), table, 15, func(uint64, []byte) bool { return true })
	var refused *Error
	if !errors.As(err, &refused) || refused.Code != NoTree {
		t.Errorf("%v", err)
	}
	data := unpack(t, "testdata/wal-local/bad-entry-clean/wal.redb.gz")
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var got content
	v, err := f.Read(context.Background(), got.begin, got.visit)
	if err != nil || len(v.Damage) != 1 {
		t.Fatalf("%+v, %v", v.Damage, err)
	}
	// Sequence 15 was changed.
	d := v.Damage[0]
	if len(d.First) != numbered || len(d.Last) != numbered || d.First[0] > 15 || d.Last[0] < 15 || d.Table != "entries" {
		t.Errorf("%+v", d)
	}
}

// What was damaged in a clean file's slot is known without reading a tree.
func TestTheLatestCommitTellsOfItsSlot(t *testing.T) {
	_, c, _ := latest(t, unpack(t, "testdata/wal-local/bad-slot-primary-clean/wal.redb.gz"))
	if !c.Blind || c.Damaged != 1 {
		t.Errorf("%+v", c.View)
	}
	_, c, _ = latest(t, unpack(t, "testdata/wal-local/bad-slot-primary-unclean/wal.redb.gz"))
	if !c.RolledBack {
		t.Errorf("%+v", c.View)
	}
	if _, ok := c.Table("nothing"); ok {
		t.Error("there is such a table")
	}
	meta, _ := c.Table("meta")
	if _, _, err := c.Last(context.Background(), meta); err == nil {
		t.Error("its keys are no numbers")
	}
	pairs := 0
	if err := c.Pairs(context.Background(), meta, func(key, value []byte) error {
		pairs++
		if string(key) != "cursor" || len(value) != 8 {
			t.Errorf("%s, %x", key, value)
		}
		return nil
	}); err != nil || pairs != 1 {
		t.Errorf("%d, %v", pairs, err)
	}
}

// Of a file that no start gets over, what is left can still be read.
func TestSalvage(t *testing.T) {
	for name, want := range map[string]struct{ entries, damaged int }{
		"bad-entry-unclean":        {20, 1},
		"bad-newest-entry-unclean": {20, 1},
		"bad-slots-both":           {20, 1},
	} {
		data := unpack(t, "testdata/wal-local/"+name+"/wal.redb.gz")
		f, err := Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		var got content
		got.begin()
		v, err := f.Salvage(context.Background(), got.visit)
		if err != nil || len(got.entries) != want.entries || v.Damaged != want.damaged {
			t.Errorf("%s: %d entries, %d damaged, %v", name, len(got.entries), v.Damaged, err)
		}
	}
}
