package arkflow

import (
	"context"
	"errors"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
)

// Sources is where the evidence for plans about a job is read.
type Sources struct {
	Hub    arkhub.Options
	Job    string
	Points *arkflow.Points
	Clock  clock.Clock

	// SameHub: somebody has accepted that this is the hub that a plan was made with,
	// though its address is another.
	SameHub bool

	// Logs reads the write-ahead log at Log, of a stream that is restarted; nil or
	// empty: none is read.
	Logs *arkflow.Logs
	Log  string
}

// GatherPlan reads what a plan is judged by, over a fresh connection. Faults are what
// could not be read beside what could.
func (s Sources) GatherPlan(ctx context.Context, plan actions.Document) (actions.ArkFlowEvidence, error) {
	p := actions.ArkFlowPlanOf(plan)
	gather := func() (actions.ArkFlowEvidence, error) { return s.gather(ctx, p.Store, p.Upgrade) }
	if p.Kind == actions.KindArkFlowRestart {
		gather = func() (actions.ArkFlowEvidence, error) { return s.GatherStream(ctx, p.Node, p.Stream) }
	}
	e, err := gather()
	if s.SameHub {
		e.Configured = plan.Target.Cluster
	}
	return e, err
}

// GatherStream reads what a plan about a stream is made from and judged by.
func (s Sources) GatherStream(ctx context.Context, node, stream string) (actions.ArkFlowEvidence, error) {
	return s.asked(func(hub *arkflow.Hub, e *actions.ArkFlowEvidence) (answered bool, err error) {
		if s.Logs != nil && s.Log != "" {
			hub = hub.WithLog(s.Logs, s.Log, nil)
		}
		d, err := hub.Stream(ctx, node, stream)
		if d.Hub.Address == "" {
			return false, err
		}
		e.Stream = &d
		return true, err
	})
}

// Gather reads what a plan is made from and judged by, over a fresh connection.
// Store is where the checkpoint store is; empty: where the job says. Faults are
// what could not be read beside what could.
func (s Sources) Gather(ctx context.Context, store string) (actions.ArkFlowEvidence, error) {
	return s.gather(ctx, store, "")
}

func (s Sources) gather(ctx context.Context, store, upgrade string) (actions.ArkFlowEvidence, error) {
	return s.asked(func(hub *arkflow.Hub, e *actions.ArkFlowEvidence) (answered bool, err error) {
		d, err := hub.Job(ctx, s.Job, store)
		if d.Hub.Address == "" {
			return false, err
		}
		e.Job = &d
		if upgrade == "" || d.Job.Upgrade != nil && d.Job.Upgrade.ID == upgrade {
			return true, err
		}
		u, unread := hub.Upgrade(ctx, s.Job, upgrade)
		switch {
		case unread == nil:
			e.Upgrade = &u
		case fault.KindOf(unread) != fault.NotFound:
			e.UpgradeErr = unread
		}
		return true, errors.Join(err, unread)
	})
}

// asked is what a hub answers over a fresh connection. Where it does not answer at
// all, nothing is known, and why is the evidence's Err.
func (s Sources) asked(ask func(*arkflow.Hub, *actions.ArkFlowEvidence) (answered bool, err error)) (actions.ArkFlowEvidence, error) {
	e := actions.ArkFlowEvidence{At: s.Clock.Now()}
	client, err := arkhub.New(s.Hub)
	if err != nil {
		e.Err = err
		return e, err
	}
	defer client.Close()
	configured, _ := client.Address()
	e.Configured = configured.String()
	answered, err := ask(arkflow.NewHub(client, s.Points, s.Clock), &e)
	if !answered {
		e.Err = err
	}
	return e, err
}
