//go:build real

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/testkit/flinktest"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// realFlink is a job of a real Flink with its topic on a Kafka in memory, and a
// place for the tool's own files.
type realFlink struct {
	t       *testing.T
	session *flinktest.Session
	name    string
	id      string // of the job that runs
	flags   []string
	state   string
	args    []string // of the job that is started again
}

func startRealFlink(t *testing.T, interval string) realFlink {
	t.Helper()
	cluster := kafkatest.StartFake(t).Cluster
	topic := cluster.Topic(t, 2, nil)
	s := realFlink{t: t, session: flinktest.Real(t), name: kafkatest.UniqueName("rollback"), state: t.TempDir()}
	job := []string{"--name", s.name, "--topic", topic, "--topic-id", topicID(t, cluster, topic), "--offsets", "0:0,1:0"}
	s.args = s.session.Args(append(job, "--interval", "1000")...)
	s.id = s.session.Run(t, append(job, "--interval", interval)...)
	t.Cleanup(func() { s.end() })
	s.flags = []string{"--flink-rest", s.session.Address, "--flink-job", s.name, "--brokers", strings.Join(cluster.Brokers(), ","), "--topic", topic, "--environment", "development"}
	return s
}

// ask reads from Flink itself.
func (s realFlink) ask(path string, into any) {
	s.t.Helper()
	res, err := http.Get(s.session.Address + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil || json.Unmarshal(data, into) != nil {
		s.t.Fatalf("%s: %s, %v", path, data, err)
	}
}

// active are the ids of the jobs of the name that have not ended.
func (s realFlink) active() []string {
	s.t.Helper()
	var answer struct {
		Jobs []struct{ JID, Name, State string }
	}
	s.ask("/jobs/overview", &answer)
	var out []string
	for _, j := range answer.Jobs {
		if j.Name == s.name && j.State != "FAILED" && j.State != "CANCELED" && j.State != "FINISHED" {
			out = append(out, j.JID)
		}
	}
	return out
}

func (s realFlink) end() {
	for _, id := range s.active() {
		s.session.Cancel(s.t, id)
	}
}

// point waits for some checkpoints and names the one before the last.
func (s realFlink) point() string {
	s.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		var c struct {
			History []struct {
				Status string
				Path   string `json:"external_path"`
			}
		}
		s.ask("/jobs/"+s.id+"/checkpoints", &c)
		var done []string
		for _, h := range c.History {
			if h.Status == "COMPLETED" {
				done = append(done, h.Path)
			}
		}
		if len(done) >= 2 {
			return done[1]
		}
	}
	s.t.Fatal("the job takes no checkpoints")
	return ""
}

// restored is what Flink says that a job was restored from.
func (s realFlink) restored(id string) string {
	s.t.Helper()
	var c struct {
		Latest struct {
			Restored struct {
				Path string `json:"external_path"`
			}
		}
	}
	s.ask("/jobs/"+id+"/checkpoints", &c)
	return c.Latest.Restored.Path
}

func (s realFlink) environ() []string {
	return []string{"HOME=" + s.state, "XDG_STATE_HOME=" + s.state, "USER=ops", "PATH=" + os.Getenv("PATH")}
}

func (s realFlink) run(args ...string) outcome {
	s.t.Helper()
	return commandIn(s.t, s.environ(), "", append(args, s.flags...)...)
}

// plan makes the plan of a rollback.
func (s realFlink) plan(point string, args ...string) (file, id string) {
	s.t.Helper()
	file = filepath.Join(s.t.TempDir(), "rollback.json")
	all := []string{"plan", "rollback", "--point", point, "--jar", s.session.JarID(), "--out", file, "-o", "json"}
	for _, a := range args {
		all = append(all, "--arg="+a)
	}
	got := s.run(all...)
	if got.code != 0 {
		s.t.Fatalf("plan: exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	return file, decodeAnswer[planJSON](s.t, "FlinkPlan", got).Data.PlanID
}

func (s realFlink) applyArgs(file, id string, more ...string) []string {
	return append([]string{"apply", file, "--approve", id, "--reason", "INC-9", "--access", "operate", "--accept", "point-may-go"}, more...)
}

// back wants exactly the plan's job, restored from the point as Flink says it.
func (s realFlink) back(file, point string) {
	s.t.Helper()
	id := newJob(s.t, file)
	if active := s.active(); len(active) != 1 || active[0] != id {
		s.t.Errorf("jobs named %s: %v, want %s", s.name, active, id)
	}
	if from := s.restored(id); from != point {
		s.t.Errorf("Flink says it was restored from %q, want %s", from, point)
	}
	if v := s.run("verify", file); v.code != 0 || !strings.Contains(v.out, "✔ applied") {
		s.t.Errorf("verify: exit %d\n%s%s", v.code, v.out, v.errOut)
	}
}

// A job that runs is rolled back to the checkpoint before its last, step by step
// at a terminal, and Flink says that it was restored from there.
func TestRealRollbackInSteps(t *testing.T) {
	s := startRealFlink(t, "5000")
	point := s.point()
	file, id := s.plan(point, s.args...)
	screen := onTerminal(t, asProcess(t), append(s.applyArgs(file, id, "--step", "--config", emptyConfig(t)), s.flags...)...)
	for _, step := range []struct {
		prompt string
		writes bool
	}{
		{"step 1:", false}, {"step 2:", false}, {"step 3: restore accepted", false}, {"step 4:", false}, {"step 5: trigger a savepoint", true}, {"step 6:", false},
		{"step 7: cancel the job", true}, {"step 8:", false}, {"step 9: start the job from the point", true}, {"step 10:", false}, {"step 11:", false}, {"step 12:", false},
	} {
		line := ""
		if step.writes {
			line = "A"
		}
		screen.types(t, "\n"+step.prompt, line)
	}
	if code := screen.leave(t); code != 0 || !strings.Contains(screen.seen.String(), "✔ applied") {
		t.Fatalf("exit %d\n%s", code, screen.seen.String())
	}
	s.back(file, point)
}

func emptyConfig(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte("profiles: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// What real Flink refuses, and what a job does that can't live with its state.
func TestRealRollbackThatIsRefused(t *testing.T) {
	t.Parallel()
	s := startRealFlink(t, "5000")
	point := s.point()
	out := filepath.Join(t.TempDir(), "x.json")
	for name, tt := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no such point":   {[]string{"--point", strings.TrimRight(point, "0123456789") + "999", "--jar", s.session.JarID()}, 6, "chk-999"},
		"no such jar":     {[]string{"--point", point, "--jar", "none.jar"}, 6, "none.jar"},
		"no such job":     {[]string{"--point", point, "--flink-job", "ffffffffffffffffffffffffffffffff"}, 6, "ffffffffffffffffffffffffffffffff"},
		"no such cluster": {[]string{"--point", point, "--flink-rest", "http://127.0.0.1:1"}, 4, "127.0.0.1:1"},
	} {
		got := commandIn(t, s.environ(), "", append(append([]string{"plan", "rollback", "--out", out}, s.flags...), tt.args...)...)
		if got.code != tt.code || !strings.Contains(got.errOut, tt.says) {
			t.Errorf("%s: exit %d, want %d and %q\n%s", name, got.code, tt.code, tt.says, got.errOut)
		}
	}
	if active := s.active(); len(active) != 1 || active[0] != s.id {
		t.Errorf("jobs: %v, want %s", active, s.id)
	}

	// A savepoint that can't be written leaves the job running.
	file := filepath.Join(t.TempDir(), "savepoint.json")
	made := decodeAnswer[planJSON](t, "FlinkPlan", s.run("plan", "savepoint", "--savepoint-dir", "file:/proc/nowhere", "--out", file, "-o", "json"))
	got := s.run("apply", file, "--approve", made.Data.PlanID, "--reason", "x", "--access", "operate")
	if got.code != 7 || !strings.Contains(got.errOut, "the savepoint failed: ") || !strings.Contains(got.out, "not-started") {
		t.Errorf("a savepoint to nowhere: exit %d\n%s%s", got.code, got.out, got.errOut)
	}

	// The same job with keys of another type can't read its state.
	file, id := s.plan(s.point(), append(s.args, "--keys", "string")...)
	got = s.run(s.applyArgs(file, id)...)
	if got.code != 8 || !strings.Contains(got.errOut, newJob(t, file)+" is FAILED: ") || !strings.Contains(got.errOut, "plan rollback --point file:") {
		t.Errorf("keys of another type: exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	// The way back that the hint names works.
	_, rest, _ := strings.Cut(got.errOut, "the way back: recoverctl plan rollback --point ")
	safety, _, _ := strings.Cut(rest, " ")
	file, id = s.plan(safety, s.args...)
	if got := s.run(s.applyArgs(file, id)...); got.code != 0 {
		t.Errorf("the way back: exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	s.back(file, safety)
}

// A process that is killed right after a line of the journal leaves one job, and
// the same command goes on.
func TestRealRollbackIsKilled(t *testing.T) {
	path := asProcess(t)
	for _, line := range []int{2, 4, 6, 7} { // the intents of savepoint, cancel and start, and the start's outcome
		t.Run(fmt.Sprintf("line %d", line), func(t *testing.T) {
			s := startRealFlink(t, "5000")
			point := s.point()
			file, id := s.plan(point, s.args...)
			cmd := processOf(t, path, s.environ(), append(s.applyArgs(file, id, "--config", emptyConfig(t)), s.flags...)...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(2 * time.Minute); journalLines(t, s.state) < line && time.Now().Before(deadline); {
				time.Sleep(time.Millisecond)
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err == nil {
				t.Fatal("it was not killed")
			}
			if got := s.run(s.applyArgs(file, id)...); got.code != 0 {
				t.Fatalf("exit %d\n%s%s", got.code, got.out, got.errOut)
			}
			s.back(file, point)
			saved, err := filepath.Glob(filepath.Join(os.Getenv("RECOVERCTL_TEST_FLINK_SAVEPOINTS"), "savepoint-"+s.id[:6]+"-*"))
			if err != nil || len(saved) != 1 {
				t.Errorf("safety savepoints: %v, %v", saved, err)
			}
		})
	}
}

// The commands of the hand-off are run as they are printed.
func TestRealHandoffRunsAsItIs(t *testing.T) {
	t.Parallel()
	for by, way := range map[string]func(*testing.T, realFlink) string{
		// A checkpoint of the job's own: a savepoint, then a cancellation.
		"rest": func(_ *testing.T, s realFlink) string { return s.point() },
		// A savepoint: a stop.
		"cli": func(t *testing.T, s realFlink) string {
			file := filepath.Join(t.TempDir(), "savepoint.json")
			made := decodeAnswer[planJSON](t, "FlinkPlan", s.run("plan", "savepoint", "--out", file, "-o", "json"))
			a := decodeAnswer[appliedJSON](t, "ApplyResult", s.run("apply", file, "--approve", made.Data.PlanID, "--reason", "x", "--access", "operate", "-o", "json"))
			_, path, _ := strings.Cut(a.Data.Message, "the savepoint was made: ")
			return path
		},
	} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			s := startRealFlink(t, "8000")
			s.point() // it runs
			point := way(t, s)
			file, _ := s.plan(point, s.args...)
			a := decodeAnswer[struct {
				Handoff struct {
					Steps []struct{ By, What, Command string }
				}
			}](t, "PlanReview", s.run("plan", "show", file, "--handoff", "-o", "json"))
			ran := 0
			for _, step := range a.Data.Handoff.Steps {
				if step.By != by {
					continue
				}
				ran++
				cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", step.Command)
				cmd.Dir, cmd.Env = flinkProgram(t)
				if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), `"errors"`) || strings.Contains(string(out), "failure-cause") {
					t.Fatalf("%s\n%s\n%v\n%s", step.What, step.Command, err, out)
				}
			}
			if ran < 2 {
				t.Fatalf("%d commands by %s", ran, by)
			}
			started := newJob(t, file)
			if by == "cli" { // Flink's program chooses the id itself
				if active := s.active(); len(active) == 1 {
					started = active[0]
				}
			}
			for deadline := time.Now().Add(time.Minute); s.restored(started) == "" && time.Now().Before(deadline); {
				time.Sleep(200 * time.Millisecond)
			}
			if from := s.restored(started); from != point {
				t.Errorf("Flink says it was restored from %q, want %s", from, point)
			}
			if active := s.active(); len(active) != 1 || active[0] == s.id {
				t.Errorf("jobs: %v", active)
			}
		})
	}
}

// flinkProgram is a folder with the job's jar under the name that it was uploaded
// with, and an environment in which flink is Flink's own program.
func flinkProgram(t *testing.T) (dir string, environ []string) {
	t.Helper()
	dir = t.TempDir()
	jar, err := os.ReadFile(os.Getenv("RECOVERCTL_TEST_FLINK_JAR"))
	if err != nil {
		t.Fatal(err)
	}
	opens := ""
	for _, name := range []string{"util", "lang", "net", "io", "nio", "time"} {
		opens += " --add-opens=java.base/java." + name + "=ALL-UNNAMED"
	}
	script := "#!/bin/sh\nexec java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1" + opens + " -cp '" + os.Getenv("RECOVERCTL_TEST_FLINK_READBACK") + "' org.apache.flink.client.cli.CliFrontend \"$@\"\n"
	for name, content := range map[string]string{"job.jar": string(jar), "config.yaml": "", "flink": script} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir, append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "FLINK_CONF_DIR="+dir)
}
