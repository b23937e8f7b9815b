package actions

import (
	"slices"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// CheckArkFlowSince asks directly before a request whether it may be sent under an
// approval that was given before: not where the approved report said that nothing is
// left to ask for, and not where there is a warning by now that nobody has accepted.
func CheckArkFlowSince(d Document, approved DocumentReport, e ArkFlowEvidence) *inspect.Problem {
	if approved.Verdict == Applied {
		return refuse("approved-as-done", nil, "when it was approved nothing was left to ask for, and now there is: %s", JudgeArkFlow(d, e).Message)
	}
	for _, w := range arkflowWarnings(ArkFlowPlanOf(d), e) {
		if !slices.ContainsFunc(approved.Warnings, func(a Warning) bool { return a.Name == w.Name }) {
			return refuse(newWarning, inspect.Named{"warning": w.Name}, "since the report was approved there is %s: %s", w.Name, w.Message)
		}
	}
	return nil
}

// CheckArkFlowAlone asks whether a step that has nothing to ask for any more was done by
// this very apply, or before it was approved. Why is what the step is found done by.
// Where nothing of a rollback was done by then, somebody else takes the job back at the
// same time: a second rollback would go one version further down.
func CheckArkFlowAlone(d Document, approved DocumentReport, step, why string) *inspect.Problem {
	p := ArkFlowPlanOf(d)
	if d.Kind != KindArkFlowRollback || approved.Verdict != NotStarted || step != StepRollback && (step != StepStop || !p.Stops) {
		return nil
	}
	return refuse(BegunElsewhere, nil, "%s, and this apply did not ask for it: somebody else applies the plan, or does the same by hand. Nothing more was sent", safetext.Of(why))
}
