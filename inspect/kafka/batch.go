package kafka

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The record batch of Kafka, magic 2: a header of 61 bytes, then its records.
const (
	batchHeader   = 61
	batchCRCFrom  = 21 // what the checksum covers begins here
	batchOverhead = 12 // the offset and the length, which the length does not count

	attributeCodec         = 0x07
	attributeLogAppendTime = 0x08
	attributeTransactional = 0x10
	attributeControl       = 0x20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// batchWalk shows the records of batches, as a read_uncommitted reader sees them,
// without making anything of them: keys and values share the batch's bytes. It
// tells what a client's records don't: what the other offsets hold.
type batchWalk struct {
	decompress kgo.Decompressor
	scratch    *scratch // what the decompressor writes to; nil: to its own
	visit      func(offset, timestamp int64, key, value []byte)
	// turn is held while the records of one batch are shown, and not between two: a
	// compressed answer of a broker holds so many that whoever else waits for it would
	// wait long. Nil: nobody else.
	turn sync.Locker
	// passed is told the offset behind each batch. Nil: nobody.
	passed func(next int64)

	position, end int64 // offsets that are shown

	records, control, aborted int64
	open                      map[int64]int64 // records of transactions that have not ended, by producer
}

// maxProducers bounds the producers whose transactions are followed.
const maxProducers = 1 << 14

// undecided counts records of transactions that have not ended.
func (w *batchWalk) undecided() (n int64) {
	for _, records := range w.open {
		n += records
	}
	return n
}

// nextOffset is the offset behind the last whole batch of an answer, and position
// where there is none. It looks at headers only.
func nextOffset(raw []byte, position int64) int64 {
	for len(raw) >= batchOverhead+5 {
		size, last, ok := frameOf(raw)
		if !ok {
			break
		}
		position = max(position, last+1)
		raw = raw[size:]
	}
	return position
}

// frameOf reads the size and the last offset of the batch or message at the
// beginning; false where it is not whole.
func frameOf(raw []byte) (size int, last int64, ok bool) {
	length := int64(int32(binary.BigEndian.Uint32(raw[8:])))
	if length < 5 || length+batchOverhead > int64(len(raw)) {
		return 0, 0, false
	}
	first := int64(binary.BigEndian.Uint64(raw))
	if raw[16] != 2 { // of older messages it is the last offset already
		return int(length) + batchOverhead, first, true
	}
	if length+batchOverhead < batchHeader {
		return 0, 0, false
	}
	return int(length) + batchOverhead, first + int64(int32(binary.BigEndian.Uint32(raw[23:]))), true
}

// walk shows the records from position to end, in the order of their offsets: one
// that lies behind a later one is a broker's mistake, and is not shown, as no
// client shows it. A batch that can't be decoded is an error.
func (w *batchWalk) walk(raw []byte, position, end int64) error {
	w.position, w.end = position, end
	for len(raw) >= batchOverhead+5 {
		size, last, ok := frameOf(raw)
		if !ok {
			break // what was cut off comes again with the next answer
		}
		batch := raw[:size]
		raw = raw[size:]
		switch {
		case last < w.position:
		case batch[16] != 2:
			if err := w.older(batch); err != nil {
				return err
			}
		default:
			if err := w.batch(batch); err != nil {
				return err
			}
		}
		w.position = max(w.position, last+1)
		if w.passed != nil {
			w.passed(w.position)
		}
	}
	return nil
}

func (w *batchWalk) batch(raw []byte) error {
	if got, want := crc32.Checksum(raw[batchCRCFrom:], castagnoli), binary.BigEndian.Uint32(raw[17:]); got != want {
		return fmt.Errorf("its checksum is %08x and should be %08x", got, want)
	}
	attributes := binary.BigEndian.Uint16(raw[batchCRCFrom:])
	count := int32(binary.BigEndian.Uint32(raw[57:]))
	records := raw[batchHeader:]
	if codec := kgo.CompressionCodecType(attributes & attributeCodec); codec != kgo.CodecNone {
		var err error
		if records, err = w.decompress.Decompress(records, codec); err != nil {
			return err
		}
		if w.scratch != nil {
			w.scratch.keep(records)
		}
	}
	b := batchRecords{
		first: int64(binary.BigEndian.Uint64(raw)), firstTime: int64(binary.BigEndian.Uint64(raw[27:])), maxTime: int64(binary.BigEndian.Uint64(raw[35:])),
		appendTime: attributes&attributeLogAppendTime != 0, control: attributes&attributeControl != 0, rest: records,
	}
	if attributes&(attributeTransactional|attributeControl) != 0 {
		b.producer, b.transactional = int64(binary.BigEndian.Uint64(raw[43:])), true
	}
	if count < 0 || int(count) > len(records) {
		return fmt.Errorf("it announces %d records in %d bytes", count, len(records))
	}
	w.take()
	defer w.give()
	return w.show(&b, int(count))
}

func (w *batchWalk) take() {
	if w.turn != nil {
		w.turn.Lock()
	}
}

func (w *batchWalk) give() {
	if w.turn != nil {
		w.turn.Unlock()
	}
}

// batchRecords are the records of one batch, while they are shown.
type batchRecords struct {
	first, firstTime, maxTime int64
	appendTime, control       bool
	transactional             bool
	producer                  int64
	rest                      []byte
}

var errRecord = errors.New("the batch does not hold the records that it announces")

// show shows the records of a batch.
func (w *batchWalk) show(b *batchRecords, count int) error {
	for range count {
		length, ok := b.varint()
		if !ok || length < 1 || length > int64(len(b.rest)) {
			return errRecord
		}
		after := b.rest[length:]
		b.rest = b.rest[1:length] // without the attributes, which nothing uses
		timeDelta, ok1 := b.varint()
		offsetDelta, ok2 := b.varint()
		key, ok3 := b.bytes()
		value, ok4 := b.bytes()
		ok5 := b.headers()
		if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || offsetDelta < 0 || offsetDelta > math.MaxInt32 {
			return errRecord
		}
		b.rest = after
		offset, timestamp := b.first+offsetDelta, b.firstTime+timeDelta
		if b.appendTime {
			timestamp = b.maxTime
		}
		if offset < w.position || offset >= w.end {
			continue
		}
		w.position = offset + 1
		if b.control {
			w.control++
			w.ended(b.producer, key)
			continue
		}
		w.records++
		if b.transactional {
			w.begun(b.producer)
		}
		w.visit(offset, timestamp, key, value)
	}
	return nil
}

// begun counts a record of a producer's transaction.
func (w *batchWalk) begun(producer int64) {
	if w.open == nil {
		w.open = map[int64]int64{}
	}
	if n := w.open[producer]; n > 0 || len(w.open) < maxProducers {
		w.open[producer] = n + 1
	}
}

// ended ends a transaction by a control record, whose key is a version and a
// type: 0 aborts.
func (w *batchWalk) ended(producer int64, key []byte) {
	if len(key) < 4 {
		return
	}
	switch binary.BigEndian.Uint16(key[2:]) {
	case 0:
		w.aborted += w.open[producer]
		delete(w.open, producer)
	case 1:
		delete(w.open, producer)
	}
}

// varint reads a zigzag number.
func (b *batchRecords) varint() (int64, bool) {
	if len(b.rest) > 0 && b.rest[0] < 0x80 {
		c := int64(b.rest[0])
		b.rest = b.rest[1:]
		return c>>1 ^ -(c & 1), true
	}
	n, size := binary.Varint(b.rest)
	if size <= 0 {
		return 0, false
	}
	b.rest = b.rest[size:]
	return n, true
}

// bytes reads a text with its length in front: nil where that is -1.
func (b *batchRecords) bytes() ([]byte, bool) {
	length, ok := b.varint()
	switch {
	case !ok || length > int64(len(b.rest)) || length < -1:
		return nil, false
	case length == -1:
		return nil, true
	}
	out := b.rest[:length:length]
	b.rest = b.rest[length:]
	return out, true
}

// headers steps over the headers of a record, which nobody asks for.
func (b *batchRecords) headers() bool {
	count, ok := b.varint()
	for ; ok && count > 0; count-- {
		var key []byte
		key, ok = b.bytes()
		if _, valued := b.bytes(); key == nil || !valued {
			return false
		}
	}
	return ok
}

// older shows messages of the formats before record batches, which the client
// library decodes.
func (w *batchWalk) older(raw []byte) error {
	rp := kmsg.NewFetchResponseTopicPartition()
	rp.RecordBatches = raw
	got, _ := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{Offset: w.position, IsolationLevel: kgo.ReadUncommitted()}, &rp, w.decompress, nil)
	if got.Err != nil {
		return got.Err
	}
	w.take()
	defer w.give()
	for _, r := range got.Records {
		if r.Offset < w.end {
			w.records++
			w.visit(r.Offset, r.Timestamp.UnixMilli(), r.Key, r.Value)
		}
	}
	return nil
}

// scratch is the memory that batches are decompressed to, one after the other.
type scratch struct{ buffer []byte }

var _ kgo.PoolDecompressBytes = (*scratch)(nil)

// maxScratch is how much is kept for the next batch.
const maxScratch = 16 << 20

// GetDecompressBytes implements [kgo.PoolDecompressBytes].
func (s *scratch) GetDecompressBytes(src []byte, _ kgo.CompressionCodecType) []byte {
	if s.buffer == nil {
		s.buffer = make([]byte, 0, 4*len(src))
	}
	return s.buffer
}

// PutDecompressBytes implements [kgo.PoolDecompressBytes]. What was decompressed
// is kept by whoever has used it.
func (s *scratch) PutDecompressBytes([]byte) {}

// keep takes memory back for the next batch.
func (s *scratch) keep(used []byte) {
	if cap(used) > cap(s.buffer) && cap(used) <= maxScratch {
		s.buffer = used[:0]
	}
}
