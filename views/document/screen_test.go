package document_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/apply"
	"github.com/recoverctl/recoverctl/views/document"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// source makes and judges plans as the program does, of a topic in memory, and
// carries them out with the real runner.
type source struct {
	viewtest.Documents
	mu   sync.Mutex
	data inspect.DataTopic
	err  error
	held error
	sets int
}

func newSource(given ...inspect.Setting) *source {
	data := viewtest.Log().Data
	for _, s := range given {
		i := slices.IndexFunc(data.Settings, func(old inspect.Setting) bool { return old.Name == s.Name })
		data.Settings[i] = s
	}
	return &source{data: data, Documents: viewtest.NewDocuments()}
}

// released is a topic as the released job makes it.
func released() *source {
	return newSource(inspect.Setting{Name: "cleanup.policy", Value: "compact", Source: "topic"},
		inspect.Setting{Name: "retention.ms", Value: "604800000", Source: "default"}, inspect.Setting{Name: "retention.bytes", Value: "-1", Source: "default"})
}

func (s *source) now() (inspect.DataTopic, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data := s.data
	data.Settings = slices.Clone(data.Settings)
	return data, s.err
}

// becomes changes a setting behind the console's back.
func (s *source) becomes(name, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.data.Settings {
		if s.data.Settings[i].Name == name {
			s.data.Settings[i] = inspect.Setting{Name: name, Value: value, Source: "topic"}
		}
	}
}

func (s *source) Make(_ context.Context, job inspect.Job) (document.Made, error) {
	data, err := s.now()
	if err != nil {
		return document.Made{}, err
	}
	d, p := actions.SettingsFrom(data)
	switch {
	case p != nil && p.Code == actions.SettingsAsNeeded:
		return document.Made{Needless: p.Message, At: viewtest.Now}, nil
	case p != nil:
		return document.Made{}, fault.New(fault.NotFound, "make a plan", "%s", p.Message).WithHint("check the topic's name")
	}
	return s.Review(context.Background(), job, d)
}

func (s *source) Review(_ context.Context, job inspect.Job, d actions.Document) (document.Made, error) {
	data, err := s.now()
	r := actions.SettingsReport(d, actions.SettingsEvidence{Job: job, At: viewtest.Now, Data: data, DataErr: err})
	return document.Made{At: viewtest.Now, Plan: d, Report: r, Steps: actions.SettingsSteps(d), Unread: err, Cluster: data.ClusterID, Held: s.held,
		File: "/home/ops/settings.json", Apply: `recoverctl apply /home/ops/settings.json --reason "…" --access operate`}, err
}

func (s *source) Start(_ context.Context, _ inspect.Job, made document.Made, answer apply.Answer) (*apply.Running, error) {
	return s.Run(made, answer, "settings", func(_ actions.Step) string {
		for _, f := range made.Plan.Facts {
			s.becomes(f.Name, *f.After)
		}
		s.sets++
		return "acknowledged"
	}, func() actions.OperationVerdict {
		data, err := s.now()
		return actions.JudgeSettings(made.Plan, data, err)
	})
}

func screen(s document.Source) *document.Screen {
	return document.New(document.Options{Theme: viewtest.Plain(), Job: viewtest.Job(), Source: s, Words: document.Settings(viewtest.Job().Topic)})
}

func TestGoldens(t *testing.T) {
	of := func(s document.Source) func() tui.Screen {
		return func() tui.Screen { return screen(s) }
	}
	limited := newSource(inspect.Setting{Name: "retention.ms", Value: "604800000", Source: "broker"})
	gone, changed := released(), released()
	gone.err = viewtest.Gone()
	viewtest.Goldens(t, map[string]viewtest.Case{
		"making":       {Screen: of(released()), Busy: true},
		"compact-only": {Screen: of(released())},
		"warned":       {Screen: of(limited)},
		"needless":     {Screen: of(newSource())},
		"failed":       {Screen: of(gone)},
		"changed":      {Screen: func() tui.Screen { changed.data = released().data; return screen(changed) }, Before: func() { changed.becomes("retention.ms", "1000") }, Keys: []string{"r"}},
		"written":      {Screen: of(released()), Keys: []string{"W"}},
	})
}

// armed is a console that may write, with what runs in it.
func armed(t *testing.T, s *source, width, height int) *tuitest.Driver {
	t.Helper()
	return tuitest.New(t, viewtest.Armed(s.Current), screen(s), width, height)
}

func shows(t *testing.T, d *tuitest.Driver, want string) {
	t.Helper()
	if got := strings.Join(strings.Fields(d.Frame()), " "); !strings.Contains(got, want) {
		t.Errorf("%q is not on the screen:\n%s", want, d.Frame())
	}
}

// The whole way, by the dialogs and the screen of a cleanup: the key, the lines,
// the reason, the phrase, the button, the receipt.
func TestAAppliesWhatWasShown(t *testing.T) {
	for _, size := range append(slices.Clone(viewtest.Sizes), tui.Size{Width: 60, Height: 15}) {
		t.Run(fmt.Sprintf("%dx%d", size.Width, size.Height), func(t *testing.T) {
			s := released()
			d := armed(t, s, size.Width, size.Height)
			id, _ := actions.SettingsFrom(s.data)
			d.Press("A")
			d.Golden(fmt.Sprintf("confirm-%dx%d", size.Width, size.Height))
			for range 60 {
				d.Press("down")
			}
			d.Press("tab")
			d.Type("before the first cleanup")
			d.Press("tab")
			d.Type("orders/action-state " + id.PlanID[:8])
			d.Press("tab")
			if s.sets != 0 {
				t.Fatal("something was set before it was confirmed")
			}
			d.Press("space")
			running := s.Current.Running()
			if running == nil {
				t.Fatalf("nothing was started:\n%s", d.Frame())
			}
			result, err := running.Wait()
			if err != nil || result.Verdict != actions.Applied || s.sets != 1 || result.Receipt.Reason != "before the first cleanup" {
				t.Fatalf("%s, %v, set %d times, %+v", result.Verdict, err, s.sets, result.Receipt)
			}
			d.Press("r")
			if !strings.Contains(d.Top().Crumb(), "apply settings "+id.PlanID[:8]) {
				t.Errorf("the screen is %q", d.Top().Crumb())
			}
			shows(t, d, "applied: every setting of the plan is the topic's own")
		})
	}
}

// A warning is accepted by its name before the phrase is asked for.
func TestAWarningIsAcceptedByName(t *testing.T) {
	s := newSource(inspect.Setting{Name: "retention.ms", Value: "604800000", Source: "topic"})
	d := armed(t, s, 120, 40)
	d.Press("A")
	shows(t, d, "Accept 1 warning by name")
	shows(t, d, "retention-lifted")
	d.Press("esc")
	if s.sets != 0 || s.Current.Running() != nil {
		t.Error("it was begun")
	}
}

// What changed since it was shown is looked at before anything is asked.
func TestAChangeSinceIsLookedAtFirst(t *testing.T) {
	for name, tt := range map[string]struct {
		before func(*source)
		says   string
	}{
		"a setting": {func(s *source) { s.becomes("retention.ms", "1000") }, "not asked: apply would refuse this plan now"},
		"one that is as planned by now": {func(s *source) { s.becomes("retention.ms", "-1") },
			"not asked: it is not as it was shown. Look at the plan as it is now"},
		"somebody else applies": {func(s *source) { s.held = fault.New(fault.Busy, "apply", "ops2@bastion applies cleanup 3f9c21aa") },
			"not asked: ops2@bastion applies cleanup 3f9c21aa"},
		"nobody answers": {func(s *source) { s.err = viewtest.Gone() }, "not asked: the plan could not be judged"},
	} {
		t.Run(name, func(t *testing.T) {
			s := released()
			d := armed(t, s, 160, 60)
			tt.before(s)
			d.Press("A")
			d.WaitIdle()
			shows(t, d, tt.says)
			if s.Current.Running() != nil {
				t.Error("it was begun")
			}
		})
	}
}

// In read-only the keys that change something say why they are off.
func TestReadOnlyAppliesNothing(t *testing.T) {
	s := released()
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(s), 120, 40)
	d.Press("A", "S")
	if s.Current.Running() != nil || s.sets != 0 {
		t.Error("it was begun")
	}
	shows(t, d, "read-only")
}

func TestWritingWritesTheFileAlone(t *testing.T) {
	s := released()
	d := armed(t, s, 120, 40)
	d.Press("W")
	d.WaitIdle()
	want, _ := actions.SettingsFrom(s.data)
	if s.Files["/home/ops/settings.json"] != string(want.Encode()) || s.sets != 0 {
		t.Errorf("files %v", s.Files)
	}
	shows(t, d, "nothing else was changed")
}

func TestNoTextTakesOverTheTerminal(t *testing.T) {
	s := released()
	s.data.Name, s.data.ClusterID = viewtest.Hostile, "c"
	s.err = fault.New(fault.Denied, "read", "%s", viewtest.Hostile).WithHint("%s", viewtest.Hostile)
	viewtest.Harmless(t, armed(t, s, 120, 40))
}
