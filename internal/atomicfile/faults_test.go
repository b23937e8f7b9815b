package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/recoverctl/recoverctl/internal/fault"
)

// On a file system without hard links Create is as exclusive and as whole.
func TestCreateWithoutHardLinks(t *testing.T) {
	for _, says := range []error{syscall.EPERM, syscall.EOPNOTSUPP} {
		noLinks := func(from, to string) error { return &os.LinkError{Op: "link", Old: from, New: to, Err: says} }
		path := filepath.Join(t.TempDir(), "plan.json")
		var wins atomic.Int32
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				if err := create(path, []byte("{}"), noLinks); err == nil {
					wins.Add(1)
				} else if !errors.Is(err, fs.ErrExist) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		data, err := os.ReadFile(path)
		if wins.Load() != 1 || err != nil || string(data) != "{}" {
			t.Errorf("%d won, the file holds %q, error %v", wins.Load(), data, err)
		}
		if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
			t.Errorf("the folder holds %v, error %v", entries, err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
			t.Errorf("mode %v, error %v", info.Mode(), err)
		}
	}
}

// A file that is there must not be reported as one that can't be written.
func TestAFileWithSomethingLeftUndoneIsSaidToBeWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plan.json")
	err := create(path, []byte("{}"), func(from, to string) error {
		return errors.Join(os.Link(from, to), os.Remove(from)) // Create finds nothing to remove
	})
	if err == nil || fault.KindOf(err) != fault.Partial ||
		err.Error() != path+" is written, but its temporary file is left beside it: no such file or directory" {
		t.Errorf("error %v", err)
	}
}

func TestEveryReasonIsNamed(t *testing.T) {
	err := failed("create file", "plan.json", errors.Join(
		&fs.PathError{Op: "write", Path: "/tmp/x.tmp", Err: syscall.ENOSPC},
		&fs.PathError{Op: "remove", Path: "/tmp/x.tmp", Err: syscall.EIO}))
	if got, want := err.Error(), "plan.json can't be written: no space left on device; then input/output error"; got != want {
		t.Errorf("error %q, want %q", got, want)
	}
	if !errors.Is(err, syscall.ENOSPC) || fault.Of(err).Hint != "make room on the disk, or give another place" {
		t.Errorf("hint %q", fault.Of(err).Hint)
	}
}
