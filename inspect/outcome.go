package inspect

import (
	"fmt"
	"math"
	"slices"
)

// Outcome is what a restore from a recovery point does to one call of an action.
// What decides is, in this order:
//
//   - whether the last record of the action lies inside the window of the point: a
//     restore does not see what lies before the marker;
//   - the job's release and the key generation: releases 0.1 to 0.3 and keys of
//     generations 1 and 2 name an action by the hash code of its JVM, which a
//     restored job matches no more;
//   - what that last record says of the call.
//
// A restore that is refused does nothing to any call: that is its verdict's
// matter, and not looked at here.
func Outcome(job Job, a ActionCalls, c Call, point PointMarker) PointOutcome {
	outcome, why := outcomeOf(job, &a, &c, point)
	return PointOutcome{Point: point.Point, Outcome: outcome, Why: why}
}

func outcomeOf(job Job, a *ActionCalls, c *Call, point PointMarker) (CallOutcome, string) {
	at := fmt.Sprintf("%s %d, offset %s", job.Store.Part(), a.Partition, group(a.Offset))
	marker, known, why := markerOf(job, a, point)
	if a.Completed {
		return completedOutcome(job, a, at, marker, known, why)
	}
	switch {
	case job.Runtime == Release01:
		return CallRunsAgain, "release 0.1 replays no marker, so it sees no record and the call is made again"
	case a.Generation == KeyUnattributable:
		return CallUnknown, "the record key is of no known layout"
	case !known:
		if outOfMatch(job, a) {
			return CallRunsAgain, runsAnyway(job, a)
		}
		return CallUnknown, why
	case a.Offset < marker && a.Unreadable != nil && a.Unreadable.Offset >= marker,
		a.Offset >= marker && a.Unreadable != nil:
		return CallUnknown, fmt.Sprintf("the restore reads a record of this action at %s %d, offset %s, whose value can't be decoded: it stops there", job.Store.Part(), a.Partition, group(a.Unreadable.Offset))
	case a.Offset < marker && job.refreshes() && !outOfMatch(job, a):
		return CallUnknown, fmt.Sprintf("%s is before the marker %s of %s: a store that writes its states anew with each recovery point would have written it again behind that, unless it had let go of it; whether it does is not known", at, group(marker), quote(lastPart(point.Point)))
	case a.Offset < marker:
		return CallRunsAgain, fmt.Sprintf("%s is before the marker %s of %s, so the restore does not see %s and the call is made again", at, group(marker), quote(lastPart(point.Point)), itsRecord(c))
	case a.Tombstone != nil:
		return CallRunsAgain, fmt.Sprintf("the tombstone at %s removes the action: a restore sees no record of it and the call is made again", at)
	case outOfMatch(job, a):
		return CallRunsAgain, at + " is read again, and " + runsAnyway(job, a)
	}
	outcome, why := inWindow(a, c, at, marker, point)
	if last := point.Last[a.Partition]; a.Offset < last && outcome != CallRunsAgain {
		return CallUnknown, fmt.Sprintf("%s is not before the marker of one agent operator of %s and before that of another (%s): which of them the action is of is not known, and by the other's the call is made again", at, quote(lastPart(point.Point)), beginsAt(last))
	}
	return outcome, why
}

// beginsAt is where an operator begins to read.
func beginsAt(offset int64) string {
	if offset == math.MaxInt64 {
		return "it has none, and reads no record"
	}
	return group(offset)
}

// inWindow is the outcome where the last record is seen and matched.
func inWindow(a *ActionCalls, c *Call, at string, marker int64, point PointMarker) (CallOutcome, string) {
	inside := fmt.Sprintf("%s is not before the marker %s of %s", at, group(marker), quote(lastPart(point.Point)))
	switch {
	case c.Seen.Offset != a.Offset && c.State == CallOverwritten:
		return CallRunsAgain, fmt.Sprintf("its PENDING at offset %s was overwritten at offset %s: the restore sees a state without the call and makes it again, without asking the reconciler",
			group(c.Seen.Offset), lostAt(c))
	case c.Seen.Offset != a.Offset:
		return CallRunsAgain, fmt.Sprintf("its result at offset %s was overwritten at offset %s: the restore sees a state without the call and makes it again",
			group(c.Seen.Offset), lostAt(c))
	case c.State != CallSaved && !isPendingWord(c.Status):
		return CallUnknown, inside + ", and the status " + quote(*c.Status) + " is none that the job knows: a restore stops at that record"
	case c.State != CallSaved:
		return CallReconciler, inside + ": the call is PENDING, and the job's reconciler is asked"
	default:
		return CallReused, inside + ": the saved outcome is replayed and matched"
	}
}

func isPendingWord(status *string) bool {
	if status == nil {
		return false
	}
	switch string(trimJava([]byte(*status))) {
	case "PENDING", "0":
		return true
	default:
		return false
	}
}

func lostAt(c *Call) string {
	if c.Lost == nil {
		return "?"
	}
	return group(c.Lost.Offset)
}

func itsRecord(c *Call) string {
	switch c.State {
	case CallSaved:
		return "its saved outcome"
	case CallOverwritten:
		return "its history"
	default:
		return "its PENDING"
	}
}

// outOfMatch reports whether a restored job can't match the action by its id.
func outOfMatch(job Job, a *ActionCalls) bool {
	return a.Generation != KeyGeneration3 || slices.Contains([]Release{Release01, Release02, Release03}, job.Runtime)
}

// runsAnyway says why an action is not matched.
func runsAnyway(job Job, a *ActionCalls) string {
	switch {
	case a.Unmatched && a.Newer != nil:
		return fmt.Sprintf("its action id belongs to a JVM that has ended (%s %d, offset %s has its successor): no restore matches it, and the call is made again wherever its event is processed again",
			job.Store.Part(), a.Newer.Partition, group(a.Newer.Offset))
	case a.Generation != KeyGeneration3:
		return fmt.Sprintf("its key is of generation %d, whose action ids change with each JVM: nothing matches it and the call is made again", a.Generation)
	default:
		return fmt.Sprintf("release %s names actions by ids that change with each JVM: nothing matches it and the call is made again", job.Runtime)
	}
}

// markerOf is the marker for the action's partition, or why it is not known.
func markerOf(job Job, a *ActionCalls, point PointMarker) (marker int64, known bool, why string) {
	if point.Offsets == nil {
		if point.Why == "" {
			return 0, false, "the marker of " + quote(lastPart(point.Point)) + " is not known"
		}
		return 0, false, point.Why
	}
	marker, known = point.Offsets[a.Partition]
	if !known {
		return 0, false, fmt.Sprintf("the marker of %s does not name %s %d", quote(lastPart(point.Point)), job.Store.Part(), a.Partition)
	}
	return marker, true, ""
}

// completedOutcome is what becomes of an action that is done; an empty outcome:
// nothing.
func completedOutcome(job Job, a *ActionCalls, at string, marker int64, known bool, why string) (CallOutcome, string) {
	switch {
	case !known:
		return CallUnknown, why
	case a.Offset < marker:
		return "", ""
	case a.Tombstone != nil && a.Tombstone.Offset > a.Offset:
		return CallRunsAgain, fmt.Sprintf("it completed at %s and the tombstone at offset %s removes that: a restore processes its event again and makes its calls again", at, group(a.Tombstone.Offset))
	case outOfMatch(job, a):
		return CallRunsAgain, "it completed at " + at + ", which is read again, and " + runsAnyway(job, a)
	default:
		return CallReused, "it completed at " + at + ", which is read again and matched: the whole action is skipped"
	}
}

// afterPlan is the outcome once a plan has deleted the records below its
// targets.
func afterPlan(a *ActionCalls, now CallOutcome, plan Offsets) CallOutcome {
	if target, ok := plan[a.Partition]; ok && a.Offset < target && now != "" {
		return CallRunsAgain
	}
	return now
}

// judge fills the outcomes and counts them.
func (s *CallScan) judge(out *DurableCalls) {
	points := make([]PointCalls, len(s.q.Points))
	for i, point := range s.q.Points {
		points[i].Point = point.Point
		if s.q.Plan != nil {
			points[i].Later = &CallCounts{}
		}
	}
	for i := range out.Actions {
		s.judgeAction(&out.Actions[i], points)
		for _, c := range out.Actions[i].Calls {
			if out.Actions[i].Completed {
				continue
			}
			switch c.State {
			case CallPending:
				out.Counts.Pending++
			case CallOverwritten:
				out.Counts.Overwritten++
			case CallUnmatched:
				out.Counts.Unmatched++
			}
		}
	}
	for i := range out.Siblings {
		s.judgeAction(&out.Siblings[i], nil)
	}
	for i := range out.Removed {
		s.judgeAction(&out.Removed[i], nil)
	}
	for i, point := range s.q.Points {
		n, hidden := s.ofCompleted(point)
		points[i].Completed, points[i].Hidden = n, hidden
		points[i].Rewritten = s.rewrittenFor(point)
		points[i].Calls.RunsAgain += n
		if points[i].Later != nil {
			points[i].Later.RunsAgain += n
		}
	}
	out.Points = points
}

// judgeAction fills the outcomes of one action; points is nil where its calls
// are not counted.
func (s *CallScan) judgeAction(a *ActionCalls, points []PointCalls) {
	for n, point := range s.q.Points {
		worst, reason := CallOutcome(""), ""
		for i := range a.Calls {
			c := &a.Calls[i]
			outcome, why := outcomeOf(s.q.Job, a, c, point)
			if outcome == "" {
				continue
			}
			c.Outcomes = append(c.Outcomes, PointOutcome{point.Point, outcome, why})
			if worse(outcome, worst) {
				worst, reason = outcome, why
			}
			if points != nil && !a.Completed {
				points[n].Calls.add(outcome)
				if later := points[n].Later; later != nil {
					later.add(afterPlan(a, outcome, s.q.Plan))
				}
			}
		}
		if len(a.Calls) == 0 {
			worst, reason = s.withoutCalls(a, point)
		}
		if worst != "" {
			a.Outcomes = append(a.Outcomes, PointOutcome{point.Point, worst, reason})
		}
	}
}

// withoutCalls is the outcome of an action none of whose calls is on record.
func (s *CallScan) withoutCalls(a *ActionCalls, point PointMarker) (CallOutcome, string) {
	if a.Completed {
		return outcomeOf(s.q.Job, a, &Call{}, point)
	}
	return CallUnknown, "no call of it is on record: one that has no reconciler leaves no record before it ends, so it may or may not be under way"
}

// ofCompleted counts the calls of completed actions that a restore from a point
// makes again, and the actions of which no record shows them any more.
func (s *CallScan) ofCompleted(point PointMarker) (n, hidden int64) {
	released := slices.Contains([]Release{Release01, Release02, Release03}, s.q.Job.Runtime)
	for _, p := range s.shards {
		marker, ok := point.Offsets[p.id]
		if !ok {
			continue
		}
		for at := p.place(marker); at < len(p.ended); at++ {
			n += p.ended[at]
			hidden += p.hidden[at]
			if released {
				n += p.matched[at]
				hidden += p.hiddenMatched[at]
			} else {
				n += p.removed[at]
			}
		}
	}
	return n, hidden
}

func (c *CallCounts) add(outcome CallOutcome) {
	switch outcome {
	case CallReused:
		c.Reused++
	case CallReconciler:
		c.Reconciler++
	case CallRunsAgain:
		c.RunsAgain++
	case CallUnknown:
		c.Unknown++
	}
}

// worse reports whether an outcome is worse for the operator than another.
func worse(a, b CallOutcome) bool { return outcomeRank(a) > outcomeRank(b) }

func outcomeRank(o CallOutcome) int {
	switch o {
	case CallRunsAgain:
		return 4
	case CallUnknown:
		return 3
	case CallReconciler:
		return 2
	case CallReused:
		return 1
	default:
		return 0
	}
}
