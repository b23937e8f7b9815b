package inspect

import (
	"bytes"
	"unicode/utf8"

	"github.com/recoverctl/recoverctl/internal/flinkkey"
)

// ComputedPartition is the partition that the job itself would write a record
// with this key to, on a topic with so many. It is false where that is not known:
// for generation 2, for a key that no known writer accepts, and for one that is
// not UTF-8.
func (k ActionKey) ComputedPartition(partitions int) (int32, bool) {
	hashed := k.Text
	switch k.Generation {
	case KeyGeneration3:
	case KeyGeneration1:
		hashed, _, _ = bytes.Cut(k.Text, []byte("_")) // the first field of the whole key
	default:
		return 0, false
	}
	if partitions <= 0 || len(hashed) == 0 || !utf8.Valid(hashed) {
		return 0, false
	}
	return flinkkey.Partition(hashed, partitions), true
}
