package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/figures"
)

// Text forms of the answers. What is wrong comes first, then the facts that
// decide, then the rest; whole values, because this text ends in tickets.

const nothing = "–"

func age(taken inspect.Taken, now time.Time) string {
	if taken.Time == nil {
		return "?"
	}
	return clock.Age(now.Sub(*taken.Time))
}

func sign(s inspect.Severity) string {
	switch s {
	case inspect.SeverityError:
		return "✖"
	case inspect.SeverityWarning:
		return "!"
	default:
		return "·"
	}
}

// verdictWord is upper case where the word has to be seen.
func verdictWord(v inspect.Verdict) string {
	if v == inspect.Rejected {
		return "REJECTED"
	}
	return string(v)
}

func optional(n *int64) string {
	if n == nil {
		return nothing
	}
	return figures.Group(*n)
}

func renderFindings(t *table, findings []inspect.Finding) {
	for _, f := range findings {
		t.line(sign(f.Severity) + " " + f.Cause)
		if f.Next != "" {
			t.line("    " + f.Next)
		}
	}
}

func renderOverview(t *table, o inspect.JobOverview, now time.Time) {
	t.line(fmt.Sprintf("job %s, %s %s", safe(o.Job), o.Store.Log(), safe(o.Topic)))
	renderFindings(t, o.Findings)
	t.line("")
	t.row(text(o.Store.Log()+" id"), text(orNothing(o.TopicID)))
	if o.Store != inspect.StoreFluss { // which has none of these
		renderCleanups(t, o)
	}
	renderLiveSource(t, o, now)
	t.row(text("durable calls"), text(callsOnRecord(o)))
	for _, s := range o.Settings {
		t.row(text(s.Name), text(s.Value+" (set by "+s.Source+")"))
	}
	if len(o.Searched) == 0 {
		t.row(text("searched"), text("no place configured for recovery points"))
	}
	for _, place := range o.Searched {
		t.row(text("searched"), text(place))
	}
	t.line("")
	if len(o.Points) > 0 {
		renderPoints(t, o.Points, now)
		t.line("")
	}
	if len(o.Partitions) > 0 {
		t.row(num(strings.ToUpper(o.Store.Part())), num("LEADER"), num("LOG START"), num("BOUNDARY"), num("LOG END"), num("SPAN"))
	}
	for _, p := range o.Partitions {
		span := nothing
		if p.LogStart != nil && p.LogEnd != nil {
			span = figures.Group(*p.LogEnd - *p.LogStart)
		}
		t.row(num(fmt.Sprint(p.Partition)), num(fmt.Sprint(p.Leader)), num(optional(p.LogStart)), num(optional(p.Boundary)), num(optional(p.LogEnd)), num(span))
	}
}

// renderCleanups tells of the cluster and of the cleanups of its topics.
func renderCleanups(t *table, o inspect.JobOverview) {
	t.row(text("cluster id"), text(orNothing(o.ClusterID)))
	if o.ControlTopic == nil {
		t.row(text("control topic"), text("not configured"))
	} else {
		t.row(text("control topic"), text(*o.ControlTopic))
	}
	if o.LastOperation != nil {
		op := o.LastOperation
		t.row(text("last operation"), text(fmt.Sprintf("%s %s %s, from %s", op.PlanID, op.Status, op.Time.UTC().Format(time.RFC3339), safe(op.SourceRecoveryPoint))))
	} else {
		t.row(text("last operation"), text("none known"))
	}
}

func orNothing(s string) string {
	if s == "" {
		return nothing
	}
	return s
}

func renderPoints(t *table, points []inspect.PointSummary, now time.Time) {
	if len(points) == 0 {
		t.line("no recovery point was found")
		return
	}
	t.row(text("RECOVERY POINT"), text("KIND"), num("AGE"), text("VERDICT"), num("REPLAYS"), num("RUN AGAIN"), text("REASON"))
	for _, p := range points {
		span, reason := nothing, ""
		if p.Verdict == inspect.Accepted {
			span = figures.Group(p.Span)
		}
		if p.Reason != nil {
			reason = p.Message
		} else if p.Verdict == inspect.Unknown {
			reason = "not checked: " + strings.Join(p.Unchecked, ", ")
		}
		runsAgain := notScanned
		switch {
		case p.RunsAgain != nil && p.Calls != nil:
			runsAgain = p.Calls.Again()
		case p.RunsAgain != nil:
			runsAgain = figures.Group(*p.RunsAgain)
		case p.Calls != nil:
			runsAgain = "unknown"
		case p.Verdict == inspect.Rejected:
			runsAgain = nothing
		}
		name := p.URI
		if p.Pinned {
			name += " (pinned)"
		}
		t.row(text(name), text(string(p.Kind)), num(age(p.Taken, now)), text(verdictWord(p.Verdict)), num(span), num(runsAgain), text(reason))
	}
}

func renderPoint(t *table, p inspect.RecoveryPoint, store inspect.Store, now time.Time) {
	t.line(fmt.Sprintf("%s %s", p.Kind, safe(p.URI)))
	for _, c := range p.Checks {
		t.line(fmt.Sprintf("%s %s  %s", sign(c.Severity), c.ID, c.Message))
		if c.Hint != "" {
			t.line("    " + c.Hint)
		}
	}
	t.line("")
	t.row(text("checkpoint id"), text(fmt.Sprint(p.CheckpointID)))
	t.row(text("metadata version"), text(fmt.Sprint(p.MetadataVersion)))
	if p.Format != "" {
		t.row(text("format"), text(string(p.Format)))
	}
	taken := "not known"
	if p.Taken.Time != nil {
		taken = fmt.Sprintf("%s, %s ago (date of the %s)", p.Taken.Time.UTC().Format(time.RFC3339), clock.Age(now.Sub(*p.Taken.Time)), p.Taken.Source)
	}
	t.row(text("taken"), text(taken))
	t.row(text("files"), text(filesText(p.Files)))
	t.row(text("merged marker"), text(mergedText(p.Merged, store)))
	t.line("")
	t.row(text("OPERATOR"), text("ID"), text("UID"), num("PARALLELISM"), num("MAX"), text("STATES"))
	for _, op := range p.Operators {
		states := make([]string, 0, len(op.States))
		for _, s := range op.States {
			states = append(states, fmt.Sprintf("%s (%s %s, %d)", s.Name, s.Mode, s.Kind, s.Elements))
		}
		t.row(text(orNothing(op.Name)), text(op.ID), text(orNothing(op.UID)), num(fmt.Sprint(op.Parallelism)), num(fmt.Sprint(op.MaxParallelism)), text(strings.Join(states, ", ")))
	}
	renderKeyed(t, p.Operators)
	renderUnreferenced(t, p.Files.Unreferenced)
	if len(p.Markers) == 0 {
		return
	}
	t.line("")
	row := func(operator, subtask, kind, topic, id, offsets string) {
		cells := []cell{text(operator), num(subtask), text(kind)}
		if store != inspect.StoreFluss { // whose markers name no table
			cells = append(cells, text(topic), text(id))
		}
		t.row(append(cells, text(offsets))...)
	}
	row("MARKER OF OPERATOR", "SUBTASK", "KIND", "TOPIC", "TOPIC ID", "NEXT OFFSETS")
	for _, m := range p.Markers {
		what := offsetsText(m.Offsets)
		if m.Problem != nil {
			what = m.Problem.Message
		} else if m.Kind == inspect.MarkerOther {
			what = "an object of class " + safe(m.Class)
		}
		row(m.OperatorID, fmt.Sprint(m.Subtask), string(m.Kind), deref(m.Topic), deref(m.TopicID), what)
	}
	renderOffsets(t, store, "merged marker", p.Merged.Offsets)
}

func filesText(f inspect.Files) string {
	out := fmt.Sprintf("%d referenced, %s; %d missing, %d not reachable from here", f.Referenced, figures.Bytes(f.Bytes), len(f.Missing), len(f.Unchecked))
	if u := f.Unreferenced; u != nil && u.Files > 0 {
		out += fmt.Sprintf("; beside them %s that nothing references, %s", figures.Group(u.Files), figures.Bytes(u.Bytes))
	}
	return out
}

func deref(s *string) string {
	if s == nil {
		return nothing
	}
	return *s
}

func mergedText(m inspect.Merged, store inspect.Store) string {
	switch m.Kind {
	case inspect.MergedVersioned:
		return fmt.Sprintf("versioned, %d partitions of topic %s (id %s)", len(m.Offsets), safe(deref(m.Topic)), safe(deref(m.TopicID)))
	case inspect.MergedLegacy:
		return fmt.Sprintf("legacy, %d %ss, no %s identity", len(m.Offsets), store.Part(), store.Log())
	case inspect.MergedNone:
		return "none: a restore from here begins with an empty action state"
	default:
		if m.Problem != nil {
			return "invalid: " + m.Problem.Message
		}
		return "invalid"
	}
}

// offsetsText writes offsets on one line, as many as people read.
func offsetsText(o inspect.Offsets) string {
	const most = 4
	var parts []string
	for _, p := range o.First(most) {
		parts = append(parts, fmt.Sprintf("%d:%s", p, figures.Group(o[p])))
	}
	if len(o) > most {
		parts = append(parts, fmt.Sprintf("and %d more", len(o)-most))
	}
	if len(parts) == 0 {
		return nothing
	}
	return strings.Join(parts, "  ")
}

func renderOffsets(t *table, store inspect.Store, title string, o inspect.Offsets) {
	if len(o) == 0 {
		return
	}
	t.line("")
	t.row(num(strings.ToUpper(store.Part())), num(strings.ToUpper(title)))
	for _, p := range o.Partitions() {
		t.row(num(fmt.Sprint(p)), num(figures.Group(o[p])))
	}
}

func renderBoundary(t *table, b inspect.CleanupBoundary, now time.Time) {
	t.line(fmt.Sprintf("control topic %s of topic %s", safe(b.ControlTopic), safe(b.Topic)))
	if b.Problem != nil {
		t.line("✖ a restore refuses this history: " + b.Problem.Message)
	} else {
		t.line("✔ a restore accepts this history")
	}
	if b.ApplyReader.Problem != nil {
		t.line("✖ a cleanup refuses it too: " + b.ApplyReader.Problem.Message)
	} else if b.Problem != nil {
		t.line("· a cleanup accepts it, and would commit the first boundary")
	}
	for _, note := range b.Notes {
		t.line("! " + note)
	}
	t.line("")
	if len(b.Operations) == 0 {
		t.line("no operation is on record")
	} else {
		t.row(text("OPERATION"), text("STATUS"), num("CONTROL OFFSET"), num("AGE"), num("CALLS BELOW"), num("RUN AGAIN"), text("FROM"), text("OFFSETS"))
	}
	for _, op := range b.Operations {
		below, again := notScanned, notScanned
		if op.Calls != nil {
			below, again = figures.Group(op.Calls.Below), figures.Group(op.Calls.RunAgain)
		}
		t.row(text(op.PlanID), text(string(op.Status)), num(figures.Group(op.ControlOffset)), num(clock.Age(now.Sub(op.Time))), num(below), num(again),
			text(op.SourceRecoveryPoint), text(offsetsText(op.Offsets)))
	}
	renderOffsets(t, inspect.StoreKafka, "boundary in force", b.Offsets)
}

// renderRules is the verdict of a validation and what each rule says.
func renderRules(t *table, v inspect.RestoreValidation) {
	switch {
	case len(v.Reasons) > 0:
		t.line(fmt.Sprintf("✖ REJECTED: %s", v.Reasons[0].Message))
	case v.Verdict == inspect.Accepted:
		t.line("✔ accepted")
	default:
		t.line("? unknown: nothing refuses this restore, and not everything could be checked")
	}
	for _, note := range v.Notes {
		t.line("  " + note)
	}
	t.line("")
	t.row(text("RULE"), text("RESULT"), text("EVIDENCE"))
	for _, r := range v.Rules {
		t.row(text(r.Title), text(resultWord(r.Result)), text(r.Message))
	}
	t.line("")
}

func renderValidation(t *table, v inspect.RestoreValidation, store inspect.Store, now time.Time) {
	renderRules(t, v)
	for _, a := range v.Assumed {
		t.row(text("assumed"), text(a))
	}
	for _, u := range v.Unchecked {
		t.row(text("not checked"), text(u))
	}
	for _, r := range v.Runtime {
		t.row(text("release "+string(r.Release)), text(strings.ReplaceAll(string(r.Outcome), "-", " ")+": "+r.Message))
	}
	t.row(text("durable calls"), text(restoredCalls(v.Calls, v.Verdict)))
	if v.Replayed != nil {
		t.row(text("replayed"), text(replayedText(*v.Replayed)))
	}
	t.row(text("accepted and newer"), text(nearbyText(v.Newer, now)))
	t.row(text("accepted and older"), text(nearbyText(v.Older, now)))
	renderWindow(t, store, v.Window)
	renderLater(t, v)
	renderNext(t, v.Next)
}

// renderNext says what to do, each with its command on lines of its own.
func renderNext(t *table, steps []inspect.NextStep) {
	for _, step := range steps {
		t.line("")
		t.line("→ " + step.What + ".")
		if step.Command != "" {
			t.command(step.Command)
		}
	}
}

// renderLater says what a restore would be once a plan is applied, and only the
// rules that speak differently then.
func renderLater(t *table, v inspect.RestoreValidation) {
	if v.Later == nil {
		return
	}
	t.line("")
	after := "after plan " + shortID(v.Later.PlanID) + ": "
	switch {
	case v.Later.Refused != nil:
		t.line("? " + after + "unknown, for it would not be applied as things are: " + v.Later.Refused.Message)
	case len(v.Later.Reasons) > 0:
		t.line("✖ " + after + "REJECTED: " + v.Later.Reasons[0].Message)
	case v.Later.Verdict == inspect.Accepted:
		t.line("✔ " + after + "accepted")
	default:
		t.line("? " + after + "unknown: nothing would refuse this restore, and not everything could be checked")
	}
	if v.Later.Calls != nil {
		t.row(text("durable calls"), text(restoredCalls(v.Later.Calls, v.Later.Verdict)))
	}
	for _, r := range v.Later.Changed(v.Rules) {
		t.row(text(r.Title), text(resultWord(r.Result)), text(r.Message))
	}
}

func replayedText(r inspect.Replayed) string {
	out := fmt.Sprintf("%s records, %s", figures.Group(r.Records), figures.Bytes(r.Bytes))
	if r.States != nil {
		out += fmt.Sprintf(", which leave %s states", figures.Group(*r.States))
	}
	return out
}

func resultWord(r inspect.RuleResult) string {
	word := strings.ReplaceAll(string(r), "-", " ")
	if r == inspect.Failed {
		return strings.ToUpper(word)
	}
	return word
}

func nearbyText(n *inspect.Nearby, now time.Time) string {
	if n == nil {
		return "none known"
	}
	out := fmt.Sprintf("%s  %s old, replays a span of %s offsets", safe(n.URI), age(n.Taken, now), figures.Group(n.Span))
	if n.RunsAgain == nil {
		return out + ", calls not scanned"
	}
	return out + fmt.Sprintf(", %s calls run again", figures.Group(*n.RunsAgain))
}

// callsOnRecord says which calls of a job are open, and that nobody looked.
func callsOnRecord(o inspect.JobOverview) string {
	switch n := o.PendingCalls; {
	case n != nil:
		return fmt.Sprintf("%s pending, %s overwritten, %s unmatched, in %s records", figures.Group(n.Pending), figures.Group(n.Overwritten), figures.Group(n.Unmatched), figures.Group(o.Scan.Records))
	case o.Scan != nil:
		return "not all of the " + o.Store.Log() + " was scanned"
	default:
		return notScanned
	}
}

// restoredCalls says what a restore does to the calls at risk.
func restoredCalls(c *inspect.CallCounts, v inspect.Verdict) string {
	switch {
	case c != nil:
		return fmt.Sprintf("%s run again, %s go to the reconciler, %s unknown, %s reused",
			figures.Group(c.RunsAgain), figures.Group(c.Reconciler), figures.Group(c.Unknown), figures.Group(c.Reused))
	case v == inspect.Rejected:
		return "a restore that is rejected makes none"
	default:
		return notScanned
	}
}

func renderWindow(t *table, store inspect.Store, window []inspect.Window) {
	if len(window) == 0 {
		return
	}
	t.line("")
	t.row(num(strings.ToUpper(store.Part())), num("REPLAYS FROM"), num("TO"), num("SPAN"))
	for _, w := range window {
		t.row(num(fmt.Sprint(w.Partition)), num(figures.Group(w.From)), num(figures.Group(w.To)), num(figures.Group(w.To-w.From)))
	}
}
