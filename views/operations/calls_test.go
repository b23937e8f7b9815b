package operations_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/operations"
	"github.com/recoverctl/recoverctl/views/overview"
	"github.com/recoverctl/recoverctl/views/scan"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

// scanned is the screen beside a scan of the job's topic, which has begun.
func scanned(t *testing.T, source *viewtest.CallScan) *operations.Screen {
	t.Helper()
	scans := viewtest.Scans(t, source)
	scans.Start(viewtest.Job(), viewtest.TopicID)
	incident := two()
	o, err := incident.Overview(context.Background(), viewtest.Job())
	return operations.New(operations.Options{
		Theme: viewtest.Plain(), Now: viewtest.Clock, Job: viewtest.Job(), Source: incident,
		Reading: overview.Reading{Overview: o, Err: err, At: viewtest.Now, Scans: scans},
	})
}

// below is what a scan finds where a PENDING lies below both cleanups' offsets and
// a result below those of the second one only.
func below() *viewtest.CallScan {
	found := viewtest.Found()
	calls := &found.Result.Calls
	for i, at := range []inspect.RecordPosition{{Partition: 0, Offset: viewtest.Earlier()[0] - 1}, {Partition: 0, Offset: viewtest.Boundary()[0] - 1}} {
		a := calls.Actions[i]
		a.Partition, a.Offset, a.First = at.Partition, at.Offset, at.Offset-1
		a.Calls = slices.Clone(a.Calls)
		a.Calls[0].Seen = at
		calls.Actions = append(calls.Actions, a)
	}
	return found
}

// Each cleanup says how many calls at risk lie below it and how many run again from
// a restore that begins at it: of the scan's own calls the overwritten one and that
// of an ended JVM.
func TestEachCleanupSaysWhichCallsDependedOnIt(t *testing.T) {
	tests := map[string]struct {
		source       *viewtest.CallScan
		newer, older string
	}{
		"below": {below(), "2 calls at risk are on record below it, where no restore reads them; 4 run again from a restore that begins at it", "1 call at risk is on record below it, where no restore reads it; 3 run again"},
		"none":  {viewtest.Found(), "no call at risk is on record below it; 2 run again from a restore that begins at it", "no call at risk is on record below it; 2 run again"},
		"a part": {&viewtest.CallScan{Result: scan.Result{TopicID: viewtest.TopicID, Calls: partial()}, Err: viewtest.Gone()},
			"calls at risk below it: not scanned", "calls at risk below it: not scanned"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := tuitest.New(t, viewtest.Options(viewtest.Plain()), scanned(t, tt.source), 80, 24)
			for _, want := range []string{tt.newer, tt.older} {
				if frame := strings.Join(strings.Fields(d.Frame()), " "); !strings.Contains(frame, want) {
					t.Errorf("%q is not on the screen:\n%s", want, d.Frame())
				}
				d.Press("enter")
				if frame := strings.Join(strings.Fields(d.Frame()), " "); !strings.Contains(frame, want) {
					t.Errorf("%q is not on the cleanup's own screen:\n%s", want, d.Frame())
				}
				d.Press("esc", "j")
			}
		})
	}
}

func partial() inspect.DurableCalls {
	calls := viewtest.Calls()
	calls.Scanned.Partial = true
	return calls
}

// A scan that still runs tells no number before it has ended; then it is there
// without a key.
func TestNumbersComeWhenTheScanHasEnded(t *testing.T) {
	source := below()
	source.Hold = make(chan struct{})
	d := tuitest.NewBusy(t, viewtest.Options(viewtest.Plain()), scanned(t, source), 120, 40)
	for !strings.Contains(d.Frame(), "CLEANUP") {
		d.Next()
	}
	if !strings.Contains(d.Frame(), "not scanned") {
		t.Errorf("before the end\n%s", d.Frame())
	}
	close(source.Hold)
	d.Settle()
	if frame := strings.Join(strings.Fields(d.Frame()), " "); strings.Contains(frame, "not scanned") || !strings.Contains(frame, "2 calls at risk are on record below it") {
		t.Errorf("after it\n%s", d.Frame())
	}
}
