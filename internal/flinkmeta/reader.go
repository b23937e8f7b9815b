package flinkmeta

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/recoverctl/recoverctl/internal/fault"
)

// Reader reads Java DataOutput values (big-endian, unaligned) from memory, or
// through a window that moves over a file. It keeps the first error: after it
// every read returns zero, so a caller may read a whole structure and ask once.
// Each what names the field for the error.
type Reader struct {
	buf      []byte
	pos      int
	base     int64       // position of buf[0] in the file
	end      int64       // … and of the end
	src      io.ReaderAt // the file that buf is a window of; nil: buf is all of it
	failed   error       // of src
	subject  string
	operator string
	subtask  int32
	of       string // the larger thing that is being read
	err      *Error
}

// NewReader reads buf, whose first byte is at position base of the file or
// stream that subject names in messages ("metadata", "operator state stream").
func NewReader(subject string, buf []byte, base int64) *Reader {
	return &Reader{buf: buf, base: base, end: base + int64(len(buf)), subject: subject, subtask: NoSubtask}
}

// windowStep is how much of a file is read at once.
const windowStep = 256 << 10

// newWindow reads a file of size bytes through a window. What is taken is valid
// until the next read.
func newWindow(subject string, src io.ReaderAt, size int64) *Reader {
	return &Reader{src: src, end: size, subject: subject, subtask: NoSubtask}
}

// Err is the first error: an *Error, or what the file could not be read for; or
// nil.
func (r *Reader) Err() error {
	switch {
	case r.failed != nil:
		return r.failed
	case r.err != nil:
		return r.err
	default:
		return nil
	}
}

// OK says that nothing has failed so far.
func (r *Reader) OK() bool { return r.err == nil }

// Pos is the position in the file of the next byte.
func (r *Reader) Pos() int64 { return r.base + int64(r.pos) }

// Len is the number of bytes that remain.
func (r *Reader) Len() int { return int(r.end - r.Pos()) }

// fill moves the window to the next byte and makes it hold n bytes, which must
// remain.
func (r *Reader) fill(n int) bool {
	at := r.Pos()
	size := min(max(n, windowStep), r.Len())
	if cap(r.buf) < size {
		r.buf = make([]byte, size)
	}
	r.buf, r.base, r.pos = r.buf[:size], at, 0
	got, err := r.src.ReadAt(r.buf, at)
	if got == size {
		return true
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	r.failed = err
	r.Fail(CheckParse, at, "file", "%s could not be read at byte %d", r.subject, at)
	return false
}

// peek is the next n bytes, which must remain.
func (r *Reader) peek(n int) []byte {
	if n > len(r.buf)-r.pos && !r.fill(n) {
		return nil
	}
	return r.buf[r.pos : r.pos+n : r.pos+n]
}

// keep is b where the whole file is in memory, else a copy: the window moves on.
func (r *Reader) keep(b []byte) []byte {
	if r.src == nil {
		return b
	}
	return bytes.Clone(b)
}

// Fail records an error at pos unless there is one already. The message is one
// sentence; names from the file in it must be quoted.
func (r *Reader) Fail(check string, pos int64, what, format string, args ...any) {
	if r.err != nil {
		return
	}
	r.err = &Error{
		Check: check, Kind: fault.Corrupt, Pos: pos, What: r.label(what),
		Operator: r.operator, Subtask: r.subtask, Message: fmt.Sprintf(format, args...),
	}
}

// label is the name of a field with the larger thing that it is a part of.
func (r *Reader) label(what string) string {
	if r.of == "" || r.of == what {
		return what
	}
	return what + " of " + r.of
}

// corrupt records that a field holds what no writer writes.
func (r *Reader) corrupt(pos int64, what, because string) {
	r.Fail(CheckParse, pos, what, "%s is corrupt at byte %d while reading %s: %s", r.subject, pos, r.label(what), because)
}

// impossible records a count or a length that cannot be true.
func (r *Reader) impossible(pos int64, what string, n int64) {
	r.Fail(CheckLength, pos, what, "impossible length %d at byte %d while reading %s: %d bytes are left in the %s",
		n, pos, r.label(what), r.Len(), r.subject)
}

// Take returns the next n bytes as a sub-slice of the input, which the caller
// must not write to. Of a window they are valid until the next read.
func (r *Reader) Take(n int, what string) []byte {
	if r.err != nil {
		return nil
	}
	if n < 0 || n > r.Len() {
		r.Fail(CheckParse, r.Pos(), what, "%s is truncated or corrupt at byte %d while reading %s: %d bytes are needed, %d are left",
			r.subject, r.Pos(), r.label(what), n, r.Len())
		return nil
	}
	b := r.peek(n)
	if r.err != nil {
		return nil
	}
	r.pos += n
	return b
}

// Skip passes over the next n bytes. Those that are not in the window are not
// read.
func (r *Reader) Skip(n int, what string) {
	if r.src == nil || r.err != nil || n <= len(r.buf)-r.pos || n > r.Len() {
		r.Take(n, what)
		return
	}
	r.base, r.pos, r.buf = r.Pos()+int64(n), 0, r.buf[:0]
}

// U8 reads an unsigned byte.
func (r *Reader) U8(what string) uint8 {
	if b := r.Take(1, what); b != nil {
		return b[0]
	}
	return 0
}

// Bool reads a byte that is true unless it is zero, as Java does.
func (r *Reader) Bool(what string) bool { return r.U8(what) != 0 }

// I16 reads a signed 16-bit number.
func (r *Reader) I16(what string) int16 {
	if b := r.Take(2, what); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

// I32 reads a signed 32-bit number.
func (r *Reader) I32(what string) int32 {
	if b := r.Take(4, what); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

// I64 reads a signed 64-bit number.
func (r *Reader) I64(what string) int64 {
	if b := r.Take(8, what); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// Count reads a 32-bit number of things that take at least minSize bytes each.
// It fails for a negative number and for more than can be in the bytes left.
func (r *Reader) Count(minSize int, what string) int {
	pos := r.Pos()
	n := r.I32(what)
	if r.err == nil && (n < 0 || int64(n)*int64(minSize) > int64(r.Len())) {
		r.impossible(pos, what, int64(n))
		return 0
	}
	return int(n)
}

// Bytes32 reads a 32-bit length and that many bytes, as a sub-slice.
func (r *Reader) Bytes32(what string) []byte {
	return r.Take(r.Count(1, what), what)
}

// I64s reads n signed 64-bit numbers.
func (r *Reader) I64s(n int, what string) []int64 {
	if n == 0 {
		return nil
	}
	b := r.Take(n*8, what)
	if b == nil {
		return nil
	}
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(binary.BigEndian.Uint64(b[i*8:]))
	}
	return out
}

// UTF reads a string that Java's writeUTF wrote: a 16-bit byte count, then
// modified UTF-8. See fromModifiedUTF8 for half surrogates.
func (r *Reader) UTF(what string) string {
	return string(r.utf(what))
}

// utf is UTF without the copy to a string.
func (r *Reader) utf(what string) []byte {
	pos := r.Pos()
	n := int(uint16(r.I16(what)))
	if r.err == nil && n > r.Len() {
		r.impossible(pos, what, int64(n))
	}
	b := r.Take(n, what)
	s, ok := fromModifiedUTF8(b)
	if !ok {
		r.corrupt(pos, what, "it is not modified UTF-8")
		return nil
	}
	return s
}
