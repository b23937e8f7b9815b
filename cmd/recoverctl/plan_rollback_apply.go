package main

import (
	"context"
	"fmt"
	"io"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/flink"
	"github.com/recoverctl/recoverctl/internal/fault"
)

// applyFlink applies a plan about a Flink job, by the same way as a cleanup:
// report, approval, run, verdict, receipt.
func (a *app) applyFlink(ctx context.Context, plan actions.Document, ask applyAsk) error {
	if ask.replication != nil {
		return fault.New(fault.Usage, "read flags", "--create-control-topic goes with a cleanup: a plan about a Flink job makes no topic")
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
	return a.withFlinkSources(ctx, "apply", prompt, func(sources flink.Sources) error {
		who, err := a.operator(sources.Job)
		if err != nil {
			return err
		}
		e, _ := sources.Gather(ctx, plan) // what is missing beside it makes a fact unread
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case e.Err != nil:
			return e.Err
		}
		report := actions.FlinkReport(plan, e)
		if report.Refused != nil {
			return a.refuseFlink(plan, e, actions.Refuse(report.Refused.Stage, &report.Refused.Problem))
		}
		lock, err := a.lock(plan, plan.Target.Cluster, who)
		if err != nil {
			return err
		}
		if note := abandoned(lock); note != "" {
			fmt.Fprintf(p.talk, "note: %s\n", note)
		}
		err = a.runFlink(ctx, p, approvedFlink{plan: plan, report: report, who: who, sources: sources, step: ask.step})
		if released := lock.Release(); released != nil {
			fmt.Fprintf(a.err, "warning: %s\n", safe(released.Error()))
		}
		return err
	})
}

// approvedFlink is a plan about a Flink job that somebody approved.
type approvedFlink struct {
	plan     actions.Document
	report   actions.DocumentReport
	approval actions.Approval
	who      actions.Operator
	sources  flink.Sources
	step     bool // pause before each step
}

// beginFlink starts an approved plan, for the command and for the console. The
// caller holds the lock. End closes the run's connections when it has ended.
func (a *app) beginFlink(ctx context.Context, s approvedFlink) (run *actions.Run, end func(), err error) {
	change, err := flink.New(flink.Config{Sources: s.sources, Plan: s.plan})
	if err != nil {
		return nil, nil, err
	}
	run, err = a.journalled(ctx, actions.RunPlan{
		Plan: s.plan, Report: s.report, Approval: s.approval, Who: s.who, Steps: change.Doers(), Verify: change.Verify, Step: s.step,
	})
	if err != nil {
		change.Close()
		return nil, nil, err
	}
	return run, change.Close, nil
}

// runFlink asks for the approval, carries the plan out and prints what it came to.
func (a *app) runFlink(ctx context.Context, p approving, s approvedFlink) (err error) {
	report := s.report
	if s.approval, err = a.approved(ctx, p, a.questionOf(s.plan, report), func(t *table) { renderDocument(t, report) }); err != nil {
		return err
	}
	run, end, err := a.beginFlink(ctx, s)
	if err != nil {
		return err
	}
	defer end()
	result, runErr := a.follow(run, p)
	done := applied{ApplyResult: result, Problem: refusalOf(runErr)}
	if err := a.printer().result("ApplyResult", done, nil, func(t *table) {
		if report.Verdict == actions.Applied {
			t.line("· it was as planned already: nothing was asked for")
		}
		renderApplied(t, result)
	}); err != nil {
		return err
	}
	return runErr
}

// refuseFlink prints how things are where an apply would be refused, and returns
// the refusal. Nothing was begun.
func (a *app) refuseFlink(plan actions.Document, e actions.FlinkEvidence, refused error) error {
	return a.refuseDocument(plan, actions.JudgeFlink(plan, e), refused)
}

// verifyFlink says from what Flink knows now what has become of a plan.
func (a *app) verifyFlink(ctx context.Context, plan actions.Document) error {
	return a.withFlinkSources(ctx, "verify", terminalPrompt{}, func(sources flink.Sources) error {
		v := flink.Verify(ctx, sources, plan)
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
