package wal_test

import (
	"context"
	"encoding/base64"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/viewtest"
	"github.com/recoverctl/recoverctl/views/wal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Logs that real engines wrote.
const (
	files   = "../../internal/redbfile/testdata/wal-local/"
	buckets = "../../inspect/arkflow/testdata/wal-s3/"
)

var night = time.Date(2026, time.November, 30, 3, 0, 0, 0, time.UTC)

// real reads a log of a real engine. Times of this machine's files are left out.
type real struct {
	logs  *arkflow.Logs
	place string
}

func of(place string) real {
	return real{arkflow.NewLogs(arkflow.Options{Clock: clock.NewFake(night)}), place}
}

func (r real) Read(ctx context.Context) (arkflow.WriteAheadLog, error) {
	l, err := r.logs.Read(ctx, r.place, arkflow.Question{})
	if l.Manifest != nil {
		l.Manifest.Modified = night.Add(-time.Minute)
	}
	return l, err
}

func (r real) Lines(ctx context.Context, l arkflow.WriteAheadLog, from uint64, limit int) ([]arkflow.Line, bool, error) {
	return r.logs.Lines(ctx, l, from, limit)
}

func (r real) Open(ctx context.Context, l arkflow.WriteAheadLog, n uint64) (arkflow.Opened, error) {
	return r.logs.Open(ctx, l, n)
}

// made is a log of any size that nobody wrote.
type made struct {
	log    arkflow.WriteAheadLog
	err    error
	broken error // of the entries
	text   string
	reads  atomic.Int64
	most   atomic.Int64
}

func (m *made) Read(context.Context) (arkflow.WriteAheadLog, error) { return m.log, m.err }

func (m *made) Lines(_ context.Context, l arkflow.WriteAheadLog, from uint64, limit int) (lines []arkflow.Line, more bool, err error) {
	m.reads.Add(1)
	m.most.Store(max(m.most.Load(), int64(limit)))
	for _, run := range l.Runs {
		for n := max(from, run.From); n <= run.To; n++ {
			if len(lines) == limit {
				return lines, true, m.broken
			}
			lines = append(lines, arkflow.Line{Sequence: n, Bytes: 535, Rows: 1, Input: "http-orders" + m.text})
		}
	}
	return lines, false, m.broken
}

func (m *made) Open(_ context.Context, _ arkflow.WriteAheadLog, n uint64) (arkflow.Opened, error) {
	if m.err != nil {
		return arkflow.Opened{}, m.err
	}
	return arkflow.Opened{
		Line: arkflow.Line{Sequence: n, Input: m.text, Problem: m.text}, Payload: []byte("payload" + m.text),
		Batch: arkflow.Batch{Columns: []arkflow.Column{{Name: m.text}}, Rows: [][]any{{m.text}}, Count: 1},
	}, nil
}

func ptr(n uint64) *uint64 { return &n }

// million is a log of millions of entries with a gap.
func million() *made {
	return &made{log: arkflow.WriteAheadLog{
		Place: "s3://logs/wal/node-a/orders-eu", Backend: arkflow.ObjectStore, Stable: true, Read: arkflow.ReadAll,
		Cursor: ptr(4_999_990), Tail: ptr(8_000_000), Count: ptr(7_999_000), First: ptr(1),
		Window: &arkflow.Window{From: 4_999_991, To: 8_000_000, Entries: 2_999_010},
		Gaps:   []arkflow.Span{{From: 6_000_001, To: 6_001_000}},
		Runs:   []arkflow.Span{{From: 1, To: 6_000_000}, {From: 6_001_001, To: 8_000_000}},
		Problems: []arkflow.Problem{{Code: arkflow.ProblemGap, Severity: inspect.SeverityError, Sequence: ptr(6_000_001),
			Message: "sequences 6,000,001 to 6,001,000 (1,000) are not in the log", Next: "Delete nothing."}},
	}}
}

func screen(s wal.Source) func() tui.Screen {
	return func() tui.Screen {
		return wal.New(wal.Options{Theme: viewtest.Plain(), Now: func() time.Time { return viewtest.Now }, Name: "orders-eu", Source: s})
	}
}

func drive(t *testing.T, s wal.Source) *tuitest.Driver {
	t.Helper()
	return tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(s)(), 100, 30)
}

func ask(t *testing.T, d *tuitest.Driver, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(d.Frame(), w) {
			t.Errorf("%q is not in\n%s", w, d.Frame())
		}
	}
}

func TestFrames(t *testing.T) {
	unstable := million()
	unstable.log = arkflow.WriteAheadLog{Problems: []arkflow.Problem{{Code: arkflow.ProblemUnstable, Severity: inspect.SeverityError,
		Message: "the file changed under each of 5 tries to read it: a writer is at work, and no cursor is given", Next: "Try again, or stop the stream first."}}}
	absent := &made{err: fault.New(fault.NotFound, "read write-ahead log", "there is nothing at /data/wal.redb").WithHint("look at durability.path of the stream")}
	failing := million()
	failing.broken = fault.New(fault.Unreachable, "read object store", "the store does not answer").WithHint("try again")
	viewtest.Goldens(t, map[string]viewtest.Case{
		"reading":    {Screen: screen(of(files + "clean-pending")), Busy: true},
		"pending":    {Screen: screen(of(files + "clean-pending"))},
		"clean":      {Screen: screen(of(files + "clean-acked"))},
		"high-water": {Screen: screen(of(files + "skipped-record")), Keys: []string{"p"}},
		"damaged":    {Screen: screen(of(files + "bad-entry-clean"))},
		"rolled":     {Screen: screen(of(files + "bad-table-tree-unclean")), Keys: []string{"p"}},
		"empty":      {Screen: screen(of(files + "empty-unclean"))},
		"gap":        {Screen: screen(of(buckets + "s3-bad-middle/bucket"))},
		"segments":   {Screen: screen(of(buckets + "s3-bad-middle/bucket")), Keys: []string{"p"}},
		"rows":       {Screen: screen(of(files + "kafka-meta")), Keys: []string{"enter"}},
		"json":       {Screen: screen(of(files + "kafka-meta")), Keys: []string{"enter", "x"}},
		"hex":        {Screen: screen(of(files + "kafka-meta")), Keys: []string{"enter", "x", "x"}},
		"large":      {Screen: screen(million()), Keys: []string{"m"}},
		"unstable":   {Screen: screen(unstable)},
		"absent":     {Screen: screen(absent)},
		"failing":    {Screen: screen(failing)},
	})
}

// Millions of entries take no more reads and no more memory than what is looked at.
func TestOnlyWhatIsLookedAtIsRead(t *testing.T) {
	m := million()
	d := drive(t, m)
	ask(t, d, "▸", "4,999,991", "pending")
	d.Press("G")
	ask(t, d, "8,000,000")
	d.Press("g")
	ask(t, d, "acknowledged")
	d.Press("m")
	ask(t, d, "1,000 sequences not in the log")
	d.Press("J")
	d.Type("7,777,777")
	d.Press("enter")
	ask(t, d, "7,777,777", "http-orders")
	if n, most := m.reads.Load(), m.most.Load(); n > 12 || most > 200 {
		t.Errorf("%d reads of up to %d entries", n, most)
	}
	d.Press("/")
	d.Type("missing")
	d.Press("enter")
	ask(t, d, "6,000,001")
}

// A failed read of entries is told once, and r asks again.
func TestEntriesThatCantBeRead(t *testing.T) {
	m := million()
	m.broken = fault.New(fault.Unreachable, "read object store", "the store does not answer")
	d := drive(t, m)
	ask(t, d, "the store does not answer")
	n := m.reads.Load()
	d.Press("j", "j", "j")
	if m.reads.Load() != n {
		t.Error("it was asked again for each key")
	}
	m.broken = nil
	d.Press("r")
	ask(t, d, "http-orders")
}

// Keys that can't act say why.
func TestKeysThatAreOff(t *testing.T) {
	d := drive(t, of(files+"clean-acked"))
	d.Press("C")
	ask(t, d, "a start replays nothing")
	d.Press("m")
	ask(t, d, "the replay window has no gap")
	d = drive(t, of(files+"bad-slots-both"))
	d.Press("enter")
	ask(t, d, "no entry is selected")
}

// An entry's rows are copied as JSON; a gap opens nothing.
func TestCopyingAnEntry(t *testing.T) {
	d := drive(t, of(files+"kafka-meta"))
	d.Press("enter", "y")
	text, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(strings.TrimPrefix(d.Clipboard(), "\x1b]52;c;"), "\a"))
	if err != nil || !strings.Contains(string(text), `"topic": "payments"`) {
		t.Errorf("%q, %v", text, err)
	}
	d = drive(t, million())
	d.Press("m", "enter")
	ask(t, d, "no entry is selected")
}

// Nothing of a log can steer the terminal.
func TestHostileLogs(t *testing.T) {
	m := million()
	m.text = viewtest.Hostile
	m.log.Place, m.log.Node, m.log.Stream = viewtest.Hostile, viewtest.Hostile, viewtest.Hostile
	m.log.Problems[0].Message = viewtest.Hostile
	m.log.Segments = []arkflow.Segment{{Name: viewtest.Hostile}}
	for _, keys := range [][]string{nil, {"p"}, {"enter"}, {"enter", "x"}} {
		d := drive(t, m)
		d.Press(keys...)
		viewtest.Harmless(t, d)
	}
}

// Among fewer entries, since the keys filter them over and over.
func TestStorm(t *testing.T) {
	m := million()
	m.log.Cursor, m.log.Tail, m.log.Count = ptr(19_990), ptr(30_000), ptr(29_000)
	m.log.Window = &arkflow.Window{From: 19_991, To: 30_000, Entries: 9_010}
	m.log.Gaps = []arkflow.Span{{From: 20_001, To: 21_000}}
	m.log.Runs = []arkflow.Span{{From: 1, To: 20_000}, {From: 21_001, To: 30_000}}
	tuitest.Storm(t, screen(m))
}

func BenchmarkAKeyAmongMillions(b *testing.B) {
	m := million()
	d := tuitest.New(b, viewtest.Options(viewtest.Plain()), screen(m)(), 200, 60)
	b.ResetTimer()
	for i := range b.N {
		d.Press([]string{"j", "pgdown", "G", "g"}[i%4])
	}
	if !strings.Contains(d.Frame(), "SEQUENCE") {
		b.Error(d.Frame())
	}
}
