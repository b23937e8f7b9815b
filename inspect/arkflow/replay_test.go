package arkflow_test

import (
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/arkhub"
)

// The log of a real Kafka source: its entries from 11 on are of partition 2 (offset
// 4), 0 (3), 1 (3), 0 (4), 1 (4), 2 (5), 1 (5) and 0 (5) of the topic payments.
func TestTheCostOfAReplay(t *testing.T) {
	payments, other := "payments", "orders"
	at := func(topic *string, offsets ...uint64) *arkflow.Point {
		p := &arkflow.Point{ID: "savepoint-1-2"}
		for partition, offset := range offsets {
			p.Positions = append(p.Positions, arkflow.SourcePosition{Topic: topic, Partition: uint64(partition), Offset: offset})
		}
		return p
	}
	for name, tt := range map[string]struct {
		point      *arkflow.Point
		covered    uint64
		left       arkflow.Span
		says       string
		notExposed bool
	}{
		"up to the first that is beyond":      {at(&payments, 5, 4, 5), 4, arkflow.Span{From: 15, To: 18}, "8 entries raw, 4 entries beyond the source positions of savepoint-1-2", false},
		"one later entry that lies below":     {at(&payments, 3, 9, 9), 1, arkflow.Span{From: 12, To: 18}, "7 entries beyond", false},
		"none of them":                        {at(&payments, 0, 0, 0), 0, arkflow.Span{From: 11, To: 18}, "8 entries beyond", false},
		"all of them":                         {at(&payments, 6, 6, 6), 8, arkflow.Span{}, "8 entries raw, none beyond", false},
		"positions that name no topic":        {at(nil, 5, 4, 5), 4, arkflow.Span{From: 15, To: 18}, "4 entries beyond", false},
		"a partition without a position":      {at(&payments, 5, 4), 0, arkflow.Span{}, "the point has no position of it", true},
		"positions of another topic":          {at(&other, 5, 4, 5), 0, arkflow.Span{}, "the point has no position of it", true},
		"no positions":                        {at(nil), 0, arkflow.Span{}, "savepoint-1-2 holds no source positions", true},
		"no point":                            {nil, 0, arkflow.Span{}, "no recovery point is restored", true},
		"a partition that comes later on":     {at(&payments, 9, 9), 0, arkflow.Span{}, "the point has no position of it", true},
		"a run that ends at what is not said": {&arkflow.Point{ID: "savepoint-1-2", Positions: append(at(&payments, 9).Positions, arkflow.SourcePosition{Topic: &payments, Partition: 2, Offset: 9})}, 2, arkflow.Span{From: 13, To: 18}, "behind them an entry is of partition 1", false},
	} {
		l, err := logReader().Read(t.Context(), localFixtures+"wal-local/kafka-meta", arkflow.Question{})
		if err != nil {
			t.Fatal(err)
		}
		c := logReader().ReplayCost(t.Context(), l, tt.point, arkhub.GenerationUpgrades)
		if c.Raw == nil || c.Raw.Entries != 8 || !strings.Contains(c.Sentence, tt.says) {
			t.Errorf("%s: %+v", name, c)
		}
		switch {
		case tt.notExposed:
			if c.Covered != nil || c.Reconciled != nil || !strings.HasPrefix(c.Sentence, "not exposed: ") {
				t.Errorf("%s: %+v", name, c)
			}
		case c.Covered == nil || *c.Covered != tt.covered:
			t.Errorf("%s: %+v", name, c)
		case tt.left == arkflow.Span{}:
			if c.Reconciled != nil {
				t.Errorf("%s: %+v", name, *c.Reconciled)
			}
		case c.Reconciled == nil || c.Reconciled.From != tt.left.From || c.Reconciled.To != tt.left.To || c.Reconciled.Entries != tt.left.Len():
			t.Errorf("%s: %+v", name, c.Reconciled)
		case *c.Reconciled.Bytes > *c.Raw.Bytes || (*c.Reconciled.Bytes == *c.Raw.Bytes) != (tt.covered == 0):
			t.Errorf("%s: %d bytes of %d", name, *c.Reconciled.Bytes, *c.Raw.Bytes)
		}
	}
	l, err := logReader().Read(t.Context(), localFixtures+"wal-local/kafka-meta", arkflow.Question{})
	if err != nil {
		t.Fatal(err)
	}
	if c := logReader().ReplayCost(t.Context(), l, at(&payments, 5, 4, 5), arkhub.GenerationJobs); *c.Reconciles || !strings.Contains(c.Sentence, "the raw window is sent again") {
		t.Errorf("an engine that does not reconcile: %+v", c)
	}
	l, err = logReader().Read(t.Context(), localFixtures+"wal-local/clean-pending", arkflow.Question{})
	if err != nil {
		t.Fatal(err)
	}
	if c := logReader().ReplayCost(t.Context(), l, at(&payments, 5, 4, 5), arkhub.GenerationUpgrades); c.Covered != nil || !strings.Contains(c.Sentence, "the entries hold no source offsets") {
		t.Errorf("entries of a source without offsets: %+v", c)
	}
	l, err = logReader().Read(t.Context(), localFixtures+"wal-local/clean-acked", arkflow.Question{})
	if err != nil {
		t.Fatal(err)
	}
	if c := logReader().ReplayCost(t.Context(), l, nil, arkhub.GenerationUpgrades); c.Raw != nil || !strings.Contains(c.Sentence, "nothing is sent again") {
		t.Errorf("nothing in the window: %+v", c)
	}
}

// A job's answer has the cost of its start, and says why where it has none.
func TestAJobSaysWhatItsStartSendsAgain(t *testing.T) {
	w := newWorld(t, arkhub.GenerationUpgrades)
	w.run(w.spec(1, 1), 70)
	if d := w.job(); d.Points.Replay == nil || !strings.Contains(d.Points.Replay.Sentence, "no write-ahead log was named") {
		t.Errorf("%+v", d.Points.Replay)
	}
	w.read = w.read.WithLog(logReader(), localFixtures+"wal-local/kafka-meta", nil)
	if d := w.job(); d.Points.Replay == nil || d.Points.Replay.Raw == nil || d.Points.Replay.Point == "" || d.Points.Replay.Point != d.Points.Selection.ID {
		t.Errorf("%+v of %+v", d.Points.Replay, d.Points.Selection)
	}
}
