package rollback_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/access"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/apply"
	"github.com/recoverctl/recoverctl/views/document"
	"github.com/recoverctl/recoverctl/views/rollback"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

// arkSource makes and judges plans as the program does, of a job of a hub in memory.
type arkSource struct {
	e     actions.ArkFlowEvidence
	asked *[]rollback.Ask
}

const (
	savepoint = "savepoint-1-1715691600000"
	older     = "savepoint-1-1715688000000"
)

// upgraded is a job that runs version 2 since an upgrade, with a savepoint of
// version 1.
func upgraded() arkSource {
	running, converged := "running", "converged"
	one, two, generation := uint64(1), uint64(2), uint64(4)
	taken := viewtest.Now.Add(-time.Hour)
	return arkSource{asked: &[]rollback.Ask{}, e: actions.ArkFlowEvidence{At: viewtest.Now, Job: &arkflow.JobDetail{
		Hub: arkflow.HubState{Address: "http://hub:8080"},
		Job: arkflow.JobState{ID: "invoices", Version: &two, Desired: &running, Observed: &running, Convergence: &converged, Generation: &generation},
		Versions: []arkflow.VersionState{
			{Version: 2, FormatVersion: &one, Current: true, Selection: arkflow.Selection{Known: true, Why: "no completed savepoint of version 2 and format 1 is whole (policy latest_savepoint): the job would start cold"}},
			{Version: 1, FormatVersion: &one, Restorable: savepoint, Selection: arkflow.Selection{Known: true, ID: savepoint, Why: "the newest completed savepoint that the hub finds whole (policy latest_savepoint)"}},
		},
		Points: arkflow.PointList{Points: []arkflow.Point{{
			ID: savepoint, Kind: inspect.KindSavepoint, Status: "completed", JobVersion: &one, FormatVersion: &one, Created: &taken, Verdict: inspect.Accepted, Engine: arkflow.EngineVerdict{Verdict: inspect.Accepted},
		}}},
	}}}
}

func (s arkSource) Make(ctx context.Context, job inspect.Job, ask rollback.Ask) (document.Made, error) {
	*s.asked = append(*s.asked, ask)
	d, p := actions.ArkFlowRollbackFrom(s.e, ask.Version, "")
	if p != nil {
		return document.Made{}, fault.New(fault.Problem, "make a plan", "no plan can be made: %s", p.Message).WithHint("look at the job")
	}
	return s.Review(ctx, job, d)
}

func (s arkSource) Review(_ context.Context, _ inspect.Job, d actions.Document) (document.Made, error) {
	return document.Made{At: viewtest.Now, Plan: d, Report: actions.ArkFlowReport(d, s.e), Steps: actions.ArkFlowSteps(d),
		File: "/home/ops/rollback.json", Apply: `recoverctl apply /home/ops/rollback.json --reason "…" --access operate`}, nil
}

func (arkSource) Write(context.Context, document.Made) error { return nil }

func (arkSource) Question(made document.Made) actions.Question {
	return actions.Question{Plan: made.Plan, Report: made.Report, Environment: access.Production, Profile: "demo", Subject: made.Plan.Target.Name}
}

func (arkSource) Busy() string { return "" }

func (arkSource) Start(context.Context, inspect.Job, document.Made, apply.Answer) (*apply.Running, error) {
	return nil, fault.New(fault.Busy, "apply", "nothing is carried out in this test")
}

func arkScreen(s arkSource, point string) func() tui.Screen {
	return func() tui.Screen {
		return rollback.NewArkFlow(rollback.Options{Theme: viewtest.Plain(), Job: inspect.Job{Name: "invoices"}, Source: s, Point: point, Version: 1})
	}
}

func TestGoldensOfArkFlow(t *testing.T) {
	nothing := upgraded()
	nothing.e.Job.Versions[1].Restorable, nothing.e.Job.Versions[1].Selection = "", arkflow.Selection{Known: true, Why: "no completed savepoint of version 1 and format 1 is whole (policy latest_savepoint): the job would start cold"}
	viewtest.Goldens(t, map[string]viewtest.Case{
		"arkflow-making":  {Screen: arkScreen(upgraded(), savepoint), Busy: true},
		"arkflow-plan":    {Screen: arkScreen(upgraded(), savepoint)},
		"arkflow-end":     {Screen: arkScreen(upgraded(), savepoint), Keys: []string{"G"}},
		"arkflow-another": {Screen: arkScreen(upgraded(), older)},
		"arkflow-nothing": {Screen: arkScreen(nothing, savepoint)},
	})
}

// A plan is made for the version that was asked for, has none of Flink's questions,
// and says where the hub would restore another point than the one looked at.
func TestAnArkFlowPlanIsOfAVersion(t *testing.T) {
	s := upgraded()
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), arkScreen(s, older)(), 120, 40)
	if len(*s.asked) != 1 || (*s.asked)[0].Version != 1 || (*s.asked)[0].Point != older {
		t.Errorf("%+v", *s.asked)
	}
	frame := d.Frame()
	for _, want := range []string{"from version 2 to 1, restored from " + savepoint, "You looked at " + older} {
		if !strings.Contains(strings.Join(strings.Fields(frame), " "), want) {
			t.Errorf("no %q in\n%s", want, frame)
		}
	}
	for _, k := range d.Top().Keys() {
		for _, key := range k.Keys {
			if strings.Contains("eiz", key) {
				t.Errorf("%s %q is a question about Flink", key, k.Help)
			}
		}
	}
}
