package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flinkkey"
	"github.com/recoverctl/recoverctl/views/records"
	"github.com/recoverctl/recoverctl/views/scan"
)

// consoleCalls scans topics for durable calls, and finds keys, as inspect calls
// and inspect key do.
type consoleCalls struct{ in *inspect.Inspector }

var _ scan.Source = consoleCalls{}

// Calls implements scan.Source.
func (c consoleCalls) Calls(ctx context.Context, job inspect.Job, watch func(inspect.CallUpdate)) (scan.Result, error) {
	before, err := c.in.Topic(ctx, job)
	if err != nil && !before.Exists {
		return scan.Result{}, err
	}
	calls, faults, err := c.in.Calls(ctx, job, inspect.CallAsk{}, watch)
	if err != nil {
		return scan.Result{}, err
	}
	after, err := c.in.Topic(context.WithoutCancel(ctx), job)
	if err == nil && after.TopicID != before.TopicID {
		return scan.Result{}, fault.New(fault.Drift, "scan for calls", "topic %s was deleted and made anew while it was scanned", safe(job.Topic)).
			WithHint("scan again").WithRef("topic " + safe(job.Topic))
	}
	return scan.Result{TopicID: before.TopicID, Calls: calls}, errors.Join(faults...)
}

// findKey reads a key as an operator types it: TYPE:VALUE, or a text.
func (c consoleCalls) findKey(ctx context.Context, job inspect.Job, typed string) (inspect.KeyState, error) {
	kind, _, typeGiven := strings.Cut(typed, ":")
	if !typeGiven || !slices.Contains(flinkkey.Types(), kind) {
		typed = "string:" + typed
	}
	key, err := keyOf("find a key", typed)
	if err != nil {
		return inspect.KeyState{}, err
	}
	figures := inspect.KeyFigures{MaxParallelism: job.MaxParallelism, Partitions: job.Partitions}
	state, faults := c.in.Key(ctx, job, key, figures, nil)
	return state, errors.Join(faults...)
}

// records implements records.Open.
func (c consoleCalls) records(ctx context.Context, job inspect.Job) (records.Browser, error) {
	b, err := c.in.Records(ctx, job)
	if err != nil {
		return nil, err // and no browser that is nil inside
	}
	return b, nil
}
