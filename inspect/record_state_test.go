package inspect_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/testkit/cases"
	"github.com/recoverctl/recoverctl/internal/testkit/topics"
)

// Values that a job writes are read the fast way, and as the full walker reads
// them.
func TestValuesOfRealJobsAreReadFast(t *testing.T) {
	for _, topic := range topics.All(t) {
		for _, r := range topic.Records {
			if r.Value == nil || topic.Name == "agent-foreign" {
				continue
			}
			fast, ok := inspect.ReadStateFast(r.Value)
			full, failure := inspect.ReadStateFull(r.Value)
			if !ok || failure != "" || !reflect.DeepEqual(fast, full) {
				t.Fatalf("%s, partition %d, offset %d: fast %+v %t, full %+v %q", topic.Name, r.Partition, r.Offset, fast, ok, full, failure)
			}
		}
	}
}

// What the job's own decoder takes is readable here, and null is null.
func TestWhatTheJobDecodesIsReadable(t *testing.T) {
	for _, c := range cases.Values(t) {
		view, failure := inspect.ReadStateFull(c.Value)
		switch c.Verdict {
		case "accept":
			if failure != "" && !strings.Contains(failure, "UTF-16") && !strings.Contains(failure, "base64") || view.Null {
				t.Errorf("%s: %+v %s", c, view, failure)
			}
		case "null":
			if !view.Null && !strings.Contains(failure, "UTF-16") {
				t.Errorf("%s: %+v %s", c, view, failure)
			}
		}
	}
}

func TestOddValues(t *testing.T) {
	call := func(fields string) string { return `{"callResults":[{` + fields + `}]}` }
	for _, c := range []struct {
		name, value string
		want        string // a failure, or the view
	}{
		{"no JSON", "not json", "it is not JSON"},
		{"empty", "", "it is empty"},
		{"a text", `"completed"`, "it is not a JSON object"},
		{"a list", `[{"completed":true}]`, "it is not a JSON object"},
		{"null", " null ", "null"},
		{"cut", `{"completed":true`, "it is not JSON: it ends"},
		{"a second document", `{}{"completed":true}`, "open"},
		{"the last field wins", `{"completed":true,"completed":false}`, "open"},
		{"repeated calls", `{"callResults":[{"functionId":"a"}],"callResults":[]}`, "open"},
		{"a text for true", `{"completed":" TRUE "}`, "completed"},
		{"a number for true", `{"completed":7}`, "completed"},
		{"a number for false", `{"completed":-0}`, "open"},
		{"an odd text", `{"completed":"yes"}`, "completed is the text"},
		{"a fraction", `{"completed":1.0}`, "completed is a fraction"},
		{"an object", `{"completed":{}}`, "completed is not a boolean"},
		{"fields that nobody knows", `{"newField":{"a":[1,2,{"b":null}]},"completed":true}`, "completed"},
		{"calls that are no list", `{"callResults":{}}`, "callResults is not a list"},
		{"a call that is no object", `{"callResults":[1]}`, "a call result is not an object"},
		{"a null call", `{"callResults":[null,{"functionId":"f","status":"PENDING"}]}`, "open -,f PENDING"},
		{"an unknown status", call(`"functionId":"f","status":"TIMED_OUT"`), "open f TIMED_OUT"},
		{"no status", call(`"functionId":"f","resultPayload":"MQ=="`), "open f"},
		{"a null status", call(`"functionId":"f","status":null`), "open f"},
		{"a number for a name", call(`"functionId":12`), "open 12"},
		{"an object for a name", call(`"functionId":{}`), "functionId of a call is not a text"},
		{"a payload that is no base64", call(`"resultPayload":"%"`), "resultPayload of a call is not base64"},
		{"an escaped name", call(`"function\u0049d":"\u0066"`), "open f"},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", "a byte is not UTF-8"},
		{"a control character", "{\"a\":\"\x01\"}", "a control character"},
		{"an unknown escape", `{"a":"\q"}`, "an unknown escape"},
		{"deep", `{"a":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `,"completed":true}`, "completed"},
		{"too deep", `{"a":` + strings.Repeat("[", 1200), "it is nested deeper than 1000 levels"},
		{"a long number", `{"a":` + strings.Repeat("1", 2000) + `}`, "more than 1000 digits"},
		{"a superfluous zero", `{"a":01}`, "superfluous zero"},
		{"UTF-16", "{\x00}\x00", "UTF-16"},
		{"a mark before it", "\xef\xbb\xbf{\"completed\":true}", "completed"},
	} {
		view, failure := inspect.ReadStateFull([]byte(c.value))
		got := failure
		switch {
		case failure != "":
		case view.Null:
			got = "null"
		case view.Completed:
			got = "completed"
		default:
			got = "open"
			for i, call := range view.Calls {
				sep := " "
				if i > 0 {
					sep = ","
				}
				if got += sep; call.Absent {
					got += "-"
					continue
				}
				got += strings.TrimSpace(call.Function + " " + call.Status)
			}
		}
		if !strings.Contains(got, c.want) || failure == "" && got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// Whatever the fast way proves, the full walker says too; and what the full
// walker calls JSON is JSON to a third reader, where that is as lenient.
func FuzzFastStateAgainstFull(f *testing.F) {
	for _, c := range cases.Values(f) {
		f.Add(c.Value)
	}
	for _, topic := range topics.All(f) {
		for i, r := range topic.Records {
			if i%7 == 0 || topic.Name == "agent-foreign" {
				f.Add(r.Value)
			}
		}
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		full, failure := inspect.ReadStateFull(value)
		fast, ok := inspect.ReadStateFast(value)
		if ok && (failure != "" || !reflect.DeepEqual(fast, full)) {
			t.Fatalf("fast %+v, full %+v %q", fast, full, failure)
		}
		// The same behind a value that begins so, cut at each place that may matter.
		for _, before := range [][]byte{value, bytes.Replace(value, []byte("true"), []byte("false"), 1), slices.Concat(bytes.TrimRight(value, "}"), []byte(`,"completed":true}`))} {
			after, _, ok := inspect.ReadStateAfter(before, value)
			if ok && (failure != "" || !reflect.DeepEqual(after, full)) {
				t.Fatalf("after %q: %+v, full %+v %q", before, after, full, failure)
			}
		}
		if ok && strings.ToValidUTF8(string(value), "") == string(value) {
			var document json.RawMessage
			if err := json.NewDecoder(strings.NewReader(string(value))).Decode(&document); err != nil {
				t.Fatalf("proven to be an action state, and %v", err)
			}
		}
	})
}

// Values that follow each other are read as each alone, also where the event is
// not read again.
func TestValuesThatFollowEachOther(t *testing.T) {
	known := 0
	for _, topic := range topics.All(t) {
		var before []byte
		for _, r := range topic.Records {
			alone, failure := inspect.ReadStateFull(r.Value)
			after, was, ok := inspect.ReadStateAfter(before, r.Value)
			if ok && (failure != "" || !reflect.DeepEqual(alone, after)) {
				t.Fatalf("%s, partition %d, offset %d: %+v, alone %+v %s", topic.Name, r.Partition, r.Offset, after, alone, failure)
			}
			if was {
				known++
			}
			before = r.Value
		}
	}
	if known < 1000 {
		t.Errorf("only %d values began as the one before", known)
	}
}
