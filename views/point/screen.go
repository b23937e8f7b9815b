package point

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/overview"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/restorecheck"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// Source reads recovery points and, for the restore check, overviews.
// *inspect.Inspector is one.
type Source interface {
	restorecheck.Source
	// Point reads one recovery point, offline. The error says what could not be
	// read of it, beside what could.
	Point(ctx context.Context, uri string) (inspect.RecoveryPoint, error)
}

// Options are what the screen needs.
type Options struct {
	Theme  theme.Theme
	Now    func() time.Time // time.Now if nil
	Job    inspect.Job
	Source Source
	// Reading is the overview that the point was chosen from: verdict and replay
	// window are its.
	Reading overview.Reading
	Point   string // the recovery point's URI

	Rollback Rollback      // to the point; the zero value: none is planned here
	Commands []tui.Command // of the job, for the palette
}

// Rollback opens the plan that rolls the job back to a recovery point.
type Rollback struct {
	Open     func(uri string) tui.Screen // nil: there is none
	Disabled func() string               // why there is none for this job; "" where there is
}

// Screen is one recovery point.
type Screen struct {
	options Options
	name    string

	started time.Time
	point   inspect.RecoveryPoint
	err     error
	answer  bool      // a read has ended
	readAt  time.Time // zero: nothing of the point was read

	*sheet.Written
}

// New makes the screen.
func New(o Options) *Screen {
	if o.Now == nil {
		o.Now = time.Now
	}
	name, ok := phrase.Names(o.Reading.Overview.Points)[o.Point]
	if !ok {
		name = phrase.Last(o.Point)
	}
	s := &Screen{options: o, name: name}
	s.Written = sheet.NewWritten(o.Theme, func(size tui.Size) []string { return s.page(size.Width) })
	return s
}

// Init implements tui.Screen.
func (s *Screen) Init() tui.Cmd {
	s.started = s.options.Now()
	source, uri := s.options.Source, s.options.Point
	return tui.Load("point", func(ctx context.Context) (inspect.RecoveryPoint, error) { return source.Point(ctx, uri) })
}

// Reload implements tui.Reloader.
func (s *Screen) Reload() tui.Cmd { return s.Init() }

// Update implements tui.Screen.
func (s *Screen) Update(msg tui.Msg) tui.Cmd {
	loaded, ok := msg.(tui.Loaded[inspect.RecoveryPoint])
	if !ok {
		return nil
	}
	s.err, s.answer = loaded.Err, true
	if loaded.Err == nil || !empty(loaded.Value) {
		s.point, s.readAt = loaded.Value, s.started
	}
	s.Lay()
	return nil
}

// empty reports whether nothing of a point was read. One that is damaged has at
// least the checks that say so.
func empty(p inspect.RecoveryPoint) bool {
	return len(p.Checks) == 0 && len(p.Operators) == 0 && len(p.Markers) == 0 && p.MetadataVersion == 0
}

// Crumb implements tui.Screen.
func (s *Screen) Crumb() string { return s.name }

// Status implements tui.Screen.
func (s *Screen) Status() tui.Status { return tui.Status{ReadAt: s.readAt} }

// Commands implements tui.Commander. A rollback without a point is one to this.
func (s *Screen) Commands() []tui.Command {
	commands := slices.Clone(s.options.Commands)
	for i, c := range commands {
		if c.Name == "rollback" {
			run, point := c.Run, s.options.Point
			commands[i].Run = func(uri string) tui.Cmd { return run(cmp.Or(uri, point)) }
		}
	}
	return commands
}

// Keys implements tui.Screen.
func (s *Screen) Keys() []tui.Key {
	why := tui.Key{Keys: []string{"v"}, Help: "restore check", Run: func() tui.Cmd {
		return tui.Push(restorecheck.New(restorecheck.Options{
			Theme: s.options.Theme, Now: s.options.Now, Job: s.options.Job, Source: s.options.Source,
			Reading: s.options.Reading, Point: s.options.Point, Under: s.options.Point, Commands: s.options.Commands,
		}))
	}}
	address := tui.CopyKey(func() (what, text string) { return "the recovery point's URI", phrase.Copied(s.options.Point) })
	keys := []tui.Key{why}
	if back := s.options.Rollback; back.Open != nil {
		keys = append(keys, tui.Key{Keys: []string{"u"}, Help: "roll back" + s.options.Theme.Signs.More, Disabled: back.Disabled, Run: func() tui.Cmd {
			return tui.Push(back.Open(s.options.Point))
		}})
	}
	return append(append(keys, address), s.Written.Keys()...)
}
