package flussrpc

import (
	"encoding/binary"
	"errors"
)

// recordBatch is an Arrow record batch's own description, of a message that
// describes no other thing (format/Message.fbs of Apache Arrow).
type recordBatch struct {
	rows    int64
	nodes   []byte // of nodeSize each: rows and nulls of a column
	buffers []byte // of bufferSize each: where in the body, and how long
	codec   codec
	body    int64 // length of the body
}

// codec is how the buffers of a body are packed.
type codec int8

const (
	codecLZ4  codec = 0
	codecZSTD codec = 1
	codecNone codec = -1
)

// Sizes of the structs of a record batch.
const (
	nodeSize   = 16
	bufferSize = 16
)

// Places of fields in the tables.
const (
	messageHeaderType = 1
	messageHeader     = 2
	messageBodyLength = 3
	batchLength       = 0
	batchNodes        = 1
	batchBuffers      = 2
	batchCompression  = 3
	compressionCodec  = 0
	compressionMethod = 1

	headerRecordBatch = 3
	methodBuffer      = 0
)

var errFlat = errors.New("its Arrow message leads out of its own metadata")

// parseRecordBatch reads the metadata of an Arrow message. Every place that the
// bytes name is looked at before it is used.
func parseRecordBatch(meta []byte) (recordBatch, error) {
	out := recordBatch{codec: codecNone}
	f := flat{b: meta}
	message := f.root()
	if kind := f.uint8(message, messageHeaderType); kind != headerRecordBatch && f.ok() {
		return out, errors.New("its Arrow message is no record batch")
	}
	out.body = f.int64(message, messageBodyLength)
	batch := f.table(message, messageHeader)
	out.rows = f.int64(batch, batchLength)
	out.nodes = f.structs(batch, batchNodes, nodeSize)
	out.buffers = f.structs(batch, batchBuffers, bufferSize)
	if compression := f.optional(batch, batchCompression); compression != 0 {
		out.codec = codec(int8(f.uint8(compression, compressionCodec)))
		if f.ok() && f.uint8(compression, compressionMethod) != methodBuffer {
			return out, errors.New("its Arrow message is packed in a way that is not known")
		}
	}
	if !f.ok() {
		return out, errFlat
	}
	if out.codec != codecNone && out.codec != codecLZ4 && out.codec != codecZSTD {
		return out, errors.New("its Arrow message is packed by a codec that is not known")
	}
	return out, nil
}

// flat reads tables of FlatBuffers. Once something lies outside the bytes
// everything reads as zero, and ok is false.
type flat struct {
	b   []byte
	bad bool
}

func (f *flat) ok() bool { return !f.bad }

// at returns n bytes at a place; zeros where they are not there.
func (f *flat) at(pos, n int64) []byte {
	if f.bad || pos < 0 || n < 0 || pos > int64(len(f.b))-n {
		f.bad = true
		const most = 8
		var none [most]byte
		return none[:min(max(n, 0), most)]
	}
	return f.b[pos : pos+n]
}

func (f *flat) uoffset(pos int64) int64 {
	return pos + int64(binary.LittleEndian.Uint32(f.at(pos, 4)))
}

func (f *flat) root() int64 { return f.uoffset(0) }

// field is where a field of a table lies; 0: it is left out.
func (f *flat) field(table int64, place int) int64 {
	const head = 4 // of a vtable: its size and the table's
	vtable := table - int64(int32(binary.LittleEndian.Uint32(f.at(table, 4))))
	size := int64(binary.LittleEndian.Uint16(f.at(vtable, 2)))
	entry := int64(head + 2*place)
	if entry+2 > size {
		return 0
	}
	offset := int64(binary.LittleEndian.Uint16(f.at(vtable+entry, 2)))
	if offset == 0 || f.bad {
		return 0
	}
	return table + offset
}

func (f *flat) uint8(table int64, place int) uint8 {
	if pos := f.field(table, place); pos != 0 {
		return f.at(pos, 1)[0]
	}
	return 0
}

func (f *flat) int64(table int64, place int) int64 {
	if pos := f.field(table, place); pos != 0 {
		return int64(binary.LittleEndian.Uint64(f.at(pos, 8)))
	}
	return 0
}

// optional is where a table lies that another one names; 0: it names none.
func (f *flat) optional(table int64, place int) int64 {
	if pos := f.field(table, place); pos != 0 {
		return f.uoffset(pos)
	}
	return 0
}

// table is optional of one that has to be there.
func (f *flat) table(table int64, place int) int64 {
	pos := f.optional(table, place)
	if pos == 0 {
		f.bad = true
	}
	return pos
}

// structs are the bytes of a vector of structs.
func (f *flat) structs(table int64, place int, size int64) []byte {
	pos := f.optional(table, place)
	if pos == 0 {
		return nil
	}
	count := int64(binary.LittleEndian.Uint32(f.at(pos, 4)))
	if count > int64(len(f.b))/size {
		f.bad = true
		return nil
	}
	return f.at(pos+4, count*size)
}
