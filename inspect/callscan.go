package inspect

import (
	"bytes"
	"hash/maphash"
	"maps"
	"math"
	"slices"
	"sync"
)

// CallScan finds the durable calls of a topic: it is shown every record once and
// answers at the end. It knows no backend, so that every store is judged by the
// same rules.
//
// It keeps actions that are open, and of each key the completed actions of its
// newest sequence. Memory follows the keys and the open actions, never the
// records. What it had to let go of and turns out to need is read again, and only
// that: see Second.
type CallScan struct {
	q          CallQuestion
	partitions []int32
	wanted     wantedKeys
	seed       maphash.Seed
	shards     map[int32]*PartitionScan
	successors map[[2]UUID]bool // of pairs of action ids: what was found out
}

// NewCallScan returns a scan that has seen nothing, for the partitions that the
// topic has.
func NewCallScan(q CallQuestion, partitions []int32) *CallScan {
	s := &CallScan{q: q, partitions: slices.Clone(partitions), wanted: wantedOf(q), seed: maphash.MakeSeed(), shards: map[int32]*PartitionScan{}, successors: map[[2]UUID]bool{}}
	limit := max(maxIdleKeys/max(len(partitions), 1), minIdleKeys)
	for _, id := range partitions {
		s.shards[id] = newPartitionScan(s, id, limit)
	}
	return s
}

// Partition is the part of the scan for one partition; nil when the topic has no
// such partition. Different partitions may be shown at the same time, by one
// goroutine each, which holds the lock of its part while it shows records.
func (s *CallScan) Partition(id int32) *PartitionScan { return s.shards[id] }

// Visit shows one record to its partition. See [PartitionScan.Visit].
func (s *CallScan) Visit(partition int32, offset, timestamp int64, key, value []byte) {
	if p := s.shards[partition]; p != nil {
		p.Visit(offset, timestamp, key, value)
	}
}

// Bounds. Each is far above what a job writes; where one is reached, the answer
// says what is no longer exact.
const (
	maxIdleKeys  = 1 << 18 // keys without an open action, of all partitions
	minIdleKeys  = 1 << 10 // of one partition
	maxKeyBytes  = 8 << 20 // texts of such keys, of one partition
	maxDone      = 64      // completed actions of one key that are kept
	maxLost      = 1 << 10 // calls of one action that later records lost
	maxActionIDs = 1 << 14 // of one partition
	maxInterned  = 1 << 12
	maxSamples   = 8
	maxRawKeys   = 100
)

// PartitionScan is the part of a scan for one partition.
type PartitionScan struct {
	sync.Mutex // held while records are shown, and while the scan is asked for its news

	scan   *CallScan
	id     int32
	second *secondPass // nil in the first pass
	reader stateReader

	keys  map[uint64]int32 // by hash: the newest entry of a chain in slab
	slab  []keyEntry
	last  int32 // the entry of the record before, -1
	bytes int   // of key texts in slab
	limit int   // of entries before idle ones are let go

	forgetful bool // idle entries were let go
	ids       map[UUID]*idSpan
	recent    [64]*idSpan
	idsLost   bool
	interned  map[string]string
	free      []*openAction

	counts  partitionCounts
	cuts    []int64 // markers of the points on this partition, ascending
	ended   []int64 // calls of completed actions of generations 1 and 2, by place among cuts
	matched []int64 // those of generation 3
	removed []int64 // those of generation 3 that tombstones removed
	tombs   map[uint64]struct{}

	opened int64 // actions that are open now
	looked int64 // records that were shown when the scan was last asked for news …
	quiet  bool  // … after which it had none left

	earliest int64            // where the history of actions begins that completed inside a window
	closed   []RecordPosition // news of actions that were told and have ended

	removedActions []ActionCalls
	bursts         []burst
}

// partitionCounts are what a partition's records are, as numbers and as the
// first of each kind.
type partitionCounts struct {
	records, bytes, tombstones int64
	unattributable, unreadable int64
	generations                [4]int64
	elsewhere                  int64
	rawKeys                    []RawKey
	unreadableAt               []int64
	unreadableWhy              string
	elsewhereAt                []int64
	tombsLost                  int64
	next                       int64 // offset behind the last record
}

// idSpan is where an action id was seen on a partition.
type idSpan struct {
	id                 UUID
	first, last        int64 // offsets
	earliest, lastTime int64 // ms
}

func newPartitionScan(s *CallScan, id int32, limit int) *PartitionScan {
	p := &PartitionScan{
		scan: s, id: id, keys: map[uint64]int32{}, last: -1, limit: limit,
		ids: map[UUID]*idSpan{}, interned: map[string]string{}, tombs: map[uint64]struct{}{}, earliest: math.MaxInt64,
	}
	for _, point := range s.q.Points {
		if at, ok := point.Offsets[id]; ok {
			p.cuts = append(p.cuts, at)
		}
	}
	slices.Sort(p.cuts)
	p.cuts = slices.Compact(p.cuts)
	places := len(p.cuts) + 1
	p.ended, p.matched, p.removed = make([]int64, places), make([]int64, places), make([]int64, places)
	return p
}

// place is how many of the cuts an offset lies at or behind.
func (p *PartitionScan) place(offset int64) int {
	n, found := slices.BinarySearch(p.cuts, offset)
	if found {
		n++
	}
	return n
}

// Visit shows the next record of the partition: they come in the order of their
// offsets. The timestamp is in milliseconds of the Unix epoch. A nil key or value
// is a null one, which is not the same as empty; neither is kept.
func (p *PartitionScan) Visit(offset, timestamp int64, key, value []byte) {
	if p.second != nil {
		p.again(offset, timestamp, key, value)
		return
	}
	c := &p.counts
	c.records++
	c.bytes += int64(len(key) + len(value))
	c.next = offset + 1
	k := ParseActionKey(key)
	c.generations[k.Generation]++
	if value == nil {
		c.tombstones++
	}
	view, failure := p.reader.read(value)
	if failure != "" {
		if c.unreadable++; len(c.unreadableAt) < maxSamples {
			c.unreadableAt = append(c.unreadableAt, offset)
		}
		if c.unreadableWhy == "" {
			c.unreadableWhy = failure
		}
	}
	if k.Generation == KeyUnattributable {
		if c.unattributable++; len(c.rawKeys) < maxRawKeys {
			c.rawKeys = append(c.rawKeys, rawKey(p.id, offset, key))
		}
		return
	}
	if k.Generation != KeyGeneration3 {
		p.note(k.Action, offset, timestamp)
	}
	if !p.scan.wanted.has(k) {
		return
	}
	e := p.entry(k)
	if e.elsewhere >= 0 {
		if c.elsewhere++; len(c.elsewhereAt) < maxSamples {
			c.elsewhereAt = append(c.elsewhereAt, offset)
		}
	}
	r := seenRecord{k: k, offset: offset, timestamp: timestamp, view: view, size: len(value)}
	switch {
	case failure != "":
		p.unreadable(e, r)
	case view.null:
		p.remove(e, r, key)
	case view.completed:
		p.complete(e, r)
	default:
		p.open(e, r, value)
	}
}

// seenRecord is a record as it was read.
type seenRecord struct {
	k                 ActionKey
	offset, timestamp int64
	view              stateView
	size              int
}

// note remembers where an action id was seen.
func (p *PartitionScan) note(id UUID, offset, timestamp int64) {
	recent := &p.recent[id[15]&63]
	span := *recent
	if span == nil || span.id != id {
		if span = p.ids[id]; span == nil {
			if len(p.ids) == maxActionIDs {
				p.idsLost = true
				return
			}
			span = &idSpan{id: id, first: offset, earliest: timestamp, lastTime: timestamp}
			p.ids[id] = span
		}
		*recent = span
	}
	span.last = offset
	span.earliest, span.lastTime = min(span.earliest, timestamp), max(span.lastTime, timestamp)
}

// keyEntry is what is known of one business key on a partition.
type keyEntry struct {
	text       []byte
	generation KeyGeneration
	group      int32
	elsewhere  int32 // the partition that the key computes to, -1: this one, or not known
	chain      int32 // the next entry of the same hash, -1

	sequence int64 // the newest one seen
	open     []*openAction
	done     []doneAction
	// Completed actions of the sequences from low to high may have been let go.
	low, high int64
}

// doneAction is an action that has ended. First and records are since it last
// began.
type doneAction struct {
	sequence      int64
	event, action UUID
	first, last   int64
	timestamp     int64
	records       int64
	calls         int64 // distinct calls that its records showed
	tombstone     int64 // -1
	dropped       bool  // by a tombstone, before it was completed
	eventType     string
	history       []heldCall // kept where completed actions are listed
}

// entry finds or makes the entry of a key.
func (p *PartitionScan) entry(k ActionKey) *keyEntry {
	if p.last >= 0 && p.slab[p.last].is(k) {
		return &p.slab[p.last]
	}
	hash := p.hash(k)
	if e := p.find(hash, k); e != nil {
		return e
	}
	if (len(p.slab) >= p.limit || p.bytes > maxKeyBytes) && !p.scan.wanted.completed {
		p.forgetIdle()
	}
	e := keyEntry{text: bytes.Clone(k.Text), generation: k.Generation, group: k.KeyGroup, elsewhere: p.elsewhere(k), chain: -1, sequence: -1, low: math.MaxInt64, high: -1}
	if p.forgetful {
		e.low, e.high = 0, math.MaxInt64
	}
	p.insert(hash, e)
	return &p.slab[p.last]
}

// elsewhere is the partition that a key computes to, -1: this one, or not known.
func (p *PartitionScan) elsewhere(k ActionKey) int32 {
	if to, ok := k.ComputedPartition(len(p.scan.partitions)); ok && to != p.id {
		return to
	}
	return -1
}

func (p *PartitionScan) hash(k ActionKey) uint64 {
	return maphash.Bytes(p.scan.seed, k.Text) ^ uint64(k.Generation)
}

// find returns the entry of a key, nil when there is none.
func (p *PartitionScan) find(hash uint64, k ActionKey) *keyEntry {
	at, ok := p.keys[hash]
	for ok && at >= 0 {
		if e := &p.slab[at]; e.is(k) {
			p.last = at
			return e
		}
		at = p.slab[at].chain
	}
	return nil
}

func (p *PartitionScan) insert(hash uint64, e keyEntry) {
	if at, ok := p.keys[hash]; ok {
		e.chain = at
	}
	p.last = int32(len(p.slab))
	p.keys[hash] = p.last
	p.slab = append(p.slab, e)
	p.bytes += len(e.text)
}

func (e *keyEntry) is(k ActionKey) bool {
	return e.generation == k.Generation && e.group == k.KeyGroup && bytes.Equal(e.text, k.Text)
}

func (e *keyEntry) key() ActionKey {
	return ActionKey{Generation: e.generation, KeyGroup: e.group, Text: e.text}
}

// forgetIdle lets the entries without an open action go. When most are open, the
// limit grows with them: open actions are what was asked for.
func (p *PartitionScan) forgetIdle() {
	old := p.slab
	p.slab, p.keys, p.bytes, p.last, p.forgetful = nil, map[uint64]int32{}, 0, -1, true
	for _, e := range old {
		if len(e.open) > 0 {
			e.chain = -1
			p.insert(p.hash(e.key()), e)
		}
	}
	p.limit = max(p.limit, 2*len(p.slab))
	if p.bytes > maxKeyBytes/2 {
		p.bytes = 0
	}
}

// advance notes the sequence of a record. Completed actions of earlier sequences
// are let go when none of their sequence is open.
func (p *PartitionScan) advance(e *keyEntry, sequence int64) {
	if sequence <= e.sequence {
		return
	}
	e.sequence = sequence
	if len(e.done) == 0 || p.scan.wanted.completed {
		return
	}
	e.done = slices.DeleteFunc(e.done, func(d doneAction) bool {
		if e.isOpen(d.sequence) {
			return false
		}
		e.forget(d.sequence)
		return true
	})
}

func (e *keyEntry) isOpen(sequence int64) bool {
	return slices.ContainsFunc(e.open, func(a *openAction) bool { return a.sequence == sequence })
}

func (e *keyEntry) forget(sequence int64) {
	e.low, e.high = min(e.low, sequence), max(e.high, sequence)
}

// unreadable notes that a later record of an open action can't be read.
func (p *PartitionScan) unreadable(e *keyEntry, r seenRecord) {
	if at := e.openAt(r.k); at >= 0 {
		a := e.open[at]
		a.unreadable = r.offset
		a.revision++
		return
	}
	p.mention(e, r, -1)
}

// mention remembers that a key has an action id of which no state is known.
func (p *PartitionScan) mention(e *keyEntry, r seenRecord, tombstone int64) {
	if e.doneAt(r.k) < 0 {
		p.keep(e, doneAction{sequence: r.k.Sequence, event: r.k.Event, action: r.k.Action, first: r.offset, last: r.offset, tombstone: tombstone, dropped: true})
	}
}

func (e *keyEntry) openAt(k ActionKey) int {
	for i, a := range e.open {
		if a.sequence == k.Sequence && a.action == k.Action && a.event == k.Event {
			return i
		}
	}
	return -1
}

func (e *keyEntry) doneAt(k ActionKey) int {
	for i := range e.done {
		d := &e.done[i]
		if d.sequence == k.Sequence && d.action == k.Action && d.event == k.Event {
			return i
		}
	}
	return -1
}

// open shows a record of an action that is not completed.
func (p *PartitionScan) open(e *keyEntry, r seenRecord, value []byte) {
	p.advance(e, r.k.Sequence)
	at := e.openAt(r.k)
	if at < 0 {
		a := p.newAction(r)
		a.partial = e.low <= r.k.Sequence && r.k.Sequence <= e.high
		if i := e.doneAt(r.k); i >= 0 { // it begins again
			e.done = slices.Delete(e.done, i, i+1)
		}
		if r.view.eventType != nil {
			a.eventType = p.intern(r.view.eventType)
		}
		at = len(e.open)
		e.open = append(e.open, a)
		p.opened++
	}
	a := e.open[at]
	a.equals(p.scan.seed, value, r.offset)
	a.show(p, r)
}

// complete shows the record that ends an action.
func (p *PartitionScan) complete(e *keyEntry, r seenRecord) {
	p.advance(e, r.k.Sequence)
	d := doneAction{
		sequence: r.k.Sequence, event: r.k.Event, action: r.k.Action, first: r.offset, last: r.offset,
		timestamp: r.timestamp, records: 1, tombstone: -1,
	}
	if at := e.openAt(r.k); at >= 0 {
		a := e.open[at]
		d.first, d.records, d.calls, d.eventType = a.first, a.records+1, int64(len(a.calls)+len(a.lost)), a.eventType
		if p.scan.wanted.completed {
			d.history = slices.Concat(a.calls, a.lost)
		}
		p.end(e, at)
	} else if i := e.doneAt(r.k); i >= 0 {
		e.done = slices.Delete(e.done, i, i+1)
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
func (p *PartitionScan) remove(e *keyEntry, r seenRecord, key []byte) {
	if at := e.openAt(r.k); at >= 0 {
		a := e.open[at]
		if len(a.calls)+len(a.lost) == 0 {
			p.end(e, at)
			p.mention(e, r, r.offset)
			return
		}
		a.tombstone = r.offset
		a.show(p, r)
		return
	}
	window := p.place(r.offset) > 0
	if i := e.doneAt(r.k); i >= 0 {
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
	p.noteBurst(e, a)
	if a.told {
		p.closed = append(p.closed, RecordPosition{p.id, a.first})
	}
	if p.scan.wanted.completed {
		return
	}
	*a = openAction{calls: a.calls[:0], lost: a.lost[:0]}
	if len(p.free) < 256 && cap(a.calls)+cap(a.lost) < 64 {
		p.free = append(p.free, a)
	}
}

// intern returns a text that is shared among all that say the same.
func (p *PartitionScan) intern(text []byte) string {
	if s, ok := p.interned[string(text)]; ok {
		return s
	}
	s := string(text)
	if len(p.interned) < maxInterned && len(s) <= 256 {
		p.interned[s] = s
	}
	return s
}

// wantedKeys is which keys were asked for, and whether completed actions were.
type wantedKeys struct {
	all       bool // every key
	completed bool
	texts     map[string]bool // of generations 1 and 2, and resolved ones
	digests   map[string]bool
	prefix    string
	resolve   KeyDictionary
}

func wantedOf(q CallQuestion) wantedKeys {
	w := wantedKeys{
		all: len(q.Keys) == 0 && q.Prefix == "", completed: q.All || len(q.Keys) > 0,
		texts: map[string]bool{}, digests: map[string]bool{}, prefix: q.Prefix, resolve: q.Dictionary,
	}
	for _, k := range q.Keys {
		if k.Digest != "" {
			w.digests[k.Digest] = true
		}
		if k.Text != nil {
			w.texts[*k.Text] = true
		}
	}
	return w
}

// has reports whether a key was asked for: by one of the keys where some were
// named, and by the prefix where there is one.
func (w *wantedKeys) has(k ActionKey) bool {
	if w.all {
		return true
	}
	text := string(k.Text)
	known := true
	if k.Generation == KeyGeneration3 {
		text, known = w.text(text)
	}
	if len(w.texts)+len(w.digests) > 0 && (!known || !w.texts[text]) && (k.Generation != KeyGeneration3 || !w.digests[string(k.Text)]) {
		return false
	}
	return w.prefix == "" || known && len(text) >= len(w.prefix) && text[:len(w.prefix)] == w.prefix
}

// text resolves a digest.
func (w *wantedKeys) text(digest string) (string, bool) {
	if w.resolve == nil {
		return "", false
	}
	return w.resolve.KeyText(digest)
}

// ordered are the parts in the order of their partitions.
func (s *CallScan) ordered() []*PartitionScan {
	out := make([]*PartitionScan, 0, len(s.shards))
	for _, id := range slices.Sorted(maps.Keys(s.shards)) {
		out = append(out, s.shards[id])
	}
	return out
}
