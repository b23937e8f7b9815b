package atomicfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/recoverctl/recoverctl/internal/atomicfile"
	"github.com/recoverctl/recoverctl/internal/fault"
)

// holds checks the content and the mode of a file, and that nothing else is in
// its folder.
func holds(t *testing.T, path, content string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil || string(data) != content {
		t.Errorf("%s holds %q, error %v, want %q", path, data, err, content)
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("%s: mode %v, error %v, want -rw-------", path, info.Mode(), err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, error %v", entries, err)
	}
}

func TestCreateMakesAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plan.json")
	if err := atomicfile.Create(path, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "{}")
}

func TestCreateNeverOverwrites(t *testing.T) {
	existing := map[string]func(path string) error{
		"a file":        func(path string) error { return os.WriteFile(path, []byte("old"), 0o600) },
		"an empty file": func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"a folder":      func(path string) error { return os.Mkdir(path, 0o700) },
		"a link that points nowhere": func(path string) error {
			return os.Symlink(filepath.Join(filepath.Dir(path), "elsewhere"), path)
		},
	}
	for name, make := range existing {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "plan.json")
			if err := make(path); err != nil {
				t.Fatal(err)
			}
			before, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			err = atomicfile.Create(path, []byte("new"))
			if !errors.Is(err, fs.ErrExist) || fault.KindOf(err) != fault.Denied {
				t.Errorf("error %v, kind %s", err, fault.KindOf(err))
			}
			after, err := os.Lstat(path)
			if err != nil || !os.SameFile(before, after) || before.Size() != after.Size() {
				t.Errorf("it was changed: %v, error %v", after, err)
			}
			entries, err := os.ReadDir(filepath.Dir(path))
			if err != nil || len(entries) != 1 {
				t.Errorf("the folder holds %v, error %v", entries, err)
			}
		})
	}
}

// Many at once, as two operators on one machine: one wins, with all of its
// content.
func TestOneOfManyCreatesWins(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plan.json")
	var (
		mu      sync.Mutex
		winners []string
		wg      sync.WaitGroup
	)
	for i := range 12 {
		content := strings.Repeat(fmt.Sprintf("%02d", i), 5000)
		wg.Go(func() {
			err := atomicfile.Create(path, []byte(content))
			if err == nil {
				mu.Lock()
				defer mu.Unlock()
				winners = append(winners, content)
			} else if !errors.Is(err, fs.ErrExist) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(winners) != 1 {
		t.Fatalf("%d won", len(winners))
	}
	holds(t, path, winners[0])
}

func TestReplaceShowsTheOldOrTheNew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	contents := []string{strings.Repeat("a", 1<<16), strings.Repeat("b", 1<<14), ""}
	if err := atomicfile.Replace(path, []byte(contents[0])); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if data, err := os.ReadFile(path); err != nil || !slices.Contains(contents, string(data)) {
				t.Errorf("seen: %d bytes beginning %.10q, error %v", len(data), data, err)
				return
			}
		}
	})
	for i := range 30 {
		if err := atomicfile.Replace(path, []byte(contents[i%len(contents)])); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
	holds(t, path, "")
}

func TestReplaceTightensTheMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Replace(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "new")
}

func TestReplaceTakesTheLinkAndNotItsTarget(t *testing.T) {
	target := filepath.Join(t.TempDir(), "target")
	path := filepath.Join(t.TempDir(), "state.json")
	if err := errors.Join(os.WriteFile(target, []byte("old"), 0o600), os.Symlink(target, path)); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Replace(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "new")
	holds(t, target, "old")
}

func TestAFolderThatIsNotThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "no\x1b", "plan.json")
	for name, write := range map[string]func(string, []byte) error{
		"create": atomicfile.Create, "replace": atomicfile.Replace, "append": atomicfile.AppendLine,
	} {
		err := write(path, []byte("x"))
		if fault.KindOf(err) != fault.NotFound || fault.Of(err).Hint != "make the folder first" {
			t.Errorf("%s: error %v, kind %s", name, err, fault.KindOf(err))
		}
		if err == nil || !strings.Contains(err.Error(), `/no\x1b/plan.json can't be written: no such file or directory`) || strings.Contains(err.Error(), ".tmp") {
			t.Errorf("%s: error %q", name, err)
		}
	}
}

func TestAppendLineAddsWholeLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "2026-03.jsonl")
	for _, line := range []string{`{"step":1}`, "", `{"step":2}`} {
		if err := atomicfile.AppendLine(path, []byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	holds(t, path, "{\"step\":1}\n\n{\"step\":2}\n")
	if err := atomicfile.AppendLine(path, []byte("a\nb")); fault.KindOf(err) != fault.Bug {
		t.Errorf("two lines in one: error %v", err)
	}
	holds(t, path, "{\"step\":1}\n\n{\"step\":2}\n")
}

func TestAppendLineAfterACrashEndsTheTornLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "2026-03.jsonl")
	if err := os.WriteFile(path, []byte("{\"step\":1}\n{\"st"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.AppendLine(path, []byte(`{"step":2}`)); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "{\"step\":1}\n{\"st\n{\"step\":2}\n")
}

func TestLinesOfManyWritersDoNotMix(t *testing.T) {
	path := filepath.Join(t.TempDir(), "2026-03.jsonl")
	const writers, each = 4, 8
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				line := bytes.Repeat([]byte{'a' + byte(w)}, 100+i)
				if err := atomicfile.AppendLine(path, line); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSuffix(line, []byte("\n")); len(line) == 0 {
			continue
		}
		count++
		if len(line) < 100 || !bytes.Equal(line, bytes.Repeat(line[:1], len(line))) {
			t.Errorf("mixed line %q", line)
		}
	}
	if count != writers*each {
		t.Errorf("%d lines, want %d", count, writers*each)
	}
}
