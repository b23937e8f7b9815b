package flink

import (
	"context"
	"time"
)

// FileSystem reads the files of one scheme. A path is what stands behind
// "file:" for the machine's own files, and the whole URI for any other scheme.
//
// Errors answer errors.Is with fs.ErrNotExist where the file is absent, with
// fs.ErrPermission where it may not be read, and with the context's error;
// anything else means that nothing could be said.
type FileSystem interface {
	// Stat describes a file or folder, behind links.
	Stat(ctx context.Context, path string) (Entry, error)

	// List returns at most limit entries of a folder, in any order; more says
	// that there are others.
	List(ctx context.Context, path string, limit int) (entries []Entry, more bool, err error)

	// Read returns size bytes from offset on. A file that is shorter is
	// io.ErrUnexpectedEOF.
	Read(ctx context.Context, path string, offset, size int64) ([]byte, error)

	// Canonical is the one name of a folder that several links may lead to.
	Canonical(ctx context.Context, path string) (string, error)
}

// glancer is a FileSystem that can describe many files at less cost than one by
// one. What is not in its answer is not known, and to be asked for.
type glancer interface {
	Glance(ctx context.Context, paths []string) map[string]Entry
}

// Entry describes a file or folder.
type Entry struct {
	Name     string // last part of the path
	Dir      bool
	Regular  bool // a plain file that can be read from start to end
	Size     int64
	Modified time.Time // zero where nothing says
}
