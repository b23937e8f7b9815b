package inspect

import (
	"cmp"
	"fmt"
	"slices"
)

// PointUnder is what one operation's boundary, alone, means for a recovery
// point: accepted where its marker is at or past the boundary on every
// partition, rejected where it is below it on one, unknown where the two can't
// be compared. Below are the partitions that are too low. Why is a sentence.
type PointUnder struct {
	Verdict Verdict
	Below   []int32
	Why     string
}

// Under compares a recovery point with the boundary that the operation commits.
// It says nothing about the other rules of a restore.
func (op Operation) Under(p PointSummary) PointUnder {
	if refusedWithoutMarker(p) {
		return PointUnder{Verdict: Rejected, Why: "it has no marker, and none is accepted while a boundary is committed"}
	}
	if len(p.Offsets) == 0 {
		return PointUnder{Verdict: Unknown, Why: "where it reads from is not known"}
	}
	if have, want := p.Offsets.Partitions(), op.Offsets.Partitions(); !slices.Equal(have, want) {
		return PointUnder{Verdict: Unknown, Why: fmt.Sprintf("its marker has other partitions: %s, the cleanup has %s", partitionList(have), partitionList(want))}
	}
	var below []int32
	for _, part := range op.Offsets.Partitions() {
		if p.Offsets[part] < op.Offsets[part] {
			below = append(below, part)
		}
	}
	if len(below) == 0 {
		return PointUnder{Verdict: Accepted, Why: "at or past it on " + countOf(len(op.Offsets), len(op.Offsets), "partition", "partitions")}
	}
	first := below[0]
	return PointUnder{
		Verdict: Rejected, Below: below,
		Why: fmt.Sprintf("below it on %s: partition %d reads from %s, the cleanup has %s",
			countOf(len(below), len(op.Offsets), "partition", "partitions"), first, group(p.Offsets[first]), group(op.Offsets[first])),
	}
}

// OperationCalls are the durable calls at risk that an operation bears upon. What
// it has deleted already is not on record any more, and not counted.
type OperationCalls struct {
	// Below are the calls whose last record lies before the operation's offsets: it
	// is among those that the operation deletes, and no restore reads it.
	Below int64 `json:"below"`
	// RunAgain are the calls that run again from a restore that begins exactly at the
	// operation's offsets, those below among them. From a later point it can only be
	// more.
	RunAgain int64 `json:"runAgain"`
	Records  int64 `json:"records"` // that were scanned
}

// CallsUnder counts the calls of a whole scan. It looks at each of them.
func (op Operation) CallsUnder(job Job, calls DurableCalls) OperationCalls {
	out := OperationCalls{Records: calls.Scanned.Records}
	at := PointMarker{Point: op.PlanID, Offsets: op.Offsets}
	for _, a := range calls.Actions {
		if a.Completed {
			continue
		}
		until, named := op.Offsets[a.Partition]
		for i := range a.Calls {
			if named && a.Offset < until {
				out.Below++
			}
			if outcome, _ := outcomeOf(job, &a, &a.Calls[i], at); outcome == CallRunsAgain {
				out.RunAgain++
			}
		}
	}
	return out
}

func refusedWithoutMarker(p PointSummary) bool {
	return slices.ContainsFunc(p.Validation.Reasons, func(r Reason) bool { return r.Code == noMarkerCode })
}

// SetBy are, by partition, the operations whose offset is the boundary in force
// there, in the order in which they were recorded; usually one.
func SetBy(ops []Operation) map[int32][]Operation {
	ordered := slices.SortedStableFunc(slices.Values(ops), func(a, b Operation) int { return cmp.Compare(a.ControlOffset, b.ControlOffset) })
	boundary := Boundary(ops)
	out := make(map[int32][]Operation, len(boundary))
	for _, op := range ordered {
		for part, at := range op.Offsets {
			if at == boundary[part] {
				out[part] = append(out[part], op)
			}
		}
	}
	return out
}

// Next says what to do about a problem of a control topic.
func (p Problem) Next() string {
	switch p.Code {
	case "control-topic-blank":
		return "give the job the name of its control topic, and set action-state.control-topic of the profile to what the job has"
	case "control-topic-same-as-data":
		return "give the job a control topic of its own"
	case "control-topic-missing":
		return "check the name and the brokers. Where a cleanup was ever committed, its boundary is gone with the topic: bring back a copy before any restore. Where none was, the first cleanup makes the topic"
	case "control-topic-partitions":
		return "check the name: the control topic of a job has exactly partition 0, and where a topic has more, a record may be on any of them"
	case "control-topic-policy":
		return "set cleanup.policy=compact on it, after a look at whether records were already deleted by time or size"
	case "no-committed-boundary":
		return "where no cleanup was ever committed: stop the job, plan and apply a first one from the point that it will restart from. Where one was, its record is lost: bring back a copy of the topic first"
	case "control-tombstone":
		return "keep a copy of the topic now, find who wrote the tombstone, and apply nothing until the erased boundary is known again"
	case "control-status-regression":
		return "keep a copy of the topic now, find what wrote the record, and resume nothing from this history"
	case "boundary-of-other-topic":
		return "check topic, control topic and brokers. Where the data topic was deleted and made again, this history is refused for good: the job needs a new control topic and new recovery points"
	case "boundary-of-other-partition-set":
		return "check topic and control topic. Where partitions were added to the data topic, this history is refused for good: the job needs a new control topic"
	case "incomparable-boundaries":
		return "keep a copy of the topic. This history is refused for good: the job needs a new control topic, and before that it must be known what both cleanups have deleted"
	default:
		return "keep a copy of the topic, and find what wrote this record: nothing that is recorded later makes up for it"
	}
}
