package actions_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/access"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
)

// topicWith is the data topic with these settings, each as "name=value (source)".
func topicWith(settings ...string) inspect.DataTopic {
	data := compactOnly()
	for _, text := range settings {
		name, rest, _ := strings.Cut(text, "=")
		value, source, _ := strings.Cut(strings.TrimSuffix(rest, ")"), " (")
		i := slices.IndexFunc(data.Settings, func(s inspect.Setting) bool { return s.Name == name })
		data.Settings[i] = inspect.Setting{Name: name, Value: value, Source: source}
	}
	return data
}

// facts are a plan's facts as text.
func facts(d actions.Document) string {
	var out []string
	for _, f := range d.Facts {
		out = append(out, fmt.Sprintf("%s: %s (%s) → %s", f.Name, *f.Before, f.Source, *f.After))
	}
	return strings.Join(out, "; ")
}

func TestThePlanSetsWhatACleanupNeeds(t *testing.T) {
	tests := map[string]struct {
		data inspect.DataTopic
		want string
	}{
		"as the released job makes it": {compactOnly(),
			"cleanup.policy: compact (topic) → compact,delete; retention.ms: 604800000 (default) → -1; retention.bytes: -1 (default) → -1"},
		"as a new job makes it, with one limit set": {topicWith("cleanup.policy=compact,delete (topic)", "retention.ms=86400000 (topic)", "retention.bytes=-1 (topic)"),
			"retention.ms: 86400000 (topic) → -1"},
		"delete alone": {topicWith("cleanup.policy=delete (topic)", "retention.ms=-1 (topic)", "retention.bytes=-1 (topic)"),
			"cleanup.policy: delete (topic) → compact,delete"},
		"the brokers' policy": {topicWith("cleanup.policy=delete (default)", "retention.ms=-1 (broker)", "retention.bytes=-1 (topic)"),
			"cleanup.policy: delete (default) → compact,delete; retention.ms: -1 (broker) → -1"},
		"right, but inherited": {topicWith("cleanup.policy=delete, compact (topic)", "retention.ms=-1 (topic)", "retention.bytes=-1 (default)"),
			"retention.bytes: -1 (default) → -1"},
		"no policy at all": {topicWith("cleanup.policy= (topic)", "retention.ms=-1 (topic)", "retention.bytes=-1 (topic)"),
			"cleanup.policy:  (topic) → compact,delete"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d, p := actions.SettingsFrom(tt.data)
			if p != nil {
				t.Fatal(p.Message)
			}
			if got := facts(d); got != tt.want {
				t.Errorf("the plan is\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestWhereNoSettingsPlanIsMade(t *testing.T) {
	change := func(f func(*inspect.DataTopic)) inspect.DataTopic {
		data := compactOnly()
		f(&data)
		return data
	}
	for name, tt := range map[string]struct {
		data inspect.DataTopic
		code string
	}{
		"everything is as needed": {topicWith("cleanup.policy=delete,compact (topic)", "retention.ms=-1 (topic)", "retention.bytes=-1 (topic)"), actions.SettingsAsNeeded},
		"there is no topic":       {inspect.DataTopic{Name: "action-state"}, "broker-unknown-topic"},
		"brokers without topic ids": {change(func(d *inspect.DataTopic) {
			d.TopicID = inspect.ZeroTopicID
		}), "zero-topic-id"},
		"a cluster without an id":       {change(func(d *inspect.DataTopic) { d.ClusterID = "" }), "cluster-id-unknown"},
		"a setting that was not read":   {change(func(d *inspect.DataTopic) { d.Settings = d.Settings[:1] }), "setting-unknown"},
		"a policy of which we know not": {topicWith("cleanup.policy=compact,tier (topic)"), "cleanup-policy-unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			if d, p := actions.SettingsFrom(tt.data); p == nil || p.Code != tt.code {
				t.Errorf("%+v, problem %v, want %s", d, p, tt.code)
			}
		})
	}
}

// Whatever a topic's settings are: no plan sets anything else, or to anything
// else, than what a cleanup needs.
func TestNoPlanSetsAnotherKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source := rapid.SampledFrom([]string{"topic", "broker", "default"})
		policy := rapid.SampledFrom([]string{"compact", "delete", "compact,delete", " delete , compact", "", "other", "compact,other"})
		limit := rapid.OneOf(rapid.Just("-1"), rapid.Just("0"), rapid.StringMatching(`[0-9]{1,12}`))
		data := topicWith("cleanup.policy="+policy.Draw(t, "policy")+" ("+source.Draw(t, "s1")+")",
			"retention.ms="+limit.Draw(t, "ms")+" ("+source.Draw(t, "s2")+")", "retention.bytes="+limit.Draw(t, "bytes")+" ("+source.Draw(t, "s3")+")")
		data.Settings = append(data.Settings, inspect.Setting{Name: rapid.StringMatching(`[a-z.]{1,12}`).Draw(t, "name"), Value: "x", Source: "topic"})
		d, p := actions.SettingsFrom(data)
		if p != nil {
			return
		}
		want := map[string]string{"cleanup.policy": "compact,delete", "retention.ms": "-1", "retention.bytes": "-1"}
		for _, f := range d.Facts {
			if want[f.Name] == "" || *f.After != want[f.Name] {
				t.Fatalf("the plan sets %s=%s", f.Name, *f.After)
			}
			delete(want, f.Name)
		}
		// Once it is carried out, a cleanup is not refused.
		for _, f := range d.Facts {
			i := slices.IndexFunc(data.Settings, func(s inspect.Setting) bool { return s.Name == f.Name })
			data.Settings[i] = inspect.Setting{Name: f.Name, Value: *f.After, Source: "topic"}
		}
		if p := actions.CheckSettings(data); p != nil {
			t.Fatalf("a cleanup is refused after the plan: %s", p.Message)
		}
		if _, p := actions.SettingsFrom(data); p == nil || p.Code != actions.SettingsAsNeeded {
			t.Fatalf("a second plan: %v", p)
		}
		if v := actions.JudgeSettings(d, data, nil); v.Verdict != actions.Applied {
			t.Fatalf("the verdict is %s: %s", v.Verdict, v.Message)
		}
	})
}

func TestWhatHasBecomeOfASettingsPlan(t *testing.T) {
	d := settingsPlan(t)
	planned := []string{"cleanup.policy=delete,compact (topic)", "retention.ms=-1 (topic)", "retention.bytes=-1 (topic)"}
	denied := fault.New(fault.Denied, "describe settings", "the cluster denies the right DescribeConfigs")
	tests := map[string]struct {
		data    inspect.DataTopic
		err     error
		verdict actions.Outcome
		message string
		states  string
		refused string // with which reason word an apply would be, as things are
	}{
		"nothing was done":   {compactOnly(), nil, actions.NotStarted, "as the plan found it", "before before before", ""},
		"all is done":        {topicWith(planned...), nil, actions.Applied, "as re-read (3 settings)", "planned planned planned", ""},
		"one is done":        {topicWith(planned[0]), nil, actions.Partial, "cleanup.policy is as planned, and retention.ms and retention.bytes", "planned before before", ""},
		"somebody's limit":   {topicWith(planned[0], "retention.ms=1000 (topic)"), nil, actions.Contradicted, "retention.ms of topic", "planned other before", "setting-changed"},
		"another default":    {topicWith("retention.ms=86400000 (broker)"), nil, actions.Contradicted, "somebody changed it", "before other before", "setting-changed"},
		"a default of ours":  {topicWith("retention.ms=-1 (broker)"), nil, actions.Contradicted, "somebody changed it", "before other before", "setting-changed"},
		"the same, set here": {topicWith("retention.ms=604800000 (topic)"), nil, actions.NotStarted, "as the plan found it", "before before before", ""},
		"no topic":           {inspect.DataTopic{Name: names.Data, ClusterID: "4L6g3nShT-eMCtK--X86sw"}, nil, actions.Contradicted, "does not exist", "unread unread unread", "broker-unknown-topic"},
		"another topic":      {func() inspect.DataTopic { x := topicWith(planned...); x.TopicID = names.DataID2; return x }(), nil, actions.Contradicted, "has the id", "unread unread unread", "plan-topic-id-mismatch"},
		"another cluster":    {func() inspect.DataTopic { x := topicWith(planned...); x.ClusterID = "other"; return x }(), nil, actions.Contradicted, `this is the cluster "other"`, "unread unread unread", "plan-cluster-mismatch"},
		"no answer":          {inspect.DataTopic{}, fault.New(fault.Unreachable, "", "no answer in time"), actions.Undecided, "no answer in time", "unread unread unread", "plan-topic"},
		"settings denied":    {func() inspect.DataTopic { x := compactOnly(); x.Settings = nil; return x }(), denied, actions.Undecided, "denies the right DescribeConfigs", "unread unread unread", "setting-unknown"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v := actions.JudgeSettings(d, tt.data, tt.err)
			var states []string
			for _, f := range v.Facts {
				states = append(states, string(f.State))
			}
			if v.Verdict != tt.verdict || !strings.Contains(v.Message, tt.message) || strings.Join(states, " ") != tt.states || v.PlanID != d.PlanID {
				t.Errorf("%s (%s), facts %s; want %s (%s), %s", v.Verdict, v.Message, states, tt.verdict, tt.message, tt.states)
			}
			r := actions.SettingsReport(d, actions.SettingsEvidence{Job: inspect.Job{Topic: names.Data}, At: at, Data: tt.data, DataErr: tt.err})
			switch {
			case tt.err != nil && !tt.data.Exists:
				if r.Refused != nil || len(r.Warnings) == 0 || r.Warnings[0].Name != actions.NotChecked {
					t.Errorf("what was not read: refused %v, warnings %v", r.Refused, r.Warnings)
				}
			case tt.refused == "" && r.Refused != nil, tt.refused != "" && (r.Refused == nil || r.Refused.Problem.Code != tt.refused):
				t.Errorf("refused %v, want %q", r.Refused, tt.refused)
			case r.Refused != nil && fault.Of(actions.Refuse(r.Refused.Stage, &r.Refused.Problem)).Hint == "":
				t.Errorf("%s has no hint", r.Refused.Problem.Code)
			}
			if r.Verdict != v.Verdict || r.About() != d.PlanID || r.Hash() == "" {
				t.Errorf("the report says %s of %s", r.Verdict, r.About())
			}
		})
	}
}

func TestAPlanOfAnotherJobsTopicIsRefused(t *testing.T) {
	d := settingsPlan(t)
	data := compactOnly()
	data.Name = "other"
	r := actions.SettingsReport(d, actions.SettingsEvidence{Job: inspect.Job{Topic: "other"}, At: at, Data: data})
	if r.Refused == nil || r.Refused.Problem.Code != "plan-topic-mismatch" {
		t.Errorf("%v", r.Refused)
	}
}

func TestWhatTheReportSays(t *testing.T) {
	report := func(data inspect.DataTopic, changed ...inspect.DataTopic) actions.DocumentReport {
		d, p := actions.SettingsFrom(data)
		if p != nil {
			t.Fatal(p.Message)
		}
		now := data
		if changed != nil {
			now = changed[0]
		}
		return actions.SettingsReport(d, actions.SettingsEvidence{Job: inspect.Job{Topic: names.Data}, At: at, Data: now})
	}
	warned := func(r actions.DocumentReport) (out []string) {
		for _, w := range r.Warnings {
			out = append(out, w.Name)
		}
		return out
	}
	says := func(list []string, text string) bool {
		return slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, text) })
	}
	r := report(compactOnly())
	if !says(r.Does, "cleanup.policy becomes compact,delete, set on the topic itself (now compact, set on the topic)") ||
		!says(r.Does, "retention.bytes becomes -1, set on the topic itself (now -1, Kafka's default)") ||
		!says(r.Does, "With delete beside compact") || !says(r.Stays, "compact alone") || !says(r.NotKnown, "AlterConfigs") || warned(r) != nil {
		t.Errorf("of a topic that was compacted alone: %+v", r)
	}
	// A limit of a topic that was only compacted had no effect: nothing grows.
	if r := report(topicWith("cleanup.policy=delete (topic)", "retention.ms=-1 (topic)")); !slices.Equal(warned(r), []string{actions.CompactionBegins}) {
		t.Errorf("of a topic that was not compacted: %v", r.Warnings)
	}
	r = report(topicWith("cleanup.policy=compact,delete (topic)"))
	if !slices.Equal(warned(r), []string{actions.RetentionLifted}) || !says(r.Does, "nothing but a reviewed cleanup moves the start of the log") || !strings.Contains(r.Warnings[0].Message, "retention.ms=604800000") {
		t.Errorf("of a topic with a limit: %+v", r)
	}
	done := topicWith("cleanup.policy=compact,delete (topic)", "retention.ms=-1 (topic)", "retention.bytes=-1 (topic)")
	if r := report(topicWith("cleanup.policy=delete (topic)"), done); warned(r) != nil || !says(r.Notes, "sends nothing") || !says(r.Does, "cleanup.policy is compact,delete already") {
		t.Errorf("of a plan that is applied: %+v", r)
	}
	for _, name := range []string{actions.CompactionBegins, actions.RetentionLifted} {
		if !actions.IsWarningName(name) {
			t.Errorf("%s can't be accepted", name)
		}
	}
}

func TestAReportIsApprovedAsItWasRead(t *testing.T) {
	d := settingsPlan(t)
	e := actions.SettingsEvidence{Job: inspect.Job{Topic: names.Data}, At: at, Data: compactOnly()}
	q := actions.Question{Plan: d, Report: actions.SettingsReport(d, e), Environment: access.Production, Profile: "orders", Subject: names.Data}
	phrase, err := q.Phrase()
	if err != nil || phrase.String() != "orders/action-state "+d.PlanID[:8] {
		t.Fatalf("phrase %s, %v", phrase, err)
	}
	approval, _, err := actions.Ask(q, actions.Answer{Phrase: phrase.String(), Reason: "first cleanup", At: at})
	if err != nil {
		t.Fatal(err)
	}
	e.At = at.Add(time.Hour)
	if err := approval.Covers(d, actions.SettingsReport(d, e)); err != nil {
		t.Errorf("the same facts, read an hour later: %v", err)
	}
	e.Data = topicWith("retention.ms=604800000 (topic)")
	if err := approval.Covers(d, actions.SettingsReport(d, e)); fault.KindOf(err) != fault.Denied {
		t.Errorf("another source of a value: %v", err)
	}
	plan, incident := incident()
	if err := approval.Covers(plan, actions.NewReport(plan, incident)); fault.KindOf(err) != fault.Denied {
		t.Errorf("a cleanup: %v", err)
	}
}

// Every kind of plan goes through the same run: journal, steps, verdict, receipt.
func TestARunTakesAPlanOfAnyKind(t *testing.T) {
	s := newStage(t)
	d := settingsPlan(t)
	r := actions.SettingsReport(d, actions.SettingsEvidence{Job: inspect.Job{Topic: names.Data}, At: at, Data: compactOnly()})
	approval, _, err := actions.Ask(actions.Question{Plan: d, Report: r, Environment: access.Staging, Profile: "orders", Subject: names.Data},
		actions.Answer{Digits: d.PlanID[:8], Reason: "first cleanup", At: at})
	if err != nil {
		t.Fatal(err)
	}
	s.verdict = actions.JudgeSettings(d, topicWith("cleanup.policy=compact,delete (topic)", "retention.ms=-1 (topic)", "retention.bytes=-1 (topic)"), nil)
	s.plan.Plan, s.plan.Report, s.plan.Approval, s.plan.Steps = d, r, approval, nil
	for _, step := range actions.SettingsSteps(d) {
		s.plan.Steps = append(s.plan.Steps, describing{&fakeStep{stage: s, step: step}})
	}
	s.plan.Clock = clock.NewFake(at)
	run := s.start(context.Background())
	result, err := ended(t, run)
	if err != nil || result.Verdict != actions.Applied || len(result.Facts) != 3 || len(result.Partitions) != 0 {
		t.Errorf("%+v, %v", result, err)
	}
	lines := run.Snapshot().Journal
	if len(lines) != 4 || lines[0].Kind != "topic-settings" || lines[0].Message != "sets cleanup.policy=compact,delete, sets retention.ms=-1, sets retention.bytes=-1" ||
		lines[1].Message != "as it will be" || lines[1].Topic != names.Data || lines[1].TopicID != names.DataID {
		t.Errorf("journal %+v", lines)
	}
	want := `topic-settings ` + d.PlanID + `
verdict      applied: every setting of the plan is the topic's own, as re-read (3 settings)
who          ops@bastion, profile orders
when         2026-03-01T14:03:00Z to 2026-03-01T14:03:00Z
why          first cleanup
topic        action-state, id 6wBnCDrXRZCpbWKBbvCNbQ
cleanup.policy now compact,delete; the plan found compact and makes compact,delete of it
retention.ms now -1; the plan found 604800000 and makes -1 of it
retention.bytes now -1; the plan found -1 and makes -1 of it
report       ` + r.Hash()
	if got := result.Receipt.Text(); got != want {
		t.Errorf("receipt\n%s\nwant\n%s", got, want)
	}
}

// describing is a fake step that says what it is going to write.
type describing struct{ *fakeStep }

func (describing) Intended() string { return "as it will be" }

func TestAReviewSaysWhatChanged(t *testing.T) {
	d := settingsPlan(t)
	review := func(data inspect.DataTopic) actions.DocumentReview {
		return actions.ReviewDocument(d.Encode(), func(d actions.Document) actions.DocumentReport {
			return actions.SettingsReport(d, actions.SettingsEvidence{Job: inspect.Job{Topic: names.Data}, At: at, Data: data})
		})
	}
	if r := review(compactOnly()); !r.Valid || len(r.Drift) != 0 || r.Report == nil || len(r.Facts) != 3 {
		t.Errorf("nothing changed: %+v", r)
	}
	r := review(topicWith("cleanup.policy=compact,delete (topic)", "retention.ms=1 (topic)"))
	if len(r.Drift) != 2 || !r.Drift[0].Allowed || r.Drift[0].Field != "cleanup.policy" || r.Drift[1].Allowed || r.Drift[1].Planned != "604800000" || r.Drift[1].Now != "1" {
		t.Errorf("drift %+v", r.Drift)
	}
	other := compactOnly()
	other.TopicID = names.DataID2
	if r := review(other); len(r.Drift) != 1 || r.Drift[0].Allowed || r.Drift[0].Now != names.DataID2 {
		t.Errorf("another topic: %+v", r.Drift)
	}
	if r := actions.ReviewDocument([]byte("{}"), nil); r.Valid || r.Problem == nil || r.Facts == nil || r.Drift == nil {
		t.Errorf("no plan: %+v", r)
	}
	if r := actions.ReviewDocument(d.Encode(), nil); !r.Valid || r.Report != nil || r.PlanID != d.PlanID {
		t.Errorf("the file alone: %+v", r)
	}
}
