package arkflow_test

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/testkit/redbtest"
)

// batchOf is a payload of a real engine.
func batchOf(tb testing.TB) []byte {
	tb.Helper()
	log, err := logReader().Read(context.Background(), localFixtures+"wal-local/clean-pending", arkflow.Question{})
	if err != nil {
		tb.Fatal(err)
	}
	payload, err := logReader().Payload(context.Background(), log, 14)
	if err != nil {
		tb.Fatal(err)
	}
	return payload
}

// writeLog writes a log of so many entries of real payloads, without those of
// which skip says so.
func writeLog(tb testing.TB, path string, entries, cursor uint64, skip uint64) int64 {
	tb.Helper()
	file, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	payload := batchOf(tb)
	size, err := redbtest.Write(file, redbtest.Log{
		Entries: entries, Cursor: cursor, Payload: func(uint64) []byte { return payload },
		Sequence: func(i uint64) uint64 {
			if skip > 0 && i+1 >= skip {
				return i + 2
			}
			return i + 1
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	if err := file.Close(); err != nil {
		tb.Fatal(err)
	}
	return size
}

// A large log's window is read with a small part of it in memory, and a gap is found
// without reading payloads.
func TestALargeLogTakesLittleMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), arkflow.FileName)
	const entries, cursor, gap = 200_000, 199_000, 199_500
	size := writeLog(t, path, entries, cursor, gap)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	l, err := logReader().Read(context.Background(), path, arkflow.Question{Extent: arkflow.ReadWindow})
	runtime.ReadMemStats(&after)
	if err != nil || *l.Cursor != cursor || *l.Tail != entries+1 || *l.Count != entries || len(l.Gaps) != 1 || l.Gaps[0] != (arkflow.Span{From: gap, To: gap}) {
		t.Fatalf("%+v, %v", l, err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 32<<20 {
		t.Errorf("%d bytes were allocated for a file of %d", used, size)
	}
}

// While a writer appends, every answer is one that was true.
func TestALiveWriterNeverGetsAWrongAnswer(t *testing.T) {
	// Two logs of one writer, before and after a commit that reuses every page.
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	writeLog(t, a, 5000, 4000, 0)
	writeLog(t, b, 6000, 5500, 0)
	first, err := os.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	second, err := os.ReadFile(b)
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint64(second[200+96:], 9) // the other slot's transaction: a header that moves
	path := put(t, filepath.Join(dir, arkflow.FileName), first)
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	ctx, stop := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			data := first
			if i%2 == 0 {
				data = second
			}
			if _, err := file.WriteAt(data, 0); err != nil {
				t.Error(err)
				return
			}
		}
	})
	answers := map[uint64]int{}
	for range 30 {
		l, err := logReader().Read(context.Background(), path, arkflow.Question{})
		switch {
		case err != nil: // at rest by chance, and torn
		case !l.Stable:
			answers[0]++
		case *l.Cursor == 4000 && *l.Tail == 5000 && *l.Count == 5000, *l.Cursor == 5500 && *l.Tail == 6000 && *l.Count == 6000:
			answers[*l.Cursor]++
		case l.Worst() == "":
			t.Errorf("cursor %d, tail %d, %d entries: never true", *l.Cursor, *l.Tail, *l.Count)
		}
	}
	stop()
	wait.Wait()
	if len(answers) == 0 {
		t.Error("no answer at all")
	}
}

// gigabyte is a log of 1 GiB with about two million entries.
func gigabyte(b *testing.B, skip uint64) string {
	path := filepath.Join(b.TempDir(), arkflow.FileName)
	const entries = 1_830_000
	if size := writeLog(b, path, entries, entries-2000, skip); size < 1<<30 {
		b.Fatalf("the file has %d bytes", size)
	}
	return path
}

func benchmarkGigabyte(b *testing.B, extent arkflow.Extent) {
	path := gigabyte(b, 0)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		l, err := logReader().Read(context.Background(), path, arkflow.Question{Extent: extent})
		if err != nil || *l.Count != 1_830_000 || len(l.Problems) > 0 || l.Window.Entries != 2000 {
			b.Fatalf("%+v, %v", l.Problems, err)
		}
	}
}

// Cursor, tail, gaps and the window of 1 GiB.
func BenchmarkTheWindowOfAGigabyte(b *testing.B) { benchmarkGigabyte(b, arkflow.ReadAsNeeded) }

// The same with every checksum in it.
func BenchmarkAllOfAGigabyte(b *testing.B) { benchmarkGigabyte(b, arkflow.ReadAll) }

// The same where an entry is missing: then the head of each leaf is read.
func BenchmarkAGapInAGigabyte(b *testing.B) {
	path := gigabyte(b, 1_829_000)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		l, err := logReader().Read(context.Background(), path, arkflow.Question{})
		if err != nil || len(l.Gaps) != 1 || l.Gaps[0].From != 1_829_000 {
			b.Fatalf("%+v, %v", l.Gaps, err)
		}
	}
}
