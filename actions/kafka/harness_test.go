package kafka_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/evidence"
	"github.com/recoverctl/recoverctl/actions/kafka"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/access"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/journal"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// errInjected stops an apply as a crash would: nothing after it is done.
var errInjected = fault.New(fault.Problem, "apply", "stopped by the test")

// apply is one apply as a command carries it out: evidence, report, approval,
// run, verdict.
type apply struct {
	config      kafkaconn.Config
	evidence    kafkaconn.Config // where the report's evidence is read; none: the same
	job         inspect.Job
	plan        inspect.CleanupPlan
	replication *int
	tap         tap
	journal     actions.Journal // nil: one in memory
}

// tap lets a test do something at a point of the run: "step/NAME" before a step
// begins; "data/STEP/N" before the Nth time the step reads the data topic;
// "append/STATUS/N" before the Nth record of that status is written;
// "trim/N" before the Nth time that records are deleted. An error there is the
// step's.
type tap map[string]func() error

// memory is a journal that keeps its lines as text.
type memory struct {
	mu      sync.Mutex
	lines   []string
	since   int  // lines there were when full was called
	room    int  // the first line after those for which there is no room; 0: there is for all
	refused bool // one was not taken
}

// full lets there be no room from the nth line on that is written after this; 0
// makes room again. It reports whether a line was refused before.
func (m *memory) full(nth int) (refused bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	refused = m.refused
	m.since, m.room, m.refused = len(m.lines), nth, false
	return refused
}

func (m *memory) Append(e journal.Entry) (journal.Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.room > 0 && len(m.lines)-m.since+1 >= m.room {
		m.refused = true
		return e, fault.Wrap(fault.Partial, "write the journal", syscall.ENOSPC, "the line may be missing")
	}
	m.lines = append(m.lines, strings.TrimRight(fmt.Sprintf("%s %s %s", e.Event, e.Step, e.Result), " "))
	return e, nil
}

// run applies the plan and returns when the run has ended.
func (a apply) run(t *testing.T) (actions.ApplyResult, error) {
	t.Helper()
	run, end := a.start(t)
	defer end()
	result, err := run.Wait()
	return result, err
}

// start begins the run. What is returned beside it closes the cleanup.
func (a apply) start(t *testing.T) (*actions.Run, func()) {
	t.Helper()
	dial := kafka.Dial(a.config, clock.System{})
	reading := a.evidence
	if reading.Brokers == nil {
		reading = a.config
	}
	gather := func(ctx context.Context) (actions.Evidence, error) {
		cluster, err := kafka.Dial(reading, clock.System{})(ctx)
		if err != nil {
			return actions.Evidence{}, err
		}
		defer cluster.Close()
		e, _ := evidence.Sources{Log: cluster, Clock: clock.System{}, Job: a.job, Replication: a.replication}.Gather(ctx, a.plan.SourceRecoveryPoint)
		return e, ctx.Err()
	}
	within := reading.RequestTimeout
	reading.RequestTimeout = max(within, patience) // nothing is in the way yet
	evidence, err := gather(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	reading.RequestTimeout = within
	report := actions.NewReport(a.plan, evidence)
	approval := approve(t, a.plan, report)
	tapped := &tapping{points: a.tap, count: make(map[string]int)}
	cleanup := kafka.New(kafka.Config{
		Connect: tapped.connect(dial), Job: a.job, Plan: a.plan, Approved: report, Replication: a.replication, Gather: gather,
	})
	lines := a.journal
	if lines == nil {
		lines = &memory{}
	}
	run, err := actions.Start(t.Context(), actions.RunPlan{
		Plan: a.plan, Report: report, Approval: approval,
		Who:     actions.Operator{User: "ops", Host: "bastion", Profile: "orders", Job: "order-agent"},
		Steps:   tapped.steps(cleanup.Doers()),
		Verify:  cleanup.Verify,
		Journal: lines, Clock: clock.System{}, Timeout: patience,
	})
	if err != nil {
		t.Fatal(err)
	}
	return run, cleanup.Close
}

// approve accepts every warning of a report.
func approve(t *testing.T, plan inspect.CleanupPlan, report actions.Report) actions.Approval {
	t.Helper()
	answer := actions.Answer{Digits: plan.PlanID, Reason: "disk pressure", At: time.Now()}
	for _, w := range report.Warnings {
		answer.Accept = append(answer.Accept, w.Name)
	}
	approval, _, err := actions.Ask(actions.Question{Plan: plan, Report: report, Environment: access.Production, Profile: "orders", Subject: plan.Topic}, answer)
	if err != nil {
		t.Fatal(err)
	}
	return approval
}

// tapping counts what a run does and stops at the points of its tap.
type tapping struct {
	points tap
	mu     sync.Mutex
	step   string
	count  map[string]int
}

func (g *tapping) begin(step string) error {
	g.mu.Lock()
	g.step = step
	g.mu.Unlock()
	return g.at("step/" + step)
}

func (g *tapping) current() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.step
}

// nth is at for something that is counted.
func (g *tapping) nth(what string) error {
	g.mu.Lock()
	g.count[what]++
	point := fmt.Sprintf("%s/%d", what, g.count[what])
	g.mu.Unlock()
	return g.at(point)
}

func (g *tapping) at(point string) error {
	if do := g.points[point]; do != nil {
		return do()
	}
	return nil
}

func (g *tapping) connect(dial kafka.Connect) kafka.Connect {
	return func(ctx context.Context) (kafka.Cluster, error) {
		cluster, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		return &tapped{cluster, g}, nil
	}
}

type tapped struct {
	kafka.Cluster
	tap *tapping
}

func (c *tapped) DataTopic(ctx context.Context, name string) (inspect.DataTopic, error) {
	if err := c.tap.nth("data/" + c.tap.current()); err != nil {
		return inspect.DataTopic{}, err
	}
	return c.Cluster.DataTopic(ctx, name)
}

func (c *tapped) Append(ctx context.Context, topic string, plan inspect.CleanupPlan, status inspect.OperationStatus) (int64, error) {
	if err := c.tap.nth("append/" + string(status)); err != nil {
		return 0, err
	}
	return c.Cluster.Append(ctx, topic, plan, status)
}

func (c *tapped) Trim(ctx context.Context, topic string, targets []kafka.Target) []kafka.Trimmed {
	if err := c.tap.nth("trim"); err != nil {
		out := make([]kafka.Trimmed, len(targets))
		for i, t := range targets {
			out[i] = kafka.Trimmed{Target: t, Err: err}
		}
		return out
	}
	return c.Cluster.Trim(ctx, topic, targets)
}

func (g *tapping) steps(in []actions.Doer) (out []actions.Doer) {
	for _, d := range in {
		begin := func() error { return g.begin(d.Step().Name) }
		if w, ok := d.(actions.Writer); ok {
			out = append(out, &tappedWriter{w, begin})
		} else {
			out = append(out, &tappedDoer{d, begin})
		}
	}
	return out
}

type tappedDoer struct {
	actions.Doer
	begin func() error
}

func (d *tappedDoer) Do(ctx context.Context, p *actions.StepProgress) (string, error) {
	if err := d.begin(); err != nil {
		return "", err
	}
	return d.Doer.Do(ctx, p)
}

type tappedWriter struct {
	actions.Writer
	begin func() error
}

func (d *tappedWriter) Do(ctx context.Context, p *actions.StepProgress) (string, error) {
	if err := d.begin(); err != nil {
		return "", err
	}
	return d.Writer.Do(ctx, p)
}

// seen is what a read_committed reader finds on a control topic, as "ID STATUS"
// with the plan's name, or "unreadable"; nil: no such topic.
func seen(t *testing.T, config kafkaconn.Config, control string, plans map[string]inspect.CleanupPlan) []string {
	t.Helper()
	cluster, err := kafka.Dial(config, clock.System{})(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	topic, err := cluster.ControlTopic(t.Context(), control)
	if err != nil {
		t.Fatal(err)
	}
	if !topic.Exists {
		return nil
	}
	out := []string{}
	for _, r := range topic.Records {
		found := "unreadable"
		for name, plan := range plans {
			for _, status := range []inspect.OperationStatus{inspect.StatusCommitted, inspect.StatusApplied} {
				if string(r.Key) == plan.PlanID && slices.Equal(r.Value, actions.EncodeRecord(plan, status)) {
					found = name + " " + string(status)
				}
			}
		}
		out = append(out, found)
	}
	return out
}

// logs are the log starts and ends of a topic; nil where it does not exist.
func logs(t *testing.T, c *kafkatest.Cluster, topic string) (starts, ends map[int32]int64) {
	t.Helper()
	list, err := c.Admin().ListStartOffsets(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	until, err := c.Admin().ListEndOffsets(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	for p, o := range list[topic] {
		if o.Err != nil {
			return nil, nil
		}
		if starts == nil {
			starts, ends = map[int32]int64{}, map[int32]int64{}
		}
		starts[p], ends[p] = o.Offset, until[topic][p].Offset
	}
	return starts, ends
}
