package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/internal/testkit/incident"
)

type ruleJSON struct{ Code, Title, Result, Message string }

type foretoldJSON struct {
	Verdict string
	Reasons []problemJSON
	Rules   []ruleJSON
	Later   *laterJSON
}

type laterJSON struct {
	PlanID, Verdict string
	Reasons         []problemJSON
	Rules           []ruleJSON
	Refused         problemJSON
}

// results are the rules without their sentences, which name log starts and the
// place of records.
func results(rules []ruleJSON) (out []string) {
	for _, r := range rules {
		out = append(out, r.Title+": "+r.Result)
	}
	return out
}

// What a restore is told to be after the plan is what it is then, rule by rule.
func TestWhatIsForetoldOfARestoreComesTrue(t *testing.T) {
	s := startScene(t)
	file, id := s.plan("chk-43")
	validate := func(point string, more ...string) (foretoldJSON, outcome) {
		t.Helper()
		got := s.run(append([]string{"validate", "restore", s.points + "/" + point, "-o", "json"}, more...)...)
		return decodeAnswer[foretoldJSON](t, "RestoreValidation", got).Data, got
	}
	foretold := map[string]foretoldJSON{}
	for point, want := range map[string]struct {
		code       int
		now, later string
	}{
		"chk-44": {0, "accepted", "accepted"},
		"chk-43": {0, "accepted", "accepted"},
		"chk-42": {1, "accepted", "rejected"},
		"chk-41": {1, "rejected", "rejected"},
	} {
		v, got := validate(point, "--plan", file)
		if v.Later == nil || v.Later.PlanID != id || v.Later.Refused != nil || got.code != want.code || v.Verdict != want.now || v.Later.Verdict != want.later {
			t.Errorf("%s: exit %d, %s, later %+v; want %+v", point, got.code, v.Verdict, v.Later, want)
			continue
		}
		foretold[point] = v
	}
	text := s.run("validate", "restore", s.points+"/chk-42", "--plan", file)
	reason := foretold["chk-42"].Later.Reasons[0]
	for _, says := range []string{
		"✔ accepted", "✖ after plan " + id[:8] + ": REJECTED: " + fmt.Sprint(reason["message"]), "marker at or past the boundary  FAILED",
	} {
		if !strings.Contains(text.out, says) {
			t.Errorf("it does not say %q:\n%s", says, text.out)
		}
	}
	if v, got := validate("chk-42"); v.Later != nil || got.code != 0 {
		t.Errorf("without a plan: exit %d, later %+v", got.code, v.Later)
	}

	if got := s.approved(file, id); got.code != 0 {
		t.Fatalf("apply: exit %d\n%s", got.code, got.errOut)
	}
	for point, before := range foretold {
		v, _ := validate(point)
		if v.Verdict != before.Later.Verdict || !slices.Equal(results(v.Rules), results(before.Later.Rules)) {
			t.Errorf("%s is %s\n%q\nand was foretold to be %s\n%q", point, v.Verdict, results(v.Rules), before.Later.Verdict, results(before.Later.Rules))
		}
		if len(v.Reasons) != len(before.Later.Reasons) {
			t.Errorf("%s: %d reasons, foretold were %d", point, len(v.Reasons), len(before.Later.Reasons))
			continue
		}
		for i, r := range v.Reasons {
			if !reflect.DeepEqual(r["boundary"], before.Later.Reasons[i]["boundary"]) || r.code() != before.Later.Reasons[i].code() {
				t.Errorf("%s: refused for %v, foretold was %v", point, r, before.Later.Reasons[i])
			}
		}
	}
}

// Nothing is foretold of a plan that would not be applied, and a file that is no
// plan is not looked at.
func TestNothingIsForetoldOfAPlanThatWouldBeRefused(t *testing.T) {
	s := startScene(t)
	file, id := s.plan("chk-43")
	if err := s.cluster.Set(t.Context(), incident.Topic, "retention.ms", "3600000"); err != nil {
		t.Fatal(err)
	}
	got := s.run("validate", "restore", s.points+"/chk-44", "--plan", file, "-o", "json")
	v := decodeAnswer[foretoldJSON](t, "RestoreValidation", got).Data
	if got.code != 1 || v.Verdict != "accepted" || v.Later == nil || v.Later.Verdict != "unknown" || v.Later.Refused.code() != "data-topic-config-unsafe" {
		t.Errorf("exit %d, %s, later %+v", got.code, v.Verdict, v.Later)
	}
	text := s.run("validate", "restore", s.points+"/chk-44", "--plan", file)
	if !strings.Contains(text.out, "? after plan "+id[:8]+": unknown, for it would not be applied as things are: ") || !strings.Contains(text.out, "retention.ms") {
		t.Errorf("%s", text.out)
	}
	broken := filepath.Join(t.TempDir(), "plan.json")
	if err := os.WriteFile(broken, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, code := range map[string]int{broken: 9, broken + "x": 6} {
		if got := s.run("validate", "restore", s.points+"/chk-44", "--plan", name); got.code != code {
			t.Errorf("%s: exit %d, want %d\n%s", name, got.code, code, got.errOut)
		}
	}
}
