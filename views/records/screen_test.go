package records_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/testkit/topics"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/overview"
	"github.com/recoverctl/recoverctl/views/records"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// log is a topic of one partition: its records, from a log start to a log end.
type log struct {
	viewtest.Broker
	records []inspect.LogRecord
	err     error
	reads   atomic.Int64 // two jumps may read at once
}

// topicOf is a topic of two partitions, the first of which holds records.
func topicOf(start, end int64, records ...inspect.LogRecord) *log {
	return &log{records: records, Broker: viewtest.Broker{Data: inspect.DataTopic{
		Name: "action-state", Exists: true, TopicID: viewtest.TopicID, At: viewtest.Now,
		Partitions: []inspect.Partition{{ID: 0, Log: inspect.LogRange{Start: start, End: end}}, {ID: 1, Log: inspect.LogRange{Start: 7, End: 7}}},
	}}}
}

// ReadRecords implements inspect.RecordReader.
func (l *log) ReadRecords(_ context.Context, topic inspect.DataTopic, q inspect.RecordQuestion) (inspect.RecordPage, error) {
	l.reads.Add(1)
	if l.err != nil {
		return inspect.RecordPage{}, l.err
	}
	var in inspect.LogRange
	var all []inspect.LogRecord
	for _, p := range topic.Partitions {
		if p.ID == q.Partition {
			in = p.Log
		}
	}
	if q.Partition == 0 {
		all = l.records
	}
	q.Offset = min(max(q.Offset, in.Start), in.End)
	at, _ := slices.BinarySearchFunc(all, q.Offset, func(r inspect.LogRecord, offset int64) int { return int(r.Offset - offset) })
	page := inspect.RecordPage{Partition: q.Partition, From: q.Offset, Next: in.End}
	if q.Back {
		page.From, page.Next = in.Start, q.Offset
		first := max(0, at-q.Count)
		if first > 0 {
			page.From = all[first-1].Offset + 1
		}
		page.Records = slices.Clone(all[first:at])
		return page, nil
	}
	last := min(len(all), at+q.Count)
	if last < len(all) {
		page.Next = all[last].Offset
	}
	page.Records = slices.Clone(all[at:last])
	return page, nil
}

// OffsetsAt implements inspect.RecordReader.
func (l *log) OffsetsAt(_ context.Context, topic inspect.DataTopic, at time.Time) (inspect.Offsets, error) {
	found := inspect.Offsets{0: topic.Partitions[0].Log.End, 1: topic.Partitions[1].Log.End}
	for _, r := range slices.Backward(l.records) {
		if !r.Timestamp.Before(at) {
			found[0] = r.Offset
		}
	}
	return found, nil
}

// real are the records of one partition of a topic that a real job wrote.
func real(t testing.TB, name string) []inspect.LogRecord {
	for _, topic := range topics.All(t) {
		if topic.Name != name {
			continue
		}
		var out []inspect.LogRecord
		for _, r := range topic.Records {
			if r.Partition == 0 {
				out = append(out, inspect.LogRecord{Offset: r.Offset, Timestamp: time.UnixMilli(r.Timestamp), Key: r.Key, Value: r.Value, Producer: -1})
			}
		}
		if len(out) == 0 {
			t.Fatalf("topic %s has nothing on partition 0", name)
		}
		return out
	}
	t.Fatalf("no topic is named %s", name)
	return nil
}

func options(l *log) records.Options {
	in := inspect.New(viewtest.Store(), l, clock.NewFake(viewtest.Now))
	boundary := int64(4)
	reading := overview.Reading{At: viewtest.Now, Overview: inspect.JobOverview{
		Partitions: []inspect.PartitionOverview{{Partition: 0, Boundary: &boundary}},
		Points: []inspect.PointSummary{
			{URI: viewtest.Checkpoints + "/chk-44", Verdict: inspect.Accepted, Offsets: inspect.Offsets{0: 12, 1: 7}},
			{URI: viewtest.Checkpoints + "/chk-12", Verdict: inspect.Rejected, Offsets: inspect.Offsets{0: 2}},
		},
	}}
	return records.Options{
		Theme: viewtest.Plain(), Now: viewtest.Clock, Job: viewtest.Job(), Reading: reading,
		Open: func(ctx context.Context, job inspect.Job) (records.Browser, error) {
			b, err := in.Records(ctx, job)
			if err != nil {
				return nil, err
			}
			return b, nil
		},
	}
}

// agent is a topic of a real job, compacted in its middle.
func agent(t testing.TB) *log {
	all := real(t, "agent-overwritten")
	kept := slices.DeleteFunc(slices.Clone(all), func(r inspect.LogRecord) bool { return r.Offset == 9 || r.Offset > 19 && r.Offset < 26 })
	return topicOf(all[0].Offset, all[len(all)-1].Offset+1, kept...)
}

// odd is what a partition can hold beside action states.
func odd() *log {
	at := viewtest.Now.Add(-time.Hour)
	return topicOf(0, 8,
		inspect.LogRecord{Offset: 0, Timestamp: at, Key: nil, Value: []byte("a text\nof two lines"), Producer: -1},
		inspect.LogRecord{Offset: 1, Timestamp: at, Key: []byte("\xff\xfe"), Value: []byte{0, 1, 2, 0xff}, Producer: -1},
		inspect.LogRecord{Offset: 2, Timestamp: at, Key: []byte("x"), Value: []byte(`{"deep":[1,2,{"a":null}]}`), Producer: 4, Headers: []inspect.RecordHeader{{Key: "trace", Value: []byte("1\x1b[2J")}, {Key: "none"}}},
		inspect.LogRecord{Offset: 3, Timestamp: at, Control: inspect.TransactionAborted, Producer: 4},
		inspect.LogRecord{Offset: 4, Timestamp: at, Key: []byte("x"), Appended: true, Producer: -1},
		inspect.LogRecord{Offset: 5, Timestamp: at, Key: []byte(viewtest.Hostile), Value: []byte(viewtest.Hostile), Producer: -1},
		inspect.LogRecord{Offset: 6, Timestamp: at, Key: []byte("x"), Value: []byte{}, Producer: -1},
	)
}

func TestFrames(t *testing.T) {
	list := func(l *log, offset int64) func() tui.Screen {
		return func() tui.Screen {
			o := options(l)
			o.Offset = offset
			return records.New(o)
		}
	}
	fails := odd()
	fails.err = viewtest.Gone()
	viewtest.Goldens(t, map[string]viewtest.Case{
		"loading":     {Screen: list(odd(), 0), Busy: true},
		"real":        {Screen: list(agent(t), 0)},
		"end":         {Screen: list(agent(t), -1)},
		"odd":         {Screen: list(odd(), 0)},
		"empty":       {Screen: list(odd(), 0), Keys: []string{"tab"}},
		"failed":      {Screen: list(fails, 0)},
		"jump":        {Screen: list(odd(), 0), Keys: []string{"J", "x", "enter"}},
		"record":      {Screen: list(agent(t), 1), Keys: []string{"enter"}},
		"record-raw":  {Screen: list(agent(t), 1), Keys: []string{"enter", "x"}},
		"record-hex":  {Screen: list(odd(), 1), Keys: []string{"enter", "x", "x"}},
		"record-text": {Screen: list(odd(), 5), Keys: []string{"enter"}},
		"transaction": {Screen: list(odd(), 2), Keys: []string{"enter"}},
		"tombstone":   {Screen: list(odd(), 4), Keys: []string{"enter"}},
	})
}

func drive(t testing.TB, l *log, offset int64) *tuitest.Driver {
	o := options(l)
	o.Offset = offset
	return tuitest.New(t, viewtest.Options(viewtest.Plain()), records.New(o), 100, 30)
}

func ask(t *testing.T, d *tuitest.Driver, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(strings.Join(strings.Fields(d.Frame()), " "), w) {
			t.Errorf("%q is not on the screen:\n%s", w, d.Frame())
		}
	}
}

// long is a log of n small records, every second offset of which is compacted
// away.
func long(n int) *log {
	all := make([]inspect.LogRecord, n)
	for i := range all {
		all[i] = inspect.LogRecord{Offset: 100 + 2*int64(i), Timestamp: viewtest.Now.Add(time.Duration(i-n) * time.Second), Key: fmt.Appendf(nil, "key-%d", i), Value: []byte("{}"), Producer: -1}
	}
	return topicOf(100, 100+2*int64(n), all...)
}

// Wherever the operator goes, each offset is told once, in order: as a record, or
// as one without.
func TestEveryOffsetIsTold(t *testing.T) {
	l := long(1500)
	d := drive(t, l, 100)
	seen := map[string]bool{}
	for range 3100 {
		for _, line := range strings.Split(d.Frame(), "\n") {
			if _, row, ok := strings.Cut(line, "▸"); ok {
				seen[strings.Fields(row)[0]] = true
			}
		}
		d.Press("j")
	}
	if len(seen) != 3000 {
		t.Errorf("%d of 3000 offsets were told", len(seen))
	}
	ask(t, d, "▸ 3,099", "no record: compacted, or never one")
	if l.reads.Load() > 20 {
		t.Errorf("%d pages were read", l.reads.Load())
	}
	for range 40 {
		d.Press("pgup")
	}
	d.Press("g")
	ask(t, d, "▸ 100", "key-0")
}

// A jump goes to an offset, a time, the boundary, a marker or another partition.
func TestJumps(t *testing.T) {
	tests := map[string]struct{ to, want string }{
		"an offset":             {"1500", "▸ 1,500"},
		"as the screen groups":  {"1,500", "▸ 1,500"},
		"before the log start":  {"3", "▸ 100"},
		"past the log end":      {"9999999", "▸ 3,099"},
		"the end":               {"end", "▸ 3,099"},
		"the start":             {"start", "▸ 100"},
		"a time":                {"2024-05-14T13:40:00Z", "▸ 340"}, // 1380 s before the end
		"a time of the day":     {"13:40", "▸ 340"},
		"an age":                {"10m", "▸ 1,900"},
		"a marker":              {"chk-44", "▸ 100"}, // lies before the log start
		"a partition":           {"1/7", "the partition is empty"},
		"an offset without one": {"1501", "▸ 1,501"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := drive(t, long(1500), 2000)
			d.Press("J")
			d.Type(tt.to)
			d.Press("enter")
			ask(t, d, tt.want)
		})
	}
	for to, want := range map[string]string{
		"3":       "! offset 3 lies before the log start, 100: what it held is gone",
		"9999999": "! offset 9,999,999 lies past the log end, 3,100: it is not written yet",
	} {
		d := drive(t, long(1500), 2000)
		d.Press("J")
		d.Type(to)
		d.Press("enter")
		ask(t, d, want)
	}
	for _, wrong := range []string{"nowhere", "7/1", "boundary x", "-3h"} {
		d := drive(t, long(15), 100)
		d.Press("J")
		d.Type(wrong)
		d.Press("enter")
		if !strings.Contains(d.Frame(), "Jump") {
			t.Errorf("%q was taken:\n%s", wrong, d.Frame())
		}
	}
}

// A filter looks through what was read, and says so where the log has more.
func TestAFilterSaysWhatItLookedAt(t *testing.T) {
	d := drive(t, long(1500), 2000)
	d.Press("/")
	d.Type("nobody")
	d.Press("enter")
	ask(t, d, "0 of 801 rows, esc shows all; only of offsets 1,599 to 2,400")
	d = drive(t, agent(t), 0)
	d.Press("/")
	d.Type("nobody")
	d.Press("enter")
	ask(t, d, "rows, esc shows all")
	if frame := d.Frame(); strings.Contains(frame, "only of") {
		t.Errorf("all was read:\n%s", frame)
	}
}

// Marks stand where they lie, and m goes from one to the next.
func TestMarks(t *testing.T) {
	d := drive(t, agent(t), 0)
	ask(t, d, "▲ boundary", "◆ chk-44")
	d.Press("m")
	ask(t, d, "boundary at 4", "▸ 4")
	d.Press("m")
	ask(t, d, "chk-44 at 12", "▸ 12")
	d.Press("m")
	ask(t, d, "boundary at 4")
}

// A value of 10 MiB is on the screen as soon as it is read, its last row is
// reached, and nothing of it is copied in part.
func TestALargeValueOpensAtOnce(t *testing.T) {
	value := []byte(strings.Repeat("0123456789abcdef", 10<<20/16-1) + "the very end of.")
	large := topicOf(0, 1, inspect.LogRecord{Key: []byte("large"), Value: value, Timestamp: viewtest.Now, Producer: -1})
	o := options(large)
	d := tuitest.NewBusy(t, viewtest.Options(viewtest.Plain()), records.New(o), 100, 30)
	d.Settle()
	d.Send(tuitest.Key(t, "enter"))
	for !strings.Contains(d.Frame(), "0123456789abcdef") {
		d.Next()
	}
	if !d.Idle() {
		ask(t, d, "text, 10,485,760 bytes, decoded")
	}
	d.Press("G")
	ask(t, d, "the very end of.")
	d.Press("y")
	ask(t, d, "the value was not copied: it has 10,485,760 bytes")
	d.Resize(60, 20)
	d.Press("G")
	ask(t, d, "end of.")
	d.Press("x", "x", "G")
	ask(t, d, "009ffff0")
}

// What is copied is what stands in the record, or its base64 where a terminal
// would obey it.
func TestCopy(t *testing.T) {
	tests := map[string]struct {
		offset    int64
		key       string
		want, say string
	}{
		"a text":         {0, "y", "a text\nof two lines", "the value (2 lines"},
		"bytes":          {1, "y", base64.StdEncoding.EncodeToString([]byte{0, 1, 2, 0xff}), "the value as base64"},
		"a hostile text": {5, "y", base64.StdEncoding.EncodeToString([]byte(viewtest.Hostile)), "the value as base64"},
		"a key":          {2, "Y", "x", "the key (1 line"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := drive(t, odd(), tt.offset)
			d.Press("enter", tt.key)
			sequence := strings.TrimSuffix(strings.TrimPrefix(d.Clipboard(), "\x1b]52;c;"), "\a")
			text, err := base64.StdEncoding.DecodeString(sequence)
			if err != nil || string(text) != tt.want {
				t.Errorf("copied %q (%v), want %q", text, err, tt.want)
			}
			ask(t, d, tt.say)
		})
	}
}

// A record that compaction has taken meanwhile is said to be gone, and a log that
// was cut is read again with r.
func TestWhatHasGoneSinceIsSaid(t *testing.T) {
	l := odd()
	d := drive(t, l, 0)
	l.err = fault.New(fault.Drift, "read records", "topic action-state was cut meanwhile: partition 0 begins at 5 now").WithHint("read it again")
	d.Press("G")
	ask(t, d, "begins at 5 now")
	l.err = nil
	l.Data.Partitions = slices.Clone(l.Data.Partitions)
	l.Data.Partitions[0].Log.Start = 5
	l.records = l.records[5:]
	d.Press("r")
	ask(t, d, "offsets 5 to 8")
	if strings.Contains(d.Frame(), "cut meanwhile") {
		t.Errorf("the fault stays:\n%s", d.Frame())
	}
}

func TestHostileRecordsAreHarmless(t *testing.T) {
	d := drive(t, odd(), 0)
	viewtest.Harmless(t, d)
	for range 8 {
		d.Press("enter")
		for range 3 {
			viewtest.Harmless(t, d)
			d.Press("x")
		}
		d.Press("esc", "j")
	}
}

func TestStorm(t *testing.T) {
	real := agent(t)
	n := 0
	tuitest.StormWith(t, viewtest.Options(viewtest.Plain()), func() tui.Screen {
		n++
		return records.New(options([]*log{odd(), real, long(900)}[n%3]))
	})
}

// BenchmarkOpenALargeValue is what a value of 10 MiB takes from the key to its
// first rows.
func BenchmarkOpenALargeValue(b *testing.B) {
	value := []byte(strings.Repeat(`{"a":"0123456789abcdef"}`+"\n", 10<<20/25))
	large := topicOf(0, 1, inspect.LogRecord{Key: []byte("large"), Value: value, Timestamp: viewtest.Now, Producer: -1})
	for b.Loop() {
		d := tuitest.New(b, viewtest.Options(viewtest.Plain()), records.New(options(large)), 200, 60)
		d.Send(tuitest.Key(b, "enter"))
		for !strings.Contains(d.Frame(), "0123456789abcdef") {
			d.Next()
		}
	}
}
