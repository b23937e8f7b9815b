package flinkkey

import (
	"math/bits"
	"unicode/utf8"
)

// Group is the key group of a key with this hash code, from 0 to maxParallelism,
// which is positive. Flink spreads keys by it (KeyGroupRangeAssignment).
func Group(hash int32, maxParallelism int) int32 {
	return int32(int(murmur(hash)) % maxParallelism)
}

// Subtask is the index of the subtask that owns a key group.
func Subtask(group int32, maxParallelism, parallelism int) int {
	return int(group) * parallelism / maxParallelism
}

// Partition is where generation 3 puts a record by the digest in its key, or by
// whatever stands in the digest's place. Partitions is positive.
func Partition[T string | []byte](digest T, partitions int) int32 {
	return Group(JavaHash(digest), partitions)
}

// PartitionReleased is where releases 0.1 to 0.3 put a record: by the first field
// of its key, which is only a part of a key text with an underscore. They refuse
// to write a key that has no first field, or only one.
func PartitionReleased[T string | []byte](recordKey T, partitions int) (partition int32, ok bool) {
	for i := range len(recordKey) {
		if recordKey[i] == '_' {
			if i == 0 {
				return 0, false
			}
			return Group(JavaHash(recordKey[:i]), partitions), true
		}
	}
	return 0, false
}

// JavaHash is String.hashCode: over the UTF-16 units of a text. A byte that is no
// UTF-8 counts as U+FFFD; Java writes no such text.
func JavaHash[T string | []byte](text T) int32 {
	var h int32
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			h = 31*h + int32(c)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(string(text[i:min(len(text), i+utf8.UTFMax)]))
		i += size
		if r > 0xffff {
			r -= 0x10000
			h = 31*h + 0xd800 + (r >> 10)
			r = 0xdc00 + r&0x3ff
		}
		h = 31*h + r
	}
	return h
}

// murmur is Flink's MathUtils.murmurHash. It is never negative.
func murmur(code int32) int32 {
	h := uint32(code) * 0xcc9e2d51
	h = bits.RotateLeft32(h, 15) * 0x1b873593
	h = bits.RotateLeft32(h, 13)*5 + 0xe6546b64
	h ^= 4
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	h ^= h >> 16
	switch n := int32(h); {
	case n >= 0:
		return n
	case n == -1<<31:
		return 0
	default:
		return -n
	}
}
