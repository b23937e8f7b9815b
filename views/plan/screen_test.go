package plan_test

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/plan"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	chk42 = viewtest.Checkpoints + "/chk-42"
	chk43 = viewtest.Checkpoints + "/chk-43"
	chk44 = viewtest.Checkpoints + "/chk-44"
)

// before is the cluster before any cleanup, with logs that begin below every
// recovery point.
func before() viewtest.Broker {
	log := viewtest.Log()
	log.Control = viewtest.Control()
	for i := range log.Data.Partitions {
		log.Data.Partitions[i].Log.Start = 0
	}
	return log
}

// job is the job of the situation, of which so many points must stay.
func job(keep int) inspect.Job {
	j := viewtest.Job()
	j.KeepRecoveryPoints = keep
	return j
}

func screen(th theme.Theme, source plan.Source, j inspect.Job, point string) *plan.Screen {
	return plan.New(plan.Options{Theme: th, Job: j, Source: source, Point: point})
}

func open(t *testing.T, source plan.Source, j inspect.Job, point string, width, height int) *tuitest.Driver {
	t.Helper()
	return tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(viewtest.Plain(), source, j, point), width, height)
}

// recorded is the plan that the control topic of the situation holds.
func recorded(source plan.Source) *plan.Screen {
	boundary := viewtest.Boundary()
	of := inspect.CleanupPlan{
		PlanID: inspect.PlanID(chk42, "action-state", viewtest.TopicID, boundary), SourceRecoveryPoint: chk42,
		Topic: "action-state", TopicID: viewtest.TopicID, Offsets: boundary,
	}
	return plan.New(plan.Options{Theme: viewtest.Plain(), Job: job(2), Source: source, Plan: &of})
}

func TestGoldens(t *testing.T) {
	of := func(log viewtest.Broker, keep int, point string) func() tui.Screen {
		return func() tui.Screen {
			return screen(viewtest.Plain(), viewtest.NewPlans(viewtest.Store(), log), job(keep), point)
		}
	}
	unread, missing, applied := before(), before(), viewtest.Log()
	unread.DataErr = viewtest.Gone()
	missing.Control.Exists = false
	applied.Control = viewtest.Control(viewtest.Committed(0, inspect.StatusApplied))
	viewtest.Goldens(t, map[string]viewtest.Case{
		"making":                {Screen: of(before(), 2, chk42), Busy: true},
		"warned":                {Screen: of(before(), 2, chk42)},
		"warned-steps":          {Screen: of(before(), 2, chk42), Keys: []string{"pgdown", "pgdown"}},
		"written":               {Screen: of(before(), 2, chk42), Keys: []string{"W"}},
		"too-few-stay":          {Screen: of(before(), 2, chk44)},
		"no-point":              {Screen: of(before(), 2, viewtest.Savepoints+"/savepoint-9c41-77")},
		"topic-unread":          {Screen: of(unread, 2, chk42)},
		"control-topic-missing": {Screen: of(missing, 2, chk42), Keys: []string{"pgdown", "pgdown"}},
		"finish": {Screen: func() tui.Screen {
			return recorded(viewtest.NewPlans(viewtest.Store(), viewtest.Log()))
		}},
		"applied": {Screen: func() tui.Screen { return recorded(viewtest.NewPlans(viewtest.Store(), applied)) }},
	})
}

// The sheet holds everything that the report says: each point, each warning by
// its name, each sentence of what is not known, each step.
func TestNothingOfTheReportIsLeftOut(t *testing.T) {
	source := viewtest.NewPlans(viewtest.Store(), before())
	made, err := source.Make(t.Context(), job(1), chk43)
	if err == nil {
		t.Fatal("the situation has a place that can't be read")
	}
	frame := open(t, source, job(1), chk43, 400, 160).Frame()
	wanted := []string{made.Plan.PlanID, chk43, made.Apply}
	r := made.Report
	for _, f := range append(append(r.Lost, r.Unknown...), r.Survives...) {
		wanted = append(wanted, f.URI[strings.LastIndexByte(f.URI, '/')+1:])
	}
	for _, w := range r.Warnings {
		wanted = append(wanted, w.Name+": "+w.Message)
	}
	for _, s := range r.Searched {
		wanted = append(wanted, s.Place)
	}
	for _, s := range made.Steps {
		wanted = append(wanted, s.Title)
	}
	wanted = append(wanted, r.NotKnown...)
	if len(r.Lost) == 0 || len(r.Unknown) == 0 || len(r.Warnings) < 3 {
		t.Fatalf("the situation proves too little: %d lost, %d unknown, %d warnings", len(r.Lost), len(r.Unknown), len(r.Warnings))
	}
	for _, want := range wanted {
		if !strings.Contains(frame, want) {
			t.Errorf("%q is not on the sheet:\n%s", want, frame)
		}
	}
	lost, stays := strings.Index(frame, "BECOMES UNRESTORABLE"), strings.Index(frame, "STAYS RESTORABLE")
	if lost < 0 || stays < lost {
		t.Errorf("what is lost does not come before what stays:\n%s", frame)
	}
}

// At the smallest sizes that are drawn what is lost is on the first screen.
func TestWhatIsLostIsSeenFirst(t *testing.T) {
	for _, size := range []tui.Size{{Width: 80, Height: 24}, {Width: 120, Height: 40}} {
		frame := open(t, viewtest.NewPlans(viewtest.Store(), before()), job(1), chk43, size.Width, size.Height).Frame()
		for _, want := range []string{"offset span", "chk-42 22m: for good", "savepoint-4f3c-a1 3h: for good", "chk-12 1d: for good"} {
			if !strings.Contains(frame, want) {
				t.Errorf("%q is not on the first screen:\n%s", want, frame)
			}
		}
	}
}

// W writes the plan that is shown, and only that: nothing else makes a file.
func TestWWritesThePlanOnce(t *testing.T) {
	source := viewtest.NewPlans(viewtest.Store(), before())
	d := open(t, source, job(2), chk42, 80, 24)
	for name, try := range map[string]func(){
		"letters that arrive together": func() { d.Burst("WW") },
		"a paste":                      func() { d.Paste("W") },
		"a small letter":               func() { d.Press("w") },
		"enter held down":              func() { d.Hold("enter", 20) },
		"a terminal that is too small": func() { d.Resize(10, 5); d.Press("W"); d.Resize(80, 24) },
	} {
		if try(); len(source.Files()) != 0 {
			t.Fatalf("%s wrote %v", name, source.Files())
		}
	}
	d.Press("W")
	id := inspect.PlanID(chk42, "action-state", viewtest.TopicID, viewtest.Boundary())
	file := "/home/ops/plan-" + id[:8] + ".json"
	if got := source.Files(); len(got) != 1 || got[file] != id {
		t.Fatalf("W wrote %v, want %s in %s", got, id, file)
	}
	if !strings.Contains(d.Frame(), "the plan is written to "+file) {
		t.Errorf("nothing says so:\n%s", d.Frame())
	}
	d.Press("W")
	if !strings.Contains(d.Frame(), "written already") {
		t.Errorf("a second W:\n%s", d.Frame())
	}

	again := open(t, source, job(2), chk42, 80, 24)
	again.Press("W")
	if !strings.Contains(again.Frame(), "exists already and is not overwritten") || strings.Contains(again.Frame(), "is written to") {
		t.Errorf("a file that is there:\n%s", again.Frame())
	}
}

// A plan that apply would not go through with is not written, and no command for
// it is copied.
func TestWIsOffWithItsReason(t *testing.T) {
	unread, applied := before(), viewtest.Log()
	unread.ControlErr = viewtest.Gone()
	applied.Control = viewtest.Control(viewtest.Committed(0, inspect.StatusApplied))
	tests := map[string]struct {
		log   viewtest.Broker
		point string
		want  string
	}{
		"too few points would stay": {before(), chk44, "apply would refuse this plan now"},
		"no broker answers":         {unread, chk42, "could not be judged"},
		"it is done":                {applied, chk42, "this plan is APPLIED already"},
		"there is no plan":          {before(), viewtest.Checkpoints + "/chk-7", "there is no plan"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			source := viewtest.NewPlans(viewtest.Store(), tt.log)
			d := open(t, source, job(2), tt.point, 120, 40)
			d.Press("W")
			if !strings.Contains(d.Frame(), tt.want) || len(source.Files()) != 0 {
				t.Errorf("%q is not said, or %v was written:\n%s", tt.want, source.Files(), d.Frame())
			}
			if d.Press("y"); d.Clipboard() != "" {
				t.Errorf("the clipboard got %q", d.Clipboard())
			}
		})
	}
}

// Reading again judges the plan that is shown, and says what has changed since:
// it is never another plan.
func TestReloadJudgesTheSamePlan(t *testing.T) {
	source := viewtest.NewPlans(viewtest.Store(), before())
	d := open(t, source, job(2), chk42, 120, 80)
	id := inspect.PlanID(chk42, "action-state", viewtest.TopicID, viewtest.Boundary())
	changed := before()
	changed.Data.TopicID = "AAAAAAAAAAAAAAAAAAAAAA"
	source.Answer(changed)
	d.Press("r")
	for _, want := range []string{"plan " + id, "apply would refuse this plan now, at identity", "Drift since the plan", "REFUSES", "not reached"} {
		if !strings.Contains(d.Frame(), want) {
			t.Errorf("%q is not on the screen:\n%s", want, d.Frame())
		}
	}
	if source.Made() != 1 {
		t.Errorf("%d plans were made", source.Made())
	}
}

// A step that was not judged never passes.
func TestWhatWasNotReadPassesNothing(t *testing.T) {
	log := before()
	log.ControlErr = fault.New(fault.Denied, "read", "the control topic may not be read by this user")
	frame := open(t, viewtest.NewPlans(viewtest.Store(), log), job(2), chk42, 200, 120).Frame()
	steps, _, _ := strings.Cut(frame[strings.Index(frame, "Steps of an apply"):], "What nobody knows")
	if strings.Contains(steps, "passes") && strings.Count(steps, "passes") != 1 || strings.Count(steps, "not known") < 5 {
		t.Errorf("steps pass that nobody could judge:\n%s", steps)
	}
	if !strings.Contains(frame, actions.NotChecked) || !strings.Contains(frame, "may not be read by this user") {
		t.Errorf("what could not be read is not said:\n%s", frame)
	}
}

// What was written before is not said to be written again.
func TestStepsOfAResumedPlan(t *testing.T) {
	applied := viewtest.Log()
	applied.Control = viewtest.Control(viewtest.Committed(0, inspect.StatusApplied))
	for name, tt := range map[string]struct {
		log          viewtest.Broker
		want, forbid string
	}{
		"COMMITTED": {viewtest.Log(), "written before", "NO WAY BACK"},
		"APPLIED":   {applied, "writes nothing", "the records below are gone"},
	} {
		d := tuitest.New(t, viewtest.Options(viewtest.Plain()), recorded(viewtest.NewPlans(viewtest.Store(), tt.log)), 200, 150)
		if frame := d.Frame(); !strings.Contains(frame, tt.want) || strings.Contains(frame, tt.forbid) {
			t.Errorf("%s: %q is missing, or %q is there:\n%s", name, tt.want, tt.forbid, frame)
		}
	}
}

func TestCopy(t *testing.T) {
	d := open(t, viewtest.NewPlans(viewtest.Store(), before()), job(2), chk42, 80, 24)
	d.Press("y")
	id := inspect.PlanID(chk42, "action-state", viewtest.TopicID, viewtest.Boundary())
	command := "recoverctl apply /home/ops/plan-" + id[:8] + `.json --reason "…" --access operate`
	if want := base64.StdEncoding.EncodeToString([]byte(command)); !strings.Contains(d.Clipboard(), want) {
		t.Errorf("the clipboard got %q", d.Clipboard())
	}
}

func TestHostileNamesAreHarmless(t *testing.T) {
	shelf := viewtest.Store()
	for place, points := range shelf.Places {
		for i := range points {
			if points[i].URI != chk42 {
				points[i].URI += viewtest.Hostile
			}
		}
		shelf.Places[place] = points
	}
	shelf.Fails[viewtest.Savepoints] = fault.New(fault.Denied, "list", "%s", viewtest.Hostile).WithHint("%s", viewtest.Hostile)
	d := open(t, viewtest.NewPlans(shelf, before()), job(2), chk42, 120, 100)
	viewtest.Harmless(t, d)
	if !strings.Contains(d.Frame(), `\x1b[2J`) {
		t.Errorf("the hostile names are not there:\n%s", d.Frame())
	}
}

func TestASCII(t *testing.T) {
	th := viewtest.ASCIITheme()
	source := viewtest.NewPlans(viewtest.Store(), before())
	d := tuitest.New(t, viewtest.Options(th), plan.New(plan.Options{Theme: th, Job: job(2), Source: asciiCommand{source}, Point: chk42}), 120, 80)
	viewtest.ASCII(t, d)
}

// asciiCommand leaves out the sign that stands for a reason in the command, which
// is the operator's to fill.
type asciiCommand struct{ *viewtest.Plans }

func (s asciiCommand) Make(ctx context.Context, j inspect.Job, uri string) (plan.Made, error) {
	made, err := s.Plans.Make(ctx, j, uri)
	made.Apply = strings.ReplaceAll(made.Apply, "…", "REASON")
	return made, err
}

func TestStorm(t *testing.T) {
	tuitest.StormWith(t, viewtest.Options(viewtest.Plain()), func() tui.Screen {
		return screen(viewtest.Plain(), viewtest.NewPlans(viewtest.Store(), before()), job(1), chk43)
	})
}
