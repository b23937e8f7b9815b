package viewtest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/views/scan"
)

// CallScan is a scan.Source with one answer.
type CallScan struct {
	Updates []inspect.CallUpdate // told at first
	Result  scan.Result
	Err     error
	// Hold, if not nil, keeps the scan running until it is closed or the scan is
	// cancelled; then what was told so far is the answer, with the context's error.
	Hold chan struct{}
	// Told, if not nil, is closed when all updates were told.
	Told chan struct{}
}

// Calls implements scan.Source.
func (c *CallScan) Calls(ctx context.Context, _ inspect.Job, watch func(inspect.CallUpdate)) (scan.Result, error) {
	var found scan.Result
	for _, u := range c.Updates {
		found.Calls.Actions = append(found.Calls.Actions, u.Changed...)
		found.Calls.Scanned.Records, found.Calls.Scanned.Bytes = u.Progress.Records, u.Progress.Bytes
		for _, a := range u.Changed {
			for _, c := range a.Calls {
				if c.State == inspect.CallPending {
					found.Calls.Counts.Pending++
				}
			}
		}
		watch(u)
	}
	if c.Told != nil {
		close(c.Told)
	}
	if c.Hold != nil {
		select {
		case <-c.Hold:
		case <-ctx.Done():
			return found, ctx.Err()
		}
	}
	return c.Result, c.Err
}

// Scans is a holder of scans of the situation, which ends with the test.
func Scans(t testing.TB, source scan.Source) *scan.Scans {
	s := scan.New(t.Context(), source, Clock)
	t.Cleanup(s.Close)
	return s
}

// Calls is what a scan of the situation finds: a call of each state and each
// outcome.
func Calls() inspect.DurableCalls {
	marker := map[string]inspect.Offsets{}
	store := Store()
	for _, p := range store.Places[Checkpoints] {
		marker[p.URI] = p.Merged.Offsets
	}
	points := []string{Checkpoints + "/chk-44", Checkpoints + "/chk-43", Checkpoints + "/chk-42", Savepoints + "/savepoint-9c41-77"}
	group := int32(11)
	text := func(s string) *string { return &s }
	action := func(key inspect.CallKey, seq int64, part int32, offset int64, ago time.Duration) inspect.ActionCalls {
		return inspect.ActionCalls{
			Key: key, Generation: 3, KeyGroup: &group, Sequence: seq, Partition: part, Offset: offset, First: offset - 1, Records: 2,
			EventUUID: "0ccdd4a0-60c6-3a86-9d5d-0b1e6d4c2a11", ActionUUID: fmt.Sprintf("%08x-7d1e-3c55-8a40-5f3c1d2e4b6a", 0x9f2c0000+offset),
			EventType: "OrderEvent", Timestamp: Now.Add(-ago),
		}
	}
	call := func(a inspect.ActionCalls, function, status string, state inspect.CallState) inspect.ActionCalls {
		c := inspect.Call{
			Index: len(a.Calls), FunctionID: function, ArgsDigest: fmt.Sprintf("9f2c81d3a7%054x", a.Offset), Status: text(status), State: state,
			Seen: inspect.RecordPosition{Partition: a.Partition, Offset: a.Offset},
		}
		switch state {
		case inspect.CallSaved:
			size := int64(64)
			c.ResultBytes = &size
		case inspect.CallOverwritten:
			c.Seen.Offset--
			c.Lost = &inspect.RecordPosition{Partition: a.Partition, Offset: a.Offset}
		case inspect.CallUnmatched:
			a.Unmatched, a.Newer = true, &inspect.RecordPosition{Partition: a.Partition, Offset: a.Offset + 30}
		}
		for _, uri := range points {
			from, known := marker[uri][a.Partition]
			o := inspect.PointOutcome{Point: uri}
			switch {
			case !known:
				o.Outcome, o.Why = inspect.CallUnknown, "the recovery point could not be read, so its marker is not known"
			case a.Offset < from:
				o.Outcome, o.Why = inspect.CallRunsAgain, fmt.Sprintf("partition %d is read from %d, and the record at %d lies before that", a.Partition, from, a.Offset)
			case state == inspect.CallSaved:
				o.Outcome, o.Why = inspect.CallReused, fmt.Sprintf("the result at %d is read and matched", a.Offset)
			case state == inspect.CallPending:
				o.Outcome, o.Why = inspect.CallReconciler, fmt.Sprintf("the record at %d is inside the window: the job's reconciler is asked", a.Offset)
			default:
				o.Outcome, o.Why = inspect.CallRunsAgain, "no record that a restore reads has it"
			}
			c.Outcomes = append(c.Outcomes, o)
		}
		a.Calls = append(a.Calls, c)
		a.Outcomes = c.Outcomes
		return a
	}
	bob := inspect.CallKey{Digest: "gbY32PzS3+2DCcFMR1nL6pA7cuYm4DnCvZJ53eZ5b7o="}
	old := call(action(inspect.CallKey{Text: text("carol")}, 9, 7, LogEnds()[7]-900, 40*time.Minute), "payments.charge", "PENDING", inspect.CallUnmatched)
	old.Generation, old.KeyGroup = 1, nil
	open := action(inspect.CallKey{Text: text("dave")}, 3, 12, LogEnds()[12]-2, 30*time.Second)
	calls := inspect.DurableCalls{
		Scanned: inspect.ScanExtent{Records: 244912, Bytes: 481 << 20, From: Boundary(), To: LogEnds()},
		Actions: []inspect.ActionCalls{
			call(action(inspect.CallKey{Text: text("alice")}, 17, 3, 3911, 252*time.Second), "payments.charge", "PENDING", inspect.CallPending),
			call(action(bob, 2, 5, LogEnds()[5]-1300, 15*time.Minute), "mail.send", "SUCCEEDED", inspect.CallSaved),
			call(call(action(inspect.CallKey{Text: text("erin")}, 4, 9, LogEnds()[9]-150, 95*time.Second), "inventory.reserve", "SUCCEEDED", inspect.CallSaved), "payments.charge", "PENDING", inspect.CallPending),
			call(action(inspect.CallKey{Text: text("frank")}, 1, 20, LogEnds()[20]-120, 80*time.Second), "payments.charge", "PENDING", inspect.CallOverwritten),
			old, open,
		},
		Tombstones: 40, Counts: inspect.PendingCalls{Pending: 2, Overwritten: 1, Unmatched: 1},
	}
	for _, uri := range points {
		counted := inspect.PointCalls{Point: uri}
		for _, a := range calls.Actions {
			for _, c := range a.Calls {
				for _, o := range c.Outcomes {
					if o.Point == uri {
						tally(&counted.Calls, o.Outcome)
					}
				}
			}
		}
		calls.Points = append(calls.Points, counted)
	}
	return calls
}

func tally(c *inspect.CallCounts, o inspect.CallOutcome) {
	switch o {
	case inspect.CallRunsAgain:
		c.RunsAgain++
	case inspect.CallReconciler:
		c.Reconciler++
	case inspect.CallReused:
		c.Reused++
	default:
		c.Unknown++
	}
}

// Found is a CallScan that has read all of the situation's topic.
func Found() *CallScan { return &CallScan{Result: scan.Result{TopicID: TopicID, Calls: Calls()}} }

// Halfway is a CallScan that has read half of it and goes on until Hold is
// closed.
func Halfway() *CallScan {
	all := Calls()
	found := append([]inspect.ActionCalls(nil), all.Actions[:3]...)
	for i := range found { // outcomes are known at the end
		found[i].Outcomes = nil
		found[i].Calls = append([]inspect.Call(nil), found[i].Calls...)
		for c := range found[i].Calls {
			found[i].Calls[c].Outcomes = nil
		}
	}
	return &CallScan{
		Updates: []inspect.CallUpdate{{
			Progress: inspect.CallProgress{Pass: 1, Records: 120119, Bytes: 256 << 20, Span: 120200, Total: 245116, Open: 3}, Changed: found,
		}},
		Hold: make(chan struct{}), Told: make(chan struct{}), Result: scan.Result{TopicID: TopicID, Calls: all},
	}
}
