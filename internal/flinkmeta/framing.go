package flinkmeta

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/snappy"

	"github.com/recoverctl/recoverctl/internal/fault"
)

// The Snappy framing format, as far as Flink writes it.
const (
	streamIdentifier  = "\xff\x06\x00\x00sNaPpY"
	chunkCompressed   = 0x00
	chunkUncompressed = 0x01
	chunkFirstSkipped = 0x80 // to 0xfe: chunks that a reader skips
	chunkIdentifier   = 0xFF

	// blockSize is the largest number of uncompressed bytes in a chunk.
	blockSize = 64 << 10
	// maxElement is the largest element that is decompressed, in bytes.
	maxElement = 256 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// maskedSum is the framing format's checksum of uncompressed bytes.
func maskedSum(b []byte) uint32 {
	c := crc32.Checksum(b, castagnoli)
	return (c>>15 | c<<17) + 0xA282EAD8
}

// unframe undoes the framing of one element: whole chunks, from the first to
// the last byte. base is the position of framed in its stream.
func unframe(framed []byte, base int64) ([]byte, error) {
	var out []byte
	for pos := 0; pos < len(framed); {
		at := base + int64(pos)
		if len(framed)-pos < 4 {
			return nil, chunkError(at, "%d bytes are left where a chunk header of 4 must be", len(framed)-pos)
		}
		kind := framed[pos]
		n := int(framed[pos+1]) | int(framed[pos+2])<<8 | int(framed[pos+3])<<16
		pos += 4
		if n > len(framed)-pos {
			return nil, chunkError(at, "its length is %d, but its element has only %d bytes left", n, len(framed)-pos)
		}
		body := framed[pos : pos+n]
		pos += n
		switch {
		case kind == chunkCompressed || kind == chunkUncompressed:
			block, err := unframeBlock(kind, body, at)
			if err != nil {
				return nil, err
			}
			if len(out)+len(block) > maxElement {
				err := chunkError(at, "the element is larger than %d bytes when decompressed", maxElement)
				err.Kind = fault.Unsupported
				return nil, err
			}
			out = append(out, block...)
		case kind == chunkIdentifier:
			if string(body) != streamIdentifier[4:] {
				return nil, chunkError(at, "it is no Snappy stream identifier")
			}
		case kind < chunkFirstSkipped:
			return nil, chunkError(at, "chunk type %#02x is not known", kind)
		}
	}
	return out, nil
}

// unframeBlock returns the uncompressed bytes of a data chunk.
func unframeBlock(kind byte, body []byte, at int64) ([]byte, error) {
	if len(body) < 4 {
		return nil, chunkError(at, "its length is %d, which leaves no room for a checksum", len(body))
	}
	sum, block := binary.LittleEndian.Uint32(body), body[4:]
	if kind == chunkCompressed {
		n, err := snappy.DecodedLen(block)
		if err != nil || n > blockSize {
			return nil, chunkError(at, "its uncompressed length is not valid (%d, at most %d are possible)", n, blockSize)
		}
		if block, err = snappy.DecodeStrict(make([]byte, n), block); err != nil {
			return nil, chunkError(at, "its Snappy block is damaged")
		}
	}
	if len(block) > blockSize {
		return nil, chunkError(at, "it holds %d bytes, at most %d are possible", len(block), blockSize)
	}
	if got := maskedSum(block); got != sum {
		return nil, streamError(CheckChecksum, at, "compressed chunk",
			"checksum error in compressed chunk at %d: the chunk says %08x, its bytes give %08x", at, sum, got)
	}
	return block, nil
}

// chunkError is about bytes that are no chunk. Flink 1.18.0 and 1.18.1 could
// store wrong offsets for compressed operator state (FLINK-34063), which looks
// the same.
func chunkError(at int64, format string, args ...any) *Error {
	err := streamError(CheckParse, at, "compressed chunk", "bad compressed chunk at %d: "+format, append([]any{at}, args...)...)
	err.Hint = "Flink 1.18.0 and 1.18.1 could store wrong offsets for compressed operator state (FLINK-34063); " +
		"from any other version the file is damaged"
	return err
}

// appendFramed appends an element as chunks. A chunk is stored uncompressed
// where compression saves less than 15 %, as Flink does.
func appendFramed(out, element []byte) []byte {
	for len(element) > 0 {
		block := element[:min(len(element), blockSize)]
		element = element[len(block):]
		kind, body := byte(chunkUncompressed), block
		if packed := s2.EncodeSnappy(nil, block); float64(len(packed))/float64(len(block)) <= 0.85 {
			kind, body = chunkCompressed, packed
		}
		n := len(body) + 4
		out = append(out, kind, byte(n), byte(n>>8), byte(n>>16))
		out = binary.LittleEndian.AppendUint32(out, maskedSum(block))
		out = append(out, body...)
	}
	return out
}
