package console_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/fluss"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/console"
	"github.com/recoverctl/recoverctl/views/document"
	views "github.com/recoverctl/recoverctl/views/fluss"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

func offset(n int64) *int64 { return &n }

// oneCluster is a cluster with a producer whose rows are to be undone, and one whose
// entry expired.
type oneCluster struct{}

func (oneCluster) all() []fluss.Producer {
	expires, expired := viewtest.Now.Add(20*time.Hour), viewtest.Now.Add(-time.Hour)
	table := []fluss.ProducerTable{{ID: 3, Table: "shop.orders", Buckets: []fluss.ProducerBucket{{Baseline: offset(8), Earliest: offset(0), Latest: offset(10), Undo: offset(2), State: "undo"}}}}
	note := inspect.Finding{Severity: inspect.SeverityInfo, Rule: "older-baseline-stays", Cause: "while the entry is valid, registering again changes nothing", Next: "delete it"}
	return []fluss.Producer{
		{ID: "orders-sink", Found: true, Expires: &expires, Undo: offset(2), TTL: "24h", Cleanup: "1h", Verdict: fluss.Safe, Tables: table, Findings: []inspect.Finding{note}},
		{ID: "refunds-sink", Found: true, Expires: &expired, Expired: true, Undo: offset(2), TTL: "24h", Cleanup: "1h", Verdict: fluss.NotSafe, Tables: table, Findings: []inspect.Finding{note}},
	}
}

func (c oneCluster) Producers(context.Context) ([]fluss.Producer, []error, error) {
	return c.all(), nil, nil
}

func (c oneCluster) Producer(_ context.Context, id string) (fluss.Producer, []error, error) {
	all := c.all()
	if i := slices.IndexFunc(all, func(p fluss.Producer) bool { return p.ID == id }); i >= 0 {
		return all[i], nil, nil
	}
	return fluss.Producer{ID: id, Verdict: fluss.UnknownSafety}, nil, nil
}

func (oneCluster) Buckets(context.Context) (fluss.Buckets, []error, error) {
	b := fluss.Buckets{Table: "shop.orders", ID: 3, Created: viewtest.Now.Add(-72 * time.Hour), TTL: "7d"}
	for n := range int32(64) {
		b.Buckets = append(b.Buckets, fluss.Bucket{Bucket: n, Earliest: offset(0), Local: offset(0), Latest: offset(10)})
	}
	return b, nil, nil
}

// noDocuments makes no plan, and says why.
type noDocuments struct{ document.Source }

func (noDocuments) Make(context.Context, inspect.Job) (document.Made, error) {
	return document.Made{}, fault.New(fault.Unreachable, "make a plan", "the coordinator does not answer").WithHint("start it")
}

func (noDocuments) Busy() string { return "" }

// openFluss is a console of a job on Fluss.
func openFluss(th theme.Theme) (tui.Options, func() tui.Screen) {
	o, newRoot := open(th)
	source, jobs := profile()
	cluster := console.Fluss{Job: "order-agent", Options: views.Options{
		Theme: th, Now: viewtest.Clock, Job: "order-agent", Table: "shop.orders", Sink: "shop.orders", Source: oneCluster{},
		Plan: func(id string, register bool) tui.Screen {
			words := document.Words{Plan: "producer-delete plan", Action: "Delete offsets", Making: "reading the entry of producer " + id, Column: "ENTRY"}
			return document.New(document.Options{Theme: th, Words: words, Source: noDocuments{}})
		},
	}}
	_, o.Commands = console.New(console.Options{Theme: th, Now: viewtest.Clock, Jobs: jobs, Source: source, Connections: list, Fluss: []console.Fluss{cluster}})
	return o, newRoot
}

// letters are keys that type a line into the palette and run it.
func letters(line string) []string {
	keys := []string{":"}
	for _, r := range line {
		if r == ' ' {
			keys = append(keys, "space")
		} else {
			keys = append(keys, string(r))
		}
	}
	return append(keys, "enter")
}

// flussWalks lead to every screen of a Fluss cluster, in every way that there is.
var flussWalks = map[string][]string{
	"order-agent producers":               letters("producers"),
	"order-agent producers, from a job":   append([]string{"enter"}, letters("producers")...),
	"producer orders-sink":                append(letters("producers"), "enter"),
	"producer refunds-sink":               append(letters("producers"), "j", "enter"),
	"producer nobody":                     letters("producer nobody"),
	"buckets of shop.orders":              letters("buckets"),
	"buckets of shop.orders, from a list": append(letters("producers"), "B"),
	"buckets of shop.orders, from one":    append(letters("producer orders-sink"), "B"),
	"producer-delete plan":                append(letters("producer orders-sink"), "p"),
}

// The screens of a Fluss cluster keep the rules of all the others.
func TestTheKeysOfFlussScreens(t *testing.T) {
	for name, walk := range flussWalks {
		o, root := openFluss(viewtest.Plain())
		d := tuitest.New(t, o, root(), 100, 30)
		d.Press(walk...)
		want, _, _ := strings.Cut(name, ",")
		if got := d.Top().Crumb(); got != want {
			t.Fatalf("%s leads to %q:\n%s", name, got, d.Frame())
		}
	}
	noKeyIsDead(t, openFluss, flussWalks)
	keysMeanTheSame(t, openFluss, flussWalks)
	inASCII(t, openFluss, flussWalks)
	inTheSmallestTerminal(t, openFluss, flussWalks)
}

// From every screen of a Fluss cluster the palette leads to the others, and to those
// of the job.
func TestCommandsLeadFromFlussScreens(t *testing.T) {
	for name, walk := range flussWalks {
		for line, crumb := range map[string]string{
			"producers": "order-agent producers", "producer refunds-sink": "producer refunds-sink", "buckets": "buckets of shop.orders", "connections": "connections", "job order-agent": "order-agent",
		} {
			o, root := openFluss(viewtest.Plain())
			d := tuitest.New(t, o, root(), 120, 40)
			d.Press(walk...)
			if d.Top().Crumb() == crumb {
				continue
			}
			d.Press(letters(line)...)
			if got := d.Top().Crumb(); got != crumb {
				t.Errorf("from %s %q leads to %q:\n%s", name, line, got, d.Frame())
			}
		}
	}
}

func TestStormOfFlussScreens(t *testing.T) {
	o, root := openFluss(viewtest.Plain())
	tuitest.StormWith(t, o, root)
}
