package actions_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/testkit/cases"
)

func TestPlansAreWrittenAsJavaWritesThem(t *testing.T) {
	accepted := 0
	for _, c := range cases.Goldens(t) {
		t.Run(c.Name, func(t *testing.T) {
			plan, problem := actions.CleanupFrom(markersOf(t, c.Markers), c.Source)
			if !c.Accepted {
				wantRefusal(t, problem, c.Reason, c.Named)
				return
			}
			accepted++
			if problem != nil {
				t.Fatalf("refused: %+v", problem)
			}
			if plan.PlanID != c.PlanID {
				t.Errorf("plan id %s, want %s", plan.PlanID, c.PlanID)
			}
			if got, want := actions.EncodePlan(plan), c.Content(t); !bytes.Equal(got, want) {
				t.Errorf("plan file\n%q\nwant\n%q", got, want)
			}
			if got := actions.EncodeRecord(plan, inspect.StatusCommitted); string(got) != c.CommittedValue {
				t.Errorf("control record\n%s\nwant\n%s", got, c.CommittedValue)
			}
		})
	}
	if accepted != 16 {
		t.Errorf("%d plans were compared with Java's, want 16", accepted)
	}
}

// Files that Java accepts, in every layout, read and written again.
func TestAnAcceptedPlanFileIsWrittenInItsOnlyForm(t *testing.T) {
	compared := 0
	for _, c := range cases.Plans(t) {
		if !c.Accepted {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			plan, problem := inspect.ParsePlan(c.Content(t))
			if problem != nil {
				t.Fatalf("refused: %+v", problem)
			}
			written := actions.EncodePlan(plan)
			again, problem := inspect.ParsePlan(written)
			if problem != nil || !reflect.DeepEqual(again, plan) {
				t.Errorf("written and read again it is %+v (%+v), and was %+v", again, problem, plan)
			}
			if c.CanonicalSHA256 == "" {
				return
			}
			compared++
			sum := sha256.Sum256(written)
			if got := hex.EncodeToString(sum[:]); got != c.CanonicalSHA256 {
				t.Errorf("SHA-256 of the plan file %s, and of Java's %s", got, c.CanonicalSHA256)
			}
			if c.Canonical && !bytes.Equal(written, c.Content(t)) {
				t.Errorf("plan file\n%q", written)
			}
		})
	}
	if compared != 27 {
		t.Errorf("%d plans were compared with Java's, want 27", compared)
	}
}

func TestControlRecordsAreReadBack(t *testing.T) {
	plan := inspect.CleanupPlan{SourceRecoveryPoint: "a\xed\xa0\x80b\x01\"", Topic: "t", TopicID: "id", Offsets: inspect.Offsets{0: 1, 10: 2, 2: 3}}
	plan.PlanID = inspect.PlanID(plan.SourceRecoveryPoint, plan.Topic, plan.TopicID, plan.Offsets)
	for _, status := range []inspect.OperationStatus{inspect.StatusCommitted, inspect.StatusApplied} {
		value := actions.EncodeRecord(plan, status)
		ops, problem := inspect.ReadControl([]inspect.ControlRecord{{Key: []byte(plan.PlanID), Value: value}})
		if problem != nil || len(ops) != 1 || ops[0].Status != status || ops[0].SourceRecoveryPoint != plan.SourceRecoveryPoint {
			t.Errorf("record %s is read as %+v, problem %+v", value, ops, problem)
		}
	}
}

func TestAPlanFileIsNeverOverwritten(t *testing.T) {
	plan, problem := actions.CleanupFrom(markersOf(t, []byte(
		`[{"kind":"versioned","topic":"t","topicId":"6wBnCDrXRZCpbWKBbvCNbQ","offsets":{"0":1}}]`)), "file:/chk-1")
	if problem != nil {
		t.Fatal(problem)
	}
	path := filepath.Join(t.TempDir(), "plan.json")
	if err := actions.WritePlan(path, plan); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
	other := plan
	other.SourceRecoveryPoint = "file:/chk-2"
	other.PlanID = inspect.PlanID(other.SourceRecoveryPoint, other.Topic, other.TopicID, other.Offsets)
	err = actions.WritePlan(path, other)
	if !errors.Is(err, fs.ErrExist) || fault.KindOf(err) != fault.Denied {
		t.Errorf("error %v (%s)", err, fault.KindOf(err))
	}
	if data, err := os.ReadFile(path); err != nil || !bytes.Equal(data, actions.EncodePlan(plan)) {
		t.Errorf("the file holds %q, error %v", data, err)
	}
	plan.PlanID = "x"
	if err := actions.WritePlan(filepath.Join(t.TempDir(), "plan.json"), plan); fault.KindOf(err) != fault.Bug {
		t.Errorf("a plan with a wrong id is written: %v", err)
	}
}

func markersOf(t *testing.T, elements []byte) []inspect.Marker {
	t.Helper()
	_, markers, err := inspect.ReadMarkersFile(fmt.Appendf(nil, `{"markers":%s}`, elements))
	if err != nil {
		t.Fatal(err)
	}
	return markers
}

// wantRefusal compares a problem with a case's reason word and with every value
// that Java's message names. More values may be named.
func wantRefusal(t *testing.T, got *inspect.Problem, reason string, named map[string]json.RawMessage) {
	t.Helper()
	if got == nil {
		t.Fatalf("accepted, want %s", reason)
	}
	if got.Code != reason {
		t.Fatalf("%s (%s), want %s", got.Code, got.Message, reason)
	}
	for name, want := range named {
		if a, b := plain(t, got.Named[name]), plain(t, want); !reflect.DeepEqual(a, b) {
			t.Errorf("named %s: %v, want %v", name, a, b)
		}
	}
	if got.Message == "" {
		t.Error("the problem has no sentence")
	}
}

// plain is a value as JSON knows it.
func plain(t *testing.T, v any) any {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
