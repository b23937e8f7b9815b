package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/flink"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/secret"
)

// flinkExit are the exit codes of making a plan about a Flink job.
const flinkExit = `Exit codes: 0 the plan is written; 1 the job's state or the recovery point forbids
it; 2 several jobs are meant; 3 no JobManager is configured; 4 it could not be
reached; 5 the file exists already; 6 there is no such job, jar or point; 10 what
answers there is no Flink.`

func newPlanSavepoint(a *app) *cobra.Command {
	return a.planOfJob(actions.KindSavepoint, "savepoint", "Make a plan that takes a savepoint of a running job", `Writes a plan to a new file: an existing one is never overwritten. Nothing is
changed before the plan is applied with recoverctl apply. The plan holds the id
of the savepoint's trigger, so that what became of it can be asked whatever
happens to the answer, and is never taken twice.

Of a job of ArkFlow it makes the plan of plan arkflow savepoint.

`+flinkExit)
}

func newPlanStop(a *app) *cobra.Command {
	return a.planOfJob(actions.KindStop, "stop", "Make a plan that stops a running job with a savepoint", `Writes a plan to a new file: an existing one is never overwritten. Nothing is
changed before the plan is applied with recoverctl apply. A job that is stopped
finishes, and deletes its own checkpoints, whatever their retention: what stays is
the savepoint. Should that fail, the job runs on.

`+flinkExit)
}

func newPlanCancel(a *app) *cobra.Command {
	return a.planOfJob(actions.KindCancel, "cancel", "Make a plan that ends a job without a savepoint", `Writes a plan to a new file: an existing one is never overwritten. Nothing is
changed before the plan is applied with recoverctl apply. The plan's report says
whether the job keeps its last checkpoints when it is cancelled.

`+flinkExit)
}

// planOfJob is the command of a plan that needs nothing but the job.
func (a *app) planOfJob(kind, use, short, long string) *cobra.Command {
	var ask flinkAsk
	cmd := &cobra.Command{
		Use: use, Short: short, Args: noArgs, Long: long,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := ask.check(); err != nil {
				return err
			}
			if err := a.load(); err != nil {
				return err
			}
			if is, err := a.arkflowInstead(cmd, use, ask.out); is {
				return err
			}
			return a.planFlink(cmd.Context(), kind, ask)
		},
	}
	cmd.Flags().StringVar(&ask.out, "out", "", "write the plan to this new `FILE`")
	if kind != actions.KindCancel {
		ask.registerDirectory(cmd)
	}
	return cmd
}

// flinkAsk is what a plan about a Flink job was asked for.
type flinkAsk struct {
	actions.FlinkAsk
	out     string
	handoff bool
}

func (ask *flinkAsk) registerDirectory(cmd *cobra.Command) {
	cmd.Flags().StringVar(&ask.Directory, "savepoint-dir", "", "make the savepoint in the folder at this `URI`; without it, where the job's or the cluster's options say")
}

// check judges the flags by themselves.
func (ask flinkAsk) check() error {
	if ask.out == "" && !ask.handoff || ask.out == "-" {
		return fault.New(fault.Usage, "read flags", "a plan is written to a file").WithHint("name a new one with --out FILE")
	}
	return nil
}

func newPlanRollback(a *app) *cobra.Command {
	var ask flinkAsk
	cmd := &cobra.Command{
		Use: "rollback", Short: "Make a plan that ends a Flink job and starts it again from a recovery point", Args: noArgs,
		Long: `Judges the recovery point as validate restore does, looks at the job and at the
uploaded jars, and writes a plan to a new file: an existing one is never
overwritten. Nothing is changed before the plan is applied with recoverctl apply,
which asks everything once more, takes a safety savepoint, ends the job, runs the
jar from the point, and looks until the first checkpoint after the restore is
complete. Each step says its own way back.

A job is stopped with its safety savepoint where the point outlives that. A job
that finishes deletes its own checkpoints: rolled back to one of those, it takes
its savepoint first and is cancelled then, and where it does not keep its
checkpoints no plan is made. --no-savepoint takes none: the job is cancelled.

Flink does not say from which jar and with which arguments a job was started: they
are given here, or as flink.jar, flink.entry-class and flink.arguments of the job
in the profile. The one uploaded jar is taken where there is only one. The plan
holds the id of the new job: Flink refuses a second one of that id, so that the
job can't be started twice.

--handoff prints what was checked, and the commands of Flink's own program, of
curl, and of the Flink Kubernetes operator, for somebody else to carry out; without
a JobManager to ask, with words to fill in for what only that knows.

Of a job of ArkFlow it makes the plan of plan arkflow rollback.

` + flinkExit,
		RunE: func(cmd *cobra.Command, _ []string) error {
			unloaded := a.load()
			if unloaded == nil {
				if is, err := a.arkflowInstead(cmd, "rollback", ask.out); is {
					return err
				}
			}
			if ask.Point == "" {
				return fault.New(fault.Usage, "read flags", "to where the job is rolled back is not said").WithHint("name the recovery point with --point URI")
			}
			if ask.Parallelism < 0 {
				return fault.New(fault.Usage, "read flags", "--parallelism %d: a number from 1 on", ask.Parallelism)
			}
			if err := ask.check(); err != nil {
				return err
			}
			if unloaded != nil {
				return unloaded
			}
			return a.planFlink(cmd.Context(), actions.KindRollback, ask)
		},
	}
	cmd.Flags().StringVar(&ask.Point, "point", "", "restore from the recovery point at this `URI`")
	cmd.Flags().StringVar(&ask.out, "out", "", "write the plan to this new `FILE`")
	cmd.Flags().StringVar(&ask.Jar, "jar", "", "run the uploaded jar with this `ID` or name")
	cmd.Flags().StringVar(&ask.EntryClass, "entry-class", "", "run this main `CLASS`; without it, the one of the jar's manifest")
	cmd.Flags().StringArrayVar(&ask.Arguments, "arg", nil, "give the program this `ARGUMENT` (repeatable, in order)")
	cmd.Flags().IntVar(&ask.Parallelism, "parallelism", 0, "run it with this `NUMBER` of parallel subtasks; without it, with as many as the job has")
	cmd.Flags().BoolVar(&ask.AllowLeft, "allow-non-restored-state", false, "leave out state that no operator of the new job claims")
	cmd.Flags().BoolVar(&ask.NoSavepoint, "no-savepoint", false, "take no safety savepoint")
	cmd.Flags().BoolVar(&ask.handoff, "handoff", false, "print the commands for somebody who carries it out without this program")
	ask.registerDirectory(cmd)
	return cmd
}

// flinkJobOf is the chosen job where a JobManager is configured.
func (a *app) flinkJobOf(op string) (inspect.Job, error) {
	job, err := a.job()
	if err != nil {
		return job, err
	}
	if job.Flink.REST == "" {
		return job, fault.New(fault.Config, op, "no JobManager is configured for this job").
			WithHint("give --flink-rest http://HOST:8081 or set flink.rest of the job in the profile; plan rollback --handoff prints commands without one")
	}
	return job, nil
}

// flinkSources is where the evidence about a Flink job is read.
func (a *app) flinkSources(ctx context.Context, job inspect.Job, in *inspect.Inspector, prompt secret.Prompter) (flink.Sources, error) {
	options, err := flinkLogins{a.selection.Profile.Jobs, prompt}.options(ctx, job.Flink.REST)
	options.Timeout = a.loaded.Timeout
	return flink.Sources{REST: options, Job: job, Points: in, Clock: a.clock}, err
}

// asConfigured fills in what an ask leaves open and the profile says of the job.
func (a *app) asConfigured(job inspect.Job, ask actions.FlinkAsk) actions.FlinkAsk {
	for _, j := range a.selection.Profile.Jobs {
		if j.Name != job.Name {
			continue
		}
		ask.Jar, ask.EntryClass = cmp.Or(ask.Jar, j.Flink.Jar), cmp.Or(ask.EntryClass, j.Flink.EntryClass)
		if len(ask.Arguments) == 0 {
			ask.Arguments = j.Flink.Arguments
		}
	}
	return ask
}

// withFlinkSources runs do with the job and where its evidence is read.
func (a *app) withFlinkSources(ctx context.Context, op string, prompt secret.Prompter, do func(flink.Sources) error) error {
	job, err := a.flinkJobOf(op)
	if err != nil {
		return err
	}
	in, systems, err := a.inspector(a.selection.Profile, prompt)
	if err != nil {
		return err
	}
	defer systems.close()
	sources, err := a.flinkSources(ctx, job, in, prompt)
	if err != nil {
		return err
	}
	return do(sources)
}

// newFlinkID is an id for a trigger, or for a job, that nobody has yet.
func newFlinkID() (string, error) {
	const size = 16
	var id [size]byte
	if _, err := rand.Read(id[:]); err != nil {
		return "", fault.Wrap(fault.Bug, "make a plan", err, "the machine gives no random numbers")
	}
	return hex.EncodeToString(id[:]), nil
}

// withIDs gives an ask its new ids.
func withIDs(ask actions.FlinkAsk) (actions.FlinkAsk, error) {
	var err, jobErr error
	ask.Trigger, err = newFlinkID()
	ask.NewJobID, jobErr = newFlinkID()
	return ask, errors.Join(err, jobErr)
}

// makeFlinkPlan makes a plan of a kind from what was read.
func makeFlinkPlan(kind string, e actions.FlinkEvidence, ask actions.FlinkAsk) (actions.Document, *inspect.Problem) {
	switch kind {
	case actions.KindSavepoint:
		return actions.SavepointFrom(e, ask)
	case actions.KindStop:
		return actions.StopFrom(e, ask)
	case actions.KindCancel:
		return actions.CancelFrom(e)
	default:
		return actions.RollbackFrom(e, ask)
	}
}

func (a *app) planFlink(ctx context.Context, kind string, ask flinkAsk) error {
	if ask.out != "" {
		if err := isFree(ask.out); err != nil {
			return err
		}
	}
	if job, err := a.job(); err == nil && job.Flink.REST == "" && ask.handoff && ask.out == "" {
		return a.handoffUnasked(ctx, job, ask.Point)
	}
	return a.withFlinkSources(ctx, "plan "+kind, terminalPrompt{}, func(sources flink.Sources) error {
		asked, err := withIDs(a.asConfigured(sources.Job, ask.FlinkAsk))
		if err != nil {
			return err
		}
		e, faults := sources.Look(ctx, ask.Point)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case e.Err != nil:
			return e.Err
		}
		d, p := makeFlinkPlan(kind, e, asked)
		if p != nil {
			return noFlinkPlan(p, e)
		}
		report := actions.FlinkReport(d, e)
		if report.Refused != nil {
			return actions.Refuse(report.Refused.Stage, &report.Refused.Problem)
		}
		made := flinkPlanMade{documentMade: documentMade{
			PlanID: &d.PlanID, Kind: kind, Target: &d.Target, Facts: d.Facts, Report: &report, Warnings: names(report.Warnings), Next: []string{},
			Message: "the plan is written",
		}}
		if ask.handoff {
			handoff := flink.HandoffOf(d, e)
			made.Handoff = &handoff
		}
		if ask.out == "" {
			made.Message = "no plan is written: the commands are for somebody else to carry out"
		} else {
			if err := actions.WriteDocument(ask.out, d); err != nil {
				return err
			}
			made.File, made.Next = &ask.out, a.nextOfDocument(ask.out, report.Warnings)
		}
		return a.printer().result("FlinkPlan", made, faults, func(t *table) { renderFlinkPlan(t, made) })
	})
}

// flinkPlanMade is the JSON form of a plan about a Flink job that was made.
type flinkPlanMade struct {
	documentMade
	Handoff *actions.Handoff `json:"handoff"` // null: not asked for
}

// noFlinkPlan is the fault where no plan can be made.
func noFlinkPlan(p *inspect.Problem, e actions.FlinkEvidence) error {
	refused := fault.Of(actions.Refuse(planStage, p))
	kind := fault.Problem
	switch {
	case p.Code == "job-unknown" || p.Code == "jar-gone":
		kind = fault.NotFound
	case p.Code == "jar-ambiguous" || p.Code == "two-jobs":
		kind = fault.Usage
	case p.Code == "jars-unread" && e.JarsErr != nil:
		kind = fault.KindOf(e.JarsErr)
	case p.Code == "point-unreadable" && e.RestoreErr != nil:
		kind = fault.KindOf(e.RestoreErr)
		if hint := fault.Of(e.RestoreErr).Hint; hint != "" {
			refused.Hint = hint
		}
	}
	f := fault.Wrap(kind, "make a plan", &actions.Refusal{Stage: planStage, Problem: *p}, "no plan can be made")
	f.Hint = refused.Hint
	if v := e.Restore; v != nil && len(v.Reasons) > 0 && v.Reasons[0].Code == p.Code {
		f.Hint = nearestAccepted(*v)
	}
	return f
}

// nearestAccepted is what to do where the rules reject a point.
func nearestAccepted(v inspect.RestoreValidation) string {
	hint := "ask recoverctl validate restore for every rule"
	for _, n := range []struct {
		point *inspect.Nearby
		side  string
	}{{v.Newer, "newer"}, {v.Older, "older"}} {
		if n.point != nil {
			hint += fmt.Sprintf("; the nearest accepted and %s one is %s", n.side, safe(n.point.URI))
		}
	}
	return hint
}

// handoffUnasked prints what is to be done where there is no JobManager to ask:
// whether the point is accepted, and the commands with words to fill in.
func (a *app) handoffUnasked(ctx context.Context, job inspect.Job, point string) error {
	in, systems, err := a.inspector(a.selection.Profile, terminalPrompt{})
	if err != nil {
		return err
	}
	defer systems.close()
	v, faults, err := in.Validate(ctx, job, point)
	if err != nil {
		return err
	}
	check := actions.HandoffCheck{What: "restore from " + safe(point), OK: v.Verdict == inspect.Accepted, Result: string(v.Verdict)}
	if !check.OK && len(v.Reasons) > 0 {
		check.Result += ": " + v.Reasons[0].Message
	}
	h := actions.Handoff{Checks: []actions.HandoffCheck{check, {What: "the job", Result: "not asked: no JobManager is configured"}}, Steps: []inspect.NextStep{}}
	if check.OK {
		h.Steps = v.Next
	}
	made := flinkPlanMade{Handoff: &h, documentMade: documentMade{Kind: actions.KindRollback, Facts: []actions.Fact{}, Warnings: []string{}, Next: []string{}, Message: "no plan is written: there is no JobManager to ask"}}
	if err := a.printer().result("FlinkPlan", made, faults, func(t *table) { renderFlinkPlan(t, made) }); err != nil {
		return err
	}
	if !check.OK {
		return exitStatus(fault.Problem.Exit())
	}
	return nil
}

func renderFlinkPlan(t *table, made flinkPlanMade) {
	if made.File != nil {
		t.line("wrote " + safe(*made.File))
	}
	if made.Report != nil {
		renderDocument(t, *made.Report)
	}
	if made.Handoff != nil {
		t.line("")
		renderHandoff(t, *made.Handoff)
	}
	if made.File == nil {
		t.line("")
		t.line("· " + made.Message)
		return
	}
	t.line("")
	t.line("next:")
	for _, command := range made.Next {
		t.line("  " + command)
	}
}

// renderHandoff writes what was checked, and the commands of each way.
func renderHandoff(t *table, h actions.Handoff) {
	t.line("checked:")
	for _, c := range h.Checks {
		sign := "✔"
		if !c.OK {
			sign = "✖"
		}
		t.line("  " + sign + " " + c.What + ": " + c.Result)
	}
	if len(h.Steps) == 0 {
		t.line("  no commands are offered: see the check that says no")
		return
	}
	for _, way := range []struct {
		by    []inspect.StepBy
		title string
	}{
		{[]inspect.StepBy{inspect.ByHand, inspect.ByLooking}, "first"},
		{[]inspect.StepBy{inspect.ByCLI}, "with Flink's own program"},
		{[]inspect.StepBy{inspect.ByREST}, "or by REST"},
		{[]inspect.StepBy{inspect.ByKubernetes}, "or with the Flink Kubernetes operator (DEPLOYMENT is the job's FlinkDeployment)"},
	} {
		steps := inspect.StepsBy(h.Steps, way.by...)
		if len(steps) == 0 {
			continue
		}
		t.line("")
		t.line(way.title + ":")
		for _, s := range steps {
			t.line("  # " + s.What)
			if strings.TrimSpace(s.Command) != "" {
				t.line("  " + s.Command)
			}
		}
	}
}
