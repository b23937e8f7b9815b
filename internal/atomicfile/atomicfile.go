package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// mode of every file that this package writes.
const mode fs.FileMode = 0o600

// Create writes data to a new file. Where the name exists already, whatever it
// is, nothing changes and the error is a fault of kind Denied that matches
// fs.ErrExist.
func Create(path string, data []byte) error {
	return create(path, data, os.Link)
}

// create is Create with the system's way to give a second name to a file.
func create(path string, data []byte, link func(oldname, newname string) error) error {
	temp, err := writeTemp(path, data)
	if err != nil {
		return failed("create file", path, err)
	}
	err = link(temp, path)
	switch {
	case hasNoLinks(err):
		if err := reserveAndRename(temp, path); err != nil {
			return failed("create file", path, err)
		}
	case err != nil:
		return failed("create file", path, errors.Join(err, os.Remove(temp)))
	default:
		if err := os.Remove(temp); err != nil {
			return unsettled("create file", path, err, "its temporary file is left beside it")
		}
	}
	return synced("create file", path)
}

// hasNoLinks reports the errors by which file systems say that they know no
// hard links. Linux says EPERM where the file system has none.
func hasNoLinks(err error) bool {
	return errors.Is(err, syscall.EPERM) || errors.Is(err, errors.ErrUnsupported)
}

// reserveAndRename takes the name, which must be free, and puts temp there. Temp
// is gone afterwards; where that failed, so is the reservation.
func reserveAndRename(temp, path string) error {
	reserved, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	err = reserved.Close()
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp), os.Remove(path))
	}
	return nil
}

// Replace puts data in the place of what the file holds now, or makes the file.
// Readers see the old content or the new one. The mode is 0600 afterwards.
func Replace(path string, data []byte) error {
	temp, err := writeTemp(path, data)
	if err != nil {
		return failed("replace file", path, err)
	}
	if err := os.Rename(temp, path); err != nil {
		return failed("replace file", path, errors.Join(err, os.Remove(temp)))
	}
	return synced("replace file", path)
}

// writeTemp writes and syncs a temporary file beside path and returns its name.
// Where that fails it leaves none.
func writeTemp(path string, data []byte) (string, error) {
	// CreateTemp opens with O_EXCL and mode 0600.
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return "", err
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err != nil {
		return "", errors.Join(err, os.Remove(file.Name()))
	}
	return file.Name(), nil
}

// synced makes the name of a written file survive a power failure.
func synced(op, path string) error {
	if err := syncDir(filepath.Dir(path)); err != nil {
		return unsettled(op, path, err, "a power failure may take it away again")
	}
	return nil
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	err = dir.Sync()
	// Some file systems can't sync a folder and say EINVAL. There is nothing
	// else to do on them.
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, dir.Close())
}

// unsettled is the fault of a file that is written and in its place, with one
// thing left undone.
func unsettled(op, path string, err error, left string) error {
	name := safetext.Of(path)
	return fault.Wrap(fault.Partial, op, bare(err), "%s is written, but %s", name, left).
		WithHint("check the disk before going on").WithRef("file " + name.String())
}

// failed makes the fault of a write that changed nothing. The paths that os puts
// into its errors are dropped: the message names the file already, made safe,
// and a temporary name would only confuse.
func failed(op, path string, err error) error {
	name := safetext.Of(path)
	f := fault.Wrap(fault.Config, op, bare(err), "%s can't be written", name)
	switch {
	case errors.Is(err, fs.ErrExist):
		f = fault.Wrap(fault.Denied, op, fs.ErrExist, "%s is not overwritten", name).WithHint("give another name, or move the file away")
	case errors.Is(err, fs.ErrPermission):
		f.Kind = fault.Denied
		f.Hint = "check who may write to the folder"
	case errors.Is(err, fs.ErrNotExist):
		f.Kind = fault.NotFound
		f.Hint = "make the folder first"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		f.Hint = "make room on the disk, or give another place"
	default:
		f.Hint = "check the path and the file system"
	}
	return f.WithRef("file " + name.String())
}

// bare is the system's reasons without the paths.
func bare(err error) error {
	var (
		joined interface{ Unwrap() []error }
		path   *fs.PathError
		link   *os.LinkError
	)
	switch {
	case errors.As(err, &joined):
		all := joined.Unwrap()
		reason := bare(all[0])
		for _, more := range all[1:] {
			reason = fmt.Errorf("%w; then %w", reason, bare(more))
		}
		return reason
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	default:
		return err
	}
}
