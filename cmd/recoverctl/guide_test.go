package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/internal/testkit/incident"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
	"github.com/recoverctl/recoverctl/tui/tuitest"
)

// The page is made anew with go test ./cmd/recoverctl -update. It has the words of
// the procedures themselves.
func TestTheDocumentedProceduresAreThoseOfTheProgram(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Guided procedures\n\n" +
		"Three situations take several steps in an order that matters, partly outside of recoverctl. Each is a checklist: `recoverctl guide NAME` prints it with what is done, open or unknown, as the cluster, the recovery point and Flink say at that moment; `:guide` shows the same in the console. Checking changes nothing. A step that nobody can see from here stays unknown, and is never said to be done.\n\n" +
		"Words in capitals stand for names: give `--point URI` and, where it is asked for, `--to NAME`, and the commands that are printed can be pasted.\n")
	for _, name := range actions.GuideNames() {
		g, _ := actions.GuideWords(name)
		fmt.Fprintf(&b, "\n## %s\n\n`recoverctl guide %s`\n\n%s\n\n", g.Title, name, g.When)
		for _, s := range g.Steps {
			fmt.Fprintf(&b, "%d. **%s.** %s\n", s.Number, strings.ToUpper(s.Title[:1])+s.Title[1:], s.Do)
			if len(s.Commands) > 0 {
				fmt.Fprintf(&b, "\n   ```\n   %s\n   ```\n\n", strings.Join(s.Commands, "\n   "))
			}
		}
	}
	page := strings.ReplaceAll(strings.TrimRight(b.String(), "\n"), "\n\n\n", "\n\n") + "\n"
	tuitest.GoldenFile(t, filepath.Join("..", "..", "docs", "procedures.md"), page)
}

type guideJSON struct {
	Guide, Next string
	Steps       []struct {
		Number                           int
		Name, Title, State, Evidence, Do string
		Commands                         []string
	}
}

func (g guideJSON) state(t *testing.T, name string) (state, evidence string) {
	t.Helper()
	for _, s := range g.Steps {
		if s.Name == name {
			return s.State, s.Evidence
		}
	}
	t.Fatalf("no step %s", name)
	return "", ""
}

// The checklist of a first cleanup, on a topic as the released job made it: each
// thing that is done on the cluster is seen.
func TestTheGuideSeesWhatIsDone(t *testing.T) {
	s := newSettingsScene(t)
	control := kafkatest.UniqueName("control")
	guide := func(more ...string) guideJSON {
		t.Helper()
		got := s.run(append([]string{"guide", "first-cleanup", "-o", "json"}, more...)...)
		if got.code != 0 {
			t.Errorf("exit %d: %s", got.code, got.errOut)
		}
		return decodeAnswer[guideJSON](t, "Guide", got).Data
	}
	wants := func(g guideJSON, step, state, says string) {
		t.Helper()
		if got, evidence := g.state(t, step); got != state || !strings.Contains(evidence, says) {
			t.Errorf("%s is %s: %s; want %s: %s", step, got, evidence, state, says)
		}
	}
	g := guide()
	wants(g, "control-topic", "open", "no control topic is configured")
	wants(g, "settings", "open", "cleanup.policy is compact instead of compact,delete")
	wants(g, "stop", "unknown", "no Flink said")
	wants(g, "point", "unknown", "no recovery point is chosen")
	if g.Next != "control-topic" || len(g.Steps) != 10 {
		t.Errorf("next is %s of %d steps", g.Next, len(g.Steps))
	}

	for _, name := range fitting {
		if err := s.cluster.Set(t.Context(), s.topic, name, asFit[name]); err != nil {
			t.Fatal(err)
		}
	}
	s.flags = append(s.flags, "--control-topic", control)
	g = guide("--point", "file:"+filepath.Join(t.TempDir(), "job", "chk-1"))
	wants(g, "control-topic", "done", "does not exist yet")
	wants(g, "settings", "done", "no retention limit is set")
	wants(g, "point", "unknown", "can't be read from here")

	text := s.run("guide", "first-cleanup", "--point", "file:/ck/it's/chk-1")
	for _, says := range []string{"✔ 2. a name for the control topic", "? 4. the job is stopped  ← next", "? 5. a recovery point with versioned markers\n",
		`    $ recoverctl inspect point 'file:/ck/it'\''s/chk-1' --brokers ` + s.flags[1] + " --control-topic " + control + " --topic " + s.topic,
		"    $ recoverctl verify cleanup-plan.json --control-topic " + control + " --brokers " + s.flags[1] + " --topic " + s.topic + "\n"} {
		if !strings.Contains(text.out, says) {
			t.Errorf("it does not say %q:\n%s", says, text.out)
		}
	}
}

func TestAGuideWithoutAnythingToAsk(t *testing.T) {
	for _, name := range actions.GuideNames() {
		got := command(t, "guide", name, "-o", "json")
		g := decodeAnswer[guideJSON](t, "Guide", got).Data
		if got.code != 0 || g.Guide != name || len(g.Steps) == 0 {
			t.Errorf("%s: exit %d, %+v", name, got.code, g)
		}
		for _, s := range g.Steps {
			if s.State == "done" && s.Name != "tombstones" && s.Name != "no-control-topic" {
				t.Errorf("%s: %s is done: %s", name, s.Name, s.Evidence)
			}
		}
	}
	if got := command(t, "guide"); got.code != 2 || !strings.Contains(got.errOut, "first-cleanup, leave-tombstones, new-control-topic") {
		t.Errorf("exit %d\n%s", got.code, got.errOut)
	}
	if got := command(t, "guide", "first-cleanup", "--to", "x"); got.code != 2 {
		t.Errorf("exit %d\n%s", got.code, got.errOut)
	}
}

// A history that every reader refuses: a tombstone is on it.
func TestTheGuideToANewControlTopic(t *testing.T) {
	s := startScene(t)
	got := s.run("guide", "new-control-topic", "-o", "json")
	g := decodeAnswer[guideJSON](t, "Guide", got).Data
	if state, evidence := g.state(t, "cause"); state != "open" || !strings.Contains(evidence, "can be advanced. Do not go on") {
		t.Errorf("of a sound history: %s, %s", state, evidence)
	}
	s.cluster.Put(t, incident.ControlTopic, 0, kafkatest.Tombstone("x"))
	got = s.run("guide", "new-control-topic", "--to", "second", "--point", s.points+"/chk-44", "-o", "json")
	g = decodeAnswer[guideJSON](t, "Guide", got).Data
	for step, want := range map[string][2]string{
		"cause": {"done", "control-tombstone"}, "copy": {"unknown", "can't be seen"}, "new-name": {"done", "does not exist yet"},
		"point": {"done", "versioned markers of topic"}, "committed": {"open", "does not exist yet"}, "profile": {"open", "the profile names"},
	} {
		if state, evidence := g.state(t, step); state != want[0] || !strings.Contains(evidence, want[1]) {
			t.Errorf("%s is %s: %s; want %s: %s", step, state, evidence, want[0], want[1])
		}
	}
}
