package flusstest

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/recoverctl/recoverctl/internal/flussrpc"
)

// Options say what a cluster is like.
type Options struct {
	Tablets  int               // tablet servers, with ids from 0; 0: one
	Users    map[string]string // with their passwords; not empty: every listener asks for a login
	Settings map[string]string // of DescribeClusterConfigs, beside the usual ones
	Now      func() time.Time  // nil: time.Now
}

// Cluster is one cluster. It may be used by several goroutines.
type Cluster struct {
	options Options

	mu          sync.Mutex
	coordinator *server
	tablets     []*server
	alive       []int32 // tablet servers as the coordinator knows them
	tables      map[int64]*table
	nextTable   int64
	nextPart    int64
	producers   map[string]*producer
	hooks       []func(Call) Reaction
	calls       []Call
}

// coordinatorID is the id of the coordinator: that of the first tablet server too.
const coordinatorID = 0

// Start starts a cluster on ports of 127.0.0.1. Close ends it.
func Start(o Options) (*Cluster, error) {
	o.Tablets = max(o.Tablets, 1)
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Cluster{options: o, tables: map[int64]*table{}, producers: map[string]*producer{}}
	c.coordinator = &server{cluster: c, kind: flussrpc.Coordinator, id: coordinatorID}
	for i := range o.Tablets {
		c.tablets = append(c.tablets, &server{cluster: c, kind: flussrpc.TabletServer, id: int32(i)})
		c.alive = append(c.alive, int32(i))
	}
	for _, s := range append([]*server{c.coordinator}, c.tablets...) {
		if err := s.start(); err != nil {
			c.Close()
			return nil, err
		}
	}
	return c, nil
}

// Close ends all servers and waits for their connections to end.
func (c *Cluster) Close() {
	for _, s := range append([]*server{c.coordinator}, c.tablets...) {
		s.end()
	}
}

// Coordinator is the coordinator's address.
func (c *Cluster) Coordinator() string { return c.coordinator.address() }

// Tablet is the address of a tablet server.
func (c *Cluster) Tablet(id int32) string { return c.tablets[id].address() }

// Servers are the addresses of all servers, the coordinator's first.
func (c *Cluster) Servers() []string {
	out := []string{c.Coordinator()}
	for i := range c.tablets {
		out = append(out, c.Tablet(int32(i)))
	}
	return out
}

// Call is a request as a server got it.
type Call struct {
	API    flussrpc.API
	Server flussrpc.ServerKind
	ID     int32  // of the server
	Body   []byte // the message
}

// Reaction is what happens to a request instead of its answer. The zero Reaction
// is its answer.
type Reaction struct {
	Silent  bool            // it is never answered
	HangUp  bool            // the connection ends
	Refuse  *flussrpc.Error // it is refused with an error frame
	Failure *flussrpc.Error // the server gives up: an error without a request id, and the connection ends
	Raw     []byte          // these bytes are sent

	// After makes all this happen instead of the answer alone: what was asked for is
	// done before.
	After bool
}

func (r Reaction) none() bool {
	return !r.Silent && !r.HangUp && r.Refuse == nil && r.Failure == nil && r.Raw == nil
}

// On lets a function see every request from now on. The first Reaction that is
// not zero, of the functions in the order in which they were given, is what
// happens. It must not call the cluster.
func (c *Cluster) On(hook func(Call) Reaction) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hooks = append(c.hooks, hook)
}

// Calls are the requests so far, in the order in which they came.
func (c *Cluster) Calls() []Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.calls)
}

func (c *Cluster) react(call Call) Reaction {
	c.mu.Lock()
	c.calls = append(c.calls, call)
	hooks := slices.Clone(c.hooks)
	c.mu.Unlock()
	for _, hook := range hooks {
		if r := hook(call); !r.none() {
			return r
		}
	}
	return Reaction{}
}

// KillTablet ends a tablet server. Buckets that it led get another replica that
// lives as leader, or none; where the coordinator is gone too, nobody notices.
func (c *Cluster) KillTablet(id int32) {
	c.tablets[id].stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.coordinator.up() {
		return
	}
	c.alive = slices.DeleteFunc(c.alive, func(a int32) bool { return a == id })
	for _, b := range c.buckets() {
		if b.leader == id {
			b.elect(c.alive)
		}
	}
}

// StartTablet starts one that was killed, on the port that it had. It leads what
// nobody leads.
func (c *Cluster) StartTablet(id int32) error {
	if err := c.tablets[id].start(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.alive, id) {
		c.alive = append(c.alive, id)
	}
	for _, b := range c.buckets() {
		if b.leader == flussrpc.NoLeader && slices.Contains(b.replicas, id) {
			b.leader, b.epoch = id, b.epoch+1
		}
	}
	return nil
}

// KillCoordinator ends the coordinator.
func (c *Cluster) KillCoordinator() { c.coordinator.stop() }

// StartCoordinator starts it again, on the port that it had.
func (c *Cluster) StartCoordinator() error { return c.coordinator.start() }

// MoveLeader gives a bucket another leader, one of its replicas.
func (c *Cluster) MoveLeader(t flussrpc.Log, bucket, to int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.bucket(t, bucket)
	if !slices.Contains(b.replicas, to) && to != flussrpc.NoLeader {
		b.replicas = append(b.replicas, to)
	}
	b.leader, b.epoch = to, b.epoch+1
}

// buckets are those of all tables.
func (c *Cluster) buckets() (out []*bucket) {
	for _, id := range slices.Sorted(maps.Keys(c.tables)) {
		t := c.tables[id]
		for _, p := range t.parts {
			out = append(out, p.buckets...)
		}
	}
	return out
}

// bucket is one that a test names; a name that is of none is the test's mistake.
func (c *Cluster) bucket(log flussrpc.Log, id int32) *bucket {
	b := c.find(log, id)
	if b == nil {
		panic(fmt.Sprintf("flusstest: no bucket %d of %+v", id, log))
	}
	return b
}

func (c *Cluster) find(log flussrpc.Log, id int32) *bucket {
	t := c.tables[log.Table]
	if t == nil {
		return nil
	}
	for _, p := range t.parts {
		if p.id == log.Partition && id >= 0 && int(id) < len(p.buckets) {
			return p.buckets[id]
		}
	}
	return nil
}

// Spec describes a table to be made.
type Spec struct {
	Path       flussrpc.TablePath
	Columns    []Column
	BucketKey  []string
	Partition  string // the column of the partition key; empty: the table has no partitions
	Buckets    int
	Replicas   int // 0: one
	Comment    string
	Properties map[string]string
	Primary    []string
}

// Column is one column, of type STRING, BYTES, BIGINT, INTEGER, DOUBLE or BOOLEAN.
type Column struct{ Name, Type string }

// ActionState is the table that Flink Agents makes for its action state.
func ActionState(path flussrpc.TablePath, buckets int) Spec {
	return Spec{
		Path: path, Buckets: buckets, BucketKey: []string{"agent_key"}, Comment: "Flink Agents action state log",
		Columns: []Column{{"state_key", "STRING"}, {"state_payload", "BYTES"}, {"agent_key", "STRING"}},
	}
}

// CreateTable makes a table and returns its id. Databases are there when a table
// is in them.
func (c *Cluster) CreateTable(s Spec) (int64, error) {
	s.Buckets, s.Replicas = max(s.Buckets, 1), min(max(s.Replicas, 1), len(c.tablets))
	t, err := newTable(s)
	if err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.named(s.Path) != nil {
		return 0, fmt.Errorf("table %s is there", s.Path)
	}
	t.id, t.created = c.nextTable, c.options.Now()
	c.nextTable++
	if s.Partition == "" {
		t.parts = []*part{{id: flussrpc.NoPartition, buckets: c.newBuckets(s)}}
	}
	c.tables[t.id] = t
	return t.id, nil
}

// CreatePartition makes a partition and returns its id.
func (c *Cluster) CreatePartition(id int64, value string) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tables[id]
	p := &part{id: c.nextPart, value: value, buckets: c.newBuckets(t.spec)}
	c.nextPart++
	t.parts = append(t.parts, p)
	return p.id
}

func (c *Cluster) newBuckets(s Spec) []*bucket {
	out := make([]*bucket, s.Buckets)
	for i := range out {
		b := &bucket{}
		for r := range s.Replicas {
			b.replicas = append(b.replicas, int32((i+r)%len(c.tablets)))
		}
		b.leader = b.replicas[0]
		out[i] = b
	}
	return out
}

// DropTable drops a table.
func (c *Cluster) DropTable(id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.tables, id)
}

// DropPartition drops a partition, as its expiry would.
func (c *Cluster) DropPartition(table, partition int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tables[table]
	t.parts = slices.DeleteFunc(t.parts, func(p *part) bool { return p.id == partition })
}

func (c *Cluster) named(path flussrpc.TablePath) *table {
	for _, t := range c.tables {
		if t.spec.Path == path {
			return t
		}
	}
	return nil
}

// sortedTables are the tables by id.
func (c *Cluster) sortedTables() []*table {
	return slices.SortedFunc(maps.Values(c.tables), func(a, b *table) int { return cmp.Compare(a.id, b.id) })
}

func hostPort(address string) (string, int32) {
	a, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return address, 0
	}
	return a.IP.String(), int32(a.Port)
}
