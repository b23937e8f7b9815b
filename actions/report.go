package actions

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Report says to people what a plan does, as far as the evidence tells. It is
// made by NewReport and changed by nobody: an approval is bound to its hash.
type Report struct {
	PlanID              string                  `json:"planId"`
	SourceRecoveryPoint string                  `json:"sourceRecoveryPoint"`
	Topic               string                  `json:"topic"`
	TopicID             string                  `json:"topicId"`
	At                  time.Time               `json:"at"` // when the evidence was read
	Offline             bool                    `json:"offline"`
	Recorded            inspect.OperationStatus `json:"recorded"` // of this plan on the control topic; "" where it is not there

	Deletes  Deletes      `json:"deletes"`
	Survives []PointFate  `json:"survives"`
	Lost     []PointFate  `json:"lost"`    // for good
	Unknown  []PointFate  `json:"unknown"` // count as lost
	Already  []PointFate  `json:"already"` // not restorable before either
	Keep     Keep         `json:"keep"`
	Finishes []string     `json:"finishes"` // ids of other operations, COMMITTED, that this apply finishes on its way
	Calls    *CallsBefore `json:"calls"`    // nil: not scanned

	Searched []Searched `json:"searched"`
	NotKnown []string   `json:"notKnown"` // what nobody can know from here, a sentence each
	Notes    []string   `json:"notes"`
	Warnings []Warning  `json:"warnings"`

	// Refused is why an apply would be refused as things are; nil where nothing
	// that was read refuses it.
	Refused *Refusal `json:"refused"`
}

// Deletes is what the plan deletes. A span is a distance between offsets and not
// a count of records: compaction and transactions leave gaps, and nobody counted.
type Deletes struct {
	Partitions []PartitionDelete `json:"partitions"`
	Span       int64             `json:"span"`       // over the partitions whose log could be read
	Unread     []int32           `json:"unread"`     // partitions whose log could not
	Bytes      *int64            `json:"bytes"`      // nil: not sampled
	Oldest     *time.Time        `json:"oldest"`     // of the first record; nil: not sampled
	Records    *int64            `json:"records"`    // nil: not counted
	ByBoundary bool              `json:"byBoundary"` // a newer boundary in force reaches past the plan's targets
}

// PartitionDelete is what is deleted of one partition: all below Target, the
// boundary in force with the plan. LogStart and LogEnd are nil where they could
// not be read. Span is 0 where the log begins at or past the target already.
type PartitionDelete struct {
	Partition int32  `json:"partition"`
	Planned   int64  `json:"planned"` // the plan's own offset
	Target    int64  `json:"target"`
	LogStart  *int64 `json:"logStart"`
	LogEnd    *int64 `json:"logEnd"`
	Span      *int64 `json:"span"`
}

// NewReport makes the report of a plan: a pure function of the evidence.
func NewReport(plan inspect.CleanupPlan, e Evidence) Report {
	now := e.before(plan)
	later := now.after(plan)
	r := Report{
		PlanID: plan.PlanID, SourceRecoveryPoint: plan.SourceRecoveryPoint, Topic: plan.Topic, TopicID: plan.TopicID,
		At: e.At, Offline: e.Offline, Deletes: deletes(plan, now, later, e.Sample), Calls: e.Calls,
		Survives: []PointFate{}, Lost: []PointFate{}, Unknown: []PointFate{}, Already: []PointFate{}, Finishes: []string{},
		Searched: append([]Searched{}, e.Searched...), Notes: []string{}, Warnings: []Warning{},
	}
	if now.controlErr == nil {
		history, _, _ := CheckControl(plan, e.Control)
		r.Recorded = history.Status()
		for _, op := range history.Others() {
			if op.Status == inspect.StatusCommitted && r.Recorded != inspect.StatusApplied {
				r.Finishes = append(r.Finishes, op.PlanID)
			}
		}
	}
	for _, f := range e.points(plan, now, later) {
		switch f.Fate {
		case FateStays:
			r.Survives = append(r.Survives, f)
		case FateLost:
			r.Lost = append(r.Lost, f)
		case FateUnknown:
			r.Unknown = append(r.Unknown, f)
		default:
			r.Already = append(r.Already, f)
		}
	}
	r.Keep = r.keep(e)
	r.NotKnown, r.Notes = r.notKnown(e), r.notes(e)
	r.Warnings = r.warnings(e)
	if !e.Offline {
		r.Refused, _ = Foresee(plan, e) // what could not be read is said by the warnings
	}
	if r.Refused == nil && r.Keep.Problem != nil && r.Recorded == "" {
		r.Refused = &Refusal{Stage: StageSurvivors, Problem: *r.Keep.Problem}
	}
	return r
}

// points judges all points, the plan's own among them, each address once.
func (e Evidence) points(plan inspect.CleanupPlan, now, later world) []PointFate {
	all := slices.Clone(e.Points)
	own := -1
	if e.Own != nil || e.OwnErr != nil && !isGone(e.OwnErr) {
		own = slices.IndexFunc(all, func(p inspect.RecoveryPoint) bool {
			return inspect.SamePoint(p.URI, plan.SourceRecoveryPoint) || e.Own != nil && inspect.SamePoint(p.URI, e.Own.URI)
		})
		switch {
		case own >= 0 && e.Own != nil:
			all[own] = *e.Own // read for this question
		case own < 0 && e.Own != nil:
			all, own = slices.Insert(all, 0, *e.Own), 0
		case own < 0:
			unread := inspect.RecoveryPoint{URI: plan.SourceRecoveryPoint, CheckpointID: -1, Err: e.OwnErr}
			all, own = slices.Insert(all, 0, unread), 0
		}
	}
	var out []PointFate
	for i, p := range all {
		if slices.ContainsFunc(out, func(f PointFate) bool { return inspect.SamePoint(f.URI, p.URI) }) {
			continue
		}
		f := fateOf(plan, now, later, p)
		f.Own = i == own
		f.Pinned = slices.ContainsFunc(e.Job.Pinned, func(uri string) bool { return inspect.SamePoint(uri, p.URI) })
		out = append(out, f)
	}
	return out
}

func deletes(plan inspect.CleanupPlan, now, later world, sample *Sample) Deletes {
	d := Deletes{Partitions: []PartitionDelete{}, Unread: []int32{}}
	ranges := map[int32]inspect.LogRange{}
	if now.dataErr == nil && now.data.TopicID == plan.TopicID {
		ranges = now.data.Ranges()
	}
	for _, p := range plan.Offsets.Partitions() {
		part := PartitionDelete{Partition: p, Planned: plan.Offsets[p], Target: later.boundary[p]}
		d.ByBoundary = d.ByBoundary || part.Target > part.Planned
		if log, ok := ranges[p]; ok {
			span := max(0, min(part.Target, log.End)-log.Start)
			part.LogStart, part.LogEnd, part.Span = &log.Start, &log.End, &span
			if d.Span += span; d.Span < 0 {
				d.Span = math.MaxInt64
			}
		} else {
			d.Unread = append(d.Unread, p)
		}
		d.Partitions = append(d.Partitions, part)
	}
	if sample != nil {
		d.Bytes, d.Oldest = sample.Bytes, sample.Oldest
	}
	return d
}

// About is the id of the plan that the report is about.
func (r Report) About() string { return r.PlanID }

// Raised are the report's warnings.
func (r Report) Raised() []Warning { return r.Warnings }

// enter writes what is lost, and how much is deleted.
func (r Report) enter(receipt *Receipt) {
	receipt.Span = &r.Deletes.Span
	for _, list := range [][]PointFate{r.Lost, r.Unknown} {
		for _, f := range list {
			receipt.Lost = append(receipt.Lost, f.URI)
		}
	}
}

// fates are all points with their fates, in the order of the lists.
func (r Report) fates() []PointFate {
	return slices.Concat(r.Survives, r.Lost, r.Unknown, r.Already)
}

// fate finds a point by any spelling of its address.
func (r Report) fate(uri string) (PointFate, bool) {
	for _, f := range r.fates() {
		if inspect.SamePoint(f.URI, uri) {
			return f, true
		}
	}
	return PointFate{}, false
}

// Hash is the SHA-256, in hex, over every fact of the report: two reports have
// one hash only if they say the same. The times at which things were read are
// left out, so that reading the same facts again gives the same report.
func (r Report) Hash() string {
	r.At = time.Time{}
	r.Searched = slices.Clone(r.Searched)
	for i := range r.Searched {
		r.Searched[i].At = time.Time{}
	}
	data, err := json.Marshal(r)
	if err != nil {
		return "" // no approval is bound to an empty hash: see Approve
	}
	sum := sha256.Sum256(append([]byte("recoverctl report 1\n"), data...))
	return hex.EncodeToString(sum[:])
}

// MarshalJSON writes the stage beside the problem's own fields.
func (r Refusal) MarshalJSON() ([]byte, error) {
	p := r.Problem
	p.Named = inspect.Named{"stage": string(r.Stage)}
	for name, value := range r.Problem.Named {
		p.Named[name] = value
	}
	return p.MarshalJSON()
}

func (r Report) notKnown(e Evidence) []string {
	var out []string
	switch {
	case len(e.Searched) == 0:
		out = append(out, "No place was searched for recovery points: which ones become unrestorable is not known.")
	default:
		out = append(out, "Recovery points in other places than those searched are not known.")
	}
	for _, s := range e.Searched {
		if s.Problem != "" {
			out = append(out, fmt.Sprintf("Not all that lies in %s is known: %s.", quote(s.Place), safetext.Of(s.Problem)))
		}
	}
	if len(r.Deletes.Unread) > 0 {
		out = append(out, fmt.Sprintf("The log of %s could not be read: how much of it is deleted is not known.", on(r.Deletes.Unread)))
	}
	out = append(out, "The records that are deleted were not counted: a span is a distance between offsets.")
	if e.Calls == nil {
		out = append(out, "Calls were not scanned: whether a call depends on what is deleted is not known.")
	} else {
		out = append(out, "Calls that are made without a reconciler leave no record until they end: none of them is counted.")
	}
	return append(out,
		"Kafka deletes by topic name: the topic's identity is checked before and after the deletion, not during it.",
		"Nothing keeps another machine from applying a plan at the same time: the control topic is read before and after COMMITTED, and in between lies a moment in which nobody looks.")
}

func (r Report) notes(e Evidence) []string {
	out := []string{}
	switch r.Recorded {
	case inspect.StatusCommitted:
		out = append(out, "This plan is COMMITTED already: its boundary is in force, and applying it again finishes it.")
	case inspect.StatusApplied:
		out = append(out, "This plan is APPLIED already: applying it again changes nothing.")
	}
	if r.Deletes.ByBoundary {
		out = append(out, "A newer boundary in force reaches past this plan: the deletion goes up to that boundary.")
	}
	for _, id := range r.Finishes {
		out = append(out, fmt.Sprintf("Cleanup %s is COMMITTED and unfinished: this apply finishes it on its way.", short(id)))
	}
	if e.Live == nil || e.Live.NextRestore.Path == nil || r.Recorded == inspect.StatusApplied {
		return out
	}
	if f, known := r.fate(*e.Live.NextRestore.Path); known && f.Fate != FateStays {
		out = append(out, fmt.Sprintf("Flink would restart the job by itself from %s, and a restore from there is not accepted after this plan.", quote(f.URI)))
	}
	return out
}
