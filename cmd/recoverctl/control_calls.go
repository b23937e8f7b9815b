package main

import (
	"context"

	"github.com/recoverctl/recoverctl/inspect"
)

// notScanned stands where a scan would give a number of calls: it is not 0.
const notScanned = "not scanned"

// countUnder scans for durable calls and counts them for each operation. A scan
// that is not whole counts for none.
func (a *app) countUnder(ctx context.Context, in *inspect.Inspector, job inspect.Job, ops []inspect.Operation) []error {
	calls, faults, err := in.Calls(ctx, job, inspect.CallAsk{Points: []string{}}, a.callProgress())
	if err != nil {
		return append(faults, err)
	}
	if calls.Scanned.Partial {
		return faults
	}
	for i := range ops {
		under := ops[i].CallsUnder(job, calls)
		ops[i].Calls = &under
	}
	return faults
}
