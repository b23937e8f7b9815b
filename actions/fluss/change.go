package fluss

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/flussrpc/write"
)

// Config is what one apply of one plan is made of.
type Config struct {
	Sources
	Plan     actions.Document
	Approved actions.DocumentReport // what was approved, with its warnings

	// Settle is how long a call whose answer was lost is looked for. 3 seconds where
	// it is zero.
	Settle time.Duration
}

// Change is one apply of one plan of the kinds producer-delete and
// producer-register. It serves one run, whose steps are called one after another;
// Verify may be called when they have ended. Every step reads over a connection of
// its own.
type Change struct {
	Config
	plan actions.ProducerPlan
	done bool // the entry is as planned already
	sent sending
}

// sending is how far a call that writes came.
type sending uint8

const (
	notSent  sending = iota // or refused: nothing of it can arrive late
	answered                // the coordinator answered, with words that leave open what it did
	open                    // no answer came, or one that says that it is done: it can't be called not done
)

// New makes an apply. Nothing is read before its first step.
func New(c Config) *Change {
	const lookFor = 3 * time.Second
	if c.Settle <= 0 {
		c.Settle = lookFor
	}
	return &Change{Config: c, plan: actions.ProducerPlanOf(c.Plan)}
}

// Doers are the steps of actions.ProducerSteps, in that order.
func (c *Change) Doers() []actions.Doer {
	does := map[string]actions.Doing{
		actions.StepPlan: c.planIntact, actions.StepIdentity: c.identity, actions.StepEntry: c.entry, actions.StepOffsets: c.offsets,
		actions.StepDeleteEntry: c.delete, actions.StepRegister: c.register, actions.StepProducerReread: c.reread,
	}
	var out []actions.Doer
	for _, about := range actions.ProducerSteps(c.Plan) {
		do := does[about.Name]
		switch about.Name {
		case actions.StepOffsets:
			out = append(out, actions.Reading(about, c.isDone, do))
		case actions.StepDeleteEntry, actions.StepRegister:
			out = append(out, actions.Writing(about, c.isDone, nil, do, c.settle))
		default:
			out = append(out, actions.Reading(about, nil, do))
		}
	}
	return out
}

func (c *Change) isDone() string {
	if c.done {
		return "the entry is as planned already: nothing is sent"
	}
	return ""
}

// at says at which stage an error stopped the change.
func at(stage actions.Stage, err error) error { return actions.At(stage, "", err) }

func (c *Change) planIntact(context.Context, *actions.StepProgress) (string, error) {
	if _, p := actions.ParseDocument(c.Plan.Encode()); p != nil {
		return "", actions.Refuse(actions.StageConfiguration, p)
	}
	return "the plan's id fits its content; the entry is " + c.Plan.Target.ID, nil
}

// look reads over a fresh connection and gives it to do with what was read, where
// the plan can be applied to that.
func (c *Change) look(ctx context.Context, stage actions.Stage, do func(*reading, actions.FlussEvidence) error) error {
	r, err := c.open()
	if err != nil {
		return at(stage, err)
	}
	defer r.close()
	e := r.look(ctx, c.plan.ID, registered(c.plan), true)
	if e.Err != nil {
		return at(stage, e.Err)
	}
	if refused := actions.CheckProducerPlan(c.Plan, e); refused != nil {
		return actions.Refuse(stage, &refused.Problem)
	}
	if p := actions.CheckProducerWarnings(c.Plan, c.Approved, e); p != nil {
		return actions.Refuse(stage, p)
	}
	return do(r, e)
}

func (c *Change) identity(ctx context.Context, _ *actions.StepProgress) (string, error) {
	r, err := c.open()
	if err != nil {
		return "", at(actions.StageIdentity, err)
	}
	defer r.close()
	found, err := r.coordinator(ctx)
	switch {
	case err != nil:
		return "", at(actions.StageIdentity, err)
	case found != c.Plan.Target.Cluster:
		e := actions.FlussEvidence{Cluster: found}
		return "", actions.Refuse(actions.StageIdentity, &actions.CheckProducerPlan(c.Plan, e).Problem)
	}
	return "the coordinator is " + show(found), nil
}

func (c *Change) entry(ctx context.Context, _ *actions.StepProgress) (detail string, err error) {
	err = c.look(ctx, actions.StageEntry, func(_ *reading, e actions.FlussEvidence) error {
		v := actions.JudgeProducer(c.Plan, e)
		c.done, detail = v.Verdict == actions.Applied, v.Message
		return nil
	})
	return detail, err
}

func (c *Change) offsets(ctx context.Context, _ *actions.StepProgress) (detail string, err error) {
	err = c.look(ctx, actions.StageOffsets, func(_ *reading, e actions.FlussEvidence) error {
		detail = actions.SupposedStart(*e.Supposed)
		return nil
	})
	return detail, err
}

// delete reads the entry once more and deletes it.
func (c *Change) delete(ctx context.Context, _ *actions.StepProgress) (detail string, err error) {
	c.sent = notSent
	err = c.look(ctx, actions.StageDeleteEntry, func(r *reading, e actions.FlussEvidence) error {
		if actions.JudgeProducer(c.Plan, e).Verdict == actions.Applied {
			detail = "nothing is stored any more: nothing was sent"
			return nil
		}
		if err := c.send(write.DeleteProducer(ctx, r.client, c.plan.ID)); err != nil {
			return at(actions.StageDeleteEntry, err)
		}
		detail = "acknowledged: " + c.Plan.Subject().Does
		return c.directlyAfter(ctx, r)
	})
	return detail, err
}

// alreadyExists is the refusal of a register where a valid entry is there.
const alreadyExists = "producer-already-exists"

// register looks at entry and logs once more and registers the offsets.
func (c *Change) register(ctx context.Context, _ *actions.StepProgress) (detail string, err error) {
	c.sent = notSent
	err = c.look(ctx, actions.StageRegister, func(r *reading, e actions.FlussEvidence) error {
		if actions.JudgeProducer(c.Plan, e).Verdict == actions.Applied {
			detail = "exactly these offsets are stored already: nothing was sent"
			return nil
		}
		answer, err := write.RegisterProducer(ctx, r.client, c.plan.ID, flat(c.plan.Logs), c.plan.TTL)
		switch err := c.send(err); {
		case err != nil:
			return at(actions.StageRegister, err)
		case answer == write.AlreadyExists:
			c.sent = notSent
			return actions.Refuse(actions.StageRegister, &inspect.Problem{Code: alreadyExists, Named: inspect.Named{},
				Message: fmt.Sprintf("the coordinator answered ALREADY_EXISTS for producer %s: an entry was registered since it was read, and stays as it is; nothing was changed", c.plan.ID)})
		}
		detail = "the coordinator answered CREATED: " + c.Plan.Subject().Does
		return c.directlyAfter(ctx, r)
	})
	return detail, err
}

// send notes how far a call came, and names table and right where it was denied.
func (c *Change) send(err error) error {
	if err == nil {
		c.sent = open // done, and not read yet
		return nil
	}
	refused, byServer := errors.AsType[*flussrpc.Error](err)
	switch kind := fault.KindOf(err); {
	case kind == fault.Denied:
		return c.denied(err)
	case kind == fault.Unknown && byServer && refused.Code == flussrpc.UnknownServerError:
		c.sent = answered
	case kind == fault.Unknown:
		c.sent = open
	}
	return err
}

// denied names the tables and the right that is missing. The coordinator names one.
func (c *Change) denied(err error) error {
	f := fault.Of(err)
	var tables []string
	for _, l := range c.plan.Logs {
		name, _, _ := strings.Cut(l.Name, " ")
		if name == "" {
			name = fmt.Sprintf("the table with the id %d", l.Table)
		}
		if name = show(name); len(tables) == 0 || tables[len(tables)-1] != name {
			tables = append(tables, name)
		}
	}
	on := strings.Join(tables, ", ")
	if tables == nil {
		on = "every table of the entry, none of which this user may see"
	}
	return &fault.Fault{Kind: fault.Denied, Op: f.Op, Refs: f.Refs, Err: err,
		Message: "the coordinator refused, and nothing was changed: the right WRITE is needed on " + on,
		Hint:    "ask for WRITE on these tables, or let somebody apply the plan who has it"}
}

// directlyAfter reads the entry once more over the connection that wrote.
func (c *Change) directlyAfter(ctx context.Context, r *reading) error {
	e := r.look(ctx, c.plan.ID, nil, false)
	if e.Err != nil {
		return at(actions.StageAfterChange, fault.Wrap(fault.Unknown, "apply", e.Err, "the coordinator acknowledged it, and then the entry could not be read"))
	}
	if v := actions.JudgeProducer(c.Plan, e); v.Verdict != actions.Applied {
		return c.notAsPlanned("the coordinator acknowledged it", v)
	}
	return nil
}

// notAsPlanned is the fault of an entry that is not as planned after what was done.
func (c *Change) notAsPlanned(done string, v actions.OperationVerdict) error {
	kind, _ := v.Verdict.Exit()
	if v.Verdict == actions.NotStarted {
		kind = fault.Drift
	}
	return at(actions.StageAfterChange, fault.New(kind, "apply", "%s, and the entry is not as planned: %s", done, v.Message).
		WithHint("does the producer's sink run? ask again with recoverctl verify"))
}

const lookAgain = 100 * time.Millisecond

// settle reads what became of a call whose answer was lost. An entry that is still
// as before is proof only where the coordinator did answer, with words that said
// nothing: a call that hangs, as one does while ZooKeeper is gone, is carried out
// when that is back.
func (c *Change) settle(ctx context.Context) (actions.Settlement, string, error) {
	if c.sent == notSent {
		return actions.NotHappened, "nothing was sent", nil
	}
	v := c.awaited(ctx, actions.NotStarted, actions.Undecided)
	switch {
	case v.Verdict == actions.Applied:
		return actions.Happened, v.Message, nil
	case v.Verdict == actions.NotStarted && c.sent == answered:
		if c.plan.Broken {
			v.Message += "; a cluster with an authorizer reads the file first and refuses: only the expiry frees the id then, or removing its node in ZooKeeper by hand"
		}
		return actions.NotHappened, v.Message, nil
	case v.Verdict == actions.NotStarted:
		return actions.Unsettled, "", fault.New(fault.Unknown, "apply", "%s; a call without an answer may still be carried out", v.Message)
	default:
		return actions.Unsettled, "", fault.New(fault.Unknown, "apply", "%s", v.Message)
	}
}

// awaited reads from fresh connections for a while, until the verdict is none of
// these.
func (c *Change) awaited(ctx context.Context, passing ...actions.Outcome) actions.OperationVerdict {
	limited, cancel := context.WithTimeout(ctx, c.Settle)
	defer cancel()
	for {
		v := c.Verify(ctx)
		if !slices.Contains(passing, v.Verdict) || actions.Pause(limited, lookAgain) != nil {
			return v
		}
	}
}

// reread reads from a fresh connection whether the entry is as planned.
func (c *Change) reread(ctx context.Context, _ *actions.StepProgress) (string, error) {
	v := c.awaited(ctx, actions.NotStarted, actions.Undecided)
	if v.Verdict == actions.Applied {
		return "read from a fresh connection: " + v.Message, nil
	}
	if c.sent == notSent {
		return "", c.notAsPlanned("nothing was sent, because the entry was as planned before", v)
	}
	return "", c.notAsPlanned("it was sent", v)
}

// Verify reads everything again from a fresh connection and says what has become
// of the plan.
func (c *Change) Verify(ctx context.Context) actions.OperationVerdict {
	return Verify(ctx, c.Sources, c.Plan)
}

// Verify reads the entry from a fresh connection and says what has become of a
// plan. What can't be read makes the verdict unknown.
func Verify(ctx context.Context, s Sources, plan actions.Document) actions.OperationVerdict {
	s.Live = nil // what runs decides nothing here
	return actions.JudgeProducer(plan, s.Gather(ctx, plan))
}
