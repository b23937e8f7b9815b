//go:build real

package fluss_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect/fluss"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/testkit/flusstest"
	"github.com/recoverctl/recoverctl/internal/zkread"
)

// realNodes is a store that reads the real cluster's ZooKeeper, too.
func realNodes(t *testing.T, cl *flussrpc.Client) *fluss.Store {
	t.Helper()
	server := os.Getenv("RECOVERCTL_TEST_FLUSS_ZOOKEEPER")
	if server == "" {
		t.Fatal("RECOVERCTL_TEST_FLUSS_ZOOKEEPER is not set: run this through test/real/run.sh")
	}
	nodes, err := zkread.NewClient(zkread.Config{Servers: []string{server}, Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nodes.Close)
	return fluss.New(cl, clock.System{}, fluss.Remote{}).WithNodes(nodes, "/fluss")
}

// until asks again until something is so, and fails where it never is.
func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !so(); time.Sleep(300 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not so within a minute: %s", what)
		}
	}
}

// What no call of Fluss tells is read from the real cluster's ZooKeeper: every
// producer, one whose file is gone and a folder without an entry among them, and
// through the death of servers the in-sync sets and who still has a session.
func TestWhatOnlyZooKeeperTellsOfARealCluster(t *testing.T) {
	real := flusstest.Real(t)
	java, cl := real.Java(t), real.Client(t)
	store := realNodes(t, cl)
	path := flussrpc.TablePath{Database: fmt.Sprintf("z%d", time.Now().UnixNano()), Table: "state"}
	java.Do(t, nil, "create", path.Database, path.Table, "states", "2", "2", "") // of two replicas
	java.Do(t, nil, append([]string{"states", path.Database, path.Table}, states()[0][:]...)...)

	// Producers.
	kept, lost := path.Database+"-kept", path.Database+"-lost"
	for _, id := range []string{kept, lost} {
		java.Do(t, nil, "register", id, path.Database, path.Table)
	}
	if err := os.RemoveAll(filepath.Join(real.Remote(), "producers", lost)); err != nil {
		t.Fatal(err)
	}
	orphan := path.Database + "-orphan"
	until(t, "a folder without an entry is seen before the coordinator removes it", func() bool {
		dir := filepath.Join(real.Remote(), "producers", orphan, "0")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		p, faults, err := store.Producer(t.Context(), orphan)
		if err != nil || len(faults) > 0 {
			t.Fatal(faults, err)
		}
		return !p.Found && p.Node != nil && !p.Node.Found && slices.Contains(rules(p.Findings), "files-without-node")
	})
	listed, faults, err := store.ListProducers(t.Context())
	if err != nil || len(faults) > 0 || !listed.Nodes || listed.FoldersErr != nil || !slices.Contains(listed.IDs, kept) || !slices.Contains(listed.IDs, lost) {
		t.Fatalf("%+v, %v, %v", listed, faults, err)
	}
	p, faults, err := store.Producer(t.Context(), kept)
	if err != nil || len(faults) > 0 || p.Node == nil || !p.Node.Expires.Equal(*p.Expires) || len(p.Node.Files) != 1 || p.Node.Files[0].Table != p.Tables[0].ID {
		t.Errorf("%+v, %+v, %v, %v", p, p.Node, faults, err)
	}
	file := strings.TrimPrefix(p.Node.Files[0].Path, "file:")
	if _, err := os.Stat("/" + strings.TrimLeft(file, "/")); err != nil {
		t.Error(err)
	}
	p, faults, err = store.Producer(t.Context(), lost)
	if err != nil || len(faults) > 0 || !p.Broken() || p.Node == nil || !p.Node.Expires.After(time.Now()) || p.Folder == nil || *p.Folder || p.Verdict != fluss.NotSafe {
		t.Errorf("%+v, %+v, %v, %v", p, p.Node, faults, err)
	}

	// Everybody is there.
	state, faults, err := store.Cluster(t.Context())
	if err != nil || len(faults) > 0 || state.ZooKeeper == nil || !state.ZooKeeper.Quorum || !*state.Coordinator.Registered {
		t.Fatalf("%+v, %v, %v", state, faults, err)
	}
	for _, s := range state.Tablets {
		if !s.Named || !*s.Registered || time.Since(*s.Since) > time.Hour {
			t.Errorf("%+v", s)
		}
	}
	inSync := func() [][]int32 {
		b, faults, err := store.Buckets(t.Context(), path, flussrpc.NoPartition, "", nil)
		if err != nil {
			t.Fatal(faults, err)
		}
		var out [][]int32
		for _, x := range b.Buckets {
			out = append(out, slices.Sorted(slices.Values(x.InSync)))
		}
		return out
	}
	all := func(want ...int32) func() bool {
		return func() bool {
			return !slices.ContainsFunc(inSync(), func(set []int32) bool { return !slices.Equal(set, want) })
		}
	}
	until(t, "both servers are in sync", all(0, 1))

	// A server dies: its session ends, and with it its place in the sets.
	real.Kill(t, "tablet1")
	until(t, "only the one that lives is in sync", all(0))
	b, _, err := store.Buckets(t.Context(), path, flussrpc.NoPartition, "", nil)
	if got := rules(b.Findings); err != nil || !slices.Contains(got, "replica-not-in-sync") || !slices.Contains(got, "single-copy") {
		t.Errorf("%q, %v", got, err)
	}
	real.Start(t, "tablet1")
	until(t, "both servers are in sync again", all(0, 1))

	// The coordinator dies, and a server after it: that one stays named as live.
	real.Kill(t, "coordinator")
	real.Kill(t, "tablet1")
	until(t, "their sessions end", func() bool {
		state, _, err = store.Cluster(t.Context())
		return err == nil && state.ZooKeeper != nil && slices.Contains(rules(state.Findings), "coordinator-not-registered") && slices.Contains(rules(state.Findings), "tablet-server-not-registered")
	})
	if len(state.Tablets) != 2 || !state.Tablets[1].Named || state.Tablets[1].Reached || *state.Tablets[1].Registered || !*state.Tablets[0].Registered {
		t.Errorf("%+v", state.Tablets)
	}
	real.Start(t, "coordinator", "tablet1")
	until(t, "everybody is back", func() bool {
		state, faults, err = store.Cluster(t.Context())
		return err == nil && len(faults) == 0 && len(state.Findings) <= 1 // the settings tell secrets
	})
}
