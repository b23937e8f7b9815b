package tui_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/muesli/termenv"
	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/tuitest"
)

// childVariable makes this test's program a console, instead of running tests.
const childVariable = "RECOVERCTL_TUI_CHILD"

const colors256 = termenv.ANSI256

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		os.Exit(child())
	}
	goleak.VerifyTestMain(m)
}

// page is a screen for tests: it shows what it was told, and reads what its
// test gives it.
type page struct {
	name   string
	status tui.Status
	keys   []tui.Key
	read   func(context.Context) (string, error)
	inits  int
	got    []string
	err    error
	body   string
}

func (p *page) Init() tui.Cmd {
	p.inits++
	if p.read == nil {
		return nil
	}
	return tui.Load("text", p.read)
}

func (p *page) Update(msg tui.Msg) tui.Cmd {
	switch msg := msg.(type) {
	case tui.Loaded[string]:
		p.got, p.err = append(p.got, msg.Slot+"="+msg.Value), msg.Err
	case tui.Loaded[tui.Screen]:
		return tui.Push(msg.Value)
	case tui.Progress[int]:
		p.got = append(p.got, fmt.Sprintf("%s at %d", msg.Slot, msg.Value))
	}
	return nil
}

func (p *page) View(tui.Size) string {
	if p.body != "" {
		return p.body
	}
	return fmt.Sprintf(" %s shows %q", p.name, p.got)
}

func (p *page) Crumb() string      { return p.name }
func (p *page) Keys() []tui.Key    { return p.keys }
func (p *page) Status() tui.Status { return p.status }

// reloading is a page that can read again.
type reloading struct{ *page }

func (r reloading) Reload() tui.Cmd { return tui.Load("text", r.read) }

func key(name, help string, run func() tui.Cmd) tui.Key {
	return tui.Key{Keys: []string{name}, Help: help, Run: run}
}

// opens is a key table with one key, n, that shows another screen.
func opens(next tui.Screen) []tui.Key {
	return []tui.Key{key("n", "next", func() tui.Cmd { return tui.Push(next) })}
}

func orders() tui.Options {
	o := tuitest.Plain()
	o.Header = func() tui.Header {
		return tui.Header{
			Profile: "orders", Environment: "production", Production: true,
			Access: "read-only", Locked: "access is read-only",
			Connections: []tui.Connection{
				{Name: "kafka", State: "ok", Tone: theme.OK},
				{Name: "s3", State: "ok", Tone: theme.OK},
				{Name: "flink", State: "FAILING 4m", Tone: theme.Error},
			},
		}
	}
	return o
}
