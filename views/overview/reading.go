package overview

import (
	"slices"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/scan"
)

// Reading is an overview with what could not be read beside it.
type Reading struct {
	Overview inspect.JobOverview
	// Err is what could not be read. Where Failed is set it is of a later read
	// than the overview, which brought nothing.
	Err    error
	Failed bool
	// Awaited are the systems that have not answered yet, so that the overview knows
	// nothing of them.
	Awaited inspect.Awaited
	At      time.Time // when the read of the overview began; zero: nothing is known

	// Scans holds what scans for durable calls have found; nil: none are made. What
	// the newest one of this topic has found stands in Overview.
	Scans *scan.Scans
	Scan  scan.State // that Overview has; the zero State: none

	plain *inspect.JobOverview // without what a scan found
}

// Renewed is the reading with what the newest scan of the job's topic has found
// by now; false where that is what it has already.
func (r Reading) Renewed(job inspect.Job) (Reading, bool) {
	if r.Scans == nil || !r.Known() {
		return r, false
	}
	if r.plain == nil {
		plain := r.Overview
		r.plain = &plain
	}
	var state scan.State
	if found := r.Scans.Of(job, r.plain.TopicID); found != nil {
		state = found.State()
	}
	if state.Same(r.Scan) {
		return r, false
	}
	r.Scan, r.Overview = state, state.Into(*r.plain)
	return r, true
}

// Known reports whether something was read.
func (r Reading) Known() bool { return !r.At.IsZero() }

// Problems are the findings, errors first, and before them the faults that none
// of the findings tells.
func (r Reading) Problems() []inspect.Finding {
	return phrase.WithFaults(r.Overview.Findings, r.Err, r.Failed)
}

// Verdicts counts the recovery points by verdict.
func (r Reading) Verdicts() (accepted, rejected, unknown int) {
	for _, p := range r.Overview.Points {
		switch p.Verdict {
		case inspect.Accepted:
			accepted++
		case inspect.Rejected:
			rejected++
		default:
			unknown++
		}
	}
	return accepted, rejected, unknown
}

// Boundary says in two words whether a boundary is in force. It is refused where
// a restore refuses the control topic.
func (r Reading) Boundary() (string, theme.Tone) {
	switch r.Overview.Boundary {
	case inspect.BoundaryNotConfigured:
		return "none", theme.Plain
	case inspect.BoundaryUnread:
		if r.Awaited.Log {
			return phrase.NoAnswerYet, theme.Warning
		}
		return "not read", theme.Warning
	case inspect.BoundaryInForce:
		return "in force", theme.Plain
	case inspect.BoundaryRefused:
		return "REFUSED", theme.Error
	default:
		return "not read", theme.Warning
	}
}

// Untrimmed are the partitions whose log still holds records before the
// boundary.
func (r Reading) Untrimmed() []int32 {
	var parts []int32
	for _, p := range r.Overview.Partitions {
		if p.Boundary != nil && p.LogStart != nil && *p.LogStart < *p.Boundary {
			parts = append(parts, p.Partition)
		}
	}
	return parts
}

// BoundarySentence says all that the overview knows about the boundary.
func (r Reading) BoundarySentence() string {
	switch word, _ := r.Boundary(); word {
	case "none":
		return "no boundary: the job has no control topic"
	case "REFUSED":
		return "boundary REFUSED: no restore is accepted"
	case "not read":
		return "the boundary could not be read"
	case phrase.NoAnswerYet:
		return "the boundary is not known: the brokers have not answered yet"
	}
	parts := r.Untrimmed()
	if len(parts) == 0 {
		return "boundary in force, the log is trimmed to it"
	}
	return "boundary in force, log not trimmed yet on " + figures.Group(int64(len(parts))) + " of " +
		phrase.Count(len(r.Overview.Partitions), "partition", "partitions") + ": " + figures.Ranges(parts, 6)
}

// Live is the running job's state with how long it has lasted, or why nothing is
// known of it.
func (r Reading) Live() (string, theme.Tone) {
	if r.Awaited.Live && r.Overview.LiveSource != inspect.NotConnected {
		return phrase.NoAnswerYet, theme.Warning
	}
	word, tone := phrase.Live(r.Overview.LiveSource, r.Overview.Live)
	if live := r.Overview.Live; live != nil {
		word = phrase.LiveFor(*live, r.At)
	}
	return word, tone
}

// LiveFacts are what an overview knows of the running job beside its state, in a
// few words each.
func (r Reading) LiveFacts() []string {
	live := r.Overview.Live
	if live == nil {
		return nil
	}
	next, _ := phrase.NextRestore(live.NextRestore, r.Overview.Points)
	facts := []string{phrase.Restarts(*live), phrase.RestoredFrom(*live), next}
	if len(live.Unread) > 0 {
		facts = append(facts, "not read: "+phrase.Safe(strings.Join(live.Unread, ", ")))
	}
	return facts
}

// LastFailure is the root cause of the running job's newest failure in a line;
// "" where none is on record or a finding tells it.
func (r Reading) LastFailure() string {
	if r.Overview.Live == nil {
		return ""
	}
	for _, f := range r.Overview.Findings {
		if f.Rule == "job-failing" {
			return ""
		}
	}
	return phrase.Cause(*r.Overview.Live, r.At)
}

// AtRisk is how many durable calls are open without an outcome on record, those
// that no restore matches among them, or that nobody looked.
func (r Reading) AtRisk() (string, theme.Tone) {
	switch calls := r.Overview.PendingCalls; {
	case calls != nil && calls.Pending+calls.Overwritten+calls.Unmatched > 0:
		return figures.Group(calls.Pending + calls.Overwritten + calls.Unmatched), theme.Warning
	case calls != nil:
		return "0", theme.Plain
	case r.Overview.Scan != nil && r.Overview.Scan.Partial:
		return "not all scanned", theme.Warning
	case r.Overview.Scan != nil && r.Overview.Scan.Done < r.Overview.Scan.Total:
		return "scanning", theme.Muted
	default:
		return phrase.NotScanned, theme.Muted
	}
}

// Find is the recovery point with this URI; false where it is not in the list.
func (r Reading) Find(uri string) (int, bool) {
	for i, p := range r.Overview.Points {
		if p.URI == uri {
			return i, true
		}
	}
	return 0, false
}

// Listed reports whether the list of recovery points is one: that it is empty
// says nothing where no place was named, or one could not be read.
func (r Reading) Listed() bool {
	if len(r.Overview.Points) > 0 {
		return true
	}
	return len(r.Overview.Searched) > 0 && !r.placeUnread()
}

func (r Reading) placeUnread() bool {
	return slices.ContainsFunc(r.Overview.Findings, func(f inspect.Finding) bool { return f.Rule == "place-unreadable" })
}

// Searched says where recovery points were looked for.
func (r Reading) Searched() string {
	if len(r.Overview.Searched) == 0 {
		return "no place is configured"
	}
	text := phrase.Count(len(r.Overview.Searched), "place", "places") + " searched"
	if !r.Listed() {
		text += ", not all of it could be read"
	}
	return text
}
