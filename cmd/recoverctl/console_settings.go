package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/internal/shellword"
	"github.com/recoverctl/recoverctl/views/apply"
	"github.com/recoverctl/recoverctl/views/settings"
)

// consoleSettings makes, judges and applies plans of settings for the console as
// the commands do.
type consoleSettings struct {
	app     *app
	in      *inspect.Inspector
	systems connections
	prompt  secret.Prompter
	applies *apply.Current
}

var _ settings.Source = consoleSettings{}

// read reads the topic of a job as it is now.
func (c consoleSettings) read(ctx context.Context, job inspect.Job) (actions.SettingsEvidence, error) {
	if !c.systems.log.configured() {
		return actions.SettingsEvidence{}, noBrokers("set kafka.brokers in the profile")
	}
	e := actions.SettingsEvidence{Job: job, At: c.app.clock.Now()}
	e.Data, e.DataErr = c.in.Topic(ctx, job)
	return e, ctx.Err()
}

// Make implements settings.Source.
func (c consoleSettings) Make(ctx context.Context, job inspect.Job) (settings.Made, error) {
	e, err := c.read(ctx, job)
	if err != nil {
		return settings.Made{}, err
	}
	if e.DataErr != nil && len(e.Data.Settings) == 0 {
		return settings.Made{}, e.DataErr
	}
	d, p := actions.SettingsFrom(e.Data)
	switch {
	case p != nil && p.Code == actions.SettingsAsNeeded:
		return settings.Made{At: e.At, Needless: p.Message}, nil
	case p != nil:
		return settings.Made{}, noSettingsPlan(p)
	}
	return c.judge(d, e)
}

// Review implements settings.Source.
func (c consoleSettings) Review(ctx context.Context, job inspect.Job, of actions.Document) (settings.Made, error) {
	e, err := c.read(ctx, job)
	if err != nil {
		return settings.Made{}, err
	}
	return c.judge(of, e)
}

func (c consoleSettings) judge(of actions.Document, e actions.SettingsEvidence) (settings.Made, error) {
	made := settings.Made{Plan: of, Report: actions.SettingsReport(of, e), Steps: actions.SettingsSteps(of), At: e.At, Cluster: e.Data.ClusterID}
	if e.DataErr != nil && !e.Data.Exists {
		made.Unread = e.DataErr
	}
	folder, err := os.Getwd()
	if err != nil {
		return settings.Made{}, fault.Wrap(fault.NotFound, "make a plan", err, "the folder that the console was started in is gone, and the plan's file would be written there").
			WithHint("start the console again in a folder that exists")
	}
	made.File = filepath.Join(folder, "settings-"+shortID(of.PlanID)+".json")
	commands := c.app.nextOfDocument(made.File, made.Report.Warnings)
	made.Apply = commands[len(commands)-1] + c.app.sameConfig()
	var released error
	made.Held, made.CutOff, released = c.app.heldBy(of, made.Cluster, e.Job)
	return made, errors.Join(e.DataErr, released)
}

// sameConfig names the file of the configuration in a command, where that is not
// the one that every command reads.
func (a *app) sameConfig() string {
	if path := a.loaded.Path; !a.flags.Changed("config") && path != "" && path != config.DefaultPath(a.environ) {
		return " --config " + shellword.Quote(path)
	}
	return ""
}

// Write implements settings.Source.
func (c consoleSettings) Write(ctx context.Context, made settings.Made) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	err := actions.WriteDocument(made.File, made.Plan)
	if errors.Is(err, fs.ErrExist) {
		return fault.Wrap(fault.Denied, "write the plan", err, "%s exists already and is not overwritten", safe(made.File)).WithRef("file " + safe(made.File))
	}
	return err
}

// Question implements settings.Source.
func (c consoleSettings) Question(made settings.Made) actions.Question {
	return c.app.questionOf(made.Plan, made.Report)
}

// Busy implements settings.Source.
func (c consoleSettings) Busy() string { return c.applies.Busy() }

// Start implements settings.Source.
func (c consoleSettings) Start(_ context.Context, job inspect.Job, made settings.Made, answer apply.Answer) (*apply.Running, error) {
	name := "settings " + shortID(made.Plan.PlanID)
	if err := c.applies.Reserve(name); err != nil {
		return nil, err
	}
	running, err := c.app.startFromConsole(c.applies, job, c.Question(made), made.Cluster, name, answer, func(approval actions.Approval, who actions.Operator) (*actions.Run, func(), error) {
		// The run outlives every screen, and ends by itself or by Stop alone.
		return c.app.beginSettings(context.Background(), approvedSettings{
			plan: made.Plan, report: made.Report, approval: approval, who: who, job: job, prompt: c.prompt, step: answer.Step,
		})
	})
	if err != nil {
		c.applies.Forget()
		return nil, err
	}
	return running, nil
}
