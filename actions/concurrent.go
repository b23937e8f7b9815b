package actions

import (
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Reason words of our own about a second reading of the control topic.
const (
	concurrentApply  = "concurrent-apply"
	ownRecordMissing = "own-record-missing"
)

// CheckSecondReading compares the control topic with this apply's first reading
// of it. Ours is how many records of the plan this apply has written since.
//
// A record that appeared since and is not ours means that somebody else is
// applying: then this apply stops. Records that were there at the first reading
// are no such sign; an apply that was begun elsewhere is finished from here. And
// where our own record is not found, nothing may be deleted: the boundary that
// authorises it is not in force for any reader.
func CheckSecondReading(plan inspect.CleanupPlan, first, second inspect.ControlTopic, ours int) *inspect.Problem {
	if p := CheckNobodyElse(first, second, map[string]int{plan.PlanID: ours}); p != nil {
		return p
	}
	own, mine := false, 0
	for _, r := range second.Records {
		if string(r.Key) != plan.PlanID {
			continue
		}
		own = true
		if isNew(first, r) {
			mine++
		}
	}
	if !own || mine < ours {
		return refuse(ownRecordMissing, nil, "the record of this plan is not found on the control topic, although it was written: nothing is deleted")
	}
	return nil
}

// CheckNobodyElse refuses a record of the control topic that appeared since this
// apply's first reading of it and that the apply did not write. Ours counts, by
// plan id, the records that it has written since.
func CheckNobodyElse(first, now inspect.ControlTopic, ours map[string]int) *inspect.Problem {
	seen := make(map[string]int)
	for _, r := range now.Records {
		if !isNew(first, r) {
			continue
		}
		id := string(r.Key)
		if seen[id]++; seen[id] > ours[id] {
			return refuse(concurrentApply, inspect.Named{"controlOffset": r.Offset},
				"a record of cleanup %s appeared on the control topic at offset %s, and this apply did not write it: somebody else is applying",
				safetext.Of(short(id)), group(r.Offset))
		}
	}
	return nil
}

// isNew reports whether a record was not there at the first reading.
func isNew(first inspect.ControlTopic, r inspect.ControlRecord) bool {
	return !first.Exists || r.Offset >= first.LogEnd
}
