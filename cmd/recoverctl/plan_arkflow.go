package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/arkflow"
	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/journal"
	"github.com/recoverctl/recoverctl/internal/secret"
)

// arkflowExit are the exit codes of making a plan about ArkFlow.
const arkflowExit = `Exit codes: 0 the plan is written; 1 the state of the job or stream, or what can be
restored, forbids it; 2 the command line is wrong; 3 no hub is configured; 4 it
could not be reached; 5 the file exists already, or the hub refuses this token; 6
there is no such job or stream; 10 what answers there is no hub, or one without jobs.`

func newPlanArkFlow(a *app) *cobra.Command {
	return group("arkflow", "Make plans about jobs and streams of ArkFlow; nothing is changed before a plan is applied",
		a.planOfArkFlow(actions.KindArkFlowCheckpoint, "checkpoint ID", "Make a plan that takes a checkpoint of a running ArkFlow job", `The hub answers a trigger with the job and not with what becomes of it: the plan's
apply finds the round, follows it until it is completed, and recomputes its
checksums. Of a job that does not run no plan is made: the round would stay pending
for ever.

`),
		a.planOfArkFlow(actions.KindArkFlowSavepoint, "savepoint ID", "Make a plan that takes a savepoint of a running ArkFlow job", `As plan arkflow checkpoint, for a savepoint.

`),
		a.planOfArkFlow(actions.KindArkFlowRollback, "rollback ID", "Make a plan that takes an ArkFlow job back to a lower version", `Stops the job, makes it a lower version, starts it, and proves as far as a hub lets
it be proved that it was restored: by the hub's own rule, and by the source
positions of the next checkpoint.

No plan is made where nothing can be restored into that version, though the hub
accepts the request: the job would begin cold and be called converged. Nobody can
choose the point: it is the newest savepoint that fits, and the plan names it.

`),
		a.planOfArkFlow(actions.KindArkFlowPause, "pause ID", "Make a plan that holds the upgrade of an ArkFlow job where it is", `Only hubs that carry out upgrades by themselves have one to pause. While its new
version is committed or verified, the job may stand still until it is resumed: the
plan then warns of that.

`),
		a.planOfArkFlow(actions.KindArkFlowResume, "resume ID", "Make a plan that lets a paused upgrade of an ArkFlow job go on", `The phase that was paused gets its whole time again.

`),
		a.planOfArkFlow(actions.KindArkFlowCancel, "cancel ID", "Make a plan that ends the upgrade of an ArkFlow job", `Before the new version is committed the old one runs on. After that the hub goes on
starting the new version, and nobody takes it back any more: the plan then warns of
that.

`),
		a.planOfArkFlow(actions.KindArkFlowRestart, "restart NODE/STREAM", "Make a plan that restarts a stream of ArkFlow", `The plan holds a key with which the hub restarts the stream once, however often it is
asked. No plan is made where the node is not there to take it, or the hub keeps
nothing of what it is asked for. With --wal, or the job's arkflow.wal, the stream's
log is read: what the restart sends again is said, and damage in it is warned of.

`))
}

// arkflowAsk is what a plan about ArkFlow was asked for.
type arkflowAsk struct {
	kind, id, out, store string
	version              uint64
}

func (a *app) planOfArkFlow(kind, use, short, long string) *cobra.Command {
	ask := arkflowAsk{kind: kind}
	cmd := &cobra.Command{
		Use: use, Short: short, Args: exactArgs("one job's id"),
		Long: "Writes a plan to a new file: an existing one is never overwritten.\n\n" + long + arkflowExit,
		RunE: func(cmd *cobra.Command, args []string) error {
			ask.id = args[0]
			if _, _, ok := streamNamed(ask.id); kind == actions.KindArkFlowRestart && !ok {
				return fault.New(fault.Usage, "read flags", "%s names no stream of a node", safe(ask.id)).
					WithHint("write NODE/STREAM, as recoverctl inspect arkflow streams lists them")
			}
			return a.planArkFlow(cmd.Context(), ask)
		},
	}
	cmd.Flags().StringVar(&ask.out, "out", "", "write the plan to this new `FILE`")
	switch kind {
	case actions.KindArkFlowRestart:
		cmd.Args = exactArgs("one stream, as NODE/STREAM")
	case actions.KindArkFlowRollback:
		cmd.Flags().Uint64Var(&ask.version, "to", 0, "go back to this `VERSION`; the next lower one if not given")
		registerStore(cmd, &ask.store)
	case actions.KindArkFlowCheckpoint, actions.KindArkFlowSavepoint:
		registerStore(cmd, &ask.store)
	}
	return cmd
}

// streamNamed is the node and the stream of NODE/STREAM.
func streamNamed(text string) (node, stream string, ok bool) {
	node, stream, ok = strings.Cut(text, "/")
	return node, stream, ok && node != "" && stream != ""
}

// nameAlone is the name of a job, or of a stream without its node.
func nameAlone(text string) string {
	if _, stream, ok := streamNamed(text); ok {
		return stream
	}
	return text
}

func (a *app) planArkFlow(ctx context.Context, ask arkflowAsk) error {
	if ask.out == "" || ask.out == "-" {
		return fault.New(fault.Usage, "read flags", "a plan is written to a file").WithHint("name a new one with --out FILE")
	}
	if err := isFree(ask.out); err != nil {
		return err
	}
	return a.withArkFlowSources(ctx, terminalPrompt{}, ask.id, func(sources arkflow.Sources, job config.Job) error {
		d, e, err := makeArkFlowPlan(ctx, sources, ask)
		if err != nil {
			return err
		}
		e = a.withJournal(e, d, job)
		report := actions.ArkFlowReport(d, e)
		if report.Refused != nil {
			return actions.Refuse(report.Refused.Stage, &report.Refused.Problem)
		}
		if err := actions.WriteDocument(ask.out, d); err != nil {
			return err
		}
		made := documentMade{
			PlanID: &d.PlanID, Kind: d.Kind, Target: &d.Target, Facts: d.Facts, Report: &report, Warnings: names(report.Warnings),
			Message: "the plan is written", File: &ask.out, Next: a.nextOfDocument(ask.out, report.Warnings),
		}
		return a.printer().result("ArkFlowPlan", made, []error{e.Err}, func(t *table) {
			renderDocument(t, report)
			t.line("")
			t.line("the plan is written to " + ask.out)
			for _, next := range made.Next {
				t.command(next)
			}
		})
	})
}

// withArkFlowSources loads the configuration and runs do with where the evidence
// about a job is read.
func (a *app) withArkFlowSources(ctx context.Context, prompt secret.Prompter, id string, do func(arkflow.Sources, config.Job) error) error {
	if err := a.load(); err != nil {
		return err
	}
	job, err := a.arkflowJob(id)
	if err != nil {
		return err
	}
	options := arkhub.Options{Address: job.ArkFlow.Hub, Timeout: a.loaded.Timeout}
	if !job.ArkFlow.Token.IsZero() {
		if options.Token, err = job.ArkFlow.Token.Resolve(ctx, prompt); err != nil {
			return err
		}
	}
	points, end, err := a.arkflowPoints()
	if err != nil {
		return err
	}
	defer end()
	sources := arkflow.Sources{Hub: options, Job: id, Points: points, Clock: a.clock}
	if a.logIsOf(job, id) {
		stores := newObjectStores(a.selection.Profile, prompt, a.loaded.Timeout, a.clock)
		defer stores.close()
		sources.Logs, sources.Log = a.logs(stores), job.ArkFlow.WAL
	}
	return do(sources, job)
}

// makeArkFlowPlan makes a plan from what the hub says, and returns that with it. What
// could not be read beside it is the evidence's own fault.
func makeArkFlowPlan(ctx context.Context, sources arkflow.Sources, ask arkflowAsk) (actions.Document, actions.ArkFlowEvidence, error) {
	var e actions.ArkFlowEvidence
	var unread error
	if ask.kind == actions.KindArkFlowRestart {
		node, stream, _ := streamNamed(ask.id)
		e, unread = sources.GatherStream(ctx, node, stream)
	} else {
		e, unread = sources.Gather(ctx, ask.store)
	}
	if !e.Asked() {
		return actions.Document{}, e, unread
	}
	e.Err = unread
	var d actions.Document
	var p *inspect.Problem
	switch ask.kind {
	case actions.KindArkFlowRollback:
		d, p = actions.ArkFlowRollbackFrom(e, ask.version, ask.store)
	case actions.KindArkFlowCheckpoint, actions.KindArkFlowSavepoint:
		d, p = actions.ArkFlowRoundFrom(ask.kind, e, ask.store)
	case actions.KindArkFlowRestart:
		key, err := newFlinkID()
		if err != nil {
			return d, e, err
		}
		d, p = actions.ArkFlowRestartFrom(e, key)
	default:
		d, p = actions.ArkFlowUpgradeFrom(ask.kind, e, ask.store)
	}
	if p == nil {
		return d, e, nil
	}
	refused := fault.Wrap(fault.Problem, "make a plan", &actions.Refusal{Problem: *p}, "")
	if ask.kind == actions.KindArkFlowRestart {
		return d, e, refused.WithHint("recoverctl inspect arkflow streams shows the stream and its node")
	}
	return d, e, refused.WithHint("recoverctl inspect arkflow job %s shows the job, its versions and its points", safe(ask.id))
}

// withJournal adds to evidence what this machine's journal knows of a plan, and the
// requests to its target that it leaves open.
func (a *app) withJournal(e actions.ArkFlowEvidence, plan actions.Document, job config.Job) actions.ArkFlowEvidence {
	lines, err := a.journalLines()
	e.Unsettled, e.JournalErr = a.unsettled(lines, plan.Target, job), err
	if err == nil {
		runs := slices.ContainsFunc(lines, func(l journal.Entry) bool { return l.PlanID == plan.PlanID })
		e.Runs = &runs
	}
	return e
}

// journalLines are those of this machine. The error says that not all of it could be
// read. A last line that is torn was never on the disk whole, so that nothing was sent
// after it.
func (a *app) journalLines() ([]journal.Entry, error) {
	state, err := journal.StateDir(a.variable)
	if err != nil {
		return nil, err
	}
	lines, damages, err := journal.At(state).Read(journal.Filter{})
	for _, d := range damages {
		if !d.Torn {
			err = errors.Join(err, fault.New(fault.Corrupt, "read the journal", "line %d of %s is damaged: %s", d.Line, safe(d.File), safe(d.Why)))
		}
	}
	return lines, err
}

// unsettled are the requests to a target at a job's hub that lines of a journal leave
// open.
func (a *app) unsettled(lines []journal.Entry, on inspect.PlanTarget, job config.Job) []actions.OpenRequest {
	names := []string{job.Name}
	for _, j := range a.selection.Profile.Jobs {
		if j.ArkFlow.Hub == job.ArkFlow.Hub {
			names = append(names, j.Name)
		}
	}
	return actions.OpenRequestsOf(lines, on, a.selection.Profile.Name, names)
}

// applyArkFlow applies a plan about an ArkFlow job.
func (a *app) applyArkFlow(ctx context.Context, plan actions.Document, ask applyAsk) error {
	return a.applyDocument(ctx, plan, "about ArkFlow", ask, func(ctx context.Context, prompt secret.Prompter, proceed func(standing) error) error {
		return a.withArkFlowSources(ctx, prompt, plan.Target.ID, func(sources arkflow.Sources, job config.Job) error {
			e, err := sources.GatherPlan(ctx, plan)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case !e.Asked():
				return err
			}
			e = a.withJournal(e, plan, job)
			return proceed(standing{
				job: jobOf(a.selection.Profile.Name, job), cluster: e.System(), report: actions.ArkFlowReport(plan, e), begin: a.beginArkFlow(sources, job),
				judge: func() actions.OperationVerdict { return actions.JudgeArkFlow(plan, e) },
				idle:  "it was as planned already: nothing was asked for",
			})
		})
	})
}

// beginArkFlow starts an approved plan about ArkFlow. Its caller holds the lock, so
// that no other apply of this machine sends anything: where one has since the report
// was made, its requests were not approved with it, and nothing is begun.
func (a *app) beginArkFlow(sources arkflow.Sources, job config.Job) beginning {
	return func(ctx context.Context, d approvedDocument) (*actions.Run, func(), error) {
		// That the journal can't be read was a warning of the report, and is accepted.
		lines, _ := a.journalLines()
		if now := a.unsettled(lines, d.plan.Target, job); !slices.EqualFunc(now, d.report.Open, actions.OpenRequest.Same) {
			return nil, nil, actions.Refusef(actions.StageJob, actions.RequestUnsettled, "another apply sent something to %s while this one was being approved, and what became of it is not known", safe(d.plan.Target.Name))
		}
		c, err := arkflow.New(arkflow.Config{Sources: sources, Plan: d.plan, Approved: d.report})
		if err != nil {
			return nil, nil, err
		}
		return a.beginCarrier(ctx, c, d)
	}
}

// verifyArkFlow says from what the hub and the store hold now, and from what this
// machine's journal leaves open, what has become of a plan.
func (a *app) verifyArkFlow(ctx context.Context, plan actions.Document) error {
	return a.withArkFlowSources(ctx, terminalPrompt{}, plan.Target.ID, func(sources arkflow.Sources, job config.Job) error {
		e, _ := sources.GatherPlan(ctx, plan) // what is missing beside it makes a rule unasked
		e = a.withJournal(e, plan, job)
		return a.verified(ctx, actions.JudgeArkFlow(plan, e), plan.Subject(), jobOf(a.selection.Profile.Name, job), e.JournalErr)
	})
}

// showArkFlow is plan show for a plan about an ArkFlow job. Without a hub it shows
// the plan alone.
func (a *app) showArkFlow(ctx context.Context, file string, plan actions.Document, data []byte) error {
	review := actions.ReviewDocument(data, nil)
	var unread error
	if _, err := a.arkflowJob(plan.Target.ID); err == nil {
		err := a.withArkFlowSources(ctx, terminalPrompt{}, plan.Target.ID, func(sources arkflow.Sources, job config.Job) error {
			e, _ := sources.GatherPlan(ctx, plan) // what is missing beside it makes a rule unasked
			unread = e.Err
			e = a.withJournal(e, plan, job)
			review = actions.ReviewDocument(data, func(d actions.Document) actions.DocumentReport { return actions.ArkFlowReport(d, e) })
			return ctx.Err()
		})
		if err != nil {
			return err
		}
	}
	if err := a.printer().result("PlanReview", review, []error{unread}, func(t *table) { renderDocumentReview(t, file, review) }); err != nil {
		return err
	}
	return reviewStatus(review.Valid, review.Drift, unread)
}
