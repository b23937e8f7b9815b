package scan

import (
	"slices"

	"github.com/recoverctl/recoverctl/inspect"
)

// Into writes what a scan found into a job's overview, where it is the overview's
// topic that was scanned: calls at risk, what runs again from each recovery point,
// and what is wrong. The overview's own lists stay as they are.
func (s State) Into(o inspect.JobOverview) inspect.JobOverview {
	if s.Running {
		o.Scan = &inspect.Scan{Done: s.Progress.Span, Total: max(s.Progress.Total, 1)}
	}
	if s.Calls == nil || s.TopicID != "" && o.TopicID != "" && s.TopicID != o.TopicID {
		return o
	}
	if !s.Running {
		o.Scan = &inspect.Scan{Done: s.Calls.Scanned.Records, Total: s.Calls.Scanned.Records}
	}
	if s.Partial() { // numbers of a part would be taken for those of the whole
		return o
	}
	counts := s.Calls.Counts
	o.PendingCalls = &counts
	o.Points = slices.Clone(o.Points)
	for i := range o.Points {
		p := &o.Points[i]
		if counts := s.Points(p.URI); counts != nil {
			runs, calls := counts.Calls.RunsAgain, counts.Calls
			p.RunsAgain, p.Validation.Calls = &runs, &calls
		}
	}
	o.Findings = withFindings(o.Findings, s.Calls.Findings)
	return o
}

// withFindings puts what a scan found among the findings of an overview, the
// errors first.
func withFindings(known, found []inspect.Finding) []inspect.Finding {
	all := slices.Clone(known)
	for _, f := range found {
		if !slices.ContainsFunc(all, func(k inspect.Finding) bool { return k.Rule == f.Rule && k.Cause == f.Cause }) {
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b inspect.Finding) int { return severity(a) - severity(b) })
	return all
}

func severity(f inspect.Finding) int {
	switch f.Severity {
	case inspect.SeverityError:
		return 0
	case inspect.SeverityWarning:
		return 1
	default:
		return 2
	}
}
