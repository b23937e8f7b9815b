package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
)

const (
	// A topic that was just made is not known to every broker at once.
	describeAgain   = 100 * time.Millisecond
	describeFor     = 30 * time.Second
	recordsHidden   = "control-records-hidden"
	secondLookAfter = time.Second
)

// createControl makes the control topic and waits until it can be described.
func (c *Cleanup) createControl(ctx context.Context, _ *actions.StepProgress) (string, error) {
	cluster, err := c.open(ctx)
	if err != nil {
		return "", at(actions.StageControlTopic, err)
	}
	// A refusal that can be seen now must not leave a new topic behind.
	if err := c.stillFit(ctx); err != nil {
		return "", err
	}
	c.sent = true
	// The factor's range was checked with the configuration.
	err = cluster.CreateControlTopic(ctx, c.control(), int16(*c.Replication))
	if err != nil && !errors.Is(err, kerr.TopicAlreadyExists) { // one that came meanwhile is looked at like our own
		return "", at(actions.StageControlTopic, err)
	}
	if err := c.describe(ctx, cluster); err != nil {
		return "", err
	}
	if err := c.mayRecord(ctx, cluster); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s is made, with one partition, the policy compact and replication factor %d", quote(c.control()), *c.Replication), nil
}

// describe reads the control topic until it is there, and checks its shape.
func (c *Cleanup) describe(ctx context.Context, cluster Cluster) error {
	limited, cancel := context.WithTimeout(ctx, describeFor)
	defer cancel()
	for {
		control, err := cluster.ControlTopic(limited, c.control())
		switch {
		case err == nil && control.Exists:
			if _, stage, p := actions.CheckControl(c.Plan, control); stage == actions.StageControlTopic {
				return refuse(stage, p)
			}
			c.found = true
			return nil
		case err != nil && !soon(err):
			return at(actions.StageControlTopic, err)
		}
		if actions.Pause(limited, describeAgain) != nil {
			if err == nil {
				err = fault.New(fault.Unknown, "create topic", "control topic %s was made and can't be described yet", quote(c.control()))
			}
			return at(actions.StageControlTopic, err)
		}
	}
}

// soon reports whether a topic that was just made can give this error for a
// moment: it is not known everywhere, or has no leader yet.
func soon(err error) bool {
	switch fault.KindOf(err) {
	case fault.NotFound, fault.Drift:
		return true
	}
	return kerr.IsRetriable(err)
}

func (c *Cleanup) settleControl(ctx context.Context) (settled actions.Settlement, seen string, err error) {
	err = c.fresh(ctx, func(cluster Cluster) error {
		for look := 1; ; look++ {
			control, err := cluster.ControlTopic(ctx, c.control())
			if err != nil {
				return err
			}
			if control.Exists {
				if _, stage, p := actions.CheckControl(c.Plan, control); stage == actions.StageControlTopic {
					return refuse(stage, p)
				}
				c.found, settled, seen = true, actions.Happened, quote(control.Name)+" exists"
				return nil
			}
			if look == 2 {
				settled, seen = actions.NotHappened, quote(control.Name)+" does not exist"
				return nil
			}
			if err := actions.Pause(ctx, secondLookAfter); err != nil {
				return err
			}
		}
	})
	return settled, seen, err
}

// commit writes COMMITTED, the point of no return, and reads it back. Directly
// before, everything that the reader of the plan relied on is read once more.
func (c *Cleanup) commit(ctx context.Context, _ *actions.StepProgress) (string, error) {
	control, err := c.readControl(ctx)
	if err != nil {
		return "", at(actions.StageCommit, err)
	}
	if _, stage, p := actions.CheckControl(c.Plan, control); p != nil {
		return "", refuse(stage, p)
	}
	if p := actions.CheckNobodyElse(c.first, control, c.ours); p != nil {
		return "", refuse(actions.StageCommit, p)
	}
	if err := c.stillFit(ctx); err != nil {
		return "", err
	}
	offset, err := c.append(ctx, c.Plan, inspect.StatusCommitted)
	if err != nil {
		return "", at(actions.StageCommit, err)
	}
	if err := c.readBack(ctx); err != nil {
		return "", committed(err, offset)
	}
	return fmt.Sprintf("acknowledged at offset %s of %s by all in-sync replicas, and read back: the boundary is in force", group(offset), quote(c.control())), nil
}

// stillFit looks at the data topic once more, directly before something is
// written: listing the recovery points may have taken long.
func (c *Cleanup) stillFit(ctx context.Context) error {
	data, err := c.readData(ctx, actions.StageCommit)
	if err != nil {
		return err
	}
	return refuse(actions.StageSettingsBeforeCommit, actions.CheckSettings(data))
}

// committed adds to an error what was done before it.
func committed(err error, offset int64) error {
	f := fault.Of(err)
	return &fault.Fault{
		Kind: f.Kind, Op: f.Op, Hint: f.Hint, Refs: f.Refs, Err: err,
		Message: fmt.Sprintf("COMMITTED was written, at offset %s of the control topic, and the cleanup stops there", group(offset)),
	}
}

// append writes a record and counts it as ours. A record of which that is not
// known is counted when it is found.
func (c *Cleanup) append(ctx context.Context, plan inspect.CleanupPlan, status inspect.OperationStatus) (int64, error) {
	cluster, err := c.open(ctx)
	if err != nil {
		return 0, err
	}
	c.sent = true
	offset, err := cluster.Append(ctx, c.control(), plan, status)
	if err == nil {
		c.ours[plan.PlanID]++
	}
	return offset, err
}

// readBack reads the control topic as any job's reader reads it, and refuses
// where the plan is not found there, or somebody else writes.
func (c *Cleanup) readBack(ctx context.Context) error {
	const stage = actions.StageOperationsAfterCommit
	control, err := c.readControl(ctx)
	if err != nil {
		return at(stage, err)
	}
	history, _, p := actions.CheckControl(c.Plan, control)
	switch {
	case p != nil && p.Code == recordsHidden:
		return unknown(stage, p)
	case p != nil:
		return refuse(stage, p)
	}
	if p := actions.CheckSecondReading(c.Plan, c.first, control, c.ours[c.Plan.PlanID]); p != nil {
		return refuse(stage, p)
	}
	c.history = history
	return nil
}

// settleCommit looks for the record that was perhaps written.
func (c *Cleanup) settleCommit(ctx context.Context) (actions.Settlement, string, error) {
	settled, seen, err := c.settleRecords(ctx, []inspect.CleanupPlan{c.Plan}, inspect.StatusCommitted)
	if settled == actions.Happened {
		c.ours[c.Plan.PlanID] = 1
	}
	return settled, seen, err
}

// settleRecords looks for a record of each plan with that status that was not
// there at the first reading. What an open transaction hides can't be told.
func (c *Cleanup) settleRecords(ctx context.Context, plans []inspect.CleanupPlan, status inspect.OperationStatus) (settled actions.Settlement, seen string, err error) {
	err = c.fresh(ctx, func(cluster Cluster) error {
		for look := 1; ; look++ {
			control, err := cluster.ControlTopic(ctx, c.control())
			if err != nil {
				return err
			}
			missing := ""
			for _, plan := range plans {
				if !c.isThere(control, plan, status) {
					missing = plan.PlanID
					break
				}
			}
			switch {
			case missing == "":
				settled, seen = actions.Happened, fmt.Sprintf("%s is on the control topic", status)
				return nil
			case control.Exists && control.LastStable < control.LogEnd:
				settled, seen = actions.Unsettled, ""
				return unknown(actions.StageOperationsAfterCommit, problem(recordsHidden, inspect.Named{"logEnd": control.LogEnd},
					"an open transaction hides the control topic's records from offset %s to %s, and %s of %s may be among them",
					group(control.LastStable), group(control.LogEnd), status, short(missing)))
			case look == 2:
				settled, seen = actions.NotHappened, fmt.Sprintf("%s of %s is not among the control topic's records up to its end, %s", status, short(missing), group(control.LogEnd))
				return nil
			}
			// What was sent may still be on its way when its sender has given up.
			if err := actions.Pause(ctx, secondLookAfter); err != nil {
				return err
			}
		}
	})
	return settled, seen, err
}

// isThere reports whether a record of the plan with that status came since the
// first reading.
func (c *Cleanup) isThere(control inspect.ControlTopic, plan inspect.CleanupPlan, status inspect.OperationStatus) bool {
	value := string(actions.EncodeRecord(plan, status))
	for _, r := range control.Records {
		isNew := !c.first.Exists || r.Offset >= c.first.LogEnd
		if isNew && string(r.Key) == plan.PlanID && string(r.Value) == value {
			return true
		}
	}
	return false
}
