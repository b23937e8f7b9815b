package console_test

import (
	"context"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/console"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

// oneLog is a log of one entry, which a start replays.
type oneLog struct{}

func (oneLog) Read(context.Context) (arkflow.WriteAheadLog, error) {
	cursor, tail := uint64(0), uint64(1)
	return arkflow.WriteAheadLog{
		Stable: true, Cursor: &cursor, Tail: &tail, Runs: []arkflow.Span{{From: 1, To: 1}},
		Window: &arkflow.Window{From: 1, To: 1, Entries: 1},
	}, nil
}

func (oneLog) Lines(context.Context, arkflow.WriteAheadLog, uint64, int) ([]arkflow.Line, bool, error) {
	return []arkflow.Line{{Sequence: 1, Input: "payments-in"}}, false, nil
}

func (oneLog) Open(context.Context, arkflow.WriteAheadLog, uint64) (arkflow.Opened, error) {
	return arkflow.Opened{}, nil
}

// The palette opens the log of a job that has one, and has no command for it where
// none has.
func TestWriteAheadLogsOfJobs(t *testing.T) {
	open := func(wals ...console.WAL) *tuitest.Driver {
		o := viewtest.Options(viewtest.Plain())
		root, commands := console.New(console.Options{Theme: o.Theme, Now: o.Now, Source: viewtest.Incident(), WALs: wals})
		o.Commands = commands
		return tuitest.New(t, o, root, 100, 30)
	}
	d := open(console.WAL{Job: "orders-eu", Source: oneLog{}}, console.WAL{Job: "orders-us", Source: oneLog{}})
	d.Press(":")
	d.Type("wal orders-us")
	d.Press("enter")
	if frame := d.Frame(); !strings.Contains(frame, "orders-us write-ahead log") || !strings.Contains(frame, "payments-in") {
		t.Error(frame)
	}
	d = open()
	d.Press(":")
	d.Type("wal")
	d.Press("enter")
	if frame := d.Frame(); strings.Contains(frame, "write-ahead log") {
		t.Error(frame)
	}
}
