package actions_test

import (
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
)

// Refusals that name the marker, and markers that no constructor would have
// made.
func TestMarkersThatAuthoriseNothing(t *testing.T) {
	const good = `{"kind":"versioned","topic":"t","topicId":"6wBnCDrXRZCpbWKBbvCNbQ","offsets":{"0":1}}`
	tests := map[string]struct {
		markers, code, message string
	}{
		"a legacy marker behind a good one": {
			`[` + good + `,{"kind":"legacy","offsets":{"0":1,"1":2000,"2":3,"3":4}}]`, "marker-not-versioned",
			"marker 1 is java.util.HashMap and not a versioned marker (0: 1, 1: 2,000, 2: 3 and 1 more): it does not say which physical topic it belongs to"},
		"a schema that is wrong before a topic that differs": {
			`[` + good + `,{"kind":"versioned","schemaVersion":7,"topic":"other","topicId":"x","offsets":{"0":1}}]`, "marker-schema-unsupported", "marker 1 has schema version 7"},
		"no schema version":       {`[{"kind":"versioned","schemaVersion":null,"topic":"t","topicId":"x","offsets":{"0":1}}]`, "marker-schema-unsupported", "has no schema version"},
		"a topic that is null":    {`[{"kind":"versioned","topic":null,"topicId":"x","offsets":{"0":1}}]`, "blank-text", "the plan's topic is blank (from marker 0)"},
		"a null topic, then one":  {`[{"kind":"versioned","topic":null,"topicId":"x","offsets":{"0":1}},` + good + `]`, "markers-name-different-topics", "marker 0 names topic null with id \"x\""},
		"offsets that are null":   {`[{"kind":"versioned","topic":"t","topicId":"x","offsets":null}]`, "offsets-empty", "names no partition (from marker 0)"},
		"one with fewer":          {`[` + good + `,{"kind":"versioned","topic":"t","topicId":"6wBnCDrXRZCpbWKBbvCNbQ","offsets":null}]`, "markers-have-different-partition-sets", "marker 0 has the partitions 0, marker 1 has none"},
		"a negative offset":       {`[` + good + `,{"kind":"versioned","topic":"t","topicId":"6wBnCDrXRZCpbWKBbvCNbQ","offsets":{"0":-7}}]`, "offset-negative", "offset -7 for partition 0; offsets begin at 0 (from marker 1)"},
		"an unreadable element":   {`[{"kind":"other","class":"x.Y","problem":{"code":"kryo","message":"class x.Y is not known"}}]`, "marker-not-versioned", "class x.Y is not known"},
		"a map of other types":    {`[{"kind":"legacyTyped","entries":[]}]`, "marker-not-versioned", "marker 0 is java.util.HashMap"},
		"the zero id, and nobody": {`[{"kind":"versioned","topic":"t","topicId":"AAAAAAAAAAAAAAAAAAAAAA","offsets":{"0":1}}]`, "zero-topic-id", "(from marker 0)"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, problem := actions.CleanupFrom(markersOf(t, []byte(tt.markers)), "file:/chk-1")
			wantRefusal(t, problem, tt.code, nil)
			if !strings.Contains(problem.Message, tt.message) {
				t.Errorf("message %q does not say %q", problem.Message, tt.message)
			}
		})
	}
}

func TestASourceThatIsNotText(t *testing.T) {
	markers := markersOf(t, []byte(`[{"kind":"versioned","topic":"t","topicId":"x","offsets":{"0":1}}]`))
	_, problem := actions.CleanupFrom(markers, "file:/chk-\xff")
	wantRefusal(t, problem, "not-utf8", nil)
	_, problem = actions.CleanupFrom(markers, " ")
	wantRefusal(t, problem, "blank-text", nil)
	if want := "the recovery point's address is blank"; problem.Message != want {
		t.Errorf("message %q, want %q", problem.Message, want)
	}
	if _, problem = actions.CleanupFrom(markers, "\u00a0"); problem != nil {
		t.Errorf("U+00A0 is text: %+v", problem)
	}
}

// The operator is named by its id where the markers came from a recovery point.
func TestTheMarkersOperatorIsNamed(t *testing.T) {
	_, problem := actions.CleanupFrom([]inspect.Marker{{OperatorID: "bc764cd8ddf7a0cff126f51c16239658", Subtask: 3, Kind: inspect.MarkerNull}}, "file:/chk-1")
	wantRefusal(t, problem, "marker-not-versioned", nil)
	if !strings.HasPrefix(problem.Message, "the marker of subtask 3 of operator bc764cd8 is null") || problem.Named["subtask"] != int32(3) || problem.Named["found"] != "null" {
		t.Errorf("problem %+v", problem)
	}
}
