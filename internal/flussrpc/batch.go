package flussrpc

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"iter"
)

// Sizes of a batch, in bytes. Everything in it is little-endian.
const (
	batchHead   = 12 // base offset and length, before what the length counts
	headerSize0 = 48 // of a batch of magic 0
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Batch is one batch of a log, not yet decoded. Its body shares the bytes that it
// was read from.
type Batch struct {
	BaseOffset      int64
	Size            int // in bytes, all of it
	Magic           int8
	CommitTimestamp int64 // milliseconds since 1970, as the server appended it
	SchemaID        int16
	AppendOnly      bool // without change types
	LastOffsetDelta int32
	WriterID        int64 // -1: none
	Sequence        int32 // -1: none
	Count           int32 // of records; it may be 0
	Intact          bool  // its checksum is right; of a projected batch it never is

	body []byte
}

// Next is the offset behind the batch.
func (b Batch) Next() int64 { return b.BaseOffset + int64(b.LastOffsetDelta) + 1 }

// Batches takes the batches of an answer or of a segment's file apart. The last
// one may be cut: then it is left out, and rest says how many bytes that were.
// An error ends the sequence: a batch of another layout, or one whose numbers
// can't be.
func Batches(data []byte) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		for at := 0; len(data)-at >= batchHead; {
			size := int64(int32(binary.LittleEndian.Uint32(data[at+8:]))) + batchHead
			if size < headerSize0 {
				yield(Batch{}, fmt.Errorf("a batch at byte %d says that it has %d bytes", at, size))
				return
			}
			if size > int64(len(data)-at) {
				return // cut, as the last one of an answer may be
			}
			b, err := parseBatch(data[at : at+int(size)])
			if err != nil {
				yield(Batch{}, fmt.Errorf("the batch at byte %d: %w", at, err))
				return
			}
			if !yield(b, nil) {
				return
			}
			at += int(size)
		}
	}
}

func parseBatch(d []byte) (Batch, error) {
	b := Batch{BaseOffset: int64(binary.LittleEndian.Uint64(d)), Size: len(d), Magic: int8(d[12])}
	if b.Magic != 0 {
		return b, fmt.Errorf("it is of layout %d; only layout 0 is known, which Fluss writes unless column statistics are on", b.Magic)
	}
	b.CommitTimestamp = int64(binary.LittleEndian.Uint64(d[13:]))
	b.Intact = crc32.Checksum(d[25:], castagnoli) == binary.LittleEndian.Uint32(d[21:])
	b.SchemaID = int16(binary.LittleEndian.Uint16(d[25:]))
	b.AppendOnly = d[27]&1 != 0
	b.LastOffsetDelta = int32(binary.LittleEndian.Uint32(d[28:]))
	b.WriterID = int64(binary.LittleEndian.Uint64(d[32:]))
	b.Sequence = int32(binary.LittleEndian.Uint32(d[40:]))
	b.Count = int32(binary.LittleEndian.Uint32(d[44:]))
	b.body = d[headerSize0:]
	switch {
	case b.BaseOffset < 0 || b.LastOffsetDelta < 0 || b.Next() < b.BaseOffset:
		return b, fmt.Errorf("its offsets go from %d on by %d", b.BaseOffset, b.LastOffsetDelta)
	case b.Count < 0 || int64(b.Count) > int64(b.LastOffsetDelta)+1:
		return b, fmt.Errorf("it says that it has %d records in %d offsets", b.Count, int64(b.LastOffsetDelta)+1)
	}
	return b, nil
}

// Change is what a record does to its key.
type Change byte

// The changes.
const (
	Append       Change = 0
	Insert       Change = 1
	UpdateBefore Change = 2
	UpdateAfter  Change = 3
	Delete       Change = 4
)

// String is Flink's sign for the change.
func (c Change) String() string {
	switch c {
	case Append:
		return "+A"
	case Insert:
		return "+I"
	case UpdateBefore:
		return "-U"
	case UpdateAfter:
		return "+U"
	case Delete:
		return "-D"
	default:
		return fmt.Sprintf("change %d", byte(c))
	}
}
