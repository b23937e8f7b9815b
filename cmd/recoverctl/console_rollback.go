package main

import (
	"context"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/flink"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/views/apply"
	"github.com/recoverctl/recoverctl/views/document"
	"github.com/recoverctl/recoverctl/views/rollback"
)

// consoleRollbacks makes, judges and applies plans of rollbacks for the console as
// the commands do.
type consoleRollbacks struct {
	consoleDocuments
	in     *inspect.Inspector
	prompt secret.Prompter
}

var _ rollback.Source = consoleRollbacks{}

// Make implements rollback.Source.
func (c consoleRollbacks) Make(ctx context.Context, job inspect.Job, ask rollback.Ask) (document.Made, error) {
	asked, err := withIDs(c.app.asConfigured(job, actions.FlinkAsk{Point: ask.Point, Jar: ask.Jar, Arguments: ask.Arguments, NoSavepoint: ask.NoSavepoint}))
	if err != nil {
		return document.Made{}, err
	}
	sources, err := c.app.flinkSources(ctx, job, c.in, c.prompt)
	if err != nil {
		return document.Made{}, err
	}
	e, faults := sources.Look(ctx, ask.Point)
	switch {
	case ctx.Err() != nil:
		return document.Made{}, ctx.Err()
	case e.Err != nil:
		return document.Made{}, e.Err
	}
	d, p := actions.RollbackFrom(e, asked)
	if p != nil {
		return document.Made{}, noFlinkPlan(p, e)
	}
	return c.judge(job, d, e, faults)
}

// Review implements document.Handler.
func (c consoleRollbacks) Review(ctx context.Context, job inspect.Job, of actions.Document) (document.Made, error) {
	sources, err := c.app.flinkSources(ctx, job, c.in, c.prompt)
	if err != nil {
		return document.Made{}, err
	}
	e, faults := sources.Gather(ctx, of)
	if ctx.Err() != nil {
		return document.Made{}, ctx.Err()
	}
	return c.judge(job, of, e, faults)
}

func (c consoleRollbacks) judge(job inspect.Job, of actions.Document, e actions.FlinkEvidence, faults []error) (document.Made, error) {
	made := document.Made{Plan: of, Report: actions.FlinkReport(of, e), Steps: actions.FlinkSteps(of), Handoff: flink.HandoffOf(of, e), At: e.At, Cluster: of.Target.Cluster, Unread: e.Err}
	return c.made(made, "rollback", job, append(faults, e.Err)...)
}

// Start implements document.Handler.
func (c consoleRollbacks) Start(ctx context.Context, job inspect.Job, made document.Made, answer apply.Answer) (*apply.Running, error) {
	sources, err := c.app.flinkSources(ctx, job, c.in, c.prompt)
	if err != nil {
		return nil, err
	}
	return c.start(job, made, answer, "rollback", c.app.beginFlink(sources))
}
