package flussrpc

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/recoverctl/recoverctl/internal/flussrpc/flusspb"
)

// seenRow is a row as Fluss's own client returned it.
type seenRow struct {
	Offset    int64                      `json:"offset"`
	Timestamp int64                      `json:"timestamp"`
	Change    string                     `json:"change"`
	Row       map[string]json.RawMessage `json:"row"`
}

type seenBatch struct {
	BaseOffset      int64 `json:"base_offset"`
	Size            int   `json:"size"`
	Magic           int8  `json:"magic"`
	Timestamp       int64 `json:"commit_timestamp"`
	Intact          bool  `json:"crc_matches"`
	SchemaID        int16 `json:"schema_id"`
	AppendOnly      bool  `json:"append_only"`
	LastOffsetDelta int32 `json:"last_offset_delta"`
	WriterID        int64 `json:"writer_id"`
	Sequence        int32 `json:"batch_sequence"`
	Count           int32 `json:"record_count"`
	Cut             int   `json:"incomplete_tail_bytes"` // of a batch that was cut
}

// fetched is a recorded FetchLog with what the client read of it.
type fetched struct {
	APIKey  API         `json:"api_key"`
	Batches []seenBatch `json:"batches"`
	Next    *int64      `json:"next_offset"`
	Rows    *struct {
		Table string    `json:"table"`
		Rows  []seenRow `json:"rows"`
	} `json:"rows_seen_by_java_client"`
}

// tables are the schemas and formats of the recorded cluster, by table.
func tables(t testing.TB) map[string]Descriptor {
	t.Helper()
	out := map[string]Descriptor{}
	for name, e := range exchanges(t) {
		if e.APIKey != APIGetTableInfo || e.FrameType != answerSuccess {
			continue
		}
		frame := frameOf(t, name+".req.bin")
		var request flusspb.GetTableInfoRequest
		if err := proto.Unmarshal(frame[lengthSize+requestHeaderSize:], &request); err != nil {
			t.Fatal(err)
		}
		var answer flusspb.GetTableInfoResponse
		if err := proto.Unmarshal(frameOf(t, name+".resp.bin")[lengthSize+5:], &answer); err != nil {
			t.Fatal(err)
		}
		d, err := ParseDescriptor(answer.GetSchemaId(), answer.GetTableJson())
		if err != nil {
			t.Fatal(name, err)
		}
		out[request.GetTablePath().GetDatabaseName()+"."+request.GetTablePath().GetTableName()] = d
	}
	return out
}

// asSeen compares a value with that of Fluss's client.
func asSeen(value any, want json.RawMessage) bool {
	var object map[string]json.RawMessage
	switch v := value.(type) {
	case nil:
		return string(want) == "null"
	case string:
		var s string
		return json.Unmarshal(want, &s) == nil && s == v
	case bool:
		return strconv.FormatBool(v) == string(want)
	case int64:
		return strconv.FormatInt(v, 10) == string(want)
	case float64:
		var f float64
		return json.Unmarshal(want, &f) == nil && f == v
	}
	if json.Unmarshal(want, &object) != nil || len(object) != 1 {
		return false
	}
	switch v := value.(type) {
	case []byte:
		return string(object["bytes_b64"]) == strconv.Quote(base64.StdEncoding.EncodeToString(v))
	case Decimal:
		return string(object["decimal"]) == strconv.Quote(string(v))
	case Date:
		return string(object["date_days"]) == strconv.Itoa(int(v))
	case Timestamp:
		name := map[bool]string{true: "timestamp_ntz_ms", false: "timestamp_ltz_ms"}[v.Local]
		return string(object[name]) == strconv.FormatInt(v.Millis, 10)
	}
	return false
}

// Every row, offset, time and change is what Fluss's own client returned of the
// same bytes.
func TestRowsAreReadAsByTheRealClient(t *testing.T) {
	known := tables(t)
	files, err := filepath.Glob("testdata/fluss/fetch-*.expected.json")
	if err != nil || len(files) < 30 {
		t.Fatal(len(files), err)
	}
	read := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".expected.json")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var want fetched
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			if want.Batches == nil {
				return // an error, or segments in remote storage
			}
			records := recordsOf(t, name)
			var batches []Batch
			for b, err := range Batches(records) {
				if err != nil {
					t.Fatal(err)
				}
				batches = append(batches, b)
			}
			cut := len(records)
			for _, b := range batches {
				cut -= b.Size
			}
			if last := len(want.Batches) - 1; last >= 0 && want.Batches[last].Cut > 0 {
				if cut != want.Batches[last].Cut {
					t.Errorf("%d bytes are left, want %d", cut, want.Batches[last].Cut)
				}
				want.Batches, cut = want.Batches[:last], 0
			}
			if cut != 0 {
				t.Errorf("%d bytes are left", cut)
			}
			if len(batches) != len(want.Batches) {
				t.Fatalf("%d batches, want %d", len(batches), len(want.Batches))
			}
			for i, b := range batches {
				w := want.Batches[i]
				if got := (seenBatch{b.BaseOffset, b.Size, b.Magic, b.CommitTimestamp, b.Intact, b.SchemaID, b.AppendOnly, b.LastOffsetDelta, b.WriterID, b.Sequence, b.Count, 0}); got != w {
					t.Errorf("batch %+v, want %+v", got, w)
				}
			}
			if len(batches) > 0 && want.Next != nil && batches[len(batches)-1].Next() != *want.Next {
				t.Errorf("next offset %d, want %d", batches[len(batches)-1].Next(), *want.Next)
			}
			if want.Rows == nil {
				return
			}
			table, ok := known[want.Rows.Table]
			if !ok {
				t.Fatalf("table %s is not known", want.Rows.Table)
			}
			read += compare(t, table, batches, want.Rows.Rows)
		})
	}
	if read < 300 {
		t.Errorf("only %d rows were compared", read)
	}
}

// compare decodes batches and asks for exactly the rows that Fluss's client saw. It
// returns how many those are.
func compare(t *testing.T, table Descriptor, batches []Batch, rest []seenRow) int {
	t.Helper()
	d, err := NewDecoder(table.Schema, table.Format())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	read := 0
	for _, b := range batches {
		if err := d.Rows(b, func(r Row) error {
			if len(rest) == 0 {
				return fmt.Errorf("offset %d is one more row", r.Offset)
			}
			w := rest[0]
			rest = rest[1:]
			read++
			if r.Offset != w.Offset || r.Timestamp != w.Timestamp || r.Change.String() != w.Change || len(w.Row) != len(table.Schema.Columns) {
				t.Errorf("%+v, want %+v", r, w)
			}
			for i, c := range table.Schema.Columns {
				if v := r.Value(i); !asSeen(v, w.Row[c.Name]) {
					t.Errorf("offset %d, %s: %v (%T), want %s", r.Offset, c.Name, v, v, w.Row[c.Name])
				}
				raw, ok := r.Bytes(i)
				switch v := r.Value(i).(type) {
				case string:
					if !ok || string(raw) != v {
						t.Errorf("offset %d, %s: bytes %q", r.Offset, c.Name, raw)
					}
				case []byte:
					if !ok || !bytes.Equal(raw, v) {
						t.Errorf("offset %d, %s: bytes %q", r.Offset, c.Name, raw)
					}
				default:
					if ok {
						t.Errorf("offset %d, %s has bytes", r.Offset, c.Name)
					}
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if len(rest) > 0 {
		t.Errorf("%d rows are missing from offset %d on", len(rest), rest[0].Offset)
	}
	return read
}

// recordsOf are the records of the first bucket in a recorded answer.
func recordsOf(t testing.TB, name string) []byte {
	t.Helper()
	var answer flusspb.FetchLogResponse
	if err := proto.Unmarshal(frameOf(t, name+".resp.bin")[lengthSize+5:], &answer); err != nil {
		t.Fatal(err)
	}
	return answer.GetTablesResp()[0].GetBucketsResp()[0].GetRecords()
}

// A segment's file in remote storage has the same batches.
func TestRemoteSegmentsAreReadAsByTheRealClient(t *testing.T) {
	text, err := os.ReadFile("testdata/fluss/remote-log.expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Manifest string
		Segments []struct {
			ID    string `json:"segment_id"`
			Start int64  `json:"start_offset"`
			End   int64  `json:"end_offset"`
			Size  int    `json:"size_in_bytes"`
		}
		Rows struct {
			Rows []seenRow
		} `json:"rows_seen_by_java_client"`
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	var batches []Batch
	end := int64(0)
	for _, s := range want.Segments {
		folder := filepath.Dir(filepath.Dir(want.Manifest))
		data, err := os.ReadFile(filepath.Join("testdata/fluss/remote", folder, s.ID, fmt.Sprintf("%020d.log", s.Start)))
		if err != nil || len(data) != s.Size {
			t.Fatal(len(data), err)
		}
		for b, err := range Batches(data) {
			if err != nil || b.BaseOffset != max(end, s.Start) || !b.Intact {
				t.Fatal(b, err)
			}
			batches, end = append(batches, b), b.Next()
		}
		if end != s.End {
			t.Errorf("segment %s ends at %d, want %d", s.ID, end, s.End)
		}
	}
	compare(t, tables(t)["recovery_demo.demo_tiered"], batches, want.Rows.Rows[:end])
}

// The vectors of Fluss's own tests, and some of a real cluster.
func TestBucketsOfKeys(t *testing.T) {
	for _, c := range []struct {
		key     []byte
		buckets int32
		want    int32
	}{
		{[]byte{0, 10}, 7, 1},
		{[]byte{0, 10, 10, 10}, 12, 0},
		{[]byte("2bb87d68-baf9-4e64-90f9-f80910419fa6"), 16, 6},
		{[]byte("The quick brown fox jumps over the lazy dog"), 8, 6},
	} {
		if got := bucketOf(c.key, c.buckets); got != c.want {
			t.Errorf("%q of %d: %d, want %d", c.key, c.buckets, got, c.want)
		}
	}
	for key, want := range map[string][2]int32{"test-key": {49, 1}, "key-0": {39, 2}, "key-1": {18, 2}, "key-2": {40, 2}, "1": {50, 0}, "user-42": {50, 2}, "é": {6, 2}} {
		if got := [2]int32{BucketOfString(key, 64), BucketOfString(key, 3)}; got != want {
			t.Errorf("%s: %v, want %v", key, got, want)
		}
	}
}

// Rows of the recorded action-state table lie in the bucket that their key
// computes to.
func TestRowsLieInTheBucketOfTheirKey(t *testing.T) {
	table := tables(t)["flink_agents.demo_action_state"]
	if len(table.BucketKey) != 1 || table.BucketKey[0] != "agent_key" || table.Format() != FormatArrow {
		t.Fatalf("%+v", table)
	}
	d, err := NewDecoder(table.Schema, table.Format())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	key := table.Schema.Find("agent_key")
	for _, bucket := range []int32{0, 1, 3} {
		for b, err := range Batches(recordsOf(t, fmt.Sprintf("fetch-action-state-bucket%d", bucket))) {
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Rows(b, func(r Row) error {
				if text, _ := r.Bytes(key); BucketOfString(string(text), int32(table.Buckets)) != bucket {
					t.Errorf("%s lies in bucket %d", text, bucket)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestBatchesThatAreNone(t *testing.T) {
	whole := recordsOf(t, "fetch-zstd-bucket1")
	change := func(at int, value ...byte) []byte {
		out := bytes.Clone(whole)
		copy(out[at:], value)
		return out
	}
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"a layout of the future":       {change(12, 3), "layout 3; only the layouts 0 to 2"},
		"a length below the header":    {change(8, 1, 0, 0, 0), "13 bytes"},
		"a negative length":            {change(8, 0, 0, 0, 0x80), "bytes"},
		"more records than offsets":    {change(44, 0xff, 0xff, 0xff, 0x7f), "records"},
		"offsets that go backwards":    {change(28, 0xff, 0xff, 0xff, 0xff), "offsets"},
		"a base offset below zero":     {change(0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), "offsets"},
		"offsets past the largest one": {change(0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f), "offsets"},
	} {
		for b, err := range Batches(c.data) {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %+v, %v", name, b, err)
			}
			break
		}
	}
	for b, err := range Batches(change(60, 0x42)) {
		if err != nil || b.Intact {
			t.Errorf("a flipped byte: %+v, %v", b, err)
		}
		break
	}
	for cut := range len(whole) {
		n := 0
		for b, err := range Batches(whole[:cut]) {
			if err != nil || int64(b.Size) > int64(cut) {
				t.Fatalf("cut at %d: %+v, %v", cut, b, err)
			}
			n += b.Size
		}
		if n > cut {
			t.Errorf("%d bytes of %d", n, cut)
		}
	}
}

// A buffer that says that it unpacks to more than a batch may is not believed.
func TestABatchThatWouldUnpackWithoutEnd(t *testing.T) {
	table := tables(t)["recovery_demo.demo_orders_zstd"]
	d, err := NewDecoder(table.Schema, table.Format())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	data := bytes.Clone(recordsOf(t, "fetch-zstd-bucket1"))
	// Each compressed buffer begins with its unpacked length, in front of the zstd
	// magic.
	for at := 0; at+12 <= len(data); at++ {
		if bytes.Equal(data[at+8:at+12], []byte{0x28, 0xb5, 0x2f, 0xfd}) {
			binary.LittleEndian.PutUint64(data[at:], 1<<40)
		}
	}
	failed := 0
	for b, err := range Batches(data) {
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Rows(b, func(Row) error { return nil }); err != nil {
			failed++
		}
	}
	if failed == 0 {
		t.Error("it was believed")
	}
	// The decoder goes on with what is whole.
	for b := range Batches(recordsOf(t, "fetch-zstd-bucket1")) {
		if err := d.Rows(b, func(Row) error { return nil }); err != nil {
			t.Error(err)
		}
	}
}

func TestAVisitCanEndTheReading(t *testing.T) {
	table := tables(t)["recovery_demo.demo_orders"]
	d, err := NewDecoder(table.Schema, table.Format())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	enough := errors.New("enough")
	for b := range Batches(recordsOf(t, "fetch-uncompressed-bucket0")) {
		if err := d.Rows(b, func(Row) error { return enough }); !errors.Is(err, enough) {
			t.Error(err)
		}
	}
}

func FuzzRows(f *testing.F) {
	known := tables(f)
	all := []Descriptor{known["recovery_demo.demo_orders"], known["recovery_demo.demo_orders_zstd"], known["recovery_demo.demo_orders_lz4"], known["flink_agents.demo_action_state"]}
	for name, d := range known {
		if d.Format() != FormatArrow {
			all = append(all, known[name])
		}
	}
	for i, name := range []string{"fetch-uncompressed-bucket3", "fetch-zstd-bucket3", "fetch-lz4-bucket3", "fetch-action-state-bucket1", "fetch-indexed-bucket0", "fetch-compacted-bucket0"} {
		f.Add(byte(i), recordsOf(f, name))
	}
	for b := range Batches(recordsOf(f, "fetch-zstd-bucket3")) {
		batch := recordsOf(f, "fetch-zstd-bucket3")[:b.Size]
		f.Add(byte(1), laidOut(batch, 1, nil, []byte("statistics")))
		f.Add(byte(1), laidOut(batch, 1, make([]byte, 4), nil))
		f.Add(byte(1), laidOut(batch, 2, make([]byte, 4), []byte{}))
		break
	}
	f.Fuzz(func(t *testing.T, which byte, data []byte) {
		table := all[int(which)%len(all)]
		d, err := NewDecoder(table.Schema, table.Format())
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		for b, err := range Batches(data) {
			if err != nil {
				return
			}
			_ = d.Rows(b, func(r Row) error { // it must end, and not panic
				for i := range table.Schema.Columns {
					r.Value(i)
					r.Bytes(i)
				}
				return nil
			})
		}
	})
}

// One row a batch is how a job writes that appends synchronously; it is the worst
// case of the decoder.
func BenchmarkRowsOneABatch(b *testing.B) {
	table := tables(b)["flink_agents.demo_action_state"]
	d, err := NewDecoder(table.Schema, table.Format())
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	records := recordsOf(b, "fetch-action-state-bucket0")
	rows := 0
	b.SetBytes(int64(len(records)))
	for b.Loop() {
		for batch, err := range Batches(records) {
			if err != nil {
				b.Fatal(err)
			}
			if err := d.Rows(batch, func(r Row) error {
				rows++
				return nil
			}); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}
