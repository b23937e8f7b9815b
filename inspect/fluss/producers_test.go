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

// Every line of the table that says what decides whether a sink can be restarted.
func TestWhetherAProducerCanBeRestarted(t *testing.T) {
	const id = "job-1"
	at := func(log flussrpc.Log, offsets ...int64) (out []flussrpc.ProducerOffset) {
		for b, o := range offsets {
			out = append(out, flussrpc.ProducerOffset{Log: log, Bucket: int32(b), Offset: o})
		}
		return out
	}
	for name, c := range map[string]struct {
		offsets  func(log flussrpc.Log) []flussrpc.ProducerOffset
		happens  func(*flusstest.Cluster, flussrpc.Log)
		later    time.Duration
		settings map[string]string
		verdict  fluss.Safety
		finding  string
		undo     int64 // -1: not known
	}{
		"rows to be undone":           {offsets: func(l flussrpc.Log) []flussrpc.ProducerOffset { return at(l, 2, 6) }, verdict: fluss.Safe, undo: 4},
		"nothing to be undone":        {offsets: func(l flussrpc.Log) []flussrpc.ProducerOffset { return at(l, 6, 6) }, verdict: fluss.Safe, undo: 0},
		"its rows have expired":       {offsets: func(l flussrpc.Log) []flussrpc.ProducerOffset { return at(l, 2, 6) }, happens: func(c *flusstest.Cluster, l flussrpc.Log) { c.Trim(l, 0, 3) }, verdict: fluss.NotSafe, finding: "baseline-expired", undo: -1},
		"its log went back":           {offsets: func(l flussrpc.Log) []flussrpc.ProducerOffset { return at(l, 2, 7) }, verdict: fluss.NotSafe, finding: "baseline-beyond-log", undo: -1},
		"an offset that is none":      {offsets: func(l flussrpc.Log) []flussrpc.ProducerOffset { return at(l, -5, 6) }, verdict: fluss.NotSafe, finding: "baseline-negative", undo: -1},
		"its table was dropped":       {offsets: func(l flussrpc.Log) []flussrpc.ProducerOffset { return at(l, 2, 6) }, happens: func(c *flusstest.Cluster, l flussrpc.Log) { c.DropTable(l.Table) }, verdict: fluss.NotSafe, finding: "table-gone", undo: -1},
		"a bucket has no leader":      {offsets: func(l flussrpc.Log) []flussrpc.ProducerOffset { return at(l, 2, 6) }, happens: func(c *flusstest.Cluster, _ flussrpc.Log) { c.KillTablet(1) }, verdict: fluss.UnknownSafety, finding: "bucket-unreadable", undo: -1},
		"a bucket is not named":       {offsets: func(l flussrpc.Log) []flussrpc.ProducerOffset { return at(l, 2) }, verdict: fluss.UnknownSafety, finding: "buckets-missing", undo: 4},
		"it names no table":           {offsets: func(flussrpc.Log) []flussrpc.ProducerOffset { return nil }, verdict: fluss.UnknownSafety, finding: "no-tables", undo: 0},
		"it has expired":              {offsets: func(l flussrpc.Log) []flussrpc.ProducerOffset { return at(l, 2, 6) }, later: 25 * time.Hour, verdict: fluss.NotSafe, finding: "entry-expired", undo: 4},
		"it expires soon":             {offsets: func(l flussrpc.Log) []flussrpc.ProducerOffset { return at(l, 2, 6) }, later: 23*time.Hour + 30*time.Minute, verdict: fluss.UnknownSafety, finding: "entry-expires-soon", undo: 4},
		"its file is gone":            {offsets: func(l flussrpc.Log) []flussrpc.ProducerOffset { return at(l, 2, 6) }, happens: func(c *flusstest.Cluster, _ flussrpc.Log) { c.LoseOffsetFiles(id) }, verdict: fluss.NotSafe, finding: "offsets-file-missing", undo: -1},
		"its files are going to be":   {offsets: func(l flussrpc.Log) []flussrpc.ProducerOffset { return at(l, 2, 6) }, settings: map[string]string{"remote.data.dir": "/data/remote"}, verdict: fluss.Safe, finding: "remote-dir-without-scheme", undo: 4},
		"a partition that has a name": {verdict: fluss.Safe, undo: 2, offsets: func(flussrpc.Log) []flussrpc.ProducerOffset { return at(flussrpc.Log{Table: 1, Partition: 0}, 1) }},
		"a partition that expired":    {verdict: fluss.NotSafe, finding: "partition-gone", undo: -1, offsets: func(flussrpc.Log) []flussrpc.ProducerOffset { return at(flussrpc.Log{Table: 1, Partition: 9}, 1) }},
	} {
		t.Run(name, func(t *testing.T) {
			now := clock.NewFake(time.UnixMilli(1_800_000_000_000))
			cluster := started(t, flusstest.Options{Tablets: 2, Settings: c.settings, Now: now.Now})
			log := table(t, cluster, 2)
			for n := range 12 {
				pending(t, cluster, log, int32(n%2), "k")
			}
			daily, err := cluster.CreateTable(flusstest.Spec{Path: flussrpc.TablePath{Database: "agents", Table: "daily"}, Partition: "dt", Columns: []flusstest.Column{{Name: "dt", Type: "STRING"}}})
			if err != nil {
				t.Fatal(err)
			}
			day := flussrpc.Log{Table: daily, Partition: cluster.CreatePartition(daily, "2026-11-01")}
			if _, err := cluster.Append(day, 0, 1, []any{"2026-11-01"}, []any{"2026-11-01"}, []any{"2026-11-01"}); err != nil {
				t.Fatal(err)
			}
			cl := client(t, cluster)
			if _, err := write.RegisterProducer(t.Context(), cl, id, c.offsets(log), 0); err != nil {
				t.Fatal(err)
			}
			if c.happens != nil {
				c.happens(cluster, log)
			}
			now.Advance(c.later)
			got, _, err := fluss.New(cl, now, nil).Producer(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			var rules []string
			for _, f := range got.Findings {
				rules = append(rules, f.Rule)
				if f.Next == "" || f.Cause == "" {
					t.Errorf("%+v", f)
				}
			}
			undo := int64(-1)
			if got.Undo != nil {
				undo = *got.Undo
			}
			if got.Verdict != c.verdict || c.finding != "" && !slices.Contains(rules, c.finding) || undo != c.undo || !got.Found {
				t.Errorf("%s, %q, undo %d\n%+v", got.Verdict, rules, undo, got.Tables)
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
