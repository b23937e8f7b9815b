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
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
)

// compactOnly is the data topic as the released job makes it (reference: seen on
// real runs, cleanup.policy=compact only), on a broker with stock defaults.
func compactOnly() inspect.DataTopic {
	return inspect.DataTopic{
		Name: names.Data, ClusterID: "4L6g3nShT-eMCtK--X86sw", Exists: true, TopicID: names.DataID,
		Partitions: []inspect.Partition{{ID: 0, Leader: 1, Log: inspect.LogRange{End: 20}}},
		Settings: []inspect.Setting{
			{Name: "cleanup.policy", Value: "compact", Source: "topic"},
			{Name: "retention.bytes", Value: "-1", Source: "default"},
			{Name: "retention.ms", Value: "604800000", Source: "default"},
		},
	}
}

func settingsPlan(t *testing.T) actions.Document {
	t.Helper()
	d, p := actions.SettingsFrom(compactOnly())
	if p != nil {
		t.Fatal(p.Message)
	}
	return d
}

// plainJSON is JSON as encoding/json writes it: names in order, no white space.
func plainJSON(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// asMap is a document as another program would build it, with its id computed
// over everything else.
func asMap(change func(doc map[string]any)) map[string]any {
	doc := map[string]any{
		"schema": "recoverctl.plan/v1", "kind": "topic-settings", "parameters": map[string]any{},
		"target": map[string]any{"backend": "kafka", "cluster": "4L6g3nShT-eMCtK--X86sw", "object": "topic", "name": names.Data, "id": names.DataID},
		"facts": []any{
			map[string]any{"name": "cleanup.policy", "before": "compact", "source": "topic", "after": "compact,delete"},
			map[string]any{"name": "retention.ms", "before": "604800000", "source": "default", "after": "-1"},
			map[string]any{"name": "retention.bytes", "before": "-1", "source": "default", "after": "-1"},
		},
	}
	change(doc)
	sum := sha256.Sum256(plainJSON(doc))
	if _, given := doc["planId"]; !given {
		doc["planId"] = hex.EncodeToString(sum[:])
	}
	return doc
}

func unchanged(map[string]any) {}

func TestAPlanIsItsCanonicalJSON(t *testing.T) {
	d := settingsPlan(t)
	want := string(plainJSON(asMap(unchanged))) + "\n"
	if got := string(d.Encode()); got != want {
		t.Errorf("the file is\n%s\nwant\n%s", got, want)
	}
	again, p := actions.ParseDocument(d.Encode())
	if p != nil || !reflect.DeepEqual(again.Facts, d.Facts) || again.PlanID != d.PlanID || again.Target != d.Target {
		t.Errorf("read back: %+v, %v", again, p)
	}
}

// Whoever makes the plan, and whenever: the same facts are the same plan.
func TestTheSameFactsAreTheSamePlan(t *testing.T) {
	first, second := settingsPlan(t), settingsPlan(t)
	if first.PlanID != second.PlanID || !bytes.Equal(first.Encode(), second.Encode()) {
		t.Error("two plans from the same facts differ")
	}
	pretty, err := json.MarshalIndent(asMap(unchanged), " ", "\t")
	if err != nil {
		t.Fatal(err)
	}
	third, p := actions.ParseDocument(pretty)
	if p != nil || third.PlanID != first.PlanID || !bytes.Equal(third.Encode(), first.Encode()) {
		t.Errorf("the same document with white space: %v", p)
	}
	other := compactOnly()
	other.Settings[2].Value = "86400000"
	if d, _ := actions.SettingsFrom(other); d.PlanID == first.PlanID {
		t.Error("another value before makes the same plan")
	}
}

func TestWhatNoPlanIs(t *testing.T) {
	good := string(plainJSON(asMap(unchanged)))
	set := func(change func(doc map[string]any)) string { return string(plainJSON(asMap(change))) }
	fact := func(change func(fact map[string]any)) string {
		return set(func(doc map[string]any) { change(doc["facts"].([]any)[1].(map[string]any)) })
	}
	target := func(name string, value any) string {
		return set(func(doc map[string]any) { doc["target"].(map[string]any)[name] = value })
	}
	tests := map[string]struct {
		file    string
		code    string
		message string
		at      string // the text that the position points to; empty: no position is asked for
	}{
		"nothing":                      {"", "plan-not-an-object", "", ""},
		"not JSON":                     {good[:40], "malformed-json", "at byte 40", ""},
		"not UTF-8":                    {strings.Replace(good, "4L6g", "\xff", 1), "not-utf8", "at byte", ""},
		"a byte order mark":            {"\ufeff" + good, "malformed-json", "at byte 0", ""},
		"more behind it":               {good + "{}", "trailing-content", "at byte", ""},
		"a name twice":                 {strings.Replace(good, `{"facts"`, `{"kind":"topic-settings","facts"`, 1), "duplicate-name", "at byte", ""},
		"a list":                       {"[" + good + "]", "plan-not-an-object", "an array", "[{"},
		"a later schema":               {set(func(d map[string]any) { d["schema"] = "recoverctl.plan/v2"; d["more"] = "x" }), "plan-schema-unsupported", `"recoverctl.plan/v2", and only recoverctl.plan/v1 is known`, `"recoverctl.plan/v2"`},
		"a schema that is a number":    {set(func(d map[string]any) { d["schema"] = 1 }), "plan-field-not-a-string", "schema is a number", `1,"target"`},
		"a field more":                 {set(func(d map[string]any) { d["made"] = "2026-03-01" }), "plan-field-set", `has a field "made"`, `"2026-03-01"`},
		"a field less":                 {set(func(d map[string]any) { delete(d, "parameters") }), "plan-field-set", "has no field parameters", `{"facts"`},
		"no kind":                      {set(func(d map[string]any) { d["kind"] = " " }), "blank-text", "kind is blank", `" "`},
		"a kind of a later release":    {set(func(d map[string]any) { d["kind"] = "flink-rollback" }), "plan-kind-unknown", `"flink-rollback", and this release applies arkflow-checkpoint, arkflow-rollback, arkflow-savepoint, arkflow-stream-restart, arkflow-upgrade-cancel, arkflow-upgrade-pause, arkflow-upgrade-resume, cancel, producer-delete, producer-register, rollback, savepoint, stop, topic-settings`, `"flink-rollback"`},
		"a null kind":                  {set(func(d map[string]any) { d["kind"] = nil }), "plan-field-null", "kind is null", `null,"parameters"`},
		"no facts":                     {set(func(d map[string]any) { d["facts"] = []any{} }), "facts-empty", "changes nothing", "[]"},
		"facts that are no list":       {set(func(d map[string]any) { d["facts"] = map[string]any{} }), "facts-not-a-list", "an object", `{},"kind"`},
		"a fact that is no object":     {set(func(d map[string]any) { d["facts"] = []any{"x"} }), "plan-field-not-an-object", "fact 0 is a string", `"x"]`},
		"a fact twice":                 {fact(func(f map[string]any) { f["name"] = "cleanup.policy" }), "fact-repeated", "fact 1 has the name", `{"after":"-1"`},
		"a fact with a field more":     {fact(func(f map[string]any) { f["at"] = "now" }), "plan-field-set", `fact 1 has a field "at"`, `"now"`},
		"a fact of nothing":            {fact(func(f map[string]any) { f["before"], f["after"] = nil, nil }), "fact-changes-nothing", "nothing before and after", `{"after":null`},
		"a value that is a number":     {fact(func(f map[string]any) { f["after"] = -1 }), "plan-field-not-a-string", "fact 1's after is a number", `-1,"before"`},
		"a value with a line end":      {fact(func(f map[string]any) { f["before"] = "1\n2" }), "plan-text-not-plain", "holds a control character", `"1\n2"`},
		"a value with half a pair":     {strings.Replace(good, `"before":"604800000"`, `"before":"\ud800"`, 1), "plan-text-not-plain", "holds a lone surrogate", `"\ud800"`},
		"another setting":              {fact(func(f map[string]any) { f["name"] = "min.insync.replicas" }), "setting-not-allowed", `sets "min.insync.replicas"`, ""},
		"another value":                {fact(func(f map[string]any) { f["after"] = "0" }), "setting-not-allowed", `makes "0" of retention.ms, and a cleanup needs -1`, ""},
		"a setting taken away":         {fact(func(f map[string]any) { f["after"] = nil }), "setting-not-allowed", "makes nothing of retention.ms", ""},
		"a setting that was nothing":   {fact(func(f map[string]any) { f["before"] = nil }), "fact-without-before", "what retention.ms was", ""},
		"a setting from nowhere":       {fact(func(f map[string]any) { f["source"] = "" }), "fact-source-unknown", `from ""`, ""},
		"a policy taken away":          {set(func(d map[string]any) { d["facts"].([]any)[0].(map[string]any)["before"] = "compact,other" }), "cleanup-policy-unknown", "would take a policy away", ""},
		"another backend":              {target("backend", "fluss"), "plan-target-unknown", `of "fluss"`, ""},
		"another object":               {target("object", "broker"), "plan-target-unknown", `for "broker"`, ""},
		"the zero topic id":            {target("id", inspect.ZeroTopicID), "zero-topic-id", "identifies no topic", ""},
		"a blank cluster":              {target("cluster", ""), "blank-text", "cluster is blank", `"","id"`},
		"a target that is a text":      {set(func(d map[string]any) { d["target"] = "action-state" }), "plan-field-not-an-object", "target is a string", `"action-state"}`},
		"a parameter":                  {set(func(d map[string]any) { d["parameters"] = map[string]any{"force": "true"} }), "parameter-unknown", "has no parameters", ""},
		"a parameter that is no text":  {set(func(d map[string]any) { d["parameters"] = map[string]any{"force": true} }), "plan-field-not-a-string", "force is a boolean", "true}"},
		"a parameter of several words": {set(func(d map[string]any) { d["parameters"] = map[string]any{"a b": "x"} }), "parameter-name", "one word", `"x"}`},
		"parameters that are a list":   {set(func(d map[string]any) { d["parameters"] = []any{} }), "parameters-not-an-object", "an array", `[],"planId"`},
		"another id":                   {set(func(d map[string]any) { d["planId"] = strings.Repeat("0", 64) }), "plan-id-mismatch", "it was changed after it was made", `"0000`},
		"the id in upper case":         {strings.Replace(good, settingsPlan(t).PlanID, strings.ToUpper(settingsPlan(t).PlanID), 1), "plan-id-mismatch", "it was changed after it was made", `"` + strings.ToUpper(settingsPlan(t).PlanID)},
		"one digit of it":              {strings.Replace(good, "604800000", "604800001", 1), "plan-id-mismatch", "it was changed after it was made", `"` + settingsPlan(t).PlanID},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, p := actions.ParseDocument([]byte(tt.file))
			if p == nil {
				t.Fatal("it is taken for a plan")
			}
			if p.Code != tt.code || !strings.Contains(p.Message, tt.message) {
				t.Errorf("refused with %s (%s), want %s (%s)", p.Code, p.Message, tt.code, tt.message)
			}
			if tt.at == "" {
				return
			}
			at, ok := p.Named["position"].(int64)
			if !ok || at > int64(len(tt.file)) || !strings.HasPrefix(tt.file[at:], tt.at) || !strings.HasSuffix(p.Message, fmt.Sprintf("at byte %d", at)) {
				t.Errorf("position %v of %q, want where %q begins: %s", p.Named["position"], tt.file, tt.at, p.Message)
			}
		})
	}
}

func TestAPlanFileHasABound(t *testing.T) {
	file := bytes.Repeat([]byte{' '}, actions.MaxPlanFile+1)
	if _, p := actions.ParseDocument(file); p == nil || p.Code != "plan-too-large" {
		t.Errorf("%v", p)
	}
}

func TestAPlanFileIsReadAsWhatItIs(t *testing.T) {
	cleanup, _ := incident()
	for name, tt := range map[string]struct {
		file string
		kind string // empty: refused
		code string
	}{
		"a cleanup":                    {string(actions.EncodePlan(cleanup)), inspect.KindCleanup, ""},
		"settings":                     {string(settingsPlan(t).Encode()), actions.KindTopicSettings, ""},
		"a later schema":               {`{"schema":"recoverctl.plan/v9"}`, "", "plan-schema-unsupported"},
		"neither":                      {`{"kind":"topic-settings"}`, "", "plan-field-set"},
		"broken":                       {`{"schema":`, "", "malformed-json"},
		"a text that mentions a field": {`"\"schema\""`, "", "plan-not-an-object"},
	} {
		t.Run(name, func(t *testing.T) {
			plan, p := actions.ParsePlanFile([]byte(tt.file))
			switch {
			case tt.kind == "" && (p == nil || p.Code != tt.code):
				t.Errorf("problem %v, want %s", p, tt.code)
			case tt.kind != "" && (p != nil || plan.Subject().Kind != tt.kind):
				t.Errorf("%+v, %v", plan, p)
			}
		})
	}
}

func TestAPlanIsWrittenOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.plan")
	d := settingsPlan(t)
	if err := actions.WriteDocument(path, d); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := actions.WriteDocument(path, d); fault.KindOf(err) != fault.Denied || !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second time: %v", err)
	}
	d.Facts[1].After = d.Facts[0].After
	if err := actions.WriteDocument(filepath.Join(t.TempDir(), "x"), d); fault.KindOf(err) != fault.Bug {
		t.Errorf("a plan that no reader accepts: %v", err)
	}
}

func FuzzParseDocument(f *testing.F) {
	f.Add(rollbackPlan(f).Encode())
	for _, seed := range []map[string]any{
		asMap(unchanged),
		asMap(func(d map[string]any) { d["facts"] = d["facts"].([]any)[:1] }),
		asMap(func(d map[string]any) { d["parameters"] = map[string]any{"a": "b"} }),
		asMap(func(d map[string]any) { d["target"].(map[string]any)["name"] = "ein \"Thema\" \\ \U0001F600" }),
	} {
		f.Add(plainJSON(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, p := actions.ParseDocument(data)
		if p != nil {
			if p.Code == "" || p.Message == "" {
				t.Errorf("refused without a word: %+v", p)
			}
			return
		}
		again, p := actions.ParseDocument(d.Encode())
		if p != nil || again.PlanID != d.PlanID || !bytes.Equal(again.Encode(), d.Encode()) {
			t.Errorf("what was read is written as %s, which is %v", d.Encode(), p)
		}
		var doc map[string]any
		if err := json.Unmarshal(data, &doc); err != nil {
			t.Fatalf("encoding/json does not read it: %v", err)
		}
		delete(doc, "planId")
		if bytes.Contains(d.Encode(), []byte(`\\u202`)) {
			return // the replacement below would take a backslash and letters for an escape
		}
		// encoding/json escapes these two, and RFC 8785 does not.
		canonical := strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(string(plainJSON(doc)))
		if sum := sha256.Sum256([]byte(canonical)); hex.EncodeToString(sum[:]) != d.PlanID {
			t.Errorf("the id of %s is not the hash of %s", data, canonical)
		}
	})
}
