package inspect

import (
	"hash/maphash"
	"slices"
)

// openAction is an action that is not completed: its short history.
type openAction struct {
	sequence      int64
	event, action UUID
	first, last   int64 // offsets
	timestamp     int64 // of the last record, ms
	records       int64
	eventType     string
	calls         []heldCall // of the last record, in its order
	lost          []heldCall // those that an earlier record had
	tombstone     int64      // the null record that removed it, -1
	unreadable    int64      // a later record that can't be read, -1
	partial       bool       // completed actions of its sequence may have been let go

	hash           uint64 // of the last value
	size           int
	head           []byte // how the last value begins, up to the end of its event
	run, longest   int64  // equal records in a row
	from, longFrom int64  // where the run began, and the longest one
	passed         int    // how many markers its last record lies behind
	copies         int64  // equal records in a row since the last of these

	revision, noted uint32 // what changed, and how far a watcher has looked
	told            bool   // a watcher knows of it …
	toldAt          uint32 // … as it was then
}

// heldCall is one durable call of an open action.
type heldCall struct {
	index             int32
	named             bool // it has a status
	pending           bool // its outcome is not on record
	function, args    string
	status            string
	result, exception int64 // bytes; -1: none
	seen              int64
	lost              int64 // the first later record without it, -1
}

func (p *PartitionScan) newAction(r *seenRecord) *openAction {
	var a *openAction
	if n := len(p.free); n > 0 {
		a, p.free = p.free[n-1], p.free[:n-1]
	} else {
		a = &openAction{}
	}
	a.sequence, a.event, a.action = r.k.Sequence, r.k.Event, r.k.Action
	a.first, a.tombstone, a.unreadable, a.passed = r.offset, -1, -1, p.passed
	return a
}

// equals follows runs of equal records: the same up to the end of the event, and
// of one size and hash behind it.
func (a *openAction) equals(seed maphash.Seed, value []byte, r *seenRecord) {
	head := r.view.head
	if head > maxHead {
		head = 0
	}
	hash := maphash.Bytes(seed, value[head:])
	if a.run > 0 && hash == a.hash && len(value) == a.size && r.view.known == (head > 0) {
		a.run++
	} else {
		a.run, a.from = 1, r.offset
	}
	a.hash, a.size = hash, len(value)
	if a.run > a.longest {
		a.longest, a.longFrom = a.run, a.from
	}
	if !r.view.known {
		a.head = append(a.head[:0], value[:head]...)
	}
}

// show applies the record: calls that it has are as it says, those that it has
// not are lost. A tombstone has none.
func (a *openAction) show(p *PartitionScan, r *seenRecord) {
	a.records++
	a.last, a.timestamp = r.offset, r.timestamp
	a.revision++
	if !r.view.null {
		a.tombstone = -1
	}
	a.unreadable = -1
	if len(r.view.calls) == 0 && len(a.calls) == 0 {
		return
	}
	at := 0
	for i := range r.view.calls {
		c := &r.view.calls[i]
		if c.absent {
			continue
		}
		if at < len(a.calls) && !a.calls[at].is(int32(i), c) {
			a.lose(at, r.offset)
		}
		if at == len(a.calls) {
			a.calls = append(a.calls, a.regain(p, int32(i), c, r.offset))
		}
		a.calls[at].update(p, c, r.offset)
		at++
	}
	a.lose(at, r.offset)
}

// lose drops the calls from at on.
func (a *openAction) lose(at int, offset int64) {
	for _, c := range a.calls[at:] {
		if c.lost < 0 {
			c.lost = offset
		}
		if len(a.lost) == maxLost {
			a.lost = slices.Delete(a.lost, 0, 1)
		}
		a.lost = append(a.lost, c)
	}
	a.calls = a.calls[:at]
}

// regain returns a call that was lost and is there again, or a new one. One that
// only moved behind another in this record was not lost.
func (a *openAction) regain(p *PartitionScan, index int32, c *callView, offset int64) heldCall {
	for i := range a.lost {
		if a.lost[i].is(index, c) {
			back := a.lost[i]
			a.lost = slices.Delete(a.lost, i, i+1)
			if back.lost == offset {
				back.lost = -1
			}
			return back
		}
	}
	return heldCall{index: index, function: p.intern(c.function), args: p.intern(c.args), lost: -1}
}

func (h *heldCall) is(index int32, c *callView) bool {
	return h.index == index && h.function == string(c.function) && h.args == string(c.args)
}

func (h *heldCall) update(p *PartitionScan, c *callView, offset int64) {
	h.seen, h.result, h.exception = offset, c.result, c.exception
	h.named = c.status != nil
	h.pending = h.named && !isSettled(c.status)
	if h.status != string(c.status) {
		h.status = p.intern(c.status)
	}
}

// isSettled reports whether a status says that the outcome of a call is on
// record. A word that no known version writes does not.
func isSettled(status []byte) bool {
	switch string(trimJava(status)) {
	case "SUCCEEDED", "FAILED", "1", "2": // or the number of the word, which Java takes too
		return true
	default:
		return false
	}
}
