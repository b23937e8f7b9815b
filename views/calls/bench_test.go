package calls_test

import (
	"context"
	"fmt"
	"math/rand/v2"
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
	action := func(n int) inspect.ActionCalls {
		key := fmt.Sprintf("customer-%07d", n)
		return inspect.ActionCalls{
			Key: inspect.CallKey{Text: &key}, Partition: int32(n % 64), First: int64(n), Offset: int64(n), Sequence: int64(n % 100),
			Timestamp: viewtest.Now.Add(-time.Duration(r.IntN(1_000_000)) * time.Second),
			Calls:     []inspect.Call{{FunctionID: "payments.charge", State: inspect.CallPending}},
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
func BenchmarkKeyToFrameWhileAScanRuns(b *testing.B) {
	for _, filter := range []string{"", "age>3d"} {
		name := "all rows"
		if filter != "" {
			name = "filtered"
		}
		b.Run(name, func(b *testing.B) {
			th := theme.New(theme.Options{Palette: theme.Dark, Colors: termenv.ANSI256})
			source := flood{1_000_000, make(chan struct{})}
			scans := scan.New(b.Context(), source, time.Now)
			defer scans.Close()
			s := scans.Start(viewtest.Job(), viewtest.TopicID)
			<-source.full
			for s.State().Open.Len() < source.rows {
				time.Sleep(10 * time.Millisecond)
			}
			o := calls.Options{Theme: th, Job: viewtest.Job(), Scans: scans}
			c := console{tui.NewShell(b.Context(), tui.Options{Theme: th, Jobs: scans.Jobs}, calls.New(o)), make(chan tea.Msg, 1000)}
			defer c.Close()
			c.do(c.Init())
			c.Update(tea.WindowSizeMsg{Width: 200, Height: 60})
			press := func(key string) {
				_, cmd := c.Update(tuitest.Key(b, key))
				c.do(cmd)
			}
			if filter != "" {
				press("/")
				for _, r := range filter {
					press(string(r))
				}
				press("enter")
			}
			keys := []string{"down", "down", "pgdown", "up", "G", "pgup", "g", "down", "enter", "esc"}
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				time.Sleep(5 * time.Millisecond)
				begin := time.Now()
				c.take()
				press(keys[i%len(keys)])
				c.View()
				took = append(took, time.Since(begin))
			}
			slices.Sort(took)
			at := func(p int) float64 { return float64(took[len(took)*p/100].Microseconds()) / 1000 }
			b.ReportMetric(at(50), "p50-ms")
			b.ReportMetric(at(99), "p99-ms")
			b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "max-ms")
			b.ReportMetric(0, "ns/op")
		})
	}
}
