package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/flink"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/views/apply"
	"github.com/recoverctl/recoverctl/views/rollback"
)

// consoleRollbacks makes, judges and applies plans of rollbacks for the console as
// the commands do.
type consoleRollbacks struct {
	app     *app
	in      *inspect.Inspector
	prompt  secret.Prompter
	applies *apply.Current
}

var _ rollback.Source = consoleRollbacks{}

// Make implements rollback.Source.
func (c consoleRollbacks) Make(ctx context.Context, job inspect.Job, ask rollback.Ask) (rollback.Made, error) {
	asked, err := withIDs(c.app.asConfigured(job, actions.FlinkAsk{Point: ask.Point, Jar: ask.Jar, Arguments: ask.Arguments, NoSavepoint: ask.NoSavepoint}))
	if err != nil {
		return rollback.Made{}, err
	}
	sources, err := c.app.flinkSources(ctx, job, c.in, c.prompt)
	if err != nil {
		return rollback.Made{}, err
	}
	e, faults := sources.Look(ctx, ask.Point)
	switch {
	case ctx.Err() != nil:
		return rollback.Made{}, ctx.Err()
	case e.Err != nil:
		return rollback.Made{}, e.Err
	}
	d, p := actions.RollbackFrom(e, asked)
	if p != nil {
		return rollback.Made{}, noFlinkPlan(p, e)
	}
	return c.judge(job, d, e, faults)
}

// Review implements rollback.Source.
func (c consoleRollbacks) Review(ctx context.Context, job inspect.Job, of actions.Document) (rollback.Made, error) {
	sources, err := c.app.flinkSources(ctx, job, c.in, c.prompt)
	if err != nil {
		return rollback.Made{}, err
	}
	e, faults := sources.Gather(ctx, of)
	if ctx.Err() != nil {
		return rollback.Made{}, ctx.Err()
	}
	return c.judge(job, of, e, faults)
}

func (c consoleRollbacks) judge(job inspect.Job, of actions.Document, e actions.FlinkEvidence, faults []error) (rollback.Made, error) {
	made := rollback.Made{Plan: of, Report: actions.FlinkReport(of, e), Steps: actions.FlinkSteps(of), Handoff: flink.HandoffOf(of, e), At: e.At, Unread: e.Err}
	folder, err := os.Getwd()
	if err != nil {
		return rollback.Made{}, fault.Wrap(fault.NotFound, "make a plan", err, "the folder that the console was started in is gone, and the plan's file would be written there").
			WithHint("start the console again in a folder that exists")
	}
	made.File = filepath.Join(folder, "rollback-"+shortID(of.PlanID)+".json")
	commands := c.app.nextOfDocument(made.File, made.Report.Warnings)
	made.Apply = commands[len(commands)-1] + c.app.sameConfig()
	var released error
	made.Held, made.CutOff, released = c.app.heldBy(of, of.Target.Cluster, job)
	return made, errors.Join(append(faults, e.Err, released)...)
}

// Write implements rollback.Source.
func (c consoleRollbacks) Write(ctx context.Context, made rollback.Made) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	err := actions.WriteDocument(made.File, made.Plan)
	if errors.Is(err, fs.ErrExist) {
		return fault.Wrap(fault.Denied, "write the plan", err, "%s exists already and is not overwritten", safe(made.File)).WithRef("file " + safe(made.File))
	}
	return err
}

// Question implements rollback.Source.
func (c consoleRollbacks) Question(made rollback.Made) actions.Question {
	return c.app.questionOf(made.Plan, made.Report)
}

// Busy implements rollback.Source.
func (c consoleRollbacks) Busy() string { return c.applies.Busy() }

// Start implements rollback.Source.
func (c consoleRollbacks) Start(ctx context.Context, job inspect.Job, made rollback.Made, answer apply.Answer) (*apply.Running, error) {
	sources, err := c.app.flinkSources(ctx, job, c.in, c.prompt)
	if err != nil {
		return nil, err
	}
	name := "rollback " + shortID(made.Plan.PlanID)
	if err := c.applies.Reserve(name); err != nil {
		return nil, err
	}
	running, err := c.app.startFromConsole(c.applies, job, c.Question(made), made.Plan.Target.Cluster, name, answer, func(approval actions.Approval, who actions.Operator) (*actions.Run, func(), error) {
		// The run outlives every screen, and ends by itself or by Stop alone.
		return c.app.beginFlink(context.Background(), approvedFlink{
			plan: made.Plan, report: made.Report, approval: approval, who: who, sources: sources, step: answer.Step,
		})
	})
	if err != nil {
		c.applies.Forget()
		return nil, err
	}
	return running, nil
}
