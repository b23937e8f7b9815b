package flink_test

import (
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"path"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/internal/testkit/flinkcases"
)

// oneFile is a file system that holds one metadata file and nothing else.
type oneFile struct{ data []byte }

const oneFileURI = "test://x/chk-2"

func (f oneFile) Stat(_ context.Context, name string) (flink.Entry, error) {
	switch name {
	case oneFileURI:
		return flink.Entry{Name: path.Base(name), Dir: true}, nil
	case oneFileURI + "/_metadata":
		return flink.Entry{Name: path.Base(name), Regular: true, Size: int64(len(f.data))}, nil
	default:
		return flink.Entry{}, fs.ErrNotExist
	}
}

func (f oneFile) List(context.Context, string, int) ([]flink.Entry, bool, error) {
	return []flink.Entry{{Name: "_metadata", Regular: true, Size: int64(len(f.data))}}, false, nil
}

func (f oneFile) Read(_ context.Context, _ string, offset, size int64) ([]byte, error) {
	if offset < 0 || size < 0 || offset > int64(len(f.data))-size {
		return nil, io.ErrUnexpectedEOF
	}
	return f.data[offset : offset+size], nil
}

func (f oneFile) Canonical(_ context.Context, name string) (string, error) { return name, nil }

func FuzzPoint(f *testing.F) {
	for _, name := range flinkcases.Names(f) {
		data := flinkcases.Metadata(f, name, flinkcases.Load(f, name).Snapshots[0])
		if len(data) < 16<<10 {
			f.Add(data)
			f.Add(data[:len(data)/2])
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		store := newStore(t, flink.Options{Systems: map[string]flink.FileSystem{"test": oneFile{data}}})
		p, err := store.Point(context.Background(), oneFileURI)
		if (err == nil) != (p.CheckpointID >= 0) && fault.KindOf(err) != fault.Unsupported {
			t.Fatalf("checkpoint id %d with error %v", p.CheckpointID, err)
		}
		if err != nil && fault.KindOf(err) == fault.Bug {
			t.Fatalf("not a fault: %v", err)
		}
		if err != nil && p.Merged.Kind != inspect.MergedInvalid {
			t.Fatalf("merged to %+v beside %v", p.Merged, err)
		}
		for _, c := range p.Checks {
			if c.Message == "" || safetext.Of(c.Message).String() != c.Message {
				t.Fatalf("check %s says %q", c.ID, c.Message)
			}
		}
		for _, m := range p.Markers {
			if m.Problem != nil && p.Merged.Kind != inspect.MergedInvalid {
				t.Fatalf("merged to %+v with an unreadable marker", p.Merged)
			}
		}
		if _, err := json.Marshal(p); err != nil {
			t.Fatal(err)
		}
	})
}

func TestLargeMetadata(t *testing.T) {
	dir := write(t, map[string][]byte{"chk-2/_metadata": flinkcases.Large(t, 256, 400)})
	p, err := newStore(t, flink.Options{}).Point(context.Background(), dir+"/chk-2")
	if err != nil {
		t.Fatal(err)
	}
	if p.Merged.Kind != inspect.MergedVersioned || len(p.Merged.Offsets) != 400 || p.Merged.Offsets[399] != 1_000_000 || len(p.Markers) != 256 {
		t.Errorf("%d markers, merged %+v", len(p.Markers), p.Merged)
	}
	if p.WorstCheck() != inspect.SeverityInfo {
		t.Errorf("checks %+v", p.Checks)
	}
}

// From a file of about 1 MB to its merged marker: at most 50 ms are allowed.
func BenchmarkMergedMarker(b *testing.B) {
	data := flinkcases.Large(b, 256, 400)
	dir := write(b, map[string][]byte{"chk-2/_metadata": data})
	store := newStore(b, flink.Options{})
	b.SetBytes(int64(len(data)))
	b.ReportMetric(float64(len(data))/1e6, "MB")
	for b.Loop() {
		p, err := store.Point(context.Background(), dir+"/chk-2")
		if err != nil || p.Merged.Kind != inspect.MergedVersioned {
			b.Fatal(err)
		}
	}
}
