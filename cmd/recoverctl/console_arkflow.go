package main

import (
	"context"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/config"
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
			documents := consoleDocuments{a, applies}
			o.Plans = func(kind, id string) document.Source { return consoleArkFlowPlans{documents, hub, kind, id} }
			o.Rollbacks = func(id string) rollback.Source {
				return consoleArkFlowRollbacks{consoleArkFlowPlans{documents, hub, actions.KindArkFlowRollback, id}}
			}
		}
		all[i] = screens.NewEntry(o, "arkflow "+j.Name)
	}
	return all
}

// isArkFlow reports whether a job is one that is read at a hub, or from its log. One
// that flags alone make has no engine: it is one where it has nothing else.
func isArkFlow(j config.Job) bool {
	its := j.Engine == engineArkFlow || j.Engine == "" && j.ActionState.Topic == "" && j.Fluss.Table == ""
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

// logIsOf reports whether the profile's log is the one of a job or stream of the hub,
// of which it has the name. One that flags alone name is that of whatever is looked at.
func (c consoleHub) logIsOf(name string) bool {
	return c.job.ArkFlow.WAL != "" && (c.job.Name == name || c.job.Name == config.AdHoc)
}

// ask runs do with a connection, beside it with the profile's log where that is
// wanted, and keeps how that was for screens that must not wait.
func (c consoleHub) ask(ctx context.Context, log bool, do func(*arkflow.Hub) (heard bool, err error)) error {
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
	if log {
		hub = hub.WithLog(c.app.logs(c.to.stores), c.job.ArkFlow.WAL, nil)
	}
	heard, err := do(hub)
	c.to.hubs.answered(c.job.ArkFlow.Hub, heard, err)
	return err
}

// Jobs implements the screens' source.
func (c consoleHub) Jobs(ctx context.Context) (l arkflow.JobList, err error) {
	err = c.ask(ctx, c.job.ArkFlow.WAL != "", func(hub *arkflow.Hub) (bool, error) {
		var unread error
		l, unread = hub.Jobs(ctx)
		return l.Hub.Address != "", unread
	})
	return l, err
}

// Job implements the screens' source.
func (c consoleHub) Job(ctx context.Context, id string) (d arkflow.JobDetail, err error) {
	err = c.ask(ctx, c.logIsOf(id), func(hub *arkflow.Hub) (bool, error) {
		var unread error
		d, unread = hub.Job(ctx, id, "")
		return d.Hub.Address != "", unread
	})
	return d, err
}

// Replay implements the screens' source.
func (c consoleHub) Replay(ctx context.Context, d arkflow.JobDetail, id string) (arkflow.ReplayCost, error) {
	var logs *arkflow.Logs
	if c.logIsOf(d.Job.ID) {
		logs = c.app.logs(c.to.stores)
	}
	cost := arkflow.ReplayOf(ctx, logs, d, id)
	return cost, ctx.Err()
}
