package scan_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/scan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var job = inspect.Job{Profile: "orders", Name: "order-agent", Topic: "action-state"}

// reading is a Source whose reads a test leads step by step.
type reading struct {
	begun  chan struct{}
	update chan inspect.CallUpdate
	end    chan ending
}

type ending struct {
	result scan.Result
	err    error
}

func newReading() *reading {
	return &reading{begun: make(chan struct{}, 9), update: make(chan inspect.CallUpdate), end: make(chan ending)}
}

func (r *reading) Calls(ctx context.Context, _ inspect.Job, watch func(inspect.CallUpdate)) (scan.Result, error) {
	r.begun <- struct{}{}
	var found scan.Result
	for {
		select {
		case u := <-r.update:
			found.Calls.Actions = append(found.Calls.Actions, u.Changed...)
			found.Calls.Scanned.Records, found.Calls.Scanned.Partial = u.Progress.Records, true
			watch(u)
		case e := <-r.end:
			if e.err != nil && e.result.Calls.Scanned.Records == 0 {
				return found, e.err
			}
			return e.result, e.err
		case <-ctx.Done():
			return found, ctx.Err()
		}
	}
}

func pending(first int64) inspect.ActionCalls {
	return inspect.ActionCalls{First: first, Offset: first, Calls: []inspect.Call{{State: inspect.CallPending}}}
}

// until waits for a state, as Follow brings them.
func until(t *testing.T, s *scan.Scan, want string, is func(scan.State) bool) scan.State {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		state := s.State()
		if is(state) {
			return state
		}
		if time.Now().After(deadline) {
			t.Fatalf("the scan never came to %s: %+v", want, state)
		}
		time.Sleep(time.Millisecond)
	}
}

func over(s scan.State) bool { return !s.Running }

// Two screens that ask for a scan share one; what it has found so far is there
// for both, and its end.
func TestOneScanIsShared(t *testing.T) {
	source := newReading()
	scans := scan.New(t.Context(), source, time.Now)
	defer scans.Close()
	if scans.Of(job, "") != nil || len(scans.Jobs()) != 0 {
		t.Error("there is a scan before one was asked for")
	}
	first := scans.Start(job, "topic-1")
	if second := scans.Start(job, "topic-1"); second != first || scans.Of(job, "topic-1") != first {
		t.Error("a second scan was begun")
	}
	<-source.begun
	source.update <- inspect.CallUpdate{Progress: inspect.CallProgress{Pass: 1, Records: 10, Span: 12, Total: 40}, Changed: []inspect.ActionCalls{pending(3), pending(1)}}
	state := until(t, first, "two rows", func(s scan.State) bool { return s.Open.Len() == 2 })
	if !state.Running || state.Known() || state.Open.At(0).ID() != "0/1/0" {
		t.Errorf("it stands so: %+v", state)
	}
	if jobs := scans.Jobs(); len(jobs) != 1 || jobs[0].Name != "scan action-state" || jobs[0].Done != 12 || jobs[0].Total != 40 || jobs[0].Unit != "offsets" {
		t.Errorf("the line of jobs holds %+v", jobs)
	}
	if scans.Of(inspect.Job{Profile: "orders", Name: "other", Topic: "action-state"}, "") != nil {
		t.Error("another job has it too")
	}
	result := scan.Result{TopicID: "topic-1", Calls: inspect.DurableCalls{Scanned: inspect.ScanExtent{Records: 40}, Actions: []inspect.ActionCalls{pending(1)}}}
	source.end <- ending{result: result}
	state = until(t, first, "its end", over)
	if !state.Known() || state.Partial() || len(state.Calls.Actions) != 1 || state.Ended.IsZero() {
		t.Errorf("it ended so: %+v", state)
	}
	if len(scans.Jobs()) != 0 {
		t.Error("a scan that has ended is still a running job")
	}
	if scans.Of(job, "topic-2") != nil {
		t.Error("a scan of another topic of this name is given out")
	}
	if again := scans.Start(job, "topic-1"); again == first {
		t.Error("a scan that has ended is given for a new one")
	}
}

// Those who ask at the same moment share one too.
func TestOneScanIsSharedFromItsFirstMoment(t *testing.T) {
	const several = 8
	for range 50 {
		scans := scan.New(t.Context(), newReading(), time.Now)
		got := make([]*scan.Scan, several)
		start := make(chan struct{})
		var asking sync.WaitGroup
		for i := range got {
			asking.Go(func() {
				<-start
				got[i] = scans.Start(job, "topic-1")
			})
		}
		close(start)
		asking.Wait()
		for _, s := range got {
			if s != got[0] || !s.State().Running {
				t.Error("there are several scans of one topic, and all but one are ended")
			}
		}
		scans.Close()
		if t.Failed() {
			return
		}
	}
}

// What was found until a scan was cancelled, or failed, is kept and is a part.
func TestWhatWasFoundIsKept(t *testing.T) {
	gone := fault.New(fault.Unreachable, "read records", "partition 3 has no leader")
	tests := map[string]struct {
		cancel, found, cancelled, partial bool
		err                               error
		told                              string
	}{
		"cancelled":                      {cancel: true, found: true, cancelled: true, partial: true},
		"cancelled before anything":      {cancel: true, cancelled: true},
		"failed half-way":                {err: gone, found: true, partial: true, told: "partition 3 has no leader"},
		"failed at once":                 {err: gone, told: "partition 3 has no leader"},
		"cancelled, and a fault besides": {cancel: true, found: true, cancelled: true, partial: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			source := newReading()
			scans := scan.New(t.Context(), source, time.Now)
			defer scans.Close()
			s := scans.Start(job, "")
			<-source.begun
			if tt.found {
				source.update <- inspect.CallUpdate{Progress: inspect.CallProgress{Records: 7}, Changed: []inspect.ActionCalls{pending(3)}}
			}
			if tt.cancel {
				s.Cancel()
			} else {
				source.end <- ending{err: tt.err}
			}
			state := until(t, s, "its end", over)
			if state.Cancelled != tt.cancelled || state.Known() != tt.found || state.Partial() != tt.partial {
				t.Errorf("cancelled %v, known %v, partial %v", state.Cancelled, state.Known(), state.Partial())
			}
			if tt.found && len(state.Calls.Actions) != 1 {
				t.Errorf("%d actions were kept", len(state.Calls.Actions))
			}
			if tt.told == "" && state.Err != nil || tt.told != "" && (state.Err == nil || !strings.Contains(state.Err.Error(), tt.told)) {
				t.Errorf("it says %v", state.Err)
			}
		})
	}
}

// A record names a key by its digest: what a scan found out of it is told there.
func TestKeysThatAScanFoundOut(t *testing.T) {
	text := "alice"
	found := &inspect.DurableCalls{Actions: []inspect.ActionCalls{{Key: inspect.CallKey{Digest: "x6Qq", Text: &text}}, {Key: inspect.CallKey{Digest: "gbY3"}}}}
	keys := scan.State{Calls: found}.Keys()
	if got, ok := keys.KeyText("x6Qq"); !ok || got != text {
		t.Errorf("x6Qq is %q, %v", got, ok)
	}
	if _, ok := keys.KeyText("gbY3"); ok {
		t.Error("a key that nobody knows has a text")
	}
	if (scan.State{}).Keys() != nil {
		t.Error("a scan that found nothing knows keys")
	}
}

// broken is a source with a defect.
type broken struct{}

func (broken) Calls(context.Context, inspect.Job, func(inspect.CallUpdate)) (scan.Result, error) {
	panic("index out of range")
}

func TestADefectEndsTheScanAndNothingElse(t *testing.T) {
	scans := scan.New(t.Context(), broken{}, time.Now)
	defer scans.Close()
	s := scans.Start(job, "")
	state := until(t, s, "its end", over)
	if state.Known() || fault.KindOf(state.Err) != fault.Bug {
		t.Errorf("it ended with %v", state.Err)
	}
}

// The console ends while a scan runs: nothing is left behind.
func TestCloseEndsWhatRuns(t *testing.T) {
	source := newReading()
	scans := scan.New(t.Context(), source, time.Now)
	s := scans.Start(job, "")
	<-source.begun
	scans.Close()
	if state := s.State(); state.Running || state.Cancelled {
		t.Errorf("after Close: %+v", state)
	}
}

// watcher is a screen that follows a scan.
type watcher struct {
	scan  *scan.Scan
	rows  []int
	ended int
}

func (w *watcher) Init() tui.Cmd        { return w.scan.Follow("scan") }
func (w *watcher) View(tui.Size) string { return "" }
func (w *watcher) Crumb() string        { return "watcher" }
func (w *watcher) Keys() []tui.Key      { return nil }
func (w *watcher) Status() tui.Status   { return tui.Status{Timeless: true} }
func (w *watcher) Update(msg tui.Msg) tui.Cmd {
	switch msg := msg.(type) {
	case tui.Progress[scan.State]:
		w.rows = append(w.rows, msg.Value.Open.Len())
	case tui.Loaded[scan.State]:
		if errors.Is(msg.Err, context.Canceled) {
			return nil
		}
		w.ended++
	}
	return nil
}

// A screen gets what there is when it comes, what follows, and the end once.
func TestAScreenFollowsAScan(t *testing.T) {
	source := newReading()
	scans := scan.New(t.Context(), source, time.Now)
	defer scans.Close()
	s := scans.Start(job, "")
	<-source.begun
	source.update <- inspect.CallUpdate{Changed: []inspect.ActionCalls{pending(3)}}
	until(t, s, "a row", func(s scan.State) bool { return s.Open.Len() == 1 })
	w := &watcher{scan: s}
	d := tuitest.NewBusy(t, tuitest.Plain(), w, 80, 24)
	for len(w.rows) == 0 {
		d.Next()
	}
	source.update <- inspect.CallUpdate{Changed: []inspect.ActionCalls{pending(4)}}
	for w.rows[len(w.rows)-1] != 2 {
		d.Next()
	}
	source.end <- ending{result: scan.Result{}}
	d.Settle()
	if w.ended != 1 || w.rows[0] != 1 {
		t.Errorf("rows %v, %d ends", w.rows, w.ended)
	}
}

// An overview says what a scan of its own topic found, and never what one of
// another topic did; numbers of a part are no numbers of the whole.
func TestAnOverviewTakesWhatItsOwnTopicHolds(t *testing.T) {
	o := inspect.JobOverview{TopicID: "topic-1", Points: []inspect.PointSummary{{URI: "chk-44", Verdict: inspect.Accepted}, {URI: "chk-43"}}}
	found := &inspect.DurableCalls{
		Scanned: inspect.ScanExtent{Records: 40}, Counts: inspect.PendingCalls{Pending: 2},
		Points: []inspect.PointCalls{{Point: "chk-44", Calls: inspect.CallCounts{RunsAgain: 2, Reused: 1}}},
	}
	whole := scan.State{TopicID: "topic-1", Calls: found}
	part := *found
	part.Scanned.Partial = true
	tests := map[string]struct {
		state scan.State
		runs  int64 // -1: not known
		rule  string
	}{
		"its own topic":                  {whole, 2, "calls-run-again"},
		"something else was not read":    {scan.State{TopicID: "topic-1", Calls: found, Err: errors.New("a bucket is closed")}, 2, "calls-run-again"},
		"scanned again":                  {scan.State{TopicID: "topic-1", Running: true, Before: &whole}, 2, "calls-run-again"},
		"another topic":                  {scan.State{TopicID: "topic-2", Calls: found}, -1, ""},
		"a part":                         {scan.State{TopicID: "topic-1", Calls: &part}, -1, "calls-partly-scanned"},
		"cancelled":                      {scan.State{TopicID: "topic-1", Calls: found, Cancelled: true}, -1, "calls-partly-scanned"},
		"nothing":                        {scan.State{TopicID: "topic-1"}, -1, ""},
		"begun":                          {scan.State{TopicID: "topic-1", Running: true}, -1, ""},
		"begun, of a topic of that name": {scan.State{Running: true}, -1, ""},
	}
	for name, tt := range tests {
		got := tt.state.Into(o)
		if runs := got.Points[0].RunsAgain; (runs == nil) != (tt.runs < 0) || runs != nil && *runs != tt.runs {
			t.Errorf("%s: runs again %v", name, runs)
		}
		if (got.PendingCalls == nil) != (tt.runs < 0) || got.Points[1].RunsAgain != nil {
			t.Errorf("%s: pending %v, a point that was not asked for %v", name, got.PendingCalls, got.Points[1].RunsAgain)
		}
		rules := ""
		for _, f := range got.Findings {
			rules += f.Rule
		}
		if rules != tt.rule {
			t.Errorf("%s: findings %q, want %q", name, rules, tt.rule)
		}
		if tt.state.Running && tt.state.Before == nil && (got.Scan == nil || got.Scan.Done >= got.Scan.Total) {
			t.Errorf("%s: a scan that runs is told as %+v", name, got.Scan)
		}
	}
	if o.Points[0].RunsAgain != nil || len(o.Findings) != 0 {
		t.Error("the overview that was given has changed")
	}
}
