package kafkatest_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkaproxy"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func TestTheFakeAnswersAsKafkaDoes(t *testing.T) {
	conform(t, kafkatest.StartFake(t).Cluster)
}

// Every one of these requests is one that the fake answers in kfake's place.
func TestTheFakeAnswersManyAtOnce(t *testing.T) {
	c := kafkatest.StartFake(t)
	topic := c.Topic(t, 1, nil)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var asking sync.WaitGroup
	for range 8 {
		asking.Go(func() {
			for range 1000 {
				got, err := c.Admin().DescribeTopicConfigs(ctx, topic)
				if err != nil || len(got) != 1 || got[0].Err != nil || len(got[0].Configs) == 0 {
					t.Errorf("settings %v, error %v", got, err)
					return
				}
			}
		})
	}
	asking.Wait()
}

// A proxy that breaks nothing changes nothing.
func TestTheFakeAnswersSoThroughAProxy(t *testing.T) {
	conform(t, through(t, kafkatest.StartFake(t).Cluster))
}

// through is the cluster behind a proxy.
func through(t *testing.T, c *kafkatest.Cluster) *kafkatest.Cluster {
	t.Helper()
	behind, err := kafkatest.NewCluster(kafkaproxy.Start(t, c.Brokers()...).Brokers()...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(behind.Close)
	return behind
}

// conform is what this program relies on in Kafka. It runs against the fake
// and, with the tag real, against a broker: the fake is right as far as both
// pass.
func conform(t *testing.T, c *kafkatest.Cluster) {
	for _, tt := range []struct {
		name string
		run  func(*testing.T, *kafkatest.Cluster)
	}{
		{"a trim moves the log start up and never down", trimMovesUp},
		{"one partition that can't be trimmed does not stop the others", trimIsNotAtomic},
		{"records of a compacted topic are not deleted", compactedTopicsAreNotTrimmed},
		{"a trim of what is not there is refused", trimOfNothing},
		{"settings that do not exist are refused", unknownSettings},
		{"settings are effective values", effectiveSettings},
		{"a compacted topic refuses records without a key", keylessRecords},
		{"a topic that is made anew has another id", recreatedTopic},
		{"a topic that is not there stays absent", absentTopic},
		{"topics that can't be made", impossibleTopics},
		{"partitions are added empty", addedPartitions},
		{"a committed transaction ends in one control record", committedTransaction},
		{"an aborted transaction is hidden from those who read committed records", abortedTransaction},
		{"an open transaction holds back those who read committed records", openTransaction},
		{"an offset below the log start is out of range", readBelowStart},
		{"offsets are found by time", offsetsByTime},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, c) })
	}
}

func trimMovesUp(t *testing.T, c *kafkatest.Cluster) {
	topic := c.Topic(t, 1, nil)
	wantLog(t, c, topic, 0, 0, 0)
	if first := c.Put(t, topic, 0, numbered(5)...); first != 0 {
		t.Errorf("first offset %d", first)
	}
	wantLog(t, c, topic, 0, 0, 5)
	for _, step := range []struct{ to, low int64 }{{3, 3}, {3, 3}, {1, 3}, {0, 3}, {4, 4}, {-1, 5}} {
		resp := trim(t, c, topic, 0, step.to)
		if resp.Err != nil || resp.LowWatermark != step.low {
			t.Errorf("trim to %d: low watermark %d, error %v; want %d", step.to, resp.LowWatermark, resp.Err, step.low)
		}
		wantLog(t, c, topic, 0, step.low, 5)
	}
}

func trimIsNotAtomic(t *testing.T, c *kafkatest.Cluster) {
	topic := c.Topic(t, 3, nil)
	for p := range int32(3) {
		c.Put(t, topic, p, numbered(10)...)
	}
	err := c.Trim(t.Context(), topic, map[int32]int64{0: 4, 1: 11, 2: 6})
	if !errors.Is(err, kerr.OffsetOutOfRange) {
		t.Errorf("error %v, want OFFSET_OUT_OF_RANGE", err)
	}
	wantLog(t, c, topic, 0, 4, 10)
	wantLog(t, c, topic, 1, 0, 10)
	wantLog(t, c, topic, 2, 6, 10)
}

func compactedTopicsAreNotTrimmed(t *testing.T, c *kafkatest.Cluster) {
	topic := c.Topic(t, 1, map[string]string{"cleanup.policy": "compact"})
	c.Put(t, topic, 0, numbered(5)...)
	refused := func(to int64) {
		t.Helper()
		if resp := trim(t, c, topic, 0, to); !errors.Is(resp.Err, kerr.PolicyViolation) {
			t.Errorf("trim to %d: %v, want POLICY_VIOLATION", to, resp.Err)
		}
		wantLog(t, c, topic, 0, 0, 5)
	}
	refused(3)
	refused(99)
	set(t, c, topic, "cleanup.policy", "")
	if resp := trim(t, c, topic, 0, 1); resp.Err != nil {
		t.Errorf("trim of a topic without a policy: %v", resp.Err)
	}
	set(t, c, topic, "cleanup.policy", "compact,delete")
	if resp := trim(t, c, topic, 0, 2); resp.Err != nil {
		t.Errorf("trim of a topic with both policies: %v", resp.Err)
	}
	wantLog(t, c, topic, 0, 2, 5)
	set(t, c, topic, "cleanup.policy", "compact")
	if resp := trim(t, c, topic, 0, 3); !errors.Is(resp.Err, kerr.PolicyViolation) {
		t.Errorf("trim after the policy became compact again: %v, want POLICY_VIOLATION", resp.Err)
	}
}

func trimOfNothing(t *testing.T, c *kafkatest.Cluster) {
	topic := c.Topic(t, 1, nil)
	for name, request := range map[string]kadm.Offset{
		"a partition too many": {Topic: topic, Partition: 7, At: 0},
		"an absent topic":      {Topic: kafkatest.UniqueName("absent"), Partition: 0, At: 0},
	} {
		if resp := rawTrim(t, c, request); !errors.Is(resp, kerr.UnknownTopicOrPartition) {
			t.Errorf("%s: %v, want UNKNOWN_TOPIC_OR_PARTITION", name, resp)
		}
	}
	if resp := trim(t, c, topic, 0, -2); !errors.Is(resp.Err, kerr.OffsetOutOfRange) {
		t.Errorf("trim to -2: %v, want OFFSET_OUT_OF_RANGE", resp.Err)
	}
}

func unknownSettings(t *testing.T, c *kafkatest.Cluster) {
	topic := c.Topic(t, 1, nil)
	for name, settings := range map[string]map[string]string{
		"a name that does not exist":    {"retention.hours": "3"},
		"a number that is none":         {"retention.ms": "a week"},
		"a number below its least":      {"retention.ms": "-2"},
		"a policy that does not exist":  {"cleanup.policy": "shrink"},
		"one bad setting among several": {"retention.ms": "1000", "cleanup.polcy": "compact"},
	} {
		err := c.CreateTopic(t.Context(), kafkatest.UniqueName("refused"), 1, settings)
		if !errors.Is(err, kerr.InvalidConfig) {
			t.Errorf("create with %s: %v, want INVALID_CONFIG", name, err)
		}
		for key, value := range settings {
			if key == "retention.ms" && value == "1000" {
				continue
			}
			if err := c.Set(t.Context(), topic, key, value); !errors.Is(err, kerr.InvalidConfig) {
				t.Errorf("set %s: %v, want INVALID_CONFIG", name, err)
			}
		}
	}
	if got := settingsOf(t, c, topic)["retention.ms"]; got.MaybeValue() != "604800000" {
		t.Errorf("retention.ms became %s", got.MaybeValue())
	}
	for key, value := range map[string]string{"segment.ms": "60000", "min.compaction.lag.ms": "5", "min.cleanable.dirty.ratio": "0.1"} {
		set(t, c, topic, key, value)
	}
}

func effectiveSettings(t *testing.T, c *kafkatest.Cluster) {
	topic := c.Topic(t, 1, map[string]string{"retention.bytes": "1048576"})
	got := settingsOf(t, c, topic)
	want := defaults()
	for key, value := range want {
		if key == "retention.bytes" {
			continue
		}
		if got[key] == nil || got[key].MaybeValue() != value {
			t.Errorf("%s is %v, want %q", key, got[key], value)
		} else if got[key].Source == kmsg.ConfigSourceDynamicTopicConfig {
			t.Errorf("%s is said to be set on the topic", key)
		}
	}
	for key := range got {
		if _, ok := want[key]; !ok {
			t.Errorf("%s is listed, and is not among Kafka's settings", key)
		}
	}
	if b := got["retention.bytes"]; b.MaybeValue() != "1048576" || b.Source != kmsg.ConfigSourceDynamicTopicConfig {
		t.Errorf("retention.bytes is %q from %s", b.MaybeValue(), b.Source)
	}
	set(t, c, topic, "retention.ms", "1000")
	if ms := settingsOf(t, c, topic)["retention.ms"]; ms.MaybeValue() != "1000" || ms.Source != kmsg.ConfigSourceDynamicTopicConfig {
		t.Errorf("retention.ms is %q from %s", ms.MaybeValue(), ms.Source)
	}
}

func keylessRecords(t *testing.T, c *kafkatest.Cluster) {
	for _, policy := range []string{"compact", "compact,delete"} {
		topic := c.Topic(t, 1, map[string]string{"cleanup.policy": policy})
		_, err := c.Write(t.Context(), topic, 0, kafkatest.KV("a", "1"), kafkatest.Record{Value: []byte("2")}, kafkatest.KV("b", "3"))
		if !errors.Is(err, kerr.InvalidRecord) {
			t.Errorf("%s: %v, want INVALID_RECORD", policy, err)
		}
		wantLog(t, c, topic, 0, 0, 0)
		c.Put(t, topic, 0, kafkatest.KV("a", "1"), kafkatest.Tombstone("a"), kafkatest.KV("", "empty key"))
		wantLog(t, c, topic, 0, 0, 3)
	}
	topic := c.Topic(t, 1, nil)
	c.Put(t, topic, 0, kafkatest.Record{Value: []byte("2")})
	set(t, c, topic, "cleanup.policy", "compact")
	if _, err := c.Write(t.Context(), topic, 0, kafkatest.Record{Value: []byte("2")}); !errors.Is(err, kerr.InvalidRecord) {
		t.Errorf("after the policy became compact: %v, want INVALID_RECORD", err)
	}
	wantLog(t, c, topic, 0, 0, 1)
}

func recreatedTopic(t *testing.T, c *kafkatest.Cluster) {
	topic := c.Topic(t, 2, nil)
	c.Put(t, topic, 1, numbered(3)...)
	before, err := c.TopicID(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.RecreateTopic(t.Context(), topic, 2, nil); err != nil {
		t.Fatal(err)
	}
	after, err := c.TopicID(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	if before == after || before == (kadm.TopicID{}) || after == (kadm.TopicID{}) {
		t.Errorf("ids %s and %s", before, after)
	}
	wantLog(t, c, topic, 1, 0, 0)
	if first := c.Put(t, topic, 1, numbered(1)...); first != 0 {
		t.Errorf("the first record of the new topic is at %d", first)
	}
}

func absentTopic(t *testing.T, c *kafkatest.Cluster) {
	absent := kafkatest.UniqueName("absent")
	if _, err := c.TopicID(t.Context(), absent); !errors.Is(err, kerr.UnknownTopicOrPartition) {
		t.Errorf("describe: %v, want UNKNOWN_TOPIC_OR_PARTITION", err)
	}
	if _, err := c.Write(t.Context(), absent, 0, kafkatest.KV("k", "v")); err == nil {
		t.Error("a record was written to it")
	}
	topics, err := c.Admin().ListTopics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if topics.Has(absent) {
		t.Error("it came into being by being asked for")
	}
	configs, err := c.Admin().DescribeTopicConfigs(t.Context(), absent)
	if err != nil || len(configs) != 1 || !errors.Is(configs[0].Err, kerr.UnknownTopicOrPartition) {
		t.Errorf("settings: %v %v, want UNKNOWN_TOPIC_OR_PARTITION", configs, err)
	}
}

func impossibleTopics(t *testing.T, c *kafkatest.Cluster) {
	topic := c.Topic(t, 1, nil)
	if err := c.CreateTopic(t.Context(), topic, 1, nil); !errors.Is(err, kerr.TopicAlreadyExists) {
		t.Errorf("twice the same name: %v, want TOPIC_ALREADY_EXISTS", err)
	}
	for _, name := range []string{"a b", "a/b", "."} {
		if err := c.CreateTopic(t.Context(), name, 1, nil); !errors.Is(err, kerr.InvalidTopicException) {
			t.Errorf("name %q: %v, want INVALID_TOPIC_EXCEPTION", name, err)
		}
	}
	resp, err := c.Admin().CreateTopic(t.Context(), 1, 3, nil, kafkatest.UniqueName("replicated"))
	if !errors.Is(errors.Join(err, resp.Err), kerr.InvalidReplicationFactor) {
		t.Errorf("three replicas on one broker: %v %v, want INVALID_REPLICATION_FACTOR", resp.Err, err)
	}
	if err := c.AddPartitions(t.Context(), topic, 1); !errors.Is(err, kerr.InvalidPartitions) {
		t.Errorf("as many partitions as there are: %v, want INVALID_PARTITIONS", err)
	}
}

func addedPartitions(t *testing.T, c *kafkatest.Cluster) {
	topic := c.Topic(t, 1, nil)
	c.Put(t, topic, 0, numbered(2)...)
	if err := c.AddPartitions(t.Context(), topic, 3); err != nil {
		t.Fatal(err)
	}
	wantLog(t, c, topic, 0, 0, 2)
	wantLog(t, c, topic, 2, 0, 0)
	c.Put(t, topic, 2, numbered(1)...)
	wantLog(t, c, topic, 2, 0, 1)
}

func committedTransaction(t *testing.T, c *kafkatest.Cluster) {
	topic := c.Topic(t, 1, nil)
	c.Put(t, topic, 0, numbered(1)...)
	txn := begin(t, c, topic, kafkatest.KV("a", "1"), kafkatest.KV("b", "2"))
	if txn.First != 1 {
		t.Errorf("first offset %d", txn.First)
	}
	if err := txn.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantLog(t, c, topic, 0, 0, 4)
	wantStable(t, c, topic, 4)
	for _, isolation := range []kafkaconn.Isolation{kafkaconn.ReadUncommitted, kafkaconn.ReadCommitted} {
		wantRecords(t, c, topic, isolation, 4, "0 k0", "1 a", "2 b", "3 control")
	}
}

func abortedTransaction(t *testing.T, c *kafkatest.Cluster) {
	topic := c.Topic(t, 1, nil)
	txn := begin(t, c, topic, kafkatest.KV("a", "1"))
	c.Put(t, topic, 0, kafkatest.KV("between", "x"))
	if _, err := txn.Write(t.Context(), topic, 0, kafkatest.KV("b", "2")); err != nil {
		t.Fatal(err)
	}
	if err := txn.Abort(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Put(t, topic, 0, kafkatest.KV("after", "y"))
	wantLog(t, c, topic, 0, 0, 5)
	wantStable(t, c, topic, 5)
	wantRecords(t, c, topic, kafkaconn.ReadUncommitted, 5, "0 a", "1 between", "2 b", "3 control", "4 after")
	wantRecords(t, c, topic, kafkaconn.ReadCommitted, 5, "1 between", "3 control", "4 after")
}

func openTransaction(t *testing.T, c *kafkatest.Cluster) {
	topic := c.Topic(t, 1, nil)
	c.Put(t, topic, 0, numbered(2)...)
	txn := begin(t, c, topic, kafkatest.KV("a", "1"))
	c.Put(t, topic, 0, kafkatest.KV("later", "x"))
	wantLog(t, c, topic, 0, 0, 4)
	wantStable(t, c, topic, 2)
	wantRecords(t, c, topic, kafkaconn.ReadUncommitted, 4, "0 k0", "1 k1", "2 a", "3 later")
	wantRecords(t, c, topic, kafkaconn.ReadCommitted, 2, "0 k0", "1 k1")

	// Trimming reaches to the log end, past the open transaction's start.
	if resp := trim(t, c, topic, 0, 4); resp.Err != nil || resp.LowWatermark != 4 {
		t.Errorf("trim past an open transaction: low watermark %d, error %v", resp.LowWatermark, resp.Err)
	}
	if err := txn.Abort(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantLog(t, c, topic, 0, 4, 5)
	wantStable(t, c, topic, 5)
}

func readBelowStart(t *testing.T, c *kafkatest.Cluster) {
	topic := c.Topic(t, 1, nil)
	c.Put(t, topic, 0, numbered(5)...)
	if resp := trim(t, c, topic, 0, 3); resp.Err != nil {
		t.Fatal(resp.Err)
	}
	for _, from := range []int64{2, 6} {
		_, err := read(t, c, topic, from, from+1, kafkaconn.ReadUncommitted)
		if !errors.Is(err, kerr.OffsetOutOfRange) || fault.KindOf(err) != fault.Drift {
			t.Errorf("reading from %d: %v, want OFFSET_OUT_OF_RANGE", from, err)
		}
	}
	wantRecords(t, c, topic, kafkaconn.ReadUncommitted, 5, "3 k3", "4 k4")
}

func offsetsByTime(t *testing.T, c *kafkatest.Cluster) {
	topic := c.Topic(t, 1, nil)
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for hour := range 4 {
		c.Put(t, topic, 0, kafkatest.Record{Key: []byte("k"), Time: day.Add(time.Duration(hour) * time.Hour)})
	}
	for _, tt := range []struct {
		at   time.Duration
		want int64
	}{{-time.Hour, 0}, {90 * time.Minute, 2}, {2 * time.Hour, 2}, {10 * time.Hour, 4}} {
		got, err := c.Admin().ListOffsetsAfterMilli(t.Context(), day.Add(tt.at).UnixMilli(), topic)
		if err != nil {
			t.Fatal(err)
		}
		if o, _ := got.Lookup(topic, 0); o.Offset != tt.want {
			t.Errorf("offset at %s is %d, want %d", tt.at, o.Offset, tt.want)
		}
	}
}

// defaults is every setting of a topic that Kafka 4.3 lists, with the value of
// a topic that sets none.
func defaults() map[string]string {
	const longest = "9223372036854775807"
	return map[string]string{
		"cleanup.policy": "delete", "compression.gzip.level": "-1", "compression.lz4.level": "9", "compression.type": "producer",
		"compression.zstd.level": "3", "delete.retention.ms": "86400000", "file.delete.delay.ms": "60000", "flush.messages": longest,
		"flush.ms": longest, "follower.replication.throttled.replicas": "", "index.interval.bytes": "4096",
		"leader.replication.throttled.replicas": "", "local.retention.bytes": "-2", "local.retention.ms": "-2",
		"max.compaction.lag.ms": longest, "max.message.bytes": "1048588", "message.timestamp.after.max.ms": "3600000",
		"message.timestamp.before.max.ms": longest, "message.timestamp.type": "CreateTime", "min.cleanable.dirty.ratio": "0.5",
		"min.compaction.lag.ms": "0", "min.insync.replicas": "1", "preallocate": "false", "remote.log.copy.disable": "false",
		"remote.log.delete.on.disable": "false", "remote.storage.enable": "false", "retention.bytes": "-1", "retention.ms": "604800000",
		"segment.bytes": "1073741824", "segment.index.bytes": "10485760", "segment.jitter.ms": "0", "segment.ms": "604800000",
		"unclean.leader.election.enable": "false",
	}
}

// numbered is n records with the keys k0, k1, ….
func numbered(n int) []kafkatest.Record {
	out := make([]kafkatest.Record, n)
	for i := range out {
		out[i] = kafkatest.KV("k"+string(rune('0'+i)), "v")
	}
	return out
}

func begin(t *testing.T, c *kafkatest.Cluster, topic string, records ...kafkatest.Record) *kafkatest.Transaction {
	t.Helper()
	txn, err := c.Begin(t.Context(), topic, 0, records...)
	if err != nil {
		t.Fatal(err)
	}
	return txn
}

func set(t *testing.T, c *kafkatest.Cluster, topic, key, value string) {
	t.Helper()
	if err := c.Set(t.Context(), topic, key, value); err != nil {
		t.Fatal(err)
	}
	// A broker that acknowledged a setting may not act on it yet.
	for end := time.Now().Add(time.Minute); settingsOf(t, c, topic)[key].MaybeValue() != value; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s of topic %s does not become %s", key, topic, value)
		}
	}
}

func settingsOf(t *testing.T, c *kafkatest.Cluster, topic string) map[string]*kadm.Config {
	t.Helper()
	resources, err := c.Admin().DescribeTopicConfigs(t.Context(), topic)
	if err != nil || len(resources) != 1 || resources[0].Err != nil {
		t.Fatalf("settings of %s: %v %v", topic, resources, err)
	}
	out := map[string]*kadm.Config{}
	for _, config := range resources[0].Configs {
		out[config.Key] = &config
	}
	return out
}

// trim deletes records and returns what the cluster answers for the partition.
func trim(t *testing.T, c *kafkatest.Cluster, topic string, partition int32, to int64) kadm.DeleteRecordsResponse {
	t.Helper()
	resps, err := c.Admin().DeleteRecords(t.Context(), kadm.Offsets{topic: {partition: {Topic: topic, Partition: partition, At: to}}})
	if err != nil {
		t.Fatal(err)
	}
	resp, ok := resps.Lookup(topic, partition)
	if !ok {
		t.Fatalf("no answer for topic %s partition %d: %v", topic, partition, resps)
	}
	return resp
}

// rawTrim sends the request to a broker as it is; clients refuse by themselves
// to send one for a partition that does not exist.
func rawTrim(t *testing.T, c *kafkatest.Cluster, o kadm.Offset) error {
	t.Helper()
	req := kmsg.NewPtrDeleteRecordsRequest()
	req.TimeoutMillis = 5000
	topic := kmsg.NewDeleteRecordsRequestTopic()
	topic.Topic = o.Topic
	partition := kmsg.NewDeleteRecordsRequestTopicPartition()
	partition.Partition, partition.Offset = o.Partition, o.At
	topic.Partitions = append(topic.Partitions, partition)
	req.Topics = append(req.Topics, topic)
	brokers, err := c.Admin().BrokerMetadata(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Client().Broker(int(brokers.Brokers[0].NodeID)).Request(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return kerr.ErrorForCode(resp.(*kmsg.DeleteRecordsResponse).Topics[0].Partitions[0].ErrorCode)
}

func wantLog(t *testing.T, c *kafkatest.Cluster, topic string, partition int32, start, end int64) {
	t.Helper()
	starts, err := c.Admin().ListStartOffsets(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	ends, err := c.Admin().ListEndOffsets(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := starts.Lookup(topic, partition)
	e, _ := ends.Lookup(topic, partition)
	if err := errors.Join(s.Err, e.Err); err != nil || s.Offset != start || e.Offset != end {
		t.Errorf("partition %d is [%d, %d), error %v; want [%d, %d)", partition, s.Offset, e.Offset, err, start, end)
	}
}

func wantStable(t *testing.T, c *kafkatest.Cluster, topic string, want int64) {
	t.Helper()
	ends, err := c.Admin().ListCommittedOffsets(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	if e, _ := ends.Lookup(topic, 0); e.Err != nil || e.Offset != want {
		t.Errorf("last stable offset %d, error %v; want %d", e.Offset, e.Err, want)
	}
}

// wantRecords reads partition 0 up to end and compares "offset key" of each
// record.
func wantRecords(t *testing.T, c *kafkatest.Cluster, topic string, isolation kafkaconn.Isolation, end int64, want ...string) {
	t.Helper()
	starts, err := c.Admin().ListStartOffsets(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	start, _ := starts.Lookup(topic, 0)
	got, err := read(t, c, topic, start.Offset, end, isolation)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
}

func read(t *testing.T, c *kafkatest.Cluster, topic string, from, end int64, isolation kafkaconn.Isolation) ([]string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	conn, err := kafkaconn.Open(ctx, c.Config())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	reader, err := conn.NewReader(map[string]map[int32]int64{topic: {0: from}}, isolation)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	var out []string
	for next := from; next < end; {
		fetches, err := reader.Poll(ctx, 0)
		if err != nil {
			return out, err
		}
		fetches.EachRecord(func(r *kgo.Record) {
			next = r.Offset + 1
			if r.Offset < end {
				out = append(out, describe(r))
			}
		})
	}
	return out, nil
}

func describe(r *kgo.Record) string {
	key := string(r.Key)
	if r.Attrs.IsControl() {
		key = "control"
	}
	return string(rune('0'+r.Offset)) + " " + key
}

// The verbs fail where the cluster refuses: a test must not go on with a topic
// that was not made.
func TestAnAnswerThatIsAnErrorIsReturned(t *testing.T) {
	c := kafkatest.StartFake(t).Cluster
	absent := kafkatest.UniqueName("absent")
	for name, err := range map[string]error{
		"delete":  c.DeleteTopic(t.Context(), absent),
		"raise":   c.AddPartitions(t.Context(), absent, 3),
		"setting": c.Set(t.Context(), absent, "retention.ms", "1"),
		"trim":    c.Trim(t.Context(), absent, map[int32]int64{0: 1}),
	} {
		if !errors.Is(err, kerr.UnknownTopicOrPartition) {
			t.Errorf("%s: %v, want UNKNOWN_TOPIC_OR_PARTITION", name, err)
		}
	}
	names := maps.Collect(func(yield func(string, bool) bool) {
		for range 100 {
			if !yield(kafkatest.UniqueName("x"), true) {
				return
			}
		}
	})
	if len(names) != 100 {
		t.Errorf("%d names of 100 are unique", len(names))
	}
}
