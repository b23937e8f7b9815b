package arkflow

import (
	"context"
	"fmt"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/arkhub/write"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// The times where Config says nothing.
const (
	DefaultPoll     = time.Second      // between two looks
	DefaultPatience = 15 * time.Minute // for a round, a stop, a start, a proof
	DefaultSettle   = 10 * time.Second // until a request that the hub shows nothing of was not made
)

// Config is what one apply of one plan is made of.
type Config struct {
	Sources
	Plan     actions.Document
	Poll     time.Duration
	Patience time.Duration
	Settle   time.Duration
}

// Change is one apply of one plan about an ArkFlow job. It serves one run. The
// steps are called one after another.
type Change struct {
	Config
	plan  actions.ArkFlowPlan
	write *write.Client
	seen  actions.ArkFlowEvidence // as of the last look
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
	client, err := write.New(c.Hub)
	if err != nil {
		return nil, err
	}
	return &Change{Config: c, plan: actions.ArkFlowPlanOf(c.Plan), write: client}, nil
}

// Close closes its connections.
func (c *Change) Close() { c.write.Close() }

// Doers are the steps of actions.ArkFlowSteps, in that order.
func (c *Change) Doers() []actions.Doer {
	reads := map[string]actions.Doing{
		actions.StepPlan: c.planIntact, actions.StepJob: c.job, actions.StepRoundDone: c.roundDone,
		actions.StepJobStopped: c.stopped, actions.StepJobRuns: c.running, actions.StepProof: c.proof,
	}
	writes := map[string]struct {
		done func() string
		send func(context.Context) error
		late string // why a request that the hub shows nothing of may still come, and must not be sent again
	}{
		actions.StepRound:    {c.begun, c.sendRound, ""},
		actions.StepStop:     {c.told(arkhub.StateStopped), c.sendStop, ""},
		actions.StepRollback: {c.rolledBack, c.sendRollback, "the hub goes one version down with each request that comes, also a late one"},
		actions.StepStart:    {c.startedAgain, c.sendStart, ""},
	}
	var out []actions.Doer
	for _, about := range actions.ArkFlowSteps(c.Plan) {
		w, is := writes[about.Name]
		if !is {
			out = append(out, actions.Reading(about, nil, reads[about.Name]))
			continue
		}
		out = append(out, actions.Writing(about, nil, nil, func(ctx context.Context, _ *actions.StepProgress) (string, error) {
			return c.once(ctx, about.Stage, w.done, w.send)
		}, func(ctx context.Context) (actions.Settlement, string, error) { return c.settled(ctx, w.done, w.late) }))
	}
	return out
}

// Verify reads everything again from a fresh connection and says what has become
// of the plan.
func (c *Change) Verify(ctx context.Context) actions.OperationVerdict {
	return Verify(ctx, c.Sources, c.Plan)
}

// Verify says from what the hub and the store hold now what has become of a plan.
// What can't be read makes the verdict unknown.
func Verify(ctx context.Context, s Sources, plan actions.Document) actions.OperationVerdict {
	e, _ := s.Gather(ctx, actions.ArkFlowPlanOf(plan).Store) // what is missing beside it makes a rule unasked
	return actions.JudgeArkFlow(plan, e)
}

// look reads the job anew. An error says that the hub could not be asked.
func (c *Change) look(ctx context.Context, stage actions.Stage) error {
	e, err := c.Gather(ctx, c.plan.Store)
	if e.Job == nil {
		return actions.At(stage, "", err)
	}
	c.seen = e
	return nil
}

// once is a step that writes: the job is read, what is done already is not asked
// for, what is not as planned is refused, and one request is sent.
func (c *Change) once(ctx context.Context, stage actions.Stage, done func() string, send func(context.Context) error) (string, error) {
	if err := c.look(ctx, stage); err != nil {
		return "", err
	}
	if why := done(); why != "" {
		return why, nil
	}
	if err := actions.Refused(actions.CheckArkFlow(c.Plan, c.seen)); err != nil {
		return "", err
	}
	if err := send(ctx); err != nil {
		return "", err
	}
	return "the hub has accepted it", nil
}

// settled finds out by reading whether a request whose answer was lost was taken.
func (c *Change) settled(ctx context.Context, done func() string, late string) (actions.Settlement, string, error) {
	switch found, err := c.watch().Trace(ctx, done); {
	case err != nil:
		return actions.Unsettled, "", err
	case found != "":
		return actions.Happened, found, nil
	case late != "" && c.lowerVersions() > 1:
		return actions.Unsettled, "", fault.New(fault.Unknown, "apply", "the hub shows nothing of the request, and %s", late).
			WithHint("read the job's version until it is certain that the request is lost: recoverctl inspect arkflow job %s", safetext.Of(c.plan.JobID))
	default:
		return actions.NotHappened, "the hub shows nothing of it", nil
	}
}

// watch is how the change waits for what the hub does.
func (c *Change) watch() actions.Watch {
	return actions.Watch{Look: c.look, Poll: c.Poll, Patience: c.Patience, Settle: c.Settle, Silent: "the hub does not answer"}
}

func (c *Change) lowerVersions() (n int) {
	for _, v := range c.seen.Job.Versions {
		if v.Version < c.plan.From {
			n++
		}
	}
	return n
}

func (c *Change) planIntact(context.Context, *actions.StepProgress) (string, error) {
	if _, p := actions.ParseDocument(c.Plan.Encode()); p != nil {
		return "", actions.Refuse(actions.StageConfiguration, p)
	}
	const digits = 8
	return "the id " + c.Plan.PlanID[:digits] + " fits the plan's content", nil
}

func (c *Change) job(ctx context.Context, _ *actions.StepProgress) (string, error) {
	if err := c.look(ctx, actions.StageJob); err != nil {
		return "", err
	}
	if err := actions.Refused(actions.CheckArkFlow(c.Plan, c.seen)); err != nil {
		return "", err
	}
	return actions.JudgeArkFlow(c.Plan, c.seen).Message, nil
}

// What is done already, by a run before or by anybody.

func (c *Change) begun() string {
	if v := actions.JudgeArkFlow(c.Plan, c.seen); v.Verdict != actions.NotStarted {
		return v.Message
	}
	return ""
}

// told reports whether the job was told to be in a state; the plan's version is
// beyond the stop.
func (c *Change) told(state string) func() string {
	return func() string {
		j := c.seen.Job.Job
		switch {
		case c.atTarget():
			return "the job is of the plan's version already"
		case j.Desired != nil && *j.Desired == state:
			return "the job is wanted " + state + " already"
		}
		return ""
	}
}

func (c *Change) atTarget() bool {
	v := c.seen.Job.Job.Version
	return v != nil && *v == c.plan.Version
}

func (c *Change) rolledBack() string {
	if c.atTarget() {
		return fmt.Sprintf("the job is of version %d", c.plan.Version)
	}
	return ""
}

func (c *Change) startedAgain() string {
	j := c.seen.Job.Job
	if c.atTarget() && j.Desired != nil && *j.Desired == arkhub.StateRunning {
		return "the job is wanted running already"
	}
	return ""
}

func (c *Change) sendRound(ctx context.Context) error {
	send := c.write.Checkpoint
	if c.plan.RoundKind() == inspect.KindSavepoint {
		send = c.write.Savepoint
	}
	_, err := send(ctx, c.plan.JobID)
	return err
}

func (c *Change) sendStop(ctx context.Context) error {
	_, err := c.write.Stop(ctx, c.plan.JobID)
	return err
}

// sendRollback sends nothing while the job runs, which older hubs would take.
func (c *Change) sendRollback(ctx context.Context) error {
	if j := c.seen.Job.Job; j.Observed == nil || *j.Observed == arkhub.StateRunning || j.Desired == nil || *j.Desired != arkhub.StateStopped {
		return actions.Refusef(actions.StageRestore, "job-state", "the job is not observed stopped: it is not rolled back while it runs")
	}
	_, err := c.write.Rollback(ctx, c.plan.JobID, c.plan.Version)
	return err
}

// sendStart starts nothing that would begin cold, or in another version.
func (c *Change) sendStart(ctx context.Context) error {
	if s := c.seen.Job.Points.Selection; !c.atTarget() || s.ID != c.plan.Point {
		return actions.Refusef(actions.StageSubmit, "restore-not-accepted", "a start would restore %q, and the plan says %q: the job is not started", safetext.Of(s.ID), safetext.Of(c.plan.Point))
	}
	_, err := c.write.Start(ctx, c.plan.JobID)
	return err
}

// judged waits until the plan's verdict is applied; a contradiction ends it.
func (c *Change) judged(ctx context.Context, stage actions.Stage, p *actions.StepProgress) (string, error) {
	return c.watch().Until(ctx, stage, p, func() (string, string, error) {
		switch v := actions.JudgeArkFlow(c.Plan, c.seen); v.Verdict {
		case actions.Applied:
			return v.Message, "", nil
		case actions.Contradicted:
			return "", "", actions.Refusef(stage, "contradicted", "%s", v.Message)
		default:
			return "", v.Message, nil
		}
	})
}

func (c *Change) roundDone(ctx context.Context, p *actions.StepProgress) (string, error) {
	return c.judged(ctx, actions.StageSavepoint, p)
}

func (c *Change) proof(ctx context.Context, p *actions.StepProgress) (string, error) {
	return c.judged(ctx, actions.StageRestored, p)
}

func (c *Change) stopped(ctx context.Context, p *actions.StepProgress) (string, error) {
	return c.watch().Until(ctx, actions.StageEnd, p, func() (string, string, error) {
		j := c.seen.Job.Job
		if c.atTarget() || j.Observed != nil && *j.Observed == arkhub.StateStopped && j.Convergence != nil && *j.Convergence != "reconciling" {
			return "the job is observed stopped", "", nil
		}
		return "", "the job is not yet stopped", nil
	})
}

func (c *Change) running(ctx context.Context, p *actions.StepProgress) (string, error) {
	return c.watch().Until(ctx, actions.StageRestored, p, func() (string, string, error) {
		j := c.seen.Job.Job
		switch {
		case j.Observed != nil && *j.Observed == arkhub.StateRunning:
			return "the job is observed running", "", nil
		case j.Observed != nil && *j.Observed == arkhub.StateFailed && j.LastError != nil:
			return "", "", actions.Refusef(actions.StageRestored, "start-failed", "the job failed at its start: %s", safetext.Of(*j.LastError).Truncate(300))
		}
		return "", "the job does not run yet", nil
	})
}
