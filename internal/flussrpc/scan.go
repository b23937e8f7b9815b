package flussrpc

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
)

// Span is the part of one bucket that is read: [From, To).
type Span struct {
	Bucket   int32
	From, To int64
}

// Piece is one batch of a bucket as a scan shows it. Of its rows those from From
// on and before To are meant: others were shown before, or were not asked for.
type Piece struct {
	Bucket   int32
	Batch    Batch
	From, To int64
}

// Gap is what a scan could not show between rows that it did show.
type Gap struct {
	From, To int64
	Err      error
}

// SpanResult is how far a bucket was read.
type SpanResult struct {
	Span
	Read int64 // every row of [From, Read) was shown, but for those of Gaps
	Gaps []Gap
	Err  error // a fault: why reading ended before To; nil: it did not
}

// Scan is a question for the rows of several buckets of one log.
type Scan struct {
	Table     Table
	Partition int64 // NoPartition: the table has none
	Spans     []Span
	Files     Files // of remote storage; nil: rows that lie there become gaps

	// Visit is shown the batches of each bucket in the order of their offsets, of
	// several buckets at the same time. It must not keep a batch. Its error ends the
	// reading of that bucket.
	Visit func(Piece) error

	// Passed is told, by the goroutine that Visit was called by, that a bucket was
	// shown up to an offset; it may be nil.
	Passed func(bucket int32, next int64)
}

// Scan reads every span to its end, several buckets a request, each from its
// leader, and follows leaders as they move. A bucket that nobody serves is waited
// for as long as the client's patience lasts; then it is given up, and the others
// go on. What was deleted meanwhile, and what lies in remote storage that can't be
// read, is a gap. The results are in the order of the spans.
//
// It ends early when ctx does: the results are then what was read until then.
func (c *Client) Scan(ctx context.Context, q Scan) []SpanResult {
	whole := ctx
	ctx, cancel := context.WithCancel(whole)
	s := &scanning{
		client: c, q: q, ctx: ctx, whole: whole, events: make(chan func()), busy: map[string]bool{}, byID: map[int32]*reading{},
		remotes: make(chan struct{}, remoteReaders), settle: min(c.config.Patience, settleTime),
	}
	now := time.Now()
	for _, span := range q.Spans {
		r := &reading{SpanResult: SpanResult{Span: span, Read: span.From}, at: span.From, progress: now}
		r.over = span.From >= span.To
		s.readings = append(s.readings, r)
		s.byID[span.Bucket] = r
	}
	var shown sync.WaitGroup
	for range min(max(2, runtime.GOMAXPROCS(0)), maxShowing, max(len(q.Spans), 1)) {
		w := make(chan showing, 2)
		s.workers = append(s.workers, w)
		shown.Go(func() { s.show(w) })
	}
	s.queue = slices.Clone(s.readings)
	s.run()
	cancel() // whatever is still asked is of no use
	s.asking.Wait()
	for _, w := range s.workers {
		close(w)
	}
	shown.Wait()
	cancelled := whole.Err()
	out := make([]SpanResult, 0, len(s.readings))
	for _, r := range s.readings {
		if err := r.refused; err != nil {
			r.Err = err // what could not be shown came before what could not be read
		} else if cancelled != nil && r.Read < r.To {
			r.Err = cmp.Or(r.Err, cancelled)
		}
		out = append(out, r.SpanResult)
	}
	return out
}

const (
	maxShowing    = 4               // goroutines that rows are shown by
	remoteReaders = 2               // buckets that are read from remote storage at the same time
	settleTime    = 5 * time.Second // how long a log end that went back is waited for
)

// reading is one bucket of a scan. All but Read and refused is the loop's.
type reading struct {
	SpanResult // Read is the showing goroutine's until the end
	at         int64
	served     bool      // the last request brought rows
	asked      bool      // a request, or a reader of remote storage, is at it
	over       bool      // it is read as far as it will be
	retry      time.Time // not before this
	moved      time.Time // metadata must be newer than this
	tries      int
	progress   time.Time // of the last rows
	need       int       // bytes of a batch that was cut; 0: none was
	alone      bool      // even so it was cut: it is asked for without others

	mu      sync.Mutex
	refused error // of what was shown
}

// broken reports whether showing has failed.
func (r *reading) broken() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused != nil
}

// showing is rows to be shown: whole batches.
type showing struct {
	r       *reading
	records []byte
	buffer  *buffer // that they lie in, held until they were shown; nil: they are nobody else's
	from    int64   // rows before it were shown
	next    int64   // the offset behind them
	gap     bool    // there are none: they are left out
}

// scanning is one scan. Its loop alone changes it; everything that waits for a
// server or a store is a goroutine that hands the loop what to do with the answer.
type scanning struct {
	client   *Client
	q        Scan
	ctx      context.Context // of what is asked
	whole    context.Context // of the scan: what has come is still shown when asking ends
	events   chan func()
	asking   sync.WaitGroup
	readings []*reading // in the order of the spans
	queue    []*reading // in the order of asking
	byID     map[int32]*reading
	workers  []chan showing
	busy     map[string]bool // addresses with a request on its way
	route    route
	routing  bool
	remotes  chan struct{}
	settle   time.Duration
}

// background runs work, and what it returns in the loop.
func (s *scanning) background(work func() func()) {
	s.asking.Go(func() {
		then := work()
		select {
		case s.events <- then:
		case <-s.ctx.Done():
		}
	})
}

func (s *scanning) run() {
	for s.ctx.Err() == nil {
		wait, open := s.launch(time.Now())
		if !open {
			return
		}
		timer := time.NewTimer(wait)
		select {
		case then := <-s.events:
			then()
		case <-timer.C:
		case <-s.ctx.Done():
		}
		timer.Stop()
	}
}

// launch asks whatever can be asked now. It returns how long to wait for more at
// the most, and whether there is anything left to read.
func (s *scanning) launch(now time.Time) (wait time.Duration, open bool) {
	const idle = time.Minute
	wait = idle
	wants := map[string][]*reading{}
	for _, r := range s.queue {
		if r.over || r.asked {
			open = open || !r.over
			continue
		}
		if r.broken() {
			r.over = true
			continue
		}
		open = true
		if now.Before(r.retry) {
			wait = min(wait, r.retry.Sub(now))
			continue
		}
		if s.route.at.IsZero() || s.route.at.Before(r.moved) {
			s.reroute(now)
			continue
		}
		leader, err := s.client.leader(s.q.Table, s.q.Partition, s.route, r.Bucket)
		if err != nil {
			s.failed(r, err, true)
			wait = min(wait, max(r.retry.Sub(now), time.Millisecond))
			continue
		}
		if list := wants[leader.Address]; !s.busy[leader.Address] && len(list) < maxFetchBuckets {
			wants[leader.Address] = append(list, r)
		}
	}
	for address, list := range wants {
		s.fetch(address, list)
	}
	return wait, open
}

// reroute asks where the buckets are now.
func (s *scanning) reroute(now time.Time) {
	if s.routing {
		return
	}
	s.routing = true
	s.background(func() func() {
		route, err := s.client.routed(s.ctx, s.q.Table, s.q.Partition, now)
		return func() {
			s.routing = false
			if err == nil {
				s.route = route
				return
			}
			for _, r := range s.readings {
				if !r.over && !r.asked && !r.retry.After(now) {
					s.failed(r, err, true)
				}
			}
		}
	})
}

// failed notes that a bucket could not be read on. What may pass is tried again,
// until patience ends.
func (s *scanning) failed(r *reading, err error, moved bool) {
	s.failedFor(r, err, moved, s.client.config.Patience)
}

func (s *scanning) failedFor(r *reading, err error, moved bool, patience time.Duration) {
	now := time.Now()
	passing := fault.KindOf(err) == fault.Unreachable || patience != s.client.config.Patience
	if !passing || now.Sub(r.progress) >= patience {
		r.Err, r.over = err, true
		return
	}
	r.tries++
	r.retry = now.Add(pause(r.tries))
	if moved {
		r.moved = now
	}
}

// wanted are those of a list that one request asks for, and how much of each. A
// server gives a whole batch, however large, of one bucket alone, which is not
// always the first; of the others it cuts what goes beyond the limit.
func wanted(list []*reading) ([]*reading, []want) {
	if list[0].alone {
		list = list[:1]
	}
	each := min(mostOfBucket, max(leastOfBucket, fetchBytes/len(list)))
	wants := make([]want, 0, len(list))
	sum := 0
	for _, r := range list {
		limit := max(each, r.need)
		if sum += limit; sum > fetchBytes && len(wants) > 0 {
			break
		}
		wants = append(wants, want{r.Bucket, r.at, limit})
	}
	return list[:len(wants)], wants
}

// fetch asks one leader for the next rows of some buckets.
func (s *scanning) fetch(address string, list []*reading) {
	s.busy[address] = true
	list, wants := wanted(list)
	for _, r := range list {
		r.asked = true
	}
	s.background(func() func() {
		var answer []fetchedBucket
		var held *buffer
		conn, err := s.client.connect(s.ctx, address)
		if err == nil {
			answer, held, err = conn.fetch(s.ctx, Log{s.q.Table.ID, s.q.Partition}, wants)
		}
		return func() {
			delete(s.busy, address)
			for _, r := range list {
				r.asked = false
			}
			if err != nil {
				for _, r := range list {
					s.failed(r, err, true)
				}
				return
			}
			defer held.release()
			// Those that got nothing are asked for first the next time.
			told := make(map[int32]bool, len(answer))
			size := 0
			for _, b := range answer {
				size += len(b.records)
			}
			for _, b := range answer {
				r := s.byID[b.bucket]
				if r == nil || told[b.bucket] {
					continue
				}
				told[b.bucket] = true
				s.answered(r, answered{b, conn, held, size >= fetchBytes})
			}
			for _, r := range list {
				if !told[r.Bucket] {
					s.failed(r, fault.New(fault.Corrupt, "read rows", "%s says nothing of bucket %d of %s", conn.name(), r.Bucket, s.name()).WithRef(s.q.Table.Path.ref()), false)
				}
			}
			s.turn(list)
		}
	})
}

// turn puts buckets that just got rows behind the others: an answer is full before
// its last bucket's turn.
func (s *scanning) turn(list []*reading) {
	served := map[*reading]bool{}
	for _, r := range list {
		served[r] = r.served
		r.served = false
	}
	slices.SortStableFunc(s.queue, func(a, b *reading) int {
		switch {
		case served[a] == served[b]:
			return 0
		case served[a]:
			return 1
		default:
			return -1
		}
	})
}

func (s *scanning) name() string { return what(s.q.Table, s.q.Partition) }
