package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/figures"
)

// unreadable stands where Flink was asked and did not say.
const unreadable = "could not be read"

// moment writes a time of Flink's with its age.
func moment(at *time.Time, now time.Time) string {
	if at == nil {
		return "?"
	}
	return fmt.Sprintf("%s, %s ago", at.UTC().Format(time.RFC3339), clock.Age(now.Sub(*at)))
}

// renderLiveSource tells of the running job beside its recovery points.
func renderLiveSource(t *table, o inspect.JobOverview, now time.Time) {
	switch {
	case o.Live != nil:
		t.row(text("live state"), text(liveText(*o.Live, now)))
		t.row(text("Flink would restore"), text(nextText(o.Live.NextRestore)))
		renderLive(t, *o.Live, now)
		const most = 10
		for i, path := range o.OnlyInHistory {
			if i == most {
				t.row(text("in Flink's history alone"), text(fmt.Sprintf("and %d more", len(o.OnlyInHistory)-most)))
				break
			}
			t.row(text("in Flink's history alone"), text(path))
		}
	case o.LiveSource == inspect.Unread:
		t.row(text("live state"), text(unreadable))
	default:
		t.row(text("live state"), text("not connected"))
	}
}

func liveText(l inspect.LiveState, now time.Time) string {
	since := ""
	if l.Since != nil {
		since = " since " + moment(l.Since, now)
	}
	return fmt.Sprintf("%s%s (job %s, %s, Flink %s)", l.State, since, l.Name, l.JobID, l.FlinkVersion)
}

// renderLive adds what Flink says about a job, and what it could not say.
func renderLive(t *table, l inspect.LiveState, now time.Time) {
	unread := func(part string) bool { return slices.Contains(l.Unread, part) }
	switch {
	case l.Restarts != nil:
		t.row(text("restarts"), text(fmt.Sprintf("at least %s", figures.Group(*l.Restarts))))
	case unread("restarts"):
		t.row(text("restarts"), text(unreadable))
	default:
		t.row(text("restarts"), text("not known"))
	}
	t.row(text("restored from"), text(restoredText(l, now)))
	switch {
	case l.RootCause != nil:
		t.row(text("root cause"), text(causeText(*l.RootCause)))
		renderCircumstances(t, *l.RootCause, now)
	case unread("exceptions"):
		t.row(text("root cause"), text(unreadable))
	default:
		t.row(text("root cause"), text("no failure is on record"))
	}
	for _, what := range l.NextRestore.Unknown {
		t.row(text("can't be known"), text(what))
	}
}

func restoredText(l inspect.LiveState, now time.Time) string {
	switch c := l.Checkpoints; {
	case c == nil:
		return unreadable
	case c.Restored == nil:
		return "nothing: it was started without state"
	default:
		return fmt.Sprintf("%s %d, %s (restored %s)", c.Restored.Kind, c.Restored.ID, pathText(c.Restored.Path), moment(c.Restored.Time, now))
	}
}

// pathText is where a recovery point is, as Flink says.
func pathText(path *string) string {
	if path == nil {
		return "at no path"
	}
	return *path
}

func causeText(c inspect.RootCause) string {
	switch {
	case c.Type == "":
		return c.Message
	case c.Message == "":
		return c.Type
	default:
		return c.Type + ": " + c.Message
	}
}

// renderCircumstances tells when and where a cause struck, and how it was told.
func renderCircumstances(t *table, c inspect.RootCause, now time.Time) {
	t.row(text("failed"), text(moment(c.Time, now)))
	if c.Task != "" {
		t.row(text("in task"), text(c.Task))
	}
	if c.Outer != "" {
		t.row(text("told as"), text(c.Outer))
	}
}

func nextText(n inspect.NextRestore) string {
	switch n.Source {
	case inspect.SourcePoint:
		return fmt.Sprintf("%s: %s (%s)", pathText(n.Path), n.Why, n.Field)
	case inspect.SourceNoState:
		return "nothing and begin without state: " + n.Why
	case inspect.SourceNone:
		return "nothing: " + n.Why
	default:
		return "not known: " + n.Why
	}
}

func renderFlinkJobs(t *table, list flink.JobList, now time.Time) {
	t.line(fmt.Sprintf("Flink %s at %s", list.FlinkVersion, list.Address))
	t.line("")
	if len(list.Jobs) == 0 {
		t.line("it has no jobs")
		return
	}
	t.row(text("JOB"), text("STATE"), num("STARTED"), num("ENDED"), text("NAME"))
	ago := func(at *time.Time) string {
		if at == nil {
			return nothing
		}
		return clock.Age(now.Sub(*at))
	}
	for _, j := range list.Jobs {
		t.row(text(j.JobID), text(j.State), num(ago(j.Started)), num(ago(j.Ended)), text(j.Name))
	}
	if list.Cut > 0 {
		t.line(fmt.Sprintf("and %d more", list.Cut))
	}
}

// renderHeadline says what decides as lines, which a terminal wraps and does not
// cut.
func renderHeadline(t *table, l inspect.LiveState) {
	headline := fmt.Sprintf("job %s is %s", l.Name, l.State)
	if inspect.Failing(l.State) {
		headline = "✖ " + headline
		if l.RootCause != nil {
			headline += ": " + causeText(*l.RootCause)
		}
	}
	t.line(headline)
	t.line("Flink would by itself restore " + nextText(l.NextRestore))
}

func renderFlinkJob(t *table, l inspect.LiveState, now time.Time) {
	renderHeadline(t, l)
	t.line("")
	t.row(text("state"), text(liveText(l, now)))
	t.row(text("started"), text(moment(l.Started, now)))
	renderLive(t, l, now)
	t.row(text("checkpoints"), text(countsText(l.Checkpoints)))
	renderSettings(t, l.Settings)
}

func countsText(c *inspect.LiveCheckpoints) string {
	if c == nil {
		return unreadable
	}
	text := fmt.Sprintf("%s completed, %s failed, %s in progress", figures.Group(c.Completed), figures.Group(c.Failed), figures.Group(c.InProgress))
	if c.LatestFailed != nil && c.LatestFailed.Reason != nil {
		text += fmt.Sprintf("; the last failed one is %d: %s", c.LatestFailed.ID, *c.LatestFailed.Reason)
	}
	return text
}

func renderSettings(t *table, s *inspect.CheckpointSettings) {
	if s == nil {
		t.row(text("settings"), text(unreadable))
		return
	}
	interval := "none are taken by time"
	if s.IntervalMs != nil {
		interval = fmt.Sprintf("every %s ms, given up after %s ms, %s", figures.Group(*s.IntervalMs), figures.Group(s.TimeoutMs), s.Mode)
	}
	if s.Unaligned {
		interval += ", unaligned"
	}
	retained := "a number of the last ones that is not known"
	if s.Retained != nil {
		retained = fmt.Sprintf("the last %d", *s.Retained)
	}
	t.row(text("taken"), text(interval))
	t.row(text("kept"), text(fmt.Sprintf("%s; when the job ends: %s", retained, s.Retention)))
	if s.RestartStrategy != "" {
		t.row(text("restart strategy"), text(s.RestartStrategy))
	}
}

func renderFailures(t *table, list flink.FailureList, now time.Time) {
	t.line(fmt.Sprintf("job %s is %s (%s)", list.Name, list.State, list.JobID))
	if len(list.Failures) == 0 {
		t.line("no failure is on record")
		return
	}
	for _, f := range list.Failures {
		t.line("")
		t.line(causeText(f.RootCause))
		renderCircumstances(t, f.RootCause, now)
		if f.Concurrent > 0 {
			t.row(text("beside it"), text(fmt.Sprintf("%d more failed in the same moment", f.Concurrent)))
		}
	}
	if list.More {
		t.line("")
		t.line("Flink has older ones than these")
	}
}

func renderCheckpoints(t *table, l inspect.LiveState, now time.Time) {
	c := l.Checkpoints
	renderHeadline(t, l)
	t.line("")
	t.row(text("checkpoints"), text(countsText(c)))
	t.row(text("restored from"), text(restoredText(l, now)))
	for _, what := range l.NextRestore.Unknown {
		t.row(text("can't be known"), text(what))
	}
	renderSettings(t, l.Settings)
	t.line("")
	if len(c.History) == 0 {
		t.line("the history is empty")
		return
	}
	t.row(num("ID"), text("KIND"), text("STATUS"), text("TRIGGERED"), num("AGE"), num("TOOK"), num("STATE"), num("ACKNOWLEDGED"), text("PATH"))
	for _, p := range c.History {
		triggered, age, took := "?", "?", nothing
		if p.Triggered != nil {
			triggered, age = p.Triggered.UTC().Format(time.RFC3339), clock.Age(now.Sub(*p.Triggered))
			if p.Ended != nil {
				took = fmt.Sprintf("%s ms", figures.Group(p.Ended.Sub(*p.Triggered).Milliseconds()))
			}
		}
		t.row(num(fmt.Sprint(p.ID)), text(string(p.Kind)), text(p.Status), text(triggered), num(age), num(took), num(figures.Bytes(p.Bytes)),
			num(fmt.Sprintf("%d/%d", p.Acknowledged, p.Subtasks)), text(checkpointEnd(p)))
	}
	if c.Cut > 0 {
		t.line(fmt.Sprintf("and %d more", c.Cut))
	}
}

// checkpointEnd is where a checkpoint is, or why it is nowhere.
func checkpointEnd(p inspect.LiveCheckpoint) string {
	switch {
	case p.Reason != nil && *p.Reason != "":
		return "failed: " + *p.Reason
	case p.Path != nil && p.Discarded:
		return *p.Path + " (discarded)"
	case p.Path != nil:
		return *p.Path
	case p.Status == inspect.CheckpointCompleted:
		return "at no path"
	default:
		return nothing
	}
}

func renderCheckpoint(t *table, c inspect.LiveCheckpointDetails, now time.Time) {
	t.line(fmt.Sprintf("%s %d is %s: %d of %d subtasks have done their part", c.Kind, c.ID, c.Status, c.Acknowledged, c.Subtasks))
	t.line("")
	t.row(text("triggered"), text(moment(c.Triggered, now)))
	if c.Ended != nil {
		t.row(text("ended"), text(moment(c.Ended, now)))
	}
	t.row(text("state"), text(figures.Bytes(c.Bytes)))
	t.row(text("path"), text(checkpointEnd(c.LiveCheckpoint)))
	t.line("")
	t.row(num("ACKNOWLEDGED"), num("STATE"), text("STATUS"), text("TASK"))
	for _, task := range c.Tasks {
		t.row(num(fmt.Sprintf("%d/%d", task.Acknowledged, task.Subtasks)), num(figures.Bytes(task.Bytes)), text(task.Status), text(task.Name))
	}
}
