package incident

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/recoverctl/recoverctl/internal/flinkmeta"
	"github.com/recoverctl/recoverctl/internal/testkit/orders"
)

// written makes the recovery points in a folder and returns their files.
func written(tb testing.TB, dir string) map[string][]byte {
	tb.Helper()
	s, logs := story(tb)
	for _, p := range s.points(places{dir}, "6wBnCDrXRZCpbWKBbvCNbQ", seed) {
		if err := p.write(logs, moment, seed); err != nil {
			tb.Fatal(err)
		}
	}
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[path], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return files
}

func TestRecoveryPointsAreTheSameEachTime(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "demo")
	first := written(t, dir)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	again := written(t, dir)
	if len(first) != len(again) || len(first) < 16 {
		t.Fatalf("%d files, then %d", len(first), len(again))
	}
	for name, data := range first {
		if !bytes.Equal(data, again[name]) {
			t.Errorf("%s differs", name)
		}
	}
}

func TestSmallStateLiesInTheMetadataAndLargeStateBesideIt(t *testing.T) {
	dir := t.TempDir()
	files := written(t, dir)
	for _, folder := range []string{places{dir}.checkpoint(44), filepath.Join(places{dir}.savepoints(), pinnedSavepoint)} {
		m, err := flinkmeta.Decode(files[filepath.Join(folder, "_metadata")])
		if err != nil {
			t.Fatal(err)
		}
		kinds := map[flinkmeta.StreamKind]int{}
		for ref := range m.Streams() {
			s := ref.Stream
			kinds[s.Kind]++
			switch s.Kind {
			case flinkmeta.RelativeStream:
				if data := files[filepath.Join(folder, s.Path)]; int64(len(data)) != s.Size || s.Size < inlineLimit {
					t.Errorf("%s: %s has %d bytes, recorded %d", folder, s.Path, len(data), s.Size)
				}
			case flinkmeta.InlineStream:
				if len(s.Data) >= inlineLimit {
					t.Errorf("%s: %d bytes are inline", folder, len(s.Data))
				}
			}
		}
		if kinds[flinkmeta.RelativeStream] != orders.Parallelism || kinds[flinkmeta.InlineStream] != 2*orders.Parallelism+1 || len(kinds) != 2 {
			t.Errorf("%s: streams %v", folder, kinds)
		}
	}
}
