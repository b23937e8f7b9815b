package main

import (
	"context"
	"errors"
	"slices"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
)

// callStream prints actions, one object a line and each once.
type callStream struct {
	app    *app
	status inspect.CallStatus
	told   map[inspect.RecordPosition]struct{} // by the first record of the action
	err    error                               // of the first line that could not be written
	stop   context.CancelFunc                  // of the scan, which nobody reads any more then
}

// streamCalls prints each action when it is final, those that are not before the
// end of the scan at that, and on standard error what could not be read.
func (a *app) streamCalls(ctx context.Context, in *inspect.Inspector, job inspect.Job, q inspect.CallAsk, status inspect.CallStatus) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := callStream{app: a, status: status, told: map[inspect.RecordPosition]struct{}{}, stop: cancel}
	progress := a.callProgress()
	q.Final = true
	calls, faults, err := in.Calls(ctx, job, q, func(u inspect.CallUpdate) {
		s.print(u.Final)
		if progress != nil {
			progress(u)
		}
	})
	if err != nil {
		return errors.Join(s.err, err)
	}
	s.print(calls)
	if s.err != nil {
		return s.err
	}
	for _, err := range fault.All(errors.Join(faults...)) {
		a.printer().complain("not everything could be read", err)
	}
	return partly(nil, calls)
}

// print prints those that were not printed before.
func (s *callStream) print(calls inspect.DurableCalls) {
	chosen := calls.Select(s.status)
	for _, action := range slices.Concat(chosen.Actions, chosen.Siblings, chosen.Removed) {
		at := inspect.RecordPosition{Partition: action.Partition, Offset: action.First}
		if _, again := s.told[at]; again || s.err != nil {
			continue
		}
		s.told[at] = struct{}{}
		if s.err = writeLine(s.app.out, action); s.err != nil {
			s.stop()
		}
	}
}
