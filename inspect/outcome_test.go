package inspect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
)

const (
	eventID  = "99914b93-2bd3-3a50-b983-c5e7c90ae93b"
	actionID = "aa8af3eb-e148-31a7-8d1b-6d1383a03755"
	newerID  = "827ccb0e-ea8a-306c-8c34-a16891f84e7b"
	digest   = "x6QqxwoERRpN28ZE9T1PgLeBOy97pE5RalN2jWxBvxk="
)

// Keys of one business key, in two generations. Where a test says nothing else,
// the topic has one partition.
func generation1(sequence int, action string) string {
	return fmt.Sprintf("alice_%d_%s_%s", sequence, eventID, action)
}

func generation3(sequence int) string {
	return fmt.Sprintf("116_%d_%s_%s_%s", sequence, eventID, actionID, digest)
}

func state(completed bool, calls ...string) string {
	return fmt.Sprintf(`{"taskEvent":{"@class":"org.apache.flink.agents.api.InputEvent","type":"_input_event"},"sensoryMemoryUpdates":[],"shortTermMemoryUpdates":[],"outputEvents":[],"callResults":[%s],"completed":%t}`,
		strings.Join(calls, ","), completed)
}

func callResult(function, status string) string {
	payload := "null"
	if status == "SUCCEEDED" {
		payload = `"MQ=="`
	}
	return fmt.Sprintf(`{"functionId":%q,"argsDigest":"","resultPayload":%s,"exceptionPayload":null,"status":%q}`, function, payload, status)
}

type kv struct{ key, value string }

const tombstone = "(null)"

// scanLog shows records of partition 0, from offset 0 on, to a scan.
func scanLog(q inspect.CallQuestion, records ...kv) inspect.DurableCalls {
	end := int64(len(records))
	scan := inspect.NewCallScan(q, []int32{0})
	extent := inspect.ScanExtent{From: inspect.Offsets{0: 0}, To: inspect.Offsets{0: end}, Read: inspect.Offsets{0: end}}
	show := func(from int64) {
		for n, r := range records {
			value := []byte(r.value)
			if r.value == tombstone {
				value = nil
			}
			if int64(n) >= from {
				scan.Visit(0, int64(n), 1000+int64(n), []byte(r.key), value)
			}
		}
	}
	show(0)
	for _, w := range scan.Second(extent) {
		show(w.From)
	}
	return scan.Finish(extent)
}

func at(marker int64) inspect.PointMarker {
	return inspect.PointMarker{Point: fmt.Sprintf("file:/chk-%d", marker), Offsets: inspect.Offsets{0: marker}}
}

// What becomes of the call "charge" of the one action, from a marker.
func TestOutcomesOfOpenActions(t *testing.T) {
	pending, saved := state(false, callResult("charge", "PENDING")), state(false, callResult("charge", "SUCCEEDED"))
	failed := state(false, `{"functionId":"charge","argsDigest":"","resultPayload":null,"exceptionPayload":"eA=="}`)
	empty := state(false)
	filler := kv{"116_9_" + eventID + "_" + newerID + "_" + digest, state(true)}
	for _, c := range []struct {
		name    string
		log     []kv
		marker  int64
		release inspect.Release
		want    inspect.CallOutcome
		says    string
	}{
		{"a saved result before the marker", []kv{{generation3(1), saved}, filler}, 1, "", inspect.CallRunsAgain, "partition 0, offset 0 is before the marker 1 of \"chk-1\", so the restore does not see its saved outcome and the call is made again"},
		{"a PENDING inside the window, generation 3", []kv{filler, {generation3(1), pending}}, 1, "", inspect.CallReconciler, "the job's reconciler is asked"},
		{"a PENDING inside the window, generation 1", []kv{filler, {generation1(1, actionID), pending}}, 1, "", inspect.CallRunsAgain, "its key is of generation 1, whose action ids change with each JVM"},
		{"a saved result inside the window", []kv{filler, {generation3(1), saved}}, 0, inspect.ReleaseNext, inspect.CallReused, "offset 1 is not before the marker 0"},
		{"a failure without a status", []kv{{generation3(1), failed}}, 0, "", inspect.CallReused, "the saved outcome is replayed"},
		{"a PENDING before the marker", []kv{{generation3(1), pending}, filler}, 2, "", inspect.CallRunsAgain, "does not see its PENDING"},
		{"generation 3 under a release that does not know it", []kv{{generation3(1), saved}}, 0, inspect.Release03, inspect.CallRunsAgain, "release 0.3 names actions by ids that change"},
		{"the first release replays nothing", []kv{{generation3(1), saved}}, 0, inspect.Release01, inspect.CallRunsAgain, "replays no marker"},
		{"overwritten inside the window", []kv{{generation3(1), pending}, {generation3(1), empty}}, 0, "", inspect.CallRunsAgain, "its PENDING at offset 0 was overwritten at offset 1"},
		{"a result that was lost", []kv{{generation3(1), saved}, {generation3(1), empty}}, 0, "", inspect.CallRunsAgain, "its result at offset 0 was overwritten at offset 1"},
		{"an unknown status", []kv{{generation3(1), state(false, callResult("charge", "TIMED_OUT"))}}, 0, "", inspect.CallUnknown, `the status "TIMED_OUT" is none that the job knows`},
		{"a later value that can't be read", []kv{{generation3(1), pending}, {generation3(1), "{"}}, 0, "", inspect.CallUnknown, "offset 1, whose value can't be decoded: it stops there"},
		{"both before the marker", []kv{{generation3(1), pending}, {generation3(1), "{"}}, 2, "", inspect.CallRunsAgain, "before the marker 2"},
		{"removed by a tombstone", []kv{{generation3(1), pending}, {generation3(1), tombstone}}, 0, "", inspect.CallRunsAgain, "the tombstone at partition 0, offset 1 removes the action"},
		{"of a JVM that has ended", []kv{{generation1(1, actionID), pending}, {generation1(1, newerID), state(true)}}, 0, "", inspect.CallRunsAgain, "belongs to a JVM that has ended (partition 0, offset 1 has its successor)"},
	} {
		q := inspect.CallQuestion{Job: inspect.Job{Runtime: c.release}, Points: []inspect.PointMarker{at(c.marker)}}
		got := scanLog(q, c.log...)
		if len(got.Actions) != 1 || len(got.Actions[0].Calls) != 1 || len(got.Actions[0].Outcomes) != 1 {
			t.Errorf("%s: %+v", c.name, got.Actions)
			continue
		}
		a := got.Actions[0]
		o := a.Calls[0].Outcomes[0]
		if o.Outcome != c.want || !strings.Contains(o.Why, c.says) || a.Outcomes[0] != o {
			t.Errorf("%s: %+v, want %s: %s", c.name, o, c.want, c.says)
		}
		var counts inspect.CallCounts
		switch c.want {
		case inspect.CallReused:
			counts.Reused = 1
		case inspect.CallReconciler:
			counts.Reconciler = 1
		case inspect.CallRunsAgain:
			counts.RunsAgain = 1
		default:
			counts.Unknown = 1
		}
		if got.Points[0].Calls != counts {
			t.Errorf("%s: counted %+v", c.name, got.Points[0])
		}
	}
}

func TestCallOutcomesThatAreNotKnown(t *testing.T) {
	q := inspect.CallQuestion{Points: []inspect.PointMarker{
		{Point: "chk-1", Why: "its markers are not known: the metadata is damaged"},
		{Point: "chk-2", Offsets: inspect.Offsets{7: 0}},
	}}
	got := scanLog(q, kv{generation3(1), state(false, callResult("charge", "PENDING"))}, kv{generation1(1, actionID), state(false, callResult("charge", "PENDING"))}, kv{generation3(2), state(false)})
	for _, c := range []struct {
		action, point int
		want          inspect.CallOutcome
		says          string
	}{
		{0, 0, inspect.CallUnknown, "the metadata is damaged"},
		{0, 1, inspect.CallUnknown, `the marker of "chk-2" does not name partition 0`},
		{1, 0, inspect.CallRunsAgain, "generation 1"}, // wherever it lies
		{2, 0, inspect.CallUnknown, "no call of it is on record"},
	} {
		o := got.Actions[c.action].Outcomes[c.point]
		if o.Outcome != c.want || !strings.Contains(o.Why, c.says) {
			t.Errorf("action %d from point %d: %+v, want %s: %s", c.action, c.point, o, c.want, c.says)
		}
	}
}

// Completed actions are at risk too: those that a tombstone in the window
// removed, and those that a new JVM does not match.
func TestCompletedActionsThatRunAgain(t *testing.T) {
	two := state(false, callResult("lookup", "SUCCEEDED"), callResult("charge", "SUCCEEDED"))
	log := []kv{
		{generation3(1), two}, {generation3(1), state(true)}, // completes at 1
		{generation3(2), state(false)}, {generation3(2), state(true)}, {generation3(3), state(true)},
		{generation3(1), tombstone}, // at 5, when its sequence is long over
		{generation1(1, actionID), two}, {generation1(1, actionID), state(true)},
		{generation1(2, actionID), state(true)},
	}
	q := inspect.CallQuestion{Points: []inspect.PointMarker{at(0), at(1), at(2), at(8)}}
	got := scanLog(q, log...)
	for n, want := range []int64{4, 4, 2, 0} { // from 0 and 1: both; from 2: that of generation 1
		if p := got.Points[n]; p.Completed != want || p.Calls.RunsAgain != want {
			t.Errorf("%+v, want %d", p, want)
		}
	}
	if len(got.Actions) != 0 || len(got.Removed) != 1 {
		t.Fatalf("%+v, removed %+v", got.Actions, got.Removed)
	}
	r := got.Removed[0]
	if !r.Completed || r.Offset != 1 || r.Tombstone.Offset != 5 || len(r.Calls) != 2 || r.Calls[1].FunctionID != "charge" {
		t.Errorf("%+v", r)
	}
	var points []string
	for _, o := range r.Outcomes {
		points = append(points, o.Point+" "+string(o.Outcome))
	}
	if got, want := strings.Join(points, ", "), "file:/chk-0 runs-again, file:/chk-1 runs-again"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	// Under a release, nothing is matched.
	q.Job.Runtime = inspect.Release03
	if p := scanLog(q, log...).Points[1]; p.Completed != 4 {
		t.Errorf("%+v", p)
	}
}

// What a plan deletes no restore sees.
func TestOutcomesAfterThePlan(t *testing.T) {
	q := inspect.CallQuestion{Points: []inspect.PointMarker{at(0), at(1)}, Plan: inspect.Offsets{0: 1}}
	got := scanLog(q, kv{generation3(1), state(false, callResult("charge", "SUCCEEDED"))}, kv{generation3(2), state(false, callResult("charge", "PENDING"))})
	for n, want := range []struct{ now, later inspect.CallCounts }{
		{inspect.CallCounts{Reused: 1, Reconciler: 1}, inspect.CallCounts{RunsAgain: 1, Reconciler: 1}},
		{inspect.CallCounts{RunsAgain: 1, Reconciler: 1}, inspect.CallCounts{RunsAgain: 1, Reconciler: 1}},
	} {
		if p := got.Points[n]; p.Calls != want.now || *p.Later != want.later {
			t.Errorf("%+v, later %+v, want %+v", p, *p.Later, want)
		}
	}
}

// Several actions of one event are normal where their ids live side by side.
func TestActionsOfOneEventAreNotUnmatched(t *testing.T) {
	pending := state(false, callResult("charge", "PENDING"))
	got := scanLog(inspect.CallQuestion{},
		kv{generation1(0, newerID), state(true)}, // the other id has appeared before
		kv{generation1(1, actionID), pending}, kv{generation1(1, newerID), state(true)})
	if len(got.Actions) != 1 || got.Actions[0].Unmatched || got.Counts != (inspect.PendingCalls{Pending: 1}) {
		t.Errorf("%+v, %+v", got.Actions, got.Counts)
	}
	if len(got.Siblings) != 1 || got.Siblings[0].ActionUUID != newerID || got.Siblings[0].Offset != 2 {
		t.Errorf("siblings %+v", got.Siblings)
	}
	// The old id appears again, on another key, behind the new one: its JVM lives.
	got = scanLog(inspect.CallQuestion{}, kv{generation1(1, actionID), pending}, kv{generation1(1, newerID), state(true)},
		kv{"bob_1_" + eventID + "_" + actionID, state(true)})
	if got.Actions[0].Unmatched {
		t.Errorf("%+v", got.Actions)
	}
}

func TestFindingsOfAScan(t *testing.T) {
	var log []kv
	for range 20 {
		log = append(log, kv{generation1(1, actionID), state(false)})
	}
	log = append(log, kv{"hello", "x"}, kv{"who\x1b", "{}"}, kv{generation3(4), "[]"},
		kv{generation3(5), state(false, callResult("charge", "PENDING"))}, kv{generation3(5), state(false)},
		kv{generation3(6), state(false, callResult("charge", "PENDING"))}, kv{generation3(6), tombstone})
	got := scanLog(inspect.CallQuestion{}, log...)
	var rules []string
	for _, f := range got.Findings {
		rules = append(rules, string(f.Severity)+":"+f.Rule)
	}
	if got, want := strings.Join(rules, " "), "warning:calls-overwritten warning:tombstone-on-open-action warning:values-unreadable warning:keys-unattributable warning:equal-records info:keys-of-earlier-generations"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for _, f := range got.Findings {
		if f.Rule == "equal-records" && (f.Cause != `20 records in a row of the key "alice" are equal, from partition 0, offset 0 on` || f.Refs[0] != "partition 0 offset 0") {
			t.Errorf("%+v", f)
		}
	}
	if got.Unattributable != 2 || got.Unreadable != 2 || len(got.UnknownKeys) != 2 || *got.UnknownKeys[1].Key == "who\x1b" {
		t.Errorf("%d unattributable %+v, %d unreadable", got.Unattributable, got.UnknownKeys, got.Unreadable)
	}
}

// Only what was asked for is listed, and resolved where a dictionary knows it.
func TestCallsOfSomeKeys(t *testing.T) {
	log := []kv{
		{generation1(1, actionID), state(true)}, {"bob_1_" + eventID + "_" + actionID, state(false)},
		{generation3(1), state(true)}, {"albert_1_" + eventID + "_" + actionID, state(false)},
	}
	text := "alice"
	for _, c := range []struct {
		name string
		q    inspect.CallQuestion
		want string
	}{
		{"all that are open", inspect.CallQuestion{}, "bob albert"},
		{"all", inspect.CallQuestion{All: true}, "alice bob " + digest + " albert"},
		{"by text", inspect.CallQuestion{Keys: []inspect.CallKey{{Text: &text}}}, "alice"},
		{"by text, resolved", inspect.CallQuestion{Keys: []inspect.CallKey{{Text: &text}}, Dictionary: dictionary{digest: "alice"}}, "alice alice"},
		{"by digest", inspect.CallQuestion{Keys: []inspect.CallKey{{Digest: digest}}}, digest},
		{"by prefix", inspect.CallQuestion{Prefix: "al"}, "albert"},
		{"by prefix, all", inspect.CallQuestion{Prefix: "al", All: true, Dictionary: dictionary{digest: "alice"}}, "alice alice albert"},
	} {
		var got []string
		for _, a := range scanLog(c.q, log...).Actions {
			if a.Key.Text != nil {
				got = append(got, *a.Key.Text)
			} else {
				got = append(got, a.Key.Digest)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %s", c.name, got, c.want)
		}
	}
}

type dictionary map[string]string

func (d dictionary) KeyText(digest string) (string, bool) {
	text, ok := d[digest]
	return text, ok
}

// Keys of a megabyte, keys of separators, and values of megabytes pass.
func TestHugeKeysAndValues(t *testing.T) {
	long := strings.Repeat("k", 1<<20)
	got := scanLog(inspect.CallQuestion{},
		kv{long + "_1_" + eventID + "_" + actionID, state(false, callResult("charge", "PENDING"))},
		kv{strings.Repeat("_", 1<<20), state(false)},
		kv{"a_b_c__1_" + eventID + "_" + actionID, strings.Replace(state(false), `"type"`, `"x":"`+strings.Repeat("y", 10<<20)+`","type"`, 1)})
	if len(got.Actions) != 2 || *got.Actions[0].Key.Text != long || *got.Actions[1].Key.Text != "a_b_c_" || got.Unattributable != 1 || got.Unreadable != 0 {
		t.Errorf("%d actions, %d unattributable, %d unreadable", len(got.Actions), got.Unattributable, got.Unreadable)
	}
}
