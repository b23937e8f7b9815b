package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/evidence"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/views/apply"
	"github.com/recoverctl/recoverctl/views/plan"
)

// consolePlans makes and judges the plans of the console as plan cleanup and plan
// show do, and applies what is approved as apply does.
type consolePlans struct {
	app     *app
	in      *inspect.Inspector
	systems connections
	prompt  secret.Prompter
	applies *apply.Current
}

var _ plan.Source = consolePlans{}

// Make implements plan.Source.
func (c consolePlans) Make(ctx context.Context, job inspect.Job, uri string) (plan.Made, error) {
	if err := job.HasCleanups("make a plan"); err != nil {
		return plan.Made{}, err
	}
	if !c.systems.log.configured() {
		return plan.Made{}, noBrokers("set kafka.brokers in the profile; recoverctl plan cleanup --offline makes a plan that nothing was checked for")
	}
	made, own, err := c.app.makePlan(ctx, c.in, planCleanup{point: uri})
	if err != nil {
		return plan.Made{}, err
	}
	return c.judge(ctx, job, made, own, nil)
}

// Review implements plan.Source.
func (c consolePlans) Review(ctx context.Context, job inspect.Job, of inspect.CleanupPlan, shown *actions.Report) (plan.Made, error) {
	if err := job.HasCleanups("judge a plan"); err != nil {
		return plan.Made{}, err
	}
	if !c.systems.log.configured() {
		return plan.Made{}, noBrokers("set kafka.brokers in the profile")
	}
	return c.judge(ctx, job, of, nil, shown)
}

// judge reads everything that a plan is judged by. Own is the recovery point that
// the plan was made from just now; nil: it is read.
func (c consolePlans) judge(ctx context.Context, job inspect.Job, of inspect.CleanupPlan, own *inspect.RecoveryPoint, shown *actions.Report) (plan.Made, error) {
	consent := 1 // whether a missing control topic may be made is asked when the plan is applied
	sources := c.systems.evidence(job, c.app.clock, &consent)
	e, faults := sources.GatherPlan(ctx, of, evidence.CallScan{})
	if ctx.Err() != nil {
		return plan.Made{}, ctx.Err()
	}
	if own != nil {
		e.Own, e.OwnErr = own, nil
	}
	made := plan.Made{
		Plan: of, Report: actions.NewReport(of, e), Drift: actions.DriftOf(of, e, shown),
		Steps: actions.CleanupSteps(e.ControlErr == nil && !e.Control.Exists), Unjudged: unjudged(of, e), Cluster: e.Data.ClusterID,
	}
	folder, err := os.Getwd()
	if err != nil {
		return plan.Made{}, fault.Wrap(fault.NotFound, "make a plan", err, "the folder that the console was started in is gone, and the plan's file would be written there").
			WithHint("start the console again in a folder that exists")
	}
	made.File = filepath.Join(folder, "plan-"+shortID(of.PlanID)+".json")
	made.Apply = c.command(job, made, e)
	return made, errors.Join(faults...)
}

// unjudged is what kept a step of an apply from being judged.
func unjudged(of inspect.CleanupPlan, e actions.Evidence) error {
	if err := unread(e); err != nil {
		return err
	}
	_, err := actions.Foresee(of, e)
	return err
}

// command is what applies the plan's file, from any shell of this user; empty
// where a name in it can't be typed as it is shown.
func (c consolePlans) command(job inspect.Job, made plan.Made, e actions.Evidence) string {
	return c.app.shownApply(job, c.app.nextCommands(made.File, made.Report, e), made.Report.Warnings)
}

// Write implements plan.Source.
func (c consolePlans) Write(ctx context.Context, made plan.Made) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return notOverwritten(made.File, actions.WritePlan(made.File, made.Plan))
}

// noBrokers is why no plan is made without a cluster.
func noBrokers(hint string) error {
	return fault.New(fault.Config, "make a plan", "no brokers are configured, and a plan is checked against the cluster").WithHint("%s", hint)
}
