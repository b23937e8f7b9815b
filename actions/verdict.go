package actions

import (
	"fmt"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Outcome is what has become of an operation.
type Outcome string

// The outcomes.
const (
	NotStarted   Outcome = "not-started"  // the plan is not on the control topic
	Committed    Outcome = "committed"    // its boundary is in force; the log is trimmed nowhere, or everywhere with APPLIED still to be written
	Partial      Outcome = "partial"      // … and some partitions are trimmed and others not
	Applied      Outcome = "applied"      // APPLIED is recorded and every log start is at or past its target
	Contradicted Outcome = "contradicted" // the world says something else than the plan or the record
	Undecided    Outcome = "unknown"      // it could not be read
)

// Exit is the kind of fault that a verdict other than applied ends a command
// with; ok is false for applied, which is none.
func (o Outcome) Exit() (kind fault.Kind, ok bool) {
	switch o {
	case Applied:
		return fault.Bug, false
	case NotStarted, Committed:
		return fault.Problem, true
	case Contradicted:
		return fault.Drift, true
	case Partial:
		return fault.Partial, true
	default:
		return fault.Unknown, true
	}
}

// PartitionVerdict is one partition of the plan and where its log begins, nil
// where that could not be read.
type PartitionVerdict struct {
	Partition int32  `json:"partition"`
	Target    int64  `json:"target"`
	LogStart  *int64 `json:"logStart"`
}

// OperationVerdict is what has become of one operation, as re-read. Message says
// why in one sentence.
type OperationVerdict struct {
	PlanID     string             `json:"planId"`
	Verdict    Outcome            `json:"verdict"`
	Message    string             `json:"message"`
	Recorded   string             `json:"recorded"` // of a cleanup: COMMITTED, APPLIED, or empty
	Partitions []PartitionVerdict `json:"partitions"`
	Facts      []FactVerdict      `json:"facts,omitempty"`     // of a plan that changes other things than offsets
	NextStart  string             `json:"nextStart,omitempty"` // of a producer: what its next start does, as things are
	Receipt    *Receipt           `json:"receipt"`             // nil: nothing was applied by this command
}

// Judge says what has become of a plan from the control topic and the data topic
// as they were read. What could not be read makes a verdict unknown and never a
// better one: applied is said only when APPLIED is recorded and every log start
// was read at or past its target.
func Judge(plan inspect.CleanupPlan, control inspect.ControlTopic, controlErr error, data inspect.DataTopic, dataErr error) OperationVerdict {
	v := OperationVerdict{PlanID: plan.PlanID, Verdict: Undecided, Partitions: []PartitionVerdict{}}
	starts := partitionStarts(plan, data, dataErr)
	v.Partitions = starts.list
	if controlErr != nil {
		v.Message = fmt.Sprintf("the control topic could not be read: %s", safetext.Error(controlErr))
		return v
	}
	history, stage, p := CheckControl(plan, control)
	v.Recorded = string(history.Status())
	hidden := p != nil && p.Code == recordsHidden
	switch {
	case stage == StageControlTopic:
		v.Message = "the control topic is not fit, so its records say nothing: " + p.Message
		return v
	case p != nil && !hidden:
		v.Verdict, v.Message = Contradicted, p.Message
		return v
	case dataErr == nil && !data.Exists:
		v.Verdict, v.Message = Contradicted, fmt.Sprintf("topic %s does not exist any more", quote(plan.Topic))
		return v
	case dataErr == nil:
		if p := CheckIdentity(plan, inspect.Job{Topic: plan.Topic}, data); p != nil {
			v.Verdict, v.Message = Contradicted, p.Message
			return v
		}
	}
	switch history.Status() {
	case inspect.StatusApplied:
		v.Verdict, v.Message = starts.applied()
	case inspect.StatusCommitted:
		v.Verdict, v.Message = starts.committed()
		if hidden {
			v.Message += "; an open transaction hides later records, so more may have been done"
			v.Verdict = Undecided
		}
	default:
		v.Verdict, v.Message = NotStarted, "the plan is not on the control topic: nothing was changed by it"
		if hidden {
			v.Verdict, v.Message = Undecided, "the plan was not seen on the control topic, and an open transaction hides records there"
		}
		if history.Missing {
			v.Message = "the control topic does not exist: nothing is recorded"
		}
	}
	return v
}

// startsRead compares targets with log starts.
type startsRead struct {
	list   []PartitionVerdict
	done   []int32
	left   []int32
	unread []int32
	err    error
}

func partitionStarts(plan inspect.CleanupPlan, data inspect.DataTopic, dataErr error) startsRead {
	s := startsRead{list: []PartitionVerdict{}, err: dataErr}
	ranges := map[int32]inspect.LogRange{}
	if dataErr == nil && data.Exists && data.TopicID == plan.TopicID {
		ranges = data.Ranges()
	}
	for _, p := range plan.Offsets.Partitions() {
		v := PartitionVerdict{Partition: p, Target: plan.Offsets[p]}
		log, ok := ranges[p]
		switch {
		case !ok:
			s.unread = append(s.unread, p)
		case log.Start >= v.Target:
			s.done = append(s.done, p)
		default:
			s.left = append(s.left, p)
		}
		if ok {
			v.LogStart = &log.Start
		}
		s.list = append(s.list, v)
	}
	return s
}

func (s startsRead) applied() (Outcome, string) {
	switch {
	case len(s.left) > 0:
		return Contradicted, fmt.Sprintf("APPLIED is recorded, but the log of %s begins before its target", on(s.left))
	case len(s.unread) > 0:
		return Undecided, "APPLIED is recorded, and " + s.unreadWords()
	default:
		return Applied, fmt.Sprintf("APPLIED is recorded, and the log begins at or past its target on %s", s.all())
	}
}

func (s startsRead) committed() (Outcome, string) {
	switch {
	case len(s.unread) > 0:
		return Undecided, "COMMITTED is recorded, and " + s.unreadWords()
	case len(s.left) == 0:
		return Committed, fmt.Sprintf("the boundary is in force and the log is trimmed on %s; only the record APPLIED is missing: apply the same plan again", s.all())
	case len(s.done) == 0:
		return Committed, "the boundary is in force, the log not trimmed yet: apply the same plan again"
	default:
		return Partial, fmt.Sprintf("the boundary is in force, and the log is not trimmed on %s: apply the same plan again", on(s.left))
	}
}

func (s startsRead) all() string { return figures.Count(len(s.list), "partition", "partitions") }

func (s startsRead) unreadWords() string {
	words := fmt.Sprintf("the log start of %s could not be read", on(s.unread))
	if s.err != nil {
		words += ": " + safetext.Error(s.err).String()
	}
	return words
}
