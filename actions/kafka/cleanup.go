package kafka

import (
	"context"
	"fmt"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Config is what one cleanup is made of.
type Config struct {
	Connect  Connect
	Job      inspect.Job
	Plan     inspect.CleanupPlan
	Approved actions.Report // the report that was approved

	// Replication is the factor with which the operator consents to making a
	// missing control topic; nil: no consent.
	Replication *int

	// Gather reads the evidence again, directly before COMMITTED, as
	// package evidence does.
	// What could not be read is in the evidence; its error is for the rest.
	Gather func(ctx context.Context) (actions.Evidence, error)
}

// Cleanup is one apply of one plan: its steps, and what each found for those
// after it. It serves one run. The steps are called one after another; Verify
// may be called when they have ended.
type Cleanup struct {
	Config
	cluster Cluster // of all steps but those that need a fresh one; nil until the first

	found   bool // the control topic exists
	first   inspect.ControlTopic
	history actions.History // as last read and found good
	ours    map[string]int  // records written by this apply, by plan id
	sent    bool            // the step that writes has sent something
}

// New makes a cleanup. Nothing is read before its first step. The caller closes
// it when the run has ended.
func New(c Config) *Cleanup { return &Cleanup{Config: c, ours: make(map[string]int)} }

// Close closes the connection of the steps.
func (c *Cleanup) Close() {
	if c.cluster != nil {
		c.cluster.Close()
		c.cluster = nil
	}
}

// Verify reads everything again from a fresh connection and says what has become
// of the plan.
func (c *Cleanup) Verify(ctx context.Context) actions.OperationVerdict {
	return Verify(ctx, c.Connect, c.Job, c.Plan)
}

// Doers are the steps of actions.CleanupSteps, in that order.
func (c *Cleanup) Doers() []actions.Doer {
	var out []actions.Doer
	for _, about := range actions.CleanupSteps(c.Replication != nil) {
		reads := func(skip func() string, do actions.Doing) { out = append(out, actions.Reading(about, skip, do)) }
		writes := func(skip func() string, intent func() inspect.Offsets, do actions.Doing, settle actions.Settling) {
			out = append(out, actions.Writing(about, skip, intent, c.sending(do), c.ifSent(settle)))
		}
		switch about.Name {
		case actions.StepPlan:
			reads(nil, c.planIntact)
		case actions.StepControlTopic:
			reads(nil, c.controlTopic)
		case actions.StepIdentity:
			reads(nil, c.identity)
		case actions.StepOperations:
			reads(nil, c.operations)
		case actions.StepRecorded:
			reads(nil, c.recorded)
		case actions.StepTargets:
			reads(c.isRecorded, c.targets)
		case actions.StepSurvivors:
			reads(c.isApplied, c.survivors)
		case actions.StepCreateControl:
			writes(c.isFound, nil, c.createControl, c.settleControl)
		case actions.StepCommit:
			writes(c.isRecorded, c.planned, c.commit, c.settleCommit)
		case actions.StepDelete:
			writes(c.isApplied, c.target, c.delete, c.settleDelete)
		case actions.StepLogStarts:
			reads(c.isApplied, c.logStarts)
		case actions.StepApplied:
			writes(c.isApplied, c.planned, c.applied, c.settleApplied)
		}
	}
	return out
}

// sending is a step that has sent nothing when it begins.
func (c *Cleanup) sending(do actions.Doing) actions.Doing {
	return func(ctx context.Context, p *actions.StepProgress) (string, error) {
		c.sent = false
		return do(ctx, p)
	}
}

// ifSent settles at once a step that ended, for whatever reason, before it sent
// anything.
func (c *Cleanup) ifSent(settle actions.Settling) actions.Settling {
	return func(ctx context.Context) (actions.Settlement, string, error) {
		if !c.sent {
			return actions.NotHappened, "nothing was sent", nil
		}
		return settle(ctx)
	}
}

// What an intent names: the offsets of the plan, or up to where is deleted.
func (c *Cleanup) planned() inspect.Offsets { return c.Plan.Offsets }
func (c *Cleanup) target() inspect.Offsets  { return c.history.Target(c.Plan) }

// Why a step has nothing to do.

func (c *Cleanup) isRecorded() string {
	if c.history.Own == nil {
		return ""
	}
	return fmt.Sprintf("the plan is recorded as %s already", c.history.Status())
}

func (c *Cleanup) isApplied() string {
	if c.history.Status() != inspect.StatusApplied {
		return ""
	}
	return c.isRecorded()
}

func (c *Cleanup) isFound() string {
	if !c.found {
		return ""
	}
	return "the control topic exists"
}

// open is the connection of the steps.
func (c *Cleanup) open(ctx context.Context) (Cluster, error) {
	if c.cluster == nil {
		cluster, err := c.Connect(ctx)
		if err != nil {
			return nil, err
		}
		c.cluster = cluster
	}
	return c.cluster, nil
}

// fresh does something over a connection that nobody used before: what an old
// one remembers, or has still to send, has no part in it.
func (c *Cleanup) fresh(ctx context.Context, do func(Cluster) error) error {
	cluster, err := c.Connect(ctx)
	if err != nil {
		return err
	}
	defer cluster.Close()
	return do(cluster)
}

// name of the control topic; only after CheckConfiguration.
func (c *Cleanup) control() string {
	if c.Job.ControlTopic == nil {
		return ""
	}
	return *c.Job.ControlTopic
}

// readControl reads the control topic over the steps' own connection.
func (c *Cleanup) readControl(ctx context.Context) (inspect.ControlTopic, error) {
	cluster, err := c.open(ctx)
	if err != nil {
		return inspect.ControlTopic{}, err
	}
	return cluster.ControlTopic(ctx, c.control())
}

// readData reads the data topic over the steps' own connection and compares its
// identity with the plan's.
func (c *Cleanup) readData(ctx context.Context, stage actions.Stage) (inspect.DataTopic, error) {
	cluster, err := c.open(ctx)
	if err != nil {
		return inspect.DataTopic{}, at(stage, err)
	}
	return identified(ctx, cluster, c.Job, c.Plan, stage)
}

// identified reads the data topic and compares its identity with the plan's.
func identified(ctx context.Context, cluster Cluster, job inspect.Job, plan inspect.CleanupPlan, stage actions.Stage) (inspect.DataTopic, error) {
	data, err := cluster.DataTopic(ctx, job.Topic)
	if err == nil || data.Exists {
		if p := actions.CheckIdentity(plan, job, data); p != nil {
			return data, refuse(stage, p)
		}
	}
	return data, at(stage, err)
}

func quote(name string) string { return `"` + safetext.Of(name).String() + `"` }

func group(n int64) string { return figures.Group(n) }

// on says "partition 3" or "partitions 0-2, 7".
func on(parts []int32) string {
	const most = 8
	if len(parts) == 1 {
		return "partition " + figures.Ranges(parts, most)
	}
	return "partitions " + figures.Ranges(parts, most)
}
