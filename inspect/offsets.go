package inspect

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Offsets maps a partition (bucket) to an offset. What the offset means is the
// owner's matter: next offset to read in a marker, first kept one in a boundary.
// Values are as they were read and may be out of range until a rule has judged
// them.
type Offsets map[int32]int64

// Partitions returns the partitions in ascending order; never nil.
func (o Offsets) Partitions() []int32 {
	parts := make([]int32, 0, len(o))
	parts = slices.AppendSeq(parts, maps.Keys(o))
	slices.Sort(parts)
	return parts
}

// First returns the n lowest partitions in ascending order, or all where there
// are fewer. It does not sort what it leaves out: of hundreds of markers only the
// beginning is shown.
func (o Offsets) First(n int) []int32 {
	parts := make([]int32, 0, min(n, len(o))+1)
	for p := range o {
		if len(parts) == n && (n == 0 || p > parts[n-1]) {
			continue
		}
		at, _ := slices.BinarySearch(parts, p)
		parts = slices.Insert(parts, at, p)
		parts = parts[:min(n, len(parts))]
	}
	return parts
}

// SamePartitions says whether both name the same partitions, whatever their
// offsets are.
func (o Offsets) SamePartitions(other Offsets) bool {
	if len(o) != len(other) {
		return false
	}
	for p := range o {
		if _, ok := other[p]; !ok {
			return false
		}
	}
	return true
}

// MarshalJSON writes an object with partition numbers as keys in ascending
// numeric order. A nil map is an empty object.
func (o Offsets) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, 2+16*len(o))
	b = append(b, '{')
	for i, p := range o.Partitions() {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = strconv.AppendInt(b, int64(p), 10)
		b = append(b, '"', ':')
		b = strconv.AppendInt(b, o[p], 10)
	}
	return append(b, '}'), nil
}

// UnmarshalJSON reads an object of canonical decimal partition numbers and
// int64 offsets. Anything else is an error that names the key. JSON null leaves
// a nil map.
func (o *Offsets) UnmarshalJSON(data []byte) error {
	var raw map[string]json.Number
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	if raw == nil {
		*o = nil
		return nil
	}
	out := make(Offsets, len(raw))
	for key, value := range raw {
		p, err := strconv.ParseInt(key, 10, 32)
		if err != nil || strconv.FormatInt(p, 10) != key {
			return fmt.Errorf("partition %q is not a number between -2147483648 and 2147483647", key)
		}
		offset, err := strconv.ParseInt(value.String(), 10, 64)
		if err != nil {
			return fmt.Errorf("the offset of partition %d is not a 64-bit integer: %q", p, value.String())
		}
		out[int32(p)] = offset
	}
	*o = out
	return nil
}

// LogRange is the readable part of one partition: Start is the first available
// offset, End the next one to be written. Start == End is an empty log.
type LogRange struct {
	Start int64
	End   int64
}

// Span is the distance from one vector to another summed over the partitions of
// to. It is an offset span and not a record count: compaction and transactions
// leave gaps. Partitions that from lacks, and those where it lies past to, add
// nothing.
func Span(from, to Offsets) int64 {
	var sum int64
	for p, end := range to {
		if start, ok := from[p]; ok && start < end {
			sum += end - start
		}
	}
	return sum
}
