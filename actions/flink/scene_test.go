package flink_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/flink"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/access"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/flinkrest"
	"github.com/recoverctl/recoverctl/internal/journal"
	"github.com/recoverctl/recoverctl/internal/testkit/flinktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	name   = "orders"
	oldID  = "0ddba11000000000000000000000000a"
	newID  = "feedface000000000000000000000001"
	tracer = "c0ffee00000000000000000000000001"
	jarID  = "35efb6bf_job.jar"
	own    = "file:/state/" + oldID + "/chk-7"      // a checkpoint of the job that runs
	saved  = "s3://state/savepoints/savepoint-aa-1" // somebody's savepoint
)

// points judges recovery points as a test says.
type points struct {
	mu      sync.Mutex
	verdict inspect.Verdict
	reason  string
	err     error
	offsets map[string]inspect.Offsets // of merged markers, by URI
}

func (p *points) Point(_ context.Context, uri string) (inspect.RecoveryPoint, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	kind := inspect.KindCheckpoint
	if strings.Contains(uri, "savepoint-") {
		kind = inspect.KindSavepoint
	}
	return inspect.RecoveryPoint{URI: uri, Kind: kind, Merged: inspect.Merged{Offsets: p.offsets[uri]}}, p.err
}

func (p *points) Validate(_ context.Context, _ inspect.Job, uri string) (inspect.RestoreValidation, []error, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := inspect.RestoreValidation{Point: uri, Verdict: p.verdict}
	if p.reason != "" {
		v.Reasons = []inspect.Reason{{Problem: inspect.Problem{Code: "below-committed-boundary", Message: p.reason}}}
	}
	return v, nil, p.err
}

func (p *points) say(verdict inspect.Verdict, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.verdict, p.reason = verdict, reason
}

// lines is a journal in memory.
type lines struct {
	mu  sync.Mutex
	all []journal.Entry
}

func (l *lines) Append(e journal.Entry) (journal.Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, e)
	return e, nil
}

// scene is a cluster with one job that runs, and its jar.
type scene struct {
	*testing.T
	cluster *flinktest.Manager
	points  *points
	lines   *lines
	plan    actions.Document
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{T: t, cluster: flinktest.NewManager(t), points: &points{verdict: inspect.Accepted, offsets: map[string]inspect.Offsets{}}, lines: &lines{}}
	s.cluster.Add(flinktest.Job{ID: oldID, Name: name, Started: time.Now().Add(-time.Hour), Checkpoints: 8, Retain: true, Interval: 1000})
	s.cluster.Upload(jarID)
	return s
}

func (s *scene) sources() flink.Sources {
	return flink.Sources{
		REST: flinkrest.Options{Address: s.cluster.URL, Timeout: time.Minute}, Clock: clock.System{}, Points: s.points,
		Job: inspect.Job{Profile: "prod", Name: "order-agent", Flink: inspect.RefOf(s.cluster.URL, name)},
	}
}

var ask = actions.FlinkAsk{Trigger: tracer, NewJobID: newID, Arguments: []string{"--name", name}, Directory: "s3://state/savepoints"}

func to(point string) actions.FlinkAsk {
	a := ask
	a.Point = point
	return a
}

// make makes a plan of a kind; the problem is why there is none.
func (s *scene) make(kind string, a actions.FlinkAsk) *inspect.Problem {
	s.Helper()
	e, faults := s.sources().Look(s.Context(), a.Point)
	if e.Err != nil || len(faults) > 0 {
		s.Fatal(e.Err, faults)
	}
	var p *inspect.Problem
	switch kind {
	case actions.KindSavepoint:
		s.plan, p = actions.SavepointFrom(e, a)
	case actions.KindStop:
		s.plan, p = actions.StopFrom(e, a)
	case actions.KindCancel:
		s.plan, p = actions.CancelFrom(e)
	default:
		s.plan, p = actions.RollbackFrom(e, a)
	}
	return p
}

func (s *scene) mustMake(kind string, a actions.FlinkAsk) *scene {
	s.Helper()
	if p := s.make(kind, a); p != nil {
		s.Fatal(p.Code, p.Message)
	}
	return s
}

// apply applies the plan as it is; refused is why that was not begun.
func (s *scene) apply() (result actions.ApplyResult, refused *actions.Refusal, err error) {
	s.Helper()
	run, end, refused, err := s.start()
	if refused != nil || err != nil {
		return result, refused, err
	}
	defer end()
	result, err = run.Wait()
	return result, nil, err
}

func (s *scene) start() (*actions.Run, func(), *actions.Refusal, error) {
	s.Helper()
	e, _ := s.sources().Gather(s.Context(), s.plan)
	if e.Err != nil {
		return nil, nil, nil, e.Err
	}
	report := actions.FlinkReport(s.plan, e)
	if report.Refused != nil {
		return nil, nil, report.Refused, nil
	}
	answer := actions.Answer{Digits: s.plan.PlanID, Reason: "INC-2231", At: time.Now()}
	for _, w := range report.Warnings {
		answer.Accept = append(answer.Accept, w.Name)
	}
	approval, _, err := actions.Ask(actions.Question{Plan: s.plan, Report: report, Environment: access.Production, Profile: "prod", Subject: name}, answer)
	if err != nil {
		s.Fatal(err)
	}
	change, err := flink.New(flink.Config{Sources: s.sources(), Plan: s.plan, Poll: time.Millisecond, Patience: 5 * time.Second, Settle: 20 * time.Millisecond})
	if err != nil {
		s.Fatal(err)
	}
	run, err := actions.Start(s.Context(), actions.RunPlan{
		Plan: s.plan, Report: report, Approval: approval, Who: actions.Operator{User: "ops", Host: "bastion", Profile: "prod", Job: "order-agent"},
		Steps: change.Doers(), Verify: change.Verify, Journal: s.lines, Clock: clock.System{}, Timeout: time.Minute,
	})
	if err != nil {
		s.Fatal(err)
	}
	return run, change.Close, nil, nil
}

// steps are the steps of a result, as in "plan done, job done".
func steps(r actions.ApplyResult) string {
	var out []string
	for _, s := range r.Steps {
		out = append(out, s.Name+" "+string(s.State))
	}
	return strings.Join(out, ", ")
}

// wrote compares the changes that the cluster was asked for.
func (s *scene) wrote(want ...string) {
	s.Helper()
	if got := s.cluster.Writes(); !slices.Equal(got, want) {
		s.Errorf("the cluster was changed by %q, want %q", got, want)
	}
}

// mustHold is what no fault may break: one job of the name at most, and no job
// that the plan ended without the savepoint that it says.
func (s *scene) mustHold() {
	s.Helper()
	if active := s.cluster.Active(name); len(active) > 1 {
		s.Errorf("two jobs: %v", active)
	}
	old, _ := s.cluster.Job(oldID)
	if p := actions.FlinkPlanOf(s.plan); p.Savepoints() && (old.State == "CANCELED" || old.State == "FINISHED") && s.cluster.Savepoints() == 0 {
		s.Errorf("the job is %s, and no savepoint was made", old.State)
	}
	if n := s.cluster.Savepoints(); n > 1 {
		s.Errorf("%d savepoints were made", n)
	}
}

func (s *scene) verdict(want actions.Outcome, words string) {
	s.Helper()
	v := flink.Verify(s.Context(), s.sources(), s.plan)
	if v.Verdict != want || !strings.Contains(v.Message, words) {
		s.Errorf("verdict %s: %s; want %s with %q", v.Verdict, v.Message, want, words)
	}
}

func facts(d []actions.FactVerdict) string {
	var out []string
	for _, f := range d {
		now := "nothing"
		if f.Now != nil {
			now = *f.Now
		}
		out = append(out, fmt.Sprintf("%s %s: %s", f.Name, f.State, now))
	}
	return strings.Join(out, "; ")
}
