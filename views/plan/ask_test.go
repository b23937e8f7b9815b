package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/access"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/plan"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

// planOf42 is the plan from chk-42 on an armed console.
func planOf42(t *testing.T, plans *viewtest.Plans, width, height int) *tuitest.Driver {
	t.Helper()
	t.Cleanup(func() {
		if r := plans.Current.Running(); r != nil {
			r.Stop()
			_, _ = r.Wait()
		}
	})
	return tuitest.New(t, viewtest.Armed(plans.Current), screen(viewtest.Plain(), plans, job(1), chk42), width, height)
}

// phrase is what has to be typed for the plan from chk-42.
func phrase() string {
	return "orders/action-state " + inspect.PlanID(chk42, "action-state", viewtest.TopicID, viewtest.Boundary())[:8]
}

// accept reads every warning, ticks each, and goes on.
func accept(t *testing.T, d *tuitest.Driver) {
	t.Helper()
	_, title, found := strings.Cut(d.Frame(), "┌ Accept ")
	var warnings int
	if _, err := fmt.Sscanf(title, "%d warnings", &warnings); !found || err != nil {
		t.Fatalf("no warnings are asked about (%v):\n%s", err, d.Frame())
	}
	for range 40 {
		d.Press("down")
	}
	for range warnings {
		d.Press("tab", "space")
	}
	d.Press("tab", "enter")
}

// fill reads the text to its end, types a reason and the phrase, and goes to the
// button.
func fill(d *tuitest.Driver) {
	for range 40 {
		d.Press("down")
	}
	d.Press("tab")
	d.Type("disk pressure INC-2231")
	d.Press("tab")
	d.Type(phrase())
	d.Press("tab")
}

func shows(t *testing.T, d *tuitest.Driver, want string) {
	t.Helper()
	if got := strings.Join(strings.Fields(d.Frame()), " "); !strings.Contains(got, want) {
		t.Errorf("%q is not on the screen:\n%s", want, d.Frame())
	}
}

// The whole way: the key, the warnings one by one, the lines, the reason, the
// phrase, the button; at every size, and at the smallest.
func TestAAppliesWhatWasShown(t *testing.T) {
	for _, size := range append(slices.Clone(viewtest.Sizes), tui.Size{Width: 60, Height: 15}) {
		t.Run(fmt.Sprintf("%dx%d", size.Width, size.Height), func(t *testing.T) {
			plans := viewtest.NewPlans(viewtest.Store(), before())
			d := planOf42(t, plans, size.Width, size.Height)
			d.Press("A")
			d.Golden(fmt.Sprintf("warnings-%dx%d", size.Width, size.Height))
			accept(t, d)
			d.Golden(fmt.Sprintf("confirm-%dx%d", size.Width, size.Height))
			fill(d)
			d.Golden(fmt.Sprintf("confirm-filled-%dx%d", size.Width, size.Height))
			if plans.Runs.Began() != 0 {
				t.Fatal("it was started before it was confirmed")
			}
			d.Press("space")
			running := plans.Current.Running()
			if running == nil {
				t.Fatalf("nothing was started:\n%s", d.Frame())
			}
			result, err := running.Wait()
			if err != nil || plans.Runs.Began() != 1 || !slices.Equal(plans.Runs.Wrote(), []string{"commit", "delete", "applied"}) {
				t.Fatalf("%s, %v, written %v", result.Verdict, err, plans.Runs.Wrote())
			}
			r := result.Receipt
			if r.Reason != "disk pressure INC-2231" || len(r.Accepted) == 0 || r.PlanID != inspect.PlanID(chk42, "action-state", viewtest.TopicID, viewtest.Boundary()) {
				t.Errorf("receipt %+v", r)
			}
			if !strings.Contains(d.Top().Crumb(), "apply cleanup") {
				t.Errorf("the screen is %q", d.Top().Crumb())
			}
		})
	}
}

// S pauses before the first step.
func TestSAppliesInSteps(t *testing.T) {
	plans := viewtest.NewPlans(viewtest.Store(), before())
	d := planOf42(t, plans, 80, 24)
	d.Press("S")
	accept(t, d)
	fill(d)
	d.Press("space")
	viewtest.Until(t, "step 1 waited", func() bool {
		d.Send(tui.Pulse{})
		return strings.Contains(d.Frame(), "step 1 waits for you:")
	})
	if len(plans.Runs.Wrote()) != 0 {
		t.Errorf("written %v", plans.Runs.Wrote())
	}
}

// Nothing but the whole way starts anything.
func TestNothingIsStartedByAccident(t *testing.T) {
	for name, try := range map[string]func(*testing.T, *tuitest.Driver){
		"a held A":          func(t *testing.T, d *tuitest.Driver) { d.Hold("A", 60) },
		"AAAA in one piece": func(t *testing.T, d *tuitest.Driver) { d.Burst("AAAA") },
		"a pasted A":        func(t *testing.T, d *tuitest.Driver) { d.Paste("A") },
		"enter after A":     func(t *testing.T, d *tuitest.Driver) { d.Press("A"); d.Hold("enter", 60) },
		"space after A":     func(t *testing.T, d *tuitest.Driver) { d.Press("A"); d.Hold("space", 60) },
		"the button at once": func(t *testing.T, d *tuitest.Driver) {
			d.Press("A")
			accept(t, d)
			d.Press("shift+tab", "space", "enter")
		},
		"a pasted phrase": func(t *testing.T, d *tuitest.Driver) {
			d.Press("A")
			accept(t, d)
			fill(d)
			d.Press("shift+tab", "ctrl+u")
			d.Paste(phrase())
			d.Press("tab", "space")
		},
		"another phrase": func(t *testing.T, d *tuitest.Driver) {
			d.Press("A")
			accept(t, d)
			fill(d)
			d.Press("shift+tab", "x", "tab", "space")
		},
		"no reason": func(t *testing.T, d *tuitest.Driver) {
			d.Press("A")
			accept(t, d)
			fill(d)
			d.Press("shift+tab", "shift+tab", "ctrl+u", "tab", "tab", "space")
		},
		"enter confirms nothing": func(t *testing.T, d *tuitest.Driver) { d.Press("A"); accept(t, d); fill(d); d.Press("enter") },
		"10×5 at the button": func(t *testing.T, d *tuitest.Driver) {
			d.Press("A")
			accept(t, d)
			fill(d)
			d.Resize(10, 5)
			d.Press("space", "enter")
			d.Resize(80, 24)
		},
		"10×5 and back, too soon": func(t *testing.T, d *tuitest.Driver) {
			d.Press("A")
			accept(t, d)
			fill(d)
			d.Resize(10, 5)
			d.Resize(80, 24)
			d.Send(tuitest.Key(t, "space"))
		},
		"esc at the button":    func(t *testing.T, d *tuitest.Driver) { d.Press("A"); accept(t, d); fill(d); d.Press("esc", "space") },
		"ctrl-c at the button": func(t *testing.T, d *tuitest.Driver) { d.Press("A"); accept(t, d); fill(d); d.Press("ctrl+c", "space") },
	} {
		t.Run(name, func(t *testing.T) {
			plans := viewtest.NewPlans(viewtest.Store(), before())
			d := planOf42(t, plans, 80, 24)
			try(t, d)
			if plans.Runs.Began() != 0 || plans.Current.Running() != nil {
				t.Errorf("it was started:\n%s", d.Frame())
			}
		})
	}
}

// The keys stay visible and say why they are off.
func TestAAndSSayWhyTheyAreOff(t *testing.T) {
	unread, applied := before(), viewtest.Log()
	unread.ControlErr = viewtest.Gone()
	applied.Control = viewtest.Control(viewtest.Committed(0, inspect.StatusApplied))
	type state struct {
		log   viewtest.Broker
		point string
		o     func(*viewtest.Plans) tui.Options
		want  string
	}
	readOnly := func(*viewtest.Plans) tui.Options { return viewtest.Options(viewtest.Plain()) }
	unarmed := func(plans *viewtest.Plans) tui.Options {
		o := viewtest.Armed(plans.Current)
		o.Arming, o.Level = new(access.Arming), access.Operate
		return o
	}
	onPlans := func(plans *viewtest.Plans) tui.Options { return viewtest.Armed(plans.Current) }
	for name, tt := range map[string]state{
		"read-only":                 {before(), chk42, readOnly, "access is read-only"},
		"not armed":                 {before(), chk42, unarmed, "the console is read-only until :operate arms it"},
		"too few points would stay": {before(), chk44, onPlans, "apply would refuse this plan now"},
		"not everything was read":   {unread, chk42, onPlans, "could not be judged"},
		"it is done":                {applied, chk42, onPlans, "this plan is APPLIED already"},
		"there is no plan":          {before(), viewtest.Checkpoints + "/chk-7", onPlans, "there is no plan"},
		"another plan is applied": {before(), chk42, func(plans *viewtest.Plans) tui.Options {
			if err := plans.Current.Reserve("cleanup 00000000"); err != nil {
				panic(err)
			}
			return viewtest.Armed(plans.Current)
		}, "cleanup 00000000 is being started from this console"},
	} {
		t.Run(name, func(t *testing.T) {
			plans := viewtest.NewPlans(viewtest.Store(), tt.log)
			d := tuitest.New(t, tt.o(plans), screen(viewtest.Plain(), plans, job(2), tt.point), 120, 40)
			for _, key := range []string{"A", "S"} {
				if !strings.Contains(d.Frame(), "("+key+" ") {
					t.Errorf("%s is not shown as off:\n%s", key, d.Frame())
				}
				d.Press(key)
				shows(t, d, tt.want)
				if strings.Contains(d.Frame(), "┌ ") {
					t.Errorf("%s asks:\n%s", key, d.Frame())
				}
			}
		})
	}
}

// What changed since the plan was shown is looked at before anything is asked.
func TestWhatChangedIsLookedAtFirst(t *testing.T) {
	recreated, refused := before(), before()
	recreated.Data.TopicID = "AAAAAAAAAAAAAAAAAAAAAA"
	refused.Control.CleanupPolicy = "delete"
	for name, tt := range map[string]struct {
		log  viewtest.Broker
		want string
	}{
		"the topic was made again":         {recreated, "not asked: apply would refuse this plan now"},
		"the control topic is not fit now": {refused, "not asked: apply would refuse this plan now"},
	} {
		t.Run(name, func(t *testing.T) {
			plans := viewtest.NewPlans(viewtest.Store(), before())
			d := planOf42(t, plans, 120, 60)
			plans.Answer(tt.log)
			d.Press("A")
			shows(t, d, tt.want)
			if strings.Contains(d.Frame(), "┌ ") {
				t.Errorf("it asks:\n%s", d.Frame())
			}
		})
	}
	t.Run("a point that was to stay is gone", func(t *testing.T) {
		shelf := viewtest.Store()
		plans := viewtest.NewPlans(shelf, before())
		d := planOf42(t, plans, 120, 60)
		shelf.Places[viewtest.Checkpoints] = slices.DeleteFunc(slices.Clone(shelf.Places[viewtest.Checkpoints]), func(p inspect.RecoveryPoint) bool { return p.URI == chk43 })
		d.Press("A")
		shows(t, d, "not asked: it is not as it was shown")
		shows(t, d, "was to stay restorable and is not there any more")
		d.Press("A")
		shows(t, d, "Accept 4 warnings by name") // it was looked at now
	})
}

// Somebody else's lock is told before anybody types a phrase.
func TestAHeldLockIsOneClearSentence(t *testing.T) {
	plans := viewtest.NewPlans(viewtest.Store(), before())
	d := planOf42(t, plans, 120, 40)
	plans.Hold(fault.New(fault.Busy, "take the lock", "eve@bastion applies cleanup 11111111 to this job, as process 77 since 2024-05-14T14:00:00Z"))
	d.Press("A")
	shows(t, d, "not asked: eve@bastion applies cleanup 11111111 to this job")
	if plans.Runs.Began() != 0 || strings.Contains(d.Frame(), "┌ ") {
		t.Errorf("it asks:\n%s", d.Frame())
	}
}

// A missing control topic has a consent of its own, with a number of replicas.
func TestAMissingControlTopicIsConsentedToByItself(t *testing.T) {
	log := before()
	log.Control.Exists = false
	plans := viewtest.NewPlans(viewtest.Store(), log)
	d := planOf42(t, plans, 60, 15)
	d.Press("A")
	d.Golden("control-topic-60x15")
	d.Press("enter")
	shows(t, d, "a number of replicas from 1 on is needed")
	d.Press("0", "enter")
	shows(t, d, "a number of replicas from 1 on is needed")
	d.Press("backspace", "3", "enter")
	d.Golden("control-topic-confirm-60x15")
	for range 10 {
		d.Press("down")
	}
	d.Press("tab", "enter")
	shows(t, d, "enter opened this dialog and never confirms it")
	d.Press("space")
	shows(t, d, "Accept 4 warnings by name")
	accept(t, d)
	fill(d)
	d.Press("space")
	running := plans.Current.Running()
	if running == nil {
		t.Fatalf("nothing was started:\n%s", d.Frame())
	}
	if _, err := running.Wait(); err != nil || !slices.Equal(plans.Runs.Wrote(), []string{"create-control-topic", "commit", "delete", "applied"}) {
		t.Errorf("written %v, %v", plans.Runs.Wrote(), err)
	}
	if got := plans.Extras(); got[plan.CreateControl] != "3" {
		t.Errorf("the consent is %v", got)
	}
}

// A recorded plan is finished: its dialog says what is destroyed.
func TestFinishing(t *testing.T) {
	plans := viewtest.NewPlans(viewtest.Store(), viewtest.Log())
	d := tuitest.New(t, viewtest.Armed(plans.Current), recorded(plans), 80, 24)
	shows(t, d, "STILL IN THE LOG offset span 80 on 2 partitions: 0-1")
	shows(t, d, "REJECTED ALREADY")
	d.Press("A")
	accept(t, d)
	d.Golden("finish-confirm-80x24")
	shows(t, d, "Finish cleanup f0416ffc")
	shows(t, d, "Deletes an offset span of 80 on partitions 0-1")
}

// Whatever keys come, nothing is started: the phrase is not typed by chance.
func TestStormAtTheConfirmation(t *testing.T) {
	plans := viewtest.NewPlans(viewtest.Store(), before())
	tuitest.StormWith(t, viewtest.Armed(plans.Current), func() tui.Screen {
		return &asking{Screen: screen(viewtest.Plain(), plans, job(1), chk42)}
	})
	if plans.Runs.Began() != 0 || plans.Current.Running() != nil {
		t.Error("it was started")
	}
}

// asking is the screen of a plan that is asked about as soon as it is known.
type asking struct {
	*plan.Screen
	asked bool
}

func (a *asking) Update(msg tui.Msg) tui.Cmd {
	cmd := a.Screen.Update(msg)
	if _, made := msg.(tui.Loaded[plan.Made]); made && !a.asked {
		a.asked = true
		for _, k := range a.Keys() {
			if k.Keys[0] == "A" && k.Disabled() == "" {
				cmd = tui.Batch(cmd, k.Run())
			}
		}
	}
	return cmd
}
