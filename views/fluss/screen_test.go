package fluss_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/fluss"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	views "github.com/recoverctl/recoverctl/views/fluss"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func n(v int64) *int64 { return &v }

func after(d time.Duration) *time.Time {
	at := viewtest.Now.Add(d)
	return &at
}

// cluster is what a cluster says.
type cluster struct {
	list    []fluss.Producer
	buckets fluss.Buckets
	faults  []error
	err     error
}

func (c cluster) Producers(context.Context) ([]fluss.Producer, []error, error) {
	return c.list, c.faults, c.err
}

func (c cluster) Producer(_ context.Context, id string) (fluss.Producer, []error, error) {
	for _, p := range c.list {
		if p.ID == id {
			return p, c.faults, c.err
		}
	}
	return fluss.Producer{ID: id, Verdict: fluss.UnknownSafety, TTL: "24h", Cleanup: "1h"}, c.faults, c.err
}

func (c cluster) Buckets(context.Context) (fluss.Buckets, []error, error) {
	return c.buckets, c.faults, c.err
}

// night is a cluster with a producer of each sort.
func night() cluster {
	return cluster{
		list: []fluss.Producer{
			{ID: "orders-sink", Found: true, Expires: after(20 * time.Hour), Undo: n(2), TTL: "24h", Cleanup: "1h", Verdict: fluss.Safe, Findings: []inspect.Finding{
				{Severity: inspect.SeverityInfo, Rule: "older-baseline-stays", Cause: "while the entry is valid, registering again changes nothing"}},
				Tables: []fluss.ProducerTable{{ID: 3, Table: "shop.orders", Buckets: []fluss.ProducerBucket{
					{Bucket: 0, Baseline: n(1_000_008), Earliest: n(0), Latest: n(1_000_010), Undo: n(2), State: "undo"},
					{Bucket: 1, Baseline: n(4), Earliest: n(0), Latest: n(4), Undo: n(0), State: "nothing"}}}}},
			{ID: "refunds-sink", Found: true, Expires: after(-2 * time.Hour), Expired: true, TTL: "24h", Cleanup: "1h", Verdict: fluss.NotSafe, Findings: []inspect.Finding{
				{Severity: inspect.SeverityError, Rule: "entry-expired", Cause: "the entry expired, 2h ago", Next: "settle the rows since then by hand"}}},
			{ID: "wedged-sink", Found: true, TTL: "24h", Cleanup: "1h", Verdict: fluss.NotSafe, Findings: []inspect.Finding{
				{Severity: inspect.SeverityError, Rule: "offsets-file-missing", Cause: "an entry is there and its offsets can't be read", Next: "without an authorizer a delete frees the id"}}},
			{ID: "stock-sink", Found: true, Expires: after(30 * time.Minute), Verdict: fluss.UnknownSafety, Findings: []inspect.Finding{
				{Severity: inspect.SeverityWarning, Rule: "entry-expires-soon", Cause: "the entry expires in 30m", Next: "restart before that"}},
				Tables: []fluss.ProducerTable{{ID: 4, Table: "shop.stock", Buckets: []fluss.ProducerBucket{{Bucket: 0, Baseline: n(7), State: "unknown", Problem: "no leader"}}}}},
		},
		buckets: fluss.Buckets{Table: "shop.orders", ID: 3, Created: viewtest.Now.Add(-72 * time.Hour), TTL: "7d", Buckets: []fluss.Bucket{
			{Bucket: 0, Leader: 1, Earliest: n(0), Local: n(990_000), Latest: n(1_000_010), Oldest: after(-70 * time.Hour), Newest: after(-time.Minute)},
			{Bucket: 1, Leader: -1, Problem: "nobody leads the bucket"}},
			Findings: []inspect.Finding{{Severity: inspect.SeverityError, Rule: "buckets-without-leader", Cause: "bucket 1 has no leader", Next: "start server 0"}}},
	}
}

func options(c cluster) views.Options {
	return views.Options{Theme: viewtest.Plain(), Now: func() time.Time { return viewtest.Now }, Job: "orders", Table: "shop.orders", Sink: "shop.orders", Source: c}
}

func list(c cluster) func() tui.Screen {
	return func() tui.Screen { return views.NewProducers(options(c)) }
}

func TestFrames(t *testing.T) {
	away := cluster{err: fault.New(fault.NotFound, "list producers", "the folder file:///remote/producers is not there, or not seen from here").WithHint("path-mappings of the profile say where")}
	partly := night()
	partly.faults = []error{fault.New(fault.Unreachable, "describe settings", "the coordinator does not answer").WithHint("ask again")}
	viewtest.Goldens(t, map[string]viewtest.Case{
		"reading":    {Screen: list(night()), Busy: true},
		"producers":  {Screen: list(night())},
		"nobody":     {Screen: list(cluster{})},
		"away":       {Screen: list(away)},
		"partly":     {Screen: list(partly)},
		"safe":       {Screen: list(night()), Keys: []string{"enter"}},
		"expired":    {Screen: list(night()), Keys: []string{"j", "enter"}},
		"unreadable": {Screen: list(night()), Keys: []string{"j", "j", "enter"}},
		"soon":       {Screen: list(night()), Keys: []string{"G", "enter"}},
		"none":       {Screen: func() tui.Screen { return views.NewProducer(options(cluster{}), "new-sink") }},
		"buckets":    {Screen: list(night()), Keys: []string{"B"}},
	})
}

// An entry says what the next start does before anything else, and p leads to the
// plan that fits it: one that deletes a valid entry, one that registers where none
// is valid.
func TestThePlanFitsTheEntry(t *testing.T) {
	for id, register := range map[string]bool{"orders-sink": false, "refunds-sink": true, "wedged-sink": false, "new-sink": true} {
		o := options(night())
		asked := 0
		o.Plan = func(of string, is bool) tui.Screen {
			asked++
			if of != id || is != register {
				t.Errorf("a plan for %s, register %v; want %s, %v", of, is, id, register)
			}
			return views.NewBuckets(o)
		}
		d := tuitest.New(t, viewtest.Options(viewtest.Plain()), views.NewProducer(o, id), 100, 30)
		if frame := d.Frame(); !strings.Contains(frame, "A start without a checkpoint") {
			t.Errorf("%s does not say what a start does:\n%s", id, frame)
		}
		d.Press("p")
		if asked != 1 {
			t.Errorf("%s: %d plans", id, asked)
		}
	}
}
