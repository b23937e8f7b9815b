package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/internal/clock"
)

// What a shell may wait for while somebody types.
const (
	completionTime  = time.Second
	completionCount = 100
)

// registerCompletions tells the shell what can stand at each place of a command
// line. It goes by the placeholders of the help text: a|b is one of the words, a
// URI is a recovery point, a FILE or PATH is one, and what is left is nothing
// that a file's name could stand for.
//
// Whatever is wrong, with the configuration or a disk, there is nothing to offer
// and nothing is said: an error would be printed into the line that is typed.
// No network is asked.
func registerCompletions(a *app, root *cobra.Command) error {
	var errs []error
	flag := func(cmd *cobra.Command, f *pflag.Flag) {
		if complete := a.completeFlag(f); complete != nil {
			errs = append(errs, cmd.RegisterFlagCompletionFunc(f.Name, complete))
		}
	}
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) { flag(root, f) })
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { flag(cmd, f) })
		_, placeholders, _ := strings.Cut(cmd.Use, " ")
		switch {
		case strings.Contains(placeholders, "URI"):
			cmd.ValidArgsFunction = a.completeOnePoint
		case !strings.Contains(placeholders, "FILE") && !strings.Contains(placeholders, "DIR"):
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
		for _, child := range cmd.Commands() {
			visit(child)
		}
	}
	visit(root)
	return errors.Join(errs...)
}

// completeFlag is what completes a flag's value; nil where that is the shell's
// own business.
func (a *app) completeFlag(f *pflag.Flag) cobra.CompletionFunc {
	if f.NoOptDefVal != "" {
		return nil // needs no value
	}
	placeholder, _ := pflag.UnquoteUsage(f)
	switch {
	case f.Name == "profile":
		return a.completeProfile
	case f.Name == "job":
		return a.completeJob
	case strings.Contains(placeholder, "|"):
		return cobra.FixedCompletions(strings.Split(placeholder, "|"), cobra.ShellCompDirectiveNoFileComp)
	case f.Name == "points", slices.Contains([]string{"FILE", "PATH", "DIR", "FROM=TO"}, placeholder):
		return nil
	case placeholder == "URI":
		return a.completePoint
	default:
		return cobra.NoFileCompletions
	}
}

// chosen is the configuration and the selection of a line that is being typed;
// false where something is wrong with them.
func (a *app) chosen() (*config.Loaded, config.Selection, bool) {
	loaded, err := config.Load(config.Options{Environ: a.environ, Flags: a.flags})
	if err != nil {
		return nil, config.Selection{}, false
	}
	selection, err := loaded.Select("", "")
	return loaded, selection, err == nil
}

func (a *app) completeProfile(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	loaded, err := config.Load(config.Options{Environ: a.environ, Flags: a.flags})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []cobra.Completion
	for _, p := range loaded.Config.Profiles {
		names = offer(names, typed, p.Name, p.Environment.String())
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) completeJob(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	_, selection, ok := a.chosen()
	if !ok {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []cobra.Completion
	for _, j := range selection.Profile.Jobs {
		if j.Name != config.AdHoc {
			names = offer(names, typed, j.Name, j.ActionState.Topic)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) completeOnePoint(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.completePoint(cmd, args, typed)
}

// completePoint offers the recovery points in the job's places on this machine,
// or in those of every job where none is chosen. Where no such point begins with
// what was typed, it may be any folder.
func (a *app) completePoint(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	_, selection, ok := a.chosen()
	if !ok {
		return nil, cobra.ShellCompDirectiveDefault
	}
	jobs := selection.Profile.Jobs
	if selection.Job != nil {
		jobs = []config.Job{*selection.Job}
	}
	var places []string
	for _, j := range jobs {
		for _, place := range slices.Concat(j.RecoveryPoints, j.Pinned) {
			if !slices.Contains(places, place) {
				places = append(places, place)
			}
		}
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
	defer cancel()
	var offers []cobra.Completion
	seen := map[string]bool{} // places may lie in each other
	for _, f := range a.pointsNearby(ctx, selection.Profile, places) {
		if len(offers) == completionCount {
			break
		}
		if seen[f.URI] {
			continue
		}
		seen[f.URI] = true
		offers = offer(offers, typed, f.URI, fmt.Sprintf("%s, file of %s ago", f.Kind, clock.Age(a.clock.Now().Sub(f.Modified))))
	}
	if len(offers) == 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// pointsNearby looks into places until ctx ends, and returns what was found,
// newest first. A disk that hangs is left to itself: it must not take the shell
// with it.
func (a *app) pointsNearby(ctx context.Context, p config.Profile, places []string) []flink.Found {
	store, err := flink.New(flink.Options{Mappings: mappingsOf(p), Clock: a.clock})
	if err != nil {
		return nil
	}
	answers := make(chan []flink.Found, len(places))
	for _, place := range places {
		go func() { answers <- store.Nearby(ctx, place) }()
	}
	var all []flink.Found
	for open := len(places); open > 0; open-- {
		select {
		case found := <-answers:
			all = append(all, found...)
		case <-ctx.Done():
			open = 0
		}
	}
	slices.SortStableFunc(all, func(a, b flink.Found) int { return b.Modified.Compare(a.Modified) })
	return all
}

// offer adds a value that begins with what was typed. One that holds what a
// terminal may not be shown is left out, for it can't be typed.
func offer(to []cobra.Completion, typed, value, about string) []cobra.Completion {
	if !strings.HasPrefix(value, typed) || safe(value) != value {
		return to
	}
	return append(to, cobra.CompletionWithDesc(value, safe(about)))
}
