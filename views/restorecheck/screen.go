package restorecheck

import (
	"context"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/overview"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// Source reads overviews, and judges points that lie elsewhere.
// *inspect.Inspector is one.
type Source interface {
	overview.Source
	// Elsewhere judges a point that lies in none of the job's places. The error
	// says what could not be read, beside what could.
	Elsewhere(ctx context.Context, job inspect.Job, uri string) (inspect.PointSummary, error)
}

// Options are what the screen needs.
type Options struct {
	Theme  theme.Theme
	Now    func() time.Time // time.Now if nil
	Job    inspect.Job
	Source Source
	// Reading is the overview that the point was chosen from. The zero Reading
	// is read when the screen is shown.
	Reading overview.Reading
	Point   string // the recovery point's URI
	// Under is the point whose own screen this one was opened from, if any: the
	// path names it already.
	Under    string
	Commands []tui.Command // of the job, for the palette
}

// Screen is the restore check of one recovery point at a time.
type Screen struct {
	theme  theme.Theme
	job    inspect.Job
	source Source
	reader *overview.Reader
	far    far // the point, where it lies in none of the job's places
	uri    string
	under  string
	names  map[string]string
	named  []tui.Command // for the palette

	all     bool // every rule is shown, also those that could be counted
	folds   bool // not all of them fit, so that all says something
	size    tui.Size
	look    theme.Palette // that the page was painted with
	sheet   *sheet.Sheet
	command string   // that restores; "" where none is offered
	below   []string // what to do next, always in sight where the sheet is longer than the screen
}

// far is what is known of a point that the overview does not hold.
type far struct {
	point    inspect.PointSummary
	err      error
	asking   bool
	answered bool
	at       time.Time // when it was asked for
}

// New makes the screen.
func New(o Options) *Screen {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Screen{
		theme: o.Theme, job: o.Job, source: o.Source, reader: overview.NewReader("overview", o.Job, o.Source, o.Now),
		uri: o.Point, under: o.Under, named: o.Commands, sheet: sheet.New(o.Theme),
	}
	s.reader.Reading = o.Reading
	s.names = phrase.Names(o.Reading.Overview.Points)
	return s
}

// Init reads only what the screen was opened without: the overview, or the point
// where the overview does not hold it.
func (s *Screen) Init() tui.Cmd {
	if s.reader.Reading.Known() {
		return s.ask()
	}
	return s.reader.Read()
}

// Reload judges the point again, as of now.
func (s *Screen) Reload() tui.Cmd {
	s.far.asking = false // what was under way has been cancelled
	return s.reader.Read()
}

// ask judges a point that the overview does not hold by itself.
func (s *Screen) ask() tui.Cmd {
	if _, here := s.reader.Reading.Find(s.uri); here || !s.reader.Reading.Known() {
		return nil
	}
	s.far.asking, s.far.at = true, s.reader.Now()
	source, job, uri := s.source, s.job, s.uri
	return tui.Load("elsewhere", func(ctx context.Context) (inspect.PointSummary, error) { return source.Elsewhere(ctx, job, uri) })
}

// Update implements tui.Screen.
func (s *Screen) Update(msg tui.Msg) tui.Cmd {
	if s.reader.Take(msg) {
		s.names = phrase.Names(s.reader.Reading.Overview.Points)
		cmd := s.ask()
		s.lay()
		return cmd
	}
	if loaded, ok := msg.(tui.Loaded[inspect.PointSummary]); ok {
		s.far.asking, s.far.answered, s.far.err = false, true, loaded.Err
		if loaded.Value.Verdict != "" || loaded.Err == nil {
			s.far.point = loaded.Value
		}
		s.lay()
	}
	return nil
}

// find is the point with its verdict, from the overview or judged by itself.
func (s *Screen) find() (point inspect.PointSummary, elsewhere, ok bool) {
	if at, here := s.reader.Reading.Find(s.uri); here {
		return s.reader.Reading.Overview.Points[at], false, true
	}
	if s.far.answered && s.far.point.URI == s.uri {
		return s.far.point, true, true
	}
	return inspect.PointSummary{}, false, false
}

// Resize implements tui.Resizer.
func (s *Screen) Resize(size tui.Size) {
	if look := s.theme.Palette(); s.reader.Renew() || size != s.size || look != s.look {
		s.size, s.look = size, look
		s.lay()
	}
}

// leastSheet is how many lines of the page must be left for what to do next to
// stay in sight below them.
const leastSheet = 8

// lay makes the page for the size and what is known. Where not all of it fits,
// rules that passed are counted, and what to do next stays in sight below.
func (s *Screen) lay() {
	lines, after := s.page(s.size.Width, true)
	s.command = after.command
	next := after.Lines
	if len(next) > 0 {
		next = append([]string{""}, next...)
	}
	s.folds = len(lines)+len(next) > s.size.Height
	if s.folds && !s.all {
		lines, _ = s.page(s.size.Width, false)
	}
	s.below = next
	if len(lines)+len(next) <= s.size.Height || s.size.Height-len(next) < leastSheet {
		lines, s.below = append(lines, next...), nil
	}
	s.sheet.Set(lines)
	s.sheet.Resize(s.size.Height - len(s.below))
}

// View implements tui.Screen.
func (s *Screen) View(size tui.Size) string {
	size.Height = max(size.Height-len(s.below), 0)
	return strings.Join(append([]string{s.sheet.View(size)}, s.below...), "\n")
}

// Crumb implements tui.Screen.
func (s *Screen) Crumb() string {
	if s.uri == s.under {
		return "restore check"
	}
	return s.name(s.uri) + " " + s.theme.Signs.Path + " restore check"
}

// Status implements tui.Screen.
func (s *Screen) Status() tui.Status { return tui.Status{ReadAt: s.reader.Reading.At} }

// Commands implements tui.Commander.
func (s *Screen) Commands() []tui.Command { return s.named }

// Keys implements tui.Screen.
func (s *Screen) Keys() []tui.Key {
	rules := "all rules"
	if s.all {
		rules = "fewer rules"
	}
	keys := []tui.Key{
		{Keys: []string{"n"}, Help: "next point", Run: s.next, Disabled: func() string {
			if len(s.reader.Reading.Overview.Points) < 2 {
				return "no other recovery point is known"
			}
			return ""
		}},
		{Keys: []string{"a"}, Help: rules, Run: s.toggle, Disabled: func() string {
			if !s.folds {
				return "every rule is on the screen"
			}
			return ""
		}},
	}
	keys = append(keys, tui.CopyKey(func() (what, text string) { return "the restore command", s.command }))
	return append(keys, s.sheet.Keys()...)
}

func (s *Screen) toggle() tui.Cmd {
	s.all = !s.all
	s.lay()
	return nil
}

// next goes to the point after this one in the job's list, and from the last to
// the first.
func (s *Screen) next() tui.Cmd {
	points := s.reader.Reading.Overview.Points
	at, ok := s.reader.Reading.Find(s.uri)
	if !ok {
		at = -1
	}
	s.uri = points[(at+1)%len(points)].URI
	s.far = far{} // an answer that still comes is of another point
	s.all = false
	s.sheet.Top()
	s.lay()
	return nil
}

// name is the point's name among the job's points.
func (s *Screen) name(uri string) string {
	if name, ok := s.names[uri]; ok {
		return name
	}
	return phrase.Last(uri)
}
