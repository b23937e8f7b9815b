package inspect_test

import (
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
)

const (
	oddEvent  = "e0aa021e-21dd-3db8-8d1d-2f5a5a5a5a5a"
	oddAction = "5f4dcc3b-5aa7-365d-a1d8-327deb882cf9"
	oddDigest = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
	oddFields = "_3_" + oddEvent + "_" + oddAction
	// called is a value with one call that is out.
	called = `{"callResults":[{"functionId":"pay","argsDigest":"","resultPayload":null,"exceptionPayload":null,"status":"PENDING"}],"completed":false}`
)

// A record that no job should have written hides no call of another one, and is
// counted where a restore would stop at it or nobody can say whose it is.
func TestOddRecordsAreCountedAndHideNothing(t *testing.T) {
	mebibyte := strings.Repeat("k", 1<<20)
	tests := map[string]struct {
		key, value string
		null       bool
		text       string // of the key of the action that is found; empty: none is
		state      inspect.CallState
		unreadable int64
		unknown    int64 // keys of no layout
		tombstones int64
	}{
		"no JSON":                 {key: "alice" + oddFields, value: "not json", unreadable: 1},
		"JSON of another shape":   {key: "alice" + oddFields, value: `[1,2]`, unreadable: 1},
		"the text null":           {key: "alice" + oddFields, value: "null"}, // it removes as a null does, and is not one
		"no value":                {key: "alice" + oddFields, null: true, tombstones: 1},
		"an unknown status":       {key: "alice" + oddFields, value: strings.Replace(called, "PENDING", "TIMED_OUT", 1), text: "alice", state: inspect.CallPending},
		"a status twice":          {key: "alice" + oddFields, value: strings.Replace(called, `"status":"PENDING"`, `"status":"PENDING","status":"SUCCEEDED"`, 1), text: "alice", state: inspect.CallSaved},
		"the calls twice":         {key: "alice" + oddFields, value: strings.Replace(called, `"callResults"`, `"callResults":[],"callResults"`, 1), text: "alice", state: inspect.CallPending},
		"invalid UTF-8":           {key: "alice" + oddFields, value: strings.Replace(called, "pay", "p\xffy", 1), unreadable: 1},
		"deep nesting":            {key: "alice" + oddFields, value: strings.Replace(called, `{"call`, `{"x":`+strings.Repeat("[", 900)+strings.Repeat("]", 900)+`,"call`, 1), text: "alice", state: inspect.CallPending},
		"nesting without end":     {key: "alice" + oddFields, value: `{"x":` + strings.Repeat("[", 1<<20), unreadable: 1},
		"a payload of no base64":  {key: "alice" + oddFields, value: strings.Replace(called, `"resultPayload":null`, `"resultPayload":"%"`, 1), unreadable: 1},
		"a key of a mebibyte":     {key: mebibyte + oddFields, value: called, text: mebibyte, state: inspect.CallPending},
		"a mebibyte of no layout": {key: mebibyte, value: called, unknown: 1},
		"a mebibyte of fields":    {key: strings.Repeat("_", 1<<20) + oddFields, value: called, text: strings.Repeat("_", 1<<20), state: inspect.CallPending},
		"a text with separators":  {key: "a_b__c" + oddFields, value: called, text: "a_b__c", state: inspect.CallPending},
		"bytes for a text":        {key: "\xff\x00" + oddFields, value: called, text: "\uFFFD\x00", state: inspect.CallPending},
		"a digest not canonical":  {key: "7" + oddFields + "_" + oddDigest[:42] + "V=", value: called, text: oddDigest[:42] + "V=", state: inspect.CallPending}, // a key text of generation 2
		"an empty key":            {value: called, unknown: 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			scan := inspect.NewCallScan(inspect.CallQuestion{}, []int32{0})
			p := scan.Partition(0)
			value := []byte(tt.value)
			if tt.null {
				value = nil
			}
			p.Visit(0, 1, []byte("before"+oddFields), []byte(called))
			p.Visit(1, 2, []byte(tt.key), value)
			p.Visit(2, 3, []byte("behind"+oddFields), []byte(called))
			got := scan.Finish(inspect.ScanExtent{From: inspect.Offsets{0: 0}, To: inspect.Offsets{0: 3}, Read: inspect.Offsets{0: 3}})
			if got.Scanned.Records != 3 || got.Unreadable != tt.unreadable || got.Unattributable != tt.unknown || got.Tombstones != tt.tombstones {
				t.Errorf("%d records, %d unreadable, %d of no layout, %d tombstones", got.Scanned.Records, got.Unreadable, got.Unattributable, got.Tombstones)
			}
			found := map[string]inspect.CallState{}
			for _, a := range got.Actions {
				if len(a.Calls) > 0 {
					found[*a.Key.Text] = a.Calls[0].State
				}
			}
			want := map[string]inspect.CallState{"before": inspect.CallPending, "behind": inspect.CallPending}
			if tt.text != "" {
				want[tt.text] = tt.state
			}
			for text, state := range want {
				if found[text] != state {
					t.Errorf("the call of %.40q is %q, want %q", text, found[text], state)
				}
			}
			if len(found) != len(want) {
				t.Errorf("%d actions with calls, want %d", len(found), len(want))
			}
			for _, k := range got.UnknownKeys {
				if k.Key != nil && len(*k.Key) > 5000 {
					t.Errorf("a key of no layout is told in %d bytes", len(*k.Key))
				}
			}
		})
	}
}
