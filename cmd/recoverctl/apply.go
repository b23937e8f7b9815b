package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/evidence"
	"github.com/recoverctl/recoverctl/actions/kafka"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/access"
	"github.com/recoverctl/recoverctl/internal/fault"
)

// applyAsk is what apply was asked for.
type applyAsk struct {
	reason, approve string
	accept          []string
	replication     *int // consent to making the control topic; nil: none
	step, skipCalls bool
}

func newApply(a *app) *cobra.Command {
	var ask applyAsk
	var replication int
	cmd := &cobra.Command{
		Use: "apply FILE", Short: "Apply a plan, or finish one that stopped: a cleanup deletes records for good", Args: exactArgs("one plan FILE"),
		Long: `Shows the plan's report, asks for the approval of exactly this plan, and carries
it out. Of a cleanup the boundary is committed on the control topic, the log is
trimmed, the log starts are read again; a plan that is committed already is
finished by the same command. Of a plan of settings exactly its settings are set,
and read again. Of a plan about a Flink job a savepoint is taken, the job ended, or
ended and started again from the plan's recovery point, and what Flink then says of
it is compared with the plan; a plan that stopped half-way goes on where it was.
Of a plan about a Fluss producer exactly its entry is deleted, or exactly its
offsets registered, and read again. Of a plan about an ArkFlow job a checkpoint or
savepoint is taken and followed until it is whole, its upgrade is paused, resumed or
cancelled, or it is stopped, taken back to a lower version, started, and what proves
the restore is looked for; of a plan about a stream that is restarted. Each request
is sent once, and where its answer is lost, what became of it is read.

At a terminal the approval is a phrase that is typed. Without one it is
--approve with the plan's id: 8 digits, in production all 64. Each warning of
the report is accepted by its name with --accept. Access must be operate, and in
production --access operate must stand on this very command line.

The whole topic is scanned first for durable calls that depend on what is deleted:
any restore would make them again, and the warning pending-before-target says how
many. --skip-calls leaves that out, and the report then says so.

The first ctrl-c, SIGTERM or SIGHUP stops it at the next safe place. A second
ctrl-c, two seconds or more after the first, ends it now, and what was being
written is then unknown.

Exit codes: 0 applied; refused before anything was written: 2 by the
configuration, 5 by access, approval or too few recovery points left, 7 by what
has changed since the plan, 9 by the control topic's history; 8 partial, 11
another apply of this job is going on, 12 what became of a write is unknown, 130
stopped, or not approved.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("create-control-topic") {
				ask.replication = &replication
			}
			if err := ask.check(); err != nil {
				return err
			}
			if err := a.load(); err != nil {
				return err
			}
			p := a.selection.Profile
			if err := access.MayWrite(p.Access, p.Environment, a.selection.OperateFlag); err != nil {
				return err
			}
			plan, err := parsePlanFile(args[0])
			if err != nil {
				return err
			}
			if document, ok := plan.(actions.Document); ok {
				if actions.FlinkKind(document.Kind) {
					return a.applyFlink(cmd.Context(), document, ask)
				}
				if actions.ArkFlowKind(document.Kind) {
					return a.applyArkFlow(cmd.Context(), document, ask)
				}
				if actions.ProducerKind(document.Kind) {
					return a.applyProducer(cmd.Context(), document, ask)
				}
				return a.applySettings(cmd.Context(), document, ask)
			}
			return a.apply(cmd.Context(), plan.(inspect.CleanupPlan), ask)
		},
	}
	cmd.Flags().StringVar(&ask.reason, "reason", "", "why this is done, as one line of `TEXT` for the journal and the receipt")
	cmd.Flags().StringVar(&ask.approve, "approve", "", "approve the plan with this `ID` where there is no terminal")
	cmd.Flags().BoolVar(&ask.step, "step", false, "pause before each step; a step that writes needs its own go")
	registerSkipCalls(cmd, &ask.skipCalls)
	cmd.Flags().StringArrayVar(&ask.accept, "accept", nil, "accept the warning with this `NAME` (repeatable)")
	cmd.Flags().IntVar(&replication, "create-control-topic", 0, "make the control topic, where it does not exist, with this `NUMBER` of replicas")
	return cmd
}

// check judges the flags by themselves.
func (ask applyAsk) check() error {
	if err := actions.CheckReason(ask.reason); err != nil {
		return err
	}
	for _, name := range ask.accept {
		if !actions.IsWarningName(name) {
			return fault.New(fault.Usage, "read flags", "--accept %s is not the name of a warning", safe(name)).
				WithHint("the report of recoverctl plan show names the warnings of a plan")
		}
	}
	return nil
}

// applied is the JSON form of an apply. Problem is why it was refused.
type applied struct {
	actions.ApplyResult
	Problem *actions.Refusal `json:"problem"`
}

// applying is one apply with all that it needs.
type applying struct {
	*app
	ask    applyAsk
	plan   inspect.CleanupPlan
	job    inspect.Job
	who    actions.Operator
	report actions.Report
	person *person // who answers questions; nil: there is no terminal
	faults []error // what could not be read on the way
	talk   io.Writer
}

func (a *app) apply(ctx context.Context, plan inspect.CleanupPlan, ask applyAsk) error {
	job, err := a.kafkaJob("apply")
	if err != nil {
		return err
	}
	prompt, err := a.askFirst(ctx)
	if err != nil {
		return err
	}
	_, systems, err := a.inspector(a.selection.Profile, prompt)
	if err != nil {
		return err
	}
	defer systems.close()
	r := &applying{app: a, ask: ask, plan: plan, job: job, talk: a.err}
	if a.wantsJSON() && !a.errTTY {
		r.talk = io.Discard // a program reads standard error: it holds nothing but the error
	}
	if r.person, err = a.openPerson(ask); err != nil {
		return err
	}
	defer r.person.close()
	if r.who, err = a.operator(job); err != nil {
		return err
	}
	sources := systems.evidence(job, a.clock, ask.replication)
	var e actions.Evidence
	if e, r.faults = sources.GatherPlan(ctx, plan, evidence.CallScan{Skip: ask.skipCalls, Watch: a.callProgress()}); ctx.Err() != nil {
		return ctx.Err()
	}
	r.report = actions.NewReport(plan, e)
	if refused := r.report.Refused; refused != nil {
		return r.refuse(actions.Refuse(refused.Stage, &refused.Problem), e)
	}
	if err := unreadAt(e); fault.KindOf(err) == fault.Unreachable || fault.KindOf(err) == fault.Cancelled {
		return err // nothing could be said
	} else if err != nil {
		return r.refuse(err, e)
	}
	lock, err := a.lock(plan, e.Data.ClusterID, r.who)
	if err != nil {
		return err
	}
	if note := abandoned(lock); note != "" {
		fmt.Fprintf(r.talk, "note: %s\n", note)
	}
	approval, err := r.approve(ctx)
	if err == nil {
		err = r.run(ctx, approvedCleanup{
			plan: plan, report: r.report, approval: approval, who: r.who, prompt: prompt, sources: sources, step: ask.step,
		})
	}
	if released := lock.Release(); released != nil {
		fmt.Fprintf(a.err, "warning: %s\n", safe(released.Error()))
	}
	return err
}

// unreadAt is why a plan can't be judged, with the stage that would have asked.
func unreadAt(e actions.Evidence) error {
	if e.ControlErr != nil {
		return kafka.At(actions.StageControlTopic, e.ControlErr)
	}
	return kafka.At(actions.StageIdentity, e.DataErr)
}

// refuse prints what an apply that would be refused comes to, as things are, and
// returns the refusal. Nothing was begun.
func (r *applying) refuse(refused error, e actions.Evidence) error {
	why := refusalOf(refused)
	verdict := actions.OperationVerdict{Verdict: actions.Undecided, Message: "the control topic was not asked", Partitions: []actions.PartitionVerdict{}}
	if e.Control.Name != "" || e.ControlErr != nil {
		verdict = actions.Judge(r.plan, e.Control, e.ControlErr, e.Data, e.DataErr)
	}
	result := applied{Problem: why, ApplyResult: actions.ApplyResult{
		PlanID: r.plan.PlanID, Verdict: verdict.Verdict, Message: verdict.Message, Stage: why.Stage,
		Steps: []actions.StepResult{}, Partitions: verdict.Partitions,
	}}
	if err := r.printer().result("ApplyResult", result, r.faults, func(t *table) {
		t.line(fmt.Sprintf("✖ not begun: refused at %s. Now %s: %s", why.Stage, verdict.Verdict, verdict.Message))
	}); err != nil {
		return err
	}
	return refused
}

// approve shows the report and asks for the approval of exactly it.
func (r *applying) approve(ctx context.Context) (actions.Approval, error) {
	q := actions.Question{
		Plan: r.plan, Report: r.report, Environment: r.selection.Profile.Environment,
		Profile: r.selection.Profile.Name, Subject: r.plan.Topic,
	}
	return r.approved(ctx, r.asking(), q, func(t *table) { renderReport(t, r.report, r.clock.Now()) })
}

func (r *applying) asking() approving { return approving{ask: r.ask, person: r.person, talk: r.talk} }

// run carries the plan out and prints what it came to.
func (r *applying) run(ctx context.Context, what approvedCleanup) error {
	run, end, err := r.begin(ctx, what)
	if err != nil {
		return err
	}
	defer end()
	result, runErr := r.follow(run, r.asking())
	done := applied{ApplyResult: result, Problem: refusalOf(runErr)}
	if err := r.printer().result("ApplyResult", done, r.faults, func(t *table) {
		if r.report.Recorded == inspect.StatusApplied {
			t.line("· it was applied already: nothing was sent")
		}
		renderApplied(t, result)
	}); err != nil {
		return err
	}
	return runErr
}

func renderApplied(t *table, r actions.ApplyResult) {
	t.line(fmt.Sprintf("%s %s: %s", verdictSign(r.Verdict), r.Verdict, r.Message))
	t.line("")
	for _, s := range r.Steps {
		t.row(text(s.Name), text(string(s.State)), text(s.Detail))
	}
	renderReceipt(t, r.Receipt)
}
