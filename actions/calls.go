package actions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
)

// CallsBefore counts durable calls whose last record lies before the plan's
// targets: any restore makes them again. They are of actions that are open, and
// of completed ones in a sequence that is still open.
type CallsBefore struct {
	Pending     int64 `json:"pending"`
	Overwritten int64 `json:"overwritten"`
	Saved       int64 `json:"saved"`     // with a result on record
	Completed   int64 `json:"completed"` // of completed actions, as far as records show them

	Records int64 `json:"records"` // that were scanned

	// Points are what restores do to the calls at risk, now and after the plan.
	Points []inspect.PointCalls `json:"points"`
}

// Targets are the offsets below which the log is deleted once the plan is
// applied: those of the boundary in force then.
func Targets(plan inspect.CleanupPlan, e Evidence) inspect.Offsets {
	return e.before(plan).after(plan).boundary
}

// CallPoints are the recovery points for which calls are worth counting: those
// that a restore does not reject now, or would not after the plan.
func CallPoints(plan inspect.CleanupPlan, e Evidence) []inspect.PointMarker {
	now := e.before(plan)
	later := now.after(plan)
	points := e.points(plan, now, later)
	out := []inspect.PointMarker{}
	for _, f := range points {
		if f.Now == inspect.Rejected && f.After == inspect.Rejected {
			continue
		}
		for _, p := range append([]inspect.RecoveryPoint{own(e)}, e.Points...) {
			if inspect.SamePoint(p.URI, f.URI) {
				out = append(out, now.judge(p).Marker)
				break
			}
		}
	}
	return out
}

func own(e Evidence) inspect.RecoveryPoint {
	if e.Own == nil {
		return inspect.RecoveryPoint{}
	}
	return *e.Own
}

// CallsBelow counts what a scan with CallPoints and Targets found below the
// targets.
func CallsBelow(plan inspect.CleanupPlan, e Evidence, calls inspect.DurableCalls) CallsBefore {
	now := e.before(plan)
	later := now.after(plan)
	targets := later.boundary
	out := CallsBefore{Records: calls.Scanned.Records, Points: append([]inspect.PointCalls{}, calls.Points...)}
	fates := e.points(plan, now, later)
	for i := range out.Points {
		p := &out.Points[i]
		if at := slices.IndexFunc(fates, func(f PointFate) bool { return inspect.SamePoint(f.URI, p.Point) }); at >= 0 && fates[at].After == inspect.Rejected {
			p.Later = nil // nothing is restored from it then
		}
	}
	below := func(a inspect.ActionCalls) bool {
		target, named := targets[a.Partition]
		return named && a.Offset < target
	}
	for _, a := range calls.Actions {
		if a.Completed || !below(a) {
			continue
		}
		for _, c := range a.Calls {
			switch c.State {
			case inspect.CallPending:
				out.Pending++
			case inspect.CallOverwritten:
				out.Overwritten++
			case inspect.CallSaved:
				out.Saved++
			case inspect.CallUnmatched: // no restore matches it, wherever it lies
			}
		}
	}
	for _, a := range calls.Siblings {
		if below(a) {
			out.Completed += int64(len(a.Calls))
		}
	}
	return out
}

// total is how many calls a restore makes again because of where they lie.
func (c *CallsBefore) total() int64 {
	if c == nil {
		return 0
	}
	return c.Pending + c.Overwritten + c.Saved + c.Completed
}

// warning says what is deleted.
func (c *CallsBefore) warning() string {
	var parts []string
	if n := c.Pending + c.Overwritten; n > 0 {
		parts = append(parts, figures.Count(n, "call", "calls")+" without a known outcome")
	}
	if c.Saved > 0 {
		parts = append(parts, figures.Count(c.Saved, "saved result", "saved results")+" of open actions")
	}
	if c.Completed > 0 {
		parts = append(parts, figures.Count(c.Completed, "call", "calls")+" of completed actions whose sequence is open")
	}
	verb := "are"
	if c.total() == 1 {
		verb = "is"
	}
	return fmt.Sprintf("%s %s deleted, and any restore would make them again", strings.Join(parts, ", "), verb)
}
