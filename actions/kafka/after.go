package kafka

import (
	"context"
	"fmt"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
)

// logStarts reads from a fresh connection where each log starts now, and looks
// at identity and settings once more.
func (c *Cleanup) logStarts(ctx context.Context, p *actions.StepProgress) (string, error) {
	target := c.target()
	err := c.fresh(ctx, func(cluster Cluster) error {
		data, err := identified(ctx, cluster, c.Job, c.Plan, actions.StageIdentityAfterDelete)
		if err != nil {
			return err
		}
		below, unread := starts(data, target)
		p.Count(len(target)-len(below)-len(unread), len(target))
		switch {
		case len(below) > 0:
			log := data.Ranges()[below[0]]
			return refuse(actions.StageDelete, problem("log-start-below-target",
				inspect.Named{"partition": below[0], "requested": target[below[0]], "logStart": log.Start},
				"the log of %s starts below its target: partition %d starts at %s, its target is %s",
				on(below), below[0], group(log.Start), group(target[below[0]])))
		case len(unread) > 0:
			return at(actions.StageDelete, unreadStart(data, unread))
		}
		return refuse(actions.StageSettingsAfterDelete, actions.CheckSettings(data))
	})
	if err != nil {
		return "", at(actions.StageDelete, err)
	}
	return fmt.Sprintf("read from a fresh connection: the log starts at or past its target on %s", figures.Count(len(target), "partition", "partitions")), nil
}

// applied records APPLIED for every operation that is still COMMITTED, in the
// order in which their plans were first recorded, and reads it back.
func (c *Cleanup) applied(ctx context.Context, p *actions.StepProgress) (string, error) {
	control, err := c.readControl(ctx)
	if err != nil {
		return "", at(actions.StageApplied, err)
	}
	history, _, problem := actions.CheckControl(c.Plan, control)
	if problem != nil {
		return "", refuse(actions.StageApplied, problem)
	}
	if p := actions.CheckNobodyElse(c.first, control, c.ours); p != nil {
		return "", refuse(actions.StageApplied, p)
	}
	c.history = history
	unfinished := history.Unfinished()
	for i, op := range unfinished {
		p.Count(i, len(unfinished))
		if _, err := c.append(ctx, actions.PlanOf(op), inspect.StatusApplied); err != nil {
			return "", at(actions.StageApplied, err)
		}
	}
	p.Count(len(unfinished), len(unfinished))
	if err := c.readApplied(ctx); err != nil {
		return "", err
	}
	return fmt.Sprintf("APPLIED is recorded and read back for %s", figures.Count(len(unfinished), "operation", "operations")), nil
}

// readApplied reads the history back: no operation is left unfinished.
func (c *Cleanup) readApplied(ctx context.Context) error {
	control, err := c.readControl(ctx)
	if err != nil {
		return at(actions.StageApplied, err)
	}
	history, _, p := actions.CheckControl(c.Plan, control)
	switch {
	case p != nil && p.Code == recordsHidden:
		return unknown(actions.StageApplied, p)
	case p != nil:
		return refuse(actions.StageApplied, p)
	case history.Status() != inspect.StatusApplied:
		return refuse(actions.StageApplied, problem("own-record-missing", nil,
			"the record APPLIED of this plan is not found on the control topic, although it was written"))
	}
	return nil
}

// settleApplied looks for APPLIED of every operation that was to get it.
func (c *Cleanup) settleApplied(ctx context.Context) (actions.Settlement, string, error) {
	var plans []inspect.CleanupPlan
	for _, op := range c.history.Unfinished() {
		plans = append(plans, actions.PlanOf(op))
	}
	return c.settleRecords(ctx, plans, inspect.StatusApplied)
}
