package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/testkit/flinktest"
	"github.com/recoverctl/recoverctl/internal/testkit/incident"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/apply"
	"github.com/recoverctl/recoverctl/views/console"
)

// flinkScene is the sample incident, its job in a JobManager.
type flinkScene struct {
	scene
	manager *flinktest.Manager
	job     string // id of the job that runs
}

const flinkJar = "35efb6bf_orders.jar"

func startFlinkScene(t *testing.T, edits ...string) flinkScene {
	t.Helper()
	m := flinktest.NewManager(t)
	s := flinkScene{scene: startScene(t, append(edits, "runtime: next", "runtime: next\n        flink: {rest: \""+m.URL+"\"}")...), manager: m}
	s.job = filepath.Base(s.points)
	m.Add(flinktest.Job{ID: s.job, Name: incident.Job, Started: time.Now().Add(-time.Hour), Checkpoints: 44, Retain: true, Interval: 1000})
	m.Upload(flinkJar)
	return s
}

// rollback makes the plan of a rollback and returns its file and its id.
func (s flinkScene) rollback(checkpoint string, more ...string) (file, id string) {
	s.t.Helper()
	file = filepath.Join(s.t.TempDir(), "rollback.json")
	args := append([]string{"plan", "rollback", "--point", s.points + "/" + checkpoint, "--arg", "--name", "--arg", incident.Job, "--out", file, "-o", "json"}, more...)
	a := decodeAnswer[planJSON](s.t, "FlinkPlan", s.run(args...))
	return file, a.Data.PlanID
}

func (s flinkScene) applyArgs(file, id string) []string {
	return []string{"apply", file, "--approve", id, "--reason", "bad deploy, INC-9", "--access", "operate", "--accept", "point-may-go"}
}

// newJob is the id of the job that a plan starts.
func newJob(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d, p := actions.ParseDocument(data)
	if p != nil {
		t.Fatal(p.Message)
	}
	return actions.FlinkPlanOf(d).NewJobID
}

func (s flinkScene) wrote(file string) {
	s.t.Helper()
	want := []string{"savepoint " + s.job, "cancel " + s.job, "run " + newJob(s.t, file)}
	if got := s.manager.Writes(); !slices.Equal(got, want) {
		s.t.Errorf("Flink was changed by %q, want %q", got, want)
	}
	if active := s.manager.Active(incident.Job); len(active) != 1 {
		s.t.Errorf("jobs of the name: %v", active)
	}
}

// From the plan to the receipt: the job is back at the checkpoint before the last.
func TestARollbackFromThePlanToTheReceipt(t *testing.T) {
	t.Parallel()
	s := startFlinkScene(t)
	point := s.points + "/chk-43"
	file, id := s.rollback("chk-43")
	shown := s.run("plan", "show", file)
	for _, want := range []string{"rollback plan " + id, "A restore from " + point + " is accepted", "is cancelled: stopping it would delete its checkpoints",
		"! point-may-go:", "→ The uploaded jar " + flinkJar + " is run as job " + newJob(t, file) + " (parallelism 2, arguments --name " + incident.Job + ")"} {
		if !strings.Contains(shown.out, want) {
			t.Errorf("plan show (exit %d) does not say %q:\n%s%s", shown.code, want, shown.out, shown.errOut)
		}
	}
	if v := s.run("verify", file); v.code != 1 || !strings.Contains(v.out, "· not-started:") {
		t.Errorf("verify before: exit %d\n%s", v.code, v.out)
	}
	got := s.run(s.applyArgs(file, id)...)
	for _, want := range []string{"✔ applied: the new job " + newJob(t, file) + " is RUNNING, restored from " + point, "why          bad deploy, INC-9", "from         " + point, "accepted     point-may-go"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("apply (exit %d) does not say %q:\n%s%s", got.code, want, got.out, got.errOut)
		}
	}
	s.wrote(file)
	v := s.run("verify", file)
	if v.code != 0 || !strings.Contains(v.out, "✔ applied:") || !strings.Contains(v.out, "why          bad deploy, INC-9") {
		t.Errorf("verify after: exit %d\n%s%s", v.code, v.out, v.errOut)
	}
	if byID := s.run("verify", id); byID.code != 2 || !strings.Contains(byID.errOut, "give the plan's file") {
		t.Errorf("verify by id: exit %d\n%s", byID.code, byID.errOut)
	}
	list := s.run("journal", "show", "--plan", id[:8])
	for _, want := range []string{"trigger ", newJob(t, file)} {
		if !strings.Contains(list.out, want) {
			t.Errorf("the journal does not hold %q:\n%s", want, list.out)
		}
	}
	if again := s.run(s.applyArgs(file, id)...); again.code != 0 || !strings.Contains(again.out, "it was as planned already") {
		t.Errorf("again: exit %d\n%s%s", again.code, again.out, again.errOut)
	}
	s.wrote(file)
}

// The profile holds how Flink is logged in to, and how the job is started: every
// request has the token, and no word of this program.
func TestARollbackAsTheProfileHasIt(t *testing.T) {
	t.Parallel()
	const token = "hush-hush-hush"
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startFlinkScene(t)
	s.manager.Upload("00000000_other.jar")
	profile, err := os.ReadFile(s.config)
	if err != nil {
		t.Fatal(err)
	}
	s.configure(strings.Replace(string(profile), s.manager.URL+`"}`, s.manager.URL+`", token: {file: `+file+`}, jar: orders.jar, arguments: [--name, `+incident.Job+`]}`, 1))
	var without sync.Map
	s.manager.Fails(func(_ int, r *http.Request) flinktest.Fault {
		if r.Header.Get("Authorization") != "Bearer "+token {
			without.Store(r.Method+" "+r.URL.Path, true)
		}
		return flinktest.NoFault
	})
	plan := filepath.Join(t.TempDir(), "rollback.json")
	made := s.run("plan", "rollback", "--point", s.points+"/chk-43", "--out", plan, "-o", "json")
	got := s.run(s.applyArgs(plan, decodeAnswer[planJSON](t, "FlinkPlan", made).Data.PlanID)...)
	if got.code != 0 {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	without.Range(func(request, _ any) bool {
		t.Errorf("%s has no token", request)
		return true
	})
	for _, said := range []string{made.out, made.errOut, got.out, got.errOut} {
		if strings.Contains(said, token) {
			t.Errorf("the token is told:\n%s", said)
		}
	}
	started, _ := s.manager.Job(newJob(t, plan))
	if started.Jar != flinkJar || !slices.Equal(started.Arguments, []string{"--name", incident.Job}) {
		t.Errorf("started %+v", started)
	}
}

func TestTheSmallPlansOfAFlinkJob(t *testing.T) {
	t.Parallel()
	for kind, tt := range map[string]struct{ wrote, accept, says string }{
		"savepoint": {"savepoint ", "", "the savepoint was made: s3://x/savepoint-"},
		"stop":      {"stop ", "", "its savepoint is s3://x/savepoint-"},
		"cancel":    {"cancel ", "no-safety-savepoint", "is CANCELED"},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := startFlinkScene(t)
			file := filepath.Join(t.TempDir(), "plan.json")
			args := []string{"plan", kind, "--out", file, "-o", "json"}
			if kind != "cancel" {
				args = append(args, "--savepoint-dir", "s3://x")
			}
			made := decodeAnswer[planJSON](t, "FlinkPlan", s.run(args...))
			apply := []string{"apply", file, "--approve", made.Data.PlanID, "--reason", "x", "--access", "operate"}
			if tt.accept != "" {
				apply = append(apply, "--accept", tt.accept)
			}
			if got := s.run(apply...); got.code != 0 || !strings.Contains(got.out, tt.says) {
				t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
			}
			if writes := s.manager.Writes(); len(writes) != 1 || writes[0] != tt.wrote+s.job {
				t.Errorf("Flink was changed by %v", writes)
			}
			if v := s.run("verify", file); v.code != 0 {
				t.Errorf("verify: exit %d\n%s", v.code, v.out)
			}
		})
	}
}

// Nobody who may only read changes a job, by whatever way they come.
func TestAReadOnlyProfileChangesNoJob(t *testing.T) {
	t.Parallel()
	s := startFlinkScene(t, "access: operate", "access: read-only")
	file, id := s.rollback("chk-43") // a plan is only read for
	for name, args := range map[string][]string{
		"the profile":                   s.applyArgs(file, id),
		"the profile, against the flag": append(s.applyArgs(file, id), "--access", "operate"),
	} {
		if got := s.run(args...); got.code != 5 {
			t.Errorf("%s: exit %d\n%s", name, got.code, got.errOut)
		}
	}
	operate := startFlinkScene(t)
	file, id = operate.rollback("chk-43")
	withoutFlag := slices.DeleteFunc(operate.applyArgs(file, id), func(a string) bool { return a == "--access" || a == "operate" })
	if got := operate.run(withoutFlag...); got.code != 5 || !strings.Contains(got.errOut, "--access operate") {
		t.Errorf("production without the flag: exit %d\n%s", got.code, got.errOut)
	}
	if writes := append(s.manager.Writes(), operate.manager.Writes()...); len(writes) > 0 {
		t.Errorf("Flink was changed by %v", writes)
	}
}

// Each way to be refused has its exit code and says what to do.
func TestWhereARollbackEnds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		point  string
		change func(flinkScene)
		args   []string
		code   int
		says   []string
	}{
		"a point below the boundary": {"chk-12", func(flinkScene) {}, nil, 1, []string{"no plan can be made", "is rejected", "below-committed-boundary", "recoverctl validate restore", "the nearest accepted and newer one is file:"}},
		"a point that is not there":  {"chk-99", func(flinkScene) {}, nil, 6, []string{"chk-99"}},
		"a job that nobody knows":    {"chk-43", func(s flinkScene) { s.manager.Remove(s.job) }, []string{"--flink-job", "4f3c92d07be1458a96c0d1e2f3a4b5c6"}, 6, []string{"knows no job"}},
		"two jobs of the name": {"chk-43", func(s flinkScene) {
			s.manager.Add(flinktest.Job{ID: "0ddba11000000000000000000000000b", Name: incident.Job})
		}, nil, 2, []string{"2 jobs", "0ddba11000000000000000000000000b"}},
		"a job that is suspended": {"chk-43", func(s flinkScene) { s.manager.Change(s.job, func(j *flinktest.Job) { j.State = "SUSPENDED" }) }, nil, 1, []string{"SUSPENDED", "inspect flink job"}},
		"no jar":                  {"chk-43", func(s flinkScene) { s.manager.Delete(flinkJar) }, nil, 6, []string{"no jar is uploaded", "POST /jars/upload"}},
		"a page instead of Flink": {"chk-43", func(s flinkScene) {
			s.manager.Fails(func(int, *http.Request) flinktest.Fault { return flinktest.Page })
		}, nil, 10, []string{"HTML page"}},
		"nobody there":           {"chk-43", func(flinkScene) {}, []string{"--flink-rest", "http://127.0.0.1:1"}, 4, []string{"can't be reached"}},
		"no point":               {"", func(flinkScene) {}, nil, 2, []string{"--point URI"}},
		"a checkpoint that goes": {"chk-43", func(s flinkScene) { s.manager.Change(s.job, func(j *flinktest.Job) { j.Retain = false }) }, nil, 1, []string{"deletes its checkpoints when it is cancelled", "keep a copy"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startFlinkScene(t)
			tt.change(s)
			file := filepath.Join(t.TempDir(), "rollback.json")
			args := append([]string{"plan", "rollback", "--out", file}, tt.args...)
			if tt.point != "" {
				args = append(args, "--point", s.points+"/"+tt.point)
			}
			got := s.run(args...)
			if got.code != tt.code {
				t.Errorf("exit %d, want %d\n%s%s", got.code, tt.code, got.out, got.errOut)
			}
			for _, says := range tt.says {
				if !strings.Contains(got.errOut, says) {
					t.Errorf("it does not say %q:\n%s", says, got.errOut)
				}
			}
			if _, err := os.Lstat(file); err == nil {
				t.Error("a plan was written")
			}
			if writes := s.manager.Writes(); len(writes) > 0 {
				t.Errorf("Flink was changed by %v", writes)
			}
		})
	}
}

// What Flink refuses at the start is told with its reason and the way back.
func TestARestoreThatFlinkRejects(t *testing.T) {
	t.Parallel()
	s := startFlinkScene(t)
	s.manager.StartFails = "java.lang.IllegalStateException: Failed to rollback to checkpoint/savepoint file:/x. Cannot map checkpoint/savepoint state for operator 5644c95d2dd5a5cc2187338bd0d0889e to the new program, because the operator is not available in the new program. If you want to allow to skip this, you can set the --allowNonRestoredState option on the CLI."
	file, id := s.rollback("chk-43")
	got := s.run(append(s.applyArgs(file, id), "-o", "json")...)
	a := decodeAnswer[appliedJSON](t, "ApplyResult", got)
	if got.code != 8 || a.Data.Verdict != "partial" || a.Data.Stage != "restored" {
		t.Errorf("exit %d, %s at %s", got.code, a.Data.Verdict, a.Data.Stage)
	}
	for _, says := range []string{"Cannot map checkpoint/savepoint state", "It means: ", "recoverctl plan rollback --point file:/state/savepoints/savepoint-"} {
		if !strings.Contains(got.errOut, says) {
			t.Errorf("it does not say %q:\n%s", says, got.errOut)
		}
	}
	// The way back is a plan as any other, about the job that failed.
	s.manager.StartFails = ""
	second, secondID := s.rollback("chk-43")
	again := s.run("apply", second, "--approve", secondID, "--reason", "x", "--access", "operate")
	if again.code != 0 {
		t.Errorf("exit %d\n%s%s", again.code, again.out, again.errOut)
	}
	if active := s.manager.Active(incident.Job); len(active) != 1 || active[0] != newJob(t, second) {
		t.Errorf("jobs of the name: %v", active)
	}
}

// The console makes the same plan, and carries it out when it was confirmed: from
// the recovery point's screen to the job's new history, with the keyboard.
func TestTheConsoleRollsAJobBack(t *testing.T) {
	s := startFlinkScene(t)
	t.Chdir(t.TempDir())
	a := &app{streams: streams{in: strings.NewReader(""), out: io.Discard, err: io.Discard, environ: s.environ()}, clock: clock.System{}}
	if err := newRoot(a).PersistentFlags().Parse([]string{"--access", "operate", "--config", s.config}); err != nil {
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
	look := theme.New(theme.Options{Palette: theme.NoStyle})
	root, _ := console.New(console.Options{Theme: look, Now: a.clock.Now, Jobs: []inspect.Job{job}, Source: in, Rollbacks: consoleRollbacks{consoleDocuments: consoleDocuments{a, applies}, in: in, prompt: remembered{}}})
	d := tuitest.New(t, tui.Options{Theme: look, Header: func() tui.Header { return tui.Header{Profile: "demo", Access: "operate 29m"} }, Jobs: applies.Jobs}, root, 120, 40)
	d.Press("enter")
	d.WaitIdle()
	d.Press(":")
	d.Type("point " + s.points + "/chk-43")
	d.Press("enter")
	d.WaitIdle()
	d.Press("u")
	d.WaitIdle()
	d.Press("e")
	d.Type("--name " + incident.Job)
	d.Press("enter")
	d.WaitIdle()
	id, found := strings.CutPrefix(d.Top().Crumb(), "rollback plan ")
	if !found {
		t.Fatalf("there is no plan:\n%s", d.Frame())
	}
	d.Press("A")
	d.WaitIdle()
	for range 40 {
		d.Press("down")
	}
	d.Press("tab", "space", "tab", "enter")
	for range 60 {
		d.Press("down")
	}
	d.Press("tab")
	d.Type("bad deploy, INC-9")
	d.Press("tab")
	d.Type("demo/" + incident.Job + " " + id)
	d.Press("tab")
	if writes := s.manager.Writes(); len(writes) > 0 {
		t.Fatalf("before it was confirmed: %v", writes)
	}
	d.Press("space")
	d.WaitIdle()
	running := applies.Running()
	if running == nil {
		t.Fatalf("nothing was started:\n%s", d.Frame())
	}
	result, err := running.Wait()
	if err != nil || result.Verdict != actions.Applied || result.Receipt.Reason != "bad deploy, INC-9" {
		t.Fatalf("%s, %v: %s", result.Verdict, err, result.Message)
	}
	active := s.manager.Active(incident.Job)
	if len(active) != 1 || active[0] == s.job {
		t.Fatalf("jobs of the name: %v", active)
	}
	d.Press("esc", ":")
	d.Type("live")
	d.Press("enter")
	d.WaitIdle()
	if frame := d.Frame(); !strings.Contains(frame, "RUNNING") || !strings.Contains(frame, "restored from chk-43") || !strings.Contains(frame, "1 restore") {
		t.Errorf("the live screen does not show the job that was restored from chk-43:\n%s", frame)
	}
}

// The hand-off names every id and every value that an apply would use.
func TestTheHandoffOfARollback(t *testing.T) {
	t.Parallel()
	s := startFlinkScene(t)
	file, _ := s.rollback("chk-43", "--savepoint-dir", "s3://state/it's here")
	got := s.run("plan", "show", file, "--handoff", "-o", "json")
	a := decodeAnswer[struct {
		Handoff struct {
			Checks []struct {
				What, Result string
				OK           bool
			}
			Steps []struct{ By, What, Command string }
		}
	}](t, "PlanReview", got)
	if len(a.Data.Handoff.Checks) != 4 {
		t.Errorf("checks %+v", a.Data.Handoff.Checks)
	}
	for _, c := range a.Data.Handoff.Checks {
		if !c.OK {
			t.Errorf("%s: %s", c.What, c.Result)
		}
	}
	commands := map[string][]string{}
	for _, step := range a.Data.Handoff.Steps {
		commands[step.By] = append(commands[step.By], step.Command)
	}
	host := strings.TrimPrefix(s.manager.URL, "http://")
	point := s.points + "/chk-43"
	wantCLI := []string{
		"flink savepoint -m " + host + " " + s.job + ` 's3://state/it'\''s here'`,
		"flink cancel -m " + host + " " + s.job,
		"flink run -m " + host + " -d -s " + point + " -p 2 orders.jar --name " + incident.Job,
	}
	if !slices.Equal(commands["cli"], wantCLI) {
		t.Errorf("by Flink's program: %q, want %q", commands["cli"], wantCLI)
	}
	last := commands["rest"][len(commands["rest"])-2]
	wantRun := fmt.Sprintf(`curl -X POST %s/jars/%s/run -H 'Content-Type: application/json' -d '{"allowNonRestoredState":false,"jobId":"%s","parallelism":2,"programArgsList":["--name","%s"],"savepointPath":"%s"}'`,
		s.manager.URL, flinkJar, newJob(t, file), incident.Job, point)
	if last != wantRun {
		t.Errorf("by REST:\n%s, want\n%s", last, wantRun)
	}
	var patch struct {
		Spec struct {
			Job struct {
				InitialSavepointPath   string
				SavepointRedeployNonce int64
				UpgradeMode            string
				AllowNonRestoredState  bool
			}
		}
	}
	words := commands["kubernetes"][1]
	text := words[strings.Index(words, "-p '")+len("-p '") : len(words)-1]
	if err := json.Unmarshal([]byte(text), &patch); err != nil || patch.Spec.Job.InitialSavepointPath != point || patch.Spec.Job.UpgradeMode != "savepoint" || patch.Spec.Job.SavepointRedeployNonce <= 0 {
		t.Errorf("by the operator: %s, %v", words, err)
	}
	if writes := s.manager.Writes(); len(writes) > 0 {
		t.Errorf("Flink was changed by %v", writes)
	}
}

// A process that is killed at any line of the journal, before Flink has the next
// request or when it has done it, leaves one job and one savepoint, and the same
// command goes on.
func TestARollbackIsKilled(t *testing.T) {
	t.Parallel()
	path := asProcess(t)
	// begin, then intent and outcome of savepoint, cancel and submit
	const lines = 7
	for line := 1; line <= lines; line++ {
		for _, done := range []bool{false, true} {
			t.Run(fmt.Sprintf("line %d, done %v", line, done), func(t *testing.T) {
				t.Parallel()
				s := startFlinkScene(t)
				file, id := s.rollback("chk-43")
				cmd := processOf(t, path, s.environ(), append(s.applyArgs(file, id), "--config", s.config)...)
				var once sync.Once
				started, killed := make(chan struct{}), make(chan struct{})
				s.manager.Fails(func(_ int, r *http.Request) flinktest.Fault {
					if journalLines(t, s.state) < line || done && r.Method == http.MethodGet && line%2 == 0 {
						return flinktest.NoFault
					}
					fault := flinktest.NoFault
					once.Do(func() {
						<-started
						if err := cmd.Process.Kill(); err != nil {
							t.Error(err)
						}
						close(killed)
						if fault = flinktest.LostBefore; done {
							fault = flinktest.LostAfter
						}
					})
					return fault
				})
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				close(started)
				<-killed
				if err := cmd.Wait(); err == nil {
					t.Error("it was not killed")
				}
				s.manager.Fails(nil)
				got := s.run(s.applyArgs(file, id)...)
				if got.code != 0 || !strings.Contains(got.out, "✔ applied") {
					t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
				}
				s.wrote(file)
				if n := s.manager.Savepoints(); n != 1 {
					t.Errorf("%d savepoints", n)
				}
			})
		}
	}
}

// journalLines is how many lines the journal below a state folder has.
func journalLines(t *testing.T, state string) int {
	files, err := filepath.Glob(filepath.Join(state, "recoverctl", "journal", "*.jsonl"))
	if err != nil {
		t.Error(err)
	}
	n := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
		}
		n += strings.Count(string(data), "\n")
	}
	return n
}
