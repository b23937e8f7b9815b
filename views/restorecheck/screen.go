package restorecheck

import (
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/overview"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// Options are what the screen needs.
type Options struct {
	Theme  theme.Theme
	Now    func() time.Time // time.Now if nil
	Job    inspect.Job
	Source overview.Source
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
	reader *overview.Reader
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

// New makes the screen.
func New(o Options) *Screen {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Screen{
		theme: o.Theme, job: o.Job, reader: overview.NewReader("overview", o.Job, o.Source, o.Now),
		uri: o.Point, under: o.Under, named: o.Commands, sheet: sheet.New(o.Theme),
	}
	s.reader.Reading = o.Reading
	s.names = phrase.Names(o.Reading.Overview.Points)
	return s
}

// Init reads only where the screen was opened without an overview.
func (s *Screen) Init() tui.Cmd {
	if s.reader.Reading.Known() {
		return nil
	}
	return s.reader.Read()
}

// Reload judges the point again, as of now.
func (s *Screen) Reload() tui.Cmd { return s.reader.Read() }

// Update implements tui.Screen.
func (s *Screen) Update(msg tui.Msg) tui.Cmd {
	if s.reader.Take(msg) {
		s.names = phrase.Names(s.reader.Reading.Overview.Points)
		s.lay()
	}
	return nil
}

// Resize implements tui.Resizer.
func (s *Screen) Resize(size tui.Size) {
	if look := s.theme.Palette(); size != s.size || look != s.look {
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
