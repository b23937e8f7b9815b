package viewtest

import (
	"context"
	"errors"
	"io/fs"
	"sync"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/access"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/views/apply"
	"github.com/recoverctl/recoverctl/views/plan"
)

// Plans makes and judges plans from stores that hold answers.
type Plans struct {
	mu    sync.Mutex
	shelf Shelf
	log   Broker
	files map[string]inspect.CleanupPlan
	made  int
	held  error
	extra map[string]string

	// Runs carries out what is approved, and Current knows it.
	Runs    *Runs
	Current *apply.Current
}

var _ plan.Source = (*Plans)(nil)

// NewPlans makes plans from these stores.
func NewPlans(shelf Shelf, log Broker) *Plans {
	return &Plans{shelf: shelf, log: log, files: map[string]inspect.CleanupPlan{}, Runs: NewRuns(), Current: apply.NewCurrent()}
}

// Make implements plan.Source.
func (s *Plans) Make(ctx context.Context, job inspect.Job, uri string) (plan.Made, error) {
	s.mu.Lock()
	s.made++
	s.mu.Unlock()
	point, err := s.shelf.Point(ctx, uri)
	if err != nil {
		return plan.Made{}, err
	}
	made, p := actions.CleanupFrom(point.Markers, uri)
	if p != nil {
		return plan.Made{}, fault.New(fault.Problem, "make a plan", "%s", p.Message)
	}
	return s.Review(ctx, job, made, nil)
}

// Review implements plan.Source.
func (s *Plans) Review(ctx context.Context, job inspect.Job, of inspect.CleanupPlan, shown *actions.Report) (plan.Made, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	consent := 1
	e := actions.Evidence{
		Job: job, At: Now, Data: s.log.Data, DataErr: s.log.DataErr, Control: s.log.Control, ControlErr: s.log.ControlErr, Replication: &consent,
	}
	own, err := s.shelf.Point(ctx, of.SourceRecoveryPoint)
	if err == nil {
		e.Own = &own
	}
	e.OwnErr = err
	var faults []error
	for _, place := range job.RecoveryPoints {
		points, err := s.shelf.Points(ctx, place)
		searched := actions.Searched{Place: place, At: Now, Found: len(points)}
		if err != nil {
			searched.Problem, faults = err.Error(), append(faults, err)
		}
		e.Points, e.Searched = append(e.Points, points...), append(e.Searched, searched)
	}
	_, unjudged := actions.Foresee(of, e)
	return plan.Made{
		Plan: of, Report: actions.NewReport(of, e), Drift: actions.DriftOf(of, e, shown), Unjudged: unjudged,
		Steps: actions.CleanupSteps(e.ControlErr == nil && !e.Control.Exists),
		File:  "/home/ops/plan-" + of.PlanID[:8] + ".json", Apply: "recoverctl apply /home/ops/plan-" + of.PlanID[:8] + `.json --reason "…" --access operate`,
	}, errors.Join(faults...)
}

// Write implements plan.Source: files are kept here.
func (s *Plans) Write(_ context.Context, made plan.Made) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.files[made.File]; there {
		return fault.Wrap(fault.Denied, "write the plan", fs.ErrExist, "%s exists already and is not overwritten", made.File)
	}
	s.files[made.File] = made.Plan
	return nil
}

// Files are the ids of the plans that were written, by file.
func (s *Plans) Files() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := map[string]string{}
	for file, p := range s.files {
		ids[file] = p.PlanID
	}
	return ids
}

// Made is how many plans were made, not only judged.
func (s *Plans) Made() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.made
}

// Answer gives the cluster other answers.
func (s *Plans) Answer(log Broker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = log
}

// Extras are the consents of their own that the last start came with.
func (s *Plans) Extras() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.extra
}

// Hold makes somebody else hold the lock.
func (s *Plans) Hold(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = err
}

// Prepare implements plan.Source.
func (s *Plans) Prepare(ctx context.Context, job inspect.Job, of inspect.CleanupPlan, shown *actions.Report) (plan.Made, error) {
	made, err := s.Review(ctx, job, of, shown)
	s.mu.Lock()
	defer s.mu.Unlock()
	made.Held = s.held
	return made, err
}

// Question implements plan.Source.
func (s *Plans) Question(made plan.Made) actions.Question {
	return actions.Question{Plan: made.Plan, Report: made.Report, Environment: access.Production, Profile: "orders", Subject: made.Plan.Topic}
}

// Busy implements plan.Source.
func (s *Plans) Busy() string { return s.Current.Busy() }

// Start implements plan.Source: the approval is a real one, and so is the run.
func (s *Plans) Start(_ context.Context, _ inspect.Job, made plan.Made, answer apply.Answer) (*apply.Running, error) {
	name := "cleanup " + made.Plan.PlanID[:8]
	if err := s.Current.Reserve(name); err != nil {
		return nil, err
	}
	approval, _, err := actions.Ask(s.Question(made), actions.Answer{
		Phrase: answer.Consent.Phrase(), Reason: answer.Consent.Reason(), Accept: answer.Accepted, At: Now,
	})
	if err != nil {
		s.Current.Forget()
		return nil, err
	}
	s.mu.Lock()
	log := s.log
	s.extra = answer.Extras
	s.mu.Unlock()
	run, err := s.Runs.Start(made, approval, log, answer.Step)
	if err != nil {
		s.Current.Forget()
		return nil, err
	}
	return s.Current.Follow(run, name, answer.Step, func() error { return nil }), nil
}

// Apply applies the plan from a point, with every warning accepted and nobody
// asked. The caller ends the run.
func (s *Plans) Apply(ctx context.Context, uri string, step bool) (*apply.Running, error) {
	made, err := s.Make(ctx, Job(), uri)
	if made.Plan.PlanID == "" {
		return nil, err
	}
	answer := actions.Answer{Digits: made.Plan.PlanID, Reason: "disk pressure INC-2231", At: Now}
	for _, w := range made.Report.Warnings {
		answer.Accept = append(answer.Accept, w.Name)
	}
	approval, _, err := actions.Ask(s.Question(made), answer)
	if err != nil {
		return nil, err
	}
	log := Log()
	log.Control = Control()
	run, err := s.Runs.Start(made, approval, log, step)
	if err != nil {
		return nil, err
	}
	return s.Current.Follow(run, "cleanup "+made.Plan.PlanID[:8], step, func() error { return nil }), nil
}

// Verify implements plan.Source.
func (s *Plans) Verify(_ context.Context, _ inspect.Job, of inspect.CleanupPlan) (actions.OperationVerdict, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := actions.Judge(of, s.log.Control, s.log.ControlErr, s.log.Data, s.log.DataErr)
	r := actions.ReceiptOf(actions.Operator{User: "ops", Host: "bastion", Profile: "orders", Job: "order-agent"}, of.Subject(), v)
	r.Began, r.Ended, r.Reason = Now, Now, "verified only: this machine's journal holds no apply of this plan"
	v.Receipt = &r
	return v, s.log.ControlErr
}
