package incident

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// turn is one input of a key with all its actions.
type turn struct {
	key         key
	seq         int64
	first, last int64 // offsets of its first and last record
	done        bool  // every action has ended
}

// partitionLog is everything that was ever written to one partition.
type partitionLog struct {
	records []kafkatest.Record
	turns   []turn
}

// Names of the job's actions and of the calls that they make. Only charges have
// a reconciler, so only they leave a record when they begin.
const (
	auditOrder   = "auditOrder"
	processOrder = "processOrder"
	notifyBuyer  = "notifyBuyer"

	charge  = "payments.charge"
	reserve = "inventory.reserve"
	mail    = "mail.send"
)

// actionUUIDs are the name-based ids of the actions.
var actionUUIDs = map[string]string{
	auditOrder:   nameUUID([]byte(auditOrder)),
	processOrder: nameUUID([]byte(processOrder)),
	notifyBuyer:  nameUUID([]byte(notifyBuyer)),
}

// scene is a turn at a given offset.
type scene struct {
	offset int
	key    key
	seq    int64
	shape  shape
}

// shape is what happens in a turn.
type shape int

const (
	audited      shape = iota // no call
	notified                  // one call without a reconciler
	charged                   // one call with a reconciler
	fulfilled                 // two actions, two calls
	chargeOpen                // the charge began; nothing more is on record
	mailSaved                 // the mail was sent; the action did not end
	mailUnderWay              // the action began; a mail leaves no record before it is sent
	forgotten                 // of the rollback: the charge began, and a later record has lost it
	chargedTwice              // of the rollback: another JVM did all that an ended one had begun
)

// length is how many records a turn leaves.
func (s shape) length() int {
	return [...]int{audited: 2, notified: 3, charged: 4, fulfilled: 7, chargeOpen: 2, mailSaved: 2, mailUnderWay: 1, forgotten: 4, chargedTwice: 6}[s]
}

// stillRunning are partitions whose last turn had begun just before now: the
// records are inside the window of every good checkpoint.
var stillRunning = []int{5, 17, 23, 40, 52}

// scenes are the given turns of a partition, by offset.
func (s *script) scenes(partition int, c *cast) []scene {
	var out []scene
	e, f := s.end(partition, toSecondCleanup), s.end(partition, toChk43)
	if c.alice.partition() == int32(partition) {
		out = append(out, scene{e + 40, c.alice, 16, charged}, scene{f + 10, c.alice, 17, chargeOpen})
	}
	if c.bob.partition() == int32(partition) {
		out = append(out, scene{e + 4, c.bob, 1, notified}, scene{e + 20, c.bob, 2, mailSaved})
	}
	if c.carol.partition() == int32(partition) {
		out = append(out, scene{s.end(partition, toChk44) + 4, c.carol, 0, mailUnderWay})
	}
	rollback := s.end(partition, toFirstCleanup)
	switch partition {
	case 0:
		out = append(out, scene{rollback + 2, newReleasedKey("dave", 0), 4, chargedTwice})
	case 1:
		out = append(out, scene{rollback + 2, newReleasedKey("erin", 1), 9, forgotten})
	}
	if slices.Contains(stillRunning, partition) {
		k := newKey("walk-in-0")
		for n := 1; k.partition() != int32(partition); n++ {
			k = newKey(fmt.Sprintf("walk-in-%d", n))
		}
		out = append(out, scene{s.end(partition, toNow) - chargeOpen.length(), k, 0, chargeOpen})
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
			if err := w.turn(c.pool[partition][k], seqs[k], w.pick(left)); err != nil {
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

// pick draws a turn that ends, so that the records left can be filled to the
// last one: two or three of them can, one can't.
func (w *writer) pick(left int) shape {
	shape := [...]shape{audited, notified, notified, charged, charged, charged, fulfilled, audited}[w.r.IntN(8)]
	switch rest := left - shape.length(); {
	case left == notified.length():
		return notified
	case rest < 0 || rest == 1:
		return audited
	default:
		return shape
	}
}

// turn writes all records of one input.
func (w *writer) turn(k key, seq int64, s shape) error {
	if s == forgotten || s == chargedTwice {
		return w.released(k, seq, s)
	}
	e := newEvent(w.r, k, 4_000_000+w.partition*10_000+len(w.log.turns))
	t := turn{key: k, seq: seq, first: int64(len(w.log.records)), done: s <= fulfilled} // those that end come first
	uuid := nameUUID(e.attributes)
	action := func(name, outcome string, states ...[]call) error {
		recordKey := k.recordKey(seq, uuid, actionUUIDs[name])
		for _, calls := range append([][]call{nil}, states...) {
			w.add(recordKey, e.open(calls), int64(len(w.log.records)) == t.first)
		}
		if !t.done {
			return nil
		}
		value, err := e.done(w.r, outcome)
		if err != nil {
			return err
		}
		w.add(recordKey, value, false)
		return nil
	}
	begun, ended, outcome := w.charge(e)
	sent := call{mail, succeeded, `{"messageId":"` + e.id[:13] + `"}`}
	reserved := call{reserve, succeeded, `{"reservation":"r-` + e.order[4:] + `"}`}
	var err error
	switch s {
	case audited:
		err = action(auditOrder, "")
	case notified:
		err = action(notifyBuyer, "notified", []call{sent})
	case charged:
		err = action(processOrder, outcome, []call{begun}, []call{ended})
	case fulfilled:
		if err = action(auditOrder, ""); err == nil {
			err = action(processOrder, outcome, []call{reserved}, []call{reserved, begun}, []call{reserved, ended})
		}
	case chargeOpen:
		err = action(processOrder, "", []call{begun})
	case mailSaved:
		err = action(notifyBuyer, "", []call{sent})
	case mailUnderWay:
		err = action(notifyBuyer, "")
	}
	t.last = int64(len(w.log.records)) - 1
	w.log.turns = append(w.log.turns, t)
	return err
}

// hashCodes are those that two JVMs had for processOrder: releases up to 0.3 name
// an action by the decimal text of it.
var hashCodes = [...]string{"1804379080", "693632176"}

// restart is how long the rolled back job was down between them.
const restart = 90 * time.Second

// released writes what release 0.3 left of one input: records with keys of its
// layout. The job's recovery points know nothing of it.
func (w *writer) released(k key, seq int64, s shape) error {
	first := len(w.log.records)
	e := newEvent(w.r, k, 3_000_000+w.partition)
	uuid := nameUUID(e.attributes)
	add := func(jvm int, value []byte) {
		w.add(k.releasedRecordKey(seq, uuid, nameUUID([]byte(hashCodes[jvm]))), value, len(w.log.records) == first)
	}
	begun := call{function: charge, status: pending}
	if s == forgotten {
		for _, calls := range [][]call{nil, {begun}, nil, nil} {
			add(1, e.open(calls))
		}
		return nil
	}
	add(0, e.open(nil))
	add(0, e.open([]call{begun}))
	w.last = w.last.Add(restart)
	add(1, e.open(nil))
	add(1, e.open([]call{begun}))
	add(1, e.open([]call{{charge, succeeded, `{"receipt":"ch_` + e.id[:8] + `","orderId":"` + e.order + `"}`}}))
	value, err := e.done(w.r, "charged")
	if err != nil {
		return err
	}
	add(1, value)
	return nil
}

// charge is a call of the payment provider before and after its answer. About
// one in thirty fails.
func (w *writer) charge(e event) (begun, ended call, outcome string) {
	begun = call{function: charge, status: pending}
	if w.r.IntN(30) == 0 {
		return begun, call{charge, failed, `{"exceptionClass":"java.net.SocketTimeoutException","message":"Read timed out"}`}, "declined"
	}
	return begun, call{charge, succeeded, `{"receipt":"ch_` + e.id[:8] + `","orderId":"` + e.order + `"}`}, "charged"
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
