package actions

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Flink's words for a job's state, as far as a plan hangs on them.
const (
	stateRunning  = "RUNNING"
	stateFinished = "FINISHED"
	stateCanceled = "CANCELED"
	stateFailed   = "FAILED"
)

// FlinkAsk is what a plan about a Flink job is asked for.
type FlinkAsk struct {
	Trigger   string // a new id of 32 hex digits, for the savepoint
	Directory string // that savepoints are made in; empty: the job's default

	// Of a rollback.
	NewJobID    string // a new id of 32 hex digits, for the job that is started
	Point       string
	Jar         string // id or name of an uploaded jar; empty: the only one
	EntryClass  string
	Arguments   []string
	Parallelism int // 0: that of the job
	AllowLeft   bool
	NoSavepoint bool // take no safety savepoint
}

// SavepointFrom makes a plan that takes a savepoint of a running job.
func SavepointFrom(e FlinkEvidence, ask FlinkAsk) (Document, *inspect.Problem) {
	if p := e.mustRun("take a savepoint of"); p != nil {
		return Document{}, p
	}
	if p := e.savepointsRead(); p != nil {
		return Document{}, p
	}
	return newDocument(KindSavepoint, e.target(), []Fact{e.savepointFact(ask)}, map[string]string{paramTrigger: ask.Trigger, paramDirectory: ask.Directory})
}

// StopFrom makes a plan that stops a running job with a savepoint.
func StopFrom(e FlinkEvidence, ask FlinkAsk) (Document, *inspect.Problem) {
	if p := e.mustRun("stop"); p != nil {
		return Document{}, p
	}
	if p := e.savepointsRead(); p != nil {
		return Document{}, p
	}
	before, after := e.Old.State, stateFinished
	facts := []Fact{{Name: FactJobState, Before: &before, After: &after}, e.savepointFact(ask)}
	return newDocument(KindStop, e.target(), facts, map[string]string{paramTrigger: ask.Trigger, paramDirectory: ask.Directory})
}

// CancelFrom makes a plan that cancels a job.
func CancelFrom(e FlinkEvidence) (Document, *inspect.Problem) {
	if p := e.known(); p != nil {
		return Document{}, p
	}
	if p := mayEnd(*e.Old); p != nil {
		return Document{}, p
	}
	if inspect.Ended(e.Old.State) {
		return Document{}, refuse("job-ended", inspect.Named{"found": e.Old.State}, "%s is %s: there is nothing to cancel", jobWords(*e.Old), e.Old.State)
	}
	before, after := e.Old.State, stateCanceled
	return newDocument(KindCancel, e.target(), []Fact{{Name: FactJobState, Before: &before, After: &after}}, nil)
}

// RollbackFrom makes a plan that ends the job, where it runs, and starts it again
// from a recovery point. How it is ended follows from what would become of the
// point: a job that is stopped finishes and deletes its own checkpoints, so one
// that is rolled back to such a checkpoint is cancelled.
func RollbackFrom(e FlinkEvidence, ask FlinkAsk) (Document, *inspect.Problem) {
	if e.Old == nil && (e.Job.Flink.Name == "" || e.Job.Flink.ID != "") {
		return Document{}, e.known()
	}
	end, saves, p := e.howToEnd(ask)
	if p != nil {
		return Document{}, p
	}
	if p := e.restoreRefused(); p != nil {
		return Document{}, p
	}
	jar, p := e.chooseJar(ask.Jar)
	if p != nil {
		return Document{}, p
	}
	if ask.Parallelism == 0 {
		ask.Parallelism = e.Parallelism
	}
	parallelism, newID := parallelismText(ask.Parallelism), ask.NewJobID
	job := Fact{Name: FactJob, After: &newID}
	restored := Fact{Name: FactRestoredFrom, After: &ask.Point}
	size := Fact{Name: FactParallelism, After: &parallelism}
	if e.Old != nil {
		job.Before, job.Source = &e.Old.JobID, e.Old.State
		if e.Old.RestoredFrom != nil {
			restored.Before = e.Old.RestoredFrom
		}
		if e.Parallelism > 0 {
			was := parallelismText(e.Parallelism)
			size.Before = &was
		}
	}
	facts := []Fact{job, restored, size}
	parameters := map[string]string{
		paramTrigger: "", paramDirectory: "", paramEnd: string(end), paramJar: jar.ID, paramJarName: jar.Name, paramEntryClass: ask.EntryClass,
		paramArguments: argumentsText(ask.Arguments), paramParallelism: strconv.Itoa(ask.Parallelism), paramAllow: strconv.FormatBool(ask.AllowLeft),
	}
	if saves {
		if p := e.savepointsRead(); p != nil {
			return Document{}, p
		}
		facts = append(facts, e.savepointFact(ask))
		parameters[paramTrigger], parameters[paramDirectory] = ask.Trigger, ask.Directory
	}
	return newDocument(KindRollback, e.target(), facts, parameters)
}

func parallelismText(n int) string {
	if n == 0 {
		return "the cluster's default"
	}
	return strconv.Itoa(n)
}

// target is the job that a plan is about.
func (e FlinkEvidence) target() inspect.PlanTarget {
	t := inspect.PlanTarget{Backend: backendFlink, Cluster: e.Address, Object: objectJob, Name: e.Job.Flink.Name, ID: noJob}
	if e.Old != nil {
		t.Name, t.ID = e.Old.Name, e.Old.JobID
	}
	return t
}

// known refuses where Flink knows no such job.
func (e FlinkEvidence) known() *inspect.Problem {
	if e.Old != nil {
		return nil
	}
	name := e.Job.Flink.ID
	if name == "" {
		name = e.Job.Flink.Name
	}
	return refuse("job-unknown", nil, "Flink at %s knows no job %s", e.Address, quote(name))
}

// mustRun refuses a job of which no savepoint can be taken.
func (e FlinkEvidence) mustRun(what string) *inspect.Problem {
	if p := e.known(); p != nil {
		return p
	}
	if e.Old.State != stateRunning {
		return refuse("job-state", inspect.Named{"found": e.Old.State}, "%s is %s: Flink can %s a job only while it is RUNNING%s", jobWords(*e.Old), safetext.Of(e.Old.State), what, rootCauseWords(e.Old))
	}
	return nil
}

// mayEnd refuses a state in which Flink is not to be asked for a job's end.
func mayEnd(job inspect.LiveState) *inspect.Problem {
	switch job.State {
	case stateRunning, "CREATED", "INITIALIZING", "RESTARTING", "FAILING", stateFailed, stateCanceled, stateFinished:
		return nil
	case "CANCELLING":
		return refuse("job-state", inspect.Named{"found": job.State}, "%s is CANCELLING: wait until it has ended", jobWords(job))
	default:
		return refuse("job-state", inspect.Named{"found": job.State}, "%s is %s, of which it is not known what becomes of it when it is ended", jobWords(job), quote(job.State))
	}
}

// howToEnd is how the job is ended, and whether a savepoint is taken first.
func (e FlinkEvidence) howToEnd(ask FlinkAsk) (end EndBy, saves bool, p *inspect.Problem) {
	if other := e.others(""); len(other) > 0 {
		return "", false, twoJobs(other, e.target().Name)
	}
	if e.Old == nil {
		return EndByNone, false, nil
	}
	if p := mayEnd(*e.Old); p != nil {
		return "", false, p
	}
	if inspect.Ended(e.Old.State) {
		return EndByNone, false, nil
	}
	saves = e.Old.State == stateRunning && !ask.NoSavepoint
	own := inspect.OwnCheckpoint(ask.Point, e.PointKind, *e.Old)
	if own {
		return EndByCancel, saves, e.goesWithJob(ask.Point)
	}
	if saves {
		return EndByStop, true, nil
	}
	return EndByCancel, false, nil
}

// goesWithJob refuses a checkpoint that the job deletes when it is cancelled.
func (e FlinkEvidence) goesWithJob(point string) *inspect.Problem {
	switch s := e.Old.Settings; {
	case s == nil:
		return refuse("point-goes-with-job", nil, "%s is a checkpoint of %s, and whether that keeps its checkpoints when it is cancelled could not be read", quote(point), jobWords(*e.Old))
	case s.Retention != inspect.RetainOnCancellation:
		return refuse("point-goes-with-job", inspect.Named{"found": string(s.Retention)},
			"%s is a checkpoint of %s, which deletes its checkpoints when it is cancelled (%s)", quote(point), jobWords(*e.Old), safetext.Of(string(s.Retention)))
	}
	return nil
}

// others are the jobs of the same name that have not ended, but for the plan's
// own.
func (e FlinkEvidence) others(newID string) []FlinkJob {
	about := e.target()
	return slices.DeleteFunc(slices.Clone(e.Jobs), func(j FlinkJob) bool {
		return j.Name != about.Name || j.ID == about.ID || j.ID == newID || inspect.Ended(j.State)
	})
}

func twoJobs(other []FlinkJob, name string) *inspect.Problem {
	return refuse("two-jobs", inspect.Named{"found": other[0].ID}, "another job named %s has not ended: %s is %s. Two of them would do the same work twice",
		quote(name), safetext.Of(other[0].ID), safetext.Of(other[0].State))
}

// restoreRefused is why the point can't be restored from, as the rules say it
// now.
func (e FlinkEvidence) restoreRefused() *inspect.Problem {
	switch v := e.Restore; {
	case e.RestoreErr != nil && v == nil:
		return refuse("point-unreadable", nil, "the recovery point can't be judged: %s", safetext.Error(e.RestoreErr))
	case v == nil:
		return refuse("point-unreadable", nil, "the recovery point was not judged")
	case v.Verdict == inspect.Accepted:
		return nil
	case len(v.Reasons) > 0:
		return refuse(v.Reasons[0].Code, nil, "a restore from %s is %s: %s", quote(v.Point), v.Verdict, v.Reasons[0].Message)
	default:
		return refuse("restore-not-accepted", nil, "whether a restore from %s would be accepted is %s: %s", quote(v.Point), v.Verdict, orNone(v.Unchecked))
	}
}

// chooseJar is the uploaded jar that is meant, by its id or by its name: of one
// name, the newest, which Flink lists first.
func (e FlinkEvidence) chooseJar(idOrName string) (FlinkJar, *inspect.Problem) {
	if e.JarsErr != nil {
		return FlinkJar{}, refuse("jars-unread", nil, "which jars were uploaded could not be read: %s", safetext.Error(e.JarsErr))
	}
	var names []string
	for _, jar := range e.Jars {
		names = append(names, safetext.Of(jar.ID).String())
	}
	matches := slices.DeleteFunc(slices.Clone(e.Jars), func(j FlinkJar) bool { return idOrName != "" && j.ID != idOrName && j.Name != idOrName })
	switch {
	case len(e.Jars) == 0:
		return FlinkJar{}, refuse("jar-gone", nil, "no jar is uploaded at %s", e.Address)
	case len(matches) == 0:
		return FlinkJar{}, refuse("jar-gone", inspect.Named{"jar": idOrName}, "no uploaded jar has the id or name %s; there are %s", quote(idOrName), orNone(names))
	case len(matches) > 1:
		return FlinkJar{}, refuse("jar-ambiguous", nil, "%d uploaded jars could be meant: %s", len(matches), orNone(names))
	}
	return matches[0], nil
}

// savepointsRead refuses where the job's last savepoint could not be read: one that is
// there already would pass for the plan's.
func (e FlinkEvidence) savepointsRead() *inspect.Problem {
	if e.Old.Checkpoints != nil {
		return nil
	}
	return refuse("savepoints-unread", nil, "the checkpoints and savepoints of %s could not be read: which savepoint is its last is not known", jobWords(*e.Old))
}

// savepointFact is that there will be a savepoint newer than the last one.
func (e FlinkEvidence) savepointFact(ask FlinkAsk) Fact {
	after := newerIn(ask.Directory)
	return Fact{Name: FactSavepoint, Before: sideOrNothing(e.lastSavepoint()), After: &after}
}

func newerIn(directory string) string {
	if directory == "" {
		return "a newer one, in the job's default folder"
	}
	return "a newer one, in " + directory
}

// lastSavepoint is the newest savepoint of the job's history; empty: none.
func (e FlinkEvidence) lastSavepoint() string {
	if e.Old == nil || e.Old.Checkpoints == nil || e.Old.Checkpoints.LatestSavepoint == nil || e.Old.Checkpoints.LatestSavepoint.Path == nil {
		return ""
	}
	return *e.Old.Checkpoints.LatestSavepoint.Path
}

func jobWords(job inspect.LiveState) string {
	return fmt.Sprintf("job %s (%s)", quote(job.Name), safetext.Of(job.JobID))
}

// flinkSubject is what a plan of these kinds is about.
func (d Document) flinkSubject() inspect.PlanSubject {
	p := FlinkPlanOf(d)
	about := inspect.PlanSubject{PlanID: d.PlanID, Kind: d.Kind, Target: d.Target, Source: p.Point}
	saved := "a savepoint, trigger " + p.Trigger
	switch d.Kind {
	case KindSavepoint:
		about.Does = "takes " + saved
	case KindStop:
		about.Does = "stops the job with " + saved
	case KindCancel:
		about.Does = "cancels the job"
	default:
		about.Does = map[EndBy]string{EndByStop: "stops the job with " + saved + ", ", EndByCancel: "cancels the job, "}[p.End]
		if p.End == EndByCancel && p.Savepoints() {
			about.Does = "takes " + saved + ", cancels the job, "
		}
		about.Does += "starts jar " + p.Jar + " as job " + p.NewJobID + " from " + p.Point
	}
	return about
}
