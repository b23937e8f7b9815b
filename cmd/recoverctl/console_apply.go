package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/kafka"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/access"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/views/apply"
	"github.com/recoverctl/recoverctl/views/plan"
)

// What the console's Plan screen needs to apply plans: the command's own code, in
// a run that belongs to the process.

// Prepare implements plan.Source.
func (c consolePlans) Prepare(ctx context.Context, job inspect.Job, of inspect.CleanupPlan, shown *actions.Report) (plan.Made, error) {
	made, err := c.Review(ctx, job, of, shown)
	if made.Plan.PlanID == "" {
		return made, err
	}
	// Whoever applies something now is told before anybody types a phrase.
	var released error
	made.Held, made.CutOff, released = c.app.heldBy(made.Plan, made.Cluster, job)
	return made, errors.Join(err, released)
}

// Question implements plan.Source.
func (c consolePlans) Question(made plan.Made) actions.Question {
	p := c.app.selection.Profile
	return actions.Question{Plan: made.Plan, Report: made.Report, Environment: p.Environment, Profile: p.Name, Subject: made.Plan.Topic}
}

// Busy implements plan.Source.
func (c consolePlans) Busy() string { return c.applies.Busy() }

// Start implements plan.Source.
func (c consolePlans) Start(_ context.Context, job inspect.Job, made plan.Made, answer apply.Answer) (*apply.Running, error) {
	name := "cleanup " + shortID(made.Plan.PlanID)
	if err := c.applies.Reserve(name); err != nil {
		return nil, err
	}
	begun := false
	defer func() {
		if !begun { // also where a defect stopped it
			c.applies.Forget()
		}
	}()
	running, err := c.start(job, made, answer, name)
	begun = err == nil
	return running, err
}

func (c consolePlans) start(job inspect.Job, made plan.Made, answer apply.Answer, name string) (*apply.Running, error) {
	var replication *int
	if text, given := answer.Extras[plan.CreateControl]; given {
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, fault.Wrap(fault.Usage, "approve", err, "%s is no number of replicas", safe(text))
		}
		replication = &n
	}
	return c.app.startFromConsole(c.applies, job, c.Question(made), made.Cluster, name, answer, func(approval actions.Approval, who actions.Operator) (*actions.Run, func(), error) {
		// The run outlives every screen, and ends by itself or by Stop alone.
		return c.app.begin(context.Background(), approvedCleanup{
			plan: made.Plan, report: made.Report, approval: approval, who: who, prompt: c.prompt,
			sources: c.systems.evidence(job, c.app.clock, replication), step: answer.Step,
		})
	})
}

// startFromConsole starts a plan of any kind that was approved in the console, and
// hands the run to it. Begin starts the run once everything else allows it.
func (a *app) startFromConsole(applies *apply.Current, job inspect.Job, q actions.Question, cluster, name string, answer apply.Answer,
	begin func(actions.Approval, actions.Operator) (*actions.Run, func(), error)) (*apply.Running, error) {
	profile := a.selection.Profile
	const armed = true // what --access operate is for a command; the dialog says no where it is not
	if err := access.MayWrite(profile.Access, profile.Environment, armed); err != nil {
		return nil, err
	}
	if !answer.Consent.Given() {
		return nil, fault.New(fault.Denied, "approve", "nobody approved the plan")
	}
	who, err := a.operator(job)
	if err != nil {
		return nil, err
	}
	approval, _, err := actions.Ask(q, actions.Answer{
		Phrase: answer.Consent.Phrase(), Reason: answer.Consent.Reason(), Accept: answer.Accepted, At: a.clock.Now(),
	})
	if err != nil {
		return nil, err
	}
	lock, err := a.lock(q.Plan, cluster, who)
	if err != nil {
		return nil, err
	}
	run, end, err := begin(approval, who)
	if err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	var leave leaving
	giveBack := a.signals.take(func(sig os.Signal) { leave.signal(run, sig) })
	return applies.Follow(run, name, answer.Step, func() error {
		end()
		giveBack()
		err := lock.Release()
		leave.ended(a.signals)
		return err
	}), nil
}

// heldBy says who applies something to the same topic now, and whose apply was cut
// off before. The lock is taken again when a plan is applied.
func (a *app) heldBy(plan actions.Plan, cluster string, job inspect.Job) (held error, cutOff string, err error) {
	who, err := a.operator(job)
	if err != nil {
		return err, "", nil
	}
	lock, held := a.lock(plan, cluster, who)
	if held != nil {
		return held, "", nil
	}
	return nil, abandoned(lock), lock.Release()
}

// stopper is a run as signals have it. *actions.Run is one.
type stopper interface {
	Interrupt() actions.Interruption
	Stop()
}

// leaving is how the signals of the process end a console in which a plan is
// applied: the apply stops where it is safe, and then the console ends.
type leaving struct {
	mu   sync.Mutex
	why  os.Signal // that the process is to end; nil: nobody said so
	over *signals  // whose the signals are again; nil: the apply goes on
}

func (l *leaving) signal(run stopper, sig os.Signal) {
	switch sig {
	case syscall.SIGTSTP: // ctrl-z is a key here, and off
	case os.Interrupt:
		run.Interrupt()
	default:
		l.mu.Lock()
		l.why = sig
		over := l.over
		l.mu.Unlock()
		run.Stop()
		if over != nil { // it was on its way when the apply ended
			over.deliver(sig)
		}
	}
}

// ended ends the process where a signal asked for it meanwhile.
func (l *leaving) ended(s *signals) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = s
	if l.why != nil && s != nil {
		s.deliver(l.why)
	}
}

// Verify implements plan.Source.
func (c consolePlans) Verify(ctx context.Context, job inspect.Job, of inspect.CleanupPlan) (actions.OperationVerdict, error) {
	v := kafka.Verify(ctx, kafka.Dial(connConfig(c.app.selection.Profile.Kafka, c.prompt), c.app.clock), job, of)
	if ctx.Err() != nil {
		return v, ctx.Err()
	}
	receipt, err := c.app.verifyReceipt(v, of.Subject(), job)
	v.Receipt = &receipt
	return v, err
}

// waitForApply waits, when the console has ended, for an apply that goes on or is just
// being started: it stops where it is safe. What nobody was shown is told on standard error.
func (a *app) waitForApply(current *apply.Current) error {
	r := current.Last()
	if r == nil {
		return nil
	}
	if !r.Ended() {
		r.Stop()
		fmt.Fprintf(a.err, "%s is stopping at the next safe place: what is being written is waited for\n", r.Name())
	}
	result, err := r.Wait()
	if r.Seen() {
		return nil
	}
	fmt.Fprintf(a.err, "%s has ended: %s: %s\n", r.Name(), result.Verdict, safe(result.Message))
	if result.Receipt != nil {
		fmt.Fprintf(a.err, "%s\n", result.Receipt.Text())
	}
	return err
}
