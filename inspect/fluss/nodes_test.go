package fluss_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/fluss"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/flussrpc/write"
	"github.com/recoverctl/recoverctl/internal/testkit/flusstest"
	"github.com/recoverctl/recoverctl/internal/testkit/zktest"
	"github.com/recoverctl/recoverctl/internal/zkread"
)

// dumped are the nodes of a real cluster of Fluss 0.9.1 with three tablet servers,
// below /fluss.
func dumped(t testing.TB) *zktest.Server {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "zookeeper.json"))
	if err != nil {
		t.Fatal(err)
	}
	var nodes []struct {
		Path      string
		Ephemeral bool
		Data      json.RawMessage
	}
	if err := json.Unmarshal(text, &nodes); err != nil {
		t.Fatal(err)
	}
	s := ensemble(t)
	for _, n := range nodes {
		data := string(n.Data)
		if data == "null" {
			data = ""
		}
		path := "/fluss" + strings.TrimSuffix(n.Path, "/")
		if n.Ephemeral {
			s.SetEphemeral(path, data)
		} else {
			s.Set(path, data)
		}
	}
	return s
}

func ensemble(t testing.TB) *zktest.Server {
	t.Helper()
	s, err := zktest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// withNodes is a store that reads an ensemble, too.
func withNodes(t testing.TB, s *fluss.Store, z *zktest.Server) *fluss.Store {
	t.Helper()
	return s.WithNodes(nodesOf(t, z), "/fluss")
}

func nodesOf(t testing.TB, z *zktest.Server) *zkread.Client {
	t.Helper()
	nodes, err := zkread.NewClient(zkread.Config{Servers: []string{z.Address()}, Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nodes.Close)
	return nodes
}

func TestServersOfARealClusterAreRegistered(t *testing.T) {
	c := started(t, flusstest.Options{Tablets: 3})
	z := dumped(t)
	s := withNodes(t, storeOf(t, c, nil), z)
	got, faults, err := s.Cluster(t.Context())
	if err != nil || len(faults) > 0 || got.ZooKeeper == nil || !got.ZooKeeper.Quorum || !*got.Coordinator.Registered || len(got.Findings) > 0 {
		t.Fatalf("%+v, %v, %v", got, faults, err)
	}
	since := map[int32]int64{0: 1795968127496, 1: 1795968128125, 2: 1795968128357} // of the dump
	for _, x := range got.Tablets {
		if !*x.Registered || x.Since.UnixMilli() != since[x.ID] || !x.Named || !x.Reached {
			t.Errorf("%+v", x)
		}
	}
}

// What ZooKeeper says otherwise than the servers do.
func TestServersThatAreNotWhatTheyAreCalled(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(*flusstest.Cluster, *zktest.Server)
		want    []string
	}{
		"a server has no session": {func(_ *flusstest.Cluster, z *zktest.Server) { z.Delete("/fluss/tabletservers/ids/1") }, []string{"tablet-server-not-registered"}},
		"a server is not named": {func(_ *flusstest.Cluster, z *zktest.Server) {
			z.Set("/fluss/tabletservers/ids/3", `{"version":3,"listeners":"CLIENT://h:1","register_timestamp":7}`)
		}, []string{"tablet-server-not-named"}},
		"no coordinator is registered": {func(_ *flusstest.Cluster, z *zktest.Server) { z.Delete("/fluss/coordinators/active") }, []string{"coordinator-not-registered"}},
		"the dead are named as live": {func(c *flusstest.Cluster, z *zktest.Server) {
			c.KillCoordinator()
			c.KillTablet(1)
			z.Delete("/fluss/coordinators/active")
			z.Delete("/fluss/tabletservers/ids/1")
		}, []string{"coordinator-unreachable", "coordinator-not-registered", "tablet-server-not-registered", "tablet-server-unreachable", "told-by-tablet-server"}},
		"ZooKeeper has lost its quorum": {func(_ *flusstest.Cluster, z *zktest.Server) { z.LoseQuorum() }, []string{"zookeeper-without-quorum"}},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, z := started(t, flusstest.Options{Tablets: 3}), dumped(t)
			c.happens(cluster, z)
			got, faults, err := withNodes(t, storeOf(t, cluster, nil), z).Cluster(t.Context())
			if err != nil || len(faults) > 0 {
				t.Fatal(faults, err)
			}
			if !slices.Equal(rules(got.Findings), c.want) {
				t.Errorf("%q, want %q", rules(got.Findings), c.want)
			}
			for _, f := range got.Findings {
				if f.Next == "" || f.Cause == "" {
					t.Errorf("%+v", f)
				}
			}
		})
	}
}

// What can't be read is not known, and is said to be so.
func TestNodesThatCannotBeRead(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(*zktest.Server)
		kind    fault.Kind
	}{
		"another root":                {func(z *zktest.Server) { z.Delete("/fluss") }, fault.NotFound},
		"an ACL":                      {func(z *zktest.Server) { z.Deny("/fluss/tabletservers/ids") }, fault.Denied},
		"SASL":                        {(*zktest.Server).RequireSASL, fault.Denied},
		"a server that says nothing":  {(*zktest.Server).Silence, fault.Unreachable},
		"a node of something else":    {func(z *zktest.Server) { z.Set("/fluss/tabletservers/ids/1", "127.0.0.1") }, fault.Corrupt},
		"a node that says too little": {func(z *zktest.Server) { z.Set("/fluss/tabletservers/ids/1", "{}") }, fault.Corrupt},
		"a name that is no id":        {func(z *zktest.Server) { z.Set("/fluss/tabletservers/ids/x", `{"listeners":"a"}`) }, fault.Corrupt},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, z := started(t, flusstest.Options{Tablets: 3}), dumped(t)
			c.happens(z)
			got, faults, err := withNodes(t, storeOf(t, cluster, nil), z).Cluster(t.Context())
			if err != nil || len(faults) != 1 || fault.KindOf(faults[0]) != c.kind || fault.Of(faults[0]).Hint == "" && c.kind != fault.Corrupt {
				t.Fatal(faults, err)
			}
			if got.ZooKeeper != nil || got.Tablets[0].Registered != nil || len(got.Tablets) != 3 || len(got.Findings) > 0 {
				t.Errorf("%+v", got)
			}
		})
	}
}

// In-sync sets and what is in remote storage, as a real cluster's nodes say.
func TestBucketsOfARealClusterHaveInSyncSets(t *testing.T) {
	c := started(t, flusstest.Options{Tablets: 3})
	z := dumped(t)
	var paths []flussrpc.TablePath
	for n, buckets := range []int{4, 4, 4, 1, 2, 4, 1} { // the tables of the dump, by their ids
		spec := flusstest.ActionState(flussrpc.TablePath{Database: "agents", Table: fmt.Sprintf("t%d", n)}, buckets)
		spec.Replicas = 3
		id, err := c.CreateTable(spec)
		if err != nil || id != int64(n) {
			t.Fatal(id, err)
		}
		paths = append(paths, spec.Path)
	}
	s := withNodes(t, storeOf(t, c, nil), z)
	buckets := func(n int) fluss.Buckets {
		t.Helper()
		got, faults, err := s.Buckets(t.Context(), paths[n], flussrpc.NoPartition, "", nil)
		if err != nil || len(faults) > 0 || !got.Nodes {
			t.Fatal(faults, err)
		}
		return got
	}
	first := buckets(0)
	for b, want := range [][]int32{{1, 0, 2}, {0, 2, 1}, {2, 1, 0}, {1, 2, 0}} {
		if got := first.Buckets[b]; !slices.Equal(got.InSync, want) || got.RemoteEnd != nil {
			t.Errorf("%+v, want %v", got, want)
		}
	}
	if got := buckets(6).Buckets[0]; got.RemoteEnd == nil || *got.RemoteEnd != 2240 || !slices.Equal(got.InSync, []int32{1, 0, 2}) {
		t.Errorf("%+v", got)
	}

	// Another leader than the servers name; one copy only; a bucket without a node.
	for b := range int32(4) {
		leader := first.Buckets[b].Leader
		z.Set(fmt.Sprintf("/fluss/tabletservers/tables/0/buckets/%d/leader_isr", b), fmt.Sprintf(`{"version":1,"leader":%d,"leader_epoch":0,"isr":[0,1,2]}`, leader))
	}
	if got := buckets(0); len(got.Findings) > 0 {
		t.Errorf("%+v", got.Findings)
	}
	led := first.Buckets[1].Leader
	z.Set("/fluss/tabletservers/tables/0/buckets/1/leader_isr", fmt.Sprintf(`{"version":1,"leader":-1,"leader_epoch":4,"isr":[%d]}`, led))
	got := buckets(0)
	if want := []string{"leader-differs", "replica-not-in-sync", "replica-not-in-sync", "single-copy"}; !slices.Equal(rules(got.Findings), want) {
		t.Errorf("%q, want %q", rules(got.Findings), want)
	}
	z.Delete("/fluss/tabletservers/tables/0/buckets/2")
	part, faults, err := s.Buckets(t.Context(), paths[0], flussrpc.NoPartition, "", nil)
	if err != nil || len(faults) != 1 || fault.KindOf(faults[0]) != fault.NotFound || !strings.Contains(faults[0].Error(), "1 of 4") || part.Buckets[2].InSync != nil || part.Buckets[3].InSync == nil {
		t.Errorf("%v, %v, %+v", faults, err, part.Buckets)
	}
	if without, _, err := storeOf(t, c, nil).Buckets(t.Context(), paths[0], flussrpc.NoPartition, "", nil); err != nil || without.Nodes || without.Buckets[0].InSync != nil {
		t.Errorf("%+v, %v", without, err)
	}
}

// All producers are listed, those without a file too, and one of them with what its
// node says.
func TestProducersOfARealClusterAreListed(t *testing.T) {
	now := clock.NewFake(time.UnixMilli(1796054594000)) // demo_ghost is still valid, demo_job-1 is not
	c := started(t, flusstest.Options{Now: now.Now})
	z := dumped(t)
	began := now.Now().Add(-90 * time.Minute)
	z.MadeAt("/fluss/coordinators/active", began)
	s := withNodes(t, fluss.New(client(t, c), now, nil), z)
	listed, faults, err := s.ListProducers(t.Context())
	if err != nil || len(faults) > 0 || !listed.Nodes || listed.FoldersErr == nil || !slices.Equal(listed.IDs, []string{"demo_empty", "demo_ghost", "demo_job-1", "demo_neg"}) {
		t.Fatalf("%+v, %v, %v", listed, faults, err)
	}
	cl := client(t, c)
	if _, err := write.RegisterProducer(t.Context(), cl, "demo_job-1", nil, 0); err != nil {
		t.Fatal(err)
	}
	c.LoseOffsetFiles("demo_job-1")
	list, faults := s.Producers(t.Context(), listed.IDs)
	if len(faults) > 0 || len(list) != 4 {
		t.Fatal(faults, list)
	}
	p := list[2]
	if p.Verdict != fluss.NotSafe || !p.Broken() || p.Node == nil || p.Node.Expires.UnixMilli() != 1796054593649 || len(p.Node.Files) != 2 || p.Node.Files[1].Table != 3 ||
		p.Node.Files[0].Path != "file:/data/fluss/run1/remote-main/producers/demo_job-1/0/4b56bda0-8652-4084-9a9e-5927f05971be.offsets" {
		t.Errorf("%+v, %+v", p, p.Node)
	}
	at := slices.IndexFunc(p.Findings, func(f inspect.Finding) bool { return f.Rule == "offsets-file-missing" })
	if at < 0 || !strings.Contains(p.Findings[at].Cause, "2026-11-30T16:03:13Z") {
		t.Errorf("%+v", p.Findings)
	}
	if p.Sweep == nil || !p.Sweep.Equal(began.Truncate(time.Millisecond).Add(2*time.Hour)) {
		t.Errorf("the next cleanup is at %v; the coordinator began at %v", p.Sweep, began)
	}
	if p := list[0]; p.Node == nil || !p.Node.Found || len(p.Node.Files) != 0 {
		t.Errorf("%+v", p.Node)
	}
	if p, _, err := s.Producer(t.Context(), "nobody"); err != nil || p.Node == nil || p.Node.Found || p.Found {
		t.Errorf("%+v, %v", p, err)
	}
}

// The coordinator leaves out what this user may not read, and tables that were
// dropped, without a word: the node in ZooKeeper has them all.
func TestAnEntryThatIsNotWhatItsNodeSays(t *testing.T) {
	now := clock.NewFake(time.UnixMilli(1_800_000_000_000))
	c := started(t, flusstest.Options{Now: now.Now})
	log := table(t, c, 2)
	cl := client(t, c)
	if _, err := write.RegisterProducer(t.Context(), cl, entryID, from(0, 0)(log), 0); err != nil {
		t.Fatal(err)
	}
	const valid = 1_800_086_400_000 // for a day
	for name, x := range map[string]struct {
		node    string // empty: none
		verdict fluss.Safety
		finding string
	}{
		"the same":               {fmt.Sprintf(`{"version":1,"expiration_time":%d,"tables":[{"table_id":0,"offsets_path":"file:/r/0"}]}`, valid), fluss.Safe, ""},
		"a table is left out":    {fmt.Sprintf(`{"version":1,"expiration_time":%d,"tables":[{"table_id":0,"offsets_path":"file:/r/0"},{"table_id":7,"offsets_path":"file:/r/7"}]}`, valid), fluss.UnknownSafety, "tables-hidden"},
		"it was registered anew": {fmt.Sprintf(`{"version":1,"expiration_time":%d,"tables":[{"table_id":0,"offsets_path":"file:/r/0"}]}`, valid+1), fluss.UnknownSafety, "node-differs"},
		"there is no node":       {"", fluss.UnknownSafety, "node-differs"},
	} {
		t.Run(name, func(t *testing.T) {
			z := dumped(t)
			if x.node != "" {
				z.Set("/fluss/producers/"+entryID, x.node)
			}
			p, faults, err := withNodes(t, fluss.New(cl, now, nil), z).Producer(t.Context(), entryID)
			if err != nil || len(faults) > 0 || p.Verdict != x.verdict || (x.finding != "") != slices.Contains(rules(p.Findings), x.finding) || p.Undo == nil == (x.finding == "") {
				t.Errorf("%s, %q, undo %v, %v, %v", p.Verdict, rules(p.Findings), p.Undo, faults, err)
			}
		})
	}
}

// A folder whose producer has no entry is told, with ZooKeeper and without.
func TestFilesWithoutANode(t *testing.T) {
	remote := t.TempDir()
	c := started(t, flusstest.Options{Settings: map[string]string{"remote.data.dir": "file:" + remote}})
	for _, id := range []string{"orphan", "kept"} {
		if err := os.MkdirAll(filepath.Join(remote, "producers", id, "0"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := write.RegisterProducer(t.Context(), client(t, c), "kept", nil, 0); err != nil {
		t.Fatal(err)
	}
	z := ensemble(t)
	z.Set("/fluss/tabletservers/ids", "")
	z.Set("/fluss/producers/kept", `{"version":1,"expiration_time":9,"tables":[]}`)
	plain := storeOf(t, c, disk{})
	for name, s := range map[string]*fluss.Store{"with nodes": withNodes(t, plain, z), "without": plain} {
		listed, faults, err := s.ListProducers(t.Context())
		if err != nil || len(faults) > 0 || listed.Nodes != (name == "with nodes") || listed.FoldersErr != nil || !slices.Equal(listed.IDs, []string{"kept", "orphan"}) {
			t.Fatalf("%s: %+v, %v, %v", name, listed, faults, err)
		}
		list, faults := s.Producers(t.Context(), listed.IDs)
		if len(faults) > 0 || list[0].Folder == nil || !*list[0].Folder || !slices.Contains(rules(list[1].Findings), "files-without-node") || slices.Contains(rules(list[0].Findings), "files-without-node") {
			t.Errorf("%s: %v, %+v", name, faults, list)
		}
	}
	unseen, _, err := storeOf(t, c, nil).Producer(t.Context(), "orphan")
	if err != nil || unseen.Folder != nil || slices.Contains(rules(unseen.Findings), "files-without-node") {
		t.Errorf("%+v, %v", unseen, err)
	}
}

// Where neither ZooKeeper nor remote storage is to be seen, nothing is listed; where
// one is, the other's fault is told.
func TestProducersThatCannotBeListed(t *testing.T) {
	remote := t.TempDir()
	c := started(t, flusstest.Options{Settings: map[string]string{"remote.data.dir": "file:" + remote}})
	if err := os.MkdirAll(filepath.Join(remote, "producers", "kept"), 0o700); err != nil {
		t.Fatal(err)
	}
	empty := ensemble(t)
	if _, _, err := storeOf(t, c, nil).ListProducers(t.Context()); fault.KindOf(err) != fault.Unsupported {
		t.Error(err)
	}
	if _, _, err := withNodes(t, storeOf(t, c, nil), empty).ListProducers(t.Context()); err == nil || !strings.Contains(err.Error(), "no Fluss cluster below /fluss/") {
		t.Error(err)
	}
	listed, faults, err := withNodes(t, storeOf(t, c, disk{}), empty).ListProducers(t.Context())
	if err != nil || len(faults) != 1 || listed.Nodes || !slices.Equal(listed.IDs, []string{"kept"}) {
		t.Errorf("%+v, %v, %v", listed, faults, err)
	}
	empty.Set("/fluss/tabletservers/ids", "")
	listed, faults, err = withNodes(t, storeOf(t, c, nil), empty).ListProducers(t.Context())
	if err != nil || len(faults) > 0 || !listed.Nodes || len(listed.IDs) > 0 {
		t.Errorf("%+v, %v, %v", listed, faults, err)
	}
}
