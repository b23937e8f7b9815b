package inspect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/inspect/explain"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/internal/shellword"
)

// asksFlink reports whether there is a Flink to ask about the running job.
func (i *Inspector) asksFlink(job Job) bool { return i.live != nil && job.Flink.REST != "" }

// liveState asks Flink about the running job; nothing where none is connected.
func (i *Inspector) liveState(ctx context.Context, job Job) (LiveState, error) {
	if !i.asksFlink(job) {
		return LiveState{}, nil
	}
	return i.live.Live(ctx, job.Flink)
}

// dated gives the points of the job's history the time that Flink has for them,
// which a copy of their files does not change, and orders all again.
func dated(points []RecoveryPoint, live LiveState) []RecoveryPoint {
	out := slices.Clone(points)
	for n := range out {
		if taken, ok := live.Taken(out[n].URI); ok {
			out[n].Taken = taken
		}
	}
	NewestFirst(out)
	return out
}

// onlyInHistory are the completed points of the job's history that still should
// exist and lie in none of the places that were searched.
func onlyInHistory(live LiveState, points []RecoveryPoint) []string {
	missing := []string{}
	if live.Checkpoints == nil {
		return missing
	}
	found := map[string]bool{}
	for _, p := range points {
		found[pointName(p.URI)] = true
	}
	for _, c := range live.Checkpoints.History {
		if c.Status == CheckpointCompleted && !c.Discarded && c.Path != nil && !found[pointName(*c.Path)] {
			missing = append(missing, *c.Path)
		}
	}
	return missing
}

// liveFindings say what the running job adds: that it fails and why, and what a
// restart by Flink itself would meet.
func liveFindings(job Job, o JobOverview, err error) []Finding {
	var out []Finding
	if o.Live == nil {
		if err != nil {
			f := unreadable("live-unreadable", "the running job", err)
			f.Severity = SeverityWarning
			out = append(out, f)
		}
		return out
	}
	live := *o.Live
	ref := "job " + live.JobID
	if Failing(live.State) {
		f := Finding{
			Severity: SeverityError, Rule: "job-failing", Refs: []string{ref}, Numbers: Named{},
			Cause: fmt.Sprintf("job %s is %s%s%s", safetext.Of(live.Name), safetext.Of(live.State), sinceWords(live), rootWords(live)),
			Next:  "look at the recovery points below: a restart that Flink does by itself takes the one that it names",
		}
		if live.Restarts != nil {
			f.Numbers["restarts"] = *live.Restarts
		}
		out = append(append(out, f), explained(job, live)...)
	}
	out = append(out, nextRestoreFindings(o, ref)...)
	if len(o.OnlyInHistory) > 0 && len(o.Searched) > 0 {
		out = append(out, Finding{
			Severity: SeverityWarning, Rule: "points-only-in-history", Refs: slices.Clone(o.OnlyInHistory), Numbers: Named{"points": int64(len(o.OnlyInHistory))},
			Cause: fmt.Sprintf("in Flink's history and in no place that was searched: %d completed, newest %s", len(o.OnlyInHistory), quote(o.OnlyInHistory[0])),
			Next:  "add their folder to recovery-points, or a path mapping if it has another name here",
		})
	}
	if err != nil {
		out = append(out, Finding{
			Severity: SeverityWarning, Rule: "live-partly-unreadable", Refs: []string{ref}, Numbers: Named{},
			Cause: "a part of the running job's state could not be read: " + safetext.Error(err).String(), Next: fault.Of(err).Hint,
		})
	}
	return out
}

// explained say what a job's last failure means, where it is one of the messages
// that are known.
func explained(job Job, live LiveState) []Finding {
	if live.RootCause == nil {
		return nil
	}
	text := live.RootCause.Outer + "\nCaused by: " + live.RootCause.Type + ": " + live.RootCause.Message
	var jobs []explain.Job
	if flags := job.flags(); flags != "" {
		about := explain.Job{Flags: flags, Topics: []string{job.Topic}, Points: job.RecoveryPoints}
		if job.ControlTopic != nil {
			about.Topics = append(about.Topics, *job.ControlTopic)
		}
		jobs = []explain.Job{about}
	}
	var out []Finding
	for _, m := range explain.Text(text, jobs).Matches {
		out = append(out, Finding{
			Severity: SeverityError, Rule: m.Rule, Refs: []string{"job " + live.JobID}, Numbers: Named(m.Numbers),
			Cause: "its last failure means: " + m.Cause, Next: strings.Join(m.Next, "; "),
		})
	}
	return out
}

// adHoc is the name of the profile and of the job that flags alone make.
const adHoc = "adhoc"

// flags are how a command names the job; empty where it has no name of its own.
func (j Job) flags() string {
	if j.Profile == "" || j.Profile == adHoc || j.Name == "" || j.Name == adHoc {
		return j.Flags
	}
	flags := "-p " + shellword.Quote(safetext.Of(j.Profile).String()) + " -j " + shellword.Quote(safetext.Of(j.Name).String())
	if j.Flags != "" {
		flags += " " + j.Flags
	}
	return flags
}

func sinceWords(live LiveState) string {
	if live.Since == nil {
		return ""
	}
	return " since " + live.Since.UTC().Format("15:04Z")
}

func rootWords(live LiveState) string {
	if live.LastException == nil {
		return ", and no exception is on record"
	}
	words := ": " + safetext.Of(*live.LastException).String()
	if live.RestoredFrom != nil {
		words += " (restored from " + safetext.Of(lastPart(*live.RestoredFrom)).String() + ")"
	}
	return words
}

// nextRestoreFindings warn where Flink would by itself restore from a point that
// the rules refuse, or from nothing.
func nextRestoreFindings(o JobOverview, ref string) []Finding {
	next := o.Live.NextRestore
	switch {
	case next.Source == SourceNoState:
		return []Finding{{
			Severity: SeverityWarning, Rule: "next-restore-without-state", Refs: []string{ref}, Numbers: Named{},
			Cause: "a restart by Flink itself would begin without any state: " + safetext.Of(next.Why).String(),
			Next:  "take a savepoint before anything is restarted",
		}}
	case next.Source != SourcePoint || next.Path == nil:
		return nil
	}
	for _, p := range o.Points {
		if samePoint(p.URI, *next.Path) && p.Verdict == Rejected {
			return []Finding{{
				Severity: SeverityError, Rule: "next-restore-rejected", Refs: []string{ref, p.URI}, Numbers: Named{},
				Cause: fmt.Sprintf("Flink would by itself restore from %s, and that is rejected: %s", quote(lastPart(p.URI)), cmp.Or(p.Message, "see its restore check")),
				Next:  "stop the job and start it from an accepted recovery point: each restart by Flink meets the same refusal",
			}}
		}
	}
	return nil
}
