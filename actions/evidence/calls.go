package evidence

import (
	"context"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// CallScan is how the topic is scanned for durable calls that depend on what a
// plan deletes.
type CallScan struct {
	Skip  bool                     // not at all: the report says so
	Watch func(inspect.CallUpdate) // may be nil
}

// GatherPlan is Gather for a cleanup plan, with the calls that depend on what it
// deletes. A scan that is not whole counts for none: its numbers would pass for
// those of the topic.
func (s Sources) GatherPlan(ctx context.Context, plan inspect.CleanupPlan, scan CallScan) (e actions.Evidence, faults []error) {
	e, faults = s.Gather(ctx, plan.SourceRecoveryPoint)
	if scan.Skip || e.Offline || e.DataErr != nil || !e.Data.Exists || e.Data.TopicID != plan.TopicID {
		return e, faults
	}
	if e.Calls, e.CallsErr = s.callsBefore(ctx, plan, e, scan.Watch); e.CallsErr != nil {
		faults = append(faults, fault.All(e.CallsErr)...)
	}
	return e, faults
}

func (s Sources) callsBefore(ctx context.Context, plan inspect.CleanupPlan, e actions.Evidence, watch func(inspect.CallUpdate)) (*actions.CallsBefore, error) {
	reader, ok := s.Log.(inspect.CallReader)
	if !ok {
		return nil, fault.New(fault.Unsupported, "scan for calls", "this backend can't scan its log for durable calls")
	}
	q := inspect.CallQuestion{Job: s.Job, Points: actions.CallPoints(plan, e), Plan: actions.Targets(plan, e)}
	calls, err := reader.ReadCalls(ctx, e.Data, q, watch)
	switch {
	case err != nil:
		return nil, err
	case calls.Scanned.Partial:
		return nil, fault.New(fault.Partial, "scan for calls", "not all of topic %s was scanned", safetext.Of(e.Data.Name))
	}
	below := actions.CallsBelow(plan, e, calls)
	return &below, nil
}
