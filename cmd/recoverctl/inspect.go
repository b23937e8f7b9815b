package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
)

func newInspect(a *app) *cobra.Command {
	return group("inspect", "Read the state of a job's recovery; nothing is changed",
		newInspectJob(a), newInspectPoints(a), newInspectPoint(a), newInspectControl(a), newInspectCalls(a), newInspectKey(a), newInspectRecords(a), newInspectFlink(a), newInspectArkFlow(a), newInspectFluss(a))
}

// failOn is the severity from which findings make a command exit 1.
type failOn struct{ word string }

func (f *failOn) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.word, "fail-on", "error", "exit 1 from findings of this severity on: `error|warning|info|never`")
}

func (f *failOn) check() error {
	switch f.word {
	case "error", "warning", "info", "never":
		return nil
	}
	return fault.New(fault.Usage, "read flags", "--fail-on %s: one of error, warning, info, never", safe(f.word))
}

// status is exit 1 when the worst severity counts.
func (f *failOn) status(severities ...inspect.Severity) error {
	for _, s := range severities {
		if f.word != "never" && s.AtLeast(inspect.Severity(f.word)) {
			return exitStatus(fault.Problem.Exit())
		}
	}
	return nil
}

func newInspectJob(a *app) *cobra.Command {
	var limit failOn
	var calls bool
	cmd := &cobra.Command{
		Use: "job", Short: "Show a job's log, boundary, recovery points with verdicts, and what is wrong first", Args: noArgs,
		Long: `Reads the action-state topic, the control topic and every recovery point in the
job's places, and judges each recovery point as a restore would. With the job's
JobManager (--flink-rest) it also tells what the running job does, what failed
last, and what Flink would restore by itself. With --calls it also scans the whole
topic for durable calls: which are open without an outcome on record, and how many
a restore from each recovery point would make again.

Exit codes: 0 nothing at or above --fail-on was found, 1 something was,
4 nothing could be reached, 6 the topic does not exist and there is no point.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withJob(limit.check, func(in *inspect.Inspector, job inspect.Job) error {
				if calls {
					in = in.CountingCalls(a.callProgress())
				}
				o, err := in.WatchingLists(a.listProgress()).Overview(cmd.Context(), job)
				if o.Empty() {
					if err == nil {
						err = inspect.MissingLog(job)
					}
					return err
				}
				if err := a.printer().result("JobOverview", o, []error{err}, func(t *table) { renderOverview(t, o, a.clock.Now()) }); err != nil {
					return err
				}
				severities := make([]inspect.Severity, 0, len(o.Findings))
				for _, f := range o.Findings {
					severities = append(severities, f.Severity)
				}
				return limit.status(severities...)
			})
		},
	}
	limit.register(cmd)
	registerCalls(cmd, &calls)
	return cmd
}

// registerCalls is the flag of commands that also scan for calls.
func registerCalls(cmd *cobra.Command, calls *bool) {
	cmd.Flags().BoolVar(calls, "calls", false, "also scan the topic for durable calls, and count those that would run again")
}

func newInspectPoints(a *app) *cobra.Command {
	var limit failOn
	var calls bool
	cmd := &cobra.Command{
		Use: "points [URI]", Short: "List recovery points under a place, with verdicts where a cluster is configured",
		Long: `Reads every recovery point under URI, else in the job's places, newest first. A
point that is there and can't be read from here is listed as unknown, never left
out. Where a place has more folders than are looked into, the newest are.

Exit codes: 0 nothing at or above --fail-on was found, 1 something was, 4 nothing
could be reached, 6 there is nothing at that URI, 8 some places or points could
not be read.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return exactArgs("at most one URI")(cmd, args)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.load(); err != nil {
				return err
			}
			if err := limit.check(); err != nil {
				return err
			}
			job, err := a.jobOrNone()
			if err != nil {
				return err
			}
			uri := ""
			if len(args) == 1 {
				uri = args[0]
			}
			in, systems, err := a.inspector(a.selection.Profile, terminalPrompt{})
			if err != nil {
				return err
			}
			defer systems.close()
			if calls {
				in = in.CountingCalls(a.callProgress())
			}
			list, err := in.WatchingLists(a.listProgress()).Points(cmd.Context(), job, uri)
			if len(list.Points) == 0 && err != nil {
				return err
			}
			if err := a.printer().result("RecoveryPointList", list, []error{err}, func(t *table) { renderPoints(t, list.Points, a.clock.Now()) }); err != nil {
				return err
			}
			severities := make([]inspect.Severity, 0, len(list.Points))
			for _, p := range list.Points {
				severities = append(severities, p.Severity)
			}
			if status := limit.status(severities...); status != nil || !partial(err) {
				return status
			}
			return exitStatus(fault.Partial.Exit())
		},
	}
	limit.register(cmd)
	registerCalls(cmd, &calls)
	return cmd
}

func newInspectPoint(a *app) *cobra.Command {
	var limit failOn
	var keys, compare bool
	var expect expectations
	cmd := &cobra.Command{
		Use: "point URI", Short: "Read one recovery point offline: operators, markers, referenced files, checks", Args: exactArgs("one URI"),
		Long: `Reads a Flink checkpoint or savepoint without a JVM and without a cluster.

Keyed state of canonical savepoints and of the heap backend is decoded: the keys
of an agent operator with their sequence numbers and tasks in flight. Of RocksDB
and ForSt the files are listed and looked for; their contents are not decoded.
Keyed state of more than 4 MiB is read only with --keys, and then in ranges: what
is not decoded is not read.

With --compare it also reads the job's topic and asks its JobManager, where there
is one: whether the markers are of that topic and lie in its log (U11, U12), and
whether that Flink reads the recovery point (V7, V8). --flink-version,
--operator-uid and --operator-id ask about a job that does not run (also P3, P4).
validate restore asks all of it, in the order of the real code.

Where the metadata can be read and a state file can't, because it lies on another
machine or in a store that refuses, what is known is shown, and what is not.

Exit codes: 0 no check at or above --fail-on, 1 some check, 6 there is nothing
at that URI, 8 some state could not be read from here, 9 it is there and can't be
read, 10 its version is not known.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.load(); err != nil {
				return err
			}
			if err := errors.Join(limit.check(), expect.check()); err != nil {
				return err
			}
			job := inspect.Job{}
			if compare {
				var err error
				if job, err = a.job(); err != nil {
					return err
				}
			}
			expect.of(&job)
			in, systems, err := a.inspector(a.selection.Profile, terminalPrompt{})
			if err != nil {
				return err
			}
			defer systems.close()
			point, unread := in.ReadPoint(cmd.Context(), args[0], inspect.PointQuestion{Keys: keys}, a.pointProgress())
			if unread != nil && !partlyRead(point, unread) {
				return unread
			}
			var faults error
			if compare {
				point, faults = in.Compared(cmd.Context(), job, point)
			} else {
				point.Checks = append(point.Checks, inspect.Compare(job, inspect.LiveState{}, point, nil)...)
			}
			if err := a.printer().result("RecoveryPoint", point, []error{unread, faults}, func(t *table) { renderPoint(t, point, a.storeOfChosen(), a.clock.Now()) }); err != nil {
				return err
			}
			if err := limit.status(point.WorstCheck()); err != nil || unread == nil {
				return err
			}
			return exitStatus(fault.Partial.Exit())
		},
	}
	limit.register(cmd)
	cmd.Flags().BoolVar(&keys, "keys", false, "read all keyed state, however large it is")
	cmd.Flags().BoolVar(&compare, "compare", false, "also compare it with the job's topic and its running Flink")
	expect.register(cmd)
	return cmd
}

// partial reports whether something is there that could not be read. A checkpoint
// that its job deleted meanwhile is not there.
func partial(err error) bool {
	return slices.ContainsFunc(fault.All(err), func(err error) bool {
		switch fault.KindOf(err) {
		case fault.Denied, fault.Unreachable, fault.Unsupported, fault.Partial:
			return true
		default:
			return false
		}
	})
}

// partlyRead reports whether the metadata of a recovery point was read and only
// state in its files was not: what is known is then shown beside the fault.
func partlyRead(p inspect.RecoveryPoint, err error) bool {
	switch fault.KindOf(err) {
	case fault.Denied, fault.Unreachable, fault.Unsupported:
		return len(p.Operators) > 0
	default:
		return false
	}
}

// listProgress says on a terminal, once a second, how many recovery points were
// found so far.
func (a *app) listProgress() func(inspect.ListProgress) {
	if !a.errTTY {
		return nil
	}
	said := a.clock.Now()
	return func(p inspect.ListProgress) {
		now := a.clock.Now()
		if now.Sub(said) < time.Second {
			return
		}
		said = now
		fmt.Fprintf(a.err, "looked into %s folders: %s recovery points found so far, %s read (ctrl-c ends it)\n",
			figures.Group(p.Folders), figures.Group(p.Found), figures.Group(p.Read))
	}
}

// pointProgress says on a terminal, once a second, how far the reading of a
// recovery point has come.
func (a *app) pointProgress() func(inspect.PointProgress) {
	if !a.errTTY {
		return nil
	}
	said := a.clock.Now()
	return func(p inspect.PointProgress) {
		now := a.clock.Now()
		if now.Sub(said) < time.Second {
			return
		}
		said = now
		line := fmt.Sprintf("looked for %s of %s files", figures.Group(p.Files), figures.Group(p.FilesTotal))
		if p.BytesTotal > 0 {
			line += fmt.Sprintf("; read %s of %s of keyed state", figures.Bytes(p.Bytes), figures.Bytes(p.BytesTotal))
		}
		fmt.Fprintln(a.err, line+" (ctrl-c ends it)")
	}
}

func newInspectControl(a *app) *cobra.Command {
	var expectID string
	var expectPartitions int
	var scan bool
	cmd := &cobra.Command{
		Use: "control", Short: "Show the control topic's operations and the boundary in force, as a restore reads them", Args: noArgs,
		Long: `Reads the control topic from its beginning to the end captured first, as a
restoring job does, and judges it by the restore's reader and by that of apply.

With --calls it also scans the data topic for durable calls, and says of each
operation how many at risk lie below its offsets, where no restore reads them, and
how many run again from a restore that begins exactly there. What was deleted
already is not on record any more.

Exit codes: 0 a restore would accept the history, 1 it would refuse it or the
topic is missing, 8 not all of the data topic could be scanned.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var expect *inspect.History
			check := func() error {
				var err error
				expect, err = a.expectation(cmd, expectID, expectPartitions)
				return err
			}
			return a.withJob(check, func(in *inspect.Inspector, job inspect.Job) error {
				if expect != nil {
					expect.Topic = job.Topic
				}
				b, err := in.Control(cmd.Context(), job, expect)
				if err != nil {
					return err
				}
				var faults []error
				if scan {
					faults = a.countUnder(cmd.Context(), in, job, b.Operations)
				}
				if err := a.printer().result("CleanupBoundary", b, faults, func(t *table) { renderBoundary(t, b, a.clock.Now()) }); err != nil {
					return err
				}
				switch {
				case b.Problem != nil:
					return exitStatus(fault.Problem.Exit())
				case len(faults) > 0:
					return exitStatus(fault.Partial.Exit())
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&scan, "calls", false, "also scan the data topic for durable calls, and count those below each operation")
	cmd.Flags().StringVar(&expectID, "expect-topic-id", "", "judge against this topic `ID` instead of asking for the data topic")
	cmd.Flags().IntVar(&expectPartitions, "expect-partitions", 0, "judge against partitions 0 to `N`-1 instead of asking for the data topic")
	return cmd
}

func (a *app) expectation(cmd *cobra.Command, id string, partitions int) (*inspect.History, error) {
	hasID, hasCount := cmd.Flags().Changed("expect-topic-id"), cmd.Flags().Changed("expect-partitions")
	switch {
	case !hasID && !hasCount:
		return nil, nil
	case hasID != hasCount:
		return nil, fault.New(fault.Usage, "read flags", "--expect-topic-id and --expect-partitions go together")
	case id == "":
		return nil, fault.New(fault.Usage, "read flags", "--expect-topic-id is empty")
	case partitions < 1 || partitions > maxPartitions:
		return nil, fault.New(fault.Usage, "read flags", "--expect-partitions %d: a number from 1 to %d", partitions, maxPartitions)
	}
	h := &inspect.History{TopicID: id}
	for p := range partitions {
		h.Partitions = append(h.Partitions, int32(p))
	}
	return h, nil
}

// maxPartitions bounds what flags may make this program allocate.
const maxPartitions = 100_000

// withJob loads the configuration, asks check about flags, and runs do with an
// inspector of the chosen job, which must be one that keeps action state.
func (a *app) withJob(check func() error, do func(*inspect.Inspector, inspect.Job) error) error {
	if err := a.load(); err != nil {
		return err
	}
	if err := cmp.Or(check(), a.keepsActionState()); err != nil {
		return err
	}
	return a.withChosen(do)
}

// withChosen runs do with an inspector of the chosen job.
func (a *app) withChosen(do func(*inspect.Inspector, inspect.Job) error) error {
	job, err := a.job()
	if err != nil {
		return err
	}
	in, systems, err := a.inspector(a.selection.Profile, terminalPrompt{})
	if err != nil {
		return err
	}
	defer systems.close()
	return do(in, job)
}

// storeOfChosen is the store of the job that would be chosen; Kafka where none is.
func (a *app) storeOfChosen() inspect.Store {
	if j, err := a.selection.RequireJob(); err == nil && keptInFluss(j) {
		return inspect.StoreFluss
	}
	return inspect.StoreKafka
}

// jobOrNone is the chosen job, or an empty one where none is configured: then
// recovery points are listed without verdicts.
func (a *app) jobOrNone() (inspect.Job, error) {
	if a.selection.Job == nil && len(a.selection.Profile.Jobs) == 0 {
		return inspect.Job{Profile: a.selection.Profile.Name}, nil
	}
	if err := a.keepsActionState(); err != nil {
		return inspect.Job{}, err
	}
	return a.job()
}
