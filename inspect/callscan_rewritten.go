package inspect

import (
	"fmt"
	"slices"

	"github.com/recoverctl/recoverctl/internal/figures"
)

// Rewritten is what a store that writes its states anew with each recovery point
// did for one of them: it takes the log ends for the marker first, and then appends
// the states that it keeps. It is recognised by records that equal the one before of
// their key. Actions are those of keys of generation 3: nothing matches others after a
// restart, wherever their records lie.
type Rewritten struct {
	Open    int64 `json:"open"`    // actions that were open at the marker
	Found   int64 `json:"found"`   // of these, those with a record behind it: a restore sees them
	Again   int64 `json:"again"`   // of these, those whose next record behind it equals the one before it
	Records int64 `json:"records"` // equal records from the marker to the next point's: what writing anew cost
	Bytes   int64 `json:"bytes"`   // of their keys and values
}

// missing is how many open actions a restore does not see.
func (r Rewritten) missing() int64 { return r.Open - r.Found }

// note says of a restore what it does not see.
func (r Rewritten) note() string {
	why := "nothing was written anew behind it, and no later release repairs that"
	if r.Again > 0 {
		why = "their states were written anew in part only, or the store had let go of them"
	}
	return fmt.Sprintf("Of what was open at its marker, %s, the restore does not see %s: %s.", actions(r.Open), group(r.missing()), why)
}

func (r *Rewritten) add(other Rewritten) {
	r.Open += other.Open
	r.Found += other.Found
	r.Again += other.Again
	r.Records += other.Records
	r.Bytes += other.Bytes
}

// pass notes which actions are open at the markers that a record lies behind.
func (p *PartitionScan) pass(offset int64) {
	for p.passed < len(p.cuts) && offset >= p.cuts[p.passed] {
		p.rewritten[p.passed].Open = p.matchable
		p.passed++
	}
}

// followed notes that an action that was open at the last markers has a record
// behind them; again says that it equals the one before.
func (p *PartitionScan) followed(e *keyEntry, a *openAction, again bool) {
	if e.generation != KeyGeneration3 {
		return
	}
	for i := a.passed; i < p.passed; i++ {
		p.rewritten[i].Found++
		if again {
			p.rewritten[i].Again++
		}
	}
	if a.passed != p.passed {
		a.passed, a.copies = p.passed, 0
	}
	if !again {
		a.copies = 0
		return
	}
	a.copies++
}

// repeated notes what a record cost that equals the one before of its key.
func (p *PartitionScan) repeated(size int) {
	if p.passed > 0 {
		p.rewritten[p.passed-1].Records++
		p.rewritten[p.passed-1].Bytes += int64(size)
	}
}

// rewrittenAt is what was written anew behind a marker of the partition.
func (p *PartitionScan) rewrittenAt(marker int64) Rewritten {
	i, _ := slices.BinarySearch(p.cuts, marker)
	if i >= p.passed { // the log ends before it, or at it
		return Rewritten{Open: p.matchable}
	}
	return p.rewritten[i]
}

// rewrittenFor is what was written anew for a point; nil where its marker is not
// known, and where the store is none that does so.
func (s *CallScan) rewrittenFor(point PointMarker) *Rewritten {
	if s.q.Job.Store != StoreFluss || point.Offsets == nil {
		return nil
	}
	var out Rewritten
	for _, p := range s.shards {
		if marker, ok := point.Offsets[p.id]; ok {
			out.add(p.rewrittenAt(marker))
		}
	}
	return &out
}

// rewrittenFindings explain what a store that writes its states anew has left
// behind, and what one that does not can't repair.
func (s *CallScan) rewrittenFindings(out *DurableCalls, add addFinding) {
	if s.q.Job.Store != StoreFluss {
		return
	}
	var before []PointCalls
	for n, point := range s.q.Points {
		r := out.Points[n].Rewritten
		switch {
		case r == nil || r.missing() == 0:
		case r.Again > 0 && s.q.Job.refreshes():
			s.halfWritten(point, *r, out, add)
		default:
			before = append(before, out.Points[n])
		}
	}
	s.notRepaired(before, add)
	if s.q.Job.refreshes() {
		s.unfinished(add)
		s.rewritingCost(out.Points, add)
	}
}

// halfWritten is a point behind whose marker some of the states are that were
// there, and others are not.
func (s *CallScan) halfWritten(point PointMarker, r Rewritten, out *DurableCalls, add addFinding) {
	var where []string
	for _, p := range s.ordered() {
		marker, ok := point.Offsets[p.id]
		if part := p.rewrittenAt(marker); ok && part.missing() > 0 {
			where = append(where, fmt.Sprintf("bucket %d: %s of %s", p.id, group(part.Found), group(part.Open)))
		}
	}
	refs := []string{}
	for _, a := range out.Actions {
		if marker, ok := point.Offsets[a.Partition]; ok && !a.Completed && a.Generation == KeyGeneration3 && a.Offset < marker && len(refs) < maxSamples {
			refs = append(refs, s.ref(RecordPosition{a.Partition, a.Offset}))
		}
	}
	add(SeverityWarning, "rewritten-in-part", refs, Named{"open": r.Open, "found": r.Found, "again": r.Again, "missing": r.missing()},
		"restore from a recovery point that has them (inspect points --calls), or find out on the other side what became of these calls",
		"behind the marker of %s are %s of the %s that were open there, %s of them as they were: its states were written anew in part only, or the store had let go of the others (%s)",
		quote(lastPart(point.Point)), group(r.Found), actions(r.Open), group(r.Again), figures.First(where, maxSamples))
}

// notRepaired are points whose markers lie behind states that nobody wrote again.
func (s *CallScan) notRepaired(points []PointCalls, add addFinding) {
	if len(points) == 0 {
		return
	}
	refs, names := []string{}, []string{}
	least := points[0].Rewritten.missing()
	for _, p := range points {
		least = min(least, p.Rewritten.missing())
		names = append(names, fmt.Sprintf("%s (%s)", quote(lastPart(p.Point)), group(p.Rewritten.missing())))
		if len(refs) < maxSamples {
			refs = append(refs, p.Point)
		}
	}
	severity, anew := SeverityWarning, "nothing was written anew behind them"
	if !s.q.Job.refreshes() {
		severity, anew = SeverityInfo, "release "+string(s.q.Job.Runtime)+" writes none of them anew"
	}
	add(severity, "point-before-rewriting", refs, Named{"points": int64(len(points)), "least": least},
		"take a new recovery point with a release that writes its states anew; until then find out on the other side what became of these calls before you restore",
		"the markers of these recovery points lie behind the last records of open actions, and %s: %s. A later release that does so can't repair these points: what lies before a marker is not read again",
		anew, figures.First(names, maxSamples))
}

// rewritingCost is what writing anew costs the log.
func (s *CallScan) rewritingCost(points []PointCalls, add addFinding) {
	var most *PointCalls
	counted := int64(0)
	var sum Rewritten
	for i := range points {
		r := points[i].Rewritten
		if r == nil || r.Records == 0 {
			continue
		}
		counted++
		sum.add(*r)
		if most == nil || r.Records > most.Rewritten.Records {
			most = &points[i]
		}
	}
	if most == nil {
		return
	}
	add(SeverityInfo, "states-written-anew", nil, Named{"points": counted, "records": sum.Records, "bytes": sum.Bytes, "most": most.Rewritten.Records},
		"if it grows from point to point, look for open actions that never end: recoverctl inspect calls",
		"writing states anew cost %s and %s bytes for each recovery point on average, and %s and %s bytes for %s",
		records(sum.Records/counted), group(sum.Bytes/counted), records(most.Rewritten.Records), group(most.Rewritten.Bytes), quote(lastPart(most.Point)))
}

// series is a writing anew that a bucket has only the beginning of.
type series struct {
	bucket     int32
	again      int64 // states that it has written
	left       int64 // states that the one before has, and it has not
	from, to   int64 // offsets
	unfinished []int64
}

// unfinished are states that were written anew once more, behind all markers, while
// others were not: by a checkpoint that has no recovery point.
func (s *CallScan) unfinished(add addFinding) {
	var words, refs []string
	var again, left int64
	for _, p := range s.ordered() {
		part, ok := p.lastSeries()
		if !ok {
			continue
		}
		again, left = again+part.again, left+part.left
		words = append(words, fmt.Sprintf("bucket %d: %s of %s, from offset %s to %s", p.id, group(part.again), group(part.again+part.left), group(part.from), group(part.to)))
		for _, at := range part.unfinished {
			if len(refs) < maxSamples {
				refs = append(refs, s.ref(RecordPosition{p.id, at}))
			}
		}
	}
	if left == 0 {
		return
	}
	add(SeverityInfo, "rewriting-unfinished", refs, Named{"again": again, "left": left},
		"nothing is lost by it: a restore from the recovery point before it finds these states where they were last written; if no checkpoint is under way, look at why the last one failed",
		"a checkpoint that no recovery point is known of has begun to write states anew and did not finish: %s", figures.First(words, maxSamples))
}

// lastSeries is the last writing anew behind all markers, if it is not whole. States
// that were written anew as often as the most are its; those once less, whose last
// record lies before it began, are left. A state that was never written anew behind
// the marker says nothing: the store may not have kept it.
func (p *PartitionScan) lastSeries() (series, bool) {
	most := int64(0)
	each := func(visit func(a *openAction, copies int64)) {
		for i := range p.slab {
			for _, a := range p.slab[i].open {
				if a.passed == p.passed && p.slab[i].generation == KeyGeneration3 {
					visit(a, a.copies)
				}
			}
		}
	}
	each(func(_ *openAction, copies int64) { most = max(most, copies) })
	out := series{bucket: p.id, from: -1}
	if most < 2 {
		return out, false
	}
	each(func(a *openAction, copies int64) {
		if copies != most {
			return
		}
		out.again++
		if out.from < 0 || a.last < out.from {
			out.from = a.last
		}
		out.to = max(out.to, a.last)
	})
	each(func(a *openAction, copies int64) {
		if copies == most-1 && a.last < out.from {
			out.left++
			out.unfinished = append(out.unfinished, a.last)
		}
	})
	slices.Sort(out.unfinished)
	return out, out.left > 0
}

// ref names a record by the store's own words.
func (s *CallScan) ref(at RecordPosition) string {
	return fmt.Sprintf("%s %d offset %d", s.q.Job.Store.Part(), at.Partition, at.Offset)
}
