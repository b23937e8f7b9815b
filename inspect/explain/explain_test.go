package explain

import (
	"encoding/json"
	"fmt"
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
	{"flink-2.3.0-run", "state too large for memory", "state-too-large-for-memory", Numbers{"size": int64(5000), "most": int64(1024)}},
	{"flink-2.3.0-run", "key group elsewhere", "key-group-foreign", Numbers{"keyGroup": int64(45), "range": "KeyGroupRange{startKeyGroup=0, endKeyGroup=31}"}},
	{"flink-2.3.0-run", "metadata twice", "checkpoint-file-exists", Numbers{"file": "file:/data/checkpoints/4f3c/chk-1/_metadata"}},
	{"flink-2.3.0-run", "kryo number", "kryo-mismatch", Numbers{"id": int64(104)}},
	{"flink-2.3.0-run", "no savepoint folder", "no-savepoint-folder", Numbers{}},
	{"flink-2.3.0-run", "parallelism above max", "parallelism-above-max", Numbers{"task": "Source: Sequence Source", "found": int64(8), "expected": int64(4)}},
	{"flink-2.3.0-run", "one uid twice", "uid-not-unique", Numbers{"uid": "agent"}},
	{"flink-2.3.0-run", "submitted twice", "job-submitted-twice", Numbers{}},
	{"flink-2.3.0-run", "no slots", "no-slots", Numbers{}},
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
			numbers, _ := json.Marshal(c.numbers)
			one(t, text, c.rule, string(numbers))
		})
	}
}

// one asks for exactly one match.
func one(t *testing.T, text, rule, numbers string) Match {
	t.Helper()
	e := Text(text, nil)
	if len(e.Matches) != 1 || e.Matches[0].Rule != rule {
		t.Fatalf("%+v, want %s", e, rule)
	}
	m := e.Matches[0]
	got, _ := json.Marshal(m.Numbers)
	if string(got) != numbers {
		t.Errorf("numbers %s, want %s", got, numbers)
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
// system have them, from a file that other packages' tests read too. Each section
// is named by the rule and its numbers.
func known(t testing.TB) []said {
	t.Helper()
	data, err := os.ReadFile("testdata/messages.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []said
	for part := range strings.SplitSeq("\n"+string(data), "\n### ") {
		head, text, ok := strings.Cut(part, "\n")
		if !ok || head == "" {
			continue
		}
		rule, numbers, _ := strings.Cut(head, " ")
		out = append(out, said{rule, numbers, strings.TrimSuffix(text, "\n")})
	}
	if len(out) < 90 {
		t.Fatalf("%d messages", len(out))
	}
	return out
}

type said struct{ rule, numbers, text string }

func TestMessagesByTheirWords(t *testing.T) {
	for _, c := range known(t) {
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

// A state file that is gone is of the job whose place it lies in.
func TestAMessageOfAFileIsOfItsJob(t *testing.T) {
	jobs := []Job{{Flags: "-p a -j other"}, {Flags: "-p a -j ours", Points: []string{"s3://b/checkpoints"}}}
	e := Text("java.io.FileNotFoundException: No such file or directory: s3a://b/checkpoints/4f3c/shared/1a", jobs)
	if len(e.Matches) != 1 || !slices.Contains(e.Matches[0].Next, "recoverctl inspect points -p a -j ours") {
		t.Errorf("%+v", e.Matches)
	}
}

// A message that names a recovery point is of the job that has its place, however
// the profile spells it.
func TestAMessageOfAPointIsOfItsJob(t *testing.T) {
	for point, place := range map[string]string{
		"file:/data/checkpoints/4f3c/chk-2": "file:///data/checkpoints",
		"file:/data/checkpoints/4f3c/chk-3": "/data/checkpoints/",
		"s3a://b/checkpoints/chk-4":         "s3://b/checkpoints",
		"s3://b/checkpoints/chk-5":          "s3p://b/checkpoints/chk-5",
	} {
		jobs := []Job{{Flags: "-p a -j other", Points: []string{"/data/checkpoints2", "s3://b/checkpoints-of-others"}}, {Flags: "-p a -j ours", Points: []string{place}}}
		e := Text("Cannot find meta data file '_metadata' in directory '"+point+"'.", jobs)
		if len(e.Matches) != 1 || !slices.Contains(e.Matches[0].Next, "recoverctl inspect points -p a -j ours") ||
			!slices.Contains(e.Matches[0].Next, "recoverctl inspect points "+point+" -p a -j ours") {
			t.Errorf("%s in %s: %+v", point, place, e.Matches)
		}
	}
}

// A log with several problems has them in their order, each with how often it
// stands there, what decides first.
func TestALogOfSeveralProblems(t *testing.T) {
	const expired = "2026-11-29 14:01:00,000 INFO  CheckpointCoordinator [] - org.apache.flink.runtime.checkpoint.CheckpointException: Checkpoint expired before completing.\n"
	const truncated = "java.lang.IllegalStateException: Cannot rebuild Kafka action state for action-state-3 from here\n" +
		"java.lang.IllegalStateException: Cannot rebuild Kafka action state for action-state-3: requested offset 9 is outside the available range [10, 20]\n"
	e := Text(expired+trace+expired+truncated+trace+expired, nil)
	type seen struct {
		rule        string
		line, count int
	}
	var got []seen
	for _, m := range e.Matches {
		got = append(got, seen{m.Rule, m.Line, m.Count})
	}
	want := []seen{{"below-committed-boundary", 7, 2}, {"offset-out-of-range", 13, 1}, {"checkpoint-expired", 1, 3}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if len(e.Unknown) != 1 || !strings.HasSuffix(e.Unknown[0], "from here") {
		t.Errorf("unknown %q", e.Unknown)
	}
}

// A message may name all partitions of a topic.
func TestAMessageOfManyPartitions(t *testing.T) {
	ids := make([]string, 1000)
	for i := range ids {
		ids[i] = fmt.Sprintf("a-topic-with-a-rather-long-name-%d=%d", i, i*1000)
	}
	positions := "{" + strings.Join(ids, ", ") + "}"
	one(t, "Kafka action-state replay made no progress for PT30S; current positions are "+positions+" and target end offsets are "+positions,
		"replay-stalled", fmt.Sprintf(`{"ends":%q,"positions":%q,"time":"PT30S"}`, positions, positions))
}

// A trace repeats a message in each exception that carries it, and it was said
// once. What carries what is known beside what is not is told with it.
func TestTracesOfARealFlink(t *testing.T) {
	traces := sections(t, "flink-2.3.0-run")
	if e := Text(traces["parallelism above max"]+"\n"+traces["parallelism above max"], nil); len(e.Matches) != 1 || e.Matches[0].Count != 2 {
		t.Errorf("said in two traces: %+v", e.Matches)
	}
	e := Text(traces["kryo class missing"], nil)
	for _, m := range e.Matches {
		if m.Rule != "class-missing" || m.Numbers["class"] != "com.example.Order" || m.Count != 1 {
			t.Errorf("%+v", m)
		}
	}
	e = Text(traces["job fails for good"], nil)
	if len(e.Matches) != 1 || e.Matches[0].Rule != "restarts-exhausted" || !slices.Equal(e.Unknown, []string{"java.lang.IllegalStateException: payment refused"}) {
		t.Errorf("%+v", e)
	}
}

// A log that is full of one message with other numbers each time does not hide
// what decides, and is told in a few lines.
func TestAFloodHidesNothing(t *testing.T) {
	var flood strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&flood, "Connection to node %d (k%d:9092) could not be established. Node may not be available.\n", i, i)
	}
	e := Text(flood.String()+trace, nil)
	if len(e.Matches) != 1+maxOfRule || e.Matches[0].Rule != "below-committed-boundary" || e.Matches[maxOfRule].Others != 5000-maxOfRule || e.More != 0 {
		t.Errorf("%d matches, first %s, %d others, %d more", len(e.Matches), e.Matches[0].Rule, e.Matches[maxOfRule].Others, e.More)
	}
}

// Where a rule only says that the cause is below, an unknown cause is told beside
// it.
func TestAnUnknownCauseBelowAKnownWrapper(t *testing.T) {
	e := Text("java.lang.RuntimeException: Failed to rebuild state from Kafka\n\tat a.B.c(B.java:1) ~[flink-dist.jar:2.0]\nCaused by: com.example.PaymentException: declined\n\tat d.E.f(E.java:2)\n", nil)
	if len(e.Matches) != 1 || e.Matches[0].Rule != "restore-failed" || !slices.Equal(e.Unknown, []string{"com.example.PaymentException: declined"}) {
		t.Errorf("%+v", e)
	}
}

// Exceptions of other languages are named as well.
func TestWhatIsUnknownInOtherLanguages(t *testing.T) {
	e := Text("Traceback (most recent call last):\n  File \"pay.py\", line 3, in pay\n    raise ValueError(x)\nValueError: no such account\n"+
		"thread 'main' panicked at src/pay.rs:12:5:\n", nil)
	if want := []string{"ValueError: no such account", "thread 'main' panicked at src/pay.rs:12:5:"}; !slices.Equal(e.Unknown, want) {
		t.Errorf("%q, want %q", e.Unknown, want)
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
	for _, r := range rules() {
		if r.id == "" || r.source == "" || r.cause == "" || len(r.next) == 0 || r.pattern == nil || len(r.anchor) < minAnchor {
			t.Errorf("%+v", r)
		}
		for _, sentence := range append(slices.Clone(r.next), r.cause) {
			for rest := sentence; ; {
				_, after, ok := strings.Cut(rest, "{")
				if !ok {
					break
				}
				name, tail, _ := strings.Cut(after, "}")
				if !slices.Contains([]string{"job", "point", "fluss", "hub", "profile"}, name) && !slices.Contains(r.pattern().SubexpNames(), name) {
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
	for _, c := range known(t) {
		all.WriteString(c.text + "\n\n--\n")
	}
	for _, file := range []string{"kafka-4.3.0", "flink-2.3.0", "flink-2.3.0-run", "flink-1.20.5"} {
		for _, text := range sections(t, file) {
			all.WriteString(text + "\n\n--\n")
		}
	}
	s := newScript(all.String())
	for i, places := range allAnchors().in(s.flat) {
		if len(s.find(i, places)) == 0 {
			t.Errorf("%s, %s", rules()[i].id, rules()[i].pattern().Regexp)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add(trace)
	for _, c := range known(f) {
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
