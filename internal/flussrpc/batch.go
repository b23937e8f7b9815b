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

// layout is where the fields of a batch lie. The checksum stands before what it
// covers, which begins with the schema id.
type layout struct {
	covered    int  // from this byte on
	statistics bool // their length, and they, stand between header and records
}

// header is where the records begin, or the statistics before them.
func (l layout) header() int {
	const afterSchemaID = 23 // up to the number of records
	if l.statistics {
		return l.covered + afterSchemaID + 4
	}
	return l.covered + afterSchemaID
}

func (l layout) intact(d []byte) bool {
	return len(d) >= l.header() && crc32.Checksum(d[l.covered:], castagnoli) == binary.LittleEndian.Uint32(d[l.covered-4:])
}

// layouts are those of each magic, of release 0.9.1 and of the main branch. They use
// 1 for different ones, and the checksum says which it is. What begins at byte 29 has
// the leader's epoch before it.
var layouts = [...][]layout{
	0: {{covered: 25}},
	1: {{covered: 25, statistics: true}, {covered: 29}},
	2: {{covered: 29, statistics: true}},
}

// layoutsOf are the layouts of a magic; none: it is not known.
func layoutsOf(magic int8) []layout {
	if magic < 0 || int(magic) >= len(layouts) {
		return nil
	}
	return layouts[magic]
}

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
	l, err := b.layout(d)
	if err != nil {
		return b, err
	}
	b.CommitTimestamp = int64(binary.LittleEndian.Uint64(d[13:]))
	fields := d[l.covered:]
	b.SchemaID = int16(binary.LittleEndian.Uint16(fields))
	b.AppendOnly = fields[2]&1 != 0
	b.LastOffsetDelta = int32(binary.LittleEndian.Uint32(fields[3:]))
	b.WriterID = int64(binary.LittleEndian.Uint64(fields[7:]))
	b.Sequence = int32(binary.LittleEndian.Uint32(fields[15:]))
	b.Count = int32(binary.LittleEndian.Uint32(fields[19:]))
	b.body = d[l.header():]
	if l.statistics {
		size := int32(binary.LittleEndian.Uint32(fields[23:]))
		if size < 0 || int(size) > len(b.body) {
			return b, fmt.Errorf("it says that it has %d bytes of statistics, and %d are left", size, len(b.body))
		}
		b.body = b.body[size:]
	}
	switch {
	case b.BaseOffset < 0 || b.LastOffsetDelta < 0 || b.Next() < b.BaseOffset:
		return b, fmt.Errorf("its offsets go from %d on by %d", b.BaseOffset, b.LastOffsetDelta)
	case b.Count < 0 || int64(b.Count) > int64(b.LastOffsetDelta)+1:
		return b, fmt.Errorf("it says that it has %d records in %d offsets", b.Count, int64(b.LastOffsetDelta)+1)
	}
	return b, nil
}

// layout finds out how a batch is laid out, and whether it is intact. Of one that
// may be laid out in two ways and fits neither checksum nothing can be told.
func (b *Batch) layout(d []byte) (layout, error) {
	known := layoutsOf(b.Magic)
	if len(known) == 0 {
		return layout{}, fmt.Errorf("it is of layout %d; only the layouts 0 to 2 are known", b.Magic)
	}
	for _, l := range known {
		if l.intact(d) {
			b.Intact = true
			return l, nil
		}
	}
	if len(known) > 1 {
		return layout{}, fmt.Errorf("it is of layout %d and fits none of its checksums", b.Magic)
	}
	if l := known[0]; len(d) >= l.header() {
		return l, nil
	}
	return layout{}, fmt.Errorf("it is of layout %d and has %d bytes", b.Magic, len(d))
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
