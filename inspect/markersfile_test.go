package inspect_test

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
)

func TestMarkersFiles(t *testing.T) {
	text := func(s string) *string { return &s }
	number := func(n int32) *int32 { return &n }
	versionedClass := "org.apache.flink.agents.runtime.actionstate.KafkaActionStateRecoveryMarker"
	tests := map[string]struct {
		file   string
		source string
		want   []inspect.Marker
	}{
		"no marker": {file: `{"markers":[]}`, want: []inspect.Marker{}},
		"a source and every kind": {
			file: `{"sourceRecoveryPoint":"file:/chk-1","markers":[null,
				{"kind":"versioned","topic":"t","topicId":"i","offsets":{"0":1,"1":9223372036854775807}},
				{"kind":"legacy","offsets":{"0":-1}},
				{"kind":"other"},
				{"kind":"other","class":"x.Y"},
				{"kind":"legacyTyped","entries":[{"key":{"string":"0"},"value":{"long":20}},{"key":{"int":1},"value":null},{"key":null,"value":{"type":"java.lang.Double"}}]}]}`,
			source: "file:/chk-1",
			want: []inspect.Marker{
				{Subtask: 0, Kind: inspect.MarkerNull},
				{Subtask: 1, Kind: inspect.MarkerVersioned, SchemaVersion: number(1), Class: versionedClass, Topic: text("t"), TopicID: text("i"), Offsets: inspect.Offsets{0: 1, 1: math.MaxInt64}},
				{Subtask: 2, Kind: inspect.MarkerLegacy, Class: "java.util.HashMap", Offsets: inspect.Offsets{0: -1}},
				{Subtask: 3, Kind: inspect.MarkerOther, Class: "java.lang.String"},
				{Subtask: 4, Kind: inspect.MarkerOther, Class: "x.Y"},
				{Subtask: 5, Kind: inspect.MarkerLegacyTyped, Class: "java.util.HashMap", Entries: []inspect.TypedEntry{
					{Key: inspect.TypedValue{String: text("0")}, Value: inspect.TypedValue{Long: new(int64)}},
					{Key: inspect.TypedValue{Int: number(1)}, Value: inspect.TypedValue{Type: "null"}},
					{Key: inspect.TypedValue{Type: "null"}, Value: inspect.TypedValue{Type: "java.lang.Double"}},
				}},
			},
		},
		"typed maps that are legacy maps": {
			file: `{"markers":[{"kind":"legacyTyped","entries":[{"key":{"int":0},"value":{"long":20}},{"key":{"int":-1},"value":{"long":-2}}]},{"kind":"legacyTyped","entries":[]}]}`,
			want: []inspect.Marker{
				{Subtask: 0, Kind: inspect.MarkerLegacy, Class: "java.util.HashMap", Offsets: inspect.Offsets{0: 20, -1: -2}},
				{Subtask: 1, Kind: inspect.MarkerLegacy, Class: "java.util.HashMap", Offsets: inspect.Offsets{}},
			},
		},
		"null fields, another schema, and fields without meaning": {
			file: `{"markers":[{"kind":"versioned","schemaVersion":2,"topic":null,"topicId":null,"offsets":null,"raw":true,"value":[{}]}],"note":1}`,
			want: []inspect.Marker{{Kind: inspect.MarkerVersioned, SchemaVersion: number(2), Class: versionedClass}},
		},
	}
	*tests["a source and every kind"].want[5].Entries[0].Value.Long = 20
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			source, markers, err := inspect.ReadMarkersFile([]byte(tt.file))
			if err != nil {
				t.Fatal(err)
			}
			if source != tt.source || !reflect.DeepEqual(markers, tt.want) {
				t.Errorf("source %q, markers\n%+v, want\n%+v", source, markers, tt.want)
			}
		})
	}
}

// What this program prints for a recovery point can be read again as markers.
func TestAPrintedRecoveryPointIsAMarkersFile(t *testing.T) {
	schema, topic, id := int32(1), "t", "i"
	key, value := "0", int64(20)
	point := inspect.RecoveryPoint{
		URI: "s3://bucket/chk-42", Kind: inspect.KindCheckpoint, Merged: inspect.Merged{Kind: inspect.MergedInvalid},
		Checks: []inspect.Check{{ID: "F1", Severity: inspect.SeverityError, Message: "missing state file"}, {ID: "M9", Severity: inspect.SeverityInfo}},
		Markers: []inspect.Marker{
			{OperatorID: "aa", Subtask: 1, Kind: inspect.MarkerVersioned, SchemaVersion: &schema, Class: "x.Marker", Topic: &topic, TopicID: &id, Offsets: inspect.Offsets{0: 7}},
			{OperatorID: "bb", Subtask: 0, Kind: inspect.MarkerLegacy, Class: "java.util.TreeMap", Offsets: inspect.Offsets{0: 7}},
			{OperatorID: "bb", Subtask: 1, Kind: inspect.MarkerNull},
			{OperatorID: "bb", Subtask: 2, Kind: inspect.MarkerLegacyTyped, Class: "java.util.HashMap", Entries: []inspect.TypedEntry{{Key: inspect.TypedValue{String: &key}, Value: inspect.TypedValue{Long: &value}}}},
			{OperatorID: "bb", Subtask: 3, Kind: inspect.MarkerOther, Class: "x.Y", Problem: &inspect.Problem{Code: "undecodable", Message: "3 bytes left", Named: inspect.Named{}}},
		},
	}
	file, err := json.Marshal(map[string]any{"schema": "recoverctl/v1", "kind": "RecoveryPoint", "data": point, "faults": []string{}})
	if err != nil {
		t.Fatal(err)
	}
	source, markers, err := inspect.ReadMarkersFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if source != point.URI || !reflect.DeepEqual(markers, point.Markers) {
		t.Errorf("source %q, markers\n%+v, want\n%+v", source, markers, point.Markers)
	}
}

// The empty list of a damaged point would pass for a job without markers.
func TestAPrintedPointThatCouldNotBeReadIsNoMarkersFile(t *testing.T) {
	file := `{"schema":"recoverctl/v1","kind":"RecoveryPoint","data":{"uri":"x","markers":[],"checks":[{"id":"M3","severity":"error","message":"truncated at byte 17"}]}}`
	_, _, err := inspect.ReadMarkersFile([]byte(file))
	if fault.KindOf(err) != fault.Corrupt {
		t.Fatalf("%v", err)
	}
	wantWords(t, err.Error(), "M3", "truncated at byte 17", "not known")
}

func TestMisshapenMarkersFilesSayWhere(t *testing.T) {
	tests := map[string]struct {
		file  string
		words []string
	}{
		"no JSON":                    {`{"markers":`, []string{"malformed-json", "byte 11"}},
		"a repeated name":            {`{"markers":[],"markers":[null]}`, []string{"duplicate-name", "byte 14"}},
		"text after the end":         {`{"markers":[]} x`, []string{"trailing-content"}},
		"not UTF-8":                  {"{\"markers\":[\"\xff\"]}", []string{"not-utf8"}},
		"a byte order mark":          {"\ufeff{\"markers\":[]}", []string{"malformed-json"}},
		"nothing":                    {"", []string{"no array markers"}},
		"a list":                     {`[null]`, []string{"no array markers"}},
		"no markers":                 {`{"marker":[]}`, []string{"no array markers"}},
		"markers that are no list":   {`{"markers":{}}`, []string{"no array markers"}},
		"another kind of output":     {`{"schema":"recoverctl/v1","kind":"JobOverview","data":{}}`, []string{"JobOverview"}},
		"a point without data":       {`{"schema":"recoverctl/v1","kind":"RecoveryPoint"}`, []string{"data"}},
		"a source that is no text":   {`{"sourceRecoveryPoint":7,"markers":[]}`, []string{"sourceRecoveryPoint", "a number", "byte 23"}},
		"an element of another type": {`{"markers":[null,"x"]}`, []string{"markers[1]", "a string", "byte 17"}},
		"an element without a kind":  {`{"markers":[{}]}`, []string{"markers[0]", "kind"}},
		"an unknown kind":            {`{"markers":[{"kind":"map"}]}`, []string{"markers[0]", `"map"`}},
		"an offset past int64":       {`{"markers":[null,{"kind":"legacy","offsets":{"3":9223372036854775808}}]}`, []string{"markers[1].offsets[3]", "9223372036854775808", "byte 49"}},
		"an offset with a fraction":  {`{"markers":[{"kind":"legacy","offsets":{"3":1.0}}]}`, []string{"markers[0].offsets[3]", "1.0"}},
		"an offset that is text":     {`{"markers":[{"kind":"legacy","offsets":{"3":"1"}}]}`, []string{"markers[0].offsets[3]", "a string"}},
		"a partition that is text":   {`{"markers":[{"kind":"legacy","offsets":{"x":1}}]}`, []string{"markers[0].offsets", `"x"`}},
		"a partition with a zero":    {`{"markers":[{"kind":"legacy","offsets":{"00":1}}]}`, []string{`"00"`}},
		"a map without offsets":      {`{"markers":[{"kind":"legacy"}]}`, []string{"markers[0]", "offsets"}},
		"a topic that is no text":    {`{"markers":[{"kind":"versioned","topic":[],"topicId":"i","offsets":{}}]}`, []string{"markers[0].topic", "an array"}},
		"a schema that is no int":    {`{"markers":[{"kind":"versioned","schemaVersion":1.0}]}`, []string{"markers[0].schemaVersion", "1.0"}},
		"entries that are missing":   {`{"markers":[{"kind":"legacyTyped"}]}`, []string{"markers[0]", "entries"}},
		"an entry without a value":   {`{"markers":[{"kind":"legacyTyped","entries":[{"key":null}]}]}`, []string{"markers[0].entries[0]"}},
		"an int past int32":          {`{"markers":[{"kind":"legacyTyped","entries":[{"key":{"int":2147483648},"value":null}]}]}`, []string{"markers[0].entries[0].key.int"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := inspect.ReadMarkersFile([]byte(tt.file))
			var f *fault.Fault
			if !errors.As(err, &f) || f.Kind != fault.Corrupt || f.Hint == "" {
				t.Fatalf("%#v, want a corrupt file with a hint", err)
			}
			wantWords(t, err.Error(), tt.words...)
		})
	}
}

func FuzzReadMarkersFile(f *testing.F) {
	f.Add([]byte(`{"markers":[null,{"kind":"versioned","topic":"t","topicId":"i","offsets":{"0":1}},{"kind":"legacyTyped","entries":[{"key":{"int":0},"value":null}]}]}`))
	f.Add([]byte(`{"schema":"recoverctl/v1","kind":"RecoveryPoint","data":{"uri":"x","markers":[{"kind":"other","problem":{"code":"a","message":"b"}}],"checks":[{"id":"","severity":"error"}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, markers, err := inspect.ReadMarkersFile(data)
		if err != nil {
			if fault.KindOf(err) != fault.Corrupt {
				t.Fatalf("%v", err)
			}
			return
		}
		v := inspect.ValidateRestore(inspect.RestoreQuestion{Markers: markers, MarkersOnly: true, Job: inspect.Job{Topic: "t", Partitions: 2}})
		holds(t, v)
		inspect.Merge(markers)
	})
}
