package evidence

import (
	"context"
	"sync"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
)

// Guide reads, as it is now, what the steps of a guided procedure are checked by.
// Point is the address of the chosen recovery point, and to the name of a new
// control topic; empty where none was chosen or named. What could not be read
// stands in the evidence and in the faults, as with Gather.
func (s Sources) Guide(ctx context.Context, point, to string) (e actions.GuideEvidence, faults []error) {
	e.Chosen, e.To = point, to
	var wg sync.WaitGroup
	if s.Log != nil && to != "" && actions.CheckConfiguration(inspect.Job{Topic: s.Job.Topic, ControlTopic: &to}, nil) == nil {
		wg.Go(func() { e.New, e.NewErr = s.Log.ControlTopic(ctx, to) })
	}
	gathered, faults := s.Gather(ctx, point)
	wg.Wait()
	if e.NewErr != nil {
		faults = append(faults, e.NewErr)
	}
	if point == "" {
		gathered.Own, gathered.OwnErr = nil, nil
	}
	e.Evidence = gathered
	return e, faults
}
