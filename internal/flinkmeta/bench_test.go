package flinkmeta_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/internal/flinkmeta"
)

// bigMetadata is a file of at least size bytes: subtasks with a recovery marker
// of many partitions inline and the RocksDB files of a few checkpoints.
func bigMetadata(tb testing.TB, size int) []byte {
	tb.Helper()
	stream, states, err := vectorStream(tb, false)
	if err != nil {
		tb.Fatal(err)
	}
	var files []flinkmeta.NamedStream
	for i := range 40 {
		files = append(files, flinkmeta.NamedStream{Name: fmt.Sprintf("%06d.sst", i), Stream: &flinkmeta.Stream{
			Kind: flinkmeta.FileStream, Size: 1 << 20, Path: fmt.Sprintf("s3://bucket/checkpoints/job/shared/3b0c9ab6-8a3f-4d9c-9b4e-%012d", i),
		}})
	}
	subtask := func(i int32) flinkmeta.Subtask {
		return flinkmeta.Subtask{
			Index: i,
			ManagedOperator: &flinkmeta.OperatorState{States: states, Stream: &flinkmeta.Stream{
				Kind: flinkmeta.InlineStream, Data: stream, Path: "s3://bucket/checkpoints/job/chk-7/6f1d2c3b-0000-4000-8000-000000000001",
			}},
			ManagedKeyed: &flinkmeta.KeyedState{
				Kind: flinkmeta.IncrementalV2, Range: flinkmeta.KeyGroupRange{Start: i, Count: 1}, HandleID: "5b8f0d56-3c44-4a4e-9d42-6f0a7b7a2c11",
				Incremental: &flinkmeta.IncrementalKeys{BackendID: "a952cd20-b965-4aa2-a3aa-5f2e7d362044", Shared: files, Private: files[:4]},
			},
		}
	}
	const each = 5200 // a little less than the bytes of one subtask
	m := &flinkmeta.Metadata{Version: 6, CheckpointID: 7, Properties: flinkmeta.CheckpointProperties()}
	for left := size/each + 1; left > 0; left -= 128 {
		op := flinkmeta.Operator{Name: "action-execute-operator", Parallelism: 128, MaxParallelism: 128}
		op.ID[0], op.ID[1] = byte(left>>8), byte(left)
		for i := range int32(min(left, 128)) {
			op.Subtasks = append(op.Subtasks, subtask(i))
		}
		m.Operators = append(m.Operators, op)
	}
	data, err := flinkmeta.Encode(m)
	if err != nil {
		tb.Fatal(err)
	}
	if len(data) < size || len(data) > size*3/2 {
		tb.Fatalf("the generated file has %d bytes, wanted about %d", len(data), size)
	}
	return data
}

func BenchmarkDecode(b *testing.B) {
	for _, size := range []int{1 << 20, 10 << 20, 100 << 20} {
		b.Run(fmt.Sprintf("%dMiB", size>>20), func(b *testing.B) {
			data := bigMetadata(b, size)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := flinkmeta.Decode(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkElement(b *testing.B) {
	for _, compressed := range []bool{false, true} {
		b.Run(fmt.Sprintf("compressed=%v", compressed), func(b *testing.B) {
			data, states, err := vectorStream(b, compressed)
			if err != nil {
				b.Fatal(err)
			}
			handle := &flinkmeta.OperatorState{States: states}
			b.ReportAllocs()
			for b.Loop() {
				s, err := flinkmeta.OpenOperatorStream(data, handle)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := s.Element("recoveryMarker", 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Memory must stay in proportion to the file, also for one that is made of the
// smallest entries there are, and for a count that lies. What is measured is
// everything that was ever allocated, with what the garbage collector took back.
func TestMemoryIsInProportionToTheFile(t *testing.T) {
	const size, entries = 4 << 20, 1 << 20
	smallest := func(entry string) []byte {
		return withKeyed(t, fmt.Sprintf("05 0000000000000000 0000 %s 00 %08x %s 00000000", hexRange, entries, strings.Repeat(entry, entries)))
	}
	tests := map[string]struct {
		data  []byte
		fails bool
		ratio uint64 // bytes allocated for a byte of the file, at most
	}{
		"the files of a large job":        {bigMetadata(t, size), false, 4},
		"null files without a name":       {smallest("000000"), false, 64},
		"empty segments without a name":   {smallest("000010"), false, 64},
		"more operators than there are":   {append(unhex(t, "4960672d 00000006 0000000000000001 00000000 00020000"), make([]byte, size)...), true, 64},
		"more master states than fit":     {append(unhex(t, "4960672d 00000006 0000000000000001 7fffffff"), make([]byte, size)...), true, 1},
		"an inline stream that is longer": {append(withKeyed(t, "07 00000000 00000000 01 0000 7fffffff"), make([]byte, size)...), true, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			m, err := flinkmeta.Decode(tt.data)
			runtime.ReadMemStats(&after)
			if (err != nil) != tt.fails {
				t.Errorf("decoded %v, %v", m != nil, err)
			}
			if got := after.TotalAlloc - before.TotalAlloc; got > tt.ratio*uint64(len(tt.data)) {
				t.Errorf("%d bytes allocated for a file of %d, at most %d times as many are allowed", got, len(tt.data), tt.ratio)
			}
		})
	}
}
