package tuitest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

// Golden compares text with testdata/<name>.golden. With -update it writes the
// file instead.
func Golden(t testing.TB, name, text string) {
	t.Helper()
	GoldenFile(t, filepath.Join("testdata", filepath.FromSlash(name)+".golden"), text)
}

// GoldenFile is Golden for a file anywhere, such as a page of the documentation
// that is made from the program.
func GoldenFile(t testing.TB, path, text string) {
	t.Helper()
	text = strings.TrimRight(text, "\n") + "\n"
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if text != string(want) {
		t.Errorf("%s differs.\nwant:\n%s\ngot:\n%s", path, want, text)
	}
}
