package inspect_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/testkit/cases"
)

func TestPlanFilesAreJudgedAsByJava(t *testing.T) {
	all := cases.Plans(t)
	if len(all) != 153 {
		t.Errorf("%d plan files, want 153", len(all))
	}
	for _, c := range all {
		t.Run(c.Name, func(t *testing.T) {
			plan, problem := inspect.ParsePlan(c.Content(t))
			if !c.Accepted {
				wantProblem(t, problem, c.Reason, c.Named)
				return
			}
			if problem != nil {
				t.Fatalf("refused: %+v", problem)
			}
			if plan.PlanID != c.PlanID {
				t.Errorf("plan id %s, want %s", plan.PlanID, c.PlanID)
			}
			if c.Value == nil {
				return
			}
			for field, text := range map[string][2]string{
				"source":   {plan.SourceRecoveryPoint, c.Value.Source},
				"topic":    {plan.Topic, c.Value.Topic},
				"topic id": {plan.TopicID, c.Value.TopicID},
			} {
				if text[0] != text[1] && text[1] != cases.LongText {
					t.Errorf("%s %q, want %q", field, text[0], text[1])
				}
			}
			wantOffsets(t, "offsets", plan.Offsets, c.Value.Offsets)
		})
	}
}

func TestPlansThatJavaWrites(t *testing.T) {
	for _, c := range cases.Goldens(t) {
		if !c.Accepted {
			continue // why markers make no plan is told by the merge and restore rules
		}
		t.Run(c.Name, func(t *testing.T) {
			plan, problem := inspect.ParsePlan(c.Content(t))
			if problem != nil {
				t.Fatalf("refused: %+v", problem)
			}
			if plan.PlanID != c.PlanID || plan.SourceRecoveryPoint != c.Source {
				t.Errorf("plan %s of %q, want %s of %q", plan.PlanID, plan.SourceRecoveryPoint, c.PlanID, c.Source)
			}
			if id := inspect.PlanID(plan.SourceRecoveryPoint, plan.Topic, plan.TopicID, plan.Offsets); id != c.PlanID {
				t.Errorf("computed id %s, want %s", id, c.PlanID)
			}
			merged := inspect.Merge(readMarkers(t, c.Markers))
			if merged.Kind != inspect.MergedVersioned || !reflect.DeepEqual(merged.Offsets, plan.Offsets) {
				t.Errorf("markers merge to %s %v, and Java wrote %v", merged.Kind, merged.Offsets, plan.Offsets)
			}
			record := inspect.ControlRecord{Key: []byte(c.PlanID), Value: []byte(c.CommittedValue)}
			ops, problem := inspect.ReadControl([]inspect.ControlRecord{record})
			if problem != nil || len(ops) != 1 || !reflect.DeepEqual(ops[0].Offsets, plan.Offsets) {
				t.Errorf("the control record that Java wrote: %+v %+v", ops, problem)
			}
		})
	}
}

func FuzzParsePlan(f *testing.F) {
	f.Add([]byte(`{"schemaVersion":1,"planId":"","sourceRecoveryPoint":"a","topic":"b","topicId":"c","offsets":{"0":1}}`))
	f.Add([]byte(`{"schemaVersion":1,"planId":"\ud800","sourceRecoveryPoint":"\udc00","topic":"","topicId":null,"offsets":{"+1":-1}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		plan, problem := inspect.ParsePlan(data)
		if problem != nil {
			if problem.Code == "" || problem.Message == "" {
				t.Fatalf("a problem without words: %+v", problem)
			}
			return
		}
		if id := inspect.PlanID(plan.SourceRecoveryPoint, plan.Topic, plan.TopicID, plan.Offsets); id != plan.PlanID {
			t.Fatalf("accepted with the id %s of other content than %s", plan.PlanID, id)
		}
		for p, offset := range plan.Offsets {
			if p < 0 || offset < 0 {
				t.Fatalf("accepted with partition %d at %d", p, offset)
			}
		}
	})
}

// wantProblem compares a problem with a case's reason word and with every value
// that Java's message names. More values may be named.
func wantProblem(t *testing.T, got *inspect.Problem, reason string, named map[string]json.RawMessage) {
	t.Helper()
	if got == nil {
		t.Fatalf("accepted, want %s", reason)
	}
	if got.Code != reason {
		t.Fatalf("%s (%s), want %s", got.Code, got.Message, reason)
	}
	for name, want := range named {
		if text, want := plain(t, got.Named[name]), plain(t, want); !reflect.DeepEqual(text, want) {
			t.Errorf("named %s: %v, want %v", name, text, want)
		}
	}
	if got.Message == "" {
		t.Error("the problem has no sentence")
	}
}

// plain is a value as JSON has it: order of names forgotten, numbers as text.
func plain(t *testing.T, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

func wantOffsets(t *testing.T, what string, got inspect.Offsets, want map[string]int64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s %v, want %v", what, got, want)
		return
	}
	for key, offset := range want {
		p, err := strconv.ParseInt(key, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		if at, ok := got[int32(p)]; !ok || at != offset {
			t.Errorf("%s of partition %s: %d, want %d", what, key, at, offset)
		}
	}
}

// readMarkers reads the elements of a case as a markers file holds them.
func readMarkers(t *testing.T, elements []byte) []inspect.Marker {
	t.Helper()
	_, markers, err := inspect.ReadMarkersFile(fmt.Appendf(nil, `{"markers":%s}`, elements))
	if err != nil {
		t.Fatal(err)
	}
	return markers
}
