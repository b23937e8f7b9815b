package kafka

import (
	"fmt"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
)

// Target is up to where one partition is deleted: an offset from 0 on. It can't
// hold the −1 that stands for all records in Kafka's protocol, whatever it is
// made from.
type Target struct {
	partition int32
	leader    int32  // broker id
	offset    uint63 // the first offset that stays
}

// uint63 is a number whose highest bit does not count, so that no value of it is
// a negative offset.
type uint63 uint64

const uint63Mask = 1<<63 - 1

func (u uint63) int64() int64 { return int64(u & uint63Mask) }

// NewTarget is the target of a partition that the broker leader leads. The error
// is a fault of kind Bug for a negative partition or offset.
func NewTarget(partition, leader int32, offset int64) (Target, error) {
	if partition < 0 || offset < 0 {
		return Target{}, fault.New(fault.Bug, "delete records", "partition %d can't be deleted up to %d", partition, offset)
	}
	return Target{partition: partition, leader: leader, offset: uint63(offset)}, nil
}

// Partition is the partition's number.
func (t Target) Partition() int32 { return t.partition }

// Offset is the first offset that stays, from 0 on.
func (t Target) Offset() int64 { return t.offset.int64() }

// String is as in "partition 3 up to 1 500".
func (t Target) String() string {
	return fmt.Sprintf("partition %d up to %s", t.partition, figures.Group(t.Offset()))
}

// Trimmed is what became of one Target. LogStart is where the broker says that
// the log begins now; it means nothing beside an error.
type Trimmed struct {
	Target
	LogStart int64
	Err      error
}
