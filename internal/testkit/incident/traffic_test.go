package incident

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/flinkkey"
	"github.com/recoverctl/recoverctl/internal/flinkmeta"
	"github.com/recoverctl/recoverctl/internal/testkit/orders"
)

var moment = time.Date(2026, 11, 29, 14, 3, 0, 0, time.UTC)

// demoLogs are those of the demo's seed, made once: no test changes them.
var demoLogs = sync.OnceValues(func() ([]partitionLog, error) { return newScript(seed).logs(seed, moment) })

func story(tb testing.TB) (*script, []partitionLog) {
	tb.Helper()
	logs, err := demoLogs()
	if err != nil {
		tb.Fatal(err)
	}
	return newScript(seed), logs
}

func TestTheSameSeedTellsTheSameStory(t *testing.T) {
	_, first := story(t)
	again, err := newScript(seed).logs(seed, moment)
	if err != nil {
		t.Fatal(err)
	}
	other, err := newScript(seed+1).logs(seed+1, moment)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(first, again) {
		t.Error("two stories of one seed differ")
	}
	if reflect.DeepEqual(first, other) {
		t.Error("stories of two seeds are equal")
	}
}

func TestTheLogIsAsTheStoryTellsIt(t *testing.T) {
	s, logs := story(t)
	total := 0
	for p, log := range logs {
		total += len(log.records)
		if want := s.end(p, toNow); len(log.records) != want {
			t.Errorf("partition %d has %d records, want %d", p, len(log.records), want)
		}
	}
	if total < 18_000 || total > 22_000 {
		t.Errorf("%d records, want about 20,000", total)
	}
	for name, at := range map[string]struct {
		got  inspect.Offsets
		want [3]int64
	}{
		"first boundary":  {s.at(toFirstCleanup), [3]int64{100, 120, 90}},
		"boundary":        {s.at(toSecondCleanup), [3]int64{150, 150, 200}},
		"log starts":      {s.logStarts(), [3]int64{100, 120, 200}},
		"pinned":          {s.at(toSavepoint), [3]int64{131, 140, 180}},
		"old checkpoint":  {s.at(toOldCheckpoint), [3]int64{113, 128, 150}},
		"within a phase":  {s.within(toFirstCleanup, 50), [3]int64{50, 60, 45}},
		"unfinished one":  {s.within(toSecondCleanup, 94), [3]int64{149, 150, 199}},
		"nothing, at all": {s.within(toFirstCleanup, 0), [3]int64{0, 0, 0}},
	} {
		if got := [3]int64{at.got[0], at.got[1], at.got[3]}; got != at.want || len(at.got) != Partitions {
			t.Errorf("%s: partitions 0, 1 and 3 at %v of %d, want %v of %d", name, got, len(at.got), at.want, Partitions)
		}
	}
}

func TestRecordsAreOldestFirstAndOfTheirPhase(t *testing.T) {
	s, logs := story(t)
	oldest, newest := moment, time.Time{}
	for p, log := range logs {
		last := time.Time{}
		for offset, r := range log.records {
			if r.Time.Before(last) {
				t.Fatalf("partition %d, offset %d: %s comes after %s", p, offset, r.Time, last)
			}
			last = r.Time
			ph := toFirstCleanup
			for offset >= s.end(p, ph) {
				ph++
			}
			if begin, end := moment.Add(-ago[ph]), moment.Add(-ago[ph+1]); r.Time.Before(begin) || !r.Time.Before(end) {
				t.Fatalf("partition %d, offset %d: %s is not between %s and %s", p, offset, r.Time, begin, end)
			}
		}
		if first := log.records[0].Time; first.Before(oldest) {
			oldest = first
		}
		if last.After(newest) {
			newest = last
		}
	}
	if age := moment.Sub(oldest); age < 8*24*time.Hour+20*time.Hour || age > 9*24*time.Hour {
		t.Errorf("the oldest record is %s old, want nearly nine days", age)
	}
	if age := moment.Sub(newest); age < 0 || age > 10*time.Second {
		t.Errorf("the newest record is %s old, want at most some seconds", age)
	}
}

// state is the value of a record, as Java would read it: with no other field.
type state struct {
	TaskEvent struct {
		Class      string          `json:"@class"`
		ID         string          `json:"id"`
		Attributes json.RawMessage `json:"attributes"`
		Type       string          `json:"type"`
	} `json:"taskEvent"`
	SensoryMemoryUpdates   []json.RawMessage `json:"sensoryMemoryUpdates"`
	ShortTermMemoryUpdates []json.RawMessage `json:"shortTermMemoryUpdates"`
	OutputEvents           []json.RawMessage `json:"outputEvents"`
	CallResults            []struct {
		FunctionID       string  `json:"functionId"`
		ArgsDigest       *string `json:"argsDigest"`
		ResultPayload    []byte  `json:"resultPayload"`
		ExceptionPayload []byte  `json:"exceptionPayload"`
		Status           string  `json:"status"`
	} `json:"callResults"`
	Completed bool `json:"completed"`
}

func readState(tb testing.TB, value []byte) state {
	tb.Helper()
	var st state
	d := json.NewDecoder(bytes.NewReader(value))
	d.DisallowUnknownFields()
	if err := d.Decode(&st); err != nil || d.More() {
		tb.Fatalf("value %s: %v", value, err)
	}
	return st
}

func TestEveryRecordIsOneThatTheJobCouldRead(t *testing.T) {
	_, logs := story(t)
	statuses := map[string]int{}
	completed, released := 0, 0
	for p, log := range logs {
		for offset, r := range log.records {
			fields := strings.Split(string(r.Key), "_")
			switch {
			case len(fields) == 4: // of the rollback
				released++
				if at, ok := flinkkey.PartitionReleased(r.Key, Partitions); !ok || int(at) != p {
					t.Fatalf("partition %d, offset %d: the key belongs to partition %d", p, offset, at)
				}
			case len(fields) != 5 || len(fields[4]) != 44:
				t.Fatalf("partition %d, offset %d: key %s", p, offset, r.Key)
			default:
				if at := flinkkey.Partition(fields[4], Partitions); int(at) != p {
					t.Fatalf("partition %d, offset %d: the key belongs to partition %d", p, offset, at)
				}
			}
			st := readState(t, r.Value)
			if want := orders.NameUUID(st.TaskEvent.Attributes); fields[2] != want {
				t.Fatalf("partition %d, offset %d: event %s, its attributes give %s", p, offset, fields[2], want)
			}
			if sorted, err := json.Marshal(anyOf(t, st.TaskEvent.Attributes)); err != nil || !bytes.Equal(sorted, st.TaskEvent.Attributes) {
				t.Fatalf("attributes %s are not sorted and compact: %s (%v)", st.TaskEvent.Attributes, sorted, err)
			}
			for _, c := range st.CallResults {
				statuses[c.Status]++
				if c.ArgsDigest == nil || (c.Status == "SUCCEEDED") != json.Valid(c.ResultPayload) || (c.Status == "FAILED") != json.Valid(c.ExceptionPayload) {
					t.Fatalf("partition %d, offset %d: call %+v", p, offset, c)
				}
			}
			if st.Completed {
				completed++
				if len(st.CallResults) != 0 {
					t.Fatalf("partition %d, offset %d: a completed action keeps %d calls", p, offset, len(st.CallResults))
				}
			}
		}
	}
	if released != 10 {
		t.Errorf("%d records of the rollback, want 10", released)
	}
	if completed < 5000 || statuses["PENDING"] < 1000 || statuses["SUCCEEDED"] < 3000 || statuses["FAILED"] < 30 || statuses["FAILED"] > 300 || len(statuses) != 3 {
		t.Errorf("%d completed, calls %v", completed, statuses)
	}
}

func anyOf(tb testing.TB, data []byte) any {
	tb.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		tb.Fatal(err)
	}
	return v
}

// runAgain are the calls of open actions whose last record lies before a
// marker: a restore does not see them.
func runAgain(tb testing.TB, logs []partitionLog, marker inspect.Offsets) (again, inside []string) {
	tb.Helper()
	for p, log := range logs {
		type latest struct {
			offset int64
			value  []byte
		}
		byKey := map[string]latest{}
		for offset, r := range log.records {
			byKey[string(r.Key)] = latest{int64(offset), r.Value}
		}
		for _, l := range byKey {
			st := readState(tb, l.value)
			if st.Completed {
				continue
			}
			for _, c := range st.CallResults {
				if l.offset < marker[int32(p)] {
					again = append(again, c.FunctionID+" "+c.Status)
				} else {
					inside = append(inside, c.FunctionID+" "+c.Status)
				}
			}
		}
	}
	slices.Sort(again)
	return again, inside
}

// Beside them the rolled back release left a PENDING of an ended JVM below every
// marker; the other one was overwritten, which the last record does not show.
func TestTwoCallsRunAgainFromTheNewestPointAndOneFromTheNext(t *testing.T) {
	s, logs := story(t)
	const ended = "payments.charge PENDING"
	for name, c := range map[string]struct {
		marker inspect.Offsets
		again  []string
		inside int
	}{
		"chk-44": {s.at(toChk44), []string{"mail.send SUCCEEDED", "payments.charge PENDING", ended}, 5},
		"chk-43": {s.at(toChk43), []string{"mail.send SUCCEEDED", ended}, 6},
		"chk-42": {s.at(toSecondCleanup), []string{ended}, 7},
	} {
		again, inside := runAgain(t, logs, c.marker)
		if !slices.Equal(again, c.again) || len(inside) != c.inside {
			t.Errorf("%s: run again %v, want %v; inside the window %v, want %d", name, again, c.again, inside, c.inside)
		}
	}
}

func TestKeyedStateIsInFlinksLayout(t *testing.T) {
	s, logs := story(t)
	all, running := progressAt(logs, s.at(toChk44))
	if len(all) < 1000 || len(running) < 2 {
		t.Fatalf("%d keys, %d running", len(all), len(running))
	}
	want := map[string]int64{}
	for _, p := range all {
		want[p.Key.Text] = p.Message
	}
	for name, layout := range map[string]struct {
		encode func([]groupEntries, int32) ([]byte, []int64)
		read   func(tb testing.TB, data []byte, offsets []int64, start int32) map[string]int64
	}{
		"heap checkpoint":     {heapStream, readHeap},
		"canonical savepoint": {canonicalStream, readCanonical},
	} {
		got := map[string]int64{}
		for subtask := range int32(orders.Parallelism) {
			r := keyGroups(subtask)
			data, offsets := layout.encode(byGroup(all, r), r.Start)
			if len(offsets) != int(r.Count) || len(data) < inlineLimit {
				t.Fatalf("%s: %d offsets, %d bytes", name, len(offsets), len(data))
			}
			for k, seq := range layout.read(t, data, offsets, r.Start) {
				got[k] = seq
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %d sequence numbers are read back, want %d", name, len(got), len(want))
		}
	}
}

// readHeap reads messageSequenceNumber back: key groups end where the next one
// begins, the last with the stream.
func readHeap(tb testing.TB, data []byte, offsets []int64, start int32) map[string]int64 {
	tb.Helper()
	out := map[string]int64{}
	r := flinkmeta.NewReader("keyed state", data[offsets[0]:], 0)
	for i := range offsets {
		if at := offsets[0] + r.Pos(); at != offsets[i] {
			tb.Fatalf("key group %d begins at %d, its offset is %d", i, at, offsets[i])
		}
		if g := r.I32("key group"); g != start+int32(i) {
			tb.Fatalf("key group %d stands where %d must be", g, start+int32(i))
		}
		for range heapOrder {
			state := r.I16("state")
			for n := r.I32("entries"); n > 0; n-- {
				r.Take(1, "namespace")
				k := string(r.Take(int(r.U8("length"))-1, "key"))
				if seq := r.I64("sequence number"); state == stateMessage {
					out[k] = seq
				}
			}
		}
	}
	if err := r.Err(); err != nil || r.Len() != 0 {
		tb.Fatalf("%d bytes are left: %v", r.Len(), err)
	}
	return out
}

// readCanonical does the same for the entries of a canonical savepoint.
func readCanonical(tb testing.TB, data []byte, offsets []int64, start int32) map[string]int64 {
	tb.Helper()
	out := map[string]int64{}
	for i, offset := range offsets {
		if offset == 0 {
			continue
		}
		rest := data[offset:]
		state := binary.BigEndian.Uint16(rest)
		for rest = rest[2:]; state != 0xFFFF; {
			n := binary.BigEndian.Uint32(rest)
			k := rest[4 : 4+n]
			rest = rest[4+n:]
			seq := binary.BigEndian.Uint64(rest[4:])
			rest = rest[12:]
			if g := int32(k[0] &^ 0x80); g != start+int32(i) {
				tb.Fatalf("key group %d stands where %d must be", g, start+int32(i))
			}
			if state == stateMessage {
				out[string(k[2:len(k)-1])] = int64(seq)
			}
			if k[0]&0x80 != 0 {
				state = binary.BigEndian.Uint16(rest)
				rest = rest[2:]
			}
		}
	}
	return out
}
