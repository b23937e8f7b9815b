package arkflow

import (
	"context"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/clock"
)

// Sources is where the evidence for plans about a job is read.
type Sources struct {
	Hub    arkhub.Options
	Job    string
	Points *arkflow.Points
	Clock  clock.Clock
}

// Gather reads what a plan is made from and judged by, over a fresh connection.
// Store is where the checkpoint store is; empty: where the job says. Faults are
// what could not be read beside what could.
func (s Sources) Gather(ctx context.Context, store string) (actions.ArkFlowEvidence, error) {
	e := actions.ArkFlowEvidence{At: s.Clock.Now()}
	client, err := arkhub.New(s.Hub)
	if err != nil {
		e.Err = err
		return e, err
	}
	defer client.Close()
	d, err := arkflow.NewHub(client, s.Points, s.Clock).Job(ctx, s.Job, store)
	if d.Hub.Address == "" {
		e.Err = err
		return e, err
	}
	e.Job = &d
	return e, err
}
