package main

import (
	"context"
	"slices"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/internal/shellword"
	"github.com/recoverctl/recoverctl/views/apply"
	"github.com/recoverctl/recoverctl/views/document"
)

// consoleSettings makes, judges and applies plans of settings for the console as
// the commands do.
type consoleSettings struct {
	consoleDocuments
	in      *inspect.Inspector
	systems connections
	prompt  secret.Prompter
}

var _ document.Source = consoleSettings{}

// read reads the topic of a job as it is now.
func (c consoleSettings) read(ctx context.Context, job inspect.Job) (actions.SettingsEvidence, error) {
	if err := job.HasCleanups("make a plan"); err != nil {
		return actions.SettingsEvidence{}, err
	}
	if !c.systems.log.configured() {
		return actions.SettingsEvidence{}, noBrokers("set kafka.brokers in the profile")
	}
	e := actions.SettingsEvidence{Job: job, At: c.app.clock.Now()}
	e.Data, e.DataErr = c.in.Topic(ctx, job)
	return e, ctx.Err()
}

// Make implements document.Source.
func (c consoleSettings) Make(ctx context.Context, job inspect.Job) (document.Made, error) {
	e, err := c.read(ctx, job)
	if err != nil {
		return document.Made{}, err
	}
	if e.DataErr != nil && len(e.Data.Settings) == 0 {
		return document.Made{}, e.DataErr
	}
	d, p := actions.SettingsFrom(e.Data)
	switch {
	case p != nil && p.Code == actions.SettingsAsNeeded:
		return document.Made{At: e.At, Needless: p.Message}, nil
	case p != nil:
		return document.Made{}, noSettingsPlan(p)
	}
	return c.judge(d, e)
}

// Review implements document.Source.
func (c consoleSettings) Review(ctx context.Context, job inspect.Job, of actions.Document) (document.Made, error) {
	e, err := c.read(ctx, job)
	if err != nil {
		return document.Made{}, err
	}
	return c.judge(of, e)
}

func (c consoleSettings) judge(of actions.Document, e actions.SettingsEvidence) (document.Made, error) {
	made := document.Made{Plan: of, Report: actions.SettingsReport(of, e), Steps: actions.SettingsSteps(of), At: e.At, Cluster: e.Data.ClusterID}
	if e.DataErr != nil && !e.Data.Exists {
		made.Unread = e.DataErr
	}
	return c.made(made, "settings", e.Job, e.DataErr)
}

// shownApply is the last of the commands that follow a plan about a job, as it can be
// pasted; empty where a name in it holds characters that can't be shown as they are.
func (a *app) shownApply(job inspect.Job, commands []string, warnings []actions.Warning) string {
	for _, w := range warnings {
		if safe(w.Name) != w.Name {
			return ""
		}
	}
	apply := commands[len(commands)-1] + a.sameJob(job) + a.sameConfig()
	if safe(apply) != apply {
		return ""
	}
	return apply
}

// sameJob names a job in a command, where no flag did and the profile has several. What
// is about ArkFlow names its job or stream itself.
func (a *app) sameJob(job inspect.Job) string {
	jobs := a.selection.Profile.Jobs
	at := slices.IndexFunc(jobs, func(j config.Job) bool { return j.Name == job.Name })
	if a.flags.Changed("job") || len(jobs) < 2 || at < 0 || jobs[at].Engine == engineArkFlow {
		return ""
	}
	return " --job " + shellword.Quote(job.Name)
}

// sameConfig names the file of the configuration in a command, where that is not
// the one that every command reads and no flag named it.
func (a *app) sameConfig() string {
	if a.loaded == nil {
		return ""
	}
	if path := a.loaded.Path; !a.flags.Changed("config") && path != "" && path != config.DefaultPath(a.environ) {
		return " --config " + shellword.Quote(path)
	}
	return ""
}

// Start implements document.Handler.
func (c consoleSettings) Start(_ context.Context, job inspect.Job, made document.Made, answer apply.Answer) (*apply.Running, error) {
	return c.start(job, made, answer, "settings", c.app.beginSettings(job, c.prompt))
}
