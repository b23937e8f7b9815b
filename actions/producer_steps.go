package actions

// The names of the steps of a plan about a producer, beside StepPlan and
// StepIdentity.
const (
	StepEntry          = "entry"
	StepOffsets        = "offsets"
	StepDeleteEntry    = "delete-entry"
	StepRegister       = "register"
	StepProducerReread = "entry-reread"
)

// The stages of a plan about a producer beside StageConfiguration, StageIdentity
// and StageAfterChange.
const (
	StageEntry       Stage = "entry"
	StageOffsets     Stage = "offsets"
	StageDeleteEntry Stage = "delete-entry"
	StageRegister    Stage = "register"
)

// ProducerSteps are the steps of a plan about a producer. A deleted entry can be
// registered again only until the producer starts without it.
func ProducerSteps(d Document) []Step {
	const nothing = "nothing was changed; the same plan can be applied again"
	steps := []Step{
		{Name: StepPlan, Title: "plan intact", Stage: StageConfiguration, Reads: "the plan", OnFailure: nothing},
		{Name: StepIdentity, Title: "the plan's coordinator", Stage: StageIdentity, Reads: "who the coordinator is", OnFailure: nothing},
	}
	does := d.Subject().Does
	if d.Kind == KindProducerDelete {
		return numbered(append(steps,
			Step{Name: StepEntry, Title: "entry as the plan found it", Stage: StageEntry, Reads: "the producer's entry, and the logs of its tables", OnFailure: nothing},
			Step{Name: StepDeleteEntry, Title: "delete the entry", Stage: StageDeleteEntry, NoReturn: true,
				Reads: "the entry, directly before and after", Writes: does,
				OnFailure: "the entry is there as before, or gone; the same plan finds out and goes on"},
			Step{Name: StepProducerReread, Title: "nothing stored", Stage: StageAfterChange, Reads: "the entry, from a fresh connection",
				OnFailure: "the delete was sent; ask with recoverctl verify how it is"}))
	}
	return numbered(append(steps,
		Step{Name: StepEntry, Title: "no valid entry", Stage: StageEntry, Reads: "the producer's entry", OnFailure: nothing},
		Step{Name: StepOffsets, Title: "offsets inside the logs", Stage: StageOffsets, Reads: "tables, partitions, and where their logs begin and end", OnFailure: nothing},
		Step{Name: StepRegister, Title: "register the offsets", Stage: StageRegister,
			Reads: "the entry and the logs, directly before, and the entry after", Writes: does,
			OnFailure: "nothing is stored, or exactly these offsets; the same plan finds out and goes on"},
		Step{Name: StepProducerReread, Title: "exactly these offsets stored", Stage: StageAfterChange, Reads: "the entry, from a fresh connection",
			OnFailure: "the offsets were sent; ask with recoverctl verify how they are"}))
}
