package fluss

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Safety says whether a producer's sink can be restarted now with the entry as it
// is.
type Safety string

// The answers. Unknown means that something that decides could not be asked or is
// not to be known from here: it is never a milder word for another one.
const (
	Safe          Safety = "safe"
	NotSafe       Safety = "not-safe"
	UnknownSafety Safety = "unknown"
)

// ProducerBucket is one bucket of an entry. What is not known is null.
type ProducerBucket struct {
	Bucket   int32  `json:"bucket"`
	Baseline *int64 `json:"baseline"` // null: the entry names the bucket without an offset, which counts as 0
	Earliest *int64 `json:"earliest"`
	Latest   *int64 `json:"latest"`
	Undo     *int64 `json:"undo"`  // rows that a restart undoes
	State    string `json:"state"` // undo, nothing, expired, beyond, negative, unknown
	Problem  string `json:"problem"`
}

// ProducerTable is a table, or a partition of one, in an entry.
type ProducerTable struct {
	ID        int64            `json:"id"`
	Table     string           `json:"table"`     // empty: no table that this user may see has the id
	Partition *int64           `json:"partition"` // null: none
	Name      string           `json:"name"`      // of the partition; empty where it is gone
	Buckets   []ProducerBucket `json:"buckets"`
	Missing   []int32          `json:"missing"` // buckets of the table that the entry does not name: they count from 0

	rest   []ProducerBucket // those of Missing, as they count
	unread bool             // whether it is there could not be asked
}

// Producer is what the coordinator keeps for one producer, against the logs as they
// are now.
type Producer struct {
	ID       string            `json:"id"`
	Found    bool              `json:"found"`
	Expires  *time.Time        `json:"expires"` // by the coordinator's clock
	Expired  bool              `json:"expired"` // by this machine's
	Tables   []ProducerTable   `json:"tables"`
	Undo     *int64            `json:"undo"` // rows, of all buckets; null: not known
	TTL      string            `json:"ttl"`  // of new entries; empty: not known
	Cleanup  string            `json:"cleanup"`
	Sweep    *time.Time        `json:"nextCleanup"` // about; null: not known, only ZooKeeper tells when the coordinator began
	Node     *ProducerNode     `json:"node"`        // in ZooKeeper; null: not read
	Folder   *bool             `json:"folder"`      // it has one in remote storage; null: that is not seen from here
	Verdict  Safety            `json:"verdict"`
	Findings []inspect.Finding `json:"findings"`
}

// The states of a bucket in an entry.
const (
	undoRows      = "undo"
	undoNothing   = "nothing"
	undoExpired   = "expired"
	undoBeyond    = "beyond"
	undoNegative  = "negative"
	undoUnknown   = "unknown"
	ttlKey        = "coordinator.producer-offsets.ttl"
	cleanupKey    = "coordinator.producer-offsets.cleanup-interval"
	defaultTTL    = "24h"
	defaultSweeps = "1h"
)

// Broken reports whether an entry is there whose offsets nobody can read.
func (p Producer) Broken() bool { return p.Found && p.Expires == nil }

// Producer reads the entry of a producer and judges whether its sink can be
// restarted with it. The error is of an id that is none, or a coordinator of which
// nothing was learned.
func (s *Store) Producer(ctx context.Context, id string) (out Producer, faults []error, err error) {
	return s.producer(ctx, id, s.folders)
}

// listFolders gives the ids that have folders in remote storage.
type listFolders func(ctx context.Context, settings []Setting) ([]string, error)

func (s *Store) producer(ctx context.Context, id string, list listFolders) (out Producer, faults []error, err error) {
	var settings []Setting
	var settingsErr, nodeErr error
	var node *ProducerNode
	var since *time.Time
	var wg sync.WaitGroup
	wg.Go(func() { settings, settingsErr = s.settings(ctx) })
	if flussrpc.CheckProducerID(id) == nil {
		wg.Go(func() { node, since, nodeErr = s.readProducer(ctx, id) })
	}
	entry, found, entryErr := s.client.ProducerOffsets(ctx, id)
	wg.Wait()
	broken := entryErr != nil && fault.KindOf(entryErr) == fault.Corrupt
	if entryErr != nil && !broken {
		return Producer{ID: id, Tables: []ProducerTable{}}, nil, entryErr
	}
	judged, j := s.judge(id, settings, settingsErr)
	for _, err := range []error{settingsErr, nodeErr} {
		if err != nil {
			faults = append(faults, err)
		}
	}
	judged.Found, judged.Node = broken || found, node
	if since != nil {
		judged.Sweep = nextSweep(*since, judged.Cleanup, j.now)
	}
	if folders, err := list(ctx, settings); err == nil {
		there := slices.Contains(folders, id)
		judged.Folder = &there
	}
	switch {
	case broken:
		j.broken(entryErr)
	case !found:
		j.nothing()
		j.orphan()
	default:
		if err := s.judgeEntry(ctx, j, entry); err != nil {
			faults = append(faults, err)
		}
		j.against(node, entry)
	}
	return j.done(settings), faults, nil
}

// Supposed judges an entry as if the coordinator kept it, which it was not asked
// for: what a start would make of offsets before anybody registers them. The error
// says what of tables and logs could not be read.
func (s *Store) Supposed(ctx context.Context, entry flussrpc.ProducerOffsets) (Producer, error) {
	_, j := s.judge(entry.Producer, nil, nil)
	j.out.Found = true
	err := s.judgeEntry(ctx, j, entry)
	return j.done(nil), err
}

// judge begins the judgement of a producer.
func (s *Store) judge(id string, settings []Setting, settingsErr error) (*Producer, *judgement) {
	out := &Producer{ID: id, Tables: []ProducerTable{}, Findings: []inspect.Finding{}}
	if settingsErr == nil {
		out.TTL, out.Cleanup = defaultTTL, defaultSweeps
		for _, x := range settings {
			switch x.Key {
			case ttlKey:
				out.TTL = x.Value
			case cleanupKey:
				out.Cleanup = x.Value
			}
		}
	}
	return out, &judgement{out: out, add: collect(&out.Findings), ref: []string{"producer " + id}, now: s.clock.Now()}
}

// judgeEntry judges an entry that could be read, against the logs as they are.
func (s *Store) judgeEntry(ctx context.Context, j *judgement, entry flussrpc.ProducerOffsets) error {
	expires := entry.Expires.UTC()
	j.out.Expires, j.out.Expired = &expires, j.now.After(expires)
	tables, others, err := s.producerTables(ctx, entry)
	j.out.Tables = tables
	j.entry(others, err)
	return err
}

// producerTables finds the tables of an entry by their ids, and asks where their
// logs begin and end. Others are the partitions of these tables that the entry does
// not name: a start undoes them, too.
func (s *Store) producerTables(ctx context.Context, entry flussrpc.ProducerOffsets) (tables, others []ProducerTable, err error) {
	logs := entry.Logs()
	if len(logs) == 0 {
		return []ProducerTable{}, nil, nil
	}
	_, all, err := s.allTables(ctx)
	byID := map[int64]flussrpc.Table{}
	for _, t := range all {
		if t.table.Path.Table != "" {
			byID[t.table.ID] = t.table
		} else {
			err = errors.Join(err, t.err) // it may be the table of the entry
		}
	}
	listed := err == nil
	out := make([]ProducerTable, len(logs))
	errs := make([]error, len(logs))
	each(logs, func(i int, log flussrpc.Log) {
		var offsets []flussrpc.ProducerOffset
		for _, o := range entry.Offsets {
			if o.Log == log {
				offsets = append(offsets, o)
			}
		}
		table, known := byID[log.Table]
		out[i], errs[i] = s.producerTable(ctx, log, table, known, offsets)
		out[i].unread = out[i].unread || !known && !listed
	})
	others, othersErr := s.otherPartitions(ctx, out, byID)
	return out, others, errors.Join(append(errs, err, othersErr)...)
}

// otherPartitions are the partitions of an entry's tables that it does not name.
func (s *Store) otherPartitions(ctx context.Context, named []ProducerTable, byID map[int64]flussrpc.Table) (others []ProducerTable, err error) {
	logs := map[flussrpc.Log]bool{}
	partitioned := map[int64]bool{}
	for _, t := range named {
		if t.Partition != nil && t.Name != "" {
			logs[flussrpc.Log{Table: t.ID, Partition: *t.Partition}], partitioned[t.ID] = true, true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(partitioned)) {
		partitions, listErr := s.client.Partitions(ctx, byID[id].Path)
		err = errors.Join(err, listErr)
		for _, p := range partitions {
			if log := (flussrpc.Log{Table: id, Partition: p.ID}); !logs[log] {
				other, oneErr := s.producerTable(ctx, log, byID[id], true, nil)
				others, err = append(others, other), errors.Join(err, oneErr)
			}
		}
	}
	return others, err
}

func (s *Store) producerTable(ctx context.Context, log flussrpc.Log, table flussrpc.Table, known bool, offsets []flussrpc.ProducerOffset) (ProducerTable, error) {
	out := ProducerTable{ID: log.Table, Buckets: []ProducerBucket{}, Missing: []int32{}}
	if log.Partition >= 0 {
		out.Partition = &log.Partition
	}
	named := map[int32]bool{}
	for _, o := range offsets {
		b := ProducerBucket{Bucket: o.Bucket, State: undoUnknown}
		if !o.Absent {
			b.Baseline = &o.Offset
		}
		out.Buckets = append(out.Buckets, b)
		named[o.Bucket] = true
	}
	if !known {
		return out, nil
	}
	out.Table = table.Path.String()
	for b := range int32(table.Buckets) {
		if !named[b] {
			out.Missing = append(out.Missing, b)
			out.rest = append(out.rest, ProducerBucket{Bucket: b, State: undoUnknown})
		}
	}
	if log.Partition >= 0 {
		partitions, err := s.client.Partitions(ctx, table.Path)
		switch kind := fault.KindOf(err); {
		case err != nil && (kind == fault.Usage || kind == fault.NotFound):
			return out, nil // a table that has no partitions, or is gone, does not have this one
		case err != nil:
			out.unread = true
			return out, err
		}
		at := slices.IndexFunc(partitions, func(p flussrpc.Partition) bool { return p.ID == log.Partition })
		if at < 0 {
			return out, nil
		}
		out.Name = partitions[at].Name
	}
	s.measure(ctx, table, log.Partition, out.Buckets)
	s.measure(ctx, table, log.Partition, out.rest)
	return out, nil
}

// measure asks where the logs of buckets begin and end, and says what a restart does
// to them.
func (s *Store) measure(ctx context.Context, table flussrpc.Table, partition int64, buckets []ProducerBucket) {
	if len(buckets) == 0 {
		return
	}
	ids := make([]int32, len(buckets))
	for i, b := range buckets {
		ids[i] = b.Bucket
	}
	starts := s.client.Offsets(ctx, table, partition, ids, flussrpc.Earliest)
	ends := s.client.Offsets(ctx, table, partition, ids, flussrpc.Latest)
	for i := range buckets {
		b := &buckets[i]
		if starts[i].Err == nil {
			b.Earliest = &starts[i].Offset
		} else {
			b.Problem = safetext.Error(starts[i].Err).String()
		}
		if ends[i].Err == nil {
			b.Latest = &ends[i].Offset
		} else {
			b.Problem = safetext.Error(ends[i].Err).String()
		}
		judgeBaseline(b)
	}
}

// judgeBaseline says what a restart does to a bucket.
func judgeBaseline(b *ProducerBucket) {
	base := int64(0)
	if b.Baseline != nil {
		base = *b.Baseline
	}
	switch {
	case base < 0:
		b.State = undoNegative
	case b.Latest == nil || b.Earliest == nil:
	case base > *b.Latest:
		b.State = undoBeyond
	case base == *b.Latest:
		none := int64(0)
		b.State, b.Undo = undoNothing, &none
	case base < *b.Earliest:
		b.State = undoExpired
	default:
		rows := *b.Latest - base
		b.State, b.Undo = undoRows, &rows
	}
}

// Listing is the producers that can be listed, and what it is a list of.
type Listing struct {
	IDs []string // in order
	// Nodes: it is that of the nodes in ZooKeeper, with what has only a folder in
	// remote storage. Else it is of folders alone: an id whose files were lost is not
	// in it.
	Nodes bool
	// FoldersErr is why folders in remote storage are not in it; nil: they are.
	FoldersErr error
}

// ListProducers lists the producers that the cluster keeps something for. No call
// of Fluss does: ZooKeeper has the whole list, and remote storage one of those with
// files. The error is of a cluster where neither is to be seen from here; faults say
// why ZooKeeper was not read where remote storage was.
func (s *Store) ListProducers(ctx context.Context) (out Listing, faults []error, err error) {
	var nodes, folders []string
	var nodesErr error
	var wg sync.WaitGroup
	if s.nodes != nil {
		wg.Go(func() { nodes, nodesErr = s.nodeIDs(ctx) })
	}
	settings, err := s.settings(ctx)
	if err == nil {
		folders, err = s.folders(ctx, settings)
	}
	wg.Wait()
	out.Nodes = s.nodes != nil && nodesErr == nil
	switch {
	case out.Nodes:
		out.FoldersErr = err
	case err != nil && nodesErr != nil:
		return out, nil, errors.Join(nodesErr, err)
	case err != nil:
		return out, nil, err
	case nodesErr != nil:
		faults = append(faults, nodesErr)
	}
	out.IDs = slices.Compact(slices.Sorted(slices.Values(append(nodes, folders...))))
	return out, faults, nil
}

// folders are the ids that have folders in the cluster's remote storage.
func (s *Store) folders(ctx context.Context, settings []Setting) ([]string, error) {
	if s.files == nil {
		return nil, fault.New(fault.Unsupported, "list producers", "remote storage is not read here, and no call of Fluss lists producers")
	}
	at := slices.IndexFunc(settings, func(x Setting) bool { return x.Key == remoteDirKey })
	if at < 0 || settings[at].Hidden || settings[at].Value == "" {
		return nil, fault.New(fault.Unsupported, "list producers", "the cluster does not tell where its remote storage is").
			WithHint("fluss.zookeeper of the job gives the whole list; or ask about one producer: recoverctl inspect fluss producer ID")
	}
	dir := strings.TrimRight(settings[at].Value, "/") + "/producers"
	names, err := s.files.Folders(ctx, dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.Wrap(fault.NotFound, "list producers", fs.ErrNotExist, "the folder %s is not there, or not seen from here", safetext.Of(dir)).
			WithHint("no producer may have registered yet; or path-mappings must say where the cluster's remote.data.dir is seen from here; or fluss.zookeeper of the job gives the list")
	case err != nil && fault.KindOf(err) == fault.Bug:
		return nil, fault.Wrap(fault.Unreachable, "list producers", err, "the folder %s can't be read", safetext.Of(dir)).WithHint("path-mappings of the profile say where its files are seen from here")
	case err != nil:
		return nil, err
	}
	return slices.DeleteFunc(names, func(id string) bool { return flussrpc.CheckProducerID(id) != nil }), nil
}

// Producers reads the entries of several producers.
func (s *Store) Producers(ctx context.Context, ids []string) (out []Producer, faults []error) {
	out = make([]Producer, len(ids))
	errs := make([][]error, len(ids))
	var once sync.Once
	var folders []string
	var unseen error
	list := func(ctx context.Context, settings []Setting) ([]string, error) {
		once.Do(func() { folders, unseen = s.folders(ctx, settings) })
		return folders, unseen
	}
	each(ids, func(i int, id string) {
		p, faults, err := s.producer(ctx, id, list)
		out[i], errs[i] = p, faults
		if err != nil {
			out[i] = Producer{ID: id, Tables: []ProducerTable{}, Verdict: UnknownSafety, Findings: []inspect.Finding{}}
			errs[i] = []error{err}
		}
	})
	for _, e := range errs {
		faults = append(faults, e...)
	}
	return out, faults
}
