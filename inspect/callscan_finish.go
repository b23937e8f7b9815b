package inspect

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Finish gives the answer. The extent is what was read; it is completed with
// what the scan counted itself. The scan must not be used afterwards.
func (s *CallScan) Finish(extent ScanExtent) DurableCalls {
	out := DurableCalls{Scanned: extent, Actions: []ActionCalls{}, Siblings: []ActionCalls{}, Removed: []ActionCalls{}, UnknownKeys: []RawKey{}, Points: []PointCalls{}, Findings: []Finding{}}
	out.Scanned.Records, out.Scanned.Bytes = 0, 0
	shards := s.ordered()
	for _, p := range shards {
		p.settle()
	}
	for _, p := range shards {
		c := p.counts
		out.Scanned.Records += c.records
		out.Scanned.Bytes += c.bytes
		out.Tombstones += c.tombstones
		out.Unattributable += c.unattributable
		out.Unreadable += c.unreadable
		for g, n := range c.generations {
			out.Generations[g] += n
		}
		out.UnknownKeys = append(out.UnknownKeys, c.rawKeys[:min(len(c.rawKeys), maxRawKeys-len(out.UnknownKeys))]...)
		for i := range p.slab {
			e := &p.slab[i]
			for _, a := range e.open {
				p.noteBurst(e, a)
				action := p.actionCalls(e, a)
				s.match(p, e, a, &action)
				out.Actions = append(out.Actions, action)
			}
			p.listDone(e, &out)
		}
		out.Removed = append(out.Removed, p.removedActions...)
	}
	for _, list := range [][]ActionCalls{out.Actions, out.Siblings, out.Removed} {
		slices.SortFunc(list, byPosition)
	}
	s.judge(&out)
	out.Findings = s.findings(&out)
	return out
}

// listDone adds the completed actions of a key that are told.
func (p *PartitionScan) listDone(e *keyEntry, out *DurableCalls) {
	for i := range e.done {
		d := &e.done[i]
		switch {
		case d.dropped:
		case p.scan.wanted.completed:
			out.Actions = append(out.Actions, p.doneCalls(e, d))
		case d.tombstone < 0 && slices.ContainsFunc(e.open, func(a *openAction) bool { return a.sequence == d.sequence && a.tombstone < 0 }):
			out.Siblings = append(out.Siblings, p.doneCalls(e, d))
		}
	}
}

func byPosition(a, b ActionCalls) int {
	return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Offset, b.Offset))
}

// match finds out whether an action id belongs to a JVM that has ended: then the
// same event has an action whose id first appears on the topic after the last
// appearance of this one anywhere.
func (s *CallScan) match(p *PartitionScan, e *keyEntry, a *openAction, out *ActionCalls) {
	if e.generation == KeyGeneration3 {
		return
	}
	for _, other := range s.from(p) {
		same := e
		if other != p {
			if same = other.find(other.hash(e.key()), e.key()); same == nil {
				continue
			}
		}
		consider := func(id UUID) {
			if id == a.action || !s.replaced(a.action, id) {
				return
			}
			first := other.ids[id].first
			if out.Newer == nil || out.Newer.Partition == other.id && first < out.Newer.Offset {
				out.Newer = &RecordPosition{other.id, first}
			}
		}
		for _, b := range same.open {
			if b.sequence == a.sequence && b.event == a.event {
				consider(b.action)
			}
		}
		for i := range same.done {
			if d := &same.done[i]; d.sequence == a.sequence && d.event == a.event {
				consider(d.action)
			}
		}
	}
	if out.Newer == nil {
		return
	}
	out.Unmatched = true
	for i := range out.Calls {
		if out.Calls[i].State == CallPending {
			out.Calls[i].State = CallUnmatched
		}
	}
}

// from are the parts of the scan, beginning with p.
func (s *CallScan) from(p *PartitionScan) []*PartitionScan {
	out := []*PartitionScan{p}
	for _, other := range s.ordered() {
		if other != p {
			out = append(out, other)
		}
	}
	return out
}

// replaced reports whether a new id first appears after the last appearance of
// an old one. On a partition that has both, offsets must say so; between two
// partitions, whose offsets can't be compared, the times of the records must.
func (s *CallScan) replaced(old, new UUID) bool {
	pair := [2]UUID{old, new}
	is, known := s.successors[pair]
	if !known {
		is = s.isReplaced(old, new)
		s.successors[pair] = is
	}
	return is
}

func (s *CallScan) isReplaced(old, new UUID) bool {
	// The earliest appearance of the new id, and the earliest on another partition
	// than that one's.
	first, second := int64(math.MaxInt64), int64(math.MaxInt64)
	var at *PartitionScan
	for _, p := range s.shards {
		a, b := p.ids[old], p.ids[new]
		switch {
		case p.idsLost && (a == nil || b == nil), a != nil && b != nil && a.last >= b.first:
			return false
		case b == nil:
		case b.earliest < first:
			first, second, at = b.earliest, first, p
		default:
			second = min(second, b.earliest)
		}
	}
	seen := false
	for _, p := range s.shards {
		a := p.ids[old]
		if a == nil {
			continue
		}
		seen = true
		elsewhere := first
		if p == at {
			elsewhere = second
		}
		if a.lastTime >= elsewhere {
			return false
		}
	}
	return seen && at != nil
}

func (p *PartitionScan) callKey(e *keyEntry) CallKey {
	var key CallKey
	text := string(e.text)
	if e.generation == KeyGeneration3 {
		key.Digest = text
		if known, ok := p.scan.wanted.text(text); ok {
			key.Text = &known
		}
		return key
	}
	if !utf8.ValidString(text) {
		key.TextBase64 = base64.StdEncoding.EncodeToString(e.text)
		text = string(bytes.ToValidUTF8(e.text, []byte("\uFFFD")))
	}
	key.Text = &text
	return key
}

// about is what open and completed actions have in common.
func (p *PartitionScan) about(e *keyEntry) ActionCalls {
	out := ActionCalls{Key: p.callKey(e), Generation: e.generation, Partition: p.id, Calls: []Call{}, Outcomes: []PointOutcome{}}
	if e.generation != KeyGeneration1 {
		group := e.group
		out.KeyGroup = &group
	}
	if e.elsewhere >= 0 {
		to := e.elsewhere
		out.Elsewhere = &to
	}
	return out
}

func (p *PartitionScan) actionCalls(e *keyEntry, a *openAction) ActionCalls {
	out := p.about(e)
	out.Sequence, out.EventUUID, out.ActionUUID, out.EventType = a.sequence, a.event.String(), a.action.String(), a.eventType
	out.Offset, out.Timestamp, out.First, out.Records = a.last, time.UnixMilli(a.timestamp).UTC(), a.first, a.records
	out.Repeated = a.longest
	out.Tombstone, out.Unreadable = p.position(a.tombstone), p.position(a.unreadable)
	for _, calls := range [][]heldCall{a.calls, a.lost} {
		for i := range calls {
			out.Calls = append(out.Calls, p.call(&calls[i], i < len(a.calls) && &calls[i] == &a.calls[i]))
		}
	}
	return out
}

func (p *PartitionScan) doneCalls(e *keyEntry, d *doneAction) ActionCalls {
	out := p.about(e)
	out.Sequence, out.EventUUID, out.ActionUUID, out.EventType = d.sequence, d.event.String(), d.action.String(), d.eventType
	out.Offset, out.Timestamp, out.First, out.Records = d.last, time.UnixMilli(d.timestamp).UTC(), d.first, d.records
	out.Completed, out.Repeated = true, 1
	out.Tombstone = p.position(d.tombstone)
	for i := range d.history {
		out.Calls = append(out.Calls, p.call(&d.history[i], true))
	}
	return out
}

// position is nil for an offset below zero.
func (p *PartitionScan) position(offset int64) *RecordPosition {
	if offset < 0 {
		return nil
	}
	return &RecordPosition{p.id, offset}
}

// call is a call as it is told; here says that the last record has it.
func (p *PartitionScan) call(h *heldCall, here bool) Call {
	c := Call{
		Index: int(h.index), FunctionID: h.function, ArgsDigest: h.args, State: CallSaved,
		Seen: RecordPosition{p.id, h.seen}, Lost: p.position(h.lost), Outcomes: []PointOutcome{},
	}
	switch {
	case h.pending && here:
		c.State = CallPending
	case h.pending:
		c.State = CallOverwritten
	}
	if h.named {
		status := h.status
		c.Status = &status
	}
	if h.result >= 0 {
		n := h.result
		c.ResultBytes = &n
	}
	if h.exception >= 0 {
		n := h.exception
		c.ExceptionBytes = &n
	}
	return c
}

// rawKey is a key that fits no layout, made safe.
func rawKey(partition int32, offset int64, key []byte) RawKey {
	const most = 4096
	out := RawKey{RecordPosition: RecordPosition{partition, offset}}
	if key == nil {
		return out
	}
	cut := key[:min(len(key), most)]
	text := safetext.Bytes(cut).String()
	if len(cut) < len(key) {
		text += "…"
	}
	out.Key = &text
	if !utf8.Valid(key) {
		out.KeyBase64 = base64.StdEncoding.EncodeToString(cut)
	}
	return out
}
