package kafka_test

import (
	"context"
	"encoding/base64"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkaproxy"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// scene is a data topic of two partitions with 20 records each, and a plan that
// deletes partition 0 up to 10 and partition 1 up to 15. The tool under test
// reaches the cluster through a proxy; others reach it directly.
type scene struct {
	*testing.T
	cluster *kafkatest.Cluster
	proxy   *kafkaproxy.Proxy
	control string
	plan    inspect.CleanupPlan
	lines   *memory
}

// safeSettings are what a data topic must have.
var safeSettings = map[string]string{"cleanup.policy": "compact,delete", "retention.ms": "-1", "retention.bytes": "-1"}

// newScene is on a fake cluster, or on the real one with the build tag "real".
func newScene(t *testing.T) *scene {
	t.Helper()
	if cluster := realCluster(t); cluster != nil {
		return newSceneOn(t, cluster)
	}
	return newSceneOn(t, kafkatest.StartFake(t).Cluster)
}

func newSceneOn(t *testing.T, cluster *kafkatest.Cluster) *scene {
	t.Helper()
	s := &scene{T: t, cluster: cluster, proxy: kafkaproxy.Start(t, cluster.Brokers()...), control: kafkatest.UniqueName("control"), lines: &memory{}}
	t.Cleanup(s.clear)
	data := cluster.Topic(t, 2, safeSettings)
	for p := range int32(2) {
		for range 20 {
			cluster.Put(t, data, p, kafkatest.KV("key", "value"))
		}
	}
	id, err := cluster.TopicID(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	s.plan = s.planOf(data, base64.RawURLEncoding.EncodeToString(id[:]), "file:/ck/job/chk-42", 10, 15)
	// Whatever a test breaks, this holds.
	t.Cleanup(s.mustHold)
	return s
}

func (s *scene) planOf(topic, id, source string, to ...int64) inspect.CleanupPlan {
	plan := inspect.CleanupPlan{SourceRecoveryPoint: source, Topic: topic, TopicID: id, Offsets: inspect.Offsets{}}
	for p, at := range to {
		plan.Offsets[int32(p)] = at
	}
	plan.PlanID = inspect.PlanID(plan.SourceRecoveryPoint, plan.Topic, plan.TopicID, plan.Offsets)
	return plan
}

// clear deletes the control topic, where there is one.
func (s *scene) clear() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if _, err := s.cluster.Admin().DeleteTopics(ctx, s.control); err != nil {
		s.Errorf("delete topic %s: %v", s.control, err)
	}
}

// withControl makes the control topic, empty.
func (s *scene) withControl() *scene {
	s.Helper()
	if err := s.cluster.CreateTopic(s.Context(), s.control, 1, map[string]string{"cleanup.policy": "compact"}); err != nil {
		s.Fatal(err)
	}
	return s
}

func (s *scene) config() kafkaconn.Config {
	return kafkaconn.Config{Brokers: s.proxy.Brokers(), DialTimeout: patience, RequestTimeout: impatience}
}

// Limits of one request. An answer that never comes is waited for as long as the
// limit is; any other has to come within it, on a busy machine too.
const (
	impatience = 4 * time.Second
	patience   = 30 * time.Second // where nothing is in the way
)

// apply is an apply of the scene's plan, with consent to making the control
// topic.
func (s *scene) apply(taps tap) apply {
	replication, control := 1, s.control
	return apply{config: s.config(), plan: s.plan, replication: &replication, tap: taps, journal: s.lines,
		job: inspect.Job{Topic: s.plan.Topic, ControlTopic: &control, KeepRecoveryPoints: 1}}
}

// isRecord reports whether a request writes a record of that status to the
// control topic.
func (s *scene) isRecord(status string) func(kafkaproxy.Request) bool {
	return func(r kafkaproxy.Request) bool {
		return slices.ContainsFunc(r.Parts, func(p kafkaproxy.Part) bool {
			records, err := p.Records()
			return err == nil && p.Topic == s.control && slices.ContainsFunc(records, func(r kmsg.Record) bool { return hasStatus(r, status) })
		})
	}
}

func hasStatus(r kmsg.Record, status string) bool {
	return strings.Contains(string(r.Value), `"status":"`+status+`"`)
}

// mustHold is what no fault may break: nothing is deleted before COMMITTED was
// acknowledged and then read, and never up to an offset below zero.
func (s *scene) mustHold() {
	requests := s.proxy.Requests()
	if err := kafkaproxy.CheckTrims(requests, func(topic string, r kmsg.Record) bool {
		return topic == s.control && hasStatus(r, "COMMITTED")
	}); err != nil {
		s.Error(err)
	}
	written, read := false, false
	for _, r := range requests {
		switch {
		case r.Key == kmsg.Produce && r.Served > 0 && r.About(s.control):
			written = true
		case r.Key == kmsg.Fetch && r.Answered > 0 && r.About(s.control):
			read = written
		case r.Key == kmsg.DeleteRecords && !read:
			s.Errorf("%s: COMMITTED was not read back before", r)
		}
	}
}

func (s *scene) seen() []string {
	s.Helper()
	return seen(s.T, s.cluster.Config(), s.control, map[string]inspect.CleanupPlan{"P": s.plan})
}

// wantControl compares what a reader finds on the control topic.
func (s *scene) wantControl(want ...string) {
	s.Helper()
	if got := s.seen(); !slices.Equal(got, want) {
		s.Errorf("on the control topic %q, want %q", got, want)
	}
}

func (s *scene) wantStarts(want ...int64) {
	s.Helper()
	got, _ := logs(s.T, s.cluster, s.plan.Topic)
	for p, at := range want {
		if got[int32(p)] != at {
			s.Errorf("the log of partition %d starts at %d, want %d", p, got[int32(p)], at)
		}
	}
}

// wantApplied applies the plan again, with nothing in the way, and asks for the
// proper end.
func (s *scene) wantApplied() actions.ApplyResult {
	s.Helper()
	return s.wantAppliedWithin(patience)
}

// wantAppliedWithin is wantApplied where an answer never comes: it is waited for as
// long as the limit of one request is.
func (s *scene) wantAppliedWithin(limit time.Duration) actions.ApplyResult {
	s.Helper()
	a := s.apply(nil)
	a.config.RequestTimeout = limit
	result, err := a.run(s.T)
	if err != nil || result.Verdict != actions.Applied {
		s.Errorf("%s (%s), error %v, %+v", result.Verdict, result.Message, err, result.Steps)
	}
	s.wantControl("P COMMITTED", "P APPLIED")
	s.wantStarts(10, 15)
	return result
}

// wantEnd compares how an apply ended: the verdict, the kind of its error, the
// stage that speaks and the reason word.
func (s *scene) wantEnd(result actions.ApplyResult, err error, verdict actions.Outcome, kind fault.Kind, stage actions.Stage, reason string) {
	s.Helper()
	if err == nil {
		s.Fatalf("it went through: %+v", result)
	}
	type end struct {
		Verdict actions.Outcome
		Kind    fault.Kind
		Stage   actions.Stage
		Reason  string
	}
	got := end{result.Verdict, fault.KindOf(err), result.Stage, reasonOf(err)}
	if want := (end{verdict, kind, stage, reason}); !reflect.DeepEqual(got, want) {
		s.Errorf("got %+v, want %+v: %v\n%+v", got, want, err, result.Steps)
	}
}

func (s *scene) trims() int { return len(s.proxy.Requests(kmsg.DeleteRecords)) }

// begin opens a transaction on the control topic, which hides what is written
// after it.
func (s *scene) begin() *kafkatest.Transaction {
	s.Helper()
	txn, err := s.cluster.Begin(s.Context(), s.control, 0, kafkatest.KV("other", "{}"))
	if err != nil {
		s.Fatal(err)
	}
	return txn
}

func (s *scene) abort(txn *kafkatest.Transaction) {
	s.Helper()
	if err := txn.Abort(s.Context()); err != nil {
		s.Fatal(err)
	}
}

// during does something while a request or its answer stands still.
func during(do func()) kafkaproxy.Action {
	return kafkaproxy.Call(func(context.Context, kafkaproxy.Request) error { do(); return nil })
}

// recordOf is a plan's control record, as another tool writes it.
func recordOf(plan inspect.CleanupPlan, status inspect.OperationStatus) kafkatest.Record {
	return kafkatest.Record{Key: []byte(plan.PlanID), Value: actions.EncodeRecord(plan, status)}
}
