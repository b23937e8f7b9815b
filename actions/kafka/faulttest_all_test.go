//go:build faults

package kafka_test

// With the tag faults everything happens that strikes a request that writes, or
// the journal, and a share of what strikes the many requests that read.
const (
	faultShare       = 1500
	faultWritesFirst = true
)
