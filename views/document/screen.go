package document

import (
	"cmp"
	"context"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/access"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/apply"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// Source makes a plan, and does with it what its Handler does.
type Source interface {
	// Make makes the plan and judges it; it only reads. The error says why there is
	// none; where none is needed, Made says so.
	Make(ctx context.Context, job inspect.Job) (Made, error)
	Handler
}

// Handler is what is done with a plan that was made.
type Handler interface {
	// Review judges a plan as things are now, and says who else applies something
	// to its target. It only reads.
	Review(ctx context.Context, job inspect.Job, plan actions.Document) (Made, error)
	// Write writes a plan to the new file that Made names, and never overwrites
	// one.
	Write(ctx context.Context, made Made) error

	// Question is what is approved with a plan, and under which rules.
	Question(made Made) actions.Question
	// Start applies what was approved. After an error nothing was begun.
	Start(ctx context.Context, job inspect.Job, made Made, answer apply.Answer) (*apply.Running, error)
	// Busy says why no plan can be applied from here now; "" where one can. It
	// answers at once.
	Busy() string
}

// Made is a plan and how it stands.
type Made struct {
	Plan    actions.Document // PlanID is empty where there is none
	Report  actions.DocumentReport
	Steps   []actions.Step  // of an apply
	Handoff actions.Handoff // the same without this program; only of a rollback

	At       time.Time // when it was read
	Needless string    // why no plan is needed; "" where there is one
	Unread   error     // what kept the plan from being judged; nil: nothing
	File     string    // where Write writes it
	Apply    string    // the command that applies that file; "" where none can be shown

	Cluster string // that was asked: with the target's name it is what a lock is about
	Held    error  // who applies something else to the target; nil: nobody
	CutOff  string // whose apply was cut off before; may be empty
}

// Options are what the screen needs.
type Options struct {
	Theme    theme.Theme
	Job      inspect.Job
	Source   Source
	Commands []tui.Command // of the job, for the palette
	Words    Words

	// What a screen of one kind of plan adds; nil: nothing.
	Keys func() []tui.Key  // behind those that apply the plan
	Page func(*sheet.Page) // instead of Screen.Plain, where there is a plan
}

// Words are what the screen calls a plan of one kind.
type Words struct {
	Plan    string // as in "settings plan"
	Action  string // the title of the question, as in "Apply settings"
	Button  string // of the question; empty: "Apply"
	Making  string // what is being done before there is a plan
	None    string // what can be done where there is no plan, as a sentence; empty: nothing
	About   string // what the plan does to its target, in a sentence
	Race    string // what the backend does not compare, as a sentence; empty: nothing
	Done    string // why a plan that is done is not applied
	Applied string // the same as the first line of the page; empty: that nothing is left
	Column  string // the title of what it changes
	ID      string // what the id of the target is of; empty: of the target itself
}

// Settings are the words for a plan of a topic's settings.
func Settings(topic string) Words {
	return Words{
		Plan: "settings plan", Action: "Apply settings", Making: "reading the settings of topic " + phrase.Safe(topic),
		About: "gives topic " + phrase.Safe(topic) + " the settings that a cleanup needs",
		Race:  "Kafka changes settings by topic name: identity and settings are compared directly before, not during it.",
		Done:  "every setting is as planned already", Column: "SETTING",
	}
}

// Screen is one plan. It stays that of the same id until another is asked for.
type Screen struct {
	options Options
	made    Made
	known   bool // there is a plan, or none is needed
	busy    bool
	err     error
	written bool
	asking  bool // it is judged again, to be put to the operator
	steps   bool // as what is asked was asked for: in steps

	*sheet.Written
}

// The slots of the screen's reads.
const (
	slotPlan  = "plan"
	slotAsk   = "ask"
	slotWrite = "write"
	slotStart = "start"
)

// New makes the screen.
func New(o Options) *Screen {
	s := &Screen{options: o}
	s.Written = sheet.NewWritten(o.Theme, func(size tui.Size) []string { return s.page(size.Width) })
	return s
}

// Init implements tui.Screen.
func (s *Screen) Init() tui.Cmd { return s.read(slotPlan) }

// Reload judges the same plan again.
func (s *Screen) Reload() tui.Cmd {
	s.asking = false
	return s.read(slotPlan)
}

func (s *Screen) read(slot string) tui.Cmd {
	s.busy = true
	source, job, made := s.options.Source, s.options.Job, s.made
	return tui.Load(slot, func(ctx context.Context) (Made, error) {
		if made.Plan.PlanID == "" {
			return source.Make(ctx, job)
		}
		return source.Review(ctx, job, made.Plan)
	})
}

// Again makes another plan, from another source.
func (s *Screen) Again(source Source) tui.Cmd {
	s.options.Source = source
	s.made, s.known, s.err, s.written, s.asking = Made{}, false, nil, false, false
	s.Lay()
	return s.read(slotPlan)
}

// Made is the plan as it was last read, with whether there is one, or none needed.
func (s *Screen) Made() (made Made, known bool) { return s.made, s.known }

// Judging reports whether the plan is being made, or judged again.
func (s *Screen) Judging() bool { return s.asking || s.busy }

// wrote is the end of writing the file.
type wrote struct{}

// Update implements tui.Screen. A read that brought nothing leaves what was known.
func (s *Screen) Update(msg tui.Msg) tui.Cmd {
	switch msg := msg.(type) {
	case tui.Loaded[Made]:
		s.busy, s.err = false, msg.Err
		asked := s.asking && msg.Slot == slotAsk
		s.asking = false
		shown := s.made.Report
		if msg.Value.Plan.PlanID != "" || msg.Value.Needless != "" {
			s.made, s.known = msg.Value, true
		}
		s.Lay()
		if asked {
			return s.ask(msg.Value, shown)
		}
	case tui.Loaded[*apply.Running]:
		if msg.Err != nil {
			return tui.Say(theme.Error, phrase.Told(msg.Err))
		}
		return apply.Show(s.options.Theme, msg.Value)
	case tui.Loaded[wrote]:
		if msg.Err != nil {
			return tui.Say(theme.Error, phrase.Told(msg.Err))
		}
		s.written = true
		s.Lay()
		return tui.Say(theme.OK, "the plan is written to "+phrase.Safe(s.made.File)+"; nothing else was changed")
	}
	return nil
}

// prepare judges the plan once more: what is put to the operator is as things are
// now.
func (s *Screen) prepare(steps bool) tui.Cmd {
	s.asking, s.steps = true, steps
	return tui.Batch(s.read(slotAsk), tui.Say(theme.Plain, "judging the plan once more, as things are now"))
}

// ask puts the plan to the operator, or says why not. What differs from what was
// shown is looked at first.
func (s *Screen) ask(fresh Made, shown actions.DocumentReport) tui.Cmd {
	no := func(text string) tui.Cmd { return tui.Say(theme.Error, "not asked: "+phrase.Safe(text)) }
	switch why := s.cannotApply(); {
	case fresh.Plan.PlanID == "" && s.err != nil:
		return no(phrase.Told(s.err))
	case fresh.Held != nil:
		return no(phrase.Told(fresh.Held))
	case why != "":
		return no(why)
	case fresh.Report.Hash() != shown.Hash():
		s.Top()
		return no("it is not as it was shown. Look at the plan as it is now")
	}
	q := s.options.Source.Question(fresh)
	typed, err := q.Phrase()
	if err != nil {
		return no(phrase.Told(err))
	}
	source, job := s.options.Source, s.options.Job
	p := apply.Proposal{
		Title: s.options.Words.Action + " " + phrase.Short(fresh.Plan.PlanID), Subject: phrase.Safe(q.Profile) + " / " + phrase.Safe(q.Subject),
		Environment: q.Environment.String(), Production: q.Environment == access.Production, Phrase: typed.String(), Action: cmp.Or(s.options.Words.Button, "Apply"),
		Lines: s.lines(fresh), Warnings: fresh.Report.Warnings,
		Start: func(ctx context.Context, a apply.Answer) (*apply.Running, error) {
			return source.Start(ctx, job, fresh, a)
		},
	}
	return apply.Ask(p, s.steps, func(answer apply.Answer) tui.Cmd {
		return tui.Load(slotStart, func(ctx context.Context) (*apply.Running, error) { return p.Start(ctx, answer) })
	})
}

// lines are what the plan means, in the order in which an operator needs it.
func (s *Screen) lines(made Made) []string {
	var out []string
	for _, list := range [][]string{made.Report.Does, made.Report.Notes, made.Report.Stays} {
		for _, sentence := range list {
			out = append(out, phrase.Safe(sentence))
		}
	}
	if made.CutOff != "" {
		out = append(out, phrase.Safe(made.CutOff)+".")
	}
	if made.Report.NextStart != "" {
		out = append(out, "Then: "+phrase.Safe(made.Report.NextStart))
	}
	if race := s.options.Words.Race; race != "" {
		out = append(out, race)
	}
	return out
}

// Crumb implements tui.Screen.
func (s *Screen) Crumb() string {
	if s.made.Plan.PlanID == "" {
		return s.options.Words.Plan
	}
	return s.options.Words.Plan + " " + phrase.Short(s.made.Plan.PlanID)
}

// Status implements tui.Screen.
func (s *Screen) Status() tui.Status { return tui.Status{ReadAt: s.made.At} }

// Commands implements tui.Commander.
func (s *Screen) Commands() []tui.Command { return s.options.Commands }

// Keys implements tui.Screen.
func (s *Screen) Keys() []tui.Key {
	more := s.options.Theme.Signs.More
	keys := []tui.Key{
		{Keys: []string{"A"}, Help: "apply" + more, Dangerous: true, Disabled: s.cannotAsk, Run: func() tui.Cmd { return s.prepare(false) }},
		{Keys: []string{"S"}, Help: "apply in steps" + more, Dangerous: true, Disabled: s.cannotAsk, Run: func() tui.Cmd { return s.prepare(true) }},
	}
	if s.options.Keys != nil {
		keys = append(keys, s.options.Keys()...)
	}
	keys = append(keys,
		tui.Key{Keys: []string{"W"}, Help: "write file", Once: true, Disabled: s.cannotWrite, Run: s.write},
		tui.CopyKey(func() (what, text string) {
			if s.cannotApply() != "" {
				return "the command that applies the plan", ""
			}
			return "the command that applies the plan", s.made.Apply
		}),
	)
	return append(keys, s.Written.Keys()...)
}

// cannotApply is why no apply of the plan would do anything.
func (s *Screen) cannotApply() string {
	switch {
	case s.made.Needless != "":
		return "no plan is needed"
	case s.made.Plan.PlanID == "":
		return "there is no plan yet"
	case s.made.Report.Refused != nil:
		return "apply would refuse this plan now"
	case s.made.Unread != nil:
		return "the plan could not be judged, because not everything could be read"
	case s.made.Report.Verdict == actions.Applied:
		return s.options.Words.Done
	}
	return ""
}

// cannotAsk is why the plan is not put to the operator.
func (s *Screen) cannotAsk() string {
	switch why := s.cannotApply(); {
	case why != "":
		return why
	case s.Judging():
		return "the plan is being judged again"
	default:
		return s.options.Source.Busy()
	}
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
