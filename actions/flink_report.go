package actions

import (
	"fmt"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/internal/shellword"
)

// FlinkReport makes the report of a plan about a Flink job: a pure function. It
// holds no number that changes while the job runs, so that what is approved is
// what was shown.
func FlinkReport(d Document, e FlinkEvidence) DocumentReport {
	p := FlinkPlanOf(d)
	r := DocumentReport{
		PlanID: d.PlanID, Kind: d.Kind, Target: d.Target, At: e.At, Verdict: JudgeFlink(d, e).Verdict, Facts: d.flinkFacts(e),
		Does: flinkDoes(p), Stays: flinkStays(p, e), NotKnown: flinkNotKnown(p), Notes: []string{}, Warnings: []Warning{}, Refused: CheckFlinkPlan(d, e),
	}
	if e.Err != nil {
		r.Warnings = []Warning{{Name: NotChecked, Message: "Flink could not be asked: " + safetext.Error(e.Err).String()}}
		return r
	}
	if r.Verdict == Applied {
		r.Notes = append(r.Notes, "It is as planned already: applying the plan asks Flink for nothing more.")
		return r
	}
	if e.New != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("The plan's job %s was started before: applying the plan asks for nothing a second time, and looks what has become of it.", p.NewJobID))
		return r
	}
	if p.Kind == KindRollback {
		r.Notes = append(r.Notes, rollbackNotes(p, e)...)
	}
	r.Warnings = flinkWarnings(p, e)
	return r
}

func flinkDoes(p FlinkPlan) []string {
	in := "the job's default folder"
	if p.Directory != "" {
		in = safetext.Of(p.Directory).String()
	}
	saves := fmt.Sprintf("Flink takes a savepoint of job %s in %s (trigger %s).", p.JobID, in, p.Trigger)
	switch {
	case p.Kind == KindSavepoint:
		return []string{saves + " The job runs on."}
	case p.Kind == KindCancel:
		return []string{fmt.Sprintf("Job %s is cancelled: it ends without a savepoint.", p.JobID)}
	}
	stops := fmt.Sprintf("Job %s takes a savepoint in %s (trigger %s) and finishes. Its own checkpoints are deleted with it, whatever their retention.", p.JobID, in, p.Trigger)
	if p.Kind == KindStop {
		return []string{stops}
	}
	var does []string
	switch {
	case p.End == EndByStop:
		does = append(does, stops)
	case p.End == EndByCancel && p.Savepoints():
		does = append(does, saves+" It is the way back.", fmt.Sprintf("Job %s is cancelled: stopping it would delete its checkpoints, the recovery point of this plan among them.", p.JobID))
	case p.End == EndByCancel:
		does = append(does, fmt.Sprintf("Job %s is cancelled, without a savepoint.", p.JobID))
	}
	how := "parallelism " + parallelismText(p.Parallelism)
	if p.EntryClass != "" {
		how += ", class " + safetext.Of(p.EntryClass).String()
	}
	if len(p.Arguments) == 0 {
		how += ", no arguments"
	} else {
		how += ", arguments " + argumentWords(p.Arguments)
	}
	does = append(does,
		fmt.Sprintf("The uploaded jar %s is run as job %s (%s), restored from %s.", safetext.Of(p.Jar), p.NewJobID, how, safetext.Of(p.Point)),
		"What the job did after that point it does again, from the state that it had then: calls to other systems among it, where nothing holds their results.")
	if p.AllowLeft {
		does = append(does, "State of operators that the job does not have any more is left out (allowNonRestoredState).")
	}
	return does
}

// argumentWords are arguments as a shell would take them.
func argumentWords(arguments []string) string {
	words := make([]string, 0, len(arguments))
	for _, a := range arguments {
		words = append(words, shellword.Quote(a))
	}
	return safetext.Of(strings.Join(words, " ")).String()
}

func flinkStays(p FlinkPlan, e FlinkEvidence) []string {
	switch p.Kind {
	case KindSavepoint:
		return []string{"The job, its checkpoints and its other savepoints."}
	case KindCancel:
		if s := settingsOf(e); s != nil && s.Retention == inspect.RetainOnCancellation {
			return []string{"The job's last checkpoints: it keeps them when it is cancelled (RETAIN_ON_CANCELLATION)."}
		}
		return []string{"Savepoints."}
	case KindStop:
		return []string{"Savepoints, the new one among them: the job can be started from it again."}
	}
	stays := []string{"The recovery point itself: the new job does not own it, and deletes nothing of it (claim mode NO_CLAIM, Flink's default)."}
	if p.Savepoints() {
		stays = append(stays, "The safety savepoint, from which the job can be started as it is now. "+wayBack(p))
	}
	return stays
}

// wayBack is what to run should a rollback not be wanted any more.
func wayBack(p FlinkPlan) string {
	if !p.Savepoints() {
		return "There is no safety savepoint: the way back is another recovery point, by recoverctl plan rollback --point URI --out FILE"
	}
	return "The way back: recoverctl plan rollback --point SAVEPOINT --out FILE, with the savepoint that the run names"
}

func flinkNotKnown(p FlinkPlan) []string {
	if p.Kind != KindRollback {
		return []string{"How long Flink takes for it, and whether it succeeds, is known only when it is asked."}
	}
	return []string{
		"Flink does not say from which jar, and with which arguments, the job was started before. They are as they were given for this plan.",
		"Whether the jar makes a job that the point's state fits is known only when Flink starts it; should it refuse, its reason is told.",
		"Flink locks nothing: that nobody else starts a job of that name is looked at directly before the start, not during it. This plan's own job can't be started twice, because Flink refuses an id that it knows.",
		"Which calls would be made again: recoverctl validate restore URI --calls counts them.",
	}
}

func settingsOf(e FlinkEvidence) *inspect.CheckpointSettings {
	if e.Old == nil {
		return nil
	}
	return e.Old.Settings
}

// rollbackNotes are what the rules say of the restore, and how the job is.
func rollbackNotes(p FlinkPlan, e FlinkEvidence) []string {
	var notes []string
	if e.Restore != nil {
		notes = append(notes, fmt.Sprintf("A restore from %s is %s, as things are.", safetext.Of(p.Point), e.Restore.Verdict))
		for _, not := range e.Restore.Unstated() {
			notes = append(notes, "Not checked: "+not)
		}
	}
	if e.Old != nil && inspect.Ended(e.Old.State) {
		notes = append(notes, fmt.Sprintf("Nothing has to be ended: job %s is %s.", p.JobID, safetext.Of(e.Old.State)))
	}
	if e.Old == nil {
		notes = append(notes, fmt.Sprintf("Nothing has to be ended, as far as Flink at %s knows: no job is named %s. One may still run under another JobManager.", e.Address, quote(p.JobName)))
	}
	if p.Savepoints() && p.Directory == "" {
		notes = append(notes, "The safety savepoint goes where the job's or the cluster's options say (execution.checkpointing.savepoint-dir). Where they say nothing it fails, and nothing was changed.")
	}
	return notes
}

// flinkWarnings are what the planner can't decide.
func flinkWarnings(p FlinkPlan, e FlinkEvidence) []Warning {
	out := []Warning{}
	warn := func(name, format string, args ...any) {
		out = append(out, Warning{Name: name, Message: fmt.Sprintf(format, args...)})
	}
	ended := e.Old == nil || inspect.Ended(e.Old.State)
	if !ended && !p.Savepoints() && (p.Kind == KindCancel || p.End == EndByCancel) {
		retained := "its last checkpoints go with it"
		if s := settingsOf(e); s != nil && s.Retention == inspect.RetainOnCancellation {
			retained = "its last checkpoints are kept"
		}
		warn(NoSafetySavepoint, "the job, %s now, ends without a savepoint: %s", safetext.Of(e.Old.State), retained)
	}
	if p.Kind != KindRollback {
		return out
	}
	if !ended && inspect.OwnCheckpoint(p.Point, e.PointKind, *e.Old) {
		warn(PointMayGo, "the point is a checkpoint of the job that runs, which deletes its oldest as it takes new ones%s: should this one go before the job has ended, nothing is started, and the safety savepoint is the way back", keeps(e.Old.Settings))
	}
	if p.AllowLeft {
		warn(StateLeftOut, "state that no operator of the new job claims is left out, for good")
	}
	if len(p.Arguments) == 0 {
		warn(NoArguments, "the jar is run without arguments, and Flink does not say which ones the job was started with")
	}
	return out
}

// keeps says how fast a job deletes its checkpoints, as far as that is set up.
func keeps(s *inspect.CheckpointSettings) string {
	if s == nil || s.IntervalMs == nil || s.Retained == nil {
		return ""
	}
	every := (time.Duration(*s.IntervalMs) * time.Millisecond).String()
	for _, end := range []string{"m0s", "h0m"} { // as in 1h0m0s
		if strings.HasSuffix(every, end) {
			every = every[:len(every)-2]
		}
	}
	return fmt.Sprintf(" (it keeps %d, and takes one every %s)", *s.Retained, every)
}
