package arkflow_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/testkit/arkincident"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	views "github.com/recoverctl/recoverctl/views/arkflow"
	"github.com/recoverctl/recoverctl/views/document"
	"github.com/recoverctl/recoverctl/views/rollback"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

// away is a hub that does not answer.
type away struct{ err error }

func (a away) Jobs(context.Context) (arkflow.JobList, error) { return arkflow.JobList{}, a.err }
func (a away) Job(context.Context, string) (arkflow.JobDetail, error) {
	return arkflow.JobDetail{}, a.err
}
func (a away) Replay(context.Context, arkflow.JobDetail, string) (arkflow.ReplayCost, error) {
	return arkflow.ReplayCost{}, a.err
}

func TestFrames(t *testing.T) {
	s := newScene(t)
	gone := away{fault.New(fault.Unreachable, "ask the ArkFlow hub", "http://hub:8080 does not answer").WithHint("is it running?")}
	lost := s.options(viewtest.Plain(), arkincident.JobInOrder)
	lost.Source = gone
	logged := s.options(viewtest.Plain(), arkincident.JobInOrder)
	logged.Source, logged.Log = source{s, arkincident.StreamReady}, log{s, arkincident.StreamReady}
	stream := func(node, id string) func() tui.Screen {
		return func() tui.Screen { return views.NewStream(s.options(viewtest.Plain(), id), node, id) }
	}
	viewtest.Goldens(t, map[string]viewtest.Case{
		"list":          {Screen: func() tui.Screen { return s.list(viewtest.Plain(), everything()...) }, Keys: []string{"j"}},
		"list-reading":  {Screen: func() tui.Screen { return s.list(viewtest.Plain(), everything()...) }, Busy: true},
		"job":           {Screen: s.job(arkincident.JobInOrder)},
		"job-log":       {Screen: func() tui.Screen { return views.NewJob(logged, arkincident.JobInOrder) }},
		"degraded":      {Screen: s.job(arkincident.JobDegraded)},
		"rejected":      {Screen: s.job(arkincident.JobRejected)},
		"passed-over":   {Screen: s.job(arkincident.JobRejected), Keys: []string{"j"}},
		"upgraded":      {Screen: s.job(arkincident.JobUpgraded), Keys: []string{"j"}},
		"reading":       {Screen: s.job(arkincident.JobInOrder), Busy: true},
		"away":          {Screen: func() tui.Screen { return views.NewJob(lost, arkincident.JobInOrder) }},
		"point":         {Screen: s.job(arkincident.JobInOrder), Keys: []string{"enter"}},
		"point-damaged": {Screen: s.job(arkincident.JobRejected), Keys: []string{"enter"}},
		"check":         {Screen: s.job(arkincident.JobRejected), Keys: []string{"j", "v"}},
		"check-all":     {Screen: s.job(arkincident.JobInOrder), Keys: []string{"v", "a"}},
		"compare":       {Screen: s.job(arkincident.JobRejected), Keys: []string{"j", "space", "j", "="}},
		"compare-log":   {Screen: func() tui.Screen { return views.NewJob(logged, arkincident.JobInOrder) }, Keys: []string{"space", "j", "="}},
		"chosen":        {Screen: s.job(arkincident.JobRejected), Keys: []string{"space", "j", "space"}},
		"findings":      {Screen: s.job(arkincident.JobUpgraded), Keys: []string{"f"}},
		"findings-all":  {Screen: s.job(arkincident.JobUpgraded), Keys: []string{"f", "a", "j", "j", "j"}},
		"finding":       {Screen: s.job(arkincident.JobDegraded), Keys: []string{"f", "enter"}},
		"hub":           {Screen: func() tui.Screen { return views.NewHub(s.options(viewtest.Plain(), arkincident.JobInOrder)) }},
		"stream":        {Screen: stream("node-a", arkincident.StreamReady)},
		"stream-failed": {Screen: stream("node-b", arkincident.StreamBad)},
		"stream-bare":   {Screen: stream("node-a", arkincident.StreamBare)},
	})
}

func open(s *scene, root tui.Screen, width, height int) *tuitest.Driver {
	return tuitest.New(s.T, viewtest.Options(viewtest.Plain()), root, width, height)
}

// A name of the profile is a job's, a stream's or that of a log alone; where it is
// nothing that the hub has, the hub is shown. Each opens what it is.
func TestANameOpensWhatItIs(t *testing.T) {
	s := newScene(t)
	for name, says := range map[string]string{
		arkincident.JobDegraded: "DEGRADED", arkincident.StreamReady: "Its write-ahead log", arkincident.StreamGap: "entries in between are missing", "orders": "JOB OR STREAM", "": "JOB OR STREAM",
	} {
		d := open(s, s.list(viewtest.Plain(), name), 120, 40)
		d.Press("enter")
		if frame := d.Frame(); !strings.Contains(frame, says) {
			t.Errorf("%s does not say %q:\n%s", name, says, frame)
		}
	}
	// Also where it is opened before anything is known.
	d := tuitest.NewBusy(t, viewtest.Options(viewtest.Plain()), s.list(viewtest.Plain(), arkincident.JobDegraded), 120, 40)
	d.Press("enter")
	d.Settle()
	if frame := d.Frame(); d.Top().Crumb() != arkincident.JobDegraded || !strings.Contains(frame, "DEGRADED") {
		t.Errorf("opened early:\n%s", frame)
	}
}

// plans keeps what was asked for, and makes no plan.
type plans struct {
	rollback.Source
	id    string
	asked *[]rollback.Ask
}

func (p plans) Make(_ context.Context, _ inspect.Job, ask rollback.Ask) (document.Made, error) {
	*p.asked = append(*p.asked, ask)
	return document.Made{}, fault.New(fault.Problem, "make a plan", "no plan is made in this test")
}

func (plans) Busy() string { return "" }

// A rollback is planned from a point of a lower version alone, and to that version.
func TestRollbackFromAPoint(t *testing.T) {
	s := newScene(t)
	var asked []rollback.Ask
	o := s.options(viewtest.Plain(), arkincident.JobUpgraded)
	o.Rollbacks = func(id string) rollback.Source { return plans{id: id, asked: &asked} }
	d := open(s, views.NewJob(o, arkincident.JobUpgraded), 120, 40)
	d.Press("u")
	if frame := d.Frame(); len(asked) != 0 || !strings.Contains(frame, "it is of version 2, which the job is") {
		t.Errorf("%v\n%s", asked, frame)
	}
	d.Press("j", "u")
	if len(asked) != 1 || asked[0].Version != 1 || !strings.HasPrefix(asked[0].Point, "savepoint-") {
		t.Errorf("%+v", asked)
	}
	d.Press("esc", "enter", "u")
	if len(asked) != 2 || asked[1].Version != asked[0].Version || asked[1].Point != asked[0].Point {
		t.Errorf("from the point's screen: %+v", asked)
	}
	d.Press("esc", "esc", "k", ":")
	d.Type("rollback")
	d.Press("enter")
	if len(asked) != 3 || asked[2].Version != 1 || asked[2].Point != "" {
		t.Errorf("to the next lower version: %+v", asked)
	}
	d.Press("esc", ":")
	d.Type("rollback 7")
	d.Press("enter")
	if frame := d.Frame(); len(asked) != 3 || !strings.Contains(frame, "7 is no version of the job on record") {
		t.Errorf("%+v\n%s", asked, frame)
	}
}

// made makes and judges plans as the program does, from what the sample's hub says.
type made struct {
	document.Source
	*scene
	kind, id string
}

func (m made) Make(ctx context.Context, job inspect.Job) (document.Made, error) {
	e := actions.ArkFlowEvidence{At: viewtest.Now}
	var d actions.Document
	var p *inspect.Problem
	if node, stream, ok := strings.Cut(m.id, "/"); ok {
		one, err := m.hub.Stream(ctx, node, stream)
		if err != nil {
			return document.Made{}, err
		}
		settle(reflect.ValueOf(&one), m.plain)
		e.Stream = &one
		d, p = actions.ArkFlowRestartFrom(e, "5f3c92d07be1458a96c0d1e2f3a4b5c6")
	} else {
		one, err := source{scene: m.scene}.Job(ctx, m.id)
		if err != nil {
			return document.Made{}, err
		}
		e.Job = &one
		d, p = actions.ArkFlowRoundFrom(m.kind, e, "")
	}
	if p != nil {
		return document.Made{}, fault.New(fault.Problem, "make a plan", "no plan can be made: %s", p.Message).WithHint("look at the job")
	}
	return document.Made{At: viewtest.Now, Plan: d, Report: actions.ArkFlowReport(d, e), Steps: actions.ArkFlowSteps(d),
		File: "/home/ops/plan.json", Apply: `recoverctl apply /home/ops/plan.json --reason "…" --access operate`}, nil
}

func (made) Busy() string { return "" }

// Plans of rounds and restarts are shown with what changes, what it does, and the way
// back of each step.
func TestPlanFrames(t *testing.T) {
	s := newScene(t)
	screen := func(name string, open func(views.Options) tui.Screen) func() tui.Screen {
		return func() tui.Screen {
			o := s.options(viewtest.Plain(), name)
			o.Plans = func(kind, id string) document.Source { return made{scene: s, kind: kind, id: id} }
			return open(o)
		}
	}
	job := func(id string) func() tui.Screen {
		return screen(id, func(o views.Options) tui.Screen { return views.NewJob(o, id) })
	}
	stream := screen(arkincident.StreamReady, func(o views.Options) tui.Screen { return views.NewStream(o, "node-a", arkincident.StreamReady) })
	command := func(name string) []string { return append(strings.Split(":"+name, ""), "enter") }
	viewtest.Goldens(t, map[string]viewtest.Case{
		"plan-savepoint": {Screen: job(arkincident.JobInOrder), Keys: command("savepoint")},
		"plan-restart":   {Screen: stream, Keys: command("restart")},
	})
}

// Only what applies is offered: rounds of a job, what its upgrade can be asked for in
// the phase that it is in, and the restart of a stream. Nothing where no plans are made.
func TestPlansAreOfferedWhereTheyApply(t *testing.T) {
	s := newScene(t)
	d, err := source{scene: s}.Job(t.Context(), arkincident.JobInOrder)
	if err != nil {
		t.Fatal(err)
	}
	upgrade := func(phase string, active bool) *arkflow.UpgradeState {
		return &arkflow.UpgradeState{ID: "job-upgrade-12", Phase: &phase, Active: active}
	}
	o := s.options(viewtest.Plain(), arkincident.JobInOrder)
	o.Plans = func(kind, id string) document.Source { return made{scene: s, kind: kind, id: id} }
	for name, tt := range map[string]struct {
		upgrade *arkflow.UpgradeState
		want    string
	}{
		"no upgrade":         {nil, "hub checkpoint savepoint"},
		"one under way":      {upgrade("verifying", true), "hub checkpoint savepoint pause cancel-upgrade"},
		"one that is paused": {upgrade("paused", true), "hub checkpoint savepoint resume cancel-upgrade"},
		"one that has ended": {upgrade("succeeded", false), "hub checkpoint savepoint"},
	} {
		d.Job.Upgrade = tt.upgrade
		o.Source = fixed{job: d}
		driver := open(s, views.NewJob(o, arkincident.JobInOrder), 120, 40)
		for _, keys := range [][]string{{}, {"enter"}, {"v"}} {
			driver.Press(keys...)
			if got := commandsOf(driver); got != tt.want {
				t.Errorf("%s, %v: %s", name, keys, got)
			}
		}
	}
	o.Source = source{scene: s}
	if got := commandsOf(open(s, views.NewStream(o, "node-a", arkincident.StreamReady), 120, 40)); got != "hub restart" {
		t.Errorf("a stream: %s", got)
	}
	o.Plans = nil
	if got := commandsOf(open(s, views.NewStream(o, "node-a", arkincident.StreamReady), 120, 40)) + commandsOf(open(s, views.NewJob(o, arkincident.JobInOrder), 120, 40)); got != "hubhub" {
		t.Errorf("where no plans are made: %s", got)
	}
}

func commandsOf(d *tuitest.Driver) string {
	var names []string
	if c, ok := d.Top().(tui.Commander); ok {
		for _, one := range c.Commands() {
			names = append(names, one.Name)
		}
	}
	return strings.Join(names, " ")
}

// Two points stand side by side: those that were chosen, or the one that was and the
// selected one. What differs is what their manifests say.
func TestTwoPointsAreCompared(t *testing.T) {
	s := newScene(t)
	d := open(s, s.job(arkincident.JobRejected)(), 160, 60)
	for _, tt := range []struct {
		keys []string
		says string
	}{
		{[]string{"="}, "choose two recovery points with space"},
		{[]string{"space", "j", "space", "j", "space", "="}, "3 points are chosen: unchoose all but two"},
		{[]string{"space", "k", "space", "k", "="}, "choose two recovery points with space"},
	} {
		d.Press(tt.keys...)
		if frame := d.Frame(); !strings.Contains(frame, tt.says) {
			t.Errorf("%v does not say %q:\n%s", tt.keys, tt.says, frame)
		}
	}
	d.Press("j", "=")
	job, err := source{scene: s}.Job(t.Context(), arkincident.JobRejected)
	if err != nil {
		t.Fatal(err)
	}
	newer, older := job.Points.Points[0], job.Points.Points[1]
	frame := strings.Join(strings.Fields(d.Frame()), " ")
	rest := frame
	for _, want := range []string{
		newer.ID, older.ID, "state-checksum", "task-set", "the engine's check rejected", "accepted", "a start passes over RESTORES IT", "tasks of the plan 4/4 2/4", "missing tasks –", "tasks ran on node-a 2, node-b 2 node-a 2",
		"1 NOT WHOLE", "Sources go on from", "The same in both", "verdict REJECTED", "kind checkpoint", "on record completed", "job version 1", "state format 1", "replay cost not exposed: no write-ahead log was named",
	} {
		_, after, ok := strings.Cut(rest, want)
		if !ok {
			t.Fatalf("%q is missing or not in its place:\n%s", want, d.Frame())
		}
		rest = after
	}
	for _, p := range newer.Positions {
		if one := arkflow.Number(p.Offset); !strings.Contains(frame, one) {
			t.Errorf("the position %s is not shown:\n%s", one, d.Frame())
		}
	}
	d.Press("=")
	if swapped := strings.Join(strings.Fields(d.Frame()), " "); !strings.Contains(swapped, older.ID+" "+newer.ID) || !strings.Contains(swapped, "tasks of the plan 2/4 4/4") {
		t.Errorf("swapped:\n%s", d.Frame())
	}
}

// What a page is about is read again from it, and what is gone since is said.
func TestReadingAgainFromAPage(t *testing.T) {
	s := newScene(t)
	d := open(s, s.job(arkincident.JobInOrder)(), 120, 40)
	d.Press("enter")
	before := d.Frame()
	s.in.Close()
	d.Press("r")
	if frame := d.Frame(); !strings.Contains(frame, "accepted: every rule passes") {
		t.Errorf("a read that failed took away what was known:\n%s\nbefore:\n%s", frame, before)
	}
	d.Press("esc")
	if frame := d.Frame(); !strings.Contains(frame, "reading again failed, what is shown is older") {
		t.Errorf("nothing says that it is older:\n%s", frame)
	}
}

// Names, words and errors of a hub can't take the terminal over.
func TestHostileBytes(t *testing.T) {
	s := newScene(t)
	h := viewtest.Hostile
	real := source{scene: s}
	d, err := real.Job(t.Context(), arkincident.JobUpgraded)
	if err != nil {
		t.Fatal(err)
	}
	list, err := real.Jobs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d.Job.Observed, d.Job.Convergence, d.Job.LastError, d.Job.ActiveUpdate = &h, &h, &h, &h
	d.Job.Protected.Sentence, d.Job.Health.Sentence, d.Job.Recovery.Sentence, d.Job.Recovery.Under = h, h, h, true
	d.Points.Selection.Why, d.Points.Selection.ID, d.Points.Place = h, h, h
	for i := range d.Points.Points {
		p := &d.Points.Points[i]
		p.ID, p.Status, p.Message, p.Reason, p.URI, p.Engine.Why = h, h, h, h, h, h
		p.Missing = []string{h}
		p.Tasks = append(p.Tasks, arkflow.TaskPlace{Task: h, Node: h})
		p.Positions = append(p.Positions, arkflow.SourcePosition{Topic: &h})
		p.States = append(p.States, arkflow.StateObject{Key: h, Message: h, Tasks: []string{h}, State: arkflow.ObjectState(h)})
		p.Rules = append(p.Rules, inspect.Rule{Title: h, Message: h, Result: inspect.Failed})
	}
	for i := range d.Decisions {
		d.Decisions[i].Subject, d.Decisions[i].Sentence, d.Decisions[i].Evidence, d.Decisions[i].Action = h, h, []string{h}, h
	}
	d.Unchecked, d.Findings = []string{h}, arkflow.Findings(d.Decisions)
	for i := range list.Streams {
		x := &list.Streams[i]
		x.ID, x.Node, x.State, x.LastError, x.Stage, x.Convergence, x.Protected.Sentence = h, h, &h, &h, &h, &h, h
	}
	for i := range list.Jobs {
		list.Jobs[i].ID, list.Jobs[i].Observed, list.Jobs[i].Protected.Sentence = h, &h, h
	}
	list.Hub.Address, list.Hub.Nodes[0].ID, list.Hub.Nodes[0].State = h, h, &h
	list.Findings = d.Findings
	o := s.options(viewtest.Plain(), h)
	o.Source = fixed{d, list}
	for name, root := range map[string]tui.Screen{"job": views.NewJob(o, h), "hub": views.NewHub(o), "stream": views.NewStream(o, h, h)} {
		for _, keys := range [][]string{{}, {"enter"}, {"v"}, {"v", "a"}, {"f"}, {"f", "a"}, {"f", "enter"}, {"space", "j", "="}} {
			driver := open(s, root, 120, 40)
			driver.Press(keys...)
			viewtest.Harmless(t, driver)
			if t.Failed() {
				t.Fatalf("%s %v", name, keys)
			}
		}
	}
}

// fixed is a hub that always says the same.
type fixed struct {
	job  arkflow.JobDetail
	list arkflow.JobList
}

func (f fixed) Jobs(context.Context) (arkflow.JobList, error)          { return f.list, nil }
func (f fixed) Job(context.Context, string) (arkflow.JobDetail, error) { return f.job, nil }
func (f fixed) Replay(_ context.Context, d arkflow.JobDetail, id string) (arkflow.ReplayCost, error) {
	return arkflow.ReplayCost{Point: id, Sentence: viewtest.Hostile}, nil
}

// No screen has a key with two meanings, and each is drawn in ASCII but for its
// signs.
func TestKeysAndSigns(t *testing.T) {
	s := newScene(t)
	for _, keys := range [][]string{{}, {"enter"}, {"enter", "enter"}, {"enter", "v"}, {"enter", "space", "j", "="}, {"enter", "f"}, {"enter", "f", "a"}, {"j", "j", "j", "j", "enter"}} {
		d := tuitest.New(t, viewtest.Options(viewtest.ASCIITheme()), s.list(viewtest.ASCIITheme(), everything()...), 80, 24)
		d.Press(keys...)
		if clashes := tui.Clashes(d.Top().Keys()); len(clashes) > 0 {
			t.Errorf("%v: %v", keys, clashes)
		}
		viewtest.ASCII(t, d)
		if t.Failed() {
			t.Fatalf("%v:\n%s", keys, d.Frame())
		}
	}
}

func TestStorm(t *testing.T) {
	s := newScene(t)
	o := viewtest.Options(viewtest.Plain())
	tuitest.StormWith(t, o, func() tui.Screen { return s.list(viewtest.Plain(), everything()...) })
}
