package flink

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"sync"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/flinkmeta"
)

// readable refuses what is no metadata file by its looks.
func readable(c candidate) error {
	switch {
	case !c.entry.Regular:
		return fault.New(fault.Corrupt, "read recovery point", "%s is not a regular file", c.meta.show()).
			WithHint("give the snapshot's folder or its metadata file")
	case c.entry.Size > maxMetadata:
		return fault.New(fault.Unsupported, "read recovery point", "%s has %s, more than the %s that are read",
			c.meta.show(), figures.Bytes(c.entry.Size), figures.Bytes(maxMetadata)).
			WithHint("check that this is a metadata file: even large jobs have some MiB")
	}
	return nil
}

// metadataFile is the metadata file of one reading, for as long as it lasts. It
// is read in blocks, of which the last one is kept: state inside the metadata is
// read from it when it is needed.
type metadataFile struct {
	ctx  context.Context
	from candidate

	mu    sync.Mutex
	block []byte
	at    int64 // where the block begins
	parts bool  // the file was read in parts
}

// metadataBlock is how much is read at once.
const metadataBlock = 4 << 20

func (f *metadataFile) decode() (*flinkmeta.Metadata, error) {
	size := f.from.entry.Size
	if size > wholeMetadata {
		f.parts = true
		return flinkmeta.DecodeFrom(f, size)
	}
	data, err := f.read(0, size)
	if err != nil {
		return nil, err
	}
	return flinkmeta.Decode(data)
}

// ReadAt implements io.ReaderAt.
func (f *metadataFile) ReadAt(b []byte, at int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for n < len(b) {
		from := at + int64(n)
		if from >= f.from.entry.Size {
			return n, io.EOF
		}
		if from < f.at || from >= f.at+int64(len(f.block)) {
			start := from - from%metadataBlock
			f.block = nil // not two at once
			data, err := f.read(start, min(metadataBlock, f.from.entry.Size-start))
			if err != nil {
				return n, err
			}
			f.block, f.at = data, start
		}
		n += copy(b[n:], f.block[from-f.at:])
	}
	return n, nil
}

func (f *metadataFile) read(offset, size int64) ([]byte, error) {
	c := f.from
	data, err := c.system.Read(f.ctx, c.meta.name(), offset, size)
	switch {
	case err == nil:
		return data, nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fault.New(fault.Corrupt, "read recovery point", "%s shrank below %s bytes while it was read",
			c.meta.show(), figures.Group(c.entry.Size)).
			WithHint("something writes to it or replaces it: read it again, and do not rely on this snapshot until it is stable")
	default:
		return nil, f.fault(err)
	}
}

func (f *metadataFile) fault(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.NotFound, "read recovery point", "%s was deleted while it was read", f.from.meta.show()).
			WithHint("the job replaced this checkpoint by a newer one: list again")
	}
	return accessFault(err, f.from.meta, f.from.uri)
}

// unchanged fails where another file has taken the place of one of which parts
// were read at several times: they may not belong together.
func (f *metadataFile) unchanged() error {
	if !f.parts {
		return nil
	}
	c := f.from
	now, err := c.system.Stat(f.ctx, c.meta.name())
	switch {
	case err != nil:
		return f.fault(err)
	case now.Size != c.entry.Size || !now.Modified.Equal(c.entry.Modified):
		return fault.New(fault.Corrupt, "read recovery point", "%s changed while it was read", c.meta.show()).
			WithHint("something writes to it or replaces it: read it again, and do not rely on this snapshot until it is stable")
	}
	return nil
}
