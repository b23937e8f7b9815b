package flussrpc

import (
	"encoding/binary"
	"math/bits"
)

// BucketOfString is the bucket of a row whose bucket key is one STRING column, in
// a table that no lake format lays out. Buckets must be above 0.
func BucketOfString(key string, buckets int32) int32 {
	return bucketOf(append(binary.AppendUvarint(nil, uint64(len(key))), key...), buckets)
}

// bucketOf is Fluss's own bucket function over the bytes of a compacted key: a
// Murmur3 whose left-over bytes each get a round of their own, and a second hash
// over its result.
func bucketOf(key []byte, buckets int32) int32 {
	const seed = 42
	h, whole := uint32(seed), len(key)&^3
	for i := 0; i < whole; i += 4 {
		h = mixHash(h ^ mixWord(binary.LittleEndian.Uint32(key[i:])))
	}
	for _, b := range key[whole:] {
		h = mixHash(h ^ mixWord(uint32(int32(int8(b)))))
	}
	h = finish(h ^ uint32(len(key)))
	n := int32(finish(mixHash(mixWord(h)) ^ 4))
	if n < 0 {
		n = max(-n, 0) // the smallest int32 has no positive one
	}
	return n % buckets
}

func mixWord(k uint32) uint32 { return bits.RotateLeft32(k*0xcc9e2d51, 15) * 0x1b873593 }
func mixHash(h uint32) uint32 { return bits.RotateLeft32(h, 13)*5 + 0xe6546b64 }

func finish(h uint32) uint32 {
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}
