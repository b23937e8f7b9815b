package inspect_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/testkit/cases"
	"github.com/recoverctl/recoverctl/internal/testkit/flinkcases"
)

// refusedSnapshots are snapshots of real jobs whose markers don't belong
// together, and why.
var refusedSnapshots = map[string]string{
	"bad-values-p3": "blank-text",
	"foreign-element-p1/8bb3b114120ca64d3d52a565c920a371/chk-2": "marker-type-unsupported",
	"flink120-null-fields-p2":                                   "blank-text",
	"mixed-p2":                                                  "markers-mixed",
	"negative-p1":                                               "partition-negative",
	"null-fields-p2":                                            "blank-text",
	"null-p2":                                                   "marker-null",
	"partitions-differ-p2":                                      "markers-have-different-partition-sets",
	"schema-2-p1":                                               "marker-schema-unsupported",
	"topic-differs-p2":                                          "markers-name-different-topics",
	"topic-id-differs-p2":                                       "markers-name-different-topics",
}

func TestMarkersOfRealSnapshotsMerge(t *testing.T) {
	for _, name := range flinkcases.Names(t) {
		for _, s := range flinkcases.Load(t, name).Snapshots {
			t.Run(name+"/"+s.Path, func(t *testing.T) {
				markers := snapshotMarkers(t, s)
				got := inspect.Merge(markers)
				reason, refused := refusedSnapshots[name]
				if !refused {
					reason, refused = refusedSnapshots[name+"/"+s.Path]
				}
				if refused && len(markers) > 0 {
					if got.Kind != inspect.MergedInvalid || len(got.Offsets) != 0 {
						t.Errorf("%s with %d offsets, want invalid", got.Kind, len(got.Offsets))
					}
					wantProblem(t, got.Problem, reason, nil)
					return
				}
				if got.Problem != nil {
					t.Fatalf("refused: %+v", got.Problem)
				}
				if len(markers) == 0 {
					if got.Kind != inspect.MergedNone {
						t.Errorf("%s, want none", got.Kind)
					}
					return
				}
				if string(got.Kind) != string(markers[0].Kind) {
					t.Errorf("%s, want %s", got.Kind, markers[0].Kind)
				}
				want := map[string]int64{}
				for _, m := range markers {
					for p, offset := range m.Offsets {
						key := strconv.Itoa(int(p))
						if at, ok := want[key]; !ok || offset < at {
							want[key] = offset
						}
					}
				}
				wantOffsets(t, "merged", got.Offsets, want)
			})
		}
	}
}

func TestRefusedMarkersAreNamed(t *testing.T) {
	const operator = "20ba6b65f97481d5570070de90e4e791"
	tests := map[string]struct {
		markers string
		reason  string
		words   []string
	}{
		"a null one": {`[null]`, "marker-null", []string{"subtask 0", "20ba6b65", "null"}},
		"a string": {`[{"kind":"legacy","offsets":{"0":1}},{"kind":"other"}]`, "marker-type-unsupported",
			[]string{"subtask 1", "java.lang.String"}},
		"another schema": {`[{"kind":"versioned","schemaVersion":7,"topic":"t","topicId":"i","offsets":{"0":1}}]`, "marker-schema-unsupported",
			[]string{"subtask 0", "7"}},
		"a map of the wrong types": {`[{"kind":"legacyTyped","entries":[{"key":{"int":0},"value":{"int":20}}]}]`, "legacy-marker-types",
			[]string{"subtask 0", "Integer 0", "Integer 20", "Long"}},
		"a negative offset in a map":    {`[{"kind":"legacy","offsets":{"3":-9}}]`, "legacy-marker-negative", []string{"-9", "partition 3"}},
		"a negative partition in a map": {`[{"kind":"legacy","offsets":{"-3":9}}]`, "legacy-marker-negative", []string{"-3"}},
		"both kinds": {`[{"kind":"legacy","offsets":{"0":1}},{"kind":"versioned","topic":"t","topicId":"i","offsets":{"0":1}}]`, "markers-mixed",
			[]string{"subtask 0", "legacy", "subtask 1", "versioned"}},
		"two topics": {`[{"kind":"versioned","topic":"t","topicId":"i","offsets":{"0":1}},{"kind":"versioned","topic":"u","topicId":"i","offsets":{"0":1}}]`,
			"markers-name-different-topics", []string{`"t"`, `"u"`}},
		"two partition sets": {`[{"kind":"legacy","offsets":{"0":1,"1":1}},{"kind":"legacy","offsets":{"0":1}}]`,
			"markers-have-different-partition-sets", []string{"0-1", "has 0"}},
		"a blank topic id": {`[{"kind":"versioned","topic":"t","topicId":"  ","offsets":{"0":1}}]`, "blank-text", []string{"topicId"}},
		"no partition":     {`[{"kind":"versioned","topic":"t","topicId":"i","offsets":{}}]`, "offsets-empty", []string{"no partition"}},
		"null offsets":     {`[{"kind":"versioned","topic":"t","topicId":"i","offsets":null}]`, "offsets-empty", []string{"no partition"}},
		"a negative offset": {`[{"kind":"versioned","topic":"t","topicId":"i","offsets":{"0":5}},{"kind":"versioned","topic":"t","topicId":"i","offsets":{"0":-1}}]`,
			"offset-negative", []string{"subtask 1", "-1"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			markers := readMarkers(t, []byte(tt.markers))
			for i := range markers {
				markers[i].OperatorID = operator
			}
			got := inspect.Merge(markers)
			wantProblem(t, got.Problem, tt.reason, nil)
			wantWords(t, got.Problem.Message, tt.words...)
		})
	}
}

// The Java planner refuses these sets of markers; where its reason is one of the
// markers' own, the merge says the same.
func TestRefusedSetsOfMarkersAreRefusedAsByJava(t *testing.T) {
	for _, c := range cases.Goldens(t) {
		if c.Accepted || strings.HasSuffix(c.Name, "source") || c.Reason == "no-markers" || c.Reason == "zero-topic-id" {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			got := inspect.Merge(readMarkers(t, c.Markers))
			if c.Reason == "marker-not-versioned" { // the planner's word for what these rules tell apart
				if got.Kind == inspect.MergedVersioned {
					t.Errorf("markers that Java refuses merge to %v", got.Offsets)
				}
				return
			}
			wantProblem(t, got.Problem, c.Reason, c.Named)
		})
	}
}

func snapshotMarkers(t *testing.T, s flinkcases.Snapshot) []inspect.Marker {
	t.Helper()
	var out []inspect.Marker
	for _, o := range s.Operators {
		for _, sub := range o.Subtasks {
			if sub.Markers.Error != "" {
				// Flink itself can't read a null element.
				out = append(out, inspect.Marker{OperatorID: o.ID, Subtask: sub.Index, Kind: inspect.MarkerNull})
			}
			for _, m := range sub.Markers.List {
				marker := inspect.Marker{OperatorID: o.ID, Subtask: sub.Index, Kind: inspect.MarkerKind(m.Kind), Class: m.Class, Topic: m.Topic, TopicID: m.TopicID}
				if m.SchemaVersion != nil {
					version := int32(*m.SchemaVersion)
					marker.SchemaVersion = &version
				}
				if m.Offsets != nil {
					marker.Offsets = inspect.Offsets{}
				}
				for key, offset := range m.Offsets {
					p, err := strconv.ParseInt(key, 10, 32)
					if err != nil {
						t.Fatal(err)
					}
					marker.Offsets[int32(p)] = offset
				}
				out = append(out, marker)
			}
		}
	}
	return out
}
