package actions

// The names of the steps of a settings plan, beside StepPlan and StepIdentity.
const (
	StepSettings       = "settings"
	StepSetSettings    = "set-settings"
	StepSettingsReread = "settings-reread"
)

// The stages of a settings plan beside StageConfiguration, StageIdentity and
// StageSettings.
const (
	StageSet         Stage = "set"
	StageAfterChange Stage = "after-change"
)

// SettingsSteps are the steps of a settings plan. A topic that begins to be
// compacted loses records that no later change brings back.
func SettingsSteps(d Document) []Step {
	const nothing = "nothing was changed; the same plan can be applied again"
	return []Step{
		{Number: "1", Name: StepPlan, Title: "plan intact, for this topic", Stage: StageConfiguration,
			Reads: "the plan and the job's options", OnFailure: nothing},
		{Number: "2", Name: StepIdentity, Title: "cluster and topic id", Stage: StageIdentity,
			Reads: "the data topic's description", OnFailure: nothing},
		{Number: "3", Name: StepSettings, Title: "settings as the plan found them", Stage: StageSettings,
			Reads: "the data topic's settings, with where each comes from", OnFailure: nothing},
		{Number: "4", Name: StepSetSettings, Title: "set the settings", Stage: StageSet, NoReturn: d.gains("compact"),
			Reads:     "the topic's id and settings, directly before",
			Writes:    "the topic's settings, in one request: " + d.Subject().Does,
			OnFailure: "the settings are all as before or all as planned; the same plan finds out and goes on"},
		{Number: "5", Name: StepSettingsReread, Title: "settings re-read", Stage: StageAfterChange,
			Reads: "the topic's id and settings, from a fresh connection", OnFailure: "the settings were sent; ask with recoverctl verify how they are"},
	}
}
