package main

import (
	"context"
	"fmt"
	"io"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/kafka"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/journal"
	"github.com/recoverctl/recoverctl/internal/secret"
)

// applySettings applies a plan of settings, by the same way as a cleanup: report,
// approval, run, verdict, receipt.
func (a *app) applySettings(ctx context.Context, plan actions.Document, ask applyAsk) error {
	if ask.replication != nil {
		return fault.New(fault.Usage, "read flags", "--create-control-topic goes with a cleanup: a plan of settings makes no topic")
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
	e, err := a.settingsEvidence(ctx, "apply", prompt)
	if err != nil {
		return err
	}
	who, err := a.operator(e.Job)
	if err != nil {
		return err
	}
	report := actions.SettingsReport(plan, e)
	switch {
	case report.Refused != nil:
		return a.refuseSettings(plan, e, actions.Refuse(report.Refused.Stage, &report.Refused.Problem))
	case e.DataErr != nil && !e.Data.Exists:
		return a.refuseSettings(plan, e, kafka.At(actions.StageIdentity, e.DataErr))
	}
	// The same lock as a cleanup's: the two must not change one topic at once.
	lock, err := a.lock(plan, e.Data.ClusterID, who)
	if err != nil {
		return err
	}
	if note := abandoned(lock); note != "" {
		fmt.Fprintf(p.talk, "note: %s\n", note)
	}
	err = a.runSettings(ctx, p, approvedSettings{plan: plan, report: report, who: who, job: e.Job, prompt: prompt, step: ask.step})
	if released := lock.Release(); released != nil {
		fmt.Fprintf(a.err, "warning: %s\n", safe(released.Error()))
	}
	return err
}

// questionOf is what is approved with a plan of recoverctl.plan/v1, and under
// which rules.
func (a *app) questionOf(plan actions.Document, report actions.DocumentReport) actions.Question {
	p := a.selection.Profile
	return actions.Question{Plan: plan, Report: report, Environment: p.Environment, Profile: p.Name, Subject: plan.Target.Name}
}

// approvedSettings is a plan of settings that somebody approved.
type approvedSettings struct {
	plan     actions.Document
	report   actions.DocumentReport
	approval actions.Approval
	who      actions.Operator
	job      inspect.Job
	prompt   secret.Prompter
	step     bool // pause before each step
}

// beginSettings starts an approved change of settings, for the command and for
// the console. The caller holds the lock. End closes the run's connections when
// it has ended.
func (a *app) beginSettings(ctx context.Context, s approvedSettings) (run *actions.Run, end func(), err error) {
	change := kafka.NewSettings(kafka.SettingsConfig{
		Connect: kafka.DialSettings(connConfig(a.selection.Profile.Kafka, s.prompt), a.clock), Job: s.job, Plan: s.plan,
	})
	run, err = a.journalled(ctx, actions.RunPlan{
		Plan: s.plan, Report: s.report, Approval: s.approval, Who: s.who, Steps: change.Doers(), Verify: change.Verify, Step: s.step,
	})
	if err != nil {
		change.Close()
		return nil, nil, err
	}
	return run, change.Close, nil
}

// runSettings asks for the approval, carries the plan out and prints what it came
// to.
func (a *app) runSettings(ctx context.Context, p approving, s approvedSettings) (err error) {
	report := s.report
	if s.approval, err = a.approved(ctx, p, a.questionOf(s.plan, report), func(t *table) { renderDocument(t, report) }); err != nil {
		return err
	}
	run, end, err := a.beginSettings(ctx, s)
	if err != nil {
		return err
	}
	defer end()
	result, runErr := a.follow(run, p)
	done := applied{ApplyResult: result, Problem: refusalOf(runErr)}
	if err := a.printer().result("ApplyResult", done, nil, func(t *table) {
		if report.Verdict == actions.Applied {
			t.line("· every setting was as planned already: nothing was sent")
		}
		renderApplied(t, result)
	}); err != nil {
		return err
	}
	return runErr
}

// refuseSettings prints how things are where an apply would be refused, and
// returns the refusal. Nothing was begun.
func (a *app) refuseSettings(plan actions.Document, e actions.SettingsEvidence, refused error) error {
	return a.refuseDocument(plan, actions.JudgeSettings(plan, e.Data, e.DataErr), refused)
}

// refuseDocument prints what has become of a plan where an apply would be refused,
// and returns the refusal.
func (a *app) refuseDocument(plan actions.Document, v actions.OperationVerdict, refused error) error {
	why := refusalOf(refused)
	result := applied{Problem: why, ApplyResult: actions.ApplyResult{
		PlanID: plan.PlanID, Verdict: v.Verdict, Message: v.Message, Stage: why.Stage,
		Steps: []actions.StepResult{}, Partitions: v.Partitions, Facts: v.Facts,
	}}
	if err := a.printer().result("ApplyResult", result, nil, func(t *table) {
		t.line(fmt.Sprintf("✖ not begun: refused at %s. Now %s: %s", why.Stage, v.Verdict, v.Message))
		renderFacts(t, v.Facts)
	}); err != nil {
		return err
	}
	return refused
}

// verifySettings says from what the topic is now what has become of a plan of
// settings.
func (a *app) verifySettings(ctx context.Context, plan actions.Document) error {
	job, err := a.kafkaJob("verify")
	if err != nil {
		return err
	}
	v := kafka.VerifySettings(ctx, kafka.DialSettings(connConfig(a.selection.Profile.Kafka, terminalPrompt{}), a.clock), plan)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	receipt, journalErr := a.verifyReceipt(v, plan.Subject(), job)
	v.Receipt = &receipt
	if err := a.printer().result("OperationVerdict", v, []error{journalErr}, func(t *table) { renderVerdict(t, v) }); err != nil {
		return err
	}
	if kind, bad := v.Verdict.Exit(); bad {
		return exitStatus(kind.Exit())
	}
	return nil
}

// needsFile refuses to look for another plan than a cleanup by its id: it leaves no record
// on the cluster, and "not found" would be no answer about it.
func (a *app) needsFile(id string) error {
	read, err := a.readJournal(journal.Filter{Plan: id})
	if err != nil && len(read.Entries) == 0 {
		return nil // what this machine did is not known, and no reason not to ask the cluster
	}
	for _, e := range read.Entries {
		if e.Kind == actions.KindTopicSettings || actions.FlinkKind(e.Kind) || actions.ProducerKind(e.Kind) || actions.ArkFlowKind(e.Kind) {
			return fault.New(fault.Usage, "verify", "plan %s is of the kind %s, and leaves no record that could be found by its id", shortID(e.PlanID), safe(e.Kind)).
				WithHint("give the plan's file")
		}
	}
	return nil
}
