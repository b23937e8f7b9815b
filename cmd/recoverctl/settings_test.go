package main

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/testkit/incident"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkaproxy"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/apply"
	"github.com/recoverctl/recoverctl/views/document"
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

// approved is a whole apply of a plan, as a script gives it.
func (s settingsScene) approved(file, id string, more ...string) outcome {
	s.Helper()
	return s.run(append([]string{"apply", file, "--approve", id, "--reason", "before the first cleanup", "--access", "operate"}, more...)...)
}

// The whole way of a plan of settings: made, applied, verified, and applied once
// more. Afterwards a cleanup finds the topic fit.
func TestSettingsFromThePlanToTheReceipt(t *testing.T) {
	s := newSettingsScene(t)
	file, id := s.plan()
	if v := s.run("verify", file); v.code != 1 || !strings.Contains(v.out, "· not-started: every setting is as the plan found it") {
		t.Errorf("before: exit %d\n%s%s", v.code, v.out, v.errOut)
	}
	got := s.approved(file, id, "-o", "json")
	a := decodeAnswer[settingsAppliedJSON](t, "ApplyResult", got)
	if got.code != 0 || a.Data.Verdict != "applied" || a.Data.PlanID != id || len(a.Data.Facts) != 3 || len(a.Data.Steps) != 5 ||
		a.Data.Receipt == nil || a.Data.Receipt.Kind != "topic-settings" || a.Data.Receipt.Target.Name != s.topic || a.Data.Receipt.Reason != "before the first cleanup" {
		t.Errorf("exit %d, %+v\n%s", got.code, a.Data, got.errOut)
	}
	s.wantOwn(asFit)

	again := s.approved(file, id)
	if again.code != 0 || !strings.Contains(again.out, "nothing was sent") || !strings.Contains(again.out, "skipped") {
		t.Errorf("again: exit %d\n%s%s", again.code, again.out, again.errOut)
	}
	v := s.run("verify", file)
	for _, says := range []string{"✔ applied: every setting of the plan is the topic's own", "topic-settings " + id, "why          before the first cleanup", "retention.ms now -1; the plan found 604800000 and makes -1 of it"} {
		if !strings.Contains(v.out, says) {
			t.Errorf("verify does not say %q:\n%s", says, v.out)
		}
	}
	if v.code != 0 {
		t.Errorf("exit %d\n%s", v.code, v.errOut)
	}
	if byID := s.run("verify", id); byID.code != 2 || !strings.Contains(byID.errOut, "give the plan's file") {
		t.Errorf("by its id: exit %d\n%s%s", byID.code, byID.out, byID.errOut)
	}
	lines := s.run("journal", "show", id)
	for _, says := range []string{"sets cleanup.policy=compact,delete, sets retention.ms=-1, sets retention.bytes=-1", "set-settings", "before the first cleanup"} {
		if !strings.Contains(lines.out, says) {
			t.Errorf("journal show does not say %q:\n%s", says, lines.out)
		}
	}
	if show := s.run("plan", "show", file); show.code != 0 || !strings.Contains(show.out, "applying the plan sends nothing") {
		t.Errorf("exit %d\n%s", show.code, show.out)
	}
}

type settingsAppliedJSON struct {
	PlanID, Verdict, Message, Stage string
	Steps                           []struct{ Name, State, Detail string }
	Facts                           []factJSON
	Problem                         problemJSON
	Receipt                         *struct {
		Kind, Reason string
		Target       struct{ Name, ID, Cluster string }
	}
}

// Whatever is missing or wrong, nothing is set.
func TestASettingsPlanIsNotApplied(t *testing.T) {
	s := newSettingsScene(t)
	file, id := s.plan()
	other := newSettingsScene(t)
	damaged := filepath.Join(t.TempDir(), "damaged.plan")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(damaged, []byte(strings.Replace(string(data), "604800000", "86400000", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	with := func(more ...string) []string {
		return append([]string{"apply", file, "--reason", "x", "--approve", id, "--access", "operate"}, more...)
	}
	for name, tt := range map[string]struct {
		args []string
		code int
		says string
	}{
		"read-only":                  {[]string{"apply", file, "--reason", "x", "--approve", id}, 5, "read-only"},
		"eight digits of its id":     {[]string{"apply", file, "--reason", "x", "--approve", id[:8], "--access", "operate"}, 5, "production asks for 64"},
		"another id":                 {[]string{"apply", file, "--reason", "x", "--approve", strings.Repeat("0", 64), "--access", "operate"}, 5, "is not the id of this plan"},
		"no approval":                {[]string{"apply", file, "--reason", "x", "--access", "operate"}, 5, "nobody approved the plan"},
		"no reason":                  {[]string{"apply", file, "--approve", id, "--access", "operate"}, 2, "a reason is required"},
		"a plan that was changed":    {[]string{"apply", damaged, "--reason", "x", "--approve", id, "--access", "operate"}, 9, "it was changed after it was made"},
		"consent to a topic":         {with("--create-control-topic", "1"), 2, "goes with a cleanup"},
		"a name that no warning has": {with("--accept", "yes"), 2, "is not the name of a warning"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := s.run(tt.args...); got.code != tt.code || !strings.Contains(got.errOut, tt.says) {
				t.Errorf("exit %d, want %d and %q\n%s%s", got.code, tt.code, tt.says, got.out, got.errOut)
			}
		})
	}
	t.Run("another topic's job", func(t *testing.T) {
		got := commandIn(t, s.environ(), "", append(with(), "--brokers", s.flags[1], "--topic", "other")...)
		if got.code != 7 || !strings.Contains(got.errOut, "the plan is for topic") {
			t.Errorf("exit %d\n%s", got.code, got.errOut)
		}
	})
	t.Run("another cluster", func(t *testing.T) {
		got := commandIn(t, s.environ(), "", append(with(), "--brokers", other.flags[1], "--topic", s.topic)...)
		if got.code != 7 || !strings.Contains(got.errOut, "not begun") && !strings.Contains(got.out, "not begun") {
			t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
		}
	})
	t.Run("drift", func(t *testing.T) {
		if err := s.cluster.Set(t.Context(), s.topic, "retention.ms", "1000"); err != nil {
			t.Fatal(err)
		}
		got := s.run(append(with(), "-o", "json")...)
		a := decodeAnswer[settingsAppliedJSON](t, "ApplyResult", got)
		if got.code != 7 || a.Data.Stage != "settings" || a.Data.Verdict != "contradicted" || a.Data.Receipt != nil || !strings.Contains(got.errOut, "somebody changed it since") {
			t.Errorf("exit %d, %+v\n%s", got.code, a.Data, got.errOut)
		}
	})
	want := maps.Clone(asMade)
	want["retention.ms"] = "1000"
	s.wantOwn(want)
}

// A cleanup that is refused for its topic's settings names the command that makes
// the plan for them.
func TestARefusedCleanupNamesThePlanOfSettings(t *testing.T) {
	s := startScene(t)
	if err := s.cluster.Set(t.Context(), incident.Topic, "retention.ms", "604800000"); err != nil {
		t.Fatal(err)
	}
	got := s.run("plan", "cleanup", "--point", s.points+"/chk-43", "--out", filepath.Join(t.TempDir(), "p"))
	if got.code != 7 || !strings.Contains(got.errOut, "recoverctl plan settings --out FILE") {
		t.Errorf("exit %d\n%s", got.code, got.errOut)
	}
}

// The process is killed while the request is on its way, or its answer: the same
// command goes on, and says what is so.
func TestAChangeOfSettingsIsKilled(t *testing.T) {
	t.Parallel()
	path := asProcess(t)
	for name, when := range map[string]kafkaproxy.When{"before the broker has the request": kafkaproxy.BeforeForward, "when the broker has it": kafkaproxy.AfterForward} {
		t.Run(name, func(t *testing.T) {
			s := newSettingsScene(t)
			file, id := s.plan()
			proxy := kafkaproxy.Start(t, s.cluster.Brokers()...)
			held := proxy.Inject(t, kafkaproxy.Rule{Key: kmsg.IncrementalAlterConfigs, When: when, Do: kafkaproxy.Hold()})
			cmd := processOf(t, path, s.environ(), "apply", file, "--approve", id, "--reason", "before the first cleanup", "--access", "operate",
				"--brokers", proxy.Brokers()[0], "--topic", s.topic)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := held.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err == nil {
				t.Error("it was not killed")
			}
			held.Remove()
			if open := s.run("journal", "list"); !strings.Contains(open.out, "step set-settings of run") || !strings.Contains(open.out, "has no outcome") {
				t.Errorf("journal list\n%s", open.out)
			}
			verdict := map[kafkaproxy.When]string{kafkaproxy.BeforeForward: "not-started", kafkaproxy.AfterForward: "applied"}[when]
			if v := s.run("verify", file); !strings.Contains(v.out, verdict+": every setting") {
				t.Errorf("verify says\n%s", v.out)
			}
			held.Release() // what was held may still arrive
			if got := s.approved(file, id); got.code != 0 || !strings.Contains(got.out, "✔ applied") {
				t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
			}
			s.wantOwn(asFit)
		})
	}
}

// The console makes the same plan as the command, and carries it out on the
// cluster when it was confirmed: the whole way with the keyboard.
func TestTheConsoleAppliesAPlanOfSettings(t *testing.T) {
	s := newSettingsScene(t)
	_, id := s.plan()
	t.Chdir(t.TempDir())
	a := &app{streams: streams{in: strings.NewReader(""), out: io.Discard, err: io.Discard, environ: s.environ()}, clock: clock.System{}}
	if err := newRoot(a).PersistentFlags().Parse(append([]string{"--access", "operate"}, s.flags...)); err != nil {
		t.Fatal(err)
	}
	if err := a.load(); err != nil {
		t.Fatal(err)
	}
	in, systems, err := a.inspector(a.selection.Profile, remembered{})
	if err != nil {
		t.Fatal(err)
	}
	defer systems.close()
	job, err := a.job()
	if err != nil {
		t.Fatal(err)
	}
	applies := apply.NewCurrent()
	source := consoleSettings{consoleDocuments: consoleDocuments{a, applies}, in: in, systems: systems, prompt: remembered{}}
	look := theme.New(theme.Options{Palette: theme.NoStyle})
	d := tuitest.New(t, tui.Options{Theme: look, Header: func() tui.Header { return tui.Header{Profile: "adhoc", Access: "operate 29m"} }, Jobs: applies.Jobs},
		document.New(document.Options{Theme: look, Job: job, Source: source, Words: document.Settings(job.Topic)}), 120, 40)
	if !strings.Contains(d.Frame(), "plan "+id) {
		t.Fatalf("the screen shows another plan than %s:\n%s", id, d.Frame())
	}
	d.Press("A")
	d.WaitIdle()
	for range 60 {
		d.Press("down")
	}
	d.Press("tab")
	d.Type("before the first cleanup")
	d.Press("tab")
	d.Type("adhoc/" + s.topic + " " + id[:8])
	d.Press("tab")
	s.wantOwn(asMade)
	d.Press("space")
	d.WaitIdle()
	running := applies.Running()
	if running == nil {
		t.Fatalf("nothing was started:\n%s", d.Frame())
	}
	result, err := running.Wait()
	if err != nil || result.Verdict != actions.Applied || result.Receipt.Reason != "before the first cleanup" {
		t.Errorf("%s, %v", result.Verdict, err)
	}
	s.wantOwn(asFit)
	d.Press("r")
	if frame := d.Frame(); !strings.Contains(frame, "applied: every setting of the plan is the topic's own") {
		t.Errorf("frame\n%s", frame)
	}
	made, err := source.Make(t.Context(), job)
	if err != nil || made.Needless == "" {
		t.Errorf("afterwards: %+v, %v", made, err)
	}
}
