package arkflow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/recoverctl/recoverctl/internal/figures"
)

// A segment's records: sequence and length of the payload (8 and 4 bytes, the
// highest first), the payload, and its CRC-32 (IEEE). The CRC covers neither
// sequence nor length. After wal/segment.rs of ArkFlow.
const (
	recordHead = 12
	recordEnd  = 4
)

// segmentEnding is how the reading of a segment ended.
type segmentEnding struct {
	state SegmentState
	// at is where the first record stands that can't be read; the engine ignores the
	// rest. The segment's length where all can be.
	at  int64
	why string
	// named is the sequence that the unreadable record says it has; nil: it says none.
	named *uint64
	// behind are the records after it that can be read all the same.
	behind []uint64
	// disorder is the first record whose sequence is not above the one before.
	disorder *uint64
	after    uint64 // the sequence before disorder
	packed   string // how it was compressed; empty: it was not
}

// maxBehind bounds the records that are named behind a damaged one.
const maxBehind = 10_000

// readSegment visits the records of a segment that the engine would read, and
// looks whether more follow behind the first that it can't. The payload is valid
// until visit returns.
func readSegment(data []byte, visit func(sequence uint64, payload []byte)) segmentEnding {
	end := segmentEnding{state: SegmentWhole}
	var last uint64
	seen := false
	for at := 0; at < len(data); {
		n, payload, next, err := readRecord(data, at)
		if err == nil {
			if seen && n <= last && end.disorder == nil {
				wrong := n
				end.disorder, end.after = &wrong, last
			}
			seen, last = true, n
			visit(n, payload)
			at = next
			continue
		}
		end.at, end.why, end.state = int64(at), err.Error(), SegmentTorn
		if len(data)-at >= recordHead {
			named := n
			end.named = &named
		}
		end.look(data, next)
		return end
	}
	end.at = int64(len(data))
	return end
}

// look goes on behind a record whose frame is whole and whose CRC is wrong.
func (end *segmentEnding) look(data []byte, next int) {
	if next < 0 {
		return
	}
	end.state = SegmentCorrupt
	for at := next; at < len(data); {
		n, _, next, err := readRecord(data, at)
		if err != nil && next < 0 {
			return
		}
		if err == nil && len(end.behind) < maxBehind {
			end.behind = append(end.behind, n)
		}
		at = next
	}
}

// readRecord reads the record at a place. Next is where the following one stands;
// negative where the record does not end in the segment.
func readRecord(data []byte, at int) (sequence uint64, payload []byte, next int, err error) {
	left := len(data) - at
	if left < recordHead {
		return 0, nil, -1, fmt.Errorf("a record's head has %d bytes, and %d are left", recordHead, left)
	}
	sequence = binary.BigEndian.Uint64(data[at:])
	size := int64(binary.BigEndian.Uint32(data[at+8:]))
	if size > int64(left-recordHead-recordEnd) {
		return sequence, nil, -1, fmt.Errorf("the record of sequence %d says that its payload has %s bytes, and %s are left", sequence, figures.Group(size), figures.Group(int64(max(left-recordHead-recordEnd, 0))))
	}
	payload = data[at+recordHead : at+recordHead+int(size)]
	next = at + recordHead + int(size) + recordEnd
	if want, got := binary.BigEndian.Uint32(data[next-recordEnd:]), crc32.ChecksumIEEE(payload); want != got {
		return sequence, payload, next, fmt.Errorf("the CRC of the record of sequence %d is %08x, and %08x is written", sequence, got, want)
	}
	return sequence, payload, next, nil
}

// maxSegment bounds a segment, also one that is unpacked. Engines seal at 10 MiB
// and less, or after one entry.
const maxSegment = 256 << 20

// The ways in which an encoder of the engine packs a segment as a whole. No released
// engine uses one, and none reads it.
const (
	packedZstd = "zstd"
	packedLZ4  = "lz4" // a raw block: neither magic nor size
)

const zstdMagic = "\x28\xb5\x2f\xfd"

// unpackSegment is a segment's records, where it is packed as a whole. Packed is how;
// empty: it is not. A raw block of lz4 can't be told by its bytes: it is looked for
// only where the manifest names it (mayBeLZ4) and the first record is none.
func unpackSegment(data []byte, mayBeLZ4 bool) (records []byte, packed string, err error) {
	if len(data) >= len(zstdMagic) && string(data[:len(zstdMagic)]) == zstdMagic {
		records, err = unpackZstd(data)
		return records, packedZstd, err
	}
	if !mayBeLZ4 || len(data) == 0 {
		return data, "", nil
	}
	if _, _, _, err := readRecord(data, 0); err == nil {
		return data, "", nil
	}
	records, err = unpackLZ4(data)
	if err != nil {
		return data, "", nil // the manifest may be wrong: what is damaged is told of the records
	}
	return records, packedLZ4, nil
}

func unpackZstd(data []byte) ([]byte, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxSegment), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	records, err := d.DecodeAll(data, nil)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, errors.New("it is packed by zstd and cut off")
	}
	if err != nil {
		return nil, fmt.Errorf("it is packed by zstd and can't be unpacked: %w", err)
	}
	return records, nil
}

// unpackLZ4 unpacks a raw block. It says nowhere how large it is unpacked: room is
// made for more until it fits, up to what a byte can stand for.
func unpackLZ4(data []byte) ([]byte, error) {
	const first, mostOfOne = 4, 255
	most := min(len(data)*mostOfOne, maxSegment)
	for room := min(len(data)*first, most); ; room = min(room*first, most) {
		records := make([]byte, room)
		n, err := lz4.UncompressBlock(data, records)
		if err == nil {
			return records[:n], nil
		}
		if room == most {
			return nil, fmt.Errorf("it can't be unpacked by lz4: %w", err)
		}
	}
}
