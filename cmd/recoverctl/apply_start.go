package main

import (
	"context"
	"fmt"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/evidence"
	"github.com/recoverctl/recoverctl/actions/kafka"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/journal"
	"github.com/recoverctl/recoverctl/internal/secret"
)

// lock keeps a second apply to the same topic away on this machine, of whatever
// kind its plan is. The error is a fault of kind Busy that says who holds it.
func (a *app) lock(plan actions.Plan, clusterID string, who actions.Operator) (*journal.Lock, error) {
	about := plan.Subject()
	state, err := journal.StateDir(a.variable)
	if err != nil {
		return nil, err
	}
	return journal.Acquire(state, about.Target.Backend+" "+clusterID+" "+about.Target.Name, journal.Owner{
		User: who.User, Host: who.Host, Since: a.clock.Now(), Doing: about.Kind + " " + shortID(about.PlanID)})
}

// abandoned says who held a lock before and never gave it back; "" for nobody.
func abandoned(l *journal.Lock) string {
	was := l.Abandoned
	if was == nil || was.PID <= 0 {
		return ""
	}
	return fmt.Sprintf("an apply by %s@%s was cut off (%s, process %d); what is on the cluster decides how this one goes on",
		safe(was.User), safe(was.Host), safe(was.Doing), was.PID)
}

// approvedCleanup is a cleanup that somebody approved.
type approvedCleanup struct {
	plan     inspect.CleanupPlan
	report   actions.Report
	approval actions.Approval
	who      actions.Operator
	prompt   secret.Prompter
	sources  evidence.Sources // of the job, with the consent to making the control topic
	step     bool             // pause before each step
}

// begin starts an approved cleanup, for the command and for the console. The
// caller holds the lock. End closes the run's connections when it has ended.
func (a *app) begin(ctx context.Context, c approvedCleanup) (run *actions.Run, end func(), err error) {
	cleanup := kafka.New(kafka.Config{
		Connect: kafka.Dial(connConfig(a.selection.Profile.Kafka, c.prompt), a.clock), Job: c.sources.Job, Plan: c.plan, Approved: c.report,
		Replication: c.sources.Replication, Gather: func(ctx context.Context) (actions.Evidence, error) {
			e, _ := c.sources.Gather(ctx, c.plan.SourceRecoveryPoint)
			return e, ctx.Err()
		},
	})
	run, err = a.journalled(ctx, actions.RunPlan{
		Plan: c.plan, Report: c.report, Approval: c.approval, Who: c.who, Steps: cleanup.Doers(), Verify: cleanup.Verify, Step: c.step,
	})
	if err != nil {
		cleanup.Close()
		return nil, nil, err
	}
	return run, cleanup.Close, nil
}

// journalled starts a run of a plan of any kind with this machine's journal.
func (a *app) journalled(ctx context.Context, p actions.RunPlan) (*actions.Run, error) {
	state, err := journal.StateDir(a.variable)
	if err != nil {
		return nil, err
	}
	lines, err := journal.Open(state, a.clock)
	if err != nil {
		return nil, err
	}
	const networkSteps = 4 // of a verification, or of settling a write
	p.Journal, p.Clock, p.Timeout = lines, a.clock, networkSteps*max(a.loaded.Timeout, time.Second)
	return actions.Start(ctx, p)
}
