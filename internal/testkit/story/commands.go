package story

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/internal/testkit/kafkaproxy"
)

// commands are what an operator asks of the program.
func commands() []phrase[*command] {
	return []phrase[*command]{
		on(`plan (\w+) from (\S+)`, func(c *command, m []string) error {
			p, err := c.point(m[1])
			if err != nil {
				return err
			}
			c.made, err = c.planned(c.Context(), m[0], p.uri, p.at)
			c.name = m[0]
			c.args = []string{"plan", "cleanup", "--point", p.uri, "--out", c.made.file}
			return err
		}),
		about(`show (\w+)`, func(p plan) []string { return []string{"plan", "show", p.file} }),
		about(`verify (\w+)`, func(p plan) []string { return []string{"verify", p.file} }),
		about(`verify (\w+) by its id`, func(p plan) []string { return []string{"verify", p.ID()[:8]} }),
		on(`apply (\w+)`, func(c *command, m []string) (err error) {
			c.target, err = c.plan(m[0])
			return err
		}),
		on(`validate restore (\S+)(?: after (\w+))?`, func(c *command, m []string) error {
			p, err := c.point(m[0])
			if err != nil {
				return err
			}
			c.args = []string{"validate", "restore", p.uri}
			if m[1] == "" {
				return nil
			}
			plan, err := c.plan(m[1])
			c.args = append(c.args, "--plan", plan.file)
			return err
		}),
	}
}

// about is a command about a plan.
func about(form string, args func(plan) []string) phrase[*command] {
	return on(form, func(c *command, m []string) error {
		p, err := c.plan(m[0])
		c.args = args(p)
		return err
	})
}

// command is one command of a story.
type command struct {
	*world
	args   []string
	target plan   // of an apply
	made   plan   // by a "plan … from"
	name   string // under which it is kept

	accepts  []string
	creating bool
	whens    []when
	isKilled bool

	outcome Outcome
	answer  answer
	failure failure
	before  int // requests that had passed when it began
}

// when is something that happens at a moment of the command.
type when struct {
	text string
	moment
	event string
}

// answer is what of the program's JSON is looked at, whichever command it was.
type answer struct {
	Data struct {
		PlanID, Verdict, Stage string
		Problem                *problem
		Reasons                []problem
		Later                  *struct {
			Verdict string
			Reasons []problem
		}
		Drift []struct {
			Field   string
			Allowed bool
		}
		Survives, Lost []struct{ URI string }
		Warnings       []string // of a plan that was made
		Report         *struct {
			Warnings []struct{ Name string }
		}
	}
}

// failure is the error of a command.
type failure struct {
	Error struct {
		Message, Hint string
		Problem       problem
	}
}

// problem is a reason word, where it spoke, and the numbers that it names.
type problem map[string]any

func (p problem) text(name string) string {
	if p[name] == nil {
		return ""
	}
	return fmt.Sprint(p[name])
}

// bastion is the machine from which the story's own commands are given.
const bastion = "bastion"

func (w *world) environ(machine string) []string {
	home := filepath.Join(w.dir, machine)
	return []string{"HOME=" + home, "XDG_STATE_HOME=" + home, "USER=ops", "PATH=" + os.Getenv("PATH")}
}

// applyArgs is a whole apply, approved as a script approves it in production.
func (w *world) applyArgs(p plan, accepts []string) []string {
	args := []string{"apply", p.file, "--approve", p.ID(), "--reason", "a story", "--access", "operate", "--config", w.config()}
	for _, name := range accepts {
		if point, known := w.points[strings.TrimPrefix(name, "point-unknown:")]; known {
			name = "point-unknown:" + point.uri
		}
		args = append(args, "--accept", name)
	}
	return args
}

// config writes the profile of the story's job as it is now. It is JSON, which
// YAML takes.
func (w *world) config() string {
	state := map[string]any{"store": "kafka", "topic": w.data, "control-topic": w.control, "job-tombstones": w.job.tombstones}
	switch w.job.controls {
	case "":
	case "-":
		delete(state, "control-topic")
	default:
		state["control-topic"] = w.job.controls
	}
	limit := w.Request.String()
	job := map[string]any{
		"name": "agent", "engine": "flink-agents", "runtime": "next", "action-state": state, "max-parallelism": 128,
		"recovery-points": w.places(), "pinned": append([]string{}, w.job.pinned...), "keep-recovery-points": w.job.keep,
	}
	if w.job.flink != nil {
		job["flink"] = w.job.flink
	}
	text, err := json.Marshal(map[string]any{
		"default-profile": "story",
		"profiles": []any{map[string]any{
			"name": "story", "environment": "production", "access": w.job.access,
			"kafka": map[string]any{"brokers": w.proxy.Brokers(), "timeouts": map[string]any{"dial": limit, "request": limit}},
			"jobs":  []any{job},
		}},
	})
	if err != nil {
		panic("story: " + err.Error()) // maps of texts have a JSON form
	}
	path := filepath.Join(w.dir, "config.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		w.Errorf("write the profile: %v", err)
	}
	return path
}

// places is where the job's points are: nowhere, in a story without any.
func (w *world) places() []string {
	if len(w.points) == 0 {
		return []string{}
	}
	return []string{"file:" + w.place()}
}

// run gives the command, with everything in place that is to happen meanwhile.
func (c *command) run(ctx context.Context) error {
	c.mu.Lock()
	args := append(c.args, "--config", c.config())
	if c.args == nil {
		args = c.applyArgs(c.target, append(c.accepts, c.world.accepts...))
	}
	if c.creating {
		args = append(args, "--create-control-topic", "1")
	}
	environ := c.environ(bastion)
	c.before = len(c.proxy.Requests())
	faults := make([]*kafkaproxy.Fault, len(c.whens))
	for i, w := range c.whens {
		faults[i] = c.proxy.Inject(c, c.rule(w))
	}
	program, gone := c.Program, make(chan struct{})
	if c.isKilled {
		var kill context.CancelFunc
		ctx, kill = context.WithCancel(ctx)
		defer kill()
		program, c.kill = c.Process, func() { kill(); <-gone }
	}
	c.mu.Unlock()

	c.outcome = program(ctx, environ, append(args, "-o", "json")...)
	close(gone)

	c.mu.Lock()
	defer c.mu.Unlock()
	err := errors.Join(c.late...)
	c.kill, c.late = nil, nil
	for i, f := range faults {
		f.Remove()
		if f.Hits() == 0 {
			err = errors.Join(err, fmt.Errorf("%q never came", c.whens[i].text))
		}
	}
	if c.outcome.Out != "" {
		decoder := json.NewDecoder(strings.NewReader(c.outcome.Out))
		decoder.UseNumber()
		err = errors.Join(err, decoder.Decode(&c.answer))
	}
	if c.outcome.Err != "" {
		err = errors.Join(err, json.Unmarshal([]byte(c.outcome.Err), &c.failure))
	}
	if c.name != "" && c.answer.Data.PlanID != "" {
		if id := c.made.ID(); c.answer.Data.PlanID != id {
			err = errors.Join(err, fmt.Errorf("the plan's id is %s, and by the formula it is %s", c.answer.Data.PlanID, id))
		}
		c.plans[c.name] = c.made
	}
	if err != nil {
		return fmt.Errorf("%w\nexit %d\n%s%s", err, c.outcome.Exit, c.outcome.Out, c.outcome.Err)
	}
	return nil
}

// moment is a moment in the course of an apply: a request to the broker.
type moment struct {
	key    kmsg.Key
	status string // of the record that it writes
	nth    int    // the first is 1; 0 is 1
	when   kafkaproxy.When
}

// moments are the moments that a story can name.
func moments() map[string]moment {
	const before, after = kafkaproxy.BeforeForward, kafkaproxy.AfterForward
	return map[string]moment{
		// The first look is for the report that is approved, the second is the apply's own.
		"the topic is looked at again":          {kmsg.DescribeConfigs, "", 2, before},
		"the control topic is about to be made": {kmsg.CreateTopics, "", 0, before},
		"the control topic is made":             {kmsg.CreateTopics, "", 0, after},
		"COMMITTED is about to be written":      {kmsg.Produce, "COMMITTED", 0, before},
		"COMMITTED is written":                  {kmsg.Produce, "COMMITTED", 0, after},
		"records are about to be deleted":       {kmsg.DeleteRecords, "", 0, before},
		"records are deleted":                   {kmsg.DeleteRecords, "", 0, after},
		"APPLIED is about to be written":        {kmsg.Produce, "APPLIED", 0, before},
		"APPLIED is written":                    {kmsg.Produce, "APPLIED", 0, after},
	}
}

// rule lets the event happen at its moment, once.
func (c *command) rule(w when) kafkaproxy.Rule {
	r := kafkaproxy.Rule{Key: w.key, Nth: w.nth, When: w.moment.when, Match: func(r kafkaproxy.Request) bool {
		return !isStory(r) && (w.status == "" || writes(r, w.status)) && (w.key != kmsg.DescribeConfigs || r.About(c.data))
	}}
	switch w.event {
	case "the request is lost", "the answer is lost":
		r.Do = kafkaproxy.Cut()
	case "the network is down until the end":
		r.Do, r.Times = kafkaproxy.Cut(), kafkaproxy.Always
	case "no answer comes until the end":
		r.Do, r.Times = kafkaproxy.Drop(), kafkaproxy.Always
	default:
		r.Do = kafkaproxy.Call(func(context.Context, kafkaproxy.Request) error {
			if err := c.happen(w.event); err != nil {
				c.mu.Lock()
				c.late = append(c.late, fmt.Errorf("%s: %w", w.text, err))
				c.mu.Unlock()
			}
			return nil
		})
		if w.event == killed && w.moment.when == kafkaproxy.BeforeForward {
			r.Do = kafkaproxy.Then(r.Do, kafkaproxy.Cut())
		}
	}
	return r
}

// isStory reports whether a request is of the story itself, not of the program.
func isStory(r kafkaproxy.Request) bool { return r.ClientID == "kafkatest" }

func writes(r kafkaproxy.Request, status string) bool {
	for _, part := range r.Parts {
		records, err := part.Records()
		if err != nil {
			continue
		}
		for _, record := range records {
			if strings.Contains(string(record.Value), `"status":"`+status+`"`) {
				return true
			}
		}
	}
	return false
}
