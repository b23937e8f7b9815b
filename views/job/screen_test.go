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

// rows are the first words of the rows below a header, without the marks.
func rows(frame, header string) []string {
	var out []string
	_, below, _ := strings.Cut(frame, header)
	for _, line := range strings.Split(below, "\n")[1:] {
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, " /") {
			break
		}
		if strings.HasPrefix(line, "     ") { // what stands under the selected row
			continue
		}
		out = append(out, strings.Fields(strings.TrimLeft(line, " ▸…◆"))[0])
	}
	return out
}

// Points are filtered by verdict, kind, choice and any part of their addresses,
// partitions by what is said about them; what is about a point follows it.
func TestFilters(t *testing.T) {
	tests := map[string]struct {
		keys   []string // before the filter
		query  string
		header string
		want   string
	}{
		"accepted":        {nil, "accepted", "RECOVERY POINT", "chk-44 chk-43 chk-42"},
		"not accepted":    {nil, "!accepted", "RECOVERY POINT", "savepoint-4f3c-a1 chk-12 savepoint-9c41-77"},
		"rejected":        {nil, "rejected", "RECOVERY POINT", "savepoint-4f3c-a1 chk-12"},
		"unknown":         {nil, "unknown", "RECOVERY POINT", "savepoint-9c41-77"},
		"a kind":          {nil, "savepoint", "RECOVERY POINT", "savepoint-4f3c-a1 savepoint-9c41-77"},
		"an address":      {nil, "checkpoints/4f3c/chk-4", "RECOVERY POINT", "chk-44 chk-43 chk-42"},
		"chosen":          {[]string{"j", "space"}, "chosen", "RECOVERY POINT", "chk-43"},
		"nothing":         {nil, "xyzzy", "RECOVERY POINT", ""},
		"not trimmed":     {[]string{"tab"}, "not trimmed", "P  START", "0 1"},
		"all but trimmed": {[]string{"tab"}, "!log start", "P  START", "0 1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(viewtest.Incident(), viewtest.Job()), 120, 40)
			d.Press(tt.keys...)
			d.Press("/")
			d.Type(tt.query)
			d.Press("enter")
			if got := strings.Join(rows(d.Frame(), tt.header), " "); got != tt.want {
				t.Errorf("/%s shows %q, want %q:\n%s", tt.query, got, tt.want, d.Frame())
			}
		})
	}
}

// A filter stays when the points are read again, and the partitions are about
// the point that the filter left selected.
func TestAFilterLeadsTheBars(t *testing.T) {
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(viewtest.Incident(), viewtest.Job()), 120, 40)
	d.Press("/")
	d.Type("rejected")
	d.Press("enter", "j", "r")
	for _, want := range []string{"▸ chk-12", "SPAN FROM chk-12", "/rejected  2 of 6 rows", "below ▲"} {
		if !strings.Contains(d.Frame(), want) {
			t.Errorf("%q is not on the screen:\n%s", want, d.Frame())
		}
	}
	d.Press("esc")
	if got := len(rows(d.Frame(), "RECOVERY POINT")); got != 6 {
		t.Errorf("esc shows %d points:\n%s", got, d.Frame())
	}
}

// What Flink does with the job, and what it restores by itself, stands beside
// the points; what is not known is said.
func TestTheRunningJobIsNeverSilent(t *testing.T) {
	tests := map[string]struct {
		source job.Source
		job    inspect.Job
		want   []string
	}{
		"nobody asked": {viewtest.Incident(), viewtest.Job(), []string{"live state: not connected"}},
		"no answer":    {unanswered(), viewtest.LiveJob(), []string{"live state: could not be read", "the running job could not be read: http://jobmanager:8081"}},
		"it restarts": {viewtest.Live(viewtest.Failing()), viewtest.LiveJob(), []string{
			"live state: RESTARTING 4m   7+ restarts   restored from savepoint-4f3c-a1", "by itself Flink restores savepoint-4f3c-a1 (REJECTED)", "✖ job order-agent is RESTARTING",
		}},
		"it runs": {viewtest.Live(viewtest.Steady()), viewtest.LiveJob(), []string{
			"live state: RUNNING 21m   1+ restart   restored from chk-42", "by itself Flink restores chk-44 (accepted)", "last failure 13:41Z …IllegalStateException: Recovery marker offset 100",
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(tt.source, tt.job), 80, 24)
			for _, want := range tt.want {
				if !strings.Contains(d.Frame(), want) {
					t.Errorf("%q is not on the screen:\n%s", want, d.Frame())
				}
			}
		})
	}
}

// Two points are compared: those chosen, or the one chosen and the selected one;
// fewer or more say what to do.
func TestCompareTakesTwo(t *testing.T) {
	tests := map[string]struct {
		keys []string
		want string // the crumb, or a part of the sentence
	}{
		"none is chosen":             {nil, "choose two recovery points with space"},
		"only the selected one":      {[]string{"space"}, "choose two recovery points with space"},
		"one and the selected one":   {[]string{"space", "j"}, "chk-44 and chk-43"},
		"two, the selection aside":   {[]string{"space", "j", "space", "j"}, "chk-44 and chk-43"},
		"in the order of the list":   {[]string{"j", "j", "space", "k", "k", "space"}, "chk-44 and chk-42"},
		"three":                      {[]string{"space", "j", "space", "j", "space"}, "3 points are chosen: unchoose all but two"},
		"chosen, and chosen no more": {[]string{"space", "j", "space", "space", "k"}, "choose two recovery points with space"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(viewtest.Incident(), viewtest.Job()), 80, 24)
			d.Press(tt.keys...)
			d.Press("=")
			if !strings.Contains(d.Frame(), tt.want) {
				t.Errorf("%q is not on the screen:\n%s", tt.want, d.Frame())
			}
		})
	}
}

// Something depends on a pinned point: the word is seen beside a savepoint's
// name as Flink makes them, on the smallest usual terminal.
func TestAPinnedSavepointIsSeenAsOne(t *testing.T) {
	source, job := viewtest.Incident(), viewtest.Job()
	pinned := viewtest.Point("savepoint-4f3c92-a1d7c0e52b94", 12, 3*time.Hour, viewtest.Boundary())
	job.Pinned = []string{pinned.URI}
	source.Add(job.Name, viewtest.Shelf{Places: map[string][]inspect.RecoveryPoint{viewtest.Checkpoints: {pinned}}}, viewtest.Log())
	frame := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(source, job), 80, 24).Frame()
	if !strings.Contains(frame, "savepoint-4f3c92-a1d7c0e52b94 (pin") {
		t.Errorf("the word is cut off:\n%s", frame)
	}
}
