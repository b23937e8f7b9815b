package atomicfile

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// AppendLine adds line and a newline to a file, which it makes where there is
// none, and returns when they are on the disk. Line must not hold a newline.
//
// The line is written in one call at the end of the file, so that lines of
// several processes don't mix on a local file system. A crash can leave a part
// of a line at the end, without a newline. The next AppendLine ends that part
// with a newline of its own before it writes: a reader takes a last line without
// a newline, and one that it can't parse, for the trace of a crash, and skips
// empty lines (two processes that end the same part make one).
func AppendLine(path string, line []byte) error {
	const op = "append line"
	if bytes.ContainsAny(line, "\n") {
		return fault.New(fault.Bug, op, "a line for %s holds a newline", safetext.Of(path))
	}
	_, err := os.Lstat(path)
	isNew := errors.Is(err, os.ErrNotExist)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, mode)
	if err != nil {
		return failed(op, path, err)
	}
	err = appendTo(file, line)
	if err = errors.Join(err, file.Close()); err != nil {
		// A part of the line, or all of it without certainty, may be there.
		name := safetext.Of(path)
		return fault.Wrap(fault.Partial, op, bare(err), "the line may be missing in %s", name).
			WithHint("make room on the disk or check it, then look at the last line").WithRef("file " + name.String())
	}
	if isNew {
		return synced(op, path)
	}
	return nil
}

func appendTo(file *os.File, line []byte) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Mode().IsRegular() && info.Mode().Perm() != mode {
		if err := file.Chmod(mode); err != nil {
			return err
		}
	}
	var data []byte
	if size := info.Size(); size > 0 {
		last := make([]byte, 1)
		// EOF: somebody made the file shorter meanwhile; then there is no part.
		if _, err := file.ReadAt(last, size-1); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if last[0] != '\n' {
			data = append(data, '\n')
		}
	}
	data = append(append(data, line...), '\n')
	if _, err := file.Write(data); err != nil {
		return err
	}
	return file.Sync()
}
