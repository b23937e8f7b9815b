package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/arkflow"
	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/secret"
)

// arkflowExit are the exit codes of making a plan about an ArkFlow job.
const arkflowExit = `Exit codes: 0 the plan is written; 1 the job's state, or what can be restored,
forbids it; 2 the command line is wrong; 3 no hub is configured; 4 it could not be
reached; 5 the file exists already, or the hub refuses this token; 6 there is no
such job; 10 what answers there is no hub, or one without jobs.`

func newPlanArkFlow(a *app) *cobra.Command {
	return group("arkflow", "Make plans about a job of ArkFlow; nothing is changed before a plan is applied",
		a.planOfArkFlow(actions.KindArkFlowCheckpoint, "checkpoint ID", "Make a plan that takes a checkpoint of a running ArkFlow job", `The hub answers a trigger with the job and not with what becomes of it: the plan's
apply finds the round, follows it until it is completed, and recomputes its
checksums. Of a job that does not run no plan is made: the round would stay pending
for ever.

`),
		a.planOfArkFlow(actions.KindArkFlowSavepoint, "savepoint ID", "Make a plan that takes a savepoint of a running ArkFlow job", `As plan arkflow checkpoint, for a savepoint.

`),
		a.planOfArkFlow(actions.KindArkFlowRollback, "rollback ID", "Make a plan that takes an ArkFlow job back to a lower version", `Stops the job, makes it a lower version, starts it, and proves as far as a hub lets
it be proved that it was restored: by the hub's own rule, and by the source
positions of the next checkpoint.

No plan is made where nothing can be restored into that version, though the hub
accepts the request: the job would begin cold and be called converged. Nobody can
choose the point: it is the newest savepoint that fits, and the plan names it.

`))
}

// arkflowAsk is what a plan about an ArkFlow job was asked for.
type arkflowAsk struct {
	kind, id, out, store string
	version              uint64
}

func (a *app) planOfArkFlow(kind, use, short, long string) *cobra.Command {
	ask := arkflowAsk{kind: kind}
	cmd := &cobra.Command{
		Use: use, Short: short, Args: exactArgs("one job's id"),
		Long: "Writes a plan to a new file: an existing one is never overwritten.\n\n" + long + arkflowExit,
		RunE: func(cmd *cobra.Command, args []string) error {
			ask.id = args[0]
			if ask.out == "" || ask.out == "-" {
				return fault.New(fault.Usage, "read flags", "a plan is written to a file").WithHint("name a new one with --out FILE")
			}
			if err := isFree(ask.out); err != nil {
				return err
			}
			return a.planArkFlow(cmd.Context(), ask)
		},
	}
	cmd.Flags().StringVar(&ask.out, "out", "", "write the plan to this new `FILE`")
	registerStore(cmd, &ask.store)
	if kind == actions.KindArkFlowRollback {
		cmd.Flags().Uint64Var(&ask.version, "to", 0, "go back to this `VERSION`; the next lower one if not given")
	}
	return cmd
}

func (a *app) planArkFlow(ctx context.Context, ask arkflowAsk) error {
	return a.withArkFlowSources(ctx, terminalPrompt{}, ask.id, func(sources arkflow.Sources, _ config.Job) error {
		e, err := sources.Gather(ctx, ask.store)
		if e.Job == nil {
			return err
		}
		var d actions.Document
		var p *inspect.Problem
		if ask.kind == actions.KindArkFlowRollback {
			d, p = actions.ArkFlowRollbackFrom(e, ask.version, ask.store)
		} else {
			d, p = actions.ArkFlowRoundFrom(ask.kind, e, ask.store)
		}
		if p != nil {
			refusal := &actions.Refusal{Problem: *p}
			return fault.Wrap(fault.Problem, "make a plan", refusal, "").WithHint("recoverctl inspect arkflow job %s shows the job, its versions and its points", safe(ask.id))
		}
		report := actions.ArkFlowReport(d, e)
		if report.Refused != nil {
			return actions.Refuse(report.Refused.Stage, &report.Refused.Problem)
		}
		if err := actions.WriteDocument(ask.out, d); err != nil {
			return err
		}
		made := documentMade{
			PlanID: &d.PlanID, Kind: d.Kind, Target: &d.Target, Facts: d.Facts, Report: &report, Warnings: names(report.Warnings),
			Message: "the plan is written", File: &ask.out, Next: a.nextOfDocument(ask.out, report.Warnings),
		}
		return a.printer().result("ArkFlowPlan", made, []error{err}, func(t *table) {
			renderDocument(t, report)
			t.line("")
			t.line("the plan is written to " + ask.out)
			for _, next := range made.Next {
				t.command(next)
			}
		})
	})
}

// withArkFlowSources loads the configuration and runs do with where the evidence
// about a job is read.
func (a *app) withArkFlowSources(ctx context.Context, prompt secret.Prompter, id string, do func(arkflow.Sources, config.Job) error) error {
	if err := a.load(); err != nil {
		return err
	}
	job, err := a.arkflowJob()
	if err != nil {
		return err
	}
	options := arkhub.Options{Address: job.ArkFlow.Hub, Timeout: a.loaded.Timeout}
	if !job.ArkFlow.Token.IsZero() {
		if options.Token, err = job.ArkFlow.Token.Resolve(ctx, prompt); err != nil {
			return err
		}
	}
	points, end, err := a.arkflowPoints()
	if err != nil {
		return err
	}
	defer end()
	return do(arkflow.Sources{Hub: options, Job: id, Points: points, Clock: a.clock}, job)
}

// applyArkFlow applies a plan about an ArkFlow job.
func (a *app) applyArkFlow(ctx context.Context, plan actions.Document, ask applyAsk) error {
	return a.applyDocument(ctx, plan, "about an ArkFlow job", ask, func(ctx context.Context, prompt secret.Prompter, proceed func(standing) error) error {
		return a.withArkFlowSources(ctx, prompt, plan.Target.ID, func(sources arkflow.Sources, job config.Job) error {
			e, err := sources.Gather(ctx, actions.ArkFlowPlanOf(plan).Store)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case e.Job == nil:
				return err
			}
			return proceed(standing{
				job: jobOf(a.selection.Profile.Name, job), cluster: plan.Target.Cluster, report: actions.ArkFlowReport(plan, e), begin: a.beginArkFlow(sources),
				judge: func() actions.OperationVerdict { return actions.JudgeArkFlow(plan, e) },
				idle:  "it was as planned already: nothing was asked for",
			})
		})
	})
}

// beginArkFlow starts an approved plan about an ArkFlow job.
func (a *app) beginArkFlow(sources arkflow.Sources) beginning {
	return func(ctx context.Context, d approvedDocument) (*actions.Run, func(), error) {
		c, err := arkflow.New(arkflow.Config{Sources: sources, Plan: d.plan})
		if err != nil {
			return nil, nil, err
		}
		return a.beginCarrier(ctx, c, d)
	}
}

// verifyArkFlow says from what the hub and the store hold now what has become of a
// plan.
func (a *app) verifyArkFlow(ctx context.Context, plan actions.Document) error {
	return a.withArkFlowSources(ctx, terminalPrompt{}, plan.Target.ID, func(sources arkflow.Sources, job config.Job) error {
		return a.verified(ctx, arkflow.Verify(ctx, sources, plan), plan.Subject(), jobOf(a.selection.Profile.Name, job))
	})
}

// showArkFlow is plan show for a plan about an ArkFlow job. Without a hub it shows
// the plan alone.
func (a *app) showArkFlow(ctx context.Context, file string, plan actions.Document, data []byte) error {
	review := actions.ReviewDocument(data, nil)
	var unread error
	if _, err := a.arkflowJob(); err == nil {
		err := a.withArkFlowSources(ctx, terminalPrompt{}, plan.Target.ID, func(sources arkflow.Sources, _ config.Job) error {
			e, _ := sources.Gather(ctx, actions.ArkFlowPlanOf(plan).Store) // what is missing beside it makes a rule unasked
			unread = e.Err
			review = actions.ReviewDocument(data, func(d actions.Document) actions.DocumentReport { return actions.ArkFlowReport(d, e) })
			return ctx.Err()
		})
		if err != nil {
			return err
		}
	}
	if err := a.printer().result("PlanReview", review, []error{unread}, func(t *table) { renderDocumentReview(t, file, review) }); err != nil {
		return err
	}
	return reviewStatus(review.Valid, review.Drift, unread)
}
