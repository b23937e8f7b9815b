package kafka

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// SettingsCluster is what a plan of settings needs of a Kafka cluster.
// DialSettings connects to a real one. Every method is bounded by the
// connection's request timeout, and its errors are faults: of kind Unknown where
// a write was perhaps made.
type SettingsCluster interface {
	DataTopic(ctx context.Context, name string) (inspect.DataTopic, error)

	// Set sets exactly these settings of a topic, all or none, with one request to
	// one broker that is not repeated.
	Set(ctx context.Context, topic string, broker int32, settings []Setting) error

	Close()
}

// Setting is a topic's own setting and what it is to become.
type Setting struct{ Name, Value string }

// ConnectSettings opens a fresh connection, which the caller closes.
type ConnectSettings func(ctx context.Context) (SettingsCluster, error)

// DialSettings is how to connect to the cluster of a configuration.
func DialSettings(config kafkaconn.Config, c clock.Clock, options ...kafkaconn.Option) ConnectSettings {
	dial := Dial(config, c, options...)
	return func(ctx context.Context) (SettingsCluster, error) {
		cluster, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		return cluster.(*session), nil
	}
}

// Set asks one broker itself: the client's own routing would send the request
// again, without anybody having looked at the settings in between.
func (s *session) Set(ctx context.Context, topic string, broker int32, settings []Setting) error {
	ctx, cancel := s.step(ctx)
	defer cancel()
	ref := kafkaconn.Topic(topic)
	if broker < 0 {
		return s.conn.Explain(kerr.LeaderNotAvailable, kafkaconn.DescribeTopic, ref)
	}
	asked := kmsg.NewIncrementalAlterConfigsRequestResource()
	asked.ResourceType, asked.ResourceName = kmsg.ConfigResourceTypeTopic, topic
	for _, set := range settings {
		config := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		config.Name, config.Op, config.Value = set.Name, kmsg.IncrementalAlterConfigOpSet, &set.Value
		asked.Configs = append(asked.Configs, config)
	}
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	req.Resources = []kmsg.IncrementalAlterConfigsRequestResource{asked}
	resp, err := s.conn.Client().Broker(int(broker)).Request(ctx, req)
	if err != nil {
		return s.conn.Explain(err, kafkaconn.AlterConfigs, ref)
	}
	answers := resp.(*kmsg.IncrementalAlterConfigsResponse).Resources
	if len(answers) != 1 || answers[0].ResourceName != topic {
		return fault.New(fault.Unknown, kafkaconn.AlterConfigs.String(), "%s: the broker left it out of its answer, so it is unknown whether it was done", ref).WithRef(string(ref))
	}
	if answers[0].ErrorCode == 0 {
		return nil
	}
	f := *s.conn.Explain(kerr.ErrorForCode(answers[0].ErrorCode), kafkaconn.AlterConfigs, ref)
	if said := answers[0].ErrorMessage; said != nil && *said != "" {
		f.Message += " (" + safetext.Of(*said).String() + ")"
	}
	return &f
}

// SettingsConfig is what one change of settings is made of.
type SettingsConfig struct {
	Connect ConnectSettings
	Job     inspect.Job
	Plan    actions.Document
}

// Settings is one apply of one plan of the kind topic-settings. It serves one
// run. The steps are called one after another; Verify may be called when they
// have ended.
type Settings struct {
	SettingsConfig
	cluster SettingsCluster // of all steps but those that need a fresh one; nil until the first
	done    bool            // every setting is as planned already
	sent    bool            // something was sent that was not refused
}

// NewSettings makes a change of settings. Nothing is read before its first step.
// The caller closes it when the run has ended.
func NewSettings(c SettingsConfig) *Settings { return &Settings{SettingsConfig: c} }

// Close closes the connection of the steps.
func (c *Settings) Close() {
	if c.cluster != nil {
		c.cluster.Close()
		c.cluster = nil
	}
}

// Doers are the steps of actions.SettingsSteps, in that order.
func (c *Settings) Doers() []actions.Doer {
	var out []actions.Doer
	for _, about := range actions.SettingsSteps(c.Plan) {
		reads := func(do actions.Doing) { out = append(out, actions.Reading(about, nil, do)) }
		switch about.Name {
		case actions.StepPlan:
			reads(c.planIntact)
		case actions.StepIdentity:
			reads(c.identity)
		case actions.StepSettings:
			reads(c.found)
		case actions.StepSetSettings:
			out = append(out, &setting{Writer: actions.Writing(about, c.isDone, nil, c.set, c.settle), plan: c.Plan})
		case actions.StepSettingsReread:
			reads(c.reread)
		}
	}
	return out
}

// setting is the step that writes: its intent is no offsets.
type setting struct {
	actions.Writer
	plan actions.Document
}

var _ actions.Describer = (*setting)(nil)

func (s *setting) Intended() string { return s.plan.Subject().Does }

func (c *Settings) isDone() string {
	if c.done {
		return "every setting is as planned already: nothing is sent"
	}
	return ""
}

func (c *Settings) planIntact(context.Context, *actions.StepProgress) (string, error) {
	if _, p := actions.ParseDocument(c.Plan.Encode()); p != nil {
		return "", refuse(actions.StageConfiguration, p)
	}
	if c.Plan.Target.Name != c.Job.Topic {
		return "", refuse(actions.StageConfiguration, problem("plan-topic-mismatch", inspect.Named{"found": c.Job.Topic},
			"the plan is for topic %s, the job's is %s", quote(c.Plan.Target.Name), quote(c.Job.Topic)))
	}
	return fmt.Sprintf("the id %s fits the plan's content; %s", short(c.Plan.PlanID), figures.Count(len(c.Plan.Facts), "setting", "settings")), nil
}

func (c *Settings) identity(ctx context.Context, _ *actions.StepProgress) (string, error) {
	data, err := c.read(ctx, actions.StageIdentity)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s has the id %s, on the cluster %s", quote(data.Name), safetext.Of(data.TopicID), safetext.Of(data.ClusterID)), nil
}

func (c *Settings) found(ctx context.Context, _ *actions.StepProgress) (string, error) {
	facts, _, err := c.check(ctx, actions.StageSettings)
	if err != nil {
		return "", err
	}
	left := left(facts)
	c.done = left == 0
	if c.done {
		return "every setting is as planned already", nil
	}
	return fmt.Sprintf("%s as the plan found it, %d as planned already", figures.Count(left, "setting is", "settings are"), len(facts)-left), nil
}

// set compares identity and settings once more and sends what the plan sets.
func (c *Settings) set(ctx context.Context, _ *actions.StepProgress) (string, error) {
	c.sent = false
	facts, data, err := c.check(ctx, actions.StageSet)
	if err != nil {
		return "", err
	}
	if left(facts) == 0 {
		return "every setting became as planned meanwhile: nothing was sent", nil
	}
	settings := make([]Setting, 0, len(c.Plan.Facts))
	for _, f := range c.Plan.Facts {
		settings = append(settings, Setting{Name: f.Name, Value: *f.After}) // the kind's rules have no nil
	}
	c.sent = true
	if err := c.cluster.Set(ctx, c.Job.Topic, leaderOf(data), settings); err != nil {
		switch fault.KindOf(err) {
		case fault.Unknown, fault.Unreachable, fault.Cancelled, fault.Bug:
		default:
			c.sent = false // the cluster refused: nothing of it can arrive late
		}
		return "", at(actions.StageSet, err)
	}
	// Settings are changed by the topic's name: was it this topic?
	if _, err := c.read(ctx, actions.StageAfterChange); err != nil {
		return "", after(err)
	}
	return fmt.Sprintf("acknowledged: %s", c.Plan.Subject().Does), nil
}

// after adds to an error what was done before it.
func after(err error) error {
	f := fault.Of(err)
	return &fault.Fault{Kind: f.Kind, Op: f.Op, Hint: f.Hint, Refs: f.Refs, Err: err,
		Message: "the settings were acknowledged, and then the topic was looked at again"}
}

// leaderOf is a broker that is up: it leads a partition of the topic.
func leaderOf(data inspect.DataTopic) int32 {
	for _, p := range data.Partitions {
		if p.Leader >= 0 {
			return p.Leader
		}
	}
	return -1
}

const (
	// A change reaches every broker only after a moment.
	lookAgain = 100 * time.Millisecond
	lookFor   = 3 * time.Second
)

// settle reads what became of a request whose answer was lost. The broker may
// still be at it when its client has given up.
func (c *Settings) settle(ctx context.Context) (actions.Settlement, string, error) {
	if !c.sent {
		return actions.NotHappened, "nothing was sent", nil
	}
	v := c.look(ctx, func(v actions.OperationVerdict) bool { return v.Verdict == actions.NotStarted })
	switch v.Verdict {
	case actions.Applied:
		return actions.Happened, v.Message, nil
	case actions.NotStarted:
		c.sent = false
		return actions.NotHappened, v.Message, nil
	default:
		return actions.Unsettled, "", fault.New(fault.Unknown, "apply", "%s", v.Message)
	}
}

// reread reads from a fresh connection whether every setting is as planned.
func (c *Settings) reread(ctx context.Context, _ *actions.StepProgress) (string, error) {
	v := c.look(ctx, unfinished)
	if v.Verdict == actions.Applied {
		return "read from a fresh connection: " + v.Message, nil
	}
	kind, _ := v.Verdict.Exit()
	if v.Verdict == actions.NotStarted {
		kind = fault.Drift
	}
	return "", at(actions.StageAfterChange, fault.New(kind, "apply", "the settings are not as planned: %s", v.Message).
		WithHint("ask again with recoverctl verify; the same plan can be applied again"))
}

// Verify reads everything again from a fresh connection and says what has become
// of the plan. After a change it gives the brokers a moment to hear of it.
func (c *Settings) Verify(ctx context.Context) actions.OperationVerdict {
	if !c.sent {
		return VerifySettings(ctx, c.Connect, c.Plan)
	}
	return c.look(ctx, unfinished)
}

func unfinished(v actions.OperationVerdict) bool {
	return v.Verdict == actions.NotStarted || v.Verdict == actions.Partial
}

// look reads from fresh connections until the verdict is not to be waited for, or
// for a while.
func (c *Settings) look(ctx context.Context, wait func(actions.OperationVerdict) bool) actions.OperationVerdict {
	limited, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	for {
		v := VerifySettings(ctx, c.Connect, c.Plan)
		if !wait(v) || actions.Pause(limited, lookAgain) != nil {
			return v
		}
	}
}

// VerifySettings reads the topic from a fresh connection and says what has become
// of a plan. What can't be read makes the verdict unknown.
func VerifySettings(ctx context.Context, connect ConnectSettings, plan actions.Document) actions.OperationVerdict {
	cluster, err := connect(ctx)
	if err != nil {
		return actions.JudgeSettings(plan, inspect.DataTopic{}, err)
	}
	defer cluster.Close()
	data, err := cluster.DataTopic(ctx, plan.Target.Name)
	return actions.JudgeSettings(plan, data, err)
}

// read reads the topic over the steps' own connection and compares its identity
// with the plan's. A topic whose settings can't be read has an error, too.
func (c *Settings) read(ctx context.Context, stage actions.Stage) (inspect.DataTopic, error) {
	if c.cluster == nil {
		cluster, err := c.Connect(ctx)
		if err != nil {
			return inspect.DataTopic{}, at(stage, err)
		}
		c.cluster = cluster
	}
	data, err := c.cluster.DataTopic(ctx, c.Job.Topic)
	if err == nil || data.Exists {
		if _, refused := actions.CheckSettingsPlan(c.Plan, c.Job, data); refused != nil && refused.Stage == actions.StageIdentity {
			return data, actions.Refuse(stage, &refused.Problem)
		}
	}
	return data, at(stage, err)
}

// check reads the topic and compares identity and settings with the plan's.
func (c *Settings) check(ctx context.Context, stage actions.Stage) ([]actions.FactVerdict, inspect.DataTopic, error) {
	data, err := c.read(ctx, stage)
	if err != nil {
		return nil, data, err
	}
	facts, refused := actions.CheckSettingsPlan(c.Plan, c.Job, data)
	if refused != nil {
		return facts, data, actions.Refuse(stage, &refused.Problem)
	}
	return facts, data, nil
}

// left is how many settings are not as planned.
func left(facts []actions.FactVerdict) int {
	n := 0
	for _, f := range facts {
		if f.State != actions.FactPlanned {
			n++
		}
	}
	return n
}
