package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
)

// Text forms of plans and of what becomes of them. What is lost comes before what
// stays: nobody should have to scroll for it.

func renderReport(t *table, r actions.Report, now time.Time) {
	t.line("cleanup plan " + r.PlanID)
	t.row(text("from"), text(r.SourceRecoveryPoint))
	t.row(text("topic"), text(r.Topic))
	t.row(text("topic id"), text(r.TopicID))
	if r.Recorded != "" {
		t.row(text("recorded"), text(string(r.Recorded)))
	}
	t.line("")
	if r.Refused != nil {
		t.line(fmt.Sprintf("✖ apply would refuse this plan now, at %s (%s): %s", r.Refused.Stage, r.Refused.Problem.Code, r.Refused.Problem.Message))
	}
	for _, w := range r.Warnings {
		t.line(fmt.Sprintf("! %s: %s", safe(w.Name), w.Message))
	}
	for _, note := range r.Notes {
		t.line("· " + note)
	}
	renderFates(t, lostTitle(r.Recorded), r.Lost, now)
	renderFates(t, "count as lost, because nothing is known of them", r.Unknown, now)
	renderFates(t, "stay restorable", r.Survives, now)
	renderFates(t, "were not restorable before either", r.Already, now)
	renderDeletes(t, r.Deletes)
	renderCallsBefore(t, r.Calls)
	t.line("")
	if r.Keep.Enforced {
		t.line(fmt.Sprintf("beside the plan's own, %d stay restorable with every file present; the profile keeps %d", r.Keep.Others, r.Keep.Required))
	}
	for _, s := range r.Searched {
		line := fmt.Sprintf("searched %s at %s, found %d", safe(s.Place), s.At.UTC().Format(time.RFC3339), s.Found)
		if s.Problem != "" {
			line += "; " + safe(s.Problem)
		}
		t.line(line)
	}
	for _, sentence := range r.NotKnown {
		t.line("? " + sentence)
	}
}

// lostTitle says of lost points since when they are.
func lostTitle(recorded inspect.OperationStatus) string {
	switch recorded {
	case inspect.StatusCommitted:
		return "can never be restored again, since this plan is COMMITTED"
	case inspect.StatusApplied:
		return "can never be restored again, since this plan is APPLIED"
	default:
		return "can never be restored again"
	}
}

func renderFates(t *table, title string, fates []actions.PointFate, now time.Time) {
	if len(fates) == 0 {
		return
	}
	t.line("")
	t.line(fmt.Sprintf("%s: %s", title, figures.Group(int64(len(fates)))))
	for _, f := range fates {
		name := f.URI
		if f.Own {
			name += " (the plan's own)"
		}
		if f.Pinned {
			name += " (pinned)"
		}
		t.row(text("  "), text(name), text(string(f.Kind)), num(age(f.Taken, now)), text(f.Message))
	}
}

func renderDeletes(t *table, d actions.Deletes) {
	t.line("")
	t.line(fmt.Sprintf("deletes an offset span of %s (a distance between offsets: records were not counted)", figures.Group(d.Span)))
	t.row(num("PARTITION"), num("LOG START"), num("DELETE UP TO"), num("LOG END"), num("SPAN"))
	for _, p := range d.Partitions {
		t.row(num(fmt.Sprint(p.Partition)), num(optional(p.LogStart)), num(figures.Group(p.Target)), num(optional(p.LogEnd)), num(optional(p.Span)))
	}
}

func renderReview(t *table, file string, r actions.PlanReview, now time.Time) {
	if !r.Valid {
		t.line(fmt.Sprintf("✖ %s is not a valid plan (%s): %s", safe(file), r.Problem.Code, r.Problem.Message))
		return
	}
	if r.Report == nil {
		t.line("cleanup plan " + r.PlanID)
		t.row(text("from"), text(r.SourceRecoveryPoint))
		t.row(text("topic"), text(r.Topic))
		t.row(text("topic id"), text(r.TopicID))
		renderOffsets(t, inspect.StoreKafka, "delete up to", r.Offsets)
		t.line("")
		t.line("? the file alone was looked at: no brokers are configured, so nothing is said about what it would do now")
		return
	}
	if len(r.Drift) == 0 {
		t.line("· nothing that was read differs from the plan")
	}
	for _, d := range r.Drift {
		renderDrift(t, d)
	}
	t.line("")
	renderReport(t, *r.Report, now)
}

func renderDrift(t *table, d actions.Drift) {
	mark := "✖"
	if d.Allowed {
		mark = "·"
	}
	t.line(fmt.Sprintf("%s %s: planned %s, now %s. %s", mark, d.Field, driftValue(d.Planned), driftValue(d.Now), d.Message))
}

// driftValue is one side of a drift in a sentence.
func driftValue(v any) string {
	switch v := v.(type) {
	case nil:
		return nothing
	case int64:
		return figures.Group(v)
	case []int32:
		const most = 8
		return figures.Ranges(v, most)
	case inspect.Offsets:
		return offsetsText(v)
	default:
		return safe(fmt.Sprint(v))
	}
}

func renderReceipt(t *table, r *actions.Receipt) {
	if r == nil {
		return
	}
	t.line("")
	t.line("receipt")
	for line := range strings.SplitSeq(r.Text(), "\n") {
		t.line("  " + line)
	}
}
