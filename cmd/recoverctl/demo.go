package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/atomicfile"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/testkit/incident"
)

func newDemo(a *app) *cobra.Command {
	var plain, serve bool
	samples := a.samples()
	chosen := make([]bool, len(samples))
	cmd := &cobra.Command{
		Use: "demo", Short: "Open the console on a sample incident, with nothing installed and nothing left behind", Args: noArgs,
		Long: demoLong(samples),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case plain && serve:
				return fault.New(fault.Usage, "run", "--plain and --serve exclude each other")
			case !plain && !serve:
				if err := a.needTerminal("recoverctl demo --plain"); err != nil {
					return err
				}
			}
			shown, err := oneSample(samples, chosen)
			if err != nil {
				return err
			}
			return a.demo(cmd.Context(), shown.start, func(path string) error {
				switch {
				case plain:
					return shown.plain(cmd.Context())
				case serve:
					return a.demoServe(cmd.Context(), path, shown.first)
				default:
					return a.console(cmd.Context())
				}
			})
		},
	}
	cmd.Flags().BoolVar(&plain, "plain", false, "print the incident as text instead, and exit 0")
	cmd.Flags().BoolVar(&serve, "serve", false, "keep the incident running for other commands, and print the path of a configuration file for it")
	for i, s := range samples[1:] {
		cmd.Flags().BoolVar(&chosen[i+1], s.flag, false, s.usage)
	}
	return cmd
}

// staged is a sample that can be shown, with what else of the demo is its own.
type staged struct {
	flag, usage string // empty: the one that is shown without a flag
	story       string // a paragraph of the help
	start       func(ctx context.Context, dir string, now time.Time) (sample, error)
	plain       func(ctx context.Context) error // shows it as text
	first       string                          // the command to begin with, without the program's name
}

// samples are those that can be shown; the first is the one without a flag.
func (a *app) samples() []staged {
	return []staged{{
		story: `Starts a Kafka broker inside this process, fills it with the action state of a
job whose cleanup was committed and not finished, writes eight recovery points
to a temporary folder, and opens the console on it. Everything is gone when it
ends.`,
		start: startIncident, plain: a.demoPlain, first: "inspect job",
	}, a.arkflowSample(), a.flussSample()}
}

// demoLong is the help: each sample has its paragraph.
func demoLong(samples []staged) string {
	var parts []string
	for _, s := range samples {
		parts = append(parts, s.story)
	}
	return strings.Join(parts, "\n\n")
}

// oneSample is the sample whose flag was given.
func oneSample(samples []staged, chosen []bool) (staged, error) {
	shown := samples[0]
	var flags []string
	for i, is := range chosen {
		if is {
			shown, flags = samples[i], append(flags, "--"+samples[i].flag)
		}
	}
	if len(flags) > 1 {
		return staged{}, fault.New(fault.Usage, "run", "%s exclude each other", strings.Join(flags, " and "))
	}
	return shown, nil
}

// A sample is systems in this process with something in them to look at.
type sample interface {
	ConfigYAML() []byte // with a profile "demo" that leads to them
	Close()
}

// demo makes a sample in a temporary folder, selects its profile and runs do with
// the path of its configuration file.
func (a *app) demo(ctx context.Context, start func(ctx context.Context, dir string, now time.Time) (sample, error), do func(path string) error) (err error) {
	dir, err := os.MkdirTemp("", "recoverctl-demo-")
	if err != nil {
		return fmt.Errorf("make a folder for the demo: %w", err)
	}
	defer func() {
		if removeErr := os.RemoveAll(dir); removeErr != nil && err == nil {
			err = fmt.Errorf("remove the demo's folder: %w", removeErr)
		}
	}()
	systems, err := start(ctx, dir, a.clock.Now())
	if err != nil {
		return err
	}
	defer systems.Close()
	path := filepath.Join(dir, "config.yaml")
	if err := atomicfile.Create(path, systems.ConfigYAML()); err != nil {
		return err
	}
	// The sample is what it is: variables of a real cluster must not lead there.
	// What is done to it is journalled where everything of it is, and goes with it.
	a.environ = append(slices.Clone(a.environ), "XDG_STATE_HOME="+filepath.Join(dir, "state"))
	environ := slices.DeleteFunc(slices.Clone(a.environ), func(entry string) bool { return strings.HasPrefix(entry, "RECOVERCTL_") })
	if a.loaded, err = config.Load(config.Options{File: path, Environ: environ, Flags: a.flags}); err != nil {
		return err
	}
	if a.selection, err = a.loaded.Select("demo", ""); err != nil {
		return err
	}
	return do(path)
}

// startIncident starts the sample on Kafka.
func startIncident(ctx context.Context, dir string, now time.Time) (sample, error) {
	return incident.Start(ctx, dir, now)
}

// demoPlain is inspect job on the incident. Its findings are the point of the
// demo, not a failure of it.
func (a *app) demoPlain(ctx context.Context) error {
	return a.withChosen(func(in *inspect.Inspector, job inspect.Job) error {
		o, err := in.Overview(ctx, job)
		return a.printer().result("JobOverview", o, []error{err}, func(t *table) { renderOverview(t, o, a.clock.Now()) })
	})
}

func (a *app) demoServe(ctx context.Context, path, first string) error {
	err := a.printer().result("DemoConfig", map[string]string{"path": path}, nil, func(t *table) { t.line(path) })
	if err != nil {
		return err
	}
	fmt.Fprintf(a.err, "the sample incident is up; in another shell:\n  recoverctl %s --config %s\nctrl-c ends it\n", first, path)
	<-ctx.Done()
	return nil
}
