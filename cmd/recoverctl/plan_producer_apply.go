package main

import (
	"context"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/fluss"
	"github.com/recoverctl/recoverctl/internal/secret"
)

// applyProducer applies a plan about a producer.
func (a *app) applyProducer(ctx context.Context, plan actions.Document, ask applyAsk) error {
	return a.applyDocument(ctx, plan, "about a producer", ask, func(ctx context.Context, prompt secret.Prompter, proceed func(standing) error) error {
		return a.withProducers("apply", prompt, func(sources fluss.Sources) error {
			e := sources.Gather(ctx, plan)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case e.Err != nil:
				return e.Err
			}
			return proceed(standing{
				job: sources.Job, cluster: plan.Target.Cluster, report: actions.ProducerReport(plan, e), begin: a.beginProducer(sources),
				judge: func() actions.OperationVerdict { return actions.JudgeProducer(plan, e) },
				idle:  "it was as planned already: nothing was sent",
			})
		})
	})
}

// beginProducer starts an approved plan about a producer, for the command and for
// the console. Its connections are those of each step.
func (a *app) beginProducer(sources fluss.Sources) beginning {
	return func(ctx context.Context, d approvedDocument) (*actions.Run, func(), error) {
		c := fluss.New(fluss.Config{Sources: sources, Plan: d.plan, Approved: d.report})
		run, err := a.journalled(ctx, d.run(c.Doers(), c.Verify))
		return run, func() {}, err
	}
}

// verifyProducer says from the entry as it is now what has become of a plan.
func (a *app) verifyProducer(ctx context.Context, plan actions.Document) error {
	return a.withProducers("verify", terminalPrompt{}, func(sources fluss.Sources) error {
		return a.verified(ctx, fluss.Verify(ctx, sources, plan), plan.Subject(), sources.Job)
	})
}

// showProducer is plan show for a plan about a producer. Without a cluster it shows
// the plan alone.
func (a *app) showProducer(ctx context.Context, file string, plan actions.Document, data []byte) error {
	review := actions.ReviewDocument(data, nil)
	var faults []error
	var unread error
	if j, err := a.selection.RequireJob(); err == nil && len(j.Fluss.Servers) > 0 {
		e := a.producerSources(j, terminalPrompt{}).Gather(ctx, plan)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		unread = e.Err
		faults = []error{e.EntryErr, e.SupposedErr}
		review = actions.ReviewDocument(data, func(d actions.Document) actions.DocumentReport { return actions.ProducerReport(d, e) })
	}
	if err := a.printer().result("PlanReview", review, append(faults, unread), func(t *table) { renderDocumentReview(t, file, review) }); err != nil {
		return err
	}
	return reviewStatus(review.Valid, review.Drift, unread)
}
