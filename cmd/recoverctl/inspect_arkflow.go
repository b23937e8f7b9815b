package main

import (
	"slices"

	"github.com/spf13/cobra"
)

// newInspectArkFlow holds the commands on ArkFlow. Those that read a
// write-ahead log are arkflowLogCommands; what asks a hub is a list of its own
// beside it.
func newInspectArkFlow(a *app) *cobra.Command {
	return group("arkflow", "Read ArkFlow's write-ahead logs, streams and jobs; nothing is changed",
		slices.Concat(arkflowHubCommands(a), arkflowLogCommands(a))...)
}
