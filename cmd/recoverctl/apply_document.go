package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/views/apply"
	"github.com/recoverctl/recoverctl/views/document"
)

// approvedDocument is a plan of recoverctl.plan/v1 that somebody approved.
type approvedDocument struct {
	plan     actions.Document
	report   actions.DocumentReport
	approval actions.Approval
	who      actions.Operator
	step     bool // pause before each step
}

// run is the run of the plan with these steps and this judge of the end.
func (d approvedDocument) run(steps []actions.Doer, verify func(context.Context) actions.OperationVerdict) actions.RunPlan {
	return actions.RunPlan{Plan: d.plan, Report: d.report, Approval: d.approval, Who: d.who, Steps: steps, Verify: verify, Step: d.step}
}

// beginning starts an approved plan. Its caller holds the lock. End closes the run's
// connections when it has ended.
type beginning func(ctx context.Context, d approvedDocument) (run *actions.Run, end func(), err error)

// carrier is what carries out a plan.
type carrier interface {
	Doers() []actions.Doer
	Verify(context.Context) actions.OperationVerdict
	Close()
}

// beginCarrier starts an approved plan with what carries it out.
func (a *app) beginCarrier(ctx context.Context, c carrier, d approvedDocument) (run *actions.Run, end func(), err error) {
	run, err = a.journalled(ctx, d.run(c.Doers(), c.Verify))
	if err != nil {
		c.Close()
		return nil, nil, err
	}
	return run, c.Close, nil
}

// standing is how a plan stands, as things are now.
type standing struct {
	job     inspect.Job
	cluster string // with the target's name, what the lock is about
	report  actions.DocumentReport
	refused error                           // why an apply would not begin; nil: the report says it
	judge   func() actions.OperationVerdict // what has become of the plan
	begin   beginning
	idle    string // what is said where there was nothing left to do
}

// looking reads how a plan stands, and gives that to proceed while what it was read
// from is open. An error says that nothing could be said.
type looking func(ctx context.Context, prompt secret.Prompter, proceed func(standing) error) error

// applyDocument applies a plan of recoverctl.plan/v1, by the same way as a cleanup:
// report, approval, run, verdict, receipt. About is as in "of settings".
func (a *app) applyDocument(ctx context.Context, plan actions.Document, about string, ask applyAsk, look looking) error {
	if ask.replication != nil {
		return fault.New(fault.Usage, "read flags", "--create-control-topic goes with a cleanup: a plan %s makes no topic", about)
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
	return look(ctx, prompt, func(s standing) error {
		who, err := a.operator(s.job)
		if err != nil {
			return err
		}
		if refused := s.report.Refused; refused != nil {
			s.refused = actions.Refuse(refused.Stage, &refused.Problem)
		}
		if s.refused != nil {
			return a.refuseDocument(plan, s.judge(), s.refused)
		}
		lock, err := a.lock(plan, s.cluster, who)
		if err != nil {
			return err
		}
		if note := abandoned(lock); note != "" {
			fmt.Fprintf(p.talk, "note: %s\n", note)
		}
		err = a.runDocument(ctx, p, s, approvedDocument{plan: plan, report: s.report, who: who, step: ask.step})
		if released := lock.Release(); released != nil {
			fmt.Fprintf(a.err, "warning: %s\n", safe(released.Error()))
		}
		return err
	})
}

// runDocument asks for the approval, carries the plan out and prints what it came
// to.
func (a *app) runDocument(ctx context.Context, p approving, s standing, d approvedDocument) (err error) {
	if d.approval, err = a.approved(ctx, p, a.questionOf(d.plan, d.report), func(t *table) { renderDocument(t, d.report) }); err != nil {
		return err
	}
	run, end, err := s.begin(ctx, d)
	if err != nil {
		return err
	}
	defer end()
	result, runErr := a.follow(run, p)
	done := applied{ApplyResult: result, Problem: refusalOf(runErr)}
	if err := a.printer().result("ApplyResult", done, nil, func(t *table) {
		if d.report.Verdict == actions.Applied {
			t.line("· " + s.idle)
		}
		renderApplied(t, result)
	}); err != nil {
		return err
	}
	return runErr
}

// questionOf is what is approved with a plan of recoverctl.plan/v1, and under
// which rules.
func (a *app) questionOf(plan actions.Document, report actions.DocumentReport) actions.Question {
	p := a.selection.Profile
	return actions.Question{Plan: plan, Report: report, Environment: p.Environment, Profile: p.Name, Subject: plan.Target.Name}
}

// refuseDocument prints what has become of a plan where an apply would be refused,
// and returns the refusal. Nothing was begun.
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

// verified prints what has become of a plan, with its receipt, and is the exit
// status of that.
func (a *app) verified(ctx context.Context, v actions.OperationVerdict, about inspect.PlanSubject, job inspect.Job, faults ...error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	receipt, err := a.verifyReceipt(v, about, job)
	v.Receipt = &receipt
	if err := a.printer().result("OperationVerdict", v, append(faults, err), func(t *table) { renderVerdict(t, v) }); err != nil {
		return err
	}
	if kind, bad := v.Verdict.Exit(); bad {
		return exitStatus(kind.Exit())
	}
	return nil
}

// consoleDocuments is what the console does with every plan of recoverctl.plan/v1
// that was made, as the commands do it.
type consoleDocuments struct {
	app     *app
	applies *apply.Current
}

// made adds to a plan that was judged the file that it can be written to, the
// command that applies that, and who else works on the target. Prefix is of the
// file's name. The error joins faults with what went wrong here.
func (c consoleDocuments) made(made document.Made, prefix string, job inspect.Job, faults ...error) (document.Made, error) {
	folder, err := os.Getwd()
	if err != nil {
		return document.Made{}, fault.Wrap(fault.NotFound, "make a plan", err, "the folder that the console was started in is gone, and the plan's file would be written there").
			WithHint("start the console again in a folder that exists")
	}
	made.File = filepath.Join(folder, prefix+"-"+shortID(made.Plan.PlanID)+".json")
	made.Apply = c.app.shownApply(job, c.app.nextOfDocument(made.File, made.Report.Warnings), made.Report.Warnings)
	var released error
	made.Held, made.CutOff, released = c.app.heldBy(made.Plan, made.Cluster, job)
	return made, errors.Join(append(faults, released)...)
}

// Write implements document.Handler.
func (consoleDocuments) Write(ctx context.Context, made document.Made) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return notOverwritten(made.File, actions.WriteDocument(made.File, made.Plan))
}

// notOverwritten says of the error of writing a plan what an existing file means.
func notOverwritten(file string, err error) error {
	if errors.Is(err, fs.ErrExist) {
		return fault.Wrap(fault.Denied, "write the plan", err, "%s exists already and is not overwritten", safe(file)).WithRef("file " + safe(file))
	}
	return err
}

// Question implements document.Handler.
func (c consoleDocuments) Question(made document.Made) actions.Question {
	return c.app.questionOf(made.Plan, made.Report)
}

// Busy implements document.Handler.
func (c consoleDocuments) Busy() string { return c.applies.Busy() }

// start applies what was approved. What names its kind in the job strip.
func (c consoleDocuments) start(job inspect.Job, made document.Made, answer apply.Answer, what string, begin beginning) (*apply.Running, error) {
	name := what + " " + shortID(made.Plan.PlanID)
	if err := c.applies.Reserve(name); err != nil {
		return nil, err
	}
	begun := false
	defer func() {
		if !begun { // also where a defect stopped it
			c.applies.Forget()
		}
	}()
	running, err := c.app.startFromConsole(c.applies, job, c.Question(made), made.Cluster, name, answer, func(approval actions.Approval, who actions.Operator) (*actions.Run, func(), error) {
		// The run outlives every screen, and ends by itself or by Stop alone.
		return begin(context.Background(), approvedDocument{plan: made.Plan, report: made.Report, approval: approval, who: who, step: answer.Step})
	})
	begun = err == nil
	return running, err
}
