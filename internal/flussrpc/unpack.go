package flussrpc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// unpacker unpacks the buffers of Arrow bodies. What it sets up it keeps: a
// decoder for each batch costs more than the batch.
type unpacker struct {
	budget int // what may still be unpacked, in bytes
	zstd   *zstd.Decoder
	lz4    *lz4.Reader
	source bytes.Reader
}

func (u *unpacker) close() {
	if u.zstd != nil {
		u.zstd.Close()
		u.zstd = nil
	}
}

// lengthPrefix is what a packed buffer begins with: its unpacked length, or -1
// where it is not packed after all.
const lengthPrefix = 8

// buffer is a buffer unpacked into memory that is kept for the next one, or the
// raw one itself where it is not packed.
func (u *unpacker) buffer(how codec, raw []byte, kept *[]byte) ([]byte, error) {
	if how == codecNone || len(raw) == 0 {
		return raw, nil
	}
	if len(raw) < lengthPrefix {
		return nil, fmt.Errorf("a packed buffer has %d bytes", len(raw))
	}
	size := int64(binary.LittleEndian.Uint64(raw))
	raw = raw[lengthPrefix:]
	switch size {
	case -1:
		return raw, nil
	case 0: // Java writes no frame for nothing
		return raw[:0], nil
	}
	if size < 0 || size > int64(u.budget) {
		return nil, fmt.Errorf("it unpacks to %d bytes, and %d are the most that is believed", size, u.budget)
	}
	u.budget -= int(size)
	var err error
	switch how {
	case codecZSTD:
		*kept, err = u.unzstd(raw, (*kept)[:0], int(size))
	default:
		*kept, err = u.unlz4(raw, (*kept)[:0], int(size))
	}
	if err != nil {
		return nil, err
	}
	return *kept, nil
}

func (u *unpacker) unzstd(raw, into []byte, size int) ([]byte, error) {
	if u.zstd == nil {
		// The memory that a frame asks for is bounded by what a batch may take.
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBatchMemory), zstd.WithDecodeAllCapLimit(false))
		if err != nil {
			return into, fmt.Errorf("no ZSTD decoder: %w", err)
		}
		u.zstd = d
	}
	var h zstd.Header
	if err := h.Decode(raw); err != nil {
		return into, fmt.Errorf("a buffer is no ZSTD: %w", err)
	}
	if h.HasFCS && h.FrameContentSize != uint64(size) {
		return into, fmt.Errorf("a ZSTD buffer has %d bytes, and its length says %d", h.FrameContentSize, size)
	}
	out, err := u.zstd.DecodeAll(raw, into)
	if err != nil {
		return into, fmt.Errorf("a buffer is no ZSTD: %w", err)
	}
	if len(out) != size {
		return out, fmt.Errorf("a ZSTD buffer has %d bytes, and its length says %d", len(out), size)
	}
	return out, nil
}

// step is how much is believed at once of a length that nothing has shown yet.
const step = 1 << 20

func (u *unpacker) unlz4(raw, into []byte, size int) ([]byte, error) {
	u.source.Reset(raw)
	if u.lz4 == nil {
		u.lz4 = lz4.NewReader(&u.source)
	} else {
		u.lz4.Reset(&u.source)
	}
	for len(into) < size {
		have := len(into)
		more := min(step, size-have)
		if cap(into)-have < more {
			into = append(into, make([]byte, more)...)
		}
		into = into[:have+more]
		if _, err := io.ReadFull(u.lz4, into[have:]); err != nil {
			return into[:have], fmt.Errorf("a buffer is no LZ4 of %d bytes: %w", size, err)
		}
	}
	var one [1]byte
	if n, err := u.lz4.Read(one[:]); n != 0 || !errors.Is(err, io.EOF) {
		return into, fmt.Errorf("an LZ4 buffer has more than the %d bytes that its length says, or a wrong checksum", size)
	}
	return into, nil
}
