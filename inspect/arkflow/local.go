package arkflow

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

const (
	// FileName is what the engine calls the file of a local log.
	FileName = "wal.redb"
	// maxUnpacked bounds the file that a compressed copy unpacks to, and maxUnpackedData
	// what of it is not zero and kept in memory.
	maxUnpacked     = 64 << 30
	maxUnpackedData = 1 << 30

	opReadLog = "read write-ahead log"
)

// source is a file that is open for reading.
type source struct {
	io.ReaderAt
	path       string
	size       int64
	modified   time.Time
	compressed bool

	file *os.File // nil: the bytes are a copy in memory
}

func (s *source) close() {
	if s.file != nil {
		_ = s.file.Close() // nothing was written
	}
}

// state is what tells a file that somebody writes to from one that nobody does.
type state struct {
	size     int64
	modified time.Time
	replaced bool
}

// now is how the file is at its path now. A copy in memory does not change.
func (s *source) now() state {
	if s.file == nil {
		return state{size: s.size, modified: s.modified}
	}
	mine, err := s.file.Stat()
	if err != nil {
		return state{replaced: true}
	}
	theirs, err := os.Stat(s.path)
	return state{size: mine.Size(), modified: mine.ModTime(), replaced: err != nil || !os.SameFile(mine, theirs)}
}

// openFile opens a redb file, or the copy of one that gzip packed.
func openFile(ctx context.Context, path string) (*source, error) {
	info, err := os.Stat(path) // before it is opened: a pipe would wait for its writer
	if err != nil {
		return nil, notOpened(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fault.New(fault.Usage, opReadLog, "%s is no regular file", safetext.Of(path)).
			WithHint("give the log's file %s, its folder, or a copy packed by gzip", FileName)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, notOpened(path, err)
	}
	s := &source{ReaderAt: file, path: path, file: file}
	if info, err = file.Stat(); err != nil {
		s.close()
		return nil, notOpened(path, err)
	}
	s.size, s.modified = info.Size(), info.ModTime()
	var head [2]byte
	if n, err := file.ReadAt(head[:], 0); n == len(head) && err == nil && head == [2]byte{0x1f, 0x8b} {
		defer s.close()
		return unpack(ctx, path, file)
	}
	return s, nil
}

func notOpened(path string, err error) error {
	shown := safetext.Of(path)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fault.New(fault.Denied, opReadLog, "%s may not be read by this user", shown).
			WithHint("run as a user of the engine's group, or read a copy; nothing else is needed: the file is only read").WithRef(path)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.ELOOP):
		return fault.New(fault.NotFound, opReadLog, "there is nothing at %s", shown).
			WithHint("an engine writes %s in the folder that durability.path of the stream names, or in its working folder where it names none", FileName).WithRef(path)
	default:
		return fault.Wrap(fault.Unreachable, opReadLog, err, "%s can't be read", shown).WithRef(path)
	}
}

// unpack reads a packed file into memory, but for what of it is zero: that is
// nearly all of a redb file.
func unpack(ctx context.Context, path string, file io.Reader) (*source, error) {
	bad := func(err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fault.New(fault.Corrupt, opReadLog, "%s is packed by gzip and can't be unpacked: %s", safetext.Of(path), safetext.Error(err)).
			WithHint("copy it again; the copy is cut off or damaged").WithRef(path)
	}
	z, err := gzip.NewReader(bufio.NewReader(file))
	if err != nil {
		return nil, bad(err)
	}
	pages := &sparse{pages: map[int64][]byte{}}
	var kept int64
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		page, err := fillPage(z)
		if len(bytes.Trim(page, "\x00")) > 0 {
			pages.pages[pages.size/sparsePage] = page
			kept += int64(len(page))
		}
		pages.size += int64(len(page))
		switch {
		case errors.Is(err, io.EOF):
			return &source{ReaderAt: pages, path: path, size: pages.size, compressed: true}, nil
		case err != nil:
			return nil, bad(err)
		case pages.size > maxUnpacked || kept > maxUnpackedData:
			return nil, fault.New(fault.Unsupported, opReadLog, "%s unpacks to more than can be held in memory (%s so far, %s of it data)",
				safetext.Of(path), figures.Bytes(pages.size), figures.Bytes(kept)).
				WithHint("unpack it with gunzip and read the file").WithRef(path)
		}
	}
}

// fillPage reads a page, or what is left of one before the end.
func fillPage(r io.Reader) ([]byte, error) {
	page, n := make([]byte, sparsePage), 0
	for n < len(page) {
		m, err := r.Read(page[n:])
		n += m
		if err != nil {
			return page[:n], err
		}
	}
	return page, nil
}

const sparsePage = 4096

// sparse is a file in memory without its pages of zeros.
type sparse struct {
	pages map[int64][]byte
	size  int64
}

// ReadAt implements io.ReaderAt.
func (s *sparse) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off >= s.size {
		return 0, io.EOF
	}
	want := p
	if left := s.size - off; int64(len(want)) > left {
		want = want[:left]
	}
	for n := 0; n < len(want); {
		number, at := (off+int64(n))/sparsePage, int((off+int64(n))%sparsePage)
		step := min(len(want)-n, sparsePage-at)
		clear(want[n : n+step])
		if page := s.pages[number]; at < len(page) {
			copy(want[n:n+step], page[at:])
		}
		n += step
	}
	if len(want) < len(p) {
		return len(want), io.EOF
	}
	return len(p), nil
}
