package inspect

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/recoverctl/recoverctl/internal/fault"
)

// CallAsk says which durable calls of a job are asked about, and what a restore
// from where would do to them.
type CallAsk struct {
	// Points are addresses of recovery points to say outcomes for; nil: of all in
	// the job's places.
	Points []string

	// FromMarker begins the scan at the merged marker of this recovery point
	// instead of each log start. What lies before is then not known.
	FromMarker string

	Plan       Offsets       // targets of an open cleanup plan; nil: none
	All        bool          // completed actions too
	Keys       []CallKey     // only actions of these keys; empty: of all
	Prefix     string        // only actions whose key text begins so
	Dictionary KeyDictionary // nil: the keys that the newest recovery point with readable keyed state keeps
	Final      bool          // tell the watcher what is final; see CallUpdate
}

// Calls reads the job's topic once for its durable calls and says what a restore
// from each recovery point would do to them. watch may be nil.
//
// An error means that nothing could be said. What could not be read beside what
// could is in faults; what was left of the topic makes the answer partial.
func (i *Inspector) Calls(ctx context.Context, job Job, ask CallAsk, watch func(CallUpdate)) (calls DurableCalls, faults []error, err error) {
	var (
		wg        sync.WaitGroup
		ev        reading
		points    []RecoveryPoint
		pointsErr error
	)
	wg.Go(func() { ev = i.gather(ctx, job) })
	wg.Go(func() { points, pointsErr = i.asked(ctx, job, ask.Points) })
	wg.Wait()
	var missing *absentPoint
	switch {
	case errors.As(pointsErr, &missing):
		return calls, nil, missing.error
	case ev.dataErr != nil:
		return calls, nil, ev.dataErr
	case !ev.data.Exists:
		return calls, nil, MissingLog(job)
	}
	q := CallQuestion{Job: job, Points: ev.markers(job, points, ask.Points != nil), Plan: ask.Plan, All: ask.All, Keys: ask.Keys, Prefix: ask.Prefix, Dictionary: ask.Dictionary, Final: ask.Final}
	if q.Dictionary == nil {
		q.Dictionary = i.dictionary(ctx, points)
	}
	if ask.FromMarker != "" {
		if q.From, err = i.fromMarker(ctx, job, ask.FromMarker, ev); err != nil {
			return calls, nil, err
		}
	}
	calls, scanErr := i.readCalls(ctx, ev.data, q, watch)
	if scanErr != nil && nothingRead(calls) {
		return calls, nil, scanErr
	}
	return calls, nonNil(ev.partial, pointsErr, scanErr), nil
}

// absentPoint is a recovery point that was asked for by name and is not there.
type absentPoint struct{ error }

func (a *absentPoint) Unwrap() error { return a.error }

// asked reads the points that outcomes are asked for. One that exists and can't
// be read is in the list all the same: its outcomes are unknown.
func (i *Inspector) asked(ctx context.Context, job Job, uris []string) ([]RecoveryPoint, error) {
	if uris == nil {
		return i.list(ctx, job.RecoveryPoints)
	}
	points := make([]RecoveryPoint, len(uris))
	errs := make([]error, len(uris))
	var wg sync.WaitGroup
	for n, uri := range uris {
		wg.Go(func() { points[n], errs[n] = i.points.Point(ctx, uri) })
	}
	wg.Wait()
	for n, err := range errs {
		switch {
		case err == nil:
		case fault.KindOf(err) == fault.NotFound, fault.KindOf(err) == fault.Usage:
			return nil, &absentPoint{err}
		default:
			points[n].URI, points[n].Err = uris[n], err
		}
	}
	return points, errors.Join(errs...)
}

// markers are the points that outcomes are asked for: all that were named, else
// those that are not rejected.
func (ev reading) markers(job Job, points []RecoveryPoint, named bool) []PointMarker {
	out := []PointMarker{}
	for _, p := range points {
		if v := ev.judge(job, p); named || v.Verdict != Rejected {
			out = append(out, v.Marker)
		}
	}
	return out
}

// fromMarker is where a scan begins that leaves out what a restore from a point
// would not read.
func (i *Inspector) fromMarker(ctx context.Context, job Job, uri string, ev reading) (Offsets, error) {
	point, err := i.points.Point(ctx, uri)
	if err != nil {
		return nil, err
	}
	m := ev.judge(job, point).Marker
	if m.Offsets == nil {
		return nil, fault.New(fault.Problem, "find a marker", "nothing can begin at the marker of %s: %s", quote(uri), m.Why)
	}
	return m.Offsets, nil
}

// Marker is where a restore from a recovery point would begin to read the job's
// topic. It is an error where that is not known.
func (i *Inspector) Marker(ctx context.Context, job Job, uri string) (Offsets, error) {
	ev := i.gather(ctx, job)
	if ev.dataErr != nil {
		return nil, ev.dataErr
	}
	return i.fromMarker(ctx, job, uri, ev)
}

// nothingRead reports whether a scan ended before it had read anything.
func nothingRead(c DurableCalls) bool { return c.Scanned.Records == 0 && len(c.Actions) == 0 }

// readCalls asks the backend. Maps and lists of the answer are never nil.
func (i *Inspector) readCalls(ctx context.Context, data DataTopic, q CallQuestion, watch func(CallUpdate)) (DurableCalls, error) {
	reader, ok := i.log.(CallReader)
	if !ok {
		return DurableCalls{}, fault.New(fault.Unsupported, "scan for calls", "this backend can't scan its log for durable calls")
	}
	return reader.ReadCalls(ctx, data, q, watch)
}

// marker is the recovery point as far as the outcomes of calls depend on it.
// Markers of another topic say nothing about this one's offsets.
func (r *restore) marker() PointMarker {
	m := PointMarker{Point: r.q.Point}
	merged := Merge(r.q.Markers)
	switch {
	case r.q.PointErr != nil:
		m.Why = unread("the recovery point", r.q.PointErr)
	case !r.markersWhole:
		m.Why = "its markers are not known: the metadata is damaged"
	case merged.Problem != nil:
		m.Why = "its markers are refused: " + merged.Problem.Message
	case merged.Kind == MergedNone:
		// The job starts without action state, which is what markers at the log end
		// come to.
		m.Offsets = Offsets{}
		for p, log := range r.topic.ranges {
			m.Offsets[p] = log.End
		}
	case merged.TopicID != nil && r.topic.known && *merged.TopicID != r.topic.id:
		m.Why = fmt.Sprintf("its markers are of a topic with the id %s, and this one has %s", quote(*merged.TopicID), quote(r.topic.id))
	default:
		m.Offsets, m.Last = merged.Offsets, r.last(r.lists)
	}
	return m
}

// last is where the last of several agent operators begins to read, by their lists of
// markers. One that has no marker begins behind all records.
func (r *restore) last(lists []markerList) Offsets {
	bare := slices.ContainsFunc(r.agents(), func(op Operator) bool {
		return len(op.States) > 0 && !slices.ContainsFunc(lists, func(l markerList) bool { return l.operator == "" || l.operator == op.ID })
	})
	if len(lists) < 2 && !bare {
		return nil
	}
	last := Offsets{}
	for _, l := range lists {
		for p, at := range l.lowest() {
			if last[p] = max(last[p], at); bare {
				last[p] = math.MaxInt64
			}
		}
	}
	return last
}
