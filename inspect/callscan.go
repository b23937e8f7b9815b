package inspect

import (
	"cmp"
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
	recentIDs [64]*idSpan
	recent    []recentKey // by hash of the record key, as many as a power of two
	idsLost   bool
	interned  map[string]string
	free      []*openAction

	counts        partitionCounts
	cuts          []int64 // markers of the points on this partition, ascending
	ended         []int64 // calls of completed actions of generations 1 and 2, by place among cuts
	matched       []int64 // those of generation 3
	hidden        []int64 // completed actions of generations 1 and 2 of which only the end is there …
	hiddenMatched []int64 // … and of generation 3
	removed       []int64 // those of generation 3 that tombstones removed
	tombs         map[uint64]struct{}

	opened    int64 // actions that are open now …
	matchable int64 // … of these, those of keys of generation 3
	looked    int64 // records that were shown when the scan was last asked for news …
	quiet     bool  // … after which it had none left

	passed    int         // how many of the cuts were passed
	rewritten []Rewritten // behind each cut

	earliest int64            // where the history of actions begins that completed inside a window
	closed   []RecordPosition // news of actions that were told and have ended

	removedActions []ActionCalls
	bursts         []burst

	toldOpen, toldDone bool // what Final was asked for
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
	p.recent = make([]recentKey, recentKeys(len(s.partitions)))
	for _, point := range s.q.Points {
		if at, ok := point.Offsets[id]; ok {
			p.cuts = append(p.cuts, at)
		}
	}
	slices.Sort(p.cuts)
	p.cuts = slices.Compact(p.cuts)
	places := len(p.cuts) + 1
	p.ended, p.matched, p.removed = make([]int64, places), make([]int64, places), make([]int64, places)
	p.hidden, p.hiddenMatched = make([]int64, places), make([]int64, places)
	p.rewritten = make([]Rewritten, len(p.cuts))
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
	p.pass(offset)
	c := &p.counts
	c.records++
	c.bytes += int64(len(key) + len(value))
	if value == nil {
		c.tombstones++
	}
	r := seenRecord{at: -1, offset: offset, timestamp: timestamp, size: len(key) + len(value)}
	e, recent := p.lookUp(key, &r.k)
	c.generations[r.k.Generation]++
	if r.k.Generation != KeyGeneration3 && r.k.Generation != KeyUnattributable {
		p.note(r.k.Action, offset, timestamp)
	}
	var head []byte
	if e != nil {
		if r.at = e.openAt(&r.k); r.at >= 0 {
			head = e.open[r.at].head
		}
	}
	failure := p.reader.readAfter(head, value, &r.view)
	if failure != "" {
		c.unread(offset, failure)
	}
	if e == nil {
		if r.k.Generation == KeyUnattributable {
			c.unattributed(p.id, offset, key)
		}
		return
	}
	if e.elsewhere >= 0 {
		c.strayed(offset)
	}
	switch {
	case failure != "":
		p.unreadable(e, &r)
	case r.view.null:
		p.remove(e, &r, key)
	case r.view.completed:
		p.complete(e, &r)
	default:
		p.open(e, &r, value)
		recent.keep(key, &r.k, p.last)
	}
}

func (c *partitionCounts) unread(offset int64, why string) {
	c.unreadableWhy = cmp.Or(c.unreadableWhy, why)
	if c.unreadable++; len(c.unreadableAt) < maxSamples {
		c.unreadableAt = append(c.unreadableAt, offset)
	}
}

func (c *partitionCounts) unattributed(partition int32, offset int64, key []byte) {
	if c.unattributable++; len(c.rawKeys) < maxRawKeys {
		c.rawKeys = append(c.rawKeys, rawKey(partition, offset, key))
	}
}

func (c *partitionCounts) strayed(offset int64) {
	if c.elsewhere++; len(c.elsewhereAt) < maxSamples {
		c.elsewhereAt = append(c.elsewhereAt, offset)
	}
}

// seenRecord is a record as it was read.
type seenRecord struct {
	k                 ActionKey
	at                int // of its action among the open ones of its key, -1
	offset, timestamp int64
	size              int // of key and value, bytes
	view              stateView
}

// note remembers where an action id was seen.
func (p *PartitionScan) note(id UUID, offset, timestamp int64) {
	recent := &p.recentIDs[id[15]&63]
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

// ordered are the parts in the order of their partitions.
func (s *CallScan) ordered() []*PartitionScan {
	out := make([]*PartitionScan, 0, len(s.shards))
	for _, id := range slices.Sorted(maps.Keys(s.shards)) {
		out = append(out, s.shards[id])
	}
	return out
}
