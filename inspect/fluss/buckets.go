package fluss

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Replica is one server's own copy of a bucket: what lies on its disk.
type Replica struct {
	Server  int32  `json:"server"`
	Start   *int64 `json:"start"` // null: not known
	End     *int64 `json:"end"`
	Problem string `json:"problem"`
}

// Bucket is one bucket of a table. What is not known is null.
type Bucket struct {
	Bucket   int32      `json:"bucket"`
	Leader   int32      `json:"leader"` // -1: nobody
	Epoch    int32      `json:"epoch"`
	Replicas []Replica  `json:"replicas"`
	Earliest *int64     `json:"earliest"`
	Local    *int64     `json:"local"` // start of what the leader has on its disk: what lies before is in remote storage
	Latest   *int64     `json:"latest"`
	LakeEnd  *int64     `json:"lakeEnd"`  // rows before it lie in a lake; null: none, or not known
	LakeOnly *bool      `json:"lakeOnly"` // of those that are not on the leader's disk it gives none; null: it was not asked
	Oldest   *time.Time `json:"oldest"`   // time of the first row
	Newest   *time.Time `json:"newest"`   // of the last batch

	// What ZooKeeper says of it, and nobody else. Null: that was not read, or it says
	// nothing.
	InSync    []int32 `json:"inSync"`    // servers that have all of it
	RemoteEnd *int64  `json:"remoteEnd"` // up to where it lies in remote storage

	// Of a recovery point, where one was named.
	Marker   *int64     `json:"marker"`
	State    string     `json:"state"`    // ok, idle, lost, reset, unknown; empty without a point
	At       *time.Time `json:"at"`       // time of the row at the marker
	Headroom string     `json:"headroom"` // until that row may expire; empty: not known, or it does not
	Problem  string     `json:"problem"`
}

// Buckets are the buckets of a table, and what they mean to a recovery point.
type Buckets struct {
	Table    string            `json:"table"`
	ID       int64             `json:"id"`
	Created  time.Time         `json:"created"`
	TTL      string            `json:"ttl"`
	Point    string            `json:"point"` // empty: none was named
	Nodes    bool              `json:"nodes"` // ZooKeeper was read; in-sync sets are exposed by nothing else
	Buckets  []Bucket          `json:"buckets"`
	Findings []inspect.Finding `json:"findings"`
}

// The states of a bucket for a recovery point.
const (
	BucketOK      = "ok"
	BucketIdle    = "idle"
	BucketLost    = "lost"
	BucketReset   = "reset"
	BucketUnknown = "unknown"
)

// Buckets describes the buckets of a table, and where a marker lies in them; marker
// is nil where none is asked about.
func (s *Store) Buckets(ctx context.Context, path flussrpc.TablePath, partition int64, point string, marker inspect.Offsets) (Buckets, []error, error) {
	t, err := s.client.Table(ctx, path)
	if err != nil {
		return Buckets{}, nil, err
	}
	if partition < 0 && len(t.PartitionKey) > 0 {
		return Buckets{}, nil, fault.New(fault.Usage, "describe buckets", "table %s has partitions: say which", show(path)).
			WithHint("--partition ID; recoverctl inspect fluss table %s lists them", show(path))
	}
	places, err := s.buckets(ctx, t, partition)
	if err != nil {
		return Buckets{}, nil, err
	}
	summary := summaryOf(t, nil)
	out := Buckets{Table: path.String(), ID: t.ID, Created: t.Created.UTC(), TTL: summary.TTL, Point: point, Buckets: make([]Bucket, len(places))}
	read := bucketRead{store: s, table: t, partition: partition, marker: marker}
	faults := read.all(ctx, places, out.Buckets)
	ttl := ParseDuration(summary.TTL)
	for i := range out.Buckets {
		judgeBucket(&out.Buckets[i], marker, ttl, s.clock.Now())
	}
	if err := s.addLake(ctx, t, partition, out.Buckets); err != nil {
		faults = append(faults, err)
	}
	nodes, err := s.addNodes(ctx, t.ID, partition, out.Buckets)
	if err != nil {
		faults = append(faults, err)
	}
	out.Nodes = nodes != nil
	out.Findings = bucketFindings(out, t, marker, nodes)
	return out, faults, nil
}

// addLake adds up to where a table that is tiered to a lake lies there.
func (s *Store) addLake(ctx context.Context, t flussrpc.Table, partition int64, buckets []Bucket) error {
	if t.Properties["table.datalake.enabled"] != "true" {
		return nil
	}
	lake, found, err := s.client.LakeSnapshot(ctx, t.Path)
	if err != nil || !found {
		return err
	}
	ends := lake.Ends[flussrpc.Log{Table: t.ID, Partition: partition}]
	for i := range buckets {
		b := &buckets[i]
		end, ok := ends[b.Bucket]
		if !ok {
			continue
		}
		b.LakeEnd = &end
		at, to, ok := b.tiered()
		if !ok {
			continue
		}
		if b.State == BucketOK && *b.Marker < to {
			at = *b.Marker // where a restore would begin
		}
		gives, err := s.client.Gives(ctx, t, partition, b.Bucket, at)
		if err != nil {
			return err
		}
		only := !gives
		b.LakeOnly = &only
	}
	return nil
}

// tiered are the rows that lie in the lake and not on the leader's disk.
func (b *Bucket) tiered() (from, to int64, ok bool) {
	if b.LakeEnd == nil || b.Earliest == nil || b.Local == nil {
		return 0, 0, false
	}
	from, to = *b.Earliest, min(*b.LakeEnd, *b.Local)
	return from, to, from < to
}

// addNodes adds what ZooKeeper says of buckets; nil where it is not read.
func (s *Store) addNodes(ctx context.Context, table, partition int64, buckets []Bucket) (map[int32]bucketNode, error) {
	if s.nodes == nil {
		return nil, nil
	}
	ids := make([]int32, len(buckets))
	for i, b := range buckets {
		ids[i] = b.Bucket
	}
	nodes, err := s.bucketStates(ctx, table, partition, ids)
	for i := range buckets {
		if n, ok := nodes[buckets[i].Bucket]; ok {
			buckets[i].InSync, buckets[i].RemoteEnd = n.leader.InSync, n.remote
		}
	}
	return nodes, err
}

// bucketRead reads what there is to know of buckets.
type bucketRead struct {
	store     *Store
	table     flussrpc.Table
	partition int64
	marker    inspect.Offsets // nil: none
}

func (r bucketRead) all(ctx context.Context, places []flussrpc.Bucket, out []Bucket) (faults []error) {
	ids := make([]int32, len(places))
	at := map[int32]*Bucket{}
	byServer := map[int32][]int32{}
	for i, p := range places {
		ids[i] = p.ID
		out[i] = Bucket{Bucket: p.ID, Leader: p.Leader, Epoch: p.Epoch, Replicas: make([]Replica, len(p.Replicas))}
		at[p.ID] = &out[i]
		for n, server := range p.Replicas {
			out[i].Replicas[n].Server = server
			byServer[server] = append(byServer[server], p.ID)
		}
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	take := func(list []flussrpc.Offset, into func(*Bucket, int64)) {
		mu.Lock()
		defer mu.Unlock()
		for _, o := range list {
			if o.Err != nil {
				at[o.Bucket].Problem = safetext.Error(o.Err).String()
				faults = append(faults, o.Err)
				continue
			}
			into(at[o.Bucket], o.Offset)
		}
	}
	client := r.store.client
	wg.Go(func() {
		take(client.Offsets(ctx, r.table, r.partition, ids, flussrpc.Earliest), func(b *Bucket, n int64) { b.Earliest = &n })
	})
	wg.Go(func() {
		take(client.Offsets(ctx, r.table, r.partition, ids, flussrpc.Latest), func(b *Bucket, n int64) { b.Latest = &n })
	})
	cluster, clusterErr := client.Cluster(ctx)
	for _, server := range cluster.Tablets {
		buckets := byServer[server.ID]
		if len(buckets) == 0 {
			continue
		}
		for _, p := range []flussrpc.Position{flussrpc.Earliest, flussrpc.Latest} {
			wg.Go(func() {
				list := client.ReplicaOffsets(ctx, server, r.table, r.partition, buckets, p)
				mu.Lock()
				defer mu.Unlock()
				for _, o := range list {
					replicaOf(at[o.Bucket], server.ID, p, o)
				}
			})
		}
	}
	wg.Wait()
	if clusterErr != nil {
		faults = append(faults, clusterErr)
	}
	r.times(ctx, out)
	return faults
}

func replicaOf(b *Bucket, server int32, p flussrpc.Position, o flussrpc.Offset) {
	for i := range b.Replicas {
		r := &b.Replicas[i]
		switch {
		case r.Server != server:
		case o.Err != nil:
			r.Problem = safetext.Error(o.Err).String()
		case p == flussrpc.Earliest:
			r.Start = &o.Offset
			if server == b.Leader {
				b.Local = &o.Offset
			}
		default:
			r.End = &o.Offset
		}
	}
}

// times reads the time of the first and of the last row of each bucket. What lies
// in remote storage that is not read here has none.
func (r bucketRead) times(ctx context.Context, out []Bucket) {
	var wg sync.WaitGroup
	wg.Go(func() {
		r.timesAt(ctx, out, func(b *Bucket) *int64 { return b.Earliest }, func(b *Bucket, t time.Time) { b.Oldest = &t })
	})
	wg.Go(func() {
		r.timesAt(ctx, out, func(b *Bucket) *int64 {
			if b.Latest == nil || b.Earliest == nil || *b.Latest <= *b.Earliest {
				return nil
			}
			last := *b.Latest - 1
			return &last
		}, func(b *Bucket, t time.Time) { b.Newest = &t })
	})
	wg.Go(func() {
		r.timesAt(ctx, out, func(b *Bucket) *int64 {
			at, ok := r.marker[b.Bucket]
			if !ok || b.Earliest == nil || at < *b.Earliest {
				return nil
			}
			return &at
		}, func(b *Bucket, t time.Time) { b.At = &t })
	})
	wg.Wait()
}

// timesAt reads the time of one row of each bucket.
func (r bucketRead) timesAt(ctx context.Context, out []Bucket, which func(*Bucket) *int64, take func(*Bucket, time.Time)) {
	q := flussrpc.Scan{Table: r.table, Partition: r.partition}
	if r.store.files != nil {
		q.Files = r.store.files
	}
	at := map[int32]*Bucket{}
	for i := range out {
		b := &out[i]
		if offset := which(b); offset != nil && b.Latest != nil && *offset < *b.Latest && b.Leader != flussrpc.NoLeader {
			q.Spans = append(q.Spans, flussrpc.Span{Bucket: b.Bucket, From: *offset, To: *offset + 1})
			at[b.Bucket] = b
		}
	}
	var mu sync.Mutex
	q.Visit = func(p flussrpc.Piece) error {
		mu.Lock()
		defer mu.Unlock()
		take(at[p.Bucket], time.UnixMilli(p.Batch.CommitTimestamp).UTC())
		return nil
	}
	// A bucket whose rows can't be read has no times; that it can't is the matter of
	// who reads it.
	r.store.client.Scan(ctx, q)
}

// ParseDuration reads a time as Fluss writes one (7d, 12h, 30min, 20s, 500ms);
// nil: it is none, or means for ever.
func ParseDuration(text string) *time.Duration {
	text = strings.ToLower(strings.TrimSpace(text))
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	n, err := strconv.ParseInt(text[:digits], 10, 64)
	if err != nil || n < 0 {
		return nil
	}
	unit := map[string]time.Duration{
		"": time.Millisecond, "ms": time.Millisecond, "milli": time.Millisecond, "millis": time.Millisecond, "s": time.Second, "sec": time.Second, "second": time.Second, "seconds": time.Second,
		"m": time.Minute, "min": time.Minute, "minute": time.Minute, "minutes": time.Minute, "h": time.Hour, "hour": time.Hour, "hours": time.Hour, "d": 24 * time.Hour, "day": 24 * time.Hour, "days": 24 * time.Hour,
	}[strings.TrimSpace(text[digits:])]
	if unit == 0 || n > math.MaxInt64/int64(unit) {
		return nil
	}
	d := time.Duration(n) * unit
	return &d
}

// judgeBucket says what a bucket means to a marker, in the order of the store: one
// that is idle is fine, whatever has expired.
func judgeBucket(b *Bucket, marker inspect.Offsets, ttl *time.Duration, now time.Time) {
	if marker == nil {
		return
	}
	at, ok := marker[b.Bucket]
	if !ok {
		b.State = BucketUnknown
		b.Problem = "the marker does not name this bucket"
		return
	}
	b.Marker = &at
	switch {
	case b.Earliest == nil || b.Latest == nil:
		b.State = BucketUnknown
	case at == *b.Latest:
		b.State = BucketIdle
	case at > *b.Latest:
		b.State = BucketReset
	case at < *b.Earliest:
		b.State = BucketLost
	default:
		b.State = BucketOK
	}
	if b.State == BucketOK && ttl != nil && b.At != nil {
		b.Headroom = max(*ttl-now.Sub(*b.At), 0).Truncate(time.Second).String()
	}
}

func bucketIDs(buckets []Bucket) []int32 {
	ids := make([]int32, len(buckets))
	for i, b := range buckets {
		ids[i] = b.Bucket
	}
	slices.Sort(ids)
	return ids
}

func bucketFindings(b Buckets, t flussrpc.Table, marker inspect.Offsets, nodes map[int32]bucketNode) []inspect.Finding {
	out := []inspect.Finding{}
	add := collect(&out)
	ref := []string{"table " + show(t.Path)}
	if have := bucketIDs(b.Buckets); len(marker) > 0 && !slices.Equal(marker.Partitions(), have) {
		add(inspect.SeverityError, "fluss-bucket-set", ref, inspect.Named{"marker": marker.Partitions(), "table": have}, "compare the table's id and creation with the job's history; only a start without markers goes through",
			"the marker names the buckets %s, and %s has %s: it was made again, or its number of buckets changed", figures.Ranges(marker.Partitions(), 8), show(t.Path), figures.Ranges(have, 8))
	}
	for _, x := range b.Buckets {
		numbers := inspect.Named{"bucket": x.Bucket}
		name := fmt.Sprintf("bucket %d of %s", x.Bucket, show(t.Path))
		if x.Leader == flussrpc.NoLeader {
			add(inspect.SeverityError, "bucket-without-leader", ref, numbers, "start the servers that keep it; a leader is elected when a dead one's ZooKeeper session ends (60 s by default)", "%s has no leader: it can't be read or written", name)
		}
		if x.Marker != nil && x.Earliest != nil && x.Latest != nil {
			numbers = inspect.Named{"bucket": x.Bucket, "requested": *x.Marker, "logStart": *x.Earliest, "logEnd": *x.Latest}
		}
		switch x.State {
		case BucketLost:
			add(inspect.SeverityError, "fluss-data-loss", ref, numbers, "find a newer recovery point: recoverctl inspect points", "%s must be read from %s, and its log starts at %s: the rows between expired", name, figures.Group(*x.Marker), figures.Group(*x.Earliest))
		case BucketOK:
			if x.Headroom == "0s" {
				add(inspect.SeverityWarning, "row-may-expire", ref, numbers, "take a new recovery point before it goes: the row expires with its segment, when that has rolled and was moved to remote storage",
					"the row of %s that the restore begins with is older than table.log.ttl (%s)", name, b.TTL)
			}
		case BucketReset:
			add(inspect.SeverityError, "fluss-data-loss", ref, numbers, "compare the table's id and creation with the job's history: was it made again?", "%s must be read from %s, and its log ends at %s: the table was made again, or rows were lost with a server", name, figures.Group(*x.Marker), figures.Group(*x.Latest))
		}
		replicaFindings(x, name, ref, add)
		lakeFinding(x, name, ref, add)
		if n, ok := nodes[x.Bucket]; ok && *n.leader.Leader != x.Leader {
			add(inspect.SeverityWarning, "leader-differs", ref, inspect.Named{"bucket": x.Bucket, "named": x.Leader, "registered": *n.leader.Leader, "leaderEpoch": *n.leader.Epoch},
				"ask again: servers learn of a new leader a moment later; if it stays so, ask another server or restart the coordinator", "servers name %s as the leader of %s, and ZooKeeper %s",
				serverWord(x.Leader), name, serverWord(*n.leader.Leader))
		}
	}
	inSyncFindings(b, show(t.Path), ref, add)
	return sorted(out)
}

// lakeFinding is of rows that are read from the lake alone: there are servers that
// answer with nothing for an offset that lies there and not on their disks, also where
// remote storage has the rows. Whether this one does, it was asked.
func lakeFinding(x Bucket, name string, ref []string, add add) {
	from, to, ok := x.tiered()
	if !ok || x.LakeOnly == nil || !*x.LakeOnly {
		return
	}
	numbers := inspect.Named{"bucket": x.Bucket, "from": from, "to": to, "lakeEnd": *x.LakeEnd}
	if x.State == BucketOK && *x.Marker < to {
		add(inspect.SeverityError, "restore-stands-still", ref, numbers, "find a newer recovery point (recoverctl inspect points), or take one while the job runs",
			"a restore begins to read %s at %s, and rows up to %s are given by the lake alone: it gets nothing, waits, and fails after five minutes", name, figures.Group(*x.Marker), figures.Group(to))
		return
	}
	add(inspect.SeverityWarning, "rows-in-lake", ref, numbers, "read them from the lake; a scan here says that they are missing",
		"rows of %s from %s to %s are given by the lake alone: who reads the log from before %s gets nothing and no error", name, figures.Group(from), figures.Group(to), figures.Group(to))
}

func serverWord(id int32) string {
	if id == flussrpc.NoLeader {
		return "nobody"
	}
	return fmt.Sprintf("tablet server %d", id)
}

// inSyncFindings are servers whose copies are not whole, one finding each.
func inSyncFindings(b Buckets, table string, ref []string, add add) {
	behind := map[int32][]int32{}
	var single []int32
	for _, x := range b.Buckets {
		if x.InSync == nil {
			continue
		}
		for _, r := range x.Replicas {
			if !slices.Contains(x.InSync, r.Server) {
				behind[r.Server] = append(behind[r.Server], x.Bucket)
			}
		}
		if len(x.Replicas) > 1 && len(x.InSync) < 2 {
			single = append(single, x.Bucket)
		}
	}
	for _, server := range slices.Sorted(maps.Keys(behind)) {
		add(inspect.SeverityWarning, "replica-not-in-sync", ref, inspect.Named{"server": server, "buckets": behind[server]},
			"start tablet server "+strconv.Itoa(int(server))+", or wait until it has caught up, before another one is stopped",
			"tablet server %d is not in the in-sync set of %s of %s: it may lack rows there, and is not elected", server, figures.Ranges(behind[server], 8), table)
	}
	if len(single) > 0 {
		add(inspect.SeverityWarning, "single-copy", ref, inspect.Named{"buckets": single}, "bring the other replicas back before the server that has it is stopped",
			"of buckets %s of %s only one server has all rows: were it lost, rows that were confirmed are lost with it", figures.Ranges(single, 8), table)
	}
}

// replicaFindings are copies that end before the leader's.
func replicaFindings(x Bucket, name string, ref []string, add add) {
	for _, r := range x.Replicas {
		if r.End != nil && x.Latest != nil && *r.End < *x.Latest {
			add(inspect.SeverityWarning, "replica-behind", ref, inspect.Named{"bucket": x.Bucket, "server": r.Server, "logEnd": *r.End},
				"look at it again; if it stays behind, look at that server's log", "tablet server %d has %s up to %s only, and readers see %s", r.Server, name, figures.Group(*r.End), figures.Group(*x.Latest))
		}
		if r.Server == x.Leader && r.End != nil && x.Latest != nil && *r.End > *x.Latest {
			add(inspect.SeverityInfo, "rows-not-yet-seen", ref, inspect.Named{"bucket": x.Bucket, "logEnd": *r.End},
				"ask again before a marker behind the end is called lost", "the leader of %s has rows up to %s of which readers see those up to %s: replicas have not confirmed the others", name, figures.Group(*r.End), figures.Group(*x.Latest))
		}
	}
}
