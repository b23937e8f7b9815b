package flinkcases

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"testing"
)

// The "all:" prefix matters: without it go:embed leaves out every file whose
// name starts with an underscore, which is each _metadata.
//
//go:embed all:testdata
var files embed.FS

// RecordedRoot is what absolute paths in the snapshots start with, before the
// name of the case: file:/data/checkpoints/CASE/….
const RecordedRoot = "file:/data/checkpoints/"

// FS is the tree of all cases, the name of a case first:
// "versioned-p2/expected.json".
func FS() fs.FS {
	sub, err := fs.Sub(files, "testdata")
	if err != nil {
		panic("flinkcases: " + err.Error()) // testdata is part of the build
	}
	return sub
}

// Names lists the cases in alphabetical order.
func Names(tb testing.TB) []string {
	tb.Helper()
	entries, err := fs.ReadDir(FS(), ".")
	if err != nil {
		tb.Fatalf("list the Flink cases: %v", err)
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Read returns one file of a case. name is relative to the case and uses
// slashes: Read(tb, "legacy-p2", "expected.json").
func Read(tb testing.TB, caseName, name string) []byte {
	tb.Helper()
	data, err := fs.ReadFile(FS(), path.Join(caseName, name))
	if err != nil {
		tb.Fatalf("read Flink case %s: %v", caseName, err)
	}
	return data
}

// Metadata returns the _metadata file of a snapshot.
func Metadata(tb testing.TB, caseName string, s Snapshot) []byte {
	tb.Helper()
	return Read(tb, caseName, path.Join(s.Path, "_metadata"))
}

// Copy writes a case to a temporary folder that belongs to the test, for code
// that reads directories, and returns that folder's path. The test may change
// or delete files in it.
func Copy(tb testing.TB, caseName string) string {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), caseName)
	if err := CopyTo(dir, caseName); err != nil {
		tb.Fatal(err)
	}
	return dir
}

// CopyTo writes a case into dir, which is made if needed. It fails if a file is
// there already.
func CopyTo(dir, caseName string) error {
	sub, err := fs.Sub(FS(), caseName)
	if err != nil {
		return fmt.Errorf("flink case %q: %w", caseName, err)
	}
	if _, err := fs.Stat(sub, "."); err != nil {
		return fmt.Errorf("flink case %q: %w", caseName, err)
	}
	return os.CopyFS(dir, sub)
}

// Load reads the expected.json of a case.
func Load(tb testing.TB, caseName string) Case {
	tb.Helper()
	var c Case
	if err := json.Unmarshal(Read(tb, caseName, "expected.json"), &c); err != nil {
		tb.Fatalf("expected.json of Flink case %s: %v", caseName, err)
	}
	return c
}
