package plan

import (
	"context"
	"errors"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/apply"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// Source makes plans and judges them. Making and judging read only.
type Source interface {
	// Make makes the plan that keeps a recovery point as the job's oldest one to
	// restore from, and judges it. The error says why there is none, or, beside a
	// plan, what could not be read.
	Make(ctx context.Context, job inspect.Job, uri string) (Made, error)
	// Review judges a plan as things are now. Shown is the report of it that a
	// person has seen; nil: none. The error says what could not be read.
	Review(ctx context.Context, job inspect.Job, plan inspect.CleanupPlan, shown *actions.Report) (Made, error)
	// Write writes a plan to the new file that Made names, and never overwrites
	// one.
	Write(ctx context.Context, made Made) error

	// Prepare is Review directly before a plan is put to the operator; it also
	// looks whether somebody else applies something to the job.
	Prepare(ctx context.Context, job inspect.Job, plan inspect.CleanupPlan, shown *actions.Report) (Made, error)
	// Question is what is approved with a plan, and under which rules.
	Question(made Made) actions.Question
	// Start applies what was approved. After an error nothing was begun.
	Start(ctx context.Context, job inspect.Job, made Made, answer apply.Answer) (*apply.Running, error)
	// Busy says why no plan can be applied from here now; "" where one can. It
	// answers at once.
	Busy() string
	// Verify says from the cluster alone what has become of a plan. Its error is
	// what could not be read beside the verdict.
	Verify(ctx context.Context, job inspect.Job, plan inspect.CleanupPlan) (actions.OperationVerdict, error)
}

// Made is a plan and how it stands.
type Made struct {
	Plan   inspect.CleanupPlan // PlanID is empty where there is none
	Report actions.Report
	Drift  []actions.Drift // since it was planned, or shown
	Steps  []actions.Step  // of an apply
	// Unjudged is what kept a step from being judged; nil: every reading step was,
	// up to the one that refuses.
	Unjudged error
	File     string // where Write writes it
	Apply    string // the command that applies that file; "" where it can't be pasted

	Cluster string // the id of the cluster that was asked
	Held    error  // of Prepare: who applies something else to the job; nil: nobody
	CutOff  string // of Prepare: whose apply was cut off before; may be empty
}

// SettingsCommand is the palette's word for the plan of the settings that a topic
// needs before a cleanup, where the console has such plans.
const SettingsCommand = "settings"

// Options are what the screen needs.
type Options struct {
	Theme  theme.Theme
	Job    inspect.Job
	Source Source
	// Point is the recovery point to keep, or empty where Plan is given: one that
	// was recorded on the control topic.
	Point    string
	Plan     *inspect.CleanupPlan
	Commands []tui.Command // of the job, for the palette
}

// Screen is one plan. It stays that of the same id as long as it is shown.
type Screen struct {
	options Options
	made    Made
	known   bool
	busy    bool
	err     error
	written bool
	asking  bool // it is judged again, to be put to the operator
	steps   bool // as what is asked was asked for: in steps

	*sheet.Written
}

// The slots of the screen's reads.
const (
	slotPlan    = "plan"
	slotWrite   = "write"
	slotPrepare = "prepare"
	slotStart   = "start"
)

// New makes the screen.
func New(o Options) *Screen {
	s := &Screen{options: o}
	s.Written = sheet.NewWritten(o.Theme, func(size tui.Size) []string { return s.page(size.Width) })
	return s
}

// Init implements tui.Screen.
func (s *Screen) Init() tui.Cmd { return s.read() }

// Reload judges the same plan again, and says what differs from what was shown.
func (s *Screen) Reload() tui.Cmd { return s.read() }

func (s *Screen) read() tui.Cmd {
	s.busy, s.asking = true, false
	source, job, point := s.options.Source, s.options.Job, s.options.Point
	plan, shown := s.options.Plan, (*actions.Report)(nil)
	if s.known {
		made := s.made
		plan, shown = &made.Plan, &made.Report
	}
	return tui.Load(slotPlan, func(ctx context.Context) (Made, error) {
		if plan == nil {
			return source.Make(ctx, job, point)
		}
		return source.Review(ctx, job, *plan, shown)
	})
}

// wrote is the end of writing the file.
type wrote struct{}

// Update implements tui.Screen. A read that brought nothing leaves what was
// known.
func (s *Screen) Update(msg tui.Msg) tui.Cmd {
	switch msg := msg.(type) {
	case tui.Loaded[Made]:
		s.busy, s.err = false, msg.Err
		asked := s.asking && msg.Slot == slotPrepare
		s.asking = false
		if msg.Value.Plan.PlanID != "" {
			s.made, s.known = msg.Value, true
		}
		s.Lay()
		if asked {
			return s.ask(msg.Value)
		}
	case tui.Loaded[*apply.Running]:
		if msg.Err != nil {
			return tui.Say(theme.Error, phrase.Told(msg.Err))
		}
		return apply.Show(s.options.Theme, msg.Value)
	case tui.Loaded[wrote]:
		if msg.Err != nil {
			return tui.Say(theme.Error, phrase.Safe(phrase.Faults(msg.Err)[0].Error()))
		}
		s.written = true
		s.Lay()
		return tui.Say(theme.OK, "the plan is written to "+phrase.Safe(s.made.File)+"; nothing else was changed")
	}
	return nil
}

// Crumb implements tui.Screen.
func (s *Screen) Crumb() string {
	if !s.known {
		return "cleanup plan"
	}
	return "cleanup plan " + phrase.Short(s.made.Plan.PlanID)
}

// Status implements tui.Screen.
func (s *Screen) Status() tui.Status { return tui.Status{ReadAt: s.made.Report.At} }

// Commands implements tui.Commander.
func (s *Screen) Commands() []tui.Command { return s.options.Commands }

// Keys implements tui.Screen.
func (s *Screen) Keys() []tui.Key {
	keys := []tui.Key{
		{Keys: []string{"A"}, Help: s.verb() + s.options.Theme.Signs.More, Dangerous: true, Disabled: s.cannotAsk, Run: func() tui.Cmd { return s.prepare(false) }},
		{Keys: []string{"S"}, Help: s.verb() + " in steps" + s.options.Theme.Signs.More, Dangerous: true, Disabled: s.cannotAsk, Run: func() tui.Cmd { return s.prepare(true) }},
		{Keys: []string{"W"}, Help: "write file", Once: true, Disabled: s.cannotWrite, Run: s.write},
	}
	keys = append(keys, tui.CopyKey(func() (what, text string) {
		if !s.known || s.cannotApply() != "" {
			return "the command that applies the plan", ""
		}
		return "the command that applies the plan", s.made.Apply
	}))
	return append(keys, s.Written.Keys()...)
}

// cannotApply is why no apply of the plan would do anything.
func (s *Screen) cannotApply() string {
	switch {
	case !s.known:
		return "there is no plan yet"
	case s.made.Report.Refused != nil:
		return "apply would refuse this plan now"
	case s.made.Unjudged != nil:
		return "the plan could not be judged, because not everything could be read"
	case s.made.Report.Recorded == inspect.StatusApplied:
		return "this plan is APPLIED already"
	}
	return ""
}

func (s *Screen) cannotWrite() string {
	switch why := s.cannotApply(); {
	case why != "":
		return why
	case s.written:
		return "the plan is written already"
	case s.busy:
		return "the plan is being judged again"
	}
	return ""
}

func (s *Screen) write() tui.Cmd {
	source, made := s.options.Source, s.made
	return tui.Load(slotWrite, func(ctx context.Context) (wrote, error) { return wrote{}, source.Write(ctx, made) })
}

// unread is what could not be read beside the plan, each told once.
func (s *Screen) unread() error { return errors.Join(s.made.Unjudged, s.err) }
