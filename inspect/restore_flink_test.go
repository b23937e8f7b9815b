package inspect_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
)

// The operator ids are those of real snapshots: a source with the uid
// CheckpointingSource2, and an agent operator without one.
const (
	sourceID = "1f2b5df5a66154aca61fcb26193792be"
	agentID  = "a23e7bd0df5d4a8b88f0a4c9c3d5f9b2"
)

// snapshot is a question about a sound point with its operators.
func snapshot(t *testing.T, from string) inspect.RestoreQuestion {
	t.Helper()
	q := question(t, restoreCase(t, from))
	q.Job.MaxParallelism = 0
	q.MetadataVersion, q.CheckpointID, q.Kind = 6, 42, inspect.KindCheckpoint
	q.Operators = []inspect.Operator{
		{ID: sourceID, UID: "CheckpointingSource2", Name: "Source", Parallelism: 1, MaxParallelism: 64},
		{ID: agentID, Name: "action-execute-operator", Parallelism: 2, MaxParallelism: 128,
			States: []inspect.OperatorState{{Name: "recoveryMarker", Mode: "UNION", Kind: "list", Elements: 2}}},
	}
	return q
}

func figure(n int) *int { return &n }

func TestFlinkItselfIsAskedFirst(t *testing.T) {
	unreadable := func(q *inspect.RestoreQuestion) {
		q.PointErr, q.Markers, q.Operators, q.MetadataVersion = errDenied, nil, nil, 0
	}
	tests := map[string]struct {
		from   string // off-versioned-mid
		change func(*inspect.RestoreQuestion)
		code   string
		want   inspect.RuleResult // "": there is no such rule
		says   []string
	}{
		"metadata of a newer Flink": {
			change: func(q *inspect.RestoreQuestion) { q.RunningFlink = "1.20.5" },
			code:   "metadata-version-unsupported", want: inspect.Failed,
			says: []string{"2.1 to 2.3", "Flink 1.20", "Unrecognized checkpoint version number: 6"}},
		"metadata of 2.1 in 2.0": {
			change: func(q *inspect.RestoreQuestion) { q.RunningFlink = "2.0.2" },
			code:   "metadata-version-unsupported", want: inspect.Failed, says: []string{"none above 5"}},
		"metadata of the same Flink": {
			change: func(q *inspect.RestoreQuestion) { q.RunningFlink = "2.3.0" },
			code:   "metadata-version-unsupported", want: inspect.Passed},
		"older metadata": {
			change: func(q *inspect.RestoreQuestion) { q.RunningFlink, q.MetadataVersion = "2.3.0", 5 },
			code:   "metadata-version-unsupported", want: inspect.Passed},
		"a stated Flink goes before the running one": {
			change: func(q *inspect.RestoreQuestion) { q.RunningFlink, q.Job.FlinkVersion = "2.3.0", "1.20" },
			code:   "metadata-version-unsupported", want: inspect.Failed},
		"a Flink that is not known, in a whole answer": {
			change: func(q *inspect.RestoreQuestion) { q.Whole = true },
			code:   "metadata-version-unsupported", want: inspect.NotChecked, says: []string{"--flink-version"}},
		"a Flink that is not known": {
			change: func(*inspect.RestoreQuestion) {}, code: "metadata-version-unsupported"},
		"metadata that could not be read": {
			change: func(q *inspect.RestoreQuestion) { unreadable(q); q.RunningFlink = "2.3.0" },
			code:   "metadata-version-unsupported", want: inspect.NotChecked},
		"Kryo 2 markers in Flink 2": {
			change: func(q *inspect.RestoreQuestion) { q.RunningFlink, q.MetadataVersion = "2.3.0", 4 },
			code:   "kryo-generation", want: inspect.Failed, says: []string{"Kryo 2", "1.16 to 1.20", "Kryo 5"}},
		"Kryo 2 markers in Flink 1.20": {
			change: func(q *inspect.RestoreQuestion) { q.RunningFlink, q.MetadataVersion = "1.20.5", 4 },
			code:   "kryo-generation", want: inspect.Passed},
		"an agent of 1.20 without markers in 2.x": { // its keys, tasks and events are of Kryo too
			change: func(q *inspect.RestoreQuestion) {
				q.RunningFlink, q.MetadataVersion, q.Markers = "2.3.0", 4, nil
				q.Operators[1].Name, q.Operators[1].States = "", []inspect.OperatorState{{Name: "currentProcessingKeys", Mode: "UNION", Kind: "list", Elements: 1}}
			},
			code: "kryo-generation", want: inspect.Failed, says: []string{"the agent operator's state is Kryo 2 data"}},
		"a job of 1.20 without an agent in 2.x": {
			change: func(q *inspect.RestoreQuestion) {
				q.RunningFlink, q.MetadataVersion, q.Markers, q.Operators = "2.3.0", 4, nil, q.Operators[:1]
			},
			code: "kryo-generation"},

		"the operator is there": {
			change: func(q *inspect.RestoreQuestion) { q.Job.Operator.ID = agentID },
			code:   "operator-missing", want: inspect.Passed, says: []string{agentID, "action-execute-operator"}},
		"the operator is not there": {
			change: func(q *inspect.RestoreQuestion) {
				q.Job.Operator = inspect.ExpectedOperator{ID: strings.Repeat("0", 32), UID: "agent"}
			},
			code: "operator-missing", want: inspect.Failed,
			says: []string{`uid "agent"`, "--allowNonRestoredState", "would be lost", "Present: " + sourceID, agentID}},
		"the operator is another one's": {
			change: func(q *inspect.RestoreQuestion) { q.Job.Operator.ID = sourceID },
			code:   "operator-missing", want: inspect.Failed, says: []string{"no agent's state"}},
		"the operators are not known": {
			change: func(q *inspect.RestoreQuestion) { unreadable(q); q.Job.Operator.ID = agentID },
			code:   "operator-missing", want: inspect.NotChecked},
		"nothing is expected, in a whole answer": {
			change: func(q *inspect.RestoreQuestion) { q.Whole = true },
			code:   "operator-missing", want: inspect.NotChecked, says: []string{"--operator-uid"}},

		"the same max parallelism": {
			change: func(q *inspect.RestoreQuestion) { q.Job.MaxParallelism = 128 },
			code:   "max-parallelism-mismatch", want: inspect.Passed},
		"another max parallelism": {
			change: func(q *inspect.RestoreQuestion) { q.Job.MaxParallelism = 256 },
			code:   "max-parallelism-mismatch", want: inspect.Failed, says: []string{"128", "256", "unless the job's code does not fix it"}},
		"another max parallelism, and a log rule": {
			from: "off-versioned-below-log-start-both", change: func(q *inspect.RestoreQuestion) { q.Job.MaxParallelism = 256 },
			code: "max-parallelism-mismatch", want: inspect.Failed},
		"the running job's max parallelism": {
			change: func(q *inspect.RestoreQuestion) { q.Whole, q.RunningMaxParallelism = true, figure(128) },
			code:   "max-parallelism-mismatch", want: inspect.Passed, says: []string{"128, as in the running job"}},
		"another one than the running job's, which its code may not set": {
			change: func(q *inspect.RestoreQuestion) { q.Whole, q.RunningMaxParallelism = true, figure(256) },
			code:   "max-parallelism-mismatch", want: inspect.NotChecked, says: []string{"128 in the recovery point and 256 in the running job", "--max-parallelism"}},
		"a stated one goes before the running job's": {
			change: func(q *inspect.RestoreQuestion) {
				q.Whole, q.RunningMaxParallelism, q.Job.MaxParallelism = true, figure(128), 256
			},
			code: "max-parallelism-mismatch", want: inspect.Failed},
		"a max parallelism that is not known, in a whole answer": {
			change: func(q *inspect.RestoreQuestion) { q.Whole = true },
			code:   "max-parallelism-mismatch", want: inspect.NotChecked, says: []string{"--max-parallelism"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			from := tt.from
			if from == "" {
				from = "off-versioned-mid"
			}
			q := snapshot(t, from)
			tt.change(&q)
			got := inspect.ValidateRestore(q)
			holds(t, got)
			at := slices.IndexFunc(got.Rules, func(r inspect.Rule) bool { return r.Code == tt.code })
			if tt.want == "" {
				if at >= 0 {
					t.Fatalf("a rule that nobody asked: %+v", got.Rules[at])
				}
				return
			}
			rule := ruleOf(t, got, tt.code)
			if rule.Result != tt.want {
				t.Fatalf("%+v, want %s", rule, tt.want)
			}
			wantWords(t, rule.Message, tt.says...)
			if tt.want != inspect.Failed {
				return
			}
			if got.Reasons[0].Code != tt.code {
				t.Errorf("reasons %+v", got.Reasons)
			}
			for _, rt := range got.Runtime {
				if rt.Outcome != inspect.ReleaseRejects {
					t.Errorf("release %s %s: Flink itself refuses it", rt.Release, rt.Outcome)
				}
			}
		})
	}
}

// What the job's side of a rule is not known for leaves the verdict alone; what
// was asked and could not be read does not.
func TestFlinkRulesAndTheVerdict(t *testing.T) {
	q := snapshot(t, "off-versioned-mid")
	q.Whole = true
	if got := inspect.ValidateRestore(q); got.Verdict != inspect.Accepted || len(got.Unchecked) < 3 {
		t.Errorf("%s, unchecked %q", got.Verdict, got.Unchecked)
	}
	q.PointErr, q.Markers, q.Operators, q.MetadataVersion = errDenied, nil, nil, 0
	q.Job.Operator.ID = agentID
	if got := inspect.ValidateRestore(q); got.Verdict != inspect.Unknown {
		t.Errorf("%s: nothing of the point was read", got.Verdict)
	}
}

// Before a job's graph is changed it is said what that costs.
func TestAnAgentWithoutAUIDIsTold(t *testing.T) {
	q := snapshot(t, "off-versioned-mid")
	wantWords(t, strings.Join(inspect.ValidateRestore(q).Notes, "\n"), "no uid", agentID, "job graph", "--allowNonRestoredState")
	q.Operators[1].UID = "agent"
	if notes := strings.Join(inspect.ValidateRestore(q).Notes, "\n"); strings.Contains(notes, "no uid") {
		t.Errorf("it has a uid: %s", notes)
	}
	q.Operators[1].UID, q.MetadataVersion = "", 4 // such metadata has no room for one
	if notes := strings.Join(inspect.ValidateRestore(q).Notes, "\n"); strings.Contains(notes, "no uid") {
		t.Errorf("metadata of version 4 holds no uid: %s", notes)
	}
}

func TestFlinkVersions(t *testing.T) {
	for text, want := range map[string]bool{"1.20": true, "1.20.5": true, "2.0": true, "2.3-SNAPSHOT": true, "2": false, "3.0": false, "": false, "x": false, "-1.2": false} {
		if got := inspect.KnowsFlinkVersion(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// A short answer leaves out what nobody stated, and can say that it did.
func TestUnstatedRules(t *testing.T) {
	q := snapshot(t, "off-versioned-mid")
	if got := inspect.ValidateRestore(q).Unstated(); len(got) != 3 {
		t.Errorf("unstated %q", got)
	}
	q.RunningFlink, q.Job.MaxParallelism = "2.3.0", 128
	if got := inspect.ValidateRestore(q).Unstated(); len(got) != 1 || !strings.Contains(got[0], "agent operator") {
		t.Errorf("unstated %q", got)
	}
}
