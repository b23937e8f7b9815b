package actions

import "strconv"

// The names of the steps of plans about an ArkFlow job, beside StepPlan and StepJob.
const (
	StepRound      = "round"
	StepRoundDone  = "round-completed"
	StepJobStopped = "job-stopped"
	StepRollback   = "rollback"
	StepStart      = "start"
	StepJobRuns    = "job-runs"
	StepProof      = "proof"
	StepUpgrade    = "upgrade"
	StepUpgraded   = "upgrade-phase"
	StepStream     = "stream"
	StepRestart    = "restart"
	StepRestarted  = "restarted"
)

// ArkFlowSteps are the steps of a plan about an ArkFlow job. The start is the
// point of no return of a rollback: from then on work is done again.
func ArkFlowSteps(d Document) []Step {
	p := ArkFlowPlanOf(d)
	const nothing = "nothing was changed; the same plan can be applied again"
	steps := []Step{
		{Name: StepPlan, Title: "plan intact", Stage: StageConfiguration, Reads: "the plan", OnFailure: nothing},
		{Name: StepJob, Title: "the job as the plan found it", Stage: StageJob, Reads: "the job, its versions, its rounds and the objects of its points", OnFailure: nothing},
	}
	switch action := p.UpgradeAction(); {
	case p.Kind == KindArkFlowRestart:
		return numbered([]Step{
			steps[0],
			{Name: StepStream, Title: "the stream as the plan found it", Stage: StageJob, Reads: "the stream, what was asked of it, and its node", OnFailure: nothing},
			{Name: StepRestart, Title: "ask for its restart", Stage: StageSubmit, NoReturn: true, Reads: "the stream, directly before", Writes: "that stream " + p.JobID + " shall restart, with the key " + p.Key,
				OnFailure: "the same plan asks with the same key, which the hub takes once"},
			{Name: StepRestarted, Title: "it runs since a later time", Stage: StageRestored, Reads: "the stream and the request, until it runs again",
				OnFailure: "the request is with the hub: look at the stream's last error and at its operations"},
		})
	case action != "":
		return numbered(append(steps,
			Step{Name: StepUpgrade, Title: action + " the upgrade", Stage: StageSubmit, Reads: "the upgrade's phase, directly before", Writes: action + " of the upgrade " + p.Upgrade + " of job " + p.JobID,
				OnFailure: "the upgrade goes on, or is " + p.Then + "; the same plan asks which"},
			Step{Name: StepUpgraded, Title: "the upgrade is as planned", Stage: StageRestored, Reads: "the upgrade's phase", OnFailure: "look at the upgrade with recoverctl inspect arkflow job"}))
	}
	if kind := p.RoundKind(); kind != "" {
		return numbered(append(steps,
			Step{Name: StepRound, Title: "begin a " + string(kind), Stage: StageSavepoint, Reads: "the job's rounds, directly before", Writes: "a " + string(kind) + " of job " + p.JobID,
				OnFailure: "the job runs on; the same plan finds the round if there is one; where its answer is lost and nothing shows it, none is begun before that is settled"},
			Step{Name: StepRoundDone, Title: string(kind) + " completed and whole", Stage: StageSavepoint, Reads: "the job's rounds and the new one's objects, until it is completed",
				OnFailure: "the job runs on; a round that fails stays pending at the hub for ever, and a new plan begins another"}))
	}
	version := strconv.FormatUint(p.Version, 10)
	stopped := "the job is stopped and of version " + strconv.FormatUint(p.From, 10) + ", as it was: start it, or apply the same plan again"
	back := "the job is stopped and of version " + version + ": the same plan goes on from here"
	return numbered(append(steps,
		Step{Name: StepStop, Title: "stop the job", Stage: StageEnd, Reads: "the job and the point, directly before", Writes: "that job " + p.JobID + " shall stop", OnFailure: "the job runs on, or is being stopped; the same plan asks which"},
		Step{Name: StepJobStopped, Title: "the job is observed stopped", Stage: StageEnd, Reads: "the job, until it is stopped", OnFailure: stopped},
		Step{Name: StepRollback, Title: "make it version " + version, Stage: StageRestore, Reads: "the job's version and generation, and the point, directly before",
			Writes: "version " + version + " of job " + p.JobID, OnFailure: stopped + ", unless the answer was lost: then the job's version says what became of it, and nothing is sent again before that is settled"},
		Step{Name: StepStart, Title: "start it", Stage: StageSubmit, NoReturn: true, Reads: "what a start would restore, directly before", Writes: "that job " + p.JobID + " shall run, restored from " + p.Point, OnFailure: back},
		Step{Name: StepJobRuns, Title: "it runs", Stage: StageRestored, Reads: "the job, until it is observed running", OnFailure: "the job is wanted running and does not: look at its last error"},
		Step{Name: StepProof, Title: "restored, as far as it can be proved", Stage: StageRestored, Reads: "the checkpoints since, their tasks and source positions",
			OnFailure: "the job runs, and what it was restored from is not proved; recoverctl verify asks again"}))
}
