package flink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flinkrest"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Live reads what jobs do now from a JobManager. It is an inspect.LiveStore and
// may be used by several goroutines. It changes nothing: its client only asks.
type Live struct {
	rest  *flinkrest.Client
	clock clock.Clock
}

var _ inspect.LiveStore = (*Live)(nil)

// NewLive makes a Live. The client stays the caller's to close; a nil clock is
// the machine's.
func NewLive(client *flinkrest.Client, c clock.Clock) *Live {
	if c == nil {
		c = clock.System{}
	}
	return &Live{rest: client, clock: c}
}

// The parts of a LiveState that can be unread.
const (
	partExceptions  = "exceptions"
	partCheckpoints = "checkpoints"
	partSettings    = "settings"
	partRestarts    = "restarts"
)

const liveOp = "read live state"

// Job reads a job by its id or by its name. Its errors are Live's.
func (l *Live) Job(ctx context.Context, idOrName string) (inspect.LiveState, error) {
	return l.Live(ctx, inspect.RefOf("", idOrName))
}

// Live implements inspect.LiveStore. Of several jobs of one name the one that
// has not ended is meant, else the one that began last; two that have not ended
// are a fault of kind Usage that names their ids.
func (l *Live) Live(ctx context.Context, ref inspect.JobRef) (inspect.LiveState, error) {
	config, job, err := l.open(ctx, ref)
	if err != nil {
		return inspect.LiveState{}, err
	}
	return l.read(ctx, config, job)
}

// open asks who answers and reads the job that is meant.
func (l *Live) open(ctx context.Context, ref inspect.JobRef) (flinkrest.Config, flinkrest.Job, error) {
	config, err := l.rest.Config(ctx)
	if err != nil {
		return config, flinkrest.Job{}, err
	}
	id, err := l.idOf(ctx, ref)
	if err != nil {
		return config, flinkrest.Job{}, err
	}
	job, err := l.rest.Job(ctx, id)
	if err == nil || fault.KindOf(err) != fault.NotFound {
		return config, job, err
	}
	// A name may look like an id. Where no job has it, the id was meant.
	if named, nameErr := l.find(ctx, id); nameErr == nil && named != id {
		job, err = l.rest.Job(ctx, named)
		return config, job, err
	}
	return config, job, l.gone(ctx, fmt.Sprintf("job %s", safetext.Of(id)), config)
}

// idOf is the id of the job that is meant.
func (l *Live) idOf(ctx context.Context, ref inspect.JobRef) (string, error) {
	switch {
	case ref.ID != "":
		return ref.ID, nil
	case ref.Name != "":
		return l.find(ctx, ref.Name)
	default:
		return l.only(ctx)
	}
}

// only is the id of the one job that has not ended.
func (l *Live) only(ctx context.Context) (string, error) {
	jobs, err := l.rest.Jobs(ctx)
	if err != nil {
		return "", err
	}
	active := slices.DeleteFunc(slices.Clone(jobs), func(j flinkrest.JobSummary) bool {
		return inspect.Ended(j.State) || !flinkrest.IsJobID(j.ID)
	})
	switch len(active) {
	case 0:
		return "", notThere(l.rest.Address(), "job that has not ended", jobs)
	case 1:
		return active[0].ID, nil
	default:
		return "", fault.New(fault.Usage, liveOp, "there are %d jobs at %s, and none was named: %s", len(active), l.rest.Address(), listed5(active, func(j flinkrest.JobSummary) string {
			return fmt.Sprintf("%s (%s)", safetext.Of(j.Name).Truncate(60), j.ID)
		})).WithHint("name one with --flink-job, or with flink.job of the job in the profile")
	}
}

// find is the id of the job that a name means.
func (l *Live) find(ctx context.Context, name string) (string, error) {
	jobs, err := l.rest.Jobs(ctx)
	if err != nil {
		return "", err
	}
	var active, ended []flinkrest.JobSummary
	for _, j := range jobs {
		switch {
		case j.Name != name || !flinkrest.IsJobID(j.ID):
		case inspect.Ended(j.State):
			ended = append(ended, j)
		default:
			active = append(active, j)
		}
	}
	switch {
	case len(active) == 1:
		return active[0].ID, nil
	case len(active) > 1:
		slices.SortFunc(active, func(a, b flinkrest.JobSummary) int { return cmp.Compare(b.StartTime, a.StartTime) })
		refs := make([]string, 0, len(active))
		for _, j := range active {
			refs = append(refs, "job "+j.ID)
		}
		return "", fault.New(fault.Usage, liveOp, "%d jobs at %s are named %s: %s", len(active), l.rest.Address(), safetext.Of(name).Truncate(100), listed5(active, func(j flinkrest.JobSummary) string {
			return fmt.Sprintf("%s (%s)", j.ID, safetext.Of(j.State).Truncate(20))
		})).WithHint("give the job's id instead of its name, as in --flink-job %s", active[0].ID).WithRef(refs...)
	case len(ended) > 0:
		return slices.MaxFunc(ended, func(a, b flinkrest.JobSummary) int { return cmp.Compare(a.StartTime, b.StartTime) }).ID, nil
	}
	return "", notThere(l.rest.Address(), "job named "+safetext.Of(name).Truncate(100).String(), jobs)
}

// gone is the fault of an id that Flink does not know. What it does know helps
// to find the job again.
func (l *Live) gone(ctx context.Context, what string, config flinkrest.Config) error {
	jobs, err := l.rest.Jobs(ctx)
	if err != nil {
		return err
	}
	f := notThere(l.rest.Address(), what, jobs)
	if !config.Features.History {
		f.Hint += "; a job that was started again has a new id, and an ended one is forgotten after a while (jobstore.expiration-time, one hour by default)"
	}
	return f
}

func notThere(address safetext.Text, what string, jobs []flinkrest.JobSummary) *fault.Fault {
	names := "it has no jobs"
	if len(jobs) > 0 {
		names = "it has " + listed5(jobs, func(j flinkrest.JobSummary) string {
			return fmt.Sprintf("%s (%s)", safetext.Of(j.Name).Truncate(60), safetext.Of(j.State).Truncate(20))
		})
	}
	return fault.New(fault.NotFound, liveOp, "there is no %s at %s: %s", what, address, names).
		WithHint("check the job's name in Flink (--flink-job, or flink.job in the profile) and that this is its JobManager").WithRef(address.String())
}

// listed5 names the first five of a list and counts the rest.
func listed5[T any](items []T, name func(T) string) string {
	const most = 5
	names := make([]string, 0, most)
	for _, item := range items[:min(len(items), most)] {
		names = append(names, name(item))
	}
	all := strings.Join(names, ", ")
	if more := len(items) - most; more > 0 {
		all += fmt.Sprintf(" and %d more", more)
	}
	return all
}

// read asks for the parts of a job's state at once.
func (l *Live) read(ctx context.Context, config flinkrest.Config, job flinkrest.Job) (inspect.LiveState, error) {
	state := inspect.LiveState{
		State: capped(job.State, 64), JobID: job.ID, Name: capped(job.Name, maxText), FlinkVersion: capped(config.Version, 64),
		Started: moment(job.StartTime), Since: moment(job.Timestamps[job.State]), CacheMs: config.RefreshInterval, Unread: []string{},
		MaxParallelism: agentMaxParallelism(job.Vertices),
	}
	var (
		wg     sync.WaitGroup
		names  = [...]string{partExceptions, partCheckpoints, partSettings, partRestarts}
		errs   [len(names)]error
		causes *inspect.RootCause
		points *inspect.LiveCheckpoints
		how    *inspect.CheckpointSettings
		times  *int64
	)
	wg.Go(func() { causes, errs[0] = l.cause(ctx, job.ID) })
	wg.Go(func() { points, errs[1] = l.checkpoints(ctx, job.ID) })
	wg.Go(func() { how, errs[2] = l.settings(ctx, job.ID) })
	wg.Go(func() { times, errs[3] = l.restarts(ctx, job) })
	wg.Wait()
	state.AsOf = l.clock.Now()
	state.RootCause, state.Checkpoints, state.Settings, state.Restarts = causes, points, how, times
	if causes != nil {
		text := oneLine(*causes)
		state.LastException = &text
	}
	if points != nil && points.Restored != nil {
		state.RestoredFrom = points.Restored.Path
	}
	state.NextRestore = inspect.NextOf(state.State, points, how)
	for i, err := range errs {
		if err != nil {
			state.Unread = append(state.Unread, names[i])
		}
	}
	return state, errors.Join(errs[:]...)
}

func oneLine(c inspect.RootCause) string {
	switch {
	case c.Type == "":
		return c.Message
	case c.Message == "":
		return c.Type
	}
	return c.Type + ": " + c.Message
}
