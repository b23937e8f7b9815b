package inspect_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/testkit/topics"
)

// The engine alone, on records of 20,000 live keys.
func BenchmarkCallScan(b *testing.B) {
	for _, size := range []int{400, 1024} {
		for _, released := range []bool{false, true} {
			traffic := topics.Traffic{Records: 200_000, Keys: 20_000, Size: size, Partitions: 1, Released: released}
			var records []topics.Record
			var bytes int64
			for _, r := range traffic.All() {
				records = append(records, r)
				bytes += int64(len(r.Key) + len(r.Value))
			}
			b.Run(fmt.Sprintf("%dB/released=%t", size, released), func(b *testing.B) {
				b.SetBytes(bytes)
				b.ReportAllocs()
				began := processorTime(b)
				for b.Loop() {
					scan := inspect.NewCallScan(inspect.CallQuestion{Points: []inspect.PointMarker{at(100_000)}}, []int32{0})
					p := scan.Partition(0)
					for _, r := range records {
						p.Visit(r.Offset, r.Timestamp, r.Key, r.Value)
					}
				}
				used := processorTime(b) - began
				b.ReportMetric(float64(used.Nanoseconds())/float64(b.N)/float64(len(records)), "cpu-ns/record")
			})
		}
	}
}

// processorTime is what this process has used: a figure that other work on the
// machine changes less than the time on the wall.
func processorTime(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
