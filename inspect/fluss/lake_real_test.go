//go:build real

package fluss_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/fluss"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/testkit/flusstest"
)

// Rows that lie in a lake are given all the same while remote storage has them: by
// this release Fluss's own client reads them from there, and so does a scan; nothing
// is said of a restore that would stand still.
func TestRowsInALakeOfARealCluster(t *testing.T) {
	real := flusstest.Real(t)
	java, cl := real.Java(t), real.Client(t)
	path := flussrpc.TablePath{Database: fmt.Sprintf("l%d", time.Now().UnixNano()), Table: "state"}
	java.Do(t, nil, "lake", "on")
	t.Cleanup(func() { java.Do(t, nil, "lake", "off") })
	java.Do(t, nil, "create", path.Database, path.Table, "states", "1", "1", "table.datalake.enabled=true,table.log.arrow.compression.type=NONE,table.log.tiered.local-segments=1")
	const rows, inLake = 1500, 300
	java.Do(t, nil, "traffic", path.Database, path.Table, fmt.Sprint(rows), "10", "50")
	store := fluss.New(cl, clock.System{}, fluss.Remote{})

	var bucket fluss.Bucket
	ask := func(marker inspect.Offsets) []string {
		t.Helper()
		got, faults, err := store.Buckets(t.Context(), path, flussrpc.NoPartition, "file:/p", marker)
		if err != nil || len(faults) > 0 {
			t.Fatal(faults, err)
		}
		bucket = got.Buckets[0]
		return rules(got.Findings)
	}
	for until := time.Now().Add(time.Minute); ; time.Sleep(300 * time.Millisecond) { // until most of it lies in remote storage
		if ask(nil); bucket.Local != nil && *bucket.Local > inLake {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("nothing was moved to remote storage: %+v", bucket)
		}
	}
	if bucket.LakeEnd != nil || bucket.LakeOnly != nil {
		t.Errorf("before anything is in the lake: %+v", bucket)
	}
	java.Do(t, nil, "in-lake", path.Database, path.Table, fmt.Sprint(inLake), "1")
	for _, marker := range []inspect.Offsets{nil, {0: 0}, {0: 100}} {
		if found := ask(marker); strings.Contains(strings.Join(found, " "), "lake") || strings.Contains(strings.Join(found, " "), "stands-still") {
			t.Errorf("a marker of %v: %q", marker, found)
		}
		if bucket.LakeEnd == nil || *bucket.LakeEnd != inLake || bucket.LakeOnly == nil || *bucket.LakeOnly {
			t.Errorf("a marker of %v: in the lake up to %v, alone %v", marker, bucket.LakeEnd, bucket.LakeOnly)
		}
	}
	var seen []struct{ Rows []struct{ Offset int64 } }
	java.Do(t, &seen, "scan", path.Database, path.Table)
	if n := len(seen[0].Rows); n != rows || seen[0].Rows[0].Offset != 0 {
		t.Errorf("Fluss's own client reads %d rows", n)
	}
	data, err := store.DataTopic(t.Context(), path.String())
	if err != nil {
		t.Fatal(err)
	}
	got, err := store.ReadCalls(t.Context(), data, inspect.CallQuestion{Job: inspect.Job{Store: inspect.StoreFluss}}, nil)
	if err != nil || got.Scanned.Partial || got.Scanned.Records != rows {
		t.Errorf("%v, %+v", err, got.Scanned)
	}
}
