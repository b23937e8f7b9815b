package actions

// The names of the steps of plans about a Flink job, beside StepPlan.
const (
	StepJob            = "job"
	StepRestoreCheck   = "restore-check"
	StepJar            = "jar"
	StepSavepoint      = "savepoint"
	StepSavepointReady = "savepoint-ready"
	StepStop           = "stop"
	StepCancel         = "cancel"
	StepEnded          = "ended"
	StepSubmit         = "submit"
	StepNewRunning     = "new-running"
	StepCheckpoint     = "checkpoint"
	StepRestored       = "restored"
)

// FlinkSteps are the steps of a plan about a Flink job. Each says its own way
// back. The start of a job is the point of no return: from then on work is done
// again.
func FlinkSteps(d Document) []Step {
	p := FlinkPlanOf(d)
	const nothing = "nothing was changed; the same plan can be applied again"
	const runsOn = "the job runs on, as before"
	steps := []Step{
		{Name: StepPlan, Title: "plan intact", Stage: StageConfiguration, Reads: "the plan", OnFailure: nothing},
		{Name: StepJob, Title: "the job as the plan found it", Stage: StageJob, Reads: "the job, and every other of its name", OnFailure: nothing},
	}
	savepoint := []Step{
		{Name: StepSavepoint, Title: "trigger a savepoint", Stage: StageSavepoint, Reads: "the trigger's state, directly before",
			Writes: "a savepoint of job " + p.JobID + ", trigger " + p.Trigger, OnFailure: runsOn + "; the same plan asks what became of the trigger"},
		{Name: StepSavepointReady, Title: "savepoint complete", Stage: StageSavepoint, Reads: "the trigger's state, until it is ready", OnFailure: runsOn + "; a new plan takes another savepoint"},
	}
	stop := Step{Name: StepStop, Title: "stop with a savepoint", Stage: StageEnd, Reads: "the job and the trigger's state, directly before",
		Writes: "a savepoint of job " + p.JobID + ", trigger " + p.Trigger + ", and the job's end", OnFailure: runsOn + ", or is being stopped; the same plan asks which"}
	cancelStep := Step{Name: StepCancel, Title: "cancel the job", Stage: StageEnd, Reads: "the job, directly before",
		Writes: "the end of job " + p.JobID, OnFailure: runsOn + ", or is being cancelled; the same plan asks which"}
	ended := Step{Name: StepEnded, Title: "the job has ended", Stage: StageEnd, Reads: "the job, until its state is a last one",
		OnFailure: "should its savepoint fail, the job runs on; the same plan goes on waiting"}
	switch p.Kind {
	case KindSavepoint:
		return numbered(append(steps, savepoint...))
	case KindStop:
		return numbered(append(steps, stop, ended))
	case KindCancel:
		return numbered(append(steps, cancelStep, ended))
	}
	steps = append(steps,
		Step{Name: StepRestoreCheck, Title: "restore accepted", Stage: StageRestore, Reads: "the recovery point, its files, and what the rules ask of the log", OnFailure: nothing},
		Step{Name: StepJar, Title: "jar uploaded", Stage: StageJar, Reads: "the uploaded jars", OnFailure: nothing})
	back := wayBack(p)
	switch {
	case p.End == EndByStop:
		steps = append(steps, stop, ended)
	case p.End == EndByCancel:
		if p.Savepoints() {
			steps = append(steps, savepoint...)
		}
		cancelStep.Reads = "the job, and once more the recovery point, directly before"
		steps = append(steps, cancelStep, ended)
	}
	stopped := "the job is ended; the same plan goes on from here. " + back
	return numbered(append(steps,
		Step{Name: StepSubmit, Title: "start the job from the point", Stage: StageSubmit, NoReturn: true,
			Reads:  "the recovery point, the jar, and every job of that name, directly before",
			Writes: "a new job, " + p.NewJobID + ", restored from " + p.Point, OnFailure: stopped},
		Step{Name: StepNewRunning, Title: "the new job runs", Stage: StageRestored, Reads: "the new job, until it is RUNNING", OnFailure: "the new job is not up. " + back},
		Step{Name: StepCheckpoint, Title: "first checkpoint complete", Stage: StageRestored, Reads: "the new job's checkpoints and restarts", OnFailure: "the new job runs, or restarts again and again. " + back},
		Step{Name: StepRestored, Title: "restored from the plan's point", Stage: StageRestored, Reads: "what Flink says that the job was restored from, and the markers of its checkpoint",
			OnFailure: "the new job runs; recoverctl verify says how it is. " + back},
	))
}

// numbered gives steps their numbers.
func numbered(steps []Step) []Step {
	for i := range steps {
		steps[i].Number = group(int64(i + 1))
	}
	return steps
}
