package flink

import (
	"context"
	"fmt"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flinkrest/write"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/internal/shellword"
)

// The times where Config says nothing.
const (
	DefaultPoll     = time.Second      // between two looks
	DefaultPatience = 15 * time.Minute // for a savepoint, an end, a start
	DefaultSettle   = 10 * time.Second // until a request that Flink knows nothing of was not made
)

// Config is what one apply of one plan is made of.
type Config struct {
	Sources
	Plan     actions.Document
	Poll     time.Duration
	Patience time.Duration
	Settle   time.Duration
	Write    time.Duration // for the answer to one request that changes something
}

// Change is one apply of one plan about a Flink job. It serves one run. The steps
// are called one after another; Verify may be called when they have ended.
type Change struct {
	Config
	plan  actions.FlinkPlan
	write *write.Client
	seen  actions.FlinkEvidence // as of the step before
	saved string                // where the plan's savepoint is; empty: not known
	open  bool                  // the request of the step that writes went out, and Flink itself said nothing
}

// New makes a change and asks nothing. The error is a fault of kind Config. The
// caller closes it when the run has ended.
func New(c Config) (*Change, error) {
	if c.Poll <= 0 {
		c.Poll = DefaultPoll
	}
	if c.Patience <= 0 {
		c.Patience = DefaultPatience
	}
	if c.Settle <= 0 {
		c.Settle = DefaultSettle
	}
	options := c.REST
	options.Timeout = c.Write
	client, err := write.New(options)
	if err != nil {
		return nil, err
	}
	return &Change{Config: c, plan: actions.FlinkPlanOf(c.Plan), write: client}, nil
}

// Close closes its connections.
func (c *Change) Close() { c.write.Close() }

// Doers are the steps of actions.FlinkSteps, in that order.
func (c *Change) Doers() []actions.Doer {
	reads := map[string]struct {
		skip func() string
		do   actions.Doing
	}{
		actions.StepPlan:           {nil, c.planIntact},
		actions.StepJob:            {nil, c.job},
		actions.StepRestoreCheck:   {c.started, c.restoreCheck},
		actions.StepJar:            {c.started, c.jar},
		actions.StepSavepointReady: {c.started, c.savepointReady},
		actions.StepEnded:          {c.started, c.ended},
		actions.StepNewRunning:     {nil, c.running},
		actions.StepCheckpoint:     {nil, c.checkpoint},
		actions.StepRestored:       {nil, c.restored},
	}
	writes := map[string]struct {
		skip   func() string
		do     actions.Doing
		settle actions.Settling
	}{
		actions.StepSavepoint: {c.triggered, c.savepoint, c.settleTrigger},
		actions.StepStop:      {c.stopped, c.stop, c.settleTrigger},
		actions.StepCancel:    {c.cancelled, c.cancel, c.settleCancel},
		actions.StepSubmit:    {c.started, c.submit, c.settleSubmit},
	}
	var out []actions.Doer
	for _, about := range actions.FlinkSteps(c.Plan) {
		if w, ok := writes[about.Name]; ok {
			out = append(out, actions.Writing(about, w.skip, nil, func(ctx context.Context, p *actions.StepProgress) (string, error) {
				c.open = false
				return w.do(ctx, p)
			}, w.settle))
			continue
		}
		r := reads[about.Name]
		out = append(out, actions.Reading(about, r.skip, r.do))
	}
	return out
}

// Verify reads everything again from a fresh connection and says what has become
// of the plan.
func (c *Change) Verify(ctx context.Context) actions.OperationVerdict {
	return Verify(ctx, c.Sources, c.Plan)
}

// Verify says from what Flink knows now what has become of a plan. What can't be
// read makes the verdict unknown.
func Verify(ctx context.Context, s Sources, plan actions.Document) actions.OperationVerdict {
	e, _ := s.gather(ctx, scope{plan: &plan}) // what is missing beside it makes a fact unread
	return actions.JudgeFlink(plan, e)
}

// look reads the evidence that a step asks for. An error says that Flink could
// not be asked.
func (c *Change) look(ctx context.Context, stage actions.Stage, what scope) error {
	what.plan = &c.Plan
	e, _ := c.gather(ctx, what) // a part that is unread is judged as unknown
	if e.Err != nil {
		return actions.At(stage, "", e.Err)
	}
	c.seen = e
	if path, found := e.Saved(c.plan); found || e.Savepoint.Known {
		c.saved = path // of the plan's own trigger, where Flink knows that: another's does not stand for it
	}
	return nil
}

// started says why a step before the start has nothing to do.
func (c *Change) started() string {
	if c.seen.New == nil {
		return ""
	}
	return fmt.Sprintf("the plan's job %s was started before", c.plan.NewJobID)
}

// triggered says why no savepoint is to be asked for. One that is newer than the plan
// may be another's, of long ago: the safety savepoint of a job that is ended next is
// the plan's own, and taken once more where Flink has forgotten its trigger.
func (c *Change) triggered() string {
	switch {
	case c.seen.New != nil:
		return c.started()
	case c.seen.Savepoint.Known:
		return "Flink knows the trigger: it was sent before"
	case c.saved != "" && (c.plan.Kind == actions.KindSavepoint || c.seen.Old == nil || inspect.Ended(c.seen.Old.State)):
		return "there is a savepoint newer than the plan: " + safetext.Of(c.saved).String()
	}
	return ""
}

// stopped says why the job is not to be stopped.
func (c *Change) stopped() string {
	switch {
	case c.seen.New != nil:
		return c.started()
	case c.seen.Savepoint.Known:
		return "Flink knows the trigger: the job was told to stop before"
	case c.seen.Old != nil && inspect.Ended(c.seen.Old.State):
		return "the job has ended: it is " + c.seen.Old.State
	}
	return ""
}

// cancelled says why the job is not to be cancelled.
func (c *Change) cancelled() string {
	switch {
	case c.seen.New != nil:
		return c.started()
	case c.seen.Old != nil && (inspect.Ended(c.seen.Old.State) || c.seen.Old.State == "CANCELLING"):
		return "the job is " + c.seen.Old.State + " already"
	}
	return ""
}

func (c *Change) planIntact(context.Context, *actions.StepProgress) (string, error) {
	if _, p := actions.ParseDocument(c.Plan.Encode()); p != nil {
		return "", actions.Refuse(actions.StageConfiguration, p)
	}
	const digits = 8
	return "the id " + c.Plan.PlanID[:digits] + " fits the plan's content", nil
}

func (c *Change) job(ctx context.Context, _ *actions.StepProgress) (string, error) {
	if err := c.look(ctx, actions.StageJob, scope{}); err != nil {
		return "", err
	}
	if err := actions.Refused(actions.CheckFlinkJob(c.Plan, c.seen)); err != nil {
		return "", err
	}
	if c.seen.New != nil {
		return fmt.Sprintf("this goes on: the plan's job %s is %s", c.plan.NewJobID, safetext.Of(c.seen.New.State)), nil
	}
	if c.seen.Old == nil {
		return fmt.Sprintf("Flink knows no job named %s that has not ended", quote(c.plan.JobName)), nil
	}
	return fmt.Sprintf("job %s is %s, and no other is named %s", c.plan.JobID, safetext.Of(c.seen.Old.State), quote(c.plan.JobName)), nil
}

func (c *Change) restoreCheck(ctx context.Context, _ *actions.StepProgress) (string, error) {
	if err := c.look(ctx, actions.StageRestore, scope{point: c.plan.Point}); err != nil {
		return "", err
	}
	if err := actions.Refused(actions.CheckFlinkRestore(c.Plan, c.seen)); err != nil {
		return "", err
	}
	return "a restore from " + safetext.Of(c.plan.Point).String() + " is accepted", nil
}

func (c *Change) jar(ctx context.Context, _ *actions.StepProgress) (string, error) {
	if err := c.look(ctx, actions.StageJar, scope{jars: true}); err != nil {
		return "", err
	}
	if err := actions.Refused(actions.CheckFlinkJar(c.Plan, c.seen)); err != nil {
		return "", err
	}
	return "jar " + safetext.Of(c.plan.Jar).String() + " is uploaded", nil
}

// reach is what Flink is asked for with the plan's trigger.
func (c *Change) reach() write.Savepoint {
	return write.Savepoint{Trigger: c.plan.Trigger, Directory: c.plan.Directory}
}

func (c *Change) savepoint(ctx context.Context, _ *actions.StepProgress) (string, error) {
	if err := c.look(ctx, actions.StageSavepoint, scope{}); err != nil {
		return "", err
	}
	if why := c.triggered(); why != "" {
		return why, nil
	}
	if err := actions.Refused(actions.CheckFlinkJob(c.Plan, c.seen)); err != nil {
		return "", err
	}
	if err := c.asked(c.write.Savepoint(ctx, c.plan.JobID, c.reach())); err != nil {
		return "", err
	}
	return "Flink has begun: trigger " + c.plan.Trigger, nil
}

func (c *Change) stop(ctx context.Context, _ *actions.StepProgress) (string, error) {
	if err := c.look(ctx, actions.StageEnd, scope{point: c.plan.Point}); err != nil {
		return "", err
	}
	if why := c.stopped(); why != "" {
		return why, nil
	}
	if err := c.mayEnd(); err != nil {
		return "", err
	}
	if err := c.asked(c.write.Stop(ctx, c.plan.JobID, c.reach())); err != nil {
		return "", err
	}
	return "Flink has begun: trigger " + c.plan.Trigger, nil
}

func (c *Change) cancel(ctx context.Context, _ *actions.StepProgress) (string, error) {
	if err := c.look(ctx, actions.StageEnd, scope{point: c.plan.Point}); err != nil {
		return "", err
	}
	if why := c.cancelled(); why != "" {
		return why, nil
	}
	if err := c.mayEnd(); err != nil {
		return "", err
	}
	if err := c.asked(c.write.Cancel(ctx, c.plan.JobID)); err != nil {
		return "", err
	}
	return "Flink has begun", nil
}

// asked notes whether a request that was made may still come to Flink.
func (c *Change) asked(err error) error {
	c.open = write.Unanswered(err)
	return err
}

// mayEnd asks directly before a job is ended what its end hangs on: that it is as
// planned, that the point can still be restored from, and that the savepoint of
// the step before is there.
func (c *Change) mayEnd() error {
	if err := actions.Refused(actions.CheckFlinkJob(c.Plan, c.seen)); err != nil {
		return err
	}
	if c.Plan.Kind != actions.KindRollback {
		return nil
	}
	if err := actions.Refused(actions.CheckFlinkRestore(c.Plan, c.seen)); err != nil {
		return err
	}
	if c.plan.End == actions.EndByCancel && c.plan.Savepoints() && c.saved == "" {
		return actions.Refusef(actions.StageEnd, "savepoint-unknown", "the safety savepoint of trigger %s is not known to be complete: the job is not ended", c.plan.Trigger)
	}
	return nil
}

func (c *Change) submit(ctx context.Context, _ *actions.StepProgress) (string, error) {
	if err := c.look(ctx, actions.StageSubmit, scope{point: c.plan.Point, jars: true}); err != nil {
		return "", err
	}
	if why := c.started(); why != "" {
		return why, nil
	}
	if err := actions.Refused(actions.CheckFlinkPlan(c.Plan, c.seen)); err != nil {
		return "", c.withWayBack(err)
	}
	if c.seen.Old != nil && !inspect.Ended(c.seen.Old.State) {
		return "", actions.Refusef(actions.StageSubmit, "job-not-ended", "job %s is %s: nothing is started before it has ended", c.plan.JobID, safetext.Of(c.seen.Old.State))
	}
	err := c.asked(c.write.Run(ctx, c.plan.Jar, write.Run{
		JobID: c.plan.NewJobID, EntryClass: c.plan.EntryClass, Arguments: c.plan.Arguments, Parallelism: c.plan.Parallelism,
		Point: c.plan.Point, AllowNonRestoredState: c.plan.AllowLeft,
	}))
	if err != nil {
		return "", err
	}
	return "Flink has started job " + c.plan.NewJobID, nil
}

// quote is a name in quotes, safe for a terminal.
func quote(name string) string { return `"` + safetext.Of(name).String() + `"` }

// watch is how the change waits for what Flink does.
func (c *Change) watch() actions.Watch {
	return actions.Watch{
		Look: func(ctx context.Context, stage actions.Stage) error { return c.look(ctx, stage, scope{}) },
		Poll: c.Poll, Patience: c.Patience, Settle: c.Settle, Silent: "Flink does not answer",
	}
}

// withWayBack gives an error that leaves no job running the way back as its hint.
func (c *Change) withWayBack(err error) error {
	f := *fault.Of(err)
	if c.saved != "" && safetext.Of(c.saved).String() == c.saved {
		f.Hint = "the way back: recoverctl plan rollback --point " + shellword.Quote(c.saved) + " --out FILE. " + f.Hint
	}
	return &f
}
