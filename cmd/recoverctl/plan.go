package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/evidence"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/shellword"
)

func newPlan(a *app) *cobra.Command {
	return group("plan", "Make and review plans; no system is changed", newPlanCleanup(a), newPlanSettings(a),
		newPlanRollback(a), newPlanSavepoint(a), newPlanStop(a), newPlanCancel(a), newPlanCheckpoint(a), newPlanArkFlow(a), newPlanProducerDelete(a), newPlanProducerRegister(a), newPlanShow(a))
}

// planCleanup is what plan cleanup was asked for.
type planCleanup struct {
	point, markers, source, out string
	offline, skipCalls          bool
}

func newPlanCleanup(a *app) *cobra.Command {
	var ask planCleanup
	cmd := &cobra.Command{
		Use: "cleanup", Short: "Make a cleanup plan that keeps a recovery point as the oldest one to restore from", Args: noArgs,
		Long: `Reads the recovery point and everything that the plan is judged by, and writes
the plan to a new file: an existing one is never overwritten. Nothing else is
written anywhere. What the plan deletes, which recovery points stay restorable
and which never will be again is printed, with the warnings that apply asks to
be accepted by name. The whole topic is scanned for durable calls that depend on
what is deleted; --skip-calls leaves that out, and the report then says so.

A plan that apply would refuse as things are is not written. A control topic
that does not exist yet is no reason for that.

Exit codes: 0 the plan is written, 1 the markers authorise no cleanup, 5 the
file exists already or too few recovery points would stay, 6 there is nothing at
that URI, 2, 7 and 9 apply would refuse the plan, as apply says.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := ask.check(cmd.Flags().Changed); err != nil {
				return err
			}
			if err := a.load(); err != nil {
				return err
			}
			return a.planCleanup(cmd.Context(), ask)
		},
	}
	cmd.Flags().StringVar(&ask.point, "point", "", "keep the recovery point at this `URI` as the oldest one")
	cmd.Flags().StringVar(&ask.markers, "markers", "", "take the markers of this JSON `FILE` (- for standard input) instead of a recovery point")
	cmd.Flags().StringVar(&ask.source, "source", "", "what the plan says it was made from, as `TEXT`; with --markers only")
	cmd.Flags().StringVar(&ask.out, "out", "", "write the plan to this new `FILE`")
	cmd.Flags().BoolVar(&ask.offline, "offline", false, "ask no cluster: the plan carries the warning not-checked")
	registerSkipCalls(cmd, &ask.skipCalls)
	return cmd
}

// registerSkipCalls is the flag of commands that scan for calls before records are
// deleted.
func registerSkipCalls(cmd *cobra.Command, skip *bool) {
	cmd.Flags().BoolVar(skip, "skip-calls", false, "don't scan the topic for durable calls that depend on what is deleted")
}

// check judges the flags by themselves.
func (p planCleanup) check(given func(string) bool) error {
	usage := func(format string, args ...any) *fault.Fault {
		return fault.New(fault.Usage, "read flags", format, args...)
	}
	switch {
	case given("point") == given("markers"):
		return usage("give either --point URI or --markers FILE")
	case given("source") && !given("markers"):
		return usage("--source goes with --markers: a plan from a recovery point is named by its URI")
	case p.out == "" || p.out == "-":
		return usage("a plan is written to a file").WithHint("name a new one with --out FILE")
	default:
		return nil
	}
}

// planMade is the JSON form of a plan that was written.
type planMade struct {
	File                string          `json:"file"`
	PlanID              string          `json:"planId"`
	SourceRecoveryPoint string          `json:"sourceRecoveryPoint"`
	Topic               string          `json:"topic"`
	TopicID             string          `json:"topicId"`
	Offsets             inspect.Offsets `json:"offsets"`
	Warnings            []string        `json:"warnings"` // names; the report has their sentences
	Report              actions.Report  `json:"report"`
	Next                []string        `json:"next"` // commands
}

func (a *app) planCleanup(ctx context.Context, ask planCleanup) error {
	if err := isFree(ask.out); err != nil {
		return err
	}
	job, err := a.planJob(ask.offline)
	if err != nil {
		return err
	}
	in, systems, err := a.inspector(a.selection.Profile, terminalPrompt{})
	if err != nil {
		return err
	}
	defer systems.close()
	plan, own, err := a.makePlan(ctx, in, ask)
	if err != nil {
		return err
	}
	consent := 1 // whether a missing control topic may be made is asked when the plan is applied
	sources := systems.evidence(job, a.clock, &consent)
	e := actions.Evidence{Job: job, At: a.clock.Now(), Offline: true, Own: own}
	var faults []error
	if !ask.offline {
		e, faults = sources.GatherPlan(ctx, plan, evidence.CallScan{Skip: ask.skipCalls, Watch: a.callProgress()})
		if own != nil {
			e.Own, e.OwnErr = own, nil // what the plan was made from
		}
		if err := unread(e); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	report := actions.NewReport(plan, e)
	if report.Refused != nil {
		return actions.Refuse(report.Refused.Stage, &report.Refused.Problem)
	}
	if err := actions.WritePlan(ask.out, plan); err != nil {
		return err
	}
	made := planMade{
		File: ask.out, PlanID: plan.PlanID, SourceRecoveryPoint: plan.SourceRecoveryPoint, Topic: plan.Topic, TopicID: plan.TopicID, Offsets: plan.Offsets,
		Warnings: names(report.Warnings), Report: report, Next: a.nextCommands(ask.out, report, e),
	}
	return a.printer().result("CleanupPlan", made, faults, func(t *table) {
		t.line("wrote " + safe(ask.out))
		renderReport(t, report, a.clock.Now())
		t.line("")
		if noControlTopic(e, report) {
			t.line(fmt.Sprintf("! control topic %s does not exist. If it never did, apply makes it with --create-control-topic and a number of replicas; if it did, its boundary is lost: find out first who deleted it", safe(*job.ControlTopic)))
		}
		t.line("next:")
		for _, command := range made.Next {
			t.line("  " + command)
		}
	})
}

// planJob is the job whose topics are asked; without a cluster none is needed.
func (a *app) planJob(offline bool) (inspect.Job, error) {
	job, err := a.jobOrNone()
	if err == nil {
		err = job.HasCleanups("make a plan")
	}
	if offline || err != nil {
		return job, err
	}
	if len(a.selection.Profile.Kafka.Brokers) == 0 {
		return inspect.Job{}, noBrokers("give --brokers HOST:PORT or set kafka.brokers in the profile; --offline makes a plan that nothing was checked for")
	}
	return a.job()
}

// unread is why a plan can't be judged: the cluster was to be asked, and did not
// answer.
func unread(e actions.Evidence) error {
	for _, err := range []error{e.DataErr, e.ControlErr} {
		if err != nil {
			return err
		}
	}
	return nil
}

// makePlan reads the markers and makes the plan. Own is the recovery point that
// it was made from; nil with a file of markers.
func (a *app) makePlan(ctx context.Context, in *inspect.Inspector, ask planCleanup) (plan inspect.CleanupPlan, own *inspect.RecoveryPoint, err error) {
	source, markers := ask.point, []inspect.Marker(nil)
	if ask.markers != "" {
		var named string
		err := a.waitFor(func() (err error) {
			named, markers, err = readMarkers(a.in, ask.markers)
			return err
		})
		if err != nil {
			return plan, nil, err
		}
		if source = ask.source; source == "" {
			source = named
		}
	} else {
		point, err := in.Point(ctx, ask.point)
		if err != nil {
			return plan, nil, err
		}
		own, markers = &point, point.Markers
	}
	plan, p := actions.CleanupFrom(markers, source)
	if p != nil {
		return plan, nil, markersRefused(p)
	}
	return plan, own, nil
}

// planStage is where a plan is refused before it is one.
const planStage actions.Stage = "plan"

// markersRefused is the fault for markers that authorise no cleanup.
func markersRefused(p *inspect.Problem) error {
	f := fault.Wrap(fault.Problem, "make a plan", &actions.Refusal{Stage: planStage, Problem: *p}, "no plan can be made")
	switch p.Code {
	case "blank-text":
		return f.WithHint("say with --source what the markers are from")
	case "no-markers":
		return f.WithHint("a job that keeps no action state has none; look at the point with recoverctl inspect point")
	default:
		return f.WithHint("a cleanup needs a recovery point whose subtasks all wrote versioned markers of one topic: take a new savepoint or checkpoint with the job's current release")
	}
}

func names(warnings []actions.Warning) []string {
	out := make([]string, 0, len(warnings))
	for _, w := range warnings {
		out = append(out, w.Name)
	}
	return out
}

// noControlTopic reports whether an apply would have to make the control topic.
func noControlTopic(e actions.Evidence, report actions.Report) bool {
	return !e.Offline && !e.Control.Exists && report.Recorded == ""
}

// nextCommands are the commands that follow, as they can be pasted.
func (a *app) nextCommands(file string, report actions.Report, e actions.Evidence) []string {
	suffix := a.sameFlags()
	apply := "recoverctl apply " + shellword.Quote(file) + ` --reason "…"`
	for _, w := range report.Warnings {
		apply += " --accept " + shellword.Quote(safe(w.Name))
	}
	if noControlTopic(e, report) {
		apply += " --create-control-topic 3"
	}
	return []string{"recoverctl plan show " + shellword.Quote(file) + suffix, apply + " --access operate" + suffix}
}

// sameFlags are the flags of every command as they were given, but for how the
// answer is printed.
func (a *app) sameFlags() string {
	var b strings.Builder
	a.flags.VisitAll(func(f *pflag.Flag) {
		if !f.Changed || slices.Contains([]string{"output", "no-color", "access"}, f.Name) {
			return
		}
		values := []string{f.Value.String()}
		if list, many := f.Value.(pflag.SliceValue); many {
			values = list.GetSlice()
		}
		for _, v := range values {
			b.WriteString(" --" + f.Name)
			if f.NoOptDefVal == "" {
				b.WriteString(" " + shellword.Quote(v))
			}
		}
	})
	return b.String()
}

func newPlanShow(a *app) *cobra.Command {
	var skipCalls, handoff bool
	cmd := &cobra.Command{
		Use: "show FILE", Short: "Show what a plan file says, what applying it would do now, and what has changed since", Args: exactArgs("one FILE"),
		Long: `Judges the plan file as apply does. With brokers configured it also says what
the plan deletes, which recovery points stay restorable and which never will be
again, and each thing that is not as the plan has it; of a plan of settings, what
each setting is, was and will be; of a plan about a Flink job, how the job is and
whether its recovery point is still accepted; of a plan about a Fluss producer, its
entry, and what its next start would do. Without brokers, a JobManager, or a Fluss
cluster, it shows the plan alone.

--handoff prints for a plan about a Flink job what was checked, and the commands
that do the same with Flink's own program, with curl, and with the Flink Kubernetes
operator.

The whole topic is scanned for durable calls that depend on what is deleted;
--skip-calls leaves that out, and the report then says so.

Exit codes: 0 the plan is valid, 1 the cluster could not be asked, 7 the world
is not what the plan was made for, 9 the plan is not valid.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.load(); err != nil {
				return err
			}
			data, err := readPlanFile(args[0])
			if err != nil {
				return err
			}
			if plan, p := actions.ParseDocument(data); p == nil && actions.FlinkKind(plan.Kind) {
				return a.showFlink(cmd.Context(), args[0], data, handoff)
			}
			if plan, p := actions.ParseDocument(data); p == nil && actions.ArkFlowKind(plan.Kind) && !handoff {
				return a.showArkFlow(cmd.Context(), args[0], plan, data)
			}
			if plan, p := actions.ParseDocument(data); p == nil && actions.ProducerKind(plan.Kind) && !handoff {
				return a.showProducer(cmd.Context(), args[0], plan, data)
			}
			if handoff {
				return fault.New(fault.Usage, "read flags", "--handoff goes with a plan about a Flink job")
			}
			return a.planShow(cmd.Context(), args[0], data, skipCalls)
		},
	}
	cmd.Flags().BoolVar(&handoff, "handoff", false, "also print the commands for somebody who carries it out without this program")
	registerSkipCalls(cmd, &skipCalls)
	return cmd
}

func (a *app) planShow(ctx context.Context, file string, data []byte, skipCalls bool) error {
	if actions.IsDocument(data) {
		return a.showDocument(ctx, file, data)
	}
	review := actions.ReviewPlan(data, nil)
	var faults []error
	var unreadErr error
	if review.Valid && len(a.selection.Profile.Kafka.Brokers) > 0 {
		plan, _ := inspect.ParsePlan(data) // it is valid
		job, err := a.job()
		if err != nil {
			return err
		}
		_, systems, err := a.inspector(a.selection.Profile, terminalPrompt{})
		if err != nil {
			return err
		}
		defer systems.close()
		consent := 1 // asked when the plan is applied
		sources := systems.evidence(job, a.clock, &consent)
		var e actions.Evidence
		if e, faults = sources.GatherPlan(ctx, plan, evidence.CallScan{Skip: skipCalls, Watch: a.callProgress()}); ctx.Err() != nil {
			return ctx.Err()
		}
		review, unreadErr = actions.ReviewPlan(data, &e), unread(e)
	}
	if err := a.printer().result("PlanReview", review, faults, func(t *table) { renderReview(t, file, review, a.clock.Now()) }); err != nil {
		return err
	}
	return reviewStatus(review.Valid, review.Drift, unreadErr)
}

// reviewStatus is the exit code of a review; nil for 0.
func reviewStatus(valid bool, drift []actions.Drift, unread error) error {
	drifted := slices.ContainsFunc(drift, func(d actions.Drift) bool { return !d.Allowed })
	switch {
	case !valid:
		return exitStatus(fault.Corrupt.Exit())
	case drifted:
		return exitStatus(fault.Drift.Exit())
	case unread != nil:
		return exitStatus(fault.Problem.Exit())
	default:
		return nil
	}
}

// readPlanFile reads a bounded file. Only a regular file is one: a pipe could
// keep this waiting for ever.
func readPlanFile(path string) ([]byte, error) {
	name := safe(path)
	bad := func(kind fault.Kind, format string, args ...any) error {
		return fault.New(kind, "read the plan", format, args...).WithRef("file " + name)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, bad(fault.NotFound, "there is no file %s", name)
	case errors.Is(err, fs.ErrPermission):
		return nil, bad(fault.Denied, "%s may not be read by this user", name)
	case err != nil:
		return nil, bad(fault.Corrupt, "%s can't be read: %s", name, safe(err.Error()))
	case info.IsDir():
		return nil, bad(fault.Corrupt, "%s is a folder, not a plan file", name)
	case !info.Mode().IsRegular():
		return nil, bad(fault.Corrupt, "%s is not a regular file, so not a plan file", name)
	case info.Size() > actions.MaxPlanFile:
		return nil, bad(fault.Corrupt, "%s has %d bytes, and a plan file has at most %d", name, info.Size(), actions.MaxPlanFile)
	}
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, bad(fault.Denied, "%s may not be read by this user", name)
	case err != nil:
		return nil, bad(fault.Corrupt, "%s can't be read: %s", name, safe(err.Error()))
	}
	return data, nil
}

// parsePlan is readPlanFile with a plan that is valid.
func parsePlan(path string) (inspect.CleanupPlan, error) {
	data, err := readPlanFile(path)
	if err != nil {
		return inspect.CleanupPlan{}, err
	}
	if actions.IsDocument(data) {
		return inspect.CleanupPlan{}, fault.New(fault.Usage, "read the plan", "%s is no cleanup plan", safe(path)).
			WithHint("look at it with recoverctl plan show").WithRef("file " + safe(path))
	}
	plan, p := inspect.ParsePlan(data)
	if p != nil {
		return plan, notAPlan(path, p)
	}
	return plan, nil
}
