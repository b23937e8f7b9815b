package incident

import (
	"strconv"

	"github.com/recoverctl/recoverctl/internal/flinkkey"
	"github.com/recoverctl/recoverctl/internal/testkit/orders"
)

// partitionOf is where the records of a key are.
func partitionOf(k orders.Key) int32 { return flinkkey.Partition(k.Digest, Partitions) }

// newReleasedKey is a key whose records lie on a partition where releases 0.1 to
// 0.3 write them: that of the name, or the first with a number behind it.
func newReleasedKey(name string, partition int32) orders.Key {
	text := name
	for n := 2; ; n++ {
		if at, ok := flinkkey.PartitionReleased(text+"_", Partitions); ok && at == partition {
			return orders.NewKey(text)
		}
		text = name + "-" + strconv.Itoa(n)
	}
}
