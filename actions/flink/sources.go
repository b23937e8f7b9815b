package flink

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	live "github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flinkrest"
)

// Points reads recovery points and judges a restore from them. inspect.Inspector
// is one.
type Points interface {
	Point(ctx context.Context, uri string) (inspect.RecoveryPoint, error)
	Validate(ctx context.Context, job inspect.Job, uri string) (inspect.RestoreValidation, []error, error)
}

// Sources is where the evidence for plans about a job is read.
type Sources struct {
	REST   flinkrest.Options // how to reach the JobManager
	Job    inspect.Job
	Points Points // of a rollback; nil: no point can be judged
	Clock  clock.Clock
}

// reading is a fresh connection to the JobManager. It is only asked.
type reading struct {
	Sources
	client *flinkrest.Client
	live   *live.Live
}

func (s Sources) open() (*reading, error) {
	client, err := flinkrest.New(s.REST)
	if err != nil {
		return nil, err
	}
	return &reading{Sources: s, client: client, live: live.NewLive(client, s.Clock)}, nil
}

func (r *reading) close() { r.client.Close() }

// scope is how much of the evidence is read.
type scope struct {
	plan  *actions.Document // whose trigger and new job are asked for; nil: there is no plan yet
	point string            // that is judged; empty: none is
	jars  bool
}

// Look reads what a plan about the job is made from; point is that of a rollback,
// else empty. Faults are what could not be read beside what could.
func (s Sources) Look(ctx context.Context, point string) (actions.FlinkEvidence, []error) {
	return s.gather(ctx, scope{point: point, jars: point != ""})
}

// Gather reads what a plan is judged by, from a fresh connection.
func (s Sources) Gather(ctx context.Context, plan actions.Document) (actions.FlinkEvidence, []error) {
	point := actions.FlinkPlanOf(plan).Point
	return s.gather(ctx, scope{plan: &plan, point: point, jars: point != ""})
}

func (s Sources) gather(ctx context.Context, what scope) (actions.FlinkEvidence, []error) {
	r, err := s.open()
	if err != nil {
		return actions.FlinkEvidence{Job: s.Job, At: s.Clock.Now(), Err: err}, nil
	}
	defer r.close()
	return r.gather(ctx, what)
}

// gather reads evidence over one connection. Where the JobManager does not answer,
// the evidence says so and holds nothing else.
func (r *reading) gather(ctx context.Context, what scope) (actions.FlinkEvidence, []error) {
	e := actions.FlinkEvidence{Job: r.Job, At: r.Clock.Now(), Address: r.client.Address().String()}
	var faults []error
	note := func(err error) {
		if err != nil {
			faults = append(faults, err)
		}
	}
	jobs, err := r.live.Jobs(ctx)
	if err != nil {
		e.Err = err
		return e, nil
	}
	for _, j := range jobs.Jobs {
		job := actions.FlinkJob{ID: j.JobID, Name: j.Name, State: j.State}
		if j.Started != nil {
			job.Started = *j.Started
		}
		e.Jobs = append(e.Jobs, job)
	}
	if jobs.Cut > 0 {
		e.Err = fault.New(fault.Unsupported, "read the jobs", "%s lists %d jobs more than are read: whether another has the same name is not known", e.Address, jobs.Cut)
		return e, nil
	}
	p := actions.FlinkPlan{}
	if what.plan != nil {
		p = actions.FlinkPlanOf(*what.plan)
	}
	var wg sync.WaitGroup
	var oldErr, newErr, savepointErr error
	wg.Go(func() { e.Old, e.Parallelism, oldErr = r.job(ctx, r.refOf(what, p)) })
	if p.NewJobID != "" {
		wg.Go(func() { e.New, e.NewParallelism, newErr = r.job(ctx, inspect.JobRef{ID: p.NewJobID}) })
	}
	if p.Savepoints() {
		wg.Go(func() { e.Savepoint, savepointErr = r.savepoint(ctx, p.JobID, p.Trigger) })
	}
	if what.jars {
		wg.Go(func() { e.Jars, e.JarsErr = r.jars(ctx) })
	}
	var beside []error
	if what.point != "" && r.Points != nil {
		wg.Go(func() { beside = r.judge(ctx, what.point, &e) })
	}
	wg.Wait()
	for _, part := range []struct {
		err     error
		nothing bool // the part is not known at all
	}{{oldErr, e.Old == nil}, {newErr, e.New == nil}, {savepointErr, !e.Savepoint.Known}} {
		if part.err != nil && part.nothing {
			e.Err = errors.Join(e.Err, part.err)
			continue
		}
		note(part.err)
	}
	return e, append(faults, beside...)
}

// refOf is the job that a plan is about: by its id, and where it had none, by its
// name.
func (r *reading) refOf(what scope, p actions.FlinkPlan) inspect.JobRef {
	switch {
	case what.plan == nil:
		return r.Job.Flink
	case p.JobID != "":
		return inspect.JobRef{ID: p.JobID}
	default:
		return inspect.JobRef{Name: p.JobName}
	}
}

// job reads one job; nil where Flink knows none. The error beside a job says what
// of it could not be read.
func (r *reading) job(ctx context.Context, ref inspect.JobRef) (*inspect.LiveState, int, error) {
	state, err := r.live.Live(ctx, ref)
	if state.JobID == "" {
		if fault.KindOf(err) == fault.NotFound {
			return nil, 0, nil
		}
		return nil, 0, err
	}
	if ref.ID != "" && state.JobID != ref.ID {
		return nil, 0, nil // a job that is named like an id
	}
	config, configErr := r.client.ExecutionConfig(ctx, state.JobID)
	if configErr != nil {
		err = errors.Join(err, configErr)
	}
	return &state, config.Execution.Parallelism, err
}

func (r *reading) savepoint(ctx context.Context, job, trigger string) (actions.SavepointState, error) {
	s, err := r.client.Savepoint(ctx, job, trigger)
	switch {
	case fault.KindOf(err) == fault.NotFound && err != nil:
		return actions.SavepointState{}, nil // Flink knows nothing of it
	case err != nil:
		return actions.SavepointState{}, err
	}
	state := actions.SavepointState{Known: true, Ready: s.Ready(), Location: s.Operation.Location}
	if s.Operation.Failure != nil {
		state.Failure = live.RootCauseOf(s.Operation.Failure.StackTrace)
		if strings.TrimSpace(state.Failure) == "" {
			state.Failure = s.Operation.Failure.Class
		}
	}
	return state, nil
}

// jars are the uploaded jars, the newest first.
func (r *reading) jars(ctx context.Context) ([]actions.FlinkJar, error) {
	jars, err := r.client.Jars(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(jars, func(a, b flinkrest.Jar) int { return int(min(1, max(-1, b.Uploaded-a.Uploaded))) })
	out := make([]actions.FlinkJar, 0, len(jars))
	for _, j := range jars {
		jar := actions.FlinkJar{ID: j.ID, Name: j.Name}
		for _, entry := range j.Entries {
			jar.Classes = append(jar.Classes, entry.Class)
		}
		out = append(out, jar)
	}
	return out, nil
}

// judge asks whether the point can be restored from now. The job that runs is
// none of its business: the rules are about the point and the log.
func (r *reading) judge(ctx context.Context, uri string, e *actions.FlinkEvidence) []error {
	v, faults, err := r.Points.Validate(ctx, r.Job, uri)
	if err != nil {
		e.RestoreErr = err
		return nil
	}
	e.Restore = &v
	point, err := r.Points.Point(ctx, uri)
	if err != nil {
		return append(faults, err)
	}
	e.PointKind = point.Kind
	return faults
}
