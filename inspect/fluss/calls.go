package fluss

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
)

var _ inspect.CallReader = (*Store)(nil)

// ReadCalls implements [inspect.CallReader]. Buckets are read side by side, several
// a request, and rows in remote storage from there. A bucket that can't be read on
// is left, and the others are read. Cancelling ctx ends the scan; what was found is
// returned.
func (s *Store) ReadCalls(ctx context.Context, data inspect.DataTopic, q inspect.CallQuestion, watch func(inspect.CallUpdate)) (inspect.DurableCalls, error) {
	table, err := s.described(ctx, data, "scan for calls")
	if err == nil && !placesByHash(table) {
		q.Job.BucketOf = nil
	}
	c := callScan{
		store: s, scan: inspect.NewCallScan(q, data.IDs()), watch: watch, ask: q.Final, rows: map[int32]int64{}, names: map[string]string{},
		extent: inspect.ScanExtent{From: inspect.Offsets{}, To: inspect.Offsets{}, Read: inspect.Offsets{}},
	}
	if err != nil {
		c.faults = append(c.faults, err)
	} else {
		c.read(ctx, table, data, q)
	}
	c.extent.Partial = len(c.faults) > 0
	out := c.scan.Finish(c.extent)
	c.named(ctx, out.Actions, out.Siblings, out.Removed)
	return out, errors.Join(c.faults...)
}

// callScan is one reading of a table.
type callScan struct {
	store *Store
	table flussrpc.Table
	scan  *inspect.CallScan
	watch func(inspect.CallUpdate) // may be nil

	readers readers
	naming  sync.Mutex // held while rows are read for the texts of keys

	mu     sync.Mutex
	names  map[string]string // texts of keys, by their digests
	extent inspect.ScanExtent
	faults []error
	final  inspect.DurableCalls // what the watcher is to be told; only with ask
	ask    bool
	rows   map[int32]int64 // shown in the first pass, by bucket
	at     map[int32]int64 // how far each bucket was read in this pass
	shown  map[int32]int64 // up to where every batch of it was shown
	ends   map[int32]int64
	pass   int
	span   int64
	total  int64
}

// placesByHash reports whether a table's rows lie where Fluss's own hash of their
// bucket key says: a lake's format brings a hash of its own, and without a bucket key
// rows lie anywhere.
func placesByHash(t flussrpc.Table) bool {
	const own = "lance" // the one lake that takes Fluss's
	lake := t.Properties[lakeFormat]
	return len(t.BucketKey) > 0 && (lake == "" || strings.EqualFold(lake, own))
}

func (c *callScan) read(ctx context.Context, table flussrpc.Table, data inspect.DataTopic, q inspect.CallQuestion) {
	c.table = table
	c.readers = readers{schemas: c.store.client.NewSchemas(table)}
	defer c.readers.close()
	windows, extent, errs := q.Windows(data)
	c.extent, c.faults = extent, append(c.faults, errs...)
	c.windows(ctx, 1, windows)
	if again := c.scan.Second(c.extent); len(c.faults) == 0 && len(again) > 0 {
		c.windows(ctx, 2, again)
	}
	if len(c.faults) == 0 {
		if err := c.store.unchanged(ctx, table); err != nil {
			c.faults = append(c.faults, err)
		}
	}
}

// windows reads the windows of one pass.
func (c *callScan) windows(ctx context.Context, pass int, windows []inspect.Window) {
	q := flussrpc.Scan{Table: c.table, Partition: flussrpc.NoPartition, Files: c.store.files, Passed: func(bucket int32, next int64) { c.passed(ctx, bucket, next) }}
	if c.store.files == nil {
		q.Files = nil
	}
	c.mu.Lock()
	c.pass, c.span, c.total, c.at, c.shown, c.ends = pass, 0, 0, map[int32]int64{}, map[int32]int64{}, map[int32]int64{}
	for _, w := range windows {
		c.total += w.To - w.From
		c.at[w.Partition], c.shown[w.Partition], c.ends[w.Partition] = w.From, w.From, w.To
		q.Spans = append(q.Spans, flussrpc.Span{Bucket: w.Partition, From: w.From, To: w.To})
	}
	c.mu.Unlock()
	q.Visit = func(p flussrpc.Piece) error { return c.visit(ctx, p) }
	stop := c.watching()
	results := c.store.client.Scan(ctx, q)
	stop()
	for _, r := range results {
		c.result(ctx, r)
	}
	if ctx.Err() != nil {
		c.faults = append(c.faults, fault.Wrap(fault.KindOf(ctx.Err()), "scan for calls", ctx.Err(), "the scan of table %s ended after %s of %s rows", show(c.table.Path), figures.Group(c.span), figures.Group(c.total)).
			WithRef("table "+show(c.table.Path)))
	}
}

// visit shows the rows of one batch to the engine.
func (c *callScan) visit(ctx context.Context, p flussrpc.Piece) error {
	part := c.scan.Partition(p.Bucket)
	r := c.readers.take()
	defer c.readers.give(r)
	part.Lock()
	defer part.Unlock()
	rows := int64(0)
	err := r.Rows(ctx, p.Batch, func(row flussrpc.Picked) error {
		if row.Offset >= p.From && row.Offset < p.To {
			rows++
			payload := row.Cells[1]
			if payload == nil {
				// The job's store writes none and can't read one: to it it is no end of an
				// action, as a null record is on a topic.
				payload = []byte{}
			}
			part.Visit(row.Offset, row.Timestamp, row.Cells[0], payload)
		}
		return nil
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pass == 1 {
		c.rows[p.Bucket] += rows
	}
	if p.Batch.BaseOffset <= c.shown[p.Bucket] {
		c.shown[p.Bucket] = max(c.shown[p.Bucket], p.Batch.Next())
	}
	return err
}

// passed notes how far a bucket was read.
func (c *callScan) passed(ctx context.Context, bucket int32, next int64) {
	c.mu.Lock()
	c.span += next - c.at[bucket]
	c.at[bucket] = next
	if c.pass == 1 {
		c.extent.Read[bucket] = next
	}
	whole := c.ask && next >= c.ends[bucket] && c.shown[bucket] >= next
	c.mu.Unlock()
	if whole {
		c.finished(ctx, bucket)
	}
}

// finished takes what is final when a bucket was read to its end. Where some of it was
// lost on the way, it is not asked: the answer says so with its end.
func (c *callScan) finished(ctx context.Context, bucket int32) {
	final := c.scan.Final(bucket)
	c.named(ctx, final.Actions, final.Siblings, final.Removed)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.final.Actions = append(c.final.Actions, final.Actions...)
	c.final.Siblings = append(c.final.Siblings, final.Siblings...)
	c.final.Removed = append(c.final.Removed, final.Removed...)
}

// result says what of a bucket could not be read.
func (c *callScan) result(ctx context.Context, r flussrpc.SpanResult) {
	lost := int64(0)
	for _, g := range r.Gaps {
		lost += g.To - g.From
		f := fault.Of(g.Err)
		c.faults = append(c.faults, fault.Wrap(f.Kind, f.Op, g.Err, "bucket %d was not read from offset %s to %s", r.Bucket, figures.Group(g.From), figures.Group(g.To)).
			WithHint("%s", f.Hint).WithRef(f.Refs...))
	}
	if r.Err != nil && ctx.Err() == nil {
		f := fault.Of(r.Err)
		c.faults = append(c.faults, fault.Wrap(f.Kind, f.Op, r.Err, "bucket %d was read from offset %s to %s, and not to its end %s", r.Bucket, figures.Group(r.From), figures.Group(r.Read), figures.Group(r.To)).
			WithHint("%s", f.Hint).WithRef(f.Refs...))
	}
	if c.pass == 1 {
		c.extent.Read[r.Bucket] = r.Read
		c.extent.Gaps += max(0, r.Read-r.From-lost-c.rows[r.Bucket])
	}
}

// readers are readers of rows that nobody uses now.
type readers struct {
	schemas *flussrpc.Schemas
	mu      sync.Mutex
	free    []*flussrpc.ColumnReader
}

func (r *readers) take() *flussrpc.ColumnReader {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.free); n > 0 {
		out := r.free[n-1]
		r.free = r.free[:n-1]
		return out
	}
	return r.schemas.Columns(stateKey, statePayload)
}

func (r *readers) give(c *flussrpc.ColumnReader) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.free = append(r.free, c)
}

func (r *readers) close() {
	for _, c := range r.free {
		c.Close()
	}
}

// watching tells the watcher what is new from time to time, and for the last time
// when the returned function is called.
func (c *callScan) watching() (end func()) {
	if c.watch == nil {
		return func() {}
	}
	return inspect.Telling(c.tell)
}

// tell gives the watcher what is new.
func (c *callScan) tell(complete bool) {
	changed, closed := c.scan.News(complete)
	u := inspect.CallUpdate{Changed: changed, Closed: closed}
	u.Progress.Records, u.Progress.Bytes, u.Progress.Open = c.scan.Seen()
	c.mu.Lock()
	u.Progress.Pass, u.Progress.Span, u.Progress.Total = c.pass, c.span, c.total
	u.Final, c.final = c.final, inspect.DurableCalls{}
	c.mu.Unlock()
	c.watch(u)
}
