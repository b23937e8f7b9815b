package main

import (
	"context"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// gatherer reads what a plan is judged by. Each answer is of now.
type gatherer struct {
	in    *inspect.Inspector
	log   inspect.LogStore
	live  inspect.LiveStore
	clock clock.Clock
	job   inspect.Job

	// replication is the consent to making a missing control topic; nil: none.
	replication *int
}

// evidence reads everything side by side. Source is the address that the plan
// names. What could not be read is in the evidence, where it is judged, and in
// the faults, which are for people.
func (g gatherer) evidence(ctx context.Context, source string) (e actions.Evidence, faults []error) {
	e = actions.Evidence{Job: g.job, At: g.clock.Now(), Replication: g.replication}
	var (
		wg        sync.WaitGroup
		partial   error
		places    placesRead
		liveErr   error
		pinnedErr error
	)
	wg.Go(func() {
		// Of a topic whose settings are known, the partitions say what is missing.
		if e.Data, e.DataErr = g.in.Topic(ctx, g.job); e.DataErr != nil && e.Data.Exists && len(e.Data.Settings) > 0 {
			partial, e.DataErr = e.DataErr, nil
		}
	})
	if actions.CheckConfiguration(inspect.Job{Topic: g.job.Topic, ControlTopic: g.job.ControlTopic}, nil) == nil {
		wg.Go(func() { e.Control, e.ControlErr = g.log.ControlTopic(ctx, *g.job.ControlTopic) })
	}
	wg.Go(func() { e.Own, e.OwnErr = g.own(ctx, source) })
	wg.Go(func() {
		places = g.search(ctx)
		pinnedErr = g.addPinned(ctx, &places)
	})
	if g.job.Flink.REST != "" {
		wg.Go(func() {
			state, err := g.live.Live(ctx, g.job.Flink)
			if liveErr = err; state.JobID != "" {
				e.Live = &state
			}
		})
	}
	wg.Wait()
	e.Points, e.Searched = places.points, places.searched
	for _, err := range slices.Concat([]error{e.DataErr, partial, e.ControlErr}, places.errs, []error{pinnedErr, liveErr}) {
		if err != nil {
			faults = append(faults, err)
		}
	}
	return e, faults
}

// own reads the plan's own point. A plan from a file of markers may name anything
// as its source: words that are no address, an address of another machine, a
// store that is not set up here. Such a plan has no readable point, which the
// warning points-unknown says, and nil is returned for both. Only where the
// folder around an address is there is the point known to be gone.
func (g gatherer) own(ctx context.Context, source string) (*inspect.RecoveryPoint, error) {
	point, err := g.in.Point(ctx, source)
	if err == nil {
		return &point, nil
	}
	switch kind := fault.KindOf(err); {
	case kind == fault.Corrupt:
		if point.WorstCheck() != inspect.SeverityError {
			point.Err = err // damage that no check names must not pass for a sound point
		}
		return &point, nil
	case kind == fault.NotFound && (!isAddress(source) || !g.canSee(ctx, source)),
		(kind == fault.Unsupported || kind == fault.Usage) && len(point.Checks) == 0: // a place, not a version, that can't be read from here
		return nil, nil
	default:
		return nil, err
	}
}

// isAddress reports whether a text is surely meant as the address of a point,
// and not as any words of an operator.
func isAddress(text string) bool {
	scheme, _, found := strings.Cut(text, ":")
	return strings.HasPrefix(text, "/") || found && scheme != "" && !strings.ContainsAny(scheme, " /\t")
}

// canSee reports whether the folder around a point is there. The root of a disk
// is never searched for that.
func (g gatherer) canSee(ctx context.Context, uri string) bool {
	const folders = 2 // below the root, at least
	trimmed := strings.TrimSuffix(strings.TrimRight(uri, "/"), "/_metadata")
	around := trimmed[:max(0, strings.LastIndexByte(trimmed, '/'))]
	_, names, found := strings.Cut(around, ":")
	if !found {
		names = around
	}
	if strings.Count(path.Clean("/"+strings.TrimLeft(names, "/")), "/") < folders {
		return false
	}
	_, err := g.in.List(ctx, around)
	return err == nil || fault.KindOf(err) != fault.NotFound
}

// placesRead is what a search of all places found.
type placesRead struct {
	points   []inspect.RecoveryPoint
	searched []actions.Searched
	errs     []error
}

// search reads all places of the job side by side.
func (g gatherer) search(ctx context.Context) placesRead {
	type place struct {
		points []inspect.RecoveryPoint
		err    error
		at     time.Time
	}
	found := make([]place, len(g.job.RecoveryPoints))
	var wg sync.WaitGroup
	for i, uri := range g.job.RecoveryPoints {
		wg.Go(func() {
			found[i].at = g.clock.Now()
			found[i].points, found[i].err = g.in.List(ctx, uri)
		})
	}
	wg.Wait()
	var out placesRead
	for i, p := range found {
		s := actions.Searched{Place: g.job.RecoveryPoints[i], At: p.at, Found: len(p.points)}
		if p.err != nil {
			s.Problem = problemsOf(p.err)
			out.errs = append(out.errs, p.err)
		}
		out.points = append(out.points, p.points...)
		out.searched = append(out.searched, s)
	}
	inspect.NewestFirst(out.points)
	return out
}

// problemsOf puts all faults of a place into one line.
func problemsOf(err error) string {
	var all []string
	for _, one := range fault.All(err) {
		all = append(all, safetext.Error(one).String())
	}
	return strings.Join(all, "; ")
}

// addPinned reads the pinned points that lie in none of the places. One that is
// absent is not added: the report says so of a pinned point that was not found.
func (g gatherer) addPinned(ctx context.Context, places *placesRead) error {
	for _, uri := range g.job.Pinned {
		if slices.ContainsFunc(places.points, func(p inspect.RecoveryPoint) bool { return inspect.SamePoint(p.URI, uri) }) {
			continue
		}
		p, err := g.in.Point(ctx, uri)
		switch {
		case err == nil:
		case fault.KindOf(err) == fault.NotFound:
			continue
		case fault.KindOf(err) == fault.Cancelled:
			return err
		case fault.KindOf(err) != fault.Corrupt || p.WorstCheck() != inspect.SeverityError:
			p.URI, p.Err = uri, err
		}
		places.points = append(places.points, p)
	}
	return nil
}
