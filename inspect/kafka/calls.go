package kafka

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
)

var _ inspect.CallReader = (*Store)(nil)

// ReadCalls implements [inspect.CallReader].
func (s *Store) ReadCalls(ctx context.Context, data inspect.DataTopic, q inspect.CallQuestion, watch func(inspect.CallUpdate)) (inspect.DurableCalls, error) {
	scan := inspect.NewCallScan(q, data.IDs())
	extent := inspect.ScanExtent{From: inspect.Offsets{}, To: inspect.Offsets{}, Read: inspect.Offsets{}}
	t, err := s.described(ctx, data)
	if err != nil {
		extent.Partial = true
		return scan.Finish(extent), err
	}
	var faults []error
	var windows []inspect.Window
	for _, p := range data.Partitions {
		if p.Err != nil {
			faults = append(faults, p.Err)
			continue
		}
		from := p.Log.Start
		if at, ok := q.From[p.ID]; ok && at > from {
			from = min(at, p.Log.End)
		}
		extent.From[p.ID], extent.To[p.ID], extent.Read[p.ID] = from, p.Log.End, from
		windows = append(windows, inspect.Window{Partition: p.ID, From: from, To: p.Log.End})
	}
	c := callScan{store: s, topic: t, scan: scan, watch: watch, read: extent.Read}
	faults = append(faults, c.pass(ctx, 1, windows)...)
	if len(faults) == 0 {
		faults = append(faults, c.pass(ctx, 2, scan.Second(extent))...)
	}
	if err := s.unchanged(ctx, t); err != nil && len(faults) == 0 {
		faults = append(faults, err)
	}
	extent.Partial = len(faults) > 0
	return scan.Finish(extent), errors.Join(faults...)
}

// callScan is one reading of a topic.
type callScan struct {
	store *Store
	topic topic
	scan  *inspect.CallScan
	watch func(inspect.CallUpdate) // may be nil

	mu    sync.Mutex
	read  inspect.Offsets // how far each partition was read in the first pass
	span  int64
	total int64
}

// updatePause is the time between two updates.
const updatePause = 100 * time.Millisecond

// pass reads the windows, several partitions at a time.
func (c *callScan) pass(ctx context.Context, number int, windows []inspect.Window) []error {
	if len(windows) == 0 {
		return nil
	}
	c.span, c.total = 0, 0
	for _, w := range windows {
		c.total += w.To - w.From
	}
	stop := make(chan struct{})
	var told sync.WaitGroup
	if c.watch != nil {
		told.Go(func() {
			ticker := time.NewTicker(updatePause)
			defer ticker.Stop()
			for {
				select {
				case <-stop:
					c.tell(number, true)
					return
				case <-ticker.C:
					c.tell(number, false)
				}
			}
		})
	}
	const workers = 3
	places := make(chan struct{}, workers)
	errs := make([]error, len(windows))
	var wg sync.WaitGroup
	for i, w := range windows {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			errs[i] = c.partition(ctx, number, w)
		})
	}
	wg.Wait()
	close(stop)
	told.Wait()
	var out []error
	for _, err := range errs {
		if err != nil {
			out = append(out, err)
		}
	}
	return out
}

// partition reads one window.
func (c *callScan) partition(ctx context.Context, number int, w inspect.Window) error {
	r := newReader(c.store, c.topic, w.To)
	r.partition, r.uncommitted = w.Partition, true
	part := c.scan.Partition(w.Partition)
	at := w.From
	for p, err := range r.pages(ctx, w.From) {
		if err != nil {
			return err
		}
		part.Lock()
		for _, record := range p.records {
			if record.Offset >= w.To {
				break
			}
			part.Visit(record.Offset, record.Timestamp.UnixMilli(), record.Key, record.Value)
		}
		part.Unlock()
		next := min(p.next, w.To)
		c.mu.Lock()
		c.span += next - at
		if number == 1 {
			c.read[w.Partition] = next
		}
		c.mu.Unlock()
		at = next
	}
	return nil
}

// tell gives the watcher what is new.
func (c *callScan) tell(number int, complete bool) {
	changed, closed := c.scan.News(complete)
	records, bytes := c.scan.Seen()
	open := c.scan.OpenActions()
	c.mu.Lock()
	span, total := c.span, c.total
	c.mu.Unlock()
	c.watch(inspect.CallUpdate{
		Progress: inspect.CallProgress{Pass: number, Records: records, Bytes: bytes, Span: span, Total: total, Open: open},
		Changed:  changed, Closed: closed,
	})
}
