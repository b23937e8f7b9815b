package kafka

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
)

var _ inspect.CallReader = (*Store)(nil)

const (
	// The first answer for a partition is small, so that something is seen soon,
	// and the later ones are large, since each costs time by itself.
	scanBytesFirst = 256 << 10
	scanBytes      = 4 << 20

	scanWorkers = 4 // partitions that are read at the same time, at most
)

// ReadCalls implements [inspect.CallReader]. Several partitions are read at the
// same time, each as a read_uncommitted reader sees it, which is what a restore
// is. A partition that can't be read on is left, and the others are read. Where a
// log was cut in front of the reader, it goes on from the new log start. Cancelling
// ctx ends the scan; what was found is returned.
//
// Each network step is bounded by the connection's request timeout, the whole
// only by ctx. Of each partition that is read, three answers are in memory at
// most.
func (s *Store) ReadCalls(ctx context.Context, data inspect.DataTopic, q inspect.CallQuestion, watch func(inspect.CallUpdate)) (inspect.DurableCalls, error) {
	c := callScan{
		store: s, scan: inspect.NewCallScan(q, data.IDs()), watch: watch, ask: q.Final,
		extent: inspect.ScanExtent{From: inspect.Offsets{}, To: inspect.Offsets{}, Read: inspect.Offsets{}},
	}
	c.read(ctx, data, q)
	c.extent.Partial = len(c.faults) > 0
	return c.scan.Finish(c.extent), errors.Join(c.faults...)
}

// callScan is one reading of a topic.
type callScan struct {
	store *Store
	topic topic
	scan  *inspect.CallScan
	watch func(inspect.CallUpdate) // may be nil

	mu     sync.Mutex
	extent inspect.ScanExtent
	final  inspect.DurableCalls // what the watcher is to be told; only with ask
	ask    bool
	faults []error
	over   bool // the scan has ended as a whole, and that was said
	pass   int
	span   int64
	total  int64
}

func (c *callScan) failed(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = append(c.faults, err)
}

func (c *callScan) read(ctx context.Context, data inspect.DataTopic, q inspect.CallQuestion) {
	var err error
	if c.topic, err = c.store.described(ctx, data); err != nil {
		c.failed(err)
		return
	}
	windows, extent, errs := q.Windows(data)
	c.extent, c.faults = extent, append(c.faults, errs...)
	c.windows(ctx, 1, windows)
	if again := c.scan.Second(c.extent); len(c.faults) == 0 && len(again) > 0 {
		c.windows(ctx, 2, again)
	}
	if len(c.faults) == 0 {
		if err := c.store.unchanged(ctx, c.topic); err != nil {
			c.stop(err)
		}
	}
}

// windows reads the windows of one pass.
func (c *callScan) windows(ctx context.Context, pass int, windows []inspect.Window) {
	c.mu.Lock()
	c.pass, c.span, c.total = pass, 0, 0
	for _, w := range windows {
		c.total += w.To - w.From
	}
	c.mu.Unlock()
	defer c.watching()()

	// The longest first, so that the workers end at about the same time.
	queue := make(chan inspect.Window, len(windows))
	for _, w := range slices.SortedStableFunc(slices.Values(windows), func(a, b inspect.Window) int { return cmp.Compare(b.To-b.From, a.To-a.From) }) {
		queue <- w
	}
	close(queue)
	var wg sync.WaitGroup
	for range min(len(windows), scanWorkers, max(2, runtime.GOMAXPROCS(0))) {
		wg.Go(func() { c.work(ctx, queue) })
	}
	wg.Wait()
}

// work reads windows until there are none left or the scan ends, over a
// connection of its own.
func (c *callScan) work(ctx context.Context, queue <-chan inspect.Window) {
	memory := &scratch{}
	client, err := c.store.conn.NewClient(kgo.WithPools(memory))
	if err != nil {
		c.failed(err)
		return
	}
	defer client.Close()
	walk := batchWalk{scratch: memory}
	var ok bool
	if walk.decompress, ok = client.OptValue(kgo.WithDecompressor).(kgo.Decompressor); !ok {
		walk.decompress = kgo.DefaultDecompressor(memory)
	}
	for w := range queue {
		if w.From < w.To && !c.partition(ctx, client, &walk, w) {
			return
		}
	}
}

// partition reads one window. It is false when the whole scan is over.
func (c *callScan) partition(ctx context.Context, client *kgo.Client, walk *batchWalk, w inspect.Window) (goOn bool) {
	r := newReader(c.store, c.topic, w.To)
	r.partition, r.uncommitted, r.raw, r.client = w.Partition, true, true, client
	r.limit, r.most = scanBytesFirst, scanBytes
	part := c.scan.Partition(w.Partition)
	walk.visit, walk.turn = part.Visit, part
	walk.records, walk.control, walk.aborted, walk.open = 0, 0, 0, nil
	at, lost := w.From, int64(0)
	defer func() { c.explain(walk, at-w.From-lost) }()
	for {
		err := c.stretch(ctx, r, walk, &at)
		if err == nil {
			c.finished(w.Partition, lost > 0)
			return true
		}
		start, cut := c.cut(ctx, r, at, err)
		if ctx.Err() != nil {
			c.stop(c.store.conn.Explain(ctx.Err(), kafkaconn.ReadRecords, kafkaconn.Topic(c.topic.name)))
			return false
		}
		f := fault.Of(err)
		if slices.Contains(f.Refs, string(kafkaconn.Topic(c.topic.name))) {
			c.stop(err) // the topic is another one
			return false
		}
		if !cut {
			c.failed(fault.Wrap(f.Kind, f.Op, err, "partition %d was read from offset %s to %s, and not to its end %s",
				w.Partition, figures.Group(w.From), figures.Group(at), figures.Group(w.To)).WithHint("%s", f.Hint).WithRef(f.Refs...))
			return true
		}
		c.failed(fault.Wrap(f.Kind, f.Op, err, "partition %d was read from offset %s to %s, and what followed was deleted meanwhile: it was read on from %s",
			w.Partition, figures.Group(w.From), figures.Group(at), figures.Group(start)).WithHint("scan again").WithRef(f.Refs...))
		lost += start - at
		c.passed(w.Partition, start-at, start)
		at = start
	}
}

// finished takes what is final when a partition was read to its end. Where some of
// it was lost on the way, nothing is: the answer says so with its end.
func (c *callScan) finished(partition int32, lost bool) {
	if !c.ask || lost {
		return
	}
	final := c.scan.Final(partition)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.final.Actions = append(c.final.Actions, final.Actions...)
	c.final.Siblings = append(c.final.Siblings, final.Siblings...)
	c.final.Removed = append(c.final.Removed, final.Removed...)
}

// stretch reads on from at, and moves it, until the end of the reader's window.
func (c *callScan) stretch(ctx context.Context, r *reader, walk *batchWalk, at *int64) error {
	walk.passed = func(next int64) {
		if next = min(next, r.end); next > *at {
			c.passed(r.partition, next-*at, next)
			*at = next
		}
	}
	for p, err := range r.pages(ctx, *at) {
		if err != nil {
			return err
		}
		if err := walk.walk(p.batches, *at, r.end); err != nil {
			return r.undecodable(err, *at)
		}
		walk.passed(p.next) // it may be behind the last batch
	}
	return nil
}

// passed notes how far a partition was read.
func (c *callScan) passed(partition int32, span, at int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.span += span
	if c.pass == 1 {
		c.extent.Read[partition] = at
	}
}

// cut is where a log begins now that was cut in front of the reader; false when
// that is not what has happened.
func (c *callScan) cut(ctx context.Context, r *reader, at int64, err error) (start int64, ok bool) {
	if !errors.Is(err, kerr.OffsetOutOfRange) {
		return 0, false
	}
	listed := c.store.list(ctx, c.topic, logStart)[r.partition]
	if listed.err != nil || listed.offset <= at {
		return 0, false
	}
	return min(listed.offset, r.end), true
}

// explain adds what the offsets of a partition hold beside records.
func (c *callScan) explain(walk *batchWalk, span int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pass != 1 {
		return
	}
	c.extent.Control += walk.control
	c.extent.Aborted += walk.aborted
	c.extent.Open += walk.undecided()
	c.extent.Gaps += max(0, span-walk.records-walk.control)
}

// stop says, once, why the scan ended as a whole.
func (c *callScan) stop(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return
	}
	c.over = true
	f := fault.Of(err)
	c.faults = append(c.faults, fault.Wrap(f.Kind, f.Op, err, "the scan of topic %s ended after %s of %s offsets", show(c.topic.name), figures.Group(c.span), figures.Group(c.total)).
		WithHint("%s", f.Hint).WithRef(f.Refs...))
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
