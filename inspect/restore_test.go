package inspect_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/testkit/cases"
)

// windowCases are decided by the records of the replay window, which these rules
// don't read. All their other rules pass.
var windowCases = []string{"on-released-key-in-window"}

var names = cases.Names{
	Data: "action-state", DataID: "6wBnCDrXRZCpbWKBbvCNbQ", DataID2: "2YgKb1hHSkm0Z8QmYcYh5w",
	OtherID: "Q0ZbI2aaTq2bEJtS3RzGgA", Control: "action-state-control",
}

func TestRestoresAreJudgedAsByJava(t *testing.T) {
	all := cases.Restores(t, "off-", "on-")
	if len(all) != 109 {
		t.Errorf("%d restores, want 109", len(all))
	}
	for _, c := range all {
		t.Run(c.Name, func(t *testing.T) {
			got := inspect.ValidateRestore(question(t, c))
			holds(t, got)
			if slices.Contains(windowCases, c.Name) {
				if got.Verdict != inspect.Accepted || !slices.Contains(got.Unchecked, "records of the replay window") {
					t.Errorf("%s, unchecked %q", got.Verdict, got.Unchecked)
				}
				return
			}
			if c.Expect.Verdict == "accept" {
				if got.Verdict != inspect.Accepted {
					t.Fatalf("%s: %+v", got.Verdict, got.Reasons)
				}
				wantReplay(t, got, c)
				return
			}
			if got.Verdict != inspect.Rejected {
				t.Fatalf("%s, want rejected for %s", got.Verdict, c.Expect.Reason)
			}
			wantProblem(t, &got.Reasons[0].Problem, c.Expect.Reason, c.Expect.Named)
			failed := ruleOf(t, got, got.Reasons[0].Code)
			if failed.Result != inspect.Failed {
				t.Errorf("rule %s is %s", failed.Code, failed.Result)
			}
		})
	}
}

// In the cases that only the window decides, every rule before it passes.
func TestWindowCasesPassEveryOtherRule(t *testing.T) {
	for _, c := range cases.Restores(t, "window-") {
		t.Run(c.Name, func(t *testing.T) {
			got := inspect.ValidateRestore(question(t, c))
			holds(t, got)
			if got.Verdict != inspect.Accepted || !slices.Equal(got.Unchecked, []string{"records of the replay window"}) {
				t.Errorf("%s, unchecked %q, %+v", got.Verdict, got.Unchecked, got.Reasons)
			}
		})
	}
}

func TestRefusedByTheBoundaryAlone(t *testing.T) {
	got := inspect.ValidateRestore(question(t, restoreCase(t, "on-committed-only-below-log-start-still-old")))
	wantWords(t, got.Reasons[0].Message, "partition 0", "12", "20")
	if rule := ruleOf(t, got, "below-committed-boundary"); rule.Message != "0: 12 < 20" {
		t.Errorf("evidence %q", rule.Message)
	}
	if rule := ruleOf(t, got, "offset-out-of-range"); rule.Result != inspect.WouldPass {
		t.Errorf("the range rule %+v", rule)
	}
	wantWords(t, strings.Join(got.Notes, "\n"),
		"records from the marker on still exist on partition 0", "Finishing the cleanup destroys them", "the boundary stays in force",
		"not trimmed to it yet on 2 of 2 partitions")
}

func TestBelowBothTheBoundaryAndTheLog(t *testing.T) {
	got := inspect.ValidateRestore(question(t, restoreCase(t, "on-below-boundary-and-below-log-start")))
	if rule := ruleOf(t, got, "offset-out-of-range"); rule.Result != inspect.WouldFail {
		t.Errorf("the range rule %+v", rule)
	}
	var codes []string
	for _, r := range got.Reasons {
		codes = append(codes, fmt.Sprintf("%s %v", r.Code, r.Named["partition"]))
	}
	want := []string{"below-committed-boundary 0", "below-committed-boundary 1", "offset-out-of-range 0", "offset-out-of-range 1"}
	if !slices.Equal(codes, want) {
		t.Errorf("reasons %q, want %q", codes, want)
	}
	wantWords(t, strings.Join(got.Notes, "\n"), "gone on partitions 0-1")
}

func TestEvidenceCountsManyPartitions(t *testing.T) {
	q := question(t, restoreCase(t, "on-at-boundary"))
	bound, at := map[string]int64{}, inspect.Offsets{}
	q.Data.Partitions = nil
	for p := range 64 {
		start := int64(150)
		if p < 2 {
			start = 100
		}
		bound[strconv.Itoa(p)] = 150
		at[int32(p)] = 120
		q.Data.Partitions = append(q.Data.Partitions, inspect.Partition{ID: int32(p), Log: inspect.LogRange{Start: start, End: 900}})
	}
	q.Control.Records = history(cases.Plan{Source: "chk-1", Topic: names.Data, TopicID: names.DataID, Offsets: bound})
	q.Markers = versioned(at)
	got := inspect.ValidateRestore(q)
	if rule := ruleOf(t, got, "below-committed-boundary"); rule.Message != "0: 120 < 150   1: 120 < 150   2: 120 < 150   3: 120 < 150   and 60 more" {
		t.Errorf("evidence %q", rule.Message)
	}
	if rule := ruleOf(t, got, "offset-out-of-range"); rule.Message != "62 of 64 partitions; passes on 0-1" {
		t.Errorf("evidence %q", rule.Message)
	}
	wantWords(t, strings.Join(got.Notes, "\n"), "still exist on partitions 0-1", "gone on partitions 2-63", "not trimmed to it yet on 2 of 64 partitions: 0-1")
}

func TestWhatCouldNotBeReadIsUnknown(t *testing.T) {
	denied := fault.New(fault.Denied, "describe topic", "not authorised")
	tests := map[string]struct {
		from   string
		change func(*inspect.RestoreQuestion)
		want   inspect.Verdict
		reason string
		rule   string // not checked
	}{
		"the data topic": {
			from: "on-at-boundary", change: func(q *inspect.RestoreQuestion) { q.Data, q.DataErr = inspect.DataTopic{}, denied },
			want: inspect.Unknown, rule: "offset-out-of-range"},
		"the data topic, with a marker below the boundary": {
			from: "on-below-p0", change: func(q *inspect.RestoreQuestion) { q.Data, q.DataErr = inspect.DataTopic{}, denied },
			want: inspect.Rejected, reason: "below-committed-boundary", rule: "marker-topic-id-mismatch"},
		"the control topic": {
			from: "on-at-boundary", change: func(q *inspect.RestoreQuestion) { q.Control, q.ControlErr = inspect.ControlTopic{}, denied },
			want: inspect.Unknown, rule: "below-committed-boundary"},
		"the control topic, with a marker of another topic": {
			from: "on-other-id-marker-below-boundary", change: func(q *inspect.RestoreQuestion) { q.Control, q.ControlErr = inspect.ControlTopic{}, denied },
			want: inspect.Rejected, reason: "marker-topic-id-mismatch", rule: "control-topic-missing"},
		"the recovery point": {
			from: "on-at-boundary", change: func(q *inspect.RestoreQuestion) { q.Markers, q.PointErr = nil, denied },
			want: inspect.Unknown, rule: "metadata-unreadable"},
		"the recovery point, without a control topic": {
			from: "off-versioned-mid", change: func(q *inspect.RestoreQuestion) { q.Markers, q.PointErr = nil, denied },
			want: inspect.Unknown, rule: "offset-out-of-range"},
		"the recovery point, with no boundary committed": {
			from: "on-control-empty", change: func(q *inspect.RestoreQuestion) { q.Markers, q.PointErr = nil, denied },
			want: inspect.Rejected, reason: "no-committed-boundary", rule: "marker-topic-id-mismatch"},
		"the offsets of one partition": {
			from: "off-versioned-mid", change: func(q *inspect.RestoreQuestion) { q.Data.Partitions[1].Err = errors.New("no leader") },
			want: inspect.Unknown, rule: "offset-out-of-range"},
		"the offsets of one partition, another one out of range": {
			from: "off-versioned-below-log-start-both", change: func(q *inspect.RestoreQuestion) { q.Data.Partitions[1].Err = errors.New("no leader") },
			want: inspect.Rejected, reason: "offset-out-of-range"},
		"the files on a scheme that is not reachable": {
			from: "off-versioned-mid", change: func(q *inspect.RestoreQuestion) {
				q.PointChecks = []inspect.Check{{ID: "F6", Severity: inspect.SeverityWarning, Message: "cannot check 3 files on hdfs"}}
			},
			want: inspect.Accepted, rule: "state-file-missing"},
		"files that may not be looked at, or whose store does not answer": {
			from: "off-versioned-mid", change: func(q *inspect.RestoreQuestion) {
				q.PointChecks = []inspect.Check{{ID: "F6", Severity: inspect.SeverityWarning, Message: "3 files on hdfs"}, {ID: "F10", Severity: inspect.SeverityWarning, Message: "2 files could not be checked: access denied"}}
			},
			want: inspect.Unknown, rule: "state-file-missing"},
		"whether Flink reads the checkpoint properties": {
			from: "off-versioned-mid", change: func(q *inspect.RestoreQuestion) {
				q.PointChecks = []inspect.Check{{ID: inspect.CheckProperties, Severity: inspect.SeverityWarning, Message: "whether Flink reads the checkpoint properties is not known"}}
			},
			want: inspect.Unknown, rule: "metadata-unreadable"},
		"markers that came from a file": {
			from: "off-versioned-mid", change: func(q *inspect.RestoreQuestion) { q.MarkersOnly = true },
			want: inspect.Accepted, rule: "metadata-unreadable"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			q := question(t, restoreCase(t, tt.from))
			tt.change(&q)
			got := inspect.ValidateRestore(q)
			holds(t, got)
			if got.Verdict != tt.want {
				t.Fatalf("%s, want %s: %+v", got.Verdict, tt.want, got.Rules)
			}
			if tt.reason != "" && got.Reasons[0].Code != tt.reason {
				t.Errorf("reason %s, want %s", got.Reasons[0].Code, tt.reason)
			}
			if tt.rule == "" {
				return
			}
			rule := ruleOf(t, got, tt.rule)
			if rule.Result != inspect.NotChecked || rule.Message == "" || !slices.Contains(got.Unchecked, rule.Title) {
				t.Errorf("rule %+v, unchecked %q", rule, got.Unchecked)
			}
		})
	}
}

func TestDamagedPointsAreRejected(t *testing.T) {
	tests := map[string]struct {
		checks  []inspect.Check
		err     error
		markers bool
		reason  string
	}{
		"corrupt metadata": {
			checks: []inspect.Check{{ID: "M3", Severity: inspect.SeverityError, Message: "truncated at byte 17"}},
			err:    fault.New(fault.Corrupt, "read", "truncated at byte 17"), reason: "metadata-unreadable"},
		"corrupt metadata, told by its check alone": {
			checks: []inspect.Check{{ID: "M5", Severity: inspect.SeverityError, Message: "impossible length 125 at byte 5138"}}, reason: "metadata-unreadable"},
		"corrupt metadata without a check": {
			err: fault.New(fault.Corrupt, "read", "truncated at byte 17"), reason: "metadata-unreadable"},
		"a missing file": {
			checks: []inspect.Check{{ID: "F2", Severity: inspect.SeverityError, Message: "missing state file s3://x"}}, markers: true, reason: "state-file-missing"},
		"a short file": {
			checks: []inspect.Check{{ID: "F4", Severity: inspect.SeverityError, Message: "merged file is shorter"}}, markers: true, reason: "state-file-missing"},
		"an offset outside its file": {
			checks: []inspect.Check{{ID: "F9", Severity: inspect.SeverityError, Message: "offset outside"}}, markers: true, reason: "metadata-unreadable"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			q := question(t, restoreCase(t, "off-versioned-mid"))
			q.PointChecks, q.PointErr = tt.checks, tt.err
			if !tt.markers {
				q.Markers = nil
			}
			got := inspect.ValidateRestore(q)
			holds(t, got)
			if got.Verdict != inspect.Rejected || got.Reasons[0].Code != tt.reason {
				t.Fatalf("%s %+v, want %s", got.Verdict, got.Reasons, tt.reason)
			}
			if files := ruleOf(t, got, "state-file-missing"); !tt.markers && files.Result != inspect.NotChecked {
				t.Errorf("the files of a point that could not be read %+v", files)
			}
			if len(got.Window) > 0 && !tt.markers {
				t.Errorf("a window %v from markers that are not known", got.Window)
			}
			for _, rt := range got.Runtime {
				if rt.Outcome != inspect.ReleaseRejects {
					t.Errorf("release %s %s: Flink itself refuses it", rt.Release, rt.Outcome)
				}
			}
		})
	}
}

// What a check says about a marker's content does not hide the rule of the real
// code that refuses it.
func TestChecksOfMarkersDoNotSpeakFirst(t *testing.T) {
	q := question(t, restoreCase(t, "off-string-marker"))
	q.PointChecks = []inspect.Check{{ID: "U9", Severity: inspect.SeverityError, Message: "expected a map"}}
	if got := inspect.ValidateRestore(q); got.Reasons[0].Code != "marker-type-unsupported" {
		t.Errorf("reasons %+v", got.Reasons)
	}
}

// A marker of a class that can't be decoded may be one that the job understands:
// that is no consent and no refusal. Damage is told by a check.
func TestMarkersThatCouldNotBeDecoded(t *testing.T) {
	unread := inspect.Marker{Subtask: 1, Kind: inspect.MarkerOther, Problem: &inspect.Problem{Code: "undecodable", Message: "the marker of subtask 1 holds an object of class x.Y"}}
	q := question(t, restoreCase(t, "off-versioned-mid"))
	q.Markers = append(q.Markers, unread)
	got := inspect.ValidateRestore(q)
	holds(t, got)
	if got.Verdict != inspect.Unknown {
		t.Fatalf("%s %+v", got.Verdict, got.Reasons)
	}
	wantWords(t, ruleOf(t, got, "metadata-unreadable").Message, "subtask 1", "x.Y")
	if rule := ruleOf(t, got, "offset-out-of-range"); rule.Result != inspect.NotChecked {
		t.Errorf("the range is %s although a marker is not known", rule.Result)
	}
	q.MarkersOnly = true
	if got := inspect.ValidateRestore(q); got.Verdict != inspect.Unknown {
		t.Errorf("%s from a file of markers", got.Verdict)
	}
	q.MarkersOnly = false
	q.PointChecks = []inspect.Check{{ID: "U8", Severity: inspect.SeverityError, Message: "3 bytes left"}}
	got = inspect.ValidateRestore(q)
	if got.Verdict != inspect.Rejected || got.Reasons[0].Code != "metadata-unreadable" {
		t.Errorf("%s %+v", got.Verdict, got.Reasons)
	}
}

// Two agents in one job restore their own lists: a list of one kind each is no
// mixture, and the lower markers of one don't save the other.
func TestOperatorsAreJudgedApart(t *testing.T) {
	q := question(t, restoreCase(t, "off-versioned-mid"))
	one, two := versioned(inspect.Offsets{0: 20, 1: 30})[0], inspect.Marker{Kind: inspect.MarkerLegacy, Class: "java.util.HashMap", Offsets: inspect.Offsets{0: 20, 1: 30}}
	one.OperatorID, two.OperatorID = "aaaaaaaa"+strings.Repeat("0", 24), "bbbbbbbb"+strings.Repeat("0", 24)
	q.Markers = []inspect.Marker{one, two}
	if got := inspect.ValidateRestore(q); got.Verdict != inspect.Accepted {
		t.Errorf("%s: %+v", got.Verdict, got.Reasons)
	}
	two = versioned(inspect.Offsets{0: 41, 1: 30})[0]
	two.OperatorID = "bbbbbbbb" + strings.Repeat("0", 24)
	q.Markers = []inspect.Marker{one, two}
	got := inspect.ValidateRestore(q)
	if got.Verdict != inspect.Rejected || got.Reasons[0].Code != "offset-out-of-range" {
		t.Fatalf("%s: %+v", got.Verdict, got.Reasons)
	}
	wantWords(t, got.Reasons[0].Message, "operator bbbbbbbb", "41", "40")
}

func TestNotesAboutWhatARestoreDoesNotSee(t *testing.T) {
	tests := map[string]struct {
		from  string
		words []string
	}{
		"a missing data topic":                    {"off-topic-missing-legacy-zero", []string{"does not exist", "2 partitions", "would create"}},
		"no marker":                               {"off-no-marker-fresh-start", []string{"no marker", "replays nothing"}},
		"a tombstone on the control topic":        {"on-tombstone-in-control", []string{"Keep a copy"}},
		"a status that went back":                 {"on-regression-in-control", []string{"Keep a copy"}},
		"a deletion that was recorded as applied": {"on-below-p0", []string{"recorded as APPLIED"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := inspect.ValidateRestore(question(t, restoreCase(t, tt.from)))
			wantWords(t, strings.Join(got.Notes, "\n"), tt.words...)
		})
	}
	q := question(t, restoreCase(t, "off-versioned-mid"))
	q.Markers = append(q.Markers, versioned(inspect.Offsets{0: 41, 1: 30})...)
	q.Markers[1].Subtask = 1
	got := inspect.ValidateRestore(q)
	if got.Verdict != inspect.Accepted {
		t.Errorf("%s: one subtask beyond the end passes unseen", got.Verdict)
	}
	wantWords(t, strings.Join(got.Notes, "\n"), "partition 0", "marker 1", "41", "40")
}

func TestAnOpenTransactionIsTold(t *testing.T) {
	q := question(t, restoreCase(t, "on-at-boundary"))
	q.Control.LogEnd = q.Control.LastStable + 3
	got := inspect.ValidateRestore(q)
	wantWords(t, strings.Join(got.Notes, "\n"), "open transaction", "from offset 2", "log end 5")
}

func TestAMissingTopicWithoutAPartitionCountHas64(t *testing.T) {
	q := question(t, restoreCase(t, "off-topic-missing-legacy-zero"))
	q.Job.Partitions = 0
	got := inspect.ValidateRestore(q)
	if topic := got.Reasons[0].Named["topicPartitions"].([]int32); len(topic) != 64 {
		t.Errorf("%d partitions", len(topic))
	}
}

func TestWhatWasTakenFromTheProfileIsSaid(t *testing.T) {
	q := question(t, restoreCase(t, "on-at-boundary"))
	q.Job.Runtime = inspect.Release03
	got := inspect.ValidateRestore(q)
	if want := []string{"release 0.3", "tombstones off", `control topic "action-state-control"`}; !slices.Equal(got.Assumed, want) {
		t.Errorf("assumed %q, want %q", got.Assumed, want)
	}
}

// question is what a restore of a case looks at.
func question(t testing.TB, c cases.RestoreCase) inspect.RestoreQuestion {
	t.Helper()
	c, err := c.With(names)
	if err != nil {
		t.Fatal(err)
	}
	_, markers, err := inspect.ReadMarkersFile(fmt.Appendf(nil, `{"markers":%s}`, c.Markers))
	if err != nil {
		t.Fatal(err)
	}
	q := inspect.RestoreQuestion{
		Point: "file:/checkpoints/job/chk-42", Markers: markers,
		Job: inspect.Job{
			Topic: names.Data, ControlTopic: c.Configured.ControlTopic, Tombstones: c.Configured.Tombstones,
			Partitions: c.Configured.NumPartitions, MaxParallelism: c.Configured.MaxParallelism,
		},
		Data: inspect.DataTopic{Name: names.Data, Exists: c.Data.Exists},
	}
	if q.Job.Partitions == 0 {
		q.Job.Partitions = 64
	}
	if c.Data.Exists {
		q.Data.TopicID = names.DataID
		if c.Recreated() {
			q.Data.TopicID = names.DataID2
		}
		for _, key := range c.Partitions() {
			p, err := strconv.ParseInt(key, 10, 32)
			if err != nil {
				t.Fatal(err)
			}
			q.Data.Partitions = append(q.Data.Partitions, inspect.Partition{ID: int32(p), Log: inspect.LogRange{Start: c.LogStart[key], End: c.LogEnd[key]}})
		}
		slices.SortFunc(q.Data.Partitions, func(a, b inspect.Partition) int { return int(a.ID) - int(b.ID) })
	}
	if q.Job.ControlTopic != nil {
		q.Control = controlTopic(*q.Job.ControlTopic, c.Control, c.FinalControlRecords())
	}
	return q
}

func restoreCase(t *testing.T, name string) cases.RestoreCase {
	t.Helper()
	all := cases.Restores(t, name)
	for _, c := range all {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no case %s", name)
	return cases.RestoreCase{}
}

// history is the COMMITTED and APPLIED records of plans.
func history(plans ...cases.Plan) []inspect.ControlRecord {
	var out []inspect.ControlRecord
	for _, p := range plans {
		for _, status := range []string{"COMMITTED", "APPLIED"} {
			key, value := p.ControlRecord(status)
			out = append(out, inspect.ControlRecord{Offset: int64(len(out)), Key: key, Value: value})
		}
	}
	return out
}

// versioned is one marker of the data topic.
func versioned(offsets inspect.Offsets) []inspect.Marker {
	schema, topic, id := int32(1), names.Data, names.DataID
	return []inspect.Marker{{Kind: inspect.MarkerVersioned, SchemaVersion: &schema, Topic: &topic, TopicID: &id, Offsets: offsets}}
}

// wantReplay compares the window with the number of records that Java replayed.
// The logs of these cases have no gaps after the first deletion.
func wantReplay(t *testing.T, got inspect.RestoreValidation, c cases.RestoreCase) {
	t.Helper()
	var span int64
	for _, w := range got.Window {
		span += w.To - w.From
	}
	if span != int64(c.Expect.Replayed) {
		t.Errorf("a window of %d offsets, Java replayed %d records", span, c.Expect.Replayed)
	}
}

func ruleOf(t *testing.T, v inspect.RestoreValidation, code string) inspect.Rule {
	t.Helper()
	for _, r := range v.Rules {
		if r.Code == code {
			return r
		}
	}
	t.Fatalf("no rule %s in %+v", code, v.Rules)
	return inspect.Rule{}
}

// holds checks what must be true of every answer.
func holds(t testing.TB, v inspect.RestoreValidation) {
	t.Helper()
	failed := 0
	seen := map[string]bool{}
	for _, r := range v.Rules {
		if r.Title == "" || r.Message == "" || r.Code == "" || seen[r.Code] {
			t.Errorf("rule %+v has no words, or is there twice", r)
		}
		seen[r.Code] = true
		switch r.Result {
		case inspect.Failed, inspect.WouldFail:
			failed++
		case inspect.NotChecked:
			if !slices.Contains(v.Unchecked, r.Title) {
				t.Errorf("%s is not checked and not said to be", r.Title)
			}
		}
	}
	if (v.Verdict == inspect.Rejected) != (failed > 0) || (len(v.Reasons) > 0) != (failed > 0) {
		t.Errorf("%s with %d failing rules and %d reasons", v.Verdict, failed, len(v.Reasons))
	}
	for _, r := range v.Reasons {
		if r.Message == "" || r.Code == "" {
			t.Errorf("a reason without words: %+v", r)
		}
	}
	if v.Window == nil || v.Notes == nil || v.Unchecked == nil || v.Assumed == nil || v.Runtime == nil {
		t.Error("a list is nil")
	}
}
