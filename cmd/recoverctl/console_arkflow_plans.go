package main

import (
	"context"
	"strings"

	"github.com/recoverctl/recoverctl/actions"
	change "github.com/recoverctl/recoverctl/actions/arkflow"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/views/apply"
	"github.com/recoverctl/recoverctl/views/document"
	"github.com/recoverctl/recoverctl/views/rollback"
)

// consoleArkFlowPlans makes, judges and applies plans of one kind about a job or a
// stream of a hub, as the commands do.
type consoleArkFlowPlans struct {
	consoleDocuments
	hub  consoleHub
	kind string
	id   string // of the job at the hub, or NODE/STREAM
}

var _ document.Source = consoleArkFlowPlans{}

// sources are what the commands read, too: of a stream also the profile's log, where
// that is the stream's.
func (c consoleArkFlowPlans) sources(ctx context.Context) (change.Sources, error) {
	options, err := c.hub.options(ctx)
	s := change.Sources{Hub: options, Job: c.id, Points: c.hub.points(), Clock: c.app.clock}
	_, stream, _ := streamNamed(c.id)
	if c.kind == actions.KindArkFlowRestart && c.hub.logIsOf(stream) {
		s.Logs, s.Log = c.app.logs(c.hub.to.stores), c.hub.job.ArkFlow.WAL
	}
	return s, err
}

// Make implements document.Source.
func (c consoleArkFlowPlans) Make(ctx context.Context, _ inspect.Job) (document.Made, error) {
	return c.make(ctx, arkflowAsk{kind: c.kind, id: c.id})
}

func (c consoleArkFlowPlans) make(ctx context.Context, ask arkflowAsk) (document.Made, error) {
	sources, err := c.sources(ctx)
	if err != nil {
		return document.Made{}, err
	}
	d, e, err := makeArkFlowPlan(ctx, sources, ask)
	switch {
	case ctx.Err() != nil:
		return document.Made{}, ctx.Err()
	case err != nil:
		return document.Made{}, err
	}
	return c.judge(d, e, e.Err)
}

// Review implements document.Handler.
func (c consoleArkFlowPlans) Review(ctx context.Context, _ inspect.Job, of actions.Document) (document.Made, error) {
	sources, err := c.sources(ctx)
	if err != nil {
		return document.Made{}, err
	}
	e, err := sources.GatherPlan(ctx, of)
	if ctx.Err() != nil {
		return document.Made{}, ctx.Err()
	}
	return c.judge(of, e, err)
}

func (c consoleArkFlowPlans) judge(of actions.Document, e actions.ArkFlowEvidence, faults ...error) (document.Made, error) {
	e = c.app.withJournal(e, of, c.hub.job)
	made := document.Made{Plan: of, Report: actions.ArkFlowReport(of, e), Steps: actions.ArkFlowSteps(of), At: e.At, Cluster: e.System()}
	if !e.Asked() {
		made.Unread = e.Err
	}
	return c.made(made, c.name(), c.job(), append(faults, e.JournalErr)...)
}

// job is the profile's, under which the commands keep their journal, too: a hub may
// have jobs that the profile does not name.
func (c consoleArkFlowPlans) job() inspect.Job {
	return jobOf(c.app.selection.Profile.Name, c.hub.job)
}

// name is the kind in a word, for the file of the plan and the job strip.
func (c consoleArkFlowPlans) name() string { return strings.TrimPrefix(c.kind, "arkflow-") }

// Start implements document.Handler.
func (c consoleArkFlowPlans) Start(ctx context.Context, _ inspect.Job, made document.Made, answer apply.Answer) (*apply.Running, error) {
	sources, err := c.sources(ctx)
	if err != nil {
		return nil, err
	}
	return c.start(c.job(), made, answer, c.name(), c.app.beginArkFlow(sources, c.hub.job))
}

// consoleArkFlowRollbacks are those that take a job to a lower version, which is
// asked for.
type consoleArkFlowRollbacks struct{ consoleArkFlowPlans }

var _ rollback.Source = consoleArkFlowRollbacks{}

// Make implements rollback.Source.
func (c consoleArkFlowRollbacks) Make(ctx context.Context, _ inspect.Job, ask rollback.Ask) (document.Made, error) {
	return c.make(ctx, arkflowAsk{kind: c.kind, id: c.id, version: ask.Version})
}
