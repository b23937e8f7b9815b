package flink_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/testkit/flinkcases"
)

// watched is this machine's file system, which tells what is read of metadata.
type watched struct {
	flink.Local
	read func(offset, size int64) error
}

func (w watched) Read(ctx context.Context, path string, offset, size int64) ([]byte, error) {
	if err := w.read(offset, size); err != nil {
		return nil, err
	}
	return w.Local.Read(ctx, under(path), offset, size)
}

func (w watched) Stat(ctx context.Context, path string) (flink.Entry, error) {
	return w.Local.Stat(ctx, under(path))
}

func (w watched) List(ctx context.Context, path string, limit int) ([]flink.Entry, bool, error) {
	return w.Local.List(ctx, under(path), limit)
}

// A metadata file of many megabytes is read in parts, of which few are read
// twice, and its markers are all there.
func TestLargeMetadataIsReadInParts(t *testing.T) {
	data := flinkcases.LargeJob(t, 12<<20)
	dir := write(t, map[string][]byte{"chk-2/_metadata": data})
	largest, total, reads := int64(0), int64(0), 0
	store := newStore(t, flink.Options{Systems: map[string]flink.FileSystem{"test": watched{read: func(_, size int64) error {
		largest, total, reads = max(largest, size), total+size, reads+1
		return nil
	}}}})
	p, err := store.Point(t.Context(), "test://"+dir+"/chk-2")
	if err != nil || len(p.Markers) != 256 || p.Merged.Kind != inspect.MergedVersioned || len(p.Merged.Offsets) != 400 || p.Merged.Offsets[399] != 1_000_000 || p.WorstCheck() == inspect.SeverityError {
		t.Fatalf("%d markers, merged %s of %d partitions, checks %+v, error %v", len(p.Markers), p.Merged.Kind, len(p.Merged.Offsets), p.Checks, err)
	}
	if size := int64(len(data)); largest > size/2 || total > size*3/2 || reads < 3 {
		t.Errorf("%d reads of together %d bytes, the largest of %d, for a file of %d", reads, total, largest, size)
	}
}

// What is put together from two files is no recovery point.
func TestLargeMetadataThatIsReplaced(t *testing.T) {
	data := flinkcases.LargeJob(t, 9<<20)
	for name, tt := range map[string]struct {
		change func(t *testing.T, file string)
		kind   fault.Kind
		says   string
	}{
		"by another": {func(t *testing.T, file string) {
			if err := os.Chtimes(file, time.Time{}, time.Now().Add(time.Hour)); err != nil {
				t.Error(err)
			}
		}, fault.Corrupt, "changed while it was read"},
		"by a shorter one": {truncate, fault.Corrupt, "shrank below"},
		"by nothing":       {remove, fault.NotFound, "was deleted while it was read"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := write(t, map[string][]byte{"chk-2/_metadata": data})
			store := newStore(t, flink.Options{Systems: map[string]flink.FileSystem{"test": watched{read: func(offset, _ int64) error {
				if offset > 0 {
					tt.change(t, filepath.Join(dir, "chk-2", "_metadata"))
				}
				return nil
			}}}})
			p, err := store.Point(t.Context(), "test://"+dir+"/chk-2")
			if fault.KindOf(err) != tt.kind || !strings.Contains(err.Error(), tt.says) || p.Merged.Kind != inspect.MergedInvalid {
				t.Errorf("merged %s, error %v", p.Merged.Kind, err)
			}
		})
	}
	t.Run("by one that may not be read", func(t *testing.T) {
		dir := write(t, map[string][]byte{"chk-2/_metadata": data})
		store := newStore(t, flink.Options{Systems: map[string]flink.FileSystem{"test": watched{read: func(offset, _ int64) error {
			if offset > 0 {
				return fs.ErrPermission
			}
			return nil
		}}}})
		p, err := store.Point(t.Context(), "test://"+dir+"/chk-2")
		if fault.KindOf(err) != fault.Denied || p.Merged.Kind != inspect.MergedInvalid || len(p.Checks) != 0 {
			t.Errorf("merged %s, checks %+v, error %v", p.Merged.Kind, p.Checks, err)
		}
	})
}
