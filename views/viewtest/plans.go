package viewtest

import (
	"context"
	"errors"
	"io/fs"
	"sync"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/views/plan"
)

// Plans makes and judges plans from stores that hold answers.
type Plans struct {
	mu    sync.Mutex
	shelf Shelf
	log   Broker
	files map[string]inspect.CleanupPlan
	made  int
}

var _ plan.Source = (*Plans)(nil)

// NewPlans makes plans from these stores.
func NewPlans(shelf Shelf, log Broker) *Plans {
	return &Plans{shelf: shelf, log: log, files: map[string]inspect.CleanupPlan{}}
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
