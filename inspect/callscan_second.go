package inspect

import (
	"hash/maphash"
	"slices"
)

const (
	maxTombs   = 1 << 18 // of one partition
	maxRemoved = 1000    // listed, of one partition
)

// secondPass is what a partition is read again for: the histories of actions of
// sequences that are still open, and of those that a tombstone removed, these by
// the hash of their record key.
type secondPass struct {
	siblings map[siblingKey]*history
	removed  map[uint64]*history
}

// siblingKey names an action of an open sequence: the place of its key's entry,
// and the ids.
type siblingKey struct {
	entry         int32
	sequence      int64
	event, action UUID
}

// history is that of one action from its first record on.
type history struct {
	began  bool // it is open
	action openAction
	done   *doneAction // how it last ended; nil: it did not
}

// show shows the next record of the action.
func (h *history) show(p *PartitionScan, r *seenRecord, failure string) {
	if failure != "" || r.view.null && !h.began {
		return
	}
	if !h.began {
		*h = history{began: true, action: openAction{
			sequence: r.k.Sequence, event: r.k.Event, action: r.k.Action, first: r.offset, tombstone: -1, unreadable: -1,
		}}
	}
	a := &h.action
	if r.view.eventType != nil {
		a.eventType = p.intern(r.view.eventType)
	}
	switch {
	case r.view.completed:
		h.began = false
		h.done = &doneAction{
			sequence: a.sequence, event: a.event, action: a.action, first: a.first, last: r.offset, timestamp: r.timestamp,
			records: a.records + 1, calls: int64(len(a.calls) + len(a.lost)), tombstone: -1, eventType: a.eventType,
			history: slices.Concat(a.calls, a.lost),
		}
	case r.view.null && len(a.calls)+len(a.lost) == 0:
		h.began = false
	default:
		a.show(p, r)
	}
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
			p.second = &secondPass{siblings: map[siblingKey]*history{}, removed: map[uint64]*history{}}
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
		return max(from, min(p.cuts[0], p.earliest)), true
	}
	return 0, false
}

// recordHash is of a whole record key.
func (p *PartitionScan) recordHash(key []byte) uint64 { return maphash.Bytes(p.scan.seed, key) }

// again shows a record of the second pass.
func (p *PartitionScan) again(offset, timestamp int64, key, value []byte) {
	k := ParseActionKey(key)
	if k.Generation == KeyUnattributable || !p.scan.wanted.has(&k) {
		return
	}
	var hash uint64
	tombed := len(p.tombs) > 0
	if tombed {
		hash = p.recordHash(key)
		_, tombed = p.tombs[hash]
	}
	e := p.find(p.hash(&k), &k)
	sibling := e != nil && e.openAt(&k) < 0 && slices.ContainsFunc(e.open, func(a *openAction) bool { return a.partial && a.sequence == k.Sequence })
	if !tombed && !sibling {
		return
	}
	view, failure := p.reader.read(value)
	r := &seenRecord{k: k, offset: offset, timestamp: timestamp, view: view}
	if sibling {
		at := siblingKey{p.last, k.Sequence, k.Event, k.Action}
		h := p.second.siblings[at]
		if h == nil {
			h = &history{}
			p.second.siblings[at] = h
		}
		h.show(p, r, failure)
		if h.done != nil && view.null && !h.began {
			h.done.tombstone = offset
		}
	}
	if tombed {
		p.follow(hash, r, failure)
	}
}

// follow shows a record of an action that a tombstone removes.
func (p *PartitionScan) follow(hash uint64, r *seenRecord, failure string) {
	h := p.second.removed[hash]
	if h == nil {
		h = &history{}
		p.second.removed[hash] = h
	}
	h.show(p, r, failure)
	if !r.view.null || h.began {
		return
	}
	delete(p.second.removed, hash)
	if h.done == nil || p.place(h.done.last) == 0 {
		return
	}
	e := keyEntry{text: r.k.Text, generation: r.k.Generation, group: r.k.KeyGroup, elsewhere: p.elsewhere(&r.k)}
	p.gone(&e, h.done, r.offset)
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
	for at, h := range p.second.siblings {
		d := h.done
		if d == nil {
			d = &doneAction{sequence: at.sequence, event: at.event, action: at.action, tombstone: -1, dropped: true}
		}
		e := &p.slab[at.entry]
		e.done = slices.DeleteFunc(e.done, func(have doneAction) bool {
			return have.sequence == at.sequence && have.event == at.event && have.action == at.action
		})
		d.history = nil // as of one that was never let go
		e.done = append(e.done, *d)
	}
	for i := range p.slab {
		for _, a := range p.slab[i].open {
			a.partial = false
		}
	}
	p.second = nil
	clear(p.tombs)
}
