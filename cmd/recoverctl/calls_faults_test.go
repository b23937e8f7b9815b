package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/testkit/incident"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// onFetch lets a test look at every fetch of an incident's data, and answer it.
func onFetch(cluster *kfake.Cluster, answer func(partition int32, n int64) *kerr.Error) {
	var count atomic.Int64
	cluster.ControlKey(int16(kmsg.Fetch), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		req := kreq.(*kmsg.FetchRequest)
		asked := req.Topics[0]
		code := answer(asked.Partitions[0].Partition, count.Add(1))
		if code == nil {
			return nil, nil, false
		}
		resp := req.ResponseKind().(*kmsg.FetchResponse)
		topic := kmsg.NewFetchResponseTopic()
		topic.Topic, topic.TopicID = asked.Topic, asked.TopicID
		part := kmsg.NewFetchResponseTopicPartition()
		part.Partition, part.ErrorCode = asked.Partitions[0].Partition, code.Code
		topic.Partitions = append(topic.Partitions, part)
		resp.Topics = append(resp.Topics, topic)
		return resp, nil, true
	})
}

// startFaulty starts the incident with a way to disturb it.
func startFaulty(t *testing.T) (scene, *incident.Incident) {
	t.Helper()
	sample, err := incident.Start(t.Context(), t.TempDir(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sample.Close)
	s := scene{t: t, cluster: sample.Kafka().Cluster, config: t.TempDir() + "/config.yaml", state: t.TempDir(), points: sample.Places[0]}
	s.configure(string(sample.ConfigYAML()))
	return s, sample
}

// What could be read of the topic is told, marked as partial, and exits 8; the
// numbers of a part are nobody's.
func TestAPartitionThatMayNotBeRead(t *testing.T) {
	s, sample := startFaulty(t)
	onFetch(sample.Kafka().Kfake(), func(partition int32, _ int64) *kerr.Error {
		if partition == 37 {
			return kerr.TopicAuthorizationFailed
		}
		return nil
	})
	got := s.run("inspect", "calls")
	if got.code != 8 || !strings.Contains(got.out, "PARTIAL: ") || !strings.Contains(got.out, "payments.charge#0") || strings.Contains(got.out, "mail.send") {
		t.Errorf("exit %d\n%s", got.code, got.out)
	}
	if !strings.Contains(got.errOut, "not everything could be read") || !strings.Contains(got.errOut, "partition 37") {
		t.Errorf("stderr says %s", got.errOut)
	}
	calls := s.run("inspect", "calls", "-o", "json")
	a := decodeAnswer[inspectCalls](t, "DurableCalls", calls)
	if calls.code != 8 || !a.Data.Scanned.Partial || len(a.Faults) != 1 || a.Faults[0].Code != "denied" {
		t.Errorf("exit %d, partial %t, %+v", calls.code, a.Data.Scanned.Partial, a.Faults)
	}
	if got = s.run("inspect", "calls", "--stream"); got.code != 8 || !strings.Contains(got.errOut, "partition 37") {
		t.Errorf("a stream exits %d and says %s", got.code, got.errOut)
	}
	if got = s.run("inspect", "job", "--calls"); got.code != 1 || !strings.Contains(got.out, "not all of the topic was scanned for durable calls") ||
		!strings.Contains(got.out, "durable calls    not all of the topic was scanned") || strings.Contains(got.out, "would run again") {
		t.Errorf("exit %d\n%s", got.code, got.out)
	}
	if got = s.run("inspect", "key", "string:bob", "--max-parallelism", "128"); got.code != 8 || !strings.Contains(got.out, "PARTIAL") {
		t.Errorf("exit %d\n%s", got.code, got.out)
	}
	if got = s.run("inspect", "records", "--partition", "36,37,38", "--last", "1"); got.code != 8 || !strings.Contains(got.out, "partition 36: ") || !strings.Contains(got.out, "partition 38: ") || !strings.Contains(got.errOut, "partition 37") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	if got = s.run("inspect", "records", "--partition", "37"); got.code != 5 {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
}

// A topic that goes away is said, with what was read until then.
func TestATopicThatIsDeletedMeanwhile(t *testing.T) {
	s, sample := startFaulty(t)
	deleted := make(chan error, 1)
	onFetch(sample.Kafka().Kfake(), func(_ int32, n int64) *kerr.Error {
		if n == 20 {
			go func() { deleted <- sample.Kafka().DeleteTopic(context.Background(), incident.Topic) }()
		}
		return nil
	})
	got := s.run("inspect", "calls", "--timeout", "5s")
	if err := <-deleted; err != nil {
		t.Fatal(err)
	}
	if got.code != 8 || !strings.Contains(got.out, "PARTIAL: ") || !strings.Contains(got.errOut, "was deleted while being read") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	if got = s.run("inspect", "calls"); got.code != 6 {
		t.Errorf("afterwards exit %d\n%s", got.code, got.errOut)
	}
}

// Ctrl-c keeps what was found until then.
func TestAScanThatIsEndedKeepsWhatItFound(t *testing.T) {
	s, sample := startFaulty(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	onFetch(sample.Kafka().Kfake(), func(_ int32, n int64) *kerr.Error {
		if n == 50 {
			cancel()
		}
		return nil
	})
	var out, errOut bytes.Buffer
	code := run(ctx, []string{"inspect", "calls", "--config", s.config}, streams{in: strings.NewReader(""), out: &out, err: &errOut, environ: s.environ()})
	if code != 8 || !strings.Contains(out.String(), "PARTIAL: ") || strings.Contains(out.String(), "PARTIAL: 0 records") {
		t.Errorf("exit %d\n%s%s", code, out.String(), errOut.String())
	}
}

// A stream prints a call when its partition was read to its end. Here that of Bob
// is held up until Alice's has been printed; and those of the rolled back release,
// which any partition may show to be of an ended JVM, come last.
func TestAStreamDoesNotWaitForTheScan(t *testing.T) {
	s, sample := startFaulty(t)
	const bobs = 37
	printed := make(chan struct{})
	onFetch(sample.Kafka().Kfake(), func(partition int32, _ int64) *kerr.Error {
		if partition != bobs {
			return nil
		}
		select {
		case <-printed:
			return nil
		default:
			return kerr.NotLeaderForPartition // the client asks again
		}
	})
	out, in := io.Pipe()
	var errOut bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- run(t.Context(), []string{"inspect", "calls", "--stream", "--config", s.config}, streams{in: strings.NewReader(""), out: in, err: &errOut, environ: s.environ()})
		in.Close()
	}()
	var partitions []int32
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var action inspect.ActionCalls
		if err := json.Unmarshal(lines.Bytes(), &action); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		partitions = append(partitions, action.Partition)
		if text := action.Key.Text; text != nil && *text == "alice" {
			close(printed)
		}
	}
	if got := <-code; got != 0 || lines.Err() != nil {
		t.Fatalf("exit %d, %v: %s", got, lines.Err(), errOut.String())
	}
	if n := len(partitions); n != 9 || !slices.Equal(partitions[6:], []int32{bobs, 0, 1}) {
		t.Errorf("lines came from partitions %v, want nine, the last ones from 37, 0 and 1", partitions)
	}
}

// Records of every sort on one partition, and a value of 10 MiB.
func TestRecordsOfEverySort(t *testing.T) {
	cluster := kafkatest.StartFake(t).Cluster
	const size = 10 << 20
	topic := cluster.Topic(t, 1, map[string]string{"cleanup.policy": "compact,delete", "max.message.bytes": fmt.Sprint(size + 4096)})
	big := []byte(`{"taskEvent":null,"callResults":[],"completed":true,"pad":"` + strings.Repeat("x", size) + `"}`)
	g1 := "alice_3_99914b93-2bd3-3a50-b983-c5e7c90ae93b_827ccb0e-ea8a-306c-8c34-a16891f84e7b"
	cluster.Put(t, topic, 0, kafkatest.KV(g1, `{"callResults":[{"functionId":"pay\u001b[2J","status":"PENDING"}],"completed":false}`), kafkatest.Tombstone(g1),
		kafkatest.Record{Key: []byte("\xff\x00"), Value: []byte("\x00\x01\xfe")}, kafkatest.KV("plain", "no json"))
	large, err := kgo.NewClient(kgo.SeedBrokers(cluster.Brokers()...), kgo.ProducerBatchMaxBytes(size+4096), kgo.ProducerBatchCompression(kgo.NoCompression()))
	if err != nil {
		t.Fatal(err)
	}
	defer large.Close()
	if err := large.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Key: []byte(g1), Value: big}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	args := []string{"inspect", "records", "--brokers", strings.Join(cluster.Brokers(), ","), "--topic", topic}

	got := command(t, args...)
	for _, want := range []string{"alice", "tombstone", "key of no known layout", "unreadable: ", "completed", "base64 /wA="} {
		if !strings.Contains(got.out, want) {
			t.Errorf("%q is not in\n%s", want, got.out)
		}
	}
	if got.code != 0 || strings.Contains(got.out, "\x1b") {
		t.Errorf("exit %d, or a key steers the terminal\n%q", got.code, got.out)
	}
	if got = command(t, append(args, "--raw", "--to", "4")...); got.code != 0 || strings.Contains(got.out, "\x1b") ||
		!strings.Contains(got.out, "    00000000  00 01 fe") || !strings.Contains(got.out, "  value: null") || !strings.Contains(got.out, "    no json") {
		t.Errorf("exit %d\n%s", got.code, got.out)
	}
	got = command(t, append(args, "--from", "2", "-o", "json")...)
	lines := strings.Split(strings.TrimSpace(got.out), "\n")
	if got.code != 0 || len(lines) != 3 || !strings.Contains(lines[0], `"key":null,"keyBase64":"/wA=","value":null,"valueBase64":"AAH+","valueBytes":3`) || len(lines[2]) < size {
		t.Errorf("exit %d, %d lines, the first %.300s", got.code, len(lines), lines[0])
	}
}

// inspectCalls is the part of a DurableCalls answer that tests look at.
type inspectCalls struct {
	Scanned struct {
		Records int64
		Partial bool
	}
	Actions []struct {
		Key struct {
			Text   *string
			Digest string
		}
		Calls []struct {
			FunctionID string
			State      inspect.CallState
			Outcomes   []inspect.PointOutcome
		}
	}
	Points []inspect.PointCalls
}
