package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
)

func newGuide(a *app) *cobra.Command {
	var children []*cobra.Command
	for _, name := range actions.GuideNames() {
		children = append(children, newGuideOf(a, name))
	}
	return group("guide", "Walk through a procedure whose steps are checked on the real systems", children...)
}

func newGuideOf(a *app, name string) *cobra.Command {
	words, _ := actions.GuideWords(name)
	var point, to string
	cmd := &cobra.Command{
		Use: name, Short: words.Title, Args: noArgs,
		Long: `Prints the procedure as a checklist: what each step asks for, the commands that do
it, and whether it is done, as the cluster, the recovery point and Flink say now.
What can't be seen from here is said to be unknown. Nothing is changed.

` + fold(words.When) + `

Exit code 0: the checklist is printed, whatever its steps say.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.load(); err != nil {
				return err
			}
			return a.guide(cmd.Context(), name, point, to)
		},
	}
	cmd.Flags().StringVar(&point, "point", "", "check the steps for the recovery point at this `URI`")
	if name == actions.GuideNewControlTopic {
		cmd.Flags().StringVar(&to, "to", "", "the `NAME` of the new control topic")
	}
	return cmd
}

// fold breaks a text into the lines of a help page.
func fold(text string) string {
	const width = 81
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimLeft(line+" "+word, " ")
	}
	return strings.Join(append(lines, line), "\n")
}

func (a *app) guide(ctx context.Context, name, point, to string) error {
	job, err := a.jobOrNone()
	if err == nil {
		err = job.HasCleanups("guide")
	}
	if err != nil {
		return err
	}
	_, systems, err := a.inspector(a.selection.Profile, terminalPrompt{})
	if err != nil {
		return err
	}
	defer systems.close()
	report, faults := a.guideOf(ctx, systems, job, name, point, to)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return a.printer().result("Guide", report, faults, func(t *table) { renderGuide(t, report) })
}

// guideOf checks the steps of a procedure now, for the command and for the
// console. The faults are what could not be read.
func (a *app) guideOf(ctx context.Context, systems connections, job inspect.Job, name, point, to string) (actions.GuideReport, []error) {
	sources := systems.evidence(job, a.clock, nil)
	if !systems.log.configured() {
		sources.Log = nil
	}
	e, faults := sources.Guide(ctx, point, to)
	report, _ := actions.Guide(name, e)
	suffix := a.sameFlags() + a.sameJob(job) + a.sameConfig()
	for i := range report.Steps {
		for j, c := range report.Steps[i].Commands {
			report.Steps[i].Commands[j] = withFlags(c, suffix)
		}
	}
	return report, faults
}

// withFlags is a command of this program with the flags of this one, before what
// its output goes into. A flag that the command names itself is its own.
func withFlags(command, suffix string) string {
	if !strings.HasPrefix(command, "recoverctl ") {
		return command
	}
	for _, own := range []string{"--control-topic"} {
		if at := strings.Index(suffix, " "+own+" "); at >= 0 && strings.Contains(command, " "+own+" ") {
			rest := suffix[at+len(own)+2:]
			suffix = suffix[:at] + rest[len(firstWord(rest)):]
		}
	}
	before, into, redirected := strings.Cut(command, " > ")
	if redirected {
		return before + suffix + " > " + into
	}
	return command + suffix
}

// firstWord is the first word of a shell command, with its quotes.
func firstWord(text string) string {
	quoted := false
	for i, r := range text {
		switch {
		case r == '\'':
			quoted = !quoted
		case r == ' ' && !quoted:
			return text[:i]
		}
	}
	return text
}

// guideSigns mark steps. Only what was seen is a tick.
var guideSigns = map[actions.GuideState]string{actions.GuideDone: "✔", actions.GuideOpen: "·", actions.GuideUnknown: "?"}

func renderGuide(t *table, r actions.GuideReport) {
	t.line(r.Title)
	t.line("")
	t.line(r.When)
	for _, s := range r.Steps {
		t.line("")
		next := ""
		if s.Name == r.Next {
			next = "  ← next"
		}
		t.line(fmt.Sprintf("%s %d. %s%s", guideSigns[s.State], s.Number, s.Title, next))
		t.line(fmt.Sprintf("    %s: %s", s.State, s.Evidence))
		if s.State == actions.GuideDone {
			continue
		}
		t.line("    " + s.Do)
		for _, c := range s.Commands {
			t.line("    $ " + c)
		}
	}
	if r.Next == "" {
		t.line("")
		t.line("every step that can be seen from here is done")
	}
}
