package actions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// KindTopicSettings is the kind of plan that gives a data topic the settings
// that a cleanup needs.
const KindTopicSettings = "topic-settings"

// SettingsAsNeeded is the reason word for a topic whose settings need no plan.
const SettingsAsNeeded = "settings-as-needed"

const (
	backendKafka = "kafka"
	sourceTopic  = "topic" // of a setting: its own, and no default
)

// SettingsFrom makes the plan that gives a data topic exactly the settings that a
// cleanup needs, as its own: a default that fits today can be another tomorrow.
// Settings that are as needed already are left out, and where none is left the
// problem is SettingsAsNeeded.
func SettingsFrom(data inspect.DataTopic) (Document, *inspect.Problem) {
	switch {
	case !data.Exists:
		return Document{}, refuse("broker-unknown-topic", nil, "topic %s does not exist", quote(data.Name))
	case data.TopicID == inspect.ZeroTopicID:
		return Document{}, refuse("zero-topic-id", nil, "topic %s has no id: the brokers are older than topic ids, and nothing tells this topic from a later one of its name", quote(data.Name))
	case strings.TrimSpace(data.ClusterID) == "":
		return Document{}, refuse("cluster-id-unknown", nil, "the cluster does not say its id: a plan could not tell it from another one")
	}
	var facts []Fact
	for _, s := range requiredSettings(data) {
		now, known := settingOf(data, s.name)
		switch {
		case !known:
			return Document{}, refuse("setting-unknown", inspect.Named{"setting": s.name}, "what %s of topic %s is could not be read", s.name, quote(data.Name))
		case s.fits && now.Source == sourceTopic:
			continue
		}
		if s.name == policySetting {
			if other := otherPolicies(now.Value); len(other) > 0 {
				return Document{}, refuse("cleanup-policy-unknown", inspect.Named{"found": now.Value},
					"cleanup.policy of topic %s holds %s, of which nothing is known here: what would become of it can't be said", quote(data.Name), safetext.Of(strings.Join(other, ", ")))
			}
		}
		before, after := now.Value, s.want
		facts = append(facts, Fact{Name: s.name, Before: &before, Source: now.Source, After: &after})
	}
	if facts == nil {
		return Document{}, refuse(SettingsAsNeeded, nil, "the settings of topic %s are as a cleanup needs them", quote(data.Name))
	}
	target := inspect.PlanTarget{Backend: backendKafka, Cluster: data.ClusterID, Object: objectTopic, Name: data.Name, ID: data.TopicID}
	return newDocument(KindTopicSettings, target, facts, nil)
}

// settingOf is a setting with its source.
func settingOf(data inspect.DataTopic, name string) (inspect.Setting, bool) {
	i := slices.IndexFunc(data.Settings, func(s inspect.Setting) bool { return s.Name == name })
	if i < 0 {
		return inspect.Setting{}, false
	}
	return data.Settings[i], true
}

// otherPolicies are those of a cleanup.policy that a topic of action state never
// has.
func otherPolicies(value string) []string {
	return slices.DeleteFunc(policies(value), func(p string) bool { return p == "compact" || p == "delete" || p == "" })
}

// sameSetting reports whether two values of a setting mean the same: the order
// of policies and the spaces around them mean nothing.
func sameSetting(name, a, b string) bool {
	if name == policySetting {
		return slices.Equal(policies(a), policies(b))
	}
	return a == b
}

// checkTopicSettings are the rules of the kind: a plan that sets anything else
// than what a cleanup needs is none.
func checkTopicSettings(d Document) *inspect.Problem {
	switch {
	case d.Target.Backend != backendKafka || d.Target.Object != objectTopic:
		return refuse("plan-target-unknown", nil, "a plan of the kind %s is for a topic of Kafka, and this one for %s of %s", d.Kind, quote(d.Target.Object), quote(d.Target.Backend))
	case d.Target.ID == inspect.ZeroTopicID:
		return refuse("zero-topic-id", nil, "the plan's topic id is the zero id, which identifies no topic")
	case len(d.Parameters) > 0:
		return refuse("parameter-unknown", nil, "a plan of the kind %s has no parameters", d.Kind)
	}
	for _, f := range d.Facts {
		want, known := wantedSetting(f.Name)
		named := inspect.Named{"setting": f.Name}
		switch {
		case !known:
			return refuse("setting-not-allowed", named, "the plan sets %s, and a cleanup needs only %s, %s and %s", quote(f.Name), policySetting, retentionTime, retentionBytes)
		case f.After == nil || *f.After != want:
			return refuse("setting-not-allowed", named, "the plan makes %s of %s, and a cleanup needs %s", textOrNothing(f.After), f.Name, want)
		case f.Before == nil:
			return refuse("fact-without-before", named, "the plan does not say what %s was", f.Name)
		case !slices.Contains([]string{sourceTopic, "broker", "default"}, f.Source):
			return refuse("fact-source-unknown", named, "the plan has %s from %s, and a topic's setting is from topic, broker or default", f.Name, quote(f.Source))
		case f.Name == policySetting && len(otherPolicies(*f.Before)) > 0:
			return refuse("cleanup-policy-unknown", named, "the plan would take a policy away: cleanup.policy was %s", quote(*f.Before))
		}
	}
	return nil
}

// wantedSetting is what a cleanup needs of a setting, if anything.
func wantedSetting(name string) (want string, known bool) {
	switch name {
	case policySetting:
		return policyWanted, true
	case retentionTime, retentionBytes:
		return retentionWanted, true
	default:
		return "", false
	}
}

// factsNow compares the plan's facts with the settings of the topic.
func (d Document) factsNow(data inspect.DataTopic) []FactVerdict {
	out := make([]FactVerdict, 0, len(d.Facts))
	for _, f := range d.Facts {
		v := FactVerdict{Name: f.Name, Before: f.Before, BeforeSource: f.Source, After: f.After, State: FactUnread}
		if now, known := settingOf(data, f.Name); known {
			v.Now, v.NowSource, v.State = &now.Value, now.Source, f.stateOf(now)
		}
		out = append(out, v)
	}
	return out
}

// stateOf is where a fact stands. A fitting value that is inherited is not what
// the plan makes of it: the topic's own.
func (f Fact) stateOf(now inspect.Setting) FactState {
	switch {
	case now.Source == sourceTopic && f.After != nil && sameSetting(f.Name, now.Value, *f.After):
		return FactPlanned
	case f.Before != nil && sameSetting(f.Name, now.Value, *f.Before):
		return FactBefore
	default:
		return FactOther
	}
}

// CheckSettingsPlan asks whether a plan can be applied to the topic as it is: the
// topic that it was made for, each setting as the plan found it or as it makes
// it. Facts are where they stand.
func CheckSettingsPlan(d Document, job inspect.Job, data inspect.DataTopic) (facts []FactVerdict, refused *Refusal) {
	if p := checkSettingsTarget(d, job, data); p != nil {
		return d.factsNow(inspect.DataTopic{}), &Refusal{Stage: StageIdentity, Problem: *p}
	}
	facts = d.factsNow(data)
	for _, f := range facts {
		switch f.State {
		case FactUnread:
			return facts, &Refusal{Stage: StageSettings, Problem: *refuse("setting-unknown", inspect.Named{"setting": f.Name},
				"what %s of topic %s is could not be read", f.Name, quote(d.Target.Name))}
		case FactOther:
			return facts, &Refusal{Stage: StageSettings, Problem: *refuse("setting-changed", inspect.Named{"setting": f.Name, "found": *f.Now},
				"%s is %s now (%s): the plan found %s, and makes %s of it; somebody changed it since",
				f.Name, safetext.Of(*f.Now), SourceWords(f.NowSource), safetext.Of(*f.Before), *f.After)}
		}
	}
	return facts, nil
}

func checkSettingsTarget(d Document, job inspect.Job, data inspect.DataTopic) *inspect.Problem {
	if data.ClusterID != "" && data.ClusterID != d.Target.Cluster {
		return refuse("plan-cluster-mismatch", inspect.Named{"found": data.ClusterID}, "this is the cluster %s, and the plan is for the cluster %s", quote(data.ClusterID), quote(d.Target.Cluster))
	}
	return checkTopic(d.Target.Name, d.Target.ID, job, data)
}

// JudgeSettings says what has become of a plan from the topic as it was read.
func JudgeSettings(d Document, data inspect.DataTopic, dataErr error) OperationVerdict {
	v := OperationVerdict{PlanID: d.PlanID, Verdict: Undecided, Partitions: []PartitionVerdict{}, Facts: d.factsNow(inspect.DataTopic{})}
	if dataErr != nil && !data.Exists {
		v.Message = fmt.Sprintf("the topic could not be read: %s", safetext.Error(dataErr))
		return v
	}
	if p := checkSettingsTarget(d, inspect.Job{Topic: d.Target.Name}, data); p != nil {
		v.Verdict, v.Message = Contradicted, p.Message
		return v
	}
	v.Facts = d.factsNow(data)
	in := func(state FactState) (names []string) {
		for _, f := range v.Facts {
			if f.State == state {
				names = append(names, f.Name)
			}
		}
		return names
	}
	unread, other, planned := in(FactUnread), in(FactOther), in(FactPlanned)
	switch {
	case len(unread) > 0:
		v.Message = fmt.Sprintf("what %s of topic %s is could not be read", strings.Join(unread, " and "), quote(d.Target.Name))
		if dataErr != nil {
			v.Message += ": " + safetext.Error(dataErr).String()
		}
	case len(other) > 0:
		v.Verdict = Contradicted
		v.Message = fmt.Sprintf("%s of topic %s is neither what the plan found nor what it makes of it: somebody changed it", strings.Join(other, " and "), quote(d.Target.Name))
	case len(planned) == len(v.Facts):
		v.Verdict, v.Message = Applied, fmt.Sprintf("every setting of the plan is the topic's own, as re-read (%s)", figures.Count(len(planned), "setting", "settings"))
	case len(planned) == 0:
		v.Verdict, v.Message = NotStarted, "every setting is as the plan found it: nothing was changed by it"
	default:
		v.Verdict, v.Message = Partial, fmt.Sprintf("%s is as planned, and %s is as the plan found it", strings.Join(planned, " and "), strings.Join(in(FactBefore), " and "))
	}
	return v
}
