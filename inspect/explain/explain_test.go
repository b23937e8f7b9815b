package explain

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// printed are messages as the real systems printed them: a Kafka 4.3.0 broker
// with its Java client, and the checkpoint loader of two versions of Flink. Each
// section of a file is one exception, and the rule is that which is said first.
var printed = []struct {
	file, section, rule string
	numbers             Numbers
}{
	{"kafka-4.3.0", "seek out of range", "kafka-position-out-of-range", Numbers{"requested": int64(100), "topic": "ad2", "partition": int64(0)}},
	{"kafka-4.3.0", "no committed offset", "kafka-no-position", Numbers{"positions": "[ad2-0]"}},
	{"kafka-4.3.0", "topic missing consumer", "kafka-offsets-timeout", Numbers{"waited": int64(6001)}},
	{"kafka-4.3.0", "topic missing admin", "broker-unknown-topic", Numbers{}},
	{"kafka-4.3.0", "delete compact only", "kafka-policy-violation", Numbers{}},
	{"kafka-4.3.0", "delete beyond end", "broker-offset-out-of-range", Numbers{}},
	{"kafka-4.3.0", "topic exists", "kafka-topic-exists", Numbers{"topic": "action-state"}},
	{"kafka-4.3.0", "replication factor", "broker-invalid-replication-factor", Numbers{"found": int64(3), "brokers": int64(1)}},
	{"kafka-4.3.0", "null key on compact", "kafka-key-missing", Numbers{"topic": "action-state", "partition": int64(0)}},
	{"kafka-4.3.0", "too large", "kafka-record-too-large", Numbers{"what": "The request included a message larger than the max message size the server will accept."}},
	{"kafka-4.3.0", "broker down", "kafka-no-broker", Numbers{"call": "listTopics"}},
	{"kafka-4.3.0", "producer broker down", "kafka-topic-not-in-metadata", Numbers{"topic": "x", "waited": int64(5000)}},
	{"kafka-4.3.0", "wrong password", "kafka-login-refused", Numbers{"what": "Authentication failed during authentication due to invalid credentials with SASL mechanism SCRAM-SHA-256"}},
	{"kafka-4.3.0", "no describe", "kafka-not-authorized", Numbers{}},
	{"kafka-4.3.0", "no read", "kafka-not-authorized", Numbers{"topic": "secret"}},
	{"kafka-4.3.0", "no write", "kafka-not-authorized", Numbers{"topic": "secret"}},
	{"kafka-4.3.0", "untrusted", "kafka-tls", Numbers{}},
	{"kafka-4.3.0", "txn timeout / fenced", "kafka-old-producer", Numbers{}},
	{"kafka-4.3.0", "wrong deserializer", "record-value-undecodable", Numbers{"topic": "ad2", "partition": int64(0), "offset": int64(0)}},

	{"flink-2.3.0", "missing folder", "point-missing", Numbers{"point": "file:///data/checkpoints/none/chk-42", "system": "file"}},
	{"flink-2.3.0", "no metadata in folder", "metadata-missing", Numbers{"point": "file:/data/checkpoints/empty/chk-9"}},
	{"flink-2.3.0", "operator not in program", "operator-not-in-program", Numbers{"point": "file:/data/checkpoints/37c94a59de3cb061d9e39767aab8b429/chk-2", "operator": "20ba6b65f97481d5570070de90e4e791"}},
	{"flink-2.3.0", "truncated", "metadata-truncated", Numbers{}},
	{"flink-2.3.0", "magic", "metadata-magic", Numbers{}},
	{"flink-2.3.0", "version", "metadata-version", Numbers{"version": int64(99)}},
	{"flink-2.3.0", "bad scheme", "file-system-unknown", Numbers{"scheme": "s3"}},
	{"flink-2.3.0", "bad pointer", "point-missing", Numbers{"point": "not a path", "system": "file"}},
	{"flink-2.3.0", "no scheme", "point-not-a-path", Numbers{"point": "foo:bar"}},
	{"flink-1.20.5", "metadata of a newer Flink", "metadata-version", Numbers{"version": int64(6)}},
}

func sections(t *testing.T, file string) map[string]string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for part := range strings.SplitSeq("\n"+string(data), "\n### ") {
		if name, text, ok := strings.Cut(part, "\n"); ok {
			out[name] = text
		}
	}
	return out
}

func TestMessagesAsTheRealSystemsPrintThem(t *testing.T) {
	files := map[string]map[string]string{}
	for _, c := range printed {
		t.Run(c.file+"/"+c.section, func(t *testing.T) {
			if files[c.file] == nil {
				files[c.file] = sections(t, c.file)
			}
			text, ok := files[c.file][c.section]
			if !ok {
				t.Fatal("there is no such section")
			}
			one(t, text, c.rule, c.numbers)
		})
	}
}

// one asks for exactly one match.
func one(t *testing.T, text, rule string, numbers Numbers) Match {
	t.Helper()
	e := Text(text, nil)
	if len(e.Matches) != 1 || e.Matches[0].Rule != rule {
		t.Fatalf("%+v, want %s", e, rule)
	}
	m := e.Matches[0]
	got, _ := json.Marshal(m.Numbers)
	want, _ := json.Marshal(numbers)
	if string(got) != string(want) {
		t.Errorf("numbers %s, want %s", got, want)
	}
	if m.Cause == "" || len(m.Next) == 0 || strings.ContainsAny(m.Cause, "{}") && !strings.Contains(text, "{") {
		t.Errorf("%+v", m)
	}
	if len(e.Unknown) > 0 {
		t.Errorf("unknown %q", e.Unknown)
	}
	return m
}

// known are messages by their distinctive words, as the public sources of each
// system have them.
var known = []struct {
	text, rule string
	numbers    Numbers
}{
	{"java.lang.IllegalStateException: Cannot restore Kafka action state for action-state-0 from offset 100 because the committed cleanup boundary is 150", "below-committed-boundary", Numbers{"topic": "action-state", "partition": int64(0), "requested": int64(100), "boundary": int64(150)}},
	{"Cannot rebuild Kafka action state for a-b-12: requested offset 9 is outside the available range [10, 20]", "offset-out-of-range", Numbers{"topic": "a-b", "partition": int64(12), "requested": int64(9), "logStart": int64(10), "logEnd": int64(20)}},
	{"Kafka cleanup control topic contains no committed boundary; apply a cleanup plan before enabling checkpoint-aligned cleanup during recovery", "no-committed-boundary", Numbers{}},
	{"Cannot initialize Kafka action state without a recovery marker because cleanup boundary {0=100, 1=150} is committed", "no-marker-while-boundary-committed", Numbers{"boundary": "{0=100, 1=150}"}},
	{"Kafka cleanup control topic ctl does not exist; apply a cleanup plan before enabling checkpoint-aligned cleanup during recovery", "control-topic-missing", Numbers{"topic": "ctl"}},
	{"Kafka action-state topic action-state has ID AAA, but the recovery marker expects BBB; the topic may have been recreated", "marker-topic-id-mismatch", Numbers{"topic": "action-state", "found": "AAA", "expected": "BBB"}},
	{"Kafka action-state recovery marker references topic old, but the configured topic is new", "marker-of-other-topic", Numbers{"marker": "old", "topic": "new"}},
	{"Kafka action-state recovery marker contains partitions [0], but topic t currently has partitions [0, 1]", "marker-partition-set-mismatch", Numbers{"markerPartitions": "[0]", "topic": "t", "topicPartitions": "[0, 1]"}},
	{"Unsupported Kafka action-state recovery marker schema 99, expected 1", "marker-schema-unsupported", Numbers{"schemaVersion": int64(99)}},
	{"Cannot restore from a mixture of versioned and legacy Kafka recovery markers", "markers-mixed", Numbers{}},
	{"Checkpoint-aligned cleanup requires versioned Kafka recovery markers; legacy or unsupported marker found: java.util.HashMap", "legacy-marker-with-cleanup", Numbers{"found": "java.util.HashMap"}},
	{"Unsupported Kafka action-state recovery marker: java.lang.String", "marker-type-unsupported", Numbers{"found": "java.lang.String"}},
	{"Kafka action-state recovery marker must not be null", "marker-null", Numbers{}},
	{"Kafka action-state topic t changed while the job was running; expected ID A and partitions [0] but found ID B and partitions [0, 1]", "topic-changed-while-running", Numbers{"topic": "t", "expected": "A", "markerPartitions": "[0]", "found": "B", "topicPartitions": "[0, 1]"}},
	{"Kafka action-state replay made no progress for PT30S; current positions are {t-0=5} and target end offsets are {t-0=9}", "replay-stalled", Numbers{"time": "PT30S", "positions": "{t-0=5}", "ends": "{t-0=9}"}},
	{"Kafka cleanup control topic contains a tombstone for plan abc; cleanup boundaries cannot be deleted", "control-tombstone", Numbers{"planId": "abc"}},
	{"Cleanup control record regressed applied plan abc", "control-status-regression", Numbers{"planId": "abc"}},
	{"Cleanup control topic contains incomparable boundaries abc and def0", "incomparable-boundaries", Numbers{"planId": "abc", "other": "def0"}},
	{"Kafka action-state topic t must use cleanup.policy=compact,delete with retention.ms=-1 and retention.bytes=-1 before checkpoint-aligned cleanup can be committed", "data-topic-config-unsafe", Numbers{"topic": "t"}},
	{"Kafka action-state topic t has ID A, but cleanup plan abc expects B", "plan-topic-id-mismatch", Numbers{"topic": "t", "found": "A", "planId": "abc", "expected": "B"}},
	{"Kafka action-state topic t has partitions [0], but cleanup plan abc expects [0, 1]", "plan-partition-set-mismatch", Numbers{"topic": "t", "topicPartitions": "[0]", "planId": "abc", "planPartitions": "[0, 1]"}},
	{"Kafka action-state topic t changed during cleanup; expected ID A but found B", "topic-id-changed-during-cleanup", Numbers{"topic": "t", "expected": "A", "found": "B"}},
	{"Cannot commit Kafka cleanup boundary for t-3 at offset 7 because the available range is [8, 9]", "offset-unavailable", Numbers{"topic": "t", "partition": int64(3), "requested": int64(7), "logStart": int64(8), "logEnd": int64(9)}},
	{"Kafka cleanup for t-3 requested offset 7 but beginning offset is 5", "log-start-below-target", Numbers{"topic": "t", "partition": int64(3), "requested": int64(7), "logStart": int64(5)}},
	{"Legacy Kafka action-state recovery markers must map Integer partitions to Long offsets", "legacy-marker-types", Numbers{}},
	{"Legacy Kafka action-state recovery marker partitions and offsets must be non-negative", "legacy-marker-negative", Numbers{}},
	{"Kafka did not return beginning and end offsets for t-4", "offsets-not-returned", Numbers{"topic": "t", "partition": int64(4)}},
	{"Cleanup control record changed immutable plan abc", "control-plan-changed", Numbers{"planId": "abc"}},
	{"Cleanup control record key does not match its plan ID", "control-key-mismatch", Numbers{}},
	{"Kafka cleanup control record must have a plan ID key", "control-key-null", Numbers{}},
	{"Cleanup control record fields must be exactly [plan, schemaVersion, status], but were [plan, status]", "control-field-set", Numbers{"found": "[plan, status]"}},
	{"Cleanup control topic contains a boundary for a different Kafka topic", "boundary-of-other-topic", Numbers{}},
	{"Cleanup control topic is not dedicated to one Kafka action-state history", "boundary-of-other-topic", Numbers{}},
	{"Cleanup control topic contains a different Kafka partition set", "boundary-of-other-partition-set", Numbers{}},
	{"Cleanup control topic contains incompatible Kafka partition sets", "boundary-of-other-partition-set", Numbers{}},
	{"Kafka cleanup control topic ctl must have exactly one partition", "control-topic-partitions", Numbers{"topic": "ctl"}},
	{"Kafka cleanup control topic ctl must use cleanup.policy=compact without delete retention", "control-topic-policy", Numbers{"topic": "ctl"}},
	{"Timed out reading Kafka cleanup control topic ctl", "control-topic-timeout", Numbers{"topic": "ctl"}},
	{"Kafka action-state cleanup control topic must differ from the data topic", "control-topic-same-as-data", Numbers{}},
	{"Per-key Kafka tombstones cannot be enabled with checkpoint-aligned cleanup", "tombstones-on", Numbers{}},
	{"Failed to create or validate Kafka cleanup control topic ctl", "control-topic-invalid", Numbers{"topic": "ctl"}},
	{"Kafka action-state topic t changed partitions during cleanup; expected [0] but found [0, 1]", "partition-set-changed-during-cleanup", Numbers{"topic": "t", "planPartitions": "[0]", "topicPartitions": "[0, 1]"}},
	{"Cleanup plan abc does not advance the committed boundary {0=100}", "boundary-not-advanced", Numbers{"planId": "abc", "boundary": "{0=100}"}},
	{"Kafka cleanup control topic replication factor must be between 1 and 32767, but was 0", "replication-factor-range", Numbers{"found": int64(0)}},
	{"Expected a Kryo-envelope MemoryUpdate value but found: 5", "record-memory-value", Numbers{"found": int64(5)}},
	{"Failed to persist ActionState", "action-state-not-written", Numbers{}},
	{"Failed to send action state to Kafka", "action-state-not-written", Numbers{}},
	{"Failed to rebuild state from Kafka", "restore-failed", Numbers{}},
	{"Failed to verify Kafka topic: t", "snapshot-failed", Numbers{"topic": "t"}},
	{"Failed to create or verify Kafka topic: t", "topic-not-verified", Numbers{"topic": "t"}},
	{"Kafka action state topic must be configured", "topic-not-configured", Numbers{}},
	{"Failed to deserialize ActionState for topic: t", "action-state-undecodable", Numbers{"topic": "t"}},
	{"java.lang.IllegalArgumentException: Invalid key format.", "released-key-format", Numbers{}},
	{"java.lang.IllegalArgumentException: First part of the key cannot be empty", "released-key-empty", Numbers{}},
	{`Unrecognized field "extra" (class org.apache.flink.agents.runtime.actionstate.ActionState), not marked as ignorable (6 known properties: "completed")`, "record-value-unknown-field", Numbers{"field": "extra", "class": "org.apache.flink.agents.runtime.actionstate.ActionState"}},
	{"WARN  FlussActionStateStore - Ignoring unrecognized recovery marker type: java.lang.String", "marker-ignored", Numbers{"found": "java.lang.String"}},

	{"Failed to rollback to checkpoint/savepoint s3://b/chk-7. Max parallelism mismatch between checkpoint/savepoint state and new program. Cannot map operator 20ba6b65f97481d5570070de90e4e791 with max parallelism 128 to new program with max parallelism 256. This indicates that the program has been changed in a non-compatible way after the checkpoint/savepoint.", "max-parallelism-mismatch", Numbers{"point": "s3://b/chk-7", "operator": "20ba6b65f97481d5570070de90e4e791", "found": int64(128), "expected": int64(256)}},
	{"java.lang.NullPointerException: You cannot add null to a ListState.", "state-null-element", Numbers{}},
	{"org.apache.flink.util.FlinkException: Could not restore operator state backend for 20ba6b65f97481d5570070de90e4e791_20ba6b65f97481d5570070de90e4e791_(1/1) from any of the 1 provided restore options.", "state-not-restored", Numbers{"backend": "operator state backend", "operator": "20ba6b65f97481d5570070de90e4e791_20ba6b65f97481d5570070de90e4e791", "subtask": int64(1), "parallelism": int64(1), "options": int64(1)}},
	{"Exceeded checkpoint tolerable failure threshold. The latest checkpoint failed due to Checkpoint was declined., view the Checkpoint History tab", "checkpoint-failures", Numbers{"reason": "Checkpoint was declined."}},
	{"org.apache.flink.runtime.checkpoint.CheckpointException: Checkpoint expired before completing.", "checkpoint-expired", Numbers{}},

	{"The state for task Sink can not be restored. The maximum parallelism (4) of the restored state is lower than the configured parallelism (8). Please reduce", "max-parallelism-lower", Numbers{"task": "Sink", "found": int64(4), "expected": int64(8)}},
	{"For heap backends, the new state serializer (A@1) must not be incompatible with the old state serializer (B@2).", "state-serializer-incompatible", Numbers{"now": "A@1", "then": "B@2"}},
	{"The new key typeSerializer for broadcast state must not be incompatible.", "state-serializer-incompatible", Numbers{}},
	{"java.io.FileNotFoundException: /data/checkpoints/4f3c/shared/1a (No such file or directory)", "state-file-missing", Numbers{"file": "/data/checkpoints/4f3c/shared/1a"}},
	{"Cannot recover from unaligned checkpoint when topology changes, such that data exchanges", "unaligned-topology", Numbers{}},
	{"Cannot access file system for checkpoint/savepoint path 's3://b/chk-1'.", "file-system-unreachable", Numbers{"point": "s3://b/chk-1"}},
	{"org.apache.flink.runtime.JobException: Recovery is suppressed by FixedDelayRestartBackoffTimeStrategy(maxNumberRestartAttempts=2, backoffTimeMS=300)", "restarts-exhausted", Numbers{"strategy": "FixedDelayRestartBackoffTimeStrategy", "settings": "maxNumberRestartAttempts=2, backoffTimeMS=300"}},
	{"INFO  CheckpointCoordinator [] - No checkpoint found during restore.", "restore-not-found", Numbers{}},

	{"Offsets out of range with no configured reset policy for partitions: {t-0=5}", "kafka-offsets-out-of-range", Numbers{"positions": "{t-0=5}"}},
	{"org.apache.kafka.clients.consumer.LogTruncationException: Detected log truncation", "kafka-log-truncated", Numbers{"what": "Detected log truncation"}},
	{"ERROR [Consumer clientId=c] Topic authorization failed for topics [secret]", "kafka-not-authorized", Numbers{"topic": "secret"}},

	{"Recovery marker references bucket 7 which does not exist in the current table (available buckets: [0])", "fluss-bucket-missing", Numbers{"bucket": int64(7)}},
	{"Failed to get offsets for Fluss table: db.t", "fluss-offsets-unread", Numbers{"table": "db.t"}},
	{"Failed to rebuild state from Fluss log table", "fluss-restore-failed", Numbers{}},
	{"FetchException: The fetching offset 12 is out of range: LogOffsetOutOfRangeException", "fluss-offset-out-of-range", Numbers{"requested": int64(12)}},
	{"server 3 is not leader or follower", "fluss-not-leader", Numbers{"server": int64(3)}},
	{"Invalid producer ID '../x'", "fluss-producer-id", Numbers{"producer": "../x"}},
	{"Recovery marker bucket set [0, 1] does not match the current table bucket set [0, 1, 2]. The table may have been recreated", "fluss-bucket-set", Numbers{"marker": "[0, 1]", "table": "[0, 1, 2]"}},
	{"Data loss detected for bucket 3: required data is no longer available in the log (startOffset=5, endOffset=90, earliestOffset=40). Increase log retention", "fluss-data-loss", Numbers{"bucket": int64(3), "requested": int64(5), "logEnd": int64(90), "logStart": int64(40)}},
	{"State rebuild timed out after PT5M. Remaining buckets not fully consumed: [1, 4]", "fluss-replay-time", Numbers{"time": "PT5M", "buckets": "[1, 4]"}},
	{"Received request for offset 2401 for table bucket TableBucket{tableId=6, bucket=0}, but we only have log segments from offset 2240 up to 2400.", "fluss-offset-out-of-range", Numbers{"requested": int64(2401), "table": "TableBucket{tableId=6, bucket=0}", "logStart": int64(2240), "logEnd": int64(2400)}},
	{"CoordinatorEventProcessor is not initialized yet.", "fluss-coordinator-starting", Numbers{}},
	{"Offsets file not found: /remote/producers/p1/1.offsets", "fluss-producer-offsets-file", Numbers{"file": "/remote/producers/p1/1.offsets"}},

	{`Error: Process("Failed to open WAL database: Invalid data")`, "arkflow-wal-unreadable", Numbers{"what": "Invalid data"}},
	{`{"valid":false,"errors":[{"path":"streams[0]","message":"Process errors: Failed to open WAL database: Database already open. Cannot acquire lock."}]}`, "arkflow-wal-locked", Numbers{}},
	{"orchestration_in_progress", "arkflow-orchestration", Numbers{}},
	{"job_must_be_stopped", "arkflow-not-stopped", Numbers{}},
	{"no_previous_job_version", "arkflow-no-previous-version", Numbers{}},
	{"thread 'main' panicked: Cannot start a runtime from within a runtime. This happens because", "arkflow-wal-object-store-panic", Numbers{}},
	{"INFO WAL recovery: replaying 12 entries", "arkflow-wal-replay", Numbers{"entries": int64(12)}},
	{`{"error":{"code":"state_format_incompatible"}}`, "arkflow-state-format", Numbers{}},
}

func TestMessagesByTheirWords(t *testing.T) {
	for _, c := range known {
		t.Run(c.rule, func(t *testing.T) { one(t, c.text, c.rule, c.numbers) })
	}
}

const trace = `2026-11-29 14:02:11,034 INFO  CheckpointCoordinator [] - Restoring job 4f3c9be1a0d24c6f8a1b2c3d4e5f6071 from Checkpoint 12 @ 1764424931034 for 4f3c9be1a0d24c6f8a1b2c3d4e5f6071 located at s3://flink-state/checkpoints/4f3c/chk-12.
2026-11-29 14:02:12,501 WARN  Task [] - action-execute-operator (1/2) switched from INITIALIZING to FAILED
java.lang.RuntimeException: Failed to rebuild state from Kafka
	at org.apache.flink.agents.runtime.actionstate.KafkaActionStateStore.rebuildState(KafkaActionStateStore.java:301)
	... 12 more
Caused by: java.lang.IllegalStateException: Cannot restore Kafka action state for action-state-0 from offset 100 because the committed cleanup boundary is 150
	at org.apache.flink.util.Preconditions.checkState(Preconditions.java:215)
	... 14 more
2026-11-29 14:02:13,000 INFO  something else
`

// The job that the topic belongs to is named by the commands, and the recovery
// point is the one that the log says was restored.
func TestCommandsNameTheJobAndThePoint(t *testing.T) {
	jobs := []Job{
		{Flags: "--profile other --job other", Topics: []string{"other"}},
		{Flags: "--profile orders --job order-agent", Topics: []string{"action-state", "action-state-control"}},
	}
	e := Text(trace, jobs)
	if len(e.Matches) != 1 || len(e.Unknown) != 0 || e.Matches[0].Line != 6 {
		t.Fatalf("%+v", e)
	}
	want := "recoverctl validate restore s3://flink-state/checkpoints/4f3c/chk-12 --profile orders --job order-agent"
	if !slices.Contains(e.Matches[0].Next, want) {
		t.Errorf("%q, want %q", e.Matches[0].Next, want)
	}
	e = Text(trace, nil)
	if want := "recoverctl inspect points --brokers HOST:PORT --topic action-state"; !slices.Contains(e.Matches[0].Next, want) {
		t.Errorf("%q, want %q", e.Matches[0].Next, want)
	}
}

// However the lines were broken, coloured or escaped on the way here.
func TestTheSameMessageInOtherClothes(t *testing.T) {
	plain := "Cannot restore Kafka action state for action-state-0 from offset 100 because the committed cleanup boundary is 150"
	for name, text := range map[string]string{
		"broken by a terminal": strings.ReplaceAll(plain, " because ", "\n    because "),
		"coloured":             "\x1b[31m" + strings.ReplaceAll(plain, "committed", "\x1b[1mcommitted\x1b[0m") + "\x1b[0m",
		"in a JSON document":   `{"root-exception":"java.lang.IllegalStateException: ` + plain + `\n\tat org.apache.flink.util.Preconditions.checkState(Preconditions.java:215)\n"}`,
		"with CR LF":           plain + "\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			one(t, text, "below-committed-boundary", Numbers{"topic": "action-state", "partition": int64(0), "requested": int64(100), "boundary": int64(150)})
		})
	}
}

func TestTheSameMessageIsToldOnce(t *testing.T) {
	e := Text(strings.Repeat(trace, 300), nil)
	if len(e.Matches) != 1 || e.Matches[0].Count != 300 || e.Matches[0].Line != 6 {
		t.Errorf("%+v", e)
	}
}

// Of an exception that is not known, the innermost cause is named.
func TestWhatIsUnknownIsSaid(t *testing.T) {
	e := Text("java.lang.RuntimeException: outer\n\tat a.B.c(B.java:1)\nCaused by: java.lang.IllegalStateException: action pay \x1b]0;x\x07failed\n\tat d.E.f(E.java:2)\n", nil)
	if len(e.Matches) != 0 || !slices.Equal(e.Unknown, []string{`java.lang.IllegalStateException: action pay \x1b]0;x\x07failed`}) {
		t.Errorf("%q", e.Unknown)
	}
	if e := Text("all is well\n", nil); len(e.Matches)+len(e.Unknown) != 0 || e.Matches == nil || e.Unknown == nil {
		t.Errorf("%+v", e)
	}
}

// What decides a recovery comes before what only failed on its way.
func TestWhatDecidesComesFirst(t *testing.T) {
	e := Text("org.apache.flink.runtime.checkpoint.CheckpointException: Checkpoint expired before completing.\n"+trace, nil)
	if len(e.Matches) != 2 || e.Matches[0].Rule != "below-committed-boundary" || e.Matches[1].Rule != "checkpoint-expired" {
		t.Errorf("%+v", e.Matches)
	}
}

func TestEveryRuleIsWhole(t *testing.T) {
	for _, r := range rules {
		if r.id == "" || r.source == "" || r.cause == "" || len(r.next) == 0 || r.pattern == nil {
			t.Errorf("%+v", r)
		}
		for _, sentence := range append(slices.Clone(r.next), r.cause) {
			for rest := sentence; ; {
				_, after, ok := strings.Cut(rest, "{")
				if !ok {
					break
				}
				name, tail, _ := strings.Cut(after, "}")
				if name != "job" && name != "point" && !slices.Contains(r.pattern().SubexpNames(), name) {
					t.Errorf("%s: %q names %q", r.id, sentence, name)
				}
				rest = tail
			}
		}
	}
}

// A rule that no message of the tests meets may be one that no message can meet.
func TestEveryRuleIsMet(t *testing.T) {
	var all strings.Builder
	for _, c := range known {
		all.WriteString(c.text + "\n\n--\n")
	}
	for _, file := range []string{"kafka-4.3.0", "flink-2.3.0", "flink-1.20.5"} {
		for _, text := range sections(t, file) {
			all.WriteString(text + "\n\n--\n")
		}
	}
	s := newScript(all.String())
	for i := range rules {
		if len(s.find(i)) == 0 {
			t.Errorf("%s, %s", rules[i].id, rules[i].pattern())
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add(trace)
	for _, c := range known {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e := Text(text, []Job{{Flags: "--job a", Topics: []string{"action-state"}}})
		for _, m := range e.Matches {
			if m.Line < 1 || m.Line > e.Lines || m.Count < 1 || strings.ContainsAny(m.Text+m.Cause+strings.Join(m.Next, ""), "\x1b\n\x00") {
				t.Errorf("%+v of %d lines", m, e.Lines)
			}
		}
	})
}

func BenchmarkLog(b *testing.B) {
	text := strings.Repeat("2026-11-29 14:02:13,000 INFO  org.apache.flink.runtime.checkpoint.CheckpointCoordinator [] - Completed checkpoint 12 for job 4f3c (1 bytes)\n", 1<<16) + trace
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if e := Text(text, nil); len(e.Matches) != 1 {
			b.Fatal(e)
		}
	}
}
