package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/flussrpc/write"
	"github.com/recoverctl/recoverctl/internal/testkit/flusstest"
)

// producerScene is a Fluss cluster with a table of two buckets, and a producer of
// it, as the program is told of them.
type producerScene struct {
	t        testing.TB
	client   *flussrpc.Client
	log      flussrpc.Log
	state    string
	flags    []string
	producer string
	table    string
	ends     []int64 // where the buckets end
}

const producerTable = "shop.orders"

// startProducers starts a fake cluster with 10 and 4 rows.
func startProducers(t *testing.T, settings map[string]string) (producerScene, *flusstest.Cluster) {
	t.Helper()
	c, err := flusstest.Start(flusstest.Options{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	id, err := c.CreateTable(flusstest.ActionState(flussrpc.TablePath{Database: "shop", Table: "orders"}, 2))
	if err != nil {
		t.Fatal(err)
	}
	log := flussrpc.Log{Table: id, Partition: flussrpc.NoPartition}
	ends := []int64{10, 4}
	for bucket, end := range ends {
		rows := make([][]any, end)
		for i := range rows {
			rows[i] = []any{"key", []byte("{}"), "agent"}
		}
		if _, err := c.Append(log, int32(bucket), time.Now().UnixMilli(), rows...); err != nil {
			t.Fatal(err)
		}
	}
	client, err := flussrpc.NewClient(flussrpc.Config{Servers: c.Servers(), Timeout: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return producerScene{
		t: t, client: client, log: log, state: t.TempDir(), producer: "orders-sink", table: producerTable, ends: ends,
		flags: []string{"--fluss", strings.Join(c.Servers(), ","), "--table", producerTable, "--environment", "production", "--timeout", "30s"},
	}, c
}

func (s producerScene) environ() []string {
	return []string{"HOME=" + s.state, "XDG_STATE_HOME=" + s.state, "XDG_CONFIG_HOME=" + s.state}
}

func (s producerScene) run(args ...string) outcome {
	s.t.Helper()
	return s.runWith("", args...)
}

func (s producerScene) runWith(stdin string, args ...string) outcome {
	s.t.Helper()
	return commandIn(s.t.(*testing.T), s.environ(), stdin, append(args, s.flags...)...)
}

// stored registers offsets past what a plan does.
func (s producerScene) stored(offsets ...int64) {
	s.t.Helper()
	var all []flussrpc.ProducerOffset
	for bucket, o := range offsets {
		all = append(all, flussrpc.ProducerOffset{Log: s.log, Bucket: int32(bucket), Offset: o})
	}
	if r, err := write.RegisterProducer(s.t.Context(), s.client, s.producer, all, time.Hour); err != nil || r != write.Created {
		s.t.Fatal(r, err)
	}
}

// keeps compares what the coordinator keeps.
func (s producerScene) keeps(want ...int64) {
	s.t.Helper()
	entry, _, err := s.client.ProducerOffsets(s.t.Context(), s.producer)
	if err != nil {
		s.t.Fatal(err)
	}
	var got []int64
	for _, o := range entry.Offsets {
		got = append(got, o.Offset)
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("the coordinator keeps %v, want %v", got, want)
	}
}

// plan makes a plan and returns its file and its id.
func (s producerScene) plan(args ...string) (file, id string) {
	s.t.Helper()
	file = filepath.Join(s.t.TempDir(), "producer.json")
	made := decodeAnswer[planJSON](s.t.(*testing.T), "ProducerPlan", s.run(append(append([]string{"plan"}, args...), "--out", file, "-o", "json")...))
	return file, made.Data.PlanID
}

func (s producerScene) deletes() (file, id string) { return s.plan("producer-delete", s.producer) }

func (s producerScene) registersLatest() (file, id string) {
	return s.plan("producer-register", s.producer, "--latest", "--ttl", "2h")
}

func (s producerScene) applyArgs(file, id string) []string {
	return []string{"apply", file, "--approve", id, "--reason", "wedged sink, INC-12", "--access", "operate", "--accept", "job-state-unknown", "--accept", "unfinished-rows-stay"}
}

func (s producerScene) says(o outcome, code int, words ...string) {
	s.t.Helper()
	for _, w := range words {
		if !strings.Contains(o.out+o.errOut, w) {
			s.t.Errorf("it does not say %q", w)
		}
	}
	if o.code != code {
		s.t.Errorf("exit %d, want %d", o.code, code)
	}
	if s.t.Failed() {
		s.t.Fatalf("%s%s", o.out, o.errOut)
	}
}

// From the plan to the receipt: an entry is deleted, and registered again from the
// plan's own file; log ends are registered; what is shown on the way.
func TestAProducerFromThePlanToTheReceipt(t *testing.T) {
	t.Parallel()
	s, _ := startProducers(t, nil)
	s.stored(8, 4)
	deleted(s)
}

// deleted is the story, for the fake cluster and for a real one.
func deleted(s producerScene) {
	file, id := s.deletes()
	s.says(s.run("plan", "show", file), 0, "producer-delete plan "+id, "! unfinished-rows-stay: 2 rows since the stored offsets", "! job-state-unknown",
		"the right WRITE on "+s.table, "then, the producer's next start: A start without a checkpoint registers the log ends as they are then")
	s.says(s.run("verify", file), 1, "· not-started: the entry of producer")
	s.says(s.run("apply", file, "--approve", id, "--reason", "x", "--access", "operate"), 5, "job-state-unknown")
	s.says(s.run(s.applyArgs(file, id)...), 0, "✔ applied: nothing is stored for producer", "why          wedged sink, INC-12", "producer     "+s.producer+", id ", "next start   A start without a checkpoint registers")
	s.keeps()
	s.says(s.run("verify", file), 0, "✔ applied", "why          wedged sink, INC-12", "producer     "+s.producer+", id ")
	s.says(s.run("verify", id), 2, "give the plan's file")
	s.says(s.run("journal", "show", "--plan", id[:8]), 0, "deletes the entry of producer "+s.producer, "0=8 1=4")
	s.says(s.run(s.applyArgs(file, id)...), 0, "it was as planned already: nothing was sent")
	s.says(s.run("plan", "producer-delete", s.producer, "--out", filepath.Join(s.t.TempDir(), "x")), 6, "nothing is stored for producer")

	// The way back that the report names.
	back, backID := s.plan("producer-register", s.producer, "--offsets", file, "--ttl", "1h")
	s.says(s.run("apply", back, "--approve", backID, "--reason", "too soon", "--access", "operate", "--accept", "job-state-unknown", "--accept", "rows-undone"), 0,
		"✔ applied: exactly the plan's offsets are stored", "keeps the stored offsets and undoes the 2 rows written since")
	s.keeps(8, 4)
	s.says(s.run("plan", "producer-register", s.producer, "--latest", "--out", filepath.Join(s.t.TempDir(), "x")), 1, "ALREADY_EXISTS")

	// And what inspect tells is a file to register, too.
	told := s.run("inspect", "fluss", "producer", s.producer, "-o", "json", "--fail-on", "never").out
	file, id = s.deletes()
	s.says(s.run(s.applyArgs(file, id)...), 0, "✔ applied")
	copied := filepath.Join(s.t.TempDir(), "producer.json")
	s.says(s.runWith(told, "plan", "producer-register", s.producer, "--offsets", "-", "--out", copied), 0, "wrote ", "2 buckets of "+s.table)
	s.keeps()

	file, id = s.registersLatest()
	s.says(s.run("plan", "show", file), 0, "! unfinished-rows-stay: rows before these log ends", "so it undoes nothing")
	s.says(s.run(s.applyArgs(file, id)...), 0, "✔ applied", "nothing was written since, so it undoes nothing")
	s.keeps(s.ends...)
}

// What is wrong with what was asked for is said before anything is connected to.
func TestAProducerPlanIsRefusedBeforeItConnects(t *testing.T) {
	t.Parallel()
	s, c := startProducers(t, nil)
	for name, tt := range map[string]struct {
		args []string
		code int
		says string
	}{
		"an id with a dot":     {[]string{"producer-delete", "a.b"}, 2, "other characters than ASCII letters"},
		"a long id":            {[]string{"producer-register", strings.Repeat("a", 201), "--latest"}, 2, "more than 200 characters"},
		"no offsets":           {[]string{"producer-register", "a"}, 2, "give --offsets FILE or --latest"},
		"two kinds of offsets": {[]string{"producer-register", "a", "--latest", "--offsets", "x"}, 2, "give --offsets FILE or --latest"},
		"a time of nothing":    {[]string{"producer-register", "a", "--latest", "--ttl", "0s"}, 2, "--ttl 0s is not between"},
		"no such file":         {[]string{"producer-register", "a", "--offsets", "nowhere.json"}, 6, "there is no file nowhere.json"},
	} {
		got := s.run(append(append([]string{"plan"}, tt.args...), "--out", filepath.Join(t.TempDir(), "x"))...)
		if got.code != tt.code || !strings.Contains(got.errOut, tt.says) {
			t.Errorf("%s: exit %d, want %d and %q\n%s", name, got.code, tt.code, tt.says, got.errOut)
		}
	}
	if calls := c.Calls(); len(calls) > 0 {
		t.Errorf("the cluster was asked %d times", len(calls))
	}
	file := filepath.Join(t.TempDir(), "offsets.json")
	if err := os.WriteFile(file, []byte(`{"tables":[{"table":"shop.orders","buckets":[{"bucket":0,"baseline":11},{"bucket":1,"baseline":4}]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.says(s.run("plan", "producer-register", "a", "--offsets", file, "--out", filepath.Join(t.TempDir(), "x")), 7, "a start with these offsets fails (baseline-beyond-log)", "its log ends at 10")
}

// A cluster whose cleanup deletes live files is told before anything is entrusted
// to it.
func TestARemoteDirWithoutASchemeHasToBeAccepted(t *testing.T) {
	t.Parallel()
	s, c := startProducers(t, map[string]string{"remote.data.dir": "/data/remote"})
	file, id := s.registersLatest()
	s.says(s.run(s.applyArgs(file, id)...), 5, "remote-dir-without-scheme")
	s.says(s.run(append(s.applyArgs(file, id), "--accept", "remote-dir-without-scheme")...), 0, "✔ applied")
	c.LoseOffsetFiles(s.producer)
	s.says(s.run("plan", "producer-register", s.producer, "--latest", "--out", filepath.Join(t.TempDir(), "x")), 1, "whose offsets nobody can read", "ALREADY_EXISTS until it expires")
	s.says(s.run("verify", file), 7, "contradicted", "waits 5 minutes for offsets that nobody can read")
	file, id = s.deletes()
	s.says(s.run(append(s.applyArgs(file, id), "--accept", "offsets-unreadable")...), 0, "✔ applied: nothing is stored")
}

// A process that is killed at any line of the journal, before the coordinator has
// the next request or when it has done it, leaves the entry as before or as
// planned, and the same command goes on.
func TestAProducerPlanIsKilled(t *testing.T) {
	t.Parallel()
	path := asProcess(t)
	const lines = 3 // begin, intent, outcome
	for _, register := range []bool{false, true} {
		for line := 1; line <= lines; line++ {
			for _, done := range []bool{false, true} {
				t.Run(fmt.Sprintf("register %v, line %d, done %v", register, line, done), func(t *testing.T) {
					t.Parallel()
					s, c := startProducers(t, nil)
					file, id := "", ""
					want := s.ends
					if register {
						file, id = s.registersLatest()
					} else {
						want = nil
						s.stored(8, 4)
						file, id = s.deletes()
					}
					cmd := processOf(t, path, s.environ(), append(s.applyArgs(file, id), s.flags...)...)
					var once sync.Once
					started, killed := make(chan struct{}), make(chan struct{})
					c.On(func(call flusstest.Call) flusstest.Reaction {
						writes := call.API == flussrpc.APIDeleteProducer || call.API == flussrpc.APIRegisterProducer
						r := flusstest.Reaction{}
						if journalLines(t, s.state) < line || line == 2 && !writes {
							return r
						}
						once.Do(func() {
							<-started
							if err := cmd.Process.Kill(); err != nil {
								t.Error(err)
							}
							close(killed)
							r = flusstest.Reaction{HangUp: true, After: done}
						})
						return r
					})
					if err := cmd.Start(); err != nil {
						t.Fatal(err)
					}
					close(started)
					<-killed
					if err := cmd.Wait(); err == nil {
						t.Error("it was not killed")
					}
					s.says(s.run(s.applyArgs(file, id)...), 0, "✔ applied")
					s.keeps(want...)
					s.says(s.run("verify", file), 0, "✔ applied")
				})
			}
		}
	}
}

// The console makes the same plan as the command, from the screen of the entry, and
// carries it out when it was confirmed: the whole way with the keyboard.
func TestTheConsoleDeletesAnEntry(t *testing.T) {
	s, _ := startProducers(t, nil)
	s.stored(8, 4)
	_, id := s.deletes()
	d, applies := s.console()
	if frame := d.Frame(); !strings.Contains(frame, "keeps the stored offsets and undoes the 2 rows") {
		t.Fatalf("the entry\n%s", frame)
	}
	s.approves(d, "A", id)
	s.keeps(8, 4)
	d.Press("space")
	d.WaitIdle()
	running := applies.Running()
	if running == nil {
		t.Fatalf("nothing was started:\n%s", d.Frame())
	}
	result, err := running.Wait()
	if err != nil || result.Verdict != actions.Applied || result.Receipt.Reason != "wedged sink" {
		t.Fatalf("%s, %v: %s", result.Verdict, err, result.Message)
	}
	s.keeps()
}
