//go:build !faults

package kafka_test

// The quick tests let a share of the situations happen, of every kind.
const (
	faultShare       = 36
	faultWritesFirst = false
)
