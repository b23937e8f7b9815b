package fluss_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect/fluss"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/flussrpc/write"
	"github.com/recoverctl/recoverctl/internal/testkit/flusstest"
)

// entryCase is an entry of a producer, and what happened since.
type entryCase struct {
	offsets  func(log flussrpc.Log) []flussrpc.ProducerOffset
	happens  func(*testing.T, *flusstest.Cluster, flussrpc.Log)
	later    time.Duration
	settings map[string]string
	verdict  fluss.Safety
	finding  string
	also     string // a second one
	undo     int64  // -1: not known
}

const entryID = "job-1"

// from are offsets of the buckets 0, 1, … of the table.
func from(offsets ...int64) func(flussrpc.Log) []flussrpc.ProducerOffset {
	return func(log flussrpc.Log) (out []flussrpc.ProducerOffset) {
		for b, o := range offsets {
			out = append(out, flussrpc.ProducerOffset{Log: log, Bucket: int32(b), Offset: o})
		}
		return out
	}
}

// daily is a partition of the other table.
func daily(partition, offset int64) func(flussrpc.Log) []flussrpc.ProducerOffset {
	return func(flussrpc.Log) []flussrpc.ProducerOffset {
		return from(offset)(flussrpc.Log{Table: 1, Partition: partition})
	}
}

// judged makes a table with six rows in each of two buckets, and one with a
// partition of three rows, registers the entry, lets happen what happens and asks.
func (c entryCase) judged(t *testing.T) fluss.Producer {
	t.Helper()
	now := clock.NewFake(time.UnixMilli(1_800_000_000_000))
	cluster := started(t, flusstest.Options{Tablets: 2, Settings: c.settings, Now: now.Now})
	log := table(t, cluster, 2)
	for n := range 12 {
		pending(t, cluster, log, int32(n%2), "k")
	}
	other, err := cluster.CreateTable(flusstest.Spec{Path: flussrpc.TablePath{Database: "agents", Table: "daily"}, Partition: "dt", Columns: []flusstest.Column{{Name: "dt", Type: "STRING"}}})
	if err != nil {
		t.Fatal(err)
	}
	day := flussrpc.Log{Table: other, Partition: cluster.CreatePartition(other, "2026-11-01")}
	if _, err := cluster.Append(day, 0, 1, []any{"2026-11-01"}, []any{"2026-11-01"}, []any{"2026-11-01"}); err != nil {
		t.Fatal(err)
	}
	cl := client(t, cluster)
	if c.offsets != nil {
		if _, err := write.RegisterProducer(t.Context(), cl, entryID, c.offsets(log), 0); err != nil {
			t.Fatal(err)
		}
	}
	if c.happens != nil {
		c.happens(t, cluster, log)
	}
	now.Advance(c.later)
	got, _, err := fluss.New(cl, now, nil).Producer(t.Context(), entryID)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range got.Findings {
		if f.Next == "" || f.Cause == "" {
			t.Errorf("%+v", f)
		}
	}
	return got
}

// Every line of the table that says what decides whether a sink can be restarted,
// where it holds.
func TestWhetherAProducerCanBeRestarted(t *testing.T) {
	trim := func(_ *testing.T, c *flusstest.Cluster, l flussrpc.Log) { c.Trim(l, 0, 3) }
	drop := func(_ *testing.T, c *flusstest.Cluster, l flussrpc.Log) { c.DropTable(l.Table) }
	for name, c := range map[string]entryCase{
		"nothing is stored":      {verdict: fluss.UnknownSafety, finding: "no-entry", undo: -1},
		"rows to be undone":      {offsets: from(2, 6), verdict: fluss.Safe, undo: 4},
		"nothing to be undone":   {offsets: from(6, 6), verdict: fluss.Safe, undo: 0},
		"its rows have expired":  {offsets: from(2, 6), happens: trim, verdict: fluss.NotSafe, finding: "baseline-expired", undo: -1},
		"its log went back":      {offsets: from(2, 7), verdict: fluss.NotSafe, finding: "baseline-beyond-log", undo: -1},
		"an offset that is none": {offsets: from(-5, 6), verdict: fluss.NotSafe, finding: "baseline-negative", undo: -1},
		"its table was dropped":  {offsets: from(2, 6), happens: drop, verdict: fluss.NotSafe, finding: "table-gone", undo: -1},
		"its table was made again": {offsets: from(2, 6), verdict: fluss.NotSafe, finding: "table-gone", undo: -1, happens: func(t *testing.T, c *flusstest.Cluster, l flussrpc.Log) {
			c.DropTable(l.Table)
			again := table(t, c, 2)
			for n := range 12 {
				pending(t, c, again, int32(n%2), "k")
			}
		}},
		"a bucket has no leader": {offsets: from(2, 6), happens: func(_ *testing.T, c *flusstest.Cluster, _ flussrpc.Log) { c.KillTablet(1) }, verdict: fluss.UnknownSafety, finding: "bucket-unreadable", undo: -1},
		"a bucket is not named":  {offsets: from(2), verdict: fluss.UnknownSafety, finding: "buckets-missing", undo: 10},
		"a bucket that is not named has expired": {offsets: from(2), verdict: fluss.NotSafe, finding: "buckets-missing", also: "baseline-expired", undo: -1, happens: func(_ *testing.T, c *flusstest.Cluster, l flussrpc.Log) {
			c.Trim(l, 1, 3)
		}},
		"a partition is not named": {offsets: daily(0, 1), verdict: fluss.UnknownSafety, finding: "partitions-missing", undo: 4, happens: func(t *testing.T, c *flusstest.Cluster, _ flussrpc.Log) {
			t.Helper()
			next := flussrpc.Log{Table: 1, Partition: c.CreatePartition(1, "2026-11-02")}
			if _, err := c.Append(next, 0, 1, []any{"2026-11-02"}, []any{"2026-11-02"}); err != nil {
				t.Fatal(err)
			}
		}},
		"a partition without rows is not named": {offsets: daily(0, 1), verdict: fluss.Safe, undo: 2, happens: func(_ *testing.T, c *flusstest.Cluster, _ flussrpc.Log) {
			c.CreatePartition(1, "2026-11-02")
		}},
		"it names no table":           {offsets: from(), verdict: fluss.UnknownSafety, finding: "no-tables", undo: -1},
		"it has expired":              {offsets: from(2, 6), later: 25 * time.Hour, verdict: fluss.NotSafe, finding: "entry-expired", undo: 4},
		"it expires soon":             {offsets: from(2, 6), later: 23*time.Hour + 30*time.Minute, verdict: fluss.UnknownSafety, finding: "entry-expires-soon", undo: 4},
		"its file is gone":            {offsets: from(2, 6), happens: func(_ *testing.T, c *flusstest.Cluster, _ flussrpc.Log) { c.LoseOffsetFiles(entryID) }, verdict: fluss.NotSafe, finding: "offsets-file-missing", undo: -1},
		"its files are going to be":   {offsets: from(2, 6), settings: map[string]string{"remote.data.dir": "/data/remote"}, verdict: fluss.Safe, finding: "remote-dir-without-scheme", undo: 4},
		"a partition that has a name": {offsets: daily(0, 1), verdict: fluss.Safe, undo: 2},
		"a partition that expired":    {offsets: daily(9, 1), verdict: fluss.NotSafe, finding: "partition-gone", undo: -1},
		"more rows than an hour is enough for": {offsets: from(2, 6), verdict: fluss.NotSafe, finding: "undo-takes-too-long", undo: 20_000_004, happens: func(_ *testing.T, c *flusstest.Cluster, l flussrpc.Log) {
			c.AppendEmpty(l, 0, 1, 20_000_000)
		}},
		"as many rows as an hour is enough for": {offsets: from(2, 6), verdict: fluss.Safe, undo: 18_000_000, happens: func(_ *testing.T, c *flusstest.Cluster, l flussrpc.Log) {
			c.AppendEmpty(l, 0, 1, 18_000_000-4)
		}},
		"valid for longer than an hour": {offsets: from(2, 6), later: 22 * time.Hour, verdict: fluss.Safe, undo: 4},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.judged(t)
			undo := int64(-1)
			if got.Undo != nil {
				undo = *got.Undo
			}
			if got.Verdict != c.verdict || c.finding != "" && !slices.Contains(rules(got.Findings), c.finding) || undo != c.undo || got.Found != (c.offsets != nil) {
				t.Errorf("%s, %q, undo %d\n%+v", got.Verdict, rules(got.Findings), undo, got.Tables)
			}
			// Beside what holds nothing else is told: whose clock counts is so wherever an
			// entry can be read, and that an older baseline stays while it is valid.
			want := []string{}
			if c.finding != "" {
				want = append(want, c.finding)
			}
			if c.also != "" {
				want = slices.Sorted(slices.Values(append(want, c.also)))
			}
			if got.Found && !got.Broken() {
				want = append(want, "two-clocks")
			}
			if got.Found && !got.Broken() && !got.Expired {
				want = append(want, "older-baseline-stays")
			}
			if !slices.Equal(rules(got.Findings), want) {
				t.Errorf("%q, want %q", rules(got.Findings), want)
			}
		})
	}
}

func TestAProducerThatNobodyKnows(t *testing.T) {
	c := started(t, flusstest.Options{})
	s := storeOf(t, c, nil)
	got, _, err := s.Producer(t.Context(), "nobody")
	if err != nil || got.Found || got.Verdict != fluss.UnknownSafety || got.Findings[0].Rule != "no-entry" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, _, err := s.Producer(t.Context(), "a b"); fault.KindOf(err) != fault.Usage {
		t.Error(err)
	}
	c.KillCoordinator()
	if _, _, err := s.Producer(t.Context(), "nobody"); fault.KindOf(err) != fault.Unreachable || !strings.Contains(err.Error(), "coordinator") {
		t.Error(err)
	}
}
