package calls_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/calls"
	"github.com/recoverctl/recoverctl/views/scan"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

// flood is a scan that finds a million open actions and goes on finding, ten
// times a second, until it is stopped.
type flood struct {
	rows int
	full chan struct{} // closed when all rows were told
}

func (f flood) Calls(ctx context.Context, _ inspect.Job, watch func(inspect.CallUpdate)) (scan.Result, error) {
	r := rand.New(rand.NewPCG(1, 2))
	functions := []string{"payments.charge", "payments.refund", "mail.send", "orders.ship"}
	states := []inspect.CallState{inspect.CallPending, inspect.CallSaved, inspect.CallOverwritten, inspect.CallUnmatched}
	action := func(n int) inspect.ActionCalls {
		key := fmt.Sprintf("customer-%07d", n)
		return inspect.ActionCalls{
			Key: inspect.CallKey{Text: &key}, Partition: int32(n % 64), First: int64(n), Offset: int64(n), Sequence: int64(n % 100),
			Timestamp: viewtest.Now.Add(-time.Duration(r.IntN(1_000_000)) * time.Second),
			Calls:     []inspect.Call{{FunctionID: functions[n%len(functions)], State: states[n/len(functions)%len(states)]}},
		}
	}
	var u inspect.CallUpdate
	for n := range f.rows {
		u.Changed = append(u.Changed, action(n))
	}
	watch(u)
	close(f.full)
	for records := int64(f.rows); ; records += 100_000 {
		select {
		case <-ctx.Done():
			return scan.Result{}, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
		u := inspect.CallUpdate{Progress: inspect.CallProgress{Pass: 1, Records: records, Span: records, Total: 100_000_000}}
		for range 500 {
			n := r.IntN(f.rows)
			u.Changed = append(u.Changed, action(n))
			gone := r.IntN(f.rows)
			u.Closed = append(u.Closed, inspect.RecordPosition{Partition: int32(gone % 64), Offset: int64(gone)})
		}
		watch(u)
	}
}

// console is a shell whose commands run beside it, as bubbletea runs them.
type console struct {
	*tui.Shell
	answers chan tea.Msg
}

func (c console) do(cmd tea.Cmd) {
	if cmd != nil {
		go func() { c.answers <- cmd() }()
	}
}

// take gives the shell what has been answered by now: what a key waits for that
// comes next.
func (c console) take() {
	for range len(c.answers) {
		msg := <-c.answers
		if batch, ok := msg.(tea.BatchMsg); ok {
			for _, cmd := range batch {
				c.do(cmd)
			}
			continue
		}
		_, cmd := c.Update(msg)
		c.do(cmd)
	}
}

// BenchmarkKeyToFrameWhileAScanRuns is what an operator waits for at a million
// rows while ten updates a second come: one key through the shell to the whole
// frame at 200×60, with whatever the scan's news and the filter's steps add. A
// key comes every 5 ms. The budget of the 99th percentile is 16 ms.
//
// The processor time is that of the console's own thread for the same keys: it
// says what a key costs also where other programs take the processor away.
func BenchmarkKeyToFrameWhileAScanRuns(b *testing.B) {
	source := flood{1_000_000, make(chan struct{})}
	scans := scan.New(b.Context(), source, time.Now)
	defer scans.Close()
	s := scans.Start(viewtest.Job(), viewtest.TopicID)
	<-source.full
	for s.State().Open.Len() < source.rows {
		time.Sleep(10 * time.Millisecond)
	}
	for _, shown := range []struct{ name, filter string }{
		{"all rows", ""}, {"text", "customer-05"}, {"text of no row", "nobody"}, {"state", "state:pending"}, {"function", "function:refund"},
		{"age", "age>3d"}, {"outcome", "outcome:runs-again"}, {"others", "!state:saved"}, {"several", "state:pending age>3d key:9"},
	} {
		b.Run(shown.name, func(b *testing.B) { keysToFrames(b, scans, shown.filter) })
	}
}

// keysToFrames types a filter, and then keys that move and open.
func keysToFrames(b *testing.B, scans *scan.Scans, filter string) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	th := theme.New(theme.Options{Palette: theme.Dark, Colors: termenv.ANSI256})
	o := calls.Options{Theme: th, Job: viewtest.Job(), Scans: scans}
	c := console{tui.NewShell(b.Context(), tui.Options{Theme: th, Jobs: scans.Jobs}, calls.New(o)), make(chan tea.Msg, 1000)}
	defer c.Close()
	c.do(c.Init())
	c.Update(tea.WindowSizeMsg{Width: 200, Height: 60})
	var waits, costs []time.Duration
	press := func(key string) {
		time.Sleep(5 * time.Millisecond)
		begin, before := time.Now(), threadTime(b)
		c.take()
		_, cmd := c.Update(tuitest.Key(b, key))
		c.do(cmd)
		c.View()
		waits, costs = append(waits, time.Since(begin)), append(costs, threadTime(b)-before)
	}
	if filter != "" {
		press("/")
		for _, r := range filter {
			press(string(r))
		}
		press("enter")
	}
	keys := []string{"down", "down", "pgdown", "up", "G", "pgup", "g", "down", "enter", "esc"}
	for i := 0; b.Loop(); i++ {
		press(keys[i%len(keys)])
	}
	for unit, took := range map[string][]time.Duration{"ms": waits, "cpu-ms": costs} {
		slices.Sort(took)
		for _, p := range []int{50, 99, 100} {
			at := took[min(len(took)*p/100, len(took)-1)]
			b.ReportMetric(float64(at.Microseconds())/1000, fmt.Sprintf("p%d-%s", p, unit))
		}
	}
	b.ReportMetric(0, "ns/op")
}
