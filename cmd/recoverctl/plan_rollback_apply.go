package main

import (
	"context"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/flink"
	"github.com/recoverctl/recoverctl/internal/secret"
)

// applyFlink applies a plan about a Flink job.
func (a *app) applyFlink(ctx context.Context, plan actions.Document, ask applyAsk) error {
	return a.applyDocument(ctx, plan, "about a Flink job", ask, func(ctx context.Context, prompt secret.Prompter, proceed func(standing) error) error {
		return a.withFlinkSources(ctx, "apply", prompt, func(sources flink.Sources) error {
			e, _ := sources.Gather(ctx, plan) // what is missing beside it makes a fact unread
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case e.Err != nil:
				return e.Err
			}
			return proceed(standing{
				job: sources.Job, cluster: plan.Target.Cluster, report: actions.FlinkReport(plan, e), begin: a.beginFlink(sources),
				judge: func() actions.OperationVerdict { return actions.JudgeFlink(plan, e) },
				idle:  "it was as planned already: nothing was asked for",
			})
		})
	})
}

// beginFlink starts an approved plan about a Flink job, for the command and for the
// console.
func (a *app) beginFlink(sources flink.Sources) beginning {
	return func(ctx context.Context, d approvedDocument) (*actions.Run, func(), error) {
		c, err := flink.New(flink.Config{Sources: sources, Plan: d.plan})
		if err != nil {
			return nil, nil, err
		}
		return a.beginCarrier(ctx, c, d)
	}
}

// verifyFlink says from what Flink knows now what has become of a plan.
func (a *app) verifyFlink(ctx context.Context, plan actions.Document) error {
	return a.withFlinkSources(ctx, "verify", terminalPrompt{}, func(sources flink.Sources) error {
		return a.verified(ctx, flink.Verify(ctx, sources, plan), plan.Subject(), sources.Job)
	})
}

// flinkReview is the JSON form of plan show for a plan about a Flink job.
type flinkReview struct {
	actions.DocumentReview
	Handoff *actions.Handoff `json:"handoff"` // null: not asked for, or nothing was read
}

// showFlink is plan show for a plan about a Flink job. Without a JobManager it
// shows the plan alone.
func (a *app) showFlink(ctx context.Context, file string, data []byte, handoff bool) error {
	review := flinkReview{DocumentReview: actions.ReviewDocument(data, nil)}
	var faults []error
	var unread error
	if job, err := a.job(); err == nil && job.Flink.REST != "" {
		err := a.withFlinkSources(ctx, "plan show", terminalPrompt{}, func(sources flink.Sources) error {
			plan, _ := actions.ParseDocument(data) // it is valid
			var e actions.FlinkEvidence
			if e, faults = sources.Gather(ctx, plan); ctx.Err() != nil {
				return ctx.Err()
			}
			unread = e.Err
			review.DocumentReview = actions.ReviewDocument(data, func(d actions.Document) actions.DocumentReport { return actions.FlinkReport(d, e) })
			if handoff {
				made := flink.HandoffOf(plan, e)
				review.Handoff = &made
			}
			return nil
		})
		if err != nil {
			return err
		}
	} else if handoff {
		_, err := a.flinkJobOf("plan show")
		return err
	}
	if unread != nil {
		faults = append(faults, unread)
	}
	if err := a.printer().result("PlanReview", review, faults, func(t *table) {
		renderDocumentReview(t, file, review.DocumentReview)
		if review.Handoff != nil {
			t.line("")
			renderHandoff(t, *review.Handoff)
		}
	}); err != nil {
		return err
	}
	return reviewStatus(review.Valid, review.Drift, unread)
}
