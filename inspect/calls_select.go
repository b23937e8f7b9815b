package inspect

import "slices"

// CallStatus chooses which actions of a scan are told.
type CallStatus string

// The choices. At risk are open actions with any call on record, and completed
// ones that a tombstone makes run again. Pending are those with a call whose
// outcome is not on record, be it overwritten. Open is every action that is not
// completed, also without a call on record: one may be out all the same.
const (
	CallsAtRisk    CallStatus = "at-risk"
	CallsPending   CallStatus = "pending"
	CallsOpen      CallStatus = "open"
	CallsUnmatched CallStatus = "unmatched"
	CallsAll       CallStatus = "all"
)

// CallStatuses are all choices, the usual one first.
func CallStatuses() []CallStatus {
	return []CallStatus{CallsAtRisk, CallsPending, CallsOpen, CallsUnmatched, CallsAll}
}

// Select leaves the actions of a choice. All numbers stay those of the whole
// scan.
func (c DurableCalls) Select(s CallStatus) DurableCalls {
	keep := func(match func(ActionCalls) bool) []ActionCalls {
		out := []ActionCalls{}
		for _, a := range c.Actions {
			if match(a) {
				out = append(out, a)
			}
		}
		return out
	}
	switch s {
	case CallsPending:
		c.Actions = keep(func(a ActionCalls) bool { return !a.Completed && slices.ContainsFunc(a.Calls, withoutOutcome) })
		c.Siblings, c.Removed = []ActionCalls{}, []ActionCalls{}
	case CallsUnmatched:
		c.Actions = keep(func(a ActionCalls) bool { return a.Unmatched })
		c.Siblings, c.Removed = []ActionCalls{}, []ActionCalls{}
	case CallsOpen:
		c.Actions = keep(func(a ActionCalls) bool { return !a.Completed })
		c.Removed = []ActionCalls{}
	case CallsAll:
	default:
		c.Actions = keep(func(a ActionCalls) bool { return !a.Completed && len(a.Calls) > 0 })
		c.Siblings = []ActionCalls{}
	}
	return c
}

// withoutOutcome reports whether nothing on record says what became of a call.
func withoutOutcome(c Call) bool { return c.State == CallPending || c.State == CallOverwritten }
