package guide

import (
	"context"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// Source checks the steps of a procedure. It only reads.
type Source interface {
	// Guide asks the systems. Point is the recovery point that was chosen, and to
	// the name of a new control topic; empty: none. The error is what could not be
	// read: the steps that hang on it are unknown.
	Guide(ctx context.Context, job inspect.Job, name, point, to string) (actions.GuideReport, error)
}

// Options are what the screen needs.
type Options struct {
	Theme    theme.Theme
	Now      func() time.Time // time.Now if nil
	Job      inspect.Job
	Source   Source
	Name     string        // of the procedure
	Point    string        // the chosen recovery point; empty: none yet
	Commands []tui.Command // of the job, for the palette
}

// Screen is one procedure.
type Screen struct {
	options Options
	to      string
	report  actions.GuideReport
	known   bool
	busy    bool
	err     error
	at      time.Time

	*sheet.Written
}

const slot = "guide"

// New makes the screen. Its words are there at once: what the systems say comes
// when they have answered.
func New(o Options) *Screen {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Screen{options: o}
	s.Written = sheet.NewWritten(o.Theme, func(size tui.Size) []string { return s.page(size.Width) })
	s.report, _ = actions.GuideWords(o.Name)
	return s
}

// Init implements tui.Screen.
func (s *Screen) Init() tui.Cmd { return s.read() }

// Reload checks every step again.
func (s *Screen) Reload() tui.Cmd { return s.read() }

func (s *Screen) read() tui.Cmd {
	s.busy = true
	o, to := s.options, s.to
	return tui.Load(slot, func(ctx context.Context) (actions.GuideReport, error) {
		return o.Source.Guide(ctx, o.Job, o.Name, o.Point, to)
	})
}

// Update implements tui.Screen. A read that brought nothing leaves what was known.
func (s *Screen) Update(msg tui.Msg) tui.Cmd {
	if loaded, mine := msg.(tui.Loaded[actions.GuideReport]); mine {
		s.busy, s.err = false, loaded.Err
		if len(loaded.Value.Steps) > 0 {
			s.report, s.known, s.at = loaded.Value, true, s.options.Now()
		}
		s.Lay()
	}
	return nil
}

// Crumb implements tui.Screen.
func (s *Screen) Crumb() string { return "guide " + s.options.Name }

// Status implements tui.Screen.
func (s *Screen) Status() tui.Status { return tui.Status{ReadAt: s.at} }

// Commands implements tui.Commander.
func (s *Screen) Commands() []tui.Command {
	commands := []tui.Command{{
		Name: "choose", Args: "URI", Help: "check the steps for this recovery point",
		Run: func(uri string) tui.Cmd {
			if uri == "" {
				return tui.Say(theme.Warning, "choose needs the recovery point's URI")
			}
			s.options.Point = uri
			return s.read()
		},
	}}
	if s.options.Name == actions.GuideNewControlTopic {
		commands = append(commands, tui.Command{
			Name: "to", Args: "NAME", Help: "check the steps for a new control topic of this name",
			Run: func(name string) tui.Cmd {
				if name == "" {
					return tui.Say(theme.Warning, "to needs the name of the new control topic")
				}
				s.to = name
				return s.read()
			},
		})
	}
	return append(commands, s.options.Commands...)
}

// Keys implements tui.Screen.
func (s *Screen) Keys() []tui.Key {
	keys := []tui.Key{tui.CopyKey(func() (what, text string) {
		next, found := s.next()
		if !found || len(next.Commands) == 0 {
			return "the next step's command", ""
		}
		return "the command of step " + phrase.Safe(next.Title), next.Commands[0]
	})}
	return append(keys, s.Written.Keys()...)
}

// next is the first step that is not done.
func (s *Screen) next() (actions.GuideStep, bool) {
	for _, step := range s.report.Steps {
		if s.known && step.Name == s.report.Next {
			return step, true
		}
	}
	return actions.GuideStep{}, false
}
