package live_test

import (
	"context"
	"encoding/base64"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/live"
	"github.com/recoverctl/recoverctl/views/overview"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// opened is the screen as it is opened from a job that was read.
func opened(t *testing.T, th theme.Theme, source live.Source, job inspect.Job) *live.Screen {
	t.Helper()
	o, err := source.OverviewSoon(context.Background(), job, 0, nil)
	o.Live = nil // the screen's own read is what is looked at
	return live.New(live.Options{Theme: th, Now: viewtest.Clock, Job: job, Source: source, Reading: overview.Reading{Overview: o, Err: err, At: viewtest.Now}})
}

func refused() error {
	return fault.New(fault.Denied, "ask Flink", "http://jobmanager:8081 answered 403 to /jobs/x/exceptions").WithHint("this user may not see exceptions: ask for the right, or look at the JobManager's log")
}

// partly is a job of which Flink tells some parts only.
func partly() *viewtest.Source {
	state := viewtest.Failing()
	state.RootCause, state.LastException, state.Checkpoints, state.Restarts, state.RestoredFrom = nil, nil, nil, nil, nil
	state.Unread = []string{"exceptions", "checkpoints", "restarts"}
	state.NextRestore = inspect.NextOf(state.State, nil, state.Settings)
	s := viewtest.Incident()
	s.Connect(viewtest.Job().Name, viewtest.Flink{State: state, Err: refused()})
	return s
}

func dark() *viewtest.Source {
	s := viewtest.Incident()
	s.Connect(viewtest.Job().Name, viewtest.Flink{Err: fault.New(fault.Unreachable, "ask Flink", "http://jobmanager:8081 does not answer (30 s)").
		WithHint("check flink.rest and that the JobManager runs")})
	return s
}

// fresh is a job that has no history and was never restored.
func fresh() *viewtest.Source {
	state := viewtest.Steady()
	state.RootCause, state.LastException, state.RestoredFrom = nil, nil, nil
	state.Checkpoints = &inspect.LiveCheckpoints{}
	state.NextRestore = inspect.NextOf("RUNNING", state.Checkpoints, state.Settings)
	none := int64(0)
	state.Restarts = &none
	return viewtest.Live(state)
}

// forgotten is a job whose connection does not tell what tasks did.
func forgotten() *viewtest.Source {
	s := viewtest.Incident()
	s.Connect(viewtest.Job().Name, mute{viewtest.Flink{State: viewtest.Failing()}})
	return s
}

// mute is a LiveStore and nothing else.
type mute struct{ inspect.LiveStore }

func TestFrames(t *testing.T) {
	of := func(source live.Source, job inspect.Job) func() tui.Screen {
		return func() tui.Screen { return opened(t, viewtest.Plain(), source, job) }
	}
	failing, steady := viewtest.Live(viewtest.Failing()), viewtest.Live(viewtest.Steady())
	job := viewtest.LiveJob()
	viewtest.Goldens(t, map[string]viewtest.Case{
		"loading":       {Screen: of(failing, job), Busy: true},
		"not-connected": {Screen: of(failing, viewtest.Job())},
		"failed":        {Screen: of(dark(), job)},
		"partial":       {Screen: of(partly(), job)},
		"partial-all":   {Screen: of(partly(), job), Keys: []string{"tab"}},
		"empty":         {Screen: of(fresh(), job)},
		"failing":       {Screen: of(failing, job), Keys: []string{"j"}},
		"failing-wrap":  {Screen: of(failing, job), Keys: []string{"w"}},
		"failing-all":   {Screen: of(failing, job), Keys: []string{"tab"}},
		"full":          {Screen: of(steady, job)},
		"tasks":         {Screen: of(failing, job), Keys: []string{"t"}},
		"tasks-failed":  {Screen: of(failing, job), Keys: []string{"j", "t"}},
		"tasks-unread":  {Screen: of(forgotten(), job), Keys: []string{"t"}},
		"filtered":      {Screen: of(steady, job), Keys: []string{"/", "n", "o", "t", "space", "f", "enter"}},
	})
}

// What could not be read is said, on both panes, and never looks like nothing.
func TestNothingIsSilent(t *testing.T) {
	tests := map[string]struct {
		source live.Source
		job    inspect.Job
		keys   []string
		want   []string
	}{
		"nobody asked":     {viewtest.Incident(), viewtest.Job(), nil, []string{"live state: not connected", "--flink-rest"}},
		"no answer":        {dark(), viewtest.LiveJob(), nil, []string{"live state: could not be read", "does not answer (30 s)", "check flink.rest", "nothing about whether the job runs"}},
		"parts":            {partly(), viewtest.LiveJob(), nil, []string{"RESTARTING 4m, restarts not known, restored from: not known", "what Flink restores by itself is not known", "the checkpoint history could not be read", "not read: exceptions, checkpoints, restarts"}},
		"parts, all of it": {partly(), viewtest.LiveJob(), []string{"tab"}, []string{"answered 403", "ask for the right", "newest failure", "could not be read", "is not known"}},
		"no failure":       {fresh(), viewtest.LiveJob(), []string{"tab"}, []string{"no failure is on record", "WITHOUT STATE", "Not known: "}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := tuitest.New(t, viewtest.Options(viewtest.Plain()), opened(t, viewtest.Plain(), tt.source, tt.job), 120, 40)
			d.Press(tt.keys...)
			for _, want := range tt.want {
				if !strings.Contains(d.Frame(), want) {
					t.Errorf("%q is not on the screen:\n%s", want, d.Frame())
				}
			}
		})
	}
}

// However long a root cause is, every word of it is reached.
func TestTheRootCauseIsReachedInFull(t *testing.T) {
	state := viewtest.Failing()
	words := make([]string, 400)
	for i := range words {
		words[i] = "w" + strings.Repeat("x", i%7)
	}
	words[399] = "theveryend"
	state.RootCause.Message = strings.Join(words, " ")
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), opened(t, viewtest.Plain(), viewtest.Live(state), viewtest.LiveJob()), 80, 24)
	if strings.Contains(d.Frame(), "theveryend") {
		t.Fatalf("it fits at once:\n%s", d.Frame())
	}
	d.Press("tab")
	for range 60 {
		if strings.Contains(d.Frame(), "theveryend") {
			return
		}
		d.Press("j")
	}
	t.Errorf("its end is not reached:\n%s", d.Frame())
}

// A read that fails keeps what was known, with its age, and says so.
func TestAFailedReadKeepsWhatIsKnown(t *testing.T) {
	source := viewtest.Live(viewtest.Steady())
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), opened(t, viewtest.Plain(), source, viewtest.LiveJob()), 80, 24)
	source.Connect(viewtest.Job().Name, viewtest.Flink{Err: refused()})
	d.Press("r")
	for _, want := range []string{"reading again failed, what is shown is older", "RUNNING 21m", "found, accepted"} {
		if !strings.Contains(d.Frame(), want) {
			t.Errorf("%q is not on the screen:\n%s", want, d.Frame())
		}
	}
	source.Connect(viewtest.Job().Name, viewtest.Flink{State: viewtest.Failing()})
	d.Press("r")
	if !strings.Contains(d.Frame(), "RESTARTING") || strings.Contains(d.Frame(), "is older") {
		t.Errorf("after it could be read again:\n%s", d.Frame())
	}
}

// What is found opens, and what is not says why it doesn't.
func TestOpen(t *testing.T) {
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), opened(t, viewtest.Plain(), viewtest.Live(viewtest.Steady()), viewtest.LiveJob()), 80, 24)
	d.Press("j", "j", "enter")
	if !strings.Contains(d.Frame(), "it is none of the recovery points that were found") {
		t.Errorf("a savepoint elsewhere opens:\n%s", d.Frame())
	}
	d.Press("y")
	if want := base64.StdEncoding.EncodeToString([]byte("s3://elsewhere/savepoints/savepoint-9be1c4-0a1b2c3d4e5f")); !strings.Contains(d.Clipboard(), want) {
		t.Errorf("the clipboard got %q", d.Clipboard())
	}
	d.Press("g", "enter")
	if d.Top().Crumb() != "chk-44" {
		t.Errorf("enter on chk-44 leads to %s", d.Top().Crumb())
	}
}

// counting is a source whose answers are counted, and may wait.
type counting struct {
	*viewtest.Source
	asked, now, most atomic.Int64
	takes            time.Duration
}

func (c *counting) Running(ctx context.Context, job inspect.Job) (inspect.Running, error) {
	c.asked.Add(1)
	c.most.Store(max(c.most.Load(), c.now.Add(1)))
	defer c.now.Add(-1)
	select {
	case <-time.After(c.takes):
	case <-ctx.Done():
	}
	return c.Source.Running(ctx, job)
}

// It is read again in its time, never faster than once a second, never twice at
// once, and not while another screen covers it.
func TestReadsAgainWhileItIsShown(t *testing.T) {
	tests := map[string]struct {
		every, takes time.Duration
		cover        bool
		job          inspect.Job
		most         int64 // reads in a minute
		least        int64
	}{
		"every five seconds":      {5 * time.Second, 0, false, viewtest.LiveJob(), 13, 12},
		"not faster than allowed": {time.Millisecond, 0, false, viewtest.LiveJob(), 61, 59},
		"slow answers":            {time.Second, 7 * time.Second, false, viewtest.LiveJob(), 9, 6},
		"covered":                 {time.Second, 0, true, viewtest.LiveJob(), 1, 1},
		"only when asked":         {0, 0, false, viewtest.LiveJob(), 1, 1},
		"nobody to ask":           {time.Second, 0, false, viewtest.Job(), 1, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source := &counting{Source: viewtest.Live(viewtest.Steady()), takes: tt.takes}
				d := tuitest.NewBusy(t, viewtest.Options(viewtest.Plain()), live.New(live.Options{
					Theme: viewtest.Plain(), Now: viewtest.Clock, Job: tt.job, Source: source, Every: tt.every,
				}), 80, 24)
				if tt.cover {
					d.Send(tuitest.Key(t, "?"))
				}
				end := time.Now().Add(time.Minute)
				for !d.Idle() && time.Now().Before(end) {
					d.Step()
				}
				if n := source.asked.Load(); n < tt.least || n > tt.most {
					t.Errorf("asked %d times in a minute, want %d to %d", n, tt.least, tt.most)
				}
				if n := source.most.Load(); n > 1 {
					t.Errorf("%d reads at once", n)
				}
			})
		})
	}
}

func TestHostileBytesAndASCII(t *testing.T) {
	h := viewtest.Hostile
	state := viewtest.Failing()
	state.Name, state.State, state.FlinkVersion = h, h, h
	state.RootCause.Message, state.RootCause.Type, state.RootCause.Task, state.RootCause.Outer = h, h, h, h
	state.Checkpoints.History[1].Reason, state.Checkpoints.History[0].Path = &h, &h
	state.Settings.Storage, state.Settings.RestartStrategy, state.Settings.Mode, state.Settings.Retention = h, h, h, inspect.Retention(h)
	state.NextRestore.Path, state.NextRestore.Why, state.NextRestore.Unknown, state.Unread = &h, h, []string{h}, []string{h}
	ascii := viewtest.ASCIITheme()
	for _, keys := range [][]string{{}, {"j"}, {"w"}, {"tab"}, {"tab", "G"}, {"/", "x"}, {"t"}, {"j", "t", "G"}} {
		d := tuitest.New(t, viewtest.Options(viewtest.Plain()), opened(t, viewtest.Plain(), viewtest.Live(state), viewtest.LiveJob()), 80, 24)
		d.Press(keys...)
		viewtest.Harmless(t, d)
		d = tuitest.New(t, viewtest.Options(ascii), opened(t, ascii, viewtest.Live(viewtest.Steady()), viewtest.LiveJob()), 80, 24)
		d.Press(keys...)
		viewtest.ASCII(t, d)
	}
}

// A checkpoint names the tasks that it waits for, before those that are done.
func TestTasksThatAreWaitedFor(t *testing.T) {
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), opened(t, viewtest.Plain(), viewtest.Live(viewtest.Failing()), viewtest.LiveJob()), 80, 24)
	d.Press("t")
	waits, done := strings.Index(d.Frame(), "order agent"), strings.Index(d.Frame(), "Source: orders")
	if waits < 0 || done < waits || !strings.Contains(d.Frame(), "it waits for 1 task") {
		t.Errorf("the task that is waited for is not first:\n%s", d.Frame())
	}
	d.Press("esc", "j", "t")
	if !strings.Contains(d.Frame(), "not acknowledged by 1 task") || !strings.Contains(d.Frame(), "failed before it acknowledged") {
		t.Errorf("a checkpoint that failed:\n%s", d.Frame())
	}
}
