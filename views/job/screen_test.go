package job_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/job"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func screen(source job.Source, j inspect.Job) tui.Screen {
	return job.New(job.Options{Theme: viewtest.Plain(), Now: viewtest.Clock, Job: j, Source: source})
}

// with is a source for order-agent with other stores.
func with(store viewtest.Shelf, log viewtest.Broker) *viewtest.Source {
	s := &viewtest.Source{}
	s.Add(viewtest.Job().Name, store, log)
	return s
}

// missing is a job whose topic is gone and whose places hold nothing.
func missing() *viewtest.Source {
	log := viewtest.Log()
	log.Data = inspect.DataTopic{Name: "action-state", ClusterID: "lkc-9", At: viewtest.Now}
	return with(viewtest.Shelf{}, log)
}

// broken is the situation with a control topic that can't be read, a partition
// without a leader and one whose offsets are not known.
func broken() *viewtest.Source {
	log := viewtest.Log()
	log.ControlErr = fault.New(fault.Denied, "read control topic", "this user may not read topic action-state-control").
		WithHint("it needs Describe and Read on the topic")
	log.Data.Partitions[17].Leader, log.Data.Partitions[17].Err = -1, errors.New("no leader")
	log.Data.Partitions[40].Err = errors.New("broker 2 did not answer")
	return with(viewtest.Store(), log)
}

func dark() *viewtest.Source {
	gone := viewtest.Gone()
	return with(viewtest.Shelf{Fails: map[string]error{viewtest.Checkpoints: gone, viewtest.Savepoints: gone}},
		viewtest.Broker{DataErr: gone, ControlErr: gone})
}

// released is the situation as release 0.2 sees it, without a cleanup: the rules
// accept, and the job skips its markers.
func released() (*viewtest.Source, inspect.Job) {
	j := viewtest.Job()
	j.Runtime, j.ControlTopic = inspect.Release02, nil
	return viewtest.Incident(), j
}

// unanswered is the situation with a JobManager that does not answer.
func unanswered() *viewtest.Source {
	s := viewtest.Incident()
	s.Connect(viewtest.Job().Name, viewtest.Flink{Err: fault.New(fault.Unreachable, "ask Flink", "http://jobmanager:8081 does not answer (30 s)")})
	return s
}

func TestFrames(t *testing.T) {
	incident := func() tui.Screen { return screen(viewtest.Incident(), viewtest.Job()) }
	nowhere := viewtest.Job()
	nowhere.RecoveryPoints = nil
	viewtest.Goldens(t, map[string]viewtest.Case{
		"loading":         {Screen: incident, Busy: true},
		"empty":           {Screen: func() tui.Screen { return screen(missing(), viewtest.Job()) }},
		"nowhere-to-look": {Screen: func() tui.Screen { return screen(viewtest.Incident(), nowhere) }},
		"partial":         {Screen: func() tui.Screen { return screen(broken(), viewtest.Job()) }},
		"failed":          {Screen: func() tui.Screen { return screen(dark(), viewtest.Job()) }},
		"full":            {Screen: incident},
		"rejected":        {Screen: incident, Keys: []string{"j", "j", "j", "j"}},
		"unknown":         {Screen: incident, Keys: []string{"G"}},
		"chosen":          {Screen: incident, Keys: []string{"j", "space", "j", "space", "k", "k"}},
		"partitions":      {Screen: incident, Keys: []string{"tab", "j"}},
		"scanned": {Screen: func() tui.Screen {
			return screen(viewtest.Seen{Source: viewtest.Live(viewtest.Failing())}, viewtest.LiveJob())
		}},
		"running":     {Screen: func() tui.Screen { return screen(viewtest.Live(viewtest.Steady()), viewtest.LiveJob()) }},
		"live-unread": {Screen: func() tui.Screen { return screen(unanswered(), viewtest.LiveJob()) }},
		"findings":    {Screen: incident, Keys: []string{"f"}},
		"skips-silently": {Screen: func() tui.Screen {
			source, j := released()
			return screen(source, j)
		}},
	})
}

// What was never read is not a number.
func TestNothingLooksLikeZero(t *testing.T) {
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(viewtest.Incident(), viewtest.Job()), 80, 24)
	for _, want := range []string{"calls not scanned", "live state: not connected", "accepted  not scanned", "REJECTED  not scanned"} {
		if !strings.Contains(d.Frame(), want) {
			t.Errorf("%q is not on the screen:\n%s", want, d.Frame())
		}
	}
}

// At 80×24 with 64 partitions the reason stands under its point, and the
// partitions that decide stand first.
func TestWorstPartitionsFirst(t *testing.T) {
	late := viewtest.Log()
	late.Data.Partitions[33].Leader, late.Data.Partitions[33].Err = -1, errors.New("no leader")
	late.Data.Partitions[50].Log.End = viewtest.Boundary()[50] - 1
	late.Data.Partitions[50].Log.Start = 0
	tests := map[string]struct {
		source *viewtest.Source
		keys   []string
		want   []string // in this order
	}{
		"not trimmed":           {viewtest.Incident(), nil, []string{"replays a span of 12,480 offsets in 64 partitions", "\n   0    100", "\n   1    120", "60 more like 2: boundary = log start, marker inside the log"}},
		"below the boundary":    {viewtest.Incident(), []string{"G", "k"}, []string{"partition 0 must be read from 60, cleanup", "\n   0    100", "below ▲"}},
		"no leader comes first": {with(viewtest.Store(), late), nil, []string{"without a leader", "\n   33", "✖ no leader", "\n   50"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(tt.source, viewtest.Job()), 80, 24)
			d.Press(tt.keys...)
			rest := d.Frame()
			for _, want := range tt.want {
				_, after, ok := strings.Cut(rest, want)
				if !ok {
					t.Fatalf("%q is missing or not in its place:\n%s", want, d.Frame())
				}
				rest = after
			}
		})
	}
}

// Two jobs' checkpoints of one number are told apart.
func TestPointsOfOneNameAreToldApart(t *testing.T) {
	store := viewtest.Store()
	other := viewtest.Point("chk-44", 44, 5*time.Minute, viewtest.Boundary())
	other.URI = "s3://flink-state/checkpoints/77aa/chk-44"
	store.Places[viewtest.Savepoints] = []inspect.RecoveryPoint{other}
	store.Fails = nil
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(with(store, viewtest.Log()), viewtest.Job()), 80, 24)
	for _, want := range []string{"4f3c/chk-44", "77aa/chk-44"} {
		if !strings.Contains(d.Frame(), want) {
			t.Errorf("%q is not on the screen:\n%s", want, d.Frame())
		}
	}
}

// The selection and the choice stay on their points when they are read again.
func TestReloadKeepsSelectionAndChoice(t *testing.T) {
	source := viewtest.Incident()
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(source, viewtest.Job()), 80, 24)
	d.Press("j", "space", "j")
	store := viewtest.Store()
	store.Places[viewtest.Checkpoints] = append([]inspect.RecoveryPoint{viewtest.Point("chk-45", 45, 0, viewtest.Boundary())}, store.Places[viewtest.Checkpoints]...)
	source.Add(viewtest.Job().Name, store, viewtest.Log())
	d.Press("r")
	for _, want := range []string{"   chk-45", "◆ chk-43", "▸ chk-42"} {
		if !strings.Contains(d.Frame(), want) {
			t.Errorf("after a reload %q is not on the screen:\n%s", want, d.Frame())
		}
	}
}

// A job opened from the list shows at once what the list knew, and reads again.
func TestOpensWithWhatIsKnown(t *testing.T) {
	source := viewtest.Incident()
	first := job.New(job.Options{Theme: viewtest.Plain(), Now: viewtest.Clock, Job: viewtest.Job(), Source: source})
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), first, 80, 24)
	want := d.Frame()
	d.Send(tui.Tick{})
	d.Press("r")
	if d.Frame() != want {
		t.Errorf("the same data looks different when it is read again:\n%s\nbefore:\n%s", d.Frame(), want)
	}
}

// Every partition is reached, and its numbers stand under it in full.
func TestEveryPartitionIsReached(t *testing.T) {
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(viewtest.Incident(), viewtest.Job()), 80, 24)
	d.Press("tab")
	seen := map[string]bool{}
	for range viewtest.Partitions {
		for _, line := range strings.Split(d.Frame(), "\n") {
			if _, row, ok := strings.Cut(line, "▸"); ok {
				seen[strings.Fields(row)[0]] = true
			}
		}
		d.Press("j")
	}
	if len(seen) != viewtest.Partitions {
		t.Errorf("%d of %d partitions were reached", len(seen), viewtest.Partitions)
	}
	d.Press("G")
	last := fmt.Sprintf("boundary %d", viewtest.Boundary()[63])
	if !strings.Contains(d.Frame(), last) {
		t.Errorf("%q is not under the last partition:\n%s", last, d.Frame())
	}
}
