package inspect_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/testkit/cases"
)

// With the records of the window read, nothing of what Java said is left open.
func TestRestoresWithTheirWindowsAreJudgedAsByJava(t *testing.T) {
	all := cases.Restores(t, "off-", "on-", "window-")
	if len(all) != 131 {
		t.Errorf("%d restores, want 131", len(all))
	}
	for _, c := range all {
		t.Run(c.Name, func(t *testing.T) {
			q := question(t, c)
			got := withWindow(t, q, c.DataRecords())
			holds(t, got)
			if c.Expect.Verdict == "accept" {
				if got.Verdict != inspect.Accepted || len(got.Unchecked) > 0 {
					t.Fatalf("%s, unchecked %q: %+v", got.Verdict, got.Unchecked, got.Reasons)
				}
				wantReplayed(t, got, int64(c.Expect.Replayed), int64(c.Expect.States))
				return
			}
			if got.Verdict != inspect.Rejected {
				t.Fatalf("%s, want rejected for %s", got.Verdict, c.Expect.Reason)
			}
			wantProblem(t, &got.Reasons[0].Problem, c.Expect.Reason, c.Expect.Named)
			if c.Expect.Stage != "window" {
				return
			}
			if rule := ruleOf(t, got, "window-records"); rule.Result != inspect.Failed {
				t.Errorf("rule %+v", rule)
			}
			wantWords(t, got.Reasons[0].Message, "partition 0, offset 5")
			if got.Replayed == nil || got.Replayed.States != nil {
				t.Errorf("replayed %+v of a restore that stops", got.Replayed)
			}
		})
	}
}

// withWindow validates as an inspector does that reads windows: once without the
// records, which tells the window, and once with them.
func withWindow(t *testing.T, q inspect.RestoreQuestion, records []cases.Placed) inspect.RestoreValidation {
	t.Helper()
	log := windowBroker{broker: broker{Data: q.Data, Control: q.Control}, records: records}
	v, faults := inspect.New(shelf{}, &log, clock.NewFake(now)).ReadingWindow(nil).ValidateMarkers(context.Background(), q.Job, q.Point, q.Markers)
	for _, err := range faults {
		t.Errorf("fault %v", err)
	}
	// The fixtures' recovery points were read whole; a file of markers has none.
	v.Unchecked = slices.DeleteFunc(v.Unchecked, func(title string) bool {
		return title == "metadata complete and readable" || title == "every referenced file present"
	})
	for i, r := range v.Rules {
		if r.Code == "metadata-unreadable" || r.Code == "state-file-missing" {
			v.Rules[i].Result = inspect.Passed
		}
	}
	return v
}

func wantReplayed(t *testing.T, v inspect.RestoreValidation, records, states int64) {
	t.Helper()
	if v.Replayed == nil || v.Replayed.States == nil {
		t.Fatalf("replayed %+v", v.Replayed)
	}
	if v.Replayed.Records != records || *v.Replayed.States != states {
		t.Errorf("%d records and %d states, Java replayed %d and held %d", v.Replayed.Records, *v.Replayed.States, records, states)
	}
}

// windowBroker is a broker whose records can be read.
type windowBroker struct {
	broker
	records []cases.Placed
	fails   error // after the records
	asked   int
}

func (b *windowBroker) ReadWindow(_ context.Context, _ inspect.DataTopic, windows []inspect.Window, visit func(int32, int64, []byte, []byte), progress func(inspect.WindowProgress)) error {
	b.asked++
	var seen inspect.WindowProgress
	for _, w := range windows {
		for _, r := range b.records {
			if r.Partition == w.Partition && r.Offset >= w.From && r.Offset < w.To {
				lent(r.Key, r.Value, func(key, value []byte) { visit(r.Partition, r.Offset, key, value) })
				seen.Records++
			}
		}
	}
	if progress != nil {
		progress(seen)
	}
	return b.fails
}

const (
	goodDigest = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
	goodUUIDs  = "e0aa021e-21dd-3db8-8d1d-2f5a5a5a5a5a_5f4dcc3b-5aa7-365d-a1d8-327deb882cf9"
)

func keyOf(group, seq int) string {
	return fmt.Sprintf("%d_%d_%s_%s", group, seq, goodUUIDs, goodDigest)
}

func put(partition int32, offset int64, key, value string) cases.Placed {
	return cases.Placed{Partition: partition, Offset: offset, Key: []byte(key), Value: []byte(value)}
}

// askWindow validates a marker at 0 on both partitions of a topic with these
// records, and returns the fault of reading.
func askWindow(t *testing.T, change func(*inspect.Job, *windowBroker), records ...cases.Placed) (inspect.RestoreValidation, []error) {
	t.Helper()
	log := &windowBroker{records: records}
	log.Data = data(inspect.LogRange{End: 10}, inspect.LogRange{End: 10})
	job := inspect.Job{Topic: log.Data.Name, MaxParallelism: 128}
	if change != nil {
		change(&job, log)
	}
	schema, id := int32(1), log.Data.TopicID
	markers := []inspect.Marker{{Kind: inspect.MarkerVersioned, SchemaVersion: &schema, Topic: &log.Data.Name, TopicID: &id, Offsets: inspect.Offsets{0: 0, 1: 0}}}
	v, faults := inspect.New(shelf{}, log, clock.NewFake(now)).ReadingWindow(nil).ValidateMarkers(context.Background(), job, "x", markers)
	holds(t, v)
	return v, faults
}

func TestAllRefusedRecordsAreCountedAndTheFirstOfEachPartitionIsNamed(t *testing.T) {
	v, _ := askWindow(t, nil,
		put(1, 2, "bad", "{}"), put(1, 3, "bad", "{}"), put(1, 4, keyOf(1, 1), "{}"),
		put(0, 1, keyOf(1, 1), "{}"), put(0, 7, keyOf(1, 2), `{"note":1}`))
	if v.Verdict != inspect.Rejected || len(v.Reasons) != 2 {
		t.Fatalf("%s %+v", v.Verdict, v.Reasons)
	}
	wantWords(t, v.Reasons[0].Message, "partition 0, offset 7", "note")
	wantWords(t, v.Reasons[1].Message, "partition 1, offset 2", "bad")
	wantWords(t, ruleOf(t, v, "window-records").Message, "3 of 5 records are refused", "partition 0, offset 7")
}

// A restore's consumer decodes a value before the key is looked at.
func TestOfARecordWithTwoFaultsTheValuesIsNamed(t *testing.T) {
	v, _ := askWindow(t, nil, put(0, 1, "bad", "junk"))
	if v.Reasons[0].Code != "record-value-undecodable" {
		t.Errorf("%+v", v.Reasons)
	}
}

func TestStatesAreCountedByTheLastWriteOfAKey(t *testing.T) {
	removed := cases.Placed{Partition: 0, Offset: 4, Key: []byte(keyOf(1, 1))}
	v, _ := askWindow(t, nil,
		put(0, 1, keyOf(1, 1), "{}"), put(0, 2, keyOf(1, 2), "{}"), put(0, 3, keyOf(1, 2), "{}"), removed,
		put(0, 5, keyOf(1, 3), "{}"), put(0, 6, keyOf(1, 3), "null"))
	if v.Verdict != inspect.Accepted {
		t.Fatalf("%s %+v", v.Verdict, v.Reasons)
	}
	wantReplayed(t, v, 6, 1)
	wantWords(t, ruleOf(t, v, "window-records").Message, "6 records", "1 state")
}

func TestWhatOfAWindowIsNotChecked(t *testing.T) {
	unreachable := fault.New(fault.Unreachable, "read records", "no broker answers")
	tests := []struct {
		name    string
		change  func(*inspect.Job, *windowBroker)
		records []cases.Placed
		verdict inspect.Verdict
		rule    string
		result  inspect.RuleResult
		words   []string
	}{
		{"the max parallelism is not known", func(j *inspect.Job, _ *windowBroker) { j.MaxParallelism = 0 },
			[]cases.Placed{put(0, 1, keyOf(4000, 1), "{}")},
			inspect.Accepted, "window-key-groups", inspect.NotChecked, []string{"32,768", "--max-parallelism"}},
		{"classes of the job", nil,
			[]cases.Placed{put(0, 1, keyOf(1, 1), `{"taskEvent":{"@class":"com.example.Order"}}`), put(0, 2, keyOf(1, 2), `{"sensoryMemoryUpdates":[{"path":"a","value":{"serde":"kryo","version":1,"payload":"AA=="}}]}`)},
			inspect.Accepted, "window-classes", inspect.NotChecked, []string{"2 records", `"com.example.Order"`, "memory values"}},
		{"the records can't be read to the end", func(_ *inspect.Job, b *windowBroker) { b.fails = unreachable },
			[]cases.Placed{put(0, 1, keyOf(1, 1), "{}")},
			inspect.Unknown, "window-records", inspect.NotChecked, []string{"no broker answers"}},
		{"the records can't be read to the end, and one of them is refused", func(_ *inspect.Job, b *windowBroker) { b.fails = unreachable },
			[]cases.Placed{put(0, 1, "bad", "{}")},
			inspect.Rejected, "window-records", inspect.Failed, []string{"1 of 1 record is refused"}},
		{"the window of one partition is not known", func(_ *inspect.Job, b *windowBroker) {
			b.Data.Partitions[1].Err = unreachable
		}, []cases.Placed{put(0, 1, keyOf(1, 1), "{}")},
			inspect.Unknown, "window-records", inspect.NotChecked, []string{"1 of 2 partitions"}},
		{"the window of one partition begins before its log, and another record is refused", func(_ *inspect.Job, b *windowBroker) {
			b.Data.Partitions[1].Log.Start = 3
		}, []cases.Placed{put(0, 1, "bad", "{}")},
			inspect.Rejected, "window-records", inspect.WouldFail, []string{"1 of 1 record is refused"}},
		{"the job runs a released version", func(j *inspect.Job, _ *windowBroker) { j.Runtime = inspect.Release03 },
			[]cases.Placed{put(0, 1, "alice_3_"+goodUUIDs, "{}")},
			inspect.Accepted, "window-records", inspect.NotChecked, []string{"release 0.3", "in the next version 1 of 1 record is refused", "releases 0.1 to 0.3 write such keys"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, _ := askWindow(t, tt.change, tt.records...)
			if v.Verdict != tt.verdict {
				t.Errorf("%s, want %s: %+v", v.Verdict, tt.verdict, v.Rules)
			}
			rule := ruleOf(t, v, tt.rule)
			if rule.Result != tt.result {
				t.Errorf("rule %+v, want %s", rule, tt.result)
			}
			wantWords(t, rule.Message, tt.words...)
			if whole := !strings.Contains(tt.name, "can't be read") && !strings.Contains(tt.name, "one partition"); whole != (v.Replayed != nil) {
				t.Errorf("replayed %+v", v.Replayed)
			}
		})
	}
}

func TestAFailureOfReadingIsAFault(t *testing.T) {
	v, faults := askWindow(t, func(_ *inspect.Job, b *windowBroker) {
		b.fails = fault.New(fault.Drift, "read records", "the topic was recreated")
	})
	if len(faults) != 1 || fault.KindOf(faults[0]) != fault.Drift || v.Replayed != nil {
		t.Errorf("faults %v, replayed %+v", faults, v.Replayed)
	}
}

func TestABackendThatCantReadWindowsSaysSo(t *testing.T) {
	log := broker{Data: data(inspect.LogRange{End: 10})}
	schema, id := int32(1), log.Data.TopicID
	markers := []inspect.Marker{{Kind: inspect.MarkerVersioned, SchemaVersion: &schema, Topic: &log.Data.Name, TopicID: &id, Offsets: inspect.Offsets{0: 0}}}
	v, faults := inspect.New(shelf{}, log, clock.NewFake(now)).ReadingWindow(nil).ValidateMarkers(context.Background(), inspect.Job{Topic: log.Data.Name}, "x", markers)
	if v.Verdict != inspect.Unknown || len(faults) != 1 || fault.KindOf(faults[0]) != fault.Unsupported {
		t.Errorf("%s, faults %v", v.Verdict, faults)
	}
}

// A window without an offset needs no reading, and neither does a fresh start.
func TestEmptyWindowsAreNotAskedFor(t *testing.T) {
	log := &windowBroker{}
	log.Data = data(inspect.LogRange{Start: 7, End: 7})
	in := inspect.New(shelf{}, log, clock.NewFake(now)).ReadingWindow(nil)
	schema, id := int32(1), log.Data.TopicID
	at := []inspect.Marker{{Kind: inspect.MarkerVersioned, SchemaVersion: &schema, Topic: &log.Data.Name, TopicID: &id, Offsets: inspect.Offsets{0: 7}}}
	for name, markers := range map[string][]inspect.Marker{"at the end": at, "none": nil} {
		v, faults := in.ValidateMarkers(context.Background(), inspect.Job{Topic: log.Data.Name}, "x", markers)
		if v.Verdict != inspect.Accepted || len(faults) > 0 || log.asked > 0 {
			t.Errorf("%s: %s, faults %v, asked %d times", name, v.Verdict, faults, log.asked)
		}
		wantReplayed(t, v, 0, 0)
	}
}

// Without a max parallelism in the profile the recovery point's own counts.
func TestThePointKnowsTheMaxParallelism(t *testing.T) {
	p := point(7, time.Hour, inspect.Offsets{0: 0})
	p.Operators = []inspect.Operator{{ID: "a", MaxParallelism: 4}, {ID: "b", MaxParallelism: 128}}
	log := &windowBroker{records: []cases.Placed{put(0, 1, keyOf(7, 1), "{}")}}
	log.Data = data(inspect.LogRange{End: 10})
	for operator, want := range map[string]inspect.Verdict{"a": inspect.Rejected, "b": inspect.Accepted} {
		p.Markers[0].OperatorID = operator
		var progress []inspect.WindowProgress
		in := inspect.New(shelf{Places: map[string][]inspect.RecoveryPoint{"ckpt": {p}}}, log, clock.NewFake(now)).ReadingWindow(func(w inspect.WindowProgress) { progress = append(progress, w) })
		v, _, err := in.Validate(context.Background(), inspect.Job{Topic: log.Data.Name}, p.URI)
		if err != nil {
			t.Fatal(err)
		}
		if v.Verdict != want || slices.Contains(v.Unchecked, "key groups against the job's max parallelism") {
			t.Errorf("operator %s: %s, unchecked %q, %+v", operator, v.Verdict, v.Unchecked, v.Reasons)
		}
		if len(progress) != 1 || progress[0].Records != 1 {
			t.Errorf("progress %+v", progress)
		}
	}
	if text := strings.Join(assumedOf(t, 128), ", "); !strings.Contains(text, "max parallelism 128") {
		t.Errorf("assumed %s", text)
	}
}

func assumedOf(t *testing.T, maxParallelism int) []string {
	t.Helper()
	v, _ := askWindow(t, func(j *inspect.Job, _ *windowBroker) { j.MaxParallelism = maxParallelism })
	return v.Assumed
}

func BenchmarkWindowScan(b *testing.B) {
	const keys = 20_000
	value := []byte(`{"taskEvent":null,"sensoryMemoryUpdates":[],"shortTermMemoryUpdates":[],"outputEvents":[],"callResults":[],"completed":true}`)
	all := make([][]byte, keys)
	for n := range all {
		all[n] = []byte(keyOf(n%128, n))
	}
	scan := inspect.NewWindowScan(inspect.StoreKafka, 128)
	b.ReportAllocs()
	for n := range b.N {
		scan.Visit(0, int64(n), all[n%keys], value)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
	if facts := scan.Facts(); facts.Refused > 0 {
		b.Fatalf("%+v", facts)
	}
}
