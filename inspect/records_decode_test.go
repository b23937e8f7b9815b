package inspect_test

import (
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/testkit/topics"
)

// The last record of every key of real topics is decoded to what the release's
// own code read back from it.
func TestRecordsOfRealJobsAreDecoded(t *testing.T) {
	for _, topic := range topics.All(t) {
		at := map[inspect.RecordPosition]topics.Record{}
		for _, r := range topic.Records {
			at[inspect.RecordPosition{Partition: r.Partition, Offset: r.Offset}] = r
		}
		for _, want := range topic.Expected.Latest {
			r := at[inspect.RecordPosition{Partition: want.Partition, Offset: want.Offset}]
			got := inspect.DecodeRecord(inspect.LogRecord{Partition: r.Partition, Offset: r.Offset, Timestamp: time.UnixMilli(r.Timestamp), Key: r.Key, Value: r.Value, Producer: -1},
				inspect.RecordContext{Partitions: topic.Expected.Partitions})
			if got.Key == nil && got.KeyBase64 == "" || got.Key != nil && *got.Key != want.Key {
				t.Errorf("%s %d/%d: key %v, want %q", topic.Name, r.Partition, r.Offset, got.Key, want.Key)
			}
			if want.EventUUID != "" && (got.Generation != inspect.KeyGeneration1 || got.EventUUID != want.EventUUID || got.ActionUUID != want.ActionUUID ||
				*got.Sequence != want.Sequence || *got.BusinessKey.Text != want.KeyText) {
				t.Errorf("%s %d/%d: the key is of generation %d, %+v", topic.Name, r.Partition, r.Offset, got.Generation, got)
			}
			if want.Error != "" {
				if got.Refused == nil {
					t.Errorf("%s %d/%d: nothing is refused, and Java says %s", topic.Name, r.Partition, r.Offset, want.Error)
				}
				continue
			}
			if got.State == nil || got.State.Completed != want.Completed || got.State.EventType != want.EventType || len(got.State.Calls) != len(want.CallResults) {
				t.Errorf("%s %d/%d: %+v (%s), want %+v", topic.Name, r.Partition, r.Offset, got.State, got.Problem, want)
				continue
			}
			for n, call := range want.CallResults {
				is := got.State.Calls[n]
				status := "SUCCEEDED" // what Java takes an absent status for, as release 0.2 wrote it
				switch {
				case is.Status != nil:
					status = *is.Status
				case is.ExceptionBytes != nil:
					status = "FAILED"
				}
				if is.FunctionID != call.FunctionID || is.ArgsDigest != call.ArgsDigest || status != call.Status ||
					(is.ResultBytes == nil) != (call.ResultPayload == nil) || (is.ExceptionBytes == nil) != (call.ExceptionPayload == nil) {
					t.Errorf("%s %d/%d: call %d is %+v, want %+v", topic.Name, r.Partition, r.Offset, n, is, call)
				}
			}
		}
	}
}

func TestWhatARecordCanBeBesideAState(t *testing.T) {
	g3 := []byte("116_0_99914b93-2bd3-3a50-b983-c5e7c90ae93b_aa8af3eb-e148-31a7-8d1b-6d1383a03755_x6QqxwoERRpN28ZE9T1PgLeBOy97pE5RalN2jWxBvxk=")
	c := inspect.RecordContext{Partitions: 64, MaxParallelism: 128}
	tombstone := inspect.DecodeRecord(inspect.LogRecord{Partition: 28, Key: g3, Producer: -1}, c)
	if !tombstone.Removes || tombstone.State != nil || tombstone.ValueBytes != nil || tombstone.Elsewhere != nil || tombstone.Refused != nil || *tombstone.KeyGroup != 116 {
		t.Errorf("a tombstone is %+v", tombstone)
	}
	elsewhere := inspect.DecodeRecord(inspect.LogRecord{Partition: 3, Key: g3, Value: []byte("null"), Producer: 7}, c)
	if !elsewhere.Removes || elsewhere.Elsewhere == nil || *elsewhere.Elsewhere != 28 || *elsewhere.Producer != 7 || *elsewhere.ValueBytes != 4 {
		t.Errorf("the text null on another partition is %+v", elsewhere)
	}
	control := inspect.DecodeRecord(inspect.LogRecord{Key: []byte{0, 0, 0, 1}, Value: []byte{0, 0}, Control: inspect.TransactionCommitted, Producer: 7}, c)
	if control.Generation != inspect.KeyUnattributable || control.Refused != nil || control.State != nil || control.Problem != "" {
		t.Errorf("a control record is %+v", control)
	}
	foreign := inspect.DecodeRecord(inspect.LogRecord{Key: []byte("\xff"), Value: []byte("<xml/>"), Producer: -1, Headers: []inspect.RecordHeader{{Key: "h", Value: []byte{0xfe}}}}, c)
	if foreign.Key != nil || foreign.KeyBase64 != "/w==" || foreign.Problem == "" || foreign.Refused == nil || foreign.Headers[0].ValueBase64 != "/g==" || foreign.BusinessKey != nil {
		t.Errorf("a foreign record is %+v", foreign)
	}
}

func FuzzDecodeRecord(f *testing.F) {
	f.Add([]byte("alice_0_99914b93-2bd3-3a50-b983-c5e7c90ae93b_827ccb0e-ea8a-306c-8c34-a16891f84e7b"), []byte(`{"completed":false,"callResults":[{"functionId":"f","status":"PENDING"}]}`))
	f.Fuzz(func(t *testing.T, key, value []byte) {
		d := inspect.DecodeRecord(inspect.LogRecord{Key: key, Value: value, Producer: -1}, inspect.RecordContext{Partitions: 4, MaxParallelism: 128})
		if d.State == nil && d.Problem == "" && !d.Removes {
			t.Errorf("%q: %q is neither a state nor none", key, value)
		}
	})
}
