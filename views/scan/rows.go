package scan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
)

// NoCall is the call of a row whose action has none on record.
const NoCall = -1

// Row is one durable call of an action, or an action that has no call on record.
type Row struct {
	Action *inspect.ActionCalls
	first  int64 // with partition the identity of the action
	at     int64 // of its last record, in ns
	call   int32 // in the action's order, or NoCall
	part   int32
	rank   uint8 // what must be seen first has the lowest
}

// Call is the row's durable call; nil where the action has none on record.
func (r Row) Call() *inspect.Call {
	if r.call == NoCall {
		return nil
	}
	return &r.Action.Calls[r.call]
}

// RowOf is the row of an action's first call, outside of any list.
func RowOf(a *inspect.ActionCalls) Row { return rowsOf(a, nil)[0] }

// Of is the row of another call of the same action, by its place in the action's
// order.
func (r Row) Of(call int) Row {
	r.call = int32(call)
	return r
}

// Outcomes are those of the call, or of the action where it has none; empty as
// long as a scan runs.
func (r Row) Outcomes() []inspect.PointOutcome {
	if c := r.Call(); c != nil {
		return c.Outcomes
	}
	return r.Action.Outcomes
}

// Outcome is that of a restore from one recovery point; false where it is not
// known what it would be, because the scan was not asked or has not ended.
func (r Row) Outcome(point string) (inspect.PointOutcome, bool) {
	for _, o := range r.Outcomes() {
		if o.Point == point {
			return o, true
		}
	}
	return inspect.PointOutcome{}, false
}

// ID tells the row from all others of a topic, and is the same in each scan.
func (r Row) ID() string { return fmt.Sprintf("%d/%d/%d", r.part, r.first, r.call) }

// ranks of outcomes; those of states follow, for as long as a scan runs.
const (
	rankRunsAgain = iota
	rankUnknown
	rankReconciler
	rankReused
	rankPending
	rankOverwritten
	rankUnmatched
	rankSaved
	rankNone
)

// rank is the worst outcome from the recovery points, or the state where no
// outcome is known.
func (r Row) rankFor(points []string) uint8 {
	worst := uint8(rankNone)
	for _, o := range r.Outcomes() {
		if slices.Contains(points, o.Point) {
			worst = min(worst, rankOf(o.Outcome))
		}
	}
	if worst != rankNone {
		return worst
	}
	if c := r.Call(); c != nil {
		switch c.State {
		case inspect.CallPending:
			return rankPending
		case inspect.CallOverwritten:
			return rankOverwritten
		case inspect.CallUnmatched:
			return rankUnmatched
		default:
			return rankSaved
		}
	}
	return rankNone
}

func rankOf(o inspect.CallOutcome) uint8 {
	switch o {
	case inspect.CallRunsAgain:
		return rankRunsAgain
	case inspect.CallReconciler:
		return rankReconciler
	case inspect.CallReused:
		return rankReused
	default:
		return rankUnknown
	}
}

// rowsOf are the rows of one action.
func rowsOf(a *inspect.ActionCalls, points []string) []Row {
	row := Row{Action: a, part: a.Partition, first: a.First, at: nanos(a.Timestamp), call: NoCall}
	if len(a.Calls) == 0 {
		row.rank = row.rankFor(points)
		return []Row{row}
	}
	rows := make([]Row, len(a.Calls))
	for i := range a.Calls {
		row.call = int32(i)
		row.rank = row.rankFor(points)
		rows[i] = row
	}
	return rows
}

// nanos keeps the order of times that an int64 of nanoseconds can't hold.
func nanos(t time.Time) int64 {
	const least, most = -1 << 33, 1 << 33 // seconds, well inside the range
	return min(max(t.Unix(), least), most)*1e9 + int64(t.Nanosecond())
}

// compare orders rows: what would run again first, then the oldest.
func compare(a, b Row) int {
	return cmp.Or(
		cmp.Compare(a.rank, b.rank), cmp.Compare(a.at, b.at),
		cmp.Compare(a.part, b.part), cmp.Compare(a.first, b.first), cmp.Compare(a.call, b.call),
	)
}
