package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/internal/fault"
)

const engineArkFlow = "arkflow"

// arkflowInstead makes ArkFlow's plan of the same name where the chosen job is one of
// ArkFlow and nothing that only Flink has was given. Else it names the command that is
// meant. It reports whether the job is one of ArkFlow at all.
func (a *app) arkflowInstead(cmd *cobra.Command, verb, out string) (is bool, err error) {
	j := a.selection.Job
	if j == nil || j.Engine != engineArkFlow {
		return false, nil
	}
	kinds := map[string]string{"rollback": actions.KindArkFlowRollback, "savepoint": actions.KindArkFlowSavepoint}
	ofFlink := ""
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed && f.Name != "out" {
			ofFlink = "--" + f.Name
		}
	})
	f := fault.New(fault.Usage, "make a plan", "%s is a job of ArkFlow, and plan %s is about a job of Flink", safe(j.Name), verb)
	switch kind := kinds[verb]; {
	case kind == "":
		return true, f.WithHint("recoverctl plan arkflow --help lists what plans can do with a job of ArkFlow")
	case ofFlink != "":
		f.Message = safe(j.Name) + " is a job of ArkFlow, and " + ofFlink + " is about a job of Flink"
	case j.Name != config.AdHoc: // which no hub has
		return true, a.planArkFlow(cmd.Context(), arkflowAsk{kind: kind, id: j.Name, out: out})
	}
	return true, f.WithHint("recoverctl plan arkflow %s ID --out FILE makes it, with an id of recoverctl inspect arkflow jobs", verb)
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
