package inspect

import "slices"

// unreadable notes that a later record of an open action can't be read.
func (p *PartitionScan) unreadable(e *keyEntry, r *seenRecord) {
	if r.at >= 0 {
		a := e.open[r.at]
		a.unreadable = r.offset
		a.revision++
		return
	}
	p.mention(e, r, -1)
}

// mention remembers that a key has an action id of which no state is known.
func (p *PartitionScan) mention(e *keyEntry, r *seenRecord, tombstone int64) {
	if e.doneAt(&r.k) < 0 {
		p.keep(e, doneAction{sequence: r.k.Sequence, event: r.k.Event, action: r.k.Action, first: r.offset, last: r.offset, tombstone: tombstone, dropped: true})
	}
}

func (e *keyEntry) openAt(k *ActionKey) int {
	for i, a := range e.open {
		if a.sequence == k.Sequence && a.action == k.Action && a.event == k.Event {
			return i
		}
	}
	return -1
}

func (e *keyEntry) doneAt(k *ActionKey) int {
	for i := range e.done {
		d := &e.done[i]
		if d.sequence == k.Sequence && d.action == k.Action && d.event == k.Event {
			return i
		}
	}
	return -1
}

// open shows a record of an action that is not completed.
func (p *PartitionScan) open(e *keyEntry, r *seenRecord, value []byte) {
	p.advance(e, r.k.Sequence)
	at := r.at
	if at < 0 {
		a := p.newAction(r)
		a.partial = e.low <= r.k.Sequence && r.k.Sequence <= e.high
		if i := e.doneAt(&r.k); i >= 0 { // it begins again
			e.done = slices.Delete(e.done, i, i+1)
		}
		if r.view.eventType != nil {
			a.eventType = p.intern(r.view.eventType)
		}
		at = len(e.open)
		e.open = append(e.open, a)
		p.opened++
		if e.generation == KeyGeneration3 {
			p.matchable++
		}
	}
	a := e.open[at]
	a.equals(p.scan.seed, value, r)
	p.followed(e, a, a.run > 1)
	if a.run > 1 {
		p.repeated(r.size)
	}
	a.show(p, r)
}

// complete shows the record that ends an action.
func (p *PartitionScan) complete(e *keyEntry, r *seenRecord) {
	p.advance(e, r.k.Sequence)
	d := doneAction{
		sequence: r.k.Sequence, event: r.k.Event, action: r.k.Action, first: r.offset, last: r.offset,
		timestamp: r.timestamp, records: 1, tombstone: -1,
	}
	if r.at >= 0 {
		a := e.open[r.at]
		d.first, d.records, d.calls, d.eventType = a.first, a.records+1, int64(len(a.calls)+len(a.lost)), a.eventType
		if p.scan.wanted.completed {
			d.history = slices.Concat(a.calls, a.lost)
		}
		p.followed(e, a, false)
		p.end(e, r.at)
	} else if i := e.doneAt(&r.k); i >= 0 {
		if !e.done[i].dropped {
			p.repeated(r.size) // an end that was written before
		}
		e.done = slices.Delete(e.done, i, i+1)
	} else {
		// A job writes a record when an action begins: the others are gone.
		at := p.hidden
		if e.generation == KeyGeneration3 {
			at = p.hiddenMatched
		}
		at[p.place(d.last)]++
	}
	if r.view.eventType != nil {
		d.eventType = p.intern(r.view.eventType)
	}
	if d.calls > 0 {
		at := p.ended
		if e.generation == KeyGeneration3 {
			at = p.matched
		}
		place := p.place(d.last)
		if at[place] += d.calls; place > 0 {
			p.earliest = min(p.earliest, d.first)
		}
	}
	p.keep(e, d)
}

// keep remembers a completed action while its sequence is the newest or open.
func (p *PartitionScan) keep(e *keyEntry, d doneAction) {
	switch {
	case p.scan.wanted.completed,
		len(e.done) < maxDone && (d.sequence == e.sequence || e.isOpen(d.sequence)):
		e.done = append(e.done, d)
	default:
		e.forget(d.sequence)
		for _, a := range e.open {
			a.partial = a.partial || a.sequence == d.sequence
		}
	}
}

// remove shows a tombstone.
func (p *PartitionScan) remove(e *keyEntry, r *seenRecord, key []byte) {
	if r.at >= 0 {
		a := e.open[r.at]
		if len(a.calls)+len(a.lost) == 0 {
			p.followed(e, a, false)
			p.end(e, r.at)
			p.mention(e, r, r.offset)
			return
		}
		p.followed(e, a, false)
		a.tombstone = r.offset
		a.show(p, r)
		return
	}
	window := p.place(r.offset) > 0
	if i := e.doneAt(&r.k); i >= 0 {
		d := &e.done[i]
		if d.tombstone < 0 && p.place(d.last) > 0 {
			p.gone(e, d, r.offset)
		}
		d.tombstone = r.offset
		return
	}
	p.mention(e, r, r.offset)
	if !window {
		return
	}
	if len(p.tombs) == maxTombs {
		p.counts.tombsLost++
		return
	}
	p.tombs[p.recordHash(key)] = struct{}{}
}

// end drops an open action.
func (p *PartitionScan) end(e *keyEntry, at int) {
	a := e.open[at]
	e.open = slices.Delete(e.open, at, at+1)
	p.opened--
	if e.generation == KeyGeneration3 {
		p.matchable--
	}
	p.noteBurst(e, a)
	if a.told {
		p.closed = append(p.closed, RecordPosition{p.id, a.first})
	}
	if p.scan.wanted.completed {
		return
	}
	*a = openAction{calls: a.calls[:0], lost: a.lost[:0], head: a.head[:0]}
	if len(p.free) < 256 && cap(a.calls)+cap(a.lost) < 64 {
		p.free = append(p.free, a)
	}
}
