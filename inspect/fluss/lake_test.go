package fluss_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/testkit/flusstest"
)

// Rows that the lake alone gives are told before anybody waits for them: a scan says
// that they are missing, a marker before them that a restore stands still.
func TestRowsThatTheLakeAloneGives(t *testing.T) {
	c := started(t, flusstest.Options{})
	spec := flusstest.ActionState(path, 1)
	spec.Properties = map[string]string{"table.datalake.enabled": "true", "table.log.ttl": "-1"}
	id, err := c.CreateTable(spec)
	if err != nil {
		t.Fatal(err)
	}
	log := flussrpc.Log{Table: id, Partition: flussrpc.NoPartition}
	for range 6 {
		pending(t, c, log, 0, "k")
	}
	s := storeOf(t, c, disk{})
	buckets := func(marker inspect.Offsets) ([]string, *int64) {
		t.Helper()
		got, faults, err := s.Buckets(t.Context(), path, flussrpc.NoPartition, "", marker)
		if err != nil || len(faults) > 0 {
			t.Fatal(faults, err)
		}
		return rules(got.Findings), got.Buckets[0].LakeEnd
	}
	if found, lake := buckets(nil); len(found) > 0 || lake != nil {
		t.Error(found, lake)
	}
	c.CopyToLake(log, 0, 1) // and the log gives them as before
	if found, lake := buckets(inspect.Offsets{0: 0}); len(found) > 0 || lake == nil || *lake != 1 {
		t.Error(found, lake)
	}
	c.TierToLake(log, 0, 4) // and the leader still has them
	if found, lake := buckets(inspect.Offsets{0: 0}); len(found) > 0 || lake == nil || *lake != 4 {
		t.Error(found, lake)
	}
	if _, err := c.Tier(log, 0, 3, t.TempDir()); err != nil { // and has them no more
		t.Fatal(err)
	}
	for at, want := range map[int64]string{0: "restore-stands-still", 2: "restore-stands-still", 3: "rows-in-lake", 6: "rows-in-lake"} {
		if found, _ := buckets(inspect.Offsets{0: at}); !slices.Equal(found, []string{want}) {
			t.Errorf("a marker of %d: %q", at, found)
		}
	}
	if found, _ := buckets(nil); !slices.Equal(found, []string{"rows-in-lake"}) {
		t.Error(found)
	}
	got, err := s.ReadCalls(t.Context(), described(t, s), inspect.CallQuestion{Job: inspect.Job{Store: inspect.StoreFluss}}, nil)
	if fault.KindOf(err) != fault.Drift || !got.Scanned.Partial || !strings.Contains(fault.Of(err).Hint, "table.datalake.enabled") {
		t.Errorf("%v, %+v", err, got.Scanned)
	}
}

// Rows that lie in a lake as well as in remote storage are given from there, and
// nobody is warned of them.
func TestRowsThatTheLakeHasToo(t *testing.T) {
	c := started(t, flusstest.Options{})
	spec := flusstest.ActionState(path, 1)
	spec.Properties = map[string]string{"table.datalake.enabled": "true", "table.log.ttl": "-1"}
	id, err := c.CreateTable(spec)
	if err != nil {
		t.Fatal(err)
	}
	log := flussrpc.Log{Table: id, Partition: flussrpc.NoPartition}
	for range 6 {
		pending(t, c, log, 0, "k")
	}
	if _, err := c.Tier(log, 0, 3, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	c.CopyToLake(log, 0, 2)
	s := storeOf(t, c, disk{})
	for at := range int64(6) {
		got, faults, err := s.Buckets(t.Context(), path, flussrpc.NoPartition, "", inspect.Offsets{0: at})
		if err != nil || len(faults) > 0 || len(got.Findings) > 0 {
			t.Errorf("a marker of %d: %q, %v, %v", at, rules(got.Findings), faults, err)
		}
		if b := got.Buckets[0]; b.LakeEnd == nil || *b.LakeEnd != 2 || b.LakeOnly == nil || *b.LakeOnly {
			t.Errorf("a marker of %d: %+v", at, b)
		}
	}
	got, err := s.ReadCalls(t.Context(), described(t, s), inspect.CallQuestion{Job: inspect.Job{Store: inspect.StoreFluss}}, nil)
	if err != nil || got.Scanned.Partial || got.Scanned.Records != 6 {
		t.Errorf("%v, %+v", err, got.Scanned)
	}
}
