package flinkmeta

import (
	"errors"
	"io"
)

const (
	// cursorStep is how much of a stream is read at once.
	cursorStep = 256 << 10
	// maxKeyedPart is the longest key, and the longest value that is delivered.
	maxKeyedPart = 1 << 20
)

// cursor reads a part of a stream from its start to its end.
type cursor interface {
	// next returns n bytes, valid until the following call.
	next(n int, what string) ([]byte, error)
	// skip passes over n bytes.
	skip(n int64, what string) error
	// pos is the place in the stream, where it is compressed that of the chunk.
	pos() int64
	// left is how many bytes remain; where the stream is compressed it is not
	// known and very large.
	left() int64
}

// plain reads bytes as they are stored. What is skipped is not read.
type plain struct {
	src     io.ReaderAt
	at, end int64
	buf     []byte // what was read …
	base    int64  // … and where it begins
}

func newPlain(src io.ReaderAt, start, end int64) *plain { return &plain{src: src, at: start, end: end} }

func (p *plain) pos() int64  { return p.at }
func (p *plain) left() int64 { return p.end - p.at }

func (p *plain) next(n int, what string) ([]byte, error) {
	if int64(n) > p.left() {
		return nil, truncated(p.at, what, int64(n), p.left())
	}
	from := p.at - p.base
	if from < 0 || from+int64(n) > int64(len(p.buf)) {
		size := min(max(int64(n), cursorStep), p.left())
		if int64(cap(p.buf)) < size {
			p.buf = make([]byte, size)
		}
		p.buf, p.base, from = p.buf[:size], p.at, 0
		if err := readFull(p.src, p.buf, p.at); err != nil {
			p.buf = p.buf[:0]
			return nil, err
		}
	}
	p.at += int64(n)
	return p.buf[from : from+int64(n)], nil
}

func (p *plain) skip(n int64, what string) error {
	if n < 0 || n > p.left() {
		return truncated(p.at, what, n, p.left())
	}
	p.at += n
	return nil
}

func truncated(pos int64, what string, need, left int64) *Error {
	return streamError(CheckKeyedEntry, pos, what, "the keyed state stream is corrupt at byte %d while reading %s: %d bytes are needed, %d are left in its key group",
		pos, what, need, left)
}

// framed reads what lies in the Snappy framing format.
type framed struct {
	in    *plain
	block []byte // of the chunk that was read last, what is left of it
	chunk int64  // its place
	part  []byte // bytes that lie in several chunks
}

func (f *framed) pos() int64  { return f.chunk }
func (f *framed) left() int64 { return 1 << 62 }

// fill reads chunks until there is data. End of the stream is io.EOF.
func (f *framed) fill() error {
	for len(f.block) == 0 {
		if f.in.left() == 0 {
			return io.EOF
		}
		f.chunk = f.in.pos()
		head, err := f.in.next(4, "compressed chunk")
		if err != nil {
			return err
		}
		kind, n := head[0], int(head[1])|int(head[2])<<8|int(head[3])<<16
		if int64(n) > f.in.left() {
			return chunkError(f.chunk, "its length is %d, but its key group has only %d bytes left", n, f.in.left())
		}
		body, err := f.in.next(n, "compressed chunk")
		if err != nil {
			return err
		}
		switch {
		case kind == chunkCompressed || kind == chunkUncompressed:
			if f.block, err = unframeBlock(kind, body, f.chunk); err != nil {
				return err
			}
		case kind == chunkIdentifier && string(body) != streamIdentifier[4:]:
			return chunkError(f.chunk, "it is no Snappy stream identifier")
		case kind < chunkFirstSkipped:
			return chunkError(f.chunk, "chunk type %#02x is not known", kind)
		}
	}
	return nil
}

func (f *framed) next(n int, what string) ([]byte, error) {
	if err := f.fill(); err != nil {
		return nil, f.ended(err, what, int64(n))
	}
	if n <= len(f.block) {
		b := f.block[:n]
		f.block = f.block[n:]
		return b, nil
	}
	f.part = f.part[:0]
	for len(f.part) < n {
		if err := f.fill(); err != nil {
			return nil, f.ended(err, what, int64(n-len(f.part)))
		}
		m := min(n-len(f.part), len(f.block))
		f.part = append(f.part, f.block[:m]...)
		f.block = f.block[m:]
	}
	return f.part, nil
}

func (f *framed) skip(n int64, what string) error {
	if n < 0 {
		return truncated(f.chunk, what, n, f.in.left())
	}
	for n > 0 {
		if err := f.fill(); err != nil {
			return f.ended(err, what, n)
		}
		m := min(n, int64(len(f.block)))
		f.block = f.block[m:]
		n -= m
	}
	return nil
}

func (f *framed) ended(err error, what string, need int64) error {
	if errors.Is(err, io.EOF) {
		return truncated(f.in.pos(), what, need, 0)
	}
	return err
}
