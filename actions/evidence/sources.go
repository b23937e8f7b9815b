package evidence

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

// Sources is where the evidence for a job's plans is read.
type Sources struct {
	Points inspect.PointStore // nil: recovery points can't be read from here
	Log    inspect.LogStore   // nil: no cluster is asked, on purpose
	Live   inspect.LiveStore  // nil: no Flink is asked
	Clock  clock.Clock
	Job    inspect.Job

	// Replication is the consent to making a missing control topic; nil: none.
	Replication *int
}

// Gather reads everything side by side, as it is now. Source is the address that
// the plan names. What could not be read stands in the evidence, where it is
// judged, and in the faults, which are for people. After the end of ctx nothing
// of it is to be used.
func (s Sources) Gather(ctx context.Context, source string) (e actions.Evidence, faults []error) {
	e = actions.Evidence{Job: s.Job, At: s.Clock.Now(), Replication: s.Replication, Offline: s.Log == nil}
	var (
		wg        sync.WaitGroup
		partial   error
		places    placesRead
		liveErr   error
		pinnedErr error
	)
	if s.Log != nil {
		wg.Go(func() { e.Data, partial, e.DataErr = s.data(ctx) })
	}
	if s.Log != nil && actions.CheckConfiguration(inspect.Job{Topic: s.Job.Topic, ControlTopic: s.Job.ControlTopic}, nil) == nil {
		wg.Go(func() { e.Control, e.ControlErr = s.Log.ControlTopic(ctx, *s.Job.ControlTopic) })
	}
	if s.Points != nil {
		wg.Go(func() { e.Own, e.OwnErr = s.own(ctx, source) })
		wg.Go(func() {
			places = s.search(ctx)
			pinnedErr = s.addPinned(ctx, &places)
		})
	}
	if s.Live != nil && s.Job.Flink.REST != "" {
		wg.Go(func() {
			state, err := s.Live.Live(ctx, s.Job.Flink)
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

// data reads the data topic. Of one whose settings are known, the partitions say
// what is missing: that is partial, and not why the topic could not be read.
func (s Sources) data(ctx context.Context) (data inspect.DataTopic, partial, err error) {
	if s.Job.Topic == "" {
		return data, nil, fault.New(fault.Config, "read topic", "no action-state topic is configured").
			WithHint("give --topic NAME or set action-state.topic of the job in the profile")
	}
	data, err = s.Log.DataTopic(ctx, s.Job.Topic)
	if err != nil && data.Exists && len(data.Settings) > 0 {
		return data, err, nil
	}
	return data, nil, err
}

// own reads the plan's own point. A plan from a file of markers may name anything
// as its source: words that are no address, an address of another machine, a
// store that is not set up here. Such a plan has no readable point, which the
// warning points-unknown says, and nil is returned for both. Only where the
// folder around an address is there is the point known to be gone.
func (s Sources) own(ctx context.Context, source string) (*inspect.RecoveryPoint, error) {
	point, err := s.Points.Point(ctx, source)
	if err == nil {
		return &point, nil
	}
	switch kind := fault.KindOf(err); {
	case kind == fault.Corrupt:
		if point.WorstCheck() != inspect.SeverityError {
			point.Err = err // damage that no check names must not pass for a sound point
		}
		return &point, nil
	case kind == fault.NotFound && (!isAddress(source) || !s.canSee(ctx, source)),
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
func (s Sources) canSee(ctx context.Context, uri string) bool {
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
	_, err := s.Points.Points(ctx, around)
	return err == nil || fault.KindOf(err) != fault.NotFound
}

// placesRead is what a search of all places found.
type placesRead struct {
	points   []inspect.RecoveryPoint
	searched []actions.Searched
	errs     []error
}

// search reads all places of the job side by side.
func (s Sources) search(ctx context.Context) placesRead {
	type place struct {
		points []inspect.RecoveryPoint
		err    error
		at     time.Time
	}
	found := make([]place, len(s.Job.RecoveryPoints))
	var wg sync.WaitGroup
	for i, uri := range s.Job.RecoveryPoints {
		wg.Go(func() {
			found[i].at = s.Clock.Now()
			found[i].points, found[i].err = s.Points.Points(ctx, uri)
		})
	}
	wg.Wait()
	var out placesRead
	for i, p := range found {
		searched := actions.Searched{Place: s.Job.RecoveryPoints[i], At: p.at, Found: len(p.points)}
		if p.err != nil {
			searched.Problem = problemsOf(p.err)
			out.errs = append(out.errs, p.err)
		}
		out.points = append(out.points, p.points...)
		out.searched = append(out.searched, searched)
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
func (s Sources) addPinned(ctx context.Context, places *placesRead) error {
	for _, uri := range s.Job.Pinned {
		if slices.ContainsFunc(places.points, func(p inspect.RecoveryPoint) bool { return inspect.SamePoint(p.URI, uri) }) {
			continue
		}
		p, err := s.Points.Point(ctx, uri)
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
