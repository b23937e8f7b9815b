package tui_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/tuitest"
)

// clockwork reads again every 5 seconds while it is shown.
type clockwork struct{ reads, pauses int }

func (c *clockwork) Init() tui.Cmd        { return tui.After("next", 5*time.Second) }
func (c *clockwork) Reload() tui.Cmd      { return c.Init() }
func (c *clockwork) View(tui.Size) string { return "" }
func (c *clockwork) Crumb() string        { return "clockwork" }
func (c *clockwork) Status() tui.Status   { return tui.Status{ReadAt: tuitest.Start} }
func (c *clockwork) Keys() []tui.Key      { return nil }
func (c *clockwork) Update(msg tui.Msg) tui.Cmd {
	if e, ok := msg.(tui.Elapsed); !ok || e.Slot != "next" {
		return nil
	}
	c.pauses++
	read := tui.IfShown(func() tui.Cmd {
		c.reads++
		return tui.Load("it", func(context.Context) (int, error) { return 0, nil })
	})
	return tui.Batch(read, tui.After("next", 5*time.Second))
}

// step waits for one pause to end; what is read meanwhile is read.
func (c *clockwork) step(d *tuitest.Driver) {
	for before := c.pauses; c.pauses == before; {
		d.Step()
	}
}

func TestReadsAgainWhileItIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &clockwork{}
		d := tuitest.NewBusy(t, tuitest.Plain(), c, 80, 24)
		began := time.Now()
		if strings.Contains(d.Frame(), "reading") {
			t.Errorf("a pause is told as a read:\n%s", d.Frame())
		}
		c.step(d)
		if took := time.Since(began); took != 5*time.Second || c.reads != 1 {
			t.Errorf("%d reads after %s", c.reads, took)
		}
		d.Send(tuitest.Key(t, "?"))
		c.step(d)
		c.step(d)
		if c.reads != 1 {
			t.Errorf("%d reads while another screen is shown", c.reads-1)
		}
		d.Send(tuitest.Key(t, "esc"))
		c.step(d)
		if c.reads != 2 {
			t.Errorf("%d reads after it is shown again, want 2", c.reads)
		}
		d.Send(tea.WindowSizeMsg{Width: 20, Height: 5})
		c.step(d)
		if c.reads != 2 {
			t.Error("it is read on a terminal that is too small")
		}
	})
}
