package arkflow_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/arkflow"
	"github.com/recoverctl/recoverctl/inspect"
	inspected "github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/internal/access"
	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/journal"
	"github.com/recoverctl/recoverctl/internal/testkit/arkhubtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// quick is a clock that runs a hundred times as fast as the machine's.
type quick struct{ from time.Time }

func (q quick) Now() time.Time {
	const times = 100
	return q.from.Add(times * time.Since(q.from))
}

// lines is a journal in memory that may be cut off at a line.
type lines struct {
	mu  sync.Mutex
	all []journal.Entry
	cut int // 0: never
}

func (l *lines) Append(e journal.Entry) (journal.Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut > 0 && len(l.all)+1 >= l.cut {
		return e, errors.New("the disk is gone")
	}
	l.all = append(l.all, e)
	return e, nil
}

// ops is who applies plans.
var ops = actions.Operator{User: "ops", Host: "bastion", Profile: "prod", Job: "orders"}

// scene is a hub with one job that takes checkpoints into a folder.
type scene struct {
	*testing.T
	hub   *arkhubtest.Hub
	url   string
	dir   string
	clock clock.Clock
	lines *lines
	plan  actions.Document

	approved func() // what happens between the approval of a plan and its first step; nil: nothing

	timeout  time.Duration // of one request
	patience time.Duration
}

func newScene(t *testing.T, g arkhub.Generation) *scene {
	t.Helper()
	return newSceneOf(t, arkhubtest.Options{Generation: g})
}

func newSceneOf(t *testing.T, o arkhubtest.Options) *scene {
	t.Helper()
	s := &scene{T: t, dir: t.TempDir(), clock: quick{time.Now()}, lines: &lines{}, timeout: 30 * time.Second, patience: 30 * time.Second}
	o.Clock = s.clock
	s.hub = arkhubtest.New(o)
	s.hub.AddNode("node-a")
	s.hub.AddStream("node-a", "heartbeat", "running", "")
	s.url = s.hub.Start(t)
	return s
}

// set makes the job of a version, and waits until it runs.
func (s *scene) set(version int) {
	s.Helper()
	err := s.hub.SetJob(fmt.Sprintf(`{"id":"orders","version":%d,"parallelism":2,"max_parallelism":8,"operators":[{"id":"src","kind":"source"},{"id":"count","kind":"aggregate","stateful":true}],
		"sources":[{"operator_id":"src","input_type":"kafka"}],"state":{"format_version":1},"checkpoint":{"interval_ms":8000,"retention":0,"object_store_uri":"file://%s"}}`, version, s.dir), "running")
	if err != nil {
		s.Fatal(err)
	}
	s.wait("it runs", func(d inspected.JobDetail) bool { return d.Job.Observed != nil && *d.Job.Observed == "running" })
}

func (s *scene) wait(what string, is func(inspected.JobDetail) bool) {
	s.Helper()
	s.until(what, func() bool { return is(*s.evidence().Job) })
}

func (s *scene) sources() arkflow.Sources {
	places, err := flink.New(flink.Options{})
	if err != nil {
		s.Fatal(err)
	}
	return arkflow.Sources{Hub: arkhub.Options{Address: s.url, Pause: time.Millisecond, Timeout: s.timeout}, Job: "orders", Points: inspected.NewPoints(places), Clock: s.clock}
}

func (s *scene) evidence() actions.ArkFlowEvidence {
	s.Helper()
	e, err := s.sources().Gather(s.Context(), "")
	if e.Job == nil {
		s.Fatal(err)
	}
	return e
}

// make makes a plan; the problem is why there is none.
func (s *scene) make(kind string) *inspect.Problem {
	s.Helper()
	var p *inspect.Problem
	switch kind {
	case actions.KindArkFlowRollback:
		s.plan, p = actions.ArkFlowRollbackFrom(s.evidence(), 0, "")
	case actions.KindArkFlowCheckpoint, actions.KindArkFlowSavepoint:
		s.plan, p = actions.ArkFlowRoundFrom(kind, s.evidence(), "")
	case actions.KindArkFlowRestart:
		e, err := s.sources().GatherStream(s.Context(), "node-a", "heartbeat")
		if e.Stream == nil {
			s.Fatal(err)
		}
		s.plan, p = actions.ArkFlowRestartFrom(e, "5f3c92d07be1458a96c0d1e2f3a4b5c6")
	default:
		s.plan, p = actions.ArkFlowUpgradeFrom(kind, s.evidence(), "")
	}
	return p
}

func (s *scene) mustMake(kind string) *scene {
	s.Helper()
	if p := s.make(kind); p != nil {
		s.Fatal(p.Code, p.Message)
	}
	return s
}

// asPlanned is what the plan is judged by: the hub, and the journal of this machine.
func (s *scene) asPlanned() actions.ArkFlowEvidence {
	s.Helper()
	e, err := s.sources().GatherPlan(s.Context(), s.plan)
	if !e.Asked() {
		s.Fatal(err)
	}
	s.lines.mu.Lock()
	defer s.lines.mu.Unlock()
	runs := slices.ContainsFunc(s.lines.all, func(l journal.Entry) bool { return l.PlanID == s.plan.PlanID })
	e.Runs = &runs
	e.Unsettled = actions.OpenRequestsOf(s.lines.all, s.plan.Target, ops.Profile, []string{"payments", ops.Job})
	return e
}

// apply applies the plan from where things are, as a process of its own would. Its
// operator accepts every warning but those about requests that may still come, which
// are accepted where they are named.
func (s *scene) apply(accept ...string) (actions.ApplyResult, *actions.Refusal, error) {
	s.Helper()
	report := actions.ArkFlowReport(s.plan, s.asPlanned())
	if report.Refused != nil {
		return actions.ApplyResult{}, report.Refused, nil
	}
	answer := actions.Answer{Digits: s.plan.PlanID, Reason: "INC-2231", At: time.Now(), Accept: accept}
	for _, w := range report.Warnings {
		if w.Name != actions.RequestUnsettled && w.Name != actions.BegunElsewhere && w.Name != actions.OtherHub {
			answer.Accept = append(answer.Accept, w.Name)
		}
	}
	approval, _, err := actions.Ask(actions.Question{Plan: s.plan, Report: report, Environment: access.Production, Profile: "prod", Subject: "orders"}, answer)
	if err != nil {
		return actions.ApplyResult{}, nil, err
	}
	if s.approved != nil {
		s.approved()
	}
	change, err := arkflow.New(arkflow.Config{Sources: s.sources(), Plan: s.plan, Approved: report, Poll: 15 * time.Millisecond, Patience: s.patience, Settle: 100 * time.Millisecond})
	if err != nil {
		s.Fatal(err)
	}
	defer change.Close()
	run, err := actions.Start(s.Context(), actions.RunPlan{
		Plan: s.plan, Report: report, Approval: approval, Who: ops,
		Steps: change.Doers(), Verify: change.Verify, Journal: s.lines, Clock: clock.System{}, Timeout: 30 * time.Second,
	})
	if err != nil {
		return actions.ApplyResult{}, nil, err
	}
	result, err := run.Wait()
	return result, nil, err
}

// applied applies the plan and wants it to go through.
func (s *scene) applied(accept ...string) {
	s.Helper()
	result, refused, err := s.apply(accept...)
	if err != nil || refused != nil || result.Verdict != actions.Applied {
		s.Fatalf("%s, %v, %v: %s", result.Verdict, refused, err, steps(result))
	}
}

// verdict is what has become of the plan, by the hub and the journal.
func (s *scene) verdict() actions.OperationVerdict {
	s.Helper()
	return actions.JudgeArkFlow(s.plan, s.asPlanned())
}

// byHand is how many checkpoints somebody began.
func (s *scene) byHand() (n int) {
	s.Helper()
	for _, p := range s.evidence().Job.Points.Points {
		if p.Kind == inspect.KindCheckpoint && !strings.HasPrefix(p.ID, "checkpoint-orders-") {
			n++
		}
	}
	return n
}

// effects are what the hub was made to do by plans, beyond what the scene did.
func (s *scene) effects(before int) string {
	var out []string
	for _, e := range s.hub.Effects()[before:] {
		if e != "checkpoint orders" { // they are taken by time, too
			out = append(out, e)
		}
	}
	return strings.Join(out, ", ")
}

func steps(r actions.ApplyResult) string {
	var out []string
	for _, one := range r.Steps {
		out = append(out, one.Name+" "+string(one.State))
	}
	return strings.Join(out, ", ")
}

// post is what somebody else asks the hub for.
func (s *scene) post(path string) { s.Helper(); s.posted(path, "") }

func (s *scene) posted(path, body string) {
	s.Helper()
	res, err := http.Post(s.url+"/api/v1"+path, "application/json", strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	if err := res.Body.Close(); err != nil || res.StatusCode > 299 {
		s.Fatal(res.Status, err)
	}
	http.DefaultClient.CloseIdleConnections()
}
