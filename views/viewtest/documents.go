package viewtest

import (
	"context"
	"errors"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/access"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/views/apply"
	"github.com/recoverctl/recoverctl/views/document"
)

// Documents is what the sources of all plans of recoverctl.plan/v1 do alike: files
// are kept in memory, and plans are carried out by the real runner.
type Documents struct {
	Files   map[string]string // what was written, by its path
	Current *apply.Current
}

// NewDocuments makes documents of which none was written.
func NewDocuments() Documents {
	return Documents{Files: map[string]string{}, Current: apply.NewCurrent()}
}

// Write implements document.Handler.
func (d Documents) Write(_ context.Context, made document.Made) error {
	d.Files[made.File] = string(made.Plan.Encode())
	return nil
}

// Question implements document.Handler.
func (d Documents) Question(made document.Made) actions.Question {
	return actions.Question{Plan: made.Plan, Report: made.Report, Environment: access.Production, Profile: "orders", Subject: made.Plan.Target.Name}
}

// Busy implements document.Handler.
func (d Documents) Busy() string { return d.Current.Busy() }

// Run starts a plan as document.Handler's Start does. Each step that writes is done
// by write, which says what came of it; verify judges the whole.
func (d Documents) Run(made document.Made, answer apply.Answer, name string, write func(actions.Step) string, verify func() actions.OperationVerdict) (*apply.Running, error) {
	approval, _, err := actions.Ask(d.Question(made), actions.Answer{Phrase: answer.Consent.Phrase(), Reason: answer.Consent.Reason(), Accept: answer.Accepted, At: Now})
	if err != nil {
		return nil, err
	}
	plan := actions.RunPlan{
		Plan: made.Plan, Report: made.Report, Approval: approval, Who: actions.Operator{User: "ops", Host: "bastion", Profile: "orders"},
		Journal: NewRuns(), Clock: clock.NewFake(Now), Step: answer.Step, Timeout: time.Second,
		Verify: func(context.Context) actions.OperationVerdict { return verify() },
	}
	for _, step := range made.Steps {
		plan.Steps = append(plan.Steps, documentStep{step, write})
	}
	run, err := actions.Start(context.Background(), plan)
	if err != nil {
		return nil, err
	}
	return d.Current.Follow(run, name+" "+made.Plan.PlanID[:8], answer.Step, func() error { return nil }), nil
}

// documentStep is a step on something in memory. No write of it is lost.
type documentStep struct {
	about actions.Step
	write func(actions.Step) string
}

var _ actions.Writer = documentStep{}

func (d documentStep) Step() actions.Step      { return d.about }
func (d documentStep) Skip() string            { return "" }
func (d documentStep) Intent() inspect.Offsets { return nil }
func (d documentStep) Settle(context.Context) (actions.Settlement, string, error) {
	return actions.Unsettled, "", errors.New("nothing was lost")
}

func (d documentStep) Do(context.Context, *actions.StepProgress) (string, error) {
	if d.about.Writes == "" {
		return "read", nil
	}
	return d.write(d.about), nil
}
