package flussrpc

import (
	"errors"
	"fmt"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// answered is what a leader answered for one bucket.
type answered struct {
	fetchedBucket
	conn *Conn
	held *buffer // that the records lie in
	full bool    // the answer is: nothing may be because of the others
}

// answered acts on an answer.
func (s *scanning) answered(r *reading, b answered) {
	conn := b.conn
	switch {
	case b.err != nil && b.err.Code == LogOffsetOutOfRange:
		s.outOfRange(r, s.refused(r, b.err, conn))
	case b.err != nil:
		// What a server has no code for may pass as well.
		s.failed(r, s.refused(r, b.err, conn), b.err.Code.Moved())
	case b.remote != nil && b.remote.end() > r.at:
		s.readRemote(r, b.remote)
	case len(b.records) > 0:
		records, next := whole(b.records, r.at)
		if len(records) > 0 && next > r.at {
			s.advance(r, records, b.held, next)
			return
		}
		if r.cut(b.records) {
			return
		}
		// They are shown to say what is wrong with them.
		if s.hand(showing{r: r, records: b.records, buffer: b.held, from: r.at, next: r.at}) {
			s.failed(r, s.stuck(r, conn), false)
		}
	case b.full && r.at < b.end:
	case b.end < r.To && r.at >= b.end:
		err := fault.New(fault.Drift, "read rows", "the log of bucket %d of %s went back: its end was %d and is %d", r.Bucket, s.name(), r.To, b.end).
			WithHint("rows were lost with a server: compare the replicas (recoverctl inspect fluss buckets), and look at the recovery points again").WithRef(s.q.Table.Path.ref())
		s.failedFor(r, err, true, s.settle)
	default:
		s.failedFor(r, s.stuck(r, conn), true, s.settle)
	}
}

func (s *scanning) refused(r *reading, e *Error, conn *Conn) error {
	return refusal("read rows", e, "%s does not give the rows of bucket %d of %s from offset %d on", conn.name(), r.Bucket, s.name(), r.at).WithRef(s.q.Table.Path.ref())
}

// stuck is the fault of a log that says that it goes on and gives nothing.
func (s *scanning) stuck(r *reading, conn *Conn) error {
	return fault.New(fault.Drift, "read rows", "%s gives no rows of bucket %d of %s from offset %d on, and says that there are some", conn.name(), r.Bucket, s.name(), r.at).
		WithHint("of a table with table.datalake.enabled these rows may lie in the lake alone").WithRef(s.q.Table.Path.ref())
}

// cut notes that what came is the beginning of a batch: it is asked for whole. One
// that was asked for whole, and alone, is not cut but damaged.
func (r *reading) cut(records []byte) bool {
	if len(records) >= headerSize0 {
		size, err := batchSize(records)
		if err != nil || size <= int64(len(records)) {
			return false
		}
		if int(size) > r.need {
			r.need = int(size)
			return true
		}
	}
	if r.alone {
		return false
	}
	r.alone = true
	return true
}

// advance hands records over to be shown, and moves the bucket on.
func (s *scanning) advance(r *reading, records []byte, held *buffer, next int64) {
	if !s.hand(showing{r: r, records: records, buffer: held, from: r.at, next: next}) {
		return
	}
	s.moved(r, next)
	r.served = true
}

// moved notes that a bucket is read up to an offset.
func (s *scanning) moved(r *reading, next int64) {
	r.at, r.tries, r.retry, r.progress, r.alone = next, 0, time.Time{}, time.Now(), false
	if r.at >= r.To {
		r.over = true
	}
}

// hand gives rows to the goroutine that shows those of their bucket.
func (s *scanning) hand(w showing) bool {
	w.buffer.hold()
	select {
	case s.workers[int(w.r.Bucket)%len(s.workers)] <- w:
		return true
	case <-s.ctx.Done():
		return false
	}
}

// show shows rows until there are none left.
func (s *scanning) show(work <-chan showing) {
	for w := range work {
		s.showNext(w)
		w.buffer.release()
	}
}

func (s *scanning) showNext(w showing) {
	if s.whole.Err() != nil || w.r.broken() {
		return
	}
	if err := s.showOne(w); err != nil {
		w.r.mu.Lock()
		w.r.refused = err
		w.r.mu.Unlock()
		return
	}
	w.r.Read = min(w.next, w.r.To)
	if s.q.Passed != nil {
		s.q.Passed(w.r.Bucket, w.r.Read)
	}
}

func (s *scanning) showOne(w showing) error {
	r := w.r
	if w.gap {
		return nil
	}
	damaged := func(err error) error {
		return fault.Wrap(fault.Corrupt, "read rows", err, "the rows of bucket %d of %s from offset %d on can't be read", r.Bucket, s.name(), r.Read).
			WithHint("the log is damaged there, or of a release of Fluss that is not known here").WithRef(s.q.Table.Path.ref())
	}
	shown := 0
	var next int64 // where the batch before ends; a first one may begin anywhere before what was asked for
	for b, err := range Batches(w.records) {
		if err != nil {
			return damaged(err)
		}
		shown++
		if !b.Intact {
			return damaged(fmt.Errorf("the checksum of the batch at offset %d is wrong", b.BaseOffset))
		}
		if next < r.To {
			if err := follows(b, next, w.from); err != nil {
				return damaged(err)
			}
		}
		next = b.Next()
		if b.Next() <= w.from || b.BaseOffset >= r.To {
			continue
		}
		if err := s.q.Visit(Piece{Bucket: r.Bucket, Batch: b, From: w.from, To: r.To}); err != nil {
			return err
		}
		if b.Next() > r.Read {
			r.Read = min(b.Next(), r.To)
		}
	}
	if shown == 0 && w.next <= w.from {
		return damaged(fmt.Errorf("%d bytes are no batch", len(w.records)))
	}
	return nil
}

// follows asks whether a batch begins where the one before it ends, and no later than
// from what was asked for. Offsets of a log have no holes, and the one that a batch
// says it begins at is not under its checksum.
func follows(b Batch, next, from int64) error {
	switch at := max(next, from); {
	case b.BaseOffset > at:
		return fmt.Errorf("the rows from offset %d to %d are not there: the next batch begins behind them", at, b.BaseOffset)
	case b.BaseOffset < next:
		return fmt.Errorf("a batch begins at offset %d, among rows that were shown up to %d", b.BaseOffset, next)
	}
	return nil
}

// outOfRange finds out what became of an offset that a leader does not have.
func (s *scanning) outOfRange(r *reading, refused error) {
	r.asked = true
	s.background(func() func() {
		bucket := []int32{r.Bucket}
		start := s.client.Offsets(s.ctx, s.q.Table, s.q.Partition, bucket, Earliest)[0]
		return func() {
			r.asked = false
			if start.Err == nil && start.Offset > r.at {
				s.skip(r, min(start.Offset, r.To), fault.New(fault.Drift, "read rows", "the rows of bucket %d of %s from offset %d to %d were deleted meanwhile", r.Bucket, s.name(), r.at, min(start.Offset, r.To)).
					WithHint("they expired (table.log.ttl): scan again").WithRef(s.q.Table.Path.ref()))
				return
			}
			// While a leader takes over, it may not know yet what lies in remote storage; and
			// an end that went back may come again.
			s.failedFor(r, refused, true, s.settle)
		}
	})
}

// skip leaves rows out. What was handed over before them is shown before.
func (s *scanning) skip(r *reading, to int64, err error) {
	r.Gaps = append(r.Gaps, Gap{From: r.at, To: to, Err: err})
	if s.hand(showing{r: r, from: r.at, next: to, gap: true}) {
		s.moved(r, to)
	}
}

// errUnwanted ends the reading of rows that nobody is shown any more.
var errUnwanted = errors.New("what was shown before failed")

// readRemote reads what a leader has no longer on its own disk.
func (s *scanning) readRemote(r *reading, rows *remoteRows) {
	r.asked = true
	at := r.at
	s.background(func() func() {
		reached := at
		var err error
		if s.q.Files == nil {
			err = fault.New(fault.Unsupported, "read remote storage", "the rows of bucket %d of %s from offset %d to %d lie in remote storage (%s), which is not read here", r.Bucket, s.name(), at, rows.end(), safetext.Of(rows.dir)).
				WithHint("give the profile object-stores or path-mappings for it")
		} else {
			select {
			case s.remotes <- struct{}{}:
				reached, err = rows.read(s.ctx, s.q.Files, at, r.To, func(records []byte, from, next int64) error {
					if r.broken() {
						return errUnwanted
					}
					if !s.hand(showing{r: r, records: records, from: from, next: next}) {
						return s.ctx.Err()
					}
					return nil
				})
				<-s.remotes
			case <-s.ctx.Done():
				err = s.ctx.Err()
			}
		}
		return func() {
			r.asked = false
			if reached > r.at {
				s.moved(r, reached)
			}
			if err != nil && s.ctx.Err() == nil && !r.over && !r.broken() {
				s.skip(r, min(rows.end(), r.To), err)
			}
		}
	})
}
