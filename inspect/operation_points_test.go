package inspect_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
)

func TestUnderAnOperation(t *testing.T) {
	op := inspect.Operation{PlanID: "a", Offsets: inspect.Offsets{0: 150, 1: 250}}
	refused := inspect.PointSummary{Validation: inspect.RestoreValidation{Reasons: []inspect.Reason{
		{Problem: inspect.Problem{Code: "no-marker-while-boundary-committed"}},
	}}}
	tests := map[string]struct {
		point   inspect.PointSummary
		verdict inspect.Verdict
		below   []int32
		why     string
	}{
		"exactly at it":     {inspect.PointSummary{Offsets: inspect.Offsets{0: 150, 1: 250}}, inspect.Accepted, nil, "at or past it on 2 of 2 partitions"},
		"one below":         {inspect.PointSummary{Offsets: inspect.Offsets{0: 150, 1: 249}}, inspect.Rejected, []int32{1}, "below it on 1 of 2 partitions: partition 1 reads from 249, the cleanup has 250"},
		"all below":         {inspect.PointSummary{Offsets: inspect.Offsets{0: 1, 1: 2}}, inspect.Rejected, []int32{0, 1}, "below it on 2 of 2 partitions: partition 0 reads from 1, the cleanup has 150"},
		"other partitions":  {inspect.PointSummary{Offsets: inspect.Offsets{0: 150}}, inspect.Unknown, nil, "other partitions: 0, the cleanup has 0-1"},
		"could not be read": {inspect.PointSummary{}, inspect.Unknown, nil, "not known"},
		"has no marker":     {refused, inspect.Rejected, nil, "no marker"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := op.Under(tt.point)
			if got.Verdict != tt.verdict || !slices.Equal(got.Below, tt.below) || !strings.Contains(got.Why, tt.why) {
				t.Errorf("%+v, want %s %v with %q", got, tt.verdict, tt.below, tt.why)
			}
		})
	}
}

// A call below the offsets is deleted with its record; one that is not may run
// again for another reason. Completed actions, and partitions that the cleanup does
// not name, are none of its matter.
func TestCallsUnderAnOperation(t *testing.T) {
	action := func(partition int32, offset int64, state inspect.CallState, generation inspect.KeyGeneration) inspect.ActionCalls {
		status := "PENDING"
		if state == inspect.CallSaved {
			status = "SUCCEEDED"
		}
		return inspect.ActionCalls{Partition: partition, Offset: offset, Generation: generation, Calls: []inspect.Call{
			{State: state, Status: &status, Seen: inspect.RecordPosition{Partition: partition, Offset: offset}},
		}}
	}
	const third = inspect.KeyGeneration3
	completed := action(0, 3, inspect.CallSaved, third)
	completed.Completed = true
	op := inspect.Operation{PlanID: "a", Offsets: inspect.Offsets{0: 150, 1: 250}}
	got := op.CallsUnder(inspect.Job{Runtime: inspect.ReleaseNext}, inspect.DurableCalls{
		Scanned: inspect.ScanExtent{Records: 9},
		Actions: []inspect.ActionCalls{
			action(0, 149, inspect.CallSaved, third),   // below, and run again
			action(1, 249, inspect.CallPending, third), // below, and run again
			action(0, 150, inspect.CallSaved, third),   // replayed
			action(1, 251, inspect.CallPending, third), // the reconciler is asked
			action(1, 252, inspect.CallPending, inspect.KeyGeneration1),
			action(2, 7, inspect.CallPending, third),
			completed,
		},
	})
	if want := (inspect.OperationCalls{Below: 2, RunAgain: 3, Records: 9}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestSetBy(t *testing.T) {
	ops := []inspect.Operation{
		{PlanID: "old", ControlOffset: 7, Offsets: inspect.Offsets{0: 100, 1: 250}},
		{PlanID: "new", ControlOffset: 9, Offsets: inspect.Offsets{0: 150, 1: 250}},
	}
	ids := func(p int32) string {
		var all []string
		for _, op := range inspect.SetBy(ops)[p] {
			all = append(all, op.PlanID)
		}
		return strings.Join(all, " ")
	}
	for p, want := range map[int32]string{0: "new", 1: "old new", 2: ""} {
		if got := ids(p); got != want {
			t.Errorf("partition %d is set by %q, want %q", p, got, want)
		}
	}
}

// Every problem of a control topic says what to do, and what erases proof says
// to keep a copy first.
func TestProblemsSayWhatToDo(t *testing.T) {
	for _, code := range []string{"control-tombstone", "control-status-regression", "incomparable-boundaries", "control-key-mismatch"} {
		if next := (inspect.Problem{Code: code}).Next(); !strings.HasPrefix(next, "keep a copy of the topic") {
			t.Errorf("%s: %q", code, next)
		}
	}
	seen := map[string]string{}
	for _, code := range []string{
		"control-topic-blank", "control-topic-same-as-data", "control-topic-missing", "control-topic-partitions", "control-topic-policy",
		"no-committed-boundary", "boundary-of-other-topic", "boundary-of-other-partition-set", "incomparable-boundaries",
	} {
		next := (inspect.Problem{Code: code}).Next()
		if other, again := seen[next]; again || next == "" {
			t.Errorf("%s says what %s says: %q", code, other, next)
		}
		seen[next] = code
	}
}
