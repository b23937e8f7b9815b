// Package topics holds whole action-state topics that jobs of a real release
// wrote, record by record, with the states that the release's own code read back
// from them. No expected value in testdata may be regenerated from this project's
// own output.
//
// The package knows the files and nothing of the rules that they test.
package topics

import (
	"bufio"
	"bytes"
	"embed"
	"encoding/base64"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"testing"
)

//go:embed testdata
var files embed.FS

// Topic is one topic: what was on it, and what the job's own code reads there.
type Topic struct {
	Name     string
	Records  []Record // by partition, and in it by offset
	Expected Expected
}

// Record is one record. A nil Key or Value is a null one.
type Record struct {
	Partition  int32
	Offset     int64
	Timestamp  int64 // ms
	Key, Value []byte
}

// Expected is what was read back.
type Expected struct {
	Partitions     int     `json:"partitions"`
	Offsets        []Range `json:"offsets"`
	Records        int64   `json:"records"`
	Tombstones     int64   `json:"tombstones"`
	LatestStates   int     `json:"latestStates"`
	Completed      int     `json:"completed"`
	Unreadable     int     `json:"unreadable"`
	PendingActions int     `json:"pendingActions"`
	PendingCalls   []struct {
		FunctionID string `json:"functionId"`
		Key        string `json:"key"` // of the record
	} `json:"pendingCalls"`
	Latest []State `json:"latest"`
}

// Range is the log range of a partition.
type Range struct {
	Partition int32 `json:"partition"`
	Start     int64 `json:"start"`
	End       int64 `json:"end"`
}

// State is the last record of a key. EventUUID is empty where the key has not the
// release's form, and Error is set where its reader refuses the value.
type State struct {
	Key         string `json:"key"`
	KeyText     string `json:"keyText"`
	Sequence    int64  `json:"seq"`
	EventUUID   string `json:"eventUuid"`
	ActionUUID  string `json:"actionUuid"`
	Partition   int32  `json:"partition"`
	Offset      int64  `json:"offset"`
	Completed   bool   `json:"completed"`
	EventType   string `json:"eventType"`
	Error       string `json:"error"`
	CallResults []struct {
		FunctionID       string  `json:"functionId"`
		ArgsDigest       string  `json:"argsDigest"`
		Status           string  `json:"status"`
		ResultPayload    *string `json:"resultPayload"`
		ExceptionPayload *string `json:"exceptionPayload"`
	} `json:"callResults"`
}

// All reads every topic, by name.
func All(tb testing.TB) []Topic {
	tb.Helper()
	entries, err := files.ReadDir("testdata")
	if err != nil {
		tb.Fatal(err)
	}
	var out []Topic
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".jsonl"); ok {
			out = append(out, Load(tb, name))
		}
	}
	return out
}

// Load reads one topic.
func Load(tb testing.TB, name string) Topic {
	tb.Helper()
	t := Topic{Name: name}
	decode(tb, read(tb, name+".expected.json"), &t.Expected)
	lines := bufio.NewScanner(bytes.NewReader(read(tb, name+".jsonl")))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct {
			Partition   int32   `json:"partition"`
			Offset      int64   `json:"offset"`
			Timestamp   int64   `json:"timestamp"`
			Key         *string `json:"key"`
			KeyBase64   *string `json:"keyBase64"`
			Value       *string `json:"value"`
			ValueBase64 *string `json:"valueBase64"`
		}
		decode(tb, lines.Bytes(), &line)
		t.Records = append(t.Records, Record{
			Partition: line.Partition, Offset: line.Offset, Timestamp: line.Timestamp,
			Key: either(tb, line.Key, line.KeyBase64), Value: either(tb, line.Value, line.ValueBase64),
		})
	}
	if err := lines.Err(); err != nil {
		tb.Fatal(err)
	}
	if int64(len(t.Records)) != t.Expected.Records {
		tb.Fatalf("%s has %d records, want %d", name, len(t.Records), t.Expected.Records)
	}
	slices.SortStableFunc(t.Records, func(a, b Record) int { return int(a.Partition) - int(b.Partition) })
	return t
}

func read(tb testing.TB, name string) []byte {
	tb.Helper()
	data, err := files.ReadFile(path.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func decode(tb testing.TB, data []byte, into any) {
	tb.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		tb.Fatal(err)
	}
}

// either is the bytes of a text, or those in base64, or nil.
func either(tb testing.TB, text, encoded *string) []byte {
	tb.Helper()
	switch {
	case text != nil:
		return []byte(*text)
	case encoded != nil:
		out, err := base64.StdEncoding.DecodeString(*encoded)
		if err != nil {
			tb.Fatal(err)
		}
		return out
	default:
		return nil
	}
}
