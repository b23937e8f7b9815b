package inspect

import (
	"hash/maphash"
	"slices"
)

const (
	maxTombs   = 1 << 18 // of one partition
	maxRemoved = 1000    // listed, of one partition
)

// secondPass is what a partition is read again for.
type secondPass struct {
	siblings map[siblingKey]*doneAction // completed actions of sequences that are still open
	removed  map[uint64]*removal        // by the hash of a record key that a tombstone removed
}

// siblingKey names an action of an open sequence: the place of its key's entry,
// and the ids.
type siblingKey struct {
	entry         int32
	sequence      int64
	event, action UUID
}

// removal is the history of an action that a tombstone removes.
type removal struct {
	action    openAction
	completed int64 // offset of the record that completed it, -1
}

// Second returns what has to be read again before the answer is whole, and
// prepares the scan for it: the records of these windows are then shown as
// before. Nothing, as a rule. A window begins no earlier than from says.
//
// Sequences that are open while a completed action of theirs may have been let go
// need their whole partition; tombstones inside the window of a recovery point
// need that window.
func (s *CallScan) Second(extent ScanExtent) []Window {
	var out []Window
	for _, p := range s.ordered() {
		p.Lock()
		from, ok := p.readAgain(extent.From[p.id])
		if ok {
			p.second = &secondPass{siblings: map[siblingKey]*doneAction{}, removed: map[uint64]*removal{}}
			out = append(out, Window{Partition: p.id, From: from, To: extent.Read[p.id]})
		}
		p.Unlock()
	}
	return slices.DeleteFunc(out, func(w Window) bool { return w.From >= w.To })
}

// readAgain is where the second pass of a partition begins, and whether it needs
// one.
func (p *PartitionScan) readAgain(from int64) (int64, bool) {
	for i := range p.slab {
		if slices.ContainsFunc(p.slab[i].open, func(a *openAction) bool { return a.partial }) {
			return from, true
		}
	}
	if len(p.tombs) > 0 {
		return max(from, p.cuts[0]), true
	}
	return 0, false
}

// recordHash is of a whole record key.
func (p *PartitionScan) recordHash(key []byte) uint64 { return maphash.Bytes(p.scan.seed, key) }

// again shows a record of the second pass.
func (p *PartitionScan) again(offset, timestamp int64, key, value []byte) {
	k := ParseActionKey(key)
	if k.Generation == KeyUnattributable || !p.scan.wanted.has(k) {
		return
	}
	if len(p.tombs) > 0 {
		if hash := p.recordHash(key); p.tombed(hash) && p.place(offset) > 0 {
			p.follow(hash, offset, timestamp, k, value)
		}
	}
	e := p.find(p.hash(k), k)
	if e == nil || e.openAt(k) >= 0 || !slices.ContainsFunc(e.open, func(a *openAction) bool { return a.partial && a.sequence == k.Sequence }) {
		return
	}
	at := siblingKey{p.last, k.Sequence, k.Event, k.Action}
	d := p.second.siblings[at]
	if d == nil {
		d = &doneAction{sequence: k.Sequence, event: k.Event, action: k.Action, first: offset, tombstone: -1}
		p.second.siblings[at] = d
	}
	d.last, d.timestamp = offset, timestamp
	d.records++
	switch view, failure := p.reader.read(value); {
	case failure != "":
	case view.null:
		d.tombstone = offset
	default:
		d.calls = max(d.calls, int64(len(view.calls)))
		d.tombstone = -1
		if view.eventType != nil {
			d.eventType = p.intern(view.eventType)
		}
	}
}

func (p *PartitionScan) tombed(hash uint64) bool {
	_, ok := p.tombs[hash]
	return ok
}

// follow shows a record of an action that a tombstone removes.
func (p *PartitionScan) follow(hash uint64, offset, timestamp int64, k ActionKey, value []byte) {
	r := p.second.removed[hash]
	view, failure := p.reader.read(value)
	if failure != "" {
		return
	}
	if r == nil {
		if view.null {
			return
		}
		r = &removal{action: openAction{sequence: k.Sequence, event: k.Event, action: k.Action, first: offset, tombstone: -1, unreadable: -1}, completed: -1}
		p.second.removed[hash] = r
	}
	a := &r.action
	if view.eventType != nil {
		a.eventType = p.intern(view.eventType)
	}
	switch {
	case !view.null && !view.completed:
		a.show(p, seenRecord{k: k, offset: offset, timestamp: timestamp, view: view})
		r.completed = -1
	case !view.null:
		a.records++
		a.last, a.timestamp, r.completed = offset, timestamp, offset
	default:
		delete(p.second.removed, hash)
		if r.completed < 0 {
			return
		}
		d := doneAction{
			sequence: a.sequence, event: a.event, action: a.action, first: a.first, last: r.completed, timestamp: a.timestamp,
			records: a.records, calls: int64(len(a.calls) + len(a.lost)), eventType: a.eventType, history: slices.Concat(a.calls, a.lost),
		}
		e := keyEntry{text: k.Text, generation: k.Generation, group: k.KeyGroup, elsewhere: -1}
		if to, ok := k.ComputedPartition(len(p.scan.partitions)); ok && to != p.id {
			e.elsewhere = to
		}
		p.gone(&e, &d, offset)
	}
}

// gone notes a completed action that a tombstone inside a window removed. In
// generations 1 and 2 its calls were counted when it completed.
func (p *PartitionScan) gone(e *keyEntry, d *doneAction, tombstone int64) {
	if e.generation == KeyGeneration3 {
		p.removed[p.place(d.last)] += d.calls
	}
	if len(p.removedActions) < maxRemoved {
		gone := *d
		gone.tombstone = tombstone
		p.removedActions = append(p.removedActions, p.doneCalls(e, &gone))
	}
}

// settle takes over what the second pass found.
func (p *PartitionScan) settle() {
	if p.second == nil {
		return
	}
	for at, d := range p.second.siblings {
		e := &p.slab[at.entry]
		known := slices.ContainsFunc(e.done, func(have doneAction) bool {
			return have.sequence == d.sequence && have.event == d.event && have.action == d.action
		})
		if !known {
			e.done = append(e.done, *d)
		}
	}
	for i := range p.slab {
		for _, a := range p.slab[i].open {
			a.partial = false
		}
	}
	p.second = nil
	clear(p.tombs)
}
