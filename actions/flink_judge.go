package actions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/explain"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// StageJob and the others are the stages of a plan about a Flink job, beside
// StageConfiguration.
const (
	StageJob       Stage = "job"
	StageRestore   Stage = "restore"
	StageJar       Stage = "jar"
	StageSavepoint Stage = "savepoint"
	StageEnd       Stage = "end"
	StageSubmit    Stage = "submit"
	StageRestored  Stage = "restored"
)

// many is how many restarts of a job that was just started are a loop.
const many = 3

// Saved is where the plan's savepoint is, as far as Flink says it: by its trigger,
// or, where Flink has forgotten that, as one newer than the plan found.
func (e FlinkEvidence) Saved(p FlinkPlan) (path string, found bool) {
	if !p.Savepoints() {
		return "", false
	}
	if e.Savepoint.Known {
		return e.Savepoint.Location, e.Savepoint.Location != ""
	}
	if last := e.lastSavepoint(); last != "" && last != p.Last {
		return last, true
	}
	return "", false
}

// CheckFlinkPlan asks whether a plan can be applied, or gone on with, as things
// are; nil where nothing that was read refuses it.
func CheckFlinkPlan(d Document, e FlinkEvidence) *Refusal {
	if refused := CheckFlinkJob(d, e); refused != nil || d.Kind != KindRollback {
		return refused
	}
	if refused := CheckFlinkRestore(d, e); refused != nil {
		return refused
	}
	return CheckFlinkJar(d, e)
}

func refusedAt(stage Stage, problem *inspect.Problem) *Refusal {
	if problem == nil {
		return nil
	}
	return &Refusal{Stage: stage, Problem: *problem}
}

// begun reports whether there is nothing left to refuse: what was not read
// refuses nothing, and of a job that the plan has started it is left to watch it.
func (e FlinkEvidence) begun() bool { return e.Err != nil || e.New != nil }

// CheckFlinkJob asks whether the job is as the plan found it, or as the plan has
// left it, and whether no other has its name.
func CheckFlinkJob(d Document, e FlinkEvidence) *Refusal {
	if e.begun() {
		return nil
	}
	p := FlinkPlanOf(d)
	if refused := checkFlinkJob(p, e); refused != nil || p.Kind != KindRollback {
		return refused
	}
	if other := e.others(p.NewJobID); len(other) > 0 {
		return refusedAt(StageJob, twoJobs(other, d.Target.Name))
	}
	return nil
}

// CheckFlinkRestore asks whether the point of a rollback can be restored from
// now, and would outlive the job that is ended.
func CheckFlinkRestore(d Document, e FlinkEvidence) *Refusal {
	if e.begun() {
		return nil
	}
	p := FlinkPlanOf(d)
	if problem := e.restoreRefused(); problem != nil {
		return refusedAt(StageRestore, problem)
	}
	if e.Old == nil || inspect.Ended(e.Old.State) || !inspect.OwnCheckpoint(p.Point, e.PointKind, *e.Old) {
		return nil
	}
	if p.End != EndByCancel {
		return refusedAt(StageRestore, refuse("point-goes-with-job", nil, "%s would be deleted when the job is stopped", quote(p.Point)))
	}
	return refusedAt(StageRestore, e.goesWithJob(p.Point))
}

// CheckFlinkJar asks whether the jar of a rollback is still uploaded.
func CheckFlinkJar(d Document, e FlinkEvidence) *Refusal {
	if e.begun() {
		return nil
	}
	_, problem := e.chooseJar(FlinkPlanOf(d).Jar)
	return refusedAt(StageJar, problem)
}

// checkFlinkJob asks whether the job is as the plan found it, or as the plan has
// left it.
func checkFlinkJob(p FlinkPlan, e FlinkEvidence) *Refusal {
	no := func(code, format string, args ...any) *Refusal {
		return refusedAt(StageJob, refuse(code, nil, format, args...))
	}
	if e.Savepoint.Known && e.Savepoint.Ready && e.Savepoint.Location == "" {
		return refusedAt(StageSavepoint, refuse("savepoint-failed", nil, "the plan's savepoint failed: %s", safetext.Of(e.Savepoint.Failure)))
	}
	if p.JobID == "" {
		if e.Old != nil && !inspect.Ended(e.Old.State) {
			return no("job-changed", "the plan found no job named %s, and now %s is %s", quote(p.JobName), jobWords(*e.Old), safetext.Of(e.Old.State))
		}
		return nil
	}
	if e.Old == nil {
		return no("job-unknown", "Flink at %s knows no job %s any more: whether it has ended, or runs under another JobManager, can't be told from here", e.Address, p.JobID)
	}
	state, job := e.Old.State, jobWords(*e.Old)
	_, saved := e.Saved(p)
	begun := saved || e.Savepoint.Known
	ends := p.Kind == KindStop || p.Kind == KindCancel || p.End == EndByStop || p.End == EndByCancel
	switch {
	case state == p.State:
		return nil
	case inspect.Ended(p.State):
		return no("job-changed", "%s was %s when the plan was made, and is %s now", job, p.State, safetext.Of(state))
	case !inspect.Ended(state):
		switch {
		case !p.Savepoints() && mayEnd(*e.Old) == nil, state == "CANCELLING" && ends, begun:
			return nil
		}
		return no("job-changed", "%s was %s when the plan was made, and is %s now%s", job, p.State, safetext.Of(state), rootCauseWords(e.Old))
	case ends && (!p.Savepoints() || saved):
		return nil // it was ended, and nothing of it is lost
	case p.Kind == KindSavepoint && saved:
		return nil
	default:
		return no("job-changed", "%s was %s when the plan was made and is %s now, without the plan's savepoint%s", job, p.State, safetext.Of(state), rootCauseWords(e.Old))
	}
}

// JudgeFlink says what has become of a plan from what Flink says of its jobs.
func JudgeFlink(d Document, e FlinkEvidence) OperationVerdict {
	v := OperationVerdict{PlanID: d.PlanID, Verdict: Undecided, Partitions: []PartitionVerdict{}, Facts: d.flinkFacts(e)}
	if e.Err != nil {
		v.Message = "Flink could not be asked: " + safetext.Error(e.Err).String()
		return v
	}
	p := FlinkPlanOf(d)
	if p.Kind == KindRollback && e.New != nil {
		v.Verdict, v.Message = judgeStarted(p, e)
		return v
	}
	v.Verdict, v.Message = judgeOld(p, e)
	return v
}

// judgeOld says how far a plan is whose new job does not exist.
func judgeOld(p FlinkPlan, e FlinkEvidence) (Outcome, string) {
	path, saved := e.Saved(p)
	where := ""
	if saved {
		where = "; its savepoint is " + safetext.Of(path).String()
	}
	if e.Old == nil && p.JobID != "" {
		if p.Kind == KindSavepoint && saved {
			return Applied, "the savepoint was made" + where
		}
		return Undecided, fmt.Sprintf("Flink at %s does not know job %s: it forgets ended jobs after a while, and all of them when the JobManager is started anew%s", e.Address, p.JobID, where)
	}
	failed := ""
	if e.Savepoint.Failure != "" {
		failed = "; the savepoint failed: " + safetext.Of(e.Savepoint.Failure).String()
	}
	if p.JobID == "" {
		return NotStarted, "the job was not started"
	}
	state := safetext.Of(e.Old.State).String()
	job := fmt.Sprintf("job %s is %s", p.JobID, state)
	switch p.Kind {
	case KindSavepoint:
		switch {
		case saved && !e.Savepoint.Known:
			return Applied, "the savepoint was made: " + safetext.Of(path).String() + ". Flink does not know the plan's trigger, as after a while: this one is newer than the plan, and may be another's"
		case saved:
			return Applied, "the savepoint was made: " + safetext.Of(path).String()
		case e.Savepoint.Known && !e.Savepoint.Ready:
			return Partial, "the savepoint is being taken; " + job
		}
		return NotStarted, "no savepoint was made by it; " + job + failed
	case KindCancel:
		switch {
		case e.Old.State == stateCanceled:
			return Applied, job
		case inspect.Ended(e.Old.State):
			return Contradicted, "the job ended by itself before it was cancelled: " + job + rootCauseWords(e.Old)
		case e.Old.State == "CANCELLING":
			return Partial, "the job is being cancelled: " + job
		}
		return NotStarted, job + ": it was not cancelled by this plan"
	case KindStop:
		switch {
		case e.Old.State == stateFinished && saved:
			return Applied, job + where
		case inspect.Ended(e.Old.State):
			return Contradicted, "the job ended without the plan's savepoint: " + job + rootCauseWords(e.Old) + failed
		case e.Savepoint.Known && !e.Savepoint.Ready, saved:
			return Partial, "the job is being stopped: " + job + where
		}
		return NotStarted, job + ": it was not stopped by this plan" + failed
	}
	switch {
	case inspect.Ended(p.State):
		return NotStarted, job + ", as the plan found it, and was not started again"
	case inspect.Ended(e.Old.State):
		return Partial, job + ", and was not started again" + where
	case e.Old.State == "CANCELLING", p.End == EndByStop && e.Savepoint.Known && e.Savepoint.Failure == "":
		return Partial, "the job is being ended: " + job + where
	}
	return NotStarted, job + ": it was not rolled back by this plan" + where + failed
}

// judgeStarted says how the job is that a rollback has started.
func judgeStarted(p FlinkPlan, e FlinkEvidence) (Outcome, string) {
	live := *e.New
	state := safetext.Of(live.State).String()
	job := fmt.Sprintf("the new job %s is %s", p.NewJobID, state)
	from, proven := restoredFromOf(p, live)
	switch {
	case live.State == stateFailed && live.RestoredFrom == nil:
		return Partial, "the restore failed: " + job + Explained(live)
	case inspect.Failing(live.State):
		return Partial, "the job came up and failed: " + job + Explained(live)
	case inspect.Ended(live.State):
		return Contradicted, "it was started and has ended since: " + job
	case live.State != stateRunning:
		return Partial, "it is starting: " + job
	case live.Checkpoints == nil:
		return Undecided, job + ", and its checkpoints could not be read, so neither could what it was restored from"
	case !proven:
		return Contradicted, fmt.Sprintf("%s, restored from %s, and the plan says %s", job, from, quote(p.Point))
	case live.Restarts != nil && *live.Restarts >= many:
		return Partial, fmt.Sprintf("%s, and was restarted %s times: that is a loop%s", job, group(*live.Restarts), Explained(live))
	case !live.Checkpointed():
		return Partial, job + ", restored from " + from + ", and has completed no checkpoint yet"
	}
	return Applied, job + ", restored from " + from + checkpointWords(live)
}

// restoredFromOf is what Flink says that the new job was restored from. Only a
// plan gives a job its id, so one that has restarted by itself since, from a
// checkpoint of its own, was restored as planned before.
func restoredFromOf(p FlinkPlan, live inspect.LiveState) (words string, proven bool) {
	if live.RestoredFrom == nil {
		return "nothing", false
	}
	path := *live.RestoredFrom
	if _, same := inspect.PointAt([]inspect.PointSummary{{URI: p.Point}}, path); same {
		return safetext.Of(path).String(), true
	}
	own := slices.Contains(strings.Split(path, "/"), p.NewJobID)
	if own && live.Checkpoints != nil && live.Checkpoints.Restores > 1 {
		return fmt.Sprintf("%s, and since then by itself from %s", safetext.Of(p.Point), safetext.Of(path)), true
	}
	return safetext.Of(path).String(), false
}

func checkpointWords(live inspect.LiveState) string {
	if live.Checkpoints == nil || live.Checkpoints.Completed == 0 {
		return "; it takes no checkpoints by time, so none was waited for"
	}
	return "; checkpoints completed since: " + group(live.Checkpoints.Completed)
}

// Explained is the root cause of a job's failure, and what is known of it; empty
// where no failure is on record.
func Explained(live inspect.LiveState) string {
	words := rootCauseWords(&live)
	if live.RootCause == nil {
		return words
	}
	text := live.RootCause.Outer + "\nCaused by: " + live.RootCause.Type + ": " + live.RootCause.Message
	for _, m := range explain.Text(text, nil).Matches {
		return words + ". It means: " + m.Cause
	}
	return words
}

func rootCauseWords(live *inspect.LiveState) string {
	if live == nil || live.LastException == nil {
		return ""
	}
	const most = 400
	return ": " + safetext.Of(strings.Join(strings.Fields(*live.LastException), " ")).Truncate(most).String()
}

// flinkFacts are where the facts of a plan stand.
func (d Document) flinkFacts(e FlinkEvidence) []FactVerdict {
	p := FlinkPlanOf(d)
	out := make([]FactVerdict, 0, len(d.Facts))
	for _, f := range d.Facts {
		v := FactVerdict{Name: f.Name, Before: f.Before, BeforeSource: f.Source, After: f.After, State: FactUnread}
		if e.Err == nil {
			v.Now, v.NowSource, v.State = factNow(f, p, e)
		}
		out = append(out, v)
	}
	return out
}

// factNow is one fact as Flink has it.
func factNow(f Fact, p FlinkPlan, e FlinkEvidence) (now *string, source string, state FactState) {
	old := func(value *string) (*string, string, FactState) {
		if e.Old == nil && p.JobID != "" {
			return nil, "", FactUnread
		}
		if sideOf(value) == sideOf(f.Before) {
			return value, "", FactBefore
		}
		return value, "", FactOther
	}
	switch f.Name {
	case FactSavepoint:
		if path, saved := e.Saved(p); saved {
			return &path, "", FactPlanned
		}
		return old(sideOrNothing(e.lastSavepoint()))
	case FactJobState:
		if e.Old == nil {
			return nil, "", FactUnread
		}
		if e.Old.State == sideOf(f.After) {
			return &e.Old.State, "", FactPlanned
		}
		return old(&e.Old.State)
	case FactJob:
		switch {
		case e.New != nil:
			return &e.New.JobID, e.New.State, FactPlanned
		case e.Old == nil:
			return old(nil)
		case e.Old.State != p.State && inspect.Ended(e.Old.State):
			return nil, e.Old.State, FactOther
		}
		return &e.Old.JobID, e.Old.State, FactBefore
	case FactRestoredFrom:
		if e.New == nil {
			if e.Old == nil {
				return old(nil)
			}
			return old(e.Old.RestoredFrom)
		}
		if _, proven := restoredFromOf(p, *e.New); proven {
			return e.New.RestoredFrom, "", FactPlanned
		}
		if e.New.Checkpoints == nil {
			return nil, "", FactUnread
		}
		return e.New.RestoredFrom, "", FactOther
	default:
		return parallelismNow(f, p, e)
	}
}

func parallelismNow(f Fact, p FlinkPlan, e FlinkEvidence) (now *string, source string, state FactState) {
	n := e.Parallelism
	if e.New != nil {
		n = e.NewParallelism
	}
	if n == 0 {
		return nil, "", FactUnread
	}
	is := parallelismText(n)
	switch {
	case e.New != nil && (is == sideOf(f.After) || p.Parallelism == 0):
		return &is, "", FactPlanned
	case e.New == nil && is == sideOf(f.Before):
		return &is, "", FactBefore
	}
	return &is, "", FactOther
}
