package main

import (
	"context"
	"slices"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/fluss"
	"github.com/recoverctl/recoverctl/internal/secret"
)

// applyProducer applies a plan about a producer.
func (a *app) applyProducer(ctx context.Context, plan actions.Document, ask applyAsk) error {
	return a.applyDocument(ctx, plan, "about a producer", ask, func(ctx context.Context, prompt secret.Prompter, proceed func(standing) error) error {
		return a.withProducers("apply", prompt, func(sources fluss.Sources) error {
			e := a.withProducerJournal(sources.Gather(ctx, plan), plan)
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
// the console. Its connections are those of each step. Its caller holds the lock: where
// another apply of this machine has called for the producer since the report was made,
// that was not approved with it, and nothing is begun.
func (a *app) beginProducer(sources fluss.Sources) beginning {
	return func(ctx context.Context, d approvedDocument) (*actions.Run, func(), error) {
		now := a.withProducerJournal(actions.FlussEvidence{}, d.plan).Unsettled // that it can't be read is a warning of the report
		if !slices.EqualFunc(now, d.report.Open, actions.OpenRequest.Same) {
			return nil, nil, actions.Refusef(actions.StageEntry, actions.RequestUnsettled, "another apply called for %s while this one was being approved, and what became of that is not known", safe(d.plan.Target.Name))
		}
		c := fluss.New(fluss.Config{Sources: sources, Plan: d.plan, Approved: d.report})
		run, err := a.journalled(ctx, d.run(c.Doers(), c.Verify))
		return run, func() {}, err
	}
}

// withProducerJournal adds to evidence what this machine's journal leaves open of calls
// for a plan's producer.
func (a *app) withProducerJournal(e actions.FlussEvidence, plan actions.Document) actions.FlussEvidence {
	lines, err := a.journalLines()
	e.Unsettled, e.JournalErr = actions.OpenRequestsOf(lines, plan.Target, a.selection.Profile.Name, nil), err
	return e
}

// verifyProducer says from the entry as it is now what has become of a plan.
func (a *app) verifyProducer(ctx context.Context, plan actions.Document) error {
	return a.withProducers("verify", terminalPrompt{}, func(sources fluss.Sources) error {
		sources.Live = nil // what runs decides nothing here
		e := a.withProducerJournal(sources.Gather(ctx, plan), plan)
		return a.verified(ctx, actions.JudgeProducer(plan, e), plan.Subject(), sources.Job, e.JournalErr)
	})
}

// showProducer is plan show for a plan about a producer. Without a cluster it shows
// the plan alone.
func (a *app) showProducer(ctx context.Context, file string, plan actions.Document, data []byte) error {
	review := actions.ReviewDocument(data, nil)
	var faults []error
	var unread error
	if j, err := a.selection.RequireJob(); err == nil && len(j.Fluss.Servers) > 0 {
		e := a.withProducerJournal(a.producerSources(j, terminalPrompt{}).Gather(ctx, plan), plan)
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
