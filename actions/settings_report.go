package actions

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// SettingsEvidence is all that a settings plan is judged by.
type SettingsEvidence struct {
	Job     inspect.Job
	At      time.Time // when it was read
	Data    inspect.DataTopic
	DataErr error // the topic, or its settings, could not be read
}

// SettingsReport makes the report of a settings plan: a pure function.
func SettingsReport(d Document, e SettingsEvidence) DocumentReport {
	r := DocumentReport{
		PlanID: d.PlanID, Kind: d.Kind, Target: d.Target, At: e.At,
		Verdict: JudgeSettings(d, e.Data, e.DataErr).Verdict, Does: []string{}, Warnings: []Warning{}, Notes: []string{},
	}
	r.Facts, r.Refused = CheckSettingsPlan(d, e.Job, e.Data)
	if e.DataErr != nil && !e.Data.Exists {
		r.Refused = nil // what was not read refuses nothing
	}
	topic := quote(d.Target.Name)
	if r.Verdict == Applied {
		r.Notes = append(r.Notes, fmt.Sprintf("Every setting is as planned already: applying the plan sends nothing to topic %s.", topic))
	}
	for _, f := range r.Facts {
		r.Does = append(r.Does, settingDoes(f))
	}
	r.Stays = []string{
		"Every other setting of the topic, its partitions, its id and its records stay as they are. A job that runs needs no restart.",
		"Releases 0.1 to 0.3 make the topic with cleanup.policy=compact alone: if the job ever makes it again, these settings are gone and a new plan is needed.",
	}
	if d.gains("delete") {
		r.Does = append(r.Does, "With delete beside compact, the broker deletes the records that a request names, as a cleanup sends it, and what a retention limit names; both limits are -1, so no limit deletes anything.")
	}
	if d.lifted() != nil {
		r.Does = append(r.Does, "From then on nothing but a reviewed cleanup moves the start of the log.")
	}
	r.NotKnown = []string{
		fmt.Sprintf("Whether the cluster lets the settings be changed is known only when it is asked: it needs the right AlterConfigs on topic %s, and the brokers may have a policy of their own (alter.config.policy.class.name).", topic),
		"Kafka changes settings by the topic's name and compares nothing: identity and settings are read directly before and after the change, not during it.",
	}
	if r.Verdict != Applied {
		r.Warnings = settingsWarnings(d, e)
	}
	return r
}

// settingDoes is what becomes of one setting, in a sentence.
func settingDoes(f FactVerdict) string {
	planned := safetext.Of(*f.After)
	switch f.State {
	case FactPlanned:
		return fmt.Sprintf("%s is %s already.", f.Name, planned)
	case FactBefore:
		return fmt.Sprintf("%s becomes %s, set on the topic itself (now %s).", f.Name, planned, ValueFrom(*f.Now, f.NowSource))
	case FactOther:
		return fmt.Sprintf("%s was to become %s (now %s; the plan found %s).", f.Name, planned, ValueFrom(*f.Now, f.NowSource), ValueFrom(*f.Before, f.BeforeSource))
	default:
		return fmt.Sprintf("%s becomes %s, set on the topic itself (now not read; the plan found %s).", f.Name, planned, ValueFrom(*f.Before, f.BeforeSource))
	}
}

// ValueFrom says a setting's value and where it comes from.
func ValueFrom(value, source string) string {
	return fmt.Sprintf("%s, %s", safetext.Of(value), SourceWords(source))
}

// SourceWords says where a setting comes from.
func SourceWords(source string) string {
	switch source {
	case sourceTopic:
		return "set on the topic"
	case "broker":
		return "set on the brokers"
	case "default":
		return "Kafka's default"
	default:
		return "from " + safetext.Of(source).String()
	}
}

// gains reports whether cleanup.policy gets a policy that it did not have.
func (d Document) gains(policy string) bool {
	for _, f := range d.Facts {
		if f.Name == policySetting && f.Before != nil && f.After != nil {
			return slices.Contains(policies(*f.After), policy) && !slices.Contains(policies(*f.Before), policy)
		}
	}
	return false
}

// settingsWarnings are what the planner can't decide.
func settingsWarnings(d Document, e SettingsEvidence) []Warning {
	out := []Warning{}
	warn := func(name, format string, args ...any) {
		out = append(out, Warning{Name: name, Message: fmt.Sprintf(format, args...)})
	}
	if e.DataErr != nil {
		warn(NotChecked, "the topic, or its settings, could not be read: %s", safetext.Error(e.DataErr))
	}
	if d.gains("compact") {
		warn(CompactionBegins, "topic %s is compacted from then on, for good: of the records of one key the broker keeps the last, a record without a key is removed, and new ones without a key are refused", quote(d.Target.Name))
	}
	if lifted := d.lifted(); lifted != nil {
		warn(RetentionLifted, "the log of topic %s grows until a cleanup is applied: so far %s limited it", quote(d.Target.Name), strings.Join(lifted, " and "))
	}
	return out
}

// lifted are the limits that deleted records and no longer will. Where delete was
// no policy, a limit had no effect.
func (d Document) lifted() []string {
	if d.gains("delete") {
		return nil
	}
	var out []string
	for _, f := range d.Facts {
		if f.Name != policySetting && *f.Before != retentionWanted {
			out = append(out, f.Name+"="+safetext.Of(*f.Before).String())
		}
	}
	return out
}
