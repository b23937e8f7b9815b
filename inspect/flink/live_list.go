package flink

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flinkrest"
)

const (
	maxJobs  = 500      // of a list of jobs
	maxTrace = 32 << 10 // bytes of a stack trace that are kept
)

// JobList is what a JobManager knows of jobs: those that have not ended first,
// and of both those that began last first.
type JobList struct {
	Address      string     `json:"address"`
	FlinkVersion string     `json:"flinkVersion"`
	AsOf         time.Time  `json:"asOf"`
	Jobs         []JobEntry `json:"jobs"`
	Cut          int        `json:"cut"` // jobs that were left out here
}

// JobEntry is one job of a list. The name is as it came, cut where it is very
// long.
type JobEntry struct {
	JobID   string     `json:"jobId"`
	Name    string     `json:"name"`
	State   string     `json:"state"` // Flink's word, as in RUNNING
	Started *time.Time `json:"started"`
	Ended   *time.Time `json:"ended"` // nil: it has not
}

// Jobs lists the jobs that a JobManager knows. Flink forgets ended ones after a
// while (option jobstore.expiration-time, one hour by default).
func (l *Live) Jobs(ctx context.Context) (JobList, error) {
	config, err := l.rest.Config(ctx)
	if err != nil {
		return JobList{}, err
	}
	jobs, err := l.rest.Jobs(ctx)
	if err != nil {
		return JobList{}, err
	}
	ended := func(j flinkrest.JobSummary) int {
		if inspect.Ended(j.State) {
			return 1
		}
		return 0
	}
	slices.SortFunc(jobs, func(a, b flinkrest.JobSummary) int {
		return cmp.Or(cmp.Compare(ended(a), ended(b)), cmp.Compare(b.StartTime, a.StartTime), strings.Compare(a.ID, b.ID))
	})
	list := JobList{
		Address: l.rest.Address().String(), FlinkVersion: capped(config.Version, 64), AsOf: l.clock.Now(),
		Jobs: make([]JobEntry, 0, min(len(jobs), maxJobs)), Cut: max(0, len(jobs)-maxJobs),
	}
	for _, j := range jobs[:min(len(jobs), maxJobs)] {
		list.Jobs = append(list.Jobs, JobEntry{
			JobID: capped(j.ID, 64), Name: capped(j.Name, maxText), State: capped(j.State, 64),
			Started: moment(j.StartTime), Ended: moment(j.EndTime),
		})
	}
	return list, nil
}

// FailureList is what made a job fail, newest first. Flink keeps the latest
// failures only (option web.exception-history-size, 16 by default).
type FailureList struct {
	JobID    string    `json:"jobId"`
	Name     string    `json:"name"`
	State    string    `json:"state"`
	AsOf     time.Time `json:"asOf"`
	CacheMs  int64     `json:"cacheMs"` // the list may be that much older than AsOf
	Failures []Failure `json:"failures"`
	More     bool      `json:"more"` // Flink has older ones than these
}

// Failure is one exception that made Flink act: its root cause, and the stack
// trace it was taken from, as it came, cut where it is very long.
type Failure struct {
	inspect.RootCause
	Trace      string `json:"trace"`
	Concurrent int    `json:"concurrent"` // tasks that failed in the same moment beside it
}

// Failures lists the newest failures of a job, limit at most.
func (l *Live) Failures(ctx context.Context, ref inspect.JobRef, limit int) (FailureList, error) {
	config, job, err := l.open(ctx, ref)
	if err != nil {
		return FailureList{}, err
	}
	exceptions, err := l.rest.Exceptions(ctx, job.ID, limit)
	if err != nil && fault.KindOf(err) == fault.Unsupported && limit > 1 {
		exceptions, err = l.rest.Exceptions(ctx, job.ID, 1) // they may be too large together
		exceptions.History.Truncated = true
	}
	if err != nil {
		return FailureList{}, err
	}
	entries := exceptions.History.Entries
	slices.SortStableFunc(entries.Items, func(a, b flinkrest.Failure) int { return cmp.Compare(b.Timestamp, a.Timestamp) })
	list := FailureList{
		JobID: job.ID, Name: capped(job.Name, maxText), State: capped(job.State, 64), AsOf: l.clock.Now(), CacheMs: config.RefreshInterval,
		Failures: make([]Failure, 0, len(entries.Items)), More: exceptions.History.Truncated || entries.Total > limit,
	}
	for _, f := range entries.Items[:min(len(entries.Items), limit)] {
		list.Failures = append(list.Failures, Failure{RootCause: causeOf(f), Trace: capped(f.StackTrace, maxTrace), Concurrent: f.Concurrent.Total})
	}
	return list, nil
}
