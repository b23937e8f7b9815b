package kafka_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/kafka"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/access"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkaproxy"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// settingsScene is a data topic as the released job makes it, with one setting
// of somebody's own, and the plan that makes it fit for a cleanup. The tool under
// test reaches the cluster through a proxy; others reach it directly.
type settingsScene struct {
	*testing.T
	cluster *kafkatest.Cluster
	proxy   *kafkaproxy.Proxy
	topic   string
	plan    actions.Document
	lines   *memory
	config  kafkaconn.Config
	before  func(step string) // before a step begins
}

func newSettingsScene(t *testing.T) *settingsScene {
	t.Helper()
	cluster := realCluster(t)
	if cluster == nil {
		cluster = kafkatest.StartFake(t).Cluster
	}
	return newSettingsSceneOn(t, cluster)
}

func newSettingsSceneOn(t *testing.T, cluster *kafkatest.Cluster) *settingsScene {
	t.Helper()
	s := &settingsScene{T: t, cluster: cluster, proxy: kafkaproxy.Start(t, cluster.Brokers()...), lines: &memory{}}
	s.topic = cluster.Topic(t, 2, map[string]string{"cleanup.policy": "compact", "segment.ms": "3600000"})
	s.config = kafkaconn.Config{Brokers: s.proxy.Brokers(), DialTimeout: patience, RequestTimeout: impatience}
	s.plan = s.planNow()
	t.Cleanup(s.mustHold)
	return s
}

// data is the topic as others see it.
func (s *settingsScene) data() inspect.DataTopic {
	s.Helper()
	c, err := kafka.Dial(s.cluster.Config(), clock.System{})(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	defer c.Close()
	data, err := c.DataTopic(s.Context(), s.topic)
	if err != nil {
		s.Fatal(err)
	}
	return data
}

func (s *settingsScene) planNow() actions.Document {
	s.Helper()
	d, p := actions.SettingsFrom(s.data())
	if p != nil {
		s.Fatal(p.Message)
	}
	return d
}

// own are all settings that the topic has itself.
func (s *settingsScene) own(ctx context.Context) map[string]string {
	s.Helper()
	all, err := s.cluster.Admin().DescribeTopicConfigs(ctx, s.topic)
	if err != nil || len(all) != 1 || all[0].Err != nil {
		s.Fatal(err, all)
	}
	out := make(map[string]string)
	for _, c := range all[0].Configs {
		if c.Source == kmsg.ConfigSourceDynamicTopicConfig {
			out[c.Key] = *c.Value
		}
	}
	return out
}

// mustHold is what no fault may break: the topic's own setting stays, and the
// others are all as before or all as planned.
func (s *settingsScene) mustHold() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	own := s.own(ctx)
	delete(own, "segment.ms")
	before, planned := map[string]string{"cleanup.policy": "compact"}, safeSettings
	if s.own(ctx)["segment.ms"] != "3600000" || !maps.Equal(own, before) && !maps.Equal(own, planned) {
		s.Errorf("the topic's own settings are %v", s.own(ctx))
	}
}

// start begins an apply of the plan.
func (s *settingsScene) start() (*actions.Run, func()) {
	s.Helper()
	job := inspect.Job{Topic: s.topic}
	report := actions.SettingsReport(s.plan, actions.SettingsEvidence{Job: job, At: time.Now(), Data: s.data()})
	answer := actions.Answer{Digits: s.plan.PlanID, Reason: "before the first cleanup", At: time.Now()}
	for _, w := range report.Warnings {
		answer.Accept = append(answer.Accept, w.Name)
	}
	approval, _, err := actions.Ask(actions.Question{Plan: s.plan, Report: report, Environment: access.Production, Profile: "orders", Subject: s.topic}, answer)
	if err != nil {
		s.Fatal(err)
	}
	change := kafka.NewSettings(kafka.SettingsConfig{Connect: kafka.DialSettings(s.config, clock.System{}), Job: job, Plan: s.plan})
	steps := change.Doers()
	for i, d := range steps {
		steps[i] = telling(d, s.before)
	}
	run, err := actions.Start(s.Context(), actions.RunPlan{
		Plan: s.plan, Report: report, Approval: approval, Who: actions.Operator{User: "ops", Host: "bastion", Profile: "orders", Job: "order-agent"},
		Steps: steps, Verify: change.Verify, Journal: s.lines, Clock: clock.System{}, Timeout: patience,
	})
	if err != nil {
		s.Fatal(err)
	}
	return run, change.Close
}

func (s *settingsScene) apply() (actions.ApplyResult, error) {
	s.Helper()
	run, end := s.start()
	defer end()
	return run.Wait()
}

// told is a step before which a test does something.
type toldStep struct {
	actions.Doer
	before func(string)
}

func (t toldStep) Do(ctx context.Context, p *actions.StepProgress) (string, error) {
	t.before(t.Step().Name)
	return t.Doer.Do(ctx, p)
}

type toldWriter struct {
	actions.Describer
	before func(string)
}

func (t toldWriter) Do(ctx context.Context, p *actions.StepProgress) (string, error) {
	t.before(t.Step().Name)
	return t.Describer.Do(ctx, p)
}

func telling(d actions.Doer, before func(string)) actions.Doer {
	if before == nil {
		return d
	}
	if w, writes := d.(actions.Describer); writes {
		return toldWriter{w, before}
	}
	return toldStep{d, before}
}

func (s *settingsScene) sent() int { return len(s.proxy.Requests(kmsg.IncrementalAlterConfigs)) }

func (s *settingsScene) wantApplied() actions.ApplyResult {
	s.Helper()
	s.config.RequestTimeout = patience
	result, err := s.apply()
	if err != nil || result.Verdict != actions.Applied {
		s.Errorf("%s (%s), error %v, %+v", result.Verdict, result.Message, err, result.Steps)
	}
	s.wantOwn(safeSettings)
	return result
}

// wantOwn compares the topic's own settings, beside somebody's own one.
func (s *settingsScene) wantOwn(want map[string]string) {
	s.Helper()
	want = maps.Clone(want)
	want["segment.ms"] = "3600000"
	if got := s.own(s.Context()); !maps.Equal(got, want) {
		s.Errorf("the topic's own settings are %v, want %v", got, want)
	}
}

var asBefore = map[string]string{"cleanup.policy": "compact"}

func TestTheSettingsOfACleanupAreSet(t *testing.T) {
	t.Parallel()
	s := newSettingsScene(t)
	if d := s.data(); actions.CheckSettings(d) == nil {
		t.Fatal("a cleanup would not be refused before")
	}
	result := s.wantApplied()
	if p := actions.CheckSettings(s.data()); p != nil {
		t.Errorf("a cleanup is refused afterwards: %s", p.Message)
	}
	wantLines := "begin\nintent set-settings\noutcome set-settings done\nend  applied"
	if got := strings.Join(s.lines.lines, "\n"); got != wantLines {
		t.Errorf("journal\n%s\nwant\n%s", got, wantLines)
	}
	if s.sent() != 1 || len(result.Facts) != 3 || result.Receipt == nil || result.Receipt.Kind != actions.KindTopicSettings {
		t.Errorf("%d requests, %+v", s.sent(), result)
	}
	t.Run("again: nothing is sent", func(t *testing.T) {
		result := s.wantApplied()
		if s.sent() != 1 || result.Steps[3].State != actions.StepSkipped || !strings.Contains(result.Steps[3].Detail, "nothing is sent") {
			t.Errorf("%d requests, %+v", s.sent(), result.Steps)
		}
	})
	t.Run("verified by others", func(t *testing.T) {
		v := kafka.VerifySettings(t.Context(), kafka.DialSettings(s.cluster.Config(), clock.System{}), s.plan)
		if v.Verdict != actions.Applied || len(v.Facts) != 3 {
			t.Errorf("%+v", v)
		}
	})
}

// What goes over the wire is the planned keys, once each, and nothing else.
func TestOneRequestHoldsExactlyThePlannedKeys(t *testing.T) {
	t.Parallel()
	fake := kafkatest.StartFake(t)
	var mu sync.Mutex
	var seen []string
	fake.Kfake().ControlKey(int16(kmsg.IncrementalAlterConfigs), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		fake.Kfake().KeepControl()
		mu.Lock()
		defer mu.Unlock()
		for _, r := range kreq.(*kmsg.IncrementalAlterConfigsRequest).Resources {
			for _, c := range r.Configs {
				seen = append(seen, fmt.Sprintf("%s %s %s=%s", r.ResourceType, r.ResourceName, c.Name, *c.Value))
			}
		}
		return nil, nil, false
	})
	s := newSettingsSceneOn(t, fake.Cluster)
	s.wantApplied()
	mu.Lock()
	defer mu.Unlock()
	want := []string{"TOPIC " + s.topic + " cleanup.policy=compact,delete", "TOPIC " + s.topic + " retention.ms=-1", "TOPIC " + s.topic + " retention.bytes=-1"}
	if !slices.Equal(seen, want) {
		t.Errorf("sent %q, want %q", seen, want)
	}
}

func TestSomebodyChangesTheTopicBeforeTheSettingsAreSet(t *testing.T) {
	t.Parallel()
	refused := func(t *testing.T, s *settingsScene, stage actions.Stage, reason string, verdict actions.Outcome) {
		t.Helper()
		result, err := s.apply()
		if fault.KindOf(err) != fault.Drift || result.Stage != stage || reasonOf(err) != reason || result.Verdict != verdict || fault.Of(err).Hint == "" {
			t.Errorf("%s at %s with %s: %v; want %s at %s with %s", result.Verdict, result.Stage, reasonOf(err), err, verdict, stage, reason)
		}
		if s.sent() != 0 {
			t.Errorf("%d requests were sent", s.sent())
		}
	}
	t.Run("another limit, before the apply", func(t *testing.T) {
		t.Parallel()
		s := newSettingsScene(t)
		s.set("retention.ms", "86400000")
		refused(t, s, actions.StageSettings, "setting-changed", actions.Contradicted)
		s.unset("retention.ms")
	})
	t.Run("another limit, directly before the request", func(t *testing.T) {
		t.Parallel()
		s := newSettingsScene(t)
		s.before = func(step string) {
			if step == actions.StepSetSettings {
				s.set("retention.ms", "86400000")
			}
		}
		refused(t, s, actions.StageSet, "setting-changed", actions.Contradicted)
		s.unset("retention.ms")
	})
	t.Run("one of the settings, to what the plan wants", func(t *testing.T) {
		t.Parallel()
		s := newSettingsScene(t)
		s.set("retention.ms", "-1")
		s.wantApplied()
	})
	t.Run("all of them, directly before the request: nothing is sent", func(t *testing.T) {
		t.Parallel()
		s := newSettingsScene(t)
		s.before = func(step string) {
			if step == actions.StepSetSettings {
				for name, value := range safeSettings {
					s.set(name, value)
				}
			}
		}
		s.wantApplied()
		if s.sent() != 0 {
			t.Errorf("%d requests were sent", s.sent())
		}
	})
	t.Run("the topic is made again", func(t *testing.T) {
		t.Parallel()
		s := newSettingsScene(t)
		s.before = func(step string) {
			if step == actions.StepSetSettings {
				s.recreate()
			}
		}
		refused(t, s, actions.StageSet, "plan-topic-id-mismatch", actions.Contradicted)
	})
	t.Run("the topic is gone", func(t *testing.T) {
		t.Parallel()
		s := newSettingsScene(t)
		s.before = func(step string) {
			if step == actions.StepIdentity {
				if err := s.cluster.DeleteTopic(s.Context(), s.topic); err != nil {
					s.Error(err)
				}
			}
		}
		refused(t, s, actions.StageIdentity, "broker-unknown-topic", actions.Contradicted)
		if err := s.cluster.CreateTopic(s.Context(), s.topic, 1, map[string]string{"cleanup.policy": "compact", "segment.ms": "3600000"}); err != nil {
			t.Fatal(err)
		}
	})
}

func (s *settingsScene) set(name, value string) {
	s.Helper()
	if err := s.cluster.Set(s.Context(), s.topic, name, value); err != nil {
		s.Error(err)
	}
}

// unset takes away what a test set, so that mustHold finds what the plan left.
func (s *settingsScene) unset(name string) {
	s.Helper()
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeTopic, s.topic
	r.Configs = []kmsg.IncrementalAlterConfigsRequestResourceConfig{{Name: name, Op: kmsg.IncrementalAlterConfigOpDelete}}
	req.Resources = append(req.Resources, r)
	if _, err := req.RequestWith(s.Context(), s.cluster.Client()); err != nil {
		s.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, still := s.own(s.Context())[name]; !still {
			return
		}
		if time.Now().After(end) {
			s.Fatalf("%s is still set", name)
		}
	}
}

func (s *settingsScene) recreate() {
	s.Helper()
	if err := s.cluster.RecreateTopic(s.Context(), s.topic, 2, map[string]string{"cleanup.policy": "compact", "segment.ms": "3600000"}); err != nil {
		s.Error(err)
	}
}

// Kafka changes settings by the topic's name. A topic that is made again while
// the request is on its way gets them, which is said and not passed over.
func TestTheTopicIsMadeAgainWhileTheRequestIsOnItsWay(t *testing.T) {
	t.Parallel()
	s := newSettingsScene(t)
	s.config.RequestTimeout = patience
	s.proxy.Inject(t, kafkaproxy.Rule{Key: kmsg.IncrementalAlterConfigs, Do: during(s.recreate)})
	result, err := s.apply()
	if fault.KindOf(err) != fault.Drift || result.Stage != actions.StageAfterChange || reasonOf(err) != "plan-topic-id-mismatch" || result.Verdict != actions.Contradicted ||
		!strings.Contains(err.Error(), "the settings were acknowledged, and then") {
		t.Errorf("%s at %s: %v", result.Verdict, result.Stage, err)
	}
}

func TestTheAnswerToTheSettingsIsLost(t *testing.T) {
	t.Parallel()
	for name, when := range map[string]kafkaproxy.When{"before the broker has them": kafkaproxy.BeforeForward, "when the broker has them": kafkaproxy.AfterForward} {
		for how, do := range map[string]kafkaproxy.Action{"cut": kafkaproxy.Cut(), "silence": kafkaproxy.Drop()} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				s := newSettingsScene(t)
				s.proxy.Inject(t, kafkaproxy.Rule{Key: kmsg.IncrementalAlterConfigs, When: when, Do: do})
				result, err := s.apply()
				step := result.Steps[3]
				if when == kafkaproxy.AfterForward {
					if err != nil || result.Verdict != actions.Applied || step.State != actions.StepDone || !strings.Contains(step.Detail, "reading says that it was done") {
						t.Errorf("%s, %v, %+v", result.Verdict, err, step)
					}
				} else {
					if fault.KindOf(err) != fault.Unreachable || result.Verdict != actions.NotStarted || step.State != actions.StepFailed || result.Stage != actions.StageSet {
						t.Errorf("%s at %s, %v, %+v", result.Verdict, result.Stage, err, step)
					}
					s.wantOwn(asBefore)
				}
				s.wantApplied()
			})
		}
	}
}

// A request that is on its way when its client gave up is found when it arrives:
// whatever was said by then, the same plan ends properly.
func TestTheSettingsArriveLate(t *testing.T) {
	t.Parallel()
	s := newSettingsScene(t)
	held := s.proxy.Inject(t, kafkaproxy.Rule{Key: kmsg.IncrementalAlterConfigs, Do: kafkaproxy.Hold()})
	sent := false
	s.proxy.Inject(t, kafkaproxy.Rule{ // who has given up looks for it, and it comes behind that look
		Key: kafkaproxy.AnyKey, When: kafkaproxy.AfterForward,
		Match: func(r kafkaproxy.Request) bool {
			sent = sent || r.Key == kmsg.IncrementalAlterConfigs
			return sent && r.Key == kmsg.DescribeConfigs
		},
		Do: kafkaproxy.Call(func(ctx context.Context, _ kafkaproxy.Request) error {
			held.Release()
			_, err := s.proxy.Await(ctx, func(r kafkaproxy.Request) bool {
				return r.Key == kmsg.IncrementalAlterConfigs && r.Served > 0
			})
			return err
		}),
	})
	result, err := s.apply()
	if err != nil || result.Verdict != actions.Applied || held.Hits() != 1 {
		t.Errorf("%s, %v: %+v", result.Verdict, err, result.Steps)
	}
	if step := result.Steps[3]; !strings.Contains(step.Detail, "the answer was lost") {
		t.Errorf("%+v", step)
	}
}

// Whichever request of an apply is lost: what is said is true, and the same plan
// goes on.
func TestAnyRequestOfAChangeOfSettingsIsLost(t *testing.T) {
	t.Parallel()
	probe := newSettingsScene(t)
	probe.wantApplied()
	// The first request of a connection is left alone: where it is lost, the
	// program looks whether TLS is spoken there, which the proxy does not.
	isLater := func(r kafkaproxy.Request) bool { return r.Key != kmsg.ApiVersions }
	var requests []kafkaproxy.Request
	for _, r := range probe.proxy.Requests() {
		if isLater(r) {
			requests = append(requests, r)
		}
	}
	if len(requests) < 10 {
		t.Fatalf("an apply has %d requests", len(requests))
	}
	for nth, r := range requests {
		whens := []kafkaproxy.When{kafkaproxy.BeforeForward, kafkaproxy.AfterForward}
		if r.Key != kmsg.IncrementalAlterConfigs { // of a question without an answer it is one which half of it was lost
			whens = whens[nth%2:][:1]
		}
		for _, when := range whens {
			t.Run(fmt.Sprintf("%d %v", nth+1, when), func(t *testing.T) {
				t.Parallel()
				s := newSettingsScene(t)
				lost := s.proxy.Inject(t, kafkaproxy.Rule{Key: kafkaproxy.AnyKey, Match: isLater, Nth: nth + 1, When: when, Do: kafkaproxy.Cut()})
				result, err := s.apply()
				lost.Remove() // an apply that has fewer requests than the first leaves it for the next one
				switch {
				case err == nil:
					s.wantOwn(safeSettings)
				case result.Verdict == actions.NotStarted:
					s.wantOwn(asBefore)
				case result.Verdict == actions.Applied, result.Verdict == actions.Undecided:
				default:
					t.Errorf("%s (%s), %v", result.Verdict, result.Message, err)
				}
				s.wantApplied()
				if s.sent() > 2 {
					t.Errorf("%d requests were sent", s.sent())
				}
			})
		}
	}
}

func TestTheClusterRefusesTheSettings(t *testing.T) {
	t.Parallel()
	refusing := func(t *testing.T, code *kerr.Error, said string) *settingsScene {
		fake := kafkatest.StartFake(t)
		fake.Kfake().ControlKey(int16(kmsg.IncrementalAlterConfigs), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
			resp := kreq.ResponseKind().(*kmsg.IncrementalAlterConfigsResponse)
			r := kmsg.NewIncrementalAlterConfigsResponseResource()
			r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeTopic, kreq.(*kmsg.IncrementalAlterConfigsRequest).Resources[0].ResourceName
			r.ErrorCode, r.ErrorMessage = code.Code, &said
			resp.Resources = append(resp.Resources, r)
			return resp, nil, true
		})
		return newSettingsSceneOn(t, fake.Cluster)
	}
	for name, tt := range map[string]struct {
		code  *kerr.Error
		said  string
		kind  fault.Kind
		words []string
	}{
		"no right":           {kerr.TopicAuthorizationFailed, "", fault.Denied, []string{"the right AlterConfigs on the topic"}},
		"a policy":           {kerr.PolicyViolation, "retention.ms may not be \x1b[31mlifted", fault.Denied, []string{"a policy of the cluster", "may not be"}},
		"a value it rejects": {kerr.InvalidConfig, "Invalid value -1", fault.Config, []string{"does not accept", "Invalid value -1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := refusing(t, tt.code, tt.said)
			result, err := s.apply()
			if fault.KindOf(err) != tt.kind || result.Verdict != actions.NotStarted || result.Stage != actions.StageSet || result.Steps[3].State != actions.StepFailed {
				t.Errorf("%s at %s, %s: %v", result.Verdict, result.Stage, fault.KindOf(err), err)
			}
			for _, words := range tt.words {
				if !strings.Contains(fmt.Sprint(err), words) {
					t.Errorf("%q does not say %q", err, words)
				}
			}
			if strings.Contains(fmt.Sprint(err), "\x1b") {
				t.Errorf("%q holds a control character", err)
			}
			s.wantApplied()
		})
	}
}
