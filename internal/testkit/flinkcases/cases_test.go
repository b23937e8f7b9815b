package flinkcases_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/internal/testkit/flinkcases"
)

// The length of every _metadata is in expected.json: a checkout that changed
// line ends, or an embed that lost files, shows here.
func TestFilesAreTheOnesThatFlinkWrote(t *testing.T) {
	names := flinkcases.Names(t)
	if len(names) != 37 {
		t.Errorf("%d cases, want 37", len(names))
	}
	snapshots := 0
	for _, name := range names {
		c := flinkcases.Load(t, name)
		if c.Name != name {
			t.Errorf("case %s calls itself %s", name, c.Name)
		}
		for _, s := range c.Snapshots {
			snapshots++
			if got := int64(len(flinkcases.Metadata(t, name, s))); got != s.MetadataBytes {
				t.Errorf("%s/%s: _metadata has %d bytes, Flink read %d", name, s.Path, got, s.MetadataBytes)
			}
		}
	}
	if snapshots != 87 {
		t.Errorf("%d snapshots, want 87", snapshots)
	}
}

func TestExpectedValuesKeepFlinksErrors(t *testing.T) {
	c := flinkcases.Load(t, "null-p2")
	for _, op := range c.Snapshots[0].Operators {
		if op.Name == nil || *op.Name != "action-execute-operator" {
			continue
		}
		first, second := op.Subtasks[0].Markers, op.Subtasks[1].Markers
		if len(first.List) != 1 || first.Error != "" {
			t.Errorf("subtask 0: %+v, want one marker", first)
		}
		if !strings.Contains(second.Error, "You cannot add null to a ListState") {
			t.Errorf("subtask 1: %+v, want Flink's error", second)
		}
		if first.List[0].Offsets["1"] != 150 {
			t.Errorf("marker of subtask 0: %+v, want partition 1 at 150", first.List[0])
		}
		return
	}
	t.Fatal("null-p2 has no agent operator")
}

func TestCopyIsWritable(t *testing.T) {
	dir := flinkcases.Copy(t, "rocksdb-files-p2")
	s := flinkcases.Load(t, "rocksdb-files-p2").Snapshots[0]
	meta := filepath.Join(dir, filepath.FromSlash(s.Path), "_metadata")
	if err := os.Truncate(meta, 8); err != nil {
		t.Fatalf("cut a copied _metadata: %v", err)
	}
	if err := flinkcases.CopyTo(t.TempDir(), "no-such-case"); err == nil {
		t.Error("copying a case that does not exist worked")
	}
}
