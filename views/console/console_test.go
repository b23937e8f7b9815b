package console_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flinkkey"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/connections"
	"github.com/recoverctl/recoverctl/views/console"
	"github.com/recoverctl/recoverctl/views/document"
	"github.com/recoverctl/recoverctl/views/firstrun"
	"github.com/recoverctl/recoverctl/views/jobs"
	"github.com/recoverctl/recoverctl/views/records"
	"github.com/recoverctl/recoverctl/views/rollback"
	"github.com/recoverctl/recoverctl/views/scan"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var _ jobs.Source = (*inspect.Inspector)(nil)

func list() []connections.Connection {
	return []connections.Connection{
		{Kind: "kafka", Address: "k1:9092, k2:9092", State: "ok", Tone: theme.OK, Asked: viewtest.Now},
		{Kind: "flink", Address: "http://jobmanager:8081", For: "job order-agent", State: "FAILED", Tone: theme.Error, Asked: viewtest.Now, Err: viewtest.Gone(), ErrAt: viewtest.Now},
		{Kind: "recovery points", Address: viewtest.Checkpoints, For: "job order-agent", State: "ok", Tone: theme.OK},
		{Kind: "recovery points", Address: viewtest.Savepoints, For: "job order-agent", State: "partly read", Tone: theme.Warning},
		{Kind: "path mapping", Address: "file:/data/checkpoints = /mnt/checkpoints", State: "configured"},
	}
}

// profile is two jobs: one that restarts, and one that runs without a control
// topic.
func profile() (*viewtest.Source, []inspect.Job) {
	source, restarting := viewtest.Live(viewtest.Failing()), viewtest.LiveJob()
	log := viewtest.Log()
	log.Control = viewtest.Control(viewtest.Record(4, inspect.StatusApplied, "chk-12", viewtest.Earlier(), 3*time.Hour), viewtest.Committed(7, inspect.StatusCommitted))
	source.Add(restarting.Name, viewtest.Store(), log)
	runs := viewtest.LiveJob()
	runs.Name, runs.ControlTopic = "billing-agent", nil
	source.Add(runs.Name, viewtest.Store(), viewtest.Log())
	source.Connect(runs.Name, viewtest.Flink{State: viewtest.Steady()})
	return source, []inspect.Job{restarting, runs}
}

// openRecords is a topic whose first partition holds a record.
// noRollbacks makes no plan.
type noRollbacks struct{ rollback.Source }

func (noRollbacks) Make(context.Context, inspect.Job, rollback.Ask) (document.Made, error) {
	return document.Made{}, fault.New(fault.NotFound, "make a plan", "no jar is uploaded")
}

func (noRollbacks) Busy() string { return "" }

func openRecords(context.Context, inspect.Job) (records.Browser, error) { return shelf{}, nil }

type shelf struct{}

func (shelf) Topic() inspect.DataTopic { return viewtest.Log().Data }

func (shelf) From(_ context.Context, partition int32, offset int64, _ int) (inspect.RecordPage, error) {
	page := inspect.RecordPage{Partition: partition, From: offset, Next: viewtest.LogEnds()[partition]}
	if last := page.Next - 1; partition == 0 && offset <= last {
		page.Records = []inspect.LogRecord{{Offset: last, Timestamp: viewtest.Now, Key: []byte("k"), Value: []byte(`{"a":1}`), Producer: -1}}
	}
	return page, nil
}

func (shelf) Before(_ context.Context, partition int32, offset int64, _ int) (inspect.RecordPage, error) {
	page := inspect.RecordPage{Partition: partition, From: viewtest.Log().Data.Partitions[partition].Log.Start, Next: offset}
	if last := viewtest.LogEnds()[partition] - 1; partition == 0 && last < offset {
		page.Records = []inspect.LogRecord{{Offset: last, Timestamp: viewtest.Now, Key: []byte("k"), Value: []byte(`{"a":1}`), Producer: -1}}
	}
	return page, nil
}

func (shelf) At(context.Context, time.Time) (inspect.Offsets, error) { return viewtest.LogEnds(), nil }

// findKey derives what follows from a text as a key.
func findKey(_ context.Context, _ inspect.Job, typed string) (inspect.KeyState, error) {
	k, err := flinkkey.New("string", typed)
	return inspect.KeyOf(k, inspect.KeyFigures{MaxParallelism: 128, Partitions: 64}), err
}

func open(th theme.Theme) (tui.Options, func() tui.Screen) {
	o := viewtest.Options(th)
	source, all := profile()
	plans := viewtest.NewPlans(viewtest.Store(), viewtest.Log())
	make := func() (tui.Screen, []tui.Command) {
		scans := scan.New(context.Background(), viewtest.Found(), viewtest.Clock) // its scans end by themselves
		return console.New(console.Options{
			Theme: th, Now: viewtest.Clock, Jobs: all, Source: source, Plans: plans, Scans: scans, FindKey: findKey, Records: openRecords, Rollbacks: noRollbacks{}, Connections: list,
		})
	}
	root, commands := make()
	o.Commands = commands
	first := true
	return o, func() tui.Screen {
		if first {
			first = false
			return root
		}
		again, _ := make()
		return again
	}
}

// walks lead to every screen from the first one, in every way that there is.
var walks = map[string][]string{
	"Jobs":                     {},
	"order-agent":              {"enter"},
	"order-agent, partitions":  {"enter", "tab"},
	"findings":                 {"enter", "f"},
	"job-failing":              {"enter", "f", "j", "enter"},
	"operations":               {"enter", "o"},
	"operations, boundary":     {"enter", "o", "tab"},
	"cleanup f0416ffc":         {"enter", "o", "enter"},
	"verdict":                  {"enter", "o", "e"},
	"cleanup plan fe807323":    {"enter", "p"},
	"cleanup plan f0416ffc":    {"enter", "o", "p"},
	"live":                     {"enter", "l"},
	"live, all of it":          {"enter", "l", "tab"},
	"checkpoint 15":            {"enter", "l", "t"},
	"live of one that runs":    {"j", "enter", "l"},
	"calls at risk":            {"enter", "c"},
	"carol":                    {"enter", "c", "enter"},
	"summary":                  {"enter", "c", "s"},
	"records":                  {"enter", "b"},
	"records of a call":        {"enter", "c", "b"},
	"0/4,119":                  {"enter", "b", "G", "enter"},
	"key carol":                {"enter", "c", "K", "c", "a", "r", "o", "l", "enter"},
	"chk-44":                   {"enter", "enter"},
	"restore check":            {"enter", "v"},
	"restore check of a point": {"enter", "enter", "v"},
	"chk-44 and chk-43":        {"enter", "space", "j", "="},
	"connections":              {":", "c", "o", "n", "n", "enter"},
	"explain":                  {":", "e", "x", "p", "enter"},
	"help":                     {"?"},
}

// A key that is in the footer and not off does something that is seen, on every
// screen and from every state that a walk leads to.
func TestNoKeyIsDead(t *testing.T) { noKeyIsDead(t, open, walks) }

// opening makes a console and what it is run with.
type opening func(theme.Theme) (tui.Options, func() tui.Screen)

func noKeyIsDead(t *testing.T, open opening, walks map[string][]string) {
	for name, walk := range walks {
		t.Run(name, func(t *testing.T) {
			o, root := open(viewtest.Plain())
			d := tuitest.New(t, o, root(), 80, 24)
			d.Press(walk...)
			if clashes := tui.Clashes(d.Top().Keys()); len(clashes) > 0 {
				t.Error(clashes)
			}
			for _, k := range d.Top().Keys() {
				if k.Quiet || k.Disabled != nil && k.Disabled() != "" {
					continue
				}
				for _, key := range k.Keys {
					o, root := open(viewtest.Plain())
					d := tuitest.New(t, o, root(), 80, 24)
					d.Press(walk...)
					before := d.Frame()
					d.Press(key)
					if d.Frame() == before && d.Clipboard() == "" && key != "up" && key != "k" {
						t.Errorf("%s %q does nothing:\n%s", key, k.Help, before)
					}
				}
			}
		})
	}
}

// So on the first run's screen and on lists of nothing.
func TestNoKeyIsDeadWithoutAnythingToShow(t *testing.T) {
	roots := map[string]func() tui.Screen{
		"first steps": func() tui.Screen { return firstrun.New(firstrun.Options{Theme: viewtest.Plain()}) },
		"no job": func() tui.Screen {
			root, _ := console.New(console.Options{Theme: viewtest.Plain(), Now: viewtest.Clock, Source: viewtest.Incident(), Connections: list})
			return root
		},
		"no connection": func() tui.Screen {
			return connections.New(connections.Options{Theme: viewtest.Plain(), Now: viewtest.Clock, List: func() []connections.Connection { return nil }})
		},
	}
	for name, root := range roots {
		for _, k := range tuitest.New(t, viewtest.Options(viewtest.Plain()), root(), 80, 24).Top().Keys() {
			if k.Quiet || k.Disabled != nil && k.Disabled() != "" {
				continue
			}
			d := tuitest.New(t, viewtest.Options(viewtest.Plain()), root(), 80, 24)
			before := d.Frame()
			d.Press(k.Keys[0])
			if d.Frame() == before {
				t.Errorf("%s: %s %q does nothing:\n%s", name, k.Keys[0], k.Help, before)
			}
		}
	}
}

// The keys that mean something on many screens mean the same on all.
func TestKeysMeanTheSameEverywhere(t *testing.T) { keysMeanTheSame(t, open, walks) }

func keysMeanTheSame(t *testing.T, open opening, walks map[string][]string) {
	means := map[string][]string{
		"y": {"copy"}, "w": {"wrap", "cut lines"}, "/": {"filter"}, "v": {"why", "restore check"}, "enter": {"open"},
		"o": {"operations"}, "l": {"live"}, "f": {"findings"}, "space": {"choose", "unchoose"}, "=": {"compare", "swap"}, "n": {"next point"},
		"a": {"all rules", "fewer rules"}, "t": {"tasks"}, "c": {"calls"}, "J": {"jump"}, "K": {"find key"}, "s": {"summary"}, "b": {"records"}, "B": {"buckets"},
	}
	for name, walk := range walks {
		o, root := open(viewtest.Plain())
		d := tuitest.New(t, o, root(), 80, 24)
		d.Press(walk...)
		for _, k := range d.Top().Keys() {
			for _, key := range k.Keys {
				want, common := means[key]
				if common && !strings.Contains(" "+strings.Join(want, " ")+" ", " "+k.Help+" ") {
					t.Errorf("%s: %s is %q, elsewhere %q", name, key, k.Help, want)
				}
			}
		}
	}
}

// What the palette offers leads from every screen to every other.
func TestCommandsLeadEverywhere(t *testing.T) {
	commands := map[string]string{
		"connections": "connections", "explain": "explain", "findings": "findings", "operations": "operations", "live": "live", "calls": "calls at risk", "records": "records",
		"job billing-agent": "billing-agent", "point " + viewtest.Savepoints + "/savepoint-4f3c-a1": "savepoint-4f3c-a1",
	}
	for name, walk := range walks {
		if name == "help" || name == "connections" || name == "explain" { // they are about no job
			continue
		}
		for line, crumb := range commands {
			o, root := open(viewtest.Plain())
			d := tuitest.New(t, o, root(), 120, 40)
			d.Press(walk...)
			if d.Top().Crumb() == crumb {
				continue
			}
			d.Press(":")
			d.Type(line)
			d.Press("enter")
			if got := d.Top().Crumb(); got != crumb {
				t.Errorf("from %s %q leads to %q:\n%s", name, line, got, d.Frame())
			}
		}
	}
}

// No screen is drawn differently in ASCII but for its signs, and none holds a
// character that ASCII has not.
func TestASCIIEverywhere(t *testing.T) { inASCII(t, open, walks) }

func inASCII(t *testing.T, open opening, walks map[string][]string) {
	for name, walk := range walks {
		o, root := open(viewtest.ASCIITheme())
		d := tuitest.New(t, o, root(), 80, 24)
		d.Press(walk...)
		viewtest.ASCII(t, d)
		if t.Failed() {
			t.Fatalf("on %s:\n%s", name, d.Frame())
		}
	}
}

// On the smallest terminal each screen still says what it is about.
func TestTheSmallestTerminal(t *testing.T) { inTheSmallestTerminal(t, open, walks) }

func inTheSmallestTerminal(t *testing.T, open opening, walks map[string][]string) {
	for name, walk := range walks {
		o, root := open(viewtest.Plain())
		d := tuitest.New(t, o, root(), tui.MinWidth, tui.MinHeight)
		d.Press(walk...)
		lines := strings.Split(d.Frame(), "\n")
		if strings.TrimSpace(strings.Join(lines[2:len(lines)-2], "")) == "" {
			t.Errorf("%s is empty:\n%s", name, d.Frame())
		}
	}
}

func TestStorm(t *testing.T) {
	o, root := open(viewtest.Plain())
	tuitest.StormWith(t, o, root)
}

func TestStormOfHostileBytes(t *testing.T) {
	source, job := viewtest.HostileIncident()
	o := viewtest.Options(viewtest.Plain())
	hostile := func() []connections.Connection {
		h := viewtest.Hostile
		return []connections.Connection{{Kind: h, Address: h, For: h, State: h, Err: viewtest.Gone()}}
	}
	make := func() tui.Screen {
		root, commands := console.New(console.Options{Theme: viewtest.Plain(), Now: viewtest.Clock, Jobs: []inspect.Job{job}, Source: source, Connections: hostile})
		o.Commands = commands
		return root
	}
	make()
	tuitest.StormWith(t, o, make)
}

func TestStormOfAFirstRun(t *testing.T) {
	tuitest.Storm(t, func() tui.Screen {
		return firstrun.New(firstrun.Options{Theme: viewtest.Plain(), Config: "/home/ops/.config/recoverctl/config.yaml"})
	})
}
