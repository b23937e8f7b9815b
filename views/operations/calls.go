package operations

import (
	"context"
	"slices"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/scan"
)

// counts are the durable calls that operations bear upon, by plan id.
type counts map[string]inspect.OperationCalls

// follow looks at the job's scan for durable calls, if there is one. This screen
// begins none.
func (s *Screen) follow() tui.Cmd {
	found := s.options.Reading.Scans.Of(s.options.Job, s.options.Reading.Overview.TopicID)
	if found == nil {
		return nil
	}
	state := found.State()
	if state.Running {
		return tui.Batch(s.scan(state), found.Follow("scan"))
	}
	return s.scan(state)
}

// scan takes the newest scan that is whole; the numbers of a part are nobody's.
func (s *Screen) scan(state scan.State) tui.Cmd {
	if !state.Known() && state.Before != nil {
		state = *state.Before
	}
	if !state.Known() || state.Partial() {
		return nil
	}
	s.scanned = state
	return s.count()
}

// count looks at each call for each operation, beside the console.
func (s *Screen) count() tui.Cmd {
	if !s.scanned.Known() || len(s.ops) == 0 {
		return nil
	}
	job, ops, calls := s.options.Job, slices.Clone(s.ops), *s.scanned.Calls
	return tui.Load("count", func(ctx context.Context) (counts, error) {
		out := counts{}
		for _, op := range ops {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			out[op.PlanID] = op.CallsUnder(job, calls)
		}
		return out, nil
	})
}

func (s *Screen) counted(found counts) {
	for i := range s.ops {
		if under, ok := found[s.ops[i].PlanID]; ok {
			s.ops[i].Calls = &under
		}
	}
}

// callsBelow is the number in the table.
func callsBelow(op inspect.Operation) string {
	if op.Calls == nil {
		return phrase.NotScanned
	}
	return figures.Group(op.Calls.Below)
}

// callsText says what the cleanup means for the calls at risk.
func callsText(op inspect.Operation) string {
	c := op.Calls
	if c == nil {
		return "calls at risk below it: " + phrase.NotScanned + " (c on the job's screen)"
	}
	below := "no call at risk is on record below it"
	switch c.Below {
	case 0:
	case 1:
		below = "1 call at risk is on record below it, where no restore reads it"
	default:
		below = figures.Group(c.Below) + " calls at risk are on record below it, where no restore reads them"
	}
	verb := "run"
	if c.RunAgain == 1 {
		verb = "runs"
	}
	return below + "; " + figures.Group(c.RunAgain) + " " + verb + " again from a restore that begins at it. What is trimmed is not counted"
}
