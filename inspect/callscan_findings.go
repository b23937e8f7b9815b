package inspect

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/recoverctl/recoverctl/internal/figures"
)

// findings are the facts of a scan that are worth attention.
func (s *CallScan) findings(out *DurableCalls) []Finding {
	topic := s.q.Job.Store.Log() + " " + quote(s.q.Job.Topic)
	var all []Finding
	add := func(severity Severity, rule string, refs []string, numbers Named, next, cause string, args ...any) {
		if refs == nil {
			refs = []string{topic}
		}
		all = append(all, Finding{Severity: severity, Rule: rule, Refs: refs, Numbers: numbers, Cause: fmt.Sprintf(cause, args...), Next: next})
	}
	if at := s.callsIn(out, CallOverwritten); len(at) > 0 {
		cause := "%s were PENDING, and a later record of the same action lost them: nothing says any more that they may be out"
		if out.Counts.Overwritten == 1 {
			cause = "%s was PENDING, and a later record of the same action lost it: nothing says any more that it may be out"
		}
		add(SeverityWarning, "calls-overwritten", at, Named{"calls": out.Counts.Overwritten},
			"ask the called system whether these calls were made, before the job is restored", cause, calls(out.Counts.Overwritten))
	}
	if at := s.callsIn(out, CallUnmatched); len(at) > 0 {
		cause := "%s are PENDING under action ids of a JVM that has ended: the same events were processed again under newer ids"
		if out.Counts.Unmatched == 1 {
			cause = "%s is PENDING under an action id of a JVM that has ended: the same event was processed again under a newer id"
		}
		add(SeverityInfo, "calls-unmatched", at, Named{"calls": out.Counts.Unmatched},
			"settle them once in the called system; their records stay "+s.stay(), cause, calls(out.Counts.Unmatched))
	}
	if n, at := s.removedOpen(out); n > 0 {
		add(SeverityWarning, "tombstone-on-open-action", at, Named{"actions": n},
			"find out who wrote these tombstones: the job removes completed actions only",
			"%s with calls on record and no end were removed by tombstones", actions(n))
	}
	s.hiddenFinding(out, add)
	s.partitionFindings(add)
	s.burstFindings(add)
	s.rewrittenFindings(out, add)
	if released := out.Generations[KeyGeneration1] + out.Generations[KeyGeneration2]; released > 0 && len(out.Actions) > 0 {
		add(SeverityInfo, "keys-of-earlier-generations", nil, Named{"generation1": out.Generations[KeyGeneration1], "generation2": out.Generations[KeyGeneration2]},
			"count on every call inside a replay window being made again",
			"%s have keys of generation 1 or 2, whose action ids change with each JVM: after a restart nothing matches them", records(released))
	}
	return inOrder(all)
}

// hiddenFinding is about completed actions that a restore processes again and of
// which no record shows the calls any more.
func (s *CallScan) hiddenFinding(out *DurableCalls, add addFinding) {
	most := int64(0)
	var at []string
	for _, p := range out.Points {
		if p.Hidden == 0 {
			continue
		}
		if most = max(most, p.Hidden); len(at) < maxSamples {
			at = append(at, p.Point)
		}
	}
	if most == 0 {
		return
	}
	gone := "compaction, or a deletion, left only their last records"
	if s.q.Job.Store == StoreFluss {
		gone = "their first records expired"
	}
	add(SeverityWarning, "completed-without-history", at, Named{"actions": most},
		"ask about a newer recovery point, whose window is shorter, or count on every call that these actions made",
		"%s inside the window of a recovery point would be processed again, and %s: which calls they made is not known, and none of them is counted", completedActions(most), gone)
}

func completedActions(n int64) string {
	return figures.Count(n, "completed action", "completed actions")
}

type addFinding func(severity Severity, rule string, refs []string, numbers Named, next, cause string, args ...any)

// partitionFindings are about records that are not as a job writes them.
func (s *CallScan) partitionFindings(add addFinding) {
	var elsewhere, unreadable, unattributable, tombs int64
	var elsewhereAt, unreadableAt, unattributableAt []string
	why, lost := "", false
	for _, p := range s.ordered() {
		c := p.counts
		elsewhere, unreadable = elsewhere+c.elsewhere, unreadable+c.unreadable
		unattributable, tombs = unattributable+c.unattributable, tombs+c.tombsLost
		lost = lost || p.idsLost
		why = cmp.Or(why, c.unreadableWhy)
		elsewhereAt = p.refs(elsewhereAt, c.elsewhereAt)
		unreadableAt = p.refs(unreadableAt, c.unreadableAt)
		for _, k := range c.rawKeys[:min(len(c.rawKeys), maxSamples)] {
			unattributableAt = p.refs(unattributableAt, []int64{k.Offset})
		}
	}
	part, log := s.q.Job.Store.Part(), s.q.Job.Store.Log()
	in, cause := "on", "partitions were added to the topic"
	if s.q.Job.Store == StoreFluss {
		in, cause = "in", "the table has another bucket key than the agent's"
	}
	if elsewhere > 0 {
		add(SeverityWarning, "records-elsewhere", elsewhereAt, Named{"records": elsewhere, part + "s": int32(len(s.partitions))},
			"find out whether "+cause+" or another program writes to it",
			"%s lie %s another %s than their keys compute to with %s: the job may look for them elsewhere", records(elsewhere), in, part, figures.Count(len(s.partitions), part, part+"s"))
	}
	if unreadable > 0 {
		add(SeverityWarning, "values-unreadable", unreadableAt, Named{"records": unreadable},
			"find out who wrote them: a restore stops at the first that it reads",
			"%s have a value that is no action state; the first: %s", records(unreadable), why)
	}
	if unattributable > 0 {
		add(SeverityWarning, "keys-unattributable", unattributableAt, Named{"records": unattributable},
			"find out who wrote them; they may hold calls that are not listed here",
			"%s have a key of no known layout", records(unattributable))
	}
	if tombs > 0 {
		add(SeverityWarning, "tombstones-not-followed", nil, Named{"tombstones": tombs},
			"ask about a newer recovery point, whose window is shorter",
			"%s tombstones inside a window are more than can be followed: calls that they make run again are not counted", group(tombs))
	}
	if lost {
		add(SeverityInfo, "action-ids-not-followed", nil, Named{"limit": int32(maxActionIDs)},
			"look at who writes to the "+log+": a job has a few action ids in each JVM",
			"a %s has more than %s action ids: a call of an ended JVM may be listed as pending", part, group(maxActionIDs))
	}
}

// refs adds places to a list that stays short.
func (p *PartitionScan) refs(list []string, offsets []int64) []string {
	for _, offset := range offsets {
		if len(list) == maxSamples {
			break
		}
		list = append(list, p.scan.ref(RecordPosition{p.id, offset}))
	}
	return list
}

func (s *CallScan) burstFindings(add addFinding) {
	type found struct {
		burst
		partition int32
	}
	var all []found
	for _, p := range s.ordered() {
		for _, b := range p.bursts {
			all = append(all, found{b, p.id})
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(b.records, a.records) })
	for _, b := range all[:min(len(all), maxSamples)] {
		if s.q.Job.refreshes() {
			add(SeverityInfo, "equal-records", []string{s.ref(RecordPosition{b.partition, b.from})}, Named{"records": b.records, "bucket": b.partition, "offset": b.from},
				"compare with the number of checkpoints since then: more of them are of an action that waits and writes at every turn, and a call that it forgot may be out",
				"%s in a row of the key %s are equal, from bucket %d, offset %s on: a store that writes its states anew does so once with each checkpoint", records(b.records), keyName(b.key), b.partition, group(b.from))
			continue
		}
		add(SeverityWarning, "equal-records", []string{s.ref(RecordPosition{b.partition, b.from})}, Named{"records": b.records, s.q.Job.Store.Part(): b.partition, "offset": b.from},
			"look at the job: it writes a record at every turn of a waiting action, and a call that it forgot may be out",
			"%s in a row of the key %s are equal, from %s %d, offset %s on", records(b.records), keyName(b.key), s.q.Job.Store.Part(), b.partition, group(b.from))
	}
}

// stay is how long a record is there.
func (s *CallScan) stay() string {
	if s.q.Job.Store == StoreFluss {
		return "in the table until they expire (table.log.ttl)"
	}
	return "on the topic for ever"
}

// keyName is a key for a sentence.
func keyName(k CallKey) string {
	if k.Text != nil {
		return quoteBytes([]byte(*k.Text))
	}
	return k.Digest
}

// removedOpen counts open actions with calls that tombstones removed.
func (s *CallScan) removedOpen(out *DurableCalls) (n int64, refs []string) {
	for _, a := range out.Actions {
		if a.Completed || a.Tombstone == nil {
			continue
		}
		if n++; len(refs) < maxSamples {
			refs = append(refs, s.ref(*a.Tombstone))
		}
	}
	return n, refs
}

// callsIn is where the first calls of a state were seen.
func (s *CallScan) callsIn(out *DurableCalls, state CallState) (refs []string) {
	for _, a := range out.Actions {
		for _, c := range a.Calls {
			if c.State == state && !a.Completed && len(refs) < maxSamples {
				refs = append(refs, s.ref(c.Seen))
			}
		}
	}
	return refs
}

func calls(n int64) string { return figures.Count(n, "call", "calls") }

func actions(n int64) string { return figures.Count(n, "action", "actions") }
