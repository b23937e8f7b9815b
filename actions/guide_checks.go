package actions

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// guideFacts is the evidence with what follows from it.
type guideFacts struct {
	GuideEvidence
	target      *string // the control topic that the procedure ends with; nil: not named
	control     inspect.ControlTopic
	controlErr  error
	settingsErr error // the topic is known, and its settings are not

	plan        inspect.CleanupPlan // from the chosen point
	planProblem *inspect.Problem
}

// factsOf draws the plan from the chosen point, and tells which control topic is
// meant.
func factsOf(name string, e GuideEvidence) guideFacts {
	f := guideFacts{GuideEvidence: e, target: e.Job.ControlTopic, control: e.Control, controlErr: e.ControlErr}
	switch name {
	case GuideLeaveTombstones:
		f.target = nil
	case GuideNewControlTopic:
		f.target, f.control, f.controlErr = nil, e.New, e.NewErr
		if e.To != "" {
			f.target = &e.To
		}
	}
	if e.Offline {
		f.DataErr, f.ControlErr, f.controlErr = errOffline, errOffline, errOffline
	}
	if f.Data.Exists && len(f.Data.Settings) == 0 {
		f.settingsErr, f.DataErr = f.DataErr, nil // nothing else hangs on them
	}
	if e.Own != nil && e.Own.Err == nil {
		f.plan, f.planProblem = CleanupFrom(e.Own.Markers, e.Chosen)
	}
	return f
}

// hasPlan reports whether a plan can be made from the chosen point.
func (f guideFacts) hasPlan() bool { return f.plan.PlanID != "" && f.planProblem == nil }

func done(format string, args ...any) (GuideState, string) {
	return GuideDone, fmt.Sprintf(format, args...)
}

func open(format string, args ...any) (GuideState, string) {
	return GuideOpen, fmt.Sprintf(format, args...)
}

func unknown(format string, args ...any) (GuideState, string) {
	return GuideUnknown, fmt.Sprintf(format, args...)
}

func (f guideFacts) tombstonesAreOff() (GuideState, string) {
	if f.Job.Tombstones {
		return open("the profile says that the job's tombstones are on")
	}
	return done("the profile says that the job's tombstones are off; the job's own option is not read")
}

// nameProblem is what is wrong with a control topic's name alone.
func (f guideFacts) nameProblem() *inspect.Problem {
	return CheckConfiguration(inspect.Job{Topic: f.Job.Topic, ControlTopic: f.target}, nil)
}

func (f guideFacts) controlReady() (GuideState, string) {
	if p := f.nameProblem(); p != nil {
		return open("%s", p.Message)
	}
	return f.controlFit(false)
}

// controlFit looks at the control topic that the procedure ends with: it is
// missing, or empty, or holds this plan alone.
func (f guideFacts) controlFit(isNew bool) (GuideState, string) {
	name := quote(*f.target)
	switch {
	case f.controlErr != nil:
		return unknown("control topic %s could not be read: %s", name, safetext.Error(f.controlErr))
	case !f.control.Exists:
		return done("%s does not exist yet: apply makes it, with consent", name)
	case f.control.Name != *f.target:
		return unknown("control topic %s was not read", name)
	}
	plan := f.noPlan()
	if f.hasPlan() {
		plan = f.plan
	}
	history, stage, p := CheckControl(plan, f.control)
	switch {
	case stage == StageControlTopic:
		return open("%s", p.Message)
	case len(f.control.Records) == 0 && f.control.LastStable == f.control.LogEnd:
		return done("%s is there, with one partition and the policy compact, and holds no record", name)
	case p != nil:
		return open("%s", p.Message)
	case history.Own != nil && len(history.Operations) == 1:
		return done("%s holds the plan of the chosen point alone", name)
	case isNew:
		return open("%s is not new: it holds %s", name, figures.Count(len(history.Operations), "operation", "operations"))
	default:
		return open("%s holds %s: this would not be the first cleanup", name, figures.Count(len(history.Operations), "operation", "operations"))
	}
}

// noPlan names the topic as it is, with nothing to delete: enough to judge a
// history by.
func (f guideFacts) noPlan() inspect.CleanupPlan {
	none := inspect.CleanupPlan{Topic: f.Data.Name, TopicID: f.Data.TopicID, Offsets: inspect.Offsets{}}
	for _, p := range f.Data.IDs() {
		none.Offsets[p] = 0
	}
	return none
}

func (f guideFacts) settingsFit() (GuideState, string) {
	switch {
	case f.DataErr != nil && !f.Data.Exists:
		return unknown("topic %s could not be read: %s", quote(f.Job.Topic), safetext.Error(f.DataErr))
	case f.settingsErr != nil:
		return unknown("the settings of topic %s could not be read: %s", quote(f.Job.Topic), safetext.Error(f.settingsErr))
	case !f.Data.Exists:
		return open("topic %s does not exist", quote(f.Job.Topic))
	case len(f.Data.Settings) == 0:
		return unknown("the settings of topic %s were not read", quote(f.Job.Topic))
	}
	if p := CheckSettings(f.Data); p != nil {
		return open("%s", p.Message)
	}
	return done("cleanup.policy of topic %s holds compact and delete, and no retention limit is set", quote(f.Job.Topic))
}

// stopped asks Flink. A job that runs again as the procedure wants it was stopped.
func (f guideFacts) stopped() (GuideState, string) {
	switch live := f.Live; {
	case live == nil:
		return unknown("no Flink said what the job does now")
	case inspect.Ended(live.State):
		return done("Flink says that the job is %s", safetext.Of(live.State))
	default:
		if state, why := f.restarted(); state == GuideDone {
			return done("it was: %s", why)
		}
		return open("Flink says that the job is %s", safetext.Of(live.State))
	}
}

// point judges what was read of the chosen point, before any rule is asked; ok
// where it was read whole.
func (f guideFacts) point() (state GuideState, why string, ok bool) {
	switch {
	case f.Chosen == "":
		state, why = unknown("no recovery point is chosen: name it with --point URI, or open its screen")
	case isGone(f.OwnErr):
		state, why = open("there is no recovery point at %s", quote(f.Chosen))
	case f.OwnErr != nil:
		state, why = unknown("%s could not be read: %s", quote(f.Chosen), safetext.Error(f.OwnErr))
	case f.Own == nil:
		state, why = unknown("%s can't be read from here", quote(f.Chosen))
	case f.Own.Err != nil:
		state, why = open("%s is damaged: %s", quote(f.Chosen), safetext.Error(f.Own.Err))
	default:
		return "", "", true
	}
	return state, why, false
}

func (f guideFacts) versionedPoint() (GuideState, string) {
	if state, why, ok := f.point(); !ok {
		return state, why
	}
	if f.planProblem != nil {
		return open("%s", f.planProblem.Message)
	}
	return done("%s has %s of topic %s, id %s", pointName(*f.Own), figures.Count(len(f.Own.Markers), "versioned marker", "versioned markers"),
		quote(f.plan.Topic), safetext.Of(f.plan.TopicID))
}

func (f guideFacts) anyPoint() (GuideState, string) {
	if state, why, ok := f.point(); !ok {
		return state, why
	}
	merged := inspect.Merge(f.Own.Markers)
	if merged.Problem != nil {
		return open("%s", merged.Problem.Message)
	}
	return done("%s has %s: %s", pointName(*f.Own), figures.Count(len(f.Own.Markers), "marker", "markers"), merged.Kind)
}

// pointName is a point in a sentence.
func pointName(p inspect.RecoveryPoint) string {
	return fmt.Sprintf("%s %s", p.Kind, quote(lastPart(p.URI)))
}

// restore asks the rules of a restore about the chosen point, with a control topic
// or none. Tombstones are taken as off: they are a step of their own.
func (f guideFacts) restore(control *string, records inspect.ControlTopic, recordsErr error) (GuideState, string) {
	if state, why, ok := f.point(); !ok {
		return state, why
	}
	w := world{job: f.Job, data: f.Data, dataErr: f.DataErr, control: records, controlErr: recordsErr}
	w.job.ControlTopic, w.job.Tombstones = control, false
	if f.Offline {
		w.dataErr, w.controlErr = errOffline, errOffline
	}
	v := w.judge(*f.Own)
	switch {
	case v.Verdict == inspect.Accepted && len(v.Unchecked) > 0:
		return done("accepted; not checked: %s", safetext.Of(strings.Join(v.Unchecked, "; ")))
	case v.Verdict == inspect.Accepted:
		return done("accepted")
	case v.Verdict == inspect.Rejected && len(v.Reasons) > 0:
		return open("rejected: %s", v.Reasons[0].Message)
	default:
		var fate PointFate
		fate.explain(v, nil)
		return unknown("whether it would be accepted is not known: %s", fate.Message)
	}
}

func (f guideFacts) acceptedPlain() (GuideState, string) {
	return f.restore(nil, inspect.ControlTopic{}, nil)
}

func (f guideFacts) acceptedBound() (GuideState, string) {
	switch {
	case f.target == nil:
		return unknown("no control topic is named")
	case f.controlErr != nil:
		return unknown("control topic %s could not be read: %s", quote(*f.target), safetext.Error(f.controlErr))
	}
	return f.restore(f.target, f.control, nil)
}

// own is the operation of the chosen point's plan on the control topic.
func (f guideFacts) own() (op *inspect.Operation, state GuideState, why string) {
	switch {
	case !f.hasPlan():
		if state, why, ok := f.point(); !ok {
			return nil, state, why
		}
		state, why = open("no plan can be made from the chosen point")
		return nil, state, why
	case f.target == nil:
		state, why = unknown("no control topic is named")
		return nil, state, why
	case f.controlErr != nil:
		state, why = unknown("control topic %s could not be read: %s", quote(*f.target), safetext.Error(f.controlErr))
		return nil, state, why
	}
	history, _, p := CheckControl(f.plan, f.control)
	switch {
	case p != nil:
		state, why = open("%s", p.Message)
	case history.Own == nil && history.Missing:
		state, why = open("control topic %s does not exist yet", quote(*f.target))
	case history.Own == nil:
		state, why = open("the plan of the chosen point, %s, is not on the control topic", short(f.plan.PlanID))
	}
	return history.Own, state, why
}

func (f guideFacts) committed() (GuideState, string) {
	op, state, why := f.own()
	if op == nil || state != "" {
		return state, why
	}
	return done("plan %s is %s, at offset %s of the control topic", short(op.PlanID), op.Status, group(op.ControlOffset))
}

func (f guideFacts) applied() (GuideState, string) {
	op, state, why := f.own()
	if op == nil || state != "" {
		return state, why
	}
	v := Judge(f.plan, f.control, f.controlErr, f.Data, f.DataErr)
	switch v.Verdict {
	case Applied:
		return done("%s", v.Message)
	case Undecided:
		return unknown("%s", v.Message)
	default:
		return open("%s: %s", v.Verdict, v.Message)
	}
}

// restarted asks Flink what the job was restored from, and compares when with the
// time of the boundary: a restore before it was another start.
func (f guideFacts) restarted() (GuideState, string) {
	live := f.Live
	switch {
	case live == nil:
		return unknown("no Flink said what the job does now")
	case live.State != "RUNNING":
		return open("Flink says that the job is %s", safetext.Of(live.State))
	case f.Chosen == "":
		return unknown("the job is RUNNING, and no recovery point is chosen to compare with")
	}
	from, at := restoredFrom(live)
	switch {
	case from == "":
		return unknown("the job is RUNNING, and Flink does not say what it was restored from")
	case !inspect.SamePoint(from, f.Chosen):
		return open("the job is RUNNING, restored from %s", quote(from))
	}
	if f.target != nil {
		switch op, _, _ := f.own(); {
		case op == nil:
			return open("the job is RUNNING, restored from the chosen point before a boundary was committed")
		case at == nil || op.Time.IsZero():
			return unknown("the job is RUNNING, restored from the chosen point; whether before or after the boundary is not known")
		case at.Before(op.Time):
			return open("the job is RUNNING, restored from the chosen point at %s, before the boundary of %s", clockTime(*at), clockTime(op.Time))
		}
	} else if f.Job.Tombstones {
		return open("the job is RUNNING, restored from the chosen point, and the profile says that its tombstones are on")
	}
	return done("the job is RUNNING, restored from the chosen point. %s", restartHint)
}

func clockTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// restoredFrom is what the job was restored from, and when, as far as Flink says.
func restoredFrom(live *inspect.LiveState) (path string, at *time.Time) {
	if live.Checkpoints != nil && live.Checkpoints.Restored != nil {
		at = live.Checkpoints.Restored.Time
		path = textOf(live.Checkpoints.Restored.Path)
	}
	if path == "" {
		path = textOf(live.RestoredFrom)
	}
	return path, at
}

func (f guideFacts) controlLeftOut() (GuideState, string) {
	if f.Job.ControlTopic == nil {
		return done("the profile names no control topic; the job's own option is not read")
	}
	return open("the profile names the control topic %s: with tombstones on, a restore with it is rejected", quote(*f.Job.ControlTopic))
}

// newerPoint looks for a point that was taken after the job was restored.
func (f guideFacts) newerPoint() (GuideState, string) {
	if f.Live == nil {
		return unknown("no Flink said when the job was restored")
	}
	_, at := restoredFrom(f.Live)
	if at == nil {
		return unknown("Flink does not say when the job was restored")
	}
	if len(f.Searched) == 0 {
		return unknown("no place was searched for recovery points")
	}
	best := -1
	for i, p := range f.Points {
		if p.Err != nil || p.Taken.Time == nil || !p.Taken.Time.After(*at) {
			continue
		}
		if _, problem := CleanupFrom(p.Markers, p.URI); problem == nil && (best < 0 || p.Taken.Time.After(*f.Points[best].Taken.Time)) {
			best = i
		}
	}
	if best < 0 {
		problem := slices.IndexFunc(f.Searched, func(s Searched) bool { return s.Problem != "" })
		if problem >= 0 {
			return unknown("no such point was found, and not all of %s could be read", quote(f.Searched[problem].Place))
		}
		return open("no point with versioned markers was taken since the job was restored at %s", clockTime(*at))
	}
	return done("%s, taken at %s", pointName(f.Points[best]), clockTime(*f.Points[best].Taken.Time))
}

func (f guideFacts) cleanupFollows() (GuideState, string) {
	return open("recoverctl guide first-cleanup checks each of its steps")
}

// oldHistory reads the history of the old control topic. Problem is why no plan
// can advance it.
func (f guideFacts) oldHistory() (history History, problem *inspect.Problem, state GuideState, why string) {
	switch {
	case f.Job.ControlTopic == nil:
		state, why = unknown("no old control topic is named: give --control-topic NAME, or set it in the profile")
	case f.target != nil && *f.target == *f.Job.ControlTopic:
		state, why = unknown("the profile names the new control topic already, so the old one is not looked at: name it with --control-topic NAME")
	case f.ControlErr != nil:
		state, why = unknown("control topic %s could not be read: %s", quote(*f.Job.ControlTopic), safetext.Error(f.ControlErr))
	case f.DataErr != nil && !f.Data.Exists:
		state, why = unknown("topic %s could not be read: %s", quote(f.Job.Topic), safetext.Error(f.DataErr))
	case !f.Control.Exists:
		state, why = open("control topic %s does not exist: its boundary is lost, and who deleted it has to be found out first", quote(*f.Job.ControlTopic))
	default:
		history, _, problem = CheckControl(f.noPlan(), f.Control)
	}
	return history, problem, state, why
}

func (f guideFacts) historyRefused() (GuideState, string) {
	history, p, state, why := f.oldHistory()
	switch {
	case state != "":
		return state, why
	case p == nil && len(history.Operations) == 0:
		return open("nothing is wrong with the history: it holds no operation. Do not go on")
	case p == nil:
		return open("nothing is wrong with the history: %s can be advanced. Do not go on", figures.Count(len(history.Operations), "operation", "operations"))
	case p.Code == recordsHidden:
		return open("it is not the history that is refused: %s. Do not go on before that is over", p.Message)
	default:
		return done("%s (%s)", p.Message, p.Code)
	}
}

func (f guideFacts) copyKept() (GuideState, string) {
	return unknown("whether a copy was kept can't be seen from here")
}

func (f guideFacts) nobodyElse() (GuideState, string) {
	_, _, state, why := f.oldHistory()
	switch {
	case state != "":
		return state, why
	case f.Control.LastStable < f.Control.LogEnd:
		return open("an open transaction hides the records of the old control topic from offset %s on", group(f.Control.LastStable))
	default:
		return unknown("no transaction is open on the old control topic; who writes to it can't be seen from here")
	}
}

// pastOld compares the chosen point with every boundary that can still be read.
// Of a history that is refused, each record is read by itself.
func (f guideFacts) pastOld() (GuideState, string) {
	if _, _, state, why := f.oldHistory(); state != "" {
		return state, why
	}
	if !f.hasPlan() {
		if state, why, ok := f.point(); !ok {
			return state, why
		}
		return open("the chosen point authorises no cleanup")
	}
	seen, unread := 0, 0
	for _, r := range f.Control.Records {
		ops, p := inspect.ReadControl([]inspect.ControlRecord{r})
		if p != nil {
			unread++
			continue
		}
		for _, op := range ops {
			if op.Topic != f.plan.Topic || op.TopicID != f.plan.TopicID {
				continue // of another topic: nothing of it is asked for
			}
			seen++
			for _, part := range op.Offsets.Partitions() {
				if at, known := f.plan.Offsets[part]; known && at < op.Offsets[part] {
					return open("cleanup %s was committed up to %s on partition %d, and the point is read from %s there", short(op.PlanID), group(op.Offsets[part]), part, group(at))
				}
			}
		}
	}
	if unread > 0 {
		return unknown("the point is past every boundary that can be read, and %s of the old control topic can't be", figures.Count(unread, "record", "records"))
	}
	return done("the point is at or past every boundary of this topic on the old control topic (%s)", figures.Count(seen, "record", "records"))
}

func (f guideFacts) newNamed() (GuideState, string) {
	if f.target == nil {
		return unknown("no new control topic is named: give --to NAME")
	}
	if p := f.nameProblem(); p != nil {
		return open("%s", p.Message)
	}
	return f.controlFit(true)
}

func (f guideFacts) profileMoved() (GuideState, string) {
	switch {
	case f.target == nil:
		return unknown("no new control topic is named: give --to NAME")
	case f.Job.ControlTopic == nil:
		return open("the profile names no control topic")
	case *f.Job.ControlTopic != *f.target:
		return open("the profile names %s", quote(*f.Job.ControlTopic))
	default:
		return done("the profile names %s", quote(*f.target))
	}
}
