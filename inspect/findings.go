package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/internal/fault"
)

// findings lists what is wrong first: errors before warnings before information,
// and within one severity in the order in which an operator would ask.
func findings(job Job, ev reading, boundary *CleanupBoundary, points []PointSummary, placesErr error) []Finding {
	var all []Finding
	// A cluster that does not answer is told once, as the topic's finding.
	if ev.controlErr != nil && (ev.dataErr == nil || ev.controlErr.Error() != ev.dataErr.Error()) {
		all = append(all, unreadable("control-topic-unreadable", "the control topic", ev.controlErr))
	}
	if job.Store == StoreFluss {
		all = append(append(all, flussFindings(job, ev)...), olderFindings(job, ev, points)...)
	} else {
		all = append(all, logFindings(job, ev)...)
	}
	if boundary != nil {
		all = append(all, boundaryFindings(job, ev, *boundary)...)
	}
	all = append(all, pointFindings(job, points, placesErr)...)
	return inOrder(all)
}

// inOrder puts errors before warnings before information, else keeps the order.
func inOrder(all []Finding) []Finding {
	if all == nil {
		return []Finding{}
	}
	slices.SortStableFunc(all, func(a, b Finding) int { return cmp.Compare(rank(a.Severity), rank(b.Severity)) })
	return all
}

func rank(s Severity) int {
	switch s {
	case SeverityError:
		return 0
	case SeverityWarning:
		return 1
	default:
		return 2
	}
}

// AtLeast reports whether s is as bad as limit or worse.
func (s Severity) AtLeast(limit Severity) bool { return s != "" && rank(s) <= rank(limit) }

// unreadable is the finding for something that could not be read.
func unreadable(rule, what string, err error) Finding {
	f := fault.Of(err)
	return Finding{
		Severity: SeverityError, Rule: rule, Refs: slices.Clone(f.Refs), Numbers: Named{},
		Cause: what + " could not be read: " + f.Error(), Next: f.Hint,
	}
}

const ruleTopicUnreadable = "topic-unreadable"

func logFindings(job Job, ev reading) []Finding {
	var out []Finding
	ref := "topic " + quote(job.Topic)
	switch {
	case ev.dataErr != nil:
		return []Finding{unreadable(ruleTopicUnreadable, "the action-state topic", ev.dataErr)}
	case !ev.data.Exists:
		return []Finding{{
			Severity: SeverityError, Rule: "topic-missing", Refs: []string{ref}, Numbers: Named{},
			Cause: fmt.Sprintf("%s does not exist, or this user may not see it; a restore would create it empty with %d partitions", ref, job.Partitions),
			Next:  "check the topic's name and the brokers; a recreated topic has lost its history: no versioned marker fits it",
		}}
	}
	if ev.partial != nil {
		out = append(out, unreadable("topic-partly-unreadable", "a part of the action-state topic", ev.partial))
	}
	var broken, leaderless []int32
	for _, p := range ev.data.Partitions {
		switch {
		case p.Leader < 0:
			leaderless = append(leaderless, p.ID)
		case p.Err != nil:
			broken = append(broken, p.ID)
		}
	}
	if len(leaderless) > 0 {
		out = append(out, Finding{
			Severity: SeverityError, Rule: "partition-without-leader", Refs: []string{ref}, Numbers: Named{"partitions": leaderless},
			Cause: fmt.Sprintf("without a leader: %s of %s: %s", countOf(len(leaderless), len(ev.data.Partitions), "partition", "partitions"), ref, partitionList(leaderless)),
			Next:  "bring back the brokers that hold these partitions: no restore can read them now",
		})
	}
	if len(broken) > 0 {
		out = append(out, Finding{
			Severity: SeverityError, Rule: "partition-unreadable", Refs: []string{ref}, Numbers: Named{"partitions": broken},
			Cause: fmt.Sprintf("the offsets of %s of %s could not be read: %s", countOf(len(broken), len(ev.data.Partitions), "partition", "partitions"), ref, partitionList(broken)),
			Next:  "reload; if it stays, look at the leaders of these partitions",
		})
	}
	return append(out, settingFindings(ref, ev.data)...)
}

// settingFindings warns where something else than a reviewed plan can move the
// log start, and where a plan could not be applied.
func settingFindings(ref string, data DataTopic) []Finding {
	var out []Finding
	policy, known := data.Setting("cleanup.policy")
	if !known {
		return nil
	}
	words := strings.FieldsFunc(policy, func(r rune) bool { return r == ',' || r == ' ' })
	deletes := slices.Contains(words, "delete")
	if !deletes {
		out = append(out, Finding{
			Severity: SeverityInfo, Rule: "policy-without-delete", Refs: []string{ref}, Numbers: Named{"cleanup.policy": policy},
			Cause: fmt.Sprintf("cleanup.policy of %s is %s: the broker refuses to delete a prefix, so no cleanup can be applied", ref, quote(policy)),
			Next:  "before a first cleanup make a plan for the settings that it needs, and apply it: recoverctl plan settings --out FILE",
		})
	}
	for _, limit := range []string{"retention.ms", "retention.bytes"} {
		value, ok := data.Setting(limit)
		if ok && deletes && value != "-1" {
			out = append(out, Finding{
				Severity: SeverityWarning, Rule: "retention-set", Refs: []string{ref}, Numbers: Named{limit: value},
				Cause: fmt.Sprintf("%s of %s is %s with delete in its cleanup.policy: the broker moves the log start by itself, past markers that are still needed", limit, ref, quote(value)),
				Next:  fmt.Sprintf("set %s=-1, so that only a reviewed plan moves the log start: recoverctl plan settings --out FILE makes the plan for that", limit),
			})
		}
	}
	return out
}

func boundaryFindings(job Job, ev reading, b CleanupBoundary) []Finding {
	var out []Finding
	ref := "control topic " + quote(*job.ControlTopic)
	if b.Problem != nil {
		out = append(out, Finding{
			Severity: SeverityError, Rule: b.Problem.Code, Refs: []string{ref}, Numbers: b.Problem.Named,
			Cause: b.Problem.Message, Next: "no restore is accepted while the control topic is refused: run recoverctl inspect control for its records",
		})
	}
	notes := hiddenRecords(ev.control)
	if b.Problem != nil {
		notes = append(notes, keepACopy(b.Problem)...)
	}
	for _, note := range notes {
		out = append(out, Finding{Severity: SeverityWarning, Rule: "control-note", Refs: []string{ref}, Numbers: Named{}, Cause: note, Next: "run recoverctl inspect control for the records"})
	}
	ranges := ev.data.Ranges()
	var behind, beyond, unseen []int32
	for _, p := range b.Offsets.Partitions() {
		r, ok := ranges[p]
		switch {
		case !ok:
			unseen = append(unseen, p)
		case r.End < b.Offsets[p]:
			beyond = append(beyond, p)
		case r.Start < b.Offsets[p]:
			behind = append(behind, p)
		}
	}
	if len(beyond) > 0 {
		p := beyond[0]
		out = append(out, Finding{
			Severity: SeverityError, Rule: "boundary-beyond-log-end", Refs: []string{ref},
			Numbers: Named{"partition": p, "boundary": b.Offsets[p], "logEnd": ranges[p].End},
			Cause: fmt.Sprintf("the boundary lies beyond the log end on %s: partition %d ends at %s, the boundary is %s",
				countOf(len(beyond), len(b.Offsets), "partition", "partitions"), p, group(ranges[p].End), group(b.Offsets[p])),
			Next: "the log was truncated or the topic recreated after that cleanup: no marker can be accepted there until the log grows past the boundary",
		})
	}
	if open := unfinishedOperation(b); open != nil || len(behind) > 0 {
		out = append(out, inForce(ref, b, open, behind, unseen, ranges))
	}
	return out
}

// unfinishedOperation is the newest one that is COMMITTED, nil where every one
// was applied.
func unfinishedOperation(b CleanupBoundary) *Operation {
	var open *Operation
	for n, op := range b.Operations {
		if op.Status == StatusCommitted && (open == nil || op.ControlOffset > open.ControlOffset) {
			open = &b.Operations[n]
		}
	}
	return open
}

// inForce says that a boundary is in force and not all is done: an operation
// that was committed and has not ended, or a log that still holds older records.
func inForce(ref string, b CleanupBoundary, open *Operation, behind, unseen []int32, ranges map[int32]LogRange) Finding {
	f := Finding{Severity: SeverityWarning, Rule: "in-force-not-trimmed", Refs: []string{ref}, Numbers: Named{}}
	what := "the boundary"
	if open != nil {
		f.Severity = SeverityError
		f.Refs = append(f.Refs, "plan "+open.PlanID)
		what = "cleanup " + short(open.PlanID)
	}
	if len(behind) == 0 && len(unseen) > 0 {
		f.Cause = fmt.Sprintf("%s is in force, and how far the log is trimmed is not known on %s", what, countOf(len(unseen), len(b.Offsets), "partition", "partitions"))
		f.Next = "bring back what keeps these partitions from being read, then look again"
		return f
	}
	if len(behind) == 0 {
		f.Rule = "operation-not-ended"
		f.Cause = what + " is in force and the log is trimmed to it, but it was never recorded as APPLIED"
		f.Next = "applying the same plan again checks every log start and ends it"
		return f
	}
	p := behind[0]
	f.Numbers = Named{"partition": p, "boundary": b.Offsets[p], "logStart": ranges[p].Start, "partitions": behind}
	f.Cause = fmt.Sprintf("%s is in force, log not trimmed yet on %s: partition %d starts at %s, the boundary is %s",
		what, countOf(len(behind), len(b.Offsets), "partition", "partitions"), p, group(ranges[p].Start), group(b.Offsets[p]))
	f.Next = "older recovery points stay rejected either way; their records still exist until the cleanup is finished"
	return f
}

// pinnedElsewhere names pinned points that are not among those that were found:
// no verdict of theirs is shown, and that must not pass for a good one.
func pinnedElsewhere(job Job, points []PointSummary) []Finding {
	var out []Finding
	for _, uri := range job.Pinned {
		if slices.ContainsFunc(points, func(p PointSummary) bool { return SamePoint(p.URI, uri) }) {
			continue
		}
		out = append(out, Finding{
			Severity: SeverityWarning, Rule: "pinned-point-not-found", Refs: []string{uri}, Numbers: Named{},
			Cause: fmt.Sprintf("the pinned recovery point %s is in none of the places that were searched: whether it can be restored was not asked", quote(uri)),
			Next:  "run recoverctl validate restore on it, or add its place to recovery-points in the profile",
		})
	}
	return out
}

func pointFindings(job Job, points []PointSummary, placesErr error) []Finding {
	var out []Finding
	for _, err := range fault.All(placesErr) {
		out = append(out, unreadable("place-unreadable", "a place of recovery points", err))
	}
	out = append(out, pinnedElsewhere(job, points)...)
	if len(points) == 0 {
		if len(job.RecoveryPoints) > 0 && placesErr == nil {
			out = append(out, Finding{
				Severity: SeverityWarning, Rule: "no-recovery-points", Refs: slices.Clone(job.RecoveryPoints), Numbers: Named{},
				Cause: "no recovery point lies in the places that were searched",
				Next:  "check recovery-points in the profile, or give --points",
			})
		}
		return out
	}
	accepted, damaged := 0, []string{}
	for _, p := range points {
		if p.Verdict == Accepted {
			accepted++
		}
		if p.Pinned && p.Verdict == Rejected {
			out = append(out, Finding{
				Severity: SeverityError, Rule: "pinned-point-rejected", Refs: []string{p.URI}, Numbers: Named{},
				Cause: fmt.Sprintf("the pinned recovery point %s is rejected: %s", quote(p.URI), p.Message),
				Next:  "whatever depends on it can't be restored from it any more",
			})
		}
		if p.Severity == SeverityError {
			damaged = append(damaged, p.URI)
		}
	}
	newest := points[0]
	switch {
	case accepted == 0 && allUnknown(points):
		// nothing could be judged: what was unreadable is a finding of its own
	case accepted == 0:
		out = append(out, noAcceptedPoint(points))
	case newest.Verdict != Accepted:
		out = append(out, Finding{
			Severity: SeverityWarning, Rule: "newest-point-not-accepted", Refs: []string{newest.URI}, Numbers: Named{},
			Cause: fmt.Sprintf("the newest recovery point %s is %s: %s", quote(lastPart(newest.URI)), newest.Verdict, cmp.Or(newest.Message, "not everything could be checked")),
			Next:  "name the recovery point to restore from; a restart that takes the newest one fails",
		})
	}
	if len(damaged) > 0 {
		out = append(out, Finding{
			Severity: SeverityWarning, Rule: "points-damaged", Refs: damaged, Numbers: Named{"points": int64(len(damaged))},
			Cause: fmt.Sprintf("damaged in their own files: %s, first %s", countOf(len(damaged), len(points), "recovery point", "recovery points"), quote(lastPart(damaged[0]))),
			Next:  "run recoverctl inspect point on it: the checks name the file and the byte",
		})
	}
	return out
}

// noAcceptedPoint counts apart what was refused and what could not be judged.
func noAcceptedPoint(points []PointSummary) Finding {
	newest, rejected := points[0], 0
	for _, p := range points {
		if p.Verdict == Rejected {
			rejected++
		}
	}
	f := Finding{Severity: SeverityError, Rule: "no-accepted-point", Refs: []string{newest.URI}, Numbers: Named{"points": int64(len(points)), "rejected": int64(rejected)}}
	if unjudged := len(points) - rejected; unjudged > 0 {
		f.Cause = fmt.Sprintf("no recovery point is known to be accepted: %d of %d rejected, %d could not be judged", rejected, len(points), unjudged)
		f.Next = "first make readable what could not be read: it decides about the others"
		return f
	}
	f.Cause = fmt.Sprintf("none of %d recovery points is accepted; the newest: %s", len(points), newest.Message)
	f.Next = "look for recovery points in other places and give them with --points; do not start the job without state before you know what runs again"
	return f
}

func allUnknown(points []PointSummary) bool {
	return !slices.ContainsFunc(points, func(p PointSummary) bool { return p.Verdict != Unknown })
}
