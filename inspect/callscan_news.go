package inspect

import "slices"

// maxNews bounds one update; what is left over comes with the next.
const maxNews = 1000

// News returns what became known since it was asked last: open actions with a
// call that have not changed for one turn, so that what comes and goes between
// two turns is no news. Neither list is longer than a screen can follow; the rest
// comes the next time. Complete makes it return also what has just changed.
func (s *CallScan) News(complete bool) (changed []ActionCalls, closed []RecordPosition) {
	for _, p := range s.ordered() {
		p.Lock()
		for i := range p.slab {
			e := &p.slab[i]
			for _, a := range e.open {
				if len(a.calls)+len(a.lost) == 0 || a.told && a.toldAt == a.revision {
					continue
				}
				if !complete && a.noted != a.revision {
					a.noted = a.revision
					continue
				}
				if len(changed) == maxNews {
					break
				}
				a.told, a.toldAt = true, a.revision
				changed = append(changed, p.actionCalls(e, a))
			}
		}
		closed = append(closed, p.closed...)
		p.closed = nil
		p.Unlock()
	}
	return changed, closed
}

// Open is how many actions are open now, and Seen how many records were shown
// and their bytes.
func (s *CallScan) Seen() (records, bytes int64) {
	for _, p := range s.shards {
		p.Lock()
		records += p.counts.records
		bytes += p.counts.bytes
		p.Unlock()
	}
	return records, bytes
}

// OpenActions is how many actions are open now.
func (s *CallScan) OpenActions() int64 {
	var n int64
	for _, p := range s.shards {
		p.Lock()
		for i := range p.slab {
			n += int64(len(p.slab[i].open))
		}
		p.Unlock()
	}
	return n
}

// burst is a run of equal records of one key.
type burst struct {
	records int64
	from    int64
	key     CallKey
}

const (
	minBurst  = 16
	maxBursts = 8 // of one partition: the longest
)

func (p *PartitionScan) noteBurst(e *keyEntry, a *openAction) {
	if a.longest < minBurst {
		return
	}
	p.bursts = append(p.bursts, burst{records: a.longest, from: a.longFrom, key: p.callKey(e)})
	slices.SortStableFunc(p.bursts, func(a, b burst) int { return int(min(max(b.records-a.records, -1), 1)) })
	p.bursts = p.bursts[:min(len(p.bursts), maxBursts)]
}
