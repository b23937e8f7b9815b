package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
)

// run is the whole program but for the process around it: it returns the exit
// code.
func run(ctx context.Context, args []string, s streams) int {
	a := &app{streams: s, clock: clock.System{}, ended: ctx.Done()}
	root := newRoot(a)
	if err := registerCompletions(a, root); err != nil {
		return printer{streams: s}.fail(err)
	}
	root.SetArgs(args)
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if ctx.Err() != nil && !errors.As(err, new(exitStatus)) {
		err = fault.Wrap(fault.Cancelled, "run", context.Cause(ctx), "stopped before it was done")
	}
	return printer{streams: s, json: a.wantsJSON()}.fail(err)
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "recoverctl",
		Short: "A recovery console for stateful stream jobs",
		Long: strings.TrimSpace(`
recoverctl shows what state a stateful stream job's recovery is in: the log's
range, the committed cleanup boundary, every recovery point with the verdict of
a restore from it, and why one was rejected.

Without a command it opens the console. Everything the console shows is also a
command, as text or JSON. All of them read, but for apply: it deletes the prefix
of a topic by a plan that was reviewed and approved.`),
		Example: `  recoverctl demo
  recoverctl inspect job --brokers k1:9092 --topic action-state --control-topic action-state-control --points /mnt/checkpoints
  recoverctl validate restore file:/mnt/checkpoints/4f3c/chk-42 -p orders -o json
  recoverctl plan cleanup -p orders --point file:/mnt/checkpoints/4f3c/chk-42 --out cleanup.json
  recoverctl apply cleanup.json -p orders --reason "disk pressure, INC-2231" --access operate`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return runConsole(cmd.Context(), a) },
	}
	config.Flags(root.PersistentFlags())
	a.flags = root.PersistentFlags()
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fault.New(fault.Usage, "read flags", "%s", safe(err.Error())).WithHint("run %s --help", cmd.CommandPath())
	})
	root.CompletionOptions.HiddenDefaultCmd = false
	root.AddCommand(
		newConsole(a), newDemo(a), newInspect(a), newValidate(a), newExplain(a), newPlan(a), newApply(a), newVerify(a), newGuide(a), newJournal(a), newBundle(a), newConfig(a), newVersion(a), newMan(a),
	)
	return root
}

// group is a command that only holds others.
func group(use, short string, children ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return fault.New(fault.Usage, "run", "%s needs to know what", cmd.CommandPath()).
				WithHint("one of: %s", strings.Join(childNames(cmd), ", "))
		},
	}
	cmd.AddCommand(children...)
	return cmd
}

func childNames(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// noArgs refuses arguments, with the nearest command where one was meant.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	f := fault.New(fault.Usage, "run", "%s has no command %q", cmd.CommandPath(), safe(args[0])).
		WithHint("run %s --help", cmd.CommandPath())
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		f = f.WithHint("did you mean %s?", strings.Join(near, " or "))
	}
	return f
}

// exactArgs asks for named arguments.
func exactArgs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		return fault.New(fault.Usage, "run", "%s takes %s, and %d were given", cmd.CommandPath(), strings.Join(names, " and "), len(args)).
			WithHint("run %s --help", cmd.CommandPath())
	}
}

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := a.load(); err != nil {
				return err
			}
			return a.printer().result("Version", map[string]string{"version": version}, nil, func(t *table) {
				t.line(fmt.Sprintf("recoverctl %s", version))
			})
		},
	}
}
