package flink

import (
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

// stream returns the bytes of a handle: inline ones, a file, or a segment of
// one. Faults of kind Corrupt and NotFound mean that the snapshot lacks them;
// other kinds, that nothing can be said from here.
func (b *builder) stream(ctx context.Context, s *flinkmeta.Stream) ([]byte, error) {
	s = s.Leaf()
	switch {
	case s == nil || s.Kind == flinkmeta.EmptySegmentStream:
		return nil, fault.New(fault.Corrupt, "read operator state", "the state has elements and no stream")
	case s.Kind == flinkmeta.InlineStream:
		return s.Data, nil
	}
	r, err := b.resolve(s)
	switch {
	case err != nil:
		return nil, accessFault(err, r.recorded, b.from.uri)
	case r.illegal:
		return nil, fault.New(fault.Corrupt, "read operator state", "relative path %s leaves the snapshot's folder", quote(r.name))
	}
	system, ok := b.store.systems[r.at.scheme]
	if !ok {
		return nil, notReadable(r.at).WithRef(safetext.Of(b.from.uri).String())
	}
	e, err := system.Stat(ctx, r.at.name())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if r.relative || r.mapped || b.exists(ctx, system, recordedRoot(r.recorded)) {
			return nil, fault.New(fault.NotFound, "read operator state", "state file %s is missing", r.at.show())
		}
		return nil, fault.New(fault.Unsupported, "read operator state", "state file %s is not on this machine, nor is the folder that it was recorded in", r.at.show()).
			WithHint("map the recorded prefix with --map FROM=TO").WithRef(safetext.Of(b.from.uri).String())
	case err != nil:
		return nil, accessFault(err, r.at, b.from.uri)
	case !e.Regular:
		return nil, fault.New(fault.Corrupt, "read operator state", "state file %s is not a regular file", r.at.show())
	}
	offset, size := int64(0), s.Size
	if s.Segment != nil {
		offset = s.Segment.Start
	}
	if size == flinkmeta.UnknownSize {
		size = e.Size
	}
	if size > maxStream {
		return nil, fault.New(fault.Unsupported, "read operator state", "state file %s has %s of operator state, more than the %s that are read",
			r.at.show(), figures.Bytes(size), figures.Bytes(maxStream)).WithRef(safetext.Of(b.from.uri).String())
	}
	data, err := system.Read(ctx, r.at.name(), offset, size)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fault.New(fault.Corrupt, "read operator state", "state file %s has %s bytes, fewer than the metadata says", r.at.show(), figures.Group(e.Size))
	}
	if err != nil {
		return nil, accessFault(err, r.at, b.from.uri)
	}
	return data, nil
}

func (b *builder) exists(ctx context.Context, system FileSystem, l location) bool {
	_, err := system.Stat(ctx, l.name())
	return err == nil
}
