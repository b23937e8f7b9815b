package rollback

import (
	"context"
	"strings"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/shellword"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/dialog"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/document"
	"github.com/recoverctl/recoverctl/views/phrase"
)

// Ask is what a rollback is asked for.
type Ask struct {
	Point       string
	Jar         string   // id or name; empty: the only one
	Arguments   []string // of the program
	NoSavepoint bool

	Version uint64 // of a job of ArkFlow, which is taken back to it; 0: the next lower one
}

// Source makes plans of rollbacks, and does with them what a document.Handler does.
type Source interface {
	// Make makes a plan and judges it; it only reads. The error says why there is
	// none.
	Make(ctx context.Context, job inspect.Job, ask Ask) (document.Made, error)
	document.Handler
}

// Options are what the screen needs.
type Options struct {
	Theme    theme.Theme
	Job      inspect.Job
	Source   Source
	Point    string        // the recovery point's URI; of ArkFlow its id, and empty: none was looked at
	Version  uint64        // of ArkFlow alone, as of Ask
	Commands []tui.Command // of the job, for the palette
}

// Screen is one plan, and what it is asked for with.
type Screen struct {
	*document.Screen
	source Source
	ask    Ask
}

// New makes the screen.
func New(o Options) *Screen {
	s := &Screen{source: o.Source, ask: Ask{Point: o.Point}}
	s.Screen = document.New(document.Options{
		Theme: o.Theme, Job: o.Job, Source: asking{o.Source, s.ask}, Commands: o.Commands, Keys: s.keys(o.Theme.Signs.More), Page: s.page,
		Words: document.Words{
			Plan: "rollback plan", Action: "Roll back", Button: "Roll back",
			Making:  "judging " + phrase.Safe(o.Point) + ", and asking Flink for the job and its jars",
			None:    "e gives the program's arguments, i names the jar, r asks again.",
			Done:    "the job is rolled back as planned already",
			Applied: "the job is rolled back as planned; :live shows its new history",
		},
	})
	return s
}

// asking is a source with what it is asked for.
type asking struct {
	Source
	ask Ask
}

func (a asking) Make(ctx context.Context, job inspect.Job) (document.Made, error) {
	return a.Source.Make(ctx, job, a.ask)
}

// again makes another plan, of what is asked for now.
func (s *Screen) again() tui.Cmd { return s.Again(asking{s.source, s.ask}) }

// arguments asks for the program's arguments, which Flink does not tell.
func (s *Screen) arguments() tui.Cmd {
	words := make([]string, 0, len(s.ask.Arguments))
	for _, a := range s.ask.Arguments {
		words = append(words, shellword.Quote(a))
	}
	return dialog.Text{
		Title: "Arguments of the program", Label: "Arguments", Value: strings.Join(words, " "), Max: 4000,
		Lines: []string{"As a shell takes them: words, in quotes where they hold spaces. Another plan is made with them."},
		Check: func(text string) string {
			if _, ok := shellword.Split(text); !ok {
				return "a quote is not closed"
			}
			return ""
		},
	}.Open(func(text string) tui.Cmd {
		s.ask.Arguments, _ = shellword.Split(text) // Check took it
		return s.again()
	})
}

// jar asks for the jar.
func (s *Screen) jar() tui.Cmd {
	return dialog.Text{
		Title: "Jar that is run", Label: "Id or name", Value: s.ask.Jar,
		Lines: []string{"Of an uploaded jar; nothing: the only one. Another plan is made with it."},
	}.Open(func(text string) tui.Cmd {
		s.ask.Jar = strings.TrimSpace(text)
		return s.again()
	})
}

// keys change what is asked for.
func (s *Screen) keys(more string) func() []tui.Key {
	return func() []tui.Key {
		saves := "no savepoint"
		if s.ask.NoSavepoint {
			saves = "with savepoint"
		}
		return []tui.Key{
			{Keys: []string{"e"}, Help: "arguments" + more, Disabled: s.cannotChange, Run: s.arguments},
			{Keys: []string{"i"}, Help: "jar" + more, Disabled: s.cannotChange, Run: s.jar},
			{Keys: []string{"z"}, Help: saves, Disabled: s.cannotChange, Run: func() tui.Cmd {
				s.ask.NoSavepoint = !s.ask.NoSavepoint
				return s.again()
			}},
		}
	}
}

// cannotChange is why no other plan is made. One that was begun is gone on with.
func (s *Screen) cannotChange() string {
	switch made, known := s.Made(); {
	case s.Judging():
		return "the plan is being made, or judged again"
	case known && made.Report.Verdict != actions.NotStarted && made.Unread == nil:
		return "this plan was begun: it is gone on with, or looked at"
	}
	return ""
}
