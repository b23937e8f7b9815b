package cases

import (
	"embed"
	"encoding/json"
	"io/fs"
	"path"
	"strings"
	"testing"
)

//go:embed testdata
var files embed.FS

// FS is the tree of all files: "control/NAME.json", "restore/NAME.json",
// "plans/NNN-NAME.json", "plans/golden/NAME.json", "keys/NAME.json",
// "values/verdicts.json", "apply/NAME.json".
func FS() fs.FS {
	sub, err := fs.Sub(files, "testdata")
	if err != nil {
		panic("cases: " + err.Error()) // testdata is part of the build
	}
	return sub
}

// Controls reads every case of a control topic, by name.
func Controls(tb testing.TB) []ControlCase {
	tb.Helper()
	return loadAll[ControlCase](tb, "control")
}

// Restores reads every case of a restore whose name begins with one of the
// prefixes, by name: "off-" without a control topic, "on-" with one, "window-"
// about the records in the replay window.
func Restores(tb testing.TB, prefixes ...string) []RestoreCase {
	tb.Helper()
	var out []RestoreCase
	for _, c := range loadAll[RestoreCase](tb, "restore") {
		for _, prefix := range prefixes {
			if strings.HasPrefix(c.Name, prefix) {
				out = append(out, c)
			}
		}
	}
	return out
}

// Plans reads the verdicts for plan files.
func Plans(tb testing.TB) []PlanCase {
	tb.Helper()
	return loadList[PlanCase](tb, "plans/verdicts.json")
}

// Goldens reads the plans that Java writes for sets of markers.
func Goldens(tb testing.TB) []GoldenCase {
	tb.Helper()
	return loadList[GoldenCase](tb, "plans/golden/golden.json")
}

func loadAll[T any](tb testing.TB, dir string) []T {
	tb.Helper()
	entries, err := fs.ReadDir(FS(), dir)
	if err != nil {
		tb.Fatalf("list the cases of %s: %v", dir, err)
	}
	out := make([]T, len(entries))
	for i, e := range entries {
		load(tb, path.Join(dir, e.Name()), &out[i])
	}
	return out
}

// loadList reads the cases of a file that holds many.
func loadList[T any](tb testing.TB, name string) []T {
	tb.Helper()
	var all struct {
		Cases []T `json:"cases"`
	}
	load(tb, name, &all)
	return all.Cases
}

func load(tb testing.TB, name string, into any) {
	tb.Helper()
	if err := json.Unmarshal(read(tb, name), into); err != nil {
		tb.Fatalf("case file %s: %v", name, err)
	}
}

func read(tb testing.TB, name string) []byte {
	tb.Helper()
	data, err := fs.ReadFile(FS(), name)
	if err != nil {
		tb.Fatalf("read a case file: %v", err)
	}
	return data
}
