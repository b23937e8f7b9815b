package main

import (
	"context"
	"time"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/testkit/arkincident"
)

// arkflowSample is the sample on ArkFlow.
func (a *app) arkflowSample() staged {
	return staged{
		flag: "arkflow", usage: "show the sample on ArkFlow",
		story: `With --arkflow it is an ArkFlow hub instead: four jobs and three streams that it
calls running, converged and in sync, with their checkpoint stores and write-ahead
logs. One job takes no checkpoint any more, the newest points of another can't be
restored, one began cold after an upgrade and can be rolled back, and of two logs a
start would lose or garble entries.`,
		start: func(ctx context.Context, dir string, now time.Time) (sample, error) {
			return arkincident.Start(ctx, dir, now)
		},
		plain: a.demoArkFlowPlain, first: "inspect arkflow jobs",
	}
}

// demoArkFlowPlain is inspect arkflow jobs and streams on the sample, with the
// recovery points of each job. Their findings are the point of the demo, not a failure
// of it.
func (a *app) demoArkFlowPlain(ctx context.Context) error {
	return a.withHub(ctx, "", func() error { return nil }, func(hub *arkflow.Hub, _ config.Job) error {
		l, err := hub.Jobs(ctx)
		if l.Hub.Address == "" {
			return err
		}
		l.Decisions = shown(l.Decisions, false, arkflow.OfJob, arkflow.OfStream, arkflow.OfHub)
		faults := []error{err}
		var details []arkflow.JobDetail
		for _, j := range l.Jobs {
			of, err := a.arkflowJob(j.ID)
			beside, end := a.besideLog(hub, of, j.ID, nil)
			d, unread := beside.Job(ctx, j.ID, "")
			end()
			details, faults = append(details, d), append(faults, err, unread)
		}
		return a.printer().result("ArkFlowJobs", l, faults, func(t *table) {
			renderArkFlowJobs(t, l, a.clock.Now())
			t.line("")
			renderArkFlowStreamRows(t, l)
			for _, d := range details {
				t.line("")
				t.line("of " + d.Job.ID + " a start restores " + selectionText(d.Points.Selection))
				if d.Log != nil && d.Points.Replay != nil {
					t.line("it sends again " + d.Points.Replay.Sentence)
				}
				renderPointRows(t, d.Points, a.clock.Now())
			}
		})
	})
}
