package kafka_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/evidence"
	"github.com/recoverctl/recoverctl/actions/kafka"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/access"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkaproxy"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

const (
	groundRecords = 20 // in each of the two partitions
	stepLimit     = 600 * time.Millisecond
	patientLimit  = 15 * time.Second // of applies with nothing in the way
	verifyLimit   = 15 * time.Second
)

// groundSettings are what a data topic must have.
var groundSettings = map[string]string{"cleanup.policy": "compact,delete", "retention.ms": "-1", "retention.bytes": "-1"}

// faultWorld is what all situations share.
type faultWorld struct {
	real    *kafkatest.Cluster // nil: each situation has a fake cluster of its own
	program string             // path of recoverctl

	replication int // of the control topic; 0 is 1
}

// newFaultWorld builds the program.
func newFaultWorld(t *testing.T, cluster *kafkatest.Cluster) faultWorld {
	t.Helper()
	path := filepath.Join(t.TempDir(), "recoverctl")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, "../../cmd/recoverctl").CombinedOutput(); err != nil {
		t.Fatalf("build recoverctl: %v\n%s", err, out)
	}
	return faultWorld{real: cluster, program: path}
}

// ground is where one situation takes place: a data topic of two partitions in
// which every record says where it stands, and a plan for it. Applies reach the
// cluster through the proxy. The situation itself acts directly; what it writes
// to the control topic goes through the proxy too, so that the trace has every
// record.
type ground struct {
	*testing.T
	faultWorld
	cluster  *kafkatest.Cluster
	proxy    *kafkaproxy.Proxy
	others   *kafkatest.Cluster // through the proxy
	control  string
	plan     inspect.CleanupPlan
	at       []int64 // where each log began when the first apply began
	began    []int   // for each apply, the last place in the trace before it
	lines    *memory
	struck   *kafkaproxy.Fault
	happened chan struct{} // closed when what others do in the middle is done
	state    string        // state folder of the program's processes
	planFile string

	mu        sync.Mutex
	recreated int // place in the trace when the data topic was made anew; 0: never
	open      *kafkatest.Transaction
}

func newGround(t *testing.T, w faultWorld, prepare func(*ground)) *ground {
	t.Helper()
	cluster := w.real
	if cluster == nil {
		cluster = kafkatest.StartFake(t).Cluster
	}
	proxy := startProxy(t, cluster)
	g := &ground{T: t, faultWorld: w, cluster: cluster, proxy: proxy, control: kafkatest.UniqueName("control"),
		at: []int64{0, 0}, lines: &memory{}, happened: make(chan struct{}), state: t.TempDir()}
	var err error
	if g.others, err = kafkatest.NewCluster(g.proxy.Brokers()...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.others.Close)
	data := kafkatest.UniqueName("data")
	g.must(g.fill(t.Context(), data, "old"))
	id, err := cluster.TopicID(t.Context(), data)
	g.must(err)
	g.plan = groundPlan(data, base64.RawURLEncoding.EncodeToString(id[:]), "file:/ck/job/chk-42", 10, 15)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if _, err := cluster.Admin().DeleteTopics(ctx, data, g.control); err != nil {
			t.Errorf("delete the topics of the situation: %v", err)
		}
	})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := g.abortOpen(ctx); err != nil {
			t.Errorf("abort the transaction of the situation: %v", err)
		}
	})
	prepare(g)
	g.planFile = filepath.Join(t.TempDir(), "plan.json")
	g.must(actions.WritePlan(g.planFile, g.plan))
	return g
}

// startProxy stands before a cluster. A connection that broke makes the tool try
// whether the listener speaks TLS, and that is no Kafka frame.
func startProxy(t *testing.T, cluster *kafkatest.Cluster) *kafkaproxy.Proxy {
	t.Helper()
	proxy, err := kafkaproxy.New(cluster.Brokers()...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		proxy.Close()
		if err := proxy.Err(); err != nil {
			for line := range strings.Lines(err.Error()) {
				const hello = "not a Kafka frame: a length of 36929" // a TLS handshake, 1.0 to 1.3, read as a length
				if !strings.Contains(line, hello) {
					t.Errorf("the proxy: %s", line)
				}
			}
		}
	})
	return proxy
}

func groundPlan(topic, id, source string, to ...int64) inspect.CleanupPlan {
	plan := inspect.CleanupPlan{SourceRecoveryPoint: source, Topic: topic, TopicID: id, Offsets: inspect.Offsets{}}
	for p, at := range to {
		plan.Offsets[int32(p)] = at
	}
	plan.PlanID = inspect.PlanID(plan.SourceRecoveryPoint, plan.Topic, plan.TopicID, plan.Offsets)
	return plan
}

// older and later are cleanups of the same topic by others.
func (g *ground) older() inspect.CleanupPlan {
	return groundPlan(g.plan.Topic, g.plan.TopicID, "file:/ck/job/chk-41", 5, 7)
}

func (g *ground) later() inspect.CleanupPlan {
	return groundPlan(g.plan.Topic, g.plan.TopicID, "file:/ck/job/chk-43", 12, 16)
}

// fill makes a data topic whose records say which topic, partition and offset
// they are.
func (g *ground) fill(ctx context.Context, name, which string) error {
	if err := g.cluster.CreateTopic(ctx, name, 2, groundSettings); err != nil {
		return err
	}
	for p := range int32(2) {
		var records []kafkatest.Record
		for i := range int64(groundRecords) {
			records = append(records, kafkatest.KV(fmt.Sprint("key-", i), groundValue(which, p, i)))
		}
		if _, err := g.cluster.Write(ctx, name, p, records...); err != nil {
			return err
		}
	}
	return nil
}

func groundValue(which string, partition int32, offset int64) string {
	return fmt.Sprintf("%s-%d-%d", which, partition, offset)
}

func (g *ground) must(err error) {
	g.Helper()
	if err != nil {
		g.Fatal(err)
	}
}

// makeControl makes the control topic and records operations on it.
func (g *ground) makeControl(records ...kafkatest.Record) {
	g.Helper()
	g.must(g.cluster.CreateTopic(g.Context(), g.control, 1, map[string]string{"cleanup.policy": "compact"}))
	for _, r := range records {
		_, err := g.others.Write(g.Context(), g.control, 0, r)
		g.must(err)
	}
}

// asRecorded is the record of a plan on a control topic.
func asRecorded(plan inspect.CleanupPlan, status inspect.OperationStatus) kafkatest.Record {
	return kafkatest.Record{Key: []byte(plan.PlanID), Value: actions.EncodeRecord(plan, status)}
}

// remake deletes the data topic and makes it anew, full of other records.
func (g *ground) remake(ctx context.Context) error {
	if err := g.cluster.DeleteTopic(ctx, g.plan.Topic); err != nil {
		return err
	}
	if err := g.fill(ctx, g.plan.Topic, "new"); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.recreated = g.now()
	return nil
}

func (g *ground) remadeAt() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.recreated
}

// now is the newest place in the trace.
func (g *ground) now() (newest int) {
	for _, r := range g.proxy.Requests() {
		newest = max(newest, r.Received, r.Served, r.Answered)
	}
	return newest
}

func (g *ground) job() inspect.Job {
	return inspect.Job{Topic: g.plan.Topic, ControlTopic: &g.control, KeepRecoveryPoints: 1}
}

// end is how one apply ended. Err is what an operator is told.
type end struct {
	verdict actions.Outcome
	err     error
}

func (e end) String() string { return fmt.Sprintf("%s (%v)", e.verdict, e.err) }

// apply applies the plan as a command does, in this process: evidence, report,
// approval, run, verdict. Limit bounds one request.
func (g *ground) apply(limit time.Duration) end {
	g.Helper()
	g.began = append(g.began, g.now())
	replication := max(1, g.replication)
	config := kafkaconn.Config{Brokers: g.proxy.Brokers(), DialTimeout: patientLimit, RequestTimeout: limit}
	dial := kafka.Dial(config, clock.System{})
	gather := func(ctx context.Context) (actions.Evidence, error) {
		cluster, err := dial(ctx)
		if err != nil {
			return actions.Evidence{}, err
		}
		defer cluster.Close()
		e, _ := evidence.Sources{Log: cluster, Clock: clock.System{}, Job: g.job(), Replication: &replication}.Gather(ctx, g.plan.SourceRecoveryPoint)
		return e, ctx.Err()
	}
	evidence, err := gather(g.Context())
	if err != nil {
		return end{actions.Undecided, err}
	}
	if err := errors.Join(evidence.ControlErr, evidence.DataErr); err != nil {
		return end{actions.Undecided, err} // the command does not begin either
	}
	report := actions.NewReport(g.plan, evidence)
	if report.Refused != nil {
		return end{actions.Undecided, actions.Refuse(report.Refused.Stage, &report.Refused.Problem)}
	}
	answer := actions.Answer{Digits: g.plan.PlanID, Reason: "a fault test", At: time.Now()}
	for _, w := range report.Warnings {
		answer.Accept = append(answer.Accept, w.Name)
	}
	approval, _, err := actions.Ask(actions.Question{Plan: g.plan, Report: report, Environment: access.Production, Profile: "orders", Subject: g.plan.Topic}, answer)
	if err != nil {
		return end{actions.Undecided, err}
	}
	cleanup := kafka.New(kafka.Config{Connect: dial, Job: g.job(), Plan: g.plan, Approved: report, Replication: &replication, Gather: gather})
	defer cleanup.Close()
	run, err := actions.Start(g.Context(), actions.RunPlan{
		Plan: g.plan, Report: report, Approval: approval,
		Who:   actions.Operator{User: "ops", Host: "bastion", Profile: "orders", Job: "order-agent"},
		Steps: cleanup.Doers(), Verify: cleanup.Verify, Journal: g.lines, Clock: clock.System{}, Timeout: verifyLimit,
	})
	if err != nil {
		return end{actions.Undecided, err}
	}
	result, err := run.Wait()
	return end{result.Verdict, err}
}

// process is one apply by the program, in a process of its own.
type process struct {
	cmd     *exec.Cmd
	out     strings.Builder
	started chan struct{}
	ended   chan struct{}
	killed  chan struct{} // closed by the first kill
	once    sync.Once
}

// begin starts the program.
func (g *ground) begin() *process {
	g.Helper()
	p := g.newProcess()
	p.start(g)
	return p
}

func (g *ground) newProcess() *process {
	g.Helper()
	p := &process{started: make(chan struct{}), ended: make(chan struct{}), killed: make(chan struct{})}
	p.cmd = exec.CommandContext(g.Context(), g.program, "apply", g.planFile, "--reason", "a fault test", "--approve", g.plan.PlanID, "--access", "operate",
		"--accept", "points-unknown", "--accept", "job-state-unknown", "--create-control-topic", "1",
		"--brokers", strings.Join(g.proxy.Brokers(), ","), "--topic", g.plan.Topic, "--control-topic="+g.control, "-o", "json")
	p.cmd.Env = []string{"HOME=" + g.state, "XDG_STATE_HOME=" + g.state, "PATH=" + os.Getenv("PATH")}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, nil
	return p
}

// start must not be called before everything that is to kill it is in place.
func (p *process) start(g *ground) {
	g.Helper()
	g.began = append(g.began, g.now())
	g.must(p.cmd.Start())
	close(p.started)
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // how it ended is in what it printed, or it was killed
	}()
}

// kill ends the process as a power cut would, and returns when it is gone.
func (p *process) kill() {
	<-p.started
	p.once.Do(func() { close(p.killed) })
	_ = p.cmd.Process.Kill() // it may have ended by itself
	<-p.ended
}

func (p *process) wasKilled() bool {
	select {
	case <-p.killed:
		return true
	default:
		return false
	}
}

// wait is how it ended. One that was killed has said nothing.
func (p *process) wait() end {
	<-p.ended
	if p.wasKilled() {
		return end{actions.Undecided, errors.New("killed")}
	}
	var answer struct {
		Data struct {
			Verdict actions.Outcome `json:"verdict"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(p.out.String()), &answer); err != nil {
		return end{actions.Undecided, fault.New(fault.Problem, "apply", "exit %d: %s", p.cmd.ProcessState.ExitCode(), p.out.String())}
	}
	e := end{verdict: answer.Data.Verdict}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		e.err = fmt.Errorf("exit %d", code)
	}
	return e
}

// remaining reads all that is left of the records that the data topic was filled
// with, directly: the log start and the values from there on. What others write
// after them is theirs.
func (g *ground) remaining() (starts map[int32]int64, values map[int32][]string) {
	g.Helper()
	starts, ends := logs(g.T, g.cluster, g.plan.Topic)
	values = map[int32][]string{}
	from, left := map[int32]kgo.Offset{}, 0
	for p, at := range starts {
		if end := min(ends[p], groundRecords); at < end {
			from[p], left = kgo.NewOffset().At(at), left+int(end-at)
		}
	}
	if left == 0 {
		return starts, values
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(g.cluster.Brokers()...), kgo.DisableClientMetrics(),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{g.plan.Topic: from}), kgo.FetchMaxWait(50*time.Millisecond))
	g.must(err)
	defer client.Close()
	ctx, cancel := context.WithTimeout(g.Context(), 20*time.Second)
	defer cancel()
	for left > 0 {
		fetches := client.PollFetches(ctx)
		g.must(fetches.Err())
		fetches.EachRecord(func(r *kgo.Record) {
			if r.Offset >= groundRecords {
				return
			}
			values[r.Partition] = append(values[r.Partition], string(r.Value))
			left--
		})
	}
	return starts, values
}
