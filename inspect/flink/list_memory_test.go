package flink_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/internal/testkit/flinkcases"
)

// A job may have kept tens of thousands of recovery points. What a list keeps of
// one is what it tells, and not the file with all that was decoded from it.
func TestAListKeepsNoFiles(t *testing.T) {
	const points = 500
	file := flinkcases.Metadata(t, "flink120-legacy-p2", flinkcases.Load(t, "flink120-legacy-p2").Snapshots[0])
	files := map[string][]byte{}
	for i := range points {
		files[fmt.Sprintf("job/chk-%d/_metadata", i)] = file
	}
	dir := write(t, files)
	store := newStore(t, flink.Options{})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	list, err := store.Points(t.Context(), dir)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if err != nil || len(list) != points || list[0].Operators[0].Keyed == nil && list[0].Operators[1].Keyed == nil {
		t.Fatalf("%d points, the first %+v: %v", len(list), list[0].Operators, err)
	}
	if kept := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / points; kept > int64(len(file)) {
		t.Errorf("of a point with %d bytes of metadata, %d are kept", len(file), kept)
	}
	runtime.KeepAlive(list)
}
