package calls_test

import (
	"syscall"
	"testing"
	"time"
)

// threadTime is the processor time that the calling thread has used.
func threadTime(b *testing.B) time.Duration {
	const thread = 1 // RUSAGE_THREAD
	var used syscall.Rusage
	if err := syscall.Getrusage(thread, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
