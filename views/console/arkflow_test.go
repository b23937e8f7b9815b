package console_test

import (
	"context"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	views "github.com/recoverctl/recoverctl/views/arkflow"
	"github.com/recoverctl/recoverctl/views/console"
	"github.com/recoverctl/recoverctl/views/document"
	"github.com/recoverctl/recoverctl/views/jobs"
	"github.com/recoverctl/recoverctl/views/rollback"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

// oneHub has a job of version 2 with a point of each version, and a stream.
type oneHub struct{}

func (oneHub) job() arkflow.JobDetail {
	one, two, running, verifying := uint64(1), uint64(2), "running", "verifying"
	at := viewtest.Now.Add(-time.Hour)
	point := func(id string, version *uint64) arkflow.Point {
		return arkflow.Point{ID: id, Kind: inspect.KindSavepoint, Status: "completed", JobVersion: version, FormatVersion: &one, Created: &at, Verdict: inspect.Accepted,
			Engine: arkflow.EngineVerdict{Verdict: inspect.Accepted}, Rules: []inspect.Rule{{Code: "job-version", Title: "its version can be restored", Result: inspect.Passed, Message: "it can"}}}
	}
	decisions := []arkflow.Decision{
		{Row: "T5", Rule: "started-cold", Subject: "job orders", Scope: arkflow.OfJob, Outcome: arkflow.Holds, Severity: inspect.SeverityError, Condition: "it began cold", Sentence: "it began cold", Action: "compare the state"},
		{Row: "30", Rule: "upgrade-active", Subject: "job orders", Scope: arkflow.OfJob, Outcome: arkflow.Clear, Severity: inspect.SeverityWarning, Condition: "an upgrade holds it", Sentence: "none is active"},
	}
	return arkflow.JobDetail{
		Hub:      arkflow.HubState{Address: "http://hub:8080"},
		Job:      arkflow.JobState{ID: "orders", Version: &two, Observed: &running, Desired: &running, Upgrade: &arkflow.UpgradeState{ID: "job-upgrade-12", Phase: &verifying, Active: true}},
		Versions: []arkflow.VersionState{{Version: 2, Current: true}, {Version: 1, Restorable: "savepoint-1", Selection: arkflow.Selection{Known: true, ID: "savepoint-1"}}},
		Points:   arkflow.PointList{Place: "/ckpt", Points: []arkflow.Point{point("savepoint-2", &two), point("savepoint-1", &one)}}, Decisions: decisions, Findings: arkflow.Findings(decisions),
	}
}

// noPlans makes no plan.
type noPlans struct{ document.Source }

func (noPlans) Make(context.Context, inspect.Job) (document.Made, error) {
	return document.Made{}, fault.New(fault.Problem, "make a plan", "the job does not run")
}

func (noPlans) Busy() string { return "" }

func (h oneHub) Job(context.Context, string) (arkflow.JobDetail, error) { return h.job(), nil }

func (oneHub) Replay(_ context.Context, _ arkflow.JobDetail, id string) (arkflow.ReplayCost, error) {
	return arkflow.ReplayCost{Point: id, Sentence: "not exposed: the point holds no source positions"}, nil
}

func (h oneHub) Jobs(context.Context) (arkflow.JobList, error) {
	d, running := h.job(), "running"
	return arkflow.JobList{Hub: d.Hub, Jobs: []arkflow.JobState{d.Job}, Streams: []arkflow.StreamState{{Node: "node-a", ID: "orders-eu", State: &running}}, Decisions: d.Decisions, Findings: d.Findings}, nil
}

// openArkFlow is a console on a job of a hub with a log beside it.
func openArkFlow(th theme.Theme) (tui.Options, func() tui.Screen) {
	o := viewtest.Options(th)
	make := func() (tui.Screen, []tui.Command) {
		entry := views.NewEntry(views.Options{
			Theme: th, Now: viewtest.Clock, Job: inspect.Job{Name: "orders"}, Source: oneHub{}, Log: oneLog{}, Rollbacks: func(string) rollback.Source { return noRollbacks{} },
			Plans: func(string, string) document.Source { return noPlans{} },
		}, "arkflow orders")
		return console.New(console.Options{Theme: th, Now: viewtest.Clock, Jobs: []inspect.Job{{Name: "orders"}}, Others: map[int]jobs.Other{0: entry}, Connections: list})
	}
	_, o.Commands = make()
	return o, func() tui.Screen {
		root, _ := make()
		return root
	}
}

// arkflowWalks lead to every screen of ArkFlow.
var arkflowWalks = map[string][]string{
	"Jobs":          {},
	"job":           {"enter"},
	"lower version": {"enter", "j"},
	"point":         {"enter", "enter"},
	"restore check": {"enter", "v"},
	"all rules":     {"enter", "v", "a"},
	"findings":      {"enter", "f"},
	"all findings":  {"enter", "f", "a"},
	"finding":       {"enter", "f", "enter"},
	"log":           {"enter", "L"},
	"no rollback":   {"enter", "j", "u"},
	"checkpoint":    {"enter", ":", "c", "h", "e", "c", "k", "p", "o", "i", "n", "t", "enter"},
	"pause":         {"enter", ":", "p", "a", "u", "s", "e", "enter"},
	"compare":       {"enter", "space", "j", "="},
	"hub":           {":", "h", "u", "b", "enter"},
	"hub's job":     {":", "h", "u", "b", "enter", "enter"},
	"hub's stream":  {":", "h", "u", "b", "enter", "j", "enter"},
	"restart":       {":", "h", "u", "b", "enter", "j", "enter", ":", "r", "e", "s", "t", "a", "r", "t", "enter"},
}

func TestNoKeyOfArkFlowIsDead(t *testing.T) { noKeyIsDead(t, openArkFlow, arkflowWalks) }

func TestKeysOfArkFlowMeanTheSame(t *testing.T) { keysMeanTheSame(t, openArkFlow, arkflowWalks) }

func TestStormOnArkFlow(t *testing.T) {
	o, root := openArkFlow(viewtest.Plain())
	tuitest.StormWith(t, o, root)
}

// arkflowPages are the tables of keys of ArkFlow's screens.
func arkflowPages(t *testing.T) []tui.Documented {
	t.Helper()
	var out []tui.Documented
	for _, page := range []struct{ name, walk string }{
		{"ArkFlow job", "lower version"}, {"Recovery point of ArkFlow", "point"}, {"Restore check of ArkFlow", "restore check"}, {"Compare of ArkFlow", "compare"}, {"Findings of ArkFlow", "findings"},
		{"Rollback plan of ArkFlow", "no rollback"}, {"Plan of an ArkFlow checkpoint", "checkpoint"}, {"Plan of an ArkFlow stream's restart", "restart"}, {"ArkFlow hub", "hub"}, {"Stream of ArkFlow", "hub's stream"},
	} {
		o, root := openArkFlow(theme.New(theme.Options{}))
		d := tuitest.New(t, o, root(), 120, 40)
		d.Press(arkflowWalks[page.walk]...)
		out = append(out, documented(page.name, d.Top()))
	}
	return out
}

func TestArkFlowInASCII(t *testing.T) { inASCII(t, openArkFlow, arkflowWalks) }

func TestArkFlowInTheSmallestTerminal(t *testing.T) {
	inTheSmallestTerminal(t, openArkFlow, arkflowWalks)
}
