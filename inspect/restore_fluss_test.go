package inspect

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/internal/fault"
)

func flussTable(ranges ...LogRange) DataTopic {
	out := DataTopic{Name: "agents.state", Exists: true, TopicID: "5"}
	for i, r := range ranges {
		out.Partitions = append(out.Partitions, Partition{ID: int32(i), Log: r})
	}
	return out
}

func mapMarker(subtask int, offsets Offsets) Marker {
	return Marker{OperatorID: "a1", Subtask: subtask, Kind: MarkerLegacy, Class: "java.util.HashMap", Offsets: offsets}
}

// The checks of the store, in its order, with the cases of the reference.
func TestRestoresFromAFlussTable(t *testing.T) {
	three := flussTable(LogRange{0, 10}, LogRange{5, 20}, LogRange{7, 7})
	unread := flussTable(LogRange{0, 10}, LogRange{0, 10})
	unread.Partitions[1].Err = errors.New("no leader")
	for name, c := range map[string]struct {
		markers []Marker
		data    DataTopic
		dataErr error
		verdict Verdict
		reasons []string // codes with buckets
		says    string
		window  []Window
	}{
		"every marker inside the log": {
			markers: []Marker{mapMarker(0, Offsets{0: 3, 1: 5, 2: 7})}, data: three, verdict: Accepted,
			window: []Window{{0, 3, 10}, {1, 5, 20}, {2, 7, 7}},
		},
		"the smallest of each bucket over all subtasks": {
			markers: []Marker{mapMarker(0, Offsets{0: 3, 1: 9, 2: 7}), mapMarker(1, Offsets{0: 8, 1: 6, 2: 7})}, data: three, verdict: Accepted,
			window: []Window{{0, 3, 10}, {1, 6, 20}, {2, 7, 7}},
		},
		"subtasks that name different buckets are merged all the same": {
			markers: []Marker{mapMarker(0, Offsets{0: 3}), mapMarker(1, Offsets{1: 6, 2: 7})}, data: three, verdict: Accepted,
			window: []Window{{0, 3, 10}, {1, 6, 20}, {2, 7, 7}},
		},
		"an idle bucket whose rows have all expired": {
			markers: []Marker{mapMarker(0, Offsets{0: 10, 1: 5, 2: 7})}, data: flussTable(LogRange{10, 10}, LogRange{5, 20}, LogRange{7, 7}), verdict: Accepted,
			window: []Window{{0, 10, 10}, {1, 5, 20}, {2, 7, 7}},
		},
		"an idle bucket behind the start of its log": { // whatever the earliest offset says
			markers: []Marker{mapMarker(0, Offsets{0: 10})}, data: flussTable(LogRange{12, 10}), verdict: Accepted,
			window: []Window{{0, 10, 10}},
		},
		"rows that expired": {
			markers: []Marker{mapMarker(0, Offsets{0: 3, 1: 4, 2: 7})}, data: three, verdict: Rejected,
			reasons: []string{"fluss-data-loss 1"}, says: "bucket 1 must be read from 4, and its log starts at 5 (and ends at 20)",
			window: []Window{{0, 3, 10}, {2, 7, 7}},
		},
		"a log that went back": {
			markers: []Marker{mapMarker(0, Offsets{0: 11, 1: 5, 2: 8})}, data: three, verdict: Rejected,
			reasons: []string{"fluss-data-loss 0", "fluss-data-loss 2"}, says: "bucket 0 must be read from 11, and its log ends at 10",
			window: []Window{{1, 5, 20}},
		},
		"a table with another number of buckets": {
			markers: []Marker{mapMarker(0, Offsets{0: 3, 1: 5})}, data: three, verdict: Rejected,
			reasons: []string{"fluss-bucket-set"}, says: "the markers name the buckets 0-1 and the table has the buckets 0-2", window: []Window{{0, 3, 10}, {1, 5, 20}},
		},
		"the bucket set is asked before the rows": {
			markers: []Marker{mapMarker(0, Offsets{0: 99, 1: 5})}, data: three, verdict: Rejected,
			reasons: []string{"fluss-bucket-set", "fluss-data-loss 0"}, says: "the markers name", window: []Window{{1, 5, 20}},
		},
		"no marker":         {data: three, verdict: Accepted, window: []Window{}},
		"no map among them": {markers: []Marker{{OperatorID: "a1", Kind: MarkerVersioned, Class: "x.KafkaMarker", Offsets: Offsets{0: 99}}}, data: three, verdict: Accepted, window: []Window{}},
		"maps that name no bucket": { // the store then rebuilds nothing, and asks nothing of the table
			markers: []Marker{mapMarker(0, Offsets{}), mapMarker(1, Offsets{})}, data: three, verdict: Accepted, window: []Window{},
		},
		"a null among them": { // Flink itself can't restore such a list
			markers: []Marker{{OperatorID: "a1", Kind: MarkerNull}, mapMarker(1, Offsets{0: 3, 1: 5, 2: 7})}, data: three,
			verdict: Rejected, reasons: []string{"marker-null"}, says: "is null", window: []Window{{0, 3, 10}, {1, 5, 20}, {2, 7, 7}},
		},
		"each operator restores its own markers": {
			markers: []Marker{mapMarker(0, Offsets{0: 3, 1: 5, 2: 7}), {OperatorID: "b2", Kind: MarkerLegacy, Offsets: Offsets{0: 11, 1: 6, 2: 7}}}, data: three,
			verdict: Rejected, reasons: []string{"fluss-data-loss 0"}, says: "operator b2: bucket 0 must be read from 11", window: []Window{{0, 3, 10}, {1, 5, 20}, {2, 7, 7}},
		},
		"operators that name all buckets only together": {
			markers: []Marker{mapMarker(0, Offsets{0: 3}), {OperatorID: "b2", Kind: MarkerLegacy, Offsets: Offsets{1: 6, 2: 7}}}, data: three,
			verdict: Rejected, reasons: []string{"fluss-bucket-set"}, says: "the markers name", window: []Window{{0, 3, 10}, {1, 6, 20}, {2, 7, 7}},
		},
		"one is no map": {
			markers: []Marker{{OperatorID: "a1", Kind: MarkerOther, Class: "java.lang.String"}, mapMarker(1, Offsets{0: 3, 1: 5, 2: 7})}, data: three, verdict: Accepted,
			window: []Window{{0, 3, 10}, {1, 5, 20}, {2, 7, 7}},
		},
		"a map of other types": {
			markers: []Marker{{OperatorID: "a1", Kind: MarkerLegacyTyped, Entries: []TypedEntry{{Key: TypedValue{Type: "java.lang.Byte"}, Value: TypedValue{Type: "null"}}}}, mapMarker(1, Offsets{0: 3, 1: 5, 2: 7})}, data: three,
			verdict: Rejected, reasons: []string{"legacy-marker-types"}, says: "", window: []Window{{0, 3, 10}, {1, 5, 20}, {2, 7, 7}},
		},
		"a table that is not there, and no rows wanted": {
			markers: []Marker{mapMarker(0, Offsets{0: 0, 1: 0})}, data: DataTopic{}, verdict: Accepted, window: []Window{{0, 0, 0}, {1, 0, 0}},
		},
		"a table that is not there, and rows wanted": {
			markers: []Marker{mapMarker(0, Offsets{0: 1, 1: 0})}, data: DataTopic{}, verdict: Rejected, reasons: []string{"fluss-data-loss 0"}, says: "its log ends at 0", window: []Window{{1, 0, 0}},
		},
		"a bucket that could not be read": {
			markers: []Marker{mapMarker(0, Offsets{0: 3, 1: 5})}, data: unread, verdict: Unknown, window: []Window{{0, 3, 10}},
		},
		"a bucket that could not be read beside one that is lost": {
			markers: []Marker{mapMarker(0, Offsets{0: 30, 1: 5})}, data: unread, verdict: Rejected, reasons: []string{"fluss-data-loss 0"}, says: "", window: []Window{},
		},
		"a marker that could not be read": { // it may lie before the others: nothing is said of what would be read
			markers: []Marker{mapMarker(0, Offsets{0: 3, 1: 5, 2: 7}), {OperatorID: "a1", Subtask: 1, Kind: MarkerOther, Problem: &Problem{Code: "marker-unreadable", Message: "damaged"}}},
			data:    three, verdict: Unknown, window: []Window{},
		},
		"a cluster that could not be read": {
			markers: []Marker{mapMarker(0, Offsets{0: 3})}, dataErr: fault.New(fault.Unreachable, "", "nobody there"), verdict: Unknown, window: []Window{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := ValidateRestore(RestoreQuestion{Point: "file:/p", Job: Job{Store: StoreFluss, Topic: "agents.state", Partitions: 2}, Markers: c.markers, Data: c.data, DataErr: c.dataErr})
			var reasons []string
			for _, r := range v.Reasons {
				text := r.Code
				if b, ok := r.Named["bucket"]; ok {
					text += " " + group(int64(b.(int32)))
				}
				reasons = append(reasons, text)
			}
			if v.Verdict != c.verdict || !slices.Equal(reasons, c.reasons) || !slices.Equal(v.Window, c.window) {
				t.Errorf("%s, %q, %v\n%+v", v.Verdict, reasons, v.Window, v.Rules)
			}
			if c.says != "" && !strings.Contains(v.Reasons[0].Message, c.says) {
				t.Errorf("%q, want %q", v.Reasons[0].Message, c.says)
			}
			if v.Verdict == Unknown && len(v.Unchecked) == 0 || len(v.Runtime) != 1 {
				t.Errorf("%+v", v)
			}
			for _, r := range v.Rules {
				if strings.Contains(r.Message, "topic") || strings.Contains(r.Message, "partition") {
					t.Errorf("Kafka's words: %+v", r)
				}
			}
		})
	}
}

// A damaged recovery point is judged before any marker.
func TestADamagedPointIsNoFlussMatter(t *testing.T) {
	v := ValidateRestore(RestoreQuestion{
		Job: Job{Store: StoreFluss, Topic: "agents.state"}, Data: flussTable(LogRange{0, 1}),
		PointChecks: []Check{{ID: "M1", Severity: SeverityError, Message: "no magic"}}, PointErr: fault.New(fault.Corrupt, "", "damaged"),
	})
	if v.Verdict != Rejected || v.Reasons[0].Code != "metadata-unreadable" || v.Marker.Offsets != nil {
		t.Errorf("%+v", v)
	}
}

// What a restore does to a call that lies before the marker depends on whether the
// store writes its states anew.
func TestStatesThatAStoreWritesAnew(t *testing.T) {
	action := ActionCalls{Generation: KeyGeneration3, Partition: 1, Offset: 4}
	call := Call{State: CallPending, Seen: RecordPosition{1, 4}}
	point := PointMarker{Point: "file:/p", Offsets: Offsets{1: 9}}
	old := ActionCalls{Generation: KeyGeneration1, Partition: 1, Offset: 4}
	for _, c := range []struct {
		job    Job
		action ActionCalls
		want   CallOutcome
		says   string
	}{
		{Job{Store: StoreFluss, Runtime: Release03}, action, CallRunsAgain, "bucket 1, offset 4 is before the marker 9"},
		{Job{Store: StoreFluss, Runtime: ReleaseNext}, action, CallUnknown, "unless it had let go of it"},
		{Job{Store: StoreFluss}, action, CallUnknown, "unless it had let go of it"},
		{Job{Store: StoreFluss}, old, CallRunsAgain, "is before the marker"}, // nothing matches it, written anew or not
		{Job{}, action, CallRunsAgain, "partition 1, offset 4 is before the marker 9"},
	} {
		if got := Outcome(c.job, c.action, call, point); got.Outcome != c.want || !strings.Contains(got.Why, c.says) {
			t.Errorf("%+v: %+v", c.job, got)
		}
	}
	status := "SUCCEEDED"
	action.Offset = 12 // written anew behind the marker
	call.Seen.Offset, call.State, call.Status = 12, CallSaved, &status
	if got := Outcome(Job{Store: StoreFluss, Runtime: ReleaseNext}, action, call, point); got.Outcome != CallReused {
		t.Errorf("%+v", got)
	}
}

// Where several agent operators restore their own markers, an action behind the first
// of them and before the last is seen by one and not by the other.
func TestActionsBetweenTheMarkersOfTwoOperators(t *testing.T) {
	versioned := func(operator string, at int64) Marker {
		schema, topic, id := int32(1), "actions", "5Zv3uphiRLavoGZthy7JNg"
		return Marker{OperatorID: operator, Kind: MarkerVersioned, SchemaVersion: &schema, Topic: &topic, TopicID: &id, Offsets: Offsets{0: at}}
	}
	kafka := DataTopic{Name: "actions", Exists: true, TopicID: "5Zv3uphiRLavoGZthy7JNg", Partitions: []Partition{{ID: 0, Log: LogRange{0, 100}}}}
	agents := func(ids ...string) (out []Operator) {
		for _, id := range ids {
			out = append(out, Operator{ID: id, Name: agentName, States: []OperatorState{{Name: "currentProcessingKeys"}}})
		}
		return out
	}
	status := "SUCCEEDED"
	for name, c := range map[string]struct {
		q    RestoreQuestion
		want map[int64]CallOutcome
	}{
		"one operator": {
			RestoreQuestion{Job: Job{Topic: "actions"}, Data: kafka, Markers: []Marker{versioned("a1", 10), versioned("a1", 20)}, Operators: agents("a1")},
			map[int64]CallOutcome{9: CallRunsAgain, 10: CallReused, 19: CallReused, 20: CallReused},
		},
		"two": {
			RestoreQuestion{Job: Job{Topic: "actions"}, Data: kafka, Markers: []Marker{versioned("a1", 10), versioned("b2", 20)}, Operators: agents("a1", "b2")},
			map[int64]CallOutcome{9: CallRunsAgain, 10: CallUnknown, 19: CallUnknown, 20: CallReused},
		},
		"two, one of which has no marker": {
			RestoreQuestion{Job: Job{Topic: "actions"}, Data: kafka, Markers: []Marker{versioned("a1", 10)}, Operators: agents("a1", "b2")},
			map[int64]CallOutcome{9: CallRunsAgain, 10: CallUnknown, 99: CallUnknown},
		},
		"two on Fluss": {
			RestoreQuestion{
				Job: Job{Store: StoreFluss, Topic: "agents.state", Runtime: ReleaseNext}, Data: flussTable(LogRange{0, 100}),
				Markers: []Marker{mapMarker(0, Offsets{0: 10}), {OperatorID: "b2", Kind: MarkerLegacy, Offsets: Offsets{0: 20}}}, Operators: agents("a1", "b2"),
			},
			map[int64]CallOutcome{10: CallUnknown, 19: CallUnknown, 20: CallReused},
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := ValidateRestore(c.q)
			if v.Verdict != Accepted {
				t.Fatalf("%+v", v)
			}
			for offset, want := range c.want {
				action := ActionCalls{Generation: KeyGeneration3, Partition: 0, Offset: offset}
				got := Outcome(c.q.Job, action, Call{State: CallSaved, Status: &status, Seen: RecordPosition{0, offset}}, v.Marker)
				if got.Outcome != want || got.Why == "" {
					t.Errorf("offset %d: %+v, want %s", offset, got, want)
				}
			}
		})
	}
}
