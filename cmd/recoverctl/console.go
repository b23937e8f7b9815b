package main

import (
	"context"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/access"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/apply"
	views "github.com/recoverctl/recoverctl/views/connections"
	"github.com/recoverctl/recoverctl/views/console"
	"github.com/recoverctl/recoverctl/views/firstrun"
	"github.com/recoverctl/recoverctl/views/live"
	"github.com/recoverctl/recoverctl/views/scan"
)

func newConsole(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "console", Short: "Open the console; the same as no command at all", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runConsole(cmd.Context(), a) },
	}
}

// runConsole opens the console on the selected profile.
func runConsole(ctx context.Context, a *app) error {
	if err := a.needTerminal("recoverctl inspect job"); err != nil {
		return err
	}
	if err := a.load(); err != nil {
		return err
	}
	return a.console(ctx)
}

// needTerminal refuses to draw where nothing can be drawn, and names the command
// that says the same as text.
func (a *app) needTerminal(instead string) error {
	term := a.variable("TERM")
	switch {
	case !a.inTTY || a.width == 0:
		return fault.New(fault.Usage, "open the console", "the console needs a terminal, and standard input or output is none").
			WithHint("run %s for the same facts as text", instead)
	case term == "" || term == "dumb":
		return fault.New(fault.Usage, "open the console", "the console can't draw on this terminal: TERM is %q", safe(term)).
			WithHint("run %s for the same facts as text", instead)
	}
	return nil
}

// variable is a variable of the environment; the last one of a name counts, as
// for os.Getenv.
func (a *app) variable(name string) string {
	value := ""
	for _, entry := range a.environ {
		if len(entry) > len(name) && entry[len(name)] == '=' && entry[:len(name)] == name {
			value = entry[len(name)+1:]
		}
	}
	return value
}

func (a *app) console(ctx context.Context) error {
	profile := a.selection.Profile
	prompt, err := a.askFirst(ctx)
	if err != nil {
		return err
	}
	in, systems, err := a.inspector(profile, prompt)
	if err != nil {
		return err
	}
	defer systems.close()
	list := make([]inspect.Job, 0, len(profile.Jobs))
	for _, j := range profile.Jobs {
		list = append(list, a.jobAsked(j))
	}
	look, applies := theme.New(a.look()), apply.NewCurrent()
	callsOf := consoleCalls{in}
	scans := scan.New(ctx, callsOf, a.clock.Now)
	defer scans.Close()
	root, commands := console.New(console.Options{
		WALs:  a.consoleWALs(profile, systems.stores),
		Fluss: a.consoleFluss(profile, systems.stores, prompt, look, applies),
		Scans: scans, FindKey: callsOf.findKey, Records: callsOf.records, Guides: consoleGuides{app: a, systems: systems},
		Theme: look, Now: a.clock.Now, Jobs: list, Source: in, LiveEvery: live.Usual, Plans: consolePlans{app: a, in: in, systems: systems, prompt: prompt, applies: applies},
		Others:      a.consoleArkFlow(profile, systems, prompt, look, applies),
		Explained:   explainedJobs(profile, nil, a.given()),
		Settings:    consoleSettings{consoleDocuments: consoleDocuments{a, applies}, in: in, systems: systems, prompt: prompt},
		Rollbacks:   consoleRollbacks{consoleDocuments: consoleDocuments{a, applies}, in: in, prompt: prompt},
		Connections: func() []views.Connection { return connectionList(profile, systems) },
	})
	if a.nothingToShow() {
		root, commands = firstrun.New(firstrun.Options{Theme: look, Config: config.DefaultPath(a.environ)}), nil
	}
	err = tui.Run(ctx, tui.Options{
		Theme: look, Now: a.clock.Now, Input: os.Stdin, Output: os.Stdout,
		Header: func() tui.Header { return a.header(systems) }, Commands: append(commands, applies.Commands(look)...),
		Jobs: func() []tui.Job { return append(applies.Jobs(), scans.Jobs()...) }, Moved: applies.Moved(),
		Arming: &access.Arming{}, Level: profile.Access, Passthrough: tui.PassthroughFromEnv(a.variable),
	}, root)
	if applyErr := a.waitForApply(applies); err == nil {
		err = applyErr
	}
	return err
}

// nothingToShow reports whether nobody said anything that could be looked at.
func (a *app) nothingToShow() bool {
	p := a.selection.Profile
	return a.loaded.Path == "" && len(p.Jobs) == 0 && len(p.Kafka.Brokers) == 0
}

func (a *app) header(to connections) tui.Header {
	profile := a.selection.Profile
	h := tui.Header{
		Profile: safe(profile.Name), Environment: profile.Environment.String(), Production: profile.Environment == access.Production,
		Access: access.ReadOnly.String(), Connections: to.sources(profile),
	}
	if slices.ContainsFunc(profile.Jobs, func(j config.Job) bool { return j.Flink.REST != "" }) {
		h.Connections = append(h.Connections, to.live.connection())
	}
	if len(to.stores.configured) > 0 {
		h.Connections = append(h.Connections, to.stores.connection())
	}
	return h
}

// askFirst asks for secrets that have to be typed before the console takes the
// terminal, and remembers the answers for every later connection.
func (a *app) askFirst(ctx context.Context) (secret.Prompter, error) {
	typed := remembered{}
	for _, source := range a.selection.Profile.Secrets() {
		if !source.Prompt {
			continue
		}
		if _, err := source.Resolve(ctx, typed.asking(terminalPrompt{})); err != nil {
			return nil, err
		}
	}
	return typed, nil
}

// remembered answers prompts with what was typed before.
type remembered map[string]string

// Prompt implements secret.Prompter.
func (r remembered) Prompt(_ context.Context, label safetext.Text) (string, error) {
	answer, ok := r[label.String()]
	if !ok {
		return "", fault.New(fault.Config, "ask for a secret", "%s has to be typed, and the console has the terminal", label).
			WithHint("start the console again: it asks first")
	}
	return answer, nil
}

// asking returns a prompter that remembers what next is told.
func (r remembered) asking(next secret.Prompter) secret.Prompter { return teePrompt{r, next} }

type teePrompt struct {
	into remembered
	next secret.Prompter
}

// Prompt implements secret.Prompter.
func (p teePrompt) Prompt(ctx context.Context, label safetext.Text) (string, error) {
	answer, err := p.next.Prompt(ctx, label)
	if err == nil {
		p.into[label.String()] = answer
	}
	return answer, err
}
