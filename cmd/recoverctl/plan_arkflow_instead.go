package main

import (
	"github.com/spf13/cobra"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/internal/fault"
)

const engineArkFlow = "arkflow"

// arkflowInstead refuses a command about a Flink job where the chosen job is one of
// ArkFlow, and names the command that is meant.
func (a *app) arkflowInstead(verb string) error {
	if a.selection.Job == nil || a.selection.Job.Engine != engineArkFlow {
		return nil
	}
	f := fault.New(fault.Usage, "make a plan", "%s is a job of ArkFlow, and plan %s is about a job of Flink", safe(a.selection.Job.Name), verb)
	switch verb {
	case "rollback", "savepoint":
		return f.WithHint("recoverctl plan arkflow %s ID --out FILE makes it, with an id of recoverctl inspect arkflow jobs", verb)
	}
	return f.WithHint("recoverctl plan arkflow --help lists what plans can do with a job of ArkFlow")
}

// newPlanCheckpoint is plan arkflow checkpoint under the name that is looked for
// beside plan savepoint. Flink takes no checkpoint that is asked for by a plan.
func newPlanCheckpoint(a *app) *cobra.Command {
	cmd := a.planOfArkFlow(actions.KindArkFlowCheckpoint, "checkpoint ID", "Make a plan that takes a checkpoint of a running ArkFlow job", `The same as plan arkflow checkpoint. Flink takes its checkpoints by itself: of a job
of Flink, plan savepoint takes a savepoint.

`)
	plan := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.load(); err != nil {
			return err
		}
		if j := a.selection.Job; j != nil && j.Engine != engineArkFlow && j.ArkFlow.Hub == "" {
			return fault.New(fault.Usage, "make a plan", "%s is no job of ArkFlow, and Flink takes its checkpoints by itself", safe(j.Name)).
				WithHint("recoverctl plan savepoint --out FILE makes a plan that takes a savepoint")
		}
		return plan(cmd, args)
	}
	return cmd
}
