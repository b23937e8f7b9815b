package viewtest

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/testkit/stores"
)

// Shelf is a PointStore, and Broker a LogStore, in memory.
type (
	Shelf  = stores.Points
	Broker = stores.Log
)

// Source answers for several jobs, each with stores of its own.
type Source struct {
	jobs  map[string]*inspect.Inspector
	lives map[string]inspect.LiveStore
}

// Add gives a job its stores, in place of those that it had.
func (s *Source) Add(job string, store Shelf, log inspect.LogStore) {
	if s.jobs == nil {
		s.jobs = map[string]*inspect.Inspector{}
	}
	s.jobs[job] = inspect.New(store, log, clock.NewFake(Now))
	if live := s.lives[job]; live != nil {
		s.jobs[job] = s.jobs[job].WithLive(live)
	}
}

// Connect gives a job that was added a Flink, in place of the one that it had.
// It is asked for a job that names a JobManager, as LiveJob does.
func (s *Source) Connect(job string, live inspect.LiveStore) {
	if s.lives == nil {
		s.lives = map[string]inspect.LiveStore{}
	}
	s.lives[job] = live
	s.jobs[job] = s.jobs[job].WithLive(live)
}

// Overview is that of the job's inspector.
func (s *Source) Overview(ctx context.Context, job inspect.Job) (inspect.JobOverview, error) {
	return s.jobs[job.Name].Overview(ctx, job)
}

// OverviewSoon is that of the job's inspector.
func (s *Source) OverviewSoon(ctx context.Context, job inspect.Job, patience time.Duration,
	show func(inspect.JobOverview, inspect.Awaited, error)) (inspect.JobOverview, error) {
	return s.jobs[job.Name].OverviewSoon(ctx, job, patience, show)
}

// Point asks the jobs' inspectors in turn for one that knows the point.
func (s *Source) Point(ctx context.Context, uri string) (p inspect.RecoveryPoint, err error) {
	for _, job := range slices.Sorted(maps.Keys(s.jobs)) {
		p, err = s.jobs[job].Point(ctx, uri)
		if err == nil || fault.KindOf(err) != fault.NotFound {
			return p, err
		}
	}
	return p, err
}

// Elsewhere is that of the job's inspector.
func (s *Source) Elsewhere(ctx context.Context, job inspect.Job, uri string) (inspect.PointSummary, error) {
	return s.jobs[job.Name].Elsewhere(ctx, job, uri)
}

// Running is that of the job's inspector.
func (s *Source) Running(ctx context.Context, job inspect.Job) (inspect.Running, error) {
	return s.jobs[job.Name].Running(ctx, job)
}

// Control is that of the job's inspector.
func (s *Source) Control(ctx context.Context, job inspect.Job, expect *inspect.History) (inspect.CleanupBoundary, error) {
	return s.jobs[job.Name].Control(ctx, job, expect)
}

// Checkpoint is that of the job's inspector.
func (s *Source) Checkpoint(ctx context.Context, job inspect.Job, id int64) (inspect.LiveCheckpointDetails, error) {
	return s.jobs[job.Name].Checkpoint(ctx, job, id)
}

// Flink is a LiveStore with one answer. It knows the tasks of the checkpoints in
// its history: all are done, but for those in Waiting.
type Flink struct {
	State   inspect.LiveState
	Err     error
	Waiting []inspect.LiveCheckpointTask
}

// Checkpoint implements inspect.CheckpointStore.
func (f Flink) Checkpoint(_ context.Context, _ inspect.JobRef, id int64) (inspect.LiveCheckpointDetails, error) {
	if f.State.Checkpoints != nil {
		for _, c := range f.State.Checkpoints.History {
			if c.ID == id {
				tasks := []inspect.LiveCheckpointTask{{Name: "Source: orders", Status: inspect.CheckpointCompleted, Acknowledged: 2, Subtasks: 2, Bytes: 4100}}
				return inspect.LiveCheckpointDetails{LiveCheckpoint: c, Tasks: append(tasks, f.Waiting...)}, f.Err
			}
		}
	}
	return inspect.LiveCheckpointDetails{}, fault.New(fault.NotFound, "read live state", "checkpoint %d is not in Flink's history", id)
}

// Live implements inspect.LiveStore.
func (f Flink) Live(context.Context, inspect.JobRef) (inspect.LiveState, error) {
	return f.State, f.Err
}

// Seen is the situation after the topic was scanned: calls would run again.
type Seen struct{ *Source }

// OverviewSoon is the inspector's with what the scan found.
func (s Seen) OverviewSoon(ctx context.Context, job inspect.Job, patience time.Duration,
	show func(inspect.JobOverview, inspect.Awaited, error)) (inspect.JobOverview, error) {
	o, err := s.Source.OverviewSoon(ctx, job, patience, show)
	o.PendingCalls = &inspect.PendingCalls{Pending: 1, Overwritten: 1}
	o.Scan = &inspect.Scan{Done: 1204118, Total: 1204118}
	for i := range o.Points {
		runs := map[int64]int64{44: 2, 43: 1, 42: 0}
		if n, ok := runs[o.Points[i].CheckpointID]; ok {
			o.Points[i].RunsAgain = &n
		}
	}
	return o, err
}
