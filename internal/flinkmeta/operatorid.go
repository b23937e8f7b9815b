package flinkmeta

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
)

// OperatorID is the id of an operator, as Flink prints it.
type OperatorID [16]byte

// String is the 32 lowercase hex digits of the id.
func (id OperatorID) String() string { return hex.EncodeToString(id[:]) }

// ParseOperatorID reads 32 hex digits.
func ParseOperatorID(s string) (OperatorID, error) {
	var id OperatorID
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(id) {
		return OperatorID{}, fmt.Errorf("operator id %s is not 32 hex digits", quote(s))
	}
	copy(id[:], b)
	return id, nil
}

// OperatorIDOfUID is the id of an operator whose uid the job's code has set: the
// 128-bit murmur3 hash (x64 variant, seed 0) of the uid's UTF-8 bytes, both
// halves little-endian. Without a uid the id depends on the whole job graph and
// cannot be computed here.
func OperatorIDOfUID(uid string) OperatorID {
	const c1, c2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
	mix1 := func(k uint64) uint64 { return bits.RotateLeft64(k*c1, 31) * c2 }
	mix2 := func(k uint64) uint64 { return bits.RotateLeft64(k*c2, 33) * c1 }

	var h1, h2 uint64
	rest := []byte(uid)
	for ; len(rest) >= 16; rest = rest[16:] {
		h1 ^= mix1(binary.LittleEndian.Uint64(rest))
		h1 = (bits.RotateLeft64(h1, 27)+h2)*5 + 0x52DCE729
		h2 ^= mix2(binary.LittleEndian.Uint64(rest[8:]))
		h2 = (bits.RotateLeft64(h2, 31)+h1)*5 + 0x38495AB5
	}
	var tail [16]byte // a missing byte counts as zero
	copy(tail[:], rest)
	h1 ^= mix1(binary.LittleEndian.Uint64(tail[:]))
	h2 ^= mix2(binary.LittleEndian.Uint64(tail[8:]))

	n := uint64(len(uid))
	h1, h2 = h1^n, h2^n
	h1 += h2
	h2 += h1
	h1, h2 = finalMix(h1), finalMix(h2)
	h1 += h2
	h2 += h1

	var id OperatorID
	binary.LittleEndian.PutUint64(id[:], h1)
	binary.LittleEndian.PutUint64(id[8:], h2)
	return id
}

func finalMix(k uint64) uint64 {
	k = (k ^ k>>33) * 0xFF51AFD7ED558CCD
	k = (k ^ k>>33) * 0xC4CEB9FE1A85EC53
	return k ^ k>>33
}
