package inspect

import (
	"bytes"
	"hash/maphash"
	"math"
	"slices"
)

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

// recentKey is a record key of an open action that was taken apart a short while
// ago: the records of one action are close together.
type recentKey struct {
	hash   uint64
	key    []byte // nil: none
	parsed ActionKey
	entry  int32
}

// maxRecentKey is how long a key may be that is kept so.
const maxRecentKey = 256

// recentKeys is how many are kept for each of so many partitions.
func recentKeys(partitions int) int {
	n := 1 << 11
	for n > 1<<6 && n*partitions > 1<<14 {
		n >>= 1
	}
	return n
}

// lookUp takes a record key apart and finds or makes the entry of its business
// key: nil for a record key of no known layout, and for one that was not asked
// for. The text of the key it sets is the entry's where there is one. The slot is
// where the key is to be kept should more of its records follow.
func (p *PartitionScan) lookUp(key []byte, k *ActionKey) (*keyEntry, recentSlot) {
	hash := maphash.Bytes(p.scan.seed, key)
	slot := recentSlot{at: &p.recent[hash&uint64(len(p.recent)-1)], hash: hash}
	if slot.at.hash == hash && slot.at.key != nil && bytes.Equal(slot.at.key, key) {
		slot.held = true
		p.last, *k = slot.at.entry, slot.at.parsed
		return &p.slab[slot.at.entry], slot
	}
	*k = ParseActionKey(key)
	if k.Generation == KeyUnattributable || !p.scan.wanted.has(k) {
		return nil, slot
	}
	e := p.entry(k)
	k.Text = e.text
	return e, slot
}

// recentSlot is the place of a record key among the recent ones.
type recentSlot struct {
	at   *recentKey
	hash uint64
	held bool // it is there
}

// keep remembers a key that was taken apart.
func (s recentSlot) keep(key []byte, k *ActionKey, entry int32) {
	if s.held || len(key) > maxRecentKey {
		return
	}
	*s.at = recentKey{hash: s.hash, key: append(s.at.key[:0], key...), parsed: *k, entry: entry}
}

// entry finds or makes the entry of a key.
func (p *PartitionScan) entry(k *ActionKey) *keyEntry {
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
func (p *PartitionScan) elsewhere(k *ActionKey) int32 {
	if to, ok := p.scan.q.Job.place(*k, len(p.scan.partitions)); ok && to != p.id {
		return to
	}
	return -1
}

func (p *PartitionScan) hash(k *ActionKey) uint64 {
	return maphash.Bytes(p.scan.seed, k.Text) ^ uint64(k.Generation)
}

// find returns the entry of a key, nil when there is none.
func (p *PartitionScan) find(hash uint64, k *ActionKey) *keyEntry {
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

func (e *keyEntry) is(k *ActionKey) bool {
	return e.generation == k.Generation && e.group == k.KeyGroup && bytes.Equal(e.text, k.Text)
}

func (e *keyEntry) key() *ActionKey {
	return &ActionKey{Generation: e.generation, KeyGroup: e.group, Text: e.text}
}

// forgetIdle lets the entries without an open action go. When most are open, the
// limit grows with them: open actions are what was asked for.
func (p *PartitionScan) forgetIdle() {
	for i := range p.recent {
		p.recent[i].key = nil
	}
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
func (w *wantedKeys) has(k *ActionKey) bool {
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
