package inspect_test

import (
	"fmt"
	"testing"

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
				for b.Loop() {
					scan := inspect.NewCallScan(inspect.CallQuestion{Points: []inspect.PointMarker{at(100_000)}}, []int32{0})
					p := scan.Partition(0)
					for _, r := range records {
						p.Visit(r.Offset, r.Timestamp, r.Key, r.Value)
					}
				}
				perRecord := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / float64(len(records))
				b.ReportMetric(perRecord, "ns/record")
			})
		}
	}
}
