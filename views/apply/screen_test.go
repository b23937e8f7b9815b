package apply_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/access"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/apply"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const chk42 = viewtest.Checkpoints + "/chk-42"

// scene is a cleanup that somebody approved, before it is started.
type scene struct {
	t     *testing.T
	plans *viewtest.Plans
	runs  *viewtest.Runs
	now   time.Time // of the screen
}

func newScene(t *testing.T) *scene {
	t.Helper()
	log := viewtest.Log()
	log.Control = viewtest.Control()
	for i := range log.Data.Partitions {
		log.Data.Partitions[i].Log.Start = 0
	}
	plans := viewtest.NewPlans(viewtest.Store(), log)
	return &scene{t: t, plans: plans, runs: plans.Runs, now: viewtest.Now}
}

// start starts the run, in steps or not.
func (s *scene) start(step bool) *apply.Running {
	s.t.Helper()
	r, err := s.plans.Apply(s.t.Context(), chk42, step)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { r.Stop(); _, _ = r.Wait() })
	return r
}

// clock is a time that a person needs for reading, further at each look.
func (s *scene) clock() time.Time {
	s.now = s.now.Add(time.Second)
	return s.now
}

func (s *scene) options() tui.Options {
	o := viewtest.Options(viewtest.Plain())
	header := o.Header
	o.Header = func() tui.Header {
		h := header()
		h.Access, h.Locked = "operate 29m", ""
		return h
	}
	o.Jobs = s.plans.Current.Jobs
	o.Commands = s.plans.Current.Commands(viewtest.Plain())
	return o
}

// root is a screen below the one of the run: a opens that.
type root struct {
	run   *apply.Running
	clock func() time.Time
	reads int
}

func (r *root) Init() tui.Cmd          { return nil }
func (r *root) Reload() tui.Cmd        { r.reads++; return nil }
func (r *root) Update(tui.Msg) tui.Cmd { return nil }
func (r *root) View(tui.Size) string   { return " the plan" }
func (r *root) Crumb() string          { return "Jobs" }
func (r *root) Status() tui.Status     { return tui.Status{Timeless: true} }
func (r *root) Keys() []tui.Key {
	return []tui.Key{{Keys: []string{"a"}, Help: "apply", Run: func() tui.Cmd {
		return tui.Push(apply.New(apply.Options{Theme: viewtest.Plain(), Now: r.clock, Running: r.run}))
	}}}
}

// watch opens the screen of a run.
func (s *scene) watch(r *apply.Running, width, height int) (*tuitest.Driver, *root) {
	s.t.Helper()
	below := &root{run: r, clock: s.clock}
	d := tuitest.New(s.t, s.options(), below, width, height)
	d.Press("a")
	return d, below
}

// until waits until the screen shows a text, as the console's pulses bring it.
func until(t *testing.T, d *tuitest.Driver, text string) {
	t.Helper()
	viewtest.Until(t, fmt.Sprintf("%q was shown on\n%s", text, d.Frame()), func() bool {
		d.Send(tui.Pulse{})
		d.Settle()
		return strings.Contains(d.Frame(), text)
	})
}

func says(t *testing.T, d *tuitest.Driver, want string) {
	t.Helper()
	if got := strings.Join(strings.Fields(d.Frame()), " "); !strings.Contains(got, want) {
		t.Errorf("it does not say %q:\n%s", want, d.Frame())
	}
}

func TestGoldens(t *testing.T) {
	type state struct {
		step bool
		set  func(*viewtest.Runs) (release func())
		wait string
		keys []string
	}
	hold := func(step string) func(*viewtest.Runs) func() {
		return func(r *viewtest.Runs) func() { return r.Hold(step) }
	}
	goes := func(set func(*viewtest.Runs)) func(*viewtest.Runs) func() {
		return func(r *viewtest.Runs) func() { set(r); return func() {} }
	}
	for name, s := range map[string]state{
		"reads":         {set: hold(actions.StepIdentity), wait: "step 3 reads"},
		"deletes":       {set: hold(actions.StepDelete), wait: "waits for a leader"},
		"stopping":      {set: hold(actions.StepDelete), wait: "waits for a leader", keys: []string{"ctrl+c"}},
		"asks":          {set: hold(actions.StepDelete), wait: "waits for a leader", keys: []string{"q"}},
		"waits-to-read": {step: true, set: goes(func(*viewtest.Runs) {}), wait: "step 1 waits for you:"},
		"applied":       {set: goes(func(*viewtest.Runs) {}), wait: "Receipt, y"},
		"failed": {set: goes(func(r *viewtest.Runs) {
			r.Fail(actions.StepIdentity, actions.Refuse(actions.StageIdentity, &inspect.Problem{Code: "plan-topic-id-mismatch", Message: "the topic was deleted and made again: its id is Q2fIxHVRQmmpQwJzMkLm3A"}))
		}), wait: "Receipt, y"},
		"partial": {set: goes(func(r *viewtest.Runs) {
			r.Fail(actions.StepDelete, fault.New(fault.Denied, "delete", "this user may not delete records of action-state").WithHint("the right Delete on the topic is missing"))
		}), wait: "Receipt, y"},
	} {
		for _, size := range viewtest.Sizes {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size.Width, size.Height), func(t *testing.T) {
				sc := newScene(t)
				release := s.set(sc.runs)
				defer release()
				d, _ := sc.watch(sc.start(s.step), size.Width, size.Height)
				until(t, d, s.wait)
				d.Press(s.keys...)
				d.Golden(fmt.Sprintf("%s-%dx%d", name, size.Width, size.Height))
			})
		}
	}
}

// The step that has no way back, as it waits for its A.
func TestGoldenBeforeTheWayOfNoReturn(t *testing.T) {
	for _, size := range viewtest.Sizes {
		s := newScene(t)
		d, _ := s.watch(s.start(true), size.Width, size.Height)
		s.toCommit(d)
		d.Golden(fmt.Sprintf("waits-to-write-%dx%d", size.Width, size.Height))
	}
}

// toCommit passes the reading steps with enter.
func (s *scene) toCommit(d *tuitest.Driver) {
	s.t.Helper()
	for _, number := range []string{"1", "2", "3", "4", "5", "6", "6b"} {
		until(s.t, d, "step "+number+" waits for you:")
		d.Press("enter")
	}
	until(s.t, d, "step 7 waits for you, and it writes")
}

// Enter passes steps that read, and each step that writes needs an A of its own.
func TestEachWritingStepNeedsItsOwnKey(t *testing.T) {
	s := newScene(t)
	r := s.start(true)
	d, below := s.watch(r, 80, 24)
	until(t, d, "step 1 waits for you:")
	d.Press("A")
	says(t, d, "step 1 only reads: enter goes on")
	s.toCommit(d)
	for _, try := range []func(){
		func() { d.Press("enter") }, func() { d.Hold("enter", 40) }, func() { d.Burst("AA") }, func() { d.Paste("A") },
		func() { d.Press("a") }, func() { d.Resize(10, 5); d.Press("A"); d.Resize(80, 24) },
	} {
		if try(); len(s.runs.Wrote()) != 0 {
			t.Fatalf("written: %v", s.runs.Wrote())
		}
	}
	for _, step := range []struct{ shows, key string }{
		{"step 7 waits for you, and", "A"}, {"step 8 waits for you, and", "A"}, {"step 9 waits for you:", "enter"}, {"step 10 waits for you, and", "A"},
	} {
		until(t, d, step.shows)
		d.Press(step.key)
	}
	until(t, d, "✔ applied:")
	if want := []string{"commit", "delete", "applied"}; !slices.Equal(s.runs.Wrote(), want) {
		t.Errorf("written %v, want %v", s.runs.Wrote(), want)
	}
	if below.reads != 1 {
		t.Errorf("the screen below has read %d times again", below.reads)
	}
}

// What an earlier apply has done is said where this one has changed nothing yet.
func TestWhatWasDoneBeforeIsNotForgotten(t *testing.T) {
	s := newScene(t)
	s.runs.Skip(actions.StepCommit, "the plan is recorded as COMMITTED already")
	d, _ := s.watch(s.start(true), 80, 24)
	for _, number := range []string{"1", "2", "3", "4", "5", "6", "6b"} {
		until(t, d, "step "+number+" waits for you:")
		d.Press("enter")
	}
	until(t, d, "step 8 waits for you, and it writes")
	says(t, d, "If this stops here: this apply has changed nothing; step 7 has nothing to do: the plan is recorded as COMMITTED already")
}

// A held key passes one step, and none that came up under it.
func TestAHeldKeyPassesOneStep(t *testing.T) {
	s := newScene(t)
	d, _ := s.watch(s.start(true), 80, 24)
	until(t, d, "step 1 waits for you:")
	d.Hold("enter", 60)
	until(t, d, "step 2 waits for you:")
	d.Hold("space", 10)
	d.Send(tui.Pulse{})
	says(t, d, "step 2 waits for you")
}

// A key that comes before the step could be read was meant for another one.
func TestAStepIsReadBeforeItsGo(t *testing.T) {
	s := newScene(t)
	r := s.start(true)
	d := tuitest.New(t, s.options(), &root{run: r, clock: func() time.Time { return viewtest.Now }}, 80, 24)
	d.Press("a")
	until(t, d, "step 1 waits for you:")
	d.Press("enter")
	says(t, d, "step 1 was not read yet: once more")
}

// The key that writes is off, and says why, where the console is not armed.
func TestWritingNeedsAnArmedConsole(t *testing.T) {
	s := newScene(t)
	o := s.options()
	o.Header, o.Arming, o.Level = nil, new(access.Arming), access.Operate
	d := tuitest.New(t, o, &root{run: s.start(true), clock: s.clock}, 80, 24)
	d.Press("a")
	s.toCommit(d)
	d.Press("A")
	says(t, d, "A write is off: the console is read-only until :operate arms it")
	if len(s.runs.Wrote()) != 0 {
		t.Errorf("written: %v", s.runs.Wrote())
	}
}

// "rest" ends the pauses but the one before the point of no return.
func TestTheRestStillPausesBeforeThePointOfNoReturn(t *testing.T) {
	s := newScene(t)
	d, _ := s.watch(s.start(true), 80, 24)
	until(t, d, "step 1 waits for you:")
	d.Press(":")
	d.Type("rest")
	d.Press("enter")
	until(t, d, "step 7 waits for you, and it writes")
	if len(s.runs.Wrote()) != 0 {
		t.Fatalf("written: %v", s.runs.Wrote())
	}
	d.Press("A")
	until(t, d, "✔ applied:")
}

// Leaving asks, and whatever is answered the run is not left half-way.
func TestLeavingNeverAbandonsTheRun(t *testing.T) {
	for name, tt := range map[string]struct {
		keys  []string
		top   string
		wrote int
	}{
		"keep watching":               {[]string{"q", "enter"}, "apply cleanup f0416ffc", 3},
		"esc declines the question":   {[]string{"esc", "esc"}, "apply cleanup f0416ffc", 3},
		"look at other screens":       {[]string{"esc", "j", "enter"}, "Jobs", 3},
		"the last screen":             {[]string{"-", "j", "enter"}, "Jobs", 3},
		"stop at the next safe place": {[]string{"q", "j", "j", "enter"}, "apply cleanup f0416ffc", 2},
		"ctrl-c is a stop":            {[]string{"ctrl+c"}, "apply cleanup f0416ffc", 2},
		"a small terminal":            {[]string{}, "apply cleanup f0416ffc", 3},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			release := s.runs.Hold(actions.StepDelete)
			r := s.start(false)
			d, _ := s.watch(r, 80, 24)
			until(t, d, "waits for a leader")
			if len(tt.keys) == 0 {
				d.Resize(10, 5)
			}
			for _, key := range tt.keys {
				if key == "enter" {
					d.Press("space") // the key that opened a question never answers it
					continue
				}
				d.Press(key)
			}
			if d.Exited() || d.Top().Crumb() != tt.top || r.Ended() {
				t.Fatalf("exited %v, on %q, ended %v\n%s", d.Exited(), d.Top().Crumb(), r.Ended(), d.Frame())
			}
			release()
			if _, err := r.Wait(); (err == nil) != (tt.wrote == 3) || len(s.runs.Wrote()) != tt.wrote {
				t.Errorf("written %v, %v", s.runs.Wrote(), err)
			}
		})
	}
}

// A step that failed is not called a step that writes while what came of it is read,
// and does not count as passed.
func TestAStepThatFailedIsNotCalledRunning(t *testing.T) {
	s := newScene(t)
	s.runs.Fail(actions.StepDelete, fault.New(fault.Unreachable, "delete records", "no broker answered within 30s"))
	release := s.runs.Hold(viewtest.Verdict)
	d, _ := s.watch(s.start(false), 80, 24)
	until(t, d, "FAILED")
	says(t, d, "✖ step 8 was not done (nothing was sent): no broker answered within 30s")
	says(t, d, "everything is read again now, to say what came of it")
	says(t, d, "step 8 failed 8 of 11 steps 72 %")
	if frame := d.Frame(); strings.Contains(frame, "WRITES: ") {
		t.Errorf("it is still called writing:\n%s", frame)
	}
	release()
	until(t, d, "Receipt")
}

// A run is in the strip of every screen and is found again; at its end the strip
// says so until somebody has looked.
func TestARunIsFoundAgain(t *testing.T) {
	s := newScene(t)
	release := s.runs.Hold(actions.StepDelete)
	r := s.start(false)
	d, _ := s.watch(r, 80, 24)
	until(t, d, "waits for a leader")
	d.Press("esc", "j", "space")
	says(t, d, "cleanup f0416ffc, step 8")
	says(t, d, ":apply opens it")
	d.Press("ctrl+z")
	says(t, d, "ctrl-z is off: cleanup f0416ffc is being applied")
	d.Press("q")
	says(t, d, "The console can't be left while a plan is applied")
	d.Press("esc", ":")
	d.Type("apply")
	d.Press("enter")
	says(t, d, "waits for a leader")
	d.Press(":")
	d.Type("apply")
	d.Press("enter", "esc", "j", "space")
	if d.Top().Crumb() != "Jobs" {
		t.Errorf("two screens of one run are on the stack: %q", d.Top().Crumb())
	}
	release()
	if _, err := r.Wait(); err != nil {
		t.Fatal(err)
	}
	d.Send(tui.Pulse{})
	says(t, d, "cleanup f0416ffc has ended: applied")
	d.Press(":")
	d.Type("apply")
	d.Press("enter")
	says(t, d, "✔ applied:")
	d.Press("esc")
	if strings.Contains(d.Frame(), "has ended") {
		t.Errorf("the strip is still there:\n%s", d.Frame())
	}
	d.Press("ctrl+c")
	if !d.Exited() {
		t.Error("the console can't be left")
	}
}

// Two seconds after the first, a second ctrl-c ends it now; sooner, and held
// down, it changes nothing.
func TestCtrlCMeansWhatTheRunSays(t *testing.T) {
	s := newScene(t)
	release := s.runs.Hold(actions.StepDelete)
	defer release()
	d, _ := s.watch(s.start(false), 80, 24)
	until(t, d, "waits for a leader")
	d.Press("ctrl+c")
	says(t, d, "stops at the next safe place")
	d.Press("ctrl+c")
	says(t, d, "only another ctrl-c, two seconds or more after the first")
	if s.plans.Current.Running().Ended() {
		t.Error("it was ended")
	}
}

func TestTheReceiptIsCopiedAsOneBlock(t *testing.T) {
	s := newScene(t)
	release := s.runs.Hold(actions.StepDelete)
	r := s.start(false)
	d, _ := s.watch(r, 80, 24)
	until(t, d, "waits for a leader")
	d.Press("y")
	says(t, d, "there is nothing to copy here")
	release()
	until(t, d, "✔ applied:")
	d.Press("y")
	result, err := r.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if want := base64.StdEncoding.EncodeToString([]byte(result.Receipt.Text())); !strings.Contains(d.Clipboard(), want) {
		t.Errorf("the clipboard got %q", d.Clipboard())
	}
	for _, word := range []string{"disk pressure INC-2231", "ops@bastion, profile orders", chk42, "partition    63: log start 465, target 465"} {
		if !strings.Contains(result.Receipt.Text(), word) {
			t.Errorf("the receipt does not say %q", word)
		}
	}
}

// There is one apply at a time.
func TestOneAtATime(t *testing.T) {
	s := newScene(t)
	release := s.runs.Hold(actions.StepDelete)
	defer release()
	r := s.start(false)
	err := s.plans.Current.Reserve("cleanup 00000000")
	if fault.KindOf(err) != fault.Busy || !strings.Contains(err.Error(), "cleanup f0416ffc is being applied from this console") {
		t.Errorf("%v", err)
	}
	release()
	if _, err := r.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := s.plans.Current.Reserve("cleanup 00000000"); err != nil {
		t.Error(err)
	}
	if why := s.plans.Current.Busy(); why != "cleanup 00000000 is being started from this console" {
		t.Errorf("busy: %q", why)
	}
	s.plans.Current.Forget()
	if why := s.plans.Current.Busy(); why != "" {
		t.Errorf("busy: %q", why)
	}
}

// What a backend says is harmless on the screen.
func TestHostileWordsAreHarmless(t *testing.T) {
	s := newScene(t)
	s.runs.Fail(actions.StepIdentity, fault.New(fault.Denied, "read", "%s", viewtest.Hostile).WithHint("%s", viewtest.Hostile))
	s.runs.Skip(actions.StepControlTopic, viewtest.Hostile)
	d, _ := s.watch(s.start(false), 120, 100)
	until(t, d, "Receipt, y")
	viewtest.Harmless(t, d)
	says(t, d, `\x1b[2J`)
}

func TestASCII(t *testing.T) {
	s := newScene(t)
	th := viewtest.ASCIITheme()
	o := s.options()
	o.Theme = th
	d := tuitest.New(t, o, apply.New(apply.Options{Theme: th, Now: s.clock, Running: s.start(true)}), 120, 60)
	until(t, d, "step 1 waits for you:")
	viewtest.ASCII(t, d)
}

// Whatever keys come, no step that writes is passed but with A, and the console
// is not left while it goes on.
func TestStorm(t *testing.T) {
	s := newScene(t)
	release := s.runs.Hold(actions.StepCommit) // an A leads here and no further
	r := s.start(true)
	tuitest.StormWith(t, s.options(), func() tui.Screen {
		return apply.New(apply.Options{Theme: viewtest.Plain(), Now: s.clock, Running: r})
	})
	if wrote := s.runs.Wrote(); len(wrote) != 0 {
		t.Errorf("written: %v", wrote)
	}
	release()
}
