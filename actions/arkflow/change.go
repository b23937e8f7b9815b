package arkflow

import (
	"context"
	"slices"
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
	Approved actions.DocumentReport // what was approved, with its warnings
	Poll     time.Duration
	Patience time.Duration
	Settle   time.Duration
}

// Change is one apply of one plan about a job or a stream of ArkFlow. It serves one
// run. The steps are called one after another.
type Change struct {
	Config
	plan  actions.ArkFlowPlan
	write *write.Client
	to    string                  // the address that write asks
	seen  actions.ArkFlowEvidence // as of the last look
	asked bool                    // the request of the step that writes was made
	open  bool                    // and nobody knows what became of it
	taken bool                    // a request of this apply was accepted
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
	c.SameHub = c.SameHub || slices.ContainsFunc(c.Approved.Warnings, func(w actions.Warning) bool { return w.Name == actions.OtherHub })
	return &Change{Config: c, plan: actions.ArkFlowPlanOf(c.Plan), write: client, to: c.Hub.Address}, nil
}

// toLeader makes the hub that answered last the one that is written to: a standby
// names its leader to who reads, and takes no writes.
func (c *Change) toLeader() error {
	options := c.Hub
	if hub := c.seen.Hub(); hub.Leader {
		options.Address = hub.Address
	}
	if options.Address == c.to {
		return nil
	}
	client, err := write.New(options)
	if err != nil {
		return err
	}
	c.write.Close()
	c.write, c.to = client, options.Address
	return nil
}

// Close closes its connections.
func (c *Change) Close() { c.write.Close() }

// Doers are the steps of actions.ArkFlowSteps, in that order.
func (c *Change) Doers() []actions.Doer {
	reads := map[string]actions.Doing{
		actions.StepPlan: c.planIntact, actions.StepJob: c.asPlanned, actions.StepStream: c.asPlanned, actions.StepRoundDone: c.judged(actions.StageSavepoint),
		actions.StepJobStopped: c.stopped, actions.StepJobRuns: c.running, actions.StepProof: c.judged(actions.StageRestored),
		actions.StepUpgraded: c.judged(actions.StageRestored), actions.StepRestarted: c.judged(actions.StageRestored),
	}
	writes := map[string]func(context.Context) error{
		actions.StepRound: c.sendRound, actions.StepStop: c.sendStop, actions.StepRollback: c.sendRollback, actions.StepStart: c.sendStart,
		actions.StepUpgrade: c.sendUpgrade, actions.StepRestart: c.sendRestart,
	}
	var out []actions.Doer
	for _, about := range actions.ArkFlowSteps(c.Plan) {
		send, is := writes[about.Name]
		if !is {
			out = append(out, actions.Reading(about, nil, reads[about.Name]))
			continue
		}
		done := func() string { return actions.ArkFlowStepDone(c.Plan, about.Name, c.seen) }
		out = append(out, actions.Writing(about, nil, nil, func(ctx context.Context, _ *actions.StepProgress) (string, error) {
			return c.once(ctx, about, done, send)
		}, func(ctx context.Context) (actions.Settlement, string, error) { return c.settled(ctx, done) }))
	}
	return out
}

// Verify reads everything again from a fresh connection and says what has become
// of the plan. What a hub has accepted and does not show is not called not started.
func (c *Change) Verify(ctx context.Context) actions.OperationVerdict {
	v := Verify(ctx, c.Sources, c.Plan)
	if v.Verdict == actions.NotStarted && c.taken {
		v.Verdict = actions.Undecided
		v.Message += "; the hub has accepted a request of this apply, and shows nothing of it"
	}
	return v
}

// Verify says from what the hub and the store hold now what has become of a plan.
// What can't be read makes the verdict unknown.
func Verify(ctx context.Context, s Sources, plan actions.Document) actions.OperationVerdict {
	e, _ := s.GatherPlan(ctx, plan) // what is missing beside it makes a rule unasked
	return actions.JudgeArkFlow(plan, e)
}

// look reads the job or the stream anew. An error says that the hub could not be
// asked.
func (c *Change) look(ctx context.Context, stage actions.Stage) error {
	e, err := c.GatherPlan(ctx, c.Plan)
	if !e.Asked() {
		return actions.At(stage, "", err)
	}
	c.seen = e
	return nil
}

// once is a step that writes: the job is read, what is done already is not asked
// for, what is not as planned is refused, and one request is sent.
func (c *Change) once(ctx context.Context, step actions.Step, done func() string, send func(context.Context) error) (string, error) {
	c.asked, c.open = false, false
	if err := c.look(ctx, step.Stage); err != nil {
		return "", err
	}
	if why := done(); why != "" {
		if p := actions.CheckArkFlowAlone(c.Plan, c.Approved, step.Name, why); p != nil {
			return "", actions.Refuse(step.Stage, p)
		}
		return why, nil
	}
	if err := actions.Refused(actions.CheckArkFlow(c.Plan, c.seen)); err != nil {
		return "", err
	}
	if p := actions.CheckArkFlowSince(c.Plan, c.Approved, c.seen); p != nil {
		return "", actions.Refuse(step.Stage, p)
	}
	if err := c.toLeader(); err != nil {
		return "", err
	}
	c.asked, c.open = true, true // also where a defect of this program stops it after the request
	err := send(ctx)
	c.open = err != nil && mayCome(err)
	if err != nil {
		return "", err
	}
	c.taken = true
	return "the hub has accepted it", nil
}

// mayCome reports whether a request that failed may still have been taken, or be
// taken later. One that was never sent, and one that a hub refuses in its own words,
// is not: such a standby took nothing.
func mayCome(err error) bool {
	kind := fault.KindOf(err)
	return kind == fault.Unknown || kind == fault.Bug
}

// settled finds out by reading what became of a request whose answer was lost. That
// nothing is seen of it says nothing: it may come late, and is never sent again
// because of that.
func (c *Change) settled(ctx context.Context, done func() string) (actions.Settlement, string, error) {
	switch {
	case !c.asked:
		return actions.NotHappened, "nothing was sent", nil
	case !c.open:
		return actions.NotHappened, "the hub did not take it", nil
	}
	switch found, err := c.watch().Trace(ctx, done); {
	case err != nil:
		return actions.Unsettled, "", err
	case found != "":
		return actions.Happened, found, nil
	case c.plan.Kind == actions.KindArkFlowRestart:
		return actions.Unsettled, "", fault.New(fault.Unknown, "apply", "the hub shows nothing of the request; the same plan asks again with the same key, which the hub takes once")
	default:
		return actions.Unsettled, "", fault.New(fault.Unknown, "apply", "the hub shows nothing of the request, which may still come: nothing more is sent before that is settled")
	}
}

// watch is how the change waits for what the hub does.
func (c *Change) watch() actions.Watch {
	return actions.Watch{Look: c.look, Poll: c.Poll, Patience: c.Patience, Settle: c.Settle, Silent: "the hub does not answer"}
}

func (c *Change) planIntact(context.Context, *actions.StepProgress) (string, error) {
	if _, p := actions.ParseDocument(c.Plan.Encode()); p != nil {
		return "", actions.Refuse(actions.StageConfiguration, p)
	}
	const digits = 8
	return "the id " + c.Plan.PlanID[:digits] + " fits the plan's content", nil
}

func (c *Change) asPlanned(ctx context.Context, _ *actions.StepProgress) (string, error) {
	if err := c.look(ctx, actions.StageJob); err != nil {
		return "", err
	}
	if err := actions.Refused(actions.CheckArkFlow(c.Plan, c.seen)); err != nil {
		return "", err
	}
	return actions.JudgeArkFlow(c.Plan, c.seen).Message, nil
}

// atTarget reports whether the job is of the plan's version.
func (c *Change) atTarget() bool {
	v := c.seen.Job.Job.Version
	return v != nil && *v == c.plan.Version
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

func (c *Change) sendUpgrade(ctx context.Context) error {
	_, err := c.write.Act(ctx, c.plan.JobID, c.plan.Upgrade, write.UpgradeAction(c.plan.UpgradeAction()))
	return err
}

// sendRestart asks with the plan's own key, and for nothing that somebody else asked
// for meanwhile.
func (c *Change) sendRestart(ctx context.Context) error {
	w := write.StreamWrite{Node: c.plan.Node, Stream: c.plan.Stream, Key: c.plan.Key}
	if c.seen.Stream.Generation != nil {
		w.Generation = arkhub.Known(c.plan.Generation)
	}
	_, err := c.write.RestartStream(ctx, w)
	return err
}

// judged waits until the plan's verdict is applied; a contradiction ends it.
func (c *Change) judged(stage actions.Stage) actions.Doing {
	return func(ctx context.Context, p *actions.StepProgress) (string, error) {
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
