package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// settingsScene is a data topic as the released job makes it. It is used ad hoc,
// which counts as production.
type settingsScene struct {
	*testing.T
	cluster *kafkatest.Cluster
	topic   string
	state   string
	flags   []string
}

func newSettingsScene(t *testing.T) settingsScene {
	t.Helper()
	cluster := kafkatest.StartFake(t).Cluster
	s := settingsScene{T: t, cluster: cluster, state: t.TempDir(), topic: cluster.Topic(t, 2, map[string]string{"cleanup.policy": "compact", "segment.ms": "3600000"})}
	s.flags = []string{"--brokers", cluster.Brokers()[0], "--topic", s.topic}
	return s
}

func (s settingsScene) environ() []string {
	return []string{"HOME=" + s.state, "XDG_STATE_HOME=" + s.state, "USER=ops"}
}

func (s settingsScene) run(args ...string) outcome {
	s.Helper()
	return commandIn(s.T, s.environ(), "", append(args, s.flags...)...)
}

// plan makes the plan and returns its file and id.
func (s settingsScene) plan() (file, id string) {
	s.Helper()
	file = filepath.Join(s.TempDir(), "settings.plan")
	a := decodeAnswer[settingsJSON](s.T, "SettingsPlan", s.run("plan", "settings", "--out", file, "-o", "json"))
	if a.Data.PlanID == nil {
		s.Fatalf("no plan: %+v", a.Data)
	}
	return file, *a.Data.PlanID
}

// own are the settings that the topic has itself.
func (s settingsScene) own() map[string]string {
	s.Helper()
	all, err := s.cluster.Admin().DescribeTopicConfigs(s.Context(), s.topic)
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

func (s settingsScene) wantOwn(want map[string]string) {
	s.Helper()
	if got := s.own(); !maps.Equal(got, want) {
		s.Errorf("the topic's own settings are %v, want %v", got, want)
	}
}

var (
	asMade  = map[string]string{"cleanup.policy": "compact", "segment.ms": "3600000"}
	asFit   = map[string]string{"cleanup.policy": "compact,delete", "retention.ms": "-1", "retention.bytes": "-1", "segment.ms": "3600000"}
	fitting = []string{"cleanup.policy", "retention.ms", "retention.bytes"}
)

type settingsJSON struct {
	File, PlanID *string
	Facts        []factJSON
	Warnings     []string
	Next         []string
	Message      string
}

type factJSON struct {
	Name, Source, State   string
	Before, After, Now    *string
	BeforeSource, NowFrom string
}

func TestASettingsPlanIsMadeAndShown(t *testing.T) {
	s := newSettingsScene(t)
	file := filepath.Join(t.TempDir(), "settings.plan")
	made := s.run("plan", "settings", "--out", file)
	for _, says := range []string{"wrote " + file, "topic-settings plan ", "compact,delete", "604800000", "Kafka's default", "set on the topic", "the right AlterConfigs", "recoverctl plan show", "recoverctl apply"} {
		if !strings.Contains(made.out, says) {
			t.Errorf("it does not say %q:\n%s", says, made.out)
		}
	}
	if made.code != 0 {
		t.Errorf("exit %d\n%s", made.code, made.errOut)
	}
	s.wantOwn(asMade)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if again := s.run("plan", "settings", "--out", file); again.code != 5 || !strings.Contains(again.errOut, "is not overwritten") {
		t.Errorf("exit %d, %s", again.code, again.errOut)
	}
	show := s.run("plan", "show", file)
	if show.code != 0 || !strings.Contains(show.out, "nothing that was read differs from the plan") {
		t.Errorf("exit %d\n%s%s", show.code, show.out, show.errOut)
	}
	alone := commandIn(t, s.environ(), "", "plan", "show", file)
	if alone.code != 0 || !strings.Contains(alone.out, "the file alone was looked at") || !strings.Contains(alone.out, "604800000, Kafka's default") {
		t.Errorf("exit %d\n%s%s", alone.code, alone.out, alone.errOut)
	}
	if err := s.cluster.Set(t.Context(), s.topic, "retention.ms", "1000"); err != nil {
		t.Fatal(err)
	}
	drifted := s.run("plan", "show", file)
	if drifted.code != 7 || !strings.Contains(drifted.out, "✖ retention.ms: planned 604800000, now 1000") || !strings.Contains(drifted.out, "apply would refuse this plan now, at settings (setting-changed)") {
		t.Errorf("exit %d\n%s%s", drifted.code, drifted.out, drifted.errOut)
	}
}

func TestNoSettingsPlanIsNeeded(t *testing.T) {
	s := newSettingsScene(t)
	for _, name := range fitting {
		if err := s.cluster.Set(t.Context(), s.topic, name, asFit[name]); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "settings.plan")
	got := s.run("plan", "settings", "--out", file, "-o", "json")
	a := decodeAnswer[settingsJSON](t, "SettingsPlan", got)
	if got.code != 0 || a.Data.File != nil || a.Data.PlanID != nil || !strings.Contains(a.Data.Message, "no plan is needed") {
		t.Errorf("exit %d, %+v", got.code, a.Data)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a file was written")
	}
}

func TestWhereASettingsPlanEnds(t *testing.T) {
	s := newSettingsScene(t)
	for name, tt := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no file":                {[]string{"plan", "settings", "--brokers", s.flags[1], "--topic", s.topic}, 2, "a plan is written to a file"},
		"no brokers":             {[]string{"plan", "settings", "--out", "x", "--topic", s.topic}, 3, "no brokers are configured"},
		"no topic":               {[]string{"plan", "settings", "--out", "x", "--brokers", s.flags[1]}, 3, "topic"},
		"a topic that is not":    {[]string{"plan", "settings", "--out", "x", "--brokers", s.flags[1], "--topic", "never-made"}, 6, "does not exist"},
		"nobody answers":         {[]string{"plan", "settings", "--out", "x", "--brokers", "127.0.0.1:1", "--topic", s.topic, "--timeout", "1s"}, 4, ""},
		"more than it asks for":  {[]string{"plan", "settings", "x", "--out", "x"}, 2, ""},
		"a validation with such": {[]string{"validate", "restore", "file:/x", "--plan", filepath.Join(s.state, "p"), "--brokers", s.flags[1], "--topic", s.topic}, 6, "there is no file"},
	} {
		t.Run(name, func(t *testing.T) {
			got := commandIn(t, s.environ(), "", tt.args...)
			if got.code != tt.code || !strings.Contains(got.errOut, tt.says) {
				t.Errorf("exit %d, want %d and %q\n%s", got.code, tt.code, tt.says, got.errOut)
			}
		})
	}
	if got := slices.Sorted(maps.Keys(s.own())); !slices.Equal(got, slices.Sorted(maps.Keys(asMade))) {
		t.Errorf("the topic's own settings are %v", got)
	}
}
