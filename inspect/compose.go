package inspect

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
)

// Overview is the whole state of a job's recovery as of now. The error says what
// could not be read, beside what could: the overview is empty only when nothing
// could be said.
func (i *Inspector) Overview(ctx context.Context, job Job) (JobOverview, error) {
	return i.OverviewSoon(ctx, job, 0, nil)
}

// Awaited are the systems that had not answered when an overview was made.
type Awaited struct {
	Log  bool // the brokers
	Live bool // the running job's JobManager
}

// OverviewSoon is Overview for somebody who waits. Where the recovery points are
// listed and another system has still not answered when patience is over, show
// gets what there is by then, at most once, before the whole is returned. Facts of
// a system that is awaited are unknown in it; the error is that of the others.
func (i *Inspector) OverviewSoon(ctx context.Context, job Job, patience time.Duration, show func(JobOverview, Awaited, error)) (JobOverview, error) {
	log, places, running := make(chan reading, 1), make(chan listing, 1), make(chan runningRead, 1)
	go func() { log <- i.gather(ctx, job) }()
	go func() {
		points, err := i.list(ctx, job.RecoveryPoints)
		places <- listing{points, err}
	}()
	go func() {
		live, err := i.liveState(ctx, job)
		running <- runningRead{live, err}
	}()
	var over <-chan time.Time
	if show != nil {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		over = timer.C
	}
	var (
		ev       reading
		listed   listing
		live     runningRead
		waited   bool
		awaiting = Awaited{Log: true, Live: true}
	)
	for noPoints := true; noPoints || awaiting != (Awaited{}); {
		select {
		case ev = <-log:
			awaiting.Log = false
		case listed = <-places:
			noPoints = false
		case live = <-running:
			awaiting.Live = false
		case <-over:
			waited = true
		}
		if waited && show != nil && !noPoints && awaiting != (Awaited{}) && ctx.Err() == nil {
			show(i.partly(job, ev, listed, live, awaiting))
			show = nil
		}
	}
	o := i.compose(job, ev, listed, live)
	scan := i.count(ctx, job, ev, CallPoints(o.Points))
	if scan != nil {
		o = o.WithCalls(*scan)
	}
	return o, errors.Join(ev.dataErr, ev.partial, ev.controlErr, listed.err, live.err, scan.fault())
}

// listing is what the places of recovery points answered.
type listing struct {
	points []RecoveryPoint
	err    error
}

// runningRead is what the JobManager answered.
type runningRead struct {
	live LiveState
	err  error
}

// partly is the overview without the systems that are awaited.
func (i *Inspector) partly(job Job, ev reading, listed listing, live runningRead, awaiting Awaited) (JobOverview, Awaited, error) {
	if awaiting.Log {
		ev = reading{at: i.clock.Now(), dataErr: fault.New(fault.Unreachable, "connect", "the %s have not answered yet", job.Store.Servers())}
		ev.controlErr = ev.dataErr
	}
	o := i.compose(job, ev, listed, live)
	if awaiting.Live && i.asksFlink(job) {
		o.LiveSource = Unread
	}
	if !awaiting.Log {
		return o, awaiting, errors.Join(ev.dataErr, ev.partial, ev.controlErr, listed.err, live.err)
	}
	// That they are awaited is one thing to say, and no failure.
	o.Findings = slices.DeleteFunc(o.Findings, func(f Finding) bool { return f.Rule == ruleTopicUnreadable })
	o.Findings = inOrder(append([]Finding{{
		Severity: SeverityWarning, Rule: "brokers-awaited", Refs: []string{}, Numbers: Named{},
		Cause: "the " + job.Store.Servers() + " have not answered yet: whether a restore would be accepted is not known until they do",
		Next:  "wait; if it lasts, look whether the " + job.Store.Servers() + " can be reached from here",
	}}, o.Findings...))
	return o, awaiting, errors.Join(listed.err, live.err)
}

// compose puts together what all systems answered.
func (i *Inspector) compose(job Job, ev reading, listed listing, running runningRead) JobOverview {
	points, placesErr, live, liveErr := listed.points, listed.err, running.live, running.err
	if live.JobID != "" {
		points = dated(points, live)
		ev.live = live
	}
	o := JobOverview{
		Job: job.Name, Store: cmp.Or(job.Store, StoreKafka), Topic: job.Topic, TopicID: ev.data.TopicID, ClusterID: ev.data.ClusterID,
		ControlTopic: job.ControlTopic, Settings: slices.Clone(ev.data.Settings),
		Partitions: []PartitionOverview{}, Searched: slices.Clone(job.RecoveryPoints),
		Findings: []Finding{}, Points: summarize(job, points, ev),
		LiveSource: NotConnected, OnlyInHistory: []string{},
	}
	switch {
	case live.JobID != "":
		o.Live, o.LiveSource = &live, Read
		o.OnlyInHistory = onlyInHistory(live, points)
	case i.asksFlink(job):
		o.LiveSource = Unread
	}
	if o.Settings == nil {
		o.Settings = []Setting{}
	}
	if o.Searched == nil {
		o.Searched = []string{}
	}
	boundary := i.boundary(job, ev)
	o.Boundary = boundaryState(job, boundary)
	if boundary != nil && len(boundary.Operations) > 0 {
		o.LastOperation = lastOperation(boundary.Operations)
	}
	for _, p := range ev.data.Partitions {
		po := PartitionOverview{Partition: p.ID, Leader: p.Leader}
		if p.Err == nil {
			po.LogStart, po.LogEnd = &p.Log.Start, &p.Log.End
		}
		if boundary != nil {
			if at, ok := boundary.Offsets[p.ID]; ok {
				po.Boundary = &at
			}
		}
		o.Partitions = append(o.Partitions, po)
	}
	// What the job does now comes first: it is what an operator asks first.
	o.Findings = inOrder(append(liveFindings(job, o, liveErr), findings(job, ev, boundary, o.Points, placesErr)...))
	return o
}

// boundary judges the control history where the job has one that could be read;
// nil otherwise.
func (i *Inspector) boundary(job Job, ev reading) *CleanupBoundary {
	switch {
	case job.ControlTopic == nil, ev.dataErr != nil, ev.controlErr != nil:
		return nil
	case !readsControl(job):
		b := unusableControl(job)
		return &b
	default:
		b := JudgeControl(ev.control, ev.history(job))
		return &b
	}
}

func boundaryState(job Job, b *CleanupBoundary) BoundaryState {
	switch {
	case job.ControlTopic == nil:
		return BoundaryNotConfigured
	case b == nil:
		return BoundaryUnread
	case b.Problem != nil:
		return BoundaryRefused
	default:
		return BoundaryInForce
	}
}

// lastOperation is the one whose record is the latest on the control topic.
func lastOperation(ops []Operation) *Operation {
	last := ops[0]
	for _, op := range ops[1:] {
		if op.ControlOffset > last.ControlOffset {
			last = op
		}
	}
	return &last
}

// summarize judges every point and finds, for those that are not accepted, the
// nearest accepted ones.
func summarize(job Job, points []RecoveryPoint, ev reading) []PointSummary {
	out := make([]PointSummary, 0, len(points))
	for _, p := range points {
		out = append(out, summaryOf(job, p.URI, p, ev.judge(job, p)))
	}
	settle(out)
	return out
}

// settle finds the nearest accepted points of each one in a list.
func settle(points []PointSummary) {
	var newer, older *Nearby
	for n := range points {
		points[n].Validation.Newer = newer
		newer = cmp.Or(nearbyOf(points[n]), newer)
	}
	for n := len(points) - 1; n >= 0; n-- {
		points[n].Validation.Older = older
		older = cmp.Or(nearbyOf(points[n]), older)
	}
}

// nearest finds the accepted neighbours of a point among the job's own points,
// whether or not it is one of them. Of one that is not, and of which neither age
// nor id was read, nothing says what is older.
func nearest(list []PointSummary, points []RecoveryPoint, point RecoveryPoint, read bool) (older, newer *Nearby) {
	if at := slices.IndexFunc(list, func(s PointSummary) bool { return isSummaryOf(s, point) }); at >= 0 {
		return around(list, at-1, at+1)
	}
	if !read {
		return nil, nil
	}
	all := append(slices.Clone(points), point)
	NewestFirst(all)
	at := slices.IndexFunc(all, func(p RecoveryPoint) bool { return p.URI == point.URI })
	return around(list, at-1, at)
}

// isSummaryOf reports whether a summary is of this point, or of a copy of it: no
// point is its own neighbour, whichever way its address is spelled.
func isSummaryOf(s PointSummary, p RecoveryPoint) bool {
	if SamePoint(s.URI, p.URI) {
		return true
	}
	return s.Kind == p.Kind && s.CheckpointID == p.CheckpointID && p.CheckpointID >= 0 &&
		folderOf(s.URI) == folderOf(p.URI) && sameOffsets(s.Offsets, p.Merged.Offsets)
}

// folderOf is the name of the folder that a point is.
func folderOf(uri string) string {
	_, rest, _ := strings.Cut(samePlace(uri), ":")
	return path.Base(rest)
}

// around returns the nearest accepted points of a list that is newest first: the
// older one from olderStart on, the newer one from newerEnd back.
func around(list []PointSummary, newerEnd, olderStart int) (older, newer *Nearby) {
	for n := olderStart; n < len(list) && older == nil; n++ {
		older = nearbyOf(list[n])
	}
	for n := newerEnd; n >= 0 && newer == nil; n-- {
		newer = nearbyOf(list[n])
	}
	return older, newer
}

// nearbyOf is the point as a neighbour, nil unless it is accepted.
func nearbyOf(s PointSummary) *Nearby {
	if s.Verdict != Accepted {
		return nil
	}
	return &Nearby{URI: s.URI, Kind: s.Kind, Taken: s.Taken, Span: s.Span, RunsAgain: s.RunsAgain}
}

// Empty reports whether an overview holds nothing that was read: no part of it: not the
// topic, nor a recovery point, nor the running job.
func (o JobOverview) Empty() bool { return o.TopicID == "" && len(o.Points) == 0 && o.Live == nil }

// MissingLog is the fault for a job's topic or table that does not exist.
func MissingLog(job Job) error {
	log := job.Store.Log()
	hint := "check --topic and the brokers: on a cluster with ACLs a topic without Describe looks like a missing one"
	if job.Store == StoreFluss {
		hint = "check fluss.table and fluss.servers of the job: on a cluster with rights a table without DESCRIBE looks like a missing one"
	}
	return fault.New(fault.NotFound, "describe "+log, "%s %s does not exist, or this user may not see it", log, quote(job.Topic)).
		WithHint("%s", hint).WithRef(log + " " + job.Topic)
}
