package kafka

import (
	"context"
	"fmt"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// The steps before the point of no return. They only read.

func (c *Cleanup) planIntact(context.Context, *actions.StepProgress) (string, error) {
	if _, p := inspect.ParsePlan(actions.EncodePlan(c.Plan)); p != nil {
		return "", refuse(actions.StageConfiguration, p)
	}
	if p := actions.CheckConfiguration(c.Job, c.Replication); p != nil {
		return "", refuse(actions.StageConfiguration, p)
	}
	return fmt.Sprintf("the id %s fits the plan's content; %s", short(c.Plan.PlanID), figures.Count(len(c.Plan.Offsets), "partition", "partitions")), nil
}

func (c *Cleanup) controlTopic(ctx context.Context, _ *actions.StepProgress) (string, error) {
	control, err := c.readControl(ctx)
	if err != nil {
		return "", at(actions.StageControlTopic, err)
	}
	if _, stage, p := actions.CheckControl(c.Plan, control); stage == actions.StageControlTopic {
		return "", refuse(stage, p)
	}
	c.found = control.Exists
	switch {
	case c.found:
		return fmt.Sprintf("%s has one partition and the policy compact", quote(control.Name)), nil
	case c.Replication == nil:
		return "", refuse(actions.StageControlTopic, problem("control-topic-missing", nil, "control topic %s does not exist", quote(control.Name)))
	default:
		return fmt.Sprintf("%s does not exist, and is made in step 6c", quote(control.Name)), nil
	}
}

func (c *Cleanup) identity(ctx context.Context, _ *actions.StepProgress) (string, error) {
	data, err := c.readData(ctx, actions.StageIdentity)
	if err != nil {
		return "", err
	}
	if p := actions.CheckSettings(data); p != nil {
		return "", refuse(actions.StageSettings, p)
	}
	return fmt.Sprintf("%s has the id %s, %s, cleanup.policy with compact and delete, no retention limit",
		quote(data.Name), safetext.Of(data.TopicID), figures.Count(len(data.Partitions), "partition", "partitions")), nil
}

func (c *Cleanup) operations(ctx context.Context, _ *actions.StepProgress) (string, error) {
	control, err := c.readControl(ctx)
	if err != nil {
		return "", at(actions.StageOperations, err)
	}
	history, stage, p := actions.CheckControl(c.Plan, control)
	if p != nil {
		return "", refuse(stage, p)
	}
	c.first, c.history = control, history
	switch {
	case history.Missing:
		return "no control topic yet, so no operation", nil
	case len(history.Operations) == 0:
		return "no operation is recorded", nil
	default:
		return fmt.Sprintf("%s on record, %d unfinished", figures.Count(len(history.Operations), "operation", "operations"), len(history.Unfinished())), nil
	}
}

func (c *Cleanup) targets(ctx context.Context, _ *actions.StepProgress) (string, error) {
	if p := actions.CheckBoundary(c.Plan, c.history.Boundary); p != nil {
		return "", refuse(actions.StageBoundary, p)
	}
	data, err := c.readData(ctx, actions.StageAvailability)
	if err != nil {
		return "", err
	}
	p, err := actions.CheckAvailable(c.Plan, data)
	switch {
	case p != nil:
		return "", refuse(actions.StageAvailability, p)
	case err != nil:
		return "", at(actions.StageAvailability, err)
	}
	if p := actions.CheckSettings(data); p != nil {
		return "", refuse(actions.StageSettingsBeforeCommit, p)
	}
	span := int64(0)
	for id, log := range data.Ranges() {
		span += max(0, c.Plan.Offsets[id]-log.Start)
	}
	return fmt.Sprintf("every target lies in the log and not below the boundary; an offset span of %s is deleted", group(span)), nil
}

// survivors lists the recovery points again. For a plan that is recorded the
// boundary is in force already: what is listed is told and refuses nothing.
func (c *Cleanup) survivors(ctx context.Context, p *actions.StepProgress) (string, error) {
	p.Note(safetext.Of("listing the recovery points"))
	evidence, err := c.Gather(ctx)
	resumed := c.history.Own != nil
	switch {
	case err != nil && resumed && ctx.Err() == nil:
		return "the recovery points could not be listed, which a cleanup that is being finished does not need: " + safetext.Error(err).String(), nil
	case err != nil:
		return "", at(actions.StageSurvivors, err)
	}
	now := actions.NewReport(c.Plan, evidence)
	if !resumed {
		// What this step decides on is the operation as step 4 read it: a record that
		// came since must not turn a refusal into a resume.
		now.Recorded = ""
		if p := actions.CheckSurvivors(c.Approved, now); p != nil {
			return "", refuse(actions.StageSurvivors, p)
		}
	}
	return fmt.Sprintf("%s restorable, %d lost, %d unknown, %s searched", figures.Count(len(now.Survives), "point stays", "points stay"),
		len(now.Lost), len(now.Unknown), figures.Count(len(now.Searched), "place", "places")), nil
}

func short(id string) string {
	const digits = 8
	return id[:min(digits, len(id))]
}
