package scan

import "github.com/recoverctl/recoverctl/inspect"

// Into is a job's overview with what the scan found, where it is the overview's
// topic that was scanned. While a scan runs, what an earlier one found stays.
func (s State) Into(o inspect.JobOverview) inspect.JobOverview {
	if s.TopicID != "" && o.TopicID != "" && s.TopicID != o.TopicID {
		return o
	}
	if s.Calls == nil {
		if s.Before != nil {
			return s.Before.Into(o)
		}
		if s.Running {
			o.Scan = &inspect.Scan{Done: s.Progress.Span, Total: max(s.Progress.Total, s.Progress.Span+1), Records: s.Progress.Records}
		}
		return o
	}
	c := inspect.CallCount{Calls: *s.Calls, Progress: s.Progress}
	c.Calls.Scanned.Partial = s.Partial()
	if s.Partial() {
		c.Err = s.Err // what could not be read beside a whole scan is the overview's matter
	} else {
		c.Progress.Span = c.Progress.Total
	}
	return o.WithCalls(c)
}
