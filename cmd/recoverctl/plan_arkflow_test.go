package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/arkflow"
	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/testkit/arkhubtest"
)

// quickClock runs a hundred times as fast as the machine's.
type quickClock struct{ from time.Time }

func (q quickClock) Now() time.Time {
	const times = 100
	return q.from.Add(times * time.Since(q.from))
}

// hubScene is a hub with one job, and a home of its own for the program.
type hubScene struct {
	t                *testing.T
	hub              *arkhubtest.Hub
	url, store, home string
}

func startHubScene(t *testing.T, o arkhubtest.Options) hubScene {
	t.Helper()
	o.Clock = quickClock{time.Now()}
	s := hubScene{t: t, hub: arkhubtest.New(o), store: t.TempDir(), home: t.TempDir()}
	s.hub.AddNode("node-a")
	s.hub.AddStream("node-a", "heartbeat", "running", "")
	s.url = s.hub.Start(t)
	return s
}

// set makes the job of a version, which then runs.
func (s hubScene) set(version int) {
	s.t.Helper()
	err := s.hub.SetJob(fmt.Sprintf(`{"id":"orders","version":%d,"parallelism":2,"operators":[{"id":"src","kind":"source"},{"id":"count","kind":"aggregate","stateful":true}],
		"sources":[{"operator_id":"src","input_type":"kafka"}],"checkpoint":{"interval_ms":4000,"retention":0,"object_store_uri":"file://%s"}}`, version, s.store), "running")
	if err != nil {
		s.t.Fatal(err)
	}
	const runs = 200 * time.Millisecond // of the hub's clock: 20 s
	time.Sleep(runs)
}

func (s hubScene) environ() []string {
	return []string{"HOME=" + s.home, "XDG_STATE_HOME=" + filepath.Join(s.home, "state")}
}

func (s hubScene) run(args ...string) outcome {
	s.t.Helper()
	return commandIn(s.t, s.environ(), "", append(args, "--hub", s.url)...)
}

func (s hubScene) file(name string) string { return filepath.Join(s.home, name) }

// plan makes a plan and returns its file.
func (s hubScene) plan(what ...string) string {
	s.t.Helper()
	file := s.file(strings.ReplaceAll(strings.Join(what, "-"), "/", "-"))
	if got := s.run(append(append([]string{"plan", "arkflow"}, what...), "--out", file)...); got.code != 0 || !strings.Contains(got.out, "the plan is written to ") {
		s.t.Fatalf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	return file
}

// applyArgs approve the plan in a file, and accept warnings.
func (s hubScene) applyArgs(file string, accept ...string) []string {
	s.t.Helper()
	plan := decodeAnswer[struct{ PlanID string }](s.t, "PlanReview", s.run("plan", "show", file, "-o", "json"))
	args := []string{"apply", file, "--access", "operate", "--reason", "INC-2231", "--approve", plan.Data.PlanID}
	for _, name := range accept {
		args = append(args, "--accept", name)
	}
	return args
}

func (s hubScene) apply(file string, accept ...string) outcome {
	s.t.Helper()
	return s.run(s.applyArgs(file, accept...)...)
}

// did is how often the hub did what plans ask for. Checkpoints are left out: it takes
// some by itself.
func (s hubScene) did() map[string]int {
	out := map[string]int{}
	for _, e := range s.hub.Effects() {
		if e != "checkpoint orders" && e != "job orders" {
			out[e]++
		}
	}
	return out
}

// A savepoint is taken and a job rolled back to it by plans: made, shown, applied,
// verified; and what the hub would accept and nobody should ask for makes none.
func TestArkFlowPlans(t *testing.T) {
	t.Parallel()
	s := startHubScene(t, arkhubtest.Options{})
	s.set(1)
	if got := s.run("plan", "arkflow", "rollback", "orders", "--out", s.file("none")); got.code != 1 || !strings.Contains(got.errOut, "is the lowest on record") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	savepoint := s.plan("savepoint", "orders")
	if got := s.run("verify", savepoint); got.code != 1 || !strings.Contains(got.out, "no savepoint was begun by it") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	if got := s.apply(savepoint); got.code != 0 {
		t.Fatalf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	s.set(2)
	var saved string
	for _, e := range decodeAnswer[struct{ Points []struct{ ID string } }](t, "ArkFlowPoints", s.run("inspect", "arkflow", "points", "orders", "-o", "json")).Data.Points {
		if strings.HasPrefix(e.ID, "savepoint-") {
			saved = e.ID
		}
	}
	if got := s.run("validate", "restore", saved); got.code != 1 || !strings.Contains(got.out, "recoverctl plan arkflow rollback orders --to 1 --out FILE --hub "+s.url) {
		t.Errorf("validate restore does not name the way to it: exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	rollback := s.plan("rollback", "orders")
	if got := s.run("plan", "show", rollback); got.code != 0 || !strings.Contains(got.out, "restored from savepoint-") {
		t.Fatalf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	if got := s.apply(rollback); got.code != 0 || !strings.Contains(got.out, "by the hub's rule it was restored from savepoint-") {
		t.Fatalf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	if got := s.run("verify", rollback); got.code != 0 {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	want := map[string]int{"savepoint orders": 1, "stop orders": 1, "version 1 orders": 1, "start orders": 1}
	if got := s.did(); !maps.Equal(got, want) {
		t.Errorf("the hub did %v", got)
	}
	if got := s.run("apply", rollback, "--reason", "INC-2231"); got.code != 5 {
		t.Errorf("without the right to write: exit %d\n%s", got.code, got.errOut)
	}
}

// An upgrade is paused, goes on and is cancelled, and a stream is restarted: each by
// a plan that is made, applied and verified, and each once.
func TestArkFlowPlansOfUpgradesAndStreams(t *testing.T) {
	t.Parallel()
	s := startHubScene(t, arkhubtest.Options{Generation: arkhub.GenerationUpgrades})
	s.set(1)
	if got := s.run("plan", "arkflow", "pause", "orders", "--out", s.file("none")); got.code != 1 || !strings.Contains(got.errOut, "no upgrade of job orders is under way") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	s.hub.SetUpgrade("orders", "job-upgrade-12", "verifying", 1, 2)
	if got := s.run("plan", "arkflow", "resume", "orders", "--out", s.file("none")); got.code != 1 || !strings.Contains(got.errOut, "only one that is paused is resumed") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	for _, one := range []struct{ verb, of, accept, says string }{
		{"pause", "orders", "job-may-stand-still", "the upgrade job-upgrade-12 is paused"},
		{"resume", "orders", "", "the upgrade job-upgrade-12 is verifying: it goes on"},
		{"cancel", "orders", "upgrade-unwatched", "the upgrade job-upgrade-12 is cancelled"},
		{"restart", "node-a/heartbeat", "stream-not-covered", "stream node-a/heartbeat is running since "},
	} {
		file := s.plan(one.verb, one.of)
		if got := s.run("verify", file); got.code != 1 || !strings.Contains(got.out, "not-started") {
			t.Errorf("%s: verify before: exit %d\n%s%s", one.verb, got.code, got.out, got.errOut)
		}
		if got := s.apply(file); one.accept != "" && (got.code != 5 || !strings.Contains(got.errOut, one.accept)) {
			t.Errorf("%s: not accepted: exit %d\n%s%s", one.verb, got.code, got.out, got.errOut)
		}
		if got := s.apply(file, strings.Fields(one.accept)...); got.code != 0 || !strings.Contains(got.out, one.says) {
			t.Errorf("%s: exit %d\n%s%s", one.verb, got.code, got.out, got.errOut)
		}
		if got := s.run("verify", file); got.code != 0 || !strings.Contains(got.out, one.says) {
			t.Errorf("%s: verify: exit %d\n%s%s", one.verb, got.code, got.out, got.errOut)
		}
	}
	want := map[string]int{"upgrade pause orders": 1, "upgrade resume orders": 1, "upgrade cancel orders": 1, "running node-a/heartbeat": 1}
	if got := s.did(); !maps.Equal(got, want) {
		t.Errorf("the hub did %v, want %v", got, want)
	}
	for name, tt := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no stream":        {[]string{"plan", "arkflow", "restart", "heartbeat"}, 2, "write NODE/STREAM"},
		"an unknown one":   {[]string{"plan", "arkflow", "restart", "node-a/nothing"}, 6, "lists the streams"},
		"an existing file": {[]string{"plan", "arkflow", "restart", "node-a/heartbeat"}, 5, "is not overwritten"},
	} {
		file := s.file("other")
		if name == "an existing file" {
			file = s.file("restart-node-a-heartbeat")
		}
		if got := s.run(append(tt.args, "--out", file)...); got.code != tt.code || !strings.Contains(got.errOut, tt.says) {
			t.Errorf("%s: exit %d\n%s%s", name, got.code, got.out, got.errOut)
		}
	}
}

// A request that is lost is not sent again by the same command, whoever gives it,
// before somebody says that it is lost; verify says what is not known.
func TestALostRequestIsNotSentAgain(t *testing.T) {
	t.Parallel()
	s := startHubScene(t, arkhubtest.Options{})
	s.set(1)
	file := s.plan("savepoint", "orders")
	s.hub.Break(arkhubtest.On("POST", "/savepoints", arkhubtest.LoseRequest))
	if got := s.apply(file); got.code != 12 || !strings.Contains(got.errOut, "nothing more is sent before that is settled") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	s.hub.Break()
	if got := s.run("verify", file); got.code != 12 || !strings.Contains(got.out, "if it still comes, it begins another round") {
		t.Errorf("verify: exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	again := s.plan("savepoint", "orders", "--store", s.store) // another plan about the same job
	for _, file := range []string{file, again} {
		if got := s.apply(file); got.code != 5 || !strings.Contains(got.errOut, "request-unsettled") {
			t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
		}
	}
	if got := s.did(); len(got) != 0 {
		t.Errorf("the hub did %v", got)
	}
	if got := s.apply(file, "request-unsettled"); got.code != 0 {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	if got := s.did(); got["savepoint orders"] != 1 {
		t.Errorf("the hub did %v", got)
	}
}

// byHand is how many checkpoints somebody began: those that are due by time have the
// job's name in theirs.
func (s hubScene) byHand() (n int) {
	s.t.Helper()
	type list struct {
		Points []struct{ ID string }
	}
	for _, p := range decodeAnswer[list](s.t, "ArkFlowPoints", s.run("inspect", "arkflow", "points", "orders", "-o", "json")).Data.Points {
		if strings.HasPrefix(p.ID, "checkpoint-") && !strings.HasPrefix(p.ID, "checkpoint-orders-") {
			n++
		}
	}
	return n
}

// The names of Flink's plans make ArkFlow's of the chosen job of ArkFlow, or name the
// command that is meant, before anything else is asked for; plan checkpoint makes the
// one plan of the name that there is.
func TestArkFlowsPlansUnderFlinksNames(t *testing.T) {
	t.Parallel()
	s := startHubScene(t, arkhubtest.Options{})
	s.set(1)
	for name, says := range map[string]string{
		"rollback": "recoverctl plan arkflow rollback ID --out FILE", "savepoint": "recoverctl plan arkflow savepoint ID --out FILE",
		"stop": "recoverctl plan arkflow --help", "cancel": "recoverctl plan arkflow --help",
	} {
		got := s.run("plan", name, "--out", s.file(name))
		if got.code != 2 || !strings.Contains(got.errOut, says) || !strings.Contains(got.errOut, "is a job of ArkFlow") {
			t.Errorf("plan %s: exit %d\n%s%s", name, got.code, got.out, got.errOut)
		}
	}
	file := s.file("config.yaml")
	yaml := fmt.Sprintf("default-profile: demo\nprofiles:\n  - name: demo\n    environment: staging\n    access: operate\n    jobs:\n      - {name: orders, engine: arkflow, arkflow: {hub: %q}}\n", s.url)
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	named := func(args ...string) outcome { return commandIn(t, s.environ(), "", append(args, "--config", file)...) }
	if got := named("plan", "savepoint", "--out", s.file("sp")); got.code != 0 || !strings.Contains(got.out, "arkflow-savepoint plan ") {
		t.Errorf("plan savepoint: exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	if got := s.apply(s.file("sp")); got.code != 0 {
		t.Fatalf("apply: exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	s.set(2)
	if got := named("plan", "rollback", "--out", s.file("rb")); got.code != 0 || !strings.Contains(got.out, "arkflow-rollback plan ") {
		t.Errorf("plan rollback: exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	for _, flag := range [][]string{{"--point", "file:///x"}, {"--no-savepoint"}} {
		if got := named(append([]string{"plan", "rollback", "--out", s.file("other")}, flag...)...); got.code != 2 || !strings.Contains(got.errOut, flag[0]+" is about a job of Flink") {
			t.Errorf("%v: exit %d\n%s%s", flag, got.code, got.out, got.errOut)
		}
	}
	if got := s.run("plan", "checkpoint", "orders", "--out", s.file("c")); got.code != 0 || !strings.Contains(got.out, "the plan is written to ") {
		t.Errorf("plan checkpoint: exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	if got := s.apply(s.file("c")); got.code != 0 || s.byHand() != 1 {
		t.Errorf("apply: exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	got := commandIn(t, s.environ(), "", "plan", "checkpoint", "orders", "--out", s.file("f"), "--topic", "t", "--flink-rest", "http://127.0.0.1:1")
	if got.code != 2 || !strings.Contains(got.errOut, "Flink takes its checkpoints by itself") {
		t.Errorf("of a job of Flink: exit %d\n%s%s", got.code, got.out, got.errOut)
	}
}

// What a start sends again stands beside what it restores, where a log is named.
func TestTheReplayCostOfAJob(t *testing.T) {
	t.Parallel()
	s := startHubScene(t, arkhubtest.Options{Generation: arkhub.GenerationUpgrades})
	s.set(1)
	type answer struct {
		Points struct {
			Replay *struct {
				Raw      *struct{ From, To, Entries int }
				Covered  *int
				Point    string
				Sentence string
			}
		}
	}
	got := s.run("inspect", "arkflow", "job", "orders", "-o", "json")
	if a := decodeAnswer[answer](t, "ArkFlowJob", got); a.Data.Points.Replay == nil || a.Data.Points.Replay.Raw != nil || !strings.Contains(a.Data.Points.Replay.Sentence, "not exposed: no write-ahead log was named") {
		t.Errorf("exit %d\n%s", got.code, got.out)
	}
	log := filepath.Join("..", "..", "internal", "redbfile", "testdata", "wal-local", "kafka-meta")
	var a struct{ Data answer }
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) { // until there is a checkpoint
		got = s.run("inspect", "arkflow", "job", "orders", "--wal", log, "-o", "json")
		a.Data = decodeAnswer[answer](t, "ArkFlowJob", got).Data
		if r := a.Data.Points.Replay; r != nil && r.Point != "" {
			break
		}
	}
	if r := a.Data.Points.Replay; r == nil || r.Raw == nil || r.Raw.From != 11 || r.Raw.To != 18 || r.Raw.Entries != 8 || r.Covered != nil || !strings.Contains(r.Sentence, "not exposed: an entry is of partition ") {
		t.Errorf("exit %d\n%s", got.code, got.out)
	}
	for _, what := range []string{"job", "points"} {
		if got := s.run("inspect", "arkflow", what, "orders", "--wal", log); !strings.Contains(got.out, "not exposed: an entry is of partition ") {
			t.Errorf("%s: exit %d\n%s", what, got.code, got.out)
		}
	}
}

// What another apply sent between the report and its approval is not approved with
// it: nothing is begun.
func TestAnApplyIsNotBegunWhereAnotherSentSomething(t *testing.T) {
	t.Parallel()
	s := startHubScene(t, arkhubtest.Options{})
	s.set(1)
	file := s.plan("savepoint", "orders")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	plan, p := actions.ParseDocument(data)
	if p != nil {
		t.Fatal(p.Message)
	}
	a := &app{streams: streams{in: strings.NewReader(""), out: io.Discard, err: io.Discard, environ: s.environ()}, clock: clock.System{}}
	if err := newRoot(a).PersistentFlags().Parse([]string{"--hub", s.url}); err != nil {
		t.Fatal(err)
	}
	if err := a.load(); err != nil {
		t.Fatal(err)
	}
	job, err := a.arkflowJob("orders")
	if err != nil {
		t.Fatal(err)
	}
	before := actions.ArkFlowReport(plan, a.withJournal(actions.ArkFlowEvidence{}, plan, job))
	s.hub.Break(arkhubtest.On("POST", "/savepoints", arkhubtest.LoseRequest))
	if got := s.apply(file); got.code != 12 {
		t.Fatalf("exit %d\n%s", got.code, got.errOut)
	}
	s.hub.Break()
	sent := len(s.hub.Requests())
	_, _, err = a.beginArkFlow(arkflow.Sources{Hub: arkhub.Options{Address: s.url}, Job: "orders", Clock: a.clock}, job)(t.Context(), approvedDocument{plan: plan, report: before})
	if fault.KindOf(err) != fault.Drift || !strings.Contains(err.Error(), "another apply sent something to orders") || len(s.hub.Requests()) != sent {
		t.Errorf("%v, %d requests", err, len(s.hub.Requests())-sent)
	}
	// The same report made now has the request, and its warning.
	if now := actions.ArkFlowReport(plan, a.withJournal(actions.ArkFlowEvidence{}, plan, job)); len(now.Open) != 1 || now.Hash() == before.Hash() {
		t.Errorf("%+v", now.Open)
	}
}

// Where the stream's log is named, the plan of its restart says what is sent again, and
// warns of what a start would make of a damaged one.
func TestARestartLooksAtTheLog(t *testing.T) {
	t.Parallel()
	s := startHubScene(t, arkhubtest.Options{})
	logs := filepath.Join("..", "..", "internal", "redbfile", "testdata", "wal-local")
	for log, tt := range map[string]struct{ says, warns string }{
		"kafka-meta":      {"By its write-ahead log 8 entries are sent again, from sequence 11 on.", ""},
		"clean-acked":     {"By its write-ahead log nothing is sent again.", ""},
		"bad-entry-clean": {"", "log-damaged"},
		"bad-slots-both":  {"", "log-damaged"},
		"short-file":      {"", "log-damaged"},
	} {
		file := s.file(log)
		got := s.run("plan", "arkflow", "restart", "node-a/heartbeat", "--wal", filepath.Join(logs, log), "--out", file)
		if got.code != 0 || !strings.Contains(got.out, tt.says) || strings.Contains(got.out, "! log-damaged: ") != (tt.warns != "") {
			t.Errorf("%s: exit %d\n%s%s", log, got.code, got.out, got.errOut)
		}
		if got := s.run(append(s.applyArgs(file, "stream-not-covered"), "--wal", filepath.Join(logs, log))...); tt.warns != "" && (got.code != 5 || !strings.Contains(got.errOut, tt.warns)) {
			t.Errorf("%s: apply: exit %d\n%s%s", log, got.code, got.out, got.errOut)
		}
	}
	if got := s.run("plan", "arkflow", "restart", "node-a/heartbeat", "--wal", filepath.Join("..", "..", "inspect", "arkflow", "testdata", "wal-s3", "s3-pending", "bucket", "wal", "node-a", "orders-eu"), "--out", s.file("other")); got.code != 0 || strings.Contains(got.out, "sent again") && !strings.Contains(got.out, "was not read") {
		t.Errorf("another stream's log: exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	// The log of a job of the profile is that of the stream of its name, and of no other.
	config := s.file("config.yaml")
	log, err := filepath.Abs(filepath.Join(logs, "kafka-meta"))
	if err != nil {
		t.Fatal(err)
	}
	yaml := fmt.Sprintf("default-profile: demo\nprofiles:\n  - name: demo\n    environment: staging\n    jobs:\n      - {name: %%s, engine: arkflow, arkflow: {hub: %q, wal: %q}}\n", s.url, log)
	for name, sent := range map[string]bool{"heartbeat": true, "orders-eu": false} {
		if err := os.WriteFile(config, fmt.Appendf(nil, yaml, name), 0o600); err != nil {
			t.Fatal(err)
		}
		got := commandIn(t, s.environ(), "", "plan", "arkflow", "restart", "node-a/heartbeat", "--out", s.file("of-"+name), "--config", config)
		if got.code != 0 || strings.Contains(got.out, "8 entries are sent again") != sent || strings.Contains(got.out, "was not read") == sent {
			t.Errorf("with the log of %s: exit %d\n%s%s", name, got.code, got.out, got.errOut)
		}
	}
}

// On another machine nothing is known of what was sent from the first: verify says
// where to ask, and apply asks before it sends more of a plan that was begun.
func TestAPlanOfAnotherMachine(t *testing.T) {
	t.Parallel()
	s := startHubScene(t, arkhubtest.Options{})
	s.set(1)
	if got := s.apply(s.plan("savepoint", "orders")); got.code != 0 {
		t.Fatalf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	s.set(2)
	file := s.plan("rollback", "orders")
	s.hub.Break(arkhubtest.On("POST", "/rollback", arkhubtest.LoseRequest))
	if got := s.apply(file); got.code == 0 {
		t.Fatalf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	s.hub.Break()
	before := s.did()
	there := s
	there.home = t.TempDir()
	if got := there.run("verify", file); got.code == 0 || !strings.Contains(got.out, "the journal of this machine has no run of the plan") {
		t.Errorf("verify: exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	if got := there.apply(file); got.code != 5 || !strings.Contains(got.errOut, "begun-elsewhere") || !maps.Equal(s.did(), before) {
		t.Errorf("apply: exit %d, the hub did %v\n%s%s", got.code, s.did(), got.out, got.errOut)
	}
	if got := there.apply(file, "begun-elsewhere"); got.code != 0 {
		t.Errorf("accepted: exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	want := map[string]int{"savepoint orders": 1, "stop orders": 1, "version 1 orders": 1, "start orders": 1}
	if got := s.did(); !maps.Equal(got, want) {
		t.Errorf("the hub did %v, want %v", got, want)
	}
	if got := s.run("verify", file); got.code != 0 {
		t.Errorf("verify on the first: exit %d\n%s%s", got.code, got.out, got.errOut)
	}
}
