package main

import (
	"context"

	"github.com/recoverctl/recoverctl/actions"
	change "github.com/recoverctl/recoverctl/actions/arkflow"
	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/apply"
	screens "github.com/recoverctl/recoverctl/views/arkflow"
	"github.com/recoverctl/recoverctl/views/document"
	"github.com/recoverctl/recoverctl/views/jobs"
	"github.com/recoverctl/recoverctl/views/rollback"
)

// consoleArkFlow are a profile's jobs of ArkFlow as the console reads them, by their
// place in the profile, and as it makes plans about them.
func (a *app) consoleArkFlow(p config.Profile, to connections, prompt secret.Prompter, look theme.Theme, applies *apply.Current) map[int]jobs.Other {
	all := map[int]jobs.Other{}
	for i, j := range p.Jobs {
		if !isArkFlow(j) {
			continue
		}
		job, hub := jobOf(p.Name, j), consoleHub{app: a, job: j, to: to, prompt: prompt}
		if j.Name == config.AdHoc {
			job.Name = "" // which nothing at the hub is called
		}
		o := screens.Options{Theme: look, Now: a.clock.Now, Job: job}
		if j.ArkFlow.WAL != "" {
			o.Log = consoleWAL{a.logs(to.stores), j.ArkFlow.WAL}
		}
		if j.ArkFlow.Hub != "" {
			o.Source = hub
			o.Rollbacks = func(id string) rollback.Source {
				return consoleArkFlowRollbacks{consoleDocuments{a, applies}, hub, id}
			}
		}
		all[i] = screens.NewEntry(o, "arkflow "+j.Name)
	}
	return all
}

// isArkFlow reports whether a job is one that is read at a hub, or from its log. One
// that flags alone make has no engine: it is one where it has nothing else.
func isArkFlow(j config.Job) bool {
	its := j.Engine == "arkflow" || j.Engine == "" && j.ActionState.Topic == "" && j.Fluss.Table == ""
	return its && (j.ArkFlow.Hub != "" || j.ArkFlow.WAL != "")
}

// consoleHub is one job's hub. It is connected to for each answer.
type consoleHub struct {
	app    *app
	job    config.Job
	to     connections
	prompt secret.Prompter
}

var _ screens.Source = consoleHub{}

func (c consoleHub) options(ctx context.Context) (arkhub.Options, error) {
	o := arkhub.Options{Address: c.job.ArkFlow.Hub, Timeout: c.app.loaded.Timeout}
	if c.job.ArkFlow.Token.IsZero() {
		return o, nil
	}
	var err error
	o.Token, err = c.job.ArkFlow.Token.Resolve(ctx, c.prompt)
	return o, err
}

func (c consoleHub) points() *arkflow.Points { return arkflow.NewPoints(c.to.points.Store) }

// ask runs do with a connection, and keeps how that was for screens that must not
// wait.
func (c consoleHub) ask(ctx context.Context, do func(*arkflow.Hub) (heard bool, err error)) error {
	options, err := c.options(ctx)
	if err != nil {
		return err
	}
	client, err := arkhub.New(options)
	if err != nil {
		return err
	}
	defer client.Close()
	hub := arkflow.NewHub(client, c.points(), c.app.clock)
	if c.job.ArkFlow.WAL != "" {
		hub = hub.WithLog(c.app.logs(c.to.stores), c.job.ArkFlow.WAL, nil)
	}
	heard, err := do(hub)
	c.to.hubs.answered(c.job.ArkFlow.Hub, heard, err)
	return err
}

// Jobs implements the screens' source.
func (c consoleHub) Jobs(ctx context.Context) (l arkflow.JobList, err error) {
	err = c.ask(ctx, func(hub *arkflow.Hub) (bool, error) {
		var unread error
		l, unread = hub.Jobs(ctx)
		return l.Hub.Address != "", unread
	})
	return l, err
}

// Job implements the screens' source.
func (c consoleHub) Job(ctx context.Context, id string) (d arkflow.JobDetail, err error) {
	err = c.ask(ctx, func(hub *arkflow.Hub) (bool, error) {
		var unread error
		d, unread = hub.Job(ctx, id, "")
		return d.Hub.Address != "", unread
	})
	return d, err
}

// consoleArkFlowRollbacks makes, judges and applies plans that take a job of a hub
// to a lower version, as the commands do.
type consoleArkFlowRollbacks struct {
	consoleDocuments
	hub consoleHub
	id  string // of the job at the hub
}

var _ rollback.Source = consoleArkFlowRollbacks{}

func (c consoleArkFlowRollbacks) sources(ctx context.Context) (change.Sources, error) {
	options, err := c.hub.options(ctx)
	return change.Sources{Hub: options, Job: c.id, Points: c.hub.points(), Clock: c.app.clock}, err
}

// Make implements rollback.Source.
func (c consoleArkFlowRollbacks) Make(ctx context.Context, job inspect.Job, ask rollback.Ask) (document.Made, error) {
	sources, err := c.sources(ctx)
	if err != nil {
		return document.Made{}, err
	}
	d, e, err := makeArkFlowPlan(ctx, sources, arkflowAsk{kind: actions.KindArkFlowRollback, id: c.id, version: ask.Version})
	switch {
	case ctx.Err() != nil:
		return document.Made{}, ctx.Err()
	case err != nil:
		return document.Made{}, err
	}
	return c.judge(job, d, e)
}

// Review implements document.Handler.
func (c consoleArkFlowRollbacks) Review(ctx context.Context, job inspect.Job, of actions.Document) (document.Made, error) {
	sources, err := c.sources(ctx)
	if err != nil {
		return document.Made{}, err
	}
	e, err := sources.GatherPlan(ctx, of)
	if ctx.Err() != nil {
		return document.Made{}, ctx.Err()
	}
	return c.judge(job, of, e, err)
}

func (c consoleArkFlowRollbacks) judge(job inspect.Job, of actions.Document, e actions.ArkFlowEvidence, faults ...error) (document.Made, error) {
	e = c.app.withJournal(e, of.Target)
	made := document.Made{Plan: of, Report: actions.ArkFlowReport(of, e), Steps: actions.ArkFlowSteps(of), At: e.At, Cluster: of.Target.Cluster}
	if !e.Asked() {
		made.Unread = e.Err
	}
	return c.made(made, "rollback", job, append(faults, e.JournalErr)...)
}

// Start implements document.Handler.
func (c consoleArkFlowRollbacks) Start(ctx context.Context, job inspect.Job, made document.Made, answer apply.Answer) (*apply.Running, error) {
	sources, err := c.sources(ctx)
	if err != nil {
		return nil, err
	}
	return c.start(job, made, answer, "rollback", c.app.beginArkFlow(sources))
}
