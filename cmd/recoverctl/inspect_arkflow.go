package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/shellword"
)

// newInspectArkFlow holds the commands on ArkFlow. Those that read a
// write-ahead log are arkflowLogCommands; what asks a hub is a list of its own
// beside it.
func newInspectArkFlow(a *app) *cobra.Command {
	return group("arkflow", "Read ArkFlow's write-ahead logs, streams and jobs; nothing is changed",
		slices.Concat(arkflowHubCommands(a), arkflowLogCommands(a))...)
}

// keepsActionState refuses a command about action state where the chosen job is one of
// ArkFlow, which has none, and names the command that shows the job.
func (a *app) keepsActionState() error {
	j := a.selection.Job
	if j == nil || j.Engine != engineArkFlow {
		return nil
	}
	f := fault.New(fault.Usage, "read a job", "%s is a job of ArkFlow, and this command is about the action state of a Flink Agents job", safe(j.Name))
	if j.ArkFlow.Hub == "" {
		return f.WithHint("recoverctl inspect arkflow wal --job %s shows its write-ahead log", safe(shellword.Quote(j.Name)))
	}
	return f.WithHint("recoverctl inspect arkflow job %s shows it; recoverctl inspect arkflow --help lists what else is known", safe(shellword.Quote(j.Name)))
}
