package inspect_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/testkit/cases"
)

// The job's own decoder said what it makes of each value. What depends on
// classes or is too odd to be written by any version may stay unjudged; all else
// has to be the same.
func TestValuesAreJudgedAsByJava(t *testing.T) {
	unjudged := map[inspect.Unjudged]int{}
	for _, c := range cases.Values(t) {
		got := inspect.CheckReplayValue(c.Value)
		verdict := "accept"
		switch {
		case got.Problem != nil:
			verdict = "reject"
			if got.Problem.Code != "record-value-undecodable" || len(got.Problem.Message) > 400 {
				t.Errorf("%q: %+v", c, got.Problem)
			}
		case got.Removes:
			verdict = "null"
		}
		if got.Unjudged != 0 {
			unjudged[got.Unjudged]++
			if verdict != "accept" {
				t.Errorf("%q is %s and unjudged (%d) at once", c, verdict, got.Unjudged)
			}
			continue
		}
		if verdict != c.Verdict {
			t.Errorf("%q: %s, want %s (%+v)", c, verdict, c.Verdict, got.Problem)
		}
	}
	// Neither more nor fewer are left to the job.
	want := map[inspect.Unjudged]int{
		inspect.UnknownClass: 11, inspect.MemoryValue: 17, inspect.OddForm: 17,
		inspect.MemoryValue | inspect.OddForm: 11, inspect.OddEncoding: 22,
	}
	if !maps.Equal(unjudged, want) {
		t.Errorf("unjudged %v, want %v", unjudged, want)
	}
}

func TestRefusedValuesSayWhy(t *testing.T) {
	tests := []struct {
		name, value string
		words       []string
	}{
		{"nothing", "", []string{"empty"}},
		{"text", "junk", []string{"not JSON", "byte 0"}},
		{"cut off", `{"completed":tr`, []string{"not JSON"}},
		{"an unknown field", `{"note":1}`, []string{"unknown field", `"note"`, "the action state"}},
		{"an unknown field of a call", `{"callResults":[{"cost":1}]}`, []string{`"cost"`, "a call result"}},
		{"an unknown status", `{"callResults":[{"status":"LOST"}]}`, []string{"unknown status", `"LOST"`}},
		{"a plain memory value", `{"sensoryMemoryUpdates":[{"path":"a","value":1}]}`, []string{"memory value", "neither null nor an envelope"}},
		{"another envelope", `{"sensoryMemoryUpdates":[{"path":"a","value":{"serde":"kryo","version":2,"payload":"AA=="}}]}`, []string{"version 2"}},
		{"an event without a class", `{"taskEvent":{"type":"a"}}`, []string{`"@class"`}},
		{"an escape sequence in a name", "{\"\u009b31m\":1}", []string{`\u009b31m`}},
		{"a long name", `{"` + strings.Repeat("n", 5000) + `":1}`, []string{"n…"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := inspect.CheckReplayValue([]byte(tt.value))
			if got.Problem == nil {
				t.Fatal("not refused")
			}
			wantWords(t, got.Problem.Message, tt.words...)
		})
	}
}

func TestNullsRemove(t *testing.T) {
	for _, value := range [][]byte{nil, []byte("null"), []byte(" null ")} {
		if got := inspect.CheckReplayValue(value); !got.Removes || got.Problem != nil {
			t.Errorf("%q: %+v", value, got)
		}
	}
	if got := inspect.CheckReplayValue([]byte{}); got.Removes || got.Problem == nil {
		t.Errorf("an empty value is no null: %+v", got)
	}
}

func TestWhatOnlyTheJobCanJudge(t *testing.T) {
	tests := []struct {
		name, value string
		want        inspect.Unjudged
		class       string
	}{
		{"an event of the job's own class", `{"taskEvent":{"@class":"com.example.Order","amount":{"cents":5}}}`, inspect.UnknownClass, "com.example.Order"},
		{"the first of two classes", `{"outputEvents":[{"x":1,"@class":"a.A"},{"@class":"b.B"}]}`, inspect.UnknownClass, "a.A"},
		{"a memory value", `{"sensoryMemoryUpdates":[{"path":"a","value":{"serde":"kryo","version":1,"payload":"AwF3MS2w"}}]}`, inspect.MemoryValue, ""},
		{"another encoding", "{\x00}\x00", inspect.OddEncoding, ""},
		{"an event as a list", `{"taskEvent":["org.apache.flink.agents.api.Event",{"type":"a"}]}`, inspect.OddForm, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := inspect.CheckReplayValue([]byte(tt.value))
			if got.Problem != nil || got.Unjudged != tt.want || string(got.Class) != tt.class {
				t.Errorf("%+v, class %q, %v", got, got.Class, got.Problem)
			}
		})
	}
}

// A value is judged in time and memory that its length bounds, and what follows
// the document changes nothing.
func FuzzCheckReplayValue(f *testing.F) {
	for _, c := range cases.Values(f) {
		if len(c.Value) < 4000 {
			f.Add(c.Value)
		}
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		got := inspect.CheckReplayValue(value)
		if got.Problem != nil && (got.Removes || got.Unjudged != 0) {
			t.Fatalf("%q is refused and more: %+v", value, got)
		}
		if got.Problem != nil || got.Unjudged == inspect.OddEncoding {
			return
		}
		more := inspect.CheckReplayValue(append(slices.Clone(value), " {\"x\""...))
		if more.Problem != nil || more.Removes != got.Removes || more.Unjudged != got.Unjudged {
			t.Fatalf("%q: %+v; with more behind it %+v", value, got, more)
		}
	})
}

func BenchmarkCheckReplayValue(b *testing.B) {
	values := map[string]string{
		"open":      `{"taskEvent":{"@class":"org.apache.flink.agents.api.InputEvent","id":"636225aa-0672-4e99-991c-208a5a95fa09","attributes":{"input":{"text":"bob","num":0,"id":"w3-1","script":"plain"}},"type":"_input_event"},"sensoryMemoryUpdates":[],"shortTermMemoryUpdates":[],"outputEvents":[],"callResults":[{"functionId":"lookup","argsDigest":"","resultPayload":"ImN1c3RvbWVyIG9mIHczLTEi","exceptionPayload":null,"status":"SUCCEEDED"}],"completed":false}`,
		"completed": `{"taskEvent":null,"sensoryMemoryUpdates":[],"shortTermMemoryUpdates":[],"outputEvents":[],"callResults":[],"completed":true}`,
	}
	for name, text := range values {
		b.Run(name, func(b *testing.B) {
			value := []byte(text)
			b.SetBytes(int64(len(value)))
			b.ReportAllocs()
			for b.Loop() {
				if got := inspect.CheckReplayValue(value); got.Problem != nil {
					b.Fatal(got.Problem)
				}
			}
		})
	}
}
