package main

import (
	"context"
	"fmt"
	"io"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/fluss"
	"github.com/recoverctl/recoverctl/internal/fault"
)

// applyProducer applies a plan about a producer, by the same way as a cleanup:
// report, approval, run, verdict, receipt.
func (a *app) applyProducer(ctx context.Context, plan actions.Document, ask applyAsk) error {
	if ask.replication != nil {
		return fault.New(fault.Usage, "read flags", "--create-control-topic goes with a cleanup: a plan about a producer makes no topic")
	}
	prompt, err := a.askFirst(ctx)
	if err != nil {
		return err
	}
	p := approving{ask: ask, talk: a.err}
	if a.wantsJSON() && !a.errTTY {
		p.talk = io.Discard // a program reads standard error: it holds nothing but the error
	}
	if p.person, err = a.openPerson(ask); err != nil {
		return err
	}
	defer p.person.close()
	return a.withProducers("apply", prompt, func(sources fluss.Sources) error {
		who, err := a.operator(sources.Job)
		if err != nil {
			return err
		}
		e := sources.Gather(ctx, plan)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case e.Err != nil:
			return e.Err
		}
		report := actions.ProducerReport(plan, e)
		if report.Refused != nil {
			return a.refuseDocument(plan, actions.JudgeProducer(plan, e), actions.Refuse(report.Refused.Stage, &report.Refused.Problem))
		}
		lock, err := a.lock(plan, plan.Target.Cluster, who)
		if err != nil {
			return err
		}
		if note := abandoned(lock); note != "" {
			fmt.Fprintf(p.talk, "note: %s\n", note)
		}
		err = a.runProducer(ctx, p, approvedProducer{plan: plan, report: report, who: who, sources: sources, step: ask.step})
		if released := lock.Release(); released != nil {
			fmt.Fprintf(a.err, "warning: %s\n", safe(released.Error()))
		}
		return err
	})
}

// approvedProducer is a plan about a producer that somebody approved.
type approvedProducer struct {
	plan     actions.Document
	report   actions.DocumentReport
	approval actions.Approval
	who      actions.Operator
	sources  fluss.Sources
	step     bool // pause before each step
}

// beginProducer starts an approved plan, for the command and for the console. The
// caller holds the lock.
func (a *app) beginProducer(ctx context.Context, s approvedProducer) (*actions.Run, error) {
	change := fluss.New(fluss.Config{Sources: s.sources, Plan: s.plan, Approved: s.report})
	return a.journalled(ctx, actions.RunPlan{
		Plan: s.plan, Report: s.report, Approval: s.approval, Who: s.who, Steps: change.Doers(), Verify: change.Verify, Step: s.step,
	})
}

// runProducer asks for the approval, carries the plan out and prints what it came
// to.
func (a *app) runProducer(ctx context.Context, p approving, s approvedProducer) (err error) {
	report := s.report
	if s.approval, err = a.approved(ctx, p, a.questionOf(s.plan, report), func(t *table) { renderDocument(t, report) }); err != nil {
		return err
	}
	run, err := a.beginProducer(ctx, s)
	if err != nil {
		return err
	}
	result, runErr := a.follow(run, p)
	done := applied{ApplyResult: result, Problem: refusalOf(runErr)}
	if err := a.printer().result("ApplyResult", done, nil, func(t *table) {
		if report.Verdict == actions.Applied {
			t.line("· it was as planned already: nothing was sent")
		}
		renderApplied(t, result)
	}); err != nil {
		return err
	}
	return runErr
}

// verifyProducer says from the entry as it is now what has become of a plan.
func (a *app) verifyProducer(ctx context.Context, plan actions.Document) error {
	return a.withProducers("verify", terminalPrompt{}, func(sources fluss.Sources) error {
		v := fluss.Verify(ctx, sources, plan)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		receipt, journalErr := a.verifyReceipt(v, plan.Subject(), sources.Job)
		v.Receipt = &receipt
		if err := a.printer().result("OperationVerdict", v, []error{journalErr}, func(t *table) { renderVerdict(t, v) }); err != nil {
			return err
		}
		if kind, bad := v.Verdict.Exit(); bad {
			return exitStatus(kind.Exit())
		}
		return nil
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
