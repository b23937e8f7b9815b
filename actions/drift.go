package actions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Drift is one thing that is not as the plan, or the report that was approved,
// has it. Planned and Now are a text, an int64, an Offsets, a []int32 or nil.
// Allowed drift is shown and keeps nobody from applying.
type Drift struct {
	Field   string `json:"field"`
	Planned any    `json:"planned"`
	Now     any    `json:"now"`
	Allowed bool   `json:"allowed"`
	Message string `json:"message"`
}

// PlanReview is what a plan file says and how it stands today.
type PlanReview struct {
	PlanID              string           `json:"planId"`
	Valid               bool             `json:"valid"`
	Problem             *inspect.Problem `json:"problem"`
	SourceRecoveryPoint string           `json:"sourceRecoveryPoint"`
	Topic               string           `json:"topic"`
	TopicID             string           `json:"topicId"`
	Offsets             inspect.Offsets  `json:"offsets"`
	Drift               []Drift          `json:"drift"`
	Survives            []PointFate      `json:"survives"`
	Lost                []PointFate      `json:"lost"` // with those that are unknown: they count as lost
	Searched            []Searched       `json:"searched"`
	Report              *Report          `json:"report"` // nil: no evidence was asked for, or the plan is not valid
}

// ReviewPlan reads a plan file and, where there is evidence, says what it does
// and what has changed. A plan that is not valid has a problem and nothing else.
func ReviewPlan(data []byte, e *Evidence) PlanReview {
	r := PlanReview{Offsets: inspect.Offsets{}, Drift: []Drift{}, Survives: []PointFate{}, Lost: []PointFate{}, Searched: []Searched{}}
	plan, p := inspect.ParsePlan(data)
	if p != nil {
		r.Problem = p
		return r
	}
	r.Valid, r.PlanID, r.Offsets = true, plan.PlanID, plan.Offsets
	r.SourceRecoveryPoint, r.Topic, r.TopicID = plan.SourceRecoveryPoint, plan.Topic, plan.TopicID
	if e == nil {
		return r
	}
	report := NewReport(plan, *e)
	r.Report, r.Drift = &report, DriftOf(plan, *e, nil)
	r.Survives, r.Lost, r.Searched = report.Survives, slices.Concat(report.Lost, report.Unknown), report.Searched
	return r
}

// DriftOf compares a plan with what was read, field by field, and with the
// report that was approved where there is one. Things that are as planned are
// left out.
func DriftOf(plan inspect.CleanupPlan, e Evidence, approved *Report) []Drift {
	d := drifting{plan: plan, e: e, out: []Drift{}}
	if e.ControlErr == nil && !e.Offline {
		d.history, d.stage, d.problem = CheckControl(plan, e.Control)
	}
	if e.DataErr == nil && !e.Offline {
		d.identity()
		d.settings()
		d.log()
	}
	if !e.Offline {
		d.control()
	}
	d.point()
	if approved != nil {
		d.since(*approved)
	}
	return d.out
}

type drifting struct {
	plan    inspect.CleanupPlan
	e       Evidence
	history History
	stage   Stage
	problem *inspect.Problem
	out     []Drift
}

func (d *drifting) add(field string, planned, now any, allowed bool, format string, args ...any) {
	d.out = append(d.out, Drift{Field: field, Planned: planned, Now: now, Allowed: allowed, Message: fmt.Sprintf(format, args...)})
}

func (d *drifting) identity() {
	data := d.e.Data
	if d.plan.Topic != d.e.Job.Topic {
		d.add("topic", d.plan.Topic, d.e.Job.Topic, false, "the plan is for another topic than the job's")
	}
	if !data.Exists {
		d.add("topic", d.plan.Topic, nil, false, "the topic does not exist")
		return
	}
	if data.TopicID != d.plan.TopicID {
		d.add("topicId", d.plan.TopicID, data.TopicID, false, "the topic was deleted and made again, or this is another cluster")
	}
	have := data.IDs()
	slices.Sort(have)
	if want := d.plan.Offsets.Partitions(); !slices.Equal(have, want) {
		d.add("partitions", want, have, false, "the topic has the partitions %s, the plan has %s", partitions(have), partitions(want))
	}
}

func (d *drifting) settings() {
	if !d.e.Data.Exists {
		return
	}
	for _, s := range requiredSettings(d.e.Data) {
		if !s.fits {
			d.add("settings."+s.name, s.want, s.now, false, "%s is %s and must be %s", s.name, safetext.Of(s.now), s.want)
		}
	}
}

// log compares each target with the log. A new plan needs its offsets in the
// log; a recorded one may have trimmed it already.
func (d *drifting) log() {
	if d.e.Data.TopicID != d.plan.TopicID {
		return // the numbers are of another topic
	}
	ranges := d.e.Data.Ranges()
	resumed := d.history.Own != nil
	for _, p := range d.plan.Offsets.Partitions() {
		log, ok := ranges[p]
		to := d.plan.Offsets[p]
		switch {
		case !ok:
		case log.Start > to:
			d.add(fmt.Sprintf("logStart.%d", p), to, log.Start, resumed, "partition %d begins at %s, past the target %s", p, group(log.Start), group(to))
		case log.End < to:
			d.add(fmt.Sprintf("logEnd.%d", p), to, log.End, false, "partition %d ends at %s, below the target %s", p, group(log.End), group(to))
		}
	}
}

func (d *drifting) control() {
	if p := CheckConfiguration(d.e.Job, d.e.Replication); p != nil {
		d.add("configuration", nil, p.Code, false, "%s", p.Message)
		return
	}
	if d.e.ControlErr != nil {
		return // said by the warning not-checked
	}
	switch {
	case d.stage == StageControlTopic:
		d.add("controlTopic", "one partition, compact", d.problem.Code, false, "%s", d.problem.Message)
		return
	case d.history.Missing:
		d.add("controlTopic", "one partition, compact", nil, d.e.Replication != nil, "control topic %s does not exist", quote(textOf(d.e.Job.ControlTopic)))
		return
	case d.problem != nil:
		d.add("operations."+d.problem.Code, nil, d.problem.Code, false, "%s", d.problem.Message)
	}
	if own := d.history.Own; own != nil {
		d.add("operations.same", nil, string(own.Status), true, "this plan is recorded as %s", own.Status)
	}
	for _, op := range d.history.Others() {
		d.other(op)
	}
}

// other compares with another operation of the history, where that can be done.
func (d *drifting) other(op inspect.Operation) {
	atOrPast := CheckBoundary(PlanOf(op), d.plan.Offsets) == nil
	below := CheckBoundary(d.plan, op.Offsets) == nil
	resumed := d.history.Own != nil
	switch {
	case atOrPast && below && op.Status == inspect.StatusCommitted:
		d.add("operations.equal", nil, op.PlanID, true, "cleanup %s has the same targets and is finished on the way", short(op.PlanID))
	case atOrPast && below:
	case atOrPast:
		d.add("operations.newer", nil, op.PlanID, resumed, "cleanup %s is %s and reaches further than this plan", short(op.PlanID), op.Status)
	case below && op.Status == inspect.StatusCommitted:
		d.add("operations.older", nil, op.PlanID, true, "cleanup %s is COMMITTED and unfinished: it is finished on the way", short(op.PlanID))
	case !below:
		d.add("operations.incomparable", nil, op.PlanID, false, "cleanup %s is lower than this plan on some partitions and higher on others", short(op.PlanID))
	}
}

// point asks whether the plan's own point still says what the plan says. A plan
// that is recorded needs it no more.
func (d *drifting) point() {
	resumed := d.history.Own != nil
	switch {
	case isGone(d.e.OwnErr):
		d.add("point", d.plan.SourceRecoveryPoint, nil, resumed, "the plan's own point is not there any more: %s", safetext.Error(d.e.OwnErr))
	case d.e.Own != nil && d.e.Own.Err == nil:
		again, p := CleanupFrom(d.e.Own.Markers, d.plan.SourceRecoveryPoint)
		switch {
		case p != nil:
			d.add("point", d.plan.Offsets, p.Code, resumed, "the plan can't be made from its own point any more: %s", p.Message)
		case again.PlanID != d.plan.PlanID:
			d.add("point", d.plan.Offsets, again.Offsets, resumed, "the plan's own point makes another plan now (%s): it is not the point that the plan was made from", short(again.PlanID))
		}
	}
}

// since compares with what was approved.
func (d *drifting) since(approved Report) {
	now := NewReport(d.plan, d.e)
	if p := CheckSurvivors(approved, now); p != nil {
		d.add("survivors", len(approved.Survives), len(now.Survives), false, "%s", p.Message)
	}
	ends := make(map[int32]int64)
	for _, p := range approved.Deletes.Partitions {
		if p.LogEnd != nil {
			ends[p.Partition] = *p.LogEnd
		}
	}
	var grew, shrank []int32
	for _, p := range now.Deletes.Partitions {
		was, known := ends[p.Partition]
		switch {
		case !known || p.LogEnd == nil:
		case *p.LogEnd > was:
			grew = append(grew, p.Partition)
		case *p.LogEnd < was:
			shrank = append(shrank, p.Partition)
		}
	}
	if len(grew) > 0 {
		d.add("logEnd", nil, nil, true, "the log end grew on %s", figures.Count(len(grew), "partition", "partitions"))
	}
	if len(shrank) > 0 {
		d.add("logEnd", nil, nil, false, "the log end went back on %s: records were lost or the topic was made again", on(shrank))
	}
	if approved.Recorded != now.Recorded && now.Recorded != "" {
		d.add("operations.same", strings.TrimSpace(string(approved.Recorded)), string(now.Recorded), true, "somebody recorded this plan as %s meanwhile", now.Recorded)
	}
}
