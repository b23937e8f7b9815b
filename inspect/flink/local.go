package flink

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// readStep is how much is read between two looks at the context.
const readStep = 4 << 20

// Local is the file system of this machine.
type Local struct{}

// Stat implements FileSystem.
func (Local) Stat(ctx context.Context, path string) (Entry, error) {
	if err := ctx.Err(); err != nil {
		return Entry{}, err
	}
	info, err := os.Stat(filepath.FromSlash(path))
	if err != nil {
		return Entry{}, absent(err)
	}
	return entryOf(info), nil
}

// List implements FileSystem. A link that leads nowhere is listed as what it
// is: neither folder nor regular file.
func (Local) List(ctx context.Context, path string, limit int) ([]Entry, bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	dir, err := os.Open(filepath.FromSlash(path))
	if err != nil {
		return nil, false, absent(err)
	}
	defer func() { _ = dir.Close() }() // nothing was written
	var entries []Entry
	for {
		batch, err := dir.ReadDir(1024)
		for _, e := range batch {
			if len(entries) == limit {
				return entries, true, nil
			}
			info, err := e.Info()
			if err == nil && info.Mode()&fs.ModeSymlink != 0 {
				if target, err := os.Stat(filepath.Join(filepath.FromSlash(path), e.Name())); err == nil {
					info = target
				}
			}
			switch {
			case errors.Is(err, fs.ErrNotExist):
				continue // deleted since the folder was read
			case err != nil:
				return entries, false, err
			}
			entry := entryOf(info)
			entry.Name = e.Name()
			entries = append(entries, entry)
		}
		switch {
		case errors.Is(err, io.EOF):
			return entries, false, nil
		case err != nil:
			return entries, false, absent(err)
		case ctx.Err() != nil:
			return nil, false, ctx.Err()
		}
	}
}

// Read implements FileSystem.
func (Local) Read(ctx context.Context, path string, offset, size int64) ([]byte, error) {
	file, err := os.Open(filepath.FromSlash(path))
	if err != nil {
		return nil, absent(err)
	}
	defer func() { _ = file.Close() }() // nothing was written
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	case offset < 0 || size < 0 || offset > info.Size()-size:
		return nil, io.ErrUnexpectedEOF
	}
	data := make([]byte, size)
	for at := int64(0); at < size; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := file.ReadAt(data[at:min(at+readStep, size)], offset+at)
		at += int64(n)
		switch {
		case errors.Is(err, io.EOF) && at < size:
			return nil, io.ErrUnexpectedEOF
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		}
	}
	return data, nil
}

// Canonical implements FileSystem.
func (Local) Canonical(ctx context.Context, path string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(filepath.FromSlash(path))
	if err != nil {
		return "", absent(err)
	}
	return real, nil
}

func entryOf(info fs.FileInfo) Entry {
	return Entry{
		Name: info.Name(), Dir: info.IsDir(), Regular: info.Mode().IsRegular(),
		Size: info.Size(), Modified: info.ModTime(),
	}
}

// absent makes the several ways in which no file can be at a path answer to
// fs.ErrNotExist: a folder on the way that is a file, a name that no file can
// have, links that lead in a circle.
func absent(err error) error {
	for _, cause := range []error{syscall.ENOTDIR, syscall.ENAMETOOLONG, syscall.ELOOP, syscall.EINVAL} {
		if errors.Is(err, cause) {
			return errors.Join(fs.ErrNotExist, err)
		}
	}
	return err
}
