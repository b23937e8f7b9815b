package actions

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

const (
	objectStream = "stream"
	paramNode    = "node"
	paramStream  = "stream"
	paramKey     = "key"
	laterRun     = "a later one"
)

// isKey is an idempotency key: 32 hex digits, made when the plan was.
var isKey = regexp.MustCompile(`^[0-9a-f]{32}$`)

// checkArkFlowRestart are the rules of the kind.
func checkArkFlowRestart(d Document) *inspect.Problem {
	if d.Target.Backend != backendArkFlow || d.Target.Object != objectStream || d.Target.ID == "" {
		return refuse("plan-target-unknown", nil, "a plan of the kind %s is for a stream of ArkFlow, and this one for %s of %s", d.Kind, quote(d.Target.Object), quote(d.Target.Backend))
	}
	if p := d.hasParameters([]string{paramGeneration, paramNode, paramStream, paramKey}); p != nil {
		return p
	}
	if p := d.hasFacts([]string{FactRun}); p != nil {
		return p
	}
	p := ArkFlowPlanOf(d)
	switch {
	case p.Node == "" || p.Stream == "" || d.Target.ID != p.Node+"/"+p.Stream:
		return refuse("parameter-value", inspect.Named{"parameter": paramStream}, "the plan is for stream %s, and its parameters name %s of %s", quote(d.Target.ID), quote(p.Stream), quote(p.Node))
	case !isKey.MatchString(p.Key):
		return refuse("parameter-value", inspect.Named{"parameter": paramKey}, "the plan's key is %s, and not 32 hex digits", quote(p.Key))
	case d.Parameters[paramGeneration] != strconv.FormatUint(p.Generation, 10):
		return refuse("parameter-value", inspect.Named{"parameter": paramGeneration}, "the plan's generation is %s, which is no number", quote(d.Parameters[paramGeneration]))
	case sideOf(d.Facts[0].After) != laterRun:
		return refuse("fact-not-allowed", inspect.Named{"fact": FactRun}, "the plan makes %s of the run, and a restart makes %s of it", textOrNothing(d.Facts[0].After), laterRun)
	}
	return nil
}

// ArkFlowRestartFrom makes a plan that restarts a stream. Key is new, of 32 hex
// digits: with it the hub does the same thing once, however often it is asked. A hub
// without storage keeps no keys and is refused, as is a node that takes nothing.
func ArkFlowRestartFrom(e ArkFlowEvidence, key string) (Document, *inspect.Problem) {
	if e.Stream == nil {
		return Document{}, refuse("stream-unknown", nil, "the hub could not be asked about the stream: %s", safetext.Error(e.Err))
	}
	if p := e.takesWrites(); p != nil {
		return Document{}, p
	}
	s := e.Stream.Stream
	id, after := s.Node+"/"+s.ID, laterRun
	target := inspect.PlanTarget{Backend: backendArkFlow, Cluster: e.System(), Object: objectStream, Name: id, ID: id}
	generation := uint64(0)
	if e.Stream.Generation != nil {
		generation = *e.Stream.Generation
	}
	parameters := map[string]string{paramGeneration: strconv.FormatUint(generation, 10), paramNode: s.Node, paramStream: s.ID, paramKey: key}
	return newDocument(KindArkFlowRestart, target, []Fact{{Name: FactRun, Before: sideOrNothing(runText(s)), Source: sideOf(s.State), After: &after}}, parameters)
}

// takesWrites refuses what would be accepted and then lie, or be done twice.
func (e ArkFlowEvidence) takesWrites() *inspect.Problem {
	s, node := e.Stream.Stream, safetext.Of(e.Stream.Stream.Node)
	if !e.Stream.Stored {
		return refuse("hub-without-storage", nil, "this hub keeps nothing that it is asked for: a request that is sent again would be done again, and what became of one can't be told")
	}
	at := slices.IndexFunc(e.Stream.Hub.Nodes, func(n arkflow.NodeState) bool { return n.ID == s.Node })
	if at < 0 {
		return refuse("node-unavailable", nil, "the hub does not list node %s: the restart would wait for it, and be done whenever it appears", node)
	}
	n := e.Stream.Hub.Nodes[at]
	if state := sideOf(n.State); state != "online" {
		return refuse("node-unavailable", nil, "node %s is %s: the restart would wait for it, and be done whenever it is back", node, safetext.Of(orNothing(state)))
	}
	if state := sideOf(n.Maintenance); state != "" && state != "active" {
		return refuse("node-unavailable", nil, "node %s is in %s: it is given no command meanwhile", node, safetext.Of(state))
	}
	return nil
}

// runText names a run of a stream by its start; empty: none is known.
func runText(s arkflow.StreamState) string {
	if s.Started == nil {
		return ""
	}
	return "since " + s.Started.UTC().Format(time.RFC3339Nano)
}

// asked reports whether the hub has the plan's request.
func (p ArkFlowPlan) asked(e ArkFlowEvidence) bool {
	return e.Stream != nil && e.Stream.Action != nil && *e.Stream.Action == p.Key
}

// request is the stream's request of a generation; nil: the hub lists none.
func (e ArkFlowEvidence) request(generation uint64) *arkflow.StreamRequest {
	for i, r := range e.Stream.Requests {
		if r.Generation != nil && *r.Generation == generation {
			return &e.Stream.Requests[i]
		}
	}
	return nil
}

func checkArkFlowStream(p ArkFlowPlan, e ArkFlowEvidence) *Refusal {
	if p.asked(e) {
		return nil // it is left to see what comes of it
	}
	if g := e.Stream.Generation; g != nil && *g != p.Generation || g == nil && p.Generation != 0 {
		return refusedAt(StageJob, refuse("stream-changed", inspect.Named{"planned": p.Generation},
			"what was asked of stream %s last had the generation %d when the plan was made, and has %s now: somebody else asked for something", safetext.Of(p.JobID), p.Generation, versionText(g)))
	}
	if now := runText(e.Stream.Stream); now != p.Run {
		return refusedAt(StageJob, refuse("stream-changed", nil, "stream %s ran %s when the plan was made, and %s now: it was restarted since", safetext.Of(p.JobID), orNothing(p.Run), orNothing(now)))
	}
	return refusedAt(StageJob, e.takesWrites())
}

// judgeRestart looks for a later run of the stream: no hub that was run calls such a
// request converged.
func judgeRestart(p ArkFlowPlan, e ArkFlowEvidence) (Outcome, string) {
	s := e.Stream.Stream
	id, state := safetext.Of(p.JobID), safetext.Of(orNothing(sideOf(s.State)))
	now := runText(s)
	later := now != "" && now != p.Run
	switch {
	case !p.asked(e) && e.Stream.Generation != nil && *e.Stream.Generation > p.Generation:
		return Undecided, fmt.Sprintf("stream %s is %s, and something else was asked of it since (generation %d): whether the restart was among it can't be told", id, state, *e.Stream.Generation)
	case !p.asked(e) && later:
		return Undecided, fmt.Sprintf("stream %s is %s, and runs %s: it was restarted, and not by this plan", id, state, now)
	case !p.asked(e):
		return NotStarted, fmt.Sprintf("stream %s is %s, and the hub has no request of the plan", id, state)
	case later && state.String() == arkRunning:
		return Applied, fmt.Sprintf("stream %s is running %s, and the hub has the plan's request", id, now)
	case later:
		return Contradicted, fmt.Sprintf("stream %s was restarted and is %s: %s", id, state, safetext.Of(orNothing(sideOf(s.LastError))).Truncate(300))
	}
	r := e.request(p.Generation + 1)
	switch {
	case r == nil:
		return Partial, fmt.Sprintf("the hub has the plan's request; stream %s still runs %s", id, orNothing(p.Run))
	case sideOf(r.State) == "failed":
		return Contradicted, fmt.Sprintf("the request %s failed: %s", safetext.Of(r.ID), safetext.Of(orNothing(sideOf(r.Error))).Truncate(300))
	}
	return Partial, fmt.Sprintf("the request %s is %s; stream %s still runs %s", safetext.Of(r.ID), safetext.Of(orNothing(sideOf(r.State))), id, orNothing(p.Run))
}

func restartWarnings(e ArkFlowEvidence) []Warning {
	var out []Warning
	if p := e.Stream.Stream.Protected; p.Log != arkflow.CoverYes && e.Stream.Log == nil {
		out = append(out, Warning{StreamNotCovered, "no write-ahead log is known to cover the stream, so that what lies between read and output may be lost at its stop: " + safetext.Of(p.Sentence).String()})
	}
	var damaged []string
	for _, d := range e.Stream.Decisions {
		switch {
		case d.Outcome != arkflow.Holds:
		case d.Rule == "write-stuck-queued":
			out = append(out, Warning{WriteMayStick, "the request may never reach the node: " + safetext.Of(d.Sentence).String()})
		case d.Scope == arkflow.OfLog && d.Severity == inspect.SeverityError:
			damaged = append(damaged, safetext.Of(d.Sentence).String()+" ("+safetext.Of(d.Action).String()+")")
		}
	}
	if len(damaged) > 0 {
		out = append(out, Warning{LogDamaged, "the stream reads its write-ahead log when it starts: " + strings.Join(damaged, "; ")})
	}
	return out
}

// restartNotes say what of the stream's log is known.
func restartNotes(e ArkFlowEvidence) []string {
	switch l := e.Stream.Log; {
	case l == nil && e.Stream.Stream.Protected.Log != arkflow.CoverNo:
		return []string{"Its write-ahead log was not read: what the restart sends again, and whether the log is whole, is shown where it is named (--wal, or arkflow.wal of the job in the profile)."}
	case l == nil:
		return nil
	case l.ReplaysNothing():
		return []string{"By its write-ahead log nothing is sent again."}
	case l.Window == nil || l.Partial:
		return []string{"What the restart sends again by its write-ahead log is not known: " + l.Headline() + "."}
	default:
		return []string{fmt.Sprintf("By its write-ahead log %s sent again, from sequence %s on.", figures.Count(int(l.Window.Entries), "entry is", "entries are"), group(int64(l.Window.From)))}
	}
}
