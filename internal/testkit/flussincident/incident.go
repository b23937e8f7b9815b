package flussincident

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/testkit/flusstest"
	"github.com/recoverctl/recoverctl/internal/testkit/orders"
)

// What the story is about.
const (
	Profile = "demo"
	Job     = "order-agent"
	Table   = "flink_agents.order_state"
	Buckets = 8
	Idle    = 5 // the bucket that nobody has written to for eight days

	// seed is that of the demo.
	seed = 20240758
)

const tablets = 3

// Incident is a running cluster with the sample incident in it.
type Incident struct {
	// Places are where recovery points are found: the folder of the job's
	// checkpoints and that of the savepoints, as URIs.
	Places []string
	// Pinned are the recovery points that the job's owner pinned, as URIs.
	Pinned []string

	cluster *flusstest.Cluster
	log     flussrpc.Log // of Table
	clock   *serverClock
	dir     string
}

// serverClock is the clock of the cluster's servers. It runs on from the moment of the
// incident, and is put back while something is made that is older.
type serverClock struct {
	moment, begun time.Time
	back          atomic.Int64 // a time.Duration
}

func (c *serverClock) now() time.Time {
	return c.moment.Add(time.Since(c.begun) - time.Duration(c.back.Load()))
}

// ago puts the clock back while something is made.
func (c *serverClock) ago(d time.Duration, do func() error) error {
	c.back.Store(int64(d))
	defer c.back.Store(0)
	return do()
}

// Start makes the incident as it looks at a moment. Everything that lies on a disk
// goes below dir, which exists, and which the caller removes. It takes well under a
// second; the caller closes the result.
func Start(ctx context.Context, dir string, now time.Time) (*Incident, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("flussincident: %w", err)
	}
	now = now.Truncate(time.Millisecond)
	at := places{dir}
	in := &Incident{
		Places: []string{fileURI(at.checkpoints()), fileURI(at.savepoints())}, Pinned: []string{fileURI(at.savepoint(pinnedSavepoint))},
		clock: &serverClock{moment: now, begun: time.Now()}, dir: dir,
	}
	in.cluster, err = flusstest.Start(flusstest.Options{Tablets: tablets, Now: in.clock.now, Settings: map[string]string{
		"remote.data.dir": in.Remote(), "default.replication.factor": fmt.Sprint(tablets), "coordinator.producer-offsets.ttl": "24h", "coordinator.producer-offsets.cleanup-interval": "1h",
	}})
	if err != nil {
		return nil, err
	}
	if err := in.fill(ctx, now, at); err != nil {
		in.Close()
		return nil, err
	}
	return in, nil
}

// Close ends the cluster. Everything in it is gone.
func (in *Incident) Close() { in.cluster.Close() }

// Servers are the addresses of the cluster's servers. They ask for no login.
func (in *Incident) Servers() []string { return in.cluster.Servers() }

// Cluster is the cluster: to change what happens next.
func (in *Incident) Cluster() *flusstest.Cluster { return in.cluster }

// Remote is the cluster's remote.data.dir.
func (in *Incident) Remote() string { return fileURI(filepath.Join(in.dir, "remote")) }

// ConfigYAML is a configuration file for the incident: one profile, one job.
func (in *Incident) ConfigYAML() []byte {
	return fmt.Appendf(nil, `default-profile: %s
profiles:
  - name: %[1]s
    environment: production
    access: operate
    jobs:
      - name: %s
        engine: flink-agents
        runtime: next
        action-state: {store: fluss}
        fluss: {servers: %s, table: %s}
        max-parallelism: %d
        partitions: %d
        recovery-points: %s
        pinned: %s
        keep-recovery-points: 2
`, Profile, Job, yamlList(in.Servers()), Table, orders.MaxParallelism, Buckets, yamlList(in.Places), yamlList(in.Pinned))
}

// yamlList writes texts as a YAML list on one line: JSON's strings are YAML's.
func yamlList(texts []string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	// A list of strings always has a JSON form, and a Builder takes it.
	_ = e.Encode(texts)
	return strings.TrimSuffix(b.String(), "\n")
}

// fileURI is a folder as Flink and Fluss write it.
func fileURI(dir string) string { return "file:" + filepath.ToSlash(dir) }

// fill makes the tables, their rows, the recovery points and the entries of
// producers.
func (in *Incident) fill(ctx context.Context, now time.Time, at places) error {
	path, err := flussrpc.ParseTablePath(Table)
	if err != nil {
		return err
	}
	spec := flusstest.ActionState(path, Buckets)
	spec.Replicas = tablets
	err = in.clock.ago(ago[toExpired], func() error {
		in.log.Table, err = in.cluster.CreateTable(spec)
		return err
	})
	if err != nil {
		return err
	}
	in.log.Partition = flussrpc.NoPartition
	s := newScript(seed)
	logs, err := s.logs(now)
	if err != nil {
		return err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	for b, log := range logs {
		group.Go(func() error { return in.write(groupCtx, int32(b), log) })
	}
	group.Go(func() error { return s.points(at, logs, now) })
	group.Go(func() error { return in.producers(groupCtx, now) })
	return group.Wait()
}
