package inspect

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/internal/strictjson"
)

// ReadControl reads the records of a control topic in offset order. It refuses
// at the first record that is no operation, or that contradicts an earlier one,
// and then returns no operations: nothing a later record says makes up for it.
// Operations are in the order in which their plans were first seen.
func ReadControl(records []ControlRecord) ([]Operation, *Problem) {
	ops := []Operation{}
	plans := []CleanupPlan{}
	at := make(map[string]int)
	for _, r := range records {
		plan, status, p := readControlRecord(r)
		if p != nil {
			return nil, recordProblem(p, r)
		}
		i, known := at[plan.PlanID]
		if !known {
			at[plan.PlanID] = len(ops)
			plans = append(plans, plan)
			ops = append(ops, operation(plan, status, r))
			continue
		}
		if !samePlan(plans[i], plan) {
			return nil, recordProblem(problem("control-plan-changed", nil,
				"cleanup %s has another content here than in its record at offset %s", short(plan.PlanID), group(ops[i].ControlOffset)), r)
		}
		if ops[i].Status == StatusApplied && status == StatusCommitted {
			return nil, recordProblem(problem("control-status-regression", nil,
				"cleanup %s goes from APPLIED at offset %s back to COMMITTED", short(plan.PlanID), group(ops[i].ControlOffset)), r)
		}
		ops[i].Status, ops[i].ControlOffset, ops[i].Time = status, r.Offset, r.Time
	}
	return ops, nil
}

func operation(plan CleanupPlan, status OperationStatus, r ControlRecord) Operation {
	return Operation{
		PlanID: plan.PlanID, Status: status, Offsets: plan.Offsets,
		ControlOffset: r.Offset, Time: r.Time,
		SourceRecoveryPoint: plan.SourceRecoveryPoint, Topic: plan.Topic, TopicID: plan.TopicID,
	}
}

// recordProblem puts the record's place before the sentence.
func recordProblem(p *Problem, r ControlRecord) *Problem {
	p.Message = fmt.Sprintf("control record at offset %s: %s", group(r.Offset), p.Message)
	p.Named["controlOffset"] = r.Offset
	return p
}

// readControlRecord judges one record by itself.
func readControlRecord(r ControlRecord) (CleanupPlan, OperationStatus, *Problem) {
	none := func(p *Problem) (CleanupPlan, OperationStatus, *Problem) { return CleanupPlan{}, "", p }
	if r.Key == nil {
		return none(problem("control-key-null", nil, "it has no key"))
	}
	key := string(strictjson.Replace(r.Key))
	if r.Value == nil {
		return none(problem("control-tombstone", nil,
			"it is a tombstone for cleanup %s: somebody erased a committed boundary", safetext.Of(short(key))))
	}
	doc, err := strictjson.ParseReplaced(r.Value)
	if err != nil {
		return none(JSONProblem(err, "the value"))
	}
	if doc.Kind() != strictjson.Object {
		return none(problem("control-not-an-object", nil, "the value is %s, not a JSON object", doc.Kind()))
	}
	if !doc.HasExactly("schemaVersion", "status", "plan") {
		return none(problem("control-field-set", nil, "the value has the fields %s instead of exactly schemaVersion, status, plan", fieldNames(doc)))
	}
	if schema, _ := doc.Get("schemaVersion"); schema.Text() != strconv.Itoa(planSchema) || schema.Kind() != strictjson.Number {
		return none(problem("control-schema-unsupported", nil, "its schemaVersion is %s; only version %d is known", shown(schema), planSchema))
	}
	status, p := recordStatus(doc)
	if p != nil {
		return none(p)
	}
	object, _ := doc.Get("plan")
	plan, p := judgePlan(object)
	if p != nil {
		return none(p)
	}
	if key != plan.PlanID {
		return none(problem("control-key-mismatch", nil, "its key is %s, but it holds cleanup %s", quote(key), plan.PlanID))
	}
	return plan, status, nil
}

func recordStatus(doc strictjson.Value) (OperationStatus, *Problem) {
	value, _ := doc.Get("status")
	if value.Kind() != strictjson.String {
		return "", problem("control-status-not-a-string", nil, "its status is %s, not a string", value.Kind())
	}
	switch status := OperationStatus(value.Text()); status {
	case StatusCommitted, StatusApplied:
		return status, nil
	default:
		return "", problem("control-status-unknown", Named{"status": value.Text()}, "its status is %s, neither COMMITTED nor APPLIED", quote(value.Text()))
	}
}

// samePlan compares contents. Two plans of one id can differ: the id takes every
// lone surrogate for the same character.
func samePlan(a, b CleanupPlan) bool {
	return a.SourceRecoveryPoint == b.SourceRecoveryPoint && a.Topic == b.Topic && a.TopicID == b.TopicID && sameOffsets(a.Offsets, b.Offsets)
}

func sameOffsets(a, b Offsets) bool {
	if len(a) != len(b) {
		return false
	}
	for p, offset := range a {
		if other, ok := b[p]; !ok || other != offset {
			return false
		}
	}
	return true
}

// JudgeControl answers what the two readers of a control topic say: a restore,
// which needs a committed boundary, and an apply, which takes an empty history
// as an empty boundary and creates a missing topic. Operations are there
// whenever the records themselves could be read.
func JudgeControl(t ControlTopic, h History) CleanupBoundary {
	b := CleanupBoundary{
		Topic: h.Topic, ControlTopic: t.Name,
		Offsets: Offsets{}, Operations: []Operation{},
		Notes: hiddenRecords(t),
	}
	if p := controlShape(t); p != nil {
		b.Problem = p
		b.ApplyReader = refused(p)
		if !t.Exists {
			b.ApplyReader = ReaderVerdict{Verdict: Accepted, Offsets: Offsets{}}
		}
		return b
	}
	ops, p := ReadControl(t.Records)
	if p != nil {
		b.Problem, b.ApplyReader = p, refused(p)
		b.Notes = append(b.Notes, keepACopy(p)...)
		return b
	}
	b.Operations = ops
	if p = judgeOperations(ops, h); p != nil {
		b.Problem, b.ApplyReader = p, refused(p)
		return b
	}
	b.Offsets = Boundary(ops)
	b.ApplyReader = ReaderVerdict{Verdict: Accepted, Offsets: b.Offsets}
	if len(ops) == 0 {
		b.Problem = noCommittedBoundary(t)
	}
	b.Notes = append(b.Notes, unfinished(ops)...)
	return b
}

func refused(p *Problem) ReaderVerdict {
	return ReaderVerdict{Verdict: Rejected, Offsets: Offsets{}, Problem: p}
}

// Boundary is the largest offset per partition over all operations, committed
// and applied alike: from COMMITTED on a boundary is in force.
func Boundary(ops []Operation) Offsets {
	out := Offsets{}
	for _, op := range ops {
		for p, offset := range op.Offsets {
			if at, ok := out[p]; !ok || offset > at {
				out[p] = offset
			}
		}
	}
	return out
}

// controlShape judges the topic before its records: it exists, has exactly
// partition 0, and is compacted and nothing else.
func controlShape(t ControlTopic) *Problem {
	switch {
	case !t.Exists:
		return problem("control-topic-missing", nil, "control topic %s does not exist", quote(t.Name))
	case len(t.Partitions) != 1 || t.Partitions[0] != 0:
		return problem("control-topic-partitions", nil,
			"control topic %s has %d partitions (%s); it must have exactly partition 0", quote(t.Name), len(t.Partitions), partitionList(t.Partitions))
	case t.CleanupPolicy != "compact":
		return problem("control-topic-policy", Named{"found": t.CleanupPolicy},
			"control topic %s has cleanup.policy=%s; it must be exactly compact, or records of cleanups are lost", quote(t.Name), safetext.Of(t.CleanupPolicy))
	default:
		return nil
	}
}

func noCommittedBoundary(t ControlTopic) *Problem {
	return problem("no-committed-boundary", nil, "control topic %s holds no cleanup: a boundary must be committed before a restore", quote(t.Name))
}

// judgeOperations judges readable operations against the data topic and each
// other. The first operation that does not belong speaks first, then the first
// pair that can't be compared.
func judgeOperations(ops []Operation, h History) *Problem {
	for _, op := range ops {
		if p := foreignTopic(op, h); p != nil {
			return p
		}
		if p := foreignPartitions(op, h); p != nil {
			return p
		}
	}
	return incomparable(ops)
}

func foreignTopic(op Operation, h History) *Problem {
	if op.Topic == h.Topic && op.TopicID == h.TopicID {
		return nil
	}
	return problem("boundary-of-other-topic", nil, "cleanup %s at control offset %s is of topic %s with id %s, the job's topic is %s with %s",
		short(op.PlanID), group(op.ControlOffset), quote(op.Topic), safetext.Of(op.TopicID), quote(h.Topic), identity(h.TopicID))
}

// identity is a topic id in a sentence.
func identity(id string) string {
	if id == "" {
		return "a new id, because it does not exist yet"
	}
	return "id " + safetext.Of(id).String()
}

func foreignPartitions(op Operation, h History) *Problem {
	have := op.Offsets.Partitions()
	if slices.Equal(have, slices.Sorted(slices.Values(h.Partitions))) {
		return nil
	}
	return problem("boundary-of-other-partition-set", nil, "cleanup %s at control offset %s has the partitions %s, the job's topic has %s",
		short(op.PlanID), group(op.ControlOffset), partitionList(have), partitionList(h.Partitions))
}

// incomparable finds the first pair of operations of which neither is at or past
// the other everywhere. All must have the same partitions.
//
// Sorted by their numbers, comparable operations form a chain, so looking at
// neighbours is enough to find out that all is well; pairs are searched only to
// name the first one.
func incomparable(ops []Operation) *Problem {
	vectors := make([][]int64, len(ops))
	for i, op := range ops {
		for _, p := range op.Offsets.Partitions() {
			vectors[i] = append(vectors[i], op.Offsets[p])
		}
	}
	sorted := slices.SortedFunc(slices.Values(vectors), slices.Compare)
	chain := true
	for i := 1; i < len(sorted) && chain; i++ {
		chain = atOrPast(sorted[i], sorted[i-1])
	}
	if chain {
		return nil
	}
	for i := range vectors {
		for j := i + 1; j < len(vectors); j++ {
			if !atOrPast(vectors[i], vectors[j]) && !atOrPast(vectors[j], vectors[i]) {
				return incomparablePair(ops[i], ops[j])
			}
		}
	}
	return nil
}

// atOrPast reports whether a is at or past b in every place.
func atOrPast(a, b []int64) bool {
	for i := range a {
		if a[i] < b[i] {
			return false
		}
	}
	return true
}

func incomparablePair(a, b Operation) *Problem {
	lower, higher := int32(-1), int32(-1)
	for _, p := range slices.Backward(a.Offsets.Partitions()) {
		switch {
		case a.Offsets[p] < b.Offsets[p]:
			lower = p
		case a.Offsets[p] > b.Offsets[p]:
			higher = p
		}
	}
	return problem("incomparable-boundaries", nil,
		"cleanups %s (control offset %s) and %s (control offset %s) can't be ordered: the first is lower on partition %d (%s < %s) and higher on partition %d (%s > %s); no plan can advance this history any more",
		short(a.PlanID), group(a.ControlOffset), short(b.PlanID), group(b.ControlOffset),
		lower, group(a.Offsets[lower]), group(b.Offsets[lower]), higher, group(a.Offsets[higher]), group(b.Offsets[higher]))
}

// hiddenRecords says what a read_committed reader could not see.
func hiddenRecords(t ControlTopic) []string {
	if t.LastStable >= t.LogEnd {
		return []string{}
	}
	return []string{fmt.Sprintf("An open transaction on control topic %s hides the records from offset %s to the log end %s: cleanups recorded there are not seen by any reader until it ends.",
		quote(t.Name), group(t.LastStable), group(t.LogEnd))}
}

// keepACopy warns where compaction will turn a refused history into an accepted
// one with a lower boundary.
func keepACopy(p *Problem) []string {
	switch p.Code {
	case "control-tombstone":
		return []string{"Keep a copy of the control topic now: once compaction has dropped the tombstone, the erased boundary is gone without a trace and a lower plan would be accepted."}
	case "control-status-regression":
		return []string{"Keep a copy of the control topic now: compaction will erase this proof, and then the cleanup reads as COMMITTED and can be resumed."}
	default:
		return nil
	}
}

// unfinished names the cleanups whose deletion was not recorded as done.
func unfinished(ops []Operation) []string {
	var notes []string
	for _, op := range ops {
		if op.Status == StatusCommitted {
			notes = append(notes, fmt.Sprintf("Cleanup %s is COMMITTED and not APPLIED: its boundary is in force, whether or not the log is trimmed yet.", short(op.PlanID)))
		}
	}
	const most = 5
	if len(notes) > most {
		notes = append(notes[:most], fmt.Sprintf("%d more cleanups are COMMITTED and not APPLIED.", len(notes)-most))
	}
	return notes
}
