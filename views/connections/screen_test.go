package connections_test

import (
	"errors"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/connections"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func screen(th theme.Theme, list ...connections.Connection) *connections.Screen {
	return connections.New(connections.Options{Theme: th, Now: viewtest.Clock, List: func() []connections.Connection { return list }})
}

func some() []connections.Connection {
	denied := fault.New(fault.Denied, "list", "this user may not list s3://flink-state/savepoints").WithHint("it needs s3:ListBucket")
	return []connections.Connection{
		{Kind: "kafka", Address: "k1:9092, k2:9092", State: "FAILED", Tone: theme.Error, Asked: viewtest.Now, Err: viewtest.Gone(), ErrAt: viewtest.Now},
		{Kind: "flink", Address: "http://jobmanager:8081", For: "job order-agent", State: "not asked"},
		{Kind: "recovery points", Address: viewtest.Checkpoints, For: "job order-agent", State: "ok", Tone: theme.OK, Asked: viewtest.Now},
		{Kind: "recovery points", Address: viewtest.Savepoints, For: "job order-agent", State: "partly read", Tone: theme.Warning, Asked: viewtest.Now, Err: errors.Join(denied, viewtest.Gone())},
		{Kind: "object store", Address: "s3://flink-state/ at https://s3.example in eu-west-1", State: "FAILED", Tone: theme.Error, Asked: viewtest.Now,
			Used: "42 requests, 1.2 MiB read", Err: denied, ErrAt: viewtest.Now},
		{Kind: "path mapping", Address: "file:/data/checkpoints = /mnt/checkpoints", State: "in use", Tone: theme.Plain},
	}
}

func TestFrames(t *testing.T) {
	viewtest.Goldens(t, map[string]viewtest.Case{
		"full":  {Screen: func() tui.Screen { return screen(viewtest.Plain(), some()...) }},
		"place": {Screen: func() tui.Screen { return screen(viewtest.Plain(), some()...) }, Keys: []string{"j", "j", "j"}},
		"store": {Screen: func() tui.Screen { return screen(viewtest.Plain(), some()...) }, Keys: []string{"j", "j", "j", "j"}},
		"empty": {Screen: func() tui.Screen { return screen(viewtest.Plain()) }},
	})
}

// The last fault stands under its connection, every part of it with what to do.
func TestFaultsAreWhole(t *testing.T) {
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(viewtest.Plain(), some()...), 80, 24)
	d.Press("j", "j", "j")
	for _, want := range []string{"this user may not list", "it needs s3:ListBucket", "no broker answers", "check the network"} {
		if !strings.Contains(d.Frame(), want) {
			t.Errorf("%q is not on the screen:\n%s", want, d.Frame())
		}
	}
}

// What is known is asked for again, and the selection stays.
func TestReload(t *testing.T) {
	list := some()
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), connections.New(connections.Options{
		Theme: viewtest.Plain(), Now: viewtest.Clock, List: func() []connections.Connection { return list },
	}), 80, 24)
	d.Press("j")
	list = append([]connections.Connection{{Kind: "kafka", Address: "k9:9092", State: "ok"}}, list...)
	list[2].State = "ok"
	d.Press("r")
	if !strings.Contains(d.Frame(), "▸ flink            ok") {
		t.Errorf("after a reload:\n%s", d.Frame())
	}
}

func TestHostileBytesAndASCII(t *testing.T) {
	h := viewtest.Hostile
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(viewtest.Plain(), connections.Connection{
		Kind: h, Address: h, For: h, State: h, Err: fault.New(fault.Unreachable, "x", "%s", h).WithHint("%s", h),
	}), 80, 24)
	viewtest.Harmless(t, d)
	ascii := viewtest.ASCIITheme()
	d = tuitest.New(t, viewtest.Options(ascii), screen(ascii, some()...), 80, 24)
	d.Press("j")
	viewtest.ASCII(t, d)
}
