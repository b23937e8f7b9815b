package inspect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
)

// CountingCalls returns an inspector whose Overview, Points, Validate and
// ValidateMarkers also scan the job's topic for durable calls, once for all
// recovery points of an answer. watch, which may be nil, is told how far it is.
func (i *Inspector) CountingCalls(watch func(CallUpdate)) *Inspector {
	out := *i
	out.counting = &callCounting{watch: watch}
	return &out
}

// callCounting is how an inspector scans for calls.
type callCounting struct {
	watch func(CallUpdate) // may be nil
}

// CallCount is a scan for calls as an overview tells it.
type CallCount struct {
	Calls    DurableCalls
	Progress CallProgress // of its first pass
	Err      error        // why it is not whole
}

// Progress is how far a scan that has ended had come.
func (c DurableCalls) Progress() CallProgress {
	s := c.Scanned
	return CallProgress{Pass: 1, Records: s.Records, Bytes: s.Bytes, Span: Span(s.From, s.Read), Total: Span(s.From, s.To)}
}

// count scans for the calls that restores from some points would make again. It
// is nil where the inspector doesn't, and where there is no topic to scan.
func (i *Inspector) count(ctx context.Context, job Job, ev reading, points []PointMarker) *CallCount {
	if i.counting == nil || ev.dataErr != nil || !ev.data.Exists {
		return nil
	}
	c := &CallCount{}
	for _, p := range ev.data.Partitions {
		c.Progress.Total += max(0, p.Log.End-p.Log.Start)
	}
	q := CallQuestion{Job: job, Points: points}
	if i.prospect != nil {
		q.Plan = i.prospect.Targets
	}
	c.Calls, c.Err = i.readCalls(ctx, ev.data, q, func(u CallUpdate) {
		if u.Progress.Pass == 1 {
			c.Progress.Span = u.Progress.Span
		}
		if i.counting.watch != nil {
			i.counting.watch(u)
		}
	})
	if c.whole() {
		c.Progress.Span = c.Progress.Total
	}
	return c
}

// whole reports whether the numbers are those of the whole topic.
func (c *CallCount) whole() bool { return c != nil && c.Err == nil && !c.Calls.Scanned.Partial }

// fault is what kept the scan from being whole; nil for no scan.
func (c *CallCount) fault() error {
	if c == nil {
		return nil
	}
	return c.Err
}

// of are the counts of a point; nil where there are none for the whole topic.
func (c *CallCount) of(uri string) *PointCalls {
	if !c.whole() {
		return nil
	}
	at := slices.IndexFunc(c.Calls.Points, func(p PointCalls) bool { return p.Point == uri })
	if at < 0 {
		return nil
	}
	return &c.Calls.Points[at]
}

// At is what a restore from a point does to the calls at risk; nil where that is
// not known: not all of the topic was scanned, or this point was not asked about.
func (c *CallCount) At(uri string) *CallCounts {
	of := c.of(uri)
	if of == nil {
		return nil
	}
	counts := of.Calls
	return &counts
}

// Known is how many calls run again; nil where nothing says that any does, and
// completed actions may hide some.
func (p PointCalls) Known() *int64 {
	if p.Calls.RunsAgain == 0 && p.Hidden > 0 {
		return nil
	}
	return p.Calls.Known()
}

// Known is how many calls run again; nil where that can't be told of any call: 0
// would pass for a good answer.
func (c CallCounts) Known() *int64 {
	if c.RunsAgain == 0 && c.Unknown > 0 {
		return nil
	}
	return &c.RunsAgain
}

// Again is how many calls run again as far as it is known: "2", or "2 to 4" where of
// two more it can't be told.
func (c CallCounts) Again() string {
	if c.Unknown == 0 {
		return figures.Group(c.RunsAgain)
	}
	return figures.Group(c.RunsAgain) + " to " + figures.Group(c.RunsAgain+c.Unknown)
}

// into says of each point what a restore from it does to the calls.
func (c *CallCount) into(points []PointSummary) {
	for n := range points {
		p := &points[n]
		if counts := c.At(p.URI); counts != nil {
			of := c.of(p.URI)
			p.Calls, p.RunsAgain, p.Rewritten = counts, of.Known(), of.Rewritten
			p.Validation.Calls = counts
		}
	}
}

// judge says in a validation what the restore does to the calls. A restore that
// is rejected does nothing to them.
func (c *CallCount) judge(v *RestoreValidation, store Store) {
	if c == nil || v.Verdict == Rejected {
		return
	}
	of := c.of(v.Point)
	if of == nil {
		v.Notes = append(v.Notes, "Not all of the "+store.Log()+" was scanned for durable calls: how many would run again is not known.")
		return
	}
	counts := of.Calls
	v.Calls = &counts
	if v.Later != nil && v.Later.Refused == nil && v.Later.Verdict != Rejected {
		v.Later.Calls = of.Later
	}
	switch n := counts.RunsAgain; {
	case n == 1:
		v.Notes = append(v.Notes, "1 call would run again. Find out on the other side whether it happened before you restore.")
	case n > 1:
		v.Notes = append(v.Notes, fmt.Sprintf("%s calls would run again. Find out on the other side whether they happened before you restore.", group(n)))
	}
	switch n := counts.Unknown; {
	case n == 1:
		v.Notes = append(v.Notes, "What would become of 1 call is not known.")
	case n > 1:
		v.Notes = append(v.Notes, fmt.Sprintf("What would become of %s calls is not known.", group(n)))
	}
	if of.Hidden > 0 {
		v.Notes = append(v.Notes, fmt.Sprintf("%s that a restore processes again have only their last record left: which calls they made, and so how many run again beside these, is not known.", completedActions(of.Hidden)))
	}
	if r := of.Rewritten; r != nil && r.missing() > 0 {
		v.Notes = append(v.Notes, r.note())
	}
}

// withPoint adds a point to others unless it is one of them.
func withPoint(points []PointMarker, p PointMarker) []PointMarker {
	if slices.ContainsFunc(points, func(other PointMarker) bool { return other.Point == p.Point }) {
		return points
	}
	return append(points, p)
}

// CallPoints are the points that a restore might start from, for a scan: those
// that are rejected make no call.
func CallPoints(points []PointSummary) []PointMarker {
	out := []PointMarker{}
	for _, p := range points {
		if p.Verdict != Rejected {
			out = append(out, p.Validation.Marker)
		}
	}
	return out
}

// WithCalls is the overview with what a scan found: calls at risk, what runs
// again from each recovery point, and what is wrong. The numbers of a scan that
// is not whole would be taken for those of the topic: only a finding tells them.
// The overview's own lists stay as they are.
func (o JobOverview) WithCalls(c CallCount) JobOverview {
	s := c.Calls.Scanned
	o.Scan = &Scan{Done: c.Progress.Span, Total: c.Progress.Total, Records: s.Records, Partial: !c.whole()}
	o.Points = slices.Clone(o.Points)
	c.into(o.Points)
	settle(o.Points)
	if c.whole() {
		counts := c.Calls.Counts
		o.PendingCalls = &counts
	}
	found := slices.Concat(o.Findings, c.partial(o.Store), rerunFindings(o.Points), c.Calls.Findings)
	o.Findings = inOrder(found)
	return o
}

// partial tells what a scan that is not whole has found so far.
func (c *CallCount) partial(store Store) []Finding {
	if c.whole() {
		return nil
	}
	n := c.Calls.Counts
	f := Finding{
		Severity: SeverityError, Rule: "calls-partly-scanned", Refs: []string{}, Numbers: Named{"records": c.Calls.Scanned.Records},
		Cause: fmt.Sprintf("not all of the "+store.Log()+" was scanned for durable calls: %s of an offset span of %s, with at least %s pending and %s overwritten",
			records(c.Calls.Scanned.Records), group(c.Progress.Total), group(n.Pending), group(n.Overwritten)),
		Next: "scan again before you decide anything by it",
	}
	var why []string
	for _, err := range fault.All(c.Err) {
		why = append(why, fault.Of(err).Error())
		f.Refs = append(f.Refs, fault.Of(err).Refs...)
	}
	if len(why) > 0 {
		f.Cause += ": " + why[0]
	}
	if len(why) > 1 {
		f.Cause += fmt.Sprintf(" (and %d more)", len(why)-1)
	}
	return []Finding{f}
}

// again is how many calls run again from a point of which that is known, of some at
// least.
func (p PointSummary) again() string {
	if p.Calls != nil {
		return p.Calls.Again()
	}
	return group(*p.RunsAgain)
}

// rerunFindings name the points from which calls would run again, the newest
// first, and which has the fewest.
func rerunFindings(points []PointSummary) []Finding {
	var at []PointSummary
	for _, p := range points {
		if p.Verdict != Rejected && p.RunsAgain != nil && *p.RunsAgain > 0 {
			at = append(at, p)
		}
	}
	if len(at) == 0 {
		return nil
	}
	const most = 3
	f := Finding{
		Severity: SeverityWarning, Rule: "calls-run-again", Refs: []string{}, Numbers: Named{},
		Next: "run recoverctl inspect calls to see which, and find out on the other side whether they happened before you restore",
	}
	var words []string
	for n, p := range at {
		f.Refs = append(f.Refs, p.URI)
		if n < most {
			words = append(words, fmt.Sprintf("%s from %s", p.again(), quote(lastPart(p.URI))))
		}
	}
	if rest := len(at) - most; rest > 0 {
		words = append(words, "and some from "+figures.Count(rest, "more recovery point", "more recovery points"))
	}
	first := *at[0].RunsAgain
	how := calls(first)
	if again := at[0].again(); again != group(first) {
		how = again + " calls"
	}
	words[0] = fmt.Sprintf("%s would run again from %s", how, quote(lastPart(at[0].URI)))
	least := slices.MinFunc(at, func(a, b PointSummary) int { return cmp.Compare(*a.RunsAgain, *b.RunsAgain) })
	f.Cause, f.Numbers = strings.Join(words, ", "), Named{"runsAgain": first, "least": *least.RunsAgain}
	return []Finding{f}
}
