package actions

// Step is one step of an apply as it is shown before it is done.
type Step struct {
	Number    string `json:"number"` // as in "6b"
	Name      string `json:"name"`   // stable
	Title     string `json:"title"`
	Reads     string `json:"reads"`     // what will be read; may be empty
	Writes    string `json:"writes"`    // what will be written; empty for a step that only reads
	NoReturn  bool   `json:"noReturn"`  // once it is done, there is no way back
	OnFailure string `json:"onFailure"` // what a failure there would mean
	Stage     Stage  `json:"-"`         // the stage that speaks where an error names none
}

// The names of the steps of a cleanup.
const (
	StepPlan          = "plan"
	StepControlTopic  = "control-topic"
	StepIdentity      = "identity"
	StepOperations    = "operations"
	StepRecorded      = "recorded"
	StepTargets       = "targets"
	StepSurvivors     = "survivors"
	StepCreateControl = "create-control-topic"
	StepCommit        = "commit"
	StepDelete        = "delete"
	StepLogStarts     = "log-starts"
	StepApplied       = "applied"
)

// CleanupSteps are the steps of a cleanup, in the order of the Java tool. The
// control topic, where it has to be made, is made last of all that comes before
// COMMITTED: a refusal must not leave a new topic behind.
func CleanupSteps(createControl bool) []Step {
	const nothing = "nothing was changed; the same plan can be applied again"
	const inForce = "the boundary is in force and older recovery points are rejected for good; the same plan finishes the cleanup"
	steps := []Step{
		{Number: "1", Name: StepPlan, Title: "plan intact, for this topic", Stage: StageConfiguration,
			Reads: "the plan and the job's options", OnFailure: nothing},
		{Number: "2", Name: StepControlTopic, Title: "control topic fit", Stage: StageControlTopic,
			Reads: "the control topic's partitions and policy", OnFailure: nothing},
		{Number: "3", Name: StepIdentity, Title: "topic id, partitions, settings", Stage: StageIdentity,
			Reads: "the data topic's description and settings", OnFailure: nothing},
		{Number: "4", Name: StepOperations, Title: "other operations", Stage: StageOperations,
			Reads: "every record of the control topic", OnFailure: nothing},
		{Number: "5", Name: StepRecorded, Title: "applied before?", Stage: StageOperations,
			Reads: "the records read in step 4", OnFailure: nothing},
		{Number: "6", Name: StepTargets, Title: "targets inside the log and past the boundary", Stage: StageAvailability,
			Reads: "log starts and log ends, and the settings once more", OnFailure: nothing},
		{Number: "6b", Name: StepSurvivors, Title: "survivors listed again, every file present", Stage: StageSurvivors,
			Reads: "the places with recovery points", OnFailure: nothing},
	}
	if createControl {
		steps = append(steps, Step{Number: "6c", Name: StepCreateControl, Title: "make the control topic", Stage: StageControlTopic,
			Writes: "a new topic with one partition, cleanup.policy=compact", OnFailure: "a control topic without records may be left; no boundary is in force"})
	}
	return append(steps,
		Step{Number: "7", Name: StepCommit, Title: "write COMMITTED", Stage: StageCommit, NoReturn: true,
			Reads:     "the control topic, directly before and after",
			Writes:    "the boundary, to the control topic: from here on older recovery points are rejected for good",
			OnFailure: "whether the boundary is in force has to be read again before anything else is done"},
		Step{Number: "8", Name: StepDelete, Title: "delete up to the target", Stage: StageDelete,
			Reads:     "the topic's id, partitions and settings, directly before and after",
			Writes:    "the start of each partition's log: the records below are gone for good",
			OnFailure: "some partitions may be trimmed and others not; " + inForce},
		Step{Number: "9", Name: StepLogStarts, Title: "log starts re-read", Stage: StageDelete,
			Reads: "log starts, and the topic's identity and settings again", OnFailure: inForce},
		Step{Number: "10", Name: StepApplied, Title: "write APPLIED", Stage: StageApplied,
			Writes:    "that the cleanup is done, to the control topic, for every operation that is still COMMITTED",
			OnFailure: "the log is trimmed and only the record is missing; the same plan writes it"},
	)
}

// StepWord is where a step stands.
type StepWord string

// The states of a step.
const (
	StepPending StepWord = "pending"
	StepWaiting StepWord = "waiting" // for a go, in step mode
	StepRunning StepWord = "running"
	StepDone    StepWord = "done"
	StepSkipped StepWord = "skipped" // it had nothing to do; the detail says why
	StepFailed  StepWord = "failed"
	StepStopped StepWord = "stopped" // somebody said stop
	StepUnknown StepWord = "unknown" // it wrote, and what became of that is not known
)

// StepResult is a step after an apply.
type StepResult struct {
	Name   string   `json:"name"`
	State  StepWord `json:"state"`
	Detail string   `json:"detail"`
}

// ApplyResult is what an apply came to. Stage is where it stopped, empty where
// it went through.
type ApplyResult struct {
	PlanID     string             `json:"planId"`
	Verdict    Outcome            `json:"verdict"`
	Message    string             `json:"message"`
	Stage      Stage              `json:"stage"`
	Steps      []StepResult       `json:"steps"`
	Partitions []PartitionVerdict `json:"partitions"`
	Facts      []FactVerdict      `json:"facts,omitempty"` // of a plan that changes other things than offsets
	Receipt    *Receipt           `json:"receipt"`
}
