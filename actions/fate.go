package actions

import (
	"errors"
	"fmt"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Fate is what becomes of a recovery point when the plan is applied.
type Fate string

// The fates. A point that is unknown counts as lost. Already: it can't be
// restored from now, and what the plan deletes is not why.
const (
	FateStays   Fate = "stays"
	FateLost    Fate = "lost" // for good
	FateUnknown Fate = "unknown"
	FateAlready Fate = "already"
)

// PointFate is one recovery point before and after the plan. Reason and Message
// say why it is not accepted afterwards; Reason is nil where it is.
type PointFate struct {
	URI          string            `json:"uri"`
	Kind         inspect.PointKind `json:"kind"`
	CheckpointID int64             `json:"checkpointId"`
	Taken        inspect.Taken     `json:"taken"`
	Own          bool              `json:"own"`    // the plan's own point
	Pinned       bool              `json:"pinned"` // something depends on it
	Fate         Fate              `json:"fate"`
	Now          inspect.Verdict   `json:"now"`
	After        inspect.Verdict   `json:"after"`
	Whole        bool              `json:"whole"` // every referenced file was looked for and found
	Offsets      inspect.Offsets   `json:"offsets"`
	Reason       *string           `json:"reason"`
	Message      string            `json:"message"`
}

// errOffline stands in evidence for what nobody asked for.
var errOffline = errors.New("no cluster was asked")

// world is what the rules of a restore look at beside the point: the topics as
// they are, or as the plan will leave them.
type world struct {
	job        inspect.Job
	data       inspect.DataTopic
	dataErr    error
	control    inspect.ControlTopic
	controlErr error
	boundary   inspect.Offsets // in force there; before the plan: that of the others alone
	recorded   bool            // the plan is on the control topic already
}

// before is the world as it was read.
func (e Evidence) before(plan inspect.CleanupPlan) world {
	w := world{job: e.Job, data: e.Data, dataErr: e.DataErr, control: e.Control, controlErr: e.ControlErr}
	if e.Offline {
		w.dataErr, w.controlErr = errOffline, errOffline
	}
	if w.controlErr == nil {
		history, _, _ := CheckControl(plan, e.Control)
		w.boundary, w.recorded = inspect.Boundary(history.Others()), history.Own != nil
	}
	return w
}

// after is the world when the plan is applied: its boundary is recorded, and the
// log begins at the boundary in force.
func (w world) after(plan inspect.CleanupPlan) world {
	target := higher(plan.Offsets, w.boundary)
	out := w
	out.boundary = target
	if w.controlErr == nil {
		out.control = withRecord(w.control, plan)
	}
	out.data.Partitions = make([]inspect.Partition, len(w.data.Partitions))
	for i, p := range w.data.Partitions {
		if to, ok := target[p.ID]; ok && p.Err == nil {
			p.Log.Start = max(p.Log.Start, min(to, p.Log.End))
		}
		out.data.Partitions[i] = p
	}
	return out
}

// withRecord is the control topic with the plan committed, made where it does
// not exist yet.
func withRecord(control inspect.ControlTopic, plan inspect.CleanupPlan) inspect.ControlTopic {
	if !control.Exists {
		control.Exists, control.Partitions, control.CleanupPolicy = true, []int32{0}, "compact"
	}
	for _, r := range control.Records {
		if string(r.Key) == plan.PlanID {
			return control // it is there, COMMITTED or APPLIED
		}
	}
	record := inspect.ControlRecord{Offset: control.LogEnd, Key: []byte(plan.PlanID), Value: EncodeRecord(plan, inspect.StatusCommitted)}
	control.Records = append(control.Records[:len(control.Records):len(control.Records)], record)
	control.LogEnd++
	control.LastStable++
	return control
}

// higher is the maximum per partition.
func higher(a, b inspect.Offsets) inspect.Offsets {
	out := make(inspect.Offsets, len(a))
	for p, at := range a {
		out[p] = at
	}
	for p, at := range b {
		if other, ok := out[p]; !ok || at > other {
			out[p] = at
		}
	}
	return out
}

// judge asks the rules of a restore about a point.
func (w world) judge(point inspect.RecoveryPoint) inspect.RestoreValidation {
	q := inspect.RestoreQuestion{
		Point: point.URI, Job: w.job,
		Data: w.data, DataErr: w.dataErr, Control: w.control, ControlErr: w.controlErr,
		Markers: point.Markers, PointErr: point.Err,
		MetadataVersion: point.MetadataVersion, CheckpointID: point.CheckpointID, Files: point.Files,
		Operators: point.Operators, Kind: point.Kind, Format: point.Format,
	}
	if point.Err == nil {
		q.PointChecks = point.Checks // of a point that this program can't read they say nothing about what Flink can
	}
	return inspect.ValidateRestore(q)
}

// fateOf judges a point before and after the plan.
func fateOf(plan inspect.CleanupPlan, now, later world, point inspect.RecoveryPoint) PointFate {
	before, after := now.judge(point), later.judge(point)
	merged := inspect.Merge(point.Markers)
	f := PointFate{
		URI: point.URI, Kind: point.Kind, CheckpointID: point.CheckpointID, Taken: point.Taken,
		Now: before.Verdict, After: after.Verdict, Whole: isWhole(after), Offsets: merged.Offsets,
	}
	taken := takes(plan, now, later, merged)
	switch {
	case after.Verdict == inspect.Accepted:
		f.Fate = FateStays
		return f
	case taken != nil, before.Verdict == inspect.Accepted && after.Verdict == inspect.Rejected:
		f.Fate = FateLost
	case after.Verdict == inspect.Rejected:
		f.Fate = FateAlready
	default:
		f.Fate = FateUnknown
	}
	f.explain(after, taken)
	return f
}

// takes says where the plan deletes what a restore from the point would read,
// nil where it deletes nothing of it: then the point either needs nothing below
// the target, or was cut off from its records before.
//
// The verdicts alone don't tell. A point can be rejected now for a reason that
// goes away (no boundary is committed yet, a file is missing and in a backup),
// and what the plan deletes never comes back. A plan that is being resumed has
// taken its points already, and some of the log: they are told as lost again,
// because it is this plan that takes them.
func takes(plan inspect.CleanupPlan, now, later world, merged inspect.Merged) *inspect.Problem {
	switch merged.Kind {
	case inspect.MergedVersioned:
		if *merged.Topic != plan.Topic || *merged.TopicID != plan.TopicID {
			return nil // of another topic: nothing of it is deleted
		}
	case inspect.MergedLegacy: // it names no topic, so it may be of this one
	default:
		return nil
	}
	ranges := now.data.Ranges()
	var first *inspect.Problem
	for _, p := range merged.Offsets.Partitions() {
		at := merged.Offsets[p]
		if bound, ok := now.boundary[p]; ok && at < bound {
			return nil
		}
		to, deleted := later.boundary[p]
		if log, ok := ranges[p]; ok && now.dataErr == nil && at < log.Start && !(now.recorded && log.Start <= to) {
			return nil
		}
		if deleted && at < to && first == nil {
			first = refuse("below-committed-boundary", inspect.Named{"partition": p, "requested": at, "boundary": to},
				"partition %d must be read from %s, and is deleted up to %s", p, group(at), group(to))
		}
	}
	return first
}

func (f *PointFate) explain(after inspect.RestoreValidation, taken *inspect.Problem) {
	for _, r := range after.Reasons {
		if taken == nil || r.Code == taken.Code {
			f.Reason, f.Message = &r.Code, r.Message
			return
		}
	}
	if taken != nil {
		f.Reason, f.Message = &taken.Code, taken.Message
		return
	}
	for _, rule := range after.Rules {
		if rule.Result == inspect.NotChecked {
			f.Message = fmt.Sprintf("%s: not checked, %s", rule.Title, safetext.Of(rule.Message))
			return
		}
	}
}

// isWhole reports whether every referenced file was looked for and found.
func isWhole(v inspect.RestoreValidation) bool {
	for _, rule := range v.Rules {
		if rule.Code == "state-file-missing" {
			return rule.Result == inspect.Passed || rule.Result == inspect.WouldPass
		}
	}
	return false
}
