package kafka

import (
	"context"
	"regexp"
	"slices"
	"sync"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Sources is where the evidence for a report is read.
type Sources struct {
	Log    inspect.LogStore   // nil: no cluster is asked, on purpose
	Points inspect.PointStore // nil: recovery points can't be read from here
	Live   inspect.LiveStore  // nil: no Flink is asked
	Clock  clock.Clock
}

// Gather reads all that a plan is judged by, as it is now: the two topics, the
// plan's own recovery point, the places of the job with recovery points and its
// pinned ones, and what the job does. What could not be read stands in the
// evidence beside what could. The error is a fault of kind Cancelled or
// Unreachable where ctx ended before everything was asked.
func (s Sources) Gather(ctx context.Context, job inspect.Job, plan inspect.CleanupPlan, replication *int) (actions.Evidence, error) {
	e := actions.Evidence{Job: job, At: s.Clock.Now(), Replication: replication, Offline: s.Log == nil}
	var wg sync.WaitGroup
	if s.Log != nil {
		wg.Go(func() { s.topics(ctx, &e) })
	}
	if s.Points != nil {
		wg.Go(func() { s.points(ctx, &e, plan) })
	}
	if s.Live != nil && job.Flink.REST != "" {
		wg.Go(func() {
			live, _ := s.Live.Live(ctx, job.Flink) // where nothing is known, a warning says so
			if live.JobID != "" {
				e.Live = &live
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return e, fault.Wrap(fault.KindOf(ctx.Err()), "gather evidence", ctx.Err(), "stopped before everything was read")
	}
	return e, nil
}

func (s Sources) topics(ctx context.Context, e *actions.Evidence) {
	var wg sync.WaitGroup
	wg.Go(func() {
		e.Data, e.DataErr = s.Log.DataTopic(ctx, e.Job.Topic)
	})
	if actions.CheckConfiguration(inspect.Job{Topic: e.Job.Topic, ControlTopic: e.Job.ControlTopic}, nil) == nil {
		wg.Go(func() {
			e.Control, e.ControlErr = s.Log.ControlTopic(ctx, *e.Job.ControlTopic)
		})
	}
	wg.Wait()
}

// address is how a recovery point's address begins: a scheme, or a path from the
// root. A plan made from a file of markers may name anything else.
var address = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*:|/)`)

// points reads the plan's own point and everything in the places to search. A
// pinned point outside them is read by itself: that it is not there is no
// problem of a place, and told by the warning for pinned points.
func (s Sources) points(ctx context.Context, e *actions.Evidence, plan inspect.CleanupPlan) {
	if address.MatchString(plan.SourceRecoveryPoint) {
		own, err := s.Points.Point(ctx, plan.SourceRecoveryPoint)
		if isRead(err) {
			e.Own = &own
		} else {
			e.OwnErr = err
		}
	}
	for _, place := range e.Job.RecoveryPoints {
		points, err := s.Points.Points(ctx, place)
		found := actions.Searched{Place: place, At: s.Clock.Now(), Found: len(points)}
		if err != nil {
			found.Problem = safetext.Error(err).String()
		}
		e.Points, e.Searched = append(e.Points, points...), append(e.Searched, found)
	}
	for _, uri := range e.Job.Pinned {
		if slices.ContainsFunc(e.Points, func(p inspect.RecoveryPoint) bool { return inspect.SamePoint(p.URI, uri) }) {
			continue
		}
		point, err := s.Points.Point(ctx, uri)
		switch {
		case isRead(err):
			e.Points = append(e.Points, point)
		case fault.KindOf(err) != fault.NotFound:
			e.Points = append(e.Points, inspect.RecoveryPoint{URI: uri, CheckpointID: -1, Err: err})
		}
	}
}

// isRead reports whether a point could be judged: a damaged one is, by its
// failing checks.
func isRead(err error) bool { return err == nil || fault.KindOf(err) == fault.Corrupt }
