package actions

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// recordsHidden: an open transaction hides records of the control topic.
const recordsHidden = "control-records-hidden"

// CheckConfiguration judges what the job's options say, without any network.
// Replication is the factor with which a missing control topic may be made; nil
// where nobody consented to making one.
func CheckConfiguration(job inspect.Job, replication *int) *inspect.Problem {
	name := textOf(job.ControlTopic)
	blank := strings.TrimFunc(name, func(r rune) bool { return r <= ' ' }) == ""
	switch {
	case job.ControlTopic == nil:
		return refuse("control-topic-not-configured", nil, "no control topic is configured, so there is nowhere to commit the boundary")
	case blank:
		return refuse("control-topic-blank", nil, "a control topic is configured and its name is blank")
	case name == job.Topic:
		return refuse("control-topic-same-as-data", nil, "the control topic %s is the data topic", quote(name))
	case job.Tombstones:
		return refuse("tombstones-on", nil, "the job has tombstones on: they and a committed boundary exclude each other")
	case replication != nil && (*replication < 1 || *replication > math.MaxInt16):
		return refuse("replication-factor-range", inspect.Named{"replicationFactor": int64(*replication)},
			"the replication factor %d is not between 1 and %d", *replication, math.MaxInt16)
	default:
		return nil
	}
}

// CheckIdentity asks whether the data topic is, physically, the one that the
// plan was made for.
func CheckIdentity(plan inspect.CleanupPlan, job inspect.Job, data inspect.DataTopic) *inspect.Problem {
	if p := checkTopic(plan.Topic, plan.TopicID, job, data); p != nil {
		return p
	}
	have, want := data.IDs(), plan.Offsets.Partitions()
	slices.Sort(have)
	if !slices.Equal(have, want) {
		return refuse("plan-partition-set-mismatch", inspect.Named{"topicPartitions": have, "planPartitions": want},
			"topic %s has the partitions %s, the plan has %s", quote(plan.Topic), partitions(have), partitions(want))
	}
	return nil
}

// checkTopic asks whether the data topic is the one with that name and id.
func checkTopic(name, id string, job inspect.Job, data inspect.DataTopic) *inspect.Problem {
	switch {
	case name != job.Topic:
		return refuse("plan-topic-mismatch", inspect.Named{"found": job.Topic}, "the plan is for topic %s, the job's is %s", quote(name), quote(job.Topic))
	case !data.Exists:
		return refuse("broker-unknown-topic", nil, "topic %s does not exist", quote(name))
	case data.TopicID != id:
		return refuse("plan-topic-id-mismatch", inspect.Named{"found": data.TopicID},
			"topic %s has the id %s, the plan is for the one with the id %s", quote(name), safetext.Of(data.TopicID), safetext.Of(id))
	default:
		return nil
	}
}

// Required settings of the data topic.
const (
	policySetting, policyWanted   = "cleanup.policy", "compact,delete"
	retentionTime, retentionBytes = "retention.ms", "retention.bytes"
	retentionWanted               = "-1"
)

// CheckSettings asks whether the broker lets a prefix be deleted and deletes
// nothing by itself.
func CheckSettings(data inspect.DataTopic) *inspect.Problem {
	var bad []string
	for _, s := range requiredSettings(data) {
		if !s.fits {
			bad = append(bad, fmt.Sprintf("%s is %s instead of %s", s.name, safetext.Of(s.now), s.want))
		}
	}
	if bad == nil {
		return nil
	}
	return refuse("data-topic-config-unsafe", nil, "topic %s: %s", quote(data.Name), strings.Join(bad, ", "))
}

type requiredSetting struct {
	name, want, now string
	fits            bool
}

// requiredSettings compares what must be set with what is. The two policies may
// stand in any order, with spaces around them.
func requiredSettings(data inspect.DataTopic) []requiredSetting {
	out := []requiredSetting{{name: policySetting, want: policyWanted}, {name: retentionTime, want: retentionWanted}, {name: retentionBytes, want: retentionWanted}}
	for i := range out {
		s := &out[i]
		value, known := data.Setting(s.name)
		s.now = value
		switch {
		case !known:
			s.now = "not known"
		case s.name != policySetting:
			s.fits = value == s.want
		default:
			s.fits = slices.Equal(policies(value), policies(s.want))
		}
	}
	return out
}

// policies are those of a cleanup.policy, each once, in the order of the
// alphabet. They may stand in any order, with spaces around them.
func policies(value string) []string {
	out := strings.Split(value, ",")
	for i := range out {
		out[i] = strings.TrimFunc(out[i], func(r rune) bool { return r <= ' ' })
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// History is what the control topic says about a plan.
type History struct {
	Boundary   inspect.Offsets     // in force; empty: nothing is committed
	Operations []inspect.Operation // in the order in which their plans were first recorded
	Own        *inspect.Operation  // the plan's own; nil: it is not recorded
	Missing    bool                // the control topic does not exist
}

// Status is the plan's recorded status; empty where it is not recorded.
func (h History) Status() inspect.OperationStatus {
	if h.Own == nil {
		return ""
	}
	return h.Own.Status
}

// Others are the operations of other plans, in their order.
func (h History) Others() []inspect.Operation {
	return slices.DeleteFunc(slices.Clone(h.Operations), func(op inspect.Operation) bool { return h.Own != nil && op.PlanID == h.Own.PlanID })
}

// Target is up to where the plan's deletion goes: the boundary in force, once
// the plan is recorded.
func (h History) Target(plan inspect.CleanupPlan) inspect.Offsets {
	return higher(plan.Offsets, h.Boundary)
}

// Unfinished are the operations that an apply records as APPLIED when the log
// starts are verified, in the order in which it does.
func (h History) Unfinished() []inspect.Operation {
	return slices.DeleteFunc(slices.Clone(h.Operations), func(op inspect.Operation) bool { return op.Status != inspect.StatusCommitted })
}

// CheckControl judges the control topic's shape and its records as an apply of
// the plan does. The shape's problems belong to StageControlTopic, all others to
// StageOperations. A missing topic is no problem here: whether it may be made is
// a matter of consent.
//
// One thing more than the Java tool asks: that no open transaction hides
// records. A record written behind it would be hidden too, and the Java tool
// then reports a success that is none.
func CheckControl(plan inspect.CleanupPlan, control inspect.ControlTopic) (History, Stage, *inspect.Problem) {
	h := History{Boundary: inspect.Offsets{}, Missing: !control.Exists}
	judged := inspect.JudgeControl(control, inspect.History{Topic: plan.Topic, TopicID: plan.TopicID, Partitions: plan.Offsets.Partitions()})
	if p := judged.ApplyReader.Problem; p != nil {
		stage := StageOperations
		if strings.HasPrefix(p.Code, "control-topic-") {
			stage = StageControlTopic
		}
		return h, stage, p
	}
	h.Boundary, h.Operations = judged.ApplyReader.Offsets, judged.Operations
	for _, op := range judged.Operations {
		if op.PlanID != plan.PlanID {
			continue
		}
		h.Own = &op
		if !samePlan(PlanOf(op), plan) {
			return h, StageOperations, refuse("control-plan-changed", nil,
				"the control topic holds another cleanup under the id %s (at offset %s)", short(plan.PlanID), group(op.ControlOffset))
		}
	}
	if control.Exists && control.LastStable < control.LogEnd {
		return h, StageOperations, refuse(recordsHidden, inspect.Named{"logEnd": control.LogEnd},
			"an open transaction on the control topic %s hides the records from offset %s to the log end %s, and would hide what is committed now",
			quote(control.Name), group(control.LastStable), group(control.LogEnd))
	}
	return h, "", nil
}

// PlanOf is the plan inside an operation of the control topic: an operation can
// be finished and verified without its plan file.
func PlanOf(op inspect.Operation) inspect.CleanupPlan {
	return inspect.CleanupPlan{
		PlanID: op.PlanID, SourceRecoveryPoint: op.SourceRecoveryPoint,
		Topic: op.Topic, TopicID: op.TopicID, Offsets: op.Offsets,
	}
}

func samePlan(a, b inspect.CleanupPlan) bool {
	return a.PlanID == b.PlanID && a.SourceRecoveryPoint == b.SourceRecoveryPoint && a.Topic == b.Topic && a.TopicID == b.TopicID && sameOffsets(a.Offsets, b.Offsets)
}

func sameOffsets(a, b inspect.Offsets) bool {
	for p, offset := range a {
		if other, ok := b[p]; !ok || other != offset {
			return false
		}
	}
	return len(a) == len(b)
}

// CheckBoundary asks whether a new plan is at or past the boundary in force
// everywhere.
func CheckBoundary(plan inspect.CleanupPlan, boundary inspect.Offsets) *inspect.Problem {
	for _, p := range boundary.Partitions() {
		at, ok := plan.Offsets[p]
		switch {
		case !ok:
			return refuse("below-committed-boundary", inspect.Named{"boundary": boundary, "partition": p}, "the boundary in force names partition %d, and the plan does not", p)
		case at < boundary[p]:
			return refuse("below-committed-boundary", inspect.Named{"boundary": boundary, "partition": p, "requested": at},
				"partition %d would be cleaned up to %s, and the boundary in force is %s already", p, group(at), group(boundary[p]))
		}
	}
	return nil
}

// CheckAvailable asks whether every offset of a new plan lies in the log. The
// error says which partitions' offsets could not be read; a partition that
// surely refuses is named before it.
func CheckAvailable(plan inspect.CleanupPlan, data inspect.DataTopic) (*inspect.Problem, error) {
	ranges := data.Ranges()
	for _, p := range plan.Offsets.Partitions() {
		log, ok := ranges[p]
		if at := plan.Offsets[p]; ok && (at < log.Start || at > log.End) {
			return refuse("offset-unavailable", inspect.Named{"partition": p, "requested": at, "logStart": log.Start, "logEnd": log.End},
				"partition %d would be cleaned up to %s, and its log goes from %s to %s", p, group(at), group(log.Start), group(log.End)), nil
		}
	}
	return nil, unreadPartitions(plan, data)
}

func unreadPartitions(plan inspect.CleanupPlan, data inspect.DataTopic) error {
	var first error
	for _, p := range data.Partitions {
		if _, ok := plan.Offsets[p.ID]; ok && p.Err != nil {
			first = cmp.Or(first, fmt.Errorf("the offsets of partition %d could not be read: %w", p.ID, p.Err))
		}
	}
	return first
}

// Foresee says at which stage, and why, an apply of the plan would be refused,
// as far as what was read tells; nil where nothing read so far refuses it. The
// order is that of the Java tool. The error is what kept a stage from being
// judged: then the later ones were not.
func Foresee(plan inspect.CleanupPlan, e Evidence) (*Refusal, error) {
	at := func(stage Stage, p *inspect.Problem) (*Refusal, error) {
		return &Refusal{Stage: stage, Problem: *p}, nil
	}
	if p := CheckConfiguration(e.Job, e.Replication); p != nil {
		return at(StageConfiguration, p)
	}
	if e.ControlErr != nil {
		return nil, e.ControlErr
	}
	history, stage, controlProblem := CheckControl(plan, e.Control)
	switch {
	case stage == StageControlTopic:
		return at(stage, controlProblem)
	case history.Missing && e.Replication == nil:
		return at(StageControlTopic, refuse("control-topic-missing", nil, "control topic %s does not exist", quote(textOf(e.Job.ControlTopic))))
	case e.DataErr != nil:
		return nil, e.DataErr
	}
	if p := CheckIdentity(plan, e.Job, e.Data); p != nil {
		return at(StageIdentity, p)
	}
	if p := CheckSettings(e.Data); p != nil {
		return at(StageSettings, p)
	}
	if controlProblem != nil {
		return at(stage, controlProblem)
	}
	if history.Own != nil {
		return nil, nil // finished, or resumed: neither asks more before it writes
	}
	if p := CheckBoundary(plan, history.Boundary); p != nil {
		return at(StageBoundary, p)
	}
	p, err := CheckAvailable(plan, e.Data)
	if p != nil {
		return at(StageAvailability, p)
	}
	return nil, err
}
