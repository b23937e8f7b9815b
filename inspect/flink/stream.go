package flink

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/flinkmeta"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// maxStream is the largest operator state stream that is read.
const maxStream = 256 << 20

// stateFile is where the bytes of a stream handle lie: in memory, in the
// metadata, in a file, or in a segment of one.
type stateFile struct {
	inline io.ReaderAt // where system is nil
	system FileSystem
	at     location
	offset int64
	size   int64
	whole  int64 // bytes of the file
}

// find looks for the bytes of a handle. Faults of kind Corrupt and NotFound mean
// that the snapshot lacks them; other kinds, that nothing can be said from here.
func (b *builder) find(ctx context.Context, s *flinkmeta.Stream, what string) (stateFile, error) {
	op := "read " + what
	s = s.Leaf()
	switch {
	case s == nil || s.Kind == flinkmeta.EmptySegmentStream:
		return stateFile{}, fault.New(fault.Corrupt, op, "the state has elements and no stream")
	case s.Left():
		return stateFile{inline: io.NewSectionReader(b.file, s.DataPos, s.Size), size: s.Size}, nil
	case s.Kind == flinkmeta.InlineStream:
		return stateFile{inline: bytes.NewReader(s.Data), size: int64(len(s.Data))}, nil
	}
	r, err := b.resolve(s)
	switch {
	case err != nil:
		return stateFile{}, accessFault(err, r.recorded, b.from.uri)
	case r.illegal:
		return stateFile{}, fault.New(fault.Corrupt, op, "relative path %s leaves the snapshot's folder", quote(r.name))
	}
	system, ok := b.store.systems[r.at.scheme]
	if !ok {
		return stateFile{}, notReadable(r.at).WithRef(safetext.Of(b.from.uri).String())
	}
	e, err := system.Stat(ctx, r.at.name())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if r.relative || r.mapped || b.sameStore(r.at) || b.exists(ctx, system, recordedRoot(r.recorded)) {
			return stateFile{}, fault.New(fault.NotFound, op, "state file %s is missing", r.at.show())
		}
		return stateFile{}, fault.New(fault.Unsupported, op, "state file %s is not on this machine, nor is the folder that it was recorded in", r.at.show()).
			WithHint("map the recorded prefix with --map FROM=TO").WithRef(safetext.Of(b.from.uri).String())
	case err != nil:
		return stateFile{}, accessFault(err, r.at, b.from.uri)
	case !e.Regular:
		return stateFile{}, fault.New(fault.Corrupt, op, "state file %s is not a regular file", r.at.show())
	}
	f := stateFile{system: system, at: r.at, size: s.Size, whole: e.Size}
	if s.Segment != nil {
		f.offset = s.Segment.Start
	}
	if f.size == flinkmeta.UnknownSize {
		f.size = e.Size
	}
	return f, nil
}

// stream returns all bytes of an operator state handle.
func (b *builder) stream(ctx context.Context, s *flinkmeta.Stream) ([]byte, error) {
	const what = "operator state"
	if leaf := s.Leaf(); leaf != nil && leaf.Kind == flinkmeta.InlineStream && !leaf.Left() {
		return leaf.Data, nil
	}
	f, err := b.find(ctx, s, what)
	switch {
	case err != nil:
		return nil, err
	case f.system == nil:
		data := make([]byte, f.size)
		_, err := io.ReadFull(io.NewSectionReader(f.inline, 0, f.size), data)
		return data, err
	case f.size > maxStream:
		return nil, fault.New(fault.Unsupported, "read "+what, "state file %s has %s of operator state, more than the %s that are read",
			f.at.show(), figures.Bytes(f.size), figures.Bytes(maxStream)).WithRef(safetext.Of(b.from.uri).String())
	}
	data, err := f.system.Read(ctx, f.at.name(), f.offset, f.size)
	if err != nil {
		return nil, f.fault(err, what, b.from.uri)
	}
	return data, nil
}

// fault turns an error of reading the file into what an operator should read.
func (f stateFile) fault(err error, what, uri string) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fault.New(fault.Corrupt, "read "+what, "state file %s has %s bytes, fewer than the metadata says", f.at.show(), figures.Group(f.whole))
	}
	return accessFault(err, f.at, uri)
}

// ranges reads parts of the file.
func (f stateFile) ranges(ctx context.Context, uri string) io.ReaderAt {
	if f.system == nil {
		return f.inline
	}
	return rangeReader{ctx: ctx, file: f, uri: uri}
}

// rangeReader is an io.ReaderAt over a file system, for the one walk that its
// context is of.
type rangeReader struct {
	ctx  context.Context
	file stateFile
	uri  string
}

// ReadAt implements io.ReaderAt.
func (r rangeReader) ReadAt(b []byte, at int64) (int, error) {
	n := min(int64(len(b)), r.file.size-at)
	if at < 0 || n < 0 {
		return 0, io.EOF
	}
	data, err := r.file.system.Read(r.ctx, r.file.at.name(), r.file.offset+at, n)
	if err != nil {
		return 0, r.file.fault(err, "keyed state", r.uri)
	}
	if copy(b, data); n < int64(len(b)) {
		return int(n), io.EOF
	}
	return int(n), nil
}

func (b *builder) exists(ctx context.Context, system FileSystem, l location) bool {
	_, err := system.Stat(ctx, l.name())
	return err == nil
}
