package inspect

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
)

// Inspector composes the answers about one job from what the stores read. It
// keeps nothing between calls: each answer is of now.
type Inspector struct {
	points   PointStore
	log      LogStore
	clock    clock.Clock
	live     LiveStore      // nil: no Flink is asked
	window   *windowReading // nil: the records of replay windows are not read
	prospect *Prospect      // nil: no plan is looked at
	counting *callCounting  // nil: topics are not scanned for durable calls
	lists    func(ListProgress)
}

// New returns an inspector. log may be nil where no brokers are configured: the
// rules that need a cluster are then not checked, and say so.
func New(points PointStore, log LogStore, c clock.Clock) *Inspector {
	return &Inspector{points: points, log: log, clock: c}
}

// WithLive returns an inspector that also asks Flink what jobs do now.
func (i *Inspector) WithLive(live LiveStore) *Inspector {
	out := *i
	out.live = live
	return &out
}

// reading is what all rules of one job look at, read once.
type reading struct {
	data       DataTopic
	dataErr    error // the topic could not be read
	partial    error // parts of the topic could not be read; data holds the rest
	control    ControlTopic
	controlErr error
	at         time.Time
	live       LiveState // of the running job; the zero value where none was read
}

func noBrokers(what string) error {
	return fault.New(fault.Config, "connect", "%s needs a cluster, and no brokers are configured", what).
		WithHint("give --brokers HOST:PORT or set kafka.brokers in the profile")
}

func noTopic() error {
	return fault.New(fault.Config, "read topic", "no action-state topic is configured").
		WithHint("give --topic NAME or set action-state.topic of the job in the profile")
}

// gather reads the data topic and the control topic side by side.
func (i *Inspector) gather(ctx context.Context, job Job) reading {
	ev := reading{at: i.clock.Now()}
	if i.log == nil {
		ev.dataErr = noBrokers("the log")
		ev.controlErr = ev.dataErr
		return ev
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if job.Topic == "" {
			ev.dataErr = noTopic()
			return
		}
		var err error
		ev.data, err = i.log.DataTopic(ctx, job.Topic)
		if err != nil && ev.data.Exists {
			ev.partial = err
		} else {
			ev.dataErr = err
		}
	})
	if readsControl(job) {
		wg.Go(func() { ev.control, ev.controlErr = i.log.ControlTopic(ctx, *job.ControlTopic) })
	}
	wg.Wait()
	return ev
}

// readsControl reports whether the job's control topic is one that its restore
// would read at all.
func readsControl(job Job) bool {
	return job.ControlTopic != nil && !isBlank(*job.ControlTopic) && *job.ControlTopic != job.Topic
}

// history is what the job knows of its data topic when it judges the control
// topic: the topic as it is now, or as a restore would create it.
func (ev reading) history(job Job) History {
	if !ev.data.Exists {
		return History{Topic: job.Topic, Partitions: firstPartitions(job.Partitions)}
	}
	return History{Topic: job.Topic, TopicID: ev.data.TopicID, Partitions: ev.data.IDs()}
}

func (ev reading) question(job Job, point string) RestoreQuestion {
	return RestoreQuestion{
		Point: point, Job: job,
		Data: ev.data, DataErr: ev.dataErr,
		Control: ev.control, ControlErr: ev.controlErr,
		RunningFlink: ev.live.FlinkVersion, RunningMaxParallelism: ev.live.MaxParallelism,
	}
}

func (ev reading) judge(job Job, point RecoveryPoint) RestoreValidation {
	return ValidateRestore(ev.questionOf(job, point))
}

// questionOf asks about a point that was read.
func (ev reading) questionOf(job Job, point RecoveryPoint) RestoreQuestion {
	q := ev.question(job, point.URI)
	q.Markers, q.PointErr = point.Markers, point.Err
	if point.Err == nil {
		q.PointChecks = point.Checks // of a point that this program can't read they say nothing about what Flink can
	}
	q.MetadataVersion, q.CheckpointID, q.Files, q.Taken = point.MetadataVersion, point.CheckpointID, point.Files, point.Taken.Time
	q.Operators, q.Kind, q.Format = point.Operators, point.Kind, point.Format
	return q
}

// Point reads one recovery point, offline.
func (i *Inspector) Point(ctx context.Context, uri string) (RecoveryPoint, error) {
	return i.points.Point(ctx, uri)
}

// Topic describes the job's data topic now. A topic that does not exist is a
// value with Exists false.
func (i *Inspector) Topic(ctx context.Context, job Job) (DataTopic, error) {
	if i.log == nil {
		return DataTopic{}, noBrokers("the topic")
	}
	if job.Topic == "" {
		return DataTopic{}, noTopic()
	}
	return i.log.DataTopic(ctx, job.Topic)
}

// List reads the recovery points at or under uri, without verdicts.
func (i *Inspector) List(ctx context.Context, uri string) ([]RecoveryPoint, error) {
	return i.points.Points(ctx, uri)
}

// Points lists the recovery points at or under uri, or in the job's places when
// uri is empty, each with its verdict. Without a cluster the verdicts are
// unknown. The error says what could not be read, beside the points that could.
func (i *Inspector) Points(ctx context.Context, job Job, uri string) (RecoveryPointList, error) {
	places := job.RecoveryPoints
	if uri != "" {
		places = []string{uri}
	}
	if len(places) == 0 {
		return RecoveryPointList{Points: []PointSummary{}},
			fault.New(fault.Config, "list recovery points", "no place to look for recovery points").
				WithHint("give a directory or --points URI, or set recovery-points of the job in the profile")
	}
	points, placesErr := i.list(ctx, places)
	var ev reading
	if len(points) > 0 {
		ev = i.gather(ctx, job)
	}
	list := RecoveryPointList{Points: summarize(job, points, ev)}
	if i.log == nil {
		return list, placesErr // verdicts say that no cluster was asked
	}
	scan := i.count(ctx, job, ev, CallPoints(list.Points))
	scan.into(list.Points)
	settle(list.Points)
	return list, errors.Join(ev.dataErr, ev.controlErr, placesErr, scan.fault())
}

// list reads all places side by side and keeps the order of the places for
// points that nothing else orders.
func (i *Inspector) list(ctx context.Context, places []string) ([]RecoveryPoint, error) {
	found := make([][]RecoveryPoint, len(places))
	errs := make([]error, len(places))
	watch := together(len(places), i.lists)
	var wg sync.WaitGroup
	for n, place := range places {
		wg.Go(func() { found[n], errs[n] = i.listed(ctx, place, watch(n)) })
	}
	wg.Wait()
	var all []RecoveryPoint
	seen := map[string]bool{} // two places may be spelled differently and be one
	for _, points := range found {
		for _, p := range points {
			if at := samePlace(p.URI); !seen[at] {
				seen[at] = true
				all = append(all, p)
			}
		}
	}
	NewestFirst(all)
	return all, errors.Join(errs...)
}

// Validate answers whether a restore from uri would be accepted, with the
// nearest accepted points of the job's places. It returns an error only when
// nothing could be said: the point is not there, or neither it nor the cluster
// could be read. What could not be read beside a verdict is in faults.
func (i *Inspector) Validate(ctx context.Context, job Job, uri string) (v RestoreValidation, faults []error, err error) {
	return i.validatePoint(ctx, job, uri, true)
}

// validatePoint is Validate. A whole answer names the rules of Flink's own that
// nothing is known for, and what to do next; a summary of a point leaves both out.
func (i *Inspector) validatePoint(ctx context.Context, job Job, uri string, whole bool) (v RestoreValidation, faults []error, err error) {
	var (
		wg        sync.WaitGroup
		ev        reading
		point     RecoveryPoint
		pointErr  error
		others    []RecoveryPoint
		othersErr error
		live      LiveState
		liveErr   error
	)
	wg.Go(func() { ev = i.gather(ctx, job) })
	wg.Go(func() { point, pointErr = i.points.Point(ctx, uri) })
	wg.Go(func() { others, othersErr = i.list(ctx, job.RecoveryPoints) })
	wg.Go(func() { live, liveErr = i.liveState(ctx, job) })
	wg.Wait()

	if pointErr != nil {
		switch fault.KindOf(pointErr) {
		case fault.Corrupt:
			if point.WorstCheck() != SeverityError {
				point.Err = pointErr // damage that no check names must not pass for a sound point
			}
		case fault.Unsupported, fault.Unreachable, fault.Denied:
			if ev.dataErr != nil {
				return v, nil, errors.Join(ev.dataErr, pointErr)
			}
			point.Err = pointErr
		default: // not there, cancelled, a bug: nothing to judge
			return v, nil, pointErr
		}
		faults = append(faults, pointErr)
		point.URI = uri
	}
	running := known(live)
	if running != nil {
		ev.live = live
		others = dated(others, live)
	}
	q := ev.questionOf(job, point)
	q.Whole = whole
	v, windowErr := i.validate(ctx, q, maxParallelismOf(point))
	list := summarize(job, others, ev)
	scan := i.count(ctx, job, ev, withPoint(CallPoints(list), v.Marker))
	scan.into(list)
	scan.judge(&v, job.Store)
	faults = append(faults, nonNil(ev.dataErr, ev.partial, ev.controlErr, othersErr, liveErr, windowErr, scan.fault())...)
	v.Older, v.Newer = nearest(list, others, point, pointErr == nil)
	if whole {
		v.Next = NextSteps(job, point.Kind, v, running)
	}
	return v, faults, nil
}

// ValidateMarkers is Validate for markers that came from a file of markers.
func (i *Inspector) ValidateMarkers(ctx context.Context, job Job, source string, markers []Marker) (RestoreValidation, []error) {
	ev := i.gather(ctx, job)
	q := ev.question(job, source)
	q.Markers, q.MarkersOnly = markers, true
	v, windowErr := i.validate(ctx, q, 0)
	scan := i.count(ctx, job, ev, []PointMarker{v.Marker})
	scan.judge(&v, job.Store)
	return v, nonNil(ev.dataErr, ev.partial, ev.controlErr, windowErr, scan.fault())
}

func nonNil(errs ...error) []error {
	return slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}

// Control reads the job's control topic and judges it. With expect set the data
// topic is not asked for. A blank name, or that of the data topic, is a problem
// in the answer; a topic that can't be read is an error.
func (i *Inspector) Control(ctx context.Context, job Job, expect *History) (CleanupBoundary, error) {
	if err := job.HasCleanups("read control topic"); err != nil {
		return CleanupBoundary{}, err
	}
	if job.ControlTopic == nil {
		return CleanupBoundary{}, fault.New(fault.Config, "read control topic", "no control topic is configured").
			WithHint("give --control-topic NAME or set action-state.control-topic of the job in the profile")
	}
	if !readsControl(job) {
		return unusableControl(job), nil
	}
	if i.log == nil {
		return CleanupBoundary{}, noBrokers("the control topic")
	}
	if job.Topic == "" {
		return CleanupBoundary{}, noTopic()
	}
	if expect != nil {
		control, err := i.log.ControlTopic(ctx, *job.ControlTopic)
		if err != nil {
			return CleanupBoundary{}, err
		}
		return JudgeControl(control, *expect), nil
	}
	ev := i.gather(ctx, job)
	if err := cmp.Or(ev.controlErr, ev.dataErr); err != nil {
		return CleanupBoundary{}, err
	}
	return JudgeControl(ev.control, ev.history(job)), nil
}

func unusableControl(job Job) CleanupBoundary {
	problem := Problem{
		Code:    "control-topic-same-as-data",
		Message: "the control topic is " + quote(*job.ControlTopic) + ", the data topic itself: a job refuses that before it reads anything",
	}
	if isBlank(*job.ControlTopic) {
		problem = Problem{Code: "control-topic-blank", Message: "the control topic is configured and its name is blank: a job refuses that before it reads anything"}
	}
	return CleanupBoundary{
		Topic: job.Topic, ControlTopic: *job.ControlTopic, Offsets: Offsets{}, Operations: []Operation{}, Problem: &problem,
		ApplyReader: ReaderVerdict{Verdict: Rejected, Offsets: Offsets{}, Problem: &problem}, Notes: []string{},
	}
}
