package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/secret"
)

// arkflowHubCommands ask a hub, and read the checkpoint stores of its jobs.
func arkflowHubCommands(a *app) []*cobra.Command {
	return []*cobra.Command{newArkFlowJobs(a), newArkFlowJob(a), newArkFlowStreams(a), newArkFlowPoints(a), newArkFlowEvents(a)}
}

// hubExits is what the exit codes of all of them have in common.
const hubExits = `2 the command line is wrong, 3 no hub is configured,
4 it could not be reached or is a standby without a leader, 5 it refuses this token,
6 there is no such job, 10 what answers there is no hub, or one without jobs.`

func newArkFlowJobs(a *app) *cobra.Command {
	var limit failOn
	var all bool
	cmd := &cobra.Command{
		Use: "jobs", Short: "List an ArkFlow hub's jobs: what protects each, its checkpoint health, and what is wrong first", Args: noArgs,
		Long: `Asks the hub and takes none of its words for granted: a round that fails stays
pending there for ever, metrics are always 0, and a job that began cold is converged.
What follows from the rounds, operations and versions on record is said instead, with
the rows of the decision table that hold. --all also lists those that were asked and
do not hold, and those that could not be asked.

The objects of checkpoints are read by inspect arkflow job and points.

Exit codes: 0 nothing at or above --fail-on was found, 1 something was,
` + hubExits,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withHub(cmd.Context(), "", limit.check, func(hub *arkflow.Hub, _ config.Job) error {
				l, err := hub.Jobs(cmd.Context())
				if l.Hub.Address == "" {
					return err
				}
				l.Streams = []arkflow.StreamState{}
				l.Decisions = shown(l.Decisions, all, arkflow.OfJob, arkflow.OfHub)
				l.Findings = arkflow.Findings(l.Decisions)
				if err := a.printer().result("ArkFlowJobs", l, []error{err}, func(t *table) { renderArkFlowJobs(t, l, a.clock.Now()) }); err != nil {
					return err
				}
				return limit.of(l.Findings)
			})
		},
	}
	limit.register(cmd)
	registerAll(cmd, &all)
	return cmd
}

// maxPolls bounds how long a command watches.
const maxPolls = 100

func newArkFlowStreams(a *app) *cobra.Command {
	var limit failOn
	var all bool
	var polls int
	var every time.Duration
	var absorb uint64
	cmd := &cobra.Command{
		Use: "streams", Short: "List an ArkFlow hub's streams: what protects each, and what the hub's own words hide", Args: noArgs,
		Long: `Says of each stream whether a write-ahead log covers it, and how the log is flushed:
without one, data between read and output is lost on a crash.

With --wal, or the job's arkflow.wal, the log is read, too, and its rows of the
decision table are asked with those of its stream. Rows about what moves need
several looks: give --watch 3.

Exit codes: 0 nothing at or above --fail-on was found, 1 something was,
` + hubExits,
		RunE: func(cmd *cobra.Command, _ []string) error {
			check := func() error {
				if polls < 1 || polls > maxPolls || every < 100*time.Millisecond {
					return fault.New(fault.Usage, "read flags", "--watch %d --every %s: from 1 to %d looks, at least 100ms apart", polls, every, maxPolls)
				}
				return limit.check()
			}
			return a.withHub(cmd.Context(), "", check, func(hub *arkflow.Hub, job config.Job) error {
				var most *uint64
				if cmd.Flags().Changed("absorb") {
					most = &absorb
				}
				hub, end := a.besideLog(hub.Watching(polls, every), job, "", most)
				defer end()
				l, err := hub.Jobs(cmd.Context())
				if l.Hub.Address == "" {
					return err
				}
				l.Jobs = []arkflow.JobState{}
				l.Decisions = shown(l.Decisions, all, arkflow.OfStream, arkflow.OfLog, arkflow.OfHub)
				l.Findings = arkflow.Findings(l.Decisions)
				if err := a.printer().result("ArkFlowStreams", l, []error{err}, func(t *table) { renderArkFlowStreams(t, l, a.clock.Now()) }); err != nil {
					return err
				}
				return limit.of(l.Findings)
			})
		},
	}
	limit.register(cmd)
	registerAll(cmd, &all)
	f := cmd.Flags()
	f.IntVar(&polls, "watch", 1, "look at the streams, and at the log, this `NUMBER` of times")
	f.DurationVar(&every, "every", 2*time.Second, "the time between two looks")
	f.Uint64Var(&absorb, "absorb", 0, "warn where more than this `NUMBER` of entries would be replayed: what the sink can take twice")
	return cmd
}

func newArkFlowJob(a *app) *cobra.Command {
	var limit failOn
	var all bool
	var place string
	cmd := &cobra.Command{
		Use: "job ID", Short: "Show an ArkFlow job: what a start and each rollback would restore, recomputed from the checkpoint store", Args: exactArgs("one job's id"),
		Long: `Reads the job at the hub and every point in its checkpoint store: manifests and
state are checked by recomputing their checksums, tasks are compared with the job's
plan, and the hub's own rule says which point a start would take.

The store is where the job's description says that it is; a path of another machine
is mapped with --map FROM=TO, or given as --store.

With --wal, or the job's arkflow.wal, that write-ahead log is read, too, and its rows
of the decision table are asked. What a start sends again is then said by the log
alone and, beside it, without what the restored source positions cover.

Exit codes: 0 nothing at or above --fail-on was found, 1 something was,
` + hubExits,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withHub(cmd.Context(), args[0], limit.check, func(hub *arkflow.Hub, job config.Job) error {
				hub, end := a.besideLog(hub, job, args[0], nil)
				defer end()
				d, err := hub.Job(cmd.Context(), args[0], place)
				if d.Hub.Address == "" {
					return err
				}
				d.Decisions = shown(d.Decisions, all, arkflow.OfJob, arkflow.OfHub, arkflow.OfLog)
				if err := a.printer().result("ArkFlowJob", d, []error{err}, func(t *table) { renderArkFlowJob(t, d, a.clock.Now()) }); err != nil {
					return err
				}
				return limit.of(d.Findings)
			})
		},
	}
	limit.register(cmd)
	registerAll(cmd, &all)
	registerStore(cmd, &place)
	return cmd
}

func newArkFlowPoints(a *app) *cobra.Command {
	var place string
	cmd := &cobra.Command{
		Use: "points ID|PLACE", Short: "List an ArkFlow job's checkpoints and savepoints with verdicts, or those of a store without a hub", Args: exactArgs("one job's id, or one place"),
		Long: `Lists every point of a job, the newest first: the verdict and the rule that decides,
what the engine's own check says, which may ask less, and the one that a start would
restore.

With --wal, or the job's arkflow.wal, what a start sends again is said too, by the log
alone and without what the restored source positions cover.

A place (a path or URI of a checkpoint store) is read without a hub: its checksums
are recomputed, and since nothing says which version and tasks would be restored, a
point that is whole is unknown, never accepted.

Exit codes: 0 a start would restore an accepted point, or the store was read and all
in it is whole; 1 it would restore another one or none, or something is damaged,
` + hubExits,
		RunE: func(cmd *cobra.Command, args []string) error {
			if arkflow.IsPlace(args[0]) {
				return a.arkflowStore(cmd.Context(), args[0])
			}
			return a.withHub(cmd.Context(), args[0], func() error { return nil }, func(hub *arkflow.Hub, job config.Job) error {
				hub, end := a.besideLog(hub, job, args[0], nil)
				defer end()
				l, err := hub.Points(cmd.Context(), args[0], place)
				if l.Target.JobID == "" {
					return err
				}
				return a.showArkFlowPoints(l, err)
			})
		},
	}
	registerStore(cmd, &place)
	return cmd
}

// logIsOf reports whether a job's log is that of what is asked about: of the job or
// stream of its name, or of anything where it is named beside the question.
func (a *app) logIsOf(job config.Job, about string) bool {
	about = nameAlone(about)
	return job.ArkFlow.WAL != "" && (about == "" || job.Name == about || job.Name == config.AdHoc || a.flags.Changed("wal"))
}

// besideLog is a hub that also reads the write-ahead log of the job, where it is that
// of what is asked about; of nothing in particular it is.
func (a *app) besideLog(hub *arkflow.Hub, job config.Job, about string, absorb *uint64) (with *arkflow.Hub, end func()) {
	if !a.logIsOf(job, about) {
		return hub, func() {}
	}
	stores := newObjectStores(a.selection.Profile, terminalPrompt{}, a.loaded.Timeout, a.clock)
	return hub.WithLog(a.logs(stores), job.ArkFlow.WAL, absorb), stores.close
}

// arkflowStore reads a checkpoint store by itself.
func (a *app) arkflowStore(ctx context.Context, place string) error {
	if err := a.load(); err != nil {
		return err
	}
	points, end, err := a.arkflowPoints()
	if err != nil {
		return err
	}
	defer end()
	l, err := points.List(ctx, place, nil, arkflow.Target{})
	if len(l.Points) == 0 && err != nil {
		return err
	}
	l.Health = arkflow.Health{State: arkflow.HealthUnknown, Sentence: "no hub was asked", Source: "derived"}
	return a.showArkFlowPoints(l, err)
}

func (a *app) showArkFlowPoints(l arkflow.PointList, err error) error {
	if err := a.printer().result("ArkFlowPoints", l, []error{err}, func(t *table) { renderArkFlowPoints(t, l, a.clock.Now()) }); err != nil {
		return err
	}
	damaged := slices.ContainsFunc(l.Points, func(p arkflow.Point) bool {
		return (p.Status == arkhub.RoundCompleted || p.Status == "") && p.Verdict == inspect.Rejected
	})
	wrong := l.Selection.Known && (l.Selection.ID == "" || l.Selection.Better != "")
	if l.Target.JobID == "" && damaged || l.Target.JobID != "" && (wrong || !l.Selection.Known) {
		return exitStatus(fault.Problem.Exit())
	}
	return nil
}

func (a *app) arkflowAudit(ctx context.Context, hub *arkflow.Hub, limit int) error {
	l, err := hub.Audit(ctx)
	if l.Hub.Address == "" {
		return err
	}
	l.Records = l.Records[:min(len(l.Records), limit)]
	return a.printer().result("ArkFlowAudit", l, []error{err}, func(t *table) { renderArkFlowAudit(t, l, a.clock.Now()) })
}

func newArkFlowEvents(a *app) *cobra.Command {
	var filter arkhub.EventFilter
	var limit int
	var audit bool
	cmd := &cobra.Command{
		Use: "events", Short: "List what an ArkFlow hub has on record, newest first, each event once", Args: noArgs,
		Long: `Nodes send their whole history again with each report, and older hubs append all of
it: repeats are left out. The hub keeps 2048 events.

With --audit it lists what the hub was asked to change, by whom, and what it made of
that: requests about streams and nodes. Hubs that were run keep none about jobs, and
none that did not reach them.

Exit codes: 0 done, ` + hubExits,
		RunE: func(cmd *cobra.Command, _ []string) error {
			check := func() error {
				switch {
				case limit < 1:
					return fault.New(fault.Usage, "read flags", "--limit %d: a number from 1 on", limit)
				case audit && filter != arkhub.EventFilter{}:
					return fault.New(fault.Usage, "read flags", "--node, --stream and --type are of events, and not of the audit")
				}
				return nil
			}
			return a.withHub(cmd.Context(), "", check, func(hub *arkflow.Hub, _ config.Job) error {
				if audit {
					return a.arkflowAudit(cmd.Context(), hub, limit)
				}
				l, err := hub.Events(cmd.Context(), filter)
				if l.Hub.Address == "" {
					return err
				}
				l.Events = l.Events[:min(len(l.Events), limit)]
				return a.printer().result("ArkFlowEvents", l, []error{err}, func(t *table) { renderArkFlowEvents(t, l, a.clock.Now()) })
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&filter.Node, "node", "", "only events of this `NODE`")
	f.StringVar(&filter.Stream, "stream", "", "only events of this `STREAM`")
	f.StringVar(&filter.Type, "type", "", "only events of this `TYPE`, as in intent_created")
	f.IntVar(&limit, "limit", 100, "list at most this `NUMBER` of events, the newest ones")
	f.BoolVar(&audit, "audit", false, "list what the hub was asked to change, and by whom")
	return cmd
}

func registerAll(cmd *cobra.Command, all *bool) {
	cmd.Flags().BoolVar(all, "all", false, "also list the rows of the decision table that do not hold, and those that could not be asked")
}

func registerStore(cmd *cobra.Command, place *string) {
	cmd.Flags().StringVar(place, "store", "", "the job's checkpoint store, as a `PATH` or URI; where its description says if not given")
}

// shown are the decisions of some scopes: those that hold, or all.
func shown(all []arkflow.Decision, every bool, scopes ...arkflow.Scope) []arkflow.Decision {
	return slices.DeleteFunc(slices.Clone(all), func(d arkflow.Decision) bool {
		return !slices.Contains(scopes, d.Scope) || !every && d.Outcome != arkflow.Holds
	})
}

// of is the exit status of findings.
func (f *failOn) of(findings []inspect.Finding) error {
	severities := make([]inspect.Severity, 0, len(findings))
	for _, one := range findings {
		severities = append(severities, one.Severity)
	}
	return f.status(severities...)
}

// withHub loads the configuration and runs do with the hub and the job that are
// meant.
func (a *app) withHub(ctx context.Context, about string, check func() error, do func(*arkflow.Hub, config.Job) error) error {
	if err := a.load(); err != nil {
		return err
	}
	if err := check(); err != nil {
		return err
	}
	job, err := a.arkflowJob(about)
	if err != nil {
		return err
	}
	var token secret.Value
	if !job.ArkFlow.Token.IsZero() {
		if token, err = job.ArkFlow.Token.Resolve(ctx, terminalPrompt{}); err != nil {
			return err
		}
	}
	client, err := arkhub.New(arkhub.Options{Address: job.ArkFlow.Hub, Token: token, Timeout: a.loaded.Timeout})
	if err != nil {
		return err
	}
	defer client.Close()
	points, end, err := a.arkflowPoints()
	if err != nil {
		return err
	}
	defer end()
	return do(arkflow.NewHub(client, points, a.clock), job)
}

// arkflowJob is the job whose hub is meant: the chosen one. Where none is, it is the
// one of the name of what is asked about, a job's or that of a stream of a node; else
// any, where all that are configured have one hub: of several, the log is none's.
func (a *app) arkflowJob(about string) (config.Job, error) {
	if j := a.selection.Job; j != nil && j.ArkFlow.Hub != "" {
		return *j, nil
	}
	about = nameAlone(about)
	var found []config.Job
	if a.selection.Job == nil {
		for _, j := range a.selection.Profile.Jobs {
			if j.ArkFlow.Hub == "" {
				continue
			}
			if j.Name == about {
				return j, nil
			}
			at := slices.IndexFunc(found, func(o config.Job) bool { return o.ArkFlow.Hub == j.ArkFlow.Hub })
			if at < 0 {
				found = append(found, j)
			} else {
				found[at].ArkFlow.WAL = ""
			}
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return config.Job{}, fault.New(fault.Config, "ask the ArkFlow hub", "no hub is configured").
			WithHint("give --hub http://HOST:8080 or set arkflow.hub of the job in the profile")
	}
	return a.selection.RequireJob()
}

// arkflowPoints reads checkpoint stores at places that are written and mapped as
// any other.
func (a *app) arkflowPoints() (points *arkflow.Points, end func(), err error) {
	stores := newObjectStores(a.selection.Profile, terminalPrompt{}, a.loaded.Timeout, a.clock)
	places, err := flink.New(flink.Options{
		Mappings: mappingsOf(a.selection.Profile), Clock: a.clock, Systems: map[string]flink.FileSystem{flink.SchemeS3: stores.system()},
	})
	if err != nil {
		stores.close()
		return nil, nil, err
	}
	return arkflow.NewPoints(places), stores.close, nil
}

// validateArkFlow answers validate restore for a job of ArkFlow. It reports
// whether the chosen job is one.
func (a *app) validateArkFlow(ctx context.Context, point string) (is bool, err error) {
	if err := a.load(); err != nil {
		return true, err
	}
	if j := a.selection.Job; j == nil || j.Engine != engineArkFlow || j.ArkFlow.Hub == "" {
		return false, nil
	}
	return true, a.withHub(ctx, "", func() error { return nil }, func(hub *arkflow.Hub, j config.Job) error {
		v, err := hub.Validate(ctx, point, "")
		if v.Point == "" {
			return err
		}
		for i, next := range v.Next {
			if next.Command != "" { // of this program, about a job of the hub: it is to find the hub
				v.Next[i].Command = strings.TrimSuffix(next.Command+" "+named(a.selection.Profile, j, a.given()), " ")
			}
		}
		if err := a.printer().result("RestoreValidation", v, []error{err}, func(t *table) { renderArkFlowValidation(t, v, a.clock.Now()) }); err != nil {
			return err
		}
		if v.Verdict != inspect.Accepted {
			return exitStatus(fault.Problem.Exit())
		}
		return nil
	})
}
