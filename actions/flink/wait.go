package flink

import (
	"context"
	"fmt"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

func (c *Change) savepointReady(ctx context.Context, p *actions.StepProgress) (string, error) {
	return c.watch().Until(ctx, actions.StageSavepoint, p, func() (string, string, error) {
		return c.savepointNow(actions.StageSavepoint)
	})
}

// savepointNow is how far the plan's savepoint is.
func (c *Change) savepointNow(stage actions.Stage) (detail, now string, err error) {
	switch s := c.seen.Savepoint; {
	case c.saved != "":
		return "the savepoint is " + safetext.Of(c.saved).String(), "", nil
	case s.Known && s.Ready:
		return "", "", actions.Refusef(stage, "savepoint-failed", "the savepoint failed: %s", safetext.Of(s.Failure))
	case !s.Known:
		return "", "", actions.Refusef(stage, "savepoint-unknown", "Flink knows nothing of trigger %s, and the job's history has no new savepoint", c.plan.Trigger)
	case c.seen.Old != nil && inspect.Ended(c.seen.Old.State):
		return "", "the job is " + c.seen.Old.State + ", its savepoint not complete yet", nil
	default:
		return "", "the savepoint is being taken", nil
	}
}

func (c *Change) ended(ctx context.Context, p *actions.StepProgress) (string, error) {
	return c.watch().Until(ctx, actions.StageEnd, p, func() (string, string, error) {
		old := c.seen.Old
		if old == nil {
			return "", "", actions.Refusef(actions.StageEnd, "job-unknown", "Flink does not know job %s any more: it can't be told whether it has ended", c.plan.JobID)
		}
		state := safetext.Of(old.State).String()
		if !inspect.Ended(old.State) {
			if c.seen.Savepoint.Known && c.seen.Savepoint.Ready && c.saved == "" {
				_, _, err := c.savepointNow(actions.StageEnd)
				return "", "", err
			}
			return "", "the job is " + state, nil
		}
		if c.plan.Savepoints() && c.saved == "" {
			return c.savepointOfEnded()
		}
		if v := actions.JudgeFlink(c.Plan, c.seen); v.Verdict == actions.Contradicted {
			return "", "", actions.Refusef(actions.StageEnd, "job-changed", "%s", v.Message)
		}
		detail := "the job is " + state
		if c.saved != "" {
			detail += "; its savepoint is " + safetext.Of(c.saved).String()
		}
		return detail, "", nil
	})
}

// savepointOfEnded is the savepoint of a job that has ended: nothing is started
// before it is known.
func (c *Change) savepointOfEnded() (detail, now string, err error) {
	_, now, err = c.savepointNow(actions.StageEnd)
	return "", now, err
}

// settleTrigger finds out whether Flink has got the plan's trigger.
func (c *Change) settleTrigger(ctx context.Context) (actions.Settlement, string, error) {
	return c.settled(ctx, func() string {
		switch {
		case c.seen.Savepoint.Known:
			return "Flink knows the trigger " + c.plan.Trigger
		case c.saved != "":
			return "the job has a new savepoint: " + c.saved
		}
		return ""
	}, "Flink does not know the trigger "+c.plan.Trigger)
}

func (c *Change) settleCancel(ctx context.Context) (actions.Settlement, string, error) {
	return c.settled(ctx, func() string {
		if old := c.seen.Old; old != nil && (inspect.Ended(old.State) || old.State == "CANCELLING") {
			return "the job is " + old.State
		}
		return ""
	}, "the job is not being cancelled")
}

func (c *Change) settleSubmit(ctx context.Context) (actions.Settlement, string, error) {
	return c.settled(ctx, func() string {
		if c.seen.New != nil {
			return "Flink knows job " + c.plan.NewJobID + ": it is " + c.seen.New.State
		}
		return ""
	}, "Flink does not know job "+c.plan.NewJobID)
}

// settled looks for the trace of a request. One that Flink itself said nothing of may
// come yet: that it is not seen is no proof that it was not made. Should it be carried
// out later, nothing is done twice: the same plan asks with the same id, which Flink
// then knows.
func (c *Change) settled(ctx context.Context, trace func() string, none string) (actions.Settlement, string, error) {
	switch found, err := c.watch().Trace(ctx, trace); {
	case err != nil:
		return actions.Unsettled, "", err
	case found != "":
		return actions.Happened, found, nil
	case c.open:
		return actions.Unsettled, "", fault.New(fault.Unknown, "apply", "%s; a request without an answer may still come. The same plan asks again, and nothing is done twice by that", none)
	default:
		return actions.NotHappened, none, nil
	}
}

// running waits until the new job is up.
func (c *Change) running(ctx context.Context, p *actions.StepProgress) (string, error) {
	return c.watch().Until(ctx, actions.StageRestored, p, func() (string, string, error) {
		now, err := c.newJob()
		if err != nil {
			return "", "", err
		}
		if now.State == "RUNNING" {
			return fmt.Sprintf("job %s is RUNNING", c.plan.NewJobID), "", nil
		}
		return "", "the new job is " + now.State, nil
	})
}

// newJob is the plan's job, with an error where it has failed for good.
func (c *Change) newJob() (inspect.LiveState, error) {
	now := c.seen.New
	switch {
	case now == nil:
		return inspect.LiveState{}, c.withWayBack(actions.Refusef(actions.StageRestored, "job-unknown", "Flink does not know the new job %s", c.plan.NewJobID))
	case inspect.Ended(now.State):
		return *now, c.withWayBack(actions.Refusef(actions.StageRestored, "restore-failed", "the new job %s is %s%s", c.plan.NewJobID, safetext.Of(now.State), actions.Explained(*now)))
	}
	const many = 3
	if now.Restarts != nil && *now.Restarts >= many {
		return *now, c.withWayBack(actions.Refusef(actions.StageRestored, "restart-loop", "the new job %s comes up and fails again, %d times so far%s", c.plan.NewJobID, *now.Restarts, actions.Explained(*now)))
	}
	return *now, nil
}

// checkpoint waits until the new job has completed one.
func (c *Change) checkpoint(ctx context.Context, p *actions.StepProgress) (string, error) {
	return c.watch().Until(ctx, actions.StageRestored, p, func() (string, string, error) {
		now, err := c.newJob()
		switch {
		case err != nil:
			return "", "", err
		case now.State != "RUNNING":
			return "", "the new job is " + now.State, nil
		case now.Settings != nil && now.Settings.IntervalMs == nil:
			return "the job takes no checkpoints by time: none is waited for", "", nil
		case !now.Checkpointed():
			return "", "the new job is RUNNING, no checkpoint is complete yet", nil
		}
		return fmt.Sprintf("%d completed since the restore", now.Checkpoints.Completed), "", nil
	})
}

// restored compares what Flink says of the new job with the plan, and the markers
// of its first checkpoint with those of the point. A part that can't be read is
// asked for again.
func (c *Change) restored(ctx context.Context, p *actions.StepProgress) (string, error) {
	message, err := c.watch().Until(ctx, actions.StageRestored, p, func() (string, string, error) {
		if _, err := c.newJob(); err != nil {
			return "", "", err
		}
		switch v := actions.JudgeFlink(c.Plan, c.seen); v.Verdict {
		case actions.Applied:
			return v.Message, "", nil
		case actions.Contradicted:
			return "", "", c.withWayBack(actions.Refusef(actions.StageRestored, "restored-from-other", "%s", v.Message))
		default:
			return "", v.Message, nil
		}
	})
	if err != nil {
		return "", err
	}
	markers, err := c.markers(ctx)
	if err != nil {
		return "", c.withWayBack(err)
	}
	return message + "; " + markers, nil
}

// markers says how the markers have moved since the point. Where a side has none,
// or can't be read from here, that is said and is no failure of the restore.
func (c *Change) markers(ctx context.Context) (string, error) {
	if c.Points == nil {
		return "markers were not compared", nil
	}
	before, err := c.Points.Point(ctx, c.plan.Point)
	if err != nil {
		return "markers were not compared: " + safetext.Error(err).String(), nil
	}
	if len(before.Merged.Offsets) == 0 {
		return "the point holds no markers to compare", nil
	}
	latest := c.seen.New.Checkpoints.LatestCompleted
	if latest == nil || latest.Path == nil {
		return "markers were not compared: no checkpoint of the new job has a path", nil
	}
	after, err := c.Points.Point(ctx, *latest.Path)
	if err != nil {
		return "markers were not compared: " + safetext.Error(err).String(), nil
	}
	moved := 0
	for _, partition := range before.Merged.Offsets.Partitions() {
		from := before.Merged.Offsets[partition]
		to, found := after.Merged.Offsets[partition]
		switch {
		case !found:
			return "", actions.Refusef(actions.StageRestored, "markers-backwards", "chk-%d of the new job has no marker for partition %d, and the point has %d", latest.ID, partition, from)
		case to < from:
			return "", actions.Refusef(actions.StageRestored, "markers-backwards", "chk-%d of the new job reads partition %d from %d, and the point from %d", latest.ID, partition, to, from)
		case to > from:
			moved++
		}
	}
	if moved == 0 {
		return fmt.Sprintf("markers are where the point has them, on all %d partitions: nothing new was read yet", len(before.Merged.Offsets)), nil
	}
	return fmt.Sprintf("markers moved on %d of %d partitions, and back on none", moved, len(before.Merged.Offsets)), nil
}
