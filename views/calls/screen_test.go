package calls_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/views/calls"
	"github.com/recoverctl/recoverctl/views/overview"
	"github.com/recoverctl/recoverctl/views/scan"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// known is the overview that the screen is opened from.
func known(t testing.TB) overview.Reading {
	o, err := viewtest.Incident().Overview(t.Context(), viewtest.Job())
	return overview.Reading{Overview: o, Err: err, At: viewtest.Now}
}

func options(t testing.TB, scans *scan.Scans) calls.Options {
	return calls.Options{
		Theme: viewtest.Plain(), Now: viewtest.Clock, Job: viewtest.Job(), Scans: scans, Reading: known(t), Find: find,
	}
}

func screen(t testing.TB, source scan.Source) tui.Screen {
	return calls.New(options(t, viewtest.Scans(t, source)))
}

// find knows alice.
func find(_ context.Context, _ inspect.Job, typed string) (inspect.KeyState, error) {
	value, ok := strings.CutPrefix(typed, "string:")
	if !ok {
		return inspect.KeyState{}, fault.New(fault.Usage, "find a key", "%q names no type", typed).WithHint("as in string:alice")
	}
	group, part, released := int32(84), int32(3), int32(41)
	k := inspect.KeyState{Type: "string", Value: value, Text: value, Digest: "K9hcLvRG1sQd3Lh0oFsdz2WEkXEFT4fqn2rxOqkqpfA=", KeyGroup: &group, Partition: &part, PartitionReleased: &released, Scanned: &inspect.ScanExtent{Records: 244912}}
	if value == "alice" {
		k.Actions = viewtest.Calls().Actions[:1]
	}
	return k, nil
}

// running is a screen on a scan that has come half-way.
func running(t testing.TB) tui.Screen {
	source := viewtest.Halfway()
	scans := viewtest.Scans(t, source)
	s := scans.Start(viewtest.Job(), viewtest.TopicID)
	<-source.Told
	for s.State().Open.Len() == 0 {
		time.Sleep(time.Millisecond)
	}
	return calls.New(options(t, scans))
}

// stopped is a screen on a scan that was cancelled half-way.
func stopped(t testing.TB) tui.Screen {
	source := viewtest.Halfway()
	scans := viewtest.Scans(t, source)
	s := scans.Start(viewtest.Job(), viewtest.TopicID)
	<-source.Told
	for s.State().Open.Len() == 0 {
		time.Sleep(time.Millisecond)
	}
	s.Cancel()
	for s.State().Running {
		time.Sleep(time.Millisecond)
	}
	return calls.New(options(t, scans))
}

// partial is a scan that could not read two partitions.
func partial() *viewtest.CallScan {
	source := viewtest.Found()
	source.Result.Calls.Scanned.Partial = true
	source.Err = fault.New(fault.Unreachable, "read records", "partition 17 of action-state has no leader: nothing of it was read").
		WithHint("when it has one, scan again").WithRef("topic action-state partition 17")
	source.Result.Calls.Unattributable, source.Result.Calls.Unreadable = 12, 1
	source.Result.Calls.Findings = []inspect.Finding{{
		Severity: inspect.SeverityWarning, Rule: "equal-records", Cause: "key frank has 48 equal records in a row on partition 20 from offset 3,900", Next: "look at the job's log of that time",
	}}
	return source
}

// leaderless is a scan that could read none of the 64 partitions but the first.
func leaderless() *viewtest.CallScan {
	source := viewtest.Found()
	source.Result.Calls.Scanned.Partial = true
	var all []error
	for p := 1; p < viewtest.Partitions; p++ {
		all = append(all, fault.New(fault.Unreachable, "read records", "partition %d of action-state has no leader: nothing of it was read", p))
	}
	source.Err = errors.Join(all...)
	return source
}

func empty() *viewtest.CallScan {
	return &viewtest.CallScan{Result: scan.Result{TopicID: viewtest.TopicID, Calls: inspect.DurableCalls{
		Scanned: inspect.ScanExtent{Records: 88, Bytes: 4100, From: viewtest.Boundary(), To: viewtest.LogEnds()},
		Points:  []inspect.PointCalls{{Point: viewtest.Checkpoints + "/chk-44"}},
	}}}
}

func TestFrames(t *testing.T) {
	found := func() tui.Screen { return screen(t, viewtest.Found()) }
	chosen := func() tui.Screen {
		o := options(t, viewtest.Scans(t, viewtest.Found()))
		o.Points = []string{viewtest.Checkpoints + "/chk-42"}
		return calls.New(o)
	}
	loading := func() tui.Screen { return screen(t, &viewtest.CallScan{Hold: make(chan struct{})}) }
	viewtest.Goldens(t, map[string]viewtest.Case{
		"loading":     {Screen: loading, Busy: true},
		"scanning":    {Screen: func() tui.Screen { return running(t) }, Busy: true},
		"found":       {Screen: found},
		"saved":       {Screen: found, Keys: []string{"j", "j"}},
		"overwritten": {Screen: found, Keys: []string{"j", "j", "j"}},
		"no-call":     {Screen: found, Keys: []string{"G"}},
		"points":      {Screen: found, Keys: []string{"tab"}},
		"chosen":      {Screen: chosen},
		"filtered":    {Screen: found, Keys: []string{"/", "s", "t", "a", "t", "e", ":", "p", "e", "n", "enter"}},
		"misspelled":  {Screen: found, Keys: []string{"/", "a", "g", "e", ">", "x", "enter"}},
		"partial":     {Screen: func() tui.Screen { return screen(t, partial()) }},
		"leaderless":  {Screen: func() tui.Screen { return screen(t, leaderless()) }},
		"cancelled":   {Screen: func() tui.Screen { return stopped(t) }},
		"empty":       {Screen: func() tui.Screen { return screen(t, empty()) }},
		"not-scanned": {Screen: func() tui.Screen { return screen(t, &viewtest.CallScan{Err: viewtest.Gone()}) }},
		"opened":      {Screen: found, Keys: []string{"enter"}},
		"summary":     {Screen: func() tui.Screen { return screen(t, partial()) }, Keys: []string{"s"}},
		"key-asked":   {Screen: found, Keys: []string{"K", "a"}},
		"key-found":   {Screen: found, Keys: append(append([]string{"K"}, strings.Split("string:alice", "")...), "enter")},
		"key-refused": {Screen: found, Keys: []string{"K", "a", "enter"}},
	})
}
