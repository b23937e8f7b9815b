package story

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/testkit/cases"
	"github.com/recoverctl/recoverctl/internal/testkit/incident"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkaproxy"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// otherTopicID is the id of no topic.
const otherTopicID = "Q2fIxHVRQmmpQwJzMkLm3A"

// jobID is the folder of the story's checkpoints.
const jobID = "4f3c92d07be1458a96c0d1e2f3a4b5c6"

// Outcome is how a command of the program ended.
type Outcome struct {
	Exit     int
	Out, Err string
	Killed   bool // it said nothing, and has no exit code
}

// Program runs one command of the program under test, with nothing of this
// process's environment. It ends at once, as if killed, when ctx does.
type Program func(ctx context.Context, environ []string, args ...string) Outcome

// Stage is where stories are played.
type Stage struct {
	Cluster *kafkatest.Cluster
	Program Program
	Process Program // runs as a process of its own: for stories in which it is killed

	Flink func(t testing.TB, scenario string) (address, jobID string) // starts a JobManager that answers as one did

	// Request limits one request of the program.
	Request time.Duration
}

// world is one story while it is played. Its fields are touched by the story and,
// while a command runs, by the proxy.
type world struct {
	testing.TB
	Stage
	grammar
	proxy  *kafkaproxy.Proxy
	others *kafkatest.Cluster // who write to the control topic: through the proxy, whose trace has every record
	dir    string

	mu            sync.Mutex
	data, control string // names of the topics
	job           jobConfig
	plans         map[string]plan
	points        map[string]point
	fillers       []int // records written so far, by partition
	open          *kafkatest.Transaction
	accepts       []string // by every apply
	kill          func()   // ends the command that runs
	late          []error  // what went wrong while a command ran
}

type jobConfig struct {
	keep       int
	pinned     []string
	controls   string // control topic of the job where it is another; "-": none
	tombstones bool
	access     string
	flink      map[string]any // empty: none is known
}

type plan struct {
	cases.Plan
	file string
}

type point struct {
	uri   string
	dir   string
	files []string
	at    []int64 // by partition
}

// Play plays a story, and fails the test at the line where it is not as told.
func Play(t *testing.T, s Story, stage Stage) {
	t.Helper()
	w := newWorld(t, stage)
	for _, statement := range s.Statements {
		w.step(s.Name, statement)
		if t.Failed() {
			t.Fatalf("%s.txt:%d: the story ends here", s.Name, statement.Number)
		}
	}
}

func newWorld(t *testing.T, stage Stage) *world {
	t.Helper()
	w := &world{
		TB: t, Stage: stage, grammar: newGrammar(), proxy: kafkaproxy.Start(t, stage.Cluster.Brokers()...), dir: t.TempDir(),
		data: kafkatest.UniqueName("data"), control: kafkatest.UniqueName("control"),
		job: jobConfig{keep: 1, access: "operate"}, plans: map[string]plan{}, points: map[string]point{},
	}
	var err error
	if w.others, err = kafkatest.NewCluster(w.proxy.Brokers()...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.others.Close)
	t.Cleanup(w.clear)
	// Whatever a story tells, nothing is ever deleted before a boundary is recorded.
	t.Cleanup(func() {
		if err := kafkaproxy.CheckTrims(w.proxy.Requests(), w.isCommitted); err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *world) isCommitted(topic string, r kmsg.Record) bool {
	return topic == w.control && strings.Contains(string(r.Value), `"status":"COMMITTED"`)
}

// clear ends what the story left open, after its own context has ended.
func (w *world) clear() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if w.open != nil {
		if err := w.open.Abort(ctx); err != nil {
			w.Errorf("the open transaction: %v", err)
		}
	}
	if _, err := w.Cluster.Admin().DeleteTopics(ctx, w.data, w.control); err != nil {
		w.Errorf("delete the story's topics: %v", err)
	}
}

// step is one line at the margin with those under it.
func (w *world) step(name string, s Statement) {
	w.Helper()
	fail := func(line Line, err error) {
		w.Helper()
		w.Errorf("%s.txt:%d: %s: %v", name, line.Number, line.Text, err)
	}
	if knows(w.events, s.Text) {
		if len(s.Under) > 0 {
			fail(s.Under[0], errors.New("nothing is expected of what just happens"))
			return
		}
		if err := w.happen(s.Text); err != nil {
			fail(s.Line, err)
		}
		return
	}
	c := &command{world: w}
	if err := follow(w.commands, c, s.Text); err != nil {
		fail(s.Line, err)
		return
	}
	var expected []Line
	for _, line := range s.Under {
		if knows(w.expectations, line.Text) {
			expected = append(expected, line)
		} else if err := follow(w.circumstances, c, line.Text); err != nil {
			fail(line, err)
			return
		}
	}
	if err := c.run(w.Context()); err != nil {
		fail(s.Line, err)
		return
	}
	for _, line := range expected {
		if err := follow(w.expectations, c, line.Text); err != nil {
			fail(line, err)
		}
	}
	if w.Failed() {
		w.Logf("exit %d\n%s%s", c.outcome.Exit, c.outcome.Out, c.outcome.Err)
	}
}

// happen does what a line says happened, also in the middle of a command.
func (w *world) happen(text string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return follow(w.events, w, text)
}

// fill writes records to every partition of the data topic.
func (w *world) fill(ctx context.Context, each int) error {
	for p := range w.fillers {
		var records []kafkatest.Record
		for range each {
			r := cases.Filler(p, w.fillers[p])
			records = append(records, kafkatest.Record{Key: r.KeyBytes(), Value: r.ValueBytes()})
			w.fillers[p]++
		}
		if _, err := w.Cluster.Write(ctx, w.data, int32(p), records...); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) topicID(ctx context.Context) (string, error) {
	id, err := w.Cluster.TopicID(ctx, w.data)
	return base64.RawURLEncoding.EncodeToString(id[:]), err
}

// place is the folder in which the checkpoints of the job lie.
func (w *world) place() string { return filepath.Join(w.dir, "checkpoints", jobID) }

func (w *world) addPoint(ctx context.Context, name, at, how string) error {
	offsets, err := offsetsOf(at)
	if err != nil {
		return err
	}
	number, err := strconv.ParseInt(strings.TrimPrefix(name, "chk-"), 10, 64)
	if err != nil {
		return fmt.Errorf("a point is named as in chk-42: %w", err)
	}
	id, err := w.topicID(ctx)
	if err != nil {
		return err
	}
	if how == "of another topic" {
		id = otherTopicID
	}
	dir := filepath.Join(w.place(), name)
	const newest = 1000 // minutes between the points' times
	marker := inspect.Offsets{}
	for p, at := range offsets {
		marker[int32(p)] = at
	}
	files, err := incident.Checkpoint{
		ID: number, Topic: w.data, TopicID: id, Offsets: marker, Legacy: how == "legacy",
		Taken: time.Now().Add(-time.Duration(newest-number) * time.Minute),
	}.Write(dir)
	if err != nil {
		return err
	}
	p := point{uri: "file:" + dir, dir: dir, files: files, at: offsets}
	if w.points[name] = p; how == "pinned" {
		w.job.pinned = append(w.job.pinned, p.uri)
	}
	return nil
}

func (w *world) point(name string) (point, error) {
	p, known := w.points[name]
	if !known {
		return p, fmt.Errorf("there is no point %s", name)
	}
	return p, nil
}

func (w *world) plan(name string) (plan, error) {
	p, known := w.plans[name]
	if !known {
		return p, fmt.Errorf("there is no plan %s", name)
	}
	return p, nil
}

// planned is a plan by its content, with the id that follows from it.
func (w *world) planned(ctx context.Context, name, source string, at []int64) (plan, error) {
	id, err := w.topicID(ctx)
	if err != nil {
		return plan{}, err
	}
	p := plan{Plan: cases.Plan{Source: source, Topic: w.data, TopicID: id, Offsets: map[string]int64{}}, file: filepath.Join(w.dir, name+".json")}
	for n, offset := range at {
		p.Plan.Offsets[strconv.Itoa(n)] = offset
	}
	return p, nil
}

// addPlan writes a plan file as somebody else made it.
func (w *world) addPlan(ctx context.Context, name, at, how string) error {
	offsets, err := offsetsOf(at)
	if err != nil {
		return err
	}
	p, err := w.planned(ctx, name, "file:/elsewhere/"+name, offsets)
	if err != nil {
		return err
	}
	if how == "of another topic" {
		p.TopicID = otherTopicID
	}
	// A control record holds the plan, which is what a plan file holds.
	_, record := p.ControlRecord("COMMITTED")
	_, text, _ := strings.Cut(string(record), `"plan":`)
	w.plans[name] = p
	return os.WriteFile(p.file, []byte(strings.TrimSuffix(text, "}")), 0o600)
}

// record is a record of the control topic as a line names it: "P COMMITTED",
// "the tombstone of P", or text that stands as it is.
func (w *world) record(text string) (kafkatest.Record, error) {
	words := strings.Fields(text)
	if name, found := strings.CutPrefix(text, "the tombstone of "); found {
		p, err := w.plan(name)
		return kafkatest.Tombstone(p.ID()), err
	}
	if len(words) == 2 && slices.Contains([]string{"COMMITTED", "APPLIED"}, words[1]) {
		p, err := w.plan(words[0])
		if err != nil {
			return kafkatest.Record{}, err
		}
		key, value := p.ControlRecord(words[1])
		return kafkatest.Record{Key: key, Value: value}, nil
	}
	return kafkatest.KV("somebody", text), nil
}

// named is the record as record understands it, or how it is seen.
func (w *world) named(key, value []byte) string {
	for _, name := range slices.Sorted(maps.Keys(w.plans)) {
		p := w.plans[name]
		for _, status := range []string{"COMMITTED", "APPLIED"} {
			if k, v := p.ControlRecord(status); string(k) == string(key) && string(v) == string(value) {
				return name + " " + status
			}
		}
	}
	if value == nil {
		return "a tombstone"
	}
	return "a foreign record"
}
