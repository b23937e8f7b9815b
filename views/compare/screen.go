package compare

import (
	"context"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/overview"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// Source reads recovery points. *inspect.Inspector is one.
type Source interface {
	// Point reads one recovery point, offline. The error says what could not be
	// read of it, beside what could.
	Point(ctx context.Context, uri string) (inspect.RecoveryPoint, error)
}

// Options are what the screen needs.
type Options struct {
	Theme  theme.Theme
	Source Source
	// Reading is the overview that the points were chosen from: verdicts and
	// replay spans are its.
	Reading     overview.Reading
	Left, Right string        // the points' URIs
	Commands    []tui.Command // of the job, for the palette
}

// side is one of the two points.
type side struct {
	uri, name string
	summary   *inspect.PointSummary // nil: not in the overview
	point     inspect.RecoveryPoint
	err       error
	answered  bool
	read      bool // something of its files is known
}

// Screen is two recovery points.
type Screen struct {
	options Options
	sides   [2]*side
	left    int // reads that have not ended
	sheet   *sheet.Sheet
}

var slots = [2]string{"left", "right"}

// New makes the screen.
func New(o Options) *Screen {
	s := &Screen{options: o, sheet: sheet.New(o.Theme)}
	names := phrase.Names(o.Reading.Overview.Points)
	for i, uri := range [2]string{o.Left, o.Right} {
		s.sides[i] = &side{uri: uri, name: phrase.Last(uri)}
		if name, ok := names[uri]; ok {
			s.sides[i].name = name
		}
		if at, ok := o.Reading.Find(uri); ok {
			s.sides[i].summary = &o.Reading.Overview.Points[at]
		}
	}
	return s
}

// Init reads both points side by side.
func (s *Screen) Init() tui.Cmd {
	s.left = len(s.sides)
	var all tui.Cmd
	for i, side := range s.sides {
		source, uri := s.options.Source, side.uri
		all = tui.Batch(all, tui.Load(slots[i], func(ctx context.Context) (inspect.RecoveryPoint, error) { return source.Point(ctx, uri) }))
	}
	return all
}

// Reload implements tui.Reloader.
func (s *Screen) Reload() tui.Cmd { return s.Init() }

// Update implements tui.Screen. A read that brought nothing leaves what was
// known.
func (s *Screen) Update(msg tui.Msg) tui.Cmd {
	loaded, ok := msg.(tui.Loaded[inspect.RecoveryPoint])
	if !ok {
		return nil
	}
	s.left--
	for i, side := range s.sides {
		if loaded.Slot != slots[i] {
			continue
		}
		side.answered, side.err = true, loaded.Err
		if loaded.Err == nil || len(loaded.Value.Operators) > 0 || len(loaded.Value.Checks) > 0 || loaded.Value.MetadataVersion > 0 {
			side.point, side.read = loaded.Value, true
		}
	}
	return nil
}

// Resize implements tui.Resizer.
func (s *Screen) Resize(size tui.Size) {
	s.sheet.Set(s.page(size.Width))
	s.sheet.Resize(size.Height)
}

// View implements tui.Screen.
func (s *Screen) View(size tui.Size) string { return s.sheet.View(size) }

// Crumb implements tui.Screen.
func (s *Screen) Crumb() string { return s.sides[0].name + " and " + s.sides[1].name }

// Status implements tui.Screen: verdicts and spans are as old as the overview.
func (s *Screen) Status() tui.Status { return tui.Status{ReadAt: s.options.Reading.At} }

// Commands implements tui.Commander.
func (s *Screen) Commands() []tui.Command { return s.options.Commands }

// Keys implements tui.Screen.
func (s *Screen) Keys() []tui.Key {
	turn := tui.Key{Keys: []string{"="}, Help: "swap", Run: func() tui.Cmd {
		s.sides[0], s.sides[1] = s.sides[1], s.sides[0]
		if s.left > 0 { // an answer would be taken for the other's
			return s.Init()
		}
		return nil
	}}
	return append([]tui.Key{turn}, s.sheet.Keys()...)
}
