package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"
	"pgregory.net/rapid"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/findings"
	"github.com/recoverctl/recoverctl/views/job"
	"github.com/recoverctl/recoverctl/views/jobs"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

var _ jobs.Source = (*inspect.Inspector)(nil)

func screen(th theme.Theme, source jobs.Source, all ...inspect.Job) *jobs.Screen {
	return jobs.New(jobs.Options{Theme: th, Now: viewtest.Clock, Jobs: all, Source: source})
}

// quiet is a job without a control topic and with nothing wrong.
func quiet() (inspect.Job, viewtest.Shelf, viewtest.Broker) {
	job := viewtest.Job()
	job.Name, job.ControlTopic, job.RecoveryPoints = "billing-agent", nil, []string{"s3://flink-state/billing"}
	store := viewtest.Shelf{Places: map[string][]inspect.RecoveryPoint{
		"s3://flink-state/billing": {viewtest.Point("chk-7", 7, 4*time.Minute, viewtest.Boundary())},
	}}
	return job, store, viewtest.Log()
}

// dark is a job whose cluster does not answer and whose place can't be listed.
func dark() (inspect.Job, viewtest.Shelf, viewtest.Broker) {
	job := viewtest.Job()
	job.Name, job.RecoveryPoints = "audit-agent", []string{"s3://audit/checkpoints"}
	gone := viewtest.Gone()
	return job, viewtest.Shelf{Fails: map[string]error{"s3://audit/checkpoints": gone}}, viewtest.Broker{DataErr: gone, ControlErr: gone}
}

// refused is a job whose control topic a restore refuses.
func refused() (inspect.Job, viewtest.Shelf, viewtest.Broker) {
	job := viewtest.Job()
	job.Name = "refund-agent"
	log := viewtest.Log()
	log.Control = viewtest.Control(inspect.ControlRecord{Key: []byte("x")})
	return job, viewtest.Store(), log
}

func profile() (*viewtest.Source, []inspect.Job) {
	source := viewtest.Incident()
	all := []inspect.Job{viewtest.Job()}
	for _, make := range []func() (inspect.Job, viewtest.Shelf, viewtest.Broker){quiet, refused, dark} {
		job, store, log := make()
		source.Add(job.Name, store, log)
		all = append(all, job)
	}
	return source, all
}

func TestFrames(t *testing.T) {
	source, all := profile()
	running, connected := profile()
	running.Connect(viewtest.Job().Name, viewtest.Flink{State: viewtest.Failing()})
	connected[0] = viewtest.LiveJob()
	running.Connect(connected[1].Name, viewtest.Flink{State: viewtest.Steady()})
	running.Connect(connected[2].Name, viewtest.Flink{Err: viewtest.Gone()})
	for i := range connected[:3] {
		connected[i].Flink = viewtest.LiveJob().Flink
	}
	alone, store, log := dark()
	failing := &viewtest.Source{}
	failing.Add(alone.Name, store, log)
	halfJob := viewtest.Job()
	halfLog := viewtest.Log()
	halfLog.ControlErr = viewtest.Gone()
	half := &viewtest.Source{}
	half.Add(halfJob.Name, viewtest.Store(), halfLog)
	viewtest.Goldens(t, map[string]viewtest.Case{
		"loading": {Screen: func() tui.Screen { return screen(viewtest.Plain(), source, all...) }, Busy: true},
		"empty":   {Screen: func() tui.Screen { return screen(viewtest.Plain(), source) }},
		"full":    {Screen: func() tui.Screen { return screen(viewtest.Plain(), source, all...) }},
		"refused": {Screen: func() tui.Screen { return screen(viewtest.Plain(), source, all...) }, Keys: []string{"j", "j"}},
		"failed":  {Screen: func() tui.Screen { return screen(viewtest.Plain(), failing, alone) }},
		"scanned": {Screen: func() tui.Screen { return screen(viewtest.Plain(), viewtest.Seen{Source: running}, connected...) }},
		"partial": {Screen: func() tui.Screen { return screen(viewtest.Plain(), half, halfJob) }},
	})
}

// From home to "why was this point rejected" it takes three keys.
func TestWhyTakesThreeKeys(t *testing.T) {
	source := viewtest.Incident()
	store := viewtest.Store()
	places := store.Places[viewtest.Checkpoints]
	store.Places[viewtest.Checkpoints] = []inspect.RecoveryPoint{places[0], places[3]}
	store.Places[viewtest.Savepoints] = nil
	source.Add(viewtest.Job().Name, store, viewtest.Log())
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(viewtest.Plain(), source, viewtest.Job()), 80, 24)
	d.Press("enter", "j", "v")
	if frame := d.Frame(); !strings.Contains(frame, "REJECTED: partition 0 must be read from 60, cleanup") {
		t.Errorf("three keys from home:\n%s", frame)
	}
}

// One job that is slow hides no other: each comes as it is read.
func TestEachJobComesWhenItIsRead(t *testing.T) {
	source, all := profile()
	d := tuitest.NewBusy(t, viewtest.Options(viewtest.Plain()), screen(viewtest.Plain(), source, all...), 80, 24)
	if got := strings.Count(d.Frame(), "reading…"); got != len(all) {
		t.Fatalf("%d of %d rows are reading at first:\n%s", got, len(all), d.Frame())
	}
	for left, steps := len(all), 0; left > 0; steps++ {
		d.Step()
		got := strings.Count(d.Frame(), "reading…")
		if got < left-1 || got > left || steps > 4*len(all) {
			t.Fatalf("after %d steps %d rows are still reading, after %d before:\n%s", steps, got, left, d.Frame())
		}
		left = got
	}
}

// A list of recovery points that nobody could read is not an empty one: 0 is
// only said of places that were read.
func TestPointsThatCouldNotBeListedAreNotCounted(t *testing.T) {
	here := []string{viewtest.Checkpoints}
	for name, tt := range map[string]struct {
		places []string
		store  viewtest.Shelf
		row    string
		says   string
	}{
		"an empty place":      {here, viewtest.Shelf{}, "0    0    0", "0 recovery points: 0 accepted, 0 rejected, 0 unknown (1 place searched)"},
		"a place not read":    {here, viewtest.Shelf{Fails: map[string]error{viewtest.Checkpoints: viewtest.Gone()}}, "–    –    –", "recovery points: not known (1 place searched, not all of it could be read)"},
		"no place configured": {nil, viewtest.Shelf{}, "–    –    –", "recovery points: not known (no place is configured)"},
	} {
		t.Run(name, func(t *testing.T) {
			source, j := viewtest.Incident(), viewtest.Job()
			j.RecoveryPoints, j.Pinned = tt.places, nil
			source.Add(j.Name, tt.store, viewtest.Log())
			frame := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(viewtest.Plain(), source, j), 120, 40).Frame()
			for _, want := range []string{tt.row, tt.says} {
				if !strings.Contains(frame, want) {
					t.Errorf("no %q in\n%s", want, frame)
				}
			}
		})
	}
}

// hung is a JobManager that answers when it is told to.
type hung struct {
	inspect.LiveStore
	answer <-chan struct{}
}

func (h hung) Live(ctx context.Context, ref inspect.JobRef) (inspect.LiveState, error) {
	select {
	case <-h.answer:
		return h.LiveStore.Live(ctx, ref)
	case <-ctx.Done():
		return inspect.LiveState{}, ctx.Err()
	}
}

// A JobManager that hangs, as it does in many an incident, hides neither the log
// nor the recovery points; what it says at last comes to its place.
func TestAJobManagerThatHangsHidesNothingElse(t *testing.T) {
	for name, screen := range map[string]func(jobs.Source, inspect.Job) tui.Screen{
		"the list":           func(s jobs.Source, j inspect.Job) tui.Screen { return screen(viewtest.Plain(), s, j) },
		"the job":            func(s jobs.Source, j inspect.Job) tui.Screen { return job.New(about(s, j)) },
		"the job's findings": func(s jobs.Source, j inspect.Job) tui.Screen { return findings.New(problems(s, j)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := make(chan struct{})
			source, j := viewtest.Live(viewtest.Failing()), viewtest.LiveJob()
			source.Connect(j.Name, hung{viewtest.Flink{State: viewtest.Failing()}, answer})
			d := tuitest.NewBusy(t, viewtest.Options(viewtest.Plain()), screen(source, j), 120, 40)
			d.Step() // the batch of reads
			d.Step()
			frame := d.Frame()
			for _, want := range []string{"is in force, log not trimmed yet on 2 of 64 partitions", "reading"} {
				if !strings.Contains(frame, want) {
					t.Errorf("while Flink hangs there is no %q:\n%s", want, frame)
				}
			}
			if strings.Contains(frame, "RESTARTING") || strings.Contains(frame, "not connected") || strings.Contains(frame, "live state: could not") {
				t.Errorf("before Flink has answered something is said of the job:\n%s", frame)
			}
			if name != "the job's findings" && !strings.Contains(frame, "live state: no answer yet") {
				t.Errorf("it does not say what is awaited:\n%s", frame)
			}
			close(answer)
			d.Settle()
			if frame := d.Frame(); !strings.Contains(frame, "RESTARTING") || strings.Contains(frame, "no answer yet") {
				t.Errorf("after Flink has answered:\n%s", frame)
			}
		})
	}
}

// mute are brokers that answer when they are told to.
type mute struct {
	inspect.LogStore
	answer <-chan struct{}
}

func (m mute) DataTopic(ctx context.Context, name string) (inspect.DataTopic, error) {
	select {
	case <-m.answer:
		return m.LogStore.DataTopic(ctx, name)
	case <-ctx.Done():
		return inspect.DataTopic{}, ctx.Err()
	}
}

// Brokers that are silent hide no recovery point, and until they answer nothing
// is said that only they know.
func TestBrokersThatAreSilentHideNoPoint(t *testing.T) {
	for name, screen := range map[string]func(jobs.Source, inspect.Job) tui.Screen{
		"the list": func(s jobs.Source, j inspect.Job) tui.Screen { return screen(viewtest.Plain(), s, j) },
		"the job":  func(s jobs.Source, j inspect.Job) tui.Screen { return job.New(about(s, j)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := make(chan struct{})
			source, j := viewtest.Incident(), viewtest.Job()
			source.Add(j.Name, viewtest.Store(), mute{viewtest.Log(), answer})
			d := tuitest.NewBusy(t, viewtest.Options(viewtest.Plain()), screen(source, j), 120, 40)
			d.Step() // the batch of reads
			d.Step()
			frame := d.Frame()
			for _, want := range []string{"the brokers have not answered yet", "reading"} {
				if !strings.Contains(frame, want) {
					t.Errorf("while the brokers are silent there is no %q:\n%s", want, frame)
				}
			}
			if name == "the job" && !strings.Contains(frame, "chk-44") {
				t.Errorf("no recovery point:\n%s", frame)
			}
			for _, never := range []string{"ACCEPTED", "REJECTED", "REFUSED", "the boundary could not be read", "not read"} {
				if strings.Contains(frame, never) {
					t.Errorf("while the brokers are silent it says %q:\n%s", never, frame)
				}
			}
			close(answer)
			d.Settle()
			if frame := d.Frame(); strings.Contains(frame, "not answered yet") || !strings.Contains(frame, "is in force, log not trimmed yet on 2 of 64 partitions") {
				t.Errorf("after they answered:\n%s", frame)
			}
		})
	}
}

// What is known of the running job is not taken away by a reload that its
// JobManager does not answer.
func TestAJobManagerThatHangsAtAReloadLeavesWhatItSaid(t *testing.T) {
	t.Parallel()
	answer := make(chan struct{}, 1)
	answer <- struct{}{}
	source, j := viewtest.Live(viewtest.Failing()), viewtest.LiveJob()
	source.Connect(j.Name, hung{viewtest.Flink{State: viewtest.Failing()}, answer})
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(viewtest.Plain(), source, j), 120, 40)
	d.Wait(time.Second)
	d.Send(tuitest.Key(t, "r"))
	d.Step() // the batch of reads
	d.Step()
	if frame := d.Frame(); !strings.Contains(frame, "live state: RESTARTING") || !strings.Contains(frame, "reading") {
		t.Errorf("while the reload hangs:\n%s", frame)
	}
	answer <- struct{}{}
	d.Settle()
}

func about(s jobs.Source, j inspect.Job) job.Options {
	return job.Options{Theme: viewtest.Plain(), Now: viewtest.Clock, Job: j, Source: s}
}

func problems(s jobs.Source, j inspect.Job) findings.Options {
	return findings.Options{Theme: viewtest.Plain(), Now: viewtest.Clock, Job: j, Source: s}
}

// A cluster that stops answering leaves what is known, with its age and the
// error beside it.
func TestAFailedReloadKeepsWhatIsKnown(t *testing.T) {
	source, job := viewtest.Incident(), viewtest.Job()
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(viewtest.Plain(), source, job), 120, 40)
	gone := viewtest.Gone()
	source.Add(job.Name, viewtest.Shelf{Fails: map[string]error{viewtest.Checkpoints: gone, viewtest.Savepoints: gone}}, viewtest.Broker{DataErr: gone, ControlErr: gone})
	d.Press("r")
	for _, want := range []string{"reading again failed, what is shown is older: no broker answers", "6 recovery points: 3 accepted, 2 rejected, 1 unknown"} {
		if !strings.Contains(d.Frame(), want) {
			t.Errorf("after a failed reload %q is not shown:\n%s", want, d.Frame())
		}
	}
}

func TestHostileBytesDoNothing(t *testing.T) {
	for _, keys := range [][]string{{}, {"enter"}, {"enter", "f"}, {"enter", "v"}, {"enter", "v", "a", "G"}, {"enter", "enter"}, {"enter", "enter", "G"}, {"enter", "tab"}, {"?"}} {
		t.Run(strings.Join(keys, " "), func(t *testing.T) {
			source, job := viewtest.HostileIncident()
			d := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(viewtest.Plain(), source, job), 80, 24)
			viewtest.Harmless(t, d)
			d.Press(keys...)
			viewtest.Harmless(t, d)
			if len(keys) == 0 && !strings.Contains(d.Frame(), `a\x1b[2J`) {
				t.Errorf("the job's name is not shown as it is:\n%s", d.Frame())
			}
		})
	}
}

// Every screen reads the same in ASCII.
func TestASCII(t *testing.T) {
	source, all := profile()
	th := viewtest.ASCIITheme()
	d := tuitest.NewBusy(t, viewtest.Options(th), screen(th, source, all...), 80, 24)
	viewtest.ASCII(t, d)
	d.Settle()
	for _, key := range []string{"j", "k", "enter", "space", "tab", "j", "tab", "f", "esc", "v", "a", "n", "esc", "enter", "G", "v"} {
		d.Press(key)
		viewtest.ASCII(t, d)
		if t.Failed() {
			t.Fatalf("after %s:\n%s", key, d.Frame())
		}
	}
}

// What colour says is said by a word or a sign too: with colours and without
// the same text is shown.
func TestColoursAddNothing(t *testing.T) {
	source, all := profile()
	coloured := theme.New(theme.Options{Palette: theme.Dark, Colors: termenv.TrueColor})
	a := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(viewtest.Plain(), source, all...), 80, 24)
	b := tuitest.New(t, viewtest.Options(coloured), screen(coloured, source, all...), 80, 24)
	for _, key := range []string{"j", "k", "enter", "j", "j", "j", "v", "a", "esc", "tab", "f", "esc", "enter"} {
		a.Press(key)
		b.Press(key)
		if a.Frame() != b.Frame() {
			t.Fatalf("after %s colours change the text:\n%s\n%s", key, a.Frame(), b.Frame())
		}
		if !strings.Contains(b.Styled(), "\x1b[") {
			t.Fatalf("after %s nothing is coloured", key)
		}
	}
}

// versions is a Source whose answers tell which one they are, wherever they are
// shown. Some fail, and some bring a part only.
type versions struct {
	mu     sync.Mutex
	source *viewtest.Source
	given  int
	fail   map[int]bool
}

func (v *versions) stamp(text *string) { *text = fmt.Sprintf("version %d; %s", v.given, *text) }

func (v *versions) OverviewSoon(ctx context.Context, job inspect.Job, patience time.Duration,
	show func(inspect.JobOverview, inspect.Awaited, error)) (inspect.JobOverview, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.given++
	if v.fail[v.given%7] {
		return inspect.JobOverview{}, errors.Join(fmt.Errorf("version %d; nothing could be read", v.given), viewtest.Gone())
	}
	o, err := v.source.OverviewSoon(ctx, job, patience, show)
	for i := range o.Findings {
		v.stamp(&o.Findings[i].Cause)
	}
	if v.given%3 == 0 { // points come and go
		o.Points = o.Points[:len(o.Points)-v.given%len(o.Points)]
	}
	for i := range o.Points {
		p := &o.Points[i].Validation
		p.Reasons = append([]inspect.Reason{}, p.Reasons...)
		for n := range p.Reasons {
			v.stamp(&p.Reasons[n].Message)
		}
		p.Notes = append([]string{fmt.Sprintf("version %d;", v.given)}, p.Notes...)
	}
	err = errors.Join(fmt.Errorf("version %d; a part could not be read", v.given), err)
	return o, err
}

func (v *versions) Point(ctx context.Context, uri string) (inspect.RecoveryPoint, error) {
	return v.source.Point(ctx, uri)
}

func (v *versions) Elsewhere(ctx context.Context, job inspect.Job, uri string) (inspect.PointSummary, error) {
	return v.source.Elsewhere(ctx, job, uri)
}

func (v *versions) Running(ctx context.Context, job inspect.Job) (inspect.Running, error) {
	return v.source.Running(ctx, job)
}

func (v *versions) Checkpoint(ctx context.Context, job inspect.Job, id int64) (inspect.LiveCheckpointDetails, error) {
	return v.source.Checkpoint(ctx, job, id)
}

func (v *versions) Control(ctx context.Context, job inspect.Job, expect *inspect.History) (inspect.CleanupBoundary, error) {
	return v.source.Control(ctx, job, expect)
}

func (v *versions) newest() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return fmt.Sprintf("version %d;", v.given)
}

// Whatever is pressed, at whatever size and however late the answers come, no
// screen panics, none is drawn outside the terminal, and after a reload the
// newest answer is on the screen.
func TestAnyKeysAtAnySize(t *testing.T) {
	keys := []string{
		"enter", "enter", "enter", "v", "v", "space", "tab", "tab", "f", "r", "n", "a", "esc", "esc", "-", "?", "j", "k", "g", "G",
		"up", "down", "pgup", "pgdown", "home", "end", "x", "A",
	}
	rapid.Check(t, func(rt *rapid.T) {
		fail := map[int]bool{}
		for _, n := range rapid.SliceOfN(rapid.IntRange(1, 6), 0, 2).Draw(rt, "failing") {
			fail[n] = true
		}
		source := &versions{source: viewtest.Incident(), fail: fail}
		d := tuitest.NewBusy(t, viewtest.Options(viewtest.Plain()), screen(viewtest.Plain(), source, viewtest.Job()), 80, 24)
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0:
				d.Resize(rapid.IntRange(1, 210).Draw(rt, "width"), rapid.IntRange(1, 70).Draw(rt, "height"))
			case 1: // letters that arrive together, and answers that are late
				d.Send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(rapid.StringOfN(rapid.RuneFrom([]rune("jkvrnafgG")), 1, 4, -1).Draw(rt, "burst"))})
			case 2:
				d.Advance(time.Duration(rapid.IntRange(1, 400).Draw(rt, "seconds")) * time.Second)
			default:
				d.Press(rapid.SampledFrom(keys).Draw(rt, "key"))
			}
			d.Styled()
		}
		d.Resize(120, 60)
		switch d.Top().(type) {
		case tui.Reloader:
		default:
			return
		}
		before := source.newest()
		d.Press("r", "g")
		if source.newest() == before {
			return // the point's own screen reads no overview
		}
		if frame := d.Frame(); !strings.Contains(frame, source.newest()) {
			rt.Fatalf("%s was the newest answer, and the screen shows\n%s", source.newest(), frame)
		}
		if t.Failed() {
			rt.FailNow()
		}
	})
}

// Jobs are filtered by what their state is, in words.
func TestFilters(t *testing.T) {
	source, all := profile()
	source.Connect(all[1].Name, viewtest.Flink{State: viewtest.Failing()})
	all[1].Flink = viewtest.LiveJob().Flink
	tests := map[string][]string{
		"failing": {"billing-agent"}, "rejected": {"order-agent", "refund-agent"}, "!accepted": {"refund-agent", "audit-agent"}, "audit": {"audit-agent"},
		"REFUSED": {"refund-agent"}, "unread": {"audit-agent"},
	}
	for query, want := range tests {
		d := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(viewtest.Plain(), source, all...), 200, 60)
		d.Press("/")
		d.Type(query)
		d.Press("enter")
		var got []string
		for _, line := range strings.Split(d.Frame(), "\n")[3:] {
			if name := strings.Fields(strings.TrimLeft(line, " ▸")); len(name) > 0 && !strings.HasPrefix(line, "     ") && strings.HasSuffix(name[0], "-agent") {
				got = append(got, name[0])
			}
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("/%s shows %q, want %q:\n%s", query, got, want, d.Frame())
		}
	}
}

// Of a job on Fluss nothing is said of cleanups.
func TestAJobOnFluss(t *testing.T) {
	job, store, log := quiet()
	job.Store, job.Topic = inspect.StoreFluss, "flink_agents.order_state"
	source := &viewtest.Source{}
	source.Add(job.Name, store, log)
	busy := tuitest.NewBusy(t, viewtest.Options(viewtest.Plain()), screen(viewtest.Plain(), source, job), 120, 40).Frame()
	if !strings.Contains(busy, "table flink_agents.order_state, recovery points in 1 place") {
		t.Errorf("while it is read:\n%s", busy)
	}
	frame := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(viewtest.Plain(), source, job), 120, 40).Frame()
	if !strings.Contains(frame, "1 recovery point:") || strings.Contains(frame, "boundary:") || strings.Contains(frame, "last cleanup") || strings.Contains(frame, "control topic") {
		t.Errorf("%s", frame)
	}
}
