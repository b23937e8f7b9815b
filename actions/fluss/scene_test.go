package fluss_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/fluss"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/access"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/flussrpc/write"
	"github.com/recoverctl/recoverctl/internal/journal"
	"github.com/recoverctl/recoverctl/internal/testkit/flusstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	sink  = "orders-sink"
	other = "somebody-elses"
)

var path = flussrpc.TablePath{Database: "shop", Table: "orders"}

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

// live is a Flink that says what a test wants.
type live map[inspect.JobRef]inspect.LiveState

func (l live) Live(_ context.Context, ref inspect.JobRef) (inspect.LiveState, error) {
	if state, found := l[inspect.JobRef{ID: ref.ID, Name: ref.Name}]; found {
		return state, nil
	}
	return inspect.LiveState{}, fault.New(fault.NotFound, "read the job", "no job has that name")
}

// scene is a cluster with a table of two buckets, of 10 and 4 rows, and the entry
// of another producer, which nothing may touch.
type scene struct {
	*testing.T
	cluster *flusstest.Cluster
	table   int64
	lines   *lines
	live    inspect.LiveStore
	plan    actions.Document
	now     func() time.Time
	timeout time.Duration
	opened  func(n int) // called before the nth connection is made
	opens   int
}

func newScene(t *testing.T, settings ...string) *scene {
	t.Helper()
	s := &scene{T: t, lines: &lines{}, now: time.Now, timeout: time.Minute}
	o := flusstest.Options{Settings: map[string]string{}, Now: func() time.Time { return s.now() }}
	for i := 0; i+1 < len(settings); i += 2 {
		o.Settings[settings[i]] = settings[i+1]
	}
	var err error
	if s.cluster, err = flusstest.Start(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.cluster.Close)
	spec := flusstest.ActionState(path, 2)
	if s.table, err = s.cluster.CreateTable(spec); err != nil {
		t.Fatal(err)
	}
	s.rows(0, 10)
	s.rows(1, 4)
	s.stored(other, 0, 1, 1)
	return s
}

// rows appends rows to a bucket.
func (s *scene) rows(bucket int32, n int) {
	s.Helper()
	rows := make([][]any, n)
	for i := range rows {
		rows[i] = []any{"key", []byte("{}"), "agent"}
	}
	if _, err := s.cluster.Append(flussrpc.Log{Table: s.table, Partition: flussrpc.NoPartition}, bucket, 1, rows...); err != nil {
		s.Fatal(err)
	}
}

func (s *scene) client() *flussrpc.Client {
	s.Helper()
	client, err := flussrpc.NewClient(flussrpc.Config{Servers: s.cluster.Servers(), Timeout: s.timeout, Patience: s.timeout})
	if err != nil {
		s.Fatal(err)
	}
	return client
}

// stored registers offsets of buckets 0, 1, … past what a plan does.
func (s *scene) stored(id string, ttl time.Duration, offsets ...int64) {
	s.Helper()
	client := s.client()
	defer client.Close()
	var all []flussrpc.ProducerOffset
	for i, o := range offsets {
		all = append(all, flussrpc.ProducerOffset{Log: flussrpc.Log{Table: s.table, Partition: flussrpc.NoPartition}, Bucket: int32(i), Offset: o})
	}
	if r, err := write.RegisterProducer(s.Context(), client, id, all, ttl); err != nil || r != write.Created {
		s.Fatal(r, err)
	}
}

func (s *scene) deleted(id string) {
	s.Helper()
	client := s.client()
	defer client.Close()
	if err := write.DeleteProducer(s.Context(), client, id); err != nil {
		s.Fatal(err)
	}
}

// kept are the offsets that the coordinator keeps for a producer; nil: none.
func (s *scene) kept(id string) []int64 {
	s.Helper()
	client := s.client()
	defer client.Close()
	entry, _, err := client.ProducerOffsets(s.Context(), id)
	if err != nil {
		s.Fatal(err)
	}
	var out []int64
	for _, o := range entry.Offsets {
		out = append(out, o.Offset)
	}
	return out
}

func (s *scene) keeps(id string, want ...int64) {
	s.Helper()
	if got := s.kept(id); !slices.Equal(got, want) {
		s.Errorf("the coordinator keeps %v for %s, want %v", got, id, want)
	}
}

func (s *scene) sources() fluss.Sources {
	job := inspect.Job{Profile: "prod", Name: "orders"}
	if s.live != nil {
		job.Flink = inspect.RefOf("http://flink:8081", "orders")
	}
	return fluss.Sources{Job: job, Live: s.live, Clock: at{s}, Connect: func() (*flussrpc.Client, error) {
		s.opens++
		if s.opened != nil {
			s.opened(s.opens)
		}
		return s.client(), nil
	}}
}

// at is the scene's clock.
type at struct{ s *scene }

func (a at) Now() time.Time { return a.s.now() }

func offsets(table int64, ends ...int64) actions.ProducerLog {
	log := actions.ProducerLog{Table: table, Partition: flussrpc.NoPartition, Name: path.String()}
	for i, end := range ends {
		log.Buckets = append(log.Buckets, actions.BucketBaseline{Bucket: int32(i), Offset: &end})
	}
	return log
}

// deletes makes the plan that deletes the sink's entry.
func (s *scene) deletes() *scene {
	s.Helper()
	e := s.sources().Look(s.Context(), sink, nil)
	if e.Err != nil {
		s.Fatal(e.Err)
	}
	d, p := actions.ProducerDeleteFrom(e)
	if p != nil {
		s.Fatal(p.Code, p.Message)
	}
	s.plan = d
	return s
}

// registers makes the plan that registers offsets, or is refused.
func (s *scene) registers(ask actions.ProducerAsk) *inspect.Problem {
	s.Helper()
	e := s.sources().Look(s.Context(), sink, ask.Logs)
	if e.Err != nil {
		s.Fatal(e.Err)
	}
	d, p := actions.ProducerRegisterFrom(e, ask)
	if p != nil {
		return p
	}
	s.plan = d
	if refused := actions.CheckProducerPlan(d, e); refused != nil {
		return &refused.Problem
	}
	return nil
}

// registersLatest makes the plan that registers the log ends as they are.
func (s *scene) registersLatest() *scene {
	s.Helper()
	logs, err := s.sources().Latest(s.Context(), path)
	if err != nil {
		s.Fatal(err)
	}
	if p := s.registers(actions.ProducerAsk{Logs: logs, Latest: true}); p != nil {
		s.Fatal(p.Code, p.Message)
	}
	return s
}

func (s *scene) report() actions.DocumentReport {
	s.Helper()
	return actions.ProducerReport(s.plan, s.sources().Gather(s.Context(), s.plan))
}

// apply applies the plan as it is; refused is why that was not begun.
func (s *scene) apply() (result actions.ApplyResult, refused *actions.Refusal, err error) {
	s.Helper()
	e := s.sources().Gather(s.Context(), s.plan)
	if e.Err != nil {
		return result, nil, e.Err
	}
	report := actions.ProducerReport(s.plan, e)
	if report.Refused != nil {
		return result, report.Refused, nil
	}
	answer := actions.Answer{Digits: s.plan.PlanID, Reason: "INC-2231", At: time.Now()}
	for _, w := range report.Warnings {
		answer.Accept = append(answer.Accept, w.Name)
	}
	approval, _, err := actions.Ask(actions.Question{Plan: s.plan, Report: report, Environment: access.Production, Profile: "prod", Subject: sink}, answer)
	if err != nil {
		s.Fatal(err)
	}
	s.opens = 0
	change := fluss.New(fluss.Config{Sources: s.sources(), Plan: s.plan, Approved: report, Settle: 300 * time.Millisecond})
	run, err := actions.Start(s.Context(), actions.RunPlan{
		Plan: s.plan, Report: report, Approval: approval, Who: actions.Operator{User: "ops", Host: "bastion", Profile: "prod", Job: "orders"},
		Steps: change.Doers(), Verify: change.Verify, Journal: s.lines, Clock: clock.System{}, Timeout: time.Minute,
	})
	if err != nil {
		s.Fatal(err)
	}
	result, err = run.Wait()
	return result, nil, err
}

// applied applies the plan and wants it applied.
func (s *scene) applied() actions.ApplyResult {
	s.Helper()
	result, refused, err := s.apply()
	if refused != nil || err != nil || result.Verdict != actions.Applied {
		s.Fatalf("%s, %v, %v: %s", result.Verdict, refused, err, steps(result))
	}
	return result
}

// steps are the steps of a result, as in "plan done, entry done".
func steps(r actions.ApplyResult) string {
	var out []string
	for _, s := range r.Steps {
		out = append(out, s.Name+" "+string(s.State))
	}
	return strings.Join(out, ", ")
}

// wrote counts the calls that change something.
func (s *scene) wrote() (deletes, registers int) {
	for _, c := range s.cluster.Calls() {
		switch c.API {
		case flussrpc.APIDeleteProducer:
			deletes++
		case flussrpc.APIRegisterProducer:
			registers++
		}
	}
	return deletes, registers
}

func warnings(r actions.DocumentReport) string {
	var out []string
	for _, w := range r.Warnings {
		out = append(out, w.Name)
	}
	return strings.Join(out, " ")
}

// says wants words in a text.
func (s *scene) says(text string, words ...string) {
	s.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			s.Errorf("%q does not say %q", text, w)
		}
	}
}
