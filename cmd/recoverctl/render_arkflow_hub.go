package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/figures"
)

// notExposed stands where this hub does not say.
const notExposed = "not exposed"

func exposed(s *string) string {
	if s == nil {
		return notExposed
	}
	return *s
}

func exposedNumber(n *uint64) string {
	if n == nil {
		return notExposed
	}
	return figures.Group(int64(*n))
}

func ageOf(at *time.Time, now time.Time) string {
	if at == nil {
		return "?"
	}
	return clock.Age(now.Sub(*at))
}

func renderHub(t *table, h arkflow.HubState, now time.Time) {
	ready := "whether it is ready is not exposed"
	if h.Ready != nil {
		ready = map[bool]string{true: "ready", false: "NOT READY"}[*h.Ready]
	}
	led := ""
	if h.Leader {
		led = " (the leader that the hub named)"
	}
	t.line(fmt.Sprintf("hub %s%s: %s, version %s, %s", h.Address, led, h.Generation, exposed(h.Version), ready))
	for _, n := range h.Nodes {
		seen := "last seen ?"
		if n.LastSeen != nil {
			seen = "last seen " + ageOf(n.LastSeen, now) + " ago"
		}
		t.row(text("  node "+n.ID), text(exposed(n.State)), text(exposed(n.Maintenance)), text(seen))
	}
	t.line("")
}

// renderHubFindings says what is wrong first, each with what to do.
func renderHubFindings(t *table, findings []inspect.Finding) {
	for _, f := range findings {
		sign := map[inspect.Severity]string{inspect.SeverityError: "✖ ", inspect.SeverityWarning: "! ", inspect.SeverityInfo: "  "}[f.Severity]
		t.line(sign + strings.Join(f.Refs, ", ") + ": " + f.Cause)
		if f.Severity != inspect.SeverityInfo {
			t.line("    " + f.Next)
		}
	}
	if len(findings) > 0 {
		t.line("")
	}
}

// renderDecisions lists rows with what they came to, where more than those that
// hold were asked for.
func renderDecisions(t *table, decisions []arkflow.Decision) {
	if len(arkflow.That(decisions, arkflow.Holds)) == len(decisions) {
		return
	}
	t.line("")
	t.row(text("ROW"), text("OUTCOME"), text("OF"), text("CONDITION"), text("WHY"))
	for _, d := range decisions {
		t.row(text(d.Row), text(strings.ReplaceAll(string(d.Outcome), "-", " ")), text(d.Subject), text(d.Condition), text(d.Sentence))
	}
}

func renderUnchecked(t *table, unchecked []string) {
	for _, u := range unchecked {
		t.line("not checked: " + u)
	}
}

func renderArkFlowJobs(t *table, l arkflow.JobList, now time.Time) {
	renderHub(t, l.Hub, now)
	renderHubFindings(t, l.Findings)
	if len(l.Jobs) > 0 {
		t.row(text("JOB"), num("VERSION"), text("WANTED"), text("IS"), text("THE HUB SAYS"), text("CHECKPOINTS"), text("PROTECTED BY"))
		for _, j := range l.Jobs {
			t.row(text(j.ID), num(exposedNumber(j.Version)), text(exposed(j.Desired)), text(exposed(j.Observed)), text(exposed(j.Convergence)), text(healthByRecord(j.Health)), text(j.Protected.Sentence))
		}
		t.line("of checkpoints the hub's records alone were read: recoverctl inspect arkflow job ID reads the store")
	} else if l.Hub.Generation.HasJobs() {
		t.line("the hub has no jobs")
	}
	renderUnchecked(t, l.Unchecked)
	renderDecisions(t, l.Decisions)
}

func renderArkFlowStreams(t *table, l arkflow.JobList, now time.Time) {
	renderHub(t, l.Hub, now)
	renderHubFindings(t, l.Findings)
	renderArkFlowStreamRows(t, l)
	renderUnchecked(t, l.Unchecked)
	renderDecisions(t, l.Decisions)
}

func renderArkFlowStreamRows(t *table, l arkflow.JobList) {
	if len(l.Streams) > 0 {
		t.row(text("STREAM"), text("IS"), text("ASKED FOR"), num("IN"), num("TRIED OUT"), num("FAILED OUT"), text("PROTECTED BY"))
		for _, s := range l.Streams {
			t.row(text(s.Node+"/"+s.ID), text(exposed(s.State)), text(exposed(s.Desired)), num(exposedNumber(s.Input)), num(exposedNumber(s.Output)), num(exposedNumber(s.OutputBad)), text(s.Protected.Sentence))
		}
	} else {
		t.line("the hub has no streams")
	}
	for _, s := range l.Streams {
		if s.LastError != nil {
			t.line(fmt.Sprintf("%s/%s failed at %s: %s", s.Node, s.ID, exposed(s.Stage), *s.LastError))
		}
	}
}

func renderArkFlowJob(t *table, d arkflow.JobDetail, now time.Time) {
	renderHub(t, d.Hub, now)
	renderHubFindings(t, d.Findings)
	j := d.Job
	t.row(text("job"), text(fmt.Sprintf("%s, version %s", j.ID, exposedNumber(j.Version))))
	t.row(text("state"), text(fmt.Sprintf("wanted %s, is %s; the hub says %s", exposed(j.Desired), exposed(j.Observed), exposed(j.Convergence))))
	t.row(text("protected by"), text(j.Protected.Sentence))
	t.row(text("checkpoint health"), text(fmt.Sprintf("%s: %s", j.Health.State, j.Health.Sentence)))
	t.row(text("recovery"), text(j.Recovery.Sentence))
	if j.LastError != nil {
		t.row(text("last error"), text(*j.LastError))
	}
	if j.ActiveUpdate != nil {
		t.row(text("upgrade"), text(*j.ActiveUpdate))
	}
	nodes := "any"
	if len(j.Nodes) > 0 {
		nodes = strings.Join(j.Nodes, ", ")
	}
	t.row(text("runs on"), text(fmt.Sprintf("%s; %d planned tasks", nodes, len(d.Tasks))))
	t.row(text("a start restores"), text(selectionText(d.Points.Selection)))
	if d.Log != nil {
		t.row(text("write-ahead log"), text(d.Log.Headline()))
	}
	if r := d.Points.Replay; r != nil {
		t.row(text("and sends again"), text(r.Sentence))
	}
	t.line("")
	t.row(num("VERSION"), num("FORMAT"), num("AGE"), text("A START AT IT RESTORES"))
	for _, v := range d.Versions {
		mark := ""
		if v.Current {
			mark = " (now)"
		}
		t.row(num(fmt.Sprintf("%d%s", v.Version, mark)), num(exposedNumber(v.FormatVersion)), num(ageOf(v.Created, now)), text(selectionText(v.Selection)))
	}
	t.line("")
	renderPointRows(t, d.Points, now)
	renderUnchecked(t, d.Unchecked)
	renderDecisions(t, d.Decisions)
}

func selectionText(s arkflow.Selection) string {
	switch {
	case !s.Known:
		return "not known: " + s.Why
	case s.ID == "":
		return "nothing: " + s.Why
	}
	return s.ID + ": " + s.Why
}

func renderPointRows(t *table, l arkflow.PointList, now time.Time) {
	if len(l.Points) == 0 {
		t.line("there is no checkpoint and no savepoint")
		return
	}
	t.row(text("POINT"), num("AGE"), num("VERSION"), num("FORMAT"), num("TASKS"), text("ON RECORD"), text("VERDICT"), text("THE ENGINE"), text("WHY"))
	for _, p := range l.Points {
		mark := "  "
		if p.Selected {
			mark = "▸ "
		}
		verdict := string(p.Verdict)
		if p.Verdict == inspect.Rejected {
			verdict = "REJECTED"
		}
		status := p.Status
		if status == "" {
			status = "no"
		}
		why := p.Message
		if why == "" && p.WithoutPositions() {
			why = "no source positions, and an older point has some"
		}
		t.row(text(mark+p.ID), num(ageOf(p.Created, now)), num(exposedNumber(p.JobVersion)), num(exposedNumber(p.FormatVersion)),
			num(fmt.Sprint(len(p.Tasks))), text(status), text(verdict), text(engineWord(p.Engine)), text(why))
	}
}

func engineWord(v arkflow.EngineVerdict) string {
	switch v.Verdict {
	case inspect.Accepted:
		return "takes it"
	case inspect.Rejected:
		return "passes over"
	}
	return "not known"
}

func renderArkFlowPoints(t *table, l arkflow.PointList, now time.Time) {
	where := "no store was looked at"
	if l.Place != "" {
		where = "store " + l.Place
	}
	t.line(where)
	if l.Target.JobID != "" {
		t.line("a start restores " + selectionText(l.Selection))
		if l.Selection.Better != "" {
			t.line("✖ " + l.Selection.Better + " is accepted and would not be taken")
		}
		t.line("checkpoint health: " + string(l.Health.State) + ": " + l.Health.Sentence)
		if l.Replay != nil {
			t.line("a start sends again " + l.Replay.Sentence)
		}
	}
	t.line("")
	renderPointRows(t, l, now)
	renderUnchecked(t, l.Unchecked)
}

// healthByRecord is a job's checkpoint health where its store was not read: what is
// good by the hub's word alone is no more than that.
func healthByRecord(h arkflow.Health) string {
	if h.State == arkflow.HealthGood {
		return string(h.State) + " by record"
	}
	return string(h.State)
}

func renderArkFlowEvents(t *table, l arkflow.EventList, now time.Time) {
	if len(l.Events) == 0 {
		t.line("the hub has no such events")
		return
	}
	t.row(num("AGE"), text("TIME"), text("NODE"), text("TYPE"), text("STREAM"), text("OUTCOME"), text("MESSAGE"))
	for _, e := range l.Events {
		t.row(num(ageOf(e.Time, now)), text(timeOf(e.Time)), text(e.Node), text(e.Type), text(e.Stream), text(e.Outcome), text(e.Message))
	}
}

// timeOf is when something was, a question mark where that is not known.
func timeOf(at *time.Time) string {
	if at == nil {
		return "?"
	}
	return at.UTC().Format(time.RFC3339)
}

func renderArkFlowValidation(t *table, v inspect.RestoreValidation, now time.Time) {
	renderRules(t, v)
	for _, r := range v.Runtime {
		t.row(text("the engine, "+string(r.Release)), text(strings.ReplaceAll(string(r.Outcome), "-", " ")+": "+r.Message))
	}
	near := func(name string, n *inspect.Nearby) {
		if n != nil {
			t.row(text(name), text(fmt.Sprintf("%s, %s old", n.URI, ageOf(n.Taken.Time, now))))
		}
	}
	near("accepted and newer", v.Newer)
	near("accepted and older", v.Older)
	t.line("")
	renderUnchecked(t, v.Unchecked)
	renderNext(t, v.Next)
}

func renderArkFlowAudit(t *table, l arkflow.AuditList, now time.Time) {
	if len(l.Records) == 0 {
		t.line("the hub has no such records: of jobs those that were run keep none")
		return
	}
	t.row(num("AGE"), text("TIME"), text("WHO"), text("ASKED FOR"), text("OF"), text("OUTCOME"), text("WHY"))
	for _, r := range l.Records {
		t.row(num(ageOf(r.Time, now)), text(timeOf(r.Time)), text(r.Actor), text(r.Action), text(strings.TrimSpace(r.Type+" "+r.Of)), text(r.Outcome), text(strings.TrimSpace(r.Failure+" "+r.Message)))
	}
}
