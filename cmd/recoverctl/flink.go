package main

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/internal/fault"
)

func newInspectFlink(a *app) *cobra.Command {
	return group("flink", "Ask a Flink JobManager about its jobs; nothing is changed",
		newFlinkJobs(a), newFlinkJob(a), newFlinkExceptions(a), newFlinkCheckpoints(a), newFlinkCheckpoint(a))
}

// flinkExits is what the exit codes of all of them have in common.
const flinkExits = `2 several jobs are meant,
3 no JobManager is configured, 4 it could not be reached, 5 it refuses this user,
6 there is no such job, 10 what answers there is no Flink.`

func newFlinkJobs(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "jobs", Short: "List the jobs that a JobManager knows", Args: noArgs,
		Long: `Lists jobs that have not ended first, then those that have and that Flink has
not forgotten, of both the newest first.

Exit codes: 0 done, whatever state the jobs are in, ` + flinkExits,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withFlink(cmd.Context(), nil, func(live *flink.Live, _ inspect.JobRef) error {
				list, err := live.Jobs(cmd.Context())
				if err != nil {
					return err
				}
				return a.printer().result("FlinkJobs", list, nil, func(t *table) { renderFlinkJobs(t, list, a.clock.Now()) })
			})
		},
	}
}

func newFlinkJob(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "job [ID|NAME]", Short: "Show a job's state, its last failure's root cause, and what Flink would restore by itself", Args: atMostOneJob,
		Long: `Without an argument the configured job is meant: flink.job, else the job's name.

Exit codes: 0 done, 1 the job is FAILING, FAILED or RESTARTING, ` + flinkExits,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withFlink(cmd.Context(), args, func(live *flink.Live, ref inspect.JobRef) error {
				state, err := live.Live(cmd.Context(), ref)
				if state.JobID == "" {
					return err
				}
				if err := a.printer().result("FlinkJob", state, []error{err}, func(t *table) { renderFlinkJob(t, state, a.clock.Now()) }); err != nil {
					return err
				}
				if inspect.Failing(state.State) {
					return exitStatus(fault.Problem.Exit())
				}
				return nil
			})
		},
	}
}

// maxFailures bounds --limit: Flink keeps 16 by default.
const maxFailures = 100

func newFlinkExceptions(a *app) *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use: "exceptions [ID|NAME]", Short: "List what made a job fail, newest first, by its root cause", Args: atMostOneJob,
		Long: `Each failure is told by the root cause at the end of its chain of exceptions; the
whole stack trace is in the JSON output.

Exit codes: 0 done, whatever was found, ` + flinkExits,
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 1 || limit > maxFailures {
				return fault.New(fault.Usage, "read flags", "--limit %d: a number from 1 to %d", limit, maxFailures)
			}
			return a.withFlink(cmd.Context(), args, func(live *flink.Live, ref inspect.JobRef) error {
				list, err := live.Failures(cmd.Context(), ref, limit)
				if err != nil {
					return err
				}
				return a.printer().result("FlinkExceptions", list, nil, func(t *table) { renderFailures(t, list, a.clock.Now()) })
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 20, "list at most this `NUMBER` of failures, the newest ones")
	return cmd
}

// checkpointsJSON is the part of a job's live state that is about checkpoints.
type checkpointsJSON struct {
	JobID       string                      `json:"jobId"`
	Name        string                      `json:"name"`
	State       string                      `json:"state"`
	AsOf        time.Time                   `json:"asOf"`
	CacheMs     int64                       `json:"cacheMs"`
	Checkpoints *inspect.LiveCheckpoints    `json:"checkpoints"`
	Settings    *inspect.CheckpointSettings `json:"settings"` // null: not known
	NextRestore inspect.NextRestore         `json:"nextRestore"`
}

func newFlinkCheckpoints(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "checkpoints [ID|NAME]", Short: "List a job's checkpoints and savepoints, newest first, and how it takes them", Args: atMostOneJob,
		Long: `Flink keeps the details of the latest ones only (web.checkpoints.history, ten by
default).

Exit codes: 0 done, whatever was found, ` + flinkExits,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withFlink(cmd.Context(), args, func(live *flink.Live, ref inspect.JobRef) error {
				state, err := live.Live(cmd.Context(), ref)
				if state.Checkpoints == nil {
					return err
				}
				answer := checkpointsJSON{
					JobID: state.JobID, Name: state.Name, State: state.State, AsOf: state.AsOf, CacheMs: state.CacheMs,
					Checkpoints: state.Checkpoints, Settings: state.Settings, NextRestore: state.NextRestore,
				}
				return a.printer().result("FlinkCheckpoints", answer, []error{err}, func(t *table) { renderCheckpoints(t, state, a.clock.Now()) })
			})
		},
	}
}

func newFlinkCheckpoint(a *app) *cobra.Command {
	var id int64
	return &cobra.Command{
		Use: "checkpoint NUMBER [ID|NAME]", Short: "Show which tasks did their part in a checkpoint, and which have not",
		Long: `A checkpoint that does not complete waits for a task: it is the one that has
acknowledged fewer subtasks than it has.

Exit codes: 0 done, whatever was found, ` + flinkExits + `
6 also says that Flink has forgotten the checkpoint.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) > 2 {
				return exactArgs("a checkpoint's number", "at most one job")(cmd, nil)
			}
			var err error
			if id, err = strconv.ParseInt(args[0], 10, 64); err != nil || id < 0 {
				return fault.New(fault.Usage, "run", "%q is not the number of a checkpoint", safe(args[0])).
					WithHint("give N of chk-N, as recoverctl inspect flink checkpoints lists it")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withFlink(cmd.Context(), args[1:], func(live *flink.Live, ref inspect.JobRef) error {
				c, err := live.Checkpoint(cmd.Context(), ref, id)
				if err != nil {
					return err
				}
				return a.printer().result("FlinkCheckpoint", c, nil, func(t *table) { renderCheckpoint(t, c, a.clock.Now()) })
			})
		},
	}
}

func atMostOneJob(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return exactArgs("at most one job")(cmd, args)
	}
	return nil
}

// withFlink loads the configuration and runs do with the JobManager and the job
// that are meant: the one of the arguments, else the configured one.
func (a *app) withFlink(ctx context.Context, args []string, do func(*flink.Live, inspect.JobRef) error) error {
	if err := a.load(); err != nil {
		return err
	}
	ref, err := a.flinkJob(args)
	if err != nil {
		return err
	}
	managers := newJobManagers(flinkLogins{a.selection.Profile.Jobs, terminalPrompt{}}, a.loaded.Timeout, a.clock)
	defer managers.close()
	live, err := managers.at(ctx, ref.REST)
	if err != nil {
		return err
	}
	return do(live, ref)
}

// flinkJob is the job that a command line means. Where several jobs are
// configured and none is chosen, they may still have one JobManager.
func (a *app) flinkJob(args []string) (inspect.JobRef, error) {
	var ref inspect.JobRef
	if j := a.selection.Job; j != nil {
		ref = flinkRef(*j)
	} else {
		var addresses []string
		for _, j := range a.selection.Profile.Jobs {
			if j.Flink.REST != "" && !slices.Contains(addresses, j.Flink.REST) {
				addresses = append(addresses, j.Flink.REST)
			}
		}
		if len(addresses) > 1 {
			_, err := a.selection.RequireJob()
			return ref, err
		}
		if len(addresses) == 1 {
			ref.REST = addresses[0]
		}
	}
	if ref.REST == "" {
		return ref, fault.New(fault.Config, "ask Flink", "no JobManager is configured").
			WithHint("give --flink-rest http://HOST:8081 or set flink.rest of the job in the profile")
	}
	if len(args) == 1 {
		if args[0] == "" {
			return ref, fault.New(fault.Usage, "ask Flink", "the job's id or name is empty")
		}
		ref = inspect.RefOf(ref.REST, args[0])
	}
	return ref, nil
}
