package incident

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
	"github.com/recoverctl/recoverctl/internal/testkit/orders"
)

// Turn is one input of a key with all its actions, as it lies on a partition or in a
// bucket.
type Turn struct {
	Key         orders.Key
	Seq         int64
	First, Last int64 // offsets of its first and last record
	Done        bool  // every action has ended
}

// partitionLog is everything that was ever written to one partition.
type partitionLog struct {
	records []kafkatest.Record
	turns   []Turn
}

// scene is a turn at a given offset.
type scene struct {
	offset int
	key    orders.Key
	seq    int64
	shape  orders.Shape
}

// stillRunning are partitions whose last turn had begun just before now: the
// records are inside the window of every good checkpoint.
var stillRunning = []int{5, 17, 23, 40, 52}

// scenes are the given turns of a partition, by offset.
func (s *script) scenes(partition int, c *cast) []scene {
	var out []scene
	e, f := s.end(partition, toSecondCleanup), s.end(partition, toChk43)
	if partitionOf(c.alice) == int32(partition) {
		out = append(out, scene{e + 40, c.alice, 16, orders.Charged}, scene{f + 10, c.alice, 17, orders.ChargeOpen})
	}
	if partitionOf(c.bob) == int32(partition) {
		out = append(out, scene{e + 4, c.bob, 1, orders.Notified}, scene{e + 20, c.bob, 2, orders.MailSaved})
	}
	if partitionOf(c.carol) == int32(partition) {
		out = append(out, scene{s.end(partition, toChk44) + 4, c.carol, 0, orders.MailUnderWay})
	}
	rollback := s.end(partition, toFirstCleanup)
	switch partition {
	case 0:
		out = append(out, scene{rollback + 2, newReleasedKey("dave", 0), 4, orders.ChargedTwice})
	case 1:
		out = append(out, scene{rollback + 2, newReleasedKey("erin", 1), 9, orders.Forgotten})
	}
	if slices.Contains(stillRunning, partition) {
		k := orders.NewKey("walk-in-0")
		for n := 1; partitionOf(k) != int32(partition); n++ {
			k = orders.NewKey(fmt.Sprintf("walk-in-%d", n))
		}
		out = append(out, scene{s.end(partition, toNow) - orders.ChargeOpen.Len(), k, 0, orders.ChargeOpen})
	}
	slices.SortFunc(out, func(a, b scene) int { return a.offset - b.offset })
	return out
}

// write makes everything that was ever written to a partition.
func (s *script) write(partition int, c *cast, seed uint64, now time.Time) (partitionLog, error) {
	w := writer{script: s, partition: partition, now: now, r: rand.New(rand.NewPCG(seed, uint64(partition)+100))}
	total := s.end(partition, toNow)
	w.log.records = make([]kafkatest.Record, 0, total)
	seqs := make([]int64, len(c.pool[partition]))
	between := func(until int) error {
		for left := until - len(w.log.records); left > 0; left = until - len(w.log.records) {
			k := w.r.IntN(len(seqs))
			if err := w.turn(c.pool[partition][k], seqs[k], orders.Pick(w.r, left)); err != nil {
				return err
			}
			seqs[k]++
		}
		return nil
	}
	for _, sc := range s.scenes(partition, c) {
		if err := between(sc.offset); err != nil {
			return partitionLog{}, err
		}
		if err := w.turn(sc.key, sc.seq, sc.shape); err != nil {
			return partitionLog{}, err
		}
	}
	if err := between(total); err != nil {
		return partitionLog{}, err
	}
	return w.log, nil
}

// writer makes the records of one partition in order.
type writer struct {
	script    *script
	partition int
	now       time.Time
	r         *rand.Rand
	log       partitionLog
	last      time.Time
}

// restart is how long the rolled back job was down between two JVMs of release 0.3.
const restart = 90 * time.Second

// turn writes all records of one input. The job's recovery points know nothing of
// those that release 0.3 wrote.
func (w *writer) turn(k orders.Key, seq int64, s orders.Shape) error {
	t := Turn{Key: k, Seq: seq, First: int64(len(w.log.records)), Done: s.Ends()}
	number := 4_000_000 + w.partition*10_000 + len(w.log.turns)
	if s.Released() {
		number = 3_000_000 + w.partition
	}
	err := orders.Turn{Key: k, Seq: seq, Number: number, Shape: s}.Write(w.r, func(recordKey, value []byte, at orders.When) {
		if at == orders.AfterARestart {
			w.last = w.last.Add(restart)
		}
		w.add(recordKey, value, at == orders.Begins)
	})
	t.Last = int64(len(w.log.records)) - 1
	if !s.Released() {
		w.log.turns = append(w.log.turns, t)
	}
	return err
}

// add appends a record. The first one of a turn comes when its slot is due, the
// others soon after it, all inside the phase of their offset.
func (w *writer) add(recordKey, value []byte, first bool) {
	offset := len(w.log.records)
	begin, end, due := w.script.slot(w.partition, offset, w.now, w.r.Float64())
	if !first {
		due = w.last.Add(time.Duration(35+w.r.IntN(700)) * time.Millisecond)
	}
	if due.Before(begin) {
		due = begin
	}
	if due.Before(w.last) {
		due = w.last
	}
	if !due.Before(end) {
		due = end.Add(-time.Millisecond)
	}
	w.last = due.Truncate(time.Millisecond)
	w.log.records = append(w.log.records, kafkatest.Record{Key: recordKey, Value: value, Time: w.last})
}
