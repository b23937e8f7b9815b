package flussincident

import (
	"bytes"
	"context"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/recoverctl/recoverctl/internal/testkit/incident"
	"github.com/recoverctl/recoverctl/internal/testkit/orders"
)

// row is one action state.
type row struct {
	key, value []byte
	agent      string
	at         time.Time
	first      bool // of a turn, or written again
}

// bucketLog is everything that was ever written to one bucket. Of what has expired
// only the number is known.
type bucketLog struct {
	start   int64 // of the log: what lies before has expired
	expired time.Time
	rows    []row // from start on
	turns   []incident.Turn
	ends    [phases]int64 // of each phase
}

// logs makes what was ever written to each bucket.
func (s *script) logs(now time.Time) ([]bucketLog, error) {
	customers := pool()
	out := make([]bucketLog, Buckets)
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for b := range out {
		group.Go(func() error {
			w := writer{script: s, bucket: b, customers: customers[b], now: now, r: rand.New(rand.NewPCG(s.seed, uint64(b)+100)), open: map[string]row{}}
			err := w.write()
			out[b] = w.log
			return err
		})
	}
	return out, group.Wait()
}

// writer makes the rows of one bucket in order.
type writer struct {
	script    *script
	bucket    int
	customers []orders.Key
	now       time.Time
	r         *rand.Rand
	log       bucketLog
	last      time.Time
	phase     phase
	open      map[string]row // the newest state of each open action, by the key's text
}

func (w *writer) write() error {
	w.log.start = int64(w.script.rows[w.bucket][toExpired])
	w.log.expired = w.now.Add(-ago[toSavepoint] - time.Minute)
	if w.bucket == Idle {
		w.log.expired = w.now.Add(-idleSince)
	}
	w.log.ends[toExpired] = w.log.start
	seqs := make([]int64, len(w.customers))
	for i := range seqs {
		seqs[i] = int64(w.r.IntN(6))
	}
	for w.phase = toSavepoint; w.phase < phases; w.phase++ {
		for _, key := range writtenAgain[w.phase] {
			if again, ok := w.open[key]; ok {
				again.first = true
				w.add(again, false)
			}
		}
		if w.phase == toSavepoint {
			if err := w.scenes(); err != nil {
				return err
			}
		}
		until := len(w.log.rows) + w.script.rows[w.bucket][w.phase]
		for left := until - len(w.log.rows); left > 1; left = until - len(w.log.rows) {
			k := w.r.IntN(len(w.customers))
			if err := w.turn(w.customers[k], seqs[k], orders.Pick(w.r, left)); err != nil {
				return err
			}
			seqs[k]++
		}
		if w.phase != toSavepoint {
			if err := w.scenes(); err != nil {
				return err
			}
		}
		w.log.ends[w.phase] = w.end()
	}
	return nil
}

func (w *writer) end() int64 { return w.log.start + int64(len(w.log.rows)) }

// scenes writes the turns of this phase that the story speaks of.
func (w *writer) scenes() error {
	for _, sc := range scenes {
		if sc.phase != w.phase || bucketOf(sc.key) != w.bucket {
			continue
		}
		if err := w.turn(orders.NewKey(sc.key), sc.seq, sc.shape); err != nil {
			return err
		}
	}
	return nil
}

// restart is how long the rolled back job was down between two JVMs of release 0.3.
const restart = 90 * time.Second

// turn writes all rows of one input. The job's recovery points know nothing of those
// that release 0.3 wrote.
func (w *writer) turn(k orders.Key, seq int64, s orders.Shape) error {
	t := incident.Turn{Key: k, Seq: seq, First: w.end(), Done: s.Ends()}
	number := 5_000_000 + w.bucket*10_000 + len(w.log.turns)
	if s.Released() {
		number = 3_000_000 + w.bucket*10 + int(seq)
		w.last = w.now.Add(-rollback)
	}
	err := orders.Turn{Key: k, Seq: seq, Number: number, Shape: s}.Write(w.r, func(recordKey, value []byte, when orders.When) {
		if when == orders.AfterARestart {
			w.last = w.last.Add(restart)
		}
		r := row{key: recordKey, value: value, agent: k.Text, first: when != orders.SoonAfter}
		w.add(r, when == orders.Begins && !s.Released())
		if !s.Ends() && !s.Released() {
			w.open[k.Text] = r
		}
	})
	t.Last = w.end() - 1
	if !s.Released() {
		w.log.turns = append(w.log.turns, t)
	}
	return err
}

// add appends a row. The first one of a turn comes when its place in the phase is
// due, the others soon after it, all inside the phase.
func (w *writer) add(r row, first bool) {
	begin, end := w.now.Add(-ago[w.phase]), w.now.Add(-ago[w.phase+1])
	due := w.last.Add(time.Duration(35+w.r.IntN(700)) * time.Millisecond)
	if first {
		from := w.log.start
		if w.phase > toSavepoint {
			from = w.log.ends[w.phase-1]
		}
		share := (float64(w.end()-from) + w.r.Float64()) / float64(w.script.rows[w.bucket][w.phase]+8)
		due = begin.Add(time.Duration(share * float64(end.Sub(begin))))
	}
	for _, earliest := range []time.Time{begin, w.last} {
		if due.Before(earliest) {
			due = earliest
		}
	}
	if !due.Before(end) {
		due = end.Add(-time.Millisecond)
	}
	w.last = due.Truncate(time.Millisecond)
	r.at = w.last
	r.key, r.value = bytes.Clone(r.key), bytes.Clone(r.value)
	w.log.rows = append(w.log.rows, r)
}

// batchRows is how many rows older than the savepoint share a batch; newer ones do
// with those of their turn. The job's store appends each by itself: who reads them
// sees no difference but in their times.
const batchRows = 40

// batches are a bucket's rows as they are appended.
func (log bucketLog) batches() (out [][]row) {
	old := int(log.ends[toSavepoint] - log.start)
	for rows := range slices.Chunk(log.rows[:old], batchRows) {
		out = append(out, rows)
	}
	for rest := log.rows[old:]; len(rest) > 0; {
		n := 1
		for n < len(rest) && !rest[n].first {
			n++
		}
		out, rest = append(out, rest[:n]), rest[n:]
	}
	return out
}

// write writes a bucket's rows, lets the old ones expire and moves those before the
// savepoint to remote storage, in two segments.
func (in *Incident) write(ctx context.Context, bucket int32, log bucketLog) error {
	in.cluster.AppendEmpty(in.log, bucket, log.expired.UnixMilli(), int(log.start))
	in.cluster.Trim(in.log, bucket, log.start)
	var ends []int64 // of the batches that go to remote storage
	for _, rows := range log.batches() {
		if err := ctx.Err(); err != nil {
			return err
		}
		values := make([][]any, len(rows))
		for i, r := range rows {
			values[i] = []any{string(r.key), r.value, r.agent}
		}
		first, err := in.cluster.Append(in.log, bucket, rows[0].at.UnixMilli(), values...)
		if err != nil {
			return err
		}
		if end := first + int64(len(rows)); end <= log.ends[toSavepoint] {
			ends = append(ends, end)
		}
	}
	if len(ends) < 2 {
		return nil
	}
	for _, to := range []int64{ends[len(ends)/2], ends[len(ends)-1]} {
		if _, err := in.cluster.Tier(in.log, bucket, to, filepath.Join(in.dir, "remote")); err != nil {
			return err
		}
	}
	return nil
}
