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
		if p.counts.records != p.looked {
			p.looked, p.quiet = p.counts.records, false
		}
		if !p.quiet {
			changed, p.quiet = p.news(changed, complete)
		}
		closed = append(closed, p.closed...)
		p.closed = nil
		p.Unlock()
	}
	return changed, closed
}

// news adds the partition's news to a list; quiet says that none is left.
func (p *PartitionScan) news(changed []ActionCalls, complete bool) (_ []ActionCalls, quiet bool) {
	quiet = true
	for i := range p.slab {
		e := &p.slab[i]
		for _, a := range e.open {
			switch {
			case len(a.calls)+len(a.lost) == 0 || a.told && a.toldAt == a.revision:
			case !complete && a.noted != a.revision:
				a.noted, quiet = a.revision, false
			case len(changed) == maxNews:
				return changed, false
			default:
				a.told, a.toldAt = true, a.revision
				changed = append(changed, p.actionCalls(e, a))
			}
		}
	}
	return changed, quiet
}

// Seen is how many records were shown, their bytes, and how many actions are open
// now.
func (s *CallScan) Seen() (records, bytes, open int64) {
	for _, p := range s.shards {
		p.Lock()
		records += p.counts.records
		bytes += p.counts.bytes
		open += p.opened
		p.Unlock()
	}
	return records, bytes, open
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
